// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree facts: prints a fabric, its tables and those of the engines as JSON, for ibfattree-doctor,
 * which judges them, and reads and writes files for ibfattree-save and ibfattree-restore (--lids).
 *
 * The fabric and the tables are read, and the ranks are computed, only once.  An error of reading a
 * running fabric, or a fabric without ranks, is a member of the output; a lack of memory ends the
 * program.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/facts.h"
#include "cli/json.h"
#include "cli/whatif.h"

struct facts {
	struct cli_in in;
	const char *lfts, *save_fabric, *save_lfts, *save_sl2vl;
	struct cli_list states;
	bool engines, lids;

	struct cli_live net;
	struct ftr_sl2vl *m;
	struct ftr_shape *sh;	/* NULL: no ranks */
};

#define OPTS struct facts
static const struct cli_opt options[] = {
	OPT(FILE, "lfts", lfts, "FILE", "with FABRIC: the forwarding tables in use"),
	OPT(FILES, "state", states, "FILE", "a state file that may be of this fabric"),
	OPT(FLAG, "engines", engines, NULL, "also measure the tables of each engine"),
	OPT(FLAG, "lids", lids, NULL, "print only the fabric and the owners of the LIDs"),
	OPT(FILE, "save-fabric", save_fabric, "FILE", "save the fabric"),
	OPT(FILE, "save-lfts", save_lfts, "FILE", "save the tables"),
	OPT(FILE, "save-sl2vl", save_sl2vl, "FILE", "with --lids: save the SL2VL tables"),
	CLI_OPTS_GUIDS,
	CLI_OPT_NOMINAL,
	CLI_OPT_LMC,
	CLI_OPT_THREADS,
	CLI_OPTS_LOCAL(""),
	CLI_OPT_END
};

/* Adds the message of an error to o, or null. */
static void put_error(struct json_object *o, const char *key, enum ftr_status st)
{
	if (st == FTR_NOMEM)
		cli_must(st);
	cli_json_str(o, key, st ? cli_err.msg : NULL);
}

/* ---- files of this fabric ---------------------------------------------- */

static void put_guids(struct json_object *o, const char *key, const char *path,
		      const struct ftr_fabric *f)
{
	bool switches = !strcmp(key, "roots");
	uint32_t n = 0, unknown = 0;
	uint64_t *guid = NULL;

	if (!path)
		return;
	o = cli_json_object(o, key);
	put_error(o, "error", ftr_read_guids(path, &guid, &n, &cli_err));
	for (uint32_t i = 0; i < n; i++) {
		bool here = switches ? ftr_fabric_find_sw(f, guid[i]) != FTR_SW_NONE :
			    ftr_fabric_find_ep(f, guid[i]) != FTR_EP_NONE;

		if (!here && !unknown++)
			cli_json_guid(o, "first", guid[i]);
	}
	cli_json_num(o, "count", n);
	cli_json_num(o, "unknown", unknown);
	free(guid);
}

/* Adds each state file, with the reason why it does not belong to this fabric, or null. */
static void put_states(struct json_object *o, const struct facts *j)
{
	struct json_object *list = cli_json_array(o, "states"), *e;

	for (unsigned int i = 0; i < j->states.n; i++) {
		const char *path = j->states.v[i];
		const struct ftr_shape_opts none = { .leaf_order = FTR_LEAF_BY_GUID };
		struct ftr_nominal_change c = { .other = false };
		struct ftr_nominal *n = NULL;
		enum ftr_status st = ftr_nominal_read(path, &none, &n, &cli_err);

		if (!st)
			st = ftr_nominal_compare(n, j->net.f, &c, &cli_err);
		if (!st && c.other)
			st = ftr_fail(&cli_err, FTR_INVAL, "%s: %u of its %u switches and %u of its %u host ports are in this fabric",
				      path, c.same_sw, c.old_sw, c.same_hosts, c.old_hosts);
		ftr_nominal_free(n);
		e = cli_json_element(list);
		cli_json_bool(e, "is_state", ftr_state_is_file(path));
		put_error(e, "error", st);
	}
}

/* ---- the tables in use -------------------------------------------------- */

/* Adds each unreachable host port, with the number of host ports that do not reach it. */
static void put_lost(struct json_object *o, const struct ftr_fabric *f, const struct ftr_tables *t)
{
	uint32_t *hosts = cli_calloc(f->n_sw, sizeof(*hosts), "%u switches", f->n_sw);
	struct json_object *list = cli_json_array(o, "lost"), *e;

	for (ftr_ep p = 0; p < f->n_ep; p++)
		if (f->ep[p].sw != FTR_SW_NONE && f->ep[p].lid)
			hosts[f->ep[p].sw]++;
	for (ftr_ep p = 0; p < f->n_ep; p++) {
		uint64_t lost = 0;

		for (ftr_sw s = 0; f->ep[p].lid && s < f->n_sw; s++)
			if (hosts[s] &&
			    ftr_tables_path(f, t, s, f->ep[p].lid, NULL) == FTR_NO_PATH)
				lost += hosts[s] - (f->ep[p].sw == s);
		if (!lost)
			continue;
		e = cli_json_element(list);
		cli_json_num(e, "end_port", p);
		cli_json_num(e, "from_end_ports", lost);
	}
	free(hosts);
}

/* Adds to each subnet manager the switches without a path to it. */
static void put_unreached(struct json_object *o, const struct ftr_fabric *f,
			  const struct ftr_tables *t)
{
	struct json_object *sms = json_object_object_get(o, "sms");

	for (size_t i = 0; sms && i < json_object_array_length(sms); i++) {
		struct json_object *sm = json_object_array_get_idx(sms, i);
		struct json_object *list = cli_json_array(sm, "unreached_from");
		uint64_t lid = json_object_get_uint64(json_object_object_get(sm, "lid"));

		if (!lid || lid > f->max_lid)
			continue;
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (ftr_tables_path(f, t, s, (ftr_lid)lid, NULL) == FTR_NO_PATH)
				cli_json_number(list, s);
	}
}

static void put_check(struct json_object *o, const struct facts *j)
{
	const struct ftr_fabric *f = j->net.f;
	const struct ftr_check_opts opts = { .list_lost = true,
					     .rank = j->sh ? j->sh->tree.rank : NULL };
	const struct cli_report_opts none = { .strict = false };
	static struct ftr_check_report report;
	static struct cli_reach verdict;

	cli_progress("checking the tables");
	cli_must(ftr_check_tables(f, j->net.t, &opts, j->in.team, &report, &cli_err));
	cli_judge(f, j->sh, &report, &none, &verdict);
	cli_json_put(o, "check", cli_report_json(f, j->sh, &report, &none, &verdict));
	if (report.bad[FTR_CHECK_HOST_HOST])
		put_lost(o, f, j->net.t);
	put_unreached(o, f, j->net.t);
}

/* ---- the tables of the engines ------------------------------------------ */

static void put_tables(struct json_object *list, const struct facts *j, const char *name,
		       const struct ftr_tables *t, const struct cli_loads *loads)
{
	struct json_object *e = cli_json_element(list);
	struct cli_measure m = { .details = NULL };
	struct ftr_tables_diff diff;
	struct cli_reach reach;

	cli_measure(j->sh, t, &(struct ftr_check_opts){ .rank = NULL }, j->in.team, &m, &reach);
	cli_reach_free(&reach);
	cli_measure_load(j->sh, t, loads, j->in.team, &m);
	if (j->net.t) {
		ftr_tables_diff(j->net.f, j->net.t, j->net.f, t, &diff);
		cli_measure_churn(&m, &diff);
	}
	cli_json_str(e, "name", name);
	cli_measure_json(e, &m);
}

static void put_engines(struct json_object *o, const struct facts *j)
{
	struct json_object *list = cli_json_array(o, "tables");
	struct cli_loads loads = { .all = true, .shifts = true };
	uint64_t *place = cli_host_guids(j->sh, true, &loads.n);
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	const struct ftr_engine_ops *ops;

	loads.place = place;
	ro.balance = FTR_BALANCE_LOAD;	/* as in the first routing of the plugin */
	if (j->net.t)
		put_tables(list, j, "in use", j->net.t, &loads);
	for (unsigned int i = 0; (ops = ftr_engine_at(i)); i++) {
		struct ftr_tables *t = NULL;

		cli_progress(ops->name);
		cli_must(ftr_tables_new(j->net.f, false, &t, &cli_err));
		cli_must(ops->route(j->sh, &ro, j->in.team, t, NULL, &cli_err));
		put_tables(list, j, ops->name, t, &loads);
		ftr_tables_free(t);
	}
	free(place);
}

/* ---- the command --------------------------------------------------------- */

static void save(const struct facts *j)
{
	if (j->save_fabric)
		cli_write_fabric(j->save_fabric, j->net.f);
	if (j->save_lfts && j->net.t)
		cli_write_tables(j->save_lfts, j->net.f, j->net.t);
	if (j->m)
		cli_write_sl2vl(j->save_sl2vl, j->net.f, j->m);
}

static void put_lids(struct json_object *o, const struct ftr_fabric *f)
{
	struct json_object *list = cli_json_array(o, "lids");

	cli_details_fabric(o, f, NULL, NULL);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (f->owner[lid].kind != FTR_OWNER_NONE)
			cli_json_lid(cli_json_element(list), f, (ftr_lid)lid);
}

static void put_all(struct json_object *o, struct facts *j)
{
	struct cli_shaping shaping;
	struct ftr_fabric *f = j->net.f;
	enum ftr_status st = cli_shaping(&j->in, f, true, &shaping, &cli_err);

	if (!st)
		st = ftr_shape_new(f, &shaping.opts, j->in.team, &j->sh, &cli_err);
	put_error(o, "ranks_error", st);
	cli_details_fabric(o, f, j->sh, NULL);
	if (j->sh) {
		cli_json_bool(o, "roots_given", j->sh->tree.roots_given);
		cli_json_num(o, "horizontal_links", j->sh->tree.n_horizontal);
		cli_json_num(o, "hosts_above", j->sh->tree.n_odd);
	}
	put_guids(o, "roots", j->in.roots, f);
	put_guids(o, "cn", j->in.cn, f);
	put_guids(o, "io", j->in.io, f);
	put_states(o, j);
	cli_json_put(o, "rails", cli_rails(f));
	cli_json_put(o, "host_ports", cli_host_ports(f, j->net.t));
	if (j->net.t)
		put_check(o, j);
	if (j->engines && j->sh)
		put_engines(o, j);
	ftr_shape_free(j->sh);
	cli_shaping_free(&shaping);
}

static int run_facts(int argc, char **argv)
{
	static struct facts j;
	int n = cli_parse(&cli_facts, &j, argc, argv);
	struct json_object *o = cli_json_new("facts");
	enum ftr_status st = FTR_OK;
	double t0 = cli_now();

	j.in.team = ftr_team_new(j.in.threads);
	cli_progress("reading the fabric");
	if (n) {
		j.net.f = cli_read_fabric(&j.in, argv[0]);
		if (j.lfts)
			j.net.t = cli_read_lfts(j.lfts, j.net.f, j.lids ? NULL : &j.net.missing);
	} else if (j.lids) {
		cli_must(j.save_sl2vl ? cli_sl2vl_live(&j.in, &j.m, &j.net, &cli_err) :
			 cli_live_read(&j.in, &j.net, &cli_err));
	} else {
		st = cli_facts_live(&j.in, o, &j.net, &cli_err);
	}
	put_error(o, "error", st);
	cli_json_real(o, "seconds", cli_now() - t0);
	cli_json_num(o, "without_table", j.net.missing);
	if (j.net.f)
		save(&j);
	if (j.lids)
		put_lids(o, j.net.f);
	else if (j.net.f)
		put_all(o, &j);
	cli_progress_end();
	ftr_sl2vl_free(j.m);
	ftr_tables_free(j.net.t);
	ftr_fabric_free(j.net.f);
	ftr_team_free(j.in.team);
	return cli_json_end(o, CLI_CLEAN);
}

const struct cli_cmd cli_facts = {
	.name = "facts",
	.args = "[FABRIC]",
	.text = "Prints the JSON from which ibfattree-doctor makes its report.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_facts,
};
