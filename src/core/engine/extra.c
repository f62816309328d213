// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds entries in a finished plan of extra turns (connect.c).
 */
#include "base/search.h"
#include "engine/connect.h"
#include "engine/turns.h"

int connect_turn_cmp(const void *x, const void *y)
{
	const struct ftr_turn *a = x, *b = y;

	return FTR_ORDER(a->from, b->from) ?: FTR_ORDER(a->at, b->at) ?: FTR_ORDER(a->to, b->to);
}

static bool leads_by(const struct connect *c, const struct connect_entry *e,
		     ftr_sw remote)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (c->via[e->first + i] == remote)
			return true;
	return false;
}

uint32_t connect_candidates(const struct ftr_shape *sh,
			    const struct connect *c,
			    const struct connect_entry *e,
			    const struct ftr_group **cand)
{
	uint32_t all = turns_groups(sh, e->sw, c->horizontal), n = 0;

	for (uint32_t k = 0; k < all; k++) {
		const struct ftr_group *g =
			&sh->tree.groups[sh->tree.group_first[e->sw] + k];
		uint32_t at;

		if (!leads_by(c, e, g->remote))
			continue;
		for (at = n++; at > 0 && cand[at - 1]->pos > g->pos; at--)
			cand[at] = cand[at - 1];
		cand[at] = g;
	}
	return n;
}

const struct connect_entry *connect_find(const struct connect *c, ftr_sw s,
					 uint32_t l)
{
	const struct connect_entry *e = c->entry;
	uint32_t i;

	FTR_LOWER_BOUND(i, c->n_entries, e[i].col < l ||
			(e[i].col == l && e[i].sw < s));
	return i < c->n_entries && e[i].col == l && e[i].sw == s ? &e[i] : NULL;
}

uint32_t connect_allowed(const struct ftr_shape *sh, const struct connect *c, ftr_sw s,
			 uint32_t l, const struct ftr_group **cand, bool *by_turn)
{
	const struct connect_entry *e = c ? connect_find(c, s, l) : NULL;

	*by_turn = e;
	return e ? connect_candidates(sh, c, e, cand) : ftr_shape_candidates(sh, s, l, cand);
}

ftr_port connect_kept(const uint64_t *allowed, ftr_port prefer, ftr_port now)
{
	return ftr_port_set_has(allowed, prefer) ? prefer :
		ftr_port_set_has(allowed, now) ? now : FTR_PORT_NONE;
}
