/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks the properties that forwarding tables must have at every moment of a local repair.  The
 * code is simple and shares nothing with the planner or the checker.
 *
 * A world is a fabric with its dead links and switches, a planner of ddlr, and the entries that the
 * switches hold at this moment.
 */
#ifndef FTR_TEST_DDLR_FAULT_STATE_H
#define FTR_TEST_DDLR_FAULT_STATE_H

#include "base/base.h"
#include <ftr/ftr.h>

struct world {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *base;	/* tables before any fault */
	struct ftr_sl2vl *m;	/* SL2VL tables of the turn bit (docs/glossary.md); NULL: one VL */
	bool switches;		/* true: switches send packets, too */
	bool host_paths_only;	/* option of the planner */
	struct ftr_ddlr *r;
	struct ftr_tables *t;	/* entries that the switches hold now */
	uint8_t *dead_sw;	/* [n_sw] 1: the switch is dead */
	uint8_t *dead_port;	/* [n_ports] 1: the link at this port is dead */
	ftr_sw *peer;		/* [n_ports] switch at the other end of the link; FTR_SW_NONE: no
				 * live link to a live switch */
	uint8_t *arrives;	/* [(max_lid + 1) * n_sw] 1: packets to the LID from the switch
				 * arrive now */
	uint32_t n_links;	/* number of links between switches; link[] has one end of each */
	struct { ftr_sw sw; ftr_port port; } *link;
	uint32_t n_inner;	/* number of switches without hosts; inner[] lists them */
	ftr_sw *inner;
	bool hasty;		/* true: check after every step, not after every write */
	/* temporary data of world_judge() */
	uint8_t *fate;
	ftr_sw *stack;
	/* [n_ports * VLS][width * VLS] 1: packets may hold the channel (sending port, VL) of the
	 * first index and wait for the channel of the second index, a (port, VL) of the next
	 * switch */
	uint8_t *edge;
	uint32_t width;
	uint8_t *seen;		/* [n_ports * VLS] 1: the channel has been followed for this LID */
	uint32_t *part;		/* [n_sw] number of the connected component of the switch, from 1;
				 * 0: the switch is dead */
	uint32_t *queue;
};

/* vls: number of VLs.  With 2, the turn bit is used, and switches send packets, too. */
struct world *world_new(struct ftr_fabric *f, unsigned int vls);
void world_free(struct world *w);
/* Restore the state before any fault, and make a new planner. */
void world_reset(struct world *w);

/* Faults are numbered: links first, then switches without hosts.  world_fault() returns the event
 * of fault i. */
uint32_t world_n_faults(const struct world *w);
struct ftr_hop world_fault(const struct world *w, uint32_t i);
/* The link or switch of the event is dead, or no longer dead. */
void world_suffer(struct world *w, struct ftr_hop e, bool dead);

/* The properties of one state of the tables. */
struct verdict {
	uint64_t pairs;		/* number of physically connected pairs (live switch, LID) */
	uint64_t lost;		/* number of these pairs that have no path */
	uint64_t host_lost;	/* number of lost pairs from a switch with hosts to a host's LID */
	uint64_t loops;
	uint64_t lost_again;	/* number of lost pairs that had a path in the previous state */
	bool cyclic;
};

/* Fill w->arrives (the pairs that arrive) and *out; search for cycles only if cdg is set. */
void world_judge(struct world *w, bool cdg, struct verdict *out);

/*
 * Apply the writes of a plan to the switches: step by step, in a random order
 * inside a step.  Each write must be for a live switch, and the entry must have the value that
 * the plan expects.  Every state (if hasty: the state after every step) must be free
 * of loops and of cycles of channel dependencies, and no pair that was reachable may
 * become unreachable.  Otherwise returns false and prints a line on standard error.
 */
bool world_write(struct world *w, const struct ftr_ddlr_plan *p,
		 struct ftr_rng *rng);

/* True if packets from s to lid arrive by the present entries. */
bool world_arrives(const struct world *w, ftr_lid lid, ftr_sw s);

/* Return a copy of the present fabric, without dead links and switches. */
struct ftr_fabric *world_damaged(const struct world *w);

#endif
