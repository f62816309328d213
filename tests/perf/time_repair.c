// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the processor time, in milliseconds, of local repairs.  Its exit status does not depend
 * on the times.
 *
 *	time_repair [SHAPE [VLS [TIMES|links|cold]]]
 *
 * First a planner is made, and the elapsed time is printed, too.  Then links and switches fail, one
 * after the other.
 *
 *	TIMES	make a planner TIMES times, in this program and in a process as the plugin does;
 *		then plan one repair.  IBFATTREE_HELPER: the program ibfattree-helper
 *	links	only links fail
 *	cold	The LIDs are random, as after a subnet manager has assigned them.  Links of REPAIRS
 *		switches of each rank fail, one after the other.  The planner's data are then in no
 *		CPU cache, as when a link fails hours after the routing.  Also prints the elapsed
 *		time of the check that the plugin makes before it writes (two threads).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "reroute/planner.h"
#include <ftr/ftr.h>

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "time_repair: %s\n", err.msg);
	exit(2);
}

static double read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double now(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void one(struct ftr_ddlr *r, const struct ftr_fabric *f,
		struct ftr_hop e, const char *what)
{
	struct ftr_ddlr_plan p;
	double t0 = now(), t1, t2;

	must(ftr_ddlr_events(r, &e, 1, &p, &err));
	t1 = now();
	ftr_ddlr_drained(r);
	t2 = now();
	printf("%-22s %-10s %8.2f ms  %6u writes %4u switches %u steps, %llu not repaired, %llu refused; drain %.1f ms\n",
	       what, f->sw[e.sw].name, t1 - t0, p.n, p.n_switches, p.n_steps,
	       (unsigned long long)p.unrepaired, (unsigned long long)p.refused,
	       t2 - t1);
	ftr_ddlr_plan_fini(&p);
}

static void time_link(struct ftr_ddlr *r, const struct ftr_shape *sh,
		  unsigned int rank, const char *down)
{
	for (ftr_sw s = sh->f->n_sw / 3; s < sh->f->n_sw; s++) {
		struct ftr_hop e = { s, 0 };

		if (sh->tree.rank[s] != rank || !sh->tree.n_up[s])
			continue;
		e.port = sh->tree.group_ports[sh->tree.groups[sh->tree.group_first[s]].first];
		one(r, sh->f, e, down);
		return;
	}
}

/* ---- repairs with cold caches --------------------------------------------- */

#define REPAIRS 40
#define CACHES ((size_t)96 << 20)	/* bytes; more than all caches */

static int by_time(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void evict(void)
{
	static volatile uint64_t *bytes;

	if (!bytes)
		bytes = malloc(CACHES);
	for (size_t i = 0; bytes && i < CACHES / sizeof(*bytes); i += 8)
		bytes[i]++;
}

struct bench {
	const struct ftr_cdg_opts *opts;
	const struct ftr_shape *sh;
	const struct ftr_tables *t;	/* the original tables */
	struct ftr_tables *sent;	/* copy of t; the check of a plan applies its writes here */
};

static int by_switch_and_lid(const void *x, const void *y)
{
	const struct ftr_change *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->lid > b->lid) - (a->lid < b->lid);
}

static void mark_dead(const struct ftr_fabric *f, uint64_t *dead, ftr_sw s, ftr_port p)
{
	uint32_t bit = f->sw[s].first_port + p;

	dead[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Check the plan for event e, a failed link, as check_plan() of the plugin does
 * (src/plugin/reroute/ddlr.c).  The plan must write no entry twice.  Returns the elapsed time. */
static double check(const struct bench *b, const struct ftr_hop *e,
		    const struct ftr_ddlr_plan *p)
{
	const struct ftr_fabric *f = b->sh->f;
	const struct ftr_swport *port = ftr_fabric_port(f, e->sw, e->port);
	struct ftr_link gone = {
		.sw = e->sw, .port = e->port,
		.peer = port->peer, .peer_port = port->peer_port,
	};
	double t0 = read_clock(CLOCK_MONOTONIC), ms;
	struct ftr_change *change = calloc(p->n + 1u, sizeof(*change));
	uint64_t *dead = calloc(f->n_ports / 64 + 1, sizeof(*dead));
	struct ftr_check_delta delta = {
		.dead = dead, .gone = &gone, .n_gone = 1,
		.change = change, .n_changes = p->n, .rank = b->sh->tree.rank,
	};
	struct ftr_delta_report rep;

	if (!change || !dead)
		exit(2);
	mark_dead(f, dead, gone.sw, gone.port);
	mark_dead(f, dead, gone.peer, gone.peer_port);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct ftr_change *w = &p->write[i];
		uint8_t *entry = ftr_tables_row(b->sent, w->sw) + w->lid;

		change[i] = *w;
		change[i].before = *entry;
		*entry = w->after;
	}
	qsort(change, p->n, sizeof(*change), by_switch_and_lid);
	must(ftr_check_changes(f, b->sent, &delta, &rep, &err));
	for (uint32_t i = 0; i < p->n; i++)
		ftr_tables_row(b->sent, change[i].sw)[change[i].lid] = change[i].before;
	ms = read_clock(CLOCK_MONOTONIC) - t0;
	if (rep.found[FTR_FIND_LOOP] || rep.found[FTR_FIND_WRONG_END] ||
	    (rep.found[FTR_FIND_DEAD_PORT] && !p->unrepaired))
		fprintf(stderr, "time_repair: the plan is wrong\n");
	free(change);
	free(dead);
	return ms;
}

/* Plan the repair of a link of s with a new planner, and check the plan.  Returns the time of the
 * plan. */
static double repair_cold(const struct bench *b, ftr_sw s, uint32_t *writes, double *check_ms)
{
	const struct ftr_shape *sh = b->sh;
	struct ftr_ddlr *r = NULL;
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	struct ftr_hop e = { s, sh->tree.group_ports[g->first] };
	struct ftr_ddlr_plan p;
	double t0, ms;

	must(ftr_ddlr_new(sh, b->t, b->opts, true, &r, &err));
	evict();
	t0 = now();
	must(ftr_ddlr_events(r, &e, 1, &p, &err));
	ms = now() - t0;
	*writes += p.n;
	*check_ms = check(b, &e, &p);
	ftr_ddlr_plan_fini(&p);
	ftr_ddlr_free(r);
	return ms;
}

static void time_cold(const struct bench *b, unsigned int rank)
{
	const struct ftr_shape *sh = b->sh;
	double ms[REPAIRS], check_ms[REPAIRS];
	uint32_t n = 0, of = 0, writes = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		of += sh->tree.rank[s] == rank && sh->tree.n_up[s];
	for (ftr_sw s = 0, i = 0; s < sh->f->n_sw && n < REPAIRS; s++) {
		if (sh->tree.rank[s] != rank || !sh->tree.n_up[s])
			continue;
		if (i++ % (of < REPAIRS ? 1 : of / REPAIRS) != 0)
			continue;
		ms[n] = repair_cold(b, s, &writes, &check_ms[n]);
		n++;
	}
	if (!n)
		return;
	qsort(ms, n, sizeof(*ms), by_time);
	qsort(check_ms, n, sizeof(*check_ms), by_time);
	printf("rank %u: %u links, %u writes on average; plan: least %.2f, median %.2f, greatest %.2f ms; check: median %.2f ms\n",
	       rank, n, writes / n, ms[0], ms[n / 2], ms[n - 1], check_ms[n / 2]);
}

static void time_all_cold(struct bench *b)
{
	must(ftr_tables_new(b->sh->f, false, &b->sent, &err));
	memcpy(b->sent->lft, b->t->lft, (size_t)b->t->n_sw * b->t->stride);
	for (unsigned int rank = 0; rank + 1 < b->sh->tree.n_ranks; rank++)
		time_cold(b, rank);
	ftr_tables_free(b->sent);
}

static double seconds(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
		(double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1e-6;
}

/* The planner in a process. */
static void time_process(const struct ftr_shape *sh, const struct ftr_tables *t,
			 const struct ftr_vl_pairs *pairs)
{
	const struct ftr_fabric *f = sh->f;
	double begin = read_clock(CLOCK_MONOTONIC), t0 = now(), sent, ready, planned, child;
	struct rusage used[2];
	struct ftr_hop e = { 0, 0 };
	struct ftr_ddlr_plan plan = { .n = 0 };
	struct rr_planner *p;

	while (ftr_fabric_next(f, e.sw, e.port) == FTR_SW_NONE)
		e.port++;
	getrusage(RUSAGE_CHILDREN, &used[0]);
	must(rr_planner_start(sh, t, pairs, 60000, &p, &err));
	t0 = now() - t0;
	sent = read_clock(CLOCK_MONOTONIC);
	while (rr_planner_is_busy(p, 60000))
		;
	must(rr_planner_ready(p, &err));
	ready = read_clock(CLOCK_MONOTONIC);
	must(rr_planner_events(p, &e, 1, &plan, &err));
	planned = read_clock(CLOCK_MONOTONIC);
	rr_planner_free(p);
	getrusage(RUSAGE_CHILDREN, &used[1]);
	child = seconds(&used[1]) - seconds(&used[0]);
	printf("in a process: request sent after %.1f ms, ready after %.1f ms (processor time: %.1f ms here, %.1f ms there); a plan of %u writes in %.2f ms\n",
	       sent - begin, ready - begin, t0, child * 1e3, plan.n, planned - ready);
	ftr_ddlr_plan_fini(&plan);
}

int main(int argc, char **argv)
{
	const struct ftr_vl_pairs two_vls = { .turn = { 1 } };	/* SL 0 */
	struct ftr_gen_opts o = { .seed = 1, .random_guids = true };
	struct ftr_cdg_opts ro = { 0 };
	struct ftr_pgft g;
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;
	struct ftr_sl2vl *m = NULL;
	struct ftr_ddlr *r = NULL;
	bool links = argc > 3 && !strcmp(argv[3], "links");
	bool cold = argc > 3 && !strcmp(argv[3], "cold");
	bool only_planners = argc > 3 && !links && !cold;
	double t0, begin;

	must(ftr_pgft_parse(argc > 1 ? argv[1] : "11664", &g, &err));
	o.random_lids = cold;
	must(ftr_gen_pgft(&g, &o, &f, &err));
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	must(ftr_engine_find("ddlr")->route(sh, NULL, NULL, t, NULL, &err));
	if (argc > 2 && atoi(argv[2]) > 1) {
		must(ftr_ddlr_sl2vl(sh, NULL, &m, &err));
		ro.sl2vl = m;
		ro.switch_sources = true;
	}
	for (int i = only_planners ? atoi(argv[3]) : 1; i > 0; i--) {
		ftr_ddlr_free(r);
		t0 = now();
		begin = read_clock(CLOCK_MONOTONIC);
		must(ftr_ddlr_new(sh, t, &ro, true, &r, &err));
		printf("%u hosts, %u switches: planner made in %.1f ms, %.1f ms of processor time\n",
		       f->n_ep, f->n_sw, read_clock(CLOCK_MONOTONIC) - begin, now() - t0);
	}
	for (int i = only_planners ? atoi(argv[3]) : 0; i > 0; i--)
		time_process(sh, t, m ? &two_vls : NULL);
	if (cold)
		time_all_cold(&(struct bench){ .opts = &ro, .sh = sh, .t = t });
	if (only_planners || cold)
		goto out;
	time_link(r, sh, 0, "leaf link down");
	time_link(r, sh, 1, "middle link down");
	for (unsigned int rank = 1; !links && rank < sh->tree.n_ranks; rank++)
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (sh->tree.rank[s] == rank) {
				struct ftr_hop e = { s, 0 };

				one(r, f, e, "switch down");
				break;
			}
out:
	ftr_ddlr_free(r);
	ftr_sl2vl_free(m);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return 0;
}
