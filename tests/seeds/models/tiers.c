// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The upward and downward ports of each switch.
 */
#include <string.h>

#include "models/tiers.h"
#include <ftr/shape.h>

static enum ftr_status take_ranks(struct tiers *t, const struct ftr_sim_view *v,
				  struct ftr_err *err)
{
	struct ftr_shape *sh = NULL;
	const uint8_t *rank = *v->arg;
	enum ftr_status st = FTR_OK;

	if (!rank) {
		st = ftr_shape_new(v->f, NULL, NULL, &sh, err);
		if (st)
			return st;
		rank = sh->tree.rank;
	}
	memcpy(t->rank, rank, v->f->n_sw);
	ftr_shape_free(sh);
	return FTR_OK;
}

static void take_side(struct tiers *t, const struct ftr_fabric *f, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);
	enum side side = SIDE_NONE;

	if (q->peer_kind == FTR_PEER_EP)
		side = SIDE_BELOW;
	else if (q->peer_kind == FTR_PEER_SW && t->rank[q->peer] > t->rank[s])
		side = SIDE_ABOVE;
	else if (q->peer_kind == FTR_PEER_SW && t->rank[q->peer] < t->rank[s])
		side = SIDE_BELOW;
	t->side[f->sw[s].first_port + p] = (uint8_t)side;
}

static void take_ports(struct tiers *t, const struct ftr_fabric *f, ftr_sw s, uint32_t *n)
{
	const struct ftr_switch *w = &f->sw[s];

	t->first[s] = *n;
	t->side[w->first_port] = SIDE_BELOW;
	for (unsigned int p = 1; p <= w->n_ports; p++) {
		take_side(t, f, s, p);
		if (t->side[w->first_port + p] == SIDE_ABOVE)
			t->port[(*n)++] = (ftr_port)p;
	}
	t->n_up[s] = *n - t->first[s];
	for (unsigned int p = 1; p <= w->n_ports; p++)
		if (t->side[w->first_port + p] == SIDE_BELOW &&
		    ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_SW)
			t->port[(*n)++] = (ftr_port)p;
}

static enum ftr_status take_all_ports(struct tiers *t, const struct ftr_fabric *f,
				      struct ftr_err *err)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		take_ports(t, f, s, &n);
		t->first[s + 1] = n;
		if (t->n_up[s] > FTR_SIM_EXITS || n - t->first[s] - t->n_up[s] > FTR_SIM_EXITS)
			return ftr_fail(err, FTR_LIMIT, "switch \"%s\" has more than %u upward ports or downward ports to switches",
					f->sw[s].name, FTR_SIM_EXITS);
	}
	return FTR_OK;
}

enum ftr_status tiers_new(const struct ftr_sim_view *v, void **state, struct ftr_err *err)
{
	const struct ftr_fabric *f = v->f;
	struct ftr_arena *a = ftr_arena_new();
	struct tiers *t = a ? ftr_arena_zalloc(a, 1, sizeof(*t)) : NULL;
	enum ftr_status st;

	if (!t || !FTR_ZNEW(a, t->side, f->n_ports + 1u) ||
	    !FTR_ZNEW(a, t->rank, f->n_sw + 1u) ||
	    !FTR_ZNEW(a, t->first, f->n_sw + 1u) ||
	    !FTR_ZNEW(a, t->n_up, f->n_sw + 1u) ||
	    !FTR_ZNEW(a, t->port, f->n_ports + 1u) ||
	    !FTR_ZNEW(a, t->vector, f->n_sw + 1u) ||
	    !FTR_ZNEW(a, t->used, f->n_sw + 1u)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "tiers");
	}
	t->arena = a;
	st = take_ranks(t, v, err);
	if (!st)
		st = take_all_ports(t, f, err);
	if (st)
		tiers_free(t);
	else
		*state = t;
	return st;
}

void tiers_free(void *state)
{
	struct tiers *t = state;

	if (t)
		ftr_arena_free(t->arena);
}

ftr_port tiers_other(const struct tiers *t, const struct ftr_sim_view *v,
		     ftr_sw s, ftr_port p, bool up)
{
	uint32_t first = t->first[s] + (up ? 0 : t->n_up[s]);
	uint32_t end = up ? t->first[s] + t->n_up[s] : t->first[s + 1];
	uint32_t n = end - first, at = 0;

	while (at < n && t->port[first + at] <= p)
		at++;
	for (uint32_t i = 0; i < n; i++) {
		ftr_port q = t->port[first + (at + i) % n];

		if (q != p && tiers_works(v, s, q))
			return q;
	}
	return FTR_PORT_NONE;
}

unsigned int tiers_all_up(const struct tiers *t, const struct ftr_sim_view *v,
			  struct ftr_sim_arrival *a, uint64_t mask)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < t->n_up[a->sw]; i++) {
		ftr_port p = t->port[t->first[a->sw] + i];

		if (!(mask >> i & 1) && tiers_works(v, a->sw, p))
			a->exit[n++] = (struct ftr_sim_exit){ .port = p, .room = 1 };
	}
	return n ? n : tiers_give_up(a);
}

unsigned int tiers_all_down(const struct tiers *t, const struct ftr_sim_view *v,
			    struct ftr_sim_arrival *a, ftr_port except)
{
	unsigned int n = 0;

	for (uint32_t i = t->first[a->sw] + t->n_up[a->sw]; i < t->first[a->sw + 1]; i++) {
		ftr_port p = t->port[i];

		if (p != except && tiers_works(v, a->sw, p))
			a->exit[n++] = (struct ftr_sim_exit){ .port = p, .room = 1 };
	}
	return n ? n : tiers_give_up(a);
}
