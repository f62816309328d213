// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <dirent.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "chains.h"
#include "lib/alloc.h"

#define ALLOCATIONS 100000

/* hash[n]: of the chain of calls that makes allocation n; 0: not known.  Written if `records`. */
static uint64_t hash[ALLOCATIONS];
/* number[n]: of the chain of allocation n, in the order of their first allocations */
static unsigned long number[ALLOCATIONS], all, chains;
static bool records;
static unsigned int depth;

/* The chains of the last recording, in the order of their first allocations; and the one that fails. */
static uint64_t chain[ALLOCATIONS];
static unsigned long n_chains;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t failing;

static bool is_in(const uint64_t *list, unsigned long n, uint64_t what)
{
	for (unsigned long k = 0; k < n; k++)
		if (list[k] == what)
			return true;
	return false;
}

/* The chain of calls of the allocation that a wrapper is about to make; 0: nobody asks.  If it is the
 * failing one, the allocation fails. */
static __attribute__((noinline)) uint64_t enter(void)
{
	void *at[CHAINS_WHOLE];
	uint64_t sum;

	if (!records && !__atomic_load_n(&failing, __ATOMIC_RELAXED))
		return 0;
	sum = ftr_hash(FTR_HASH_INIT, at, (size_t)backtrace(at, (int)depth) * sizeof(at[0])) | 1;
	pthread_mutex_lock(&mutex);
	if (sum == failing) {
		failing = 0;
		ftr_alloc_fail_once(1);
	}
	if (records && !is_in(chain, n_chains, sum)) {
		ck_assert_uint_lt(n_chains, ALLOCATIONS);
		chain[n_chains++] = sum;
	}
	pthread_mutex_unlock(&mutex);
	return sum;
}

static void record(unsigned long before, uint64_t sum)
{
	if (records)
		for (unsigned long n = before + 1; n <= ftr_alloc_count() && n < ALLOCATIONS; n++)
			hash[n] = sum;
}

/* wraps name(args), with the names given */
#define WRAP(type, name, args, given)					\
	type __real_##name args;					\
	type __wrap_##name args						\
	{								\
		uint64_t sum = enter();					\
		unsigned long before = ftr_alloc_count();		\
		type result = __real_##name given;			\
									\
		record(before, sum);					\
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
WRAP(char *, ftr_strdup, (const char *s), (s))
WRAP(FILE *, ftr_fdopen, (int fd, const char *mode), (fd, mode))
WRAP(DIR *, ftr_opendir, (const char *path), (path))
WRAP(FILE *, ftr_memstream, (char **text, size_t *len), (text, len))
WRAP(bool, ftr_memstream_end, (FILE *out, char **text), (out, text))

char *__real_ftr_asprintf(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
char *__wrap_ftr_asprintf(const char *fmt, ...)
{
	uint64_t sum = enter();
	unsigned long before = ftr_alloc_count();
	char *text, *result;
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_ge(vasprintf(&text, fmt, ap), 0);
	va_end(ap);
	result = __real_ftr_asprintf("%s", text);
	free(text);
	record(before, sum);
	return result;
}

void chains_begin(unsigned int innermost)
{
	depth = innermost;
	memset(hash, 0, sizeof(hash));
	n_chains = 0;
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

uint64_t chains_new(void)
{
	static uint64_t old[ALLOCATIONS];
	static unsigned long n_old;

	for (unsigned long k = 0; k < n_chains; k++)
		if (!is_in(old, n_old, chain[k])) {
			ck_assert_uint_lt(n_old, ALLOCATIONS);
			old[n_old++] = chain[k];
			return chain[k];
		}
	return 0;
}

bool chains_fail(uint64_t what)
{
	bool failed;

	pthread_mutex_lock(&mutex);
	failed = !failing;
	failing = what;
	pthread_mutex_unlock(&mutex);
	ftr_alloc_fail_at(0);
	return failed;
}
