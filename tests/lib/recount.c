// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdlib.h>

#include "base/base.h"
#include "lib/recount.h"

#define NO_PLACE UINT32_MAX

struct walk {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct recount *c;
	uint32_t *place;	/* [n_ep] position in the host order; NO_PLACE: none */
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		abort();
	return p;
}

static bool is_host(const struct ftr_endport *p)
{
	return p->type == FTR_NODE_CA && p->sw != FTR_SW_NONE && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

static void walk(struct walk *w, ftr_ep from, ftr_ep to)
{
	const struct ftr_endport *dst = &w->f->ep[to];
	ftr_sw s = w->f->ep[from].sw;
	uint32_t n = w->c->n_pos, k = NO_PLACE;

	if (w->place[from] != NO_PLACE && w->place[to] != NO_PLACE)
		k = (w->place[to] + n - w->place[from]) % n;
	for (uint32_t hops = 0; s != dst->sw; hops++) {
		ftr_port p = ftr_tables_get(w->t, s, dst->lid);
		const struct ftr_swport *port;
		uint32_t link;

		if (!p || p > w->f->sw[s].n_ports || hops > w->f->n_sw)
			break;
		port = ftr_fabric_port(w->f, s, p);
		if (port->peer_kind != FTR_PEER_SW)
			break;
		link = w->f->sw[s].first_port + p;
		w->c->flows[link]++;
		if (k != NO_PLACE)
			w->c->shift[(size_t)link * n + k]++;
		s = port->peer;
	}
	w->c->lost += s != dst->sw;
}

static void sum_up(struct recount *c)
{
	for (uint32_t x = 0; x < c->n_links; x++)
		c->max = FTR_MAX(c->max, c->flows[x]);
	for (uint32_t k = 1; k < c->n_pos; k++) {
		uint16_t most = 0;

		for (uint32_t x = 0; x < c->n_links; x++)
			most = FTR_MAX(most, c->shift[(size_t)x *
							      c->n_pos + k]);
		c->sum += most;
		c->worst = FTR_MAX(c->worst, most);
	}
}

struct recount *recount_new(const struct ftr_shape *sh,
			    const struct ftr_tables *t)
{
	const struct ftr_fabric *f = sh->f;
	struct recount *c = room(1, sizeof(*c));
	struct walk w = { f, t, c, room(f->n_ep, sizeof(*w.place)) };
	ftr_ep *order;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		w.place[e] = NO_PLACE;
	order = room(sh->numbering.n_places, sizeof(*order));
	ftr_shape_host_order(sh, order);
	for (uint32_t d = 0; d < sh->numbering.n_places; d++)
		if (order[d] != FTR_EP_NONE && is_host(&f->ep[order[d]]))
			w.place[order[d]] = c->n_pos++;
	free(order);
	c->n_links = f->n_ports;
	c->flows = room(c->n_links, sizeof(*c->flows));
	c->shift = room((size_t)c->n_links * c->n_pos, sizeof(*c->shift));
	for (ftr_ep a = 0; a < f->n_ep; a++) {
		if (!is_host(&f->ep[a]))
			continue;
		c->hosts++;
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (a != b && is_host(&f->ep[b]))
				walk(&w, a, b);
	}
	sum_up(c);
	free(w.place);
	return c;
}

void recount_free(struct recount *c)
{
	if (!c)
		return;
	free(c->flows);
	free(c->shift);
	free(c);
}
