/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Balance: improve forwarding tables by moving entries to other next hops.
 *
 * For each entry an engine finds the candidates, the ports that lead closer to the
 * destination (equation (1) of Gliksberg et al. 2020), and selects one of them by a formula.
 * The formula is optimal on regular trees.  It is not optimal where links are missing, numbers
 * of parallel links differ, or hosts are in unusual places.  This module counts the flows on each
 * link, and moves entries to other candidates until the load of the links is even.
 * The ranks and the candidates do not change.  The result therefore keeps the guarantees of the
 * engine: paths go up, then down, and there is no credit loop.  A table in which some entries are
 * old and others new keeps these guarantees, too.
 *
 * The all-to-all load of a link is the number of its flows if every host sends to every other host.
 *
 *	FTR_BALANCE_OFF		Leave the tables as they are.
 *	FTR_BALANCE_LOAD	Even out the all-to-all load: move flows away from links whose
 *				load is above a target, about 2% above ftr_balance_bound.  An
 *				entry changes only if a link of its path is overloaded.  On very
 *				small fabrics the search also considers the load of shifts (see
 *				below).
 *	FTR_BALANCE_FULL	Also reduce the load of the most loaded link of each shift.
 *
 * Positions.  Position p is the p-th host of the host order (ftr_shape_host_order); gaps are
 * not counted.  The processes (MPI ranks) of a job are best placed in this order.  In shift k,
 * position p sends to position (p + k) mod n, where n is the number of positions.
 *
 * The load of shifts is defined as follows: in each shift, take the load of the most loaded link;
 * then take the mean over all shifts.  The all-to-all load of the most loaded link never
 * grows above the target (or above its value before, if that is higher).
 * With FTR_BALANCE_FULL, the load of shifts grows only if this is necessary to even out the
 * all-to-all load.  In that case, (load of shifts) * (greatest all-to-all load) falls.
 *
 * If the search is not cancelled, the result depends only on the input, not on the team.
 */
#ifndef FTR_BALANCE_H
#define FTR_BALANCE_H

#include <ftr/shape.h>
#include <ftr/tables.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ftr_balance {
	FTR_BALANCE_OFF = 0,
	FTR_BALANCE_LOAD,
	FTR_BALANCE_FULL
};

#define FTR_BALANCE_BY_COST UINT32_MAX

struct ftr_balance_input {
	/* shape: the shape from which the tables were made.  full: NULL, or another shape.  The
	 * entries for destination switch (column) l were made from `full` if use_full[l] is 1. */
	const struct ftr_shape *shape, *full;
	const uint8_t *use_full;	/* [n_sw]; NULL: all entries were made from `shape` */
	/* One bit for each entry.  If bit `lid` of row s is set, the search may change the entry of
	 * switch s for lid.  A row has (stride / 64) words of 64 bits.  NULL: all entries may
	 * change. */
	const uint64_t *movable;
	/* Finds the candidates of switch s for column l if extra turns (<ftr/engine.h>) determine
	 * the candidates.  The function stores them in cand[], by ascending pos, and returns their
	 * number.  If the costs of the shape determine the candidates, it returns
	 * FTR_BALANCE_BY_COST.  Every combination of candidates must be free of credit loops.
	 * (A candidate may be farther from the column than s.)  Several threads may call the
	 * function at the same time.  NULL: the costs determine all candidates. */
	uint32_t (*extra)(const void *ctx, ftr_sw s, uint32_t l,
			  const struct ftr_group **cand);
	const void *extra_ctx;
	enum ftr_balance depth;
	/* Returns true to stop the search early.  It is called every few milliseconds, on large
	 * fabrics every few tens of milliseconds, by the thread that runs the search.
	 * NULL: the search is not stopped. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

struct ftr_balance_report {
	uint32_t hosts;		/* number of hosts that send and receive */
	uint32_t bound;		/* no routing has fewer flows on its most loaded link: the
				 * result of ftr_balance_bound */
	uint32_t max_before, max_after;	/* number of flows on the most loaded link */
	/* the greatest number of flows inside rails on a link, weighted (src/core/balance/net.c);
	 * 0: the fabric has no rails */
	uint32_t rail_before, rail_after;
	/* number of flows on the most loaded link of a shift, mean over all shifts; 0: not
	 * computed */
	double shift_before, shift_after;
	uint64_t moved;		/* number of changed entries */
	uint32_t sweeps;	/* number of passes over the entries */
	bool cancelled;		/* true: the search was stopped early */
};

/*
 * A lower bound for the load of the most loaded link under all-to-all traffic: no routing that
 * connects all hosts within each island (connected component) has a lower load on this link.
 *
 *	hosts	[n_sw] number of hosts that send and receive, by switch; NULL: all ports
 *		of channel adapters that have a LID and a link, except Aggregation Nodes
 *
 * For every switch, pod and plane (<ftr/shape.h>), the quotient
 * (number of flows that must leave it) / (number of its outgoing links) is computed.  *bound is the
 * greatest quotient, rounded up; 0: no flow crosses a link.  O(ranks * links).
 */
enum ftr_status ftr_balance_bound(const struct ftr_shape *sh,
				  const uint32_t *hosts, uint32_t *bound,
				  struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
