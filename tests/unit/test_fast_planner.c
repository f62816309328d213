// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ddlr's planner computes the local repairs.  After a routing, a separate thread makes a new
 * planner.  This file tests faults, routings, and the end of OpenSM while that thread still runs.
 *
 * The program is linked with --wrap=ftr_ddlr_new.  The wrapper holds the thread at the point where
 * ftr_ddlr_new() asks whether to stop.  The thread goes on when the test lets it go on, or when
 * the plugin stops it.  So nothing depends on the speed of the machine.
 */
#include <sched.h>
#include <stdatomic.h>

#include "lib/suite.h"
#include "unit/fast_plans.h"

#define NO_SWEEPS "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"

static atomic_bool hold;	/* hold threads that make a planner */
static atomic_uint started, held, stopped;	/* numbers of such threads */
static atomic_uint running, most;	/* number of such threads now; its maximum so far */

struct question {
	bool (*stop)(void *ctx);
	void *ctx;
	bool asked;
};

/* Called when ftr_ddlr_new() asks whether to stop; holds the thread here. */
static bool stop_or_wait(void *ctx)
{
	struct question *q = ctx;

	if (atomic_load(&hold) && !q->asked) {
		q->asked = true;
		atomic_fetch_add(&held, 1);
	}
	while (atomic_load(&hold) && !q->stop(q->ctx))
		sched_yield();
	return q->stop(q->ctx);
}

enum ftr_status __real_ftr_ddlr_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				    const struct ftr_ddlr_opts *opts, struct ftr_ddlr **out,
				    struct ftr_err *err);
enum ftr_status __wrap_ftr_ddlr_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				    const struct ftr_ddlr_opts *opts, struct ftr_ddlr **out,
				    struct ftr_err *err);

enum ftr_status __wrap_ftr_ddlr_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				    const struct ftr_ddlr_opts *opts, struct ftr_ddlr **out,
				    struct ftr_err *err)
{
	struct question q = { opts->stop, opts->stop_ctx, false };
	struct ftr_ddlr_opts with = *opts;
	unsigned int now = atomic_fetch_add(&running, 1) + 1;
	enum ftr_status st;

	atomic_fetch_add(&started, 1);
	if (now > atomic_load(&most))
		atomic_store(&most, now);
	with.stop = stop_or_wait;
	with.stop_ctx = &q;
	st = __real_ftr_ddlr_new(sh, t, &with, out, err);
	if (st == FTR_REFUSED)
		atomic_fetch_add(&stopped, 1);
	atomic_fetch_sub(&running, 1);
	return st;
}

static void set_up(void)
{
	atomic_store(&hold, true);
	atomic_store(&started, 0);
	atomic_store(&held, 0);
	atomic_store(&stopped, 0);
	atomic_store(&running, 0);
	atomic_store(&most, 0);
}

static struct fake *planning(void)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "ddlr", .options = NO_SWEEPS
	});

	fake_until(atomic_load(&held) == 1);
	ck_assert_uint_eq(atomic_load(&running), 1);
	return h;
}

/* A fault is repaired before the planner is ready.  The planner no longer fits the tables, so its
 * thread must be stopped.  The planner of the next routing must repair the next fault. */
START_TEST(test_fault)
{
	struct fake *h = planning();
	ftr_sw s = fake_leaf(h, 6);

	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy(h);
	fake_until(atomic_load(&stopped) == 1);
	ck_assert_uint_eq(fake_logged(h, "local repair"), 0);
	ck_assert_uint_eq(atomic_load(&started), 1);
	atomic_store(&hold, false);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	wait_for_planner(h);
	ck_assert_uint_eq(atomic_load(&started), 2);
	fake_link(h, fake_leaf(h, 3), fake_uplink(h, fake_leaf(h, 3), 0), false);
	fake_settle(h);
	fake_check_healed(h);
	ck_assert_uint_eq(fake_logged(h, "local repair 2: "), 1);
	ck_assert_uint_eq(atomic_load(&stopped), 1);
	ck_assert_uint_eq(atomic_load(&most), 1);
	fake_free(h);
}
END_TEST

/* A new routing must stop the thread that still makes the planner of the previous routing. */
START_TEST(test_routing)
{
	struct fake *h = planning();

	for (unsigned int i = 1; i <= 3; i++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
		fake_until(atomic_load(&held) == i + 1);
		ck_assert_uint_eq(atomic_load(&stopped), i);
	}
	ck_assert_uint_eq(atomic_load(&most), 1);
	atomic_store(&hold, false);
	wait_for_planner(h);
	fake_link(h, fake_leaf(h, 6), fake_uplink(h, fake_leaf(h, 6), 1), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "local repair 1: "), 1);
	fake_free(h);
}
END_TEST

/* A fault occurs, and OpenSM routes before the stopped thread has ended.  Another fault occurs
 * while the next planner is made.  Two threads must never make planners at the same time. */
START_TEST(test_fault_and_routing)
{
	struct fake *h = planning();

	for (unsigned int i = 0; i < 2; i++) {
		ftr_sw s = fake_leaf(h, 2 + i);

		fake_link(h, s, fake_uplink(h, s, i), false);
		fake_settle(h);
		fake_check_healed(h);
		fake_check_copy(h);
		ck_assert(fake_sweep(h));
		fake_settle(h);
		fake_until(atomic_load(&held) == i + 2);
		ck_assert_uint_eq(atomic_load(&stopped), i + 1);
	}
	ck_assert_uint_eq(fake_logged(h, "local repair"), 0);
	ck_assert_uint_eq(atomic_load(&most), 1);
	fake_free(h);
}
END_TEST

/* OpenSM ends.  The thread must be stopped and joined. */
START_TEST(test_end)
{
	struct fake *h = planning();

	fake_free(h);
	ck_assert_uint_eq(atomic_load(&running), 0);
	ck_assert_uint_eq(atomic_load(&stopped), 1);
	ck_assert_uint_eq(atomic_load(&started), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("planner under construction");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, test_fault);
	tcase_add_test(t, test_routing);
	tcase_add_test(t, test_fault_and_routing);
	tcase_add_test(t, test_end);
	suite_add_tcase(s, t);
	return run_suite(s);
}
