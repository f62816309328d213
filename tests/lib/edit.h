/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes a copy of a fabric with one change.  All links of the copy are 4x HDR.  The functions
 * abort with a message if the library returns an error.
 */
#ifndef FTR_TEST_EDIT_H
#define FTR_TEST_EDIT_H

#include <ftr/ftr.h>

/* One change.  Initialise with EDIT_NOTHING, then set the members that describe the change. */
struct edit {
	ftr_sw no_sw;		/* remove this switch, with its links */
	ftr_ep no_ep;		/* remove this host port */
	ftr_sw cut_sw;		/* remove the link at (cut_sw, cut_port) */
	ftr_port cut_port;
	ftr_ep lmc_ep;		/* give this host port LMC 1 and LID 1000 */
	ftr_ep name_ep;		/* give this host port the name `name` */
	const char *name;
};

#define EDIT_NOTHING { FTR_SW_NONE, FTR_EP_NONE, FTR_SW_NONE, 0, \
	FTR_EP_NONE, FTR_EP_NONE, NULL }

/* Return a builder that contains the changed fabric.  The caller may add more to it. */
struct ftr_builder *edit_open(const struct ftr_fabric *f,
			      const struct edit *e);
/* A copy of f in which switch s has node GUID guid[s] and LID lid[s].  Switches with guid[s] = 0
 * are not changed. */
struct ftr_fabric *edit_replace(const struct ftr_fabric *f,
				const uint64_t *guid, const ftr_lid *lid);
void edit_plug(struct ftr_builder *b, uint64_t a, unsigned int pa, uint64_t z,
	       unsigned int pz);
/* Assign LIDs to all nodes without a LID, then make the fabric. */
struct ftr_fabric *edit_seal(struct ftr_builder *b);

#endif
