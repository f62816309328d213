// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All paths to one destination, and the all-to-all load.
 *
 * Towards one LID every switch has one next switch or none. Switches without a
 * predecessor are queued first; then a switch is queued when its last
 * predecessor has been taken from the queue (Kahn 1962). The queue then holds
 * every switch after all its predecessors; switches that are never queued are in
 * a loop. A backward pass along the queue, from the destination, gives the
 * remaining hops. A forward pass sums up the sources whose paths pass each
 * switch; the sum is the number of flows on its link.
 *
 *	queue:  leaf leaf leaf ... middle ... top ... middle, own leaf
 *	        sources add up  ------------------------------------->
 *	        <-------------------------------------  hops add up
 *
 * All-to-all load therefore costs O(n_sw) per destination, whatever the number
 * of hosts.  If the paths are kept, it is summed up while they are computed
 * (load_model.c).  Entries of a switch for several destinations are read together,
 * because they share cache lines.
 */
#include <string.h>

#include "check/link_load.h"
#include <ftr/linkload.h>

#define CHUNK 32		/* destinations: their entries share cache lines */

bool load_tree_new(struct ftr_arena *a, uint32_t n_sw, struct load_tree *w)
{
	w->first = w->end = 0;
	w->batch = ftr_arena_alloc(a, (size_t)n_sw * LOAD_BATCH,
				   sizeof(*w->batch));
	w->open = ftr_arena_alloc(a, n_sw, sizeof(*w->open));
	w->hops = ftr_arena_alloc(a, n_sw, sizeof(*w->hops));
	w->queue = ftr_arena_alloc(a, n_sw, sizeof(*w->queue));
	return w->batch && w->open && w->hops && w->queue;
}

static void fill_queue(struct load_tree *w, uint32_t n_sw)
{
	w->n = 0;
	for (ftr_sw s = 0; s < n_sw; s++)
		if (!w->open[s])
			w->queue[w->n++] = s;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t y = w->to[w->queue[i]].next;

		if (y != LOAD_NONE && --w->open[y] == 0)
			w->queue[w->n++] = y;
	}
}

static ftr_lid lid_of(const struct ftr_load *ld, uint32_t i)
{
	return ld->f->ep[ld->order[ld->live[i]]].lid;
}

static void read_batch(const struct ftr_load *ld, struct load_tree *w,
		       uint32_t i)
{
	const uint32_t n = ld->f->n_sw;

	w->first = i;
	w->end = FTR_MIN(i + LOAD_BATCH, ld->n_live);
	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *entry = ld->entry + (size_t)s * ld->n_live + i;

		for (uint32_t d = 0; d < w->end - i; d++)
			w->batch[(size_t)d * n + s] = load_next(ld, s, entry[d]);
	}
}

void load_tree_make(const struct ftr_load *ld, struct load_tree *w, uint32_t at)
{
	const uint32_t n = ld->f->n_sw;
	const ftr_lid lid = lid_of(ld, at);
	struct chk_exit x = chk_exit_of(ld->f, lid);

	if (at < w->first || at >= w->end)
		read_batch(ld, w, at);
	w->to = w->batch + (size_t)(at - w->first) * n;
	memset(w->open, 0, n * sizeof(*w->open));
	memset(w->hops, 0xff, n * sizeof(*w->hops));
	for (ftr_sw s = 0; s < n; s++)
		if (w->to[s].next != LOAD_NONE)
			w->open[w->to[s].next]++;
	fill_queue(w, n);
	for (uint32_t i = w->n; i-- > 0; ) {
		ftr_sw s = w->queue[i];
		uint32_t y = w->to[s].next;

		if (y != LOAD_NONE)
			w->hops[s] = w->hops[y] + (w->hops[y] != LOAD_NONE);
		else if (s == x.sw && ftr_tables_get(ld->t, s, lid) == x.port)
			w->hops[s] = 0;
	}
}

uint32_t load_walk(const struct ftr_load *ld, ftr_sw s, ftr_lid lid,
		   uint32_t *buf)
{
	struct chk_exit x = chk_exit_of(ld->f, lid);

	for (uint32_t h = 0; h < ld->f->n_sw; h++) {
		ftr_port p = ftr_tables_get(ld->t, s, lid);
		struct load_hop to = load_next(ld, s, p);

		if (to.next == LOAD_NONE)
			return s == x.sw && p == x.port ? h : LOAD_NONE;
		buf[h] = to.link;
		s = to.next;
	}
	return LOAD_NONE;
}

/* ---- all-to-all ---------------------------------------------------------- */

struct part {
	struct load_tree tree;
	struct load_sum sum;
};

struct all {
	const struct ftr_load *ld;
	struct part *part;
};

bool load_sum_new(struct ftr_arena *a, const struct ftr_load *ld,
		  struct load_sum *w)
{
	const uint32_t n = ld->f->n_sw;

	w->flows = w->host_max = 0;
	w->load = ftr_arena_zalloc(a, ld->n_links, sizeof(*w->load));
	w->arrive = ftr_arena_zalloc(a, n, sizeof(*w->arrive));
	w->sources = ftr_arena_alloc(a, n, sizeof(*w->sources));
	return w->load && w->arrive && w->sources;
}

void load_sum_add(const struct ftr_load *ld, const struct load_tree *t,
		  uint32_t at, struct load_sum *w)
{
	const ftr_sw own = ld->f->ep[ld->order[ld->live[at]]].sw;
	uint64_t in = 0;

	memcpy(w->sources, ld->hosts, ld->f->n_sw * sizeof(*w->sources));
	for (uint32_t i = 0; i < t->n; i++) {
		ftr_sw s = t->queue[i];

		if (t->hops[s] == LOAD_NONE)
			continue;
		w->arrive[s]++;
		in += ld->hosts[s];
		if (!t->hops[s])
			continue;
		w->load[t->to[s].link] += w->sources[s];
		w->sources[t->to[s].next] += w->sources[s];
	}
	if (t->hops[own] != LOAD_NONE)
		in--;		/* the destination does not send to itself */
	w->flows += in;
	w->host_max = FTR_MAX(w->host_max, in);
}

void load_sum_merge(const struct ftr_load *ld, const struct load_sum *w,
		    struct load_sum *to)
{
	for (uint32_t l = 0; l < ld->n_links; l++)
		to->load[l] += w->load[l];
	for (ftr_sw s = 0; s < ld->f->n_sw; s++)
		to->arrive[s] += w->arrive[s];
	to->flows += w->flows;
	to->host_max = FTR_MAX(to->host_max, w->host_max);
}

static void all_work(void *ctx, unsigned int worker, uint32_t begin,
		     uint32_t end)
{
	const struct all *a = ctx;
	struct part *w = &a->part[worker];

	for (uint32_t i = begin; i < end; i++) {
		load_tree_make(a->ld, &w->tree, i);
		load_sum_add(a->ld, &w->tree, i, &w->sum);
	}
}

static bool all_new(const struct ftr_load *ld, struct ftr_arena *a,
		    unsigned int workers, struct all *out)
{
	out->ld = ld;
	out->part = ftr_arena_zalloc(a, workers, sizeof(*out->part));
	if (!out->part)
		return false;
	for (unsigned int i = 0; i < workers; i++)
		if (!load_sum_new(a, ld, &out->part[i].sum) ||
		    !load_tree_new(a, ld->f->n_sw, &out->part[i].tree))
			return false;
	return true;
}

/* Most flows out of one host port: the destinations that its switch reaches,
 * less the port itself. */
static uint64_t most_sent(const struct ftr_load *ld, const uint32_t *arrive)
{
	uint64_t max = 0;

	for (uint32_t i = 0; i < ld->n_live; i++) {
		const struct ftr_endport *e =
			&ld->f->ep[ld->order[ld->live[i]]];
		bool delivered = ftr_tables_get(ld->t, e->sw, e->lid) ==
			e->sw_port;

		max = FTR_MAX(max, (uint64_t)arrive[e->sw] - delivered);
	}
	return max;
}

static void report_all(const struct ftr_load *ld, const struct load_sum *sum,
		       struct ftr_load_report *out)
{
	struct ftr_load_report r = { .hosts = ld->n_live, .patterns = 1 };

	r.flows = ld->n_live ? (uint64_t)ld->n_live * (ld->n_live - 1) : 0;
	r.lost = r.flows - sum->flows;
	r.host_max = FTR_MAX(sum->host_max, most_sent(ld, sum->arrive));
	load_report_one(ld, sum->load, &r);
	*out = r;
}

enum ftr_status ftr_link_load_all(const struct ftr_load *ld,
				  struct ftr_team *team, uint64_t *load,
				  struct ftr_load_report *out,
				  struct ftr_err *err)
{
	unsigned int workers = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	const struct load_sum *sum = &ld->all;
	struct all all;

	if (!a || (!sum->load && !all_new(ld, a, workers, &all))) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM, "out of memory for the load of %u links",
				ld->n_links);
	}
	if (!sum->load) {
		sum = &all.part[0].sum;
		ftr_team_run(team, ld->n_live, CHUNK, all_work, &all);
		for (unsigned int i = 1; i < workers; i++)
			load_sum_merge(ld, &all.part[i].sum, &all.part[0].sum);
	}
	if (out)
		report_all(ld, sum, out);
	if (load)
		memset(load, 0, ld->f->n_ports * sizeof(*load));
	for (uint32_t l = 0; load && l < ld->n_links; l++)
		load[ld->link_port[l]] = sum->load[l];
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status ftr_load_all(const struct ftr_load *ld, struct ftr_team *team,
			     struct ftr_load_report *out, struct ftr_err *err)
{
	return ftr_link_load_all(ld, team, NULL, out, err);
}
