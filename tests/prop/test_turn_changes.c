// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the extra turns of dmodc while links and switches fail and return.  An extra turn
 * leads from a downward to an upward link.
 *
 * Two tests search for credit loops of old and new tables together.  The third one checks
 * the numbers of unreachable pairs of leaves that incremental routing reports.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"
#include "lib/follow.h"
#include "lib/irregular.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

static void must(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

/* ---- old and new tables together ----------------------------------------- */

#define PORTS (FTR_PORT_MAX + 1u)

struct routed {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_route_stats stats;
};

struct mix {
	const struct ftr_fabric *f;
	struct ftr_shape *sh;
	uint8_t *dead;			/* [port] 1: the link is missing */
	uint8_t *held;			/* [switch][LID] the entry that the switch holds */
	uint32_t lids;
	uint8_t *edge;			/* [port][port of the next switch] 1: packets go from the
					 * link at the first port to that at the second */
	enum ftr_paths paths;
	struct routed now;
};

static struct {
	uint32_t routings, with_turns, lost, returned, lost_loops, returned_loops, reordered;
} sum;

static bool is_up(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	return !((struct mix *)ctx)->dead[f->sw[s].first_port + p];
}

static void unroute(struct routed *r)
{
	ftr_tables_free(r->t);
	ftr_shape_free(r->sh);
	ftr_fabric_free(r->f);
	free(r->stats.turn);
	memset(r, 0, sizeof(*r));
}

/* Without the turns of an earlier routing, dmodc must not connect all pairs either. */
static void must_reorder(const struct ftr_shape *sh, struct ftr_route_opts o)
{
	struct ftr_route_stats stats = { 0 };
	struct ftr_tables *t;

	o.keep_turns = false;
	o.n_turns = 0;
	must(ftr_tables_new(sh->f, false, &t, &err));
	must(ftr_engine_find("dmodc")->route(sh, &o, NULL, t, &stats, &err));
	ck_assert(stats.reordered);
	sum.reordered++;
	ftr_tables_free(t);
}

/* Route the fabric with its present links and the turns of turn[].  A missing switch has no links;
 * its turns are dropped. */
static void route(struct mix *m, const struct ftr_turn *turn, uint32_t n)
{
	struct ftr_filter filter = { .keep_link = is_up, .ctx = m };
	struct ftr_shape_opts so = { .nominal = m->sh };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct routed r = { 0 };

	o.paths = m->paths;
	o.keep_turns = true;
	o.turn = turn;
	o.n_turns = n;
	must(ftr_fabric_copy_if(m->f, &filter, &r.f, &err));
	must(ftr_shape_new(r.f, m->sh ? &so : NULL, NULL, &r.sh, &err));
	must(ftr_tables_new(r.f, false, &r.t, &err));
	must(ftr_engine_find("dmodc")->route(r.sh, &o, NULL, r.t, &r.stats, &err));
	if (n && r.stats.reordered)
		must_reorder(r.sh, o);
	unroute(&m->now);
	m->now = r;
}

static ftr_sw next_switch(const struct mix *m, ftr_sw s, uint8_t p)
{
	const struct ftr_swport *port;

	if (!p || p > m->f->sw[s].n_ports || m->dead[m->f->sw[s].first_port + p])
		return FTR_SW_NONE;
	port = ftr_fabric_port(m->f, s, p);
	return port->peer_kind == FTR_PEER_SW ? port->peer : FTR_SW_NONE;
}

/* Returns the entry that the switch holds (k is 0), or the new entry (k is 1). */
static uint8_t entry(const struct mix *m, int k, ftr_sw s, uint32_t lid)
{
	return k ? ftr_tables_get(m->now.t, s, (ftr_lid)lid) :
		m->held[(size_t)s * m->lids + lid];
}

/* Set edge[] to the channel dependencies that are possible if each entry may be the old or the new
 * one, and all switches send packets. */
static void note_edges(struct mix *m)
{
	memset(m->edge, 0, (size_t)m->f->n_ports * PORTS);
	for (uint32_t lid = 1; lid < m->lids; lid++)
		for (ftr_sw s = 0; s < m->f->n_sw; s++)
			for (int k = 0; k < 4; k++) {
				uint8_t p = entry(m, k & 1, s, lid), q;
				ftr_sw t = next_switch(m, s, p);

				if (t == FTR_SW_NONE)
					continue;
				q = entry(m, k >> 1, t, lid);
				if (next_switch(m, t, q) != FTR_SW_NONE)
					m->edge[((size_t)m->f->sw[s].first_port + p) *
						PORTS + q] = 1;
			}
}

/* Kahn's algorithm: remove a channel if no packet in another channel waits for it, and repeat.
 * Returns true if channels remain: they contain a loop. */
static bool has_loop(struct mix *m)
{
	const struct ftr_fabric *f = m->f;
	uint32_t *waits = calloc(f->n_ports, sizeof(*waits)), n = 0;
	uint32_t *queue = calloc(f->n_ports, sizeof(*queue));

	ck_assert(waits && queue);
	note_edges(m);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t x = 0, i = 0; pass ? i < n : x < f->n_ports; x++, i++) {
			uint32_t c = pass ? queue[i] : x;
			const struct ftr_swport *port = &f->ports[c];

			for (uint32_t q = 1; port->peer_kind == FTR_PEER_SW &&
			     q <= f->sw[port->peer].n_ports; q++) {
				uint32_t y = f->sw[port->peer].first_port + q;

				if (!m->edge[(size_t)c * PORTS + q])
					continue;
				if (!pass)
					waits[y]++;
				else if (!--waits[y])
					queue[n++] = y;
			}
		}
		for (uint32_t x = 0; !pass && x < f->n_ports; x++)
			if (!waits[x])
				queue[n++] = x;
	}
	free(waits);
	free(queue);
	return n < f->n_ports;
}

static void set_link(struct mix *m, ftr_sw s, uint32_t p, bool dead)
{
	const struct ftr_swport *port = ftr_fabric_port(m->f, s, (ftr_port)p);

	if (port->peer_kind != FTR_PEER_SW)
		return;
	m->dead[m->f->sw[s].first_port + p] = dead;
	m->dead[m->f->sw[port->peer].first_port + port->peer_port] = dead;
}

static bool has_links(const struct mix *m, ftr_sw s)
{
	for (unsigned int p = 1; p <= m->f->sw[s].n_ports; p++)
		if (next_switch(m, s, (uint8_t)p) != FTR_SW_NONE)
			return true;
	return false;
}

static void write_tables(struct mix *m)
{
	for (ftr_sw s = 0; s < m->f->n_sw; s++)
		if (has_links(m, s))
			memcpy(m->held + (size_t)s * m->lids,
			       ftr_tables_row(m->now.t, s), m->lids);
}

#define PARTS 3

/* Switches (with all their links) or single links fail, one after the other, and then return in the
 * same order; with up/down paths only, also all at the same time.  Each routing gets the extra turns of the previous one, as in the plugin. */
static void fail_and_return(struct mix *m, struct ftr_rng *r, bool links)
{
	ftr_sw s[PARTS];
	uint32_t p[PARTS], n = 1 + ftr_rng_below(r, PARTS);
	bool together = m->paths == FTR_PATHS_UPDOWN && ftr_rng_below(r, 2);

	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t k = i % n;
		struct ftr_turn *turn = m->now.stats.turn;
		uint32_t n_turns = m->now.stats.n_turns;
		bool by_rank = m->now.stats.by_rank, last = i == 2 * n - 1, loop;

		if (i < n) {
			uint32_t tries = 1000;

			do {
				s[k] = ftr_rng_below(r, m->f->n_sw);
				p[k] = 1 + ftr_rng_below(r, m->f->sw[s[k]].n_ports);
			} while (--tries && next_switch(m, s[k], (uint8_t)p[k]) == FTR_SW_NONE);
		}
		for (unsigned int q = 1; q <= m->f->sw[s[k]].n_ports; q++)
			if (!links || q == p[k])
				set_link(m, s[k], q, i < n);
		if (together && k + 1 < n)
			continue;
		m->now.stats.turn = NULL;
		route(m, last || !by_rank ? NULL : turn, last || !by_rank ? 0 : n_turns);
		free(turn);
		if (by_rank && m->now.stats.by_rank) {
			loop = has_loop(m);
			sum.routings++;
			sum.with_turns += n_turns > 0;
			*(i < n ? &sum.lost : &sum.returned) += 1;
			*(i < n ? &sum.lost_loops : &sum.returned_loops) += loop;
		}
		write_tables(m);
	}
}

static void mix_one(struct ftr_fabric *f, struct ftr_rng *r, bool links, enum ftr_paths paths)
{
	struct mix m = { .f = f, .lids = f->max_lid + 1u, .paths = paths };

	m.dead = calloc(f->n_ports, 1);
	m.held = calloc(f->n_sw, m.lids);
	m.edge = malloc((size_t)f->n_ports * PORTS);
	ck_assert(m.dead && m.held && m.edge);
	memset(m.held, FTR_PORT_NONE, (size_t)f->n_sw * m.lids);
	must(ftr_shape_new(f, NULL, NULL, &m.sh, &err));
	route(&m, NULL, 0);
	write_tables(&m);
	ck_assert(!m.now.stats.by_rank || !has_loop(&m));
	fail_and_return(&m, r, links);
	unroute(&m.now);
	ftr_shape_free(m.sh);
	free(m.dead);
	free(m.held);
	free(m.edge);
	ftr_fabric_free(f);
}

static void show(const char *fabrics, bool links)
{
	printf("%s, %s: %u routings, %u with extra turns; %u with an inverted order, also without earlier turns; old and new tables together have a credit loop after %u of %u failures and %u of %u returns\n",
	       fabrics, links ? "links" : "switches", sum.routings, sum.with_turns, sum.reordered,
	       sum.lost_loops, sum.lost, sum.returned_loops, sum.returned);
}

/* On a PGFT with up/down paths, old and new tables together must have no credit loop.  _i is 1 if
 * links fail, 0 if switches fail. */
START_TEST(old_and_new_tables_of_trees)
{
	memset(&sum, 0, sizeof(sum));
	for (uint32_t i = 0; i < trees_runs(200); i++) {
		uint64_t seed = trees_first_seed() + i;
		struct ftr_pgft g;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		trees_random_pgft(&r, &g, false, 30);
		mix_one(trees_grow(&g, seed, 0), &r, _i, FTR_PATHS_UPDOWN);
	}
	show("PGFTs, up/down paths", _i);
	ck_assert_uint_gt(sum.routings, 0);
	ck_assert_uint_eq(sum.lost_loops + sum.returned_loops, 0);
}
END_TEST

/* The same on irregular fabrics.  Credit loops are possible there (docs/design.md, invariant 3),
 * and are only counted. */
START_TEST(old_and_new_tables)
{
	memset(&sum, 0, sizeof(sum));
	for (uint32_t i = 0; i < trees_runs(200); i++) {
		struct ftr_rng r;

		ftr_rng_seed(&r, trees_first_seed() + i);
		mix_one(irregular_small(&r), &r, _i, FTR_PATHS_ALL);
	}
	show("irregular", _i);
	runs_show(sum.with_turns > 0 && sum.lost_loops > 0 && sum.returned_loops > 0);
}
END_TEST

/* ---- pairs in incremental tables ------------------------------------------ */

static bool arrives(const struct ftr_shape *sh, const struct ftr_incr *lv, ftr_sw at, ftr_sw to,
		    ftr_lid lid)
{
	for (uint32_t hops = 0; at != to && hops < sh->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(ftr_incr_tables(lv), at, lid);

		if (p == FTR_PORT_NONE || !ftr_incr_alive(lv, at, p))
			return false;
		at = ftr_fabric_port(sh->f, at, p)->peer;
	}
	return at == to;
}

/* unreachable[i * n_leaf + j] is 1 if packets from leaf i to a LID of leaf j or of its hosts do not
 * arrive at leaf j. */
static uint8_t *unreachable(const struct ftr_shape *sh, const struct ftr_incr *lv)
{
	const uint32_t *first = sh->numbering.dest_first;
	uint32_t n = sh->tree.n_leaf;
	uint8_t *u = calloc((size_t)n * n + 1, 1);

	ck_assert_ptr_nonnull(u);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			for (uint32_t d = first[j]; d < first[j + 1]; d++)
				u[i * n + j] |= !arrives(sh, lv, sh->numbering.col_sw[i],
							 sh->numbering.col_sw[j],
							 sh->numbering.dest[d].lid);
	return u;
}

static struct {
	uint32_t applies, both, spared;
	uint64_t bad, lost, regained;
} pairs;

/* Let a few links fail or return.  The reported numbers of pairs must equal those that are counted
 * by following all paths. */
static void apply(struct ftr_rng *r, const struct ftr_shape *sh, struct ftr_incr *lv,
		  uint64_t seed)
{
	size_t n_pairs = (size_t)sh->tree.n_leaf * sh->tree.n_leaf;
	uint8_t *before = unreachable(sh, lv), *after;
	const struct ftr_incr_result *res;
	uint64_t bad = 0, now = 0, lost = 0, regained = 0;
	struct ftr_incr_event ev[4];
	enum ftr_status st;
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2000 && n < FTR_ARRAY_LEN(ev); i++) {
		ftr_sw s = ftr_rng_below(r, sh->f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(r, sh->f->sw[s].n_ports));

		if (ftr_incr_connected(lv, s, p))
			ev[n++] = (struct ftr_incr_event){ s, p, !ftr_incr_alive(lv, s, p) };
	}
	for (size_t i = 0; i < n_pairs; i++)
		bad += before[i];
	ftr_incr_spare(lv, ftr_rng_below(r, 4));
	for (ftr_lid lid = 1; lid <= sh->f->max_lid && seed % 2; lid++)
		if (lid % 3)
			ftr_incr_refuse(lv, lid);
	ck_assert_msg(lv->now.bad_pairs == bad, "seed %" PRIu64 ": %" PRIu64
		      " unreachable pairs, counted %" PRIu64, seed, bad, lv->now.bad_pairs);
	st = ftr_incr_apply(lv, ev, n, &res, &err);
	ck_assert(!st || st == FTR_REFUSED);
	if (!st) {
		after = unreachable(sh, lv);
		for (size_t i = 0; i < n_pairs; i++) {
			now += after[i];
			lost += after[i] && !before[i];
			regained += before[i] && !after[i];
		}
		ck_assert_msg(res->bad_pairs == now && res->lost_pairs == lost &&
			      res->regained_pairs == regained, "seed %" PRIu64 ": %" PRIu64
			      " unreachable pairs, %" PRIu64 " lost, %" PRIu64
			      " regained; counted %" PRIu64 ", %" PRIu64 ", %" PRIu64, seed, now,
			      lost, regained, res->bad_pairs, res->lost_pairs,
			      res->regained_pairs);
		pairs.applies++;
		pairs.both += lost && regained;
		pairs.spared += res->n_spared > 0;
		pairs.bad += now;
		pairs.lost += lost;
		pairs.regained += regained;
		free(after);
	}
	free(before);
}

/* Call fn eight times for the incremental tables of a random fabric, unless an order of the switches
 * replaces its ranks. */
static void change_some(uint64_t seed, void (*fn)(struct ftr_rng *r, const struct ftr_shape *sh,
						  struct ftr_incr *lv, uint64_t seed))
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { 0 };
	struct ftr_tables *t = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_incr *lv = NULL;
	struct ftr_fabric *f;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	f = seed % 4 ? irregular_small(&r) :
		irregular_two_trees(&r, 1 + seed % 8, seed % 2, 3);
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	o.keep_turns = true;
	must(ftr_engine_find("dmodc")->route(sh, &o, NULL, t, &stats, &err));
	o.turn = stats.turn;
	o.n_turns = stats.n_turns;
	if (stats.by_rank) {
		must(ftr_incr_new(sh, NULL, t, &o, &lv, &err));
		for (int i = 0; i < 8; i++)
			fn(&r, sh, lv, seed);
		ftr_incr_free(lv);
	}
	free(stats.turn);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

START_TEST(pairs_are_counted)
{
	for (uint32_t i = 0; i < trees_runs(300); i++)
		change_some(trees_first_seed() + i, apply);
	printf("%u changes of links: %" PRIu64 " unreachable pairs of leaf switches, %" PRIu64
	       " lost, %" PRIu64 " regained; %u changes with lost and regained pairs, %u with spared entries\n",
	       pairs.applies, pairs.bad, pairs.lost, pairs.regained, pairs.both, pairs.spared);
	runs_show(pairs.both > 0 && pairs.spared > 0);
}
END_TEST

/* ---- spared entries ------------------------------------------------------------ */

static struct {
	uint32_t applies, spared, loops;
	uint32_t kept, left;	/* entries of refused LIDs */
} spares;

static struct ftr_tables *copy_of(const struct ftr_incr *lv, const struct ftr_fabric *f)
{
	const struct ftr_tables *t = ftr_incr_tables(lv);
	struct ftr_tables *copy = NULL;

	must(ftr_tables_new(f, false, &copy, &err));
	memcpy(copy->lft, t->lft, (size_t)t->n_sw * t->stride);
	return copy;
}

static bool holds(const struct ftr_incr *lv, const struct ftr_tables *t)
{
	return !memcmp(ftr_incr_tables(lv)->lft, t->lft, (size_t)t->n_sw * t->stride);
}

/* Make each allocation of ftr_incr_apply() fail.  Each time the tables stay as they are.  The last call
 * succeeds and is undone. */
static void without_memory(struct ftr_incr *lv, const struct ftr_incr_event *ev, uint32_t n,
			   const struct ftr_tables *before)
{
	const struct ftr_incr_result *res;
	enum ftr_status st = FTR_NOMEM;

	for (unsigned long k = 1; st == FTR_NOMEM; k++) {
		ftr_alloc_fail_at(k);
		st = ftr_incr_apply(lv, ev, n, &res, &err);
		ftr_alloc_fail_at(0);
		ck_assert(!st || holds(lv, before));
	}
	ck_assert(st || ftr_incr_undo(lv));
}

/* The tables after the events, which are then undone.  odd: LIDs with an odd number are refused. */
static struct ftr_tables *after_events(struct ftr_incr *lv, const struct ftr_fabric *f,
				       const struct ftr_incr_event *ev, uint32_t n, bool odd)
{
	const struct ftr_incr_result *res;
	struct ftr_tables *t;

	ftr_incr_spare(lv, odd);
	for (uint32_t lid = 1; odd && lid <= f->max_lid; lid += 2)
		ftr_incr_refuse(lv, (ftr_lid)lid);
	must(ftr_incr_apply(lv, ev, n, &res, &err));
	t = copy_of(lv, f);
	ck_assert(ftr_incr_undo(lv));
	return t;
}

/* Refused LIDs keep the entries whose old paths work, and no others.  could: the old paths that work. */
static void refuse_odd(struct ftr_incr *lv, const struct ftr_fabric *f,
		       const struct ftr_incr_event *ev, uint32_t n,
		       const struct ftr_tables *before, const uint8_t *could)
{
	struct ftr_tables *new = after_events(lv, f, ev, n, false);
	struct ftr_tables *got = after_events(lv, f, ev, n, true);

	for (uint32_t lid = 1; lid <= f->max_lid; lid += 2) {
		if (f->owner[lid].kind != FTR_OWNER_EP)
			continue;
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ftr_port old = ftr_tables_get(before, s, (ftr_lid)lid);
			ftr_port to = ftr_tables_get(new, s, (ftr_lid)lid);
			bool stays = could[(size_t)lid * f->n_sw + s];

			ck_assert_uint_eq(ftr_tables_get(got, s, (ftr_lid)lid), stays ? old : to);
			spares.kept += stays && old != to;
			spares.left += !stays && old != to;
		}
	}
	ftr_tables_free(new);
	ftr_tables_free(got);
	ftr_incr_spare(lv, true);
}

/* Some links fail, or all of them return.  A path that no fault has broken must still work.  An undo
 * must bring back the tables, and the same events must have the same result again. */
static void spare_one(struct ftr_rng *r, const struct ftr_shape *sh, struct ftr_incr *lv,
		      uint64_t seed)
{
	const struct ftr_fabric *f = sh->f;
	struct ftr_tables *before = copy_of(lv, f), *after;
	size_t n = (size_t)f->n_sw * (f->max_lid + 1u);
	uint8_t *could = calloc(n, 1), *can = calloc(n, 1);
	const struct ftr_incr_result *res;
	struct ftr_incr_event ev[64];
	uint32_t k = 0, spared, waiting;
	bool up = !ftr_rng_below(r, 4);

	ftr_incr_spare(lv, true);
	for (int i = 0; i < 2000 && k < (up ? FTR_ARRAY_LEN(ev) : 3); i++) {
		ftr_sw s = ftr_rng_below(r, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(r, f->sw[s].n_ports));

		if (ftr_incr_connected(lv, s, p))
			ev[k++] = (struct ftr_incr_event){ s, p, up };
	}
	if (ftr_incr_apply(lv, ev, k, &res, &err))
		goto out;
	spared = res->n_spared;
	after = copy_of(lv, f);
	follow_all(lv, f, before, false, could);
	waiting = follow_all(lv, f, after, false, can);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(!could[i] || can[i], "seed %" PRIu64 ": a working path to LID %zu is cut",
			      seed, i / f->n_sw);
	ck_assert_msg(!waiting || spared, "seed %" PRIu64 ": a credit loop without spared entries",
		      seed);
	ck_assert(ftr_incr_undo(lv));
	ck_assert_msg(holds(lv, before), "seed %" PRIu64 ": an undo does not bring back the tables",
		      seed);
	if (spared)
		without_memory(lv, ev, k, before);
	refuse_odd(lv, f, ev, k, before, could);
	must(ftr_incr_apply(lv, ev, k, &res, &err));
	ck_assert(res->n_spared == spared && holds(lv, after));
	spares.applies++;
	spares.spared += spared > 0;
	spares.loops += waiting > 0;
	ftr_tables_free(after);
out:
	ftr_tables_free(before);
	free(could);
	free(can);
}

START_TEST(working_paths_stay)
{
	for (uint32_t i = 0; i < trees_runs(300); i++)
		change_some(trees_first_seed() + i, spare_one);
	printf("%u changes of links, %u with spared entries; a credit loop after %u; entries of refused LIDs: %u stay, %u do not\n",
	       spares.applies, spares.spared, spares.loops, spares.kept, spares.left);
	runs_show(spares.spared && spares.kept && spares.left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("changes of extra turns");
	TCase *t = tcase_create("changes of extra turns");

	tcase_add_loop_test(t, old_and_new_tables_of_trees, 0, 2);
	tcase_add_loop_test(t, old_and_new_tables, 0, 2);
	tcase_add_test(t, pairs_are_counted);
	tcase_add_test(t, working_paths_stay);
	suite_add_tcase(s, t);
	return run_suite(s);
}
