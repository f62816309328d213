/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Binary search.  i becomes the first of 0 .. n - 1 for which `before`, an expression of
 * i, is false, or n if there is none.  i is a uint32_t variable.
 */
#ifndef FTR_CORE_SEARCH_H
#define FTR_CORE_SEARCH_H

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
