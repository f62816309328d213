/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Local repairs: what to write, at once and in which order, when a cable or a
 * switch dies, and how to go over to newly routed tables after that.
 *
 * Source: F. O. Sem-Jacobsen et al., dynamic local rerouting in fat-trees:
 * seed 000 (section 3.1, R_m) and seed 001 (sections V to VI; the hybrid of
 * section IX-A).  Up to k-1 faults, k = switches above each switch, are gone
 * round next to where they are.
 *
 * deviation: the papers' switches see a fault themselves and try one port after
 * the other, with a vector of tried ports in the packet and one (links) or two
 * (switches) more virtual layers.  An InfiniBand switch forwards by (switch,
 * LID) alone and takes its lane from (in, out, SL).  Here a subnet manager
 * knows all faults and writes the detour that works; lanes need not be enough
 * for detours that are only tried.
 *
 * Cable c-s is lost, c above s.  For every LID that c sent to s:
 *
 *	  c     t		c: down to b, another switch below c
 *	  | \ / |		b: up to t, a switch above both b and s
 *	  |  X  |		s: its own upward entries move to others
 *	  | / \ |
 *	  b     s		lost: c-s, drawn from c to s
 *
 * A second cable to the same switch comes first; a neighbour that knows a way
 * already comes before any detour; a dead switch takes two tiers down.  The
 * search is the same for all: the shortest way over live cables to a switch
 * from where the entries lead to the LID, down and then up; switches between
 * are rewritten, too.  The (b, t) is chosen per LID, by load.
 *
 * Clean planes.  A U-turn of a switch of rank m from plane P to plane Q
 * (components of the switches above rank m) is an arc P -> Q.  New arcs lead
 * only to planes without outgoing arcs, while there is one; so arcs never form a
 * cycle, and up-down routes with such detours have no cycle of channel
 * dependencies on one lane.  Each fault makes one plane unclean, so k-1 leave
 * one clean.  For all but packets of hosts to hosts this is a condition, on any
 * number of lanes: they make no clean plane unclean.  For hosts it decides
 * preference only: whether a repair is made is decided by the dependency graph
 * (<ftr/cdg.h>), which holds all that packets may still follow.  A repair that
 * would close a cycle is not made for that LID, and the next (b, t) is tried; at
 * last the LID's column of the inverted order (sftree on the damaged fabric).
 * What cannot be had at all stays broken and is counted.
 *
 * Steps.  Writes of one step may be sent in any order; those of step i + 1 only
 * when all of step i are acknowledged.  Then in every state between, every
 * packet that had a way has one, no entry leads round, and nothing closes a
 * cycle.
 *
 * Life of a planner, all calls from one thread:
 *
 *	ftr_ddlr_new(shape, tables as pushed, lanes)
 *	  events(faults) -> plan: send it		stage one
 *	  drained()	when packets sent before are gone: a packet lifetime
 *			after the last acknowledgement
 *	  handover(new tables) -> plan: send, drained(), again until plan.done
 *	ftr_ddlr_free
 *
 * A plan is taken as sent: if a write fails, the planner is of no use any more.
 * Results depend on the arguments alone.
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
	/* the SL2VL in force (turn bit: ftr_ddlr_sl2vl), NULL: one lane for
	 * all SLs */
	const struct ftr_sl2vl *sl2vl;
	uint16_t sls;		/* set of SLs in use, bit per SL; 0: SL 0 */
	/* Packets that switches send count, too.  With the tables of sftree
	 * and one lane few detours are then free of cycles: leave it off there.
	 * Where every clean way for packets of hosts to a host closes a cycle
	 * with those of switches, those of switches do not count any more from
	 * then on (plan.hosts_only): make a new planner of the next full
	 * tables. */
	bool switch_sources;
	bool (*stop)(void *ctx);	/* as in struct ftr_cdg_opts */
	void *stop_ctx;
};

enum ftr_event_kind {
	FTR_EVENT_LINK_DOWN = 0,
	FTR_EVENT_LINK_UP,
	FTR_EVENT_SWITCH_DOWN,
	FTR_EVENT_SWITCH_UP	/* with all its cables that are not down
				 * themselves */
};

struct ftr_event {
	uint8_t kind;		/* enum ftr_event_kind */
	ftr_sw sw;
	ftr_port port;		/* of sw; links only */
};

enum ftr_ddlr_how {
	FTR_HOW_PARALLEL = 0,	/* another cable to the same switch */
	FTR_HOW_NEXT,		/* a neighbour that knows a way */
	FTR_HOW_TURN,		/* one tier down and up */
	FTR_HOW_TWO_TIERS,
	FTR_HOW_INVERTED,	/* the inverted order */
	FTR_HOW_RESTORED,	/* as before the fault */
	FTR_HOW_NEW,		/* handover */
	FTR_HOW_NONE,		/* taken away, or it would close a cycle */
	FTR_N_HOWS
};

struct ftr_ddlr_write {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port from, to;	/* entry before and after */
	uint8_t step;		/* from 1 on */
	uint8_t how;		/* enum ftr_ddlr_how */
};

struct ftr_ddlr_plan {
	struct ftr_ddlr_write *write;	/* by (step, switch, LID) */
	uint32_t n;
	uint32_t n_steps;
	uint32_t n_switches;	/* with a write */
	uint64_t how[FTR_N_HOWS];	/* writes by kind */
	/* entries, towards LIDs whose switch is alive, that still lead onto a
	 * dead cable */
	uint64_t unhealed;
	uint64_t unclean;	/* repairs onto a plane that is not clean */
	uint64_t refused;	/* repairs not made, for they close a cycle */
	bool hosts_only;	/* packets of switches are not counted */
	/* handover, recovery: LIDs that keep old entries for now, for the new
	 * ones would close a cycle with what is still under way */
	uint32_t held;
	/* handover: nothing is left to do; what is held then stays for good */
	bool done;
};

struct ftr_ddlr;

/*
 * A planner for t, the tables in force on the fabric of sh, which must outlive
 * it.  Errors: as ftr_cdg_new; FTR_REFUSED if t has a cycle on these lanes.
 */
enum ftr_status ftr_ddlr_new(const struct ftr_shape *sh,
			     const struct ftr_tables *t,
			     const struct ftr_ddlr_opts *opts,
			     struct ftr_ddlr **out,
			     struct ftr_err *err) FTR_MUST_USE;
void ftr_ddlr_free(struct ftr_ddlr *r);	/* NULL is accepted */

/* All entries now, as if the plans so far were written. */
const struct ftr_tables *ftr_ddlr_tables(const struct ftr_ddlr *r);

/*
 * Stage one of any number of events at once, in the given order.  What is up or
 * down already is nothing.  After events that bring something back, entries
 * that differ from the tables as pushed go back where those have a way, in the
 * opposite order: c first, then b.  Where entries that were not healed lead
 * onto a cable that comes up, and would close a cycle, they are taken away
 * first: writes FTR_HOW_NONE, step 1, to be acknowledged before the subnet
 * manager makes the cable active.  FTR_REFUSED for such events while packets
 * are not drained; FTR_INVAL for a switch or port that there is not.
 * Per LID: O(paths looked at), a few microseconds on a tree.
 */
enum ftr_status ftr_ddlr_events(struct ftr_ddlr *r,
				const struct ftr_event *ev, uint32_t n,
				struct ftr_ddlr_plan *plan,
				struct ftr_err *err) FTR_MUST_USE;

/* The same for all that now, a copy of the fabric as it is by now, lacks or has
 * again: cables between switches and whole switches, matched by GUID and port. */
enum ftr_status ftr_ddlr_to(struct ftr_ddlr *r,
			    const struct ftr_fabric *now,
			    struct ftr_ddlr_plan *plan,
			    struct ftr_err *err) FTR_MUST_USE;

void ftr_ddlr_drained(struct ftr_ddlr *r);
uint32_t ftr_ddlr_undrained(const struct ftr_ddlr *r);	/* LIDs */

/*
 * Go over to t, full tables for nf, the damaged fabric, whose faults were told
 * before (ftr_ddlr_to).  Entries stay where t
 * has none, or would not arrive.  A LID whose change would close a cycle with
 * what is under way is held: send the plan, drain, and call again with the same
 * tables, until plan->done.  Then the tables now are what later events restore.
 * FTR_INVAL if nf has a switch that the planner's fabric does not have.
 */
enum ftr_status ftr_ddlr_transition(struct ftr_ddlr *r,
				    const struct ftr_fabric *nf,
				    const struct ftr_tables *t,
				    struct ftr_ddlr_plan *plan,
				    struct ftr_err *err) FTR_MUST_USE;

void ftr_ddlr_plan_fini(struct ftr_ddlr_plan *plan);

/*
 * How many arbitrary faults (cables between switches, switches without hosts)
 * are healed locally for certain: seed 001, lemmas 2 and 4, with k taken over
 * all switches that have hosts on or below them, and the planes that are clean:
 * all of them at first, one less with every fault.
 */
struct ftr_guarantee {
	uint32_t k;		/* switches above the weakest switch, alive */
	uint32_t faults;	/* min(k, clean) - 1, or 0 */
	uint32_t planes;	/* distinct planes above the weakest */
	uint32_t clean;		/* least number of clean planes above a switch */
	ftr_sw weakest;		/* lowest rank, then index; FTR_SW_NONE: there
				 * is one switch of hosts only */
	uint32_t n_weakest;	/* switches with so few above them */
};
void ftr_ddlr_guarantee(const struct ftr_ddlr *r,
			struct ftr_guarantee *out);

#ifdef __cplusplus
}
#endif
#endif
