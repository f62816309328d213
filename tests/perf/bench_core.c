// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long the core takes, beside a physical bound: the time that memcpy
 * needs for the same number of table bytes, measured in the same run.
 *
 * One child process a line, so that peak memory is that of the case alone:
 * the difference to the peak before shape and tables were made (the fabric is
 * there already).  Every number is the median of REPEATS runs; ratio = (shape
 * + route) / memcpy, where memcpy runs in one thread over tables that were
 * written before, and so do the repeated routes.
 *
 *	bench_core [SHAPE...]		default: 648 3456 11664 27648
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
		opts.rank = sh->rank;
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
			exit(1);	/* keeps the copy alive */
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

int main(int argc, char **argv)
{
	static const char *const all[] = { "648", "3456", "11664", "27648" };
	int n = argc > 1 ? argc - 1 : 4, bad = 0;

	printf("| shape | hosts | switches | LIDs | threads | tables MB | shape ms | route ms | check ms | memcpy ms | (shape+route)/memcpy | peak extra MB |\n"
	       "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < n; i++)
		for (unsigned int threads = 1; threads <= 2; threads++) {
			int status;

			fflush(stdout);
			if (fork() == 0) {
				one_case(argc > 1 ? argv[i + 1] : all[i],
					 threads);
				exit(0);
			}
			wait(&status);
			bad |= status;
		}
	return bad != 0;
}
