/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Balance: for every entry, choose among the candidates by counting flows.
 *
 * For each entry an engine finds the candidates, the ports that lead closer to the
 * destination (equation (1) of Gliksberg et al. 2020), and selects one of them by a formula.
 * The formula is optimal on regular trees.  It is not optimal where links are missing, numbers
 * of parallel links differ, or hosts are in unusual places.  This module moves entries to other
 * candidates until the load is even.
 * Ranks and candidates stay as they are.  Every result therefore keeps the guarantees of the
 * engine: paths go up, then down, and there is no credit loop.  The same holds for any mixture
 * of old and new entries.
 *
 *	FTR_BALANCE_OFF		Leave the tables as they are.
 *	FTR_BALANCE_LOAD	Even out all-to-all traffic.  If possible, no link then
 *				carries more than the limit, which is slightly above the
 *				lower bound.  Only entries whose path is overloaded change.
 *				On very small fabrics the load in shifts counts, too.
 *	FTR_BALANCE_FULL	Also reduce the load of the most loaded link of each shift.
 *
 * Positions.  Position p is the p-th host of the host order (ftr_shape_host_order); gaps are
 * not counted.  The processes (MPI ranks) of a job are best placed in this order.  In shift k,
 * position p sends to position (p + k) mod n, where n is the number of positions.
 *
 * The load of the most loaded link under all-to-all never grows.  With FTR_BALANCE_FULL, the mean
 * over the shifts of the load of the most loaded link does not grow either.  Exception: if the
 * all-to-all load would otherwise stay uneven, this mean may grow, but by a smaller factor than
 * the all-to-all load falls.  The result depends on the input only, not on the team, unless the
 * search is cancelled.
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
	/* shape: the shape from which the tables were made.  full: another shape, from which the
	 * columns l with use_full[l] == 1 were made; not used if use_full is NULL. */
	const struct ftr_shape *shape, *full;
	const uint8_t *use_full;	/* [n_sw]; NULL: all columns were made from `shape` */
	/* One bit for each entry: the entry of switch s for lid may change if bit lid of row
	 * s is set.  A row has (stride / 64) words of 64 bits.  NULL: all entries may change. */
	const uint64_t *movable;
	/* Finds the candidates of column l at switch s if extra turns decide them.  The function
	 * stores them in cand[], by ascending pos, and returns their number.  If the costs decide
	 * the candidates, it returns FTR_BALANCE_BY_COST.  Every choice among the candidates must
	 * be allowed, and all of them must be equally far from the column.  Several threads may
	 * call the function at the same time.  NULL: the costs decide everywhere. */
	uint32_t (*extra)(const void *ctx, ftr_sw s, uint32_t l,
			  const struct ftr_group **cand);
	const void *extra_ctx;
	/* true: some paths have more hops than the cost of their first switch to the column */
	bool longer;
	enum ftr_balance depth;
	/* Returns true to stop the search early.  The calling thread calls it every few
	 * milliseconds, on large fabrics every few tens of milliseconds.  NULL: the search is not
	 * stopped. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

struct ftr_balance_report {
	uint32_t hosts;		/* number of hosts that send and receive */
	uint32_t bound;		/* lower bound for the load of the most loaded
				 * link, from cuts, in flows */
	uint32_t max_before, max_after;	/* number of flows on the most loaded link */
	/* number of flows on the most loaded link, mean over the shifts; 0: not computed */
	double shift_before, shift_after;
	uint64_t moved;		/* number of changed entries */
	uint32_t sweeps;	/* number of passes over the entries */
	bool cancelled;
};

/*
 * Improve t in place.  report may be NULL.  With FTR_BALANCE_OFF nothing is done, and *report is
 * all 0.  In the following cases t is not changed, and only report->bound is set:
 *
 *  - A path in t has a loop.
 *  - Fewer than two hosts have a position.
 *  - A path in t ends early or does not follow the costs of the shape.
 *  - in->longer is true, and an entry has a candidate from which the path is not shorter.
 *
 * The last two cases are detected only if the load is uneven or the depth is FTR_BALANCE_FULL.
 *
 * Errors: FTR_NOMEM, with t unchanged; FTR_INVAL: t has another number of switches or LIDs than the
 * fabric of the shape.
 */
enum ftr_status ftr_balance_tables(const struct ftr_balance_input *in,
				   struct ftr_tables *t, struct ftr_team *team,
				   struct ftr_balance_report *report,
				   struct ftr_err *err) FTR_MUST_USE;

/*
 * Lower bounds for the load of the most loaded link under all-to-all traffic.  They hold
 * for any routing that connects all hosts within each island (connected component).
 *
 *	hosts	[n_sw] number of hosts that send and receive, by switch; NULL: all ports
 *		of channel adapters that have a LID and a link, except Aggregation Nodes
 *
 * ftr_balance_bound: the best bound from the cuts around every switch, every pod and every
 * plane, rounded up; 0: no flow crosses a link.  O(ranks * links).
 *
 * ftr_balance_bound_dual: bounds from weights of the links, which every round improves.  Under
 * any routing the most loaded link carries at least *least flows.  *most is the load of the most
 * loaded link of a routing that the rounds have found.  That routing divides flows among several
 * paths, which forwarding tables cannot do.  Both values are 0 if no flow crosses a link.
 * O(rounds * switches with hosts * links).
 */
enum ftr_status ftr_balance_bound(const struct ftr_shape *sh,
				  const uint32_t *hosts, uint32_t *bound,
				  struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_balance_bound_dual(const struct ftr_fabric *f,
				       const uint32_t *hosts, uint32_t rounds,
				       double *least, double *most,
				       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
