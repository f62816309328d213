// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions of <ftr/cdg.h>: set-up, drains, links that go down.  A drain of a LID records that no
 * packet follows an older entry for the LID any longer.
 *
 * The column of a LID is the entries of all switches for this LID.  The base column is the
 * column at the last drain.  For every LID, count[] always holds the edges of the base column and
 * the edges that changes added since the last drain (struct dyn_lid).  dyn_count() finds the edges
 * of a column over the links that were up when the column was counted (epoch_of).
 *
 * A drain makes the current column the base column.  The drain subtracts the edges of the old base
 * column, and the edges that changes added.  Then it counts the edges of the current column.  A
 * drain adds no edge to the graph: every edge of the current column was there before.
 *
 * When a link goes down, all LIDs with an entry that leads onto it are opened (dyn_open).  So the
 * next drain of these LIDs counts their edges without the link.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/dyn.h"

/* ---- set-up ------------------------------------------------------------ */

/* Number the pairs (link into s, link out of s). */
static void number_pairs(struct ftr_cdg *g, ftr_sw s)
{
	uint32_t n = dyn_degree(g, s);

	for (uint32_t i = 0; i < n; i++) {
		const struct dyn_link *out = &g->link[g->first_link[s] + i];
		struct dyn_link *in = &g->link[dyn_link_of(g, out->to, out->to_port)];

		in->to_index = (uint8_t)i;
		in->n_out = n;
		in->pair = (uint32_t)g->n_pairs;
		g->n_pairs += n;
	}
}

static bool number_links(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;
	uint32_t n = 0;

	if (!FTR_NEW(g->arena, g->first_link, (size_t)f->n_sw + 1) ||
	    !FTR_NEW(g->arena, g->index_of, (size_t)f->n_sw << 8) ||
	    !FTR_NEW(g->arena, g->link, f->n_ports))
		return false;
	memset(g->index_of, DYN_NO_INDEX, (size_t)f->n_sw << 8);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		g->first_link[s] = n;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind != FTR_PEER_SW)
				continue;
			g->link[n] = (struct dyn_link){
				.from = s, .to = port->peer,
				.from_port = (ftr_port)p,
				.to_port = port->peer_port,
				.from_index = (uint8_t)(n - g->first_link[s]),
				.down_since = DYN_ALIVE,
			};
			g->index_of[(size_t)s << 8 | p] = g->link[n++].from_index;
		}
	}
	g->first_link[f->n_sw] = g->n_links = n;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		number_pairs(g, s);
	return true;
}

static void order_by_neighbour(struct ftr_cdg *g)
{
	for (uint32_t l = 0; l < g->n_links; l++) {
		ftr_sw s = g->link[l].to;

		if (!g->turn[s])
			g->by_neighbour[g->n_order++] = s;
		g->turn[s] = true;
	}
}

static bool is_source(const struct ftr_cdg *g, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(g->f, s, p);

	if (p == 0)
		return g->opts->switch_sources;
	return port->peer_kind == FTR_PEER_EP && g->f->ep[port->peer].lid;
}

/* The VL on which packets with this SL leave s.  Updates n_vl and drops. */
static unsigned int use_vl(struct ftr_cdg *g, ftr_sw s, ftr_port in, ftr_port out, unsigned int sl)
{
	unsigned int vl = chk_vl(g->opts->sl2vl, s, in, out, sl);

	if (vl == FTR_VL_DROP)
		g->drops = true;
	else
		g->n_vl = FTR_MAX(g->n_vl, vl + 1);
	return vl;
}

/* Set the VLs on which packets with this SL enter the links out of s. */
static void set_inject(struct ftr_cdg *g, ftr_sw s, unsigned int sl, uint16_t *inject)
{
	for (unsigned int p = 0; p <= g->f->sw[s].n_ports; p++) {
		if (!is_source(g, s, (ftr_port)p))
			continue;
		for (uint32_t l = g->first_link[s]; l < g->first_link[s + 1]; l++) {
			unsigned int vl = use_vl(g, s, (ftr_port)p, g->link[l].from_port, sl);

			if (vl != FTR_VL_DROP)
				inject[l] |= (uint16_t)(1u << vl);
		}
	}
}

/* Set the VLs on which packets with this SL leave the switch at the end of link l. */
static void set_vls_from(struct ftr_cdg *g, const struct dyn_link *l, unsigned int sl, uint8_t *vls)
{
	const struct dyn_link *out = &g->link[g->first_link[l->to]];

	for (uint32_t i = 0; i < l->n_out; i++)
		vls[l->pair + i] = (uint8_t)use_vl(g, l->to, l->to_port, out[i].from_port, sl);
}

static bool set_vls(struct ftr_cdg *g)
{
	uint32_t sls = g->opts->sls ? g->opts->sls : 1;
	unsigned int used[FTR_N_SL];

	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		if (sls >> sl & 1 && (g->opts->sl2vl || sl != FTR_VL_DROP))
			used[g->n_sl++] = sl;
	g->n_vl = 1;
	if (!FTR_ZNEW(g->arena, g->inject, (size_t)g->n_sl * g->n_links))
		return false;
	if (g->opts->sl2vl || sls != 1) {
		g->link_vl = ftr_arena_alloc(g->arena, g->n_sl, g->n_pairs);
		if (!g->link_vl)
			return false;
	}
	for (uint32_t i = 0; i < g->n_sl; i++) {
		for (ftr_sw s = 0; s < g->f->n_sw; s++)
			set_inject(g, s, used[i], g->inject + i * g->n_links);
		for (uint32_t l = 0; g->link_vl && l < g->n_links; l++)
			set_vls_from(g, &g->link[l], used[i], g->link_vl + i * g->n_pairs);
	}
	return true;
}

static bool set_rest(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;
	size_t sets;

	g->lid_words = f->max_lid / 64u + 1;
	sets = (size_t)f->n_sw * g->n_vl * g->lid_words;
	if (!FTR_ZNEW(g->arena, g->count, g->n_pairs * g->n_vl * g->n_vl) ||
	    !FTR_ZNEW(g->arena, g->epoch_of, (size_t)f->max_lid + 1) ||
	    !FTR_ZNEW(g->arena, g->open_of, (size_t)f->max_lid + 1) ||
	    !FTR_NEW(g->arena, g->step.alt, f->n_sw) ||
	    !FTR_ZNEW(g->arena, g->base_set, g->n_sl * sets) ||
	    !FTR_ZNEW(g->arena, g->fresh, sets) ||
	    !FTR_ZNEW(g->arena, g->turn, f->n_sw) ||
	    !FTR_NEW(g->arena, g->by_neighbour, f->n_sw) || !dyn_order_new(g))
		return false;
	order_by_neighbour(g);
	memset(g->step.alt, FTR_PORT_NONE, f->n_sw);
	return true;
}

static enum ftr_status build(struct ftr_cdg *g, const struct ftr_tables *t, struct ftr_err *err)
{
	uint64_t lids[DYN_LID_WORDS] = { 0 }, n_counts;
	bool acyclic;
	enum ftr_status st;

	if (!number_links(g) || !set_vls(g))
		goto nomem;
	n_counts = g->n_pairs * g->n_vl * g->n_vl;
	if (n_counts > UINT32_MAX)
		return ftr_fail(err, FTR_LIMIT, "the dependency graph needs %llu counters; the limit is %u",
				(unsigned long long)n_counts, UINT32_MAX);
	if (!set_rest(g))
		goto nomem;
	st = ftr_tables_new(g->f, false, &g->now, err);
	if (st)
		return st;
	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		memcpy(dyn_entry(g, s, 0), ftr_tables_row(t, s), g->now->stride);
	for (uint32_t lid = 1; lid <= g->f->max_lid; lid++)
		lids[lid / 64] |= UINT64_C(1) << lid % 64;
	if (!dyn_count(g, lids, 0, true))
		return ftr_fail(err, FTR_REFUSED, "stopped before the dependency graph was complete");
	if (!dyn_order_all(g, &acyclic))
		goto nomem;
	if (!acyclic)
		return ftr_fail(err, FTR_REFUSED, "the tables have a cycle of channel dependencies");
	return FTR_OK;
nomem:
	return ftr_nomem(err, "the dependencies of %u switches", g->f->n_sw);
}

enum ftr_status ftr_cdg_new(const struct ftr_fabric *f,
			    const struct ftr_tables *t,
			    const struct ftr_cdg_opts *opts,
			    struct ftr_cdg **out, struct ftr_err *err)
{
	static const struct ftr_cdg_opts none = { 0 };
	struct ftr_cdg *g;
	enum ftr_status st;

	opts = opts ? opts : &none;
	st = chk_same_size(f, t, err);
	if (!st)
		st = chk_vls_fit(f, &(struct ftr_check_opts){
			.sl2vl = opts->sl2vl,
		}, err);
	if (st)
		return st;
	g = ftr_calloc(1, sizeof(*g));
	if (!g || !(g->arena = ftr_arena_new())) {
		free(g);
		return ftr_nomem(err, "dependencies");
	}
	g->f = f;
	g->opts = opts;
	st = build(g, t, err);
	g->opts = NULL;
	if (st)
		ftr_cdg_free(g);
	else
		*out = g;
	return st;
}

void ftr_cdg_free(struct ftr_cdg *g)
{
	if (!g)
		return;
	while (g->n_open)
		dyn_close_last(g);
	free(g->open);
	free(g->step.queue);
	free(g->step.undo);
	ftr_tables_free(g->now);
	ftr_arena_free(g->arena);
	free(g);
}

const struct ftr_tables *ftr_cdg_tables(const struct ftr_cdg *g)
{
	return g->now;
}

uint32_t ftr_cdg_undrained(const struct ftr_cdg *g)
{
	return g->n_open;
}

/* ---- drains ------------------------------------------------------------ */

/* Exchange the base entries of t and the current ones. */
static void swap_base(struct ftr_cdg *g, struct dyn_lid *t)
{
	for (uint32_t i = 0; i < t->base.cap; i++) {
		struct dyn_slot *x = &t->base.slot[i];
		uint8_t *entry = x->key ? dyn_entry(g, x->key - 1, t->lid) : NULL, now;

		if (!entry)
			continue;
		now = *entry;
		*entry = (uint8_t)(x->value - 1);
		x->value = (uint16_t)(now + 1);
	}
}

/* Subtract the edges of the base entries of all open LIDs, which are now in the tables. */
static void subtract_base(struct ftr_cdg *g)
{
	for (uint32_t epoch = 0; epoch <= g->epoch; epoch++) {
		uint64_t lids[DYN_LID_WORDS] = { 0 };
		bool any = false;

		for (uint32_t i = 0; i < g->n_open; i++) {
			ftr_lid lid = g->open[i]->lid;

			if (g->epoch_of[lid] != epoch)
				continue;
			lids[lid / 64] |= UINT64_C(1) << lid % 64;
			any = true;
		}
		if (any)
			dyn_count(g, lids, epoch, false);
	}
}

void ftr_cdg_drain_all(struct ftr_cdg *g)
{
	uint64_t lids[DYN_LID_WORDS] = { 0 };

	for (uint32_t i = 0; i < g->n_open; i++)
		swap_base(g, g->open[i]);
	subtract_base(g);
	for (uint32_t i = 0; i < g->n_open; i++)
		swap_base(g, g->open[i]);
	while (g->n_open) {
		struct dyn_lid *t = g->open[g->n_open - 1];

		lids[t->lid / 64] |= UINT64_C(1) << t->lid % 64;
		for (uint32_t i = 0; i < t->n_edge; i++)
			g->count[t->edge[i]]--;
		g->epoch_of[t->lid] = g->epoch;
		dyn_close_last(g);
	}
	dyn_count(g, lids, g->epoch, true);
}

/* ---- links ------------------------------------------------------------- */

/* Set down_since of the link in both directions. */
static void set_down(struct ftr_cdg *g, uint32_t link, uint32_t since)
{
	struct dyn_link *l = &g->link[link];

	g->link[g->first_link[l->to] + l->to_index].down_since = since;
	l->down_since = since;
}

static bool leads_onto(const struct ftr_cdg *g, uint32_t link, ftr_lid lid)
{
	const struct dyn_link *l = &g->link[link];

	return ftr_tables_get(g->now, l->from, lid) == l->from_port ||
		ftr_tables_get(g->now, l->to, lid) == l->to_port;
}

bool ftr_cdg_link_is_down(const struct ftr_cdg *g, ftr_sw s, ftr_port port)
{
	uint32_t link = dyn_link_of(g, s, port);

	return link != DYN_NONE && dyn_is_down(g, link);
}

enum ftr_status ftr_cdg_link_down(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				  struct ftr_err *err)
{
	uint32_t link = dyn_link_of(g, s, port);

	if (link == DYN_NONE || dyn_is_down(g, link))
		return FTR_OK;
	for (uint32_t lid = 1; lid <= g->f->max_lid; lid++)
		if (leads_onto(g, link, (ftr_lid)lid) &&
		    !dyn_open(g, (ftr_lid)lid))
			return ftr_nomem(err, "recording that a link goes down");
	g->epoch++;
	set_down(g, link, g->epoch);
	return FTR_OK;
}
