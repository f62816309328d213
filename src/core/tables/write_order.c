// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the write steps of the changes on one final path (see write_order.h).  While the path
 * from a change is followed, the step of this change is WRITE_NEVER, as a mark.  If the path comes
 * back to a marked change, it ends there, and all changes on this path get no step.
 */
#include "tables/write_order.h"

void write_order_step(const struct write_order *o, uint32_t i)
{
	uint32_t depth = 0, last;

	while (i < WRITE_LOST && o->step[i] == WRITE_UNKNOWN) {
		struct write_wait *w = &o->stack[depth++];

		*w = (struct write_wait){ i, 0 };
		o->step[i] = WRITE_NEVER;
		i = o->next(o->ctx, i, &w->base);
	}
	last = i == WRITE_ARRIVES ? 0 : i == WRITE_LOST ? WRITE_NEVER :
		o->step[i];
	while (depth && last != WRITE_NEVER) {
		const struct write_wait *w = &o->stack[--depth];

		last = FTR_MAX(last, w->base) + 1;
		if (last > o->limit)
			last = WRITE_NEVER;
		o->step[w->change] = last;
	}
}
