// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The report of a check as JSON: the same facts as the text output.
 */
#include "cli/cli.h"
#include "cli/json.h"

const char *const cli_finding_key[FTR_N_FINDINGS] = {
	"holes", "dead_ports", "wrong_ends", "loops", "turns",
};

static const char *const class_key[FTR_N_CHECK_CLASSES] = {
	"host_host", "host_switch", "switch_host", "switch_switch",
};

static const char *const cdg_key[] = {
	[FTR_CDG_NOT_CHECKED] = "not checked", [FTR_CDG_PROVED] = "proved",
	[FTR_CDG_ACYCLIC] = "acyclic", [FTR_CDG_CYCLE] = "cycle",
};

static void put_classes(struct json_object *o,
			const struct ftr_check_report *r,
			const struct cli_verdict *v)
{
	struct json_object *all = cli_json_object(o, "paths"), *c;

	for (int i = 0; i < FTR_N_CHECK_CLASSES; i++) {
		c = cli_json_object(all, class_key[i]);
		cli_json_num(c, "pairs", r->pairs[i]);
		cli_json_num(c, "not_arriving", r->bad[i]);
		cli_json_num(c, "no_physical_path", v->reach.cut[i]);
		if (v->reach.ranked)
			cli_json_num(c, "no_updown_path",
				     v->reach.cut[i] + v->reach.no_updown[i]);
		else
			cli_json_str(c, "no_updown_path", NULL);
		cli_json_bool(c, "finding", v->class_bad[i]);
	}
}

/* one element per hop count, up to the longest path */
static void put_hops(struct json_object *o, const uint64_t *hops)
{
	struct json_object *list = cli_json_array(o, "hops"), *e;

	for (unsigned int h = 0; hops && h < FTR_HOPS_MAX; h++) {
		if (!hops[h])
			continue;
		e = cli_json_element(list);
		cli_json_num(e, "cables", h);
		cli_json_num(e, "pairs", hops[h]);
	}
}

static void put_findings(struct json_object *o, const struct ftr_fabric *f,
			 const struct ftr_check_report *r)
{
	struct json_object *all = cli_json_object(o, "findings"), *one, *to;

	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		const struct ftr_check_sample *s = &r->sample[i];

		one = cli_json_object(all, cli_finding_key[i]);
		cli_json_num(one, "count", r->found[i]);
		if (!r->found[i])
			continue;
		one = cli_json_object(one, "first");
		cli_json_switch(one, "from", f, s->from);
		to = cli_json_object(one, "to");
		cli_json_lid(to, f, s->lid);
		cli_json_switch(one, "at", f, s->at);
	}
}

static void put_cdg(struct json_object *o, const struct ftr_fabric *f,
		    const struct ftr_check_report *r, bool switch_sources)
{
	struct json_object *c = cli_json_object(o, "credit_loops"), *list, *e;

	cli_json_str(c, "verdict", cdg_key[r->cdg]);
	cli_json_bool(c, "switch_sources", switch_sources);
	if (r->cdg != FTR_CDG_CYCLE)
		return;
	cli_json_num(c, "length", r->cycle_len);
	list = cli_json_array(c, "cycle");
	for (uint32_t i = 0; i < r->cycle_len && i < FTR_CYCLE_MAX; i++) {
		e = cli_json_element(list);
		cli_json_link(e, f, r->cycle[i].sw, r->cycle[i].port);
		if (r->n_vls)
			cli_json_num(e, "vl", r->cycle[i].vl);
	}
}

int cli_report_json(const struct ftr_fabric *f, const struct ftr_shape *sh,
		    const struct ftr_check_report *r,
		    const struct cli_report_opts *opts,
		    const struct cli_verdict *v)
{
	struct json_object *o = cli_json_new("check"), *n;

	cli_json_str(o, "tables", opts->source);
	cli_json_str(o, "sl2vl", opts->sl2vl);
	cli_json_str(o, "psl", opts->psl);
	cli_json_fabric(o, f, sh);
	put_classes(o, r, v);
	cli_json_num(o, "longest_path", r->max_hops);
	put_hops(o, opts->hops);
	cli_reach_json(o, f, &v->reach, opts->list);
	put_findings(o, f, r);
	put_cdg(o, f, r, opts->switch_sources);
	n = cli_json_object(o, "vl_drops");
	cli_json_num(n, "count", r->vl_drops);
	if (r->vl_drops) {
		cli_json_switch(n, "at", f, r->vl_drop.at);
		cli_json_lid(cli_json_object(n, "to"), f, r->vl_drop.lid);
	}
	n = cli_json_object(o, "not_checked");
	cli_json_bool(n, "multicast", true);
	cli_json_bool(n, "virtual_lanes", !opts->sl2vl && !opts->psl);
	cli_json_num(n, "switches_without_sl2vl", opts->no_sl2vl);
	cli_json_num(n, "paths_without_sl", r->no_sl);
	cli_json_bool(n, "switch_sources", !opts->switch_sources);
	cli_json_bool(n, "ranks", !sh);
	cli_json_num(n, "switches_without_table", opts->missing);
	cli_json_num(n, "silent_links", opts->silent);
	return cli_json_end(o, v->found ? CLI_FINDINGS : CLI_CLEAN);
}
