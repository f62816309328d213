// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes struct ftr_load of <ftr/load.h>: the data that are needed for every pattern, and the
 * all-to-all load.
 */
#include <stdlib.h>
#include <string.h>

#include "check/link_load.h"

static enum ftr_status refuse(const struct ftr_fabric *f,
			      const struct ftr_tables *t, struct ftr_order order,
			      struct ftr_err *err)
{
	enum ftr_status st = chk_same_size(f, t, err);
	const ftr_ep *ep = order.ep;
	uint32_t *place;

	if (st)
		return st;
	place = ftr_calloc((size_t)f->n_ep + 1, sizeof(*place));
	if (!place)
		return ftr_nomem(err, "an order of %u host ports", order.n);
	for (uint32_t i = 0; i < order.n; i++) {
		if (ep[i] == FTR_EP_NONE)
			continue;
		if (ep[i] >= f->n_ep)
			st = ftr_fail(err, FTR_INVAL, "place %u of the order names host port %u, but the fabric has %u host ports",
				      i, ep[i], f->n_ep);
		else if (place[ep[i]])
			st = ftr_fail(err, FTR_INVAL, "places %u and %u of the order name the same host port %u",
				      place[ep[i]] - 1, i, ep[i]);
		if (st)
			break;
		place[ep[i]] = i + 1;
	}
	free(place);
	return st;
}

struct flow_dest load_dest(const struct ftr_load *ld, ftr_ep e)
{
	const struct ftr_endport *p = &ld->f->ep[e];
	bool delivers = chk_is_source(p) && ftr_tables_get(ld->t, p->sw, p->lid) == p->sw_port;

	return (struct flow_dest){ ld->t->lft + p->lid, ld->t->stride,
				   delivers ? p->sw : FTR_SW_NONE };
}

static void add_place(struct ftr_load *ld, uint32_t i, ftr_ep e)
{
	uint32_t *of;

	if (e != FTR_EP_NONE && !chk_is_source(&ld->f->ep[e]))
		e = FTR_EP_NONE;
	ld->order[i] = e;
	ld->sw[i] = e == FTR_EP_NONE ? FTR_SW_NONE : ld->f->ep[e].sw;
	ld->dest_at[i] = FLOW_NONE;
	if (e == FTR_EP_NONE)
		return;
	ld->dest_at[i] = ld->n_filled;
	ld->dest[ld->n_filled] = load_dest(ld, e);
	ld->filled[ld->n_filled++] = i;
	of = &ld->source_of[ld->f->ep[e].sw];
	if (*of == FLOW_NONE) {
		*of = ld->n_sources++;
		ld->source[*of] = (struct flow_source){ .sw = ld->f->ep[e].sw };
	}
	ld->source[*of].hosts++;
}

static bool set_places(struct ftr_load *ld, const ftr_ep *order)
{
	struct ftr_arena *a = ld->arena;

	if (!FTR_NEW(a, ld->order, ld->n) || !FTR_NEW(a, ld->sw, ld->n) ||
	    !FTR_NEW(a, ld->filled, ld->n) ||
	    !FTR_NEW(a, ld->dest, ld->n) || !FTR_NEW(a, ld->dest_at, ld->n) ||
	    !FTR_NEW(a, ld->source, ld->f->n_sw) || !FTR_NEW(a, ld->source_of, ld->f->n_sw) ||
	    !FTR_NEW(a, ld->load, ld->f->n_ports))
		return false;
	memset(ld->source_of, 0xff, ld->f->n_sw * sizeof(*ld->source_of));
	for (uint32_t i = 0; i < ld->n; i++)
		add_place(ld, i, order[i]);
	return true;
}

/* A host port receives flows if its switch delivers them, and sends one to each destination that
 * its switch reaches.  Neither number includes the port itself. */
static void take_counts(struct ftr_load *ld, const struct flow_all *c)
{
	ld->arrived = c->arrived;
	ld->host_max = c->most ? c->most - 1 : 0;
	for (uint32_t i = 0; i < ld->n_filled; i++) {
		ftr_sw s = ld->f->ep[ld->order[ld->filled[i]]].sw;
		bool delivers = ld->dest[i].to != FTR_SW_NONE;

		ld->arrived -= delivers;
		ld->host_max = FTR_MAX(ld->host_max,
				       (uint64_t)c->reached[ld->source_of[s]] - delivers);
	}
	for (uint32_t x = 0; x < ld->f->n_ports; x++)
		ld->load[x] = c->flows[x];
}

static enum ftr_status count_all(struct ftr_load *ld, struct ftr_team *team, struct ftr_err *err)
{
	struct flow_all c = {
		.net = &ld->net, .source = ld->source, .n_sources = ld->n_sources,
		.dest = ld->dest, .n_dests = ld->n_filled, .whole = true,
		.flows = ftr_calloc((size_t)ld->f->n_ports + 1, sizeof(*c.flows)),
		.reached = ftr_calloc((size_t)ld->n_sources + 1, sizeof(*c.reached)),
	};
	enum ftr_status st = c.flows && c.reached ? flow_count_all(&c, team, err) :
		ftr_nomem(err, "the load of %u links", ld->net.n_rows);

	if (!st)
		take_counts(ld, &c);
	free(c.flows);
	free(c.reached);
	return st;
}

enum ftr_status ftr_load_new(const struct ftr_fabric *f,
			     const struct ftr_tables *t, struct ftr_order order,
			     struct ftr_team *team, struct ftr_load **out,
			     struct ftr_err *err)
{
	enum ftr_status st = refuse(f, t, order, err);
	struct ftr_arena *a = st ? NULL : ftr_arena_new();
	struct ftr_load *ld = a ? ftr_arena_zalloc(a, 1, sizeof(*ld)) : NULL;

	if (st)
		return st;
	if (ld)
		*ld = (struct ftr_load){ .f = f, .t = t, .arena = a, .n = order.n };
	if (!ld || !flow_net_new(a, f, &ld->net) || !set_places(ld, order.ep))
		st = ftr_nomem(err, "the paths to %u host ports", order.n);
	if (!st)
		st = count_all(ld, team, err);
	if (st)
		ftr_arena_free(a);
	else
		*out = ld;
	return st;
}

void ftr_load_free(struct ftr_load *ld)
{
	if (ld)
		ftr_arena_free(ld->arena);
}

void ftr_load_all(const struct ftr_load *ld, uint64_t *by_port,
		  struct ftr_load_report *out)
{
	struct ftr_load_report r = { .hosts = ld->n_filled, .patterns = 1 };

	r.flows = ld->n_filled ? (uint64_t)ld->n_filled * (ld->n_filled - 1) : 0;
	r.lost = r.flows - ld->arrived;
	r.host_max = ld->host_max;
	load_report_one(ld, ld->load, &r);
	if (out)
		*out = r;
	if (by_port)
		memcpy(by_port, ld->load, ld->f->n_ports * sizeof(*by_port));
}
