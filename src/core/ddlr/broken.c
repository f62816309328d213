// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the broken entries, and repairs them in a suitable order.
 *
 * An entry is broken if it leads onto a dead link. The search reads the LFTs of the live
 * switches at the ends of dead links. If host_paths_only is set, only the entries that packets from
 * hosts to a host port use stay in the list. In a large tree, most entries leave the list: a switch
 * has an entry for every LID, but packets from hosts pass a middle switch for few LIDs.
 *
 * The entries are sorted by four keys: whether packets from hosts to hosts need the entry, the
 * class of the LID (enum ftr_class), the LID, and the rank of the switch. So the entries for one
 * LID are repaired together, those of low switches first. Entries of low switches often need only
 * another upward port. Detours of higher switches may then use these repaired entries. If no detour
 * is found for a broken entry, the search is repeated after other entries of its LID are repaired.
 */
#include <stdlib.h>
#include <string.h>

#include "ddlr/planner.h"

struct broken {
	ftr_sw sw;
	ftr_lid lid;
	uint8_t late;		/* 0: packets from hosts to a LID of class FTR_CLASS_HOST need the
				 * entry, as far as search_carried() finds out; 1: only other
				 * packets need it */
	uint8_t cls, rank;	/* cls: enum ftr_class of the LID; rank: rank of sw */
};

struct broken_list {
	struct broken *b;
	uint32_t n, cap;
};

static int broken_cmp(const void *x, const void *y)
{
	const struct broken *a = x, *b = y;

	return FTR_ORDER(a->late, b->late) ?: FTR_ORDER(a->cls, b->cls) ?:
	       FTR_ORDER(a->lid, b->lid) ?: FTR_ORDER(a->rank, b->rank) ?:
	       FTR_ORDER(a->sw, b->sw);
}

/* Add to l all entries of s that lead onto the dead link at port p. */
static bool list_port(const struct ftr_ddlr *r, ftr_sw s, ftr_port p, struct broken_list *l)
{
	const uint8_t *row = ftr_tables_row(r->now, s);
	const uint8_t *at = row;

	if (r->dead_sw[s])
		return true;
	while ((at = memchr(at, p, (size_t)(row + r->f->max_lid + 1 - at)))) {
		ftr_lid lid = (ftr_lid)(at++ - row);

		if (r->f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		if (!FTR_GROW(l->b, l->n, l->cap))
			return false;
		l->b[l->n++] = (struct broken){ s, lid, 0, r->of_lid[lid].cls,
						r->sh->tree.rank[s] };
	}
	return true;
}

/* Remove from l the entries for LIDs of switches, and entries that no packets from hosts use. Some
 * unused entries remain, because the dependency graph does not show that they are unused. */
static void remove_unused(const struct ftr_ddlr *r, struct broken_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->b[i].cls != FTR_CLASS_SW &&
		    ftr_cdg_may_pass(r->hosts ? r->hosts : r->g, l->b[i].sw, l->b[i].lid))
			l->b[n++] = l->b[i];
	l->n = n;
}

/* Set `late` of all entries. If host_paths_only is set, also remove all entries that no packets
 * from hosts use. */
static void find_late(struct ftr_ddlr *r, struct broken_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		struct broken *b = &l->b[i];
		bool carried;

		ddlr_begin_lid(r, b->lid);
		carried = search_carried(r, b->sw, CARRIED_DEPTH);
		b->late = b->cls != FTR_CLASS_HOST || !carried;
		if (carried || !r->host_paths_only)
			l->b[n++] = *b;
	}
	l->n = n;
}

static enum ftr_status list_broken(struct ftr_ddlr *r, struct broken_list *l, struct ftr_err *err)
{
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		for (unsigned int p = 1; r->n_down[s] && p <= r->f->sw[s].n_ports; p++)
			if (ftr_cdg_link_is_down(r->g, s, (ftr_port)p) &&
			    !list_port(r, s, (ftr_port)p, l))
				return ftr_nomem(err, "broken entries");
	if (r->host_paths_only)
		remove_unused(r, l);
	find_late(r, l);
	if (l->n)
		qsort(l->b, l->n, sizeof(*l->b), broken_cmp);
	return FTR_OK;
}

static bool is_broken(const struct ftr_ddlr *r, ftr_sw s)
{
	ftr_port p = ddlr_entry(r, s);

	return s != r->exit_sw && ftr_cdg_link_is_down(r->g, s, p);
}

/* From now on ignore packets from switches. */
static void forget_switches(struct ftr_ddlr *r)
{
	ftr_cdg_free(r->g);
	r->g = r->hosts;
	r->hosts = NULL;
	r->now = ftr_cdg_tables(r->g);
}

/* In the following functions l has the broken entries of one LID with the same value of `late`. */

static uint32_t count_left(const struct ftr_ddlr *r, const struct broken_list *l)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < l->n; i++)
		left += is_broken(r, l->b[i].sw);
	return left;
}

/* Repair the entries of l by detours, until no further detour is found. */
static enum ftr_status repair_some(struct ftr_ddlr *r, const struct broken_list *l,
				 bool clean_only, struct ftr_err *err)
{
	bool again, repaired;

	do {
		again = false;
		for (uint32_t i = 0; i < l->n; i++) {
			enum ftr_status st;

			if (!is_broken(r, l->b[i].sw))
				continue;
			st = search_repair(r, l->b[i].sw, clean_only, &repaired, err);
			if (st)
				return st;
			again |= repaired;
		}
	} while (again);
	return FTR_OK;
}

/* Repair the entries of l by detours. If entries are still broken, use the tables of sftree. */
static enum ftr_status repair_all(struct ftr_ddlr *r, const struct broken_list *l,
				  struct ftr_err *err)
{
	enum ftr_status st = repair_some(r, l, false, err);
	bool repaired;

	if (!st && count_left(r, l))
		st = transition_inverted(r, &repaired, err);
	return st;
}

/*
 * Repair entries that packets from hosts to a host use. A plane is clean if no local repair leads
 * away from it. Suppose that all extra turns (from down to up) of these packets lead into clean
 * planes. Then on k-ary trees there is a clean plane for each of the first k-1 faults (k: struct
 * ftr_guarantee).
 *
 * A detour over clean planes may be refused because it would close a cycle. If an entry stays
 * broken for this reason, the search for cycles ignores packets from switches from then on. It
 * would be worse to lead packets from hosts into a plane that is not clean. Packets from switches
 * are also ignored if entries stay broken after all other attempts.
 */
static enum ftr_status repair_hosts(struct ftr_ddlr *r, const struct broken_list *l,
				    struct ftr_err *err)
{
	enum ftr_status st;

	r->clean_refused = false;
	st = repair_some(r, l, true, err);
	if (!st && r->hosts && r->clean_refused && count_left(r, l)) {
		forget_switches(r);
		st = repair_some(r, l, true, err);
	}
	if (!st && count_left(r, l))
		st = repair_all(r, l, err);
	if (!st && r->hosts && count_left(r, l)) {
		forget_switches(r);
		st = repair_all(r, l, err);
	}
	return st;
}

static enum ftr_status repair_lid(struct ftr_ddlr *r, const struct broken_list *l,
				  struct ftr_err *err)
{
	enum ftr_status st;

	if (r->exit_sw == FTR_SW_NONE)
		return FTR_OK;
	st = l->b->late ? repair_some(r, l, false, err) : repair_hosts(r, l, err);
	r->plan->unrepaired += count_left(r, l);
	return st;
}

enum ftr_status repair_broken(struct ftr_ddlr *r, struct ftr_err *err)
{
	struct broken_list l = { NULL, 0, 0 };
	enum ftr_status st = list_broken(r, &l, err);
	uint32_t end;

	for (uint32_t i = 0; i < l.n; i = end) {
		struct broken_list same = { .b = l.b + i };

		if (st)
			break;
		end = i + 1;
		while (end < l.n && l.b[end].lid == l.b[i].lid && l.b[end].late == l.b[i].late)
			end++;
		ddlr_begin_lid(r, l.b[i].lid);
		same.n = end - i;
		st = repair_lid(r, &same, err);
	}
	transition_inverted_fini(r);
	free(l.b);
	return st;
}
