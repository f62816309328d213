/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Comparison of a fabric f with the nominal fabric n: the corresponding switch or host port of n
 * for each switch and host port of f, and the parts of f that n lacks.
 */
#ifndef FTR_SHAPE_COVER_H
#define FTR_SHAPE_COVER_H

#include "core/core.h"
#include <ftr/nominal.h>

struct cover {
	const struct ftr_fabric *f, *n;
	ftr_sw *sw;		/* sw[s]: switch of n that corresponds to s; FTR_SW_NONE: none */
	ftr_ep *ep;		/* ep[e]: host port of n that corresponds to e; FTR_EP_NONE: none */
	/* the result; the members grew, reshaped and dropped_* are not set */
	struct ftr_nominal_change change;
};

/* Compare f with n and set *c. names: a different name counts as a change. n == NULL: all of f is
 * new, and no example is given. False: out of memory. */
bool cover_compare(struct cover *c, struct ftr_arena *a,
		   const struct ftr_fabric *f, const struct ftr_fabric *n,
		   bool names);

/* replace.c: find the switches of f that replace another one. False: out of memory. */
bool cover_replaced(struct cover *c, struct ftr_arena *a);

/* The number of host ports of f that have a link. */
uint32_t cover_connected(const struct ftr_fabric *f);

/* True if all of f is in n. */
static inline bool cover_complete(const struct cover *c)
{
	return !c->change.new_sw && !c->change.replaced_sw && !c->change.new_links &&
	       !c->change.new_hosts && !c->change.changed;
}

/* True if the link at (s, p) leads to a switch and is to be reported from this end. Each
 * link is reported once, from the end with the lower (switch index, port). */
static inline bool cover_reported_here(const struct ftr_fabric *f, ftr_sw s,
				       unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	return port->peer_kind == FTR_PEER_SW &&
	       (port->peer > s || (port->peer == s && port->peer_port > p));
}

#endif
