// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plan of ibfattree pairs on random fabrics: damaged trees and odd fabrics.  The paths of
 * the pairs are followed here, from the sending host on, by code that the plan does not use.  Every
 * link must be crossed, unless no pair of hosts crosses it: all pairs are tried.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pairs.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define RUNS 200

static struct ftr_err err;

static struct {
	uint32_t pairs, left, shared;	/* shared: rounds with several pairs */
} sum;

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

/* Add 1 to the count of each link that a packet crosses.  Returns false, and counts nothing, if it
 * does not arrive. */
static bool cross(const struct ftr_fabric *f, const struct ftr_tables *t, ftr_ep from, ftr_ep to,
		  uint32_t *count)
{
	for (int counting = 0; counting < 2; counting++) {
		ftr_sw at = f->ep[from].sw;
		uint32_t left = f->n_sw;

		count[f->n_ports + from] += counting;
		for (;;) {
			ftr_port p = ftr_tables_row(t, at)[f->ep[to].lid];
			const struct ftr_swport *out = p && p <= f->sw[at].n_ports ?
				ftr_fabric_port(f, at, p) : NULL;

			if (!out || out->peer_kind == FTR_PEER_NONE || !left--)
				return false;
			count[f->sw[at].first_port + p] += counting;
			if (out->peer_kind == FTR_PEER_EP) {
				if (out->peer != to)
					return false;
				break;
			}
			at = out->peer;
		}
	}
	return true;
}

static void check_rounds(const struct ftr_fabric *f, const struct ftr_tables *t,
			 const struct pairs *plan, uint32_t *all, uint64_t seed)
{
	uint32_t n = f->n_ports + f->n_ep, in_round = 0;
	uint32_t *used = calloc(n, sizeof(*used)), *node = calloc(f->n_nodes + 1u, sizeof(*node));

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ftr_transfer *p = &plan->pair[i];

		if (i && p->step != p[-1].step) {
			ck_assert_uint_eq(p->step, p[-1].step + 1);
			memset(used, 0, n * sizeof(*used));
			memset(node, 0, f->n_nodes * sizeof(*node));
			in_round = 0;
		}
		sum.shared += ++in_round == 2;
		ck_assert(f->ep[p->from].node_guid != f->ep[p->to].node_guid);
		ck_assert_msg(!node[f->ep[p->from].node]++ && !node[f->ep[p->to].node]++,
			      "seed %" PRIu64 ": a host is in two pairs of round %u", seed, p->step);
		ck_assert(cross(f, t, p->from, p->to, used));
		cross(f, t, p->from, p->to, all);
		for (uint32_t x = 0; x < n; x++)
			ck_assert_msg(used[x] <= 1, "seed %" PRIu64 ": two pairs of round %u share a link",
				      seed, p->step);
	}
	ck_assert(!plan->n || plan->pair[plan->n - 1].step + 1 == plan->rounds);
	free(used);
	free(node);
}

static void check_plan(const struct ftr_fabric *f, const struct ftr_tables *t, const char **member,
		       uint64_t seed)
{
	uint32_t n = f->n_ports + f->n_ep, covered = 0, left = 0;
	uint32_t *all = calloc(n, sizeof(*all)), *possible = calloc(n, sizeof(*possible));
	struct pairs plan = { .f = f, .t = t, .name = member };

	pairs_plan(&plan);
	check_rounds(f, t, &plan, all, seed);
	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (member[a] && member[b] && f->ep[a].node_guid != f->ep[b].node_guid)
				cross(f, t, a, b, possible);
	for (uint32_t x = 0; x < n; x++) {
		bool host = x < f->n_ports && f->ports[x].peer_kind == FTR_PEER_EP;
		bool link = x >= f->n_ports ? member[x - f->n_ports] != NULL :
			f->ports[x].peer_kind != FTR_PEER_NONE &&
			(!host || member[f->ports[x].peer]);

		ck_assert_msg(!possible[x] == !all[x], "seed %" PRIu64 ": link %u is crossed by %u of %u pairs",
			      seed, x, all[x], possible[x]);
		ck_assert_uint_eq(plan.covered[x], all[x] > 0);
		covered += all[x] > 0;
		left += link && !all[x];
	}
	ck_assert_uint_eq(plan.n_covered, covered);
	ck_assert_uint_eq(plan.n_left, left);
	sum.pairs += plan.n;
	sum.left += left;
	free(plan.pair);
	free(plan.covered);
	free(all);
	free(possible);
}

START_TEST(random_fabrics)
{
	for (uint32_t i = 0; i < trees_runs(RUNS); i++) {
		uint64_t seed = trees_first_seed() + i;
		struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
		struct ftr_fabric *f;
		struct ftr_shape *sh;
		struct ftr_tables *t;
		struct ftr_rng r;
		const char **member;

		suite_now(seed);
		ftr_rng_seed(&r, seed);
		f = i % 2 ? trees_any(seed) : irregular_odd(&r);
		ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
		ok(ftr_tables_new(f, false, &t, &err));
		ok(ftr_engine_find("dmodc")->route(sh, &opts, NULL, t, NULL, &err));
		member = calloc(f->n_ep + 1u, sizeof(*member));
		for (ftr_ep e = 0; e < f->n_ep; e++)
			member[e] = f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid &&
				ftr_rng_below(&r, 10) > i % 3 ? "host" : NULL;
		check_plan(f, t, member, seed);
		free(member);
		ftr_tables_free(t);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
	runs_show(sum.pairs && sum.left && sum.shared);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pairs that cover all links");
	TCase *tc = tcase_create("pairs");

	tcase_add_test(tc, random_fabrics);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
