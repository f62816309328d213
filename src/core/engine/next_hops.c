// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the next hops of a switch towards the current column (a destination switch), while paths
 * are planned (connect.c).
 *
 * If the switch has an up/down path by rank, its next hops are the candidates of up/down routing.
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

const struct hop_list *plan_hops(struct plan *p, ftr_sw t)
{
	const struct ftr_shape *sh = p->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct hop_list *h = &p->hops[t];
	uint32_t n;

	if (h->known)
		return h;
	plan_touch(p, t);
	h->first = p->n_pool;
	h->n = 0;
	if (!plan_by_rank(p, t)) {	/* h->known stays false, because t may get another label */
		h->n = plan_pool_add(p, p->label[t].channel);
		return h;
	}
	n = ftr_shape_candidates(sh, t, p->l, cand);
	for (uint32_t i = 0; i < n; i++)
		h->n += plan_pool_add(p, p->turns.of_group[cand[i] -
							   sh->tree.groups]);
	h->known = true;
	return h;
}
