// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The worker of the fast path: from the traps in its queue to a healed fabric.
 *
 *	wait for traps, a new routing, or a time
 *	take the new routing over: a working copy of its shape and tables
 *	traps: probe the switches -> cables -> new entries -> check -> push
 *	a sweep is due: ask OpenSM for a heavy one
 *
 * Cables that died are routed around at once, whatever OpenSM is doing, but for
 * the time from the end of a discovery to the end of routing: then the traps
 * wait.  A discovery that was under way when a cable died may have seen it
 * alive; ibf_fast_left_out keeps such cables out of the routing that follows,
 * or it would undo the repair.
 *
 * Cables that come back carry no data before a sweep has made their ports
 * Active, and a sweep writes tables before that and in no order.  So the
 * routing of that sweep leaves them out, too, as long as the rest is as it
 * was; when it is done (SUBNET_UP) the worker finds their ports Active and
 * takes them into use, downstream first: nothing is lost on the way back.
 *
 * A cable that flaps (fast_flap_limit times in fast_flap_window_ms) is left
 * out until it has been quiet for fast_flap_hold_ms; then it is taken into use.
 *
 * Sweeps: each repair wants one; it is due when no trap came for
 * fast_sweep_delay_ms, at the latest fast_sweep_cap_ms after the first.  If
 * anything goes wrong here the answer is the same: a sweep, at once.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "osm/fast.h"

extern volatile unsigned int osm_exit_flag;

/* ---- sweeps ------------------------------------------------------------- */

/* Under the mutex. */
static unsigned int step(struct ibf_fast *f, const struct rr_event *ev)
{
	unsigned int todo = rr_step(&f->state, ev, ibf_now_ms());

	pthread_cond_broadcast(&f->cond);
	return todo;
}

unsigned int ibf_fast_step(struct ibf_fast *f, const struct rr_event *ev)
{
	unsigned int todo;

	pthread_mutex_lock(&f->mutex);
	todo = step(f, ev);
	pthread_mutex_unlock(&f->mutex);
	return todo;
}

void ibf_want_sweep(struct ibf_fast *f)
{
	ibf_fast_step(f, &(struct rr_event){ .kind = RR_EV_WANT_SWEEP });
}

/* As OpenSM does it for a trap. */
static void ask_for_sweep(struct ibf_fast *f)
{
	if (!atomic_load(&f->sweep_on_trap))
		return;
	/* the sweeper resets it, and has no lock for it either */
	__atomic_store_n(&f->p->osm->subn.force_heavy_sweep, TRUE,
			 __ATOMIC_RELAXED);
	osm_sm_signal(&f->p->osm->sm, OSM_SIGNAL_SWEEP);
}

void ibf_sweep_now(struct ibf_fast *f)
{
	struct rr_event ev = { .kind = RR_EV_WANT_SWEEP, .yes = true };

	if (ibf_fast_step(f, &ev) & RR_ACT_SWEEP)
		ask_for_sweep(f);
}

/* Blocks that may hold something old: make OpenSM write them. */
static void mark_suspects(struct ibf_fast *f)
{
	struct osm_opensm *osm = f->p->osm;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (uint32_t i = 0; i < f->n_suspects; i++) {
		osm_switch_t *sw = ibf_host_switch(f->p, f->suspect[i].guid);
		size_t at = f->suspect[i].block * (size_t)FTR_LFT_BLOCK;

		if (!sw || !sw->lft || !sw->new_lft ||
		    at + FTR_LFT_BLOCK > sw->lft_size)
			continue;
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			sw->lft[at + k] = (uint8_t)~sw->new_lft[at + k];
	}
	CL_PLOCK_RELEASE(&osm->lock);
	f->n_suspects = 0;
	ibf_sweep_now(f);
}

/* ---- tasks -------------------------------------------------------------- */

static bool is_master(const struct ibf_fast *f)
{
	return __atomic_load_n(&f->p->osm->subn.sm_state, __ATOMIC_RELAXED) ==
		IB_SMINFO_STATE_MASTER;
}

/* False: they are to be handled again. */
static bool handle_traps(struct ibf_fast *f)
{
	ibf_want_sweep(f);
	if (f->view)
		return ibf_repair_traps(f, f->state.asked, f->state.n_asked);
	ibf_sweep_now(f);
	return true;
}

/* What we know is no longer what switches hold. */
static void drop_view(struct ibf_fast *f)
{
	ibf_repair_settle(f);
	ibf_view_set(f, NULL);
}

static void take_over(struct ibf_fast *f, struct ibf_generation *gen)
{
	struct ftr_err err = { 0 };
	struct ibf_view *new = NULL;

	ibf_repair_settle(f);
	if (gen->routed)
		new = ibf_view_new(f, gen, &err);
	else
		ftr_fail(&err, FTR_REFUSED, "these tables follow no single order of the switches");
	ibf_view_set(f, new);
	if (!new)
		ibf_log(f->p, IBF_FAST_FAILED, "no fast reroute before the next routing: %s",
			err.msg);
	ibf_generation_put(gen);
}

/* ---- the thread --------------------------------------------------------- */

/* What there is to do, taken out of the shared state. */
struct task {
	unsigned int todo;
	struct ibf_generation *fresh;
	bool up;		/* OpenSM has set up all links */
};

/* Under the mutex; false: nothing to do. */
static bool take_task(struct ibf_fast *f, struct task *t)
{
	struct rr_event ev = { .kind = RR_EV_TIMER, .master = is_master(f) };

	t->todo = rr_step(&f->state, &ev, ibf_now_ms());
	t->up = f->state.job_up;
	t->fresh = NULL;
	if (t->todo & RR_ACT_NEW_VIEW) {
		t->fresh = f->fresh;
		f->fresh = NULL;
	}
	return t->todo != 0;
}

/* The job from beginning to end; *done: what the machine is told of it. */
static void do_task(struct ibf_fast *f, const struct task *t,
		    struct rr_event *done)
{
	if (t->todo & RR_ACT_DROP_VIEW)
		drop_view(f);
	if (t->todo & RR_ACT_NEW_VIEW)
		take_over(f, t->fresh);
	if (f->view) {
		f->view->brought_up = t->up;
		f->view->saw_init = false;
	}
	if (t->todo & RR_ACT_REWRITE)
		mark_suspects(f);
	if (t->todo & RR_ACT_TRAPS) {
		done->yes = !handle_traps(f);
		done->init = f->view && f->view->saw_init;
	}
	if (t->todo & RR_ACT_SETTLE)
		ibf_repair_settle(f);
	if (t->todo & RR_ACT_TRANSITION && f->view)
		ibf_repair_continue(f);
	if (t->todo & RR_ACT_RETURNS)
		ibf_repair_returns(f, t->todo & RR_ACT_SWEPT);
	if (t->todo & RR_ACT_SWEEP)
		ibf_sweep_now(f);
	done->due = f->view ? f->view->handover_due : -1;
}

static void *worker(void *arg)
{
	struct ibf_fast *f = arg;
	struct task t;

	pthread_mutex_lock(&f->mutex);
	while (!f->stop) {
		struct rr_event done = { .kind = RR_EV_SMP_DONE };

		if (!take_task(f, &t)) {
			ibf_cond_wait(&f->cond, &f->mutex,
				      rr_timer(&f->state));
			continue;
		}
		pthread_mutex_unlock(&f->mutex);
		do_task(f, &t, &done);
		pthread_mutex_lock(&f->mutex);
		step(f, &done);
	}
	pthread_mutex_unlock(&f->mutex);
	return NULL;
}

/* ---- what OpenSM tells -------------------------------------------------- */

bool ibf_fast_trap(struct ibf_fast *f, ftr_lid lid)
{
	struct rr_event ev = {
		.kind = RR_EV_TRAP, .lid = lid, .master = is_master(f)
	};

	return ibf_fast_step(f, &ev) & RR_ACT_TAKEN;
}

/* One event; a routing that no view is made of any more is let go. */
static unsigned int report_event(struct ibf_fast *f, const struct rr_event *ev)
{
	struct ibf_generation *fresh = NULL;
	unsigned int todo;

	pthread_mutex_lock(&f->mutex);
	todo = step(f, ev);
	if (f->state.tables == RR_FOREIGN) {
		fresh = f->fresh;
		f->fresh = NULL;
	}
	pthread_mutex_unlock(&f->mutex);
	ibf_generation_put(fresh);
	return todo;
}

void ibf_fast_disarm(struct ibf_fast *f)
{
	if (f)
		report_event(f, &(struct rr_event){ .kind = RR_EV_STANDBY });
}

void ibf_fast_sweep_start(struct ibf_fast *f)
{
	const struct osm_opensm *osm;
	struct rr_event ev = { .kind = RR_EV_SWEEP_START };

	if (!f)
		return;
	osm = f->p->osm;
	ev.yes = osm->subn.coming_out_of_standby || ibf_other_routed(f->p);
	ev.routed = osm->routing_engine_used != NULL;
	report_event(f, &ev);
}

/* Longer than a push that loses every packet should take. */
#define WRITE_LIMIT_MS 5000

/* Under the mutex. */
static void wait_for_write(struct ibf_fast *f)
{
	double end = ibf_now_ms() + WRITE_LIMIT_MS;

	while (f->state.job == RR_WRITING && !f->stop &&
	       !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED) &&
	       ibf_now_ms() < end)
		ibf_cond_wait(&f->cond, &f->mutex, ibf_now_ms() + 100);
	if (f->state.job == RR_WRITING)
		/* OpenSM's cache may route without an engine */
		step(f, &(struct rr_event){ .kind = RR_EV_ROUTING });
}

void ibf_fast_discovered(struct ibf_fast *f)
{
	struct rr_event ev = { .kind = RR_EV_DISCOVERED };

	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	if (step(f, &ev) & RR_ACT_WAIT_FOR_WRITE)
		wait_for_write(f);
	pthread_mutex_unlock(&f->mutex);
}

void ibf_fast_routing(struct ibf_fast *f)
{
	if (f)
		report_event(f, &(struct rr_event){ .kind = RR_EV_ROUTING });
}

bool ibf_overtaken(struct ibf_fast *f)
{
	bool old;

	pthread_mutex_lock(&f->mutex);
	old = rr_overtaken(&f->state);
	pthread_mutex_unlock(&f->mutex);
	return old;
}

/* The repairs that the last discovery has seen. */
static struct ibf_repair *take_reconciled(struct ibf_fast *f)
{
	struct ibf_repair *done = NULL, **end = &done, *r;
	struct ibf_repair **at = &f->repairs;

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
		r->reconciled = true;
		r->reconciled_ms = ibf_now_ms() - r->trap_at;
		r->rest = f->changes;
	}
	return done;
}

static void write_events(struct ibf_fast *f, struct ibf_repair *r)
{
	while (r) {
		struct ibf_repair *next = r->next;

		ibf_event_write(f, r);
		ibf_repair_free(r);
		r = next;
	}
}

/* gen NULL: not one of our engines has routed. */
void ibf_fast_routed(struct ibf_fast *f, struct ibf_generation *gen)
{
	struct rr_event ev = { .kind = RR_EV_ROUTED, .yes = gen != NULL };
	struct ibf_generation *old;
	struct ibf_repair *done;

	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	old = f->fresh;
	f->fresh = ibf_generation_get(gen);
	step(f, &ev);
	done = take_reconciled(f);
	pthread_mutex_unlock(&f->mutex);
	ibf_generation_put(old);
	if (done)
		ibf_log(f->p, IBF_RECONCILED, "the sweep after the fast reroute changed %"
			PRIu64 " entries in %" PRIu64 " blocks of %u switches",
			done->rest.entries, done->rest.blocks,
			done->rest.switches);
	write_events(f, done);
	ibf_event_routed(f, gen);
}

void ibf_fast_changed(struct ibf_fast *f, const struct ibf_changes *c)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->changes = *c;
	pthread_mutex_unlock(&f->mutex);
}

void ibf_fast_sweep_done(struct ibf_fast *f)
{
	if (f)
		report_event(f, &(struct rr_event){ .kind = RR_EV_SUBNET_UP });
}

/* ---- life --------------------------------------------------------------- */

static void settings(struct ibf_fast *f)
{
	const struct ibf_options *o = &f->p->opt;

	rr_state_init(&f->state);
	f->state.want.delay = o->fast_sweep_delay_ms;
	f->state.want.cap = o->fast_sweep_cap_ms;
	f->state.links.limit = (uint32_t)o->fast_flap_limit;
	f->state.links.window = o->fast_flap_window_ms;
	f->state.links.hold = o->fast_flap_hold_ms;
}

static bool start(struct ibf_fast *f)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);	/* they are for OpenSM's main thread */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&f->thread, NULL, worker, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	f->running = !failed;
	return f->running;
}

struct ibf_fast *ibf_fast_new(struct ibf_plugin *p)
{
	struct ibf_fast *f = ftr_calloc(1, sizeof(*f));
	struct ftr_err err = { 0 };

	if (!f)
		return NULL;
	f->p = p;
	atomic_init(&f->sweep_on_trap, p->osm->subn.opt.sweep_on_trap);
	pthread_mutex_init(&f->trap_order, NULL);
	pthread_mutex_init(&f->view_lock, NULL);
	pthread_mutex_init(&f->mutex, NULL);
	ibf_cond_init(&f->cond);
	settings(f);
	if (!start(f))
		ftr_fail(&err, FTR_NOMEM, "its thread could not be started");
	else
		f->smp = ibf_smp_new(p->osm,
				     (unsigned int)p->opt.fast_timeout_ms,
				     &err);
	if (!f->smp) {
		ibf_log(p, IBF_FAST_OFF, "fast reroute is off: %s", err.msg);
		ibf_fast_free(f);
		return NULL;
	}
	ibf_trap_hook(f);
	return f;
}

void ibf_fast_free(struct ibf_fast *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->stop = true;
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->mutex);
	if (f->smp)
		ibf_smp_stop(f->smp);
	if (f->running)
		pthread_join(f->thread, NULL);
	ibf_smp_free(f->smp);
	ibf_view_free(f->view);
	ibf_local_reap(f, true);
	ibf_generation_put(f->fresh);
	write_events(f, f->repairs);
	free(f->suspect);
	free(f->down);
	pthread_cond_destroy(&f->cond);
	pthread_mutex_destroy(&f->mutex);
	pthread_mutex_destroy(&f->view_lock);
	pthread_mutex_destroy(&f->trap_order);
	free(f);
}
