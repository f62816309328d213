// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the candidates (allowed next hops) of entries, and logs changes of entries.
 *
 * When the search finds tables that are the best so far, it notes the length of the log.  At the
 * end, it undoes all changes that were logged later.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

/* ---- log --------------------------------------------------------------------- */

bool balance_move(struct balance_count *c, ftr_sw s, uint32_t d, ftr_port port)
{
	ftr_lid lid = c->net->dest[d].lid;
	uint8_t *entry = &ftr_tables_row(c->t, s)[lid];
	struct balance_log *log = c->log;

	if (log) {
		uint64_t *word = &log->seen[(size_t)s * (c->t->stride / 64) +
					    lid / 64];
		uint64_t bit = UINT64_C(1) << lid % 64;

		if (!FTR_GROW(log->moved, log->n, log->cap))
			return false;
		log->moved[log->n++] = (struct balance_moved){
			s, lid, *entry, !(*word & bit),
		};
		*word |= bit;
	}
	*entry = port;
	balance_entries(c->net, c->entry, d)[s] = port;
	return true;
}

uint64_t balance_log_undo(struct balance_log *log, struct ftr_tables *t,
			  uint32_t n)
{
	uint64_t differ = 0;

	while (log->n > n) {
		const struct balance_moved *m = &log->moved[--log->n];

		ftr_tables_row(t, m->sw)[m->lid] = m->was;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct balance_moved *m = &log->moved[i];

		differ += m->first && ftr_tables_get(t, m->sw, m->lid) != m->was;
	}
	return differ;
}

/* ---- candidates ---------------------------------------------------------------- */

bool balance_cand_new(struct balance_cand *z, struct ftr_arena *a,
		      uint32_t n_sw)
{
	memset(z, 0, sizeof(*z));
	z->first = ftr_arena_alloc(a, n_sw, sizeof(*z->first));
	z->n = ftr_arena_alloc(a, n_sw, sizeof(*z->n));
	return z->first && z->n;
}

void balance_cand_free(struct balance_cand *z)
{
	free(z->group);
	z->group = NULL;
}

void balance_cand_column(struct balance_cand *z, const struct balance_net *net,
			 uint32_t l)
{
	z->in = net->in;
	z->sh = balance_shape(net, l);
	z->l = l;
	z->costs = balance_costs(net, l);
	z->n_groups = 0;
	memset(z->first, 0xff, net->f->n_sw * sizeof(*z->first));
}

static uint32_t candidates(const struct balance_cand *z, ftr_sw s,
			   const struct ftr_group **cand)
{
	uint32_t n = z->in->extra ?
		z->in->extra(z->in->extra_ctx, s, z->l, cand) :
		FTR_BALANCE_BY_COST;

	if (n != FTR_BALANCE_BY_COST)
		return n;
	return z->costs.cost[s] == FTR_COST_INF ? 0 :
		ftr_shape_candidates_at(z->sh, s, &z->costs, cand);
}

bool balance_cand_find(struct balance_cand *z, ftr_sw s)
{
	uint32_t n;

	if (z->first[s] != BALANCE_NONE)
		return true;
	while (z->cap - z->n_groups < FTR_PORT_MAX + 1)
		if (!FTR_GROW(z->group, z->cap, z->cap))
			return false;
	n = candidates(z, s, z->group + z->n_groups);
	if (n == 1 && z->group[z->n_groups]->n == 1)
		n = 0;
	z->first[s] = z->n_groups;
	z->n[s] = (uint8_t)n;
	z->n_groups += n;
	return true;
}
