/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps from a fabric to a shape, in this order:
 *
 *	assemble.c	the host ports that count as hosts, and their number per switch
 *	rank.c		adjacency, leaf switches, heights, ranks; choice.c and
 *			congestion.c choose among several rankings of the switches
 *	slots.c		the nominal neighbours above a switch, known or inferred
 *	group.c		port groups in a common order, planes, slots
 *	column_order.c	pods, columns, index d; dest.c: the destinations
 *	upward_paths.c	the nominal upward paths of hosts, where the closed form needs them
 *	cost.c		cost, down-cost; dividers
 *
 * With a nominal shape, project.c replaces all of these steps except the computation of
 * costs. nominal.c holds the nominal fabric; cover.c and replace.c compare it with the
 * present fabric, and unite.c makes the union of both.
 *
 * struct shaping holds the state.  Results ("published") are in the arena of the shape, all
 * other data in a scratch arena that is freed at the end.
 */
#ifndef FTR_SHAPE_SHAPE_H
#define FTR_SHAPE_SHAPE_H

#include "core/core.h"
#include <ftr/shape.h>

/* A switch that is a neighbour of another switch. The neighbours of each switch are stored in
 * ascending order. */
struct nbr {
	ftr_sw sw;
	uint32_t links;
	uint32_t first;		/* the ports that lead to the neighbour: shaping.nbr_port[first ..
				 * first + links - 1] */
};

struct shaping {
	const struct ftr_fabric *f;
	const struct ftr_shape_opts *opts;
	struct ftr_team *team;
	struct ftr_err *err;
	struct ftr_shape *sh;
	struct ftr_arena *keep;		/* becomes sh->arena */
	struct ftr_arena *scratch;

	uint8_t *ep_host;		/* ep_host[e]: host port e counts as a host, see
					 * shape_hosts() */
	uint32_t *hosts;		/* hosts[s]: number of hosts on s */
	uint32_t *ends;			/* ends[s]: number of host ports on s, without Aggregation
					 * Nodes */
	uint32_t *nbr_first;		/* nbr_first[s]: index in nbr[] of the first neighbour of s;
					 * becomes tree.group_first */
	struct nbr *nbr;
	ftr_port *nbr_port;
	uint8_t *is_leaf;		/* is_leaf[s]: s is a leaf switch, or an empty leaf
					 * (rank.c) */
	uint8_t *is_stub;		/* is_stub[s]: s is a stub, which is left out of planes;
					 * becomes tree.stub */
	int32_t *height;		/* height[s]: inferred height; NO_HEIGHT (rank.h): none */
	uint8_t *rank;			/* rank[s]: rank of s; becomes tree.rank */
	const struct ftr_shape *keep_to;	/* the shape whose paths FTR_REORDER_KEEP keeps, or
						 * NULL */
	struct slots *slots;		/* see slots.c */
	bool shared_plane;		/* true: some switch has two slots that lead to one plane */
	ftr_sw *by_rank;		/* [n_sw] switches by ascending (rank, index) */
	uint32_t *rank_first;		/* rank_first[r]: index in by_rank[] of the first switch of
					 * rank r */
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

/* Free the scratch arena. If st is FTR_OK, set *out; otherwise also free the shape. Returns st. */
enum ftr_status shape_end(struct shaping *z, enum ftr_status st, struct ftr_shape **out);

/* Set by_rank and rank_first, and the ranks in the shape (rank.c). z->rank must be set. */
enum ftr_status shape_by_rank(struct shaping *z, uint32_t n_ranks) FTR_MUST_USE;
/* Set the destinations of the LIDs of f, from the indices d of their owners. */
enum ftr_status shape_dests(struct shaping *z) FTR_MUST_USE;

/* slots.c: the switches that are inferred to be above s in the undamaged fabric, whether linked
 * to s or not, in ascending order. There may be further neighbours above s that were not
 * inferred. Sets *above, which is valid until the next call, and returns the number of
 * switches. */
uint32_t shape_inferred_above(const struct shaping *z, ftr_sw s,
			      const ftr_sw **above);
/* The nominal number of links between a and b. links: the present number. */
uint32_t shape_nominal_links(const struct shaping *z, ftr_sw a, ftr_sw b,
			     uint32_t links);

/* Returns FTR_NOMEM and sets its message. */
static inline enum ftr_status shape_nomem(struct shaping *z)
{
	return ftr_fail(z->err, FTR_NOMEM,
			"out of memory for the shape of %u switches",
			z->f->n_sw);
}

#endif
