// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checked tables into OpenSM's buffers.
 *
 * OpenSM has made new_lft of every switch lft_size bytes long, filled with "no
 * path", and will push whatever stands there once we return 0.  First every
 * switch is looked up and measured, then all are written; between the two
 * nothing can fail.  What is counted as changed is the difference to lft, the
 * table that the switch acknowledged last: the blocks that OpenSM will push.
 */
#include <inttypes.h>
#include <string.h>

#include "osm/osm.h"

static osm_switch_t *host_switch(struct ibf_plugin *p,
				 const struct ftr_fabric *f, ftr_sw s)
{
	return osm_get_switch_by_guid(&p->osm->subn, cl_hton64(f->sw[s].guid));
}

static enum ftr_status find_all(struct ibf_plugin *p,
				const struct ftr_fabric *f, osm_switch_t **sw,
				struct ftr_err *err)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		sw[s] = host_switch(p, f, s);
		if (!sw[s] || !sw[s]->new_lft || !sw[s]->lft)
			return ftr_fail(err, FTR_INTERNAL,
					"OpenSM has no table for switch %s (0x%016"
					PRIx64 ")", f->sw[s].name,
					f->sw[s].guid);
		if (f->max_lid >= sw[s]->lft_size)
			return ftr_fail(err, FTR_INTERNAL,
					"LID %u does not fit OpenSM's table of %u entries for switch %s (0x%016"
					PRIx64 ")", f->max_lid,
					sw[s]->lft_size, f->sw[s].name,
					f->sw[s].guid);
	}
	return FTR_OK;
}

static void count(const uint8_t *old, const uint8_t *new, uint32_t n,
		  struct ibf_changes *c)
{
	uint64_t before = c->entries;

	for (uint32_t at = 0; at < n; at += FTR_LFT_BLOCK) {
		uint32_t end = FTR_MIN(at + FTR_LFT_BLOCK, n), diff = 0;

		for (uint32_t i = at; i < end; i++)
			diff += old[i] != new[i];
		c->entries += diff;
		c->blocks += diff != 0;
	}
	c->switches += c->entries != before;
}

enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t,
			   struct ibf_changes *changes, struct ftr_err *err)
{
	osm_switch_t **sw = ftr_calloc(f->n_sw, sizeof(*sw));
	enum ftr_status st;

	if (!sw)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the commit");
	st = find_all(p, f, sw, err);
	for (ftr_sw s = 0; !st && s < f->n_sw; s++) {
		memcpy(sw[s]->new_lft, ftr_tables_row(t, s), f->max_lid + 1u);
		count(sw[s]->lft, sw[s]->new_lft, sw[s]->lft_size, changes);
	}
	free(sw);
	return st;
}
