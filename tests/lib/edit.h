/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric that differs from another in one thing.  Aborts with a message if
 * the library refuses: a test must not go on.
 */
#ifndef FTR_TEST_EDIT_H
#define FTR_TEST_EDIT_H

#include <ftr/ftr.h>

struct edit {
	ftr_sw no_sw;		/* this switch goes, with its cables */
	ftr_ep no_ep;		/* this end port goes */
	ftr_sw cut_sw;		/* the cable at (cut_sw, cut_port) goes */
	ftr_port cut_port;
	ftr_ep lmc_ep;		/* this one gets LMC 1 and LID 1000 */
	ftr_ep name_ep;		/* this one is called name */
	const char *name;
};

#define EDIT_NOTHING { FTR_SW_NONE, FTR_EP_NONE, FTR_SW_NONE, 0, \
	FTR_EP_NONE, FTR_EP_NONE, NULL }

/* f as a builder, less what the edit takes; more may be added to it. */
struct ftr_builder *edit_open(const struct ftr_fabric *f,
			      const struct edit *e);
/* f with other switches: guid[s] in place of s, with LID lid[s], if that is not
 * 0. */
struct ftr_fabric *edit_replace(const struct ftr_fabric *f,
				const uint64_t *guid, const ftr_lid *lid);
/* A cable between two nodes, named by node GUIDs. */
void edit_plug(struct ftr_builder *b, uint64_t a, unsigned int pa, uint64_t z,
	       unsigned int pz);
/* LIDs for what has none, then the fabric. */
struct ftr_fabric *edit_seal(struct ftr_builder *b);

#endif
