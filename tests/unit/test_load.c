// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the counts of link load on trees with loads worked out by hand, and on random fabrics with
 * random, partly invalid tables.  On the random fabrics, every number must equal that of a naive
 * count.  The naive count walks every flow hop by hop, and counts it at every port.
 */
#include <stdlib.h>

#include "lib/suite.h"
#include "lib/trees.h"
#include "lib/shift_load.h"
#include "unit/check_net.h"
#include <ftr/ftr.h>

#define PORTS 16
#define MAX_SW 24
#define SEEDS 60

static struct ftr_err err;

/* ---- the naive count ----------------------------------------------------- */

struct naive {
	uint64_t load[MAX_SW][PORTS + 1];
	uint64_t sent[512], got[512];
	uint64_t flows, lost;
};

/* Follows a flow.  Returns the number of its links between switches, and stores them; -1: it does not
 * arrive. */
static int naive_path(const struct net *n, ftr_ep from, ftr_ep to, ftr_sw *at, uint8_t *port)
{
	const struct ftr_fabric *f = n->f;
	ftr_sw s = f->ep[from].sw;
	ftr_lid lid = f->ep[to].lid;
	uint32_t h = 0;

	while (s != FTR_SW_NONE && h <= f->n_sw) {
		ftr_port p = ftr_tables_get(n->t, s, lid);

		if (p == 0 || p > f->sw[s].n_ports)
			break;
		if (ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_SW)
			return s == f->ep[to].sw && p == f->ep[to].sw_port ? (int)h : -1;
		at[h] = s;
		port[h++] = p;
		s = ftr_fabric_port(f, s, p)->peer;
	}
	return -1;
}

static void naive_flow(const struct net *n, struct naive *v, ftr_ep from,
		       ftr_ep to)
{
	uint8_t port[MAX_SW + 1];
	ftr_sw at[MAX_SW + 1];
	int hops = naive_path(n, from, to, at, port);

	v->flows++;
	if (hops < 0) {
		v->lost++;
		return;
	}
	for (int i = 0; i < hops; i++)
		v->load[at[i]][port[i]]++;
	v->sent[from]++;
	v->got[to]++;
}

/* Returns the load of the most loaded link of a flow; UINT64_MAX: it does not arrive. */
static uint64_t naive_most(const struct net *n, const struct naive *v, struct ftr_transfer p)
{
	uint8_t port[MAX_SW + 1];
	ftr_sw at[MAX_SW + 1];
	int hops = naive_path(n, p.from, p.to, at, port);
	uint64_t most = 0;

	for (int i = 0; i < hops; i++)
		if (v->load[at[i]][port[i]] > most)
			most = v->load[at[i]][port[i]];
	return hops < 0 ? UINT64_MAX : most;
}

struct figures {
	uint64_t max, sum, used, links, hosts;
	uint64_t bins[4096];
};

static void naive_figures(const struct net *n, const struct naive *v,
			  struct figures *out)
{
	memset(out, 0, sizeof(*out));
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		for (uint32_t p = 1; p <= PORTS; p++) {
			uint64_t l = v->load[s][p];

			if (ftr_fabric_port(n->f, s, (ftr_port)p)->peer_kind !=
			    FTR_PEER_SW) {
				ck_assert_uint_eq(l, 0);
				continue;
			}
			out->links++;
			out->sum += l;
			out->used += l > 0;
			out->max = FTR_MAX(out->max, l);
			ck_assert_uint_lt(l, 4096);
			out->bins[l]++;
		}
	for (ftr_ep e = 0; e < n->f->n_ep; e++) {
		out->hosts = FTR_MAX(out->hosts, v->sent[e]);
		out->hosts = FTR_MAX(out->hosts, v->got[e]);
	}
}

static void same_bins(const struct ftr_load_bins *b, const uint64_t *naive,
		      uint32_t n)
{
	uint64_t count[FTR_LOAD_BINS] = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (naive[i])
			count[i / b->width] += naive[i];
	for (uint32_t i = 0; i < FTR_LOAD_BINS; i++)
		ck_assert_uint_eq(count[i], b->count[i]);
	ck_assert(!b->n || b->count[b->n - 1]);
}

static void same_links(const struct net *n, const struct naive *v,
		       const struct ftr_load_report *r)
{
	struct figures g;
	uint64_t last = UINT64_MAX;

	naive_figures(n, v, &g);
	ck_assert_uint_eq(r->max, g.max);
	ck_assert_uint_eq(r->links, g.links);
	ck_assert_uint_eq(r->used, g.used);
	ck_assert_uint_eq(r->load, g.sum);
	ck_assert_uint_eq(r->host_max, g.hosts);
	same_bins(&r->loads, g.bins, 4096);
	ck_assert_uint_eq(r->n_links, FTR_MIN(g.used, FTR_LOAD_WORST_MAX));
	for (uint32_t i = 0; i < r->n_links; i++) {
		const struct ftr_load_link *l = &r->link[i];

		ck_assert_uint_eq(l->load, v->load[l->sw][l->port]);
		ck_assert_uint_le(l->load, last);
		if (i && l->load == last)
			ck_assert(l[-1].sw < l->sw || (l[-1].sw == l->sw &&
						       l[-1].port < l->port));
		last = l->load;
	}
	/* links that the report leaves out have at most the load of the last link in the report */
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		for (uint32_t p = 1, seen; p <= PORTS; p++) {
			if (!r->n_links || v->load[s][p] <= last)
				continue;
			for (seen = 0; seen < r->n_links; seen++)
				if (r->link[seen].sw == s &&
				    r->link[seen].port == p)
					break;
			ck_assert_uint_lt(seen, r->n_links);
		}
}

static void same_by_port(const struct net *n, const struct naive *v, const uint64_t *by_port)
{
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		for (uint32_t p = 0; p <= PORTS; p++)
			ck_assert_uint_eq(by_port[n->f->sw[s].first_port + p],
					  p ? v->load[s][p] : 0);
}

/* ---- random fabrics ------------------------------------------------------ */

struct scene {
	struct net net;
	struct ftr_rng rng;
	ftr_ep order[512];
	uint32_t n;
};

static void random_net(struct scene *z, uint64_t seed)
{
	uint32_t n_sw, next[MAX_SW] = { 0 };
	struct net *n = &z->net;

	ftr_rng_seed(&z->rng, seed);
	n_sw = 1 + ftr_rng_below(&z->rng, MAX_SW);
	*n = net_new(n_sw, PORTS, false, 0);
	for (uint32_t s = 1; s < n_sw; s++) {
		uint32_t y = ftr_rng_below(&z->rng, s);

		if (next[y] < PORTS - 4)
			net_link(n, s, ++next[s], y, ++next[y]);
	}
	for (uint32_t i = 0; i < n_sw; i++) {
		uint32_t x = ftr_rng_below(&z->rng, n_sw);
		uint32_t y = ftr_rng_below(&z->rng, n_sw);

		if (x != y && next[x] < PORTS - 4 && next[y] < PORTS - 4)
			net_link(n, x, ++next[x], y, ++next[y]);
	}
	for (uint32_t s = 0; s < n_sw; s++)
		for (uint32_t h = ftr_rng_below(&z->rng, 4); h > 0; h--)
			net_host(n, s, ++next[s]);
	if (ftr_rng_below(&z->rng, 3) == 0)
		net_host(n, FTR_SW_NONE, 0);
	net_freeze(n);
	net_route_all(n, &z->rng);
}

static void spoil(struct scene *z)
{
	struct net *n = &z->net;
	uint32_t perm[512];

	if (ftr_rng_below(&z->rng, 2))
		for (uint32_t i = 0; n->f->max_lid && i < n->f->n_sw; i++) {
			uint32_t lid = 1 + ftr_rng_below(&z->rng, n->f->max_lid);
			uint8_t *e = net_at(n, ftr_rng_below(&z->rng, n->f->n_sw), (ftr_lid)lid);

			*e = (uint8_t)ftr_rng_below(&z->rng, PORTS + 2);
		}
	ftr_rng_perm(&z->rng, perm, n->f->n_ep);
	for (uint32_t i = 0; i < n->f->n_ep; i++) {
		if (ftr_rng_below(&z->rng, 6) == 0)
			z->order[z->n++] = FTR_EP_NONE;
		if (ftr_rng_below(&z->rng, 9) == 0)
			continue;
		z->order[z->n++] = ftr_rng_below(&z->rng, 4) ? perm[i] : FTR_EP_NONE;
	}
}

static struct ftr_load *must_new(struct scene *z, struct ftr_team *team)
{
	struct ftr_load *ld = NULL;

	if (ftr_load_new(z->net.f, z->net.t, (struct ftr_order){ z->order, z->n }, team, &ld, &err))
		ck_abort_msg("%s", err.msg);
	return ld;
}

static bool is_live(const struct scene *z, uint32_t i)
{
	return z->order[i] != FTR_EP_NONE &&
		z->net.f->ep[z->order[i]].sw != FTR_SW_NONE;
}

static void test_all(struct scene *z, struct ftr_load *ld)
{
	struct naive v = { .flows = 0 };
	uint64_t by_port[MAX_SW * (PORTS + 1)];
	struct ftr_load_report r;
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < z->n; i++) {
		hosts += is_live(z, i);
		for (uint32_t j = 0; is_live(z, i) && j < z->n; j++)
			if (i != j && is_live(z, j))
				naive_flow(&z->net, &v, z->order[i],
					   z->order[j]);
	}
	memset(by_port, 0xff, sizeof(by_port));
	ftr_load_all(ld, by_port, &r);
	same_by_port(&z->net, &v, by_port);
	ck_assert_uint_eq(r.hosts, hosts);
	ck_assert_uint_eq(r.flows, v.flows);
	ck_assert_uint_eq(r.lost, v.lost);
	ck_assert_uint_eq(r.patterns, 1);
	ck_assert_uint_eq(r.sum_max, r.max);
	same_links(&z->net, &v, &r);
}

static void test_shifts(struct scene *z, struct ftr_load *ld,
			struct ftr_team *team)
{
	uint64_t flows = 0, lost = 0, max = 0, sum = 0, least = UINT64_MAX;
	uint64_t load = 0, used = 0, maxima[512] = { 0 };
	static struct naive v, worst;
	struct ftr_load_report r;
	struct figures g;
	uint32_t k, at = 0, reported;

	for (k = 1; k < z->n; k++) {
		memset(&v, 0, sizeof(v));
		for (uint32_t i = 0; i < z->n; i++)
			if (is_live(z, i) && is_live(z, (i + k) % z->n))
				naive_flow(&z->net, &v, z->order[i],
					   z->order[(i + k) % z->n]);
		naive_figures(&z->net, &v, &g);
		ck_assert_int_eq(shift_load(z->net.f, z->net.t, z->order,
						 z->n, k, &reported, &err), FTR_OK);
		ck_assert_uint_eq(reported, g.max);
		flows += v.flows;
		lost += v.lost;
		if (k == 1 || g.max > max) {
			max = g.max;
			at = k;
			worst = v;
		}
		sum += g.max;
		least = FTR_MIN(least, g.max);
		load += g.sum;
		used += g.used;
		maxima[g.max]++;
	}
	ck_assert_int_eq(ftr_load_shifts(ld, 0, 0, team, &r, &err), FTR_OK);
	ck_assert_uint_eq(r.patterns, z->n ? z->n - 1 : 0);
	ck_assert_uint_eq(r.flows, flows);
	ck_assert_uint_eq(r.lost, lost);
	ck_assert_uint_eq(r.max, max);
	ck_assert_uint_eq(r.sum_max, sum);
	ck_assert_uint_eq(r.sum_load, load);
	ck_assert_uint_eq(r.sum_used, used);
	if (z->n < 2)
		return;
	ck_assert_uint_eq(r.min_max, least);
	ck_assert_uint_eq(r.worst, at);
	same_bins(&r.maxima, maxima, 512);
	same_links(&z->net, &worst, &r);
}

/* Compare the loads under random traffic patterns (<ftr/load.h>) with the naive count.  Each
 * pattern is a random permutation of the hosts; `master` draws its seed.  If `halves` is set, the
 * patterns are bisections: the first half of the permutation sends to the second half. */
static void test_random(struct scene *z, struct ftr_load *ld, bool halves)
{
	uint32_t live[512], perm[512], n = 0, at = 0;
	uint64_t flows = 0, lost = 0, max = 0, sum = 0;
	static struct naive v, worst;
	struct ftr_rng master, rng;
	struct ftr_load_report r;
	struct figures g;

	for (uint32_t i = 0; i < z->n; i++)
		if (is_live(z, i))
			live[n++] = z->order[i];
	ftr_rng_seed(&master, 77);
	for (uint32_t k = 0; k < 6; k++) {
		memset(&v, 0, sizeof(v));
		ftr_rng_seed(&rng, ftr_rng_next(&master));
		ftr_rng_perm(&rng, perm, n);
		for (uint32_t i = 0; halves && i < n / 2; i++)
			naive_flow(&z->net, &v, live[perm[i]],
				   live[perm[n / 2 + i]]);
		for (uint32_t i = 0; !halves && i < n; i++)
			if (perm[i] != i)
				naive_flow(&z->net, &v, live[i],
					   live[perm[i]]);
		naive_figures(&z->net, &v, &g);
		flows += v.flows;
		lost += v.lost;
		sum += g.max;
		if (k == 0 || g.max > max) {
			max = g.max;
			at = k;
			worst = v;
		}
	}
	ck_assert_int_eq((halves ? ftr_load_bisections : ftr_load_permutations)
			 (ld, 6, 77, NULL, &r, &err), FTR_OK);
	ck_assert_uint_eq(r.flows, flows);
	ck_assert_uint_eq(r.lost, lost);
	ck_assert_uint_eq(r.sum_max, sum);
	ck_assert_uint_eq(r.worst, at);
	same_links(&z->net, &worst, &r);
}

static void same_report(const struct ftr_load_report *a,
			const struct ftr_load_report *b)
{
	ck_assert_uint_eq(a->flows, b->flows);
	ck_assert_uint_eq(a->max, b->max);
	ck_assert_uint_eq(a->worst, b->worst);
	ck_assert_int_eq(memcmp(a, b, sizeof(*a)), 0);
}

static void test_pairs(struct scene *z, struct ftr_load *ld)
{
	struct ftr_transfer pair[200];
	struct naive v = { .flows = 0 };
	uint64_t by_port[MAX_SW * (PORTS + 1)], most[200];
	struct ftr_load_report r, again;
	uint32_t n = z->net.f->n_ep ? 200 : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct ftr_transfer *p = &pair[i];

		p->from = ftr_rng_below(&z->rng, z->net.f->n_ep);
		p->to = ftr_rng_below(&z->rng, z->net.f->n_ep);
		if (p->from == p->to)
			continue;
		naive_flow(&z->net, &v, p->from, p->to);
	}
	memset(by_port, 0xff, sizeof(by_port));
	ck_assert_int_eq(ftr_load_pairs(ld, pair, n, by_port, &r, &err), FTR_OK);
	same_by_port(&z->net, &v, by_port);
	ck_assert_uint_eq(r.flows, v.flows);
	ck_assert_uint_eq(r.lost, v.lost);
	same_links(&z->net, &v, &r);
	ck_assert_int_eq(ftr_load_pairs(ld, pair, n, NULL, &again, &err), FTR_OK);
	same_report(&r, &again);
	ck_assert_int_eq(ftr_load_pairs_most(ld, pair, n, most, &err), FTR_OK);
	for (uint32_t i = 0; i < n; i++)
		if (pair[i].from != pair[i].to)
			ck_assert_uint_eq(most[i], naive_most(&z->net, &v, pair[i]));
}

START_TEST(against_naive)
{
	struct ftr_team *team = ftr_team_new(3);

	for (uint64_t i = 0; i < SEEDS; i++) {
		struct scene z = { .n = 0 };
		struct ftr_load *ld;

		random_net(&z, (uint64_t)_i * SEEDS + i);
		spoil(&z);
		ld = must_new(&z, team);
		test_all(&z, ld);
		test_shifts(&z, ld, team);
		test_random(&z, ld, true);
		test_random(&z, ld, false);
		test_pairs(&z, ld);
		ftr_load_free(ld);
		net_free(&z.net);
	}
	ftr_team_free(team);
}
END_TEST

/* The result does not depend on the number of threads. */
START_TEST(same_for_any_team)
{
	struct ftr_team *team[] = { NULL, ftr_team_new(2), ftr_team_new(5) };
	struct ftr_load_report r[3][4];

	for (uint64_t seed = 1; seed < 20; seed++) {
		struct scene z = { .n = 0 };

		random_net(&z, seed);
		spoil(&z);
		memset(r, 0, sizeof(r));
		for (int i = 0; i < 3; i++) {
			struct ftr_load *ld = must_new(&z, team[i]);

			ftr_load_all(ld, NULL, &r[i][0]);
			ck_assert(!ftr_load_shifts(ld, 5, seed, team[i],
						   &r[i][1], NULL));
			ck_assert(!ftr_load_permutations(ld, 20, seed, team[i],
							 &r[i][2], NULL));
			ck_assert(!ftr_load_bisections(ld, 20, seed, team[i],
						       &r[i][3], NULL));
			ftr_load_free(ld);
		}
		for (int k = 0; k < 4; k++) {
			same_report(&r[0][k], &r[1][k]);
			same_report(&r[0][k], &r[2][k]);
		}
		net_free(&z.net);
	}
	ftr_team_free(team[1]);
	ftr_team_free(team[2]);
}
END_TEST

/* ---- loads worked out by hand --------------------------------------------- */

/* Two leaves below `spines` spines: hosts 0..2 are on leaf 0, hosts 3..5 on leaf 1.  Packets to
 * the i-th host of a leaf go through spine number i % spines. */
static void two_level(struct scene *z, uint32_t spines)
{
	struct net *n = &z->net;

	*n = net_new(2 + spines, PORTS, false, 0);
	for (uint32_t l = 0; l < 2; l++) {
		for (uint32_t h = 0; h < 3; h++)
			net_host(n, l, 1 + h);
		for (uint32_t s = 0; s < spines; s++)
			net_link(n, l, 4 + s, 2 + s, 1 + l);
	}
	net_freeze(n);
	for (uint32_t e = 0; e < 6; e++) {
		ftr_lid lid = n->f->ep[e].lid;

		for (uint32_t l = 0; l < 2; l++)
			*net_at(n, l, lid) = (uint8_t)(l == e / 3 ? 1 + e % 3 :
						       4 + e % 3 % spines);
		for (uint32_t s = 0; s < spines; s++)
			*net_at(n, 2 + s, lid) = (uint8_t)(1 + e / 3);
		z->order[z->n++] = e;
	}
}

/* With as many spines as hosts per leaf, no two flows of a shift share a link. */
START_TEST(non_blocking)
{
	struct scene z = { .n = 0 };
	struct ftr_load_report r;
	struct ftr_load *ld;

	two_level(&z, 3);
	ld = must_new(&z, NULL);
	ck_assert(!ftr_load_shifts(ld, 0, 0, NULL, &r, NULL));
	ck_assert_uint_eq(r.patterns, 5);
	ck_assert_uint_eq(r.flows, 30);
	ck_assert_uint_eq(r.lost, 0);
	ck_assert_uint_eq(r.max, 1);
	ck_assert_uint_eq(r.min_max, 1);
	ck_assert_uint_eq(r.sum_max, 5);
	ck_assert_uint_eq(r.worst, 1);
	ck_assert_uint_eq(r.links, 12);
	/* all-to-all: each link carries the 3 flows from the hosts of one leaf to one host */
	ftr_load_all(ld, NULL, &r);
	ck_assert_uint_eq(r.flows, 30);
	ck_assert_uint_eq(r.max, 3);
	ck_assert_uint_eq(r.used, 12);
	ck_assert_uint_eq(r.load, 36);
	ck_assert_uint_eq(r.host_max, 5);
	ck_assert_uint_eq(r.loads.count[3], 12);
	ck_assert_uint_eq(r.loads.n, 4);
	ftr_load_free(ld);
	net_free(&z.net);
}
END_TEST

/* One spine for three hosts.  In shift k, min(k, 6 - k) flows go in each direction, all over one
 * link: 1, 2, 3, 2 and 1 flows. */
START_TEST(blocking)
{
	struct scene z = { .n = 0 };
	struct ftr_load_report r;
	struct ftr_load *ld;

	two_level(&z, 1);
	ld = must_new(&z, NULL);
	ck_assert(!ftr_load_shifts(ld, 0, 0, NULL, &r, NULL));
	ck_assert_uint_eq(r.max, 3);
	ck_assert_uint_eq(r.min_max, 1);
	ck_assert_uint_eq(r.sum_max, 9);
	ck_assert_uint_eq(r.worst, 3);
	ck_assert_uint_eq(r.maxima.count[1], 2);
	ck_assert_uint_eq(r.maxima.count[2], 2);
	ck_assert_uint_eq(r.maxima.count[3], 1);
	ck_assert_uint_eq(r.sum_load, 2 * 18);
	ck_assert_uint_eq(r.sum_used, 5 * 4);
	ck_assert_uint_eq(r.used, 4);
	ck_assert_uint_eq(r.n_links, 4);
	ck_assert_uint_eq(r.link[0].sw, 0);
	ck_assert_uint_eq(r.link[0].port, 4);
	ck_assert_uint_eq(r.link[0].load, 3);
	ftr_load_all(ld, NULL, &r);
	ck_assert_uint_eq(r.max, 9);
	/* without the spine's entry for host 5, leaf 0 does not reach this host */
	*net_at(&z.net, 2, z.net.f->ep[5].lid) = FTR_PORT_NONE;
	ftr_load_free(ld);
	ld = must_new(&z, NULL);
	ftr_load_all(ld, NULL, &r);
	ck_assert_uint_eq(r.flows, 30);
	ck_assert_uint_eq(r.lost, 3);
	ck_assert_uint_eq(r.link[0].load, 9);
	ck_assert_uint_eq(r.link[3].load, 6);
	ftr_load_free(ld);
	net_free(&z.net);
}
END_TEST

/* Six hosts on one switch: all flows arrive, and no link between switches is used. */
START_TEST(one_switch)
{
	struct scene z = { .n = 0 };
	struct ftr_load_report r;
	struct ftr_load *ld;

	z.net = net_new(1, PORTS, false, 0);
	for (uint32_t h = 0; h < 6; h++) {
		net_host(&z.net, 0, 1 + h);
		z.order[z.n++] = h;
	}
	net_freeze(&z.net);
	net_route_all(&z.net, NULL);
	ld = must_new(&z, NULL);
	ftr_load_all(ld, NULL, &r);
	ck_assert(r.flows == 30 && !r.lost && !r.max && !r.links &&
		  r.host_max == 5);
	ck_assert(!ftr_load_shifts(ld, 0, 0, NULL, &r, NULL));
	ck_assert(r.flows == 30 && !r.lost && !r.max && r.host_max == 1);
	ck_assert(!ftr_load_bisections(ld, 3, 1, NULL, &r, NULL));
	ck_assert(r.flows == 9 && r.patterns == 3);
	ck_assert(!ftr_load_permutations(ld, 0, 1, NULL, &r, NULL));
	ck_assert(!r.flows && !r.patterns && r.hosts == 6);
	ftr_load_free(ld);
	z.n = 0;
	ld = must_new(&z, NULL);
	ftr_load_all(ld, NULL, &r);
	ck_assert(!r.flows && !r.hosts);
	ck_assert(!ftr_load_shifts(ld, 0, 0, NULL, &r, NULL) && !r.patterns);
	ck_assert(!ftr_load_bisections(ld, 2, 0, NULL, &r, NULL) && !r.flows);
	ftr_load_free(ld);
	net_free(&z.net);
}
END_TEST

/* Puts the largest load, the total load and the number of used links under shift k into one number.
 * From the sum of these numbers over a few shifts, shifts_of() finds out which shifts they are. */
static uint64_t shift_code(const struct scene *z, const struct ftr_load *ld, uint32_t k)
{
	struct ftr_transfer pair[512];
	struct ftr_load_report r;

	for (uint32_t i = 0; i < z->n; i++)
		pair[i] = (struct ftr_transfer){ .from = z->order[i], .to = z->order[(i + k) % z->n] };
	ck_assert(!ftr_load_pairs(ld, pair, z->n, NULL, &r, &err));
	return (UINT64_C(1) << 4 * r.max) + (r.load << 16) + ((uint64_t)r.used << 32);
}

/* Returns the set of the n shifts in the report: bit k - 1 stands for shift k.  code[k - 1] is the
 * result of shift_code() for shift k. */
static uint32_t shifts_of(const struct ftr_load_report *r, const uint64_t *code, uint32_t n)
{
	uint64_t all = (r->sum_load << 16) + (r->sum_used << 32);
	uint32_t found = 0;

	for (uint32_t m = 0; m < r->maxima.n; m++)
		all += r->maxima.count[m] << 4 * m;
	for (uint32_t set = 1; set < 32; set++) {
		uint64_t x = 0;

		for (uint32_t k = 0; k < 5; k++)
			x += set >> k & 1 ? code[k] : 0;
		if (x == all && (uint32_t)__builtin_popcount(set) == n) {
			ck_assert(!found);
			found = set;
		}
	}
	return found;
}

/* A sample is a random subset of the shifts.  It contains every smaller sample drawn with the same
 * seed.  Different seeds give different samples. */
START_TEST(samples)
{
	struct scene z = { .n = 0 };
	uint32_t seen = 0;
	uint64_t code[5];
	struct ftr_load_report r, s;
	struct ftr_load *ld;

	two_level(&z, 1);
	/* leaf 0 has no entry for host 3, so that shifts k and 6 - k have different loads */
	*net_at(&z.net, 0, z.net.f->ep[3].lid) = FTR_PORT_NONE;
	ld = must_new(&z, NULL);
	for (uint32_t k = 1; k <= 5; k++)
		code[k - 1] = shift_code(&z, ld, k);
	for (uint64_t seed = 0; seed < 50; seed++) {
		uint32_t before = 0, set;

		for (uint32_t n = 1; n <= 6; n++) {
			ck_assert(!ftr_load_shifts(ld, n, seed, NULL, &s, NULL));
			ck_assert_uint_eq(s.patterns, FTR_MIN(n, 5));
			set = shifts_of(&s, code, FTR_MIN(n, 5));
			ck_assert(set && (set & before) == before);
			seen |= n == 1 ? set : 0;
			before = set;
		}
		ck_assert_uint_eq(before, 31);
		ck_assert(!ftr_load_permutations(ld, 4, seed, NULL, &r, NULL));
		ck_assert(!ftr_load_permutations(ld, 5, seed, NULL, &s, NULL));
		ck_assert_uint_ge(s.sum_max, r.sum_max);
		ck_assert_uint_le(s.sum_max, r.sum_max + 3);
		ck_assert_uint_le(r.flows, 24);
		ck_assert(!ftr_load_bisections(ld, 4, seed, NULL, &r, NULL));
		ck_assert_uint_eq(r.flows, 12);
		ck_assert_uint_le(r.max, 3);
	}
	ck_assert_uint_eq(seen, 31);
	ftr_load_free(ld);
	net_free(&z.net);
}
END_TEST

/* The trees are complete, and each of their switches has as many upward links as downward links.
 * With dmodc, no two flows of a shift may share a link. */
START_TEST(dmodc_shifts)
{
	static const char *const shape[] = { "3;4,4,8;1,4,4;1,1,1", "kary:4,3" };
	struct ftr_gen_opts o = { .seed = 5, .random_guids = true,
				  .random_ports = true, .random_lids = true };
	struct scene z = { .n = 0 };
	struct ftr_load_report r;
	struct ftr_pgft g;
	struct ftr_load *ld;
	struct ftr_fabric *f;
	struct ftr_tables *t;
	struct ftr_shape *sh;

	ck_assert(!ftr_pgft_parse(shape[_i], &g, &err));
	ck_assert(!ftr_gen_pgft(&g, &o, &f, &err));
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL, &err));
	for (uint32_t l = 0; l < sh->tree.n_leaf; l++)
		for (uint32_t i = sh->numbering.dest_first[l]; i < sh->numbering.dest_first[l + 1];
		     i++)
			if (sh->numbering.dest[i].cls == FTR_CLASS_HOST)
				z.order[z.n++] = f->owner[sh->numbering.dest[i].lid].idx;
	ck_assert(!ftr_load_new(f, t, (struct ftr_order){ z.order, z.n }, NULL, &ld, &err));
	ck_assert(!ftr_load_shifts(ld, 0, 0, NULL, &r, &err));
	ck_assert_uint_eq(r.max, 1);
	ck_assert_uint_eq(r.sum_max, z.n - 1);
	ck_assert_uint_eq(r.lost, 0);
	/* under random permutations, flows may share links */
	ck_assert(!ftr_load_permutations(ld, 20, 1, NULL, &r, &err));
	ck_assert_uint_gt(r.max, 1);
	ftr_load_free(ld);
	ftr_shape_free(sh);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(refused)
{
	struct scene z = { .n = 0 };
	const struct ftr_transfer pair[] = { { .from = 0, .to = 6 }, { .from = 6, .to = 0 } };
	struct ftr_job_pair itself;
	struct ftr_job job = { .pair = &itself };
	struct ftr_load *ld = NULL;
	struct ftr_load_report r;

	two_level(&z, 1);
	z.order[2] = 0;
	ck_assert_int_eq(ftr_load_new(z.net.f, z.net.t, (struct ftr_order){ z.order, z.n }, NULL,
				      &ld, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "places 0 and 2 of the order name the same host port 0");
	z.order[2] = 6;
	ck_assert_int_eq(ftr_load_new(z.net.f, z.net.t, (struct ftr_order){ z.order, z.n }, NULL,
				      &ld, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "place 2 of the order names host port 6, but the fabric has 6 host ports");
	z.net.t->max_lid--;
	ck_assert_int_eq(ftr_load_new(z.net.f, z.net.t, (struct ftr_order){ z.order, 0 }, NULL, &ld,
				      &err), FTR_INVAL);
	z.net.t->max_lid++;
	ck_assert_ptr_null(ld);
	z.order[2] = 2;
	ld = must_new(&z, NULL);
	ck_assert_int_eq(ftr_load_pairs(ld, &pair[0], 1, NULL, &r, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "pair 0 names host ports 0 and 6, but the fabric has 6 host ports");
	ck_assert_int_eq(ftr_load_pairs(ld, &pair[1], 1, NULL, &r, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "pair 0 names host ports 6 and 0, but the fabric has 6 host ports");
	ck_assert_int_eq(ftr_jobs_load(z.net.f, z.net.t, &job, FTR_JOBS_MAX + 1, NULL, &err),
			 FTR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.msg, "more than"));
	/* a job of one host port uses no link */
	job.order = (struct ftr_order){ z.order, 1 };
	ck_assert_int_eq(ftr_jobs_load(z.net.f, z.net.t, &job, 1, NULL, &err), FTR_OK);
	ck_assert(!job.links && !job.shared && job.with_all == 1 && job.worst_sw == FTR_SW_NONE);
	ftr_load_free(ld);
	net_free(&z.net);
}
END_TEST

/* Two of three jobs share all of their links, and the third one shares none. */
START_TEST(three_jobs)
{
	struct scene z = { .n = 0 };
	ftr_ep ep[] = { 0, 3, 0, 3, 1, 4 };
	struct ftr_job_pair pair[3][3];
	struct ftr_job job[3];

	two_level(&z, 3);
	for (int i = 0; i < 3; i++)
		job[i] = (struct ftr_job){ .order = { ep + 2 * i, 2 }, .pair = pair[i] };
	ck_assert(!ftr_jobs_load(z.net.f, z.net.t, job, 3, NULL, &err));
	for (int i = 0; i < 3; i++) {
		ck_assert(job[i].shared == (i < 2 ? 4 : 0) && job[i].with_all == (i < 2 ? 2 : 1));
		for (int j = 0; j < 3; j++)
			ck_assert(pair[i][j].interference == (i + j == 1 ? 2 : 1));
	}
	net_free(&z.net);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("link load");
	TCase *tc = tcase_create("load");

	tcase_add_loop_test(tc, against_naive, 0, (int)trees_runs(8));
	tcase_add_test(tc, same_for_any_team);
	tcase_add_test(tc, non_blocking);
	tcase_add_test(tc, blocking);
	tcase_add_test(tc, one_switch);
	tcase_add_test(tc, samples);
	tcase_add_loop_test(tc, dmodc_shifts, 0, 2);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, three_jobs);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
