// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the traffic pattern FTR_SIM_STEPS with random transfers between the hosts of one switch
 * without delays, against bounds that are computed from the rule itself: a transfer begins when all
 * transfers of lower steps from and to its sender have arrived.
 *
 * In each step, every host sends at most one transfer and receives at most one.  Lower bound: the
 * longest chain of transfers that wait for each other, if no two share an adapter.  If all hosts send
 * equal transfers in every step, this is the exact time.  Else transfers of different steps may share
 * an adapter; upper bound: one transfer after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/trees.h"

#define HOSTS 8u
#define STEPS_MAX 6u
#define PACKET 2048u
#define PS_BYTE 80u		/* 100 Gbit/s */
#define STEP_PS 1000000u
#define ROOM (HOSTS * STEPS_MAX)

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_tables *t;
static struct ftr_transfer x[ROOM];
static uint32_t n, exact, longer;

static void set_up(void)
{
	struct ftr_shape *sh = NULL;
	const struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;

	ck_assert(!ftr_gen_shape("1;8;1;1", NULL, &f, &err));
	ck_assert(!ftr_shape_new(f, &(struct ftr_shape_opts){ .leaf_order = FTR_LEAF_BY_GUID },
				 NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, &o, NULL, t, NULL, &err));
	ftr_shape_free(sh);
}

static void tear_down(void)
{
	ftr_tables_free(t);
	ftr_fabric_free(f);
}

static void run(uint64_t *finish, uint64_t *delivered)
{
	const struct ftr_sim_conf c = {
		.f = f, .t = t, .traffic.pattern = FTR_SIM_STEPS, .traffic.transfer = x, .traffic.n_transfers = n,
		.traffic.step_ps = STEP_PS, .traffic.load = 1, .run_ps = UINT64_MAX / 2, .stop_on_deadlock = true,
	};
	struct ftr_sim_result r;

	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	*finish = r.finish_ps;
	*delivered = r.delivered;
	ck_assert_uint_eq(r.end_ps, r.finish_ps);
	ftr_sim_result_fini(&r, 1);
}

/* full: every host sends in every step, and all transfers are equal. */
static void draw(struct ftr_rng *rng, bool full)
{
	uint32_t steps = 1 + ftr_rng_below(rng, STEPS_MAX), to[HOSTS];

	n = 0;
	for (uint32_t s = 0; s < steps; s++) {
		ftr_rng_perm(rng, to, HOSTS);
		for (uint32_t i = 0; i < HOSTS; i++)
			if (full || ftr_rng_below(rng, 3))
				x[n++] = (struct ftr_transfer){
					to[i], to[(i + 1) % HOSTS], 3 * s,
					PACKET * (full ? 5 : 1 + ftr_rng_below(rng, 20)) };
	}
	for (uint32_t i = n; i-- > 1; ) {	/* their order has no meaning */
		uint32_t k = ftr_rng_below(rng, i + 1);
		struct ftr_transfer y = x[i];

		x[i] = x[k];
		x[k] = y;
	}
}

/* The time at which transfer i has arrived, if no two transfers share an adapter. */
static uint64_t arrival(uint32_t i)
{
	uint64_t begin = 0;

	for (uint32_t k = 0; k < n; k++)
		if (x[k].step < x[i].step && (x[k].from == x[i].from || x[k].to == x[i].from)) {
			uint64_t end = arrival(k);

			begin = FTR_MAX(begin, end);
		}
	return begin + STEP_PS + x[i].bytes * PS_BYTE;
}

static uint64_t lower_bound(void)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = arrival(i);

		least = FTR_MAX(least, end);
	}
	return least;
}

static void one(uint64_t seed, bool full)
{
	struct ftr_rng rng;
	uint64_t least, most = 0, packets = 0, finish, delivered;

	suite_now(seed);
	ftr_rng_seed(&rng, seed);
	draw(&rng, full);
	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		packets += x[i].bytes / PACKET;
		most += STEP_PS + x[i].bytes * PS_BYTE;
	}
	least = lower_bound();
	most = full ? least : most;
	run(&finish, &delivered);
	ck_assert_msg(finish >= least && finish <= most, "seed %llu: %llu ps, bounds %llu and %llu",
		      (unsigned long long)seed, (unsigned long long)finish,
		      (unsigned long long)least, (unsigned long long)most);
	ck_assert_uint_eq(delivered, packets);
	exact += finish == least;
	longer += finish > least;
}

START_TEST(random_steps)
{
	uint64_t first = trees_first_seed();

	for (uint64_t i = 0; i < trees_runs(2000); i++)
		one(first + i, i % 5 == 0);
	runs_show(exact > 500);
	runs_show(longer > 100);
}
END_TEST

START_TEST(refused)
{
	const struct ftr_transfer bad[] = { { 0, 0, 0, 1 }, { 0, HOSTS, 0, 1 }, { 0, 1, 0, 0 } };
	struct ftr_sim_conf c = { .f = f, .t = t, .traffic.pattern = FTR_SIM_STEPS, .traffic.n_transfers = 1,
				  .traffic.load = 1, .run_ps = 1 };
	struct ftr_sim_result r;

	c.traffic.transfer = &bad[_i];
	ck_assert(ftr_sim_run(&c, NULL, &r, &err) == FTR_INVAL);
}
END_TEST

/* A source that is not saturated would lose the bytes of its transfers. */
START_TEST(load_below_1)
{
	const struct ftr_transfer one = { 0, 1, 0, 1 };
	const struct ftr_sim_conf c = { .f = f, .t = t, .traffic.pattern = FTR_SIM_STEPS, .traffic.transfer = &one,
					.traffic.n_transfers = 1, .traffic.load = 0.5, .run_ps = 1 };
	struct ftr_sim_result r;

	ck_assert(ftr_sim_run(&c, NULL, &r, &err) == FTR_INVAL);
	ck_assert_str_eq(err.msg, "load 0.5, but transfers in steps need at least 1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_steps");
	TCase *tc = tcase_create("steps");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, random_steps);
	tcase_add_loop_test(tc, refused, 0, 3);
	tcase_add_test(tc, load_below_1);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
