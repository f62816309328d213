// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes all paths to one destination, and the all-to-all load.
 *
 * Towards one LID every switch has at most one next switch.  The switches on the paths from the
 * hosts are found first.  The others carry no flow; in a healthy tree of 11,664 hosts, they are over
 * half of the switches.  Switch p is a predecessor of switch s if s is the next switch of p.  Switches
 * without a predecessor are queued first.  Any other switch is queued when its last predecessor has
 * been taken from the queue (Kahn 1962).  So each switch
 * comes after all its predecessors.  Switches that are never queued are in a loop.
 *
 * A backward pass along the queue, from the destination, gives the number of hops from each
 * switch.  A forward pass counts, for each switch, the sources whose paths pass the switch.  This
 * count is the number of flows on the link to the next switch.
 *
 *	queue:  leaf leaf leaf ... middle ... top ... middle, own leaf
 *	        sources add up  ------------------------------------->
 *	        <-------------------------------------  hops add up
 *
 * So the all-to-all load takes O(n_sw) per destination, whatever the number of hosts.  It is summed
 * up while all paths are computed (load_model.c).
 *
 * The search for balance has its own counter (src/core/balance/flows.c gives the reasons).
 */
#include <string.h>

#include "check/link_load.h"

bool load_tree_new(struct ftr_arena *a, uint32_t n_sw, struct load_tree *w)
{
	w->stamp = 0;
	return FTR_NEW(a, w->to, n_sw) && FTR_NEW(a, w->on_path, n_sw) &&
	       FTR_ZNEW(a, w->seen, n_sw) &&
	       FTR_NEW(a, w->open, n_sw) && FTR_NEW(a, w->hops, n_sw) &&
	       FTR_NEW(a, w->queue, n_sw);
}

/* Set to[] for the switches on the paths from the hosts, list them in on_path[], and return their
 * number. */
static uint32_t find_paths(const struct ftr_load *ld, struct load_tree *w, uint32_t at)
{
	const uint8_t *entry = ld->entry + at;
	uint32_t n = 0;

	w->stamp++;
	for (uint32_t l = 0; l < ld->n_leaf; l++)
		for (ftr_sw s = ld->leaf_sw[l]; s != LOAD_NONE && w->seen[s] != w->stamp;
		     s = w->to[s].next) {
			w->seen[s] = w->stamp;
			w->on_path[n++] = s;
			w->to[s] = load_next(ld, s, entry[(size_t)s * ld->n_filled]);
		}
	return n;
}

static void fill_queue(struct load_tree *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		w->open[w->on_path[i]] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t y = w->to[w->on_path[i]].next;

		if (y != LOAD_NONE)
			w->open[y]++;
	}
	w->n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!w->open[w->on_path[i]])
			w->queue[w->n++] = w->on_path[i];
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t y = w->to[w->queue[i]].next;

		if (y != LOAD_NONE && --w->open[y] == 0)
			w->queue[w->n++] = y;
	}
}

void load_tree_make(const struct ftr_load *ld, struct load_tree *w, uint32_t at)
{
	const ftr_lid lid = ld->f->ep[ld->order[ld->filled[at]]].lid;
	struct ftr_hop x = chk_exit_of(ld->f, lid);
	uint32_t n = find_paths(ld, w, at);

	fill_queue(w, n);
	for (uint32_t i = 0; i < n; i++)
		w->hops[w->on_path[i]] = LOAD_NONE;
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
	struct ftr_hop x = chk_exit_of(ld->f, lid);

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

bool load_sum_new(struct ftr_arena *a, const struct ftr_load *ld,
		  struct load_sum *w)
{
	w->flows = w->host_max = 0;
	return FTR_ZNEW(a, w->load, ld->n_links) &&
	       FTR_ZNEW(a, w->arrive, ld->f->n_sw) &&
	       FTR_NEW(a, w->sources, ld->f->n_sw);
}

void load_sum_add(const struct ftr_load *ld, const struct load_tree *t,
		  uint32_t at, struct load_sum *w)
{
	const ftr_sw own = ld->f->ep[ld->order[ld->filled[at]]].sw;
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
		in--;
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

/* The greatest number of flows that one host port sends: one to each destination that its switch
 * reaches, except the port itself. */
static uint64_t most_sent(const struct ftr_load *ld, const uint32_t *arrive)
{
	uint64_t max = 0;

	for (uint32_t i = 0; i < ld->n_filled; i++) {
		const struct ftr_endport *e =
			&ld->f->ep[ld->order[ld->filled[i]]];
		bool delivered = ftr_tables_get(ld->t, e->sw, e->lid) ==
			e->sw_port;

		max = FTR_MAX(max, (uint64_t)arrive[e->sw] - delivered);
	}
	return max;
}

void ftr_load_all(const struct ftr_load *ld, uint64_t *by_port,
		  struct ftr_load_report *out)
{
	const struct load_sum *sum = &ld->all;
	struct ftr_load_report r = { .hosts = ld->n_filled, .patterns = 1 };

	r.flows = ld->n_filled ? (uint64_t)ld->n_filled * (ld->n_filled - 1) : 0;
	r.lost = r.flows - sum->flows;
	r.host_max = FTR_MAX(sum->host_max, most_sent(ld, sum->arrive));
	load_report_one(ld, sum->load, &r);
	if (out)
		*out = r;
	if (by_port)
		load_by_port(ld, sum->load, by_port);
}
