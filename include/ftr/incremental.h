/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Incremental tables: tables that are updated after every change of a link.
 *
 * A shape and its tables are made for one state of the fabric.  struct ftr_incr is a working
 * copy of both, in which links go down and come up.  After each such change, only the values
 * that depend on these links are computed again.  The changed entries are returned with an order in
 * which they can be written while packets are forwarded.  Ranks, destinations and dividers are
 * always those of the initial shape.
 *
 * The next hop of an entry is computed by the function that a full routing uses, from the groups,
 * costs and down-costs that a new shape would have.  (Displaced entries may be placed by link
 * load instead, see ftr_incr_new.)  After any sequence of events, the tables are identical to
 * those of dmodc over the fabric in its current state if
 *
 *  - no entries are kept (opts->keep is NULL),
 *  - the search is off (FTR_BALANCE_OFF), and
 *  - there are no extra turns (turns that up/down routing does not allow; dmodc uses them where
 *    hosts have no up/down path).  Extra turns in use stay allowed, so they depend on earlier
 *    faults.
 *
 * ftr_incr_apply updates first the links, then the down-costs (by ascending rank), the costs (by
 * descending rank), and the entries.  Finally it sorts the changed entries into write steps.
 *
 * Source: Gliksberg et al. 2020, Procedure 1 and section 3.4, made incremental.
 * The order of the writes extends a rule of Sem-Jacobsen et al. 2006 and 2011: the switches
 * downstream are written first.
 *
 * The switches are those of the shape.  The entries of a failed switch, and those for its LIDs,
 * stay in the tables.  All links of the switch are down (ftr_incr_switch), so its LIDs are
 * unreachable.  If the link of a host fails or returns, no entry changes: the LID of the host stays
 * routed to its leaf switch.
 *
 * Write steps.  The order of the writes follows two rules, for every LID:
 *
 *	downstream first	The entry of a switch is written after the changed entries of all
 *				switches on the new path from it to the LID.  It does not wait
 *				for entries that become FTR_PORT_NONE.
 *	drain			Let the old entry of switch x lead down to switch y over a link
 *				that is up, and let the new entry of y lead up.  Then the entry
 *				of y is written after that of x, and after the packets that x
 *				has sent to y have arrived.  With extra turns, the same holds if
 *				the old entry of x and the new entry of y make a turn that is not
 *				allowed.
 *
 * The first rule makes every written entry lead along its new path at once.  The entries of
 * a step may be written in any order; no packet loops meanwhile.  If a pair of hosts has a path by
 * the old tables (with the links as they are now) and by the new tables, it has a path at any time
 * in between.
 *
 * The second rule ensures that no packet that was routed downward to y waits for an upward channel.
 * So the channel dependencies of the old and the new tables together are still those of an up/down
 * routing.  On PGFTs with their true ranks, with any damage, no step needs to drain: for packets
 * that come from above, each switch has only one next hop.
 *
 * The list of changes includes changes at switches that the subnet manager cannot reach.  When
 * such a switch is reachable again, the caller must write all of its blocks.
 *
 * Threads: during ftr_incr_apply and ftr_incr_undo, no other thread may use the object.  At other
 * times, several threads may call the functions that take a const object; but during ftr_incr_settle
 * not ftr_incr_tables.
 *
 * Memory: 2 n_sw^2 bytes of costs, 4 n_sw^2 bits of work lists and marks, the tables, and
 * about 60 bytes per switch port.  ftr_incr_apply also uses 20 bytes per change and 10
 * bytes per examined entry, for up to 2^19 entries at a time.  A fabric with 11,664 hosts on 1,620
 * switches takes 34 MB, of which 22 MB are tables.
 */
#ifndef FTR_INCREMENTAL_H
#define FTR_INCREMENTAL_H

#include <ftr/check.h>
#include <ftr/engine.h>
#include <ftr/shape.h>
#include <ftr/tables.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_incr;

/* The new state of a link.  The link is identified by one of its ends.  If several events concern
 * the same link, only the last one counts. */
struct ftr_incr_event {
	ftr_sw sw;
	ftr_port port;
	bool up;		/* true: the link is up; false: it is down */
};

struct ftr_incr_result {
	/* links that changed their state: first the n_gone links that went down, then
	 * the links that came up */
	uint32_t n_links, n_gone;
	const struct ftr_link *link;
	/* changed entries, sorted by (switch, LID), with their write steps, 0 .. n_write_steps - 1 */
	uint32_t n_changes;
	const struct ftr_change *change;
	uint32_t n_write_steps;
	/* Before step first_drain, and before each later step, wait until all previous writes are
	 * acknowledged and the packets in flight have arrived.  If no step needs this, first_drain
	 * is n_write_steps. */
	uint32_t first_drain;
	uint32_t n_drain;	/* number of entries that are written in step first_drain or
				 * later */
	uint32_t n_switches;	/* number of switches with a changed entry */
	uint32_t n_spared;	/* number of spared entries in the tables, see ftr_incr_spare() */
	/* Numbers of ordered pairs of leaf switches.  bad_pairs: pairs without a path in the new
	 * tables; lost_pairs: pairs that lost their path by these events; regained_pairs: pairs that
	 * got a path again by these events.  A pair has a path if packets to all LIDs of the
	 * destination switch and of its hosts arrive, also over spared entries. */
	uint64_t bad_pairs, lost_pairs, regained_pairs;
};

/*
 * Make incremental tables from sh and t.  t must be the tables that dmodc computes for sh
 * with opts (NULL: FTR_ROUTE_OPTS_INIT).  All of its paths must go up and then down
 * by sh->tree.rank, except where they make one of the extra turns opts->turn.
 *
 * nominal: the nominal shape with which sh was made (ftr_shape_opts.nominal), or NULL.  If a
 * nominal link is missing from the fabric of sh, but both of its switches are there, the link
 * counts as down and may come up.  sh must outlive *out; nominal and t need not.
 *
 * If sh was made by ftr_shape_reorder with FTR_REORDER_KEEP, some switches may have no downward
 * path to certain destination switches, and never get one.  Therefore more paths than necessary may
 * be lost after a fault, and a pair may lose its path during a drain.
 *
 * With opts->keep, an entry gets the port that keep->prefer gives if this port is a candidate.
 * Otherwise the entry keeps its current port if that is a candidate.  An entry is displaced if
 * neither port is a candidate.
 * The next hop of a displaced entry is chosen by link load.  If extra turns determine the
 * candidates, it is chosen by the formula of a full routing instead.  With keep, the tables depend
 * on earlier faults, but as few entries as possible change.  keep->prefer must outlive *out.
 *
 * Errors: FTR_INVAL: t does not fit sh, sh was not made with `nominal` as its nominal shape, or the
 * costs in sh do not follow from its links; FTR_LIMIT: sh has no ranks (more than 255 levels);
 * FTR_REFUSED: not all turns of opts->turn can be kept; FTR_NOMEM.  O(links * n_sw) byte
 * operations.
 */
enum ftr_status ftr_incr_new(const struct ftr_shape *sh,
			     const struct ftr_shape *nominal,
			     const struct ftr_tables *t,
			     const struct ftr_route_opts *opts,
			     struct ftr_incr **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_incr_free(struct ftr_incr *lv);	/* NULL is accepted */

/*
 * Apply link events and update the tables.  *out belongs to lv and is valid until
 * the next call that changes lv.  An event has no effect if its link is the link of a host, already
 * has the new state, or is not used by sh (with FTR_PATHS_UPDOWN: horizontal links).
 * Errors: FTR_INVAL: no such switch or port, or no link is known there (a new
 * link needs a new shape); FTR_REFUSED: an extra turn in use would close a credit loop with a
 * restored link, so that a full routing is needed; FTR_NOMEM.  On an error nothing has changed.
 */
enum ftr_status ftr_incr_apply(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       const struct ftr_incr_result **out,
			       struct ftr_err *err) FTR_MUST_USE;

/*
 * Spare entries from now on, or not (the default).  An entry is spared if it has no candidate any
 * longer, but its path still works: its packets arrive over links that are up, along entries that
 * are spared, too, or that belong to the new tables.  A spared entry does not change.  Its path is
 * not one of the paths for which the tables are free of credit loops (an extra turn has gone, or
 * the order of the switches does not allow the path), so the caller must look for credit loops
 * (<ftr/cdg.h>).  The next ftr_incr_apply computes spared entries again.
 */
void ftr_incr_spare(struct ftr_incr *lv, bool spare);
/* Until the next call of ftr_incr_spare, spare all entries for this LID whose old paths still work along
 * old entries: the new ones could close a credit loop. */
void ftr_incr_refuse(struct ftr_incr *lv, ftr_lid lid);

/* Do that part of the work of the last ftr_incr_apply that does not change its result: count the flows of
 * the new entries.  Otherwise the next ftr_incr_apply does it. */
void ftr_incr_settle(struct ftr_incr *lv);

/* Undo the last ftr_incr_apply exactly.  Returns false, and changes nothing, if that call failed
 * or was undone already. */
bool ftr_incr_undo(struct ftr_incr *lv);

/* Set *out to the input of ftr_check_changes for the last ftr_incr_apply.  *out points into
 * lv, and is valid as long as the result of that call. */
void ftr_incr_delta(const struct ftr_incr *lv, struct ftr_check_delta *out);

/* The tables after the last ftr_incr_apply. */
const struct ftr_tables *ftr_incr_tables(const struct ftr_incr *lv);
/* The links that are down, as an array of (f->n_ports + 63) / 64 words.  If bit
 * f->sw[s].first_port + p is set, the link at port p of s is down.  The bits of both ends of a link
 * are set. */
const uint64_t *ftr_incr_dead(const struct ftr_incr *lv);
/* Returns true if a link between switches is known at port p of s, whether it is up or down. */
bool ftr_incr_connected(const struct ftr_incr *lv, ftr_sw s, ftr_port p);
/* Returns true if this link is up. */
bool ftr_incr_alive(const struct ftr_incr *lv, ftr_sw s, ftr_port p);

#ifdef __cplusplus
}
#endif
#endif
