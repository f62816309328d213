/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Incremental tables: tables that follow the fabric link by link.
 *
 * A shape and its tables are made for one state of the fabric.  struct ftr_incr is a working
 * copy of both, in which links go down and come up.  After each such change, only the values
 * that depend on those links are computed again.  The changed entries are returned in an
 * order in which they can be written to switches that keep forwarding.  Ranks, destinations and
 * dividers are always those of the initial shape.
 *
 * The port of an entry is chosen by the function that a full routing uses, over the groups,
 * costs and down-costs that a new shape would have.  Displaced entries may be placed by link
 * load instead (see ftr_incr_new).  After any sequence of events, the tables are identical to
 * those of dmodc over the fabric in its current state if
 *
 *  - no entries are kept (opts->keep is NULL),
 *  - the search is off (FTR_BALANCE_OFF), and
 *  - there are no extra turns.  (Extra turns that the tables use stay allowed, so they depend
 *    on the history of faults.)
 *
 *	events -> links  -> down-costs, by ascending rank	\  only for pairs
 *			 -> costs, by descending rank		 > (switch, column)
 *			 -> entries -> write steps		/  that change
 *
 * Source: Gliksberg et al. 2020, Procedure 1 and section 3.4, made incremental.
 * The order of writes extends the rule "downstream first" of Sem-Jacobsen et al. 2006
 * and 2011.
 *
 * The switches are those of the shape.  A switch that fails loses all its links
 * (ftr_incr_switch) but keeps its row, its column and its LIDs, which are then
 * unreachable.  If the link of a host fails or returns, no entry changes: the LID of
 * the host stays routed to its leaf switch.
 *
 * Write steps.  Writes are ordered so that, for every LID:
 *
 *	downstream first	An entry is written after all changed entries on its final
 *				path.  It does not wait for entries that become
 *				FTR_PORT_NONE.
 *	drain			Suppose that switch x routed downward to switch y over a
 *				link that is up, and y now routes upward.  Then the entry of
 *				y is written after that of x, and after the packets that x
 *				has sent to y have arrived.  With extra turns, the rule is
 *				the same if the old entry of x and the new entry of y make
 *				a turn that is not allowed.
 *
 * By the first rule every written entry leads along its final path immediately.  The entries of
 * a step may be written in any order; no packet loops meanwhile.  Suppose that a pair of hosts
 * has a path under the old tables (with the links as they are now) and under the new tables.
 * Then the pair has a path in every state in between.
 *
 * By the second rule no packet that was routed downward to y waits for an upward channel.  The
 * channel dependencies of old and new tables together remain those of an up/down routing.  On
 * PGFTs with their true ranks, with any damage, no step needs to drain: a switch that is entered
 * from above has only one next hop.
 *
 * The list of changes includes changes at switches that the subnet manager cannot reach.  When
 * such a switch is reachable again, the caller must write all of its blocks.
 *
 * Threads: one caller at a time.  Several threads may call functions that only read, but not
 * during ftr_incr_apply or ftr_incr_undo.
 *
 * Memory: 2 n_sw^2 bytes of costs, 3 n_sw^2 bits of work lists, the tables, and
 * about 60 bytes per switch port.  ftr_incr_apply adds 20 bytes per change and 10 bytes
 * per examined entry, for up to 2^19 entries at a time.  11,664 hosts on 1,620 switches take
 * 34 MB, of which 22 MB are tables.
 */
#ifndef FTR_INCREMENTAL_H
#define FTR_INCREMENTAL_H

#include <ftr/check.h>
#include <ftr/engine.h>
#include <ftr/shape.h>
#include <ftr/tables.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_incr;

/* The new state of a link, which is identified by one of its ends.  Of several events of one link,
 * only the last one counts. */
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
	/* changed entries, sorted by (switch, LID), and the write step of each,
	 * 0 .. n_write_steps - 1 */
	uint32_t n_changes;
	const struct ftr_change *change;
	const uint16_t *write_step;
	uint32_t n_write_steps;
	/* Before step first_drain, and before each later step, wait until all previous writes are
	 * acknowledged and the packets in flight have arrived.  If no step needs this, first_drain
	 * is n_write_steps. */
	uint32_t first_drain;
	uint32_t n_drain;	/* number of entries that are written in step first_drain or
				 * later */
	uint32_t n_switches;	/* number of switches with a changed entry */
	/* Numbers of ordered pairs of leaf switches.  bad_pairs have no path now.  lost_pairs lost
	 * their path by these events, and regained_pairs got a path again. */
	uint64_t bad_pairs, lost_pairs, regained_pairs;
};

/*
 * Make incremental tables from sh and t.  t must be the tables that dmodc computes for sh
 * with opts (NULL: FTR_ROUTE_OPTS_INIT).  All of its paths must go up and then down
 * by sh->tree.rank, except where they make one of the extra turns opts->turn.
 *
 * nominal: the nominal shape of sh, or NULL.  Nominal links that the fabric of sh lacks, but whose
 * switches it has, are down and may come up.  sh must outlive *out; nominal and t need not.
 *
 * If sh was made by ftr_shape_reorder with FTR_REORDER_KEEP, some switches may have no downward
 * path to certain columns, and never get one.  Therefore more paths than necessary may be lost
 * after a fault, and a pair may lose its path during a drain.
 *
 * With opts->keep, an entry has the port of keep->prefer as long as this port is a candidate,
 * else its current port.  An entry is displaced if neither port is a candidate.  A displaced
 * entry is placed by the closed form with the placements LITERAL and PLANES, and if extra turns
 * decide its candidates.  Otherwise it is placed by link load.  With keep, the tables depend on
 * the history of faults and change in as few entries as possible.  keep->prefer must outlive
 * *out.
 *
 * Errors: FTR_INVAL: t does not fit sh, sh was not made over nominal, or the costs
 * in sh do not follow from its links; FTR_LIMIT: sh has no ranks (more than 255 levels);
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
 * the next call that changes lv.  Events of these links have no effect: links of hosts, links
 * that already have the new state, and links that sh does not use (with FTR_PATHS_UPDOWN,
 * horizontal links).
 * Errors: FTR_INVAL: no such switch or port, or no link is known there (a new
 * link needs a new shape); FTR_REFUSED: an extra turn in use would close a credit loop with a
 * restored link, so that a full routing is needed; FTR_NOMEM.  On an error nothing has changed.
 * The result does not depend on the team.
 */
enum ftr_status ftr_incr_apply(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       struct ftr_team *team,
			       const struct ftr_incr_result **out,
			       struct ftr_err *err) FTR_MUST_USE;

/* Undo the last ftr_incr_apply exactly.  Returns false, and changes nothing, if that call failed
 * or was undone already. */
bool ftr_incr_undo(struct ftr_incr *lv);

/* Store in event[] one event for each known link between s and another switch.  up is the new state
 * of all of these links.  event[] must have room for FTR_PORT_MAX events.  Returns their number. */
uint32_t ftr_incr_switch(const struct ftr_incr *lv, ftr_sw s, bool up,
			 struct ftr_incr_event *event);

/* Set *out to the input of ftr_check_changes for the last ftr_incr_apply.  *out points into
 * lv, and is valid as long as the result of that call. */
void ftr_incr_delta(const struct ftr_incr *lv, struct ftr_check_delta *out);

/* The tables after the last ftr_incr_apply. */
const struct ftr_tables *ftr_incr_tables(const struct ftr_incr *lv);
/* The links that are down.  Bit f->sw[s].first_port + p: the link at port p of s is down; the bits
 * of both ends are set.  (f->n_ports + 63) / 64 words. */
const uint64_t *ftr_incr_dead(const struct ftr_incr *lv);
/* True if a link between switches is known at port p of s, whether up or down. */
bool ftr_incr_connected(const struct ftr_incr *lv, ftr_sw s, ftr_port p);
/* True if this link is up. */
bool ftr_incr_alive(const struct ftr_incr *lv, ftr_sw s, ftr_port p);
/* The number of ordered pairs of leaf switches without a path. */
uint64_t ftr_incr_bad_pairs(const struct ftr_incr *lv);
/* Bytes of memory in use. */
size_t ftr_incr_bytes(const struct ftr_incr *lv);

#ifdef __cplusplus
}
#endif
#endif
