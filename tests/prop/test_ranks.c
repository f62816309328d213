// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how the ranks of switches (their levels in the tree) are inferred without a list of
 * roots (src/core/shape/choice.c).  Even if upper switches have as many hosts as leaves, the ranks
 * must be the same as with a list of roots.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define MAX_SW 64

static struct ftr_err err;

struct tree {
	struct ftr_builder *b;
	ftr_port used[MAX_SW];
	uint32_t n_sw, n_hosts;
	uint64_t guid[MAX_SW];
};

static void ok(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

static void begin(struct tree *t, struct ftr_rng *r, uint32_t n)
{
	uint32_t order[MAX_SW];

	ck_assert_uint_le(n, MAX_SW);
	*t = (struct tree){ .b = ftr_builder_new(), .n_sw = n };
	ftr_rng_perm(r, order, n);
	for (uint32_t i = 0; i < n; i++) {
		t->guid[i] = 0x100 + order[i];
		ok(ftr_builder_add_switch(t->b, &(struct ftr_switch){
			.guid = t->guid[i], .n_ports = 200, .name = "s",
		}, &err));
	}
}

static void join(struct tree *t, uint32_t s, uint32_t u, uint32_t n)
{
	while (n--) {
		struct ftr_end x = { t->guid[s], ++t->used[s] };
		struct ftr_end y = { t->guid[u], ++t->used[u] };

		ok(ftr_builder_add_link(t->b, x, y, 4, FTR_SPEED_EDR, &err));
	}
}

static void hosts(struct tree *t, uint32_t s, uint32_t n)
{
	while (n--) {
		uint64_t guid = 0x100000 + 2 * t->n_hosts++;
		struct ftr_end x = { t->guid[s], ++t->used[s] };
		struct ftr_end y = { guid, 1 };

		ok(ftr_builder_add_endport(t->b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1, .port_num = 1,
			.name = "h",
		}, &err));
		ok(ftr_builder_add_link(t->b, x, y, 4, FTR_SPEED_EDR, &err));
	}
}

static struct ftr_fabric *end(struct tree *t)
{
	struct ftr_fabric *f = NULL;

	ok(ftr_builder_assign_lids(t->b, 0, &err));
	ok(ftr_builder_freeze(t->b, &f, &err));
	return f;
}

static struct ftr_shape *shape(const struct ftr_fabric *f,
			       const uint64_t *root, uint32_t n)
{
	struct ftr_shape_opts opts = {
		.roots = { root, n }, .roots_mode = FTR_ROOTS_FILE,
	};
	struct ftr_shape *sh = NULL;

	ok(ftr_shape_new(f, &opts, NULL, &sh, &err));
	return sh;
}

/* Returns true if f has the same ranks with and without the given list of roots.  Consumes f. */
static bool ranked_as_with(struct ftr_fabric *f, const uint64_t *root,
			   uint32_t n)
{
	struct ftr_shape *with = shape(f, root, n), *without = shape(f, NULL, 0);
	bool same;

	ck_assert(with->tree.roots_given && !without->tree.roots_given);
	same = !memcmp(with->tree.rank, without->tree.rank, f->n_sw);
	ftr_shape_free(with);
	ftr_shape_free(without);
	ftr_fabric_free(f);
	return same;
}

/* Add 1 to `most` hosts to each of about half of the switches first .. first + n - 1. */
static void upper_hosts(struct tree *t, struct ftr_rng *r, uint32_t first,
			uint32_t n, uint32_t most)
{
	for (uint32_t s = first; s < first + n; s++)
		if (ftr_rng_below(r, 2))
			hosts(t, s, 1 + ftr_rng_below(r, most));
}

/* Two levels: a spine has at most as many hosts as a leaf.  If only one spine has hosts, its rank
 * hardly matters, so a few differences are allowed. */
START_TEST(hosts_on_spines)
{
	uint64_t seed = trees_first_seed();
	unsigned int i, same = 0;

	for (i = 0; i < trees_runs(200); i++, seed++) {
		uint32_t n_spines, n_leaves, n, trunk;
		struct ftr_rng r;
		struct tree t;

		ftr_rng_seed(&r, seed);
		n_spines = 2 + ftr_rng_below(&r, 4);
		n_leaves = 3 * n_spines + ftr_rng_below(&r, 6);
		n = 8 + ftr_rng_below(&r, 8);
		trunk = 1 + ftr_rng_below(&r, 3);
		begin(&t, &r, n_spines + n_leaves);
		for (uint32_t l = n_spines; l < n_spines + n_leaves; l++) {
			for (uint32_t s = 0; s < n_spines; s++)
				join(&t, l, s, trunk);
			hosts(&t, l, n - ftr_rng_below(&r, 3));
		}
		upper_hosts(&t, &r, 0, n_spines, n);
		same += ranked_as_with(end(&t), t.guid, n_spines);
	}
	ck_assert_uint_ge(same, i - i / 50);
}
END_TEST

/* With a list of roots, every switch with many hosts counts as a leaf (rule 1 in choice.c).  sftree
 * needs this, because its root must be a leaf. */
START_TEST(leaves_with_roots)
{
	enum { SPINES = 4, LEAVES = 12 };
	struct ftr_shape *with, *without;
	struct ftr_fabric *f;
	struct ftr_rng r;
	struct tree t;

	ftr_rng_seed(&r, trees_first_seed());
	begin(&t, &r, SPINES + LEAVES);
	for (uint32_t l = SPINES; l < SPINES + LEAVES; l++)
		for (uint32_t s = 0; s < SPINES; s++)
			join(&t, l, s, 2);
	for (uint32_t s = 0; s < SPINES + LEAVES; s++)
		hosts(&t, s, s % 2 ? 10 : 9);
	f = end(&t);
	with = shape(f, t.guid, SPINES);
	without = shape(f, NULL, 0);
	ck_assert_uint_eq(with->tree.n_leaf, SPINES + LEAVES);
	ck_assert_uint_eq(without->tree.n_leaf, LEAVES);
	ftr_shape_free(with);
	ftr_shape_free(without);
	ftr_fabric_free(f);
}
END_TEST

/* Three levels: a middle or top switch has at most as many hosts as a leaf. */
START_TEST(hosts_on_two_upper_levels)
{
	enum { TOPS = 4, PODS = 4, MIDS = 2, LEAVES = 6 };
	uint64_t seed = trees_first_seed();
	unsigned int i, same = 0;

	for (i = 0; i < trees_runs(200); i++, seed++) {
		uint32_t n, mid = TOPS, leaf = TOPS + PODS * MIDS;
		struct ftr_rng r;
		struct tree t;

		ftr_rng_seed(&r, seed);
		n = 6 + ftr_rng_below(&r, 8);
		begin(&t, &r, leaf + PODS * LEAVES);
		for (uint32_t m = 0; m < PODS * MIDS; m++) {
			for (uint32_t k = 0; k < TOPS; k++)
				join(&t, mid + m, k, 2);
			for (uint32_t l = 0; l < LEAVES; l++)
				join(&t, mid + m, leaf + m / MIDS * LEAVES + l, 2);
		}
		for (uint32_t l = 0; l < PODS * LEAVES; l++)
			hosts(&t, leaf + l, n - ftr_rng_below(&r, 3));
		upper_hosts(&t, &r, mid, PODS * MIDS, n);
		upper_hosts(&t, &r, 0, TOPS, n);
		same += ranked_as_with(end(&t), t.guid, TOPS);
	}
	ck_assert_uint_ge(same, i - i / 50);
}
END_TEST

/* Racks with two hosts are below row switches, and row switches below two chassis.  The leaf chips
 * have one to three hosts. */
START_TEST(hosts_on_chips)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(50); i++, seed++) {
		uint64_t root[IRREGULAR_ROOTS];
		struct ftr_rng r;
		struct ftr_fabric *f;
		uint32_t on_chips;

		ftr_rng_seed(&r, seed);
		on_chips = 1 + ftr_rng_below(&r, 3);
		f = irregular_rows(&r, 8, 6 + ftr_rng_below(&r, 5), on_chips, 0, root);
		ck_assert_msg(ranked_as_with(f, root, IRREGULAR_ROOTS),
			      "seed %" PRIu64 ": without the list of roots the ranks differ", seed);
	}
}
END_TEST

/* Every link must lead up or down, and every pair must have an up/down path. */
static void all_links_lead_up(struct ftr_fabric *f)
{
	struct ftr_shape *sh = shape(f, NULL, 0);
	struct ftr_validity v;

	ck_assert_uint_eq(sh->tree.n_horizontal, 0);
	ftr_shape_validity(sh, &v);
	ck_assert_uint_eq(v.leaf_pairs, f->n_sw * (f->n_sw - 1u));
	ck_assert_uint_eq(v.bad_pairs, 0);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

START_TEST(fabrics_without_levels)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(20); i++, seed++) {
		struct ftr_rng r;
		struct tree t;
		uint32_t n, m;

		ftr_rng_seed(&r, seed);
		n = 3 + ftr_rng_below(&r, 3);	/* a HyperX of n * m switches */
		m = 3 + ftr_rng_below(&r, 3);
		begin(&t, &r, n * m);
		for (uint32_t s = 0; s < n * m; s++) {
			hosts(&t, s, 4 + ftr_rng_below(&r, 4));
			for (uint32_t u = 0; u < s; u++)
				if (s / m == u / m || s % m == u % m)
					join(&t, s, u, 1 + ftr_rng_below(&r, 2));
		}
		all_links_lead_up(end(&t));
		n = 3 + ftr_rng_below(&r, 3);	/* n groups of 4 switches */
		begin(&t, &r, 4 * n);
		for (uint32_t s = 0; s < 4 * n; s++) {
			hosts(&t, s, 4 + ftr_rng_below(&r, 4));
			for (uint32_t u = 0; u < s; u++)
				if (s / 4 == u / 4 || (s % 4 == u / 4 % 4 &&
						       u % 4 == s / 4 % 4))
					join(&t, s, u, 1);
		}
		all_links_lead_up(end(&t));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ranks without roots");
	TCase *tc = tcase_create("random");

	tcase_add_test(tc, hosts_on_spines);
	tcase_add_test(tc, leaves_with_roots);
	tcase_add_test(tc, hosts_on_two_upper_levels);
	tcase_add_test(tc, hosts_on_chips);
	tcase_add_test(tc, fabrics_without_levels);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
