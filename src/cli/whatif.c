// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree whatif: routes a fabric, breaks it, routes it again, and puts what
 * the checker finds side by side.
 *
 * One column per set of tables:
 *
 *	before		the engine's tables on the whole fabric
 *	not rerouted	the same tables on the damaged fabric: what is lost
 *			until the subnet manager has routed anew
 *	after		the engine's tables for the damaged fabric; its changes
 *			are counted against "before"
 *	FILE		given tables (--compare) on the damaged fabric
 *
 * Without faults there are "after", called by the engine's name, and the given
 * tables only.  With random faults the damaged columns have one run per seed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/whatif.h"

#define REPEAT_MAX 10000

struct whatif {
	struct cli_engine engine;
	struct cli_list fail, compare;
	struct cli_guid_files files;
	const char *nominal;
	uint64_t seed;
	unsigned int repeat, lmc, threads, leaf_order;
	bool json;
};

static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE(struct whatif),
	{ "fail", CLI_LIST, offsetof(struct whatif, fail), "SPEC",
	  "what breaks: SWITCH, SWITCH[PORT], Nlinks, N%links, Nswitches", NULL,
	  0, 0 },
	{ "seed", CLI_U64, offsetof(struct whatif, seed), "N",
	  "seed of the random faults", "0", 0, 0 },
	{ "repeat", CLI_UINT, offsetof(struct whatif, repeat), "N",
	  "do it for N seeds", "1", 1, REPEAT_MAX },
	{ "compare", CLI_FILES, offsetof(struct whatif, compare), "FILE",
	  "put these tables beside it, on the damaged fabric", NULL, 0, 0 },
	CLI_OPT_ROOTS(struct whatif),
	CLI_OPT_CN(struct whatif),
	CLI_OPT_IO(struct whatif),
	CLI_OPT_LEAF_ORDER(struct whatif),
	CLI_OPT_NOMINAL(struct whatif),
	CLI_OPT_LMC(struct whatif),
	CLI_OPT_THREADS(struct whatif),
	CLI_OPT_JSON(struct whatif),
	CLI_OPT_END
};

static int run(int argc, char **argv);

const struct cli_cmd cli_whatif = {
	.name = "whatif",
	.summary = "tell what breaks if cables or switches fail",
	.args = "FABRIC [FILE...]",
	.text =
"Routes FABRIC, takes cables and switches away, routes again, and tells what\n"
"the checker finds before and after: pairs that do not arrive, loops, credit\n"
"loops, load, and how much of the tables changes.  --fail and --compare may be\n"
"given many times; FILEs are compared, too.  Without --fail it compares the\n"
"engine's tables with the given ones.\n"
"Exit status: 0 clean, 1 \"check\" finds fault with the engine's tables for the\n"
"damaged fabric, 2 bad input.\n",
	.opts = options,
	.min_args = 1,
	.max_args = 1 + CLI_LIST_MAX,
	.run = run,
};

/* All that lives through the whole command. */
struct job {
	const struct whatif *w;
	struct ftr_shape_opts opts;
	struct ftr_team *team;
	struct ftr_fabric *f;		/* whole */
	struct cli_faults faults;
	struct ftr_nominal *nominal;	/* f at least; NULL: no faults */
	struct ftr_shape *sh;		/* of f */
	struct ftr_tables *before;
	uint64_t *place;		/* order for the loads: port GUIDs */
	uint32_t n_places;
	struct ftr_tables *given[CLI_LIST_MAX];
	struct cli_column col[3 + CLI_LIST_MAX];
	unsigned int n_col;
};

static enum ftr_status route(const struct job *j, const struct ftr_fabric *f,
			     struct ftr_shape **sh, struct ftr_tables **t,
			     double *ms, struct ftr_err *err)
{
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	double t0 = cli_now();
	enum ftr_status st = ftr_shape_new(f, &j->opts, j->team, sh, err);

	/* that switch may be among the dead: then it is as if not given */
	ro.sm_switch = ftr_fabric_find_sw(f, j->w->engine.sm_switch);
	ro.placement = (enum ftr_placement)j->w->engine.placement;
	ro.sftree_mode = (enum ftr_sftree_mode)j->w->engine.sftree_mode;
	if (!st)
		st = ftr_tables_new(f, false, t, err);
	if (!st)
		st = j->w->engine.ops->route(*sh, &ro, j->team, *t, NULL, err);
	*ms = (cli_now() - t0) * 1e3;
	return st;
}

/* The order of the whole fabric, so that loads of all columns compare. */
static enum ftr_status keep_order(struct job *j, struct ftr_err *err)
{
	ftr_ep *order = NULL;
	enum ftr_status st = cli_host_order(j->sh, &order, &j->n_places, err);

	if (st)
		return st;
	j->place = calloc((size_t)j->n_places + 1, sizeof(*j->place));
	if (!j->place)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for an order");
	for (uint32_t i = 0; !st && i < j->n_places; i++)
		if (order[i] != FTR_EP_NONE)
			j->place[i] = j->f->ep[order[i]].guid;
	free(order);
	return st;
}

static enum ftr_status measure(const struct job *j, const struct ftr_shape *sh,
			       const struct ftr_tables *t,
			       struct cli_measure *out, struct ftr_err *err)
{
	enum ftr_status st = cli_measure(sh->f, sh, t, j->team, out, err);

	if (!st)
		st = cli_measure_load(sh->f, t, j->place, j->n_places, j->team,
				      out, err);
	return st;
}

/* The rows that t, tables of fa, has for the switches of fb. */
static enum ftr_status carry_over(const struct ftr_fabric *fa,
				  const struct ftr_tables *t,
				  const struct ftr_fabric *fb,
				  struct ftr_tables **out, struct ftr_err *err)
{
	enum ftr_status st = ftr_tables_new(fb, true, out, err);

	if (st)
		return st;
	for (ftr_sw s = 0; s < fb->n_sw; s++) {
		ftr_sw old = ftr_fabric_find_sw(fa, fb->sw[s].guid);

		for (uint32_t lid = 0; old != FTR_SW_NONE &&
		     lid <= fb->max_lid; lid++)
			ftr_tables_row(*out, s)[lid] =
				ftr_tables_get(t, old, (ftr_lid)lid);
	}
	return FTR_OK;
}

/* Measure tables of the whole fabric on the damaged one. */
static enum ftr_status measure_old(const struct job *j,
				   const struct ftr_tables *t,
				   const struct ftr_shape *sh,
				   struct cli_measure *out,
				   struct ftr_err *err)
{
	struct ftr_tables *here = NULL;
	enum ftr_status st = carry_over(j->f, t, sh->f, &here, err);

	if (!st)
		st = measure(j, sh, here, out, err);
	ftr_tables_free(here);
	return st;
}

/* One seed: fill place i of every damaged column. */
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
		st = route(j, f, &sh, &t, &ms, err);
	if (!st && j->before) {
		c = 1;
		st = measure_old(j, j->before, sh, &j->col[c++].run[i], err);
	}
	if (!st)
		st = measure(j, sh, t, &j->col[c].run[i], err);
	if (!st) {
		j->col[c].run[i].v[CLI_M_ROUTE_MS] = ms;
		if (j->before)
			cli_measure_churn(j->f, j->before, f, t,
					  &j->col[c].run[i]);
		c++;
	}
	for (unsigned int k = 0; !st && k < j->w->compare.n; k++)
		st = measure_old(j, j->given[k], sh, &j->col[c++].run[i], err);
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

	*c = (struct cli_column){ title, kind, n, calloc(n, sizeof(*c->run)) };
	return c->run ? FTR_OK :
	       ftr_fail(err, FTR_NOMEM, "out of memory for %u runs", n);
}

static enum ftr_status set_up(struct job *j, const char *path,
			      struct ftr_err *err)
{
	const struct whatif *w = j->w;
	struct ftr_tables *t = NULL;
	struct ftr_route_opts ro;
	double ms;
	enum ftr_status st = ftr_read_fabric(path, w->lmc, &j->f, err);

	if (!st)
		st = cli_route_opts(&w->engine, j->f, &ro, err);
	if (!st)
		st = cli_read_guids(&w->files, &j->opts, err);
	if (!st)
		st = cli_nominal(w->nominal, j->f, w->fail.n != 0, &j->opts,
				 j->team, &j->nominal, err);
	if (!st && j->nominal)
		j->opts.nominal = j->nominal->shape;
	if (!st)
		st = cli_faults_parse(j->f, &w->fail, &j->faults, err);
	for (unsigned int i = 0; !st && i < w->compare.n; i++)
		st = cli_read_lfts(w->compare.v[i], j->f, &j->given[i], err);
	if (!st)
		st = route(j, j->f, &j->sh, &t, &ms, err);
	if (!st)
		st = keep_order(j, err);
	if (!st && w->fail.n) {
		st = add_column(j, "before", "before", 1, err);
		if (!st)
			st = measure(j, j->sh, t, &j->col[0].run[0], err);
		j->before = t;
		t = NULL;
		if (!st) {
			j->col[0].run[0].v[CLI_M_ROUTE_MS] = ms;
			st = add_column(j, "not rerouted", "not_rerouted",
					w->repeat, err);
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
	for (unsigned int i = 0; i < j->n_col; i++)
		free(j->col[i].run);
	for (unsigned int i = 0; i < j->w->compare.n; i++)
		ftr_tables_free(j->given[i]);
	ftr_tables_free(j->before);
	free(j->place);
	ftr_shape_free(j->sh);
	ftr_nominal_free(j->nominal);
	cli_faults_free(&j->faults);
	cli_free_guids(&j->opts);
	ftr_team_free(j->team);
	ftr_fabric_free(j->f);
}

static int tell(const struct job *j)
{
	const struct whatif *w = j->w;
	const struct cli_whatif_view v = {
		.engine = w->engine.ops->name, .fail = &w->fail,
		.compare = &w->compare, .faults = &j->faults, .seed = w->seed,
		.repeat = w->repeat, .col = j->col, .n_col = j->n_col,
		.places = j->n_places,
	};
	const struct cli_column *after = &j->col[w->fail.n ? 2 : 0];
	int status = CLI_CLEAN;

	for (unsigned int i = 0; i < after->n; i++)
		if (after->run[i].bad)
			status = CLI_FINDINGS;
	if (w->json)
		return cli_whatif_json(&v, status);
	cli_whatif_table(&v);
	return status;
}

static int run(int argc, char **argv)
{
	struct whatif w = { .json = false };
	struct job j = { .w = &w };
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = cli_parse(&cli_whatif, &w, argc, argv, &n);

	if (status >= 0)
		return status;
	if (w.compare.n + (unsigned int)n - 1 > CLI_LIST_MAX)
		return cli_error("whatif: more than %u tables to compare",
				 CLI_LIST_MAX);
	for (int i = 1; i < n; i++)
		w.compare.v[w.compare.n++] = argv[i];
	cli_progress("reading and routing");
	j.opts.leaf_order = (enum ftr_leaf_order)w.leaf_order;
	j.team = ftr_team_new(w.threads);
	st = set_up(&j, argv[0], &err);
	if (!st && w.repeat > 1 && !j.faults.links && !j.faults.switches)
		st = ftr_fail(&err, FTR_INVAL, "whatif: --repeat %u without random faults: all runs would be the same",
			      w.repeat);
	for (unsigned int i = 0; !st && i < w.repeat; i++) {
		cli_progress("breaking, routing and walking");
		cli_progress_step(i, w.repeat);
		st = one_run(&j, i, &err);
	}
	cli_progress_end();
	status = st ? cli_fail(&err) : tell(&j);
	tear_down(&j);
	return status;
}
