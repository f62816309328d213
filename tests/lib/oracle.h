/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slow and obvious Dmodc, straight from seed 002, for small fabrics.
 *
 * Takes ranks, stubs and the index d from the shape under test (they have tests of
 * their own) and works all else out again: neighbours by scanning ports, costs
 * by relaxing until nothing changes, dividers along all paths, planes by
 * flooding, and one equation after the other per table entry.
 */
#ifndef FTR_TEST_ORACLE_H
#define FTR_TEST_ORACLE_H

#include <ftr/ftr.h>

/* Costs by Procedure 1 to the letter (pushed, one cost for both ways):
 * out[s * n_sw + l], l a switch.  Same as the shape's on every PGFT. */
void oracle_seed_costs(const struct ftr_shape *sh, unsigned int *out);

/* Costs and down-costs as <ftr/shape.h> defines them; ORACLE_INF: none. */
#define ORACLE_INF 9999u
void oracle_costs(const struct ftr_shape *sh, unsigned int *cost,
		  unsigned int *down);

/* Smallest switch of the plane of s among the switches of rank >= low. */
ftr_sw oracle_plane(const struct ftr_shape *sh, ftr_sw s, unsigned int low);

uint64_t oracle_divider(const struct ftr_shape *sh, ftr_sw s);

/* The entry of s for a destination of the shape; groups above by GUID, or by
 * plane first. */
ftr_port oracle_entry(const struct ftr_shape *sh, const unsigned int *cost,
		      const unsigned int *down, bool by_guid, ftr_sw s,
		      const struct ftr_dest *t);

#endif
