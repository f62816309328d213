// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * sftree: every switch reaches everything, on one virtual lane.
 *
 * The promise is that of seed 004 (sFtree), kept on damaged fabrics too: one
 * up/down routing over the inverted order (order.c) in place of detours that
 * are added to finished tables.  The shape is put into that order, and the
 * equations of dmodc choose among what leads closer: tables of hosts on a
 * whole tree are those of dmodc to the bit, and paths between switches spread
 * over the subtree by the same formula instead of taking its first port.
 *
 * All is routed first so that the paths of dmodc stay where there are any, and
 * without cables inside one rank (racks joined sideways), which would shorten
 * some paths and gather traffic on few cables (FTR_REORDER_KEEP).  Only
 * destinations that some switch of their island cannot reach so are routed
 * again without these limits.  Both routings follow the same order, so together
 * they have no cycle either.
 *
 * With sftree_mode = paper the algorithms of the seed run to the letter
 * (subtree.c): a reference, not for use.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/subtree.h"

struct work {
	const struct ftr_shape *sh;
	struct ftr_team *team;
	struct ftr_tables *out;
	struct ftr_err *err;
	struct ftr_arena *arena;
	enum ftr_placement how;
	uint16_t *level;
	struct ftr_shape *plain;	/* FTR_REORDER_KEEP */
	struct ftr_shape *full;		/* FTR_REORDER_ALL, NULL: not needed */
	uint8_t *use_full;		/* [n_sw] by column */
};

/* Columns that some switch of the island reaches only without limits: those
 * have a finite cost in full and none in plain. */
static bool mark_columns(struct work *w)
{
	uint32_t n = w->sh->f->n_sw;
	bool any = false;

	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *a = ftr_shape_cost(w->plain, s);
		const uint8_t *b = ftr_shape_cost(w->full, s);

		for (uint32_t l = 0; l < n; l++) {
			w->use_full[l] |= a[l] != b[l] && a[l] == FTR_COST_INF;
			any |= w->use_full[l];
		}
	}
	return any;
}

static void copy_columns(const struct work *w, const struct ftr_tables *from)
{
	const struct ftr_shape *sh = w->sh;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		uint8_t *to = ftr_tables_row(w->out, s);
		const uint8_t *row = ftr_tables_row(from, s);

		for (uint32_t i = 0; i < sh->n_dest; i++)
			if (w->use_full[sh->dest[i].col])
				to[sh->dest[i].lid] = row[sh->dest[i].lid];
	}
}

static bool has_gaps(const struct ftr_shape *sh)
{
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		if (memchr(ftr_shape_cost(sh, s), FTR_COST_INF, sh->f->n_sw))
			return true;
	return false;
}

/* Route again what cannot be reached within the limits. */
static enum ftr_status fill_gaps(struct work *w)
{
	struct ftr_tables *t = NULL;
	uint64_t no_path;
	enum ftr_status st;

	st = ftr_shape_reorder(w->sh, w->level, FTR_REORDER_ALL, w->team,
			       &w->full, w->err);
	if (st)
		return st;
	w->use_full = ftr_arena_zalloc(w->arena, w->sh->f->n_sw, 1);
	if (!w->use_full)
		return ftr_fail(w->err, FTR_NOMEM, "out of memory for sftree");
	if (!mark_columns(w))
		return FTR_OK;
	st = ftr_tables_new(w->sh->f, false, &t, w->err);
	if (!st)
		st = dmodc_tables(w->full, w->how, w->team, t, &no_path,
				  w->err);
	if (!st)
		copy_columns(w, t);
	ftr_tables_free(t);
	return st;
}

static uint64_t count_none(const struct work *w)
{
	const struct ftr_shape *sh = w->sh;
	uint64_t none = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(w->out, s);

		for (uint32_t i = 0; i < sh->n_dest; i++)
			none += row[sh->dest[i].lid] == FTR_PORT_NONE;
	}
	return none;
}

static uint64_t count_detours(const struct work *w)
{
	const struct ftr_shape *sh = w->sh;
	uint64_t n = 0;

	for (uint32_t i = 0; i < sh->n_leaf; i++) {
		ftr_sw s = sh->col_sw[i];
		const uint8_t *ideal = ftr_shape_cost(sh, s);
		const uint8_t *plain = ftr_shape_cost(w->plain, s);

		for (uint32_t l = 0; l < sh->n_leaf; l++) {
			const uint8_t *real = w->use_full && w->use_full[l] ?
				ftr_shape_cost(w->full, s) : plain;

			if (real[l] != FTR_COST_INF && real[l] != ideal[l])
				n += (uint64_t)sh->leaf_hosts[i] *
					sh->leaf_hosts[l];
		}
	}
	return n;
}

static void tell(const struct work *w, ftr_sw root, uint64_t no_path,
		 struct ftr_route_stats *stats)
{
	const struct ftr_shape *ranked = w->full ? w->full : w->plain;

	stats->no_path = w->use_full ? count_none(w) : no_path;
	stats->detours = count_detours(w);
	stats->longest_made = 0;
	stats->root = root;
	stats->order_known = ranked->rank != NULL;
	if (stats->order && ranked->rank)
		memcpy(stats->order, ranked->rank, w->sh->f->n_sw);
}

static enum ftr_status inverted(struct work *w, ftr_sw avoid,
				struct ftr_route_stats *stats)
{
	ftr_sw root = FTR_SW_NONE;
	uint64_t no_path;
	enum ftr_status st;

	st = inverted_order(w->sh, avoid, w->arena, &w->level, &root, w->err);
	if (!st)
		st = ftr_shape_reorder(w->sh, w->level, FTR_REORDER_KEEP,
				       w->team, &w->plain, w->err);
	if (!st)
		st = dmodc_tables(w->plain, w->how, w->team, w->out,
				  &no_path, w->err);
	if (!st && has_gaps(w->plain))
		st = fill_gaps(w);
	if (!st && stats)
		tell(w, root, no_path, stats);
	return st;
}

static enum ftr_status sftree_route(const struct ftr_shape *sh,
				    const struct ftr_route_opts *opts,
				    struct ftr_team *team,
				    struct ftr_tables *out,
				    struct ftr_route_stats *stats,
				    struct ftr_err *err)
{
	static const struct ftr_route_opts defaults = FTR_ROUTE_OPTS_INIT;
	struct work w = {
		.sh = sh, .team = team, .out = out, .err = err,
		.arena = ftr_arena_new(),
	};
	enum ftr_status st;

	opts = opts ? opts : &defaults;
	w.how = opts->placement;
	if (!w.arena)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for sftree");
	else if (opts->sftree_mode == FTR_SFTREE_PAPER)
		st = subtree_route(sh, opts, team, out, stats, err);
	else
		st = inverted(&w, opts->sm_switch, stats);
	ftr_shape_free(w.full);
	ftr_shape_free(w.plain);
	ftr_arena_free(w.arena);
	return st;
}

static bool sftree_complete(const struct ftr_route_opts *opts)
{
	return !opts || opts->sftree_mode == FTR_SFTREE_INVERTED;
}

const struct ftr_engine_ops ftr_engine_sftree = {
	.name = "sftree",
	.complete = sftree_complete,
	.summary = "dmodc, and every switch reaches everything on one lane (sFtree)",
	.route = sftree_route,
};
