/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An estimate of the congestion to which given ranks lead.
 */
#ifndef FTR_SHAPE_CONGESTION_H
#define FTR_SHAPE_CONGESTION_H

#include "shape/shape.h"

/*
 * Congestion of all-to-all traffic, less is better. There is one flow from every host to every host
 * on another switch. Each switch divides its flows evenly among the links to its candidates. A pair
 * that is physically connected but has no up/down path counts in max and in squares like an average
 * pair. In addition, max grows as if all of these pairs made their extra turn at the switch with
 * the most links.
 */
struct congestion {
	double max;		/* number of flows on the most loaded link */
	double squares;		/* sum over all links of (number of flows on the link)^2 */
	double apart;		/* number of pairs without an up/down path, as a share of the pairs
				 * that are physically connected, 0 .. 1 */
};

/*
 * Estimate the congestion if each switch s has height[s]; NO_HEIGHT (rank.h): s is left out.
 * Links lead up to the greater height; the least height need not be 0.
 * O(switches with hosts * links).  On large fabrics only some of the switches with hosts are
 * used as destinations, and max and squares cover only the upward links.  Then the values are
 * smaller, and can be compared only with those of the same fabric.
 * Errors: FTR_NOMEM.
 */
enum ftr_status shape_congestion(struct shaping *z, const int32_t *height,
				 struct congestion *out) FTR_MUST_USE;

#endif
