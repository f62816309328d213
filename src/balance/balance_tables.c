// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search, in sweeps that depend on the depth (load or full).  The search never raises the load
 * of the most loaded link under all-to-all traffic; is_best() decides when this load may rise in
 * shifts.
 *
 * Depth load: the sweeps count all-to-all flows alone, and end when no link is above the limit.
 * The first two sweeps examine only entries that many hosts use (COARSE, FINER).  On very small
 * fabrics (TINY) the shifts are counted as well: among the candidates that reduce the load, an
 * entry takes the one that harms shifts least.  This takes a few milliseconds.
 *
 * Depth full: sweeps that count shifts, too.  The cost of a flow above the target rises
 * from sweep to sweep.  While it is low, flows that collide in shifts move apart, even to links
 * above the target.  When it is high, the all-to-all load is evened out with the
 * least damage to shifts.  A high cost from the beginning leads to a worse optimum: on the
 * two-level fabric of the test data that lacks 26 links, the mean over the shifts of the load
 * of the most loaded link is then 2.5 flows instead of 2.07.  On very small fabrics (ROUNDS_PATHS)
 * all sweeps are repeated, beginning with the low cost, which lowers that figure to 2.05.
 *
 * On large fabrics a sweep takes a second.  So there are only two sweeps, at a medium cost.  They
 * examine only entries whose path was bad before the entries of their batch moved; if such a move
 * makes the path of another entry bad, that entry is not examined.  Links that are not above the
 * target do not make a path bad if they have fewer flows in every shift than a threshold.  This
 * threshold is the mean over the shifts of the load of the most loaded link, or less in the first
 * sweep (FIRST_MEET), because that mean falls during the sweep.  Three sweeps with the mean as the
 * threshold take about as long as these two, but these two lead to a mean that is 1 to 9 % lower
 * (6.59 instead of 6.64 on the fabric of tests/perf/chassis.awk in BENCHMARKS.md).
 *
 * If the most loaded link is still above the limit after these sweeps, the sweeps of depth load
 * even out the all-to-all load, and then sweeps at a high cost reduce the load of shifts.  With
 * this step, depth full is worse than depth load (by the product of the all-to-all load and the
 * load of shifts) on 29 of the 3,093 routings of tests/prop/test_balance_recount; without it, on
 * 167.
 *
 * After a sweep the flows are counted exactly, and the tables are kept if they are the best so far.
 * There are two exceptions: a sweep with few moves, which ends the search (MOVED_SHARE), and, on
 * large fabrics, where this count takes long, a sweep that was cancelled.  Tables are compared by
 * the load of the most loaded link under all-to-all traffic if that is above the limit, then by the
 * mean over the shifts of the load of the most loaded link; see is_best().
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

#define TARGET_SHARE 50		/* The target is the bound plus 1 / 50 of it, at least plus 1. */
#define LIMIT_SHARE 33		/* The limit is the bound plus 1 / 33 of it, at least plus 1. All
				 * loads up to the limit are equally good. */
#define LOAD_SWEEPS 10
#define COARSE 6		/* the first sweep examines entries with at least 1 / 2^COARSE of
				 * all flows to the LID */
#define FINER 4			/* the second sweep: at least 1 / 2^(COARSE + FINER); further sweeps
				 * examine all entries */
#define SHARES 2		/* number of shares, see load_sweep.c. Only the first SHARED_SWEEPS
				 * load sweeps, which make nearly all moves, are divided into
				 * shares, and only at depth load: sweeps in shares change more
				 * entries, which increases the load of shifts. */
#define SHARED_SWEEPS 2
#define SHARED_HOSTS 2000	/* With fewer hosts no sweep is divided into shares, because sweeps
				 * take little time. */
#define FULL_SWEEPS 6
#define FULL_OVER 16		/* cost of a flow above the target in the first full sweep */
#define FULL_RISE 16		/* factor by which this cost rises from one sweep to the next */
#define EVEN_OVER (1 << 20)	/* cost of a flow above the target in the first full sweep of
				 * even_out() */
#define ROUNDS 4
#define ROUNDS_PATHS 100000	/* With fewer paths (see struct work) there are up to ROUNDS rounds,
				 * with more paths only one: more rounds would take seconds and gain
				 * nothing. */
#define TINY 50000		/* with fewer paths, depth load counts shifts as well */
#define TINY_OVER (1 << 20)
#define TINY_SWEEPS 6
#define SMALL 500000		/* With fewer paths there are twice as many full sweeps, and the
				 * cost rises more slowly. */
#define LARGE 2000000		/* With more paths there are LARGE_SWEEPS quick sweeps instead. */
#define LARGE_SWEEPS 2
#define FIRST_MEET 7 / 10	/* the first quick sweep multiplies balance_sweep.meet by this */
#define LARGE_OVER (1 << 12)
/* The next two constants apply only if no link is above the limit. */
#define GAIN_SHARE 500		/* In the second half of its sweeps, the search ends after a sweep
				 * that reduces the load of shifts by less than 1 / GAIN_SHARE. On
				 * small fabrics a sweep that increases it does not end the
				 * search, because later sweeps often find better tables. */
#define MOVED_SHARE 20		/* On fabrics that are not small, the search ends with a sweep that
				 * makes less than 1 / MOVED_SHARE of the moves of the sweep with
				 * the most moves. Its tables are not compared with the best. */
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
	uint64_t paths;		/* number of pairs of a source and a position */
	bool check;		/* check that the tables follow the shape */
	bool shifts;		/* the load of shifts is counted, too */
	bool trade;		/* compare tables by the product of the all-to-all load and the load
				 * of shifts, see is_best() */
	/* load of the present tables, of the input, and of the best tables so far */
	struct score {
		uint32_t max;
		uint64_t sum;	/* flows on the most loaded link of each shift, added over all
				 * shifts */
	} now, first, best;
	struct balance_log log;
	uint32_t n_best;	/* The first n_best moves of the log lead to the best tables. */
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

/* Count the shifts in the bins. */
static enum ftr_status count_bins(struct work *w, struct ftr_err *err)
{
	enum ftr_status st = balance_bins_count(&w->c, w->team, &w->now.sum,
						err);

	w->r->cancelled = !st && w->now.sum == BALANCE_CANCELLED;
	return st;
}

/* Are the tables better than the best so far?  Tables are compared by the load of the most loaded
 * link under all-to-all traffic, then by the load of shifts.  The all-to-all load must not be
 * higher than in the input; at depth full, the load of shifts must not be higher either.  With
 * w->trade, tables are compared by the product of the two loads; the load of shifts may then rise
 * if the all-to-all load falls by a larger factor. */
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

/* The least number of flows that is too many on a link in one shift: about the mean over the shifts
 * of the load of the most loaded link.  Links with fewer flows are examined only if they are above
 * the target.  Two flows are too many on small fabrics only.  On larger fabrics that lack links,
 * some link has two flows in every shift; moving these flows takes long, and often leads to a link
 * with three flows. */
static uint32_t too_many(const struct work *w)
{
	uint64_t mean = (w->now.sum + w->net->n_pos / 5) /
		(w->net->n_pos - 1);

	return (uint32_t)FTR_MAX(mean, w->paths < SMALL ? 2 : 3);
}

/* As load_sweeps, but with shifts counted: even out the all-to-all load with the moves that
 * increase the load of shifts least, then lower the load of shifts again. */
static enum ftr_status tiny_load_sweeps(struct work *w, struct ftr_err *err)
{
	struct balance_sweep s = { .target = w->target, .over = TINY_OVER };
	enum ftr_status st = FTR_OK;
	bool even = false;	/* no link is above the target, or a sweep that was to even out the
				 * all-to-all load has moved no entry */

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

/* over: cost of a flow above the target in the first sweep. */
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

	/* now.sum < n_pos: no link has two flows in any shift */
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

/* On very small fabrics, repeat the sweeps, beginning with the low cost.  Flows that the high cost
 * has brought together then move apart again, and the next optimum is often better. */
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

/* At a high cost, a full sweep moves an entry only if that reduces the total excess of all links
 * (the flows above the target) or, at equal excess, the load of shifts.  So it cannot remove an
 * excess that needs several moves.  Remove such an excess by load sweeps, without regard to
 * shifts, and then reduce the load of shifts again, at a high cost. */
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

/* Prepare sweeps: the entries by destination, and the log. If w->check is set and the tables do not
 * follow the shape, set net->flows to NULL, because a sweep could then access memory beyond the
 * arrays, or never end. */
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
	if (!st && w->check && !balance_net_follows(w->net, scratch))
		w->net->flows = NULL;
	return st;
}

/* Count the flows. At depth load, prepare sweeps only if the flows show that a sweep is needed; on
 * a healthy tree no sweep is needed. */
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

/* As balance_run. check: as in struct work. */
static enum ftr_status run(const struct ftr_balance_input *in,
			   struct balance_net *net, bool check,
			   struct ftr_tables *t, struct ftr_team *team,
			   struct ftr_balance_report *report,
			   struct ftr_err *err)
{
	struct ftr_balance_report unused, *r = report ? report : &unused;
	struct work w = {
		.in = in, .t = t, .team = team, .r = r, .net = net, .check = check,
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

enum ftr_status balance_run(const struct ftr_balance_input *in,
			    struct balance_net *net, struct ftr_tables *t,
			    struct ftr_team *team,
			    struct ftr_balance_report *report,
			    struct ftr_err *err)
{
	return run(in, net, false, t, team, report, err);
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
	return run(in, NULL, true, t, team, report, err);
}
