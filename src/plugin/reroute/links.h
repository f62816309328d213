/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A table of the links that died, fail repeatedly (flap), or work again.  Each link has a
 * state:
 *
 * ALIVE	It can be used.  A link that is not in the table is ALIVE.  An ALIVE link
 *		stays in the table while its failures are counted.
 * DEAD		It has failed, and the time of the failure is known.  A discovery that began
 *		before that time may have seen the link up, so its result for this link is
 *		ignored.
 * DAMPED	It flaps.  It is used again only when the hold time has passed since its last
 *		failure.
 * RETURNING	A sweep has found it again, or its hold time is over.  The fast path takes it
 *		into use at the end of this sweep or hold time.  Routings leave it out until
 *		its ports are Armed or Active.
 * LEFT		The fast path could not take it into use.  Routings use it if OpenSM finds it,
 *		until it dies again.
 *
 * Changes of the state:
 *
 *	ALIVE or LEFT -> DEAD		the link died
 *	any -> DAMPED			the link died for the limit-th time in the window
 *	DEAD -> ALIVE			end of a discovery that began after the failure
 *	ALIVE or DEAD -> RETURNING	OpenSM has found a link that the tables do not use
 *	DAMPED -> RETURNING		the link has not failed for the hold time
 *	DAMPED -> DEAD			the link died when hold time and window were over
 *	DEAD or RETURNING -> ALIVE	the fast path begins to use the link
 *	RETURNING -> LEFT		the fast path could not take the link into use
 *
 * The time of the last failure is kept in every state, because a link may also die while it is
 * RETURNING or DAMPED.
 *
 * The functions read no clock, take no lock and allocate no memory. Times are
 * milliseconds of one monotonic clock.
 */
#ifndef RR_LINKS_H
#define RR_LINKS_H

#include <ftr/types.h>

#define RR_LINKS_MAX 4096

/* The two ends of a link, in any order. */
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
	struct rr_ends ends;	/* The key is (guid, port), which is smaller than
				 * (peer_guid, peer_port). */
	enum rr_link_state state;
	double died;		/* time of a failure that the last discovery may have missed;
				 * negative: none */
	uint32_t deaths;	/* number of failures counted since the time `window` */
	double window, last;	/* time at which counting began; time of the last failure */
};

struct rr_links {
	/* Settings.  A link that fails `limit` times within `window` ms is damped until `hold` ms
	 * after its last failure.  limit 0: no link is damped.  The window begins with the first
	 * failure; a failure after its end begins a new window. */
	uint32_t limit;
	double window, hold;
	uint32_t n;
	struct rr_link_entry link[RR_LINKS_MAX];	/* sorted by (guid, port) */
};

/* Report that a port of the link is Down. */
void rr_links_seen_down(struct rr_links *t, struct rr_ends e, double now);
/* Report that the link died and the tables were repaired: count the failure.  Returns true if the
 * link is DAMPED from now on. */
bool rr_links_died(struct rr_links *t, struct rr_ends e, double now);
/* Report that the link is being taken into use. */
void rr_links_used(struct rr_links *t, struct rr_ends e);
/* Report that the link could not be taken into use: make it LEFT, unless it is damped. */
void rr_links_leave(struct rr_links *t, struct rr_ends e);
/* Make the link RETURNING, unless it is damped.  Returns false if the table is full. */
bool rr_links_return(struct rr_links *t, struct rr_ends e);
bool rr_links_damped(const struct rr_links *t, struct rr_ends e, double now);
uint32_t rr_links_count_damped(const struct rr_links *t, double now);

/*
 * OpenSM has found the link in the discovery that began at `began`.  Returns true if the routing
 * must leave it out.  returns: the tables in use treat the link as dead, and its ports are not
 * Armed or Active yet, so it carries no data before the end of the sweep.  Then the link is made
 * RETURNING, unless it is DAMPED or LEFT.  *recheck: set to true if the link may be alive again, so
 * that another sweep is needed.
 */
bool rr_links_left_out(struct rr_links *t, struct rr_ends e, bool returns,
		       double began, double now, bool *recheck);

/* Report that the discovery that began at `began` is done: it has seen all earlier failures. */
void rr_links_discovered(struct rr_links *t, double began);
/* The earliest time at which the hold time of a damped link is over; negative: no link is
 * damped. */
double rr_links_release_due(const struct rr_links *t);
/* Change the state of all DAMPED links whose hold time is over to RETURNING.  Returns true if there
 * were any. */
bool rr_links_release(struct rr_links *t, double now);
/* End the RETURNING state of at most max links, and store these links in out; returns their number.
 * *more: true if other links are still RETURNING. */
uint32_t rr_links_take_returning(struct rr_links *t, struct rr_ends *out,
				 uint32_t max, bool *more);
/* End the RETURNING state of all links.  Returns true if there were any RETURNING links. */
bool rr_links_drop_returning(struct rr_links *t);

#endif
