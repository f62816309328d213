/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two fabrics side by side: which switch and end port of f is which of the
 * nominal fabric n, and what f has that n lacks.
 */
#ifndef FTR_SHAPE_COVER_H
#define FTR_SHAPE_COVER_H

#include "core/core.h"
#include <ftr/nominal.h>

struct cover {
	const struct ftr_fabric *f, *n;
	ftr_sw *sw;		/* [f->n_sw] in n, FTR_SW_NONE: not there */
	ftr_ep *ep;		/* [f->n_ep] in n, FTR_EP_NONE */
	struct ftr_nominal_change change;	/* new_* and changed, example */
};

/* names: other names are a change, too.  n NULL: all of f is new, and told
 * without an example.  False: no memory. */
bool cover_compare(struct cover *c, struct ftr_arena *a,
		   const struct ftr_fabric *f, const struct ftr_fabric *n,
		   bool names);

/* replace.c: switches of f that are in the place of another.  False: no
 * memory. */
bool cover_replaced(struct cover *c, struct ftr_arena *a);

/* Is all of f in n? */
static inline bool cover_complete(const struct cover *c)
{
	return !c->change.new_sw && !c->change.replaced_sw && !c->change.new_links &&
	       !c->change.new_hosts && !c->change.changed;
}

/* Is the cable at (s, p), which leads to a switch, one to be told from here?
 * Each cable is told once, from the lower index, or port. */
static inline bool cover_reported_here(const struct ftr_fabric *f, ftr_sw s,
				       unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	return port->peer_kind == FTR_PEER_SW &&
	       (port->peer > s || (port->peer == s && port->peer_port > p));
}

#endif
