/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/load.h>.
 *
 *	flow_count.c	counts flows, for this module and for the search (flow_count.h)
 *	load_model.c	struct ftr_load: host order, destinations, all-to-all load; new and free
 *	loadrun.c	load of many patterns, divided among threads
 *	loadsum.c	makes a report from the loads of all links
 *	job_load.c	load of several jobs that share links
 *
 * A pattern is a set of flows, for example a shift or a permutation of the hosts.  A place is a
 * position in the order of host ports.  A place without a host port is a gap.
 */
#ifndef FTR_CHECK_LINK_LOAD_H
#define FTR_CHECK_LINK_LOAD_H

#include "check/check.h"
#include "check/flow_count.h"
#include <ftr/load.h>

struct ftr_load {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct ftr_arena *arena;
	struct flow_net net;
	uint32_t n;		/* number of places */
	ftr_ep *order;		/* host port at each place; FTR_EP_NONE: a gap */
	ftr_sw *sw;		/* switch of each place; FTR_SW_NONE: a gap */
	uint32_t n_filled;
	uint32_t *filled;	/* [n_filled] the places that are not gaps */
	struct flow_dest *dest;	/* [n_filled] */
	uint32_t *dest_at;	/* [n] index in dest[] of each place; FLOW_NONE: a gap */
	uint32_t n_sources;	/* switches with a filled place */
	struct flow_source *source;
	uint32_t *source_of;	/* [f->n_sw] index in source[] */
	/* all-to-all */
	uint64_t *load;		/* [f->n_ports] flows on each link */
	uint64_t arrived;	/* number of flows that arrive */
	uint64_t host_max;	/* greatest number of flows that one host port receives or sends */
};

/* The host port e as a destination. */
struct flow_dest load_dest(const struct ftr_load *ld, ftr_ep e);

/* ---- loadsum.c ----------------------------------------------------------- */

void load_bin(struct ftr_load_bins *b, uint64_t max, uint64_t value);
/* Set the members of the report that concern links, from load[f->n_ports]. */
void load_report_links(const struct ftr_load *ld, const uint64_t *load,
		       struct ftr_load_report *r);
/* Set the members of r for links and maxima, for a single pattern. The caller sets hosts,
 * patterns, flows, lost and host_max of r. */
void load_report_one(const struct ftr_load *ld, const uint64_t *load,
		     struct ftr_load_report *r);

#endif
