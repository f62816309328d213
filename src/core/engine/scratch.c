// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes with entries of earlier tables, and replaces them if they lead to a higher load than
 * tables that are computed from scratch.  The search for balance improves kept tables by single
 * moves, so it can end at a local optimum, for example after a switch was replaced.
 */
#include <stdlib.h>

#include "engine/engine.h"

/* A load is behind another if it is higher by more than 1 / BEHIND_SHARE of it. */
#define BEHIND_SHARE 20

static bool is_behind(double a, double b)
{
	return a > b + b / BEHIND_SHARE;
}

/* False if no tables can be so much better that a is behind them.  In a shift, the most loaded link
 * has at least one flow. */
static bool may_be_behind(const struct ftr_balance_report *a)
{
	return !a->cancelled && (is_behind(a->max_after, a->bound) || is_behind(a->shift_after, 1));
}

static bool is_better(const struct ftr_balance_report *a, const struct ftr_balance_report *b)
{
	return (is_behind(b->max_after, a->max_after) && !is_behind(a->shift_after, b->shift_after)) ||
	       (is_behind(b->shift_after, a->shift_after) && !is_behind(a->max_after, b->max_after));
}

static void drop(struct ftr_kept *k)
{
	ftr_tables_free(k->t);
	ftr_shape_free(k->stats.routed);
	free(k->stats.turn);
	free(k->stats.order);
}

static enum ftr_status route_scratch(const struct ftr_engine_ops *ops, const struct ftr_shape *sh,
				     const struct ftr_route_opts *opts, struct ftr_team *team,
				     struct ftr_kept *out, struct ftr_err *err)
{
	struct ftr_route_opts scratch = *opts;
	enum ftr_status st = ftr_tables_new(sh->f, false, &out->t, err);

	scratch.keep = NULL;
	out->stats.order = ftr_malloc(sh->f->n_sw);
	if (!st && !out->stats.order)
		st = ftr_nomem(err, "the order of switches");
	return st ? st : ops->route(sh, &scratch, team, out->t, &out->stats, err);
}

enum ftr_status ftr_route_kept(const struct ftr_engine_ops *ops, const struct ftr_shape *sh,
			       const struct ftr_route_opts *opts, struct ftr_team *team,
			       struct ftr_kept *k, struct ftr_err *err)
{
	struct ftr_kept other = { .stats.root = FTR_SW_NONE, .replaced = true }, kept;
	struct ftr_balance_report *b = &k->stats.balance;
	enum ftr_status st = ops->route(sh, opts, team, k->t, &k->stats, err);

	k->replaced = false;
	if (st || !may_be_behind(b))
		return st;
	st = route_scratch(ops, sh, opts, team, &other, err);
	if (!st && is_better(&other.stats.balance, b)) {
		struct ftr_tables_diff diff;

		ftr_tables_diff(sh->f, opts->keep->prefer, sh->f, other.t, &diff);
		other.stats.balance.max_before = b->max_before;
		other.stats.balance.shift_before = b->shift_before;
		other.stats.balance.moved = diff.entries;
		kept = *k;
		*k = other;
		other = kept;
	}
	drop(&other);
	return st;
}
