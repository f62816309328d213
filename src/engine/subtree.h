/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sFtree to the letter: Algorithms 1 and 2 of seed 004 over dmodc's tables.
 * Same contract as an engine's route (<ftr/engine.h>), opts given; the leaf of
 * the subnet manager is kept from being subtree root by section 4.2.  No
 * order is claimed (order_known = false): its turns fit none.
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
