/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps from a fabric to a shape, in this order:
 *
 *	shape.c		the end ports that count as hosts, and their number per switch
 *	rank.c		adjacency, leaf switches, heights, ranks; choice.c and
 *			congestion.c choose among several ranks
 *	slots.c		the nominal neighbours above a switch, known or inferred
 *	group.c		port groups in a common order, planes, slots
 *	column_order.c	pods, columns, index d; dest.c: the destinations
 *	upward_paths.c	the nominal upward paths of hosts, where the closed form needs them
 *	cost.c		cost, down-cost; dividers
 *
 * With a nominal shape, the step of project.c replaces all of these except cost. nominal.c
 * keeps the nominal fabric: unite.c is the union, cover.c and replace.c compare.
 *
 * struct shaping holds the state.  Results go into the arena of the shape, the rest into
 * a scratch arena that is freed at the end.
 */
#ifndef FTR_SHAPE_SHAPE_H
#define FTR_SHAPE_SHAPE_H

#include "core/core.h"
#include <ftr/shape.h>

/* Distinct switch neighbours of a switch, ascending by index. */
struct nbr {
	ftr_sw sw;
	uint32_t links;
	uint32_t first;		/* ports: shaping.nbr_port[first ..] */
};

struct shaping {
	const struct ftr_fabric *f;
	const struct ftr_shape_opts *opts;
	struct ftr_team *team;
	struct ftr_err *err;
	struct ftr_shape *sh;
	struct ftr_arena *keep;		/* becomes sh->arena */
	struct ftr_arena *scratch;

	uint8_t *ep_host;		/* [n_ep] the end port is a host */
	uint32_t *hosts;		/* [n_sw] number of hosts */
	uint32_t *ends;			/* [n_sw] end ports without Aggregation Nodes */
	uint32_t *nbr_first;		/* [n_sw + 1], published as group_first */
	struct nbr *nbr;
	ftr_port *nbr_port;
	uint8_t *is_leaf;		/* [n_sw] leaf switch, or empty leaf (rank.c) */
	uint8_t *is_stub;		/* [n_sw] stub: left out of planes; published */
	int32_t *height;		/* [n_sw] inferred; NO_HEIGHT (rank.h): none */
	uint8_t *rank;			/* [n_sw], published */
	const struct ftr_shape *keep_to;	/* reorder.c: paths to keep */
	struct slots *slots;		/* state of slots.c */
	bool shared_plane;		/* two slots of a switch lead to one plane */
	ftr_sw *by_rank;		/* [n_sw] ascending (rank, index) */
	uint32_t *rank_first;		/* [n_ranks + 1] into by_rank */
};

#define for_each_nbr(z, s, n)						\
	for (const struct nbr *n = &(z)->nbr[(z)->nbr_first[s]];		\
	     n < &(z)->nbr[(z)->nbr_first[(s) + 1]]; n++)

enum ftr_status shape_hosts(struct shaping *z) FTR_MUST_USE;
/* Set nbr_first, nbr and nbr_port (rank.c). */
enum ftr_status shape_adjacency(struct shaping *z) FTR_MUST_USE;
/* Infer the heights: set height, is_leaf and is_stub (choice.c). */
enum ftr_status shape_heights(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_rank(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_meshes(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_group(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_order(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_up_paths(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_cost(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_dividers(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_project(struct shaping *z) FTR_MUST_USE;

/* Free the scratch arena. On success (st is FTR_OK) set *out, else free the shape, too. Returns
 * st. */
enum ftr_status shape_end(struct shaping *z, enum ftr_status st, struct ftr_shape **out);

/* Publish rank, by_rank and rank_first (rank.c). z->rank must be set. */
enum ftr_status shape_by_rank(struct shaping *z, uint32_t n_ranks) FTR_MUST_USE;
/* Destinations of the LIDs of f, from the indices of their owners. */
enum ftr_status shape_dests(struct shaping *z) FTR_MUST_USE;

/* slots.c: the switches inferred to be above s in the undamaged fabric, linked or not,
 * ascending.  The list may lack neighbours above s that were not inferred. Sets *above, which
 * is valid until the next call, and returns their number. */
uint32_t shape_inferred_above(const struct shaping *z, ftr_sw s,
			      const ftr_sw **above);
/* Nominal number of links between a and b, which have `links` now. */
uint32_t shape_nominal_links(const struct shaping *z, ftr_sw a, ftr_sw b,
			     uint32_t links);

/* FTR_NOMEM with its message. */
static inline enum ftr_status shape_nomem(struct shaping *z)
{
	return ftr_fail(z->err, FTR_NOMEM,
			"out of memory for the shape of %u switches",
			z->f->n_sw);
}

#endif
