// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the edges of one LID while its entries do not change.
 *
 * Every switch s has one entry for the LID, so all packets leave s on one link.  seen[s] is the set
 * of VLs visited on this link.  From each source the path is followed until it ends or reaches a
 * VL that was visited before.  Each visited VL has at most one successor, so at most one edge leads
 * from it.  The walk takes O(n_sw * n_vl) for each LID and SL.
 */
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
		if (w->by)
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

void dyn_count(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col,
	       uint32_t epoch, uint32_t by, bool base)
{
	struct walk w = { g, 0, by, lid };

	set_links_out(g, col, epoch);
	for (; w.sl < g->n_sl; w.sl++) {
		walk_sl(&w);
		if (base)
			enter_base(&w);
	}
}

/* Count the edges of the LIDs in base_set[] that leave s on VL link_vl, for one SL. */
static void count_edges(struct ftr_cdg *g, uint32_t sl, ftr_sw s, unsigned int link_vl)
{
	const uint64_t *set = dyn_base_set(g, sl, s, link_vl);
	const uint8_t *row = dyn_entry(g, s, 0);

	for (uint32_t w = 0; w < g->lid_words; w++)
		for (uint64_t b = set[w]; b; b &= b - 1) {
			ftr_lid lid = (ftr_lid)(w * 64 + (uint32_t)__builtin_ctzll(b));
			const struct dyn_link *in = &g->link[dyn_link_of(g, s, row[lid])];
			uint32_t out = dyn_link_of(g, in->to, *dyn_entry(g, in->to, lid));
			uint32_t index = out - g->first_link[in->to];
			unsigned int vl;

			if (out == DYN_NONE)
				continue;
			vl = dyn_vl(g, sl, in, index);
			if (vl != FTR_VL_DROP)
				g->count[dyn_edge_at(g, in, link_vl, index, vl)]++;
		}
}

void dyn_count_base(struct ftr_cdg *g)
{
	for (uint32_t sl = 0; sl < g->n_sl; sl++)
		for (ftr_sw s = 0; s < g->f->n_sw; s++)
			for (unsigned int vl = 0; vl < g->n_vl; vl++)
				count_edges(g, sl, s, vl);
}
