/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The links that died, flap or return: one table, one state for each link.
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
 * ALIVE	usable.  A link that is not in the table is ALIVE; an ALIVE link stays
 *		in the table while its failures are counted.
 * DEAD		The time of the failure is known.  A discovery that began before that time may
 *		have seen the link up, so its result for this link is ignored.
 * DAMPED	flaps: used again only when the hold time has passed since its last failure.
 * RETURNING	found by a sweep, or its hold time is over.  Routings leave it out until its
 *		ports are Armed or Active; the fast path takes it into use when the sweep is
 *		done, or when the hold time is over.
 * LEFT		the fast path could not take it into use.  The next routing uses it
 *		as OpenSM sees it, until it dies again.
 *
 * The time of the last failure is kept in every state, because a link may die
 * while it is RETURNING or DAMPED.
 *
 * The functions read no clock, take no lock and allocate no memory. Times are
 * milliseconds of one monotonic clock.
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
	struct rr_ends ends;	/* guid, port: the end with the smaller (GUID, port), which is the
				 * key */
	enum rr_link_state state;
	double died;		/* time of a failure that a discovery may have missed;
				 * negative: none */
	uint32_t deaths;	/* number of failures counted since `window` */
	double window, last;	/* window: time at which counting began; last: time of the last
				 * failure */
};

struct rr_links {
	/* Settings.  A link that fails `limit` times within `window` ms is
	 * damped, until `hold` ms after its last failure; limit 0: never.  The window begins with
	 * the first failure; a failure after its end begins a new window. */
	uint32_t limit;
	double window, hold;
	uint32_t n;
	struct rr_link_entry link[RR_LINKS_MAX];	/* sorted by (guid, port) */
};

/* Report that a port of the link is Down. */
void rr_links_seen_down(struct rr_links *t, struct rr_ends e, double now);
/* Report that the link died and the tables were repaired: count the failure.  Returns true if the
 * link is damped from now on. */
bool rr_links_died(struct rr_links *t, struct rr_ends e, double now);
/* Report that the link was taken into use. */
void rr_links_used(struct rr_links *t, struct rr_ends e);
/* Report that the link could not be taken into use: the next routing uses it as OpenSM sees it. */
void rr_links_leave(struct rr_links *t, struct rr_ends e);
/* Make the link RETURNING, unless it is damped.  Returns false if the table is full. */
bool rr_links_return(struct rr_links *t, struct rr_ends e);
bool rr_links_damped(const struct rr_links *t, struct rr_ends e, double now);
uint32_t rr_links_count_damped(const struct rr_links *t, double now);

/*
 * True if a routing must leave out a link that OpenSM found in the discovery that began
 * at `began`.  returns: true if the tables in use treat the link as dead and its
 * ports are not Active yet, so that it carries no data before the end of the sweep; the link
 * is then made RETURNING, unless it is DAMPED or LEFT.
 * *recheck: set to true if the link may be alive again, so that a later sweep should look at it.
 */
bool rr_links_left_out(struct rr_links *t, struct rr_ends e, bool returns,
		       double began, double now, bool *recheck);

/* Report that a discovery that began at `began` is done: it has seen all earlier failures. */
void rr_links_discovered(struct rr_links *t, double began);
/* The earliest time at which the hold time of a damped link is over; negative: no link is
 * damped. */
double rr_links_release_due(const struct rr_links *t);
/* Make damped links whose hold time is over RETURNING.  Returns true if there were some. */
bool rr_links_release(struct rr_links *t, double now);
/* Move RETURNING links, at most max, to out and end their RETURNING state.
 * *more: set to true if other links are RETURNING, and stay so.  Returns the
 * number of links in out. */
uint32_t rr_links_take_returning(struct rr_links *t, struct rr_ends *out,
				 uint32_t max, bool *more);
/* End the RETURNING state of all links.  Returns true if there were some. */
bool rr_links_drop_returning(struct rr_links *t);

#endif
