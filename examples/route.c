// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libftr in one page: read a fabric, route it, check the tables.
 *
 *	ibnetdiscover >fabric.net
 *	cc route.c $(pkg-config --cflags --libs libftr) -o route
 *	./route fabric.net [ENGINE]
 *
 * Prints the result of the checker.  Exit status: 0 if every host reaches every other
 * host and there is no credit loop; 1 if not; 2 if the fabric could not be routed.
 */
#include <ftr/ftr.h>
#include <inttypes.h>
#include <stdio.h>

struct job {
	struct ftr_fabric *fabric;
	struct ftr_shape *shape;
	struct ftr_tables *tables;
	struct ftr_err err;
};

static enum ftr_status route(struct job *j, const char *file,
			     const struct ftr_engine_ops *engine)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { 0 };
	enum ftr_status st;

	st = ftr_read_fabric(file, 0, &j->fabric, &j->err);
	if (!st)
		st = ftr_shape_new(j->fabric, NULL, NULL, &j->shape, &j->err);
	if (!st)
		st = ftr_tables_new(j->fabric, false, &j->tables, &j->err);
	if (!st)
		st = engine->route(j->shape, &opts, NULL, j->tables, &stats,
				   &j->err);
	return st;
}

static int check(struct job *j)
{
	struct ftr_check_report report;
	uint64_t pairs, bad;

	if (ftr_check_tables(j->fabric, j->tables, NULL, NULL, &report,
			     &j->err)) {
		fprintf(stderr, "route: %s\n", j->err.msg);
		return 2;
	}
	pairs = report.pairs[FTR_CHECK_HOST_HOST];
	bad = report.bad[FTR_CHECK_HOST_HOST];
	printf("%" PRIu32 " switches, %" PRIu32 " ranks: %" PRIu64 " of %" PRIu64
	       " pairs of hosts connected, credit loops: %s\n",
	       j->fabric->n_sw, j->shape->tree.n_ranks, pairs - bad, pairs,
	       report.cdg == FTR_CDG_CYCLE ? "yes" : "no");
	return !bad && report.cdg != FTR_CDG_CYCLE ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct ftr_engine_ops *engine =
		ftr_engine_find(argc > 2 ? argv[2] : "dmodc");
	struct job j = { 0 };
	int status = 2;

	if (argc < 2 || !engine) {
		fprintf(stderr, "usage: route FABRIC [dmodc|sftree|ddlr]\n");
		return 2;
	}
	if (route(&j, argv[1], engine))
		fprintf(stderr, "route: %s\n", j.err.msg);
	else
		status = check(&j);
	ftr_tables_free(j.tables);
	ftr_shape_free(j.shape);
	ftr_fabric_free(j.fabric);
	return status;
}
