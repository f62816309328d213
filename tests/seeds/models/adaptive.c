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

/* Act as the U-turn switch: mark the port of arrival, and send the packet up by an unmarked
 * port. */
static unsigned int turn(struct tiers *t, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	if (v->now - t->used[a->sw] > TIMEOUT)
		t->vector[a->sw] = 0;
	t->used[a->sw] = v->now;
	t->vector[a->sw] |= UINT64_C(1) << tiers_place(t, a->sw, a->in);
	return tiers_all_up(t, v, a, t->vector[a->sw]);
}

/* Returns true if port `out` leads down to a host, or down to a switch over a working link.  Sets
 * *n to the number of exits: 0 if the link to the host is dead. */
static bool straight(const struct ftr_sim_view *v, struct ftr_sim_arrival *a, enum side side,
		     ftr_port out, unsigned int *n)
{
	*n = 0;
	if (side != SIDE_BELOW)
		return false;
	if (tiers_entry_works(v, a->sw, out))
		*n = tiers_exit(a, out, 0);
	return *n || ftr_fabric_port(v->f, a->sw, out)->peer_kind != FTR_PEER_SW;
}

static unsigned int adaptive_links(void *state, const struct ftr_sim_view *v,
				   struct ftr_sim_arrival *a)
{
	struct tiers *t = state;
	ftr_port out;
	enum side side = tiers_entry(t, v, a, &out);
	unsigned int n;

	if (straight(v, a, side, out, &n))
		return n;
	if (side != SIDE_BELOW && tiers_from(t, v, a, SIDE_ABOVE))
		return turn(t, v, a);				/* 3, 4, 5 */
	if (side == SIDE_ABOVE)
		return tiers_all_up(t, v, a, 0);		/* 1 */
	if (tiers_from(t, v, a, SIDE_BELOW) && tiers_works(v, a->sw, a->in))
		return tiers_exit(a, a->in, 0);			/* 2b */
	return tiers_all_down(t, v, a, out);			/* 2a */
}

const struct ftr_sim_function model_adaptive_links = {
	.name = "adaptive-links",
	.summary = "adaptive local rerouting (Sem-Jacobsen et al.), link faults",
	.min_vls = 1,
	TIERS_STATE,
	.route = adaptive_links,
	.extra = &model_extra,
};

/* Step 4: the packet came from above, and there is no downward path. */
static unsigned int descend(struct tiers *t, const struct ftr_sim_view *v,
			    struct ftr_sim_arrival *a)
{
	struct ftr_sim_packet *p = a->p;
	ftr_port out;

	if (p->field >= FIELD_PORT) {				/* (d) */
		out = (ftr_port)(p->field - FIELD_PORT);
		p->field = FIELD_DOWN;
		return tiers_works(v, a->sw, out) ? tiers_exit(a, out, 0) : tiers_give_up(a);
	}
	if (tiers_bottom(t, a->sw)) {				/* (c) */
		/* deviation: the field becomes FIELD_NONE (-1) only if the packet came one tier
		 * down.  A packet that came two tiers down must go two tiers up again, so its field
		 * stays FIELD_DOWN (-2). */
		return turn(t, v, a);
	}
	if (p->field == FIELD_DOWN)				/* (b) */
		return turn(t, v, a);
	p->field = FIELD_DOWN;					/* (a) */
	return tiers_all_down(t, v, a, 0);
}

static unsigned int adaptive_switches(void *state, const struct ftr_sim_view *v,
				      struct ftr_sim_arrival *a)
{
	struct tiers *t = state;
	struct ftr_sim_packet *p = a->p;
	ftr_port out;
	enum side side = tiers_entry(t, v, a, &out);
	bool below = tiers_from(t, v, a, SIDE_BELOW);
	unsigned int n;

	if (straight(v, a, side, out, &n)) {
		p->field = FIELD_NONE;				/* 3 */
		return n;
	}
	if (side != SIDE_BELOW && tiers_from(t, v, a, SIDE_ABOVE))
		return descend(t, v, a);			/* 4, 5, 7 */
	if (side == SIDE_ABOVE) {
		if (below && p->field == FIELD_DOWN)		/* 6 */
			p->field = (uint16_t)(FIELD_PORT + a->in);
		return tiers_all_up(t, v, a, 0);		/* 1 */
	}
	if (below && tiers_works(v, a->sw, a->in))
		return tiers_exit(a, a->in, 0);			/* 2b */
	p->field = FIELD_NONE;
	return tiers_all_down(t, v, a, out);			/* 2a */
}

const struct ftr_sim_function model_adaptive_switches = {
	.name = "adaptive-switches",
	.summary = "adaptive local rerouting (Sem-Jacobsen et al.), switch faults",
	.min_vls = 1,
	TIERS_STATE,
	.route = adaptive_switches,
	.extra = &model_extra,
};

static unsigned int misroute(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	const struct tiers *t = state;
	struct ftr_sim_packet *p = a->p;
	ftr_port out;
	enum side side = tiers_entry(t, v, a, &out);
	unsigned int n;

	if (straight(v, a, side, out, &n)) {
		p->vector = 0;					/* 5 */
		return n;
	}
	if (side != SIDE_BELOW && tiers_from(t, v, a, SIDE_ABOVE)) {
		p->vector |= UINT64_C(1) << tiers_place(t, a->sw, a->in);	/* 3 */
		return tiers_all_up(t, v, a, p->vector);	/* 4, 6 */
	}
	if (side == SIDE_ABOVE)
		return tiers_all_up(t, v, a, 0);		/* 1 */
	if (p->vector && tiers_from(t, v, a, SIDE_BELOW) && tiers_works(v, a->sw, a->in))
		return tiers_exit(a, a->in, 0);			/* 5 */
	p->vector = 0;
	return tiers_all_down(t, v, a, out);			/* 2 */
}

const struct ftr_sim_function model_misroute = {
	.name = "misroute",
	.summary = "misrouting with a vector in the packet (Sem-Jacobsen et al.)",
	.min_vls = 1,
	TIERS_STATE,
	.route = misroute,
	.extra = &model_extra,
};
