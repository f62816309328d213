// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the search for tables in which the most loaded link has fewer flows, and the lower bounds
 * of this load.  The bounds are compared with values worked out by hand.  Some entries must not
 * change, the search is cancelled at every moment, and tables are kept or made from scratch.  For
 * random fabrics see tests/prop/test_balance_recount.c.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "lib/dual.h"
#include "lib/edit.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

/* start: tables of dmodc with default options.  t: the tables after the search. */
struct tree {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *start, *t;
};

static size_t bytes_of(const struct ftr_tables *t)
{
	return (size_t)t->n_sw * t->stride;
}

static void tree_shape(struct tree *w, struct ftr_fabric *f)
{
	*w = (struct tree){ .f = f };
	ck_assert_msg(!ftr_shape_new(f, NULL, NULL, &w->sh, &err), "%s",
		      err.msg);
	ck_assert(!ftr_tables_new(f, false, &w->start, &err));
	ck_assert(!ftr_tables_new(f, false, &w->t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(w->sh, NULL, NULL, w->start,
						   NULL, &err));
	memcpy(w->t->lft, w->start->lft, bytes_of(w->t));
}

static struct ftr_fabric *pgft(const char *shape, unsigned int links,
			       uint64_t seed)
{
	struct ftr_damage d = { .seed = seed, .links = links };
	struct ftr_fabric *f = NULL, *out = NULL;

	ck_assert_msg(!ftr_gen_shape(shape, NULL, &f, &err), "%s", err.msg);
	ck_assert_msg(!ftr_gen_damage(f, &d, &out, &err), "%s", err.msg);
	ftr_fabric_free(f);
	return out;
}

static void tree_free(struct tree *w)
{
	ftr_tables_free(w->start);
	ftr_tables_free(w->t);
	ftr_shape_free(w->sh);
	ftr_fabric_free(w->f);
}

static struct ftr_balance_report balance(struct tree *w,
					 struct ftr_balance_input in)
{
	struct ftr_balance_report r;

	in.shape = w->sh;
	memcpy(w->t->lft, w->start->lft, bytes_of(w->t));
	ck_assert_msg(!balance_run(&in, NULL, w->t, NULL, &r, &err), "%s",
		      err.msg);
	return r;
}

/* ---- bounds ------------------------------------------------------------------ */

static uint32_t bound_of(struct ftr_fabric *f)
{
	struct tree w;
	uint32_t bound = 0;

	tree_shape(&w, f);
	ck_assert(!ftr_balance_bound(w.sh, NULL, &bound, &err));
	tree_free(&w);
	return bound;
}

static bool is_spine(const struct ftr_fabric *f, ftr_sw s)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw == s)
			return false;
	return true;
}

static uint32_t ordinal(const struct ftr_fabric *f, ftr_sw s)
{
	uint32_t n = 0;

	for (ftr_sw t = 0; t < s; t++)
		n += is_spine(f, t) == is_spine(f, s);
	return n;
}

/* The tree has two halves, each with 4 leaf switches and 2 spines.  Returns true if s is a leaf
 * switch and peer is a spine of the other half. */
static bool crosses(const struct ftr_fabric *f, ftr_sw s, ftr_sw peer)
{
	return !is_spine(f, s) && is_spine(f, peer) &&
		ordinal(f, s) / 4 != ordinal(f, peer) / 2;
}

static struct ftr_fabric *cut_crossing(const struct ftr_fabric *f)
{
	struct edit e = EDIT_NOTHING;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW ||
			    !crosses(f, s, port->peer))
				continue;
			e.cut_sw = s;
			e.cut_port = (ftr_port)p;
			return edit_seal(edit_open(f, &e));
		}
	return NULL;
}

static unsigned int free_port(const struct ftr_fabric *f, ftr_sw s)
{
	unsigned int p = 1;

	while (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind != FTR_PEER_NONE)
		p++;
	return p;
}

/* Two trees, joined by one link between spines.  Each tree has 2 spines and 4 leaf switches, with
 * 4 hosts on each leaf switch. */
static struct ftr_fabric *two_trees(void)
{
	const struct edit nothing = EDIT_NOTHING;
	struct ftr_fabric *f = pgft("2;4,8;1,4;1,1", 0, 0), *next;
	ftr_sw a = FTR_SW_NONE, b = FTR_SW_NONE;
	struct ftr_builder *build;

	while ((next = cut_crossing(f))) {
		ftr_fabric_free(f);
		f = next;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (is_spine(f, s) && ordinal(f, s) == 0)
			a = s;
		if (is_spine(f, s) && ordinal(f, s) == 3)
			b = s;
	}
	build = edit_open(f, &nothing);
	edit_plug(build, f->sw[a].guid, free_port(f, a), f->sw[b].guid,
		  free_port(f, b));
	next = edit_seal(build);
	ftr_fabric_free(f);
	return next;
}

START_TEST(bounds_by_hand)
{
	/* 4 leaves, each with 4 hosts and 4 upward links: 4 hosts * 12 others / 4 links */
	ck_assert_uint_eq(bound_of(pgft("2;4,4;1,4;1,1", 0, 0)), 12);
	/* one leaf has lost an upward link: 4 hosts * 12 others / 3 links */
	ck_assert_uint_eq(bound_of(pgft("2;4,4;1,4;1,1", 1, 0)), 16);
	/* bound of a pod: 16 hosts * 16 others / 8 links.  That of a leaf is less: 4 * 28 / 4. */
	ck_assert_uint_eq(bound_of(pgft("3;4,4,2;1,4,2;1,1,1", 0, 0)), 32);
	/* a single switch has no link to another switch */
	ck_assert_uint_eq(bound_of(pgft("1;5;1;1", 0, 0)), 0);
	/* all flows between the trees cross one link: 16 hosts * 16 others */
	ck_assert_uint_eq(bound_of(two_trees()), 256);
}
END_TEST

/* Two pairs of switches, with links only within each pair.  No flows go from one pair to the
 * other, so the bound is that of one pair. */
START_TEST(unconnected_parts_are_bounded_alone)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;

	for (uint64_t sw = 1; sw <= 4; sw++)
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = sw << 8, .n_ports = 8, .name = "s",
		}, &err));
	for (uint64_t sw = 1; sw <= 4; sw++)
		for (ftr_port p = 1; p <= 3; p++) {
			uint64_t guid = sw << 8 | p << 4;

			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1,
				.port_num = 1, .name = "h",
			}, &err));
			ck_assert(!ftr_builder_add_link(b, (struct ftr_end){
				guid, 1
			}, (struct ftr_end){ sw << 8, p }, 4, FTR_SPEED_EDR,
							&err));
		}
	for (uint64_t sw = 1; sw <= 3; sw += 2)
		ck_assert(!ftr_builder_add_link(b, (struct ftr_end){
			sw << 8, 8
		}, (struct ftr_end){ (sw + 1) << 8, 8 }, 4, FTR_SPEED_EDR,
						&err));
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert_uint_eq(bound_of(f), 9);	/* 3 * 3 flows over one link */
}
END_TEST

START_TEST(bounds_by_weights)
{
	double least, most;
	struct tree w;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct recount *c;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		tree_shape(&w, seed % 2 ? trees_irregular(&r) :
			   trees_damaged(trees_chassis(&r), &r, 10));
		balance(&w, (struct ftr_balance_input){
			.depth = FTR_BALANCE_FULL
		});
		c = recount_new(w.sh, w.t);
		ck_assert(!bound_dual(w.f, NULL, 100, &least,
						  &most, &err));
		if (!c->lost)
			ck_assert_msg(least <= c->max * (1 + 1e-9) &&
				      least <= most * (1 + 1e-9),
				      "seed %" PRIu64 ": lower bound %f, most loaded link: "
				      "%u flows by the tables, %f if flows are split", seed,
				      least, c->max, most);
		recount_free(c);
		tree_free(&w);
	}
	tree_shape(&w, pgft("2;4,4;1,4;1,1", 1, 0));	/* ftr_balance_bound() finds 16 */
	ck_assert(!bound_dual(w.f, NULL, 1000, &least, &most,
					  &err));
	ck_assert(least > 14 && least <= 16 && most >= 16 && most < 16.5);
	tree_free(&w);
}
END_TEST

/* A switch with 40 hosts is linked to 12 leaves of 5 hosts: to one leaf by one link, to each other
 * leaf by 16 links.  The single link carries 5 * 95 flows in each direction.  The two results of
 * bound_dual() must enclose this load. */
START_TEST(weights_grow_within_range)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;
	double least, most;

	for (uint64_t sw = 1; sw <= 13; sw++) {
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = sw << 16, .n_ports = 240, .name = "s",
		}, &err));
		for (ftr_port p = 1; p <= (sw > 1 ? 5 : 40); p++) {
			uint64_t guid = sw << 16 | (uint64_t)p << 4;

			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1,
				.port_num = 1, .name = "h",
			}, &err));
			ck_assert(!ftr_builder_add_link(b, (struct ftr_end){
				guid, 1
			}, (struct ftr_end){ sw << 16, p }, 4, FTR_SPEED_EDR,
							&err));
		}
		for (ftr_port p = 1; sw > 1 && p <= (sw > 2 ? 16 : 1); p++)
			ck_assert(!ftr_builder_add_link(b, (struct ftr_end){
				sw << 16, (ftr_port)(60 + p)
			}, (struct ftr_end){
				1 << 16, (ftr_port)(40 + 16 * (sw - 2) + p)
			}, 4, FTR_SPEED_EDR, &err));
	}
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!bound_dual(f, NULL, 2000, &least, &most, &err));
	ck_assert_msg(least > 400 && least <= 475 + 1e-6 &&
		      most > 475 - 1e-6 && most < 480,
		      "lower bound %f, most loaded link if flows are split %f", least, most);
	ftr_fabric_free(f);
}
END_TEST

/* ---- depths -------------------------------------------------------------------- */

START_TEST(depths)
{
	struct ftr_balance_report off, load, full;
	struct tree w;

	tree_shape(&w, pgft("648", 65, 4));	/* 65 of 648 links are missing */
	off = balance(&w, (struct ftr_balance_input){ 0 });
	ck_assert(!off.moved && !off.hosts);
	ck_assert(!memcmp(w.t->lft, w.start->lft, bytes_of(w.t)));
	load = balance(&w, (struct ftr_balance_input){
		.depth = FTR_BALANCE_LOAD
	});
	/* the depth FTR_BALANCE_LOAD does not count the load of shifts */
	ck_assert_uint_le(load.max_after, load.bound + load.bound / 50 + 1);
	ck_assert_uint_lt(load.max_after, load.max_before);
	ck_assert(load.shift_after == 0 && load.moved > 0);
	full = balance(&w, (struct ftr_balance_input){
		.depth = FTR_BALANCE_FULL
	});
	ck_assert_uint_le(full.max_after, full.bound + full.bound / 33 + 1);
	ck_assert(full.shift_after < 2.2 && full.shift_before > 2.4);
	ck_assert_uint_gt(full.moved, 4 * load.moved);
	tree_free(&w);
}
END_TEST

/* The number of sweeps, and whether shifts are counted, depends on the number of paths (switches with
 * hosts * hosts). */
static const struct size {
	const char *shape;
	enum ftr_balance depth;
	uint32_t sweeps;	/* at most */
} size[] = {
	{ "2;5,100;1,5;1,1", FTR_BALANCE_LOAD, 10 },	/* 50,000 paths */
	{ "2;7,125;1,7;1,1", FTR_BALANCE_FULL, 12 },	/* 109,375 */
	{ "2;10,230;1,5;1,1", FTR_BALANCE_FULL, 6 },	/* 529,000 */
	{ "2;33,250;1,4;1,1", FTR_BALANCE_FULL, 3 },	/* 2,062,500 */
};

START_TEST(sizes)
{
	const struct size *z = &size[_i];
	struct ftr_balance_report r;
	struct recount *was, *now;
	struct tree w;

	tree_shape(&w, pgft(z->shape, 25, 1));
	r = balance(&w, (struct ftr_balance_input){ .depth = z->depth });
	ck_assert_uint_gt(r.max_before, r.bound + r.bound / 33 + 1);
	ck_assert_uint_le(r.max_after, r.bound + r.bound / 33 + 1);
	ck_assert(r.sweeps && r.sweeps <= z->sweeps);
	if (z->depth == FTR_BALANCE_LOAD)
		ck_assert(r.shift_before == 0 && r.shift_after == 0);
	else
		ck_assert(r.shift_after < r.shift_before);
	if (_i < 2) {		/* otherwise it takes seconds */
		was = recount_new(w.sh, w.start);
		now = recount_new(w.sh, w.t);
		ck_assert_uint_eq(r.max_before, was->max);
		ck_assert_uint_eq(r.max_after, now->max);
		ck_assert_uint_eq(now->lost, 0);
		recount_free(was);
		recount_free(now);
	}
	tree_free(&w);
}
END_TEST

/* ---- fixed entries ------------------------------------------------------------ */

START_TEST(fixed_entries_stay)
{
	uint64_t changed = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct ftr_balance_input in = { .depth = FTR_BALANCE_FULL };
		uint64_t *movable;
		struct ftr_rng r;
		struct tree w;
		size_t words;

		ftr_rng_seed(&r, seed);
		tree_shape(&w, trees_damaged(trees_irregular(&r), &r, 20));
		words = bytes_of(w.t) / 64;
		movable = calloc(words, sizeof(*movable));
		for (size_t i = 0; i < words; i++)
			movable[i] = ftr_rng_next(&r);
		in.movable = movable;
		changed += balance(&w, in).moved;
		for (size_t i = 0; i < bytes_of(w.t); i++)
			ck_assert_msg(w.t->lft[i] == w.start->lft[i] ||
				      movable[i / 64] >> i % 64 & 1,
				      "seed %" PRIu64 ": fixed entry %zu has changed", seed, i);
		memset(movable, 0, words * sizeof(*movable));
		ck_assert_uint_eq(balance(&w, in).moved, 0);
		free(movable);
		tree_free(&w);
	}
	ck_assert_uint_gt(changed, 0);
}
END_TEST

/* ---- cancellation ---------------------------------------------------------------- */

/* stop() counts its calls, and cancels the search at call number `at` (0: never). */
struct stop {
	uint32_t at, calls;
};

static bool stop(void *ctx)
{
	struct stop *s = ctx;

	return ++s->calls == s->at;
}

static bool arrives(const struct tree *w, const struct ftr_tables *t)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	struct ftr_check_report r;

	ck_assert(!ftr_check_tables(w->f, t, &opts, NULL, &r, &err));
	return !r.harmful && r.cdg == FTR_CDG_ACYCLIC;
}

/* Cancels the search at call number `at` of stop(), and checks the result.  Returns the number of
 * calls. */
static uint32_t stopped_at(struct tree *w, enum ftr_balance depth, uint32_t at)
{
	struct stop s = { .at = at };
	struct recount *was = recount_new(w->sh, w->start), *now;
	struct ftr_balance_report r = balance(w, (struct ftr_balance_input){
		.depth = depth, .cancelled = stop, .ctx = &s,
	});

	now = recount_new(w->sh, w->t);
	ck_assert_msg(!at || s.calls == at, "stop() was called %u times after it cancelled",
		      s.calls - at);
	ck_assert(r.cancelled == (at != 0));
	ck_assert_uint_eq(r.max_after, now->max);
	ck_assert_uint_le(now->max, was->max);
	if (depth == FTR_BALANCE_FULL)
		ck_assert(now->sum <= was->sum);
	ck_assert_uint_eq(now->lost, was->lost);
	ck_assert(arrives(w, w->t));
	recount_free(was);
	recount_free(now);
	return s.calls;
}

START_TEST(cancelled_at_any_moment)
{
	uint32_t asked = 0;

	for (uint64_t seed = 1; seed <= 6; seed++)
		for (int depth = FTR_BALANCE_LOAD; depth <= FTR_BALANCE_FULL;
		     depth++) {
			struct ftr_rng r;
			struct tree w;
			uint32_t n;

			ftr_rng_seed(&r, seed);
			tree_shape(&w, seed % 2 ?
				   trees_damaged(trees_irregular(&r), &r, 20) :
				   trees_chassis(&r));
			n = stopped_at(&w, (enum ftr_balance)depth, 0);
			for (uint32_t at = 1; at <= n; at++)
				stopped_at(&w, (enum ftr_balance)depth, at);
			asked += n;
			tree_free(&w);
		}
	ck_assert_uint_gt(asked, 100);
}
END_TEST

START_TEST(cancelled_while_flows_are_counted)
{
	uint32_t n;
	struct tree w;

	tree_shape(&w, pgft("648", 0, 0));
	n = stopped_at(&w, FTR_BALANCE_FULL, 0);
	ck_assert_uint_gt(n, 0);
	for (uint32_t at = 1; at <= n; at++)
		stopped_at(&w, FTR_BALANCE_FULL, at);
	tree_free(&w);
}
END_TEST

/* ---- kept tables, or tables from scratch -------------------------------------------- */

/* Loads of the kept tables and of those from scratch, which the engine below reports. */
struct loads {
	uint32_t max, bound;
	double shift;
	bool cancelled;
};

static const struct {
	struct loads kept, scratch;
	bool routed, replaced;	/* tables from scratch were made; and they are better */
} choice[] = {
	{ { 100, 100, 1, false }, { 100, 100, 1, false }, false, false },
	{ { 200, 100, 9, true }, { 100, 100, 1, false }, false, false },
	{ { 110, 100, 1, false }, { 100, 100, 1, false }, true, true },
	{ { 110, 100, 1, false }, { 108, 100, 1, false }, true, false },
	{ { 110, 100, 2, false }, { 100, 100, 2.2, false }, true, false },
	{ { 100, 100, 2, false }, { 100, 100, 1, false }, true, true },
	{ { 100, 100, 2, false }, { 110, 100, 1, false }, true, false },
	{ { 110, 100, 2, false }, { 100, 100, 1, false }, true, true },
};
static int chosen;
static bool routed;

static enum ftr_status says_loads(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
				  struct ftr_team *team, struct ftr_tables *out,
				  struct ftr_route_stats *stats, struct ftr_err *e)
{
	const struct loads *l = opts->keep ? &choice[chosen].kept : &choice[chosen].scratch;

	(void)sh;
	(void)team;
	(void)e;
	routed |= !opts->keep;
	memset(out->lft, opts->keep ? 1 : 2, bytes_of(out));
	stats->balance = (struct ftr_balance_report){
		.max_after = l->max, .bound = l->bound, .shift_after = l->shift,
		.cancelled = l->cancelled, .max_before = opts->keep ? 300 : 0,
	};
	return FTR_OK;
}

START_TEST(kept_or_from_scratch)
{
	const struct ftr_engine_ops ops = { .name = "fake", .route = says_loads };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_keep keep = { .prefer = NULL };
	struct ftr_kept k = { .t = NULL };
	struct ftr_tables_diff d;
	struct tree w;

	chosen = _i;
	routed = false;
	tree_shape(&w, pgft("2;4,4;1,4;1,1", 0, 0));
	keep.prefer = w.start;
	o.keep = &keep;
	ck_assert(!ftr_tables_new(w.f, false, &k.t, &err));
	k.stats.order = malloc(w.f->n_sw);
	ck_assert(!ftr_route_kept(&ops, w.sh, &o, NULL, &k, &err));
	ck_assert_int_eq(routed, choice[_i].routed);
	ck_assert_int_eq(k.replaced, choice[_i].replaced);
	ck_assert_uint_eq(k.t->lft[0], choice[_i].replaced ? 2 : 1);
	ck_assert_uint_eq(k.stats.balance.max_before, 300);
	ck_assert_uint_eq(k.stats.balance.max_after, choice[_i].replaced ?
			  choice[_i].scratch.max : choice[_i].kept.max);
	ftr_tables_diff(w.f, w.start, w.f, k.t, &d);
	if (k.replaced)
		ck_assert_uint_eq(k.stats.balance.moved, d.entries);
	free(k.stats.order);
	ftr_tables_free(k.t);
	tree_free(&w);
}
END_TEST

/* Options that ask for nothing do not change the tables: nothing to keep, no turns, and a manager on a
 * switch that is unknown. */
START_TEST(options_without_effect)
{
	static const char *const engine[] = { "dmodc", "sftree", "ddlr" };
	const struct ftr_engine_ops *ops = ftr_engine_find(engine[_i]);
	const ftr_sw unknown = FTR_SW_NONE;
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_keep nothing = { .prefer = NULL };
	struct ftr_route_stats stats = { .order = NULL };
	struct tree w;

	tree_shape(&w, pgft("3;2,2,2;1,2,2;1,1,2", 3, 7));
	ck_assert(!ops->route(w.sh, NULL, NULL, w.start, NULL, &err));
	o.keep = &nothing;
	o.sm = &unknown;
	o.n_sm = 1;
	ck_assert(!ops->route(w.sh, &o, NULL, w.t, &stats, &err));
	ck_assert(!memcmp(w.t->lft, w.start->lft, bytes_of(w.t)));
	ck_assert_int_eq(ops->promise(NULL), ops->promise(&o));
	tree_free(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("balance");
	TCase *t = tcase_create("balance");

	tcase_add_test(t, bounds_by_hand);
	tcase_add_test(t, unconnected_parts_are_bounded_alone);
	tcase_add_test(t, bounds_by_weights);
	tcase_add_test(t, weights_grow_within_range);
	tcase_add_test(t, depths);
	tcase_add_loop_test(t, sizes, 0, (int)FTR_ARRAY_LEN(size));
	tcase_add_test(t, fixed_entries_stay);
	tcase_add_test(t, cancelled_at_any_moment);
	tcase_add_test(t, cancelled_while_flows_are_counted);
	tcase_add_loop_test(t, kept_or_from_scratch, 0, (int)FTR_ARRAY_LEN(choice));
	tcase_add_loop_test(t, options_without_effect, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
