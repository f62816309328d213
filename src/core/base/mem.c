// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory.  An arena is a list of chunks.  Most allocations only advance an offset in the first
 * chunk.  If the first chunk has too little space, a new chunk of at least CHUNK bytes is
 * allocated.  One call frees all chunks.
 *
 * The chunks grow with the arena, up to 2 MB.  Huge pages (madvise) are not used: if none is free,
 * the kernel moves memory to make one.  Routing 11,664 hosts then took up to twice as long.  Only
 * whatif uses them if it makes many runs, because it uses the same memory again and again.
 *
 *	arena -> chunk -> chunk -> ...
 *	         [header|used......|free....]
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define CHUNK (64u * 1024)
#define LARGE ((size_t)2 << 20)	/* a chunk is larger only if one allocation needs more */

bool (*ftr_alloc_fails)(void);

static bool fails(void)
{
	bool (*fn)(void) = __atomic_load_n(&ftr_alloc_fails, __ATOMIC_RELAXED);

	return fn && fn();
}

void *ftr_malloc(size_t size)
{
	return fails() ? NULL : malloc(size ? size : 1);
}

void *ftr_calloc(size_t n, size_t size)
{
	return fails() ? NULL : calloc(n ? n : 1, size ? size : 1);
}

void *ftr_reallocarray(void *p, size_t n, size_t size)
{
	if (fails())
		return NULL;
	return reallocarray(p, n ? n : 1, size ? size : 1);
}

void *ftr_aligned(size_t size)
{
	void *p;

	return fails() || posix_memalign(&p, 64, size ? size : 1) ? NULL : p;
}

char *ftr_strdup(const char *s)
{
	return fails() ? NULL : strdup(s);
}

char *ftr_asprintf(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	if (fails())
		return NULL;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

static bool fails_with_errno(void)
{
	bool f = fails();

	if (f)
		errno = ENOMEM;
	return f;
}

FILE *ftr_fdopen(int fd, const char *mode)
{
	return fails_with_errno() ? NULL : fdopen(fd, mode);
}

DIR *ftr_opendir(const char *path)
{
	return fails_with_errno() ? NULL : opendir(path);
}

FILE *ftr_memstream(char **text, size_t *len)
{
	return fails() ? NULL : open_memstream(text, len);
}

bool ftr_memstream_end(FILE *out, char **text)
{
	bool bad = fails();

	bad |= ferror(out) != 0;
	bad |= fclose(out) != 0;
	if (!bad)
		return true;
	free(*text);
	*text = NULL;
	return false;
}

bool ftr_grow(void **ptr, uint32_t *cap, size_t size)
{
	uint32_t n = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return false;
	p = ftr_reallocarray(*ptr, n, size);
	if (!p)
		return false;
	*ptr = p;
	*cap = n;
	return true;
}

struct chunk {
	struct chunk *next;
	size_t used, size;	/* bytes in use, and all bytes, without the header */
	char pad[64 - sizeof(void *) - 2 * sizeof(size_t)];
};

_Static_assert(sizeof(struct chunk) == 64, "data must stay aligned to cache lines");

struct ftr_arena {
	struct chunk *head;
	size_t bytes;
};

struct ftr_arena *ftr_arena_new(void)
{
	return ftr_calloc(1, sizeof(struct ftr_arena));
}

void ftr_arena_free(struct ftr_arena *a)
{
	if (!a)
		return;
	while (a->head) {
		struct chunk *c = a->head;

		a->head = c->next;
		free(c);
	}
	free(a);
}

static char *chunk_data(struct chunk *c)
{
	return (char *)(c + 1);
}

/* The size, with the header, of a new chunk that has room for `bytes` bytes. */
static size_t chunk_size(const struct ftr_arena *a, size_t bytes)
{
	size_t least = FTR_MIN(FTR_MAX(a->bytes, (size_t)CHUNK), (size_t)LARGE);
	size_t want = sizeof(struct chunk) + bytes;

	return FTR_MAX(want, least);
}

static struct chunk *chunk_new(struct ftr_arena *a, size_t bytes)
{
	size_t size = chunk_size(a, bytes);
	struct chunk *c = ftr_aligned(size);

	if (!c)
		return NULL;
	c->size = size - sizeof(*c);
	c->used = 0;
	a->bytes += size;
	/* the chunk with more free space becomes the first in the list */
	if (a->head && a->head->size - a->head->used > c->size - bytes) {
		c->next = a->head->next;
		a->head->next = c;
	} else {
		c->next = a->head;
		a->head = c;
	}
	return c;
}

void *ftr_arena_alloc(struct ftr_arena *a, size_t n, size_t size)
{
	struct chunk *c = a->head;
	size_t bytes, align, at;

	if (fails() || (size && n > (SIZE_MAX - LARGE) / size))
		return NULL;
	bytes = FTR_MAX(n * size, (size_t)1);
	align = bytes >= 64 ? 64 : 16;
	at = c ? (c->used + align - 1) & ~(align - 1) : 0;
	if (!c || at + bytes > c->size) {
		c = chunk_new(a, bytes);
		if (!c)
			return NULL;
		at = 0;
	}
	c->used = at + bytes;
	return chunk_data(c) + at;
}

void *ftr_arena_zalloc(struct ftr_arena *a, size_t n, size_t size)
{
	void *p = ftr_arena_alloc(a, n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

char *ftr_arena_strndup(struct ftr_arena *a, const char *s, size_t max)
{
	size_t len = s ? strnlen(s, max) : 0;
	char *p = ftr_arena_alloc(a, len + 1, 1);

	if (p) {
		if (len)
			memcpy(p, s, len);
		p[len] = '\0';
	}
	return p;
}

size_t ftr_arena_bytes(const struct ftr_arena *a)
{
	return a->bytes;
}
