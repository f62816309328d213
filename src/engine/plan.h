/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of a plan of extra turns, shared by connect.c, need.c, next_hops.c, spread.c and
 * alike.c.  connect.c explains the terms.
 */
#ifndef FTR_ENGINE_PLAN_H
#define FTR_ENGINE_PLAN_H

#include "engine/connect.h"
#include "engine/turns.h"

#define PLAN_STAGES 9

/* Which switches must reach the host ports of a column: those with host ports, or all. */
enum { NEED_ENDS = 1, NEED_ALL = 2 };

/* Modes of a stage, see connect.c. */
enum { ALLOWED = 0, NEW = 1, ALL = 2, BOTH = 4, LONGER = 8 };

/* A step of a path to the column, from switch sw over a channel.  The lowest key is best. */
struct step {
	uint64_t key;		/* from high to low bits: new turns, hops, position of the neighbour
				 * in the order of gateways */
	ftr_sw sw;
	uint32_t channel;
};

struct hop_list {		/* next hops of a switch, as channels */
	uint32_t first, n;	/* pool[first .. first + n - 1] */
	bool known;		/* the list is valid */
	bool some;		/* may differ from the candidates of equation (1) */
	bool longer;		/* may have paths longer than the path by rank */
	bool used;		/* used by a path, so fixed for this column */
	uint32_t total;		/* number of hops to the column */
};

/* States of a switch.  OPEN: no usable step is known.  LABELLED: label[] has the best step so far.
 * CONNECTED: its path is part of the plan. */
enum { OPEN = 0, LABELLED, CONNECTED };

/* A column that was connected in one stage without a new turn, see alike.c. */
struct earlier_column {
	uint32_t l, n_extra;	/* l: the column; n_extra: turns.n_extra at that time */
	unsigned int mode;
	bool distinct;		/* all first steps lead to different switches */
	const uint8_t *back;
	struct step *step;	/* first steps */
	uint32_t n_steps, cap_steps;
	uint32_t first, n;	/* out->entry[first .. first + n - 1] */
};

#define PLAN_EARLIER 16

struct plan {
	const struct ftr_shape *sh;
	const struct ftr_route_opts *opts;
	struct ftr_arena *arena;
	struct turns turns;
	uint32_t *island;	/* [n_sw] */
	uint32_t *ends, *lids;	/* [n_sw] number of host ports with a LID, and of their LIDs */
	uint8_t *need;		/* need[l]: NEED_... of column l */
	uint32_t *hub;		/* hub[s]: position of s in the order of gateways */
	/* pair[pair_first[l]] .. pair[pair_first[l + 1] - 1]: the switches that need a path to
	 * column l */
	uint32_t *pair_first;	/* [n_sw + 1] */
	ftr_sw *pair;
	/* for the current column */
	uint32_t l;
	const uint8_t *back;	/* back[l]: cost from the current column's switch to column l */
	unsigned int mode;
	uint32_t tries[PLAN_STAGES];	/* by stage: number of times that grow() may still fail */
	bool looking;		/* first pass: skip the second stage (see stages[] in connect.c) */
	bool spread;		/* use all next hops that the turns allow, see spread.c */
	/* by switch */
	uint8_t *state;		/* OPEN, LABELLED or CONNECTED; OPEN between columns */
	uint8_t *needed;	/* the switch needs a path; 0 between columns */
	struct step *label;	/* best step so far */
	struct hop_list *hops;	/* unknown between columns */
	uint8_t *noted;		/* the switch is in touched; 0 between columns */
	/* [n_sw] touched: to be reset after the column; path: scratch of admit_path() */
	ftr_sw *touched, *path, *connected;
	uint32_t n_touched, n_connected;
	uint32_t left;		/* number of switches that still need a path */
	uint32_t *pool;		/* channels of all hop lists */
	uint32_t n_pool, cap_pool;
	struct step *heap;
	uint32_t n_heap, cap_heap;
	bool nomem;
	/* earlier: ring buffer of columns that can be copied; steps: the current column */
	struct earlier_column earlier[PLAN_EARLIER], steps;
	uint32_t n_earlier;	/* number of columns stored so far */
	bool one_stage;		/* one stage has connected this column, without a copy */
	/* the result, and the capacities of its arrays */
	struct connect *out;
	uint32_t cap_entries, n_via, cap_via;
	uint64_t pairs;
	bool complete;
	bool whole;		/* the caller discards an incomplete result */
	bool closed;		/* the last column is incomplete, but its last stage refused no
				 * turn */
};

/* need.c.  The functions return false if out of memory.
 * plan_count_ends: count the host ports and LIDs of each switch; find the needed columns.
 * plan_find_pairs: find the needed pairs.
 * plan_find_hubs: determine the order of gateways. */
void plan_count_ends(struct plan *p);
bool plan_find_pairs(struct plan *p) FTR_MUST_USE;
bool plan_find_hubs(struct plan *p) FTR_MUST_USE;

/* Hops of the path by rank from s to the column.  The cost of the opposite path is read, because
 * its row stays in the cache.  Both paths exist, or neither.  Their lengths differ only if a switch
 * must route downward (see <ftr/shape.h>). */
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

/* next_hops.c.  plan_hops: the next hops of t, which must not be the switch of the column.
 * plan_pool_add: returns false if out of memory (p->nomem). */
const struct hop_list *plan_hops(struct plan *p, ftr_sw t);
bool plan_pool_add(struct plan *p, uint32_t c);

/* spread.c: give each connected switch all next hops that the turns allow. */
void plan_spread(struct plan *p);

/* alike.c.  For the first two functions the heap must hold the first steps without a new turn.
 * plan_find_alike: an earlier column that can be copied, or NULL.
 * plan_note_steps: store these first steps.  Returns false if out of memory.
 * plan_keep_column: store the column that these first steps have connected.  Its entries begin at
 * out->entry[first]. */
const struct earlier_column *plan_find_alike(const struct plan *p);
bool plan_note_steps(struct plan *p) FTR_MUST_USE;
void plan_keep_column(struct plan *p, uint32_t first);
void plan_free_earlier(struct plan *p);

#endif
