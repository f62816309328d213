/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What engines share: their tables of operations, and a fast byte look-up.
 */
#ifndef FTR_ENGINE_ENGINE_H
#define FTR_ENGINE_ENGINE_H

#include "core/core.h"
#include <ftr/engine.h>

extern const struct ftr_engine_ops ftr_engine_dmodc;

/*
 * to[i] = map[from[i]] for i < n.  map has 256 entries; n is a multiple of 64,
 * to and from start on 64-byte lines.  n_map: entries from 0 that matter; any
 * from[i] is < n_map or 255, and map[255] is FTR_PORT_NONE.
 */
void engine_lookup(uint8_t *to, const uint8_t *from, size_t n,
		   const uint8_t *map, unsigned int n_map);

#endif
