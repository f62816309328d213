// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests src/core/base: arenas, growing arrays, random numbers, natural order, texts of errors, and the
 * team of threads.
 * The functions on rows of bytes (bytes_*) are compared with simple loops.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/bytes.h"
#include "base/base.h"
#include "lib/alloc.h"
#include "lib/suite.h"

START_TEST(arena_aligns_and_keeps)
{
	struct ftr_arena *a = ftr_arena_new();
	uint8_t *small[100], *big;

	for (int i = 0; i < 100; i++) {
		small[i] = ftr_arena_zalloc(a, 1, 17);
		ck_assert_uint_eq((uintptr_t)small[i] % 16, 0);
		memset(small[i], i, 17);
		if (i == 50) {	/* a big block between small ones */
			big = ftr_arena_alloc(a, 1, 1000000);
			ck_assert_uint_eq((uintptr_t)big % 64, 0);
			memset(big, 0xee, 1000000);
		}
	}
	for (int i = 0; i < 100; i++)
		for (int k = 0; k < 17; k++)
			ck_assert_uint_eq(small[i][k], i);
	ck_assert_ptr_null(ftr_arena_alloc(a, SIZE_MAX / 2, 3));
	ck_assert_str_eq(ftr_arena_strndup(a, "abcdef", 3), "abc");
	ck_assert_str_eq(ftr_arena_strndup(a, NULL, 3), "");
	ftr_arena_free(a);
	ftr_arena_free(NULL);
}
END_TEST

/* A new chunk of an arena is as large as all chunks before it together, but at least 64 KB and at
 * most 2 MB.  A large allocation may get its own chunk.  Small allocations after it must still use
 * the rest of the previous chunk. */
START_TEST(chunks_grow)
{
	const size_t largest = (size_t)2 << 20;
	struct ftr_arena *a = ftr_arena_new();
	size_t before, after;

	while (ftr_arena_bytes(a) < 3 * largest) {
		before = ftr_arena_bytes(a);
		memset(ftr_arena_alloc(a, 1000, 1), 1, 1000);
		after = ftr_arena_bytes(a);
		if (after != before)
			ck_assert_uint_eq(after - before,
					  FTR_MIN(FTR_MAX(before, largest / 32), largest));
	}
	before = ftr_arena_bytes(a);
	memset(ftr_arena_alloc(a, largest + 1, 1), 1, largest + 1);
	ck_assert_uint_gt(ftr_arena_bytes(a), before + largest);
	before = ftr_arena_bytes(a);
	memset(ftr_arena_alloc(a, 1000, 1), 1, 1000);
	ck_assert_uint_eq(ftr_arena_bytes(a), before);
	ftr_arena_free(a);
}
END_TEST

START_TEST(allocations_fail_on_request)
{
	void *p;

	ftr_alloc_fail_at(2);
	p = ftr_malloc(1);
	ck_assert_ptr_nonnull(p);
	free(p);
	ck_assert_ptr_null(ftr_malloc(1));
	ck_assert_ptr_null(ftr_arena_new());
	ftr_alloc_fail_at(0);
}
END_TEST

/* Every function that allocates fails on request; those that open files set errno. */
START_TEST(each_function_fails)
{
	uint32_t cap = UINT32_C(1) << 31;
	void *p = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = ftr_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	ftr_alloc_fail_at(1);
	ck_assert(!ftr_memstream_end(out, &text));
	ck_assert_ptr_null(text);
	ck_assert_ptr_null(ftr_strdup("x"));
	ck_assert_ptr_null(ftr_asprintf("%d", 1));
	ck_assert_ptr_null(ftr_aligned(64));
	ck_assert_ptr_null(ftr_calloc(1, 1));
	ck_assert_ptr_null(ftr_reallocarray(NULL, 1, 1));
	ck_assert_ptr_null(ftr_memstream(&text, &len));
	errno = 0;
	ck_assert_ptr_null(ftr_fdopen(0, "r"));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(ftr_opendir("/"));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(ftr_team_new(2));
	ftr_alloc_fail_at(0);
	ck_assert(!ftr_grow(&p, &cap, 1));	/* 2^32 elements */
	ck_assert_ptr_null(p);
	p = ftr_reallocarray(NULL, 0, 0);	/* not NULL */
	ck_assert_ptr_nonnull(p);
	free(p);
	p = ftr_reallocarray(NULL, 1, 0);
	ck_assert_ptr_nonnull(p);
	free(p);
}
END_TEST

/* vasprintf() fails: the character is not in the character set of the "C" locale. */
START_TEST(text_that_cannot_be_printed)
{
	char *text = ftr_asprintf("%ls", L"a");

	ck_assert_str_eq(text, "a");
	free(text);
	ck_assert_ptr_null(ftr_asprintf("%ls", L"\u20ac"));
}
END_TEST

START_TEST(texts_of_errors)
{
	struct ftr_err err = { 0 };
	char longest[FTR_ERR_MAX];

	for (int i = 0; i <= FTR_INTERNAL; i++)
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(ftr_status_str((enum ftr_status)i),
					 ftr_status_str((enum ftr_status)k));
	ck_assert_str_eq(ftr_status_str(FTR_OK), "ok");
	ck_assert_str_eq(ftr_status_str((enum ftr_status)99), "unknown status");
	ck_assert_int_eq(ftr_fail(&err, FTR_LIMIT, "x"), FTR_LIMIT);
	ck_assert_int_eq(ftr_err_prefix(&err, "file %d", 7), FTR_LIMIT);
	ck_assert_str_eq(err.msg, "file 7: x");
	/* a prefix that fills the text */
	memset(longest, 'y', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(ftr_err_prefix(&err, "%s", longest), FTR_LIMIT);
	ck_assert_str_eq(err.msg, longest);
	ck_assert_int_eq(ftr_err_prefix(&err, "%sz", longest), FTR_LIMIT);
	ck_assert_str_eq(err.msg, longest);
	ck_assert_int_eq(ftr_err_prefix(NULL, "z"), FTR_INTERNAL);
}
END_TEST

START_TEST(columns_of_bytes)
{
	const size_t stride = 3 * BYTES_COLUMNS + 1;
	uint8_t from[50 * (3 * BYTES_COLUMNS + 1)], to[BYTES_COLUMNS][50 + 1];
	uint8_t *at[BYTES_COLUMNS];
	struct ftr_rng r;

	ftr_rng_seed(&r, 1);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)ftr_rng_below(&r, 256);
	for (size_t rows = 0; rows <= 50; rows++) {
		memset(to, 0xee, sizeof(to));
		for (size_t c = 0; c < BYTES_COLUMNS; c++)
			at[c] = c % 5 == rows % 5 ? NULL : to[c];
		bytes_columns(at, from + 7, stride, rows < 50 ? rows : 49);
		for (size_t c = 0; c < BYTES_COLUMNS; c++)
			for (size_t i = 0; i <= 50; i++)
				ck_assert_uint_eq(to[c][i], at[c] && i < rows &&
						  i < 49 ?
						  from[7 + i * stride + c] : 0xee);
	}
}
END_TEST

START_TEST(rng_is_seeded_and_uniform)
{
	struct ftr_rng a, b;
	uint32_t hits[7] = { 0 }, perm[50];
	bool seen[50] = { false };

	ftr_rng_seed(&a, 42);
	ftr_rng_seed(&b, 42);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(ftr_rng_next(&a), ftr_rng_next(&b));
	for (int i = 0; i < 70000; i++)
		hits[ftr_rng_below(&a, 7)]++;
	for (int i = 0; i < 7; i++)
		ck_assert(hits[i] > 9500 && hits[i] < 10500);
	/* 2^32 is not a multiple of this number; half of the random words are rejected */
	for (int i = 0; i < 100; i++)
		ck_assert_uint_lt(ftr_rng_below(&a, 0x80000001), 0x80000001);
	ftr_rng_perm(&a, perm, 50);
	for (int i = 0; i < 50; i++) {
		ck_assert(!seen[perm[i]]);
		seen[perm[i]] = true;
	}
}
END_TEST

START_TEST(natural_order)
{
	static const char *const sorted[] = {
		"", "a", "a1", "a2", "a10", "a10b", "ab", "n1-2", "n1-10",
		"n2-1", "node09", "node9a", "node10",
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(sorted); i++)
		for (size_t k = 0; k < FTR_ARRAY_LEN(sorted); k++) {
			int c = ftr_natural_cmp(sorted[i], sorted[k]);

			ck_assert_int_eq((c > 0) - (c < 0), (i > k) - (i < k));
		}
	ck_assert_int_ne(ftr_natural_cmp("a01", "a1"), 0);
	ck_assert_int_eq(ftr_natural_cmp("a01", "a1") > 0,
			 ftr_natural_cmp("a1", "a01") < 0);
}
END_TEST

static atomic_uint touched[1000];

static void touch(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	ck_assert_ptr_eq(ctx, touched);
	ck_assert_uint_lt(worker, 4);
	for (uint32_t i = begin; i < end; i++)
		atomic_fetch_add(&touched[i], 1);
}

START_TEST(team_does_all_once)
{
	for (unsigned int size = 1; size <= 4; size++) {
		struct ftr_team *t = ftr_team_new(size);

		ck_assert_uint_eq(ftr_team_size(t), size);
		for (int run = 0; run < 200; run++) {
			uint32_t n = (uint32_t)run * 5;

			memset(touched, 0, sizeof(touched));
			ftr_team_run(t, n, 3, touch, touched);
			for (uint32_t i = 0; i < 1000; i++)
				ck_assert_uint_eq(touched[i], i < n);
		}
		ftr_team_free(t);
	}
	ck_assert_uint_eq(ftr_team_size(NULL), 1);
	ftr_team_free(NULL);
}
END_TEST

/* A team of all CPUs; chunks of 0 elements, which count as 1.  If a thread cannot be made, there is no
 * team. */
START_TEST(team_of_all_cpus)
{
	struct ftr_team *t = ftr_team_new(0);
	pthread_attr_t attr;

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_ge(ftr_team_size(t), 1);
	ftr_team_free(t);
	t = ftr_team_new(2);
	memset(touched, 0, sizeof(touched));
	ftr_team_run(t, 1000, 0, touch, touched);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(touched[i], 1);
	ftr_team_free(t);
	/* a stack that does not fit the address space */
	ck_assert(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, (size_t)1 << 60) &&
		  !pthread_setattr_default_np(&attr));
	ck_assert_ptr_null(ftr_team_new(3));
}
END_TEST

#define ROWS 192

static void random_row(struct ftr_rng *r, uint8_t *row)
{
	/* infinity and small values, as in the rows of a cost table */
	for (int i = 0; i < ROWS; i++)
		row[i] = ftr_rng_below(r, 3) ?
			(uint8_t)ftr_rng_below(r, 6) : FTR_BYTE_INF;
	row[0] = 254;
}

START_TEST(byte_kernels_equal_simple_loops)
{
	_Alignas(64) uint8_t a[ROWS], b[ROWS], to[ROWS], last[ROWS], was[ROWS];
	_Alignas(64) uint8_t flag[ROWS];
	struct ftr_rng r;

	ftr_rng_seed(&r, 1);
	for (int run = 0; run < 200; run++) {
		random_row(&r, a);
		random_row(&r, b);
		memcpy(to, a, ROWS);
		bytes_step(to, ROWS);
		for (int i = 0; i < ROWS; i++)
			ck_assert_int_eq(to[i], a[i] == FTR_BYTE_INF ? FTR_BYTE_INF : a[i] + 1);
		memcpy(to, a, ROWS);
		bytes_min(to, b, ROWS);
		for (int i = 0; i < ROWS; i++)
			ck_assert_int_eq(to[i], b[i] < a[i] ? b[i] : a[i]);
		for (int i = 0; i < ROWS; i++)
			flag[i] = ftr_rng_below(&r, 2) ? 0 : 1;
		memcpy(to, a, ROWS);
		bytes_take(to, b, flag, ROWS);
		for (int i = 0; i < ROWS; i++)
			ck_assert_int_eq(to[i], flag[i] ? b[i] : a[i]);
		memcpy(to, a, ROWS);
		bytes_clear(to, flag, ROWS);
		for (int i = 0; i < ROWS; i++)
			ck_assert_int_eq(to[i], flag[i] ? 0 : a[i]);
		memcpy(to, flag, ROWS);
		bytes_flag_less(to, a, b, ROWS);
		for (int i = 0; i < ROWS; i++)
			ck_assert_int_eq(to[i], flag[i] || a[i] < b[i]);
		random_row(&r, was);
		memcpy(to, was, ROWS);
		memset(last, 7, ROWS);
		bytes_count_less(to, last, 9, a, b, ROWS);
		for (int i = 0; i < ROWS; i++) {
			ck_assert_int_eq(to[i], (uint8_t)(was[i] + (b[i] < a[i])));
			ck_assert_int_eq(last[i], b[i] < a[i] ? 9 : 7);
		}
	}
}
END_TEST

START_TEST(byte_lookup)
{
	_Alignas(64) uint8_t from[ROWS], to[ROWS], map[256];
	struct ftr_rng r;

	ftr_rng_seed(&r, 2);
	for (int run = 0; run < 200; run++) {
		for (int i = 0; i < 256; i++)
			map[i] = (uint8_t)ftr_rng_next(&r);
		for (int i = 0; i < ROWS; i++)
			from[i] = (uint8_t)ftr_rng_next(&r);
		bytes_lookup(to, from, ROWS, map);
		for (int i = 0; i < ROWS; i++)
			ck_assert_uint_eq(to[i], map[from[i]]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core");
	TCase *t = tcase_create("core");

	tcase_add_test(t, arena_aligns_and_keeps);
	tcase_add_test(t, chunks_grow);
	tcase_add_test(t, columns_of_bytes);
	tcase_add_test(t, allocations_fail_on_request);
	tcase_add_test(t, each_function_fails);
	tcase_add_test(t, text_that_cannot_be_printed);
	tcase_add_test(t, texts_of_errors);
	tcase_add_test(t, rng_is_seeded_and_uniform);
	tcase_add_test(t, natural_order);
	tcase_add_test(t, team_does_all_once);
	tcase_add_test(t, team_of_all_cpus);
	tcase_add_test(t, byte_kernels_equal_simple_loops);
	tcase_add_test(t, byte_lookup);
	suite_add_tcase(s, t);
	return run_suite(s);
}
