// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs the last steps of a routing, after all entries have been computed by the closed form (a
 * formula, closed_form.c).
 *
 * Step 1 keeps entries of earlier tables.  If tables were computed from the present fabric only, a
 * fault would discard the result of an earlier search for balance, and a second fault would change
 * entries without need.  So an entry gets
 *
 *	1. its port in the preferred tables (the tables of the complete fabric);
 *	2. or else its port in the current tables (the tables that the switches hold).
 *
 * A port is kept only if it is a candidate in the present fabric, by equation (1) in closed_form.c
 * or by the plan of extra turns (connect.h).  So one more fault changes only the entries that lost
 * their port.  When a link is restored, its entries return to it.  If the fabric is complete, its
 * tables are the preferred tables.  For mixtures of old and new tables see invariant 3 in
 * docs/design.md.
 *
 * src/core/incremental/entry_update.c has a loop of its own, by the same rule (connect_kept()).  It
 * computes each entry by itself, 37,000 entries in 17 ms at 11,664 hosts.  So for the 21.5 million
 * entries of a whole routing it would take seconds; the closed form takes 20 ms.  And this file
 * works on finished rows, but after a fault most rows do not change.
 *
 * Step 2 chooses a port for each entry that could not be kept, by the load of the links
 * (balance/displaced.h).  But the following entries keep their computed port:
 *
 *	- entries for extra turns
 *	- entries without a preferred port (entries of new switches, and entries for new hosts)
 *
 * Step 3 is the search for balance (<ftr/balance.h>).  It may change the entries that were not kept
 * in step 1.  If opts->keep->search_displaced is true, it may change all entries whose port differs
 * from that in the preferred tables.  If search_all is true, or there are no preferred tables, it
 * may change all entries.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "engine/connect.h"
#include "engine/engine.h"
#include "engine/place.h"

/* The candidate ports of a switch for column col (a destination switch). */
struct valid {
	uint32_t col;
	uint64_t ports[FTR_PORT_SET];
	bool by_turn;		/* true: the ports are from the plan of extra turns */
};

static void find_valid(const struct engine_run *k, ftr_sw s, uint32_t l, struct valid *v)
{
	const struct ftr_shape *sh = balance_shape(k->in, l);
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	uint32_t n = connect_allowed(sh, k->extra, s, l, cand, &v->by_turn);

	ftr_shape_ports(sh, cand, n, v->ports);
	v->col = l;
}

static void set_bit(const struct engine_run *k, uint64_t *bits, ftr_sw s, ftr_lid lid)
{
	bits[(size_t)s * (k->t->stride / 64) + lid / 64] |= UINT64_C(1) << lid % 64;
}

static void keep_entry(const struct engine_run *k, ftr_sw s, ftr_lid lid,
		       uint8_t *entry, struct valid *v)
{
	ftr_port prefer = ftr_tables_get(k->opts->keep->prefer, s, lid);
	ftr_port now = k->opts->keep->current ?
		ftr_tables_get(k->opts->keep->current, s, lid) : FTR_PORT_NONE, kept;
	uint32_t l;

	if (*entry == FTR_PORT_NONE)
		return;
	l = engine_column(k->in->shape, lid);
	if (v->col != l)
		find_valid(k, s, l, v);
	if (!ftr_port_set_has(v->ports, *entry))	/* lid is that of s or of a host on s */
		return;
	kept = connect_kept(v->ports, prefer, now);
	if (kept != FTR_PORT_NONE)
		*entry = kept;
	if (*entry != prefer && (*entry != now || k->opts->keep->search_displaced))
		set_bit(k, k->movable, s, lid);
	/* An entry without a preferred port (new switch, new host) keeps its computed port. */
	if (prefer != FTR_PORT_NONE && *entry != prefer && *entry != now &&
	    !v->by_turn)
		set_bit(k, k->place, s, lid);
}

static void keep_rows(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct engine_run *k = ctx;

	(void)worker;
	for (ftr_sw s = begin; s < end; s++) {
		uint8_t *row = ftr_tables_row(k->t, s);
		const uint8_t *prefer = ftr_tables_row(k->opts->keep->prefer, s);
		struct valid v = { .col = UINT32_MAX };

		for (uint32_t at = 0; at < k->t->stride; at += FTR_LFT_BLOCK) {
			if (!memcmp(row + at, prefer + at, FTR_LFT_BLOCK))
				continue;
			for (uint32_t i = at; i < at + FTR_LFT_BLOCK; i++) {
				if (row[i] != prefer[i])
					keep_entry(k, s, (ftr_lid)i, &row[i], &v);
				if (row[i] != prefer[i])
					set_bit(k, k->changed, s, (ftr_lid)i);
			}
		}
	}
}

/* Computes the entries of s for column l, as keep_rows() does if there are no current tables and no
 * extra turns.  Entries for hosts are placed by load later, or, if no flows pass them, at once. */
static void keep_column(const struct engine_run *k, struct port_choice *place, ftr_sw s, uint32_t l,
			uint8_t *row)
{
	const struct ftr_shape *sh = k->in->shape;
	const struct ftr_dest *t = sh->numbering.dest + sh->numbering.dest_first[l];
	const struct ftr_dest *end = sh->numbering.dest + sh->numbering.dest_first[l + 1];
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	const struct balance_base *base = k->opts->keep->base->balance;
	uint32_t n = ftr_shape_candidates(sh, s, l, cand);
	uint64_t ports[FTR_PORT_SET];

	ftr_shape_ports(sh, cand, n, ports);
	for (; t < end; t++) {
		ftr_lid lid = t->lid;
		uint8_t prefer = row[lid];
		uint32_t d;

		if (prefer != FTR_PORT_NONE && ftr_port_set_has(ports, prefer))
			continue;
		d = balance_base_dest(base, lid);
		if (!n) {
			row[lid] = FTR_PORT_NONE;
		} else if (prefer != FTR_PORT_NONE && d != BALANCE_NONE) {
			uint32_t begin = lid + sh->numbering.col[s];

			row[lid] = balance_port(sh, cand[begin % n], n, begin, 0);
			if (!balance_base_idle(base, s, d))
				set_bit(k, k->place, s, lid);
		} else {
			place_column(place, cand, n);
			row[lid] = place_port(place, t);
		}
		set_bit(k, k->changed, s, lid);
	}
}

static void keep_marked(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct engine_run *k = ctx;
	const struct ftr_shape *sh = k->in->shape;
	const uint32_t words = (uint32_t)(sh->reach.stride / 64);

	(void)worker;
	for (ftr_sw s = begin; s < end; s++) {
		uint8_t *row = ftr_tables_row(k->t, s);
		struct port_choice place;

		place_switch(&place, sh, s);
		for (uint32_t w = 0; w < words; w++)
			for (uint64_t b = k->mark[(size_t)s * words + w]; b; b &= b - 1) {
				uint32_t l = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (l != sh->numbering.col[s])
					keep_column(k, &place, s, l, row);
			}
	}
}

static bool any(const uint64_t *bits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bits[i])
			return true;
	return false;
}

static uint32_t extra_candidates(const void *ctx, ftr_sw s, uint32_t l,
				 const struct ftr_group **cand)
{
	const struct engine_run *k = ctx;
	const struct ftr_shape *sh = k->in->shape;
	const struct connect_entry *e;

	if (ftr_shape_cost(sh, s)[l] != FTR_COST_INF)	/* most entries: no search in the plan */
		return FTR_BALANCE_BY_COST;
	e = connect_find(k->extra, s, l);
	return e ? connect_candidates(sh, k->extra, e, cand) : FTR_BALANCE_BY_COST;
}

/* Returns true if some entries could not be kept. */
static bool keep_all(struct engine_run *k)
{
	ftr_team_run(k->team, k->t->n_sw, 8, k->mark ? keep_marked : keep_rows, k);
	return any(k->movable, (size_t)k->t->n_sw * (k->t->stride / 64));
}

static enum ftr_status alloc_bits(struct engine_run *k, struct ftr_err *err)
{
	size_t words = (size_t)k->t->n_sw * (k->t->stride / 64);

	k->place = ftr_calloc(words, sizeof(*k->place));
	if (!k->mark) {
		k->changed = ftr_calloc(words, sizeof(*k->changed));
		k->movable = ftr_calloc(words, sizeof(*k->movable));
	} else if (ftr_tables_copy(k->t, k->opts->keep->prefer)) {
		k->changed = k->movable = k->t->differ;
	}
	return k->movable && k->place && k->changed ? FTR_OK : ftr_nomem(err, "keeping entries");
}

static void free_bits(struct engine_run *k)
{
	free(k->place);
	if (k->mark)
		return;
	free(k->movable);
	free(k->changed);
}

enum ftr_status engine_keeps(const struct ftr_shape *sh, const struct ftr_tables *t,
			     struct ftr_team *team, bool *keeps, struct ftr_err *err)
{
	const struct ftr_balance_input in = { .shape = sh };
	const struct ftr_keep keep = { .prefer = t };
	const struct ftr_route_opts opts = { .keep = &keep };
	struct engine_run k = { .opts = &opts, .team = team, .in = &in };
	enum ftr_status st = ftr_tables_new(sh->f, false, &k.t, err);

	if (!st)
		st = alloc_bits(&k, err);
	if (!st)
		st = dmodc_tables(sh, NULL, team, k.t, NULL, err);
	if (!st)
		keep_all(&k);
	*keeps = !st && k.t->stride == t->stride &&
		!memcmp(k.t->lft, t->lft, (size_t)t->n_sw * t->stride);
	ftr_tables_free(k.t);
	free_bits(&k);
	return st;
}

enum ftr_status engine_displaced(const struct ftr_route_opts *opts,
				 const struct ftr_tables *t, uint64_t **out,
				 struct ftr_err *err)
{
	*out = NULL;
	if (opts->keep || !opts->balance)
		return FTR_OK;
	*out = ftr_calloc((size_t)t->n_sw * (t->stride / 64), sizeof(**out));
	return *out ? FTR_OK : ftr_nomem(err, "placing displaced entries");
}

enum ftr_status engine_finish(struct engine_run *run, struct ftr_balance_input *in,
			      struct ftr_err *err)
{
	const struct ftr_keep *keep = run->opts->keep;
	bool kept = keep && keep->prefer, search = true;
	bool all = !kept || keep->search_all;
	size_t words = (size_t)run->t->n_sw * (run->t->stride / 64);
	struct balance_place place = { .bits = run->displaced };
	enum ftr_status st = FTR_OK;

	run->in = in;
	if (run->extra && run->extra->n_entries) {
		in->extra = extra_candidates;
		in->extra_ctx = run;
	}
	if (kept) {
		st = alloc_bits(run, err);
		place = (struct balance_place){
			run->place, keep->prefer, run->changed,
			run->mark ? keep->base->balance : NULL,
		};
		search = !st && keep_all(run);
	}
	in->depth = all || search ? run->opts->balance : FTR_BALANCE_OFF;
	in->cancelled = run->opts->cancelled;
	in->ctx = run->opts->cancel_ctx;
	in->movable = all ? NULL : run->movable;
	if (!st)
		st = balance_run(in, place.bits && any(place.bits, words) ? &place : NULL, run->t,
				 run->team, run->report, err);
	if (all)	/* any entry may have changed */
		run->t->like = NULL;
	in->movable = NULL;
	in->extra = NULL;
	free_bits(run);
	return st;
}
