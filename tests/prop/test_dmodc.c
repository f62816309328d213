// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests dmodc on random fabrics.  Its entries must be among those that the oracle
 * (lib/oracle.h) allows, which is slow and simple; lib/oracle_place.h checks the choice.  On
 * complete trees they must equal those of D-mod-k.  If such a tree has as many upward as downward
 * links, no two flows of a shift (host i sends to host i + k) may share a link.  The number of
 * threads must not change the tables.  Also tested: LMC, and hosts with several ports.
 *
 * A test that fails prints the seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number
 * of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lib/draw.h"
#include "lib/oracle.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

struct routed {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_route_stats stats;
};

static void route(struct routed *r, const struct ftr_shape_opts *opts,
		  struct ftr_team *team)
{
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	ck_assert_msg(!ftr_shape_new(r->f, opts, team, &r->sh, &err), "%s",
		      err.msg);
	ck_assert(!ftr_tables_new(r->f, false, &r->t, &err));
	memset(&r->stats, 0, sizeof(r->stats));
	memset(r->t->lft, 0x55, (size_t)r->t->n_sw * r->t->stride);
	ro.paths = FTR_PATHS_UPDOWN;
	ck_assert_msg(!ftr_engine_find("dmodc")->route(r->sh, &ro, team,
						       r->t, &r->stats, &err),
		      "%s", err.msg);
}

static void unroute(struct routed *r)
{
	ftr_tables_free(r->t);
	ftr_shape_free(r->sh);
	ftr_fabric_free(r->f);
}

/* ---- the oracle -------------------------------------------------------- */

static void compare_costs(const struct ftr_shape *sh, unsigned int *cost,
			  unsigned int *down, uint64_t seed)
{
	uint32_t n = sh->f->n_sw;

	oracle_costs(sh, cost, down);
	for (ftr_sw s = 0; s < n; s++) {
		for (ftr_sw l = 0; l < n; l++) {
			unsigned int c = ftr_shape_cost(sh, s)[sh->numbering.col[l]];
			unsigned int d = ftr_shape_down(sh, s)[sh->numbering.col[l]];

			c = c == FTR_COST_INF ? ORACLE_INF : c;
			d = d == FTR_COST_INF ? ORACLE_INF : d;
			ck_assert_msg(c == cost[s * n + l] &&
				      d == down[s * n + l],
				      "seed %" PRIu64 ": cost/down-cost from switch %u to %u is %u/%u, by the oracle %u/%u",
				      seed, s, l, c, d, cost[s * n + l],
				      down[s * n + l]);
		}
	}
}

static void compare_entries(const struct routed *r, const unsigned int *cost,
			    const unsigned int *down, uint64_t seed)
{
	const struct ftr_shape *sh = r->sh;
	uint64_t none = 0;
	uint8_t *has = calloc(r->t->stride, 1);

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		const struct ftr_dest *t = &sh->numbering.dest[i];

		has[t->lid] = 1;
		for (ftr_sw s = 0; s < r->f->n_sw; s++) {
			ftr_port got = ftr_tables_row(r->t, s)[t->lid];

			none += got == FTR_PORT_NONE;
			ck_assert_msg(oracle_allows(sh, cost, down, s, t, got), "seed %" PRIu64
				      ": switch %u LID %u: port %u is not allowed",
				      seed, s, t->lid, got);
		}
	}
	ck_assert_uint_eq(none, r->stats.no_path);
	for (uint32_t lid = 0; lid < r->t->stride; lid++)
		for (ftr_sw s = 0; !has[lid] && s < r->f->n_sw; s++)
			ck_assert_uint_eq(ftr_tables_row(r->t, s)[lid],
					  FTR_PORT_NONE);
	free(has);
}

/* The checker must find no harmful entry and no credit loop.  The checker does not use costs, but
 * must find as many unreachable host pairs as the costs of the shape show. */
static void against_checker(const struct routed *r, uint64_t seed)
{
	struct ftr_check_opts opts = {
		.rank = r->sh->tree.rank, .switch_sources = true,
	};
	struct ftr_check_report rep;
	struct ftr_validity v;
	bool only_hosts = true;	/* each host port has one LID and is on a leaf */

	ck_assert(!ftr_check_tables(r->f, r->t, &opts, NULL, &rep, &err));
	ck_assert_msg(rep.harmful == 0 && rep.found[FTR_FIND_TURN] == 0 &&
		      rep.cdg == FTR_CDG_PROVED,
		      "seed %" PRIu64 ": %" PRIu64 " harmful paths, %" PRIu64
		      " turns, result on credit loops %d (enum ftr_cdg_verdict)", seed, rep.harmful,
		      rep.found[FTR_FIND_TURN], (int)rep.cdg);
	ck_assert_uint_eq(rep.found[FTR_FIND_MISSING], r->stats.no_path);
	ftr_shape_validity(r->sh, &v);
	for (uint32_t i = 0; i < r->sh->numbering.n_dest; i++)
		only_hosts &= r->sh->numbering.dest[i].cls != FTR_CLASS_OTHER &&
			!r->f->owner[r->sh->numbering.dest[i].lid].offset;
	if (only_hosts)
		ck_assert_msg(rep.bad[FTR_CHECK_HOST_HOST] ==
			      v.bad_host_pairs,
			      "seed %" PRIu64 ": %" PRIu64
			      " host pairs are unreachable, %" PRIu64
			      " have no path by the costs", seed,
			      rep.bad[FTR_CHECK_HOST_HOST], v.bad_host_pairs);
}

static void against_oracle(struct routed *r, uint64_t seed)
{
	uint32_t n = r->f->n_sw;
	unsigned int *cost = malloc(n * n * sizeof(*cost));
	unsigned int *down = malloc(n * n * sizeof(*down));

	compare_costs(r->sh, cost, down, seed);
	compare_entries(r, cost, down, seed);
	against_checker(r, seed);
	free(cost);
	free(down);
}

START_TEST(trees_equal_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(1500); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		r.f = trees_grow(&g, seed, i % 5 == 0);
		if (i % 3)
			r.f = trees_damaged(r.f, &rng, 33);
		route(&r, NULL, NULL);
		against_oracle(&r, seed);
		unroute(&r);
	}
}
END_TEST

START_TEST(any_graph_equals_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(700); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;
		uint32_t n, links;

		ftr_rng_seed(&rng, seed);
		n = 1 + ftr_rng_below(&rng, 20);
		links = ftr_rng_below(&rng, 2 * n);
		ck_assert(!random_graph_new(seed, n, ftr_rng_below(&rng, 40), links, &r.f, &err));
		route(&r, NULL, NULL);
		against_oracle(&r, seed);
		unroute(&r);
	}
}
END_TEST

/* On damaged PGFTs, the costs must equal those of Procedure 1 of Gliksberg et al. 2020, implemented
 * as published. */
START_TEST(costs_equal_procedure_1)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(300); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;
		unsigned int *want;
		uint32_t n;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		r.f = trees_damaged(trees_grow(&g, seed, 0), &rng, 33);
		route(&r, NULL, NULL);
		n = r.f->n_sw;
		want = malloc(n * n * sizeof(*want));
		oracle_seed_costs(r.sh, want);
		for (ftr_sw s = 0; s < n; s++)
			for (ftr_sw l = 0; l < n; l++) {
				unsigned int c = ftr_shape_cost(r.sh, s)
					[r.sh->numbering.col[l]];

				c = c == FTR_COST_INF ? ORACLE_INF : c;
				ck_assert_msg(c == want[s * n + l],
					      "seed %" PRIu64 ": cost from switch %u to %u is %u, by Procedure 1 %u",
					      seed, s, l, c, want[s * n + l]);
			}
		free(want);
		unroute(&r);
	}
}
END_TEST

/* ---- shifts ------------------------------------------------------------ */

static uint32_t worst_shift(const struct routed *r, const ftr_ep *order)
{
	const struct ftr_fabric *f = r->f;
	uint32_t *load = calloc(f->n_ports, sizeof(*load)), worst = 0;
	uint32_t n = r->sh->numbering.n_d;

	for (uint32_t k = 1; k < n; k++) {
		memset(load, 0, f->n_ports * sizeof(*load));
		for (uint32_t i = 0; i < n; i++) {
			ftr_ep from = order[i], to = order[(i + k) % n];
			ftr_sw s;

			if (from == FTR_EP_NONE || to == FTR_EP_NONE)
				continue;
			s = f->ep[from].sw;
			while (s != f->ep[to].sw) {
				ftr_port p = ftr_tables_get(r->t, s,
							    f->ep[to].lid);
				uint32_t at = f->sw[s].first_port + p;

				if (p == FTR_PORT_NONE) {
					/* no entry, so there must be no up/down path to that
					 * port */
					ck_assert_uint_eq(ftr_shape_cost(r->sh, s)
						[r->sh->numbering.col[f->ep[to].sw]],
						FTR_COST_INF);
					break;
				}
				load[at]++;
				worst = FTR_MAX(worst, load[at]);
				s = f->ports[at].peer;
			}
		}
	}
	free(load);
	return worst;
}

/* In a complete tree whose switches have as many upward as downward links, no link may carry two
 * flows of a shift. */
START_TEST(shifts_do_not_collide)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(330); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;
		ftr_ep *order;
		struct ftr_shape_opts opts = { .leaf_order = i % 2 ?
			FTR_LEAF_BY_NAME : FTR_LEAF_BY_GUID };
		uint32_t worst;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, true, 120);
		r.f = trees_grow(&g, seed, 0);
		route(&r, &opts, NULL);
		ck_assert_uint_eq(r.sh->numbering.n_places, r.f->n_ep);
		order = malloc((r.f->n_ep + 1) * sizeof(*order));
		ftr_shape_host_order(r.sh, order);
		worst = worst_shift(&r, order);
		ck_assert_msg(worst <= 1, "seed %" PRIu64
			      ": h %u m %u,%u,%u,%u w %u,%u,%u,%u p %u,%u,%u,%u: a link carries %u flows of a shift",
			      seed, g.h, g.m[0], g.m[1], g.m[2], g.m[3],
			      g.w[0], g.w[1], g.w[2], g.w[3], g.p[0], g.p[1],
			      g.p[2], g.p[3], worst);
		free(order);
		unroute(&r);
	}
}
END_TEST

/* ---- D-mod-k ----------------------------------------------------------- */

/* Parse the name "sw-LEVEL-INDEX" of a switch.  Returns the digit of INDEX in which the parents
 * of a node differ. */
static uint32_t parent_digit(const struct ftr_pgft *g, const char *name)
{
	unsigned int level, i;

	ck_assert_int_eq(sscanf(name, "sw-%u-%u", &level, &i), 2);
	for (unsigned int k = 0; k + 1 < level; k++)
		i /= g->w[k];
	return i % g->w[level - 1];
}

/* Compare an entry with Gliksberg et al. 2020, section 2: for destination d, a switch of level l
 * uses the upward port `floor(d / (w[1] * ... * w[l])) mod (w[l+1] * p[l+1])`. */
static void check_dmodk(const struct routed *r, const struct ftr_pgft *g,
			ftr_sw s, ftr_ep e)
{
	const struct ftr_fabric *f = r->f;
	unsigned int level, i, d, below, q;
	ftr_port p = ftr_tables_get(r->t, s, f->ep[e].lid);
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);
	uint64_t pi = 1;

	ck_assert_int_eq(sscanf(f->sw[s].name, "sw-%u-%u", &level, &i), 2);
	ck_assert_int_eq(sscanf(f->ep[e].name, "host-%u", &d), 1);
	if (port->peer_kind != FTR_PEER_SW ||
	    r->sh->tree.rank[port->peer] < r->sh->tree.rank[s])
		return;		/* downward, all candidates are links to one neighbour */
	for (unsigned int k = 0; k < level; k++)
		pi *= g->w[k];
	q = (unsigned int)(d / pi % (g->w[level] * g->p[level]));
	below = g->m[level - 1] * g->p[level - 1];
	ck_assert_uint_eq(parent_digit(g, f->sw[port->peer].name),
			  q % g->w[level]);
	/* the number of an upward port is `parent * p + number of the parallel link` */
	ck_assert_uint_eq((p - 1u - below) % g->p[level], q / g->w[level]);
}

START_TEST(healthy_trees_equal_dmodk)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 80);
		ck_assert(!ftr_gen_pgft(&g, NULL, &r.f, &err));
		route(&r, NULL, NULL);
		for (ftr_sw s = 0; s < r.f->n_sw; s++)
			for (ftr_ep e = 0; e < r.f->n_ep; e++)
				check_dmodk(&r, &g, s, e);
		unroute(&r);
	}
}
END_TEST

/* ---- threads ----------------------------------------------------------- */

START_TEST(threads_change_nothing)
{
	uint64_t seed = trees_first_seed();
	struct ftr_team *team[3];

	for (unsigned int k = 0; k < 3; k++)
		team[k] = ftr_team_new(k + 1);
	for (unsigned int i = 0; i < trees_runs(40); i++, seed++) {
		struct ftr_rng rng;
		struct ftr_pgft g;
		struct routed r[3] = { 0 };

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 300);
		r[0].f = trees_damaged(trees_grow(&g, seed, i % 3), &rng, 33);
		r[1].f = r[2].f = r[0].f;
		for (unsigned int k = 0; k < 3; k++)
			route(&r[k], NULL, team[k]);
		for (unsigned int k = 1; k < 3; k++) {
			ck_assert_msg(!memcmp(r[0].t->lft, r[k].t->lft,
					      (size_t)r[0].t->n_sw *
					      r[0].t->stride),
				      "seed %" PRIu64 ": one thread and %u threads give different tables",
				      seed, k + 1);
			ck_assert_uint_eq(r[0].stats.no_path,
					  r[k].stats.no_path);
			ftr_tables_free(r[k].t);
			ftr_shape_free(r[k].sh);
		}
		unroute(&r[0]);
	}
	for (unsigned int k = 0; k < 3; k++)
		ftr_team_free(team[k]);
}
END_TEST

/* ---- several LIDs, several ports --------------------------------------- */

static ftr_sw next_hop(const struct routed *r, ftr_sw s, ftr_lid lid)
{
	return ftr_fabric_port(r->f, s, ftr_tables_get(r->t, s, lid))->peer;
}

START_TEST(lids_of_a_port_use_all_planes)
{
	struct ftr_pgft g;

	for (unsigned int lmc = 1; lmc <= 4; lmc++) {
		struct routed r = { 0 };

		ck_assert(!ftr_pgft_parse("3;6,3,4;1,6,3;1,1,1", &g, &err));
		r.f = trees_grow(&g, lmc, lmc);
		route(&r, NULL, NULL);
		for (ftr_ep e = 0; e < r.f->n_ep; e++)
			for (uint32_t l = 0; l < r.sh->tree.n_leaf; l++) {
				ftr_sw s = r.sh->numbering.col_sw[l];
				uint64_t planes = 0;

				if (s == r.f->ep[e].sw)
					continue;
				for (unsigned int k = 0; k < 1u << lmc; k++) {
					ftr_lid lid = (ftr_lid)
						(r.f->ep[e].lid + k);

					for (uint32_t i = 0; i < 6; i++)
						if (r.sh->tree.groups[r.sh->tree.group_first[s] + i].remote ==
						    next_hop(&r, s, lid))
							planes |= 1u << i;
				}
				ck_assert_int_eq(__builtin_popcountll(planes),
						 FTR_MIN(1 << lmc, 6));
			}
		unroute(&r);
	}
}
END_TEST

/* Each host has one port on each of two leaves, at the same port number of both leaves.  Its two
 * ports must be reached over different spines. */
START_TEST(ports_of_a_host_use_different_planes)
{
	struct ftr_builder *b = ftr_builder_new();
	struct routed r = { 0 };
	const unsigned int n = 4;
	char name[16];

	for (unsigned int s = 0; s < 8; s++)	/* 0..3 are leaves, 4..7 spines */
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = (s + 1) << 16, .n_ports = 16, .name = s < 4 ? "leaf" : "spine",
		}, &err));
	for (unsigned int l = 0; l < 4; l++)
		for (unsigned int s = 0; s < 4; s++)
			ck_assert(!ftr_builder_add_link(b,
				(struct ftr_end){ (l + 1) << 16,
						  (ftr_port)(n + 1 + s) },
				(struct ftr_end){ (s + 5) << 16,
						  (ftr_port)(l + 1) },
				4, FTR_SPEED_EDR, &err));
	/* n hosts on each of the two pairs of leaves */
	for (unsigned int h = 0; h < 2 * n; h++)
		for (unsigned int p = 1; p <= 2; p++) {
			uint64_t guid = ((uint64_t)1 << 40) + (h << 8);
			unsigned int leaf = h / n * 2 + p - 1;

			snprintf(name, sizeof(name), "host-%u", h);
			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + p,
				.port_num = p, .name = name,
			}, &err));
			ck_assert(!ftr_builder_add_link(b,
				(struct ftr_end){ guid, (ftr_port)p },
				(struct ftr_end){ (leaf + 1) << 16,
						  (ftr_port)(h % n + 1) },
				4, FTR_SPEED_EDR, &err));
		}
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert(!ftr_builder_freeze(b, &r.f, &err));
	route(&r, NULL, NULL);
	for (ftr_ep e = 0; e < r.f->n_ep; e += 2) {
		ftr_sw other = r.f->ep[e].sw < 2 ? 2 : 0;

		ck_assert_uint_eq(r.f->ep[e].node, r.f->ep[e + 1].node);
		ck_assert_uint_ne(next_hop(&r, other, r.f->ep[e].lid),
				  next_hop(&r, other, r.f->ep[e + 1].lid));
	}
	unroute(&r);
}
END_TEST

/* In a GPU cluster each node has eight adapters, on eight leaves.  From every leaf, the paths to them
 * must use as many spines as there are: with 4 spines, each leads to 2 adapters. */
START_TEST(adapters_of_a_host_use_different_spines)
{
	static const struct { const char *shape; unsigned int nodes, adapters; } pods[] = {
		{ "superpod:H100:1", 0, 2 }, { "superpod:H100:2", 0, 1 }, { "superpod:B200:3", 90, 1 },
		{ "superpod:B300:1", 71, 2 }, { "superpod:H100:16", 0, 1 },
		{ "superpod:H100:2;2", 0, 1 },
	};
	struct ftr_gen_opts o = { .nodes = pods[_i].nodes };
	struct routed r = { 0 };
	size_t size;
	uint8_t *adapters;	/* adapters[node * n_sw + s]: those of a node that are reached over s */

	ck_assert(!ftr_gen_shape(pods[_i].shape, &o, &r.f, &err));
	route(&r, NULL, NULL);
	size = (size_t)r.f->n_ep * r.f->n_sw;
	adapters = ftr_calloc(size, 1);
	for (uint32_t l = 0; l < r.sh->tree.n_leaf; l++) {
		ftr_sw s = r.sh->numbering.col_sw[l];

		memset(adapters, 0, size);
		for (ftr_ep e = 0; e < r.f->n_ep; e++) {
			unsigned int node = 0;

			ck_assert_int_eq(sscanf(r.f->ep[e].name, "dgx-%u ", &node), 1);
			/* no path leads to another plane */
			if (s != r.f->ep[e].sw &&
			    ftr_tables_get(r.t, s, r.f->ep[e].lid) != FTR_PORT_NONE)
				ck_assert_uint_le(++adapters[node * r.f->n_sw +
							     next_hop(&r, s, r.f->ep[e].lid)],
						  pods[_i].adapters);
		}
	}
	free(adapters);
	unroute(&r);
}
END_TEST

/* ---- real fabrics ------------------------------------------------------ */

/* In every real fabric, without a list of roots, each pair of leaves must have an up/down path.
 * The checker must find no fault in the tables. */
START_TEST(real_fabrics_are_complete)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct ftr_validity v;
		struct routed r = { 0 };

		r.f = trees_real(trees_real_files[i]);
		if (!r.f)
			continue;
		route(&r, NULL, NULL);
		ftr_shape_validity(r.sh, &v);
		ck_assert_msg(v.bad_pairs == 0, "%s: %" PRIu64
			      " pairs of leaves without a path", trees_real_files[i],
			      v.bad_pairs);
		against_checker(&r, 0);
		unroute(&r);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dmodc");
	TCase *t = tcase_create("dmodc");

	tcase_add_test(t, trees_equal_the_oracle);
	tcase_add_test(t, any_graph_equals_the_oracle);
	tcase_add_test(t, costs_equal_procedure_1);
	tcase_add_test(t, shifts_do_not_collide);
	tcase_add_test(t, healthy_trees_equal_dmodk);
	tcase_add_test(t, threads_change_nothing);
	tcase_add_test(t, lids_of_a_port_use_all_planes);
	tcase_add_test(t, ports_of_a_host_use_different_planes);
	tcase_add_loop_test(t, adapters_of_a_host_use_different_spines, 0, 6);
	tcase_add_test(t, real_fabrics_are_complete);
	suite_add_tcase(s, t);
	return run_suite(s);
}
