/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of a plan of extra turns, shared by connect.c, need.c, next_hops.c and spread.c.
 * connect.c explains the method.
 *
 * A column is a switch as a destination.  An up/down path by rank follows the ranks of the shape.
 * A channel stands for all parallel links from a switch to a neighbour.  An extra turn usually
 * leads from a downward to an upward channel, at a gateway.
 */
#ifndef FTR_ENGINE_PLAN_H
#define FTR_ENGINE_PLAN_H

#include "engine/connect.h"
#include "engine/turns.h"

#define PLAN_STAGES 3

/* Which switches need a path to a column (a destination switch).  NEED_ENDS: all switches with host
 * ports.  NEED_ALL: all switches. */
enum { NEED_ENDS = 1, NEED_ALL = 2 };

/* Mode of a stage: it may add turns; it must add the opposite turns, too. */
enum { NEW = 1, BOTH = 2 };

/* The step of a path from switch sw over a channel to a neighbour. */
struct step {
	uint64_t key;		/* the lowest key is best; from high to low bits: number of new
				 * turns, number of hops, hub[] of the neighbour */
	ftr_sw sw;
	uint32_t channel;
};

struct hop_list {		/* next hops of a switch towards the present destination switch */
	uint32_t first, n;	/* channels pool[first .. first + n - 1] */
	bool known;		/* true: the list has been computed */
	uint32_t total;		/* number of hops from the switch to the destination */
};

/* States of a switch without an up/down path by rank to the present destination.  OPEN: no usable
 * step is known.  LABELLED: label[] is the best step so far.  CONNECTED: a path is planned. */
enum { OPEN = 0, LABELLED, CONNECTED };

struct plan {
	const struct ftr_shape *sh;
	const struct ftr_route_opts *opts;
	struct ftr_arena *arena;
	struct turns turns;
	/* need.c: which switches need paths. */
	struct {
		uint32_t *island;	/* [n_sw] */
		/* ends[s]: number of host ports with a LID on switch s; lids[s]: number of their
		 * LIDs */
		uint32_t *ends, *lids;
		uint8_t *need;		/* need[l]: NEED_... of column l */
		uint32_t *hub;		/* hub[s]: number of switches that are better gateways
					 * than s */
		/* pair[pair_first[l]] .. pair[pair_first[l + 1] - 1]: the switches that need a path
		 * to column l, but have no up/down path by rank */
		uint32_t *pair_first;	/* [n_sw + 1] */
		ftr_sw *pair;
	} needs;
	/* for the current column (the present destination switch) */
	uint32_t l;
	const uint8_t *back;	/* back[l]: cost from the current column's switch to column l */
	unsigned int mode;
	uint32_t tries[PLAN_STAGES];	/* tries[i]: number of times that stage i may still fail */
	bool spread;		/* true: give switches several next hops (spread.c) */
	/* arrays by switch, for the current column */
	uint8_t *state;		/* OPEN, LABELLED or CONNECTED; OPEN between columns */
	uint8_t *needed;	/* 1: the switch needs a path; 0 between columns */
	struct step *label;	/* best step so far */
	struct hop_list *hops;	/* next hops; hops[s].known is false between columns */
	uint8_t *noted;		/* 1: the switch is in touched[]; 0 between columns */
	/* lists of switches.  touched: their state is reset after the column; path: scratch of
	 * admit_path(); connected: switches in state CONNECTED */
	ftr_sw *touched, *path, *connected;
	uint32_t n_touched, n_connected;
	uint32_t left;		/* number of switches that still need a path */
	uint32_t *pool;		/* the channels of all hop lists */
	uint32_t n_pool, cap_pool;
	struct step *heap;
	uint32_t n_heap, cap_heap;
	bool nomem;
	bool whole;		/* true: the caller discards an incomplete result */
	/* connect.c: the result, and the capacities of its arrays. */
	struct {
		struct connect *out;
		uint32_t cap_entries, n_via, cap_via;
		uint64_t pairs;
		bool complete;
		bool closed;		/* true: some switches that need a path to the last
					 * column have none, although its last stage refused
					 * no turn */
	} found;
};

/* need.c.  plan_find_pairs() and plan_find_hubs() return false if out of memory.
 * plan_count_ends: fill ends[], lids[] and need[].
 * plan_find_pairs: fill pair_first[] and pair[].
 * plan_find_hubs: fill hub[]. */
void plan_count_ends(struct plan *p);
bool plan_find_pairs(struct plan *p) FTR_MUST_USE;
bool plan_find_hubs(struct plan *p) FTR_MUST_USE;

/* The number of hops of the up/down path by rank from s to the destination.  The function reads the
 * cost of the path from the destination to s, because the costs of these opposite paths are in one
 * row.  If one of the two paths exists, the other one exists, too.  Both have the same number of
 * hops, unless a switch must route downward (<ftr/shape.h>). */
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

/* next_hops.c.
 * plan_hops: the next hops of t, which must not be the destination switch.
 * plan_pool_add: append channel c to p->pool.  If out of memory, set p->nomem and return false. */
const struct hop_list *plan_hops(struct plan *p, ftr_sw t);
bool plan_pool_add(struct plan *p, uint32_t c);

/* spread.c: add next hops to the switches in state CONNECTED. */
void plan_spread(struct plan *p);

#endif
