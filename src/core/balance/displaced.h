/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses ports for displaced entries after a single fault, by the load of the links.
 *
 * An entry is displaced if its port in the complete fabric (its port in the preferred tables, or
 * else its nominal port) no longer leads to the destination.  If the current port of the entry does
 * not lead to the destination either, the entry is placed: it gets another port, such that the
 * links of its path have little load.  In a routing of the whole fabric, balance_run() places
 * entries; both use the same step (choose.c) and the same price.
 */
#ifndef FTR_BALANCE_DISPLACED_H
#define FTR_BALANCE_DISPLACED_H

#include "balance/balance.h"

/* Port 0 is the switch itself, so no entry to change can get this port. */
#define DISPLACED_PLACE 0

struct displaced;

/* t: the tables, which displaced_change() changes.  prefer: the preferred tables.  t, prefer and
 * the fabric of the shape must outlive *out. */
enum ftr_status displaced_new(const struct ftr_shape *sh, struct ftr_tables *t,
			      const struct ftr_tables *prefer, struct displaced **out,
			      struct ftr_err *err) FTR_MUST_USE;
void displaced_free(struct displaced *z);	/* NULL is accepted */

/* True if displaced_change() accepts DISPLACED_PLACE for this LID: it is the base LID of a host. */
bool displaced_counts(const struct displaced *z, ftr_lid lid);

/* Add a link that only the nominal fabric has, from port `port` of s to switch t. */
void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t);

/* Prepare the next calls of displaced_change(): the links and costs are those of sh.  turns: the
 * routing has extra turns (turns that up/down routing does not allow). */
void displaced_begin(struct displaced *z, const struct ftr_shape *sh, bool turns);

/*
 * Set the entries of n different switches for one LID.  Its destination switch is column l.  If the
 * member `after` of an entry is DISPLACED_PLACE, the entry gets the port of least price, which is also
 * stored in `after` (FTR_PORT_NONE: there is no candidate).  Otherwise the entry becomes `after`.  The
 * counters depend only on the tables, so changing the entries back also restores the counters.
 */
void displaced_change(struct displaced *z, uint32_t l, ftr_lid lid,
		      struct ftr_change *e, uint32_t n);

/* For tests: the counters. */
const struct balance_loads *displaced_loads(const struct displaced *z);

#endif
