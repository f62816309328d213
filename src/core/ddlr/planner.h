/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/ddlr.h>.  A planner makes plans.  A plan is a list of entries to
 * write; each write has a step.
 *
 *	events.c		creation of a planner; events
 *	plan.c			one plan: the current LID, the writes so far
 *	broken.c		finds the broken entries and orders their repair
 *	detour.c		finds a detour for one broken entry
 *	planes.c		planes, arcs between them, struct ftr_guarantee
 *	lid_transition.c	write steps of the changed entries of one LID
 *	table_transition.c	changes to new tables
 *	inverted.c		changes to tables of sftree
 */
#ifndef FTR_DDLR_PLANNER_H
#define FTR_DDLR_PLANNER_H

#include "base/base.h"
#include <ftr/ddlr.h>

#define DETOUR_MAX 12		/* greatest number of entries that a detour rewrites */

/* A detour rewrites the entries of sw[0 .. n-1]: port[i] leads from sw[i] to sw[i + 1]. The entry
 * of sw[n] already leads to the LID. */
struct detour {
	uint32_t n;
	ftr_sw sw[DETOUR_MAX + 1];
	ftr_port port[DETOUR_MAX];
	uint32_t hops;		/* number of hops from sw[0] to the switch of the LID */
	uint32_t key[3];	/* set by rate(); compared in this order if hops are equal; less is
				 * better */
	uint8_t end_step;	/* greatest step of the entries on the path from sw[n] to the LID */
	bool clean;		/* result of planes_clean(); valid if counts is true */
	bool counts;		/* true: packets from or to hosts make the extra turns of the
				 * detour, so planes_enter() must be called */
};

/* The data of a LID that a repair reads first (8 bytes, which lie in one cache line). */
struct lid_state {
	ftr_sw exit_sw;		/* the owner, or the switch to which the owner is connected;
				 * FTR_SW_NONE: no owner */
	ftr_port exit_port;	/* the port of exit_sw that leads to the owner; 0: exit_sw is the
				 * owner */
	uint8_t cls;		/* enum ftr_class */
};

/* detour.c */
struct detour_search {
	uint32_t *carried;	/* carried[s]: cache of is_carried(): search number << 1 | result */
	uint32_t number;	/* number of the current search_repair() */
	uint32_t *lead;		/* [n_ranks] cache of planes_lead(): state << 1 | result */
	uint32_t state;		/* changes with the LID, and with each write */
	/* breadth-first search, [n_sw] each */
	ftr_sw *queue;
	uint32_t *from;		/* from[s]: index in queue[] of the predecessor of s */
	ftr_port *by;		/* by[s]: port of the predecessor that leads to s */
	uint8_t *seen;
};

/* table_transition.c */
struct late_entries {
	/* the first rounds in which the entries may change, in the order of lft of struct ftr_tables;
	 * NULL: 0 */
	const uint8_t *first;
	uint32_t round;
	uint32_t n;		/* number of entries that could not change in this round for this reason */
};

/* inverted.c: computed on first use */
struct inverted_order {
	struct ftr_fabric *f;	/* the damaged fabric */
	struct ftr_tables *t;	/* its tables by sftree */
	ftr_sw *at;		/* at[s]: index in f of the planner's switch s, or FTR_SW_NONE */
};

struct ftr_ddlr {
	const struct ftr_shape *sh;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	struct ftr_cdg *g;	/* dependency graph, which decides whether a write is allowed */
	struct ftr_cdg *hosts;	/* like g, but without dependencies of packets from switches; NULL:
				 * g has no such dependencies either */
	bool host_paths_only;	/* see ftr_ddlr_new() */
	const struct ftr_tables *now;	/* the current tables: ftr_cdg_tables(g) */
	ftr_sw *live_to;	/* live_to[s << 8 | p]: switch at the other end of a live link;
				 * FTR_SW_NONE: no live link to a switch at port p */
	uint16_t *n_down;	/* n_down[s]: number of ports of s with a dead link */
	uint8_t *dead_sw;	/* dead_sw[s] == 1: switch s was reported down */
	uint8_t *has_hosts;	/* has_hosts[s] == 1: a host port with a LID is connected to s */
	struct lid_state *of_lid;	/* [max_lid + 1] */
	uint32_t *load;		/* load[x]: number of detours that lead out of port x (index in
				 * f->ports) since the last completed transition; only detours of
				 * packets from hosts to hosts count */
	uint32_t *plane;	/* [n_ranks * n_sw] plane numbers, see planes.c */
	uint8_t *dirty;		/* [n_ranks * n_sw] by level and plane number; 1: the plane is not
				 * clean */
	/* state of the current plan */
	struct ftr_ddlr_plan *plan;
	struct late_entries late;
	uint32_t cap_write;
	uint32_t late_refused;	/* number of detours for packets from or to switches that were
				 * refused in this plan; parallel links do not count */
	/* first_write[lid]: 1 + the index in plan->write[] of the first write for the LID, or 0.
	 * The writes of the first time that the LID was current follow it directly.  A LID is
	 * current at most twice in a plan. */
	uint32_t *first_write;
	uint8_t *touched;	/* touched[s] == 1: the plan has a write for switch s */
	struct inverted_order inverted;
	/* state of the current LID */
	ftr_lid lid;
	ftr_sw exit_sw;		/* the LID's owner, or the switch to which the owner is connected;
				 * FTR_SW_NONE: the LID is unreachable */
	ftr_port exit_port;
	uint8_t *step_of;	/* step_of[s]: step of the write for s in this plan; 0: no write */
	bool clean_refused;	/* true: a clean detour for packets from hosts to hosts was refused,
				 * because it would close a cycle */
	uint8_t *avoid;		/* avoid[s] == 1: a path must not pass s */
	struct detour_search search;
	/* [n_sw] new entries for the current LID (lid_transition.c): sw, after, and step, which is
	 * 0 until one_alone() sets it */
	struct ftr_change *col;
	uint32_t *col_of;	/* col_of[s]: 1 + the index in col[] of the change of s, or 0 */
};

/* ---- plan.c ------------------------------------------------------------- */

/* The switch at the other end of the link at this port; FTR_SW_NONE: no link to a switch, or the
 * link is dead. */
static inline ftr_sw ddlr_next(const struct ftr_ddlr *r, ftr_sw s,
			       ftr_port port)
{
	return r->live_to[(size_t)s << 8 | port];
}

/* True if the port has a live link to a live switch. */
static inline bool ddlr_live(const struct ftr_ddlr *r, ftr_sw s,
			     ftr_port port)
{
	return ddlr_next(r, s, port) != FTR_SW_NONE;
}

/* The current entry of s for the current LID. */
static inline ftr_port ddlr_entry(const struct ftr_ddlr *r, ftr_sw s)
{
	return ftr_tables_row(r->now, s)[r->lid];
}

/* Add a new entry for the current LID to col[0 .. *n - 1]. */
static inline void ddlr_add_change(struct ftr_ddlr *r, uint32_t *n, ftr_sw s, ftr_port p)
{
	r->col[(*n)++] = (struct ftr_change){ .sw = s, .after = p, .step = p == FTR_PORT_NONE };
}

void ddlr_begin_plan(struct ftr_ddlr *r, struct ftr_ddlr_plan *plan);
void ddlr_end_plan(struct ftr_ddlr *r, enum ftr_status st);
/* Make lid the current LID. The plan may already have writes for this LID, if it was the current LID
 * once before. */
void ddlr_begin_lid(struct ftr_ddlr *r, ftr_lid lid);

/* Follow the current entries from s. Returns false if they do not lead to the LID, or if their
 * path passes a switch of avoid[]. *last_step: greatest step of an entry on the path. */
bool ddlr_arrives(const struct ftr_ddlr *r, ftr_sw s, uint32_t *hops,
		  uint8_t *last_step);
/* Check the writes against the dependency graph and add them to the plan. *made: false if they
 * would close a cycle; nothing is then changed. */
enum ftr_status ddlr_try(struct ftr_ddlr *r, const struct ftr_change *w,
			 uint32_t n, enum ftr_ddlr_how how, bool *made,
			 struct ftr_err *err);

/* ---- broken.c ------------------------------------------------------------ */

/* Repair all broken entries. */
enum ftr_status repair_broken(struct ftr_ddlr *r, struct ftr_err *err);

/* ---- detour.c ---------------------------------------------------------- */

/* Repair the entry of s for the current LID. clean_only: only by a parallel link, or by a detour
 * into clean planes. *repaired: false if no detour was found, or if all detours were refused. */
enum ftr_status search_repair(struct ftr_ddlr *r, ftr_sw s, bool clean_only,
			    bool *repaired, struct ftr_err *err);

#define CARRIED_DEPTH 32
bool search_carried(const struct ftr_ddlr *r, ftr_sw s, uint32_t depth);

/* ---- planes.c ---------------------------------------------------------- */

bool planes_new(struct ftr_ddlr *r);		/* returns false if out of memory */
/* True if each extra turn of the detour leads into another plane, and this plane is clean. The
 * current entries show which packets reach the switches of the detour from above. hard: each turn
 * must also leave a plane that is already unclean, and the turns on the path from the end of the
 * detour to the LID count, too. */
bool planes_clean(const struct ftr_ddlr *r, const struct detour *d,
		  bool hard);
/* True if the plane of s at this level is clean.  The rank of s is greater than the level. */
bool planes_is_clean(const struct ftr_ddlr *r, unsigned int level, ftr_sw s);
/* True if the current entries lead to the LID from some switch in a clean plane of a level 0 .. top, or
 * if there is a stub above such a level (stubs have planes of their own). */
bool planes_lead(const struct ftr_ddlr *r, int top);
/* Mark as unclean the planes that the extra turns of the detour leave. */
void planes_enter(struct ftr_ddlr *r, const struct detour *d);
/* Mark as unclean the planes that the extra turns of all current entries for the LID leave. */
void planes_enter_column(struct ftr_ddlr *r);
void planes_clear(struct ftr_ddlr *r);

/* ---- lid_transition.c ---------------------------------------------------------- */

/*
 * Write the new entries r->col[0 .. n-1] for the current LID. The steps are chosen so that no
 * switch loses its path to the LID in any state. If there is no such step for an entry, it is not
 * changed. *made: false if the change would close a cycle; no entry is then changed.
 */
enum ftr_status column_change(struct ftr_ddlr *r, uint32_t n,
			      enum ftr_ddlr_how how, bool *made,
			      struct ftr_err *err);

/* ---- inverted.c -------------------------------------------------------- */

/* Change the entries for the current LID to those of the inverted order. */
enum ftr_status transition_inverted(struct ftr_ddlr *r, bool *repaired, struct ftr_err *err);
void transition_inverted_fini(struct ftr_ddlr *r);

#endif
