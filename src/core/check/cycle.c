// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Searches for a cycle in the dependency graph.
 *
 * A vertex without a predecessor or without a successor is on no cycle.  Such vertices are removed
 * repeatedly; this is called peeling.  If nothing is left, the graph is acyclic (Kahn 1962).
 * Otherwise every remaining vertex has a remaining successor.  A walk from successor to successor
 * must visit some vertex twice.  The part of the walk between the two visits is a cycle.
 *
 * A shortest cycle is found as follows.  A breadth-first search starts at the remaining vertex
 * with the lowest number.  It looks for a path back to this vertex that is shorter than the best
 * cycle so far.  Then the vertex is removed, because all cycles through it have been examined, and
 * the graph is peeled again.  This is repeated with the next vertex.  At the end the cycle is
 * rotated so that the channel with the lowest number comes first.
 *
 * Peeling is O(vertices + edges).  The search is O(vertices * edges) at worst.  It is usually much
 * faster, because it does not follow paths that are longer than the best cycle so far.  After
 * BUDGET visited edges, no further breadth-first search begins, and the best cycle so far is the
 * result.  All of this runs in one thread.
 */
#include <string.h>

#include "check/check.h"

#define BUDGET (UINT64_C(1) << 27)	/* number of visited edges after which no breadth-first
					 * search begins */

struct search {
	const struct chk *c;
	uint32_t n;		/* number of vertices */
	uint32_t *in, *out;	/* numbers of remaining predecessors and successors of each
				 * vertex */
	uint8_t *alive;		/* 1: the vertex has not been removed */
	uint32_t *queue;	/* [n + 1] queue[n] is the length of the queue */
	uint32_t root;
	uint32_t *dist, *via;	/* dist[v]: number of channels from root to v; via[v]: vertex before
				 * v (in first_cycle(): after v) */
	uint32_t *best;		/* [best_len] the shortest cycle so far */
	uint32_t best_len;
	uint64_t edges;		/* number of edges that breadth-first searches have visited */
};

/* Called for each successor or predecessor w of v, even if w has been removed. */
typedef void (*visit_fn)(struct search *z, uint32_t v, uint32_t w);

static void successors(struct search *z, uint32_t v, visit_fn fn)
{
	const struct chk *c = z->c;
	const struct ftr_swport *p = &c->f->ports[v / c->n_vl];
	const struct ftr_switch *s = &c->f->sw[p->peer];
	const uint64_t *row = c->cdg.dep +
		chk_dep_row(c, p->peer, p->peer_port, v % c->n_vl);

	for (uint32_t k = 0; k < chk_dep_words(c, p->peer); k++)
		for (uint64_t m = row[k]; m; m &= m - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(m);

			fn(z, v, s->first_port * c->n_vl + 64 * k + bit);
		}
}

/* Visit the predecessors of v. A predecessor of v is a VL of a link to the switch that sends on v.
 * Its row in chk_cdg has the bit of v. */
static void predecessors(struct search *z, uint32_t v, visit_fn fn)
{
	const struct ftr_fabric *f = z->c->f;
	const uint32_t n_vl = z->c->n_vl;
	const struct ftr_swport *p = &f->ports[v / n_vl];
	ftr_sw own = ftr_fabric_port(f, p->peer, p->peer_port)->peer;
	const struct ftr_switch *s = &f->sw[own];
	uint32_t out = v - s->first_port * n_vl;

	for (uint32_t i = 1; i <= s->n_ports; i++) {
		const struct ftr_swport *q = &f->ports[s->first_port + i];
		const uint64_t *row = z->c->cdg.dep +
			chk_dep_row(z->c, own, (ftr_port)i, 0);
		uint32_t from;

		if (q->peer_kind != FTR_PEER_SW)
			continue;
		from = (f->sw[q->peer].first_port + q->peer_port) * n_vl;
		for (uint32_t vl = 0; vl < n_vl; vl++) {
			if (row[out / 64] >> (out % 64) & 1)
				fn(z, v, from + vl);
			row += chk_dep_words(z->c, own);
		}
	}
}

/* ---- peeling ------------------------------------------------------------- */

static void count_edge(struct search *z, uint32_t v, uint32_t w)
{
	z->out[v]++;
	z->in[w]++;
}

static void queue_removal(struct search *z, uint32_t v)
{
	z->alive[v] = 0;
	z->queue[z->queue[z->n]++] = v;
}

static void lose_pred(struct search *z, uint32_t v, uint32_t w)
{
	(void)v;
	if (z->alive[w] && --z->in[w] == 0)
		queue_removal(z, w);
}

static void lose_succ(struct search *z, uint32_t v, uint32_t w)
{
	(void)v;
	if (z->alive[w] && --z->out[w] == 0)
		queue_removal(z, w);
}

/* Remove the queued vertices, then all vertices that lose their last predecessor or successor. */
static void peel(struct search *z)
{
	for (uint32_t i = 0; i < z->queue[z->n]; i++) {
		uint32_t v = z->queue[i];

		successors(z, v, lose_pred);
		predecessors(z, v, lose_succ);
	}
	z->queue[z->n] = 0;
}

static void peel_all(struct search *z)
{
	const struct ftr_swport *ports = z->c->f->ports;

	for (uint32_t v = 0; v < z->n; v++) {
		z->alive[v] = ports[v / z->c->n_vl].peer_kind == FTR_PEER_SW;
		if (z->alive[v])
			successors(z, v, count_edge);
	}
	for (uint32_t v = 0; v < z->n; v++)
		if (z->alive[v] && (!z->in[v] || !z->out[v]))
			queue_removal(z, v);
	peel(z);
}

/* ---- cycles -------------------------------------------------------------- */

static void take_first(struct search *z, uint32_t v, uint32_t w)
{
	if (z->via[v] == UINT32_MAX && z->alive[w])
		z->via[v] = w;
}

/* Walk from v until a vertex repeats. Store the cycle in best[]. */
static void first_cycle(struct search *z, uint32_t v)
{
	memset(z->via, 0xff, (size_t)z->n * sizeof(*z->via));
	while (z->via[v] == UINT32_MAX) {
		successors(z, v, take_first);
		v = z->via[v];
	}
	for (uint32_t w = z->via[v]; ; w = z->via[w]) {
		z->best[z->best_len++] = w;
		if (w == v)
			break;
	}
}

static void reach(struct search *z, uint32_t v, uint32_t w)
{
	z->edges++;
	if (!z->alive[w] || z->dist[w] != UINT32_MAX)
		return;
	z->dist[w] = v == z->root ? 1 : z->dist[v] + 1;
	z->via[w] = v;
	z->queue[z->queue[z->n]++] = w;
}

/* Search for a path from root back to root with fewer than best_len channels. When the search
 * arrives at root again, it sets dist[root]. */
static void shorter_through(struct search *z, uint32_t root)
{
	uint32_t len = 0, i = 0;

	z->root = root;
	successors(z, root, reach);
	for (; i < z->queue[z->n] && z->dist[root] == UINT32_MAX; i++) {
		uint32_t v = z->queue[i];

		if (z->dist[v] + 1 >= z->best_len)
			break;
		successors(z, v, reach);
	}
	if (z->dist[root] < z->best_len) {
		len = z->dist[root];
		z->best_len = len;
		for (uint32_t v = root; len > 0; v = z->via[v])
			z->best[--len] = v;
	}
	for (i = 0; i < z->queue[z->n]; i++)
		z->dist[z->queue[i]] = UINT32_MAX;
	z->queue[z->n] = 0;
}

static void report(const struct search *z, struct ftr_check_report *r)
{
	const struct ftr_fabric *f = z->c->f;
	uint32_t low = 0;

	for (uint32_t i = 1; i < z->best_len; i++)
		if (z->best[i] < z->best[low])
			low = i;
	r->cycle_len = z->best_len;
	for (uint32_t i = 0; i < FTR_MIN(z->best_len, (uint32_t)FTR_CYCLE_MAX); i++) {
		uint32_t v = z->best[(low + i) % z->best_len];
		uint32_t port = v / z->c->n_vl;
		const struct ftr_swport *p = &f->ports[port];
		ftr_sw s = ftr_fabric_port(f, p->peer, p->peer_port)->peer;

		r->cycle[i].sw = s;
		r->cycle[i].port = (ftr_port)(port - f->sw[s].first_port);
		r->cycle[i].vl = (uint8_t)(v % z->c->n_vl);
	}
}

static void search(struct search *z, struct ftr_check_report *r)
{
	uint32_t v = 0;

	peel_all(z);
	while (v < z->n && !z->alive[v])
		v++;
	r->cdg = v == z->n ? FTR_CDG_ACYCLIC : FTR_CDG_CYCLE;
	if (v == z->n)
		return;
	first_cycle(z, v);
	memset(z->dist, 0xff, (size_t)z->n * sizeof(*z->dist));
	for (; v < z->n && z->best_len > 1 && z->edges < BUDGET; v++) {
		if (!z->alive[v])
			continue;
		shorter_through(z, v);
		queue_removal(z, v);
		peel(z);
	}
	report(z, r);
}

enum ftr_status chk_cycle(const struct chk *c, struct ftr_arena *a,
			  struct ftr_check_report *r, struct ftr_err *err)
{
	const uint32_t n = c->f->n_ports * c->n_vl;
	struct search z = { .c = c, .n = n };

	if (!FTR_ZNEW(a, z.in, n) || !FTR_ZNEW(a, z.out, n) ||
	    !FTR_ZNEW(a, z.alive, n) || !FTR_ZNEW(a, z.queue, (size_t)n + 1) ||
	    !FTR_NEW(a, z.dist, n) || !FTR_NEW(a, z.via, n) ||
	    !FTR_NEW(a, z.best, n))
		return ftr_fail(err, FTR_NOMEM,
				"out of memory while searching %u channels for cycles",
				n);
	search(&z, r);
	return FTR_OK;
}
