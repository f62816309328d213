/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by displaced.c and displaced_all.c: the counters and the steps of placing an entry.
 */
#ifndef FTR_BALANCE_PLACING_H
#define FTR_BALANCE_PLACING_H

#include "balance/displaced.h"

#define PRICES 1024
#define LINE_BINS 32		/* number of bins in a line, which is a cache line */
#define NOT_COUNTED (UINT32_MAX - 1)	/* value of pos[lid]: flows to lid are not counted at all */

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

/* A share of a stream: n of its shifts are in one bin. bin: see displaced_offset(). */
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
	uint32_t *flows;	/* [n_links] all-to-all flows */
	/* The flows that have passed a displaced entry, by link and bin.
	 * Single faults: bins[x] are those of link x; NULL: no such flow was counted.
	 * A whole routing: bins is NULL. A line has LINE_BINS consecutive bins of one link. If
	 * line_of is NULL, line[] has all lines. Otherwise it has only those that are used;
	 * line_of[x][b / LINE_BINS] is the index of the line with bin b of link x. If that line is
	 * not used, the index is 0, or line_of[x] is NULL; line[0] stays 0. */
	uint16_t **bins;	/* [n_links] */
	struct line {
		uint16_t bin[LINE_BINS];
	} *line;
	uint32_t n_lines, cap_lines;
	uint32_t **line_of;	/* [n_links] */
	/* two bit sets of switches for each LID, `words` words each. passed: switches that flows
	 * pass, or passed before an entry changed; NULL: the senders show these switches.
	 * displaced: switches with a displaced entry; NULL: only entries that are placed here count
	 * as displaced */
	uint64_t *passed, *displaced;
	size_t words;
	uint32_t width, n_bins;	/* width: shifts per bin; n_bins: number of bins */
	uint16_t *bin_of;	/* bin_of[k]: the bin of shift k */
	uint32_t target;
	uint32_t price[PRICES];	/* price[n]: price of one shift in a bin with n flows */
	bool nomem;
	/* scratch. The sources whose flows pass the i-th changed entry of the LID are
	 * source[first[i]] .. source[first[i + 1] - 1]. */
	struct passing *source;
	uint32_t n_sources;
	struct passing_at *stack;
	uint32_t *first;
	bool *up;		/* up[i]: the i-th changed entry led up before the change */
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

/* If line[] has all lines: the distance of bin b from the first bin of its link. The first lines of
 * all links come first, then the second lines, and so on: flows to neighbouring destinations are in
 * the same or neighbouring bins, so they use few pages.  Otherwise: b. */
static inline uint32_t displaced_offset(const struct displaced *z, uint32_t b)
{
	return z->bins || z->line_of ? b :
		b / LINE_BINS * LINE_BINS * z->net->n_rows + b % LINE_BINS;
}

/* The first bin of a link. NULL: no bin of the link was used, or line_of shows where they are. */
static inline uint16_t *displaced_first(const struct displaced *z, uint32_t link)
{
	if (z->bins)
		return z->bins[link];
	return z->line_of ? NULL : z->line[z->net->row[link]].bin;
}

/* The bin of a link with this offset. first: the result of displaced_first; if it is NULL,
 * line_of must not be NULL. */
static inline uint16_t *displaced_counter(const struct displaced *z,
					  uint32_t link, uint16_t *first,
					  uint32_t offset)
{
	const uint32_t *of;

	if (first)
		return first + offset;
	of = z->line_of[link];
	return &z->line[of ? of[offset / LINE_BINS] : 0].bin[offset % LINE_BINS];
}

/* Allocate the bins for a whole routing with n entries to be placed. If this does not set line_of,
 * the caller must clear line[]. False: out of memory. */
bool displaced_bins_new(struct displaced *z, uint32_t n);

/* Count the displaced flows of the tables as given to displaced_new(). */
void displaced_count(struct displaced *z);

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
