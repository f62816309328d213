/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rules of ranking (rank.c) that choice.c applies several times.
 */
#ifndef FTR_SHAPE_RANK_H
#define FTR_SHAPE_RANK_H

#include "shape/shape.h"

#define NO_HEIGHT INT32_MIN
#define MAX_RANKS 128		/* so that 2 * (ranks - 1) is below FTR_COST_INF */

uint32_t rank_links(const struct shaping *z, ftr_sw s);
/* Find the leaf seeds by rule 1 and mark them in z->is_leaf. tmp: [n_sw] scratch. */
void rank_seed_leaves(struct shaping *z, uint32_t *tmp);
/*
 * Apply rules 2 to 5.  On entry, z->is_leaf marks the leaf seeds, and z->is_stub is all 0.
 * Sets height[s] of each switch; NO_HEIGHT: s has no height.  Updates z->is_leaf and
 * z->is_stub.  low_share: rule 2 uses 1 / low_share as the least share.  Errors: FTR_NOMEM.
 */
enum ftr_status rank_heights(struct shaping *z, int32_t *height,
			     uint32_t low_share) FTR_MUST_USE;
/* The greatest height minus the least height; 0 if no switch has a height. */
uint32_t rank_height_range(const struct shaping *z, const int32_t *height);
/* Breadth-first search from the switches queue[0 .. n-1]. On entry, depth[] is set for these
 * switches and is NO_HEIGHT for all others. Sets depth[] of the switches that the search reaches,
 * and appends them to queue. Returns the number of switches in queue. */
uint32_t rank_bfs(const struct shaping *z, int32_t *depth, ftr_sw *queue, uint32_t n);
/* Set uf to a union-find of the switches; each connected component is one set. */
void rank_components(const struct shaping *z, uint32_t *uf);

#endif
