// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One sweep of the search over all entries, with shifts.
 *
 * Destination by destination, and for each from the farthest switch to the nearest: remove
 * the flows that pass through the entry from the rest of their path, compute the cost of
 * the path through every candidate, take the cheapest, and add the flows again.  The
 * search is greedy with exact costs, in a fixed order, without random numbers.
 *
 * The cost of a path is the sum over its links of
 *
 *	w->over			for each all-to-all flow above the target
 *	(N + 1)^POWER - N^POWER	for each shift in which a flow shares the link with
 *				N others: a smooth substitute for the maximum over
 *				all links
 *	flows			with a tiny factor, so that idle links are preferred
 *
 * An entry keeps its candidate unless another is cheaper by more than 1 / MARGIN.  Entries
 * whose whole path is below the target and shares no shift with w->meet flows are not
 * examined: they are not on the most loaded link.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

#define MARGIN 10000
#define POWER 5
#define PRICES 4096
#define SCALE 4			/* fixed point of the prices of shifts */

/* The flows that pass through an entry. */
struct passing {
	uint32_t hosts;
	uint32_t head, tail;	/* list of sources, BALANCE_NONE: empty */
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
	/* of the destination, before any entry moves (afterwards any path may have a
	 * link that is not fine). A link is fine if it is not above the target and
	 * no shift of the flows has w->meet flows on it */
	uint8_t *hot;		/* [n_sw] the path may have a link that is not fine */
	uint8_t *bad;		/* [n_sw] the path of a source has such a link at or after s */
	uint32_t *via;		/* [n_sw] link of the entry, or BALANCE_NONE */
	ftr_sw *path;		/* [n_sw] scratch */
	bool moved;
	ftr_sw to;
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

static uint64_t price_window(const struct search *z, const uint16_t *row,
			     const struct balance_source *src, uint32_t pos)
{
	const struct balance_count *c = z->c;
	uint32_t n_pos = z->net->n_pos, width = c->width;
	uint32_t k = balance_window(z->net, src, pos), left = src->n;
	uint64_t sum = 0;

	if (width == 1 && k + left <= n_pos) {
		for (const uint16_t *b = row + k; left; left--, b++)
			sum += z->price[FTR_MIN(*b, PRICES - 1)];
		return sum;
	}
	while (left) {
		uint32_t bin = k / width;
		uint32_t end = FTR_MIN((bin + 1) * width, n_pos);
		uint32_t n = FTR_MIN(end - k, left);

		sum += (uint64_t)n * z->price[FTR_MIN(row[bin], PRICES - 1)];
		left -= n;
		k = end == n_pos ? 0 : end;
	}
	return sum;
}

static uint64_t price_link(const struct search *z, uint32_t link,
			   const struct passing *p, uint32_t pos)
{
	uint32_t flows = z->c->flows[link], target = z->w->target;
	uint64_t sum = flows / 16 * p->hosts / 16;

	if (flows + p->hosts > target)
		sum += z->w->over * FTR_MIN(p->hosts, flows + p->hosts - target);
	if (pos == BALANCE_NONE)
		return sum;
	for (uint32_t i = p->head; i != BALANCE_NONE; i = z->next[i])
		if (z->net->source[i].n)
			sum += price_window(z, z->c->bins +
					    (size_t)z->net->row[link] *
					    z->c->n_bins,
					    &z->net->source[i], pos);
	return sum;
}

static uint32_t link_of(const struct search *z, ftr_sw s, ftr_lid lid)
{
	return balance_link(z->net, s, ftr_tables_row(z->c->t, s)[lid]);
}

/* From s to the destination, up to limit. */
static uint64_t price_path(const struct search *z, ftr_sw s,
			   const struct passing *p,
			   const struct balance_dest *d, uint64_t limit)
{
	uint64_t sum = 0;

	while (s != z->to && sum < limit) {
		uint32_t link = link_of(z, s, d->lid);

		sum += price_link(z, link, p, d->pos);
		s = z->net->peer[link];
	}
	return sum;
}

/* ---- one entry --------------------------------------------------------------- */

static void add_path(struct search *z, ftr_sw s, const struct passing *p,
		     const struct balance_dest *d, int by)
{
	while (s != z->to) {
		uint32_t link = link_of(z, s, d->lid);

		z->c->flows[link] += (uint32_t)by * p->hosts;
		for (uint32_t i = p->head; d->pos != BALANCE_NONE &&
		     i != BALANCE_NONE; i = z->next[i])
			if (z->net->source[i].n)
				balance_bins_add(z->c, link,
						 &z->net->source[i], d->pos,
						 by);
		s = z->net->peer[link];
	}
}

/* Does the link carry fewer than w->meet flows in all shifts of src to pos? */
static bool window_fine(const struct search *z, const uint16_t *row,
			 const struct balance_source *src, uint32_t pos)
{
	uint32_t k = balance_window(z->net, src, pos), left = src->n;

	while (left) {
		uint32_t bin = k / z->c->width;
		uint32_t end = FTR_MIN((bin + 1) * z->c->width, z->net->n_pos);
		uint32_t n = FTR_MIN(end - k, left);

		if (row[bin] > (z->w->meet - 1) * z->c->width)
			return false;
		left -= n;
		k = end == z->net->n_pos ? 0 : end;
	}
	return true;
}

static bool link_fine(const struct search *z, uint32_t link,
		      const struct passing *p, uint32_t pos)
{
	if (z->c->flows[link] > z->w->target)
		return false;
	if (pos == BALANCE_NONE ||
	    z->c->peak[link] <= (z->w->meet - 1) * z->c->width)
		return true;
	for (uint32_t i = p->head; i != BALANCE_NONE; i = z->next[i])
		if (z->net->source[i].n &&
		    !window_fine(z, z->c->bins + (size_t)z->net->row[link] *
				  z->c->n_bins, &z->net->source[i], pos))
			return false;
	return true;
}

static bool path_fine(const struct search *z, ftr_sw s,
		      const struct passing *p, const struct balance_dest *d)
{
	while (s != z->to) {
		uint32_t link = link_of(z, s, d->lid);

		if (!link_fine(z, link, p, d->pos))
			return false;
		s = z->net->peer[link];
	}
	return true;
}

static ftr_port cheapest(struct search *z, ftr_sw s, const struct passing *p,
			 const struct balance_dest *d)
{
	ftr_port now = ftr_tables_row(z->c->t, s)[d->lid], best = now;
	uint64_t price = price_path(z, s, p, d, UINT64_MAX);
	uint64_t least = price - price / MARGIN;

	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		uint64_t rest = UINT64_MAX;

		for (uint32_t i = 0; i < g->n; i++) {
			ftr_port port = z->cand.sh->tree.group_ports[g->first + i];
			uint64_t first;

			if (port == now)
				continue;
			first = price_link(z, balance_link(z->net, s, port), p,
					   d->pos);
			if (first >= least)
				continue;
			if (rest == UINT64_MAX)
				rest = price_path(z, g->remote, p, d, least);
			if (first + rest < least) {
				least = first + rest;
				best = port;
			}
		}
	}
	return best;
}

static bool choose(struct search *z, ftr_sw s, const struct passing *p,
		   const struct balance_dest *d)
{
	ftr_port best, now = ftr_tables_get(z->c->t, s, d->lid);
	bool ok = true;

	if ((!z->bad[s] && (!z->moved || z->w->quick)) ||
	    !balance_may_move(z->c, s, d->lid))
		return true;
	if (!balance_cand_find(&z->cand, s))
		return false;
	if (!z->cand.n[s] || path_fine(z, s, p, d))
		return true;
	add_path(z, s, p, d, -1);
	best = cheapest(z, s, p, d);
	if (best != now) {
		ok = balance_move(z->c, s, d->lid, best);
		z->moved |= ok;
		z->w->moved += ok;
	}
	add_path(z, s, p, d, 1);
	return ok;
}

/* ---- a column ---------------------------------------------------------------- */

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

/* Flows that pass through `from` pass through `to` as well. */
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

/* Mark the switches whose path may have a link that is not fine. This is a quick
 * test; most destinations need no other. */
static bool mark_hot(struct search *z, const struct balance_dest *d)
{
	uint32_t full = (z->w->meet - 1) * z->c->width;
	bool shifts = d->pos != BALANCE_NONE, any = false;
	const uint8_t *entry = z->c->t->lft + d->lid;

	for (uint32_t i = z->order->n; i-- > 0;) {
		ftr_sw s = z->order->sw[i];
		uint32_t link = balance_link_to(z->net, s, entry[(size_t)s *
							 z->c->t->stride]);

		z->hot[s] = 0;
		z->via[s] = link;
		if (s == z->to || link == BALANCE_NONE)
			continue;
		z->hot[s] = z->c->flows[link] > z->w->target ||
			(shifts && z->c->peak[link] > full) ||
			z->hot[z->net->peer[link]];
		any |= z->hot[s];
	}
	return any;
}

static bool is_bad(const struct search *z, uint32_t link,
		   const struct balance_source *src, uint32_t pos)
{
	const struct balance_count *c = z->c;

	if (c->flows[link] > z->w->target)
		return true;
	return pos != BALANCE_NONE && src->n &&
		c->peak[link] > (z->w->meet - 1) * c->width &&
		!window_fine(z, c->bins + (size_t)z->net->row[link] * c->n_bins,
			     src, pos);
}

/* Mark the switches on the path of each source, up to its last link that is not
 * fine. */
static void mark_bad(struct search *z, const struct balance_dest *d)
{
	memset(z->bad, 0, z->net->f->n_sw);
	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		const struct balance_source *src = &z->net->source[k];
		uint32_t n = 0, last = 0;

		for (ftr_sw s = src->sw; s != z->to && z->hot[s];) {
			z->path[n++] = s;
			if (is_bad(z, z->via[s], src, d->pos))
				last = n;
			s = z->net->peer[z->via[s]];
		}
		while (last)
			z->bad[z->path[--last]] = 1;
	}
}

static bool sweep_dest(struct search *z, const struct balance_dest *d)
{
	if (!mark_hot(z, d))
		return true;
	mark_bad(z, d);
	z->moved = false;
	set_passing(z);
	for (uint32_t i = 0; i + 1 < z->order->n; i++) {
		ftr_sw s = z->order->sw[i];
		const struct passing *p = &z->at[s];
		uint32_t link;

		if (p->head == BALANCE_NONE)
			continue;
		if (!choose(z, s, p, d))
			return false;
		link = balance_link_to(z->net, s,
				       ftr_tables_get(z->c->t, s, d->lid));
		if (link != BALANCE_NONE)
			pass_on(z, p, z->net->peer[link]);
	}
	return true;
}

static bool sweep_column(struct search *z, uint32_t l)
{
	const struct balance_net *net = z->net;

	z->to = net->in->shape->numbering.col_sw[l];
	z->order = &net->order[l];
	balance_cand_column(&z->cand, net, l);
	for (uint32_t i = net->first[l]; i < net->first[l + 1]; i++) {
		if (net->in->cancelled && net->in->cancelled(net->in->ctx)) {
			z->w->cancelled = true;
			return true;
		}
		if (!sweep_dest(z, &net->dest[i]))
			return false;
	}
	return true;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/* Visit columns in a scattered order, because neighbours in the order of hosts
 * compete for the same shifts. */
static bool sweep_all(struct search *z)
{
	uint32_t n = z->net->f->n_sw;
	uint32_t step = n * 5 / 8 + 1, l = 0;

	while (gcd(step, n) != 1)
		step++;
	for (uint32_t i = 0; i < n && !z->w->cancelled; i++) {
		if (z->net->first[l] < z->net->first[l + 1] &&
		    !sweep_column(z, l))
			return false;
		l = (l + step) % n;
	}
	return true;
}

enum ftr_status balance_sweep(struct balance_count *c, struct balance_sweep *w,
			      struct ftr_err *err)
{
	uint32_t n_sw = c->net->f->n_sw;
	struct search z = {
		.c = c, .net = c->net, .w = w, .arena = ftr_arena_new(),
	};
	bool ok = z.arena != NULL;

	if (ok) {
		z.at = ftr_arena_alloc(z.arena, n_sw, sizeof(*z.at));
		z.next = ftr_arena_alloc(z.arena, c->net->n_sources,
					 sizeof(*z.next));
		z.hot = ftr_arena_zalloc(z.arena, n_sw, 1);
		z.bad = ftr_arena_alloc(z.arena, n_sw, 1);
		z.via = ftr_arena_alloc(z.arena, n_sw, sizeof(*z.via));
		z.path = ftr_arena_alloc(z.arena, n_sw, sizeof(*z.path));
		ok = z.at && z.next && z.hot && z.bad && z.via && z.path &&
			balance_cand_new(&z.cand, z.arena, n_sw);
	}
	if (ok) {
		set_prices(&z);
		ok = sweep_all(&z);
	}
	balance_cand_free(&z.cand);
	ftr_arena_free(z.arena);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM,
				      "out of memory for balancing");
}
