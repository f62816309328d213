// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree load: the number of flows on the most loaded link, for traffic
 * patterns of the literature and of the user.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/json.h"
#include "cli/live.h"

#define KINDS 5

struct result {
	const char *name;	/* kind of pattern */
	const char *which;	/* text before the number of the worst pattern: "k =" or "no." */
	bool done;
	double seconds;
	struct ftr_load_report r;
};

struct load {
	struct cli_in in;
	const char *lfts, *patterns, *jobs, *rail;
	unsigned int sample, permutations, bisections;
	unsigned int worst;
	uint64_t seed;

	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;
	ftr_ep *order;
	uint32_t n, gaps;	/* number of host ports in order[], and of gaps removed from it */
	double bound;		/* lower bound for all-to-all; 0: unknown */
	struct ftr_load_pair *pair;
	uint32_t n_pairs;
};

#define OPTS struct load
static const struct cli_opt options[] = {
	OPT(FILE, "lfts", lfts, "FILE", "forwarding tables"),
	CLI_OPTS_LIVE,
	CLI_OPT_ORDER,
	OPT(STRING, "rail", rail, "N", "only host ports of this rail (from 0) send and receive"),
	CLI_OPTS_GUIDS,
	CLI_OPTS_FABRIC,
	OPT(UINT, "sample", sample, "N",
	    "number of random shifts; 0: all shifts", "0", 0, UINT16_MAX),
	OPT(UINT, "permutations", permutations, "N",
	    "number of random permutations", "100", 0, 1000000),
	OPT(UINT, "bisections", bisections, "N", "number of random bisections", "100", 0, 1000000),
	OPT(FILE, "patterns", patterns, "FILE", "pairs of host ports that send at the same time"),
	OPT(FILE, "jobs", jobs, "FILE",
	    "jobs and their hosts; show only the links that jobs share"),
	OPT(U64, "seed", seed, "N", "seed of all random patterns", "1"),
	OPT(UINT, "worst", worst, "N", "list the N most loaded links", "5", 0, FTR_LOAD_WORST_MAX),
	CLI_OPT_THREADS,
	CLI_OPT_JSON,
	CLI_OPT_END
};

/* ---- the patterns --------------------------------------------------------- */

/* Removes all host ports that are not on the rail --rail from the order. */
static void keep_rail(struct load *l)
{
	const char *text = l->rail;
	struct ftr_hosts *h;
	char *end;
	unsigned long rail = strtoul(text, &end, 10);
	uint32_t n = 0;

	h = cli_hosts(l->f);
	if (end == text || *end || rail >= h->n_rails)
		cli_die("load: --rail expects a number from 0 to %u, not '%s'; the hosts have %s",
			h->n_rails - 1, text, CLI_COUNT(h->n_rails, "rail", "rails"));
	for (uint32_t i = 0; i < l->n; i++)
		if (h->rail[l->order[i]] == rail)
			l->order[n++] = l->order[i];
	l->n = n;
	ftr_hosts_free(h);
}

static void read_order(struct load *l)
{
	struct ftr_shape *sh = NULL;

	cli_must(cli_shape(&l->in, l->f, &sh, &cli_err));
	l->order = cli_order(&l->in, sh, &l->n);
	l->gaps = cli_drop_gaps(l->f, l->order, &l->n);
	if (l->rail)
		keep_rail(l);
	l->bound = cli_bound(sh, l->order, l->n);
	ftr_shape_free(sh);
}

static void read_all(struct load *l, const char *fabric)
{
	struct cli_live live = cli_input(&l->in, fabric);

	l->f = live.f;
	l->t = live.t;
	l->missing = live.missing;
	if (l->lfts) {
		ftr_tables_free(live.t);
		l->t = cli_read_lfts(l->lfts, l->f, &l->missing);
	}
	read_order(l);
	if (l->patterns)
		cli_must(ftr_read_pairs(l->patterns, l->f, &l->pair, &l->n_pairs, &cli_err));
}

static const char *tables_of(const struct load *l)
{
	return l->lfts ? l->lfts : "in use";
}

/* ---- text ----------------------------------------------------------------- */

static void print_row(const struct result *x)
{
	const struct ftr_load_report *r = &x->r;
	char which[40];

	snprintf(which, sizeof(which), "%s %u", x->which, r->worst);
	printf("%-14s %8s %15s %11s %10.2f %9s %-9s %10.2f\n", x->name, CLI_NUM(r->patterns),
	       CLI_NUM(r->flows), CLI_NUM(r->lost), cli_mean(r->sum_max, r->patterns),
	       CLI_NUM(r->max), r->patterns > 1 ? which : "", cli_mean(r->sum_load, r->sum_used));
}

static void print_bound(const struct load *l, const struct ftr_load_report *r)
{
	printf("\nlower bound for all-to-all: %.0f flows (by cuts)", l->bound);
	if (!r->lost)
		printf("; most loaded link: %.2f times the bound", (double)r->max / l->bound);
	printf("\n");
}

static void print_bins(const struct ftr_load_bins *b, const char *what)
{
	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t low = i * b->width;

		if (!b->count[i])
			continue;
		if (b->width == 1)
			printf("  %10" PRIu64 "            ", low);
		else
			printf("  %10" PRIu64 " .. %-8" PRIu64, low, low + b->width - 1);
		printf(" %12s %s\n", CLI_NUM(b->count[i]), what);
	}
}

static void print_links(const struct ftr_fabric *f, const struct ftr_load_report *r, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_links && i < n; i++)
		printf("  %10s  %s\n", CLI_NUM(r->link[i].load),
		       CLI_LINK(f, r->link[i].sw, r->link[i].port));
}

static void print_one(const struct ftr_fabric *f, const struct result *x, uint32_t worst)
{
	const struct ftr_load_report *r = &x->r;
	char which[40];

	if (r->patterns > 1) {
		printf("\n%s by their maximum:\n", x->name);
		print_bins(&r->maxima, "patterns");
	}
	snprintf(which, sizeof(which), "%s %u", x->which, r->worst);
	printf("\n%s%s%s: %s of %s links used, mean load %.2f; flows per host port: at most %" PRIu64 "\n",
	       x->name, r->patterns > 1 ? ", " : "", r->patterns > 1 ? which : "", CLI_NUM(r->used),
	       CLI_NUM(r->links), cli_mean(r->load, r->used), r->host_max);
	print_bins(&r->loads, "links");
	if (worst && r->n_links) {
		printf("the most loaded links:\n");
		print_links(f, r, worst);
	}
}

static void print_all(const struct load *l, const struct result *x, const char *fabric)
{
	printf("fabric    %s: %s, %s\n", fabric, CLI_SWITCHES(l->f->n_sw),
	       CLI_HOST_PORTS(l->f->n_ep));
	printf("tables    %s", tables_of(l));
	if (l->missing)
		printf(" (%s without a table)", CLI_SWITCHES(l->missing));
	printf("\norder     %s: %s", l->in.order ? l->in.order : "by the shape of the fabric",
	       CLI_HOST_PORTS(l->n));
	if (l->rail)
		printf(", rail %s", l->rail);
	if (l->gaps)
		printf(", without its %s", CLI_COUNT(l->gaps, "gap", "gaps"));
	printf("\n\n");
	printf("%-14s %8s %15s %11s %10s %9s %-9s %10s\n", "", "", "", "",
	       "mean of", "greatest", "", "mean used");
	printf("%-14s %8s %15s %11s %10s %9s %-9s %10s\n", "pattern",
	       "patterns", "flows", "lost", "maximum", "maximum", "", "link");
	for (int i = 0; i < KINDS; i++)
		if (x[i].done)
			print_row(&x[i]);
	if (l->bound > 0)
		print_bound(l, &x[0].r);
	for (int i = 0; i < KINDS; i++)
		if (x[i].done && x[i].r.patterns)
			print_one(l->f, &x[i], l->worst);
}

/* ---- JSON ----------------------------------------------------------------- */

/* JSON has the same figures as the text, with one exception: instead of the mean load of the worst
 * pattern, it has the sum of the loads and the number of used links. */
static void json_bins(struct json_object *o, const char *key, const struct ftr_load_bins *b)
{
	struct json_object *list = cli_json_array(o, key), *e;

	for (uint32_t i = 0; i < b->n; i++) {
		if (!b->count[i])
			continue;
		e = cli_json_element(list);
		cli_json_num(e, "from", i * b->width);
		cli_json_num(e, "to", (i + 1) * b->width - 1);
		cli_json_num(e, "count", b->count[i]);
	}
}

static void json_links(struct json_object *o, const struct ftr_fabric *f,
		      const struct ftr_load_report *r, uint32_t n)
{
	struct json_object *list = cli_json_array(o, "worst_links"), *e;

	for (uint32_t i = 0; i < r->n_links && i < n; i++) {
		e = cli_json_element(list);
		cli_json_num(e, "load", r->link[i].load);
		cli_json_link(e, f, r->link[i].sw, r->link[i].port);
	}
}

static void json_result(struct json_object *list, const struct load *l,
		       const struct result *x, bool all_to_all)
{
	const struct ftr_load_report *r = &x->r;
	struct json_object *o = cli_json_element(list), *w;

	cli_json_str(o, "pattern", x->name);
	cli_json_num(o, "patterns", r->patterns);
	cli_json_num(o, "flows", r->flows);
	cli_json_num(o, "lost", r->lost);
	cli_json_num(o, "max", r->max);
	cli_json_num(o, "min_max", r->min_max);
	cli_json_real(o, "mean_max", cli_mean(r->sum_max, r->patterns));
	cli_json_real(o, "mean_used_link", cli_mean(r->sum_load, r->sum_used));
	if (all_to_all && l->bound > 0) {
		cli_json_real(o, "bound", l->bound);
		cli_json_str(o, "bound_by", "cuts");
	}
	json_bins(o, "maxima", &r->maxima);
	cli_json_real(o, "seconds", x->seconds);
	w = cli_json_object(o, "worst");
	cli_json_num(w, "number", r->worst);
	cli_json_num(w, "links", r->links);
	cli_json_num(w, "used_links", r->used);
	cli_json_num(w, "sum", r->load);
	cli_json_num(w, "host_max", r->host_max);
	json_bins(w, "loads", &r->loads);
	json_links(w, l->f, r, l->worst);
}

static int print_json(const struct load *l, const struct result *x, int status)
{
	struct json_object *o = cli_json_new("load"), *list;

	cli_json_str(o, "tables", tables_of(l));
	cli_json_fabric(o, l->f, NULL);
	cli_json_num(o, "switches_without_table", l->missing);
	cli_json_str(o, "order", l->in.order);
	cli_json_str(o, "rail", l->rail);
	cli_json_num(o, "places", l->n);
	cli_json_num(o, "gaps", l->gaps);
	cli_json_str(o, "patterns_file", l->patterns);
	cli_json_num(o, "seed", l->seed);
	list = cli_json_array(o, "results");
	for (int i = 0; i < KINDS; i++)
		if (x[i].done)
			json_result(list, l, &x[i], !i);
	return cli_json_end(o, status);
}

static int report_load(const struct load *l, const struct result *x, const char *fabric)
{
	int status = CLI_CLEAN;

	for (int i = 0; i < KINDS; i++)
		if (x[i].done && x[i].r.lost)
			status = CLI_FINDINGS;
	if (l->in.json)
		return print_json(l, x, status);
	print_all(l, x, fabric);
	return status;
}

/* ---- the run ------------------------------------------------------------- */

static enum ftr_status run_kind(const struct load *l,
				const struct ftr_load *ld, int kind, struct ftr_load_report *r)
{
	struct ftr_team *team = l->in.team;

	switch (kind) {
	case 0:
		ftr_load_all(ld, NULL, r);
		return FTR_OK;
	case 1:
		return ftr_load_shifts(ld, l->sample, l->seed, team, r, &cli_err);
	case 2:
		return ftr_load_permutations(ld, l->permutations, l->seed, team, r, &cli_err);
	case 3:
		return ftr_load_bisections(ld, l->bisections, l->seed, team, r, &cli_err);
	default:
		return ftr_load_pairs(ld, l->pair, l->n_pairs, NULL, r, &cli_err);
	}
}

static void run_all(const struct load *l, struct result *x)
{
	struct ftr_load *ld = NULL;
	double t0;

	cli_progress("counting flows");
	cli_must(ftr_load_new(l->f, l->t, (struct ftr_order){ l->order, l->n }, l->in.team, &ld,
			      &cli_err));
	for (int i = 0; i < KINDS; i++) {
		if (!x[i].done)
			continue;
		cli_progress(x[i].name);
		t0 = cli_now();
		cli_must(run_kind(l, ld, i, &x[i].r));
		x[i].seconds = cli_now() - t0;
	}
	ftr_load_free(ld);
}

static int run_load(int argc, char **argv)
{
	static struct result x[KINDS] = {
		{ .name = "all-to-all", .which = "", .done = true },
		{ .name = "shifts", .which = "k =", .done = true },
		{ .name = "permutations", .which = "no." },
		{ .name = "bisections", .which = "no." },
		{ .name = "pairs", .which = "" },
	};
	static struct load l;
	const char *fabric;
	int n = cli_parse(&cli_load, &l, argc, argv), status;

	cli_live_args("load", &l.in, n, 1, n ? argv[0] : NULL);
	if (!l.lfts && !l.in.live)
		cli_die("load: --lfts FILE is needed, or --live");
	if (l.rail && l.jobs)
		cli_die("load: --jobs has no --rail");
	x[2].done = l.permutations > 0;
	x[3].done = l.bisections > 0;
	x[4].done = l.patterns != NULL;
	cli_progress("reading");
	l.in.team = ftr_team_new(l.in.threads);
	fabric = l.in.live ? "live" : argv[0];
	read_all(&l, fabric);
	if (l.jobs) {
		status = cli_load_jobs(&l.in, l.jobs, l.f, l.t, tables_of(&l));
	} else {
		run_all(&l, x);
		cli_progress_end();
		status = report_load(&l, x, fabric);
	}
	ftr_team_free(l.in.team);
	return status;
}

const struct cli_cmd cli_load = {
	.name = "load",
	.summary = "count the flows on every link",
	.args = "[FABRIC]",
	.text =
"Counts the flows on every link between switches for several traffic patterns:\n"
"all-to-all, all shift permutations (place i of the order sends to place i + k),\n"
"random permutations, random bisections, and the pairs in --patterns (two host\n"
"ports per line: LID, GUID or \"name\").  The order of host ports follows from the\n"
"fabric's shape or is read from an opensm-*-ca-order.dump; gaps are skipped.\n"
"With --live, fabric and tables are read from the switches; with --live and\n"
"--lfts, only the fabric.  \"maximum\" is the load of the most loaded link.  For\n"
"all-to-all, no routing has a maximum below the lower bound.\n"
"Exit status: 0 all flows arrive, 1 some do not, 2 bad input.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_load,
};
