/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link load of one shift permutation: what <ftr/load.h> is compared with. */
#ifndef TESTS_LIB_SHIFT_LOAD_H
#define TESTS_LIB_SHIFT_LOAD_H

#include <ftr/fabric.h>
#include <ftr/tables.h>

/*
 * Inter-switch load of permutations: for the n end ports in order[] (their
 * base LIDs; FTR_EP_NONE = gap, sends and receives nothing) and one shift
 * k, flow order[i] -> order[(i + k) % n].  max_load: flows on the most loaded
 * directed switch-to-switch link.  A flow that does not arrive loads nothing.
 * Walks paths hop by hop: slow and obvious.  FTR_INVAL for tables not of f's
 * size or an end port beyond f.
 */
enum ftr_status shift_load(const struct ftr_fabric *f,
			   const struct ftr_tables *t, const ftr_ep *order,
			   uint32_t n, uint32_t k, uint32_t *max_load,
			   struct ftr_err *err) FTR_MUST_USE;

#endif
