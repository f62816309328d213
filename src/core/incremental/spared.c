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
 */
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"

void ftr_incr_spare(struct ftr_incr *lv, bool spare)
{
	lv->spare = spare;
}

void incr_spare_list(struct ftr_incr *lv)
{
	for (uint32_t i = 0; i < lv->n_spared[0]; i++)
		incr_touch(lv, JOB_ENTRY, lv->spared[0][i].sw, lv->col_of[lv->spared[0][i].lid]);
}

/* True if the path of change i, which has no candidate, still works.  lv->at must be set for its
 * LID. */
static bool works(const struct ftr_incr *lv, uint32_t i)
{
	const struct ftr_fabric *f = lv->view.f;
	ftr_lid lid = lv->change[i].lid;
	ftr_sw s = lv->change[i].sw;

	for (uint32_t hops = 0; hops < f->n_sw; hops++) {
		uint32_t k = lv->at[s], link;
		ftr_port p = k == NONE ? ftr_tables_get(lv->t, s, lid) : lv->change[k].before;

		if (k != NONE && lv->change[k].after != FTR_PORT_NONE)
			return true;
		link = incr_link(lv, s, p);
		if (link == NONE)
			return !p || (p <= f->sw[s].n_ports &&
				      ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_EP);
		if (!lv->alive[link])
			return false;
		s = incr_remote(lv, link);
	}
	return false;
}

/* Set mark[i] to 1 for the spared ones of the n changes of a LID. */
static uint32_t mark_lid(struct ftr_incr *lv, const uint32_t *list, uint32_t n, uint8_t *mark)
{
	uint32_t marked = 0;

	for (uint32_t i = 0; i < n; i++)
		lv->at[lv->change[list[i]].sw] = list[i];
	for (uint32_t i = 0; i < n; i++) {
		mark[list[i]] = lv->change[list[i]].after == FTR_PORT_NONE && works(lv, list[i]);
		marked += mark[list[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		lv->at[lv->change[list[i]].sw] = NONE;
	return marked;
}

static int by_switch_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	return FTR_ORDER(a->sw, b->sw) ?: FTR_ORDER(a->lid, b->lid);
}

/* Move the marked changes from lv->change to out[]. */
static void take_out(struct ftr_incr *lv, const uint8_t *mark, struct ftr_change *out)
{
	struct ftr_incr_result *r = &lv->result;
	uint32_t kept = 0;

	r->n_switches = 0;
	for (uint32_t i = 0; i < r->n_changes; i++) {
		if (mark[i]) {
			*out++ = lv->change[i];
			continue;
		}
		r->n_switches += !kept || lv->change[kept - 1].sw != lv->change[i].sw;
		lv->change[kept++] = lv->change[i];
	}
	r->n_changes = kept;
}

/* True if the entries of s for all LIDs of column l are in spared[k]. */
static bool spares_column(const struct ftr_incr *lv, unsigned int k, ftr_sw s, uint32_t l)
{
	const uint32_t *first = lv->view.numbering.dest_first;

	if (!lv->n_spared[k])
		return false;
	for (uint32_t i = first[l]; i < first[l + 1]; i++) {
		const struct ftr_change key = { .sw = s, .lid = lv->view.numbering.dest[i].lid };

		if (!bsearch(&key, lv->spared[k], lv->n_spared[k], sizeof(key), by_switch_and_lid))
			return false;
	}
	return true;
}

/* Correct the numbers of pairs of leaf switches.  So far each pair without an allowed path counts as
 * lost, even if spared entries connect it. */
static void count_pairs(struct ftr_incr *lv, unsigned int k)
{
	const struct ftr_dest *dest = lv->view.numbering.dest;

	for (uint32_t i = 0; i < lv->n_spared[k]; i++) {
		ftr_sw s = lv->spared[k][i].sw;
		uint32_t l = lv->col_of[lv->spared[k][i].lid];

		if (lv->spared[k][i].lid != dest[lv->view.numbering.dest_first[l]].lid ||
		    !incr_are_leaves(lv, s, l) || !spares_column(lv, k, s, l) ||
		    spares_column(lv, !k, s, l))
			continue;
		lv->pairs.spared += k ? -1 : 1;
		if (!k)
			lv->result.lost_pairs--;
		else if (incr_cost(lv, s)[l] != FTR_COST_INF || connect_find(incr_plan(lv), s, l))
			lv->result.regained_pairs--;
		else
			lv->result.lost_pairs++;
	}
}

enum ftr_status incr_spare(struct ftr_incr *lv, struct ftr_err *err)
{
	struct ftr_change *out;
	uint32_t n = 0;
	uint8_t *mark;

	if (!lv->spare && !lv->n_spared[0])
		return FTR_OK;
	if (!FTR_ZNEW(lv->last, mark, lv->result.n_changes + 1u))
		return incr_nomem(lv, err);
	for (uint32_t lid = 0; lv->spare && lid <= lv->t->max_lid; lid++)
		n += mark_lid(lv, lv->by_lid + lv->lid_first[lid],
			      lv->lid_first[lid + 1] - lv->lid_first[lid], mark);
	out = n ? ftr_calloc(n, sizeof(*out)) : NULL;
	if (n && !out)
		return incr_nomem(lv, err);
	if (n)
		take_out(lv, mark, out);
	free(lv->spared[1]);
	lv->spared[1] = lv->spared[0];
	lv->n_spared[1] = lv->n_spared[0];
	lv->spared[0] = out;
	lv->n_spared[0] = lv->result.n_spared = n;
	lv->respared = true;
	count_pairs(lv, 0);
	count_pairs(lv, 1);
	return n ? incr_sort(lv, err) : FTR_OK;
}

void incr_spare_back(struct ftr_incr *lv)
{
	if (!lv->respared)
		return;
	lv->respared = false;
	free(lv->spared[0]);
	lv->spared[0] = lv->spared[1];
	lv->n_spared[0] = lv->n_spared[1];
	lv->spared[1] = NULL;
	lv->n_spared[1] = 0;
}
