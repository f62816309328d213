// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search evens out the load of the links.  In sweeps over the tables, entries change to other
 * candidates.  The all-to-all load of the most loaded link never grows above the
 * target (or above its value before, if that is higher).
 *
 * Terms:
 *
 *	bound		a lower bound for the all-to-all load of the most loaded link
 *	target		a load slightly above the bound (balance_target())
 *	load of shifts	the load of the most loaded link in a shift, as the mean over all shifts
 *	cost		the price of a flow above the target, relative to flows that share a link
 *			in a shift
 *
 * Displaced entries (displaced.h) are placed first, in one sweep that examines no other entries.
 *
 * Depth `load`: the sweeps consider all-to-all flows only.  They end when no link is above the
 * target.  On very small fabrics (TINY) the sweeps also consider shifts: if several candidates
 * reduce the all-to-all load, an entry takes the one that raises the load of shifts least.
 *
 * Depth `full`: the sweeps also consider the flows of shifts.  The cost rises from sweep to sweep.
 * While the cost is low, flows that share a link in shifts move to different links, even to links
 * above the target.  When the cost is high, the sweeps even out the all-to-all load, by the
 * moves that raise the load of shifts least.  If the cost is high from the beginning, the result is
 * worse.  On very small fabrics (ROUNDS_PATHS) all sweeps are repeated, beginning with the low
 * cost.  On large fabrics, where a sweep takes a second, there are only three sweeps, at a medium
 * cost.
 *
 * Depth `full` has one more step if the most loaded link is still above the target.  First, sweeps
 * like those of depth `load` even out the all-to-all load.  Then further sweeps at a high cost
 * reduce the load of shifts.
 *
 * After each sweep the flows are counted exactly, and is_best() compares the tables with the best
 * tables so far.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

#define LOAD_SWEEPS 10
/* In sweeps that consider all-to-all flows only: */
#define LOAD_OVER (1 << 20)	/* cost */
/* At depth `load`, the first sweep examines only entries that carry at least 1 / 2^COARSE of all
 * flows to the LID.  The second sweep examines only entries that carry at least
 * 1 / 2^(COARSE + FINER) of these flows. */
#define COARSE 6
#define FINER 4
#define FULL_SWEEPS 6
#define FULL_POWER 5		/* see balance_price_shifts() */
#define FULL_SCALE 8
/* The cost in the sweeps of depth `full`: */
#define FULL_OVER 16		/* cost in the first sweep */
#define FULL_RISE 16		/* factor by which the cost rises from sweep to sweep */
#define EVEN_SHARE 100		/* even_out() is called if the most loaded link is above the target
				 * by more than 1 / EVEN_SHARE of it */
#define EVEN_OVER (1 << 20)	/* cost in the first sweep after even_out() */
/* ROUNDS_PATHS, TINY, SMALL and LARGE are numbers of paths (member `paths` of struct work). */
#define ROUNDS 4
#define ROUNDS_PATHS 100000	/* With fewer paths, the sweeps of depth `full` are made up to
				 * ROUNDS times. */
#define TINY 50000		/* With fewer paths, depth `load` considers shifts, too. */
#define SMALL 500000		/* With fewer paths, depth `full` makes twice the number of sweeps,
				 * and the cost rises more slowly. */
#define OVER_SWEEPS 2		/* At depth `load`, this number of sweeps of a very small fabric
				 * examines only entries whose path has a link above the target. */
#define LARGE 2000000		/* With more paths, depth `full` makes LARGE_SWEEPS sweeps. */
#define LARGE_SWEEPS 3
#define LARGE_OVER (1 << 12)
#define GAIN_SHARE 500		/* The sweeps of depth `full` end if no link is above the target,
				 * and the last sweep reduced the load of shifts by less than
				 * 1 / GAIN_SHARE. */
#define BINS_BYTES ((size_t)96 << 20)
/* The loads of tables. */
struct score {
	uint32_t all;		/* all-to-all load of the most loaded link */
	uint32_t rail;		/* the greatest weighted load by a rail, or 0 */
	uint32_t max;		/* the greater one of both */
	uint64_t sum;		/* load of the most loaded link of each shift, added up */
};

struct work {
	const struct ftr_balance_input *in;
	struct ftr_tables *t;
	struct ftr_team *team;
	struct ftr_balance_report *r;
	struct balance_net *net;
	struct balance_loads loads;
	struct flow_dest *copy;	/* the present tables */
	uint8_t *best_entry;	/* the best tables so far: as in copy, or, if in->movable is set,
				 * only the movable entries, in their order */
	/* entries: to be placed; that the search may change; that differ from the preferred tables
	 * (`changed`: this set, or `movable` if they are the same) */
	struct balance_subset place, movable, differ, *changed;
	struct balance_sweep sweep;
	uint32_t target;
	uint64_t paths;		/* number of sources (switches with hosts) * number of positions */
	bool shifts;		/* true: count the load of shifts */
	bool trade;		/* true: is_best() compares the product of both loads */
	struct score now, first, best;	/* of the present tables, the input, and the best tables */
};

/* ---- the best tables so far --------------------------------------------------------- */

static size_t best_bytes(const struct work *w)
{
	return w->in->movable ? w->movable.first[w->net->n_dests] :
		(size_t)w->net->n_dests * w->net->f->n_sw;
}

static void save_best(struct work *w)
{
	if (!w->in->movable) {
		memcpy(w->best_entry, w->copy[0].entry, best_bytes(w));
		return;
	}
	for_each_entry(w->net, &w->movable, d, i)
		w->best_entry[i] = w->copy[d].entry[w->movable.sw[i]];
}

/* Write the best tables if any entry may change.  The copy becomes one of the tables before, because
 * comparing with the tables themselves takes longer.  Returns the number of entries that change. */
static uint64_t write_all(const struct work *w)
{
	const uint8_t *best = w->best_entry;
	uint64_t differ = 0;

	balance_copy_read(w->net, w->t, w->team, w->copy);
	for (uint32_t d = 0; d < w->net->n_dests; d++)
		for (ftr_sw s = 0; s < w->net->f->n_sw; s++, best++)
			if (w->copy[d].entry[s] != *best) {
				ftr_tables_row(w->t, s)[w->net->dest[d].lid] = *best;
				differ++;
			}
	return differ;
}

/* The same if only the entries in w->movable may change. */
static uint64_t write_movable(const struct work *w)
{
	uint64_t differ = 0;

	for_each_entry(w->net, &w->movable, d, i) {
		uint8_t *entry = ftr_tables_row(w->t, w->movable.sw[i]) + w->net->dest[d].lid;

		differ += *entry != w->best_entry[i];
		*entry = w->best_entry[i];
	}
	return differ;
}

/* Returns true if the present tables are better than the best so far.  First criterion: the
 * all-to-all load of the most loaded link (all loads up to the target are equally good).  Second:
 * the load of shifts.  The all-to-all load must not be above both that of the input and the
 * target: if the input is below the target, it may rise to the target.  At depth `full`, the load
 * of shifts must not be above that of the input either.  With w->trade, the criterion is the
 * product of both loads, and only the condition on the all-to-all load applies. */
static bool is_best(const struct work *w)
{
	uint32_t now = FTR_MAX(w->now.max, w->target);
	uint32_t best = FTR_MAX(w->best.max, w->target);

	if (now > FTR_MAX(w->first.max, w->target))
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

static void keep_if_best(struct work *w)
{
	if (!is_best(w))
		return;
	w->best = w->now;
	save_best(w);
}

static void set_max(struct work *w)
{
	w->now.all = balance_most(&w->loads, w->loads.flows);
	w->now.rail = w->loads.rail ?
		balance_most(&w->loads, w->loads.rail) * w->net->rail_weight : 0;
	w->now.max = FTR_MAX(w->now.all, w->now.rail);
}

static enum ftr_status judge(struct work *w, struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	set_max(w);
	if (w->shifts)
		st = balance_count_shifts(&w->loads, w->copy, false, w->team, &w->now.sum, err);
	if (w->now.sum == BALANCE_CANCELLED)
		w->r->cancelled = true;
	else if (!st)
		keep_if_best(w);
	return st;
}

/* Make a sweep, and judge the result. */
static enum ftr_status sweep(struct work *w, struct ftr_err *err)
{
	enum ftr_status st;

	w->sweep.only = w->in->movable ? &w->movable : NULL;
	st = balance_sweep(&w->loads, w->copy, &w->sweep, err);
	w->r->cancelled = w->sweep.cancelled;
	w->r->sweeps++;
	return st || !w->sweep.moved || w->r->cancelled ? st : judge(w, err);
}

/* ---- depth `load` ---------------------------------------------------------------------- */

static enum ftr_status load_sweeps(struct work *w, struct ftr_err *err)
{
	struct balance_sweep *s = &w->sweep;
	enum ftr_status st = FTR_OK;

	*s = (struct balance_sweep){ .price = {
		.target = w->target, .over = LOAD_OVER, .square = true, .gain = LOAD_OVER,
		.idle = true,
	}, .meet = UINT16_MAX };
	for (uint32_t i = 0; i < LOAD_SWEEPS && w->now.max > w->target; i++) {
		s->least = i > 1 ? 1 : FTR_MAX(w->net->n_hosts >> (COARSE + FINER * i), 1u);
		st = sweep(w, err);
		if (st || w->r->cancelled || (!s->moved && s->least == 1))
			break;
	}
	return st;
}

/* ---- depth `full` ----------------------------------------------------------------------- */

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

/* Returns true if another sweep of full_sweeps() may be worth while. */
static bool is_uneven(const struct work *w)
{
	if (w->now.max > w->target)
		return true;
	if (w->in->depth == FTR_BALANCE_LOAD)
		return w->now.sum > w->first.sum;
	return w->now.sum >= w->net->n_pos;	/* below, no link has two flows in any shift */
}

static enum ftr_status full_sweeps(struct work *w, uint64_t over, struct ftr_err *err)
{
	struct balance_sweep *s = &w->sweep;
	bool small = w->paths < SMALL, large = w->paths > LARGE;
	bool load = w->in->depth == FTR_BALANCE_LOAD;
	uint32_t sweeps = small ? 2 * FULL_SWEEPS : large ? LARGE_SWEEPS : FULL_SWEEPS;

	*s = (struct balance_sweep){ .price = {
		.target = w->target, .over = large ? FTR_MAX(over, LARGE_OVER) : over,
		.idle = true,
	} };
	balance_price_shifts(&s->price, w->loads.width, FULL_POWER, FULL_SCALE);
	for (uint32_t n = 0; n < sweeps && is_uneven(w); n++) {
		uint64_t before = w->now.sum;
		enum ftr_status st;

		s->meet = !load ? too_many(w) : n < OVER_SWEEPS ? UINT16_MAX : too_many(w);
		st = sweep(w, err);
		if (st || w->r->cancelled || (!s->moved && (!load || n >= OVER_SWEEPS)))
			return st;
		if (w->now.max <= w->target && n >= (small ? sweeps / 2 : 1) &&
		    w->now.sum + before / GAIN_SHARE > before)
			break;
		s->price.over *= small ? FULL_RISE / 4 : FULL_RISE;
	}
	return FTR_OK;
}

/* On very small fabrics, repeat all sweeps, beginning with the low cost.  The result is often
 * better, because flows that got a common link at the high cost are separated again. */
static enum ftr_status full_rounds(struct work *w, struct ftr_err *err)
{
	uint32_t rounds = w->paths < ROUNDS_PATHS ? ROUNDS : 1;
	enum ftr_status st = FTR_OK;

	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t before = w->r->sweeps;

		st = full_sweeps(w, FULL_OVER, err);
		if (st || w->r->cancelled || w->r->sweeps == before)
			break;
	}
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
	keep_if_best(w);
	st = load_sweeps(w, err);
	return st || w->r->cancelled ? st : full_sweeps(w, EVEN_OVER, err);
}

/* ---- displaced entries ------------------------------------------------------------------- */

static void clear_entries(struct work *w)
{
	for_each_entry(w->net, &w->place, d, i)
		w->copy[d].entry[w->place.sw[i]] = FTR_PORT_NONE;
}

/* Put the ports of placed entries into the tables.  An entry that got no port keeps that of the
 * tables; returns true if there is one. */
static bool put_back(struct work *w)
{
	bool kept = false;

	for_each_entry(w->net, &w->place, d, i) {
		ftr_sw s = w->place.sw[i];
		uint8_t *placed = &w->copy[d].entry[s];
		uint8_t *entry = &ftr_tables_row(w->t, s)[w->net->dest[d].lid];

		if (*placed == FTR_PORT_NONE) {
			*placed = *entry;
			kept = true;
		}
		*entry = *placed;
	}
	return kept;
}

/* True if a changed entry has a port, is not to be placed, and flows may pass it. */
static bool differs(const struct work *w, const struct balance_base *base)
{
	for (uint32_t d = 0; d < w->net->n_dests; d++)
		for (uint32_t i = w->changed->first[d], k = w->place.first[d];
		     i < w->changed->first[d + 1]; i++) {
			ftr_sw s = w->changed->sw[i];

			if (k < w->place.first[d + 1] && w->place.sw[k] == s)
				k++;
			else if (!(base && balance_base_idle(base, s, d)) &&
				 w->copy[d].entry[s] != FTR_PORT_NONE)
				return true;
		}
	return false;
}

/* Count in the bins the flows that have passed a displaced entry.  (Flows end at an entry without a
 * port.) */
static enum ftr_status count_displaced(struct work *w, const struct balance_place *place,
				       struct ftr_err *err)
{
	const struct ftr_tables *prefer = place->prefer;
	struct flow_dest *copy = NULL;
	enum ftr_status st;

	st = balance_bins_new(&w->loads, w->net->most_hosts, err);
	if (st || !prefer || !differs(w, place->base))
		return st;
	st = balance_copy_new(w->net, prefer, w->team, &copy, err);
	if (!st)
		balance_count_displaced(&w->loads, w->copy, copy);
	free(copy);
	return st;
}

static enum ftr_status place_entries(struct work *w, const struct balance_place *place,
				     bool *loop, struct ftr_err *err)
{
	const struct balance_base *base = place->base;
	struct balance_sweep *s = &w->sweep;
	enum ftr_status st = balance_subset_new(w->net, place->bits, &w->place, err);

	w->changed = place->changed == w->in->movable ? &w->movable : &w->differ;
	if (!st && place->prefer)
		st = balance_subset_new(w->net, place->changed, w->changed, err);
	if (!st)
		st = base ? balance_base_copy(base, w->changed, w->t, &w->copy, err) :
			balance_copy_new(w->net, w->t, w->team, &w->copy, err);
	if (st)
		return st;
	clear_entries(w);
	st = base ? balance_base_flows(base, w->changed, w->copy, &w->loads, err) :
		balance_count_flows(&w->loads, w->t, w->copy, w->team, loop, err);
	if (st || *loop)
		return st;
	st = count_displaced(w, place, err);
	if (!st && w->place.first[w->net->n_dests] > w->net->f->n_sw && !balance_sort_costs(w->net))
		st = ftr_nomem(err, "balancing");
	if (st)
		return st;
	s->only = &w->place;
	s->place = true;
	balance_place_price(w->net, w->in->shape, w->loads.width, &s->price);
	st = balance_sweep(&w->loads, w->copy, s, err);
	return !st && put_back(w) ?
		balance_count_flows(&w->loads, w->t, w->copy, w->team, loop, err) : st;
}

/* ---- the search --------------------------------------------------------------------------- */

/* Prepare sweeps: copy the tables, and count the shifts. */
static enum ftr_status prepare(struct work *w, struct ftr_err *err)
{
	size_t all = (size_t)w->net->links.n_rows * w->net->n_pos * sizeof(*w->loads.bins);
	enum ftr_status st = FTR_OK;

	if (!w->copy)
		st = balance_copy_new(w->net, w->t, w->team, &w->copy, err);
	if (!st && w->in->movable && !w->movable.first)
		st = balance_subset_new(w->net, w->in->movable, &w->movable, err);
	if (!st) {
		w->best_entry = ftr_malloc(best_bytes(w) + 1);
		if (!w->best_entry || !(w->in->movable || balance_sort_costs(w->net)))
			return ftr_nomem(err, "balancing");
		save_best(w);
	}
	if (!st && w->shifts)
		st = balance_bins_new(&w->loads, (uint32_t)(all / BINS_BYTES) + 1, err);
	if (!st && w->shifts)
		st = balance_count_shifts(&w->loads, w->copy, true, w->team, &w->now.sum, err);
	w->r->cancelled = w->now.sum == BALANCE_CANCELLED;
	return st;
}

static double mean(const struct work *w, uint64_t sum)
{
	return sum == BALANCE_CANCELLED ? 0 :
		(double)sum / (w->net->n_pos - 1);
}

static void report(struct work *w)
{
	struct ftr_balance_report *r = w->r;

	r->hosts = w->net->n_hosts;
	r->max_before = w->first.all;
	r->max_after = w->best.all;
	r->rail_before = w->first.rail;
	r->rail_after = w->best.rail;
	if (w->in->depth == FTR_BALANCE_FULL) {
		r->shift_before = mean(w, w->first.sum);
		r->shift_after = mean(w, w->best.sum);
	}
	if (w->best_entry)
		r->moved = w->in->movable ? write_movable(w) : write_all(w);
}

static enum ftr_status search(struct work *w, struct ftr_err *err)
{
	bool full = w->in->depth == FTR_BALANCE_FULL;
	enum ftr_status st = FTR_OK;

	balance_bins_free(&w->loads);
	set_max(w);
	w->paths = (uint64_t)w->net->n_sources * w->net->n_pos;
	w->shifts = full || (w->paths < TINY && w->now.max > w->target);
	if (w->shifts || w->now.max > w->target)
		st = prepare(w, err);
	w->first = w->best = w->now;
	if (!st && full && !w->r->cancelled) {
		st = full_rounds(w, err);
		if (!st && !w->r->cancelled &&
		    w->best.max > w->target + w->target / EVEN_SHARE)
			st = even_out(w, err);
	} else if (!st && !w->r->cancelled) {
		st = w->shifts ? full_sweeps(w, EVEN_OVER, err) : load_sweeps(w, err);
	}
	if (!st)
		report(w);
	return st;
}

static enum ftr_status run(struct work *w, const struct balance_place *place, struct ftr_err *err)
{
	bool loop = false;
	enum ftr_status st;

	w->r->bound = w->in->depth ? w->net->bound : 0;
	w->target = balance_target(w->net->bound);
	st = balance_loads_new(w->net, &w->loads, err);
	if (!st && place)
		st = place_entries(w, place, &loop, err);
	else if (!st)
		st = balance_count_flows(&w->loads, w->t, NULL, w->team, &loop, err);
	if (st || loop || !w->in->depth || w->net->n_pos < 2)
		return st;
	return search(w, err);
}

enum ftr_status balance_run(const struct ftr_balance_input *in,
			    const struct balance_place *place, struct ftr_tables *t,
			    struct ftr_team *team, struct ftr_balance_report *report,
			    struct ftr_err *err)
{
	struct ftr_balance_report unused;
	struct work w = { .in = in, .t = t, .team = team, .r = report ? report : &unused };
	enum ftr_status st;

	memset(w.r, 0, sizeof(*w.r));
	if (in->depth == FTR_BALANCE_OFF && !place)
		return FTR_OK;
	st = balance_net_new(in, &w.net, err);
	if (!st)
		st = run(&w, place, err);
	balance_loads_free(&w.loads);
	free(w.copy);
	free(w.best_entry);
	balance_subset_free(&w.place);
	balance_subset_free(&w.movable);
	balance_subset_free(&w.differ);
	balance_net_free(w.net);
	return st;
}
