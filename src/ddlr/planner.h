/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/ddlr.h>.
 *
 *	planner.c		the planner, events
 *	plan.c			one plan: the current LID, the writes so far
 *	broken.c		finds the broken entries and orders their repair
 *	detour.c		finds a detour for one broken entry
 *	planes.c		planes, arcs between them, the guarantee
 *	lid_transition.c	steps from one column of entries to another
 *	table_transition.c	new tables; restoring; the inverted order
 *	match.c			whether a planner can be kept after a routing
 */
#ifndef FTR_DDLR_PLANNER_H
#define FTR_DDLR_PLANNER_H

#include "core/core.h"
#include <ftr/ddlr.h>

#define DETOUR_MAX 12		/* entries that one detour rewrites, at most */
#define NEAR_MAX 64		/* switches with distances in one plan, at most */

/* Entries to be rewritten at sw[0 .. n-1], each towards the next switch. The
 * entries of sw[n] already lead to the LID. */
struct detour {
	uint32_t n;
	ftr_sw sw[DETOUR_MAX + 1];
	ftr_port port[DETOUR_MAX];
	uint32_t hops;		/* from sw[0] to the LID */
	uint32_t key[3];	/* compared in order if hops are equal; less is
				 * better */
	uint8_t end_step;	/* greatest step of the entries on the path from
				 * sw[n] */
	bool clean;
	bool counts;		/* the extra turns of the detour make planes unclean */
};

/* An entry that was changed, and the port to which a repair restores it. */
struct changed {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port orig;
	uint32_t at;		/* ascends with time */
};

/* New entry of a LID's column, see lid_transition.c. */
struct column_write {
	ftr_sw sw;
	ftr_port port;
	uint8_t alone;		/* step of the write if one_alone() set it, else 0 */
};

struct ftr_ddlr {
	const struct ftr_shape *sh;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	struct ftr_cdg *g;	/* decides whether a write is allowed */
	struct ftr_cdg *hosts;	/* graph of host packets only, or NULL */
	bool ignored_switches;	/* packets of switches are no longer in g */
	const struct ftr_tables *now;	/* the tables of g */
	ftr_sw *live_to;	/* [n_sw * 256] by port: switch behind a live
				 * link */
	uint16_t *n_down;	/* [n_sw] ports with a dead link */
	uint32_t most_groups;	/* of one switch */
	uint8_t *dead_sw;	/* [n_sw] */
	uint8_t *dead_link;	/* [n_ports] the link itself was reported down */
	uint8_t *has_hosts;	/* [n_sw] */
	uint8_t *cls;		/* [max_lid + 1] enum ftr_class */
	uint32_t *load;		/* [n_ports] LIDs with a detour over that link */
	uint32_t *plane;	/* [n_ranks * n_sw] see planes.c */
	uint8_t *dirty;		/* [n_ranks * n_sw] planes that are not clean */
	/* The original tables, which repairs restore, are those given to ftr_ddlr_new, or of
	 * the last transition. off[]: entries that differ from them; while a plan is made,
	 * also entries that are equal again, and duplicates */
	struct changed *off;
	uint32_t n_off, cap_off;
	/* state of one plan */
	struct ftr_ddlr_plan *plan;
	uint32_t cap_write;
	uint32_t late_refused;	/* refused detours for packets of or to switches */
	uint8_t first_step;	/* added to the steps of further writes */
	uint8_t *in_plan;	/* [max_lid + 1] 1: the plan has a write for the LID */
	uint8_t *touched;	/* [n_sw] 1: the plan has a write for the switch */
	uint32_t *switches;	/* [n_sw] list of the touched switches */
	/* state of one LID */
	ftr_lid lid;
	ftr_sw exit_sw;		/* FTR_SW_NONE: the LID is unreachable */
	ftr_port exit_port;
	ftr_port *before;	/* [n_sw] entries before the writes of ddlr_try() */
	uint8_t *step_of;	/* [n_sw] step of the switch's write in this plan, or 0 */
	ftr_sw *stepped;	/* [n_sw] switches with step_of != 0 */
	uint32_t n_stepped;
	bool clean_refused;	/* a clean detour of host packets was refused */
	uint8_t *avoid;		/* [n_sw] 1: a path must not pass the switch */
	uint32_t *carried;	/* [n_sw] search << 1 | (host packets pass the switch) */
	uint32_t search;
	/* [NEAR_MAX][n_sw] distances over live links from the first n_near switches of
	 * near[]; 0: unknown */
	ftr_sw near[NEAR_MAX];
	uint8_t *near_hops;
	uint32_t n_near;
	/* breadth-first search: [n_sw] each */
	ftr_sw *queue;
	uint32_t *from;		/* index in the queue of the predecessor */
	ftr_port *by;		/* port of the predecessor */
	uint8_t *seen;
	struct column_write *col;	/* [n_sw] input of lid_transition.c */
	uint32_t *col_of;	/* [n_sw] index into col + 1, or 0 */
};

/* ---- plan.c ------------------------------------------------------------- */

/* The switch behind that port; FTR_SW_NONE if there is none or the link is
 * dead. */
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

void ddlr_begin_plan(struct ftr_ddlr *r, struct ftr_ddlr_plan *plan);
void ddlr_end_plan(struct ftr_ddlr *r, enum ftr_status st);
/* Sort off[] by LID and switch, without duplicates and entries that are equal again. */
void ddlr_sort_off(struct ftr_ddlr *r);
/* Make lid the current LID. It may already have writes in this plan. */
void ddlr_begin_lid(struct ftr_ddlr *r, ftr_lid lid);

/* Follow the current entries from s. False if they do not reach the LID, or
 * pass a switch of avoid[]. *last_step: greatest step of an entry on the path. */
bool ddlr_arrives(const struct ftr_ddlr *r, ftr_sw s, uint32_t *hops,
		  uint8_t *last_step);
/* Check the writes against the dependency graph and add them to the plan. made:
 * false if they would close a cycle; then nothing changes. */
enum ftr_status ddlr_try(struct ftr_ddlr *r, const struct ftr_cdg_write *w,
			 uint32_t n, enum ftr_ddlr_how how, bool *made,
			 struct ftr_err *err);

/* ---- broken.c ------------------------------------------------------------ */

/* Repair all broken entries. restore: first put back the original entries that work again. The
 * repairs of a LID then get later steps than its restored entries. */
enum ftr_status repair_broken(struct ftr_ddlr *r, bool restore,
			      struct ftr_err *err);

/* ---- detour.c ---------------------------------------------------------- */

/* Repair the entry of s for the current LID, over clean planes only or over
 * any. repaired: false if no detour was found. */
enum ftr_status search_repair(struct ftr_ddlr *r, ftr_sw s, bool clean_only,
			    bool *repaired, struct ftr_err *err);

#define CARRIED_DEPTH 32
bool search_carried(const struct ftr_ddlr *r, ftr_sw s, uint32_t depth);

/* ---- planes.c ---------------------------------------------------------- */

bool planes_new(struct ftr_ddlr *r);		/* false: no memory */
/* True if the turns of the detour lead only into clean planes. The planes are judged by the
 * entries before the detour. hard: the turns must also leave only planes that are already
 * unclean. */
bool planes_clean(const struct ftr_ddlr *r, const struct detour *d,
		  bool hard);
/* Mark the planes that the turns of the detour leave as unclean. */
void planes_enter(struct ftr_ddlr *r, const struct detour *d);
/* Mark as unclean the planes that the turns of the LID's whole column leave. */
void planes_enter_column(struct ftr_ddlr *r);
void planes_clear(struct ftr_ddlr *r);

/* ---- lid_transition.c ---------------------------------------------------------- */

/*
 * r->col[0 .. n-1]: entries of the LID to be changed. Assigns steps so that the
 * LID is reachable in every state; entries for which there is no such step are
 * left out. made: false if the change would close a cycle.
 */
enum ftr_status column_change(struct ftr_ddlr *r, uint32_t n,
			      enum ftr_ddlr_how how, bool *made,
			      struct ftr_err *err);

/* ---- table_transition.c -------------------------------------------------------- */

/* off[i .. end-1] are the changed entries of the current LID: restore those whose original
 * path leads to the LID again. */
enum ftr_status transition_restore(struct ftr_ddlr *r, uint32_t i, uint32_t end,
				   struct ftr_err *err);

/* Tables of the inverted order on the damaged fabric, computed on first use. */
struct inverted {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	ftr_sw *of;		/* [n_sw] for each switch of the planner: the switch of f,
				 * or FTR_SW_NONE */
};
enum ftr_status transition_inverted(struct ftr_ddlr *r, struct inverted *v,
				    bool *repaired, struct ftr_err *err);
void transition_inverted_fini(struct inverted *v);

#endif
