// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests that no forwarding loop forms when a switch does not acknowledge the Sets of the fast path.
 * The switch carries them out, or not.  Several links fail before OpenSM sweeps.  After every Set all
 * paths are followed (lib/follow.h).  ddlr has a planner in every other fabric, and so makes local repairs.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.  FTR_LOG=1 prints the log of
 * a run with a loop.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/follow.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "osm/fast.h"

#define RUNS 12
#define CHANGES 5	/* of a fabric */
#define FAULTS 3	/* before each sweep */

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

struct eye {
	const struct ftr_fabric *f;
	uint8_t *lft;		/* [n_sw][row] */
	uint32_t row;
	uint8_t *active;	/* [n_ports] 1: the link is Active */
	struct follow *walk;
	uint64_t states, loops;
};

/* Follow all packets from switches with hosts.  The wire's mutex is held. */
static void written(void *ctx, struct fake *h)
{
	struct eye *y = ctx;
	bool loops = false;

	for (ftr_sw s = 0; s < y->f->n_sw; s++)
		memcpy(y->lft + (size_t)s * y->row, h->sw[s].lft, y->row);
	for (uint32_t x = 0; x < y->f->n_ports; x++)
		y->active[x] = y->f->ports[x].peer_kind == FTR_PEER_EP ||
			h->link[x] == IB_LINK_ACTIVE;
	follow_tables(y->walk, y->lft, y->row);
	for (uint32_t lid = 1; lid < y->row; lid++) {
		follow_begin(y->walk, (ftr_lid)lid);
		for (ftr_ep e = 0; e < y->f->n_ep; e++)
			loops |= y->f->ep[e].sw != FTR_SW_NONE &&
				follow(y->walk, y->f->ep[e].sw) == FOLLOW_LOOP;
	}
	y->states++;
	y->loops += loops;
}

/* One switch carries out no Set of the plugin, or acknowledges none. */
struct deaf {
	ftr_sw sw;
	bool carries_out;
};

static void hear_nothing(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const struct deaf *d = ctx;

	if (!p->plugin || !p->set || p->to != d->sw)
		return;
	fate->lose_request = !d->carries_out;
	fate->lose_answer = d->carries_out;
}

static void fail_link(struct fake *h, struct ftr_rng *r)
{
	ftr_sw s = ftr_rng_below(r, h->fab->n_sw);
	ftr_port p = (ftr_port)(1 + ftr_rng_below(r, h->fab->sw[s].n_ports));

	if (ftr_fabric_port(h->fab, s, p)->peer_kind == FTR_PEER_SW)
		fake_link(h, s, p, false);
	fake_settle(h);
}

/* Wait until the planner of ddlr is ready, or kill it. */
static void settle_planner(struct fake *h, bool ready)
{
	struct rr_planner *p = h->fast->rr.view ? h->fast->rr.view->making : NULL;

	if (p && !ready)
		rr_planner_kill(p);
	while (p && rr_planner_is_busy(p, 100))
		;
}

static void sweep(struct fake *h)
{
	for (int i = 0; i < 4; i++) {
		fake_settle(h);
		ck_assert(fake_sweep(h));
	}
	fake_settle(h);
}

static struct eye run(uint64_t seed)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = trees_mixed(seed), .engine = engines[seed % FTR_ARRAY_LEN(engines)],
	});
	struct eye y = { .f = h->fab, .row = h->fab->max_lid + 1u };
	struct ftr_rng r;

	y.lft = calloc(y.f->n_sw, y.row);
	y.active = calloc(y.f->n_ports, 1);
	ck_assert(y.lft && y.active);
	y.walk = follow_new(y.f, y.active);
	ftr_rng_seed(&r, seed);
	sweep(h);
	h->written = written;
	h->written_ctx = &y;
	for (int i = 0; i < CHANGES; i++) {
		ftr_sw s = ftr_rng_below(&r, y.f->n_sw);
		struct deaf d = { s, ftr_rng_below(&r, 2) };

		fake_set_fate(h, hear_nothing, &d);
		for (int k = 0; k < FAULTS; k++) {
			settle_planner(h, seed / FTR_ARRAY_LEN(engines) % 2);
			fail_link(h, &r);
		}
		fake_release(h);
		sweep(h);
	}
	h->written = NULL;
	fake_check_copy(h);
	if (y.loops) {
		printf("seed %" PRIu64 ": %" PRIu64 " of %" PRIu64 " states have a loop\n", seed, y.loops,
		       y.states);
		if (getenv("FTR_LOG"))
			puts(h->log);
	}
	follow_free(y.walk);
	free(y.lft);
	free(y.active);
	fake_free(h);
	return y;
}

/* The first seeds had loops once: entries were written whose new paths led through a switch with old
 * entries, repairs were planned as if the switch had the new ones (27), and a block contained entries of an
 * earlier step that could close a loop (374). */
START_TEST(no_loop_after_unacknowledged_sets)
{
	static const uint64_t defect[] = { 27, 267, 286, 303, 374 };
	uint64_t states = 0, loops = 0;

	for (uint32_t i = 0; i < FTR_ARRAY_LEN(defect) + trees_runs(RUNS); i++) {
		struct eye y = run(i < FTR_ARRAY_LEN(defect) ? defect[i] :
				   trees_first_seed() + i - FTR_ARRAY_LEN(defect));

		states += y.states;
		loops += y.loops;
	}
	printf("%" PRIu64 " states, %" PRIu64 " with a loop\n", states, loops);
	ck_assert_uint_eq(loops, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unacknowledged");
	TCase *t = tcase_create("unacknowledged");

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_add_test(t, no_loop_after_unacknowledged_sets);
	suite_add_tcase(s, t);
	return run_suite(s);
}
