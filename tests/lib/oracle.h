/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes the tables of dmodc by a slow and simple algorithm for small fabrics, directly from
 * Gliksberg et al. 2020.
 *
 * Ranks, stubs and the indices d of destinations are taken from the shape under test; they have
 * tests of their own.  Everything else is computed again.  Neighbours are found by scanning ports,
 * planes by flooding.  Costs are relaxed until they no longer change.  Dividers are computed along
 * all paths.  Each table entry is computed by the equations of the paper.
 */
#ifndef FTR_TEST_ORACLE_H
#define FTR_TEST_ORACLE_H

#include <ftr/ftr.h>

/* Compute costs by Procedure 1 of the paper, which has no separate downward costs.
 * out[s * n_sw + l] is the cost from s to l.  On a PGFT these costs equal those of the shape. */
void oracle_seed_costs(const struct ftr_shape *sh, unsigned int *out);

/* Compute costs and downward costs as defined in <ftr/shape.h>.  ORACLE_INF: no path. */
#define ORACLE_INF 9999u
void oracle_costs(const struct ftr_shape *sh, unsigned int *cost,
		  unsigned int *down);

/* The lowest index of a switch in the plane of s.  Planes consist of switches of rank >= low. */
ftr_sw oracle_plane(const struct ftr_shape *sh, ftr_sw s, unsigned int low);

/* Returns true if equation (1) allows the port for destination t on switch s.  FTR_PORT_NONE is
 * allowed if no other port is. */
bool oracle_allows(const struct ftr_shape *sh, const unsigned int *cost,
		   const unsigned int *down, ftr_sw s, const struct ftr_dest *t, ftr_port port);

#endif
