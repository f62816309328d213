// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures one set of tables on one fabric, for whatif and doctor.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/whatif.h"

void cli_measure(const struct ftr_shape *sh, const struct ftr_tables *t,
		 const struct ftr_check_opts *how, struct ftr_team *team,
		 struct cli_measure *out, struct cli_reach *reach)
{
	const struct ftr_fabric *f = sh->f;
	const struct ftr_check_opts opts = {
		.rank = sh->tree.rank, .sl2vl = how->sl2vl, .list_lost = true, .base = how->base,
	};
	const struct cli_report_opts none = { .strict = false };
	struct ftr_check_report r;

	cli_must(ftr_check_tables(f, t, &opts, team, &r, &cli_err));
	cli_judge(f, sh, &r, &none, reach);
	if (out->details)
		cli_json_put(out->details, "check", cli_report_json(f, sh, &r, &none, reach));
	for (int i = 0; i < CLI_N_METRICS; i++)
		out->v[i] = NAN;
	out->bad = reach->found;
	out->v[CLI_M_SWITCHES] = f->n_sw;
	out->v[CLI_M_END_PORTS] = f->n_ep;
	out->v[CLI_M_LINKS] = f->n_sw_links;
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++) {
		out->v[CLI_M_PAIRS + c] = (double)r.pairs[c];
		out->v[CLI_M_LOST + c] = (double)r.bad[c];
	}
	out->v[CLI_M_CUT] = (double)reach->cut[FTR_CHECK_HOST_HOST];
	out->v[CLI_M_NO_PATH] = (double)(reach->cut[FTR_CHECK_HOST_HOST] +
					 reach->no_updown[FTR_CHECK_HOST_HOST]);
	for (int i = 0; i < FTR_N_FINDINGS; i++)
		out->v[CLI_M_FOUND + i] = (double)r.found[i];
	out->v[CLI_M_CYCLE] = r.cycle_len;
	out->v[CLI_M_HOPS] = r.max_hops;
	if (r.load_max)
		out->v[CLI_M_ALL_MAX] = (double)r.load_max;
}

struct ftr_order cli_hosts_at(const struct ftr_fabric *f, const uint64_t *guid, uint32_t n)
{
	ftr_ep *ep = cli_calloc(n, sizeof(*ep), "loads");

	for (uint32_t i = 0; i < n; i++)
		ep[i] = guid[i] ? ftr_fabric_find_ep(f, guid[i]) : FTR_EP_NONE;
	return (struct ftr_order){ ep, n };
}

/* Counts the flows of the pairs of --patterns.  A flow from or to a host port that the fabric has
 * not is lost. */
static void measure_given(const struct ftr_load *ld, struct ftr_order ends,
			  struct ftr_load_report *r, struct cli_measure *out)
{
	struct ftr_transfer *pair = cli_calloc(ends.n / 2, sizeof(*pair), "loads");
	uint32_t n = 0;

	for (uint32_t i = 0; i < ends.n; i += 2) {
		pair[n] = (struct ftr_transfer){ .from = ends.ep[i], .to = ends.ep[i + 1] };
		n += ends.ep[i] != FTR_EP_NONE && ends.ep[i + 1] != FTR_EP_NONE;
	}
	cli_must(ftr_load_pairs(ld, pair, n, NULL, r, &cli_err));
	out->v[CLI_M_GIVEN_MAX] = (double)r->max;
	out->v[CLI_M_GIVEN_LOST] = (double)(r->lost + ends.n / 2 - n);
	free(pair);
}

void cli_measure_load(const struct ftr_shape *sh, const struct ftr_tables *t,
		      const struct cli_loads *what, struct ftr_team *team, struct cli_measure *out)
{
	const struct ftr_fabric *f = sh->f;
	struct ftr_order order = cli_hosts_at(f, what->place, what->n);
	struct ftr_order ends = cli_hosts_at(f, what->ends, what->n_ends);
	struct ftr_load_report *r = cli_calloc(1, sizeof(*r), "loads");
	uint64_t *by_port = out->details ? cli_calloc(f->n_ports, sizeof(*by_port), "loads") : NULL;
	struct ftr_load *ld = NULL;
	bool count = by_port || (what->all && isnan(out->v[CLI_M_ALL_MAX]));

	if (what->all)
		out->v[CLI_M_ALL_BOUND] = cli_bound(sh, order.ep, what->n);
	if (count || what->shifts || ends.n)
		cli_must(ftr_load_new(f, t, order, team, &ld, &cli_err));
	if (count) {
		ftr_load_all(ld, by_port, r);
		out->v[CLI_M_ALL_MAX] = (double)r->max;
		if (by_port)	/* not in the check by difference */
			out->v[CLI_M_ALL_LOST] = (double)r->lost;
	}
	r->patterns = 0;
	if (what->shifts)
		cli_must(ftr_load_shifts(ld, CLI_SHIFTS_MAX, 1, team, r, &cli_err));
	if (r->patterns) {
		out->v[CLI_M_SHIFT_MAX] = (double)r->max;
		out->v[CLI_M_SHIFT_WORST] = r->worst;
		out->v[CLI_M_SHIFT_MEAN] = cli_mean(r->sum_max, r->patterns);
	}
	if (ends.n)
		measure_given(ld, ends, r, out);
	if (by_port)
		cli_details(out->details, sh, order, ends, by_port);
	ftr_load_free(ld);
	free(by_port);
	free((ftr_ep *)(uintptr_t)order.ep);
	free((ftr_ep *)(uintptr_t)ends.ep);
	free(r);
}

void cli_measure_churn(struct cli_measure *out, const struct ftr_tables_diff *d)
{
	out->v[CLI_M_ENTRIES] = (double)d->entries;
	out->v[CLI_M_BLOCKS] = (double)d->blocks;
	out->v[CLI_M_CHANGED] = d->switches;
}
