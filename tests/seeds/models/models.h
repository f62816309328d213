/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Published routing functions for the simulator.  Each switch computes its next hops by itself,
 * which no InfiniBand switch can do.  The engines are compared with these algorithms
 * (docs/seeds.md).
 *
 * Each function is a table of operations, struct ftr_sim_function of <ftr/sim.h>, and uses the
 * simulator only through that header and extra.h.  To add a function, write a new file and add a
 * line to models.c.
 *
 *	tiers.c		the upward and downward ports of fat-tree switches
 *	det.c		det-links, det-switches
 *	adaptive.c	adaptive-links, adaptive-switches, misroute
 *	immunet.c	immunet
 *	extra.c		messages, timers, moved and held packets
 *	models.c	the list of functions
 *	sim_models.c	the program sim-models: ibfattree-sim with these functions
 */
#ifndef FTR_MODELS_MODELS_H
#define FTR_MODELS_MODELS_H

#include "base/base.h"
#include "models/extra.h"

extern const struct ftr_sim_function model_det_links, model_det_switches;
extern const struct ftr_sim_function model_adaptive_links,
	model_adaptive_switches;
extern const struct ftr_sim_function model_misroute, model_immunet;

/* All routing functions, ended by NULL; ftr_sim_lft is the first. */
extern const struct ftr_sim_function *const model_functions[];
/* Find a routing function by name; NULL: there is none of that name. */
const struct ftr_sim_function *model_find(const char *name);

/*
 * Options of the routing function "immunet" (conf.arg).  Puente et al. 2004, section 6, state the
 * values of signal_ps and control_ps that they used.
 *
 *	adaptive exit	a port on a shortest path to the destination
 *	ring		a closed path through all switches, for packets that have no adaptive
 *			exit with space in the next buffer
 *	emergency	after a fault or a repair, the exchange of messages by which the switches
 *			make a new ring (immunet.c)
 *	level		the priority of an emergency; switches join the emergency with the
 *			highest level
 *	distance	a control packet, sent from neighbour to neighbour, with the number of
 *			hops to a switch; the switches compute the shortest paths from these
 */
struct immunet_opts {
	/* Delays of an emergency signal and of a control packet in a switch.  The time of a link
	 * and a switch (conf.link_ps + conf.switch_ps) is added to the delay of a signal.  If
	 * control_bytes is 0, it is also added to the delay of a control packet. */
	uint64_t signal_ps;
	uint64_t control_ps;
	uint32_t control_bytes;	/* size of a control packet; 0: it uses no bandwidth */
	bool control_after;	/* true: application packets are sent before control packets;
				 * false: a channel sends both kinds alternately */
	uint8_t moves;		/* greatest number of times that a packet may move into the
				 * ring; 0 means 4 */
	uint8_t inject;		/* a packet may leave its first switch only if the next buffer has
				 * space for this number of packets; 0 means 1, or 2 in the ring */
	bool every_path;	/* true: if a distance arrives over several shortest paths, forward
				 * it once for each of them */
	uint64_t merge_ps;	/* forward a distance again if it arrives again at least this long
				 * after it was last forwarded; 0: forward it once */
	bool eager;		/* true: use the ring also if an adaptive exit has space in the
				 * next buffer but is busy */
	bool own_count;		/* true: the level is computed only from the number of emergencies
				 * that the switch itself has seen */
	bool no_drain;		/* true: do not drain the buffers of a new ring */
	bool one_vl;		/* true: do not use VL 1 of links outside the ring */
	bool one_ring;		/* true: always a single ring; false: before the first fault, a
				 * torus has a ring for each row of switches, in each direction */
	bool adaptive_start;	/* true: at its first switch, a packet enters the ring only if no
				 * port is on a shortest path */
	bool stop;		/* true: in an emergency, a switch forwards no packets until its new
				 * ring is ready (it still delivers packets to its hosts) */
};

#endif
