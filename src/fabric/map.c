// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A hash map from numbers to indices.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"

static uint32_t map_slot(const struct ftr_map *m, uint64_t key)
{
	uint32_t i = (uint32_t)ftr_mix(key) & (m->cap - 1);

	while (m->val[i] != FTR_MAP_NONE && m->key[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

uint32_t ftr_map_get(const struct ftr_map *m, uint64_t key)
{
	return m->cap ? m->val[map_slot(m, key)] : FTR_MAP_NONE;
}

static bool map_resize(struct ftr_map *m, uint32_t cap)
{
	struct ftr_map old = *m;

	m->key = ftr_calloc(cap, sizeof(*m->key));
	m->val = ftr_malloc(cap * sizeof(*m->val));
	if (!m->key || !m->val) {
		free(m->key);
		free(m->val);
		*m = old;
		return false;
	}
	memset(m->val, 0xff, cap * sizeof(*m->val));
	m->cap = cap;
	for (uint32_t i = 0; i < old.cap; i++) {
		if (old.val[i] == FTR_MAP_NONE)
			continue;
		uint32_t slot = map_slot(m, old.key[i]);

		m->key[slot] = old.key[i];
		m->val[slot] = old.val[i];
	}
	free(old.key);
	free(old.val);
	return true;
}

bool ftr_map_put(struct ftr_map *m, uint64_t key, uint32_t val)
{
	uint32_t i;

	if (2 * (m->n + 1) > m->cap && !map_resize(m, m->cap ? 2 * m->cap : 64))
		return false;
	i = map_slot(m, key);
	if (m->val[i] == FTR_MAP_NONE)
		m->n++;
	m->key[i] = key;
	m->val[i] = val;
	return true;
}

void ftr_map_fini(struct ftr_map *m)
{
	free(m->key);
	free(m->val);
	memset(m, 0, sizeof(*m));
}
