// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choice of the leaf seeds (rule 6) and of the ranks to keep (rule 7).  Rules 1 to 5 are in
 * rank.c.
 *
 * Rule 1 fails if upper switches have as many hosts as leaves.  Examples: two spines with ten
 * storage nodes each; a core chassis whose chips have four hosts each, like the edge switches
 * below.  By rule 1 these upper switches would be leaves.  All traffic would then use the few
 * links that still lead up.  OpenSM has the same problem: ftree takes every switch with a host
 * for a leaf.  updn finds no roots if spines have hosts, and OpenSM then falls back to min-hop.
 *
 * Rule 6 tries several sets of leaf seeds and compares the results:
 *
 *  - Sort the switches with hosts by their ratio of hosts to links, descending.  Find the
 *    MAX_CUTS largest gaps in this sequence.
 *  - For each gap, take the switches before the gap.  They are a set of leaf seeds if they have
 *    at least half of the hosts.  Leaves with few hosts come after the gap; rule 3 finds them.
 *  - Apply rules 2 to 5 to each set.
 *  - Apply rules 2 to 5 once more to the best set, with LEAST_SHARE instead of LOW_SHARE.  This
 *    finds the height of chips that have many spines but few leaves as neighbours.
 *
 * A fixed threshold for the ratio of hosts to links would be wrong for some fabrics: a rack
 * that is half empty has the same ratio as a spine with storage nodes.
 *
 * The first result is that of rule 1.  A new result replaces the best result so far if it has less
 * congestion, and does not leave many more pairs without an up/down path (MORE_APART).  The amount
 * of congestion is max^2 * squares (struct congestion).  It must be less than
 *
 *	GAIN times the amount of the best result, if both have the same number of ranks
 *	DEEP_GAIN times, if the new result has more ranks
 *	1 times, if the new result has fewer ranks
 *
 * If all sets give the same heights, no congestion is estimated.  This is so in most trees
 * that have all hosts on leaves.
 *
 * Rings, meshes and HyperX fabrics have hosts on every switch and no levels.  Rule 5 makes many
 * of their links horizontal, and horizontal links are not used.  If such a fabric has at most
 * MAX_FLAT switches, each switch is also tried as the only root.  Then no link is horizontal.
 *
 * If the administrator gives roots, they decide the ranks, and rules 6 and 7 are not used.
 *
 * Rule 7.  One more host can change the result of rules 1 and 6, and then nearly all tables
 * change.  Therefore the ranks of an earlier shape are kept, unless the inferred ranks are much
 * better.  They are much better in one of these cases:
 *
 *  - The number of pairs without an up/down path is less than KEEP_GAIN times the earlier one.
 *  - The amount of congestion is less than KEEP_GAIN times the earlier one, and there are not
 *    many more pairs without an up/down path.  If there are more ranks, DEEP_GAIN replaces
 *    KEEP_GAIN.
 *  - There are fewer ranks, and neither the congestion nor the number of pairs without a path
 *    increases.  This corrects ranks that were inferred when the fabric was incomplete, for
 *    example a spine that was ranked below the leaves.
 *
 * KEEP_GAIN corresponds to a tenth less load on every link.  A smaller gain is not worth new
 * tables, and the estimate is not exact enough to show it.
 *
 * Some switches get their inferred ranks in any case: new switches, stubs of the earlier shape,
 * and switches whose links would all be horizontal.
 *
 * A switch that keeps its rank gets the height (earlier rank - shift).  The shift is the most
 * frequent difference between earlier ranks and inferred heights.
 *
 * The state file of the nominal fabric stores the ranks.  The same fabric with the stored ranks
 * gives an identical shape again:
 *
 *  - The shift is the same.  Switches that kept their rank have the same difference as before.
 *    All other switches now have the most frequent difference.
 *  - A switch that kept its rank had a link to a switch of another rank (is_level()).  The two
 *    ranks still differ, so the switch keeps its rank again.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/congestion.h"
#include "shape/rank.h"

#define LOW_SHARE 8
#define LEAST_SHARE 64
#define MAX_CUTS 8
#define MAX_FLAT 64		/* greatest number of switches of a fabric that is tried with each
				 * switch as the only root */
#define MIN_GAP 1.1		/* a gap in the sequence: a ratio is at least MIN_GAP times the next
				 * one */
#define GAIN 0.9		/* A better ranking has less than GAIN times the congestion. */
#define DEEP_GAIN 0.5		/* instead of GAIN and KEEP_GAIN if the new ranking has more
				 * ranks */
#define KEEP_GAIN 0.66		/* A ranking that replaces an earlier one has less than KEEP_GAIN
				 * times its congestion. 0.66 is about 0.9^4: each link has 0.9
				 * times the load. */
#define NO_MORE 1.001		/* instead of KEEP_GAIN if the new ranking has fewer ranks; above 1
				 * because of rounding */
#define MORE_APART 0.1		/* greatest allowed increase of pairs without an up/down path, as a
				 * share of the physically connected pairs */

struct ranking {
	int32_t *height;
	uint8_t *seeds;		/* 1: the switch is a leaf seed */
	uint8_t *is_leaf, *is_stub;
	struct congestion cost;
	bool estimated;
};

/* Of one switch: the number of hosts, and the number of links to other switches. */
struct host_ratio {
	uint32_t hosts, links;
};

static int ratio_cmp(const void *x, const void *y)
{
	const struct host_ratio *a = x, *b = y;
	uint64_t p = (uint64_t)a->hosts * b->links;
	uint64_t q = (uint64_t)b->hosts * a->links;

	return (p < q) - (p > q);
}

/* Set cut[k] to the last ratio before the k-th largest gap. The n ratios descend. Returns the
 * number of gaps, at most MAX_CUTS. */
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

/* Allocate a ranking, and make z->is_leaf and z->is_stub point into it. */
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

/* Rule 6: true if a is better than b. */
static bool is_better(const struct shaping *z, const struct ranking *a,
		      const struct ranking *b)
{
	uint32_t p = rank_height_range(z, a->height), q = rank_height_range(z, b->height);

	if (a->cost.apart > b->cost.apart + MORE_APART)
		return false;
	return amount(a) < (p > q ? DEEP_GAIN : p < q ? 1 : GAIN) * amount(b);
}

/* Replace *best by r if r is better. Does nothing if a ranking in old[] has the same heights as
 * r. */
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

/* Set host_ratio[] to the ratios of all switches with hosts, descending. Returns their number. */
static uint32_t sorted_ratios(const struct shaping *z, struct host_ratio *host_ratio)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (z->hosts[s])
			host_ratio[n++] = (struct host_ratio){ z->hosts[s], rank_links(z, s) };
	qsort(host_ratio, n, sizeof(*host_ratio), ratio_cmp);
	return n;
}

/* Make all switches leaf seeds whose ratio of hosts to links is at least that of cut. Returns false
 * if these switches have less than half of the hosts. */
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

/* True if every switch has hosts and no height is above 0, as in a mesh or a ring. */
static bool is_flat(const struct shaping *z, const int32_t *height)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (height[s] > 0 || !z->hosts[s])
			return false;
	return true;
}

/* The sort key of rank_from(). The root has the smallest key. */
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

/* Rank the component of root.  Every link leads up to the end that is closer to root; on a tie,
 * to the end with more links, then to the end with the lower index.  The height of a switch is one
 * more than the greatest height below it. */
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

/* Rank the fabric from each switch as the only root. Replace *best by the best of these rankings if
 * it is better. */
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

/* Set *shift to the most frequent difference between an earlier rank and height[]. On a tie, the
 * least difference wins. Returns false if no switch has both an earlier rank and a height. */
static bool find_shift(const struct shaping *z, const int32_t *height, int32_t *shift)
{
	uint32_t count[3 * MAX_RANKS] = { 0 }, most = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		const struct ftr_old_rank *r = old_rank(z, s);

		/* an inferred ranking with a height out of this range is refused later */
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

/* Rule 7: true if the inferred ranking r replaces the earlier ranking old. */
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

/* True if all links of s are horizontal. */
static bool is_level(const struct shaping *z, const int32_t *height, ftr_sw s)
{
	for_each_nbr(z, s, t)
		if (height[t->sw] != height[s])
			return false;
	return true;
}

/* Set old to the earlier ranks. A switch that does not keep its earlier rank (rule 7) gets its
 * height in r. tmp: [n_sw] scratch. Returns false if old is the same as r. */
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

/* Apply rule 7 to *best. old: memory for the earlier ranking. */
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

/* Rule 6. Ranking 0 uses the leaf seeds of rule 1. Ranking k uses those of cut[k - 1]. The last
 * ranking uses the seeds of the best one so far, with LEAST_SHARE. */
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
