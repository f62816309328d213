// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the union of a nominal fabric (all switches and links seen so far) and the present fabric.
 *
 * The union has all parts of the present fabric, except LIDs and host ports without a link.  It
 * also keeps those parts of the nominal fabric that the present fabric lacks, with these
 * exceptions:
 *
 *  - A nominal link is dropped if one of its two ports now has another link.  It is also dropped if
 *    a switch at one of its ends is present, but no longer has this port.
 *  - A nominal host port is dropped, with its link, if it is now connected to another switch port,
 *    or if another node is now connected to its nominal switch port.
 *  - A nominal switch that is missing now is dropped if an end node has its GUID now, or if more
 *    than half of its links are dropped.  (If all links had to be dropped, a single remaining link
 *    would keep the switch forever.)
 *
 * A switch that replaces another one gets the GUID of its place, that is, of the first switch at
 * this position.  So the order of switches by GUID does not change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "shape/unite.h"

struct unite {
	const struct cover *c;
	const struct ftr_fabric *f, *n;
	struct ftr_nominal_change *change;
	struct ftr_builder *b;
	struct ftr_err *err;
	ftr_sw *sw;		/* sw[t]: switch of f that is switch t of n, or FTR_SW_NONE */
	ftr_ep *ep;		/* ep[e]: host port of f that is host port e of n, or FTR_EP_NONE */
	ftr_ep *by_node;	/* [f->n_ep] host ports of f, sorted by (node GUID, port) */
	uint8_t *removed;	/* removed[t] is 1 if the union drops switch t of n */
};

/* ---- state of the fabric ------------------------------------------------ */

static int node_cmp(const void *x, const void *y, void *ctx)
{
	const struct ftr_fabric *f = ctx;
	const struct ftr_endport *a = &f->ep[*(const ftr_ep *)x];
	const struct ftr_endport *b = &f->ep[*(const ftr_ep *)y];

	return FTR_ORDER(a->node_guid, b->node_guid) ?: FTR_ORDER(a->port_num, b->port_num);
}

static bool is_before(const struct ftr_endport *e, uint64_t node, ftr_port port)
{
	return e->node_guid != node ? e->node_guid < node : e->port_num < port;
}

/* Returns true if port `port` of a node has a link in the present fabric.  port 0: any port. */
static bool has_end(const struct unite *u, uint64_t node, ftr_port port)
{
	uint32_t i;

	FTR_LOWER_BOUND(i, u->f->n_ep,
			is_before(&u->f->ep[u->by_node[i]], node, port));
	for (; i < u->f->n_ep; i++) {
		const struct ftr_endport *e = &u->f->ep[u->by_node[i]];

		if (e->node_guid != node || (port && e->port_num != port))
			return false;
		if (e->sw != FTR_SW_NONE)
			return true;
	}
	return false;
}

/* The present state of a port of a nominal switch.  AT_NOTHING: the port has no link, or the switch
 * is missing.  AT_NO_PORT: the switch is present, but does not have this port. */
enum at { AT_NOTHING, AT_LINK, AT_NO_PORT };

static enum at state_of(const struct unite *u, ftr_sw t, unsigned int p)
{
	ftr_sw s = u->sw[t];

	if (s == FTR_SW_NONE)
		return AT_NOTHING;
	if (p > u->f->sw[s].n_ports)
		return AT_NO_PORT;
	return ftr_fabric_port(u->f, s, p)->peer_kind ==
		FTR_PEER_NONE ? AT_NOTHING : AT_LINK;
}

/* Returns true if port p of t has its nominal link in the present fabric. */
static bool same_there(const struct unite *u, ftr_sw t, unsigned int p)
{
	const struct ftr_swport *a = ftr_fabric_port(u->f, u->sw[t], p);
	const struct ftr_swport *b = ftr_fabric_port(u->n, t, p);

	if (a->peer_kind != b->peer_kind || a->peer_port != b->peer_port)
		return false;
	return a->peer == (b->peer_kind == FTR_PEER_SW ? u->sw[b->peer] :
			   u->ep[b->peer]);
}

/* The fate of a part of the nominal fabric.  IN_FABRIC: the present fabric has the part.  KEEP:
 * the present fabric lacks the part, and the union keeps it.  CONTRADICTED: the present fabric
 * lacks the part, and the union drops it. */
enum fate { IN_FABRIC, KEEP, CONTRADICTED };

/* The fate of the nominal link between switches at port p of t. */
static enum fate link_fate(const struct unite *u, ftr_sw t, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(u->n, t, p);
	enum at near = state_of(u, t, p);
	enum at far = state_of(u, port->peer, port->peer_port);

	if (near == AT_NOTHING && far == AT_NOTHING)
		return KEEP;
	return near == AT_LINK && same_there(u, t, p) ? IN_FABRIC : CONTRADICTED;
}

/* The fate of the nominal host port e and of its link.  e must have a nominal link. */
static enum fate ep_fate(const struct unite *u, ftr_ep e)
{
	const struct ftr_endport *p = &u->n->ep[e];
	enum at far = state_of(u, p->sw, p->sw_port);

	if (u->ep[e] != FTR_EP_NONE && u->f->ep[u->ep[e]].sw != FTR_SW_NONE)
		return far == AT_LINK && same_there(u, p->sw, p->sw_port) ?
			IN_FABRIC : CONTRADICTED;
	if (far != AT_NOTHING || has_end(u, p->node_guid, p->port_num) ||
	    ftr_fabric_find_sw(u->f, p->node_guid) != FTR_SW_NONE)
		return CONTRADICTED;
	return KEEP;
}

/* ---- the fabric -------------------------------------------------------- */

/* The GUID of switch s in the union. */
static uint64_t place(const struct unite *u, ftr_sw s)
{
	return u->n && u->c->sw[s] != FTR_SW_NONE ?
		u->n->sw[u->c->sw[s]].guid : u->f->sw[s].guid;
}

/* Add host port p, and its link to the switch with the GUID place_guid. */
static enum ftr_status add_end(const struct unite *u, const struct ftr_endport *p,
			       uint64_t place_guid)
{
	const struct ftr_end near = { p->node_guid, p->port_num };
	const struct ftr_end far = { place_guid, p->sw_port };
	enum ftr_status st = ftr_builder_add_endport(u->b, p, u->err);

	return st ? st : ftr_builder_add_link(u->b, near, far, 0, FTR_SPEED_UNKNOWN,
					      u->err);
}

static enum ftr_status add_link(const struct unite *u,
				const struct ftr_fabric *f, ftr_sw s,
				unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);
	const bool now = f == u->f;
	const struct ftr_end near = {
		now ? place(u, s) : f->sw[s].guid, (ftr_port)p
	};
	const struct ftr_end far = {
		now ? place(u, port->peer) : f->sw[port->peer].guid,
		port->peer_port
	};

	return ftr_builder_add_link(u->b, near, far, 0, FTR_SPEED_UNKNOWN,
				    u->err);
}

/* Add switch s of the present fabric, and the links between switches that it reports.  If its LMC or name is unknown, take that of the nominal
 * fabric. */
static enum ftr_status add_switch(const struct unite *u, ftr_sw s)
{
	struct ftr_switch w = u->f->sw[s];
	const struct ftr_switch *old;
	enum ftr_status st;

	if (u->n && u->c->sw[s] != FTR_SW_NONE) {
		old = &u->n->sw[u->c->sw[s]];
		w.name = *w.name ? w.name : old->name;
		w.lmc = w.lid ? w.lmc : old->lmc;
	}
	w.guid = place(u, s);
	w.lid = 0;
	st = ftr_builder_add_switch(u->b, &w, u->err);
	for (unsigned int p = 1; p <= w.n_ports; p++) {
		if (st)
			return st;
		if (cover_reported_here(u->f, s, p))
			st = add_link(u, u->f, s, p);
	}
	return st;
}

static enum ftr_status add_ep(const struct unite *u, ftr_ep e)
{
	struct ftr_endport p = u->f->ep[e];
	const struct ftr_endport *old;

	if (p.sw == FTR_SW_NONE)
		return FTR_OK;
	if (u->n && u->c->ep[e] != FTR_EP_NONE) {
		old = &u->n->ep[u->c->ep[e]];
		p.name = *p.name ? p.name : old->name;
		p.lmc = p.lid ? p.lmc : old->lmc;
	}
	p.lid = 0;
	return add_end(u, &p, place(u, p.sw));
}

static enum ftr_status add_fabric(const struct unite *u)
{
	const struct ftr_fabric *f = u->f;
	enum ftr_status st;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		st = add_switch(u, s);
		if (st)
			return st;
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		st = add_ep(u, e);
		if (st)
			return st;
	}
	return FTR_OK;
}

/* ---- kept from the nominal fabric ---------------------------------------- */

/* Returns true if the union drops the nominal switch t, which the present fabric lacks. */
static bool is_contradicted(const struct unite *u, ftr_sw t)
{
	uint32_t kept = 0, lost = 0;

	if (has_end(u, u->n->sw[t].guid, 0))
		return true;
	for (unsigned int p = 1; p <= u->n->sw[t].n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(u->n, t, p);
		enum fate fate;

		if (port->peer_kind == FTR_PEER_NONE)
			continue;
		fate = port->peer_kind == FTR_PEER_SW ? link_fate(u, t, p) :
			ep_fate(u, port->peer);
		kept += fate == KEEP;
		lost += fate == CONTRADICTED;
	}
	return lost > kept;
}

static enum ftr_status keep_switches(const struct unite *u)
{
	for (ftr_sw t = 0; t < u->n->n_sw; t++) {
		enum ftr_status st;

		if (u->sw[t] != FTR_SW_NONE)
			continue;
		u->removed[t] = is_contradicted(u, t);
		u->change->dropped_sw += u->removed[t];
		st = u->removed[t] ? FTR_OK :
			ftr_builder_add_switch(u->b, &u->n->sw[t], u->err);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status keep_endports(const struct unite *u)
{
	for (ftr_ep e = 0; e < u->n->n_ep; e++) {
		const struct ftr_endport *p = &u->n->ep[e];
		enum ftr_status st = FTR_OK;
		enum fate fate;

		if (p->sw == FTR_SW_NONE)
			continue;
		fate = ep_fate(u, e);
		if (fate == KEEP && !u->removed[p->sw])
			st = add_end(u, p, u->n->sw[p->sw].guid);
		else if (fate != IN_FABRIC)
			u->change->dropped_hosts++;
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status keep_links(const struct unite *u, ftr_sw t)
{
	const struct ftr_fabric *n = u->n;

	for (unsigned int p = 1; p <= n->sw[t].n_ports; p++) {
		enum ftr_status st = FTR_OK;
		enum fate fate;

		if (!cover_reported_here(n, t, p))
			continue;
		fate = link_fate(u, t, p);
		if (fate == KEEP && !u->removed[t] &&
		    !u->removed[ftr_fabric_port(n, t, p)->peer])
			st = add_link(u, n, t, p);
		else if (fate != IN_FABRIC)
			u->change->dropped_links++;
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status keep_nominal(struct unite *u, struct ftr_arena *a)
{
	const struct ftr_fabric *f = u->f, *n = u->n;
	enum ftr_status st;

	if (!FTR_NEW(a, u->sw, n->n_sw) || !FTR_NEW(a, u->ep, n->n_ep) ||
	    !FTR_NEW(a, u->by_node, f->n_ep) || !FTR_ZNEW(a, u->removed, n->n_sw))
		return ftr_nomem(u->err, "a nominal fabric");
	memset(u->sw, 0xff, n->n_sw * sizeof(*u->sw));
	memset(u->ep, 0xff, n->n_ep * sizeof(*u->ep));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (u->c->sw[s] != FTR_SW_NONE)
			u->sw[u->c->sw[s]] = s;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		u->by_node[e] = e;
		if (u->c->ep[e] != FTR_EP_NONE)
			u->ep[u->c->ep[e]] = e;
	}
	qsort_r(u->by_node, f->n_ep, sizeof(*u->by_node), node_cmp,
		(void *)(uintptr_t)f);
	st = keep_switches(u);
	if (!st)
		st = keep_endports(u);
	for (ftr_sw t = 0; t < n->n_sw; t++) {
		if (st)
			return st;
		st = keep_links(u, t);
	}
	return st;
}

enum ftr_status unite(const struct cover *c, struct ftr_arena *scratch,
		      struct ftr_nominal_change *change,
		      struct ftr_fabric **out, struct ftr_err *err)
{
	struct unite u = {
		.c = c, .f = c->f, .n = c->n, .change = change,
		.b = ftr_builder_new(), .err = err,
	};
	enum ftr_status st;

	if (!u.b)
		return ftr_nomem(err, "a nominal fabric");
	st = add_fabric(&u);
	if (!st && u.n)
		st = keep_nominal(&u, scratch);
	if (!st)
		st = ftr_builder_freeze(u.b, out, err);
	if (st)
		ftr_builder_free(u.b);
	return st;
}
