// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The channel dependency graph, filled LID by LID.
 *
 * The graph has an edge from link a to link b if a packet may hold a and wait for b.  If the graph
 * has no cycle, routing is free of deadlocks.  For deterministic tables the converse is true as
 * well (Dally and Seitz 1987).
 *
 * A packet at switch s waits for one link only: the next hop of s for its LID.  So for one LID it
 * is enough to know which switches are on a path from a source.  Each path is followed until it
 * reaches a switch of an earlier path: O(n_sw) per LID.  A path that does not arrive has
 * dependencies up to its end, because its packets hold links until they are dropped.  A forwarding
 * loop is a cycle of the graph.
 *
 * All workers set bits in the same graph, by atomic OR.  The result does not depend on the order
 * of the workers.
 *
 * The proof by ranks is tested along the same paths.  Without claimed turns, every hop must lead
 * up or down, and no hop up may follow a hop down.  With claimed turns, each turn must be
 * up-then-down or claimed (chk_legal() in claims.h).
 *
 * If VLs are checked, this file only tests the proof by ranks, and vl_cdg.c fills the graph.
 */
#include <string.h>

#include "check/claims.h"

/* Add the dependency between hop x -> s and the next hop of s. Test the proof by ranks for both
 * hops. */
static void add_hop(const struct chk *c, struct chk_part *w, ftr_sw x, ftr_sw s)
{
	const uint8_t *rank = c->rank;
	uint32_t y = w->nxt[s];

	if (rank && !c->claims && rank[x] == rank[s])
		w->unproved = true;
	if (y >= c->f->n_sw)
		return;
	if (c->claims ? !chk_legal(c->claims, x, s, y) :
	    rank && rank[s] < rank[x] && rank[y] > rank[s])
		w->unproved = true;
	if (!c->vls)
		chk_set_dep(c, s, ftr_fabric_port(c->f, x, w->col[x])->peer_port,
			    0, w->col[s], 0);
}

void chk_cdg_add(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	const uint32_t n = c->f->n_sw;

	memset(w->mark, 0, n);
	for (ftr_sw first = 0; first < n; first++) {
		uint32_t x = c->source[first] ? first : n;

		while (x < n && !w->mark[x]) {
			w->mark[x] = 1;
			if (w->nxt[x] < n)
				add_hop(c, w, x, w->nxt[x]);
			x = w->nxt[x];
		}
	}
	if (c->vls)
		chk_vls_add(c, w, lid);
	c->in_cdg[lid] = 1;
}
