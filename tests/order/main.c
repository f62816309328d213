// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs the plugin under every order of events.
 *
 * The real code of the plugin runs in the fake OpenSM of tests/fake.  Its threads are coroutines
 * (tests/fake/fiber.h), and time is virtual.  So a run depends on nothing but a list of choices:
 * which packet arrives next, or is lost; whether a trap, the next phase of a sweep, the next fault
 * or the end of a time-out comes first; which thread runs; and where the process crashes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/trees.h"
#include "order/order.h"

#define FOUR "2;2,2;1,2;1,1"		/* 2 leaves, 2 spines, 4 hosts */
#define FIVE "2;2,3;1,2;1,1"		/* 3 leaves, 2 spines */
#define EIGHT "2;2,4;1,4;1,1"		/* 4 leaves, 4 spines */

static const struct scenario scenario[] = {
	{ "fault", "dmodc", FOUR, "-0", 1, NULL },
	{ "fault-ddlr", "ddlr", FOUR, "-0", 1, NULL },
	{ "return", "dmodc", FOUR, "-0+0", 0, NULL },
	{ "two", "dmodc", FIVE, "-0-11", 0, NULL },
	{ "flap", "dmodc", FOUR, "=0", 0, NULL },
	{ "sweep", "dmodc", FOUR, "S-0", 0, NULL },
	{ "reroute", "dmodc", FOUR, "R-0", 0, NULL },
	{ "reroute2", "dmodc", FOUR, "-0R", 0, NULL },
	{ "handover", "dmodc", FOUR, "-0H", 0, NULL },
	{ "restart", "dmodc", FOUR, "-0X", 0, NULL },
	{ "crash", "dmodc", FOUR, "-0C", 0, NULL },
	{ "power", "dmodc", FOUR, "-0P", 0, NULL },
	{ "eight", "dmodc", EIGHT, "-0", 0, NULL },
};

static const char usage[] =
	"Usage: test_order [all [NAME [STATES]] | random [NAME [RUNS]] | play NAME LIST]\n"
	"  all     every order of events of a scenario, at most STATES states (0: no limit)\n"
	"  random  RUNS random orders (FTR_SEED is the first seed)\n"
	"  play    one run, with a list that a failed run has printed\n"
	"Without arguments: the short scenarios, all and random.\n";

static void report(const struct scenario *s, const struct found *r)
{
	if (r->failed)
		printf("FAIL  %s, run %" PRIu64 ": %s\n      test_order play %s %s\n", s->name,
		       r->runs, r->why, s->name, *r->list ? r->list : "0:0");
	else if (r->states)
		printf("ok    %s: %" PRIu64 " states, %" PRIu64 " ends%s\n", s->name, r->states,
		       r->runs, r->cut ? ", the limit of states was reached" : "");
	else
		printf("ok    %s: %" PRIu64 " runs, %" PRIu64 " steps\n", s->name, r->runs, r->steps);
}

/* Returns true if a property does not hold. */
static bool run_one(const struct scenario *s, const char *what, const char *arg)
{
	uint64_t n = arg ? strtoull(arg, NULL, 0) : 0;
	struct found r;

	if (!strcmp(what, "all"))
		explore(s, ALL, n, 0, NULL, &r);
	else if (!strcmp(what, "random"))
		explore(s, RANDOM, n ? n : trees_runs(100), trees_first_seed(), NULL, &r);
	else
		explore(s, PLAY, 1, 0, arg ? arg : "", &r);
	report(s, &r);
	return r.failed;
}

/* Scenarios run at the same time, because each process mostly waits for another. */
#define JOBS 4

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all", *name = argc > 2 ? argv[2] : NULL;
	unsigned int jobs = 0, failed = 0;
	int status;

	if (strcmp(what, "all") && strcmp(what, "random") && (strcmp(what, "play") || !name)) {
		fputs(usage, stderr);
		return 2;
	}
	for (size_t i = 0; i < FTR_ARRAY_LEN(scenario); i++) {
		const struct scenario *s = &scenario[i];

		if (name && strcmp(name, "-") && strcmp(name, s->name))
			continue;
		if (jobs == JOBS && jobs-- && wait(&status) > 0)
			failed += status != 0;
		fflush(stdout);
		if (!fork()) {
			bool bad = run_one(s, what, argc > 3 ? argv[3] : NULL);

			fflush(stdout);
			_exit(bad);
		}
		jobs++;
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed != 0;
}
