/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths for pairs without an up/down path by rank, see connect.c.
 */
#ifndef FTR_ENGINE_CONNECT_H
#define FTR_ENGINE_CONNECT_H

#include "engine/engine.h"

/* Switch sw routes column col to the neighbours via[first .. first + n - 1]. */
struct connect_entry {
	ftr_sw sw;
	uint32_t col;
	uint32_t first, n;
	bool restricted;	/* sw has an up/down path, but a stage (see connect.c) has replaced
				 * its next hops */
};

/*
 * The horizontal links that a plan may use:
 *
 * UP_DOWN	none
 * ACROSS	all.  Turns of up/down routing between trees that are joined by horizontal links are
 *		allowed from the start (across.c).  Other turns are admitted one at a time.
 * ANY		all.  Turns are admitted one at a time.
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
	uint64_t longer;	/* number of pairs with an up/down path that use a longer path
				 * because one host port is on a gateway */
	bool any_longer;	/* some entries lead along such longer paths; may be true although
				 * `longer` is 0 */
	bool complete;		/* every needed pair has a path */
	bool horizontal;	/* some entries lead onto horizontal links */
};

/*
 * Plan the extra turns and entries for sh, whose costs must be those of up/down routing by
 * sh->tree.rank.  The turns opts->turn are admitted first.  The result lives in arena.  If the
 * result is not complete, its entries are valid, but some pairs have no path.  whole: the caller
 * discards an incomplete result, so stop as soon as the result is certain to be incomplete.
 * Errors: FTR_NOMEM.
 */
enum ftr_status connect_plan(const struct ftr_shape *sh,
			     const struct ftr_route_opts *opts,
			     enum connect_links links, bool whole,
			     struct ftr_arena *arena, struct connect *out,
			     struct ftr_err *err) FTR_MUST_USE;

/* Set cand[] to the port groups towards the neighbours of entry e, sorted by pos.  Returns their
 * number. */
uint32_t connect_candidates(const struct ftr_shape *sh,
			    const struct connect *c,
			    const struct connect_entry *e,
			    const struct ftr_group **cand);

/* The entry of switch s for column l, or NULL. */
const struct connect_entry *connect_find(const struct connect *c, ftr_sw s,
					 uint32_t l);

/* Compare turns by (from, at, to), for qsort() and bsearch(). */
int connect_turn_cmp(const void *x, const void *y);

#endif
