// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the processor time, in milliseconds, of planning extra turns on large irregular fabrics:
 * the minimum of several runs.  Turns are planned twice: from nothing ("planned"), and with the
 * turns of the first plan ("again").  If there are extra turns and the routing follows the ranks,
 * incremental routing is measured, too.  First one link of a switch with a turn fails, then all its
 * links.  The exit status does not depend on the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/connect.h"
#include "lib/irregular.h"
#include "lib/switch_events.h"

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "time_connect: %s\n", err.msg);
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double plan(const struct ftr_shape *sh, const struct ftr_route_opts *o)
{
	double least = 1e9;

	for (int i = 0; i < 5; i++) {
		struct ftr_arena *a = ftr_arena_new();
		struct connect c = { .links = CONNECT_UP_DOWN };
		double t0 = now();

		must(connect_plan(sh, o, true, a, &c, &err));
		least = FTR_MIN(least, now() - t0);
		ftr_arena_free(a);
	}
	return least;
}

static void die(const struct ftr_shape *sh, const struct ftr_route_opts *o,
		const struct ftr_tables *t, ftr_sw s)
{
	const struct ftr_incr_result *res;
	struct ftr_incr_event ev[FTR_PORT_MAX];
	struct ftr_check_delta d;
	struct ftr_delta_report rep;
	struct ftr_incr *lv = NULL;
	uint32_t n;

	must(ftr_incr_new(sh, NULL, t, o, &lv, &err));
	n = switch_events(sh->f, lv, s, false, ev);
	for (uint32_t k = 1; k <= n; k += n - 1) {
		double t0 = now(), t1;

		must(ftr_incr_apply(lv, ev, k, &res, &err));
		t1 = now();
		ftr_incr_delta(lv, &d);
		must(ftr_check_changes(sh->f, ftr_incr_tables(lv), &d,
				       &rep, &err));
		printf("  %u links of switch %u die: %.2f ms, %u entries; check %.2f ms, %s\n",
		       k, s, t1 - t0, res->n_changes, now() - t1,
		       rep.proved ? "proved" : "not proved");
		if (n < 2)
			break;
	}
	ftr_incr_free(lv);
}

static void measure(const char *what, struct ftr_fabric *f)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { 0 };
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;
	double first, again;

	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	o.keep_turns = true;
	first = plan(sh, &o);
	must(ftr_engine_find("dmodc")->route(sh, &o, NULL, t, &stats, &err));
	o.turn = stats.turn;
	o.n_turns = stats.n_turns;
	again = plan(sh, &o);
	printf("%s: %u switches, %u ranks, %u host ports: planned in %.2f ms, again in %.2f ms; %u turns, %llu pairs%s\n",
	       what, f->n_sw, sh->tree.n_ranks, f->n_ep, first, again, stats.n_turns,
	       (unsigned long long)stats.extra_pairs,
	       stats.reordered ? ", REORDERED" : "");
	if (stats.by_rank && stats.n_turns)
		die(sh, &o, t, stats.turn[0].at);
	free(stats.turn);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

static struct ftr_fabric *damaged(const char *shape, uint32_t links)
{
	struct ftr_damage d = { .seed = 1, .links = links };
	struct ftr_fabric *whole = NULL, *f = NULL;
	struct ftr_pgft g;

	must(ftr_pgft_parse(shape, &g, &err));
	must(ftr_gen_pgft(&g, NULL, &whole, &err));
	must(ftr_gen_damage(whole, &d, &f, &err));
	ftr_fabric_free(whole);
	return f;
}

int main(void)
{
	struct ftr_rng r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	ftr_rng_seed(&r, 1);
	measure("two chassis of 648 ports",
		irregular_chassis(&r, 36, 18, getenv("RACKS") ? (uint32_t)atoi(getenv("RACKS")) : 1292, 1));
	measure("two chassis of 1,296 ports, hosts on chips",
		irregular_chassis(&r, 72, 36, 1184, 4));
	measure("two chassis of 3,888 ports",
		irregular_chassis(&r, 108, 54, 1076, 2));
	measure("a tree", damaged("3;18,18,36;1,18,18;1,1,1", 0));
	measure("a tree without 100 of its links",
		damaged("3;18,18,36;1,18,18;1,1,1", 100));
	return 0;
}
