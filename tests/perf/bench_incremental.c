// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures incremental routing while links fail one by one.
 *
 *	bench_incremental [-t] [-r ROOTS] FABRIC PERCENT SEED
 *
 * FABRIC is the shape of a PGFT, or a file name that contains a slash.  ROOTS is a file of GUIDs,
 * one per line.  PERCENT of the links between switches die in random order.  As in the plugin,
 * entries keep the ports of the tables of the healthy fabric where possible.  Prints, with tabs
 * between the columns,
 *
 *	FABRIC PERCENT SEED all-to-all shifts entries median-ms worst-ms
 *
 *	all-to-all	flows on the most loaded link, divided by the lower bound by cuts
 *	shifts		load of the most loaded link, as the mean over all shifts in the host
 *			order of the healthy fabric
 *	entries		number of entries changed by all faults
 *	ms		processor time to follow one fault
 *
 * -t: do not compute the two loads, which takes long.  Instead, up to 40 switches of
 * the highest rank fail one by one.  Each failure is undone.  Prints the median and worst time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/switch_events.h"
#include "base/base.h"
#include <ftr/ftr.h>

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "bench_incremental: %s\n", err.msg);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool is_alive(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		     ftr_port p)
{
	return ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_SW ||
		ftr_incr_alive(ctx, s, p);
}

/* Print the two loads of the present tables.  The fabric is sh->f without the dead links. */
static void print_load(const struct ftr_shape *sh, struct ftr_incr *lv)
{
	ftr_ep *order = malloc((sh->numbering.n_places + 1) * sizeof(*order));
	struct ftr_filter filter = { .keep_link = is_alive, .ctx = lv };
	struct ftr_load_report all, shift;
	struct ftr_fabric *f = NULL;
	struct ftr_shape_opts so = { .nominal = sh };
	struct ftr_shape *now = NULL;
	struct ftr_load *ld = NULL;
	uint32_t bound;

	must(ftr_fabric_copy_if(sh->f, &filter, &f, &err));
	must(ftr_shape_new(f, &so, NULL, &now, &err));
	must(ftr_balance_bound(now, NULL, &bound, &err));
	ftr_shape_host_order(sh, order);
	must(ftr_load_new(f, ftr_incr_tables(lv),
			  (struct ftr_order){ order, sh->numbering.n_places }, NULL, &ld, &err));
	ftr_load_all(ld, NULL, &all);
	must(ftr_load_shifts(ld, 0, 1, NULL, &shift, &err));
	printf("\t%.4f\t%.4f", (double)all.max / bound,
	       (double)shift.sum_max / shift.patterns);
	if (all.lost)
		printf(" (%llu flows lost)", (unsigned long long)all.lost);
	ftr_load_free(ld);
	ftr_shape_free(now);
	ftr_fabric_free(f);
	free(order);
}

static uint32_t list_links(const struct ftr_fabric *f,
			   struct ftr_incr_event *e)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW && port->peer > s)
				e[n++] = (struct ftr_incr_event){
					s, (ftr_port)p, false
				};
		}
	return n;
}

static int ms_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Print the times of the failures of up to N switches of the highest rank. */
static void print_switches(const struct ftr_shape *sh, struct ftr_incr *lv)
{
	enum { N = 40 };
	static struct ftr_incr_event e[FTR_PORT_MAX];
	const struct ftr_incr_result *r;
	double ms[N];
	uint32_t n = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw && n < N; s++) {
		uint32_t k = switch_events(sh->f, lv, s, false, e);
		double t0 = now_ms();

		if (sh->tree.rank[s] + 1u != sh->tree.n_ranks)
			continue;
		must(ftr_incr_apply(lv, e, k, &r, &err));
		ms[n++] = now_ms() - t0;
		ftr_incr_undo(lv);
	}
	qsort(ms, n, sizeof(*ms), ms_cmp);
	if (n)
		printf("\t%.3f\t%.3f", ms[n / 2], ms[n - 1]);
}

static struct ftr_guids read_roots(const char *path)
{
	uint64_t *guid = NULL;
	struct ftr_guids g;

	must(ftr_read_guids(path, &guid, &g.n, &err));
	g.guid = guid;
	return g;
}

static struct ftr_fabric *make_fabric(const char *name, uint64_t seed)
{
	struct ftr_gen_opts o = { .seed = seed, .random_guids = true };
	struct ftr_fabric *f = NULL;
	struct ftr_pgft g;

	if (strchr(name, '/')) {
		must(ftr_read_fabric(name, 0, &f, &err));
		return f;
	}
	must(ftr_pgft_parse(name, &g, &err));
	must(ftr_gen_pgft(&g, &o, &f, &err));
	return f;
}

int main(int argc, char **argv)
{
	struct ftr_shape_opts so = { .roots = { 0 } };
	bool times = false;
	struct ftr_keep keep = { 0 };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	const struct ftr_incr_result *r;
	struct ftr_incr_event *e;
	struct ftr_fabric *f;
	struct ftr_route_stats stats = { 0 };
	struct ftr_shape *sh = NULL, *routed = NULL;
	struct ftr_tables *t = NULL;
	struct ftr_incr *lv = NULL;
	struct ftr_rng rng;
	uint64_t entries = 0;
	uint32_t n, lost;
	uint64_t seed;
	double *ms;
	int c;

	while ((c = getopt(argc, argv, "tr:")) != -1) {
		if (c == 't')
			times = true;
		else if (c == 'r')
			so.roots = read_roots(optarg);
		else
			return 2;
	}
	argv += optind - 1;
	if (argc - optind != 3) {
		fprintf(stderr, "usage: bench_incremental [-t] [-r ROOTS] FABRIC PERCENT SEED\n");
		return 2;
	}
	seed = strtoull(argv[3], NULL, 10);
	f = make_fabric(argv[1], seed);
	must(ftr_shape_new(f, &so, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	ro.keep_turns = ro.keep_routed = true;
	must(ftr_engine_find("dmodc")->route(sh, &ro, NULL, t, &stats, &err));
	ro.turn = stats.turn;
	ro.n_turns = stats.turn ? stats.n_turns : 0;
	if (!stats.by_rank) {	/* the routing did not follow the ranks: use its own shape */
		ro.paths = FTR_PATHS_UPDOWN;
		routed = stats.routed;
	}
	keep.prefer = t;
	ro.keep = &keep;
	must(ftr_incr_new(routed ? routed : sh, NULL, t, &ro, &lv, &err));
	e = malloc(f->n_ports * sizeof(*e));
	n = list_links(f, e);
	lost = (uint32_t)(n * atof(argv[2]) / 100 + 0.5);
	lost = lost ? lost : 1;
	ms = malloc(lost * sizeof(*ms));
	ftr_rng_seed(&rng, seed);
	for (uint32_t i = 0; i < lost; i++) {
		uint32_t k = i + ftr_rng_below(&rng, n - i);
		struct ftr_incr_event x = e[k];
		double t0;

		e[k] = e[i];
		t0 = now_ms();
		must(ftr_incr_apply(lv, &x, 1, &r, &err));
		ms[i] = now_ms() - t0;
		entries += r->n_changes;
	}
	qsort(ms, lost, sizeof(*ms), ms_cmp);
	printf("%s\t%s%%\t%s", argv[1], argv[2], argv[3]);
	if (!times)
		print_load(sh, lv);
	printf("\t%llu\t%.3f\t%.3f", (unsigned long long)entries,
	       ms[lost / 2], ms[lost - 1]);
	if (times)
		print_switches(sh, lv);
	printf("\n");
	ftr_incr_free(lv);
	ftr_tables_free(t);
	ftr_shape_free(routed);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	free(stats.turn);
	free(e);
	free(ms);
	return 0;
}
