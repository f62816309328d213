/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Computes the link load of one shift permutation, for comparison with <ftr/load.h>. */
#ifndef TESTS_LIB_SHIFT_LOAD_H
#define TESTS_LIB_SHIFT_LOAD_H

#include <ftr/fabric.h>
#include <ftr/tables.h>

/*
 * Load of the links between switches in shift k: host port order[i] sends to the base LID
 * of order[(i + k) % n].  FTR_EP_NONE in order[] is a gap, which neither sends nor
 * receives.  max_load: flows on the most loaded directed link.  Flows that do not arrive
 * are not counted.  Errors: FTR_INVAL if the tables or a port of order[] do not fit f;
 * FTR_NOMEM.
 */
enum ftr_status shift_load(const struct ftr_fabric *f,
			   const struct ftr_tables *t, const ftr_ep *order,
			   uint32_t n, uint32_t k, uint32_t *max_load,
			   struct ftr_err *err) FTR_MUST_USE;

#endif
