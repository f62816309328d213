// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the time of the engines and of the search that balances the load.
 *
 *	time_balance NETFILE [ROOTS [ENGINE [THREADS [RUNS [off|load|full]]]]]
 *
 * ROOTS names a file of node GUIDs, or is "-".  Prints milliseconds of wall clock and of processor
 * time of all threads.  Each is the minimum of RUNS runs (default 3; "full" runs once).  Then
 * it prints the peak memory of the process so far.  With "load" and "full", more figures follow:
 *
 *	- before and after the search: all-to-all load of the most loaded link, divided by the bound
 *	  by cuts, and load of the most loaded link as the mean over all shifts
 *	- the number of changed entries
 *
 * The last tables are checked with the levels and turns that the engine claims.  All switches count
 * as sources.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <ftr/ftr.h>

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "time_balance: %s\n", err.msg);
	exit(1);
}

static struct ftr_guids read_guids(const char *path)
{
	static uint64_t guid[4096];
	struct ftr_guids g = { .guid = guid };
	unsigned long long x;
	FILE *in;

	if (!path || !strcmp(path, "-"))
		return g;
	in = fopen(path, "r");
	while (in && g.n < 4096 && fscanf(in, "%llx", &x) == 1)
		guid[g.n++] = x;
	if (!in || !g.n) {
		fprintf(stderr, "time_balance: no GUIDs in %s\n", path);
		exit(1);
	}
	fclose(in);
	return g;
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

struct spent {
	double wall, cpu, mb;
};

static struct spent now(void)
{
	struct timespec t;
	struct rusage r;

	clock_gettime(CLOCK_MONOTONIC, &t);
	getrusage(RUSAGE_SELF, &r);
	return (struct spent){
		(double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6,
		(seconds_of(&r.ru_utime) + seconds_of(&r.ru_stime)) * 1e3,
		(double)r.ru_maxrss / 1024,
	};
}

static void least(struct spent *to, struct spent since, int run)
{
	struct spent s = now();

	s.wall -= since.wall;
	s.cpu -= since.cpu;
	if (!run || s.wall < to->wall)
		to->wall = s.wall;
	if (!run || s.cpu < to->cpu)
		to->cpu = s.cpu;
	to->mb = s.mb;
}

static void print(const char *what, const struct spent *s)
{
	printf("%-22s %9.1f ms %9.1f ms of CPU, %.0f MB", what, s->wall, s->cpu,
	       s->mb);
}

static void report(const struct ftr_balance_report *b)
{
	if (b->hosts && b->bound)
		printf(", all-to-all %.3f -> %.3f times the bound, shifts %.3f -> %.3f flows, %llu entries changed, %u sweeps",
		       (double)b->max_before / b->bound,
		       (double)b->max_after / b->bound, b->shift_before,
		       b->shift_after, (unsigned long long)b->moved, b->sweeps);
	printf("\n");
}

static const char *const depths[] = { "off", "load", "full" };

static void time_engine(const struct ftr_shape *sh,
			const struct ftr_engine_ops *e, struct ftr_team *team,
			int runs, int deepest)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_check_opts check = { .switch_sources = true };
	struct ftr_route_stats stats = {
		.order = calloc(sh->f->n_sw, sizeof(*stats.order)),
	};
	struct ftr_check_report found;
	struct ftr_tables *t = NULL;
	struct spent s = { 0 };
	char what[64];

	if (!stats.order)
		exit(1);
	opts.keep_turns = true;
	must(ftr_tables_new(sh->f, false, &t, &err));
	for (int d = FTR_BALANCE_OFF; d <= deepest; d++) {
		opts.balance = (enum ftr_balance)d;
		for (int i = 0; i < (d == FTR_BALANCE_FULL ? 1 : runs); i++) {
			struct spent since = now();

			free(stats.turn);
			stats.turn = NULL;
			must(e->route(sh, &opts, team, t, &stats, &err));
			least(&s, since, i);
		}
		snprintf(what, sizeof(what), "%s, balance %s", e->name,
			 depths[d]);
		print(what, &s);
		report(&stats.balance);
	}
	if (stats.order_known)
		check.rank = stats.order;
	check.turn = stats.turn;
	check.n_turns = stats.turn ? stats.n_turns : 0;
	for (int i = 0; i < runs; i++) {
		struct spent since = now();

		must(ftr_check_tables(sh->f, t, &check, team, &found, &err));
		least(&s, since, i);
	}
	print("check", &s);
	printf("\n");
	free(stats.order);
	free(stats.turn);
	ftr_tables_free(t);
}

int main(int argc, char **argv)
{
	struct ftr_shape_opts opts = { .roots = { 0 } };
	int runs = argc > 5 ? atoi(argv[5]) : 3;
	int deepest = FTR_BALANCE_FULL;
	struct ftr_team *team;
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct spent s = { 0 };

	if (argc < 2) {
		fprintf(stderr, "usage: time_balance NETFILE [ROOTS [ENGINE [THREADS [RUNS [off|load|full]]]]]\n");
		return 2;
	}
	while (argc > 6 && deepest && strcmp(argv[6], depths[deepest]))
		deepest--;
	opts.roots = read_guids(argc > 2 ? argv[2] : NULL);
	team = ftr_team_new(argc > 4 ? (unsigned int)atoi(argv[4]) : 2);
	must(ftr_read_fabric(argv[1], 0, &f, &err));
	for (int i = 0; i < runs; i++) {
		struct spent since = now();

		ftr_shape_free(sh);
		must(ftr_shape_new(f, &opts, team, &sh, &err));
		least(&s, since, i);
	}
	print("shape", &s);
	printf(", %u switches, %u host ports\n", f->n_sw, f->n_ep);
	for (unsigned int i = 0; ftr_engine_at(i); i++)
		if (argc < 4 || !strcmp(argv[3], ftr_engine_at(i)->name))
			time_engine(sh, ftr_engine_at(i), team, runs, deepest);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	ftr_team_free(team);
	return 0;
}
