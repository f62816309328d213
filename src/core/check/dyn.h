/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/cdg.h>.
 *
 *	dyngraph.c	set-up, drains, links that go down
 *	dynwalk.c	the edges of entries that do not change
 *	dynchange.c	the edges that a change adds
 *	dynsteps.c	the changes of whole tables
 *	dynorder.c	an order of all vertices, which proves that the graph has no cycle
 *
 * The graph is the channel dependency graph.  An edge leads from one (link, VL) to another if a
 * packet may hold the first and wait for the second.
 *
 * Directed links between switches are numbered in the order of their sending ports.  The i-th
 * link out of s has the number first_link[s] + i.  Its reverse is the i-th link into s.  So i is
 * called the index of both links at s.
 *
 *	vertex		link * n_vl + VL
 *	count[]		how many times each edge was counted, for example once for each LID whose
 *			packets cause it; 0: the graph does not have the edge.  One square matrix
 *			per switch, row = (index in, VL), column = (index out, VL)
 *
 * A LID is drained when no packet that follows an older entry for it can still be under way.  Until
 * then it is open.  A LID becomes open when an entry for it changes, or when the link of an entry
 * for it goes down.  The base entries of a LID are its entries at its last drain.
 * Before the first drain, they are the entries with which the graph was made.
 */
#ifndef FTR_CHECK_DYN_H
#define FTR_CHECK_DYN_H

#include "base/base.h"
#include <ftr/cdg.h>

#define DYN_NONE UINT32_MAX
#define DYN_ALIVE UINT32_MAX
#define DYN_NO_INDEX UINT8_MAX
#define DYN_LID_WORDS (FTR_LID_MAX / 64 + 1)	/* words of a set of LIDs on the stack */

/* A directed link. */
struct dyn_link {
	ftr_sw from, to;
	ftr_port from_port, to_port;
	uint8_t from_index, to_index;
	uint32_t n_out;		/* number of links out of `to` */
	uint32_t pair;		/* number of the pair of this link and the first link out of `to`; the
				 * pairs with the other links out of `to` follow */
	uint32_t down_since;	/* ftr_cdg.epoch when the link had gone down, or DYN_ALIVE */
};

/* A hash table with open addressing. A key that is not in the table has the value 0. */
struct dyn_map {
	struct dyn_slot {
		uint32_t key;	/* 1 + the key; 0: the slot is free */
		uint16_t value;
	} *slot;
	uint32_t cap, n;
	uint64_t filter;	/* bit i is set if some key has key % 64 == i */
};

/* An open LID. */
struct dyn_lid {
	ftr_lid lid;
	/* The VLs that packets may have reached since the last drain, except those that they reach
	 * under the base entries.  key: link * n_sl + SL; value: set of VLs. */
	struct dyn_map occ;
	/* The base entries that were changed since the last drain. key: switch; value: 1 + port. */
	struct dyn_map base;
	uint32_t *edge;		/* the edges that changes added since the last drain, as indices in
				 * count[]; an edge that was counted twice is listed twice */
	uint32_t n_edge, cap_edge;
};

/* dynorder.c: the vertices as a list in topological order. */
struct dyn_order {
	uint32_t n;		/* number of vertices */
	uint64_t *label;	/* label[v] ascends along the list */
	uint32_t *next, *prev, first;	/* DYN_NONE: end of the list */
	/* [n][words] the set of edges from each vertex.  Both links of an edge meet at one switch.
	 * Bit i * n_vl + VL: the edge leads to this VL of the i-th link out of this switch.  The
	 * sets also contain former edges: an edge exists only if its count[] is not 0. */
	uint64_t *out_bits;
	uint32_t words;
	uint8_t *mark;
	struct dyn_found {
		uint64_t label;
		uint32_t v;
	} *found;		/* [n] vertices that a search found */
};

struct ftr_cdg {
	const struct ftr_fabric *f;
	const struct ftr_cdg_opts *opts;	/* NULL: the graph is complete */
	struct ftr_arena *arena;
	struct ftr_tables *now;	/* the current entries */
	uint32_t n_vl, n_sl;
	uint32_t n_links;
	uint32_t *first_link;	/* [n_sw + 1] first_link[s]: first link out of s */
	struct dyn_link *link;
	uint8_t *index_of;	/* index_of[s << 8 | p]: index of the link out of port p of s;
				 * DYN_NO_INDEX: no link to a switch */
	uint64_t n_pairs;	/* number of pairs (link into a switch, link out of it) */
	uint8_t *link_vl;	/* [n_sl][n_pairs] the VL on which packets leave the switch, or
				 * FTR_VL_DROP; NULL: all packets are on VL 0 */
	bool drops;		/* true: SL2VL tables drop some packets */
	uint16_t *inject;	/* [n_sl][n_links] set of VLs on which packets enter the link from
				 * hosts or from the switch itself */
	uint32_t epoch;		/* number of links that went down so far */
	uint32_t *epoch_of;	/* epoch_of[lid]: value of `epoch` when the edges of the base
				 * entries of lid were counted */
	/* [n_sl][n_sw][n_vl] sets of LIDs, lid_words words each.  Set (SL, switch, VL) has the LIDs
	 * whose packets with that SL leave the switch on that VL under the base entries. */
	uint64_t *base_set;
	uint32_t lid_words;
	uint64_t *fresh;	/* [n_sw][n_vl] scratch of dynwalk.c: sets like those of base_set[];
				 * empty between calls */
	bool *turn;		/* [n_sw] scratch of dynwalk.c */
	ftr_sw *by_neighbour;	/* [n_order] the switches with links, in the order of their first
				 * neighbours: leaves of the same pod follow each other */
	uint32_t n_order;
	uint32_t *count;	/* number of times that each edge was counted */
	struct dyn_order order;
	struct dyn_lid **open;
	uint32_t n_open, cap_open;
	uint32_t *open_of;	/* open_of[lid]: 1 + index of lid in open[]; 0: lid is drained */
	/* dynchange.c: the current change. */
	struct {
		uint8_t *alt;		/* alt[s]: new entry of s while a step is being written, or
					 * FTR_PORT_NONE */
		uint64_t *queue;	/* packets to follow: (key of dyn_lid.occ) << 8 | VL */
		uint32_t n_queue, cap_queue;
		struct dyn_slot *undo;	/* changes of dyn_lid.occ: the key in occ, and the old
					 * value */
		uint32_t n_undo, cap_undo;
		/* the state before the change; port[i]: entry that write i replaces */
		uint32_t n_edge;
		bool was_open;
		uint8_t *port;
	} step;
};

static inline uint32_t dyn_degree(const struct ftr_cdg *g, ftr_sw s)
{
	return g->first_link[s + 1] - g->first_link[s];
}

static inline bool dyn_is_down(const struct ftr_cdg *g, uint32_t link)
{
	return g->link[link].down_since != DYN_ALIVE;
}

/* The link out of port p of s; DYN_NONE: no link to a switch. */
static inline uint32_t dyn_link_of(const struct ftr_cdg *g, ftr_sw s,
				   unsigned int p)
{
	uint8_t i = g->index_of[(size_t)s << 8 | (p & 255)];

	return i == DYN_NO_INDEX ? DYN_NONE : g->first_link[s] + i;
}

/* The VL on which a packet from link l leaves the switch by the link of index `out`. */
static inline unsigned int dyn_vl(const struct ftr_cdg *g, uint32_t sl,
				  const struct dyn_link *l, unsigned int out)
{
	return g->link_vl ? g->link_vl[sl * g->n_pairs + l->pair + out] : 0;
}

/* Index in count[] of the edge from VL link_vl of link l to VL vl_out of the link that has the
 * index `out` at the switch where l ends. */
static inline uint32_t dyn_edge_at(const struct ftr_cdg *g,
				   const struct dyn_link *l, unsigned int link_vl,
				   unsigned int out, unsigned int vl_out)
{
	return (l->pair * g->n_vl + link_vl * l->n_out + out) * g->n_vl + vl_out;
}

/* The current entry of s for lid. */
static inline uint8_t *dyn_entry(const struct ftr_cdg *g, ftr_sw s, ftr_lid lid)
{
	return ftr_tables_row(g->now, s) + lid;
}

/* The set of LIDs whose packets leave switch s on VL vl under the base entries. */
static inline uint64_t *dyn_base_set(const struct ftr_cdg *g, uint32_t sl,
				     ftr_sw s, unsigned int vl)
{
	return g->base_set + (((size_t)sl * g->f->n_sw + s) * g->n_vl + vl) *
		g->lid_words;
}

/* dynwalk.c */
/* Add 1 to count[] of every edge that the current entries of the LIDs cause, and add these LIDs to
 * base_set[]; with add == false, undo this.  lids: set of LIDs.  Links with down_since <= epoch carry
 * no packets.  Returns false if g->opts->stop() returned true. */
bool dyn_count(struct ftr_cdg *g, const uint64_t *lids, uint32_t epoch, bool add);

/* dynorder.c */
bool dyn_order_new(struct ftr_cdg *g);	/* returns false if out of memory */
/* Order all vertices by the counted edges. Returns false if out of memory. */
bool dyn_order_all(struct ftr_cdg *g, bool *acyclic);
/* Adapt the order to the new edge v -> w. Returns false if the edge would close a cycle. */
bool dyn_order_edge(struct ftr_cdg *g, uint32_t v, uint32_t w);

/* dynchange.c */
/* The dyn_lid of lid. If lid is drained, it is opened. NULL: out of memory. */
struct dyn_lid *dyn_open(struct ftr_cdg *g, ftr_lid lid);
void dyn_close_last(struct ftr_cdg *g);

#endif
