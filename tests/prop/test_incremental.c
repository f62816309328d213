// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests incremental routing, which computes again only the entries that link events may change.
 * Random links of random fabrics fail and return.  After every ftr_incr_apply() the results must
 * equal those of the slow computations in lib/world.c.
 *
 * A test that fails prints the seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number
 * of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"
#include "lib/draw.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/switch_events.h"
#include "lib/trees.h"
#include "lib/world.h"
#include "unit/check_net.h"

static struct ftr_err err;

/* The checker must find no fault in the changed entries.  It first gets the damaged fabric and a
 * list of the links that came up, and then the complete fabric.  Both reports must be equal. */
static void changes_stand(const struct world *w)
{
	struct ftr_check_delta d;
	struct ftr_delta_report rep, whole;

	ftr_incr_delta(w->lv, &d);
	ck_assert_msg(!ftr_check_changes(w->damaged ? w->damaged : w->f,
					 ftr_incr_tables(w->lv), &d,
					 &rep, &err), "%s", err.msg);
	must(!rep.harmful && !rep.missed && !rep.stranded && !rep.early &&
	     rep.proved, "seed %" PRIu64 ": report: harmful=%" PRIu64 ", missed=%"
	     PRIu64 ", stranded=%" PRIu64 ", early=%" PRIu64 ", proved=%d",
	     w->seed, rep.harmful, rep.missed, rep.stranded, rep.early,
	     rep.proved);
	d.extra = NULL;
	d.n_extra = 0;
	ck_assert(!ftr_check_changes(w->f, ftr_incr_tables(w->lv), &d,
				     &whole, &err));
	must(!memcmp(&rep, &whole, sizeof(rep)), "seed %" PRIu64
	     ": the list of added links changes the report", w->seed);
}

static void one_apply(struct world *w)
{
	struct ftr_incr_event *e = malloc(world_room(w) * sizeof(*e));
	const struct ftr_incr_result *r;
	uint64_t bad = w->lv->now.bad_pairs;
	uint32_t n = world_events(w, e);

	world_note(w, e, n);
	ck_assert_msg(!ftr_incr_apply(w->lv, e, n, &r, &err), "%s",
		      err.msg);
	world_check(w);
	changes_stand(w);
	ck_assert_uint_eq(bad + r->lost_pairs - r->regained_pairs,
			  r->bad_pairs);
	for (uint32_t i = 0; i < r->n_changes; i++) {
		const struct ftr_change *c = &r->change[i];

		must(c->before != c->after &&
		     (i == 0 || c[-1].sw < c->sw ||
		      (c[-1].sw == c->sw && c[-1].lid < c->lid)),
		     "seed %" PRIu64 ": change %u changes nothing, or is out of order", w->seed, i);
	}
	free(e);
}

static void one_undo(struct world *w)
{
	struct ftr_incr_event *e = malloc(world_room(w) * sizeof(*e));
	const struct ftr_incr_result *r;
	uint32_t n = world_events(w, e);

	ck_assert(!ftr_incr_apply(w->lv, e, n, &r, &err));
	ck_assert(ftr_incr_undo(w->lv));
	ck_assert(!ftr_incr_undo(w->lv));
	world_check(w);
	free(e);
}

static void follow(struct world *w, enum world_kind kind)
{
	world_start(w, kind);
	world_check(w);
	for (int i = 0; i < 12; i++)
		one_apply(w);
	one_undo(w);
	world_stop(w);
}

START_TEST(trees_follow)
{
	for_each_world(w, 600) {
		world_tree(&w, 40, w.seed % 3);
		follow(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE);
	}
}
END_TEST

START_TEST(chassis_follow)
{
	for_each_world(w, 300) {
		world_chassis(&w, w.seed % 2);
		follow(&w, w.seed % 3 == 0 ? WORLD_INVERTED : w.seed % 3 == 1 ?
		       WORLD_LATE : WORLD_WHOLE);
	}
}
END_TEST

START_TEST(any_graph_follows)
{
	for_each_world(w, 1000) {
		world_graph(&w, 20);
		follow(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE);
	}
}
END_TEST

START_TEST(other_orders_follow)
{
	for_each_world(w, 600) {
		if (w.seed % 2)
			world_tree(&w, 30, true);
		else
			world_graph(&w, 16);
		follow(&w, WORLD_INVERTED);
	}
}
END_TEST

/* Random events on the real fabrics.  They have leaves of all sizes, hosts on upper switches, and
 * racks joined by horizontal links. */
START_TEST(real_fabrics_follow)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct world w = { .seed = trees_first_seed() };

		w.f = trees_real(trees_real_files[i]);
		if (!w.f)
			continue;
		ftr_rng_seed(&w.rng, w.seed);
		follow(&w, WORLD_LATE);
	}
}
END_TEST

/* ---- a nominal switch is missing ------------------------------------- */

struct loss {
	const struct world *w;
	ftr_sw gone;
};

static bool has_switch(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return s != ((struct loss *)ctx)->gone;
}

static bool has_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		     ftr_port p)
{
	return !((struct loss *)ctx)->w->dead[f->sw[s].first_port + p];
}

static struct ftr_shape *over_what_is_left(struct world *w,
					   struct ftr_fabric **f)
{
	struct loss z = { w, w->f->n_sw - 1 };
	struct ftr_filter filter = { has_switch, NULL, has_link, &z, NULL };
	struct ftr_shape_opts opts = { .nominal = w->whole };
	struct ftr_shape *sh;

	ck_assert(!ftr_fabric_copy_if(w->f, &filter, f, &err));
	ck_assert_msg(!ftr_shape_new(*f, &opts, NULL, &sh, &err), "%s",
		      err.msg);
	return sh;
}

static struct ftr_tables *route(const struct world *w,
				const struct ftr_shape *sh)
{
	struct ftr_tables *t;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, &w->opts, NULL, t, NULL,
						   &err));
	return t;
}

static void one_event(struct world *w, struct ftr_incr *lv)
{
	struct ftr_incr_event e[FTR_PORT_MAX];
	const struct ftr_incr_result *r;
	bool up = ftr_rng_below(&w->rng, 2);
	uint32_t n = switch_events(w->f, lv, ftr_rng_below(&w->rng, w->f->n_sw - 1), up, e);
	uint32_t k = n ? ftr_rng_below(&w->rng, n) : 0;

	if (!n)
		return;
	world_note(w, &e[k], 1);
	ck_assert_msg(!ftr_incr_apply(lv, &e[k], 1, &r, &err), "%s",
		      err.msg);
}

START_TEST(a_switch_is_missing)
{
	for_each_world(w, 200) {
		struct ftr_fabric *f, *now;
		struct ftr_shape *sh, *full;
		struct ftr_tables *t, *want;
		struct ftr_incr *lv;

		if (w.seed % 2)
			world_tree(&w, 30, false);
		else
			world_graph(&w, 16);
		world_start(&w, WORLD_LATE);
		sh = over_what_is_left(&w, &f);
		t = route(&w, sh);
		ck_assert_msg(!ftr_incr_new(sh, w.whole, t, &w.opts, &lv,
					    &err), "%s", err.msg);
		for (int i = 0; i < 10; i++) {
			one_event(&w, lv);
			full = over_what_is_left(&w, &now);
			want = route(&w, full);
			must(!memcmp(want->lft, ftr_incr_tables(lv)->lft,
				     (size_t)t->n_sw * t->stride),
			     "seed %" PRIu64 ": the tables differ from those of a full routing",
			     w.seed);
			ftr_tables_free(want);
			ftr_shape_free(full);
			ftr_fabric_free(now);
		}
		ftr_incr_free(lv);
		ftr_tables_free(t);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
		world_stop(&w);
	}
}
END_TEST

/* ---- other guarantees ------------------------------------------------ */

START_TEST(no_memory_no_change)
{
	for_each_world(w, 24) {
		struct ftr_incr_event e[FTR_PORT_MAX];
		const struct ftr_incr_result *r;
		enum ftr_status st = FTR_NOMEM;
		uint32_t n;

		if (w.seed % 2)
			world_graph(&w, 16);
		else
			world_tree(&w, 24, w.seed % 4);
		world_start(&w, w.seed % 4 ? WORLD_INVERTED : WORLD_WHOLE);
		ftr_incr_free(w.lv);
		for (unsigned long k = 1; st; k++) {
			ftr_alloc_fail_at(k);
			st = ftr_incr_new(w.sh, NULL, w.t, &w.opts, &w.lv,
					  &err);
			ftr_alloc_fail_at(0);
			ck_assert(!st || st == FTR_NOMEM);
		}
		st = FTR_NOMEM;
		n = switch_events(w.f, w.lv, ftr_rng_below(&w.rng, w.f->n_sw),
				    false, e);
		for (unsigned long k = 1; st; k++) {
			ftr_alloc_fail_at(k);
			st = ftr_incr_apply(w.lv, e, n, &r, &err);
			ftr_alloc_fail_at(0);
			ck_assert(!st || st == FTR_NOMEM);
			if (!st)
				continue;
			ck_assert(!ftr_incr_undo(w.lv));
			world_check(&w);
		}
		world_note(&w, e, n);
		world_check(&w);
		world_stop(&w);
	}
}
END_TEST

START_TEST(invalid_arguments)
{
	struct world w = { .f = draw("a: s t h2\nb: s t h2\ns:\nt:\n") };
	struct ftr_incr_event e = { .sw = 9, .port = 1 };
	const struct ftr_incr_result *r;
	struct ftr_tables *small;
	struct ftr_fabric *other = draw("a: s h1\nb: s h1\ns:\n");
	struct ftr_incr *lv;

	ftr_rng_seed(&w.rng, 1);
	world_start(&w, WORLD_WHOLE);
	ck_assert_int_eq(ftr_incr_apply(w.lv, &e, 1, &r, &err),
			 FTR_INVAL);
	e.sw = 0;
	e.port = 0;
	ck_assert_int_eq(ftr_incr_apply(w.lv, &e, 1, &r, &err),
			 FTR_INVAL);
	e.port = 200;	/* there is no link */
	ck_assert_int_eq(ftr_incr_apply(w.lv, &e, 1, &r, &err),
			 FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "no link is known at port 200"));
	e.port = 201;
	ck_assert_int_eq(ftr_incr_apply(w.lv, &e, 1, &r, &err),
			 FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "port 201 of switch 0 does not exist"));
	e.port = 3;	/* a host */
	ck_assert_int_eq(ftr_incr_apply(w.lv, &e, 1, &r, &err), FTR_OK);
	ck_assert_uint_eq(r->n_changes, 0);
	ck_assert_uint_eq(r->n_links, 0);
	world_check(&w);
	ck_assert(!ftr_tables_new(other, true, &small, &err));
	ck_assert_int_eq(ftr_incr_new(w.sh, NULL, small, NULL, &lv, &err),
			 FTR_INVAL);
	ftr_tables_free(small);
	/* as many switches, and one host less */
	ftr_fabric_free(other);
	other = draw("a: s t h2\nb: s t h1\ns:\nt:\n");
	ck_assert(!ftr_tables_new(other, true, &small, &err));
	ck_assert_int_eq(ftr_incr_new(w.sh, NULL, small, NULL, &lv, &err),
			 FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "do not fit a fabric of 4 switches"));
	ftr_tables_free(small);
	ck_assert(!ftr_incr_new(w.sh, NULL, w.t, NULL, &lv, &err));	/* without options */
	ck_assert(!memcmp(ftr_incr_tables(lv)->lft, w.t->lft, (size_t)w.t->n_sw * w.t->stride));
	ftr_incr_free(lv);
	ftr_incr_free(NULL);
	ftr_fabric_free(other);
	world_stop(&w);
}
END_TEST

/* Replace value i of switch 0 in a copy of its costs or down-costs.  Returns the copy. */
static uint8_t *other_costs(const struct ftr_shape *sh, const uint8_t *costs, uint32_t i, uint8_t to)
{
	size_t n = (size_t)sh->f->n_sw * sh->reach.stride;
	uint8_t *copy = aligned_alloc(64, (n + 63) / 64 * 64);

	memcpy(copy, costs, n);
	copy[i] = to;
	return copy;
}

/* A shape with wrong costs, and one without ranks. */
START_TEST(invalid_shapes)
{
	struct world w = { .f = draw("a: s t h2\nb: s t h2\ns:\nt:\n") };
	struct ftr_shape x;
	struct ftr_incr *lv;

	ftr_rng_seed(&w.rng, 1);
	world_start(&w, WORLD_WHOLE);
	x = *w.sh;
	x.tree.rank = NULL;
	x.tree.n_ranks = 300;
	ck_assert_int_eq(ftr_incr_new(&x, NULL, w.t, NULL, &lv, &err), FTR_LIMIT);
	ck_assert_str_eq(err.msg, "the order of switches has 300 levels, too many for incremental tables");
	for (int down = 0; down < 2; down++) {
		uint8_t *wrong = other_costs(w.sh, down ? w.sh->reach.down : w.sh->reach.cost, 1, 7);

		x = *w.sh;
		*(down ? &x.reach.down : &x.reach.cost) = wrong;
		ck_assert_int_eq(ftr_incr_new(&x, NULL, w.t, NULL, &lv, &err), FTR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "do not follow from its links"));
		free(wrong);
	}
	world_stop(&w);
}
END_TEST

/* Two leaves (0, 1) and a spine (2), which has `ports` ports; with more than four, a second link leads
 * from leaf 0 to port 5. */
static struct net leaves_and_spine(uint32_t n_sw, uint32_t ports)
{
	struct net n = net_new(2, 8, true, 0);

	if (n_sw > 2)
		ck_assert(!ftr_builder_add_switch(n.b, &(struct ftr_switch){
			.guid = 3, .n_ports = (ftr_port)ports, .lid = 3,
		}, &err));
	for (uint32_t s = 0; s < 2; s++) {
		net_host(&n, s, 1);
		if (n_sw > 2)
			net_link(&n, s, 2, 2, s + 1);
	}
	if (n_sw == 2)
		net_link(&n, 0, 2, 1, 2);
	else if (ports > 4)
		net_link(&n, 0, 5, 2, 5);
	net_freeze(&n);
	return n;
}

/* The spine does not exist in the nominal fabric, or has fewer ports than in it. */
START_TEST(other_nominal_fabrics)
{
	static const char *const says[] = {
		"switch 0x0000000000000003 is not in the nominal shape",
		"the other end of the link at port 5 of switch 0x0000000000000001 is not known",
	};
	struct net n = leaves_and_spine(3, 4), whole = leaves_and_spine(_i ? 3 : 2, 8);
	struct ftr_shape *sh, *nominal;
	struct ftr_incr *lv;

	ck_assert(!ftr_shape_new(n.f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_shape_new(whole.f, NULL, NULL, &nominal, &err));
	ck_assert_int_eq(ftr_incr_new(sh, nominal, n.t, NULL, &lv, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, says[_i]);
	ftr_shape_free(nominal);
	ftr_shape_free(sh);
	net_free(&whole);
	net_free(&n);
}
END_TEST

/* ---- tables that no engine has made ------------------------------------------ */

/* The links from leaves a and c to spine r fail.  Their new entries for the host of b lead to t, where a
 * loop of t and u begins, which no engine makes.  It has no influence on the steps. */
START_TEST(loop_on_the_new_path)
{
	struct world w = { .f = draw("a: r t h1\nb: r t h1\nc: r t h1\nu: t h1\nr:\nt:\n") };
	const ftr_sw a = draw_sw(w.f, "a"), c = draw_sw(w.f, "c"), t = draw_sw(w.f, "t"),
		u = draw_sw(w.f, "u");
	const ftr_lid lid = w.f->ep[draw_host(w.f, "b", 0)].lid;
	const struct ftr_incr_event e[] = { { a, 1, false }, { c, 1, false } };
	const struct ftr_incr_result *r;
	struct ftr_incr *lv;
	uint32_t n = 0;

	ftr_rng_seed(&w.rng, 1);
	world_start(&w, WORLD_WHOLE);
	ftr_tables_row(w.t, a)[lid] = 1;
	ftr_tables_row(w.t, c)[lid] = 1;
	ftr_tables_row(w.t, t)[lid] = 4;	/* to u */
	ftr_tables_row(w.t, u)[lid] = 1;	/* to t */
	ck_assert(!ftr_incr_new(w.sh, NULL, w.t, &w.opts, &lv, &err));
	ck_assert(!ftr_incr_apply(lv, e, 2, &r, &err));
	for (uint32_t i = 0; i < r->n_changes; i++) {
		if (r->change[i].lid != lid)
			continue;
		ck_assert(r->change[i].sw == a || r->change[i].sw == c);
		ck_assert_uint_eq(r->change[i].after, 2);
		ck_assert_uint_eq(r->change[i].step, 0);
		n++;
	}
	ck_assert_uint_eq(n, 2);
	ftr_incr_free(lv);
	world_stop(&w);
}
END_TEST

/* a reaches b over s, and the link between s and b fails.  The entry of a is spared only if the entry of
 * s is not a port without a link, missing, or one that leads back to a. */
static const struct {
	uint8_t of_s;
	uint32_t n_spared;
} odd_path[] = { { 2, 0 }, { 1, 0 }, { FTR_PORT_NONE, 0 }, { 150, 0 }, { 3, 2 } };

START_TEST(odd_paths_are_not_spared)
{
	struct world w = { .f = draw("a: s h1\ns: b h1\nb: h1\n") };
	const ftr_sw a = draw_sw(w.f, "a"), s = draw_sw(w.f, "s");
	const ftr_lid lid = w.f->ep[draw_host(w.f, "b", 0)].lid;
	const struct ftr_incr_event e = { s, 2, false };
	const struct ftr_incr_result *r;
	struct ftr_incr *lv;
	bool spared = odd_path[_i].n_spared;

	ftr_rng_seed(&w.rng, 1);
	world_start(&w, WORLD_WHOLE);
	ftr_tables_row(w.t, s)[lid] = odd_path[_i].of_s;
	ck_assert(!ftr_incr_new(w.sh, NULL, w.t, &w.opts, &lv, &err));
	ftr_incr_spare(lv, true);
	ck_assert(!ftr_incr_apply(lv, &e, 1, &r, &err));
	ck_assert_uint_eq(r->n_spared, odd_path[_i].n_spared);
	ck_assert_uint_eq(ftr_tables_get(ftr_incr_tables(lv), a, lid), spared ? 1 : FTR_PORT_NONE);
	ftr_incr_free(lv);
	world_stop(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("incremental");
	TCase *t = tcase_create("incremental");

	tcase_add_test(t, trees_follow);
	tcase_add_test(t, chassis_follow);
	tcase_add_test(t, any_graph_follows);
	tcase_add_test(t, other_orders_follow);
	tcase_add_test(t, real_fabrics_follow);
	tcase_add_test(t, a_switch_is_missing);
	tcase_add_test(t, no_memory_no_change);
	tcase_add_test(t, invalid_arguments);
	tcase_add_test(t, invalid_shapes);
	tcase_add_loop_test(t, other_nominal_fabrics, 0, 2);
	tcase_add_test(t, loop_on_the_new_path);
	tcase_add_loop_test(t, odd_paths_are_not_spared, 0, (int)FTR_ARRAY_LEN(odd_path));
	suite_add_tcase(s, t);
	return run_suite(s);
}
