// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree load: how many flows share the most loaded link, for the patterns
 * of the literature and for the user's own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char text[] =
"Counts the flows on every link between switches that the tables in --lfts\n"
"make of traffic patterns: all-to-all, all shift permutations (place i of the\n"
"order sends to place i + k), random permutations, random bisections, and the\n"
"pairs in --patterns (two end ports a line: LID, GUID or \"name\").  The order\n"
"of end ports is the one that the fabric's shape gives, or that of an\n"
"opensm-*-ca-order.dump.  \"maximum\" is the load of the most loaded link.\n"
"Exit status: 0 all flows arrive, 1 some do not, 2 bad input.\n";

#define KINDS 5

struct load {
	const char *lfts, *order, *patterns;
	struct cli_guid_files files;
	unsigned int sample, permutations, bisections, threads, worst;
	uint64_t seed;
};

struct input {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;
	ftr_ep *order;
	uint32_t n;
	struct ftr_load_pair *pair;
	uint32_t n_pairs;
};

struct result {
	const char *name, *which;	/* which: word for the worst one */
	bool done;
	double seconds;
	struct ftr_load_report r;
};

static int parse(struct load *l, int argc, char **argv, int *n)
{
	const struct cli_opt opts[] = {
		{ "lfts", CLI_STRING, &l->lfts, "FILE",
		  "tables to load", 0 },
		{ "order", CLI_STRING, &l->order, "FILE",
		  "order of end ports: opensm-*-ca-order.dump", 0 },
		{ "roots", CLI_STRING, &l->files.roots, "FILE",
		  "node GUIDs of the top switches, for the order", 0 },
		{ "cn", CLI_STRING, &l->files.cn, "FILE",
		  "port GUIDs of the compute nodes, for the order", 0 },
		{ "io", CLI_STRING, &l->files.io, "FILE",
		  "port GUIDs of the I/O nodes, for the order", 0 },
		{ "sample", CLI_UINT, &l->sample, "N",
		  "N random shifts instead of all (0: all)", UINT16_MAX },
		{ "permutations", CLI_UINT, &l->permutations, "N",
		  "random permutations (100)", 1000000 },
		{ "bisections", CLI_UINT, &l->bisections, "N",
		  "random bisections (100)", 1000000 },
		{ "patterns", CLI_STRING, &l->patterns, "FILE",
		  "pairs of end ports that send at the same time", 0 },
		{ "seed", CLI_U64, &l->seed, "N",
		  "seed of all random patterns (1)", 0 },
		{ "worst", CLI_UINT, &l->worst, "N",
		  "list the N most loaded links (5)", FTR_LOAD_WORST_MAX },
		{ "threads", CLI_UINT, &l->threads, "N",
		  "threads (0: one per core)", FTR_TEAM_MAX },
		{ NULL, CLI_FLAG, NULL, NULL, NULL, 0 }
	};
	const struct cli_usage u = { "load", "FABRIC", text, opts, 1, 1 };

	return cli_parse(&u, argc, argv, n);
}

/* ---- what is loaded ------------------------------------------------------ */

static void place(void *ctx, uint32_t d, ftr_ep ep)
{
	struct input *in = ctx;

	(void)d;
	in->order[in->n++] = ep;
}

static void count(void *ctx, uint32_t d, ftr_ep ep)
{
	(void)d;
	(void)ep;
	++*(uint32_t *)ctx;
}

static enum ftr_status order_of_shape(const struct load *l, struct input *in,
				      struct ftr_team *team,
				      struct ftr_err *err)
{
	struct ftr_shape_opts opts = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_shape *sh = NULL;
	enum ftr_status st = cli_read_guids(&l->files, &opts, err);
	uint32_t n = 0;

	if (!st)
		st = ftr_shape_new(in->f, &opts, team, &sh, err);
	cli_free_guids(&opts);
	if (st)
		return st;
	ftr_shape_host_order(sh, count, &n);
	in->order = malloc(((size_t)n + 1) * sizeof(*in->order));
	if (in->order)
		ftr_shape_host_order(sh, place, in);
	else
		st = ftr_fail(err, FTR_NOMEM, "out of memory for an order of %u places",
			      n);
	ftr_shape_free(sh);
	return st;
}

static enum ftr_status read_all(const struct load *l, const char *fabric,
				struct input *in, struct ftr_team *team,
				struct ftr_err *err)
{
	enum ftr_status st = ftr_read_fabric(fabric, 0, &in->f, err);

	if (!st)
		st = ftr_read_lfts(l->lfts, in->f, &in->t, &in->missing, err);
	if (!st && l->order)
		st = ftr_read_order(l->order, in->f, &in->order, &in->n, err);
	else if (!st)
		st = order_of_shape(l, in, team, err);
	if (!st && l->patterns)
		st = ftr_read_pairs(l->patterns, in->f, &in->pair,
				    &in->n_pairs, err);
	return st;
}

static void free_all(struct input *in)
{
	free(in->pair);
	free(in->order);
	ftr_tables_free(in->t);
	ftr_fabric_free(in->f);
}

/* ---- printing ------------------------------------------------------------ */

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

static void print_row(const struct result *x)
{
	const struct ftr_load_report *r = &x->r;
	char patterns[CLI_NUM_MAX], flows[CLI_NUM_MAX], lost[CLI_NUM_MAX];
	char max[CLI_NUM_MAX], which[40];

	snprintf(which, sizeof(which), "%s %u", x->which, r->worst);
	printf("%-14s %8s %15s %11s %10.2f %9s %-9s %10.2f\n", x->name,
	       cli_num(patterns, r->patterns), cli_num(flows, r->flows),
	       cli_num(lost, r->lost), mean(r->sum_max, r->patterns),
	       cli_num(max, r->max), r->patterns > 1 ? which : "",
	       mean(r->sum_load, r->sum_used));
}

static void print_bins(const struct ftr_load_bins *b, const char *what)
{
	char num[CLI_NUM_MAX];

	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t low = i * b->width;

		if (!b->count[i])
			continue;
		if (b->width == 1)
			printf("  %10" PRIu64 "            ", low);
		else
			printf("  %10" PRIu64 " .. %-8" PRIu64, low,
			       low + b->width - 1);
		printf(" %12s %s\n", cli_num(num, b->count[i]), what);
	}
}

static void print_links(const struct ftr_fabric *f,
			const struct ftr_load_report *r, uint32_t n)
{
	char num[CLI_NUM_MAX];

	for (uint32_t i = 0; i < r->n_links && i < n; i++) {
		const struct ftr_load_link *l = &r->link[i];
		const struct ftr_swport *p = ftr_fabric_port(f, l->sw, l->port);

		printf("  %10s  \"%s\" port %u -> \"%s\" port %u\n",
		       cli_num(num, l->load), f->sw[l->sw].name, l->port,
		       f->sw[p->peer].name, p->peer_port);
	}
}

static void print_one(const struct ftr_fabric *f, const struct result *x,
		      uint32_t worst)
{
	const struct ftr_load_report *r = &x->r;
	char which[40], used[CLI_NUM_MAX], links[CLI_NUM_MAX];

	if (r->patterns > 1) {
		printf("\n%s by their maximum:\n", x->name);
		print_bins(&r->maxima, "patterns");
	}
	snprintf(which, sizeof(which), "%s %u", x->which, r->worst);
	printf("\n%s%s%s: %s of %s links used, mean %.2f, most flows of one end port %" PRIu64 "\n",
	       x->name, r->patterns > 1 ? ", " : "",
	       r->patterns > 1 ? which : "", cli_num(used, r->used),
	       cli_num(links, r->links), mean(r->load, r->used), r->host_max);
	print_bins(&r->loads, "links");
	if (worst && r->n_links) {
		printf("the most loaded links:\n");
		print_links(f, r, worst);
	}
}

static int print_all(const struct load *l, const struct input *in,
		     const struct result *x, const char *fabric)
{
	char a[CLI_NUM_MAX], b[CLI_NUM_MAX];
	bool lost = false;

	printf("fabric    %s: %s switches, %s end ports\n", fabric,
	       cli_num(a, in->f->n_sw), cli_num(b, in->f->n_ep));
	printf("tables    %s", l->lfts);
	if (in->missing)
		printf(" (%s switches without a table)",
		       cli_num(a, in->missing));
	printf("\norder     %s: %s end ports in %s places\n\n",
	       l->order ? l->order : "by the shape of the fabric",
	       cli_num(a, x[0].r.hosts), cli_num(b, in->n));
	printf("%-14s %8s %15s %11s %10s %9s %-9s %10s\n", "", "", "", "",
	       "mean of", "greatest", "", "mean used");
	printf("%-14s %8s %15s %11s %10s %9s %-9s %10s\n", "pattern",
	       "patterns", "flows", "lost", "maximum", "maximum", "", "link");
	for (int i = 0; i < KINDS; i++)
		if (x[i].done) {
			print_row(&x[i]);
			lost = lost || x[i].r.lost;
		}
	for (int i = 0; i < KINDS; i++)
		if (x[i].done && x[i].r.patterns)
			print_one(in->f, &x[i], l->worst);
	return lost ? CLI_FINDINGS : CLI_CLEAN;
}

/* ---- the run ------------------------------------------------------------- */

static enum ftr_status run_kind(const struct load *l, const struct input *in,
				const struct ftr_load *ld, int kind,
				struct ftr_team *team,
				struct ftr_load_report *r, struct ftr_err *err)
{
	switch (kind) {
	case 0:
		return ftr_load_all(ld, team, r, err);
	case 1:
		return ftr_load_shifts(ld, l->sample, l->seed, team, r, err);
	case 2:
		return ftr_load_permutations(ld, l->permutations, l->seed, team,
					     r, err);
	case 3:
		return ftr_load_bisections(ld, l->bisections, l->seed, team, r,
					   err);
	default:
		return ftr_load_pairs(ld, in->pair, in->n_pairs, r, err);
	}
}

static enum ftr_status run(const struct load *l, const struct input *in,
			   struct ftr_team *team, struct result *x,
			   struct ftr_err *err)
{
	struct ftr_load *ld = NULL;
	double t0 = cli_now(), t1;
	enum ftr_status st = ftr_load_new(in->f, in->t, in->order, in->n, 0,
					  team, &ld, err);

	t1 = cli_now();
	fprintf(stderr, "load: paths %.2f s", t1 - t0);
	for (int i = 0; !st && i < KINDS; i++) {
		if (!x[i].done)
			continue;
		st = run_kind(l, in, ld, i, team, &x[i].r, err);
		x[i].seconds = cli_now() - t1;
		fprintf(stderr, ", %s %.2f s", x[i].name, x[i].seconds);
		t1 = cli_now();
	}
	fputc('\n', stderr);
	ftr_load_free(ld);
	return st;
}

int cli_load(int argc, char **argv)
{
	struct load l = { .permutations = 100, .bisections = 100, .seed = 1,
			  .worst = 5 };
	static struct result x[KINDS] = {
		{ .name = "all-to-all", .which = "", .done = true },
		{ .name = "shifts", .which = "k =", .done = true },
		{ .name = "permutations", .which = "no." },
		{ .name = "bisections", .which = "no." },
		{ .name = "pairs", .which = "" },
	};
	struct input in = { .f = NULL };
	struct ftr_err err = { 0 };
	struct ftr_team *team;
	enum ftr_status st;
	int n, status = parse(&l, argc, argv, &n);

	if (status >= 0)
		return status;
	if (!l.lfts)
		return cli_error("load: --lfts FILE is needed");
	x[2].done = l.permutations > 0;
	x[3].done = l.bisections > 0;
	x[4].done = l.patterns != NULL;
	team = ftr_team_new(l.threads);
	st = read_all(&l, argv[0], &in, team, &err);
	if (!st)
		st = run(&l, &in, team, x, &err);
	status = st ? cli_fail(&err) : print_all(&l, &in, x, argv[0]);
	ftr_team_free(team);
	free_all(&in);
	return status;
}
