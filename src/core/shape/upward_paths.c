// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the nominal upward path of each host, and the number of the host at each switch of this
 * path.  <ftr/shape.h> explains planes, slots, the index d and the divider Pi.
 *
 * In a PGFT, the upward groups of a switch all lead to different planes.  So a switch of a plane
 * has only one group that leads down to a given leaf, and floor(d / Pi) gives consecutive numbers
 * to the hosts that are reached over this group.
 *
 * But some switches have several upward groups that lead to one plane.  An example is a rack that
 * is connected to several leaf switches of one chassis.  Then a switch of that plane has several
 * groups that lead down to the leaf, and the numbers floor(d / Pi) of the hosts that are reached
 * over one of these groups are not consecutive.
 *
 * In such fabrics each host gets an upward path, which begins at its leaf.  The path visits one
 * switch u[k] on each tier (rank) k.  There the host has a number q[k], which selects the next
 * group by its slot (nominal position among the upward groups):
 *
 *	u[0] = the leaf of the host, q[0] = d
 *	u[k + 1] = the neighbour above u[k] in slot q[k] mod W
 *	q[k + 1] = b + (number of hosts with a smaller d and the same u[k + 1])
 *
 *	W	number of slots of u[k]
 *	b	floor(q[k] / W) of the host with the smallest d among all hosts with the same
 *		u[k + 1]
 *
 * If a link skips a rank, the path skips a tier.  If the hosts with the same u[k] are consecutive
 * in d, as in PGFTs, q[k] is the number floor(d / Pi) of Gliksberg et al. 2020, equation (3).  An
 * index d without a host counts as a host, so a new host changes no number.
 *
 * Upward paths improve the tables with which the search for balance begins, and the result of a
 * search of depth `load`.  After a search of depth `full` the gain is only 1 %.  For
 * tests/perf/chassis.awk with 140 racks, the load of the most loaded link with upward paths (first
 * column) and without them:
 *
 *	before the search: all-to-all load / lower bound	1.50	2.16
 *	before the search: flows, mean over all shifts		8.1	10.7
 *	after a search of depth `load`: flows, mean		8.3	8.9
 *
 * For the racks of tests/seeds/racks.awk there is a gain only before the search.
 */
#include <string.h>

#include "shape/shape.h"

/* The neighbour above u in a slot (nominal position of an upward group), or FTR_SW_NONE. */
static ftr_sw in_slot(const struct ftr_shape *sh, ftr_sw u, uint32_t slot)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[u]];

	for (uint32_t k = 0; k < sh->tree.n_up[u]; k++)
		if (g[k].slot == slot)
			return g[k].remote;
	return FTR_SW_NONE;
}

/* Extend the paths from tier r by one step.  Then compute the numbers q on tier r + 1.
 * next: [n_sw] scratch. */
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
