// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <execinfo.h>
#include <string.h>

#include "base/base.h"
#include "chains.h"

#define ALLOCATIONS 100000

/* hash[n]: of the chain of calls that makes allocation n; 0: not known.  Written if `records`. */
static uint64_t hash[ALLOCATIONS];
/* number[n]: of the chain of allocation n, in the order of their first allocations */
static unsigned long number[ALLOCATIONS], all, chains;
static bool records;
static unsigned int depth;

static void record(unsigned long before)
{
	void *at[CHAINS_WHOLE];
	uint64_t sum;

	if (!records)
		return;
	sum = ftr_hash(FTR_HASH_INIT, at, (size_t)backtrace(at, (int)depth) * sizeof(at[0])) | 1;
	for (unsigned long n = before + 1; n <= ftr_alloc_count() && n < ALLOCATIONS; n++)
		hash[n] = sum;
}

/* wraps name(args), with the names given */
#define WRAP(type, name, args, given)					\
	type __real_##name args;					\
	type __wrap_##name args						\
	{								\
		unsigned long before = ftr_alloc_count();		\
		type result = __real_##name given;			\
									\
		record(before);						\
		return result;						\
	}
WRAP(void *, ftr_malloc, (size_t size), (size))
WRAP(void *, ftr_calloc, (size_t n, size_t size), (n, size))
WRAP(void *, ftr_reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(void *, ftr_aligned, (size_t size), (size))
WRAP(bool, ftr_grow, (void **ptr, uint32_t *cap, size_t size), (ptr, cap, size))
WRAP(struct ftr_arena *, ftr_arena_new, (void), ())
WRAP(void *, ftr_arena_alloc, (struct ftr_arena *a, size_t n, size_t size), (a, n, size))
WRAP(void *, ftr_arena_zalloc, (struct ftr_arena *a, size_t n, size_t size), (a, n, size))
WRAP(char *, ftr_arena_strndup, (struct ftr_arena *a, const char *s, size_t max), (a, s, max))

void chains_begin(unsigned int innermost)
{
	depth = innermost;
	memset(hash, 0, sizeof(hash));
	records = true;
	ftr_alloc_fail_at(0);
}

unsigned long chains_end(void)
{
	records = false;
	all = ftr_alloc_count();
	ck_assert_uint_lt(all, ALLOCATIONS);
	chains = 0;
	for (unsigned long n = 1; n <= all; n++) {
		unsigned long k = 1;

		while (k < n && (!hash[n] || hash[k] != hash[n]))
			k++;
		number[n] = k < n ? number[k] : chains++;
	}
	return all;
}

unsigned long chains_count(void)
{
	return chains;
}

static bool is_listed(unsigned long from, unsigned long to, unsigned long what)
{
	for (unsigned long n = from; n < to; n++)
		if (number[n] == what)
			return true;
	return false;
}

bool chains_is_first(unsigned long n, unsigned long every)
{
	return number[n] % every == 0 && !is_listed(1, n, number[n]);
}

bool chains_is_last(unsigned long n, unsigned long every)
{
	return number[n] % every == 0 && !is_listed(n + 1, all + 1, number[n]);
}
