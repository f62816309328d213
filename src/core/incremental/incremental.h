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
 * list (struct incr_lists).  An extra turn leads from a downward to an upward link; it connects
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
 * On a failure and on undo, revert() restores the costs (from the log), the links, struct incr_state,
 * the counters of flows, and the entries that displaced_change() has changed.  On
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

/* One work list for each kind of value that is to be computed again: down-costs, costs, entries. */
enum incr_job { JOB_DOWN, JOB_COST, JOB_ENTRY, N_JOBS };

/* The nominal links (view.c).  Each link has two ends, and each end has a number.  A variable `link`
 * holds the number of one of the two ends. */
struct incr_links {
	const struct ftr_fabric *f;
	const uint8_t *rank;
	struct ftr_group *group;	/* the nominal links between a switch and one neighbour; its
					 * ports: port[g.first .. g.first + g.n - 1] */
	uint32_t *first;	/* first[s]: index in group[] of the first group of s */
	uint32_t n_ends;
	ftr_port *port;		/* port[e]: port of end e */
	uint8_t *port_pos;	/* port_pos[e]: position of the link of end e in its group */
	uint32_t *link_at;	/* [n_ports] for each port: end of its link, or NONE */
	uint32_t *group_of;	/* group_of[e]: index in group[] of the group of end e */
	uint32_t *far;		/* far[e]: the other end of the link of end e */
	uint8_t *alive;		/* alive[e]: 1: the link of end e is alive */
	uint32_t *absent;	/* [n_absent] nominal links that are not in the fabric */
	uint32_t n_absent;
	uint64_t *dead;		/* [n_ports] bits, see ftr_incr_dead() */
	/* arrays of the view */
	struct ftr_group *view_group;
	ftr_port *view_port;
	uint8_t *view_port_pos;
	uint32_t *n_side[INCR_N_SIDES];	/* n_up, n_down and n_equal of the view */
};

/* A work list of pairs (switch, column).  The switches with such pairs are linked in one list for
 * each rank. */
struct incr_work {
	uint64_t *bit;		/* [n_sw][incr_lists.words] bit (s, l): column l of s is listed */
	uint8_t *listed;	/* [n_sw] 1: the switch is in the list of its rank */
	uint8_t *whole;		/* [n_sw] 1: all columns are listed; `bit` is ignored */
	uint32_t *head;		/* head[r]: first switch in the list of rank r, or NONE */
	uint32_t *next;		/* next[s]: switch after s in the list of its rank, or NONE */
};

struct incr_lists {
	const uint8_t *rank;
	uint32_t n_ranks, n_sw;
	uint32_t words;		/* number of 64-bit words of a set of switches */
	struct incr_work work[N_JOBS];
};

/* A down-cost or cost before a change. */
struct incr_log {
	ftr_sw sw;
	uint32_t col;
	uint8_t before;
	uint8_t job;		/* JOB_DOWN or JOB_COST */
};

/* The costs of the view (cost_update.c). */
struct incr_costs {
	const struct ftr_shape *view;
	struct incr_lists *lists;
	uint8_t *cost, *down;	/* [n_sw][view->reach.stride] */
	uint8_t *keep;		/* [n_sw][8 * words] bit (s, l): the down-cost of s for column l
				 * stays infinite */
	bool kept;		/* such a bit is set */
	uint8_t *row[2];	/* [view->reach.stride] scratch */
	struct incr_log *log;	/* the changes by the last apply */
	uint32_t n_log, cap_log;
	bool nomem;		/* a change is not in the log, and was not made */
};

/* The members that a revert sets back. */
struct incr_state {
	unsigned int plan;	/* ftr_incr.plan[plan] is the plan of the tables */
	unsigned int spared;	/* ftr_incr.spared[spared]: the spared entries in the tables,
				 * sorted by (switch, LID) */
	uint64_t bad_pairs;	/* ordered pairs of leaf switches without a path */
};

struct ftr_incr {
	struct ftr_shape view;		/* copy of the shape with only the live links */
	struct ftr_route_opts opts;
	struct ftr_arena *arena;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;	/* tables whose entries are kept; NULL: none */
	uint32_t *col_of;		/* column of each LID */
	struct incr_links links;
	struct incr_lists lists;
	struct incr_costs costs;
	struct connect plan[2];		/* now and before */
	struct ftr_arena *plan_arena[2];
	struct ftr_change *spared[2];	/* now and before */
	uint32_t n_spared[2];
	bool spare;			/* see ftr_incr_spare() */
	uint8_t *refused;		/* [max_lid + 1] see ftr_incr_refuse() */

	/* Placement of displaced entries (balance/displaced.h).  NULL: there are no preferred
	 * tables. */
	struct displaced *displaced;
	struct ftr_change *entry;	/* [n_sw] scratch of placement_update.c */

	struct incr_state now, before;	/* before: before the last apply */
	/* the last apply */
	struct ftr_arena *last;		/* holds the arrays that live as long as `result` */
	uint32_t *toggled;	/* [n_toggled] links that change state: for each, the end at the
				 * switch of lower rank */
	uint32_t n_toggled;
	struct ftr_change *change;	/* [result.n_changes] the changed entries */
	uint32_t cap_changes;
	uint32_t *by_lid;	/* the changes of lid are change[by_lid[i]], lid_first[lid] <= i <
				 * lid_first[lid + 1] */
	uint32_t *lid_first;
	uint32_t *change_at;	/* [n_sw] scratch: for one LID, the index in change[] of the changed
				 * entry of switch s, or NONE; all NONE between uses */
	struct ftr_link *extra;	/* live links that are not in the fabric */
	uint32_t n_extra;
	struct ftr_incr_result result;
	bool can_undo;
	bool counted;		/* the counters of flows contain the changes of the last apply */
};

static inline uint8_t *incr_cost(const struct incr_costs *c, ftr_sw s)
{
	return c->cost + (size_t)s * c->view->reach.stride;
}

static inline uint8_t *incr_down(const struct incr_costs *c, ftr_sw s)
{
	return c->down + (size_t)s * c->view->reach.stride;
}

/* The switch at the far end of a link. */
static inline ftr_sw incr_remote(const struct incr_links *k, uint32_t link)
{
	return k->group[k->group_of[link]].remote;
}

/* The switch at this end of a link. */
static inline ftr_sw incr_near(const struct incr_links *k, uint32_t link)
{
	return incr_remote(k, k->far[link]);
}

static inline enum incr_side incr_side(const uint8_t *rank, ftr_sw s, ftr_sw remote)
{
	return rank[remote] > rank[s] ? INCR_UP :
		rank[remote] < rank[s] ? INCR_DOWN : INCR_EQUAL;
}

/* The end of the nominal link at port p of s. NONE: the port has no link to a switch, or routing
 * does not use the link (view.c). */
static inline uint32_t incr_link(const struct incr_links *k, ftr_sw s, ftr_port p)
{
	const struct ftr_switch *sw = &k->f->sw[s];

	return p <= sw->n_ports ? k->link_at[sw->first_port + p] : NONE;
}

/* view.c.  incr_adjacent: true if a live link joins s and t.  incr_links_new: set up the nominal
 * links, and let the groups of *view, until now the shape, follow them; horizontal: horizontal links
 * are included.  incr_pack: update the groups of s in the view.  incr_toggle: set a dead link alive, or
 * a live link dead; the caller must then call incr_pack() for both switches. */
bool incr_adjacent(const struct ftr_shape *view, ftr_sw s, ftr_sw t);
enum ftr_status incr_links_new(struct incr_links *k, struct ftr_arena *arena, struct ftr_shape *view,
			       const struct ftr_shape *nominal, bool horizontal,
			       struct ftr_err *err);
void incr_pack(struct incr_links *k, ftr_sw s);
void incr_toggle(struct incr_links *k, struct ftr_shape *view, uint32_t link);

/* cost_update.c.  The touch functions put columns of s on the work list of a job.  incr_touch:
 * column l; returns false if it was there.  incr_touch_whole: all columns.  incr_touch_link: those
 * entries of the switches a and b for which the present costs allow the links between a and b; b has
 * the higher rank. */
enum ftr_status incr_lists_new(struct incr_lists *w, struct ftr_arena *arena,
			       const struct ftr_shape *view, struct ftr_err *err);
bool incr_touch(struct incr_lists *w, enum incr_job job, ftr_sw s, uint32_t l);
void incr_touch_whole(struct incr_lists *w, enum incr_job job, ftr_sw s);
void incr_touch_link(struct incr_costs *c, ftr_sw a, ftr_sw b);
void incr_lists_clear(struct incr_lists *w);
/* Let the costs of *view be copies of those of the shape.  Then incr_costs_check() verifies that they
 * follow from the links of the view, and sets `keep`. */
enum ftr_status incr_costs_new(struct incr_costs *c, struct ftr_arena *arena, struct ftr_shape *view,
			       struct incr_lists *lists, struct ftr_err *err);
enum ftr_status incr_costs_check(struct incr_costs *c, struct ftr_err *err);
/* Compute the costs and down-costs on the work lists again, and log the changes. */
enum ftr_status incr_costs_update(struct incr_costs *c, struct ftr_err *err);
/* Restore the costs and down-costs from the log. */
void incr_costs_back(struct incr_costs *c);

/* turn_update.c.  incr_extra_new: make the first plan.  incr_extra: make a new plan for the updated
 * costs, and put the entries of the old and of the new plan on the work list. */
enum ftr_status incr_extra_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_extra(struct ftr_incr *lv, struct ftr_err *err);
/* True if a packet that came from switch `from` to switch `at` may go on to switch `to`: the two
 * hops can be part of an up/down path, or they are an extra turn of the plan. */
bool incr_legal(const struct ftr_incr *lv, ftr_sw from, ftr_sw at, ftr_sw to);
static inline const struct connect *incr_plan(const struct ftr_incr *lv)
{
	return &lv->plan[lv->now.plan];
}

/* entry_update.c: compute the entries on the work list, and store those that differ from the tables
 * in lv->change.  The tables are not changed. */
enum ftr_status incr_entries(struct ftr_incr *lv, struct ftr_err *err);

/* spared.c.  incr_spare_list: put the spared entries on the work list.  incr_spare: remove the
 * changes of entries that are spared.  incr_count_pairs: set lost_pairs and regained_pairs of the
 * result. */
void incr_spare_list(struct ftr_incr *lv);
enum ftr_status incr_spare(struct ftr_incr *lv, struct ftr_err *err);
void incr_count_pairs(struct ftr_incr *lv);

/* placement_update.c.  incr_place_new: set col_of, and make the counters of flows (lv->displaced).
 * incr_sort: set by_lid.  incr_needs_ports: true if entries get their ports by load; then there are
 * counters.  incr_place: choose these ports, and enter all changes into counters and tables; `back`
 * reverts both, and must be set before the links get back their old state. */
enum ftr_status incr_place_new(struct ftr_incr *lv, struct ftr_err *err);
enum ftr_status incr_sort(struct ftr_incr *lv, struct ftr_err *err);
bool incr_needs_ports(const struct ftr_incr *lv);
void incr_place(struct ftr_incr *lv, bool back);

/* write_steps.c: set the steps of the changes, and these members of lv->result: `change`,
 * `n_write_steps`, `first_drain` and `n_drain`. */
enum ftr_status incr_write_steps(struct ftr_incr *lv, struct ftr_err *err);

static inline enum ftr_status incr_nomem(struct ftr_err *err)
{
	return ftr_nomem(err, "incremental tables");
}

#endif
