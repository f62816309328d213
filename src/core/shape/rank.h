/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Applies the rules of rank.c, by which the ranks of the switches are inferred.  choice.c does this
 * several times.
 */
#ifndef FTR_SHAPE_RANK_H
#define FTR_SHAPE_RANK_H

#include "shape/shape.h"

#define NO_HEIGHT INT32_MIN	/* only while heights or depths are computed */
#define MAX_RANKS 128		/* so that the longest path, 2 * (MAX_RANKS - 1) hops, has a cost
				 * below FTR_COST_INF */

/* part / of; infinite if `of` is 0 */
struct ratio {
	uint32_t part, of;
};

static inline bool ratio_above(struct ratio a, struct ratio b)
{
	return (uint64_t)a.part * b.of > (uint64_t)b.part * a.of;
}

uint32_t rank_links(const struct shaping *z, ftr_sw s);
/* Find the leaf seeds by rule 1, and mark them in z->is_leaf.  tmp: [n_sw] scratch. */
void rank_seed_leaves(struct shaping *z, uint32_t *tmp);
/*
 * Apply rules 2 to 5: set height[s] of each switch s, z->is_leaf and z->is_stub.  Every switch gets a
 * height: rule 2 gives heights to all switches of a connected component or to none, and rule 5 to the
 * components without heights.
 * Before the call, z->is_leaf must mark the leaf seeds, and z->is_stub must be all 0.  low_share:
 * LOW_SHARE in rule 2.  Errors: FTR_NOMEM.
 */
enum ftr_status rank_heights(struct shaping *z, int32_t *height,
			     uint32_t low_share) FTR_MUST_USE;
/* The greatest height minus the least height. */
uint32_t rank_height_range(const struct shaping *z, const int32_t *height);
/* Run a breadth-first search from the n switches in queue[].  Before the call, depth[] must be set
 * for these switches, and NO_HEIGHT for all others.  Sets depth[] of each switch that is reached,
 * and appends the switch to queue[].  Returns the number of switches in queue[]. */
uint32_t rank_bfs(const struct shaping *z, int32_t *depth, ftr_sw *queue, uint32_t n);
/* Set uf to a union-find in which each connected component of the fabric is one set of switches. */
void rank_components(const struct shaping *z, uint32_t *uf);

#endif
