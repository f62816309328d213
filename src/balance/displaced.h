/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Displaced entries: entries that cannot hold their preferred port (without preferred tables:
 * their nominal port), because it no longer leads to the destination.  Those that cannot keep
 * their current port either are placed one at a time by the load of the links on their paths,
 * both for a whole routing (engine/keep.c) and for one fault (src/incremental).
 *
 *	displaced_new(...)
 *	  displaced_place_all(...)		a whole routing (parameter once: true)
 *	  displaced_change(...)			one fault (once: false): a call for each LID
 *	displaced_free(z)
 *
 * Counted for each directed link:
 *
 *	flows		all-to-all flows
 *	bins		for each bin of shift permutations, the number of flows on the link
 *			that have passed a displaced entry
 */
#ifndef FTR_BALANCE_DISPLACED_H
#define FTR_BALANCE_DISPLACED_H

#include "balance/balance.h"

/* A changed entry of one LID. */
struct displaced_entry {
	ftr_sw sw;
	ftr_port after;		/* new port; DISPLACED_PLACE: displaced_change chooses it */
};

/* Port 0 is the switch itself, so no entry for the LID of another node has it. */
#define DISPLACED_PLACE 0

struct displaced;

/*
 * t: the tables, which the calls below change.  prefer: the preferred tables; NULL: only
 * entries that are placed here count as displaced.  in: only shape, full, use_full, longer
 * and (with once) depth are used.  t and prefer must outlive *out; the shapes and use_full must
 * outlive the last call of displaced_place_all.  once: only displaced_place_all is called; it
 * reads a copy of the entries by destination.  O(destinations * switches), more with
 * displaced entries.
 */
enum ftr_status displaced_new(const struct ftr_balance_input *in,
			      struct ftr_tables *t,
			      const struct ftr_tables *prefer, bool once,
			      struct ftr_team *team, struct displaced **out,
			      struct ftr_err *err) FTR_MUST_USE;
void displaced_free(struct displaced *z);	/* NULL is accepted */
size_t displaced_bytes(const struct displaced *z);

/* Add a nominal link that this fabric lacks: it leads from port `port` of s to switch t. */
void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t);

/* Compute the target from the links of sh. A link with more flows than the target is overloaded. */
void displaced_target(struct displaced *z, const struct ftr_shape *sh);

/* Place the entries whose bit is set, LID by LID in the order of destinations. Before the call they
 * hold FTR_PORT_NONE. bits: (stride / 64) words for each switch. turns: the routing has extra
 * turns. The result does not depend on team. False: out of memory. */
bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits,
			 struct ftr_team *team);

/* Free z, which was made with `once`. Returns its net, which contains the flows of the tables, for
 * balance_run. */
struct balance_net *displaced_finish(struct displaced *z);

/*
 * Set n entries of a LID in column l of sh.  Entries with `after` == DISPLACED_PLACE get
 * the port of least cost, and `after` is set to it (FTR_PORT_NONE: there is no candidate).
 * The other entries get `after`; FTR_PORT_NONE removes an entry.  The new entries must lead up then
 * down over links of sh; if turns is true, extra turns are allowed.  False: out of memory for
 * the counters; the caller must then change the entries back.
 */
bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n);

/* For tests. displaced_flows: the all-to-all flows of a link. displaced_bin: the flows of a link
 * that have passed a displaced entry, in the bin that contains `shift`; *width: shifts per bin. */
uint32_t displaced_flows(const struct displaced *z, uint32_t link);
uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width);

#endif
