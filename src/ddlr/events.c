// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The planner.  It records events of links and switches, and makes one plan per call.
 */
#include <stdlib.h>
#include <string.h>

#include "ddlr/planner.h"

/* ---- events ------------------------------------------------------------ */

static enum ftr_status refuse(const struct ftr_ddlr *r,
			      const struct ftr_event *e, struct ftr_err *err)
{
	bool link = e->kind <= FTR_EVENT_LINK_UP;
	bool up = e->kind == FTR_EVENT_LINK_UP ||
		e->kind == FTR_EVENT_SWITCH_UP;

	if (e->sw >= r->f->n_sw || e->kind > FTR_EVENT_SWITCH_UP)
		return ftr_fail(err, FTR_INVAL, "event of unknown kind %u, or at a switch (%u) that is not in the fabric, which has %u switches",
				e->kind, e->sw, r->f->n_sw);
	if (link && (!e->port || e->port > r->f->sw[e->sw].n_ports ||
		     ftr_fabric_port(r->f, e->sw, e->port)->peer_kind !=
		     FTR_PEER_SW))
		return ftr_fail(err, FTR_INVAL, "event at switch %u, port %u: no link to a switch",
				e->sw, e->port);
	if (up && ftr_cdg_undrained(r->g))
		return ftr_fail(err, FTR_REFUSED, "a link or switch comes up while packets for %u LIDs may still follow older entries",
				ftr_cdg_undrained(r->g));
	return FTR_OK;
}

/* True if the link is dead according to the events so far. */
static bool should_be_down(const struct ftr_ddlr *r, ftr_sw s, ftr_port p)
{
	return r->dead_sw[s] || r->dead_sw[ftr_fabric_port(r->f, s, p)->peer] ||
	       r->dead_link[r->f->sw[s].first_port + p];
}

/* Set live_to[] and n_down[] of both ends from the state of the link in the graph. */
static void set_live(struct ftr_ddlr *r, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *x = ftr_fabric_port(r->f, s, p);
	bool down = ftr_cdg_link_is_down(r->g, s, p);
	bool was = !ddlr_live(r, s, p);

	if (down != was) {
		r->n_down[s] = (uint16_t)(r->n_down[s] + down - was);
		r->n_down[x->peer] = (uint16_t)(r->n_down[x->peer] + down - was);
	}
	r->live_to[(size_t)s << 8 | p] = down ? FTR_SW_NONE : x->peer;
	r->live_to[(size_t)x->peer << 8 | x->peer_port] = down ? FTR_SW_NONE : s;
}

/* Remove all entries of s that lead onto this link. Otherwise the dependency graph would have a
 * cycle when the link comes up. */
static enum ftr_status remove_entries(struct ftr_ddlr *r, ftr_sw s, ftr_port p,
				 struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	for (uint32_t lid = 1; !st && lid <= r->f->max_lid; lid++) {
		struct ftr_cdg_write w = { s, FTR_PORT_NONE, 1 };
		bool made;

		if (ftr_tables_get(r->now, s, (ftr_lid)lid) != p ||
		    r->f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		ddlr_begin_lid(r, (ftr_lid)lid);
		st = ddlr_try(r, &w, 1, FTR_HOW_NONE, &made, err);
	}
	return st;
}

static enum ftr_status link_up(struct ftr_ddlr *r, ftr_sw s, ftr_port p,
			       bool *closes, struct ftr_err *err)
{
	enum ftr_status st = ftr_cdg_link_up(r->g, s, p, closes, err);
	bool closes_too = false;

	if (!st && !*closes && r->hosts)
		st = ftr_cdg_link_up(r->hosts, s, p, &closes_too, err);
	if (!st && closes_too)
		st = ftr_fail(err, FTR_INTERNAL, "packets of hosts close a cycle that packets of all sources do not close");
	set_live(r, s, p);
	return st;
}

static enum ftr_status one_up(struct ftr_ddlr *r, ftr_sw s, ftr_port p,
			      struct ftr_err *err)
{
	const struct ftr_swport *port = ftr_fabric_port(r->f, s, p);
	bool closes = false;
	enum ftr_status st = link_up(r, s, p, &closes, err);

	if (st || !closes)
		return st;
	r->first_step = 0;
	st = remove_entries(r, s, p, err);
	if (!st)
		st = remove_entries(r, port->peer, port->peer_port, err);
	/* The link was down, so no packet follows the removed entries. Therefore the LIDs count as
	 * drained at once. All other writes come in a later step. */
	ftr_ddlr_drained(r);
	r->first_step = 1;
	if (!st)
		st = link_up(r, s, p, &closes, err);
	if (!st && closes)
		st = ftr_fail(err, FTR_INTERNAL, "a link without traffic closes a cycle");
	return st;
}

static enum ftr_status link_down(struct ftr_ddlr *r, ftr_sw s, ftr_port p,
				 struct ftr_err *err)
{
	enum ftr_status st = ftr_cdg_link_down(r->g, s, p, err);

	if (!st && r->hosts)
		st = ftr_cdg_link_down(r->hosts, s, p, err);
	set_live(r, s, p);
	return st;
}

/* Update the links of s in the dependency graph to the state that the events report. up: update
 * only links that come up; otherwise only links that go down. *restore: set to true if a link comes
 * up. */
static enum ftr_status update(struct ftr_ddlr *r, ftr_sw s, bool up, bool *restore,
			      struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	for (unsigned int p = 1; !st && p <= r->f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(r->f, s, (ftr_port)p);
		bool is, should;

		if (port->peer_kind != FTR_PEER_SW)
			continue;
		is = ftr_cdg_link_is_down(r->g, s, (ftr_port)p);
		should = should_be_down(r, s, (ftr_port)p);
		if (!up && should && !is)
			st = link_down(r, s, (ftr_port)p, err);
		if (up && is && !should) {
			st = one_up(r, s, (ftr_port)p, err);
			*restore = true;
		}
	}
	return st;
}

static void set_link(struct ftr_ddlr *r, ftr_sw s, ftr_port p, bool dead)
{
	const struct ftr_swport *port = ftr_fabric_port(r->f, s, p);

	r->dead_link[r->f->sw[s].first_port + p] = dead;
	r->dead_link[r->f->sw[port->peer].first_port + port->peer_port] = dead;
}

enum ftr_status ftr_ddlr_events(struct ftr_ddlr *r,
				const struct ftr_event *ev, uint32_t n,
				struct ftr_ddlr_plan *plan,
				struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;
	bool restore = false;

	ddlr_begin_plan(r, plan);
	for (uint32_t i = 0; !st && i < n; i++)
		st = refuse(r, &ev[i], err);
	for (uint32_t i = 0; !st && i < n; i++) {
		if (ev[i].kind <= FTR_EVENT_LINK_UP)
			set_link(r, ev[i].sw, ev[i].port,
				 ev[i].kind == FTR_EVENT_LINK_DOWN);
		else
			r->dead_sw[ev[i].sw] =
				ev[i].kind == FTR_EVENT_SWITCH_DOWN;
	}
	/* All links that come up are updated before those that go down.  A link may come up only
	 * while no packet follows older entries (all LIDs are drained).  After a link has gone
	 * down, this may no longer hold. */
	for (uint32_t i = 0; !st && i < n; i++)
		st = update(r, ev[i].sw, true, &restore, err);
	for (uint32_t i = 0; !st && i < n; i++)
		st = update(r, ev[i].sw, false, &restore, err);
	if (!st)
		st = repair_broken(r, restore, err);
	ddlr_end_plan(r, st);
	return st;
}

/* ---- events by comparison ---------------------------------------------- */

struct events {
	struct ftr_event *e;
	uint32_t n, cap;
};

static bool add(struct events *l, enum ftr_event_kind kind, ftr_sw s,
		unsigned int p)
{
	if (!FTR_GROW(l->e, l->n, l->cap))
		return false;
	l->e[l->n++] = (struct ftr_event){ (uint8_t)kind, s, (ftr_port)p };
	return true;
}

/* True if the link at port p of the planner's switch s also exists in the fabric `now`, in which
 * the switch has index `there`. */
static bool has_link(const struct ftr_ddlr *r, const struct ftr_fabric *now,
		     ftr_sw there, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *old = ftr_fabric_port(r->f, s, (ftr_port)p);
	const struct ftr_swport *x;

	if (p > now->sw[there].n_ports)
		return false;
	x = ftr_fabric_port(now, there, (ftr_port)p);
	return x->peer_kind == FTR_PEER_SW && x->peer_port == old->peer_port &&
	       now->sw[x->peer].guid == r->f->sw[old->peer].guid;
}

static bool compare_switch(const struct ftr_ddlr *r,
			   const struct ftr_fabric *now, ftr_sw s,
			   struct events *l)
{
	ftr_sw there = ftr_fabric_find_sw(now, r->f->sw[s].guid);
	bool ok = true;

	if ((there == FTR_SW_NONE) != r->dead_sw[s])
		ok = add(l, r->dead_sw[s] ? FTR_EVENT_SWITCH_UP :
			 FTR_EVENT_SWITCH_DOWN, s, 0);
	for (unsigned int p = 1; ok && there != FTR_SW_NONE &&
	     p <= r->f->sw[s].n_ports; p++) {
		const struct ftr_swport *x =
			ftr_fabric_port(r->f, s, (ftr_port)p);
		bool dead;

		if (x->peer_kind != FTR_PEER_SW || x->peer < s ||
		    ftr_fabric_find_sw(now, r->f->sw[x->peer].guid) ==
		    FTR_SW_NONE)
			continue;
		dead = r->dead_link[r->f->sw[s].first_port + p];
		if (has_link(r, now, there, s, p) == dead)
			ok = add(l, dead ? FTR_EVENT_LINK_UP :
				 FTR_EVENT_LINK_DOWN, s, p);
	}
	return ok;
}

enum ftr_status ftr_ddlr_to(struct ftr_ddlr *r,
			    const struct ftr_fabric *now,
			    struct ftr_ddlr_plan *plan,
			    struct ftr_err *err)
{
	struct events l = { NULL, 0, 0 };
	bool ok = true;
	enum ftr_status st;

	for (ftr_sw s = 0; ok && s < r->f->n_sw; s++)
		ok = compare_switch(r, now, s, &l);
	if (ok)
		st = ftr_ddlr_events(r, l.e, l.n, plan, err);
	else
		st = ftr_fail(err, FTR_NOMEM, "out of memory for events");
	free(l.e);
	return st;
}

/* ---- new and free ------------------------------------------------------ */

static bool allocate(struct ftr_ddlr *r)
{
	struct ftr_arena *a = r->arena;
	const struct ftr_fabric *f = r->f;

	r->live_to = ftr_arena_alloc(a, (size_t)f->n_sw << 8,
				     sizeof(*r->live_to));
	r->n_down = ftr_arena_zalloc(a, f->n_sw, sizeof(*r->n_down));
	r->dead_sw = ftr_arena_zalloc(a, f->n_sw, 1);
	r->dead_link = ftr_arena_zalloc(a, f->n_ports, 1);
	r->has_hosts = ftr_arena_zalloc(a, f->n_sw, 1);
	r->of_lid = ftr_arena_zalloc(a, (size_t)f->max_lid + 1, sizeof(*r->of_lid));
	r->load = ftr_arena_zalloc(a, f->n_ports, sizeof(*r->load));
	r->touched = ftr_arena_zalloc(a, f->n_sw, 1);
	r->switches = ftr_arena_alloc(a, f->n_sw, sizeof(*r->switches));
	r->before = ftr_arena_alloc(a, f->n_sw, sizeof(*r->before));
	r->step_of = ftr_arena_zalloc(a, f->n_sw, 1);
	r->stepped = ftr_arena_alloc(a, 2 * (size_t)f->n_sw,
				     sizeof(*r->stepped));
	r->avoid = ftr_arena_zalloc(a, f->n_sw, 1);
	r->carried = ftr_arena_zalloc(a, f->n_sw, sizeof(*r->carried));
	r->queue = ftr_arena_alloc(a, f->n_sw, sizeof(*r->queue));
	r->from = ftr_arena_alloc(a, f->n_sw, sizeof(*r->from));
	r->by = ftr_arena_alloc(a, f->n_sw, 1);
	r->seen = ftr_arena_zalloc(a, f->n_sw, 1);
	r->near_hops = ftr_arena_alloc(a, (size_t)NEAR_MAX * f->n_sw, 1);
	r->near_first = ftr_arena_alloc(a, (size_t)NEAR_MAX * f->n_sw,
					sizeof(*r->near_first));
	r->col = ftr_arena_alloc(a, f->n_sw, sizeof(*r->col));
	r->col_of = ftr_arena_zalloc(a, f->n_sw, sizeof(*r->col_of));
	return r->live_to && r->n_down && r->dead_sw && r->dead_link && r->has_hosts &&
	       r->of_lid && r->load && r->touched &&
	       r->switches && r->before && r->step_of && r->stepped && r->avoid &&
	       r->carried && r->queue && r->from && r->by && r->seen &&
	       r->near_hops && r->near_first && r->col && r->col_of && planes_new(r);
}

static void set_lids(struct ftr_ddlr *r)
{
	const struct ftr_fabric *f = r->f;

	for (uint32_t lid = 0; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		struct lid_state *l = &r->of_lid[lid];

		l->cls = FTR_CLASS_OTHER;
		l->exit_sw = o->kind == FTR_OWNER_EP ? f->ep[o->idx].sw :
			o->kind == FTR_OWNER_SW ? o->idx : FTR_SW_NONE;
		l->exit_port = o->kind == FTR_OWNER_EP ? f->ep[o->idx].sw_port : 0;
	}
	for (uint32_t i = 0; i < r->sh->numbering.n_dest; i++)
		r->of_lid[r->sh->numbering.dest[i].lid].cls = r->sh->numbering.dest[i].cls;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			r->has_hosts[f->ep[e].sw] = 1;
}

static void set_neighbours(struct ftr_ddlr *r)
{
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		ftr_sw *to = &r->live_to[(size_t)s << 8];

		r->most_groups = FTR_MAX(r->most_groups,
					 r->sh->tree.group_first[s + 1] -
					 r->sh->tree.group_first[s]);
		for (unsigned int p = 0; p < 256; p++)
			to[p] = FTR_SW_NONE;
		for (unsigned int p = 1; p <= r->f->sw[s].n_ports; p++) {
			const struct ftr_swport *x =
				ftr_fabric_port(r->f, s, (ftr_port)p);

			if (x->peer_kind == FTR_PEER_SW)
				to[p] = x->peer;
		}
	}
}

static enum ftr_status build(struct ftr_ddlr *r, const struct ftr_tables *t,
			     const struct ftr_ddlr_opts *o,
			     struct ftr_err *err)
{
	struct ftr_cdg_opts co = {
		.sl2vl = o->sl2vl, .sls = o->sls,
		.switch_sources = o->switch_sources,
		.team = o->team, .stop = o->stop, .stop_ctx = o->stop_ctx,
	};
	enum ftr_status st;

	if (!allocate(r))
		return ftr_fail(err, FTR_NOMEM, "out of memory for repairs of %u switches",
				r->f->n_sw);
	set_lids(r);
	set_neighbours(r);
	st = ftr_cdg_new(r->f, t, &co, &r->g, err);
	co.switch_sources = false;
	if (!st && o->switch_sources)
		st = ftr_cdg_new(r->f, t, &co, &r->hosts, err);
	if (!st)
		r->now = ftr_cdg_tables(r->g);
	return st;
}

enum ftr_status ftr_ddlr_new(const struct ftr_shape *sh,
			     const struct ftr_tables *t,
			     const struct ftr_ddlr_opts *opts,
			     struct ftr_ddlr **out, struct ftr_err *err)
{
	static const struct ftr_ddlr_opts none = { 0 };
	struct ftr_ddlr *r = ftr_calloc(1, sizeof(*r));
	enum ftr_status st;

	if (!r || !(r->arena = ftr_arena_new())) {
		free(r);
		return ftr_fail(err, FTR_NOMEM, "out of memory for repairs");
	}
	opts = opts ? opts : &none;
	r->sh = sh;
	r->f = sh->f;
	r->host_paths_only = opts->host_paths_only;
	st = build(r, t, opts, err);
	if (st)
		ftr_ddlr_free(r);
	else
		*out = r;
	return st;
}

void ftr_ddlr_free(struct ftr_ddlr *r)
{
	if (!r)
		return;
	ftr_cdg_free(r->g);
	ftr_cdg_free(r->hosts);
	free(r->off);
	ftr_arena_free(r->arena);
	free(r);
}

const struct ftr_tables *ftr_ddlr_tables(const struct ftr_ddlr *r)
{
	return r->now;
}

void ftr_ddlr_drained(struct ftr_ddlr *r)
{
	ftr_cdg_drain_all(r->g);
	if (r->hosts)
		ftr_cdg_drain_all(r->hosts);
}

uint32_t ftr_ddlr_undrained(const struct ftr_ddlr *r)
{
	return ftr_cdg_undrained(r->g);
}
