// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links, sources and destinations of a shape.
 *
 * All-to-all traffic is that of every host to every other: channel adapters on
 * any switch, without Aggregation Nodes and routers.  Shifts are those of the
 * hosts that have a place in the order (FTR_CLASS_HOST); they stand next to each
 * other, leaf by leaf.
 */
#include <string.h>

#include "balance/balance.h"

static bool is_host(const struct ftr_fabric *f, ftr_ep e)
{
	const struct ftr_endport *p = &f->ep[e];

	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

static bool set_links(struct balance_net *net)
{
	net->n_links = net->f->n_ports;
	net->peer = ftr_arena_alloc(net->arena, net->n_links,
				    sizeof(*net->peer));
	if (!net->peer)
		return false;
	memset(net->peer, 0xff, net->n_links * sizeof(*net->peer));
	for (uint32_t x = 0; x < net->n_links; x++)
		if (net->f->ports[x].peer_kind == FTR_PEER_SW)
			net->peer[x] = net->f->ports[x].peer;
	return true;
}

static bool set_sources(struct balance_net *net)
{
	const struct ftr_fabric *f = net->f;
	uint32_t *hosts = ftr_arena_zalloc(net->arena, f->n_sw,
					   sizeof(*hosts));

	net->source = ftr_arena_zalloc(net->arena, f->n_sw,
				       sizeof(*net->source));
	net->source_of = ftr_arena_alloc(net->arena, f->n_sw,
					 sizeof(*net->source_of));
	if (!hosts || !net->source || !net->source_of)
		return false;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (is_host(f, e)) {
			hosts[f->ep[e].sw]++;
			net->n_hosts++;
		}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		net->source_of[s] = BALANCE_NONE;
		if (!hosts[s])
			continue;
		net->source_of[s] = net->n_sources;
		net->source[net->n_sources++] = (struct balance_source){
			.sw = s, .hosts = hosts[s],
		};
	}
	return true;
}

/* Base LIDs of hosts by column; positions in ascending (column, d), which is
 * ascending d. */
static bool set_dests(struct balance_net *net)
{
	const struct ftr_shape *sh = net->in->shape;
	uint32_t n = 0;

	net->dest = ftr_arena_alloc(net->arena, sh->n_dest,
				    sizeof(*net->dest));
	net->first = ftr_arena_alloc(net->arena, net->f->n_sw + 1u,
				     sizeof(*net->first));
	if (!net->dest || !net->first)
		return false;
	for (uint32_t l = 0; l < net->f->n_sw; l++) {
		uint32_t src = net->source_of[sh->col_sw[l]];

		net->first[l] = n;
		for (uint32_t i = sh->dest_first[l]; i < sh->dest_first[l + 1];
		     i++) {
			const struct ftr_dest *d = &sh->dest[i];
			const struct ftr_lid_owner *o = &net->f->owner[d->lid];
			struct balance_dest *to = &net->dest[n];

			if (o->kind != FTR_OWNER_EP || o->offset ||
			    !is_host(net->f, o->idx))
				continue;
			n++;
			to->lid = d->lid;
			to->pos = BALANCE_NONE;
			if (d->cls != FTR_CLASS_HOST)
				continue;
			to->pos = net->n_pos++;
			if (!net->source[src].n++)
				net->source[src].first = to->pos;
		}
	}
	net->first[net->f->n_sw] = n;
	return true;
}

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				struct balance_net **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct balance_net *net = a ? ftr_arena_zalloc(a, 1, sizeof(*net)) :
		NULL;

	if (net) {
		net->arena = a;
		net->in = in;
		net->f = in->shape->f;
	}
	if (!net || !set_links(net) || !set_sources(net) || !set_dests(net)) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	}
	*out = net;
	return FTR_OK;
}

void balance_net_free(struct balance_net *net)
{
	if (net)
		ftr_arena_free(net->arena);
}
