// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies of a fabric without some of its nodes and links.
 */
#include "fabric/fabric.h"

struct copy {
	const struct ftr_fabric *f;
	const struct ftr_filter *filter;
	struct ftr_builder *b;
	struct ftr_err *err;
};

static bool keep_sw(const struct copy *c, ftr_sw s)
{
	return !c->filter->keep_sw ||
	       c->filter->keep_sw(c->filter->ctx, c->f, s);
}

static bool keep_ep(const struct copy *c, ftr_ep e)
{
	return !c->filter->keep_ep ||
	       c->filter->keep_ep(c->filter->ctx, c->f, e);
}

static enum ftr_status copy_nodes(const struct copy *c)
{
	const struct ftr_fabric *f = c->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const struct ftr_switch *w = &f->sw[s];
		enum ftr_status st;

		if (!keep_sw(c, s))
			continue;
		st = ftr_builder_add_switch(c->b, w->guid, w->n_ports, w->lid,
					    w->lmc, w->name, c->err);
		if (st)
			return st;
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];
		enum ftr_status st;

		if (!keep_ep(c, e))
			continue;
		st = ftr_builder_add_endport(c->b, p->type, p->node_guid,
					     p->guid, p->port_num, p->lid,
					     p->lmc, p->name, c->err);
		if (st)
			return st;
	}
	return FTR_OK;
}

/* Returns true if the link at port p of s is to be added to the copy from this end.  A link between
 * switches is added from its lower end only. */
static bool wanted(const struct copy *c, ftr_sw s, ftr_port p)
{
	const struct ftr_filter *k = c->filter;
	uint32_t peer = ftr_fabric_port(c->f, s, p)->peer;

	if (ftr_fabric_port(c->f, s, p)->peer_kind == FTR_PEER_EP)
		return keep_ep(c, peer) &&
		       (!k->keep_ep_link || k->keep_ep_link(k->ctx, c->f, peer));
	return ftr_is_lower_end(c->f, s, p) && keep_sw(c, peer) &&
	       (!k->keep_link || k->keep_link(k->ctx, c->f, s, p));
}

static enum ftr_status copy_links(const struct copy *c)
{
	const struct ftr_fabric *f = c->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (!keep_sw(c, s))
			continue;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);
			struct ftr_end near = { f->sw[s].guid, (ftr_port)p };
			struct ftr_end far = { .port = port->peer_port };
			enum ftr_status st;

			if (!wanted(c, s, (ftr_port)p))
				continue;
			far.node_guid = port->peer_kind == FTR_PEER_EP ?
				f->ep[port->peer].node_guid :
				f->sw[port->peer].guid;
			st = ftr_builder_add_link(c->b, near, far, port->width,
						  port->speed, c->err);
			if (st)
				return st;
		}
	}
	return FTR_OK;
}

enum ftr_status ftr_fabric_copy_if(const struct ftr_fabric *f,
				   const struct ftr_filter *filter,
				   struct ftr_fabric **out,
				   struct ftr_err *err)
{
	static const struct ftr_filter all = { 0 };
	struct copy c = { f, filter ? filter : &all, ftr_builder_new(), err };
	enum ftr_status st;

	if (!c.b)
		return ftr_nomem(err, "a copy of the fabric");
	st = copy_nodes(&c);
	if (!st)
		st = copy_links(&c);
	if (!st)
		st = ftr_builder_freeze(c.b, out, err);
	if (st)
		ftr_builder_free(c.b);
	return st;
}
