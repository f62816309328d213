// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search evens out the load of the links.  In sweeps over the tables, entries change to other
 * candidates (allowed next hops).  The all-to-all load of the most loaded link never grows.
 *
 * Terms:
 *
 *	bound		a lower bound for the all-to-all load of the most loaded link
 *	target, limit	loads slightly above the bound (TARGET_SHARE, LIMIT_SHARE)
 *	load of shifts	the load of the most loaded link in a shift, as the mean over all shifts
 *	cost		the weight of a flow above the target, relative to flows that share a link
 *			in a shift
 *
 * Depth `load`: the sweeps consider all-to-all flows only.  They end when no link is above the
 * limit.  On very small fabrics (TINY) the sweeps also consider shifts: if several candidates
 * reduce the all-to-all load, an entry takes the one that raises the load of shifts least.
 *
 * Depth `full`: the sweeps also consider the flows of shifts.  The cost rises from sweep to sweep.
 * While the cost is low, flows that share a link in shifts move to different links, even to links
 * above the target.  When the cost is high, the sweeps even out the all-to-all load, by the
 * moves that raise the load of shifts least.  If the cost is high from the beginning, the result is
 * worse.  For example, on a two-level fabric that lacks 26 links (in the test data), the load of
 * shifts is 2.5 flows instead of 2.07.  On very small fabrics (ROUNDS_PATHS) all sweeps are
 * repeated, beginning with the low cost.  This lowers the load of shifts to 2.05.
 *
 * Depth `full` on large fabrics: a sweep takes a second, so there are only two sweeps, at a medium
 * cost.  They examine only entries whose path has a bad link.  A link is bad if it is above the
 * target, or if its flows in some shift reach the load of shifts.  In the first sweep, the load of
 * shifts is multiplied by FIRST_MEET for this comparison, because it falls during the sweep.  Three
 * sweeps without FIRST_MEET take about as long, but the load of shifts is then 6.64 instead of 6.59
 * (fabric of tests/perf/chassis.awk, see BENCHMARKS.md).
 *
 * Depth `full` has one more step if the most loaded link is still above the limit.  First, sweeps
 * like those of depth `load` even out the all-to-all load.  Then further sweeps at a high cost
 * reduce the load of shifts.  tests/prop/test_balance_recount compares the two depths on 3,093
 * routings, by the product (all-to-all load of the most loaded link) * (load of shifts).  Depth
 * `full` is worse on 29 of them; without this step, on 167.
 *
 * After each sweep the flows are counted exactly, and is_best() compares the tables with the best
 * tables so far.  Exceptions: nothing is counted after a sweep with few moves (MOVED_SHARE), and on
 * large fabrics after a cancelled sweep.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

#define TARGET_SHARE 50		/* target = bound + max(1, bound / 50) */
#define LIMIT_SHARE 33		/* limit = bound + max(1, bound / 33) */
#define LOAD_SWEEPS 10
/* At depth `load`, the first sweep examines only entries that carry at least 1 / 2^COARSE of all
 * flows to the LID.  The second sweep examines only entries that carry at least
 * 1 / 2^(COARSE + FINER) of these flows. */
#define COARSE 6
#define FINER 4
/* At depth `load`, SHARES threads together make each of the first SHARED_SWEEPS sweeps, unless the
 * fabric has fewer than SHARED_HOSTS hosts.  Later sweeps use one thread: with several threads more
 * entries change, which raises the load of shifts. */
#define SHARES 2
#define SHARED_SWEEPS 2
#define SHARED_HOSTS 2000
#define FULL_SWEEPS 6
/* The cost of a flow above the target (see the terms above), in the sweeps of depth `full`: */
#define FULL_OVER 16		/* cost in the first sweep */
#define FULL_RISE 16		/* factor by which the cost rises from sweep to sweep */
#define EVEN_OVER (1 << 20)	/* cost in the first sweep if even_out() makes the sweeps */
/* ROUNDS_PATHS, TINY, SMALL and LARGE are numbers of paths (member `paths` of struct work). */
#define ROUNDS 4
#define ROUNDS_PATHS 100000	/* With fewer paths, the sweeps of depth `full` are made up to
				 * ROUNDS times. */
#define TINY 50000		/* With fewer paths, depth `load` considers shifts, too. */
#define TINY_OVER (1 << 20)
#define TINY_SWEEPS 6
#define SMALL 500000		/* With fewer paths, depth `full` makes twice the number of sweeps,
				 * and the cost rises more slowly. */
#define LARGE 2000000		/* With more paths, depth `full` makes LARGE_SWEEPS quick sweeps
				 * (see balance_sweep.quick). */
#define LARGE_SWEEPS 2
#define FIRST_MEET 7 / 10	/* factor of balance_sweep.meet in the first quick sweep */
#define LARGE_OVER (1 << 12)
/* If no link is above the limit, each of these conditions ends the sweeps of depth `full`: */
#define GAIN_SHARE 500		/* Half of the sweeps are done, and the last one reduced the load of
				 * shifts by less than 1 / GAIN_SHARE. */
#define MOVED_SHARE 20		/* The fabric is not small, and the last sweep made less than
				 * 1 / MOVED_SHARE of the moves of the sweep with the most moves. */
#define BINS_BYTES ((size_t)96 << 20)

struct work {
	const struct ftr_balance_input *in;
	struct ftr_tables *t;
	struct ftr_team *team;
	struct ftr_balance_report *r;
	struct balance_net *net;
	struct balance_count c;
	struct ftr_arena *arena;
	uint32_t target, limit;
	uint64_t paths;		/* number of sources (switches with hosts) * number of positions */
	bool shifts;		/* true: count the load of shifts */
	bool trade;		/* true: is_best() compares the product of both loads */
	/* now: the present tables; first: the input; best: the best tables so far */
	struct score {
		uint32_t max;	/* all-to-all load of the most loaded link */
		uint64_t sum;	/* load of the most loaded link of each shift, added up */
	} now, first, best;
	struct balance_log log;
	uint32_t n_best;	/* the first n_best moves of the log lead to the best tables */
};

static enum ftr_status score(struct work *w, struct ftr_err *err)
{
	enum ftr_status st;

	w->now.max = balance_most(w->net, w->c.flows);
	if (!w->shifts)
		return FTR_OK;
	if (w->c.width == 1) {
		w->now.sum = balance_bins_worst(&w->c, w->team);
		return FTR_OK;
	}
	if (w->r->cancelled) {		/* counting would take too long */
		w->now.sum = BALANCE_CANCELLED;
		return FTR_OK;
	}
	st = balance_worst(w->net, w->c.entry, w->team, &w->now.sum, err);
	w->r->cancelled = w->now.sum == BALANCE_CANCELLED;
	return st;
}

static enum ftr_status count_bins(struct work *w, struct ftr_err *err)
{
	enum ftr_status st = balance_bins_count(&w->c, w->team, &w->now.sum,
						err);

	w->r->cancelled = !st && w->now.sum == BALANCE_CANCELLED;
	return st;
}

/* Returns true if the present tables are better than the best so far.  First criterion: the
 * all-to-all load of the most loaded link (all loads up to the limit are equally good).  Second:
 * the load of shifts.  The all-to-all load must not be above that of the input.  At depth `full`,
 * the load of shifts must not be above that of the input either.  With w->trade, the criterion is
 * the product of both loads, and only the all-to-all load must not be above that of the input. */
static bool is_best(const struct work *w)
{
	uint32_t now = FTR_MAX(w->now.max, w->limit);
	uint32_t best = FTR_MAX(w->best.max, w->limit);

	if (w->now.max > w->first.max)
		return false;
	if (w->trade)
		return (double)now * (double)w->now.sum <
			(double)best * (double)w->best.sum;
	if (w->now.sum > w->first.sum && w->in->depth == FTR_BALANCE_FULL)
		return false;
	if (now != best)
		return now < best;
	if (w->now.sum != w->best.sum)
		return w->now.sum < w->best.sum;
	return w->now.max < w->best.max;
}

static enum ftr_status judge(struct work *w, struct ftr_err *err)
{
	enum ftr_status st = score(w, err);

	if (st || w->now.sum == BALANCE_CANCELLED || !is_best(w))
		return st;
	w->best = w->now;
	w->n_best = w->log.n;
	return FTR_OK;
}

static enum ftr_status load_sweeps(struct work *w, struct ftr_err *err)
{
	struct balance_sweep s = { .target = w->target };
	enum ftr_status st = FTR_OK;

	if (w->now.max > w->limit && !w->net->senders)
		st = balance_count_net(w->net, true, NULL, w->team, err);
	w->c.senders = w->net->senders;
	for (uint32_t i = 0; !st && !w->r->cancelled && i < LOAD_SWEEPS &&
	     w->now.max > w->limit; i++) {
		s.least = i > 1 ? 1 : FTR_MAX(w->net->n_hosts >>
					      (COARSE + FINER * i), 1u);
		s.moved = 0;
		s.shares = i < SHARED_SWEEPS && !w->shifts &&
			w->net->n_hosts >= SHARED_HOSTS ? SHARES : 1;
		st = balance_load_sweep(&w->c, &s, w->team, err);
		w->r->cancelled = s.cancelled;
		if (st || (!s.moved && s.least == 1))
			break;
		w->r->sweeps++;
		w->now.max = balance_most(w->net, w->c.flows);
		if (!w->shifts)
			st = judge(w, err);
	}
	return st;
}

/* The value of balance_sweep.meet: a link is bad if it has this number of flows in one shift, or
 * more.  The value is floor(load of shifts + 0.2), but at least 2 on small fabrics, and at least 3
 * on others.  If links are missing in a larger fabric, some link has two flows in every shift.
 * Moving these flows takes long, and often another link then has three. */
static uint32_t too_many(const struct work *w)
{
	uint64_t mean = (w->now.sum + w->net->n_pos / 5) /
		(w->net->n_pos - 1);

	return (uint32_t)FTR_MAX(mean, w->paths < SMALL ? 2 : 3);
}

/* The search of depth `load` on a very small fabric.  The first sweeps even out the all-to-all load
 * by the moves that raise the load of shifts least.  If the load of shifts is then higher than
 * before the search, further sweeps lower it again. */
static enum ftr_status tiny_load_sweeps(struct work *w, struct ftr_err *err)
{
	struct balance_sweep s = { .target = w->target, .over = TINY_OVER };
	enum ftr_status st = FTR_OK;
	bool even = false;	/* true: the all-to-all load is even, or cannot be improved */

	while (!st && !w->r->cancelled && w->r->sweeps < TINY_SWEEPS) {
		even |= w->now.max <= w->target;
		if (even && w->now.sum <= w->first.sum)
			break;
		s.meet = even ? too_many(w) + 1 : UINT16_MAX;
		s.moved = 0;
		st = balance_sweep(&w->c, &s, w->team, err);
		w->r->cancelled = s.cancelled;
		if (st || (!s.moved && even))
			break;
		even |= !s.moved;
		w->r->sweeps++;
		st = judge(w, err);
	}
	return st;
}

static enum ftr_status full_sweeps(struct work *w, uint64_t over,
				   struct ftr_err *err)
{
	struct balance_sweep s = { .target = w->target, .over = over };
	enum ftr_status st = FTR_OK;
	uint64_t before = UINT64_MAX, best, most = 0;
	bool small = w->paths < SMALL;
	uint32_t sweeps = small ? 2 * FULL_SWEEPS : FULL_SWEEPS, n = 0;

	if (w->paths > LARGE) {
		s.over = FTR_MAX(over, LARGE_OVER);
		s.quick = true;
		sweeps = LARGE_SWEEPS;
	}

		/* if now.sum < n_pos, no link has two flows in any shift */
	while (!st && !w->r->cancelled && n < sweeps &&
	       (w->now.max > w->target || w->now.sum >= w->net->n_pos)) {
		if (w->now.max <= w->limit && n > sweeps / 2 &&
		    w->now.sum <= before && before - w->now.sum < before / GAIN_SHARE)
			break;
		before = w->now.sum;
		s.meet = too_many(w);
		if (w->paths > LARGE && !n)
			s.meet = FTR_MAX(s.meet * FIRST_MEET, 3u);
		s.moved = 0;
		st = balance_sweep(&w->c, &s, w->team, err);
		w->r->cancelled = s.cancelled;
		most = FTR_MAX(most, s.moved);
		if (st || !s.moved || (!small && w->now.max <= w->limit &&
				       s.moved < most / MOVED_SHARE))
			break;
		n++;
		s.over *= small ? FULL_RISE / 4 : FULL_RISE;
		best = w->best.sum;
		st = judge(w, err);
		if (!small && w->now.max <= w->limit && w->now.sum >= best)
			break;
	}
	w->r->sweeps += n;
	return st;
}

/* On very small fabrics, repeat all sweeps, beginning with the low cost.  The result is often
 * better, because flows that got a common link at the high cost are separated again. */
static enum ftr_status full_rounds(struct work *w, struct ftr_err *err)
{
	uint32_t rounds = w->paths < ROUNDS_PATHS ? ROUNDS : 1, before;
	enum ftr_status st = FTR_OK;

	do {
		before = w->r->sweeps;
		st = full_sweeps(w, FULL_OVER, err);
	} while (!st && !w->r->cancelled && w->r->sweeps > before && --rounds);
	return st;
}

/* Let the excess of a link be its flows above the target.  At a high cost, a sweep of depth `full`
 * makes no move that raises the sum of the excess of all links.  So it cannot remove an excess by
 * several moves if the first of them raises this sum.  Therefore remove the excess by sweeps of
 * depth `load`, which ignore shifts, and then reduce the load of shifts. */
static enum ftr_status even_out(struct work *w, struct ftr_err *err)
{
	enum ftr_status st;

	w->trade = true;
	st = balance_count_net(w->net, true, NULL, w->team, err);
	w->now.max = balance_most(w->net, w->c.flows);
	if (!st)
		st = load_sweeps(w, err);
	if (!st && !w->r->cancelled)
		st = count_bins(w, err);
	if (!st && !w->r->cancelled)
		st = judge(w, err);
	if (!st && !w->r->cancelled)
		st = full_sweeps(w, EVEN_OVER, err);
	return st;
}

/* Prepare sweeps.  If the tables do not follow the shape, set net->flows to NULL, so that there is no
 * sweep: a sweep could access memory beyond the arrays, or never end. */
static enum ftr_status prepare(struct work *w, struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;
	uint32_t *scratch;

	if (!FTR_ZNEW(w->arena, w->log.seen, (size_t)w->t->n_sw *
		      (w->t->stride / 64)) ||
	    !FTR_NEW(w->arena, scratch, w->t->n_sw))
		return ftr_fail(err, FTR_NOMEM, "out of memory for balancing");
	if (!w->net->entry)
		st = balance_net_rows(w->net, w->t, w->team, err);
	w->c.entry = w->net->entry;
	if (!st && !balance_net_follows(w->net, scratch))
		w->net->flows = NULL;
	return st;
}

/* Count the flows, and prepare sweeps if any are needed. */
static enum ftr_status count(struct work *w, struct ftr_err *err)
{
	bool full = w->in->depth == FTR_BALANCE_FULL;
	struct balance_net *net = w->net;
	enum ftr_status st = FTR_OK;

	if (!net->flows)
		st = balance_count_tables(net, w->t, w->team, err);
	if (st || !net->flows)
		return st;
	w->c.flows = net->flows;
	w->now.max = balance_most(net, net->flows);
	w->shifts = full || (w->paths < TINY && w->now.max > w->target);
	if (w->shifts || w->now.max > w->limit)
		st = prepare(w, err);
	if (st || !net->flows)
		return st;
	if (w->shifts)
		st = balance_bins_new(&w->c, BINS_BYTES, w->arena, err);
	if (!st && w->shifts)
		st = count_bins(w, err);
	w->first = w->best = w->now;
	return st;
}

static double mean(const struct work *w, uint64_t sum)
{
	return sum == BALANCE_CANCELLED ? 0 :
		(double)sum / (w->net->n_pos - 1);
}

static enum ftr_status run_balance(struct work *w, struct ftr_err *err)
{
	struct ftr_balance_report *r = w->r;
	enum ftr_status st;

	r->bound = w->net->bound;
	w->target = r->bound + FTR_MAX(r->bound / TARGET_SHARE, 1u);
	w->limit = r->bound + FTR_MAX(r->bound / LIMIT_SHARE, 1u);
	w->paths = (uint64_t)w->net->n_sources * w->net->n_pos;
	st = count(w, err);
	if (st || !w->net->flows || w->net->n_pos < 2)
		return st;
	if (w->in->depth == FTR_BALANCE_FULL) {
		st = full_rounds(w, err);
		if (!st && !w->r->cancelled && w->best.max > w->limit)
			st = even_out(w, err);
	} else if (w->shifts) {
		st = tiny_load_sweeps(w, err);
	} else {
		st = load_sweeps(w, err);
	}
	if (st)
		return st;
	r->hosts = w->net->n_hosts;
	r->max_before = w->first.max;
	r->max_after = w->best.max;
	if (w->in->depth == FTR_BALANCE_FULL) {
		r->shift_before = mean(w, w->first.sum);
		r->shift_after = mean(w, w->best.sum);
	}
	return FTR_OK;
}

static bool fits(const struct ftr_balance_input *in, const struct ftr_tables *t)
{
	return t->n_sw == in->shape->f->n_sw &&
		t->max_lid == in->shape->f->max_lid;
}

enum ftr_status balance_run(const struct ftr_balance_input *in,
			    struct balance_net *net, struct ftr_tables *t,
			    struct ftr_team *team,
			    struct ftr_balance_report *report,
			    struct ftr_err *err)
{
	struct ftr_balance_report unused, *r = report ? report : &unused;
	struct work w = {
		.in = in, .t = t, .team = team, .r = r, .net = net,
	};
	uint64_t moved;
	enum ftr_status st = FTR_OK;

	memset(r, 0, sizeof(*r));
	if (in->depth == FTR_BALANCE_OFF) {
		balance_net_free(net);
		return FTR_OK;
	}
	w.arena = ftr_arena_new();
	if (!w.arena) {
		balance_net_free(net);
		return ftr_fail(err, FTR_NOMEM, "out of memory for balancing");
	}
	w.c.t = t;
	w.c.log = &w.log;
	if (!net)
		st = balance_net_begin(in, &w.net, err);
	if (!st) {
		w.net->in = in;
		w.c.net = w.net;
		st = run_balance(&w, err);
	}
	moved = balance_log_undo(&w.log, t, st ? 0 : w.n_best);
	if (!st)
		r->moved = moved;
	free(w.log.moved);
	balance_net_free(w.net);
	ftr_arena_free(w.arena);
	return st;
}

enum ftr_status ftr_balance_tables(const struct ftr_balance_input *in,
				   struct ftr_tables *t, struct ftr_team *team,
				   struct ftr_balance_report *report,
				   struct ftr_err *err)
{
	if (!fits(in, t))
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a shape of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, in->shape->f->n_sw,
				in->shape->f->max_lid);
	return balance_run(in, NULL, t, team, report, err);
}
