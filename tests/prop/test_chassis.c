// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests fabrics in which a leaf is connected to several switches of one plane, for example a rack
 * switch to several chips of a chassis.  The load must be even, except with the placement
 * "literal".  sftree must have the same paths as dmodc.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

struct routed {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *dmodc, *sftree;
	struct ftr_route_stats stats;	/* of sftree */
};

static struct ftr_tables *tables(struct routed *r, const char *engine,
				 const struct ftr_route_opts *opts)
{
	struct ftr_tables *t = NULL;

	ck_assert(!ftr_tables_new(r->f, false, &t, &err));
	ck_assert_msg(!ftr_engine_find(engine)->route(r->sh, opts, NULL, t,
						      &r->stats, &err),
		      "%s: %s", engine, err.msg);
	return t;
}

static void route(struct routed *r, const struct ftr_shape_opts *shape,
		  const struct ftr_route_opts *opts)
{
	memset(&r->stats, 0, sizeof(r->stats));
	ck_assert_msg(!ftr_shape_new(r->f, shape, NULL, &r->sh, &err), "%s",
		      err.msg);
	r->dmodc = tables(r, "dmodc", opts);
	r->sftree = tables(r, "sftree", opts);
}

static void unroute(struct routed *r)
{
	ftr_tables_free(r->dmodc);
	ftr_tables_free(r->sftree);
	ftr_shape_free(r->sh);
	ftr_fabric_free(r->f);
}

static bool is_layered(const struct ftr_shape *sh)
{
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		for (uint32_t g = 0; g < sh->tree.n_up[s]; g++) {
			ftr_sw t = sh->tree.groups[sh->tree.group_first[s] + g].remote;

			if (sh->tree.rank[t] != sh->tree.rank[s] + 1)
				return false;
		}
	return true;
}

static void sound(const struct routed *r, uint64_t seed)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	uint32_t *uf = malloc(r->f->n_sw * sizeof(*uf));
	struct ftr_check_report rep;
	uint64_t apart = 0;

	ftr_uf_init(uf, r->f->n_sw);
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		for (uint32_t g = r->sh->tree.group_first[s];
		     g < r->sh->tree.group_first[s + 1]; g++)
			ftr_uf_union(uf, s, r->sh->tree.groups[g].remote);
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		for (ftr_sw t = 0; t < r->f->n_sw; t++)
			apart += ftr_uf_find(uf, s) != ftr_uf_find(uf, t);
	free(uf);
	ck_assert(!ftr_check_tables(r->f, r->sftree, &opts, NULL, &rep, &err));
	ck_assert_msg(rep.bad[FTR_CHECK_SW_SW] == apart && !rep.harmful,
		      "seed %" PRIu64 ": %" PRIu64 " unreachable pairs of switches, %"
		      PRIu64 " pairs not connected by links, %" PRIu64 " harmful paths", seed,
		      rep.bad[FTR_CHECK_SW_SW], apart, rep.harmful);
	ck_assert_msg(apart || (!rep.bad[FTR_CHECK_HOST_HOST] &&
				!rep.bad[FTR_CHECK_SW_HOST]),
		      "seed %" PRIu64 ": hosts are unreachable", seed);
	ck_assert_msg(rep.cdg == FTR_CDG_ACYCLIC, "seed %" PRIu64
		      ": result on credit loops %d (enum ftr_cdg_verdict)", seed, (int)rep.cdg);
}

static void hosts_as_dmodc(const struct routed *r, uint64_t seed)
{
	for (uint32_t i = 0; i < r->sh->numbering.n_dest; i++) {
		const struct ftr_dest *t = &r->sh->numbering.dest[i];

		for (ftr_sw s = 0; t->cls == FTR_CLASS_HOST &&
		     s < r->f->n_sw; s++) {
			ftr_port want = ftr_tables_get(r->dmodc, s, t->lid);

			ck_assert_msg(want == FTR_PORT_NONE || want ==
				      ftr_tables_get(r->sftree, s, t->lid),
				      "seed %" PRIu64 ": switch %u, LID %u: the port differs from that of dmodc",
				      seed, s, t->lid);
		}
	}
}

/* ---- any chassis ------------------------------------------------------- */

/* sftree inverts the order of its root leaf and of the switches above the root leaf.  If all these
 * switches are top switches, only links of the root leaf change their direction, and paths between
 * hosts are those of dmodc. */
START_TEST(chassis_are_complete)
{
	uint64_t seed = trees_first_seed();
	uint32_t chips = 0, i;

	for (i = 0; i < trees_runs(300); i++, seed++) {
		struct routed r = { 0 };
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		r.f = trees_chassis(&rng);
		if (i % 2)
			r.f = trees_damaged(r.f, &rng, 30);
		route(&r, NULL, NULL);
		sound(&r, seed);
		if (i % 2 == 0 && is_layered(r.sh) &&
		    r.sh->tree.rank[r.stats.root] + 2u == r.sh->tree.n_ranks) {
			hosts_as_dmodc(&r, seed);
			chips++;
		}
		unroute(&r);
	}
	runs_show(chips >= i / 10);
}
END_TEST

/* ---- racks under a 648-port switch -------------------------------------- */

static uint64_t worst_link(const struct routed *r, const struct ftr_tables *t)
{
	struct ftr_load_report all;
	struct ftr_load *ld = NULL;
	ftr_ep order[504];

	ck_assert_uint_eq(r->sh->numbering.n_places, 504);
	ftr_shape_host_order(r->sh, order);
	ck_assert(!ftr_load_new(r->f, t, (struct ftr_order){ order, 504 }, NULL, &ld, &err));
	ftr_load_all(ld, NULL, &all);
	ck_assert_uint_eq(all.flows, 504 * 503);
	ck_assert_uint_eq(all.lost, 0);
	ftr_load_free(ld);
	return all.max;
}

/* If every host sends to every other, the 15 links of a rack switch to leaf chips carry 394
 * flows each on average.  Without the search for balance, the most loaded link carries 612 flows
 * with dmodc.  With ftree of OpenSM 3.3.23 it carries 720 flows. */
START_TEST(racks_are_balanced)
{
	uint64_t top[18];

	for (uint32_t i = 0; i < 18; i++)
		top[i] = (uint64_t)(42 + 36 + i + 1) << 16;
	for (uint32_t i = 0; i < 2; i++) {
		struct ftr_shape_opts shape = {
			.roots = { top, i % 2 ? 18 : 0 },
		};
		struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
		struct routed r = { .f = trees_racks() };
		struct ftr_tables *ddlr;

		route(&r, &shape, &opts);
		sound(&r, i);
		hosts_as_dmodc(&r, i);
		ck_assert_uint_le(worst_link(&r, r.dmodc), 620);
		ck_assert_uint_eq(worst_link(&r, r.sftree),
				  worst_link(&r, r.dmodc));
		ddlr = tables(&r, "ddlr", &opts);
		ck_assert(!memcmp(ddlr->lft, r.sftree->lft,
				  (size_t)ddlr->n_sw * ddlr->stride));
		ftr_tables_free(ddlr);
		unroute(&r);
	}
}
END_TEST

START_TEST(root_is_a_chip)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct routed r = { .f = trees_racks() };

	route(&r, NULL, &opts);
	ck_assert_uint_eq(r.sh->tree.rank[r.stats.root], 1);
	ftr_tables_free(r.sftree);
	opts.sm_switch = r.stats.root;
	r.sftree = tables(&r, "sftree", &opts);
	ck_assert_uint_ne(r.stats.root, opts.sm_switch);
	ck_assert_uint_eq(r.sh->tree.rank[r.stats.root], 1);
	sound(&r, 0);
	hosts_as_dmodc(&r, 0);
	unroute(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chassis");
	TCase *t = tcase_create("chassis");

	tcase_add_test(t, chassis_are_complete);
	tcase_add_test(t, racks_are_balanced);
	tcase_add_test(t, root_is_a_chip);
	suite_add_tcase(s, t);
	return run_suite(s);
}
