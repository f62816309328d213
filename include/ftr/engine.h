/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The contract of a routing engine, and the list of engines.
 *
 * Life of an engine, all calls from one thread:
 *
 *	ftr_engine_find(name)		a constant table, never freed
 *	  ops->route(shape, opts, team, out)	any number of times, no state kept
 *
 * route: maps a shape to complete tables.
 *	shape	const, lives at least as long as the call
 *	team	may be NULL; the result is the same for any team, bit for bit
 *	out	made by ftr_tables_new for shape->f; EVERY byte is written,
 *		FTR_PORT_NONE where there is no path or no LID
 *	opts	may be NULL: FTR_ROUTE_OPTS_INIT
 *	stats	may be NULL; written on success
 *	returns	FTR_OK also when destinations are unreachable (they are
 *		counted), FTR_NOMEM, FTR_LIMIT, FTR_INTERNAL
 *	locks	none are taken, nothing is logged, no file is read
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
	FTR_SFTREE_INVERTED = 0,	/* one up/down routing on an inverted order */
	FTR_SFTREE_PAPER		/* seed 004, Algorithms 1 and 2 */
};

/* Which of the candidates of equation (1) a destination takes: by its place
 * among what is nominal (even and stable), or among what is alive (the others).
 * With even and stable, destinations whose place is lost (displaced entries) take
 * the first that works of a fixed list.  With even and balance load or full they
 * are then placed by what the links carry. */
enum ftr_placement {
	FTR_PLACE_EVEN = 0,
	FTR_PLACE_STABLE,
	/* Gliksberg et al. 2020, equations (3) and (4), over what is alive: */
	FTR_PLACE_LITERAL,	/* as published: groups by GUID, dividers of
				 * procedure 1 over what is alive */
	FTR_PLACE_PLANES	/* the same with groups by plane */
};

/* A placement over what is alive is also a matter of the shape: the order of its
 * groups and what its dividers count.  Sets these options for how, and leaves
 * the others. */
static inline void ftr_placement_shape(enum ftr_placement how,
				       struct ftr_shape_opts *opts)
{
	opts->by_guid = how == FTR_PLACE_LITERAL;
	opts->no_slots = how >= FTR_PLACE_LITERAL;
}

/*
 * Entries to keep (src/engine/keep.c), both tables on the fabric of the shape.
 * prefer: those of the complete fabric, NULL: keep nothing.  current: those that
 * the switches hold, or NULL.  The search moves entries that could not be kept; with
 * search_all it starts from what was kept and may move all, with search_displaced all
 * entries that do not hold their preferred port.
 */
struct ftr_keep {
	const struct ftr_tables *prefer, *current;
	bool search_all, search_displaced;
};

/* Which pairs of host ports dmodc connects. */
enum ftr_paths {
	FTR_PATHS_ALL = 0,	/* all that a path of links connects: extra turns
				 * where there is no up/down path */
	FTR_PATHS_UPDOWN	/* those with an up/down path by rank, as
				 * published (Gliksberg et al. 2020) */
};

struct ftr_route_opts {
	ftr_sw sm_switch;	/* where the subnet manager is cabled, or NONE */
	/* dmodc, FTR_PATHS_ALL: switches of all subnet managers, whose LIDs
	 * every switch must reach (sm_switch is one of them, given or not) */
	const ftr_sw *sm;
	uint32_t n_sm;
	enum ftr_paths paths;
	/* dmodc, FTR_PATHS_ALL: extra turns of an earlier routing, to be used
	 * again as far as they are possible; by (from, at, to) */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool keep_turns;	/* fill stats.turn */
	enum ftr_sftree_mode sftree_mode;
	enum ftr_placement placement;
	enum ftr_balance balance;
	const struct ftr_keep *keep;	/* or NULL */
	bool (*cancelled)(void *ctx);	/* of the search, or NULL */
	void *cancel_ctx;
	bool keep_routed;	/* fill stats.routed */
	/* Shape of the nominal fabric that the input was made over, or NULL:
	 * sftree orders the switches by it as long as that order connects
	 * all, so that faults do not change it. */
	const struct ftr_shape *nominal;
};

#define FTR_ROUTE_OPTS_INIT { .sm_switch = FTR_SW_NONE }

struct ftr_route_stats {
	uint64_t no_path;	/* (switch, LID) entries left FTR_PORT_NONE */
	uint64_t detours;	/* ordered pairs of hosts on leaf switches whose
				 * path is longer than the shortest up/down path
				 * by rank, or that have no such path */
	/* sftree_mode paper: hops of the longest path between switches that the
	 * seed's Algorithm 2 made (get_path_length); else 0 */
	uint32_t longest_made;
	ftr_sw root;		/* subtree root (sftree), else FTR_SW_NONE */
	/* Levels by which every entry moves up, then down: a claim for the
	 * checker.  order: the caller's [n_sw], or NULL; order_known: it was
	 * filled (an engine may not have one, or have more than 255 levels) */
	uint8_t *order;
	bool order_known;
	/* The shape whose ranks, costs and groups the tables follow to the
	 * letter, as dmodc would: what a live routing starts from.  by_rank:
	 * it is the engine's input; else routed, if keep_routed was asked for
	 * and there is one, which is then the caller's to free. */
	bool by_rank;
	struct ftr_shape *routed;
	struct ftr_balance_report balance;
	/* dmodc, FTR_PATHS_ALL.  Turns of the tables besides up-then-down by
	 * order, by (from, at, to): a claim for the checker.  turn: if
	 * keep_turns was asked for, else NULL; the caller's to free() */
	struct ftr_turn *turn;
	uint32_t n_turns;
	uint64_t extra_pairs;	/* (end port, LID of another) connected by them */
	uint64_t longer_pairs;	/* others whose path is longer for it: of end
				 * ports at a gateway */
	bool reordered;		/* they did not suffice: all is routed by the
				 * inverted order of sftree */
};

/* Which entries an engine fills.  An island: what links connect. */
enum ftr_promise {
	FTR_PROMISE_UPDOWN = 0,	/* where the shape has a finite cost */
	FTR_PROMISE_HOSTS,	/* and from every switch with end ports to all
				 * end ports of its island, and from every
				 * switch to the subnet managers of its island */
	FTR_PROMISE_ALL		/* from every switch to every LID of its island */
};

struct ftr_engine_ops {
	const char *name;	/* lower case, as in opensm.conf */
	const char *summary;	/* one line for --help and man pages */
	/* after a fault the planner of <ftr/ddlr.h> changes single entries;
	 * else all tables are computed again */
	bool local_repair;
	enum ftr_promise (*promise)(const struct ftr_route_opts *opts);
	enum ftr_status (*route)(const struct ftr_shape *shape,
				 const struct ftr_route_opts *opts,
				 struct ftr_team *team, struct ftr_tables *out,
				 struct ftr_route_stats *stats,
				 struct ftr_err *err);
	/* the SL2VL tables that keep local repairs free of credit loops; NULL:
	 * the engine uses one VL */
	enum ftr_status (*sl2vl)(const struct ftr_shape *shape,
				 struct ftr_sl2vl **out, struct ftr_err *err);
};

/* NULL if there is none of that name. */
const struct ftr_engine_ops *ftr_engine_find(const char *name);
/* The i-th engine, NULL past the last. */
const struct ftr_engine_ops *ftr_engine_at(unsigned int i);

/*
 * The SL2VL tables of engine ddlr, set once, never changed by a fault: for every
 * SL, VL 1 out of a switch where the packet turns (came from below and goes
 * down, or came from above and goes up), VL 0 else and where it comes from a
 * host or from the switch.  Needs two operational VLs on every cable between
 * switches.  Errors: FTR_NOMEM.
 */
enum ftr_status ftr_ddlr_sl2vl(const struct ftr_shape *sh,
			       struct ftr_sl2vl **out,
			       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
