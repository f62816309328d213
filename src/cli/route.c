// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree route: fabric in, tables out, by any engine of the library.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

static const char text[] =
"Computes forwarding tables for FABRIC (ibnetdiscover output, an ibsim\n"
"netfile or opensm-subnet.lst) and writes them in the form of\n"
"opensm-lfts.dump; a summary goes to stderr.\n";

struct route {
	const char *engine, *leaf_order, *output;
	struct cli_guid_files files;
	struct ftr_shape_opts shape;
	unsigned int lmc, threads;
};

static int parse(struct route *r, int argc, char **argv, int *n)
{
	const struct cli_opt opts[] = {
		{ "engine", CLI_STRING, &r->engine, "NAME",
		  "routing engine (dmodc)", 0 },
		{ "roots", CLI_STRING, &r->files.roots, "FILE",
		  "node GUIDs of the top switches", 0 },
		{ "cn", CLI_STRING, &r->files.cn, "FILE",
		  "port GUIDs of the compute nodes", 0 },
		{ "io", CLI_STRING, &r->files.io, "FILE",
		  "port GUIDs of the I/O nodes", 0 },
		{ "leaf-order", CLI_STRING, &r->leaf_order, "guid|name",
		  "order of the leaves inside a pod (guid)", 0 },
		{ "lmc", CLI_UINT, &r->lmc, "N",
		  "2^N LIDs per host port if FABRIC gives no LIDs (0)",
		  FTR_LMC_MAX },
		{ "threads", CLI_UINT, &r->threads, "N",
		  "threads (0: one per core)", FTR_TEAM_MAX },
		{ "output", CLI_STRING, &r->output, "FILE",
		  "write to FILE, not to stdout", 0 },
		{ NULL, CLI_FLAG, NULL, NULL, NULL, 0 }
	};
	const struct cli_usage u = { "route", "FABRIC", text, opts, 1, 1 };

	return cli_parse(&u, argc, argv, n);
}

static void summary(const struct ftr_shape *sh, const char *engine,
		    const struct ftr_route_stats *stats, double shape_s,
		    double route_s)
{
	const struct ftr_fabric *f = sh->f;
	char num[CLI_NUM_MAX];

	fprintf(stderr, "%s: %u ranks%s, %u switches, %u of them leaves, "
		"%u end ports, %u planes, %u pods\n", engine, sh->n_ranks,
		sh->roots_given ? " (roots given)" : "", f->n_sw, sh->n_leaf,
		f->n_ep, sh->n_planes, sh->n_pods);
	if (sh->n_odd || sh->n_sideways)
		fprintf(stderr, "%s: %u end ports on switches that are no leaf, "
			"%u cables inside one rank\n", engine, sh->n_odd,
			sh->n_sideways);
	fprintf(stderr, "%s: %u LIDs, %s entries without a path, "
		"shape %.1f ms, route %.1f ms\n", engine, sh->n_dest,
		cli_num(num, stats->no_path), shape_s * 1e3, route_s * 1e3);
}

static enum ftr_status work(struct route *r, const struct ftr_engine_ops *ops,
			    const struct ftr_fabric *f, struct ftr_team *team,
			    struct ftr_err *err)
{
	struct ftr_route_stats stats = { 0 };
	struct ftr_tables *t = NULL;
	struct ftr_shape *sh = NULL;
	double t0 = cli_now(), t1, t2;
	enum ftr_status st;

	st = ftr_shape_new(f, &r->shape, team, &sh, err);
	t1 = cli_now();
	if (!st)
		st = ftr_tables_new(f, false, &t, err);
	if (!st)
		st = ops->route(sh, NULL, team, t, &stats, err);
	t2 = cli_now();
	if (!st) {
		const struct cli_tables_of of = { f, t };

		st = cli_write(r->output, cli_write_tables_fn, &of, err);
	}
	if (!st)
		summary(sh, ops->name, &stats, t1 - t0, t2 - t1);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	return st;
}

int cli_route(int argc, char **argv)
{
	struct route r = { .engine = "dmodc", .leaf_order = "guid" };
	const struct ftr_engine_ops *ops;
	struct ftr_fabric *f = NULL;
	struct ftr_team *team = NULL;
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = parse(&r, argc, argv, &n);

	if (status >= 0)
		return status;
	ops = ftr_engine_find(r.engine);
	if (!ops)
		return cli_error("route: there is no engine '%s' (ibfattree --help lists them)",
				 r.engine);
	if (!strcmp(r.leaf_order, "name"))
		r.shape.leaf_order = FTR_LEAF_BY_NAME;
	else if (strcmp(r.leaf_order, "guid"))
		return cli_error("route: --leaf-order is guid or name, not '%s'",
				 r.leaf_order);
	st = ftr_read_fabric(argv[0], r.lmc, &f, &err);
	if (!st)
		st = cli_read_guids(&r.files, &r.shape, &err);
	if (!st) {
		team = ftr_team_new(r.threads);
		st = work(&r, ops, f, team, &err);
		cli_free_guids(&r.shape);
	}
	ftr_team_free(team);
	ftr_fabric_free(f);
	return st ? cli_fail(&err) : CLI_CLEAN;
}
