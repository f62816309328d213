// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies checked tables into OpenSM's buffers.
 *
 * Before a routing, OpenSM allocates a buffer new_lft of lft_size bytes for each switch, and
 * fills it with "no path".  After the engine has returned 0, OpenSM sends the contents of
 * new_lft to the switches.
 *
 * First all switches are looked up, and the sizes of their buffers are checked.  Then all
 * buffers are filled, which cannot fail.
 *
 * OpenSM's buffer lft holds the table that the switch acknowledged last.  An entry counts as
 * changed if it differs from lft.  OpenSM writes only the blocks with changed entries, unless
 * need_update is set for the switch or the subnet.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/osm.h"

static enum ftr_status find_all(struct ibf_plugin *p,
				const struct ftr_fabric *f, osm_switch_t **sw,
				struct ftr_err *err)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		sw[s] = ibf_host_table(p, f->sw[s].guid, f->max_lid);
		if (!sw[s])
			return ftr_fail(err, FTR_INTERNAL, "OpenSM has no table up to LID %u for switch %s (0x%016"
					PRIx64 ")", f->max_lid, f->sw[s].name, f->sw[s].guid);
	}
	return FTR_OK;
}

static uint32_t block_diff(const uint8_t *old, const uint8_t *row, uint32_t n)
{
	uint32_t diff = 0;

	if (!memcmp(row, old, n))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		diff += old[i] != row[i];
	return diff;
}

/* Counts the entries of row[n] that differ from the table of the switch. */
static void count_changes(const osm_switch_t *sw, const uint8_t *row, uint32_t n,
			  struct ftr_tables_diff *c)
{
	uint64_t before = c->blocks;

	for (uint32_t at = 0; at < n; at += FTR_LFT_BLOCK) {
		uint32_t diff = block_diff(sw->lft + at, row + at, FTR_MIN(n - at, FTR_LFT_BLOCK));

		c->entries += diff;
		c->blocks += diff != 0;
	}
	c->switches += c->blocks != before;
}

enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t, bool write,
			   struct ftr_tables_diff *changes, struct ftr_err *err)
{
	osm_switch_t **sw = ftr_calloc(f->n_sw, sizeof(*sw));
	uint32_t n = f->max_lid + 1u;
	enum ftr_status st;

	if (!sw)
		return ftr_nomem(err, "copying the tables to OpenSM");
	st = find_all(p, f, sw, err);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (st)
			break;
		count_changes(sw[s], ftr_tables_row(t, s), n, changes);
		if (write)
			memcpy(sw[s]->new_lft, ftr_tables_row(t, s), n);
	}
	free(sw);
	return st;
}

bool ibf_ranks_differ(struct ibf_plugin *p, struct ibf_generation *gen)
{
	const struct ibf_generation *old = p->ranked;
	const struct ftr_fabric *f = gen->fabric;
	bool compare = gen->stats.order_known && old && old->stats.order_known;
	bool differ = !gen->stats.order_known;

	for (ftr_sw s = 0; compare && s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(old->fabric, f->sw[s].guid);

		if (t != FTR_SW_NONE && old->stats.order[t] != gen->stats.order[s]) {
			differ = true;
			break;
		}
	}
	ibf_generation_put(p->ranked);
	p->ranked = ibf_generation_get(gen);
	return differ;
}
