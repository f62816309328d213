// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The worker of the fast path carries out the actions of the state machine, in
 * order.
 *
 *	OpenSM has routed	make a new view: the worker's copy of shape and tables
 *	traps			probe the switches -> links -> new entries ->
 *				check -> write
 *	a sweep is done		take returning links into use
 *	a sweep is due		request a heavy sweep from OpenSM
 *
 * When a link dies, the tables are repaired immediately.  But from the end of a discovery to
 * the end of the routing, the traps wait.  A discovery that was under way when the link died
 * may have seen the link alive.  rr_left_out() keeps such links out of the next routing,
 * which would otherwise undo the repair.
 *
 * A link that works again carries no data before a sweep has set its ports Active.  But the
 * sweep writes tables earlier, in no particular order.  So the routing of that sweep leaves
 * the link out, too, if it is in the view (returns.c).  When the sweep is done (SUBNET_UP),
 * the worker finds its ports Active, and takes it into use: the entries nearest to the
 * destination are written first, so that no packet is lost.
 *
 * If a repair fails, the worker requests a sweep immediately.  But if OpenSM is routing, or
 * has routed in the meantime, the traps are handled again instead.  If a switch does not
 * acknowledge a write, the view may differ from its tables, and is dropped.  If there is no view,
 * there is no fast path before the next routing, and each job with traps requests a sweep.
 */
#include "reroute/reroute.h"

/* Remove from f->repairs the repairs that began before the last discovery, and return them.  The
 * caller holds the mutex. */
static struct rr_repair *take_reconciled(struct rr *f)
{
	struct rr_repair *done = NULL, **end = &done, *r;
	struct rr_repair **at = &f->repairs;

	while ((r = *at)) {
		if (r->trap_at > f->state.began) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		f->state.unconfirmed--;
		r->next = NULL;
		*end = r;
		end = &r->next;
		r->reconciled_ms = rr_now(f) - r->trap_at;
	}
	return done;
}

struct rr_repair *rr_routed(struct rr *f, const struct rr_routing *gen)
{
	struct rr_event ev = { .kind = RR_EV_ROUTED, .ours = gen != NULL };
	struct rr_routing old;
	struct rr_repair *done;

	pthread_mutex_lock(&f->mutex);
	old = f->fresh;
	f->fresh.owner = NULL;
	if (gen)
		f->fresh = rr_routing_get(gen);
	rr_post_locked(f, &ev);
	done = take_reconciled(f);
	pthread_mutex_unlock(&f->mutex);
	rr_routing_put(&old);
	return done;
}

/* ---- jobs ---------------------------------------------------------------- */

/* Returns false if the traps must be handled again. */
static bool handle_traps(struct rr *f)
{
	rr_want_sweep(f);
	if (f->view)
		return rr_repair_traps(f, f->state.asked, f->state.n_asked);
	rr_sweep_now(f);
	return true;
}

static void new_view(struct rr *f, struct rr_routing *gen)
{
	struct ftr_err err = { 0 };
	struct rr_view *new = NULL;

	rr_repair_settle(f);
	if (gen->routed)
		new = rr_view_new(f, gen, &err);
	else
		ftr_fail(&err, FTR_REFUSED, "the paths do not go up and down by one order of the switches");
	rr_view_set(f, new);
	if (!new)
		rr_warn(f, RR_WARN_FAILED, "no fast reroute before the next routing: %s",
			err.msg);
	rr_routing_put(gen);
}

bool rr_take(struct rr *f)
{
	struct rr_event ev = {
		.kind = RR_EV_TIMER, .master = f->ops->is_master(f->ctx)
	};

	f->todo = rr_step(&f->state, &ev, rr_now(f));
	if (f->todo & RR_ACT_NEW_VIEW) {
		f->taken = f->fresh;
		f->fresh.owner = NULL;
	}
	return f->todo != 0;
}

void rr_do(struct rr *f)
{
	struct rr_event done = { .kind = RR_EV_SMP_DONE };

	if (f->todo & RR_ACT_DROP_VIEW) {
		rr_repair_settle(f);
		rr_view_set(f, NULL);
	}
	if (f->todo & RR_ACT_NEW_VIEW)
		new_view(f, &f->taken);
	if (f->view) {
		f->view->brought_up = f->state.job_up;
		f->view->saw_init = f->view->cut_off = false;
	}
	if (f->todo & RR_ACT_REWRITE) {
		f->ops->rewrite(f->ctx);
		rr_sweep_now(f);
	}
	if (f->todo & RR_ACT_TRAPS) {
		done.repeat = !handle_traps(f);
		done.init = f->view && f->view->saw_init;
		done.unknown = f->view && f->view->cut_off;
	}
	rr_repair_unknown(f);
	if (f->todo & RR_ACT_SETTLE)
		rr_repair_settle(f);
	if (f->todo & RR_ACT_TRANSITION && f->view)
		rr_repair_continue(f);
	rr_repair_unknown(f);
	if (f->todo & RR_ACT_RETURNS)
		rr_repair_returns(f, f->todo & RR_ACT_SWEPT);
	rr_repair_unknown(f);
	if (f->todo & RR_ACT_SWEEP)
		rr_sweep_now(f);
	done.due = f->view ? f->view->transition_due : -1;
	rr_post(f, &done);
}

/* ---- set-up and end ------------------------------------------------------ */

void rr_init(struct rr *f)
{
	pthread_mutex_init(&f->view_lock, NULL);
	pthread_mutex_init(&f->mutex, NULL);
	rr_state_init(&f->state);
	f->written.lid = f->written_lid;
}

void rr_fini(struct rr *f)
{
	struct rr_repair *r;

	rr_view_free(f->view);
	rr_routing_put(&f->fresh);
	while ((r = f->repairs)) {
		f->repairs = r->next;
		f->ops->record(f->ctx, r);
		rr_repair_free(r);
	}
	pthread_mutex_destroy(&f->mutex);
	pthread_mutex_destroy(&f->view_lock);
}
