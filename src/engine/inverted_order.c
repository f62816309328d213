// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inverted order: a total order of the switches in which everything climbs
 * to one of them, mostly a leaf.
 *
 * Seed 004 lets packets between switches that have no up/down path make one
 * turn from down to up inside a subtree below one leaf, the subtree root.  The
 * same turns are legal *up* turns if that subtree stands on its head (design,
 * section 5).  So, for each island of the fabric, low to high:
 *
 *	1. the switches that can climb into A, by rank,
 *	2. A = all that can be reached from the root by going up, upside down:
 *	   top switches lowest, the root highest,
 *	3. a part that cannot climb into A (a plane that lost its cable to the
 *	   root) is joined at a leaf that can, its anchor: what the anchor
 *	   reaches there by going up stands upside down just below it, and what
 *	   climbs into that below again, by rank.  Anchors are the highest of
 *	   their rank, so for the other leaves the part stays above them, and
 *	   hosts go on using it,
 *	4. what is left is put, breadth first, just below its highest neighbour
 *	   that has a place.
 *
 *	      root             <- highest
 *	     /  |  \
 *	   m    m    m            A, upside down
 *	  / \  / \  / \
 *	 t  t t  t  t  t
 *	---------------------
 *	    middle switches
 *	      other leaves     <- lowest
 *
 * By construction every switch but the root has a neighbour above it, so every
 * switch climbs to the root and is reached from it by going down: up/down
 * routing on this order connects all, and any routing that goes up and then
 * down by one total order has no cycle of channel dependencies.  On a whole
 * tree the paths of hosts are those by rank: what used to go up inside A and
 * down outside now goes down all the way, over the same cables.
 *
 * The root is a leaf that hangs on no other leaf and has none hanging on it
 * (inside A two leaves reach each other over the root's side only), and of
 * those the one with the smallest GUID whose A is nearly as large as the largest
 * (ROOT_SHARE): one lost cable rarely moves it.
 *
 * deviation: not so where the shape has ascents and a switch that is no leaf
 * reaches all top switches, as a leaf chip of a chassis does: that is the root,
 * the highest of them by rank.  With a leaf as root all chips that it hangs on
 * would stand in A, and packets from one of them could not come down over another
 * but through the root, with all its neighbours' traffic on its few cables.  Below
 * a chip nothing but spines is upside down, and all paths of hosts stay.  In PGFTs
 * only leaves reach the top switches of all planes (or there is one plane, and no
 * ascents).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

/* A candidate's A lacks at most 1 / ROOT_SHARE of the largest; an anchor's
 * reach likewise. */
#define ROOT_SHARE 4

#define NONE UINT32_MAX

/* A leaf that climbs offers itself as anchor of a part. */
struct offer {
	ftr_sw s;
	uint32_t part, size;	/* switches of it that s reaches going up */
};

struct ordering {
	const struct ftr_shape *sh;
	const ftr_sw *by_rank;	/* [n_sw] by (rank, index) */
	uint32_t *island;	/* [n_sw] smallest switch of its island */
	uint32_t *reach;	/* [n_sw] size of A, by column */
	uint32_t *chain;	/* [n_sw] leaves that it hangs on or below it */
	uint32_t *tops;		/* [n_sw] those of A with none above, by column */
	ftr_sw *root;		/* [n_sw] by island */
	uint8_t *kind;		/* [n_sw] where the switch stands */
	uint32_t *part;		/* [n_sw] smallest switch of its part */
	ftr_sw *anchor;		/* [n_sw] by part, or NONE */
	uint8_t *is_anchor;	/* [n_sw] */
	struct offer *offer;
	uint32_t n_offers;
	uint32_t *seen, stamp;	/* [n_sw] marks of the searches */
	uint32_t *best, *score;	/* [n_sw] scratch */
	ftr_sw *queue;
	/* the order as a list from low to high; NONE ends it */
	uint32_t *next, *prev, *place;
	ftr_sw low, high;
};

enum { OUTSIDE, CLIMBS, IN_A, BELOW_ANCHOR };

static bool allocate(struct ordering *o, struct ftr_arena *a)
{
	uint32_t n = o->sh->f->n_sw;
	uint32_t **array[] = {
		&o->island, &o->reach, &o->chain, &o->tops, &o->root, &o->part,
		&o->anchor, &o->seen, &o->best, &o->score, &o->queue,
		&o->next, &o->prev, &o->place,
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(array); i++) {
		*array[i] = ftr_arena_zalloc(a, n, sizeof(**array[i]));
		if (!*array[i])
			return false;
	}
	o->kind = ftr_arena_zalloc(a, n, 1);
	o->is_anchor = ftr_arena_zalloc(a, n, 1);
	o->offer = ftr_arena_alloc(a, o->sh->tree.group_first[n],
				   sizeof(*o->offer));
	return o->kind && o->is_anchor && o->offer;
}

static void find_islands(struct ordering *o)
{
	uint32_t n = o->sh->f->n_sw;

	ftr_uf_init(o->island, n);
	for (ftr_sw s = 0; s < n; s++)
		for_each_group(o->sh, s, g)
			ftr_uf_union(o->island, s, g->remote);
	for (ftr_sw s = 0; s < n; s++)
		o->island[s] = ftr_uf_find(o->island, s);
}

/* |A| of every column, and its chain: the leaves above it, itself included, and
 * the switches just below it. */
static void measure_reach(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const uint8_t *down = ftr_shape_down(sh, s);

		bool leaf = sh->numbering.col[s] < sh->tree.n_leaf;

		for (uint32_t l = 0; l < sh->f->n_sw; l++) {
			o->reach[l] += down[l] != FTR_COST_INF;
			o->chain[l] += leaf && down[l] != FTR_COST_INF;
			o->tops[l] += !sh->tree.n_up[s] && down[l] != FTR_COST_INF;
		}
		o->chain[sh->numbering.col[s]] += sh->tree.n_down[s];
	}
}

/* Better to take a as root than b?  Leaves, then not avoided, then GUID. */
static bool preferred(const struct ordering *o, ftr_sw a, ftr_sw b,
		      ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;
	bool leaf_a = sh->numbering.col[a] < sh->tree.n_leaf, leaf_b = sh->numbering.col[b] < sh->tree.n_leaf;

	if (leaf_a != leaf_b)
		return leaf_a;
	if ((a == avoid) != (b == avoid))
		return b == avoid;
	return a < b;
}

/* The highest switch, in place of a leaf, that all top switches can be reached
 * from, if there is one. */
static void choose_hubs(struct ordering *o, ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw, *tops = o->score;	/* of an island */

	memset(tops, 0, n * sizeof(*tops));
	for (ftr_sw s = 0; s < n; s++)
		tops[o->island[s]] += !sh->tree.n_up[s];
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t i = o->island[s], l = sh->numbering.col[s];
		ftr_sw *r = &o->root[i];

		if (l < sh->tree.n_leaf || s == avoid || o->tops[l] < tops[i])
			continue;
		if (sh->numbering.col[*r] < sh->tree.n_leaf || sh->tree.rank[s] > sh->tree.rank[*r])
			*r = s;
	}
}

static void choose_roots(struct ordering *o, ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw;
	uint32_t *most = o->best;	/* largest A of a leaf, by island */
	uint32_t *least = o->score;	/* shortest chain */

	memset(most, 0, n * sizeof(*most));
	memset(least, 0xff, n * sizeof(*least));
	memset(o->root, 0xff, n * sizeof(*o->root));
	for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
		uint32_t i = o->island[sh->numbering.col_sw[l]];

		if (o->chain[l] < least[i])
			most[i] = 0;
		least[i] = FTR_MIN(least[i], o->chain[l]);
		if (o->chain[l] == least[i])
			most[i] = FTR_MAX(most[i], o->reach[l]);
	}
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t i = o->island[s], l = sh->numbering.col[s];
		bool leaf = l < sh->tree.n_leaf;

		if (leaf && (o->chain[l] > least[i] ||
			     o->reach[l] + most[i] / ROOT_SHARE < most[i]))
			continue;
		if (o->root[i] == NONE ||
		    preferred(o, s, o->root[i], avoid))
			o->root[i] = s;
	}
	if (sh->numbering.up_path)
		choose_hubs(o, avoid);
}

/* Who is in A, who can climb into it: from the top rank down. */
static void sort_kinds(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;

	for (uint32_t k = sh->f->n_sw; k-- > 0;) {
		ftr_sw s = o->by_rank[k], root = o->root[o->island[s]];
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];

		o->kind[s] = OUTSIDE;
		if (ftr_shape_down(sh, s)[sh->numbering.col[root]] != FTR_COST_INF)
			o->kind[s] = IN_A;
		for (uint32_t i = 0; i < sh->tree.n_up[s] && !o->kind[s]; i++)
			if (o->kind[g[i].remote] != OUTSIDE)
				o->kind[s] = CLIMBS;
	}
}

/* ---- parts and their anchors -------------------------------------------- */

static void find_parts(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw;

	ftr_uf_init(o->part, n);
	for (ftr_sw s = 0; s < n; s++)
		for_each_group(sh, s, g)
			if (o->kind[s] == OUTSIDE &&
			    o->kind[g->remote] == OUTSIDE)
				ftr_uf_union(o->part, s, g->remote);
	for (ftr_sw s = 0; s < n; s++)
		o->part[s] = ftr_uf_find(o->part, s);
}

/* Switches of one part that can be reached from a by going up, into o->queue;
 * they are marked with a new stamp.  Returns how many. */
static uint32_t climb(struct ordering *o, ftr_sw a, uint32_t part)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t head = 0, n = 0;
	ftr_sw from = a;

	o->stamp++;
	for (;;) {
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[from]];

		for (uint32_t i = 0; i < sh->tree.n_up[from]; i++) {
			ftr_sw s = g[i].remote;

			if (o->kind[s] != OUTSIDE || o->part[s] != part ||
			    o->seen[s] == o->stamp)
				continue;
			o->seen[s] = o->stamp;
			o->queue[n++] = s;
		}
		if (head == n)
			return n;
		from = o->queue[head++];
	}
}

static void collect_offers(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
		uint32_t before = o->stamp;

		for (uint32_t i = 0; o->kind[s] == CLIMBS && i < sh->tree.n_up[s];
		     i++) {
			ftr_sw r = g[i].remote;

			/* a part is searched once for each s */
			if (o->kind[r] != OUTSIDE || o->seen[r] > before)
				continue;
			o->offer[o->n_offers++] = (struct offer){
				s, o->part[r], climb(o, s, o->part[r])
			};
		}
	}
}

/* Of the offers that reach nearly as much of a part as the best, take that of
 * the switch which serves most parts, then of the smallest GUID. */
static void choose_anchors(struct ordering *o)
{
	uint32_t n = o->sh->f->n_sw;
	const struct offer *end = o->offer + o->n_offers;

	memset(o->best, 0, n * sizeof(*o->best));
	memset(o->score, 0, n * sizeof(*o->score));
	memset(o->anchor, 0xff, n * sizeof(*o->anchor));
	for (const struct offer *f = o->offer; f < end; f++)
		o->best[f->part] = FTR_MAX(o->best[f->part], f->size);
	for (const struct offer *f = o->offer; f < end; f++)
		o->score[f->s] += f->size + o->best[f->part] / ROOT_SHARE >=
			o->best[f->part];
	for (const struct offer *f = o->offer; f < end; f++) {
		ftr_sw *a = &o->anchor[f->part];

		if (f->size + o->best[f->part] / ROOT_SHARE >=
		    o->best[f->part] &&
		    (*a == NONE || o->score[f->s] > o->score[*a]))
			*a = f->s;
	}
	for (uint32_t p = 0; p < n; p++)
		if (o->anchor[p] != NONE)
			o->is_anchor[o->anchor[p]] = 1;
}

/* ---- placing ------------------------------------------------------------- */

/* Put s just below t; t == NONE: on top of all. */
static void put_below(struct ordering *o, ftr_sw s, ftr_sw t)
{
	ftr_sw p = t == NONE ? o->high : o->prev[t];

	o->next[s] = t;
	o->prev[s] = p;
	if (p == NONE)
		o->low = s;
	else
		o->next[p] = s;
	if (t == NONE)
		o->high = s;
	else
		o->prev[t] = s;
}

static void number_places(struct ordering *o)
{
	uint32_t at = 0;

	for (ftr_sw s = o->low; s != NONE; s = o->next[s])
		o->place[s] = ++at;
}

/* Rules 1 and 2 for all islands at once: they do not touch.  Inside a rank
 * anchors come last. */
static void place_most(struct ordering *o)
{
	const uint8_t *rank = o->sh->tree.rank;
	uint32_t n = o->sh->f->n_sw;

	o->low = o->high = NONE;
	for (uint32_t k = 0, end; k < n; k = end) {
		for (end = k; end < n &&
		     rank[o->by_rank[end]] == rank[o->by_rank[k]]; end++)
			;
		for (int anchors = 0; anchors < 2; anchors++)
			for (uint32_t i = k; i < end; i++)
				if (o->kind[o->by_rank[i]] == CLIMBS &&
				    o->is_anchor[o->by_rank[i]] == anchors)
					put_below(o, o->by_rank[i], NONE);
	}
	for (uint32_t k = n; k-- > 0;)
		if (o->kind[o->by_rank[k]] == IN_A)
			put_below(o, o->by_rank[k], NONE);
}

/* Rule 3 for one part. */
static void place_part(struct ordering *o, uint32_t part)
{
	const struct ftr_shape *sh = o->sh;
	ftr_sw a = o->anchor[part];
	uint32_t n = sh->f->n_sw;
	uint32_t up;		/* stamp of what the anchor reaches going up */

	climb(o, a, part);
	up = o->stamp++;
	for (uint32_t k = n; k-- > 0;) {	/* what climbs into that */
		ftr_sw s = o->by_rank[k];
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];

		if (o->kind[s] != OUTSIDE || o->part[s] != part ||
		    o->seen[s] == up)
			continue;
		for (uint32_t i = 0; i < sh->tree.n_up[s]; i++)
			if (o->seen[g[i].remote] >= up)
				o->seen[s] = o->stamp;
	}
	for (uint32_t k = 0; k < n; k++)
		if (o->seen[o->by_rank[k]] == o->stamp)
			put_below(o, o->by_rank[k], a);
	for (uint32_t k = n; k-- > 0;)
		if (o->seen[o->by_rank[k]] == up)
			put_below(o, o->by_rank[k], a);
	for (ftr_sw s = 0; s < n; s++)
		if (o->seen[s] >= up)
			o->kind[s] = BELOW_ANCHOR;
}

/* Rule 4.  place is 0 for those that have none yet. */
static void place_rest(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t head = 0, tail = 0;

	for (ftr_sw s = o->low; s != NONE; s = o->next[s])
		o->queue[tail++] = s;
	while (head < tail) {
		ftr_sw from = o->queue[head++];

		for_each_group(sh, from, g) {
			ftr_sw s = g->remote, best = from;

			if (o->place[s])
				continue;
			for_each_group(sh, s, h)
				if (o->place[h->remote] > o->place[best])
					best = h->remote;
			put_below(o, s, best);
			number_places(o);
			o->queue[tail++] = s;
		}
	}
}

static void place_all(struct ordering *o)
{
	find_parts(o);
	collect_offers(o);
	choose_anchors(o);
	place_most(o);
	for (uint32_t p = 0; p < o->sh->f->n_sw; p++)
		if (o->anchor[p] != NONE)
			place_part(o, p);
	number_places(o);
	place_rest(o);
}

/* Level: the longest chain of neighbours below, in the order. */
static enum ftr_status to_levels(const struct ordering *o, uint16_t *level,
				 struct ftr_err *err)
{
	for (ftr_sw s = o->low; s != NONE; s = o->next[s]) {
		uint32_t l = 0;

		for_each_group(o->sh, s, g)
			if (o->place[g->remote] < o->place[s])
				l = FTR_MAX(l, level[g->remote] + 1u);
		if (l > UINT16_MAX - 1)
			return ftr_fail(err, FTR_LIMIT, "the order of switches has more than %u levels",
					UINT16_MAX - 1);
		level[s] = (uint16_t)l;
	}
	return FTR_OK;
}

/* Switches by (rank, index). */
static ftr_sw *sort_by_rank(const struct ftr_shape *sh, struct ftr_arena *a)
{
	uint32_t n = sh->f->n_sw, first[258] = { 0 };
	ftr_sw *out = ftr_arena_alloc(a, n, sizeof(*out));

	for (ftr_sw s = 0; s < n; s++)
		first[sh->tree.rank[s] + 1]++;
	for (int r = 0; r < 257; r++)
		first[r + 1] += first[r];
	for (ftr_sw s = 0; out && s < n; s++)
		out[first[sh->tree.rank[s]]++] = s;
	return out;
}

static ftr_sw root_of_largest(const struct ordering *o)
{
	uint32_t n = o->sh->f->n_sw, *size = o->score, best = 0;

	memset(size, 0, n * sizeof(*size));
	for (ftr_sw s = 0; s < n; s++)
		size[o->island[s]]++;
	for (ftr_sw s = 0; s < n; s++)
		if (size[s] > size[best])
			best = s;
	return o->root[best];
}

enum ftr_status inverted_order(const struct ftr_shape *sh, ftr_sw avoid,
			       struct ftr_arena *arena, uint16_t **level,
			       ftr_sw *root, struct ftr_err *err)
{
	struct ordering o = { .sh = sh };
	ftr_sw *by_rank = sort_by_rank(sh, arena);
	enum ftr_status st;

	*level = ftr_arena_zalloc(arena, sh->f->n_sw, sizeof(**level));
	if (!by_rank || !*level || !allocate(&o, arena))
		return ftr_fail(err, FTR_NOMEM, "out of memory for the order of %u switches",
				sh->f->n_sw);
	o.by_rank = by_rank;
	find_islands(&o);
	measure_reach(&o);
	choose_roots(&o, avoid);
	sort_kinds(&o);
	place_all(&o);
	st = to_levels(&o, *level, err);
	if (!st)
		*root = root_of_largest(&o);
	return st;
}
