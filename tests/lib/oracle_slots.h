/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slow and obvious slots and projections, for small fabrics.
 *
 * Ranks, stubs and planes are taken from the shape and its oracle; all else is
 * worked out by scanning ports, pair by pair.
 */
#ifndef FTR_TEST_ORACLE_SLOTS_H
#define FTR_TEST_ORACLE_SLOTS_H

#include <ftr/ftr.h>

/* Nominal cables between a and b, 0: not nominal neighbours.  sh: a shape that
 * was made with inference, not over a nominal one. */
unsigned int oracle_nominal(const struct ftr_shape *sh, ftr_sw a, ftr_sw b);

/* All that is nominally above s, in order; slot[] has room for all switches.
 * Returns how many. */
uint32_t oracle_slots(const struct ftr_shape *sh, ftr_sw s, ftr_sw *slot);

/* Compares slots, nominal numbers of cables, dividers of sh with the above, and
 * whether it has ascents with whether two slots lead to one plane;
 * aborts the test with the seed in its message. */
void oracle_check_slots(const struct ftr_shape *sh, uint64_t seed);

/* Compares sh, a shape over the nominal shape n, with what it should be,
 * field by field; in the end costs with oracle_costs(). */
void oracle_check_projection(const struct ftr_shape *sh,
			     const struct ftr_shape *n, uint64_t seed);

#endif
