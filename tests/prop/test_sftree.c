// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests sftree on random fabrics.  In every connected part of a fabric, every port must reach
 * every LID of hosts and switches.  The channel dependencies must have no cycle, even if
 * switches send packets.  On complete trees, the entries for hosts must be those of dmodc.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lib/draw.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "prop/sftree_both.h"

START_TEST(whole_trees)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(400); i++, seed++) {
		struct both b = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 60);
		b.f = trees_grow(&g, seed, i % 4 == 0);
		route(&b, NULL, NULL);
		complete(&b, seed);
		hosts_as_dmodc(&b, seed);
		unroute(&b);
	}
}
END_TEST

START_TEST(damaged_trees)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(10000); i++, seed++) {
		struct both b = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		b.f = trees_damaged(trees_grow(&g, seed, 0), &rng, 60);
		route(&b, NULL, NULL);
		complete(&b, seed);
		if (i % 4 == 0)
			acyclic(&b, seed);
		unroute(&b);
	}
	printf("damaged trees, seeds %" PRIu64 "..%" PRIu64
	       ": every port reaches every LID, no cycle\n", trees_first_seed(), seed - 1);
}
END_TEST

/* Trees of real sizes.  1 to 60 % of the links and some switches are dead. */
START_TEST(large_damaged_trees)
{
	static const char *const shape[] = {
		"648", "kary:6,3", "3;8,8,8;1,8,8;1,1,1", "2;12,24;1,6;1,2",
	};
	static const unsigned int percent[] = { 1, 5, 10, 30, 60 };
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(40); i++, seed++) {
		struct ftr_damage d = { .seed = seed, .switches = i % 4 };
		struct both b = { 0 };
		struct ftr_fabric *f;
		struct ftr_pgft g;

		ck_assert(!ftr_pgft_parse(shape[i / 5 % 4], &g, &err));
		f = trees_grow(&g, seed, 0);
		d.links = f->n_sw_links * percent[i % 5] / 100;
		ck_assert(!ftr_gen_damage(f, &d, &b.f, &err));
		ftr_fabric_free(f);
		route(&b, NULL, NULL);
		complete(&b, seed);
		if (i % 8 == 0)
			acyclic(&b, seed);
		unroute(&b);
	}
}
END_TEST

START_TEST(no_trees_at_all)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(3000); i++, seed++) {
		struct both b = { 0 };
		struct ftr_rng rng;
		uint32_t n, links;

		ftr_rng_seed(&rng, seed);
		n = 1 + ftr_rng_below(&rng, 30);
		links = ftr_rng_below(&rng, 2 * n);
		ck_assert(!random_graph_new(seed, n, ftr_rng_below(&rng, 40), links, &b.f, &err));
		route(&b, NULL, NULL);
		complete(&b, seed);
		if (i % 4 == 0)
			acyclic(&b, seed);
		unroute(&b);
	}
}
END_TEST

/* A set of faults.  Bit i of `set`: link i between switches fails.  Bit n_links + s: switch s
 * fails, with its hosts. */
struct lost {
	uint64_t set;
	unsigned int n_links;
};

static bool sw_lives(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	const struct lost *l = ctx;

	(void)f;
	return !(l->set >> (l->n_links + s) & 1);
}

static bool ep_lives(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	return sw_lives(ctx, f, f->ep[e].sw);
}

static bool link_lives(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		       ftr_port p)
{
	struct lost *l = ctx;
	uint64_t bit = 0;

	/* the number of this link, from 1 */
	for (ftr_sw t = 0; t <= s; t++)
		for (unsigned int q = 1; q <= (t == s ? p : f->sw[t].n_ports);
		     q++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, t, (ftr_port)q);

			bit += port->peer_kind == FTR_PEER_SW && port->peer > t;
		}
	return !(l->set >> (bit - 1) & 1);
}

/* Counts its calls in l->set.  Returns false only for call number l->n_links. */
static bool nth_link_lives(void *ctx, const struct ftr_fabric *f, ftr_sw s,
			   ftr_port p)
{
	struct lost *l = ctx;

	(void)f;
	(void)s;
	(void)p;
	return l->set++ != l->n_links;
}

static void lose(const struct ftr_fabric *f, uint64_t set)
{
	struct lost l = { set, f->n_sw_links };
	struct ftr_filter filter = { sw_lives, ep_lives, link_lives, &l, NULL };
	struct both b = { 0 };

	ck_assert(!ftr_fabric_copy_if(f, &filter, &b.f, &err));
	route(&b, NULL, NULL);
	complete(&b, set);
	unroute(&b);
}

START_TEST(all_sets_of_three_faults)
{
	static const char *const shape[] = {
		"kary:2,2", "kary:2,3", "kary:3,2", "2;2,3;1,3;1,2",
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(shape); i++) {
		struct ftr_fabric *f;
		struct ftr_pgft g;
		uint32_t n;

		ck_assert(!ftr_pgft_parse(shape[i], &g, &err));
		ck_assert(!ftr_gen_pgft(&g, NULL, &f, &err));
		n = f->n_sw_links + f->n_sw;
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t c = a; c < n; c++)
				for (uint32_t d = c; d < n; d++)
					lose(f, (uint64_t)1 << a |
					     (uint64_t)1 << c |
					     (uint64_t)1 << d);
		ftr_fabric_free(f);
	}
}
END_TEST

/*
 * Racks joined by a horizontal link.  s1 and s2 are the spines of one tree, t1 and t2
 * those of another tree.  The trees are connected only through their leaves.
 *
 *	 s1  s2        t1  t2
 *	 |\ /|         |\ /|
 *	 A   B =====-- C   D
 */
START_TEST(horizontal_links)
{
	struct both b = { .f = draw("A: s1 s2 h3\nB: s1 s2 C h3\n"
				    "C: t1 t2 h3\nD: t1 t2 h3\n"
				    "s1:\ns2:\nt1:\nt2:\n") };

	route(&b, NULL, NULL);
	ck_assert_uint_eq(b.sh->tree.n_horizontal, 1);
	complete(&b, 0);
	acyclic(&b, 0);
	unroute(&b);
	/* s1 and s2 connect all leaves, so the horizontal link changes no path. */
	b.f = draw("A: s1 s2 h3\nB: s1 s2 C h3\nC: s1 s2 h3\nD: s1 s2 h3\n"
		   "s1:\ns2:\n");
	route(&b, NULL, NULL);
	ck_assert_uint_eq(b.sh->tree.n_horizontal, 1);
	complete(&b, 1);
	hosts_as_dmodc(&b, 1);
	unroute(&b);
}
END_TEST

START_TEST(root_avoids_the_manager)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct both b = { .f = draw("A: S T h3\nB: S T h3\nC: S T h3\nS:\nT:\n") };

	route(&b, NULL, NULL);
	ck_assert_str_eq(b.f->sw[b.stats.root].name, "A");
	ftr_tables_free(b.sftree);
	opts.sm_switch = b.stats.root;
	tables(&b, "sftree", &opts, NULL, &b.sftree);
	ck_assert_str_eq(b.f->sw[b.stats.root].name, "B");
	complete(&b, 0);
	unroute(&b);
}
END_TEST

static bool not_of_switch_0(void *ctx, const struct ftr_fabric *f, ftr_sw s,
			    ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	(void)ctx;
	return s && !(port->peer_kind == FTR_PEER_SW && !port->peer);
}

/* One switch has no links.  The engine must still return the shape (ranks and costs) that the
 * tables of all other switches follow (stats.routed), because incremental routing starts from
 * it. */
START_TEST(a_switch_without_links)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_filter filter = { .keep_link = not_of_switch_0 };

	o.keep_routed = true;
	for (unsigned int i = 0; i < trees_runs(20); i++) {
		struct ftr_route_stats stats = { 0 };
		struct ftr_fabric *whole, *f;
		struct ftr_tables *t;
		struct ftr_shape *sh;
		struct ftr_pgft g;

		ck_assert(!ftr_pgft_parse("3;4,2,4;1,2,2;1,1,1", &g, &err));
		whole = trees_grow(&g, trees_first_seed() + i, 0);
		ck_assert(!ftr_fabric_copy_if(whole, &filter, &f, &err));
		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		ck_assert(!ftr_tables_new(f, false, &t, &err));
		ck_assert(!ftr_engine_find("sftree")->route(sh, &o, NULL, t,
							    &stats, &err));
		ck_assert_ptr_nonnull(stats.routed);
		ftr_shape_free(stats.routed);
		ftr_tables_free(t);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
		ftr_fabric_free(whole);
	}
}
END_TEST

START_TEST(threads_change_nothing)
{
	uint64_t seed = trees_first_seed();
	struct ftr_team *team = ftr_team_new(3);

	for (unsigned int i = 0; i < trees_runs(30); i++, seed++) {
		struct both b = { 0 };
		struct ftr_tables *one;
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 300);
		b.f = trees_damaged(trees_grow(&g, seed, 0), &rng, 30);
		route(&b, NULL, NULL);
		one = b.sftree;
		tables(&b, "sftree", NULL, team, &b.sftree);
		ck_assert_msg(!memcmp(one->lft, b.sftree->lft,
				      (size_t)one->n_sw * one->stride),
			      "seed %" PRIu64 ": one thread and several threads give different tables", seed);
		ftr_tables_free(one);
		unroute(&b);
	}
	ftr_team_free(team);
}
END_TEST

/* ---- root and spread ----------------------------------------------------- */

/* If one link fails, the root leaf must stay the same, and the entries for hosts must still be
 * those of dmodc.  Every third link is tried. */
START_TEST(one_lost_link_moves_no_root)
{
	struct ftr_fabric *f;
	struct ftr_pgft g;
	uint64_t root;

	ck_assert(!ftr_pgft_parse("3;4,4,4;1,4,4;1,1,1", &g, &err));
	f = trees_grow(&g, 5, 0);
	{
		struct both b = { 0 };

		ck_assert(!ftr_fabric_copy_if(f, NULL, &b.f, &err));
		route(&b, NULL, NULL);
		root = b.f->sw[b.stats.root].guid;
		unroute(&b);
	}
	for (uint32_t i = 0; i < f->n_sw_links; i += 3) {
		struct lost l = { 0 };
		struct ftr_filter filter = { .keep_link = nth_link_lives,
					     .ctx = &l };
		struct both b = { 0 };

		l.n_links = i;
		ck_assert(!ftr_fabric_copy_if(f, &filter, &b.f, &err));
		ck_assert_uint_eq(b.f->n_sw_links, f->n_sw_links - 1);
		route(&b, NULL, NULL);
		ck_assert_uint_eq(b.f->sw[b.stats.root].guid, root);
		complete(&b, i);
		hosts_as_dmodc(&b, i);
		unroute(&b);
	}
	ftr_fabric_free(f);
}
END_TEST

/* Paths from a middle switch to top switches of other planes must use all upward links of the
 * middle switch. */
START_TEST(detours_are_spread)
{
	struct both b = { 0 };
	struct ftr_pgft g;
	unsigned int spread = 0, switches = 0;

	ck_assert(!ftr_pgft_parse("3;4,4,4;1,4,4;1,1,1", &g, &err));
	b.f = trees_grow(&g, 5, 0);
	route(&b, NULL, NULL);
	for (ftr_sw s = 0; s < b.f->n_sw; s++) {
		uint64_t used = 0;

		/* middle switches above the root leaf have only one path */
		if (b.sh->tree.rank[s] != 1 ||
		    ftr_shape_down(b.sh, s)[b.sh->numbering.col[b.stats.root]] !=
		    FTR_COST_INF)
			continue;
		for (ftr_sw d = 0; d < b.f->n_sw; d++) {
			ftr_lid lid = b.f->sw[d].lid;

			if (ftr_tables_get(b.dmodc, s, lid) == FTR_PORT_NONE)
				used |= (uint64_t)1 <<
					ftr_tables_get(b.sftree, s, lid);
		}
		switches++;
		spread += __builtin_popcountll(used) == 4;
	}
	ck_assert_uint_gt(switches, 0);
	ck_assert_uint_eq(spread, switches);
	unroute(&b);
}
END_TEST

static uint32_t hops(const struct both *b, const struct ftr_tables *t, ftr_sw s, ftr_sw to)
{
	uint32_t n = 0;

	while (s != to && n++ < b->f->n_sw) {
		ftr_port p = ftr_tables_get(t, s, b->f->sw[to].lid);

		if (p == FTR_PORT_NONE)
			return UINT32_MAX;
		s = ftr_fabric_port(b->f, s, p)->peer;
	}
	return s == to ? n : UINT32_MAX;
}

/* Count the pairs of hosts that have no up/down path, or whose path with sftree is longer than the
 * shortest up/down path.  The engine must report the same number as stats.detours. */
START_TEST(detours_are_counted)
{
	uint64_t seed = trees_first_seed(), total = 0, shorter = 0;

	for (unsigned int i = 0; i < trees_runs(1000); i++, seed++) {
		struct both b = { 0 };
		const struct ftr_shape_tree *tree;
		uint64_t want = 0;
		struct ftr_rng rng;
		uint32_t n, links;

		ftr_rng_seed(&rng, seed);
		n = 1 + ftr_rng_below(&rng, 30);
		links = ftr_rng_below(&rng, 2 * n);
		ck_assert(!random_graph_new(seed, n, ftr_rng_below(&rng, 40), links, &b.f, &err));
		route(&b, NULL, NULL);
		tree = &b.sh->tree;
		for (uint32_t k = 0; k < tree->n_leaf * tree->n_leaf; k++) {
			uint32_t x = k / tree->n_leaf, y = k % tree->n_leaf;
			ftr_sw s = b.sh->numbering.col_sw[x], to = b.sh->numbering.col_sw[y];
			uint32_t ideal = hops(&b, b.dmodc, s, to);
			uint32_t real = hops(&b, b.sftree, s, to);

			shorter += real < ideal && ideal != UINT32_MAX;
			if (real != UINT32_MAX && (real > ideal || ideal == UINT32_MAX))
				want += (uint64_t)tree->leaf_hosts[x] * tree->leaf_hosts[y];
		}
		ck_assert_msg(b.stats.detours == want, "seed %" PRIu64 ": %" PRIu64
			      " pairs of hosts on detours, the engine reports %" PRIu64, seed, want,
			      b.stats.detours);
		total += want;
		unroute(&b);
	}
	printf("%" PRIu64 " pairs of hosts on detours; %" PRIu64
	       " pairs of leaf switches with a shorter path than with dmodc\n", total, shorter);
	runs_show(shorter > 0);
}
END_TEST

START_TEST(real_fabrics)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct both b = { 0 };

		b.f = trees_real(trees_real_files[i]);
		if (!b.f)
			continue;
		route(&b, NULL, NULL);
		complete(&b, i);
		acyclic(&b, i);
		hosts_as_dmodc(&b, i);
		unroute(&b);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sftree");
	TCase *t = tcase_create("sftree");

	tcase_add_test(t, whole_trees);
	tcase_add_test(t, damaged_trees);
	tcase_add_test(t, large_damaged_trees);
	tcase_add_test(t, no_trees_at_all);
	tcase_add_test(t, all_sets_of_three_faults);
	tcase_add_test(t, horizontal_links);
	tcase_add_test(t, root_avoids_the_manager);
	tcase_add_test(t, a_switch_without_links);
	tcase_add_test(t, threads_change_nothing);
	tcase_add_test(t, one_lost_link_moves_no_root);
	tcase_add_test(t, detours_are_spread);
	tcase_add_test(t, detours_are_counted);
	tcase_add_test(t, real_fabrics);
	suite_add_tcase(s, t);
	return run_suite(s);
}
