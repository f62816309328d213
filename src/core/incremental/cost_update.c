// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Update of costs and down-costs.
 *
 * The costs of a whole shape are computed in the two passes of Gliksberg et al. 2020, Procedure 1,
 * modified as <ftr/shape.h> describes.  The update makes the same passes, but computes only the
 * listed values, that is, the costs and down-costs on the work lists.  cost[s][l] is the number of
 * hops from switch s to column l, a destination switch; down[s][l] is the number of hops over
 * downward links only.  The passes are:
 *
 *	by ascending rank	compute down[s][l]; if it changed, list the down-costs
 *				of the switches above s, and the cost of s
 *	by descending rank	compute cost[s][l]; if it changed, list the costs of
 *				the switches below s
 *
 * If a value of s changes, entries that depend on it are listed, too: entries of s, and of the
 * switches above s (for a down-cost) or below s (for a cost).  When a rank is processed, all values
 * on which its values depend are final.  If all columns of a switch are listed, they are computed
 * at once, otherwise in segments of SEGMENT columns.  The functions of src/core/shape/cost.c
 * compute the values.
 *
 * incr_costs.keep: in a shape made with FTR_REORDER_KEEP, the down-cost of some pairs (s, l) is
 * infinite although a switch below s leads to l.  So the switches above s do not route to l through
 * s.  incr_costs_check() finds these pairs when the incremental tables are created.  They do not
 * change afterwards.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "incremental/incremental.h"
#include "shape/cost.h"

#define SEGMENT 64

/* ---- work lists ------------------------------------------------------ */

enum ftr_status incr_lists_new(struct incr_lists *w, struct ftr_arena *arena,
			       const struct ftr_shape *view, struct ftr_err *err)
{
	uint32_t n = view->f->n_sw;

	w->rank = view->tree.rank;
	w->n_ranks = view->tree.n_ranks;
	w->n_sw = n;
	w->words = (n + 63) / 64;
	for (int j = 0; j < N_JOBS; j++) {
		struct incr_work *x = &w->work[j];

		if (!FTR_ZNEW(arena, x->bit, (size_t)n * w->words) ||
		    !FTR_ZNEW(arena, x->listed, n) || !FTR_ZNEW(arena, x->whole, n) ||
		    !FTR_NEW(arena, x->next, n) || !FTR_NEW(arena, x->head, w->n_ranks))
			return incr_nomem(err);
		memset(x->head, 0xff, w->n_ranks * sizeof(*x->head));
	}
	return FTR_OK;
}

static uint64_t *row_bits(const struct incr_lists *w, enum incr_job job, ftr_sw s)
{
	return w->work[job].bit + (size_t)s * w->words;
}

static void list_switch(struct incr_lists *w, enum incr_job job, ftr_sw s)
{
	struct incr_work *x = &w->work[job];
	uint32_t *head = &x->head[w->rank[s]];

	if (x->listed[s])
		return;
	x->listed[s] = 1;
	x->next[s] = *head;
	*head = s;
}

bool incr_touch(struct incr_lists *w, enum incr_job job, ftr_sw s, uint32_t l)
{
	uint64_t *word = row_bits(w, job, s) + l / 64, bit = (uint64_t)1 << l % 64;
	bool new = !(*word & bit);

	*word |= bit;
	list_switch(w, job, s);
	return new;
}

void incr_touch_whole(struct incr_lists *w, enum incr_job job, ftr_sw s)
{
	w->work[job].whole[s] = 1;
	list_switch(w, job, s);
}

static void touch_flagged(struct incr_lists *w, ftr_sw s, const uint8_t *flag)
{
	uint64_t *bit = row_bits(w, JOB_ENTRY, s);

	for (uint32_t l = 0; l < w->n_sw; l++)
		bit[l / 64] |= (uint64_t)flag[l] << l % 64;
	list_switch(w, JOB_ENTRY, s);
}

/* Where b routes downward through a, a must do so, too (shape/candidates.c): so an entry of a depends
 * on the link, whether it leads over it or not. */
void incr_touch_link(struct incr_costs *c, ftr_sw a, ftr_sw b)
{
	size_t n = c->view->reach.stride;
	uint8_t *flag = c->row[0];

	memset(flag, 0, n);
	bytes_flag_less(flag, incr_down(c, a), incr_cost(c, b), n);
	touch_flagged(c->lists, b, flag);
	bytes_flag_less(flag, incr_cost(c, b), incr_cost(c, a), n);
	touch_flagged(c->lists, a, flag);
}

static void unlist(struct incr_lists *w, enum incr_job job, ftr_sw s)
{
	memset(row_bits(w, job, s), 0, w->words * sizeof(uint64_t));
	w->work[job].listed[s] = w->work[job].whole[s] = 0;
}

void incr_lists_clear(struct incr_lists *w)
{
	for (int j = 0; j < N_JOBS; j++)
		for (uint32_t r = 0; r < w->n_ranks; r++) {
			uint32_t *head = &w->work[j].head[r];

			for (; *head != NONE; *head = w->work[j].next[*head])
				unlist(w, (enum incr_job)j, *head);
		}
}

/* ---- one row ---------------------------------------------------------- */

/* Compute n costs (JOB_COST) or down-costs (JOB_DOWN) of s, from column `from` on.  In the comments
 * below, a value is a cost or a down-cost. */
static void compute(const struct incr_costs *c, enum incr_job job, ftr_sw s,
		    size_t from, size_t n, uint8_t *row)
{
	if (job == JOB_COST) {
		cost_row(c->view, s, from, n, row, c->row[1]);
		return;
	}
	cost_down_row(c->view, s, from, n, row);
	for (size_t i = 0; c->kept && i < n; i++) {
		size_t l = from + i;

		if (c->keep[(size_t)s * c->lists->words * 8 + l / 8] >> l % 8 & 1)
			row[i] = FTR_COST_INF;
	}
}

/* ---- update ---------------------------------------------------------- */

static uint8_t *values(const struct incr_costs *c, enum incr_job job, ftr_sw s)
{
	return job == JOB_DOWN ? incr_down(c, s) : incr_cost(c, s);
}

void incr_costs_back(struct incr_costs *c)
{
	while (c->n_log) {
		const struct incr_log *x = &c->log[--c->n_log];

		values(c, (enum incr_job)x->job, x->sw)[x->col] = x->before;
	}
}

/* Change a value and log the old value.  Returns false, and notes it, if out of memory. */
static bool set(struct incr_costs *c, enum incr_job job, ftr_sw s, uint32_t l,
		uint8_t value)
{
	uint8_t *at = &values(c, job, s)[l];

	if (!FTR_GROW(c->log, c->n_log, c->cap_log)) {
		c->nomem = true;
		return false;
	}
	c->log[c->n_log++] = (struct incr_log){ s, l, *at, (uint8_t)job };
	*at = value;
	return true;
}

/* The value of switch s for column l has changed: list the values and entries that depend on it. */
static void list_dependent(struct incr_costs *c, enum incr_job job, ftr_sw s, uint32_t l)
{
	const struct ftr_shape *v = c->view;
	struct incr_lists *w = c->lists;
	const struct ftr_group *g = &v->tree.groups[v->tree.group_first[s]];
	uint32_t from = job == JOB_DOWN ? 0 : v->tree.n_up[s];
	uint32_t to = job == JOB_DOWN ? v->tree.n_up[s] : v->tree.n_up[s] + v->tree.n_down[s];

	incr_touch(w, JOB_ENTRY, s, l);
	if (job == JOB_DOWN)
		incr_touch(w, JOB_COST, s, l);
	for (uint32_t k = from; k < to; k++) {
		incr_touch(w, job, g[k].remote, l);
		incr_touch(w, JOB_ENTRY, g[k].remote, l);
	}
}

/* Compute n values of s again, from column `from` on.  If a value changes, list the values and
 * entries that depend on it. */
static void update_columns(struct incr_costs *c, enum incr_job job, ftr_sw s,
			   uint32_t from, uint32_t n)
{
	const uint8_t *before = values(c, job, s);
	uint32_t end = FTR_MIN(from + n, c->view->f->n_sw);
	uint8_t *row = c->row[0];

	compute(c, job, s, from, n, row);
	for (uint32_t l = from; l < end; l++)
		if (row[l - from] != before[l] && set(c, job, s, l, row[l - from]))
			list_dependent(c, job, s, l);
}

static void update_switch(struct incr_costs *c, enum incr_job job, ftr_sw s)
{
	const uint64_t *bit = row_bits(c->lists, job, s);

	if (c->lists->work[job].whole[s]) {
		update_columns(c, job, s, 0, c->view->reach.stride);
		return;
	}
	for (uint32_t i = 0; i < c->lists->words; i++)
		if (bit[i])
			update_columns(c, job, s, i * SEGMENT, SEGMENT);
}

/* Update all switches on the list of rank r.  An update lists switches of other ranks for this job,
 * but none of rank r. */
static void update_rank(struct incr_costs *c, enum incr_job job, uint32_t r)
{
	uint32_t *head = &c->lists->work[job].head[r];

	for (; *head != NONE; *head = c->lists->work[job].next[*head]) {
		update_switch(c, job, *head);
		unlist(c->lists, job, *head);
	}
}

enum ftr_status incr_costs_update(struct incr_costs *c, struct ftr_err *err)
{
	c->nomem = false;
	for (uint32_t r = 0; r < c->view->tree.n_ranks; r++)
		update_rank(c, JOB_DOWN, r);
	for (uint32_t r = c->view->tree.n_ranks; r-- > 0;)
		update_rank(c, JOB_COST, r);
	return c->nomem ? incr_nomem(err) : FTR_OK;
}

/* ---- check of the initial costs -------------------------------------- */

static enum ftr_status not_its_costs(const struct incr_costs *c, ftr_sw s,
				     struct ftr_err *err)
{
	return ftr_fail(err, FTR_INVAL, "costs of switch 0x%016" PRIx64
			" in the shape do not follow from its links", c->view->f->sw[s].guid);
}

/* c->row[0] holds down-costs of s computed from those of the switches below s.  Set the bits of
 * c->keep for the columns with a finite down-cost in `row`, and an infinite one in the shape. */
static enum ftr_status find_kept(struct incr_costs *c, ftr_sw s, struct ftr_err *err)
{
	const uint8_t *row = c->row[0];
	const uint8_t *down = incr_down(c, s);

	for (uint32_t l = 0; l < c->view->f->n_sw; l++) {
		if (row[l] == down[l])
			continue;
		if (down[l] != FTR_COST_INF)
			return not_its_costs(c, s, err);
		c->kept = true;
		c->keep[(size_t)s * c->lists->words * 8 + l / 8] |=
			(uint8_t)(1u << l % 8);
	}
	return FTR_OK;
}

enum ftr_status incr_costs_new(struct incr_costs *c, struct ftr_arena *arena, struct ftr_shape *view,
			       struct incr_lists *lists, struct ftr_err *err)
{
	size_t bytes = (size_t)view->f->n_sw * view->reach.stride;

	if (!FTR_NEW(arena, c->cost, bytes) || !FTR_NEW(arena, c->down, bytes) ||
	    !FTR_NEW(arena, c->row[0], view->reach.stride) ||
	    !FTR_NEW(arena, c->row[1], view->reach.stride) ||
	    !FTR_ZNEW(arena, c->keep, (size_t)view->f->n_sw * lists->words * 8))
		return incr_nomem(err);
	memcpy(c->cost, view->reach.cost, bytes);
	memcpy(c->down, view->reach.down, bytes);
	view->reach.cost = c->cost;
	view->reach.down = c->down;
	c->view = view;
	c->lists = lists;
	return FTR_OK;
}

enum ftr_status incr_costs_check(struct incr_costs *c, struct ftr_err *err)
{
	uint32_t n = c->view->f->n_sw;
	enum ftr_status st;

	for (ftr_sw s = 0; s < n; s++) {
		compute(c, JOB_DOWN, s, 0, c->view->reach.stride,
			c->row[0]);
		st = find_kept(c, s, err);
		if (st)
			return st;
		compute(c, JOB_COST, s, 0, c->view->reach.stride,
			c->row[0]);
		if (memcmp(c->row[0], incr_cost(c, s), n))
			return not_its_costs(c, s, err);
	}
	return FTR_OK;
}
