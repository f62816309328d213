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
	uint32_t up = sh->tree.n_up[s], all = up + sh->tree.n_down[s], n = 0;
	uint8_t cost = c->cost[s * c->stride];

	for (uint32_t k = must_descend(sh, s, c) ? up : 0, end; k < all; k = end) {
		const uint8_t *of = k < up ? c->cost : c->down;

		end = k < up ? up : all;
		for (const struct ftr_group *x = g + k; x < g + end; x++) {
			uint32_t i;

			if (of[x->remote * c->stride] >= cost)
				continue;
			for (i = n++; i > 0 && cand[i - 1]->pos > x->pos; i--)
				cand[i] = cand[i - 1];
			cand[i] = x;
		}
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
