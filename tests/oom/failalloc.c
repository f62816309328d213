// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload into a program.  It makes allocations of the program fail, including those
 * inside libc and other libraries.
 *
 *	FAILALLOC_AT=N		the N-th allocation fails (the first is 1); unset: none fails
 *	FAILALLOC_ALL=1		all later allocations fail, too
 *	FAILALLOC_COUNT=FILE	write the number of allocations to FILE at exit
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc also exports its allocation functions under these names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

#define EXPORT __attribute__((visibility("default")))

static atomic_ulong count;
static unsigned long at;
static int all;
static int counts_to = -1;

__attribute__((constructor)) static void start(void)
{
	const char *n = getenv("FAILALLOC_AT"), *to = getenv("FAILALLOC_COUNT");

	all = getenv("FAILALLOC_ALL") != NULL;
	at = n ? strtoul(n, NULL, 10) : 0;
	if (to)
		counts_to = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				 0600);
	atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
	if (counts_to >= 0)
		dprintf(counts_to, "%lu\n", atomic_load(&count));
}

static int fails(void)
{
	unsigned long n = atomic_fetch_add(&count, 1) + 1;

	if (!at || (all ? n < at : n != at))
		return 0;
	errno = ENOMEM;
	return 1;
}

EXPORT void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, n * size);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

EXPORT void *memalign(size_t align, size_t size)
{
	return aligned_alloc(align, size);
}

EXPORT int posix_memalign(void **p, size_t align, size_t size)
{
	void *got = aligned_alloc(align, size);

	if (!got)
		return ENOMEM;
	*p = got;
	return 0;
}
