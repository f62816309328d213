// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the times of collectives: closed formulas on one switch and on complete trees, and, on
 * damaged trees with ranks in random order, a slow evaluation that follows every flow of every step
 * port by port.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collective.h"
#include "cli/cli.h"
#include "lib/suite.h"

#define BYTES 1e9
#define ALPHA 2e-6
#define EDR 12.5e9
#define NDR 50e9

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_tables *t;
static struct coll_ranks ranks;

static void ok(enum ftr_status st)
{
	if (st)
		ck_abort_msg("%s", err.msg);
}

/* Makes the fabric without `links` of its links, tables, and the ranks in host order. */
static void make(const char *shape, unsigned int nodes, uint32_t links, uint64_t seed)
{
	struct ftr_gen_opts o = { .seed = seed, .random_guids = true, .nodes = nodes };
	struct ftr_damage d = { .seed = seed, .links = links };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { .turn = NULL };
	struct ftr_fabric *whole = NULL;
	struct ftr_shape *sh = NULL;

	ok(ftr_gen_shape(shape, &o, &whole, &err));
	ok(ftr_gen_damage(whole, &d, &f, &err));
	ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
	ok(ftr_tables_new(f, false, &t, &err));
	ok(ftr_engine_find("dmodc")->route(sh, &ro, NULL, t, &stats, &err));
	ranks = (struct coll_ranks){ sh->numbering.n_places, 1, NULL };
	ranks.port = calloc(ranks.nodes, sizeof(*ranks.port));
	ftr_shape_host_order(sh, ranks.port);
	ck_assert_uint_eq(ranks.nodes, f->n_ep);
	ftr_shape_free(sh);
	ftr_fabric_free(whole);
}

static void drop(void)
{
	free(ranks.port);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}

static struct coll_time run(const char *name, const struct coll_opts *o)
{
	const struct coll_kind *k = coll_kinds;
	struct coll *c = coll_new(f, t, &ranks, 0, NULL);
	struct coll_time x;

	while (strcmp(k->name, name))
		k++;
	x = coll_run(c, k, o);
	coll_free(c);
	return x;
}

static void expect(const char *name, double seconds)
{
	const struct coll_opts o = { .bytes = BYTES, .latency = ALPHA, .repeat = 3 };
	struct coll_time x = run(name, &o);

	ck_assert_msg(fabs(x.seconds - seconds) < 1e-9 * seconds, "%s: %.9g s, expected %.9g s",
		      name, x.seconds, seconds);
	ck_assert_uint_eq(x.lost, 0);
	ck_assert(x.link_bound <= x.seconds && x.adapter_bound <= x.seconds);
}

/* All patterns on a switch with eight hosts: only the adapters limit. */
START_TEST(crossbar)
{
	const double s = BYTES / EDR;

	make("1;8;1;1", 0, 0, 1);
	expect("all-reduce-ring", 14 * (s / 8 + ALPHA));
	expect("reduce-scatter", 7 * (s / 8 + ALPHA));
	expect("all-gather", 7 * (s / 8 + ALPHA));
	/* an inner node receives two halves; the deepest path has three edges */
	expect("all-reduce-tree", 2 * s + 6 * ALPHA);
	expect("all-reduce-doubling", 3 * (s + ALPHA));
	expect("all-to-all", 7 * s / 8 + ALPHA);
	expect("all-to-all-pairwise", 7 * (s / 8 + ALPHA));
	expect("halo", s + ALPHA);
	expect("random-ring", s + ALPHA);
	expect("bisection", s);
	expect("exchange", s);
	drop();
	make("1;6;1;1", 0, 0, 1);	/* two surplus hosts: a step before and a step after */
	expect("all-reduce-doubling", 4 * (s + ALPHA));
	drop();
}
END_TEST

/* In host order, a complete tree is as fast as a single switch for shifts and all-to-all. */
START_TEST(tree)
{
	static const char *const shapes[] = { "2;4,4;1,4;1,1", "3;4,4,4;1,4,4;1,1,1", "648" };
	const double s = BYTES / EDR;
	double n;

	make(shapes[_i], 0, 0, 5);
	n = ranks.nodes;
	expect("all-reduce-ring", 2 * (n - 1) * (s / n + ALPHA));
	expect("all-to-all", (n - 1) / n * s + ALPHA);
	expect("all-to-all-pairwise", (n - 1) * (s / n + ALPHA));
	drop();
}
END_TEST

/* Four nodes with eight rails each. */
START_TEST(rails)
{
	const double s = BYTES / NDR;
	char name_of_300[301] = "";
	struct ftr_hosts *h;

	make("superpod:H100:1", 4, 0, 3);
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	ck_assert_uint_eq(h->n_rails, 8);
	ck_assert_uint_eq(h->n, 4);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < 8; k++) {
			static const int dev[] = { 0, 3, 4, 5, 6, 9, 10, 11 };
			ftr_ep e = h->ep[h->host[i].first + k];
			char name[64];

			snprintf(name, sizeof(name), "dgx-%04u mlx5_%d", i + 1, dev[k]);
			ck_assert_str_eq(f->ep[e].name, name);
			ck_assert_uint_eq(h->rail[e], k);
			ranks.port[k * 4 + i] = e;
		}
	ck_assert_uint_eq(ftr_hosts_find(h, h->host[1].name), 1);
	memset(name_of_300, 'x', sizeof(name_of_300) - 1);
	name_of_300[1] = '.';
	ck_assert_uint_eq(ftr_hosts_find(h, name_of_300), FTR_HOST_NONE);
	ftr_hosts_free(h);
	ranks.nodes = 4;
	ranks.rails = 8;
	expect("all-reduce-ring", 62 * (s / 8 / 32 + ALPHA));
	expect("all-reduce-doubling", 2 * (s / 8 + ALPHA));
	/* PXN: a rail carries the data of all eight ranks of a node to three other nodes */
	expect("all-to-all", 3 * 8 * s / 32 + ALPHA);
	expect("all-to-all-pairwise", 3 * (8 * s / 32 + ALPHA));
	drop();
}
END_TEST

/* ---- slow evaluation ----------------------------------------------------- */

/* Follows one flow and counts it on each link, and on both adapters (after the switch ports). */
static void follow(uint32_t *count, ftr_ep from, ftr_ep to)
{
	ftr_sw s = f->ep[from].sw;

	count[f->n_ports + from]++;
	count[f->n_ports + f->n_ep + to]++;
	for (unsigned int hops = 0; hops < f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(t, s, f->ep[to].lid);
		const struct ftr_swport *q = ftr_fabric_port(f, s, p);

		if (q->peer_kind == FTR_PEER_EP) {
			ck_assert_uint_eq(q->peer, to);
			return;
		}
		count[f->sw[s].first_port + p]++;
		s = q->peer;
	}
	ck_abort_msg("a flow does not arrive");
}

/* Adds the time of a step, and clears the counts.  All links have the rate EDR. */
static double slow_step(uint32_t *count, double bytes)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < f->n_ports + 2 * f->n_ep; i++) {
		max = count[i] > max ? count[i] : max;
		count[i] = 0;
	}
	return max * bytes / EDR + ALPHA;
}

START_TEST(slow)
{
	static const char *const shapes[] = { "2;4,4;1,4;1,1", "3;4,2,4;1,2,2;1,1,1",
					      "2;6,5;1,3;1,2" };
	double ring = 0, all = 0, pairs = 0, doubling = 0, congested = 0;
	uint64_t state = _i;
	uint32_t *count, n, p2 = 1;

	suite_now(_i);
	make(shapes[_i % 3], 0, _i % 4, _i);
	n = ranks.nodes;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(cli_draw(&state) % i);
		ftr_ep e = ranks.port[i - 1];

		ranks.port[i - 1] = ranks.port[k];
		ranks.port[k] = e;
	}
	count = calloc(f->n_ports + 2 * f->n_ep, sizeof(*count));
	for (uint32_t k = 1; k < n; k++) {
		double time;

		for (uint32_t i = 0; i < n; i++)
			follow(count, ranks.port[i], ranks.port[(i + k) % n]);
		time = slow_step(count, BYTES / n);
		congested += time > 1.5 * BYTES / n / EDR;
		pairs += time;
		ring = k == 1 ? 2 * (n - 1) * time : ring;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (i != k)
				follow(count, ranks.port[i], ranks.port[k]);
	all = slow_step(count, BYTES / n);
	for (; p2 < n; p2 *= 2) {	/* a power of two hosts */
		for (uint32_t i = 0; i < n; i++)
			if ((i ^ p2) < n)
				follow(count, ranks.port[i], ranks.port[i ^ p2]);
		doubling += slow_step(count, BYTES);
	}
	free(count);
	ck_assert(congested > 0);
	expect("all-reduce-ring", ring);
	expect("all-to-all", all);
	expect("all-to-all-pairwise", pairs);
	if (p2 == n)
		expect("all-reduce-doubling", doubling);
	drop();
}
END_TEST

/* The most loaded link of each path, for pairs in random order; a pair whose entry is missing is
 * lost. */
START_TEST(pairs_most)
{
	struct ftr_load_pair pair[16];
	uint64_t most[16], shared = 0;
	struct ftr_load *ld = NULL;
	uint32_t *count;

	suite_now(_i);
	make("3;4,2,4;1,2,2;1,1,1", 0, 3, _i);
	count = calloc(f->n_ports + 2 * f->n_ep, sizeof(*count));
	for (uint32_t i = 0; i < 16; i++) {
		pair[i] = (struct ftr_load_pair){ ranks.port[i],
						  ranks.port[(i * 7 + _i) % 16 + 16] };
		follow(count, pair[i].from, pair[i].to);
	}
	ok(ftr_load_new(f, t, (struct ftr_order){ ranks.port, 0 }, NULL, &ld, &err));
	ok(ftr_load_pairs_most(ld, pair, 16, most, &err));
	for (uint32_t i = 0; i < 16; i++) {
		ftr_sw s = f->ep[pair[i].from].sw;
		uint64_t max = 0;

		while (s != f->ep[pair[i].to].sw) {
			ftr_port p = ftr_tables_get(t, s, f->ep[pair[i].to].lid);
			uint32_t n = count[f->sw[s].first_port + p];

			max = n > max ? n : max;
			s = ftr_fabric_port(f, s, p)->peer;
		}
		ck_assert_uint_eq(most[i], max);
		shared += max > 1;
	}
	ck_assert(shared > 0);
	ftr_tables_row(t, f->ep[pair[5].to].sw)[f->ep[pair[5].to].lid] = FTR_PORT_NONE;
	ok(ftr_load_pairs_most(ld, pair, 16, most, &err));
	ck_assert(most[5] == UINT64_MAX && most[6] != UINT64_MAX);
	ftr_load_free(ld);
	free(count);
	drop();
}
END_TEST

/* ---- random patterns ----------------------------------------------------- */

/* With a great skew, nearly all tokens go to one expert.  With none, each gets about as many. */
START_TEST(moe)
{
	struct coll_opts o = { .bytes = BYTES, .seed = 7, .skew = 10 };
	const double s = BYTES / EDR;
	double seconds;

	make("1;16;1;1", 0, 0, 1);
	seconds = run("moe", &o).seconds;
	ck_assert(seconds > 0.98 * 15 * s && seconds <= 15 * s);
	o.skew = 0;
	seconds = run("moe", &o).seconds;
	ck_assert(seconds >= s * 0.9 && seconds < 1.4 * s);
	drop();
}
END_TEST

/* A sample of the shifts has the steps of all; on a complete tree also the same time. */
START_TEST(sample)
{
	struct coll_opts o = { .bytes = BYTES, .latency = ALPHA, .sample = 10 };
	struct coll_time some, all;

	make("3;4,4,4;1,4,4;1,1,1", 0, 0, 2);
	some = run("all-to-all-pairwise", &o);
	o.sample = 0;
	all = run("all-to-all-pairwise", &o);
	ck_assert_uint_eq(some.counted, 10);
	ck_assert_uint_eq(all.counted, 63);
	ck_assert_uint_eq(some.steps, 63);
	ck_assert(fabs(some.seconds - all.seconds) < 1e-9);
	drop();
}
END_TEST

/* An entry that leads nowhere loses flows. */
START_TEST(lost)
{
	struct coll_opts o = { .bytes = BYTES };

	make("1;4;1;1", 0, 0, 1);
	ftr_tables_row(t, 0)[f->ep[0].lid] = FTR_PORT_NONE;
	ck_assert_uint_eq(run("all-to-all", &o).lost, 3);
	drop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("collective");
	TCase *tc = tcase_create("collective");

	tcase_add_test(tc, crossbar);
	tcase_add_loop_test(tc, tree, 0, 3);
	tcase_add_test(tc, rails);
	tcase_add_loop_test(tc, slow, 0, 24);
	tcase_add_loop_test(tc, pairs_most, 0, 4);
	tcase_add_test(tc, moe);
	tcase_add_test(tc, sample);
	tcase_add_test(tc, lost);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
