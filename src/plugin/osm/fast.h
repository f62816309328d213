/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path repairs tables after a trap, before OpenSM's sweep.  src/plugin/reroute does not
 * depend on OpenSM; these files connect it with OpenSM:
 *
 *	trap.c	receives every trap before OpenSM does, passes traps about links to the
 *		worker, and decides whether OpenSM sweeps for them
 *	fast.c	runs the worker, which is the thread that makes repairs; passes on OpenSM's
 *		events; requests sweeps
 *	patch.c	keeps OpenSM's copy of the tables correct while blocks are written
 *	transport.c	sends and receives management packets over OpenSM's vendor layer
 *	event.c	writes the log line of a repair, and its record in ibfattree-events.jsonl
 *
 * Waiting.  The thread that receives a trap only queues it.  At the end of a discovery, OpenSM's
 * sweeper thread waits until the worker has ended its current write.  The sweeper holds no lock
 * then.  The worker starts no further write until the routing is over.
 *
 * Locks.  The worker holds OpenSM's lock for microseconds only.  It takes the exclusive lock before
 * and after each write, and when it marks blocks that a sweep must write again.  It takes the
 * shared lock after each routing.  While a thread waits for OpenSM's lock, it holds none of the
 * plugin's locks except trap_order.
 */
#ifndef IBF_FAST_H
#define IBF_FAST_H

#include "osm/osm.h"
#include "osm/transport.h"
#include "reroute/reroute.h"

struct ibf_fast {
	struct rr rr;
	struct ibf_plugin *p;
	struct ibf_smp *smp;
	pthread_cond_t cond;	/* signals that an event was posted; used with rr.mutex */
	pthread_t thread;
	bool running;
	struct {		/* OpenSM's function that handles notices, see trap.c */
		cl_pfn_msgrcv_cb_t original;
		const void *context;
	} hook;
	pthread_mutex_t trap_order;	/* held while OpenSM's function handles a trap */
	atomic_bool sweep_on_trap;	/* the value of this option in opensm.conf */

	/* guarded by rr.mutex */
	struct ftr_tables_diff changes;	/* made by the last routing */
	struct ibf_down {	/* switches that are down */
		uint64_t guid;
		uint32_t number;	/* number of the event "switch-down" */
	} *down;
	uint32_t n_down, cap_down;

	/* used by the worker only */
	struct ibf_suspect {
		uint64_t guid;
		uint32_t at;	/* its first LID */
	} *suspect;		/* blocks that a sweep must write again */
	uint32_t n_suspects;
};


/* trap.c: let the fast path receive all traps that OpenSM receives. */
void ibf_trap_hook(struct ibf_fast *f);

/* patch.c: operations of struct rr_ops; ctx is a struct ibf_fast. */
enum ftr_status ibf_patch_announce(void *ctx, struct rr_block *b, uint32_t n,
				   uint32_t epoch, struct ftr_err *err);
uint32_t ibf_patch_settle(void *ctx, const struct rr_block *b, uint32_t n,
			  uint32_t epoch, bool *rewrite);
void ibf_patch_rewrite(void *ctx);

/* event.c: operations of struct rr_ops; ctx is a struct ibf_fast.  ibf_event_report sets
 * r->whole and logs the repair; ibf_event_write writes the record. */
void ibf_event_report(void *ctx, struct rr_repair *r);
void ibf_event_write(void *ctx, const struct rr_repair *r);
/* An engine of the plugin has routed: write a record "switch-up" for each switch that was down and
 * has links again. */
void ibf_event_routed(struct ibf_fast *f, struct ibf_generation *gen);

/* generation.c: the members of gen as a struct rr_routing for src/plugin/reroute; takes no
 * reference. */
struct rr_routing ibf_routing_of(struct ibf_generation *gen);

#endif
