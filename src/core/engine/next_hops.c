// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the next hops of a switch towards the current column (a destination switch), while paths
 * are planned (connect.c).
 *
 * If the switch has an up/down path by rank, its next hops are the candidates of up/down routing,
 * except those that a stage has removed.  In a stage with LONGER, a switch that has no switches
 * below it uses all neighbours above that have an up/down path by rank.
 *
 * If the switch has no up/down path by rank, its only next hop is the first hop of the best path
 * found so far.  plan_spread() may add others.
 */
#include "engine/plan.h"

bool plan_pool_add(struct plan *p, uint32_t c)
{
	if (!FTR_GROW(p->pool, p->n_pool, p->cap_pool)) {
		p->nomem = true;
		return false;
	}
	p->pool[p->n_pool++] = c;
	return true;
}

/* Returns true if t may use next hops that are not on a shortest path.  t must have no switches
 * below, so that no up/down path leads down through t, and no loop can arise. */
static bool goes_longer(const struct plan *p, ftr_sw t)
{
	return p->mode & LONGER && !p->sh->tree.n_down[t] && plan_by_rank(p, t);
}

static uint32_t all_above(const struct plan *p, ftr_sw t,
			  const struct ftr_group **cand)
{
	uint32_t n = 0;

	for_each_up(p->sh, t, g)
		if (plan_by_rank(p, g->remote))
			cand[n++] = g;
	return n;
}

const struct hop_list *plan_hops(struct plan *p, ftr_sw t)
{
	const struct ftr_shape *sh = p->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct hop_list *h = &p->hops[t];
	uint32_t n;

	if (h->known && (h->used || h->longer == goes_longer(p, t)))
		return h;
	plan_touch(p, t);
	h->first = p->n_pool;
	h->n = 0;
	h->some = h->longer = goes_longer(p, t);
	if (!plan_by_rank(p, t)) {	/* h->known stays false, because t may get another label */
		h->n = plan_pool_add(p, p->label[t].channel);
		return h;
	}
	n = h->longer ? all_above(p, t, cand) :
		ftr_shape_candidates(sh, t, p->l, cand);
	for (uint32_t i = 0; i < n; i++)
		h->n += plan_pool_add(p, p->turns.of_group[cand[i] -
							   sh->tree.groups]);
	h->known = true;
	return h;
}
