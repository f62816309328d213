/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What must hold of forwarding tables at every moment of a local repair, looked
 * at by simple means that share nothing with the planner or the checker.
 *
 * A world is a fabric with its tables as ddlr makes them, what is dead of it,
 * and the entries as the switches hold them at this moment.
 */
#ifndef FTR_TEST_DDLR_STATE_H
#define FTR_TEST_DDLR_STATE_H

#include "core/core.h"
#include <ftr/ftr.h>

struct world {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *base;	/* before any fault */
	struct ftr_sl2vl *m;	/* turn bit, or NULL: one lane */
	bool switches;		/* they send, too */
	struct ftr_ddlr *r;
	struct ftr_tables *t;	/* what the switches hold */
	uint8_t *dead_sw;	/* [n_sw] */
	uint8_t *dead_port;	/* [n_ports] */
	uint8_t *way;		/* [n_sw * (max_lid + 1)] arrives now */
	uint32_t n_cables;	/* between switches, each once */
	struct { ftr_sw sw; ftr_port port; } *cable;
	uint32_t n_inner;	/* switches without hosts */
	ftr_sw *inner;
	bool hasty;		/* judge steps, not every write */
	/* scratch */
	uint8_t *fate;
	ftr_sw *stack;
	uint8_t *edge;		/* [n_ports * VLS][width * VLS] */
	uint32_t width;
	uint8_t *seen;		/* [n_ports * VLS] */
	uint32_t *part;		/* [n_sw] of the fabric, 0: dead */
	uint32_t *queue;
};

/* lanes: 1, or 2 for the turn bit; with 2, switches send, too. */
struct world *world_new(struct ftr_fabric *f, unsigned int vls);
void world_free(struct world *w);
/* As before any fault; drops the planner, too. */
void world_reset(struct world *w);

/* A fault: cables first, then inner switches.  As an event (down, or up). */
uint32_t world_n_faults(const struct world *w);
struct ftr_event world_fault(const struct world *w, uint32_t i, bool up);
/* The fabric suffers it. */
void world_suffer(struct world *w, struct ftr_event e);

/* What is found of one state. */
struct verdict {
	uint64_t pairs;		/* (living switch, LID) that cables connect */
	uint64_t lost;		/* of those, do not arrive */
	uint64_t host_lost;	/* of those, with hosts at the switch, to hosts */
	uint64_t loops;
	uint64_t lost_again;	/* arrived in the state before */
	bool cyclic;
};

/* way: remember who arrives; cycles are looked for only if cdg. */
void world_judge(struct world *w, bool cdg, struct verdict *out);

/*
 * Apply the writes of a plan to the switches: step by step, in a random order
 * inside a step.  Every state (if hasty: the state after every step) must be free
 * of loops and of cycles of channel dependencies, and no pair that arrived may be
 * lost.  False, and a line on standard error, otherwise.
 */
bool world_write(struct world *w, const struct ftr_ddlr_plan *p,
		 struct ftr_rng *rng);

/* Do packets for lid at s arrive, by the entries at this moment? */
bool world_arrives(const struct world *w, ftr_lid lid, ftr_sw s);

/* The fabric as it is: less what is dead. */
struct ftr_fabric *world_damaged(const struct world *w);

#endif
