// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the time of the checker.  Usage: time_check [A]...
 *
 * Builds PGFT(3; A,A,2A; 1,A,A; 1,1,1) and the tables of d-mod-k routing.  A = 18 gives 1,620
 * switches and 11,664 hosts; A = 24 gives 2,880 switches and 27,648 hosts.  Prints the minimum of
 * several runs with 1 and 2 threads, for two kinds of tables:
 *
 *	missing		up/down tables: switches without a common ancestor do not reach each other
 *	u-turn		the paths of such pairs turn upward at the first leaf of the pod, so every
 *			path arrives
 *
 * Coordinates of switches:
 *
 *	top (k,j)		switch j of plane k (A planes with A switches each)
 *	mid (pod,k)		the switch of plane k in this pod (2A pods with A switches each)
 *	leaf (pod,i)		leaf i of the pod; its ports 1..A lead down, A+1..2A up
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include <ftr/check.h>

static uint32_t A;
static bool u_turn;

/* Nodes are numbered by GUID, LID and index in this order: leaves, mids, tops, hosts. */
static uint32_t leaf(uint32_t pod, uint32_t i) { return pod * A + i; }
static uint32_t mid(uint32_t pod, uint32_t k) { return (2 * A + pod) * A + k; }
static uint32_t top(uint32_t k, uint32_t j) { return 4 * A * A + k * A + j; }

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "time_check: %s failed\n", what);
		exit(1);
	}
}

static void add_link(struct ftr_builder *b, uint64_t x, uint32_t px, uint64_t y,
		  uint32_t py)
{
	struct ftr_end a = { x + 1, (ftr_port)px }, z = { y + 1, (ftr_port)py };

	must(!ftr_builder_add_link(b, a, z, 4, FTR_SPEED_EDR, NULL), "link");
}

static struct ftr_fabric *build(const uint32_t *host_guid)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;

	must(b != NULL, "builder");
	for (uint32_t s = 0; s < 5 * A * A; s++)
		must(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = s + 1, .n_ports = 2 * A,
		}, NULL),
		     "switch");
	for (uint32_t h = 0; h < 2 * A * A * A; h++) {
		uint64_t g = 5 * A * A + host_guid[h];

		must(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = g + 1, .guid = g + 1, .port_num = 1,
		}, NULL), "host");
		add_link(b, h / A, h % A + 1, g, 1);
	}
	for (uint32_t pod = 0; pod < 2 * A; pod++)
		for (uint32_t k = 0; k < A; k++)
			for (uint32_t i = 0; i < A; i++) {
				add_link(b, leaf(pod, i), A + 1 + k, mid(pod, k),
				      i + 1);
				add_link(b, mid(pod, k), A + 1 + i, top(k, i),
				      pod + 1);
			}
	must(!ftr_builder_assign_lids(b, 0, NULL), "LIDs");
	must(!ftr_builder_freeze(b, &f, NULL), "freeze");
	return f;
}

/* The port of s towards leaf l.  Upward paths go through plane k and top switch j. */
static ftr_port to_leaf(uint32_t s, uint32_t l, uint32_t k, uint32_t j)
{
	uint32_t n = 2 * A * A;

	if (s < n)
		return (ftr_port)(A + 1 + k);
	if (s >= 2 * n)
		return (ftr_port)(l / A + 1);
	return (ftr_port)(s / A - 2 * A == l / A ? l % A + 1 : A + 1 + j);
}

/* The port of s towards d, a middle or top switch.  If there is no up/down path: the port to the
 * first leaf (if u_turn is true), or FTR_PORT_NONE. */
static ftr_port to_upper(uint32_t s, uint32_t d)
{
	uint32_t n = 2 * A * A, k = d < 2 * n ? d % A : (d - 2 * n) / A;
	ftr_port turn = u_turn ? 1 : FTR_PORT_NONE;

	if (s < n)
		return (ftr_port)(A + 1 + k);
	if (s >= 2 * n) {
		if ((s - 2 * n) / A == k && d < 2 * n)
			return (ftr_port)(d / A - 2 * A + 1);
		return turn;
	}
	if (s % A != k)
		return turn;
	return (ftr_port)(A + 1 + (d < 2 * n ? 0 : (d - 2 * n) % A));
}

static void fill(const struct ftr_fabric *f, const uint32_t *place,
		 struct ftr_tables *t)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		bool sw = o->kind == FTR_OWNER_SW;
		uint32_t d = o->idx, h = sw ? d * A : place[d];
		ftr_sw leaf = sw ? d : h / A;

		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ftr_port p;

			if (s == leaf)
				p = sw ? 0 : (ftr_port)(h % A + 1);
			else if (sw && d >= 2 * A * A)
				p = to_upper(s, d);
			else
				p = to_leaf(s, leaf, (sw ? d : h) % A,
					    h / A % A);
			ftr_tables_row(t, s)[lid] = p;
		}
	}
}

static double ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void measure(const struct ftr_fabric *f, const struct ftr_tables *t,
		    const struct ftr_check_opts *opts, const char *what)
{
	static const char *const verdict[] = {
		"not checked", "proved", "acyclic", "CYCLE"
	};
	struct ftr_check_report r = { 0 };

	printf("%-28s", what);
	for (unsigned int n = 1; n <= 2; n++) {
		struct ftr_team *team = ftr_team_new(n);
		double best = 1e9;

		must(team != NULL, "team");
		for (int i = 0; i < 7; i++) {
			double at = ms();

			must(!ftr_check_tables(f, t, opts, team, &r, NULL),
			     "check");
			best = FTR_MIN(best, ms() - at);
		}
		printf(" %8.2f", best);
		ftr_team_free(team);
	}
	printf("  %s, %llu unreachable pairs, %llu turns, at most %u hops, cycle of %u channels\n",
	       verdict[r.cdg], (unsigned long long)(r.bad[0] + r.bad[1] +
						    r.bad[2] + r.bad[3]),
	       (unsigned long long)r.found[FTR_FIND_TURN], r.max_hops,
	       r.cycle_len);
}

static void one(bool shuffled)
{
	uint32_t n = 2 * A * A * A;
	uint32_t *guid = malloc(n * sizeof(*guid));
	uint32_t *place = malloc(n * sizeof(*place));
	uint8_t *rank = malloc(5 * A * A);
	struct ftr_check_opts opts = { .rank = rank };
	struct ftr_tables *t = NULL;
	struct ftr_fabric *f;
	struct ftr_rng rng;

	must(guid && place && rank, "malloc");
	ftr_rng_seed(&rng, 1);
	ftr_rng_perm(&rng, guid, n);
	for (uint32_t h = 0; h < n; h++) {
		guid[h] = shuffled ? guid[h] : h;
		place[guid[h]] = h;
	}
	for (uint32_t s = 0; s < 5 * A * A; s++)
		rank[s] = (uint8_t)(s / (2 * A * A));
	f = build(guid);
	must(!ftr_tables_new(f, true, &t, NULL), "tables");
	printf("%u switches, %u hosts, LIDs %s: ms with 1, 2 threads\n",
	       f->n_sw, f->n_ep, shuffled ? "shuffled" : "in order");
	for (int turn = 0; turn < 2; turn++) {
		const char *const name[2][4] = {
			{ "missing", "missing, all send", "missing, no ranks",
			  "missing, no cdg" },
			{ "u-turn", "u-turn, all send", "u-turn, no ranks",
			  "u-turn, no cdg" },
		};

		u_turn = turn;
		fill(f, place, t);
		measure(f, t, &opts, name[turn][0]);
		opts.switch_sources = true;
		measure(f, t, &opts, name[turn][1]);
		opts.rank = NULL;
		measure(f, t, &opts, name[turn][2]);
		opts.rank = rank;
		opts.switch_sources = false;
		opts.no_cdg = true;
		measure(f, t, &opts, name[turn][3]);
		opts.no_cdg = false;
	}
	ftr_tables_free(t);
	ftr_fabric_free(f);
	free(guid);
	free(place);
	free(rank);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < FTR_MAX(argc, 2); i++) {
		A = argc > 1 ? (uint32_t)strtoul(argv[i], NULL, 10) : 18;
		must(A >= 2 && A <= 24, "the test that A is in 2..24");
		one(false);
		one(true);
	}
	return 0;
}
