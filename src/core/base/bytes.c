// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Kernels over rows of bytes.
 *
 * Most kernels are one inline function, which is compiled twice on x86-64: for the base
 * instruction set and for AVX2.  Each call selects one of the two versions.  ("target_clones" of
 * GCC is not used: there the dynamic linker selects, before a sanitizer is initialised.)
 *
 * bytes_lookup() and bytes_equal() have hand-written AVX2 versions.  AVX2 can look up many bytes at
 * once, but only in a map of 16 elements.  So bytes_lookup() divides its map into planes of 16
 * elements; plane k serves the indices whose high four bits are k.  With more than
 * MAX_PLANES planes, or without AVX2, each byte is looked up separately.
 */
#include <endian.h>

#include "base/bytes.h"

/* GCC: vectorise the loops over bytes at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define INLINE static inline __attribute__((always_inline))
#define ROW(p) __builtin_assume_aligned((p), 64)

INLINE void relax(uint8_t *restrict to_, const uint8_t *restrict from_,
		  size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *from = ROW(from_);

	for (size_t i = 0; i < n; i++) {
		uint8_t v = (uint8_t)(from[i] + (from[i] != FTR_BYTE_INF));

		to[i] = v < to[i] ? v : to[i];
	}
}

INLINE void min(uint8_t *restrict to_, const uint8_t *restrict from_, size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *from = ROW(from_);

	for (size_t i = 0; i < n; i++)
		to[i] = from[i] < to[i] ? from[i] : to[i];
}

INLINE void take(uint8_t *restrict to_, const uint8_t *restrict from_,
		 const uint8_t *restrict flag_, size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *from = ROW(from_), *flag = ROW(flag_);

	/* with "if (flag[i])", GCC would not vectorise the loop */
	for (size_t i = 0; i < n; i++) {
		uint8_t mask = flag[i] ? 0xff : 0;

		to[i] = (uint8_t)((from[i] & mask) | (to[i] & ~mask));
	}
}

INLINE void relax_flag(uint8_t *restrict to_, uint8_t *restrict flag_,
		       const uint8_t *restrict low_,
		       const uint8_t *restrict from_, size_t n)
{
	uint8_t *to = ROW(to_), *flag = ROW(flag_);
	const uint8_t *low = ROW(low_), *from = ROW(from_);

	for (size_t i = 0; i < n; i++) {
		uint8_t v = (uint8_t)(from[i] + (from[i] != FTR_BYTE_INF));

		to[i] = v < to[i] ? v : to[i];
		flag[i] = (uint8_t)(flag[i] | (low[i] < from[i]));
	}
}

INLINE void flag_less(uint8_t *restrict flag_, const uint8_t *restrict a_,
		      const uint8_t *restrict b_, size_t n)
{
	uint8_t *flag = ROW(flag_);
	const uint8_t *a = ROW(a_), *b = ROW(b_);

	for (size_t i = 0; i < n; i++)
		flag[i] = (uint8_t)(flag[i] | (a[i] < b[i]));
}

INLINE void count_less(uint8_t *restrict count_, uint8_t *restrict last_,
		       uint8_t k, const uint8_t *restrict mine_,
		       const uint8_t *restrict theirs_, size_t n)
{
	uint8_t *count = ROW(count_), *last = ROW(last_);
	const uint8_t *mine = ROW(mine_), *theirs = ROW(theirs_);

	for (size_t i = 0; i < n; i++) {
		uint8_t hit = theirs[i] < mine[i];

		count[i] = (uint8_t)(count[i] + hit);
		last[i] = hit ? k : last[i];
	}
}

INLINE void count_flag(uint8_t *restrict count_, uint8_t *restrict last_,
		       uint8_t *restrict flag_, uint8_t k,
		       const uint8_t *restrict mine_,
		       const uint8_t *restrict low_,
		       const uint8_t *restrict theirs_, size_t n)
{
	uint8_t *count = ROW(count_), *last = ROW(last_), *flag = ROW(flag_);
	const uint8_t *mine = ROW(mine_), *low = ROW(low_);
	const uint8_t *theirs = ROW(theirs_);

	for (size_t i = 0; i < n; i++) {
		uint8_t hit = theirs[i] < mine[i];

		count[i] = (uint8_t)(count[i] + hit);
		last[i] = hit ? k : last[i];
		flag[i] = (uint8_t)(flag[i] | (low[i] < theirs[i]));
	}
}

INLINE void clear(uint8_t *restrict to_, const uint8_t *restrict flag_,
		  size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *flag = ROW(flag_);

	for (size_t i = 0; i < n; i++)
		to[i] = flag[i] ? 0 : to[i];
}

INLINE void equal(uint64_t *restrict bits, const uint8_t *restrict row_,
		  uint8_t value, size_t n)
{
	const uint8_t *row = ROW(row_);

	for (size_t i = 0; i < n; i += 64) {
		uint64_t word = 0;

		for (size_t k = 0; k < 64; k++)
			word |= (uint64_t)(row[i + k] == value) << k;
		bits[i / 64] = word;
	}
}

INLINE void lookup(uint8_t *restrict to, const uint8_t *restrict from,
		   size_t n, const uint8_t *restrict map)
{
	for (size_t i = 0; i < n; i++)
		to[i] = map[from[i]];
}

#if defined(__x86_64__)
#include <immintrin.h>

#define MAX_PLANES 4
#define AVX2 __attribute__((target("avx2")))
#define HAVE_AVX2 __builtin_cpu_supports("avx2")

AVX2 static void lookup_avx2(uint8_t *to, const uint8_t *from, size_t n,
			     const uint8_t *map, unsigned int planes)
{
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i part[MAX_PLANES];

	for (unsigned int k = 0; k < planes; k++)
		part[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128(
			(const __m128i *)(const void *)(map + 16 * k)));
	for (size_t i = 0; i < n; i += 32) {
		__m256i x = _mm256_load_si256(
			(const __m256i *)(const void *)(from + i));
		__m256i lo = _mm256_and_si256(x, low);
		__m256i hi = _mm256_and_si256(_mm256_srli_epi16(x, 4), low);
		__m256i out = _mm256_set1_epi8(-1);

		for (unsigned int k = 0; k < planes; k++)
			out = _mm256_blendv_epi8(out,
				_mm256_shuffle_epi8(part[k], lo),
				_mm256_cmpeq_epi8(hi,
					_mm256_set1_epi8((char)k)));
		_mm256_store_si256((__m256i *)(void *)(to + i), out);
	}
}

AVX2 static void equal_avx2(uint64_t *bits, const uint8_t *row, uint8_t value,
			    size_t n)
{
	const __m256i v = _mm256_set1_epi8((char)value);

	for (size_t i = 0; i < n; i += 64) {
		const __m256i *x = (const __m256i *)(const void *)(row + i);
		unsigned int low = (unsigned int)_mm256_movemask_epi8(
			_mm256_cmpeq_epi8(_mm256_load_si256(x), v));
		unsigned int high = (unsigned int)_mm256_movemask_epi8(
			_mm256_cmpeq_epi8(_mm256_load_si256(x + 1), v));

		bits[i / 64] = (uint64_t)high << 32 | low;
	}
}
#else
#define AVX2
#define HAVE_AVX2 0
#endif

/* Define both versions of a kernel, and a function that calls one of them. */
#define VERSIONS(name, params, args)					\
	AVX2 static void name##_avx2 params { name args; }		\
	void bytes_##name params					\
	{								\
		if (HAVE_AVX2)						\
			name##_avx2 args;				\
		else							\
			name args;					\
	}

VERSIONS(relax, (uint8_t *to, const uint8_t *from, size_t n), (to, from, n))
VERSIONS(min, (uint8_t *to, const uint8_t *from, size_t n), (to, from, n))
VERSIONS(take,
	 (uint8_t *to, const uint8_t *from, const uint8_t *flag, size_t n),
	 (to, from, flag, n))
VERSIONS(relax_flag,
	 (uint8_t *to, uint8_t *flag, const uint8_t *low, const uint8_t *from,
	  size_t n),
	 (to, flag, low, from, n))
VERSIONS(count_flag,
	 (uint8_t *count, uint8_t *last, uint8_t *flag, uint8_t k,
	  const uint8_t *mine, const uint8_t *low, const uint8_t *theirs,
	  size_t n),
	 (count, last, flag, k, mine, low, theirs, n))
VERSIONS(flag_less,
	 (uint8_t *flag, const uint8_t *a, const uint8_t *b, size_t n),
	 (flag, a, b, n))
VERSIONS(clear, (uint8_t *to, const uint8_t *flag, size_t n), (to, flag, n))
VERSIONS(count_less,
	 (uint8_t *count, uint8_t *last, uint8_t k, const uint8_t *mine,
	  const uint8_t *theirs, size_t n),
	 (count, last, k, mine, theirs, n))

void bytes_lookup(uint8_t *to, const uint8_t *from, size_t n,
		  const uint8_t *map, unsigned int n_map)
{
#if defined(__x86_64__)
	unsigned int planes = (n_map + 15) / 16;

	if (planes <= MAX_PLANES && HAVE_AVX2) {
		lookup_avx2(to, from, n, map, planes);
		return;
	}
#else
	(void)n_map;
#endif
	lookup(to, from, n, map);
}

void bytes_equal(uint64_t *bits, const uint8_t *row, uint8_t value, size_t n)
{
#if defined(__x86_64__)
	if (HAVE_AVX2) {
		equal_avx2(bits, row, value, n);
		return;
	}
#endif
	equal(bits, row, value, n);
}

/* ---- columns -------------------------------------------------------------- */

/* Exchange the bytes of b that `mask` selects with the bytes of a that `mask << shift` selects. */
INLINE void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
	uint64_t t = ((*a >> shift) ^ *b) & mask;

	*a ^= t << shift;
	*b ^= t;
}

/* Transpose a square of 8 by 8 bytes: exchange blocks of 1, 2 and 4 bytes across the diagonal. */
INLINE void transpose(uint64_t *x)
{
	for (int i = 0; i < 8; i += 2)
		exchange(&x[i], &x[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
	for (int i = 0; i < 8; i += i % 2 ? 3 : 1)
		exchange(&x[i], &x[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
	for (int i = 0; i < 4; i++)
		exchange(&x[i], &x[i + 4], 32, UINT64_C(0x00000000ffffffff));
}

/* Copy rows r .. r + 7 of all columns; `from` points to row r. */
static void eight_rows(uint8_t *const *to, const uint8_t *from, size_t stride,
		       size_t r)
{
	uint64_t x[8];

	for (size_t i = 8; i < 16; i++)	/* the stride is too large for the hardware prefetcher */
		__builtin_prefetch(from + i * stride);
	for (size_t c = 0; c < BYTES_COLUMNS; c += 8) {
		for (size_t i = 0; i < 8; i++)
			x[i] = le64toh(bytes_word(from + i * stride + c));
		transpose(x);
		for (size_t i = 0; i < 8; i++) {
			x[i] = htole64(x[i]);
			if (to[c + i])
				memcpy(to[c + i] + r, &x[i], sizeof(x[i]));
		}
	}
}

void bytes_columns(uint8_t *const *to, const uint8_t *from, size_t stride,
		   size_t rows)
{
	size_t r = 0;

	for (; r + 8 <= rows; r += 8)
		eight_rows(to, from + r * stride, stride, r);
	for (; r < rows; r++)
		for (size_t c = 0; c < BYTES_COLUMNS; c++)
			if (to[c])
				to[c][r] = from[r * stride + c];
}
