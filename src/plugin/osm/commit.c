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

struct job {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	osm_switch_t **sw;
	bool write;
	struct ftr_tables_diff by_worker[FTR_TEAM_MAX];
};

static void put_switches(void *ctx, unsigned int worker, uint32_t begin,
			 uint32_t end)
{
	struct job *j = ctx;
	struct ftr_tables_diff c = { 0 };

	for (ftr_sw s = begin; s < end; s++) {
		const uint8_t *row = ftr_tables_row(j->t, s);
		uint32_t n = j->f->max_lid + 1u, before = (uint32_t)c.blocks;

		for (uint32_t at = 0; at < n; at += FTR_LFT_BLOCK) {
			uint32_t len = FTR_MIN(n - at, FTR_LFT_BLOCK);
			uint32_t diff = block_diff(j->sw[s]->lft + at, row + at,
						   len);

			if (j->write)
				memcpy(j->sw[s]->new_lft + at, row + at, len);
			c.entries += diff;
			c.blocks += diff != 0;
		}
		c.switches += c.blocks != before;
	}
	j->by_worker[worker].entries += c.entries;
	j->by_worker[worker].blocks += c.blocks;
	j->by_worker[worker].switches += c.switches;
}

enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t, bool write,
			   struct ftr_tables_diff *changes, struct ftr_err *err)
{
	struct job j = {
		.f = f, .t = t, .write = write, .sw = ftr_calloc(f->n_sw, sizeof(*j.sw))
	};
	enum ftr_status st;

	if (!j.sw)
		return ftr_nomem(err, "copying the tables to OpenSM");
	st = find_all(p, f, j.sw, err);
	if (!st)
		ftr_team_run(p->team, f->n_sw, 16, put_switches, &j);
	for (unsigned int i = 0; i < FTR_TEAM_MAX; i++) {
		changes->entries += j.by_worker[i].entries;
		changes->blocks += j.by_worker[i].blocks;
		changes->switches += j.by_worker[i].switches;
	}
	free(j.sw);
	return st;
}

bool ibf_ranks_differ(struct ibf_plugin *p, struct ibf_generation *gen)
{
	const struct ibf_generation *old = p->ranked;
	const struct ftr_fabric *f = gen->fabric;
	bool differ = !gen->stats.order_known;

	for (ftr_sw s = 0; old && old->stats.order_known && !differ && s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(old->fabric, f->sw[s].guid);

		differ = t != FTR_SW_NONE && old->stats.order[t] != gen->stats.order[s];
	}
	ibf_generation_put(p->ranked);
	p->ranked = ibf_generation_get(gen);
	return differ;
}
