/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations that the files of the balance module share.
 *
 *	flow_net.c	lists the links, sources and destinations of a shape
 *	count.c		counts the flows on every link: all-to-all, and in each shift
 *	count_alike.c	counts the all-to-all flows faster, from the tables alone
 *	load_sweep.c	makes one sweep that evens out all-to-all flows
 *	load_dest.c	makes the changes of such a sweep for one destination
 *	local_search.c	makes one sweep that evens out all-to-all flows and shifts
 *	move.c		finds the candidates of entries, and logs changed entries
 *	worst.c		computes the load of the most loaded link of every shift
 *	bound.c		computes a lower bound for the load of the most loaded link, from cuts
 *	displaced.c	chooses ports for displaced entries (displaced.h)
 *	displaced_all.c	chooses ports for all displaced entries of a routing
 *	balance_tables.c	runs the search of <ftr/balance.h>, which consists of sweeps
 *
 * Terms:
 *
 *	link		one direction of an InfiniBand link.  Its index is that of the sending
 *			port: f->sw[s].first_port + port
 *	source		a switch with hosts
 *	destination	the base LID of a host
 *	column		a switch as a destination, with the destinations on it
 *	candidate	a port group that leads closer to a destination
 *	position	the number of a host in the host order
 *	shift k		position p sends to position (p + k) mod n; n: number of positions
 *	sweep		one pass over the entries, in which entries may change to other candidates
 *	move		the change of one entry in a sweep
 *	bin		a counter of the flows on one link in a few consecutive shifts
 */
#ifndef FTR_BALANCE_BALANCE_H
#define FTR_BALANCE_BALANCE_H

#include "core/core.h"
#include <ftr/balance.h>

#define BALANCE_NONE UINT32_MAX
#define BALANCE_LANES 8u

/* A destination: the base LID of a host. */
struct balance_dest {
	ftr_lid lid;
	uint32_t col;
	uint32_t pos;		/* position of the host, or BALANCE_NONE */
};

/* The ports of a switch.  Port p (1 .. n) sends on the link with index first + p. */
struct balance_ports {
	uint32_t first, n;
};

/* A source: a switch with hosts. */
struct balance_source {
	ftr_sw sw;
	uint32_t hosts;		/* number of hosts on sw */
	uint32_t first, n;	/* n of the hosts have positions, from first to first + n - 1 */
};

struct balance_net {
	const struct ftr_balance_input *in;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	uint32_t n_links;
	ftr_sw *peer;		/* peer[x]: the switch at the far end of link x, or FTR_SW_NONE */
	uint32_t *row;		/* row[x]: index of link x among the links to switches;
				 * BALANCE_NONE: link x does not lead to a switch */
	uint32_t n_rows;	/* number of links to switches */
	struct balance_ports *ports;
	uint32_t n_sources;
	struct balance_source *source;
	uint32_t *source_of;	/* source_of[s]: index of switch s in source[], or BALANCE_NONE */
	uint32_t *hosts;	/* hosts[s]: number of hosts on switch s */
	uint32_t n_hosts;
	uint32_t bound;		/* result of ftr_balance_bound() */
	uint32_t n_pos;		/* number of positions, and of shifts (shift 0 included) */
	uint32_t *dest_at;	/* dest_at[p]: index in dest[] of the host at position p */
	/* dest: sorted by column; first[l]: index in dest[] of the first destination of column l */
	struct balance_dest *dest;
	uint32_t *first;
	uint32_t *sweep_order;	/* the order in which a sweep visits destinations, as indices in
				 * dest[] */
	uint32_t *dest_of;	/* dest_of[lid]: index in dest[], or BALANCE_NONE */
	/* order[l].sw[n]: the switches that have a path to column l (a destination switch), such that
	 * every candidate of a switch comes after it.  The destination switch is last.  sw is NULL if
	 * column l has no destinations; n is 0 if it has no order, see balance_net_ordered(). */
	struct balance_order {
		uint16_t *sw;
		uint32_t n;
		uint8_t *cost, *down;	/* [n_sw] cost and down-cost from each switch to column l */
	} *order;		/* [n_sw] */
	struct ftr_arena *rows;	/* holds the arrays entry[] and senders[] */
	uint8_t *entry;		/* copy of the entries, see balance_entries(), or NULL */
	uint16_t *senders;	/* number of hosts whose path to a destination visits a switch, see
				 * balance_senders(); or NULL */
	uint32_t *flows;	/* number of all-to-all flows on each link.  NULL: not counted, or
				 * the search must not change the tables */
	uint32_t n_groups;	/* for tests: number of groups of sources in count_alike.c */
};

/* Make a net.  Its members `order`, `sweep_order` and `entry` are NULL. */
enum ftr_status balance_net_begin(const struct ftr_balance_input *in,
				  struct balance_net **out,
				  struct ftr_err *err) FTR_MUST_USE;
/* Fill the members `order`, `sweep_order` and `entry` of a net for tables t. */
enum ftr_status balance_net_rows(struct balance_net *net,
				 const struct ftr_tables *t,
				 struct ftr_team *team,
				 struct ftr_err *err) FTR_MUST_USE;
/* Returns true if each column has an order.  A column has none if, by mistake, in->extra returns
 * candidates that lead in a circle; a search would then never end. */
bool balance_net_ordered(const struct balance_net *net) FTR_MUST_USE;
/* Returns true if the tables allow a search: each column l (destination switch) has an order, and the
 * present entries lead from each switch to a later switch of net->order[l].  (All candidates do.)
 * at: [n_sw] scratch.  O(destinations * switches). */
bool balance_net_follows(const struct balance_net *net, uint32_t *at) FTR_MUST_USE;
/* Call balance_net_begin(), and then balance_net_rows(). */
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

/* Store the number of hosts on each switch in hosts[n_sw], which must be all 0 before the call. */
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

/* The costs from all switches to column l (a destination switch), which must have destinations. */
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
 * The counters of the links.
 *
 * flows	number of all-to-all flows on each link.  If every host sends to every other host,
 *		there is one flow for each ordered pair of hosts
 * bins		number of flows on each link in the shifts.  Bin b is the sum over the shifts
 *		b * width .. (b + 1) * width - 1, modulo 2^16
 */
struct balance_count {
	const struct balance_net *net;
	struct ftr_tables *t;
	uint8_t *entry;		/* copy of the entries, see balance_entries() */
	uint16_t *senders;	/* see balance_senders(); NULL: not counted */
	struct balance_log *log;	/* NULL: do not log moves */
	uint32_t *flows;
	uint32_t width;		/* number of shifts per bin */
	uint32_t n_bins;	/* number of bins per link; 0: shifts are not counted */
	/* bins[net->n_rows][n_bins], and BALANCE_LANES unused elements, because a vector load may
	 * read beyond the last bin.  The bins of link x are bins[net->row[x]] */
	uint16_t *bins;
	/* full[net->n_rows][words] has one bit for each bin, which is set if the bin has more than
	 * `many` flows.  n_full: number of such bins of each link */
	uint32_t many, words;
	uint64_t *full;
	uint32_t *n_full;
};

/* The results of balance_count_flows(). */
struct balance_counted {
	uint32_t *flows;
	uint64_t *passed;	/* see balance_passed_words(); NULL: not needed.
				 * balance_count_flows() sets bits, but clears none */
	uint16_t *senders;	/* see balance_senders(); NULL: not needed */
};
/* Count the all-to-all flows of the tables in net->entry. */
enum ftr_status balance_count_flows(const struct balance_net *net,
				    struct ftr_team *team,
				    const struct balance_counted *out,
				    struct ftr_err *err) FTR_MUST_USE;

/* Count the all-to-all flows of the tables in net->entry into net->flows.  senders: also fill
 * net->senders.  passed: see struct balance_counted. */
enum ftr_status balance_count_net(struct balance_net *net, bool senders,
				  uint64_t *passed, struct ftr_team *team,
				  struct ftr_err *err) FTR_MUST_USE;

/* Count the all-to-all flows of tables t into net->flows, which stays NULL if a path has a loop.
 * net->entry and net->order are not used. */
enum ftr_status balance_count_tables(struct balance_net *net,
				     const struct ftr_tables *t,
				     struct ftr_team *team,
				     struct ftr_err *err) FTR_MUST_USE;

/* The flows on a link, and the switch at its far end (n_sw: none). */
struct balance_counter {
	uint32_t flows, peer;
};
/* Make n_links + 1 counters.  The last one is for entries without a port.  Returns NULL if out of
 * memory. */
struct balance_counter *balance_counters_new(const struct balance_net *net,
					     struct ftr_arena *a);
void balance_counters_add(const struct balance_net *net,
			  const struct balance_counter *link, uint32_t *flows);

/* A copy of the tables, sorted by destination: entry[n_dests][n_sw].  Returns the entries of all
 * switches for destination d. */
static inline uint8_t *balance_entries(const struct balance_net *net,
				       uint8_t *entry, uint32_t d)
{
	return entry + (size_t)d * net->f->n_sw;
}

/* Returns the row of destination d in senders[n_dests][n_sw + 1].  Element s of the row is the
 * number of hosts whose path to d visits switch s.  Element n_sw is the number of hosts whose path
 * to d ends at an entry without a port to a switch. */
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

/* passed[max_lid + 1] has a row of bits for each LID.  Bit s is set if flows to the LID visit
 * switch s.  balance_passed_words() returns the number of 64-bit words in a row. */
static inline size_t balance_passed_words(const struct balance_net *net)
{
	return net->f->n_sw / 64 + 1u;
}

static inline uint64_t *balance_passed(const struct balance_net *net,
				       uint64_t *passed, ftr_lid lid)
{
	return passed + lid * balance_passed_words(net);
}

/* Allocate the bins.  Set c->width so that the bins need at most about `bytes` bytes. */
enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a,
				 struct ftr_err *err) FTR_MUST_USE;
/* n[n_rows][stride]: the number of flows on each link in each of the shifts begin .. end - 1.
 * Before a call of balance_count_slice(), set all elements of n to 0. */
struct balance_slice {
	uint16_t *n;
	size_t stride;
	uint32_t begin, end;
};
void balance_count_slice(const struct balance_net *net, uint8_t *entry,
			 const struct balance_slice *b);
/* Set c->many, and compute c->full and c->n_full.  balance_bins_add() keeps them up to date. */
void balance_bins_full(struct balance_count *c, uint32_t many,
		       struct ftr_team *team);
struct balance_shifts {
	uint32_t begin, end;
};
/* The hosts of a source send to position pos in src->n consecutive shifts (modulo n_pos), one host
 * in each shift.  Returns the first of these shifts. */
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

/* Compute the load of the most loaded link of each shift.  *sum becomes the sum over all shifts, or
 * BALANCE_CANCELLED if the search was cancelled. */
#define BALANCE_CANCELLED UINT64_MAX
enum ftr_status balance_worst(const struct balance_net *net, uint8_t *entry,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err) FTR_MUST_USE;
/* Like balance_worst(), but also count all flows into the bins.  Does not update c->full. */
enum ftr_status balance_bins_count(struct balance_count *c,
				   struct ftr_team *team, uint64_t *sum,
				   struct ftr_err *err) FTR_MUST_USE;
/* Compute the sum of balance_worst() from the bins.  c->width must be 1. */
uint64_t balance_bins_worst(const struct balance_count *c,
			    struct ftr_team *team);

/* ---- moves ---------------------------------------------------------------- */

struct balance_log {
	struct balance_moved {
		ftr_sw sw;
		ftr_lid lid;
		ftr_port was;
		bool first;	/* true: the log has no earlier move of this entry */
	} *moved;
	uint32_t n, cap;
	uint64_t *seen;		/* [n_sw][stride / 64] the bit of an entry (switch, LID) is set if
				 * it is in moved[] */
};

/* Change the entry of s for destination d.  If out of memory, return false and change nothing. */
bool balance_move(struct balance_count *c, ftr_sw s, uint32_t d, ftr_port port);
/* Undo all moves in t except the first n.  Returns the number of entries that these n moves have
 * changed. */
uint64_t balance_log_undo(struct balance_log *log, struct ftr_tables *t,
			  uint32_t n);

/* The candidates of each switch for the current column l.  The candidates of switch s are computed
 * when they are first needed: group[first[s]] .. group[first[s] + n[s] - 1]. */
struct balance_cand {
	const struct ftr_group **group;
	uint32_t n_groups, cap;
	uint32_t *first;	/* [n_sw]; BALANCE_NONE: not computed yet */
	uint8_t *n;		/* [n_sw]; 0: the switch has at most one port to choose */
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

/* Returns true if the search must stop.  Only the thread that started the search may call this
 * function, and not again after it has returned true. */
static inline bool balance_cancelled(const struct balance_net *net)
{
	const struct ftr_balance_input *in = net->in;

	return in->cancelled && in->cancelled(in->ctx);
}

/* Like ftr_balance_tables().  net: a net that was made for t and for the shapes of in, or NULL.
 * The call frees net. */
enum ftr_status balance_run(const struct ftr_balance_input *in,
			    struct balance_net *net, struct ftr_tables *t,
			    struct ftr_team *team,
			    struct ftr_balance_report *report,
			    struct ftr_err *err) FTR_MUST_USE;

/* The parameters of a sweep.  A link is bad if it has more than `target` all-to-all flows, or at
 * least `meet` flows in some shift.  (If bins count several shifts together: a link is bad if it
 * has more than `meet - 1` flows per shift in some bin.) */
struct balance_sweep {
	uint32_t target;	/* greatest number of all-to-all flows that a link should carry */
	uint64_t over;		/* cost of each flow above the target */
	uint32_t meet;
	/* The destinations are processed in batches.  quick: examine an entry only if its path had
	 * a bad link when its batch began. */
	bool quick;
	uint32_t least;		/* balance_load_sweep(): examine only entries on the paths of at
				 * least this number of hosts */
	/* balance_load_sweep(): the destinations of a batch are divided into `shares` shares, which
	 * threads process at the same time.  A share of a batch has share_dests consecutive
	 * destinations.  0: the default */
	uint32_t shares, share_dests;
	uint64_t moved;		/* output: number of moves */
	bool cancelled;		/* output: true if the search was cancelled */
};

/* Make one sweep that evens out all-to-all flows and shifts.  The bins must have been counted. */
enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_team *team,
			      struct ftr_err *err) FTR_MUST_USE;
/* While a thread processes its share of batch b, its counters include all its own moves, and the
 * moves of the other shares up to batch b - BALANCE_LAG. */
#define BALANCE_LAG 2u
/* Make one sweep that evens out all-to-all flows.  c->senders must have been counted.  The
 * resulting tables depend on w->shares and w->share_dests, but not on the number of threads.  The
 * log has the moves of the first share of all batches first, then the moves of the second share,
 * and so on. */
enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_team *team,
				   struct ftr_err *err) FTR_MUST_USE;

#endif
