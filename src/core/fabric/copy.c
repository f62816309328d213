// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies of a fabric without some of its nodes and links.
 *
 * The parts of a fabric are in order, and fit each other.  So a copy takes them over with new
 * indices, without the maps and the checks of the builder.
 */
#include <string.h>

#include "fabric/fabric.h"

#define DROPPED UINT32_MAX

struct copy {
	const struct ftr_fabric *f;
	const struct ftr_filter *filter;
	struct ftr_fabric *g;		/* the copy */
	/* arrays of the copy */
	struct ftr_switch *sw;
	struct ftr_endport *ep;
	struct ftr_swport *ports;
	struct ftr_lid_owner *owner;
	bool shared;		/* some names are shared in f */
	/* new index of each switch, host port and end node, or DROPPED */
	uint32_t *sw_of, *ep_of, *node_of;
};

static bool keep_sw(const struct copy *c, ftr_sw s)
{
	return !c->filter->keep_sw || c->filter->keep_sw(c->filter->ctx, c->f, s);
}

static bool keep_ep(const struct copy *c, ftr_ep e)
{
	return !c->filter->keep_ep || c->filter->keep_ep(c->filter->ctx, c->f, e);
}

static bool copy_switches(struct copy *c)
{
	const struct ftr_fabric *f = c->f;
	struct ftr_fabric *g = c->g;

	if (!FTR_NEW(g->arena, c->sw, f->n_sw))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		struct ftr_switch *to = &c->sw[g->n_sw];

		c->sw_of[s] = keep_sw(c, s) ? g->n_sw++ : DROPPED;
		if (c->sw_of[s] == DROPPED)
			continue;
		*to = f->sw[s];
		c->shared |= to->name_shared;
		to->holder = to->guid;
		to->first_port = g->n_ports;
		to->name_shared = false;
		to->name = ftr_arena_strndup(g->arena, f->sw[s].name, FTR_NAME_MAX);
		if (!to->name)
			return false;
		g->n_ports += to->n_ports + 1u;
	}
	g->sw = c->sw;
	g->ports = FTR_ZNEW(g->arena, c->ports, g->n_ports);
	return g->ports != NULL;
}

static bool copy_endports(struct copy *c)
{
	const struct ftr_fabric *f = c->f;
	struct ftr_fabric *g = c->g;

	if (!FTR_NEW(g->arena, c->ep, f->n_ep))
		return false;
	memset(c->node_of, 0xff, f->n_nodes * sizeof(*c->node_of));
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		struct ftr_endport *to = &c->ep[g->n_ep];
		uint32_t *node = &c->node_of[f->ep[e].node];

		c->ep_of[e] = keep_ep(c, e) ? g->n_ep++ : DROPPED;
		if (c->ep_of[e] == DROPPED)
			continue;
		if (*node == DROPPED)
			*node = g->n_nodes++;
		*to = f->ep[e];
		c->shared |= to->name_shared;
		to->node = *node;
		to->sw = FTR_SW_NONE;
		to->sw_port = 0;
		to->name_shared = false;
		to->name = ftr_arena_strndup(g->arena, f->ep[e].name, FTR_NAME_MAX);
		if (!to->name)
			return false;
	}
	g->ep = c->ep;
	return true;
}

/* ---- links ------------------------------------------------------------- */

/* Returns true if the copy has the link at port p of the kept switch s.  It is copied from its
 * lower end, or from the switch. */
static bool wanted(const struct copy *c, ftr_sw s, ftr_port p)
{
	const struct ftr_filter *k = c->filter;
	uint32_t peer = ftr_fabric_port(c->f, s, p)->peer;

	if (ftr_fabric_port(c->f, s, p)->peer_kind == FTR_PEER_EP)
		return c->ep_of[peer] != DROPPED &&
		       (!k->keep_ep_link || k->keep_ep_link(k->ctx, c->f, peer));
	return ftr_is_lower_end(c->f, s, p) && c->sw_of[peer] != DROPPED &&
	       (!k->keep_link || k->keep_link(k->ctx, c->f, s, p));
}

static struct ftr_swport *port_of(const struct copy *c, ftr_sw s, ftr_port p)
{
	return &c->ports[c->sw[c->sw_of[s]].first_port + p];
}

static void copy_link(struct copy *c, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *from = ftr_fabric_port(c->f, s, p);
	struct ftr_swport *to = port_of(c, s, p);

	*to = *from;
	if (from->peer_kind == FTR_PEER_EP) {
		to->peer = c->ep_of[from->peer];
		c->ep[to->peer].sw = c->sw_of[s];
		c->ep[to->peer].sw_port = p;
		return;
	}
	to->peer = c->sw_of[from->peer];
	to = port_of(c, from->peer, from->peer_port);
	*to = *ftr_fabric_port(c->f, from->peer, from->peer_port);
	to->peer = c->sw_of[s];
	c->g->n_sw_links++;
}

static void copy_links(struct copy *c)
{
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		for (unsigned int p = 1; c->sw_of[s] != DROPPED && p <= c->f->sw[s].n_ports; p++)
			if (wanted(c, s, (ftr_port)p))
				copy_link(c, s, (ftr_port)p);
}

/* ---- LIDs -------------------------------------------------------------- */

static uint32_t new_owner(const struct copy *c, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &c->f->owner[lid];

	return o->kind == FTR_OWNER_NONE ? DROPPED :
		(o->kind == FTR_OWNER_SW ? c->sw_of : c->ep_of)[o->idx];
}

static bool copy_lids(struct copy *c)
{
	if (!FTR_ZNEW(c->g->arena, c->owner, c->f->max_lid + 1u))
		return false;
	for (uint32_t lid = 1; lid <= c->f->max_lid; lid++)
		if (new_owner(c, (ftr_lid)lid) != DROPPED) {
			c->owner[lid] = c->f->owner[lid];
			c->owner[lid].idx = new_owner(c, (ftr_lid)lid);
		}
	c->g->max_lid = c->f->max_lid;
	c->g->owner = c->owner;
	return true;
}

/* ---- the whole copy ---------------------------------------------------- */

static bool copy_all(struct copy *c, struct ftr_arena *scratch)
{
	if (!FTR_NEW(scratch, c->sw_of, c->f->n_sw) || !FTR_NEW(scratch, c->ep_of, c->f->n_ep) ||
	    !FTR_NEW(scratch, c->node_of, c->f->n_nodes) ||
	    !copy_switches(c) || !copy_endports(c) || !copy_lids(c))
		return false;
	copy_links(c);
	return !c->shared || ftr_mark_shared_names(c->sw, c->g->n_sw, c->ep, c->g->n_ep);
}

enum ftr_status ftr_fabric_copy_if(const struct ftr_fabric *f,
				   const struct ftr_filter *filter,
				   struct ftr_fabric **out,
				   struct ftr_err *err)
{
	static const struct ftr_filter all = { 0 };
	struct copy c = { .f = f, .filter = filter ? filter : &all };
	struct ftr_arena *a = ftr_arena_new(), *scratch = ftr_arena_new();
	bool ok = a && scratch && FTR_ZNEW(a, c.g, 1);

	if (ok) {
		c.g->arena = a;
		ok = copy_all(&c, scratch);
	}
	ftr_arena_free(scratch);
	if (!ok) {
		ftr_arena_free(a);
		return ftr_nomem(err, "a copy of the fabric");
	}
	*out = c.g;
	return FTR_OK;
}
