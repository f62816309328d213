// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inverted order: a total order of the switches.  Every switch reaches the highest switch (the
 * root, usually a leaf) by going up.
 *
 * Bogdanski et al. 2012 connect switches without an up/down path by one turn from down to up inside
 * a subtree.  The subtree is one leaf (its root) and the switches above this leaf.  If the subtree
 * is turned upside down, these turns lead from up to down, and up/down routing permits them.
 *
 * Terms ("up" and "down" refer to the ranks of the shape; each island, that is, each connected
 * component of the fabric, is ordered separately):
 *
 *	A	the root, and all switches that the root reaches by going up
 *	part	a connected set of switches outside A that have no upward path into A, for example
 *		a plane that lost its link to the root
 *	anchor	a switch with one upward path into A and another one into a part; usually a leaf.
 *		The order is made so that the part is reached through this switch
 *
 * The inverted order of an island is built by these rules:
 *
 *	1. Lowest are the switches outside A with an upward path into A.  They are sorted by
 *	   ascending rank.  Among switches of one rank, anchors are highest.
 *	2. Above them are the switches of A, by descending rank: top switches lowest, the root
 *	   highest.
 *	3. Let P be the switches of a part that its anchor reaches by going up.  They are just below
 *	   the anchor, by descending rank.  Just below P, by ascending rank, are all other switches
 *	   of the part with an upward path into P.  By rule 1, leaves that are not anchors are below
 *	   the anchor.  So they are also below these switches of the part, and their hosts still
 *	   use the part.
 *	4. The remaining switches are visited breadth first.  Each is inserted just below its
 *	   highest neighbour that is in the order already.
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
 * Every switch except the root has a neighbour that is higher in this order.  So every switch
 * reaches the root by going up, and the root reaches every switch by going down.  So up/down
 * routing by this order connects all pairs.  Its channel dependency graph has no cycle, as for any
 * up/down routing by a total order.
 *
 * On a complete tree, paths between hosts are the same as with up/down routing by rank.  For
 * example, a path from the root goes up inside A by rank, and then down outside A.  In this order,
 * all links of the same path lead down.
 *
 * Leaves inside A reach each other only through the root, so A should have few leaves.  The root is
 * chosen as follows:
 *
 *	1. Consider the leaves with the least chain[]: the number of leaves above, plus the number
 *	   of neighbours below.  Usually both numbers are 0.
 *	2. Of these, consider the leaves with nearly the largest A (ROOT_SHARE).  So the loss of
 *	   one link rarely changes the root.
 *	3. Of these, the root is the leaf with the smallest GUID.
 *
 * In an island without a leaf, the switch with the smallest GUID is the root.
 *
 * deviation: if the shape has upward paths (member up_path, <ftr/shape.h>), the root need not be a
 * leaf.  If switches that are not leaves reach all top switches by going up, the root is the one of
 * them with the highest rank.  If some pairs of host ports have no up/down path by rank, it is the
 * one that reaches the most top switches.  An example is a leaf switch of a chassis, with rack
 * switches below it.  (Only the rack switches are leaves of the fabric.)  If a rack switch were
 * the root, all chassis leaf switches above it would be in A.  Packets between them would pass
 * through the rack switch and share its few links.  If a chassis leaf switch is the root, only the
 * spines above it are upside down, and no path of a host changes.  If two chassis are joined only
 * by rack switches, one of them keeps all its up/down paths by rank, and only the other one is a
 * part.  The shape of a PGFT has no up_path, so its root is a leaf.
 *
 * If hosts are connected to switches of A, the root may be a bottleneck.  Then another leaf becomes
 * the root (root.c).
 *
 * deviation: a part has further anchors: leaves that are connected to the same switches of the part
 * as the first anchor.  All anchors are above the part in the order, and carry traffic between the
 * part and the other switches in both directions.  But anchors cannot reach each other over the
 * part, so their number is limited (GATEWAY_SHARE).
 */
#include <string.h>

#include "base/bytes.h"
#include "engine/engine.h"

/* Let n be the size of the largest A of all leaves considered.  A leaf may be the root only if its
 * A has at least n - n / ROOT_SHARE switches.  A similar rule applies to anchors: let m be the
 * greatest number of switches of a part that one switch reaches.  A switch may be the first anchor
 * of the part only if it reaches at least m - m / ROOT_SHARE switches of the part. */
#define ROOT_SHARE 4
/* At most 1 / GATEWAY_SHARE of the leaves with an upward path into A become further anchors of a
 * part. */
#define GATEWAY_SHARE 16

#define NONE UINT32_MAX

/* An offer: switch s may become the anchor of a part. */
struct offer {
	ftr_sw s;
	uint32_t part, size;	/* size: number of switches of the part that s reaches by going
				 * up */
};

struct ordering {
	const struct ftr_shape *sh;
	const ftr_sw *by_rank;	/* [n_sw] switches by rank, then by index */
	bool some_apart;	/* true: some pairs of host ports have no up/down path by rank */
	uint32_t *island;	/* island[s]: least index of a switch in the island of s */
	/* Here t is the switch sh->numbering.col_sw[l].  reach[l]: number of switches in A if t is
	 * the root; chain[l]: number of leaves above t, plus 1 if t is a leaf, plus number of
	 * downward groups of t; tops[l]: number of switches of A without an upward link if t is the
	 * root */
	uint32_t *reach;
	uint32_t *chain;
	uint32_t *tops;
	ftr_sw *root;		/* root[i]: root of island i */
	uint8_t *kind;		/* kind[s]: OUTSIDE, CLIMBS, ... */
	uint32_t *part;		/* part[s]: least index of a switch in the part of s */
	ftr_sw *anchor;		/* anchor[p]: first anchor of part p, through which the part is
				 * reached; or NONE */
	ftr_sw *above;		/* above[p]: of all anchors of part p, the lowest in the order */
	uint8_t *is_anchor;	/* is_anchor[s] is 1 for an anchor */
	struct offer *offer;	/* the offers for all parts */
	uint32_t n_offers;
	uint32_t *seen, stamp;	/* seen[s] == stamp: the current search has visited s */
	uint32_t *best, *score;	/* [n_sw] scratch */
	ftr_sw *queue;
	/* the order as a doubly linked list, from low to high.  place[s]: position of s in the
	 * order, 1 for the lowest; 0: s is not in the order yet */
	uint32_t *next, *prev, *place;
	ftr_sw low, high;
};

/* Kinds of switches.  OUTSIDE: in a part, not in the order yet.  CLIMBS: outside A, with an upward
 * path into A.  IN_A: in A.  BELOW_ANCHOR: in a part, put into the order by rule 3. */
enum { OUTSIDE, CLIMBS, IN_A, BELOW_ANCHOR };

static bool allocate(struct ordering *o, struct ftr_arena *a)
{
	uint32_t n = o->sh->f->n_sw;
	uint32_t **array[] = {
		&o->island, &o->reach, &o->chain, &o->tops, &o->root, &o->part,
		&o->anchor, &o->above, &o->seen, &o->best, &o->score, &o->queue,
		&o->next, &o->prev, &o->place,
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(array); i++) {
		*array[i] = ftr_arena_zalloc(a, n, sizeof(**array[i]));
		if (!*array[i])
			return false;
	}
	return FTR_ZNEW(a, o->kind, n) && FTR_ZNEW(a, o->is_anchor, n) &&
	       FTR_NEW(a, o->offer, o->sh->tree.group_first[n]);
}

static void measure_reach(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw;

	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *down = ftr_shape_down(sh, s);
		bool leaf = sh->numbering.col[s] < sh->tree.n_leaf;

		for (uint32_t l = 0; l < n; l++) {
			if (l % BYTES_WORD == 0 &&
			    bytes_word(down + l) == BYTES_WORD_INF) {
				l += BYTES_WORD - 1;
				continue;
			}
			o->reach[l] += down[l] != FTR_COST_INF;
			o->chain[l] += leaf && down[l] != FTR_COST_INF;
			o->tops[l] += !sh->tree.n_up[s] && down[l] != FTR_COST_INF;
		}
		o->chain[sh->numbering.col[s]] += sh->tree.n_down[s];
	}
}

/* Returns true if switch `a` is a better root than switch `b`.  First criterion: a leaf is better
 * than another switch.  Second: the switch `avoid` is worse.  Third: the smaller GUID is better. */
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

static bool may_be_hub(const struct ordering *o, ftr_sw s, ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;

	return sh->numbering.col[s] >= sh->tree.n_leaf && s != avoid &&
		(!o->some_apart || sh->tree.n_up[s]);
}

/* Replace the root of each island by a switch that is not a leaf, if there is a suitable one.  It
 * must reach all top switches by going up; if some pairs of host ports have no up/down path by
 * rank, the greatest number of top switches.  Of several, take the one with the highest rank. */
static void choose_hubs(struct ordering *o, ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;
	/* tops[i]: number of top switches that the root of island i must reach */
	uint32_t n = sh->f->n_sw, *tops = o->score;

	memset(tops, 0, n * sizeof(*tops));
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t *most = &tops[o->island[s]];

		if (!o->some_apart)
			*most += !sh->tree.n_up[s];
		else if (may_be_hub(o, s, avoid))
			*most = FTR_MAX(*most, o->tops[sh->numbering.col[s]]);
	}
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t i = o->island[s], l = sh->numbering.col[s];
		ftr_sw *r = &o->root[i];

		if (!may_be_hub(o, s, avoid) || o->tops[l] < tops[i])
			continue;
		if (sh->numbering.col[*r] < sh->tree.n_leaf || sh->tree.rank[s] > sh->tree.rank[*r])
			*r = s;
	}
}

static void choose_roots(struct ordering *o, ftr_sw avoid)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw;
	/* least[i]: least chain[] of a leaf of island i; most[i]: size of the largest A of the
	 * leaves with this chain[] */
	uint32_t *most = o->best;
	uint32_t *least = o->score;

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
}

static void sort_kinds(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;

	for (uint32_t k = sh->f->n_sw; k-- > 0;) {
		ftr_sw s = o->by_rank[k], root = o->root[o->island[s]];

		o->kind[s] = OUTSIDE;
		for_each_up(sh, s, g)
			if (o->kind[g->remote] != OUTSIDE)
				o->kind[s] = CLIMBS;
		if (ftr_shape_down(sh, s)[sh->numbering.col[root]] != FTR_COST_INF)
			o->kind[s] = IN_A;
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

static bool is_in_part(const struct ordering *o, ftr_sw s, uint32_t part)
{
	return o->kind[s] == OUTSIDE && o->part[s] == part;
}

/* Find the switches of `part` that switch `a` reaches by going up inside the part.  Store them in
 * o->queue, and mark each of them by o->seen[s] = o->stamp, with a new stamp.  Returns their
 * number. */
static uint32_t climb(struct ordering *o, ftr_sw a, uint32_t part)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t head = 0, n = 0;
	ftr_sw from = a;

	o->stamp++;
	for (;;) {
		for_each_up(sh, from, g) {
			ftr_sw s = g->remote;

			if (!is_in_part(o, s, part) || o->seen[s] == o->stamp)
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
		uint32_t before = o->stamp;

		if (o->kind[s] != CLIMBS)
			continue;
		for_each_up(sh, s, g) {
			ftr_sw r = g->remote;

			if (o->kind[r] != OUTSIDE || o->seen[r] > before)
				continue;
			o->offer[o->n_offers++] = (struct offer){
				s, o->part[r], climb(o, s, o->part[r])
			};
		}
	}
}

/* Choose the first anchor of each part, through which the part is reached.  Only switches that
 * reach nearly the most switches of the part are considered (ROOT_SHARE).  Of these, take the
 * switch that can be the anchor of the most parts; on a tie, the one with the smallest GUID. */
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
	memcpy(o->above, o->anchor, n * sizeof(*o->above));
	for (uint32_t p = 0; p < n; p++)
		if (o->anchor[p] != NONE)
			o->is_anchor[o->anchor[p]] = 1;
}

/* Find the upward neighbours of s that are in the part.  Mark each of them in o->seen with a new
 * stamp.  Returns their number. */
static uint32_t mark_above(struct ordering *o, ftr_sw s, uint32_t part)
{
	uint32_t n = 0;

	o->stamp++;
	for_each_up(o->sh, s, g)
		if (is_in_part(o, g->remote, part)) {
			o->seen[g->remote] = o->stamp;
			n++;
		}
	return n;
}

/* Returns true if the upward neighbours of s in the part are the n switches that mark_above()
 * marked. */
static bool same_above(const struct ordering *o, ftr_sw s, uint32_t part,
		       uint32_t n)
{
	for_each_up(o->sh, s, g)
		if (is_in_part(o, g->remote, part) &&
		    (!n-- || o->seen[g->remote] != o->stamp))
			return false;
	return !n;
}

static void add_anchors(struct ordering *o)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw, leaves = 0;

	for (ftr_sw s = 0; s < n; s++)
		leaves += o->kind[s] == CLIMBS && !sh->tree.rank[s];
	for (uint32_t p = 0; p < n; p++) {
		ftr_sw a = o->anchor[p];
		uint32_t left = leaves / GATEWAY_SHARE, above;

		if (a == NONE || sh->tree.rank[a])
			continue;
		above = mark_above(o, a, p);
		for (ftr_sw s = 0; s < n && left; s++) {
			if (s == a || o->kind[s] != CLIMBS ||
			    sh->tree.rank[s] || !same_above(o, s, p, above))
				continue;
			o->is_anchor[s] = 1;
			o->above[p] = FTR_MIN(o->above[p], s);
			left--;
		}
	}
}

/* ---- placing ------------------------------------------------------------- */

/* Insert s into the order just below t, or as the highest switch if t is NONE. */
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

/* Apply rules 1 and 2, to all islands at once.  Between switches of different islands, the order
 * does not matter. */
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

static void place_part(struct ordering *o, uint32_t part)
{
	ftr_sw at = o->above[part];
	uint32_t n = o->sh->f->n_sw;
	uint32_t up;		/* the mark in seen[] of the switches of the part that the anchor
				 * reaches by going up */

	climb(o, o->anchor[part], part);
	up = o->stamp++;
	/* mark the other switches of the part with an upward path to a switch whose mark is `up` */
	for (uint32_t k = n; k-- > 0;) {
		ftr_sw s = o->by_rank[k];

		if (!is_in_part(o, s, part) || o->seen[s] == up)
			continue;
		for_each_up(o->sh, s, g)
			if (o->seen[g->remote] >= up)
				o->seen[s] = o->stamp;
	}
	for (uint32_t k = 0; k < n; k++)
		if (o->seen[o->by_rank[k]] == o->stamp)
			put_below(o, o->by_rank[k], at);
	for (uint32_t k = n; k-- > 0;)
		if (o->seen[o->by_rank[k]] == up)
			put_below(o, o->by_rank[k], at);
	for (ftr_sw s = 0; s < n; s++)
		if (o->seen[s] >= up)
			o->kind[s] = BELOW_ANCHOR;
}

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
	add_anchors(o);
	place_most(o);
	for (uint32_t p = 0; p < o->sh->f->n_sw; p++)
		if (o->anchor[p] != NONE)
			place_part(o, p);
	number_places(o);
	place_rest(o);
}

/* Set level[s] to the number of links of the longest path that goes down from s in the order. */
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

static bool find_roots(struct ordering *o, ftr_sw avoid, struct ftr_arena *arena)
{
	engine_islands(o->sh, o->island);
	measure_reach(o);
	choose_roots(o, avoid);
	if (!roots_by_load(o->sh, o->island, avoid, o->root, arena) ||
	    !needs_gateways(o->sh, o->island, &o->some_apart, arena))
		return false;
	if (o->sh->numbering.up_path)
		choose_hubs(o, avoid);
	return true;
}

enum ftr_status inverted_order(const struct ftr_shape *sh, ftr_sw avoid,
			       struct ftr_arena *arena, uint16_t **level, ftr_sw *root,
			       struct ftr_err *err)
{
	struct ordering o = { .sh = sh };
	ftr_sw *by_rank = sort_by_rank(sh, arena);
	enum ftr_status st;

	*level = ftr_arena_zalloc(arena, sh->f->n_sw, sizeof(**level));
	if (!by_rank || !*level || !allocate(&o, arena) || !find_roots(&o, avoid, arena))
		return ftr_nomem(err, "the order of %u switches", sh->f->n_sw);
	o.by_rank = by_rank;
	sort_kinds(&o);
	place_all(&o);
	st = to_levels(&o, *level, err);
	if (!st)
		*root = root_of_largest(&o);
	return st;
}
