// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * dmodc with `paths all` over random irregular fabrics: every pair of host
 * ports that links connect arrives, no credit loop by a search of the whole
 * graph, and pairs with an up/down path keep their entries.
 *
 * FTR_SEED=N starts at that seed, FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "lib/draw.h"
#include "lib/irregular.h"
#include "lib/trees.h"

static struct ftr_err err;

struct both {
	uint64_t seed;
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *all, *updown;
	struct ftr_route_stats stats;
	uint8_t *order;
	uint32_t *island;
};

/* What all fabrics of a test came to. */
static struct {
	uint32_t fabrics, extra, reordered, narrowed;
	uint64_t turns, pairs;
} sum;

static void route(struct both *b, const struct ftr_route_opts *opts)
{
	struct ftr_route_opts o = opts ? *opts :
		(struct ftr_route_opts)FTR_ROUTE_OPTS_INIT;
	const struct ftr_engine_ops *dmodc = ftr_engine_find("dmodc");

	ck_assert_msg(!ftr_shape_new(b->f, NULL, NULL, &b->sh, &err), "%s",
		      err.msg);
	b->order = malloc(b->f->n_sw);
	b->stats.order = b->order;
	o.keep_turns = true;
	ck_assert(!ftr_tables_new(b->f, false, &b->all, &err));
	ck_assert(!ftr_tables_new(b->f, false, &b->updown, &err));
	memset(b->all->lft, 0x55, (size_t)b->f->n_sw * b->all->stride);
	ck_assert_msg(!dmodc->route(b->sh, &o, NULL, b->all, &b->stats, &err),
		      "seed %" PRIu64 ": %s", b->seed, err.msg);
	o.paths = FTR_PATHS_UPDOWN;
	ck_assert(!dmodc->route(b->sh, &o, NULL, b->updown, NULL, &err));
	b->island = malloc(b->f->n_sw * sizeof(*b->island));
	ftr_uf_init(b->island, b->f->n_sw);
	for (uint32_t i = 0; i < b->f->n_ports; i++) {
		const struct ftr_swport *p = &b->f->ports[i];

		if (p->peer_kind == FTR_PEER_SW)
			ftr_uf_union(b->island, p->peer,
				     ftr_fabric_port(b->f, p->peer,
						     p->peer_port)->peer);
	}
}

static void unroute(struct both *b)
{
	ftr_tables_free(b->all);
	ftr_tables_free(b->updown);
	ftr_shape_free(b->sh);
	ftr_fabric_free(b->f);
	free(b->order);
	free(b->island);
	free(b->stats.turn);
}

/* Where a packet for end port e goes that stands at s; n_sw hops at most. */
static bool arrives(const struct both *b, const struct ftr_tables *t, ftr_sw s,
		    ftr_ep e)
{
	const struct ftr_fabric *f = b->f;

	for (uint32_t i = 0; i <= f->n_sw; i++) {
		ftr_port p = ftr_tables_get(t, s, f->ep[e].lid);
		const struct ftr_swport *port;

		if (p == FTR_PORT_NONE || !p || p > f->sw[s].n_ports)
			return false;
		port = ftr_fabric_port(f, s, p);
		if (port->peer_kind == FTR_PEER_EP)
			return port->peer == e;
		if (port->peer_kind == FTR_PEER_NONE)
			return false;
		s = port->peer;
	}
	return false;
}

static void all_arrive(const struct both *b)
{
	const struct ftr_fabric *f = b->f;

	for (ftr_ep x = 0; x < f->n_ep; x++)
		for (ftr_ep y = 0; y < f->n_ep; y++) {
			bool joined = ftr_uf_find(b->island, f->ep[x].sw) ==
				ftr_uf_find(b->island, f->ep[y].sw);

			if (arrives(b, b->all, f->ep[x].sw, y) != joined)
				ck_abort_msg("seed %" PRIu64
					     ": host %u to %u, %s", b->seed, x,
					     y, joined ? "joined, does not arrive" :
					     "not joined, arrives");
		}
}

/* The whole graph is searched; the claims do not come into it. */
static void no_credit_loop(const struct both *b)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	struct ftr_check_report rep;

	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(!rep.harmful && rep.cdg == FTR_CDG_ACYCLIC,
		      "seed %" PRIu64 ": harmful %" PRIu64 ", verdict %d",
		      b->seed, rep.harmful, (int)rep.cdg);
}

/* With the claims of the engine the proof stands, and the graph need not be
 * built; without them it does not. */
static void claims_prove(const struct both *b)
{
	struct ftr_check_opts opts = {
		.rank = b->stats.order_known ? b->order : NULL,
		.switch_sources = true,
		.turn = b->stats.turn, .n_turns = b->stats.n_turns,
	};
	struct ftr_check_report rep;

	/* a lone horizontal link needs no turn, and the graph */
	if (!opts.rank || !b->stats.n_turns)
		return;
	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(!rep.found[FTR_FIND_TURN] && rep.cdg == FTR_CDG_PROVED,
		      "seed %" PRIu64 ": turns %" PRIu64 ", verdict %d",
		      b->seed, rep.found[FTR_FIND_TURN], (int)rep.cdg);
	ck_assert_uint_eq(rep.found[FTR_FIND_HOLE], b->stats.no_path);
	if (!b->stats.extra_pairs || b->stats.reordered)
		return;
	opts.n_turns = 0;
	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(rep.cdg == FTR_CDG_ACYCLIC, "seed %" PRIu64
		      ": proved without the claims", b->seed);
}

/* Entries with an up/down path are those of `paths updown`; or, at a gateway
 * that had to be restricted, others with as many hops. */
static void others_keep(const struct both *b)
{
	const struct ftr_shape *sh = b->sh;
	bool narrowed = false;

	for (uint32_t i = 0; i < sh->n_dest && !b->stats.reordered; i++)
		for (ftr_sw s = 0; s < b->f->n_sw; s++) {
			const struct ftr_dest *t = &sh->dest[i];
			ftr_port was = ftr_tables_get(b->updown, s, t->lid);
			ftr_port is = ftr_tables_get(b->all, s, t->lid);
			ftr_sw x, y;

			if (was == FTR_PORT_NONE || was == is)
				continue;
			narrowed = true;
			x = ftr_fabric_port(b->f, s, was)->peer;
			y = ftr_fabric_port(b->f, s, is)->peer;
			ck_assert_msg(x == y || ftr_shape_cost(sh, x)[t->col] ==
				      ftr_shape_cost(sh, y)[t->col],
				      "seed %" PRIu64
				      ": switch %u, LID %u: longer", b->seed, s,
				      t->lid);
		}
	sum.narrowed += narrowed;
}

static void judge(struct both *b)
{
	all_arrive(b);
	no_credit_loop(b);
	claims_prove(b);
	others_keep(b);
	sum.fabrics++;
	sum.extra += b->stats.n_turns > 0;
	sum.reordered += b->stats.reordered;
	sum.turns += b->stats.n_turns;
	sum.pairs += b->stats.extra_pairs;
}

static void show(const char *what)
{
	printf("%s: %u fabrics, %u with extra turns (%" PRIu64 " turns, %" PRIu64
	       " pairs), %u with a restricted gateway, %u reordered\n", what,
	       sum.fabrics, sum.extra, sum.turns, sum.pairs, sum.narrowed,
	       sum.reordered);
	memset(&sum, 0, sizeof(sum));
}

START_TEST(irregular)
{
	for (uint32_t i = 0; i < trees_runs(3000); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_rng r;

		ftr_rng_seed(&r, b.seed);
		b.f = irregular_small(&r);
		route(&b, NULL);
		judge(&b);
		unroute(&b);
	}
	show("irregular");
}
END_TEST

START_TEST(damaged_trees)
{
	for (uint32_t i = 0; i < trees_runs(1500); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_pgft g;
		struct ftr_rng r;

		ftr_rng_seed(&r, b.seed);
		if (i % 3) {
			trees_random_pgft(&r, &g, false, 40);
			b.f = trees_grow(&g, b.seed, i % 5 == 0);
		} else {
			b.f = trees_chassis(&r);
		}
		b.f = trees_hurt(b.f, &r, 60);
		route(&b, NULL);
		judge(&b);
		unroute(&b);
	}
	show("damaged trees");
}
END_TEST

START_TEST(any_graph)
{
	for (uint32_t i = 0; i < trees_runs(700); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_rng r;
		uint32_t n;

		ftr_rng_seed(&r, b.seed);
		n = 1 + ftr_rng_below(&r, 20);
		ck_assert(!ftr_gen_random(b.seed, n, ftr_rng_below(&r, 40),
					  ftr_rng_below(&r, 2 * n), &b.f,
					  &err));
		route(&b, NULL);
		judge(&b);
		unroute(&b);
	}
	show("any graph");
}
END_TEST

START_TEST(real_fabrics)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct both b = { .seed = i };

		b.f = trees_real(trees_real_files[i]);
		if (!b.f)
			continue;
		route(&b, NULL);
		ck_assert(!b.stats.reordered);
		judge(&b);
		unroute(&b);
		show(trees_real_files[i]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("connect");
	TCase *t = tcase_create("connect");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 0);
	tcase_add_test(t, irregular);
	tcase_add_test(t, damaged_trees);
	tcase_add_test(t, any_graph);
	tcase_add_test(t, real_fabrics);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
