/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses ports for displaced entries by the load of the links.
 *
 * An entry is displaced if its port in the complete fabric (its port in the preferred tables, or
 * else its nominal port) no longer leads to the destination.  If the current port of the entry does
 * not lead to the destination either, the entry is placed: it gets another port, such that the
 * links of its path have little load.  engine/keep.c places entries in a routing of the whole
 * fabric, and src/incremental after a single fault.
 *
 *	displaced_new(...)
 *	  displaced_place_all(...)		whole fabric (argument `once`: true)
 *	  displaced_change(...)			single fault (`once`: false): one call for each LID
 *	displaced_free(z)
 *
 * These counters exist for each direction of a link:
 *
 *	flows	number of all-to-all flows
 *	bins	number of flows that have passed a displaced entry.  Each bin covers a few
 *		consecutive shifts
 */
#ifndef FTR_BALANCE_DISPLACED_H
#define FTR_BALANCE_DISPLACED_H

#include "balance/balance.h"

/* An entry to change. */
struct displaced_entry {
	ftr_sw sw;
	ftr_port after;		/* new port; DISPLACED_PLACE: displaced_change() chooses a port */
};

/* Port 0 is the switch itself, so no entry to change can get this port. */
#define DISPLACED_PLACE 0

struct displaced;

/*
 * in		the members `shape`, `full`, `use_full` and `longer` are used; if `once` is true,
 *		also `depth`
 * t		the tables, which the calls below change
 * prefer	the preferred tables; NULL: only entries that get a new port count as displaced
 * once		true: displaced_place_all() will be called; false: displaced_change()
 *
 * t and prefer must outlive *out.  The shapes and use_full must outlive the last call of
 * displaced_place_all().  The work is O(destinations * switches), more with displaced entries.
 */
enum ftr_status displaced_new(const struct ftr_balance_input *in,
			      struct ftr_tables *t,
			      const struct ftr_tables *prefer, bool once,
			      struct ftr_team *team, struct displaced **out,
			      struct ftr_err *err) FTR_MUST_USE;
void displaced_free(struct displaced *z);	/* NULL is accepted */
size_t displaced_bytes(const struct displaced *z);

/* Add a link that only the nominal fabric has, from port `port` of s to switch t. */
void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t);

/* Compute the target for the links of sh.  All-to-all flows of a link above the target have a
 * cost. */
void displaced_target(struct displaced *z, const struct ftr_shape *sh);

/* Place the entries whose bit in bits[] is set: choose their ports, one LID after the other.  These
 * entries must be FTR_PORT_NONE before the call.  bits: (stride / 64) words for each switch.
 * turns: the routing has extra turns (turns that up/down routing does not allow).  The result does
 * not depend on team.  Returns false if out of memory. */
bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits,
			 struct ftr_team *team);

/* Free z, which must have been made with once = true.  Returns a net with the flows of the new
 * tables, as input for balance_run(). */
struct balance_net *displaced_finish(struct displaced *z);

/*
 * Set n entries for one LID.  Its destination switch is column l in sh.  If the member `after`
 * of an entry is DISPLACED_PLACE, the entry gets the port of least cost, which is also stored in
 * `after` (FTR_PORT_NONE: there is no candidate).  Otherwise the entry becomes `after`.  The new
 * paths must go up and then down over links of sh; if turns is true, they may have extra turns.
 * Returns false if out of memory.  The caller must then change the entries back.
 */
bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n);

/* For tests.
 * displaced_flows: the number of all-to-all flows on a link.
 * displaced_bin: the number of flows on a link in the bin of `shift`; only flows that have passed a
 * displaced entry are counted.  *width becomes the number of shifts per bin. */
uint32_t displaced_flows(const struct displaced *z, uint32_t link);
uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width);

#endif
