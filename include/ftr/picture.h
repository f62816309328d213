/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The picture: where each switch is drawn, and which links are missing.
 *
 * Coordinates depend on the shape only, so the same fabric always gives the same picture.  One
 * unit of x is the width of one leaf switch.  Leaves are placed in the order of the
 * columns of the shape, so the leaves of a pod are side by side.  A switch of a higher rank is
 * placed above the leaves of its pod.  The caller draws rank r in row r.
 *
 *	rank 2   [ plane 0 ][ plane 1 ][ plane 2 ]
 *	rank 1   [  pod 0  ]   [  pod 1  ]   ...
 *	rank 0   l l l l l l   l l l l l l
 *	x        0 1 2 3 4 5   6 7 8 ...
 *
 * Pod	All switches of one rank above the same leaves; at rank 0, one leaf.
 * Block	Switches drawn side by side as one unit.  At rank 0: the leaves below one pod of
 *		rank 1.  At higher ranks: a pod, or, if planes have several switches in each
 *		pod, the switches of one plane in a pod.
 *
 * Everything is const after ftr_picture_new.
 */
#ifndef FTR_PICTURE_H
#define FTR_PICTURE_H

#include <ftr/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_POD_NONE UINT32_MAX

struct ftr_picture_pod {
	uint8_t rank;
	uint32_t pod_first, pod_leaves;	/* leaf columns pod_first .. pod_first + pod_leaves - 1 */
};

struct ftr_picture_block {
	uint8_t rank;
	double x0, x1;		/* left and right end */
	uint32_t n_sw;
};

/* Missing links between two switches of the fabric.  Several elements may name the same two
 * switches. */
struct ftr_missing {
	ftr_sw low, up;		/* the switch of lower rank and that of higher rank; in any order if
				 * the ranks are equal */
	uint32_t n;		/* number of missing links */
	bool inferred;		/* true: inferred from other switches of the same two ranks;
				 * false: known from the nominal fabric */
};

struct ftr_picture {
	uint32_t n_pods, n_blocks, n_missing;
	uint32_t n_ranks;
	uint32_t n_cols;	/* number of leaf columns, including those of missing leaves */
	uint64_t missing_links;	/* sum of missing[].n */
	double width;		/* width of the picture; every x is less than it */
	const struct ftr_picture_pod *pod;	/* sorted by (rank, pod_first) */
	const struct ftr_picture_block *block;
	const struct ftr_missing *missing;	/* sorted by (low, up) */
	const double *x;	/* [n_sw] centre of the switch */
	const uint32_t *block_of;	/* [n_sw] index in block[] */
	const uint32_t *pod_of;	/* [n_sw] index in pod[]; FTR_POD_NONE: the switch is not above
				 * any leaf */
	/* [n_ranks][n_cols] index of the pod of that rank above a leaf column, or FTR_POD_NONE */
	const uint32_t *pod_at;
	struct ftr_arena *arena;
};

/* Nominal rate of a link in Gbit/s (4x EDR: 100), rounded down; 0: unknown. */
unsigned int ftr_link_gbps(unsigned int width, enum ftr_speed speed);

/* Make the picture of sh.  sh may be freed before the picture.  Error: FTR_NOMEM.
 * O(links log links + n_ranks * n_leaf). */
enum ftr_status ftr_picture_new(const struct ftr_shape *sh,
				struct ftr_picture **out,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_picture_free(struct ftr_picture *p);	/* NULL is accepted */

#ifdef __cplusplus
}
#endif
#endif
