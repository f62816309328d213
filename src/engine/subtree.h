/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sFtree as published: Bogdanski et al. 2012, Algorithms 1 and 2, over tables of dmodc.  The
 * contract is that of `route` in <ftr/engine.h>, but opts must not be NULL.  The subtree root is
 * not the leaf of the subnet manager if there is another leaf (section 4.2).  order_known becomes
 * false, because these tables need not follow any order of the switches.
 */
#ifndef FTR_ENGINE_SUBTREE_H
#define FTR_ENGINE_SUBTREE_H

#include "engine/engine.h"

enum ftr_status subtree_route(const struct ftr_shape *sh,
			      const struct ftr_route_opts *opts,
			      struct ftr_team *team, struct ftr_tables *out,
			      struct ftr_route_stats *stats,
			      struct ftr_err *err) FTR_MUST_USE;

#endif
