/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * When to sweep, and which cables flap.  Pure: the caller brings the clock.
 * Knows nothing of OpenSM.
 *
 * Sweep	a reconciling sweep is due delay ms after the last event, but at
 *		most cap ms after the first one that no sweep has seen: a fabric
 *		that never comes to rest is swept all the same.
 * Flapping	a cable that died `limit` times within window ms is not used
 *		again before it has been quiet for hold ms.
 *
 * All times are milliseconds of one monotonic clock.
 */
#ifndef IBF_DAMP_H
#define IBF_DAMP_H

#include <ftr/types.h>

struct ibf_damp_sweep {
	double delay, cap;
	bool wanted;
	double first, last;	/* events that wait for a sweep */
};

/* An event at time now that a sweep must see. */
void ibf_damp_want(struct ibf_damp_sweep *d, double now);
/* The same, and it is due at once. */
void ibf_damp_hurry(struct ibf_damp_sweep *d, double now);
/* When it is due, a negative number for never. */
double ibf_damp_due(const struct ibf_damp_sweep *d);
/* When it is due at the latest. */
double ibf_damp_latest(const struct ibf_damp_sweep *d);
/* A sweep was asked for: nothing is wanted any more. */
void ibf_damp_asked(struct ibf_damp_sweep *d);

#define IBF_FLAP_CABLES 256

struct ibf_flap_cable {
	uint64_t guid;		/* the end with the smaller (GUID, port) */
	ftr_port port;
	uint32_t n;		/* times that it died in the window */
	double since;		/* start of the window */
	double last;		/* last change */
};

struct ibf_flap {
	double window, hold;
	uint32_t limit;
	uint32_t n;
	struct ibf_flap_cable cable[IBF_FLAP_CABLES];
};

/* The cable died, or came back, at time now; true: it is (still) held down.
 * When the list is full the quietest is forgotten. */
bool ibf_flap_died(struct ibf_flap *f, uint64_t guid, ftr_port port,
		   double now);
/* Whether the cable is to be left out now.  Touches nothing. */
bool ibf_flap_held(const struct ibf_flap *f, uint64_t guid, ftr_port port,
		   double now);
/* The first time after now at which a held cable is released, negative: none
 * is held. */
double ibf_flap_release(const struct ibf_flap *f, double now);

#endif
