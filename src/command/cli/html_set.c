// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One set of tables: findings of the checker, and the load of every link for each
 * traffic pattern.  Links are those of the base (html.h).
 */
#include <stdlib.h>

#include "cli/html.h"
#include "cli/whatif.h"

static void check(struct html_set *s, struct ftr_team *team)
{
	const struct ftr_check_opts opts = { .rank = s->sh->tree.rank, .list_lost = true };

	cli_must(ftr_check_tables(s->f, s->t, &opts, team, &s->r, &cli_err));
	cli_judge(s->f, s->sh, &s->r, &s->ro, &s->verdict);
	if (s->before)
		ftr_tables_diff(s->before_f, s->before, s->f, s->t, &s->diff);
}

const struct ftr_swport *html_port(const struct html_set *s, ftr_sw sw, unsigned int p)
{
	const struct ftr_swport *port;
	ftr_sw here = ftr_fabric_find_sw(s->f, s->base->f->sw[sw].guid);

	if (here == FTR_SW_NONE || p > s->f->sw[here].n_ports)
		return NULL;
	port = ftr_fabric_port(s->f, here, p);
	return port->peer_kind == FTR_PEER_SW ? port : NULL;
}

struct load_run {
	struct html_set *s;
	const struct html_traffic *tr;
	struct ftr_load *ld;
	uint64_t *by_port;	/* [s->f->n_ports] load of the link at each port, in flows */
	struct ftr_load_report *r;
};

/* Returns the load of the link at port p of switch s of the base, in the direction away from s. */
static uint64_t load_at(const struct load_run *w, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = html_port(w->s, s, p);

	return port ? w->by_port[port - w->s->f->ports] : 0;
}

/* Converts w->by_port to the load of each directed link of the base. */
static void carry(const struct load_run *w, struct html_load *l)
{
	const struct ftr_fabric *f = w->s->base->f;
	uint32_t n = 0;

	l->load = cli_calloc(2 * (size_t)f->n_sw_links, sizeof(*l->load), "loads");
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (!html_listed(f, s, p))
				continue;
			l->load[n++] = load_at(w, s, p);
			l->load[n++] = load_at(w, port->peer, port->peer_port);
		}
	for (uint32_t i = 0; i < n; i++)
		l->max = l->load[i] > l->max ? l->load[i] : l->max;
	l->done = true;
}

/* Returns the host port of the fabric of w->s that has the GUID of host port e of now.f. */
static ftr_ep here(const struct load_run *w, ftr_ep e)
{
	return e == FTR_EP_NONE ? e :
		ftr_fabric_find_ep(w->s->f, w->tr->now->f->ep[e].guid);
}

static void load_all(struct load_run *w)
{
	struct html_load *l = &w->s->load[HTML_ALL];

	ftr_load_all(w->ld, w->by_port, w->r);
	l->flows = w->r->flows;
	l->lost = w->r->lost;
	carry(w, l);
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
	cli_must(ftr_load_shift_by_port(w->ld, w->s->shift, w->by_port, &cli_err));
	carry(w, l);
}

static void load_pairs(struct load_run *w)
{
	struct html_load *l = &w->s->load[HTML_PAIRS];
	struct ftr_load_pair *pair;
	uint32_t n = 0;

	if (!w->tr->pair)
		return;
	pair = cli_calloc(w->tr->n_pairs, sizeof(*pair), "%u pairs", w->tr->n_pairs);
	for (uint32_t i = 0; i < w->tr->n_pairs; i++) {
		const struct ftr_load_pair *p = &w->tr->pair[i];
		pair[n] = (struct ftr_load_pair){ here(w, p->from), here(w, p->to) };
		n += pair[n].from != FTR_EP_NONE && pair[n].to != FTR_EP_NONE;
	}
	cli_must(ftr_load_pairs(w->ld, pair, n, w->by_port, w->r, &cli_err));
	free(pair);
	l->flows = w->r->flows + (w->tr->n_pairs - n);
	l->lost = w->r->lost + (w->tr->n_pairs - n);
	carry(w, l);
}

void html_set_run(struct html_set *s, const struct html_traffic *t, struct ftr_team *team)
{
	struct load_run w = {
		.s = s, .tr = t,
		.by_port = cli_calloc(s->f->n_ports, sizeof(*w.by_port), "loads"),
		.r = cli_calloc(1, sizeof(*w.r), "loads"),
	};
	ftr_ep *order = cli_calloc(t->n, sizeof(*order), "loads");

	check(s, team);
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = here(&w, t->order[i]);
	cli_must(ftr_load_new(s->f, s->t, (struct ftr_order){ order, t->n }, team, &w.ld,
			      &cli_err));
	load_all(&w);
	load_shift(&w, team);
	load_pairs(&w);
	ftr_load_free(w.ld);
	free(order);
	free(w.by_port);
	free(w.r);
}
