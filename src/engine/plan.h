/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The working state of a plan, shared by connect.c, need.c, next_hops.c, spread.c and
 * alike.c.
 */
#ifndef FTR_ENGINE_PLAN_H
#define FTR_ENGINE_PLAN_H

#include "engine/connect.h"
#include "engine/turns.h"

#define PLAN_STAGES 9		/* of a column, connect.c */

/* Which switches must reach the end ports of a column: those with end ports, or all. */
enum { NEED_ENDS = 1, NEED_ALL = 2 };

/* Modes of a stage (connect.c). */
enum { ALLOWED = 0, NEW = 1, ALL = 2, BOTH = 4, LONGER = 8 };

struct step {
	uint64_t key;		/* new turns, hops, place of the gateway */
	ftr_sw sw;
	uint32_t channel;	/* out of sw */
};

struct hop_list {		/* next hops of a switch, as channels */
	uint32_t first, n;	/* in plan.pool */
	bool known;		/* first and n are set */
	bool some;		/* some candidates are left out */
	bool longer;		/* next hops with a longer path than by rank are included */
	bool used;		/* a path uses them: they stay for this column */
	uint32_t total;		/* hops to the column (spread.c) */
};

enum { OPEN = 0, LABELLED, CONNECTED };

/* An earlier column that a single stage connected without a new turn.  Similar columns copy its
 * paths (alike.c). */
struct like {
	uint32_t l, n_extra;
	unsigned int mode;
	bool apart;		/* first steps lead to different switches */
	const uint8_t *back;
	struct step *step;	/* first steps */
	uint32_t n_steps, cap_steps;
	uint32_t first, n;	/* in out->entry */
};

#define PLAN_LIKES 16

struct plan {
	const struct ftr_shape *sh;
	const struct ftr_route_opts *opts;
	struct ftr_arena *arena;
	struct turns turns;
	uint32_t *island;	/* [n_sw] */
	uint32_t *ends, *lids;	/* [n_sw] end ports with a LID, their LIDs */
	uint8_t *need;		/* [n_sw] by column, NEED_... */
	uint32_t *hub;		/* [n_sw] position in the order of gateways */
	/* needed pairs by column */
	uint32_t *pair_first;	/* [n_sw + 1] */
	ftr_sw *pair;
	/* of the column */
	uint32_t l;
	const uint8_t *back;	/* costs from its switch to all columns */
	unsigned int mode;
	uint32_t tries[PLAN_STAGES];	/* remaining failures allowed in all columns */
	bool looking;		/* first pass: turns are still being found */
	bool spread;		/* over all next hops that the turns allow (spread.c) */
	/* at rest: between two columns */
	uint8_t *state;		/* [n_sw] OPEN at rest */
	uint8_t *needed;	/* [n_sw] 0 at rest */
	struct step *label;	/* [n_sw] */
	struct hop_list *hops;	/* [n_sw] not known at rest */
	uint8_t *noted;		/* [n_sw] 1: the switch is in touched; 0 at rest */
	ftr_sw *touched, *path, *connected;	/* [n_sw] */
	uint32_t n_touched, n_connected, left;
	uint32_t *pool;
	uint32_t n_pool, cap_pool;
	struct step *heap;
	uint32_t n_heap, cap_heap;
	bool nomem;
	/* like: earlier columns, the oldest is overwritten; steps: first steps of this column */
	struct like like[PLAN_LIKES], steps;
	uint32_t n_likes;	/* columns kept so far */
	bool alone;		/* one stage connected this column, starting from `steps`, and
				 * did not copy the paths of an earlier column */
	/* results */
	struct connect *out;
	uint32_t cap_entries, n_via, cap_via;
	uint64_t pairs;
	bool complete;
	bool whole;		/* an incomplete result is discarded */
	bool closed;		/* the column is incomplete although its last stage ended
				 * without a refused turn */
};

/* need.c.  False: out of memory.
 * plan_count_ends: count the end ports and LIDs of each switch; mark the needed columns.
 * plan_find_pairs: find the needed pairs without a path.
 * plan_find_hubs: determine the order of gateways. */
void plan_count_ends(struct plan *p);
bool plan_find_pairs(struct plan *p) FTR_MUST_USE;
bool plan_find_hubs(struct plan *p) FTR_MUST_USE;

/* Hops from s to the column by rank. They equal those of the opposite direction, and
 * one row then holds the values for all s and stays in the cache. */
static inline uint8_t plan_cost(const struct plan *p, ftr_sw s)
{
	return p->back[p->sh->numbering.col[s]];
}

static inline bool plan_by_rank(const struct plan *p, ftr_sw s)
{
	return plan_cost(p, s) != FTR_COST_INF;
}

static inline void plan_touch(struct plan *p, ftr_sw s)
{
	if (!p->noted[s])
		p->touched[p->n_touched++] = s;
	p->noted[s] = 1;
}

/* next_hops.c: the next hops of t towards the column, which is not that of t, in
 * p->pool.  plan_pool_add: add one to the pool; false: out of memory (p->nomem). */
const struct hop_list *plan_hops(struct plan *p, ftr_sw t);
bool plan_pool_add(struct plan *p, uint32_t c);

/* spread.c: give the switches that were connected all next hops that the turns allow. */
void plan_spread(struct plan *p);

/* alike.c.  The first two are called while the heap holds the possible first steps of the
 * column over turns that are allowed already.
 * plan_find_alike: an earlier column that can be copied, or NULL.
 * plan_note_steps: store these first steps; false: out of memory.
 * plan_keep_column: store a column that these first steps have connected; its entries begin
 * at `first`. */
const struct like *plan_find_alike(const struct plan *p);
bool plan_note_steps(struct plan *p) FTR_MUST_USE;
void plan_keep_column(struct plan *p, uint32_t first);
void plan_free_likes(struct plan *p);

#endif
