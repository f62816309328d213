// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fills the channel dependency graph, LID by LID.
 *
 * The graph has an edge from link a to link b if a packet may hold a and wait for b.  If the graph
 * has no cycle, routing is free of deadlocks.  For deterministic tables the converse is true as
 * well (Dally and Seitz 1987).
 *
 * A packet at switch s waits for one link only: the link to which the entry of s for the packet's
 * LID leads.  So the entries of the switches on the paths to a LID determine all dependencies of
 * this LID.  Each path is followed from its source until it reaches a switch that an earlier path
 * visited.  This takes O(n_sw) per LID.  A path that does not arrive has dependencies up to its
 * end, because its packets hold links until they are dropped.  A forwarding loop is a cycle in the
 * graph.
 *
 * All workers set bits in the same graph, by atomic OR.  So the order of the workers does not
 * change the result.
 *
 * This file also tests whether the paths agree with the claims of the engine (check.h).  If only
 * ranks are claimed, every hop must lead up or down, and no hop up may follow a hop down.  If turns
 * are claimed too, chk_legal() in claims.h must permit every turn.
 *
 * If VLs are checked, this file only tests the claims, and vl_cdg.c fills the graph.
 */
#include <string.h>

#include "check/claims.h"

/* Add the dependency of the hop x -> s on the hop that follows it. Test both against the claims. */
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
