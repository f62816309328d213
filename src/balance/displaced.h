/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Displaced entries: those that do not hold their preferred port, as it leads
 * nowhere.  They are placed one at a time by what their paths already carry, for a
 * whole routing (engine/keep.c) and for one fault (src/incremental) alike.
 *
 *	displaced_new(...)
 *	  displaced_place_all(...)		a whole routing
 *	  displaced_change(...)			a fault, LID by LID
 *	displaced_free(z)
 *
 * What is counted on each directed link, a function of the tables alone:
 *
 *	flows		of all-to-all traffic
 *	bins		of the flows that have passed a displaced entry: in which
 *			shift permutations they use the link
 */
#ifndef FTR_BALANCE_DISPLACED_H
#define FTR_BALANCE_DISPLACED_H

#include "balance/balance.h"

/* An entry of one LID that changes. */
struct displaced_entry {
	ftr_sw sw;
	ftr_port after;		/* DISPLACED_PLACE: to be placed */
};

/* No entry of a switch for the LID of another is port 0. */
#define DISPLACED_PLACE 0

struct displaced;

/*
 * t: the tables, which the calls below change; prefer: the preferred tables, or
 * NULL: only what is placed here is displaced.  Both must outlive *out.  in: shape, full and use_full, which must outlive
 * displaced_place_all.  O(destinations * switches), more with displaced entries.
 */
enum ftr_status displaced_new(const struct ftr_balance_input *in,
			      struct ftr_tables *t,
			      const struct ftr_tables *prefer,
			      struct ftr_team *team, struct displaced **out,
			      struct ftr_err *err) FTR_MUST_USE;
void displaced_free(struct displaced *z);	/* NULL is accepted */
size_t displaced_bytes(const struct displaced *z);

/* A link of s leads to t, which the fabric does not have. */
void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t);

/* Set the target, flows that a link may carry, for the links of sh that are alive. */
void displaced_target(struct displaced *z, const struct ftr_shape *sh);

/* Place the entries with a bit, (stride / 64) words a switch, which lead nowhere as
 * yet, by LIDs in the order of destinations.  False: out of memory. */
bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits);

/*
 * Change the n entries of a LID in column l of sh; those to be placed get the port
 * that costs least, and `after` is set to it.  Afterwards all entries of the LID
 * lead up, then down over links of sh.  turns: but for extra turns.  False: out of
 * memory, for counting: to be changed back.
 */
bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n);

/* What is counted, for tests: flows of a link; displaced flows of the bin of `width`
 * shifts that a shift is in. */
uint32_t displaced_flows(const struct displaced *z, uint32_t link);
uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width);

#endif
