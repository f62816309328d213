// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests parts of the fast path that do not depend on OpenSM: how long the request for a sweep is
 * delayed, and directed routes, which the test follows port by port.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "reroute/damp.h"
#include "reroute/dr.h"

/* ---- damping ------------------------------------------------------------- */

START_TEST(test_sweep_due)
{
	struct rr_damp d = { .delay = 10, .cap = 25 };

	ck_assert_double_lt(rr_damp_due(&d), 0);
	rr_damp_want(&d, 100);
	ck_assert_double_eq(rr_damp_due(&d), 110);
	rr_damp_want(&d, 105);
	ck_assert_double_eq(rr_damp_due(&d), 115);
	rr_damp_want(&d, 124);		/* due 25 ms after the first request */
	ck_assert_double_eq(rr_damp_due(&d), 125);
	rr_damp_asked(&d);
	ck_assert_double_lt(rr_damp_due(&d), 0);
	rr_damp_want(&d, 200);		/* the time limit of `cap` ms begins again */
	ck_assert_double_eq(rr_damp_due(&d), 210);
}
END_TEST

/* However often events arrive, a sweep is due every `cap` ms at the latest. */
START_TEST(test_sweep_always_comes)
{
	struct rr_damp d = { .delay = 10, .cap = 25 };
	double last = 0;

	for (double now = 0; now < 1000; now += 1) {
		rr_damp_want(&d, now);
		if (now < rr_damp_due(&d))
			continue;
		ck_assert_double_le(now - last, 27);
		last = now;
		rr_damp_asked(&d);
	}
	ck_assert_double_gt(last, 950);
}
END_TEST

/* ---- directed routes ----------------------------------------------------- */

struct rig {
	struct ftr_fabric *f;
	struct rr_dr_tree *t;
	struct ftr_hop from;
	uint64_t *dead;
	uint8_t *avoid;
	uint32_t *dist;		/* [n_sw] hops from the origin */
};

static bool usable(const struct rig *r, ftr_sw s, unsigned int p)
{
	uint32_t bit = r->f->sw[s].first_port + p;

	return ftr_fabric_port(r->f, s, (ftr_port)p)->peer_kind ==
		FTR_PEER_SW && !(r->dead[bit / 64] >> (bit % 64) & 1);
}

static void distances(struct rig *r)
{
	bool again = true;

	memset(r->dist, 0xff, r->f->n_sw * sizeof(*r->dist));
	r->dist[r->from.sw] = 0;
	while (again) {
		again = false;
		for (ftr_sw s = 0; s < r->f->n_sw; s++)
			for (unsigned int p = 1; p <= r->f->sw[s].n_ports;
			     p++) {
				ftr_sw q = ftr_fabric_port(r->f, s,
							   (ftr_port)p)->peer;

				if (r->dist[s] == UINT32_MAX ||
				    !usable(r, s, p) ||
				    (s != r->from.sw && r->avoid[s]) ||
				    r->dist[q] <= r->dist[s] + 1)
					continue;
				r->dist[q] = r->dist[s] + 1;
				again = true;
			}
	}
}

static void check_route(const struct rig *r, ftr_sw s,
			const struct rr_dr *dr)
{
	unsigned int first = r->from.port ? 1 : 0;
	ftr_sw at = r->from.sw;

	ck_assert_uint_eq(dr->hops, r->dist[s] + first);
	ck_assert_uint_eq(dr->path[0], 0);
	if (first)
		ck_assert_uint_eq(dr->path[1], r->from.port);
	for (unsigned int i = 1 + first; i <= dr->hops; i++) {
		ck_assert(usable(r, at, dr->path[i]));
		ck_assert(at == r->from.sw || !r->avoid[at]);
		at = ftr_fabric_port(r->f, at, dr->path[i])->peer;
	}
	ck_assert_uint_eq(at, s);
}

static void damage(struct rig *r, struct ftr_rng *rng)
{
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		r->avoid[s] = ftr_rng_below(rng, 6) == 0;
		for (unsigned int p = 1; p <= r->f->sw[s].n_ports; p++) {
			uint32_t bit = r->f->sw[s].first_port + p;

			if (ftr_rng_below(rng, 5) == 0)
				r->dead[bit / 64] |= UINT64_C(1) << (bit % 64);
		}
	}
}

/* There must be a directed route to each switch that usable links reach, and to no other. */
START_TEST(test_routes)
{
	struct ftr_rng rng;
	struct ftr_pgft g;
	struct rig r;
	struct rr_dr dr;

	ftr_rng_seed(&rng, trees_first_seed() + (uint64_t)_i);
	trees_random_pgft(&rng, &g, false, 60);
	r.f = trees_grow(&g, (uint64_t)_i, 0);
	r.t = rr_dr_tree_new(r.f->n_sw);
	r.dead = calloc((r.f->n_ports + 63) / 64, sizeof(*r.dead));
	r.avoid = calloc(r.f->n_sw, 1);
	r.dist = calloc(r.f->n_sw, sizeof(*r.dist));
	ck_assert(r.t && r.dead && r.avoid && r.dist);
	r.from.sw = ftr_rng_below(&rng, r.f->n_sw);
	r.from.port = (ftr_port)ftr_rng_below(&rng, 3);
	if (_i % 4)
		damage(&r, &rng);
	distances(&r);
	rr_dr_search(r.t, r.f, &r.from, r.dead, r.avoid);
	for (ftr_sw s = 0; s < r.f->n_sw; s++) {
		bool found = rr_dr_route(r.t, s, &dr);

		ck_assert_int_eq(found, r.dist[s] != UINT32_MAX);
		if (found)
			check_route(&r, s, &dr);
	}
	rr_dr_tree_free(r.t);
	free(r.dead);
	free(r.avoid);
	free(r.dist);
	ftr_fabric_free(r.f);
}
END_TEST

/* Without an origin there are no routes.  The origin's own switch is 0 hops away. */
START_TEST(test_origins)
{
	struct ftr_pgft g = { .h = 2, .m = { 2, 2 }, .w = { 1, 2 },
			      .p = { 1, 1 } };
	struct ftr_fabric *f = trees_grow(&g, 1, 0);
	struct rr_dr_tree *t = rr_dr_tree_new(f->n_sw);
	struct rr_dr dr;

	rr_dr_search(t, f, &(struct ftr_hop){ FTR_SW_NONE, 0 }, NULL, NULL);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		ck_assert(!rr_dr_route(t, s, &dr));
	rr_dr_search(t, f, &(struct ftr_hop){ 0, 0 }, NULL, NULL);
	ck_assert(rr_dr_route(t, 0, &dr));
	ck_assert_uint_eq(dr.hops, 0);
	rr_dr_tree_free(t);
	rr_dr_tree_free(NULL);
	ftr_fabric_free(f);
}
END_TEST

/* A route has at most 63 links, of which the first leads from the manager's node to its switch.  In
 * a ring of 600 switches, a switch is up to 300 hops away. */
START_TEST(test_far_switches)
{
	struct ftr_torus ring;
	struct ftr_fabric *f;
	struct rr_dr_tree *t;
	struct ftr_err err;
	struct rr_dr dr;

	ck_assert(!ftr_torus_parse("torus:600", &ring, &err));
	ck_assert(!ftr_gen_torus(&ring, NULL, &f, &err));
	t = rr_dr_tree_new(f->n_sw);
	for (ftr_port port = 0; port < 2; port++) {
		uint32_t near = 0;

		rr_dr_search(t, f, &(struct ftr_hop){ 5, port }, NULL, NULL);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			near += rr_dr_route(t, s, &dr);
		ck_assert_uint_eq(near, 1 + 2 * (RR_DR_HOPS_MAX - port));
	}
	rr_dr_tree_free(t);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(test_nomem)
{
	struct rr_dr_tree *t = NULL;
	unsigned long n = 0;

	while (!t) {
		ftr_alloc_fail_at(++n);
		t = rr_dr_tree_new(20);
	}
	ck_assert_uint_gt(n, 1);
	ftr_alloc_fail_at(0);
	rr_dr_tree_free(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("osm_parts");
	TCase *t = tcase_create("parts");

	tcase_add_test(t, test_sweep_due);
	tcase_add_test(t, test_sweep_always_comes);
	tcase_add_loop_test(t, test_routes, 0, 40);
	tcase_add_test(t, test_origins);
	tcase_add_test(t, test_far_switches);
	tcase_add_test(t, test_nomem);
	suite_add_tcase(s, t);
	return run_suite(s);
}
