// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree route: reads a fabric, computes forwarding tables with an engine of the library, and
 * writes the tables.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/live.h"
#include "cli/ddlr_repair.h"
#include "cli/transition.h"
#include "cli/whatif.h"

struct route {
	struct cli_in in;
	const char *sl2vl, *alternatives;
	struct cli_list fail;
	uint64_t seed;
	unsigned int vls;

	struct ftr_fabric *f;		/* the fabric as read */
	struct ftr_fabric *damaged;	/* the fabric with faults; NULL: no faults */
	struct ftr_shape *sh;		/* shape of the fabric that is routed */
	struct ftr_tables *t;
	const struct ftr_fabric *of;	/* fabric that t belongs to */
	struct ftr_sl2vl *vl_map;	/* SL2VL tables of the fabric `of`, or NULL */
	bool local;			/* t is the result of a local repair, see plan */
	struct ftr_ddlr_plan plan;
	struct ftr_route_stats stats;
	struct ftr_tables *in_use;	/* with --live: the tables in the switches; else NULL */
	double ms_per_block;		/* with --live: time to read a block */
	struct cli_transition transition;	/* the transition from in_use to t */
	double shape_s, route_s;
};

#define OPTS struct route
static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE("full"),
	CLI_OPT_FAIL,
	CLI_OPT_SEED,
	CLI_OPTS_LIVE,
	CLI_OPT_VLS,
	CLI_OPTS_GUIDS,
	CLI_OPT_LEAF_ORDER,
	CLI_OPTS_FABRIC,
	CLI_OPT_THREADS,
	CLI_OPT_OUTPUT,
	OPT(FILE, "sl2vl", sl2vl, "FILE", "write SL2VL tables, in the format of ibdmchk -d"),
	OPT(FILE, "alternatives", alternatives, "FILE",
	    "write all ports that lead closer, for each switch and leaf switch"),
	CLI_OPT_JSON,
	CLI_OPT_END
};

static double ratio(uint32_t flows, uint32_t bound)
{
	return bound ? (double)flows / bound : 0;
}

static void balance(const char *engine, const struct ftr_balance_report *b)
{
	fprintf(stderr, "%s: all-to-all: most loaded link %.2f times the lower bound (%.2f before the search)\n",
		engine, ratio(b->max_after, b->bound), ratio(b->max_before, b->bound));
	if (b->shift_before > 0)
		fprintf(stderr, "%s: shifts: mean load of the most loaded link %.2f flows (%.2f before the search)\n",
			engine, b->shift_after, b->shift_before);
	if (b->moved)
		fprintf(stderr, "%s: search: %s changed in %s\n", engine, CLI_ENTRIES(b->moved),
			CLI_COUNT(b->sweeps, "sweep", "sweeps"));
}

static void summary(const struct route *x)
{
	const struct ftr_shape *sh = x->sh;
	const char *engine = x->in.engine->name;

	fprintf(stderr, "%s: %s%s, %s, %u of them leaves, %s, %s, %s\n", engine,
		CLI_COUNT(sh->tree.n_ranks, "rank", "ranks"),
		sh->tree.roots_given ? " (roots given)" : "",
		CLI_SWITCHES(sh->f->n_sw), sh->tree.n_leaf, CLI_HOST_PORTS(sh->f->n_ep),
		CLI_COUNT(sh->tree.n_planes, "plane", "planes"),
		CLI_COUNT(sh->tree.n_pods, "pod", "pods"));
	if (sh->tree.n_odd || sh->tree.n_horizontal)
		fprintf(stderr, "%s: %s not on leaf switches, %s\n", engine,
			CLI_HOST_PORTS(sh->tree.n_odd),
			CLI_COUNT(sh->tree.n_horizontal, "horizontal link", "horizontal links"));
	if (sh->from_nominal)
		fprintf(stderr, "%s: missing parts of the nominal fabric: %s, %s, %s\n", engine,
			CLI_SWITCHES(sh->n_missing_sw),
			CLI_LINKS(sh->n_missing_links),
			CLI_HOST_PORTS(sh->n_missing_hosts));
	fprintf(stderr, "%s: %s, %s without a path, shape %.1f ms, route %.1f ms\n", engine,
		CLI_COUNT(sh->numbering.n_dest, "LID", "LIDs"),
		CLI_ENTRIES(x->stats.no_path), x->shape_s * 1e3, x->route_s * 1e3);
	if (x->stats.balance.hosts)
		balance(engine, &x->stats.balance);
	if (x->stats.n_turns && x->stats.extra_pairs)
		fprintf(stderr, "%s: %s of host ports without an up/down path, connected by %s\n",
			engine, CLI_PAIRS(x->stats.extra_pairs),
			CLI_COUNT(x->stats.n_turns, "extra turn", "extra turns"));
	if (x->stats.reordered)
		fprintf(stderr, "%s: extra turns cannot connect all host ports of this fabric; the tables follow another order of the switches, like the tables of sftree\n",
			engine);
	if (x->stats.root != FTR_SW_NONE)
		fprintf(stderr, "%s: root leaf %s, %s of hosts on detours\n", engine,
			CLI_SW(sh->f, x->stats.root), CLI_PAIRS(x->stats.detours));
	if (x->local)
		fprintf(stderr, "%s: local repair: %s to %s in %s, %s not repaired\n", engine,
			CLI_COUNT(x->plan.n, "write", "writes"), CLI_SWITCHES(x->plan.n_switches),
			CLI_COUNT(x->plan.n_steps, "step", "steps"),
			CLI_ENTRIES(x->plan.unrepaired));
}

static void put_balance(struct json_object *o, const struct ftr_balance_report *b)
{
	cli_json_num(o, "bound", b->bound);
	cli_json_num(o, "all_max", b->max_after);
	cli_json_num(o, "all_max_before", b->max_before);
	if (b->shift_before > 0) {
		cli_json_real(o, "shift_mean", b->shift_after);
		cli_json_real(o, "shift_mean_before", b->shift_before);
	}
	cli_json_num(o, "changed_entries", b->moved);
	cli_json_num(o, "sweeps", b->sweeps);
}

static int summary_json(const struct route *x)
{
	const struct ftr_shape *sh = x->sh;
	struct json_object *o = cli_json_new("route");

	cli_json_str(o, "engine", x->in.engine->name);
	cli_json_str(o, "output", x->in.output);
	cli_json_str(o, "sl2vl", x->sl2vl);
	cli_json_fabric(o, sh->f, sh);
	cli_json_bool(o, "roots_given", sh->tree.roots_given);
	cli_json_num(o, "lids", sh->numbering.n_dest);
	cli_json_num(o, "odd_end_ports", sh->tree.n_odd);
	cli_json_num(o, "sideways_cables", sh->tree.n_horizontal);
	cli_json_num(o, "entries_without_path", x->stats.no_path);
	cli_json_num(o, "extra_turns", x->stats.n_turns);
	cli_json_num(o, "extra_pairs", x->stats.extra_pairs);
	cli_json_bool(o, "reordered", x->stats.reordered);
	cli_json_num(o, "detours", x->stats.detours);
	if (x->stats.root != FTR_SW_NONE)
		cli_json_switch(o, "root", sh->f, x->stats.root);
	else
		cli_json_str(o, "root", NULL);
	if (x->local) {
		struct json_object *l = cli_json_object(o, "local");

		cli_json_num(l, "writes", x->plan.n);
		cli_json_num(l, "switches", x->plan.n_switches);
		cli_json_num(l, "steps", x->plan.n_steps);
		cli_json_num(l, "unhealed", x->plan.unrepaired);
		cli_json_num(l, "unclean", x->plan.unclean);
		cli_json_num(l, "refused", x->plan.refused);
	}
	if (x->stats.balance.hosts)
		put_balance(cli_json_object(o, "balance"), &x->stats.balance);
	if (x->in_use)
		cli_transition_json(o, x->of, &x->transition);
	cli_json_real(o, "shape_ms", x->shape_s * 1e3);
	cli_json_real(o, "route_ms", x->route_s * 1e3);
	return cli_json_end(o, CLI_CLEAN);
}

/* Writes the set P of alternative output ports (Gliksberg et al. 2020, equation (2)) of each
 * switch.  All LIDs on a leaf switch have the same set. */
static void write_alternatives(const char *path, const struct ftr_shape *sh)
{
	const struct ftr_group *cand[FTR_PORT_MAX];
	FILE *out = cli_create(path);

	fprintf(out, "# switch, leaf switch, ports that lead closer to the leaf switch\n");
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
			ftr_sw leaf = sh->numbering.col_sw[l];
			uint32_t n;

			if (leaf == s)
				continue;
			fprintf(out, "0x%016" PRIx64 " 0x%016" PRIx64, sh->f->sw[s].guid,
				sh->f->sw[leaf].guid);
			n = ftr_shape_candidates(sh, s, l, cand);
			for (uint32_t i = 0; i < n; i++)
				for (uint32_t k = 0; k < cand[i]->n; k++)
					fprintf(out, " %u",
						sh->tree.group_ports[cand[i]->first + k]);
			putc('\n', out);
		}
	cli_finish(FTR_OK);
}

static void write_all(const struct route *x)
{
	cli_progress("writing");
	cli_write_begin();
	if (x->sl2vl)
		cli_write_sl2vl(x->sl2vl, x->of, x->vl_map);
	if (x->alternatives)
		write_alternatives(x->alternatives, x->sh);
	if (x->in.output || !x->in.live)
		cli_write_tables(x->in.output, x->of, x->t);
	cli_write_end();
}

/* Replaces the tables of the undamaged fabric by the locally repaired ones. */
static void repair(struct route *x)
{
	struct ftr_sl2vl *vl_map = x->vl_map;
	struct ftr_tables *t = cli_ddlr_repair(x->sh, x->t, vl_map, x->damaged, &x->plan, NULL);

	ftr_tables_free(x->t);
	x->t = t;
	x->of = x->damaged;
	x->local = true;
	if (vl_map)
		x->vl_map = cli_carry_vls(x->f, vl_map, x->of);
	ftr_sl2vl_free(vl_map);
}

static void route(struct route *x)
{
	bool local = x->in.engine->local_repair;
	double t0 = cli_now(), t1;
	struct ftr_route_opts ro;

	x->of = x->damaged && !local ? x->damaged : x->f;
	ro = cli_route_opts(&x->in, x->of);
	cli_progress("finding ranks");
	cli_must(cli_shape(&x->in, x->of, &x->sh, &cli_err));
	t1 = cli_now();
	cli_progress("routing");
	cli_must(ftr_tables_new(x->of, false, &x->t, &cli_err));
	cli_must(x->in.engine->route(x->sh, &ro, x->in.team, x->t, &x->stats, &cli_err));
	x->shape_s = t1 - t0;
	x->route_s = cli_now() - t1;
	if (local)
		x->vl_map = cli_vls(x->sh, x->vls);
	if (x->damaged && local)
		repair(x);
	if (x->in_use) {
		cli_progress("examining the transition");
		cli_transition(x->sh, x->in_use, x->t, x->ms_per_block, &x->transition);
	}
}

static void read_all(struct route *x, const char *path)
{
	struct cli_live live = cli_input(&x->in, path);
	struct cli_faults faults;

	x->f = live.f;
	x->in_use = live.t;
	x->ms_per_block = cli_live_ms_per_block(&live);
	if (x->fail.n) {
		faults = cli_faults_parse(x->f, "fail", &x->fail);
		x->damaged = cli_faults_apply(x->f, &faults, x->seed);
		cli_faults_free(&faults);
	}
}

static int run_route(int argc, char **argv)
{
	static struct route x = { .stats = { .root = FTR_SW_NONE } };
	int n = cli_parse(&cli_route, &x, argc, argv);
	const char *const outputs[] = {
		x.in.output ? x.in.output : x.in.live ? NULL : "-", x.sl2vl, x.alternatives,
	};
	const unsigned int n_outputs = sizeof(outputs) / sizeof(outputs[0]);

	cli_live_args("route", &x.in, n, 1, n ? argv[0] : x.fail.n ? "--fail" : NULL);
	if (x.in.json && (!x.in.live || x.in.output) &&
	    (!x.in.output || !strcmp(x.in.output, "-")))
		cli_die("route: with --json, the tables cannot go to stdout; give --output FILE");
	if (x.vls > 1 && !x.in.engine->local_repair)
		cli_die("route: --vls requires --engine ddlr");
	if (x.alternatives && strcmp(x.in.engine->name, "dmodc"))
		cli_die("route: --alternatives requires --engine dmodc");
	cli_check_outputs("route", x.in.json || x.in.live, outputs, n_outputs);
	cli_check_inputs("route", outputs, n_outputs, (const char *[]){
			argv[0], x.in.nominal, x.in.roots, x.in.cn,
			x.in.io }, 5);
	cli_progress("reading");
	read_all(&x, argv[0]);
	x.in.team = ftr_team_new(x.in.threads);
	route(&x);
	write_all(&x);
	ftr_team_free(x.in.team);
	cli_progress_end();
	if (x.in.json)
		return summary_json(&x);
	summary(&x);
	if (x.in_use)
		cli_transition_text(x.of, &x.transition);
	return CLI_CLEAN;
}

const struct cli_cmd cli_route = {
	.name = "route",
	.summary = "compute forwarding tables for a fabric",
	.args = "[FABRIC]",
	.text =
"Computes forwarding tables for FABRIC and writes them in the format of\n"
"opensm-lfts.dump.  A summary goes to stderr.  FABRIC is ibnetdiscover output, an\n"
"ibsim netfile, opensm-subnet.lst, ibdiagnet2.lst or ibdiagnet2.db_csv.  It may\n"
"be compressed with gzip or xz.\n"
"With --fail, the tables are for FABRIC with these faults.  The engine \"ddlr\"\n"
"does not route again, but repairs the tables of the undamaged fabric locally.\n"
"With --live, the running fabric is read; nothing is written to it.  A report on\n"
"stdout shows the changes from the tables in use, and whether the transition is\n"
"safe.  The tables are then written only if --output is given.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_route,
};
