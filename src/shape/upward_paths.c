// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Upward paths: the nominal upward path of each host, and the number of the host on each
 * tier.
 *
 * In a PGFT every group above a switch leads to a different plane.  A switch of a plane
 * therefore has only one group that leads down to a given leaf, and floor(d / Pi) gives
 * consecutive numbers to the hosts that share a switch. Neither is true if several groups
 * above a switch lead into the same plane, for example if a rack is connected by several
 * links to leaf switches of one chassis. A switch of that plane then has several groups
 * that lead down to the leaf, and the hosts reached over one of them are not numbered
 * consecutively.
 *
 * In such fabrics each host has an upward path. It begins at the leaf of the host. At
 * each switch u_k, the number q_k of the host among the hosts of that switch selects the
 * slot. The host counts as one of the hosts of every switch on that path:
 *
 *	u_0 = its leaf, q_0 = d
 *	u_k+1 = the neighbour above u_k in slot q_k mod W
 *	q_k+1 = b + the number of hosts with a smaller d and the same u_k+1
 *
 * W is the number of slots of u_k; b is floor(q_k / W) of the host with the smallest d
 * and this u_k+1.  A link that skips a rank skips a tier.  If the hosts of a switch are
 * consecutive in d, as in PGFTs, q_k is floor(d / Pi_k) of Gliksberg et al. 2020, equation
 * (3).  Indices without a host are also counted, so that a new host changes no number.
 *
 * Upward paths improve the tables before the search, and the result of a search of depth `load`. A
 * search of depth `full` finds equally good tables without them (the gain is only 1 %). An
 * example is tests/perf/chassis.awk with 140 racks. Before the search, the all-to-all load of the
 * most loaded link is 1.50 times the lower bound instead of 2.16, and as a mean over all shifts
 * the most loaded link carries 8.1 flows instead of 10.7. After a search of depth `load` it
 * carries 8.3 instead of 8.9. For the racks of tests/seeds/racks.awk there is a gain only before
 * the search.
 */
#include <string.h>

#include "shape/shape.h"

/* The neighbour above u in a slot; FTR_SW_NONE: it is missing. */
static ftr_sw in_slot(const struct ftr_shape *sh, ftr_sw u, uint32_t slot)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[u]];

	for (uint32_t k = 0; k < sh->tree.n_up[u]; k++)
		if (g[k].slot == slot)
			return g[k].remote;
	return FTR_SW_NONE;
}

/* Extend the upward paths that pass tier r by one step, then number the hosts whose path passes
 * tier r + 1. next: [n_sw] scratch. */
static void climb(const struct ftr_shape *sh, struct ftr_up_path *at,
		  uint32_t r, uint32_t *next)
{
	const struct ftr_up_path *here = at + (size_t)r * sh->numbering.n_d;

	for (uint32_t d = 0; d < sh->numbering.n_d; d++) {
		ftr_sw u = here[d].sw, t;
		uint32_t w = u == FTR_SW_NONE ? 0 : sh->numbering.n_slots[u];

		if (!w)
			continue;
		t = in_slot(sh, u, here[d].q % w);
		if (t != FTR_SW_NONE)
			at[(size_t)sh->tree.rank[t] * sh->numbering.n_d + d] =
				(struct ftr_up_path){ t, here[d].q / w };
	}
	if (r + 1 == sh->tree.n_ranks)
		return;
	here += sh->numbering.n_d;
	memset(next, 0xff, sh->f->n_sw * sizeof(*next));
	for (uint32_t d = 0; d < sh->numbering.n_d; d++) {
		ftr_sw t = here[d].sw;

		if (t == FTR_SW_NONE)
			continue;
		if (next[t] == UINT32_MAX)
			next[t] = here[d].q;
		at[(size_t)(r + 1) * sh->numbering.n_d + d].q = next[t]++;
	}
}

enum ftr_status shape_up_paths(struct shaping *z)
{
	struct ftr_shape *sh = z->sh;
	size_t n = (size_t)sh->tree.n_ranks * sh->numbering.n_d;
	struct ftr_up_path *at;
	uint32_t *next;

	if (!z->shared_plane || !sh->numbering.n_d)
		return FTR_OK;
	if (!FTR_NEW(z->keep, at, n) || !FTR_NEW(z->scratch, next, z->f->n_sw))
		return shape_nomem(z);
	memset(at, 0xff, n * sizeof(*at));
	for (uint32_t d = 0; d < sh->numbering.n_d; d++) {
		ftr_sw l = sh->numbering.col_sw[d / sh->numbering.stride];

		at[(size_t)sh->tree.rank[l] * sh->numbering.n_d + d] =
			(struct ftr_up_path){ l, d };
	}
	for (uint32_t r = 0; r < sh->tree.n_ranks; r++)
		climb(sh, at, r, next);
	sh->numbering.up_path = at;
	return FTR_OK;
}
