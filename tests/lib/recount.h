/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counts the flows on every link by a slow and simple algorithm: the path of every pair of hosts is
 * followed hop by hop.  Tests compare src/core/balance with this count.  The two share no code.
 */
#ifndef FTR_TEST_RECOUNT_H
#define FTR_TEST_RECOUNT_H

#include <ftr/ftr.h>

/* A link is directed.  Its index is the index of its sending port.  The flow of an unreachable pair
 * is counted on the links up to the switch where its path ends. */
struct recount {
	uint32_t n_links;	/* f->n_ports */
	uint32_t hosts;		/* number of hosts that take part in all-to-all */
	uint32_t n_pos;		/* number of hosts in the host order; they take part in shifts */
	uint32_t *flows;	/* [n_links] flows in all-to-all */
	uint16_t *shift;	/* [n_links][n_pos] flows in each shift */
	uint32_t max;		/* flows on the most loaded link in all-to-all */
	uint64_t sum;		/* flows on the most loaded link, sum over all shifts */
	uint16_t worst;		/* the greatest number of flows on a link in a shift */
	uint64_t lost;		/* unreachable pairs */
};

struct recount *recount_new(const struct ftr_shape *sh,
			    const struct ftr_tables *t);
void recount_free(struct recount *c);

#endif
