/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Failing allocations of the library (ftr_alloc_fails, base/base.h). */
#ifndef TESTS_LIB_ALLOC_H
#define TESTS_LIB_ALLOC_H

/* Make the n-th allocation after this call fail, and all later ones.  n = 0: no allocation fails.
 * Not thread safe. */
void ftr_alloc_fail_at(unsigned long n);
/* Make only the n-th allocation after this call fail. */
void ftr_alloc_fail_once(unsigned long n);
/* Returns the number of allocations since the last ftr_alloc_fail_at() or ftr_alloc_fail_once(). */
unsigned long ftr_alloc_count(void);

#endif
