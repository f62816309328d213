/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Part of test_transition.c: the unsound states that the plugin has reported (IBF121).
 */
#ifndef FTR_TEST_EXCUSES_H
#define FTR_TEST_EXCUSES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/eye.h"

/* The times of which IBF121 reports that states may be unsound, and in which packets may follow entries
 * of that time: while the plugin writes entries for which it found no order, a credit loop is possible;
 * while OpenSM writes the remaining entries, paths may be lost, too. */
struct excuse {
	double from, to;
	bool paths;
};

struct excuses {
	struct excuse *excuse;	/* [n] */
	uint32_t n;
	bool open;		/* OpenSM has not written all entries yet */
	double life_ms;
};

/* A line of the log.  Times in it are rounded to 0.1 ms. */
static void logging(void *ctx, const char *line)
{
	struct excuses *x = ctx;
	const char *ms = strstr(line, "in which a credit loop was possible for ");
	double now = fake_time();

	if (!strstr(line, "IBF121"))
		return;
	if (x->open)
		x->excuse[x->n - 1].to = now + x->life_ms;
	x->open = false;
	if (strstr(line, "OpenSM has written the remaining entries"))
		return;
	x->excuse = realloc(x->excuse, (x->n + 1) * sizeof(*x->excuse));
	x->excuse[x->n++] = ms ?
		(struct excuse){ now - 0.1 - atof(strstr(ms, "for ") + 4), now + x->life_ms, false } :
		(struct excuse){ now, HUGE_VAL, true };
	x->open = !ms;
}

static bool is_excused(const struct excuses *x, const struct unsound *u)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (u->at >= x->excuse[i].from && u->at <= x->excuse[i].to &&
		    (u->only_waits || x->excuse[i].paths))
			return true;
	return false;
}

#endif
