// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the candidates of an LFT entry, that is, the port groups that it may use: Gliksberg et al.
 * 2020, section 3.4, equation (1), with the deviation that <ftr/shape.h> explains.  A column is a
 * switch as a destination.
 */
#include <string.h>

#include "shape/shape.h"

/* Returns true if s must route downward to the column, because a switch above s routes downward
 * through s. */
static bool must_descend(const struct ftr_shape *sh, ftr_sw s,
			 const struct ftr_costs *c)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	uint8_t down = c->down[s * c->stride];

	for (uint32_t k = 0; down != FTR_COST_INF && k < sh->tree.n_up[s]; k++)
		if (down < c->cost[g[k].remote * c->stride])
			return true;
	return false;
}

uint32_t ftr_shape_candidates_at(const struct ftr_shape *sh, ftr_sw s,
				 const struct ftr_costs *c,
				 const struct ftr_group **cand)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	const struct ftr_group *down = g + sh->tree.n_up[s], *end = down + sh->tree.n_down[s];
	uint8_t cost = c->cost[s * c->stride];
	uint32_t n = 0;

	for (const struct ftr_group *x = must_descend(sh, s, c) ? down : g; x < end; x++) {
		const struct ftr_group **at = cand + n;

		if ((x < down ? c->cost : c->down)[x->remote * c->stride] >= cost)
			continue;
		for (n++; at > cand && at[-1]->pos > x->pos; at--)
			*at = at[-1];
		*at = x;
	}
	return n;
}

uint32_t ftr_shape_candidates(const struct ftr_shape *sh, ftr_sw s, uint32_t l,
			      const struct ftr_group **cand)
{
	const struct ftr_costs c = ftr_shape_column(sh, l);

	return ftr_shape_candidates_at(sh, s, &c, cand);
}

void ftr_shape_ports(const struct ftr_shape *sh,
		     const struct ftr_group *const *cand, uint32_t n,
		     uint64_t *out)
{
	memset(out, 0, FTR_PORT_SET * sizeof(*out));
	for (uint32_t i = 0; i < n; i++) {
		const ftr_port *p = sh->tree.group_ports + cand[i]->first, *end = p + cand[i]->n;

		for (; p < end; p++)
			out[*p / 64] |= UINT64_C(1) << *p % 64;
	}
}
