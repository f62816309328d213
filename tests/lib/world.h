/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For tests of incremental routing: a fabric whose links fail and are repaired.  The test
 * records the dead links itself, and computes the same costs and tables by a slow
 * algorithm.
 */
#ifndef FTR_TEST_WORLD_H
#define FTR_TEST_WORLD_H

#include "base/base.h"
#include <ftr/ftr.h>

struct world {
	uint64_t seed;
	struct ftr_rng rng;
	struct ftr_fabric *f;		/* the fabric with all links */
	struct ftr_shape *whole;	/* the shape of f, which is the nominal shape */
	struct ftr_fabric *damaged;	/* f without the links that are missing at the start; NULL:
					 * none is missing */
	struct ftr_shape *over;		/* the shape of `damaged`, made with `whole`; or NULL */
	struct ftr_shape *order;	/* the shape in the order of sftree (the inverted order), or
					 * NULL */
	const struct ftr_shape *sh;	/* the shape of the incremental routing */
	struct ftr_route_opts opts;
	struct ftr_tables *t;
	struct ftr_incr *lv;
	uint8_t *dead;			/* [n_ports] 1: the link is dead (the test's own record) */
};

/* Faster than ck_assert_msg() of Check, which records each assertion that holds. */
#define must(cond, ...)							\
	do {								\
		if (!(cond))						\
			ck_abort_msg(__VA_ARGS__);			\
	} while (0)

#define for_each_world(w, runs)						\
	for (struct world w = { .seed = trees_first_seed() };		\
	     w.seed < trees_first_seed() + trees_runs(runs) &&		\
	     (ftr_rng_seed(&w.rng, w.seed), true); w.seed++)

/* Set w->f: a small tree, a random graph, or leaves below one chassis or two. */
void world_tree(struct world *w, uint32_t max_sw, bool damaged);
void world_graph(struct world *w, uint32_t max_sw);
void world_chassis(struct world *w, bool damaged);

/* Set all other members of w.  WORLD_LATE: some links are missing at the start.  WORLD_INVERTED:
 * the shape has the order of switches of sftree (the inverted order). */
enum world_kind { WORLD_WHOLE, WORLD_LATE, WORLD_INVERTED };
void world_start(struct world *w, enum world_kind kind);
void world_stop(struct world *w);

/* world_events() writes random events to e and returns their number.  e needs room for world_room()
 * events.  world_note() records n events in w->dead. */
size_t world_room(const struct world *w);
uint32_t world_events(struct world *w, struct ftr_incr_event *e);
void world_note(struct world *w, const struct ftr_incr_event *e, uint32_t n);

/* Abort if dead links, costs, tables or the number of unreachable pairs of leaves are not those of
 * the slow computation. */
void world_check(const struct world *w);

void world_copy_tables(struct ftr_tables *to, const struct ftr_tables *from);
struct ftr_tables *world_copy_of_tables(const struct ftr_fabric *f, const struct ftr_tables *from);

#endif
