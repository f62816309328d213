// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree doctor: examines this node, the fabric and the tables in use, before a
 * change of the routing engine.
 *
 * A table lists the checks: id, prerequisites, function.  If a prerequisite is missing,
 * the verdict is "not checked", with the reason.  No check uses the verdict of
 * another.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/doctor.h"
#include "cli/json.h"

#define FLAPS_MAX 255
#define ERRORS_MAX UINT16_MAX

#define OPTS struct doc_opts
static const struct cli_opt options[] = {
	OPT(FILE, "lfts", lfts, "FILE", "with FABRIC: the forwarding tables in use"),
	OPT(FLAG, "local", local, NULL, "check this node only; do not read the fabric"),
	OPT(LIST, "only", only, "ID", "run only this check; may be given more than once"),
	CLI_OPT_CONF,
	OPT(FILE, "opensm", opensm, "FILE", "path of the program opensm"),
	OPT(FILE, "plugin", plugin, "FILE", "path of libibfattree.so"),
	CLI_OPTS_GUIDS,
	CLI_OPT_NOMINAL,
	OPT(UINT, "flaps", flaps, "N",
	    "warn about ports with more than N link failures", "10", 0, FLAPS_MAX),
	OPT(UINT, "errors", errors, "N",
	    "warn about ports with an error counter above N", "10", 0, ERRORS_MAX),
	CLI_OPT_LMC,
	CLI_OPT_THREADS,
	CLI_OPTS_LOCAL(""),
	OPT(FLAG, "strict", strict, NULL, "count warnings as findings"),
	OPT(FLAG, "quiet", quiet, NULL, "print warnings and failures only"),
	CLI_OPT_JSON,
	CLI_OPT_END
};

/* ---- the checks -------------------------------------------------------- */

const struct doc_check doc_checks[DOC_N_CHECKS] = {
	{ "adapter", DOC_NEED_NODE, doc_adapter },
	{ "module", DOC_NEED_NODE, doc_module },
	{ "permission", DOC_NEED_NODE, doc_permission },
	{ "port", DOC_NEED_NODE, doc_local_port },
	{ "mtu", DOC_NEED_NODE, doc_mtu },
	{ "plugin", DOC_NEED_NODE, doc_plugin },
	{ "config", DOC_NEED_NODE, doc_config },
	{ "known-faults", DOC_NEED_NODE, doc_known_faults },
	{ "drains", DOC_NEED_NODE, doc_drains },
	{ "fabric", 0, doc_fabric },
	{ "m-key", DOC_NEED_LIVE, doc_m_key },
	{ "sm", DOC_NEED_LIVE, doc_sm },
	{ "standby", DOC_NEED_LIVE, doc_standby },
	{ "sm-version", DOC_NEED_LIVE, doc_sm_version },
	{ "silent", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_silent },
	{ "link-state", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_link_state },
	{ "link-width", DOC_NEED_FABRIC, doc_link_width },
	{ "link-speed", DOC_NEED_FABRIC, doc_link_speed },
	{ "link-flaps", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_link_flaps },
	{ "link-errors", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_link_errors },
	{ "lft-capacity", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_lft_capacity },
	{ "lft-top", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_lft_top },
	{ "vls", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_vls },
	{ "adaptive", DOC_NEED_LIVE | DOC_NEED_FABRIC, doc_adaptive },
	{ "files", DOC_NEED_FABRIC, doc_files },
	{ "ranks", DOC_NEED_FABRIC, doc_ranks },
	{ "links-missing", DOC_NEED_FABRIC, doc_links_missing },
	{ "rails", DOC_NEED_FABRIC, doc_rails },
	{ "host-ports", DOC_NEED_FABRIC, doc_host_ports },
	{ "sm-reach", DOC_NEED_LIVE | DOC_NEED_FABRIC | DOC_NEED_TABLES, doc_sm_reach },
	{ "pairs", DOC_NEED_FABRIC | DOC_NEED_TABLES, doc_pairs },
	{ "loops", DOC_NEED_FABRIC | DOC_NEED_TABLES, doc_loops },
	{ "credit-loops", DOC_NEED_FABRIC | DOC_NEED_TABLES, doc_credit_loops },
	{ "balance", DOC_NEED_FABRIC, doc_balance },
};

static bool wanted(const struct doc_opts *o, const char *id)
{
	for (unsigned int i = 0; i < o->only.n; i++)
		if (!strcmp(o->only.v[i], id))
			return true;
	return !o->only.n;
}

static bool known_id(const char *id)
{
	for (size_t i = 0; i < DOC_N_CHECKS; i++)
		if (!strcmp(doc_checks[i].id, id))
			return true;
	return false;
}

/* Returns the reason why the check cannot run, or NULL if it can run. */
static const char *obstacle(const struct doctor *d, const struct doc_check *c)
{
	unsigned int needs = c->needs;

	if (needs & DOC_NEED_NODE && d->fabric)
		return "FABRIC is given, so this node is not examined";
	if (!c->run)
		return "this ibfattree was built without libibumad or libibverbs";
	if (needs & DOC_NEED_NODE)
		return NULL;
	if (d->o.local)
		return "--local: the fabric is not read";
	if (needs & DOC_NEED_LIVE && d->fabric)
		return "dumps do not contain this information";
	if (needs & DOC_NEED_FABRIC && !d->net.f)
		return "the fabric cannot be read, see \"fabric\"";
	if (needs & DOC_NEED_TABLES && !d->net.t)
		return "no tables are given (--lfts)";
	if (needs & DOC_NEED_LIVE && d->net.err.status && !d->net.port)
		return "the fabric cannot be discovered, see \"fabric\"";
	return NULL;
}

static void run_checks(struct doctor *d, struct doc_result *r)
{
	for (size_t i = 0; i < DOC_N_CHECKS; i++) {
		const struct doc_check *c = &doc_checks[i];
		const char *why;

		r[i].id = c->id;
		if (!wanted(&d->o, c->id))
			continue;
		if (!(c->needs & DOC_NEED_NODE) && !d->o.local && !d->net.tried) {
			cli_progress("reading the fabric");
			doc_read(d);
		}
		why = obstacle(d, c);
		cli_progress(c->id);
		if (why)
			doc_say(&r[i], DOC_NOT_CHECKED, "%s", why);
		else
			c->run(d, &r[i]);
	}
	cli_progress_end();
}

/* ---- recommended lines ------------------------------------------------- */

#define LINES_MAX 8

struct line {
	char text[256], reason[256];
};

static uint32_t recommend(const struct doctor *d, struct line *l)
{
	const char *engine = d->best ? d->best : "dmodc";
	uint32_t n = 0;

	if (d->o.only.n || d->o.local || !d->net.f)
		return 0;
	l[n++] = (struct line){ "event_plugin_name ibfattree",
				"loads the plugin with its engines" };
	snprintf(l[n].text, sizeof(l[n].text), "routing_engine %s,no_fallback", engine);
	snprintf(l[n].reason, sizeof(l[n].reason),
		 "%s; without no_fallback, OpenSM routes by min-hop if the plugin is missing, and min-hop can deadlock",
		 d->best ? "the engine with the fewest unreachable pairs and the best balance" :
		 "the default engine");
	n++;
	if (d->shape_err.status)
		l[n++] = (struct line){ "root_guid_file FILE",
			"no ranks can be inferred: FILE holds the node GUIDs of the top switches" };
	if (d->conf.ucast_cache)
		l[n++] = (struct line){ "use_ucast_cache FALSE",
			"the unicast cache may make OpenSM keep old tables" };
	if (d->conf.no_sweep)
		l[n++] = (struct line){ "sweep_interval 10",
			"light sweeps find changes whose trap was lost" };
	if (ftr_engine_find(engine)->sl2vl)
		l[n++] = (struct line){ "qos TRUE",
			"the engine needs SL2VL tables for its second VL" };
	return n;
}

/* ---- output ------------------------------------------------------------ */

static const struct {
	const char *word;
	enum cli_colour colour;
} verdict[DOC_N_VERDICTS] = {
	[DOC_OK] = { "ok", CLI_GOOD },
	[DOC_WARNING] = { "WARNING", CLI_DOUBT },
	[DOC_FAILURE] = { "FAILURE", CLI_WRONG },
	[DOC_NOT_CHECKED] = { "-", CLI_PLAIN },
};

static void put_result(const struct doc_result *r, bool quiet)
{
	bool finding = r->verdict == DOC_WARNING || r->verdict == DOC_FAILURE;

	if (quiet && !finding)
		return;
	printf("%s%-8s%s %-14s %s%s\n", cli_colour(verdict[r->verdict].colour),
	       verdict[r->verdict].word, cli_colour(CLI_PLAIN), r->id,
	       doc_prefix(r->verdict), r->text);
	doc_put_details(r, 24);
	if (r->remedy[0])
		printf("%24sdo: %s\n", "", r->remedy);
}

static const struct {
	const char *title, *key;
	enum cli_metric metric;
	int digits;
} rows[] = {
	{ "unreachable pairs of host ports", "lost_pairs", CLI_M_LOST, 0 },
	{ "credit loop, shortest (links)", "credit_loop_length", CLI_M_CYCLE,
	  0 },
	{ "longest path (links)", "longest_path", CLI_M_HOPS, 0 },
	{ "all-to-all: worst link (flows)", "all_to_all_worst", CLI_M_ALL_MAX,
	  0 },
	{ "shifts: worst link (flows)", "shifts_worst", CLI_M_SHIFT_MAX, 0 },
	{ "shifts: worst link, mean (flows)", "shifts_mean", CLI_M_SHIFT_MEAN, 2 },
	{ "entries that would change", "changed_entries", CLI_M_ENTRIES, 0 },
	{ "blocks (MADs) to write", "changed_blocks", CLI_M_BLOCKS, 0 },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static void put_table(const struct doctor *d)
{
	char num[CLI_NUM_MAX];

	if (!d->n_col)
		return;
	printf("\n%-32s", "");
	for (uint32_t c = 0; c < d->n_col; c++)
		printf(" %12s", d->col[c].name);
	putchar('\n');
	for (size_t i = 0; i < N_ROWS; i++) {
		printf("%-32s", rows[i].title);
		for (uint32_t c = 0; c < d->n_col; c++) {
			double v = d->col[c].m.v[rows[i].metric];

			if (isnan(v))
				printf(" %12s", "-");
			else if (rows[i].metric == CLI_M_CYCLE && v < 1)
				printf(" %12s", "none");
			else if (rows[i].digits)
				printf(" %12.*f", rows[i].digits, v);
			else
				printf(" %12s", cli_num(num, (uint64_t)v));
		}
		putchar('\n');
	}
	printf("(engines: tables with the option \"balance load\", as in the plugin's first routing; \"balance full\" reduces the load of shifts)\n");
}

static void put_all(const struct doctor *d, const struct doc_result *r, const uint32_t *count)
{
	struct line line[LINES_MAX];
	uint32_t n = recommend(d, line);

	for (size_t i = 0; i < DOC_N_CHECKS; i++)
		if (r[i].text[0])
			put_result(&r[i], d->o.quiet);
	if (d->o.quiet)
		return;
	put_table(d);
	if (n)
		printf("\nrecommended for opensm.conf:\n");
	for (uint32_t i = 0; i < n; i++)
		printf("  # %s\n  %s\n", line[i].reason, line[i].text);
	printf("\n%u ok, %u warning%s, %u failure%s, %u not checked\n",
	       count[DOC_OK], count[DOC_WARNING],
	       count[DOC_WARNING] == 1 ? "" : "s", count[DOC_FAILURE],
	       count[DOC_FAILURE] == 1 ? "" : "s", count[DOC_NOT_CHECKED]);
}

static void json_table(const struct doctor *d, struct json_object *o)
{
	struct json_object *list = cli_json_array(o, "tables");

	for (uint32_t c = 0; c < d->n_col; c++) {
		struct json_object *e = cli_json_element(list);

		cli_json_str(e, "name", d->col[c].name);
		for (size_t i = 0; i < N_ROWS; i++) {
			double v = d->col[c].m.v[rows[i].metric];

			if (!isnan(v))
				cli_json_real(e, rows[i].key, v);
		}
	}
}

static int put_json(const struct doctor *d, const struct doc_result *r,
		    const uint32_t *count, int status)
{
	struct json_object *o = cli_json_new("doctor"), *list, *e;
	struct line line[LINES_MAX];
	uint32_t n = recommend(d, line);

	if (d->net.f)
		cli_json_fabric(o, d->net.f, d->sh);
	for (int v = 0; v < DOC_N_VERDICTS; v++)
		cli_json_num(o, doc_key(v), count[v]);
	list = cli_json_array(o, "checks");
	for (size_t i = 0; i < DOC_N_CHECKS; i++) {
		if (!r[i].text[0])
			continue;
		e = cli_json_element(list);
		cli_json_str(e, "id", r[i].id);
		cli_json_str(e, "verdict", doc_key(r[i].verdict));
		cli_json_str(e, "text", r[i].text);
		cli_json_str(e, "remedy", r[i].remedy[0] ? r[i].remedy : NULL);
		cli_json_num(e, "n_details", r[i].n_details);
		doc_json_details(e, &r[i]);
	}
	json_table(d, o);
	list = cli_json_array(o, "recommended");
	for (uint32_t i = 0; i < n; i++) {
		e = cli_json_element(list);
		cli_json_str(e, "line", line[i].text);
		cli_json_str(e, "reason", line[i].reason);
	}
	return cli_json_end(o, status);
}

static int report(const struct doctor *d, const struct doc_result *r)
{
	uint32_t count[DOC_N_VERDICTS] = { 0 };
	int status;

	for (size_t i = 0; i < DOC_N_CHECKS; i++)
		if (r[i].text[0])
			count[r[i].verdict]++;
	status = count[DOC_FAILURE] || (d->o.strict && count[DOC_WARNING]) ?
		 CLI_FINDINGS : CLI_CLEAN;
	if (d->o.in.json)
		return put_json(d, r, count, status);
	put_all(d, r, count);
	return status;
}

static void check_usage(const struct doctor *d)
{
	const struct doc_opts *o = &d->o;

	for (unsigned int i = 0; i < o->only.n; i++)
		if (!known_id(o->only.v[i]))
			cli_die("doctor: unknown check '%s'", o->only.v[i]);
	if (o->lfts && !d->fabric)
		cli_die("doctor: --lfts needs FABRIC");
	if (d->fabric && (o->local || o->in.from.ca || o->in.from.port || o->in.from.m_key))
		cli_die("doctor: --local, --ca, --port and --m-key cannot be combined with FABRIC");
}

static int run_doctor(int argc, char **argv)
{
	static struct doc_result r[DOC_N_CHECKS];
	struct doctor d = { .sysfs = "/sys/class/infiniband" };
	int n = cli_parse(&cli_doctor, &d.o, argc, argv), status;
	struct utsname host;

	if (!uname(&host))
		snprintf(d.kernel, sizeof(d.kernel), "%s", host.release);
	d.fabric = n ? argv[0] : NULL;
	check_usage(&d);
	d.o.in.team = ftr_team_new(d.o.in.threads);
	if (!d.fabric)
		doc_read_conf(&d);
	run_checks(&d, r);
	status = report(&d, r);
	for (size_t i = 0; i < DOC_N_CHECKS; i++)
		for (int k = 0; k < DOC_DETAILS; k++)
			free(r[i].detail[k]);
	doc_free_paths(&d);
	doc_free_fabric(&d.net);
	doc_free_conf(&d.conf);
	ftr_team_free(d.o.in.team);
	return status;
}

const struct cli_cmd cli_doctor = {
	.name = "doctor",
	.summary = "check node, fabric and tables before a change of the engine",
	.args = "[FABRIC]",
	.text =
"Checks this node (adapter, port, opensm, plugin, opensm.conf), the running\n"
"fabric (subnet managers, links, switches) and the tables in use (unreachable\n"
"pairs, credit loops, balance compared with each engine), and recommends lines\n"
"for opensm.conf.  With FABRIC and --lfts it reads dumps and skips this node.\n"
"Nothing is written to the fabric.\n"
"Exit status: 0 no failure; 1 a failure (with --strict: a failure or a warning);\n"
"2 bad input.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_doctor,
};
