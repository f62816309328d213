// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The planner of ddlr in a process of its own.
 *
 * The planner is the largest computation of the fast path, and keeps a state between plans.  So it
 * runs in a process, and a plan is read like a file from a stranger (helper/job.h).  The checks here
 * and in the callers find loops, wrong paths and dead ports.  They do not find a credit loop, because
 * this needs the dependency graph of the planner; a plan that was damaged by chance is found by
 * its checksum.
 */
#include <stdlib.h>

#include "helper/helper.h"
#include "reroute/planner.h"

struct rr_planner {
	struct helper *helper;
	const struct ftr_fabric *f;
	unsigned int ms;	/* the longest wait for a plan */
};

static enum ftr_status failed(enum ftr_status st, struct ftr_err *err)
{
	return st && st != FTR_REFUSED ? ftr_err_prefix(err, "the process of the planner failed") : st;
}

enum ftr_status rr_planner_start(const struct ftr_shape *sh, const struct ftr_tables *t,
				 const struct ftr_vl_pairs *pairs, unsigned int ms,
				 struct rr_planner **out, struct ftr_err *err)
{
	struct rr_planner *p = ftr_calloc(1, sizeof(*p));
	struct ftr_out o = { 0 };
	enum ftr_status st = p ? helper_start(HELPER_PLANNER, &p->helper, err) :
		ftr_nomem(err, "a planner");

	if (!st) {
		put_planner(&o, sh, t, pairs);
		st = helper_send(p->helper, &o, err);
	}
	if (st) {
		rr_planner_free(p);
		return failed(st, err);
	}
	p->f = sh->f;
	p->ms = ms;
	*out = p;
	return FTR_OK;
}

bool rr_planner_is_busy(const struct rr_planner *p, unsigned int ms)
{
	return helper_is_busy(p->helper, ms);
}

enum ftr_status rr_planner_ready(struct rr_planner *p, struct ftr_err *err)
{
	struct ftr_in in;
	enum ftr_status st = helper_result(p->helper, 0, &in, err);

	return failed(st ? st : ftr_in_end(&in, st, err), err);
}

static enum ftr_status ask(struct rr_planner *p, struct ftr_out *o, struct ftr_ddlr_plan *plan,
			   struct ftr_err *err)
{
	struct ftr_in in;
	enum ftr_status st = helper_send(p->helper, o, err);

	if (!st)
		st = helper_result(p->helper, p->ms, &in, err);
	return failed(st ? st : get_plan(&in, p->f, plan, err), err);
}

enum ftr_status rr_planner_events(struct rr_planner *p, const struct ftr_hop *ev, uint32_t n,
				  struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	struct ftr_out o = { 0 };

	put_events(&o, ev, n);
	return ask(p, &o, plan, err);
}

enum ftr_status rr_planner_transition(struct rr_planner *p, const struct ftr_tables *t, bool drained,
				      bool all, struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	struct ftr_out o = { 0 };
	enum ftr_status st;

	put_transition(&o, p->f, t, drained, all ? p->ms / 2 + 1 : 0);
	st = ask(p, &o, plan, err);
	for (uint32_t i = 0; i < plan->n; i++) {
		if (st)
			break;
		if (plan->write[i].after != ftr_tables_get(t, plan->write[i].sw, plan->write[i].lid))
			st = ftr_fail(err, FTR_PARSE, "the process of the planner failed: write %u of its plan is no new entry: switch=%u lid=%u port=%u",
				      i + 1, plan->write[i].sw, plan->write[i].lid, plan->write[i].after);
	}
	if (st == FTR_PARSE)
		ftr_ddlr_plan_fini(plan);
	return st;
}

void rr_planner_kill(struct rr_planner *p)
{
	helper_kill(p->helper);
}

void rr_planner_free(struct rr_planner *p)
{
	if (p)
		helper_free(p->helper);
	free(p);
}
