/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link load of one shift permutation, for comparison with <ftr/load.h>. */
#ifndef TESTS_LIB_SHIFT_LOAD_H
#define TESTS_LIB_SHIFT_LOAD_H

#include <ftr/fabric.h>
#include <ftr/tables.h>

/*
 * Load of the links between switches in one shift: host port order[i] sends to
 * the base LID of order[(i + k) % n]. FTR_EP_NONE in order[] is a gap, which
 * sends and receives nothing. max_load: flows on the most loaded directed
 * link between switches. A flow that does not arrive is not counted. The
 * paths are followed hop by hop. Errors: FTR_INVAL if the size of the tables is
 * not that of f, or if order[] has a port that f does not have; FTR_NOMEM.
 */
enum ftr_status shift_load(const struct ftr_fabric *f,
			   const struct ftr_tables *t, const ftr_ep *order,
			   uint32_t n, uint32_t k, uint32_t *max_load,
			   struct ftr_err *err) FTR_MUST_USE;

#endif
