/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Compares a fabric f with the nominal fabric n.  The result has the counterpart in n of each
 * switch and host port of f, and counts the parts of f that n lacks.
 */
#ifndef FTR_SHAPE_COVER_H
#define FTR_SHAPE_COVER_H

#include "core/core.h"
#include <ftr/nominal.h>

struct cover {
	const struct ftr_fabric *f, *n;
	ftr_sw *sw;		/* the counterpart in n of each switch of f, or FTR_SW_NONE */
	ftr_ep *ep;		/* the counterpart in n of each host port of f, or FTR_EP_NONE */
	/* the result, without the members grew, reshaped and dropped_* */
	struct ftr_nominal_change change;
};

/* Compare f with n and set *c. names: a different name counts as a change. If n is NULL, all of f
 * counts as new, and no example is given. Returns false if out of memory. */
bool cover_compare(struct cover *c, struct ftr_arena *a,
		   const struct ftr_fabric *f, const struct ftr_fabric *n,
		   bool names);

/* Find the switches of f that replace another switch (replace.c). Returns false if out of
 * memory. */
bool cover_replaced(struct cover *c, struct ftr_arena *a);

uint32_t cover_connected(const struct ftr_fabric *f);

static inline bool cover_complete(const struct cover *c)
{
	return !c->change.new_sw && !c->change.replaced_sw && !c->change.new_links &&
	       !c->change.new_hosts && !c->change.changed;
}

/* True if port p of s has a link to a switch and this end reports the link. The end with the lower
 * (switch index, port) reports it, so that each link is reported once. */
static inline bool cover_reported_here(const struct ftr_fabric *f, ftr_sw s,
				       unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	return port->peer_kind == FTR_PEER_SW &&
	       (port->peer > s || (port->peer == s && port->peer_port > p));
}

#endif
