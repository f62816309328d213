/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * collective: the time of collective operations (collective_steps.c), and the command
 * (collective.c).
 *
 * Model: a collective is a sequence of steps.  In one step, flows of equal size begin at the same
 * time; the next step begins when the last flow has arrived.  The flows of a step share each link
 * equally, so a step takes
 *
 *	latency + max over all links and adapters (flows * bytes / rate)
 *
 * This is exact if all flows of a step end together, and an estimate if not: a flow that shares its
 * busiest link with a flow that ends early then becomes faster, but real ranks can be in different
 * steps and delay each other.  Data that a node moves between its own adapters takes no time.
 */
#ifndef FTR_CLI_COLLECTIVE_H
#define FTR_CLI_COLLECTIVE_H

#include <stdio.h>

#include <ftr/ftr.h>

/* The processes that take part: one on each adapter.  Rank x of node x / rails uses the adapter
 * port[x % rails * nodes + x / rails]. */
struct coll_ranks {
	uint32_t nodes, rails;
	ftr_ep *port;		/* [rails * nodes] */
};

struct coll_opts {
	double bytes;		/* data per rank, as nccl-tests counts them */
	double latency;		/* seconds per step */
	uint64_t seed;
	uint32_t sample;	/* greatest number of steps of a pairwise exchange that are counted;
				 * 0: all */
	uint32_t repeat;	/* number of random rings and bisections */
	double skew;		/* exponent of the popularity of experts; 0: all equal */
	FILE *steps;		/* NULL, or a file for the transfers: "STEP FROM TO BYTES" (LIDs) */
};

struct coll_time {
	double seconds;
	/* No schedule of the same flows on the same paths is faster than these: the data of the
	 * busiest link between switches, and of the busiest adapter, at full rate. */
	double link_bound, adapter_bound;	/* link_bound is 0 for bisections */
	uint64_t flows, lost;	/* number of different flows that were counted, and of those that do
				 * not arrive */
	uint64_t steps, counted;	/* number of steps; number of different steps counted */
};

struct coll;			/* the tables of a fabric, and the sums of a collective */

/* Prepare to compute times with the tables t of f.  mbps: rate of links whose rate is unknown; 0:
 * there is none.  Ends the program if a link has no rate. */
struct coll *coll_new(const struct ftr_fabric *f, const struct ftr_tables *t,
		      const struct coll_ranks *r, unsigned int mbps, struct ftr_team *team);
void coll_free(struct coll *c);

enum coll_unit { COLL_TWICE, COLL_ONCE, COLL_PLAIN };	/* bus bandwidth: 2(n-1)/n, (n-1)/n, 1 */

struct coll_kind {
	const char *name;
	enum coll_unit unit;
	bool averaged;		/* the time is the mean of `repeat` random patterns */
	void (*run)(struct coll *c);
};

/* The collectives; the entry after the last one has no name. */
extern const struct coll_kind coll_kinds[];

/* Compute the time of a collective.  Needs at least two nodes. */
struct coll_time coll_run(struct coll *c, const struct coll_kind *k, const struct coll_opts *o);
/* The factor of the bus bandwidth of nccl-tests for n ranks. */
double coll_factor(const struct coll_kind *k, double n);

#endif
