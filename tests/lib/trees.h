/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes random trees for property tests, and reads real fabrics.  All functions abort with a
 * message if the library returns an error.
 */
#ifndef FTR_TEST_TREES_H
#define FTR_TEST_TREES_H

#include "base/base.h"
#include <ftr/ftr.h>

/* The first seed is $FTR_SEED, or 1.  FTR_RUNS=4 gives 4 * n runs; FTR_RUNS=1/4, for slow builds,
 * gives n / 4 + 1. */
uint64_t trees_first_seed(void);
unsigned int trees_runs(unsigned int n);

/* A PGFT of 2 to 4 levels with at most max_sw switches.  If `full` is true, each switch below the
 * top has as many upward as downward links, and hosts may have several ports. */
void trees_random_pgft(struct ftr_rng *r, struct ftr_pgft *g, bool full,
		       uint32_t max_sw);

/* The PGFT g, with random GUIDs, port numbers and LIDs. */
struct ftr_fabric *trees_grow(const struct ftr_pgft *g, uint64_t seed,
			      unsigned int lmc);

/* Leaves below one chassis or two.  Each leaf is connected to several leaf chips of each chassis,
 * in one fabric out of three through further switches.  At most 33 switches, random GUIDs. */
struct ftr_fabric *trees_chassis(struct ftr_rng *r);

/* Three or four ranks with 0 to 4 links between any two switches of adjacent ranks.  Some fabrics
 * have hosts above the leaves; in some, leaves have only two parents.  At most 23 switches, random
 * GUIDs. */
struct ftr_fabric *trees_irregular(struct ftr_rng *r);

/* The racks of tests/seeds/racks.awk: 42 rack switches with 12 hosts each below a 648-port switch.
 * A rack switch has three links to each of five leaf chips of the 648-port switch.  Nine horizontal
 * links lead to the other switch of its rack. */
struct ftr_fabric *trees_racks(void);

/* Free f and return a damaged copy.  These are missing: up to `percent` % of the links between
 * switches, up to a third of the switches that have no hosts, and up to a quarter of the hosts. */
struct ftr_fabric *trees_damaged(struct ftr_fabric *f, struct ftr_rng *r,
				 unsigned int percent);

/* A chassis, an irregular fabric, or (half of the seeds) a damaged PGFT of at most 30 switches. */
struct ftr_fabric *trees_mixed(uint64_t seed);

/* One of the fabrics above with at most 60 switches.  Consecutive seeds give different kinds.  Most
 * of the fabrics are damaged. */
struct ftr_fabric *trees_any(uint64_t seed);

/* Names of the real fabrics, then NULL. */
extern const char *const trees_real_files[];

/* A real fabric, by its name below $FTR_TOPOLOGIES.  If it is missing, the case is skipped and the
 * result is NULL. */
struct ftr_fabric *trees_real(const char *file);

#endif
