// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests whether the claimed turns can close a cycle.
 *
 * A vertex of the graph is an ordered pair of neighbouring switches.  An edge is a turn that is
 * claimed, or that up/down routing by rank allows (claims.h).  Vertices without a predecessor are
 * removed repeatedly (Kahn 1962).  If vertices remain, there is a cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "check/claims.h"
#include "base/search.h"

struct graph {
	const struct ftr_fabric *f;
	const struct chk_claims *c;
	const struct ftr_check_delta *d;
	uint32_t *first;	/* first[s]: the first vertex whose pair begins with s */
	ftr_sw *nbr;		/* nbr[v]: second switch of the pair of vertex v */
	uint32_t *in;		/* in[v]: number of remaining predecessors of vertex v */
	uint32_t *queue;
	ftr_sw *own;		/* own[v]: first switch of the pair of vertex v */
};

static int turn_cmp(const void *x, const void *y)
{
	const struct ftr_turn *a = x, *b = y;

	return FTR_ORDER(a->from, b->from) ?: FTR_ORDER(a->at, b->at) ?: FTR_ORDER(a->to, b->to);
}

bool chk_claimed(const struct chk_claims *c, ftr_sw from, ftr_sw at, ftr_sw to)
{
	const struct ftr_turn key = { from, at, to };

	return c->n && bsearch(&key, c->turn, c->n, sizeof(key), turn_cmp);
}

/* ---- neighbours -------------------------------------------------------- */

static void add_nbr(struct graph *g, ftr_sw s, ftr_sw t, uint32_t *mark,
		    uint32_t *n)
{
	if (mark[t] == s + 1)
		return;
	mark[t] = s + 1;
	g->own[*n] = s;
	g->nbr[(*n)++] = t;
}

static void find_neighbours(struct graph *g, uint32_t *mark)
{
	const struct ftr_fabric *f = g->f;
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		g->first[s] = n;
		for (uint32_t p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind == FTR_PEER_SW &&
			    !chk_is_dead(g->d->dead, f->sw[s].first_port + p))
				add_nbr(g, s, port->peer, mark, &n);
		}
		for (uint32_t i = 0; i < g->d->n_extra; i++) {
			if (g->d->extra[i].sw == s)
				add_nbr(g, s, g->d->extra[i].peer, mark, &n);
			if (g->d->extra[i].peer == s)
				add_nbr(g, s, g->d->extra[i].sw, mark, &n);
		}
	}
	g->first[f->n_sw] = n;
}

/* The vertex (from, to), or UINT32_MAX if the two are not neighbours. */
static uint32_t vertex(const struct graph *g, ftr_sw from, ftr_sw to)
{
	for (uint32_t v = g->first[from]; v < g->first[from + 1]; v++)
		if (g->nbr[v] == to)
			return v;
	return UINT32_MAX;
}

/* ---- removing vertices ------------------------------------------------- */

static bool by_rank(const struct graph *g, ftr_sw from, ftr_sw at, ftr_sw to)
{
	const struct chk_claims none = { .rank = g->c->rank };

	return chk_legal(&none, from, at, to);
}

static void count_predecessors(struct graph *g)
{
	for (uint32_t v = 0; v < g->first[g->f->n_sw]; v++) {
		ftr_sw s = g->own[v];

		for (uint32_t u = g->first[s]; u < g->first[s + 1]; u++)
			g->in[v] += by_rank(g, g->nbr[u], s, g->nbr[v]);
	}
	for (uint32_t i = 0; i < g->c->n; i++)
		g->in[vertex(g, g->c->turn[i].at, g->c->turn[i].to)]++;
}

static void remove_vertex(struct graph *g, uint32_t v, uint32_t *n)
{
	ftr_sw from = g->own[v], at = g->nbr[v];
	const struct ftr_turn *turn = g->c->turn;
	uint32_t i;

	for (uint32_t w = g->first[at]; w < g->first[at + 1]; w++)
		if (by_rank(g, from, at, g->nbr[w]) && --g->in[w] == 0)
			g->queue[(*n)++] = w;
	/* the first claimed turn with these values of `from` and `at` */
	FTR_LOWER_BOUND(i, g->c->n, turn[i].from < from ||
			(turn[i].from == from && turn[i].at < at));
	for (; i < g->c->n && turn[i].from == from && turn[i].at == at; i++) {
		uint32_t w = vertex(g, at, turn[i].to);

		if (--g->in[w] == 0)
			g->queue[(*n)++] = w;
	}
}

static bool acyclic(struct graph *g)
{
	uint32_t all = g->first[g->f->n_sw], n = 0;

	count_predecessors(g);
	for (uint32_t v = 0; v < all; v++)
		if (!g->in[v])
			g->queue[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		remove_vertex(g, g->queue[i], &n);
	return n == all;
}

/* Sort the claims. Remove duplicates, turns that need no claim, and turns over links that are
 * down. */
static void sort_claims(const struct graph *g, struct chk_claims *c)
{
	uint32_t kept = 0;

	qsort(c->turn, c->n, sizeof(*c->turn), turn_cmp);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct ftr_turn *t = &c->turn[i];

		if (t->from >= g->f->n_sw || t->at >= g->f->n_sw ||
		    t->to >= g->f->n_sw || by_rank(g, t->from, t->at, t->to) ||
		    vertex(g, t->from, t->at) == UINT32_MAX ||
		    vertex(g, t->at, t->to) == UINT32_MAX ||
		    (kept && !turn_cmp(&c->turn[kept - 1], t)))
			continue;
		c->turn[kept++] = *t;
	}
	c->n = kept;
}

enum ftr_status chk_claims_set(struct chk_claims *c, const struct ftr_fabric *f,
			       const struct ftr_check_delta *d, struct ftr_arena *a,
			       struct ftr_err *err)
{
	struct graph g = { .f = f, .c = c, .d = d };
	uint32_t n = d->n_turns, most = f->n_ports + 2 * d->n_extra, *mark;

	*c = (struct chk_claims){ .rank = d->rank };
	if (!d->rank || !n)
		return FTR_OK;
	if (!FTR_NEW(a, c->turn, n) || !FTR_ZNEW(a, mark, f->n_sw) ||
	    !FTR_NEW(a, g.first, f->n_sw + 1u) || !FTR_NEW(a, g.nbr, most) ||
	    !FTR_NEW(a, g.own, most) || !FTR_ZNEW(a, g.in, most) ||
	    !FTR_NEW(a, g.queue, most))
		return ftr_nomem(err, "checking %u claimed turns", n);
	memcpy(c->turn, d->turn, n * sizeof(*c->turn));
	c->n = n;
	find_neighbours(&g, mark);
	sort_claims(&g, c);
	if (c->n && !acyclic(&g))
		c->n = 0;
	return FTR_OK;
}
