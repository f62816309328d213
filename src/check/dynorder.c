// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the vertices: every edge leads from a lower to a higher place.
 *
 * D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", ACM JEA 11, 2006.  An edge v -> w with
 * ord[v] < ord[w] costs nothing.  Otherwise only vertices between the two
 * places are affected: those that w reaches (if v is among them, the edge
 * closes a cycle), and those that reach v.  The places of both sets are pooled
 * and given out again, first to those that reach v, then to those that w
 * reaches, each set in its old order.
 *
 * Taking edges away leaves the order valid, so nothing is done then.  Vertices
 * of links that are down are passed over as if they had no edges.
 *
 * Of all pairs of lanes that meet in a switch few are an edge: those that are or
 * have been are kept as sets of bits, and a bit whose count is found to be 0 is
 * taken out.
 */
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"

bool dyn_order_new(struct ftr_cdg *g)
{
	uint32_t n = g->n_vertices, most = 0;

	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		most = FTR_MAX(most, dyn_degree(g, s));
	g->words = (most * g->n_vl + 63) / 64;
	g->out_bits = ftr_arena_zalloc(g->arena, (size_t)n * g->words,
				       sizeof(*g->out_bits));
	g->in_bits = ftr_arena_zalloc(g->arena, (size_t)n * g->words,
				      sizeof(*g->in_bits));
	g->ord = ftr_arena_alloc(g->arena, n, sizeof(*g->ord));
	g->mark = ftr_arena_zalloc(g->arena, n, 1);
	g->stack = ftr_arena_alloc(g->arena, n, sizeof(*g->stack));
	g->fwd = ftr_arena_alloc(g->arena, n, sizeof(*g->fwd));
	g->back = ftr_arena_alloc(g->arena, n, sizeof(*g->back));
	return g->out_bits && g->in_bits && g->ord && g->mark && g->stack &&
	       g->fwd && g->back;
}

/* The counts of the edges from v; first: the vertex of the first of them. */
static const uint32_t *row_of(const struct ftr_cdg *g, uint32_t v,
			      uint32_t *first, uint32_t *n)
{
	const struct dyn_link *l = &g->link[v / g->n_vl];

	*first = g->first_link[l->to] * g->n_vl;
	*n = l->row_len;
	return &g->count[dyn_edge_at(g, l, v % g->n_vl, 0, 0)];
}

static void note_edge(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	const struct dyn_link *in = &g->link[v / g->n_vl];
	const struct dyn_link *out = &g->link[w / g->n_vl];
	uint32_t i = in->to_place * g->n_vl + v % g->n_vl;
	uint32_t o = out->from_place * g->n_vl + w % g->n_vl;

	g->out_bits[(size_t)v * g->words + o / 64] |= UINT64_C(1) << o % 64;
	g->in_bits[(size_t)w * g->words + i / 64] |= UINT64_C(1) << i % 64;
}

bool dyn_order_all(struct ftr_cdg *g)
{
	uint32_t *in = g->ord, head = 0, tail = 0, first, n;

	memset(in, 0, g->n_vertices * sizeof(*in));
	for (uint32_t v = 0; v < g->n_vertices; v++) {
		const uint32_t *row = row_of(g, v, &first, &n);

		for (uint32_t i = 0; i < n; i++)
			if (row[i]) {
				in[first + i]++;
				note_edge(g, v, first + i);
			}
	}
	for (uint32_t v = 0; v < g->n_vertices; v++)
		if (!in[v])
			g->stack[tail++] = v;
	while (head < tail) {
		uint32_t v = g->stack[head++];

		first = g->first_link[g->link[v / g->n_vl].to] * g->n_vl;
		for (uint32_t k = 0; k < g->words; k++) {
			uint64_t bits = g->out_bits[(size_t)v * g->words + k];

			for (; bits; bits &= bits - 1) {
				uint32_t w = first + 64 * k +
					(uint32_t)__builtin_ctzll(bits);

				if (!--in[w])
					g->stack[tail++] = w;
			}
		}
	}
	for (uint32_t i = 0; i < tail; i++)
		g->ord[g->stack[i]] = i;
	return tail == g->n_vertices;
}

/* Push what v leads to, at places up to top and alive. */
static uint32_t push_on(struct ftr_cdg *g, uint32_t v, uint32_t top,
			uint32_t n_stack)
{
	uint64_t *bits = g->out_bits + (size_t)v * g->words;
	uint32_t first, n;
	const uint32_t *row = row_of(g, v, &first, &n);

	for (uint32_t k = 0; k < g->words; k++)
		for (uint64_t left = bits[k]; left; left &= left - 1) {
			uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			uint32_t w = first + i;

			if (g->mark[w] || g->ord[w] > top ||
			    dyn_is_down(g, w / g->n_vl))
				continue;
			if (!row[i]) {	/* not any more */
				bits[k] &= ~(left & -left);
				continue;
			}
			g->mark[w] = 1;
			g->stack[n_stack++] = w;
		}
	return n_stack;
}

/* What from reaches at places up to top; false: goal is among it. */
static bool search_forward(struct ftr_cdg *g, uint32_t from, uint32_t goal,
			   uint32_t top, uint32_t *n_found)
{
	uint32_t n_stack = 0;

	*n_found = 0;
	g->stack[n_stack++] = from;
	g->mark[from] = 1;
	while (n_stack) {
		uint32_t v = g->stack[--n_stack];

		g->fwd[(*n_found)++] = (uint64_t)g->ord[v] << 32 | v;
		if (v == goal) {	/* unmark what is not found yet, too */
			while (n_stack)
				g->mark[g->stack[--n_stack]] = 0;
			return false;
		}
		n_stack = push_on(g, v, top, n_stack);
	}
	return true;
}

/* Push the living predecessors of w at places from low on. */
static uint32_t push_back(struct ftr_cdg *g, uint32_t w, uint32_t low,
			  uint32_t n_stack)
{
	const struct dyn_link *out = &g->link[w / g->n_vl];
	uint64_t *bits = g->in_bits + (size_t)w * g->words;

	for (uint32_t k = 0; k < g->words; k++)
		for (uint64_t left = bits[k]; left; left &= left - 1) {
			uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			/* the cable at that place, coming in */
			const struct dyn_link *l =
				&g->link[g->first_link[out->from] +
					 i / g->n_vl];
			uint32_t in = g->first_link[l->to] + l->to_place;
			uint32_t v = in * g->n_vl + i % g->n_vl;

			if (g->mark[v] || g->ord[v] < low || dyn_is_down(g, in))
				continue;
			if (!g->count[dyn_edge_at(g, &g->link[in], i % g->n_vl,
						  out->from_place,
						  w % g->n_vl)]) {
				bits[k] &= ~(left & -left);
				continue;
			}
			g->mark[v] = 1;
			g->stack[n_stack++] = v;
		}
	return n_stack;
}

static uint32_t search_back(struct ftr_cdg *g, uint32_t from, uint32_t low)
{
	uint32_t n_stack = 0, n_found = 0;

	g->stack[n_stack++] = from;
	g->mark[from] = 1;
	while (n_stack) {
		uint32_t w = g->stack[--n_stack];

		g->back[n_found++] = (uint64_t)g->ord[w] << 32 | w;
		n_stack = push_back(g, w, low, n_stack);
	}
	return n_found;
}

static int u64_cmp(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

/* Give the pooled places out again. */
static void reorder(struct ftr_cdg *g, uint32_t n_fwd, uint32_t n_back)
{
	uint32_t *pool = g->stack, n = 0, i = 0, k = 0;

	qsort(g->fwd, n_fwd, sizeof(*g->fwd), u64_cmp);
	qsort(g->back, n_back, sizeof(*g->back), u64_cmp);
	while (i < n_back || k < n_fwd) {
		if (k == n_fwd || (i < n_back && g->back[i] < g->fwd[k]))
			pool[n++] = (uint32_t)(g->back[i++] >> 32);
		else
			pool[n++] = (uint32_t)(g->fwd[k++] >> 32);
	}
	n = 0;
	for (i = 0; i < n_back; i++)
		g->ord[(uint32_t)g->back[i]] = pool[n++];
	for (k = 0; k < n_fwd; k++)
		g->ord[(uint32_t)g->fwd[k]] = pool[n++];
}

bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	uint32_t n_fwd, n_back = 0;
	bool ok = true;

	if (g->ord[v] >= g->ord[w]) {
		ok = search_forward(g, w, v, g->ord[v], &n_fwd);
		if (ok)
			n_back = search_back(g, v, g->ord[w]);
		for (uint32_t i = 0; i < n_fwd; i++)
			g->mark[(uint32_t)g->fwd[i]] = 0;
		for (uint32_t i = 0; i < n_back; i++)
			g->mark[(uint32_t)g->back[i]] = 0;
		if (ok)
			reorder(g, n_fwd, n_back);
	}
	if (ok)
		note_edge(g, v, w);
	return ok;
}
