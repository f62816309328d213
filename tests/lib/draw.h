/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics described by a short text.
 *
 * One switch per line: "NAME: PEER PEER*3 h4 an rt". A PEER is the name of
 * another switch (one link, or N links with *N). "hN" adds N hosts, "an" one
 * Aggregation Node, "rt" one router. A link is given at one end only. Node GUIDs
 * ascend with the lines (line i, from 0: (i + 1) << 16), and so do host GUIDs. Ports
 * are used in the order of the lines and words. LIDs are assigned.
 */
#ifndef FTR_TEST_DRAW_H
#define FTR_TEST_DRAW_H

#include <ftr/ftr.h>

/* Abort with a message on bad input, so that the test does not continue. */
struct ftr_fabric *draw(const char *text);
struct ftr_fabric *draw_lmc(const char *text, unsigned int lmc);

/* The switch with this name. */
ftr_sw draw_sw(const struct ftr_fabric *f, const char *name);
/* The i-th host, Aggregation Node or router (from 0) of the switch, in the order of the switch's
 * ports. */
ftr_ep draw_host(const struct ftr_fabric *f, const char *name, unsigned int i);

/* A copy of f without the i-th (from 0) link between the two switches. */
struct ftr_fabric *draw_cut(const struct ftr_fabric *f, const char *a,
			    const char *b, unsigned int i);

#endif
