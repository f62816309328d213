// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Place displaced entries by the cost of their whole path.
 *
 * The entries of a LID are placed from the nearest switch to the farthest, so the rest of
 * the path is final when an entry is placed.  The cost of a path is the sum over its
 * links of
 *
 *	OVER		for each flow above the target
 *	(N + 1)^POWER - N^POWER - 1
 *			for each shift in which a flow shares the link with N flows
 *			that have also passed a displaced entry
 *
 * The first candidate with cost 0 is taken, else the cheapest.  The search starts at a
 * candidate that differs between neighbouring destinations and switches.  So entries that no
 * counted flow passes are distributed over the candidates as well.
 *
 * The counters are kept up to date: flows that pass a changed entry are subtracted from the links
 * behind it on their old path and added to those on the new one. All flows that pass an entry take
 * the same links from there on, so they are counted together, as one stream. The work for one fault
 * grows with the number of displaced entries, not with the size of the fabric. A flow that reaches
 * a missing entry is counted on the links before it.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/displaced.h"

#define OVER 65536
#define POWER 3
#define PRICES 1024
#define SCALE 16
#define TARGET_SHARE 50		/* The target is the bound plus 1 / 50 of it. */

#define NOT_COUNTED (UINT32_MAX - 1)	/* pos[lid]: flows to lid are not counted at all */

/* A source whose flows pass an entry. displaced: they have passed a displaced entry before. */
struct passing {
	uint32_t source;
	bool displaced;
};

struct passing_at {
	ftr_sw sw;
	bool displaced;
};

/* n shifts of a stream are in bin `bin`. */
struct share {
	uint32_t bin, n;
};

/* Flows that take the same path to a LID; share[0 .. n-1]: the number of their shifts by bin. */
struct stream {
	uint32_t n;
	struct share *share;	/* [3 * sources] */
};

struct counted_link {
	uint16_t *bins;		/* displaced flows by bin; NULL: there are none */
	uint32_t flows;		/* all-to-all flows */
};

struct displaced {
	struct ftr_arena *arena;
	struct balance_net *net;
	struct ftr_balance_input in;
	struct ftr_tables *t;
	const struct ftr_tables *prefer;
	/* the entries and the senders of the LID being placed; NULL: unknown (entries are then read
	 * from t) */
	uint8_t *row;		/* [n_sw] */
	uint16_t *senders;	/* [n_sw] */
	uint32_t *pos;		/* pos[lid]: position of the host, or BALANCE_NONE */
	struct counted_link *link;	/* [n_links] */
	/* two bit sets of switches for each LID, `words` words each. passed: switches that flows
	 * pass (a superset); displaced: switches with a displaced entry */
	uint64_t *passed, *displaced;
	size_t words;
	uint32_t width, n_bins;	/* width: shifts per bin; n_bins: number of bins */
	uint16_t *bin_of;	/* bin_of[k]: the bin of shift k */
	uint32_t target;
	uint32_t price[PRICES];	/* price[n]: price of one shift in a bin with n flows */
	bool nomem;
	/* scratch. The sources that pass entry i are source[first[i]] .. source[first[i + 1] -
	 * 1]. */
	struct passing *source;
	uint32_t n_sources;
	struct passing_at *stack;
	uint32_t *first;
	bool *up;		/* up[i]: entry i led up before the change */
	bool known;		/* source[] and first[] are valid for the entries to be placed */
	uint32_t *changed, now;	/* changed[s] == now: the entry of s changes */
	struct stream fresh, old;
	/* rest[s].price: price of the path from s on, valid if rest[s].stamp == prices */
	struct rest {
		uint64_t price;
		uint32_t stamp;
	} *rest;		/* [n_sw] */
	uint32_t prices;	/* number of entries whose candidates were compared */
};

/* The link that the entry of s for lid uses, or BALANCE_NONE. */
static uint32_t link_of(const struct displaced *z, ftr_sw s, ftr_lid lid)
{
	return balance_link_to(z->net, s, z->row ? z->row[s] :
			       ftr_tables_row(z->t, s)[lid]);
}

/* The next switch on the path from s to lid; FTR_SW_NONE: the entry leads to no switch. */
static ftr_sw next_of(const struct displaced *z, ftr_sw s, ftr_lid lid)
{
	uint32_t link = link_of(z, s, lid);

	return link == BALANCE_NONE ? FTR_SW_NONE : z->net->peer[link];
}

static bool has_bit(const struct displaced *z, const uint64_t *bits, ftr_sw s,
		    ftr_lid lid)
{
	return bits[lid * z->words + s / 64] >> s % 64 & 1;
}

static void set_bit(const struct displaced *z, uint64_t *bits, ftr_sw s,
		    ftr_lid lid, bool on)
{
	uint64_t *w = &bits[lid * z->words + s / 64];
	uint64_t bit = UINT64_C(1) << s % 64;

	*w = on ? *w | bit : *w & ~bit;
}

/* Do flows to lid pass or reach s? May also be true if they did so only before an entry changed. */
static bool is_passed(const struct displaced *z, ftr_sw s, ftr_lid lid)
{
	return z->senders ? z->senders[s] : has_bit(z, z->passed, s, lid);
}

static void set_entry(struct displaced *z, ftr_sw s, ftr_lid lid, ftr_port port)
{
	ftr_tables_row(z->t, s)[lid] = port;
	if (z->row)
		z->row[s] = port;
	set_bit(z, z->displaced, s, lid, !z->prefer ||
		ftr_tables_row(z->prefer, s)[lid] != port);
}

/* ---- counting ------------------------------------------------------------- */

/* Add the shifts in which src sends to pos to a stream, as up to three shares. */
static void add_source(const struct displaced *z, struct stream *to,
		       const struct balance_source *src, uint32_t pos)
{
	uint32_t k = balance_first_shift(z->net, src, pos), left = src->n;

	while (left) {
		uint32_t bin = z->bin_of[k];
		uint32_t end = FTR_MIN((bin + 1) * z->width, z->net->n_pos);
		uint32_t n = FTR_MIN(end - k, left);

		if (to->n && to->share[to->n - 1].bin == bin)
			to->share[to->n - 1].n += n;
		else
			to->share[to->n++] = (struct share){ bin, n };
		left -= n;
		k = k + n == z->net->n_pos ? 0 : k + n;
	}
}

/* Make two streams of the flows of n sources: z->old, the flows that have already passed a
 * displaced entry, and z->fresh, the others. Returns the number of hosts. */
static uint32_t make_streams(struct displaced *z, const struct passing *from,
			     uint32_t n, ftr_lid lid)
{
	uint32_t pos = z->pos[lid], hosts = 0;

	z->fresh.n = z->old.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct balance_source *src =
			&z->net->source[from[i].source];

		hosts += src->hosts;
		if (pos != BALANCE_NONE)
			add_source(z, from[i].displaced ? &z->old : &z->fresh,
				   src, pos);
	}
	return hosts;
}

static void add_stream(struct displaced *z, uint32_t at,
		       const struct stream *of, int by)
{
	struct counted_link *link = &z->link[at];

	if (!of->n)
		return;
	if (!link->bins)
		link->bins = ftr_arena_zalloc(z->arena, z->n_bins,
					      sizeof(*link->bins));
	if (!link->bins) {
		z->nomem = true;
		return;
	}
	for (uint32_t i = 0; i < of->n; i++) {
		uint16_t *bin = &link->bins[of->share[i].bin];

		*bin = (uint16_t)(*bin + by * (int)of->share[i].n);
	}
}

/* Add the flows of both streams to the links of the path from s; by: 1 or -1. */
static void walk(struct displaced *z, ftr_sw s, ftr_lid lid, uint32_t hosts,
		 int by)
{
	bool displaced = false;

	for (uint32_t hops = 0; hops < z->net->f->n_sw; hops++) {
		uint32_t link = link_of(z, s, lid);

		if (link == BALANCE_NONE)
			return;
		displaced |= has_bit(z, z->displaced, s, lid);
		z->link[link].flows += (uint32_t)by * hosts;
		add_stream(z, link, &z->old, by);
		if (displaced)
			add_stream(z, link, &z->fresh, by);
		s = z->net->peer[link];
		if (!z->senders)
			set_bit(z, z->passed, s, lid, true);
		else
			z->senders[s] = (uint16_t)(z->senders[s] +
						   (uint32_t)by * hosts);
	}
}

static bool goes_up(const struct displaced *z, const struct ftr_shape *sh,
		    ftr_sw s, ftr_lid lid)
{
	ftr_sw t = sh->tree.rank ? next_of(z, s, lid) : FTR_SW_NONE;

	return t != FTR_SW_NONE && sh->tree.rank[t] > sh->tree.rank[s];
}

/* Add to z->source the sources whose flows to lid pass s, except those that pass another changed
 * entry first. up: the entry of s leads up, so all flows come from below unless turns is true. */
static void gather(struct displaced *z, const struct ftr_shape *sh, bool turns,
		   ftr_sw s, bool up, ftr_lid lid)
{
	uint32_t depth = 0;

	if (!is_passed(z, s, lid))
		return;
	z->stack[depth++] = (struct passing_at){ s, false };
	while (depth) {
		struct passing_at u = z->stack[--depth];
		const struct ftr_group *g =
			&sh->tree.groups[sh->tree.group_first[u.sw]];
		uint32_t src = z->net->source_of[u.sw], end;
		uint32_t k = !turns && (u.sw == s ? up :
					goes_up(z, sh, u.sw, lid)) ?
			sh->tree.n_up[u.sw] : 0;

		if (src != BALANCE_NONE)
			z->source[z->n_sources++] =
				(struct passing){ src, u.displaced };
		end = turns ?	/* with extra turns, horizontal links as well */
			ftr_shape_groups(sh, u.sw) :
			sh->tree.n_up[u.sw] + sh->tree.n_down[u.sw];
		for (; k < end && depth < z->net->f->n_sw; k++) {
			ftr_sw y = g[k].remote;

			if (is_passed(z, y, lid) &&
			    z->changed[y] != z->now &&
			    next_of(z, y, lid) == u.sw)
				z->stack[depth++] = (struct passing_at){
					y, u.displaced ||
					has_bit(z, z->displaced, y, lid)
				};
		}
	}
}

/* ---- one entry ------------------------------------------------------------- */

/* The column of a LID. turns: the routing has extra turns. */
struct column {
	const struct ftr_shape *sh;
	struct ftr_cost_column costs;
	bool turns;
};

static uint64_t price_link(const struct displaced *z, uint32_t at,
			   uint32_t hosts)
{
	const struct counted_link *link = &z->link[at];
	uint32_t flows = link->flows + hosts;
	const uint16_t *bins = link->bins;
	uint64_t sum = 0;

	if (flows > z->target)
		sum = (uint64_t)OVER * FTR_MIN(hosts, flows - z->target);
	for (uint32_t i = 0; bins && i < z->old.n; i++)
		sum += (uint64_t)z->old.share[i].n *
			z->price[FTR_MIN(bins[z->old.share[i].bin], PRICES - 1)];
	return sum;
}

/* The price of the path from s on. Paths through different candidates soon meet, so the prices are
 * kept for one comparison. */
static uint64_t price_rest(struct displaced *z, ftr_sw s, ftr_lid lid,
			   uint32_t hosts)
{
	struct rest *r = &z->rest[s];
	uint32_t link;

	if (r->stamp == z->prices)
		return r->price;
	*r = (struct rest){ 0, z->prices };
	link = link_of(z, s, lid);
	if (link != BALANCE_NONE)
		r->price = price_link(z, link, hosts) +
			price_rest(z, z->net->peer[link], lid, hosts);
	return r->price;
}

/* The port of least cost for the flows in z->old. The search starts at candidate `begin`; on a tie
 * the first port found is taken. */
static ftr_port cheapest(struct displaced *z, const struct ftr_shape *sh,
			 const struct ftr_group *const *cand, uint32_t n,
			 uint32_t begin, ftr_sw s, ftr_lid lid, uint32_t hosts)
{
	uint64_t least = UINT64_MAX;
	ftr_port best = FTR_PORT_NONE;

	z->prices++;
	for (uint32_t k = 0; k < n && least; k++) {
		const struct ftr_group *g = cand[(begin + k) % n];

		for (uint32_t i = 0; i < g->n && least; i++) {
			uint32_t at = (begin / n + i) % g->n;
			ftr_port port = sh->tree.group_ports[g->first + at];
			uint64_t price = hosts ?
				price_link(z, balance_link(z->net, s, port),
					   hosts) : 0;

			if (hosts && price < least)
				price += price_rest(z, g->remote, lid, hosts);
			if (price < least) {
				least = price;
				best = port;
			}
		}
	}
	return best;
}

static bool all_go_up(const struct ftr_shape *sh, ftr_sw s,
		      const struct ftr_group *const *cand, uint32_t n)
{
	for (uint32_t i = 0; sh->tree.rank && i < n; i++)
		if (sh->tree.rank[cand[i]->remote] < sh->tree.rank[s])
			return false;
	return true;
}

/* Are the sources that pass entry i still those that gather_all found? */
static bool same_sources(const struct displaced *z, const struct column *c,
			 uint32_t i, bool up)
{
	return z->known && !c->turns && z->up[i] == up;
}

/* Choose the port of entry e, the i-th of its LID, and count its flows. */
static void place(struct displaced *z, const struct column *c, ftr_lid lid,
		  struct displaced_entry *e, uint32_t i)
{
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	const struct ftr_shape *sh = c->sh;
	uint32_t n = ftr_shape_candidates_at(sh, e->sw, &c->costs, cand);
	bool up = all_go_up(sh, e->sw, cand, n);
	struct passing *from = z->source;
	uint32_t m, hosts;

	if (same_sources(z, c, i, up)) {
		from += z->first[i];
		m = z->first[i + 1] - z->first[i];
	} else {
		z->known = false;	/* gather overwrites z->source */
		z->n_sources = 0;
		if (z->pos[lid] != NOT_COUNTED)
			gather(z, sh, c->turns, e->sw, up, lid);
		m = z->n_sources;
	}
	for (uint32_t k = 0; k < m; k++)
		from[k].displaced = true;
	hosts = make_streams(z, from, m, lid);
	e->after = cheapest(z, sh, cand, n, lid + sh->numbering.col[e->sw],
			    e->sw, lid, hosts);
	set_entry(z, e->sw, lid, e->after);
	if (m)
		walk(z, e->sw, lid, hosts, 1);
}

/* ---- the entries of a LID -------------------------------------------------- */

static int nearest_first(const void *x, const void *y, void *ctx)
{
	const struct ftr_cost_column *c = ctx;
	ftr_sw a = ((const struct displaced_entry *)x)->sw;
	ftr_sw b = ((const struct displaced_entry *)y)->sw;
	uint8_t ca = c->cost[a * c->stride], cb = c->cost[b * c->stride];

	return ca != cb ? ca - cb : (a > b) - (a < b);
}

static void sort_entries(struct displaced_entry *e, uint32_t n,
			 struct column *c)
{
	if (n > 1)
		qsort_r(e, n, sizeof(*e), nearest_first, &c->costs);
}

/* Place the entries of a LID, in the order of sort_entries. */
static void place_lid(struct displaced *z, const struct column *c, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n)
{
	z->now++;		/* now no entry counts as changed */
	for (uint32_t i = 0; i < n; i++)
		if (e[i].after == DISPLACED_PLACE)
			place(z, c, lid, &e[i], i);
}

/* True if the new port is given: the entry is neither removed nor still to be placed. */
static bool leads_on(const struct displaced_entry *e)
{
	return e->after != DISPLACED_PLACE && e->after != FTR_PORT_NONE;
}

/* Count the flows that pass entry i on the links behind it; by: 1 or -1. */
static void walk_from(struct displaced *z, ftr_lid lid,
		      const struct displaced_entry *e, uint32_t i, int by)
{
	uint32_t m = z->first[i + 1] - z->first[i];

	if (m)
		walk(z, e[i].sw, lid,
		     make_streams(z, z->source + z->first[i], m, lid), by);
}

/* Find the sources whose flows pass each of the n entries. If no entry leads to a switch before the
 * placement, the same sources pass them after it: the entries placed earlier are nearer to the
 * destination. */
static void gather_all(struct displaced *z, const struct column *c, ftr_lid lid,
		       const struct displaced_entry *e, uint32_t n)
{
	z->now++;
	z->n_sources = 0;
	z->known = true;
	for (uint32_t i = 0; i < n; i++)
		z->changed[e[i].sw] = z->now;
	for (uint32_t i = 0; i < n; i++) {
		z->first[i] = z->n_sources;
		z->up[i] = goes_up(z, c->sh, e[i].sw, lid);
		z->known &= !leads_on(&e[i]);
		if (z->pos[lid] != NOT_COUNTED)
			gather(z, c->sh, c->turns, e[i].sw, z->up[i], lid);
	}
	z->first[n] = z->n_sources;
}

bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n)
{
	struct column c = { sh, ftr_shape_column(sh, l), turns };

	z->nomem = false;
	sort_entries(e, n, &c);
	gather_all(z, &c, lid, e, n);
	for (uint32_t i = 0; i < n; i++)
		walk_from(z, lid, e, i, -1);
	for (uint32_t i = 0; i < n; i++)
		set_entry(z, e[i].sw, lid, e[i].after == DISPLACED_PLACE ?
			  FTR_PORT_NONE : e[i].after);
	for (uint32_t i = 0; i < n; i++)
		if (leads_on(&e[i]))
			walk_from(z, lid, e, i, 1);
	place_lid(z, &c, lid, e, n);
	return !z->nomem;
}

/* ---- the entries of a whole routing ----------------------------------------- */

/* List the entries whose bit is set, by LID and then by switch: those of lid are e[first[lid]] ..
 * e[first[lid + 1] - 1]. first: [max_lid + 2], zeroed. */
static struct displaced_entry *by_lid(const struct displaced *z,
				      const uint64_t *bits, uint32_t *first)
{
	uint32_t n_sw = z->t->n_sw, words = z->t->stride / 64;
	uint32_t lids = z->net->f->max_lid + 1u;
	struct displaced_entry *e = NULL;

	for (int pass = 0; pass < 2; pass++) {
		for (ftr_sw s = 0; s < n_sw; s++)
			for (uint32_t w = 0; w < words; w++)
				for (uint64_t b = bits[(size_t)s * words + w];
				     b; b &= b - 1) {
					uint32_t lid = w * 64 + (uint32_t)
						__builtin_ctzll(b);

					if (pass)
						e[first[lid]++].sw = s;
					else
						first[lid + 1]++;
				}
		for (uint32_t i = 0; !pass && i < lids; i++)
			first[i + 1] += first[i];
		if (!pass)
			e = ftr_arena_zalloc(z->arena, first[lids] + 1u,
					     sizeof(*e));
		if (!e)
			return NULL;
	}
	memmove(first + 1, first, lids * sizeof(*first));
	first[0] = 0;
	return e;
}

/* Use the entries and senders of destination d, if they are known. */
static void use_dest(struct displaced *z, uint32_t d)
{
	struct balance_net *net = z->net;
	bool known = d != BALANCE_NONE;

	z->row = known && net->entry ? balance_entries(net, net->entry, d) :
		NULL;
	z->senders = known && net->senders ?
		balance_senders(net, net->senders, d) : NULL;
}

bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits)
{
	struct balance_net *net = z->net;
	const struct ftr_shape *sh = z->in.shape;
	uint32_t *first = ftr_arena_zalloc(z->arena, net->f->max_lid + 2u,
					   sizeof(*first));
	struct displaced_entry *e = first ? by_lid(z, bits, first) : NULL;

	z->nomem = z->known = false;
	for (uint32_t i = 0; e && i < sh->numbering.n_dest; i++) {
		ftr_lid lid = sh->numbering.dest[i].lid;
		uint32_t l = sh->numbering.dest[i].col, n;
		struct column c = {
			balance_shape(net, l),
			.turns = turns || !sh->tree.rank,
		};

		if (first[lid] == first[lid + 1])
			continue;
		c.costs = net->order[l].sw ? balance_costs(net, l) :
			ftr_shape_column(c.sh, l);
		use_dest(z, net->dest_of[lid]);
		n = first[lid + 1] - first[lid];
		sort_entries(e + first[lid], n, &c);
		place_lid(z, &c, lid, e + first[lid], n);
	}
	use_dest(z, BALANCE_NONE);
	return e && !z->nomem;
}

/* ---- new and free ----------------------------------------------------------- */

static void set_prices(struct displaced *z)
{
	for (uint32_t v = 0; v < PRICES; v++) {
		double n = (double)v / z->width, a = 1, b = 1;

		for (int i = 0; i < POWER; i++) {
			a *= n + 1;
			b *= n;
		}
		z->price[v] = (uint32_t)FTR_MIN((a - b - 1) * SCALE, 1e6);
	}
}

static bool allocate(struct displaced *z)
{
	const struct balance_net *net = z->net;
	uint32_t n_sw = net->f->n_sw, lids = net->f->max_lid + 1u;
	uint32_t shares = net->n_sources + 1u;
	z->pos = ftr_arena_alloc(z->arena, lids, sizeof(*z->pos));
	z->link = ftr_arena_zalloc(z->arena, net->n_links, sizeof(*z->link));
	z->words = balance_passed_words(net);
	z->passed = ftr_arena_zalloc(z->arena, lids * z->words,
				     sizeof(*z->passed));
	z->displaced = ftr_arena_zalloc(z->arena, lids * z->words,
					sizeof(*z->displaced));
	z->source = ftr_arena_alloc(z->arena, net->n_sources + 1u,
				    sizeof(*z->source));
	z->stack = ftr_arena_alloc(z->arena, n_sw, sizeof(*z->stack));
	z->first = ftr_arena_alloc(z->arena, n_sw + 1u, sizeof(*z->first));
	z->up = ftr_arena_alloc(z->arena, n_sw, sizeof(*z->up));
	z->changed = ftr_arena_zalloc(z->arena, n_sw, sizeof(*z->changed));
	z->rest = ftr_arena_zalloc(z->arena, n_sw, sizeof(*z->rest));
	z->bin_of = ftr_arena_alloc(z->arena, net->n_pos + 1u,
				    sizeof(*z->bin_of));
	z->fresh.share = ftr_arena_alloc(z->arena, 3 * shares, sizeof(struct share));
	z->old.share = ftr_arena_alloc(z->arena, 3 * shares, sizeof(struct share));
	if (!z->pos || !z->link || !z->passed || !z->displaced ||
	    !z->source || !z->stack || !z->first || !z->up || !z->changed ||
	    !z->rest || !z->bin_of || !z->fresh.share || !z->old.share)
		return false;
	for (uint32_t i = 0; i < lids; i++)
		z->pos[i] = NOT_COUNTED;
	/* LID 0 is not used: its row is the pattern that the other rows get */
	for (uint32_t k = 0; k < net->n_sources; k++)
		set_bit(z, z->passed, net->source[k].sw, 0, true);
	for (uint32_t i = 0; i < net->first[n_sw]; i++) {
		z->pos[net->dest[i].lid] = net->dest[i].pos;
		memcpy(z->passed + net->dest[i].lid * z->words, z->passed,
		       z->words * sizeof(*z->passed));
	}
	z->width = 1;
	for (uint32_t i = 0; i < net->n_sources; i++)
		z->width = FTR_MAX(z->width, net->source[i].n);
	z->n_bins = net->n_pos / z->width + 1;
	for (uint32_t i = 0; i < net->n_pos; i++)
		z->bin_of[i] = (uint16_t)(i / z->width);
	set_prices(z);
	return true;
}

/* Count the displaced flows of the tables as given to displaced_new(). */
static void count_displaced(struct displaced *z)
{
	const struct balance_net *net = z->net;
	uint32_t lids = net->f->max_lid + 1u;

	for (ftr_sw s = 0; s < net->f->n_sw; s++) {
		const uint8_t *now = ftr_tables_row(z->t, s);
		const uint8_t *was = ftr_tables_row(z->prefer, s);

		if (!memcmp(now, was, lids))
			continue;
		for (uint32_t i = 0; i < lids; i++)
			if (now[i] != was[i])
				set_bit(z, z->displaced, s, (ftr_lid)i, true);
	}
	for (uint32_t i = 0; i < lids; i++) {
		const uint64_t *row = z->displaced + i * z->words;
		uint64_t any = 0;

		for (size_t w = 0; w < z->words; w++)
			any |= row[w];
		if (!any || z->pos[i] == NOT_COUNTED ||
		    z->pos[i] == BALANCE_NONE)
			continue;
		for (uint32_t k = 0; k < net->n_sources; k++) {
			const struct passing p = { k, false };

			make_streams(z, &p, 1, (ftr_lid)i);
			walk(z, net->source[k].sw, (ftr_lid)i, 0, 1);
		}
	}
}

static enum ftr_status nomem(struct ftr_err *err)
{
	return ftr_fail(err, FTR_NOMEM, "out of memory for counting flows");
}

static enum ftr_status count_flows(struct displaced *z, bool once,
				   struct ftr_team *team, struct ftr_err *err)
{
	struct balance_net *net = z->net;
	uint32_t n = net->n_links, *flows = NULL;
	enum ftr_status st;

	if (once) {
		/* at depth load, the senders show which switches are passed */
		bool senders = net->in->depth == FTR_BALANCE_LOAD;

		st = balance_count_net(net, senders,
				       senders ? NULL : z->passed, team, err);
	} else if ((flows = ftr_calloc(n, sizeof(*flows)))) {
		struct balance_counted out = {
			.flows = flows, .passed = z->passed,
		};

		st = balance_count_flows(net, team, &out, err);
		balance_net_free_rows(net);	/* the tables will change */
	} else {
		st = nomem(err);
	}
	for (uint32_t i = 0; !st && i < n; i++)
		z->link[i].flows = once ? net->flows[i] : flows[i];
	free(flows);
	return st;
}

enum ftr_status displaced_new(const struct ftr_balance_input *in,
			      struct ftr_tables *t,
			      const struct ftr_tables *prefer, bool once,
			      struct ftr_team *team, struct displaced **out,
			      struct ftr_err *err)
{
	struct displaced *z = ftr_calloc(1, sizeof(*z));
	enum ftr_status st = FTR_OK;

	if (!z || !(z->arena = ftr_arena_new()))
		st = nomem(err);
	if (!st) {
		z->in = *in;
		z->t = t;
		z->prefer = prefer;
		st = balance_net_new(&z->in, t, team, &z->net, err);
	}
	if (!st && !allocate(z))
		st = nomem(err);
	if (!st)
		st = count_flows(z, once, team, err);
	if (!st) {
		displaced_target(z, in->shape);
		if (prefer)
			count_displaced(z);
		st = z->nomem ? nomem(err) : FTR_OK;
	}
	if (st) {
		displaced_free(z);
		return st;
	}
	*out = z;
	return FTR_OK;
}

void displaced_free(struct displaced *z)
{
	if (!z)
		return;
	balance_net_free(z->net);
	ftr_arena_free(z->arena);
	free(z);
}

struct balance_net *displaced_finish(struct displaced *z)
{
	struct balance_net *net = z->net;

	for (uint32_t x = 0; x < net->n_links; x++)
		net->flows[x] = z->link[x].flows;
	z->net = NULL;
	displaced_free(z);
	return net;
}

size_t displaced_bytes(const struct displaced *z)
{
	return sizeof(*z) + ftr_arena_bytes(z->arena) +
		ftr_arena_bytes(z->net->arena);
}

void displaced_link(struct displaced *z, ftr_sw s, ftr_port port, ftr_sw t)
{
	z->net->peer[balance_link(z->net, s, port)] = t;
}

/* Set the target: a lower bound of the load, plus 1 / TARGET_SHARE of it.  Each source gives a
 * bound: the flows that leave it, divided by the number of its links in sh.  The greatest of
 * these bounds and the bound by cuts is used. */
void displaced_target(struct displaced *z, const struct ftr_shape *sh)
{
	uint64_t bound = z->net->bound;

	for (uint32_t i = 0; i < z->net->n_sources; i++) {
		const struct balance_source *src = &z->net->source[i];
		uint64_t flows = (uint64_t)src->hosts *
			(z->net->n_hosts - src->hosts), links = 0;
		uint32_t first = sh->tree.group_first[src->sw];

		for (uint32_t k = 0; k < sh->tree.n_up[src->sw] +
		     sh->tree.n_down[src->sw]; k++)
			links += sh->tree.groups[first + k].n;
		if (links)
			bound = FTR_MAX(bound, (flows + links - 1) / links);
	}
	z->target = (uint32_t)(bound + FTR_MAX(bound / TARGET_SHARE, 1u));
}

uint32_t displaced_flows(const struct displaced *z, uint32_t link)
{
	return z->link[link].flows;
}

uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width)
{
	*width = z->width;
	return z->link[link].bins ? z->link[link].bins[shift / z->width] : 0;
}
