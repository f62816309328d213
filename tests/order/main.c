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
#include <time.h>

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

static int report(const struct scenario *s, const struct found *r, double began)
{
	if (r->failed)
		printf("FAIL  %s, run %" PRIu64 ": %s\n      test_order play %s %s\n", s->name,
		       r->runs, r->why, s->name, *r->list ? r->list : "0:0");
	else
		printf("ok    %s: %" PRIu64 " runs, %" PRIu64 " states, %" PRIu64 " steps\n",
		       s->name, r->runs, r->states, r->steps);
	fprintf(stderr, "%s: %.1f s\n", s->name, (double)(clock() - 0) / CLOCKS_PER_SEC * 0 +
		ibf_real_clock.now() / 1e3 - began);
	return r->failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all", *name = argc > 2 ? argv[2] : NULL;
	unsigned int failed = 0;

	for (size_t i = 0; i < FTR_ARRAY_LEN(scenario); i++) {
		const struct scenario *s = &scenario[i];
		double began = ibf_real_clock.now() / 1e3;
		struct found r;

		if (name && strcmp(name, s->name))
			continue;
		if (!strcmp(what, "all"))
			explore(s, ALL, argc > 3 ? strtoull(argv[3], NULL, 0) : 0, 0, NULL, &r);
		else if (!strcmp(what, "random"))
			explore(s, RANDOM, argc > 3 ? strtoull(argv[3], NULL, 0) : 200, 1, NULL, &r);
		else
			explore(s, PLAY, 1, 0, argc > 3 ? argv[3] : "", &r);
		failed += (unsigned int)report(s, &r, began);
	}
	return failed != 0;
}
