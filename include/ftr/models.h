/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch-local routing functions from the literature, for the simulator.
 *
 * No InfiniBand switch works like this.  These are the published algorithms that the
 * engines are compared with (docs/seeds.md).
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

/* Options of the routing function "immunet" (conf.arg).  The times are those of Puente et al.
 * 2004, section 6.  An adaptive exit is a next hop on a shortest path.  The ring visits all
 * switches, and is used if no adaptive exit is possible.  src/models/immunet.c explains
 * emergencies and their levels. */
struct ftr_sim_immunet {
	/* delays of an emergency signal and of a control packet in a switch.  For signals, and for
	 * control packets if control_bytes is 0, the delay of a packet (conf.link_ps and
	 * conf.switch_ps) is added. */
	uint64_t signal_ps;
	uint64_t control_ps;
	uint32_t control_bytes;	/* size of a control packet; 0: it uses no bandwidth */
	bool control_after;	/* true: application packets go before control packets;
				 * false: a channel sends both kinds alternately */
	uint8_t moves;		/* greatest number of times that a packet may move into the
				 * ring; 0 means 4 */
	uint8_t inject;		/* space that a host's packet requires in the first
				 * buffer, in packets; 0 means 1, or 2 in the ring */
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
	bool adaptive_start;	/* true: a host's packet enters the ring at its first
				 * switch only if it has no adaptive exit there */
};

#ifdef __cplusplus
}
#endif
#endif
