/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The interface of a routing engine, and the list of engines.
 *
 * Use of an engine:
 *
 *	ftr_engine_find(name)		a constant object: do not free it
 *	  ops->route(shape, opts, team, out, stats, err)	any number of times
 *
 * An engine keeps no state, so several threads may call it at the same time, with different
 * out, stats and teams.
 *
 * route computes complete tables from a shape.
 *	shape	const; must live at least as long as the call
 *	team	may be NULL; the result is the same for any team, bit for bit
 *	out	made by ftr_tables_new for shape->f; EVERY byte is written,
 *		FTR_PORT_NONE where there is no path or no LID
 *	opts	may be NULL: FTR_ROUTE_OPTS_INIT
 *	stats	may be NULL; `order` is input; the rest is written on success
 *	returns	FTR_OK even if destinations are unreachable (they are counted),
 *		FTR_NOMEM, FTR_LIMIT
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

enum ftr_sftree_mode {
	FTR_SFTREE_INVERTED = 0,	/* up/down routing by the inverted order */
	FTR_SFTREE_PAPER		/* Bogdanski et al. 2012, Algorithms 1 and 2 */
};

/*
 * The rule that selects one of the candidates of equation (1) (Gliksberg et al. 2020) for a
 * destination.  EVEN and STABLE decide by the position of a candidate among the nominal groups,
 * LITERAL and PLANES by its position among the present groups.  With EVEN and STABLE, an entry
 * whose nominal next hop is missing or no candidate (a displaced entry) gets the first usable
 * candidate of a fixed list.  Displaced entries are then placed by link load in two cases: with
 * EVEN and STABLE if keep->prefer is given, and with EVEN, without keep, if balance is load or
 * full or place_by_load is true.
 */
enum ftr_placement {
	FTR_PLACE_EVEN = 0,
	FTR_PLACE_STABLE,
	/* Gliksberg et al. 2020, equations (3) and (4), over the present groups: */
	FTR_PLACE_LITERAL,	/* as published: groups in the order of GUIDs,
				 * dividers of Procedure 1 over the present switches */
	FTR_PLACE_PLANES	/* as LITERAL, but groups in the order of planes */
};

/* Set the options of the shape that depend on the placement `how`.  Other options are unchanged.
 * LITERAL changes the order of the groups; LITERAL and PLANES count only the present
 * switches in the dividers. */
static inline void ftr_placement_shape(enum ftr_placement how,
				       struct ftr_shape_opts *opts)
{
	opts->by_guid = how == FTR_PLACE_LITERAL;
	opts->no_slots = how >= FTR_PLACE_LITERAL;
}

/*
 * Entries to keep (src/engine/keep.c).  prefer and current belong to the fabric of the shape.
 * prefer: the tables of the complete fabric; NULL: keep nothing.  current: the
 * tables that the switches hold, or NULL.  The search (<ftr/balance.h>) moves only entries
 * that could not be kept.  With search_all it starts from the kept entries and may move all
 * entries; with search_displaced it may move all entries that do not have their preferred
 * port.
 */
struct ftr_keep {
	const struct ftr_tables *prefer, *current;
	bool search_all, search_displaced;
};

/* The pairs of host ports that dmodc connects. */
enum ftr_paths {
	FTR_PATHS_ALL = 0,	/* all pairs that links connect, with extra turns
				 * where there is no up/down path */
	FTR_PATHS_UPDOWN	/* those with an up/down path by rank, as
				 * published (Gliksberg et al. 2020) */
};

struct ftr_route_opts {
	ftr_sw sm_switch;	/* switch of the subnet manager, or FTR_SW_NONE */
	/* dmodc, FTR_PATHS_ALL: the switches to which the subnet managers are connected.
	 * Every switch must reach the LIDs of these switches and of their host ports.
	 * (sm_switch counts even if it is not listed.) */
	const ftr_sw *sm;
	uint32_t n_sm;
	enum ftr_paths paths;
	/* dmodc, FTR_PATHS_ALL: extra turns of an earlier routing, which are allowed again as far
	 * as possible, in this order: a turn that would close a cycle with turns before it is left
	 * out */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool keep_turns;	/* true: return the extra turns in stats.turn */
	enum ftr_sftree_mode sftree_mode;
	enum ftr_placement placement;
	enum ftr_balance balance;
	/* FTR_PLACE_EVEN without keep: place displaced entries by link load even if balance
	 * is FTR_BALANCE_OFF.  Incremental tables without keep do not support this. */
	bool place_by_load;
	const struct ftr_keep *keep;	/* NULL: no entries are kept */
	/* returns true to stop the search; NULL: the search is not stopped */
	bool (*cancelled)(void *ctx);
	void *cancel_ctx;
	bool keep_routed;	/* true: return the shape that was routed in stats.routed */
	/* Shape of the nominal fabric over which the input shape was made, or
	 * NULL.  The inverted order is taken from it as long as that order connects all
	 * switches that links connect, so that faults do not change the order. */
	const struct ftr_shape *nominal;
};

#define FTR_ROUTE_OPTS_INIT { .sm_switch = FTR_SW_NONE }

struct ftr_route_stats {
	uint64_t no_path;	/* number of pairs (switch, LID) without a path, whose entries are
				 * FTR_PORT_NONE */
	uint64_t detours;	/* inverted order: number of ordered pairs of hosts on leaf
				 * switches whose path has more hops than the up/down path by
				 * rank (or fewer, over horizontal links), or that have a path
				 * but no up/down path by rank; else 0 */
	/* FTR_SFTREE_PAPER: number of hops of the longest switch-to-switch path that
	 * Algorithm 2 of Bogdanski et al. 2012 made (get_path_length); else 0 */
	uint32_t longest_made;
	ftr_sw root;		/* FTR_SFTREE_PAPER: root of the subtree (Bogdanski et al. 2012);
				 * inverted order: the highest switch of the largest island;
				 * else FTR_SW_NONE */
	/* order: an array [n_sw] of the caller, in which the engine stores the level of
	 * every switch; NULL: the levels are not stored.  The engine claims, and the checker
	 * verifies, that every path goes up and then down by these levels, except in the extra
	 * turns.  order_known: true if there are such levels; false if the engine has no such
	 * order, or its order has more than 255 levels */
	uint8_t *order;
	bool order_known;
	/* The shape from which incremental tables can start: the tables follow its ranks,
	 * costs and groups exactly, like tables of dmodc.  by_rank: true if this is the input
	 * shape.  Otherwise it is `routed`, if keep_routed was set and there is such a shape; the
	 * caller frees it. */
	bool by_rank;
	struct ftr_shape *routed;
	/* not changed with FTR_SFTREE_PAPER, nor if all entries were kept and the search had
	 * nothing to do; so set it to 0 before the call */
	struct ftr_balance_report balance;
	/* dmodc, FTR_PATHS_ALL.  turn: the extra turns of the tables, sorted by
	 * (from, at, to): a claim for the checker.  Filled if keep_turns was set,
	 * else NULL; the caller must free() it */
	struct ftr_turn *turn;
	uint32_t n_turns;
	uint64_t extra_pairs;	/* number of pairs (host port, LID of another host port)
				 * that these turns connect */
	uint64_t longer_pairs;	/* number of other pairs whose path became longer because
				 * of the turns: pairs with a host port on a gateway */
	bool reordered;		/* true: extra turns did not suffice, so the whole fabric
				 * is routed by the inverted order of sftree */
};

/* The entries that an engine promises to fill.  (An island is a connected component of the
 * fabric.) */
enum ftr_promise {
	FTR_PROMISE_UPDOWN = 0,	/* the entries whose cost in the shape is finite */
	FTR_PROMISE_HOSTS,	/* as UPDOWN.  In addition, switches with host ports have entries
				 * for all host ports of their island, and all switches have
				 * entries for the subnet managers of their island */
	FTR_PROMISE_ALL		/* at every switch, the entries for all LIDs of its island */
};

struct ftr_engine_ops {
	const char *name;	/* lower case, as in opensm.conf */
	const char *summary;	/* one line for --help and man pages */
	/* true: after a fault the planner of <ftr/ddlr.h> changes a few entries next to it;
	 * false: tables for the new state are computed, in full or by <ftr/incremental.h> */
	bool local_repair;
	enum ftr_promise (*promise)(const struct ftr_route_opts *opts);
	enum ftr_status (*route)(const struct ftr_shape *shape,
				 const struct ftr_route_opts *opts,
				 struct ftr_team *team, struct ftr_tables *out,
				 struct ftr_route_stats *stats,
				 struct ftr_err *err);
	/* the SL2VL tables for local repairs (ftr_ddlr_sl2vl); NULL: the engine uses one VL */
	enum ftr_status (*sl2vl)(const struct ftr_shape *shape,
				 struct ftr_sl2vl **out, struct ftr_err *err);
};

/* Find an engine by name; NULL: there is none of that name. */
const struct ftr_engine_ops *ftr_engine_find(const char *name);
/* The i-th engine, NULL past the last. */
const struct ftr_engine_ops *ftr_engine_at(unsigned int i);

/*
 * The SL2VL tables of engine ddlr.  They are set once; faults do not change them.
 * For every SL, a packet leaves a switch on VL 1 if it changes its direction there (it came from
 * below and goes down, or came from above and goes up).  Otherwise it leaves on VL 0,
 * like all packets from a host, to a host, or from the switch itself.  A horizontal link counts
 * as leading up to the greater switch index.  Every link between
 * switches needs two operational VLs.  Errors: FTR_NOMEM.
 */
enum ftr_status ftr_ddlr_sl2vl(const struct ftr_shape *sh,
			       struct ftr_sl2vl **out,
			       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
