// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the load of families of patterns, divided among the threads of a team.  A family is a
 * set of patterns of one kind: shifts, random permutations or bisections.  This file also computes
 * the load of a list of pairs of host ports.
 *
 * For each pattern, a worker clears its array of loads (part[worker].load) and adds the flows of
 * the pattern.  Then it stores the load of the most loaded link in max[number of the pattern].
 *
 * Sums over patterns do not depend on which worker has which pattern.  The worst pattern is the
 * first pattern with the greatest value in max[].  Its loads are computed again at the end, to find
 * its most loaded links.
 *
 * In a pattern every host port receives at most one flow.  So no link carries more flows than
 * there are LIDs, and a load fits 16 bits.  The loads of 46,656 links take 91 KB and stay in the
 * L2 cache.  In a shift, consecutive sources on one leaf send to consecutive places.  So their
 * paths are adjacent in memory.
 *
 * The search for balance counts shifts by itself (src/core/balance/shifts.c gives the reasons).
 */
#include <stdlib.h>
#include <string.h>

#include "check/link_load.h"

_Static_assert(FTR_LID_MAX <= UINT16_MAX, "a load fits 16 bits");

enum kind { SHIFT, PERMUTATION, BISECTION };

struct part {
	uint16_t *load;		/* [n_links + LOAD_PSEUDO] number of flows on each link */
	uint32_t *perm;		/* [n_filled] scratch: a permutation */
	uint32_t *walk;		/* [n_sw] scratch: a path */
	uint64_t flows, lost, sum_load, sum_used;
};

struct run {			/* consecutive places on one switch */
	uint32_t first, n;
	ftr_sw sw;
};

struct family {
	const struct ftr_load *ld;
	enum kind kind;
	uint32_t n;		/* number of patterns */
	uint32_t *k;		/* shift of each pattern */
	uint64_t *seed;		/* seed of each random pattern */
	uint32_t *max;		/* load of the most loaded link in each pattern */
	struct run *run;	/* shifts: all runs */
	uint32_t n_runs;
	struct part *part;
};

/* ---- one pattern --------------------------------------------------------- */

static void add_words(uint16_t *load, const uint32_t *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		load[word[i]]++;
}

/* Add one flow, from the host port in place i to the host port in place j. */
static void add_flow(const struct ftr_load *ld, struct part *w, uint32_t i,
		     uint32_t j)
{
	const struct ftr_endport *from = &ld->f->ep[ld->order[i]];
	uint32_t hops;

	if (ld->path) {
		add_words(w->load, load_path(ld, from->sw, j), ld->hops);
		return;
	}
	hops = load_walk(ld, from->sw, ld->f->ep[ld->order[j]].lid, w->walk);
	if (hops == LOAD_NONE)
		w->load[ld->n_links + LOAD_LOST]++;
	else
		add_words(w->load, w->walk, hops);
}

static uint64_t add_shift(const struct family *y, struct part *w, uint32_t k)
{
	const struct ftr_load *ld = y->ld;

	for (uint32_t r = 0; ld->path && r < y->n_runs; r++) {
		const struct run *run = &y->run[r];
		uint32_t j = (uint32_t)(((uint64_t)run->first + k) % ld->n);
		uint32_t n = FTR_MIN(run->n, ld->n - j);

		add_words(w->load, load_path(ld, run->sw, j),
			  (size_t)n * ld->hops);
		add_words(w->load, load_path(ld, run->sw, 0),
			  (size_t)(run->n - n) * ld->hops);
	}
	for (uint32_t i = 0; !ld->path && i < ld->n_filled; i++) {
		uint32_t j = (uint32_t)(((uint64_t)ld->filled[i] + k) % ld->n);

		if (ld->order[j] == FTR_EP_NONE)
			w->load[ld->n_links + LOAD_GAP]++;
		else
			add_flow(ld, w, ld->filled[i], j);
	}
	return ld->n_filled - w->load[ld->n_links + LOAD_GAP];
}

/* Add the flows of a pattern. Returns their number. */
static uint64_t add_pattern(const struct family *y, struct part *w, uint32_t at)
{
	const struct ftr_load *ld = y->ld;
	uint32_t half = ld->n_filled / 2;
	uint64_t flows = 0;
	struct ftr_rng rng;

	if (y->kind == SHIFT)
		return add_shift(y, w, y->k[at]);
	ftr_rng_seed(&rng, y->seed[at]);
	ftr_rng_perm(&rng, w->perm, ld->n_filled);
	if (y->kind == BISECTION) {
		for (uint32_t i = 0; i < half; i++)
			add_flow(ld, w, ld->filled[w->perm[i]],
				 ld->filled[w->perm[half + i]]);
		return half;
	}
	for (uint32_t i = 0; i < ld->n_filled; i++) {
		if (w->perm[i] == i)
			continue;
		add_flow(ld, w, ld->filled[i], ld->filled[w->perm[i]]);
		flows++;
	}
	return flows;
}

static void clear(const struct ftr_load *ld, struct part *w)
{
	memset(w->load, 0,
	       ((size_t)ld->n_links + LOAD_PSEUDO) * sizeof(*w->load));
}

static void count_patterns(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct family *y = ctx;
	const struct ftr_load *ld = y->ld;
	struct part *w = &y->part[worker];

	for (uint32_t i = begin; i < end; i++) {
		uint32_t used = 0;
		uint64_t sum = 0;
		uint16_t max = 0;

		clear(ld, w);
		w->flows += add_pattern(y, w, i);
		w->lost += w->load[ld->n_links + LOAD_LOST];
		for (uint32_t l = 0; l < ld->n_links; l++) {
			max = FTR_MAX(max, w->load[l]);
			used += w->load[l] > 0;
			sum += w->load[l];
		}
		w->sum_load += sum;
		w->sum_used += used;
		y->max[i] = max;
	}
}

/* ---- a family ------------------------------------------------------------ */

static bool new_parts(struct family *y, struct ftr_arena *a,
		      unsigned int workers)
{
	const struct ftr_load *ld = y->ld;

	if (!FTR_NEW(a, y->max, y->n) || !FTR_ZNEW(a, y->part, workers))
		return false;
	for (unsigned int i = 0; i < workers; i++) {
		struct part *w = &y->part[i];

		if (!FTR_NEW(a, w->load, (size_t)ld->n_links + LOAD_PSEUDO) ||
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
	uint64_t *load = ftr_calloc((size_t)ld->n_links + 1, sizeof(*load));
	uint64_t flows;

	if (!load)
		return false;
	clear(ld, w);
	flows = add_pattern(y, w, r->worst);
	for (uint32_t l = 0; l < ld->n_links; l++)
		load[l] = w->load[l];
	r->host_max = flows > w->load[ld->n_links + LOAD_LOST];
	load_report_links(ld, load, r);
	free(load);
	if (y->kind == SHIFT)
		r->worst = y->k[r->worst];
	return true;
}

static enum ftr_status run_loadrun(struct family *y, struct ftr_arena *a,
				   struct ftr_team *team, struct ftr_load_report *out,
				   struct ftr_err *err)
{
	struct ftr_load_report r = { 0 };
	bool ok = new_parts(y, a, ftr_team_size(team));

	if (ok && !y->n) {
		r.hosts = y->ld->n_filled;
		r.links = y->ld->n_links;
	} else if (ok) {
		ftr_team_run(team, y->n, 1, count_patterns, y);
		summarise(y, ftr_team_size(team), &r);
		ok = report_worst(y, &r);
	}
	ftr_arena_free(a);
	if (!ok)
		return ftr_nomem(err, "the load of %u links under %u patterns", y->ld->n_links,
				 y->n);
	*out = r;
	return FTR_OK;
}

/* ---- shifts -------------------------------------------------------------- */

static bool set_runs(struct family *y, struct ftr_arena *a)
{
	const struct ftr_load *ld = y->ld;
	struct run *at = NULL;

	if (!FTR_NEW(a, y->run, ld->n_filled))
		return false;
	for (uint32_t i = 0; i < ld->n_filled; i++) {
		uint32_t place = ld->filled[i];
		ftr_sw s = ld->f->ep[ld->order[place]].sw;

		if (!at || at->sw != s || at->first + at->n != place) {
			at = &y->run[y->n_runs++];
			*at = (struct run){ place, 0, s };
		}
		at->n++;
	}
	return true;
}

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

	if (!a || !set_runs(&y, a) || !set_shifts(&y, a, all, seed)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "%u shifts", y.n);
	}
	return run_loadrun(&y, a, team, out, err);
}

enum ftr_status ftr_load_shift_by_port(const struct ftr_load *ld, uint32_t k,
				       uint64_t *by_port, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct family y = { .ld = ld };
	struct part w;

	if (!a || !set_runs(&y, a) || !FTR_NEW(a, w.walk, ld->f->n_sw) ||
	    !FTR_ZNEW(a, w.load, (size_t)ld->n_links + LOAD_PSEUDO)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the load of %u links", ld->n_links);
	}
	add_shift(&y, &w, k);
	memset(by_port, 0, ld->f->n_ports * sizeof(*by_port));
	for (uint32_t l = 0; l < ld->n_links; l++)
		by_port[ld->link_port[l]] = w.load[l];
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
	return run_loadrun(&y, a, team, out, err);
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

static void add_pair(const struct ftr_load *ld, struct pairs *w,
		     const struct ftr_load_pair *p, struct ftr_load_report *r)
{
	const struct ftr_endport *from = &ld->f->ep[p->from];
	const struct ftr_endport *to = &ld->f->ep[p->to];
	uint32_t hops = LOAD_NONE;

	if (p->from == p->to)
		return;
	r->flows++;
	if (chk_is_source(from) && chk_is_source(to))
		hops = load_walk(ld, from->sw, to->lid, w->walk);
	if (hops == LOAD_NONE) {
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
	if (!a || !FTR_ZNEW(a, w.load, ld->n_links) || !FTR_ZNEW(a, w.sent, f->n_ep) ||
	    !FTR_ZNEW(a, w.got, f->n_ep) || !FTR_NEW(a, w.walk, f->n_sw) ||
	    !FTR_ZNEW(a, named, f->n_ep)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the load of %u links", ld->n_links);
	}
	for (uint32_t i = 0; i < n; i++) {
		named[pair[i].from] = 1;
		named[pair[i].to] = 1;
		add_pair(ld, &w, &pair[i], &r);
	}
	sum_hosts(ld, &w, named, &r);
	load_report_one(ld, w.load, &r);
	if (by_port)
		load_by_port(ld, w.load, by_port);
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
		ftr_nomem(err, "the load of %u links", ld->n_links);
	for (uint32_t i = 0; !st && i < n; i++) {
		const struct ftr_endport *from = &ld->f->ep[pair[i].from];
		const struct ftr_endport *to = &ld->f->ep[pair[i].to];
		uint32_t hops = LOAD_NONE;

		if (chk_is_source(from) && chk_is_source(to))
			hops = load_walk(ld, from->sw, to->lid, walk);
		most[i] = hops == LOAD_NONE ? UINT64_MAX : 0;
		for (uint32_t h = 0; hops != LOAD_NONE && h < hops; h++)
			most[i] = FTR_MAX(most[i], by_port[ld->link_port[walk[h]]]);
	}
	free(by_port);
	free(walk);
	return st;
}
