/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Flows on every link by a slow and simple algorithm: every pair of hosts is followed hop by
 * hop over the tables. Tests compare src/balance with these numbers; the two share no code.
 */
#ifndef FTR_TEST_RECOUNT_H
#define FTR_TEST_RECOUNT_H

#include <ftr/ftr.h>

/* Links are directed and identified by the index of the port that sends. A flow
 * that does not arrive counts on the links up to the point where it is lost. */
struct recount {
	uint32_t n_links;	/* f->n_ports */
	uint32_t hosts;		/* number of hosts that send and receive in all-to-all */
	uint32_t n_pos;		/* number of hosts in the host order; these send and receive in
				 * shifts */
	uint32_t *flows;	/* [n_links] all-to-all flows */
	uint16_t *shift;	/* [n_links][n_pos] flows on the link in each shift */
	uint32_t max;		/* all-to-all flows on the most loaded link */
	uint64_t sum;		/* flows on the most loaded link, summed over shifts
				 * 1 .. n_pos - 1 */
	uint16_t worst;		/* the greatest number of flows on a link in any shift */
	uint64_t lost;		/* unreachable pairs of hosts */
};

struct recount *recount_new(const struct ftr_shape *sh,
			    const struct ftr_tables *t);
void recount_free(struct recount *c);

#endif
