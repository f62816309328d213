/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations that displaced.c and displaced_all.c share: counters, and the steps that place a
 * displaced entry, that is, choose its port.
 *
 * A source is a switch with hosts.  A bin counts the flows on one link in `width` consecutive
 * shifts.  A stream is a set of flows that take the same path to a LID.
 */
#ifndef FTR_BALANCE_PLACING_H
#define FTR_BALANCE_PLACING_H

#include "balance/displaced.h"

#define PRICES 1024
#define LINE_BINS 32		/* number of bins in a line, which is a cache line */
#define NOT_COUNTED (UINT32_MAX - 1)	/* value of pos[lid]: do not count flows to lid */

/* A source whose flows pass an entry.  displaced: these flows have passed a displaced entry. */
struct passing {
	uint32_t source;
	bool displaced;
};

/* A switch that sends or forwards flows which pass an entry.  displaced: as in struct passing. */
struct passing_at {
	ftr_sw sw;
	bool displaced;
};

/* The flows of a stream in one bin: n flows, one in each of n shifts.  bin: the number of the bin,
 * or its displaced_offset(). */
struct share {
	uint32_t bin, n;
};

/* A stream: flows that take the same path to a LID. */
struct stream {
	uint32_t n;
	struct share *share;	/* [n_bins] the first n are used, for n different bins */
	uint32_t *at;		/* at[b]: index of the share of bin b.  The stream has no share of
				 * bin b if at[b] >= n or share[at[b]].bin is not b */
};

struct displaced {
	struct ftr_arena *arena;
	struct balance_net *net;
	struct ftr_balance_input in;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;
	/* row[s]: entry of switch s for the present LID; if row is NULL, the entries are in t.
	 * senders[s]: number of hosts whose path to the LID visits s; NULL: passed is used */
	uint8_t *row;
	uint16_t *senders;
	uint32_t *pos;		/* pos[lid]: position of the host, BALANCE_NONE (no position), or
				 * NOT_COUNTED */
	uint32_t *flows;	/* [n_links] all-to-all flows */
	/* The bins: counters of flows that have passed a displaced entry, for each link and each
	 * `width` consecutive shifts.
	 *
	 * For single faults, bins[x] has the counters of link x; NULL: all are 0.
	 *
	 * For a whole routing, they are in line[].  A line is LINE_BINS consecutive counters of
	 * one link.  If line_of is NULL, line[] has all lines of all links.  Otherwise it has only
	 * the lines that are used: line_of[x][b / LINE_BINS] is the index of the line with bin b
	 * of link x.  line[0] is all 0; this index is used for all lines that line[] lacks.
	 * line_of[x] is NULL if line[] has no line of link x. */
	uint16_t **bins;	/* [n_links] */
	struct line {
		uint16_t bin[LINE_BINS];
	} *line;
	uint32_t n_lines, cap_lines;
	uint32_t **line_of;	/* [n_links] */
	/* One bit for each (LID, switch); a LID has `words` words.  passed: flows to the LID visit
	 * the switch, or did so earlier; NULL: senders is used.  displaced: the entry of the switch
	 * is displaced; NULL: not stored. */
	uint64_t *passed, *displaced;
	size_t words;
	uint32_t width, n_bins;	/* width: number of shifts of a bin */
	uint16_t *bin_of;	/* bin_of[k]: the bin of shift k */
	uint32_t target;
	uint32_t price[PRICES];	/* price[n]: cost of a flow in a bin with n other flows */
	bool nomem;
	/* scratch, for the changed entries of one LID.  source[first[i]] ..
	 * source[first[i + 1] - 1]: the sources whose flows pass the i-th entry */
	struct passing *source;
	uint32_t n_sources;
	struct passing_at *stack;
	uint32_t *first;
	bool *up;		/* up[i]: true if the i-th entry led up before the change */
	bool known;		/* true: source[] and first[] are still valid */
	uint32_t *changed, now;	/* changed[s] == now: the entry of s is changed */
	/* flows that have passed a displaced entry already (old), or not yet (fresh) */
	struct stream fresh, old;
};

/* The switch of a LID as a destination.  turns: the routing has extra turns. */
struct column {
	const struct ftr_shape *sh;
	struct ftr_cost_column costs;
	bool turns;
};

/* The distance in memory from the first bin of a link to its bin b, in bins.  If line[] has all
 * lines, it begins with the first line of each link, then has the second line of each link, and so
 * on.  Flows to neighbouring destinations are in neighbouring bins, so they use few pages. */
static inline uint32_t displaced_offset(const struct displaced *z, uint32_t b)
{
	return z->bins || z->line_of ? b :
		b / LINE_BINS * LINE_BINS * z->net->n_rows + b % LINE_BINS;
}

/* The first bin of a link.  NULL: all bins of the link are 0, or line_of must be used. */
static inline uint16_t *displaced_first(const struct displaced *z, uint32_t link)
{
	if (z->bins)
		return z->bins[link];
	return z->line_of ? NULL : z->line[z->net->row[link]].bin;
}

/* The bin of a link with this offset.  first: the result of displaced_first().  If `first` is NULL,
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

/* Allocate the bins for a whole routing in which n entries must be placed.  If line_of is NULL
 * after the call, the caller must set line[] to 0.  Returns false if out of memory. */
bool displaced_bins_new(struct displaced *z, uint32_t n);

/* Find the flows that pass displaced entries of the tables z->t, and count them in the bins. */
void displaced_count(struct displaced *z);

/* Make an empty stream.  Returns false if out of memory. */
bool displaced_stream_new(const struct displaced *z, struct stream *of,
			  struct ftr_arena *a);

/* Divide the flows that n sources send to lid into two streams.  If the member `displaced` of a
 * source is true, its flows are put into z->old, otherwise into z->fresh.  Returns the number of
 * hosts that send them. */
uint32_t displaced_streams(struct displaced *z, const struct passing *from,
			   uint32_t n, ftr_lid lid);

/* Add to z->source the sources whose flows to lid reach s without passing another changed entry.
 * up: the entry of s leads up, so without extra turns all these flows come from below s. */
void displaced_gather(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, ftr_sw s, bool up, ftr_lid lid);

/* Returns the cheapest of n ports of s for the flows of z->old, which come from `hosts` (> 0)
 * hosts.  If several ports have the least cost, returns the first of them.  If n is 0, returns
 * FTR_PORT_NONE. */
ftr_port displaced_cheapest(struct displaced *z, const uint8_t *ports,
			    uint32_t n, ftr_sw s, ftr_lid lid, uint32_t hosts);

/* Add (by: 1) or subtract (by: -1) the flows of z->old and z->fresh on the links of the path from s
 * to lid.  hosts: number of hosts that send them. */
void displaced_walk(struct displaced *z, ftr_sw s, ftr_lid lid, uint32_t hosts,
		    int by);

/* Sort the entries for a LID.  First criterion: switches nearest to the destination first.  Second:
 * the smallest index first. */
void displaced_sort(struct displaced_entry *e, uint32_t n, struct column *c);

/* Choose the ports of the entries for a LID.  The entries must be sorted by displaced_sort(). */
void displaced_place_lid(struct displaced *z, const struct column *c,
			 ftr_lid lid, struct displaced_entry *e, uint32_t n);

#endif
