// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the load of families of patterns, divided among the threads of a team.  A family is a
 * set of patterns of one kind: shifts, random permutations or bisections.  This file also computes
 * the load of a list of pairs of host ports.
 *
 * For each pattern, a worker clears its array of loads (part[worker].load) and follows each flow.
 * Then it stores the load of the most loaded link in max[number of the pattern].  If all shifts are
 * wanted, they are counted together (flow_count.c).
 *
 * Sums over patterns do not depend on which worker has which pattern.  The worst pattern is the
 * first pattern with the greatest value in max[].  Its loads are computed again at the end, to find
 * its most loaded links.
 *
 * In a pattern every host port receives at most one flow.  So no link carries more flows than
 * there are LIDs, and a load fits 16 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "check/link_load.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

_Static_assert(FTR_LID_MAX <= UINT16_MAX, "a load fits 16 bits");

enum kind { SHIFT, PERMUTATION, BISECTION };

struct part {
	uint16_t *load;		/* [f->n_ports] number of flows on each link */
	uint16_t *most;		/* [n] scratch: loads of the most loaded link */
	uint32_t *perm;		/* [n_filled] scratch: a permutation */
	uint32_t *walk;		/* [n_sw] scratch: a path */
	uint64_t flows, lost, sum_load, sum_used;
};

struct family {
	const struct ftr_load *ld;
	enum kind kind;
	uint32_t n;		/* number of patterns */
	uint32_t *k;		/* shift of each pattern */
	uint64_t *seed;		/* seed of each random pattern */
	uint32_t *max;		/* load of the most loaded link in each pattern */
	struct part *part;
};

/* ---- one pattern --------------------------------------------------------- */

/* Add one flow, from the host port in place i to the host port in place j. */
static void add_flow(const struct ftr_load *ld, struct part *w, uint32_t i, uint32_t j)
{
	uint32_t hops = flow_walk(&ld->net, &ld->dest[ld->dest_at[j]],
				  ld->f->ep[ld->order[i]].sw, w->walk);

	w->flows++;
	w->lost += hops == FLOW_NONE;
	for (uint32_t h = 0; hops != FLOW_NONE && h < hops; h++)
		w->load[w->walk[h]]++;
}

static void add_shift(const struct ftr_load *ld, struct part *w, uint32_t k)
{
	for (uint32_t i = 0; i < ld->n_filled; i++) {
		uint32_t j = (uint32_t)(((uint64_t)ld->filled[i] + k) % ld->n);

		if (ld->dest_at[j] != FLOW_NONE)
			add_flow(ld, w, ld->filled[i], j);
	}
}

/* Add the flows of a pattern. */
static void add_pattern(const struct family *y, struct part *w, uint32_t at)
{
	const struct ftr_load *ld = y->ld;
	uint32_t half = ld->n_filled / 2;
	struct ftr_rng rng;

	memset(w->load, 0, ld->f->n_ports * sizeof(*w->load));
	if (y->kind == SHIFT) {
		add_shift(ld, w, y->k[at]);
		return;
	}
	ftr_rng_seed(&rng, y->seed[at]);
	ftr_rng_perm(&rng, w->perm, ld->n_filled);
	for (uint32_t i = 0; y->kind == BISECTION && i < half; i++)
		add_flow(ld, w, ld->filled[w->perm[i]], ld->filled[w->perm[half + i]]);
	for (uint32_t i = 0; y->kind == PERMUTATION && i < ld->n_filled; i++)
		if (w->perm[i] != i)
			add_flow(ld, w, ld->filled[i], ld->filled[w->perm[i]]);
}

static void count_patterns(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct family *y = ctx;
	struct part *w = &y->part[worker];

	for (uint32_t i = begin; i < end; i++) {
		add_pattern(y, w, i);
		for (uint32_t x = 0; x < y->ld->f->n_ports; x++) {
			y->max[i] = FTR_MAX(y->max[i], w->load[x]);
			w->sum_used += w->load[x] > 0;
			w->sum_load += w->load[x];
		}
	}
}

/* Adds the counts of one link in n shifts: n * 65,535 fits 32 bits. */
static void add_row(struct part *w, const uint16_t *restrict row, uint16_t *restrict most, uint32_t n)
{
	uint32_t used = 0, sum = 0;

	for (uint32_t k = 0; k < n; k++)
		most[k] = FTR_MAX(most[k], row[k]);
	for (uint32_t k = 0; k < n; k++)
		used += row[k] > 0;
	for (uint32_t k = 0; k < n; k++)
		sum += row[k];
	w->sum_used += used;
	w->sum_load += sum;
}

/* Takes the counts of a slice of all shifts; pattern i is shift i + 1. */
static void take_slice(void *ctx, const struct flow_slice *b)
{
	const struct family *y = ctx;
	struct part *w = &y->part[b->worker];
	uint32_t n = b->end - b->begin, first = b->begin ? 0 : 1;

	memset(w->most, 0, n * sizeof(*w->most));
	for (uint32_t x = 0; x < y->ld->net.n_rows; x++)
		add_row(w, b->n + (size_t)x * n + first, w->most + first, n - first);
	for (uint32_t k = first; k < n; k++)
		y->max[b->begin + k - 1] = w->most[k];
	w->flows += b->flows;
	w->lost += b->lost;
	/* in shift 0 every host sends to itself */
	for (uint32_t i = 0; first && i < y->ld->n_filled; i++) {
		w->flows--;
		w->lost -= y->ld->dest[i].to == FTR_SW_NONE;
	}
}

/* The filled places as sources: each has consecutive places on one switch. */
static struct flow_source *runs(const struct ftr_load *ld, struct ftr_arena *a, uint32_t *n)
{
	struct flow_source *run = ftr_arena_alloc(a, ld->n_filled + 1u, sizeof(*run)), *at = NULL;

	*n = 0;
	for (uint32_t i = 0; run && i < ld->n_filled; i++) {
		uint32_t place = ld->filled[i];
		ftr_sw s = ld->f->ep[ld->order[place]].sw;

		if (!at || at->sw != s || at->first + at->n != place) {
			at = &run[(*n)++];
			*at = (struct flow_source){ .sw = s, .first = place };
		}
		at->n++;
	}
	return run;
}

static enum ftr_status all_shifts(struct family *y, struct ftr_arena *a, struct ftr_team *team,
				  struct ftr_err *err)
{
	struct flow_shifts z = {
		.net = &y->ld->net, .dest = y->ld->dest, .dest_at = y->ld->dest_at,
		.n = y->ld->n, .multiple = 1, .fn = take_slice, .ctx = y,
	};

	z.source = runs(y->ld, a, &z.n_sources);
	return z.source ? flow_count_shifts(&z, team, err) : ftr_nomem(err, "%u shifts", y->n);
}

/* ---- a family ------------------------------------------------------------ */

static bool new_parts(struct family *y, struct ftr_arena *a,
		      unsigned int workers)
{
	const struct ftr_load *ld = y->ld;

	if (!FTR_ZNEW(a, y->max, y->n) || !FTR_ZNEW(a, y->part, workers))
		return false;
	for (unsigned int i = 0; i < workers; i++) {
		struct part *w = &y->part[i];

		if (!FTR_ZNEW(a, w->load, ld->f->n_ports) || !FTR_NEW(a, w->most, ld->n) ||
		    !FTR_NEW(a, w->perm, ld->n_filled) ||
		    !FTR_NEW(a, w->walk, ld->f->n_sw))
			return false;
	}
	return true;
}

static void summarise(const struct family *y, unsigned int workers,
		      struct ftr_load_report *r)
{
	r->hosts = y->ld->n_filled;
	r->patterns = y->n;
	for (unsigned int i = 0; i < workers; i++) {
		r->flows += y->part[i].flows;
		r->lost += y->part[i].lost;
		r->sum_load += y->part[i].sum_load;
		r->sum_used += y->part[i].sum_used;
	}
	r->min_max = UINT64_MAX;
	for (uint32_t i = 0; i < y->n; i++) {
		if (!i || y->max[i] > r->max) {
			r->max = y->max[i];
			r->worst = i;
		}
		r->min_max = FTR_MIN(r->min_max, y->max[i]);
		r->sum_max += y->max[i];
	}
	for (uint32_t i = 0; i < y->n; i++)
		load_bin(&r->maxima, r->max, y->max[i]);
}

static bool report_worst(const struct family *y, struct ftr_load_report *r)
{
	const struct ftr_load *ld = y->ld;
	struct part *w = &y->part[0];
	uint64_t *load = ftr_calloc((size_t)ld->f->n_ports + 1, sizeof(*load));

	if (!load)
		return false;
	w->flows = w->lost = 0;
	add_pattern(y, w, r->worst);
	for (uint32_t x = 0; x < ld->f->n_ports; x++)
		load[x] = w->load[x];
	r->host_max = w->flows > w->lost;
	load_report_links(ld, load, r);
	free(load);
	if (y->kind == SHIFT)
		r->worst = y->k[r->worst];
	return true;
}

/* all: all shifts are wanted. */
static enum ftr_status run_family(struct family *y, bool all, struct ftr_arena *a,
				  struct ftr_team *team, struct ftr_load_report *out,
				  struct ftr_err *err)
{
	struct ftr_load_report r = { .hosts = y->ld->n_filled, .links = y->ld->net.n_rows };
	bool ok = new_parts(y, a, ftr_team_size(team));

	if (ok && all)
		ok = !all_shifts(y, a, team, err);
	else if (ok)
		ftr_team_run(team, y->n, 1, count_patterns, y);
	if (ok && y->n) {
		summarise(y, ftr_team_size(team), &r);
		ok = report_worst(y, &r);
	}
	ftr_arena_free(a);
	if (!ok)
		return ftr_nomem(err, "the load of %u links under %u patterns", y->ld->net.n_rows,
				 y->n);
	*out = r;
	return FTR_OK;
}

/* ---- shifts -------------------------------------------------------------- */

/* Set y->k to the shifts 1 .. all. If y->n < all, choose y->n of them at random, sorted. */
static bool set_shifts(struct family *y, struct ftr_arena *a, uint32_t all,
		       uint64_t seed)
{
	struct ftr_rng rng;

	if (!FTR_NEW(a, y->k, all))
		return false;
	if (y->n < all) {
		ftr_rng_seed(&rng, seed);
		ftr_rng_perm(&rng, y->k, all);
		qsort(y->k, y->n, sizeof(*y->k), ftr_u32_cmp);
	}
	for (uint32_t i = 0; i < y->n; i++)
		y->k[i] = (y->n < all ? y->k[i] : i) + 1;
	return true;
}

enum ftr_status ftr_load_shifts(const struct ftr_load *ld, uint32_t sample,
				uint64_t seed, struct ftr_team *team,
				struct ftr_load_report *out,
				struct ftr_err *err)
{
	uint32_t all = ld->n ? ld->n - 1 : 0;
	struct family y = { .ld = ld, .kind = SHIFT,
			    .n = sample && sample < all ? sample : all };
	struct ftr_arena *a = ftr_arena_new();

	if (!a || !set_shifts(&y, a, all, seed)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "%u shifts", y.n);
	}
	return run_family(&y, y.n && y.n == all, a, team, out, err);
}

enum ftr_status ftr_load_shift_by_port(const struct ftr_load *ld, uint32_t k,
				       uint64_t *by_port, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct part w = { .flows = 0 };

	if (!a || !FTR_NEW(a, w.walk, ld->f->n_sw) || !FTR_ZNEW(a, w.load, ld->f->n_ports)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the load of %u links", ld->net.n_rows);
	}
	add_shift(ld, &w, k);
	for (uint32_t x = 0; x < ld->f->n_ports; x++)
		by_port[x] = w.load[x];
	ftr_arena_free(a);
	return FTR_OK;
}

/* ---- random patterns ----------------------------------------------------- */

static enum ftr_status run_random(const struct ftr_load *ld, enum kind kind,
				  uint32_t count, uint64_t seed,
				  struct ftr_team *team,
				  struct ftr_load_report *out,
				  struct ftr_err *err)
{
	struct family y = { .ld = ld, .kind = kind, .n = count };
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_rng rng;

	if (a)
		FTR_NEW(a, y.seed, count);
	if (!y.seed) {
		ftr_arena_free(a);
		return ftr_nomem(err, "%u patterns", count);
	}
	ftr_rng_seed(&rng, seed);
	for (uint32_t i = 0; i < count; i++)
		y.seed[i] = ftr_rng_next(&rng);
	return run_family(&y, false, a, team, out, err);
}

enum ftr_status ftr_load_permutations(const struct ftr_load *ld, uint32_t count,
				      uint64_t seed, struct ftr_team *team,
				      struct ftr_load_report *out,
				      struct ftr_err *err)
{
	return run_random(ld, PERMUTATION, count, seed, team, out, err);
}

enum ftr_status ftr_load_bisections(const struct ftr_load *ld, uint32_t count,
				    uint64_t seed, struct ftr_team *team,
				    struct ftr_load_report *out,
				    struct ftr_err *err)
{
	return run_random(ld, BISECTION, count, seed, team, out, err);
}

/* ---- the caller's pairs -------------------------------------------------- */

struct pairs {
	uint64_t *load, *sent, *got;
	uint32_t *walk;
};

static uint32_t walk_pair(const struct ftr_load *ld, const struct ftr_load_pair *p, uint32_t *walk)
{
	struct flow_dest d = load_dest(ld, p->to);

	return chk_is_source(&ld->f->ep[p->from]) ?
		flow_walk(&ld->net, &d, ld->f->ep[p->from].sw, walk) : FLOW_NONE;
}

static void add_pair(const struct ftr_load *ld, struct pairs *w,
		     const struct ftr_load_pair *p, struct ftr_load_report *r)
{
	uint32_t hops;

	if (p->from == p->to)
		return;
	r->flows++;
	hops = walk_pair(ld, p, w->walk);
	if (hops == FLOW_NONE) {
		r->lost++;
		return;
	}
	for (uint32_t h = 0; h < hops; h++)
		w->load[w->walk[h]]++;
	w->sent[p->from]++;
	w->got[p->to]++;
}

static void sum_hosts(const struct ftr_load *ld, const struct pairs *w,
		      const uint8_t *named, struct ftr_load_report *r)
{
	for (ftr_ep e = 0; e < ld->f->n_ep; e++) {
		r->hosts += named[e];
		r->host_max = FTR_MAX(r->host_max, w->sent[e]);
		r->host_max = FTR_MAX(r->host_max, w->got[e]);
	}
}

enum ftr_status ftr_load_pairs(const struct ftr_load *ld,
			       const struct ftr_load_pair *pair, uint32_t n,
			       uint64_t *by_port, struct ftr_load_report *out,
			       struct ftr_err *err)
{
	struct ftr_load_report r = { .patterns = 1 };
	const struct ftr_fabric *f = ld->f;
	struct ftr_arena *a;
	struct pairs w;
	uint8_t *named;

	for (uint32_t i = 0; i < n; i++)
		if (pair[i].from >= f->n_ep || pair[i].to >= f->n_ep)
			return ftr_fail(err, FTR_INVAL, "pair %u names host ports %u and %u, but the fabric has %u host ports",
					i, pair[i].from, pair[i].to, f->n_ep);
	a = ftr_arena_new();
	if (!a || !FTR_ZNEW(a, w.load, f->n_ports) || !FTR_ZNEW(a, w.sent, f->n_ep) ||
	    !FTR_ZNEW(a, w.got, f->n_ep) || !FTR_NEW(a, w.walk, f->n_sw) ||
	    !FTR_ZNEW(a, named, f->n_ep)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the load of %u links", ld->net.n_rows);
	}
	for (uint32_t i = 0; i < n; i++) {
		named[pair[i].from] = 1;
		named[pair[i].to] = 1;
		add_pair(ld, &w, &pair[i], &r);
	}
	sum_hosts(ld, &w, named, &r);
	load_report_one(ld, w.load, &r);
	if (by_port)
		memcpy(by_port, w.load, f->n_ports * sizeof(*by_port));
	ftr_arena_free(a);
	*out = r;
	return FTR_OK;
}

enum ftr_status ftr_load_pairs_most(const struct ftr_load *ld, const struct ftr_load_pair *pair,
				    uint32_t n, uint64_t *most, struct ftr_err *err)
{
	uint64_t *by_port = ftr_calloc(ld->f->n_ports, sizeof(*by_port));
	uint32_t *walk = ftr_calloc((size_t)ld->f->n_sw + 1, sizeof(*walk));
	struct ftr_load_report r;
	enum ftr_status st;

	st = by_port && walk ? ftr_load_pairs(ld, pair, n, by_port, &r, err) :
		ftr_nomem(err, "the load of %u links", ld->net.n_rows);
	for (uint32_t i = 0; !st && i < n; i++) {
		uint32_t hops = walk_pair(ld, &pair[i], walk);

		most[i] = hops == FLOW_NONE ? UINT64_MAX : 0;
		for (uint32_t h = 0; hops != FLOW_NONE && h < hops; h++)
			most[i] = FTR_MAX(most[i], by_port[walk[h]]);
	}
	free(by_port);
	free(walk);
	return st;
}
