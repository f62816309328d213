/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Part of test_transition.c: the unsound states that the plugin has reported (IBF121).
 */
#ifndef FTR_TEST_EXCUSES_H
#define FTR_TEST_EXCUSES_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/orders.h"
#include "unit/eye.h"

/* Tables for which no order was found: of before and after the routing. */
struct orderless {
	uint8_t *old, *new, *active;
};

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
	/* Only with FTR_ORDERS: the fake, the eye, the tables when a routing began, and the failures. */
	struct fake *h;
	struct eye *y;
	uint8_t *start;
	struct orderless *orderless;	/* [n_orderless] */
	uint32_t n_orderless;
};

/* Copy the tables of the switches. */
static uint8_t *copy_tables(const struct fake *h, const struct eye *y)
{
	uint8_t *t = calloc(y->f->n_sw, y->row);

	ck_assert(t);
	for (ftr_sw s = 0; s < y->f->n_sw; s++)
		for (uint32_t lid = 1; lid < y->row; lid++)
			t[(size_t)s * y->row + lid] = h->sw[s].top && lid > h->sw[s].top ?
				FTR_PORT_NONE : h->sw[s].lft[lid];
	return t;
}

static void keep_start(void *ctx, struct fake *h, enum fake_moment m)
{
	struct excuses *x = ctx;

	if (m != FAKE_LOCKED)
		return;
	fake_lock(h);
	free(x->start);
	x->start = copy_tables(h, x->y);
	fake_unlock(h);
}

static void keep_orderless(struct excuses *x)
{
	struct orderless *o;
	uint8_t *active = calloc(x->y->f->n_ports, 1);

	ck_assert(active);
	x->orderless = realloc(x->orderless, (x->n_orderless + 1) * sizeof(*x->orderless));
	o = &x->orderless[x->n_orderless++];
	for (uint32_t i = 0; i < x->y->f->n_ports; i++)
		active[i] = x->y->f->ports[i].peer_kind == FTR_PEER_EP ||
			x->h->link[i] == IB_LINK_ACTIVE;
	o->active = active;
	o->old = x->start;
	o->new = copy_tables(x->h, x->y);
	x->start = NULL;
}

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
	if (ms && x->start && strstr(line, "no order of writes"))
		keep_orderless(x);
}

static bool is_excused(const struct excuses *x, const struct unsound *u)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (u->at >= x->excuse[i].from && u->at <= x->excuse[i].to &&
		    (u->only_waits || x->excuse[i].paths))
			return true;
	return false;
}

/* If FTR_ORDERS is set, keep the tables for which the plugin finds no order. */
static void watch_orders(struct excuses *x, struct fake *h, struct eye *y)
{
	if (!getenv("FTR_ORDERS"))
		return;
	x->h = h;
	x->y = y;
	h->moment_ctx = x;
	h->moment = keep_start;
}

/* Search for the orders that the plugin has not found.  Adds the number of each result to n[]. */
static void search_orders(struct excuses *x, uint64_t seed, const char *engine,
			  uint32_t n[ORDERS_N_FOUND])
{
	static const char *const found[] = { "exists", "none", "unknown", "unsound tables" };

	for (uint32_t i = 0; i < x->n_orderless; i++) {
		struct orderless *l = &x->orderless[i];

		struct orders o = {
			.f = x->y->f, .usable = l->active, .old = l->old, .new = l->new,
			.row = x->y->row, .most = strtoull(getenv("FTR_ORDERS"), NULL, 10),
		};
		enum orders_found result = orders_search(&o);

		n[result]++;
		printf("order: seed %" PRIu64 ", %s: %s; %u LIDs, %u entries, %" PRIu64 " states\n",
		       seed, engine, found[result], o.lids, o.entries, o.states);
		free(l->old);
		free(l->new);
		free(l->active);
	}
	free(x->orderless);
	free(x->start);
}

#endif
