// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine sftree: every switch reaches every LID, on one VL.
 *
 * sFtree (Bogdanski et al. 2012) promises the same, but fails on some damaged fabrics.  The paper
 * adds paths to finished tables.  This engine instead uses up/down routing by another order of the
 * switches, the inverted order (inverted_order.c).  ftr_shape_reorder() computes the shape for
 * this order.  The equations of dmodc then compute the entries, also those for LIDs of switches.
 * (For these LIDs the paper takes the first port.)  On a complete tree, the entries for hosts are
 * the same as those of dmodc.
 *
 * First, all LIDs are routed within two limits (FTR_REORDER_KEEP):
 *
 *	- Consider the shortest up/down paths by rank from switch s to destination switch l.  If
 *	  one of them begins with a link that leads up in the new order, s gets no downward path to
 *	  l.  Without this limit, traffic that dmodc spreads over many links would use few downward
 *	  links.
 *	- Horizontal links are not used.  Paths over horizontal links are sometimes shorter, but
 *	  then much traffic would use few links.
 *
 * Then the LIDs that some switch of their island (connected component of the fabric) cannot reach
 * are routed again without these limits.  Both routings follow the same order, so their channel
 * dependencies together have no cycle.
 *
 * A fault must not change the order without need, because tables would change all over the fabric.
 * So if the nominal fabric (all switches and links seen so far) is given, its order is used.
 * Exception: if the root of this order is missing, or if some switch cannot reach all other
 * switches of its island by this order and within the two limits, the order of the present fabric
 * is used.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/engine.h"

struct work {
	const struct ftr_shape *sh;
	struct ftr_team *team;
	struct ftr_tables *out;
	struct ftr_err *err;
	struct ftr_arena *arena;
	uint16_t *level;
	struct ftr_shape *plain;	/* the shape reordered with FTR_REORDER_KEEP */
	struct ftr_shape *full;		/* the shape reordered with FTR_REORDER_ALL, or NULL */
	uint8_t *use_full;		/* use_full[l] is 1: column l (a destination switch and its
					 * hosts) is routed by `full`, otherwise by `plain` */
};

/* Returns true if l is a multiple of BYTES_WORD, and a[i] == b[i] for l <= i < l + BYTES_WORD. */
static bool same_word(const uint8_t *a, const uint8_t *b, uint32_t l)
{
	return l % BYTES_WORD == 0 && bytes_word(a + l) == bytes_word(b + l);
}

/* Set use_full[l] if some switch reaches column l only without the two limits: the cost from the
 * switch to l is infinite in w->plain, but finite in w->full.  Returns false if there is no such
 * column. */
static bool mark_columns(struct work *w)
{
	uint32_t n = w->sh->f->n_sw;
	bool any = false;

	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *a = ftr_shape_cost(w->plain, s);
		const uint8_t *b = ftr_shape_cost(w->full, s);

		for (uint32_t l = 0; l < n; l++) {
			if (same_word(a, b, l)) {
				l += BYTES_WORD - 1;
				continue;
			}
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

		for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
			if (w->use_full[sh->numbering.dest[i].col])
				to[sh->numbering.dest[i].lid] = row[sh->numbering.dest[i].lid];
	}
}

static bool has_gaps(const struct ftr_shape *sh)
{
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		if (memchr(ftr_shape_cost(sh, s), FTR_COST_INF, sh->f->n_sw))
			return true;
	return false;
}

static enum ftr_status fill_gaps(struct work *w)
{
	struct ftr_tables *t = NULL;
	enum ftr_status st;

	st = ftr_shape_reorder(w->sh, w->level, FTR_REORDER_ALL, w->team,
			       &w->full, w->err);
	if (st)
		return st;
	w->use_full = ftr_arena_zalloc(w->arena, w->sh->f->n_sw, 1);
	if (!w->use_full)
		return ftr_nomem(w->err, "sftree");
	if (!mark_columns(w)) {	/* only pairs in different islands have no path */
		w->use_full = NULL;
		return FTR_OK;
	}
	st = ftr_tables_new(w->sh->f, false, &t, w->err);
	if (!st)
		st = dmodc_tables(w->full, NULL, w->team, t, NULL, w->err);
	if (!st)
		copy_columns(w, t);
	ftr_tables_free(t);
	return st;
}

static uint64_t count_detours(const struct work *w)
{
	const struct ftr_shape *sh = w->sh;
	uint64_t n = 0;

	for (uint32_t i = 0; i < sh->tree.n_leaf; i++) {
		ftr_sw s = sh->numbering.col_sw[i];
		const uint8_t *ideal = ftr_shape_cost(sh, s);
		const uint8_t *plain = ftr_shape_cost(w->plain, s);
		const uint8_t *full = w->use_full ?
			ftr_shape_cost(w->full, s) : plain;

		for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
			const uint8_t *real = w->use_full && w->use_full[l] ?
				full : plain;

			if (same_word(ideal, plain, l) &&
			    same_word(ideal, full, l)) {
				l += BYTES_WORD - 1;
				continue;
			}
			if (real[l] != FTR_COST_INF &&
			    (real[l] > ideal[l] || ideal[l] == FTR_COST_INF))
				n += (uint64_t)sh->tree.leaf_hosts[i] *
					sh->tree.leaf_hosts[l];
		}
	}
	return n;
}

static void report_sftree(struct work *w, const struct ftr_route_opts *opts,
			  ftr_sw root, struct ftr_route_stats *stats)
{
	const struct ftr_shape *ranked = w->full ? w->full : w->plain;

	engine_clear_stats(stats);
	stats->no_path = engine_count_none(w->sh, w->out);
	stats->detours = count_detours(w);
	stats->root = root;
	stats->order_known = ranked->tree.rank != NULL;
	if (stats->order && ranked->tree.rank)
		memcpy(stats->order, ranked->tree.rank, w->sh->f->n_sw);
	if (opts->keep_routed && !w->use_full) {
		stats->routed = w->plain;
		w->plain = NULL;
	}
}

/* ---- the nominal order ---------------------------------------------------- */

static ftr_sw same_switch(const struct ftr_fabric *from, ftr_sw s,
			  const struct ftr_fabric *to)
{
	return s == FTR_SW_NONE ? FTR_SW_NONE :
		ftr_fabric_find_holder(to, from->sw[s].holder);
}

/* island: memory for one number per switch. */
static bool connects_all(const struct work *w, uint32_t *island)
{
	const struct ftr_shape *sh = w->plain;
	uint32_t n = sh->f->n_sw;

	engine_islands(w->sh, island);
	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t l = 0; l < n; l++)
			if (cost[l] == FTR_COST_INF &&
			    island[s] == island[sh->numbering.col_sw[l]])
				return false;
	}
	return true;
}

/* Compute w->plain by the order of the nominal fabric, and set *root to the root of that order.  If
 * this order cannot be used, set w->plain to NULL and *root to FTR_SW_NONE.  It cannot be used if
 * the nominal fabric lacks a switch, the present fabric lacks the root, or the order does not
 * connect all switches. */
static enum ftr_status by_nominal(struct work *w,
				  const struct ftr_route_opts *opts,
				  ftr_sw *root)
{
	const struct ftr_fabric *f = w->sh->f, *nf = opts->nominal->f;
	uint32_t n = f->n_sw;
	uint16_t *level, *own = ftr_arena_alloc(w->arena, n, sizeof(*own));
	uint32_t *island = ftr_arena_alloc(w->arena, n, sizeof(*island));
	enum ftr_status st;

	if (!own || !island)
		return ftr_nomem(w->err, "sftree");
	st = inverted_order(opts->nominal,
			    same_switch(f, opts->sm_switch, nf), w->arena,
			    &level, root, w->err);
	if (st)
		return st;
	*root = same_switch(nf, *root, f);
	for (ftr_sw s = 0; s < n && *root != FTR_SW_NONE; s++) {
		ftr_sw at = same_switch(f, s, nf);

		if (at == FTR_SW_NONE)
			*root = FTR_SW_NONE;
		else
			own[s] = level[at];
	}
	if (*root == FTR_SW_NONE)
		return FTR_OK;
	st = ftr_shape_reorder(w->sh, own, FTR_REORDER_KEEP, w->team,
			       &w->plain, w->err);
	if (!st && !connects_all(w, island)) {
		ftr_shape_free(w->plain);
		w->plain = NULL;
		*root = FTR_SW_NONE;
	}
	w->level = own;
	return st;
}

static enum ftr_status by_own(struct work *w,
			      const struct ftr_route_opts *opts, ftr_sw *root)
{
	enum ftr_status st = inverted_order(w->sh, opts->sm_switch,
					    w->arena, &w->level, root, w->err);

	return st ? st : ftr_shape_reorder(w->sh, w->level, FTR_REORDER_KEEP,
					   w->team, &w->plain, w->err);
}

static enum ftr_status inverted(struct work *w,
				const struct ftr_route_opts *opts,
				struct ftr_route_stats *stats)
{
	ftr_sw root = FTR_SW_NONE;
	uint64_t *displaced = NULL;
	enum ftr_status st = FTR_OK;

	if (opts->nominal)
		st = by_nominal(w, opts, &root);
	if (!st && root == FTR_SW_NONE)
		st = by_own(w, opts, &root);
	if (!st)
		st = engine_displaced(opts, w->out, &displaced, w->err);
	if (!st)
		st = dmodc_tables(w->plain, NULL, w->team, w->out, displaced, w->err);
	if (!st && has_gaps(w->plain))
		st = fill_gaps(w);
	if (!st) {
		struct ftr_balance_input in = {
			.shape = w->plain, .full = w->full,
			.use_full = w->use_full,
		};
		struct engine_run run = {
			.opts = opts, .team = w->team, .t = w->out,
			.report = stats ? &stats->balance : NULL, .displaced = displaced,
		};

		st = engine_finish(&run, &in, w->err);
	}
	free(displaced);
	if (!st && stats)
		report_sftree(w, opts, root, stats);
	return st;
}

static enum ftr_status route_all(struct work *w,
				 const struct ftr_route_opts *opts,
				 struct ftr_route_stats *stats)
{
	enum ftr_status st;

	w->arena = ftr_arena_new();
	st = w->arena ? inverted(w, opts, stats) :
		ftr_nomem(w->err, "sftree");
	ftr_shape_free(w->full);
	ftr_shape_free(w->plain);
	ftr_arena_free(w->arena);
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
	struct work w = { .sh = sh, .team = team, .out = out, .err = err };

	opts = opts ? opts : &defaults;
	return route_all(&w, opts, stats);
}

static enum ftr_promise sftree_promise(const struct ftr_route_opts *opts)
{
	(void)opts;
	return FTR_PROMISE_ALL;
}

const struct ftr_engine_ops ftr_engine_sftree = {
	.name = "sftree",
	.promise = sftree_promise,
	.summary = "like dmodc, but every switch reaches every LID, on one VL (sFtree)",
	.route = sftree_route,
};
