/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Directed routes that avoid dead links.  This file does not depend on OpenSM.
 *
 * A directed route lists the ports by which a management packet leaves the nodes on its way
 * (IBA 14.2.2).  OpenSM found its own routes in its last discovery.  If a link of the leaf
 * switch to which the manager is attached dies, many of these routes no longer work.
 * So new routes are found by a breadth-first search over the links that are alive.
 */
#ifndef RR_DR_H
#define RR_DR_H

#include "base/base.h"
#include <ftr/fabric.h>

#define RR_DR_HOPS_MAX 63	/* IBA 14.2.1.2: hop pointer below 64 */

struct rr_dr {
	uint8_t hops;		/* number of links of the route */
	uint8_t path[RR_DR_HOPS_MAX + 1];	/* [1 .. hops] outgoing ports */
};

/* Result of one search: the previous switch on the route to each switch. */
struct rr_dr_tree {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	uint32_t n_sw;
	/* Where the subnet manager is attached.  sw: the first switch; FTR_SW_NONE: unknown.  port:
	 * the port of the manager's node that leads to this switch; 0: the manager runs on it. */
	struct ftr_hop from;
	ftr_sw *parent;		/* [n_sw] previous switch of the route; FTR_SW_NONE: not
				 * reached */
	ftr_port *port;		/* [n_sw] port of the parent that leads to this switch */
	uint16_t *hops;		/* [n_sw] number of switches on the route, without the last */
	ftr_sw *queue;		/* [n_sw] temporary data of the search */
};

/* Sets of bits.  In a set of ports, bit f->sw[s].first_port + p stands for port p of switch s. */
static inline bool rr_bit_has(const uint64_t *set, uint32_t bit)
{
	return set[bit / 64] >> (bit % 64) & 1;
}

static inline void rr_bit_put(uint64_t *set, uint32_t bit)
{
	set[bit / 64] |= UINT64_C(1) << (bit % 64);
}

struct rr_dr_tree *rr_dr_tree_new(uint32_t n_sw);	/* NULL: no memory */
void rr_dr_tree_free(struct rr_dr_tree *t);		/* NULL is accepted */

/* Find a shortest route to each switch.  If there are several, the previous switch is the one that
 * the search reached first.  Of parallel links, the one with the smallest port is used.
 * dead: set of the ports of links that must not be used; avoid: [n_sw] 1: the switch may be only the
 * last switch of a route.  Both may be NULL.  O(ports). */
void rr_dr_search(struct rr_dr_tree *t, const struct ftr_fabric *f,
		   const struct ftr_hop *from, const uint64_t *dead, const uint8_t *avoid);

/* Store the route to s in *out.  Returns false if the search did not reach s, or if the route is
 * too long. */
bool rr_dr_route(const struct rr_dr_tree *t, ftr_sw s, struct rr_dr *out);

#endif
