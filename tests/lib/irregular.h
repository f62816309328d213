/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes random irregular fabrics: layers of switches, two trees joined at their spines, two chassis
 * joined by racks, and odd fabrics that nobody would build.
 */
#ifndef FTR_TEST_IRREGULAR_H
#define FTR_TEST_IRREGULAR_H

#include "base/base.h"
#include <ftr/ftr.h>

/*
 * Two chassis, each with 8 leaf chips and 4 spines.  Rows of racks join them.  A row has
 * `racks` rack switches and two upper switches, one for each chassis.  An upper switch
 * connects the rack switches to two leaf chips of its chassis.  A rack switch has two
 * hosts; a leaf chip has `on_chips` hosts.  Each link between switches is missing with a
 * probability of `lost` percent.  The function stores the GUIDs of the spines in root[].
 */
#define IRREGULAR_ROOTS 8
struct ftr_fabric *irregular_rows(struct ftr_rng *r, uint32_t rows,
				  uint32_t racks, uint32_t on_chips,
				  uint32_t lost, uint64_t root[IRREGULAR_ROOTS]);

/*
 * A tree of 30 hosts and a tree of 24 hosts, with `joints` links between their spines.
 * If `middle` is true, the first tree has three pods and 90 hosts, and only the spines of
 * its first pod are joined.  One leaf in four has Aggregation Nodes instead of hosts.
 * Each link inside a tree is missing with a probability of `lost` percent.
 */
struct ftr_fabric *irregular_two_trees(struct ftr_rng *r, uint32_t joints,
				       bool middle, uint32_t lost);

/* A random fabric with at most 34 switches.  Links are missing with a probability of 0 to 60 %. */
struct ftr_fabric *irregular_small(struct ftr_rng *r);

/*
 * Two chassis, each with `chips` leaf chips and `spines` spines, and `racks` switches with
 * hosts.  Each of these switches is connected to two leaf chips of each chassis.  Each leaf
 * chip has `on_chips` hosts or Aggregation Nodes.  With more than 8 racks it always has
 * Aggregation Nodes.
 */
struct ftr_fabric *irregular_chassis(struct ftr_rng *r, uint32_t chips,
				     uint32_t spines, uint32_t racks,
				     uint32_t on_chips);

/*
 * An odd fabric of 1 to 120 switches, usually 10 to 30, in one to three islands (parts without links between them).
 * Each part is a tree with planes, layers of switches, a random graph, or a ring of trees.  Links may
 * skip layers or be horizontal (inside a layer); 1 to 8 of them may be parallel.  Hosts may be on
 * any switch, or on none.  Some hosts have two ports, on one switch or on two.  There are routers
 * and Aggregation Nodes.  Host ports have LMC 0 to 3.  The LIDs are random, up to the greatest
 * unicast LID.
 */
struct ftr_fabric *irregular_odd(struct ftr_rng *r);

#endif
