/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds the allocations that are made by the same chain of calls, so that a test can make one of
 * them fail instead of all.  The linker replaces (--wrap) the functions that allocate; see
 * WRAP_ALLOC in local.mk.
 */
#ifndef FTR_TEST_CHAINS_H
#define FTR_TEST_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

/* Record the allocations from now on, up to chains_end(), which returns their number.  depth: number of
 * innermost calls that count, at most CHAINS_WHOLE. */
#define CHAINS_WHOLE 32
void chains_begin(unsigned int depth);
unsigned long chains_end(void);
unsigned long chains_count(void);	/* the number of chains */
/* Is allocation n the first (the last) one of its chain?  False for a chain whose number, in the
 * order of their first allocations, is no multiple of `every`. */
bool chains_is_first(unsigned long n, unsigned long every);
bool chains_is_last(unsigned long n, unsigned long every);

/* A chain of the last recording that no earlier call of this function returned, whatever was recorded
 * since; 0: there is none. */
uint64_t chains_new(void);
/* The next allocation of this chain fails, and no other; 0: none fails.  Does not depend on the order of
 * the threads.  Returns false if the chain of the last call has not occurred since. */
bool chains_fail(uint64_t chain);

#endif
