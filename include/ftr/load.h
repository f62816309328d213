/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Link load: how many flows of a traffic pattern share a link.
 *
 * It shares no code with the engines and asks no engine what it meant.  Life:
 *
 *	ftr_load_new(fabric, tables, order of end ports)
 *	  ftr_load_all, _shifts, _permutations, _bisections, _pairs
 *					any number of times, any order
 *	ftr_load_free
 *
 * Links	are directed: a cable between two switches is two of them, named
 *		by the switch and port that send.  Cables to end ports are no
 *		links here; see host_max.
 * Order	n places, FTR_EP_NONE = gap.  An end port may stand in one place
 *		only.  An end port without LID or cable is a gap.  Traffic goes
 *		to base LIDs.
 * Flow		one pair (source, destination) of a pattern.  It loads each
 *		link of its path by 1.  If the tables do not take it there, it
 *		is lost: counted, and loads nothing.  An end port sends nothing
 *		to itself.
 * Pattern	a set of flows that are there at the same time:
 *
 *	all		every end port of the order to every other
 *	shift k		place i to place (i + k) mod n, k = 1 .. n-1; a gap
 *			sends and receives nothing
 *	permutation	a random permutation of the end ports of the order;
 *			those that it leaves in place send nothing
 *	bisection	the end ports of the order fall into two random halves,
 *			each of the first half sends to one of the second
 *			(Hoefler et al., "Multistage switches are not
 *			crossbars", 2008: effective bisection bandwidth); of an
 *			odd number one is left out
 *	pairs		the caller's
 *
 * These, with the load of the most loaded link as figure of merit, are the
 * congestion figures of the literature on Dmodc (seed 002, its [2], [8] and [12]).
 *
 * The same seed gives the same patterns on every machine and for any team, and
 * pattern i does not depend on how many are asked for.
 */
#ifndef FTR_LOAD_H
#define FTR_LOAD_H

#include <ftr/fabric.h>
#include <ftr/tables.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often each value occurs: count[i] times one of i * width ..
 * (i + 1) * width - 1.  width is 1 if the maximum allows it. */
#define FTR_LOAD_BINS 32

struct ftr_load_bins {
	uint64_t width;
	uint32_t n;		/* bins in use: the last one is not empty */
	uint64_t count[FTR_LOAD_BINS];
};

struct ftr_load_link {
	ftr_sw sw;		/* the switch that sends */
	ftr_port port;
	uint64_t load;		/* flows */
};

#define FTR_LOAD_WORST_MAX 64

/* max, mean, ... of "the maximum" are over patterns: each pattern has one
 * most loaded link.  What is said of links is said of pattern `worst`. */
struct ftr_load_report {
	uint32_t hosts;		/* end ports that take part */
	uint32_t patterns;
	uint64_t flows;		/* of all patterns, the lost ones included */
	uint64_t lost;
	uint64_t max;		/* the greatest maximum */
	uint64_t min_max;	/* the least maximum */
	uint64_t sum_max;	/* mean of the maximum: sum_max / patterns */
	struct ftr_load_bins maxima;	/* patterns by their maximum */
	uint64_t sum_load;	/* over all patterns and links; divided by ... */
	uint64_t sum_used;	/* ... links with a flow: mean over used links */
	uint32_t worst;		/* first pattern with that maximum: k of a
				 * shift, else a number from 0 */
	uint32_t links;		/* directed links of the fabric */
	uint32_t used;		/* of those, with at least one flow */
	uint64_t load;		/* sum of the loads of links */
	struct ftr_load_bins loads;	/* links by load */
	uint64_t host_max;	/* most flows that enter or leave one end port;
				 * they need not cross a link */
	uint32_t n_links;	/* entries of link[] */
	/* the most loaded links, by load, then switch, then port */
	struct ftr_load_link link[FTR_LOAD_WORST_MAX];
};

struct ftr_load_pair {
	ftr_ep from, to;
};

struct ftr_load;

/*
 * f and t must outlive the object, order is copied.  table_max: bytes that may
 * be spent on keeping all paths; 0 = 2 GiB.  The paths take 4 bytes times
 * longest path times n times switches with an end port of the order (at 11,664
 * hosts: 121 MB); where they do not fit, flows are walked one by one, with the
 * same result but slower.  FTR_INVAL: tables not of f's size, an end port
 * beyond f or twice in the order.  O(n_sw * n).
 */
enum ftr_status ftr_load_new(const struct ftr_fabric *f,
			     const struct ftr_tables *t, const ftr_ep *order,
			     uint32_t n, uint64_t table_max,
			     struct ftr_team *team, struct ftr_load **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_load_free(struct ftr_load *ld);	/* NULL is accepted */

/* Paths to one destination form a tree, so this is O(n_sw * n). */
enum ftr_status ftr_load_all(const struct ftr_load *ld, struct ftr_team *team,
			     struct ftr_load_report *out,
			     struct ftr_err *err) FTR_MUST_USE;

/* sample 0, or >= n-1: all shifts; else so many different ones by seed.
 * O(shifts * n * hops).  An order of fewer than two places has no shift. */
enum ftr_status ftr_load_shifts(const struct ftr_load *ld, uint32_t sample,
				uint64_t seed, struct ftr_team *team,
				struct ftr_load_report *out,
				struct ftr_err *err) FTR_MUST_USE;

enum ftr_status ftr_load_permutations(const struct ftr_load *ld, uint32_t count,
				      uint64_t seed, struct ftr_team *team,
				      struct ftr_load_report *out,
				      struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_load_bisections(const struct ftr_load *ld, uint32_t count,
				    uint64_t seed, struct ftr_team *team,
				    struct ftr_load_report *out,
				    struct ftr_err *err) FTR_MUST_USE;

/* One pattern of any end ports of the fabric, in the order or not; the same
 * pair twice is two flows.  FTR_INVAL: an end port beyond the fabric.  One
 * without LID or cable loses its flows. */
enum ftr_status ftr_load_pairs(const struct ftr_load *ld,
			       const struct ftr_load_pair *pair, uint32_t n,
			       struct ftr_load_report *out,
			       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
