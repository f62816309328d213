/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Small hand-made fabrics for the tests of the checker.
 *
 * Switch i has GUID i + 1 and index i.  Host h has GUID 1000 + h, index h, and the first LID 64 +
 * (h << lmc).  If sw_lids is set, switch i has LID 1 + i, and there are at most 63 switches.
 */
#ifndef FTR_TESTS_CHECK_NET_H
#define FTR_TESTS_CHECK_NET_H

#include <check.h>
#include <string.h>

#include "base/base.h"
#include <ftr/check.h>

struct net {
	struct ftr_builder *b;
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t n_sw, n_ep, lmc;
};

static inline void net_host(struct net *n, uint32_t sw, uint32_t port)
{
	uint64_t g = 1000 + n->n_ep;
	struct ftr_end a = { sw + 1, (ftr_port)port }, z = { g, 1 };

	ck_assert(!ftr_builder_add_endport(n->b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = g, .guid = g, .port_num = 1,
		.lid = (ftr_lid)(64 + (n->n_ep << n->lmc)), .lmc = n->lmc,
	}, NULL));
	if (sw != FTR_SW_NONE)
		ck_assert(!ftr_builder_add_link(n->b, a, z, 4, FTR_SPEED_EDR,
						NULL));
	n->n_ep++;
}

static inline void net_link(struct net *n, uint32_t x, uint32_t px, uint32_t y,
			    uint32_t py)
{
	struct ftr_end a = { x + 1, (ftr_port)px }, z = { y + 1, (ftr_port)py };

	ck_assert(!ftr_builder_add_link(n->b, a, z, 4, FTR_SPEED_EDR, NULL));
}

static inline struct net net_new(uint32_t n_sw, uint32_t ports, bool sw_lids,
				 uint32_t lmc)
{
	struct net n = { .b = ftr_builder_new(), .n_sw = n_sw, .lmc = lmc };

	ck_assert_ptr_nonnull(n.b);
	for (uint32_t s = 0; s < n_sw; s++)
		ck_assert(!ftr_builder_add_switch(n.b, &(struct ftr_switch){
			.guid = s + 1, .n_ports = ports, .lid = sw_lids ? (ftr_lid)(s + 1) : 0,
		}, NULL));
	return n;
}

static inline void net_freeze(struct net *n)
{
	ck_assert(!ftr_builder_freeze(n->b, &n->f, NULL));
	ck_assert(!ftr_tables_new(n->f, true, &n->t, NULL));
}

static inline void net_free(struct net *n)
{
	ftr_tables_free(n->t);
	ftr_fabric_free(n->f);
}

static inline uint8_t *net_at(struct net *n, ftr_sw s, ftr_lid lid)
{
	return ftr_tables_row(n->t, s) + lid;
}

/* Fill the entries of all switches for lid with shortest paths.  If several ports of a switch are
 * on shortest paths, the entry is the first of them or, if rng is not NULL, a random one. */
static inline void net_route(struct net *n, ftr_lid lid, struct ftr_rng *rng)
{
	const struct ftr_fabric *f = n->f;
	const struct ftr_lid_owner *o = &f->owner[lid];
	uint32_t dist[64], queue[64], head = 0, tail = 0;
	bool sw = o->kind == FTR_OWNER_SW;
	ftr_sw own_sw = sw ? o->idx : f->ep[o->idx].sw;

	memset(dist, 0xff, sizeof(dist));
	if (own_sw == FTR_SW_NONE)
		return;
	*net_at(n, own_sw, lid) = sw ? 0 : f->ep[o->idx].sw_port;
	dist[own_sw] = 0;
	queue[tail++] = own_sw;
	while (head < tail) {
		ftr_sw y = queue[head++];

		for (uint32_t p = 1; p <= f->sw[y].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, y, (ftr_port)p);

			if (q->peer_kind != FTR_PEER_SW)
				continue;
			if (dist[q->peer] == UINT32_MAX) {
				dist[q->peer] = dist[y] + 1;
				queue[tail++] = q->peer;
			} else if (dist[q->peer] != dist[y] + 1 || !rng ||
				   ftr_rng_below(rng, 2)) {
				continue;
			}
			*net_at(n, q->peer, lid) = q->peer_port;
		}
	}
}

static inline void net_route_all(struct net *n, struct ftr_rng *rng)
{
	for (uint32_t lid = 1; lid <= n->f->max_lid; lid++)
		if (n->f->owner[lid].kind != FTR_OWNER_NONE)
			net_route(n, (ftr_lid)lid, rng);
}

static const uint8_t net_tree_rank[] = { 0, 0, 1, 1 };

/*
 *	 spine 2       spine 3
 *	  1|  \2        /1 |2
 *	   |    \_____ /   |
 *	   |    ______X    |
 *	  3|   /4      \3  |4
 *	 leaf 0        leaf 1
 *	  1| |2         1| |2
 *	 h0   h1       h2   h3
 *
 * lmc is the LMC of the hosts.  All upward paths use spine 2, except the paths to spine 3.  Neither
 * spine has an entry for the other.
 */
static inline struct net net_tree(uint32_t lmc)
{
	struct net n = net_new(4, 5, true, lmc);

	for (uint32_t leaf = 0; leaf < 2; leaf++) {
		net_host(&n, leaf, 1);
		net_host(&n, leaf, 2);
		net_link(&n, leaf, 3, 2, leaf + 1);
		net_link(&n, leaf, 4, 3, leaf + 1);
	}
	net_freeze(&n);
	net_route_all(&n, NULL);
	*net_at(&n, 2, 4) = FTR_PORT_NONE;
	*net_at(&n, 3, 3) = FTR_PORT_NONE;
	return n;
}

#endif
