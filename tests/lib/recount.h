/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Flows on every link, slow and obvious: every pair of hosts is walked hop by hop
 * over the tables.  What src/balance is held against; it shares no code with it.
 */
#ifndef FTR_TEST_RECOUNT_H
#define FTR_TEST_RECOUNT_H

#include <ftr/ftr.h>

/* Links are directed and named by the index of the port that sends.  A flow that
 * does not arrive loads the links up to where it is lost. */
struct recount {
	uint32_t n_links;	/* f->n_ports */
	uint32_t hosts;		/* that send and receive in all-to-all */
	uint32_t n_pos;		/* hosts with a place in the order: shifts */
	uint32_t *flows;	/* [n_links] of all-to-all */
	uint16_t *shift;	/* [n_links][n_pos] of shift k */
	uint32_t max;		/* most flows of all-to-all on a link */
	uint64_t sum;		/* shifts 1 .. n_pos - 1: most flows on a link */
	uint16_t worst;		/* the greatest of these */
	uint64_t lost;		/* pairs of hosts that do not arrive */
};

struct recount *recount_new(const struct ftr_shape *sh,
			    const struct ftr_tables *t);
void recount_free(struct recount *c);

#endif
