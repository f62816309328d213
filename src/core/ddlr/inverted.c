// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inverted order, the last resort of a repair: the entries for a LID are changed to those of sftree
 * in the damaged fabric.
 */
#include <stdlib.h>

#include "ddlr/planner.h"
#include <ftr/engine.h>

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	const struct ftr_ddlr *r = ctx;

	(void)f;
	return !r->dead_sw[s];
}

static bool keep_ep(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	const struct ftr_ddlr *r = ctx;

	return f->ep[e].sw != FTR_SW_NONE && !r->dead_sw[f->ep[e].sw];
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	const struct ftr_ddlr *r = ctx;

	(void)f;
	return !ftr_cdg_link_is_down(r->g, s, p);
}

/* Route the damaged fabric by sftree. */
static enum ftr_status route_inverted(struct ftr_ddlr *r, struct ftr_err *err)
{
	const struct ftr_filter filter = { keep_sw, keep_ep, keep_link, r, NULL };
	struct ftr_shape *sh = NULL;
	enum ftr_status st = ftr_fabric_copy_if(r->f, &filter, &r->inverted.f, err);

	if (!st)
		st = ftr_shape_new(r->inverted.f, NULL, NULL, &sh, err);
	if (!st)
		st = ftr_tables_new(r->inverted.f, false, &r->inverted.t, err);
	if (!st)
		st = ftr_engine_find("sftree")->route(sh, NULL, NULL, r->inverted.t, NULL, err);
	ftr_shape_free(sh);
	if (st)
		return st;
	r->inverted.at = ftr_reallocarray(NULL, r->f->n_sw, sizeof(*r->inverted.at));
	if (!r->inverted.at)
		return ftr_nomem(err, "%u switches", r->f->n_sw);
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		r->inverted.at[s] = ftr_fabric_find_sw(r->inverted.f, r->f->sw[s].guid);
	return FTR_OK;
}

void transition_inverted_fini(struct ftr_ddlr *r)
{
	ftr_tables_free(r->inverted.t);
	ftr_fabric_free(r->inverted.f);
	free(r->inverted.at);
	r->inverted.t = NULL;
	r->inverted.f = NULL;
	r->inverted.at = NULL;
}

enum ftr_status transition_inverted(struct ftr_ddlr *r, bool *repaired, struct ftr_err *err)
{
	enum ftr_status st = r->inverted.f ? FTR_OK : route_inverted(r, err);
	uint32_t n = 0;

	*repaired = false;
	if (st)
		return st;
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		ftr_port p;

		/* do not change entries that this plan has already written */
		if (r->inverted.at[s] == FTR_SW_NONE || r->step_of[s])
			continue;
		p = ftr_tables_get(r->inverted.t, r->inverted.at[s], r->lid);
		if (p != FTR_PORT_NONE && p != ddlr_entry(r, s))
			ddlr_add_change(r, &n, s, p);
	}
	return n ? column_change(r, n, FTR_HOW_INVERTED, repaired, err) : FTR_OK;
}
