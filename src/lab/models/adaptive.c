// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local rerouting with adaptive routing on one VL: R_adaptive of Sem-Jacobsen et al. 2011, section
 * VII, and R_m of Sem-Jacobsen et al. 2006, section 3.1.
 *
 * A packet goes up by any working upward port, and down by the port of the table.  If this downward
 * port is dead, the switch sends the packet one tier down by any other port.  The next switch gets
 * the packet from above and has no downward path: it is the U-turn switch.  In a vector with a bit
 * for each upward port, it marks the port by which the packet came.  Then it sends the packet up by
 * any working port that is not marked.  If there is none, the packet is discarded.
 *
 * R_adaptive links: the vector belongs to the switch, is shared by all packets that turn there, and
 * is cleared after TIMEOUT without a U-turn.  A packet from below whose downward port is dead is
 * sent back down (step 2b).
 *
 * R_adaptive switches: like R_adaptive links, but the detour goes two tiers down.  The packet
 * header has a field with one of these values: FIELD_NONE (-1 in the paper); FIELD_DOWN (-2 in the
 * paper): the packet is on a detour of two tiers; FIELD_PORT + p: port p leads back down to the
 * U-turn switch.
 *
 * R_m: the vector belongs to the packet.  If the downward port of a packet is dead, there are two
 * cases.  A packet from below whose vector is not empty goes back to its U-turn switch (step 5).
 * Any other packet goes down by another port (step 2).
 *
 * The numbers in the comments below are the steps of these functions in the papers.
 */
#include "models/tiers.h"

/* The papers give no value.  This time is much longer than a few U-turns take under load, and much
 * shorter than a fault lasts. */
#define TIMEOUT (100 * FTR_SIM_US)

enum { FIELD_NONE = 0, FIELD_DOWN = 1, FIELD_PORT = 2 };

static unsigned int some(unsigned int n, enum ftr_sim_loss *why)
{
	if (!n)
		*why = FTR_SIM_LOST_GIVEN_UP;
	return n;
}

/* Act as the U-turn switch: mark the port of arrival, and send the packet up by an unmarked
 * port. */
static unsigned int turn(struct tiers *t, const struct ftr_sim_view *v,
			 ftr_sw s, ftr_port in, struct ftr_sim_exit *e,
			 enum ftr_sim_loss *why)
{
	if (v->now - t->used[s] > TIMEOUT)
		t->vector[s] = 0;
	t->used[s] = v->now;
	t->vector[s] |= UINT64_C(1) << tiers_place(t, s, in);
	return some(tiers_all_up(t, v, s, t->vector[s], e), why);
}

/* Returns true if port `out` leads down to a host, or down to a switch over a working link.  Sets
 * *n to the number of exits: 0 if the link to the host is dead. */
static bool straight(const struct ftr_sim_view *v, ftr_sw s, enum side side,
		     ftr_port out, struct ftr_sim_exit *e, unsigned int *n)
{
	*n = 0;
	if (side != SIDE_BELOW)
		return false;
	if (tiers_entry_works(v, s, out))
		*n = tiers_exit(e, out, 0);
	return *n || ftr_fabric_port(v->f, s, out)->peer_kind != FTR_PEER_SW;
}

static unsigned int adaptive_links(void *state, const struct ftr_sim_view *v,
				   ftr_sw s, ftr_port in, unsigned int vl,
				   struct ftr_sim_packet *p,
				   struct ftr_sim_exit *e,
				   enum ftr_sim_loss *why)
{
	struct tiers *t = state;
	ftr_port out;
	enum side side = tiers_entry(t, v, s, p, &out);
	unsigned int n;

	(void)vl;
	if (straight(v, s, side, out, e, &n))
		return n;
	if (side != SIDE_BELOW && tiers_from(t, v, s, in, SIDE_ABOVE))
		return turn(t, v, s, in, e, why);		/* 3, 4, 5 */
	if (side == SIDE_ABOVE)
		return some(tiers_all_up(t, v, s, 0, e), why);	/* 1 */
	if (tiers_from(t, v, s, in, SIDE_BELOW) && tiers_works(v, s, in))
		return tiers_exit(e, in, 0);			/* 2b */
	return some(tiers_all_down(t, v, s, out, e), why);	/* 2a */
}

const struct ftr_sim_function model_adaptive_links = {
	.name = "adaptive-links",
	.summary = "adaptive local rerouting (Sem-Jacobsen et al.), link faults",
	.min_vls = 1,
	.tiers = true,
	.start = tiers_new,
	.finish = tiers_free,
	.route = adaptive_links,
};

/* Step 4: the packet came from above, and there is no downward path. */
static unsigned int descend(struct tiers *t, const struct ftr_sim_view *v,
			    ftr_sw s, ftr_port in, struct ftr_sim_packet *p,
			    struct ftr_sim_exit *e, enum ftr_sim_loss *why)
{
	ftr_port out;

	if (p->field >= FIELD_PORT) {				/* (d) */
		out = (ftr_port)(p->field - FIELD_PORT);
		p->field = FIELD_DOWN;
		return some(tiers_works(v, s, out) ?
			    tiers_exit(e, out, 0) : 0, why);
	}
	if (tiers_bottom(t, s)) {				/* (c) */
		/* deviation: the field becomes FIELD_NONE (-1) only if the packet came one tier
		 * down.  A packet that came two tiers down must go two tiers up again, so its field
		 * stays FIELD_DOWN (-2). */
		return turn(t, v, s, in, e, why);
	}
	if (p->field == FIELD_DOWN)				/* (b) */
		return turn(t, v, s, in, e, why);
	p->field = FIELD_DOWN;					/* (a) */
	return some(tiers_all_down(t, v, s, 0, e), why);
}

static unsigned int adaptive_switches(void *state,
				      const struct ftr_sim_view *v, ftr_sw s,
				      ftr_port in, unsigned int vl,
				      struct ftr_sim_packet *p,
				      struct ftr_sim_exit *e,
				      enum ftr_sim_loss *why)
{
	struct tiers *t = state;
	ftr_port out;
	enum side side = tiers_entry(t, v, s, p, &out);
	bool below = tiers_from(t, v, s, in, SIDE_BELOW);
	unsigned int n;

	(void)vl;
	if (straight(v, s, side, out, e, &n)) {
		p->field = FIELD_NONE;				/* 3 */
		return n;
	}
	if (side != SIDE_BELOW && tiers_from(t, v, s, in, SIDE_ABOVE))
		return descend(t, v, s, in, p, e, why);		/* 4, 5, 7 */
	if (side == SIDE_ABOVE) {
		if (below && p->field == FIELD_DOWN)		/* 6 */
			p->field = (uint16_t)(FIELD_PORT + in);
		return some(tiers_all_up(t, v, s, 0, e), why);	/* 1 */
	}
	if (below && tiers_works(v, s, in))
		return tiers_exit(e, in, 0);			/* 2b */
	p->field = FIELD_NONE;
	return some(tiers_all_down(t, v, s, out, e), why);	/* 2a */
}

const struct ftr_sim_function model_adaptive_switches = {
	.name = "adaptive-switches",
	.summary = "adaptive local rerouting (Sem-Jacobsen et al.), switch faults",
	.min_vls = 1,
	.tiers = true,
	.start = tiers_new,
	.finish = tiers_free,
	.route = adaptive_switches,
};

static unsigned int misroute(void *state, const struct ftr_sim_view *v,
			     ftr_sw s, ftr_port in, unsigned int vl,
			     struct ftr_sim_packet *p, struct ftr_sim_exit *e,
			     enum ftr_sim_loss *why)
{
	const struct tiers *t = state;
	ftr_port out;
	enum side side = tiers_entry(t, v, s, p, &out);
	unsigned int n;

	(void)vl;
	if (straight(v, s, side, out, e, &n)) {
		p->vector = 0;					/* 5 */
		return n;
	}
	if (side != SIDE_BELOW && tiers_from(t, v, s, in, SIDE_ABOVE)) {
		p->vector |= UINT64_C(1) << tiers_place(t, s, in);	/* 3 */
		return some(tiers_all_up(t, v, s, p->vector, e), why);	/* 4, 6 */
	}
	if (side == SIDE_ABOVE)
		return some(tiers_all_up(t, v, s, 0, e), why);	/* 1 */
	if (p->vector && tiers_from(t, v, s, in, SIDE_BELOW) &&
	    tiers_works(v, s, in))
		return tiers_exit(e, in, 0);			/* 5 */
	p->vector = 0;
	return some(tiers_all_down(t, v, s, out, e), why);	/* 2 */
}

const struct ftr_sim_function model_misroute = {
	.name = "misroute",
	.summary = "misrouting with a vector in the packet (Sem-Jacobsen et al.)",
	.min_vls = 1,
	.tiers = true,
	.start = tiers_new,
	.finish = tiers_free,
	.route = misroute,
};
