/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sFtree as published: Bogdanski et al. 2012, Algorithms 1 and 2.  The algorithms add entries to
 * tables of engine dmodc.
 */
#ifndef TESTS_LIB_SUBTREE_H
#define TESTS_LIB_SUBTREE_H

#include <ftr/engine.h>

struct subtree_stats {
	ftr_sw root;		/* root of the subtree */
	uint32_t longest;	/* number of hops of the longest switch-to-switch path that Algorithm 2
				 * made (get_path_length) */
};

/* sm_switch: the switch of the subnet manager, or FTR_SW_NONE */
enum ftr_status subtree_route(const struct ftr_shape *sh, ftr_sw sm_switch, struct ftr_tables *out,
			      struct subtree_stats *stats, struct ftr_err *err);

#endif
