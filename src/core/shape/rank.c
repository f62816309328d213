// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Infers the ranks of the switches, which decide whether a link leads up or down.
 *
 * Gliksberg et al. 2020, section 3.1, take leaf switches as the lowest level and find the other
 * levels breadth first.  In real fabrics, middle and top switches may have a few hosts, some leaves
 * have fewer hosts than others, and some leaves are connected only to other leaves.  So each switch
 * gets a height, an inferred level, by these rules.  The least height becomes rank 0.
 *
 *  1. Leaf seeds.  Sort the hosts by the number of hosts on their switch.  Let T be this number for
 *     the host in the middle.  A switch is a leaf seed, and gets height 0, if it has at least
 *     T / SEED_SHARE hosts, or at least as many hosts as links to other switches.  So a few hosts
 *     on an upper switch do not make it a leaf.
 *  2. Heights.  Round k gives height k to some of the switches without a height.  Let the share of
 *     a switch be (number of neighbours with a height) / (number of neighbours).  A switch gets a
 *     height if its share is at least 1 / LOW_SHARE (choice.c), unless (number of neighbours with a
 *     larger share) > (number of neighbours with a height).  If no switch gets a height in this
 *     way, the switches with the largest share get height k.  So a top switch that has one leaf
 *     among its many neighbours gets a high rank.
 *  3. Slim leaves, stubs and empty leaves are switches of height >= 2 with two properties: all
 *     their neighbours are lower, and lower switches already connect these neighbours with each
 *     other.
 *     - Such a switch with end nodes (Aggregation Nodes do not count) is a slim leaf.  It gets
 *       height 0, so that there are up/down paths between I/O nodes on different slim leaves.  It
 *       counts as a leaf if it has compute nodes.
 *     - Such a switch without end nodes is a stub.  It keeps its height, because after many faults
 *       it may be the only connection between other switches.  Planes are determined without stubs.
 *     - A stub that has most of its neighbours in common with a leaf is an empty leaf.  It is
 *       numbered like a leaf, so that a rack that is switched off keeps its place in the order.
 *  4. Hanging leaves.  A leaf without a neighbour above it, but with other leaves as neighbours,
 *     is placed below these leaves.  This is repeated for chains of leaves.
 *  5. Flat components.  If all switches of a connected component have the same height, or none, they
 *     are ranked breadth first from the switch with the most neighbours.  Examples: a ring, or two
 *     switches back to back.  The new ranks connect all switches, but do not balance traffic well.
 *  6. Choice (choice.c).  Rule 1 fails if upper switches have as many hosts as leaves.  Rule 5
 *     leaves some links unused.  So rules 2 to 5 are also applied to other leaf seeds,
 *     and a small fabric without levels is also ranked with each switch as the only root.  A result
 *     replaces an earlier one if its estimated congestion is clearly less.
 *  7. Earlier ranks (choice.c) are kept unless the result of rule 6 is clearly better.
 *
 * If the administrator gives roots, they decide the ranks instead.  A breadth-first search from the
 * roots gives each switch a depth, and rank = greatest depth - depth.  In a connected component
 * without a root, the inferred ranks still decide the direction of links.  If a top switch is
 * missing from the list, it gets a rank below its neighbours, and most of its links are not used
 * (see enum ftr_roots).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shape/rank.h"

#define SEED_SHARE 4

/* ---- adjacency --------------------------------------------------------- */

/* Set key[] to the sorted keys of the links from s to other switches.  The key of a link is
 * (far switch) << 8 | (own port).  Returns the number of links. */
static uint32_t sorted_links(const struct ftr_fabric *f, ftr_sw s,
			     uint64_t *key)
{
	uint32_t n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		uint64_t k = (uint64_t)port->peer << 8 | p;
		uint32_t i;

		if (port->peer_kind != FTR_PEER_SW || port->peer == s)
			continue;
		for (i = n++; i > 0 && key[i - 1] > k; i--)
			key[i] = key[i - 1];
		key[i] = k;
	}
	return n;
}

enum ftr_status shape_adjacency(struct shaping *z)
{
	const struct ftr_fabric *f = z->f;
	uint32_t n_nbr = 0, n_port = 0;

	if (!FTR_NEW(z->keep, z->nbr_first, f->n_sw + 1u) ||
	    !FTR_NEW(z->scratch, z->nbr, f->n_ports) ||
	    !FTR_NEW(z->scratch, z->nbr_port, f->n_ports))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint64_t key[FTR_PORT_MAX];
		uint32_t n = sorted_links(f, s, key);

		z->nbr_first[s] = n_nbr;
		for (uint32_t i = 0; i < n; i++) {
			if (i == 0 || key[i] >> 8 != key[i - 1] >> 8)
				z->nbr[n_nbr++] = (struct nbr){
					.sw = (ftr_sw)(key[i] >> 8),
					.first = n_port,
				};
			z->nbr[n_nbr - 1].links++;
			z->nbr_port[n_port++] = (ftr_port)key[i];
		}
	}
	z->nbr_first[f->n_sw] = n_nbr;
	return FTR_OK;
}

uint32_t rank_links(const struct shaping *z, ftr_sw s)
{
	uint32_t sum = 0;

	for_each_nbr(z, s, n)
		sum += n->links;
	return sum;
}

static uint32_t n_nbrs(const struct shaping *z, ftr_sw s)
{
	return z->nbr_first[s + 1] - z->nbr_first[s];
}

/* ---- heights ----------------------------------------------------------- */

static uint32_t typical_hosts(const struct shaping *z, uint32_t *tmp)
{
	uint64_t total = 0, sum = 0;

	memcpy(tmp, z->hosts, z->f->n_sw * sizeof(*tmp));
	qsort(tmp, z->f->n_sw, sizeof(*tmp), ftr_u32_cmp);
	for (uint32_t i = 0; i < z->f->n_sw; i++)
		total += tmp[i];
	for (uint32_t i = 0; i < z->f->n_sw; i++) {
		sum += tmp[i];
		if (total && 2 * sum >= total)
			return tmp[i];
	}
	return 0;
}

void rank_seed_leaves(struct shaping *z, uint32_t *tmp)
{
	uint32_t typical = typical_hosts(z, tmp);

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		uint32_t h = z->hosts[s];

		z->is_leaf[s] = h && (h * SEED_SHARE >= typical ||
				      h >= rank_links(z, s));
	}
}

/* Set the share of every switch in rule 2: (number of neighbours with a height) / (number of
 * neighbours); for a switch with a height, set 0.  Returns the largest share. */
static struct ratio shares(const struct shaping *z, const int32_t *height,
			   struct ratio *share)
{
	struct ratio best = { 0, 1 };

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		share[s] = (struct ratio){ 0, 1 };
		if (height[s] != NO_HEIGHT)
			continue;
		for_each_nbr(z, s, n)
			share[s].part += height[n->sw] != NO_HEIGHT;
		share[s].of = FTR_MAX(n_nbrs(z, s), 1u);
		if (ratio_above(share[s], best))
			best = share[s];
	}
	return best;
}

/* Returns true if s gets a height in this round of rule 2. */
static bool qualifies(const struct shaping *z, const struct ratio *share, ftr_sw s,
		  uint32_t low_share)
{
	uint32_t better = 0;

	if (share[s].part * low_share < share[s].of)
		return false;
	for_each_nbr(z, s, n)
		better += ratio_above(share[n->sw], share[s]);
	return better <= share[s].part;
}

/* Run round k of rule 2.  Returns false if no further switch can get a height. */
static bool raise_round(const struct shaping *z, int32_t *height, int32_t k,
			uint32_t low_share, struct ratio *share)
{
	struct ratio best = shares(z, height, share);
	bool any = false;

	if (!best.part)
		return false;
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		if (share[s].part && qualifies(z, share, s, low_share)) {
			height[s] = k;
			any = true;
		}
	}
	if (any)
		return true;
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (share[s].part && !ratio_above(best, share[s]))
			height[s] = k;
	return true;
}

/* Apply rule 3, height by height, except for empty leaves.  uf: [n_sw] scratch, the union-find of
 * the switches below the present height. */
static void slim_leaves(struct shaping *z, int32_t *height, int32_t top,
			uint32_t *uf)
{
	ftr_uf_init(uf, z->f->n_sw);
	for (int32_t h = 1; h <= top; h++) {
		for (ftr_sw s = 0; s < z->f->n_sw; s++) {
			if (height[s] != h - 1)
				continue;
			for_each_nbr(z, s, n)
				if (height[n->sw] < h)
					ftr_uf_union(uf, s, n->sw);
		}
		if (h < 2)
			continue;
		for (ftr_sw s = 0; s < z->f->n_sw; s++) {
			uint32_t comp = FTR_SW_NONE;
			bool one = height[s] == h;

			if (!one)
				continue;
			for_each_nbr(z, s, n) {
				uint32_t c = ftr_uf_find(uf, n->sw);

				one &= height[n->sw] < h &&
					(comp == FTR_SW_NONE || comp == c);
				comp = c;
			}
			z->is_stub[s] = one;
		}
		for (ftr_sw s = 0; s < z->f->n_sw; s++) {
			if (height[s] == h && z->is_stub[s] && z->ends[s]) {
				height[s] = 0;
				z->is_leaf[s] = z->hosts[s] != 0;
				z->is_stub[s] = 0;
			}
		}
	}
}

/* Returns true if some leaf with hosts has many neighbours in common with s: more than half of the
 * neighbours of s, and more than half of its own.  shared: [n_sw] scratch, all 0 before and after
 * the call. */
static bool connected_as_leaf(const struct shaping *z, const int32_t *height,
			      ftr_sw s, uint32_t *shared)
{
	uint32_t own = n_nbrs(z, s);
	bool found = false;

	for_each_nbr(z, s, n)
		for_each_nbr(z, n->sw, l)
			if (height[l->sw] == 0 && z->hosts[l->sw])
				shared[l->sw]++;
	for_each_nbr(z, s, n) {
		for_each_nbr(z, n->sw, l) {
			found |= 2 * shared[l->sw] > FTR_MAX(own, n_nbrs(z, l->sw));
			shared[l->sw] = 0;
		}
	}
	return found;
}

/* Find the empty leaves of rule 3.  Stubs are compared only with leaves that have hosts, so the
 * order in which stubs are visited does not matter. */
static void empty_leaves(struct shaping *z, const int32_t *height,
			 uint32_t *shared)
{
	memset(shared, 0, z->f->n_sw * sizeof(*shared));
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (z->is_stub[s])
			z->is_leaf[s] = connected_as_leaf(z, height, s, shared);
}

/* Apply rule 4 by a breadth-first search from the leaves that have a neighbour above. */
static void hang_leaves(const struct shaping *z, int32_t *height,
			ftr_sw *queue, uint8_t *seen)
{
	uint32_t head = 0, tail = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		bool above = false;

		for_each_nbr(z, s, n)
			above |= height[n->sw] > 0;
		seen[s] = height[s] != 0 || above;
		if (height[s] == 0 && above)
			queue[tail++] = s;
	}
	while (head < tail) {
		ftr_sw s = queue[head++];

		for_each_nbr(z, s, n) {
			if (seen[n->sw])
				continue;
			seen[n->sw] = 1;
			height[n->sw] = height[s] - 1;
			queue[tail++] = n->sw;
		}
	}
}

uint32_t rank_bfs(const struct shaping *z, int32_t *depth, ftr_sw *queue, uint32_t n)
{
	for (uint32_t head = 0; head < n; head++) {
		for_each_nbr(z, queue[head], t) {
			if (depth[t->sw] != NO_HEIGHT)
				continue;
			depth[t->sw] = depth[queue[head]] + 1;
			queue[n++] = t->sw;
		}
	}
	return n;
}

void rank_components(const struct shaping *z, uint32_t *uf)
{
	ftr_uf_init(uf, z->f->n_sw);
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for_each_nbr(z, s, n)
			ftr_uf_union(uf, s, n->sw);
}

static void flat_components(const struct shaping *z, int32_t *height,
			    int32_t *depth, ftr_sw *queue, uint32_t *uf)
{
	const struct ftr_fabric *f = z->f;
	uint32_t *best = uf + f->n_sw;	/* best[c]: the switch with the most neighbours in
					 * component c */

	rank_components(z, uf);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		best[s] = FTR_SW_NONE;
		depth[s] = NO_HEIGHT;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint32_t c = ftr_uf_find(uf, s);

		if (best[c] == FTR_SW_NONE || n_nbrs(z, s) > n_nbrs(z, best[c]))
			best[c] = s;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for_each_nbr(z, s, n)
			if (height[n->sw] != height[s])
				best[ftr_uf_find(uf, s)] = FTR_SW_NONE;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint32_t n;

		if (ftr_uf_find(uf, s) != s || best[s] == FTR_SW_NONE)
			continue;
		queue[0] = best[s];
		depth[best[s]] = 0;
		n = rank_bfs(z, depth, queue, 1);
		for (uint32_t i = 0; i < n; i++)
			height[queue[i]] = -depth[queue[i]];
	}
}

enum ftr_status rank_heights(struct shaping *z, int32_t *height,
			     uint32_t low_share)
{
	uint32_t n = z->f->n_sw;
	struct ratio *share;
	int32_t *depth, k;
	uint32_t *tmp;
	uint8_t *seen;
	ftr_sw *queue;

	if (!FTR_NEW(z->scratch, tmp, 2 * (size_t)n) || !FTR_NEW(z->scratch, queue, n) ||
	    !FTR_NEW(z->scratch, depth, n) || !FTR_NEW(z->scratch, share, n) ||
	    !FTR_NEW(z->scratch, seen, n))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++)
		height[s] = z->is_leaf[s] ? 0 : NO_HEIGHT;
	for (k = 1; raise_round(z, height, k, low_share, share); k++)
		;
	slim_leaves(z, height, k - 1, tmp);
	empty_leaves(z, height, tmp);
	hang_leaves(z, height, queue, seen);
	flat_components(z, height, depth, queue, tmp);
	return FTR_OK;
}

uint32_t rank_height_range(const struct shaping *z, const int32_t *height)
{
	int32_t min = INT32_MAX, max = INT32_MIN;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		min = FTR_MIN(min, height[s]);
		max = FTR_MAX(max, height[s]);
	}
	return (uint32_t)(max - min);
}

/* ---- roots ------------------------------------------------------------- */

struct roots {
	struct shaping *z;
	const int32_t *height;	/* the inferred heights */
	int32_t *depth;		/* distance from the roots found so far */
	ftr_sw *queue;
	uint8_t *is_root;
	int32_t lowest;
	uint32_t nbrs;
};

static void set_depths(struct roots *r)
{
	uint32_t n = r->z->f->n_sw, tail = 0;

	for (ftr_sw s = 0; s < n; s++) {
		r->depth[s] = r->is_root[s] ? 0 : NO_HEIGHT;
		if (r->is_root[s])
			r->queue[tail++] = s;
	}
	rank_bfs(r->z, r->depth, r->queue, tail);
}

/* Mark the listed roots.  Returns false if the fabric has none of them. */
static bool mark_listed(struct roots *r)
{
	const struct ftr_fabric *f = r->z->f;
	const struct ftr_guids *roots = &r->z->opts->roots;
	bool any = false;

	r->lowest = INT32_MAX;
	r->nbrs = UINT32_MAX;
	for (uint32_t i = 0; i < roots->n; i++) {
		ftr_sw s = ftr_fabric_find_sw(f, roots->guid[i]);

		if (s == FTR_SW_NONE)	/* the GUID may be that of a switch that replaced another */
			s = ftr_fabric_find_holder(f, roots->guid[i]);
		if (s == FTR_SW_NONE)
			continue;
		any = true;
		r->is_root[s] = 1;
		r->lowest = FTR_MIN(r->lowest, r->height[s]);
		r->nbrs = FTR_MIN(r->nbrs, n_nbrs(r->z, s));
	}
	return any;
}

static bool is_unlisted(const struct roots *r, ftr_sw s)
{
	const struct shaping *z = r->z;

	if (r->depth[s] <= 0 || z->is_leaf[s] || z->is_stub[s] ||
	    r->height[s] < r->lowest || 2 * n_nbrs(z, s) < r->nbrs)
		return false;
	for_each_nbr(z, s, n)
		if (r->depth[n->sw] >= r->depth[s] ||
		    r->height[n->sw] >= r->height[s])
			return false;
	return true;
}

/* Find the switches that are evidently missing from the list of roots (enum ftr_roots).  When a
 * switch has been found, the ranks change, and others may be found.  So the search is repeated. */
static enum ftr_status find_unlisted(struct roots *r)
{
	struct shaping *z = r->z;
	uint32_t n = z->f->n_sw, k = 0;
	uint8_t *found = ftr_arena_zalloc(z->scratch, n, 1);
	ftr_sw *list = ftr_arena_alloc(z->keep, n, sizeof(*list));
	bool any = true;

	if (!found || !list)
		return shape_nomem(z);
	while (any) {
		any = false;
		for (ftr_sw s = 0; s < n; s++)
			found[s] |= is_unlisted(r, s);
		for (ftr_sw s = 0; s < n; s++) {
			any |= found[s] && !r->is_root[s];
			r->is_root[s] |= found[s];
		}
		if (any)
			set_depths(r);
	}
	for (ftr_sw s = 0; s < n; s++)
		if (found[s])
			list[k++] = s;
	z->sh->tree.unlisted = list;
	z->sh->tree.n_unlisted = k;
	return FTR_OK;
}

static enum ftr_status unknown_roots(struct shaping *z)
{
	const struct ftr_guids *roots = &z->opts->roots;

	if (z->opts->roots_mode == FTR_ROOTS_STRICT)
		return ftr_fail(z->err, FTR_SHAPE, "none of the %u root GUIDs is a switch of this fabric (the first is 0x%016"
				PRIx64 ")", roots->n, roots->guid[0]);
	z->sh->tree.roots_unknown = true;
	return FTR_OK;
}

/* Set the height of each switch that is connected to a given root to -(distance from the nearest
 * root). */
static enum ftr_status from_roots(struct shaping *z, int32_t *height)
{
	uint32_t n = z->f->n_sw;
	struct roots r = { .z = z, .height = height };
	int32_t *listed;
	enum ftr_status st;

	if (!FTR_NEW(z->scratch, r.depth, n) || !FTR_NEW(z->scratch, r.queue, n) ||
	    !FTR_ZNEW(z->scratch, r.is_root, n) || !FTR_NEW(z->scratch, listed, n))
		return shape_nomem(z);
	if (!mark_listed(&r))
		return unknown_roots(z);
	set_depths(&r);
	memcpy(listed, r.depth, n * sizeof(*listed));
	st = find_unlisted(&r);
	if (st)
		return st;
	if (z->sh->tree.n_unlisted && z->opts->roots_mode == FTR_ROOTS_STRICT)
		return ftr_fail(z->err, FTR_SHAPE, "%u top %s missing from the list of roots, the first is 0x%016"
				PRIx64 " \"%s\"", z->sh->tree.n_unlisted,
				z->sh->tree.n_unlisted == 1 ? "switch is" : "switches are",
				z->f->sw[z->sh->tree.unlisted[0]].holder,
				z->f->sw[z->sh->tree.unlisted[0]].name);
	if (z->opts->roots_mode == FTR_ROOTS_FILE)
		memcpy(r.depth, listed, n * sizeof(*listed));
	for (ftr_sw s = 0; s < n; s++) {
		if (r.depth[s] == NO_HEIGHT)
			continue;
		height[s] = -r.depth[s];
		z->is_stub[s] = 0;
	}
	z->sh->tree.roots_given = true;
	return FTR_OK;
}

/* ---- publishing -------------------------------------------------------- */

enum ftr_status shape_by_rank(struct shaping *z, uint32_t n_ranks)
{
	uint32_t n = z->f->n_sw;

	if (!FTR_NEW(z->scratch, z->by_rank, n) ||
	    !FTR_ZNEW(z->scratch, z->rank_first, n_ranks + 2u))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++)
		z->rank_first[z->rank[s] + 2]++;
	for (uint32_t r = 2; r <= n_ranks; r++)
		z->rank_first[r] += z->rank_first[r - 1];
	for (ftr_sw s = 0; s < n; s++)
		z->by_rank[z->rank_first[z->rank[s] + 1]++] = s;
	z->sh->tree.rank = z->rank;
	z->sh->tree.tier = z->rank;
	z->sh->tree.stub = z->is_stub;
	z->sh->tree.n_ranks = n_ranks;
	return FTR_OK;
}

static enum ftr_status publish(struct shaping *z, const int32_t *height)
{
	const struct ftr_fabric *f = z->f;
	int32_t min = INT32_MAX;
	uint32_t n_ranks = rank_height_range(z, height) + 1;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		min = FTR_MIN(min, height[s]);
	if (n_ranks > MAX_RANKS)
		return ftr_fail(z->err, FTR_SHAPE, "the fabric has %u ranks of switches, more than %u",
				n_ranks, MAX_RANKS);
	if (!FTR_NEW(z->keep, z->rank, f->n_sw))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		z->rank[s] = (uint8_t)(height[s] - min);
	return shape_by_rank(z, n_ranks);
}

enum ftr_status shape_rank(struct shaping *z)
{
	enum ftr_status st = z->opts->roots.n ? from_roots(z, z->height) :
			     FTR_OK;

	return st ? st : publish(z, z->height);
}
