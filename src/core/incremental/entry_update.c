// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Update of entries.
 *
 * The entries of all pairs (switch, column) on the work list are computed again, by the functions
 * that also compute whole tables.  A column is a destination switch.  Entries that differ from the
 * tables are stored in lv->change.
 *
 * Threads process different switches.  A switch has at most one change for each LID of its listed
 * columns, so the greatest possible number of its changes is known in advance.  Each switch
 * has a section of this size in one array, and threads need no lock.  The gaps between the sections
 * are then removed.  To bound the memory, switches are processed in batches of about BATCH entries.
 */
#include <string.h>

#include "incremental/incremental.h"

#define BATCH (1u << 19)

struct scratch {
	struct port_choice place;
	uint8_t *after;		/* after[lid]: new entry */
	uint64_t *bit;		/* bit lid: the entry changes; all bits are 0 between uses */
};

struct section {
	ftr_sw sw;
	uint32_t first, n;	/* changes of sw: routing.change[first .. first + n - 1] */
};

struct routing {
	struct ftr_incr *lv;
	struct scratch *scratch;
	struct section *section;
	uint32_t n_sections;
	uint32_t first;		/* first section of the current batch */
	struct ftr_change *change;	/* changes of the current batch */
};

#define for_each_column(lv, s, l)					\
	for (uint32_t w_ = 0; w_ < (lv)->words; w_++)			\
		for (uint64_t b_ = (lv)->work[JOB_ENTRY]		\
			     .bit[(size_t)(s) * (lv)->words + w_], l;	\
		     b_ && (l = w_ * 64 + (uint32_t)__builtin_ctzll(b_), 1); \
		     b_ &= b_ - 1)

/* Sort the n changes of a switch by LID. */
static void sort_changes(const struct routing *r, struct scratch *b,
			 struct ftr_change *c, uint32_t n)
{
	const uint8_t *row;
	ftr_sw s;

	if (n < 2)
		return;
	s = c->sw;
	row = ftr_tables_row(r->lv->t, s);
	for (uint32_t i = 0; i < n; i++) {
		b->bit[c[i].lid / 64] |= (uint64_t)1 << c[i].lid % 64;
		b->after[c[i].lid] = c[i].after;
	}
	for (uint32_t w = 0; w <= r->lv->t->max_lid / 64u; w++) {
		for (uint64_t x = b->bit[w]; x; x &= x - 1) {
			ftr_lid lid = (ftr_lid)(w * 64 + (uint32_t)
						__builtin_ctzll(x));

			*c++ = (struct ftr_change){
				.sw = s, .lid = lid, .before = row[lid], .after = b->after[lid],
			};
		}
		b->bit[w] = 0;
	}
}

/* Returns the preferred port of an entry if it is in `valid`, otherwise the present port if it is
 * in `valid`.  FTR_PORT_NONE: neither is, and the entry is displaced. */
static ftr_port kept(const struct ftr_incr *lv, ftr_sw s, ftr_lid lid,
		     const struct ftr_port_set *valid)
{
	ftr_port prefer = ftr_tables_row(lv->prefer, s)[lid];
	ftr_port now = ftr_tables_row(lv->t, s)[lid];

	return ftr_port_set_has(valid, prefer) ? prefer :
		ftr_port_set_has(valid, now) ? now : FTR_PORT_NONE;
}

/* Compute the entries of switch s for column l, and store the changed ones in out[].  Returns their
 * number. */
static uint32_t route_column(const struct routing *r, struct scratch *b,
			     ftr_sw s, uint32_t l, struct ftr_change *out)
{
	const struct ftr_shape *v = &r->lv->view;
	const uint8_t *row = ftr_tables_row(r->lv->t, s);
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	const struct connect *plan = incr_plan(r->lv);
	const struct connect_entry *e = connect_find(plan, s, l);
	uint32_t n_cand = e ? connect_candidates(v, plan, e, cand) :
		ftr_shape_candidates(v, s, l, cand);
	bool keep = r->lv->prefer;
	bool by_load = keep && !e && n_cand && r->lv->displaced;
	struct ftr_port_set valid;
	uint32_t n = 0;

	place_column(&b->place, l, cand, n_cand);
	if (keep)
		ftr_shape_ports(v, cand, n_cand, &valid);
	for (uint32_t i = v->numbering.dest_first[l]; i < v->numbering.dest_first[l + 1]; i++) {
		const struct ftr_dest *t = &v->numbering.dest[i];
		ftr_port port = keep ? kept(r->lv, s, t->lid, &valid) :
			FTR_PORT_NONE;

		if (port == FTR_PORT_NONE)
			port = by_load && displaced_counts(r->lv->displaced, t->lid) ?
				DISPLACED_PLACE : place_port(&b->place, t);
		if (port != row[t->lid])
			out[n++] = (struct ftr_change){
				.sw = s, .lid = t->lid, .before = row[t->lid], .after = port,
			};
	}
	return n;
}

static void route_switch(const struct routing *r, struct scratch *b,
			 struct section *t)
{
	const struct ftr_incr *lv = r->lv;
	struct ftr_change *out = r->change + t->first;

	place_switch(&b->place, &lv->view, t->sw);
	t->n = 0;
	for_each_column(lv, t->sw, l)
		if (l != lv->view.numbering.col[t->sw])
			t->n += route_column(r, b, t->sw, (uint32_t)l,
					     out + t->n);
	sort_changes(r, b, out, t->n);
}

static void route_some(void *ctx, unsigned int worker, uint32_t begin,
		       uint32_t end)
{
	struct routing *r = ctx;

	for (uint32_t i = begin; i < end; i++)
		route_switch(r, &r->scratch[worker], &r->section[r->first + i]);
}

static bool make_room(struct ftr_incr *lv, uint64_t n)
{
	struct ftr_change *p;

	if (n <= lv->cap_change)
		return true;
	n += n / 4;
	p = n > UINT32_MAX ? NULL :
		ftr_reallocarray(lv->change, n, sizeof(*p));
	if (!p)
		return false;
	lv->change = p;
	lv->cap_change = (uint32_t)n;
	return true;
}

/* Returns the number of switches in the batch that begins with section r->first.  *bound: the
 * number of entries that may change in this batch. */
static uint32_t cut_batch(const struct routing *r, uint32_t *bound)
{
	const struct ftr_incr *lv = r->lv;
	const uint32_t *first = lv->view.numbering.dest_first;
	uint32_t n = 0;

	*bound = 0;
	while (r->first + n < r->n_sections && *bound < BATCH) {
		struct section *t = &r->section[r->first + n++];

		t->first = *bound;
		for_each_column(lv, t->sw, l)
			*bound += first[l + 1] - first[l];
	}
	return n;
}

static bool route_batches(struct routing *r, struct ftr_team *team)
{
	struct ftr_incr *lv = r->lv;
	uint32_t *n_changes = &lv->result.n_changes, n;

	for (; r->first < r->n_sections; r->first += n) {
		uint32_t bound;

		n = cut_batch(r, &bound);
		if (!make_room(lv, (uint64_t)*n_changes + bound))
			return false;
		r->change = lv->change + *n_changes;
		/* Small batches are processed by this thread alone. */
		ftr_team_run(bound < 4096 ? NULL : team, n,
			     FTR_MAX(n / 64, 1u), route_some, r);
		for (uint32_t i = 0; i < n; i++) {
			const struct section *t = &r->section[r->first + i];

			memmove(lv->change + *n_changes, r->change + t->first,
				t->n * sizeof(*lv->change));
			*n_changes += t->n;
			lv->result.n_switches += t->n != 0;
		}
	}
	return true;
}

enum ftr_status incr_entries(struct ftr_incr *lv, struct ftr_team *team,
			     struct ftr_err *err)
{
	uint32_t n_sw = lv->view.f->n_sw, lids = lv->t->max_lid + 1u;
	struct routing r = { .lv = lv };
	unsigned int size = ftr_team_size(team);

	if (!FTR_NEW(lv->last, r.scratch, size) ||
	    !FTR_NEW(lv->last, r.section, n_sw))
		return incr_nomem(lv, err);
	for (unsigned int i = 0; i < size; i++) {
		struct scratch *b = &r.scratch[i];

		if (!FTR_NEW(lv->last, b->after, lids) ||
		    !FTR_ZNEW(lv->last, b->bit, lids / 64 + 1))
			return incr_nomem(lv, err);
	}
	for (ftr_sw s = 0; s < n_sw; s++)
		if (lv->work[JOB_ENTRY].listed[s])
			r.section[r.n_sections++].sw = s;
	return route_batches(&r, team) ? FTR_OK : incr_nomem(lv, err);
}
