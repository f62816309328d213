// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Kernels over rows of bytes.
 */
#include <endian.h>

#include "base/bytes.h"

/* GCC: vectorise the loops over bytes at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define ROW(p) __builtin_assume_aligned((p), 64)

void bytes_step(uint8_t *row, size_t n)
{
	uint8_t *to = ROW(row);

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(to[i] + (to[i] != FTR_BYTE_INF));
}

void bytes_min(uint8_t *restrict to_, const uint8_t *restrict from_, size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *from = ROW(from_);

	for (size_t i = 0; i < n; i++)
		to[i] = from[i] < to[i] ? from[i] : to[i];
}

void bytes_take(uint8_t *restrict to_, const uint8_t *restrict from_,
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

void bytes_flag_less(uint8_t *restrict flag_, const uint8_t *restrict a_,
		     const uint8_t *restrict b_, size_t n)
{
	uint8_t *flag = ROW(flag_);
	const uint8_t *a = ROW(a_), *b = ROW(b_);

	for (size_t i = 0; i < n; i++)
		flag[i] = (uint8_t)(flag[i] | (a[i] < b[i]));
}

void bytes_count_less(uint8_t *restrict count_, uint8_t *restrict last_,
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

void bytes_clear(uint8_t *restrict to_, const uint8_t *restrict flag_,
		 size_t n)
{
	uint8_t *to = ROW(to_);
	const uint8_t *flag = ROW(flag_);

	for (size_t i = 0; i < n; i++)
		to[i] = flag[i] ? 0 : to[i];
}

uint32_t bytes_count(const uint8_t *a, size_t n, uint8_t value)
{
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += a[i] == value;
	return count;
}

void bytes_lookup(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
		  const uint8_t *restrict map)
{
	for (size_t i = 0; i < n; i++)
		to[i] = map[from[i]];
}

/* ---- columns -------------------------------------------------------------- */

/* Exchange the bytes of b that `mask` selects with the bytes of a that `mask << shift` selects. */
static void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
	uint64_t t = ((*a >> shift) ^ *b) & mask;

	*a ^= t << shift;
	*b ^= t;
}

/* Transpose a square of 8 by 8 bytes: exchange blocks of 1, 2 and 4 bytes across the diagonal. */
static void transpose(uint64_t *x)
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
