/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks slots and projections by a slow and simple algorithm for small fabrics.  A slot is the
 * position of an upward port group among the nominal groups of its switch.  A projection is
 * the shape of a damaged fabric, made with the nominal shape.
 *
 * Ranks and stubs come from the shape, planes from oracle.h.  Everything else is computed
 * by scanning the ports of each pair of switches.
 */
#ifndef FTR_TEST_ORACLE_SLOTS_H
#define FTR_TEST_ORACLE_SLOTS_H

#include <ftr/ftr.h>

/* The number of nominal links between a and b, or 0.  sh must not be a projection, because missing
 * links of sh are inferred here. */
unsigned int oracle_nominal(const struct ftr_shape *sh, ftr_sw a, ftr_sw b);

/* Store the nominal upper neighbours of s in slot[], in the order of their slots, and return their
 * number.  slot[] has room for all switches. */
uint32_t oracle_slots(const struct ftr_shape *sh, ftr_sw s, ftr_sw *slot);

/* Compare the slots, nominal link counts and dividers of sh with the results of this module.  sh
 * must have up paths exactly if two slots of a switch lead to one plane.  A difference ends the
 * test. */
void oracle_check_slots(const struct ftr_shape *sh, uint64_t seed);

/* Compare projection sh of the nominal shape n with the definition in <ftr/shape.h>, and its costs
 * with oracle_costs(). */
void oracle_check_projection(const struct ftr_shape *sh,
			     const struct ftr_shape *n, uint64_t seed);

#endif
