/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: repairs the tables after a trap, before OpenSM sweeps.  It
 * does not depend on OpenSM: the caller provides a clock, a transport for SMPs
 * and the other operations of struct rr_ops.
 *
 *	state.c		the state machine: decides the next action
 *	links.c		a table of the links that died, flap or work again
 *	damp.c		computes the time of the next sweep
 *	post.c		posts events to the state machine, reads the clock, writes warnings
 *	worker.c	carries out the actions of the state machine
 *	reroute.c	the view, which is a working copy of the shape (ranks, groups and costs of
 *			the fabric) and of the tables; one repair
 *	probe.c		asks switches which of their links are dead or back
 *	probe_routes.c	computes the directed routes of these requests
 *	write.c		writes the changed LFT blocks, one write step after the other
 *	ddlr.c		engine ddlr: local repair, then the transition to the new
 *			tables
 *	planner.c	the process that plans both
 *	returns.c	links that a routing leaves out although OpenSM has found them
 *	dr.c		computes directed routes
 *	smp.h		requests to switches
 *
 * Threads.  Any thread may call rr_post(), which takes only the lock rr.mutex.  Only the
 * worker calls rr_take() and rr_do().  The thread that routes calls rr_left_out().  No lock
 * is held when an operation of rr_ops is called, except for now(), posted() and is_master().
 */
#ifndef RR_REROUTE_H
#define RR_REROUTE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "reroute/planner.h"
#include "reroute/smp.h"
#include "reroute/state.h"
#include <ftr/cdg.h>
#include <ftr/check.h>
#include <ftr/incremental.h>

/* The tables of one routing, and the data from which they were computed; they do not change. */
struct rr_routing {
	void *owner;		/* owns the objects below; get and put change its
				 * reference count */
	void (*get)(void *owner);
	void (*put)(void *owner);
	const char *engine;
	const struct ftr_fabric *fabric;
	const struct ftr_shape *shape;
	/* the shape whose ranks, costs and groups the tables follow; NULL: there is none */
	const struct ftr_shape *routed;
	const struct ftr_tables *tables;
	const struct ftr_route_opts *opts;
	const uint8_t *order;	/* [n_sw] level of each switch in the up/down
				 * order */
	const struct ftr_vl_pairs *pairs;	/* the VLs of ddlr; NULL: one VL */
	/* *graph: the dependencies of packets that may still follow the tables of before this routing;
	 * the view takes it.  *graph NULL: the ranks prove all mixtures, or it is not known */
	struct ftr_cdg **graph;
	bool improvable;	/* when links return, a routing may find better tables */
};

/* A link between switches, named from one end. */
struct rr_link {
	ftr_sw sw, peer;
	ftr_port port, peer_port;
	bool up;		/* true: the link is back; false: it died */
};

/* A block to be written.  The operations `announce` and `settle` of rr_ops get an array of blocks. */
struct rr_block {
	ftr_sw sw;
	uint64_t guid;
	const char *name;
	uint32_t block;
	uint8_t data[FTR_LFT_BLOCK];	/* the entries */
	bool skip;		/* not written, because there is no directed route to the switch */
	bool open;		/* OpenSM has sent this block, but the switch has not acknowledged
				 * it yet */
	bool sure;		/* the write was acknowledged, and no earlier packet to the switch
				 * can still arrive */
	void *host;		/* for rr_ops.announce: the switch in the data of the subnet manager */
	/* used by write.c only */
	bool late;		/* the answer is awaited for LATE_MS only */
	uint16_t step;
	uint32_t first, end;	/* the changed entries: entry[first .. end-1] of rr_write() */
};

/* The view: the worker's copy of shape and tables, with data for probes and writes.  Only the
 * worker changes it. */
struct rr_view {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	struct rr_routing gen;
	struct ftr_fabric fabric;	/* gen.fabric and the missing links that may return: directed routes
					 * and entries lead over them, too; ftr_incr_dead() has those that
					 * are down */
	struct ftr_incr *incr;
	struct ftr_tables *sent;	/* the tables that the switches hold */
	uint64_t *m_key;		/* [n_sw] M_Key of each switch, in network byte order */
	struct ftr_hop origin;	/* as rr_dr_tree.from */
	ftr_lid sm_lid;			/* LID of the subnet manager's port */
	struct rr_dr_tree *tree[2];	/* [0]: the first directed route to each switch; [1]: the
					 * second one */
	uint8_t *avoid;			/* [n_sw] temporary data of probe_routes.c */
	uint8_t *silent;	/* [n_sw] 1: the switch is probably dead: it has lost a link, and
				 * did not answer */
	uint8_t *in_flight;	/* [n_sw] 1: a packet to the switch timed out, but may still
				 * arrive */
	bool mixed;		/* it is not known which entries a switch with a live link holds */
	uint64_t *suspect;	/* set of the ports of links that may be dead; requests avoid
				 * these links */
	bool brought_up;		/* the sweep of this routing has set all links Active */
	bool saw_init;			/* the last probe found a port in Init whose link the view
					 * shows as alive */
	bool cut_off;			/* in this job, a switch has answered a request, but not the next
					 * one: perhaps a link has failed meanwhile, and its trap will
					 * come */
	/* The dependencies of `sent` and of all entries that packets may still follow; NULL: they are not
	 * known, or there are no packets that follow entries without a proof by the ranks. */
	struct ftr_cdg *graph;
	bool unsafe;		/* rr_apply() did not exclude a credit loop with these packets */
	bool turned;		/* and the ranks do not prove the last repair */
	/* The planner of engine ddlr (ddlr.c); at most one of these is not NULL.  stopped: it was
	 * killed, and may not have ended yet.  All NULL: another engine, or none could be started. */
	struct rr_planner *planner, *making, *stopped;
	struct rr_repair *pending;	/* the repair with an unfinished transition; NULL: none */
	double transition_due;	/* time (ms) at which the next round of the transition is due;
				 * negative: there is no transition */
	double drained_at;	/* time (ms) at which all packets that follow older entries have
				 * left the fabric */
};

static inline void rr_graph_drop(struct rr_view *v)
{
	ftr_cdg_free(v->graph);
	v->graph = NULL;
}

/* The blocks that write.c has written.  If there were several writes, each number is the sum over
 * them. */
struct rr_sets {
	uint32_t n_changes;	/* number of changed entries */
	uint32_t lids;		/* number of LIDs with a changed entry */
	uint32_t pathless;	/* number of entries changed to "no path" */
	uint32_t blocks;
	uint32_t failed;	/* number of blocks that were not written or not acknowledged,
				 * except those of switches that are probably dead */
	bool again;		/* a sweep must write some blocks again */
	/* when the first and the last block was acknowledged, in ms since the first trap;
	 * negative: none was */
	double first_ms, last_ms;
	/* the written blocks as JSON objects, one per line; NULL: no block was written, or
	 * text_lost is true */
	char *text;
	bool text_lost;		/* the text was not stored, because there are too many blocks, or
				 * memory was exhausted */
};

#define RR_NO_SETS ((struct rr_sets){ .first_ms = -1, .last_ms = -1 })

/* SWEPT: this is not a repair, but a report that a sweep has found the switch `whole` again. */
enum rr_stage { RR_REROUTE, RR_LOCAL, RR_SWEPT };

/* One repair.  If traps caused it, the next sweep confirms it by a new routing. */
struct rr_repair {
	struct rr_repair *next;
	struct rr_routing gen;	/* the routing to which the switch numbers of this repair refer */
	uint32_t number;	/* repairs are numbered from the start of OpenSM on */
	enum rr_stage stage;
	/* Time of the first trap; if n_traps is 0, time at which the repair began.  wall: in
	 * seconds since 1970.  trap_at: in ms of the clock of rr_ops. */
	double wall;
	double trap_at;
	uint32_t n_traps;
	uint32_t n_links;
	struct rr_link *link;	/* [n_links] the changed links */
	struct rr_sets sets;
	uint32_t spared;	/* number of entries without a path in the new tables that stay as
				 * they are, because their old path works (ftr_incr_spare()) */
	uint32_t switches, write_steps;
	uint32_t drained;	/* number of entries written in drain steps: after packets that
				 * follow old entries had left the fabric */
	/* the switch that lost its last link, or has links again; FTR_SW_NONE: none */
	ftr_sw whole;
	uint64_t unrepaired;	/* local repair: number of entries that still lead to a
				 * dead port, although the destination switch is up */
	uint32_t held;		/* transition: number of LIDs that still use older entries */
	/* pairs of leaf switches that have lost or regained their path */
	uint64_t lost_pairs, regained_pairs;
	/* Times in ms since the first trap; negative: not reached.  known_ms: the switches had
	 * been probed.  computed_ms, checked_ms: the entries had been computed and checked.
	 * reconciled_ms: the confirming sweep had written its tables. */
	double known_ms, computed_ms, checked_ms, reconciled_ms;
	struct ftr_tables_diff rest;	/* changes by the sweep that confirmed the repair */
};

/* PLANNER: the process of the planner has failed.  UNSAFE: a credit loop was possible. */
enum rr_warning { RR_WARN_FAILED, RR_WARN_PLANNER, RR_WARN_FLAPPING, RR_WARN_UNSAFE };

/* Operations of the caller; ctx is the member ctx of struct rr. */
struct rr_ops {
	double (*now)(void *ctx);	/* ms, monotonic */
	void (*sleep)(void *ctx, unsigned int ms);
	/* An event was posted: wake the worker.  Called with the mutex held. */
	void (*posted)(void *ctx);
	/* The transport: sends the n requests, except those with `skip` set, and waits for the
	 * answers.  Returns the number of sent requests that are not RR_SMP_DONE at the end.  A
	 * request becomes RR_SMP_FAILED if it has no route, or if no packet was answered with a
	 * good status.  If policy->limit ends the run, unanswered requests stay RR_SMP_OPEN. */
	unsigned int (*run)(void *ctx, struct rr_smp *job, unsigned int n,
			    const struct rr_smp_policy *policy);
	bool (*is_master)(void *ctx);
	void (*find_manager)(void *ctx, const struct ftr_fabric *f,
			     struct ftr_hop *origin, ftr_lid *lid);
	void (*read_keys)(void *ctx, const struct ftr_fabric *f, uint64_t *key);
	double (*lifetime)(void *ctx);	/* packet lifetime in ms */
	/* These operations change OpenSM's copy of the tables.  An epoch (state.h) ends when
	 * OpenSM or another manager changes the tables; `epoch` is the one in which the write was
	 * permitted.  announce() is called before the first packet of the write, and sets
	 * rr_block.open; if announce() fails, nothing may be written.  settle() is called after
	 * the last packet, and returns the number of blocks that a sweep must write again.  If the
	 * epoch is over, settle() sets *rewrite; rewrite() is called later (RR_ACT_REWRITE). */
	enum ftr_status (*announce)(void *ctx, struct rr_block *b, uint32_t n,
				    uint32_t epoch, struct ftr_err *err);
	uint32_t (*settle)(void *ctx, const struct rr_block *b, uint32_t n,
			   uint32_t epoch, bool *rewrite);
	void (*rewrite)(void *ctx);
	void (*sweep)(void *ctx);	/* request a heavy sweep */
	void (*warn)(void *ctx, enum rr_warning what, const char *text);
	/* The writes of the repair r have ended, and its changes are counted: log the repair. */
	void (*report)(void *ctx, struct rr_repair *r);
	/* The repair r is done: write its record. */
	void (*record)(void *ctx, const struct rr_repair *r);
};

struct rr {
	const struct rr_ops *ops;
	void *ctx;
	unsigned int window;	/* maximum number of packets in flight */
	double timeout;		/* ms after which a packet counts as lost */

	pthread_mutex_t mutex;	/* guards the members below, up to view_lock */
	bool stop;
	struct rr_state state;
	struct rr_written written;
	double written_lid[FTR_LID_MAX + 1];	/* written.lid */
	/* the last routing, until the worker builds a view of it */
	struct rr_routing fresh;
	struct rr_repair *repairs;	/* repairs that no sweep has confirmed yet, oldest
					 * first */

	pthread_mutex_t view_lock;	/* taken after all other locks; never held during a wait */
	struct rr_view *view;	/* only the worker changes it */

	/* used by the worker only */
	uint32_t n_repairs;
	unsigned int todo;	/* its present job: a set of enum rr_action */
	struct rr_routing taken;	/* taken from `fresh` for RR_ACT_NEW_VIEW */
};

/* post.c */
double rr_now(const struct rr *f);
double rr_wall(void);			/* seconds since 1970 */
void rr_warn(struct rr *f, enum rr_warning what, const char *fmt, ...)
	FTR_PRINTF(3, 4);
struct rr_routing rr_routing_get(const struct rr_routing *gen);
void rr_routing_put(struct rr_routing *gen);	/* owner NULL is accepted */
/* Post one event to the state machine, at the current time; returns a set of
 * enum rr_action. */
unsigned int rr_post(struct rr *f, const struct rr_event *ev);
/* Like rr_post(), but the caller holds the mutex. */
unsigned int rr_post_locked(struct rr *f, const struct rr_event *ev);
/* Take the mutex and return rr_overtaken() of the state. */
bool rr_is_overtaken(struct rr *f);
/* True if packets may be in flight that followed entries of before the last write; unranked: and the ranks
 * do not prove that no credit loop can form with them. */
bool rr_has_older(struct rr *f, bool unranked);
/* Request a heavy sweep from OpenSM.  rr_want_sweep() requests it at the time that damp.h defines,
 * rr_sweep_now() immediately, or at the end of a discovery that is under way (state.c). */
void rr_want_sweep(struct rr *f);
void rr_sweep_now(struct rr *f);
/* Set *err for finding i of rep, and return FTR_REFUSED.  what: the part of the message before the
 * name of the finding. */
enum ftr_status rr_refuse(const struct ftr_fabric *f, const char *what,
			  const struct ftr_delta_report *rep,
			  enum ftr_finding i, struct ftr_err *err);

/* worker.c.  Before rr_init the caller sets ops, ctx, window and timeout. */
void rr_init(struct rr *f);
void rr_fini(struct rr *f);
/* Post RR_EV_ROUTED.  gen: the routing whose tables the switches hold; NULL: no engine of this
 * plugin has made these tables.  Returns the list of repairs that began before the last discovery;
 * the caller completes, records and frees them. */
struct rr_repair *rr_routed(struct rr *f, const struct rr_routing *gen);
/* Take the next job.  The caller is the worker and holds the mutex.  Returns false if there is
 * nothing to do until the time of rr_timer() or the next event. */
bool rr_take(struct rr *f);
/* Run the job from start to end; called without the mutex. */
void rr_do(struct rr *f);

/* reroute.c.  These functions are called by the worker only.  rr_view_new returns NULL, with the
 * reason in err, if it failed. */
struct rr_view *rr_view_new(struct rr *f, const struct rr_routing *gen,
			    struct ftr_err *err);
void rr_view_free(struct rr_view *v);		/* NULL is accepted */
/* Replace the current view, which is freed; NULL: no view. */
void rr_view_set(struct rr *f, struct rr_view *v);
/* Call ftr_incr_apply() so that no working path is cut, and no credit loop can form with the entries that
 * the new tables do not permit, nor with packets that follow older entries, unless view->unsafe is true
 * then.  FTR_REFUSED: not possible; nothing is changed. */
enum ftr_status rr_apply(struct rr *f, const struct ftr_incr_event *ev, uint32_t n,
			 const struct ftr_incr_result **res, struct ftr_err *err);
/* Probe the links of the switches that sent the traps, and repair the tables.  Returns false if
 * OpenSM has routed in the meantime: the traps must be handled again. */
bool rr_repair_traps(struct rr *f, const struct rr_trap *trap, uint32_t n);
/* Probe the RETURNING links (links.h), and take those that are Active into use.  swept: true if the
 * reason is the end of a sweep; false if it is the end of the hold time of a damped link. */
void rr_repair_returns(struct rr *f, bool swept);
/* If a transition is unfinished, end it and report it.  Called if another job interrupts it, or if
 * this manager is no longer master. */
void rr_repair_settle(struct rr *f);
/* Write the next round of the transition (ddlr.c).  Call this only when the time transition_due has
 * passed. */
void rr_repair_continue(struct rr *f);
/* Drop the view and request a sweep, if the view is `mixed`. */
void rr_repair_unknown(struct rr *f);
void rr_repair_free(struct rr_repair *r);	/* NULL is accepted */

/* returns.c: enter a fact about the link c in the table of links (links.h). */
enum rr_note {
	RR_NOTE_DOWN,		/* a port of the link is Down: routings leave the link out */
	RR_NOTE_REPAIRED,	/* the tables were repaired for the new state of the link, or, if the
				 * link is up, will be; rr_note() returns true if the link is damped now */
	RR_NOTE_RETURN,		/* the link is RETURNING again */
	RR_NOTE_LEFT,		/* the fast path could not take the link into use: routings use
				 * it if OpenSM finds it */
};
bool rr_note(struct rr *f, enum rr_note what, const struct rr_link *c);
bool rr_is_damped(struct rr *f, const struct rr_link *c);
/* End the RETURNING state of at most max links.  Store in out[] those of them that are in the view,
 * and return their number.  *lost: true if there were RETURNING links that are not in out[], or
 * if memory is exhausted. */
uint32_t rr_take_returns(struct rr *f, struct rr_link *out, uint32_t max,
			 bool *lost);
/* True if a routing must not use this link.  active: true if both ports of the link are
 * Armed or Active. */
bool rr_left_out(struct rr *f, const struct rr_ends *e, bool active);

/* probe_routes.c.  Store directed routes to s in out[].  They avoid the links that are dead in the
 * view (rr_routes_to), or the links in the set `dead` (rr_routes_around).  Returns the number of
 * routes; if there are two, they enter s by different ports. */
unsigned int rr_routes_to(struct rr_view *v, ftr_sw s, struct rr_dr *out);
unsigned int rr_routes_around(struct rr_view *v, ftr_sw s,
			      const uint64_t *dead, struct rr_dr *out);
/* Store in *out the directed route to s that is the reverse of the path of a trap from s.  *hop:
 * the first link of that path, named from its far end; hop->sw is FTR_SW_NONE if the manager is
 * attached to s.  Returns false if the tables have no path over links that the view shows as
 * alive. */
bool rr_trap_route(const struct rr_view *v, ftr_sw s, struct rr_dr *out,
		   struct rr_link *hop);
/* These two functions compute v->tree[0].  Its routes avoid the links in v->suspect, and the
 * switches with silent[] set (rr_search_suspect: v->silent[]).  rr_search_suspect() first sets
 * v->suspect to all dead links, and the links in ask[] between two switches that are both asked.
 * (A link in ask[] is a question to its switch `sw`.) */
void rr_search_suspect(struct rr_view *v, const struct rr_link *ask, uint32_t n);
void rr_search_around(struct rr_view *v, const uint8_t *silent);
/* Add both ends of a link to a set of ports. */
void rr_mark_link(const struct ftr_fabric *f, uint64_t *set, const struct rr_link *c);
/* Returns the set of the ports of all links that are dead in v, or that died according to
 * r.  The caller frees it.  NULL: no memory. */
uint64_t *rr_dead_with(const struct rr_view *v, const struct rr_repair *r);

/* probe.c.  Store the links between s and other switches, dead or alive, in out[], which has room
 * for FTR_PORT_MAX; returns their number. */
uint32_t rr_links_of(const struct rr_view *v, ftr_sw s, struct rr_link *out);
/* Probe the n links in ask[], and all links of switches that do not answer.  Store the links whose
 * state differs from the view in *out, which has room for n links and is enlarged if necessary;
 * returns their number.  traps: true if the switches of the links in ask[] have sent traps.
 * *unknown: set to true if the state of a port could not be read. */
uint32_t rr_probe(struct rr *f, const struct rr_link *ask, uint32_t n,
		  bool traps, struct rr_link **out, bool *unknown);

/* write.c: write entry[n], sorted by (step, switch, LID), and add to r->sets.  Sets entry[].before, and
 * frees entry.  A step begins when all packets of earlier steps have been acknowledged or given up.
 * The steps from number first_drain on also wait until packets that followed the old entries have left
 * the fabric.  FTR_OK is also returned if some blocks were not acknowledged (r->sets.failed), or if a
 * routing has begun after the first step.  On all other results, nothing was written.  FTR_REFUSED: a
 * routing has begun, or rr_ops.announce has refused.  FTR_NOMEM: entry is NULL, or memory is
 * exhausted. */
enum ftr_status rr_write(struct rr *f, struct ftr_change *entry, uint32_t n, uint32_t first_drain,
			 struct rr_repair *r, struct ftr_err *err);

/* ddlr.c.  The view v will replace the current view: drop the planner of the current view, and start
 * to make one for v, if the engine of v is ddlr. */
void rr_ddlr_start(struct rr *f, struct rr_view *v);
/* True if the view has a planner.  If the planner is still being made, it is dropped, and the
 * result is false. */
bool rr_ddlr_ready(struct rr *f);
/* Report that a link has returned.  If the engine is ddlr, a sweep is requested, after which a new
 * planner is made, because the present planner does not know the link. */
void rr_ddlr_returned(struct rr *f);
/* The kind of an error of the functions below. */
enum rr_warning rr_ddlr_warning(const struct ftr_err *err);
/* Kill the planner of v, or the one that is being made for v, and end its transition. */
void rr_ddlr_drop(struct rr_view *v);
/* Plan, check and write a local repair of the faults in r.  Returns true if all planned entries
 * were written. */
bool rr_ddlr_detour(struct rr *f, struct rr_repair *r);
/* Plan and write one round of the transition to the tables of view->incr, and set
 * transition_due. */
enum ftr_status rr_ddlr_transition(struct rr *f, struct rr_repair *r,
				   struct ftr_err *err);

#endif
