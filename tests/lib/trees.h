/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Random trees for property tests, and the real fabrics. All functions abort
 * with a message if the library returns an error, so that the test does not
 * continue.
 */
#ifndef FTR_TEST_TREES_H
#define FTR_TEST_TREES_H

#include "core/core.h"
#include <ftr/ftr.h>

/* The first seed: FTR_SEED, or 1. The number of runs: n times FTR_RUNS, for
 * example "4"; for slow builds "1/4", which gives n / 4 + 1. */
uint64_t trees_first_seed(void);
unsigned int trees_runs(unsigned int n);

/* A small PGFT of 2 to 4 levels with at most max_sw switches. full: each switch below the top has
 * as many links up as down, and hosts may have several ports. */
void trees_random_pgft(struct ftr_rng *r, struct ftr_pgft *g, bool full,
		       uint32_t max_sw);

/* The PGFT g, with random GUIDs, port numbers and LIDs. */
struct ftr_fabric *trees_grow(const struct ftr_pgft *g, uint64_t seed,
			      unsigned int lmc);

/* Leaves under one chassis or two. Each is connected to several leaf chips of each
 * chassis, adjacent or random ones, in one of three fabrics through switches in between. At most
 * 33 switches, random GUIDs. */
struct ftr_fabric *trees_chassis(struct ftr_rng *r);

/* Three or four ranks with 0 to 4 links between any two switches of
 * neighbouring ranks. Some fabrics have hosts above the leaves, some have leaves
 * with two parents only. At most 23 switches, random GUIDs. */
struct ftr_fabric *trees_irregular(struct ftr_rng *r);

/* Racks as in tests/seeds/racks.awk: 42 rack switches of 12 hosts below a
 * 648-port switch. Each rack switch has three links to each of five leaf chips
 * of the 648-port switch, and nine horizontal links to the other switch of its rack. */
struct ftr_fabric *trees_racks(void);

/* Free f and return a damaged copy.  The copy lacks up to `percent` % of the links between
 * switches, up to a third of the switches that have no hosts, and up to a quarter of the
 * hosts. */
struct ftr_fabric *trees_damaged(struct ftr_fabric *f, struct ftr_rng *r,
				 unsigned int percent);

/* One of the fabrics above. Consecutive seeds give different kinds of fabrics; most are damaged. At
 * most 60 switches. */
struct ftr_fabric *trees_any(uint64_t seed);

/* Names of the real fabrics; ends with NULL. */
extern const char *const trees_real_files[];

/* A real fabric, by its name below the directory of topologies. If it is
 * missing, returns NULL, and the case is skipped (lib/suite.h). */
struct ftr_fabric *trees_real(const char *file);

#endif
