// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The report of a check: the verdict, and its output as text and as JSON.
 *
 * Not every unreachable pair is a fault of the tables; reach.h defines three
 * kinds.  A pair of physically connected host ports must be reachable.
 * Any other pair must be reachable if it has an up/down path.
 */
#include <inttypes.h>

#include "cli/cli.h"
#include "cli/json.h"

static const struct {
	const char *name, *key;		/* names in text and in JSON */
} class[FTR_N_CHECK_CLASSES] = {
	{ "host port -> host port", "host_host" },
	{ "host port -> switch", "host_switch" },
	{ "switch -> host port", "switch_host" },
	{ "switch -> switch", "switch_switch" },
};

static const struct {
	const char *name, *text;
} finding[FTR_N_FINDINGS] = {
	{ "missing entry", "the entry is missing" },
	{ "dead ports", "the entry names a port without a link" },
	{ "wrong ends", "the entry delivers to a port that does not own the LID" },
	{ "loops", "the path loops" },
	{ "turns", "the entry leads up after a downward hop" },
};

static const char *const finding_key[FTR_N_FINDINGS] = {
	"holes", "dead_ports", "wrong_ends", "loops", "turns",
};

static const char *const cdg_key[] = {
	[FTR_CDG_PROVED] = "proved", [FTR_CDG_ACYCLIC] = "acyclic", [FTR_CDG_CYCLE] = "cycle",
};

void cli_judge(const struct ftr_fabric *f, const struct ftr_shape *sh, struct ftr_check_report *r,
	       const struct cli_report_opts *o, struct cli_reach *v)
{
	cli_reach(f, sh, r->lost, v);
	free(r->lost);
	r->lost = NULL;
	v->found = o->missing || o->silent || r->harmful || r->vl_drops ||
		   r->cdg == FTR_CDG_CYCLE;
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++) {
		v->class_bad[c] = cli_reach_due(v, c) ||
				  (o->strict && r->bad[c]);
		v->found |= v->class_bad[c];
	}
}

/* ---- text -------------------------------------------------------------- */

static void put_fabric(const struct ftr_fabric *f, const struct ftr_shape *sh,
		       const struct cli_report_opts *o)
{
	printf("fabric        %s, %s, %s between switches\n", CLI_SWITCHES(f->n_sw),
	       CLI_HOST_PORTS(f->n_ep), CLI_LINKS(f->n_sw_links));
	if (sh)
		printf("ranks         %u, %s\n", sh->tree.n_ranks,
		       CLI_COUNT(sh->tree.n_leaf, "leaf switch", "leaf switches"));
	printf("tables        %s\n", o->source);
	if (o->sl2vl || o->psl)
		printf("VLs           SL2VL: %s; path SLs: %s\n",
		       o->sl2vl ? o->sl2vl : "-", o->psl ? o->psl : "-");
}

/* Prints one line for the class, and one for each cause of unreachable pairs. */
static void put_class(const struct ftr_check_report *r, int cls, const struct cli_reach *v)
{
	const struct {
		uint64_t pairs;
		const char *why;
	} reason[] = {
		{ v->missed[cls], v->ranked ?
		  "although an up/down path exists" :
		  "although physically connected" },
		{ v->no_updown[cls], cls == FTR_CHECK_HOST_HOST ?
		  "although physically connected (no up/down path)" :
		  "because no up/down path exists" },
		{ v->cut[cls], "because no physical path exists" },
	};

	printf("%-13s %-22s %18s, ", cls ? "" : "paths", class[cls].name, CLI_PAIRS(r->pairs[cls]));
	if (!r->bad[cls]) {
		printf("all arrive\n");
		return;
	}
	printf("%s%s%s\n", cli_colour(v->class_bad[cls] ? CLI_WRONG : CLI_DOUBT),
	       CLI_COUNT(r->bad[cls], "does not arrive", "do not arrive"), cli_colour(CLI_PLAIN));
	for (size_t i = 0; i < 3; i++)
		if (reason[i].pairs)
			printf("%-43s %12s %s\n", "", CLI_NUM(reason[i].pairs), reason[i].why);
}

static void put_findings(const struct ftr_fabric *f, const struct ftr_check_report *r)
{
	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		const struct ftr_check_sample *s = &r->sample[i];

		if (!r->found[i]) {
			printf("%-13s none\n", finding[i].name);
			continue;
		}
		printf("%-13s %s%s%s; the first: from %s to %s: at %s %s\n", finding[i].name,
		       cli_colour(i == FTR_FIND_MISSING || i == FTR_FIND_TURN ?
				  CLI_DOUBT : CLI_WRONG),
		       CLI_NUM(r->found[i]), cli_colour(CLI_PLAIN), CLI_SW(f, s->from),
		       CLI_LID(f, s->lid), CLI_SW(f, s->at), finding[i].text);
	}
}

static void put_cycle(const struct ftr_fabric *f, const struct ftr_check_report *r)
{
	uint32_t n = r->cycle_len < FTR_CYCLE_MAX ? r->cycle_len : FTR_CYCLE_MAX;
	char link[CLI_LINK_MAX], vl[16] = "";

	printf("credit loops  %sFOUND%s: %u links, each waits for the next:\n",
	       cli_colour(CLI_WRONG), cli_colour(CLI_PLAIN), r->cycle_len);
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_channel *c = &r->cycle[i];

		if (r->n_vls)
			snprintf(vl, sizeof(vl), " on VL %u", c->vl);
		printf("              %s%s\n", cli_link_name(link, f, c->sw, c->port), vl);
	}
	if (n < r->cycle_len)
		printf("              ... and %u more\n", r->cycle_len - n);
}

static void put_cdg(const struct ftr_fabric *f,
		    const struct ftr_check_report *r, bool switch_sources)
{
	const char *who = switch_sources ? "host ports and switches" :
			  "host ports";

	if (r->cdg == FTR_CDG_CYCLE)
		put_cycle(f, r);
	else
		printf("credit loops  none among packets of %s: %s\n", who,
		       r->cdg == FTR_CDG_PROVED ? "all paths go up by rank, then down" :
		       "the dependency graph has no cycle");
}

/* Prints what is assumed for SL2VL tables and path SLs that are not given. */
static void put_vls(const struct cli_report_opts *o, const struct ftr_check_report *r)
{
	if (!o->sl2vl && !o->psl)
		return;
	if (!o->sl2vl)
		printf("              SL2VL tables not given (--sl2vl): each SL is assumed to use the VL of the same number\n");
	if (!o->psl)
		printf("              path SLs not given (--psl): assumed to be 0\n");
	if (o->no_sl2vl)
		printf("              %s not in --sl2vl: assumed to map each SL to the VL of the same number\n",
		       CLI_SWITCHES(o->no_sl2vl));
	if (r->no_sl)
		printf("              %s not in --psl: assumed to use SL 0\n",
		       CLI_COUNT(r->no_sl, "path", "paths"));
}

static void put_not_checked(const struct cli_report_opts *o, const struct ftr_check_report *r,
			    const struct ftr_shape *sh)
{
	printf("not checked   multicast%s%s\n", o->sl2vl || o->psl ? "" :
	       ", VLs (all traffic is assumed to share one)", o->switch_sources ? "" :
	       ", credit loops caused by packets that switches send (--switch-sources)");
	if (!sh)
		printf("              turns and up/down paths, because the fabric has no ranks\n");
	put_vls(o, r);
	if (o->missing)
		printf("              %s as missing\n",
		       CLI_COUNT(o->missing, "switch without a table: all its entries count",
				 "switches without a table: all their entries count"));
	if (o->silent)
		printf("              nodes behind %s whose far end does not answer\n",
		       CLI_LINKS(o->silent));
}

/* Prints the number of cases (switch, input port, SL, LID) that the SL2VL tables map to VL 15.
 * Such packets are dropped. */
static void put_drops(const struct ftr_fabric *f, const struct ftr_check_report *r)
{
	if (r->vl_drops)
		printf("VL 15         %s%s%s; the first: at %s to %s\n", cli_colour(CLI_WRONG),
		       CLI_COUNT(r->vl_drops, "mapping drops packets", "mappings drop packets"),
		       cli_colour(CLI_PLAIN), CLI_SW(f, r->vl_drop.at), CLI_LID(f, r->vl_drop.lid));
}

/* Prints, for each path length (counted in links between switches), the number of pairs of host
 * ports. */
static void put_hops(const uint64_t *hops)
{
	const char *head = "hops";

	for (unsigned int h = 0; h < FTR_HOPS_MAX; h++) {
		if (!hops[h])
			continue;
		printf("%-13s %2u%-20s %18s of host ports\n", head, h,
		       h == FTR_HOPS_MAX - 1 ? " or more" : "", CLI_PAIRS(hops[h]));
		head = "";
	}
}

static void put_ports(const char *title, struct json_object *r)
{
	struct json_object *details = json_object_object_get(r, "details");
	size_t n = json_object_array_length(details);
	uint64_t count = json_object_get_uint64(json_object_object_get(r, "count"));

	printf("%-13s %s%s%s\n", title, cli_colour(count ? CLI_DOUBT : CLI_GOOD),
	       json_object_get_string(json_object_object_get(r, "text")), cli_colour(CLI_PLAIN));
	for (size_t i = 0; i < n; i++)
		printf("%14s%s\n", "", json_object_get_string(json_object_array_get_idx(details, i)));
	if (count > n)
		printf("%14s... and %" PRIu64 " more\n", "", count - n);
	json_object_put(r);
}

static void put_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
		       const struct ftr_check_report *r, const struct cli_report_opts *o,
		       const struct cli_reach *v)
{
	put_fabric(f, sh, o);
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++)
		put_class(r, c, v);
	printf("longest path  %s between switches\n", CLI_LINKS(r->max_hops));
	put_hops(o->hops);
	cli_reach_text(f, v, o->list);
	put_findings(f, r);
	put_cdg(f, r, o->switch_sources);
	put_drops(f, r);
	if (o->rails) {
		put_ports("rails", o->rails);
		put_ports("host ports", o->host_ports);
	}
	put_not_checked(o, r, sh);
	printf("verdict       %s%s%s\n", cli_colour(v->found ? CLI_WRONG : CLI_GOOD),
	       v->found ? "FINDINGS" : "clean", cli_colour(CLI_PLAIN));
}

/* ---- JSON -------------------------------------------------------------- */

static void json_classes(struct json_object *o, const struct ftr_check_report *r,
			 const struct cli_reach *v)
{
	struct json_object *all = cli_json_object(o, "paths"), *c;

	for (int i = 0; i < FTR_N_CHECK_CLASSES; i++) {
		c = cli_json_object(all, class[i].key);
		cli_json_num(c, "pairs", r->pairs[i]);
		cli_json_num(c, "not_arriving", r->bad[i]);
		cli_json_num(c, "no_physical_path", v->cut[i]);
		if (v->ranked)
			cli_json_num(c, "no_updown_path", v->cut[i] + v->no_updown[i]);
		else
			cli_json_str(c, "no_updown_path", NULL);
		cli_json_bool(c, "finding", v->class_bad[i]);
	}
}

static void json_hops(struct json_object *o, const uint64_t *hops)
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

static void json_findings(struct json_object *o, const struct ftr_fabric *f,
			 const struct ftr_check_report *r)
{
	struct json_object *all = cli_json_object(o, "findings"), *one, *to;

	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		const struct ftr_check_sample *s = &r->sample[i];

		one = cli_json_object(all, finding_key[i]);
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

static void json_cdg(struct json_object *o, const struct ftr_fabric *f,
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

struct json_object *cli_report_json(const struct ftr_fabric *f, const struct ftr_shape *sh,
				    const struct ftr_check_report *r,
				    const struct cli_report_opts *opts, const struct cli_reach *v)
{
	struct json_object *o = cli_json_new("check"), *n;

	cli_json_str(o, "tables", opts->source);
	cli_json_str(o, "sl2vl", opts->sl2vl);
	cli_json_str(o, "psl", opts->psl);
	cli_json_fabric(o, f, sh);
	json_classes(o, r, v);
	cli_json_num(o, "longest_path", r->max_hops);
	json_hops(o, opts->hops);
	cli_reach_json(o, f, v, opts->list);
	json_findings(o, f, r);
	json_cdg(o, f, r, opts->switch_sources);
	n = cli_json_object(o, "vl_drops");
	cli_json_num(n, "count", r->vl_drops);
	if (r->vl_drops) {
		cli_json_switch(n, "at", f, r->vl_drop.at);
		cli_json_lid(cli_json_object(n, "to"), f, r->vl_drop.lid);
	}
	if (opts->rails) {
		cli_json_put(o, "rails", opts->rails);
		cli_json_put(o, "host_ports", opts->host_ports);
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
	return o;
}

int cli_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
	       const struct ftr_check_report *r,
	       const struct cli_report_opts *o, const struct cli_reach *v)
{
	int status = v->found ? CLI_FINDINGS : CLI_CLEAN;

	if (o->json)
		return cli_json_end(cli_report_json(f, sh, r, o, v), status);
	put_report(f, sh, r, o, v);
	return status;
}
