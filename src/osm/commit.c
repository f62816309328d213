// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checked tables into OpenSM's buffers.
 *
 * OpenSM has made new_lft of every switch lft_size bytes long, filled with "no
 * path", and will push whatever stands there once we return 0.  First every
 * switch is looked up and measured, then all are written; between the two
 * nothing can fail.  What is counted as changed is the difference to lft, the
 * table that the switch acknowledged last: the blocks that OpenSM will push.
 *
 * Hops: OpenSM's own dump files (opensm.fdbs, opensm-lid-matrix.dump) print
 * hop counts, and only they and the min-hop engines read them.  They are
 * filled, towards switch LIDs as OpenSM does, when those dumps are asked for.
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

/* ---- hops ---------------------------------------------------------------- */

static uint8_t hops_via(const struct ftr_shape *sh, const struct ftr_group *g,
			uint32_t col)
{
	const uint8_t *c = g->up ? ftr_shape_cost(sh, g->remote) :
				   ftr_shape_down(sh, g->remote);

	return c[col] == FTR_COST_INF ? OSM_NO_PATH : (uint8_t)(c[col] + 1);
}

/* Hops of switch s to the switch of column col, by every port that leads
 * there; OpenSM keeps the least in slot 0. */
static bool set_hops(osm_switch_t *sw, const struct ftr_shape *sh, ftr_sw s,
		     uint32_t col, ftr_lid lid)
{
	for (uint32_t i = sh->group_first[s]; i < sh->group_first[s + 1];
	     i++) {
		const struct ftr_group *g = &sh->groups[i];
		uint8_t hops = hops_via(sh, g, col);

		for (uint32_t k = 0; hops != OSM_NO_PATH && k < g->n; k++)
			if (osm_switch_set_hops(sw, lid,
						sh->group_ports[g->first + k],
						hops))
				return false;
	}
	return true;
}

void ibf_fill_hops(struct ibf_plugin *p, const struct ftr_shape *sh)
{
	const struct ftr_fabric *f = sh->f;
	bool ok = true;

	if (!osm_log_is_active(&p->osm->log, OSM_LOG_ROUTING))
		return;
	for (ftr_sw s = 0; ok && s < f->n_sw; s++) {
		osm_switch_t *sw = host_switch(p, f, s);

		for (uint32_t col = 0; ok && sw && col < f->n_sw; col++) {
			ftr_sw to = sh->col_sw[col];
			ftr_lid lid = f->sw[to].lid;

			if (!lid)
				continue;
			ok = to == s ? !osm_switch_set_hops(sw, lid, 0, 0) :
				       set_hops(sw, sh, s, col, lid);
		}
	}
	if (!ok)
		ibf_log(p, IBF_HOPS, "out of memory for hop counts; opensm.fdbs and opensm-lid-matrix.dump will lack them");
}
