/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A copy of a fabric with one change. All links of the copy are 4x HDR. Aborts with a message if
 * the library returns an error, so that the test does not continue.
 */
#ifndef FTR_TEST_EDIT_H
#define FTR_TEST_EDIT_H

#include <ftr/ftr.h>

/* One change: begin with EDIT_NOTHING, and set the members of the change. */
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

/* A builder that contains f with the change; the caller may add more to the builder. */
struct ftr_builder *edit_open(const struct ftr_fabric *f,
			      const struct edit *e);
/* f with replaced switches: switch s gets node GUID guid[s] and LID lid[s]; it stays as it is if
 * guid[s] is 0. */
struct ftr_fabric *edit_replace(const struct ftr_fabric *f,
				const uint64_t *guid, const ftr_lid *lid);
/* Add a link between two nodes, given by node GUIDs. */
void edit_plug(struct ftr_builder *b, uint64_t a, unsigned int pa, uint64_t z,
	       unsigned int pz);
/* Assign LIDs to nodes that have none, then make the fabric. */
struct ftr_fabric *edit_seal(struct ftr_builder *b);

#endif
