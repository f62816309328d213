/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Kernels: inner loops over rows of bytes, for example over rows of costs.  Rows start at a
 * multiple of 64 bytes, and n is a multiple of 64; only bytes_columns() does not require this.
 * FTR_BYTE_INF stands for infinity: FTR_BYTE_INF + 1 gives FTR_BYTE_INF again.
 *
 * GCC vectorises the kernels at any optimisation level.
 */
#ifndef FTR_BASE_BYTES_H
#define FTR_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FTR_BYTE_INF 255

/* One word holds eight elements of a row.  BYTES_WORD_INF: all eight elements are infinite. */
#define BYTES_WORD 8
#define BYTES_WORD_INF UINT64_MAX

static inline uint64_t bytes_word(const uint8_t *row)
{
	uint64_t word;

	memcpy(&word, row, sizeof(word));
	return word;
}

/* Brings n bytes into the cache; they need not exist. */
static inline void bytes_fetch(const uint8_t *row, size_t n)
{
	for (size_t i = 0; i < n; i += 64)
		__builtin_prefetch(row + i);
}

/* Adds 1 to each byte that is not FTR_BYTE_INF. */
void bytes_step(uint8_t *row, size_t n);

/* to[i] = min(to[i], from[i]) */
void bytes_min(uint8_t *to, const uint8_t *from, size_t n);

/* if flag[i] is not 0: to[i] = from[i] */
void bytes_take(uint8_t *to, const uint8_t *from, const uint8_t *flag,
		size_t n);

/* flag[i] |= a[i] < b[i] */
void bytes_flag_less(uint8_t *flag, const uint8_t *a, const uint8_t *b,
		     size_t n);

/* if theirs[i] < mine[i]: count[i] += 1 and last[i] = k */
void bytes_count_less(uint8_t *count, uint8_t *last, uint8_t k,
		      const uint8_t *mine, const uint8_t *theirs, size_t n);

/* if flag[i] is not 0: to[i] = 0 */
void bytes_clear(uint8_t *to, const uint8_t *flag, size_t n);

/* The number of i with a[i] == value. */
uint32_t bytes_count(const uint8_t *a, size_t n, uint8_t value);

/* to[i] = map[from[i]].  map has 256 elements. */
void bytes_lookup(uint8_t *to, const uint8_t *from, size_t n, const uint8_t *map);

/* Copy the columns of a matrix with BYTES_COLUMNS columns: to[c][r] = from[r * stride + c] for all
 * r < rows.  Column c is skipped if to[c] is NULL. */
#define BYTES_COLUMNS 64
void bytes_columns(uint8_t *const *to, const uint8_t *from, size_t stride,
		   size_t rows);

#endif
