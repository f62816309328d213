// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ddlr: a local repair first, then the transition to new tables.
 *
 * A planner is a process (planner.h), which plans writes for one routing.  When a link
 * dies, the planner first plans a local repair: it changes a few entries at the switches
 * next to the fault.  They are written before anything else is computed.  Then the tables of
 * the whole fabric are computed, and written in rounds, which together are called the
 * transition.  A round changes only entries for which old and new paths together form no
 * credit loop.  The other entries are held.  The next round begins one packet lifetime
 * later, when packets that follow older entries have left the fabric; meanwhile the worker
 * does other jobs.
 *
 *	trap -> links -> local repair: plan, check, write
 *	              -> new tables -> transition: plan, write
 *	              -> one lifetime later: the next round, until no entry is held
 *
 * The planner assumes that everything it planned was written.  If a write is lost, the
 * planner is dropped.  A new one is made after each routing.  While there is no planner, and when
 * links return, the worker writes as for the other engines.
 * The planner does not know a link that has returned.  So a sweep is requested, and the
 * planner that is made after the routing of this sweep includes the link.
 *
 * Making a planner takes longer than rerouting a fault without a planner.  If a fault occurs before
 * the planner is ready, or while packets follow entries of before the routing, which the planner does not
 * know, the fault is rerouted without local repair.  The planner does not know this
 * fault, so its process is killed.  It is also killed if a plan fails, is wrong or comes late, at the
 * next routing, and at the end of OpenSM.  A killed process is waited for when the view is freed: by
 * then it has ended.
 */
#include <stdlib.h>
#include <string.h>

#include "helper/helper.h"
#include "reroute/reroute.h"

/* ---- the planner -------------------------------------------------------- */

static bool repairs_locally(const struct rr_routing *gen)
{
	return ftr_engine_find(gen->engine)->local_repair;
}

static void stop(struct rr_view *v, struct rr_planner **p)
{
	if (!*p)
		return;
	rr_planner_kill(*p);
	v->stopped = *p;	/* a view has at most one planner */
	*p = NULL;
}

enum rr_warning rr_ddlr_warning(const struct ftr_err *err)
{
	bool process = err->status == FTR_IO || err->status == FTR_PARSE || err->status == FTR_LIMIT;

	return process ? RR_WARN_PLANNER : RR_WARN_FAILED;
}

static void warn(struct rr *f, const char *consequence, const struct ftr_err *err)
{
	rr_warn(f, rr_ddlr_warning(err), "%s: %s", consequence, err->msg);
}

#define NO_LOCAL_REPAIRS "no local repairs before the next routing"

void rr_ddlr_start(struct rr *f, struct rr_view *v)
{
	struct ftr_err err;

	if (f->view)	/* v will replace this view */
		rr_ddlr_drop(f->view);
	if (!repairs_locally(&v->gen))
		return;
	if (rr_planner_start(v->gen.shape, v->gen.tables, v->gen.pairs,
			     helper_wait_ms(HELPER_PLANNER), &v->making, &err))
		warn(f, NO_LOCAL_REPAIRS, &err);
}

bool rr_ddlr_ready(struct rr *f)
{
	struct rr_view *v = f->view;
	struct ftr_err err;

	if (v->making && !rr_has_older(f, false) && !rr_planner_is_busy(v->making, 0)) {
		rr_graph_drop(v);
		if (rr_planner_ready(v->making, &err)) {
			warn(f, NO_LOCAL_REPAIRS, &err);
		} else {
			v->planner = v->making;
			v->making = NULL;
		}
	}
	stop(v, &v->making);	/* it does not know the change that is handled now */
	return v->planner != NULL;
}

void rr_ddlr_drop(struct rr_view *v)
{
	stop(v, &v->making);
	stop(v, &v->planner);
	v->transition_due = -1;
}

void rr_ddlr_returned(struct rr *f)
{
	if (repairs_locally(&f->view->gen))
		rr_want_sweep(f);
}

/* Write the plan. On an error the planner is dropped. */
static enum ftr_status push_plan(struct rr *f, const struct ftr_ddlr_plan *plan,
				 struct rr_repair *r, struct ftr_err *err)
{
	struct ftr_change *entry = ftr_calloc(plan->n + 1u, sizeof(*entry));
	enum ftr_status st;

	if (entry && plan->n)
		memcpy(entry, plan->write, plan->n * sizeof(*entry));
	r->switches = FTR_MAX(r->switches, plan->n_switches);
	r->write_steps += plan->n_steps;
	st = rr_write(f, entry, plan->n, UINT32_MAX, r, err);
	if (!st && (r->sets.failed || f->view->mixed))
		st = ftr_fail(err, FTR_REFUSED, "not all blocks were acknowledged");
	if (st)
		rr_ddlr_drop(f->view);
	f->view->drained_at = rr_now(f) + f->ops->lifetime(f->ctx);
	return st;
}

/* ---- local repair ------------------------------------------------------- */

static enum ftr_status plan_local(struct rr *f, const struct rr_repair *r,
				    struct ftr_ddlr_plan *plan,
				    struct ftr_err *err)
{
	struct ftr_hop *ev = ftr_calloc(r->n_links, sizeof(*ev));
	enum ftr_status st;

	if (!ev)
		return ftr_nomem(err, "changes of links");
	for (uint32_t i = 0; i < r->n_links; i++)
		ev[i] = (struct ftr_hop){
			.sw = r->link[i].sw, .port = r->link[i].port,
		};
	st = rr_planner_events(f->view->planner, ev, r->n_links, plan, err);
	free(ev);
	return st;
}

static int by_switch_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->sw, b->sw) ?: FTR_ORDER(a->lid, b->lid);
}

/* Enter the plan into the tables t, and store the changed entries in change[]; returns their number.
 * If the plan writes an entry several times, the last write counts. */
static uint32_t enter_plan(const struct ftr_ddlr_plan *plan, struct ftr_tables *t,
			   struct ftr_change *change)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ftr_change *w = &plan->write[i];

		change[i] = *w;
		change[i].before = ftr_tables_row(t, w->sw)[w->lid];
	}
	for (uint32_t i = 0; i < plan->n; i++)
		ftr_tables_row(t, plan->write[i].sw)[plan->write[i].lid] =
			plan->write[i].after;
	qsort(change, plan->n, sizeof(*change), by_switch_and_lid);
	for (uint32_t i = 0; i < plan->n; i++) {
		struct ftr_change *x = &change[i];

		if (n && !by_switch_and_lid(x, &change[n - 1]))
			continue;
		x->after = ftr_tables_row(t, x->sw)[x->lid];
		if (x->before != x->after)
			change[n++] = *x;
	}
	return n;
}

static void undo_changes(const struct ftr_change *change, uint32_t n, struct ftr_tables *t)
{
	for (uint32_t i = 0; i < n; i++)
		ftr_tables_row(t, change[i].sw)[change[i].lid] = change[i].before;
}

static void list_dead_links(const struct rr_repair *r, struct ftr_link *gone)
{
	for (uint32_t i = 0; i < r->n_links; i++) {
		const struct rr_link *x = &r->link[i];

		gone[i] = (struct ftr_link){
			.sw = x->sw, .peer = x->peer, .port = x->port,
			.peer_port = x->peer_port,
		};
	}
}

/*
 * Check the planned local repair: follow the paths in the tables that the switches will
 * hold, as for every other repair.  During the check the plan is entered into view->sent,
 * because a copy of all tables would take longer than the check.  Paths may turn from a
 * downward to an upward link: the planner has already excluded credit loops with the
 * checker's dependency graph (<ftr/cdg.h>), which also covers packets in flight.  A path
 * may end at a dead port only if the plan reports entries that it could not repair.
 */
static enum ftr_status check_plan(const struct rr_view *v, const struct rr_repair *r,
				  const struct ftr_ddlr_plan *plan,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = v->gen.fabric;
	struct ftr_change *change = ftr_calloc(plan->n + 1u, sizeof(*change));
	struct ftr_link *gone = ftr_calloc(r->n_links + 1u, sizeof(*gone));
	uint64_t *dead = rr_dead_with(v, r);
	struct ftr_check_delta delta;
	struct ftr_delta_report rep;
	enum ftr_status st;

	if (!change || !gone || !dead) {
		st = ftr_nomem(err, "changed entries");
		goto done;
	}
	list_dead_links(r, gone);
	ftr_incr_delta(v->incr, &delta);
	delta = (struct ftr_check_delta){
		.dead = dead, .extra = delta.extra, .n_extra = delta.n_extra,
		.gone = gone, .n_gone = r->n_links, .rank = v->gen.order,
		.change = change, .n_changes = enter_plan(plan, v->sent, change),
	};
	st = ftr_check_changes(f, v->sent, &delta, &rep, err);
	undo_changes(change, delta.n_changes, v->sent);
	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		if (st)
			break;
		if (rep.found[i] && (i == FTR_FIND_LOOP ||
				     i == FTR_FIND_WRONG_END ||
				     (i == FTR_FIND_DEAD_PORT &&
				      !plan->unrepaired)))
			st = rr_refuse(f, "the planned local repair leads to",
				       &rep, (enum ftr_finding)i, err);
	}
done:
	free(change);
	free(gone);
	free(dead);
	return st;
}

bool rr_ddlr_detour(struct rr *f, struct rr_repair *r)
{
	struct ftr_ddlr_plan plan = { 0 };
	struct ftr_err err = { 0 };
	enum ftr_status st = plan_local(f, r, &plan, &err);

	if (!st) {
		r->computed_ms = rr_now(f) - r->trap_at;
		r->unrepaired = plan.unrepaired;
		st = check_plan(f->view, r, &plan, &err);
		r->checked_ms = rr_now(f) - r->trap_at;
		if (!st)
			st = push_plan(f, &plan, r, &err);
		ftr_ddlr_plan_fini(&plan);
	}
	if (st)
		rr_ddlr_drop(f->view);
	if (st && !rr_is_overtaken(f))
		warn(f, "no local repair; the fault is rerouted without it", &err);
	return !st;
}

/* ---- transition --------------------------------------------------------- */

enum ftr_status rr_ddlr_transition(struct rr *f, struct rr_repair *r, struct ftr_err *err)
{
	struct rr_view *v = f->view;
	struct ftr_ddlr_plan plan = { 0 };
	enum ftr_status st;
	bool done;

	st = rr_planner_transition(v->planner, ftr_incr_tables(v->incr),
				   rr_now(f) >= v->drained_at, false, &plan, err);
	if (st) {
		rr_ddlr_drop(v);
		return st;
	}
	done = plan.done;
	r->held = plan.held;
	st = push_plan(f, &plan, r, err);
	ftr_ddlr_plan_fini(&plan);
	if (!st)
		v->transition_due = done ? -1 : v->drained_at;
	return st;
}
