// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Results of ibfattree load as JSON: the figures of the text output, and the sums
 * from which the means are computed.
 */
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/load.h"

static void put_bins(struct json_object *o, const char *key,
		     const struct ftr_load_bins *b)
{
	struct json_object *list = cli_json_array(o, key), *e;

	for (uint32_t i = 0; i < b->n; i++) {
		if (!b->count[i])
			continue;
		e = cli_json_element(list);
		cli_json_num(e, "from", i * b->width);
		cli_json_num(e, "to", (i + 1) * b->width - 1);
		cli_json_num(e, "count", b->count[i]);
	}
}

static void put_links(struct json_object *o, const struct ftr_fabric *f,
		      const struct ftr_load_report *r, uint32_t n)
{
	struct json_object *list = cli_json_array(o, "worst_links"), *e;

	for (uint32_t i = 0; i < r->n_links && i < n; i++) {
		e = cli_json_element(list);
		cli_json_num(e, "load", r->link[i].load);
		cli_json_link(e, f, r->link[i].sw, r->link[i].port);
	}
}

static void put_result(struct json_object *list, const struct cli_load_opts *l,
		       const struct cli_load_input *in,
		       const struct cli_load_result *x, bool all_to_all)
{
	const struct ftr_load_report *r = &x->r;
	struct json_object *o = cli_json_element(list), *w;

	cli_json_str(o, "pattern", x->name);
	cli_json_num(o, "patterns", r->patterns);
	cli_json_num(o, "flows", r->flows);
	cli_json_num(o, "lost", r->lost);
	cli_json_num(o, "max", r->max);
	cli_json_num(o, "min_max", r->min_max);
	cli_json_real(o, "mean_max", cli_mean(r->sum_max, r->patterns));
	cli_json_real(o, "mean_used_link", cli_mean(r->sum_load, r->sum_used));
	if (all_to_all && in->bound > 0) {
		cli_json_real(o, "bound", in->bound);
		cli_json_str(o, "bound_by", in->by_cuts ? "cuts" : "weights");
	}
	put_bins(o, "maxima", &r->maxima);
	cli_json_real(o, "seconds", x->seconds);
	w = cli_json_object(o, "worst");
	cli_json_num(w, "number", r->worst);
	cli_json_num(w, "links", r->links);
	cli_json_num(w, "used_links", r->used);
	cli_json_num(w, "sum", r->load);
	cli_json_num(w, "host_max", r->host_max);
	put_bins(w, "loads", &r->loads);
	put_links(w, in->f, r, l->worst);
}

int cli_load_json(const struct cli_load_opts *l, const struct cli_load_input *in,
		  const char *tables, const struct cli_load_result *x,
		  int status)
{
	struct json_object *o = cli_json_new("load"), *list;

	cli_json_str(o, "tables", tables);
	cli_json_fabric(o, in->f, NULL);
	cli_json_num(o, "switches_without_table", in->missing);
	cli_json_str(o, "order", l->order);
	cli_json_num(o, "places", in->n);
	cli_json_num(o, "gaps", in->gaps);
	cli_json_str(o, "patterns_file", l->patterns);
	cli_json_num(o, "seed", l->seed);
	list = cli_json_array(o, "results");
	for (int i = 0; i < CLI_LOAD_KINDS; i++)
		if (x[i].done)
			put_result(list, l, in, &x[i], !i);
	return cli_json_end(o, status);
}
