// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One sweep of the search over all entries, with shifts.
 *
 * Destination by destination, and for each from the farthest switch to the nearest:
 * compute the cost of the path through every candidate, as if the flows that pass through
 * the entry were not there, take the cheapest, and move the flows.  The search is greedy,
 * in a fixed order, without random numbers.
 *
 * The cost of a path is the sum over its links of
 *
 *	w->over			for each all-to-all flow above the target
 *	(N + 1)^POWER - N^POWER	for each shift in which a flow shares the link with
 *				N others: a smooth substitute for the maximum over
 *				all links
 *	flows			with a tiny factor, so that idle links are preferred
 *
 * Flows to one destination never share a shift.  So the flows of an entry add one to N in
 * each of their shifts, on every link of its path.  From the point where the path through a
 * candidate meets the present path, both have the same cost.
 *
 * An entry keeps its candidate unless another is cheaper by more than 1 / MARGIN.  Entries
 * whose whole path is below the target and shares no shift with w->meet flows are not
 * examined: they are not on the most loaded link.  This test reads one bit for each bin, not
 * the bins.  It takes about a third of the time of a sweep, so in a quick sweep a team makes
 * it for a batch of destinations, before the first of them moves.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

#define MARGIN 10000
#define POWER 5
#define PRICES 4096
#define SCALE 4			/* fixed point of the prices of shifts */

#define BATCH 64		/* destinations of a quick sweep */
#define FETCH 4			/* sources whose bins are fetched ahead */

/* The flows that pass through an entry. */
struct passing {
	uint32_t hosts;
	uint32_t head, tail;	/* list of sources, BALANCE_NONE: empty */
};

/* Scratch of a thread that looks for bad paths. */
struct marker {
	uint8_t *hot;		/* [n_sw] the path may have a bad link */
	uint32_t *via;		/* [n_sw] link of the entry, or BALANCE_NONE */
	ftr_sw *path;		/* [n_sw] */
};

struct search {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	struct ftr_arena *arena;
	const struct balance_order *order;
	struct balance_cand cand;
	struct passing *at;	/* [n_sw] */
	uint32_t *next;		/* [n_sources] */
	uint32_t price[PRICES];	/* price of one shift in a bin with that number of flows */
	/* A link is bad if it is above the target, or a shift of the flows has w->meet
	 * flows on it. */
	struct marker *marker;	/* by worker */
	uint32_t begin;		/* of the batch, in net->turn[] */
	uint8_t *bad;		/* [BATCH][n_sw] the path of a source has a bad link at or
				 * after s */
	bool *any;		/* [BATCH] for some s */
	/* of the destination */
	const struct balance_dest *d;
	uint32_t index;		/* of it */
	const uint8_t *entry;	/* [n_sw] */
	const uint8_t *is_bad;	/* [n_sw] its row of bad */
	bool moved;
	ftr_sw to;
	/* the present path of the entry */
	struct hop {
		ftr_sw sw;
		uint64_t rest;	/* price from here */
	} *hop;			/* [n_sw] */
	uint32_t n_hops;
};

/* ---- prices ---------------------------------------------------------------- */

static void set_prices(struct search *z)
{
	for (uint32_t v = 0; v < PRICES; v++) {
		double n = (double)v / z->c->width, a = 1, b = 1;

		for (int i = 0; i < POWER; i++) {
			a *= n + 1;
			b *= n;
		}
		z->price[v] = (uint32_t)FTR_MIN((a - b) * SCALE, 4e9);
	}
}

/* The price of adding the flows from src to the present destination, over all their shifts,
 * on the link with the bins `row`.  own: the bins contain these flows already. */
static uint64_t price_window(const struct search *z, const uint16_t *row,
			     const struct balance_source *src, bool own)
{
	const struct balance_count *c = z->c;
	uint32_t n_pos = z->net->n_pos, width = c->width;
	uint32_t k = balance_window(z->net, src, z->d->pos), left = src->n;
	uint64_t sum = 0;

	if (width == 1 && k + left <= n_pos) {
		for (const uint16_t *b = row + k; left; left--, b++)
			sum += z->price[FTR_MIN(*b - own, PRICES - 1)];
		return sum;
	}
	while (left) {
		uint32_t bin = k / width;
		uint32_t end = FTR_MIN((bin + 1) * width, n_pos);
		uint32_t n = FTR_MIN(end - k, left);
		uint32_t others = row[bin] - (own ? n : 0);

		sum += (uint64_t)n * z->price[FTR_MIN(others, PRICES - 1)];
		left -= n;
		k = end == n_pos ? 0 : end;
	}
	return sum;
}

static uint64_t price_link(const struct search *z, uint32_t link,
			   const struct passing *p, bool own, uint64_t limit)
{
	uint32_t target = z->w->target;
	uint32_t flows = z->c->flows[link] - (own ? p->hosts : 0);
	uint64_t sum = flows / 16 * p->hosts / 16;
	const uint16_t *row = z->c->bins + (size_t)z->net->row[link] *
		z->c->n_bins;

	if (flows + p->hosts > target)
		sum += z->w->over * FTR_MIN(p->hosts, flows + p->hosts - target);
	if (z->d->pos == BALANCE_NONE)
		return sum;
	for (uint32_t i = p->head; i != BALANCE_NONE && sum < limit;
	     i = z->next[i])
		if (z->net->source[i].n)
			sum += price_window(z, row, &z->net->source[i], own);
	return sum;
}

static uint32_t link_of(const struct search *z, ftr_sw s)
{
	return balance_link(z->net, s, z->entry[s]);
}

/* The bins do not fit into the cache.  Ask for those of the first sources before they
 * are needed. */
static void fetch_link(const struct search *z, uint32_t link,
		       const struct passing *p)
{
	const struct balance_count *c = z->c;
	const uint16_t *row = c->bins + (size_t)z->net->row[link] * c->n_bins;
	uint32_t i = p->head;

	for (int n = 0; n < FETCH && i != BALANCE_NONE; n++, i = z->next[i]) {
		uint32_t k = balance_window(z->net, &z->net->source[i],
					    z->d->pos);

		__builtin_prefetch(row + (c->width == 1 ? k : k / c->width));
	}
}

/* The bins of the first two links through each candidate. */
static void fetch_candidates(const struct search *z, ftr_sw s,
			     const struct passing *p)
{
	if (z->d->pos == BALANCE_NONE)
		return;
	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];

		for (uint32_t i = 0; i < g->n; i++)
			fetch_link(z, balance_link(z->net, s,
				z->cand.sh->tree.group_ports[g->first + i]), p);
		if (g->remote != z->to)
			fetch_link(z, link_of(z, g->remote), p);
	}
}

/* ---- one entry --------------------------------------------------------------- */

static void add_link(struct search *z, uint32_t link, const struct passing *p,
		     int by)
{
	z->c->flows[link] += (uint32_t)by * p->hosts;
	for (uint32_t i = p->head; z->d->pos != BALANCE_NONE &&
	     i != BALANCE_NONE; i = z->next[i])
		if (z->net->source[i].n)
			balance_bins_add(z->c, link, &z->net->source[i],
					 z->d->pos, by);
}

/* Add the flows to the path from s, up to the switch `end`. */
static void add_path(struct search *z, ftr_sw s, ftr_sw end,
		     const struct passing *p, int by)
{
	while (s != end) {
		uint32_t link = link_of(z, s);

		add_link(z, link, p, by);
		s = z->net->peer[link];
	}
}

/* Find the present path from s, and its prices. */
static uint64_t price_present(struct search *z, ftr_sw s,
			      const struct passing *p)
{
	uint64_t sum = 0;
	uint32_t n = 0;

	for (; s != z->to; s = z->net->peer[link_of(z, s)]) {
		if (z->d->pos != BALANCE_NONE)
			fetch_link(z, link_of(z, s), p);
		z->hop[n++].sw = s;
	}
	z->n_hops = n;
	z->hop[n] = (struct hop){ z->to, 0 };
	while (n-- > 0) {
		sum += price_link(z, link_of(z, z->hop[n].sw), p, true,
				  UINT64_MAX);
		z->hop[n].rest = sum;
	}
	return sum;
}

/* The hop of the present path at s, or NULL. */
static const struct hop *hop_at(const struct search *z, ftr_sw s)
{
	for (uint32_t i = 0; i <= z->n_hops; i++)
		if (z->hop[i].sw == s)
			return &z->hop[i];
	return NULL;
}

/* The price of the path from s to the destination; stops when it reaches limit.  *meet: the
 * first switch that is also on the present path. */
static uint64_t price_path(const struct search *z, ftr_sw s,
			   const struct passing *p, uint64_t limit,
			   ftr_sw *meet)
{
	uint64_t sum = 0;

	while (sum < limit) {
		const struct hop *hop = hop_at(z, s);
		uint32_t link;

		if (hop) {
			*meet = s;
			return sum + hop->rest;
		}
		link = link_of(z, s);
		sum += price_link(z, link, p, false, limit - sum);
		s = z->net->peer[link];
	}
	return sum;
}

/* The cheapest port.  *meet: the switch at which the path through it meets the present one. */
static ftr_port cheapest(struct search *z, ftr_sw s, const struct passing *p,
			 ftr_sw *meet)
{
	ftr_port now = z->entry[s], best = now;
	uint64_t price, least;

	fetch_candidates(z, s, p);
	price = price_present(z, s, p);
	least = price - price / MARGIN;
	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		uint64_t rest = UINT64_MAX;
		ftr_sw at = FTR_SW_NONE;

		for (uint32_t i = 0; i < g->n; i++) {
			ftr_port port = z->cand.sh->tree.group_ports[g->first + i];
			uint64_t first;

			if (port == now)
				continue;
			first = price_link(z, balance_link(z->net, s, port), p,
					   false, least);
			if (first >= least)
				continue;
			if (rest == UINT64_MAX)
				rest = price_path(z, g->remote, p, least, &at);
			if (first + rest < least) {
				least = first + rest;
				best = port;
				*meet = at;
			}
		}
	}
	return best;
}

static bool is_full(const struct balance_count *c, uint32_t row, uint32_t begin,
		    uint32_t end)
{
	const uint64_t *full = c->full + (size_t)row * c->words;

	for (uint32_t i = begin / 64; i <= (end - 1) / 64; i++) {
		uint64_t bits = full[i];

		if (i == begin / 64)
			bits &= ~UINT64_C(0) << begin % 64;
		if (i == (end - 1) / 64)
			bits &= ~UINT64_C(0) >> (63 - (end - 1) % 64);
		if (bits)
			return true;
	}
	return false;
}

/* Does the link carry w->meet flows in a shift of src to pos? */
static bool window_full(const struct search *z, uint32_t link,
			const struct balance_source *src, uint32_t pos)
{
	const struct balance_count *c = z->c;
	uint32_t k = balance_window(z->net, src, pos), end = k + src->n;
	uint32_t n_pos = z->net->n_pos, row = z->net->row[link], w = c->width;

	if (end <= n_pos)
		return w == 1 ? is_full(c, row, k, end) :
			is_full(c, row, k / w, (end - 1) / w + 1);
	return is_full(c, row, k / w, c->n_bins) ||
		is_full(c, row, 0, (end - n_pos - 1) / w + 1);
}

static bool is_fine(const struct search *z, uint32_t link,
		    const struct balance_source *src, uint32_t pos)
{
	return pos == BALANCE_NONE || !src->n ||
		!z->c->n_full[z->net->row[link]] ||
		!window_full(z, link, src, pos);
}

static bool path_fine(const struct search *z, ftr_sw s, const struct passing *p)
{
	while (s != z->to) {
		uint32_t link = link_of(z, s);

		if (z->c->flows[link] > z->w->target)
			return false;
		for (uint32_t i = p->head; i != BALANCE_NONE; i = z->next[i])
			if (!is_fine(z, link, &z->net->source[i], z->d->pos))
				return false;
		s = z->net->peer[link];
	}
	return true;
}

static bool choose(struct search *z, ftr_sw s, const struct passing *p)
{
	ftr_port best, now = z->entry[s];
	ftr_sw meet = z->to;

	if ((!z->is_bad[s] && (!z->moved || z->w->quick)) ||
	    !balance_may_move(z->c, s, z->d->lid))
		return true;
	if (!balance_cand_find(&z->cand, s))
		return false;
	if (!z->cand.n[s] || path_fine(z, s, p))
		return true;
	best = cheapest(z, s, p, &meet);
	if (best == now)
		return true;
	add_path(z, s, meet, p, -1);
	if (!balance_move(z->c, s, z->index, best)) {
		add_path(z, s, meet, p, 1);
		return false;
	}
	add_path(z, s, meet, p, 1);
	z->moved = true;
	z->w->moved++;
	return true;
}

/* ---- bad paths ---------------------------------------------------------------- */

/* Mark the switches whose path may have a bad link: one above the target, or with a full bin
 * of any shift. False: there is no such switch, and mark_bad is not needed. */
static bool mark_hot(const struct search *z, struct marker *m, uint32_t d)
{
	const struct balance_net *net = z->net;
	const struct balance_dest *to = &net->dest[d];
	const struct balance_order *o = &net->order[to->col];
	const uint8_t *entry = balance_entries(net, z->c->entry, d);
	bool any = false;

	for (uint32_t i = o->n; i-- > 0;) {
		ftr_sw s = o->sw[i];
		uint32_t link = balance_link_to(net, s, entry[s]);

		m->hot[s] = 0;
		m->via[s] = link;
		if (i + 1 == o->n || link == BALANCE_NONE)
			continue;
		m->hot[s] = z->c->flows[link] > z->w->target ||
			(to->pos != BALANCE_NONE &&
			 z->c->n_full[net->row[link]]) ||
			m->hot[net->peer[link]];
		any |= m->hot[s];
	}
	return any;
}

/* Mark the switches on the path of each source, up to its last bad link. */
static void mark_bad(const struct search *z, const struct marker *m, uint32_t d,
		     uint8_t *bad)
{
	uint32_t pos = z->net->dest[d].pos;

	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		const struct balance_source *src = &z->net->source[k];
		uint32_t n = 0, last = 0;

		for (ftr_sw s = src->sw; m->hot[s];
		     s = z->net->peer[m->via[s]]) {
			m->path[n++] = s;
			if (z->c->flows[m->via[s]] > z->w->target ||
			    !is_fine(z, m->via[s], src, pos))
				last = n;
		}
		while (last)
			bad[m->path[--last]] = 1;
	}
}

static void mark(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct search *z = ctx;
	struct marker *m = &z->marker[worker];
	uint32_t n_sw = z->net->f->n_sw;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t d = z->net->turn[z->begin + i];
		uint8_t *bad = z->bad + (size_t)i * n_sw;

		memset(m->hot, 0, n_sw);
		z->any[i] = mark_hot(z, m, d);
		if (!z->any[i])
			continue;
		memset(bad, 0, n_sw);
		mark_bad(z, m, d, bad);
	}
}

/* ---- destinations --------------------------------------------------------------- */

static void set_passing(struct search *z)
{
	for (uint32_t i = 0; i < z->order->n; i++) {
		ftr_sw s = z->order->sw[i];
		uint32_t src = z->net->source_of[s];

		z->at[s] = (struct passing){ 0, src, src };
		if (src != BALANCE_NONE) {
			z->at[s].hosts = z->net->source[src].hosts;
			z->next[src] = BALANCE_NONE;
		}
	}
}

/* Add the sources whose flows pass through `from` to those of switch `to`. */
static void pass_on(struct search *z, const struct passing *from, ftr_sw to)
{
	struct passing *p = &z->at[to];

	if (p->head == BALANCE_NONE)
		p->head = from->head;
	else
		z->next[p->tail] = from->head;
	p->tail = from->tail;
	p->hosts += from->hosts;
}

static bool sweep_dest(struct search *z)
{
	z->moved = false;
	set_passing(z);
	for (uint32_t i = 0; i + 1 < z->order->n; i++) {
		ftr_sw s = z->order->sw[i];
		const struct passing *p = &z->at[s];
		uint32_t link;

		if (p->head == BALANCE_NONE)
			continue;
		if (!choose(z, s, p))
			return false;
		link = balance_link_to(z->net, s, z->entry[s]);
		if (link != BALANCE_NONE)
			pass_on(z, p, z->net->peer[link]);
	}
	return true;
}

static bool cancelled(struct search *z)
{
	const struct ftr_balance_input *in = z->net->in;

	z->w->cancelled = in->cancelled && in->cancelled(in->ctx);
	return z->w->cancelled;
}

static bool sweep_batch(struct search *z, uint32_t n)
{
	const struct balance_net *net = z->net;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = z->net->turn[z->begin + i], l = net->dest[d].col;

		if (!z->any[i])
			continue;
		if (cancelled(z))
			return true;
		if (!z->order || z->order != &net->order[l])
			balance_cand_column(&z->cand, net, l);
		z->order = &net->order[l];
		z->to = net->in->shape->numbering.col_sw[l];
		z->d = &net->dest[d];
		z->index = d;
		z->entry = balance_entries(net, z->c->entry, d);
		z->is_bad = z->bad + (size_t)i * net->f->n_sw;
		if (!sweep_dest(z))
			return false;
	}
	return true;
}

static bool sweep_all(struct search *z, struct ftr_team *team)
{
	uint32_t all = z->net->first[z->net->f->n_sw];
	uint32_t batch = z->w->quick ? BATCH : 1;

	for (; z->begin < all && !z->w->cancelled; z->begin += batch) {
		uint32_t n = FTR_MIN(batch, all - z->begin);

		if (n > 1)
			ftr_team_run(team, n, 4, mark, z);
		else
			mark(z, 0, 0, 1);
		if (!sweep_batch(z, n))
			return false;
	}
	return true;
}

static bool search_new(struct search *z, unsigned int workers)
{
	struct ftr_arena *a = z->arena = ftr_arena_new();
	uint32_t n_sw = z->net->f->n_sw;
	bool ok;

	if (!a)
		return false;
	z->at = ftr_arena_alloc(a, n_sw, sizeof(*z->at));
	z->next = ftr_arena_alloc(a, z->net->n_sources, sizeof(*z->next));
	z->bad = ftr_arena_alloc(a, (size_t)BATCH * n_sw, 1);
	z->any = ftr_arena_alloc(a, BATCH, sizeof(*z->any));
	z->hop = ftr_arena_alloc(a, n_sw + 1u, sizeof(*z->hop));
	z->marker = ftr_arena_alloc(a, workers, sizeof(*z->marker));
	ok = z->at && z->next && z->bad && z->any && z->hop && z->marker;
	for (unsigned int i = 0; ok && i < workers; i++) {
		struct marker *m = &z->marker[i];

		m->hot = ftr_arena_alloc(a, n_sw, 1);
		m->via = ftr_arena_alloc(a, n_sw, sizeof(*m->via));
		m->path = ftr_arena_alloc(a, n_sw, sizeof(*m->path));
		ok = m->hot && m->via && m->path;
	}
	return ok && balance_cand_new(&z->cand, a, n_sw);
}

enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_team *team, struct ftr_err *err)
{
	struct search z = { .c = c, .net = c->net, .w = w };
	bool ok = search_new(&z, ftr_team_size(team));

	if (ok) {
		balance_bins_full(c, (w->meet - 1) * c->width, team);
		set_prices(&z);
		ok = sweep_all(&z, team);
	}
	balance_cand_free(&z.cand);
	ftr_arena_free(z.arena);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM,
				      "out of memory for balancing");
}
