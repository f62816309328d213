// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the search for credit loops between channels that are pairs of a link and a VL.  The tests
 * use rings with known results, and random fabrics, tables, SL2VL tables and path SLs.  The random
 * cases are compared with a naive construction.
 *
 * The naive construction follows every packet from its source port, and enters the dependencies
 * between the channels of the path in a square matrix.  A breadth-first search from every channel
 * finds the shortest cycle.  The construction also counts the places where packets to switches or
 * hosts are mapped to VL 15 and are therefore dropped.
 */
#include <stdlib.h>

#include "lib/suite.h"
#include "unit/check_net.h"
#include <ftr/ftr.h>

#define PORTS 6
#define MAX_SW 8
#define VLS 4
#define VERTICES (MAX_SW * (PORTS + 1) * VLS)
#define SEEDS 120

static struct ftr_err err;

/* ---- the naive construction ---------------------------------------------- */

struct naive {
	const struct net *n;
	const struct ftr_sl2vl *map;
	const struct ftr_path_sl *sl;
	uint64_t no_sl, drops;
	/* dropped[s][in][sl]: s drops packets with this SL that enter by port `in` */
	bool dropped[MAX_SW][PORTS + 1][FTR_N_SL];
	bool dep[VERTICES][VERTICES];
};

static uint32_t vertex(ftr_sw s, ftr_port p, unsigned int vl)
{
	return (s * (PORTS + 1) + p) * VLS + vl;
}

static void packet(struct naive *v, ftr_sw s, ftr_port in, uint32_t source,
		   ftr_lid lid)
{
	const struct ftr_fabric *f = v->n->f;
	const struct ftr_lid_owner *to = &f->owner[lid];
	unsigned int sl = 0;
	uint32_t last = VERTICES, hops = 0;

	if (v->sl && v->sl->row[source] &&
	    v->sl->row[source][lid] != FTR_SL_NONE)
		sl = v->sl->row[source][lid];
	else
		v->no_sl += v->sl != NULL;
	/* enough hops to pass any loop twice */
	while (hops++ < 3 * f->n_sw) {
		ftr_port out = ftr_tables_get(v->n->t, s, lid);
		const struct ftr_swport *port;
		unsigned int vl = sl;
		uint32_t at;

		if (out == 0 || out > f->sw[s].n_ports)
			return;
		port = ftr_fabric_port(f, s, out);
		if (port->peer_kind != FTR_PEER_SW &&
		    !(port->peer_kind == FTR_PEER_EP &&
		      to->kind == FTR_OWNER_EP && to->idx == port->peer))
			return;
		if (v->map)
			vl = *ftr_sl2vl_word(v->map, s, in, out) >> (4 * sl) &
				15;
		if (vl == FTR_VL_DROP) {
			v->drops += !v->dropped[s][in][sl];
			v->dropped[s][in][sl] = true;
			return;
		}
		if (port->peer_kind != FTR_PEER_SW)
			return;
		at = vertex(s, out, vl);
		if (last != VERTICES)
			v->dep[last][at] = true;
		last = at;
		in = port->peer_port;
		s = port->peer;
	}
}

static void all_packets(struct naive *v, bool switches)
{
	const struct ftr_fabric *f = v->n->f;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		if (o->kind == FTR_OWNER_NONE)
			continue;
		memset(v->dropped, 0, sizeof(v->dropped));
		for (ftr_ep e = 0; e < f->n_ep; e++)
			if (f->ep[e].sw != FTR_SW_NONE &&
			    (o->kind == FTR_OWNER_SW || o->idx != e))
				packet(v, f->ep[e].sw, f->ep[e].sw_port, e,
				       (ftr_lid)lid);
		for (ftr_sw s = 0; switches && s < f->n_sw; s++)
			if (o->kind == FTR_OWNER_EP || o->idx != s)
				packet(v, s, 0, f->n_ep + s, (ftr_lid)lid);
	}
}

static uint32_t shortest(const struct naive *v)
{
	uint32_t best = 0;

	for (uint32_t root = 0; root < VERTICES; root++) {
		uint32_t dist[VERTICES] = { 0 }, queue[VERTICES];
		uint32_t head = 0, tail = 0;

		queue[tail++] = root;
		while (head < tail && !dist[root]) {
			uint32_t x = queue[head++];

			for (uint32_t y = 0; y < VERTICES; y++)
				if (v->dep[x][y] && !dist[y]) {
					dist[y] = (x == root ? 0 : dist[x]) + 1;
					queue[tail++] = y;
				}
		}
		if (dist[root] && (!best || dist[root] < best))
			best = dist[root];
	}
	return best;
}

static void check_against(struct naive *v, const struct ftr_check_opts *opts,
			  struct ftr_team *team)
{
	struct ftr_check_report r;
	uint32_t best = shortest(v);

	ck_assert_int_eq(ftr_check_tables(v->n->f, v->n->t, opts, team, &r,
					  &err), FTR_OK);
	ck_assert_int_eq(r.cdg, best ? FTR_CDG_CYCLE : FTR_CDG_ACYCLIC);
	ck_assert_uint_eq(r.cycle_len, best);
	ck_assert_uint_eq(r.no_sl, v->no_sl);
	ck_assert_uint_eq(r.vl_drops, v->drops);
	for (uint32_t i = 0; i < r.cycle_len; i++) {
		const struct ftr_channel *a = &r.cycle[i];
		const struct ftr_channel *b = &r.cycle[(i + 1) % r.cycle_len];

		ck_assert_uint_lt(a->vl, r.n_vls);
		ck_assert(v->dep[vertex(a->sw, a->port, a->vl)]
				[vertex(b->sw, b->port, b->vl)]);
	}
}

/* ---- random fabrics ------------------------------------------------------ */

static void random_net(struct net *n, struct ftr_rng *rng)
{
	uint32_t n_sw = 3 + ftr_rng_below(rng, MAX_SW - 2), next[MAX_SW] = { 0 };

	*n = net_new(n_sw, PORTS, true, 0);
	/* a ring, because without a ring cycles are rare */
	for (uint32_t s = 0; s < n_sw; s++) {
		uint32_t y = (s + 1) % n_sw, ps = ++next[s];

		net_link(n, s, ps, y, ++next[y]);
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t x = ftr_rng_below(rng, n_sw);
		uint32_t y = ftr_rng_below(rng, n_sw);

		if (x != y && next[x] < PORTS - 2 && next[y] < PORTS - 2)
			net_link(n, x, ++next[x], y, ++next[y]);
	}
	for (uint32_t s = 0; s < n_sw; s++)
		for (uint32_t h = ftr_rng_below(rng, 3); h > 0; h--)
			net_host(n, s, ++next[s]);
	if (ftr_rng_below(rng, 2))
		net_host(n, FTR_SW_NONE, 0);	/* its link is down */
	net_freeze(n);
	net_route_all(n, rng);
}

static struct ftr_sl2vl *random_map(const struct net *n, struct ftr_rng *rng,
				    uint32_t vls)
{
	struct ftr_sl2vl *m;

	ck_assert(!ftr_sl2vl_new(n->f, &m, NULL));
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		for (uint32_t i = 0; i <= PORTS; i++)
			for (uint32_t o = 0; o <= PORTS; o++)
				for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
					uint32_t vl = ftr_rng_below(rng, vls);

					if (ftr_rng_below(rng, 40) == 0)
						vl = FTR_VL_DROP;
					ftr_sl2vl_set(m, s, (ftr_port)i,
						      (ftr_port)o, sl, vl);
				}
	return m;
}

static struct ftr_path_sl *random_sls(const struct net *n, struct ftr_rng *rng,
				      uint32_t sls)
{
	struct ftr_path_sl *p;

	ck_assert(!ftr_path_sl_new(n->f, &p, NULL));
	for (uint32_t i = 0; i < n->f->n_ep + n->f->n_sw; i++)
		for (uint32_t lid = 1; lid <= n->f->max_lid; lid++)
			if (ftr_rng_below(rng, 10))
				ck_assert(!ftr_path_sl_set(
					p, i, (ftr_lid)lid,
					ftr_rng_below(rng, sls), NULL));
	return p;
}

START_TEST(against_naive)
{
	struct ftr_team *team = ftr_team_new(2);
	static struct naive v;
	uint32_t cycles = 0;

	for (uint64_t i = 0; i < SEEDS; i++) {
		struct ftr_check_opts o = { .switch_sources = i % 3 == 0 };
		struct ftr_path_sl *sl = NULL;
		struct ftr_sl2vl *map = NULL;
		struct ftr_rng rng;
		struct net n;

		ftr_rng_seed(&rng, i + SEEDS * (uint64_t)_i);
		random_net(&n, &rng);
		for (uint32_t k = ftr_rng_below(&rng, 5); k > 0; k--) {
			ftr_lid lid = (ftr_lid)(1 + ftr_rng_below(&rng, n.f->max_lid));
			uint8_t *e = net_at(&n, ftr_rng_below(&rng, n.f->n_sw), lid);

			*e = (uint8_t)ftr_rng_below(&rng, PORTS + 1);
		}
		if (_i != 1)
			o.sl2vl = map = random_map(&n, &rng, 1 + i % VLS);
		if (_i != 2)
			o.path_sl = sl = random_sls(&n, &rng, 1 + i % VLS);
		memset(&v, 0, sizeof(v));
		v.n = &n;
		v.map = map;
		v.sl = sl;
		all_packets(&v, o.switch_sources);
		check_against(&v, &o, i % 2 ? team : NULL);
		cycles += shortest(&v) > 0;
		ftr_sl2vl_free(map);
		ftr_path_sl_free(sl);
		net_free(&n);
	}
	/* cases with and without a cycle must both be frequent */
	ck_assert_uint_gt(cycles, SEEDS / 20);
	ck_assert_uint_lt(cycles, SEEDS - SEEDS / 20);
	ftr_team_free(team);
}
END_TEST

/* ---- rings --------------------------------------------------------------- */

#define RING 5

/* A ring of switches: port 1 leads to the next switch, port 2 to the previous one, port 3 to the
 * host.  Every path goes in the shorter direction, at most two hops. */
static void ring(struct net *n)
{
	*n = net_new(RING, 4, false, 0);
	for (uint32_t s = 0; s < RING; s++) {
		net_link(n, s, 1, (s + 1) % RING, 2);
		net_host(n, s, 3);
	}
	net_freeze(n);
	for (uint32_t s = 0; s < RING; s++)
		for (uint32_t h = 0; h < RING; h++) {
			uint32_t ahead = (h + RING - s) % RING;

			*net_at(n, s, n->f->ep[h].lid) =
				(uint8_t)(ahead == 0 ? 3 : ahead <= 2 ? 1 : 2);
		}
}

/* Paths over the link between switches 4 and 0 have SL 1 on their whole length.  All other paths
 * have SL 0. */
static struct ftr_path_sl *dateline(const struct net *n)
{
	struct ftr_path_sl *p;

	ck_assert(!ftr_path_sl_new(n->f, &p, NULL));
	for (uint32_t s = 0; s < RING; s++)
		for (uint32_t h = 0; h < RING; h++) {
			uint32_t ahead = (h + RING - s) % RING;
			bool passes = ahead <= 2 ? h < s : h > s;

			ck_assert(!ftr_path_sl_set(p, s, n->f->ep[h].lid,
						   passes, NULL));
		}
	return p;
}

START_TEST(ring_dateline)
{
	struct ftr_check_opts o = { .rank = NULL };
	struct ftr_check_report r;
	struct ftr_sl2vl *m;
	struct net n;

	ring(&n);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, RING);
	ck_assert_uint_eq(r.n_vls, 0);
	/* each SL uses the VL of the same number: no cycle */
	o.path_sl = dateline(&n);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	ck_assert_uint_eq(r.n_vls, 2);
	ck_assert_uint_eq(r.no_sl, 0);
	/* The SL2VL tables give the same VLs, but switch 0 maps SL 1 to VL 0 towards switch 1.
	 * The path 4 -> 0 -> 1 changes its VL, and there is no cycle. */
	ck_assert(!ftr_sl2vl_new(n.f, &m, NULL));
	o.sl2vl = m;
	ftr_sl2vl_set(m, 0, 2, 1, 1, 0);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	/* SL 1 on VL 0 everywhere: the cycle is on VL 0 */
	for (uint32_t s = 0; s < RING; s++)
		for (uint32_t i = 0; i <= 3; i++)
			for (uint32_t p = 0; p <= 3; p++)
				ftr_sl2vl_set(m, s, (ftr_port)i, (ftr_port)p, 1,
					      0);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, RING);
	ck_assert_uint_eq(r.n_vls, 1);
	/* all SLs on VL 3: the cycle is on VL 3 */
	for (uint32_t s = 0; s < RING; s++)
		for (uint32_t i = 0; i <= 3; i++)
			for (uint32_t p = 0; p <= 3; p++)
				for (unsigned int sl = 0; sl < 2; sl++)
					ftr_sl2vl_set(m, s, (ftr_port)i,
						      (ftr_port)p, sl, 3);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	for (uint32_t i = 0; i < RING; i++) {
		ck_assert_uint_eq(r.cycle[i].sw, i);
		ck_assert_uint_eq(r.cycle[i].port, 1);
		ck_assert_uint_eq(r.cycle[i].vl, 3);
	}
	/* switch 0 drops SL 1, so no packet from switch 4 passes through switch 0 */
	for (uint32_t i = 0; i <= 3; i++)
		for (uint32_t p = 0; p <= 3; p++)
			ftr_sl2vl_set(m, 0, (ftr_port)i, (ftr_port)p, 1,
				      FTR_VL_DROP);
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	/* Four paths with SL 1 leave switch 0: from host 0 to hosts 3 and 4, from host 1 to host 4,
	 * and from host 4 to host 1.  Packets with SL 1 to host 0 arrive at switch 0
	 * by one port, so they count once. */
	ck_assert_uint_eq(r.vl_drops, 5);
	ck_assert_uint_eq(r.vl_drop.at, 0);
	ck_assert_uint_eq(r.vl_drop.lid, n.f->ep[0].lid);
	ftr_sl2vl_free(m);
	ftr_path_sl_free((struct ftr_path_sl *)(uintptr_t)o.path_sl);
	net_free(&n);
}
END_TEST

/* Only one path has a known SL.  All other paths are counted, and SL 0 is assumed for them. */
START_TEST(unreported)
{
	struct ftr_check_opts o = { .rank = NULL };
	struct ftr_check_report r;
	struct ftr_path_sl *p;
	struct net n;

	ring(&n);
	ck_assert(!ftr_path_sl_new(n.f, &p, NULL));
	ck_assert(!ftr_path_sl_set(p, 2, n.f->ep[0].lid, 0, NULL));
	o.path_sl = p;
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.no_sl, RING * (RING - 1) - 1);
	o.no_cdg = true;
	ck_assert(!ftr_check_tables(n.f, n.t, &o, NULL, &r, NULL));
	ck_assert_int_eq(r.cdg, FTR_CDG_NOT_CHECKED);
	ck_assert_uint_eq(r.n_vls, 0);
	ftr_path_sl_free(p);
	net_free(&n);
}
END_TEST

START_TEST(refused)
{
	struct ftr_check_opts o = { .rank = NULL };
	struct ftr_check_report r;
	struct ftr_path_sl *p;
	struct ftr_sl2vl *m;
	struct net n, other;

	ring(&n);
	other = net_new(RING - 1, 4, true, 0);
	net_freeze(&other);
	ck_assert(!ftr_sl2vl_new(other.f, &m, NULL));
	ck_assert(!ftr_path_sl_new(other.f, &p, NULL));
	o.sl2vl = m;
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, &o, NULL, &r, &err),
			 FTR_INVAL);
	ck_assert_str_eq(err.msg, "SL2VL tables of 4 switches do not fit a fabric of 5 switches");
	ftr_sl2vl_free(m);
	ck_assert(!ftr_sl2vl_new(n.f, &m, NULL));
	m->width[3]++;
	o.sl2vl = m;
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, &o, NULL, &r, &err),
			 FTR_INVAL);
	ck_assert_str_eq(err.msg, "SL2VL table of 5 ports does not fit switch 3 of 4 ports");
	o.sl2vl = NULL;
	o.path_sl = p;
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, &o, NULL, &r, &err),
			 FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "4 switches and LIDs up to 4 do not fit"));
	for (int i = 0; i < 3; i++) {
		struct ftr_path_sl fake = { .n_ep = n.f->n_ep, .n_sw = n.f->n_sw,
					    .max_lid = n.f->max_lid };

		fake.n_ep += i == 0;
		fake.n_sw += i == 1;
		fake.max_lid = (ftr_lid)(fake.max_lid + (i == 2));
		o.path_sl = &fake;
		ck_assert_int_eq(ftr_check_tables(n.f, n.t, &o, NULL, &r, &err), FTR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "do not fit a fabric of"));
	}
	ck_assert_int_eq(ftr_path_sl_set(p, 4, 1, 0, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_path_sl_set(p, 0, 5, 0, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_path_sl_set(p, 0, 1, 16, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "source 0, LID 1, SL 16: there are 4 sources, LIDs up to 4, SLs up to 15");
	ftr_sl2vl_free(m);
	ftr_path_sl_free(p);
	net_free(&n);
	net_free(&other);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("credit loops with VLs");
	TCase *tc = tcase_create("VLs");

	tcase_add_loop_test(tc, against_naive, 0, 3);
	tcase_add_test(tc, ring_dateline);
	tcase_add_test(tc, unreported);
	tcase_add_test(tc, refused);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
