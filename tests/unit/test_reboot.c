// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests that tables return to what they were when hosts go down and return: some hosts together, all
 * hosts but that of the manager, and ten groups of hosts one after the other.  The tables are those
 * that the switches of a fake OpenSM hold.  Their load is counted by tests/lib/recount.h, which
 * shares no code with the engines.
 *
 * Between two changes the manager makes one sweep, or as many as it takes until no search runs.  In
 * some runs, links fail and return, too.  At the end other managers are started, and hosts go down
 * while the first search runs, or are down from the beginning; the tables must become those of the
 * first manager.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/irregular.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define GROUPS 10

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

static struct {
	uint32_t fabrics, reboots, searched, changed, faults, early;
} sum;

struct run {
	struct fake *h;
	const struct ftr_fabric *f;	/* of h */
	struct ftr_rng rng;
	uint64_t seed;
	const char *engine, *what;
	bool patient;			/* waits for searches while hosts are down */
	bool early;			/* see early() */
	struct ftr_tables *was;		/* the tables of the switches before the reboots */
	uint32_t max;			/* flows on the most loaded link before the reboots */
	uint64_t sum;			/* the same for shifts, summed over all shifts */
	uint8_t *cut;			/* [f->n_ports] 1: the link at this port is down */
};

/* ---- the manager --------------------------------------------------------- */

static struct fake *manager(struct ftr_fabric *f, const char *engine, ftr_ep sm)
{
	return fake_new(&(struct fake_opts){
		.fabric = f, .options = "balance full\n", .not_up = true, .engine = engine,
		.sm = sm,
	});
}

/* True if a search runs or its result waits for the next routing. */
static bool is_searching(const struct fake *h)
{
	const struct ibf_engine *e = ((struct ibf_plugin *)h->plugin)->routed;

	return e && (e->prefer.search || e->prefer.better);
}

static void sweep(struct fake *h)
{
	do {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	} while (fake_sweep_wanted(h) && !is_searching(h));
}

/* Sweep until no search runs. */
static void rest(struct fake *h)
{
	for (sweep(h); is_searching(h); sweep(h)) {
		struct ibf_prefer *p = &((struct ibf_plugin *)h->plugin)->routed->prefer;

		sum.searched++;
		fake_until(!p->search || ibf_search_done(p->search));
	}
}

/* The tables of the switches. */
static struct ftr_tables *tables(const struct fake *h)
{
	struct ftr_tables *t;
	struct ftr_err err;

	ck_assert(!ftr_tables_new(h->fab, true, &t, &err));
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (h->osw[s])
			memcpy(ftr_tables_row(t, s), h->sw[s].lft, h->fab->max_lid + 1u);
	return t;
}

static uint64_t count_changes(const struct run *r, const struct ftr_tables *t)
{
	struct ftr_tables_diff d;

	ftr_tables_diff(r->f, r->was, r->f, t, &d);
	return d.entries;
}

static void check(struct run *r)
{
	struct ftr_tables *t = tables(r->h);
	struct recount *c = recount_new(r->h->sh, t);
	uint64_t n = count_changes(r, t);

	ck_assert_msg((!n || r->early) && c->max == r->max && c->sum == r->sum,
		      "seed %" PRIu64 ", %s, %s%s: %" PRIu64 " entries are not as before; most loaded link: %u flows, before: %u; sum over shifts: %" PRIu64 ", before: %" PRIu64,
		      r->seed, r->engine, r->what, r->patient ? "" : ", one sweep each", n,
		      c->max, r->max, c->sum, r->sum);
	recount_free(c);
	ftr_tables_free(t);
	sum.reboots++;
}

/* ---- the hosts ----------------------------------------------------------- */

static void pause_between(struct run *r)
{
	struct ftr_tables *t;

	if (r->patient)
		rest(r->h);
	else
		sweep(r->h);
	t = tables(r->h);
	sum.changed += count_changes(r, t) > 0;
	ftr_tables_free(t);
}

/* The hosts with group[e] == which go down or return. */
static void set_group(struct run *r, const uint8_t *group, unsigned int which, bool up)
{
	for (ftr_ep e = 0; e < r->f->n_ep; e++)
		if (r->f->ep[e].sw != FTR_SW_NONE && e != r->h->sm && group[e] == which)
			fake_host(r->h, e, up);
}

/* One percent of the links between switches fail, at least one; or all return. */
static void set_links(struct run *r, bool up)
{
	uint32_t n = 1 + r->f->n_sw_links / 100;

	if (!up)
		memset(r->cut, 0, r->f->n_ports);
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		for (unsigned int p = 1; p <= r->f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(r->f, s, (ftr_port)p);
			uint8_t *cut = &r->cut[r->f->sw[s].first_port + p];

			if (port->peer_kind != FTR_PEER_SW || port->peer == s)
				continue;
			if (!up)
				*cut = ftr_rng_below(&r->rng, 2 * r->f->n_sw_links) < n;
			if (*cut) {
				fake_link_quietly(r->h, s, (ftr_port)p, up);
				sum.faults += !up;
			}
		}
}

/* A part of the hosts goes down together and comes back together. */
static void some_hosts(struct run *r, unsigned int percent, bool faults)
{
	uint8_t *group = calloc(r->f->n_ep, 1);

	for (ftr_ep e = 0; e < r->f->n_ep; e++)
		group[e] = ftr_rng_below(&r->rng, 100) < percent;
	set_group(r, group, 1, false);
	if (faults)
		set_links(r, false);
	pause_between(r);
	set_group(r, group, 1, true);
	if (faults) {
		pause_between(r);
		set_links(r, true);
	}
	rest(r->h);
	check(r);
	free(group);
}

/* Ten groups go down and come back, one after the other.  overlap: a group goes down when the one
 * before it comes back; otherwise the manager sweeps in between. */
static void rolling(struct run *r, bool overlap)
{
	uint8_t *group = calloc(r->f->n_ep, 1);

	for (ftr_ep e = 0; e < r->f->n_ep; e++)
		group[e] = (uint8_t)(e * GROUPS / r->f->n_ep);
	for (unsigned int i = 0; i < GROUPS; i++) {
		set_group(r, group, i, false);
		pause_between(r);
		set_group(r, group, i, true);
		if (!overlap)
			pause_between(r);
	}
	rest(r->h);
	check(r);
	free(group);
}

static const unsigned int percent[] = { 5, 30, 100 };

static void reboots(struct run *r)
{
	struct recount *c;

	rest(r->h);
	r->was = tables(r->h);
	c = recount_new(r->h->sh, r->was);
	r->max = c->max;
	r->sum = c->sum;
	recount_free(c);
	for (unsigned int i = 0; i < 12; i++) {
		r->patient = i % 2;
		r->what = i / 2 % 2 ? "hosts and links" : "hosts";
		some_hosts(r, percent[i / 4], i / 2 % 2);
	}
	for (unsigned int i = 0; i < 4; i++) {
		r->patient = i % 2;
		r->what = i / 2 ? "groups that overlap" : "groups";
		rolling(r, i / 2);
	}
}

/* Another manager, without stored tables, on the same fabric. */
static void restart(struct run *r)
{
	struct ftr_fabric *f = NULL;
	struct ftr_err err;
	ftr_ep sm = r->h->sm;

	ck_assert(!ftr_fabric_copy_if(r->f, NULL, &f, &err));
	fake_free(r->h);
	r->f = f;
	r->h = manager(f, r->engine, sm);
}

/* Hosts go down while the first search of a manager runs.  There are no tables from before then, so
 * only the load figures must be those of a manager whose hosts stayed.  (On odd fabrics, a search
 * with fewer hosts may find other tables that are as good.) */
static void early(struct run *r)
{
	r->early = true;
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(percent) * 2; i++) {
		restart(r);
		r->what = "hosts during the first search";
		r->patient = i % 2;
		sweep(r->h);
		sum.early += is_searching(r->h);
		some_hosts(r, percent[i / 2], false);
	}
}

/* Hosts are down when the manager routes for the first time.  When they return before a search has
 * ended, the tables are computed again, so they are those of a manager that saw all hosts.  Only on
 * trees: on odd fabrics the ranks, which are inferred from the hosts, are kept when the fabric grows. */
static void late(struct run *r)
{
	uint8_t *group = calloc(r->f->n_ep, 1);

	r->early = false;
	r->patient = false;
	r->what = "hosts before the first routing";
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(percent); i++) {
		restart(r);
		for (ftr_ep e = 0; e < r->f->n_ep; e++)
			group[e] = ftr_rng_below(&r->rng, 100) < percent[i];
		set_group(r, group, 1, false);
		sweep(r->h);
		set_group(r, group, 1, true);
		rest(r->h);
		check(r);
	}
	free(group);
}

/* f belongs to this function from now on. */
static void run(struct ftr_fabric *f, uint64_t seed, const char *engine, bool tree)
{
	struct run r = { .f = f, .seed = seed, .engine = engine };
	ftr_ep sm = 0;

	ftr_rng_seed(&r.rng, seed);
	while (sm < f->n_ep && (f->ep[sm].sw == FTR_SW_NONE || !f->ep[sm].lid))
		sm++;
	if (sm == f->n_ep) {
		ftr_fabric_free(f);
		return;
	}
	r.cut = calloc(f->n_ports, 1);
	r.h = manager(f, engine, sm);
	reboots(&r);
	early(&r);
	if (tree)
		late(&r);
	free(r.cut);
	ftr_tables_free(r.was);
	fake_free(r.h);
	sum.fabrics++;
}

/* Each case is a process of its own. */
static void show(void)
{
	printf("%u fabrics, %u reboots; tables changed meanwhile: %u times; %u searches, %u faults; %u times during the first search\n",
	       sum.fabrics, sum.reboots, sum.changed, sum.searched, sum.faults, sum.early);
	fflush(stdout);
}

START_TEST(trees)
{
	for (uint32_t i = 0; i < trees_runs(2); i++) {
		uint64_t seed = trees_first_seed() + i;

		for (unsigned int k = 0; k < FTR_ARRAY_LEN(engines); k++) {
			struct ftr_pgft g;
			struct ftr_rng rng;

			suite_now(seed);
			ftr_rng_seed(&rng, seed);
			trees_random_pgft(&rng, &g, false, 40);
			run(trees_grow(&g, seed, 0), seed, engines[k], true);
		}
	}
	runs_show(sum.changed && sum.searched && sum.faults && sum.early);
	show();
}
END_TEST

START_TEST(odd)
{
	for (uint32_t i = 0; i < trees_runs(2); i++) {
		uint64_t seed = trees_first_seed() + i;

		for (unsigned int k = 0; k < FTR_ARRAY_LEN(engines); k++) {
			struct ftr_rng rng;

			suite_now(seed);
			ftr_rng_seed(&rng, seed);
			run(i % 4 == 3 ? trees_any(seed) : irregular_odd(&rng), seed, engines[k], false);
		}
	}
	runs_show(sum.changed && sum.searched && sum.faults && sum.early);
	show();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hosts that reboot");
	TCase *tc = tcase_create("reboot"), *end = tcase_create("odd");

	tcase_add_test(tc, trees);
	tcase_add_test(end, odd);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, end);
	return run_suite(s);
}
