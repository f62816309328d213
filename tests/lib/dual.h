/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef TESTS_LIB_DUAL_H
#define TESTS_LIB_DUAL_H

#include <ftr/fabric.h>

/*
 * A lower bound for the all-to-all load of the most loaded link, from weights of the links.  Each
 * round improves the weights.  Under any routing, the most loaded link carries at least *least
 * flows.  The rounds also find a routing whose most loaded link carries *most flows.  That routing
 * divides flows among several paths, which forwarding tables cannot do.  Both values are 0 if no
 * flow crosses a link.  O(rounds * switches with hosts * links).
 *
 *	hosts	[n_sw] number of hosts, by switch; NULL: as for ftr_balance_bound()
 */
enum ftr_status bound_dual(const struct ftr_fabric *f, const uint32_t *hosts, uint32_t rounds,
			   double *least, double *most, struct ftr_err *err);

#endif
