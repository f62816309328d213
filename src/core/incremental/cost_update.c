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
 * ftr_incr.keep: in a shape made with FTR_REORDER_KEEP, the down-cost of some pairs (s, l) is
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

enum ftr_status incr_work_new(struct ftr_incr *lv, struct ftr_err *err)
{
	uint32_t n = lv->view.f->n_sw;
	struct ftr_arena *a = lv->arena;

	lv->words = (n + 63) / 64;
	if (!FTR_NEW(a, lv->at, n))
		return incr_nomem(lv, err);
	memset(lv->at, 0xff, n * sizeof(*lv->at));
	for (int j = 0; j < N_JOBS; j++) {
		struct incr_work *w = &lv->work[j];

		if (!FTR_ZNEW(a, w->bit, (size_t)n * lv->words) ||
		    !FTR_ZNEW(a, w->listed, n) || !FTR_ZNEW(a, w->whole, n) ||
		    !FTR_NEW(a, w->next, n) ||
		    !FTR_NEW(a, w->head, lv->view.tree.n_ranks))
			return incr_nomem(lv, err);
		memset(w->head, 0xff, lv->view.tree.n_ranks * sizeof(*w->head));
	}
	for (size_t i = 0; i < FTR_ARRAY_LEN(lv->row); i++) {
		if (!FTR_NEW(a, lv->row[i], lv->view.reach.stride))
			return incr_nomem(lv, err);
	}
	return FTR_OK;
}

static uint64_t *row_bits(const struct ftr_incr *lv, enum incr_job job,
			  ftr_sw s)
{
	return lv->work[job].bit + (size_t)s * lv->words;
}

static void list_switch(struct ftr_incr *lv, enum incr_job job, ftr_sw s)
{
	struct incr_work *w = &lv->work[job];
	uint32_t *head = &w->head[lv->view.tree.rank[s]];

	if (w->listed[s])
		return;
	w->listed[s] = 1;
	w->next[s] = *head;
	*head = s;
}

void incr_touch(struct ftr_incr *lv, enum incr_job job, ftr_sw s, uint32_t l)
{
	row_bits(lv, job, s)[l / 64] |= (uint64_t)1 << l % 64;
	list_switch(lv, job, s);
}

void incr_touch_row(struct ftr_incr *lv, enum incr_job job, ftr_sw s,
		    const uint8_t *flag)
{
	uint64_t *bit = row_bits(lv, job, s);

	for (uint32_t l = 0; l < lv->view.f->n_sw; l++)
		bit[l / 64] |= (uint64_t)flag[l] << l % 64;
	list_switch(lv, job, s);
}

void incr_touch_whole(struct ftr_incr *lv, enum incr_job job, ftr_sw s)
{
	lv->work[job].whole[s] = 1;
	list_switch(lv, job, s);
}

static void unlist(struct ftr_incr *lv, enum incr_job job, ftr_sw s)
{
	memset(row_bits(lv, job, s), 0, lv->words * sizeof(uint64_t));
	lv->work[job].listed[s] = lv->work[job].whole[s] = 0;
}

void incr_work_clear(struct ftr_incr *lv)
{
	for (int j = 0; j < N_JOBS; j++)
		for (uint32_t r = 0; r < lv->view.tree.n_ranks; r++) {
			uint32_t *head = &lv->work[j].head[r];

			for (; *head != NONE; *head = lv->work[j].next[*head])
				unlist(lv, (enum incr_job)j, *head);
		}
}

/* ---- one row ---------------------------------------------------------- */

/* Compute n costs (JOB_COST) or down-costs (JOB_DOWN) of s, from column `from` on.  In the comments
 * below, a value is a cost or a down-cost. */
static void compute(const struct ftr_incr *lv, enum incr_job job, ftr_sw s,
		    size_t from, size_t n, uint8_t *row)
{
	if (job == JOB_COST) {
		cost_row(&lv->view, s, from, n, row, lv->row[1]);
		return;
	}
	cost_down_row(&lv->view, s, from, n, row);
	for (size_t i = 0; lv->keep && i < n; i++) {
		size_t l = from + i;

		if (lv->keep[(size_t)s * lv->words * 8 + l / 8] >> l % 8 & 1)
			row[i] = FTR_COST_INF;
	}
}

/* ---- update ---------------------------------------------------------- */

static void count_pair(struct ftr_incr *lv, ftr_sw s, uint32_t l,
		       uint8_t before, uint8_t after)
{
	if (!incr_are_leaves(lv, s, l))
		return;
	if (after == FTR_COST_INF) {
		lv->pairs.bad++;
		lv->result.lost_pairs++;
	} else if (before == FTR_COST_INF) {
		lv->pairs.bad--;
		lv->result.regained_pairs++;
	}
}

static uint8_t *values(const struct ftr_incr *lv, enum incr_job job, ftr_sw s)
{
	return job == JOB_DOWN ? incr_down(lv, s) : incr_cost(lv, s);
}

void incr_values_back(struct ftr_incr *lv)
{
	while (lv->n_log) {
		const struct incr_log *c = &lv->log[--lv->n_log];

		values(lv, (enum incr_job)c->job, c->sw)[c->col] = c->before;
	}
}

/* Change a value and log the old value.  Returns false if out of memory. */
static bool set(struct ftr_incr *lv, enum incr_job job, ftr_sw s, uint32_t l,
		uint8_t value)
{
	uint8_t *at = &values(lv, job, s)[l];

	if (!FTR_GROW(lv->log, lv->n_log, lv->cap_log))
		return false;
	lv->log[lv->n_log++] = (struct incr_log){ s, l, *at, (uint8_t)job };
	if (job == JOB_COST)
		count_pair(lv, s, l, *at, value);
	*at = value;
	return true;
}

/* The value of switch s for column l has changed: list the values and entries that depend on it. */
static void list_dependent(struct ftr_incr *lv, enum incr_job job, ftr_sw s,
		   uint32_t l)
{
	const struct ftr_shape *v = &lv->view;
	const struct ftr_group *g = &v->tree.groups[v->tree.group_first[s]];
	uint32_t from = job == JOB_DOWN ? 0 : v->tree.n_up[s];
	uint32_t to = job == JOB_DOWN ? v->tree.n_up[s] : v->tree.n_up[s] + v->tree.n_down[s];

	incr_touch(lv, JOB_ENTRY, s, l);
	if (job == JOB_DOWN)
		incr_touch(lv, JOB_COST, s, l);
	for (uint32_t k = from; k < to; k++) {
		incr_touch(lv, job, g[k].remote, l);
		incr_touch(lv, JOB_ENTRY, g[k].remote, l);
	}
}

/* Compute n values of s again, from column `from` on.  If a value changes, list the values and
 * entries that depend on it.  Returns false if out of memory. */
static bool update_columns(struct ftr_incr *lv, enum incr_job job, ftr_sw s,
			   uint32_t from, uint32_t n)
{
	const uint8_t *before = values(lv, job, s);
	uint32_t end = FTR_MIN(from + n, lv->view.f->n_sw);
	uint8_t *row = lv->row[0];

	compute(lv, job, s, from, n, row);
	for (uint32_t l = from; l < end; l++) {
		if (row[l - from] == before[l])
			continue;
		if (!set(lv, job, s, l, row[l - from]))
			return false;
		list_dependent(lv, job, s, l);
	}
	return true;
}

static bool update_switch(struct ftr_incr *lv, enum incr_job job, ftr_sw s)
{
	const uint64_t *bit = row_bits(lv, job, s);

	if (lv->work[job].whole[s])
		return update_columns(lv, job, s, 0, lv->view.reach.stride);
	for (uint32_t i = 0; i < lv->words; i++)
		if (bit[i] && !update_columns(lv, job, s, i * SEGMENT, SEGMENT))
			return false;
	return true;
}

/* Update all switches on the list of rank r.  An update lists switches of other ranks for this job,
 * but none of rank r. */
static bool update_rank(struct ftr_incr *lv, enum incr_job job, uint32_t r)
{
	uint32_t *head = &lv->work[job].head[r];

	for (; *head != NONE; *head = lv->work[job].next[*head]) {
		if (!update_switch(lv, job, *head))
			return false;
		unlist(lv, job, *head);
	}
	return true;
}

enum ftr_status incr_costs(struct ftr_incr *lv, struct ftr_err *err)
{
	for (uint32_t r = 0; r < lv->view.tree.n_ranks; r++)
		if (!update_rank(lv, JOB_DOWN, r))
			return incr_nomem(lv, err);
	for (uint32_t r = lv->view.tree.n_ranks; r-- > 0;)
		if (!update_rank(lv, JOB_COST, r))
			return incr_nomem(lv, err);
	return FTR_OK;
}

/* ---- check of the initial costs -------------------------------------- */

static enum ftr_status not_its_costs(const struct ftr_incr *lv, ftr_sw s,
				     struct ftr_err *err)
{
	return ftr_fail(err, FTR_INVAL, "costs of switch 0x%016" PRIx64
			" in the shape do not follow from its links", lv->view.f->sw[s].guid);
}

/* `row` holds down-costs of s computed from those of the switches below s.  Set the bits of
 * lv->keep for the columns with a finite down-cost in `row`, and an infinite one in the shape. */
static enum ftr_status find_kept(struct ftr_incr *lv, ftr_sw s,
				 const uint8_t *row, struct ftr_err *err)
{
	const uint8_t *down = incr_down(lv, s);
	uint32_t n = lv->view.f->n_sw;

	for (uint32_t l = 0; l < n; l++) {
		if (row[l] == down[l])
			continue;
		if (down[l] != FTR_COST_INF)
			return not_its_costs(lv, s, err);
		if (!lv->keep &&
		    !FTR_ZNEW(lv->arena, lv->keep, (size_t)n * lv->words * 8))
			return incr_nomem(lv, err);
		lv->keep[(size_t)s * lv->words * 8 + l / 8] |=
			(uint8_t)(1u << l % 8);
	}
	return FTR_OK;
}

enum ftr_status incr_costs_check(struct ftr_incr *lv, struct ftr_err *err)
{
	uint32_t n = lv->view.f->n_sw;
	enum ftr_status st;

	for (ftr_sw s = 0; s < n; s++) {
		compute(lv, JOB_DOWN, s, 0, lv->view.reach.stride,
			lv->row[0]);
		st = find_kept(lv, s, lv->row[0], err);
		if (st)
			return st;
		compute(lv, JOB_COST, s, 0, lv->view.reach.stride,
			lv->row[0]);
		if (memcmp(lv->row[0], incr_cost(lv, s), n))
			return not_its_costs(lv, s, err);
	}
	return FTR_OK;
}
