// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the all-to-all load after faults from the load before them.
 *
 * An entry is changed if it has another value, or if its link is missing now.  For one destination,
 * the path of a flow is unchanged up to the first changed entry.  So the hosts whose flows reach a
 * changed entry without passing another one are the same before and after.  They are found by going
 * backward from the entry.  Their flows are subtracted from the links of the old path from there, and
 * added to the links of the new path.  If only one of the two paths arrives, the links before the
 * entry change as well, because a lost flow loads no link.
 *
 * The work grows with the number of changed entries.  If more than a twelfth of all entries has
 * changed (an estimate), all flows are counted again (load_model.c).
 */
#include <stdlib.h>
#include <string.h>

#include "check/link_load.h"

#define MANY 12

struct ftr_load_base {
	const struct ftr_load *ld;
	uint8_t *column;	/* column[i * n_sw + s]: entry of switch s for host port filled[i] */
};

struct changes {
	const struct ftr_load_base *base;
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct ftr_arena *arena;
	/* The changed entries for host port filled[i] are those of the switches sw[first[i]] ..
	 * sw[first[i + 1] - 1]. */
	uint32_t *first;
	ftr_sw *sw;
	uint32_t *changed, now;	/* changed[s] == now: the entry of s for the current LID is changed */
	ftr_sw *stack, *source;	/* [n_sw] */
	uint32_t n_sources;
	uint64_t *load;		/* [n_links] */
	/* the current destination */
	const uint8_t *column;
	struct chk_exit exit;
	ftr_lid lid;
};

enum ftr_status ftr_load_base_new(const struct ftr_load *ld, struct ftr_load_base **out,
				  struct ftr_err *err)
{
	struct ftr_load_base *b = ftr_calloc(1, sizeof(*b));
	const uint32_t n = ld->f->n_sw;

	if (!b || !(b->column = ftr_malloc((size_t)n * ld->n_filled + 1))) {
		free(b);
		return ftr_fail(err, FTR_NOMEM, "out of memory for the loads before faults, on %u switches", n);
	}
	b->ld = ld;
	for (uint32_t at = 0; at < ld->n_filled; at += LOAD_BATCH)
		for (ftr_sw s = 0; s < n; s++)
			for (uint32_t i = at; i < FTR_MIN(at + LOAD_BATCH, ld->n_filled); i++)
				b->column[(size_t)i * n + s] =
					ld->entry[(size_t)s * ld->n_filled + i];
	*out = b;
	return FTR_OK;
}

void ftr_load_base_free(struct ftr_load_base *b)
{
	if (!b)
		return;
	free(b->column);
	free(b);
}

/* True if f differs from the fabric g before the faults only by missing links between switches. */
static bool only_links_missing(const struct ftr_fabric *g, const struct ftr_fabric *f)
{
	if (f->n_sw != g->n_sw || f->n_ep != g->n_ep || f->n_ports != g->n_ports ||
	    f->max_lid != g->max_lid)
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (f->sw[s].guid != g->sw[s].guid || f->sw[s].first_port != g->sw[s].first_port)
			return false;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].guid != g->ep[e].guid || f->ep[e].lid != g->ep[e].lid ||
		    f->ep[e].sw != g->ep[e].sw || f->ep[e].sw_port != g->ep[e].sw_port)
			return false;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		const struct ftr_swport *a = &f->ports[p], *b = &g->ports[p];

		if (a->peer_kind != b->peer_kind ? a->peer_kind != FTR_PEER_NONE ||
		    b->peer_kind != FTR_PEER_SW : a->peer_kind == FTR_PEER_SW &&
		    (a->peer != b->peer || a->peer_port != b->peer_port))
			return false;
	}
	return true;
}

/* ---- changed entries ------------------------------------------------------ */

static bool is_missing(const struct changes *c, ftr_sw s, ftr_port p)
{
	return p <= c->f->sw[s].n_ports &&
		ftr_fabric_port(c->f, s, p)->peer_kind != ftr_fabric_port(c->base->ld->f, s, p)->peer_kind;
}

/* For each changed entry: increment end[i] (sw NULL), or append the switch at sw[end[i]++]. */
static void each_changed(const struct changes *c, const ftr_lid *lid, uint32_t *end, ftr_sw *sw)
{
	const struct ftr_load *ld = c->base->ld;

	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(c->t, s);
		const uint8_t *old = ld->entry + (size_t)s * ld->n_filled;
		uint8_t missing[256] = { 0 };

		for (unsigned int p = 1; p <= c->f->sw[s].n_ports; p++)
			missing[p] = is_missing(c, s, (ftr_port)p);
		for (uint32_t i = 0; i < ld->n_filled; i++) {
			uint8_t now = row[lid[i]];

			if (now == old[i] && !missing[now])
				continue;
			if (sw)
				sw[end[i]] = s;
			end[i]++;
		}
	}
}

/* Find the changed entries.  Returns false if out of memory.  *many: there are too many. */
static bool find_changed(struct changes *c, bool *many)
{
	const struct ftr_load *ld = c->base->ld;
	uint32_t n = ld->n_filled, sum = 0;
	ftr_lid *lid;

	if (!FTR_ZNEW(c->arena, c->first, n + 2u) || !FTR_NEW(c->arena, lid, n + 1u))
		return false;
	for (uint32_t i = 0; i < n; i++)
		lid[i] = ld->f->ep[ld->order[ld->filled[i]]].lid;
	each_changed(c, lid, c->first + 1, NULL);
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t k = c->first[i];

		c->first[i] = sum;
		sum += k;
	}
	*many = sum > (uint64_t)n * c->f->n_sw / MANY;
	if (*many)
		return true;
	if (!FTR_NEW(c->arena, c->sw, sum + 1u))
		return false;
	each_changed(c, lid, c->first + 1, c->sw);
	return true;
}

/* ---- flows ------------------------------------------------------------------ */

static ftr_port entry(const struct changes *c, ftr_sw s, bool after)
{
	if (!after || c->changed[s] != c->now)
		return c->column[s];
	return ftr_tables_get(c->t, s, c->lid);
}

/* Add `flows` on the links of the path from s, before or after the faults, up to switch `end`, or up
 * to the destination (FTR_SW_NONE).  Returns false if the path does not arrive there. */
static bool add_path(const struct changes *c, ftr_sw s, bool after, ftr_sw end, uint64_t flows)
{
	for (uint32_t h = 0; h < c->f->n_sw && s != end; h++) {
		ftr_port p = entry(c, s, after);
		struct load_hop to;

		if (s == c->exit.sw && p == c->exit.port)
			return end == FTR_SW_NONE;
		to = load_next(c->base->ld, s, p);
		if (to.next == LOAD_NONE || (after && is_missing(c, s, p)))
			return false;
		c->load[to.link] += flows;
		s = to.next;
	}
	return s == end;
}

/* Set c->source to the switches with hosts whose flows reach s without passing another changed
 * entry.  Returns the number of these hosts. */
static uint64_t gather(struct changes *c, ftr_sw s)
{
	const struct ftr_load *ld = c->base->ld;
	uint32_t depth = 0;
	uint64_t hosts = 0;

	c->n_sources = 0;
	c->stack[depth++] = s;
	while (depth) {
		ftr_sw x = c->stack[--depth];

		hosts += ld->hosts[x];
		if (ld->hosts[x])
			c->source[c->n_sources++] = x;
		for (unsigned int p = 1; p <= ld->f->sw[x].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(ld->f, x, p);

			if (q->peer_kind == FTR_PEER_SW && c->column[q->peer] == q->peer_port &&
			    c->changed[q->peer] != c->now)
				c->stack[depth++] = q->peer;
		}
	}
	return hosts;
}

static void move_flows(struct changes *c, ftr_sw s)
{
	uint64_t hosts = gather(c, s);
	bool before, after;

	if (!hosts)
		return;
	before = add_path(c, s, false, FTR_SW_NONE, 0);
	after = add_path(c, s, true, FTR_SW_NONE, 0);
	if (before)
		add_path(c, s, false, FTR_SW_NONE, -hosts);
	if (after)
		add_path(c, s, true, FTR_SW_NONE, hosts);
	for (uint32_t i = 0; before != after && i < c->n_sources; i++) {
		uint64_t n = c->base->ld->hosts[c->source[i]];

		add_path(c, c->source[i], false, s, after ? n : -n);
	}
}

static void move_all(struct changes *c)
{
	const struct ftr_load *ld = c->base->ld;

	for (uint32_t i = 0; i < ld->n_filled; i++) {
		c->lid = ld->f->ep[ld->order[ld->filled[i]]].lid;
		c->exit = chk_exit_of(ld->f, c->lid);
		c->column = c->base->column + (size_t)i * c->f->n_sw;
		c->now++;
		for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++)
			c->changed[c->sw[k]] = c->now;
		for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++)
			move_flows(c, c->sw[k]);
	}
}

static bool run(struct changes *c, uint64_t *max, bool *done)
{
	const uint32_t n = c->f->n_sw, n_links = c->base->ld->n_links;
	bool many = false;

	if (!FTR_ZNEW(c->arena, c->changed, n) || !FTR_NEW(c->arena, c->stack, n) ||
	    !FTR_NEW(c->arena, c->source, n) || !FTR_NEW(c->arena, c->load, n_links + 1u) ||
	    !find_changed(c, &many))
		return false;
	if (many)
		return true;
	memcpy(c->load, c->base->ld->all.load, n_links * sizeof(*c->load));
	move_all(c);
	*max = 0;
	for (uint32_t l = 0; l < n_links; l++)
		*max = FTR_MAX(*max, c->load[l]);
	*done = true;
	return true;
}

enum ftr_status ftr_load_changed(const struct ftr_load_base *b, const struct ftr_fabric *f,
				 const struct ftr_tables *t, uint64_t *max, bool *done,
				 struct ftr_err *err)
{
	struct changes c = { .base = b, .f = f, .t = t };
	bool ok;

	*done = false;
	if (t->max_lid != f->max_lid || !only_links_missing(b->ld->f, f))
		return FTR_OK;
	c.arena = ftr_arena_new();
	ok = c.arena && run(&c, max, done);
	ftr_arena_free(c.arena);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM, "out of memory for the changed loads of %u links",
					b->ld->n_links);
}
