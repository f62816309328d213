// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree whatif: routes a fabric, applies faults, routes it again, and shows the
 * findings of the checker side by side.
 *
 * One column per set of tables:
 *
 *	before		the engine's tables on the undamaged fabric
 *	not rerouted	the same tables on the damaged fabric: the state until the
 *			subnet manager has rerouted
 *	local		(--local) the tables after ddlr's local repair
 *	after		the engine's tables for the damaged fabric; changes are
 *			counted relative to "before".  As in the plugin, entries of
 *			"before" are kept, and so are its extra turns (see
 *			docs/glossary.md) that are still valid.  (Entries are not kept with
 *			--balance off.)
 *	FILE		given tables (--compare) on the damaged fabric
 *
 * With --survival, the runs are repeated for each number of random link faults, and only counted.
 *
 * Without faults and drains, the only columns are "after", titled with the engine's name, and the
 * given tables.  With random faults, the columns of the damaged fabric have one run for each seed.
 *
 * The threads divide the runs among them if there are enough runs, because a run with one thread
 * needs less than half the processor time of a run with many.  Each thread then needs memory for
 * its own run.  If there are few runs, the threads work on one run after the other.  The results
 * are the same.
 */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/ddlr_repair.h"
#include "cli/json.h"
#include "cli/live.h"
#include "cli/whatif.h"

#define REPEAT_MAX 10000
#define BATCH 50		/* number of fault sets between two looks at --until */
#define HEAP ((size_t)1000 << 20)	/* less than M_MMAP_THRESHOLD in keep_memory() */
#define HUGE_RUNS 32		/* from this number of runs on, huge pages save more time than they cost */

static bool is_changed(const struct cli_whatif *j)
{
	return j->fail.n || j->drain.n;
}

#define OPTS struct cli_whatif
static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE("load"),
	CLI_OPT_FAIL,
	CLI_OPT_SEED,
	OPT(LIST, "drain", drain, "PART",
	    "drain a switch, link or host as \"ibfattree drain\" does; may be given more than once"),
	OPT(UINT, "repeat", repeat, "N",
	    "make N runs, with consecutive seeds of the random faults", "1", 1, REPEAT_MAX),
	OPT(STRING, "metrics", metrics, "LIST",
	    "what to measure besides reachability: stale, load, shifts", "stale,load,shifts"),
	OPT(FILE, "patterns", loads.patterns, "FILE", "pairs of host ports that send at the same time"),
	OPT(FILE, "details", details, "DIR",
	    "with --json: also print the fabrics, and save the tables in DIR"),
	OPT(FILES, "compare", compare, "FILE",
	    "also show the tables in FILE on the damaged fabric"),
	OPT(FLAG, "local", local, NULL, "also show the tables after ddlr's local repair"),
	OPT(FLAG, "guarantee", guarantee, NULL,
	    "show the number of faults that are always repaired locally"),
	OPT(STRING, "survival", survival.list, "LIST",
	    "show how many sets of N random link faults are survived, for each N of LIST"),
	OPT(STRING, "until", survival.until, "P%",
	    "with --survival: no more sets when each share is known within +-P%"),
	CLI_OPTS_LIVE,
	CLI_OPT_LIST,
	CLI_OPT_VLS,
	CLI_OPTS_GUIDS,
	CLI_OPT_LEAF_ORDER,
	CLI_OPTS_FABRIC,
	CLI_OPT_THREADS,
	CLI_OPT_JSON,
	CLI_OPT_END
};

/* Routes f as the plugin would.  If the nominal next hop of an entry is missing, another next hop is
 * chosen: by link load, or by the formula with --balance off.  *t: NULL, or tables whose memory is
 * used again.  stats may be NULL.  Returns the time in milliseconds. */
static double route(const struct cli_whatif *j, const struct ftr_fabric *f,
		    struct ftr_route_opts *ro, struct ftr_shape **sh,
		    struct ftr_tables **t, struct ftr_route_stats *stats)
{
	double t0 = cli_now();

	cli_must(ftr_shape_new(f, &j->shaping.opts, j->inner, sh, &cli_err));
	ro->nominal = j->shaping.opts.nominal;
	if (*t && ((*t)->n_sw != f->n_sw || (*t)->max_lid != f->max_lid)) {
		ftr_tables_free(*t);
		*t = NULL;
	}
	if (!*t)
		cli_must(ftr_tables_new(f, false, t, &cli_err));
	cli_must(j->in.engine->route(*sh, ro, j->inner, *t, stats, &cli_err));
	return (cli_now() - t0) * 1e3;
}

/* Returns tables t of the undamaged fabric for f, a copy of this fabric without some parts: t itself
 * if f has all switches.  Free the result with drop(). */
static const struct ftr_tables *carry(const struct cli_whatif *j, const struct ftr_tables *t,
				      const struct ftr_fabric *f)
{
	return f->n_sw == j->f->n_sw ? t : cli_carry_tables(j->f, t, f);
}

static void drop(const struct ftr_tables *here, const struct ftr_tables *t)
{
	if (here != t)
		ftr_tables_free((struct ftr_tables *)(uintptr_t)here);
}

/* Routes the damaged fabric f.  As in the plugin, entries of "before" are kept with --balance load or
 * full.  If they are kept, only the all-to-all load is balanced, because the fabric is incomplete. */
static double reroute(const struct cli_whatif *j, const struct ftr_fabric *f,
		      struct ftr_shape **sh, struct ftr_tables **t)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->in, f);
	const struct ftr_tables *prefer = j->before;
	struct ftr_turn *turn = NULL;
	struct ftr_keep keep;
	double ms;

	if (j->before && ro.balance) {
		prefer = carry(j, j->before, f);
		keep = (struct ftr_keep){ .prefer = prefer, .base = j->base };
		ro.keep = &keep;
		ro.balance = FTR_BALANCE_LOAD;
	}
	if (j->before) {
		if (!ftr_turns_carry(j->f, j->turn, j->n_turns, f, &turn, &ro.n_turns))
			cli_die("out of memory for %u turns", j->n_turns);
		ro.turn = turn;
	}
	ms = route(j, f, &ro, sh, t, NULL);
	drop(prefer, j->before);
	free(turn);
	return ms;
}

/* If run i of column c is the worst so far, or as bad and before it, keeps its affected nodes. */
static void keep_worst(struct cli_whatif *j, struct cli_column *c, unsigned int i,
		       const struct ftr_fabric *f, struct cli_reach *reach)
{
	double lost = c->run[i].v[CLI_M_LOST], most = -1;

	pthread_mutex_lock(&j->lock);
	if (c->any)
		most = c->run[c->worst_run].v[CLI_M_LOST];
	if (lost > most || (lost >= most && i < c->worst_run)) {
		cli_reach_free(&c->worst);
		cli_reach_move(reach, f, j->f);
		c->worst = *reach;
		c->worst_run = i;
		c->any = true;
	} else {
		cli_reach_free(reach);
	}
	pthread_mutex_unlock(&j->lock);
}

static void measure(struct cli_whatif *j, const struct ftr_shape *sh,
		    const struct ftr_tables *t, struct cli_column *c, unsigned int i)
{
	struct ftr_sl2vl *m = NULL;
	struct cli_reach reach;
	struct ftr_check_opts how = { .base = j->checked };
	char name[32];

	if (j->details) {
		snprintf(name, sizeof(name), "%td.lfts.gz", c - j->col);
		cli_write_tables(cli_path(j->details, name), sh->f, t);
		c->run[i].details = json_object_new_object();
		if (!c->run[i].details)
			cli_die("out of memory for the details");
	}
	if (j->vl_map)
		how.sl2vl = m = cli_carry_vls(j->f, j->vl_map, sh->f);
	cli_measure(sh, t, &how, j->inner, &c->run[i], &reach);
	keep_worst(j, c, i, sh->f, &reach);
	cli_measure_load(sh, t, &j->loads, j->inner, &c->run[i]);
	ftr_sl2vl_free(m);
}

/* Measures t, the tables of the undamaged fabric, on the damaged fabric. */
static void measure_old(struct cli_whatif *j, const struct ftr_tables *t,
			const struct ftr_shape *sh, struct cli_column *c, unsigned int i)
{
	const struct ftr_tables *here = carry(j, t, sh->f);

	measure(j, sh, here, c, i);
	drop(here, t);
}

static void measure_ddlr(struct cli_whatif *j, const struct ftr_shape *sh,
			 struct cli_column *c, unsigned int i)
{
	struct cli_measure *out = &c->run[i];
	struct ftr_tables_diff d;
	struct ftr_ddlr_plan p;
	struct ftr_tables *t = cli_ddlr_repair(j->sh, j->before, j->vl_map, sh->f, &p, &d);

	measure(j, sh, t, c, i);
	cli_measure_churn(out, &d);
	out->v[CLI_M_WRITES] = p.n;
	out->v[CLI_M_STEPS] = p.n_steps;
	out->v[CLI_M_UNREPAIRED] = (double)p.unrepaired;
	ftr_tables_free(t);
}

/* Returns the lower bound of the load of all-to-all traffic in f. */
static double bound_of(const struct cli_whatif *j, const struct ftr_fabric *f)
{
	struct ftr_order hosts = cli_hosts_at(f, j->loads.place, j->loads.n);
	struct ftr_shape *sh = NULL;
	double bound;

	cli_must(ftr_shape_new(f, &j->shaping.opts, j->inner, &sh, &cli_err));
	bound = cli_bound(sh, hosts.ep, hosts.n);
	ftr_shape_free(sh);
	free((ftr_ep *)(uintptr_t)hosts.ep);
	return bound;
}

/* Applies the faults of a run, and the drains.  If there are any, sets *bound to the lower bound of
 * the load before the drains, if loads are measured, and *only to the number of host ports that are
 * reached only over drained parts. */
static struct ftr_fabric *damaged(const struct cli_whatif *j, uint64_t seed, double *bound,
				  double *only)
{
	struct ftr_fabric *f = cli_faults_apply(j->f, &j->faults, seed);
	struct ftr_drained d;

	if (!j->drains.n)
		return f;
	if (j->loads.all)
		*bound = bound_of(j, f);
	cli_must(ftr_drain_apply(f, &j->drains, FTR_SW_NONE, &d, &cli_err));
	*only = d.n_cut;
	ftr_fabric_free(f);
	f = d.f;
	d.f = NULL;
	ftr_drained_clear(&d);
	return f;
}

/* Measures run i, with its own seed, in every column of the damaged fabric.  *t: as in route(). */
static void one_run(struct cli_whatif *j, unsigned int i, struct ftr_tables **t)
{
	double bound = NAN, only = NAN;
	struct ftr_fabric *f = damaged(j, j->seed + i, &bound, &only);
	struct ftr_shape *sh = NULL;
	double ms = reroute(j, f, &sh, t);
	struct cli_column *c = j->col;
	struct ftr_tables_diff d;

	c += j->before != NULL;
	if (j->loads.stale)
		measure_old(j, j->before, sh, c++, i);
	if (j->local)
		measure_ddlr(j, sh, c++, i);
	measure(j, sh, *t, c, i);
	c->run[i].v[CLI_M_ROUTE_MS] = ms;
	c->run[i].v[CLI_M_DRAINED] = 100 * (1 - bound / c->run[i].v[CLI_M_ALL_BOUND]);
	c->run[i].v[CLI_M_DRAINED_ONLY] = only;
	if (j->before) {
		ftr_tables_diff(j->f, j->before, f, *t, &d);
		cli_measure_churn(&c->run[i], &d);
	}
	for (unsigned int k = 0; k < j->compare.n; k++)
		measure_old(j, j->given[k], sh, ++c, i);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

static void add_column(struct cli_whatif *j, const char *title, const char *kind, unsigned int n)
{
	j->col[j->n_col++] = (struct cli_column){
		.title = title, .kind = kind, .n = n,
		.run = cli_calloc(n, sizeof(struct cli_measure), "%u runs", n),
	};
}

static void read_pairs(struct cli_whatif *j)
{
	struct ftr_transfer *pair;
	uint32_t n;

	cli_must(ftr_read_pairs(j->loads.patterns, j->f, &pair, &n, &cli_err));
	j->loads.n_ends = 2 * n;
	j->loads.ends = cli_calloc(j->loads.n_ends, sizeof(*j->loads.ends), "%u pairs", n);
	for (uint32_t i = 0; i < n; i++) {
		j->loads.ends[2 * i] = j->f->ep[pair[i].from].guid;
		j->loads.ends[2 * i + 1] = j->f->ep[pair[i].to].guid;
	}
	free(pair);
}

static void read_all(struct cli_whatif *j, const char *path)
{
	struct cli_live live = cli_input(&j->in, path);

	j->f = live.f;
	cli_must(cli_shaping(&j->in, j->f, is_changed(j), &j->shaping, &cli_err));
	j->faults = cli_faults_parse(j->f, "fail", &j->fail);
	for (unsigned int i = 0; i < j->drain.n; i++)
		cli_drain_word(&j->drains, j->f, j->drain.v[i]);
	if (j->loads.patterns)
		read_pairs(j);
	for (unsigned int i = 0; i < j->compare.n; i++)
		if (live.t && !i)
			j->given[i] = live.t;
		else
			j->given[i] = cli_read_lfts(j->compare.v[i], j->f, NULL);
	if (!j->compare.n)
		ftr_tables_free(live.t);	/* with --guarantee or --survival */
}

/* Makes the objects from which the runs are computed.  The memory of many runs gets huge pages,
 * because their accesses are scattered: with 50 failed links, a run takes a tenth less time.  As
 * free() returns nothing to the kernel (keep_memory), the runs get the memory that is advised here. */
static void set_bases(struct cli_whatif *j, const struct ftr_tables *t)
{
	struct ftr_order hosts = cli_hosts_at(j->f, j->loads.place, j->loads.n);
	void *heap;

	cli_must(ftr_route_base_new(j->sh, t, j->in.team, &j->base, &cli_err));
	cli_must(ftr_check_base_new(j->f, t, j->sh->tree.rank, j->in.team, &j->checked, &cli_err));
	if (j->loads.all)
		cli_must(ftr_check_base_load(j->checked, hosts, j->in.team, &cli_err));
	free((ftr_ep *)(uintptr_t)hosts.ep);
	heap = j->repeat < HUGE_RUNS ? NULL : aligned_alloc(2 << 20, HEAP);
	if (heap)
		madvise(heap, HEAP, MADV_HUGEPAGE);
	free(heap);
}

/* Routes the undamaged fabric, and adds the columns. */
static void set_up(struct cli_whatif *j)
{
	struct ftr_route_stats stats = { .turn = NULL };
	struct ftr_route_opts ro = cli_route_opts(&j->in, j->f);
	struct ftr_tables *t = NULL;
	double ms;

	ro.keep_turns = true;
	ms = route(j, j->f, &ro, &j->sh, &t, &stats);
	j->turn = stats.turn;
	j->n_turns = stats.turn ? stats.n_turns : 0;
	cli_note_files(j->sh);
	/* all columns use the host order of the undamaged fabric, so that loads are comparable */
	j->loads.place = cli_host_guids(j->sh, false, &j->loads.n);
	j->vl_map = cli_vls(j->sh, j->vls);
	if (is_changed(j) || j->guarantee)
		j->before = t;
	if (j->guarantee)
		return;
	if (j->repeat > 1)
		set_bases(j, t);
	if (is_changed(j)) {
		add_column(j, "before", "before", 1);
		measure(j, j->sh, t, &j->col[0], 0);
		j->col[0].run[0].v[CLI_M_ROUTE_MS] = ms;
		if (j->loads.stale)
			add_column(j, "not rerouted", "not_rerouted", j->repeat);
		if (j->local)
			add_column(j, "local", "local", j->repeat);
	} else {
		ftr_tables_free(t);
	}
	add_column(j, is_changed(j) ? "after" : j->in.engine->name, "after", j->repeat);
	for (unsigned int i = 0; i < j->compare.n; i++)
		add_column(j, j->compare.v[i], "compare", j->repeat);
}

static int report_whatif(const struct cli_whatif *j)
{
	const struct cli_column *after = &j->col[is_changed(j) ? 1u + j->loads.stale + j->local : 0];
	int status = CLI_CLEAN;

	for (unsigned int i = 0; i < after->n; i++)
		if (after->run[i].bad)
			status = CLI_FINDINGS;
	if (j->in.json)
		return cli_whatif_json(j, status);
	return cli_whatif_table(j, status);
}

/* Prints the number of further faults that ddlr is guaranteed to repair locally.  With --fail, the
 * faults of --fail are applied first. */
static int report_guarantee(const struct cli_whatif *j)
{
	struct ftr_fabric *nf = cli_faults_apply(j->f, &j->faults, j->seed);
	const struct ftr_guarantee g = cli_guarantee(j->sh, j->before, j->vl_map, nf);

	ftr_fabric_free(nf);
	cli_progress_end();
	if (j->in.json)
		return cli_guarantee_json(j->f, &g, j->vls);
	cli_guarantee_text(j->f, &g, j->vls);
	return CLI_CLEAN;
}

static void some_runs(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct cli_whatif *j = ctx;

	for (uint32_t i = begin; i < end; i++) {
		one_run(j, j->survival.first + i, &j->tables[worker]);
		pthread_mutex_lock(&j->lock);
		cli_progress_step(++j->done, j->repeat);
		pthread_mutex_unlock(&j->lock);
	}
}

static void begin_runs(struct cli_whatif *j)
{
	if (j->repeat > 1 && !j->faults.links && !j->faults.switches)
		cli_die("whatif: --repeat %u without random faults: all runs would be the same",
			j->repeat);
	cli_progress("applying faults, routing and checking");
	cli_progress_step(0, j->repeat);
	if (!j->tables)
		j->tables = cli_calloc(ftr_team_size(j->in.team), sizeof(*j->tables), "tables");
}

static void make_runs(struct cli_whatif *j, unsigned int n)
{
	if (j->repeat < 2 * ftr_team_size(j->in.team)) {
		some_runs(j, 0, 0, n);
	} else {
		j->inner = NULL;
		ftr_team_run(j->in.team, n, 1, some_runs, j);
	}
}

/* Makes n runs, and counts what survives in the columns "local" and "after". */
static void count_survived(struct cli_whatif *j, unsigned int n, unsigned int row[CLI_N_SURVIVAL])
{
	unsigned int end = row[CLI_SETS] + n;

	j->survival.first = row[CLI_SETS];
	make_runs(j, n);
	for (unsigned int i = row[CLI_SETS]; i < end; i++) {
		row[CLI_BY_CABLING] += j->col[2].run[i].v[CLI_M_CUT] <= 0;
		row[CLI_BY_REPAIR] += j->col[1].run[i].v[CLI_M_LOST] <= 0;
		row[CLI_BY_TABLES] += j->col[2].run[i].v[CLI_M_LOST] <= 0;
	}
	row[CLI_SETS] = end;
}

/* The share in --until; without this option, a negative number, which no share reaches. */
static double read_until(const struct cli_whatif *j)
{
	const char *s = j->survival.until;
	char *end;
	double p;

	if (!s)
		return -1;
	p = strtod(s, &end);
	if (s[strspn(s, "0123456789.%")] || strcmp(end, "%") || !(p > 0 && p < 50))
		cli_die("whatif: --until expects a percentage between 0%% and 50%%, as 1%%; not '%s'", s);
	return p / 100;
}

/* Makes the runs for each number of links in --survival.  The last of the faults is a placeholder
 * for this number. */
static int report_survival(struct cli_whatif *j)
{
	unsigned int row[CLI_LIST_MAX][CLI_N_SURVIVAL] = { 0 };
	char words[400], spec[420], *rest = words, *m;
	double until = read_until(j);
	unsigned int n = 0, batch = until < 0 ? j->repeat : BATCH, left;

	snprintf(words, sizeof(words), "%s", j->survival.list);
	while ((m = strsep(&rest, ","))) {
		if (n == CLI_LIST_MAX || !m[0] || m[strspn(m, "0123456789%")])
			cli_die("whatif: --survival expects up to %u numbers of links, as 18 or 5%%, separated by commas; not '%s'",
				CLI_LIST_MAX, m);
		snprintf(spec, sizeof(spec), "%slinks", m);
		j->fail.v[j->fail.n - 1] = spec;
		cli_faults_free(&j->faults);
		j->faults = cli_faults_parse(j->f, "survival", &j->fail);
		j->done = 0;
		begin_runs(j);
		row[n][CLI_FAILED_LINKS] = j->faults.links;
		do {
			left = j->repeat - row[n][CLI_SETS];
			count_survived(j, left < batch ? left : batch, row[n]);
		} while (row[n][CLI_SETS] < j->repeat && !cli_survival_known(row[n], until));
		cli_progress_end();
		n++;
	}
	j->fail.n--;
	return cli_whatif_survival(j, row, n);
}

/* Sets what to measure from the words of --metrics. */
static void parse_metrics(struct cli_whatif *j)
{
	char words[100], *left = words, *m;

	snprintf(words, sizeof(words), "%s", j->metrics);
	while ((m = strsep(&left, ","))) {
		if (!strcmp(m, "stale"))
			j->loads.stale = j->fail.n && !j->guarantee;
		else if (!strcmp(m, "load"))
			j->loads.all = true;
		else if (!strcmp(m, "shifts"))
			j->loads.shifts = true;
		else if (strcmp(m, "none"))
			cli_die("whatif: --metrics expects stale, load and shifts, separated by commas, or none; not '%s'",
				m);
	}
}

/* A run allocates and frees the same blocks as the run before it.  If free() returned their memory
 * to the kernel, a third of the time would go into page faults. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_ARENA_MAX, 1);
}

static int run_whatif(int argc, char **argv)
{
	static struct cli_whatif j = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int n = cli_parse(&cli_whatif, &j, argc, argv), status;

	cli_live_args("whatif", &j.in, n, 1, NULL);
	/* FABRIC is no table, and with --live there are the tables in use, too */
	if (j.compare.n + (unsigned int)n + 2u * j.in.live - 1 > CLI_LIST_MAX)
		cli_die("whatif: more than %u tables to compare", CLI_LIST_MAX);
	if (j.guarantee && (j.compare.n || n + j.in.live > 1 || j.repeat > 1 || j.local))
		cli_die("whatif: --guarantee cannot be combined with --compare, --repeat or --local");
	if (j.drain.n && (j.local || j.guarantee || j.survival.list))
		cli_die("whatif: --drain cannot be combined with --local, --guarantee or --survival");
	if (j.details && (!j.in.json || j.repeat > 1 || j.guarantee || j.survival.list))
		cli_die("whatif: --details needs --json, and cannot be combined with --repeat, --guarantee or --survival");
	if (j.survival.until && !j.survival.list)
		cli_die("whatif: --until needs --survival LIST");
	if (j.local && !j.fail.n)
		cli_die("whatif: --local needs --fail SPEC");
	if (j.survival.list) {
		if (j.compare.n || n + j.in.live > 1 || j.guarantee || j.fail.n == CLI_LIST_MAX)
			cli_die("whatif: --survival cannot be combined with --compare, --guarantee or %u --fail",
				CLI_LIST_MAX);
		j.fail.v[j.fail.n++] = "0links";
		j.local = true;
		j.metrics = "none";
	}
	/* the tables in use come first */
	if (j.in.live && !j.guarantee && !j.survival.list) {
		memmove(&j.compare.v[1], &j.compare.v[0], j.compare.n * sizeof(j.compare.v[0]));
		j.compare.v[0] = "in use";
		j.compare.n++;
	}
	for (int i = j.in.live ? 0 : 1; i < n; i++)
		j.compare.v[j.compare.n++] = argv[i];
	cli_progress("reading and routing");
	parse_metrics(&j);
	if (j.repeat > 1)
		keep_memory();
	j.in.team = j.inner = ftr_team_new(j.in.threads);
	read_all(&j, argv[0]);
	set_up(&j);
	if (j.guarantee) {
		status = report_guarantee(&j);
	} else if (j.survival.list) {
		status = report_survival(&j);
	} else {
		begin_runs(&j);
		make_runs(&j, j.repeat);
		cli_progress_end();
		status = report_whatif(&j);
	}
	ftr_route_base_free(j.base);
	ftr_check_base_free(j.checked);
	ftr_team_free(j.in.team);
	return status;
}

const struct cli_cmd cli_whatif = {
	.name = "whatif",
	.summary = "show the effect of failed links or switches",
	.args = "[FABRIC] [FILE...]",
	.text =
"Routes FABRIC, applies --fail and --drain, routes it again, and compares the\n"
"tables before and after: unreachable pairs, affected nodes, loops, credit loops,\n"
"load, and the number of entries that the plugin would change.\n"
"The tables in FILEs and in the files of --compare are shown beside them, on the\n"
"damaged fabric.  Without --fail, these tables are compared with the engine's\n"
"tables for FABRIC.  --fail and --compare may be given more than once.\n"
"With --live, the running fabric takes the place of FABRIC, all arguments are\n"
"FILEs, and the tables in use are shown, too.\n"
"Exit status: 0 if \"ibfattree check\" would have no finding for the engine's\n"
"tables on the damaged fabric, 1 if it would have one, 2 for bad input.\n",
	.opts = options,
	.min_args = 0,
	.max_args = 1 + CLI_LIST_MAX,
	.run = run_whatif,
};
