// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree gen: writes a PGFT, a torus or a GPU cluster as a netfile, with faults if requested.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

#define COUNT_MAX 1000000

struct gen {
	struct cli_in in;
	struct ftr_gen_opts opts;
	struct ftr_damage damage;
	bool random_order;
};

#define OPTS struct gen
static const struct cli_opt options[] = {
	OPT(U64, "seed", opts.seed, "N", "seed of all random choices", "0"),
	OPT(FLAG, "random-guids", opts.random_guids, NULL,
	    "GUIDs as vendors assign them, not in sequence"),
	OPT(FLAG, "random-ports", opts.random_ports, NULL, "connect links to random ports of a switch"),
	OPT(FLAG, "random-lids", opts.random_lids, NULL, "assign LIDs in random order"),
	OPT(FLAG, "random-order", random_order, NULL, "write switches and hosts in random order"),
	OPT(UINT, "nodes", opts.nodes, "N",
	    "superpod: number of nodes; 0: all places", "0", 0, COUNT_MAX),
	OPT(UINT, "lmc", opts.lmc, "N", "2^N LIDs per host port", "0", 0, FTR_LMC_MAX),
	OPT(FLAG, "no-lids", opts.no_lids, NULL, "omit LIDs; the subnet manager assigns them"),
	OPT(UINT, "drop-links", damage.links, "N",
	    "remove N random links between switches", "0", 0, COUNT_MAX),
	OPT(UINT, "drop-switches", damage.switches, "N",
	    "remove N random switches without hosts", "0", 0, COUNT_MAX),
	OPT(UINT, "drop-hosts", damage.hosts, "N", "remove N random hosts", "0", 0, COUNT_MAX),
	CLI_OPT_OUTPUT,
	CLI_OPT_JSON,
	CLI_OPT_END
};

static struct ftr_fabric *make(const struct gen *g, const char *shape)
{
	struct ftr_damage d = g->damage;
	struct ftr_fabric *whole = NULL, *f = NULL;

	cli_must(ftr_gen_shape(shape, &g->opts, &whole, &cli_err));
	if (!d.links && !d.switches && !d.hosts)
		return whole;
	d.seed = g->opts.seed;
	cli_must(ftr_gen_damage(whole, &d, &f, &cli_err));
	ftr_fabric_free(whole);
	return f;
}

static void write_all(const struct gen *g, const struct ftr_fabric *f)
{
	uint32_t *order = NULL;	/* of switches and hosts in the file; NULL: by index */
	FILE *out;

	if (cli_is_plan(g->in.output)) {
		if (g->random_order)
			cli_die("gen: --random-order has no effect on the cable plan %s", g->in.output);
		cli_write_plan(g->in.output, f);
		return;
	}
	if (g->random_order)
		cli_must(ftr_gen_order(f, g->opts.seed, &order, &cli_err));
	out = cli_create(g->in.output);
	cli_finish(ftr_write_netfile(out, f, order, &cli_err));
	free(order);
}

static int report_gen(const struct gen *g, const char *shape, const struct ftr_fabric *f)
{
	struct json_object *o;

	if (!g->in.json)
		return CLI_CLEAN;
	o = cli_json_new("gen");
	cli_json_str(o, "shape", shape);
	cli_json_num(o, "seed", g->opts.seed);
	cli_json_fabric(o, f, NULL);
	cli_json_str(o, "output", g->in.output);
	return cli_json_end(o, CLI_CLEAN);
}

static int run_gen(int argc, char **argv)
{
	static struct gen g;
	static struct ftr_fabric *f;

	cli_parse(&cli_gen, &g, argc, argv);
	if (g.in.json && (!g.in.output || !strcmp(g.in.output, "-")))
		cli_die("gen: with --json, the netfile cannot go to stdout; give --output FILE");
	cli_progress("making the fabric");
	f = make(&g, argv[0]);
	write_all(&g, f);
	cli_progress_end();
	return report_gen(&g, argv[0], f);
}

const struct cli_cmd cli_gen = {
	.name = "gen",
	.summary = "generate a fat-tree, torus or GPU cluster as a netfile",
	.args = "SHAPE",
	.text =
"Generates a parallel-ports generalised fat-tree, a torus or a GPU cluster in the\n"
"format of ibsim.\n"
"SHAPE is one of these:\n"
"  648, 3456, 11664, 27648: a well-known tree with this number of hosts\n"
"  kary:K,N: the K-ary N-tree\n"
"  \"H;m1,..,mH;w1,..,wH;p1,..,pH\": a tree with H levels of switches, and with m_i\n"
"    children, w_i parents and p_i parallel links at level i\n"
"  torus:K1,K2,..[;H]: a torus of K1 x K2 x .. switches, each with H hosts\n"
"    (default: 1)\n"
"  superpod:GENERATION:UNITS[;PLANES]: the compute network of a DGX SuperPOD with\n"
"    nodes of eight rails; GENERATION is H100, B200 or B300\n"
"The same SHAPE, options and seed give the same file on every machine.\n",
	.opts = options,
	.min_args = 1, .max_args = 1,
	.run = run_gen,
};
