// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree gen: a PGFT, damaged on request, as a netfile.
 */
#include <inttypes.h>

#include "cli/cli.h"

static const char text[] =
"Writes a parallel-ports generalised fat-tree in the form that ibsim reads.\n"
"SHAPE: 648, 3456, 11664 or 27648 (hosts of well-known trees), kary:K,N for\n"
"the K-ary N-tree, or \"H;m1,..,mH;w1,..,wH;p1,..,pH\": H levels of switches,\n"
"m_i children, w_i parents and p_i parallel cables at level i.\n"
"The same SHAPE, options and seed give the same file on every machine.\n";

struct gen {
	struct ftr_gen_opts opts;
	struct ftr_damage damage;
	unsigned int lmc, links, switches, hosts;
	const char *output;
};

static int parse(struct gen *g, int argc, char **argv, int *n)
{
	const struct cli_opt opts[] = {
		{ "seed", CLI_U64, &g->opts.seed, "N",
		  "seed of everything random (0)", 0 },
		{ "random-guids", CLI_FLAG, &g->opts.random_guids, NULL,
		  "GUIDs as vendors assign them, not in order", 0 },
		{ "random-ports", CLI_FLAG, &g->opts.random_ports, NULL,
		  "cables plugged into any port of a switch", 0 },
		{ "random-lids", CLI_FLAG, &g->opts.random_lids, NULL,
		  "LIDs in any order", 0 },
		{ "lmc", CLI_UINT, &g->lmc, "N",
		  "2^N LIDs per host port (0)", FTR_LMC_MAX },
		{ "no-lids", CLI_FLAG, &g->opts.no_lids, NULL,
		  "leave LIDs to the subnet manager", 0 },
		{ "drop-links", CLI_UINT, &g->links, "N",
		  "take N random cables between switches away", 1000000 },
		{ "drop-switches", CLI_UINT, &g->switches, "N",
		  "take N random switches without hosts away", 1000000 },
		{ "drop-hosts", CLI_UINT, &g->hosts, "N",
		  "take N random hosts away", 1000000 },
		{ "output", CLI_STRING, &g->output, "FILE",
		  "write to FILE, not to stdout", 0 },
		{ NULL, CLI_FLAG, NULL, NULL, NULL, 0 }
	};
	const struct cli_usage u = { "gen", "SHAPE", text, opts, 1, 1 };

	return cli_parse(&u, argc, argv, n);
}

static enum ftr_status damage(struct ftr_fabric **f, const struct gen *g,
			      struct ftr_err *err)
{
	const struct ftr_damage d = {
		.seed = g->opts.seed, .links = g->links,
		.switches = g->switches, .hosts = g->hosts,
	};
	struct ftr_fabric *whole = *f;
	enum ftr_status st;

	if (!d.links && !d.switches && !d.hosts)
		return FTR_OK;
	*f = NULL;
	st = ftr_gen_damage(whole, &d, f, err);
	ftr_fabric_free(whole);
	return st;
}

int cli_gen(int argc, char **argv)
{
	struct gen g = { .output = NULL };
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };
	struct ftr_pgft pgft;
	enum ftr_status st;
	int n, status = parse(&g, argc, argv, &n);

	if (status >= 0)
		return status;
	g.opts.lmc = g.lmc;
	st = ftr_pgft_parse(argv[0], &pgft, &err);
	if (!st)
		st = ftr_gen_pgft(&pgft, &g.opts, &f, &err);
	if (!st)
		st = damage(&f, &g, &err);
	if (!st)
		st = cli_write(g.output, cli_write_fabric_fn, f, &err);
	ftr_fabric_free(f);
	return st ? cli_fail(&err) : CLI_CLEAN;
}
