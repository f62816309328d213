/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of <ftr/cdg.h> share.
 *
 *	dyn.c		set-up, drains, cables that go and come
 *	dynwalk.c	the edges of one LID by tables at rest
 *	dynchange.c	the edges that a change adds
 *	dynorder.c	edges: counts, and the order that proves them acyclic
 *
 * Directed links between switches are numbered by the port that sends; those of
 * one switch lie side by side, so "place i of s" is its link first_link[s] + i,
 * and the cable's other direction comes in at the same place.
 *
 *	vertex		link * n_vl + lane
 *	count[]		one square a switch: row = (place in, lane), column =
 *			(place out, lane)
 */
#ifndef FTR_CHECK_DYN_H
#define FTR_CHECK_DYN_H

#include "core/core.h"
#include <ftr/cdg.h>

#define DYN_NONE UINT32_MAX
#define DYN_ALIVE UINT32_MAX
#define DYN_NO_PLACE 255

struct dyn_link {
	ftr_sw from, to;
	ftr_port from_port, to_port;
	uint8_t from_place, to_place;
};

/* Lanes occupied beyond the base, by link * n_sl + SL: open addressing. */
struct dyn_occ {
	uint32_t *key;		/* key + 1; 0: free */
	uint16_t *lanes;
	uint32_t cap, n;
};

/* A LID that is not drained. */
struct dyn_lid {
	ftr_lid lid;
	struct dyn_occ occ;
	uint32_t *edge;		/* indices into count[], once per count */
	uint32_t n_edge, cap_edge;
	ftr_sw *sw;		/* switches whose entry changed */
	uint32_t n_sw, cap_sw;
};

/* To take a change back. */
struct dyn_undo {
	uint32_t key;
	uint16_t lanes;		/* before */
};

struct ftr_cdg {
	const struct ftr_fabric *f;
	bool switches;		/* they send, too */
	struct ftr_tables *base, *now;
	uint32_t n_vl, n_sl;
	uint8_t sl[FTR_N_SL];
	uint32_t n_links;
	uint32_t *first_link;	/* [n_sw + 1] */
	struct dyn_link *link;
	uint8_t *place;		/* [n_ports] DYN_NO_PLACE: to no switch */
	uint8_t *lane;		/* [n_sl] squares of places: VL, or DROP */
	uint64_t *lane_first;	/* [n_sw] square of a switch */
	uint64_t lane_square;	/* bytes per SL */
	uint16_t *inject;	/* [n_sl][n_links] lanes that sources take */
	uint16_t *lanes;	/* [n_sl][n_links] lanes that anyone takes */
	uint32_t *down_since;	/* [n_links] epoch, or DYN_ALIVE */
	uint32_t epoch;
	uint32_t *epoch_of;	/* [max_lid + 1] when the base was counted */
	uint64_t *count_first;	/* [n_sw] */
	uint32_t *count;
	/* dynorder.c */
	uint32_t n_vertices;
	uint32_t *ord;		/* [n_vertices] a permutation */
	uint8_t *mark;
	uint32_t *stack;
	uint64_t *fwd, *back;	/* ord << 32 | vertex */
	/* LIDs that are not drained */
	struct dyn_lid **open;
	uint32_t n_open, cap_open;
	uint32_t *open_of;	/* [max_lid + 1] index + 1 */
	/* one change */
	uint8_t *alt;		/* [n_sw] new entry while a step is under way */
	uint16_t *seen;		/* [n_sw] lanes met out of the switch */
	uint64_t *queue;	/* key << 8 | lane */
	uint32_t n_queue, cap_queue;
	struct dyn_undo *undo;
	uint32_t n_undo, cap_undo;
	bool no_memory;
	struct ftr_arena *arena;
};

static inline uint32_t dyn_degree(const struct ftr_cdg *g, ftr_sw s)
{
	return g->first_link[s + 1] - g->first_link[s];
}

static inline bool dyn_is_down(const struct ftr_cdg *g, uint32_t link)
{
	return g->down_since[link] != DYN_ALIVE;
}

/* The link that port p of s sends on, DYN_NONE: it leads to no switch. */
static inline uint32_t dyn_link_of(const struct ftr_cdg *g, ftr_sw s,
				   unsigned int p)
{
	uint8_t place;

	if (p > g->f->sw[s].n_ports)
		return DYN_NONE;
	place = g->place[g->f->sw[s].first_port + p];
	return place == DYN_NO_PLACE ? DYN_NONE : g->first_link[s] + place;
}

static inline unsigned int dyn_lane(const struct ftr_cdg *g, uint32_t sl,
				    ftr_sw s, unsigned int in,
				    unsigned int out)
{
	return g->lane[sl * g->lane_square + g->lane_first[s] +
		       in * dyn_degree(g, s) + out];
}

/* Index into count[] of the edge from vertex v to a lane of the link that
 * leaves at place out of where v arrives. */
static inline uint32_t dyn_edge_at(const struct ftr_cdg *g, uint32_t v,
				   unsigned int out, unsigned int lane)
{
	const struct dyn_link *l = &g->link[v / g->n_vl];
	uint32_t row = l->to_place * g->n_vl + v % g->n_vl;

	return (uint32_t)(g->count_first[l->to] +
			  (uint64_t)row * dyn_degree(g, l->to) * g->n_vl +
			  out * g->n_vl + lane);
}

/* dynwalk.c: visit every edge that the column of a LID causes, col[s * step].
 * Links down since or before epoch carry nothing.  fn returns false to stop. */
typedef bool (*dyn_edge_fn)(struct ftr_cdg *g, uint32_t edge, uint32_t v,
			    uint32_t w);
bool dyn_walk(struct ftr_cdg *g, const uint8_t *col, size_t step,
	      uint32_t epoch, dyn_edge_fn fn);

/* dynorder.c */
bool dyn_order_new(struct ftr_cdg *g);	/* false: no memory */
/* Order all; false: there is a cycle. */
bool dyn_order_all(struct ftr_cdg *g);
/* Make room for the new edge v -> w in the order; false: it closes a cycle. */
bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w);

/* dynchange.c */
struct dyn_lid *dyn_open(struct ftr_cdg *g, ftr_lid lid);
void dyn_close(struct ftr_cdg *g, ftr_lid lid);

#endif
