// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how flows are counted from tables (src/core/balance/flows.c), on thousands of random
 * fabrics, complete and damaged.  The tables come from engines; in some tables, random entries are
 * changed.  The flows on each link must equal those of a slow recount (lib/recount.h), which
 * follows the path of every pair of hosts.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "lib/draw.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

struct world {
	uint64_t seed;
	struct ftr_rng r;
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
};

/* Consecutive seeds give different kinds of fabrics.  One in four is a complete tree. */
static struct ftr_fabric *any_fabric(struct ftr_rng *r, uint64_t seed)
{
	struct ftr_pgft g;

	switch (seed % 8) {
	case 0:
		return trees_irregular(r);
	case 1:
		return trees_chassis(r);
	case 2:
		return trees_damaged(trees_irregular(r), r, 30);
	case 3:
		return trees_damaged(trees_chassis(r), r, 20);
	default:
		trees_random_pgft(r, &g, seed / 8 % 2, 90);
		g.w[0] = g.p[0] = 1;
		return seed % 8 < 6 ? trees_grow(&g, seed, seed / 16 % 2) :
			trees_damaged(trees_grow(&g, seed, 0), r, seed % 8 == 6 ? 5 : 60);
	}
}

static void world_new(struct world *w, uint64_t seed, const char *engine)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { 0 };

	*w = (struct world){ .seed = seed };
	ftr_rng_seed(&w->r, seed);
	w->f = any_fabric(&w->r, seed);
	opts.paths = seed / 5 % 3 ? FTR_PATHS_ALL : FTR_PATHS_UPDOWN;
	ck_assert_msg(!ftr_shape_new(w->f, NULL, NULL, &w->sh, &err), "%s", err.msg);
	ck_assert(!ftr_tables_new(w->f, false, &w->t, &err));
	ck_assert_msg(!ftr_engine_find(engine)->route(w->sh, &opts, NULL, w->t,
						      &stats, &err),
		      "seed %" PRIu64 ": %s", seed, err.msg);
}

static void world_free(struct world *w)
{
	ftr_tables_free(w->t);
	ftr_shape_free(w->sh);
	ftr_fabric_free(w->f);
}

struct counted {
	struct balance_net *net;
	struct balance_loads loads;
};

/* Count the flows on each link.  Returns false if a path has a loop. */
static bool count(const struct world *w, const struct ftr_balance_input *in,
		  struct ftr_team *team, struct counted *c)
{
	bool loop = false;

	ck_assert(!balance_net_new(in, &c->net, &err));
	ck_assert(!balance_loads_new(c->net, &c->loads, &err));
	ck_assert(!balance_count_flows(&c->loads, w->t, NULL, team, &loop, &err));
	return !loop;
}

static void count_free(struct counted *c)
{
	balance_loads_free(&c->loads);
	balance_net_free(c->net);
}

static void same_flows(const struct world *w, const struct counted *c, const uint32_t *flows)
{
	for (uint32_t x = 0; x < c->net->n_links; x++)
		ck_assert_msg(c->net->links.peer[x] == FTR_SW_NONE ||
			      c->loads.flows[x] == flows[x], "seed %" PRIu64
			      ": link %u: %u flows, a walk finds %u", w->seed, x,
			      c->loads.flows[x], flows[x]);
}

/* ---- tables of engines -------------------------------------------------------- */

START_TEST(tables_of_engines)
{
	static const char *const engines[] = { "dmodc", "sftree" };
	uint64_t seed = trees_first_seed();
	uint32_t n_lost = 0;

	for (uint32_t i = 0; i < trees_runs(2000); i++, seed++) {
		struct ftr_team *team = ftr_team_new(1 + seed % 3);
		struct ftr_balance_input in = { 0 };
		struct counted c;
		struct recount *slow;
		struct world w;

		world_new(&w, seed, engines[seed / 8 % 2]);
		in.shape = w.sh;
		ck_assert(count(&w, &in, team, &c));
		slow = recount_new(w.sh, w.t);
		same_flows(&w, &c, slow->flows);
		ck_assert_uint_eq(balance_most(&c.loads, c.loads.flows), slow->max);
		n_lost += slow->lost > 0;
		recount_free(slow);
		count_free(&c);
		world_free(&w);
		ftr_team_free(team);
	}
	runs_show(n_lost > 0);
}
END_TEST

/* ---- changed tables -------------------------------------------------------------- */

static void change_entry(struct world *w, ftr_sw s, ftr_lid lid)
{
	uint8_t *row = ftr_tables_row(w->t, s);
	ftr_sw t = ftr_rng_below(&w->r, w->f->n_sw);

	switch (ftr_rng_below(&w->r, 8)) {
	case 0:
		row[lid] = (uint8_t)ftr_rng_below(&w->r, 256);
		break;
	case 1:
		row[lid] = (uint8_t)ftr_rng_below(&w->r, w->f->sw[s].n_ports + 1u);
		break;
	case 2:
		row[lid] = ftr_tables_get(w->t, t, lid);
		break;
	default:
		row[lid] = row[ftr_rng_below(&w->r, w->f->max_lid + 1u)];
	}
}

static void change_tables(struct world *w)
{
	uint32_t n = 1u << ftr_rng_below(&w->r, 7);
	uint32_t how = ftr_rng_below(&w->r, 3);
	ftr_sw s = ftr_rng_below(&w->r, w->f->n_sw);

	while (n--) {
		ftr_lid lid = (ftr_lid)ftr_rng_below(&w->r, w->f->max_lid + 1u);
		const struct ftr_swport *port = ftr_fabric_port(
			w->f, s, ftr_rng_below(&w->r, w->f->sw[s].n_ports + 1u));

		if (how == 1)
			s = ftr_rng_below(&w->r, w->f->n_sw);
		if (how == 2 && port->peer_kind == FTR_PEER_SW)
			change_entry(w, port->peer, lid);
		else
			change_entry(w, s, lid);
	}
}

static bool has_loop(const struct world *w, const struct balance_net *net)
{
	for (uint32_t d = 0; d < net->first[w->f->n_sw]; d++)
		for (uint32_t k = 0; k < net->n_sources; k++) {
			ftr_sw s = net->source[k].sw, to = balance_switch(net, d);

			for (uint32_t hops = 0; s != to && s != FTR_SW_NONE; hops++) {
				ftr_port port = ftr_tables_get(w->t, s,
							       net->dest[d].lid);
				uint32_t link = flow_link_to(&net->links, s, port);

				s = link == BALANCE_NONE ? FTR_SW_NONE :
					net->links.peer[link];
				if (hops > w->f->n_sw)
					return true;
			}
		}
	return false;
}

/* Returns a copy of the shape in which half of the switches with several groups lack their last
 * group. */
static struct ftr_shape without_groups(struct world *w, uint32_t *n_down)
{
	struct ftr_shape sh = *w->sh;

	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		n_down[s] = sh.tree.n_down[s] -
			(sh.tree.n_up[s] + sh.tree.n_down[s] > 1 &&
			 ftr_rng_below(&w->r, 2));
	sh.tree.n_down = n_down;
	return sh;
}

START_TEST(changed_tables)
{
	uint64_t seed = trees_first_seed();
	uint32_t n_loops = 0, n_lost = 0, n_whole = 0;

	for (uint32_t i = 0; i < trees_runs(4000); i++, seed++) {
		struct ftr_team *team = ftr_team_new(1 + seed % 3);
		struct ftr_balance_input in = { 0 };
		struct counted c;
		uint32_t n_down[FTR_PORT_MAX];
		struct ftr_shape cut;
		struct world w;

		world_new(&w, seed, "dmodc");
		change_tables(&w);
		cut = without_groups(&w, n_down);
		in.shape = seed % 5 ? w.sh : &cut;
		if (count(&w, &in, team, &c)) {
			struct recount *slow = recount_new(w.sh, w.t);

			same_flows(&w, &c, slow->flows);
			ck_assert(!has_loop(&w, c.net));
			n_lost += slow->lost > 0;
			n_whole += !slow->lost;
			recount_free(slow);
		} else {
			ck_assert_msg(has_loop(&w, c.net), "seed %" PRIu64
				      ": a loop is reported, but no path has one", seed);
			n_loops++;
		}
		count_free(&c);
		world_free(&w);
		ftr_team_free(team);
	}
	runs_show(n_loops > 0);
	runs_show(n_lost > 0);
	runs_show(n_whole > 0);
}
END_TEST

START_TEST(search_leaves_loops_alone)
{
	uint64_t seed = trees_first_seed();
	uint32_t n_loops = 0;

	for (uint32_t i = 0; i < trees_runs(1000); i++, seed++) {
		struct ftr_balance_input in = {
			.depth = seed % 2 ? FTR_BALANCE_LOAD : FTR_BALANCE_FULL,
		};
		struct counted c;
		struct world w;

		world_new(&w, seed, "dmodc");
		change_tables(&w);
		in.shape = w.sh;
		if (!count(&w, &in, NULL, &c)) {
			size_t n = (size_t)w.t->n_sw * w.t->stride;
			struct ftr_balance_report report;
			uint8_t *before = malloc(n);

			ck_assert_ptr_nonnull(before);
			memcpy(before, w.t->lft, n);
			ck_assert(!balance_run(&in, NULL, w.t, NULL, &report, &err));
			ck_assert(!memcmp(before, w.t->lft, n));
			ck_assert(!report.hosts && !report.moved);
			free(before);
			n_loops++;
		}
		count_free(&c);
		world_free(&w);
	}
	runs_show(n_loops > 0);
}
END_TEST

/* Run the search on tables of the engine; if `changed` is true, on tables with some changed
 * entries.  The load of the most loaded link must not grow, and must be the reported load.  The
 * number of unreachable pairs must stay the same.  Tables that the search refuses must stay
 * unchanged.  Unchanged tables must not be refused. */
static struct ftr_balance_report search_any(uint64_t seed, struct ftr_balance_input in,
					    const char *engine, bool changed)
{
	struct ftr_team *team = ftr_team_new(1 + seed % 3);
	struct ftr_balance_report report;
	struct recount *before, *after;
	struct ftr_tables *copy = NULL;
	struct world w;

	world_new(&w, seed, engine);
	if (changed)
		change_tables(&w);
	in.shape = w.sh;
	ck_assert(!ftr_tables_new(w.f, false, &copy, &err));
	memcpy(copy->lft, w.t->lft, (size_t)w.t->n_sw * w.t->stride);
	before = recount_new(w.sh, w.t);
	ck_assert(!balance_run(&in, NULL, w.t, team, &report, &err));
	after = recount_new(w.sh, w.t);
	if (!report.hosts)
		ck_assert(!memcmp(copy->lft, w.t->lft,
				  (size_t)w.t->n_sw * w.t->stride));
	else
		ck_assert_msg(report.max_after == after->max, "seed %" PRIu64
			      ": load %u, reported %u", seed, after->max,
			      report.max_after);
	ck_assert_msg(after->max <= before->max && after->lost == before->lost,
		      "seed %" PRIu64 ": load %u -> %u", seed, before->max,
		      after->max);
	ck_assert_msg(changed || before->n_pos < 2 ||
		      report.hosts, "seed %" PRIu64
		      ": tables of the engine are refused", seed);
	recount_free(before);
	recount_free(after);
	ftr_tables_free(copy);
	world_free(&w);
	ftr_team_free(team);
	return report;
}

/* Search in tables of engines.  change_tables() has changed half of them.  The search must refuse
 * some tables, and must move entries in some changed tables. */
START_TEST(searches_of_any_tables)
{
	uint64_t seed = trees_first_seed();
	uint32_t n_refused = 0, n_moved = 0;

	for (uint32_t i = 0; i < trees_runs(600); i++, seed++) {
		bool changed = seed / 8 % 2;
		struct ftr_balance_report r = search_any(seed, (struct ftr_balance_input){
			.depth = seed % 2 ? FTR_BALANCE_LOAD : FTR_BALANCE_FULL,
		}, seed / 16 % 4 ? "dmodc" : "sftree", changed);

		n_refused += !r.hosts;
		n_moved += changed && r.moved;
	}
	runs_show(n_refused > 0);
	runs_show(n_moved > 0);
}
END_TEST

/* ---- stop --------------------------------------------------------------------- */

struct stopped {
	uint32_t asked, slices;
};

static bool stop(void *ctx)
{
	return ++((struct stopped *)ctx)->asked == 2;
}

static void take(void *ctx, const struct flow_slice *b)
{
	ck_assert_uint_eq(b->begin, 0);
	((struct stopped *)ctx)->slices++;
}

/* The count of patterns ends when stop() returns true, and stop() is not called again. */
START_TEST(count_is_stopped)
{
	struct ftr_fabric *f = draw("a: b h1\nb: h1\n");
	struct ftr_arena *a = ftr_arena_new();
	static ftr_sw none[100000];	/* no flow */
	const uint32_t gap = FLOW_NONE;
	struct stopped x = { 0 };
	struct flow_net net;
	struct flow_patterns z = {
		.net = &net, .dest_at = &gap, .n = 1, .n_patterns = FTR_ARRAY_LEN(none),
		.from = none, .multiple = 1, .fn = take, .stop = stop, .ctx = &x,
	};

	memset(none, 0xff, sizeof(none));
	ck_assert(flow_net_new(a, f, &net));
	ck_assert_int_eq(flow_count_patterns(&z, NULL, &err), FTR_OK);
	ck_assert_uint_eq(x.asked, 2);
	ck_assert_uint_eq(x.slices, 1);
	ftr_arena_free(a);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flows counted from the tables");
	TCase *t = tcase_create("count");

	tcase_add_test(t, tables_of_engines);
	tcase_add_test(t, changed_tables);
	tcase_add_test(t, search_leaves_loops_alone);
	tcase_add_test(t, searches_of_any_tables);
	tcase_add_test(t, count_is_stopped);
	suite_add_tcase(s, t);
	return run_suite(s);
}
