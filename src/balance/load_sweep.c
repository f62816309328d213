// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One sweep of the search for all-to-all traffic alone, fast enough for every routing.
 *
 * The sweep begins at the links above the target.  It examines only the entries that use them,
 * and the entries of the switches that send to these.  A destination is skipped if its links
 * are no longer above the target when its turn comes.  The entries nearest to the destination
 * are tried first, because they carry the most flows, so that few changes are needed.
 * Entries through which fewer than w->least hosts send are skipped: sweeps go from coarse to
 * fine.
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
	/* switches whose entry is on a link above the target: those of destination d
	 * are over[first[d]] .. over[first[d + 1] - 1] */
	ftr_sw *over;
	uint32_t *first;	/* [n_dests + 1] */
	uint32_t target;
	/* flows and far end of a link, together because they are used together */
	struct load_link {
		uint32_t flows;
		ftr_sw peer;
	} *link;		/* [n_links] */
	const struct balance_ports *ports;	/* [n_sw] */
	/* the switches next to s, sw[first[s]] .. sw[first[s + 1] - 1], in the order of the
	 * groups: of in->shape, of in->full, and those of the column */
	struct near {
		uint16_t *sw;
		uint32_t *first;	/* [n_sw + 1] */
	} of_shape, of_full;
	const struct near *near;
	/* of one destination, by switch */
	uint16_t *hosts;	/* hosts that send through it */
	const uint8_t *entry;
	uint64_t *excess;	/* excess of the path, NO_PATH or UNKNOWN */
	bool *tried;
	ftr_sw *queue;
	uint32_t d;
	ftr_sw to;
};

#define NO_PATH UINT64_MAX
#define UNKNOWN UINT64_C(0xfefefefefefefefe)	/* for memset */

static uint64_t above(const struct load *z, uint64_t flows)
{
	return flows > z->target ? flows - z->target : 0;
}

static uint64_t excess_of(const struct load *z, uint32_t link)
{
	return above(z, z->link[link].flows);
}

/* The link of an entry that leads to a port of the switch. */
static uint32_t link_at(const struct load *z, ftr_sw s)
{
	return z->ports[s].first + z->entry[s];
}

/* The link of an entry, or BALANCE_NONE if it leads to no switch. */
static uint32_t link_of(const struct load *z, ftr_sw s)
{
	uint32_t link = link_at(z, s);

	return z->entry[s] > z->ports[s].n ||
		z->link[link].peer == FTR_SW_NONE ? BALANCE_NONE : link;
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
	uint64_t flows = (uint64_t)z->link[link].flows + n;
	uint64_t was = above(z, z->link[link].flows), is = above(z, flows);

	p->square += is * is - was * was;
	p->flows += flows;
}

/* The price of the path from s; the path must exist.  Stops when the sum of squares exceeds
 * `limit`. */
static struct price price_path(const struct load *z, ftr_sw s, uint32_t n,
			       uint64_t limit)
{
	struct price p = { 0 };

	while (s != z->to && p.square <= limit) {
		uint32_t link = link_at(z, s);

		price_link(z, link, n, &p);
		s = z->link[link].peer;
	}
	return p;
}

/* Add n hosts that send through s to the rest of its path. */
static void add_path(const struct load *z, ftr_sw s, uint32_t n)
{
	while (s != z->to) {
		struct load_link *link = &z->link[link_at(z, s)];

		link->flows += n;
		s = link->peer;
		z->hosts[s] = (uint16_t)(z->hosts[s] + n);
	}
}

/* The excess of the path from s, whose excess is unknown. */
static uint64_t find_excess(struct load *z, ftr_sw s)
{
	uint32_t link = link_of(z, s);
	uint64_t sum = NO_PATH;

	if (link != BALANCE_NONE) {
		ftr_sw next = z->link[link].peer;

		sum = z->excess[next] != UNKNOWN ? z->excess[next] :
			find_excess(z, next);
	}
	if (sum != NO_PATH)
		sum += excess_of(z, link);
	return z->excess[s] = sum;
}

/* The excess of the path from s, computed when needed. */
static inline uint64_t path_excess(struct load *z, ftr_sw s)
{
	return z->excess[s] != UNKNOWN ? z->excess[s] : find_excess(z, s);
}

static ftr_port cheapest(struct load *z, ftr_sw s)
{
	ftr_port now = z->entry[s], best = now;
	uint32_t n = z->hosts[s];
	struct price least = price_path(z, s, n, UINT64_MAX);
	uint64_t square = least.square;

	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		struct price rest;

		if (path_excess(z, g->remote) == NO_PATH)
			continue;
		rest = price_path(z, g->remote, n, least.square);
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
	    !balance_may_move(z->c, s, z->net->dest[z->d].lid))
		return true;
	add_path(z, s, -z->hosts[s]);
	best = cheapest(z, s);
	if (best != z->entry[s]) {
		if (!balance_move(z->c, s, z->d, best)) {
			add_path(z, s, z->hosts[s]);
			return false;
		}
		z->w->moved++;
	}
	add_path(z, s, z->hosts[s]);
	z->excess[s] = UNKNOWN;
	return true;
}

/* ---- one destination ------------------------------------------------------------- */

/* Try s, then the switches that send to it, while their path has an excess. */
static bool try_subtree(struct load *z, ftr_sw s)
{
	uint32_t n = 0;

	z->queue[n++] = s;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t excess = path_excess(z, s = z->queue[i]);

		if (z->tried[s] || !excess || excess == NO_PATH)
			continue;
		z->tried[s] = true;
		if (!try_entry(z, s))
			return false;
		if (!path_excess(z, s))
			continue;
		for (uint32_t k = z->near->first[s];
		     k < z->near->first[s + 1]; k++) {
			ftr_sw t = z->near->sw[k];

			if (z->hosts[t] >= z->w->least && !z->tried[t] &&
			    t != z->to && z->entry[t] <= z->ports[t].n &&
			    z->link[link_at(z, t)].peer == s)
				z->queue[n++] = t;
		}
	}
	return true;
}

/* The switches of `over`, the nearest first. */
static void sort_over(const struct load *z, ftr_sw *over, uint32_t n)
{
	const uint8_t *cost = z->cand.costs.cost;

	for (uint32_t i = 1; i < n; i++) {
		ftr_sw s = over[i];
		uint32_t k = i;

		for (; k && cost[over[k - 1]] > cost[s]; k--)
			over[k] = over[k - 1];
		over[k] = s;
	}
}

static bool sweep_dest(struct load *z, ftr_sw *over, uint32_t n)
{
	uint32_t n_sw = z->net->f->n_sw;

	memset(z->excess, 0xfe, n_sw * sizeof(*z->excess));
	memset(z->tried, 0, n_sw * sizeof(*z->tried));
	z->excess[z->to] = 0;
	z->hosts = balance_senders(z->net, z->c->senders, z->d);
	sort_over(z, over, n);
	for (uint32_t i = 0; i < n; i++)
		if (z->hosts[over[i]] >= z->w->least &&
		    excess_of(z, link_of(z, over[i])) &&
		    !try_subtree(z, over[i]))
			return false;
	return true;
}

/* ---- all of them ------------------------------------------------------------------ */

/* Call visit(z, destination, switch) for all entries on links above the target. */
static void visit_over(struct load *z,
		       void (*visit)(struct load *z, uint32_t d, ftr_sw s))
{
	const struct balance_net *net = z->net;

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
				visit(z, net->dest_of[i], s);
	}
}

static void count_over(struct load *z, uint32_t d, ftr_sw s)
{
	(void)s;
	z->first[d + 1]++;
}

static void store_over(struct load *z, uint32_t d, ftr_sw s)
{
	z->over[z->first[d]++] = s;
}

static bool find_over(struct load *z, struct ftr_arena *a)
{
	uint32_t n = z->net->first[z->net->f->n_sw];

	visit_over(z, count_over);
	for (uint32_t d = 0; d < n; d++)
		z->first[d + 1] += z->first[d];
	z->over = ftr_arena_alloc(a, z->first[n] + 1u, sizeof(*z->over));
	if (!z->over)
		return false;
	visit_over(z, store_over);	/* first[d] is now the end of d */
	memmove(z->first + 1, z->first, n * sizeof(*z->first));
	z->first[0] = 0;
	return true;
}

/* Is one of the links still above the target? */
static bool is_over(struct load *z, const ftr_sw *over, uint32_t n)
{
	z->entry = balance_entries(z->net, z->c->entry, z->d);
	for (uint32_t i = 0; i < n; i++)
		if (excess_of(z, link_of(z, over[i])))
			return true;
	return false;
}

static bool sweep_all(struct load *z)
{
	const struct balance_net *net = z->net;
	uint32_t col = BALANCE_NONE;

	for (uint32_t i = 0; i < net->first[net->f->n_sw]; i++) {
		uint32_t d = z->d = net->turn[i];
		ftr_sw *over = z->over + z->first[d];
		uint32_t n = z->first[d + 1] - z->first[d];

		if (!is_over(z, over, n))
			continue;
		if (net->in->cancelled && net->in->cancelled(net->in->ctx)) {
			z->w->cancelled = true;
			return true;
		}
		if (net->dest[d].col != col) {
			col = net->dest[d].col;
			z->to = net->in->shape->numbering.col_sw[col];
			balance_cand_column(&z->cand, net, col);
			z->near = z->cand.sh == net->in->shape ?
				&z->of_shape : &z->of_full;
		}
		if (!sweep_dest(z, over, n))
			return false;
	}
	return true;
}

/* Copy the neighbours of all switches, because the groups do not fit into the cache. */
static bool near_new(struct near *near, const struct ftr_shape *sh,
		     struct ftr_arena *a)
{
	uint32_t n_sw = sh->f->n_sw, n = 0;

	if (!FTR_NEW(a, near->sw, sh->tree.group_first[n_sw] + 1u) ||
	    !FTR_NEW(a, near->first, n_sw + 1u))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++) {
		uint32_t k = sh->tree.group_first[s];
		uint32_t end = k + ftr_shape_groups(sh, s);

		near->first[s] = n;
		while (k < end)
			near->sw[n++] = (uint16_t)sh->tree.groups[k++].remote;
	}
	near->first[n_sw] = n;
	return true;
}

static bool load_new(struct load *z, struct ftr_arena *a)
{
	uint32_t n_sw = z->net->f->n_sw;

	z->target = z->w->target;
	z->ports = z->net->ports;
	z->link = ftr_arena_alloc(a, z->net->n_links, sizeof(*z->link));
	for (uint32_t x = 0; z->link && x < z->net->n_links; x++)
		z->link[x] = (struct load_link){
			z->c->flows[x], z->net->peer[x],
		};
	z->excess = ftr_arena_alloc(a, n_sw, sizeof(*z->excess));
	z->tried = ftr_arena_alloc(a, n_sw, sizeof(*z->tried));
	z->queue = ftr_arena_alloc(a, 2 * (size_t)n_sw, sizeof(*z->queue));
	z->first = ftr_arena_zalloc(a, z->net->first[n_sw] + 2u,
				    sizeof(*z->first));
	if (!near_new(&z->of_shape, z->net->in->shape, a) ||
	    (z->net->in->use_full &&
	     !near_new(&z->of_full, z->net->in->full, a)))
		return false;
	return z->link && z->excess && z->tried && z->queue && z->first &&
		balance_cand_new(&z->cand, a, n_sw);
}

enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_err *err)
{
	struct load z = { .c = c, .net = c->net, .w = w };
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && load_new(&z, a) && find_over(&z, a) && sweep_all(&z);

	for (uint32_t x = 0; ok && x < c->net->n_links; x++)
		c->flows[x] = z.link[x].flows;
	balance_cand_free(&z.cand);
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM,
				      "out of memory for balancing");
}
