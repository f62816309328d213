/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The interface of the routing engines, and the list of engines.
 *
 * To use an engine:
 *
 *	ops = ftr_engine_find(name)	a constant object: do not free it
 *	ops->route(shape, opts, team, out, stats, err)		any number of times
 *
 * An engine keeps no state.  Several threads may call it at the same time if each passes its own
 * out, stats and team.
 *
 * route computes complete tables from a shape.
 *	shape	const; must live at least as long as the call
 *	team	may be NULL; the result is the same for any team, bit for bit
 *	out	made by ftr_tables_new for shape->f; every byte is written, with
 *		FTR_PORT_NONE where a switch has no path to the LID, or the LID has no owner
 *	opts	NULL means FTR_ROUTE_OPTS_INIT
 *	stats	may be NULL.  The caller sets `order` and clears `balance`; on success the engine
 *		writes all other members.
 *	returns	FTR_OK even if some destinations are unreachable (stats->no_path counts them);
 *		FTR_NOMEM; FTR_LIMIT
 *	effects	takes no locks except those of the team, logs nothing, reads no files
 */
#ifndef FTR_ENGINE_H
#define FTR_ENGINE_H

#include <ftr/balance.h>
#include <ftr/shape.h>
#include <ftr/tables.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_route_base;

/*
 * Tables whose entries a routing keeps where it can (src/core/engine/keep.c).  Their switch numbers
 * and LIDs are those of the fabric that is routed.
 */
struct ftr_keep {
	/* prefer: the tables of the complete fabric; NULL: keep nothing.  current: the tables
	 * that the switches hold, or NULL */
	const struct ftr_tables *prefer, *current;
	/* Which entries the search (<ftr/balance.h>) may move.  search_all: all entries.
	 * search_displaced: all entries whose port differs from that in `prefer`.  Both false: only
	 * the entries that could not be kept. */
	bool search_all, search_displaced;
	/* NULL, or made from `prefer` and the shape for which they were computed; saves time if few
	 * entries differ from them.  The tables are the same, bit for bit */
	const struct ftr_route_base *base;
};

/* The pairs of host ports that engine dmodc connects.  Extra turns are turns that up/down routing
 * by rank does not allow. */
enum ftr_paths {
	FTR_PATHS_ALL = 0,	/* all pairs that are physically connected; pairs without
				 * an up/down path get a path with extra turns */
	FTR_PATHS_UPDOWN	/* only pairs with an up/down path by rank, as published
				 * (Gliksberg et al. 2020) */
};

struct ftr_route_opts {
	ftr_sw sm_switch;	/* switch of the subnet manager, or FTR_SW_NONE */
	/* dmodc, FTR_PATHS_ALL: the switches to which the subnet managers are connected; sm_switch
	 * need not be listed.  Every switch gets entries for the LIDs of these switches and of the
	 * host ports on them. */
	const ftr_sw *sm;
	uint32_t n_sm;
	enum ftr_paths paths;
	/* dmodc, FTR_PATHS_ALL: extra turns of an earlier routing, which are allowed again, in this
	 * order.  A turn is left out if it would close a cycle with turns allowed before it.  If
	 * some pairs have no path then, none of these turns is allowed again. */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool keep_turns;	/* true: return the extra turns in stats.turn */
	enum ftr_balance balance;
	const struct ftr_keep *keep;	/* NULL: no entries are kept */
	/* returns true to stop the search; NULL: the search is not stopped */
	bool (*cancelled)(void *ctx);
	void *cancel_ctx;
	bool keep_routed;	/* true: return in stats.routed the shape that the tables follow */
	/* The nominal shape with which the input shape was made (ftr_shape_opts.nominal), or NULL.
	 * The inverted order is computed from the nominal shape, so that faults do not change the
	 * order.  But if that order does not connect all switches that are physically connected, a
	 * new order is computed. */
	const struct ftr_shape *nominal;
};

#define FTR_ROUTE_OPTS_INIT { .sm_switch = FTR_SW_NONE }

struct ftr_route_stats {
	uint64_t no_path;	/* number of pairs (switch, LID) without a path */
	/* Routing by the inverted order: number of ordered pairs of hosts on leaf switches
	 * that have no path up and then down by rank, or whose path is longer or shorter than the
	 * shortest such path.  Other routing: 0. */
	uint64_t detours;
	/* Inverted order: the highest switch of the largest island (connected component).  Other
	 * routing: FTR_SW_NONE */
	ftr_sw root;
	/* order: NULL, or an array [n_sw] of the caller, in which the engine stores the level of
	 * every switch.  The engine claims that every path goes up and then down by these levels,
	 * apart from the extra turns.  The checker verifies this claim.
	 * order_known: false if the engine has no levels, or more than 255. */
	uint8_t *order;
	bool order_known;
	/* Some tables (all tables of dmodc) follow exactly the ranks, costs and groups of a shape.
	 * Incremental tables start from that shape.  by_rank: true if the tables follow the input
	 * shape.  routed: if the tables follow another shape and opts->keep_routed is true, that
	 * shape, which the caller frees. */
	bool by_rank;
	struct ftr_shape *routed;
	/* Set all members to 0 before the call.  The call does not change them if all entries were
	 * kept and the search had nothing to do. */
	struct ftr_balance_report balance;
	/* dmodc, FTR_PATHS_ALL.  turn: the extra turns of the tables, sorted by (from, at, to),
	 * which the engine claims to the checker.  NULL if opts->keep_turns is false.  The caller
	 * must free() it. */
	struct ftr_turn *turn;
	uint32_t n_turns;
	uint64_t extra_pairs;	/* number of pairs (host port, LID of another host port)
				 * that these turns connect */
	bool reordered;		/* true: extra turns did not suffice, so the whole fabric
				 * is routed by the inverted order of sftree */
};

/* The entries that an engine promises to fill. */
enum ftr_promise {
	/* each entry whose cost in the shape is finite */
	FTR_PROMISE_UPDOWN = 0,
	/* the entries of FTR_PROMISE_UPDOWN; at every switch with host ports, the entries for all
	 * host ports of its island; and at every switch, the entries for the subnet managers of its
	 * island */
	FTR_PROMISE_HOSTS,
	/* at every switch, the entries for all LIDs of its island */
	FTR_PROMISE_ALL
};

struct ftr_vl_pairs;

struct ftr_engine_ops {
	const char *name;	/* lower case, as in opensm.conf */
	const char *summary;	/* one line for --help and man pages */
	/* true: after a fault, the planner of <ftr/ddlr.h> changes a few entries next to the fault;
	 * false: new tables are computed, in full or by <ftr/incremental.h> */
	bool local_repair;
	enum ftr_promise (*promise)(const struct ftr_route_opts *opts);
	enum ftr_status (*route)(const struct ftr_shape *shape,
				 const struct ftr_route_opts *opts,
				 struct ftr_team *team, struct ftr_tables *out,
				 struct ftr_route_stats *stats,
				 struct ftr_err *err);
	/* the SL2VL tables for local repairs (ftr_ddlr_sl2vl); NULL: the engine uses one VL */
	enum ftr_status (*sl2vl)(const struct ftr_shape *shape,
				 const struct ftr_vl_pairs *pairs,
				 struct ftr_sl2vl **out, struct ftr_err *err);
};

/*
 * Tables t of shape sh, with a copy of them and their flows, from which the tables after faults are
 * computed (ftr_keep.base).  Several threads may use it at the same time.  Takes about as much memory
 * as t, and the time of about two routings.  sh and t must outlive *out.  FTR_NOMEM.
 */
enum ftr_status ftr_route_base_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				   struct ftr_team *team, struct ftr_route_base **out,
				   struct ftr_err *err) FTR_MUST_USE;
void ftr_route_base_free(struct ftr_route_base *b);	/* NULL is accepted */

/* Find an engine by name; NULL: there is none of that name. */
const struct ftr_engine_ops *ftr_engine_find(const char *name);
/* The i-th engine, NULL past the last. */
const struct ftr_engine_ops *ftr_engine_at(unsigned int i);

struct ftr_kept {
	/* t: set by the caller.  stats: as for route(); stats.order must be NULL or from malloc().
	 * The function may replace t, stats and stats.order.  The caller frees them. */
	struct ftr_tables *t;
	struct ftr_route_stats stats;
	bool replaced;		/* true: t has been computed from scratch */
};

/*
 * Route with opts->keep, whose members prefer and search_all must be set.  If the tables carry more
 * load than the bound allows, also route without opts->keep, with the same extra turns.  The result
 * is k->t of the second routing if its load is better by more than 1/20: the all-to-all load of the
 * most loaded link or, with FTR_BALANCE_FULL, the load of shifts (<ftr/balance.h>), and the other
 * of both is not worse by more than 1/20.  Then balance.moved is the number of entries that differ
 * from opts->keep->prefer.  Errors: as for route().
 */
enum ftr_status ftr_route_kept(const struct ftr_engine_ops *ops, const struct ftr_shape *sh,
			       const struct ftr_route_opts *opts, struct ftr_team *team,
			       struct ftr_kept *k, struct ftr_err *err) FTR_MUST_USE;

/* The VLs of engine ddlr: of a packet on the link after a change of direction (`turn`), and on all
 * other links (`straight`).  Indexed by SL; FTR_VL_DROP: the packet is dropped. */
struct ftr_vl_pairs {
	uint8_t straight[FTR_N_SL], turn[FTR_N_SL];
	unsigned int n;		/* number of classes of SLs, 1..7: each has its own two VLs */
};

/*
 * Choose the VLs of engine ddlr for the SLs of a site.  All SLs that the site maps to one VL are a
 * class.  A class keeps its VL, and gets a second one that no class uses; the classes in the order
 * of their VLs get the smallest of these VLs in turn.
 *
 * vl		the VL of each SL, 0..15; 15: the site drops the packets, and they stay dropped
 * sls		set of the SLs in use, one bit per SL; SL 0 always counts as in use.  All others
 *		get the VLs of SL 0
 * n_vls	number of VLs of the links between switches: 1, 2, 4, 8 or 15.  As in OpenSM,
 *		greater VLs in `vl` are reduced modulo n_vls
 *
 * Errors: FTR_LIMIT, the classes need more than n_vls VLs; FTR_INVAL, SL 0 is dropped.
 */
enum ftr_status ftr_vl_pairs_choose(const uint8_t vl[FTR_N_SL], uint16_t sls, unsigned int n_vls,
				    struct ftr_vl_pairs *out, struct ftr_err *err) FTR_MUST_USE;

/*
 * The SL2VL tables of engine ddlr.  They are set once; faults do not change them.  A packet
 * leaves a switch on its SL's VL pairs->turn if it changes its direction there: it came from
 * below and goes down, or it came from above and goes up.  All other packets leave on
 * pairs->straight, also packets from a host, to a host, or from the switch itself.  A horizontal
 * link counts as leading up to the greater switch index.  pairs NULL: VL 0 and VL 1 for every SL.
 * Errors: FTR_NOMEM.
 */
enum ftr_status ftr_ddlr_sl2vl(const struct ftr_shape *sh,
			       const struct ftr_vl_pairs *pairs,
			       struct ftr_sl2vl **out,
			       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
