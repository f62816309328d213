/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/cdg.h>.
 *
 *	dyn.c		set-up, drains, links that go down and come up
 *	dynwalk.c	the edges of one LID whose entries do not change
 *	dynall.c	the edges of all LIDs at once
 *	dynchange.c	the edges that a change adds
 *	dynorder.c	the order of the vertices that proves the graph acyclic
 *
 * Directed links between switches are numbered by the port that sends. Those of
 * one switch are consecutive: link i out of s is first_link[s] + i. Its reverse is
 * link i into s.
 *
 *	vertex		link * n_vl + VL
 *	count[]		one square per switch: row = (index in, VL),
 *			column = (index out, VL)
 */
#ifndef FTR_CHECK_DYN_H
#define FTR_CHECK_DYN_H

#include "core/core.h"
#include <ftr/cdg.h>

#define DYN_NONE UINT32_MAX
#define DYN_ALIVE UINT32_MAX

/* The data of a link that are needed to follow a packet, in half a cache line. */
struct dyn_link {
	ftr_sw from, to;
	ftr_port from_port, to_port;
	uint8_t from_index, to_index;
	uint32_t row, row_len;	/* index into count[] of its row for VL 0; length of a row */
	uint32_t vl_at;	/* index into link_vl[] of its row, which holds a VL for each
			 * index out of `to` */
	uint32_t down_since;	/* epoch, or DYN_ALIVE */
	uint32_t unused;
};

/* A hash table with open addressing. A key that is absent has the value 0. */
struct dyn_map {
	struct dyn_slot {
		uint32_t key;	/* key + 1; 0: free */
		uint16_t value;
	} *slot;
	uint32_t cap, n;
};

/* A LID that is not drained. */
struct dyn_lid {
	ftr_lid lid;
	/* VLs that packets occupy in addition to those that they occupy under the base
	 * entries; key: link * n_sl + SL */
	struct dyn_map occ;
	/* port + 1 of the base entry, for switches whose entry was changed since the last
	 * drain */
	struct dyn_map base;
	uint32_t *edge;		/* indices into count[] of edges that changes added,
				 * one for each time that an edge was counted */
	uint32_t n_edge, cap_edge;
};

/* A value before a change, so that the change can be undone. */
struct dyn_undo {
	uint32_t key;
	uint16_t vls;		/* old value */
};

struct ftr_cdg {
	const struct ftr_fabric *f;
	bool switches;		/* switches send packets, too */
	struct ftr_team *team;	/* shares the work of ftr_cdg_new() */
	bool (*stop)(void *ctx);	/* polled while the graph is built;
					 * NULL: never */
	void *stop_ctx;
	struct ftr_tables *now;
	uint32_t n_vl, n_sl;
	uint8_t sl[FTR_N_SL];
	uint32_t n_links;
	uint32_t *first_link;	/* [n_sw + 1] */
	struct dyn_link *link;
	uint32_t *link_of;	/* [n_sw * 256] by port; DYN_NONE: no link to a
				 * switch */
	uint8_t *link_vl;		/* [n_sl] VL by (index in, index out) of each
					 * switch, or FTR_VL_DROP */
	uint64_t *vl_first;	/* [n_sw] start of the square of a switch */
	bool plain;		/* all packets are on VL 0 */
	uint64_t vl_square;	/* bytes per SL */
	uint16_t *inject;	/* [n_sl][n_links] VLs that packets take at
				 * their source */
	uint16_t *vls;	/* [n_sl][n_links] VLs that any packet takes */
	ftr_sw *source;		/* switches at which packets enter */
	uint32_t n_sources;
	uint32_t epoch;
	uint32_t *epoch_of;	/* [max_lid + 1] epoch in which the base was
				 * counted */
	/* [n_sl][n_sw][n_vl] sets of LIDs, lid_words words each: the LIDs whose packets
	 * occupy this VL on the switch's outgoing link under the base entries */
	uint64_t *base_set;
	uint32_t lid_words;
	uint64_t *count_first;	/* [n_sw] */
	uint32_t *count;
	/* dynorder.c */
	uint32_t n_vertices;
	/* [n_vertices] a list of the vertices in order; labels ascend along it */
	uint64_t *label;
	uint32_t *next, *prev, first;	/* DYN_NONE: end of the list */
	/* [n_vertices][words] present or former edges to and from other vertices;
	 * bit: index of the link at the switch between the two * n_vl + VL.  An
	 * edge is present if its count[] is not 0 */
	uint64_t *out_bits, *in_bits;
	uint32_t words;
	uint8_t *mark;
	struct dyn_found {
		uint64_t label;
		uint32_t v;
	} *fwd, *back;		/* [n_vertices] */
	/* LIDs that are not drained */
	struct dyn_lid **open;
	uint32_t n_open, cap_open;
	uint32_t *open_of;	/* [max_lid + 1] index into open[] + 1; 0: drained */
	/* state of one change */
	uint8_t *alt;		/* [n_sw] new entry while a step is being written */
	uint8_t *col;		/* [n_sw] scratch: the entries of one LID */
	uint16_t *seen;		/* [n_sw] VLs visited on the link out of the
				 * switch */
	uint64_t *queue;	/* key << 8 | VL */
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
	return g->link[link].down_since != DYN_ALIVE;
}

/* The link out of port p of s; DYN_NONE if it leads to no switch. */
static inline uint32_t dyn_link_of(const struct ftr_cdg *g, ftr_sw s,
				   unsigned int p)
{
	return g->link_of[(size_t)s << 8 | (p & 255)];
}

/* The VL on which a packet that came over link l leaves by the link of index out. */
static inline unsigned int dyn_vl(const struct ftr_cdg *g, uint32_t sl,
				  const struct dyn_link *l, unsigned int out)
{
	return g->plain ? 0 : g->link_vl[sl * g->vl_square + l->vl_at + out];
}

/* Index into count[] of the edge from a VL of link l to a VL of the link of
 * index out of the switch where l ends. */
static inline uint32_t dyn_edge_at(const struct ftr_cdg *g,
				   const struct dyn_link *l, unsigned int link_vl,
				   unsigned int out, unsigned int vl_out)
{
	return l->row + link_vl * l->row_len + out * g->n_vl + vl_out;
}

/* The current entry of s for a LID. */
static inline uint8_t *dyn_entry(const struct ftr_cdg *g, ftr_sw s, ftr_lid lid)
{
	return ftr_tables_row(g->now, s) + lid;
}

/* The LIDs whose packets occupy VL vl on the link out of s under the base entries. */
static inline uint64_t *dyn_base_set(const struct ftr_cdg *g, uint32_t sl,
				     ftr_sw s, unsigned int vl)
{
	return g->base_set + (((size_t)sl * g->f->n_sw + s) * g->n_vl + vl) *
		g->lid_words;
}

/* dynwalk.c: call fn for every edge that the column of a LID, col[s], causes.
 * Links that went down at or before epoch carry nothing. fn returns false to
 * stop; otherwise the column is entered in base_set[]. */
typedef bool (*dyn_edge_fn)(struct ftr_cdg *g, uint32_t edge, uint32_t v,
			    uint32_t w);
bool dyn_walk(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col,
	      uint32_t epoch, dyn_edge_fn fn);
/* Add `by` to count[] of every edge that the column causes. base: also enter the column
 * in base_set[]. */
void dyn_count(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col,
	       uint32_t epoch, uint32_t by, bool base);

/* dynall.c: count all edges of the current entries. False: no memory. */
bool dyn_count_all(struct ftr_cdg *g);
/* True if the caller has stopped the construction; the counts are then incomplete. */
static inline bool dyn_stopped(const struct ftr_cdg *g)
{
	return g->stop && g->stop(g->stop_ctx);
}

/* dynorder.c */
bool dyn_order_new(struct ftr_cdg *g);	/* false: no memory */
/* Note an edge before the vertices are ordered: from v to VL vl of the link of index out. */
static inline void dyn_order_note(struct ftr_cdg *g, uint32_t v,
				  unsigned int out, unsigned int vl)
{
	uint32_t bit = out * g->n_vl + vl;

	g->out_bits[(size_t)v * g->words + bit / 64] |= UINT64_C(1) << bit % 64;
}
/* Order all vertices by the noted edges. False: no memory. */
bool dyn_order_all(struct ftr_cdg *g, bool *acyclic);
/* Adapt the order to the new edge v -> w. False: the edge closes a cycle. */
bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w);

/* dynchange.c */
struct dyn_lid *dyn_open(struct ftr_cdg *g, ftr_lid lid);
void dyn_close(struct ftr_cdg *g, ftr_lid lid);

#endif
