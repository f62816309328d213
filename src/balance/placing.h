/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by displaced.c and displaced_all.c: counters, and steps of placing an entry.
 */
#ifndef FTR_BALANCE_PLACING_H
#define FTR_BALANCE_PLACING_H

#include "balance/displaced.h"

#define PRICES 1024
#define LINE_BINS 32		/* number of bins in a line, which is a cache line */
#define NOT_COUNTED (UINT32_MAX - 1)	/* value of pos[lid]: do not count flows to lid */

/* A source whose flows pass an entry.  displaced: they have already passed a displaced entry. */
struct passing {
	uint32_t source;
	bool displaced;
};

/* A switch whose flows pass an entry.  displaced: as in struct passing. */
struct passing_at {
	ftr_sw sw;
	bool displaced;
};

/* The part of a stream that is in one bin: n shifts.  bin: see displaced_offset(). */
struct share {
	uint32_t bin, n;
};

/* Flows that take the same path to a LID.  share[]: the number of their shifts in each bin. */
struct stream {
	uint32_t n;
	struct share *share;	/* [n_bins] the first n are used, one for each bin */
	uint32_t *at;		/* at[b]: index of the share of bin b; valid only if it is below n
				 * and share[at[b]].bin is b */
};

struct displaced {
	struct ftr_arena *arena;
	struct balance_net *net;
	struct ftr_balance_input in;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;
	/* entries and senders of the LID that is being placed; if row is NULL, t has the entries */
	uint8_t *row;		/* [n_sw] */
	uint16_t *senders;	/* [n_sw] */
	uint32_t *pos;		/* pos[lid]: position of the host, BALANCE_NONE (no position), or
				 * NOT_COUNTED */
	uint32_t *flows;	/* [n_links] all-to-all flows */
	/* Counters of flows that have passed a displaced entry, one for each link and bin.
	 *
	 * After single faults they are in bins[]: bins[x] has the counters of link x, or is NULL
	 * if all are 0.
	 *
	 * In a whole routing they are in line[]: a line has LINE_BINS consecutive counters of one
	 * link.  If line_of is NULL, line[] has all lines of all links.  Otherwise unused lines
	 * are left out: line_of[x][b / LINE_BINS] is the index of the line with bin b of link x.
	 * line[0] stays 0 and stands for all unused lines.  line_of[x] is NULL if link x uses no
	 * line. */
	uint16_t **bins;	/* [n_links] */
	struct line {
		uint16_t bin[LINE_BINS];
	} *line;
	uint32_t n_lines, cap_lines;
	uint32_t **line_of;	/* [n_links] */
	/* Sets of switches, `words` words of bits for each LID.  passed: flows to the LID visit or
	 * have visited the switch; NULL: see senders.  displaced: the entry of the switch is
	 * displaced; NULL: only entries that are placed count as displaced. */
	uint64_t *passed, *displaced;
	size_t words;
	uint32_t width, n_bins;	/* width: shifts per bin */
	uint16_t *bin_of;	/* bin_of[k]: the bin of shift k */
	uint32_t target;
	uint32_t price[PRICES];	/* price[n]: price of one shift in a bin with n flows */
	bool nomem;
	/* scratch; source[first[i]] .. source[first[i + 1] - 1]: the sources whose flows pass the
	 * i-th changed entry of the LID */
	struct passing *source;
	uint32_t n_sources;
	struct passing_at *stack;
	uint32_t *first;
	bool *up;		/* up[i]: the i-th changed entry led up before the change */
	bool known;		/* source[] and first[] are valid for the entries to be placed */
	uint32_t *changed, now;	/* changed[s] == now: the entry of s changes */
	struct stream fresh, old;
};

/* The column of a LID.  turns: the routing has extra turns. */
struct column {
	const struct ftr_shape *sh;
	struct ftr_cost_column costs;
	bool turns;
};

/* The distance of bin b from the first bin of its link.  If line[] has all lines, it has the first
 * lines of all links, then the second lines, and so on.  Flows to neighbouring destinations are in
 * neighbouring bins, so they use few pages. */
static inline uint32_t displaced_offset(const struct displaced *z, uint32_t b)
{
	return z->bins || z->line_of ? b :
		b / LINE_BINS * LINE_BINS * z->net->n_rows + b % LINE_BINS;
}

/* The first bin of a link, or NULL: no bin is used, or line_of shows the bins. */
static inline uint16_t *displaced_first(const struct displaced *z, uint32_t link)
{
	if (z->bins)
		return z->bins[link];
	return z->line_of ? NULL : z->line[z->net->row[link]].bin;
}

/* The bin of a link with this offset.  first: from displaced_first().  If it is NULL, line_of must
 * not be NULL. */
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

/* Allocate the bins for a whole routing with n entries to be placed.  If line_of is NULL
 * afterwards, the caller must clear line[].  Returns false if out of memory. */
bool displaced_bins_new(struct displaced *z, uint32_t n);

/* Count the flows that pass displaced entries in the tables given to displaced_new(). */
void displaced_count(struct displaced *z);

/* Make an empty stream.  Returns false if out of memory. */
bool displaced_stream_new(const struct displaced *z, struct stream *of,
			  struct ftr_arena *a);

/* Make two streams of the flows of n sources: z->old has passed a displaced entry already, z->fresh
 * has not.  Returns the number of hosts. */
uint32_t displaced_streams(struct displaced *z, const struct passing *from,
			   uint32_t n, ftr_lid lid);

/* Add to z->source the sources whose flows to lid reach s before any other changed entry.  up: the
 * entry of s leads up.  Without extra turns, its flows then come from below. */
void displaced_gather(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, ftr_sw s, bool up, ftr_lid lid);

/* The port of s that costs least for the flows of z->old, which come from `hosts` (> 0) hosts.  If
 * several ports cost the same, the first of them.  FTR_PORT_NONE if n is 0. */
ftr_port displaced_cheapest(struct displaced *z, const uint8_t *ports,
			    uint32_t n, ftr_sw s, ftr_lid lid, uint32_t hosts);

/* Add (by: 1) or subtract (by: -1) the flows of z->old and z->fresh on the path from s.  hosts:
 * number of hosts that send them. */
void displaced_walk(struct displaced *z, ftr_sw s, ftr_lid lid, uint32_t hosts,
		    int by);

/* Sort the entries of a LID from the nearest switch to the farthest, then by switch. */
void displaced_sort(struct displaced_entry *e, uint32_t n, struct column *c);

/* Place the entries of a LID one by one.  They must be sorted by displaced_sort(). */
void displaced_place_lid(struct displaced *z, const struct column *c,
			 ftr_lid lid, struct displaced_entry *e, uint32_t n);

#endif
