/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses the port of an entry by a formula: first a port group among the candidates (the groups
 * that lead closer to the destination), then a link of the group.  The choice depends only on the
 * shape, the switch, the candidates and the destination.  (src/core/balance chooses by
 * load instead.)
 *
 *	struct port_choice pl;			on the stack, nothing is allocated
 *	place_switch(&pl, sh, s)
 *	  n = ftr_shape_candidates(sh, s, l, cand)
 *	  place_column(&pl, cand, n)		once per column
 *	    place_port(&pl, dest)		any number of times
 *
 * place.c describes the rules.
 */
#ifndef FTR_ENGINE_PLACE_H
#define FTR_ENGINE_PLACE_H

#include <ftr/engine.h>

struct port_choice {
	const struct ftr_shape *sh;
	uint32_t pi;
	/* up_path[d]: on the upward path of the host with index d, the switch of the same tier
	 * (physical rank) as this switch, see <ftr/shape.h>; NULL: not used */
	const struct ftr_up_path *up_path;
	/* the numbers of the formula in place.c, which says what blocks, periods and slots are */
	uint32_t w;		/* W: number of nominal groups above, present or missing; 0: slots
				 * are not used */
	uint32_t pod_leaves;	/* number of leaves in a block */
	uint32_t block;		/* number of indices d in a block */
	uint32_t r;		/* number of periods in a block */
	int32_t b;		/* B: number of consecutive blocks with the same displacement */
	int32_t pod_first;	/* number of the block that is the pod of the switch */
	/* set by place_column() */
	const struct ftr_group *const *cand;
	uint32_t n;
	bool slots;		/* true: every candidate has a slot (nominal position of an upward
				 * group) */
	bool several;		/* true: there are several candidates, some without a slot, and
				 * up_path is used */
	const struct ftr_group *at[FTR_PORT_MAX + 1];	/* at[x]: candidate in slot x, or NULL */
	bool displaced;		/* set by place_port(); true: the nominal group of the destination
				 * is not a candidate, and there are several candidates */
};

void place_switch(struct port_choice *pl, const struct ftr_shape *sh, ftr_sw s);

/* Compute for switch s and each destination switch l (each array has reach.stride elements):
 * paths[l]: number of upward groups of s that are candidates; 0 if s must route downward
 * one[l]: index of the last of these groups among the upward groups; undefined if paths[l] is 0
 * must[l]: not 0 if s must route downward to l */
void place_paths_row(const struct ftr_shape *sh, ftr_sw s, uint8_t *paths,
		     uint8_t *one, uint8_t *must);

/* Prepare place_port() for destinations with the same candidates.  cand[n]: these candidates,
 * sorted by the member `pos`.  The array must stay valid until the last place_port() for these
 * destinations. */
void place_column(struct port_choice *pl, const struct ftr_group *const *cand, uint32_t n);

/* The number q of the formula in place.c.  For a host with an upward path, q is in up_path[d].
 * Otherwise q = floor(d / Pi). */
static inline uint32_t place_number(const struct ftr_shape *sh,
				    const struct ftr_up_path *up_path,
				    uint64_t pi, const struct ftr_dest *t)
{
	if (up_path && t->cls == FTR_CLASS_HOST && t->d < sh->numbering.n_d &&
	    up_path[t->d].q != UINT32_MAX)
		return up_path[t->d].q;
	return (uint32_t)(t->d / pi);
}

/* Returns the array up_path for the tier of s; NULL: q is floor(d / Pi). */
const struct ftr_up_path *place_up_path(const struct ftr_shape *sh, ftr_sw s);

/* The port for destination t on the switch of the last place_switch(); FTR_PORT_NONE: there is no
 * candidate.  t must have the candidates of the last place_column(), and be on another switch. */
ftr_port place_port(struct port_choice *pl, const struct ftr_dest *t);

/* The port of the link with nominal position `link` in the group; FTR_PORT_NONE: the link is
 * missing. */
ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g, uint32_t link);

#endif
