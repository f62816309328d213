// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choice of the leaf seeds (rank.c, rule 6).
 *
 * Rule 1 (rank.c) fails if upper switches have as many hosts as leaves.  Examples are two spines
 * with ten storage nodes each, or a core chassis whose chips have four hosts each, as many as
 * each edge switch below. These upper switches would become leaves, and the few links that still
 * lead up would carry all traffic. OpenSM does not solve this either: ftree takes every
 * switch with a host for a leaf, and updn finds no roots if hosts are on spines. In both
 * cases OpenSM falls back to min-hop.
 *
 * Two designs were compared.  The first one decides for each switch alone, by its ratio of
 * hosts to links.  It needs a threshold, and every threshold is wrong for some fabric: a rack
 * that is half empty has the ratio of a spine with storage nodes.  The second one, which is
 * used here, proposes several sets of leaf seeds and compares the results:
 *
 *  - Sort the switches with hosts by the number of hosts per link to another switch,
 *    descending. Each of the MAX_CUTS largest gaps in this sequence gives one set: all
 *    switches before the gap, if they have at least half of the hosts. Leaves with few hosts
 *    come after the gap; rule 3 finds them.
 *  - Apply rules 2 to 5 to each set.  Apply them once more to the best set, with LEAST_SHARE
 *    in place of LOW_SHARE: chips that are connected to many spines but to few leaves have
 *    only a small share of neighbours with a height.
 *
 * A new result replaces the best one so far if it leads to clearly less congestion: less than GAIN
 * times as much, or less than DEEP_GAIN times as much if it has more ranks. If it has fewer ranks,
 * any smaller amount suffices. (The amount of congestion is the square of the greatest load, times
 * the sum of the squares of all loads; see congestion.h.) The new result must not leave many more
 * pairs without an up/down path (MORE_APART). If all sets lead to the same heights, as in most
 * trees whose hosts are all on leaves, no congestion is estimated.
 *
 * A fabric has no levels if every switch has hosts and none is above the others: a ring, a
 * mesh, a HyperX.  Rule 5 makes many of its links horizontal, so they are not used.  If such a
 * fabric has at most MAX_FLAT switches, each switch is also tried as the only root of an order
 * in which every link leads up or down.
 *
 * If the administrator gives roots, they decide the ranks, and rules 6 and 7 are not used.
 *
 * Rule 7. One more host can change the result of rules 1 and 6, and then nearly all tables change.
 * So, if the ranks of an earlier shape are given, they are kept unless the inferred ranks are much
 * better. Much better means that the number of pairs without an up/down path is less than KEEP_GAIN
 * times that of the earlier ranks; or that the amount of congestion is less than KEEP_GAIN times
 * theirs, and there are not many more such pairs (MORE_APART). KEEP_GAIN corresponds to a tenth
 * less load on every link. A smaller gain is
 * not worth new tables, and the estimate is not exact enough to show it. If the inferred ranking
 * has more ranks, its amount of congestion must be less than DEEP_GAIN times that of the earlier
 * ranks. If it has fewer ranks, it need only be as good as the earlier one, which corrects ranks
 * that were inferred when the fabric was still incomplete, for example a spine that was ranked
 * below the leaves. Three kinds of switches get their inferred ranks even if the earlier ranks are
 * kept: new switches, stubs of the earlier shape, and switches whose links were moved so that all
 * of them would be horizontal.
 *
 * The state file of the nominal fabric has the ranks of the switches. A shape that is made again
 * from the same fabric and these ranks is identical:
 *
 *  - To keep an earlier rank, the height is set to earlier rank - shift; find_shift() computes the
 *    shift as the most frequent difference between earlier ranks and inferred heights. When the
 *    shape is made again, switches that kept their rank have the same difference as before, and all
 *    others have the most frequent one. So the shift is the same.
 *  - A switch keeps its rank only if a link leads from it to a switch of another rank (is_level).
 *    That switch then keeps its rank for the same reason. So both meet the condition again
 *    when the shape is made again.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/congestion.h"
#include "shape/rank.h"

#define LOW_SHARE 8
#define LEAST_SHARE 64
#define MAX_CUTS 8
#define MAX_FLAT 64		/* greatest number of switches of a fabric that is ranked from each
				 * of its switches */
#define MIN_GAP 1.1		/* a gap: a ratio is at least MIN_GAP times the next smaller one */
#define GAIN 0.9		/* A better ranking has less than GAIN times the congestion of the
				 * best so far. */
#define DEEP_GAIN 0.5		/* used instead of GAIN and of KEEP_GAIN if the new
				 * ranking has more ranks */
#define KEEP_GAIN 0.66		/* A ranking replaces an earlier one if it has less than KEEP_GAIN
				 * times its congestion. 0.66 is about 0.9 to the fourth power: 0.9
				 * times the load. */
#define NO_MORE 1.001		/* used instead of KEEP_GAIN if the new ranking has fewer
				 * ranks; above 1 because of rounding */
#define MORE_APART 0.1		/* greatest number of additional pairs without an up/down path, as a
				 * share of the pairs that are physically connected */

struct ranking {
	int32_t *height;
	uint8_t *seeds;		/* seeds[s]: 1: s is a leaf seed */
	uint8_t *is_leaf, *is_stub;
	struct congestion cost;
	bool estimated;		/* true: cost has been computed */
};

/* The ratio hosts / links: number of hosts of a switch, and number of its links to other
 * switches. */
struct host_ratio {
	uint32_t hosts, links;
};

/* For qsort(): sort ratios in descending order. */
static int ratio_cmp(const void *x, const void *y)
{
	const struct host_ratio *a = x, *b = y;
	uint64_t p = (uint64_t)a->hosts * b->links;
	uint64_t q = (uint64_t)b->hosts * a->links;

	return (p < q) - (p > q);
}

/* Find the largest gaps in the descending sequence of n ratios. cut[k] is the last ratio before the
 * k-th largest gap. Returns the number of gaps, at most MAX_CUTS. */
static uint32_t find_cuts(const struct host_ratio *host_ratio, uint32_t n, struct host_ratio *cut)
{
	double gap[MAX_CUTS];
	uint32_t n_cuts = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		double ratio = (double)host_ratio[i].hosts * host_ratio[i + 1].links /
			((double)host_ratio[i + 1].hosts * host_ratio[i].links);
		uint32_t k;

		if (!host_ratio[i].links || ratio < MIN_GAP)
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
		cut[k] = host_ratio[i];
	}
	return n_cuts;
}

static void use_ranking(struct shaping *z, const struct ranking *r)
{
	z->is_leaf = r->is_leaf;
	z->is_stub = r->is_stub;
}

/* Allocate a ranking, and make z use its arrays. */
static enum ftr_status ranking_new(struct shaping *z, struct ranking *r)
{
	uint32_t n = z->f->n_sw;

	*r = (struct ranking){ 0 };
	if (!FTR_NEW(z->scratch, r->height, n) ||
	    !FTR_NEW(z->scratch, r->seeds, n) ||
	    !FTR_NEW(z->scratch, r->is_leaf, n) ||
	    !FTR_ZNEW(z->keep, r->is_stub, n))
		return shape_nomem(z);
	use_ranking(z, r);
	return FTR_OK;
}

static enum ftr_status estimate(struct shaping *z, struct ranking *r)
{
	enum ftr_status st = r->estimated ? FTR_OK :
		shape_congestion(z, r->height, &r->cost);

	r->estimated = true;
	return st;
}

static double amount(const struct ranking *r)
{
	return r->cost.max * r->cost.max * r->cost.squares;
}

/* Rule 6: True if a is better than b. */
static bool is_better(const struct shaping *z, const struct ranking *a,
		      const struct ranking *b)
{
	uint32_t p = rank_height_range(z, a->height), q = rank_height_range(z, b->height);

	if (a->cost.apart > b->cost.apart + MORE_APART)
		return false;
	return amount(a) < (p > q ? DEEP_GAIN : p < q ? 1 : GAIN) * amount(b);
}

/* Replace *best by r if r is better than *best and its heights differ from those of each of the
 * n_old rankings in old[]. */
static enum ftr_status compare(struct shaping *z, struct ranking *r,
			       const struct ranking *old, uint32_t n_old,
			       struct ranking **best)
{
	size_t size = z->f->n_sw * sizeof(*r->height);
	enum ftr_status st;

	if (rank_height_range(z, r->height) >= MAX_RANKS)
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

/* Set host_ratio[] to the ratios of all switches with hosts, in descending order; returns their
 * number. */
static uint32_t sorted_ratios(const struct shaping *z, struct host_ratio *host_ratio)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (z->hosts[s])
			host_ratio[n++] = (struct host_ratio){ z->hosts[s], rank_links(z, s) };
	qsort(host_ratio, n, sizeof(*host_ratio), ratio_cmp);
	return n;
}

/* Set the leaf seeds to the switches whose ratio of hosts to links is at least that of cut.
 * Returns false if these switches have less than half of the hosts. */
static bool seed_by_ratio(struct shaping *z, const struct host_ratio *cut)
{
	uint64_t seeds = 0, all = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		struct host_ratio m = { z->hosts[s], rank_links(z, s) };

		z->is_leaf[s] = m.hosts && ratio_cmp(&m, cut) <= 0;
		seeds += z->is_leaf[s] ? m.hosts : 0;
		all += m.hosts;
	}
	return 2 * seeds >= all;
}

/* ---- fabrics without levels ---------------------------------------------- */

/* True if every switch has hosts, and no switch has a height above 0: a mesh or a ring. */
static bool is_flat(const struct shaping *z, const int32_t *height)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (height[s] > 0 || !z->hosts[s])
			return false;
	return true;
}

/* The position of a switch in the order of rank_from(). A smaller position is higher in the
 * tree. */
struct by_depth {
	int32_t depth;
	uint32_t links;
	ftr_sw sw;
};

static int depth_cmp(const void *x, const void *y)
{
	const struct by_depth *a = x, *b = y;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->links != b->links)
		return a->links > b->links ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

/* Rank the component of root. Every link leads up to the end that is closer to root. If both ends
 * are equally close, the link leads up to the end with more links, or else with the lower index.
 * The height of a switch is one more than that of the highest switch below it. */
static enum ftr_status rank_from(struct shaping *z, ftr_sw root,
				 int32_t *height)
{
	uint32_t n = z->f->n_sw;
	struct by_depth *order;
	int32_t *depth;
	ftr_sw *list;

	if (!FTR_NEW(z->scratch, depth, n) || !FTR_NEW(z->scratch, list, n) ||
	    !FTR_NEW(z->scratch, order, n))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++)
		depth[s] = NO_HEIGHT;
	depth[root] = 0;
	list[0] = root;
	n = rank_bfs(z, depth, list, 1);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = (struct by_depth){
			depth[list[i]], rank_links(z, list[i]), list[i],
		};
		height[list[i]] = NO_HEIGHT;
	}
	qsort(order, n, sizeof(*order), depth_cmp);
	while (n-- > 0) {
		int32_t h = 0;

		for_each_nbr(z, order[n].sw, t)
			if (height[t->sw] != NO_HEIGHT)
				h = FTR_MAX(h, height[t->sw] + 1);
		height[order[n].sw] = h;
	}
	return FTR_OK;
}

/* Rank the fabric from each switch as the only root, so that no link is horizontal.
 * Replace *best by the best of these rankings if it is better than *best. */
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

/* ---- ranks of an earlier shape ----------------------------------------------- */

static int old_rank_cmp(const void *x, const void *y)
{
	const uint64_t *guid = x;
	const struct ftr_old_rank *r = y;

	return (*guid > r->guid) - (*guid < r->guid);
}

static const struct ftr_old_rank *old_rank(const struct shaping *z, ftr_sw s)
{
	const struct ftr_old_ranks *old = z->opts->old;

	return bsearch(&z->f->sw[s].guid, old->sw, old->n, sizeof(*old->sw), old_rank_cmp);
}

/* Heights begin at different values in different shapes. Set *shift to the most frequent difference
 * between the earlier ranks and height[]; if several differences are equally frequent, to the least
 * of them. False: no switch has both an earlier rank and a height. */
static bool find_shift(const struct shaping *z, const int32_t *height, int32_t *shift)
{
	uint32_t count[3 * MAX_RANKS] = { 0 }, most = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		const struct ftr_old_rank *r = old_rank(z, s);

		/* a height can be out of range only in an inferred ranking that is refused later */
		if (r && height[s] > -MAX_RANKS && height[s] < MAX_RANKS)
			count[r->rank - height[s] + MAX_RANKS]++;
	}
	for (uint32_t i = 0; i < FTR_ARRAY_LEN(count); i++) {
		if (count[i] <= most)
			continue;
		most = count[i];
		*shift = (int32_t)i - MAX_RANKS;
	}
	return most > 0;
}

/* Rule 7: true if the inferred ranking r replaces the earlier one. */
static bool replaces(const struct shaping *z, const struct ranking *r,
		     const struct ranking *old)
{
	uint32_t p = rank_height_range(z, r->height), q = rank_height_range(z, old->height);

	if (r->cost.apart < KEEP_GAIN * old->cost.apart)
		return true;
	if (r->cost.apart > old->cost.apart + (p < q ? 0 : MORE_APART))
		return false;
	if (p < q)
		return amount(r) <= NO_MORE * amount(old);
	return amount(r) < (p > q ? DEEP_GAIN : KEEP_GAIN) * amount(old);
}

/* True if no link of s leads up or down. */
static bool is_level(const struct shaping *z, const int32_t *height, ftr_sw s)
{
	for_each_nbr(z, s, t)
		if (height[t->sw] != height[s])
			return false;
	return true;
}

/* Set old to the earlier ranking.  A switch that does not keep its earlier rank (rule 7) gets its
 * height in r.  tmp: [n_sw] scratch.  False: old is the same as r. */
static bool apply_old(const struct shaping *z, const struct ranking *r, int32_t shift,
		      int32_t *tmp, struct ranking *old)
{
	bool differs = false;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		const struct ftr_old_rank *o = old_rank(z, s);

		tmp[s] = o && !o->stub ? o->rank - shift : r->height[s];
	}
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		const struct ftr_old_rank *o = old_rank(z, s);
		bool keep = o && !o->stub && !is_level(z, tmp, s);

		old->height[s] = keep ? tmp[s] : r->height[s];
		old->is_leaf[s] = keep ? o->leaf : r->is_leaf[s];
		old->is_stub[s] = keep ? 0 : r->is_stub[s];
		differs |= old->height[s] != r->height[s] || old->is_leaf[s] != r->is_leaf[s] ||
			old->is_stub[s] != r->is_stub[s];
	}
	return differs;
}

/* Rule 7: replace *best by the earlier ranking unless *best is clearly better.  A switch
 * without an earlier rank keeps its height in *best.  old: memory for the earlier ranking. */
static enum ftr_status keep_old(struct shaping *z, struct ranking *old,
				struct ranking **best)
{
	const struct ranking *r = *best;
	int32_t *tmp, shift = 0;
	enum ftr_status st;

	if (!find_shift(z, r->height, &shift))
		return FTR_OK;
	st = ranking_new(z, old);
	if (st)
		return st;
	if (!FTR_NEW(z->scratch, tmp, z->f->n_sw))
		return shape_nomem(z);
	if (!apply_old(z, r, shift, tmp, old) || rank_height_range(z, old->height) >= MAX_RANKS)
		return FTR_OK;
	st = estimate(z, *best);
	if (!st)
		st = estimate(z, old);
	if (!st && !replaces(z, r, old)) {
		*best = old;
		z->sh->tree.ranks_kept = true;
	}
	return st;
}

/* Ranking 0 has the leaf seeds of rule 1.  Ranking k, 1 <= k <= n_cuts, has the leaf seeds of
 * cut[k - 1].  The last ranking has the leaf seeds of the best one so far, but uses LEAST_SHARE. */
enum ftr_status shape_heights(struct shaping *z)
{
	uint32_t n = z->f->n_sw, n_cuts, k;
	uint32_t *tmp = ftr_arena_alloc(z->scratch, n, sizeof(*tmp));
	struct host_ratio cut[MAX_CUTS];
	struct host_ratio *host_ratio = ftr_arena_alloc(z->scratch, n, sizeof(*host_ratio));
	struct ranking r[MAX_CUTS + 2], flat[2], old, *best = r;
	bool given = z->opts->roots.n > 0;
	enum ftr_status st;

	if (!tmp || !host_ratio)
		return shape_nomem(z);
	n_cuts = find_cuts(host_ratio, sorted_ratios(z, host_ratio), cut);
	for (k = 0; k < (given ? 1 : n_cuts + 2); k++) {
		bool enough = true;

		st = ranking_new(z, &r[k]);
		if (st)
			return st;
		if (!k)
			rank_seed_leaves(z, tmp);
		else if (k <= n_cuts)
			enough = seed_by_ratio(z, &cut[k - 1]);
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
	if (!given && n <= MAX_FLAT && is_flat(z, r[0].height)) {
		st = single_root(z, &best, flat);
		if (st)
			return st;
	}
	if (!given && z->opts->old) {
		st = keep_old(z, &old, &best);
		if (st)
			return st;
	}
	use_ranking(z, best);
	z->height = best->height;
	return FTR_OK;
}
