/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/cdg.h>.
 *
 *	dyngraph.c	set-up, drains, links that go down and come up
 *	dynwalk.c	the edges of one LID whose entries do not change
 *	dynall.c	the edges of all LIDs at once
 *	dynchange.c	the edges that a change adds
 *	dynorder.c	an order of all vertices, which proves that the graph has no cycle
 *
 * Directed links between switches are numbered in the order of the ports that send. The i-th link
 * out of s is number first_link[s] + i. Its reverse is called the i-th link into s; i is the index
 * of both.
 *
 *	vertex		link * n_vl + VL
 *	count[]		one square matrix per switch: row = (index in, VL),
 *			column = (index out, VL)
 *
 * The base entries of a LID are its entries at its last drain, or those with which the graph
 * was made. A LID is open if, since its last drain, an entry for it was changed, or a link went
 * down onto which an entry for it leads.
 */
#ifndef FTR_CHECK_DYN_H
#define FTR_CHECK_DYN_H

#include "core/core.h"
#include <ftr/cdg.h>

#define DYN_NONE UINT32_MAX
#define DYN_ALIVE UINT32_MAX

/* A directed link, with all data for following a packet over it (half a cache line). */
struct dyn_link {
	ftr_sw from, to;
	ftr_port from_port, to_port;
	uint8_t from_index, to_index;
	uint32_t row, row_len;	/* row: index in count[] of this link's row for VL 0; row_len:
				 * length of a row */
	uint32_t vl_at;		/* index in link_vl[], for the first SL, of this link's row. Element
				 * i of the row: the VL on which a packet leaves switch `to` over
				 * the i-th link out of it */
	uint32_t down_since;	/* epoch in which the link went down, or DYN_ALIVE */
	uint32_t unused;
};

/* A hash table with open addressing. The value of a key that is not in the table is 0. */
struct dyn_map {
	struct dyn_slot {
		uint32_t key;	/* 1 + the key; 0: the slot is free */
		uint16_t value;
	} *slot;
	uint32_t cap, n;
	uint64_t filter;	/* bit i is set if the table has a key with key % 64 == i */
};

/* A LID that is not drained. */
struct dyn_lid {
	ftr_lid lid;
	/* key: link * n_sl + SL; value: the set of VLs that packets occupy in addition to those
	 * that they occupy under the base entries */
	struct dyn_map occ;
	/* key: a switch whose entry was changed since the last drain; value: 1 + port of its base
	 * entry */
	struct dyn_map base;
	uint32_t *edge;		/* indices in count[] of the edges that changes added; an edge
				 * counted n times is listed n times */
	uint32_t n_edge, cap_edge;
};

/* Data to undo one change of dyn_lid.occ, or one increment of an element of count[]. */
struct dyn_undo {
	uint32_t key;		/* key in occ, or index in count[] */
	uint16_t vls;		/* old value in occ; not used for count[] */
};

struct ftr_cdg {
	const struct ftr_fabric *f;
	bool switches;		/* true: switches also send packets, not only host ports */
	bool (*stop)(void *ctx);	/* as in struct ftr_cdg_opts */
	void *stop_ctx;
	bool stopped;		/* stop returned true */
	struct ftr_tables *now;	/* the current entries */
	uint32_t n_vl, n_sl;
	uint8_t sl[FTR_N_SL];	/* [n_sl] the SLs that packets use */
	uint32_t n_links;
	uint32_t *first_link;	/* [n_sw + 1] first_link[s]: first link out of s */
	struct dyn_link *link;
	uint32_t *link_of;	/* link_of[s << 8 | p]: link out of port p of s; DYN_NONE: no link
				 * to a switch */
	uint8_t *link_vl;	/* [n_sl][vl_square] for each switch, a square matrix of (index in,
				 * index out): the VL, or FTR_VL_DROP; NULL: all packets are on
				 * VL 0 */
	uint64_t *vl_first;	/* vl_first[s]: index in link_vl[] of the matrix of s for the first
				 * SL */
	bool plain;		/* all packets are on VL 0 */
	bool drops;		/* SL2VL tables drop some packets */
	uint64_t vl_square;	/* number of bytes of link_vl[] for one SL */
	uint16_t *inject;	/* [n_sl][n_links] set of VLs on which packets enter the link from
				 * hosts, or from the switch itself */
	ftr_sw *source;		/* switches at which packets enter the fabric */
	uint32_t n_sources;
	uint32_t epoch;		/* number of link failures so far */
	uint32_t *epoch_of;	/* epoch_of[lid]: epoch in which the edges of the base entries were
				 * counted */
	/* [n_sl][n_sw][n_vl] sets of LIDs, lid_words words each: the LIDs whose packets with that
	 * SL leave the switch on that VL under the base entries. A set may also contain LIDs whose
	 * packets leave the switch by no link (dynall.c) */
	uint64_t *base_set;
	uint32_t lid_words;
	uint64_t *count_first;	/* count_first[s]: index in count[] of the matrix of s */
	uint32_t *count;	/* [edge] number of times that the edge was counted */
	/* dynorder.c */
	uint32_t n_vertices;
	/* the vertices in topological order, as a list; label[v] ascends along the list */
	uint64_t *label;
	uint32_t *next, *prev, first;	/* DYN_NONE: end of the list */
	/* [n_vertices][words] sets of present and former edges: out_bits from v, in_bits to v. The
	 * number of a bit is i * n_vl + VL, where i is the index of the other link at the switch
	 * between the two links. An edge is present if its count[] is not 0 */
	uint64_t *out_bits, *in_bits;
	uint32_t words;
	uint8_t *mark;
	struct dyn_found {
		uint64_t label;
		uint32_t v;
	} *fwd, *back;		/* [n_vertices] vertices found by the forward search, and by the
				 * backward search */
	/* LIDs that are not drained */
	struct dyn_lid **open;
	uint32_t n_open, cap_open;
	uint32_t *open_of;	/* open_of[lid]: 1 + index in open[]; 0: drained */
	/* state of the current change */
	uint8_t *alt;		/* alt[s]: new entry of s while a step is being written, or
				 * FTR_PORT_NONE */
	uint8_t *col;		/* [n_sw] scratch: the entries of one LID */
	uint16_t *seen;		/* seen[s]: set of VLs visited on the link out of s */
	uint64_t *queue;	/* VLs to be followed: key of dyn_lid.occ << 8 | VL */
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

/* The link out of port p of s; DYN_NONE: the port has no link to a switch. */
static inline uint32_t dyn_link_of(const struct ftr_cdg *g, ftr_sw s,
				   unsigned int p)
{
	return g->link_of[(size_t)s << 8 | (p & 255)];
}

/* The VL on which a packet that came over link l leaves the switch by the link of index `out`. */
static inline unsigned int dyn_vl(const struct ftr_cdg *g, uint32_t sl,
				  const struct dyn_link *l, unsigned int out)
{
	return g->plain ? 0 : g->link_vl[sl * g->vl_square + l->vl_at + out];
}

/* Index in count[] of the edge from VL link_vl of link l to VL vl_out of the link of index `out` at
 * the switch where l ends. */
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

/* The LIDs whose packets leave switch s on VL vl under the base entries. */
static inline uint64_t *dyn_base_set(const struct ftr_cdg *g, uint32_t sl,
				     ftr_sw s, unsigned int vl)
{
	return g->base_set + (((size_t)sl * g->f->n_sw + s) * g->n_vl + vl) *
		g->lid_words;
}

/* dynwalk.c: call fn for every edge that the entries col[] of a LID cause. Links that went down in
 * or before epoch carry no packets. If fn returns false, stop and return false. The VLs visited by
 * packets of an SL are stored in base_set[] when all edges of this SL have been visited. */
typedef bool (*dyn_edge_fn)(struct ftr_cdg *g, uint32_t edge, uint32_t v,
			    uint32_t w);
bool dyn_walk(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col,
	      uint32_t epoch, dyn_edge_fn fn);
/* Add `by` to count[] of every edge that the entries col[] cause. base: also store the visited VLs
 * in base_set[]. */
void dyn_count(struct ftr_cdg *g, ftr_lid lid, const uint8_t *col,
	       uint32_t epoch, uint32_t by, bool base);

/* dynall.c: count all edges of the current entries. team: as in struct ftr_cdg_opts. False: out
 * of memory. */
bool dyn_count_all(struct ftr_cdg *g, struct ftr_team *team);
/* True if the caller stops the construction, or has stopped it; the counts are then incomplete. */
static inline bool dyn_stopped(struct ftr_cdg *g)
{
	g->stopped = g->stopped || (g->stop && g->stop(g->stop_ctx));
	return g->stopped;
}

/* dynorder.c */
bool dyn_order_new(struct ftr_cdg *g);	/* false: out of memory */
/* Before the vertices are ordered: note the edge from v to VL vl of the link of index `out`. */
static inline void dyn_order_note(struct ftr_cdg *g, uint32_t v,
				  unsigned int out, unsigned int vl)
{
	uint32_t bit = out * g->n_vl + vl;

	g->out_bits[(size_t)v * g->words + bit / 64] |= UINT64_C(1) << bit % 64;
}
/* Order all vertices by the noted edges. False: out of memory. */
bool dyn_order_all(struct ftr_cdg *g, bool *acyclic);
/* Adapt the order to the new edge v -> w. False: the edge closes a cycle. */
bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w);

/* dynchange.c */
/* The dyn_lid of a LID; it is created if the LID is drained. NULL: out of memory. */
struct dyn_lid *dyn_open(struct ftr_cdg *g, ftr_lid lid);
void dyn_close(struct ftr_cdg *g, ftr_lid lid);

#endif
