/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Find host ports by the GUID of their node. */
#ifndef FTR_IO_PATHSL_H
#define FTR_IO_PATHSL_H

#include "base/base.h"
#include <ftr/fabric.h>

/* Returns all host ports of f with their node GUIDs, by ascending node GUID, in malloc()ed memory. NULL: out of memory. */
struct ftr_key *ftr_eps_by_node(const struct ftr_fabric *f);
/* Returns the first host port of a node in the list. NULL: there is no such node. */
const struct ftr_key *ftr_find_node_ep(const struct ftr_key *list,
					   uint32_t n, uint64_t guid);

#endif
