/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Plans paths with extra turns, for pairs of switches without an up/down path by rank.  connect.c
 * explains the method.
 */
#ifndef FTR_ENGINE_CONNECT_H
#define FTR_ENGINE_CONNECT_H

#include "engine/engine.h"

/* The next hops of switch sw, which has no up/down path to column col (a destination switch), are
 * the neighbours via[first .. first + n - 1]. */
struct connect_entry {
	ftr_sw sw;
	uint32_t col;
	uint32_t first, n;
};

/*
 * How a plan of extra turns uses horizontal links:
 *
 * UP_DOWN	not at all
 * ACROSS	if horizontal links join trees of switches, turns from tree to tree are allowed
 *		from the start (across.c).  Other turns are added one by one as needed
 * ANY		all turns are added one by one as needed
 */
enum connect_links { CONNECT_UP_DOWN = 0, CONNECT_ACROSS, CONNECT_ANY, CONNECT_N_LINKS };

struct connect {
	enum connect_links links;
	uint32_t n_turns;
	struct ftr_turn *turn;		/* sorted by (from, at, to) */
	uint32_t n_entries;
	struct connect_entry *entry;	/* sorted by (col, sw) */
	ftr_sw *via;
	uint64_t pairs;		/* number of pairs (host port, LID of a host port) that extra turns
				 * connect */
	bool complete;		/* true: every pair that needs a path has one */
	bool horizontal;	/* true: some entries lead onto horizontal links */
};

/*
 * Plan the extra turns and entries for sh, whose costs must be those of up/down routing by
 * sh->tree.rank.  Of *out, only `links` is read.  The turns opts->turn are added first, unless they close a cycle.  The result
 * lives in arena.  If out->complete is false, the entries are valid, but some pairs have no path.
 * whole: the caller discards an incomplete result, so stop as soon as the result is certain to be
 * incomplete.  Errors: FTR_NOMEM.
 */
enum ftr_status connect_plan(const struct ftr_shape *sh,
			     const struct ftr_route_opts *opts, bool whole,
			     struct ftr_arena *arena, struct connect *out,
			     struct ftr_err *err) FTR_MUST_USE;

/* Set cand[] to the port groups that lead to the next hops of entry e, sorted by the member `pos`.
 * Returns their number. */
uint32_t connect_candidates(const struct ftr_shape *sh,
			    const struct connect *c,
			    const struct connect_entry *e,
			    const struct ftr_group **cand);

/* The entry of switch s for column l (a destination switch); NULL: the plan has none. */
const struct connect_entry *connect_find(const struct connect *c, ftr_sw s,
					 uint32_t l);

/* Set cand[] to the port groups that the entry of s for column l may use, sorted by the member
 * `pos`: those of the plan c if it has the entry (*by_turn is then true), otherwise those by cost
 * (ftr_shape_candidates).  c may be NULL.  Returns their number. */
uint32_t connect_allowed(const struct ftr_shape *sh, const struct connect *c, ftr_sw s,
			 uint32_t l, const struct ftr_group **cand, bool *by_turn);

/* The port that an entry keeps: the preferred port, or else the present one, if it is allowed.
 * FTR_PORT_NONE: neither is allowed, and a port must be chosen. */
ftr_port connect_kept(const uint64_t *allowed, ftr_port prefer, ftr_port now);

/* Compare turns by (from, at, to), for qsort() and bsearch(). */
int connect_turn_cmp(const void *x, const void *y);

#endif
