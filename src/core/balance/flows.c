// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the all-to-all flows on every link.
 *
 * The flows to one destination are moved in rounds.  At first they wait at their sources.  In each
 * round, the flows that wait at a switch move together over the link of its entry, and then wait at
 * the next switch.  Flows to one destination that have met stay together, so after one hop there
 * are few switches left: for a healthy tree of 11,664 hosts, 36 of 648.  The work is about
 * O(destinations * sources).  Only the tables are read, no order of the switches is needed, and
 * flows that still wait after as many rounds as there are switches are in a loop.
 *
 * src/core/check/loadtree.c counts the same flows for `ibfattree load`.  It is separate because it
 * belongs to the checker, which must not repeat an error of the search, and because it also counts
 * the flows that do not arrive, and the hops of every path.  Both take about as long: 0.2 s and
 * 0.1 s at 11,664 hosts on one thread.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct flow_worker {
	uint32_t *flows;	/* [n_links] */
	uint32_t *wait;		/* wait[s]: number of flows that wait at switch s; 0 between
				 * destinations */
	ftr_sw *at;		/* [n_sw] the switches at which flows wait */
};

struct flow_job {
	const struct balance_net *net;
	const struct ftr_tables *t;
	const struct balance_copy *copy;
	struct flow_worker *worker;
	atomic_bool loop;
};

/* Move all flows that wait at the n switches w->at over one link.  Returns the new number of
 * switches. */
static uint32_t one_round(const struct balance_net *net, struct flow_worker *w,
			  struct balance_entries of, ftr_sw to, uint32_t n)
{
	uint32_t n_next = 0;

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = w->at[i], next;
		uint32_t link = balance_link(net, of, s), flows = w->wait[s];

		w->wait[s] = 0;
		if (link == BALANCE_NONE)
			continue;
		w->flows[link] += flows;
		next = net->peer[link];
		if (next == to)
			continue;
		if (!w->wait[next])
			w->at[n_next++] = next;
		w->wait[next] += flows;
	}
	return n_next;
}

static void count_dests(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct flow_job *j = ctx;
	const struct balance_net *net = j->net;
	struct flow_worker *w = &j->worker[worker];

	for (uint32_t d = begin; d < end && !atomic_load(&j->loop); d++) {
		struct balance_entries of = j->copy ? balance_copy_of(j->copy, d) :
			balance_entries_of(j->t, net->dest[d].lid);
		ftr_sw to = balance_switch(net, d);
		uint32_t n = 0, rounds = 0;

		for (uint32_t k = 0; k < net->n_sources; k++)
			if (net->source[k].sw != to) {
				w->at[n++] = net->source[k].sw;
				w->wait[net->source[k].sw] = net->source[k].hosts;
			}
		while (n && rounds++ < net->f->n_sw)
			n = one_round(net, w, of, to, n);
		if (n)
			atomic_store(&j->loop, true);
	}
}

enum ftr_status balance_count_flows(struct balance_loads *l, const struct ftr_tables *t,
				    const struct balance_copy *copy, struct ftr_team *team,
				    bool *loop, struct ftr_err *err)
{
	struct flow_job j = { .net = l->net, .t = t, .copy = copy };
	unsigned int n = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_NEW(a, j.worker, n);

	for (unsigned int i = 0; ok && i < n; i++) {
		struct flow_worker *w = &j.worker[i];

		ok = FTR_ZNEW(a, w->flows, l->net->n_links) &&
			FTR_ZNEW(a, w->wait, l->net->f->n_sw) && FTR_NEW(a, w->at, l->net->f->n_sw);
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_nomem(err, "counting flows");
	}
	ftr_team_run(team, l->net->n_dests, FTR_LFT_BLOCK, count_dests, &j);
	memset(l->flows, 0, l->net->n_links * sizeof(*l->flows));
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t x = 0; x < l->net->n_links; x++)
			l->flows[x] += j.worker[i].flows[x];
	*loop = atomic_load(&j.loop);
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status balance_loads_new(const struct balance_net *net, struct balance_loads *out,
				  struct ftr_err *err)
{
	*out = (struct balance_loads){ .net = net };
	out->flows = ftr_calloc(net->n_links + 1u, sizeof(*out->flows));
	return out->flows ? FTR_OK : ftr_nomem(err, "counting flows");
}

void balance_loads_free(struct balance_loads *l)
{
	free(l->flows);
	balance_bins_free(l);
}

void balance_behind_begin(struct balance_behind *z, struct balance_entries of, uint32_t l)
{
	const struct ftr_balance_input *in = z->net->in;

	z->sh = in->use_full && in->use_full[l] ? in->full : in->shape;
	z->costs = ftr_shape_column(z->sh, l);
	z->to = z->sh->numbering.col_sw[l];
	z->of = of;
}

/* True if all flows that pass u come from below: paths go up and then down, and u has no path
 * down. */
static bool from_below(const struct balance_behind *z, ftr_sw u)
{
	return !z->net->in->extra && z->costs.down[u * z->costs.stride] == FTR_COST_INF;
}

void balance_behind(struct balance_behind *z, ftr_sw s)
{
	const struct balance_net *net = z->net;
	const struct ftr_shape *sh = z->sh;
	uint32_t depth = 0;

	z->n = z->hosts = 0;
	z->stack[depth++] = s;
	while (depth) {
		ftr_sw u = z->stack[--depth];
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[u]];
		uint32_t src = net->source_of[u], k = from_below(z, u) ? sh->tree.n_up[u] : 0;

		if (src != BALANCE_NONE) {
			z->hosts += net->source[src].hosts;
			z->source[z->n++] = (uint16_t)src;
		}
		for (; k < ftr_shape_groups(sh, u); k++) {
			ftr_sw y = g[k].remote;
			uint32_t link = y == z->to || (z->stop && z->stop[y]) ? BALANCE_NONE :
				balance_link(net, z->of, y);

			if (link != BALANCE_NONE && net->peer[link] == u)
				z->stack[depth++] = y;
		}
	}
}

uint32_t balance_most(const struct balance_loads *l)
{
	uint32_t most = 0;

	for (uint32_t x = 0; x < l->net->n_links; x++)
		if (l->net->peer[x] != FTR_SW_NONE)
			most = FTR_MAX(most, l->flows[x]);
	return most;
}
