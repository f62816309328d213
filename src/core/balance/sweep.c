// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes one sweep: a pass over the entries, in which entries get other ports.
 *
 * The sweep visits one destination after the other.  The entries for a destination are examined
 * from the nearest switch to the farthest, in the order of column.c.  So a flow's path behind the
 * examined entry is known.  And because the entries before it have not changed yet, the flows that
 * pass it are those that passed it when the destination was begun: the sources are put into one
 * array such that the sources of each switch, whose flows pass the switch, are a range of this
 * array.
 *
 *	               to                          array: a b c d e
 *	             /    \
 *	            x      y                       range of x: a b c
 *	           / \    / \                      range of z: a b
 *	          z   c  d   e
 *	         / \
 *	        a   b
 *
 * If only the entries of a set may change, for example those that failed links have displaced, there
 * are few of them for each destination.  Then the sources of each are found by going backward from
 * it, and nothing is done for the other entries.
 *
 * The search is greedy, in a fixed order, without random numbers, and with one thread.
 */
#include <string.h>

#include "balance/balance.h"
#include "base/bytes.h"

/* Flows that pass a switch.  Their sources are tour[first .. first + n - 1]. */
struct passing {
	uint32_t hosts, rail;	/* rail: sum of balance_rail() */
	uint16_t n, first, left;	/* left: scratch of set_tour() */
};

struct sweep {
	struct balance_loads *l;
	const struct balance_net *net;
	struct balance_sweep *w;
	struct balance_column col;
	struct balance_flows flows;
	const struct ftr_dest *d;
	uint32_t pos;		/* of d, see balance_net.pos */
	struct passing *at;	/* at[s]: the flows that pass switch s */
	struct passing *own;	/* own[s]: the flows that begin at switch s */
	uint16_t *tour;		/* [n_sources] indices in net->source[] */
	struct balance_behind behind;	/* its array of sources is tour[] */
	bool *examine;		/* examine[s]: the entry of s may have to change */
	uint32_t *listed;	/* [n_sw] see find_entries() and find_listed() */
	/* above[0 .. n_above - 1]: the links above the target, and links that were above it;
	 * is_noted[link]: the link is one of them.  Not used in sweeps that place entries, or with
	 * bins */
	uint32_t *above, n_above;
	bool *is_noted;
};

/* ---- which entries ----------------------------------------------------------------- */

static inline bool is_above(const struct sweep *z, uint32_t link)
{
	uint64_t target = z->w->price.target;

	return z->l->flows[link] > target ||
		(z->l->rail && (uint64_t)z->l->rail[link] * z->net->rail_weight > target);
}

/* True if a link may be bad: it has too many all-to-all flows, or too many in some shift. */
static inline bool may_be_bad(const struct sweep *z, uint32_t link)
{
	return is_above(z, link) ||
		(z->l->bins && z->pos != BALANCE_NONE && z->l->n_full[z->net->links.row[link]]);
}

/* Add a link to above[] if it is above the target. */
static void note_above(struct sweep *z, uint32_t link)
{
	if (z->is_noted[link] || !is_above(z, link))
		return;
	z->is_noted[link] = true;
	z->above[z->n_above++] = link;
}

/* True if an entry for the destination leads onto a link above the target.  mark: instead, set
 * examine[] for all switches whose paths pass such a link. */
static bool uses_above(struct sweep *z, bool mark)
{
	for (uint32_t i = 0; i < z->n_above; i++) {
		const struct ftr_swport *x = &z->net->f->ports[z->above[i]];
		ftr_sw s = ftr_fabric_port(z->net->f, x->peer, x->peer_port)->peer;

		if (balance_link(z->net, z->flows.of, s) != z->above[i] || !is_above(z, z->above[i]))
			continue;
		if (!mark)
			return true;
		balance_behind(&z->behind, s);
		for (uint32_t k = 0; k < z->behind.n_sw; k++)
			z->examine[z->behind.sw[k]] = true;
	}
	return false;
}

/* Set listed[] to the entries that may have to change, nearest first, and return their number. */
static uint32_t find_entries(const struct sweep *z)
{
	const uint16_t *sw = z->col.sw;
	const struct passing *at = z->at;
	uint32_t least = FTR_MAX(z->w->least, 1u), n = 0;

	z->examine[z->flows.of.to] = false;
	for (uint32_t i = z->col.n - 1; i-- > 0;) {
		ftr_sw s = sw[i];
		uint32_t link;

		if (at[s].hosts < least)
			continue;
		link = balance_link(z->net, z->flows.of, s);
		z->examine[s] = may_be_bad(z, link) || z->examine[z->net->links.peer[link]];
		if (z->examine[s])
			z->listed[n++] = s;
	}
	return n;
}

/* True if the entry of s may have to change: it has no port, or its path a link that may be bad. */
static bool is_candidate(const struct sweep *z, ftr_sw s)
{
	if (z->w->place)
		return z->flows.of.entry[s] == FTR_PORT_NONE;
	if (!z->l->bins)
		return z->examine[s];
	for_each_link(z->net, z->flows.of, s, link)
		if (may_be_bad(z, link))
			return true;
	return false;
}

/* Switches with a lower distance come later in the order of the column.  BALANCE_NONE: s has no
 * path. */
static uint32_t distance(const struct sweep *z, ftr_sw s)
{
	const struct balance_column *c = &z->col;
	uint8_t cost = c->costs.cost[s * c->costs.stride];

	if (z->net->in->extra)
		return c->at[s] ? c->n - c->at[s] : BALANCE_NONE;
	return cost == FTR_COST_INF ? BALANCE_NONE : cost;
}

/* Set listed[] to the entries of the set w->only that may have to change, nearest first, and return
 * their number.  Each element is (distance << 16 | switch). */
static uint32_t find_listed(struct sweep *z, uint32_t d)
{
	const struct balance_subset *only = z->w->only;
	uint32_t n = 0;

	if (!z->w->place && !z->l->bins) {
		memset(z->examine, false, z->net->f->n_sw);
		uses_above(z, true);
	}
	for (uint32_t i = only->first[d + 1]; i-- > only->first[d];) {
		uint16_t s = only->sw[i];
		uint32_t k = n, far = is_candidate(z, s) ? distance(z, s) : BALANCE_NONE;

		if (far == BALANCE_NONE)
			continue;
		for (n++; k > 0 && z->listed[k - 1] >> 16 > far; k--)
			z->listed[k] = z->listed[k - 1];
		z->listed[k] = far << 16 | s;
	}
	return n;
}

/* Set at[].  Returns false if the entries do not follow the order of the column: the entry of a
 * switch with a path must lead to a later switch, and the entry of a source without a path must
 * lead to no switch. */
static bool find_flows(const struct sweep *z)
{
	const struct balance_column *c = &z->col;
	const struct flow_net net = z->net->links;	/* a copy, so that it stays in registers */
	const struct flow_dest of = z->flows.of;
	struct passing *at = z->at;

	for (uint32_t i = c->n; i < net.f->n_sw; i++)
		if (z->net->source_of[c->sw[i]] != BALANCE_NONE &&
		    balance_link(z->net, of, c->sw[i]) != BALANCE_NONE)
			return false;
	memcpy(at, z->own, net.f->n_sw * sizeof(*at));
	for (uint32_t i = 0, n = c->n; i + 1 < n; i++) {
		const struct passing *p = &at[c->sw[i]];
		uint32_t link = flow_link_to(&net, c->sw[i], of.entry[c->sw[i]]);
		struct passing *next;

		if (link == BALANCE_NONE || c->at[net.peer[link]] <= i + 1)
			return false;
		next = &at[net.peer[link]];
		next->hosts += p->hosts;
		next->rail += p->rail;
		next->n += p->n;
	}
	return true;
}

/* Give each switch its range of the array: a part of the range of the next switch. */
static void set_tour(const struct sweep *z)
{
	const struct balance_column *c = &z->col;
	struct passing *to = &z->at[z->flows.of.to];

	to->first = 0;
	to->left = to->n;
	for (uint32_t i = c->n - 1; i-- > 0;) {
		struct passing *p = &z->at[c->sw[i]];
		uint32_t src = z->net->source_of[c->sw[i]];
		struct passing *next =
			&z->at[z->net->links.peer[balance_link(z->net, z->flows.of, c->sw[i])]];

		next->left -= p->n;
		p->first = next->left;
		p->left = p->first + p->n;
		if (src != BALANCE_NONE)
			z->tour[--p->left] = (uint16_t)src;
	}
}

/* ---- one entry ---------------------------------------------------------------------- */

static bool is_bad(const struct sweep *z, uint32_t link)
{
	if (is_above(z, link))
		return true;
	if (!z->flows.n_shifts || !z->l->n_full[z->net->links.row[link]])
		return false;
	for (uint32_t i = 0; i < z->flows.n_shifts; i++)
		if (balance_bins_any(z->l, link, z->flows.shift[i]))
			return true;
	return false;
}

static bool path_is_bad(const struct sweep *z, ftr_sw s)
{
	for_each_link(z->net, z->flows.of, s, link)
		if (is_bad(z, link))
			return true;
	return false;
}

static void examine(struct sweep *z, ftr_sw s)
{
	const struct passing *p = &z->at[s];
	const struct ftr_group *const *cand;
	ftr_port port, *entry = &z->flows.of.entry[s];
	uint32_t n;

	cand = balance_candidates(&z->col, s, &n);
	if (!n || (n == 1 && cand[0]->n == 1 && !z->w->place))
		return;
	z->flows.hosts = p->hosts;
	z->flows.rail = p->rail;
	z->flows.n_shifts = 0;
	for (uint32_t i = 0; z->l->bins && z->pos != BALANCE_NONE && i < p->n; i++)
		balance_add_shifts(&z->flows, &z->net->source[z->tour[p->first + i]], z->pos);
	if (!z->w->place && !path_is_bad(z, s))
		return;
	balance_add(&z->flows, s, -1);
	port = balance_choose(&z->flows, s, cand, n,
			      z->d->lid + z->net->in->shape->numbering.col[s]);
	z->w->moved += port != *entry;
	*entry = (uint8_t)port;
	balance_add(&z->flows, s, 1);
	if (!z->w->place && !z->l->bins)
		for_each_link(z->net, z->flows.of, s, link)
			note_above(z, link);
}

/* ---- all destinations ---------------------------------------------------------------- */

static void sweep_all(struct sweep *z)
{
	uint32_t n = find_flows(z) ? find_entries(z) : 0;

	if (n && z->l->bins && z->pos != BALANCE_NONE)
		set_tour(z);
	for (uint32_t i = 0; i < n; i++)
		examine(z, z->listed[i]);
}

/* Prefetch the bins of the first two paths of an entry that is examined soon. */
static void fetch_bins(struct sweep *z, ftr_sw s)
{
	const struct balance_net *net = z->net;
	uint32_t n, begin = z->d->lid + net->in->shape->numbering.col[s], src = net->source_of[s];
	const struct ftr_group *const *cand = balance_candidates(&z->col, s, &n);
	const uint16_t *bin = z->l->bins;

	if (!bin || z->pos == BALANCE_NONE || src == BALANCE_NONE)
		return;
	bin += balance_bin(z->l, balance_shifts_of(net, &net->source[src], z->pos).begin);
	for (uint32_t k = 0; k < FTR_MIN(n, 2u); k++) {
		const struct ftr_group *g = cand[(begin + k) % n];
		ftr_sw from = g->remote;
		uint32_t own = net->links.ports[s].begin + balance_port(z->flows.sh, g, n, begin, 0);

		__builtin_prefetch(bin + (size_t)net->links.row[own] * z->l->n_bins);
		for_each_link(net, z->flows.of, from, link)
			__builtin_prefetch(bin + (size_t)net->links.row[link] * z->l->n_bins);
	}
}

static void sweep_listed(struct sweep *z, uint32_t d)
{
	uint32_t n;

	z->behind.costs = z->col.costs;
	z->behind.of = z->flows.of;
	n = find_listed(z, d);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t s = (uint16_t)z->listed[i];

		if (z->w->place && i + 1 < n)
			fetch_bins(z, (uint16_t)z->listed[i + 1]);
		balance_behind(&z->behind, s);
		z->at[s] = (struct passing){ z->behind.hosts, z->behind.rail, (uint16_t)z->behind.n, 0, 0 };
		if (z->w->place || z->behind.hosts >= FTR_MAX(z->w->least, 1u))
			examine(z, s);
	}
}

/* Set z->col for column l.  Returns false if the candidates lead in a circle. */
static bool begin_column(struct sweep *z, struct flow_dest of, uint32_t l)
{
	if (z->w->only && !z->net->in->extra) {
		balance_column_begin(&z->col, l);
		return true;
	}
	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		const struct flow_source *src = &z->net->source[k];

		z->own[src->sw] = (struct passing){ src->hosts, balance_rail(z->net, src, of.to), 1, 0, 0 };
	}
	return balance_column_set(&z->col, l, of);
}

/* Returns false if the sweep was cancelled. */
static bool sweep_column(struct sweep *z, const struct flow_dest *copy, uint32_t l)
{
	const struct balance_net *net = z->net;
	const struct balance_subset *only = z->w->only;

	for (uint32_t d = net->first[l]; d < net->first[l + 1]; d++) {
		z->flows.of = copy[d];
		z->d = &net->dest[d];
		z->pos = net->pos[d];
		if ((only && only->first[d] == only->first[d + 1]) ||
		    (!z->w->place && !z->l->bins && !uses_above(z, false)))
			continue;
		if (z->col.l != l && !begin_column(z, copy[net->first[l]], l))
			return true;
		z->w->cancelled = !z->w->place && balance_cancelled(net);
		if (z->w->cancelled)
			return false;
		z->flows.sh = z->col.sh;
		if (z->w->place)
			bytes_fetch(copy[d].entry + net->f->n_sw, net->f->n_sw);
		if (only)
			sweep_listed(z, d);
		else
			sweep_all(z);
	}
	return true;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/* Columns that are neighbours in the host order are not visited one after the other, because flows
 * to neighbours are in the same shifts. */
static void sweep_columns(struct sweep *z, const struct flow_dest *copy)
{
	uint32_t n = z->net->f->n_sw, step = z->w->place ? 1 : n * 5 / 8 + 1, l = 0;

	while (gcd(step, n) != 1)
		step++;
	for (uint32_t i = 0; i < n && sweep_column(z, copy, l); i++)
		l = (l + step) % n;
}

enum ftr_status balance_sweep(struct balance_loads *l, struct flow_dest *copy,
			      struct balance_sweep *w, struct ftr_err *err)
{
	const struct balance_net *net = l->net;
	struct sweep z = { .l = l, .net = net, .w = w };
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && balance_column_new(net, a, &z.col) &&
		FTR_NEW(a, z.at, net->f->n_sw) && FTR_ZNEW(a, z.own, net->f->n_sw) &&
		FTR_NEW(a, z.behind.sw, net->f->n_sw) && FTR_NEW(a, z.listed, net->f->n_sw) &&
		FTR_NEW(a, z.examine, net->f->n_sw) && FTR_NEW(a, z.above, net->n_links) &&
		FTR_ZNEW(a, z.is_noted, net->n_links) && FTR_NEW(a, z.tour, net->n_sources + 1u) &&
		FTR_NEW(a, z.flows.shift, net->n_sources + 1u);

	w->moved = 0;
	if (ok) {
		z.behind.net = net;
		z.behind.source = z.tour;
		z.flows.loads = l;
		z.flows.price = &w->price;
		if (l->bins)
			balance_bins_full(l, w->place || w->meet == UINT16_MAX ? UINT16_MAX :
					  (w->meet - 1) * l->width);
		for (uint32_t x = 0; x < net->n_links; x++)
			note_above(&z, x);
		sweep_columns(&z, copy);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "balancing");
}
