// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choice of the leaf seeds (rank.c, rule 6).
 *
 * Rule 1 fails if upper switches have as many hosts as leaves: two spines with ten storage
 * nodes each, or chips of a core chassis with four hosts above edge switches with four.  Links
 * then lead up to switches that are really leaves, and a few of them carry all traffic.
 * OpenSM does not help: ftree takes every switch with a host for a leaf, and updn finds no
 * roots where hosts are on spines; both leave such fabrics to min-hop.
 *
 * Two designs were compared.  A better rule for one switch, by its share of hosts, has a
 * threshold that is wrong somewhere: a rack that is half empty looks like a spine with storage
 * nodes.  So the result is judged instead, and the rule only proposes.  Sort the switches with
 * hosts by hosts for each link to another switch.  A set of leaf seeds is everything above
 * one of the MAX_CUTS largest gaps in this sequence, if it has half of the hosts; leaves with
 * few hosts, which are below it, are found by rule 3.  Rules 2 to 5 are applied to each set.  The set that was chosen is tried
 * once more with LEAST_SHARE in place of LOW_SHARE, because chips that are connected to many
 * spines and few rows have a small share.
 *
 * A different result replaces the best one so far if the congestion that follows from it
 * (congestion.c) is clearly less, or less with fewer ranks, or at most half with more, and if
 * it does not leave many more pairs without an up/down path.  In trees whose hosts are on leaves all sets lead to
 * the same heights, and nothing is estimated.
 *
 * A fabric of at most MAX_FLAT switches that all have hosts, and none above them, has no
 * levels: a ring, a mesh, a HyperX.  Rule 5 leaves many of its links horizontal and unused.
 * Each switch is tried as the only root of an order in which every link leads up or down.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/congestion.h"
#include "shape/rank.h"

#define LOW_SHARE 8
#define LEAST_SHARE 64
#define MAX_CUTS 8
#define MAX_FLAT 64		/* switches of a fabric without levels */
#define MIN_GAP 1.1		/* least ratio between the two sides of a gap */
#define GAIN 0.9		/* congestion that is clearly less, in parts of the best */
#define DEEP_GAIN 0.5		/* the same if there are more ranks */
#define MORE_APART 0.1		/* of the pairs of hosts on different switches */

struct ranking {
	int32_t *height;
	uint8_t *seeds;		/* leaf seeds */
	uint8_t *is_leaf, *is_stub;
	struct congestion cost;
	bool estimated;		/* cost is set */
};

/* Hosts and links of a switch. */
struct mix {
	uint32_t hosts, links;
};

/* Descending by hosts for each link. */
static int mix_cmp(const void *x, const void *y)
{
	const struct mix *a = x, *b = y;
	uint64_t p = (uint64_t)a->hosts * b->links;
	uint64_t q = (uint64_t)b->hosts * a->links;

	return (p < q) - (p > q);
}

/* The largest gaps in the sequence of mixes: cut[k] is the last mix above a gap.  Returns
 * their number. */
static uint32_t find_cuts(const struct mix *mix, uint32_t n, struct mix *cut)
{
	double gap[MAX_CUTS];
	uint32_t n_cuts = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		double ratio = (double)mix[i].hosts * mix[i + 1].links /
			((double)mix[i + 1].hosts * mix[i].links);
		uint32_t k;

		if (!mix[i].links || ratio < MIN_GAP)
			continue;
		if (n_cuts < MAX_CUTS)
			n_cuts++;
		else if (gap[n_cuts - 1] >= ratio)
			continue;
		for (k = n_cuts - 1; k > 0 && gap[k - 1] < ratio; k--) {
			gap[k] = gap[k - 1];
			cut[k] = cut[k - 1];
		}
		gap[k] = ratio;
		cut[k] = mix[i];
	}
	return n_cuts;
}

static void use(struct shaping *z, const struct ranking *r)
{
	z->is_leaf = r->is_leaf;
	z->is_stub = r->is_stub;
}

/* Allocate a ranking; z then works on it. */
static enum ftr_status ranking_new(struct shaping *z, struct ranking *r)
{
	uint32_t n = z->f->n_sw;

	*r = (struct ranking){ 0 };
	if (!FTR_NEW(z->scratch, r->height, n) ||
	    !FTR_NEW(z->scratch, r->seeds, n) ||
	    !FTR_NEW(z->scratch, r->is_leaf, n) ||
	    !FTR_ZNEW(z->keep, r->is_stub, n))
		return shape_nomem(z);
	use(z, r);
	return FTR_OK;
}

static enum ftr_status estimate(struct shaping *z, struct ranking *r)
{
	enum ftr_status st = r->estimated ? FTR_OK :
		shape_congestion(z, r->height, &r->cost);

	r->estimated = true;
	return st;
}

/* Rule 6: is a better than b? */
static bool is_better(const struct shaping *z, const struct ranking *a,
		      const struct ranking *b)
{
	double x = a->cost.max * a->cost.max * a->cost.squares;
	double y = b->cost.max * b->cost.max * b->cost.squares;

	uint32_t p = rank_span(z, a->height), q = rank_span(z, b->height);

	if (a->cost.apart > b->cost.apart + MORE_APART)
		return false;
	return x < (p > q ? DEEP_GAIN : p < q ? 1 : GAIN) * y;
}

/* Replace *best by ranking r if that is new and better; old: n_old rankings before it. */
static enum ftr_status compare(struct shaping *z, struct ranking *r,
			       const struct ranking *old, uint32_t n_old,
			       struct ranking **best)
{
	size_t size = z->f->n_sw * sizeof(*r->height);
	enum ftr_status st;

	if (rank_span(z, r->height) >= MAX_RANKS)
		return FTR_OK;
	for (uint32_t i = 0; i < n_old; i++)
		if (!memcmp(r->height, old[i].height, size))
			return FTR_OK;
	st = estimate(z, *best);
	if (!st)
		st = estimate(z, r);
	if (!st && is_better(z, r, *best))
		*best = r;
	return st;
}

/* The mixes of all switches with hosts, descending; returns their number. */
static uint32_t sorted_mixes(const struct shaping *z, struct mix *mix)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (z->hosts[s])
			mix[n++] = (struct mix){ z->hosts[s], rank_links(z, s) };
	qsort(mix, n, sizeof(*mix), mix_cmp);
	return n;
}

/* Set the leaf seeds to the switches whose mix is at least cut.  False: these have less than
 * half of the hosts. */
static bool seed_mixes(struct shaping *z, const struct mix *cut)
{
	uint64_t seeds = 0, all = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		struct mix m = { z->hosts[s], rank_links(z, s) };

		z->is_leaf[s] = m.hosts && mix_cmp(&m, cut) <= 0;
		seeds += z->is_leaf[s] ? m.hosts : 0;
		all += m.hosts;
	}
	return 2 * seeds >= all;
}

/* ---- fabrics without levels ---------------------------------------------- */

/* Is the fabric a mesh or a ring: are hosts on all switches, and is there no tree above? */
static bool is_flat(const struct shaping *z, const int32_t *height)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (height[s] > 0 || !z->hosts[s])
			return false;
	return true;
}

/* Place of a switch in an order: less is higher. */
struct place {
	uint32_t depth, links;
	ftr_sw sw;
};

static int place_cmp(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->links != b->links)
		return a->links > b->links ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

/* Set the depth of the switches in the component of root, and put them first in list.  All
 * depths must be UINT32_MAX.  Returns their number. */
static uint32_t depths(const struct shaping *z, ftr_sw root, uint32_t *depth,
		       ftr_sw *list)
{
	uint32_t n = 1;

	depth[root] = 0;
	list[0] = root;
	for (uint32_t i = 0; i < n; i++)
		for_each_nbr(z, list[i], t)
			if (depth[t->sw] == UINT32_MAX) {
				depth[t->sw] = depth[list[i]] + 1;
				list[n++] = t->sw;
			}
	return n;
}

/* Rank the component of root: every link leads up to the end that is closer to root, has more
 * links, or comes first.  A switch is one above the highest switch below it. */
static enum ftr_status rank_from(struct shaping *z, ftr_sw root,
				 int32_t *height)
{
	uint32_t n = z->f->n_sw, *depth;
	struct place *place;
	ftr_sw *list;

	if (!FTR_NEW(z->scratch, depth, n) || !FTR_NEW(z->scratch, list, n) ||
	    !FTR_NEW(z->scratch, place, n))
		return shape_nomem(z);
	memset(depth, 0xff, n * sizeof(*depth));
	n = depths(z, root, depth, list);
	for (uint32_t i = 0; i < n; i++) {
		place[i] = (struct place){
			depth[list[i]], rank_links(z, list[i]), list[i],
		};
		height[list[i]] = NO_HEIGHT;
	}
	qsort(place, n, sizeof(*place), place_cmp);
	while (n-- > 0) {
		int32_t h = 0;

		for_each_nbr(z, place[n].sw, t)
			if (height[t->sw] != NO_HEIGHT)
				h = FTR_MAX(h, height[t->sw] + 1);
		height[place[n].sw] = h;
	}
	return FTR_OK;
}

/* Replace *best by a ranking from a single root in which no link is horizontal, if that is
 * better. */
static enum ftr_status single_root(struct shaping *z, struct ranking **best,
				   struct ranking r[2])
{
	uint32_t n = z->f->n_sw;
	struct ranking *next = &r[0];

	for (ftr_sw root = 0; root < n; root++) {
		enum ftr_status st = ranking_new(z, next);

		if (st)
			return st;
		memcpy(next->height, (*best)->height, n * sizeof(*next->height));
		memset(next->is_leaf, 1, n);
		st = rank_from(z, root, next->height);
		if (!st)
			st = compare(z, next, NULL, 0, best);
		if (st)
			return st;
		if (*best == next)
			next = next == r ? r + 1 : r;
	}
	return FTR_OK;
}

/* Ranking 0 is that of rule 1; then come the cuts; then the best of these with
 * LEAST_SHARE. */
enum ftr_status shape_heights(struct shaping *z)
{
	uint32_t n = z->f->n_sw, n_cuts, k;
	uint32_t *tmp = ftr_arena_alloc(z->scratch, n, sizeof(*tmp));
	struct mix cut[MAX_CUTS];
	struct mix *mix = ftr_arena_alloc(z->scratch, n, sizeof(*mix));
	struct ranking r[MAX_CUTS + 2], flat[2], *best = r;
	enum ftr_status st;

	if (!tmp || !mix)
		return shape_nomem(z);
	n_cuts = find_cuts(mix, sorted_mixes(z, mix), cut);
	for (k = 0; k < n_cuts + 2; k++) {
		bool enough = true;

		st = ranking_new(z, &r[k]);
		if (st)
			return st;
		if (!k)
			rank_seed_leaves(z, tmp);
		else if (k <= n_cuts)
			enough = seed_mixes(z, &cut[k - 1]);
		else
			memcpy(z->is_leaf, best->seeds, n);
		memcpy(r[k].seeds, z->is_leaf, n);
		st = rank_heights(z, r[k].height,
				  k <= n_cuts ? LOW_SHARE : LEAST_SHARE);
		if (!st && k && enough)
			st = compare(z, &r[k], r, k, &best);
		if (st)
			return st;
	}
	if (n <= MAX_FLAT && is_flat(z, r[0].height)) {
		st = single_root(z, &best, flat);
		if (st)
			return st;
	}
	use(z, best);
	z->height = best->height;
	return FTR_OK;
}
