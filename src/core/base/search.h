/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Binary search.  Sets the uint32_t variable i to the least number in 0 .. n - 1 for which the
 * expression `before`, which contains i, is false.  Sets i to n if `before` is true for all of
 * them.  `before` must be true up to some number and false from there on.
 */
#ifndef FTR_BASE_SEARCH_H
#define FTR_BASE_SEARCH_H

#define FTR_LOWER_BOUND(i, n, before)					\
	do {								\
		uint32_t low_ = 0, high_ = (n);				\
									\
		while (low_ < high_) {					\
			(i) = low_ + (high_ - low_) / 2;		\
			if (before)					\
				low_ = (i) + 1;				\
			else						\
				high_ = (i);				\
		}							\
		(i) = low_;						\
	} while (0)

#endif
