/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps from a fabric to a shape, in this order:
 *
 *	hosts	which end ports count, and how many each switch has
 *	rank	adjacency, leaf switches, ranks
 *	group	port groups in agreed order, planes
 *	order	pods, columns, destinations and their index d
 *	cost	cost, down-cost; dividers
 *
 * struct shaping carries the work; what stays goes into the shape's arena,
 * the rest into a scratch arena that dies at the end.
 */
#ifndef FTR_SHAPE_SHAPE_H
#define FTR_SHAPE_SHAPE_H

#include "core/core.h"
#include <ftr/shape.h>

/* Distinct switch neighbours of a switch, ascending by index. */
struct nbr {
	ftr_sw sw;
	uint32_t cables;
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

	uint8_t *ep_host;		/* [n_ep] the end port counts as host */
	uint32_t *hosts;		/* [n_sw] end ports that count */
	uint32_t *ends;			/* [n_sw] all but Aggregation Nodes */
	uint32_t *nbr_first;		/* [n_sw + 1], published as group_first */
	struct nbr *nbr;
	ftr_port *nbr_port;		/* published as group_ports */
	uint8_t *is_leaf;		/* [n_sw] leaf switch (has hosts, low) */
	uint8_t *is_stub;		/* [n_sw] joins nothing: no plane; published */
	uint8_t *rank;			/* [n_sw], published */
	const struct ftr_shape *keep_to;	/* reorder.c: paths to keep */
	ftr_sw *by_rank;		/* [n_sw] ascending (rank, index) */
	uint32_t *rank_first;		/* [n_ranks + 1] into by_rank */
};

enum ftr_status shape_hosts(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_rank(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_group(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_order(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_cost(struct shaping *z) FTR_MUST_USE;
enum ftr_status shape_dividers(struct shaping *z) FTR_MUST_USE;

/* FTR_NOMEM with the one text for it. */
enum ftr_status shape_nomem(struct shaping *z);

#endif
