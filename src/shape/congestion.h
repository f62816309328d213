/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An estimate of the congestion for given ranks of the switches.
 */
#ifndef FTR_SHAPE_CONGESTION_H
#define FTR_SHAPE_CONGESTION_H

#include "shape/shape.h"

/*
 * Estimated congestion of all-to-all traffic; less is better.  Every host sends one flow to
 * every host on another switch.  Each switch divides its flows evenly among the links to its
 * candidates.
 *
 * Some pairs of hosts may be physically connected but have no up/down path.  In max and
 * squares such a pair counts like an average pair.  In addition, max grows as if all such
 * pairs made an extra turn at the switch with the most links.
 */
struct congestion {
	double max;		/* number of flows on the most loaded link */
	double squares;		/* sum over all links of (number of flows)^2 */
	double apart;		/* 0 .. 1: share of the physically connected pairs that have no
				 * up/down path */
};

/*
 * Estimate the congestion if switch s has height[s].  A switch with NO_HEIGHT (rank.h) is
 * left out.  Links lead up to the greater height; the least height may be any number.
 * O(switches with hosts * links).
 *
 * On large fabrics only some switches with hosts are used as destinations, and max and
 * squares cover only upward links.  Compare only values of the same fabric.
 * Errors: FTR_NOMEM.
 */
enum ftr_status shape_congestion(struct shaping *z, const int32_t *height,
				 struct congestion *out) FTR_MUST_USE;

#endif
