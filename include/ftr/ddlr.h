/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ddlr: local repairs.  When a link or a switch fails, ddlr changes a few table entries next to the
 * fault.  It plans which entries to write, and in which order.  Later, when new tables have been
 * computed for the whole fabric, it plans the transition to them.
 *
 * Source: Sem-Jacobsen et al. 2006 (section 3.1, method R_m) and Sem-Jacobsen et al. 2011
 * (sections V to VI, and the hybrid method of section IX-A).  Up to k-1 faults are bypassed
 * by switches next to the fault (k: see struct ftr_guarantee).
 *
 * deviation: In the papers a switch sees a fault itself and tries one port after the other; the
 * packet carries a list of the ports that were tried.  This needs one additional virtual layer for
 * failed links, and two for failed switches.  An InfiniBand switch cannot do this: it forwards by
 * LID alone, and takes the VL from (input port, output port, SL).  Here a subnet manager knows all
 * faults and writes only detours that work, so packets need no VLs for unsuccessful attempts.
 *
 * Link c-s fails; c is above s.  For every LID that c routed to s:
 *
 *	  c     t		c: down to b, another switch below c
 *	  | \ / |		b: up to t, a switch above both b and s
 *	  |  X  |		s: its entries over this link move to other upward links
 *	  | / \ |
 *	  b     s		the failed link is the diagonal from c to s
 *
 * For the entry of c, the first choice is a parallel link to the same switch, the second a
 * neighbour whose entry leads to the LID already, the third a detour.  A detour leads down, then
 * up, over working links to a switch whose entries lead to the LID.  All switches of the detour
 * before that switch get new entries.  A failed switch needs a detour that goes down two tiers.  If
 * several detours (b, t) are equally short, the one with the least loaded links is taken, for each
 * LID separately.  (For LIDs of switches, and for packets that switches send, the detour that
 * adds the fewest switches to the plan is taken.  Among equals, the load decides.)
 *
 * Clean planes.  A plane of rank m is a connected component of the switches above rank m.  If
 * packets come down from plane P to a switch of rank m, turn, and go up into plane Q, there is an
 * arc P -> Q.  A plane without outgoing arcs is clean.  The rule: as long as there is a clean
 * plane, new arcs lead only to clean planes.  Arcs then never form a cycle, and up/down paths with
 * such detours have no cycle of channel dependencies, even on one VL.  On k-ary trees each fault
 * makes one plane unclean, so one plane is still clean after k-1 faults.  On other trees a fault
 * may make several planes unclean.  If no plane is clean, detours may lead into unclean planes if
 * the channel dependency graph permits it (docs/ddlr.md).
 *
 * For packets between a host and a switch, this rule is binding with any number of VLs.  In
 * addition, their detours must not lead away from a clean plane.  For packets between hosts, and
 * for packets between switches, detours into clean planes are only preferred.  The channel
 * dependency graph (<ftr/cdg.h>) covers all entries that packets may still follow, and decides
 * whether a repair is made.  If a repair would close a cycle for a LID, the next detour (b, t) is
 * tried for this LID.  If every detour would close a cycle, and packets from hosts to a host need
 * the entry, the entries for the LID are changed to those of sftree (its tables for the damaged
 * fabric, by the inverted order).  If this fails, too, the entry stays broken and is counted in
 * plan.unrepaired.
 *
 * Steps.  Writes with the same step may be sent in any order.  Writes of step i + 1 may be sent
 * only when all writes of step i are acknowledged.  If the caller does this, then at any time every
 * packet that had a path before the first write has one, no entries form a loop, and the channel
 * dependencies have no cycle.
 *
 * Use of a planner, all calls from one thread:
 *
 *	ftr_ddlr_new(shape, tables in force, VLs)
 *	  events(faults) -> plan: send it		the local repair
 *	  drained()	when all packets sent before the writes have left the fabric: one
 *			packet lifetime after the last acknowledgement
 *	  transition(new tables) -> plan: send, drained(), repeat until plan.done
 *	ftr_ddlr_free
 *
 * Or, without faults: ftr_ddlr_new, order(new tables) -> plan for the whole transition, ftr_ddlr_free.
 *
 * The planner assumes that every plan is sent completely.  If a write fails, free the planner and
 * make a new one.  The results depend on the arguments only.
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

enum ftr_ddlr_how {
	FTR_HOW_PARALLEL = 0,	/* another link to the same switch */
	FTR_HOW_NEXT,		/* another neighbour whose entry leads to the LID */
	FTR_HOW_TURN,		/* detour of two hops: nearly always one tier down, then up */
	FTR_HOW_TWO_TIERS,	/* longer detour: nearly always two tiers down, then up */
	FTR_HOW_INVERTED,	/* the port of the tables of sftree (the inverted order) */
	FTR_HOW_NEW,		/* the port of the new tables (transition) */
	FTR_N_HOWS
};

struct ftr_ddlr_plan {
	struct ftr_change *write;	/* sorted by (step, switch, LID); step: from 1 */
	uint32_t n;
	uint32_t n_steps;
	uint32_t n_rounds;	/* number of rounds with writes; see ftr_ddlr_order() */
	uint32_t n_switches;	/* number of switches with a write */
	uint64_t how[FTR_N_HOWS];	/* number of writes by enum ftr_ddlr_how */
	/* number of entries that still lead onto a link that is down, although their switch and the
	 * switch of their LID work.  With host_paths_only, only entries that packets from hosts to
	 * host ports use are counted */
	uint64_t unrepaired;
	uint64_t unclean;	/* number of repairs that lead into an unclean plane */
	uint64_t refused;	/* number of changes that were tried but not made, because they
				 * would close a cycle */
	bool hosts_only;	/* true: the planner ignores packets from switches, from the
				 * beginning or since a repair: see switch_sources */
	/* number of LIDs that keep old entries after this plan of a transition.  Their new entries
	 * would close a cycle with the entries that packets still follow */
	uint32_t held;
	/* true: the transition is complete; LIDs that are still held keep their old entries until
	 * the next transition */
	bool done;
};

struct ftr_ddlr;

/*
 * Make a planner for t, the tables in force on the fabric of sh.  sh must outlive the planner, and
 * must not have been made by ftr_shape_reorder.  Errors: as ftr_cdg_new, for example FTR_REFUSED
 * if the dependency graph of t has a cycle with these VLs.
 *
 * opts		Options of the dependency graph: the SL2VL tables in force, for example those of
 *		ftr_ddlr_sl2vl, and so on.  Do not set switch_sources with tables of sftree and
 *		one VL: nearly every detour would then close a cycle.  If a detour for packets
 *		between hosts would close a cycle in this graph, the planner ignores packets from
 *		switches from then on, and sets plan.hosts_only.  In that case make a new planner
 *		when the next full tables are in force.
 * host_paths_only	true: after a fault, repair only entries that packets from hosts to LIDs
 *		of host ports use.  All other broken entries stay until the transition.  The plan
 *		is ready sooner and has fewer writes: in a large tree, after a fault of a link
 *		between upper switches, a few dozen instead of a thousand.  The plugin sets this.
 */
enum ftr_status ftr_ddlr_new(const struct ftr_shape *sh,
			     const struct ftr_tables *t,
			     const struct ftr_cdg_opts *opts, bool host_paths_only,
			     struct ftr_ddlr **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_ddlr_free(struct ftr_ddlr *r);	/* NULL is accepted */

/* The current entries, assuming that all plans so far were written. */
const struct ftr_tables *ftr_ddlr_tables(const struct ftr_ddlr *r);

/*
 * Plan the local repair for any number of events at once.  Event ev[i]: the link at port ev[i].port
 * of switch ev[i].sw goes down or, if the port is 0, the switch with all its links.  An event that
 * reports the current state changes nothing.  A planner knows no links or switches that come back: when they are in use
 * again, make a new planner.
 *
 * FTR_INVAL: a switch does not exist, or a port has no link to a switch in the planner's fabric;
 * nothing is then changed.  FTR_NOMEM.  O(paths examined) for each LID, a few microseconds on a
 * tree.
 */
enum ftr_status ftr_ddlr_events(struct ftr_ddlr *r,
				const struct ftr_hop *ev, uint32_t n,
				struct ftr_ddlr_plan *plan,
				struct ftr_err *err) FTR_MUST_USE;

/* Like ftr_ddlr_events, with an event for each link and switch that the fabric `now` does not have.
 * Switches are matched by GUID, links between switches by the GUIDs and ports of their ends. */
enum ftr_status ftr_ddlr_to(struct ftr_ddlr *r,
			    const struct ftr_fabric *now,
			    struct ftr_ddlr_plan *plan,
			    struct ftr_err *err) FTR_MUST_USE;

/* Report that all packets sent before the last writes have left the fabric.  This drains all
 * LIDs. */
void ftr_ddlr_drained(struct ftr_ddlr *r);

/*
 * Plan the transition to t, full tables for the damaged fabric nf.  The faults of nf must have
 * been reported before by ftr_ddlr_to.  An entry stays as it is if the path in t does not reach the
 * LID, or if t has no entry there.  Exception: for LIDs without an owner, each call clears entries that
 * t does not have, except on the present paths of switches that have an entry in t.  So some of them
 * may be left when plan->done is true.  If the new entries for a LID would close a cycle with the
 * entries that packets still follow, they are tried one by one, and the LID is held if some of them
 * keep their old value.  Send the plan, drain, and call again with the same tables, until plan->done is
 * true.
 *
 * FTR_INVAL: t does not fit nf; nf has a switch that the planner's fabric does not have; or a
 * switch has another number of ports in nf than in the planner's fabric.  FTR_NOMEM.
 */
enum ftr_status ftr_ddlr_transition(struct ftr_ddlr *r,
				    const struct ftr_fabric *nf,
				    const struct ftr_tables *t,
				    struct ftr_ddlr_plan *plan,
				    struct ftr_err *err) FTR_MUST_USE;

/*
 * Plan the whole transition to t, full tables for the planner's fabric.  The planner is new and without
 * options, and can only be freed afterwards.  The rounds are those of ftr_ddlr_transition(), but entries
 * that t does not have are cleared for all LIDs.  The step of a write of round r, from 0, is r *
 * FTR_DDLR_STEPS + its step in the round.  Drain before each round except the first.
 *
 * If LIDs are held, up to 16 other orders are tried, with fewer in large fabrics, and none that would end,
 * as far as can be foreseen, later than `ms` milliseconds after the call, or for which memory is lacking.  The
 * plan is the first one that holds the fewest LIDs.
 *
 * Errors as above.
 */
#define FTR_DDLR_STEPS 256
enum ftr_status ftr_ddlr_order(struct ftr_ddlr *r, const struct ftr_tables *t, unsigned int ms,
			       struct ftr_ddlr_plan *plan, struct ftr_err *err) FTR_MUST_USE;

void ftr_ddlr_plan_fini(struct ftr_ddlr_plan *plan);

/*
 * The guarantee: after `faults` faults (links between switches, or switches without hosts),
 * wherever they are, all paths from hosts to LIDs of class FTR_CLASS_HOST are repaired locally.
 * Source: Sem-Jacobsen et al. 2011, lemmas 2 and 4, which are about k-ary trees; docs/ddlr.md lists
 * the other trees on which the number was verified.
 *
 * All working switches that have hosts on or below them are examined, except roots.  For each of
 * them, the switches directly above it to which it has a working link are counted.  k is the
 * least of these numbers.  A switch with only k such switches above it is called weakest.
 */
struct ftr_guarantee {
	uint32_t k;
	uint32_t faults;	/* number of faults that are repaired: max(min(k, clean) - 1, 0) */
	uint32_t planes;	/* least number of planes above a weakest switch */
	uint32_t clean;		/* least number of clean planes above any examined
				 * switch */
	ftr_sw weakest;		/* of the weakest switches of the lowest rank, the one with the
				 * lowest index; FTR_SW_NONE: no switch was examined */
	uint32_t n_weakest;	/* number of weakest switches */
};
void ftr_ddlr_guarantee(const struct ftr_ddlr *r,
			struct ftr_guarantee *out);

#ifdef __cplusplus
}
#endif
#endif
