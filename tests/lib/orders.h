/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Searches for an order in which the entries of old tables can be replaced by those of new tables, one by one,
 * so that no state between two writes is unsound.  It shares no code with the planner, the engines and
 * the checker.
 *
 * A state is a set of entries that are written.  Packets in flight are waited for before each write.  So
 * while an entry is written, packets may follow the tables before and after this write, but no others.  The
 * write is sound if no pair (switch with hosts, LID) loses its path, no packet loops, and the channel dependencies
 * of the packets before and after it have no cycle together (one VL, Dally and Seitz 1987).  To write several
 * entries at a time, or without a wait, causes at least these dependencies; so if there is no order of
 * this kind, there is none at all in which each entry is written once.
 */
#ifndef FTR_TEST_ORDERS_H
#define FTR_TEST_ORDERS_H

#include <ftr/ftr.h>

enum orders_found {
	ORDERS_EXIST,
	ORDERS_NONE,		/* proved: all orders have been tried */
	ORDERS_UNKNOWN,		/* the search was given up */
	ORDERS_UNSOUND,		/* the old or the new tables have a loop or a credit loop, or the new tables
				 * take a path away */
	ORDERS_N_FOUND
};

struct orders {
	const struct ftr_fabric *f;
	const uint8_t *usable;		/* [n_ports] 1: the link at this port can be used; NULL: all */
	/* The entry of switch s for LID d is old[s * row + d]. */
	const uint8_t *old, *new;
	size_t row;
	uint64_t most;			/* give up after so many states */
	/* results */
	uint64_t states;
	uint32_t lids, entries;		/* that can be on a cycle, and change; equal LIDs count once */
};

enum orders_found orders_search(struct orders *o);

#endif
