/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which the entries of whole tables are replaced.
 *
 *	old tables `now`  --- step 1, step 2, ... --->  new tables `to`
 *
 * A changed entry is written after the other changed entries on its new path
 * (src/core/tables/write_order.h).  So a packet follows old entries up to the first new entry, and
 * the new path from there.  It arrives if both paths arrive, and it cannot loop if neither path
 * loops.
 *
 * Such a packet may also cause channel dependencies that neither the old nor the new tables have.
 * <ftr/cdg.h> decides whether a cycle of dependencies is possible in any of these states.
 *
 * The LIDs for which a changed entry leads nowhere now (no entry, or no link) are replaced first.
 * Entries that become FTR_PORT_NONE are written last.
 */
#ifndef FTR_TRANSITION_H
#define FTR_TRANSITION_H

#include <ftr/tables.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of ftr_transition.step besides step numbers: the entry does not change; it becomes
 * FTR_PORT_NONE, after all steps; it has no step, because an entry of a silent switch or a loop is
 * on its new path. */
#define FTR_TRANSITION_NONE 0
#define FTR_TRANSITION_LAST 254
#define FTR_TRANSITION_NEVER 255

struct ftr_transition {
	const struct ftr_fabric *f;	/* the present links */
	/* The tables of the switches before the transition, and after it.  Both fit f. */
	const struct ftr_tables *now, *to;
	const uint8_t *silent;	/* [n_sw] 1: the entries of this switch are not written; NULL:
				 * none */
	/* Results of ftr_transition_plan().  step: [n_sw * now->stride], to be freed by the caller;
	 * entries with the same step may be written in any order. */
	uint8_t *step;
	uint32_t n_steps;	/* step numbers are 1 .. n_steps, at most FTR_TRANSITION_LAST - 1 */
	uint64_t n_entries;	/* entries with a step, or with FTR_TRANSITION_LAST */
	uint64_t n_never;	/* entries with FTR_TRANSITION_NEVER, and changes of silent
				 * switches */
};

/* Compute the steps.  x->step is NULL, or the result of an earlier call for the same fabric.
 * FTR_NOMEM.  O(n_sw * LIDs / 64 + changes * path length). */
enum ftr_status ftr_transition_plan(struct ftr_transition *x, struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
