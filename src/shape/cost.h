/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Costs and down-costs of one switch (cost.c), for whole shapes and for incremental tables.
 *
 * Both functions compute the costs or down-costs of switch s to n columns, from column `from` on,
 * and store them in row[0 .. n-1].  They read the values of the neighbours of s in sh.  `from`
 * and n are multiples of 64.  must: scratch of n bytes.
 */
#ifndef FTR_SHAPE_COST_H
#define FTR_SHAPE_COST_H

#include <ftr/shape.h>

void cost_down_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
		   uint8_t *row);
/* The down-costs of s in sh must be final. */
void cost_row(const struct ftr_shape *sh, ftr_sw s, size_t from, size_t n,
	      uint8_t *row, uint8_t *must);

#endif
