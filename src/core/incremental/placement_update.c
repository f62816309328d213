// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The choice of ports for displaced entries in ftr_incr_apply().
 *
 * A displaced entry can keep neither its port in the preferred tables nor its current port.  It
 * gets a port on a link with little load (balance/displaced.h).  LIDs are processed one by one.
 * (Entries that use extra turns get their ports by a formula, in entry_update.c.)
 *
 * balance/displaced.c counts the flows on each link.  Each change of an entry updates the counters.
 * The counters depend only on the tables.  So on failure and on undo, changing the entries back
 * also restores the counters.
 */
#include <string.h>

#include "incremental/incremental.h"

enum ftr_status incr_place_new(struct ftr_incr *lv, struct ftr_err *err)
{
	const struct ftr_shape *v = &lv->view;
	enum ftr_status st;

	if (!FTR_ZNEW(lv->arena, lv->col_of, v->f->max_lid + 1u) ||
	    !FTR_ZNEW(lv->arena, lv->refused, v->f->max_lid + 1u) ||
	    !FTR_NEW(lv->arena, lv->entry, v->f->n_sw) ||
	    !FTR_NEW(lv->arena, lv->change_at, v->f->n_sw))
		return incr_nomem(err);
	memset(lv->change_at, 0xff, v->f->n_sw * sizeof(*lv->change_at));
	for (uint32_t i = 0; i < v->numbering.n_dest; i++)
		lv->col_of[v->numbering.dest[i].lid] = v->numbering.dest[i].col;
	if (!lv->prefer)
		return FTR_OK;
	st = displaced_new(v, lv->t, lv->prefer, &lv->displaced, err);
	if (st)
		return st;
	for (uint32_t e = 0; e < lv->links.n_ends; e++)
		displaced_link(lv->displaced, incr_near(&lv->links, e), lv->links.port[e],
			       incr_remote(&lv->links, e));
	return FTR_OK;
}

/* Enter the changes of lid into the tables, update the counters, and store the ports of displaced
 * entries in lv->change.  If `back` is true, revert tables and counters instead. */
static void place_lid(struct ftr_incr *lv, ftr_lid lid, bool back)
{
	const uint32_t *list = lv->by_lid + lv->lid_first[lid];
	uint32_t n = lv->lid_first[lid + 1] - lv->lid_first[lid];

	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_change *c = &lv->change[list[i]];

		lv->change_at[c->sw] = list[i];
		lv->entry[i] = (struct ftr_change){
			.sw = c->sw, .after = back ? c->before : c->after
		};
	}
	displaced_change(lv->displaced, lv->col_of[lid], lid, lv->entry, n);
	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = lv->entry[i].sw;

		if (!back)
			lv->change[lv->change_at[s]].after = lv->entry[i].after;
		lv->change_at[s] = NONE;
	}
}

enum ftr_status incr_sort(struct ftr_incr *lv, struct ftr_err *err)
{
	uint32_t n = lv->result.n_changes;
	uint32_t *first;

	if (!FTR_NEW(lv->last, lv->by_lid, n) ||
	    !FTR_ZNEW(lv->last, lv->lid_first, lv->t->max_lid + 2u))
		return incr_nomem(err);
	first = lv->lid_first + 1;	/* later first[lid] is the end of the changes of lid */
	for (uint32_t i = 0; i < n; i++)
		first[lv->change[i].lid]++;
	for (uint32_t lid = 0, sum = 0; lid <= lv->t->max_lid; lid++) {
		uint32_t k = first[lid];

		first[lid] = sum;
		sum += k;
	}
	for (uint32_t i = 0; i < n; i++)
		lv->by_lid[first[lv->change[i].lid]++] = i;
	return FTR_OK;
}

bool incr_needs_ports(const struct ftr_incr *lv)
{
	for (uint32_t i = 0; i < lv->result.n_changes; i++)
		if (lv->change[i].after == DISPLACED_PLACE)
			return true;
	return false;
}

void incr_place(struct ftr_incr *lv, bool back)
{
	const uint32_t *first = lv->lid_first;

	displaced_begin(lv->displaced, &lv->view, incr_plan(lv)->n_turns > 0);
	for (uint32_t lid = 0; lid <= lv->t->max_lid; lid++)
		if (first[lid] < first[lid + 1])
			place_lid(lv, (ftr_lid)lid, back);
}
