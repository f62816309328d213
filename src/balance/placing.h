/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by displaced.c and displaced_all.c: the counters and the steps of placing an entry.
 */
#ifndef FTR_BALANCE_PLACING_H
#define FTR_BALANCE_PLACING_H

#include "balance/displaced.h"

#define PRICES 1024
#define NOT_COUNTED (UINT32_MAX - 1)	/* pos[lid]: flows to lid are not counted at all */

/* A source whose flows pass an entry. displaced: they pass a displaced entry before this one. */
struct passing {
	uint32_t source;
	bool displaced;
};

/* A switch whose flows reach an entry. displaced: they pass a displaced entry before this one. */
struct passing_at {
	ftr_sw sw;
	bool displaced;
};

/* A share of a stream: n of its shifts are in one bin. bin: index in the bins of a link. */
struct share {
	uint32_t bin, n;
};

/* Flows that take the same path to a LID: the number of their shifts in each bin. */
struct stream {
	uint32_t n;
	struct share *share;	/* [n_bins] the first n are used, each for a different bin */
	uint32_t *at;		/* at[b]: index of the share of bin b; valid only if it is < n and
				 * that share has bin b */
};

struct displaced {
	struct ftr_arena *arena;
	struct balance_net *net;
	struct ftr_balance_input in;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;
	/* the entries and the senders of the LID being placed; NULL: unknown (entries are then read
	 * from t) */
	uint8_t *row;		/* [n_sw] */
	uint16_t *senders;	/* [n_sw] */
	uint32_t *pos;		/* pos[lid]: position of the host; BALANCE_NONE: it has none and
				 * counts in all-to-all traffic only; or NOT_COUNTED */
	/* flows[x]: all-to-all flows on link x. bins[x]: the flows on link x that have passed a
	 * displaced entry; bin b is bins[x][index_of[b]]; NULL: no such flow was counted */
	uint32_t *flows;	/* [n_links] */
	uint16_t **bins;	/* [n_links] */
	/* two bit sets of switches for each LID, `words` words each. passed: switches that flows
	 * pass, or passed before an entry changed; NULL: the senders show them. displaced: switches
	 * with a displaced entry; NULL: only entries that are placed here count as displaced */
	uint64_t *passed, *displaced;
	size_t words;
	uint32_t width, n_bins;	/* width: shifts per bin; n_bins: number of bins */
	uint16_t *bin_of;	/* bin_of[k]: the bin of shift k */
	uint32_t *index_of;	/* index_of[b]: index of bin b in the bins of a link */
	uint16_t *all_bins;	/* the bins of all links, for a whole routing; NULL: the bins of
				 * each link are allocated when they are needed */
	size_t all_bytes;	/* size of all_bins */
	uint32_t target;
	uint32_t price[PRICES];	/* price[n]: price of one shift in a bin with n flows */
	bool nomem;
	/* scratch. The sources whose flows pass entry i are source[first[i]] .. source[first[i + 1]
	 * - 1]. */
	struct passing *source;
	uint32_t n_sources;
	struct passing_at *stack;
	uint32_t *first;
	bool *up;		/* up[i]: entry i led up before the change */
	bool known;		/* source[] and first[] are valid for the entries to be placed */
	uint32_t *changed, now;	/* changed[s] == now: the entry of s changes */
	struct stream fresh, old;
};

/* The column of a LID. turns: the routing has extra turns. */
struct column {
	const struct ftr_shape *sh;
	struct ftr_cost_column costs;
	bool turns;
};

/* New, empty stream; false: out of memory. */
bool displaced_stream_new(const struct displaced *z, struct stream *of,
			  struct ftr_arena *a);

/* Make two streams of the flows of n sources: z->old, the flows that have already passed a
 * displaced entry, and z->fresh, the others. Returns the number of hosts. */
uint32_t displaced_streams(struct displaced *z, const struct passing *from,
			   uint32_t n, ftr_lid lid);

/* Add to z->source the sources whose flows to lid pass s, except those that pass another changed
 * entry first. up: the entry of s leads up, so without extra turns its flows come from below. */
void displaced_gather(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, ftr_sw s, bool up, ftr_lid lid);

/* The port of s that costs least for the flows in z->old, which come from `hosts` (> 0) hosts. On a
 * tie the first of the n ports is taken. FTR_PORT_NONE: n is 0. */
ftr_port displaced_cheapest(struct displaced *z, const uint8_t *ports,
			    uint32_t n, ftr_sw s, ftr_lid lid, uint32_t hosts);

/* Add the flows of z->old and z->fresh, which come from `hosts` hosts, to the links of the path
 * from s (by: 1), or subtract them (by: -1). */
void displaced_walk(struct displaced *z, ftr_sw s, ftr_lid lid, uint32_t hosts,
		    int by);

/* Sort the entries of a LID from the nearest switch to the farthest, then by switch. */
void displaced_sort(struct displaced_entry *e, uint32_t n, struct column *c);

/* Place the entries of a LID one by one, in the order of displaced_sort. */
void displaced_place_lid(struct displaced *z, const struct column *c,
			 ftr_lid lid, struct displaced_entry *e, uint32_t n);

#endif
