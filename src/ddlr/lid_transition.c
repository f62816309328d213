// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Steps from one column of entries to another.
 *
 * Some switches get new entries for a LID. A switch may be written when two
 * conditions hold: the path from its new entry, which follows new entries where
 * there are any and old ones elsewhere, reaches the LID; and all new entries on
 * this path are written (downstream first). In every state a packet therefore
 * follows old entries up to the first new one, and new entries from there on.
 *
 * The order is found in rounds. In a round, a switch gets its step if the path
 * from its new entry reaches the LID and passes only switches that have their
 * step or do not change. If a round assigns no step, the first switch is taken
 * whose path reaches the LID while all other switches without a step keep their
 * old entries. If there is none either, the remaining entries are left
 * unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "ddlr/planner.h"

/* Follow the path from c's new entry. strict: fail at another switch without a
 * step; otherwise such switches keep their old entries. *step: the step of c. */
static bool arrives(const struct ftr_ddlr *r, const struct column_write *c,
		    bool strict, uint8_t *step)
{
	ftr_port p = c->port;
	ftr_sw s = c->sw;
	uint8_t last = 0;

	for (uint32_t hops = 0; hops <= r->f->n_sw; hops++) {
		const struct column_write *w;

		if (s == r->exit_sw && p == r->exit_port)
			break;
		s = ddlr_next(r, s, p);
		if (s == FTR_SW_NONE || s == c->sw)
			return false;
		p = r->entry[s];
		last = FTR_MAX(last, r->step_of[s]);
		if (!r->col_of[s])
			continue;
		w = &r->col[r->col_of[s] - 1];
		if (w->done) {
			p = w->port;
			last = FTR_MAX(last, w->step);
		} else if (strict) {
			return false;
		}
	}
	*step = last + 1u;
	return s == r->exit_sw && p == r->exit_port && last < UINT8_MAX;
}

static bool round_of(struct ftr_ddlr *r, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		struct column_write *c = &r->col[i];
		uint8_t step;

		if (c->done || !arrives(r, c, true, &step))
			continue;
		c->step = step;
		c->done = any = true;
	}
	return any;
}

static bool one_alone(struct ftr_ddlr *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct column_write *c = &r->col[i];
		uint8_t step;

		if (c->done || !arrives(r, c, false, &step))
			continue;
		c->step = step;
		c->done = true;
		return true;
	}
	return false;
}

static int step_cmp(const void *x, const void *y)
{
	const struct ftr_cdg_write *a = x, *b = y;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

enum ftr_status column_change(struct ftr_ddlr *r, uint32_t n,
			      enum ftr_ddlr_how how, bool *made,
			      struct ftr_err *err)
{
	struct ftr_cdg_write *w = ftr_reallocarray(NULL, (size_t)n + 1,
						   sizeof(*w));
	enum ftr_status st = FTR_OK;
	uint32_t m = 0;

	if (!w)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %u entries",
				n);
	for (uint32_t i = 0; i < n; i++) {
		r->col[i].done = false;
		r->col_of[r->col[i].sw] = i + 1;
	}
	while (round_of(r, n) || one_alone(r, n))
		;
	for (uint32_t i = 0; i < n; i++) {
		const struct column_write *c = &r->col[i];

		r->col_of[c->sw] = 0;
		if (c->done)
			w[m++] = (struct ftr_cdg_write){ c->sw, c->port,
							 c->step };
	}
	*made = true;
	if (m) {
		qsort(w, m, sizeof(*w), step_cmp);
		st = ddlr_try(r, w, m, how, made, err);
	}
	free(w);
	return st;
}
