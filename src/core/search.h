/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Binary search.  Sets i, a uint32_t variable, to the least number in 0 .. n - 1 for which the
 * expression `before` is false, or to n if there is none.  `before` uses i.  As i grows, `before`
 * may change only from true to false.
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
