/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the balance module.
 *
 *	flow_net.c	links, sources and destinations of a shape
 *	count.c		flows on every link, all-to-all and by shift
 *	count_alike.c	the same all-to-all flows, from the tables alone
 *	load_sweep.c	one sweep over the entries, by all-to-all flows only
 *	load_dest.c	the moves of such a sweep for one destination
 *	local_search.c	one sweep over the entries, by all-to-all flows and shifts
 *	move.c		candidates of entries, and the log of changes
 *	worst.c		the exact load of the most loaded link of every shift
 *	bound.c		a lower bound for all routings, from cuts
 *	dual.c		a lower bound for all routings, from weights of links
 *	displaced.c	placement of displaced entries
 *	displaced_all.c	placement of all displaced entries of a routing
 *	balance_tables.c	<ftr/balance.h>: the search
 *
 * A link is directed and identified by the index of the port that sends on it,
 * f->sw[s].first_port + port.  A source is a switch with hosts.
 */
#ifndef FTR_BALANCE_BALANCE_H
#define FTR_BALANCE_BALANCE_H

#include "core/core.h"
#include <ftr/balance.h>

#define BALANCE_NONE UINT32_MAX
#define BALANCE_LANES 8u	/* number of bins in one SIMD vector */

/* A destination whose traffic is counted: the base LID of a host. */
struct balance_dest {
	ftr_lid lid;
	uint32_t col;
	uint32_t pos;		/* position in the host order; BALANCE_NONE: the host has no
				 * position, and counts in all-to-all traffic only */
};

/* The links of a switch: the link of port p, p <= n, has index first + p. */
struct balance_ports {
	uint32_t first, n;
};

/* A source: a switch with hosts. */
struct balance_source {
	ftr_sw sw;
	uint32_t hosts;		/* number of hosts on sw */
	uint32_t first, n;	/* n of the hosts have a position: first .. first + n - 1 */
};

struct balance_net {
	const struct ftr_balance_input *in;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	uint32_t n_links;	/* number of links, f->n_ports */
	ftr_sw *peer;		/* peer[x]: switch at the far end of link x; FTR_SW_NONE: no
				 * switch */
	uint32_t *row;		/* row[x]: index of link x among the links to switches;
				 * BALANCE_NONE: it leads to no switch */
	uint32_t n_rows;	/* number of links to switches */
	struct balance_ports *ports;	/* ports[s]: the links of switch s */
	uint32_t n_sources;
	struct balance_source *source;
	uint32_t *source_of;	/* source_of[s]: index of switch s in source[]; BALANCE_NONE: s has
				 * no hosts */
	uint32_t *hosts;	/* hosts[s]: number of hosts on switch s */
	uint32_t n_hosts;	/* sum of hosts[] */
	uint32_t bound;		/* result of ftr_balance_bound for the shape */
	uint32_t n_pos;		/* number of positions, and of shifts, shift 0 included */
	uint32_t *dest_at;	/* dest_at[p]: index in dest[] of the host at position p */
	/* Destinations, sorted by column. Those of column l are dest[first[l]] .. dest[first[l + 1]
	 * - 1]. */
	struct balance_dest *dest;
	uint32_t *first;	/* first[l]: index in dest[] of the first destination of column l */
	uint32_t *sweep_order;	/* sweep_order[i]: index in dest[] of the destination that a sweep
				 * visits as the i-th */
	uint32_t *dest_of;	/* dest_of[lid]: index in dest[]; BALANCE_NONE: not a base LID of a
				 * host */
	/* order[l]: the switches that have a path to column l, the farthest first, the switch of
	 * the column last. If balance_net_follows() is true, every path to the column visits
	 * switches in this order, whichever candidates the entries use. sw == NULL: the column has
	 * no destinations */
	struct balance_order {
		uint16_t *sw;
		uint32_t n;
		uint8_t *cost, *down;	/* [n_sw] cost and down-cost of the switches */
	} *order;		/* [n_sw] */
	/* rows: the memory of entry and senders. entry: the entries of the tables by destination,
	 * see balance_entries. senders: see balance_senders. All three are NULL before they are
	 * made, and after balance_net_free_rows */
	struct ftr_arena *rows;
	uint8_t *entry;
	uint16_t *senders;
	uint32_t *flows;	/* flows[x]: all-to-all flows on link x; NULL: not counted, or the
				 * search leaves the tables alone, because a path has a loop or
				 * does not follow order */
	uint32_t n_groups;	/* number of groups of sources that balance_count_tables has
				 * followed; for tests */
};

/* Make a net without order, sweep_order and entry, which take the most time. */
enum ftr_status balance_net_begin(const struct ftr_balance_input *in,
				  struct balance_net **out,
				  struct ftr_err *err) FTR_MUST_USE;
/* Make order, sweep_order and entry for tables t. */
enum ftr_status balance_net_rows(struct balance_net *net,
				 const struct ftr_tables *t,
				 struct ftr_team *team,
				 struct ftr_err *err) FTR_MUST_USE;
/* Does every path in net->entry visit switches in the order of net->order until it reaches its
 * destination, and would it still do so if entries took other candidates?  A search may begin only
 * with tables for which this is true.  at: [n_sw] scratch.  O(destinations * switches), and
 * O(columns * links) if in->longer. */
bool balance_net_follows(const struct balance_net *net, uint32_t *at) FTR_MUST_USE;
/* Do the work of balance_net_begin and balance_net_rows. */
enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				const struct ftr_tables *t,
				struct ftr_team *team, struct balance_net **out,
				struct ftr_err *err) FTR_MUST_USE;
void balance_net_free(struct balance_net *net);	/* NULL is accepted */
/* Free net->entry and net->senders, the largest arrays of net. */
void balance_net_free_rows(struct balance_net *net);

static inline bool balance_is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

/* Count the hosts on every switch. hosts: [n_sw], zeroed by the caller. */
void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts);

/* The shape by which column l is routed. */
static inline const struct ftr_shape *
balance_shape(const struct balance_net *net, uint32_t l)
{
	const struct ftr_balance_input *in = net->in;

	return in->use_full && in->use_full[l] ? in->full : in->shape;
}

/* The switch of destination d. */
static inline ftr_sw balance_switch(const struct balance_net *net, uint32_t d)
{
	return net->in->shape->numbering.col_sw[net->dest[d].col];
}

/* The costs to column l, which must have destinations. */
static inline struct ftr_cost_column
balance_costs(const struct balance_net *net, uint32_t l)
{
	return (struct ftr_cost_column){
		net->order[l].cost, net->order[l].down, 1,
	};
}

static inline uint32_t balance_link(const struct balance_net *net, ftr_sw s,
				    ftr_port port)
{
	return net->ports[s].first + port;
}

/* The link of port `port` of s; BALANCE_NONE: it leads to no switch, or s has no such port. */
static inline uint32_t balance_link_to(const struct balance_net *net, ftr_sw s,
				       ftr_port port)
{
	uint32_t link = balance_link(net, s, port);

	return port > net->ports[s].n || net->peer[link] == FTR_SW_NONE ?
		BALANCE_NONE : link;
}

/* ---- counters ------------------------------------------------------------ */

/*
 * flows	all-to-all flows of a link: entry (s, d) carries one for each
 *		host whose path to d passes s
 * bins		flows of the shift permutations on a link.  Bin b holds the sum
 *		over shifts b * width .. (b + 1) * width - 1, modulo 2^16
 */
struct balance_count {
	const struct balance_net *net;
	struct ftr_tables *t;
	uint8_t *entry;		/* the entries of t by destination, see balance_entries */
	uint16_t *senders;	/* see balance_senders; NULL: not counted */
	struct balance_log *log;	/* log of changed entries, or NULL */
	uint32_t *flows;	/* flows[x]: all-to-all flows on link x */
	uint32_t width;		/* number of shifts per bin */
	uint32_t n_bins;	/* number of bins per link; 0: shifts are not counted */
	uint16_t *bins;		/* [net->n_rows][n_bins], then BALANCE_LANES unused elements,
				 * because the last vector that is read may end behind the bins */
	/* full: one bit per bin, set if the bin contains more than `many` flows; words: number of
	 * 64-bit words in a row of full */
	uint32_t many, words;
	uint64_t *full;		/* [net->n_rows][words] */
	uint32_t *n_full;	/* n_full[r]: number of bits set in row r of full */
};

/* Where balance_count_flows writes its results. flows: all-to-all flows by link. passed: the
 * switches that flows pass, in rows as in balance_passed; bits are set, but not cleared; NULL: not
 * wanted. senders: as in balance_senders; NULL: not wanted. */
struct balance_counted {
	uint32_t *flows;
	uint64_t *passed;
	uint16_t *senders;
};
/* Count the flows of the tables in net->entry. */
enum ftr_status balance_count_flows(const struct balance_net *net,
				    struct ftr_team *team,
				    const struct balance_counted *out,
				    struct ftr_err *err) FTR_MUST_USE;

/* As balance_count_flows, but store the results in net: the flows and, if `senders` is true, the
 * senders, which take more time and memory than the flows. passed: as in struct balance_counted. */
enum ftr_status balance_count_net(struct balance_net *net, bool senders,
				  uint64_t *passed, struct ftr_team *team,
				  struct ftr_err *err) FTR_MUST_USE;

/* Count the all-to-all flows of tables t into net->flows, which stays NULL if a path has a loop.
 * net needs neither entry nor order. */
enum ftr_status balance_count_tables(struct balance_net *net,
				     const struct ftr_tables *t,
				     struct ftr_team *team,
				     struct ftr_err *err) FTR_MUST_USE;

/* The flows of a link, and the switch at its far end (n_sw: no switch). */
struct balance_counter {
	uint32_t flows, peer;
};
/* New counters link[n_links + 1]; entries that lead to no port use the last one. NULL: out of
 * memory. */
struct balance_counter *balance_counters_new(const struct balance_net *net,
					     struct ftr_arena *a);
/* flows[x] += link[x].flows */
void balance_counters_add(const struct balance_net *net,
			  const struct balance_counter *link, uint32_t *flows);

/* The row of destination d in entry[n_dests][n_sw]. The entries of one destination are
 * consecutive. */
static inline uint8_t *balance_entries(const struct balance_net *net,
				       uint8_t *entry, uint32_t d)
{
	return entry + (size_t)d * net->f->n_sw;
}

/* The row of destination d in senders[n_dests][n_sw + 1]. Element s: the number of hosts whose path
 * to destination d passes s or ends at s; element n_sw: those whose path ends at no switch. */
static inline uint16_t *balance_senders(const struct balance_net *net,
					uint16_t *senders, uint32_t d)
{
	return senders + (size_t)d * (net->f->n_sw + 1);
}
/* New senders for all destinations. NULL: out of memory. */
static inline uint16_t *balance_senders_new(const struct balance_net *net,
					    struct ftr_arena *a)
{
	size_t n = net->first[net->f->n_sw];

	return ftr_arena_alloc(a, n + 1,
			       (net->f->n_sw + 1u) * sizeof(uint16_t));
}

/* The number of 64-bit words in a row of passed[max_lid + 1]. The row of a LID has one bit for each
 * switch, set if flows to the LID pass or reach the switch. */
static inline size_t balance_passed_words(const struct balance_net *net)
{
	return net->f->n_sw / 64 + 1u;
}

static inline uint64_t *balance_passed(const struct balance_net *net,
				       uint64_t *passed, ftr_lid lid)
{
	return passed + lid * balance_passed_words(net);
}

/* Allocate the bins. bytes: approximate limit of their memory, which determines c->width. */
enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a,
				 struct ftr_err *err) FTR_MUST_USE;
/* The flows of the shifts begin .. end - 1, by link and by single shift: n[n_rows][stride], zeroed
 * by the caller. */
struct balance_slice {
	uint16_t *n;
	size_t stride;
	uint32_t begin, end;
};
void balance_count_slice(const struct balance_net *net, uint8_t *entry,
			 const struct balance_slice *b);
/* Mark the bins that contain more than `many` flows. Later changes of bins update the marks. */
void balance_bins_full(struct balance_count *c, uint32_t many,
		       struct ftr_team *team);
/* Consecutive shifts begin .. end - 1. */
struct balance_shifts {
	uint32_t begin, end;
};
/* The first of the src->n consecutive shifts, modulo n_pos, in which the hosts of a source send
 * to position pos. */
static inline uint32_t balance_first_shift(const struct balance_net *net,
					   const struct balance_source *src,
					   uint32_t pos)
{
	uint32_t k = pos + 1 + net->n_pos - src->first - src->n;

	return k < net->n_pos ? k : k - net->n_pos;
}

/* All shifts in which the hosts of a source send to position pos. They are consecutive if the host
 * at pos is on another switch: in shift 0 every host sends to itself. */
static inline struct balance_shifts
balance_shifts_of(const struct balance_net *net,
		  const struct balance_source *src, uint32_t pos)
{
	uint32_t k = balance_first_shift(net, src, pos);

	return (struct balance_shifts){ k, k + src->n };
}

/* Add one flow on a link (by: 1), or remove one (by: -1), in each of the shifts `of`. */
void balance_bins_add(struct balance_count *c, uint32_t link,
		      struct balance_shifts of, int by);

/* The number of flows on the most loaded link. */
uint32_t balance_most(const struct balance_net *net, const uint32_t *flows);

/* *sum: the flows on the most loaded link of each shift, added over all shifts; BALANCE_CANCELLED:
 * the search was cancelled meanwhile. */
#define BALANCE_CANCELLED UINT64_MAX
enum ftr_status balance_worst(const struct balance_net *net, uint8_t *entry,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err) FTR_MUST_USE;
/* Like balance_worst; also count all flows in the bins, unless the search was cancelled. The marks
 * of balance_bins_full are not updated. */
enum ftr_status balance_bins_count(struct balance_count *c,
				   struct ftr_team *team, uint64_t *sum,
				   struct ftr_err *err) FTR_MUST_USE;
/* The sum of balance_worst, computed from the bins, which must have one shift each. */
uint64_t balance_bins_worst(const struct balance_count *c,
			    struct ftr_team *team);

/* ---- moves ---------------------------------------------------------------- */

/* Changed entries, in the order of the changes. */
struct balance_log {
	struct balance_moved {
		ftr_sw sw;
		ftr_lid lid;
		ftr_port was;
		bool first;	/* this is the first change of the entry */
	} *moved;
	uint32_t n, cap;
	uint64_t *seen;		/* [n_sw][stride / 64] one bit per entry, set if it is in moved[] */
};

/* Change an entry of destination d; false: out of memory, and the entry is not
 * changed. */
bool balance_move(struct balance_count *c, ftr_sw s, uint32_t d, ftr_port port);
/* Revert all moves in t except the first n; returns the number of entries that then still differ
 * from their value before the first move. */
uint64_t balance_log_undo(struct balance_log *log, struct ftr_tables *t,
			  uint32_t n);

/* Candidates of each switch for the current column l. They are computed when first needed. */
struct balance_cand {
	const struct ftr_group **group;
	uint32_t n_groups, cap;
	uint32_t *first;	/* first[s]: index of the candidates of s in group[]; BALANCE_NONE:
				 * not computed yet */
	uint8_t *n;		/* n[s]: number of candidates of s; 0: s has at most one port to
				 * choose from */
	const struct ftr_balance_input *in;
	const struct ftr_shape *sh;
	uint32_t l;
	struct ftr_cost_column costs;
};

bool balance_cand_new(struct balance_cand *z, struct ftr_arena *a,
		      uint32_t n_sw);
void balance_cand_free(struct balance_cand *z);
void balance_cand_column(struct balance_cand *z, const struct balance_net *net,
			 uint32_t l);
/* Find the candidates of s, unless they are known. False: out of memory. */
bool balance_cand_find(struct balance_cand *z, ftr_sw s);

static inline bool balance_may_move(const struct balance_count *c, ftr_sw s,
				    ftr_lid lid)
{
	const uint64_t *bits = c->net->in->movable;

	return !bits || bits[(size_t)s * (c->t->stride / 64) + lid / 64] >>
		lid % 64 & 1;
}

/* ---- search -------------------------------------------------------------- */

/* True if the search is to be cancelled. Only the thread that started the search may call this, and
 * not again after the result true. */
static inline bool balance_cancelled(const struct balance_net *net)
{
	const struct ftr_balance_input *in = net->in;

	return in->cancelled && in->cancelled(in->ctx);
}

/* As ftr_balance_tables. net: NULL, or a net made for t and for the shapes of in; its flows may
 * have been counted already (balance_count_net). This function frees net. */
enum ftr_status balance_run(const struct ftr_balance_input *in,
			    struct balance_net *net, struct ftr_tables *t,
			    struct ftr_team *team,
			    struct ftr_balance_report *report,
			    struct ftr_err *err) FTR_MUST_USE;

struct balance_sweep {
	uint32_t target;	/* greatest number of flows that a link should carry */
	uint64_t over;		/* cost of each flow above the target */
	uint32_t meet;		/* A link is bad if some shift has at least this number of flows on
				 * the link, or if the link has more flows than target. With bins of
				 * several shifts: if the mean over the shifts of some bin is above
				 * meet - 1. */
	bool quick;		/* examine only entries whose path had a bad link when the sweep
				 * began their batch of destinations */
	uint32_t least;		/* balance_load_sweep: examine only entries through which at least
				 * this number of hosts sends */
	/* balance_load_sweep: The destinations are divided into `shares` shares; 0 means 1. A batch
	 * has share_dests * shares destinations, which are consecutive in sweep_order: first those
	 * of share 0, then those of share 1, and so on. share_dests 0: the default. */
	uint32_t shares, share_dests;
	uint64_t moved;		/* number of moves */
	bool cancelled;
};

/* One sweep with shifts; the bins must have been counted. */
enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_team *team,
			      struct ftr_err *err) FTR_MUST_USE;
/* In batch b a share knows its own moves, and those that other shares made up to batch
 * b - BALANCE_LAG. */
#define BALANCE_LAG 2u
/* One sweep for all-to-all flows alone. The senders must have been counted. The tables depend on
 * w->shares and w->share_dests, but not on the number of threads. Logs the moves of share 0, then
 * those of share 1, and so on. */
enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_team *team,
				   struct ftr_err *err) FTR_MUST_USE;

#endif
