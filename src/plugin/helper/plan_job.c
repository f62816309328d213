// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The requests to the planner of ddlr, and its plans (job.h).
 *
 *	shape	fabric, n_ranks:4, n_sw times rank:1 stub:1 n_up:4 n_down:4 n_equal:4 and its
 *		groups: remote:4 n:1, n ports; n_dest:4, n_dest times lid:2 class:1
 */
#include <stdlib.h>
#include <string.h>

#include "helper/job.h"

enum { PLAN_EVENTS, PLAN_TRANSITION };

/* ---- the shape ----------------------------------------------------------------- */

static void put_shape(struct ftr_out *o, const struct ftr_shape *sh)
{
	const struct ftr_shape_tree *t = &sh->tree;

	ftr_put_fabric(o, sh->f);
	ftr_put(o, t->n_ranks, 4);
	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const struct ftr_group *g = &t->groups[t->group_first[s]];

		ftr_put(o, t->rank[s], 1);
		ftr_put(o, t->stub[s], 1);
		ftr_put(o, t->n_up[s], 4);
		ftr_put(o, t->n_down[s], 4);
		ftr_put(o, t->n_equal[s], 4);
		for (uint32_t k = 0; k < ftr_shape_groups(sh, s); k++) {
			ftr_put(o, g[k].remote, 4);
			ftr_put(o, g[k].n, 1);
			ftr_put_bytes(o, &t->group_ports[g[k].first], g[k].n);
		}
	}
	ftr_put(o, sh->numbering.n_dest, 4);
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		ftr_put(o, sh->numbering.dest[i].lid, 2);
		ftr_put(o, sh->numbering.dest[i].cls, 1);
	}
}

/* The arrays of a shape that is read. */
struct parts {
	const struct ftr_fabric *f;
	uint8_t *rank, *stub;
	uint32_t *first, *n_up, *n_down, *n_equal;
	struct ftr_group *group;
	ftr_port *port;
	uint32_t n_groups, cap_groups, n_ports, cap_ports;
};

static bool get_group(struct ftr_in *in, struct parts *p, ftr_sw s)
{
	struct ftr_group g = { .remote = (ftr_sw)ftr_get(in, 4), .n = (uint32_t)ftr_get(in, 1) };

	in->bad |= g.remote >= p->f->n_sw || !FTR_GROW(p->group, p->n_groups, p->cap_groups);
	g.first = p->n_ports;
	for (uint32_t i = 0; i < g.n && !in->bad; i++) {
		ftr_port port = (ftr_port)ftr_get(in, 1);

		in->bad |= ftr_fabric_next(p->f, s, port) != g.remote ||
			!FTR_GROW(p->port, p->n_ports, p->cap_ports);
		if (!in->bad)
			p->port[p->n_ports++] = port;
	}
	if (!in->bad)
		p->group[p->n_groups++] = g;
	return !in->bad;
}

static void get_tree(struct ftr_in *in, struct parts *p, struct ftr_shape_tree *t)
{
	t->n_ranks = (uint32_t)ftr_get(in, 4);
	for (ftr_sw s = 0; s < p->f->n_sw && !in->bad; s++) {
		uint64_t n;

		p->rank[s] = (uint8_t)ftr_get(in, 1);
		in->bad |= p->rank[s] >= t->n_ranks;
		p->stub[s] = (uint8_t)ftr_get(in, 1);
		n = p->n_up[s] = (uint32_t)ftr_get(in, 4);
		n += p->n_down[s] = (uint32_t)ftr_get(in, 4);
		n += p->n_equal[s] = (uint32_t)ftr_get(in, 4);
		while (n && get_group(in, p, s))
			n--;
		p->first[s + 1] = p->n_groups;
	}
	t->rank = p->rank;
	t->stub = p->stub;
	t->n_up = p->n_up;
	t->n_down = p->n_down;
	t->n_equal = p->n_equal;
	t->group_first = p->first;
	t->groups = p->group;
	t->group_ports = p->port;
}

static void get_classes(struct ftr_in *in, struct ftr_shape *sh)
{
	struct ftr_dest *dest = NULL;
	uint32_t cap = 0;

	for (uint64_t left = ftr_get(in, 4); left && !in->bad; left--) {
		struct ftr_dest d = { .lid = (ftr_lid)ftr_get(in, 2) };

		d.cls = (uint8_t)ftr_get(in, 1);
		in->bad |= d.lid > sh->f->max_lid || d.cls >= FTR_N_CLASSES ||
			!FTR_GROW(dest, sh->numbering.n_dest, cap);
		if (!in->bad)
			dest[sh->numbering.n_dest++] = d;
	}
	sh->numbering.dest = dest;
}

static enum ftr_status get_shape(struct ftr_in *in, struct ftr_shape **out, struct ftr_err *err)
{
	struct ftr_shape *sh = get_room(in, 1, sizeof(*sh));
	struct ftr_fabric *f = NULL;
	enum ftr_status st = ftr_get_fabric(in, &f, err);
	struct parts p = { .f = f };

	if (st)
		return st;
	p.rank = get_room(in, f->n_sw, 1);
	p.stub = get_room(in, f->n_sw, 1);
	p.first = get_room(in, f->n_sw, sizeof(*p.first));
	p.n_up = get_room(in, f->n_sw, sizeof(*p.n_up));
	p.n_down = get_room(in, f->n_sw, sizeof(*p.n_down));
	p.n_equal = get_room(in, f->n_sw, sizeof(*p.n_equal));
	if (!in->bad) {
		sh->f = f;
		get_tree(in, &p, &sh->tree);
		get_classes(in, sh);
	}
	*out = sh;
	return in->bad ? ftr_in_damaged(in, err) : FTR_OK;
}

/* ---- the planner ------------------------------------------------------------------ */

void put_planner(struct ftr_out *o, const struct ftr_shape *sh, const struct ftr_tables *t,
		 const struct ftr_vl_pairs *pairs)
{
	put_shape(o, sh);
	ftr_put(o, t->stride, 4);
	ftr_put_bytes(o, t->lft, (size_t)t->n_sw * t->stride);
	ftr_put(o, pairs != NULL, 1);
	if (pairs)
		ftr_put_bytes(o, pairs, sizeof(*pairs));
}

enum ftr_status get_planner(struct ftr_in *in, struct ftr_ddlr **r, const struct ftr_fabric **f,
			    struct ftr_err *err)
{
	struct ftr_cdg_opts opts = { 0 };
	struct ftr_tables t = { .lft = NULL };
	struct ftr_vl_pairs pairs;
	const uint8_t *vl;
	struct ftr_sl2vl *m = NULL;
	struct ftr_shape *sh = NULL;
	enum ftr_status st = get_shape(in, &sh, err);

	if (!st) {
		/* the planner copies the rows; another copy would take long */
		t.n_sw = sh->f->n_sw;
		t.max_lid = sh->f->max_lid;
		t.stride = (uint32_t)ftr_get(in, 4);
		t.lft = (uint8_t *)(uintptr_t)ftr_get_bytes(in, (size_t)t.n_sw * t.stride);
	}
	opts.switch_sources = ftr_get(in, 1);
	vl = opts.switch_sources ? ftr_get_bytes(in, sizeof(pairs)) : NULL;
	if (vl)
		memcpy(&pairs, vl, sizeof(pairs));
	if (!st && (in->bad || in->at != in->end))
		st = ftr_in_damaged(in, err);
	if (!st && opts.switch_sources)
		st = ftr_ddlr_sl2vl(sh, &pairs, &m, err);
	opts.sl2vl = m;
	if (!st)
		st = ftr_ddlr_new(sh, &t, &opts, true, r, err);	/* only repairs read `true` */
	if (!st)
		*f = sh->f;
	return ftr_in_end(in, st, err);
}

/* ---- plans ------------------------------------------------------------------------ */

void put_events(struct ftr_out *o, const struct ftr_hop *ev, uint32_t n)
{
	ftr_put(o, PLAN_EVENTS, 1);
	ftr_put(o, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		ftr_put(o, ev[i].sw, 4);
		ftr_put(o, ev[i].port, 1);
	}
}

void put_transition(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_tables *t,
		    bool drained, unsigned int order_ms)
{
	ftr_put(o, PLAN_TRANSITION, 1);
	ftr_put(o, drained, 1);
	ftr_put(o, order_ms, 4);
	ftr_put_tables(o, f, t);
}

static enum ftr_status get_events(struct ftr_in *in, struct ftr_hop **ev, uint32_t *n,
				  struct ftr_err *err)
{
	uint32_t cap = 0;

	for (uint64_t left = ftr_get(in, 4); left && !in->bad; left--) {
		if (!FTR_GROW(*ev, *n, cap))
			return ftr_nomem(err, "%s", in->name);
		(*ev)[*n].sw = (ftr_sw)ftr_get(in, 4);
		(*ev)[(*n)++].port = (ftr_port)ftr_get(in, 1);
	}
	return FTR_OK;
}

enum ftr_status get_plan_job(struct ftr_in *in, struct ftr_ddlr *r, const struct ftr_fabric *f,
			     struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	bool transition = ftr_get(in, 1) == PLAN_TRANSITION, drained = transition && ftr_get(in, 1);
	unsigned int order_ms = transition ? (unsigned int)ftr_get(in, 4) : 0;
	struct ftr_tables *t = NULL;
	struct ftr_hop *ev = NULL;
	uint32_t n = 0;
	enum ftr_status st = transition ? ftr_get_tables(in, f, &t, err) :
		get_events(in, &ev, &n, err);

	st = ftr_in_end(in, st, err);
	if (!st && drained)
		ftr_ddlr_drained(r);
	if (!st)
		st = order_ms ? ftr_ddlr_order(r, t, order_ms, plan, err) :
			transition ? ftr_ddlr_transition(r, f, t, plan, err) :
			ftr_ddlr_events(r, ev, n, plan, err);
	ftr_tables_free(t);
	free(ev);
	return st;
}

void put_plan(struct ftr_out *o, const struct ftr_ddlr_plan *plan)
{
	ftr_put(o, plan->unrepaired, 8);
	ftr_put(o, plan->n_switches, 4);
	ftr_put(o, plan->held, 4);
	ftr_put(o, plan->done, 1);
	ftr_put(o, plan->n, 4);
	for (uint32_t i = 0; i < plan->n; i++) {
		ftr_put(o, plan->write[i].step, 2);
		ftr_put(o, plan->write[i].sw, 4);
		ftr_put(o, plan->write[i].lid, 2);
		ftr_put(o, plan->write[i].after, 1);
	}
}

static bool is_write(const struct ftr_fabric *f, const struct ftr_change *w,
		     const struct ftr_change *last)
{
	if (!(w->step % FTR_DDLR_STEPS) || w->sw >= f->n_sw || !w->lid || w->lid > f->max_lid)
		return false;
	if (w->after != FTR_PORT_NONE &&
	    (f->owner[w->lid].kind == FTR_OWNER_NONE || w->after > f->sw[w->sw].n_ports ||
	     (w->after && ftr_fabric_port(f, w->sw, w->after)->peer_kind == FTR_PEER_NONE)))
		return false;
	return !last || (FTR_ORDER(last->step, w->step) ?: FTR_ORDER(last->sw, w->sw) ?:
			 FTR_ORDER(last->lid, w->lid)) < 0;
}

enum ftr_status get_plan(struct ftr_in *in, const struct ftr_fabric *f,
			 struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;
	uint32_t cap = 0;

	*plan = (struct ftr_ddlr_plan){ .unrepaired = ftr_get(in, 8) };
	plan->n_switches = (uint32_t)ftr_get(in, 4);
	plan->held = (uint32_t)ftr_get(in, 4);
	plan->done = ftr_get(in, 1);
	for (uint64_t left = ftr_get(in, 4); left; left--) {
		struct ftr_change w = { .step = (uint16_t)ftr_get(in, 2) };

		w.sw = (ftr_sw)ftr_get(in, 4);
		w.lid = (ftr_lid)ftr_get(in, 2);
		w.after = (ftr_port)ftr_get(in, 1);
		if (!in->bad && !is_write(f, &w, plan->n ? &plan->write[plan->n - 1] : NULL))
			st = ftr_fail(err, FTR_PARSE, "write %u of its plan is impossible: switch=%u lid=%u port=%u step=%u",
				      plan->n + 1, w.sw, w.lid, w.after, w.step);
		else if (!FTR_GROW(plan->write, plan->n, cap))
			st = ftr_nomem(err, "a plan");
		if (st || in->bad)
			break;
		plan->write[plan->n++] = w;
		plan->n_steps = w.step;
	}
	st = ftr_in_end(in, st, err);
	if (st)
		ftr_ddlr_plan_fini(plan);
	return st;
}
