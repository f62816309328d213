/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations that the files of the balance module share.
 *
 *	net.c		lists the links, sources and destinations of a fabric
 *	column.c	orders the switches for a destination switch, and finds candidates
 *	flows.c		keeps the all-to-all flows on every link
 *	shifts.c	keeps the flows of every shift on every link, in bins
 *	choose.c	chooses the cheapest port of an entry
 *	sweep.c		makes one sweep: chooses the ports of many entries, one after the other
 *	balance_tables.c	runs the search of <ftr/balance.h>, which consists of sweeps
 *	displaced.c	chooses the ports of displaced entries after a single fault
 *	bound.c		computes a lower bound for the load of the most loaded link, from cuts
 *	base.c		computes the copy of the tables and their flows from those before faults
 *
 * One step does all the work: take the flows that pass an entry off their path, compute the price
 * of the path through each allowed port, choose the cheapest port, and put the flows on its path
 * (choose.c).  What differs is the price, and which entries are examined.
 *
 * Two designs were compared.  In the first, the entries for a destination are examined from the
 * farthest switch to the nearest, and the flows that pass an entry are handed on from switch to
 * switch.  In the second, which is used, the nearest switch comes first.  Then no flow that passes
 * an entry has changed its way to this entry when the entry is examined.  So one array, computed
 * once for each destination, has the flows of every entry as a range, and there are no lists that
 * change while they are used.
 *
 * Terms:
 *
 *	link		one direction of an InfiniBand link.  Its index is that of the sending
 *			port: f->sw[s].first_port + port
 *	source		a switch with hosts
 *	destination	the base LID of a host
 *	column		a switch as a destination, with the destinations on it
 *	candidate	a port group that the entry may use
 *	position	the number of a host in the host order
 *	shift k		position p sends to position (p + k) mod n; n: number of positions
 *	bin		a counter of the flows on one link in a few consecutive shifts
 *	price		of a path: the cost of adding flows to its links
 */
#ifndef FTR_BALANCE_BALANCE_H
#define FTR_BALANCE_BALANCE_H

#include "base/base.h"
#include "check/flow_count.h"
#include <ftr/balance.h>

#define BALANCE_NONE UINT32_MAX

/* ---- net.c ----------------------------------------------------------------- */

struct balance_net {
	const struct ftr_balance_input *in;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	uint32_t n_links;	/* f->n_ports */
	struct flow_net links;
	uint32_t n_sources;
	struct flow_source *source;
	uint32_t *source_of;	/* source_of[s]: index of switch s in source[], or BALANCE_NONE */
	uint32_t *hosts;	/* hosts[s]: number of hosts on switch s */
	uint32_t n_hosts;
	uint32_t most_hosts;	/* greatest number of positions of a source, at least 1 */
	uint32_t bound;		/* result of ftr_balance_bound() */
	uint32_t rail_weight;	/* see net.c; 0: the fabric has no rails */
	uint32_t n_pos;		/* number of positions, and of shifts (shift 0 included) */
	uint32_t *dest_at;	/* dest_at[p]: index in dest[] of the host at position p */
	/* dest: those of the shape that are base LIDs of hosts, sorted by column; first[l]: index in
	 * dest[] of the first destination of column l */
	uint32_t n_dests;
	struct ftr_dest *dest;
	uint32_t *pos;		/* [n_dests] position of the host, or BALANCE_NONE */
	uint32_t *first;
	uint32_t *dest_of;	/* dest_of[lid]: index in dest[], or BALANCE_NONE */
	/* [n_sw][n_sw] costs of the shape, sorted by column; NULL: read them from the shape */
	uint8_t *cost, *down;
};

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				struct balance_net **out,
				struct ftr_err *err) FTR_MUST_USE;
void balance_net_free(struct balance_net *net);	/* NULL is accepted */

static inline bool balance_is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

/* The number of flows inside a rail from a source to a host on switch `to`. */
static inline uint32_t balance_rail(const struct balance_net *net, const struct flow_source *src,
				    ftr_sw to)
{
	const uint8_t *rail = net->in->shape->numbering.rail;

	return net->rail_weight && rail[to] && rail[to] == rail[src->sw] ? src->hosts : 0;
}

/* Store the number of hosts on each switch in hosts[n_sw], which must be all 0 before the call. */
void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts);

static inline ftr_sw balance_switch(const struct balance_net *net, uint32_t d)
{
	return net->in->shape->numbering.col_sw[net->dest[d].col];
}

/* The shape that the entries for column l follow. */
static inline const struct ftr_shape *balance_shape(const struct ftr_balance_input *in, uint32_t l)
{
	return in->use_full && in->use_full[l] ? in->full : in->shape;
}

/* The shifts in which the hosts of a source send to position pos, one host in each shift.  The host
 * at pos must be on another switch. */
static inline struct flow_span
balance_shifts_of(const struct balance_net *net, const struct flow_source *src, uint32_t pos)
{
	uint32_t k = pos + 1 + net->n_pos - src->first - src->n;

	if (k >= net->n_pos)
		k -= net->n_pos;
	return (struct flow_span){ k, k + src->n };
}

/* A set of entries: those of the switches sw[first[d]] .. sw[first[d + 1] - 1], in ascending order,
 * for destination d. */
struct balance_subset {
	uint32_t *first;	/* [n_dests + 1] */
	uint16_t *sw;
};

/* bits: one bit for each entry, like ftr_balance_input.movable.  Only bits of destinations count. */
enum ftr_status balance_subset_new(const struct balance_net *net, const uint64_t *bits,
				   struct balance_subset *out, struct ftr_err *err) FTR_MUST_USE;
void balance_subset_free(struct balance_subset *z);

/* For each entry i of each destination d of the set. */
#define for_each_entry(net, set, d, i)						\
	for (uint32_t d = 0; d < (net)->n_dests; d++)				\
		for (uint32_t i = (set)->first[d]; i < (set)->first[d + 1]; i++)

/* The link onto which the entry of s leads, or BALANCE_NONE. */
static inline uint32_t balance_link(const struct balance_net *net, struct flow_dest of, ftr_sw s)
{
	return flow_link_to(&net->links, s, of.entry[s * of.stride]);
}

/* For each link of the path from s to `of`, up to a missing entry.  s is changed. */
#define for_each_link(net, of, s, link)								\
	for (uint32_t link, hops_ = 0; (s) != (of).to && hops_ < (net)->f->n_sw &&			\
	     (link = balance_link(net, of, s)) != BALANCE_NONE; (s) = (net)->links.peer[link], hops_++)

/* A copy of the tables, which is fast to read, is an array of the destinations of net: copy[d] has
 * stride 1, and copy[0].entry[n_dests][n_sw] are all entries.  It is freed by free(). */

/* Returns a copy with entries that are not set; NULL: out of memory. */
struct flow_dest *balance_copy_alloc(const struct balance_net *net);
enum ftr_status balance_copy_new(const struct balance_net *net,
				 const struct ftr_tables *t, struct ftr_team *team,
				 struct flow_dest **out, struct ftr_err *err) FTR_MUST_USE;
void balance_copy_read(const struct balance_net *net, const struct ftr_tables *t,
		       struct ftr_team *team, struct flow_dest *copy);

/* ---- column.c -------------------------------------------------------------- */

/* What a sweep must know about a column. */
struct balance_column {
	const struct balance_net *net;
	const struct ftr_shape *sh;	/* the shape that the entries for the column follow */
	uint32_t l;
	/* sw[0 .. n - 1]: the switches that have a path to the column, such that every candidate of
	 * a switch comes after it.  The switch of the column is last.  The switches without a path
	 * follow.  at[s]: 1 + index of s in sw[]; 0: no path */
	uint16_t *sw;
	uint32_t n;
	uint16_t *at;
	struct ftr_costs costs;	/* costs and down-costs from each switch to the column */
	/* The candidates of s are group[first[s]] .. group[first[s] + n_cand[s] - 1].
	 * n_cand[s] == UINT16_MAX: not computed yet */
	const struct ftr_group **group;
	uint32_t *first;
	uint16_t *n_cand;
	/* scratch */
	uint16_t *key;
	uint32_t *begin;
	ftr_sw *stack;
};

/* Sort the costs, which saves time if many columns will be set.  Returns false if memory is
 * exhausted. */
bool balance_sort_costs(struct balance_net *net);
/* Returns false if memory is exhausted. */
bool balance_column_new(const struct balance_net *net, struct ftr_arena *a,
			struct balance_column *out);
/* Set the members for column l, which must have destinations.  of: the present entries for one of
 * them.  Returns false if the candidates lead in a circle.  (in->extra then breaks its
 * contract.) */
bool balance_column_set(struct balance_column *c, uint32_t l, struct flow_dest of);
/* Set only the members that balance_candidates() needs. */
void balance_column_begin(struct balance_column *c, uint32_t l);
/* The candidates of s.  *n: their number. */
const struct ftr_group *const *balance_candidates(struct balance_column *c, ftr_sw s,
						  uint32_t *n);

/* ---- flows.c --------------------------------------------------------------- */

/* The counters of the links.
 *
 * flows	number of all-to-all flows on each link.  If every host sends to every other host,
 *		there is one flow for each ordered pair of hosts.  The flows to an entry without a
 *		port count on the links before this entry
 * rail		number of those flows that stay inside a rail; a link may have fewer of them than
 *		flows, see net->rail_weight
 * bins		number of flows on each link in the shifts.  Bin b is the sum over the shifts
 *		b * width .. (b + 1) * width - 1, modulo 2^16 */
struct balance_loads {
	const struct balance_net *net;
	uint32_t *flows;	/* [n_links] */
	uint32_t *rail;		/* [n_links], or NULL: the fabric has no rails */
	uint32_t width;		/* number of shifts per bin */
	uint64_t per_shift;	/* see balance_bin() */
	uint32_t n_bins;	/* number of bins per link */
	uint16_t *bins;		/* [n_rows][n_bins]; NULL: shifts are not counted.  Link x has row
				 * net->links.row[x] */
	/* full[n_rows][words] has one bit for each bin, which is set if the bin has more than
	 * `many` flows.  n_full: number of such bins of each link */
	uint32_t many, words;
	uint64_t *full;
	uint32_t *n_full;
};

enum ftr_status balance_loads_new(const struct balance_net *net,
				  struct balance_loads *out,
				  struct ftr_err *err) FTR_MUST_USE;
void balance_loads_free(struct balance_loads *l);
void balance_bins_free(struct balance_loads *l);

/* Count the all-to-all flows of tables t; or, if copy is not NULL, of the copy.  *loop: true if a
 * path has a loop; the numbers are then not valid. */
enum ftr_status balance_count_flows(struct balance_loads *l, const struct ftr_tables *t,
				    const struct flow_dest *copy,
				    struct ftr_team *team, bool *loop,
				    struct ftr_err *err) FTR_MUST_USE;

/* The sources behind an entry. */
struct balance_behind {
	const struct balance_net *net;
	/* the destination, whose paths must have no loop: see struct balance_column */
	struct ftr_costs costs;
	struct flow_dest of;
	bool *stop;		/* stop[s]: leave out the flows that pass s first; NULL: none */
	/* results of balance_behind(): the switches whose flows pass or end at the entry, s first */
	ftr_sw *sw;		/* [net->f->n_sw] */
	uint32_t n_sw;
	/* the indices of the sources among them, their number of hosts, and the number of those on
	 * the rail of of.to */
	uint16_t *source;	/* [n_sources] */
	uint32_t n, hosts, rail;
};

/* Find the sources behind the entry of s.  The work grows with the number of switches behind it. */
void balance_behind(struct balance_behind *z, ftr_sw s);

/* The greatest number in flows[n_links], which is l->flows or l->rail. */
uint32_t balance_most(const struct balance_loads *l, const uint32_t *flows);

/* ---- shifts.c -------------------------------------------------------------- */

/* Allocate bins of `width` shifts, all 0. */
enum ftr_status balance_bins_new(struct balance_loads *l, uint32_t width,
				 struct ftr_err *err) FTR_MUST_USE;
/* The bin of a shift: shift / width.  (shift * width is below 2^32.) */
static inline uint32_t balance_bin(const struct balance_loads *l, uint32_t shift)
{
	return (uint32_t)(shift * l->per_shift >> 32);
}

/* Add `by` flows (1 or -1) on a link in each of the shifts `of`. */
void balance_bins_add(struct balance_loads *l, uint32_t link,
		      struct flow_span of, int by);
/* Set l->many, and compute l->full and l->n_full if it has changed.  balance_bins_add() keeps them up
 * to date. */
void balance_bins_full(struct balance_loads *l, uint32_t many);
/* Returns true if a bin of the link that covers some of the shifts `of` is full. */
bool balance_bins_any(const struct balance_loads *l, uint32_t link, struct flow_span of);

/* Count the flows of all shifts.  fill: store them in the bins of l, too.  *sum: the load of the
 * most loaded link of each shift, added up; or BALANCE_CANCELLED if the search was cancelled. */
#define BALANCE_CANCELLED UINT64_MAX
enum ftr_status balance_count_shifts(struct balance_loads *l, const struct flow_dest *copy,
				     bool fill, struct ftr_team *team, uint64_t *sum,
				     struct ftr_err *err) FTR_MUST_USE;

/* ---- choose.c -------------------------------------------------------------- */

#define BALANCE_PRICES 4096

/* The price of adding flows to a link, see choose.c. */
struct balance_price {
	uint32_t target;	/* greatest number of all-to-all flows that a link should carry */
	uint64_t over;		/* price of the flows above the target */
	bool square;		/* true: square the number of flows above the target */
	bool idle;		/* true: prefer idle links */
	uint64_t gain;		/* least gain for which an entry gives up its present port */
	uint32_t shift[BALANCE_PRICES];	/* shift[n]: price of a flow in a bin with n other flows */
};

/* Set p->shift for bins of `width` shifts: scale * ((N + 1)^power - N^power - 1), where N is the
 * number of other flows in the shift. */
void balance_price_shifts(struct balance_price *p, uint32_t width, int power, double scale);

/* The flows that pass an entry, and the links that they may take. */
struct balance_flows {
	struct balance_loads *loads;
	const struct balance_price *price;
	const struct ftr_shape *sh;
	struct flow_dest of;
	uint32_t hosts;		/* number of hosts that send the flows */
	uint32_t rail;		/* sum of balance_rail() */
	uint32_t n_shifts;	/* shift[0 .. n_shifts - 1]: the shifts of the flows */
	struct flow_span *shift;
};

/* Add (by: 1) or subtract (by: -1) the flows on the links of the path from s. */
void balance_add(const struct balance_flows *z, ftr_sw s, int by);
/* Append the shifts in which source src sends to position pos. */
void balance_add_shifts(struct balance_flows *z, const struct flow_source *src, uint32_t pos);
/* The cheapest port of the n candidates of s for flows that are on no link now.  If several ports
 * have the least price, the first one is taken; the search begins at candidate number
 * begin % n.  The present port of s has precedence, see balance_price.gain. */
ftr_port balance_choose(const struct balance_flows *z, ftr_sw s,
			const struct ftr_group *const *cand, uint32_t n, uint32_t begin);

/* The i-th port of the candidate g in the order of this search.  If no flows pass, the result is the
 * first port of candidate number begin % n. */
static inline ftr_port balance_port(const struct ftr_shape *sh, const struct ftr_group *g,
				    uint32_t n, uint32_t begin, uint32_t i)
{
	return sh->tree.group_ports[g->first + (begin / n + i) % g->n];
}

/* ---- sweep.c --------------------------------------------------------------- */

/* The parameters of a sweep.  A link is bad if flows[] or weight * rail[] is above price.target, or
 * (if the bins are counted) at least `meet` flows in some shift.  If bins count several shifts
 * together: if it has more than `meet - 1` flows per shift in some bin. */
struct balance_sweep {
	struct balance_price price;
	/* NULL: any entry may change.  Otherwise only these, which must lead over candidates, or have
	 * no port; and so must the entries after them on their paths */
	const struct balance_subset *only;
	bool place;		/* true: choose ports for the entries of `only` without a port; false:
				 * for the entries whose path has a bad link */
	uint32_t meet;
	uint32_t least;		/* examine only entries on the paths of at least this number of
				 * hosts */
	uint64_t moved;		/* output: number of changed entries */
	bool cancelled;		/* output: true if the search was cancelled */
};

/* Make one sweep.  The entries of the copy change, and the counters of l are kept up to date. */
enum ftr_status balance_sweep(struct balance_loads *l, struct flow_dest *copy,
			      struct balance_sweep *w, struct ftr_err *err) FTR_MUST_USE;

/* ---- balance_tables.c ------------------------------------------------------ */

/* Returns true if the search must stop.  Only the thread that started the search may call this
 * function, and not again after it has returned true. */
static inline bool balance_cancelled(const struct balance_net *net)
{
	const struct ftr_balance_input *in = net->in;

	return in->cancelled && in->cancelled(in->ctx);
}

struct balance_base;

/* Entries that get a port by load before the search. */
struct balance_place {
	const uint64_t *bits;	/* see balance_subset_new() */
	const struct ftr_tables *prefer;	/* preferred tables, or NULL (displaced.h) */
	const uint64_t *changed;	/* with `prefer`: the entries that differ from it */
	const struct balance_base *base;	/* made from `prefer`, or NULL */
};

/*
 * Improve t in place.  The tables must fit the fabric of the shape.  place: NULL, or the entries to
 * be placed first, also with FTR_BALANCE_OFF.  report may be NULL.  With FTR_BALANCE_OFF there is
 * no search, and *report is all 0.  In the following cases t is not changed, and only report->bound
 * is set:
 *
 *  - A path in t has a loop.
 *  - Fewer than two hosts have a position.
 *
 * The entries for a destination are not changed if a path to it ends before the destination, or
 * does not follow descending costs of the shape; or if candidates lead in a circle.  (The last case
 * cannot happen if in->extra keeps its contract.)  Error: FTR_NOMEM, with t unchanged.
 */
enum ftr_status balance_run(const struct ftr_balance_input *in,
			    const struct balance_place *place, struct ftr_tables *t,
			    struct ftr_team *team, struct ftr_balance_report *report,
			    struct ftr_err *err) FTR_MUST_USE;

/* ---- base.c ---------------------------------------------------------------- */

/* Copy tables t of shape sh, and count their flows.  sh must outlive *out. */
enum ftr_status balance_base_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				 struct ftr_team *team, struct balance_base **out,
				 struct ftr_err *err) FTR_MUST_USE;
void balance_base_free(struct balance_base *b);	/* NULL is accepted */
/* The index of lid in net->dest[] of the base, or BALANCE_NONE. */
uint32_t balance_base_dest(const struct balance_base *b, ftr_lid lid);
/* True if no flows to destination d pass the entry of s. */
bool balance_base_idle(const struct balance_base *b, ftr_sw s, uint32_t d);
/* Set *out to a copy of tables t.  changed: the entries that differ from the base. */
enum ftr_status balance_base_copy(const struct balance_base *b,
				  const struct balance_subset *changed, const struct ftr_tables *t,
				  struct flow_dest **out, struct ftr_err *err) FTR_MUST_USE;
/* Count the all-to-all flows of the copy.  changed: as above, or more entries. */
enum ftr_status balance_base_flows(const struct balance_base *b,
				   const struct balance_subset *changed,
				   const struct flow_dest *copy, struct balance_loads *l,
				   struct ftr_err *err) FTR_MUST_USE;

/* ---- displaced.c ------------------------------------------------------------ */

/* Count in the bins the flows that have passed a displaced entry, that is, an entry that differs
 * from the preferred tables. */
void balance_count_displaced(struct balance_loads *l, const struct flow_dest *now,
			     const struct flow_dest *prefer);
/* Set *out to the price by which displaced entries are placed.  width: number of shifts of a
 * bin. */
void balance_place_price(const struct balance_net *net, const struct ftr_shape *sh,
			 uint32_t width, struct balance_price *out);

/* Loads up to the target are accepted: bound + max(1, bound / 50). */
static inline uint32_t balance_target(uint64_t bound)
{
	return (uint32_t)(bound + FTR_MAX(bound / 50, 1u));
}

#endif
