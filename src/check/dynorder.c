// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps all vertices in topological order.  Each vertex has a label, a number that ascends in this
 * order.
 *
 * The method is that of D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", ACM JEA 11, 2006.  A new edge v -> w needs no work if v comes before w.
 * Otherwise only vertices between w and v are affected: those that w reaches, and those that reach
 * v.  If a vertex is in both sets, the edge closes a cycle.
 *
 * deviation: the paper finds both sets and reassigns the positions of their vertices.  Here the
 * searches for the two sets alternate until one set is complete, and only this set is moved.  If it
 * is the set that w reaches, its vertices move behind v.  Otherwise its vertices move before w.
 * One set is often very small.  For example, if w is a VL that no packet used before, w reaches no
 * vertex, although many vertices may reach v.
 *
 * The vertices are in a list.  Their labels have gaps (Dietz and Sleator 1987), so moving a vertex
 * changes no other label.  When a gap is exhausted, all labels are assigned again.
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
	uint32_t n = g->n_vertices, most = 0;

	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		most = FTR_MAX(most, dyn_degree(g, s));
	g->words = (most * g->n_vl + 63) / 64;
	return FTR_ZNEW(g->arena, g->out_bits, (size_t)n * g->words) &&
	       FTR_ZNEW(g->arena, g->in_bits, (size_t)n * g->words) &&
	       FTR_NEW(g->arena, g->label, n) &&
	       FTR_NEW(g->arena, g->next, n) && FTR_NEW(g->arena, g->prev, n) &&
	       FTR_ZNEW(g->arena, g->mark, n) &&
	       FTR_NEW(g->arena, g->fwd, n) && FTR_NEW(g->arena, g->back, n);
}

/* The counts of all possible edges from v; a count of 0 means that the edge does not exist.
 * *first: the vertex to which the first possible edge leads.  *n: number of possible edges. */
static const uint32_t *row_of(const struct ftr_cdg *g, uint32_t v,
			      uint32_t *first, uint32_t *n)
{
	const struct dyn_link *l = &g->link[v / g->n_vl];

	*first = g->first_link[l->to] * g->n_vl;
	*n = l->row_len;
	return &g->count[dyn_edge_at(g, l, v % g->n_vl, 0, 0)];
}

static void note_in(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	uint32_t i = g->link[v / g->n_vl].to_index * g->n_vl + v % g->n_vl;

	g->in_bits[(size_t)w * g->words + i / 64] |= UINT64_C(1) << i % 64;
}

static void note(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	dyn_order_note(g, v, g->link[w / g->n_vl].from_index, w % g->n_vl);
	note_in(g, v, w);
}

/* Assign labels in the order of the list, with gaps between them. */
static void give_labels(struct ftr_cdg *g)
{
	uint64_t i = 0;

	for (uint32_t v = g->first; v != DYN_NONE; v = g->next[v])
		g->label[v] = i++ << 32;
}

static void make_list(struct ftr_cdg *g, const uint32_t *v, uint32_t n)
{
	g->first = n ? v[0] : DYN_NONE;
	for (uint32_t i = 0; i < n; i++) {
		g->prev[v[i]] = i ? v[i - 1] : DYN_NONE;
		g->next[v[i]] = i + 1 < n ? v[i + 1] : DYN_NONE;
	}
	give_labels(g);
}

/* Write to w[] the vertices to which recorded edges lead from v. w[] has room for 64 * g->words
 * vertices. Returns their number. */
static uint32_t noted(const struct ftr_cdg *g, uint32_t v, uint32_t *w)
{
	uint32_t first = g->first_link[g->link[v / g->n_vl].to] * g->n_vl;
	uint32_t n = 0;

	for (uint32_t k = 0; k < g->words; k++)
		for (uint64_t bits = g->out_bits[(size_t)v * g->words + k];
		     bits; bits &= bits - 1)
			w[n++] = first + 64 * k +
				(uint32_t)__builtin_ctzll(bits);
	return n;
}

/* Write the vertices in topological order to list[]. in[]: scratch, all 0. Returns the length of
 * the list, which is less than n_vertices if there is a cycle. */
static uint32_t sort(struct ftr_cdg *g, uint32_t *in, uint32_t *list,
		     uint32_t *w)
{
	uint32_t head = 0, tail = 0, n;

	for (uint32_t v = 0; v < g->n_vertices; v++) {
		n = noted(g, v, w);
		for (uint32_t i = 0; i < n; i++) {
			in[w[i]]++;
			note_in(g, v, w[i]);
		}
	}
	for (uint32_t v = 0; v < g->n_vertices; v++)
		if (!in[v])
			list[tail++] = v;
	while (head < tail) {
		n = noted(g, list[head++], w);
		for (uint32_t i = 0; i < n; i++)
			if (!--in[w[i]])
				list[tail++] = w[i];
	}
	return tail;
}

bool dyn_order_all(struct ftr_cdg *g, bool *acyclic)
{
	size_t n = g->n_vertices;
	uint32_t *in = ftr_calloc(n + 1, sizeof(*in));
	uint32_t *list = ftr_reallocarray(NULL, n + 1, sizeof(*list));
	uint32_t *w = ftr_reallocarray(NULL, 64 * (size_t)g->words + 1,
				       sizeof(*w));
	bool ok = in && list && w;

	if (ok) {
		uint32_t found = sort(g, in, list, w);

		*acyclic = found == g->n_vertices;
		make_list(g, list, found);
	}
	free(in);
	free(list);
	free(w);
	return ok;
}

/* ---- a search in both directions ---------------------------------------- */

enum { FORWARD = 1, BACKWARD = 2 };

struct search {
	uint64_t low, top;	/* the new edge is v -> w; low: label of w; top: label of v */
	uint32_t n_fwd, n_back;	/* number of vertices found */
	uint32_t at_fwd, at_back;	/* number of found vertices that have been expanded */
	bool meet;
};

static void find(struct ftr_cdg *g, struct search *z, uint32_t v, uint8_t direction)
{
	struct dyn_found f = { g->label[v], v };

	if (direction == FORWARD)
		g->fwd[z->n_fwd++] = f;
	else
		g->back[z->n_back++] = f;
	z->meet |= g->mark[v] != 0;
	g->mark[v] |= direction;
}

/* Expand the next vertex of the forward search: find its successors with labels <= z->top. Vertices
 * of links that are down are left out. */
static void go_forward(struct ftr_cdg *g, struct search *z)
{
	uint32_t v = g->fwd[z->at_fwd++].v, first, n;
	const uint32_t *row = row_of(g, v, &first, &n);
	uint64_t *bits = g->out_bits + (size_t)v * g->words;

	for (uint32_t k = 0; k < g->words; k++)
		for (uint64_t left = bits[k]; left; left &= left - 1) {
			uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			uint32_t w = first + i;

			if (g->mark[w] & FORWARD || g->label[w] > z->top ||
			    dyn_is_down(g, w / g->n_vl))
				continue;
			if (row[i])
				find(g, z, w, FORWARD);
			else	/* the edge no longer exists */
				bits[k] &= ~(left & -left);
		}
}

/* Expand the next vertex of the backward search: find its predecessors with labels >= z->low.
 * Vertices of links that are down are left out. */
static void go_back(struct ftr_cdg *g, struct search *z)
{
	uint32_t w = g->back[z->at_back++].v;
	const struct dyn_link *out = &g->link[w / g->n_vl];
	uint64_t *bits = g->in_bits + (size_t)w * g->words;

	for (uint32_t k = 0; k < g->words; k++)
		for (uint64_t left = bits[k]; left; left &= left - 1) {
			uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
			/* l: the link with index i / n_vl out of switch out->from; in: the
			 * reverse of l */
			const struct dyn_link *l =
				&g->link[g->first_link[out->from] +
					 i / g->n_vl];
			uint32_t in = g->first_link[l->to] + l->to_index;
			uint32_t v = in * g->n_vl + i % g->n_vl;

			if (g->mark[v] & BACKWARD || g->label[v] < z->low ||
			    dyn_is_down(g, in))
				continue;
			if (g->count[dyn_edge_at(g, &g->link[in], i % g->n_vl,
						 out->from_index,
						 w % g->n_vl)])
				find(g, z, v, BACKWARD);
			else
				bits[k] &= ~(left & -left);
		}
}

/* ---- moving vertices ----------------------------------------------------- */

static int found_cmp(const void *x, const void *y)
{
	const struct dyn_found *a = x, *b = y;

	return (a->label > b->label) - (a->label < b->label);
}

static void take_out(struct ftr_cdg *g, uint32_t v)
{
	if (g->prev[v] == DYN_NONE)
		g->first = g->next[v];
	else
		g->next[g->prev[v]] = g->next[v];
	if (g->next[v] != DYN_NONE)
		g->prev[g->next[v]] = g->prev[v];
}

/* Insert v after vertex `after`; DYN_NONE: at the head of the list. */
static void put_in(struct ftr_cdg *g, uint32_t v, uint32_t after)
{
	uint32_t next = after == DYN_NONE ? g->first : g->next[after];

	g->prev[v] = after;
	g->next[v] = next;
	if (after == DYN_NONE)
		g->first = v;
	else
		g->next[after] = v;
	if (next != DYN_NONE)
		g->prev[next] = v;
}

/* Move the n vertices of f[] in the list: directly before `where`, or directly after it. */
static void move(struct ftr_cdg *g, struct dyn_found *f, uint32_t n,
		 uint32_t where, bool before)
{
	uint64_t low, room;
	uint32_t after, next;

	qsort(f, n, sizeof(*f), found_cmp);
	for (uint32_t i = 0; i < n; i++)
		take_out(g, f[i].v);
	after = before ? g->prev[where] : where;
	next = before ? where : g->next[where];
	/* The first label may be 0. Then there is no room before it. */
	low = after == DYN_NONE ? 0 : g->label[after];
	room = next == DYN_NONE ? (uint64_t)(n + UINT64_C(1)) << 32 :
		g->label[next] - low;
	room /= n + UINT64_C(1);
	if (low > UINT64_MAX - room * (n + UINT64_C(1)))
		room = 0;
	for (uint32_t i = 0; i < n; i++) {
		put_in(g, f[i].v, after);
		after = f[i].v;
		g->label[after] = low += room;
	}
	if (!room)
		give_labels(g);
}

bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w)
{
	struct search z = { .low = g->label[w], .top = g->label[v] };

	if (z.top < z.low) {
		note(g, v, w);
		return true;
	}
	find(g, &z, w, FORWARD);
	find(g, &z, v, BACKWARD);
	while (!z.meet && z.at_fwd < z.n_fwd && z.at_back < z.n_back) {
		go_forward(g, &z);
		if (!z.meet)
			go_back(g, &z);
	}
	for (uint32_t i = 0; i < z.n_fwd; i++)
		g->mark[g->fwd[i].v] = 0;
	for (uint32_t i = 0; i < z.n_back; i++)
		g->mark[g->back[i].v] = 0;
	if (z.meet)
		return false;
	if (z.at_fwd == z.n_fwd)
		move(g, g->fwd, z.n_fwd, v, false);
	else
		move(g, g->back, z.n_back, w, true);
	note(g, v, w);
	return true;
}
