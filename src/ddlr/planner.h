/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of <ftr/ddlr.h> share.
 *
 *	planner.c	the planner, events, plans
 *	broken.c		which entries are broken, and in which order
 *	detour.c	where a broken entry may lead instead
 *	planes.c	planes, arcs between them, the guarantee
 *	lid_transition.c	from one column of entries to another, in steps
 *	table_transition.c	all columns; restoring; the inverted order
 */
#ifndef FTR_DDLR_PLANNER_H
#define FTR_DDLR_PLANNER_H

#include "core/core.h"
#include <ftr/ddlr.h>

#define DETOUR_MAX 12		/* entries of one detour */

/* Entries to be written at sw[0 .. n-1], each towards the next; sw[n] knows a
 * way. */
struct detour {
	uint32_t n;
	ftr_sw sw[DETOUR_MAX + 1];
	ftr_port port[DETOUR_MAX];
	uint32_t hops;		/* from sw[0] to the end */
	uint32_t key[3];	/* less is better, after hops */
	uint8_t end_step;	/* last step that the way from sw[n] needs */
	bool clean;
	bool counts;		/* its turns make planes dirty */
};

struct lft_entry {			/* an entry */
	ftr_sw sw;
	ftr_lid lid;
};

/* New entry of a column: lid_transition.c. */
struct column_write {
	ftr_sw sw;
	ftr_port port;
	uint8_t step;
	bool done;
};

struct ftr_ddlr {
	const struct ftr_shape *sh;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	struct ftr_cdg *g;	/* decides */
	struct ftr_cdg *hosts;	/* packets of hosts only, or NULL */
	const struct ftr_tables *now;	/* of g */
	struct ftr_tables *orig;	/* as pushed, or handed over */
	ftr_sw *live_to;	/* [n_sw * 256] by port: behind a living cable */
	uint8_t *dead_sw;	/* [n_sw] */
	uint8_t *dead_link;	/* [n_ports] told so itself */
	uint8_t *has_hosts;	/* [n_sw] */
	uint8_t *cls;		/* [max_lid + 1] enum ftr_class */
	uint32_t *load;		/* [n_ports] LIDs on detours over that link */
	uint32_t *plane;	/* [n_ranks * n_sw] planes.c */
	uint8_t *dirty;		/* [n_ranks * n_sw] */
	/* entries that differ from orig, some perhaps not any more */
	struct lft_entry *off;
	uint32_t n_off, cap_off;
	/* one plan */
	struct ftr_ddlr_plan *plan;
	uint32_t cap_write;
	uint32_t late_refused;	/* ways for packets of or to switches */
	uint8_t first_step;	/* less one: of writes from now on */
	uint8_t *in_plan;	/* [max_lid + 1] has a write */
	uint8_t *touched;	/* [n_sw] has a write */
	uint32_t *switches;	/* [n_sw] those */
	/* one LID */
	ftr_lid lid;
	const uint8_t *entry;	/* [n_sw] entries now, of g */
	ftr_sw exit_sw;		/* FTR_SW_NONE: nowhere */
	ftr_port exit_port;
	uint8_t *step_of;	/* [n_sw] step of its write in this plan, 0 */
	ftr_sw *stepped;	/* [n_sw] those with one */
	uint32_t n_stepped;
	bool clean_refused;	/* a clean way of hosts would close a cycle */
	uint8_t *avoid;		/* [n_sw] a way may not pass */
	uint32_t *carried;	/* [n_sw] of which search << 1 | hosts' packets */
	uint32_t search;
	/* breadth-first: [n_sw] each */
	ftr_sw *queue;
	uint32_t *from;		/* place in the queue of the one before */
	ftr_port *by;		/* port of the one before */
	uint8_t *seen;
	struct column_write *col;	/* [n_sw] scratch of lid_transition.c */
	uint32_t *col_of;	/* [n_sw] index + 1 */
};

/* ---- planner.c ---------------------------------------------------------- */

/* The switch behind that port, FTR_SW_NONE: none, or the cable is dead. */
static inline ftr_sw ddlr_next(const struct ftr_ddlr *r, ftr_sw s,
			       ftr_port port)
{
	return r->live_to[(size_t)s << 8 | port];
}

/* Is that port a cable to a living switch? */
static inline bool ddlr_live(const struct ftr_ddlr *r, ftr_sw s,
			     ftr_port port)
{
	return ddlr_next(r, s, port) != FTR_SW_NONE;
}

void ddlr_begin_plan(struct ftr_ddlr *r, struct ftr_ddlr_plan *plan);
void ddlr_end_plan(struct ftr_ddlr *r, enum ftr_status st);
/* Turn to a LID; it may have writes in this plan already. */
void ddlr_begin_lid(struct ftr_ddlr *r, ftr_lid lid);

/* Walk the entries now from s; false: does not arrive, or passes avoid[]. */
bool ddlr_arrives(const struct ftr_ddlr *r, ftr_sw s, uint32_t *hops,
		  uint8_t *last_step);
/* Hold the writes against the graph, then enter them into the plan.  made:
 * false if they would close a cycle. */
enum ftr_status ddlr_try(struct ftr_ddlr *r, const struct ftr_cdg_write *w,
			 uint32_t n, enum ftr_ddlr_how how, bool *made,
			 struct ftr_err *err);

/* ---- broken.c ------------------------------------------------------------ */

/* All that is broken; before that, if restore, entries as pushed come back, so
 * that steps of one LID are counted through. */
enum ftr_status repair_broken(struct ftr_ddlr *r, bool restore,
			      struct ftr_err *err);

/* ---- detour.c ---------------------------------------------------------- */

/* Mend the entry of s for the LID, over clean planes only or over any; healed:
 * false if nothing was found. */
enum ftr_status search_heal(struct ftr_ddlr *r, ftr_sw s, bool clean_only,
			    bool *healed, struct ftr_err *err);

#define CARRIED_DEPTH 32
bool search_carried(const struct ftr_ddlr *r, ftr_sw s, uint32_t depth);

/* ---- planes.c ---------------------------------------------------------- */

bool planes_new(struct ftr_ddlr *r);		/* false: no memory */
/* Does the detour lead to clean planes only, by the entries before it?  hard:
 * and out of those only that are not clean. */
bool planes_clean(const struct ftr_ddlr *r, const struct detour *d,
		  bool hard);
/* Enter its arcs. */
void planes_enter(struct ftr_ddlr *r, const struct detour *d);
/* Enter those of the LID's whole column. */
void planes_enter_column(struct ftr_ddlr *r);
void planes_clear(struct ftr_ddlr *r);

/* ---- lid_transition.c ---------------------------------------------------------- */

/*
 * r->col[0 .. n-1]: entries of the LID that shall change.  Gives them steps so
 * that every state arrives; those that would not are left out.  made: false if
 * it would close a cycle.
 */
enum ftr_status column_change(struct ftr_ddlr *r, uint32_t n,
			      enum ftr_ddlr_how how, bool *made,
			      struct ftr_err *err);

/* ---- table_transition.c -------------------------------------------------------- */

/* Entries of the LID that are off go back where orig has a way. */
enum ftr_status transition_restore(struct ftr_ddlr *r, ftr_lid lid,
				   struct ftr_err *err);

/* What the inverted order says on the damaged fabric, made when first asked. */
struct inverted {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	ftr_sw *of;		/* [n_sw] of the planner's switch, or NONE */
};
enum ftr_status transition_inverted(struct ftr_ddlr *r, struct inverted *v,
				    bool *healed, struct ftr_err *err);
void transition_inverted_fini(struct inverted *v);

#endif
