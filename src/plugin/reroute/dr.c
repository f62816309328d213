// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Directed routes.  One breadth-first search finds a tree with routes to all switches.
 *
 * A switch that must be avoided may be the last switch of a route: the search adds it to the
 * tree, but does not continue from it.
 */
#include <string.h>

#include "reroute/dr.h"

struct rr_dr_tree *rr_dr_tree_new(uint32_t n_sw)
{
	struct ftr_arena *a = ftr_arena_new();
	struct rr_dr_tree *t;

	if (a && FTR_ZNEW(a, t, 1) && FTR_ZNEW(a, t->parent, n_sw) &&
	    FTR_ZNEW(a, t->port, n_sw) && FTR_ZNEW(a, t->hops, n_sw) &&
	    FTR_ZNEW(a, t->queue, n_sw)) {
		t->arena = a;
		t->n_sw = n_sw;
		return t;
	}
	ftr_arena_free(a);
	return NULL;
}

void rr_dr_tree_free(struct rr_dr_tree *t)
{
	if (t)
		ftr_arena_free(t->arena);
}

static bool usable(const struct ftr_fabric *f, ftr_sw s, ftr_port p,
		   const uint64_t *dead)
{
	return ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_SW &&
		(!dead || !rr_bit_has(dead, f->sw[s].first_port + p));
}

void rr_dr_search(struct rr_dr_tree *t, const struct ftr_fabric *f,
		   const struct ftr_hop *from, const uint64_t *dead, const uint8_t *avoid)
{
	uint32_t head = 0, tail = 0;

	memset(t->parent, 0xff, t->n_sw * sizeof(*t->parent));
	t->from = *from;
	if (from->sw == FTR_SW_NONE)
		return;
	t->parent[from->sw] = from->sw;
	t->hops[from->sw] = 0;
	t->queue[tail++] = from->sw;
	while (head < tail && tail < t->n_sw) {
		ftr_sw s = t->queue[head++];

		if (s != from->sw && avoid && avoid[s])
			continue;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			ftr_sw r = ftr_fabric_port(f, s, (ftr_port)p)->peer;

			if (!usable(f, s, (ftr_port)p, dead) ||
			    t->parent[r] != FTR_SW_NONE)
				continue;
			t->parent[r] = s;
			t->port[r] = (ftr_port)p;
			t->hops[r] = (uint16_t)(t->hops[s] + 1);
			t->queue[tail++] = r;
		}
	}
}

bool rr_dr_route(const struct rr_dr_tree *t, ftr_sw s, struct rr_dr *out)
{
	uint32_t first = t->from.port ? 1 : 0;

	if (t->from.sw == FTR_SW_NONE || t->parent[s] == FTR_SW_NONE ||
	    t->hops[s] + first > RR_DR_HOPS_MAX)
		return false;
	memset(out, 0, sizeof(*out));
	out->hops = (uint8_t)(t->hops[s] + first);
	if (first)
		out->path[1] = t->from.port;
	for (uint32_t i = out->hops; s != t->from.sw; i--) {
		out->path[i] = t->port[s];
		s = t->parent[s];
	}
	return true;
}
