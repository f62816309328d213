/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the balance module share.
 *
 *	flow_net.c		links, sources and destinations of a shape
 *	count.c		flows on every link, all-to-all and by shift
 *	load.c		one sweep over entries, for all-to-all alone
 *	local_search.c	one sweep over entries, for shifts as well
 *	move.c		candidates of entries, and the log of what was changed
 *	worst.c		the most loaded link of every shift, exactly
 *	bound.c		what no routing can avoid: cuts
 *	dual.c		the same: weights of links
 *	balance.c	<ftr/balance.h>: depth by depth, never worse
 *
 * A link is directed and named by the index of the port that sends it,
 * f->sw[s].first_port + port.  A source is a switch with hosts.
 */
#ifndef FTR_BALANCE_BALANCE_H
#define FTR_BALANCE_BALANCE_H

#include "core/core.h"
#include <ftr/balance.h>

#define BALANCE_NONE UINT32_MAX

/* A destination whose traffic is counted: the base LID of a host. */
struct balance_dest {
	ftr_lid lid;
	uint32_t col;
	uint32_t pos;		/* position among the hosts, or BALANCE_NONE:
				 * in all-to-all only */
};

/* Where the ports of a switch are: first + port, port <= n. */
struct balance_ports {
	uint32_t first, n;
};

/* A source: a switch with hosts. */
struct balance_source {
	ftr_sw sw;
	uint32_t hosts;		/* all that send */
	uint32_t first, n;	/* positions first .. first + n - 1 */
};

struct balance_net {
	const struct ftr_balance_input *in;
	const struct ftr_fabric *f;
	struct ftr_arena *arena;
	uint32_t n_links;	/* f->n_ports */
	ftr_sw *peer;		/* [n_links], FTR_SW_NONE: to no switch */
	uint32_t *row;		/* [n_links] number among those to a switch */
	uint32_t n_rows;
	struct balance_ports *ports;	/* [n_sw] */
	uint32_t n_sources;
	struct balance_source *source;
	uint32_t *source_of;	/* [n_sw] or BALANCE_NONE */
	uint32_t *hosts;	/* [n_sw] that send */
	uint32_t n_hosts;	/* sum of them */
	uint32_t n_pos;		/* positions, and so shifts */
	uint32_t *dest_at;	/* [n_pos] */
	/* destinations of column l: dest[first[l]] .. dest[first[l + 1] - 1] */
	struct balance_dest *dest;
	uint32_t *first;	/* [n_sw + 1] */
	uint32_t *dest_of;	/* [max_lid + 1] by LID, or BALANCE_NONE */
	/* The switches that have a path to column l, the farthest first, its own
	 * switch last: on every path to it they stand in this order, whatever
	 * candidates the entries take.  NULL: a column without destinations */
	struct balance_order {
		uint16_t *sw;
		uint32_t n;
	} *order;		/* [n_sw] by column */
};

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				const struct ftr_tables *t,
				struct ftr_team *team, struct balance_net **out,
				struct ftr_err *err) FTR_MUST_USE;
void balance_net_free(struct balance_net *net);

static inline bool balance_is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

/* hosts: [n_sw], zeroed. */
void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts);

/* The shape that column l is routed by. */
static inline const struct ftr_shape *
balance_shape(const struct balance_net *net, uint32_t l)
{
	const struct ftr_balance_input *in = net->in;

	return in->use_full && in->use_full[l] ? in->full : in->shape;
}

static inline uint32_t balance_link(const struct balance_net *net, ftr_sw s,
				    ftr_port port)
{
	return net->ports[s].first + port;
}

/* The link of an entry, or BALANCE_NONE: it leads to no switch. */
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
 * bins		flows of shift permutation k on a link, summed over the `width`
 *		shifts of bin k / width
 */
struct balance_count {
	const struct balance_net *net;
	struct ftr_tables *t;
	struct balance_log *log;	/* of changed entries, or NULL */
	uint32_t *flows;	/* [n_links] */
	uint32_t width;		/* shifts per bin */
	uint32_t n_bins;	/* 0: shifts are not counted */
	uint16_t *bins;		/* [net->n_rows][n_bins] */
	uint16_t *peak;		/* [n_links] at least the fullest bin */
	uint32_t slice;		/* bins that one worker counts at a time */
};

/* all-to-all; passed: rows of balance_passed, zeroed, to be set, or NULL */
enum ftr_status balance_count_flows(const struct balance_net *net,
				    const struct ftr_tables *t,
				    struct ftr_team *team, uint32_t *flows,
				    uint64_t *passed,
				    struct ftr_err *err) FTR_MUST_USE;

/* The switches that flows to a LID pass, or come to: a bit each. */
static inline size_t balance_passed_words(const struct balance_net *net)
{
	return net->f->n_sw / 64 + 1u;
}

static inline uint64_t *balance_passed(const struct balance_net *net,
				       uint64_t *passed, ftr_lid lid)
{
	return passed + lid * balance_passed_words(net);
}

/* bytes: limit for the memory of the bins. */
enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a,
				 struct ftr_err *err) FTR_MUST_USE;
/* Count all of t, and set the peaks. */
void balance_bins_count(struct balance_count *c, struct ftr_team *team);
/* The shifts begin .. end - 1 alone, into zeroed bins[n_rows][stride]. */
struct balance_bins {
	uint16_t *bins;
	size_t stride;
	uint32_t width, begin, end;
};
void balance_count_bins(const struct balance_net *net,
			const struct ftr_tables *t,
			const struct balance_bins *b);
/* Bins that fit into a cache, so that there is one for each worker. */
uint32_t balance_slice(const struct balance_net *net, uint32_t workers);
/* Set the peaks to the fullest bins. */
void balance_bins_peaks(struct balance_count *c);
/* Sum over the shifts of the most loaded link; width must be 1. */
uint64_t balance_bins_worst(const struct balance_count *c);

/* The shifts in which a source's hosts send to a position: n_pos of them at
 * most, from *first on, modulo n_pos. */
static inline uint32_t balance_window(const struct balance_net *net,
				      const struct balance_source *src,
				      uint32_t pos)
{
	return (pos + 2 * net->n_pos - src->first - src->n + 1) % net->n_pos;
}

/* Add by (1 or -1) flows of src to pos on a link. */
void balance_bins_add(struct balance_count *c, uint32_t link,
		      const struct balance_source *src, uint32_t pos, int by);

/* The most flows on a link. */
uint32_t balance_most(const struct balance_net *net, const uint32_t *flows);

/* Sum over the shifts of the flows on the most loaded link. */
enum ftr_status balance_worst(const struct balance_net *net,
			      const struct ftr_tables *t,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err) FTR_MUST_USE;

/* ---- moves ---------------------------------------------------------------- */

/* Entries changed, in that order. */
struct balance_log {
	struct balance_moved {
		ftr_sw sw;
		ftr_lid lid;
		ftr_port was;
		bool first;	/* of this entry */
	} *moved;
	uint32_t n, cap;
	uint64_t *seen;		/* [n_sw][stride / 64] entries in the log */
};

/* Change an entry; false: no memory, and it is as it was. */
bool balance_move(struct balance_count *c, ftr_sw s, ftr_lid lid,
		  ftr_port port);
/* Take back all moves but the first n; how many entries differ after that. */
uint64_t balance_log_undo(struct balance_log *log, struct ftr_tables *t,
			  uint32_t n);

/* Candidates of the column at hand, found when needed. */
struct balance_cand {
	const struct ftr_group **group;
	uint32_t n_groups, cap;
	uint32_t *first;	/* [n_sw] into group, or BALANCE_NONE */
	uint8_t *n;		/* [n_sw] 0: there is no choice */
	const struct ftr_shape *sh;
	uint32_t l;
};

bool balance_cand_new(struct balance_cand *z, struct ftr_arena *a,
		      uint32_t n_sw);
void balance_cand_free(struct balance_cand *z);
void balance_cand_column(struct balance_cand *z, const struct balance_net *net,
			 uint32_t l);
/* Find those of s; false: no memory. */
bool balance_cand_find(struct balance_cand *z, ftr_sw s);

static inline bool balance_may_move(const struct balance_count *c, ftr_sw s,
				    ftr_lid lid)
{
	const uint64_t *bits = c->net->in->movable;

	return !bits || bits[(size_t)s * (c->t->stride / 64) + lid / 64] >>
		lid % 64 & 1;
}

/* ---- search -------------------------------------------------------------- */

struct balance_sweep {
	uint32_t target;	/* flows of a link that are not too many */
	uint64_t over;		/* price of a flow above it */
	uint32_t meet;		/* flows in one shift that are too many */
	bool quick;		/* of each destination, only entries that are
				 * on such a link when it is begun */
	uint32_t least;		/* without shifts: look only at entries that so
				 * many hosts send through */
	uint64_t moved;		/* entries changed */
	bool cancelled;
};

/* Needs the bins and their peaks. */
enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_err *err) FTR_MUST_USE;
/* Flows alone. */
enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_err *err) FTR_MUST_USE;

#endif
