/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sFtree as published: Bogdanski et al. 2012, Algorithms 1 and 2.  The algorithms add entries to
 * tables of engine dmodc.  The arguments and errors are those of `route` in <ftr/engine.h>, but
 * opts must not be NULL.  stats->order_known becomes false, because these tables may follow no
 * order of the switches.
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
