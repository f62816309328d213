/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Find host ports by the GUID of their node. */
#ifndef FTR_IO_PATHSL_H
#define FTR_IO_PATHSL_H

#include <ftr/fabric.h>

struct ftr_node_ep {
	uint64_t guid;
	ftr_ep ep;
};

/* Returns all host ports of f by ascending node GUID, in malloc()ed memory. NULL: out of memory. */
struct ftr_node_ep *ftr_eps_by_node(const struct ftr_fabric *f);
/* Returns the first host port of a node in the list. NULL: there is no such node. */
const struct ftr_node_ep *ftr_find_node_ep(const struct ftr_node_ep *list,
					   uint32_t n, uint64_t guid);

#endif
