/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which ports of a fat-tree switch lead up, which lead down, and which work.  The routing functions
 * of Sem-Jacobsen et al. 2006 and 2011 (det.c, adaptive.c) use this file.
 *
 * The tier of a switch is its rank.  Leaf switches have rank 0; the papers count from the top.
 * conf.arg is an array of n_sw bytes, the rank of each switch (see ftr_shape_tree.rank).  If
 * conf.arg is NULL, ftr_shape_new() computes the ranks.  The upward ports of a switch, in ascending
 * order, are the sequence D of the papers.
 */
#ifndef FTR_MODELS_TIERS_H
#define FTR_MODELS_TIERS_H

#include "models/models.h"

enum side { SIDE_NONE = 0, SIDE_BELOW, SIDE_ABOVE };

struct tiers {
	struct ftr_arena *arena;
	uint8_t *side;		/* [n_ports] where the port leads, enum side */
	uint8_t *rank;		/* [n_sw] */
	uint32_t *first;	/* [n_sw + 1] index of the first port of a switch in port[] */
	uint32_t *n_up;		/* [n_sw] number of upward ports; they come before the downward
				 * ports to switches */
	ftr_port *port;
	/* [n_sw] each; for adaptive.c, if the switch and not the packet stores the marked ports.
	 * vector: the marked upward ports, one bit each; used: time of the last U-turn in this
	 * switch, in ps */
	uint64_t *vector, *used;
};

enum ftr_status tiers_new(const struct ftr_sim_view *v, void **state, struct ftr_err *err);
void tiers_free(void *state);
/* Members of a struct ftr_sim_function whose state is a struct tiers. */
#define TIERS_STATE .tiers = true, .start = tiers_new, .finish = tiers_free

static inline bool tiers_works(const struct ftr_sim_view *v, ftr_sw s, ftr_port p)
{
	return v->up[v->f->sw[s].first_port + p];
}

/* Returns whether the packet's table entry leads up or down (enum side), and sets *out to its port.
 * SIDE_BELOW includes hosts and the switch itself.  SIDE_NONE: the entry is missing, leads to a
 * switch of the same rank, or names a port without a link. */
static inline enum side tiers_entry(const struct tiers *t, const struct ftr_sim_view *v,
				    const struct ftr_sim_arrival *a, ftr_port *out)
{
	*out = ftr_tables_get(v->t, a->sw, a->p->dlid);
	if (*out == 0)
		return SIDE_BELOW;
	if (*out > v->f->sw[a->sw].n_ports)
		return SIDE_NONE;
	return (enum side)t->side[v->f->sw[a->sw].first_port + *out];
}

static inline bool tiers_entry_works(const struct ftr_sim_view *v, ftr_sw s, ftr_port out)
{
	return out == 0 || tiers_works(v, s, out);
}

/* Returns true if the packet came from a switch on this side: above or below. */
static inline bool tiers_from(const struct tiers *t, const struct ftr_sim_view *v,
			      const struct ftr_sim_arrival *a, enum side side)
{
	return a->in && ftr_fabric_port(v->f, a->sw, a->in)->peer_kind == FTR_PEER_SW &&
	       t->side[v->f->sw[a->sw].first_port + a->in] == side;
}

/* Returns true if no switch is below s. */
static inline bool tiers_bottom(const struct tiers *t, ftr_sw s)
{
	return t->first[s] + t->n_up[s] == t->first[s + 1];
}

/* Returns the index of p among the upward ports of s, or n_up[s] if p is not one of them. */
static inline uint32_t tiers_place(const struct tiers *t, ftr_sw s, ftr_port p)
{
	const ftr_port *up = t->port + t->first[s];
	uint32_t i = 0;

	while (i < t->n_up[s] && up[i] != p)
		i++;
	return i;
}

/* Returns the index, i or greater, of the first working upward port, or n_up[s] if there is
 * none. */
static inline uint32_t tiers_next_up(const struct tiers *t, const struct ftr_sim_view *v, ftr_sw s,
				     uint32_t i)
{
	while (i < t->n_up[s] && !tiers_works(v, s, t->port[t->first[s] + i]))
		i++;
	return i;
}

/* Returns the next working port after p, cyclically, that leads to a switch above s (if `up`) or
 * below s.  Returns FTR_PORT_NONE if there is no such port except p. */
ftr_port tiers_other(const struct tiers *t, const struct ftr_sim_view *v,
		     ftr_sw s, ftr_port p, bool up);

/* These functions store exits in a->exit and return their number.
 * tiers_exit: the port p.
 * tiers_all_up: on VL 0, all working upward ports whose bit in mask is 0.
 * tiers_all_down: on VL 0, all working downward ports to switches except the port `except`.
 * tiers_give_up: none; the packet is discarded.  The two functions above call it if they find no
 * port. */
static inline unsigned int tiers_exit(struct ftr_sim_arrival *a, ftr_port p, unsigned int vl)
{
	a->exit[0] = (struct ftr_sim_exit){ .port = p, .vl = (uint8_t)vl, .room = 1 };
	return 1;
}

static inline unsigned int tiers_give_up(struct ftr_sim_arrival *a)
{
	a->why = FTR_SIM_LOST_GIVEN_UP;
	return 0;
}

unsigned int tiers_all_up(const struct tiers *t, const struct ftr_sim_view *v,
			  struct ftr_sim_arrival *a, uint64_t mask);
unsigned int tiers_all_down(const struct tiers *t, const struct ftr_sim_view *v,
			    struct ftr_sim_arrival *a, ftr_port except);

#endif
