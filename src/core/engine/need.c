// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the pairs that need extra turns because they have no up/down path (connect.c), and the
 * order in which switches are preferred as gateways.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"

/* ---- needed pairs ------------------------------------------------------ */

void plan_count_ends(struct plan *p)
{
	const struct ftr_fabric *f = p->sh->f;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *ep = &f->ep[e];

		if (ep->sw == FTR_SW_NONE || !ep->lid)
			continue;
		p->needs.ends[ep->sw]++;
		p->needs.lids[ep->sw] += 1u << ep->lmc;
		p->needs.need[p->sh->numbering.col[ep->sw]] |= NEED_ENDS;
	}
	for (uint32_t i = 0; i < p->opts->n_sm; i++)
		if (p->opts->sm[i] < f->n_sw)
			p->needs.need[p->sh->numbering.col[p->opts->sm[i]]] |= NEED_ALL;
	if (p->opts->sm_switch < f->n_sw)
		p->needs.need[p->sh->numbering.col[p->opts->sm_switch]] |= NEED_ALL;
}

static bool is_needed(struct plan *p, ftr_sw s, uint32_t l)
{
	return (p->needs.need[l] & NEED_ALL ||
		(p->needs.need[l] & NEED_ENDS && p->needs.ends[s])) &&
		p->needs.island[s] == p->needs.island[p->sh->numbering.col_sw[l]];
}

static bool may_need(const struct plan *p, const uint8_t *row)
{
	for (uint32_t i = 0; i < p->opts->n_sm; i++)
		if (p->opts->sm[i] < p->sh->f->n_sw &&
		    row[p->sh->numbering.col[p->opts->sm[i]]] == FTR_COST_INF)
			return true;
	return p->opts->sm_switch < p->sh->f->n_sw &&
		row[p->sh->numbering.col[p->opts->sm_switch]] == FTR_COST_INF;
}

/* For each destination switch l, find the switches that need a path to l.  If pair is NULL, add
 * their number to count[l].  Otherwise store them in pair[], from index count[l] on. */
static void visit_pairs(struct plan *p, uint32_t *count, ftr_sw *pair)
{
	const struct ftr_shape *sh = p->sh;
	uint32_t n = sh->f->n_sw;

	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *row = ftr_shape_cost(sh, s), *at = row;

		if (!p->needs.ends[s] && !may_need(p, row))
			continue;
		while ((at = memchr(at, FTR_COST_INF,
				    (size_t)(row + n - at)))) {
			uint32_t l = (uint32_t)(at++ - row);

			if (!is_needed(p, s, l))
				continue;
			if (pair)
				pair[count[l]] = s;
			count[l]++;
		}
	}
}

bool plan_find_pairs(struct plan *p)
{
	uint32_t n = p->sh->f->n_sw;
	uint32_t *count = ftr_arena_zalloc(p->arena, n + 2u, sizeof(*count));

	if (!count)
		return false;
	visit_pairs(p, count + 2, NULL);
	for (uint32_t l = 0; l < n; l++)
		count[l + 2] += count[l + 1];
	FTR_NEW(p->arena, p->needs.pair, count[n + 1] + 1u);
	if (!p->needs.pair)
		return false;
	visit_pairs(p, count + 1, p->needs.pair);
	p->needs.pair_first = count;
	return true;
}

/* ---- gateways ---------------------------------------------------------- */

/* The number of switches above leaf switch s, including s. */
static uint32_t count_above(struct plan *p, ftr_sw s, uint32_t *seen,
			    ftr_sw *queue)
{
	const struct ftr_shape *sh = p->sh;
	uint32_t n = 0;

	seen[s] = s + 1;
	queue[n++] = s;
	for (uint32_t i = 0; i < n; i++)
		for_each_up(sh, queue[i], g)
			if (seen[g->remote] != s + 1) {
				seen[g->remote] = s + 1;
				queue[n++] = g->remote;
			}
	return n;
}

/* Sort the switches by preference as a gateway.  First criterion: leaf switches with the most
 * switches above.  Second: the fewest host ports.  Third: the smallest GUID. */
bool plan_find_hubs(struct plan *p)
{
	const struct ftr_shape *sh = p->sh;
	uint32_t n = sh->f->n_sw, *seen;
	struct ftr_key *o;
	ftr_sw *queue;

	if (!FTR_ZNEW(p->arena, seen, n) || !FTR_NEW(p->arena, queue, n) ||
	    !FTR_NEW(p->arena, o, n) || !FTR_NEW(p->arena, p->needs.hub, n))
		return false;
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t above = sh->numbering.col[s] < sh->tree.n_leaf ?
			count_above(p, s, seen, queue) : 0;

		o[s] = (struct ftr_key){ (uint64_t)(UINT32_MAX - above) << 32 | p->needs.ends[s], s };
	}
	qsort(o, n, sizeof(*o), ftr_key_cmp);
	for (uint32_t i = 0; i < n; i++)
		p->needs.hub[o[i].idx] = i;
	return true;
}
