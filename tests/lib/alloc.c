// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the allocations of the library, and makes some of them fail.
 */
#include <stdatomic.h>

#include "base/base.h"
#include "lib/alloc.h"

static atomic_ulong fail_at;
static atomic_ulong count;
static atomic_bool only;	/* true: only allocation fail_at fails; later ones succeed */

static bool fails(void)
{
	unsigned long n = atomic_fetch_add_explicit(&count, 1,
						    memory_order_relaxed) + 1;
	unsigned long at = atomic_load_explicit(&fail_at, memory_order_relaxed);

	return at && (atomic_load_explicit(&only, memory_order_relaxed) ?
		      n == at : n >= at);
}

__attribute__((constructor)) static void watch(void)
{
	ftr_alloc_fails = fails;
}

void ftr_alloc_fail_at(unsigned long n)
{
	atomic_store(&count, 0);
	atomic_store(&only, false);
	atomic_store(&fail_at, n);
}

void ftr_alloc_fail_once(unsigned long n)
{
	atomic_store(&count, 0);
	atomic_store(&only, true);
	atomic_store(&fail_at, n);
}

unsigned long ftr_alloc_count(void)
{
	return atomic_load(&count);
}
