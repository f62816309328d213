/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes when the sweep that confirms repairs is due:
 *
 *	min(time of the last event + delay, time of the first event + cap)
 *
 * Only events since the last request for a sweep count.  Without the cap, no sweep would be
 * requested while links change all the time.
 *
 * The functions read no clock: the caller supplies the time.  All times are milliseconds of one
 * monotonic clock.
 */
#ifndef RR_DAMP_H
#define RR_DAMP_H

#include <ftr/types.h>

struct rr_damp {
	double delay, cap;
	bool wanted;
	double first, last;	/* times of the first and last event since the last request */
};

/* Report an event at time `now` after which a sweep is needed. */
void rr_damp_want(struct rr_damp *d, double now);
/* Like rr_damp_want(), but the sweep is due immediately. */
void rr_damp_hurry(struct rr_damp *d, double now);
/* The time at which the sweep is due; negative: no sweep is wanted. */
double rr_damp_due(const struct rr_damp *d);
/* The time at which the sweep is due if events continue; negative: no sweep is wanted. */
double rr_damp_latest(const struct rr_damp *d);
/* Report that a sweep was requested, so that no sweep is wanted now. */
void rr_damp_asked(struct rr_damp *d);

#endif
