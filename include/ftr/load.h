/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Link load: the number of flows of a traffic pattern that share a link.
 *
 * This module uses only the tables, and shares no code with the engines.  Use:
 *
 *	ftr_load_new(fabric, tables, order of host ports)
 *	  ftr_load_all, ftr_load_shifts, ...	any number of times, in any order
 *	ftr_load_free
 *
 * Link		A link between two switches, in one direction.  It is named by the
 *		switch and the port that send.  Links to host ports are counted
 *		separately (host_max).
 * Order	n places, each with a host port or FTR_EP_NONE (a gap).  A host port
 *		has at most one place.  A host port without a LID or a link counts
 *		as a gap.  Traffic goes to base LIDs.
 * Flow		One pair (source, destination) of a pattern.  A flow adds 1 to
 *		the load of each link of its path.  A flow that the tables do not
 *		deliver is lost: it loads no link.  A host port sends nothing to
 *		itself.
 * Pattern	A set of flows that exist at the same time:
 *
 *	all		every host port of the order sends to every other
 *	shift k		place i sends to place (i + k) mod n, k = 1 .. n-1;
 *			a gap sends and receives nothing
 *	permutation	the host ports of the order are permuted at random; each sends to
 *			its image, or sends nothing if it is its own image
 *	bisection	the host ports of the order are divided at random into two
 *			halves; each host port of the first half sends to one of the
 *			second half, each to a different one.  If the number of host
 *			ports is odd, one is left out.  (Hoefler et al. 2008: effective bisection
 *			bandwidth)
 *	pairs		the flows are given by the caller
 *
 * Papers on Dmodc use these patterns, too, and judge routings by the load of the most loaded link
 * (Gliksberg et al. 2020 and its references [2], [8] and [12]).
 *
 * A seed gives the same patterns on every machine and for any team.  With a larger number of random
 * permutations or bisections, the first ones stay the same.
 */
#ifndef FTR_LOAD_H
#define FTR_LOAD_H

#include <ftr/fabric.h>
#include <ftr/tables.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Histogram: count[i] is the number of values in i * width .. (i + 1) * width - 1.
 * width is 1 if all values are below FTR_LOAD_BINS. */
#define FTR_LOAD_BINS 32

struct ftr_load_bins {
	uint64_t width;
	uint32_t n;		/* number of bins up to the last one that is not empty */
	uint64_t count[FTR_LOAD_BINS];
};

struct ftr_load_link {
	ftr_sw sw;		/* the switch that sends */
	ftr_port port;
	uint64_t load;		/* number of flows */
};

#define FTR_LOAD_WORST_MAX 64

/* The results for one or more patterns.  The maximum of a pattern is the load of its most loaded
 * link.  Members that describe links (links, used, load, loads, host_max, link) refer only to the
 * pattern `worst`. */
struct ftr_load_report {
	uint32_t hosts;		/* number of host ports that take part */
	uint32_t patterns;	/* number of patterns */
	uint64_t flows;		/* number of flows of all patterns, including lost flows */
	uint64_t lost;		/* number of flows of all patterns that do not arrive */
	uint64_t max;		/* the greatest of the maxima */
	uint64_t min_max;	/* the smallest of the maxima */
	uint64_t sum_max;	/* sum of the maxima; their mean is sum_max / patterns */
	struct ftr_load_bins maxima;	/* number of patterns by maximum */
	/* Sums over all patterns.  sum_load: sum of the loads of all links.  sum_used: number of
	 * links with a flow.  The mean load of a link with a flow is sum_load / sum_used. */
	uint64_t sum_load;
	uint64_t sum_used;
	uint32_t worst;		/* the first pattern whose maximum is `max`: k for a shift;
				 * for other patterns their number, from 0 */
	uint32_t links;		/* number of directed links in the fabric */
	uint32_t used;		/* number of directed links with at least one flow */
	uint64_t load;		/* sum of the loads of all links */
	struct ftr_load_bins loads;	/* number of links by load */
	uint64_t host_max;	/* greatest number of delivered flows that enter or leave one host
				 * port, including flows between host ports of one switch */
	uint32_t n_links;	/* number of elements of link[] */
	/* the most loaded links, sorted by load (descending), switch and port */
	struct ftr_load_link link[FTR_LOAD_WORST_MAX];
};

/* A pair of host ports, of which one sends to the other.  step and bytes describe a transfer of a
 * collective operation; functions that take pairs ignore them. */
struct ftr_transfer {
	ftr_ep from, to;	/* of a transfer: different host ports */
	uint32_t step;
	uint64_t bytes;		/* > 0 */
};

struct ftr_load;

/* A list of host ports, for example those of an MPI job in the order of its ranks.  FTR_EP_NONE: the
 * place is empty. */
struct ftr_order {
	const ftr_ep *ep;
	uint32_t n;
};

/*
 * Prepare to count the loads of the links of f under the tables t.  f and t must outlive the
 * object; order is copied.
 *
 * FTR_INVAL: t does not fit f, or the order contains a host port twice or one that f does not have;
 * FTR_NOMEM.
 * O(n * number of switches with hosts), including the count of the all-to-all load.
 */
enum ftr_status ftr_load_new(const struct ftr_fabric *f,
			     const struct ftr_tables *t, struct ftr_order order,
			     struct ftr_team *team, struct ftr_load **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_load_free(struct ftr_load *ld);	/* NULL is accepted */

/*
 * by_port, an argument of several functions, is an array of f->n_ports elements.  For a port with a
 * link to another switch, the element is set to the number of flows that leave through this port.
 * All other elements are set to 0.
 */

/* Count the flows of all-to-all.  out or by_port may be NULL. */
void ftr_load_all(const struct ftr_load *ld, uint64_t *by_port,
		  struct ftr_load_report *out);

/* Count the flows of `sample` different shifts, chosen by seed, or of all n - 1 shifts if sample is
 * 0 or at least n - 1.  An order with fewer than two places has no shift.  FTR_NOMEM.
 * At most O(shifts * n * hops), and less if hosts of one switch have consecutive places. */
enum ftr_status ftr_load_shifts(const struct ftr_load *ld, uint32_t sample,
				uint64_t seed, struct ftr_team *team,
				struct ftr_load_report *out,
				struct ftr_err *err) FTR_MUST_USE;

/* Count the flows of the random permutations (or bisections) 0 .. count - 1.  FTR_NOMEM.
 * O(count * n * hops). */
enum ftr_status ftr_load_permutations(const struct ftr_load *ld, uint32_t count,
				      uint64_t seed, struct ftr_team *team,
				      struct ftr_load_report *out,
				      struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_load_bisections(const struct ftr_load *ld, uint32_t count,
				    uint64_t seed, struct ftr_team *team,
				    struct ftr_load_report *out,
				    struct ftr_err *err) FTR_MUST_USE;

/* Count the flows of the given pairs.  Their host ports need not be in the order of hosts.  A pair
 * that is given twice counts as two flows.  A pair of one port with itself is no flow.  Flows from
 * or to a host port without a LID or a link are lost.  by_port may be NULL.  FTR_INVAL: the fabric
 * has no such host port; FTR_NOMEM. */
enum ftr_status ftr_load_pairs(const struct ftr_load *ld,
			       const struct ftr_transfer *pair, uint32_t n,
			       uint64_t *by_port, struct ftr_load_report *out,
			       struct ftr_err *err) FTR_MUST_USE;

/* For each pair, set most[] to the load of the most loaded link of its path, as ftr_load_pairs
 * counts it: 0 if the path has no link between switches, UINT64_MAX if the flow is lost.
 * FTR_NOMEM.  O(n * hops). */
enum ftr_status ftr_load_pairs_most(const struct ftr_load *ld, const struct ftr_transfer *pair,
				    uint32_t n, uint64_t *most,
				    struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
