/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of <ftr/load.h> share.
 *
 *	load_model.c		the object: order, links, all paths; its life
 *	loadtree.c	the paths of one destination; one path; all-to-all
 *	loadrun.c	many patterns over the team
 *	loadsum.c	from loads to a report
 *
 * A link has a number 0 .. n_links-1, by ascending index of the port that
 * sends.  Behind them three that are none, so that adding up a path needs no
 * branch:
 *
 *	n_links		nothing: fills up paths that are shorter than hops
 *	+ LOAD_LOST	first word of a path that does not arrive
 *	+ LOAD_GAP	first word of a path to a gap in the order
 */
#ifndef FTR_CHECK_LINK_LOAD_H
#define FTR_CHECK_LINK_LOAD_H

#include "check/check.h"
#include <ftr/load.h>

#define LOAD_NONE UINT32_MAX	/* no link, no leaf, no path */
enum { LOAD_FILL = 0, LOAD_LOST, LOAD_GAP, LOAD_PSEUDO };

struct ftr_load {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct ftr_arena *arena;
	uint32_t n;		/* places of the order */
	ftr_ep *order;		/* [n] FTR_EP_NONE: takes no part */
	uint32_t n_live;
	uint32_t *live;		/* [n_live] places that take part */
	uint32_t *by_lid;	/* [n_live] the same by LID */
	uint32_t n_leaf;	/* switches with a live place */
	uint32_t *leaf;		/* [n_sw] number among those */
	ftr_sw *leaf_sw;	/* [n_leaf] */
	uint32_t *hosts;	/* [n_sw] live places */
	uint32_t n_links;
	uint32_t *link;		/* [f->n_ports] number of the link */
	uint32_t *link_port;	/* [n_links] index into f->ports */
	uint32_t hops;		/* words of a path, >= 1 */
	/* path of leaf l to place j: path + (l * n + j) * hops; so the paths
	 * to consecutive places lie side by side.  NULL: not kept */
	uint32_t *path;
};

static inline const uint32_t *load_path(const struct ftr_load *ld, ftr_sw s,
					uint32_t place)
{
	return ld->path + ((size_t)ld->leaf[s] * ld->n + place) * ld->hops;
}

/* The next switch from s by entry p; LOAD_NONE if it is none. */
static inline uint32_t load_next(const struct ftr_load *ld, ftr_sw s,
				 ftr_port p, uint32_t *link)
{
	uint32_t port = ld->f->sw[s].first_port + p;

	*link = p > ld->f->sw[s].n_ports ? LOAD_NONE : ld->link[port];
	return *link == LOAD_NONE ? LOAD_NONE : ld->f->ports[port].peer;
}

/* The paths of all switches to one LID; one worker's. */
struct load_tree {
	uint32_t *via;		/* [n_sw] link to the next switch */
	uint32_t *next;		/* [n_sw] that switch */
	uint32_t *open;		/* [n_sw] switches that lead here, not done */
	uint32_t *hops;		/* [n_sw] links to go, LOAD_NONE: is lost */
	ftr_sw *queue;		/* [n_sw] every switch after those behind it */
	uint32_t n;		/* length of queue: the rest goes round */
};

bool load_tree_new(struct ftr_arena *a, uint32_t n_sw, struct load_tree *out);
void load_tree_make(const struct ftr_load *ld, struct load_tree *w,
		    ftr_lid lid);

/* Links from s to lid into buf[n_sw]; how many, or LOAD_NONE: is lost. */
uint32_t load_walk(const struct ftr_load *ld, ftr_sw s, ftr_lid lid,
		   uint32_t *buf);

/* ---- loadsum.c ----------------------------------------------------------- */

void load_bin(struct ftr_load_bins *b, uint64_t max, uint64_t value);
/* What the report says of links, from load[n_links]. */
void load_report_links(const struct ftr_load *ld, const uint64_t *load,
		       struct ftr_load_report *r);
/* The same and the rest, of a single pattern. */
void load_report_one(const struct ftr_load *ld, const uint64_t *load,
		     struct ftr_load_report *r);

#endif
