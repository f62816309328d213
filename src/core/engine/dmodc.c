// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine dmodc.  Entries are computed by the closed form (closed_form.c).  Pairs that it does not
 * connect get paths with extra turns (connect.c).  If extra turns do not connect all pairs, the
 * whole fabric is routed by an inverted order, as by engine sftree (inverted_order.c).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/connect.h"
#include "engine/engine.h"

static enum ftr_status report_dmodc(const struct ftr_shape *sh,
				    const struct ftr_route_opts *opts,
				    const struct connect *extra, const struct ftr_tables *t,
				    struct ftr_route_stats *stats, struct ftr_err *err)
{
	engine_clear_stats(stats);
	stats->no_path = engine_count_none(sh, t);
	stats->order_known = true;
	stats->by_rank = true;
	stats->n_turns = extra->n_turns;
	stats->extra_pairs = extra->pairs;
	if (stats->order)
		memcpy(stats->order, sh->tree.rank, sh->f->n_sw);
	if (!opts->keep_turns || !extra->n_turns)
		return FTR_OK;
	stats->turn = ftr_calloc(extra->n_turns, sizeof(*stats->turn));
	if (!stats->turn)
		return ftr_nomem(err, "%u turns", extra->n_turns);
	memcpy(stats->turn, extra->turn,
	       extra->n_turns * sizeof(*stats->turn));
	return FTR_OK;
}

/* Turns of an earlier routing may exclude turns that are needed now.  So if no plan with them connects all
 * pairs, the plans are made again without them. */
static enum ftr_status plan_extra(const struct ftr_shape *sh, struct ftr_route_opts opts,
				  struct ftr_arena *a, struct connect *extra,
				  struct ftr_err *err)
{
	unsigned int n = sh->tree.n_horizontal ? CONNECT_N_LINKS : 1, end = opts.n_turns ? 2 * n : n;
	enum ftr_status st;

	*extra = (struct connect){ .complete = opts.paths == FTR_PATHS_UPDOWN };
	for (unsigned int i = 0; i < end && !extra->complete; i++) {
		extra->links = (enum connect_links)(i % n);
		if (i == n)
			opts.n_turns = 0;
		st = connect_plan(sh, &opts, true, a, extra, err);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status reordered(const struct ftr_shape *sh,
				 const struct ftr_route_opts *opts,
				 struct ftr_team *team, struct ftr_tables *out,
				 struct ftr_route_stats *stats,
				 struct ftr_err *err)
{
	enum ftr_status st = ftr_engine_sftree.route(sh, opts, team, out, stats, err);

	if (!st && stats)
		stats->reordered = true;
	return st;
}

static enum ftr_status dmodc_route(const struct ftr_shape *sh,
				   const struct ftr_route_opts *opts,
				   struct ftr_team *team,
				   struct ftr_tables *out,
				   struct ftr_route_stats *stats,
				   struct ftr_err *err)
{
	static const struct ftr_route_opts defaults = FTR_ROUTE_OPTS_INIT;
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_balance_input in = { .shape = sh };
	struct connect extra;
	uint64_t *displaced = NULL, *mark = NULL;
	enum ftr_status st;

	if (!a)
		return ftr_nomem(err, "routing");
	opts = opts ? opts : &defaults;
	st = engine_displaced(opts, out, &displaced, err);
	if (!st)
		st = plan_extra(sh, *opts, a, &extra, err);
	if (!st && !extra.complete) {
		st = reordered(sh, opts, team, out, stats, err);
	} else if (!st) {
		struct engine_run run = {
			.opts = opts, .team = team, .t = out, .extra = &extra,
			.report = stats ? &stats->balance : NULL, .displaced = displaced,
		};

		if (opts->keep && !extra.n_entries)
			st = engine_base_marks(opts->keep->base, sh, opts->keep, &mark, err);
		run.mark = mark;
		if (!st && !mark)
			st = dmodc_tables(sh, &extra, team, out, displaced, err);
		if (!st)
			st = engine_finish(&run, &in, err);
		if (!st && stats)
			st = report_dmodc(sh, opts, &extra, out, stats, err);
	}
	free(displaced);
	free(mark);
	ftr_arena_free(a);
	return st;
}

static enum ftr_promise dmodc_promise(const struct ftr_route_opts *opts)
{
	return opts && opts->paths == FTR_PATHS_UPDOWN ? FTR_PROMISE_UPDOWN :
		FTR_PROMISE_HOSTS;
}

const struct ftr_engine_ops ftr_engine_dmodc = {
	.name = "dmodc",
	.promise = dmodc_promise,
	.summary = "closed-form, fault-resilient fat-tree routing (Dmodc)",
	.route = dmodc_route,
};
