// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Estimates the congestion for given heights of the switches.  No shape is needed.
 *
 * A column is a switch as a destination.  Costs are computed for one column at a time, as in
 * <ftr/shape.h>:
 *
 *	by ascending height	down[s] = 1 + min over t below s: down[t]
 *	by descending height	must[s] = some t above s has cost[t] > down[s]
 *				cost[s] = must[s] ? down[s]
 *					: min(down[s], 1 + min over t above s: cost[t])
 *
 * The costs decide the next hops of each switch.  Then the flows of all hosts are moved hop by hop
 * to the switch of the column, beginning at the switches with the greatest cost.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/congestion.h"
#include "shape/rank.h"

#define FAR UINT32_MAX
/* In large fabrics only flows to every k-th switch with hosts are counted.  k is chosen so that
 * (switches * ordered pairs of neighbours) / k < MAX_WORK.  If k > 1, only the loads of upward
 * links are used, which are about 1/k of the loads that all flows would cause.  The downward links
 * near the few destination switches would seem overloaded. */
#define MAX_WORK 250000

struct estimate {
	const struct shaping *z;
	const int32_t *height;
	uint32_t n;		/* number of switches */
	uint64_t *order;	/* [n] the switches by ascending height: (height + 2^31) << 32 | index
				 * of the switch */
	/* for the current column (destination switch); arrays by switch */
	uint32_t *cost, *down;	/* cost and down-cost; FAR: no path */
	uint8_t *must;		/* 1: the switch must route downward */
	double *flow;		/* number of flows to one host of the column that pass the switch */
	ftr_sw *by_cost;	/* switches with a path to the column, by ascending cost */
	uint32_t *first;	/* scratch of sort_by_cost() */
	double *load;		/* load[k]: number of flows on the links to neighbour z->nbr[k] */
	uint32_t step;		/* k: flows to every k-th switch with hosts are counted */
	double pairs, apart;	/* pairs: number of physically connected pairs of hosts; apart:
				 * number of these pairs without a path */
};

static void sort_switches(const struct estimate *e)
{
	for (ftr_sw s = 0; s < e->n; s++)
		e->order[s] = ((uint64_t)e->height[s] + (UINT64_C(1) << 31)) << 32 | s;
	qsort(e->order, e->n, sizeof(*e->order), ftr_u64_cmp);
}

static inline bool is_above(const struct estimate *e, ftr_sw t, ftr_sw s)
{
	return e->height[t] > e->height[s];
}

static inline bool is_below(const struct estimate *e, ftr_sw t, ftr_sw s)
{
	return e->height[t] < e->height[s];
}

/* Set cost[], down[] and must[] of all switches.  Returns the greatest finite cost. */
static uint32_t costs(struct estimate *e, ftr_sw col)
{
	uint32_t greatest = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		ftr_sw s = (ftr_sw)e->order[i];

		e->down[s] = s == col ? 0 : FAR;
		for_each_nbr(e->z, s, t)
			if (is_below(e, t->sw, s) && e->down[t->sw] != FAR)
				e->down[s] = FTR_MIN(e->down[s], e->down[t->sw] + 1);
	}
	for (uint32_t i = e->n; i-- > 0;) {
		ftr_sw s = (ftr_sw)e->order[i];
		uint32_t up = FAR;

		e->must[s] = 0;
		for_each_nbr(e->z, s, t) {
			if (!is_above(e, t->sw, s) || e->cost[t->sw] == FAR)
				continue;
			e->must[s] |= e->cost[t->sw] > e->down[s];
			up = FTR_MIN(up, e->cost[t->sw] + 1);
		}
		e->cost[s] = e->must[s] ? e->down[s] : FTR_MIN(e->down[s], up);
		if (e->cost[s] != FAR)
			greatest = FTR_MAX(greatest, e->cost[s]);
	}
	return greatest;
}

/* Set by_cost to the switches with a path to the destination switch, by ascending cost.  Returns
 * their number. */
static uint32_t sort_by_cost(struct estimate *e, uint32_t greatest)
{
	uint32_t n = 0;

	memset(e->first, 0, (greatest + 2u) * sizeof(*e->first));
	for (uint32_t i = 0; i < e->n; i++) {
		ftr_sw s = (ftr_sw)e->order[i];

		if (e->cost[s] == FAR)
			continue;
		e->first[e->cost[s] + 1]++;
		n++;
	}
	for (uint32_t k = 0; k <= greatest; k++)
		e->first[k + 1] += e->first[k];
	for (uint32_t i = 0; i < e->n; i++) {
		ftr_sw s = (ftr_sw)e->order[i];

		if (e->cost[s] != FAR)
			e->by_cost[e->first[e->cost[s]]++] = s;
	}
	return n;
}

/* Returns true if t is a next hop of s. */
static bool is_candidate(const struct estimate *e, ftr_sw s, ftr_sw t)
{
	if (is_above(e, t, s))
		return !e->must[s] && e->cost[t] < e->cost[s];
	return is_below(e, t, s) && e->down[t] < e->cost[s];
}

/* Divide the flows at s among the links to its next hops.  hosts: number of hosts on the
 * destination switch. */
static void divide(struct estimate *e, ftr_sw s, uint32_t hosts)
{
	uint32_t n_links = 0;

	for_each_nbr(e->z, s, t)
		if (is_candidate(e, s, t->sw))
			n_links += t->links;
	for_each_nbr(e->z, s, t) {
		double part;

		if (!is_candidate(e, s, t->sw))
			continue;
		part = e->flow[s] * t->links / n_links;
		e->flow[t->sw] += part;
		e->load[t - e->z->nbr] += part * hosts;
	}
}

/* Count the flows to the hosts on switch col: move them hop by hop from all switches that have a
 * path to col.  uf: a union-find of the connected components of the fabric. */
static void push(struct estimate *e, ftr_sw col, uint32_t *uf)
{
	const uint32_t *hosts = e->z->hosts;
	uint32_t n = sort_by_cost(e, costs(e, col));

	for (uint32_t i = 0; i < e->n; i++) {
		ftr_sw s = (ftr_sw)e->order[i];
		bool path = e->cost[s] != FAR;

		e->flow[s] = path ? hosts[s] : 0;
		if (s == col || ftr_uf_find(uf, s) != ftr_uf_find(uf, col))
			continue;
		e->pairs += (double)hosts[s] * hosts[col];
		if (!path)
			e->apart += (double)hosts[s] * hosts[col];
	}
	while (n-- > 1)		/* by_cost[0] is col */
		divide(e, e->by_cost[n], hosts[col]);
}

static struct congestion sum_up(const struct estimate *e)
{
	struct congestion sum = { 0 };
	double scale = e->apart < e->pairs ? e->pairs / (e->pairs - e->apart) : 1;
	uint32_t most = 1;

	for (ftr_sw s = 0; s < e->n; s++) {
		uint32_t n_links = 0;

		for_each_nbr(e->z, s, t) {
			double load = e->load[t - e->z->nbr];

			n_links += t->links;
			if (e->step > 1 && !is_above(e, t->sw, s))
				continue;
			sum.max = FTR_MAX(sum.max, load / t->links);
			sum.squares += load * load / t->links;
		}
		most = FTR_MAX(most, n_links);
	}
	sum.max = sum.max * scale + e->apart / most;
	sum.squares *= scale * scale;
	sum.apart = e->pairs > 0 ? e->apart / e->pairs : 0;
	return sum;
}

enum ftr_status shape_congestion(struct shaping *z, const int32_t *height,
				 struct congestion *out)
{
	uint32_t n = z->f->n_sw, k = 0, *uf;
	struct ftr_arena *a = ftr_arena_new();
	struct estimate e = {
		.z = z, .height = height, .n = n,
		.step = (uint32_t)((uint64_t)n * z->nbr_first[n] / MAX_WORK) + 1,
	};

	if (!a || !FTR_NEW(a, e.order, n) || !FTR_NEW(a, e.cost, n) ||
	    !FTR_NEW(a, e.down, n) || !FTR_NEW(a, e.must, n) ||
	    !FTR_NEW(a, e.flow, n) || !FTR_NEW(a, e.by_cost, n) ||
	    !FTR_NEW(a, e.first, 2 * (size_t)n + 2) || !FTR_NEW(a, uf, n) ||
	    !FTR_ZNEW(a, e.load, z->nbr_first[n])) {
		ftr_arena_free(a);
		return shape_nomem(z);
	}
	sort_switches(&e);
	rank_components(z, uf);
	for (ftr_sw s = 0; s < n; s++)
		if (z->hosts[s] && k++ % e.step == 0)
			push(&e, s, uf);
	*out = sum_up(&e);
	ftr_arena_free(a);
	return FTR_OK;
}
