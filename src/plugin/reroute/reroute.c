// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One repair: changed links -> new entries -> check -> writes.
 *
 * The worker has a view of the routing in use: a copy of shape and tables that is updated at each
 * change of a link (<ftr/incremental.h>), and the data needed to reach the switches.  If a
 * repair is not written, it is undone in the view, so that the view has the tables that the
 * switches hold.  But during a transition of ddlr, the view already has the new tables, and
 * view->sent has the entries that were written.
 *
 * The thread that routes also reads the view, to decide which links to leave out (returns.c).
 * view_lock is held while the view is replaced or the state of its links changes, but never
 * while the worker waits for switches or for OpenSM.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reroute/reroute.h"

/* ---- the view ----------------------------------------------------------- */

void rr_view_free(struct rr_view *v)
{
	if (!v)
		return;
	rr_repair_free(v->pending);
	rr_ddlr_drop(v);
	rr_planner_free(v->stopped);
	ftr_cdg_free(v->graph);
	ftr_incr_free(v->incr);
	ftr_tables_free(v->sent);
	rr_routing_put(&v->gen);
	rr_dr_tree_free(v->tree[0]);
	rr_dr_tree_free(v->tree[1]);
	ftr_arena_free(v->arena);
}

void rr_view_set(struct rr *f, struct rr_view *v)
{
	struct rr_view *old = f->view;

	pthread_mutex_lock(&f->view_lock);
	f->view = v;
	pthread_mutex_unlock(&f->view_lock);
	rr_view_free(old);
}

static void add_missing_links(struct rr_view *v, struct ftr_swport *port)
{
	const struct ftr_shape *sh = v->gen.shape;

	for (uint32_t i = 0; i < sh->n_absent; i++) {
		const struct ftr_link *a = &sh->absent[i];

		if (!ftr_incr_connected(v->incr, a->sw, a->port))
			continue;
		port[sh->f->sw[a->sw].first_port + a->port] = (struct ftr_swport){
			.peer = a->peer, .peer_kind = FTR_PEER_SW, .peer_port = a->peer_port,
		};
		port[sh->f->sw[a->peer].first_port + a->peer_port] = (struct ftr_swport){
			.peer = a->sw, .peer_kind = FTR_PEER_SW, .peer_port = a->port,
		};
	}
}

struct rr_view *rr_view_new(struct rr *f, const struct rr_routing *gen, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct rr_view *v = a ? ftr_arena_zalloc(a, 1, sizeof(*v)) : NULL;
	uint32_t n = gen->fabric->n_sw, n_ports = gen->fabric->n_ports;
	enum ftr_status st = FTR_NOMEM;
	struct ftr_swport *port = NULL;

	if (!v) {
		ftr_arena_free(a);
		ftr_fail(err, st, "out of memory for the fast path");
		return NULL;
	}
	v->arena = a;
	v->gen = rr_routing_get(gen);
	f->ops->find_manager(f->ctx, gen->fabric, &v->origin, &v->sm_lid);
	v->tree[0] = rr_dr_tree_new(n);
	v->tree[1] = rr_dr_tree_new(n);
	if (!v->tree[0] || !v->tree[1] || !FTR_ZNEW(a, v->m_key, n) ||
	    !FTR_ZNEW(a, v->avoid, n) || !FTR_ZNEW(a, v->silent, n) ||
	    !FTR_ZNEW(a, v->in_flight, n) || !FTR_NEW(a, port, n_ports) ||
	    !FTR_ZNEW(a, v->suspect, (n_ports + 63) / 64))
		st = ftr_fail(err, st, "out of memory for the fast path");
	else
		st = ftr_incr_new(gen->routed, gen->opts->nominal, gen->tables,
				  gen->opts, &v->incr, err);
	if (!st)
		st = ftr_tables_new(gen->fabric, false, &v->sent, err);
	if (st) {
		rr_view_free(v);
		return NULL;
	}
	memcpy(v->sent->lft, gen->tables->lft, (size_t)n * gen->tables->stride);
	memcpy(port, gen->fabric->ports, n_ports * sizeof(*port));
	add_missing_links(v, port);
	v->fabric = *gen->fabric;
	v->fabric.ports = port;
	f->ops->read_keys(f->ctx, gen->fabric, v->m_key);
	v->transition_due = -1;
	v->graph = __atomic_exchange_n(gen->graph, NULL, __ATOMIC_ACQ_REL);
	rr_ddlr_start(f, v);
	return v;
}

/* ---- one repair --------------------------------------------------------- */

void rr_repair_free(struct rr_repair *r)
{
	if (!r)
		return;
	rr_routing_put(&r->gen);
	free(r->link);
	free(r->sets.text);
	free(r);
}

static struct rr_repair *repair_new(struct rr *f,
				     const struct rr_trap *trap,
				     uint32_t n_traps)
{
	struct rr_repair *r = ftr_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->trap_at = n_traps ? trap[0].at : rr_now(f);
	r->wall = rr_wall() - (rr_now(f) - r->trap_at) / 1e3;
	r->gen = rr_routing_get(&f->view->gen);
	r->number = f->n_repairs + 1;
	r->n_traps = n_traps;
	r->sets = RR_NO_SETS;
	r->known_ms = r->computed_ms = r->checked_ms = r->reconciled_ms = -1;
	return r;
}

static double since(const struct rr *f, const struct rr_repair *r)
{
	return rr_now(f) - r->trap_at;
}

static enum ftr_status refuse_findings(const struct rr_view *v,
			     const struct ftr_delta_report *rep,
			     struct ftr_err *err)
{
	for (int i = 0; i < FTR_N_FINDINGS; i++)
		if (i != FTR_FIND_MISSING && rep->found[i])
			return rr_refuse(v->gen.fabric,
					 "the computed entries lead to", rep,
					 (enum ftr_finding)i, err);
	if (rep->missed + rep->stranded)	/* not covered: it would be a bug of src/core/incremental */
		return ftr_fail(err, FTR_REFUSED, "entries that still use a dead link: %" PRIu64
				"; entries that lead to a switch without an entry: %" PRIu64,
				rep->missed, rep->stranded);
	/* with a planner (ddlr.c), the planner checks its writes for credit loops */
	if (!rep->proved && !v->planner)
		return ftr_fail(err, FTR_REFUSED, "old and new entries together may form a credit loop (%"
				PRIu64 " turns)", rep->mixed);
	return FTR_OK;
}

/* Check the new entries.  The checker shares no code with src/core/incremental. */
static enum ftr_status check(const struct rr_view *v, struct ftr_err *err)
{
	struct ftr_check_delta delta;
	struct ftr_delta_report rep;
	enum ftr_status st;

	ftr_incr_delta(v->incr, &delta);
	delta.rank = v->gen.order;
	st = ftr_check_changes(v->gen.fabric, ftr_incr_tables(v->incr), &delta, &rep, err);
	return st ? st : refuse_findings(v, &rep, err);
}

static bool must_stop(void *ctx)
{
	return rr_is_overtaken(ctx);
}

/* Make the graph of the channel dependencies of the tables in the switches, unless there is one, and enter
 * the dead links. */
static enum ftr_status graph_now(struct rr *rr, struct ftr_err *err)
{
	const struct ftr_cdg_opts opts = { .stop = must_stop, .stop_ctx = rr };
	struct rr_view *v = rr->view;
	const struct ftr_fabric *f = &v->fabric;
	enum ftr_status st = v->graph ? FTR_OK : ftr_cdg_new(f, v->sent, &opts, &v->graph, err);

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			if (st)
				return st;
			if (ftr_incr_connected(v->incr, s, (ftr_port)p) &&
			    !ftr_incr_alive(v->incr, s, (ftr_port)p))
				st = ftr_cdg_link_down(v->graph, s, (ftr_port)p, err);
		}
	return st;
}

static int by_step_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->step, b->step) ?: FTR_ORDER(a->lid, b->lid);
}

/* Returns false unless the graph shows that no credit loop can form while the entries are written,
 * nor afterwards.  LIDs whose entries could close one are refused.
 *
 * older: the present graph is used, which also contains packets that follow older entries.  Otherwise a new
 * one is made.  Before step first_drain, and before each later step, packets in flight are waited for
 * (write.c), but not older ones.  With 11,664 hosts, a new graph takes some hundred milliseconds, but
 * complete trees never need it. */
static bool is_free_of_loops(struct rr *f, const struct ftr_incr_result *res, bool older)
{
	struct ftr_change *w = ftr_calloc(res->n_changes + 1u, sizeof(*w));
	struct ftr_err err;
	bool made, safe, closes;
	uint16_t step = 0;

	made = safe = w && !graph_now(f, &err);
	if (made && res->n_changes) {
		memcpy(w, res->change, res->n_changes * sizeof(*w));
		qsort(w, res->n_changes, sizeof(*w), by_step_and_lid);
	}
	for (uint32_t i = 0, end; made && i < res->n_changes; i = end) {
		for (end = i + 1; end < res->n_changes && !by_step_and_lid(&w[i], &w[end]); end++)
			;
		if (!older && w[i].step != step && w[i].step >= res->first_drain)
			ftr_cdg_drain_all(f->view->graph);
		step = w[i].step;
		if (ftr_cdg_change(f->view->graph, w[i].lid, &w[i], end - i, &closes, &err) || closes) {
			ftr_incr_refuse(f->view->incr, w[i].lid);
			safe = false;
		}
	}
	free(w);
	return safe;
}

/* True if an entry no longer leads in the same direction (up or down), or if faults bring an entry where
 * none was.  If no entry does so in several changes in succession, and each table has only up/down paths by
 * the same ranks, no mixture of all these tables has a credit loop. */
static bool has_turned(const struct rr_view *v, const struct ftr_incr_result *res)
{
	const struct ftr_fabric *f = &v->fabric;
	const uint8_t *rank = v->gen.order;

	for (uint32_t i = 0; i < res->n_changes; i++) {
		const struct ftr_change *c = &res->change[i];
		ftr_sw was = ftr_fabric_next(f, c->sw, c->before), is = ftr_fabric_next(f, c->sw, c->after);

		if (is != FTR_SW_NONE &&
		    (was == FTR_SW_NONE ? res->n_gone > 0 :
		     FTR_ORDER(rank[was], rank[c->sw]) != FTR_ORDER(rank[is], rank[c->sw])))
			return true;
	}
	return false;
}

/* Update the tables.  Entries are spared only if no credit loop can form; if LIDs are refused, a second time.
 * The check of the changed entries (check()) is not enough for that, because it relies on the paths of all
 * other entries.  The planner of ddlr checks its writes itself.
 *
 * Packets that follow older entries are in the graph in pass 0.  If a credit loop with them is not
 * excluded, by the graph or by the ranks, they are ignored: until the repair is written, all packets to the
 * dead links are lost. */
enum ftr_status rr_apply(struct rr *f, const struct ftr_incr_event *ev, uint32_t n,
			 const struct ftr_incr_result **res, struct ftr_err *err)
{
	struct rr_view *v = f->view;
	bool older = !v->planner && rr_has_older(f, true);
	const int first = older && v->graph ? 0 : 1;
	enum ftr_status st;

	for (int pass = first; pass < 3; pass++) {
		pthread_mutex_lock(&f->view_lock);
		if (pass > first)
			ftr_incr_undo(v->incr);
		if (pass < 2)
			ftr_incr_spare(v->incr, true);
		st = ftr_incr_apply(v->incr, ev, n, res, err);
		pthread_mutex_unlock(&f->view_lock);
		v->turned = !st && has_turned(v, *res);
		v->unsafe = pass && (older || (v->turned && !v->planner && rr_has_older(f, false)));
		if (pass)
			rr_graph_drop(v);
		if (st || v->planner || (pass && !(*res)->n_spared) ||
		    is_free_of_loops(f, *res, !pass))
			return st;
	}
	pthread_mutex_lock(&f->view_lock);
	ftr_incr_undo(v->incr);
	pthread_mutex_unlock(&f->view_lock);
	return ftr_fail(err, FTR_REFUSED, "the new entries could close a credit loop with paths that still work");
}

static enum ftr_status compute(struct rr *f, struct rr_repair *r,
			       const struct ftr_incr_result **res,
			       struct ftr_err *err)
{
	struct ftr_incr_event *ev = ftr_calloc(r->n_links, sizeof(*ev));
	enum ftr_status st;

	if (!ev)
		return ftr_nomem(err, "changes of links");
	for (uint32_t i = 0; i < r->n_links; i++)
		ev[i] = (struct ftr_incr_event){
			r->link[i].sw, r->link[i].port, r->link[i].up
		};
	st = rr_apply(f, ev, r->n_links, res, err);
	free(ev);
	r->computed_ms = since(f, r);
	if (!st) {
		r->spared = (*res)->n_spared;
		r->lost_pairs = (*res)->lost_pairs;
		r->regained_pairs = (*res)->regained_pairs;
	}
	return st;
}

/* Returns the changed entries, sorted by write step; NULL: no memory. */
static struct ftr_change *list_writes(const struct ftr_incr_result *res)
{
	struct ftr_change *out = NULL;
	uint32_t *at = ftr_calloc(res->n_write_steps + 1u, sizeof(*at));

	if (at)
		out = ftr_calloc(res->n_changes + 1u, sizeof(*out));
	for (uint32_t i = 0; out && i < res->n_changes; i++)
		at[res->change[i].step + 1]++;
	for (uint32_t i = 0; out && i < res->n_write_steps; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 0; out && i < res->n_changes; i++)
		out[at[res->change[i].step]++] = res->change[i];
	free(at);
	return out;
}

static void keep_until_confirmed(struct rr *f, struct rr_repair *r)
{
	struct rr_repair **at = &f->repairs;

	pthread_mutex_lock(&f->mutex);
	while (*at)
		at = &(*at)->next;
	*at = r;
	f->state.unconfirmed++;
	/* the sweep that should have confirmed this repair has already routed: request another */
	if (f->state.sweep != RR_ROUTING && r->trap_at <= f->state.began)
		rr_damp_want(&f->state.want, rr_now(f));
	pthread_mutex_unlock(&f->mutex);
}

/* The repair failed.  If OpenSM has routed in the meantime, the caller repeats the repair;
 * otherwise a sweep is requested, which repairs the tables. */
static void give_up(struct rr *f, bool applied, const struct ftr_err *err)
{
	if (applied) {
		pthread_mutex_lock(&f->view_lock);
		ftr_incr_undo(f->view->incr);
		pthread_mutex_unlock(&f->view_lock);
	}
	rr_graph_drop(f->view);
	if (rr_is_overtaken(f))
		return;
	rr_warn(f, RR_WARN_FAILED, "no fast reroute; a sweep will repair the tables: %s",
		err->msg);
	rr_sweep_now(f);
}

static void warn_flapping(struct rr *f, const struct ftr_fabric *fab, const struct rr_link *c)
{
	const struct ftr_switch *a = &fab->sw[c->sw], *b = &fab->sw[c->peer];

	rr_warn(f, RR_WARN_FLAPPING, "the link %s (0x%016" PRIx64
		") port %u - %s (0x%016" PRIx64 ") port %u fails repeatedly; it is used again after %.0f ms without a failure; replace the cable",
		a->name, a->guid, c->port, b->name, b->guid, c->peer_port,
		f->state.links.hold);
}

static void note_changes(struct rr *f, const struct rr_repair *r)
{
	for (uint32_t i = 0; i < r->n_links; i++)
		if (rr_note(f, RR_NOTE_REPAIRED, &r->link[i]))
			warn_flapping(f, r->gen.fabric, &r->link[i]);
}

static void finish(struct rr *f, struct rr_repair *r)
{
	f->ops->report(f->ctx, r);
	if (r->sets.failed)
		rr_sweep_now(f);
	else if (r->sets.again)
		rr_want_sweep(f);
	if (r->n_traps) {
		keep_until_confirmed(f, r);
	} else {	/* OpenSM already knows the change, so no sweep will confirm the repair */
		f->ops->record(f->ctx, r);
		rr_repair_free(r);
	}
}

/* Report the local repair.  Then reset the numbers in r, which will count the transition. */
static void report_local(struct rr *f, struct rr_repair *r)
{
	bool again = r->sets.again;

	r->stage = RR_LOCAL;
	f->ops->report(f->ctx, r);
	f->ops->record(f->ctx, r);
	r->stage = RR_REROUTE;
	free(r->sets.text);
	r->sets = RR_NO_SETS;
	r->sets.again = again;
	r->switches = r->write_steps = 0;
	r->computed_ms = r->checked_ms = -1;
}

static bool all_down(const struct rr_repair *r)
{
	for (uint32_t i = 0; i < r->n_links; i++)
		if (r->link[i].up)
			return false;
	return true;
}

/* The switches hold a mixture of two sets of tables.  Drop the view and request a sweep, which
 * writes all tables; until then there is no fast path. */
static void give_up_view(struct rr *f)
{
	rr_view_set(f, NULL);
	rr_sweep_now(f);
}

void rr_repair_unknown(struct rr *f)
{
	if (!f->view || !f->view->mixed)
		return;
	rr_repair_settle(f);
	give_up_view(f);
}

/* True if the entries that were written are equal to the tables of the view. */
static bool holds_tables_of(const struct rr_view *v)
{
	const struct ftr_tables *t = ftr_incr_tables(v->incr);

	return !memcmp(v->sent->lft, t->lft, (size_t)t->n_sw * t->stride);
}

/* The transition failed.  If the reason is that OpenSM has routed in the meantime, no warning is
 * logged, and no sweep is requested. */
static void stop_transition(struct rr *f, struct rr_repair *r, const struct ftr_err *err)
{
	bool overtaken = rr_is_overtaken(f);

	if (!overtaken)
		rr_warn(f, rr_ddlr_warning(err), "the transition is unfinished; a sweep will complete it: %s",
			err->msg);
	if (overtaken && !r->sets.n_changes)
		rr_repair_free(r);
	else
		finish(f, r);
	if (overtaken)
		rr_view_set(f, NULL);
	else
		give_up_view(f);
}

/* Write one round of the transition to the tables of the view.  Returns false if it failed. */
static bool run_transition(struct rr *f, struct rr_repair *r)
{
	struct ftr_err err = { 0 };

	if (rr_ddlr_transition(f, r, &err)) {
		stop_transition(f, r, &err);
		return false;
	}
	if (f->view->transition_due < 0)
		finish(f, r);
	else
		f->view->pending = r;
	return true;
}

void rr_repair_settle(struct rr *f)
{
	struct rr_repair *r = f->view ? f->view->pending : NULL;

	if (!r)
		return;
	f->view->pending = NULL;
	f->view->transition_due = -1;
	finish(f, r);
}

void rr_repair_continue(struct rr *f)
{
	struct rr_repair *r = f->view->pending;

	f->view->pending = NULL;
	f->view->transition_due = -1;
	if (r)
		run_transition(f, r);
}

static void repair_locally(struct rr *f, struct rr_repair *r)
{
	rr_repair_settle(f);	/* the fault interrupts the transition */
	if (!all_down(r))
		rr_ddlr_drop(f->view);
	else if (rr_ddlr_detour(f, r))
		report_local(f, r);
}

/* Repair the tables for the changed links of r.  Returns false if the repair or its transition
 * failed.  Takes ownership of r in any case. */
static bool repair(struct rr *f, struct rr_repair *r)
{
	const struct ftr_incr_result *res;
	struct ftr_err err = { 0 };
	bool local = rr_ddlr_ready(f), applied, down = false;
	double begun = rr_now(f);
	enum ftr_status st;

	for (uint32_t i = 0; i < r->n_links; i++) {
		/* A reroute that begins before the write must not leave out a restored link. */
		rr_note(f, r->link[i].up ? RR_NOTE_REPAIRED : RR_NOTE_DOWN, &r->link[i]);
		down |= !r->link[i].up;
	}
	if (!all_down(r))
		rr_ddlr_returned(f);
	if (local)
		repair_locally(f, r);
	if (local && !f->view->planner && !holds_tables_of(f->view)) {
		rr_repair_free(r);
		give_up_view(f);
		return false;
	}
	st = compute(f, r, &res, &err);
	applied = !st;
	if (!st) {
		st = check(f->view, &err);
		r->checked_ms = since(f, r);
	}
	if (!st && f->view->planner) {
		f->n_repairs++;
		note_changes(f, r);
		return run_transition(f, r);
	}
	if (!st) {
		r->switches = res->n_switches;
		r->write_steps = res->n_write_steps;
		r->drained = res->n_drain;
		st = rr_write(f, list_writes(res), res->n_changes, res->first_drain, r, &err);
	}
	if (!st && f->view->unsafe) {
		if (r->sets.n_changes)
			rr_warn(f, RR_WARN_UNSAFE, "fast reroute %u: entries were replaced in an order in which a credit loop was possible for %.1f ms with packets that follow older entries, because the failed links lost all packets; entries=%u",
				r->number, FTR_MAX(rr_now(f) - begun, 0.1), r->sets.n_changes);
		rr_graph_drop(f->view);	/* it does not contain these packets */
	}
	if (st) {
		give_up(f, applied, &err);
		rr_repair_free(r);
		/* the view shows the dead links as alive: a later repair could use them; a local repair may
		 * have been written */
		if ((down && !rr_is_overtaken(f)) || f->view->planner)
			give_up_view(f);
		return false;
	}
	f->n_repairs++;
	note_changes(f, r);
	finish(f, r);
	ftr_incr_settle(f->view->incr);
	return true;
}

/* ---- traps -------------------------------------------------------------- */

/* Store in sw[] each switch that has sent traps; returns their number. */
static uint32_t trap_senders(const struct rr_view *v,
			       const struct rr_trap *trap, uint32_t n,
			       ftr_sw *sw)
{
	const struct ftr_fabric *fab = v->gen.fabric;
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_lid_owner *o = &fab->owner[trap[i].lid];
		bool seen = trap[i].lid > fab->max_lid ||
			o->kind != FTR_OWNER_SW;

		for (uint32_t j = 0; j < k && !seen; j++)
			seen = sw[j] == o->idx;
		if (!seen)
			sw[k++] = o->idx;
	}
	return k;
}

/* Remove from c[] the links that are back, but damped; returns the number of links left.  While there
 * are older packets, all links that are back are left to the next routing, which waits for these
 * packets. */
static uint32_t drop_damped(struct rr *f, struct rr_link *c, uint32_t n)
{
	bool older = rr_has_older(f, true);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!c[i].up || (!older && !rr_is_damped(f, &c[i])))
			c[kept++] = c[i];
	return kept;
}

/* Probe the links in ask[], and repair the tables.  Returns false if OpenSM has begun to route: the
 * caller must repeat this after the routing. */
static bool probe_and_repair(struct rr *f, const struct rr_link *ask, uint32_t n_ask,
			     const struct rr_trap *trap, uint32_t n_traps)
{
	struct rr_repair *r = repair_new(f, trap, n_traps);
	bool unknown = false;

	if (r)
		r->link = ftr_calloc(n_ask, sizeof(*r->link));
	if (!r || !r->link) {
		rr_repair_free(r);
		rr_sweep_now(f);
		return true;
	}
	r->n_links = rr_probe(f, ask, n_ask, n_traps > 0, &r->link, &unknown);
	r->n_links = drop_damped(f, r->link, r->n_links);
	r->known_ms = since(f, r);
	if (unknown)
		rr_want_sweep(f);
	if (r->n_links)
		return repair(f, r) || !rr_is_overtaken(f);
	rr_repair_free(r);
	return !rr_is_overtaken(f);
}

bool rr_repair_traps(struct rr *f, const struct rr_trap *trap, uint32_t n)
{
	ftr_sw sw[RR_TRAPS_MAX];
	uint32_t n_sw = trap_senders(f->view, trap, n, sw), n_ask = 0;
	struct rr_link *ask = ftr_calloc(n_sw * (size_t)FTR_PORT_MAX + 1, sizeof(*ask));
	bool done = true;

	for (uint32_t i = 0; ask && i < n_sw; i++)
		n_ask += rr_links_of(f->view, sw[i], ask + n_ask);
	if (!ask)
		rr_sweep_now(f);
	else if (n_ask)
		done = probe_and_repair(f, ask, n_ask, trap, n);
	free(ask);
	return done;
}

/* Change the state of those of the n links that could not be taken into use.  If sweep_over is
 * true, the new state is LEFT (to OpenSM): routings use the links if OpenSM finds them.  Otherwise
 * it is RETURNING: the links are probed again at the end of the next sweep. */
static void leave_to_sweep(struct rr *f, const struct rr_link *c, uint32_t n, bool sweep_over)
{
	bool any = false;

	for (uint32_t i = 0; f->view && i < n; i++) {
		if (ftr_incr_alive(f->view->incr, c[i].sw, c[i].port))
			continue;
		rr_note(f, sweep_over ? RR_NOTE_LEFT : RR_NOTE_RETURN, &c[i]);
		any = true;
	}
	if (any && rr_has_older(f, true) && !rr_is_overtaken(f))
		rr_sweep_now(f);	/* hosts may have no other path */
	else if (any && sweep_over)
		rr_want_sweep(f);
}

void rr_repair_returns(struct rr *f, bool swept)
{
	struct rr_link *ask = ftr_calloc(RR_LINKS_MAX, sizeof(*ask));
	bool lost = !f->view || !ask;
	uint32_t n = 0;

	if (!lost) {
		n = rr_take_returns(f, ask, RR_LINKS_MAX, &lost);
	} else {
		pthread_mutex_lock(&f->mutex);
		lost = rr_links_drop_returning(&f->state.links);
		pthread_mutex_unlock(&f->mutex);
	}
	if (n)
		leave_to_sweep(f, ask, n, probe_and_repair(f, ask, n, NULL, 0) && swept);
	/* RETURNING links were dropped, or a routing with the links of ask[] may be better */
	if (lost || (n && f->view && f->view->gen.improvable))
		rr_want_sweep(f);
	free(ask);
}
