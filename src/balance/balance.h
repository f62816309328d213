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
 * docs/glossary.md defines the terms.  A link is directed.  The index of a link is that of the port
 * that sends on it: f->sw[s].first_port + port.
 */
#ifndef FTR_BALANCE_BALANCE_H
#define FTR_BALANCE_BALANCE_H

#include "core/core.h"
#include <ftr/balance.h>

#define BALANCE_NONE UINT32_MAX
#define BALANCE_LANES 8u

/* A destination whose traffic is counted: the base LID of a host. */
struct balance_dest {
	ftr_lid lid;
	uint32_t col;
	uint32_t pos;		/* position in the host order, or BALANCE_NONE */
};

/* The ports of a switch.  Port p (1 .. n) sends on the link with index first + p. */
struct balance_ports {
	uint32_t first, n;
};

/* A switch with hosts. */
struct balance_source {
	ftr_sw sw;
	uint32_t hosts;		/* number of hosts on sw */
	uint32_t first, n;	/* n of them have a position: first .. first + n - 1 */
};

struct balance_net {
	const struct ftr_balance_input *in;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	uint32_t n_links;
	ftr_sw *peer;		/* peer[x]: the switch at the far end of link x, or FTR_SW_NONE */
	uint32_t *row;		/* row[x]: number of link x among the links to switches, or
				 * BALANCE_NONE */
	uint32_t n_rows;	/* number of links to switches */
	struct balance_ports *ports;
	uint32_t n_sources;
	struct balance_source *source;
	uint32_t *source_of;	/* index of the switch in source[], or BALANCE_NONE */
	uint32_t *hosts;	/* number of hosts on the switch */
	uint32_t n_hosts;
	uint32_t bound;		/* result of ftr_balance_bound */
	uint32_t n_pos;		/* number of positions = number of shifts (including shift 0) */
	uint32_t *dest_at;	/* index in dest[] of the host at a position */
	/* sorted by column; first[l]: index in dest[] of the first destination of column l */
	struct balance_dest *dest;
	uint32_t *first;
	uint32_t *sweep_order;	/* indices in dest[] in the order of a sweep */
	uint32_t *dest_of;	/* by LID: index in dest[], or BALANCE_NONE */
	/* order[l]: the switches that have a path to column l.  The farthest switch is first, the
	 * switch of the column is last.  sw is NULL if the column has no destinations. */
	struct balance_order {
		uint16_t *sw;
		uint32_t n;
		uint8_t *cost, *down;	/* [n_sw] cost and down-cost of the switches */
	} *order;		/* [n_sw] */
	struct ftr_arena *rows;	/* the memory of entry and senders */
	uint8_t *entry;		/* see balance_entries(), or NULL */
	uint16_t *senders;	/* see balance_senders(), or NULL */
	uint32_t *flows;	/* all-to-all flows on each link.  NULL: not counted, or the search
				 * must not change the tables */
	uint32_t n_groups;	/* for tests: number of groups, see count_alike.c */
};

/* Make a net without order, sweep_order and entry. */
enum ftr_status balance_net_begin(const struct ftr_balance_input *in,
				  struct balance_net **out,
				  struct ftr_err *err) FTR_MUST_USE;
/* Make order, sweep_order and entry for tables t. */
enum ftr_status balance_net_rows(struct balance_net *net,
				 const struct ftr_tables *t,
				 struct ftr_team *team,
				 struct ftr_err *err) FTR_MUST_USE;
/* True if every path to column l visits the switches in the order of net->order[l], and still does
 * so if entries take other candidates.  A search may begin only with such tables.  at: [n_sw]
 * scratch.  O(destinations * switches), and O(columns * links) if in->longer. */
bool balance_net_follows(const struct balance_net *net, uint32_t *at) FTR_MUST_USE;
/* balance_net_begin(), then balance_net_rows(). */
enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				const struct ftr_tables *t,
				struct ftr_team *team, struct balance_net **out,
				struct ftr_err *err) FTR_MUST_USE;
void balance_net_free(struct balance_net *net);	/* NULL is accepted */
/* Free net->entry and net->senders, and set both to NULL. */
void balance_net_free_rows(struct balance_net *net);

static inline bool balance_is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

/* hosts: [n_sw], zeroed by the caller. */
void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts);

static inline const struct ftr_shape *
balance_shape(const struct balance_net *net, uint32_t l)
{
	const struct ftr_balance_input *in = net->in;

	return in->use_full && in->use_full[l] ? in->full : in->shape;
}

static inline ftr_sw balance_switch(const struct balance_net *net, uint32_t d)
{
	return net->in->shape->numbering.col_sw[net->dest[d].col];
}

/* Column l must have destinations. */
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

/* The link of port `port` of s, or BALANCE_NONE if no switch is connected to this port. */
static inline uint32_t balance_link_to(const struct balance_net *net, ftr_sw s,
				       ftr_port port)
{
	uint32_t link = balance_link(net, s, port);

	return port > net->ports[s].n || net->peer[link] == FTR_SW_NONE ?
		BALANCE_NONE : link;
}

/* ---- counters ------------------------------------------------------------ */

/*
 * flows	all-to-all flows of a link: the entry of switch s for destination d
 *		adds one flow for each host whose path to d passes s
 * bins		flows of the shifts on a link; bin b is the sum over the shifts
 *		b * width .. (b + 1) * width - 1, modulo 2^16
 */
struct balance_count {
	const struct balance_net *net;
	struct ftr_tables *t;
	uint8_t *entry;		/* see balance_entries() */
	uint16_t *senders;	/* see balance_senders(), or NULL */
	struct balance_log *log;	/* NULL: do not log */
	uint32_t *flows;
	uint32_t width;		/* number of shifts per bin */
	uint32_t n_bins;	/* number of bins per link; 0: shifts are not counted */
	uint16_t *bins;		/* [net->n_rows][n_bins], then BALANCE_LANES unused elements: a
				 * vector load may read beyond the last bin */
	/* a bin with more than `many` flows is full; words: number of 64-bit words in a row of
	 * full */
	uint32_t many, words;
	uint64_t *full;		/* [net->n_rows][words] one bit per bin */
	uint32_t *n_full;	/* number of full bins of each row */
};

/* Where balance_count_flows() writes its results. */
struct balance_counted {
	uint32_t *flows;
	uint64_t *passed;	/* see balance_passed_words(), or NULL; bits are set, never
				 * cleared */
	uint16_t *senders;	/* see balance_senders(), or NULL */
};
/* Count the flows of the tables in net->entry. */
enum ftr_status balance_count_flows(const struct balance_net *net,
				    struct ftr_team *team,
				    const struct balance_counted *out,
				    struct ftr_err *err) FTR_MUST_USE;

/* Count the flows of net->entry into net->flows and, if `senders` is true, the senders into
 * net->senders.  passed: as in struct balance_counted. */
enum ftr_status balance_count_net(struct balance_net *net, bool senders,
				  uint64_t *passed, struct ftr_team *team,
				  struct ftr_err *err) FTR_MUST_USE;

/* Count the all-to-all flows of tables t into net->flows, which stays NULL if a path has a loop.
 * net->entry and net->order are not used. */
enum ftr_status balance_count_tables(struct balance_net *net,
				     const struct ftr_tables *t,
				     struct ftr_team *team,
				     struct ftr_err *err) FTR_MUST_USE;

struct balance_counter {
	uint32_t flows, peer;	/* peer: far end of the link; n_sw: no switch */
};
/* Make n_links + 1 counters.  Entries that lead to no port use the last counter.  Returns NULL if
 * out of memory. */
struct balance_counter *balance_counters_new(const struct balance_net *net,
					     struct ftr_arena *a);
void balance_counters_add(const struct balance_net *net,
			  const struct balance_counter *link, uint32_t *flows);

/* The entries of all switches for destination d, in entry[n_dests][n_sw]. */
static inline uint8_t *balance_entries(const struct balance_net *net,
				       uint8_t *entry, uint32_t d)
{
	return entry + (size_t)d * net->f->n_sw;
}

/* The row of destination d in senders[n_dests][n_sw + 1].  Element s is the number of hosts whose
 * path to d visits s.  Element n_sw is the number of hosts whose path ends at no switch. */
static inline uint16_t *balance_senders(const struct balance_net *net,
					uint16_t *senders, uint32_t d)
{
	return senders + (size_t)d * (net->f->n_sw + 1);
}
static inline uint16_t *balance_senders_new(const struct balance_net *net,
					    struct ftr_arena *a)
{
	size_t n = net->first[net->f->n_sw];

	return ftr_arena_alloc(a, n + 1,
			       (net->f->n_sw + 1u) * sizeof(uint16_t));
}

/* The number of 64-bit words in a row of passed[max_lid + 1].  The row of a LID has one bit for
 * each switch.  The bit is set if flows to the LID visit the switch. */
static inline size_t balance_passed_words(const struct balance_net *net)
{
	return net->f->n_sw / 64 + 1u;
}

static inline uint64_t *balance_passed(const struct balance_net *net,
				       uint64_t *passed, ftr_lid lid)
{
	return passed + lid * balance_passed_words(net);
}

/* Allocate the bins.  bytes: approximate limit of their memory.  Sets c->width. */
enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a,
				 struct ftr_err *err) FTR_MUST_USE;
/* The flows of the shifts begin .. end - 1 on each link: n[n_rows][stride], zeroed by the
 * caller. */
struct balance_slice {
	uint16_t *n;
	size_t stride;
	uint32_t begin, end;
};
void balance_count_slice(const struct balance_net *net, uint8_t *entry,
			 const struct balance_slice *b);
/* Set c->many and compute c->full.  Later changes of bins keep c->full up to date. */
void balance_bins_full(struct balance_count *c, uint32_t many,
		       struct ftr_team *team);
struct balance_shifts {
	uint32_t begin, end;
};
/* The hosts of a source send to position pos in src->n consecutive shifts (modulo n_pos).  Returns
 * the first of them. */
static inline uint32_t balance_first_shift(const struct balance_net *net,
					   const struct balance_source *src,
					   uint32_t pos)
{
	uint32_t k = pos + 1 + net->n_pos - src->first - src->n;

	return k < net->n_pos ? k : k - net->n_pos;
}

/* The shifts in which the hosts of a source send to position pos.  The host at pos must be on
 * another switch. */
static inline struct balance_shifts
balance_shifts_of(const struct balance_net *net,
		  const struct balance_source *src, uint32_t pos)
{
	uint32_t k = balance_first_shift(net, src, pos);

	return (struct balance_shifts){ k, k + src->n };
}

/* Add `by` flows (1 or -1) on a link in each of the shifts `of`. */
void balance_bins_add(struct balance_count *c, uint32_t link,
		      struct balance_shifts of, int by);

/* The number of flows on the most loaded link. */
uint32_t balance_most(const struct balance_net *net, const uint32_t *flows);

/* *sum: the load of the most loaded link of each shift, added over all shifts; BALANCE_CANCELLED if
 * the search was cancelled. */
#define BALANCE_CANCELLED UINT64_MAX
enum ftr_status balance_worst(const struct balance_net *net, uint8_t *entry,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err) FTR_MUST_USE;
/* Like balance_worst(), but also counts all flows in the bins.  Does not update c->full. */
enum ftr_status balance_bins_count(struct balance_count *c,
				   struct ftr_team *team, uint64_t *sum,
				   struct ftr_err *err) FTR_MUST_USE;
/* The sum of balance_worst(), computed from the bins.  c->width must be 1. */
uint64_t balance_bins_worst(const struct balance_count *c,
			    struct ftr_team *team);

/* ---- moves ---------------------------------------------------------------- */

struct balance_log {
	struct balance_moved {
		ftr_sw sw;
		ftr_lid lid;
		ftr_port was;
		bool first;	/* the first change of this entry */
	} *moved;
	uint32_t n, cap;
	uint64_t *seen;		/* [n_sw][stride / 64] one bit for each entry in moved[] */
};

/* Change an entry of destination d.  If out of memory, returns false and changes nothing. */
bool balance_move(struct balance_count *c, ftr_sw s, uint32_t d, ftr_port port);
/* Revert all moves in t except the first n.  Returns the number of entries that still differ from
 * their value before the first move. */
uint64_t balance_log_undo(struct balance_log *log, struct ftr_tables *t,
			  uint32_t n);

/* Candidates of each switch for the current column l, computed when first needed. */
struct balance_cand {
	const struct ftr_group **group;
	uint32_t n_groups, cap;
	uint32_t *first;	/* by switch: index of its candidates in group[]; BALANCE_NONE: not
				 * computed yet */
	uint8_t *n;		/* by switch: number of candidates; 0: no choice */
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
/* Compute the candidates of s, if not computed yet.  Returns false if out of memory. */
bool balance_cand_find(struct balance_cand *z, ftr_sw s);

static inline bool balance_may_move(const struct balance_count *c, ftr_sw s,
				    ftr_lid lid)
{
	const uint64_t *bits = c->net->in->movable;

	return !bits || bits[(size_t)s * (c->t->stride / 64) + lid / 64] >>
		lid % 64 & 1;
}

/* ---- search -------------------------------------------------------------- */

/* Is the search to be cancelled?  Only the thread that started the search may call this function.
 * It must not call the function again after the result true. */
static inline bool balance_cancelled(const struct balance_net *net)
{
	const struct ftr_balance_input *in = net->in;

	return in->cancelled && in->cancelled(in->ctx);
}

/* Like ftr_balance_tables().  net: NULL, or a net that was made for t and for the shapes of in.
 * Frees net. */
enum ftr_status balance_run(const struct ftr_balance_input *in,
			    struct balance_net *net, struct ftr_tables *t,
			    struct ftr_team *team,
			    struct ftr_balance_report *report,
			    struct ftr_err *err) FTR_MUST_USE;

struct balance_sweep {
	uint32_t target;	/* greatest number of flows that a link should carry */
	uint64_t over;		/* cost of each flow above the target */
	uint32_t meet;		/* A link is bad if it has at least this number of flows in some
				 * shift, or more than `target` all-to-all flows.  With bins of
				 * several shifts, the mean over a bin must be above meet - 1. */
	bool quick;		/* examine only entries whose path had a bad link at the start of
				 * their batch of destinations */
	uint32_t least;		/* balance_load_sweep(): examine only entries that at least this
				 * number of hosts use */
	/* balance_load_sweep(): a batch has `shares` shares of share_dests consecutive destinations
	 * each.  Threads process the shares in parallel.  0: the default */
	uint32_t shares, share_dests;
	uint64_t moved;
	bool cancelled;
};

/* One sweep by all-to-all flows and shifts.  The bins must have been counted. */
enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_team *team,
			      struct ftr_err *err) FTR_MUST_USE;
/* While a thread works on its share of batch b, it sees all its own moves.  It sees the moves of
 * the other shares only up to batch b - BALANCE_LAG. */
#define BALANCE_LAG 2u
/* One sweep by all-to-all flows only.  The senders must have been counted.  The tables depend on
 * w->shares and w->share_dests, but not on the number of threads.  The log has the moves of share 0
 * first, then those of share 1, and so on. */
enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_team *team,
				   struct ftr_err *err) FTR_MUST_USE;

#endif
