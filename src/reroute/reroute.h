/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: from a trap to repaired tables without a sweep.  It knows
 * nothing of OpenSM: who starts it injects a clock, a transport for SMPs and
 * what else struct rr_ops lists.
 *
 *	state.c		what to do next: the state machine
 *	links.c, damp.c	links that died, flap or come back; when to sweep
 *	worker.c	one job, from its actions to its end
 *	reroute.c	the view of the tables; one repair
 *	probe.c		asks switches which of their links are dead or back;
 *			ways.c: over which routes
 *	write.c		writes the blocks, one write step after the other
 *	ddlr.c		engine ddlr: detours first, then the transition to the new
 *			tables; its planner is made in a thread of its own
 *	returns.c	links that a routing leaves out although they were found
 *	dr.c, smp.h	directed routes, requests
 *
 * Threads.  rr_post is for any thread, and only takes the mutex.  rr_take and
 * rr_do are for one thread, the worker.  rr_left_out is for the thread that
 * routes.  No lock is held while an operation of rr_ops is called, but now and is_master.
 */
#ifndef RR_REROUTE_H
#define RR_REROUTE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"
#include "reroute/smp.h"
#include "reroute/state.h"
#include <ftr/check.h>
#include <ftr/incremental.h>
#include <ftr/ddlr.h>

/* Tables of one routing and what they were made of; immutable. */
struct rr_routing {
	void *owner;		/* keeps the rest alive, by reference */
	void (*get)(void *owner);
	void (*put)(void *owner);
	const char *engine;
	const struct ftr_fabric *fabric;
	const struct ftr_shape *shape;
	/* that the tables follow to the letter; NULL: there is none */
	const struct ftr_shape *routed;
	const struct ftr_tables *tables;
	const struct ftr_route_opts *opts;
	const uint8_t *order;	/* [n_sw] levels of up and down */
	const struct ftr_sl2vl *sl2vl;	/* ddlr's turn bit; NULL: not in use */
	bool improvable;	/* a sweep may route better once links return */
};

/* A link between switches, named from one end. */
struct rr_link {
	ftr_sw sw, peer;
	ftr_port port, peer_port;
	bool up;		/* it has come back, else died */
};

/* Entries to be written, by (step, switch, LID).  Steps ascend; one is written
 * when all before it is acknowledged, and those from first_drain on when
 * packets that came by the old entries have left, too. */
struct rr_entry {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port to;
	uint16_t step;
};

struct rr_writes {
	struct rr_entry *entry;
	uint32_t n;
	uint32_t first_drain;
};

/* A block that is to be written, for the host's own copy of the tables. */
struct rr_block {
	uint64_t guid;
	const char *name;
	uint32_t block;
	const uint8_t *data;	/* FTR_LFT_BLOCK bytes */
	bool skip;		/* no route leads there: not written */
	bool open;		/* the host's own write of it was not answered */
	bool sure;		/* acknowledged, and no older packet can follow */
};

/* What the worker knows of the tables in use; its own. */
struct rr_view {
	struct rr_routing gen;
	struct ftr_incr *live;
	struct ftr_tables *sent;	/* what the switches hold */
	uint64_t *m_key;		/* [n_sw] */
	struct rr_dr_origin origin;
	ftr_lid sm_lid;			/* of the subnet manager's port */
	struct rr_dr_tree *tree[2];	/* around what is dead; second routes */
	uint8_t *avoid;			/* [n_sw] scratch of ways.c */
	/* [n_sw] lost a link and gave no answer: dead, in all likelihood */
	uint8_t *silent;
	/* [n_sw] a packet to it was given up: it may still be on its way */
	uint8_t *echo;
	uint64_t *wary;			/* bits by port; links to avoid now */
	bool brought_up;		/* its sweep has set all links Active */
	bool saw_init;			/* the last probe has */
	/* ddlr.c: engine ddlr; NULL: not, or not before the next routing */
	struct ftr_ddlr *planner;
	struct rr_maker *maker;		/* that will be planner, or NULL */
	struct rr_repair *pending;	/* its transition is not done yet */
	double transition_due;		/* negative: nothing is pending */
	double drained_at;	/* packets of older entries are gone then */
};

/* One repair, from its first trap to the sweep that confirms it. */
struct rr_repair {
	struct rr_repair *next;
	struct rr_routing gen;	/* names the switches */
	uint32_t number;	/* since the start */
	double wall;		/* seconds since 1970 of the first trap */
	double trap_at;		/* by the clock of rr_ops */
	uint32_t n_traps;
	uint32_t n_links;
	struct rr_link *link;	/* [n_links] */
	uint32_t n_changes;
	uint32_t lids;		/* with a changed entry */
	uint32_t pathless;	/* changes to "no path" */
	uint32_t switches, blocks, write_steps;
	uint32_t failed;	/* blocks that were not acknowledged */
	uint32_t resent;	/* blocks sent more than once */
	uint32_t unsettled;	/* blocks that a sweep is to write again */
	uint32_t drained;	/* entries that waited for old packets to leave */
	bool local;		/* ddlr's detours around the fault */
	bool swept;		/* no repair: a sweep has brought a switch back */
	/* that lost its last link, or has links again; NONE: there is none */
	ftr_sw whole;
	uint64_t unhealed;	/* detours: entries that still lead nowhere */
	uint32_t held;		/* transition: LIDs that keep older entries */
	uint64_t lost_pairs, regained_pairs;	/* of leaf switches */
	/* ms from the trap; negative: did not come to that */
	double known_ms, computed_ms, checked_ms, first_ms, last_ms;
	double reconciled_ms;
	bool reconciled;
	struct {		/* what the sweep still changed */
		uint64_t entries, blocks;
		uint32_t switches;
	} rest;
	/* what was written: JSON objects, each ended by a newline; NULL: too
	 * much to be kept */
	char *sets;
};

enum rr_warning { RR_WARN_FAILED, RR_WARN_FLAPPING };

/* What the caller brings; ctx is struct rr's. */
struct rr_ops {
	double (*now)(void *ctx);	/* ms, monotonic */
	void (*sleep)(void *ctx, unsigned int ms);
	/* The transport: all n requests that are not skipped; returns how many
	 * of them are not RR_SMP_DONE.  A request that is not answered within its
	 * tries, or answered with a bad status, is RR_SMP_FAILED; one that the
	 * limit cut off stays RR_SMP_OPEN. */
	unsigned int (*run)(void *ctx, struct rr_smp *job, unsigned int n,
			    const struct rr_smp_policy *policy);
	bool (*is_master)(void *ctx);
	void (*find_manager)(void *ctx, const struct ftr_fabric *f,
			     struct rr_dr_origin *origin, ftr_lid *lid);
	void (*read_keys)(void *ctx, const struct ftr_fabric *f, uint64_t *key);
	double (*lifetime)(void *ctx);	/* ms that a packet may live */
	/* Before the first and after the last packet of a write that was permitted
	 * in this epoch: the host's copy of the tables.  announce sets open; a
	 * failure means that nothing may be written.  settle returns the number
	 * of blocks that a sweep is to write again; *rewrite: the epoch is over,
	 * and RR_ACT_REWRITE is to follow. */
	enum ftr_status (*announce)(void *ctx, struct rr_block *b, uint32_t n,
				    uint32_t epoch, struct ftr_err *err);
	uint32_t (*settle)(void *ctx, const struct rr_block *b, uint32_t n,
			   uint32_t epoch, bool *rewrite);
	void (*rewrite)(void *ctx);
	void (*sweep)(void *ctx);	/* ask for a heavy one */
	void (*warn)(void *ctx, enum rr_warning what, const char *text);
	/* All of r is written, and what it changed is known: log it. */
	void (*report)(void *ctx, struct rr_repair *r);
	/* r is done: write its event. */
	void (*record)(void *ctx, const struct rr_repair *r);
};

struct rr {
	const struct rr_ops *ops;
	void *ctx;
	unsigned int window;	/* packets on the wire */
	double timeout;		/* ms, of one */

	pthread_mutex_t mutex;	/* guards what follows */
	pthread_cond_t cond;	/* something has happened */
	bool stop;
	struct rr_state state;
	/* of the last routing, until the worker makes its view of it */
	struct rr_routing fresh;
	struct rr_repair *repairs;	/* not yet reconciled, oldest first */

	pthread_mutex_t view_lock;	/* taken last, held for no wait */
	struct rr_view *view;	/* changed by the worker only */

	/* the worker's own */
	struct rr_maker *makers;	/* ddlr.c: whose planner is not needed */
	uint32_t n_repairs;
};

/* What there is to do, taken out of the shared state. */
struct rr_task {
	unsigned int todo;	/* set of enum rr_action */
	struct rr_routing fresh;
	bool up;		/* OpenSM has set up all links */
};

/* worker.c.  The caller has set ops, ctx, settings, and made cond. */
void rr_init(struct rr *f);
void rr_fini(struct rr *f);
double rr_now(const struct rr *f);
/* One event of the state machine, now; returns a set of enum rr_action. */
unsigned int rr_post(struct rr *f, const struct rr_event *ev);
/* The same under the mutex. */
unsigned int rr_post_locked(struct rr *f, const struct rr_event *ev);
/* RR_EV_ROUTED; gen NULL: by no engine of ours.  Returns the repairs that the
 * last discovery has seen, as a list; the caller completes, records and frees
 * them. */
struct rr_repair *rr_routed(struct rr *f, const struct rr_routing *gen);
/* The worker, under the mutex: its next job; false: there is none before
 * rr_timer() or an event. */
bool rr_take(struct rr *f, struct rr_task *t);
/* The job from beginning to end, without the mutex. */
void rr_do(struct rr *f, struct rr_task *t);
bool rr_is_overtaken(struct rr *f);	/* rr_overtaken(), takes the mutex */
void rr_want_sweep(struct rr *f);	/* when it is due */
void rr_sweep_now(struct rr *f);
void rr_warn(struct rr *f, enum rr_warning what, const char *fmt, ...)
	FTR_PRINTF(3, 4);
struct rr_routing rr_routing_get(const struct rr_routing *gen);
void rr_routing_put(struct rr_routing *gen);	/* owner NULL is accepted */

/* reroute.c: the worker's.  NULL: err says why. */
struct rr_view *rr_view_new(struct rr *f, const struct rr_routing *gen,
			    struct ftr_err *err);
void rr_view_free(struct rr_view *v);		/* NULL is accepted */
/* In place of the one there is, which is freed; NULL: none. */
void rr_view_set(struct rr *f, struct rr_view *v);
/* false: a routing came in between, the traps are to be handled again. */
bool rr_repair_traps(struct rr *f, const struct rr_trap *trap, uint32_t n);
/* swept: SUBNET_UP; else a link is damped no longer. */
void rr_repair_returns(struct rr *f, bool swept);
/* Report an unfinished transition as it is: something else comes in between. */
void rr_repair_settle(struct rr *f);
/* Go on with the transition; only when transition_due has come. */
void rr_repair_continue(struct rr *f);
void rr_repair_free(struct rr_repair *r);	/* NULL is accepted */

/* returns.c.  A routing from now on leaves a dead link out. */
void rr_note_dead(struct rr *f, const struct rr_link *c);
/* It could not be taken into use: no routing leaves it out for that again. */
void rr_note_left(struct rr *f, const struct rr_link *c);
/* It is returning again; false: no room. */
bool rr_note_return(struct rr *f, const struct rr_link *c);
/* It was repaired; true: the link is damped from now on. */
bool rr_note_change(struct rr *f, const struct rr_link *c);
bool rr_is_damped(struct rr *f, const struct rr_link *c);
/* Returning links as links of the view, at most max.  *lost: some are none of
 * the view. */
uint32_t rr_take_returns(struct rr *f, struct rr_link *out, uint32_t max,
			 bool *lost);
/* A routing is to leave this link out.  active: both ports can carry data. */
bool rr_left_out(struct rr *f, const struct rr_ends *e, bool active);

/* ways.c.  Directed routes to s, at most two that differ in how they enter it,
 * around what the view has dead; or around these bits. */
unsigned int rr_routes_to(struct rr_view *v, ftr_sw s, struct rr_dr *out);
unsigned int rr_routes_around(struct rr_view *v, ftr_sw s,
			      const uint64_t *dead, struct rr_dr *out);
/* The way back of a trap of s; hop: the link that it came over first, from its
 * far end, hop->sw is NONE if s is the manager's own switch. */
bool rr_trap_route(const struct rr_view *v, ftr_sw s, struct rr_dr *out,
		   struct rr_link *hop);
/* v->tree[0] around what is dead and links between the switches asked; or
 * around v->wary and silent switches. */
void rr_search_wary(struct rr_view *v, const struct rr_link *ask, uint32_t n);
void rr_search_around(struct rr_view *v, const uint8_t *silent);
void rr_mark_wary(struct rr_view *v, const struct rr_link *c);

/* probe.c.  Links between s and other switches, dead or alive; out: room for
 * FTR_PORT_MAX. */
uint32_t rr_links_of(const struct rr_view *v, ftr_sw s, struct rr_link *out);
/* Of n links, and others of switches that turn out to be dead, those that are
 * not as the view has them, into *out, which has room for n and is made larger;
 * returns how many.  traps: the switches asked have sent traps.  *unknown: a
 * port gave no answer. */
uint32_t rr_probe(struct rr *f, const struct rr_link *ask, uint32_t n,
		  bool traps, struct rr_link **out, bool *unknown);

/* write.c: write a repair.  FTR_OK also if some blocks were not acknowledged
 * (r->failed); FTR_REFUSED: nothing was written, a routing has begun. */
enum ftr_status rr_write(struct rr *f, const struct rr_writes *what,
			 struct rr_repair *r, struct ftr_err *err);

/* ddlr.c.  Let a planner be made for v. */
void rr_ddlr_start(struct rr *f, struct rr_view *v);
/* Is its planner still being made? */
bool rr_ddlr_making(struct rr_view *v);
/* Is there a planner?  If it is still being made the view does without. */
bool rr_ddlr_ready(struct rr *f);
/* A link has come back, which the planner does not know. */
void rr_ddlr_returned(struct rr *f);
/* Free what is made for no view any more; all: and wait for it. */
void rr_ddlr_reap(struct rr *f, bool all);
void rr_ddlr_drop(struct rr_view *v);
/* True if all planned detours are written. */
bool rr_ddlr_detour(struct rr *f, struct rr_repair *r);
/* One round of the transition to the tables of view->live; sets
 * transition_due. */
enum ftr_status rr_ddlr_transition(struct rr *f, struct rr_repair *r,
				   struct ftr_err *err);

#endif
