/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Directed routes that avoid dead links.  This file does not depend on OpenSM.
 *
 * A directed route lists the port by which a management packet leaves each node
 * (IBA 14.2.2).  OpenSM's own routes date from its last discovery; after a link
 * of the manager's leaf has died, many of them are stale.  So routes are
 * searched again, breadth first, over the links that are alive.
 */
#ifndef RR_DR_H
#define RR_DR_H

#include "core/core.h"
#include <ftr/fabric.h>

#define RR_DR_HOPS_MAX 63	/* IBA 14.2.1.2: hop pointer below 64 */

struct rr_dr {
	uint8_t hops;		/* number of links of the route */
	uint8_t path[RR_DR_HOPS_MAX + 1];	/* [1 .. hops] outgoing ports */
};

/* Where the subnet manager is attached. */
struct rr_dr_origin {
	ftr_sw sw;		/* first switch; FTR_SW_NONE: unknown */
	ftr_port own_port;	/* port of the manager's node that leads to that switch;
				 * 0: the manager runs on the switch itself */
};

/* Result of one search: for each switch the next step towards the origin. */
struct rr_dr_tree {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	uint32_t n_sw;
	struct rr_dr_origin from;
	ftr_sw *parent;		/* [n_sw] previous switch of the route; FTR_SW_NONE: not
				 * reached */
	ftr_port *port;		/* [n_sw] port of the parent that leads to this switch */
	uint8_t *hops;		/* [n_sw] number of switches that the route passes before
				 * this one */
	ftr_sw *queue;		/* [n_sw] temporary data of the search */
};

/* In a set of ports, bit f->sw[s].first_port + p stands for port p of switch s. */
static inline bool rr_port_has(const uint64_t *set, uint32_t bit)
{
	return set[bit / 64] >> (bit % 64) & 1;
}

static inline void rr_port_put(uint64_t *set, uint32_t bit)
{
	set[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* The links and switches that a search must avoid; a NULL member stands for an empty set. */
struct rr_dr_limits {
	const uint64_t *dead;	/* set of ports: the link is dead */
	const uint8_t *avoid;	/* [n_sw] 1: the switch may only be the last one of a route */
};

struct rr_dr_tree *rr_dr_tree_new(uint32_t n_sw);	/* NULL: no memory */
void rr_dr_tree_free(struct rr_dr_tree *t);		/* NULL is accepted */

/* Find a shortest route to each switch.  On a tie, the previous switch that the search reached
 * first is taken, and of parallel links that with the smaller port.  O(ports). */
void rr_dr_search(struct rr_dr_tree *t, const struct ftr_fabric *f,
		   const struct rr_dr_origin *from,
		   const struct rr_dr_limits *limits);

/* The route to s; false if the search did not reach s or the route is too long. */
bool rr_dr_route(const struct rr_dr_tree *t, ftr_sw s, struct rr_dr *out);

#endif
