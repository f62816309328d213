/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The working state of a plan, shared by connect.c, need.c, next_hops.c, spread.c and
 * alike.c. connect.c explains the terms.
 */
#ifndef FTR_ENGINE_PLAN_H
#define FTR_ENGINE_PLAN_H

#include "engine/connect.h"
#include "engine/turns.h"

#define PLAN_STAGES 9		/* stages of a column, see connect.c */

/* The switches that must reach the host ports of a column: those with host ports, or all. */
enum { NEED_ENDS = 1, NEED_ALL = 2 };

/* Mode of a stage, see connect.c. */
enum { ALLOWED = 0, NEW = 1, ALL = 2, BOTH = 4, LONGER = 8 };

/* A step of a path to the column, from a switch to a neighbour. Lower keys are better. */
struct step {
	uint64_t key;		/* from the high bits to the low ones: number of new turns, number
				 * of hops, position of the neighbour in the order of gateways */
	ftr_sw sw;
	uint32_t channel;	/* channel from sw */
};

struct hop_list {		/* the next hops of a switch, as channels */
	uint32_t first, n;	/* plan.pool[first .. first + n - 1] */
	bool known;		/* true: the list is valid */
	bool some;		/* true: the list may differ from the candidates of equation (1) */
	bool longer;		/* true: the list may have next hops whose path is longer than the
				 * path by rank */
	bool used;		/* true: a path uses these next hops, so they are fixed for this
				 * column */
	uint32_t total;		/* number of hops from the switch to the column */
};

/* State of a switch. OPEN: no usable step from it is known. LABELLED: label[] has its best step so
 * far. CONNECTED: its path is part of the plan. */
enum { OPEN = 0, LABELLED, CONNECTED };

/* A column that one stage connected without a new turn, see alike.c. */
struct earlier_column {
	uint32_t l, n_extra;	/* number of the column; turns.n_extra when it was connected */
	unsigned int mode;
	bool distinct;		/* true: all first steps lead to different switches */
	const uint8_t *back;	/* plan.back of the column */
	struct step *step;	/* its first steps */
	uint32_t n_steps, cap_steps;
	uint32_t first, n;	/* its entries: out->entry[first .. first + n - 1] */
};

#define PLAN_EARLIER 16

struct plan {
	const struct ftr_shape *sh;
	const struct ftr_route_opts *opts;
	struct ftr_arena *arena;
	struct turns turns;
	uint32_t *island;	/* island[s]: island of s */
	uint32_t *ends, *lids;	/* ends[s]: number of host ports on s with a LID; lids[s]: number of
				 * their LIDs */
	uint8_t *need;		/* need[l]: NEED_... of column l */
	uint32_t *hub;		/* hub[s]: position of s in the order of gateways */
	/* The switches that need a path to column l are pair[pair_first[l]] .. pair[pair_first[l +
	 * 1] - 1]. */
	uint32_t *pair_first;	/* [n_sw + 1] */
	ftr_sw *pair;
	/* for the current column */
	uint32_t l;
	const uint8_t *back;	/* back[l]: cost from the switch of the current column to
				 * column l */
	unsigned int mode;
	uint32_t tries[PLAN_STAGES];	/* by stage: number of times that grow() may still fail, in
					 * all columns and passes together */
	bool looking;		/* true: first pass over the columns, which skips the second stage
				 * (see stages[] in connect.c) */
	bool spread;		/* true: give switches all next hops that the turns allow, see
				 * spread.c */
	/* state of the switches */
	uint8_t *state;		/* state[s]: OPEN, LABELLED or CONNECTED; OPEN between columns */
	uint8_t *needed;	/* needed[s]: s needs a path; 0 between columns */
	struct step *label;	/* label[s]: best step from s so far */
	struct hop_list *hops;	/* hops[s]: next hops of s; not known between columns */
	uint8_t *noted;		/* noted[s]: s is in touched; 0 between columns */
	/* [n_sw] each. touched: switches whose state must be reset after the column; connected:
	 * switches in state CONNECTED; path: scratch of admit_path() */
	ftr_sw *touched, *path, *connected;
	uint32_t n_touched, n_connected;
	uint32_t left;		/* number of switches that still need a path */
	uint32_t *pool;		/* the channels of all hop lists */
	uint32_t n_pool, cap_pool;
	struct step *heap;
	uint32_t n_heap, cap_heap;
	bool nomem;
	/* earlier: the latest columns that can be copied (ring buffer); steps: the first steps of
	 * the current column */
	struct earlier_column earlier[PLAN_EARLIER], steps;
	uint32_t n_earlier;	/* number of columns stored so far */
	bool one_stage;		/* true: one stage has connected this column, starting from `steps`,
				 * and has not copied the paths of an earlier column */
	/* the result, and the capacities of its arrays */
	struct connect *out;
	uint32_t cap_entries, n_via, cap_via;
	uint64_t pairs;
	bool complete;
	bool whole;		/* true: the caller discards an incomplete result */
	bool closed;		/* true: the latest column is incomplete although its last stage
				 * ended without a refused turn */
};

/* need.c.  False: out of memory.
 * plan_count_ends: count the host ports and LIDs of each switch; mark the needed columns.
 * plan_find_pairs: find the needed pairs.
 * plan_find_hubs: determine the order of gateways. */
void plan_count_ends(struct plan *p);
bool plan_find_pairs(struct plan *p) FTR_MUST_USE;
bool plan_find_hubs(struct plan *p) FTR_MUST_USE;

/* Hops of the path by rank from s to the column. The number is that of the opposite path, because
 * the row of the column's switch stays in the cache. Both paths exist or neither does. They have as
 * many hops, unless a switch that must route downward (<ftr/shape.h>) makes one of them longer. */
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

/* next_hops.c. plan_hops: the next hops of t, which is not the switch of the column; they are in
 * p->pool. plan_pool_add: add a channel to the pool; false: out of memory (p->nomem). */
const struct hop_list *plan_hops(struct plan *p, ftr_sw t);
bool plan_pool_add(struct plan *p, uint32_t c);

/* spread.c: give each switch that was connected all next hops that the turns allow. */
void plan_spread(struct plan *p);

/* alike.c. The first two are called while the heap holds those first steps of the column that need
 * no new turn.
 * plan_find_alike: an earlier column that can be copied, or NULL.
 * plan_note_steps: store these first steps; false: out of memory.
 * plan_keep_column: store a column that these first steps have connected; its entries
 * begin at out->entry[first]. */
const struct earlier_column *plan_find_alike(const struct plan *p);
bool plan_note_steps(struct plan *p) FTR_MUST_USE;
void plan_keep_column(struct plan *p, uint32_t first);
void plan_free_earlier(struct plan *p);

#endif
