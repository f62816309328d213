/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is known of links that died, flap or come back: one table, one state for
 * each link.
 *
 *	             died                        taken into use
 *	ALIVE -----------------> DEAD     RETURNING ------------> ALIVE
 *	  ^                       |  \      ^   |
 *	  | a later discovery     |   \_____|   | could not be taken into use
 *	  +-----------------------+ found again v
 *	                                       LEFT ---- died ---> DEAD
 *	any ---- died for the limit-th time in the window ---> DAMPED
 *	DAMPED ---- quiet for the hold time ---> RETURNING
 *
 * ALIVE	nothing speaks against the link.  Links that are not in the table
 *		are alive; an entry is kept while its deaths are counted.
 * DEAD		died at a known time.  A discovery that began before that time
 *		may still have seen it alive and is not believed.
 * DAMPED	flaps: it is not used before it has been quiet for the hold time.
 * RETURNING	a sweep has found it, or its hold time is over.  No routing uses
 *		it; the fast path takes it into use when the sweep is done.
 * LEFT		the fast path could not take it into use.  The next routing uses
 *		it as OpenSM sees it, until it dies again.
 *
 * The time of the last death is kept in every state, because a link may die
 * while it is RETURNING or DAMPED.
 *
 * Pure data: no clock, no lock, no memory is allocated.  Times are milliseconds
 * of one monotonic clock.
 */
#ifndef RR_LINKS_H
#define RR_LINKS_H

#include <ftr/types.h>

#define RR_LINKS_MAX 4096

/* A link by its two ends, in any order. */
struct rr_ends {
	uint64_t guid, peer_guid;
	ftr_port port, peer_port;
};

enum rr_link_state {
	RR_LINK_ALIVE = 0,
	RR_LINK_DEAD,
	RR_LINK_DAMPED,
	RR_LINK_RETURNING,
	RR_LINK_LEFT,
	RR_N_LINK_STATES
};

struct rr_link_entry {
	struct rr_ends ends;	/* guid, port: the smaller end, the key */
	enum rr_link_state state;
	double died;		/* negative: no death that a discovery may miss */
	uint32_t deaths;	/* in the window that began at window */
	double window, last;	/* last: time of the last death counted */
};

struct rr_links {
	/* Settings: deaths within window ms after which a link is damped, 0:
	 * never; and for how many ms after its last death. */
	uint32_t limit;
	double window, hold;
	uint32_t n;
	struct rr_link_entry link[RR_LINKS_MAX];	/* by (guid, port) */
};

/* A port of the link was seen Down. */
void rr_links_seen_down(struct rr_links *t, struct rr_ends e, double now);
/* The link died and was routed around: the death is counted.  True: the link is
 * damped from now on. */
bool rr_links_died(struct rr_links *t, struct rr_ends e, double now);
/* The link was taken into use. */
void rr_links_used(struct rr_links *t, struct rr_ends e);
/* The link could not be taken into use: the next routing decides. */
void rr_links_leave(struct rr_links *t, struct rr_ends e);
/* Try to take it into use again after the next sweep; false: no room. */
bool rr_links_return(struct rr_links *t, struct rr_ends e);
bool rr_links_damped(const struct rr_links *t, struct rr_ends e, double now);
uint32_t rr_links_count_damped(const struct rr_links *t, double now);
/* Its state; RR_LINK_ALIVE if it is not in the table. */
enum rr_link_state rr_links_state(const struct rr_links *t, struct rr_ends e);

/*
 * Is a routing to leave out a link that OpenSM's discovery, begun at `began`,
 * has found?  returns: the tables in use treat it as dead, and its ports are not
 * Active yet, so that it carries no data before the end of the sweep.  *recheck:
 * set to true if it may be alive again by now, and a later sweep should look.
 */
bool rr_links_left_out(struct rr_links *t, struct rr_ends e, bool returns,
		       double began, double now, bool *recheck);

/* A discovery that began at `began` is done: earlier deaths are in it. */
void rr_links_discovered(struct rr_links *t, double began);
/* When the first damped link is due for release; negative: there is none. */
double rr_links_release_due(const struct rr_links *t);
/* Damped links whose hold time is over are returning; true: there are some. */
bool rr_links_release(struct rr_links *t, double now);
/* Takes returning links out of that state, at most max into out; *more: set to
 * true if some are left, which stay returning.  Returns how many. */
uint32_t rr_links_take_returning(struct rr_links *t, struct rr_ends *out,
				 uint32_t max, bool *more);
/* No link is returning any more; true: some were. */
bool rr_links_drop_returning(struct rr_links *t);

#endif
