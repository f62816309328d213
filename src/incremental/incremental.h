/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations shared by the files of the incremental tables.
 *
 *	apply.c			creation; the steps of an apply; undo
 *	view.c			links, and the groups with a link that is up
 *	cost_update.c		update of costs and down-costs
 *	turn_update.c		update of the pairs without an up/down path
 *	entry_update.c		update of the tables
 *	placement_update.c	placement of displaced entries
 *	write_steps.c		the order in which changes may be written
 *
 * Terms.  An apply is one call of ftr_incr_apply().  A link is alive if it is up, and dead if it
 * is down.  A value or an entry is listed if it is on a work list.  The plan holds the extra turns,
 * and the entries that use them (engine/connect.h).
 *
 * The view is a struct ftr_shape with groups, costs and down-costs of its own, which change.  All
 * other members are those of the original shape.  Functions that route over a shape can route over
 * the view.  Each switch has room for all of its nominal groups.  Groups with a live link are
 * packed to the front of this room, in nominal order:
 *
 *	group_first[s]  |above|above|below|below|equal|  .  |  .  | group_first[s+1]
 *	                 <- n_up -> <- n_down -> n_equal
 *
 * Horizontal links (equal) fail and return like all others.  No cost depends on them: only entries
 * for extra turns use them (turn_update.c).
 *
 * ftr_incr_apply() is a transaction.  Costs are changed in place and logged.  New entries are
 * collected beside the tables, and entered into the tables at the end, when nothing can fail.  But
 * if displaced entries are placed by load (ftr_incr.displaced), displaced_change() enters them
 * earlier, because it counts flows over the new tables.
 *
 * On a failure and on undo, revert() restores the costs (from the log), the links, the plan, the
 * counts of pairs, the counters of flows, and the entries of displaced_change().  On undo,
 * ftr_incr_undo() then sets all changed entries back.
 *
 * An alternative is to keep two generations of the data, which undo swaps.  Undo would then take
 * constant time.  But the log would still be needed, because an apply that fails halfway leaves
 * the second generation half changed.  Costs, tables and counters of flows would be stored twice
 * (34 MB and more at 11,664 hosts).  And undo is rare: it is called if the changes cannot be
 * written, for example because the check fails.
 */
#ifndef FTR_INCREMENTAL_INCREMENTAL_H
#define FTR_INCREMENTAL_INCREMENTAL_H

#include "balance/displaced.h"
#include "engine/connect.h"
#include "engine/engine.h"
#include "engine/place.h"
#include <ftr/incremental.h>

#define NONE UINT32_MAX

/* Where a link leads: to a switch of higher, lower or equal rank. */
enum incr_side { INCR_UP, INCR_DOWN, INCR_EQUAL, INCR_N_SIDES };

/* The nominal links between a switch and one neighbour. */
struct incr_group {
	struct ftr_group g;	/* links: ftr_incr.port[g.first .. g.first + g.n - 1] */
	enum incr_side side;
};

/* The work lists: down-costs, costs and entries to be computed again. */
enum incr_job { JOB_DOWN, JOB_COST, JOB_ENTRY, N_JOBS };

/* A down-cost or cost before a change. */
struct incr_log {
	ftr_sw sw;
	uint32_t col;
	uint8_t before;
	uint8_t job;		/* JOB_DOWN or JOB_COST */
};

/* A work list of pairs (switch, column). */
struct incr_work {
	uint64_t *bit;		/* [n_sw][ftr_incr.words] 1: the column is listed */
	uint8_t *listed;	/* [n_sw] 1: the switch is in the list of its rank */
	uint8_t *whole;		/* [n_sw] 1: all columns are listed, whatever the bits are */
	uint32_t *head;		/* head[r]: first switch in the list of rank r, or NONE */
	uint32_t *next;		/* next[s]: switch after s in the list of its rank, or NONE */
};

/* A plan: the connections of pairs without an up/down path. */
struct incr_plan {
	struct ftr_arena *arena;	/* holds c */
	struct connect c;
};

/* Numbers of ordered pairs of leaf switches. bad: without an up/down path; extra: bad pairs that
 * extra turns connect. */
struct incr_pairs {
	uint64_t bad, extra;
};

struct ftr_incr {
	const struct ftr_shape *base;	/* the shape from which this object was made */
	struct ftr_shape view;		/* copy of base with only the live links */
	struct ftr_route_opts opts;
	struct ftr_arena *arena;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;	/* the preferred tables; NULL: no entries are
						 * kept */

	/* The nominal links. Each of the two ends of a link has a number. A variable `link` has the
	 * number of one of the two ends. */
	struct incr_group *group;
	uint32_t *first;	/* first[s]: index in group[] of the first group of s */
	uint32_t n_ends;
	ftr_port *port;		/* port[e]: port of end e */
	uint8_t *port_pos;	/* port_pos[e]: position of the link of end e in its group */
	uint32_t *link_at;	/* [n_ports] end of the link at this port, or NONE */
	uint32_t *group_of;	/* group_of[e]: index in group[] of the group of end e */
	uint32_t *far;		/* far[e]: the other end of the link of end e */
	uint8_t *alive;		/* alive[e]: 1: the link of end e is alive */
	uint8_t *alive_after;	/* alive_after[e]: alive[e] after the events; only for the lower end
				 * of a link */
	uint32_t *absent;	/* [n_absent] nominal links that the fabric of base lacks */
	uint32_t n_absent;
	uint64_t *dead;		/* [n_ports] bits, see ftr_incr_dead() */
	/* arrays of the view */
	struct ftr_group *view_group;
	ftr_port *view_port;
	uint8_t *view_port_pos;
	uint32_t *n_side[INCR_N_SIDES];	/* n_up, n_down and n_equal of the view */
	uint8_t *cost, *down;
	uint8_t *keep;		/* [n_sw][8 * words] bit (s, l): the down-cost of s for column l
				 * stays infinite (cost_update.c); NULL: no bit is set */

	/* plan[planned] is the plan of the tables.  If the last apply made a new plan (replanned),
	 * the other element is the previous plan. */
	struct incr_plan plan[2];
	unsigned int planned;
	bool replanned;

	/* Placement of displaced entries (balance/displaced.h).  NULL: there are no preferred
	 * tables, or placement is literal. */
	struct displaced *displaced;
	uint32_t *col_of;	/* column of each LID */
	struct displaced_entry *entry;	/* [n_sw] scratch of placement_update.c */

	uint32_t words;		/* number of 64-bit words with one bit per switch */
	struct incr_work work[N_JOBS];
	uint8_t *row[2];	/* [cost_stride] scratch */
	uint32_t *at;		/* [n_sw] scratch: index of the change of a switch; all NONE between
				 * uses */

	/* state of the last apply */
	uint32_t *toggled;	/* [n_toggled] links that change state */
	uint32_t n_toggled, cap_toggled;
	uint8_t *had;		/* [n_toggled] 1: before the apply, the switches at the ends of this
				 * link had a live link */
	struct incr_log *log;
	uint32_t n_log, cap_log;
	struct ftr_change *change;
	uint32_t cap_change;
	uint32_t *by_lid;	/* The changes of lid are change[by_lid[i]], lid_first[lid] <= i <
				 * lid_first[lid + 1]. */
	uint32_t *lid_first;
	bool placed;		/* true: tables and counters of displaced include the changes */
	struct ftr_arena *last;		/* holds the arrays that live as long as the result: had,
					 * by_lid, lid_first, extra, write steps, links */
	struct ftr_link *extra;	/* live links that the fabric of base lacks */
	uint32_t n_extra;
	struct ftr_incr_result result;
	bool can_undo;
	struct incr_pairs pairs, before;	/* pairs: for the present tables; before: before the
						 * last apply */
};

static inline uint8_t *incr_cost(const struct ftr_incr *lv, ftr_sw s)
{
	return lv->cost + (size_t)s * lv->view.reach.cost_stride;
}

static inline uint8_t *incr_down(const struct ftr_incr *lv, ftr_sw s)
{
	return lv->down + (size_t)s * lv->view.reach.cost_stride;
}

/* The switch at the far end of a link. */
static inline ftr_sw incr_remote(const struct ftr_incr *lv, uint32_t link)
{
	return lv->group[lv->group_of[link]].g.remote;
}

static inline enum incr_side incr_side(const struct ftr_incr *lv, uint32_t link)
{
	return lv->group[lv->group_of[link]].side;
}

/* The end of the nominal link at port p of s. NONE: the port has no link to a switch, or routing
 * does not use the link (view.c). */
static inline uint32_t incr_link(const struct ftr_incr *lv, ftr_sw s,
				 ftr_port p)
{
	const struct ftr_switch *sw = &lv->view.f->sw[s];

	return p <= sw->n_ports ? lv->link_at[sw->first_port + p] : NONE;
}

/* view.c.  incr_adjacent: true if a live link joins s and t.  incr_links: set the nominal links and
 * the view.  incr_pack: update the groups of s in the view.  incr_toggle: change the state of a
 * link. */
bool incr_adjacent(const struct ftr_incr *lv, ftr_sw s, ftr_sw t);
enum ftr_status incr_links(struct ftr_incr *lv,
			   const struct ftr_shape *nominal,
			   struct ftr_err *err);
void incr_pack(struct ftr_incr *lv, ftr_sw s);
void incr_toggle(struct ftr_incr *lv, uint32_t link);

/* cost_update.c.  The touch functions list one column l of s, all columns l with flag[l] == 1, or
 * all columns. */
enum ftr_status incr_work_new(struct ftr_incr *lv, struct ftr_err *err);
void incr_touch(struct ftr_incr *lv, enum incr_job job, ftr_sw s, uint32_t l);
void incr_touch_row(struct ftr_incr *lv, enum incr_job job, ftr_sw s,
		    const uint8_t *flag);
void incr_touch_whole(struct ftr_incr *lv, enum incr_job job, ftr_sw s);
void incr_work_clear(struct ftr_incr *lv);
/* Restore the costs and down-costs from the log. */
void incr_values_back(struct ftr_incr *lv);
/* Compute the listed costs and down-costs again, and log the changes. */
enum ftr_status incr_costs(struct ftr_incr *lv, struct ftr_err *err);
/* Verify the costs of the view and set lv->keep. */
enum ftr_status incr_costs_check(struct ftr_incr *lv, struct ftr_err *err);

/* turn_update.c.  incr_extra_new: make the plan.  incr_extra: update the plan after the costs, and
 * list the entries of the old and of the new plan.  incr_extra_back: restore the old plan. */
enum ftr_status incr_extra_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_extra(struct ftr_incr *lv, struct ftr_err *err);
void incr_extra_back(struct ftr_incr *lv);
/* True if a packet that came from switch `from` may go on from switch `at` to switch `to`: these
 * two hops can be part of an up/down path, or are an extra turn of the plan. */
bool incr_legal(const struct ftr_incr *lv, ftr_sw from, ftr_sw at, ftr_sw to);
static inline const struct connect *incr_plan(const struct ftr_incr *lv)
{
	return &lv->plan[lv->planned].c;
}

/* entry_update.c: compute the listed entries and store those that differ in lv->change. The tables
 * are not changed. */
enum ftr_status incr_entries(struct ftr_incr *lv, struct ftr_team *team,
			     struct ftr_err *err);

/* placement_update.c.  incr_place_new: make the counters.  incr_place: set by_lid.  If there are
 * counters, also choose a port for each change to DISPLACED_PLACE, and enter all changes into the
 * tables.  incr_place_back: revert counters and tables; call it before the links get their old
 * state. */
enum ftr_status incr_place_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_place(struct ftr_incr *lv, struct ftr_err *err);
void incr_place_back(struct ftr_incr *lv);

/* write_steps.c: set these members of lv->result: `change`, `write_step`, `n_write_steps`,
 * `first_drain` and `n_drain`. */
enum ftr_status incr_write_steps(struct ftr_incr *lv, struct ftr_err *err);

static inline enum ftr_status incr_nomem(const struct ftr_incr *lv,
					 struct ftr_err *err)
{
	return ftr_fail(err, FTR_NOMEM,
			"out of memory for incremental tables of %u switches",
			lv->base->f->n_sw);
}

#endif
