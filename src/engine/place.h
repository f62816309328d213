/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses a group among the candidates, and a link in the group, by a formula.  Whole routings and
 * updates of single entries use the same functions.  (src/balance chooses by load instead.)  The
 * choice depends only on the arguments: the shape, the placement, the switch, the candidates and
 * the destination.
 *
 *	struct port_choice pl;			on the stack, nothing is allocated
 *	place_switch(&pl, sh, how, s)
 *	  n = ftr_shape_candidates(sh, s, l, cand)
 *	  place_column(&pl, l, cand, n)		once per column
 *	    place_port(&pl, dest)		any number of times
 *
 * place.c describes the rules.
 */
#ifndef FTR_ENGINE_PLACE_H
#define FTR_ENGINE_PLACE_H

#include <ftr/engine.h>

struct port_choice {
	const struct ftr_shape *sh;
	enum ftr_placement how;
	uint32_t pi;
	/* up_path[d]: where the upward path of the host with index d crosses the tier of the
	 * switch (<ftr/shape.h>); up_path may be NULL */
	const struct ftr_up_path *up_path;
	/* see place.c */
	uint32_t w;		/* number of nominal slots; 0: slots are not used */
	uint32_t pod_leaves;	/* number of leaves of a block */
	uint32_t block;		/* number of indices d of a block */
	uint32_t r;		/* number of periods of a block */
	int32_t b;		/* number of blocks that share one c */
	int32_t pod_first;	/* index of the block of the switch's own pod */
	/* set by place_column() */
	uint32_t l;
	const struct ftr_group *const *cand;
	uint32_t n;
	bool slots;		/* every candidate has a slot */
	bool several;		/* choose by upward paths: there are several candidates, some
				 * without a slot */
	const struct ftr_group *at[FTR_PORT_MAX + 1];	/* at[x]: candidate in slot x, or NULL */
	bool displaced;		/* set by place_port(): the port is not in the group of the
				 * destination's slot, but was chosen among several candidates */
};

/* Does the placement use equations (3) and (4) over the present groups and links? */
static inline bool place_literal(enum ftr_placement how)
{
	return how >= FTR_PLACE_LITERAL;
}

void place_switch(struct port_choice *pl, const struct ftr_shape *sh,
		  enum ftr_placement how, ftr_sw s);

/* Compute for switch s and each column (each array has cost_stride elements):
 * paths: number of groups above s that are candidates; 0 if s must route downward
 * one: the last of these groups, as an index among the groups above; undefined if paths is 0
 * must: not 0 if s must route downward */
void place_paths_row(const struct ftr_shape *sh, ftr_sw s, uint8_t *paths,
		     uint8_t *one, uint8_t *must);

/* Begin column l.  cand[n]: its candidates (C of equation (1)), sorted by pos.  The array must stay
 * valid until the last place_port() for the column. */
void place_column(struct port_choice *pl, uint32_t l,
		  const struct ftr_group *const *cand, uint32_t n);

/* The number q (see place.c).  For a host with an upward path, its number on the tier of the
 * switch.  Otherwise floor(d / Pi). */
static inline uint32_t place_number(const struct ftr_shape *sh,
				    const struct ftr_up_path *up_path,
				    uint64_t pi, const struct ftr_dest *t)
{
	if (up_path && t->cls == FTR_CLASS_HOST && t->d < sh->numbering.n_d &&
	    up_path[t->d].q != UINT32_MAX)
		return up_path[t->d].q;
	return (uint32_t)(t->d / pi);
}

/* Upward paths on the tier of s; NULL: q is floor(d / Pi). */
const struct ftr_up_path *place_up_path(const struct ftr_shape *sh,
					enum ftr_placement how, ftr_sw s);

/* The port for destination t of the column, or FTR_PORT_NONE if there is no candidate.  The column
 * must not be that of the switch itself. */
ftr_port place_port(struct port_choice *pl, const struct ftr_dest *t);

/* The port of nominal link `link` of the group, or FTR_PORT_NONE if the link is missing. */
ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g,
		    uint32_t link);

#endif
