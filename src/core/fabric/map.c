// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A hash map from numbers to indices.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"

/* Returns the slot with this key or, if there is none, the free slot for it. */
static struct ftr_key *find(const struct ftr_map *m, uint64_t key)
{
	uint32_t i = (uint32_t)ftr_mix(key) & (m->cap - 1);

	while (m->slot[i].idx != FTR_MAP_NONE && m->slot[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

uint32_t ftr_map_get(const struct ftr_map *m, uint64_t key)
{
	return m->cap ? find(m, key)->idx : FTR_MAP_NONE;
}

static bool resize(struct ftr_map *m, uint32_t cap)
{
	struct ftr_map old = *m;
	struct ftr_key *slot = ftr_malloc(cap * sizeof(*slot));

	if (!slot)
		return false;
	memset(slot, 0xff, cap * sizeof(*slot));
	m->slot = slot;
	m->cap = cap;
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.slot[i].idx != FTR_MAP_NONE)
			*find(m, old.slot[i].key) = old.slot[i];
	free(old.slot);
	return true;
}

bool ftr_map_put(struct ftr_map *m, uint64_t key, uint32_t val)
{
	struct ftr_key *at;

	if (2 * (m->n + 1) > m->cap && !resize(m, m->cap ? 2 * m->cap : 64))
		return false;
	at = find(m, key);
	m->n += at->idx == FTR_MAP_NONE;
	*at = (struct ftr_key){ key, val };
	return true;
}

void ftr_map_fini(struct ftr_map *m)
{
	free(m->slot);
	memset(m, 0, sizeof(*m));
}
