/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A displaced entry cannot hold its preferred port (without preferred tables: its nominal port),
 * because this port no longer leads to the destination.  If it cannot keep its current port either,
 * it is placed: it gets a port by the load of the links on its path.  engine/keep.c places entries
 * in a whole routing, src/incremental after a fault.
 *
 *	displaced_new(...)
 *	  displaced_place_all(...)		a whole routing (parameter once: true)
 *	  displaced_change(...)			one fault (once: false): a call for each LID
 *	displaced_free(z)
 *
 * Counted for each directed link:
 *
 *	flows		all-to-all flows
 *	bins		flows that have passed a displaced entry, for each bin of shifts
 */
#ifndef FTR_BALANCE_DISPLACED_H
#define FTR_BALANCE_DISPLACED_H

#include "balance/balance.h"

/* An entry to change. */
struct displaced_entry {
	ftr_sw sw;
	ftr_port after;		/* new port, or DISPLACED_PLACE: displaced_change() chooses it */
};

/* No entry for the LID of another node has port 0, the switch itself. */
#define DISPLACED_PLACE 0

struct displaced;

/*
 * in		shape, full, use_full, longer and (with once) depth are used
 * t		the tables, which the calls below change
 * prefer	the preferred tables; NULL: only entries that are placed count as displaced
 * once		only displaced_place_all() will be called
 *
 * t and prefer must outlive *out.  The shapes and use_full must outlive the last call of
 * displaced_place_all().  O(destinations * switches), more with displaced entries.
 */
enum ftr_status displaced_new(const struct ftr_balance_input *in,
			      struct ftr_tables *t,
			      const struct ftr_tables *prefer, bool once,
			      struct ftr_team *team, struct displaced **out,
			      struct ftr_err *err) FTR_MUST_USE;
void displaced_free(struct displaced *z);	/* NULL is accepted */
size_t displaced_bytes(const struct displaced *z);

/* Add a missing nominal link, from port `port` of s to switch t. */
void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t);

/* Compute the target from the links of sh.  A link with more flows than the target is
 * overloaded. */
void displaced_target(struct displaced *z, const struct ftr_shape *sh);

/* Place the entries whose bit is set, LID by LID in the order of destinations.  Their port must be
 * FTR_PORT_NONE before the call.  bits: (stride / 64) words for each switch.  turns: the routing
 * has extra turns.  The result does not depend on team.  Returns false if out of memory. */
bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits,
			 struct ftr_team *team);

/* Free z, which was made with `once`.  Returns its net, with the flows of the tables, as input for
 * balance_run(). */
struct balance_net *displaced_finish(struct displaced *z);

/*
 * Set n entries of a LID in column l of sh.  Entries with `after` == DISPLACED_PLACE get the port
 * of least cost, which is stored in `after` (FTR_PORT_NONE: no candidate).  The other entries get
 * `after`; FTR_PORT_NONE removes an entry.  The new paths must go up and then down over links of
 * sh; if turns is true, extra turns are allowed.  Returns false if out of memory for the counters.
 * The caller must then change the entries back.
 */
bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n);

/* For tests: the all-to-all flows of a link, and the flows on it that have passed a displaced
 * entry, in the bin of `shift`.  *width: shifts per bin. */
uint32_t displaced_flows(const struct displaced *z, uint32_t link);
uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width);

#endif
