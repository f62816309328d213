// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ddlr's planner, which runs in a process of its own, is killed, crashes, stalls, lacks memory or
 * CPU time, or returns anything.  In each case the fault is rerouted without a local repair, one
 * message is logged, no process is left, and the planner of the next routing repairs the next fault.
 */
#include <sys/wait.h>

#include "lib/suite.h"
#include "unit/bad_helper.h"
#include "unit/fast_plans.h"

#define NO_SWEEPS "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"

static struct fake *start(void)
{
	return fake_new(&(struct fake_opts){ .engine = "ddlr", .options = NO_SWEEPS });
}

static void cut_link(struct fake *h, unsigned int leaf)
{
	ftr_sw s = fake_leaf(h, leaf);

	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);
	do {		/* while the worker writes a round, none is pending */
		fake_until(!transition_pends(h));
		fake_settle(h);
	} while (transition_pends(h));
}

static void fault(struct fake *h, unsigned int leaf)
{
	cut_link(h, leaf);
	fake_check_healed(h);
	fake_check_copy(h);
}

static void route(struct fake *h)
{
	ck_assert(fake_sweep(h));
	fake_settle(h);
}

/* End the plugin.  No process may be left. */
static void finish(struct fake *h)
{
	fake_free(h);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	use_real_helper();
}

/* The metric of failed processes. */
static unsigned int failures(struct fake *h)
{
	char path[256], line[256];
	unsigned int n = 99;
	FILE *in;

	route(h);	/* writes the file */
	fake_flush(h);
	snprintf(path, sizeof(path), "%s/ibfattree.prom", h->dir);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in))
		(void)!sscanf(line, "ibfattree_helper_failures_total %u", &n);
	fclose(in);
	return n;
}

#define NONE "no local repairs before the next routing: "
#define NOT_THIS "no local repair; the fault is rerouted without it: "
#define PROCESS "the process of the planner failed: "

static const struct bad {
	const char *script, *says;
} bad[] = {
	{ "kill -9 $$", NONE PROCESS "it was ended by signal 9" },
	{ "exit 0", NONE PROCESS "it ended with status 0" },
	{ "read -N1 -u3; exit 3", NONE PROCESS "it ended with status 3" },
	{ "read -N1 -u3; printf garbage; printf x >&3; read -N1 -u3",
		NONE PROCESS "its result: the first line is not" },
	{ "exec $BAD crash 1 0 \"$@\"", NONE PROCESS "it was ended by signal" },
	{ "exec $BAD memory 1 0 \"$@\"", NONE PROCESS "it was ended by signal 6" },
	{ "exec $BAD error 1 0 \"$@\"", NONE "out of ? luck" },
	{ "exec $BAD crash 2 0 \"$@\"", NOT_THIS PROCESS "it was ended by signal" },
	{ "exec $BAD exit 2 7 \"$@\"", NOT_THIS PROCESS "it ended with status 7" },
	{ "exec $BAD memory 2 0 \"$@\"", NOT_THIS PROCESS "it was ended by signal 6" },
	{ "exec $BAD empty 2 0 \"$@\"", NOT_THIS PROCESS "its result: the first line is not" },
	{ "exec $BAD cut 2 0 \"$@\"", NOT_THIS PROCESS "its result is incomplete" },
	{ "exec $BAD flip 2 0 \"$@\"", NOT_THIS PROCESS "its result is damaged" },
	{ "exec $BAD error 2 0 \"$@\"", NOT_THIS "out of ? luck" },
	/* from here on with a limit of 1 s */
	{ "exec $BAD spin 1 0 \"$@\"", NONE PROCESS "it was ended by signal" },
	{ "exec $BAD stop 2 0 \"$@\"", NOT_THIS PROCESS "it did not answer within 1000 ms" },
	{ "exec $BAD spin 2 0 \"$@\"", NOT_THIS PROCESS "it did not answer within 1000 ms" },
};

#define N_BAD ((int)(sizeof(bad) / sizeof(bad[0])))

START_TEST(fails)
{
	struct fake *h;
	bool process = strstr(bad[_i].says, PROCESS);	/* else only the planner has failed */

	use_script("planner", bad[_i].script);
	if (_i >= N_BAD - 3)
		ck_assert(!setenv("IBFATTREE_HELPER_SECONDS", "1", 1));
	h = start();
	wait_for_planner(h);
	fault(h, 6);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 1);
	ck_assert_msg(fake_logged(h, bad[_i].says) == 1, "the log does not say '%s': %s",
		      bad[_i].says, h->log);
	ck_assert_uint_eq(fake_logged(h, "local repair 1: "), 0);
	ck_assert(!setenv("IBFATTREE_HELPER_SECONDS", "600", 1));
	use_real_helper();
	route(h);
	wait_for_planner(h);
	fault(h, 3);
	ck_assert_uint_eq(fake_logged(h, "local repair 2: "), 1);
	ck_assert_uint_eq(failures(h), process);
	finish(h);
}
END_TEST

START_TEST(missing)
{
	struct fake *h;

	ck_assert(!setenv("IBFATTREE_HELPER", "/nonexistent/ibfattree-helper", 1));
	h = start();
	fault(h, 6);
	ck_assert_uint_eq(fake_logged(h, PROCESS "/nonexistent/ibfattree-helper does not start"), 1);
	finish(h);
}
END_TEST

/* The process is killed while it waits. */
START_TEST(killed)
{
	struct fake *h;

	use_mortal_helper("planner");
	h = start();
	wait_for_planner(h);
	kill_helper();
	fault(h, 6);
	ck_assert_uint_eq(fake_logged(h, "it was ended by signal 9"), 1);
	ck_assert_uint_eq(fake_logged(h, "local repair"), 1);
	finish(h);
}
END_TEST

/* A fault occurs, or OpenSM routes, before the planner is ready: it never is.  The faults are
 * rerouted, and each process is killed. */
START_TEST(not_ready)
{
	unsigned int files;
	struct fake *h;

	use_script("planner", "exec $BAD stop 1 0 \"$@\"");
	h = start();
	files = open_files();
	for (unsigned int i = 0; i < 3; i++) {
		if (_i)
			fault(h, i);
		route(h);
		ck_assert_uint_le(open_files(), files);
	}
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	ck_assert_uint_eq(fake_logged(h, "local repair"), 0);
	use_real_helper();
	route(h);
	wait_for_planner(h);
	fault(h, 6);
	ck_assert_uint_eq(fake_logged(h, ": local repair "), 1);
	finish(h);
}
END_TEST

/* One bit of a plan is wrong, and its checksum is correct.  The plan is refused, or its entries lead
 * to the LIDs; after the next sweep the tables are those of the engine. */
START_TEST(changed)
{
	unsigned int impossible = 0, no_entry = 0, written = 0;

	for (unsigned int i = 0; i < 80; i++) {
		char text[64];
		struct fake *h;

		/* first the local repair, then the transition */
		snprintf(text, sizeof(text), "exec $BAD change %u %u \"$@\"", 2 + i % 2, i / 2);
		use_script("planner", text);
		h = start();
		wait_for_planner(h);
		cut_link(h, 6);
		impossible += fake_logged(h, "of its plan is impossible");
		no_entry += fake_logged(h, "of its plan is no new entry");
		written += fake_logged(h, "local repair 1: ");
		route(h);
		fake_check_healed(h);
		fake_check_copy(h);
		finish(h);
	}
	ck_assert(impossible && no_entry && written);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("planner in a process");
	TCase *t = tcase_create("all");

	if (!find_helper())
		return 77;
	tcase_add_loop_test(t, fails, 0, N_BAD);
	tcase_add_test(t, missing);
	tcase_add_test(t, killed);
	tcase_add_loop_test(t, not_ready, 0, 2);
	tcase_add_test(t, changed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
