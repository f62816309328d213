// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path and OpenSM with random events at random moments: faults, repairs, traps
 * without a reason, reroutes (a console command of OpenSM), and packets that come too late or
 * overtake each other.  FTR_SEED=N begins with seed N.
 *
 * Whenever the plugin and OpenSM are idle, each block of OpenSM's copy of the tables must equal the
 * block of the switch, or the next sweep must write it.  In addition, the tables must connect all
 * hosts that working links connect (for ddlr: the tables must have no loop), if
 * - the next sweep has no block to write,
 * - OpenSM itself lost no packet,
 * - all switches could report the state of their links,
 * - no trap was left to OpenSM (the plugin leaves traps to OpenSM after a reroute that lost
 *   packets), and
 * - no link comes up again in this run.  (Such a link carries no data for one or two sweeps.)
 * At the end, when no sweep is requested, the tables must connect these hosts in any case.
 *
 * Rare events, such as a routing while a repair reads its switches, have their own tests in
 * test_fast_race.c.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define EVENTS_MAX 5
#define SWEEPS_MAX 6

struct game {
	struct ftr_rng rng;
	struct ftr_rng fate;
	unsigned int slow;	/* percentage of slow packets */
	atomic_int hold;	/* 1: hold back answers to Gets of port states */
	unsigned int left;	/* number of events still to come */
	bool returns;		/* links that failed can come up again */
	void (*check)(struct fake *h);
};

static void delays(void *ctx, const struct fake_packet *p,
		   struct fake_fate *fate)
{
	struct game *g = ctx;

	if (ftr_rng_below(&g->fate, 100) < g->slow)
		fate->delay_ms = ftr_rng_below(&g->fate, 300) / 100.0;
	if (ftr_rng_below(&g->fate, 100) < g->slow)
		fate->back_ms = ftr_rng_below(&g->fate, 300) / 100.0;
	fate->hold = p->plugin && !p->set && p->mod && atomic_load(&g->hold);
}

static void let_go(struct game *g, struct fake *h)
{
	atomic_store(&g->hold, false);
	fake_release(h);
	fake_set_fate(h, delays, g);
}

static void toggle_link(struct game *g, struct fake *h, bool up)
{
	const struct ftr_fabric *f = h->fab;

	for (unsigned int tries = 0; tries < 50; tries++) {
		ftr_sw s = ftr_rng_below(&g->rng, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&g->rng,
							  f->sw[s].n_ports));
		bool down;

		if (ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_SW)
			continue;
		fake_lock(h);
		down = h->link[f->sw[s].first_port + p] == IB_LINK_DOWN;
		fake_unlock(h);
		if (down != up)
			continue;
		fake_link(h, s, p, up);
		return;
	}
}

static void event(struct game *g, struct fake *h)
{
	bool up;

	switch (ftr_rng_below(&g->rng, 7)) {
	case 0: case 1: case 2:
		toggle_link(g, h, false);
		break;
	case 3: case 4:
		toggle_link(g, h, g->returns);
		break;
	case 5:
		fake_trap(h, ftr_rng_below(&g->rng, h->fab->n_sw),
			  SM_LINK_STATE_CHANGED_TRAP);
		break;
	default:
		up = g->returns && ftr_rng_below(&g->rng, 2);
		fake_switch(h, fake_spine(h, ftr_rng_below(&g->rng, 4)), up);
	}
	g->left--;
}

static void at_moment(void *ctx, struct fake *h, enum fake_moment m)
{
	struct game *g = ctx;
	bool locked = m == FAKE_LOCKED || m == FAKE_ROUTING;

	if (g->left && !ftr_rng_below(&g->rng, 8)) {
		atomic_fetch_or(&g->hold, !ftr_rng_below(&g->rng, 2));
		event(g, h);
	}
	if (atomic_load(&g->hold)) {
		if (!ftr_rng_below(&g->rng, 6))
			let_go(g, h);
		else if (!locked && !ftr_rng_below(&g->rng, 2))
			fake_let_others_work();
	} else if (!locked && !ftr_rng_below(&g->rng, 3)) {
		fake_settle(h);
	}
}

static bool sweep_is_to_come(struct fake *h)
{
	bool wanted;

	pthread_mutex_lock(&h->fast->rr.mutex);
	wanted = h->fast->rr.state.want.wanted;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return wanted || fake_sweep_wanted(h) ||
		h->osm->subn.subnet_initialization_error;
}

static void rest(struct game *g, struct fake *h)
{
	let_go(g, h);
	fake_settle(h);
	fake_check_copy(h);
	fake_check_counters(h);
	if (fake_marked(h) || h->osm->subn.subnet_initialization_error)
		ck_assert(sweep_is_to_come(h));
	else if (!g->returns && !fake_unheard(h) && !fake_left_to_sweep(h))
		g->check(h);
}

START_TEST(test_any_moment)
{
	/* After more faults than its guarantee covers, ddlr may keep entries onto dead links until
	 * the next sweep, because other entries would close a cycle. */
	static const struct {
		const char *name;
		void (*check)(struct fake *h);
	} engine[] = {
		{ "dmodc", fake_check_healed },
		{ "sftree", fake_check_healed },
		{ "ddlr", fake_check_sound },
	};
	uint64_t seed = trees_first_seed() + (uint64_t)_i;
	struct game g = { .left = 0 };
	unsigned int e;
	struct fake *h;

	ftr_rng_seed(&g.rng, seed);
	ftr_rng_seed(&g.fate, seed + 1000000);
	e = ftr_rng_below(&g.rng, 3);
	g.check = engine[e].check;
	h = fake_new(&(struct fake_opts){
		.engine = engine[e].name, .options = "fast_timeout_ms 200\n"
	});
	g.slow = ftr_rng_below(&g.rng, 3) * 30;
	g.left = EVENTS_MAX;
	g.returns = !ftr_rng_below(&g.rng, 3);
	h->moment = at_moment;
	h->moment_ctx = &g;
	let_go(&g, h);
	event(&g, h);
	for (unsigned int i = 0; i < SWEEPS_MAX; i++) {
		if (ftr_rng_below(&g.rng, 4))
			fake_sweep(h);
		else
			fake_reroute(h);
		if (g.left && ftr_rng_below(&g.rng, 2))
			event(&g, h);
		rest(&g, h);
	}
	h->moment = NULL;
	for (unsigned int i = 0; sweep_is_to_come(h); i++) {
		ck_assert_uint_lt(i, SWEEPS_MAX);
		ck_assert(fake_sweep(h));
		rest(&g, h);
	}
	fake_set_fate(h, NULL, NULL);
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(h->changed_entries, 0);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_random");
	TCase *t = tcase_create("random");

	printf("first seed: %" PRIu64 "\n", trees_first_seed());
	tcase_add_loop_test(t, test_any_moment, 0, (int)trees_runs(24));
	suite_add_tcase(s, t);
	return run_suite(s);
}
