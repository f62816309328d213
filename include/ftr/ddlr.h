/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ddlr: local repairs.  When a link or a switch fails, ddlr plans which entries to
 * write immediately and in which order, and later the transition to newly routed
 * tables.
 *
 * Source: Sem-Jacobsen et al. 2006 (section 3.1, method R_m) and Sem-Jacobsen et al. 2011
 * (sections V to VI, and the hybrid of section IX-A).  Up to k-1 faults are bypassed
 * by switches next to the fault (k: struct ftr_guarantee).
 *
 * deviation: In the papers a switch sees a fault itself and tries one port after
 * the other.  The packet carries a vector of tried ports.  Failed links need one additional
 * virtual layer, failed switches two.  An InfiniBand switch forwards by LID alone and takes
 * the VL from (input port, output port, SL).  Here a subnet manager knows all faults and
 * writes only detours that work, so packets need no VLs for unsuccessful attempts.
 *
 * Link c-s fails; c is above s.  For every LID that c routed to s:
 *
 *	  c     t		c: down to b, another switch below c
 *	  | \ / |		b: up to t, a switch above both b and s
 *	  |  X  |		s: its entries over this link move to other upward links
 *	  | / \ |
 *	  b     s		the failed link is the diagonal from c to s
 *
 * A parallel link to the same switch is preferred.  The second choice is a neighbour that
 * already has a path, the third a detour.  A detour leads down, then up, over working
 * links to a switch whose entries lead to the LID.  All switches of the detour before that
 * switch get new entries.  A failed switch needs a detour that goes down two tiers.  If several
 * detours (b, t) are equally short, the load of their links decides, for each LID separately.  (For
 * packets from or to switches, the detour that adds the fewest switches to the plan is preferred,
 * and the load decides only among equals.)
 *
 * Clean planes.  If packets turn at a switch of rank m from plane P to plane Q
 * (components of the switches above rank m), this adds an arc P -> Q.  A plane without
 * outgoing arcs is clean.  New arcs lead only to clean planes, as long as one is left.
 * Arcs then never form a cycle, and up/down paths with such detours have no cycle of
 * channel dependencies on one VL.  On k-ary trees each fault makes one plane
 * unclean, so k-1 faults leave one clean plane.  On other trees a fault may make several
 * planes unclean.  If no clean plane is left, repairs may lead into other planes if the
 * dependency graph permits it (docs/ddlr.md).
 *
 * For packets between a host and a switch this rule is binding, on any number of VLs, and
 * their detours never lead away from a clean plane either.  For packets between hosts, and for
 * packets between switches, it is only a preference.  The channel dependency graph
 * (<ftr/cdg.h>), which covers all entries that packets may still follow, decides whether a repair
 * is made.  A repair that would close a cycle is not made for that LID; the next (b, t) is tried and
 * finally, if packets from hosts to a host need the entry, the LID's column
 * of the inverted order (sftree on the damaged fabric).  If all fail, the entry stays broken
 * (plan.unrepaired counts it).
 *
 * Steps.  Writes with the same step may be sent in any order.  Those of step i + 1 may be
 * sent only when all of step i are acknowledged.  Then, in every intermediate
 * state, each packet that had a path has one, no entries form a loop, and the channel
 * dependencies have no cycle.
 *
 * Use of a planner, all calls from one thread:
 *
 *	ftr_ddlr_new(shape, tables in force, VLs)
 *	  events(faults) -> plan: send it		the local repair
 *	  drained()	when packets sent before have left the fabric: a packet
 *			lifetime after the last acknowledgement
 *	  transition(new tables) -> plan: send, drained(), repeat until plan.done
 *	ftr_ddlr_free
 *
 * The planner assumes that every plan is sent: if a write fails, free the planner
 * and make a new one.  Results depend on the arguments only.
 */
#ifndef FTR_DDLR_H
#define FTR_DDLR_H

#include <ftr/cdg.h>
#include <ftr/shape.h>
#include <ftr/tables.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_ddlr_opts {
	/* the SL2VL tables in force, for example those of ftr_ddlr_sl2vl; NULL: VL = SL */
	const struct ftr_sl2vl *sl2vl;
	uint16_t sls;		/* set of SLs in use, one bit per SL; 0 means SL 0 only */
	/* true: the graph also has the dependencies of packets that switches send.  Do not
	 * set this with the tables of sftree and one VL: hardly any detour would be free of cycles.
	 * If the dependency graph refuses detours of host-to-host packets, packets from
	 * switches are ignored from then on (plan.hosts_only).
	 * In that case make a new planner from the next full tables. */
	bool switch_sources;
	/* true: after a fault, repair only entries that packets from hosts to LIDs of host ports
	 * use.  All other broken entries wait for the transition.  The plan is ready sooner, and
	 * has fewer writes: in a large tree a few dozen instead of a thousand, for a link between
	 * upper switches.  The plugin sets this. */
	bool host_paths_only;
	struct ftr_team *team;	/* as in struct ftr_cdg_opts */
	bool (*stop)(void *ctx);	/* as in struct ftr_cdg_opts */
	void *stop_ctx;
};

enum ftr_event_kind {
	FTR_EVENT_LINK_DOWN = 0,
	FTR_EVENT_LINK_UP,
	FTR_EVENT_SWITCH_DOWN,
	FTR_EVENT_SWITCH_UP	/* with all its links that are not down
				 * themselves */
};

struct ftr_event {
	uint8_t kind;		/* enum ftr_event_kind */
	ftr_sw sw;
	ftr_port port;		/* port of sw; used for link events only */
};

enum ftr_ddlr_how {
	FTR_HOW_PARALLEL = 0,	/* another link to the same switch */
	FTR_HOW_NEXT,		/* another neighbour, which has a path already */
	FTR_HOW_TURN,		/* detour of two hops: nearly always one tier down, then up */
	FTR_HOW_TWO_TIERS,	/* longer detour: nearly always two tiers down, then up */
	FTR_HOW_INVERTED,	/* the port by the inverted order */
	FTR_HOW_RESTORED,	/* the port that the entry had before the fault */
	FTR_HOW_NEW,		/* the port of the new tables (transition) */
	FTR_HOW_NONE,		/* entry removed, so that it closes no cycle */
	FTR_N_HOWS
};

struct ftr_ddlr_write {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port from, to;	/* port of the entry before and after the write */
	uint8_t step;		/* number of the write step, from 1 */
	uint8_t how;		/* enum ftr_ddlr_how */
};

struct ftr_ddlr_plan {
	struct ftr_ddlr_write *write;	/* sorted by (step, switch, LID) */
	uint32_t n;
	uint32_t n_steps;
	uint32_t n_switches;	/* number of switches that get a write */
	uint64_t how[FTR_N_HOWS];	/* number of writes by enum ftr_ddlr_how */
	/* number of entries of working switches that still lead onto a link that is down, although
	 * the switch of their LID is up.  With host_paths_only, only entries that packets from
	 * hosts to host ports use are counted */
	uint64_t unrepaired;
	uint64_t unclean;	/* number of repairs that lead into an unclean plane */
	uint64_t refused;	/* number of changes that were tried and not made, because they
				 * would close a cycle */
	bool hosts_only;	/* true: packets from switches are ignored, from the beginning or
				 * since a repair: see switch_sources */
	/* number of LIDs that keep old entries for now, because the new entries (of a
	 * transition, or after links came back) would close a cycle with packets still
	 * in flight */
	uint32_t held;
	/* true: the transition is complete; LIDs that are still held keep their old
	 * entries */
	bool done;
};

struct ftr_ddlr;

/*
 * Make a planner for t, the tables in force on the fabric of sh.  sh must not be a shape of
 * ftr_shape_reorder, and must outlive the planner.  Errors: as ftr_cdg_new, for example
 * FTR_REFUSED if t has a cycle on these VLs.
 */
enum ftr_status ftr_ddlr_new(const struct ftr_shape *sh,
			     const struct ftr_tables *t,
			     const struct ftr_ddlr_opts *opts,
			     struct ftr_ddlr **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_ddlr_free(struct ftr_ddlr *r);	/* NULL is accepted */

/*
 * True if the planner can be kept after a routing and is as good as a new one:
 *
 *  - t equals both the current entries of the planner and the entries that later repairs
 *    would restore
 *  - sh is the shape of the planner's fabric without the links that are down; the indices
 *    of switches and the LIDs are the same
 *  - all planes are clean, and no repair has made the planner ignore packets from switches (see
 *    switch_sources)
 *
 * The SL2VL tables are not compared.  O(n_sw * LIDs).
 */
bool ftr_ddlr_matches(const struct ftr_ddlr *r, const struct ftr_shape *sh,
		      const struct ftr_tables *t);

/* The current entries, assuming that all plans so far were written. */
const struct ftr_tables *ftr_ddlr_tables(const struct ftr_ddlr *r);

/*
 * Plan the local repair for any number of events at once; of several events of one link or
 * switch the last one counts.  An event that reports the current state changes nothing.
 *
 * The original tables are those of ftr_ddlr_new or of the last transition.  After links
 * or switches came back, entries that a repair changed get their original ports again
 * if the original path works.  They are restored in the order opposite to that of the repair: in
 * the picture above, the entry of c first, then that of b.
 * Broken entries may lead onto a link that comes up, and close a cycle there.  Such
 * entries are removed first, by writes of kind FTR_HOW_NONE in step 1.  These writes must
 * be acknowledged before the subnet manager makes the link active.
 *
 * FTR_REFUSED if an event is of kind UP and not all LIDs are drained; FTR_INVAL for a switch that
 * does not exist, or a port that has no link to a switch in the planner's fabric.  In both cases
 * nothing is changed.  Per LID: O(paths examined), a few microseconds on a tree.
 */
enum ftr_status ftr_ddlr_events(struct ftr_ddlr *r,
				const struct ftr_event *ev, uint32_t n,
				struct ftr_ddlr_plan *plan,
				struct ftr_err *err) FTR_MUST_USE;

/* Like ftr_ddlr_events, with the events that lead from the planner's state to the fabric `now`.
 * Switches are matched by GUID, the links between them by GUID and port. */
enum ftr_status ftr_ddlr_to(struct ftr_ddlr *r,
			    const struct ftr_fabric *now,
			    struct ftr_ddlr_plan *plan,
			    struct ftr_err *err) FTR_MUST_USE;

/* Report that all packets sent before the last writes have left the fabric. */
void ftr_ddlr_drained(struct ftr_ddlr *r);
/* Number of LIDs that are not drained: since the last ftr_ddlr_drained an entry for the LID was
 * changed, or a link went down onto which an entry for it leads. */
uint32_t ftr_ddlr_undrained(const struct ftr_ddlr *r);

/*
 * Plan the transition to t, full tables for the damaged fabric nf.  The faults of nf must have
 * been reported before by ftr_ddlr_to.  An entry stays as it is if t has no entry there, or if
 * the path in t does not reach the LID.  A LID is held if its change would close a cycle with
 * packets still in flight: send the plan, drain, and call again with the same
 * tables, until plan->done.  From then on t is the original table of ftr_ddlr_events.
 * FTR_INVAL if t does not fit nf, or if nf has a switch that the planner's fabric does not have
 * or that has another number of ports there.
 */
enum ftr_status ftr_ddlr_transition(struct ftr_ddlr *r,
				    const struct ftr_fabric *nf,
				    const struct ftr_tables *t,
				    struct ftr_ddlr_plan *plan,
				    struct ftr_err *err) FTR_MUST_USE;

void ftr_ddlr_plan_fini(struct ftr_ddlr_plan *plan);

/*
 * The number of arbitrary faults (links between switches, switches without hosts)
 * that are repaired locally, for packets from hosts to LIDs of class FTR_CLASS_HOST:
 * Sem-Jacobsen et al. 2011, lemmas 2 and 4, which are about k-ary trees; docs/ddlr.md
 * lists the other trees on which the number was verified.
 *
 * Working switches that have hosts on or below them are examined, except roots.  For each examined
 * switch, the switches directly above it to which it has a working link are counted.  k is the
 * least of these numbers.  A weakest switch is one with only k such switches above it.
 */
struct ftr_guarantee {
	uint32_t k;
	uint32_t faults;	/* number of faults that are repaired: min(k, clean) - 1, but at
				 * least 0 */
	uint32_t planes;	/* least number of planes above a weakest switch */
	uint32_t clean;		/* least number of clean planes above any examined
				 * switch */
	ftr_sw weakest;		/* the weakest switch with the lowest rank, then the lowest
				 * index; FTR_SW_NONE: no switch was examined */
	uint32_t n_weakest;	/* number of weakest switches */
};
void ftr_ddlr_guarantee(const struct ftr_ddlr *r,
			struct ftr_guarantee *out);

#ifdef __cplusplus
}
#endif
#endif
