/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric whose cables come and go, for tests of the live routing: the live
 * routing itself, what is dead by the test's own book, and the slow way to the
 * same costs and tables.
 */
#ifndef FTR_TEST_WORLD_H
#define FTR_TEST_WORLD_H

#include "core/core.h"
#include <ftr/ftr.h>

struct world {
	uint64_t seed;
	struct ftr_rng rng;
	struct ftr_fabric *f;		/* with all cables */
	struct ftr_shape *whole;	/* of f, the nominal one */
	struct ftr_fabric *damaged;	/* as it was at the start, or NULL */
	struct ftr_shape *over;		/* of hurt over whole, or NULL */
	struct ftr_shape *order;	/* reordered, or NULL */
	const struct ftr_shape *sh;	/* the one that is followed */
	struct ftr_route_opts opts;
	struct ftr_tables *t;
	struct ftr_incr *lv;
	uint8_t *dead;			/* [n_ports] */
};

/* ck_assert_msg sends a message each time, too much for inner loops. */
#define must(cond, ...)							\
	do {								\
		if (!(cond))						\
			ck_abort_msg(__VA_ARGS__);			\
	} while (0)

#define for_each_world(w, runs)						\
	for (struct world w = { .seed = trees_first_seed() };		\
	     w.seed < trees_first_seed() + trees_runs(runs) &&		\
	     (ftr_rng_seed(&w.rng, w.seed), true); w.seed++)

/* w->f: a small tree, leaves under a chassis, or any graph. */
void world_tree(struct world *w, uint32_t max_sw, bool damaged);
void world_graph(struct world *w, uint32_t max_sw);
void world_chassis(struct world *w, bool damaged);

/* Everything else.  WORLD_LATE: some cables are absent at the start.
 * WORLD_INVERTED: over an order that is not that of ranks. */
enum world_kind { WORLD_WHOLE, WORLD_LATE, WORLD_INVERTED };
void world_start(struct world *w, enum world_kind kind);
void world_stop(struct world *w);

/* Random events into e (room for world_room()); the book follows with _note. */
size_t world_room(const struct world *w);
uint32_t world_events(struct world *w, struct ftr_incr_event *e);
void world_note(struct world *w, const struct ftr_incr_event *e, uint32_t n);

/* Abort if costs, tables and counts are not those of the slow way. */
void world_check(const struct world *w);

void world_copy_tables(struct ftr_tables *to, const struct ftr_tables *from);

#endif
