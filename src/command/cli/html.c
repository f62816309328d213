// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree report: one HTML file that shows a fabric, its tables and the findings
 * about both.
 *
 * Sets of tables, in this order:
 *
 *	each engine		its tables for FABRIC
 *	each file of --lfts	the tables in the file
 *	with --fail		the first engine's tables on the damaged fabric,
 *				before and after rerouting
 *	with --diff		only two sets: the engine's tables for OLD and for
 *				FABRIC, or the tables in the two files of --lfts
 */
#include <errno.h>
#include <string.h>

#include "cli/html.h"
#include "cli/ddlr_repair.h"
#include "cli/json.h"
#include "cli/whatif.h"

struct report {
	struct cli_in in;
	struct cli_list engines, lfts, fail;
	const char *patterns, *doctor_file;
	uint64_t seed;
	unsigned int balance;
	bool diff;

	struct cli_shaping shaping;
	struct html_state damaged;
	struct cli_faults faults;
	struct html_page page;
};

#define OPTS struct report
static const struct cli_opt options[] = {
	OPT(LIST, "engine", engines, "NAME",
	    "show the tables of this engine; dmodc if --lfts is not given"),
	OPT(FILES, "lfts", lfts, "FILE", "show the tables in this file"),
	CLI_OPT_FAIL,
	CLI_OPT_BALANCE(balance, "load"),
	CLI_OPT_SEED,
	OPT(FLAG, "diff", diff, NULL, "compare two states of the fabric, OLD and FABRIC"),
	OPT(FILE, "patterns", patterns, "FILE", "pairs of host ports that send at the same time"),
	OPT(FILE, "doctor", doctor_file, "FILE", "findings to show (output of doctor --json)"),
	CLI_OPTS_GUIDS,
	CLI_OPT_LEAF_ORDER,
	CLI_OPT_NOMINAL,
	CLI_OPT_LMC,
	CLI_OPT_THREADS,
	CLI_OPT_OUTPUT,
	CLI_OPT_END
};

static int run_html(int argc, char **argv);

const struct cli_cmd cli_html = {
	.name = "report",
	.summary = "write an HTML page with the fabric and its tables",
	.args = "[OLD] FABRIC",
	.text =
"Writes one self-contained HTML file: the tree by ranks and pods, missing and\n"
"slow links, hosts and switches that differ from the others, the load of every\n"
"link compared with the lower bound, findings of \"ibfattree check\", and the path\n"
"between any two hosts.  --engine, --lfts and --fail may be given more than once;\n"
"all sets of tables are shown side by side.\n"
"With --diff OLD FABRIC, the page shows two states of one fabric.\n"
"Exit status: 0 if no set of tables has a finding of \"ibfattree check\", 1 if one\n"
"has, 2 for bad input.\n",
	.opts = options,
	.min_args = 1, .max_args = 2,
	.run = run_html,
};

/* ---- fabrics -------------------------------------------------------------- */

static void shape_of(const struct report *j, struct html_state *s)
{
	struct ftr_shape_opts opts = j->shaping.opts;

	if (s == &j->page.old)
		opts.nominal = NULL;
	cli_must(ftr_shape_new(s->f, &opts, j->in.team, &s->sh, &cli_err));
	cli_must(ftr_picture_new(s->sh, &s->pic, &cli_err));
}

/* Reads the fabrics and makes their shapes.  The nominal fabric is:
 *
 *	with --diff			the union of FABRIC and OLD
 *	with --nominal			the union of FABRIC and the fabric in the file
 *	with --fail, no --nominal	FABRIC before the faults
 *	in other cases			none */
static void read_fabrics(struct report *j, const char *old, const char *now)
{

	struct cli_in in = j->in;

	in.nominal = old ? old : in.nominal;
	j->page.now.f = cli_read_fabric(&in, now);
	if (old)
		j->page.old.f = cli_read_fabric(&in, old);
	cli_must(cli_shaping(&in, j->page.now.f, j->fail.n > 0, &j->shaping, &cli_err));
	if (old)
		shape_of(j, &j->page.old);
	shape_of(j, &j->page.now);
	cli_note_files(j->page.now.sh);
	if (!j->fail.n)
		return;
	j->faults = cli_faults_parse(j->page.now.f, "fail", &j->fail);
	j->damaged.f = cli_faults_apply(j->page.now.f, &j->faults, j->seed);
	shape_of(j, &j->damaged);
}

/* ---- sets ----------------------------------------------------------------- */

static struct html_set *add_set(struct report *j, const struct html_state *s, struct ftr_tables *t)
{
	struct html_set *x = &j->page.set[j->page.n_sets++];

	x->base = s == &j->damaged ? &j->page.now : s;
	x->f = s->f;
	x->sh = s->sh;
	x->t = t;
	return x;
}

/* Adds the tables of an engine for s.  prefer: the tables of the undamaged fabric, or NULL.  As in
 * the plugin, entries of prefer are kept while their ports still lead to the destination.  With
 * --balance off, no entry is kept. */
static void add_engine(struct report *j, const char *name, const struct html_state *s,
		       const char *when, const struct ftr_tables *prefer)
{
	const struct ftr_engine_ops *ops = ftr_engine_find(name);
	const struct ftr_keep keep = { .prefer = prefer };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t = NULL;
	struct html_set *x;

	if (!ops)
		cli_die("report: unknown engine '%s' (ibfattree --help lists the engines)", name);
	ro.balance = (enum ftr_balance)j->balance;
	ro.keep = prefer && ro.balance ? &keep : NULL;
	cli_must(ftr_tables_new(s->f, false, &t, &cli_err));
	cli_must(ops->route(s->sh, &ro, j->in.team, t, NULL, &cli_err));
	x = add_set(j, s, t);
	snprintf(x->name, sizeof(x->name), "%s%s%s", name,
		 ro.balance == FTR_BALANCE_FULL ? " (balance full)" :
		 ro.balance == FTR_BALANCE_OFF ? " (balance off)" : "", when);
}

static void add_file(struct report *j, const char *path, const struct html_state *s)
{
	uint32_t missing = 0;
	struct html_set *x;

	x = add_set(j, s, cli_read_lfts(path, s->f, &missing));
	x->ro.missing = missing;
	snprintf(x->name, sizeof(x->name), "%s", path);
}

static void count_changes(struct report *j, unsigned int from, unsigned int to)
{
	j->page.set[to].before = j->page.set[from].t;
	j->page.set[to].before_f = j->page.set[from].f;
}

static void add_damaged(struct report *j, const char *engine)
{
	struct ftr_tables *t;
	struct html_set *x;

	if (!j->damaged.f)
		return;
	t = cli_carry_tables(j->page.now.f, j->page.set[0].t, j->damaged.f);
	x = add_set(j, &j->damaged, t);
	snprintf(x->name, sizeof(x->name), "%.200s, faults, not rerouted", j->page.set[0].name);
	add_engine(j, engine, &j->damaged, ", faults, rerouted", t);
	count_changes(j, 0, j->page.n_sets - 1);
}

static void add_two(struct report *j, const char *engine)
{
	const struct cli_list *l = &j->lfts;

	if (l->n) {
		add_file(j, l->v[0], &j->page.old);
		add_file(j, l->v[1], &j->page.now);
	} else {
		add_engine(j, engine, &j->page.old, ", old", NULL);
		add_engine(j, engine, &j->page.now, ", new", NULL);
	}
	count_changes(j, 0, 1);
}

static void make_sets(struct report *j)
{
	const char *first = j->engines.n ? j->engines.v[0] : "dmodc";

	if (j->diff) {
		add_two(j, first);
		return;
	}
	for (unsigned int i = 0; i < j->engines.n; i++)
		add_engine(j, j->engines.v[i], &j->page.now, "", NULL);
	if (!j->engines.n && (!j->lfts.n || j->fail.n))
		add_engine(j, first, &j->page.now, "", NULL);
	for (unsigned int i = 0; i < j->lfts.n; i++)
		add_file(j, j->lfts.v[i], &j->page.now);
	add_damaged(j, first);
}

/* ---- traffic -------------------------------------------------------------- */

static void read_traffic(struct report *j)
{
	struct html_traffic *t = &j->page.traffic;
	struct ftr_load_pair *pair = NULL;

	t->now = &j->page.now;
	t->order = cli_host_order(j->page.now.sh, &t->n);
	if (j->patterns)
		cli_must(ftr_read_pairs(j->patterns, j->page.now.f, &pair, &t->n_pairs, &cli_err));
	t->pair = pair;
}

/* Reads the output of "ibfattree doctor --json". */
static struct json_object *read_doctor(const char *path)
{
	struct json_object *o = cli_json_read(path);

	if (!o && errno)
		cli_die("%s: %s", path, strerror(errno));
	if (strcmp(cli_json_get_text(o, "command"), "doctor") ||
	    !json_object_is_type(json_object_object_get(o, "checks"), json_type_array))
		cli_die("%s: not the output of ibfattree doctor --json", path);
	return o;
}

/* ---- the run -------------------------------------------------------------- */

static void write_page(struct report *j, const char *title)
{
	const char *slash = strrchr(title, '/');

	j->page.title = slash && slash[1] ? slash + 1 : title;
	j->page.faults = &j->fail;
	html_write(cli_create(j->in.output), &j->page);
	cli_finish(FTR_OK);
}

static void make_report(struct report *j, const char *old, const char *now)
{
	cli_progress("reading");
	if (j->doctor_file)
		j->page.doctor = read_doctor(j->doctor_file);
	read_fabrics(j, old, now);
	cli_progress("routing");
	make_sets(j);
	read_traffic(j);
	cli_progress("checking and counting flows");
	for (unsigned int i = 0; i < j->page.n_sets; i++) {
		cli_progress_step(i, j->page.n_sets);
		html_set_run(&j->page.set[i], &j->page.traffic, j->in.team);
	}
	cli_progress("writing");
	write_page(j, now);
	cli_progress_end();
}

static void check_usage(const struct report *j, int n)
{
	if (j->diff != (n == 2))
		cli_die("%s", j->diff ? "report: --diff expects two fabrics, OLD and FABRIC" :
			"report: two fabrics require --diff");
	if (j->diff && (j->fail.n || j->in.nominal))
		cli_die("report: --diff cannot be combined with --fail or --nominal");
	if (j->diff && (j->engines.n > 1 || (j->lfts.n && j->lfts.n != 2)))
		cli_die("report: --diff expects one engine, or --lfts twice: of OLD, then of FABRIC");
}

static int run_html(int argc, char **argv)
{
	static struct report j;
	int n = cli_parse(&cli_html, &j, argc, argv), status = CLI_CLEAN;

	check_usage(&j, n);
	j.in.team = ftr_team_new(j.in.threads);
	make_report(&j, n == 2 ? argv[0] : NULL, argv[n - 1]);
	for (unsigned int i = 0; i < j.page.n_sets; i++)
		if (j.page.set[i].verdict.found)
			status = CLI_FINDINGS;
	ftr_team_free(j.in.team);
	return status;
}
