// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree report: one HTML file that shows a fabric, its tables and the findings
 * about both.
 *
 * Sets of tables, in this order:
 *
 *	each engine		its tables for FABRIC
 *	each file of --lfts	as given
 *	with --fail		the first engine's tables on the damaged fabric,
 *				before and after rerouting
 *	with --diff		instead of these: the engine's tables for OLD and for
 *				FABRIC, or the tables in two files
 */
#include <stdlib.h>
#include <string.h>

#include "cli/html.h"
#include "cli/ddlr_repair.h"
#include "cli/whatif.h"

struct report {
	struct cli_list engines, lfts, fail;
	struct cli_guid_files files;
	const char *patterns, *doctor, *nominal, *output;
	uint64_t seed;
	unsigned int balance, leaf_order, lmc, threads;
	bool diff;
};

static const struct cli_opt options[] = {
	{ "engine", CLI_LIST, offsetof(struct report, engines), "NAME",
	  "tables of this engine; dmodc if --lfts is not given", NULL,
	  0, 0 },
	{ "lfts", CLI_FILES, offsetof(struct report, lfts), "FILE",
	  "tables to show", NULL, 0, 0 },
	{ "fail", CLI_LIST, offsetof(struct report, fail), "SPEC",
	  "fault: SWITCH, SWITCH[PORT], [N|N%](links|switches)", NULL,
	  0, 0 },
	{ "balance", CLI_WORD, offsetof(struct report, balance),
	  "off|load|full", "balance all-to-all load; full: shifts as well",
	  "load", 0, 0 },
	{ "seed", CLI_U64, offsetof(struct report, seed), "N",
	  "seed of the random faults", "0", 0, 0 },
	{ "diff", CLI_FLAG, offsetof(struct report, diff), NULL,
	  "compare two states of the fabric, OLD and FABRIC", NULL, 0, 0 },
	{ "patterns", CLI_FILE, offsetof(struct report, patterns), "FILE",
	  "pairs of end ports that send at the same time", NULL, 0, 0 },
	{ "doctor", CLI_FILE, offsetof(struct report, doctor), "FILE",
	  "findings to show (output of doctor --json)", NULL, 0, 0 },
	CLI_OPTS_GUIDS(struct report),
	CLI_OPT_LEAF_ORDER(struct report),
	CLI_OPT_NOMINAL(struct report),
	CLI_OPT_LMC(struct report),
	CLI_OPT_THREADS(struct report),
	CLI_OPT_OUTPUT(struct report),
	CLI_OPT_END
};

static int run_html(int argc, char **argv);

const struct cli_cmd cli_html = {
	.name = "report",
	.summary = "write an HTML page with the fabric and its tables",
	.args = "[OLD] FABRIC",
	.text =
"Writes one self-contained HTML file: the tree by ranks and pods, missing and\n"
"slow links, hosts and switches unlike the others, the load of every link\n"
"compared with the lower bound, findings of the checker, and the path between any\n"
"two hosts.  --engine, --lfts and --fail may be given more than once; all sets of\n"
"tables are shown side by side.\n"
"With --diff OLD FABRIC, it shows two states of one fabric.\n"
"Exit status: 0 clean, 1 \"check\" reports findings for some of the tables, 2 bad\n"
"input.\n",
	.opts = options,
	.min_args = 1,
	.max_args = 2,
	.run = run_html,
};

#define SETS_MAX (2 * CLI_LIST_MAX + 2)

struct state {			/* a fabric and the data computed from it */
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_picture *pic;
};

struct job {
	const struct report *o;
	struct ftr_team *team;
	struct ftr_shape_opts opts;
	struct ftr_nominal *nominal;
	struct state now, old, damaged;
	struct cli_faults faults;
	struct html_map map;
	struct html_traffic traffic;
	uint64_t *place;
	struct ftr_load_pair *pair;
	char *doctor_text;	/* NULL: not given */
	struct cli_jval doctor;
	struct html_set set[SETS_MAX];
	unsigned int n_sets;
	struct ftr_tables *owned[SETS_MAX];
};

/* ---- fabrics -------------------------------------------------------------- */

static enum ftr_status shape_of(const struct job *j, struct state *s,
				struct ftr_err *err)
{
	enum ftr_status st = ftr_shape_new(s->f, &j->opts, j->team, &s->sh,
					   err);

	return st ? st : ftr_picture_new(s->sh, &s->pic, err);
}

/* The nominal fabric: with --diff the old one, with faults the undamaged one. */
static enum ftr_status read_fabrics(struct job *j, const char *old,
				    const char *now, struct ftr_err *err)
{
	const struct report *o = j->o;
	enum ftr_status st = cli_read_guids(&o->files, &j->opts, err);

	if (!st)
		st = ftr_read_fabric(now, o->lmc, &j->now.f, err);
	if (!st && old)
		st = ftr_read_fabric(old, o->lmc, &j->old.f, err);
	if (!st && old)
		st = shape_of(j, &j->old, err);
	if (!st)
		st = cli_nominal(old ? old : o->nominal, j->now.f,
				 o->fail.n > 0, &j->opts, j->team, &j->nominal,
				 err);
	if (!st && j->nominal)
		j->opts.nominal = j->nominal->shape;
	if (!st)
		st = shape_of(j, &j->now, err);
	if (!st)
		cli_note_files(j->now.sh);
	return st;
}

static enum ftr_status damage(struct job *j, struct ftr_err *err)
{
	enum ftr_status st;

	if (!j->o->fail.n)
		return FTR_OK;
	st = cli_faults_parse(j->now.f, "fail", &j->o->fail, &j->faults, err);
	if (!st)
		st = cli_faults_apply(j->now.f, &j->faults, j->o->seed,
				      &j->damaged.f, err);
	return st ? st : shape_of(j, &j->damaged, err);
}

/* ---- sets ----------------------------------------------------------------- */

static struct html_set *add_set(struct job *j, const struct state *s,
				struct ftr_tables *t)
{
	struct html_set *x = &j->set[j->n_sets];

	x->f = s->f;
	x->sh = s->sh;
	x->t = t;
	j->owned[j->n_sets++] = t;
	return x;
}

/* Add the tables of an engine for s.  prefer: the tables of the undamaged fabric, or NULL.  As in
 * the plugin, an entry of prefer is kept while its port still leads to the destination. */
static enum ftr_status add_engine(struct job *j, const char *name,
				  const struct state *s, const char *when,
				  const struct ftr_tables *prefer,
				  struct ftr_err *err)
{
	const struct ftr_engine_ops *ops = ftr_engine_find(name);
	const struct ftr_keep keep = { .prefer = prefer };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t = NULL;
	struct html_set *x;
	enum ftr_status st;

	if (!ops)
		return ftr_fail(err, FTR_INVAL, "report: unknown engine '%s' (ibfattree --help lists them)",
				name);
	ro.balance = (enum ftr_balance)j->o->balance;
	ro.keep = prefer && ro.balance ? &keep : NULL;
	st = ftr_tables_new(s->f, false, &t, err);
	if (!st)
		st = ops->route(s->sh, &ro, j->team, t, NULL, err);
	if (st) {
		ftr_tables_free(t);
		return st;
	}
	x = add_set(j, s, t);
	snprintf(x->name, sizeof(x->name), "%s%s%s", name,
		 ro.balance == FTR_BALANCE_FULL ? " (balance full)" :
		 ro.balance == FTR_BALANCE_OFF ? " (balance off)" : "", when);
	return FTR_OK;
}

static enum ftr_status add_file(struct job *j, const char *path,
				const struct state *s, struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	uint32_t missing = 0;
	struct html_set *x;
	enum ftr_status st = cli_read_lfts(path, s->f, &t, &missing, err);

	if (st)
		return st;
	x = add_set(j, s, t);
	x->missing = missing;
	snprintf(x->name, sizeof(x->name), "%s", path);
	return FTR_OK;
}

static void count_changes(struct job *j, unsigned int from, unsigned int to)
{
	j->set[to].before = j->set[from].t;
	j->set[to].before_f = j->set[from].f;
}

static enum ftr_status add_damaged(struct job *j, const char *engine,
				   struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	struct html_set *x;
	enum ftr_status st;

	if (!j->damaged.f)
		return FTR_OK;
	st = cli_carry_tables(j->now.f, j->set[0].t, j->damaged.f, &t, err);
	if (st)
		return st;
	x = add_set(j, &j->damaged, t);
	snprintf(x->name, sizeof(x->name), "%.200s, faults, not rerouted",
		 j->set[0].name);
	st = add_engine(j, engine, &j->damaged, ", faults, rerouted", t, err);
	if (!st)
		count_changes(j, 0, j->n_sets - 1);
	return st;
}

static enum ftr_status add_two(struct job *j, const char *engine,
			       struct ftr_err *err)
{
	const struct cli_list *l = &j->o->lfts;
	enum ftr_status st;

	if (l->n) {
		st = add_file(j, l->v[0], &j->old, err);
		if (!st)
			st = add_file(j, l->v[1], &j->now, err);
	} else {
		st = add_engine(j, engine, &j->old, ", old", NULL, err);
		if (!st)
			st = add_engine(j, engine, &j->now, ", new", NULL, err);
	}
	if (!st)
		count_changes(j, 0, 1);
	return st;
}

static enum ftr_status make_sets(struct job *j, struct ftr_err *err)
{
	const struct report *o = j->o;
	const char *first = o->engines.n ? o->engines.v[0] : "dmodc";
	enum ftr_status st = FTR_OK;

	if (o->diff)
		return add_two(j, first, err);
	for (unsigned int i = 0; !st && i < o->engines.n; i++)
		st = add_engine(j, o->engines.v[i], &j->now, "", NULL,
				err);
	if (!st && !o->engines.n && (!o->lfts.n || o->fail.n))
		st = add_engine(j, first, &j->now, "", NULL, err);
	for (unsigned int i = 0; !st && i < o->lfts.n; i++)
		st = add_file(j, o->lfts.v[i], &j->now, err);
	return st ? st : add_damaged(j, first, err);
}

/* ---- traffic -------------------------------------------------------------- */

static enum ftr_status read_traffic(struct job *j, struct ftr_err *err)
{
	struct html_traffic *t = &j->traffic;
	enum ftr_status st = cli_host_guids(j->now.sh, true, &j->place, &t->n,
					    err);

	t->place = j->place;
	if (!st && j->o->patterns)
		st = ftr_read_pairs(j->o->patterns, j->now.f, &j->pair,
				    &t->n_pairs, err);
	t->pair = j->pair;
	return st;
}

/* ---- the run -------------------------------------------------------------- */

static enum ftr_status make_map(struct job *j, struct ftr_err *err)
{
	j->map = (struct html_map){
		.f = j->now.f, .sh = j->now.sh, .pic = j->now.pic,
		.old = j->old.f, .old_sh = j->old.sh, .old_pic = j->old.pic,
	};
	return html_map_init(&j->map, err);
}

static enum ftr_status write_page(const struct job *j, const char *title,
				  struct ftr_err *err)
{
	char faults[1024] = "";
	struct html_page page = {
		.title = title, .pairs = j->o->patterns, .map = &j->map,
		.set = j->set, .n_sets = j->n_sets,
		.n_missing_sw = j->now.sh->missing.n_missing_sw,
		.doctor = j->doctor_text ? &j->doctor : NULL,
	};
	const char *slash = strrchr(title, '/');
	size_t n = 0;

	if (slash && slash[1])
		page.title = slash + 1;
	for (unsigned int i = 0; i < j->o->fail.n && n < sizeof(faults); i++)
		n += (size_t)snprintf(faults + n, sizeof(faults) - n, "%s%s",
				      i ? ", " : "", j->o->fail.v[i]);
	page.faults = j->o->fail.n ? faults : NULL;
	return cli_write(j->o->output, html_write, &page, err);
}

static enum ftr_status make_report(struct job *j, const char *old, const char *now,
				   struct ftr_err *err)
{
	enum ftr_status st;

	cli_progress("reading");
	st = j->o->doctor ? html_doctor_read(j->o->doctor, &j->doctor_text,
					     &j->doctor, err) : FTR_OK;
	if (!st)
		st = read_fabrics(j, old, now, err);
	if (!st)
		st = damage(j, err);
	cli_progress("routing");
	if (!st)
		st = make_sets(j, err);
	if (!st)
		st = make_map(j, err);
	if (!st)
		st = read_traffic(j, err);
	cli_progress("checking and loading");
	for (unsigned int i = 0; !st && i < j->n_sets; i++) {
		cli_progress_step(i, j->n_sets);
		st = html_set_run(&j->set[i], &j->map, &j->traffic, j->team,
				  err);
	}
	cli_progress("writing");
	if (!st)
		st = write_page(j, now, err);
	cli_progress_end();
	return st;
}

static void free_state(struct state *s)
{
	ftr_picture_free(s->pic);
	ftr_shape_free(s->sh);
	ftr_fabric_free(s->f);
}

static void free_job(struct job *j)
{
	for (unsigned int i = 0; i < j->n_sets; i++) {
		html_set_fini(&j->set[i]);
		ftr_tables_free(j->owned[i]);
	}
	html_map_fini(&j->map);
	free(j->place);
	free(j->pair);
	free(j->doctor_text);
	cli_faults_free(&j->faults);
	free_state(&j->damaged);
	free_state(&j->now);
	free_state(&j->old);
	ftr_nominal_free(j->nominal);
	j->opts.nominal = NULL;
	cli_free_guids(&j->opts);
	ftr_team_free(j->team);
	free(j);
}

static int refuse(const struct report *o, int n)
{
	if (o->diff != (n == 2))
		return cli_error(o->diff ?
			"report: --diff expects two fabrics, OLD and FABRIC" :
			"report: two fabrics require --diff");
	if (o->diff && (o->fail.n || o->nominal))
		return cli_error("report: --diff cannot be combined with --fail or --nominal");
	if (o->diff && (o->engines.n > 1 || (o->lfts.n && o->lfts.n != 2)))
		return cli_error("report: --diff expects one engine, or --lfts twice: of OLD, then of FABRIC");
	return -1;
}

static int run_html(int argc, char **argv)
{
	struct report o = { .output = NULL };
	struct ftr_err err = { 0 };
	struct job *j;
	enum ftr_status st;
	int n, status = cli_parse(&cli_html, &o, argc, argv, &n);

	if (status < 0)
		status = refuse(&o, n);
	if (status >= 0)
		return status;
	j = calloc(1, sizeof(*j));
	if (!j)
		return cli_error("out of memory for a report");
	j->o = &o;
	j->opts.leaf_order = (enum ftr_leaf_order)o.leaf_order;
	j->team = ftr_team_new(o.threads);
	st = make_report(j, n == 2 ? argv[0] : NULL, argv[n - 1], &err);
	status = st ? cli_fail(&err) : CLI_CLEAN;
	for (unsigned int i = 0; !st && i < j->n_sets; i++)
		if (j->set[i].verdict.found)
			status = CLI_FINDINGS;
	free_job(j);
	return status;
}
