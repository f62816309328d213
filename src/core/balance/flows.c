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
	uint32_t *flows;	/* [n_links], or [2 * n_links]: then those inside rails follow */
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
static uint32_t one_round(const struct balance_net *net, struct flow_worker *w, uint32_t *count,
			  struct balance_entries of, ftr_sw to, uint32_t n)
{
	uint32_t n_next = 0;

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = w->at[i], next;
		uint32_t link = balance_link(net, of, s), flows = w->wait[s];

		w->wait[s] = 0;
		if (link == BALANCE_NONE)
			continue;
		count[link] += flows;
		next = net->peer[link];
		if (next == to)
			continue;
		if (!w->wait[next])
			w->at[n_next++] = next;
		w->wait[next] += flows;
	}
	return n_next;
}

/* Count the flows to switch `to`, or only those inside its rail.  Returns false if there is a
 * loop. */
static bool count_dest(const struct balance_net *net, struct flow_worker *w,
		       struct balance_entries of, ftr_sw to, bool rail)
{
	uint32_t *count = w->flows + (rail ? net->n_links : 0), n = 0, rounds = 0;

	for (uint32_t k = 0; k < net->n_sources; k++) {
		const struct balance_source *src = &net->source[k];
		uint32_t flows = rail ? balance_rail(net, src, to) : src->hosts;

		if (src->sw == to || !flows)
			continue;
		w->at[n++] = src->sw;
		w->wait[src->sw] = flows;
	}
	while (n && rounds++ < net->f->n_sw)
		n = one_round(net, w, count, of, to, n);
	return !n;
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

		if (!count_dest(net, w, of, to, false) ||
		    (net->rail_weight && !count_dest(net, w, of, to, true)))
			atomic_store(&j->loop, true);
	}
}

enum ftr_status balance_count_flows(struct balance_loads *l, const struct ftr_tables *t,
				    const struct balance_copy *copy, struct ftr_team *team,
				    bool *loop, struct ftr_err *err)
{
	struct flow_job j = { .net = l->net, .t = t, .copy = copy };
	unsigned int n = ftr_team_size(team);
	uint32_t links = l->net->n_links * (l->rail ? 2 : 1);
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_NEW(a, j.worker, n);

	for (unsigned int i = 0; ok && i < n; i++) {
		struct flow_worker *w = &j.worker[i];

		ok = FTR_ZNEW(a, w->flows, links) &&
			FTR_ZNEW(a, w->wait, l->net->f->n_sw) && FTR_NEW(a, w->at, l->net->f->n_sw);
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_nomem(err, "counting flows");
	}
	ftr_team_run(team, l->net->n_dests, FTR_LFT_BLOCK, count_dests, &j);
	memset(l->flows, 0, links * sizeof(*l->flows));
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t x = 0; x < links; x++)
			l->flows[x] += j.worker[i].flows[x];
	*loop = atomic_load(&j.loop);
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status balance_loads_new(const struct balance_net *net, struct balance_loads *out,
				  struct ftr_err *err)
{
	*out = (struct balance_loads){ .net = net };
	out->flows = ftr_calloc(2 * (size_t)net->n_links + 1, sizeof(*out->flows));
	if (!out->flows)
		return ftr_nomem(err, "counting flows");
	out->rail = net->rail_weight ? out->flows + net->n_links : NULL;
	return FTR_OK;
}

void balance_loads_free(struct balance_loads *l)
{
	free(l->flows);
	balance_bins_free(l);
}

uint32_t balance_most(const struct balance_loads *l, const uint32_t *flows)
{
	uint32_t most = 0;

	for (uint32_t x = 0; x < l->net->n_links; x++)
		if (l->net->peer[x] != FTR_SW_NONE)
			most = FTR_MAX(most, flows[x]);
	return most;
}
