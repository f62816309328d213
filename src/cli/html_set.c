// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One set of tables: findings of the checker, and the load of every link for each
 * traffic pattern.  Links are numbered as on the page (html_map.c).
 */
#include <stdlib.h>

#include "cli/html.h"
#include "cli/whatif.h"

static void check(struct html_set *s, struct ftr_team *team)
{
	const struct ftr_check_opts opts = { .rank = s->sh->tree.rank };

	cli_must(ftr_check_tables(s->f, s->t, &opts, team, &s->r, &cli_err));
	cli_must(cli_judge(s->f, s->sh, s->t, &s->r, &s->ro, &s->verdict, &cli_err));
	if (s->before)
		ftr_tables_diff(s->before_f, s->before, s->f, s->t, &s->diff);
}

/* Converts by_port, the load at each port, to the load of each directed link of the map. */
static void carry(const struct html_set *s, const struct html_map *m,
		  const uint64_t *by_port, struct html_load *l)
{
	for (ftr_sw w = 0; w < s->f->n_sw; w++)
		for (unsigned int p = 1; p <= s->f->sw[w].n_ports; p++) {
			uint64_t n = by_port[s->f->sw[w].first_port + p];
			uint32_t at = n ? html_map_link(m, s->f, w,
							(ftr_port)p) :
				      HTML_NONE;

			if (at == HTML_NONE)
				continue;
			l->load[at] = n;
			l->max = n > l->max ? n : l->max;
		}
	l->done = true;
}

struct load_run {
	struct html_set *s;
	const struct html_map *m;
	const struct html_traffic *tr;
	struct ftr_load *ld;
	uint64_t *by_port;	/* [s->f->n_ports] load of the link at each port, in flows */
	struct ftr_load_report *r;
};

/* Returns the host port of the fabric of w->s that has the GUID of host port e of the map. */
static ftr_ep here(const struct load_run *w, ftr_ep e)
{
	return e == FTR_EP_NONE ? FTR_EP_NONE : ftr_fabric_find_ep(w->s->f, w->m->f->ep[e].guid);
}

static void load_all(struct load_run *w)
{
	struct html_load *l = &w->s->load[HTML_ALL];

	ftr_load_all(w->ld, w->by_port, w->r);
	l->flows = w->r->flows;
	l->lost = w->r->lost;
	carry(w->s, w->m, w->by_port, l);
}

static void load_shift(struct load_run *w, struct ftr_team *team)
{
	struct html_load *l = &w->s->load[HTML_SHIFT];

	cli_must(ftr_load_shifts(w->ld, CLI_SHIFTS_MAX, 1, team, w->r, &cli_err));
	if (!w->r->patterns)
		return;
	w->s->shift = w->r->worst;
	w->s->shift_max = w->r->max;
	w->s->shift_mean = (double)w->r->sum_max / w->r->patterns;
	cli_must(ftr_load_shift_by_port(w->ld, w->s->shift, w->by_port,
					&cli_err));
	carry(w->s, w->m, w->by_port, l);
}

static void load_pairs(struct load_run *w)
{
	struct html_load *l = &w->s->load[HTML_PAIRS];
	struct ftr_load_pair *pair;
	uint32_t n = 0;

	if (!w->tr->pair)
		return;
	pair = cli_calloc(w->tr->n_pairs, sizeof(*pair), "%u pairs",
			  w->tr->n_pairs);
	for (uint32_t i = 0; i < w->tr->n_pairs; i++) {
		const struct ftr_load_pair *p = &w->tr->pair[i];
		pair[n] = (struct ftr_load_pair){ here(w, p->from), here(w, p->to) };
		n += pair[n].from != FTR_EP_NONE && pair[n].to != FTR_EP_NONE;
	}
	cli_must(ftr_load_pairs(w->ld, pair, n, w->by_port, w->r, &cli_err));
	free(pair);
	l->flows = w->r->flows + (w->tr->n_pairs - n);
	l->lost = w->r->lost + (w->tr->n_pairs - n);
	carry(w->s, w->m, w->by_port, l);
}

void html_set_run(struct html_set *s, const struct html_map *m,
		  const struct html_traffic *t, struct ftr_team *team)
{
	struct load_run w = {
		.s = s, .m = m, .tr = t,
		.by_port = cli_calloc(s->f->n_ports, sizeof(*w.by_port), "loads"),
		.r = cli_calloc(1, sizeof(*w.r), "loads"),
	};
	ftr_ep *order = cli_calloc(t->n, sizeof(*order), "loads");

	check(s, team);
	for (int i = 0; i < HTML_PATTERNS; i++)
		s->load[i].load = cli_calloc(2 * (size_t)m->n_links, sizeof(uint64_t), "loads");
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = here(&w, t->order[i]);
	cli_must(ftr_load_new(s->f, s->t, order, t->n, 0, team, &w.ld, &cli_err));
	load_all(&w);
	load_shift(&w, team);
	load_pairs(&w);
	ftr_load_free(w.ld);
	free(order);
	free(w.by_port);
	free(w.r);
}
