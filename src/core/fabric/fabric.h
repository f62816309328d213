/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations for the builder, the readers of files and the generators.
 */
#ifndef FTR_FABRIC_FABRIC_H
#define FTR_FABRIC_FABRIC_H

#include "base/base.h"
#include <ftr/fabric.h>

/* map.c: a hash map with open addressing: a key is stored in the first free slot from its hash on.
 * At most half of the slots are used.  A slot with the index FTR_MAP_NONE is free. */
#define FTR_MAP_NONE UINT32_MAX

struct ftr_map {
	struct ftr_key *slot;
	uint32_t cap;		/* number of slots: 0 or a power of two */
	uint32_t n;
};

/* ftr_map_get() returns FTR_MAP_NONE if the map does not have the key.  ftr_map_put() replaces an
 * older value of the key, and returns false if out of memory.  val must not be FTR_MAP_NONE. */
uint32_t ftr_map_get(const struct ftr_map *m, uint64_t key);
bool ftr_map_put(struct ftr_map *m, uint64_t key, uint32_t val);
void ftr_map_fini(struct ftr_map *m);

/* The greatest width or speed of a mask such as LinkWidthEnabled, with the bits of PortInfo (IBA
 * 14.2.5.6).  0 or FTR_SPEED_UNKNOWN: no known bit is set. */
unsigned int ftr_width_of_mask(unsigned int mask);
enum ftr_speed ftr_speed_of_mask(unsigned int speed, unsigned int ext);

/* Returns true if the link at port p of s leads to a switch, and (s, p) is its lower end: the end
 * with the lower switch index or, if both ends are on one switch, with the lower port. */
static inline bool ftr_is_lower_end(const struct ftr_fabric *f, ftr_sw s,
				    unsigned int p)
{
	const struct ftr_swport *x = ftr_fabric_port(f, s, p);

	return x->peer_kind == FTR_PEER_SW &&
	       (x->peer > s || (x->peer == s && x->peer_port > p));
}

/* Set name_shared of all switches and host ports that have the same name as another switch or host
 * port.  Returns false if out of memory.  O(n). */
bool ftr_mark_shared_names(struct ftr_switch *sw, uint32_t n_sw,
			   struct ftr_endport *ep, uint32_t n_ep);

#endif
