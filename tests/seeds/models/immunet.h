/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* immunet.c: the state of a run and of its switches in Immunet (Puente et al. 2004). */
#ifndef FTR_MODELS_IMMUNET_H
#define FTR_MODELS_IMMUNET_H

#include "models/models.h"
#include <ftr/gen.h>

#define IMMUNET_FAR UINT16_MAX
#define NO_SIGNAL UINT32_MAX

struct immunet_node {
	uint64_t level;		/* level of the latest emergency + 1; 0: no emergency yet */
	uint32_t emergencies;	/* the count t, see immunet.c */
	ftr_port parent;	/* port to the parent; 0: the switch is the root */
	bool open;		/* ring and provisional table are ready; hosts may send */
	ftr_port next[256];	/* small safe table: next[p] is the output port for packets from
				 * port p; 0: p is not on the ring */
	uint8_t child[256];	/* child[p] = 1: port p leads to a child */
};

struct immunet_torus {
	unsigned int d;		/* number of dimensions; 0: not a torus */
	uint32_t k[FTR_TORUS_MAX_D], stride[FTR_TORUS_MAX_D];
	ftr_port *port;		/* [n * 2d] for each switch, for each dimension: port
				 * forward, port back */
};

struct immunet {
	struct ftr_arena *arena;	/* memory of all arrays except signal[] */
	const struct ftr_sim_view *v;
	struct immunet_opts o;
	uint32_t n;		/* number of switches */
	struct immunet_torus torus;
	struct immunet_node *node;
	ftr_port *safe;		/* safe[s * n + d]: port of s that leads down the tree to switch d;
				 * 0: send to the parent */
	uint16_t *dist;		/* dist[s * n + d]: hops from s to d, minus 1 */
	uint64_t *ports;	/* ports[s * n + d]: ports of s on shortest paths to d, one bit
				 * each */
	uint64_t *reported;		/* NULL, or [n * n] time when the distance was last
					 * forwarded */
	struct immunet_signal *signal;
	uint32_t n_signal, cap_signal, free_signal;
	/* statistics for experiments: times in ps */
	uint64_t first_fault, last_open, last_update, last_control;
	/* numbers of control packets sent.  n_safe: packets that report the index of a switch up
	 * the tree; n_origins: those of them that a switch sent with its own index; n_distance:
	 * packets with a distance */
	uint64_t n_origins, n_safe, n_distance;
};

#endif
