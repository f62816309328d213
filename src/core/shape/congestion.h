/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Estimates the congestion that a fabric would have with given heights (levels) of its switches.
 */
#ifndef FTR_SHAPE_CONGESTION_H
#define FTR_SHAPE_CONGESTION_H

#include "shape/shape.h"

/*
 * The congestion of all-to-all traffic; less is better.  Every host sends one flow to every host on
 * another switch.  Each switch divides its flows evenly among the links to its next hops.
 *
 * Some pairs of hosts may be physically connected, but have no up/down path.  In `max` and
 * `squares`, such a pair counts like an average pair with a path.  In addition, `max` grows as if
 * the flows of all such pairs were divided among the links of one switch, the one with the most
 * links.
 */
struct congestion {
	double max;		/* number of flows on the most loaded link */
	double squares;		/* sum over all links of (number of flows)^2 */
	double apart;		/* pairs without an up/down path / physically connected pairs */
};

/*
 * Estimate the congestion if links lead up to the switch with the greater height.  height[s]: the
 * height of switch s, any number.
 * O(switches with hosts * links).
 *
 * On large fabrics only flows to some of the switches are counted, and `max` and `squares` cover
 * only upward links.  So compare only values of the same fabric.  Errors: FTR_NOMEM.
 */
enum ftr_status shape_congestion(struct shaping *z, const int32_t *height,
				 struct congestion *out) FTR_MUST_USE;

#endif
