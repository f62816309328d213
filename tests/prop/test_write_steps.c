// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Incremental routing divides the changed entries into write steps.  This test writes the
 * entries of each step one at a time, in random order.  After each entry, it follows the path
 * from every switch.  The final tables must be those of the incremental routing.  Some steps
 * begin with a drain: a wait until all packets that follow older entries have left the fabric.
 *
 * A failed test prints its seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the
 * number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/trees.h"
#include "lib/world.h"

static struct ftr_err err;

enum fate { GOOD, BAD, LOOP };

static enum fate walk(const struct world *w, const struct ftr_tables *t,
		      ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &w->f->owner[lid];

	for (uint32_t hops = 0; hops <= w->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(t, s, lid);
		const struct ftr_swport *port;

		if (p == 0)
			return o->kind == FTR_OWNER_SW && o->idx == s ?
				GOOD : BAD;
		if (p > w->f->sw[s].n_ports)
			return BAD;
		port = ftr_fabric_port(w->f, s, p);
		if (port->peer_kind == FTR_PEER_EP)
			return o->kind == FTR_OWNER_EP &&
				o->idx == port->peer ? GOOD : BAD;
		if (port->peer_kind != FTR_PEER_SW ||
		    w->dead[w->f->sw[s].first_port + p])
			return BAD;
		s = port->peer;
	}
	return LOOP;
}

/* The tables while they are written, and older tables that packets in buffers may have followed. */
struct writing {
	struct world *w;
	const struct ftr_incr_result *r;
	struct ftr_tables *old;		/* the tables before ftr_incr_apply() */
	struct ftr_tables *now;
	struct ftr_tables *late;	/* the tables at the last drain */
};

static bool link_up(const struct world *w, ftr_sw s, ftr_port p, ftr_sw *to,
		    bool *up)
{
	const struct ftr_swport *port;

	if (p == 0 || p > w->f->sw[s].n_ports)
		return false;
	port = ftr_fabric_port(w->f, s, p);
	if (port->peer_kind != FTR_PEER_SW ||
	    w->dead[w->f->sw[s].first_port + p])
		return false;
	*to = port->peer;
	*up = w->sh->tree.rank[*to] > w->sh->tree.rank[s];
	return true;
}

/* Returns true if x routes downward to y, by its present entry or that at the last drain. */
static bool pours(const struct writing *z, ftr_sw x, ftr_sw y, ftr_lid lid)
{
	const struct ftr_tables *of[] = { z->now, z->late };

	for (int i = 0; i < 2; i++) {
		ftr_sw to;
		bool up;

		if (link_up(z->w, x, ftr_tables_get(of[i], x, lid), &to,
			    &up) && !up && to == y)
			return true;
	}
	return false;
}

static bool turns_up(const struct writing *z, ftr_sw y, ftr_lid lid)
{
	const struct ftr_tables *of[] = { z->now, z->late };

	for (int i = 0; i < 2; i++) {
		ftr_sw to;
		bool up;

		if (link_up(z->w, y, ftr_tables_get(of[i], y, lid), &to,
			    &up) && up)
			return true;
	}
	return false;
}

/* Returns true if the path ends at a switch whose entry had to be removed first, because the old
 * entry led downward to a switch that now routes upward.  This happens only with an inverted order
 * of the switches (w->order). */
static bool had_to_break(const struct writing *z, ftr_sw s, ftr_lid lid)
{
	ftr_sw to = s;
	bool up;

	while (link_up(z->w, s, ftr_tables_get(z->now, s, lid), &to, &up))
		s = to;
	return z->w->order &&
		ftr_tables_get(z->now, s, lid) == FTR_PORT_NONE &&
		link_up(z->w, s, ftr_tables_get(z->old, s, lid), &to, &up) &&
		!up && link_up(z->w, to,
			       ftr_tables_get(ftr_incr_tables(z->w->lv), to,
					      lid), &to, &up) && up;
}

static void after_one_write(struct writing *z, const struct ftr_change *c)
{
	struct world *w = z->w;

	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		enum fate is = walk(w, z->now, s, c->lid);

		must(is != LOOP, "seed %" PRIu64
		     ": a loop from switch %u to LID %u while switch %u is written",
		     w->seed, s, c->lid, c->sw);
		must(is == GOOD || walk(w, z->old, s, c->lid) != GOOD ||
		     walk(w, ftr_incr_tables(w->lv), s, c->lid) != GOOD ||
		     had_to_break(z, s, c->lid),
		     "seed %" PRIu64
		     ": switch %u has no path to LID %u while switch %u is written",
		     w->seed, s, c->lid, c->sw);
	}
	for (ftr_sw x = 0; x < w->f->n_sw; x++)
		must(!pours(z, x, c->sw, c->lid) ||
		     !turns_up(z, c->sw, c->lid), "seed %" PRIu64
		     ": switch %u routes downward to switch %u, which routes upward to LID %u",
		     w->seed, x, c->sw, c->lid);
}

static void write_one_step(struct writing *z, uint32_t write_step)
{
	const struct ftr_incr_result *r = z->r;
	uint32_t *perm = malloc((r->n_changes + 1) * sizeof(*perm));

	if (write_step >= r->first_drain)
		world_copy_tables(z->late, z->now);
	ftr_rng_perm(&z->w->rng, perm, r->n_changes);
	for (uint32_t i = 0; i < r->n_changes; i++) {
		const struct ftr_change *c = &r->change[perm[i]];

		if (c->step != write_step)
			continue;
		must(ftr_tables_get(z->now, c->sw, c->lid) == c->before,
		     "seed %" PRIu64 ": the old entry of a change is wrong",
		     z->w->seed);
		ftr_tables_row(z->now, c->sw)[c->lid] = c->after;
		after_one_write(z, c);
	}
	free(perm);
}

static void try_writes(struct world *w, const struct ftr_incr_result *r,
		       const struct ftr_tables *before)
{
	struct writing z = { .w = w, .r = r };

	ck_assert(!ftr_tables_new(w->f, false, &z.old, &err));
	ck_assert(!ftr_tables_new(w->f, false, &z.now, &err));
	ck_assert(!ftr_tables_new(w->f, false, &z.late, &err));
	world_copy_tables(z.old, before);
	world_copy_tables(z.now, before);
	world_copy_tables(z.late, before);
	for (uint32_t s = 0; s < r->n_write_steps; s++)
		write_one_step(&z, s);
	ck_assert(!memcmp(z.now->lft, ftr_incr_tables(w->lv)->lft,
			  (size_t)z.now->n_sw * z.now->stride));
	ftr_tables_free(z.old);
	ftr_tables_free(z.now);
	ftr_tables_free(z.late);
}

static uint64_t drains;

static void one_apply(struct world *w)
{
	struct ftr_incr_event *e = malloc(world_room(w) * sizeof(*e));
	const struct ftr_incr_result *r;
	struct ftr_tables *before;
	uint32_t n = world_events(w, e);

	ck_assert(!ftr_tables_new(w->f, false, &before, &err));
	world_copy_tables(before, ftr_incr_tables(w->lv));
	world_note(w, e, n);
	ck_assert_msg(!ftr_incr_apply(w->lv, e, n, &r, &err), "%s",
		      err.msg);
	drains += r->n_drain;
	try_writes(w, r, before);
	ftr_tables_free(before);
	free(e);
}

START_TEST(writes_in_trees_are_safe)
{
	for_each_world(w, 240) {
		world_tree(&w, 24, w.seed % 3);
		world_start(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE);
		drains = 0;
		for (int i = 0; i < 8; i++)
			one_apply(&w);
		/* in a complete PGFT no write waits for a drain */
		must(w.seed % 3 || !drains, "seed %" PRIu64 ": %" PRIu64
		     " entries wait for a drain", w.seed, drains);
		world_stop(&w);
	}
}
END_TEST

START_TEST(writes_in_any_graph_are_safe)
{
	drains = 0;
	for_each_world(w, 1000) {
		world_graph(&w, 16);
		world_start(&w, (enum world_kind)(w.seed % 3));
		for (int i = 0; i < 10; i++)
			one_apply(&w);
		world_stop(&w);
	}
	/* drains must occur in some fabrics */
	runs_show(drains > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("write steps");
	TCase *t = tcase_create("write steps");

	tcase_add_test(t, writes_in_trees_are_safe);
	tcase_add_test(t, writes_in_any_graph_are_safe);
	suite_add_tcase(s, t);
	return run_suite(s);
}
