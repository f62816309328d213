// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the time to compute shape and tables.  The physical bound is the time in which memcpy
 * copies the bytes of the tables, measured in the same run.
 *
 *	bench_core [SHAPE...]		default: 648 3456 11664 27648
 *
 * First table: each line is measured in its own child process, because the peak memory is counted
 * per process.  The fabric is made before the measurement of memory begins.  So the peak is that of
 * the shape, the tables, and the temporary data of routing and check.  Times are medians of REPEATS
 * runs, except "new ms", which is one run.  ratio = (shape + route) / memcpy.  memcpy runs in one
 * thread.  Like the repeated routings, it writes to tables that have been written before.
 *
 * Second table: for each kind of fault, the times of
 *
 *	- incremental routing after the fault
 *	- the check of the changed entries
 *	- incremental routing after the repair
 *
 * The numbers of entries, switches, writes (of blocks) and stages (write steps) belong to the last
 * of the REPEATS faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/switch_events.h"
#include <ftr/ftr.h>

#define REPEATS 15

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int double_cmp(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *v)
{
	qsort(v, REPEATS, sizeof(*v), double_cmp);
	return v[REPEATS / 2];
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "bench_core: %s\n", err->msg);
	exit(1);
}

struct times {
	double shape[REPEATS], route[REPEATS], check[REPEATS], copy[REPEATS];
};

static void repeat(const struct ftr_fabric *f, struct ftr_team *team,
		   struct ftr_tables *t, struct times *v, long *peak)
{
	size_t bytes = (size_t)t->n_sw * t->stride;
	struct ftr_err err = { 0 };
	uint8_t *copy;

	for (int i = 0; i < REPEATS; i++) {
		struct ftr_shape *sh;
		struct ftr_check_report rep;
		struct ftr_check_opts opts = { 0 };
		double a = now_ms(), b, c;

		must(ftr_shape_new(f, NULL, team, &sh, &err), &err);
		b = now_ms();
		must(ftr_engine_find("dmodc")->route(sh, NULL, team, t, NULL,
						     &err), &err);
		c = now_ms();
		v->shape[i] = b - a;
		v->route[i] = c - b;
		opts.rank = sh->tree.rank;
		must(ftr_check_tables(f, t, &opts, team, &rep, &err), &err);
		v->check[i] = now_ms() - c;
		if (rep.bad[FTR_CHECK_HOST_HOST] || rep.cdg != FTR_CDG_PROVED) {
			fprintf(stderr, "bench_core: the tables are wrong\n");
			exit(1);
		}
		ftr_shape_free(sh);
	}
	*peak = peak_kb();
	copy = malloc(bytes);
	memset(copy, 1, bytes);
	for (int i = 0; i < REPEATS; i++) {
		double a = now_ms();

		memcpy(copy, t->lft, bytes);
		v->copy[i] = now_ms() - a;
		if (copy[bytes / 2] != t->lft[bytes / 2])
			exit(1);	/* so that the compiler keeps the copy */
	}
	free(copy);
}

static void one_case(const char *name, unsigned int threads)
{
	struct ftr_gen_opts o = {
		.seed = 1, .random_guids = true, .random_ports = true,
		.random_lids = true,
	};
	struct ftr_err err = { 0 };
	struct ftr_pgft g;
	struct ftr_fabric *f;
	struct ftr_tables *t;
	struct ftr_team *team = ftr_team_new(threads);
	static struct times v;
	double shape, route, copy;
	long before, peak;

	must(ftr_pgft_parse(name, &g, &err), &err);
	must(ftr_gen_pgft(&g, &o, &f, &err), &err);
	before = peak_kb();
	must(ftr_tables_new(f, true, &t, &err), &err);
	repeat(f, team, t, &v, &peak);
	shape = median(v.shape);
	route = median(v.route);
	copy = median(v.copy);
	printf("| %s | %u | %u | %u | %u | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.0f |\n",
	       name, f->n_ep, f->n_sw, f->max_lid, threads,
	       (double)t->n_sw * t->stride / 1e6, shape, route,
	       median(v.check), copy, (shape + route) / copy,
	       (double)(peak - before) / 1024);
	fflush(stdout);
	ftr_tables_free(t);
	ftr_fabric_free(f);
	ftr_team_free(team);
}

/* ---- one link fails: incremental routing ----------------------------- */

enum fault { LEAF_LINK, MIDDLE_LINK, TOP_SWITCH, N_FAULTS };

static const char *const fault_name[] = {
	"leaf link", "middle link", "top switch"
};

/* Store the events of the i-th fault of a kind in e[].  The faults are spread over the fabric.
 * Returns the number of events, 0 if there is no such fault. */
static uint32_t draw_fault(const struct ftr_shape *sh,
			   const struct ftr_incr *lv, enum fault kind,
			   uint32_t i, struct ftr_incr_event *e)
{
	uint32_t n_sw = sh->f->n_sw, from = i * 7919 % n_sw;
	uint32_t rank = kind == LEAF_LINK ? 0 : kind == MIDDLE_LINK ? 1 :
		sh->tree.n_ranks - 1;

	for (uint32_t k = 0; k < n_sw; k++) {
		ftr_sw s = (from + k) % n_sw;
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];

		if (sh->tree.rank[s] != rank)
			continue;
		if (kind == TOP_SWITCH)
			return switch_events(sh->f, lv, s, false, e);
		if (!sh->tree.n_up[s])
			continue;
		*e = (struct ftr_incr_event){
			s, sh->tree.group_ports[g[i % sh->tree.n_up[s]].first], false
		};
		return 1;
	}
	return 0;
}

static void judge(const struct ftr_fabric *f, const struct ftr_incr *lv,
		  struct ftr_err *err)
{
	struct ftr_check_delta d;
	struct ftr_delta_report rep;

	ftr_incr_delta(lv, &d);
	must(ftr_check_changes(f, ftr_incr_tables(lv), &d, &rep, err),
	     err);
	if (rep.harmful || rep.missed || rep.stranded || rep.early ||
	    !rep.proved) {
		fprintf(stderr, "bench_core: the changes are wrong\n");
		exit(1);
	}
}

struct live_times {
	double down[REPEATS], check[REPEATS], up[REPEATS];
};

/* Number of SMPs: a block counts once for each write step that changes it. */
static uint32_t count_writes(const struct ftr_incr_result *r)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < r->n_changes; i++) {
		const struct ftr_change *c = &r->change[i];
		uint32_t k;

		if (c->sw != r->change[first].sw || c->lid / FTR_LFT_BLOCK !=
		    r->change[first].lid / FTR_LFT_BLOCK)
			first = i;
		for (k = first; r->change[k].step != r->change[i].step;)
			k++;
		n += k == i;
	}
	return n;
}

static void live_row(const char *name, double made, const struct ftr_shape *sh,
		     struct ftr_incr *lv, enum fault kind)
{
	static struct ftr_incr_event e[FTR_PORT_MAX];
	struct ftr_incr_result last = { 0 };
	struct ftr_err err = { 0 };
	static struct live_times v;
	uint32_t writes = 0;

	for (int i = 0; i < REPEATS; i++) {
		const struct ftr_incr_result *r;
		uint32_t n = draw_fault(sh, lv, kind, (uint32_t)i, e);
		double a = now_ms(), b, c;

		if (!n)
			return;
		must(ftr_incr_apply(lv, e, n, &r, &err), &err);
		b = now_ms();
		judge(sh->f, lv, &err);
		c = now_ms();
		last = *r;
		writes = count_writes(r);
		for (uint32_t k = 0; k < n; k++)
			e[k].up = true;
		v.down[i] = b - a;
		v.check[i] = c - b;
		c = now_ms();
		must(ftr_incr_apply(lv, e, n, &r, &err), &err);
		v.up[i] = now_ms() - c;
	}
	printf("| %s | %s | %u | %u | %u | %u | %.2f | %.2f | %.2f | %.1f |\n",
	       name, fault_name[kind], last.n_changes,
	       last.n_switches, writes, last.n_write_steps, median(v.down),
	       median(v.check), median(v.up), made);
	fflush(stdout);
}

static void live_case(const char *name, unsigned int threads)
{
	struct ftr_gen_opts o = {
		.seed = 1, .random_guids = true, .random_ports = true,
		.random_lids = true,
	};
	struct ftr_team *team = ftr_team_new(threads);
	struct ftr_err err = { 0 };
	struct ftr_pgft g;
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_incr *lv;
	double made;

	must(ftr_pgft_parse(name, &g, &err), &err);
	must(ftr_gen_pgft(&g, &o, &f, &err), &err);
	must(ftr_shape_new(f, NULL, team, &sh, &err), &err);
	must(ftr_tables_new(f, false, &t, &err), &err);
	must(ftr_engine_find("dmodc")->route(sh, NULL, team, t, NULL, &err),
	     &err);
	made = now_ms();
	must(ftr_incr_new(sh, NULL, t, NULL, &lv, &err), &err);
	made = now_ms() - made;
	for (int kind = 0; kind < N_FAULTS; kind++)
		live_row(name, made, sh, lv, (enum fault)kind);
	ftr_incr_free(lv);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	ftr_team_free(team);
}

/* ---- tables ---------------------------------------------------------- */

static bool in_children(void (*fn)(const char *, unsigned int), unsigned int most_threads, int n,
			const char *const *name)
{
	bool bad = false;

	for (int i = 0; i < n; i++)
		for (unsigned int threads = 1; threads <= most_threads; threads++) {
			int status;

			fflush(stdout);
			if (fork() == 0) {
				fn(name[i], threads);
				exit(0);
			}
			wait(&status);
			bad |= status != 0;
		}
	return bad;
}

int main(int argc, char **argv)
{
	static const char *const all[] = { "648", "3456", "11664", "27648" };
	int n = argc > 1 ? argc - 1 : 4;
	const char *const *name = argc > 1 ? (const char *const *)argv + 1 :
		all;
	bool bad;

	printf("| shape | hosts | switches | LIDs | threads | tables MB | shape ms | route ms | check ms | memcpy ms | (shape+route)/memcpy | peak extra MB |\n"
	       "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
	bad = in_children(one_case, 2, n, name);
	printf("\n| shape | fails | entries | switches | writes | stages | apply ms | check ms | restored ms | new ms |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	bad |= in_children(live_case, 1, n, name);
	return bad;
}
