// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes a copy of a shape with another order of the switches.
 *
 * Only the direction of links (up or down) changes.  The copy and the original shape have the same
 * columns (destination switches), destinations, dividers and links.  The copy has its own groups,
 * costs and down-costs.
 *
 * The groups of a switch are divided into upward and downward groups by the new order.  The upward
 * groups keep their old order among each other, and so do the downward groups.  So if the
 * candidates of equation (1) are the same, equation (3) makes the same choice.  <ftr/shape.h>
 * explains the terms and equations.
 */
#include <inttypes.h>
#include <string.h>

#include "shape/shape.h"

static enum ftr_status sort_levels(struct shaping *z, const uint16_t *level)
{
	uint32_t n = z->f->n_sw, n_levels = 0;
	uint32_t *at;
	uint8_t *rank;

	for (ftr_sw s = 0; s < n; s++)
		n_levels = FTR_MAX(n_levels, level[s] + 1u);
	if (!FTR_NEW(z->keep, rank, n) || !FTR_NEW(z->scratch, z->by_rank, n) ||
	    !FTR_ZNEW(z->scratch, z->rank_first, n_levels + 2u))
		return shape_nomem(z);
	at = z->rank_first + 1;
	for (ftr_sw s = 0; s < n; s++) {
		rank[s] = (uint8_t)level[s];
		at[level[s] + 1]++;
	}
	for (uint32_t l = 0; l < n_levels; l++)
		at[l + 1] += at[l];
	for (ftr_sw s = 0; s < n; s++)
		z->by_rank[at[level[s]]++] = s;
	z->sh->tree.n_ranks = n_levels;
	z->sh->tree.rank = n_levels <= 255 ? rank : NULL;
	return FTR_OK;
}

static enum ftr_status split_groups(struct shaping *z,
				    const struct ftr_shape *old,
				    const uint16_t *level, enum ftr_reorder how)
{
	uint32_t n = z->f->n_sw, *n_up, *n_down, *n_equal;
	struct ftr_group *groups;

	if (!FTR_NEW(z->keep, groups, old->tree.group_first[n]) ||
	    !FTR_ZNEW(z->keep, n_up, n) || !FTR_ZNEW(z->keep, n_down, n) ||
	    !FTR_ZNEW(z->keep, n_equal, n))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t first = old->tree.group_first[s];
		uint32_t end = how == FTR_REORDER_ALL ?
			old->tree.group_first[s + 1] :
			first + old->tree.n_up[s] + old->tree.n_down[s];
		uint32_t at = first;

		for (uint32_t g = first; g < end; g++) {
			ftr_sw r = old->tree.groups[g].remote;

			if (level[r] == level[s])
				return ftr_fail(z->err, FTR_INVAL, "switches 0x%016"
						PRIx64 " and 0x%016" PRIx64
						" are neighbours on the same level, %u",
						z->f->sw[s].guid,
						z->f->sw[r].guid, level[s]);
			if (level[r] > level[s])
				groups[at++] = old->tree.groups[g];
		}
		n_up[s] = at - first;
		for (uint32_t g = first; g < end; g++)
			if (level[old->tree.groups[g].remote] < level[s])
				groups[at++] = old->tree.groups[g];
		n_down[s] = at - first - n_up[s];
	}
	z->sh->tree.groups = groups;
	z->sh->tree.n_up = n_up;
	z->sh->tree.n_down = n_down;
	z->sh->tree.n_equal = n_equal;
	return FTR_OK;
}

/* Fail if a cost is FTR_COST_INF - 1, because paths with more hops would get the cost
 * FTR_COST_INF. */
static enum ftr_status no_overflow(struct shaping *z)
{
	const struct ftr_shape *sh = z->sh;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		if (memchr(ftr_shape_cost(sh, s), FTR_COST_INF - 1, z->f->n_sw))
			return ftr_fail(z->err, FTR_LIMIT, "paths from switch %s (0x%016"
					PRIx64 ") would be longer than %u hops",
					z->f->sw[s].name, z->f->sw[s].guid,
					FTR_COST_INF - 2);
	}
	return FTR_OK;
}

enum ftr_status ftr_shape_reorder(const struct ftr_shape *sh,
				  const uint16_t *level, enum ftr_reorder how,
				  struct ftr_team *team,
				  struct ftr_shape **out, struct ftr_err *err)
{
	struct shaping z = {
		.f = sh->f, .team = team, .err = err, .keep = ftr_arena_new(),
		.scratch = ftr_arena_new(),
	};
	enum ftr_status st;

	if (!z.keep || !z.scratch ||
	    !(z.sh = ftr_arena_alloc(z.keep, 1, sizeof(*z.sh)))) {
		st = shape_nomem(&z);
	} else {
		*z.sh = *sh;
		z.sh->arena = z.keep;
		if (how == FTR_REORDER_ALL)
			z.sh->tree.n_horizontal = 0;
		else
			z.keep_to = sh;
		st = sort_levels(&z, level);
		if (!st)
			st = split_groups(&z, sh, level, how);
		if (!st)
			st = shape_cost(&z);
		if (!st)
			st = no_overflow(&z);
	}
	return shape_end(&z, st, out);
}
