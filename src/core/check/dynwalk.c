// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the edges that entries cause while they do not change: for all LIDs at once when the graph
 * is made (dyn_count_all), and for one LID when it is drained (dyn_count).
 *
 * Every switch s has one entry for a LID, so all packets to it leave s on one link.
 *
 * dyn_count() follows the path from each source until it ends or reaches a VL that was visited
 * before.  seen[s] is the set of VLs visited on the link out of s.  Each visited VL has at most one
 * successor, so at most one edge leads from it.  This takes O(n_sw * n_vl) for each SL.
 *
 * dyn_count_all() could do the same for each LID.  But then every step is in another row of the
 * tables and in another part of count[]: a graph of 11,664 hosts took three times as long.  So it
 * goes switch by switch instead.  A queue has the switches that packets have reached with some LIDs
 * since their last turn; at its turn, a switch passes all these LIDs on.  In a tree, a switch has
 * its turn once on the way up and once on the way down.  It takes O(n_sw * n_vl) for each LID and
 * SL, too.
 */
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"

struct walk {
	struct ftr_cdg *g;
	uint32_t sl, by;
	ftr_lid lid;
};

/* Set out[s] to the link onto which the entry of s leads.  DYN_NONE: no link, or a link that is
 * down for this walk (down_since <= epoch). */
static void set_links_out(struct ftr_cdg *g, const uint8_t *col, uint32_t epoch)
{
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		g->out[s] = dyn_link_of(g, s, col[s]);
		if (g->epoch && g->out[s] != DYN_NONE && g->link[g->out[s]].down_since <= epoch)
			g->out[s] = DYN_NONE;
	}
}

/* Follow packets from VL link_vl of the link, which is visited for the first time. */
static void follow(const struct walk *w, uint32_t link, unsigned int link_vl)
{
	struct ftr_cdg *g = w->g;

	for (;;) {
		const struct dyn_link *in = &g->link[link];
		unsigned int from = link_vl;
		uint32_t out = g->out[in->to], index = out - g->first_link[in->to];

		if (out == DYN_NONE)
			return;
		link_vl = dyn_vl(g, w->sl, in, index);
		if (link_vl == FTR_VL_DROP)
			return;
		g->count[dyn_edge_at(g, in, from, index, link_vl)] += w->by;
		if (g->seen[in->to] >> link_vl & 1)
			return;
		g->seen[in->to] |= (uint16_t)(1u << link_vl);
		link = out;
	}
}

static void walk_sl(const struct walk *w)
{
	struct ftr_cdg *g = w->g;

	memset(g->seen, 0, g->f->n_sw * sizeof(*g->seen));
	for (uint32_t i = 0; i < g->n_sources; i++) {
		ftr_sw s = g->source[i];
		uint32_t link = g->out[s];
		uint32_t vls = link == DYN_NONE ? 0 : g->inject[w->sl * g->n_links + link];

		for (; vls; vls &= vls - 1) {
			unsigned int link_vl = (unsigned int)__builtin_ctz(vls);

			if (g->seen[s] >> link_vl & 1)
				continue;
			g->seen[s] |= (uint16_t)(1u << link_vl);
			follow(w, link, link_vl);
		}
	}
}

static void enter_base(const struct walk *w)
{
	const struct ftr_cdg *g = w->g;
	const uint64_t bit = UINT64_C(1) << w->lid % 64;

	for (ftr_sw s = 0; s < g->f->n_sw; s++)
		for (unsigned int vl = 0; vl < g->n_vl; vl++) {
			uint64_t *at = dyn_base_set(g, w->sl, s, vl) +
				w->lid / 64;

			if (g->seen[s] >> vl & 1)
				*at |= bit;
			else
				*at &= ~bit;
		}
}

void dyn_count(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col, uint32_t epoch, bool base)
{
	struct walk w = { g, 0, base ? 1 : UINT32_MAX, lid };

	set_links_out(g, col, epoch);
	for (; w.sl < g->n_sl; w.sl++) {
		walk_sl(&w);
		if (base)
			enter_base(&w);
	}
}

/* ---- all LIDs ---------------------------------------------------------- */

/* For one SL, the LIDs that have reached a VL and not been passed on. */
struct spread {
	struct ftr_cdg *g;
	uint32_t sl;
	uint64_t *fresh;	/* [n_sw][n_vl][lid_words] the sets of LIDs, as in base_set[] */
	ftr_sw *queue;		/* [n_sw] ring of the switches with such LIDs */
	uint32_t first, n;
	bool *queued;		/* [n_sw] */
};

static inline void reach(struct spread *p, ftr_sw s, unsigned int vl, ftr_lid lid)
{
	const struct ftr_cdg *g = p->g;

	p->fresh[((size_t)s * g->n_vl + vl) * g->lid_words + lid / 64] |= UINT64_C(1) << lid % 64;
	if (p->queued[s])
		return;
	p->queued[s] = true;
	p->queue[(p->first + p->n++) % g->f->n_sw] = s;
}

/* The packets that enter the fabric at s. */
static void reach_from_source(struct spread *p, ftr_sw s)
{
	const struct ftr_cdg *g = p->g;
	const uint8_t *row = dyn_entry(g, s, 0);

	for (uint32_t lid = 1; lid <= g->f->max_lid; lid++) {
		uint32_t link = dyn_link_of(g, s, row[lid]), vls;

		if (link == DYN_NONE)
			continue;
		vls = g->inject[p->sl * g->n_links + link];
		for (; vls; vls &= vls - 1)
			reach(p, s, (unsigned int)__builtin_ctz(vls), (ftr_lid)lid);
	}
}

/* Pass on a LID whose packets leave s on VL link_vl. */
static void pass_on(struct spread *p, ftr_sw s, unsigned int link_vl, ftr_lid lid)
{
	struct ftr_cdg *g = p->g;
	const struct dyn_link *in = &g->link[dyn_link_of(g, s, *dyn_entry(g, s, lid))];
	uint32_t out = dyn_link_of(g, in->to, *dyn_entry(g, in->to, lid));
	uint32_t index = out - g->first_link[in->to];
	unsigned int vl;

	if (out == DYN_NONE)
		return;
	vl = dyn_vl(g, p->sl, in, index);
	if (vl == FTR_VL_DROP)
		return;
	g->count[dyn_edge_at(g, in, link_vl, index, vl)]++;
	if (!(dyn_base_set(g, p->sl, in->to, vl)[lid / 64] >> lid % 64 & 1))
		reach(p, in->to, vl, lid);
}

static void take_turn(struct spread *p, ftr_sw s)
{
	const struct ftr_cdg *g = p->g;
	uint64_t *fresh = p->fresh + (size_t)s * g->n_vl * g->lid_words;

	for (unsigned int vl = 0; vl < g->n_vl; vl++)
		for (uint32_t w = 0; w < g->lid_words; w++) {
			uint64_t b = *fresh;

			*fresh++ = 0;
			dyn_base_set(g, p->sl, s, vl)[w] |= b;
			for (; b; b &= b - 1)
				pass_on(p, s, vl, (ftr_lid)(w * 64 + (uint32_t)__builtin_ctzll(b)));
		}
}

static enum ftr_status spread_sl(struct spread *p, struct ftr_err *err)
{
	struct ftr_cdg *g = p->g;

	for (uint32_t i = 0; i < g->n_sources; i++)
		reach_from_source(p, g->source[i]);
	while (p->n) {
		ftr_sw s = p->queue[p->first];

		if (g->stop && g->stop(g->stop_ctx))
			return ftr_fail(err, FTR_REFUSED, "stopped before the dependency graph was complete");
		p->first = (p->first + 1) % g->f->n_sw;
		p->n--;
		p->queued[s] = false;
		take_turn(p, s);
	}
	return FTR_OK;
}

enum ftr_status dyn_count_all(struct ftr_cdg *g, struct ftr_err *err)
{
	struct spread p = { .g = g };
	struct ftr_arena *a = ftr_arena_new();
	enum ftr_status st = FTR_OK;

	if (!a || !FTR_NEW(a, p.queue, g->f->n_sw) || !FTR_ZNEW(a, p.queued, g->f->n_sw) ||
	    !(p.fresh = ftr_arena_zalloc(a, (size_t)g->f->n_sw * g->n_vl,
					 g->lid_words * sizeof(*p.fresh))))
		st = ftr_nomem(err, "the dependencies of %u switches", g->f->n_sw);
	for (; p.sl < g->n_sl; p.sl++) {
		if (st)
			break;
		st = spread_sl(&p, err);
	}
	ftr_arena_free(a);
	return st;
}
