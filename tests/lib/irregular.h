/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Random irregular fabrics of three kinds: layers of switches with irregular links and
 * hosts, two trees joined at their spines, and two chassis joined by racks.
 */
#ifndef FTR_TEST_IRREGULAR_H
#define FTR_TEST_IRREGULAR_H

#include "core/core.h"
#include <ftr/ftr.h>

/* Two chassis of 8 leaf chips and 4 spines, joined only by rows of racks. A row has `racks` rack
 * switches and, for each chassis, one more switch, which connects the rack switches to two leaf
 * chips of that chassis. A rack switch has two hosts, a leaf chip has `on_chips` hosts. Each link
 * between switches is missing with a probability of `lost` percent. root: set to the GUIDs of the
 * spines. */
#define IRREGULAR_ROOTS 8
struct ftr_fabric *irregular_rows(struct ftr_rng *r, uint32_t rows,
				  uint32_t racks, uint32_t on_chips,
				  uint32_t lost, uint64_t root[IRREGULAR_ROOTS]);

/* A tree of 30 hosts and a tree of 24 hosts, joined by `joints` links between their spines.  If
 * `middle` is set, the first tree has 90 hosts in three pods, and the joints are at the spines of
 * its first pod.  On each leaf, with a probability of 1/4, all hosts are Aggregation Nodes instead.
 * Each of the other links between switches is missing with a probability of `lost` percent. */
struct ftr_fabric *irregular_two_trees(struct ftr_rng *r, uint32_t joints,
				       bool middle, uint32_t lost);

/* A random fabric with at most 34 switches. Each link is missing with the same probability, 0 to
 * 60 %. */
struct ftr_fabric *irregular_small(struct ftr_rng *r);

/* Two chassis of `chips` leaf chips and `spines` spines each; `racks` switches with hosts, each
 * connected to two leaf chips of each chassis. Every leaf chip has `on_chips` hosts or, if there
 * are more than 8 racks and otherwise with a probability of 1/2, Aggregation Nodes. */
struct ftr_fabric *irregular_chassis(struct ftr_rng *r, uint32_t chips,
				     uint32_t spines, uint32_t racks,
				     uint32_t on_chips);

#endif
