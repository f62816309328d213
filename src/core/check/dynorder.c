// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps all vertices in topological order.  Each vertex has a label, a number that ascends in this
 * order.
 *
 * The method is that of D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", ACM JEA 11, 2006.  A new edge v -> w needs no work if v comes before w.
 * Otherwise the vertices that w reaches, as far as they come before v, are moved behind v.  If v is
 * one of them, the edge closes a cycle.
 *
 * deviation: the paper also searches the vertices that reach v, and reassigns the positions of both
 * sets.  Here the vertices are in a list, and their labels have gaps (Dietz and Sleator 1987), so
 * moving a vertex changes no other label.  When a gap is exhausted, all labels are assigned again.
 *
 * The removal of an edge needs no work, because the order stays valid.  Vertices of links that are
 * down are treated as if they had no edges.
 *
 * At a switch, each VL of an incoming link and each VL of an outgoing link could form an edge, but
 * only few of these edges exist.  Present and former edges are kept as sets of bits.  If a search
 * finds a bit whose edge has the count 0, it clears the bit.
 */
#include <stdlib.h>

#include "check/dyn.h"

bool dyn_order_new(struct ftr_cdg *g)
{
	struct dyn_order *o = &g->order;
	uint32_t n = g->n_links * g->n_vl, most = 0;

	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		most = FTR_MAX(most, dyn_degree(g, s));
	o->n = n;
	o->words = (most * g->n_vl + 63) / 64;
	return FTR_ZNEW(g->arena, o->out_bits, (size_t)n * o->words) &&
	       FTR_NEW(g->arena, o->label, n) &&
	       FTR_NEW(g->arena, o->next, n) && FTR_NEW(g->arena, o->prev, n) &&
	       FTR_ZNEW(g->arena, o->mark, n) && FTR_NEW(g->arena, o->found, n);
}

/* The counts of all possible edges from v; a count of 0 means that the edge does not exist.
 * *first: the vertex to which the first possible edge leads. */
static const uint32_t *row_of(const struct ftr_cdg *g, uint32_t v, uint32_t *first)
{
	const struct dyn_link *l = &g->link[v / g->n_vl];

	*first = g->first_link[l->to] * g->n_vl;
	return &g->count[dyn_edge_at(g, l, v % g->n_vl, 0, 0)];
}

static void set_bit(struct ftr_cdg *g, uint32_t v, uint32_t i)
{
	g->order.out_bits[(size_t)v * g->order.words + i / 64] |= UINT64_C(1) << i % 64;
}

/* Assign labels in the order of the list, with gaps between them. */
static void give_labels(struct ftr_cdg *g)
{
	uint64_t i = 0;

	for (uint32_t v = g->order.first; v != DYN_NONE; v = g->order.next[v])
		g->order.label[v] = ++i << 32;
}

static void make_list(struct ftr_cdg *g, const uint32_t *v, uint32_t n)
{
	g->order.first = n ? v[0] : DYN_NONE;
	for (uint32_t i = 0; i < n; i++) {
		g->order.prev[v[i]] = i ? v[i - 1] : DYN_NONE;
		g->order.next[v[i]] = i + 1 < n ? v[i + 1] : DYN_NONE;
	}
	give_labels(g);
}

/* Write the vertices in topological order to list[], and record the edges.  in[]: scratch, all 0.
 * Returns the length of the list, which is less than order.n if there is a cycle (Kahn 1962). */
static uint32_t sort(struct ftr_cdg *g, uint32_t *in, uint32_t *list)
{
	const struct dyn_order *o = &g->order;
	uint32_t head = 0, tail = 0, first;

	for (uint32_t v = 0; v < o->n; v++) {
		const uint32_t *row = row_of(g, v, &first);

		for (uint32_t i = 0; i < g->link[v / g->n_vl].n_out * g->n_vl; i++)
			if (row[i]) {
				set_bit(g, v, i);
				in[first + i]++;
			}
	}
	for (uint32_t v = 0; v < o->n; v++)
		if (!in[v])
			list[tail++] = v;
	while (head < tail) {
		uint32_t v = list[head++];

		row_of(g, v, &first);
		for (uint32_t k = 0; k < o->words; k++)
			for (uint64_t b = o->out_bits[(size_t)v * o->words + k]; b; b &= b - 1) {
				uint32_t w = first + 64 * k + (uint32_t)__builtin_ctzll(b);

				if (!--in[w])
					list[tail++] = w;
			}
	}
	return tail;
}

bool dyn_order_all(struct ftr_cdg *g, bool *acyclic)
{
	size_t n = g->order.n;
	uint32_t *in = ftr_calloc(n + 1, sizeof(*in));
	uint32_t *list = ftr_reallocarray(NULL, n + 1, sizeof(*list));
	bool ok = in && list;

	if (ok) {
		uint32_t found = sort(g, in, list);

		*acyclic = found == g->order.n;
		make_list(g, list, found);
	}
	free(in);
	free(list);
	return ok;
}

/* ---- a new edge ---------------------------------------------------------- */

static void find(struct ftr_cdg *g, uint32_t v, uint32_t *n)
{
	g->order.mark[v] = 1;
	g->order.found[(*n)++] = (struct dyn_found){ g->order.label[v], v };
}

/* Find the successors of v with labels <= top.  Vertices of links that are down are left out. */
static void find_next(struct ftr_cdg *g, uint32_t v, uint64_t top, uint32_t *n)
{
	uint32_t first;
	const uint32_t *row = row_of(g, v, &first);
	uint64_t *bits = g->order.out_bits + (size_t)v * g->order.words;

	for (uint32_t k = 0; k < g->order.words; k++)
		for (uint64_t left = bits[k]; left; left &= left - 1) {
			uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			uint32_t w = first + i;

			if (g->order.mark[w] || g->order.label[w] > top || dyn_is_down(g, w / g->n_vl))
				continue;
			if (row[i])
				find(g, w, n);
			else	/* the edge no longer exists */
				bits[k] &= ~(left & -left);
		}
}

static int found_cmp(const void *x, const void *y)
{
	const struct dyn_found *a = x, *b = y;

	return FTR_ORDER(a->label, b->label);
}

/* Move v in the list, directly behind `after`, which comes later. */
static void move(struct ftr_cdg *g, uint32_t v, uint32_t after)
{
	uint32_t prev = g->order.prev[v], next = g->order.next[v];

	if (prev == DYN_NONE)
		g->order.first = next;
	else
		g->order.next[prev] = next;
	g->order.prev[next] = prev;
	next = g->order.next[after];
	g->order.prev[v] = after;
	g->order.next[v] = next;
	g->order.next[after] = v;
	if (next != DYN_NONE)
		g->order.prev[next] = v;
}

/* Move the n vertices of found[] directly behind v, in their present order. */
static void move_found(struct ftr_cdg *g, uint32_t n, uint32_t v)
{
	uint64_t low = g->order.label[v], room = UINT64_C(1) << 32;

	if (g->order.next[v] != DYN_NONE)
		room = (g->order.label[g->order.next[v]] - low) / (n + UINT64_C(1));
	if (room > (UINT64_MAX - low) / (n + UINT64_C(1)))
		room = 0;
	qsort(g->order.found, n, sizeof(*g->order.found), found_cmp);
	for (uint32_t i = 0; i < n; i++) {
		move(g, g->order.found[i].v, v);
		v = g->order.found[i].v;
		g->order.label[v] = low += room;
	}
	if (!room)
		give_labels(g);
}

bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	uint64_t top = g->order.label[v];
	uint32_t n = 0;
	bool acyclic;

	if (g->order.label[w] <= top) {
		find(g, w, &n);
		for (uint32_t i = 0; i < n && !g->order.mark[v]; i++)
			find_next(g, g->order.found[i].v, top, &n);
		acyclic = !g->order.mark[v];
		for (uint32_t i = 0; i < n; i++)
			g->order.mark[g->order.found[i].v] = 0;
		if (!acyclic)
			return false;
		move_found(g, n, v);
	}
	set_bit(g, v, g->link[w / g->n_vl].from_index * g->n_vl + w % g->n_vl);
	return true;
}
