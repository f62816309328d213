/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch-local routing functions from the literature, for the simulator.
 *
 * No InfiniBand switch works like this.  They are the published algorithms that
 * the engines are compared with: docs/seeds.md lists the papers.
 */
#ifndef FTR_MODELS_H
#define FTR_MODELS_H

#include <ftr/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* By index, ftr_sim_lft first; NULL past the last. */
const struct ftr_sim_function *ftr_sim_function_at(unsigned int i);
/* By name; NULL if there is none of that name. */
const struct ftr_sim_function *ftr_sim_function_find(const char *name);

/* conf.arg of "immunet"; times are those of seed 003, section 6. */
struct ftr_sim_immunet {
	uint64_t signal_ps;	/* in a switch, for an emergency signal */
	uint64_t control_ps;	/* for a control packet */
	uint32_t control_bytes;	/* of a control packet; 0: takes a cable and a
				 * switch and no bandwidth */
	bool control_after;	/* application packets go first; else a channel
				 * sends one of each in turn */
	uint8_t moves;		/* of a packet into the ring, 0: 4 */
	uint8_t inject;		/* room that a host's packet wants in the first
				 * buffer, packets; 0: 1, and 2 in the ring */
	bool every_way;		/* pass a distance on for every shortest way */
	uint64_t merge_ps;	/* pass it on for those that come this long after it
				 * was passed on; 0: once */
	bool eager;		/* into the ring also while an adaptive exit is
				 * only busy */
	bool own_count;		/* levels count what a switch itself has seen */
	bool no_drain;		/* of a new ring's buffers */
	bool one_vl;		/* lane 1 of cables outside the ring unused */
	bool one_ring;		/* from the start, on tori too */
	bool adaptive_start;	/* a host's packet starts into the ring only if it
				 * has no adaptive exit */
};

#ifdef __cplusplus
}
#endif
#endif
