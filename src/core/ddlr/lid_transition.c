// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses the write steps in which the entries for one LID change to new ones.
 *
 * Some switches get new entries for a LID. Each new entry is written after the other new entries on
 * its path (tables/write_order.h). Sometimes not all entries can be ordered in this way. Then one
 * more entry gets a step: the first entry whose new path reaches the LID while all other entries
 * without a step are still old. Then the order of the remaining entries is computed again. If there
 * is no such entry, the remaining entries are left unchanged.
 */
#include <stdlib.h>

#include "ddlr/planner.h"
#include "tables/write_order.h"

#define MAX_STEP UINT8_MAX

static bool is_delivered(const struct ftr_ddlr *r, ftr_sw s, ftr_port p)
{
	return s == r->exit_sw && p == r->exit_port;
}

/* For struct write_order: the next change on the path of change i. The path is followed through
 * changes to which one_alone() gave a step, over their new entries. *base: greatest step on the
 * path so far. The search does not stop at the first change with a step, because a later one may
 * have a greater step. */
static uint32_t next_change(const void *ctx, uint32_t i, uint32_t *base)
{
	const struct ftr_ddlr *r = ctx;
	ftr_sw s = r->col[i].sw;
	ftr_port p = r->col[i].after;

	for (uint32_t hops = 0; hops <= r->f->n_sw; hops++) {
		uint32_t k;

		if (is_delivered(r, s, p))
			return WRITE_ARRIVES;
		s = ddlr_next(r, s, p);
		if (s == FTR_SW_NONE)
			return WRITE_LOST;
		*base = FTR_MAX(*base, r->step_of[s]);
		p = ddlr_entry(r, s);
		k = r->col_of[s];
		if (k && !r->col[k - 1].step)
			return k - 1;
		if (!k)
			continue;
		if (k - 1 == i)
			return WRITE_LOST;
		*base = FTR_MAX(*base, r->col[k - 1].step);
		p = r->col[k - 1].after;
	}
	return WRITE_LOST;
}

/* The step of change i if all other switches without a step keep their old entries;
 * WRITE_NEVER: its path does not reach the LID, or the step would exceed MAX_STEP. */
static uint32_t step_alone(const struct ftr_ddlr *r, const uint32_t *step, uint32_t i)
{
	ftr_sw s = r->col[i].sw;
	ftr_port p = r->col[i].after;
	uint32_t last = 0;

	for (uint32_t hops = 0; hops <= r->f->n_sw; hops++) {
		uint32_t k;

		if (is_delivered(r, s, p))
			return last < MAX_STEP ? last + 1 : WRITE_NEVER;
		s = ddlr_next(r, s, p);
		if (s == FTR_SW_NONE || s == r->col[i].sw)
			return WRITE_NEVER;
		last = FTR_MAX(last, r->step_of[s]);
		p = ddlr_entry(r, s);
		k = r->col_of[s];
		if (!k || step[k - 1] == WRITE_NEVER)
			continue;
		p = r->col[k - 1].after;
		last = FTR_MAX(last, step[k - 1]);
	}
	return WRITE_NEVER;
}

/* Give a step to one more change. Returns false if no further change can have a step. */
static bool one_alone(struct ftr_ddlr *r, uint32_t *step, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t alone = step[i] != WRITE_NEVER ? WRITE_NEVER :
			step_alone(r, step, i);

		if (alone == WRITE_NEVER)
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (step[k] == WRITE_NEVER)
				step[k] = WRITE_UNKNOWN;
		step[i] = r->col[i].step = (uint16_t)alone;
		return true;
	}
	return false;
}

static void find_steps(struct ftr_ddlr *r, const struct write_order *o, uint32_t n)
{
	do {
		for (uint32_t i = 0; i < n; i++)
			write_order_step(o, i);
	} while (one_alone(r, o->step, n));
}

static int step_cmp(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->step, b->step) ?: FTR_ORDER(a->sw, b->sw);
}

/* Set w[] to the changes that can be written, by step.  Returns their number. */
static uint32_t order_changes(struct ftr_ddlr *r, const struct write_order *o,
			      struct ftr_change *w, uint32_t n)
{
	uint32_t m = 0;

	for (uint32_t i = 0; i < n; i++)
		r->col_of[r->col[i].sw] = i + 1;
	find_steps(r, o, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_change *c = &r->col[i];

		r->col_of[c->sw] = 0;
		if (o->step[i] != WRITE_NEVER)
			w[m++] = (struct ftr_change){
				.sw = c->sw, .after = c->after, .step = (uint16_t)o->step[i],
			};
	}
	if (m)
		qsort(w, m, sizeof(*w), step_cmp);
	return m;
}

enum ftr_status column_change(struct ftr_ddlr *r, uint32_t n, enum ftr_ddlr_how how, bool *made,
			      struct ftr_err *err)
{
	struct ftr_change *w = ftr_calloc(n + 1u, sizeof(*w));
	struct write_order o = {
		.ctx = r, .next = next_change, .limit = MAX_STEP,
		.step = ftr_calloc(n + 1u, sizeof(*o.step)),
		.stack = ftr_calloc(n + 1u, sizeof(*o.stack)),
	};
	enum ftr_status st = FTR_OK;

	if (w && o.step && o.stack) {
		uint32_t m = order_changes(r, &o, w, n);

		*made = true;
		if (m)
			st = ddlr_try(r, w, m, how, made, err);
	} else {
		st = ftr_nomem(err, "the changed entries");
	}
	free(w);
	free(o.step);
	free(o.stack);
	return st;
}
