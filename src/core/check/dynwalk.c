// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the edges that the entries of some LIDs cause while they do not change: those of all LIDs
 * when the graph is made, and those of the open LIDs when they are drained.
 *
 * Every switch has one entry for a LID, so all packets to it leave a switch on one link.
 *
 * The walk goes switch by switch: at its turn, a switch passes on all LIDs whose packets have newly
 * reached it.  In a tree, a switch has its turn once on the way up and once on the way down.
 * Following the packets LID by LID takes two to three times as long, because then every step is in
 * another row of the tables and in another part of count[].  O(n_sw * n_vl) for each LID and SL.
 */
#include <string.h>

#include "check/dyn.h"

struct walk {
	struct ftr_cdg *g;
	const uint64_t *lids;
	uint32_t sl, epoch;
	uint32_t n_vl, lid_words;	/* those of g */
	uint32_t by;			/* 1, or UINT32_MAX to subtract 1 */
	bool stopped;
};

/* Where packets on one VL go by a link out of a switch. */
struct hop {
	const uint8_t *row;		/* the entries of the next switch */
	const uint8_t *index_of;	/* [256] its links by port; by the index of its link: */
	const uint8_t *vl;		/* VLs; NULL: VL 0 */
	uint32_t *count;		/* [][n_vl] edges */
	uint64_t *fresh;		/* its sets of LIDs */
	uint32_t first_link;		/* its first link */
};

static uint64_t *fresh_set(const struct ftr_cdg *g, ftr_sw s, unsigned int vl)
{
	return g->fresh + ((size_t)s * g->n_vl + vl) * g->lid_words;
}

static bool is_up(const struct walk *w, uint32_t link)
{
	return w->g->link[link].down_since > w->epoch;
}

/* Let the packets that enter the fabric at s leave s. */
static void enter(const struct walk *w, ftr_sw s)
{
	const struct ftr_cdg *g = w->g;
	const uint8_t *row = dyn_entry(g, s, 0);
	uint16_t vls[256] = { 0 }, all = 0;	/* vls[]: by port */

	for (uint32_t l = g->first_link[s]; l < g->first_link[s + 1]; l++)
		if (is_up(w, l))
			all |= vls[g->link[l].from_port] = g->inject[w->sl * g->n_links + l];
	g->turn[s] = all != 0;
	for (unsigned int vl = 0; all >> vl; vl++)
		for (uint32_t k = 0; k < g->lid_words; k++) {
			uint64_t b = 0;

			if (!w->lids[k])
				continue;
			for (uint32_t i = 0; i < 64; i++)
				b |= (uint64_t)(vls[row[64 * k + i]] >> vl & 1) << i;
			fresh_set(g, s, vl)[k] = b & w->lids[k];
		}
}

static void set_hops(const struct walk *w, ftr_sw s, unsigned int vl, struct hop *hop)
{
	const struct ftr_cdg *g = w->g;

	for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1]; i++) {
		const struct dyn_link *l = &g->link[i];

		hop[l->from_port] = (struct hop){
			.row = dyn_entry(g, l->to, 0),
			.index_of = &g->index_of[(size_t)l->to << 8],
			.vl = g->link_vl ? &g->link_vl[w->sl * g->n_pairs + l->pair] : NULL,
			.count = &g->count[dyn_edge_at(g, l, vl, 0, 0)],
			.fresh = fresh_set(g, l->to, 0),
			.first_link = g->first_link[l->to],
		};
		g->turn[l->to] = true;
	}
}

static inline void pass_on(const struct walk *w, const struct hop *h, uint32_t lid)
{
	uint32_t i = h->index_of[h->row[lid]], vl;

	if (i == DYN_NO_INDEX || (w->epoch && !is_up(w, h->first_link + i)))
		return;
	vl = h->vl ? h->vl[i] : 0;
	if (vl == FTR_VL_DROP)
		return;
	h->count[i * w->n_vl + vl] += w->by;
	h->fresh[vl * w->lid_words + lid / 64] |= UINT64_C(1) << lid % 64;
}

/* Pass on all LIDs whose packets leave s on this VL and have not been passed on. */
static void take_turn(const struct walk *walk, ftr_sw s, unsigned int vl)
{
	const struct walk w = *walk;	/* a copy that no pointer can change: this loop is hot */
	const struct ftr_cdg *g = w.g;
	const uint8_t *row = dyn_entry(g, s, 0);
	uint64_t *fresh = fresh_set(g, s, vl), *base = dyn_base_set(g, w.sl, s, vl);
	uint64_t any = 0, new = w.by == 1 ? UINT64_MAX : 0;
	struct hop hop[256];

	for (uint32_t k = 0; k < w.lid_words; k++)
		any |= fresh[k] &= base[k] ^ new;
	if (!any)
		return;
	set_hops(walk, s, vl, hop);
	for (uint32_t k = 0; k < w.lid_words; k++) {
		uint64_t b = fresh[k];

		fresh[k] = 0;
		base[k] ^= b;
		for (; b; b &= b - 1) {
			uint32_t lid = 64 * k + (uint32_t)__builtin_ctzll(b);

			pass_on(&w, &hop[row[lid]], lid);
		}
	}
}

/* Give each switch that packets may have reached its turn.  Returns false if there is none. */
static bool take_turns(struct walk *w)
{
	const struct ftr_cdg *g = w->g;
	bool any = false;

	for (uint32_t i = 0; i < g->n_order; i++) {
		ftr_sw s = g->by_neighbour[i];

		if (!g->turn[s])
			continue;
		if (g->opts && g->opts->stop && g->opts->stop(g->opts->stop_ctx)) {
			w->stopped = true;
			return false;
		}
		any = true;
		g->turn[s] = false;
		for (unsigned int vl = 0; vl < g->n_vl; vl++)
			take_turn(w, s, vl);
	}
	return any;
}

bool dyn_count(struct ftr_cdg *g, const uint64_t *lids, uint32_t epoch, bool add)
{
	struct walk w = {
		.g = g, .lids = lids, .epoch = epoch, .n_vl = g->n_vl, .lid_words = g->lid_words,
		.by = add ? 1 : UINT32_MAX,
	};

	for (; w.sl < g->n_sl; w.sl++) {
		for (uint32_t i = 0; i < g->n_order; i++)
			enter(&w, g->by_neighbour[i]);
		while (take_turns(&w))
			;
		if (w.stopped)
			return false;
	}
	return true;
}
