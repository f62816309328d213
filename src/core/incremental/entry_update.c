// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Update of entries.
 *
 * The entries of all pairs (switch, column) on the work list are computed again, by the functions
 * that also compute whole tables.  A column is a destination switch.  Entries that differ from the
 * tables are stored in lv->change.  (engine/keep.c says why a whole routing has another loop.)
 *
 * One thread computes them.  A trap brings a few events at a time, so there is little work to
 * divide.
 */
#include <string.h>

#include "incremental/incremental.h"

#define for_each_column(lv, s, l)					\
	for (uint32_t w_ = 0; w_ < (lv)->lists.words; w_++)		\
		for (uint64_t b_ = (lv)->lists.work[JOB_ENTRY]		\
			     .bit[(size_t)(s) * (lv)->lists.words + w_], l; \
		     b_ && (l = w_ * 64 + (uint32_t)__builtin_ctzll(b_), 1); \
		     b_ &= b_ - 1)

/* Sort the n changes of a switch by LID.  Scratch: after[lid] is the new entry; bit lid of bit[]: the
 * entry changes; all bits are 0 between uses. */
static void sort_changes(const struct ftr_incr *lv, uint8_t *after, uint64_t *bit,
			 struct ftr_change *c, uint32_t n)
{
	const uint8_t *row;
	ftr_sw s;

	if (n < 2)
		return;
	s = c->sw;
	row = ftr_tables_row(lv->t, s);
	for (uint32_t i = 0; i < n; i++) {
		bit[c[i].lid / 64] |= (uint64_t)1 << c[i].lid % 64;
		after[c[i].lid] = c[i].after;
	}
	for (uint32_t w = 0; w <= lv->t->max_lid / 64u; w++) {
		for (uint64_t x = bit[w]; x; x &= x - 1) {
			ftr_lid lid = (ftr_lid)(w * 64 + (uint32_t)
						__builtin_ctzll(x));

			*c++ = (struct ftr_change){
				.sw = s, .lid = lid, .before = row[lid], .after = after[lid],
			};
		}
		bit[w] = 0;
	}
}

/* Compute the entries of switch s for column l, and store the changed ones in out[].  Returns their
 * number. */
static uint32_t route_column(const struct ftr_incr *lv, struct port_choice *place,
			     ftr_sw s, uint32_t l, struct ftr_change *out)
{
	const struct ftr_shape *v = &lv->view;
	const uint8_t *row = ftr_tables_row(lv->t, s);
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	bool keep = lv->prefer, by_turn, by_load;
	uint32_t n_cand = connect_allowed(v, incr_plan(lv), s, l, cand, &by_turn), n = 0;
	uint64_t allowed[FTR_PORT_SET];

	by_load = keep && !by_turn && n_cand;
	place_column(place, cand, n_cand);
	if (keep)
		ftr_shape_ports(v, cand, n_cand, allowed);
	for (uint32_t i = v->numbering.dest_first[l]; i < v->numbering.dest_first[l + 1]; i++) {
		const struct ftr_dest *t = &v->numbering.dest[i];
		ftr_port port = keep ? connect_kept(allowed, ftr_tables_row(lv->prefer, s)[t->lid],
						    row[t->lid]) : FTR_PORT_NONE;

		if (port == FTR_PORT_NONE)
			port = by_load && displaced_counts(lv->displaced, t->lid) ?
				DISPLACED_PLACE : place_port(place, t);
		if (port != row[t->lid])
			out[n++] = (struct ftr_change){
				.sw = s, .lid = t->lid, .before = row[t->lid], .after = port,
			};
	}
	return n;
}

static bool make_room(struct ftr_incr *lv, uint64_t n)
{
	struct ftr_change *p;

	if (n <= lv->cap_changes)
		return true;
	n += n / 4;	/* < 2^32, because there are fewer than 49,152 LIDs and switches */
	p = ftr_reallocarray(lv->change, n, sizeof(*p));
	if (!p)
		return false;
	lv->change = p;
	lv->cap_changes = (uint32_t)n;
	return true;
}

/* Compute the listed entries of s.  after, bit: scratch of sort_changes(). */
static bool route_switch(struct ftr_incr *lv, ftr_sw s, uint8_t *after, uint64_t *bit)
{
	struct port_choice place;
	const uint32_t *first = lv->view.numbering.dest_first;
	uint64_t bound = lv->result.n_changes;
	struct ftr_change *out;
	uint32_t n = 0;

	for_each_column(lv, s, l)
		bound += first[l + 1] - first[l];
	if (!make_room(lv, bound))
		return false;
	out = lv->change + lv->result.n_changes;
	place_switch(&place, &lv->view, s);
	for_each_column(lv, s, l)
		if (l != lv->view.numbering.col[s])
			n += route_column(lv, &place, s, (uint32_t)l, out + n);
	sort_changes(lv, after, bit, out, n);
	lv->result.n_changes += n;
	lv->result.n_switches += n != 0;
	return true;
}

enum ftr_status incr_entries(struct ftr_incr *lv, struct ftr_err *err)
{
	const uint32_t lids = lv->t->max_lid + 1u;
	uint64_t *bit;
	uint8_t *after;

	if (!FTR_NEW(lv->last, after, lids) || !FTR_ZNEW(lv->last, bit, lids / 64 + 1))
		return incr_nomem(err);
	for (ftr_sw s = 0; s < lv->view.f->n_sw; s++)
		if (lv->lists.work[JOB_ENTRY].listed[s] && !route_switch(lv, s, after, bit))
			return incr_nomem(err);
	return FTR_OK;
}
