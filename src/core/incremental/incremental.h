/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations shared by the files of the incremental tables.
 *
 *	apply.c			creation; ftr_incr_apply() and its undo
 *	view.c			nominal links and their state; the groups of the view
 *	cost_update.c		update of costs and down-costs
 *	turn_update.c		update of the extra turns
 *	entry_update.c		update of the tables
 *	placement_update.c	placement of displaced entries
 *	write_steps.c		the order in which changes may be written
 *
 * Terms.  An apply is one call of ftr_incr_apply().  A link is alive if it is up, and dead if it
 * is down.  A column is a destination switch.  A cost or an entry is listed if it is on a work
 * list (struct incr_work).  An extra turn leads from a downward to an upward link; it connects
 * switches that have no up/down path to each other.  The plan consists of the extra turns and the
 * entries that use them (engine/connect.h).
 *
 * The view is a struct ftr_shape whose groups, costs and down-costs follow the link events.  Its
 * other members are those of the original shape.  So functions that route over a shape can also
 * route over the view.  view_group[] has room for all nominal groups of each switch.  The groups
 * with a live link come first, in the order of the nominal groups:
 *
 *	group_first[s]  |above|above|below|below|equal|  .  |  .  | group_first[s+1]
 *	                 <- n_up -> <- n_down -> n_equal
 *
 * Horizontal links join switches of equal rank.  No cost depends on them; only entries that use
 * extra turns lead over them (turn_update.c).
 *
 * ftr_incr_apply() is a transaction.  Costs are changed in place and logged.  New entries are
 * stored in a separate array, and copied into the tables at the end, when nothing can fail.  But
 * if displaced entries are placed by load (ftr_incr.displaced), displaced_change() enters the new
 * entries into the tables earlier, because it counts flows over the new tables.
 *
 * On a failure and on undo, revert() restores the costs (from the log), the links, the plan, the
 * counts of pairs, the counters of flows, and the entries that displaced_change() has changed.  On
 * undo, ftr_incr_undo() then sets all changed entries back.
 *
 * Undo is rare: it is called if the changes cannot be written, for example because the check
 * fails.  So costs, tables and counters of flows are not stored twice, which would take 34 MB and
 * more at 11,664 hosts.
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
	struct ftr_group g;	/* its ports: ftr_incr.port[g.first .. g.first + g.n - 1] */
	enum incr_side side;
};

/* One work list for each kind of value that is to be computed again: down-costs, costs, entries. */
enum incr_job { JOB_DOWN, JOB_COST, JOB_ENTRY, N_JOBS };

/* A down-cost or cost before a change. */
struct incr_log {
	ftr_sw sw;
	uint32_t col;
	uint8_t before;
	uint8_t job;		/* JOB_DOWN or JOB_COST */
};

/* A work list of pairs (switch, column).  The switches with such pairs are linked in one list for
 * each rank. */
struct incr_work {
	uint64_t *bit;		/* [n_sw][ftr_incr.words] bit (s, l): column l of s is listed */
	uint8_t *listed;	/* [n_sw] 1: the switch is in the list of its rank */
	uint8_t *whole;		/* [n_sw] 1: all columns are listed; `bit` is ignored */
	uint32_t *head;		/* head[r]: first switch in the list of rank r, or NONE */
	uint32_t *next;		/* next[s]: switch after s in the list of its rank, or NONE */
};

struct incr_plan {
	struct ftr_arena *arena;	/* holds c */
	struct connect c;
};

/* Numbers of ordered pairs of leaf switches.  bad: pairs without an up/down path.  extra: those of
 * the bad pairs that extra turns connect.  spared: those that only spared entries connect. */
struct incr_pairs {
	uint64_t bad, extra, spared;
};

struct ftr_incr {
	const struct ftr_shape *base;	/* the shape from which this object was made */
	struct ftr_shape view;		/* copy of base with only the live links */
	struct ftr_route_opts opts;
	struct ftr_arena *arena;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;	/* tables whose entries are kept; NULL: none */

	/* The nominal links.  Each link has two ends, and each end has a number.  A variable `link`
	 * holds the number of one of the two ends. */
	struct incr_group *group;
	uint32_t *first;	/* first[s]: index in group[] of the first group of s */
	uint32_t n_ends;
	ftr_port *port;		/* port[e]: port of end e */
	uint8_t *port_pos;	/* port_pos[e]: position of the link of end e in its group */
	uint32_t *link_at;	/* [n_ports] for each port: end of its link, or NONE */
	uint32_t *group_of;	/* group_of[e]: index in group[] of the group of end e */
	uint32_t *far;		/* far[e]: the other end of the link of end e */
	uint8_t *alive;		/* alive[e]: 1: the link of end e is alive */
	uint8_t *alive_after;	/* alive_after[e]: alive[e] after the events; set only for the end
				 * with the lower number */
	uint32_t *absent;	/* [n_absent] nominal links that are not in the fabric of base */
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
	 * tables. */
	struct displaced *displaced;
	struct ftr_change *entry;	/* [n_sw] scratch of placement_update.c */

	uint32_t *col_of;	/* column of each LID */
	uint32_t words;		/* number of 64-bit words of a set of switches */
	struct incr_work work[N_JOBS];
	uint8_t *row[2];	/* [base->reach.stride] scratch */
	uint32_t *at;		/* [n_sw] scratch: for one LID, the index in change[] of the changed
				 * entry of switch s, or NONE; all NONE between uses */

	/* state of the last apply */
	uint32_t *toggled;	/* [n_toggled] links that change state */
	uint32_t n_toggled, cap_toggled;
	uint8_t *had;		/* had[i]: 1: before the apply, a live link joined the two switches
				 * of link toggled[i] */
	struct incr_log *log;
	uint32_t n_log, cap_log;
	struct ftr_change *change;
	uint32_t cap_change;
	uint32_t *by_lid;	/* The changes of lid are change[by_lid[i]], lid_first[lid] <= i <
				 * lid_first[lid + 1]. */
	uint32_t *lid_first;
	bool spare;		/* see ftr_incr_spare() */
	struct ftr_change *spared[2];	/* [n_spared] spared entries of the last apply, and of the
					 * one before it */
	uint32_t n_spared[2];
	bool respared;		/* the last apply has replaced spared[0] */
	bool placed;		/* the tables and the counters of flows include the changes */
	struct ftr_arena *last;		/* holds the arrays that live as long as `result` */
	struct ftr_link *extra;	/* live links that are not in the fabric of base */
	uint32_t n_extra;
	struct ftr_incr_result result;
	bool can_undo;
	struct incr_pairs pairs, before;	/* at present; before the last apply */
};

static inline uint8_t *incr_cost(const struct ftr_incr *lv, ftr_sw s)
{
	return lv->cost + (size_t)s * lv->view.reach.stride;
}

static inline uint8_t *incr_down(const struct ftr_incr *lv, ftr_sw s)
{
	return lv->down + (size_t)s * lv->view.reach.stride;
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

/* True if s is a leaf switch, and l is the column of one. */
static inline bool incr_are_leaves(const struct ftr_incr *lv, ftr_sw s, uint32_t l)
{
	return l < lv->view.tree.n_leaf && lv->view.numbering.col[s] < lv->view.tree.n_leaf;
}

/* The end of the nominal link at port p of s. NONE: the port has no link to a switch, or routing
 * does not use the link (view.c). */
static inline uint32_t incr_link(const struct ftr_incr *lv, ftr_sw s,
				 ftr_port p)
{
	const struct ftr_switch *sw = &lv->view.f->sw[s];

	return p <= sw->n_ports ? lv->link_at[sw->first_port + p] : NONE;
}

/* view.c.  incr_adjacent: true if a live link joins s and t.  incr_links: set up the nominal links
 * and the view.  incr_pack: update the groups of s in the view.  incr_toggle: set a dead link
 * alive, or a live link dead. */
bool incr_adjacent(const struct ftr_incr *lv, ftr_sw s, ftr_sw t);
enum ftr_status incr_links(struct ftr_incr *lv,
			   const struct ftr_shape *nominal,
			   struct ftr_err *err);
void incr_pack(struct ftr_incr *lv, ftr_sw s);
void incr_toggle(struct ftr_incr *lv, uint32_t link);

/* cost_update.c.  The touch functions put columns of s on the work list of a job.  incr_touch:
 * column l.  incr_touch_row: all columns l with flag[l] == 1.  incr_touch_whole: all columns. */
enum ftr_status incr_work_new(struct ftr_incr *lv, struct ftr_err *err);
void incr_touch(struct ftr_incr *lv, enum incr_job job, ftr_sw s, uint32_t l);
void incr_touch_row(struct ftr_incr *lv, enum incr_job job, ftr_sw s,
		    const uint8_t *flag);
void incr_touch_whole(struct ftr_incr *lv, enum incr_job job, ftr_sw s);
void incr_work_clear(struct ftr_incr *lv);
/* Restore the costs and down-costs from the log. */
void incr_values_back(struct ftr_incr *lv);
/* Compute the costs and down-costs on the work lists again, and log the changes. */
enum ftr_status incr_costs(struct ftr_incr *lv, struct ftr_err *err);
/* Verify that the costs of the view follow from its links, and set lv->keep. */
enum ftr_status incr_costs_check(struct ftr_incr *lv, struct ftr_err *err);

/* turn_update.c.  incr_extra_new: make the first plan.  incr_extra: make a new plan for the updated
 * costs, and put the entries of the old and of the new plan on the work list.  incr_extra_back:
 * restore the old plan. */
enum ftr_status incr_extra_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_extra(struct ftr_incr *lv, struct ftr_err *err);
void incr_extra_back(struct ftr_incr *lv);
/* True if a packet that came from switch `from` to switch `at` may go on to switch `to`: the two
 * hops can be part of an up/down path, or they are an extra turn of the plan. */
bool incr_legal(const struct ftr_incr *lv, ftr_sw from, ftr_sw at, ftr_sw to);
static inline const struct connect *incr_plan(const struct ftr_incr *lv)
{
	return &lv->plan[lv->planned].c;
}

/* entry_update.c: compute the entries on the work list, and store those that differ from the tables
 * in lv->change.  The tables are not changed. */
enum ftr_status incr_entries(struct ftr_incr *lv, struct ftr_err *err);

/* spared.c.  incr_spare_list: put the spared entries on the work list.  incr_spare: remove the
 * changes of entries that are spared.  incr_spare_back: undo incr_spare. */
void incr_spare_list(struct ftr_incr *lv);
enum ftr_status incr_spare(struct ftr_incr *lv, struct ftr_err *err);
void incr_spare_back(struct ftr_incr *lv);

/* placement_update.c.  incr_place_new: set col_of, and make the counters of flows (lv->displaced).
 * incr_sort: set by_lid.  incr_place: if there are counters, choose a port for each displaced
 * entry, and enter all changes into the tables.  incr_place_back: revert counters and tables; it
 * must be called before the links get back their old state. */
enum ftr_status incr_place_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_sort(struct ftr_incr *lv, struct ftr_err *err);
void incr_place(struct ftr_incr *lv);
void incr_place_back(struct ftr_incr *lv);

/* write_steps.c: set these members of lv->result: `change`, `write_step`, `n_write_steps`,
 * `first_drain` and `n_drain`. */
enum ftr_status incr_write_steps(struct ftr_incr *lv, struct ftr_err *err);

static inline enum ftr_status incr_nomem(const struct ftr_incr *lv,
					 struct ftr_err *err)
{
	return ftr_nomem(err, "incremental tables of %u switches", lv->base->f->n_sw);
}

#endif
