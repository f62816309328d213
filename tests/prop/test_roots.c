// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests incomplete lists of roots, on random trees and on the real fabrics.  ftr_shape_new()
 * must add missing roots to the list, but no other switches.  On complete trees it must add
 * all missing roots, and the ranks must be the same as with the complete list.
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

static struct ftr_shape *shape_of(const struct ftr_fabric *f,
				  const uint64_t *guid, uint32_t n,
				  enum ftr_roots mode)
{
	struct ftr_shape_opts opts = {
		.roots = { guid, n }, .roots_mode = mode,
	};
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s",
		      err.msg);
	return sh;
}

/* Infer the ranks.  Store in guid[] the switches that have downward links, but no upward links.
 * Stubs (<ftr/shape.h>) do not count.  Returns the number of these switches. */
static uint32_t tops(const struct ftr_fabric *f, uint64_t *guid)
{
	struct ftr_shape *sh = shape_of(f, NULL, 0, FTR_ROOTS_AUTO);
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!sh->tree.n_up[s] && sh->tree.n_down[s] && !sh->tree.stub[s])
			guid[n++] = f->sw[s].guid;
	ftr_shape_free(sh);
	return n;
}

static void choose(struct ftr_rng *r, uint64_t *guid, uint32_t all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = ftr_rng_below(r, all - i), last = all - 1 - i;
		uint64_t x = guid[k];

		guid[k] = guid[last];
		guid[last] = x;
	}
}

static bool among(uint64_t x, const uint64_t *guid, uint32_t n)
{
	while (n && guid[n - 1] != x)
		n--;
	return n != 0;
}

/* Try the complete list, then a part of it.  If `full` is true, f is a complete PGFT, and all
 * missing roots must be found. */
static void try_lists(const struct ftr_fabric *f, struct ftr_rng *r, bool full,
		      uint64_t seed)
{
	uint64_t *guid = calloc(f->n_sw, sizeof(*guid));
	uint32_t all = tops(f, guid);

	if (all) {
		struct ftr_shape *sh = shape_of(f, guid, all, FTR_ROOTS_STRICT);
		uint32_t n = full ? all / 2 : FTR_MIN(all - 1, 1u + all / 4);
		struct ftr_shape *less, *file;

		ck_assert_uint_eq(sh->tree.n_unlisted, 0);
		choose(r, guid, all, n);
		less = shape_of(f, guid, all - n, FTR_ROOTS_AUTO);
		file = shape_of(f, guid, all - n, FTR_ROOTS_FILE);
		for (uint32_t i = 0; i < less->tree.n_unlisted; i++)
			ck_assert_msg(among(f->sw[less->tree.unlisted[i]].guid,
					    guid + all - n, n),
				      "seed %" PRIu64 ": switch %u is taken for a missing root, but is not a root",
				      seed, less->tree.unlisted[i]);
		ck_assert_uint_eq(file->tree.n_unlisted, less->tree.n_unlisted);
		if (full) {
			ck_assert_msg(less->tree.n_unlisted == n, "seed %" PRIu64
				      ": %u of %u missing roots found",
				      seed, less->tree.n_unlisted, n);
			ck_assert(!memcmp(less->tree.rank, sh->tree.rank, f->n_sw));
			ck_assert_uint_eq(less->tree.n_planes, sh->tree.n_planes);
			if (n)
				ck_assert(memcmp(file->tree.rank, sh->tree.rank,
						 f->n_sw));
		}
		if (n && full) {
			struct ftr_shape_opts opts = {
				.roots = { guid, all - n },
				.roots_mode = FTR_ROOTS_STRICT,
			};
			struct ftr_shape *none = NULL;

			ck_assert_int_eq(ftr_shape_new(f, &opts, NULL, &none,
						       &err), FTR_SHAPE);
			ck_assert_ptr_nonnull(strstr(err.msg, " missing from the list of roots"));
		}
		ftr_shape_free(file);
		ftr_shape_free(less);
		ftr_shape_free(sh);
	}
	free(guid);
}

START_TEST(trees)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct ftr_fabric *f;
		struct ftr_pgft g;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		trees_random_pgft(&r, &g, ftr_rng_below(&r, 2), 60);
		f = trees_grow(&g, seed, 0);
		try_lists(f, &r, true, seed);
		f = trees_damaged(f, &r, 10);
		try_lists(f, &r, false, seed);
		ftr_fabric_free(f);
	}
}
END_TEST

START_TEST(real_fabrics)
{
	for (int i = 0; trees_real_files[i]; i++) {
		struct ftr_fabric *f = trees_real(trees_real_files[i]);
		struct ftr_rng r;

		if (!f)
			continue;
		ftr_rng_seed(&r, 1);
		for (unsigned int k = 0; k < 10; k++)
			try_lists(f, &r, false, (uint64_t)i);
		ftr_fabric_free(f);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lists of roots");
	TCase *tc = tcase_create("random");

	tcase_add_test(tc, trees);
	tcase_add_test(tc, real_fabrics);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
