/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slow and obvious placement, from the account in src/engine/place.c: every
 * list is written out, every port is looked for in the whole fabric and in the
 * damaged one.  Ranks, the index d and what is nominal are taken from shapes
 * that have tests of their own; costs are those of oracle.h.  Ascents are walked
 * one host after the other, and numbered by asking all hosts before it.
 */
#ifndef FTR_TEST_ORACLE_PLACE_H
#define FTR_TEST_ORACLE_PLACE_H

#include <ftr/ftr.h>

struct oracle_place {
	const struct ftr_shape *whole;	/* nominal, with inference */
	const struct ftr_shape *sh;	/* made over it */
	unsigned int *cost, *down;	/* of sh, [n_sw * n_sw] */
	struct oracle_step *up_path;	/* [n_ranks * n_d], NULL: there are none */
};

/* Of the ascent of a host, on one tier: a switch of the whole fabric. */
struct oracle_step {
	bool known;
	ftr_sw sw;
	uint64_t q;
};

void oracle_place_init(struct oracle_place *o, const struct ftr_shape *whole,
		       const struct ftr_shape *sh);
void oracle_place_free(struct oracle_place *o);

/* The step of a host on the tier of s, NULL: it has none. */
const struct oracle_step *oracle_step(const struct oracle_place *o, ftr_sw s,
				      const struct ftr_dest *t);

/* Does s lead closer to l over its neighbour t (equation (1))? */
bool oracle_leads(const struct oracle_place *o, ftr_sw s, ftr_sw t, ftr_sw l);

/* Placements even and stable, with balance off. */
ftr_port oracle_place_entry(const struct oracle_place *o, ftr_sw s,
			    const struct ftr_dest *t);

#endif
