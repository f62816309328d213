// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes costs, down-costs and dividers: Gliksberg et al. 2020, Procedure 1.
 *
 * A cost is the number of hops of the path from a switch to a column, that is, to a destination
 * switch.  A down-cost is the number of hops if the path uses downward links only.  The costs from
 * one switch to all columns are a row.  In the paper each switch updates the rows of its
 * neighbours.  Here the row of a switch is computed from the rows of its neighbours.  So each row
 * has one writer, and several threads can process the switches of a rank at the same time.  The
 * ranks are processed one after the other, in two passes:
 *
 *	by ascending rank	down[s] = min over switches g below s: down[g] + 1
 *	by descending rank	must[s] = some switch g above s has cost[g] > down[s]
 *				cost[s] = must[s] ? down[s]
 *					: min(down[s], min over g above s: cost[g] + 1)
 *
 * <ftr/shape.h> explains must[s] (s must route downward) and the deviation from the paper.  must[]
 * is not stored: other code that needs must[s] computes it from the rows of the switches above s,
 * which it reads anyway.  A row has one byte per column, so one vector instruction processes
 * several columns.  The work is O(links * n_sw).
 */
#include <string.h>

#include "base/bytes.h"
#include "shape/cost.h"
#include "shape/shape.h"

_Static_assert(FTR_COST_INF == FTR_BYTE_INF, "bytes.h and costs use the same infinity");

void cost_down_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
		   uint8_t *row)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s] +
						     sh->tree.n_up[s]];
	size_t own = sh->numbering.col[s];

	memset(row, FTR_COST_INF, n);
	for (uint32_t k = 0; k < sh->tree.n_down[s]; k++)
		bytes_min(row, ftr_shape_down(sh, g[k].remote) + from, n);
	bytes_step(row, n);
	if (own >= from && own < from + n)
		row[own - from] = 0;
}

void cost_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
	      uint8_t *row, uint8_t *must)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	const uint8_t *down = ftr_shape_down(sh, s) + from;

	memset(row, FTR_COST_INF, n);
	memset(must, 0, n);
	for (uint32_t k = 0; k < sh->tree.n_up[s]; k++) {
		const uint8_t *theirs = ftr_shape_cost(sh, g[k].remote) + from;

		bytes_min(row, theirs, n);
		if (sh->tree.n_down[s])		/* or else only the cost to s itself is finite */
			bytes_flag_less(must, down, theirs, n);
	}
	bytes_step(row, n);
	bytes_min(row, down, n);
	bytes_take(row, down, must, n);
}

struct costing {
	const struct shaping *z;
	const ftr_sw *list;
	uint8_t *cost, *down;
	uint8_t *must;		/* scratch: one row for each worker */
	uint8_t *inf;		/* a row in which all costs are FTR_COST_INF */
	size_t stride;
};

/*
 * With FTR_REORDER_KEEP (reorder.c): remove some down-costs of s.  In the old order, s may route to
 * a destination switch over a neighbour that is above s in the new order.  Then s gets no down-cost
 * to this destination.  Otherwise a switch above s could route downward through s.  Then s would
 * have to route downward, too, and its few downward links would carry all its traffic to the
 * destination.
 */
static void remove_down_costs(const struct costing *c, unsigned int worker, ftr_sw s,
			uint8_t *down)
{
	const struct ftr_shape *sh = c->z->sh, *old = c->z->keep_to;
	uint8_t *up = c->must + worker * c->stride;

	memset(up, 0, c->stride);
	for (uint32_t k = 0; k < sh->tree.n_up[s]; k++) {
		ftr_sw g = sh->tree.groups[sh->tree.group_first[s] + k].remote;

		bytes_flag_less(up, old->tree.rank[g] > old->tree.rank[s] ?
				ftr_shape_cost(old, g) : ftr_shape_down(old, g),
				ftr_shape_cost(old, s), c->stride);
	}
	bytes_take(down, c->inf, up, c->stride);
}

static void pull_down(void *ctx, unsigned int worker, uint32_t begin,
		      uint32_t end)
{
	const struct costing *c = ctx;
	const struct ftr_shape *sh = c->z->sh;

	for (uint32_t i = begin; i < end; i++) {
		ftr_sw s = c->list[i];
		uint8_t *row = c->down + s * c->stride;

		cost_down_row(sh, s, 0, c->stride, row);
		if (c->z->keep_to)
			remove_down_costs(c, worker, s, row);
	}
}

static void pull_cost(void *ctx, unsigned int worker, uint32_t begin,
		      uint32_t end)
{
	const struct costing *c = ctx;
	const struct ftr_shape *sh = c->z->sh;
	uint8_t *must = c->must + worker * c->stride;

	for (uint32_t i = begin; i < end; i++) {
		ftr_sw s = c->list[i];

		cost_row(sh, s, 0, c->stride, c->cost + s * c->stride, must);
	}
}

static void run_rank(struct costing *c, uint32_t r, ftr_team_fn fn)
{
	const uint32_t *first = c->z->rank_first;

	c->list = c->z->by_rank + first[r];
	ftr_team_run(c->z->team, first[r + 1] - first[r], 16, fn, c);
}

/* Compute the dividers (Gliksberg et al. 2020, section 3.3), but count nominal groups:
 * Pi[t] = max over the switches s below t: Pi[s] * n_slots[s].  If there are none, Pi[t] = 1.
 * Switches are visited by ascending rank, so a divider is final before it is used. */
enum ftr_status shape_dividers(struct shaping *z)
{
	const struct ftr_shape *sh = z->sh;
	uint64_t *pi = ftr_arena_alloc(z->keep, z->f->n_sw, sizeof(*pi));

	if (!pi)
		return shape_nomem(z);
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		pi[s] = 1;
	for (uint32_t i = 0; i < z->f->n_sw; i++) {
		ftr_sw s = z->by_rank[i];
		const ftr_sw *above;
		uint32_t n_inferred = shape_inferred_above(z, s, &above);
		uint64_t up;

		if (__builtin_mul_overflow(pi[s], (uint64_t)sh->numbering.n_slots[s],
					   &up))
			up = UINT64_MAX;
		for (uint32_t k = 0; k < sh->tree.n_up[s]; k++) {
			ftr_sw t = sh->tree.groups[sh->tree.group_first[s] + k].remote;

			pi[t] = FTR_MAX(pi[t], up);
		}
		for (uint32_t k = 0; k < n_inferred; k++)
			pi[above[k]] = FTR_MAX(pi[above[k]], up);
	}
	z->sh->numbering.divider = pi;
	return FTR_OK;
}

enum ftr_status shape_cost(struct shaping *z)
{
	struct ftr_shape *sh = z->sh;
	uint32_t n = z->f->n_sw;
	struct costing c = {
		.z = z, .stride = ((size_t)n + 63) & ~(size_t)63,
	};

	if (!FTR_NEW(z->keep, c.cost, n * c.stride) ||
	    !FTR_NEW(z->keep, c.down, n * c.stride) ||
	    !FTR_NEW(z->scratch, c.must, ftr_team_size(z->team) * c.stride) ||
	    !FTR_NEW(z->scratch, c.inf, c.stride))
		return shape_nomem(z);
	memset(c.inf, FTR_COST_INF, c.stride);
	sh->reach.cost = c.cost;
	sh->reach.down = c.down;
	sh->reach.stride = (uint32_t)c.stride;
	for (uint32_t r = 0; r < sh->tree.n_ranks; r++)
		run_rank(&c, r, pull_down);
	for (uint32_t r = sh->tree.n_ranks; r-- > 0;)
		run_rank(&c, r, pull_cost);
	return FTR_OK;
}
