/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state machine of the fast path.
 *
 * The machine makes only the decisions that depend on the order of events: whose tables the
 * switches hold, whether the worker may write, and the next action.  A job (probe, compute,
 * check, write) runs from start to end on the worker.  The worker posts an event when it begins
 * or ends a write, and when the job ends.  So every race is decided in the state machine.
 *
 * Alternatively, every answer of a switch could be an event.  Then the worker would never
 * wait, but the nested loops of a repair (retries, two routes, write steps) would become
 * several dozen states.
 *
 * The state has three parts, `sweep`, `tables` and `job`, with three values each.  Every
 * combination is tested with every event.
 *
 * sweep: the phase of OpenSM, as known from its events.
 *
 *	         SWEEP_START              DISCOVERED
 *	 REST ----------------> DISCOVERY -----------> ROUTING
 *	  ^ \                     ^                     |  |
 *	  |  \ ROUTING (reroute)  |  SWEEP_START        |  |
 *	  |   `-------------------+---------------------'  |
 *	  |     -> ROUTING          (abandoned)            |
 *	  `------------------------------------------------'
 *	                     ROUTED, SUBNET_UP
 *
 * tables: the tables that the switches hold.
 *
 *	FOREIGN	unknown tables, or tables of another engine or another manager
 *	SETUP	tables of an engine of this plugin ("ours" below); ports may still be in Init
 *	UP	tables of an engine of this plugin; OpenSM has set all links Active
 *
 *	           ROUTED (ours)         SUBNET_UP
 *	 FOREIGN ----------------> SETUP ----------> UP
 *	    ^                        ^ `-. ROUTED     |
 *	    |                        `---' (ours)     |
 *	    |                        ^----------------'
 *	    `--- from all: ROUTED (not ours), STANDBY, SWEEP_START (if the tables
 *	         have changed without an event)
 *
 * job: what the worker does.
 *
 *	      TIMER (with work)      WRITE_BEGIN
 *	 IDLE -----------------> BUSY <--------> WRITING
 *	   ^----------------------'   WRITE_END
 *	           SMP_DONE
 *
 * Epochs.  The tables of the switches can be changed by the fast path, by a routing of OpenSM,
 * or by another manager.  A new epoch begins when a routing begins, when it ends, and when the
 * tables become unknown.  Every write belongs to the epoch in which it was permitted.  When this
 * epoch is over, the write stops before its next step, and does not update OpenSM's copy of the
 * tables (rr_may_write).
 *
 * Invariant.  The view is the worker's copy of the tables (reroute.h).  If there is a view, it has
 * the tables that the switches hold, except for blocks that switches without live links have not
 * acknowledged; a sweep writes these blocks again.  The view belongs to the epoch of its tables.  If the switches hold tables of
 * another epoch, the view is replaced or dropped before it is used.
 *
 * Traps are never lost.  An accepted trap is in the queue, in the job, or in the list of traps
 * that are handled again when the links are up; or a sweep that will see the change of the link
 * is already wanted.  A trap during a sweep with FOREIGN tables is not accepted, but handled when the
 * links are up, if an engine of this plugin routes.
 *
 * rr_step() reads no clock, takes no lock and calls no other module.  The caller must not call it
 * from two threads at the same time.  Times are milliseconds of one monotonic clock.
 */
#ifndef RR_STATE_H
#define RR_STATE_H

#include "reroute/damp.h"
#include "reroute/links.h"

/* Times (ms) of the last writes of repairs and routings; 0: none. */
struct rr_written {
	double last;
	double unranked;	/* the ranks did not prove that no mixture of the old and the new entries
				 * has a credit loop */
	double *lid;		/* [FTR_LID_MAX + 1] of entries for each LID */
};

#define RR_TRAPS_MAX 512

enum rr_sweep { RR_REST = 0, RR_DISCOVERY, RR_ROUTING, RR_N_SWEEPS };
enum rr_tables { RR_FOREIGN = 0, RR_SETUP, RR_UP, RR_N_TABLES };
enum rr_job { RR_IDLE = 0, RR_BUSY, RR_WRITING, RR_N_JOBS };

struct rr_trap {
	ftr_lid lid;		/* LID of the switch that sent the trap */
	double at;		/* time at which the trap arrived, ms */
};

/* The brackets contain the members of struct rr_event that are set, with their meaning. */
enum rr_event_kind {
	/* A switch reports a link change [lid, master]. */
	RR_EV_TRAP = 0,
	/* A heavy sweep begins [unknown: tables were written without an event;
	 * routed: OpenSM has an engine in use]. */
	RR_EV_SWEEP_START,
	/* Discovery is over. */
	RR_EV_DISCOVERED,
	/* OpenSM computes tables, with or without a discovery before it. */
	RR_EV_ROUTING,
	/* OpenSM has routed, so the switches hold new tables [ours: an engine of this plugin
	 * has made them]. */
	RR_EV_ROUTED,
	/* All links are set up. */
	RR_EV_SUBNET_UP,
	/* This manager is no longer master. */
	RR_EV_STANDBY,
	/* The time that rr_timer() returned has come, or another event was posted [master]. */
	RR_EV_TIMER,
	/* The worker requests permission to write to switches. */
	RR_EV_WRITE_BEGIN,
	/* The worker's write has ended [rewrite: a sweep must write blocks again, because
	 * OpenSM routed during the write]. */
	RR_EV_WRITE_END,
	/* The worker's job has ended [repeat: its traps must be handled again; unknown: a
	 * switch has stopped answering, so its traps must be handled again if another trap has
	 * arrived; init: a port in use was in Init; due: time of the next round of a
	 * transition]. */
	RR_EV_SMP_DONE,
	/* A sweep is wanted [now: immediately]. */
	RR_EV_WANT_SWEEP,
	RR_N_EVENTS
};

struct rr_event {
	enum rr_event_kind kind;
	ftr_lid lid;
	bool master, unknown, routed, ours, rewrite, repeat, init, now;
	double due;		/* time of the next round of ddlr's transition, ms; negative: there
				 * is no next round */
};

/* Actions for the caller.  If several are set, they are carried out in this order. */
enum rr_action {
	/* The trap was accepted: OpenSM need not act on it. */
	RR_ACT_TAKEN = 1 << 0,
	/* Do not return to OpenSM before the worker's write has ended. */
	RR_ACT_WAIT_FOR_WRITE = 1 << 1,
	/* The worker may write; the write belongs to the epoch rr_state.epoch. */
	RR_ACT_WRITE = 1 << 2,
	/* Drop the view.  (This action and the following ones are for the worker.) */
	RR_ACT_DROP_VIEW = 1 << 3,
	/* Make a new view of the last routing. */
	RR_ACT_NEW_VIEW = 1 << 4,
	/* Blocks were written during a routing: make a sweep write them again. */
	RR_ACT_REWRITE = 1 << 5,
	/* Handle the traps in rr_state.asked. */
	RR_ACT_TRAPS = 1 << 6,
	/* Write the next round of ddlr's transition to new tables (ddlr.c). */
	RR_ACT_TRANSITION = 1 << 7,
	/* This manager is not master: end the transition, and log what was written. */
	RR_ACT_SETTLE = 1 << 8,
	/* Probe the RETURNING links (links.h). */
	RR_ACT_RETURNS = 1 << 9,
	/* Only with RR_ACT_RETURNS: the links are probed because a sweep is done. */
	RR_ACT_SWEPT = 1 << 10,
	/* Ask OpenSM for a heavy sweep. */
	RR_ACT_SWEEP = 1 << 11,
};

struct rr_state {
	enum rr_sweep sweep;
	enum rr_tables tables;
	enum rr_job job;
	uint32_t epoch;
	uint32_t held;		/* epoch of the tables that the switches hold; 0: the tables are
				 * FOREIGN */
	uint32_t view;		/* epoch of the worker's view; 0: there is none */
	struct rr_links links;
	struct rr_damp want;	/* whether a sweep is wanted, and when it is due */
	double start;		/* time at which the current sweep began */
	double began;		/* start of the last sweep whose discovery has ended */
	double discovery;	/* ms that the last discovery took */
	double transition;	/* time at which the next round of a transition is due; negative:
				 * there is no transition */
	uint32_t unconfirmed;	/* number of repairs that no sweep has confirmed yet; set by the
				 * caller */
	/* Reasons to probe RETURNING links.  released: the hold time of a damped link is over;
	 * swept: a sweep is done. */
	bool released, swept;
	bool rewrite;		/* RR_ACT_REWRITE is due as soon as `sweep` is RR_REST */
	bool job_up;		/* `tables` was RR_UP when the job began */
	/* trap: the queue of traps.  asked: the traps of the current job.  later: the traps to be
	 * handled again when the links are up. */
	struct rr_trap trap[RR_TRAPS_MAX], asked[RR_TRAPS_MAX],
		later[RR_TRAPS_MAX];
	uint32_t n_traps, n_asked, n_later;
};

void rr_state_init(struct rr_state *s);

/* Change *s to the state after the event; returns a set of enum rr_action. */
unsigned int rr_step(struct rr_state *s, const struct rr_event *ev, double now);

/* The time at which RR_EV_TIMER must be posted; negative: not before another event. */
double rr_timer(const struct rr_state *s);
/* True if a write that was permitted in this epoch may continue. */
bool rr_may_write(const struct rr_state *s, uint32_t epoch);
/* True if the tables of the switches differ from the view, or may soon differ because OpenSM is
 * routing. */
bool rr_overtaken(const struct rr_state *s);

#endif
