// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One sweep of the search for all-to-all traffic alone, fast enough for every routing.
 *
 * Only destinations whose tree has a link above the target are examined.  For each, flows
 * are added up from the farthest switch to the nearest.  Then the entries are tried from
 * the nearest to the farthest, so that few changes move many flows.  w->least skips
 * entries with few flows: sweeps go from coarse to fine.
 *
 * The excess of a link is its load above the target.  An entry moves if that reduces the
 * sum of the squares of all excesses.  Among such candidates it takes the one with the
 * smallest sum of squares, then the one whose path has the fewest flows.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct load {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	struct balance_cand cand;
	bool *wanted;		/* [n_dests] its tree has a link above the target */
	/* entries of some columns, so that rows are read in large pieces */
	uint8_t *copy;		/* [some destinations][n_sw] */
	uint32_t copied;	/* the first destination */
	/* of one destination, by switch */
	uint32_t *hosts;	/* hosts that send through it */
	uint8_t *entry;		/* in the copy */
	uint64_t *excess;	/* excess of the path, NO_PATH or UNKNOWN */
	ftr_sw *large;		/* switches with w->least hosts, farthest first */
	uint32_t n_large;
	const struct balance_dest *d;
	ftr_sw to;
};

#define COPIES 64		/* destinations in a copy, or one column */
#define NO_PATH UINT64_MAX
#define UNKNOWN UINT64_C(0xfefefefefefefefe)	/* for memset */

static uint64_t excess_of(const struct load *z, uint32_t link)
{
	uint32_t flows = z->c->flows[link];

	return flows > z->w->target ? flows - z->w->target : 0;
}

static uint32_t link_of(const struct load *z, ftr_sw s)
{
	return balance_link_to(z->net, s, z->entry[s]);
}

/* ---- one entry ----------------------------------------------------------------- */

struct price {
	uint64_t square, flows;
};

static bool cheaper(const struct price *a, const struct price *b)
{
	return a->square != b->square ? a->square < b->square :
		a->flows < b->flows;
}

/* Add the price of n more flows on a link. */
static void price_link(const struct load *z, uint32_t link, uint32_t n,
		       struct price *p)
{
	uint64_t was = excess_of(z, link);
	uint64_t flows = (uint64_t)z->c->flows[link] + n;
	uint64_t is = flows > z->w->target ? flows - z->w->target : 0;

	p->square += is * is - was * was;
	p->flows += flows;
}

static struct price price_path(const struct load *z, ftr_sw s, uint32_t n)
{
	struct price p = { 0 };

	while (s != z->to) {
		uint32_t link = link_of(z, s);

		price_link(z, link, n, &p);
		s = z->net->peer[link];
	}
	return p;
}

static void add_path(const struct load *z, ftr_sw s, uint32_t n)
{
	while (s != z->to) {
		uint32_t link = link_of(z, s);

		z->c->flows[link] += n;
		s = z->net->peer[link];
	}
}

/* The excess of the path from s, computed when needed. */
static uint64_t path_excess(struct load *z, ftr_sw s)
{
	uint32_t link;
	uint64_t sum;

	if (z->excess[s] != UNKNOWN)
		return z->excess[s];
	link = link_of(z, s);
	sum = link == BALANCE_NONE ? NO_PATH :
		path_excess(z, z->net->peer[link]);
	if (sum != NO_PATH)
		sum += excess_of(z, link);
	return z->excess[s] = sum;
}

static ftr_port cheapest(struct load *z, ftr_sw s)
{
	ftr_port now = z->entry[s], best = now;
	uint32_t n = z->hosts[s];
	struct price least = price_path(z, s, n);
	uint64_t square = least.square;

	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		struct price rest;

		if (path_excess(z, g->remote) == NO_PATH)
			continue;
		rest = price_path(z, g->remote, n);
		for (uint32_t i = 0; rest.square <= least.square && i < g->n;
		     i++) {
			ftr_port port = z->cand.sh->tree.group_ports[g->first + i];
			struct price p = rest;

			price_link(z, balance_link(z->net, s, port), n, &p);
			if (port == now || p.square >= square ||
			    !cheaper(&p, &least))
				continue;
			least = p;
			best = port;
		}
	}
	return best;
}

/* Is there a candidate with less excess? */
static bool has_better(struct load *z, ftr_sw s)
{
	uint64_t now = path_excess(z, s);

	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		uint64_t rest = path_excess(z, g->remote);

		for (uint32_t i = 0; rest < now && i < g->n; i++) {
			ftr_port port = z->cand.sh->tree.group_ports[g->first + i];

			if (rest + excess_of(z, balance_link(z->net, s, port)) <
			    now)
				return true;
		}
	}
	return false;
}

static bool try_entry(struct load *z, ftr_sw s)
{
	ftr_port best;

	if (!balance_cand_find(&z->cand, s))
		return false;
	if (!z->cand.n[s] || !has_better(z, s) ||
	    !balance_may_move(z->c, s, z->d->lid))
		return true;
	add_path(z, s, -z->hosts[s]);
	best = cheapest(z, s);
	if (best != z->entry[s]) {
		if (!balance_move(z->c, s, z->d->lid, best)) {
			add_path(z, s, z->hosts[s]);
			return false;
		}
		z->entry[s] = best;
		z->w->moved++;
	}
	add_path(z, s, z->hosts[s]);
	z->excess[s] = UNKNOWN;
	return true;
}

/* ---- one destination ------------------------------------------------------------- */

static void add_up(struct load *z, const struct balance_order *o)
{
	const uint32_t *peer = z->net->peer, n_sw = z->net->f->n_sw;
	uint32_t *hosts = z->hosts, n_large = 0;

	memcpy(hosts, z->net->hosts, n_sw * sizeof(*hosts));
	memset(z->excess, 0xfe, n_sw * sizeof(*z->excess));
	for (uint32_t i = 0; i + 1 < o->n; i++) {
		ftr_sw s = o->sw[i];
		uint32_t n = hosts[s], link;

		if (n >= z->w->least)
			z->large[n_large++] = s;
		link = n ? link_of(z, s) : BALANCE_NONE;
		if (link != BALANCE_NONE)
			hosts[peer[link]] += n;
	}
	z->n_large = n_large;
	z->excess[z->to] = 0;
}

static bool sweep_dest(struct load *z, const struct balance_dest *d)
{
	z->d = d;
	add_up(z, &z->net->order[d->col]);
	for (uint32_t i = z->n_large; i-- > 0;) {
		uint64_t excess = path_excess(z, z->large[i]);

		if (excess && excess != NO_PATH && !try_entry(z, z->large[i]))
			return false;
	}
	return true;
}

/* ---- all of them ------------------------------------------------------------------ */

static void find_wanted(struct load *z)
{
	const struct balance_net *net = z->net;

	memset(z->wanted, 0, net->first[net->f->n_sw] * sizeof(*z->wanted));
	for (ftr_sw s = 0; s < net->f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(z->c->t, s);
		bool over[FTR_PORT_NONE + 1] = { false }, any = false;

		for (uint32_t p = 1; p <= net->ports[s].n; p++) {
			uint32_t link = balance_link_to(net, s, (ftr_port)p);

			over[p] = link != BALANCE_NONE && excess_of(z, link);
			any |= over[p];
		}
		for (uint32_t i = 0; any && i <= net->f->max_lid; i++)
			if (over[row[i]] && net->dest_of[i] != BALANCE_NONE)
				z->wanted[net->dest_of[i]] = true;
	}
}

static bool sweep_column(struct load *z, uint32_t l)
{
	const struct balance_net *net = z->net;

	z->to = net->in->shape->numbering.col_sw[l];
	balance_cand_column(&z->cand, net, l);
	for (uint32_t i = net->first[l]; i < net->first[l + 1]; i++) {
		if (!z->wanted[i])
			continue;
		if (net->in->cancelled && net->in->cancelled(net->in->ctx)) {
			z->w->cancelled = true;
			return true;
		}
		z->entry = z->copy + (size_t)(i - z->copied) * net->f->n_sw;
		if (!sweep_dest(z, &net->dest[i]))
			return false;
	}
	return true;
}

/* Copy the entries of the columns from l on; returns the column after the last. */
static uint32_t copy_columns(struct load *z, uint32_t l)
{
	const struct balance_net *net = z->net;
	uint32_t n_sw = net->f->n_sw, begin = net->first[l], end;

	z->copied = begin;
	do {
		end = net->first[++l];
	} while (l < n_sw && net->first[l + 1] - begin <= COPIES);
	if (begin == end || !memchr(z->wanted + begin, true, end - begin))
		return l;
	for (ftr_sw s = 0; s < n_sw; s++) {
		const uint8_t *row = ftr_tables_row(z->c->t, s);

		for (uint32_t i = begin; i < end; i++)
			z->copy[(size_t)(i - begin) * n_sw + s] =
				row[net->dest[i].lid];
	}
	return l;
}

static bool sweep_all(struct load *z)
{
	const struct balance_net *net = z->net;
	uint32_t l = 0;

	while (l < net->f->n_sw && !z->w->cancelled) {
		uint32_t end = copy_columns(z, l);

		for (; l < end && !z->w->cancelled; l++)
			if (net->first[l] < net->first[l + 1] &&
			    memchr(z->wanted + net->first[l], true,
				   net->first[l + 1] - net->first[l]) &&
			    !sweep_column(z, l))
				return false;
	}
	return true;
}

static bool load_new(struct load *z, struct ftr_arena *a)
{
	uint32_t n_sw = z->net->f->n_sw, most = COPIES;

	for (uint32_t l = 0; l < n_sw; l++)
		most = FTR_MAX(most, z->net->first[l + 1] - z->net->first[l]);
	z->hosts = ftr_arena_alloc(a, n_sw, sizeof(*z->hosts));
	z->copy = ftr_arena_alloc(a, (size_t)most * n_sw, 1);
	z->excess = ftr_arena_alloc(a, n_sw, sizeof(*z->excess));
	z->large = ftr_arena_alloc(a, n_sw, sizeof(*z->large));
	z->wanted = ftr_arena_alloc(a, z->net->first[n_sw] + 1u,
				    sizeof(*z->wanted));
	if (!z->hosts || !z->copy || !z->excess || !z->large || !z->wanted ||
	    !balance_cand_new(&z->cand, a, n_sw))
		return false;
	return true;
}

enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_err *err)
{
	struct load z = { .c = c, .net = c->net, .w = w };
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && load_new(&z, a);

	if (ok) {
		find_wanted(&z);
		ok = sweep_all(&z);
	}
	balance_cand_free(&z.cand);
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM,
				      "out of memory for balancing");
}
