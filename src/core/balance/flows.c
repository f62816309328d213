// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The all-to-all flows on every link (counted by src/core/check/flow_count.c).
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

/* Count the flows inside the rails in l->rail, by one rail after the other.  c: all flows. */
static enum ftr_status count_rails(struct balance_loads *l, const struct flow_all *all,
				   struct ftr_team *team, struct ftr_err *err)
{
	const struct ftr_shape_numbering *u = &l->net->in->shape->numbering;
	struct ftr_arena *a = ftr_arena_new();
	struct flow_source *source = NULL;
	struct flow_dest *dest = NULL;
	struct flow_all c = *all;
	enum ftr_status st = a && FTR_NEW(a, source, all->n_sources) &&
		FTR_NEW(a, dest, all->n_dests) && FTR_NEW(a, c.flows, l->net->n_links) ? FTR_OK :
		ftr_nomem(err, "counting flows");

	memset(l->rail, 0, l->net->n_links * sizeof(*l->rail));
	for (uint32_t r = 1; r <= u->n_rails; r++) {
		if (st)
			break;
		c.n_sources = c.n_dests = 0;
		for (uint32_t i = 0; i < all->n_sources; i++)
			if (u->rail[all->source[i].sw] == r)
				source[c.n_sources++] = all->source[i];
		for (uint32_t i = 0; i < all->n_dests; i++)
			if (u->rail[all->dest[i].to] == r)
				dest[c.n_dests++] = all->dest[i];
		c.source = source;
		c.dest = dest;
		st = flow_count_all(&c, team, err);
		for (uint32_t x = 0; x < l->net->n_links; x++)
			l->rail[x] += st ? 0 : c.flows[x];
	}
	ftr_arena_free(a);
	return st;
}

enum ftr_status balance_count_flows(struct balance_loads *l, const struct ftr_tables *t,
				    const struct flow_dest *copy, struct ftr_team *team,
				    bool *loop, struct ftr_err *err)
{
	const struct balance_net *net = l->net;
	struct flow_dest *dest = copy ? NULL : ftr_calloc(net->n_dests + 1u, sizeof(*dest));
	struct flow_all c = {
		.net = &net->links, .source = net->source, .n_sources = net->n_sources,
		.dest = copy ? copy : dest, .n_dests = net->n_dests, .flows = l->flows,
	};
	enum ftr_status st;

	if (!c.dest)
		return ftr_nomem(err, "counting flows");
	for (uint32_t d = 0; !copy && d < net->n_dests; d++)
		dest[d] = (struct flow_dest){
			t->lft + net->dest[d].lid, t->stride, balance_switch(net, d),
		};
	st = flow_count_all(&c, team, err);
	if (!st && l->rail && !c.loop)
		st = count_rails(l, &c, team, err);
	free(dest);
	*loop = c.loop;
	return st;
}

enum ftr_status balance_loads_new(const struct balance_net *net, struct balance_loads *out,
				  struct ftr_err *err)
{
	*out = (struct balance_loads){ .net = net };
	out->flows = ftr_calloc(net->n_links + 1u, sizeof(*out->flows));
	if (net->rail_weight)
		out->rail = ftr_calloc(net->n_links + 1u, sizeof(*out->rail));
	return out->flows && (out->rail || !net->rail_weight) ? FTR_OK :
		ftr_nomem(err, "counting flows");
}

void balance_loads_free(struct balance_loads *l)
{
	free(l->flows);
	free(l->rail);
	balance_bins_free(l);
}

/* True if no flow comes to u from another switch: paths go up and then down, and u has no path
 * down, and no switch below. */
static bool is_lowest(const struct balance_behind *z, ftr_sw u)
{
	const struct ftr_balance_input *in = z->net->in;

	return !in->extra && !in->use_full && !in->shape->tree.n_down[u] &&
		z->costs.down[u * z->costs.stride] == FTR_COST_INF;
}

void balance_behind(struct balance_behind *z, ftr_sw s)
{
	const struct balance_net *net = z->net;

	z->n = z->hosts = z->rail = 0;
	z->sw[0] = s;
	z->n_sw = 1;
	for (uint32_t i = 0; i < z->n_sw; i++) {
		ftr_sw u = z->sw[i];
		const struct ftr_swport *x = ftr_fabric_port(net->f, u, 1);
		const struct ftr_swport *end = is_lowest(z, u) ? x : x + net->f->sw[u].n_ports;
		uint32_t src = net->source_of[u];

		if (src != BALANCE_NONE) {
			z->hosts += net->source[src].hosts;
			z->rail += balance_rail(net, &net->source[src], z->of.to);
			z->source[z->n++] = (uint16_t)src;
		}
		for (; x < end; x++)
			if (x->peer_kind == FTR_PEER_SW && x->peer != z->of.to &&
			    z->of.entry[x->peer * z->of.stride] == x->peer_port && x->peer != s &&
			    !(z->stop && z->stop[x->peer]))
				z->sw[z->n_sw++] = x->peer;
	}
}

uint32_t balance_most(const struct balance_loads *l, const uint32_t *flows)
{
	uint32_t most = 0;

	for (uint32_t x = 0; x < l->net->n_links; x++)
		if (l->net->links.peer[x] != FTR_SW_NONE)
			most = FTR_MAX(most, flows[x]);
	return most;
}
