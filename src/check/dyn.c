// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * <ftr/cdg.h>: set-up, drains, cables that go and come.
 *
 * Invariant, for every LID: count[] holds the edges of its base column, as
 * dyn_walk finds them with the links that were up when it was counted
 * (epoch_of), plus those that its changes added since (struct dyn_lid).  A
 * drain moves the base: count the column as it is now, then take the old one
 * and the additions off.  Nothing new can appear in that, for the additions
 * covered all states on the way.
 *
 * A cable that goes down opens all LIDs whose entries lead onto it, so that a
 * drain counts them again without it; and one may come up only when no LID is
 * open, so that a column is always taken off with the links it was counted with.
 */
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"

#define BLOCK FTR_LFT_BLOCK

/* ---- set-up ------------------------------------------------------------ */

static bool number_links(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;
	uint32_t n = 0;

	g->first_link = ftr_arena_alloc(g->arena, (size_t)f->n_sw + 1,
					sizeof(*g->first_link));
	g->place = ftr_arena_alloc(g->arena, f->n_ports, 1);
	g->link = ftr_arena_alloc(g->arena, f->n_ports, sizeof(*g->link));
	if (!g->first_link || !g->place || !g->link)
		return false;
	memset(g->place, DYN_NO_PLACE, f->n_ports);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		g->first_link[s] = n;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW)
				continue;
			g->place[f->sw[s].first_port + p] =
				(uint8_t)(n - g->first_link[s]);
			g->link[n] = (struct dyn_link){
				.from = s, .to = port->peer,
				.from_port = (ftr_port)p,
				.to_port = port->peer_port,
				.from_place = (uint8_t)(n - g->first_link[s]),
			};
			n++;
		}
	}
	g->first_link[f->n_sw] = g->n_links = n;
	for (uint32_t i = 0; i < n; i++) {
		struct dyn_link *l = &g->link[i];

		l->to_place = g->place[f->sw[l->to].first_port + l->to_port];
	}
	return true;
}

static unsigned int vl_of(const struct ftr_cdg_opts *o, ftr_sw s,
			  ftr_port in, ftr_port out, unsigned int sl)
{
	return o->sl2vl ? ftr_sl2vl_get(o->sl2vl, s, in, out, sl) : sl;
}

static bool is_source(const struct ftr_cdg *g, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(g->f, s, p);

	if (p == 0)
		return g->switches;
	return port->peer_kind == FTR_PEER_EP && g->f->ep[port->peer].lid;
}

/* Lanes out of s, for one SL. */
static void set_lanes_of(struct ftr_cdg *g, const struct ftr_cdg_opts *o,
			 ftr_sw s, uint32_t sl)
{
	uint32_t deg = dyn_degree(g, s), first = g->first_link[s];
	uint8_t *square = g->lane + sl * g->lane_square + g->lane_first[s];

	for (uint32_t out = 0; out < deg; out++) {
		ftr_port po = g->link[first + out].from_port;
		uint32_t at = sl * g->n_links + first + out, set = 0;

		for (unsigned int p = 0; p <= g->f->sw[s].n_ports; p++) {
			unsigned int vl;

			if (!is_source(g, s, (ftr_port)p))
				continue;
			vl = vl_of(o, s, (ftr_port)p, po, g->sl[sl]);
			if (vl != FTR_VL_DROP)
				set |= 1u << vl;
		}
		g->inject[at] = (uint16_t)set;
		for (uint32_t in = 0; in < deg; in++) {
			ftr_port pi = g->link[first + in].from_port;
			unsigned int vl = vl_of(o, s, pi, po, g->sl[sl]);

			square[in * deg + out] = (uint8_t)vl;
			if (vl != FTR_VL_DROP)
				set |= 1u << vl;
		}
		g->lanes[at] = (uint16_t)set;
		for (uint32_t vl = 0; vl < FTR_N_SL; vl++)
			if (set >> vl & 1)
				g->n_vl = FTR_MAX(g->n_vl, vl + 1);
	}
}

static bool set_lanes(struct ftr_cdg *g, const struct ftr_cdg_opts *o)
{
	uint32_t sls = o->sls ? o->sls : 1;

	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		if (sls >> sl & 1 && (o->sl2vl || sl != FTR_VL_DROP))
			g->sl[g->n_sl++] = (uint8_t)sl;
	g->n_vl = 1;
	g->lane_first = ftr_arena_alloc(g->arena, g->f->n_sw,
					sizeof(*g->lane_first));
	if (!g->lane_first)
		return false;
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		g->lane_first[s] = g->lane_square;
		g->lane_square += (uint64_t)dyn_degree(g, s) * dyn_degree(g, s);
	}
	g->lane = ftr_arena_alloc(g->arena, g->n_sl, g->lane_square);
	g->inject = ftr_arena_alloc(g->arena, (size_t)g->n_sl * g->n_links,
				    sizeof(*g->inject));
	g->lanes = ftr_arena_alloc(g->arena, (size_t)g->n_sl * g->n_links,
				   sizeof(*g->lanes));
	if (!g->lane || !g->inject || !g->lanes)
		return false;
	for (uint32_t sl = 0; sl < g->n_sl; sl++)
		for (ftr_sw s = 0; s < g->f->n_sw; s++)
			set_lanes_of(g, o, s, sl);
	return true;
}

static bool set_counts(struct ftr_cdg *g, uint64_t *n)
{
	*n = 0;
	g->count_first = ftr_arena_alloc(g->arena, g->f->n_sw,
					 sizeof(*g->count_first));
	if (!g->count_first)
		return false;
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		uint64_t side = (uint64_t)dyn_degree(g, s) * g->n_vl;

		g->count_first[s] = *n;
		*n += side * side;
	}
	if (*n > UINT32_MAX)
		return true;	/* refused by the caller */
	g->count = ftr_arena_zalloc(g->arena, *n, sizeof(*g->count));
	return g->count != NULL;
}

static bool set_rest(struct ftr_cdg *g)
{
	const struct ftr_fabric *f = g->f;

	g->n_vertices = g->n_links * g->n_vl;
	g->down_since = ftr_arena_alloc(g->arena, g->n_links,
					sizeof(*g->down_since));
	g->epoch_of = ftr_arena_zalloc(g->arena, (size_t)f->max_lid + 1,
				       sizeof(*g->epoch_of));
	g->open_of = ftr_arena_zalloc(g->arena, (size_t)f->max_lid + 1,
				      sizeof(*g->open_of));
	g->alt = ftr_arena_alloc(g->arena, f->n_sw, 1);
	g->seen = ftr_arena_alloc(g->arena, f->n_sw, sizeof(*g->seen));
	if (!g->down_since || !g->epoch_of || !g->open_of || !g->alt ||
	    !g->seen || !dyn_order_new(g))
		return false;
	memset(g->down_since, 0xff, g->n_links * sizeof(*g->down_since));
	memset(g->alt, FTR_PORT_NONE, f->n_sw);
	return true;
}

static bool count_up(struct ftr_cdg *g, uint32_t edge, uint32_t v, uint32_t w)
{
	(void)v, (void)w;
	g->count[edge]++;
	return true;
}

static bool count_down(struct ftr_cdg *g, uint32_t edge, uint32_t v,
		       uint32_t w)
{
	(void)v, (void)w;
	g->count[edge]--;
	return true;
}

/* All LIDs, a block of columns at a time so that rows are read along. */
static bool count_all(struct ftr_cdg *g)
{
	const uint32_t n = g->f->n_sw;
	uint8_t *cols = ftr_malloc((size_t)n * BLOCK + 1);

	for (uint32_t at = 0; cols && at <= g->f->max_lid; at += BLOCK) {
		for (ftr_sw s = 0; s < n; s++) {
			const uint8_t *row = ftr_tables_row(g->now, s) + at;

			for (uint32_t i = 0; i < BLOCK; i++)
				cols[(size_t)i * n + s] = row[i];
		}
		for (uint32_t i = 0; i < BLOCK && at + i <= g->f->max_lid; i++)
			if (g->f->owner[at + i].kind != FTR_OWNER_NONE)
				dyn_walk(g, cols + (size_t)i * n, 1, 0,
					 count_up);
	}
	free(cols);
	return cols != NULL;
}

static enum ftr_status copy_tables(struct ftr_cdg *g,
				   const struct ftr_tables *t,
				   struct ftr_err *err)
{
	enum ftr_status st = ftr_tables_new(g->f, false, &g->base, err);

	if (!st)
		st = ftr_tables_new(g->f, false, &g->now, err);
	if (st)
		return st;
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		uint32_t n = (uint32_t)g->f->max_lid + 1;

		memset(ftr_tables_row(g->now, s), FTR_PORT_NONE,
		       g->now->stride);
		memcpy(ftr_tables_row(g->now, s), ftr_tables_row(t, s), n);
		memcpy(ftr_tables_row(g->base, s), ftr_tables_row(g->now, s),
		       g->now->stride);
	}
	return FTR_OK;
}

static enum ftr_status refuse(const struct ftr_fabric *f,
			      const struct ftr_tables *t,
			      const struct ftr_sl2vl *m, struct ftr_err *err)
{
	if (t->n_sw != f->n_sw || t->max_lid != f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs to %u do not fit a fabric of %u and %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	if (m && m->n_sw != f->n_sw)
		return ftr_fail(err, FTR_INVAL, "SL to VL tables of %u switches do not fit a fabric of %u",
				m->n_sw, f->n_sw);
	for (ftr_sw s = 0; m && s < f->n_sw; s++)
		if (m->width[s] != f->sw[s].n_ports + 1u)
			return ftr_fail(err, FTR_INVAL, "SL to VL table of %u ports does not fit switch %u of %u",
					m->width[s] - 1, s, f->sw[s].n_ports);
	return FTR_OK;
}

static enum ftr_status build(struct ftr_cdg *g, const struct ftr_tables *t,
			     const struct ftr_cdg_opts *o, struct ftr_err *err)
{
	uint64_t n_counts = 0;
	enum ftr_status st;

	if (!number_links(g) || !set_lanes(g, o) || !set_counts(g, &n_counts))
		goto nomem;
	if (n_counts > UINT32_MAX)
		return ftr_fail(err, FTR_LIMIT, "a dependency graph of %llu pairs of lanes, more than %u",
				(unsigned long long)n_counts, UINT32_MAX);
	if (!set_rest(g))
		goto nomem;
	st = copy_tables(g, t, err);
	if (st)
		return st;
	if (!count_all(g))
		goto nomem;
	if (!dyn_order_all(g))
		return ftr_fail(err, FTR_REFUSED, "the tables hold a cycle of channel dependencies");
	return FTR_OK;
nomem:
	return ftr_fail(err, FTR_NOMEM, "out of memory for the dependencies of %u switches",
			g->f->n_sw);
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
	st = refuse(f, t, opts->sl2vl, err);
	if (st)
		return st;
	g = ftr_calloc(1, sizeof(*g));
	if (!g || !(g->arena = ftr_arena_new())) {
		free(g);
		return ftr_fail(err, FTR_NOMEM, "out of memory for dependencies");
	}
	g->f = f;
	g->switches = opts->switch_sources;
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
	ftr_tables_free(g->base);
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

uint32_t ftr_cdg_edge(const struct ftr_cdg *g, struct ftr_channel a,
		      struct ftr_channel b)
{
	uint32_t in = dyn_link_of(g, a.sw, a.port);
	uint32_t out = dyn_link_of(g, b.sw, b.port);

	if (in == DYN_NONE || out == DYN_NONE || g->link[in].to != b.sw ||
	    a.vl >= g->n_vl || b.vl >= g->n_vl)
		return 0;
	return g->count[dyn_edge_at(g, in * g->n_vl + a.vl,
				    g->link[out].from_place, b.vl)];
}

/* ---- drains ------------------------------------------------------------ */

void ftr_cdg_drain(struct ftr_cdg *g, ftr_lid lid)
{
	const size_t stride = g->now->stride;
	struct dyn_lid *t;

	if (lid > g->f->max_lid || !g->open_of[lid])
		return;
	t = g->open[g->open_of[lid] - 1];
	dyn_walk(g, g->now->lft + lid, stride, g->epoch, count_up);
	dyn_walk(g, g->base->lft + lid, stride, g->epoch_of[lid], count_down);
	for (uint32_t i = 0; i < t->n_edge; i++)
		g->count[t->edge[i]]--;
	for (uint32_t i = 0; i < t->n_sw; i++)
		ftr_tables_row(g->base, t->sw[i])[lid] =
			ftr_tables_get(g->now, t->sw[i], lid);
	g->epoch_of[lid] = g->epoch;
	dyn_close(g, lid);
}

void ftr_cdg_drain_all(struct ftr_cdg *g)
{
	while (g->n_open)
		ftr_cdg_drain(g, g->open[g->n_open - 1]->lid);
}

/* ---- cables ------------------------------------------------------------ */

static uint32_t reverse(const struct ftr_cdg *g, uint32_t link)
{
	return g->first_link[g->link[link].to] + g->link[link].to_place;
}

static bool leads_onto(const struct ftr_cdg *g, uint32_t link, ftr_lid lid)
{
	const struct dyn_link *l = &g->link[link];

	return g->f->owner[lid].kind != FTR_OWNER_NONE &&
	       (ftr_tables_get(g->now, l->from, lid) == l->from_port ||
		ftr_tables_get(g->now, l->to, lid) == l->to_port);
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
			return ftr_fail(err, FTR_NOMEM, "out of memory for a cable that is down");
	g->epoch++;
	g->down_since[link] = g->down_since[reverse(g, link)] = g->epoch;
	return FTR_OK;
}

/* An edge that may be new, noted in undo[] so that it can be taken back. */
static bool count_checked(struct ftr_cdg *g, uint32_t edge, uint32_t v,
			  uint32_t w)
{
	g->no_memory = !FTR_GROW(g->undo, g->n_undo, g->cap_undo);
	if (g->no_memory || (!g->count[edge] && !dyn_order_edge(g, v, w)))
		return false;
	g->count[edge]++;
	g->undo[g->n_undo++].key = edge;
	return true;
}

/* An edge that was there before: the order may have changed without it, but it
 * cannot close a cycle. */
static bool count_again(struct ftr_cdg *g, uint32_t edge, uint32_t v,
			uint32_t w)
{
	if (!g->count[edge]++)
		dyn_order_edge(g, v, w);
	return true;
}

static void recount(struct ftr_cdg *g, uint32_t link, dyn_edge_fn fn, bool *ok)
{
	for (uint32_t lid = 1; *ok && lid <= g->f->max_lid; lid++)
		if (leads_onto(g, link, (ftr_lid)lid))
			*ok = dyn_walk(g, g->now->lft + lid, g->now->stride,
				       g->epoch, fn);
}

enum ftr_status ftr_cdg_link_up(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				bool *closes, struct ftr_err *err)
{
	uint32_t link = dyn_link_of(g, s, port), since;
	bool ok = true;

	*closes = false;
	if (link == DYN_NONE || !dyn_is_down(g, link))
		return FTR_OK;
	if (g->n_open)
		return ftr_fail(err, FTR_REFUSED, "a cable comes up while %u LIDs are not drained",
				g->n_open);
	since = g->down_since[link];
	g->n_undo = 0;
	recount(g, link, count_down, &ok);
	g->down_since[link] = g->down_since[reverse(g, link)] = DYN_ALIVE;
	recount(g, link, count_checked, &ok);
	if (ok)
		return FTR_OK;
	while (g->n_undo)
		g->count[g->undo[--g->n_undo].key]--;
	g->down_since[link] = g->down_since[reverse(g, link)] = since;
	ok = true;
	recount(g, link, count_again, &ok);
	if (g->no_memory)
		return ftr_fail(err, FTR_NOMEM, "out of memory for a cable that comes up");
	*closes = true;
	return FTR_OK;
}
