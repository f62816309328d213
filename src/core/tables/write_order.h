/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Downstream first: the order in which the changed entries of one LID are written.
 *
 * The final path of an entry is its path after all changes have been written.  A changed entry
 * whose final path reaches the LID may be written when all other changed entries on this path have
 * been written.  A packet then follows old entries, which have no loop, up to the first new
 * entry, and the final path from there.  So no packet loops (Sem-Jacobsen et al. 2006 and 2011).
 *
 * Let next(x) be the next changed entry after x on the final path of x.  The entry x waits for
 * next(x) only:
 *
 *	step(x) = 1 + max(base(x), step(next(x)))
 *
 * In incremental tables (src/core/incremental) base(x) is 0.  The planner of ddlr (src/core/ddlr)
 * gives some entries a step by itself.  There next() skips these entries, and base(x) is the
 * greatest step of the skipped entries, or 0 if there is none.
 *
 * After write_order_step(), some changes may have no step.  Each of the two callers treats them in
 * its own way.
 */
#ifndef FTR_TABLES_WRITE_ORDER_H
#define FTR_TABLES_WRITE_ORDER_H

#include "base/base.h"

/* Return values of next() if there is no next change.  LOST: the path does not reach the LID,
 * and change i gets no step.  ARRIVES: change i gets a step but waits for no other change, usually
 * because the path reaches the LID. */
#define WRITE_ARRIVES UINT32_MAX
#define WRITE_LOST (UINT32_MAX - 1)

/* Values of step[].  UNKNOWN: the step is not computed yet; NEVER: the change gets no step. */
#define WRITE_UNKNOWN 0
#define WRITE_NEVER UINT32_MAX

struct write_wait {
	uint32_t change, base;
};

struct write_order {
	const void *ctx;
	/* Returns next(i).  Sets *base to base(i); *base is 0 before the call. */
	uint32_t (*next)(const void *ctx, uint32_t i, uint32_t *base);
	uint32_t *step;		/* step of each change: 1 .. limit, WRITE_UNKNOWN or WRITE_NEVER */
	struct write_wait *stack;	/* scratch, room for all changes */
	uint32_t limit;		/* greatest step allowed */
};

/* Compute the step of change i and of all changes on its final path that have none yet.  A change
 * gets no step if its final path does not reach the LID, has a loop, or contains another change
 * without a step, or if the step would exceed the limit.  Calls next() at most once for each
 * change on the path. */
void write_order_step(const struct write_order *o, uint32_t i);

#endif
