/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * core: memory, growing arrays, random numbers, hashes, natural order, union-find.
 *
 * This module knows nothing about fabrics.  The library and the plugin allocate memory in two
 * ways: in arenas, which are freed as a whole, and with ftr_malloc() and similar functions.  A
 * test can make the n-th allocation fail.  An allocation in an arena counts once, and once more if it
 * needs a new chunk.
 */
#ifndef FTR_BASE_BASE_H
#define FTR_BASE_BASE_H

#include <dirent.h>
#include <stdio.h>

#include <ftr/status.h>
#include <ftr/team.h>
#include <ftr/types.h>

#define FTR_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define FTR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FTR_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- memory ------------------------------------------------------------ */

/* Like the functions of the C library, but tests can make them fail (ftr_alloc_fails).  A
 * size of 0 is allowed.  NULL: out of memory, or n * size overflows.  Free with free(). */
void *ftr_malloc(size_t size);
void *ftr_calloc(size_t n, size_t size);
void *ftr_reallocarray(void *p, size_t n, size_t size);
/* Memory aligned to 64 bytes.  Free with free(). */
void *ftr_aligned(size_t size);
char *ftr_strdup(const char *s);
/* NULL: no memory. */
char *ftr_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
FILE *ftr_fdopen(int fd, const char *mode);
DIR *ftr_opendir(const char *path);
/* Like open_memstream(); NULL: out of memory. */
FILE *ftr_memstream(char **text, size_t *len);
/* Close the stream.  Returns false if there was not enough memory; *text is then freed and NULL. */
bool ftr_memstream_end(FILE *out, char **text);

/* For tests: is called before each allocation, which fails if it returns true.  NULL: none fails. */
extern bool (*ftr_alloc_fails)(void);

/* An arena hands out memory from large chunks; a block cannot be freed by itself.  Blocks of 64
 * bytes or more are aligned to 64 bytes, smaller blocks to 16.  ftr_arena_zalloc() zeroes the
 * memory, ftr_arena_alloc() does not.  NULL: no memory. */
struct ftr_arena;
struct ftr_arena *ftr_arena_new(void);
void ftr_arena_free(struct ftr_arena *a);	/* NULL is accepted */
void *ftr_arena_alloc(struct ftr_arena *a, size_t n, size_t size);
void *ftr_arena_zalloc(struct ftr_arena *a, size_t n, size_t size);
/* Set p to a new array of n elements in arena a, or to NULL if memory is exhausted.  FTR_ZNEW
 * zeroes the elements. */
#define FTR_NEW(a, p, n) ((p) = ftr_arena_alloc((a), (n), sizeof(*(p))))
#define FTR_ZNEW(a, p, n) ((p) = ftr_arena_zalloc((a), (n), sizeof(*(p))))
/* Copy s, but at most max bytes of it, and add a NUL.  If s is NULL, the copy is "". */
char *ftr_arena_strndup(struct ftr_arena *a, const char *s, size_t max);
size_t ftr_arena_bytes(const struct ftr_arena *a);	/* size of all chunks */

/* Ensure that an array of n elements, with space for cap elements, has space for one more.
 * Returns false if out of memory.  With `?:` and not `||`, the MC/DC of the callers' conditions can be
 * measured. */
#define FTR_GROW(ptr, n, cap)						\
	((n) < (cap) ? true : ftr_grow((void **)&(ptr), &(cap), sizeof(*(ptr))))
bool ftr_grow(void **ptr, uint32_t *cap, size_t size);

/* ---- random numbers ---------------------------------------------------- */

/* xoshiro256** seeded by splitmix64: the same sequence on every machine. */
struct ftr_rng {
	uint64_t s[4];
};

void ftr_rng_seed(struct ftr_rng *r, uint64_t seed);
uint64_t ftr_rng_next(struct ftr_rng *r);
/* Returns a random number in 0..n-1, all equally likely; n >= 1. */
uint32_t ftr_rng_below(struct ftr_rng *r, uint32_t n);
/* Fill perm with a random permutation of 0..n-1. */
void ftr_rng_perm(struct ftr_rng *r, uint32_t *perm, uint32_t n);

/* The finalizer of splitmix64 (Steele, Lea and Flood, 2014): every bit of the result
 * depends on every bit of x, and different x have different results. */
static inline uint64_t ftr_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* ---- hash -------------------------------------------------------------- */

/* FNV-1a, 64 bits.  Begin with FTR_HASH_INIT, and pass the result on with the next piece of the
 * text.  Two texts that differ in exactly one byte have different hashes. */
#define FTR_HASH_INIT UINT64_C(0xcbf29ce484222325)

static inline uint64_t ftr_hash(uint64_t hash, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Like ftr_hash(), but of 32 bytes at a time, which is faster. */
uint64_t ftr_hash_words(uint64_t hash, const void *data, size_t n);

/* ---- order ------------------------------------------------------------- */

/* "node2" < "node10": runs of digits compare as numbers, other characters as bytes.  The
 * result is 0 only if the strings are equal. */
int ftr_natural_cmp(const char *a, const char *b);

/* A number to sort or to find by, and the index of the object that it belongs to. */
struct ftr_key {
	uint64_t key;
	uint32_t idx;
};

/* For qsort() and bsearch(): ascending order of numbers, or of structs whose first member is
 * the number. */
int ftr_u32_cmp(const void *a, const void *b);
int ftr_u64_cmp(const void *a, const void *b);
/* Ascending order of struct ftr_key, first by key, then by idx. */
int ftr_key_cmp(const void *a, const void *b);

/* ---- union-find -------------------------------------------------------- */

/* Sets of the numbers 0 .. n-1.  uf[i] is the parent of i, initially i itself.  ftr_uf_find()
 * returns the root of i, which represents its set.  ftr_uf_union() unites two sets; the smaller
 * root becomes the parent, so the root of a set is its smallest member. */
static inline void ftr_uf_init(uint32_t *uf, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		uf[i] = i;
}

static inline uint32_t ftr_uf_find(uint32_t *uf, uint32_t i)
{
	while (uf[i] != i) {
		uf[i] = uf[uf[i]];
		i = uf[i];
	}
	return i;
}

static inline void ftr_uf_union(uint32_t *uf, uint32_t a, uint32_t b)
{
	a = ftr_uf_find(uf, a);
	b = ftr_uf_find(uf, b);
	if (a < b)
		uf[b] = a;
	else
		uf[a] = b;
}

#endif
