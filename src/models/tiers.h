/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ports of a fat-tree switch that lead up, lead down, and work, for the routing functions of
 * Sem-Jacobsen et al. 2006 and 2011.
 *
 * Tiers are ranks.  Leaf switches have rank 0; the papers count from the top.  Ranks are taken from
 * conf.arg, a const uint8_t [n_sw] like ftr_shape_tree.rank.  If conf.arg is NULL, they are taken
 * from a shape of the fabric.  The upward ports of a switch, in ascending order, are the sequence D
 * of the papers.
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
	/* vector: the marked upward ports of the switch, one bit each; used: time of its last
	 * U-turn, in ps.  [n_sw] each, only for functions with a vector in the switch */
	uint64_t *vector, *used;
};

enum ftr_status tiers_new(const struct ftr_sim_view *v, void **state,
			  struct ftr_err *err);
void tiers_free(void *state);

static inline bool tiers_works(const struct ftr_sim_view *v, ftr_sw s,
			       ftr_port p)
{
	return v->up[v->f->sw[s].first_port + p];
}

/* Where the packet's table entry leads.  SIDE_BELOW includes hosts and the switch itself.
 * SIDE_NONE: the entry is missing, or leads to a switch of the same rank or to no link.  *out: the
 * port. */
static inline enum side tiers_entry(const struct tiers *t,
				    const struct ftr_sim_view *v, ftr_sw s,
				    const struct ftr_sim_packet *p,
				    ftr_port *out)
{
	*out = ftr_tables_get(v->t, s, p->dlid);
	if (*out == 0)
		return SIDE_BELOW;
	if (*out > v->f->sw[s].n_ports)
		return SIDE_NONE;
	return (enum side)t->side[v->f->sw[s].first_port + *out];
}

static inline bool tiers_entry_works(const struct ftr_sim_view *v, ftr_sw s,
				     ftr_port out)
{
	return out == 0 || tiers_works(v, s, out);
}

/* Does the packet from port `in` come from a switch on that side of s?  Returns false for a
 * host. */
static inline bool tiers_from(const struct tiers *t, const struct ftr_sim_view *v,
			      ftr_sw s, ftr_port in, enum side side)
{
	return in && ftr_fabric_port(v->f, s, in)->peer_kind == FTR_PEER_SW &&
	       t->side[v->f->sw[s].first_port + in] == side;
}

/* Has s only hosts below? */
static inline bool tiers_bottom(const struct tiers *t, ftr_sw s)
{
	return t->first[s] + t->n_up[s] == t->first[s + 1];
}

/* Index of a port among the upward ports, or n_up. */
static inline uint32_t tiers_place(const struct tiers *t, ftr_sw s, ftr_port p)
{
	const ftr_port *up = t->port + t->first[s];
	uint32_t i = 0;

	while (i < t->n_up[s] && up[i] != p)
		i++;
	return i;
}

/* The index of the first working upward port from index i on, or n_up. */
static inline uint32_t tiers_next_up(const struct tiers *t,
				     const struct ftr_sim_view *v, ftr_sw s,
				     uint32_t i)
{
	while (i < t->n_up[s] && !tiers_works(v, s, t->port[t->first[s] + i]))
		i++;
	return i;
}

/* The next working port after p, cyclically, to a switch above s (if `up`) or below s.
 * FTR_PORT_NONE if there is none except p. */
ftr_port tiers_other(const struct tiers *t, const struct ftr_sim_view *v,
		     ftr_sw s, ftr_port p, bool up);

static inline unsigned int tiers_exit(struct ftr_sim_exit *e, ftr_port p,
				      unsigned int vl)
{
	*e = (struct ftr_sim_exit){ .port = p, .vl = (uint8_t)vl, .room = 1 };
	return 1;
}

/* Fill e with exits on VL 0, and return their number.
 * tiers_all_up: all working upward ports whose bit in mask is 0.
 * tiers_all_down: all working downward ports to switches, without the port `except`. */
unsigned int tiers_all_up(const struct tiers *t, const struct ftr_sim_view *v,
			  ftr_sw s, uint64_t mask, struct ftr_sim_exit *e);
unsigned int tiers_all_down(const struct tiers *t,
			    const struct ftr_sim_view *v, ftr_sw s,
			    ftr_port except, struct ftr_sim_exit *e);

#endif
