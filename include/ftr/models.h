/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch-local routing functions from the literature, for the simulator.
 *
 * No InfiniBand switch works like this.  The engines are compared with these published
 * algorithms (docs/seeds.md).
 */
#ifndef FTR_MODELS_H
#define FTR_MODELS_H

#include <ftr/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th routing function; ftr_sim_lft is the first.  NULL past the last. */
const struct ftr_sim_function *ftr_sim_function_at(unsigned int i);
/* Find a routing function by name; NULL: there is none of that name. */
const struct ftr_sim_function *ftr_sim_function_find(const char *name);

/*
 * Options of the routing function "immunet" (conf.arg).  The times are those of Puente et al.
 * 2004, section 6.
 *
 *	adaptive exit	a next hop on a shortest path
 *	ring		a closed path through all switches, used if no adaptive exit is
 *			possible
 *	emergency	the exchange of messages with which the switches make a new ring
 *			after a fault or a repair; see src/models/immunet.c
 *	level		the number by which switches compare emergencies; the highest wins
 */
struct ftr_sim_immunet {
	/* Delays of an emergency signal and of a control packet in a switch.  The delay of a
	 * packet (conf.link_ps and conf.switch_ps) is added to the delay of a signal.  If
	 * control_bytes is 0, it is also added to the delay of a control packet. */
	uint64_t signal_ps;
	uint64_t control_ps;
	uint32_t control_bytes;	/* size of a control packet; 0: it uses no bandwidth */
	bool control_after;	/* true: application packets go before control packets;
				 * false: a channel sends both kinds alternately */
	uint8_t moves;		/* greatest number of times that a packet may move into the
				 * ring; 0 means 4 */
	uint8_t inject;		/* number of packets for which the first buffer must have space
				 * before a host sends; 0 means 1, or 2 in the ring */
	bool every_path;	/* true: forward a distance once for each shortest path on
				 * which it arrives */
	uint64_t merge_ps;	/* forward a distance again if it arrives at least
				 * this long after it was last forwarded; 0: forward
				 * it once */
	bool eager;		/* true: use the ring even if an adaptive exit is possible
				 * but busy */
	bool own_count;		/* true: levels count only the emergencies that the switch
				 * itself has seen */
	bool no_drain;		/* true: do not drain the buffers of a new ring */
	bool one_vl;		/* true: do not use VL 1 of links outside the ring */
	bool one_ring;		/* true: always a single ring; false: before the first fault, a
				 * torus has one ring for each line and direction */
	bool adaptive_start;	/* true: at its first switch, a packet enters the ring only if
				 * it has no adaptive exit there */
};

#ifdef __cplusplus
}
#endif
#endif
