// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Spared entries: entries without a candidate whose path still works (ftr_incr_spare()).
 *
 * A fault can take the permission from a path that it does not break: an extra turn goes, or the
 * order of the switches, which only a routing changes, no longer offers a way.  To clear the
 * entries of such a path would cut a pair of hosts that the fault has not cut, until the next
 * sweep.
 *
 * The path from a changed entry without a candidate is followed over old entries, until it reaches
 * a new entry, whose path is one of the new tables, or the LID.  As the entries on this path are
 * followed alike, they are spared together.
 *
 * If the new entries for a LID are refused because they could close a credit loop, all its entries are spared
 * whose old paths work, also those that have a candidate.
 */
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"

void ftr_incr_spare(struct ftr_incr *lv, bool spare)
{
	lv->spare = spare;
	memset(lv->refused, 0, lv->t->max_lid + 1u);
}

void ftr_incr_refuse(struct ftr_incr *lv, ftr_lid lid)
{
	lv->refused[lid] = 1;
}

void incr_spare_list(struct ftr_incr *lv)
{
	const struct ftr_change *c = lv->spared[lv->now.spared];

	for (uint32_t i = 0; i < lv->n_spared[lv->now.spared]; i++)
		incr_touch(&lv->lists, JOB_ENTRY, c[i].sw, lv->col_of[c[i].lid]);
}

/* True if the path of change i works over old entries, or, unless its LID is refused, until it reaches a
 * new entry.  change_at must be set for its LID. */
static bool works(const struct ftr_incr *lv, uint32_t i)
{
	const struct ftr_change *change = lv->change;
	const struct ftr_fabric *f = lv->view.f;
	ftr_lid lid = change[i].lid;
	ftr_sw s = change[i].sw;

	for (uint32_t hops = 0; hops < f->n_sw; hops++) {
		uint32_t k = lv->change_at[s], link;
		ftr_port p = k == NONE ? ftr_tables_get(lv->t, s, lid) : change[k].before;

		if (k != NONE && change[k].after != FTR_PORT_NONE && !lv->refused[lid])
			return true;
		link = incr_link(&lv->links, s, p);
		if (link == NONE)
			return !p || (p <= f->sw[s].n_ports &&
				      ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_EP);
		if (!lv->links.alive[link])
			return false;
		s = incr_remote(&lv->links, link);
	}
	return false;
}

/* Set mark[i] to 1 for the spared ones of the changes of a LID.  Returns their number. */
static uint32_t mark_lid(const struct ftr_incr *lv, ftr_lid lid, uint8_t *mark)
{
	const uint32_t *list = lv->by_lid + lv->lid_first[lid];
	uint32_t n = lv->lid_first[lid + 1] - lv->lid_first[lid], marked = 0;

	for (uint32_t i = 0; i < n; i++)
		lv->change_at[lv->change[list[i]].sw] = list[i];
	for (uint32_t i = 0; i < n; i++) {
		mark[list[i]] = (lv->refused[lid] || lv->change[list[i]].after == FTR_PORT_NONE) &&
			works(lv, list[i]);
		marked += mark[list[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		lv->change_at[lv->change[list[i]].sw] = NONE;
	return marked;
}

static int by_switch_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->sw, b->sw) ?: FTR_ORDER(a->lid, b->lid);
}

/* Move the marked changes from change[] to out[]. */
static void take_out(struct ftr_incr_result *r, struct ftr_change *change, const uint8_t *mark,
		     struct ftr_change *out)
{
	uint32_t kept = 0;

	r->n_switches = 0;
	for (uint32_t i = 0; i < r->n_changes; i++) {
		if (mark[i]) {
			*out++ = change[i];
			continue;
		}
		r->n_switches += !kept || change[kept - 1].sw != change[i].sw;
		change[kept++] = change[i];
	}
	r->n_changes = kept;
}

enum ftr_status incr_spare(struct ftr_incr *lv, struct ftr_err *err)
{
	unsigned int k = !lv->now.spared;
	uint32_t n = 0;
	uint8_t *mark;

	if (!lv->spare && !lv->n_spared[lv->now.spared])
		return FTR_OK;
	lv->now.spared = k;
	free(lv->spared[k]);
	lv->spared[k] = NULL;
	lv->n_spared[k] = 0;
	if (!FTR_ZNEW(lv->last, mark, lv->result.n_changes + 1u))
		return incr_nomem(err);
	for (uint32_t lid = 0; lv->spare && lid <= lv->t->max_lid; lid++)
		n += mark_lid(lv, (ftr_lid)lid, mark);
	if (!n)
		return FTR_OK;
	lv->spared[k] = ftr_calloc(n, sizeof(*lv->spared[k]));
	if (!lv->spared[k])
		return incr_nomem(err);
	lv->n_spared[k] = lv->result.n_spared = n;
	take_out(&lv->result, lv->change, mark, lv->spared[k]);
	return incr_sort(lv, err);
}

/* ---- pairs of leaf switches ---------------------------------------------- */

/* True if the entries of s for all LIDs of column l are in spared[k]. */
static bool spares_column(const struct ftr_incr *lv, unsigned int k, ftr_sw s, uint32_t l)
{
	const uint32_t *first = lv->view.numbering.dest_first;

	for (uint32_t i = first[l]; i < first[l + 1]; i++) {
		const struct ftr_change key = { .sw = s, .lid = lv->view.numbering.dest[i].lid };

		if (!lv->n_spared[k] || !bsearch(&key, lv->spared[k], lv->n_spared[k], sizeof(key),
						   by_switch_and_lid))
			return false;
	}
	return first[l] < first[l + 1];
}

static bool has_path(const struct ftr_incr *lv, const struct incr_state *x, ftr_sw s, uint32_t l,
		     uint8_t cost)
{
	return cost != FTR_COST_INF || connect_find(&lv->plan[x->plan], s, l) ||
		spares_column(lv, x->spared, s, l);
}

/* Count the pair (s, l), unless it was counted.  cost: its cost before the apply. */
static void count_pair(struct ftr_incr *lv, ftr_sw s, uint32_t l, uint8_t cost)
{
	const uint32_t n_leaf = lv->view.tree.n_leaf;
	bool had, has;

	if (l >= n_leaf || lv->view.numbering.col[s] >= n_leaf ||
	    !incr_touch(&lv->lists, JOB_COST, s, l))
		return;
	had = has_path(lv, &lv->before, s, l, cost);
	has = has_path(lv, &lv->now, s, l, incr_cost(&lv->costs, s)[l]);
	lv->result.lost_pairs += had && !has;
	lv->result.regained_pairs += has && !had;
}

/* A pair can have lost or regained its path only if its cost has changed, or if a plan or spared
 * entries connect it, or did.  The work list of costs, which is empty now, has the pairs that were
 * counted. */
void incr_count_pairs(struct ftr_incr *lv)
{
	const struct incr_state *state[2] = { &lv->before, &lv->now };
	const struct incr_costs *c = &lv->costs;

	for (uint32_t i = 0; i < c->n_log; i++) {
		const struct incr_log *x = &c->log[i];

		if (x->job == JOB_COST &&
		    (x->before == FTR_COST_INF) != (incr_cost(c, x->sw)[x->col] == FTR_COST_INF))
			count_pair(lv, x->sw, x->col, x->before);
	}
	for (int k = 0; k < 2; k++) {
		const struct connect *p = &lv->plan[state[k]->plan];
		const struct ftr_change *z = lv->spared[state[k]->spared];

		for (uint32_t i = 0; i < p->n_entries; i++)
			count_pair(lv, p->entry[i].sw, p->entry[i].col,
				   incr_cost(c, p->entry[i].sw)[p->entry[i].col]);
		for (uint32_t i = 0; i < lv->n_spared[state[k]->spared]; i++) {
			ftr_sw s = z[i].sw;
			uint32_t l = lv->col_of[z[i].lid];

			count_pair(lv, s, l, incr_cost(c, s)[l]);
		}
	}
}
