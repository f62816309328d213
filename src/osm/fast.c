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

void ibf_want_sweep(struct ibf_fast *f)
{
	pthread_mutex_lock(&f->mutex);
	ibf_damp_want(&f->sweep, ibf_now_ms());
	pthread_mutex_unlock(&f->mutex);
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
	pthread_mutex_lock(&f->mutex);
	ibf_damp_asked(&f->sweep);
	pthread_mutex_unlock(&f->mutex);
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

/* Back into the queue, in front; what finds no room is left to the sweep. */
static void put_back(struct ibf_fast *f, const struct ibf_trap *trap,
		     uint32_t n)
{
	pthread_mutex_lock(&f->mutex);
	n = FTR_MIN(n, IBF_TRAPS_MAX - f->n_traps);
	memmove(f->trap + n, f->trap, f->n_traps * sizeof(*trap));
	memcpy(f->trap, trap, n * sizeof(*trap));
	f->n_traps += n;
	pthread_mutex_unlock(&f->mutex);
}

static void handle_traps(struct ibf_fast *f, const struct ibf_trap *trap,
			 uint32_t n)
{
	if (!is_master(f))
		return;
	ibf_want_sweep(f);
	if (!f->view)
		ibf_sweep_now(f);
	else if (!ibf_repair_traps(f, trap, n))
		put_back(f, trap, n);
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
	struct ibf_generation *fresh;
	bool after_sweep, swept, sweep_due, handover, dropped, suspects;
	bool links_up, links;
	struct ibf_trap trap[IBF_TRAPS_MAX];
	uint32_t n_traps;
};

static double earlier(double a, double b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

/* The other end of a dead cable tells of it at the same time, and a dead switch
 * is told of by all its neighbours: some time for them to come in. */
#define GATHER_MS 0.3

/* When the first trap of the queue has waited for others; negative: there is
 * none that may be handled now. */
static double gathered(const struct ibf_fast *f)
{
	return f->n_traps && f->phase != IBF_PHASE_ROUTING ?
		f->trap[0].at + GATHER_MS : -1;
}

/* A handover under way goes first; the cap holds for it, too. */
static double sweep_due(const struct ibf_fast *f)
{
	return f->view && f->view->pending ? ibf_damp_latest(&f->sweep) :
					     ibf_damp_due(&f->sweep);
}

static double handover_due(const struct ibf_fast *f)
{
	return f->view && f->phase != IBF_PHASE_ROUTING ?
		f->view->handover_due : -1;
}

/* What OpenSM has told of its links, to the view. */
static void set_links(struct ibf_fast *f, bool up)
{
	struct ibf_view *v = f->view;

	if (!v)
		return;
	v->brought_up = up;
	if (up)
		put_back(f, v->again, v->n_again);
	v->n_again = 0;
}

/* Under the mutex; false: nothing to do. */
static bool take_task(struct ibf_fast *f, struct task *t)
{
	double due = sweep_due(f);
	bool free_to_write = f->phase != IBF_PHASE_ROUTING &&
		(!f->n_traps || ibf_now_ms() >= f->trap[0].at + GATHER_MS);

	t->fresh = f->fresh;
	f->fresh = NULL;
	t->dropped = f->dropped;
	f->dropped = false;
	t->suspects = f->n_suspects && f->phase == IBF_PHASE_IDLE;
	t->links_up = f->links_up;
	t->links = f->view && f->view->brought_up != f->links_up;
	t->swept = f->after_sweep;
	t->after_sweep = free_to_write && (f->after_sweep || f->released);
	if (t->after_sweep)
		f->after_sweep = f->released = false;
	t->n_traps = free_to_write ? f->n_traps : 0;
	memcpy(t->trap, f->trap, t->n_traps * sizeof(*t->trap));
	f->n_traps -= t->n_traps;
	t->sweep_due = due >= 0 && ibf_now_ms() >= due;
	t->handover = f->phase != IBF_PHASE_ROUTING && handover_due(f) >= 0 &&
		ibf_now_ms() >= handover_due(f);
	return t->dropped || t->fresh || t->suspects || t->links ||
		t->n_traps || t->handover || t->after_sweep || t->sweep_due;
}

static void do_task(struct ibf_fast *f, struct task *t)
{
	if (t->dropped)
		drop_view(f);
	if (t->fresh)
		take_over(f, t->fresh);
	set_links(f, t->links_up);
	if (t->suspects)
		mark_suspects(f);
	if (t->n_traps)
		handle_traps(f, t->trap, t->n_traps);
	else if (t->handover && f->view && !is_master(f))
		ibf_repair_settle(f);
	else if (t->handover && f->view)
		ibf_repair_continue(f);
	if (t->after_sweep && is_master(f))
		ibf_repair_returns(f, t->swept);
	if (t->sweep_due)
		ibf_sweep_now(f);
}

static void *worker(void *arg)
{
	struct ibf_fast *f = arg;
	struct task *t = f->task;

	pthread_mutex_lock(&f->mutex);
	f->looked = ibf_now_ms();
	while (!f->stop) {
		double now = ibf_now_ms();
		double release = ibf_flap_release(&f->flap, f->looked);

		f->released |= release >= 0 && now >= release;
		f->looked = now;
		if (!take_task(f, t)) {
			release = ibf_flap_release(&f->flap, now);
			ibf_cond_wait(&f->cond, &f->mutex,
				      earlier(earlier(sweep_due(f), release),
					      earlier(gathered(f),
						      handover_due(f))));
			continue;
		}
		f->busy = true;
		pthread_mutex_unlock(&f->mutex);
		do_task(f, t);
		pthread_mutex_lock(&f->mutex);
		f->busy = false;
	}
	pthread_mutex_unlock(&f->mutex);
	return NULL;
}

/* ---- what OpenSM tells -------------------------------------------------- */

bool ibf_fast_trap(struct ibf_fast *f, ftr_lid lid)
{
	bool taken;

	pthread_mutex_lock(&f->mutex);
	taken = f->armed && is_master(f) && f->n_traps < IBF_TRAPS_MAX;
	if (taken) {
		f->trap[f->n_traps++] = (struct ibf_trap){ lid, ibf_now_ms() };
		/* a routing that fails is followed by no event */
		ibf_damp_want(&f->sweep, ibf_now_ms());
		pthread_cond_broadcast(&f->cond);
	}
	pthread_mutex_unlock(&f->mutex);
	return taken;
}

/* Nothing that we know is what the switches hold, until one of our engines
 * routes.  Under the mutex; what is returned is put without it. */
static struct ibf_generation *disarm(struct ibf_fast *f)
{
	struct ibf_generation *fresh = f->fresh;

	f->fresh = NULL;
	f->routings++;
	f->armed = false;
	f->dropped = true;
	f->n_returns = 0;
	pthread_cond_broadcast(&f->cond);
	return fresh;
}

void ibf_fast_disarm(struct ibf_fast *f)
{
	struct ibf_generation *fresh;

	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	fresh = disarm(f);
	pthread_mutex_unlock(&f->mutex);
	ibf_generation_put(fresh);
}

/* A reroute after which OpenSM sweeps at once, because packets of it were lost,
 * is told of by no event; nor is what another manager has written before we
 * became master again. */
void ibf_fast_sweep_start(struct ibf_fast *f)
{
	struct ibf_generation *fresh = NULL;
	const struct osm_opensm *osm;

	if (!f)
		return;
	osm = f->p->osm;
	pthread_mutex_lock(&f->mutex);
	if (osm->subn.coming_out_of_standby || ibf_other_routed(f->p) ||
	    (f->phase == IBF_PHASE_ROUTING && osm->routing_engine_used))
		fresh = disarm(f);
	f->phase = IBF_PHASE_DISCOVERY;
	f->start = ibf_now_ms();
	f->after_sweep = false;
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->mutex);
	ibf_generation_put(fresh);
}

/* Longer than a push that loses every packet should take. */
#define PATCH_LIMIT_MS 5000

void ibf_fast_discovered(struct ibf_fast *f)
{
	double end;

	if (!f)
		return;
	end = ibf_now_ms() + PATCH_LIMIT_MS;
	pthread_mutex_lock(&f->mutex);
	f->phase = IBF_PHASE_ROUTING;
	f->sweep_began = f->start;
	while (f->patching && !f->stop &&
	       !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED) &&
	       ibf_now_ms() < end)
		ibf_cond_wait(&f->cond, &f->mutex, ibf_now_ms() + 100);
	if (f->patching)	/* OpenSM's cache may route without an engine */
		f->routings++;
	pthread_mutex_unlock(&f->mutex);
}

void ibf_fast_routing(struct ibf_fast *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->phase = IBF_PHASE_ROUTING;
	f->routings++;
	pthread_mutex_unlock(&f->mutex);
}

bool ibf_view_is_old(const struct ibf_fast *f)
{
	return f->phase == IBF_PHASE_ROUTING || f->fresh || f->dropped;
}

bool ibf_overtaken(struct ibf_fast *f)
{
	bool old;

	pthread_mutex_lock(&f->mutex);
	old = ibf_view_is_old(f);
	pthread_mutex_unlock(&f->mutex);
	return old;
}

/* The repairs that the last discovery has seen. */
static struct ibf_repair *take_reconciled(struct ibf_fast *f)
{
	struct ibf_repair *done = NULL, **end = &done, *r;
	struct ibf_repair **at = &f->repairs;

	while ((r = *at)) {
		if (r->trap_at > f->sweep_began) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->next = NULL;
		*end = r;
		end = &r->next;
		r->reconciled = true;
		r->reconciled_ms = ibf_now_ms() - r->trap_at;
		r->rest = f->changes;
	}
	return done;
}

static void tell(struct ibf_fast *f, struct ibf_repair *r)
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
	struct ibf_generation *old;
	struct ibf_repair *done;

	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->phase = IBF_PHASE_IDLE;
	f->links_up = false;
	old = f->fresh;
	f->fresh = ibf_generation_get(gen);
	f->armed = gen != NULL;
	if (!gen)
		disarm(f);
	done = take_reconciled(f);
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->mutex);
	ibf_generation_put(old);
	if (done)
		ibf_log(f->p, IBF_RECONCILED, "the sweep after the fast reroute changed %"
			PRIu64 " entries in %" PRIu64 " blocks of %u switches",
			done->rest.entries, done->rest.blocks,
			done->rest.switches);
	tell(f, done);
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
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->phase = IBF_PHASE_IDLE;
	f->links_up = f->after_sweep = true;
	if (f->repairs)		/* its discovery began before them */
		ibf_damp_want(&f->sweep, ibf_now_ms());
	ibf_forget_deaths(f);
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->mutex);
}

/* ---- life --------------------------------------------------------------- */

static void settings(struct ibf_fast *f)
{
	const struct ibf_options *o = &f->p->opt;

	f->sweep.delay = o->fast_sweep_delay_ms;
	f->sweep.cap = o->fast_sweep_cap_ms;
	f->flap.limit = (uint32_t)o->fast_flap_limit;
	f->flap.window = o->fast_flap_window_ms;
	f->flap.hold = o->fast_flap_hold_ms;
}

static bool start(struct ibf_fast *f)
{
	sigset_t all, old;
	int failed;

	f->task = ftr_calloc(1, sizeof(struct task));
	if (!f->task)
		return false;
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
	tell(f, f->repairs);
	free(f->suspect);
	free(f->down);
	free(f->task);
	pthread_cond_destroy(&f->cond);
	pthread_mutex_destroy(&f->mutex);
	pthread_mutex_destroy(&f->view_lock);
	pthread_mutex_destroy(&f->trap_order);
	free(f);
}
