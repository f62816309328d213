/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The base of a check by difference: base.c makes it, from_base.c uses it.
 */
#ifndef FTR_CHECK_BASE_H
#define FTR_CHECK_BASE_H

#include "check/check.h"

#define CHK_NO_PATH 0x7e
#define CHK_BEHIND 0x80		/* at least one other switch leads to this one */

struct ftr_check_base {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const uint8_t *rank;
	struct ftr_arena *arena;
	struct ftr_check_report r;
	bool clean;		/* from_base.c */
	/* [max_lid + 1][n_sw] the entries; the hops of the paths, or CHK_NO_PATH, plus CHK_BEHIND */
	uint8_t *entry, *hops;
	uint64_t paths[CHK_HOPS];	/* number of (switch, LID) by hops */
	uint32_t *stack;	/* scratch of base.c: [workers][n_sw] */
	/* all-to-all traffic; flows is NULL if it is not counted */
	uint64_t *flows;	/* [n_ports] */
	uint32_t *hosts;	/* [n_sw] number of hosts */
	uint8_t *is_dest;	/* [max_lid + 1] */
};

#endif
