/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Part of test_takeover.c: tables of shortest paths.
 */
#ifndef FTR_TEST_SHORTEST_H
#define FTR_TEST_SHORTEST_H

#include "fake/opensm.h"

/* The tables of an engine that knows only shortest paths: breadth-first search from the switch of
 * each LID, and the first port in a random order that leads nearer to it. */
static void hold_shortest(struct fake *h, uint64_t seed)
{
	const struct ftr_fabric *f = h->fab;
	uint32_t *dist = calloc(f->n_sw, sizeof(*dist));
	struct ftr_rng r;

	ck_assert_ptr_nonnull(dist);
	fake_activate(h);
	ftr_rng_seed(&r, seed);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		ftr_sw last;

		if (o->kind == FTR_OWNER_NONE)
			continue;
		last = o->kind == FTR_OWNER_SW ? o->idx : f->ep[o->idx].sw;
		memset(dist, 0xff, f->n_sw * sizeof(*dist));
		dist[last] = 0;
		h->sw[last].lft[lid] = o->kind == FTR_OWNER_SW ? 0 : f->ep[o->idx].sw_port;
		for (uint32_t d = 0; d < f->n_sw; d++)
			for (ftr_sw s = 0; s < f->n_sw; s++) {
				unsigned int turn = ftr_rng_below(&r, f->sw[s].n_ports);

				for (unsigned int i = 0; i < f->sw[s].n_ports; i++) {
					ftr_port p = (ftr_port)(1 + (i + turn) % f->sw[s].n_ports);
					const struct ftr_swport *q = ftr_fabric_port(f, s, p);

					if (dist[s] == UINT32_MAX && q->peer_kind == FTR_PEER_SW &&
					    dist[q->peer] == d) {
						dist[s] = d + 1;
						h->sw[s].lft[lid] = p;
					}
				}
			}
	}
	free(dist);
}

#endif
