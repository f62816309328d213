/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes a random connected graph of switches with hosts, without ranks.  The same seed gives
 * the same fabric on every machine.
 */
#ifndef FTR_TEST_RANDOM_GRAPH_H
#define FTR_TEST_RANDOM_GRAPH_H

#include <ftr/ftr.h>

/* Errors: FTR_INVAL: no switch; FTR_LIMIT: too few ports; FTR_NOMEM. */
enum ftr_status random_graph_new(uint64_t seed, uint32_t n_sw, uint32_t n_hosts,
			     uint32_t n_extra_links, struct ftr_fabric **out,
			     struct ftr_err *err) FTR_MUST_USE;

#endif
