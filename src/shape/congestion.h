/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An estimate of the congestion that ranks lead to.
 */
#ifndef FTR_SHAPE_CONGESTION_H
#define FTR_SHAPE_CONGESTION_H

#include "shape/shape.h"

/*
 * Cost of a set of heights, less is better: the flows on the most loaded link, and the sum
 * of the squares of the flows on all links.  One flow between every two hosts on different
 * switches; each switch divides its flows evenly over its candidates.  Pairs without an
 * up/down path, although links connect them, count as much as the others on average; and
 * max grows as if all of them turned at the one switch that has the most links.
 */
struct congestion {
	double max;
	double squares;
	double apart;		/* share of these pairs, 0 .. 1 */
};

/*
 * Estimate the congestion for height[s] of each switch s; NO_HEIGHT (rank.h): none.  height
 * need not start at 0; links lead up to the greater height.  O(switches with hosts * links);
 * of large fabrics only a part of the switches with hosts are destinations.
 * Errors: FTR_NOMEM.
 */
enum ftr_status shape_congestion(struct shaping *z, const int32_t *height,
				 struct congestion *out) FTR_MUST_USE;

#endif
