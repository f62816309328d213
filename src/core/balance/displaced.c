// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses ports for displaced entries after a single fault.
 *
 * The entries for a LID get their ports one by one, beginning at the switch nearest to the
 * destination.  So when a port is chosen, the rest of the path is known.
 *
 * The bins count only flows that have passed a displaced entry, on the links from this entry on.
 * The other flows use the links that the nominal tables give them, and there they rarely meet.
 *
 * When entries change, the flows that pass them are subtracted from the links of their old path,
 * from the entry on, and added to the links of their new path.  The sources of these flows are
 * found by going backward from the entry, from switch to switch.  So the work for a changed entry
 * grows with the number of switches behind it, not with the size of the fabric.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/displaced.h"

#define OVER 65536
#define POWER 3			/* see balance_price_shifts() */
#define SCALE 16

/* A switch whose flows pass an entry.  displaced: these flows have passed a displaced entry. */
struct passing {
	ftr_sw sw;
	bool displaced;
};

/* The paths to one destination. */
struct paths {
	struct balance_loads *l;
	struct flow_dest now, prefer;	/* present and preferred entries */
	uint32_t pos;		/* position of the destination, or BALANCE_NONE */
	bool only_shifts;	/* true: do not count all-to-all flows */
};

struct displaced {
	struct ftr_arena *arena;
	struct balance_net *net;
	struct ftr_balance_input in;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;
	struct balance_loads loads;
	struct balance_price price;
	const struct ftr_shape *sh;
	bool turns;
	/* scratch, for the changed entries of one LID */
	struct paths paths;
	struct passing *source, *stack;	/* [n_sw] */
	uint32_t *first;	/* [n_sw + 1] source[first[i]] .. source[first[i + 1] - 1]: the
				 * sources whose flows pass the i-th entry */
	uint32_t n_sources;
	struct flow_span *shift;	/* [n_sources] */
	uint32_t *changed, now;	/* changed[s] == now: the entry of s is changed */
};

/* ---- counting ------------------------------------------------------------------------ */

static bool is_displaced(const struct paths *p, ftr_sw s)
{
	return p->now.entry[s * p->now.stride] != p->prefer.entry[s * p->prefer.stride];
}

/* Add (by: 1) or subtract (by: -1) the flows of a source on the links of the path from s.
 * displaced: they have passed a displaced entry. */
static void walk(const struct paths *p, const struct flow_source *src, ftr_sw s,
		 bool displaced, int by)
{
	const struct balance_net *net = p->l->net;

	for_each_link(net, p->now, s, link) {
		displaced |= is_displaced(p, s);
		if (!p->only_shifts)
			p->l->flows[link] += (uint32_t)by * src->hosts;
		if (!p->only_shifts && p->l->rail)
			p->l->rail[link] += (uint32_t)by * balance_rail(net, src, p->now.to);
		if (displaced && p->pos != BALANCE_NONE && src->n)
			balance_bins_add(p->l, link, balance_shifts_of(net, src, p->pos), by);
	}
}

void balance_count_displaced(struct balance_loads *l, const struct flow_dest *now,
			     const struct flow_dest *prefer)
{
	const struct balance_net *net = l->net;

	for (uint32_t d = 0; d < net->n_dests; d++) {
		struct paths p = {
			.l = l, .now = now[d], .prefer = prefer[d], .pos = net->pos[d],
			.only_shifts = true,
		};

		if (p.pos == BALANCE_NONE || !memcmp(p.now.entry, p.prefer.entry, net->f->n_sw))
			continue;
		for (uint32_t k = 0; k < net->n_sources; k++)
			if (net->source[k].sw != p.now.to)
				walk(&p, &net->source[k], net->source[k].sw, false, 1);
	}
}

/* The target is that of the greater one of two lower bounds for the most loaded link.  The first
 * one is the bound from cuts (bound.c).  The second one is the greatest value of (flows that leave
 * a source) / (links of this source in sh). */
void balance_place_price(const struct balance_net *net, const struct ftr_shape *sh,
			 uint32_t width, struct balance_price *out)
{
	uint64_t bound = net->bound;

	for (uint32_t i = 0; i < net->n_sources; i++) {
		const struct flow_source *src = &net->source[i];
		uint64_t flows = (uint64_t)src->hosts * (net->n_hosts - src->hosts), links = 0;
		uint32_t first = sh->tree.group_first[src->sw];

		for (uint32_t k = 0; k < sh->tree.n_up[src->sw] + sh->tree.n_down[src->sw]; k++)
			links += sh->tree.groups[first + k].n;
		if (links)
			bound = FTR_MAX(bound, (flows + links - 1) / links);
	}
	*out = (struct balance_price){ .target = balance_target(bound), .over = OVER };
	balance_price_shifts(out, width, POWER, SCALE);
}

/* ---- the flows that pass an entry -------------------------------------------------------- */

static ftr_sw next_of(const struct displaced *z, ftr_sw s)
{
	uint32_t link = balance_link(z->net, z->paths.now, s);

	return link == BALANCE_NONE ? FTR_SW_NONE : z->net->links.peer[link];
}

/* Without extra turns, the flows that pass an entry which leads up come from below. */
static bool from_below(const struct displaced *z, ftr_sw s)
{
	const uint8_t *rank = z->sh->tree.rank;
	ftr_sw next = next_of(z, s);

	return !z->turns && rank && next != FTR_SW_NONE && rank[next] > rank[s];
}

/* Append to z->source the sources whose flows reach s without passing another changed entry.  s has
 * a changed entry or no port, so no path leads back to s, and each switch is visited at most once:
 * it has one entry. */
static void gather(struct displaced *z, ftr_sw s)
{
	uint32_t depth = 0;

	z->stack[depth++] = (struct passing){ s, false };
	while (depth) {
		struct passing u = z->stack[--depth];
		const struct ftr_group *g = &z->sh->tree.groups[z->sh->tree.group_first[u.sw]];
		uint32_t k = from_below(z, u.sw) ? z->sh->tree.n_up[u.sw] : 0;

		if (z->net->source_of[u.sw] != BALANCE_NONE)
			z->source[z->n_sources++] = u;
		for (; k < ftr_shape_groups(z->sh, u.sw); k++) {
			ftr_sw y = g[k].remote;

			if (z->changed[y] != z->now && y != z->paths.now.to && next_of(z, y) == u.sw)
				z->stack[depth++] = (struct passing){
					y, u.displaced || is_displaced(&z->paths, y),
				};
		}
	}
}

/* Add or subtract the flows that pass entry i, on the links from this entry on. */
static void walk_from(const struct displaced *z, ftr_sw s, uint32_t i, int by)
{
	for (uint32_t k = z->first[i]; k < z->first[i + 1]; k++) {
		const struct passing *p = &z->source[k];

		walk(&z->paths, &z->net->source[z->net->source_of[p->sw]], s, p->displaced, by);
	}
}

/* ---- the entries of a LID ------------------------------------------------------------------ */

static void set_entry(const struct displaced *z, ftr_sw s, ftr_port port)
{
	z->paths.now.entry[s * z->paths.now.stride] = (uint8_t)port;
}

static void place(struct displaced *z, const struct ftr_costs *costs,
		  struct ftr_change *e, ftr_lid lid)
{
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct balance_flows flows = {
		.loads = &z->loads, .price = &z->price, .sh = z->sh,
		.of = z->paths.now, .shift = z->shift,
	};
	uint32_t n = ftr_shape_candidates_at(z->sh, e->sw, costs, cand);

	z->n_sources = 0;
	gather(z, e->sw);
	for (uint32_t k = 0; k < z->n_sources; k++) {
		const struct flow_source *src =
			&z->net->source[z->net->source_of[z->source[k].sw]];

		flows.hosts += src->hosts;
		flows.rail += balance_rail(z->net, src, z->paths.now.to);
		if (z->paths.pos != BALANCE_NONE)
			balance_add_shifts(&flows, src, z->paths.pos);
	}
	e->after = balance_choose(&flows, e->sw, cand, n, lid + z->sh->numbering.col[e->sw]);
	set_entry(z, e->sw, e->after);
	balance_add(&flows, e->sw, 1);
}

static int nearest_first(const void *x, const void *y, void *ctx)
{
	const struct ftr_costs *c = ctx;
	ftr_sw a = ((const struct ftr_change *)x)->sw;
	ftr_sw b = ((const struct ftr_change *)y)->sw;
	uint8_t ca = c->cost[a * c->stride], cb = c->cost[b * c->stride];

	return FTR_ORDER(ca, cb) ?: FTR_ORDER(a, b);
}

void displaced_change(struct displaced *z, uint32_t l, ftr_lid lid,
		      struct ftr_change *e, uint32_t n)
{
	struct ftr_costs costs = ftr_shape_column(z->sh, l);
	uint32_t d = z->net->dest_of[lid];
	ftr_sw to = z->sh->numbering.col_sw[l];

	z->paths = (struct paths){
		.l = &z->loads, .now = { z->t->lft + lid, z->t->stride, to },
		.prefer = { z->prefer->lft + lid, z->prefer->stride, to },
		.pos = d == BALANCE_NONE ? BALANCE_NONE : z->net->pos[d],
	};
	qsort_r(e, n, sizeof(*e), nearest_first, &costs);
	z->now++;
	for (uint32_t i = 0; i < n; i++)
		z->changed[e[i].sw] = z->now;
	z->n_sources = 0;
	for (uint32_t i = 0; i < n; i++) {
		z->first[i] = z->n_sources;
		if (d != BALANCE_NONE)
			gather(z, e[i].sw);
	}
	z->first[n] = z->n_sources;
	for (uint32_t i = 0; i < n; i++)
		walk_from(z, e[i].sw, i, -1);
	for (uint32_t i = 0; i < n; i++)
		set_entry(z, e[i].sw, e[i].after == DISPLACED_PLACE ?
			  FTR_PORT_NONE : e[i].after);
	for (uint32_t i = 0; i < n; i++)
		if (e[i].after != DISPLACED_PLACE && e[i].after != FTR_PORT_NONE)
			walk_from(z, e[i].sw, i, 1);
	z->now++;
	for (uint32_t i = 0; i < n; i++)
		if (e[i].after == DISPLACED_PLACE)
			place(z, &costs, &e[i], lid);
}

/* ---- new and free
 * ----------------------------------------------------------------------------- */

static bool allocate(struct displaced *z)
{
	uint32_t n_sw = z->net->f->n_sw;

	/* any port may get a link, see displaced_link() */
	for (uint32_t x = 0; x < z->net->n_links; x++)
		if (z->net->links.row[x] == BALANCE_NONE)
			z->net->links.row[x] = z->net->links.n_rows++;
	return FTR_NEW(z->arena, z->source, z->net->n_sources + 1u) &&
		FTR_NEW(z->arena, z->stack, n_sw) && FTR_NEW(z->arena, z->first, n_sw + 1u) &&
		FTR_NEW(z->arena, z->shift, z->net->n_sources + 1u) &&
		FTR_ZNEW(z->arena, z->changed, n_sw);
}

static enum ftr_status count(struct displaced *z, struct ftr_err *err)
{
	struct flow_dest *now = NULL, *prefer = NULL;
	enum ftr_status st;
	bool loop;

	st = balance_count_flows(&z->loads, z->t, NULL, NULL, &loop, err);
	if (!st && loop)
		st = ftr_fail(err, FTR_INVAL, "tables with a loop");
	if (!st)
		st = balance_bins_new(&z->loads, z->net->most_hosts, err);
	if (!st)
		st = balance_copy_new(z->net, z->t, NULL, &now, err);
	if (!st)
		st = balance_copy_new(z->net, z->prefer, NULL, &prefer, err);
	if (!st)
		balance_count_displaced(&z->loads, now, prefer);
	free(now);
	free(prefer);
	return st;
}

enum ftr_status displaced_new(const struct ftr_shape *sh, struct ftr_tables *t,
			      const struct ftr_tables *prefer, struct displaced **out,
			      struct ftr_err *err)
{
	struct displaced *z = ftr_calloc(1, sizeof(*z));
	enum ftr_status st;

	if (!z || !(z->arena = ftr_arena_new())) {
		free(z);
		return ftr_nomem(err, "counting flows");
	}
	z->in.shape = sh;
	z->t = t;
	z->prefer = prefer;
	st = balance_net_new(&z->in, &z->net, err);
	if (!st && !allocate(z))
		st = ftr_nomem(err, "counting flows");
	if (!st)
		st = balance_loads_new(z->net, &z->loads, err);
	if (!st)
		st = count(z, err);
	if (st) {
		displaced_free(z);
		return st;
	}
	displaced_begin(z, sh, false);
	*out = z;
	return FTR_OK;
}

void displaced_free(struct displaced *z)
{
	if (!z)
		return;
	balance_loads_free(&z->loads);
	balance_net_free(z->net);
	ftr_arena_free(z->arena);
	free(z);
}

bool displaced_counts(const struct displaced *z, ftr_lid lid)
{
	return z->net->dest_of[lid] != BALANCE_NONE;
}

void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t)
{
	z->net->links.peer[z->net->links.ports[s].begin + port] = t;
}

void displaced_begin(struct displaced *z, const struct ftr_shape *sh, bool turns)
{
	z->sh = sh;
	z->turns = turns;
	balance_place_price(z->net, sh, z->loads.width, &z->price);
}

const struct balance_loads *displaced_loads(const struct displaced *z)
{
	return &z->loads;
}
