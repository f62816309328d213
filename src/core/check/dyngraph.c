// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions of <ftr/cdg.h>: set-up, drains, links that go down and come up.  A drain of a LID
 * records that no packet follows an older entry for the LID any longer.
 *
 * The column of a LID is the entries of all switches for this LID.  The base column is the
 * column at the last drain.  For every LID, count[] always holds the edges of the base column and
 * the edges that changes added since the last drain (struct dyn_lid).  dyn_walk() finds the edges
 * of a column over the links that were up when the column was counted (epoch_of).
 *
 * A drain makes the current column the base column.  The drain counts the edges of the current
 * column.  Then it subtracts the edges of the old base column, and the edges that changes added.  A
 * drain adds no edge to the graph: every edge of the current column is already there.
 *
 * When a link goes down, all LIDs with an entry that leads onto it are opened (dyn_open).  So the
 * next drain of these LIDs counts their edges without the link.  A link may come up only when no
 * LID is open.  So when the edges of a column are subtracted, epoch_of still shows which links were
 * up when these edges were counted.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/dyn.h"

/* ---- set-up ------------------------------------------------------------ */

static bool number_links(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;
	uint32_t n = 0;

	if (!FTR_NEW(g->arena, g->first_link, (size_t)f->n_sw + 1) ||
	    !FTR_NEW(g->arena, g->link_of, (size_t)f->n_sw << 8) ||
	    !FTR_ZNEW(g->arena, g->link, f->n_ports))
		return false;
	memset(g->link_of, 0xff, ((size_t)f->n_sw << 8) * sizeof(*g->link_of));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		g->first_link[s] = n;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind != FTR_PEER_SW)
				continue;
			g->link_of[(size_t)s << 8 | p] = n;
			g->link[n] = (struct dyn_link){
				.from = s, .to = port->peer,
				.from_port = (ftr_port)p,
				.to_port = port->peer_port,
				.from_index = (uint8_t)(n - g->first_link[s]),
				.down_since = DYN_ALIVE,
			};
			n++;
		}
	}
	g->first_link[f->n_sw] = g->n_links = n;
	for (uint32_t i = 0; i < n; i++) {
		struct dyn_link *l = &g->link[i];

		l->to_index = g->link[dyn_link_of(g, l->to,
						  l->to_port)].from_index;
	}
	return true;
}

/* The set that contains only this VL; for FTR_VL_DROP, the empty set. Updates n_vl, plain and
 * drops. */
static uint16_t vl_bit(struct ftr_cdg *g, unsigned int vl)
{
	if (vl == FTR_VL_DROP) {
		g->plain = false;
		g->drops = true;
		return 0;
	}
	g->n_vl = FTR_MAX(g->n_vl, vl + 1);
	return (uint16_t)(1u << vl);
}

static bool is_source(const struct ftr_cdg *g, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(g->f, s, p);

	if (p == 0)
		return g->switches;
	return port->peer_kind == FTR_PEER_EP && g->f->ep[port->peer].lid;
}

/* Set the VLs on which packets with SL g->sl[sl] leave s. */
static void set_vls_of(struct ftr_cdg *g, const struct ftr_cdg_opts *o,
		       ftr_sw s, uint32_t sl)
{
	uint32_t deg = dyn_degree(g, s);
	const struct dyn_link *links = &g->link[g->first_link[s]];
	uint16_t *inject = g->inject + sl * g->n_links + g->first_link[s];
	uint8_t *square;

	for (unsigned int p = 0; p <= g->f->sw[s].n_ports; p++)
		for (uint32_t i = 0; is_source(g, s, (ftr_port)p) && i < deg;
		     i++)
			inject[i] |= vl_bit(g, chk_vl(o->sl2vl, s, (ftr_port)p,
						      links[i].from_port,
						      g->sl[sl]));
	if (!g->link_vl)
		return;
	square = g->link_vl + sl * g->vl_square + g->vl_first[s];
	for (uint32_t in = 0; in < deg; in++)
		for (uint32_t out = 0; out < deg; out++) {
			unsigned int vl = chk_vl(o->sl2vl, s, links[in].from_port,
						 links[out].from_port,
						 g->sl[sl]);

			*square++ = (uint8_t)vl;
			vl_bit(g, vl);
		}
}

static bool set_vls(struct ftr_cdg *g, const struct ftr_cdg_opts *o)
{
	uint32_t sls = o->sls ? o->sls : 1;
	bool varies = o->sl2vl || sls != 1;	/* false: all packets are on VL 0 */

	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		if (sls >> sl & 1 && (o->sl2vl || sl != FTR_VL_DROP))
			g->sl[g->n_sl++] = (uint8_t)sl;
	g->n_vl = 1;
	g->plain = true;
	if (!FTR_NEW(g->arena, g->vl_first, g->f->n_sw))
		return false;
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		g->vl_first[s] = g->vl_square;
		g->vl_square += (uint64_t)dyn_degree(g, s) * dyn_degree(g, s);
	}
	if (varies)
		g->link_vl = ftr_arena_alloc(g->arena, g->n_sl, g->vl_square);
	if ((varies && !g->link_vl) ||
	    !FTR_ZNEW(g->arena, g->inject, (size_t)g->n_sl * g->n_links))
		return false;
	for (uint32_t sl = 0; sl < g->n_sl; sl++)
		for (ftr_sw s = 0; s < g->f->n_sw; s++)
			set_vls_of(g, o, s, sl);
	g->plain &= g->n_vl == 1;
	return true;
}

static bool set_sources(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;

	FTR_NEW(g->arena, g->source, f->n_sw);
	for (ftr_sw s = 0; g->source && s < f->n_sw; s++)
		for (unsigned int p = 0; p <= f->sw[s].n_ports; p++)
			if (is_source(g, s, (ftr_port)p)) {
				g->source[g->n_sources++] = s;
				break;
			}
	return g->source != NULL;
}

/* Assign to each switch its part of count[], and allocate count[]. *n: number of elements of
 * count[]. If *n exceeds UINT32_MAX, count[] is not allocated. Returns false if out of memory. */
static bool set_counts(struct ftr_cdg *g, uint64_t *n)
{
	*n = 0;
	if (!FTR_NEW(g->arena, g->count_first, g->f->n_sw))
		return false;
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		uint64_t side = (uint64_t)dyn_degree(g, s) * g->n_vl;

		g->count_first[s] = *n;
		*n += side * side;
	}
	if (*n > UINT32_MAX)
		return true;
	for (uint32_t i = 0; i < g->n_links; i++) {
		struct dyn_link *l = &g->link[i];
		uint32_t deg = dyn_degree(g, l->to);

		l->row_len = deg * g->n_vl;
		l->row = (uint32_t)g->count_first[l->to] +
			l->to_index * g->n_vl * l->row_len;
		l->vl_at = (uint32_t)g->vl_first[l->to] + l->to_index * deg;
	}
	return FTR_ZNEW(g->arena, g->count, *n) != NULL;
}

static bool set_rest(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;

	g->n_vertices = g->n_links * g->n_vl;
	FTR_ZNEW(g->arena, g->epoch_of, (size_t)f->max_lid + 1);
	FTR_ZNEW(g->arena, g->open_of, (size_t)f->max_lid + 1);
	g->alt = ftr_arena_alloc(g->arena, f->n_sw, 1);
	g->col = ftr_arena_alloc(g->arena, f->n_sw, 1);
	FTR_NEW(g->arena, g->out, f->n_sw);
	FTR_NEW(g->arena, g->seen, f->n_sw);
	g->lid_words = f->max_lid / 64u + 1;
	g->base_set = ftr_arena_zalloc(g->arena, (size_t)g->n_sl * f->n_sw * g->n_vl,
				       g->lid_words * sizeof(*g->base_set));
	if (!g->epoch_of || !g->open_of || !g->alt || !g->col ||
	    !g->out || !g->seen || !g->base_set || !dyn_order_new(g))
		return false;
	memset(g->alt, FTR_PORT_NONE, f->n_sw);
	return true;
}

static void copy_tables(struct ftr_cdg *g, const struct ftr_tables *t)
{
	const uint32_t n = (uint32_t)g->f->max_lid + 1;

	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		uint8_t *row = ftr_tables_row(g->now, s);

		memcpy(row, ftr_tables_row(t, s), n);
		memset(row + n, FTR_PORT_NONE, g->now->stride - n);
	}
}

static enum ftr_status build(struct ftr_cdg *g, const struct ftr_tables *t,
			     const struct ftr_cdg_opts *o, struct ftr_err *err)
{
	uint64_t n_counts = 0;
	bool acyclic;
	enum ftr_status st;

	if (!number_links(g) || !set_sources(g) || !set_vls(g, o) ||
	    !set_counts(g, &n_counts))
		goto nomem;
	if (n_counts > UINT32_MAX)
		return ftr_fail(err, FTR_LIMIT, "the dependency graph needs %llu counters; the limit is %u",
				(unsigned long long)n_counts, UINT32_MAX);
	if (!set_rest(g))
		goto nomem;
	st = ftr_tables_new(g->f, false, &g->now, err);
	if (st)
		return st;
	copy_tables(g, t);
	st = dyn_count_all(g, err);
	if (st)
		return st;
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
	g->switches = opts->switch_sources;
	g->stop = opts->stop;
	g->stop_ctx = opts->stop_ctx;
	st = build(g, t, opts, err);
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
		dyn_close(g, g->open[g->n_open - 1]->lid);
	free(g->open);
	free(g->queue);
	free(g->undo);
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

/* Copy the current entries of lid to col[]. */
static const uint8_t *gather(struct ftr_cdg *g, ftr_lid lid)
{
	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		g->col[s] = *dyn_entry(g, s, lid);
	return g->col;
}

void ftr_cdg_drain(struct ftr_cdg *g, ftr_lid lid)
{
	struct dyn_lid *t;

	if (lid > g->f->max_lid || !g->open_of[lid])
		return;
	t = g->open[g->open_of[lid] - 1];
	dyn_count(g, lid, gather(g, lid), g->epoch, true);
	for (uint32_t i = 0; i < t->base.cap; i++)
		if (t->base.slot[i].key)
			g->col[t->base.slot[i].key - 1] =
				(uint8_t)(t->base.slot[i].value - 1);
	dyn_count(g, lid, g->col, g->epoch_of[lid], false);
	for (uint32_t i = 0; i < t->n_edge; i++)
		g->count[t->edge[i]]--;
	g->epoch_of[lid] = g->epoch;
	dyn_close(g, lid);
}

void ftr_cdg_drain_all(struct ftr_cdg *g)
{
	while (g->n_open)
		ftr_cdg_drain(g, g->open[g->n_open - 1]->lid);
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
