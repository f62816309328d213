/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * When a reconciling sweep is due: delay ms after the last event, but at most
 * cap ms after the first one that no sweep has seen, so that a fabric which
 * never comes to rest is swept all the same.
 *
 * Pure: the caller brings the clock.  All times are milliseconds of one
 * monotonic clock.
 */
#ifndef RR_DAMP_H
#define RR_DAMP_H

#include <ftr/types.h>

struct rr_damp {
	double delay, cap;
	bool wanted;
	double first, last;	/* events that wait for a sweep */
};

/* An event at time now that a sweep must see. */
void rr_damp_want(struct rr_damp *d, double now);
/* The same, and it is due at once. */
void rr_damp_hurry(struct rr_damp *d, double now);
/* When it is due, a negative number for never. */
double rr_damp_due(const struct rr_damp *d);
/* When it is due at the latest. */
double rr_damp_latest(const struct rr_damp *d);
/* A sweep was asked for: nothing is wanted any more. */
void rr_damp_asked(struct rr_damp *d);

#endif
