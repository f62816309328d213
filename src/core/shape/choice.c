// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides which ranks the switches get: by rule 6 (choice of the leaf seeds) and rule 7 (whether to
 * keep earlier ranks).  Rules 1 to 5, and the terms leaf seed, height and stub, are in rank.c.
 *
 * Rule 1 takes switches with many hosts as leaves.  The rule is wrong if upper switches have as
 * many hosts as leaves have.  Examples: two spines have ten storage nodes each; or the chips of a
 * core chassis have four hosts each, as many as the edge switches below.  If these upper switches
 * become leaves, all traffic uses the few links that still lead up.  (OpenSM has the same problem:
 * ftree takes every switch with a host for a leaf; updn finds no roots if spines have hosts, and
 * OpenSM then uses min-hop.)
 *
 * Rule 6.  Several sets of leaf seeds are tried, and the results are compared:
 *
 *  1. Sort the switches with hosts by the ratio hosts / links, the largest ratio first.  There is a
 *     gap where a ratio is at least MIN_GAP times the next one.  Find the MAX_CUTS largest gaps.
 *  2. For each gap, the switches before the gap are a set of leaf seeds, unless they have less than
 *     half of the hosts.  (Leaves with few hosts are after the gap; rule 3 finds them.)
 *  3. Apply rules 2 to 5 to each set.
 *  4. Apply rules 2 to 5 once more to the best set, with LEAST_SHARE instead of LOW_SHARE.  This
 *     step finds the height of chips that have many spines but few leaves as neighbours.
 *
 * A fixed threshold for the ratio would be wrong for some fabrics: a rack that is half empty has
 * the same ratio as a spine with storage nodes.
 *
 * The first result is that for the leaf seeds of rule 1.  A new result replaces the best result so
 * far if it does not leave many more pairs without an up/down path (MORE_APART), and if
 *
 *	max^2 * squares of the new result < f * max^2 * squares of the best result
 *
 * where `max` and `squares` are members of struct congestion.  The factor f is
 *
 *	GAIN		if both have the same number of ranks
 *	DEEP_GAIN	if the new result has more ranks
 *	1		if the new result has fewer ranks
 *
 * If all sets give the same heights, congestion is not estimated.  This is so in most trees that
 * have all hosts on leaves.
 *
 * Rings, meshes and HyperX fabrics have hosts on every switch and no levels.  Rule 5 makes many of
 * their links horizontal, and horizontal links are not used.  If such a fabric has at most MAX_FLAT
 * switches, each switch is also tried as the only root.  Then no link is horizontal.
 *
 * If the administrator gives roots, they decide the ranks, and rules 6 and 7 are not used.
 *
 * Rule 7.  One more host can change the result of rules 1 and 6, and then nearly all tables change.
 * So the ranks of an earlier shape are kept, unless the inferred ranks are much better.  Let P be
 * the number of pairs without an up/down path, and let C = max^2 * squares.  The inferred ranks are
 * much better in three cases:
 *
 *  - P is less than KEEP_GAIN times the earlier P.
 *  - C is less than KEEP_GAIN times the earlier C, and P is not much greater (MORE_APART).  If
 *    there are more ranks than earlier, DEEP_GAIN is used instead of KEEP_GAIN.
 *  - There are fewer ranks than earlier, and neither P nor C is greater.  This case corrects ranks
 *    that were inferred when the fabric was incomplete, for example a spine with a rank below the
 *    leaves.
 *
 * KEEP_GAIN means about 10 % less load on every link.  A smaller gain is not worth new tables, and
 * the estimate is not exact enough to detect it.
 *
 * Three kinds of switches always get their inferred ranks: new switches, switches that were stubs
 * earlier, and switches whose links would all be horizontal with the earlier ranks.  All other
 * switches get the height
 *
 *	earlier rank - shift
 *
 * where shift is the most frequent value of the difference (earlier rank - inferred height).
 *
 * The state file of the nominal fabric stores the ranks.  The same fabric with the stored ranks
 * gives an identical shape again, for two reasons:
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
#define MIN_GAP 1.1		/* see rule 6 */
#define GAIN 0.9		/* factor f of rule 6 */
#define DEEP_GAIN 0.5		/* used instead of GAIN and KEEP_GAIN if the new ranking has more
				 * ranks */
#define KEEP_GAIN 0.66		/* factor of rule 7.  If every link has 0.9 times the load, C is
				 * 0.9^4 (about 0.66) times as large */
#define NO_MORE 1.001		/* factor of C in the third case of rule 7; above 1 because of
				 * rounding */
#define MORE_APART 0.1		/* greatest allowed increase of (pairs without an up/down path /
				 * physically connected pairs) */

/* The result of the rules for one set of leaf seeds.  The index of an array is a switch. */
struct ranking {
	int32_t *height;
	uint8_t *seeds;		/* 1: the switch is a leaf seed */
	uint8_t *is_leaf, *is_stub;
	struct congestion cost;
	bool estimated;		/* true: cost is set */
};

/* Host ratio: (number of hosts of a switch) / (number of its links to other switches). */

static int ratio_cmp(const void *x, const void *y)
{
	const struct ratio *a = x, *b = y;

	return ratio_above(*b, *a) - ratio_above(*a, *b);
}

/* Set cut[k] to the last ratio before the k-th largest gap in the n ratios, which are sorted.
 * Returns the number of gaps, at most MAX_CUTS. */
static uint32_t find_cuts(const struct ratio *host_ratio, uint32_t n, struct ratio *cut)
{
	double gap[MAX_CUTS];
	uint32_t n_cuts = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		double ratio = (double)host_ratio[i].part * host_ratio[i + 1].of /
			((double)host_ratio[i + 1].part * host_ratio[i].of);
		uint32_t k;

		if (!host_ratio[i].of || ratio < MIN_GAP)
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

/* Allocate a ranking, and set z->is_leaf and z->is_stub to its arrays. */
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

/* Returns true if ranking a is better than b by rule 6. */
static bool is_better(const struct shaping *z, const struct ranking *a,
		      const struct ranking *b)
{
	uint32_t p = rank_height_range(z, a->height), q = rank_height_range(z, b->height);

	if (a->cost.apart > b->cost.apart + MORE_APART)
		return false;
	return amount(a) < (p > q ? DEEP_GAIN : p < q ? 1 : GAIN) * amount(b);
}

/* Replace *best by r if r is better.  If a ranking in old[] has the same heights as r, do
 * nothing. */
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

/* Set host_ratio[] to the ratios of all switches with hosts, the largest first.  Returns their
 * number. */
static uint32_t sorted_ratios(const struct shaping *z, struct ratio *host_ratio)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (z->hosts[s])
			host_ratio[n++] = (struct ratio){ z->hosts[s], rank_links(z, s) };
	qsort(host_ratio, n, sizeof(*host_ratio), ratio_cmp);
	return n;
}

/* Mark the switches whose ratio is at least *cut as leaf seeds.  Returns false if these switches
 * have less than half of the hosts. */
static bool seed_by_ratio(struct shaping *z, const struct ratio *cut)
{
	uint64_t seeds = 0, all = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		struct ratio m = { z->hosts[s], rank_links(z, s) };

		z->is_leaf[s] = m.part && ratio_cmp(&m, cut) <= 0;
		seeds += z->is_leaf[s] ? m.part : 0;
		all += m.part;
	}
	return 2 * seeds >= all;
}

/* ---- fabrics without levels ---------------------------------------------- */

/* Returns true if every switch has hosts, and no height is above 0, as in a mesh or a ring. */
static bool is_flat(const struct shaping *z, const int32_t *height)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (height[s] > 0 || !z->hosts[s])
			return false;
	return true;
}

/* Rank the switches that are connected to root.  Each link leads up to the switch that is closer to
 * root; on a tie, to the switch with more links; on a further tie, to the switch with the lower
 * index.  height = 1 + max(heights of the neighbours below), or 0 if there are none. */
static enum ftr_status rank_from(struct shaping *z, ftr_sw root,
				 int32_t *height)
{
	uint32_t n = z->f->n_sw;
	struct ftr_key *order;	/* by (depth, most links, index); the root is first */
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
		order[i] = (struct ftr_key){
			((uint64_t)depth[list[i]] << 32) + (UINT32_MAX - rank_links(z, list[i])),
			list[i],
		};
		height[list[i]] = NO_HEIGHT;
	}
	qsort(order, n, sizeof(*order), ftr_key_cmp);
	while (n-- > 0) {
		int32_t h = 0;

		for_each_nbr(z, order[n].idx, t)
			if (height[t->sw] != NO_HEIGHT)
				h = FTR_MAX(h, height[t->sw] + 1);
		height[order[n].idx] = h;
	}
	return FTR_OK;
}

/* Rank the fabric with each switch as the only root.  If the best of these rankings is better than
 * *best, replace *best. */
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

	return FTR_ORDER(*guid, r->guid);
}

static const struct ftr_old_rank *old_rank(const struct shaping *z, ftr_sw s)
{
	const struct ftr_shape_opts *o = z->opts;

	return bsearch(&z->f->sw[s].guid, o->old, o->n_old, sizeof(*o->old), old_rank_cmp);
}

/* Set *shift to the most frequent value of (earlier rank - height); on a tie, to the least of these
 * values.  Returns false if no switch has both an earlier rank and a height. */
static bool find_shift(const struct shaping *z, const int32_t *height, int32_t *shift)
{
	uint32_t count[3 * MAX_RANKS] = { 0 }, most = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		const struct ftr_old_rank *r = old_rank(z, s);

		/* a ranking with a height outside this range is refused later */
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

/* Returns true if the inferred ranking r replaces the earlier ranking `old` by rule 7. */
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

/* Returns true if all links of s are horizontal. */
static bool is_level(const struct shaping *z, const int32_t *height, ftr_sw s)
{
	for_each_nbr(z, s, t)
		if (height[t->sw] != height[s])
			return false;
	return true;
}

/* Set *old to the ranking that keeps the earlier ranks.  Switches that do not keep their earlier
 * rank (rule 7) get their height in r.  tmp: [n_sw] scratch.  Returns false if *old is the same as
 * r. */
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

/* Apply rule 7: compute in *old the ranking that keeps the earlier ranks.  Set *best to `old`
 * unless the ranking **best is much better. */
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

/* Apply rules 6 and 7.  The leaf seeds of ranking 0 are those of rule 1.  The leaf seeds of ranking
 * k are the switches before the gap cut[k - 1].  The last ranking has the leaf seeds of the best
 * one so far, and uses LEAST_SHARE. */
enum ftr_status shape_heights(struct shaping *z)
{
	uint32_t n = z->f->n_sw, n_cuts, k;
	uint32_t *tmp = ftr_arena_alloc(z->scratch, n, sizeof(*tmp));
	struct ratio cut[MAX_CUTS];
	struct ratio *host_ratio = ftr_arena_alloc(z->scratch, n, sizeof(*host_ratio));
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
