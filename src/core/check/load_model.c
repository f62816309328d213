// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes struct ftr_load of <ftr/load.h>: the data that are needed for every pattern.
 *
 * Flows from the host ports of one switch to one destination share their path.  So there are far
 * fewer paths than flows: 7.6 million instead of 136 million for 11,664 hosts on 648 leaves.  All
 * paths and the all-to-all load are computed once, destination by destination (loadtree.c).  The
 * paths are stored as arrays of link numbers, all of the same length:
 *
 *	          place 0     place 1     place 2 ...
 *	leaf 0    a b c d     a e f .     (gap) . .
 *	leaf 1    g h i d     . . . .     (gap) . .
 *
 * The loads of a pattern are sums over parts of this array (loadrun.c).  The length of the longest
 * path is first estimated from the paths to some destinations.  If another path turns out to be
 * longer, the array is written again.  If the array would be larger than the caller allows, no
 * paths are stored, and each flow is followed through the tables.
 */
#include <stdlib.h>
#include <string.h>

#include "check/link_load.h"

#define TABLE_MAX (UINT64_C(2) << 30)
#define CHUNK 32		/* number of destinations that a worker takes at a time; their
				 * entries share cache lines */
#define SAMPLE 16		/* greatest number of destinations for the first estimate of the
				 * longest path */

struct build {
	struct ftr_load *ld;
	struct load_tree *tree;
	struct load_sum *sum;
	uint32_t *longest;	/* per worker: number of hops of the longest path */
};

/* ---- the order ----------------------------------------------------------- */

static enum ftr_status refuse(const struct ftr_fabric *f,
			      const struct ftr_tables *t, const ftr_ep *order,
			      uint32_t n, struct ftr_err *err)
{
	enum ftr_status st = chk_same_size(f, t, err);
	uint32_t *place;

	if (st)
		return st;
	place = ftr_calloc((size_t)f->n_ep + 1, sizeof(*place));
	if (!place)
		return ftr_nomem(err, "an order of %u host ports", n);
	for (uint32_t i = 0; !st && i < n; i++) {
		if (order[i] == FTR_EP_NONE)
			continue;
		if (order[i] >= f->n_ep)
			st = ftr_fail(err, FTR_INVAL, "place %u of the order names host port %u, but the fabric has %u host ports",
				      i, order[i], f->n_ep);
		else if (place[order[i]])
			st = ftr_fail(err, FTR_INVAL, "places %u and %u of the order name the same host port %u",
				      place[order[i]] - 1, i, order[i]);
		else
			place[order[i]] = i + 1;
	}
	free(place);
	return st;
}

/* Copy the entries in the order of the places. They are read in this order; reading the tables
 * themselves would miss the cache. */
static bool set_entries(struct ftr_load *ld)
{
	const uint32_t n = ld->n_filled;
	ftr_lid *lid = ftr_malloc(((size_t)n + 1) * sizeof(*lid));

	FTR_NEW(ld->arena, ld->entry, (size_t)ld->f->n_sw * n);
	if (!lid || !ld->entry) {
		free(lid);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		lid[i] = ld->f->ep[ld->order[ld->filled[i]]].lid;
	for (ftr_sw s = 0; s < ld->f->n_sw; s++) {
		const uint8_t *row = ld->t->lft + (size_t)s * ld->t->stride;

		for (uint32_t i = 0; i < n; i++)
			ld->entry[(size_t)s * n + i] = row[lid[i]];
	}
	free(lid);
	return true;
}

static bool set_order(struct ftr_load *ld, const ftr_ep *order)
{
	const struct ftr_fabric *f = ld->f;
	struct ftr_arena *a = ld->arena;

	if (!FTR_NEW(a, ld->order, ld->n) || !FTR_NEW(a, ld->filled, ld->n) ||
	    !FTR_NEW(a, ld->leaf, f->n_sw) || !FTR_NEW(a, ld->leaf_sw, f->n_sw) ||
	    !FTR_ZNEW(a, ld->hosts, f->n_sw))
		return false;
	memset(ld->leaf, 0xff, f->n_sw * sizeof(*ld->leaf));
	for (uint32_t i = 0; i < ld->n; i++) {
		ftr_ep e = order[i];

		if (e != FTR_EP_NONE && !chk_is_source(&f->ep[e]))
			e = FTR_EP_NONE;
		ld->order[i] = e;
		if (e == FTR_EP_NONE)
			continue;
		ld->filled[ld->n_filled++] = i;
		if (!ld->hosts[f->ep[e].sw]++) {
			ld->leaf[f->ep[e].sw] = ld->n_leaf;
			ld->leaf_sw[ld->n_leaf++] = f->ep[e].sw;
		}
	}
	return set_entries(ld);
}

static bool set_links(struct ftr_load *ld)
{
	const struct ftr_fabric *f = ld->f;

	if (!FTR_NEW(ld->arena, ld->hop, f->n_ports) ||
	    !FTR_NEW(ld->arena, ld->link_port, (size_t)f->n_sw_links * 2))
		return false;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		ld->hop[p] = (struct load_hop){ LOAD_NONE, LOAD_NONE };
		if (f->ports[p].peer_kind != FTR_PEER_SW)
			continue;
		ld->link_port[ld->n_links] = p;
		ld->hop[p] = (struct load_hop){ ld->n_links++,
						f->ports[p].peer };
	}
	return true;
}

/* ---- the paths ----------------------------------------------------------- */

/* Compute in w the paths to destination filled[i]. Returns the number of hops of the longest
 * path. */
static uint32_t longest_to(const struct ftr_load *ld, struct load_tree *w,
			   uint32_t i)
{
	uint32_t longest = 0;

	load_tree_make(ld, w, i);
	for (uint32_t l = 0; l < ld->n_leaf; l++) {
		uint32_t hops = w->hops[ld->leaf_sw[l]];

		if (hops != LOAD_NONE)
			longest = FTR_MAX(longest, hops);
	}
	return longest;
}

static void write_path(const struct ftr_load *ld, const struct load_tree *w,
		       ftr_sw s, uint32_t *to)
{
	uint32_t h = 0;

	if (w->hops[s] == LOAD_NONE)
		to[h++] = ld->n_links + LOAD_LOST;
	else
		for (; w->hops[s]; s = w->to[s].next)
			to[h++] = w->to[s].link;
	while (h < ld->hops)
		to[h++] = ld->n_links + LOAD_FILL;
}

static void write_paths(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	const struct build *b = ctx;
	const struct ftr_load *ld = b->ld;
	struct load_tree *w = &b->tree[worker];

	for (uint32_t i = begin; i < end; i++) {
		uint32_t place = ld->filled[i], longest = longest_to(ld, w, i);

		b->longest[worker] = FTR_MAX(b->longest[worker], longest);
		if (ld->path && longest > ld->hops)
			continue;
		load_sum_add(ld, w, i, &b->sum[worker]);
		for (uint32_t l = 0; ld->path && l < ld->n_leaf; l++)
			write_path(ld, w, ld->leaf_sw[l], ld->path +
				   ((size_t)l * ld->n + place) * ld->hops);
	}
}

static void write_gaps(const struct ftr_load *ld)
{
	for (uint32_t l = 0; l < ld->n_leaf; l++)
		for (uint32_t i = 0; i < ld->n; i++) {
			uint32_t *to = ld->path +
				((size_t)l * ld->n + i) * ld->hops;

			if (ld->order[i] != FTR_EP_NONE)
				continue;
			to[0] = ld->n_links + LOAD_GAP;
			for (uint32_t h = 1; h < ld->hops; h++)
				to[h] = ld->n_links + LOAD_FILL;
		}
}

static bool new_sums(struct build *b, unsigned int workers,
		     struct ftr_arena *tmp)
{
	if (!FTR_NEW(tmp, b->sum, workers))
		return false;
	for (unsigned int i = 0; i < workers; i++)
		if (!load_sum_new(i ? tmp : b->ld->arena, b->ld, &b->sum[i]))
			return false;
	return true;
}

static bool new_trees(struct build *b, unsigned int workers, struct ftr_arena *tmp)
{
	if (!FTR_NEW(tmp, b->tree, workers) || !FTR_ZNEW(tmp, b->longest, workers))
		return false;
	for (unsigned int i = 0; i < workers; i++)
		if (!load_tree_new(tmp, b->ld->f->n_sw, &b->tree[i]))
			return false;
	return true;
}

/* Compute all paths and the all-to-all load. Store the paths if they take at most table_max
 * bytes. */
static bool compute_paths(struct ftr_load *ld, uint64_t table_max,
			  struct ftr_team *team, struct ftr_arena *tmp)
{
	unsigned int workers = ftr_team_size(team);
	struct build b = { .ld = ld };
	uint64_t bytes = (uint64_t)ld->n_leaf * ld->n * sizeof(*ld->path);
	uint32_t longest = 1;

	if (!new_trees(&b, workers, tmp))
		return false;
	for (uint32_t i = 0; bytes <= table_max && i < ld->n_filled;
	     i += ld->n_filled / SAMPLE + 1) {
		uint32_t hops = longest_to(ld, b.tree, i);

		longest = FTR_MAX(longest, hops);
	}
	do {
		ld->hops = longest;
		free(ld->path);
		ld->path = NULL;
		if (bytes && bytes <= table_max / ld->hops &&
		    !(ld->path = ftr_malloc(bytes * ld->hops)))
			return false;
		if (!new_sums(&b, workers, tmp))
			return false;
		ftr_team_run(team, ld->n_filled, CHUNK, write_paths, &b);
		for (unsigned int i = 0; i < workers; i++)
			longest = FTR_MAX(longest, b.longest[i]);
	} while (ld->path && longest > ld->hops);
	for (unsigned int i = 1; i < workers; i++)
		load_sum_merge(ld, &b.sum[i], &b.sum[0]);
	ld->all = b.sum[0];
	if (ld->path && ld->n_filled < ld->n)
		write_gaps(ld);
	return true;
}

/* ---- new and free -------------------------------------------------------- */

static struct ftr_load *new_load(const struct ftr_fabric *f,
				 const struct ftr_tables *t, uint32_t n)
{
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_load *ld = a ? ftr_arena_zalloc(a, 1, sizeof(*ld)) : NULL;

	if (!ld) {
		ftr_arena_free(a);
		return NULL;
	}
	ld->arena = a;
	ld->f = f;
	ld->t = t;
	ld->n = n;
	return ld;
}

enum ftr_status ftr_load_new(const struct ftr_fabric *f,
			     const struct ftr_tables *t, const ftr_ep *order,
			     uint32_t n, uint64_t table_max,
			     struct ftr_team *team, struct ftr_load **out,
			     struct ftr_err *err)
{
	enum ftr_status st = refuse(f, t, order, n, err);
	struct ftr_load *ld;
	struct ftr_arena *tmp;
	bool ok;

	if (st)
		return st;
	ld = new_load(f, t, n);
	tmp = ftr_arena_new();
	ok = ld && tmp && set_order(ld, order) && set_links(ld) &&
		compute_paths(ld, table_max ? table_max : TABLE_MAX, team, tmp);
	ftr_arena_free(tmp);
	if (!ok) {
		ftr_load_free(ld);
		return ftr_nomem(err, "the paths to %u host ports", n);
	}
	*out = ld;
	return FTR_OK;
}

void ftr_load_free(struct ftr_load *ld)
{
	if (!ld)
		return;
	free(ld->path);
	ftr_arena_free(ld->arena);
}
