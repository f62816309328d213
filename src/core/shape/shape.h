/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps that make a shape from a fabric, in this order:
 *
 *	assemble.c	find the host ports that count as hosts, and count the hosts of each switch
 *	rank.c		find neighbours, leaf switches, heights and ranks.  choice.c and
 *			congestion.c choose among several rankings of the switches
 *	slots.c		infer the nominal neighbours above each switch
 *	group.c		make and sort the port groups; find planes and slots
 *	column_order.c	find pods, columns and the indices d.  dest.c lists the destinations
 *	rails.c		find the rails of leaves whose hosts have several ports
 *	upward_paths.c	in some fabrics: find the nominal upward paths of hosts
 *	cost.c		compute costs, down-costs and dividers
 *
 * If a nominal shape is given, project.c copies its order and numbers instead, and then only the
 * costs are computed.
 *
 * nominal.c makes the nominal fabric.  cover.c and replace.c compare the nominal fabric with the
 * present one, and unite.c makes the union of both.
 *
 * The shape and its arrays are in one arena.  Everything else is in a scratch arena, which is freed
 * at the end.
 */
#ifndef FTR_SHAPE_SHAPE_H
#define FTR_SHAPE_SHAPE_H

#include "base/base.h"
#include <ftr/shape.h>

/* A neighbour sw of a switch.  The neighbours of a switch are sorted by index. */
struct nbr {
	ftr_sw sw;
	uint32_t links;
	uint32_t first;		/* nbr_port[first .. first + links - 1]: the ports that lead to
				 * sw */
};

struct shaping {
	const struct ftr_fabric *f;
	const struct ftr_shape_opts *opts;
	struct ftr_team *team;
	struct ftr_err *err;
	struct ftr_shape *sh;
	struct ftr_arena *keep;		/* becomes sh->arena */
	struct ftr_arena *scratch;

	uint8_t *ep_host;		/* ep_host[e] is 1 if host port e counts as a host
					 * (shape_hosts()) */
	bool several_ports;		/* true: hosts have two ports or more on average */
	uint32_t *hosts;		/* hosts[s]: number of hosts on switch s */
	uint32_t *ends;			/* ends[s]: number of host ports on switch s, without
					 * Aggregation Nodes */
	uint32_t *nbr_first;		/* nbr_first[s]: index in nbr[] of the first neighbour of
					 * switch s; becomes tree.group_first */
	struct nbr *nbr;
	ftr_port *nbr_port;
	/* by switch; rank.c explains leaf, stub and height */
	uint8_t *is_leaf;		/* 1: a leaf, or an empty leaf */
	uint8_t *is_stub;		/* 1: a stub; becomes tree.stub */
	int32_t *height;
	uint8_t *rank;			/* becomes tree.rank */
	const struct ftr_shape *keep_to;	/* with FTR_REORDER_KEEP: the original shape;
						 * otherwise NULL */
	struct slots *slots;
	bool shared_plane;		/* true: two nominal upward groups of some switch lead to
					 * one plane */
	ftr_sw *by_rank;		/* [n_sw] switches by ascending rank */
	uint32_t *rank_first;		/* rank_first[r]: index in by_rank[] of the first switch
					 * of rank r */
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
enum ftr_status shape_rails(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_up_paths(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_cost(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_dividers(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_project(struct shaping *z) FTR_MUST_USE;

/* Free the scratch arena.  If st is FTR_OK, set *out to the shape; otherwise free the shape.
 * Returns st. */
enum ftr_status shape_end(struct shaping *z, enum ftr_status st, struct ftr_shape **out);

/* Set by_rank, rank_first, and the ranks of the shape.  z->rank must be set. */
enum ftr_status shape_by_rank(struct shaping *z, uint32_t n_ranks) FTR_MUST_USE;
/* List the destinations.  The indices d of switches and host ports must be set. */
enum ftr_status shape_dests(struct shaping *z) FTR_MUST_USE;

/* Set *above to the switches that, by inference (slots.c), are neighbours above s in the complete
 * fabric, in ascending order.  Some of them may have no link to s.  Present neighbours above s may
 * be missing from *above.  *above is valid until the next call.  Returns the number of switches. */
uint32_t shape_inferred_above(const struct shaping *z, ftr_sw s,
			      const ftr_sw **above);
/* The nominal number of links between switches a and b.  links: their present number. */
uint32_t shape_nominal_links(const struct shaping *z, ftr_sw a, ftr_sw b,
			     uint32_t links);

/* Set the message for FTR_NOMEM, and return FTR_NOMEM. */
static inline enum ftr_status shape_nomem(struct shaping *z)
{
	return ftr_nomem(z->err, "the shape of %u switches", z->f->n_sw);
}

#endif
