/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes table entries by the placements `even` and `stable`, as described in src/core/engine/place.c,
 * by a slow and simple algorithm.  A slot is the position of an upward port group among the nominal
 * groups of its switch.
 *
 * Lists are built element by element.  Every port is looked up in the complete and in the damaged
 * fabric.  Ranks, the indices d of destinations and nominal data come from shapes, which have
 * tests of their own.  Costs are those of oracle.h.
 *
 * The up path of a host consists of the switches through which packets for this host would go
 * upward from its own leaf.  Up paths are followed host by host.
 */
#ifndef FTR_TEST_ORACLE_PLACE_H
#define FTR_TEST_ORACLE_PLACE_H

#include <ftr/ftr.h>

struct oracle_place {
	const struct ftr_shape *whole;	/* nominal shape, with inferred links */
	const struct ftr_shape *sh;	/* shape of the damaged fabric, made with `whole` */
	unsigned int *cost, *down;	/* [n_sw * n_sw] costs and down-costs of sh */
	struct oracle_step *up_path;	/* [n_ranks * n_d]; NULL if `whole` has no up paths */
};

struct oracle_step {
	bool known;		/* the path has a step on this rank */
	ftr_sw sw;		/* switch of the complete fabric */
	uint64_t q;		/* quotient that determines the slot of the next step */
};

void oracle_place_init(struct oracle_place *o, const struct ftr_shape *whole,
		       const struct ftr_shape *sh);
void oracle_place_free(struct oracle_place *o);

/* The step of the up path of destination t on the rank of switch s; NULL if there is none. */
const struct oracle_step *oracle_step(const struct oracle_place *o, ftr_sw s,
				      const struct ftr_dest *t);

/* True if equation (1) allows t as the next hop of s to leaf l. */
bool oracle_leads(const struct oracle_place *o, ftr_sw s, ftr_sw t, ftr_sw l);

/* The data for the choice of a slot.  r, a and b are r, a and B in src/core/engine/place.c. */
struct oracle_choice {
	int64_t w;		/* number of slots */
	int64_t r, a, b;
	bool alive[256];	/* these slots have a candidate */
};

/* Placement `stable` has a list of slots, in the order of preference.  Returns the first slot of
 * this list that has a candidate, for the destinations of slot x that are in period `period`. */
int64_t oracle_stable_slot(const struct oracle_choice *c, int64_t x, int64_t period);

/* The entry of s for t with balance off, which is the same under placements `even` and `stable`. */
ftr_port oracle_place_entry(const struct oracle_place *o, ftr_sw s,
			    const struct ftr_dest *t);

#endif
