// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests Immunet (Puente et al. 2004, see tests/seeds/models/immunet.c) with the examples of the paper, and
 * with random faults at random times.  After the faults, rings and tables are compared with a
 * search over the links.
 *
 * A switch whose link fails declares an emergency.  Each emergency has a number, its level; the
 * ring and the tables are rebuilt for the emergency with the highest level.
 *
 * Tori have one host per switch, and their switches are numbered row by row as in the paper.
 * Ports 1 to 4 lead right, left, down and up, port 5 leads to the host.  Fat-trees also have
 * switches without hosts.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "models/immunet.h"
#include <ftr/ftr.h>

#define HOP UINT64_C(110000)

static struct ftr_err err;
static struct ftr_fabric *f;
static struct immunet_opts opts;
static struct ftr_tables *t;
static uint8_t *up;		/* [n_ports] 1: the link works at the end of the run */
static enum ftr_sim_queues queues;
static bool check_tables;

static void grow(const char *shape)
{
	ck_assert_msg(!ftr_gen_shape(shape, NULL, &f, &err), "%s", err.msg);
	ck_assert(!ftr_tables_new(f, true, &t, &err));
	up = calloc(f->n_ports, 1);
}

static void done(void)
{
	free(up);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}

/* ---- invariants after the last change ---------------------------------------------- */

static ftr_sw step(ftr_sw s, unsigned int p, unsigned int *in)
{
	const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

	ck_assert_msg(up[f->sw[s].first_port + p], "a ring or a table uses a dead link");
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

/* Check that the ring through s crosses every tree link of its connected part once in each
 * direction. */
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
		/* all switches of a part have the same level */
		ck_assert_uint_eq(x->node[s].level, x->node[d].level);
		ck_assert(x->node[s].open);
		/* x->dist counts from the next switch, which is one hop closer */
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
		/* the safe tables lead down the tree if d is below the switch, otherwise up */
		for (uint32_t i = 0; at != d; i++) {
			ftr_port p = x->safe[at * x->n + d];

			ck_assert_uint_lt(i, 2 * x->n);
			at = step(at, p ? p : x->node[at].parent, &in);
		}
	}
}

static void *last_state;

/* Returns true if s has a working link.  A dead switch keeps its old state, which is not
 * checked. */
static bool works(ftr_sw s)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (up[f->sw[s].first_port + p])
			return true;
	return false;
}

static void inspect(void *state)
{
	const struct immunet *x = state;

	for (ftr_sw s = 0; check_tables && s < x->n; s++) {
		if (!works(s))
			continue;
		check_ring(x, s);
		check_switch(x, s);
	}
	last_state = state;	/* the test frees it */
}

static void set_up_port(ftr_sw s, unsigned int p, bool now)
{
	const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

	up[f->sw[s].first_port + p] = now;
	if (q->peer_kind == FTR_PEER_SW)
		up[f->sw[q->peer].first_port + q->peer_port] = now;
}

static void mark(const struct ftr_sim_change *g)
{
	if (g->kind != FTR_SIM_SWITCH_DOWN)
		set_up_port(g->sw, g->port, g->kind == FTR_SIM_LINK_UP);
	else
		for (unsigned int p = 1; p <= f->sw[g->sw].n_ports; p++)
			set_up_port(g->sw, p, false);
}

/* Simulate the faults and repairs g[0..n-1].  The returned state is valid until forget(). */
static const struct immunet *after(const struct ftr_sim_change *g, uint32_t n,
				   struct ftr_sim_result *r, double load)
{
	struct ftr_sim_function fn = *model_find("immunet");
	struct ftr_sim_conf c = {
		.f = f, .t = t, .function = &fn, .n_vls = 2, .traffic.load = load,
		.link_ps = 10000, .switch_ps = 100000, .change = g,
		.n_changes = n, .run_ps = 100 * FTR_SIM_US, .n_series = 10,
		.arg = &opts, .queues = queues, .traffic.spare_dead = true,
		/* check for deadlocks at the end only: until then a ring may be stuck, because a
		 * ring of a higher level will replace it */
		.check_ps = 90 * FTR_SIM_US,
	};

	for (uint32_t i = 0; i < f->n_ports; i++)
		up[i] = f->ports[i].peer_kind != FTR_PEER_NONE;
	for (uint32_t i = 0; i < n; i++)
		mark(&g[i]);
	fn.finish = inspect;
	ck_assert_msg(!ftr_sim_run(&c, NULL, r, &err), "%s", err.msg);
	return last_state;
}

static void forget(struct ftr_sim_result *r)
{
	model_find("immunet")->finish(last_state);
	ftr_sim_result_fini(r, 1);
}

static struct ftr_sim_change dies(ftr_sw s, ftr_port p, uint64_t at)
{
	return (struct ftr_sim_change){ .at = at, .sw = s, .port = p,
					.kind = FTR_SIM_LINK_DOWN };
}

/* ---- the examples of Puente et al. 2004 -------------------------------------------- */

/* Figure 5: the link between switches 4 and 1 of a 3x3 torus dies.  Switch 4 becomes the root; 3,
 * 5 and 7 are its children. */
START_TEST(figure_5)
{
	static const ftr_sw child[] = { 3, 5, 7 };
	const struct ftr_sim_change g = dies(4, 4, FTR_SIM_US);
	const struct immunet *x;
	struct ftr_sim_result r;
	unsigned int in, out;
	ftr_sw at;

	grow("torus:3,3");
	check_tables = true;
	ck_assert_uint_eq(ftr_fabric_port(f, 4, 4)->peer, 1);
	x = after(&g, 1, &r, 0);
	for (ftr_sw s = 0; s < 9; s++)
		ck_assert_uint_eq(x->node[s].level - 1, 4);
	ck_assert_uint_eq(x->node[4].parent, 0);
	for (size_t i = 0; i < FTR_ARRAY_LEN(child); i++)
		ck_assert_uint_eq(step(child[i], x->node[child[i]].parent, &in), 4);
	/* on the ring, switch 3 forwards packets from its parent to one of its children */
	out = x->node[3].next[x->node[3].parent];
	ck_assert_uint_ne(out, x->node[3].parent);
	at = step(3, out, &in);
	ck_assert_uint_eq(x->node[at].parent, in);
	forget(&r);
	done();
}
END_TEST

/* Figure 6: switches 1 and 4 detect the fault at the same time.  Before the new tree is complete,
 * the link between 3 and 4 dies.  The paper prints the next levels as 11 and 12.  But by the rule
 * of the paper they are 12 = 1 * 9 + 3 and 13 = 1 * 9 + 4. */
START_TEST(figure_6)
{
	const struct ftr_sim_change g[] = {
		dies(4, 4, FTR_SIM_US), dies(4, 2, FTR_SIM_US + HOP + HOP / 2),
	};
	const struct immunet *x;
	struct ftr_sim_result r;

	grow("torus:3,3");
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

/* Without faults no packet is lost, and there is no deadlock. */
START_TEST(whole)
{
	struct ftr_sim_result r;

	grow("torus:4,4");
	check_tables = true;
	after(NULL, 0, &r, 0.5);
	ck_assert_uint_gt(r.delivered, 3000);
	ck_assert_uint_eq(r.injected, r.delivered + r.in_flight);
	ck_assert(!r.deadlock);
	forget(&r);
	done();
}
END_TEST

/* Links die and come up again at any time, even during the reaction to the previous fault.  With
 * some seeds the torus falls into unconnected parts. */
START_TEST(nested)
{
	struct ftr_sim_change g[40];
	struct ftr_sim_result r;
	struct ftr_rng rng;
	uint64_t at = FTR_SIM_US;
	uint32_t n = 0;

	grow("torus:4,4");
	check_tables = true;
	ftr_rng_seed(&rng, (uint64_t)_i + 1);
	for (uint32_t i = 0; i < 4 + (uint32_t)_i; i++) {
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&rng, 4));

		g[n] = dies(ftr_rng_below(&rng, 16), p, at);
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

/* Under load only packets on a dying link are lost.  All others arrive. */
START_TEST(under_load)
{
	struct ftr_sim_change g[8];
	struct ftr_sim_result r;
	struct ftr_rng rng;
	uint64_t lost = 0;

	grow("torus:8,8");
	check_tables = true;
	ftr_rng_seed(&rng, (uint64_t)_i + 1);
	for (int i = 0; i < 8; i++) {
		uint64_t at = 20 * FTR_SIM_US + ftr_rng_below(&rng, 4000000);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&rng, 4));

		g[i] = dies(ftr_rng_below(&rng, 64), p, at);
	}
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

/* ---- any number of faults on any topology ------------------------------------------ */

static const char *const shapes[] = {
	"torus:16,16", "torus:8,8", "torus:5,3", "torus:4,3,3", "kary:4,3",
	"kary:2,4", "2;6,6;1,6;1,1", "3;3,3,3;1,2,3;1,2,1",
};

static bool gone[256];		/* [n_sw] the switch was killed */

static bool hangs_together(void)
{
	uint32_t parts = 0, uf[256];

	ftr_uf_init(uf, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW &&
			    up[f->sw[s].first_port + p])
				ftr_uf_union(uf, s, q->peer);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		parts += !gone[s] && ftr_uf_find(uf, s) == s;
	return parts == 1;
}

/* Choose faults at random, at most `most`.  The first one occurs at 10 us.  Some faults occur
 * during the reaction to the previous fault.  The remaining switches stay connected. */
static uint32_t draw(struct ftr_sim_change *g, uint32_t most, bool sw,
		     uint64_t seed)
{
	uint64_t at = 10 * FTR_SIM_US;
	struct ftr_rng rng;
	uint32_t n = 0;

	ftr_rng_seed(&rng, seed);
	memset(gone, 0, sizeof(gone));
	for (uint32_t i = 0; i < f->n_ports; i++)
		up[i] = f->ports[i].peer_kind != FTR_PEER_NONE;
	for (uint32_t tries = 0; n < most && tries < 50 * most; tries++) {
		ftr_sw s = ftr_rng_below(&rng, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&rng,
							  f->sw[s].n_ports));
		uint8_t *was = malloc(f->n_ports);

		g[n] = dies(s, p, at);
		if (sw)
			g[n].kind = FTR_SIM_SWITCH_DOWN;
		memcpy(was, up, f->n_ports);
		mark(&g[n]);
		gone[s] |= sw;
		if (!was[f->sw[s].first_port + p] || !hangs_together() ||
		    (!sw && ftr_fabric_port(f, s, p)->peer_kind !=
		     FTR_PEER_SW)) {
			memcpy(up, was, f->n_ports);
			gone[s] = sw && !works(s);
		} else if (++n && ftr_rng_below(&rng, 2)) {
			at += ftr_rng_below(&rng, 6 * (uint32_t)HOP);
		}
		free(was);
	}
	return n;
}

static uint64_t all_lost(const struct ftr_sim_result *r)
{
	uint64_t lost = 0;

	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		lost += r->lost[i];
	return lost;
}

/* Five links fail or, if _i is odd, all links except those of a tree.  Only packets on dying links
 * are lost. */
START_TEST(any_number)
{
	struct ftr_sim_change g[600];
	struct ftr_sim_result r;
	bool all = _i & 1;
	uint32_t n;

	grow(shapes[_i / 2]);
	check_tables = true;
	queues = _i & 1 ? FTR_SIM_FIFO : FTR_SIM_VOQ;
	opts = (struct immunet_opts){ .inject = 3 };
	n = draw(g, all ? (uint32_t)f->n_sw_links : 5, false, (uint64_t)_i);
	ck_assert_uint_ge(n, 5);
	if (all)
		ck_assert_uint_eq(n, f->n_sw_links - (f->n_sw - 1));
	after(g, n, &r, 0.3);
	ck_assert(!r.deadlock);
	ck_assert_uint_eq(all_lost(&r), r.lost[FTR_SIM_LOST_WIRE]);
	/* In each direction, at most two packets are lost: the one on the dead link, and one that
	 * has crossed it and is just being sent over the next link. */
	ck_assert_uint_le(all_lost(&r), 4 * n);
	ck_assert_uint_eq(r.injected, r.delivered + all_lost(&r) +
			  r.in_flight);
	ck_assert_uint_gt(r.series[9].delivered, 0);
	forget(&r);
	done();
}
END_TEST

/* Packets for dead hosts go round the ring once and are discarded.  Other packets are lost only in
 * a dying switch or on its links. */
START_TEST(dead_switches)
{
	struct ftr_sim_change g[4];
	struct ftr_sim_result r;
	uint32_t n;

	grow(shapes[_i]);
	check_tables = true;
	queues = FTR_SIM_FIFO;
	opts = (struct immunet_opts){ .inject = 3 };
	n = draw(g, 4, true, (uint64_t)_i);
	ck_assert_uint_eq(n, 4);
	after(g, n, &r, 0.2);
	ck_assert(!r.deadlock);
	ck_assert_uint_eq(all_lost(&r), r.lost[FTR_SIM_LOST_WIRE] +
			  r.lost[FTR_SIM_LOST_SWITCH] +
			  r.lost[FTR_SIM_LOST_GIVEN_UP]);
	ck_assert_uint_eq(r.series[9].lost, 0);
	ck_assert_uint_gt(r.series[9].delivered, 0);
	forget(&r);
	done();
}
END_TEST

/* Use only VL 1.  Before a fault, packets on VL 1 of a torus cross the dimensions in order.
 * So VL 1 can carry all packets on shortest paths. */
static unsigned int safe_only(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	unsigned int n = model_find("immunet")->route(state, v, a);
	struct ftr_sim_exit *e = a->exit;

	for (unsigned int i = 0; i < n; i++) {
		if (e[i].vl != 1)
			continue;
		ck_assert_int_eq(e[i].port >= 3, a->sw % 8 ==
				 v->f->owner[a->p->dlid].idx % 8);
		e[0] = e[i];
		return 1;
	}
	return n;
}

START_TEST(torus_rings)
{
	struct ftr_sim_function fn = *model_find("immunet");
	struct ftr_sim_conf c;
	struct ftr_sim_result r;

	fn.route = safe_only;
	grow("torus:8,8");
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .n_vls = 2, .traffic.load = 0.2,
		.link_ps = 10000, .switch_ps = 100000,
		.run_ps = 200 * FTR_SIM_US, .n_series = 2,
	};
	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	ck_assert_uint_gt(r.delivered, 10000);
	ck_assert_uint_eq(r.max_hops, 2 + 4 + 4);
	/* the mean distance between two switches of an 8x8 torus is 4 * 64 / 63 */
	ck_assert_double_eq_tol((double)r.series[1].hops /
				(double)r.series[1].delivered - 2,
				256.0 / 63, 0.1);
	ftr_sim_result_fini(&r, 1);
	done();
}
END_TEST

/* ---- cost of control packets ---------------------------------------------------------- */

/* One link of an 8x8 torus fails.  Every switch except the root announces its number once.  Each
 * switch forwards each number over all its links but one: the link by which the number came.  The
 * last announcement has crossed eight switches, each in 1000 cycles. */
START_TEST(control_packets)
{
	const struct ftr_sim_change g = dies(0, 1, 10 * FTR_SIM_US);
	const uint64_t cycle = 320, took = 8 * 1000 * cycle;
	const struct immunet *x;
	struct ftr_sim_result r;

	grow("torus:8,8");
	check_tables = true;
	opts = (struct immunet_opts){
		.signal_ps = 100 * cycle, .control_ps = 1000 * cycle,
		.control_bytes = 80,
	};
	x = after(&g, 1, &r, 0);
	/* both ends of the link declare a level; switch 0 announces itself at its own level and
	 * then at the level of switch 1 */
	ck_assert_uint_ge(x->n_origins, 63);
	ck_assert_uint_le(x->n_origins, 65);
	ck_assert_uint_ge(x->n_distance, 64 * (2 * 127 - 63));
	ck_assert_uint_le(x->n_distance, 64 * (2 * 127 - 63) + 64);
	ck_assert_uint_ge(x->last_update - x->first_fault, took);
	ck_assert_uint_le(x->last_update - x->first_fault, took +
			  12 * (HOP + 100 * cycle) + FTR_SIM_US / 4);
	ck_assert_uint_ge(x->last_open - x->first_fault, 8 * 100 * cycle);
	forget(&r);
	done();
}
END_TEST

/* With the option `every_path`, as in the paper, there are more control packets.  The tables must
 * be the same. */
START_TEST(every_path)
{
	const struct ftr_sim_change g = dies(0, 1, 10 * FTR_SIM_US);
	const struct immunet *x;
	struct ftr_sim_result r;

	grow("torus:5,5");
	check_tables = true;
	x = after(&g, 1, &r, 0);
	ck_assert_uint_le(x->n_distance, 25 * (2 * 49 - 24) + 64);
	forget(&r);
	opts.every_path = true;
	x = after(&g, 1, &r, 0);
	ck_assert_uint_gt(x->n_distance, 2 * 25 * (2 * 49 - 24));
	forget(&r);
	done();
}
END_TEST

/* Packets use only VL 1, with one ring or with the rings of a torus.  A packet that enters a ring
 * must leave room for another packet (the bubble).  Without bubbles there must be a deadlock. */
static bool bubble;

static unsigned int ring_only(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	unsigned int n = model_find("immunet")->route(state, v, a);
	struct ftr_sim_exit *e = a->exit;
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++)
		if (e[i].vl == 1 || v->f->ports[v->f->sw[a->sw].first_port +
		    e[i].port].peer_kind == FTR_PEER_EP)
			e[left++] = e[i];
	for (unsigned int i = 0; !bubble && i < left; i++)
		e[i].room = 1;
	return left;
}

START_TEST(bubbles)
{
	struct ftr_sim_function fn = *model_find("immunet");
	struct ftr_sim_conf c;
	struct ftr_sim_result r;

	fn.route = ring_only;
	bubble = _i & 1;
	opts = (struct immunet_opts){ .one_ring = _i & 2,
					 .one_vl = true };
	grow("torus:4,4");
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .n_vls = 2, .traffic.load = 1,
		.link_ps = 10000, .switch_ps = 100000, .buffer = 4096,
		.run_ps = 300 * FTR_SIM_US, .n_series = 10, .arg = &opts,
	};
	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	if (bubble) {
		ck_assert(!r.deadlock);
		ck_assert_uint_gt(r.series[9].delivered, 50);
	} else {
		ck_assert(r.deadlock);
		if (opts.one_ring)
			ck_assert_uint_eq(r.series[9].delivered, 0);
		ck_assert_uint_eq(r.cycle_len, opts.one_ring ? 30 : 4);
	}
	ftr_sim_result_fini(&r, 1);
	done();
}
END_TEST

static void add_link(struct ftr_builder *b, uint64_t x, unsigned int px,
		  uint64_t y, unsigned int py)
{
	const struct ftr_end e = { x, (ftr_port)px }, g = { y, (ftr_port)py };

	ck_assert(!ftr_builder_add_link(b, e, g, 4, FTR_SPEED_EDR, &err));
}

static void star(void)
{
	struct ftr_builder *b = ftr_builder_new();

	for (uint64_t s = 1; s <= 4; s++) {
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = s, .n_ports = 6,
		}, &err));
		for (uint64_t h = 10 * s; h < 10 * s + 2; h++) {
			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = h, .guid = h, .port_num = 1,
			}, &err));
			add_link(b, s, (unsigned int)(5 + h % 10), h, 1);
		}
		if (s > 1)
			add_link(b, 1, (unsigned int)s, s, 1);
	}
	add_link(b, 2, 2, 3, 2);
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!ftr_tables_new(f, true, &t, &err));
	up = calloc(f->n_ports, 1);
}

/* Without bubbles the ring of the star() fabric fills up.  Then a link dies that is not in the
 * ring, and the same ring is built again with bubbles.  Packets on the ring move again only if the
 * ring is drained. */
static unsigned int ring_then(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	bubble = v->now >= 100 * FTR_SIM_US;
	return ring_only(state, v, a);
}

START_TEST(drains)
{
	struct ftr_sim_function fn = *model_find("immunet");
	const struct ftr_sim_change g = dies(1, 2, 100 * FTR_SIM_US);
	const struct immunet_opts o = {
		.one_ring = true, .one_vl = true, .no_drain = _i & 1,
	};
	struct ftr_sim_conf c;
	struct ftr_sim_result r;

	fn.route = ring_then;
	star();
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .n_vls = 2, .traffic.load = 1,
		.link_ps = 10000, .switch_ps = 100000, .buffer = 4096,
		.run_ps = 400 * FTR_SIM_US, .n_series = 8, .arg = &o,
		.change = &g, .n_changes = 1,
		.queues = _i & 2 ? FTR_SIM_FIFO : FTR_SIM_VOQ,
	};
	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	ck_assert(r.deadlock);		/* the ring deadlocks before the link dies */
	ck_assert_uint_lt(r.deadlock_ps, 100 * FTR_SIM_US);
	ck_assert_uint_eq(r.series[1].delivered, 0);
	if (o.no_drain)
		ck_assert_uint_eq(r.series[7].delivered, 0);
	else
		ck_assert_uint_gt(r.series[7].delivered, 50);
	ck_assert_uint_eq(r.injected, r.delivered + all_lost(&r) +
			  r.in_flight);
	ftr_sim_result_fini(&r, 1);
	done();
}
END_TEST

/* Links fail one after the other.  In case 1 each switch counts only its own emergencies, as
 * in the paper.  A switch may then declare a level that no other switch follows, and some
 * rings keep a dead link.  In case 0 the switches count as tests/seeds/models/immunet.c describes
 * (a deviation from the paper), and no ring keeps a dead link. */
START_TEST(levels)
{
	uint32_t broken = 0;

	for (uint64_t seed = 0; seed < 10; seed++) {
		struct ftr_sim_change g[8];
		struct ftr_sim_result r;
		const struct immunet *x;
		bool bad = false;
		uint32_t n;

		grow("torus:8,8");
		opts = (struct immunet_opts){ .own_count = _i };
		n = draw(g, 8, false, seed);
		for (uint32_t i = 0; i < n; i++)
			g[i].at = 10 * FTR_SIM_US * (i + 1);
		x = after(g, n, &r, 0);
		for (ftr_sw s = 0; s < x->n; s++)
			for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
				bad |= x->node[s].next[p] &&
				       !up[f->sw[s].first_port + p];
		broken += bad;
		forget(&r);
		done();
	}
	if (_i)
		ck_assert_uint_gt(broken, 0);
	else
		ck_assert_uint_eq(broken, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_immunet");
	TCase *c = tcase_create("immunet");
	/* the largest shape takes as long as all others: it is tested only if FTR_RUNS >= 2 */
	int first = trees_runs(1) < 2, end = (int)FTR_ARRAY_LEN(shapes);

	tcase_add_test(c, figure_5);
	tcase_add_test(c, figure_6);
	tcase_add_test(c, whole);
	tcase_add_loop_test(c, nested, 0, 30);
	tcase_add_loop_test(c, under_load, 0, 4);
	tcase_add_loop_test(c, bubbles, 0, 4);
	tcase_add_loop_test(c, drains, 0, 4);
	tcase_add_loop_test(c, levels, 0, 2);
	tcase_add_loop_test(c, any_number, 2 * first, 2 * end);
	tcase_add_loop_test(c, dead_switches, first, end);
	tcase_add_test(c, torus_rings);
	tcase_add_test(c, control_packets);
	tcase_add_test(c, every_path);
	suite_add_tcase(s, c);
	return run_suite(s);
}
