// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the load of families of patterns, divided among the threads of a team.  A family is a
 * set of patterns of one kind: shifts, random permutations or bisections.  This file also computes
 * the load of a list of pairs of host ports.
 *
 * The patterns are counted by flow_count.c.  The load of the most loaded link of each is stored in
 * max[number of the pattern].  Sums over patterns do not depend on which worker has which pattern.
 * The worst pattern is the first pattern with the greatest value in max[].  It is counted again at
 * the end, to find its most loaded links.
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

/* The size of a batch of random patterns, as a number of senders: a batch is drawn, then counted.  It
 * takes 16 MB. */
#define BATCH_SENDERS ((uint32_t)4 << 20)

enum kind { SHIFT, PERMUTATION, BISECTION };

struct part {
	uint16_t *most;		/* [n] scratch: loads of the most loaded link */
	uint32_t *perm;		/* [n_filled] scratch: a permutation */
	uint64_t flows, lost, sum_load, sum_used;
};

struct family {
	const struct ftr_load *ld;
	enum kind kind;
	uint32_t n;		/* number of patterns */
	uint32_t *k;		/* shift of each pattern */
	uint64_t *seed;		/* seed of each random pattern */
	uint32_t first;		/* random patterns: the batch begins with this pattern */
	ftr_sw *from;		/* the senders of the batch (struct flow_patterns) */
	struct part *part;
	/* results */
	uint32_t *max;		/* load of the most loaded link in each pattern */
	uint64_t *by_port;	/* NULL if there is more than one pattern */
};

/* ---- patterns ------------------------------------------------------------ */

static void draw_pattern(const struct family *y, struct part *w, uint64_t seed, ftr_sw *from)
{
	const struct ftr_load *ld = y->ld;
	uint32_t n = ld->n_filled, half = n / 2;
	struct ftr_rng rng;

	memset(from, 0xff, ld->n * sizeof(*from));
	ftr_rng_seed(&rng, seed);
	ftr_rng_perm(&rng, w->perm, n);
	for (uint32_t i = 0; y->kind == BISECTION && i < half; i++)
		from[ld->filled[w->perm[half + i]]] = ld->sw[ld->filled[w->perm[i]]];
	for (uint32_t i = 0; y->kind == PERMUTATION && i < n; i++)
		if (w->perm[i] != i)
			from[ld->filled[w->perm[i]]] = ld->sw[ld->filled[i]];
}

static void draw_patterns(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct family *y = ctx;

	for (uint32_t i = begin; i < end; i++)
		draw_pattern(y, &y->part[worker], y->seed[y->first + i],
			     y->from + (size_t)i * y->ld->n);
}

/* Adds the flows of one link. */
static void add_link(struct part *w, const uint16_t *restrict n, uint16_t *restrict most, uint32_t len)
{
	uint16_t used = 0;	/* a slice has fewer than 2^16 patterns */
	uint32_t sum = 0;	/* len * 65,535 fits 32 bits */

	for (uint32_t k = 0; k < len; k++) {
		most[k] = FTR_MAX(most[k], n[k]);
		used = (uint16_t)(used + (n[k] > 0));
	}
	for (uint32_t k = 0; k < len; k++)
		sum += n[k];
	w->sum_used += used;
	w->sum_load += sum;
}

static void take_slice(void *ctx, const struct flow_slice *b)
{
	const struct family *y = ctx;
	const struct flow_net *net = &y->ld->net;
	struct part *w = &y->part[b->worker];
	uint32_t len = b->end - b->begin;

	memset(w->most, 0, len * sizeof(*w->most));
	for (uint32_t x = 0; x < net->f->n_ports; x++) {
		const uint16_t *n;

		if (net->row[x] == FLOW_NONE)
			continue;
		n = flow_slice_link(b, net->row[x]);
		add_link(w, n, w->most, len);
		if (y->by_port)
			y->by_port[x] = n[0];
	}
	for (uint32_t k = 0; k < len; k++)
		y->max[y->first + b->begin + k] = w->most[k];
	w->flows += b->flows;
	w->lost += b->lost;
}

static enum ftr_status count_family(struct family *y, struct ftr_arena *a, struct ftr_team *team,
				    struct ftr_err *err)
{
	const struct ftr_load *ld = y->ld;
	uint32_t batch = y->kind == SHIFT ? y->n : FTR_MIN(y->n, BATCH_SENDERS / (ld->n + 1) + 1);
	struct flow_patterns z = {
		.net = &ld->net, .dest = ld->dest, .dest_at = ld->dest_at, .n = ld->n,
		.n_patterns = batch, .multiple = 1, .fn = take_slice, .ctx = y,
	};
	bool ok = FTR_ZNEW(a, y->max, y->n) && FTR_ZNEW(a, y->part, ftr_team_size(team));

	for (unsigned int i = 0; i < ftr_team_size(team); i++)
		ok = ok && FTR_NEW(a, y->part[i].most, batch) && FTR_NEW(a, y->part[i].perm, ld->n);
	if (ok && y->kind == SHIFT)
		ok = flow_set_shifts(&z, a, ld->sw, y->k);
	else if (ok)
		ok = FTR_NEW(a, y->from, (size_t)batch * ld->n);
	if (!ok)
		return ftr_nomem(err, "%u patterns", y->n);
	for (; y->first < y->n; y->first += batch) {
		enum ftr_status st;

		z.n_patterns = FTR_MIN(batch, y->n - y->first);
		z.from = y->from;
		if (y->from)
			ftr_team_run(team, z.n_patterns, 1, draw_patterns, y);
		st = flow_count_patterns(&z, team, err);
		if (st)
			return st;
	}
	return FTR_OK;
}

/* ---- a family ------------------------------------------------------------ */

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

/* Counts the pattern r->worst of y again. */
static enum ftr_status report_worst(const struct family *y, struct ftr_arena *a,
				    struct ftr_load_report *r, struct ftr_err *err)
{
	struct family one = {
		.ld = y->ld, .kind = y->kind, .n = 1, .k = y->k + r->worst,
		.seed = y->seed + r->worst,
	};
	enum ftr_status st = FTR_ZNEW(a, one.by_port, y->ld->f->n_ports) ?
		count_family(&one, a, NULL, err) : ftr_nomem(err, "the worst of %u patterns", y->n);

	if (st)
		return st;
	r->host_max = one.part->flows > one.part->lost;
	load_report_links(y->ld, one.by_port, r);
	if (y->kind == SHIFT)
		r->worst = *one.k;
	return FTR_OK;
}

static enum ftr_status run_family(struct family *y, struct ftr_arena *a, struct ftr_team *team,
				  struct ftr_load_report *out, struct ftr_err *err)
{
	struct ftr_load_report r = { .hosts = y->ld->n_filled, .links = y->ld->net.n_rows };
	enum ftr_status st = count_family(y, a, team, err);

	if (!st && y->n) {
		summarise(y, ftr_team_size(team), &r);
		st = report_worst(y, a, &r, err);
	}
	ftr_arena_free(a);
	if (!st)
		*out = r;
	return st;
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
	return run_family(&y, a, team, out, err);
}

/* ---- random patterns ----------------------------------------------------- */

static enum ftr_status run_random(struct family y, uint64_t seed, struct ftr_team *team,
				  struct ftr_load_report *out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_rng rng;

	if (a)
		FTR_NEW(a, y.seed, y.n);
	if (!y.seed) {
		ftr_arena_free(a);
		return ftr_nomem(err, "%u patterns", y.n);
	}
	ftr_rng_seed(&rng, seed);
	for (uint32_t i = 0; i < y.n; i++)
		y.seed[i] = ftr_rng_next(&rng);
	return run_family(&y, a, team, out, err);
}

enum ftr_status ftr_load_permutations(const struct ftr_load *ld, uint32_t count,
				      uint64_t seed, struct ftr_team *team,
				      struct ftr_load_report *out,
				      struct ftr_err *err)
{
	return run_random((struct family){ .ld = ld, .kind = PERMUTATION, .n = count }, seed, team,
			  out, err);
}

enum ftr_status ftr_load_bisections(const struct ftr_load *ld, uint32_t count,
				    uint64_t seed, struct ftr_team *team,
				    struct ftr_load_report *out,
				    struct ftr_err *err)
{
	return run_random((struct family){ .ld = ld, .kind = BISECTION, .n = count }, seed, team,
			  out, err);
}

/* ---- the caller's pairs -------------------------------------------------- */

static uint32_t walk_pair(const struct ftr_load *ld, const struct ftr_transfer *p, uint32_t *walk)
{
	struct flow_dest d = load_dest(ld, p->to);

	return chk_is_source(&ld->f->ep[p->from]) ?
		flow_walk(&ld->net, &d, ld->f->ep[p->from].sw, walk) : FLOW_NONE;
}

/* Returns false if the flow of the pair does not arrive. */
static bool add_pair(const struct ftr_load *ld, const struct ftr_transfer *p, uint64_t *load,
		     uint32_t *walk)
{
	uint32_t hops = walk_pair(ld, p, walk);

	for (uint32_t h = 0; hops != FLOW_NONE && h < hops; h++)
		load[walk[h]]++;
	return hops != FLOW_NONE;
}

enum ftr_status ftr_load_pairs(const struct ftr_load *ld,
			       const struct ftr_transfer *pair, uint32_t n,
			       uint64_t *by_port, struct ftr_load_report *out,
			       struct ftr_err *err)
{
	struct ftr_load_report r = { .patterns = 1 };
	const struct ftr_fabric *f = ld->f;
	struct ftr_arena *a;
	uint64_t *load, *sent, *got;
	uint32_t *walk;
	uint8_t *named;

	for (uint32_t i = 0; i < n; i++)
		if (pair[i].from >= f->n_ep || pair[i].to >= f->n_ep)
			return ftr_fail(err, FTR_INVAL, "pair %u names host ports %u and %u, but the fabric has %u host ports",
					i, pair[i].from, pair[i].to, f->n_ep);
	a = ftr_arena_new();
	if (!a || !FTR_ZNEW(a, load, f->n_ports) || !FTR_ZNEW(a, sent, f->n_ep) ||
	    !FTR_ZNEW(a, got, f->n_ep) || !FTR_NEW(a, walk, f->n_sw) ||
	    !FTR_ZNEW(a, named, f->n_ep)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the load of %u links", ld->net.n_rows);
	}
	for (uint32_t i = 0; i < n; i++) {
		named[pair[i].from] = 1;
		named[pair[i].to] = 1;
		if (pair[i].from == pair[i].to)
			continue;
		r.flows++;
		if (!add_pair(ld, &pair[i], load, walk)) {
			r.lost++;
			continue;
		}
		sent[pair[i].from]++;
		got[pair[i].to]++;
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		r.hosts += named[e];
		r.host_max = FTR_MAX(r.host_max, FTR_MAX(sent[e], got[e]));
	}
	load_report_one(ld, load, &r);
	if (by_port)
		memcpy(by_port, load, f->n_ports * sizeof(*by_port));
	ftr_arena_free(a);
	*out = r;
	return FTR_OK;
}

enum ftr_status ftr_load_pairs_most(const struct ftr_load *ld, const struct ftr_transfer *pair,
				    uint32_t n, uint64_t *most, struct ftr_err *err)
{
	uint64_t *by_port = ftr_calloc(ld->f->n_ports, sizeof(*by_port));
	uint32_t *walk = ftr_calloc((size_t)ld->f->n_sw + 1, sizeof(*walk));
	struct ftr_load_report r;
	enum ftr_status st;

	st = by_port && walk ? ftr_load_pairs(ld, pair, n, by_port, &r, err) :
		ftr_nomem(err, "the load of %u links", ld->net.n_rows);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hops;

		if (st)
			break;
		hops = walk_pair(ld, &pair[i], walk);

		most[i] = hops == FLOW_NONE ? UINT64_MAX : 0;
		for (uint32_t h = 0; hops != FLOW_NONE && h < hops; h++)
			most[i] = FTR_MAX(most[i], by_port[walk[h]]);
	}
	free(by_port);
	free(walk);
	return st;
}
