// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * While connect.c plans the paths to a column (a destination switch), this file finds an earlier
 * column whose paths can be copied.
 *
 * If the paths to a column need no new turn, they depend on four things only:
 *
 *	- the switches that need a path
 *	- the switches without an up/down path by rank
 *	- the allowed turns
 *	- the first steps, and the number of hops from each of them to the column.  (A first step
 *	  leads from a switch without an up/down path by rank to a switch with one, the gateway.)
 *
 * If all four are the same as for an earlier column, the paths are the same.  (The numbers of hops
 * may also all be greater, or all be less, by the same number.)  For example, all leaf switches of
 * a chassis that is reached through one gateway have the same four things.
 *
 * The next hops of the gateways are not copied, but computed for each column.  A first step may
 * restrict the next hops of the gateway to which it leads, and so change another first step to the
 * same gateway.  Therefore paths are copied only if no two first steps lead to the same switch.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"

static bool needs_alike(const struct plan *p, const struct earlier_column *k)
{
	const uint32_t *first = p->pair_first;
	uint32_t a = k->l, b = p->l, n = first[b + 1] - first[b];

	return first[a + 1] - first[a] == n &&
		!memcmp(p->pair + first[a], p->pair + first[b],
			n * sizeof(*p->pair));
}

static bool ranked_alike(const struct plan *p, const struct earlier_column *k)
{
	unsigned int differ = 0;

	for (uint32_t i = 0; i < p->sh->f->n_sw; i++)
		differ |= (k->back[i] == FTR_COST_INF) ^
			(p->back[i] == FTR_COST_INF);
	return !differ;
}

static bool steps_alike(const struct plan *p, const struct earlier_column *k)
{
	const struct step *a = k->step, *b = p->heap;

	if (k->n_steps != p->n_heap)
		return false;
	for (uint32_t i = 0; i < p->n_heap; i++)
		if (a[i].channel != b[i].channel ||
		    a[i].key - a[0].key != b[i].key - b[0].key)
			return false;
	return true;
}

static ftr_sw end_of(const struct plan *p, const struct step *x)
{
	return p->turns.channel[x->channel].to;
}

const struct earlier_column *plan_find_alike(const struct plan *p)
{
	uint32_t n = FTR_MIN(p->n_earlier, PLAN_EARLIER);

	for (uint32_t i = 0; p->n_heap && i < n; i++) {
		const struct earlier_column *k = &p->earlier[i];

		if (k->n_extra == p->turns.n_extra && k->mode == p->mode &&
		    k->distinct && steps_alike(p, k) &&
		    needs_alike(p, k) && ranked_alike(p, k))
			return k;
	}
	return NULL;
}

bool plan_note_steps(struct plan *p)
{
	struct earlier_column *k = &p->steps;

	k->distinct = true;
	for (k->n_steps = 0; k->n_steps < p->n_heap; k->n_steps++) {
		if (!FTR_GROW(k->step, k->n_steps, k->cap_steps))
			return false;
		k->step[k->n_steps] = p->heap[k->n_steps];
		for (uint32_t i = 0; i < k->n_steps; i++)
			k->distinct = k->distinct && end_of(p, &k->step[i]) !=
				end_of(p, &k->step[k->n_steps]);
	}
	return true;
}

void plan_keep_column(struct plan *p, uint32_t first)
{
	struct earlier_column *k = &p->earlier[p->n_earlier++ % PLAN_EARLIER], old = *k;

	*k = p->steps;
	p->steps = old;
	k->l = p->l;
	k->mode = p->mode;
	k->back = p->back;
	k->n_extra = p->turns.n_extra;
	k->first = first;
	k->n = p->out->n_entries - first;
}

void plan_free_earlier(struct plan *p)
{
	for (uint32_t i = 0; i < PLAN_EARLIER; i++)
		free(p->earlier[i].step);
	free(p->steps.step);
}
