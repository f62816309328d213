// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repairs: the first stage of the fast path, for the engine ddlr.
 *
 * A cable dies.  The planner (<ftr/repair.h>) has the detours: a few entries at
 * the switches around it, written before anything is routed anew.  After that
 * the new tables of the whole fabric are handed over to, entry by entry, where
 * old and new paths together form no credit loop; what cannot be changed yet is
 * held until packets that follow older entries are gone, a packet lifetime
 * later, while the worker goes on with other things.
 *
 *	trap -> cables -> stage one: plan, push	(known to be loop-free)
 *	               -> new tables -> handover: plan, push
 *	               -> a lifetime later: what was held, until nothing is
 *
 * The planner believes that what it planned was written.  If a write is lost,
 * or a routing comes in between, it is dropped, and the next routing brings a
 * new one; then, and for cables that come back, the worker writes as it does
 * for the other engines.  A cable that came back is none of the planner's
 * fabric, so a sweep is asked for, and the routing with it brings a planner that
 * knows the cable.
 *
 * To make a planner takes longer than to reroute a fault without one, so each is
 * made in a thread of its own: a fault that comes before it is done is rerouted
 * in one stage, and that planner is of no use any more.  Then, at the next routing
 * and at the end of OpenSM the thread is told to give up, which it does within
 * milliseconds; so there is one at a time, and the next waits for its end.
 *
 * Lanes.  With two operational VLs on every cable between switches and qos on,
 * the turn bit (ftr_ddlr_sl2vl) gives detours a lane of their own, and packets
 * of switches count, too; without, all is planned for one lane, and packets of
 * hosts count.  Which of the two is decided at each routing and told when it
 * changes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/fast.h"

/* ---- lanes -------------------------------------------------------------- */

/* PortInfo.OperationalVLs: 1 = VL0, 2 = VL0 and VL1, ... (IBA 14.2.5.6) */
static bool two_lanes(const osm_physp_t *p)
{
	return ib_port_info_get_op_vls(&p->port_info) >= 2;
}

/* A cable between switches with one lane only, or NULL. */
static const osm_physp_t *one_lane(struct ibf_plugin *p,
				   const struct ftr_fabric *f)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

		for (unsigned int i = 1; sw && i <= f->sw[s].n_ports; i++) {
			const osm_physp_t *port =
				osm_node_get_physp_ptr(sw->p_node, i);

			if (ftr_fabric_port(f, s, (ftr_port)i)->peer_kind ==
			    FTR_PEER_SW && port && !two_lanes(port))
				return port;
		}
	}
	return NULL;
}

void ibf_local_lanes(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_plugin *p = e->plugin;
	const osm_physp_t *port = NULL;
	struct ftr_err err = { 0 };
	int before = e->turn_bit;

	if (!e->ops->sl2vl)
		return;
	e->turn_bit = p->osm->subn.opt.qos &&
		!(port = one_lane(p, gen->fabric)) &&
		!e->ops->sl2vl(gen->shape, &gen->lanes, &err);
	if (before == e->turn_bit && e->told_lanes)
		return;
	e->told_lanes = true;
	if (e->turn_bit)
		ibf_log(p, IBF_LANES, "ddlr: detours have VL 1 for themselves");
	else if (port)
		ibf_log(p, IBF_LANES, "ddlr: all traffic on one lane, for %s (0x%016" PRIx64 ") port %u has only one operational VL",
			port->p_node->print_desc,
			cl_ntoh64(osm_node_get_node_guid(port->p_node)),
			port->port_num);
	else
		ibf_log(p, IBF_LANES, "ddlr: all traffic on one lane: %s",
			err.status ? err.msg : "qos is off");
}

/* OpenSM sets up SL2VL tables: one (in, out) of the switch of port p.  Under
 * the exclusive lock. */
void ibf_local_sl2vl(void *context, osm_physp_t *p, uint8_t in, uint8_t out,
		     ib_slvl_table_t *t)
{
	struct ibf_engine *e = context;
	const struct ibf_generation *gen = e->gen;
	ftr_sw s;

	if (!gen || !gen->lanes ||
	    osm_node_get_type(p->p_node) != IB_NODE_TYPE_SWITCH)
		return;
	s = ftr_fabric_find_sw(gen->fabric,
			cl_ntoh64(osm_node_get_node_guid(p->p_node)));
	if (s == FTR_SW_NONE || in > gen->fabric->sw[s].n_ports ||
	    out > gen->fabric->sw[s].n_ports)
		return;
	for (uint8_t sl = 0; sl < FTR_N_SL; sl++)
		ib_slvl_table_set(t, sl, (uint8_t)ftr_sl2vl_get(gen->lanes, s,
								in, out, sl));
}

/* ---- the planner -------------------------------------------------------- */

static bool repairs_locally(const struct ibf_generation *gen)
{
	const struct ftr_engine_ops *ops = ftr_engine_find(gen->engine);

	return ops && ops->local_repair;
}

struct ibf_maker {
	struct ibf_maker *next;	/* of those that nobody waits for */
	struct ibf_fast *f;
	struct ibf_generation *gen;
	pthread_t thread;
	struct ftr_repair *made;
	struct ftr_err err;
	bool done;		/* under the mutex */
	atomic_bool stop;	/* give up: nobody wants it */
};

static bool is_stopped(void *ctx)
{
	const struct ibf_maker *m = ctx;

	return atomic_load_explicit(&m->stop, memory_order_relaxed);
}

static void *make(void *arg)
{
	struct ibf_maker *m = arg;
	struct ftr_repair_opts opts = {
		.sl2vl = m->gen->lanes, .switch_sources = m->gen->lanes,
		.stop = is_stopped, .stop_ctx = m,
	};

	if (ftr_repair_new(m->gen->shape, m->gen->tables, &opts, &m->made,
			   &m->err))
		m->made = NULL;
	pthread_mutex_lock(&m->f->mutex);
	m->done = true;
	pthread_mutex_unlock(&m->f->mutex);
	return NULL;
}

static bool is_done(struct ibf_maker *m)
{
	bool done;

	pthread_mutex_lock(&m->f->mutex);
	done = m->done;
	pthread_mutex_unlock(&m->f->mutex);
	return done;
}

bool ibf_local_making(struct ibf_view *v)
{
	return v->maker && !is_done(v->maker);
}

/* Waits for it; returns the planner. */
static struct ftr_repair *end_maker(struct ibf_maker *m)
{
	struct ftr_repair *made;

	pthread_join(m->thread, NULL);
	made = m->made;
	ibf_generation_put(m->gen);
	free(m);
	return made;
}

void ibf_local_reap(struct ibf_fast *f, bool all)
{
	struct ibf_maker **at = &f->makers, *m;

	while ((m = *at)) {
		struct ibf_generation *gen;

		if (!all && !is_done(m)) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		gen = ibf_generation_get(m->gen);	/* the planner's */
		ftr_repair_free(end_maker(m));
		ibf_generation_put(gen);
	}
}

/* What is being made is of no use. */
static void abandon(struct ibf_view *v)
{
	struct ibf_maker *m = v->maker;

	if (!m)
		return;
	atomic_store(&m->stop, true);
	m->next = m->f->makers;
	m->f->makers = m;
	v->maker = NULL;
}

void ibf_local_start(struct ibf_fast *f, struct ibf_view *v)
{
	struct ibf_maker *m;

	if (f->view)	/* that v is to replace */
		abandon(f->view);
	/* one at a time: those before have been told to stop */
	ibf_local_reap(f, true);
	if (!repairs_locally(v->gen))
		return;
	m = ftr_calloc(1, sizeof(*m));
	if (m) {
		atomic_init(&m->stop, false);
		m->f = f;
		m->gen = ibf_generation_get(v->gen);
		if (!pthread_create(&m->thread, NULL, make, m)) {
			v->maker = m;
			return;
		}
		ibf_generation_put(m->gen);
		free(m);
	}
	ibf_log(f->p, IBF_FAST_FAILED, "no local repairs before the next routing: no thread to make the planner");
}

bool ibf_local_ready(struct ibf_fast *f)
{
	struct ibf_view *v = f->view;
	struct ibf_maker *m = v->maker;
	struct ftr_err err;

	if (ibf_local_making(v)) {
		abandon(v);	/* it is not told of what comes now */
	} else if (m) {
		err = m->err;
		v->maker = NULL;
		v->local = end_maker(m);
		if (!v->local)
			ibf_log(f->p, IBF_FAST_FAILED, "no local repairs before the next routing: %s",
				err.msg);
	}
	return v->local != NULL;
}

void ibf_local_drop(struct ibf_view *v)
{
	abandon(v);
	ftr_repair_free(v->local);
	v->local = NULL;
	v->handover_due = -1;
}

void ibf_local_returned(struct ibf_fast *f)
{
	if (repairs_locally(f->view->gen))
		ibf_want_sweep(f);
}

/* Packets live so long: OpenSM's subnet-wide packet_life_time. */
static double lifetime_ms(const struct ibf_fast *f)
{
	unsigned int code = f->p->osm->subn.opt.packet_life_time & 31;

	return 4.096e-3 * (double)(1u << code);
}

static bool list_writes(const struct ftr_repair_plan *plan,
			struct ibf_writes *out)
{
	out->n = plan->n;
	out->first_drain = UINT32_MAX;
	out->entry = ftr_calloc(plan->n + 1u, sizeof(*out->entry));
	for (uint32_t i = 0; out->entry && i < plan->n; i++) {
		const struct ftr_repair_write *w = &plan->write[i];

		out->entry[i] = (struct ibf_entry){ w->sw, w->lid, w->to,
						    w->step };
	}
	return out->entry != NULL;
}

/* What is planned is written; on an error the planner is gone. */
static enum ftr_status push_plan(struct ibf_fast *f,
				 const struct ftr_repair_plan *plan,
				 struct ibf_repair *r, struct ftr_err *err)
{
	struct ibf_writes what = { 0 };
	enum ftr_status st;

	r->switches = FTR_MAX(r->switches, plan->n_switches);
	r->stages += plan->n_steps;
	if (list_writes(plan, &what))
		st = ibf_push(f, &what, r, err);
	else
		st = ftr_fail(err, FTR_NOMEM, "out of memory for %u entries",
			      plan->n);
	free(what.entry);
	if (!st && r->failed)
		st = ftr_fail(err, FTR_REFUSED, "%u blocks were not acknowledged",
			      r->failed);
	if (st)
		ibf_local_drop(f->view);
	f->view->drained_at = ibf_now_ms() + lifetime_ms(f);
	return st;
}

/* ---- stage one ---------------------------------------------------------- */

static enum ftr_status plan_detours(struct ibf_fast *f,
				    const struct ibf_repair *r,
				    struct ftr_repair_plan *plan,
				    struct ftr_err *err)
{
	struct ftr_event *ev = ftr_calloc(r->n_cables, sizeof(*ev));
	enum ftr_status st;

	if (!ev)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %u cables",
				r->n_cables);
	for (uint32_t i = 0; i < r->n_cables; i++)
		ev[i] = (struct ftr_event){
			.kind = FTR_EVENT_LINK_DOWN, .sw = r->cable[i].sw,
			.port = r->cable[i].port,
		};
	st = ftr_repair_events(f->view->local, ev, r->n_cables, plan, err);
	free(ev);
	return st;
}

/* What the checker needs to know of a plan. */
struct trial {
	struct ftr_tables *t;	/* as they will be */
	struct ftr_change *change;
	struct ftr_cable *gone;
	uint64_t *dead;		/* bits by port */
	uint32_t n;
};

static void trial_fini(struct trial *c)
{
	ftr_tables_free(c->t);
	free(c->change);
	free(c->gone);
	free(c->dead);
}

static int by_switch_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->lid > b->lid) - (a->lid < b->lid);
}

/* The last write to an entry is the one that counts. */
static void list_changes(struct trial *c, const struct ftr_tables *before,
			 const struct ftr_repair_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ftr_repair_write *w = &plan->write[i];

		ftr_tables_row(c->t, w->sw)[w->lid] = w->to;
		c->change[i] = (struct ftr_change){ w->sw, w->lid, 0, 0 };
	}
	qsort(c->change, plan->n, sizeof(*c->change), by_switch_and_lid);
	for (uint32_t i = 0; i < plan->n; i++) {
		struct ftr_change *x = &c->change[i];

		if (n && !by_switch_and_lid(x, &c->change[n - 1]))
			continue;
		x->before = ftr_tables_row(before, x->sw)[x->lid];
		x->after = ftr_tables_row(c->t, x->sw)[x->lid];
		if (x->before != x->after)
			c->change[n++] = *x;
	}
	c->n = n;
}

static void list_gone(struct trial *c, const struct ibf_view *v,
		      const struct ibf_repair *r)
{
	const struct ftr_fabric *f = v->gen->fabric;

	memcpy(c->dead, ftr_live_dead(v->live),
	       (f->n_ports + 63) / 64 * sizeof(*c->dead));
	for (uint32_t i = 0; i < r->n_cables; i++) {
		const struct rr_link *x = &r->cable[i];

		c->gone[i] = (struct ftr_cable){
			.sw = x->sw, .peer = x->peer, .port = x->port,
			.peer_port = x->peer_port,
		};
		rr_port_put(c->dead, f->sw[x->sw].first_port + x->port);
		rr_port_put(c->dead, f->sw[x->peer].first_port +
			     x->peer_port);
	}
}

/*
 * The detours, walked over what the switches hold, as the checker walks every
 * other repair.  That they close no credit loop was decided by the checker's
 * dependency graph (<ftr/cdg.h>) while they were planned, with all that packets
 * may still follow, so turns are no finding here.  A walk may end at a dead port
 * only if the plan says that not all is healed.
 */
static enum ftr_status check_plan(const struct ibf_view *v,
				  const struct ibf_repair *r,
				  const struct ftr_repair_plan *plan,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = v->gen->fabric;
	struct trial c = {
		.change = ftr_calloc(plan->n + 1u, sizeof(*c.change)),
		.gone = ftr_calloc(r->n_cables + 1u, sizeof(*c.gone)),
		.dead = ftr_calloc((f->n_ports + 63) / 64, sizeof(*c.dead)),
	};
	struct ftr_check_delta delta;
	struct ftr_delta_report rep;
	enum ftr_status st = ftr_tables_new(f, false, &c.t, err);

	if (!st && (!c.change || !c.gone || !c.dead))
		st = ftr_fail(err, FTR_NOMEM, "out of memory for %u entries",
			      plan->n);
	if (st) {
		trial_fini(&c);
		return st;
	}
	memcpy(c.t->lft, v->sent->lft, (size_t)c.t->n_sw * c.t->stride);
	list_changes(&c, v->sent, plan);
	list_gone(&c, v, r);
	ftr_live_delta(v->live, &delta);
	delta = (struct ftr_check_delta){
		.dead = c.dead, .extra = delta.extra, .n_extra = delta.n_extra,
		.gone = c.gone, .n_gone = r->n_cables,
		.change = c.change, .n_changes = c.n, .rank = v->gen->order,
	};
	st = ftr_check_changes(f, c.t, &delta, NULL, &rep, err);
	for (int i = 0; !st && i < FTR_N_FINDINGS; i++)
		if (rep.found[i] && (i == FTR_FIND_LOOP ||
				     i == FTR_FIND_WRONG_END ||
				     (i == FTR_FIND_DEAD_PORT &&
				      !plan->unhealed)))
			st = ftr_fail(err, FTR_REFUSED, "the planned detours hold %s (%"
				      PRIu64 " in all): from switch %s towards LID %u",
				      ftr_finding_name((enum ftr_finding)i),
				      rep.found[i],
				      ibf_sw_name(f, rep.sample[i].from).s,
				      rep.sample[i].lid);
	trial_fini(&c);
	return st;
}

bool ibf_local_detour(struct ibf_fast *f, struct ibf_repair *r)
{
	struct ftr_repair_plan plan = { 0 };
	struct ftr_err err = { 0 };
	enum ftr_status st = plan_detours(f, r, &plan, &err);

	if (!st) {
		r->computed_ms = ibf_now_ms() - r->trap_at;
		r->unhealed = plan.unhealed;
		st = check_plan(f->view, r, &plan, &err);
		r->checked_ms = ibf_now_ms() - r->trap_at;
		if (!st)
			st = push_plan(f, &plan, r, &err);
		ftr_repair_plan_fini(&plan);
	}
	if (st)
		ibf_local_drop(f->view);
	if (st && !ibf_overtaken(f))
		ibf_log(f->p, IBF_FAST_FAILED, "no local repair, all is rerouted: %s",
			err.msg);
	return !st;
}

/* ---- handover ----------------------------------------------------------- */

enum ftr_status ibf_local_handover(struct ibf_fast *f, struct ibf_repair *r,
				   struct ftr_err *err)
{
	struct ibf_view *v = f->view;
	struct ftr_repair_plan plan = { 0 };
	enum ftr_status st;
	bool done;

	if (ibf_now_ms() >= v->drained_at)
		ftr_repair_drained(v->local);
	st = ftr_repair_handover(v->local, v->gen->fabric,
				 ftr_live_tables(v->live), &plan, err);
	if (st) {
		ibf_local_drop(v);
		return st;
	}
	done = plan.done;
	r->held = plan.held;
	st = push_plan(f, &plan, r, err);
	ftr_repair_plan_fini(&plan);
	if (!st)
		v->handover_due = done ? -1 : v->drained_at;
	return st;
}
