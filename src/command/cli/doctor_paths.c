// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: forwarding tables in use, and those that each engine would compute.
 *
 * Ranks are computed once, from the GUID files that the options or opensm.conf name, and from the
 * nominal fabric of --nominal.  The tables are checked once.  All checks in this file use these
 * results.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/doctor.h"

/* Check "balance" warns if (load of the tables in use) / (load of the best engine's tables) exceeds
 * this number.  Load: the flows on the most loaded link, as the mean over all shifts. */
#define BALANCE_TOLERANCE 1.1

/* ---- computed once ----------------------------------------------------- */

static void make_shape(struct doctor *d)
{
	struct ftr_err *err = &d->shape_err;
	enum ftr_status st;

	if (d->sh || err->status)
		return;
	st = cli_shaping(&d->o.in, d->net.f, true, &d->shaping, err);
	if (!st)
		st = ftr_shape_new(d->net.f, &d->shaping.opts, d->o.in.team, &d->sh, err);
	err->status = st;
}

static bool need_shape(struct doctor *d, struct doc_result *r)
{
	make_shape(d);
	if (!d->sh)
		doc_say(r, DOC_NOT_CHECKED, "the fabric has no ranks: %s", d->shape_err.msg);
	return d->sh != NULL;
}

static bool need_report(struct doctor *d, struct doc_result *r)
{
	const struct cli_report_opts none = { .strict = false };
	struct ftr_check_opts opts = { .list_lost = true };
	struct ftr_check_report *report;
	struct ftr_err err = { 0 };

	if (d->report)
		return true;
	make_shape(d);
	opts.rank = d->sh ? d->sh->tree.rank : NULL;
	report = cli_calloc(1, sizeof(*report), "a report");
	if (ftr_check_tables(d->net.f, d->net.t, &opts, d->o.in.team, report, &err)) {
		doc_say(r, DOC_NOT_CHECKED, "the tables cannot be checked: %s", err.msg);
		free(report);
		return false;
	}
	cli_judge(d->net.f, d->sh, report, &none, &d->judged);
	d->report = report;
	return true;
}

void doc_free_paths(struct doctor *d)
{
	free(d->report);
	cli_reach_free(&d->judged.reach);
	ftr_shape_free(d->sh);
	cli_shaping_free(&d->shaping);
}

/* ---- files of this fabric ---------------------------------------------- */

/* Adds a detail if the file cannot be read, has no GUIDs, or has GUIDs that are not in the
 * fabric. */
static void one_file(const struct doctor *d, struct doc_result *r,
		     const char *what, const char *path, bool switches)
{
	const struct ftr_fabric *f = d->net.f;
	struct ftr_err err = { 0 };
	uint32_t n = 0, unknown = 0;
	uint64_t *guid = NULL, first = 0;

	if (!path)
		return;
	if (ftr_read_guids(path, &guid, &n, &err)) {
		doc_detail(r, "%s: %s", what, err.msg);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool here = switches ?
			ftr_fabric_find_sw(f, guid[i]) != FTR_SW_NONE :
			ftr_fabric_find_ep(f, guid[i]) != FTR_EP_NONE;

		if (!here && !unknown++)
			first = guid[i];
	}
	free(guid);
	if (unknown || !n)
		doc_detail(r, "%s %s: GUIDs without a %s in this fabric: %u of %u; the first: 0x%016"
			   PRIx64, what, path, switches ? "switch" : "port", unknown, n, first);
}

/* Returns true if the state file of the plugin belongs to this fabric.  If not, *why gets the
 * reason. */
static bool is_state_of(const struct doctor *d, const char *path, struct ftr_err *why)
{
	struct ftr_nominal_change c = { .other = false };
	struct ftr_nominal *n = NULL;
	enum ftr_status st = ftr_nominal_read(path, &d->shaping.opts, &n, why);

	if (!st)
		st = ftr_nominal_compare(n, d->net.f, &c, why);
	if (!st && c.other)
		st = ftr_fail(why, FTR_INVAL, "%s: %u of its %u switches and %u of its %u host ports are in this fabric",
			      path, c.same_sw, c.old_sw, c.same_hosts, c.old_hosts);
	ftr_nominal_free(n);
	return !st;
}

/*
 * Examines the plugin's state files: the file of --nominal, or all files ibfattree-state-* in
 * OpenSM's cache directory on this node.  Adds a detail if none of these files belongs to this
 * fabric.  (A node can run subnet managers of several fabrics.)  Returns the number of state files.
 */
static unsigned int state_files(const struct doctor *d, struct doc_result *r)
{
	const char *dir = getenv("OSM_CACHE_DIR");
	struct ftr_err why = { 0 };
	char *pattern = NULL;
	glob_t found = { 0 };
	bool ours = false;
	size_t n = 0;

	if (d->o.in.nominal) {
		if (!ftr_state_is_file(d->o.in.nominal))
			return 0;
		if (!is_state_of(d, d->o.in.nominal, &why))
			doc_detail(r, "state file %s", why.msg);
		return 1;
	}
	if (d->fabric || asprintf(&pattern, "%s/ibfattree-state-*", dir && *dir ?
				  dir : "/var/cache/opensm") < 0)
		return 0;
	if (!glob(pattern, 0, NULL, &found))
		n = found.gl_pathc;
	for (size_t i = 0; i < n && !ours; i++)
		ours = is_state_of(d, found.gl_pathv[i], &why);
	if (n && !ours)
		doc_detail(r, "state file %s", why.msg);
	globfree(&found);
	free(pattern);
	return (unsigned int)n;
}

void doc_files(struct doctor *d, struct doc_result *r)
{
	const struct cli_in *g = &d->o.in;

	if (!state_files(d, r) && !g->roots && !g->cn && !g->io) {
		doc_say(r, DOC_NOT_CHECKED, "no GUID file (root, cn or io) and no state file of the plugin is in use");
		return;
	}
	one_file(d, r, "root_guid_file", g->roots, true);
	one_file(d, r, "cn_guid_file", g->cn, false);
	one_file(d, r, "io_guid_file", g->io, false);
	if (doc_clean(r, "the GUID files and the state file of the plugin are those of this fabric"))
		return;
	doc_say(r, DOC_WARNING, "%u file%s not match this fabric",
		r->n_details, r->n_details == 1 ? " does" : "s do");
	doc_remedy(r, "correct the GUID files (cn and io files contain port GUIDs, root files contain node GUIDs); remove state files of other fabrics (the plugin writes a new one)");
}

void doc_ranks(struct doctor *d, struct doc_result *r)
{
	const struct ftr_shape *sh;

	make_shape(d);
	sh = d->sh;
	if (!sh) {
		doc_say(r, DOC_FAILURE, "%s", d->shape_err.msg);
		doc_remedy(r, "list the root switches in a root_guid_file that matches this fabric");
		return;
	}
	doc_say(r, DOC_OK, "%s (%s), %s, %s, %s, %s, %s on upper switches",
		CLI_COUNT(sh->tree.n_ranks, "rank", "ranks"),
		sh->tree.roots_given ? "from root_guid_file" : "inferred",
		CLI_COUNT(sh->tree.n_leaf, "leaf switch", "leaf switches"),
		CLI_COUNT(sh->tree.n_planes, "plane", "planes"),
		CLI_COUNT(sh->tree.n_pods, "pod", "pods"),
		CLI_COUNT(sh->tree.n_horizontal, "horizontal link", "horizontal links"),
		CLI_COUNT(sh->tree.n_odd, "host", "hosts"));
	if (sh->tree.n_leaf == d->net.f->n_sw && d->net.f->n_sw > 2) {
		r->verdict = DOC_WARNING;
		doc_remedy(r, "all switches have hosts, so the fabric is a ring, a mesh or a torus rather than a fat-tree: compare the load of the engines' tables (check \"balance\") with the load of tables from dfsssp or nue");
		return;
	}
	if (sh->tree.n_horizontal * 10 <= d->net.f->n_sw_links)
		return;
	r->verdict = DOC_WARNING;
	doc_remedy(r, "more than a tenth of the links connect switches of the same rank, and dmodc does not use them: list the root switches in root_guid_file, or use sftree");
}

/* ---- missing links ----------------------------------------------------- */

static void absent_links(const struct doctor *d, struct doc_result *r)
{
	const struct ftr_shape *sh = d->sh;

	for (uint32_t i = 0; i < sh->missing.n_absent; i++) {
		const struct ftr_link *c = &sh->missing.absent[i];

		doc_at(r, sh->f->sw[c->sw].guid, 0, "%s port %u - %s port %u", CLI_SW(sh->f, c->sw),
		       c->port, CLI_SW(sh->f, c->peer), c->peer_port);
	}
}

/* Lists the switches that have fewer upward neighbours than the shape infers for them (n_slots).
 * Returns the number of missing neighbours. */
static uint32_t free_slots(const struct doctor *d, struct doc_result *r)
{
	const struct ftr_shape *sh = d->sh;
	uint32_t n = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		uint32_t lacks = sh->numbering.n_slots[s] > sh->tree.n_up[s] ?
				 sh->numbering.n_slots[s] - sh->tree.n_up[s] : 0;

		if (!lacks)
			continue;
		n += lacks;
		doc_at(r, sh->f->sw[s].guid, 0, "%s: %u of %u upward neighbours",
		       CLI_SW(sh->f, s), sh->tree.n_up[s], sh->numbering.n_slots[s]);
	}
	return n;
}

void doc_links_missing(struct doctor *d, struct doc_result *r)
{
	uint32_t n;

	if (!need_shape(d, r))
		return;
	if (d->o.in.nominal) {
		n = d->sh->missing.n_missing_links;
		absent_links(d, r);
		doc_say(r, n || d->sh->missing.n_missing_sw ? DOC_WARNING : DOC_OK,
			"missing parts of %s: %s between switches, %s, %s", d->o.in.nominal,
			CLI_LINKS(n), CLI_SWITCHES(d->sh->missing.n_missing_sw),
			CLI_HOST_PORTS(d->sh->missing.n_missing_hosts));
	} else {
		n = free_slots(d, r);
		if (n)
			doc_say(r, DOC_WARNING, "%u upward neighbour%s missing, compared with other switches of the same rank",
				n, n == 1 ? " is" : "s are");
		else
			doc_say(r, DOC_OK, "no switch has fewer upward neighbours than others of its rank");
	}
	if (r->verdict == DOC_WARNING)
		doc_remedy(r, "repair these links; if they were removed on purpose, recreate the state file (--nominal, docs/rollout.md)");
}

/* ---- paths ------------------------------------------------------------- */

void doc_sm_reach(struct doctor *d, struct doc_result *r)
{
	const struct doc_fabric *n = &d->net;
	uint32_t lids = 0;

	for (uint32_t i = 0; i < n->n_sm; i++) {
		ftr_lid lid = n->sm[i].lid;

		if (!lid || lid > n->f->max_lid)
			continue;
		lids++;
		for (ftr_sw s = 0; s < n->f->n_sw; s++) {
			if (ftr_tables_path(n->f, n->t, s, lid, NULL) != FTR_NO_PATH)
				continue;
			doc_at(r, n->f->sw[s].guid, 0,
			       "%s to the subnet manager \"%s\" (0x%016" PRIx64 "), lid %u",
			       CLI_SW(n->f, s), n->sm[i].name, n->sm[i].guid, lid);
		}
	}
	if (!lids) {
		doc_say(r, DOC_NOT_CHECKED, "no subnet manager with a LID is known");
	} else if (!r->n_details) {
		doc_say(r, DOC_OK, "every switch reaches %s", lids == 1 ?
			"the subnet manager" : "every subnet manager");
	} else {
		doc_say(r, DOC_FAILURE, "missing paths from switches to subnet managers: %u; traps of these switches are lost",
			r->n_details);
		doc_remedy(r, "make opensm reroute (kill -HUP), or use an engine of ibfattree: all of them connect every switch to every subnet manager");
	}
}

/* Lists each unreachable host port, with the number of host ports that do not reach it. */
static void name_hosts(const struct doctor *d, struct doc_result *r)
{
	const struct ftr_fabric *f = d->net.f;
	uint32_t *hosts = cli_calloc(f->n_sw, sizeof(*hosts), "%u switches", f->n_sw);

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			hosts[f->ep[e].sw]++;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		uint64_t lost = 0;

		for (ftr_sw s = 0; f->ep[e].lid && s < f->n_sw; s++)
			if (hosts[s] && ftr_tables_path(f, d->net.t, s, f->ep[e].lid, NULL) ==
			    FTR_NO_PATH)
				lost += hosts[s] - (f->ep[e].sw == s);
		if (!lost)
			continue;
		doc_at(r, f->ep[e].guid, 0, "%s is not reached by %" PRIu64 " host port%s",
		       CLI_LID(f, f->ep[e].lid), lost, lost == 1 ? "" : "s");
	}
	free(hosts);
}

void doc_pairs(struct doctor *d, struct doc_result *r)
{
	uint64_t bad, all;

	if (!need_report(d, r))
		return;
	bad = d->report->bad[FTR_CHECK_HOST_HOST];
	all = d->report->pairs[FTR_CHECK_HOST_HOST];
	if (!bad) {
		doc_say(r, DOC_OK, "all %s pairs of host ports have a path", CLI_NUM(all));
		return;
	}
	doc_say(r, d->judged.class_bad[FTR_CHECK_HOST_HOST] ? DOC_FAILURE :
		DOC_WARNING, "pairs of host ports without a path: %s of %s",
		CLI_NUM(bad), CLI_NUM(all));
	doc_remedy(r, "choose an engine: in the table below, the row \"unreachable pairs\" shows how many pairs each engine leaves without a path");
	name_hosts(d, r);
}

void doc_loops(struct doctor *d, struct doc_result *r)
{
	const struct ftr_check_sample *s;

	if (!need_report(d, r))
		return;
	if (!d->report->found[FTR_FIND_LOOP]) {
		doc_say(r, DOC_OK, "no forwarding loop");
		return;
	}
	s = &d->report->sample[FTR_FIND_LOOP];
	doc_say(r, DOC_FAILURE, "%s; the first: from %s to %s",
		CLI_COUNT(d->report->found[FTR_FIND_LOOP], "path loops", "paths loop"),
		CLI_SW(d->net.f, s->from), CLI_LID(d->net.f, s->lid));
	doc_remedy(r, "make opensm reroute (kill -HUP); if routing_engine is file, correct the lfts_file");
}

void doc_credit_loops(struct doctor *d, struct doc_result *r)
{
	const struct ftr_check_report *c;

	if (!need_report(d, r))
		return;
	c = d->report;
	if (c->cdg != FTR_CDG_CYCLE) {
		doc_say(r, DOC_OK, "no credit loop (checked as if all traffic used one VL)");
		return;
	}
	for (uint32_t i = 0; i < c->cycle_len && i < FTR_CYCLE_MAX; i++)
		doc_at(r, d->net.f->sw[c->cycle[i].sw].guid, c->cycle[i].port, "%s port %u",
		       CLI_SW(d->net.f, c->cycle[i].sw), c->cycle[i].port);
	doc_say(r, DOC_FAILURE, "the tables in use can deadlock: packets on %u links can wait for each other in a cycle, unless their paths use different VLs (to check this, run \"ibfattree check\" with --sl2vl and --psl)",
		c->cycle_len);
	doc_remedy(r, "use an engine without credit loops; see the table below");
}

/* ---- balance ----------------------------------------------------------- */

static void one_column(struct doctor *d, const char *name, const struct ftr_tables *t,
		       const struct cli_loads *loads)
{
	struct doc_column *c = &d->col[d->n_col];
	struct ftr_tables_diff diff;
	struct cli_reach reach;

	cli_measure(d->sh, t, &(struct ftr_check_opts){ .rank = NULL }, d->o.in.team, &c->m, &reach);
	cli_reach_free(&reach);
	cli_measure_load(d->sh, t, loads, d->o.in.team, &c->m);
	if (d->net.t) {
		ftr_tables_diff(d->net.f, d->net.t, d->net.f, t, &diff);
		cli_measure_churn(&c->m, &diff);
	}
	c->name = name;
	d->n_col++;
}

static void engine_column(struct doctor *d, const struct ftr_engine_ops *ops,
			  const struct cli_loads *loads)
{
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t = NULL;

	ro.balance = FTR_BALANCE_LOAD;	/* as in the first routing of the plugin */
	cli_must(ftr_tables_new(d->net.f, false, &t, &cli_err));
	cli_must(ops->route(d->sh, &ro, d->o.in.team, t, NULL, &cli_err));
	one_column(d, ops->name, t, loads);
	ftr_tables_free(t);
}

/* Returns the column of the engine to recommend.  An engine is better if it has fewer unreachable
 * pairs of host ports.  If these numbers are equal, it is better if its most loaded link has less
 * load (mean over the shifts; differences below 0.005 do not count).  Of equally good engines, the
 * first one is returned. */
static const struct doc_column *best_engine(const struct doctor *d)
{
	const struct doc_column *best = NULL;

	for (uint32_t i = d->net.t ? 1 : 0; i < d->n_col; i++) {
		const double *v = d->col[i].m.v, *b = best ? best->m.v : NULL;

		if (!b || v[CLI_M_LOST] < b[CLI_M_LOST] ||
		    (v[CLI_M_LOST] <= b[CLI_M_LOST] &&
		     v[CLI_M_SHIFT_MEAN] < b[CLI_M_SHIFT_MEAN] - 0.005))
			best = &d->col[i];
	}
	return best;
}

static void measure_all(struct doctor *d)
{
	struct cli_loads loads = { .all = true, .shifts = true };
	uint64_t *place = cli_host_guids(d->sh, true, &loads.n);
	const struct ftr_engine_ops *ops;

	loads.place = place;
	if (d->net.t)
		one_column(d, "in use", d->net.t, &loads);
	for (unsigned int i = 0; d->n_col < DOC_COLUMNS && (ops = ftr_engine_at(i)); i++) {
		cli_progress_step(i, 3);
		engine_column(d, ops, &loads);
	}
	free(place);
}

void doc_balance(struct doctor *d, struct doc_result *r)
{
	const struct doc_column *best;
	double now, then;

	if (!need_shape(d, r))
		return;
	measure_all(d);
	best = best_engine(d);
	d->best = best ? best->name : NULL;
	if (!best || !d->net.t) {
		doc_say(r, DOC_NOT_CHECKED, "the tables in use are not given (--lfts), so the engines cannot be compared with them");
		return;
	}
	now = d->col[0].m.v[CLI_M_SHIFT_MEAN];
	then = best->m.v[CLI_M_SHIFT_MEAN];
	if (isnan(now) || isnan(then)) {
		doc_say(r, DOC_NOT_CHECKED, "the fabric has fewer than two hosts");
		return;
	}
	doc_say(r, now > then * BALANCE_TOLERANCE ? DOC_WARNING : DOC_OK,
		"most loaded link, mean over shift permutations: %.2f flows with the tables in use, %.2f with %s",
		now, then, best->name);
	if (r->verdict == DOC_WARNING)
		doc_remedy(r, "use routing_engine %s; docs/rollout.md describes the steps",
			   best->name);
}
