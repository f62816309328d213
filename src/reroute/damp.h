/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The time at which the confirming sweep is due: `delay` ms after the last event, but at most
 * `cap` ms after the first event since a sweep was last requested, so that a fabric with
 * continuous link changes is swept, too.
 *
 * The functions read no clock: the caller supplies the time. All times are milliseconds of one
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

/* Report an event at time `now` that a sweep must see. */
void rr_damp_want(struct rr_damp *d, double now);
/* Like rr_damp_want(), but the sweep is due immediately. */
void rr_damp_hurry(struct rr_damp *d, double now);
/* The time at which the sweep is due; negative: no sweep is wanted. */
double rr_damp_due(const struct rr_damp *d);
/* The time at which the sweep is due at the latest; negative: no sweep is wanted. */
double rr_damp_latest(const struct rr_damp *d);
/* Report that a sweep was requested: none is wanted now. */
void rr_damp_asked(struct rr_damp *d);

#endif
