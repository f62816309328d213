/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dmodc by a slow and simple algorithm, directly from Gliksberg et al. 2020, for
 * small fabrics.
 *
 * Ranks, stubs and the index d are taken from the shape under test (they have
 * tests of their own). Everything else is computed again: neighbours by
 * scanning ports, costs by relaxing until nothing changes, dividers along all
 * paths, planes by flooding, and each table entry by one equation after the
 * other.
 */
#ifndef FTR_TEST_ORACLE_H
#define FTR_TEST_ORACLE_H

#include <ftr/ftr.h>

/* Compute costs exactly by Procedure 1 of the paper: each switch sends its costs to its
 * neighbours. There is no separate downward cost. out[s * n_sw + l] is the cost from s to l.
 * On every PGFT these costs equal those of the shape. */
void oracle_seed_costs(const struct ftr_shape *sh, unsigned int *out);

/* Costs and downward costs as defined in <ftr/shape.h>; ORACLE_INF: none. */
#define ORACLE_INF 9999u
void oracle_costs(const struct ftr_shape *sh, unsigned int *cost,
		  unsigned int *down);

/* The switch with the lowest index in the plane of s, among the switches of rank >= low. */
ftr_sw oracle_plane(const struct ftr_shape *sh, ftr_sw s, unsigned int low);

uint64_t oracle_divider(const struct ftr_shape *sh, ftr_sw s);

/* The entry of s for a destination of the shape. Upward groups are ordered by GUID; if by_guid
 * is false, by plane, and inside a plane by GUID. */
ftr_port oracle_entry(const struct ftr_shape *sh, const unsigned int *cost,
		      const unsigned int *down, bool by_guid, ftr_sw s,
		      const struct ftr_dest *t);

#endif
