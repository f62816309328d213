/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes the costs of one switch (cost.c), for whole shapes and for incremental tables.
 *
 * cost_row() computes the costs from switch s to n columns (destination switches), and
 * cost_down_row() computes the down-costs.  The first column is `from`.  The result is
 * row[0 .. n - 1].  Both functions read the costs of the neighbours of s in sh.  `from` and n must
 * be multiples of 64.  must: scratch of n bytes.
 */
#ifndef FTR_SHAPE_COST_H
#define FTR_SHAPE_COST_H

#include <ftr/shape.h>

void cost_down_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
		   uint8_t *row);
/* The down-costs of s in sh must already have been computed. */
void cost_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
	      uint8_t *row, uint8_t *must);

#endif
