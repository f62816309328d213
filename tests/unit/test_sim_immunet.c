// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Immunet: the examples of seed 003, and rings and tables after random faults at
 * random times against what a flood over the cables says.
 *
 * Tori have one host a switch; switches are numbered row by row as in the seed,
 * ports 1 to 4 lead right, left, down and up, 5 to the host.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "sim/immunet.h"
#include <ftr/ftr.h>

#define HOP UINT64_C(110000)

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_tables *t;
static uint8_t *up;		/* as the run left it */
static bool check_tables;

static void cable(struct ftr_builder *b, unsigned int a, unsigned int pa,
		  unsigned int z, unsigned int pz)
{
	const struct ftr_end x = { a + 1, (ftr_port)pa };
	const struct ftr_end y = { z + 1, (ftr_port)pz };

	ck_assert(!ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR, &err));
}

static void torus(unsigned int rows, unsigned int cols)
{
	struct ftr_builder *b = ftr_builder_new();

	for (unsigned int s = 0; s < rows * cols; s++) {
		unsigned int r = s / cols, c = s % cols;
		const struct ftr_end x = { s + 1, 5 }, y = { 1000 + s, 1 };

		ck_assert(!ftr_builder_add_switch(b, s + 1, 5, 0, 0, NULL,
						  &err));
		ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, 1000 + s,
						   1000 + s, 1, 0, 0, NULL,
						   &err));
		ck_assert(!ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR,
						&err));
		cable(b, s, 1, r * cols + (c + 1) % cols, 2);
		cable(b, s, 3, (r + 1) % rows * cols + c, 4);
	}
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!ftr_tables_new(f, true, &t, &err));
	up = calloc(f->n_ports, 1);
}

static void done(void)
{
	free(up);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}

/* ---- what must hold when all is quiet --------------------------------------------- */

static ftr_sw step(ftr_sw s, unsigned int p, unsigned int *in)
{
	const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

	ck_assert_msg(up[f->sw[s].first_port + p], "a dead cable is used");
	ck_assert_int_eq(q->peer_kind, FTR_PEER_SW);
	*in = q->peer_port;
	return q->peer;
}

static void flood(ftr_sw d, uint16_t *dist)
{
	bool more = true;

	memset(dist, 0xff, f->n_sw * sizeof(*dist));
	dist[d] = 0;
	while (more) {
		more = false;
		for (ftr_sw s = 0; s < f->n_sw; s++)
			for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
				const struct ftr_swport *q =
					ftr_fabric_port(f, s, (ftr_port)p);

				if (q->peer_kind == FTR_PEER_SW &&
				    up[f->sw[s].first_port + p] &&
				    dist[s] != UINT16_MAX &&
				    dist[q->peer] > dist[s] + 1) {
					dist[q->peer] = (uint16_t)(dist[s] + 1);
					more = true;
				}
			}
	}
}

/* The ring through s goes over every tree cable of its part both ways, once. */
static void check_ring(const struct immunet *x, ftr_sw s)
{
	uint16_t dist[256];
	uint32_t part = 0, len = 0, seen = 0;
	bool visited[256] = { false };
	unsigned int out = 0, first, in;
	ftr_sw at = s;

	flood(s, dist);
	for (ftr_sw i = 0; i < x->n; i++)
		part += dist[i] != UINT16_MAX;
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (x->node[s].next[p])
			out = p;
	if (part == 1) {
		ck_assert_uint_eq(out, 0);
		return;
	}
	ck_assert_uint_ne(out, 0);
	first = out;
	do {
		at = step(at, out, &in);
		seen += !visited[at];
		visited[at] = true;
		out = x->node[at].next[in];
		ck_assert_msg(out, "the ring ends at switch %u", at);
		ck_assert_uint_le(++len, 2 * (part - 1));
	} while (at != s || out != first);
	ck_assert_uint_eq(seen, part);
	ck_assert_uint_eq(len, 2 * (part - 1));
}

static void check_switch(const struct immunet *x, ftr_sw d)
{
	uint16_t dist[256];

	flood(d, dist);
	for (ftr_sw s = 0; s < x->n; s++) {
		uint64_t ports = 0;
		unsigned int in;
		ftr_sw at = s;

		if (s == d || dist[s] == UINT16_MAX)
			continue;
		/* the levels of one part are the same */
		ck_assert_uint_eq(x->node[s].level, x->node[d].level);
		ck_assert(x->node[s].open);
		/* the table holds what a neighbour's distance is */
		ck_assert_uint_eq(x->dist[s * x->n + d] + 1u, dist[s]);
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW &&
			    up[f->sw[s].first_port + p] &&
			    dist[q->peer] + 1 == dist[s])
				ports |= UINT64_C(1) << (p - 1);
		}
		ck_assert_uint_eq(x->ports[s * x->n + d], ports);
		/* safe tables: down to d where it is below, else up */
		for (uint32_t i = 0; at != d; i++) {
			ftr_port p = x->safe[at * x->n + d];

			ck_assert_uint_lt(i, 2 * x->n);
			at = step(at, p ? p : x->node[at].parent, &in);
		}
	}
}

static void *last_state;

static void inspect(void *state)
{
	const struct immunet *x = state;

	for (ftr_sw s = 0; check_tables && s < x->n; s++) {
		check_ring(x, s);
		check_switch(x, s);
	}
	last_state = state;	/* freed by the test */
}

/* Run the changes; the state is there until forget(). */
static const struct immunet *after(const struct ftr_sim_change *g, uint32_t n,
				   struct ftr_sim_result *r, double load)
{
	struct ftr_sim_function fn = *ftr_sim_function_find("immunet");
	struct ftr_sim_conf c = {
		.f = f, .t = t, .function = &fn, .n_vls = 2, .load = load,
		.cable_ps = 10000, .switch_ps = 100000, .change = g,
		.n_changes = n, .run_ps = 100 * FTR_SIM_US, .n_series = 10,
	};

	for (uint32_t i = 0; i < f->n_ports; i++)
		up[i] = f->ports[i].peer_kind != FTR_PEER_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_swport *q =
			ftr_fabric_port(f, g[i].sw, g[i].port);
		bool now = g[i].kind == FTR_SIM_LINK_UP;

		up[f->sw[g[i].sw].first_port + g[i].port] = now;
		up[f->sw[q->peer].first_port + q->peer_port] = now;
	}
	fn.finish = inspect;
	ck_assert_msg(!ftr_sim_run(&c, NULL, r, &err), "%s", err.msg);
	return last_state;
}

static void forget(struct ftr_sim_result *r)
{
	ftr_sim_function_find("immunet")->finish(last_state);
	ftr_sim_result_fini(r, 1);
}

static struct ftr_sim_change dies(ftr_sw s, ftr_port p, uint64_t at)
{
	return (struct ftr_sim_change){ .at = at, .sw = s, .port = p,
					.kind = FTR_SIM_LINK_DOWN };
}

/* ---- the seed's examples ------------------------------------------------------------- */

/* Figure 5: 3x3, the cable of 4 and 1 dies; 4 wins, 3, 5 and 7 are its children,
 * and the others theirs. */
START_TEST(figure_5)
{
	const struct ftr_sim_change g = dies(4, 4, FTR_SIM_US);
	const struct immunet *x;
	struct ftr_sim_result r;
	unsigned int in;

	torus(3, 3);
	check_tables = true;
	ck_assert_uint_eq(ftr_fabric_port(f, 4, 4)->peer, 1);
	x = after(&g, 1, &r, 0);
	for (ftr_sw s = 0; s < 9; s++)
		ck_assert_uint_eq(x->node[s].level - 1, 4);
	ck_assert_uint_eq(x->node[4].parent, 0);
	for (ftr_sw s = 3; s <= 7; s += 2 - (s == 3 || s == 4))
		if (s != 4)
			ck_assert_uint_eq(step(s, x->node[s].parent, &in), 4);
	/* in by each of its three tree cables, router 3 has one out; together
	 * they are a circle */
	in = x->node[3].parent;
	ck_assert_uint_ne(x->node[3].next[in], in);
	forget(&r);
	done();
}
END_TEST

/* Figure 6: 1 and 4 detect at once; before the tree is there the cable of 3 and
 * 4 dies.  The seed prints the new levels as 11 and 12; 1 * 9 + 3 is 12, and
 * 1 * 9 + 4 is 13. */
START_TEST(figure_6)
{
	const struct ftr_sim_change g[] = {
		dies(4, 4, FTR_SIM_US), dies(4, 2, FTR_SIM_US + HOP + HOP / 2),
	};
	const struct immunet *x;
	struct ftr_sim_result r;

	torus(3, 3);
	check_tables = true;
	ck_assert_uint_eq(ftr_fabric_port(f, 4, 2)->peer, 3);
	x = after(g, 2, &r, 0);
	for (ftr_sw s = 0; s < 9; s++)
		ck_assert_uint_eq(x->node[s].level - 1, 13);
	ck_assert_uint_eq(x->node[4].parent, 0);
	ck_assert_uint_ge(x->node[3].emergencies, 2);
	forget(&r);
	done();
}
END_TEST

/* ---- properties ------------------------------------------------------------------------ */

START_TEST(whole)
{
	struct ftr_sim_result r;

	torus(4, 4);
	check_tables = true;
	after(NULL, 0, &r, 0.5);
	ck_assert_uint_gt(r.delivered, 3000);
	ck_assert_uint_eq(r.injected, r.delivered + r.in_flight);
	ck_assert(!r.deadlock);
	forget(&r);
	done();
}
END_TEST

/* Cables that die, and come back, at any time, also while the last emergency is
 * going on; some seeds cut the torus apart. */
START_TEST(nested)
{
	struct ftr_sim_change g[40];
	struct ftr_sim_result r;
	struct ftr_rng rng;
	uint64_t at = FTR_SIM_US;
	uint32_t n = 0;

	torus(4, 4);
	check_tables = true;
	ftr_rng_seed(&rng, (uint64_t)_i + 1);
	for (uint32_t i = 0; i < 4 + (uint32_t)_i; i++) {
		g[n] = dies(ftr_rng_below(&rng, 16),
			    (ftr_port)(1 + ftr_rng_below(&rng, 4)), at);
		if (ftr_rng_below(&rng, 5) == 0)
			g[n].kind = FTR_SIM_LINK_UP;
		n++;
		if (ftr_rng_below(&rng, 2))
			at += ftr_rng_below(&rng, 8 * (uint32_t)HOP);
	}
	after(g, n, &r, 0);
	forget(&r);
	done();
}
END_TEST

/* Under load: what is lost was on a dying cable, the rest arrives. */
START_TEST(under_load)
{
	struct ftr_sim_change g[8];
	struct ftr_sim_result r;
	struct ftr_rng rng;
	uint64_t lost = 0;

	torus(8, 8);
	check_tables = true;
	ftr_rng_seed(&rng, (uint64_t)_i + 1);
	for (int i = 0; i < 8; i++)
		g[i] = dies(ftr_rng_below(&rng, 64),
			    (ftr_port)(1 + ftr_rng_below(&rng, 4)),
			    20 * FTR_SIM_US + ftr_rng_below(&rng, 4000000));
	after(g, 8, &r, 0.3);
	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		lost += r.lost[i];
	ck_assert_uint_eq(lost, r.lost[FTR_SIM_LOST_WIRE]);
	ck_assert_uint_le(lost, 2 * 8 * 2);
	ck_assert_uint_eq(r.injected, r.delivered + lost + r.in_flight);
	ck_assert(!r.deadlock);
	ck_assert_uint_gt(r.series[9].delivered, 500);
	forget(&r);
	done();
}
END_TEST

/* The ring alone: without the bubble it deadlocks, with it it does not. */
static bool bubble;

static unsigned int ring_only(void *state, const struct ftr_sim_view *v,
			      ftr_sw s, ftr_port in, unsigned int vl,
			      struct ftr_sim_packet *p,
			      struct ftr_sim_exit *e, enum ftr_sim_loss *why)
{
	unsigned int n = ftr_sim_function_find("immunet")->route(
		state, v, s, in, vl, p, e, why);
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++)
		if (e[i].vl == 1 || v->f->ports[v->f->sw[s].first_port +
		    e[i].port].peer_kind == FTR_PEER_EP)
			e[left++] = e[i];
	for (unsigned int i = 0; !bubble && i < left; i++)
		e[i].room = 1;
	return left;
}

START_TEST(bubbles)
{
	struct ftr_sim_function fn = *ftr_sim_function_find("immunet");
	struct ftr_sim_conf c;
	struct ftr_sim_result r;

	fn.route = ring_only;
	bubble = _i;
	torus(4, 4);
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .n_vls = 2, .load = 1,
		.cable_ps = 10000, .switch_ps = 100000, .buffer = 4096,
		.run_ps = 300 * FTR_SIM_US, .n_series = 10,
	};
	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	if (bubble) {
		ck_assert(!r.deadlock);
		ck_assert_uint_gt(r.series[9].delivered, 50);
	} else {
		ck_assert(r.deadlock);
		ck_assert_uint_eq(r.series[9].delivered, 0);
		ck_assert_uint_eq(r.cycle_len, 30);
	}
	ftr_sim_result_fini(&r, 1);
	done();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_immunet");
	TCase *c = tcase_create("immunet");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(c, 120);
	tcase_add_test(c, figure_5);
	tcase_add_test(c, figure_6);
	tcase_add_test(c, whole);
	tcase_add_loop_test(c, nested, 0, 30);
	tcase_add_loop_test(c, under_load, 0, 4);
	tcase_add_loop_test(c, bubbles, 0, 2);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
