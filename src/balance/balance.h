/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the balance module share.
 *
 *	net.c		links, sources and destinations of a shape
 *	count.c		flows on every link, all-to-all and by shift
 *	search.c	one sweep over entries
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
	uint32_t pos;		/* position among the hosts, or BALANCE_NONE:
				 * in all-to-all only */
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
	uint32_t n_sources;
	struct balance_source *source;
	uint32_t *source_of;	/* [n_sw] or BALANCE_NONE */
	uint32_t n_hosts;	/* that send */
	uint32_t n_pos;		/* positions, and so shifts */
	/* destinations of column l: dest[first[l]] .. dest[first[l + 1] - 1] */
	struct balance_dest *dest;
	uint32_t *first;	/* [n_sw + 1] */
};

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				struct balance_net **out,
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
	return net->f->sw[s].first_port + port;
}

/*
 * The switches that have a path to a column, the farthest first, its own switch
 * last: on every path to it they stand in this order.  Returns how many; order:
 * room for n_sw.
 */
struct balance_order {
	ftr_sw *sw;		/* [n_sw] */
	uint32_t n;
	uint32_t *key;		/* [n_sw] scratch */
};

bool balance_order_new(struct balance_order *o, struct ftr_arena *a,
		       uint32_t n_sw);
void balance_order_make(const struct balance_net *net,
			const struct ftr_tables *t, uint32_t l,
			struct balance_order *o);

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
	uint32_t *flows;	/* [n_links] */
	uint32_t width;		/* shifts per bin */
	uint32_t n_bins;	/* 0: shifts are not counted */
	uint32_t *bins_at;	/* [n_links] row of bins, or BALANCE_NONE */
	uint16_t *bins;		/* [rows][n_bins] */
	uint16_t *peak;		/* [n_links] at least the fullest bin */
	uint32_t n_rows;
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
/* Count all of t. */
void balance_bins_count(struct balance_count *c);
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

/* ---- search -------------------------------------------------------------- */

struct balance_sweep {
	uint32_t target;	/* flows of a link that are not too many */
	uint64_t over;		/* price of a flow above it */
	bool shifts;		/* count shifts, too */
	uint32_t meet;		/* flows in one shift that are too many */
	uint64_t moved;		/* entries changed */
	bool cancelled;
};

enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_err *err) FTR_MUST_USE;

#endif
