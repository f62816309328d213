// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random numbers, a hash, and the comparison of numbers and of names.  The generator is xoshiro256** by
 * Blackman and Vigna, seeded with splitmix64.  It gives the same sequence on every machine, so a
 * run can be repeated with its printed seed.
 */
#include <string.h>

#include "base/base.h"

void ftr_rng_seed(struct ftr_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += UINT64_C(0x9E3779B97F4A7C15);
		r->s[i] = ftr_mix(seed);
	}
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t ftr_rng_next(struct ftr_rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint32_t ftr_rng_below(struct ftr_rng *r, uint32_t n)
{
	/* to keep the result uniform, values below 2^32 mod n are rejected */
	uint32_t low = (uint32_t)-n % n, x;

	do
		x = (uint32_t)(ftr_rng_next(r) >> 32);
	while (x < low);
	return x % n;
}

void ftr_rng_perm(struct ftr_rng *r, uint32_t *perm, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = ftr_rng_below(r, i + 1);

		perm[i] = perm[j];
		perm[j] = i;
	}
}

uint64_t ftr_hash_words(uint64_t hash, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t w[4];

	for (; n >= sizeof(w); p += sizeof(w), n -= sizeof(w)) {
		memcpy(w, p, sizeof(w));
		hash ^= w[0] + w[1] * UINT64_C(0x9e3779b97f4a7c15) +
			w[2] * UINT64_C(0xbf58476d1ce4e5b9) + w[3] * UINT64_C(0x94d049bb133111eb);
		hash *= UINT64_C(0x100000001b3);
		hash ^= hash >> 32;	/* else high bits do not change low ones */
	}
	return ftr_hash(hash, p, n);
}

int ftr_u32_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return FTR_ORDER(x, y);
}

int ftr_key_cmp(const void *a, const void *b)
{
	const struct ftr_key *x = a, *y = b;

	return FTR_ORDER(x->key, y->key) ?: FTR_ORDER(x->idx, y->idx);
}

int ftr_u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return FTR_ORDER(x, y);
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Compare the numbers at *a and *b, and step over them. */
static int number_cmp(const char **a, const char **b)
{
	const char *x = *a, *y = *b;
	size_t nx = 0, ny = 0;

	while (*x == '0')
		x++;
	while (*y == '0')
		y++;
	while (digit(x[nx]))
		nx++;
	while (digit(y[ny]))
		ny++;
	*a = x + nx;
	*b = y + ny;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return memcmp(x, y, nx);
}

int ftr_natural_cmp(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x && *y) {
		if (digit(*x) && digit(*y)) {
			int c = number_cmp(&x, &y);

			if (c)
				return c;
			continue;
		}
		if (*x != *y)
			return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
		x++;
		y++;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	return strcmp(a, b);	/* "a01" and "a1" are equal as numbers, but not as bytes */
}
