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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/trees.h"
#include "order/order.h"

#define FOUR "2;2,2;1,2;1,1"		/* 2 leaves, 2 spines, 4 hosts */
#define FIVE "2;2,3;1,2;1,1"		/* 3 leaves, 2 spines */
#define SIX "2;2,3;1,3;1,1"		/* 3 leaves, 3 spines */
#define EIGHT "2;2,4;1,4;1,1"		/* 4 leaves, 4 spines */

static const struct scenario scenario[] = {
	{ "fault", "dmodc", FOUR, "-0", 1, false, NULL },
	{ "fault-ddlr", "ddlr", FOUR, "-0", 1, false, NULL },
	{ "return", "dmodc", FOUR, "-0+0", 0, false, NULL },
	{ "two", "dmodc", FIVE, "-0-11", 0, false, NULL },
	{ "flap", "dmodc", FOUR, "=0", 0, false, NULL },
	{ "cut-off", "ddlr", FIVE, "=10-0", 0, false, NULL },
	{ "sweep", "dmodc", FOUR, "S-0", 0, false, NULL },
	{ "reroute", "dmodc", FOUR, "R-0", 0, false, NULL },
	{ "reroute2", "dmodc", FOUR, "-0R", 0, false, NULL },
	{ "handover", "dmodc", FOUR, "-0H", 0, false, NULL },
	{ "restart", "dmodc", FOUR, "-0X", 0, false, NULL },
	{ "crash", "dmodc", FOUR, "-0C", 0, false, NULL },
	{ "power", "dmodc", FOUR, "-0P", 0, false, NULL },
	{ "alone", "dmodc", FIVE, "-0-11", 0, true, NULL },
	{ "alone-sweep", "dmodc", FOUR, "S-0", 0, true, NULL },
	{ "alone-reroute", "dmodc", FOUR, "R-0", 0, true, NULL },
	{ "alone-reroute2", "dmodc", FOUR, "-0R", 0, true, NULL },
	{ "alone-first", "dmodc", FOUR, "X-0", 0, true, NULL },
	{ "late", "dmodc", FIVE, "-0-11", 2, true, NULL },
	{ "stall", "dmodc", FIVE, "-0R", 1, true, NULL },
	{ "sweep-flap", "dmodc", FOUR, "S=0", 3, false, NULL },
	{ "eight", "dmodc", EIGHT, "-0", 0, false, NULL },
	{ "engines", "dmodc,sftree", FOUR, "-0", 1, false, NULL },
	{ "engines-reroute", "ddlr,dmodc", FOUR, "R-0", 1, false, NULL },
	{ "engines-restart", "dmodc,ddlr", FOUR, "-0X", 1, false, NULL },
	{ "three", "dmodc", FIVE, "-0-11S", 0, false, NULL },
	{ "three-reroute", "dmodc", FOUR, "-0R+0", 0, false, NULL },
	{ "three-restart", "dmodc", FOUR, "-0+0X", 0, false, NULL },
	/* a reroute, for which no engine gets memory, begins before a write */
	{ "refused", "dmodc", FOUR, "-0+0R", 1, false, "112:1,113:1,114:1" },
	/* A Set is late, and its second try takes another route.  The next Set of the block is lost twice on
	 * the first route, and takes the other one, too.  Then the late Set arrives. */
	{ "older", "ddlr", SIX, "-20", 6, true, "19:1,20:2,24:6,30:4,33:2" },
	/* A link dies while its spine, which has sent a trap, is asked over this link: three requests (the
	 * window) are unanswered, and those to another switch with a trap wait. */
	{ "starved", "dmodc", EIGHT, "-10-11-1", 0, false, "31:3,35:2,42:1" },
	/* A link comes up, and its traps are lost.  A sweep finds it.  OpenSM reroutes when the fast path has
	 * begun to use it. */
	{ "returned", "dmodc", SIX, "-11+11SR", 5, true,
	  "5:2,8:4,12:8,14:6,15:4,16:3,19:3,28:1,30:1,59:1,68:1" },
};

static const char usage[] =
	"Usage: test_order [all [NAME [UNUSUAL]] | random [RUNS [SCENARIO]] | play SCENARIO LIST]\n"
	"  all     every order of events of a scenario, with at most UNUSUAL choices that differ\n"
	"          from the usual order (0: any number)\n"
	"  random  random orders of random events (the first seed is FTR_SEED)\n"
	"  play    one run, as a failed run has printed it.  SCENARIO is a name, or\n"
	"          ENGINE/PGFT/SCRIPT/RARE, with /a if OpenSM does not sweep after a trap\n"
	"The usual choices of refused, older, starved and returned are those of a given list.\n"
	"Without arguments: all scenarios with one unusual choice, alone-first with two, 100 random runs\n"
	"each of stall and sweep-flap, 400 of other events, and two with seeds that once failed.\n";

static void report(const struct scenario *s, const struct found *r)
{
	if (r->failed)
		printf("FAIL  %s, run %" PRIu64 ": %s\n      test_order play '%s' '%s'\n", s->name,
		       r->runs, r->why, s->name, r->list);
	else
		printf("ok    %s: %" PRIu64 " states, %" PRIu64 " ends\n", s->name, r->states,
		       r->runs);
	fflush(stdout);
}

/* Scenarios run at the same time, because each process mostly waits for another. */
#define JOBS 4

/* Returns the number of scenarios that failed. */
static unsigned int all(const char *name, uint64_t unusual)
{
	unsigned int jobs = 0, failed = 0, known = 0;
	pid_t child;
	int status;

	for (size_t i = 0; i < FTR_ARRAY_LEN(scenario); i++) {
		if (name && strcmp(name, "-") && strcmp(name, scenario[i].name))
			continue;
		known++;
		if (jobs == JOBS && jobs-- && wait(&status) > 0)
			failed += status != 0;
		fflush(stdout);
		child = fork();
		if (child < 0) {
			perror("fork");
			failed++;
			break;
		}
		if (!child) {
			struct found r;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			explore(&scenario[i], ALL, unusual, NULL, &r);
			report(&scenario[i], &r);
			_exit(r.failed);
		}
		jobs++;
	}
	while (wait(&status) > 0)
		failed += status != 0;
	if (!known)
		fprintf(stderr, "no scenario is called %s\n", name);
	return failed + !known;
}

/* ---- random scenarios ------------------------------------------------------------- */

/* The time between two events is up to two hours, so that a link event happens every hour or two. */
static void draw_script(struct ftr_rng *rng, char *out)
{
	static const char other[] = "SRHXCP";
	unsigned int n = 2 + ftr_rng_below(rng, 7);
	bool down[2][2] = { { false } };

	for (; n; n--) {
		unsigned int leaf = ftr_rng_below(rng, 2), up = ftr_rng_below(rng, 2);

		if (ftr_rng_below(rng, 2))
			out += sprintf(out, "W%u", 1 + ftr_rng_below(rng, 120));
		if (!ftr_rng_below(rng, 3)) {
			*out++ = other[ftr_rng_below(rng, 6)];
			continue;
		}
		*out++ = down[leaf][up] ? '+' : ftr_rng_below(rng, 5) ? '-' : '=';
		if (out[-1] != '=')
			down[leaf][up] = !down[leaf][up];
		out += sprintf(out, "%u", leaf * 10 + up);
	}
	*out = '\0';
}

/* text: room for the parts of the name. */
static struct scenario find_scenario(const char *name, char *text, size_t room)
{
	struct scenario s = { .name = name };

	for (size_t i = 0; i < FTR_ARRAY_LEN(scenario); i++)
		if (!strcmp(name, scenario[i].name))
			return scenario[i];
	snprintf(text, room, "%s////", name);
	s.engine = strsep(&text, "/");
	s.pgft = strsep(&text, "/");
	s.script = strsep(&text, "/");
	s.rare = (unsigned int)atoi(strsep(&text, "/"));
	s.alone = *text == 'a';
	return s;
}

/* fixed: the scenario; NULL: random ones. */
static unsigned int random_runs(uint64_t seed, uint64_t n, const char *fixed)
{
	static const char *const engine[] = { "dmodc", "sftree", "ddlr" };
	static const char *const two[] = { "dmodc,sftree", "sftree,ddlr", "ddlr,dmodc" };
	static const char *const pgft[] = {
		FOUR, FIVE, EIGHT, "2;3,4;1,3;1,1", "3;2,2,2;1,2,2;1,1,1", "3;2,2,3;1,2,2;1,1,2",
	};
	uint64_t steps = 0;
	double ms = 0;

	for (uint64_t i = 0; i < n; i++) {
		char script[128], name[256], text[256];
		struct ftr_rng rng;
		struct scenario s = { .name = name, .script = script };
		struct found r;

		ftr_rng_seed(&rng, seed + i);
		s.engine = engine[ftr_rng_below(&rng, FTR_ARRAY_LEN(engine))];
		s.pgft = pgft[ftr_rng_below(&rng, FTR_ARRAY_LEN(pgft))];
		s.rare = ftr_rng_below(&rng, 7);
		draw_script(&rng, script);
		if (!ftr_rng_below(&rng, 4))
			s.engine = two[ftr_rng_below(&rng, FTR_ARRAY_LEN(two))];
		s.alone = ftr_rng_below(&rng, 4) == 3;
		if (fixed)
			s = find_scenario(fixed, text, sizeof(text));
		snprintf(name, sizeof(name), "%s/%s/%s/%u%s", s.engine, s.pgft, s.script, s.rare,
			 s.alone ? "/a" : "");
		explore(&s, RANDOM, seed + i, NULL, &r);
		steps += r.steps;
		ms += r.ms;
		if (r.failed) {
			r.runs = i + 1;
			report(&s, &r);
			return 1;
		}
	}
	printf("ok    random%s%s: %" PRIu64 " runs from seed %" PRIu64 " on, %" PRIu64 " steps, %.1f days of virtual time\n",
	       fixed ? ", " : "", fixed ? fixed : "", n, seed, steps, ms / 86400e3);
	return 0;
}

static unsigned int play(const char *name, const char *list)
{
	char text[256];
	struct scenario s = find_scenario(name, text, sizeof(text));
	struct found r;

	explore(&s, PLAY, 0, list, &r);
	report(&s, &r);
	return r.failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int failed;

	if (argc == 1)
		failed = all(NULL, 1) + all("alone-first", 2) + random_runs(trees_first_seed(), 100, "stall") +
			random_runs(trees_first_seed(), 100, "sweep-flap") +
			random_runs(trees_first_seed(), FTR_MAX(trees_runs(400), 400u), NULL) +
			random_runs(21267, 1, NULL) + random_runs(2123, 1, NULL);
	else if (!strcmp(what, "all"))
		failed = all(argc > 2 ? argv[2] : NULL, argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
	else if (!strcmp(what, "random"))
		failed = random_runs(trees_first_seed(),
				     argc > 2 ? strtoull(argv[2], NULL, 0) : 1000,
				     argc > 3 ? argv[3] : NULL);
	else if (!strcmp(what, "play") && argc == 4)
		failed = play(argv[2], argv[3]);
	else
		return fputs(usage, stderr), 2;
	return failed != 0;
}
