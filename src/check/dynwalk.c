// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The edges of one LID by tables at rest.
 *
 * Every switch has one entry for the LID, so all packets that go from s go onto
 * one link, and the lanes met there are one small set: seen[s].  From each
 * source the path is followed until it comes onto a lane that was met before;
 * each lane met has one successor, hence one edge.  O(n_sw) per LID and SL.
 */
#include <string.h>

#include "check/dyn.h"

struct walk {
	struct ftr_cdg *g;
	const uint8_t *col;
	size_t step;
	uint32_t epoch, sl;
	dyn_edge_fn fn;
};

/* The link that the entry of s leads onto, if it carries anything. */
static uint32_t link_out(const struct walk *w, ftr_sw s)
{
	uint32_t link = dyn_link_of(w->g, s, w->col[s * w->step]);

	return link != DYN_NONE && w->g->down_since[link] > w->epoch ? link :
		DYN_NONE;
}

/* From the lane of link, met for the first time, on. */
static bool follow(const struct walk *w, uint32_t link, unsigned int lane)
{
	struct ftr_cdg *g = w->g;

	for (;;) {
		const struct dyn_link *in = &g->link[link];
		uint32_t v = link * g->n_vl + lane;
		uint32_t out = link_out(w, in->to);

		if (out == DYN_NONE)
			return true;
		lane = dyn_lane(g, w->sl, in->to, in->to_place,
				g->link[out].from_place);
		if (lane == FTR_VL_DROP)
			return true;
		if (!w->fn(g, dyn_edge_at(g, v, g->link[out].from_place, lane),
			   v, out * g->n_vl + lane))
			return false;
		if (g->seen[in->to] >> lane & 1)
			return true;
		g->seen[in->to] |= (uint16_t)(1u << lane);
		link = out;
	}
}

static bool walk_sl(const struct walk *w)
{
	struct ftr_cdg *g = w->g;

	memset(g->seen, 0, g->f->n_sw * sizeof(*g->seen));
	for (ftr_sw s = 0; s < g->f->n_sw; s++) {
		uint32_t link = link_out(w, s);
		uint32_t lanes = link == DYN_NONE ? 0 :
			g->inject[w->sl * g->n_links + link];

		for (lanes &= ~(uint32_t)g->seen[s]; lanes;
		     lanes &= lanes - 1) {
			unsigned int lane = (unsigned int)__builtin_ctz(lanes);

			if (g->seen[s] >> lane & 1)
				continue;
			g->seen[s] |= (uint16_t)(1u << lane);
			if (!follow(w, link, lane))
				return false;
		}
	}
	return true;
}

bool dyn_walk(struct ftr_cdg *g, const uint8_t *col, size_t step,
	      uint32_t epoch, dyn_edge_fn fn)
{
	struct walk w = { g, col, step, epoch, 0, fn };

	for (; w.sl < g->n_sl; w.sl++)
		if (!walk_sl(&w))
			return false;
	return true;
}
