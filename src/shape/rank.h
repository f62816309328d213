/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rules 1 to 5 of ranking (rank.c), for choice.c, and parts of them for congestion.c.
 */
#ifndef FTR_SHAPE_RANK_H
#define FTR_SHAPE_RANK_H

#include "shape/shape.h"

#define NO_HEIGHT INT32_MIN
#define MAX_RANKS 128		/* ensures that 2 * (ranks - 1) is below FTR_COST_INF */

/* The number of links from s to other switches. */
uint32_t rank_links(const struct shaping *z, ftr_sw s);
/* Set z->is_leaf to the leaf seeds, by rule 1; tmp: [n_sw] scratch. */
void rank_seed_leaves(struct shaping *z, uint32_t *tmp);
/*
 * Apply rules 2 to 5 to the leaf seeds in z->is_leaf.  Sets height[s] of each switch to its
 * height or NO_HEIGHT, and updates z->is_leaf and z->is_stub.  z->is_stub must be all 0
 * before the call.  low_share: the reciprocal of the least share of rule 2.  Errors: FTR_NOMEM.
 */
enum ftr_status rank_heights(struct shaping *z, int32_t *height,
			     uint32_t low_share) FTR_MUST_USE;
/* The difference between the greatest and the least height; 0 if no switch has a height. */
uint32_t rank_height_range(const struct shaping *z, const int32_t *height);
/* Breadth-first search from the switches queue[0 .. n-1].  Their depth[] must be set; that of all
 * other switches must be NO_HEIGHT.  Sets depth[] of the switches that are reached, and appends
 * them to queue.  Returns the number of switches in queue. */
uint32_t rank_bfs(const struct shaping *z, int32_t *depth, ftr_sw *queue, uint32_t n);
/* Set uf, a union-find of switches, to the connected components of the fabric. */
void rank_components(const struct shaping *z, uint32_t *uf);

#endif
