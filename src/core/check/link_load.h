/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of <ftr/load.h>.
 *
 *	load_model.c	struct ftr_load: host order, links, stored paths; new and free
 *	loadtree.c	paths to one destination, a single path, all-to-all load
 *	loadrun.c	load of many patterns, divided among threads
 *	loadsum.c	makes a report from the loads of all links
 *	job_load.c	load of several jobs that share links
 *
 * A pattern is a set of flows, for example a shift or a permutation of the hosts.  A place is a
 * position in the order of host ports.  A place without a host port is a gap.
 *
 * Links are numbered 0 .. n_links-1, by ascending index of the sending port.  A stored path is an
 * array of link numbers; all stored paths have the same length.  Three further numbers stand for no
 * real link.  So the loop that adds a path to the loads needs no branch:
 *
 *	n_links + LOAD_FILL	fills up short paths
 *	n_links + LOAD_LOST	first element of a path that does not arrive
 *	n_links + LOAD_GAP	first element of a path to a gap
 */
#ifndef FTR_CHECK_LINK_LOAD_H
#define FTR_CHECK_LINK_LOAD_H

#include "check/check.h"
#include <ftr/load.h>

#define LOAD_NONE UINT32_MAX	/* no link, no leaf, no path */
enum { LOAD_FILL = 0, LOAD_LOST, LOAD_GAP, LOAD_PSEUDO };

/* The link at a port and the switch at its far end; both are LOAD_NONE if there is no such
 * switch. */
struct load_hop {
	uint32_t link;
	ftr_sw next;
};

/* All-to-all load of the destinations processed so far. */
struct load_sum {
	uint64_t *load;		/* flows on each link */
	uint32_t *arrive;	/* number of destinations that each switch reaches */
	uint32_t *sources;	/* number of sources whose path to the current destination passes
				 * the switch */
	uint64_t flows;		/* number of flows that arrive */
	uint64_t host_max;	/* greatest number of flows into one host port */
};

struct ftr_load {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct ftr_arena *arena;
	uint32_t n;		/* number of places */
	ftr_ep *order;		/* host port at each place; FTR_EP_NONE: a gap */
	uint32_t n_filled;
	uint32_t *filled;	/* [n_filled] the places that are not gaps */
	uint8_t *entry;		/* copy of the tables; entry[s * n_filled + i]: entry of switch s
				 * for the host port at place filled[i] */
	uint32_t n_leaf;	/* number of switches with a filled place */
	uint32_t *leaf;		/* leaf[s]: index of switch s in leaf_sw[], or LOAD_NONE */
	ftr_sw *leaf_sw;	/* [n_leaf] */
	uint32_t *hosts;	/* hosts[s]: number of filled places on switch s */
	uint32_t n_links;
	struct load_hop *hop;	/* link and far end of each port; index as in f->ports */
	uint32_t *link_port;	/* index in f->ports of the sending port of each link */
	uint32_t hops;		/* number of elements of a stored path, >= 1 */
	/* The path from leaf l to place j begins at path + (l * n + j) * hops. NULL: paths are not
	 * stored. */
	uint32_t *path;		/* from malloc() */
	struct load_sum all;	/* all-to-all load */
};

static inline const uint32_t *load_path(const struct ftr_load *ld, ftr_sw s,
					uint32_t place)
{
	return ld->path + ((size_t)ld->leaf[s] * ld->n + place) * ld->hops;
}

static inline struct load_hop load_next(const struct ftr_load *ld, ftr_sw s,
					ftr_port p)
{
	const struct ftr_switch *sw = &ld->f->sw[s];

	return p > sw->n_ports ? (struct load_hop){ LOAD_NONE, LOAD_NONE } :
		ld->hop[sw->first_port + p];
}

/* The paths from the hosts to one destination; one per worker.  Only the elements of switches on
 * these paths are set. */
struct load_tree {
	struct load_hop *to;	/* [n_sw] next hop of each switch */
	ftr_sw *on_path;	/* [n_sw] scratch: the switches on the paths */
	uint32_t *seen, stamp;	/* seen[s] == stamp: switch s is in on_path */
	uint32_t *open;		/* open[s]: number of switches with next hop s that have not yet
				 * been taken from the queue */
	uint32_t *hops;		/* number of links from each switch to the destination, or
				 * LOAD_NONE */
	ftr_sw *queue;		/* [n_sw] the switches; each switch comes before its next hop */
	uint32_t n;		/* length of queue; switches that are not in queue are in a loop */
};

bool load_tree_new(struct ftr_arena *a, uint32_t n_sw, struct load_tree *out);
/* Compute the paths to destination filled[i].  This is fastest if i ascends from call to call,
 * because neighbouring entries share cache lines. */
void load_tree_make(const struct ftr_load *ld, struct load_tree *w, uint32_t i);

bool load_sum_new(struct ftr_arena *a, const struct ftr_load *ld,
		  struct load_sum *out);
/* Add to w the flows to destination filled[i]. t: the paths. */
void load_sum_add(const struct ftr_load *ld, const struct load_tree *t,
		  uint32_t i, struct load_sum *w);
void load_sum_merge(const struct ftr_load *ld, const struct load_sum *part,
		    struct load_sum *sum);

/* Write the links from s to lid into buf[n_sw]. Returns their number, or LOAD_NONE if the path does
 * not arrive. */
uint32_t load_walk(const struct ftr_load *ld, ftr_sw s, ftr_lid lid,
		   uint32_t *buf);

/* ---- loadsum.c ----------------------------------------------------------- */

void load_bin(struct ftr_load_bins *b, uint64_t max, uint64_t value);
/* Set the members of the report that concern links, from load[n_links]. */
void load_report_links(const struct ftr_load *ld, const uint64_t *load,
		       struct ftr_load_report *r);
/* Set by_port[f->n_ports] from load[n_links]. Ports without a link to a switch get 0. */
void load_by_port(const struct ftr_load *ld, const uint64_t *load, uint64_t *by_port);
/* Set the members of r for links and maxima, for a single pattern. The caller sets hosts,
 * patterns, flows, lost and host_max of r. */
void load_report_one(const struct ftr_load *ld, const uint64_t *load,
		     struct ftr_load_report *r);

#endif
