/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Compares a fabric f with the nominal fabric n (all switches and links seen so far).  Each switch
 * and host port of f may have a counterpart in n.  Parts of f without a counterpart are counted.
 */
#ifndef FTR_SHAPE_COVER_H
#define FTR_SHAPE_COVER_H

#include "base/base.h"
#include <ftr/nominal.h>

struct cover {
	const struct ftr_fabric *f, *n;
	ftr_sw *sw;		/* sw[s]: counterpart in n of switch s of f, or FTR_SW_NONE */
	ftr_ep *ep;		/* ep[e]: counterpart in n of host port e of f, or FTR_EP_NONE */
	/* what is new in f; the members `grew`, `reshaped` and `dropped_...` are not set */
	struct ftr_nominal_change change;
};

/* Compare f with n, and set *c.  names: a different name of a host port counts as a change.  If n
 * is NULL, all of f counts as new, and change.example stays empty.  Returns false if out of
 * memory. */
bool cover_compare(struct cover *c, struct ftr_arena *a,
		   const struct ftr_fabric *f, const struct ftr_fabric *n,
		   bool names);

/* Find the switches of f that replace another switch, and set their counterparts (replace.c).
 * Returns false if out of memory. */
bool cover_replaced(struct cover *c, struct ftr_arena *a);

uint32_t cover_connected(const struct ftr_fabric *f);

static inline bool cover_complete(const struct cover *c)
{
	return !c->change.new_sw && !c->change.replaced_sw && !c->change.new_links &&
	       !c->change.new_hosts && !c->change.changed;
}

/* Returns true for one of the two ends of each link between switches: for the end with the lower
 * (switch index, port).  So a loop over all ports can visit each link once. */
static inline bool cover_reported_here(const struct ftr_fabric *f, ftr_sw s,
				       unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	return port->peer_kind == FTR_PEER_SW &&
	       (port->peer > s || (port->peer == s && port->peer_port > p));
}

#endif
