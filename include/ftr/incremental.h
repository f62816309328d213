/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A live routing: tables that follow the fabric cable by cable.
 *
 * A shape and its tables are made for one state of the fabric.  struct ftr_incr
 * is a working copy of both in which cables die and come (back) to life; each
 * time only what depends on them is worked out again, and the entries that
 * change come out in an order in which they may be written to switches that go
 * on forwarding.  It chooses nothing itself: the port of an entry is chosen by
 * the function that the full routing uses, over groups, costs and down-costs
 * that are those of the full shape.  Where nothing is kept (opts->keep), after any
 * sequence of events the
 * tables are, bit for bit, those of dmodc over the fabric as it is then, with
 * the ranks, destinations and dividers of the shape that was started from.
 *
 *	events -> cables -> down-costs, ascending ranks	\  only pairs
 *			 -> costs, descending ranks	 > (switch, column)
 *			 -> entries -> stages -> writes	/  that changed
 *
 * Source: seed 002, Procedure 1 and section 3.4, made incremental; the order of
 * writes extends the "downstream first" of seeds 000 and 001 (design, 6, 8).
 *
 * Switches are those of the shape: a switch that dies loses all its cables
 * (ftr_incr_switch) and keeps its row, its column and its LIDs, which then
 * nobody reaches.  A host's cable changes nothing: its LID stays routed to its
 * leaf switch, so that a host coming back moves nobody.
 *
 * Stages.  Writes are ordered so that, for every LID,
 *
 *	downstream first	x is written after all that changes on its final
 *				path
 *	drain			where x came down to y over a live cable, and y
 *				now goes up, y is written after x, and after a
 *				time in which the buffers behind x drain
 *
 * By the first rule whatever is written leads along its final path at once:
 * while a stage is being written, in any order inside it, no packet loops, and
 * no pair is broken that works both before (with the cables as they are now)
 * and after.  By the second no packet that came down to y waits for a channel
 * up: the channel dependencies of old and new tables together stay those of an
 * up/down routing.  On PGFTs with their true ranks, however damaged, no stage
 * must drain: there a switch that is come down to has one way on.
 *
 * Switches that nobody reaches any more are in the lists of changes and writes
 * like all others: whoever writes must know whom he reaches, and a switch that
 * comes back after it could not be written must be given all its blocks.
 *
 * Threads: one caller at a time; reading accessors only between calls.
 * Memory: 2 n_sw^2 bytes of costs, 3 n_sw^2 bits of work lists, the
 * tables and some 60 bytes per switch port, and for an apply 20 bytes per change
 * and 10 per entry that is looked at, up to 2^19 at a time: ftr_incr_bytes().
 * 11,664 hosts on 1,620 switches: 34 MB, 22 of which are tables.
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

/* A cable, named from either end; told from both ends it counts once, and of
 * several events of one cable the last one counts. */
struct ftr_incr_event {
	ftr_sw sw;
	ftr_port port;
	bool up;		/* alive from now on, else dead */
};

/* One SMP's worth: block `block` of a switch is to be written in `stage`. */
struct ftr_incr_write {
	ftr_sw sw;
	uint16_t block;		/* LIDs block * 64 .. block * 64 + 63 */
	uint16_t write_step;
};

struct ftr_incr_result {
	/* cables that changed their state: first n_gone that died, then those
	 * that came to life */
	uint32_t n_cables, n_gone;
	const struct ftr_link *cable;
	/* entries that changed, by (switch, LID), and the stage of each */
	uint32_t n_changes;
	const struct ftr_change *change;
	const uint16_t *write_step;
	/* writes by (stage, switch, block); a block with changes of several
	 * stages is in each of them */
	uint32_t n_writes;
	const struct ftr_incr_write *write;
	uint32_t n_write_steps;
	const uint32_t *write_step_first;	/* [n_write_steps + 1] into write */
	/* before stage first_drain, and before each after it, wait until all
	 * before is acknowledged and packets on their way have left; n_write_steps
	 * if there is none such */
	uint32_t first_drain;
	uint32_t n_drain;	/* entries that are written in those stages */
	uint32_t n_switches;	/* with a changed entry */
	uint32_t n_blocks;	/* with a changed entry, each once */
	/* ordered pairs of leaf switches without a path: now, and those that
	 * have lost or regained theirs by these events */
	uint64_t bad_pairs, lost_pairs, regained_pairs;
	/* how much work it was */
	uint64_t n_costs;	/* costs and down-costs changed */
	uint64_t n_looked;	/* entries worked out again */
};

/*
 * A live routing of sh and t, where t holds the tables that dmodc makes of sh
 * with opts (NULL: FTR_ROUTE_OPTS_INIT), all strictly up, then down by
 * sh->tree.rank.  nominal: the shape that sh was made over, or NULL; cables of it
 * that sh's fabric lacks between its switches are dead, but may come to life.
 * sh must outlive *out, nominal and t need not.  Of a shape made by
 * ftr_shape_reorder with FTR_REORDER_KEEP the pairs that are not come down to
 * stay as they are: then more paths may be lost than must, and a pair may break
 * while a drain goes on.
 * With opts->keep an entry keeps the port of keep->prefer while that is a
 * candidate, else the port that it has; only if neither is one it is displaced, and
 * placed by what the links carry, unless the placement is literal.  So the tables
 * depend on the history of faults, and change in as few entries as possible;
 * keep->prefer must then outlive *out.
 * Errors: FTR_INVAL: t is not of sh's size, sh was not made over nominal, or
 * the costs are not those of sh; FTR_LIMIT: sh has no ranks (more than 255
 * levels); FTR_NOMEM.  O(links * n_sw) byte operations.
 */
enum ftr_status ftr_incr_new(const struct ftr_shape *sh,
			     const struct ftr_shape *nominal,
			     const struct ftr_tables *t,
			     const struct ftr_route_opts *opts,
			     struct ftr_incr **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_incr_free(struct ftr_incr *lv);	/* NULL is accepted */

/*
 * Let cables die and come to life, and follow.  *out belongs to lv and lives
 * until the next call that changes lv.  An event of a host's cable, of a cable
 * inside one rank, or of one that is in that state already changes nothing.
 * Errors: FTR_INVAL: no such switch or port, or nothing is known to be cabled
 * there (a new cable needs a new shape); FTR_NOMEM.  On an error nothing has
 * changed.  The result does not depend on the team.
 */
enum ftr_status ftr_incr_apply(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       struct ftr_team *team,
			       const struct ftr_incr_result **out,
			       struct ftr_err *err) FTR_MUST_USE;

/* Take the last ftr_incr_apply back, bit for bit.  False, and nothing done, if
 * it failed or was taken back already. */
bool ftr_incr_undo(struct ftr_incr *lv);

/* Events for all cables between s and other switches; event: room for
 * FTR_PORT_MAX.  Returns how many. */
uint32_t ftr_incr_switch(const struct ftr_incr *lv, ftr_sw s, bool up,
			 struct ftr_incr_event *event);

/* The 64 bytes to be written: what the block holds when all stages up to and
 * including the write's are done. */
void ftr_incr_block(const struct ftr_incr *lv, const struct ftr_incr_write *w,
		    uint8_t out[FTR_LFT_BLOCK]);

/* What ftr_check_changes is asked about the last apply; points into lv, for as
 * long as the result does. */
void ftr_incr_delta(const struct ftr_incr *lv, struct ftr_check_delta *out);

/* The tables after the last apply. */
const struct ftr_tables *ftr_incr_tables(const struct ftr_incr *lv);
/* Bit f->sw[s].first_port + p: the cable of s, p is dead (both ends are set);
 * (f->n_ports + 63) / 64 words. */
const uint64_t *ftr_incr_dead(const struct ftr_incr *lv);
/* Is a cable between switches known there, dead or alive? */
bool ftr_incr_connected(const struct ftr_incr *lv, ftr_sw s, ftr_port p);
/* Is this cable between switches alive? */
bool ftr_incr_alive(const struct ftr_incr *lv, ftr_sw s, ftr_port p);
/* Ordered pairs of leaf switches without a path. */
uint64_t ftr_incr_bad_pairs(const struct ftr_incr *lv);
size_t ftr_incr_bytes(const struct ftr_incr *lv);

#ifdef __cplusplus
}
#endif
#endif
