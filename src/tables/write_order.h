/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Downstream first: the order in which the changed entries of one LID are written.
 *
 * The final path of an entry is its path after all changes have been written.  A change may be
 * written if its final path reaches the LID, and all changes farther down this path have been
 * written.  A packet then follows old entries, which have no loop, up to the first written entry,
 * and the final path from there.  So no packet loops (Sem-Jacobsen et al. 2006 and 2011).
 *
 * Each switch has one next hop towards a LID.  So a change x waits for at most one other
 * change: next(x), the next change on its final path.
 *
 *	step(x) = 1 + the greater of base(x) and step(next(x))
 *
 * base(x) is 0 in incremental tables.  The planner of ddlr gives some entries a step in another
 * way.  next() skips these entries, and base(x) is the latest step of those it skips, or 0.
 *
 * Incremental tables (src/incremental) and the planner of ddlr (src/ddlr) use write_order_step().
 * Each of them treats changes without a step in its own way.
 */
#ifndef FTR_TABLES_WRITE_ORDER_H
#define FTR_TABLES_WRITE_ORDER_H

#include "core/core.h"

/* Values of next() if there is no next change.  LOST: the path does not reach the LID.
 * ARRIVES: the change waits for no other change, usually because its path reaches the LID. */
#define WRITE_ARRIVES UINT32_MAX
#define WRITE_LOST (UINT32_MAX - 1)

/* Values of step[] for changes without a step.  UNKNOWN: not computed yet; NEVER: the change gets
 * no step. */
#define WRITE_UNKNOWN 0
#define WRITE_NEVER UINT32_MAX

struct write_wait {
	uint32_t change, base;
};

struct write_order {
	const void *ctx;
		/* Returns next(i), and sets *base to base(i) if it is not 0.  *base is 0 before the
		 * call. */
	uint32_t (*next)(const void *ctx, uint32_t i, uint32_t *base);
	uint32_t *step;		/* step of each change: 1 .. limit, WRITE_UNKNOWN or WRITE_NEVER */
	struct write_wait *stack;	/* scratch, room for all changes */
	uint32_t limit;		/* greatest step allowed */
};

/* Compute the missing steps of change i and of all changes on its final path.  A change gets no
 * step if its path does not reach the LID, leads into a cycle, or passes a change without a step,
 * or if its step would exceed the limit.  O(changes on the path) calls of next(). */
void write_order_step(const struct write_order *o, uint32_t i);

#endif
