/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slots, and projections (shapes over a nominal shape), by a slow and simple algorithm, for
 * small fabrics.
 *
 * Ranks and stubs are taken from the shape, planes from oracle.h. Everything else is
 * computed by scanning ports, pair by pair.
 */
#ifndef FTR_TEST_ORACLE_SLOTS_H
#define FTR_TEST_ORACLE_SLOTS_H

#include <ftr/ftr.h>

/* The number of nominal links between a and b; 0 if they are not nominal
 * neighbours. sh must infer missing links itself: it must not be a shape over a nominal
 * shape. */
unsigned int oracle_nominal(const struct ftr_shape *sh, ftr_sw a, ftr_sw b);

/* Store in slot[] the switches that are nominally above s, in the order of their slots; returns
 * their number. slot[] has room for all switches. */
uint32_t oracle_slots(const struct ftr_shape *sh, ftr_sw s, ftr_sw *slot);

/* Compare the slots, nominal link counts and dividers of sh with the functions
 * above. Check that sh has up paths if and only if two slots of some switch lead to one plane.
 * A failed check ends the test, in most cases with the seed in its message. */
void oracle_check_slots(const struct ftr_shape *sh, uint64_t seed);

/* Compare sh, a shape over the nominal shape n, field by field with the definition in
 * <ftr/shape.h>, and its costs with oracle_costs(). */
void oracle_check_projection(const struct ftr_shape *sh,
			     const struct ftr_shape *n, uint64_t seed);

#endif
