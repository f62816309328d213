/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which of the groups that lead closer, and which of their cables: the one
 * place where a port is chosen, for a whole routing and for single entries
 * alike.  A choice depends on its arguments only: the shape, the placement,
 * the switch, the candidates and the destination.
 *
 *	struct place pl;			on the stack, nothing is allocated
 *	place_switch(&pl, sh, how, s)
 *	  n = place_candidates(sh, s, l, must, cand)
 *	  place_column(&pl, l, cand, n)		once per column
 *	    place_port(&pl, dest)		any number of times
 *
 * The rules are told in place.c.
 */
#ifndef FTR_ENGINE_PLACE_H
#define FTR_ENGINE_PLACE_H

#include <ftr/engine.h>

struct port_choice {
	const struct ftr_shape *sh;
	enum ftr_placement how;
	uint32_t pi;
	const struct ftr_up_path *up_path;	/* [n_d] on its tier, or NULL */
	uint32_t w;		/* nominal slots; 0: they are not used */
	uint32_t pod_leaves;		/* leaves of a block */
	uint32_t block;		/* indices of hosts of a block */
	uint32_t r;		/* windows of a block */
	int32_t b;		/* blocks that share a turn */
	int32_t pod_first;		/* block of the switch */
	/* of the column */
	uint32_t l;
	const struct ftr_group *const *cand;
	uint32_t n;
	bool slots;		/* every candidate has one */
	bool several;		/* ways down, chosen by ascents */
	const struct ftr_group *at[FTR_PORT_MAX + 1];	/* by slot */
	bool displaced;		/* the last port is not that of its own slot */
};

/* Equations (3) and (4) over what is alive; LITERAL and PLANES differ in the
 * shape only. */
static inline bool place_literal(enum ftr_placement how)
{
	return how >= FTR_PLACE_LITERAL;
}

void place_switch(struct port_choice *pl, const struct ftr_shape *sh,
		  enum ftr_placement how, ftr_sw s);

/* How many groups above s lead closer, by column, 0 where it must go down:
 * ways[cost_stride]; one: the last of them, where
 * there is any, counted from the first group above; must: not 0 where s must go
 * down. */
void place_paths_row(const struct ftr_shape *sh, ftr_sw s, uint8_t *paths,
		     uint8_t *one, uint8_t *must);

/* cand[n]: groups of the switch that lead closer to column l (C of equation
 * (1)), by pos; must stay as long as the column is used. */
void place_column(struct port_choice *pl, uint32_t l,
		  const struct ftr_group *const *cand, uint32_t n);

/* q: floor(d / Pi), or the number of the host on the tier of the switch. */
static inline uint32_t place_number(const struct ftr_shape *sh,
				    const struct ftr_up_path *up_path,
				    uint64_t pi, const struct ftr_dest *t)
{
	if (up_path && t->cls == FTR_CLASS_HOST && t->d < sh->numbering.n_d &&
	    up_path[t->d].q != UINT32_MAX)
		return up_path[t->d].q;
	return (uint32_t)(t->d / pi);
}

/* Ascents on the tier of s; NULL: the divider tells the numbers. */
const struct ftr_up_path *place_up_path(const struct ftr_shape *sh,
					enum ftr_placement how, ftr_sw s);

/* The port, FTR_PORT_NONE if there is no candidate.  t: a destination of the
 * column, not of the switch itself. */
ftr_port place_port(struct port_choice *pl, const struct ftr_dest *t);

/* Port of a group's nominal cable, FTR_PORT_NONE if that is lost. */
ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g,
		    uint32_t cable);

#endif
