// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dynamic local rerouting with deterministic routing: Sem-Jacobsen et al. 2011, section VI.
 *
 * The forwarding table gives one port.  If this port is dead, the switch acts on local information:
 * the port and the VL (virtual layer) by which the packet came.  For switch faults, it also uses a
 * field of the packet header, which can name a port.  VL 0 is the layer of normal packets (NL).
 * The other layers are for rerouted packets: VL 1 (called ML for link faults, ML1 for switch
 * faults) and VL 2 (ML2, only for switch faults).  The switches keep no state, so a repaired link
 * is used immediately.
 *
 * R_det links (section VI.A; the steps are those of section V.C):
 *	1	The packet goes up in NL.  If the port of the table is dead, it goes up by another
 *		upward port.
 *	2	The packet goes down in ML if it came from below in ML, otherwise in NL.  If the
 *		downward port is dead, (a) a packet from above goes down by another port, in NL;
 *		(b) a packet from below goes back down by the port by which it came.
 *	3	A switch that gets the packet from above and has no downward path is the U-turn
 *		switch.  It sends the packet up in ML: (a) by its first upward port if the packet
 *		came in NL; (b) otherwise by the upward port after the port of arrival.  (D is the
 *		sequence of the upward ports.)
 *	4	A packet that came in ML by the last port of D is discarded.
 *
 * deviation: in step 2b the paper sends all packets back in ML.  For a packet that came from below
 * in NL (on its first path upward), the U-turn switch would begin with the port of D after the port
 * of arrival, and would never try the ports before that port.  With one dead link below the last
 * port of D, the packet would be discarded, contrary to Lemma 2.  So here a packet that came from
 * below in NL is sent back in NL.  The paper's proof still holds.  It orders the channels: the
 * downward channel in NL comes after all channels that the packet held before (section VI.C, rule
 * 3), and before all channels that the packet will hold (rule 4).
 *
 * R_det switches (section VI.B): the packet header has a field with one of these values: FIELD_NONE
 * (-1 in the paper); FIELD_DOWN (-2 in the paper): the packet is on a detour of two tiers;
 * FIELD_PORT + p: port p leads back down to the U-turn switch.  The comments below give the steps.
 */
#include "models/tiers.h"

enum { NL = 0, ML = 1, ML1 = 1, ML2 = 2 };
enum { FIELD_NONE = 0, FIELD_DOWN = 1, FIELD_PORT = 2 };

/* Step 1 of R_det links and of R_det switches. */
static unsigned int climb(const struct tiers *t, const struct ftr_sim_view *v,
			  struct ftr_sim_arrival *a, ftr_port out)
{
	if (!tiers_works(v, a->sw, out))
		out = tiers_other(t, v, a->sw, out, true);
	return out == FTR_PORT_NONE ? tiers_give_up(a) : tiers_exit(a, out, NL);
}

/* Step 3 of R_det links: go up by the first working upward port from index i on. */
static unsigned int turn(const struct tiers *t, const struct ftr_sim_view *v,
			 struct ftr_sim_arrival *a, uint32_t i, unsigned int vl)
{
	i = tiers_next_up(t, v, a->sw, i);
	if (i == t->n_up[a->sw])
		return tiers_give_up(a);
	return tiers_exit(a, t->port[t->first[a->sw] + i], vl);
}

static unsigned int det_links(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	const struct tiers *t = state;
	bool above = t->side[v->f->sw[a->sw].first_port + a->in] == SIDE_ABOVE;
	ftr_port out;
	enum side side = tiers_entry(t, v, a, &out);

	if (above && side != SIDE_BELOW)
		return turn(t, v, a, a->vl == ML ? tiers_place(t, a->sw, a->in) + 1 : 0, ML);
	if (side == SIDE_ABOVE)
		return climb(t, v, a, out);
	if (side == SIDE_BELOW && tiers_entry_works(v, a->sw, out))
		return tiers_exit(a, out, above ? NL : a->vl);
	if (side == SIDE_BELOW && ftr_fabric_port(v->f, a->sw, out)->peer_kind != FTR_PEER_SW)
		return 0;					/* the link of the host is dead */
	if (tiers_from(t, v, a, SIDE_BELOW) && tiers_works(v, a->sw, a->in))
		return tiers_exit(a, a->in, a->vl);
	out = tiers_other(t, v, a->sw, out, false);
	return out == FTR_PORT_NONE ? tiers_give_up(a) : tiers_exit(a, out, NL);
}

const struct ftr_sim_function model_det_links = {
	.name = "det-links",
	.summary = "deterministic local rerouting (Sem-Jacobsen et al.), link faults",
	.min_vls = 2,
	TIERS_STATE,
	.route = det_links,
	.extra = &model_extra,
};

/* ---- switches ------------------------------------------------------------------ */

/* Step 2: the VL of the downward path. */
static unsigned int down_vl(bool above, unsigned int vl)
{
	if (vl == ML2)
		return above ? ML1 : ML2;
	return NL;
}

/* Step 3: the next switch downward is dead. */
static unsigned int avoid(const struct tiers *t, const struct ftr_sim_view *v,
			  struct ftr_sim_arrival *a, bool above, ftr_port out)
{
	bool from_switch = a->in && ftr_fabric_port(v->f, a->sw, a->in)->peer_kind == FTR_PEER_SW;

	/* (b): back down.  deviation: a packet that came in NL stays in NL, as in R_det links */
	if (!above && from_switch && tiers_works(v, a->sw, a->in))
		return tiers_exit(a, a->in, a->vl == NL ? NL : ML2);
	out = tiers_other(t, v, a->sw, out, false);
	if (out == FTR_PORT_NONE)
		return tiers_give_up(a);
	a->p->field = FIELD_NONE;
	return tiers_exit(a, out, a->vl == ML2 ? ML1 : NL);	/* (a) */
}

/* Step 4: the packet came from above, and there is no downward path.  deviation: step 4(b) of the
 * paper assumes that a packet in ML2 came two tiers down to the bottom tier.  A packet that step
 * 3(b) sent back one tier is in ML2, too.  Here such a packet leaves by the next upward port, like
 * a packet in ML1. */
static unsigned int descend(const struct tiers *t, const struct ftr_sim_view *v,
			    struct ftr_sim_arrival *a)
{
	struct ftr_sim_packet *p = a->p;
	ftr_port out;
	uint32_t i;

	if (p->field >= FIELD_PORT) {				/* (c) */
		out = (ftr_port)(p->field - FIELD_PORT);
		p->field = FIELD_DOWN;
		return tiers_works(v, a->sw, out) ? tiers_exit(a, out, ML1) : tiers_give_up(a);
	}
	if (p->field == FIELD_NONE && !tiers_bottom(t, a->sw)) {	/* (a) */
		out = tiers_other(t, v, a->sw, 0, false);
		if (out == FTR_PORT_NONE)
			return tiers_give_up(a);
		p->field = FIELD_DOWN;
		return tiers_exit(a, out, NL);
	}
	if (a->vl != NL)					/* (b) ii, iii */
		return turn(t, v, a, tiers_place(t, a->sw, a->in) + 1, ML1);
	i = tiers_next_up(t, v, a->sw, 0);			/* (b) i */
	if (i < t->n_up[a->sw] && t->port[t->first[a->sw] + i] == a->in)
		i++;
	return turn(t, v, a, i, ML1);
}

static unsigned int det_switches(void *state, const struct ftr_sim_view *v,
				 struct ftr_sim_arrival *a)
{
	const struct tiers *t = state;
	struct ftr_sim_packet *p = a->p;
	bool above = t->side[v->f->sw[a->sw].first_port + a->in] == SIDE_ABOVE;
	ftr_port out;
	enum side side = tiers_entry(t, v, a, &out);

	if (above && side != SIDE_BELOW)
		return descend(t, v, a);
	if (!above && side == SIDE_ABOVE && p->field == FIELD_DOWN) {
		p->field = (uint16_t)(FIELD_PORT + a->in);	/* step 5 */
		return turn(t, v, a, 0, ML2);
	}
	if (side == SIDE_ABOVE)
		return climb(t, v, a, out);
	if (side == SIDE_BELOW && tiers_entry_works(v, a->sw, out)) {
		p->field = FIELD_NONE;
		return tiers_exit(a, out, down_vl(above, a->vl));
	}
	if (side == SIDE_BELOW && ftr_fabric_port(v->f, a->sw, out)->peer_kind != FTR_PEER_SW)
		return 0;
	return avoid(t, v, a, above, out);
}

const struct ftr_sim_function model_det_switches = {
	.name = "det-switches",
	.summary = "deterministic local rerouting (Sem-Jacobsen et al.), switch faults",
	.min_vls = 3,
	TIERS_STATE,
	.route = det_switches,
	.extra = &model_extra,
};
