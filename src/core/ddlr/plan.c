// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Builds one plan: keeps the current LID and the writes so far.
 *
 * Steps: an entry depends on the entries that its new path passes and that are written in the same
 * plan. Its step is 1 + the greatest step of these entries. A later repair may rewrite an entry on
 * the path of an earlier repair. Both before and after this later write, the path of the earlier
 * repair leads to the LID. The LID is therefore reachable in every intermediate state.
 */
#include <stdlib.h>
#include <string.h>

#include "ddlr/planner.h"

void ddlr_begin_lid(struct ftr_ddlr *r, ftr_lid lid)
{
	const struct lid_state *l = &r->of_lid[lid];

	r->search.state++;
	memset(r->step_of, 0, r->f->n_sw);
	r->lid = lid;
	r->exit_sw = l->exit_sw;
	r->exit_port = l->exit_port;
	if (r->exit_sw != FTR_SW_NONE && r->dead_sw[r->exit_sw])
		r->exit_sw = FTR_SW_NONE;
	for (uint32_t i = r->first_write[lid]; i && i <= r->plan->n; i++) {
		const struct ftr_change *w = &r->plan->write[i - 1];

		if (w->lid != lid)
			break;
		r->step_of[w->sw] = (uint8_t)w->step;
	}
}

bool ddlr_arrives(const struct ftr_ddlr *r, ftr_sw s, uint32_t *hops, uint8_t *last_step)
{
	*last_step = 0;
	for (*hops = 0; *hops < r->f->n_sw; ++*hops) {
		ftr_port p = ddlr_entry(r, s);

		if (r->avoid[s])
			return false;
		*last_step = FTR_MAX(*last_step, r->step_of[s]);
		if (s == r->exit_sw)
			return p == r->exit_port;
		s = ddlr_next(r, s, p);
		if (s == FTR_SW_NONE)
			return false;
	}
	return false;
}

/* ---- writes ------------------------------------------------------------ */

/* Add the next element of plan->write[] to the plan. */
static void note(struct ftr_ddlr *r)
{
	struct ftr_ddlr_plan *p = r->plan;
	const struct ftr_change *w = &p->write[p->n++];

	r->search.state++;
	p->how[w->how]++;
	p->n_steps = FTR_MAX(p->n_steps, w->step);
	p->n_switches += !r->touched[w->sw];
	r->touched[w->sw] = 1;
	if (!r->first_write[r->lid])
		r->first_write[r->lid] = p->n;
	r->step_of[w->sw] = (uint8_t)w->step;
}

enum ftr_status ddlr_try(struct ftr_ddlr *r, const struct ftr_change *w,
			 uint32_t n, enum ftr_ddlr_how how, bool *made,
			 struct ftr_err *err)
{
	bool closes = false;
	enum ftr_status st;

	while (r->plan->n + n > r->cap_write)
		if (!ftr_grow((void **)&r->plan->write, &r->cap_write, sizeof(*r->plan->write)))
			return ftr_nomem(err, "a plan of %u writes", r->plan->n + n);
	for (uint32_t i = 0; i < n; i++)
		r->plan->write[r->plan->n + i] = (struct ftr_change){
			.sw = w[i].sw, .lid = r->lid, .before = ddlr_entry(r, w[i].sw),
			.after = w[i].after, .step = w[i].step, .how = (uint16_t)how,
		};
	st = ftr_cdg_change(r->g, r->lid, w, n, &closes, err);
	/* the edges of r->hosts are a subset of those of g */
	if (!st && !closes && r->hosts) {
		st = ftr_cdg_change(r->hosts, r->lid, w, n, &closes, err);
		if (!st && closes)	/* not covered: it would be a bug */
			st = ftr_fail(err, FTR_INTERNAL, "packets of hosts close a cycle that packets of all sources do not close");
	}
	*made = !st && !closes;
	r->plan->refused += closes;
	for (uint32_t i = 0; *made && i < n; i++)
		note(r);
	return st;
}

static int write_cmp(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->step, b->step) ?: FTR_ORDER(a->sw, b->sw) ?:
	       FTR_ORDER(a->lid, b->lid);
}

void ddlr_begin_plan(struct ftr_ddlr *r, struct ftr_ddlr_plan *plan)
{
	*plan = (struct ftr_ddlr_plan){ .n = 0 };
	r->plan = plan;
	r->cap_write = r->late.round = 0;
	r->late_refused = 0;
}

void ddlr_end_plan(struct ftr_ddlr *r, enum ftr_status st)
{
	struct ftr_ddlr_plan *p = r->plan;

	p->hosts_only = !r->hosts;
	for (uint32_t i = 0; i < p->n; i++) {
		r->touched[p->write[i].sw] = 0;
		r->first_write[p->write[i].lid] = 0;
	}
	if (p->n)
		qsort(p->write, p->n, sizeof(*p->write), write_cmp);
	if (st)
		ftr_ddlr_plan_fini(p);
	r->plan = NULL;
}

void ftr_ddlr_plan_fini(struct ftr_ddlr_plan *plan)
{
	free(plan->write);
	*plan = (struct ftr_ddlr_plan){ .n = 0 };
}
