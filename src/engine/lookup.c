// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Byte look-up, 32 entries at a time where the processor can.
 *
 * A byte shuffle looks 16 entries up at once; a map of up to MAX_PLANES * 16
 * entries is cut into such planes, and each plane answers for the indices
 * whose high half names it.  Longer maps, and other processors, go byte by
 * byte.  The choice is made per call: rows are tens of kilobytes.
 */
#include "engine/engine.h"

#define MAX_PLANES 4

static void lookup_bytes(uint8_t *restrict to, const uint8_t *restrict from,
			 size_t n, const uint8_t *restrict map)
{
	for (size_t i = 0; i < n; i++)
		to[i] = map[from[i]];
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2")))
static void lookup_avx2(uint8_t *to, const uint8_t *from, size_t n,
			const uint8_t *map, unsigned int planes)
{
	const __m256i low = _mm256_set1_epi8(0x0f);
	const __m256i none = _mm256_set1_epi8((char)FTR_PORT_NONE);
	__m256i part[MAX_PLANES];

	for (unsigned int k = 0; k < planes; k++)
		part[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128(
			(const __m128i *)(const void *)(map + 16 * k)));
	for (size_t i = 0; i < n; i += 32) {
		__m256i x = _mm256_load_si256(
			(const __m256i *)(const void *)(from + i));
		__m256i lo = _mm256_and_si256(x, low);
		__m256i hi = _mm256_and_si256(_mm256_srli_epi16(x, 4), low);
		__m256i out = none;

		for (unsigned int k = 0; k < planes; k++)
			out = _mm256_blendv_epi8(out,
				_mm256_shuffle_epi8(part[k], lo),
				_mm256_cmpeq_epi8(hi,
					_mm256_set1_epi8((char)k)));
		_mm256_store_si256((__m256i *)(void *)(to + i), out);
	}
}
#endif

void engine_lookup(uint8_t *to, const uint8_t *from, size_t n,
		   const uint8_t *map, unsigned int n_map)
{
#if defined(__x86_64__)
	unsigned int planes = (n_map + 15) / 16;

	if (planes <= MAX_PLANES && __builtin_cpu_supports("avx2")) {
		lookup_avx2(to, from, n, map, planes);
		return;
	}
#else
	(void)n_map;
#endif
	lookup_bytes(to, from, n, map);
}
