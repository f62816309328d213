/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The recurrence of costs and down-costs (cost.c), for whole shapes and for incremental
 * tables.
 *
 * Both functions compute row[0 .. n-1], the values of s for columns from .. from + n - 1,
 * from the rows of its neighbours in sh.  `from` and n are multiples of 64.  must: scratch
 * of n bytes.
 */
#ifndef FTR_SHAPE_COST_H
#define FTR_SHAPE_COST_H

#include <ftr/shape.h>

void cost_down_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
		   uint8_t *row);
/* The down-costs of s must be final. */
void cost_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
	      uint8_t *row, uint8_t *must);

#endif
