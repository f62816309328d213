// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The directed routes for requests to switches.  They avoid dead links, links that may be dead,
 * and switches that do not answer; or they are the reverse of the path of a trap.
 */
#include <string.h>

#include "reroute/reroute.h"

/* Set avoid[] for the switches on the route to s, which the search has reached, without the ends. */
static void mark_route(const struct rr_dr_tree *t, ftr_sw s, uint8_t *avoid)
{
	while (t->parent[s] != s) {
		s = t->parent[s];
		avoid[s] = s != t->from.sw;
	}
}

/* The first route comes from v->tree[0].  The second route avoids the links in `dead`, the silent
 * switches, and the switches of the first route. */
unsigned int rr_routes_around(struct rr_view *v, ftr_sw s,
				  const uint64_t *dead, struct rr_dr *out)
{
	const struct ftr_fabric *f = &v->fabric;
	bool first = rr_dr_route(v->tree[0], s, &out[0]);

	memcpy(v->avoid, v->silent, f->n_sw);
	if (first)
		mark_route(v->tree[0], s, v->avoid);
	rr_dr_search(v->tree[1], f, &v->origin, dead, v->avoid);
	if (!rr_dr_route(v->tree[1], s, &out[first]))
		return first;
	return first && memcmp(&out[0], &out[1], sizeof(out[0])) ? 2 : 1;
}

/* A trap follows the forwarding tables from s to the subnet manager; *out is the reverse route. */
bool rr_trap_route(const struct rr_view *v, ftr_sw s, struct rr_dr *out,
		       struct rr_link *hop)
{
	const struct ftr_fabric *f = &v->fabric;
	ftr_port back[RR_DR_HOPS_MAX];
	uint32_t n = 0, first = v->origin.port ? 1 : 0;

	hop->sw = FTR_SW_NONE;
	while (s != v->origin.sw) {
		ftr_port p = ftr_tables_row(v->sent, s)[v->sm_lid];
		const struct ftr_swport *port;

		if (n + first == RR_DR_HOPS_MAX || !ftr_incr_alive(v->incr, s, p))
			return false;
		port = ftr_fabric_port(f, s, p);
		if (!n)
			*hop = (struct rr_link){ port->peer, s, port->peer_port,
						 p, false };
		back[n++] = port->peer_port;
		s = port->peer;
	}
	memset(out, 0, sizeof(*out));
	out->hops = (uint8_t)(n + first);
	out->path[1] = v->origin.port;
	while (n)
		out->path[++first] = back[--n];
	return true;
}

unsigned int rr_routes_to(struct rr_view *v, ftr_sw s, struct rr_dr *out)
{
	return rr_routes_around(v, s, ftr_incr_dead(v->incr), out);
}

void rr_mark_link(const struct ftr_fabric *f, uint64_t *set, const struct rr_link *c)
{
	rr_bit_put(set, f->sw[c->sw].first_port + c->port);
	rr_bit_put(set, f->sw[c->peer].first_port + c->peer_port);
}

uint64_t *rr_dead_with(const struct rr_view *v, const struct rr_repair *r)
{
	const struct ftr_fabric *f = &v->fabric;
	size_t words = (f->n_ports + 63) / 64;
	uint64_t *dead = ftr_calloc(words, sizeof(*dead));

	if (!dead)
		return NULL;
	memcpy(dead, ftr_incr_dead(v->incr), words * sizeof(*dead));
	for (uint32_t i = 0; i < r->n_links; i++)
		if (!r->link[i].up)
			rr_mark_link(f, dead, &r->link[i]);
	return dead;
}

void rr_search_suspect(struct rr_view *v, const struct rr_link *ask,
			uint32_t n)
{
	const struct ftr_fabric *f = &v->fabric;

	memcpy(v->suspect, ftr_incr_dead(v->incr),
	       (f->n_ports + 63) / 64 * sizeof(*v->suspect));
	memset(v->avoid, 0, f->n_sw);
	for (uint32_t i = 0; i < n; i++)
		v->avoid[ask[i].sw] = 1;
	for (uint32_t i = 0; i < n; i++)
		if (v->avoid[ask[i].peer])
			rr_mark_link(f, v->suspect, &ask[i]);
	rr_dr_search(v->tree[0], f, &v->origin, v->suspect, v->silent);
}

void rr_search_around(struct rr_view *v, const uint8_t *silent)
{
	rr_dr_search(v->tree[0], &v->fabric, &v->origin, v->suspect, silent);
}
