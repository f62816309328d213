// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The planner.  It records events of links and switches, and makes one plan per call.
 */
#include <stdlib.h>
#include <string.h>

#include "ddlr/planner.h"

/* ---- events ------------------------------------------------------------ */

static enum ftr_status refuse(const struct ftr_ddlr *r,
			      const struct ftr_hop *e, struct ftr_err *err)
{
	if (e->sw >= r->f->n_sw)
		return ftr_fail(err, FTR_INVAL, "event at switch %u, but the fabric has %u switches",
				e->sw, r->f->n_sw);
	if (e->port &&
	    (e->port > r->f->sw[e->sw].n_ports ||
	     ftr_fabric_port(r->f, e->sw, e->port)->peer_kind != FTR_PEER_SW))
		return ftr_fail(err, FTR_INVAL, "event at switch %u, port %u: no link to a switch",
				e->sw, e->port);
	return FTR_OK;
}

static enum ftr_status link_down(struct ftr_ddlr *r, ftr_sw s, ftr_port p, struct ftr_err *err)
{
	const struct ftr_swport *x = ftr_fabric_port(r->f, s, p);
	enum ftr_status st;

	if (!ddlr_live(r, s, p))
		return FTR_OK;
	st = ftr_cdg_link_down(r->g, s, p, err);
	if (!st && r->hosts)
		st = ftr_cdg_link_down(r->hosts, s, p, err);
	if (st)
		return st;
	r->live_to[(size_t)s << 8 | p] = FTR_SW_NONE;
	r->live_to[(size_t)x->peer << 8 | x->peer_port] = FTR_SW_NONE;
	r->n_down[s]++;
	r->n_down[x->peer]++;
	return FTR_OK;
}

static enum ftr_status take_event(struct ftr_ddlr *r, const struct ftr_hop *e, struct ftr_err *err)
{
	if (e->port)
		return link_down(r, e->sw, e->port, err);
	r->dead_sw[e->sw] = 1;
	for (unsigned int p = 1; p <= r->f->sw[e->sw].n_ports; p++) {
		enum ftr_status st = link_down(r, e->sw, (ftr_port)p, err);

		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status take_events(struct ftr_ddlr *r, const struct ftr_hop *ev,
				   uint32_t n, struct ftr_err *err)
{
	enum ftr_status st;

	for (uint32_t i = 0; i < n; i++) {
		st = refuse(r, &ev[i], err);
		if (st)
			return st;
	}
	for (uint32_t i = 0; i < n; i++) {
		st = take_event(r, &ev[i], err);
		if (st)
			return st;
	}
	return repair_broken(r, err);
}

enum ftr_status ftr_ddlr_events(struct ftr_ddlr *r, const struct ftr_hop *ev, uint32_t n,
				struct ftr_ddlr_plan *plan,
				struct ftr_err *err)
{
	enum ftr_status st;

	ddlr_begin_plan(r, plan);
	st = take_events(r, ev, n, err);
	ddlr_end_plan(r, st);
	return st;
}

/* ---- events by comparison ---------------------------------------------- */

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

/* Append to ev[] the events of switch s; returns the new number of events. */
static uint32_t compare_switch(const struct ftr_ddlr *r, const struct ftr_fabric *now,
			       ftr_sw s, struct ftr_hop *ev, uint32_t n)
{
	ftr_sw there = ftr_fabric_find_sw(now, r->f->sw[s].guid);

	if (there == FTR_SW_NONE) {
		ev[n++] = (struct ftr_hop){ s, 0 };
		return n;
	}
	for (unsigned int p = 1; p <= r->f->sw[s].n_ports; p++)
		if (ddlr_live(r, s, (ftr_port)p) && !has_link(r, now, there, s, p))
			ev[n++] = (struct ftr_hop){ s, (ftr_port)p };
	return n;
}

enum ftr_status ftr_ddlr_to(struct ftr_ddlr *r, const struct ftr_fabric *now,
			    struct ftr_ddlr_plan *plan,
			    struct ftr_err *err)
{
	struct ftr_hop *ev = ftr_calloc(r->f->n_ports + 1u, sizeof(*ev));
	uint32_t n = 0;
	enum ftr_status st;

	if (!ev)
		return ftr_nomem(err, "events");
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		n = compare_switch(r, now, s, ev, n);
	st = ftr_ddlr_events(r, ev, n, plan, err);
	free(ev);
	return st;
}

/* ---- new and free ------------------------------------------------------ */

static bool allocate(struct ftr_ddlr *r)
{
	struct ftr_arena *a = r->arena;
	const struct ftr_fabric *f = r->f;
	struct detour_search *x = &r->search;

	return FTR_NEW(a, r->live_to, (size_t)f->n_sw << 8) && FTR_ZNEW(a, r->n_down, f->n_sw) &&
	       FTR_ZNEW(a, r->dead_sw, f->n_sw) && FTR_ZNEW(a, r->has_hosts, f->n_sw) &&
	       FTR_ZNEW(a, r->of_lid, (size_t)f->max_lid + 1) &&
	       FTR_ZNEW(a, r->load, f->n_ports) && FTR_ZNEW(a, r->touched, f->n_sw) &&
	       FTR_ZNEW(a, r->first_write, (size_t)f->max_lid + 1) &&
	       FTR_ZNEW(a, x->lead, r->sh->tree.n_ranks) &&
	       FTR_ZNEW(a, r->step_of, f->n_sw) && FTR_ZNEW(a, r->avoid, f->n_sw) &&
	       FTR_ZNEW(a, x->carried, f->n_sw) && FTR_NEW(a, x->queue, f->n_sw) &&
	       FTR_NEW(a, x->from, f->n_sw) && FTR_NEW(a, x->by, f->n_sw) &&
	       FTR_ZNEW(a, x->seen, f->n_sw) && FTR_NEW(a, r->col, f->n_sw) && FTR_ZNEW(a, r->col_of, f->n_sw) &&
	       planes_new(r);
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
			     const struct ftr_cdg_opts *o,
			     struct ftr_err *err)
{
	struct ftr_cdg_opts hosts = *o;
	enum ftr_status st;

	hosts.switch_sources = false;
	if (!allocate(r))
		return ftr_nomem(err, "repairs of %u switches", r->f->n_sw);
	set_lids(r);
	set_neighbours(r);
	st = ftr_cdg_new(r->f, t, o, &r->g, err);
	if (!st && o->switch_sources)
		st = ftr_cdg_new(r->f, t, &hosts, &r->hosts, err);
	if (!st)
		r->now = ftr_cdg_tables(r->g);
	return st;
}

enum ftr_status ftr_ddlr_new(const struct ftr_shape *sh, const struct ftr_tables *t,
			     const struct ftr_cdg_opts *opts, bool host_paths_only,
			     struct ftr_ddlr **out, struct ftr_err *err)
{
	static const struct ftr_cdg_opts none = { 0 };
	struct ftr_ddlr *r = ftr_calloc(1, sizeof(*r));
	enum ftr_status st;

	if (!r || !(r->arena = ftr_arena_new())) {
		free(r);
		return ftr_nomem(err, "repairs");
	}
	r->sh = sh;
	r->f = sh->f;
	r->host_paths_only = host_paths_only;
	st = build(r, t, opts ? opts : &none, err);
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
