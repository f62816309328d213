/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: from a trap to healed tables without a sweep.
 *
 *	trap.c	sees every trap before OpenSM does, queues those of a switch
 *		whose links changed, and says whether OpenSM should sweep for it
 *	fast.c	the worker, one thread, and OpenSM's events: both drive the
 *		state machine (reroute/state.h) and do what it says
 *	reroute.c the view, and one repair from its traps to the end
 *	probe.c	asks the switch which of its cables are dead or back
 *	ddlr.c	engine ddlr: detours first, then the way to the new tables; the
 *		planner of detours is made in a thread of its own
 *	push.c	tells OpenSM's copy what is about to change, writes the
 *		blocks stage by stage, and settles the copy
 *	outside.c cables that a routing leaves out although they were found
 *	event.c	the log line, and the line of ibfattree-events.jsonl
 *	smp.c	packets
 *
 * Who waits for whom.  A trap only queues.  The sweeper waits, at the end of
 * a discovery and without any lock, until the worker has settled what it is
 * writing; from there to the end of routing the worker starts nothing.  The
 * worker takes OpenSM's lock (exclusive) twice per repair, for microseconds.
 * No lock of ours is held while OpenSM's lock is waited for, but patching.
 */
#ifndef IBF_FAST_H
#define IBF_FAST_H

#include <pthread.h>
#include <stdatomic.h>

#include "osm/osm.h"
#include "osm/smp.h"
#include "reroute/state.h"
#include <ftr/check.h>
#include <ftr/live.h>
#include <ftr/repair.h>

/* A cable whose state has changed, told from one end. */
struct rr_link {
	ftr_sw sw, peer;
	ftr_port port, peer_port;
	bool up;
};

/* Entries to be written, by (step, switch, LID).  Steps ascend; one is written
 * when all before it is acknowledged, and those from first_drain on when
 * packets that came by the old entries have left, too. */
struct ibf_entry {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port to;
	uint16_t step;
};

struct ibf_writes {
	struct ibf_entry *entry;
	uint32_t n;
	uint32_t first_drain;
};

/* What the worker knows of one generation of routing; its own. */
struct ibf_view {
	struct ibf_generation *gen;
	struct ftr_live *live;
	struct ftr_tables *sent;	/* what the switches hold */
	ib_net64_t *m_key;		/* [n_sw] */
	struct rr_dr_origin origin;
	ftr_lid sm_lid;			/* of the subnet manager's port */
	struct rr_dr_tree *tree[2];	/* around what is dead; second routes */
	uint8_t *avoid;			/* [n_sw] scratch of probe.c */
	/* [n_sw] lost a cable and gave no answer: dead, in all likelihood */
	uint8_t *silent;
	/* [n_sw] a packet to it was given up: it may still be on its way */
	uint8_t *echo;
	uint64_t *wary;			/* bits by port; ways to avoid now */
	bool brought_up;		/* its sweep has set all links Active */
	bool saw_init;			/* the last probe has */
	/* ddlr.c: engine ddlr; NULL: not, or not before the next routing */
	struct ftr_repair *local;
	struct ibf_maker *maker;	/* that will be local, or NULL */
	struct ibf_repair *pending;	/* not all is handed over yet */
	double handover_due;	/* negative: nothing is pending */
	double drained_at;	/* packets of older entries are gone then */
};

/* One repair, from its first trap to the sweep that confirms it. */
struct ibf_repair {
	struct ibf_repair *next;
	struct ibf_generation *gen;	/* names the switches */
	uint32_t number;	/* since the start of the plugin */
	double wall;		/* seconds since 1970 of the first trap */
	double trap_at;		/* ibf_now_ms() */
	uint32_t n_traps;
	uint32_t n_cables;
	struct rr_link *cable;	/* [n_cables] */
	uint32_t n_changes;
	uint32_t lids;		/* with a changed entry */
	uint32_t pathless;	/* changes to "no path" */
	uint32_t switches, blocks, stages;
	uint32_t failed;	/* blocks that were not acknowledged */
	uint32_t resent;	/* blocks sent more than once */
	uint32_t unsettled;	/* blocks that a sweep is to write again */
	uint32_t drained;	/* entries that waited for old packets to leave */
	bool local;		/* this is stage one, detours around the fault */
	bool swept;		/* no repair: a sweep has brought a switch back */
	/* that lost its last link, or has links again; NONE: see event.c */
	ftr_sw whole;
	uint64_t unhealed;	/* stage one: entries that still lead nowhere */
	uint32_t held;		/* handover: LIDs that keep older entries */
	uint64_t lost_pairs, regained_pairs;	/* of leaf switches */
	/* ms from the trap; negative: did not come to that */
	double known_ms, computed_ms, checked_ms, first_ms, last_ms;
	double reconciled_ms;
	bool reconciled;
	struct ibf_changes rest;	/* what the sweep still changed */
	/* what was written: JSON objects, each ended by a newline; NULL: too
	 * much to be kept */
	char *sets;
};

struct ibf_fast {
	struct ibf_plugin *p;
	struct ibf_smp *smp;
	pthread_t thread;
	bool running;
	struct {
		cl_pfn_msgrcv_cb_t original;
		const void *context;
	} hook;
	pthread_mutex_t trap_order;	/* one trap at a time in OpenSM */
	atomic_bool sweep_on_trap;	/* the administrator's */

	pthread_mutex_t mutex;		/* guards what follows */
	pthread_cond_t cond;
	bool stop;
	struct rr_state state;
	/* of the last routing, until the worker makes its view of it */
	struct ibf_generation *fresh;
	struct ibf_changes changes;	/* of the last routing */
	struct ibf_repair *repairs;	/* not yet reconciled, oldest first */
	struct ibf_down {	/* "switch-down" written, no "switch-up" yet */
		uint64_t guid;
		uint32_t number;	/* of that event */
	} *down;
	uint32_t n_down, cap_down;

	pthread_mutex_t view_lock;	/* taken last, held for no wait */
	struct ibf_view *view;	/* changed by the worker only */

	/* the worker's own */
	struct ibf_maker *makers;	/* ddlr.c: whose planner is not needed */
	struct ibf_suspect {
		uint64_t guid;
		uint32_t block;
	} *suspect;		/* blocks to be written again by a sweep */
	uint32_t n_suspects;
	uint32_t n_repairs;
};

/* fast.c; osm.h has what the rest of the plugin calls.  A trap of the switch
 * with this LID; false: OpenSM should act. */
bool ibf_fast_trap(struct ibf_fast *f, ftr_lid lid);
/* One event of the state machine, now; returns a set of enum rr_action. */
unsigned int ibf_fast_step(struct ibf_fast *f, const struct rr_event *ev);
/* rr_overtaken(), takes the mutex. */
bool ibf_overtaken(struct ibf_fast *f);
void ibf_want_sweep(struct ibf_fast *f);	/* when it is due */
void ibf_sweep_now(struct ibf_fast *f);

/* trap.c */
void ibf_trap_hook(struct ibf_fast *f);

/* reroute.c: the worker's.  NULL: err says why. */
struct ibf_view *ibf_view_new(struct ibf_fast *f, struct ibf_generation *gen,
			      struct ftr_err *err);
void ibf_view_free(struct ibf_view *v);		/* NULL is accepted */
/* In place of the one there is, which is freed; NULL: none. */
void ibf_view_set(struct ibf_fast *f, struct ibf_view *v);
/* false: a routing came in between, the traps are to be handled again. */
bool ibf_repair_traps(struct ibf_fast *f, const struct rr_trap *trap,
		      uint32_t n);
/* swept: SUBNET_UP; else a cable is held no longer. */
void ibf_repair_returns(struct ibf_fast *f, bool swept);

/* outside.c.  A routing from now on leaves a dead cable out. */
void ibf_note_dead(struct ibf_fast *f, const struct rr_link *c);
/* It could not be taken into use: no routing leaves it out for that again. */
void ibf_note_tried(struct ibf_fast *f, const struct rr_link *c);
/* Back into the list of returns; false: it is full. */
bool ibf_return_again(struct ibf_fast *f, const struct rr_link *c);
/* true: the cable is held down from now on. */
bool ibf_remember_cable(struct ibf_fast *f, const struct rr_link *c);
bool ibf_is_held(struct ibf_fast *f, const struct rr_link *c);
/* The list of returns as cables of the view, at most max; those that are held
 * stay in it, and no others.  *lost: some are none of the view. */
uint32_t ibf_take_returns(struct ibf_fast *f, struct rr_link *out,
			  uint32_t max, bool *lost);

/* probe.c.  Cables between s and other switches, dead or alive; out: room for
 * FTR_PORT_MAX. */
uint32_t ibf_cables_of(const struct ibf_view *v, ftr_sw s,
		       struct rr_link *out);
/* traps: the switches asked have sent traps.  Of n cables, and others of switches that turn out to be dead, those that are
 * not as the view has them, into *out, which has room for n and is made larger;
 * returns how many.  *unknown: a port gave no answer. */
uint32_t ibf_probe(struct ibf_fast *f, const struct rr_link *ask, uint32_t n,
		   bool traps, struct rr_link **out, bool *unknown);
/* Directed routes to s, at most two that differ in how they enter it. */
unsigned int ibf_routes_to(struct ibf_view *v, ftr_sw s, struct rr_dr *out);

/* What is pending is told of as it is: something else comes in between. */
void ibf_repair_settle(struct ibf_fast *f);
/* Go on with what is pending; only when handover_due has come. */
void ibf_repair_continue(struct ibf_fast *f);

/* ddlr.c.  Let a planner be made for v. */
void ibf_local_start(struct ibf_fast *f, struct ibf_view *v);
/* Is its planner still being made? */
bool ibf_local_making(struct ibf_view *v);
/* Is there a planner?  If it is still being made the view does without. */
bool ibf_local_ready(struct ibf_fast *f);
/* A cable has come back, which the planner does not know. */
void ibf_local_returned(struct ibf_fast *f);
/* Free what is made for no view any more; all: and wait for it. */
void ibf_local_reap(struct ibf_fast *f, bool all);
void ibf_local_drop(struct ibf_view *v);
/* Stage one: true if all planned detours are written. */
bool ibf_local_detour(struct ibf_fast *f, struct ibf_repair *r);
/* One round of the way to the tables of view->live; sets handover_due. */
enum ftr_status ibf_local_handover(struct ibf_fast *f, struct ibf_repair *r,
				   struct ftr_err *err);

/* push.c: write a repair.  FTR_OK also if some blocks were not acknowledged
 * (r->failed); FTR_REFUSED: nothing was written, a routing has begun. */
enum ftr_status ibf_push(struct ibf_fast *f, const struct ibf_writes *what,
			 struct ibf_repair *r, struct ftr_err *err);

/* event.c.  What kind of event it is, asked when it is done. */
void ibf_event_judge(struct ibf_fast *f, struct ibf_repair *r);
void ibf_event_log(struct ibf_fast *f, const struct ibf_repair *r);
void ibf_event_write(struct ibf_fast *f, const struct ibf_repair *r);
/* One of our engines has routed: "switch-up" for switches that are back. */
void ibf_event_routed(struct ibf_fast *f, struct ibf_generation *gen);
void ibf_repair_free(struct ibf_repair *r);

#endif
