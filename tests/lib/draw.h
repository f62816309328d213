/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes a fabric from a short text.
 *
 * Each line describes one switch: "NAME: PEER PEER*3 h4 an rt".  A PEER is the name of
 * another switch; "PEER*3" means three links to it.  "h4" adds four hosts, "an" one
 * Aggregation Node, "rt" one router.  A link is given at one of its two ends only.
 *
 * Line i (from 0) has node GUID (i + 1) << 16.  Host GUIDs ascend with the lines, too.
 * Ports are used in the order of the lines and words.  LIDs are assigned.
 */
#ifndef FTR_TEST_DRAW_H
#define FTR_TEST_DRAW_H

#include <ftr/ftr.h>

/* Both draw() and draw_lmc() abort with a message on bad input. */
struct ftr_fabric *draw(const char *text);
struct ftr_fabric *draw_lmc(const char *text, unsigned int lmc);

ftr_sw draw_sw(const struct ftr_fabric *f, const char *name);
/* The i-th (from 0) end node of the switch, in the order of the switch's ports. */
ftr_ep draw_host(const struct ftr_fabric *f, const char *name, unsigned int i);

/* A copy of f.  The i-th (from 0) link between switches a and b is left out. */
struct ftr_fabric *draw_cut(const struct ftr_fabric *f, const char *a,
			    const char *b, unsigned int i);

#endif
