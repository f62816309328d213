// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the choice of two VLs for each class of SLs: three cases with known results, and random
 * maps, for which the stated properties are examined pair by pair.
 */
#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define MAPS 20000

static struct ftr_err err;

START_TEST(known)
{
	const uint8_t one[FTR_N_SL] = { 0 };
	const uint8_t sl_is_vl[FTR_N_SL] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7 };
	const uint8_t two[FTR_N_SL] = { 0, 1, 15, 1 };
	struct ftr_vl_pairs p;

	ck_assert(!ftr_vl_pairs_choose(one, UINT16_MAX, 2, &p, &err));
	ck_assert_uint_eq(p.n, 1);
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		ck_assert(p.straight[sl] == 0 && p.turn[sl] == 1);

	/* SLs that are not in use are treated as SL 0, and VLs are reduced modulo 4 */
	ck_assert(!ftr_vl_pairs_choose(sl_is_vl, 1u << 5, 4, &p, &err));
	ck_assert_uint_eq(p.n, 2);
	ck_assert(p.straight[0] == 0 && p.turn[0] == 2);
	ck_assert(p.straight[5] == 1 && p.turn[5] == 3);
	ck_assert(p.straight[9] == 0 && p.turn[9] == 2);

	ck_assert(!ftr_vl_pairs_choose(two, UINT16_MAX, 8, &p, &err));
	ck_assert(p.straight[2] == FTR_VL_DROP && p.turn[2] == FTR_VL_DROP);
	ck_assert(p.straight[3] == 1 && p.turn[3] == 3 && p.turn[4] == 2);
}
END_TEST

START_TEST(refused)
{
	const uint8_t dropped[FTR_N_SL] = { FTR_VL_DROP };
	const uint8_t two[FTR_N_SL] = { 0, 1 };
	struct ftr_vl_pairs p;

	ck_assert_int_eq(ftr_vl_pairs_choose(dropped, 1, 8, &p, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "SL 0 is mapped to VL 15, so its packets are dropped");
	ck_assert_int_eq(ftr_vl_pairs_choose(two, 1, 1, &p, &err), FTR_LIMIT);
	/* on one or two VLs OpenSM maps VL 1 to VL 0, or both VLs are used already */
	ck_assert_int_eq(ftr_vl_pairs_choose(two, 3, 2, &p, &err), FTR_LIMIT);
	ck_assert_str_eq(err.msg, "4 VLs are needed, two for each VL to which SLs in use are mapped");
}
END_TEST

static unsigned int expected_vl(const uint8_t *vl, uint16_t sls, unsigned int sl,
				unsigned int n_vls)
{
	unsigned int v = vl[sl == 0 || (sls & (1u << sl)) ? sl : 0];

	while (v != FTR_VL_DROP && v >= n_vls)
		v -= n_vls;
	return v;
}

/* Compare all pairs of SLs: the same class, or four different VLs. */
static void examine(const struct ftr_vl_pairs *p, const uint8_t *vl, uint16_t sls,
		    unsigned int n_vls)
{
	for (unsigned int a = 0; a < FTR_N_SL; a++) {
		ck_assert_uint_eq(p->straight[a], expected_vl(vl, sls, a, n_vls));
		if (p->straight[a] == FTR_VL_DROP) {
			ck_assert_uint_eq(p->turn[a], FTR_VL_DROP);
			continue;
		}
		ck_assert_uint_lt(p->straight[a], n_vls);
		ck_assert_uint_lt(p->turn[a], n_vls);
		for (unsigned int b = 0; b < FTR_N_SL; b++) {
			ck_assert_uint_ne(p->straight[a], p->turn[b]);
			ck_assert_int_eq(p->straight[a] == p->straight[b],
					 p->turn[a] == p->turn[b]);
		}
	}
}

START_TEST(random_maps)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8, 15 };
	uint64_t chosen = 0, limit = 0, dropped = 0, seed = trees_first_seed();
	const uint64_t end = seed + trees_runs(MAPS);

	for (; seed < end; seed++) {
		unsigned int n_vls, range, classes = 0, seen = 0;
		uint8_t vl[FTR_N_SL];
		struct ftr_vl_pairs p;
		enum ftr_status st;
		struct ftr_rng rng;
		uint16_t sls;

		suite_now(seed);
		ftr_rng_seed(&rng, seed);
		n_vls = sizes[ftr_rng_below(&rng, 5)];
		range = 1 + ftr_rng_below(&rng, 16);
		sls = (uint16_t)ftr_rng_below(&rng, 65536);
		for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
			vl[sl] = (uint8_t)ftr_rng_below(&rng, range);
		for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
			seen |= 1u << expected_vl(vl, sls, sl, n_vls);
		for (unsigned int v = 0; v < FTR_VL_DROP; v++)
			classes += seen >> v & 1;
		st = ftr_vl_pairs_choose(vl, sls, n_vls, &p, &err);
		if (vl[0] == FTR_VL_DROP) {
			ck_assert_int_eq(st, FTR_INVAL);
			dropped++;
		} else if (2 * classes > n_vls) {
			ck_assert_int_eq(st, FTR_LIMIT);
			limit++;
		} else {
			ck_assert_int_eq(st, FTR_OK);
			ck_assert_uint_eq(p.n, classes);
			examine(&p, vl, sls, n_vls);
			chosen++;
		}
	}
	runs_show(chosen);
	runs_show(limit);
	runs_show(dropped);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("VLs of classes of SLs");
	TCase *tc = tcase_create("pairs");

	tcase_add_test(tc, known);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, random_maps);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
