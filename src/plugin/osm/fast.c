// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connects src/plugin/reroute with OpenSM: passes OpenSM's events to src/plugin/reroute, runs the
 * worker's thread, and implements struct rr_ops, the functions that src/plugin/reroute calls.
 */
#include <stdlib.h>

#include "osm/fast.h"
#include "osm/host.h"

extern volatile unsigned int osm_exit_flag;

/* ---- operations ---------------------------------------------------------- */

static double op_now(void *ctx)
{
	(void)ctx;
	return ibf_now_ms();
}

static void op_sleep(void *ctx, unsigned int ms)
{
	(void)ctx;
	ibf_sleep_ms(ms);
}

static void op_posted(void *ctx)
{
	struct ibf_fast *f = ctx;

	ibf_cond_wake(&f->cond);
}

static unsigned int op_run(void *ctx, struct rr_smp *job, unsigned int n,
			   const struct rr_smp_policy *policy)
{
	struct ibf_fast *f = ctx;

	return ibf_smp_run(f->smp, job, n, policy);
}

static bool op_is_master(void *ctx)
{
	const struct ibf_fast *f = ctx;

	return ibf_is_master(f->p);
}

static void op_find_manager(void *ctx, const struct ftr_fabric *fab,
			    struct ftr_hop *origin, ftr_lid *lid)
{
	const struct ibf_fast *f = ctx;

	ibf_find_manager(f->p, fab, origin, lid);
}

static void op_read_keys(void *ctx, const struct ftr_fabric *fab, uint64_t *key)
{
	const struct ibf_fast *f = ctx;
	struct osm_opensm *osm = f->p->osm;

	CL_PLOCK_ACQUIRE(&osm->lock);
	for (ftr_sw s = 0; s < fab->n_sw; s++)
		key[s] = ibf_m_key(f->p, ibf_host_switch(f->p,
							 fab->sw[s].guid));
	CL_PLOCK_RELEASE(&osm->lock);
}

static double op_lifetime(void *ctx)
{
	const struct ibf_fast *f = ctx;

	return ibf_packet_lifetime(f->p);
}

static void op_sweep(void *ctx)
{
	struct ibf_fast *f = ctx;

	if (atomic_load(&f->sweep_on_trap))
		ibf_request_sweep(f->p->osm);
}

static void op_warn(void *ctx, enum rr_warning what, const char *text)
{
	struct ibf_fast *f = ctx;

	if (what == RR_WARN_PLANNER)
		atomic_fetch_add(&f->p->helper_failures, 1);
	ibf_log(f->p, what == RR_WARN_FLAPPING ? IBF_FLAPPING :
		what == RR_WARN_UNSAFE ? IBF_TRANSITION_PLAIN : IBF_FAST_FAILED, "%s", text);
}

static const struct rr_ops ops = {
	.now = op_now, .sleep = op_sleep, .posted = op_posted, .run = op_run,
	.is_master = op_is_master, .find_manager = op_find_manager,
	.read_keys = op_read_keys, .lifetime = op_lifetime,
	.announce = ibf_patch_announce, .settle = ibf_patch_settle,
	.rewrite = ibf_patch_rewrite, .sweep = op_sweep, .warn = op_warn,
	.report = ibf_event_report, .record = ibf_event_write,
};

/* ---- the thread ---------------------------------------------------------- */

static void *worker(void *arg)
{
	struct ibf_fast *f = arg;
	struct rr *rr = &f->rr;

	pthread_mutex_lock(&rr->mutex);
	while (!rr->stop) {
		if (!rr_take(rr)) {
			ibf_cond_wait(&f->cond, &rr->mutex,
				      rr_timer(&rr->state));
			continue;
		}
		pthread_mutex_unlock(&rr->mutex);
		rr_do(rr);
		pthread_mutex_lock(&rr->mutex);
	}
	pthread_mutex_unlock(&rr->mutex);
	return NULL;
}

/* ---- OpenSM's events ----------------------------------------------------- */

void ibf_fast_post(struct ibf_fast *f, enum rr_event_kind kind)
{
	if (f)
		rr_post(&f->rr, &(struct rr_event){ .kind = kind });
}

/* The caller holds rr.mutex, or the worker does not run yet. */
static void set_limits(struct ibf_fast *f)
{
	const struct ibf_options *o = &f->p->opt;
	struct rr_state *s = &f->rr.state;

	s->want.delay = o->fast_sweep_delay_ms;
	s->want.cap = o->fast_sweep_cap_ms;
	s->links.limit = (uint32_t)o->fast_flap_limit;
	s->links.window = o->fast_flap_window_ms;
	s->links.hold = o->fast_flap_hold_ms;
}

void ibf_fast_sweep_start(struct ibf_fast *f)
{
	struct rr_event ev = { .kind = RR_EV_SWEEP_START };
	const struct osm_opensm *osm;

	if (!f)
		return;
	osm = f->p->osm;
	ev.unknown = osm->subn.coming_out_of_standby || ibf_other_routed(f->p);
	ev.routed = osm->routing_engine_used != NULL;
	pthread_mutex_lock(&f->rr.mutex);
	set_limits(f);
	rr_post_locked(&f->rr, &ev);
	pthread_mutex_unlock(&f->rr.mutex);
}

/* Maximum time to wait for a write, in ms.  With the default options a write takes longer only if
 * very many packets are lost. */
#define WRITE_LIMIT_MS 5000

/* Wait until the worker's write has ended, or OpenSM exits, or WRITE_LIMIT_MS have passed.  The
 * caller holds rr.mutex. */
static void wait_for_write(struct ibf_fast *f)
{
	struct rr *rr = &f->rr;
	double end = ibf_now_ms() + WRITE_LIMIT_MS;

	while (rr->state.job == RR_WRITING &&
	       !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED) &&
	       ibf_now_ms() < end)
		ibf_cond_wait(&f->cond, &rr->mutex, ibf_now_ms() + 100);
	if (rr->state.job == RR_WRITING)
		/* Usually the engine posts this event.  But with use_ucast_cache OpenSM may
		 * route without calling an engine. */
		rr_post_locked(rr, &(struct rr_event){
			.kind = RR_EV_ROUTING
		});
}

void ibf_fast_discovered(struct ibf_fast *f)
{
	struct rr_event ev = { .kind = RR_EV_DISCOVERED };

	if (!f)
		return;
	pthread_mutex_lock(&f->rr.mutex);
	if (rr_post_locked(&f->rr, &ev) & RR_ACT_WAIT_FOR_WRITE)
		wait_for_write(f);
	pthread_mutex_unlock(&f->rr.mutex);
}

struct rr_written ibf_fast_wait(struct ibf_fast *f)
{
	struct rr_written w;

	pthread_mutex_lock(&f->rr.mutex);
	wait_for_write(f);
	w = f->rr.written;
	pthread_mutex_unlock(&f->rr.mutex);
	return w;
}

bool ibf_fast_has_traps(struct ibf_fast *f)
{
	bool any;

	pthread_mutex_lock(&f->rr.mutex);
	any = f->rr.state.n_traps || f->rr.state.n_later;
	pthread_mutex_unlock(&f->rr.mutex);
	return any;
}

void ibf_fast_written(struct ibf_fast *f, bool proved, const uint8_t *changed, uint32_t n)
{
	struct rr_written *w = &f->rr.written;

	pthread_mutex_lock(&f->rr.mutex);
	w->last = rr_now(&f->rr);
	if (!proved)
		w->unranked = w->last;
	for (uint32_t lid = 0; lid < n; lid++)
		if (changed[lid])
			w->lid[lid] = w->last;
	pthread_mutex_unlock(&f->rr.mutex);
}

void ibf_fast_changed(struct ibf_fast *f, const struct ftr_tables_diff *c)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->rr.mutex);
	f->changes = *c;
	pthread_mutex_unlock(&f->rr.mutex);
}

void ibf_fast_routed(struct ibf_fast *f, struct ibf_generation *gen)
{
	struct rr_routing routing;
	struct rr_repair *r, *next;
	struct ftr_tables_diff c;

	if (!f)
		return;
	if (gen)
		routing = ibf_routing_of(gen);
	r = rr_routed(&f->rr, gen ? &routing : NULL);
	pthread_mutex_lock(&f->rr.mutex);
	c = f->changes;
	pthread_mutex_unlock(&f->rr.mutex);
	if (r)
		ibf_log(f->p, IBF_RECONCILED, "the sweep after the fast reroute changed %s in %s of %s",
			ibf_count(c.entries, "entry", "entries").s,
			ibf_count(c.blocks, "block", "blocks").s,
			ibf_count(c.switches, "switch", "switches").s);
	for (; r; r = next) {
		next = r->next;
		r->rest = c;
		ibf_event_write(f, r);
		rr_repair_free(r);
	}
	ibf_event_routed(f, gen);
}

bool ibf_fast_left_out(struct ibf_fast *f, const struct rr_ends *e, bool active)
{
	return f && rr_left_out(&f->rr, e, active);
}

/* ---- new and free -------------------------------------------------------- */

static void set_up(struct ibf_fast *f)
{
	struct rr *rr = &f->rr;

	rr->ops = &ops;
	rr->ctx = f;
	rr->window = (unsigned int)f->p->opt.fast_window;
	rr->timeout = f->p->opt.fast_timeout_ms;
	ibf_cond_init(&f->cond);
	rr_init(rr);
	set_limits(f);
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
	set_up(f);
	f->running = ibf_thread_start(&f->thread, worker, f);
	if (!f->running)
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
	p->smp = f->smp;
	ibf_trap_hook(f);
	return f;
}

void ibf_fast_free(struct ibf_fast *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->rr.mutex);
	f->rr.stop = true;
	ibf_cond_wake(&f->cond);
	pthread_mutex_unlock(&f->rr.mutex);
	if (f->smp)
		ibf_smp_stop(f->smp);
	if (f->running)
		ibf_thread_join(f->thread);
	f->p->smp = NULL;
	ibf_smp_free(f->smp);
	rr_fini(&f->rr);
	pthread_cond_destroy(&f->cond);
	free(f->suspect);
	free(f->down);
	pthread_mutex_destroy(&f->trap_order);
	free(f);
}
