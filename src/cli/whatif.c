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
 *			counted against "before".  As in the plugin, entries and extra
 *			turns of "before" are kept as far as they are valid
 *	FILE		given tables (--compare) on the damaged fabric
 *
 * Without faults there are only "after", titled with the engine's name, and the given
 * tables.  With random faults the columns of the damaged fabric have one run per seed.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/ddlr_repair.h"
#include "cli/whatif.h"

#define REPEAT_MAX 10000

struct whatif {
	struct cli_engine engine;
	struct cli_list fail, compare;
	struct cli_guid_files files;
	struct cli_live_opts from;
	const char *nominal;
	uint64_t seed;
	unsigned int repeat, lmc, threads, leaf_order, vls;
	bool tolerant;
	bool json, list, local, guarantee;
};

static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE(struct whatif, "load"),
	CLI_OPTS_FAULTS(struct whatif),
	{ "repeat", CLI_UINT, offsetof(struct whatif, repeat), "N",
	  "repeat with N consecutive seeds", "1", 1, REPEAT_MAX },
	{ "compare", CLI_FILES, offsetof(struct whatif, compare), "FILE",
	  "compare these tables on the damaged fabric", NULL, 0, 0 },
	{ "local", CLI_FLAG, offsetof(struct whatif, local), NULL,
	  "also show the tables after ddlr's local repair", NULL, 0, 0 },
	{ "guarantee", CLI_FLAG, offsetof(struct whatif, guarantee), NULL,
	  "show how many faults local repair always bypasses", NULL, 0, 0 },
	CLI_OPTS_LIVE(struct whatif),
	CLI_OPT_LIST(struct whatif),
	CLI_OPT_VLS(struct whatif),
	CLI_OPTS_GUIDS(struct whatif),
	CLI_OPT_LEAF_ORDER(struct whatif),
	CLI_OPT_NOMINAL(struct whatif),
	CLI_OPT_LMC(struct whatif),
	CLI_OPT_TOLERANT(struct whatif),
	CLI_OPT_THREADS(struct whatif),
	CLI_OPT_JSON(struct whatif),
	CLI_OPT_END
};

/* State of the command. */
struct job {
	const struct whatif *w;
	struct ftr_shape_opts opts;
	struct ftr_team *team;
	struct ftr_fabric *f;		/* undamaged */
	struct cli_faults faults;
	struct ftr_nominal *nominal;	/* includes f; NULL: no faults */
	struct ftr_shape *sh;		/* of f */
	struct ftr_tables *before;
	struct ftr_turn *turn;		/* extra turns of before */
	uint32_t n_turns;
	struct ftr_sl2vl *vl_map;	/* SL2VL tables with the turn bit for f, or NULL */
	uint64_t *place;		/* host order for the loads: port GUIDs */
	uint32_t n_places;
	struct ftr_tables *in_use;	/* with --live; moved to given[] later */
	struct ftr_tables *given[CLI_LIST_MAX];
	struct cli_column col[4 + CLI_LIST_MAX];
	unsigned int n_col;
};

/* Route f as the plugin would: without a search it places displaced entries by formula.  stats may
 * be NULL. */
static enum ftr_status route(const struct job *j, const struct ftr_fabric *f,
			     struct ftr_route_opts *ro, struct ftr_shape **sh,
			     struct ftr_tables **t, struct ftr_route_stats *stats,
			     double *ms, struct ftr_err *err)
{
	double t0 = cli_now();
	enum ftr_status st = ftr_shape_new(f, &j->opts, j->team, sh, err);

	ro->nominal = j->opts.nominal;
	ro->place_by_load = ro->balance != FTR_BALANCE_OFF;
	if (!st)
		st = ftr_tables_new(f, false, t, err);
	if (!st)
		st = j->w->engine.ops->route(*sh, ro, j->team, *t, stats, err);
	*ms = (cli_now() - t0) * 1e3;
	return st;
}

/* Route the damaged fabric f.  As in the plugin, entries of "before" are kept with --balance
 * load and full, and the search for shifts does not begin before the fabric is complete. */
static enum ftr_status reroute(const struct job *j, const struct ftr_fabric *f,
			       struct ftr_shape **sh, struct ftr_tables **t,
			       double *ms, struct ftr_err *err)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->w->engine, f);
	struct ftr_tables *prefer = NULL;
	struct ftr_turn *turn = NULL;
	struct ftr_keep keep = { .prefer = NULL };
	enum ftr_status st = FTR_OK;

	if (j->before && ro.balance && j->opts.nominal) {
		st = cli_carry_tables(j->f, j->before, f, &prefer, err);
		keep.prefer = prefer;
		ro.keep = &keep;
		ro.balance = FTR_BALANCE_LOAD;
	}
	if (!st && j->before) {
		st = ftr_turns_carry(j->f, j->turn, j->n_turns, f, &turn,
				     &ro.n_turns, err);
		ro.turn = turn;
	}
	if (!st)
		st = route(j, f, &ro, sh, t, NULL, ms, err);
	ftr_tables_free(prefer);
	free(turn);
	return st;
}

/* The host order of the undamaged fabric, so that loads are comparable between
 * columns. */
static enum ftr_status keep_order(struct job *j, struct ftr_err *err)
{
	return cli_host_guids(j->sh, false, &j->place, &j->n_places, err);
}

/* Keeps the affected nodes of run i of c if it is the worst so far. */
static void keep_worst(const struct job *j, struct cli_column *c,
		       unsigned int i, const struct ftr_fabric *f,
		       struct cli_reach *reach)
{
	if (i && c->run[i].v[CLI_M_LOST] <= c->run[c->worst_run].v[CLI_M_LOST]) {
		cli_reach_free(reach);
		return;
	}
	cli_reach_free(&c->worst);
	cli_reach_move(reach, f, j->f);
	c->worst = *reach;
	c->worst_run = i;
}

/* Measures run i of column c. */
static enum ftr_status measure(const struct job *j, const struct ftr_shape *sh,
			       const struct ftr_tables *t,
			       struct cli_column *c, unsigned int i,
			       struct ftr_err *err)
{
	struct ftr_sl2vl *m = NULL;
	struct cli_reach reach;
	enum ftr_status st = FTR_OK;

	if (j->vl_map)
		st = cli_carry_vls(j->f, j->vl_map, sh->f, &m, err);
	if (!st)
		st = cli_measure(sh->f, sh, t, m, j->team, &c->run[i], &reach,
				 err);
	if (!st)
		keep_worst(j, c, i, sh->f, &reach);
	if (!st)
		st = cli_measure_load(sh, t, j->place, j->n_places, j->team,
				      &c->run[i], err);
	ftr_sl2vl_free(m);
	return st;
}

/* Measures the tables of the undamaged fabric on the damaged one. */
static enum ftr_status measure_old(const struct job *j,
				   const struct ftr_tables *t,
				   const struct ftr_shape *sh,
				   struct cli_column *c, unsigned int i,
				   struct ftr_err *err)
{
	struct ftr_tables *here = NULL;
	enum ftr_status st = cli_carry_tables(j->f, t, sh->f, &here, err);

	if (!st)
		st = measure(j, sh, here, c, i, err);
	ftr_tables_free(here);
	return st;
}

/* Measures the tables after ddlr's local repair. */
static enum ftr_status measure_ddlr(const struct job *j,
				    const struct ftr_shape *sh,
				    struct cli_column *c, unsigned int i,
				    struct ftr_err *err)
{
	struct cli_measure *out = &c->run[i];
	struct ftr_tables *t = NULL;
	struct ftr_ddlr_plan p = { .n = 0 };
	enum ftr_status st = cli_ddlr_repair(j->sh, j->before, j->vl_map,
					     sh->f, &t, &p, NULL, err);

	if (!st)
		st = measure(j, sh, t, c, i, err);
	if (!st) {
		cli_measure_churn(j->f, j->before, sh->f, t, out);
		out->v[CLI_M_WRITES] = p.n;
		out->v[CLI_M_STEPS] = p.n_steps;
		out->v[CLI_M_UNREPAIRED] = (double)p.unrepaired;
	}
	ftr_tables_free(t);
	return st;
}

/* One seed: measures run i of every column of the damaged fabric. */
static enum ftr_status one_run(struct job *j, unsigned int i,
			       struct ftr_err *err)
{
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;
	unsigned int c = 0;
	double ms = 0;
	enum ftr_status st = cli_faults_apply(j->f, &j->faults, j->w->seed + i,
					      &f, err);

	if (!st)
		st = reroute(j, f, &sh, &t, &ms, err);
	if (!st && j->before) {
		c = 1;
		st = measure_old(j, j->before, sh, &j->col[c++], i, err);
	}
	if (!st && j->w->local)
		st = measure_ddlr(j, sh, &j->col[c++], i, err);
	if (!st)
		st = measure(j, sh, t, &j->col[c], i, err);
	if (!st) {
		j->col[c].run[i].v[CLI_M_ROUTE_MS] = ms;
		if (j->before)
			cli_measure_churn(j->f, j->before, f, t,
					  &j->col[c].run[i]);
		c++;
	}
	for (unsigned int k = 0; !st && k < j->w->compare.n; k++)
		st = measure_old(j, j->given[k], sh, &j->col[c++], i, err);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return st;
}

static enum ftr_status add_column(struct job *j, const char *title,
				  const char *kind, unsigned int n,
				  struct ftr_err *err)
{
	struct cli_column *c = &j->col[j->n_col++];

	*c = (struct cli_column){ .title = title, .kind = kind, .n = n,
				  .run = calloc(n, sizeof(*c->run)) };
	return c->run ? FTR_OK :
	       ftr_fail(err, FTR_NOMEM, "out of memory for %u runs", n);
}

/* The i-th set of tables to compare: those in use, or a file. */
static enum ftr_status given_tables(struct job *j, unsigned int i,
				    struct ftr_err *err)
{
	if (j->in_use && !i) {
		j->given[0] = j->in_use;
		j->in_use = NULL;
		return FTR_OK;
	}
	return cli_read_lfts(j->w->compare.v[i], j->f, &j->given[i], NULL, err);
}

static enum ftr_status set_up(struct job *j, const char *path,
			      struct ftr_err *err)
{
	const struct whatif *w = j->w;
	struct ftr_tables *t = NULL;
	struct ftr_route_stats stats = { .turn = NULL };
	struct ftr_route_opts ro;
	double ms;
	struct cli_live live;
	enum ftr_status st = cli_input(&w->from, path, w->lmc, w->tolerant, &live, err);

	if (st)
		return st;
	j->f = live.f;
	j->in_use = live.t;
	st = cli_route_opts(&w->engine, j->f, &ro, err);
	if (!st)
		st = cli_read_guids(&w->files, &j->opts, err);
	if (!st)
		st = cli_nominal(w->nominal, j->f, w->fail.n != 0, &j->opts,
				 j->team, &j->nominal, err);
	if (!st && j->nominal)
		j->opts.nominal = j->nominal->shape;
	if (!st)
		st = cli_faults_parse(j->f, "fail", &w->fail, &j->faults, err);
	for (unsigned int i = 0; !st && i < w->compare.n; i++)
		st = given_tables(j, i, err);
	ro.keep_turns = true;
	if (!st)
		st = route(j, j->f, &ro, &j->sh, &t, &stats, &ms, err);
	j->turn = stats.turn;
	j->n_turns = stats.turn ? stats.n_turns : 0;
	if (!st)
		cli_note_files(j->sh);
	if (!st)
		st = keep_order(j, err);
	if (!st)
		st = cli_vls(j->sh, w->vls, &j->vl_map, err);
	if (!st && w->guarantee) {
		j->before = t;
		return FTR_OK;
	}
	if (!st && w->fail.n) {
		st = add_column(j, "before", "before", 1, err);
		if (!st)
			st = measure(j, j->sh, t, &j->col[0], 0, err);
		j->before = t;
		t = NULL;
		if (!st) {
			j->col[0].run[0].v[CLI_M_ROUTE_MS] = ms;
			st = add_column(j, "not rerouted", "not_rerouted",
					w->repeat, err);
			if (!st && w->local)
				st = add_column(j, "local", "local", w->repeat,
						err);
		}
	}
	if (!st)
		st = add_column(j, w->fail.n ? "after" : w->engine.ops->name,
				"after", w->repeat, err);
	for (unsigned int i = 0; !st && i < w->compare.n; i++)
		st = add_column(j, w->compare.v[i], "compare", w->repeat, err);
	ftr_tables_free(t);
	return st;
}

static void tear_down(struct job *j)
{
	for (unsigned int i = 0; i < j->n_col; i++) {
		free(j->col[i].run);
		cli_reach_free(&j->col[i].worst);
	}
	for (unsigned int i = 0; i < j->w->compare.n; i++)
		ftr_tables_free(j->given[i]);
	ftr_tables_free(j->in_use);
	ftr_tables_free(j->before);
	ftr_sl2vl_free(j->vl_map);
	free(j->turn);
	free(j->place);
	ftr_shape_free(j->sh);
	ftr_nominal_free(j->nominal);
	cli_faults_free(&j->faults);
	cli_free_guids(&j->opts);
	ftr_team_free(j->team);
	ftr_fabric_free(j->f);
}

static int report_whatif(const struct job *j)
{
	const struct whatif *w = j->w;
	const struct cli_whatif_view v = {
		.f = j->f, .sh = j->sh, .engine = w->engine.ops->name, .fail = &w->fail,
		.compare = &w->compare, .faults = &j->faults, .seed = w->seed,
		.repeat = w->repeat, .col = j->col, .n_col = j->n_col,
		.places = j->n_places, .vl_map = j->vl_map != NULL,
		.list = w->list,
	};
	const struct cli_column *after = &j->col[w->fail.n ? 2 + w->local : 0];
	int status = CLI_CLEAN;

	for (unsigned int i = 0; i < after->n; i++)
		if (after->run[i].bad)
			status = CLI_FINDINGS;
	if (w->json)
		return cli_whatif_json(&v, status);
	return cli_whatif_table(&v, status);
}

/* How many faults ddlr is guaranteed to repair locally: on the fabric after the faults, which
 * is the fabric itself if there are none. */
static enum ftr_status guarantee(const struct job *j, struct ftr_guarantee *g,
				 struct ftr_err *err)
{
	struct ftr_fabric *nf = NULL;
	struct ftr_tables *t = NULL;
	struct ftr_ddlr_plan p = { .n = 0 };
	enum ftr_status st = cli_faults_apply(j->f, &j->faults, j->w->seed,
					      &nf, err);

	if (!st)
		st = cli_ddlr_repair(j->sh, j->before, j->vl_map, nf, &t, &p,
				     g, err);
	ftr_tables_free(t);
	ftr_fabric_free(nf);
	return st;
}

/* Runs all seeds. */
static enum ftr_status all_runs(struct job *j, struct ftr_err *err)
{
	const struct whatif *w = j->w;
	enum ftr_status st = FTR_OK;

	if (w->repeat > 1 && !j->faults.links && !j->faults.switches)
		return ftr_fail(err, FTR_INVAL, "whatif: --repeat %u without random faults: all runs would be the same",
				w->repeat);
	for (unsigned int i = 0; !st && i < w->repeat; i++) {
		cli_progress("applying faults, routing and checking");
		cli_progress_step(i, w->repeat);
		st = one_run(j, i, err);
	}
	return st;
}

static int run_whatif(int argc, char **argv)
{
	struct whatif w = { .json = false };
	struct job j = { .w = &w };
	struct ftr_guarantee g = { .k = 0 };
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = cli_parse(&cli_whatif, &w, argc, argv, &n);

	if (status >= 0)
		return status;
	status = cli_live_args("whatif", &w.from, n, 1);
	if (status >= 0)
		return status;
	if (w.compare.n + (unsigned int)n + w.from.on - 1 > CLI_LIST_MAX)
		return cli_error("whatif: more than %u tables to compare",
				 CLI_LIST_MAX);
	if (w.guarantee && (w.compare.n || n + w.from.on > 1 || w.repeat > 1 || w.local))
		return cli_error("whatif: --guarantee cannot be combined with --compare, --repeat or --local");
	if (w.local && !w.fail.n)
		return cli_error("whatif: --local needs --fail SPEC");
	/* the tables in use, if any, come first */
	if (w.from.on && !w.guarantee) {
		memmove(&w.compare.v[1], &w.compare.v[0],
			w.compare.n * sizeof(w.compare.v[0]));
		w.compare.v[0] = "in use";
		w.compare.n++;
	}
	for (int i = w.from.on ? 0 : 1; i < n; i++)
		w.compare.v[w.compare.n++] = argv[i];
	cli_progress("reading and routing");
	j.opts.leaf_order = (enum ftr_leaf_order)w.leaf_order;
	ftr_placement_shape((enum ftr_placement)w.engine.placement, &j.opts);
	j.team = ftr_team_new(w.threads);
	st = set_up(&j, argv[0], &err);
	if (!st && w.guarantee)
		st = guarantee(&j, &g, &err);
	else if (!st)
		st = all_runs(&j, &err);
	cli_progress_end();
	if (st)
		status = cli_fail(&err);
	else if (!w.guarantee)
		status = report_whatif(&j);
	else if (w.json)
		status = cli_guarantee_json(j.f, &g, w.vls);
	else
		cli_guarantee_text(j.f, &g, w.vls);
	tear_down(&j);
	return status < 0 ? CLI_CLEAN : status;
}

const struct cli_cmd cli_whatif = {
	.name = "whatif",
	.summary = "show the effect of failed links or switches",
	.args = "[FABRIC] [FILE...]",
	.text =
"Routes FABRIC, applies faults, routes it again, and compares the findings of the\n"
"checker before and after: unreachable pairs, affected nodes, loops, credit\n"
"loops, load, and the number of entries that the plugin would change.  --fail and\n"
"--compare may be given more than once; FILEs are compared, too.  Without --fail, the\n"
"engine's tables are compared with the given ones.  With --live, the running fabric is\n"
"read, all arguments are FILEs, and the tables in use are compared, too.\n"
"Exit status: 0 clean, 1 \"check\" reports findings for the engine's tables on the\n"
"damaged fabric, 2 bad input.\n",
	.opts = options,
	.min_args = 0,
	.max_args = 1 + CLI_LIST_MAX,
	.run = run_whatif,
};
