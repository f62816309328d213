// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses ports for displaced entries by the cost of their paths.
 *
 * The entries for a LID get their ports one by one, beginning at the switch nearest to the
 * destination.  So when a port is chosen, the rest of the path is known.  The cost of a path is the
 * sum of these terms over its links:
 *
 *	OVER		for each all-to-all flow above the target
 *	SCALE * ((N + 1)^POWER - N^POWER - 1)
 *			for each shift in which a flow of the entry shares the link with N
 *			other flows.  Only flows that have passed a displaced entry
 *			are counted.
 *
 * The first port with cost 0 is taken, or else the cheapest port.  The order in which ports are
 * tried begins at different candidates for neighbouring destinations and switches.  So entries
 * without counted flows spread over the candidates, too.
 *
 * When an entry changes, the flows that pass it are subtracted from the links of their old path,
 * from the entry on, and added to the links of their new path.  All these flows take the same path,
 * so they are counted together, as a stream.  A flow that reaches a missing entry counts only on
 * the links before this entry.  The work for a changed entry grows with the number of sources
 * (switches with hosts) of its flows, and with the length of the path.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/placing.h"

#define OVER 65536
#define POWER 3
#define SCALE 16		/* factor of the cost of a flow in a shift, applied before the cost
				 * is rounded down */
#define DENSE 8			/* Memory for all lines (placing.h) is allocated at once if there
				 * are more than (number of lines) / DENSE displaced entries. */
#define TARGET_SHARE 50		/* target = bound + max(1, bound / 50) */

static uint32_t link_of(const struct displaced *z, ftr_sw s, ftr_lid lid)
{
	ftr_port port = z->row ? z->row[s] : ftr_tables_row(z->t, s)[lid];

	return balance_link_to(z->net, s, port);
}

static ftr_sw next_of(const struct displaced *z, ftr_sw s, ftr_lid lid)
{
	uint32_t link = link_of(z, s, lid);

	return link == BALANCE_NONE ? FTR_SW_NONE : z->net->peer[link];
}

static bool has_bit(const struct displaced *z, const uint64_t *bits, ftr_sw s,
		    ftr_lid lid)
{
	return bits && bits[lid * z->words + s / 64] >> s % 64 & 1;
}

static void set_bit(const struct displaced *z, uint64_t *bits, ftr_sw s,
		    ftr_lid lid, bool on)
{
	uint64_t bit = UINT64_C(1) << s % 64, *w;

	if (!bits)
		return;
	w = &bits[lid * z->words + s / 64];
	*w = on ? *w | bit : *w & ~bit;
}

/* Returns true if flows to lid visit s.  May also return true if flows visited s earlier. */
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

static void add_source(const struct displaced *z, struct stream *to,
		       const struct balance_source *src, uint32_t pos)
{
	uint32_t k = balance_first_shift(z->net, src, pos), left = src->n;

	while (left) {
		uint32_t bin = z->bin_of[k];
		uint32_t end = FTR_MIN((bin + 1) * z->width, z->net->n_pos);
		uint32_t n = FTR_MIN(end - k, left), i = to->at[bin];

		if (i < to->n && to->share[i].bin == bin) {
			to->share[i].n += n;
		} else {
			to->at[bin] = to->n;
			to->share[to->n++] = (struct share){ bin, n };
		}
		left -= n;
		k = k + n == z->net->n_pos ? 0 : k + n;
	}
}

uint32_t displaced_streams(struct displaced *z, const struct passing *from,
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
	for (uint32_t i = 0; i < z->old.n; i++)
		z->old.share[i].bin = displaced_offset(z, z->old.share[i].bin);
	for (uint32_t i = 0; i < z->fresh.n; i++)
		z->fresh.share[i].bin = displaced_offset(z, z->fresh.share[i].bin);
	return hosts;
}

static bool use_line(struct displaced *z, uint32_t link, uint32_t b)
{
	uint32_t **of = &z->line_of[link], k = b / LINE_BINS;

	if (*of && (*of)[k])
		return true;
	if ((!*of && !FTR_ZNEW(z->arena, *of, z->n_bins / LINE_BINS + 1)) ||
	    !FTR_GROW(z->line, z->n_lines, z->cap_lines))
		return false;
	z->line[z->n_lines] = (struct line){ 0 };
	(*of)[k] = z->n_lines++;
	return true;
}

static void add_stream(struct displaced *z, uint32_t at,
		       const struct stream *of, int by)
{
	uint16_t *first = of->n ? displaced_first(z, at) : NULL;

	if (of->n && z->bins && !first)
		first = FTR_ZNEW(z->arena, z->bins[at], z->n_bins);
	for (uint32_t i = 0; i < of->n; i++) {
		const struct share *share = &of->share[i];
		uint16_t *bin;

		if (!first && (z->bins || !use_line(z, at, share->bin))) {
			z->nomem = true;
			return;
		}
		bin = displaced_counter(z, at, first, share->bin);
		*bin = (uint16_t)(*bin + by * (int)share->n);
	}
}

void displaced_walk(struct displaced *z, ftr_sw s, ftr_lid lid, uint32_t hosts,
		    int by)
{
	bool displaced = false;

	for (uint32_t hops = 0; hops < z->net->f->n_sw; hops++) {
		uint32_t link = link_of(z, s, lid);

		if (link == BALANCE_NONE)
			return;
		if (z->fresh.n)
			displaced |= has_bit(z, z->displaced, s, lid);
		z->flows[link] += (uint32_t)by * hosts;
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

void displaced_gather(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, ftr_sw s, bool up, ftr_lid lid)
{
	uint32_t depth = 0, hosts = 0;

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

		if (src != BALANCE_NONE) {
			z->source[z->n_sources++] =
				(struct passing){ src, u.displaced };
			hosts += z->net->source[src].hosts;
		}
		if (z->senders && hosts == z->senders[s])
			return;
		end = turns ?	/* extra turns may use horizontal links */
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

static inline uint64_t price_share(const struct displaced *z,
				   const struct share *share, uint16_t n)
{
	return (uint64_t)share->n * z->price[FTR_MIN(n, PRICES - 1)];
}

static uint64_t price_link(const struct displaced *z, uint32_t at,
			   uint32_t hosts)
{
	uint32_t flows = z->flows[at] + hosts;
	const struct share *share = z->old.share, *end = share + z->old.n;
	uint16_t *first = share < end ? displaced_first(z, at) : NULL;
	uint64_t sum = 0;

	if (flows > z->target)
		sum = (uint64_t)OVER * FTR_MIN(hosts, flows - z->target);
	if (!first && (!z->line_of || !z->line_of[at]))
		return sum;
	for (; first && share < end; share++)
		sum += price_share(z, share, first[share->bin]);
	for (; share < end; share++)
		sum += price_share(z, share,
				   *displaced_counter(z, at, first, share->bin));
	return sum;
}

ftr_port displaced_cheapest(struct displaced *z, const uint8_t *ports,
			    uint32_t n, ftr_sw s, ftr_lid lid, uint32_t hosts)
{
	uint64_t least = UINT64_MAX;
	ftr_port best = FTR_PORT_NONE;

	for (uint32_t k = 0; k < n && least; k++) {
		uint32_t link = balance_link(z->net, s, ports[k]), hops = 0;
		uint64_t price = price_link(z, link, hosts);

		while (price < least && hops++ < z->net->f->n_sw) {
			link = link_of(z, z->net->peer[link], lid);
			if (link == BALANCE_NONE)
				break;
			price += price_link(z, link, hosts);
		}
		if (price < least) {
			least = price;
			best = ports[k];
		}
	}
	return best;
}

/* Store at most `most` ports of the candidates in ports[], in the order in which they are tried.
 * begin % n is the index of the first candidate, and begin / n selects its first port. */
static uint32_t ports_to_try(const struct ftr_shape *sh,
			     const struct ftr_group *const *cand, uint32_t n,
			     uint32_t begin, uint8_t *ports, uint32_t most)
{
	uint32_t n_ports = 0, at = n ? begin % n : 0;

	for (uint32_t k = 0; k < n && n_ports < most; k++) {
		const struct ftr_group *g = cand[at];

		for (uint32_t i = 0; i < g->n && n_ports < most; i++)
			ports[n_ports++] = sh->tree.group_ports[
				g->first + (g->n == 1 ? 0 :
					    (begin / n + i) % g->n)];
		at = at + 1 == n ? 0 : at + 1;
	}
	return n_ports;
}

static bool all_go_up(const struct ftr_shape *sh, ftr_sw s,
		      const struct ftr_group *const *cand, uint32_t n)
{
	for (uint32_t i = 0; sh->tree.rank && i < n; i++)
		if (sh->tree.rank[cand[i]->remote] < sh->tree.rank[s])
			return false;
	return true;
}

static bool same_sources(const struct displaced *z, const struct column *c,
			 uint32_t i, bool up)
{
	return z->known && !c->turns && z->up[i] == up;
}

/* Choose the port of entry e, the i-th changed entry for the LID, and count its flows. */
static void place(struct displaced *z, const struct column *c, ftr_lid lid,
		  struct displaced_entry *e, uint32_t i)
{
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	const struct ftr_shape *sh = c->sh;
	uint32_t n = ftr_shape_candidates_at(sh, e->sw, &c->costs, cand);
	bool up = all_go_up(sh, e->sw, cand, n);
	uint8_t ports[FTR_PORT_MAX + 1];
	struct passing *from = z->source;
	uint32_t m, hosts;

	if (same_sources(z, c, i, up)) {
		from += z->first[i];
		m = z->first[i + 1] - z->first[i];
	} else {
		z->known = false;	/* because displaced_gather() overwrites z->source */
		z->n_sources = 0;
		if (z->pos[lid] != NOT_COUNTED)
			displaced_gather(z, sh, c->turns, e->sw, up, lid);
		m = z->n_sources;
	}
	for (uint32_t k = 0; k < m; k++)
		from[k].displaced = true;
	hosts = displaced_streams(z, from, m, lid);
	n = ports_to_try(sh, cand, n, lid + sh->numbering.col[e->sw], ports,
			 hosts ? FTR_PORT_MAX : 1);
	if (hosts)
		e->after = displaced_cheapest(z, ports, n, e->sw, lid, hosts);
	else
		e->after = n ? ports[0] : FTR_PORT_NONE;
	set_entry(z, e->sw, lid, e->after);
	if (m)
		displaced_walk(z, e->sw, lid, hosts, 1);
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

void displaced_sort(struct displaced_entry *e, uint32_t n, struct column *c)
{
	if (n > 1)
		qsort_r(e, n, sizeof(*e), nearest_first, &c->costs);
}

void displaced_place_lid(struct displaced *z, const struct column *c,
			 ftr_lid lid, struct displaced_entry *e, uint32_t n)
{
	z->now++;
	for (uint32_t i = 0; i < n; i++)
		if (e[i].after == DISPLACED_PLACE)
			place(z, c, lid, &e[i], i);
}

static bool leads_on(const struct displaced_entry *e)
{
	return e->after != DISPLACED_PLACE && e->after != FTR_PORT_NONE;
}

/* Add (by: 1) or subtract (by: -1) the flows that pass entry i, on the links from this entry on. */
static void walk_from(struct displaced *z, ftr_lid lid,
		      const struct displaced_entry *e, uint32_t i, int by)
{
	uint32_t m = z->first[i + 1] - z->first[i];

	if (m)
		displaced_walk(z, e[i].sw, lid,
		     displaced_streams(z, z->source + z->first[i], m, lid), by);
}

/* For each of the n entries, find the sources whose flows pass it.  Set z->known to true if each of
 * the entries is removed or will get another port by load.  Then the sources remain correct until
 * the ports are chosen: an entry nearer to the destination, which gets its port earlier, does not
 * change the sources. */
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
			displaced_gather(z, c->sh, c->turns, e[i].sw, z->up[i], lid);
	}
	z->first[n] = z->n_sources;
}

bool displaced_change(struct displaced *z, const struct ftr_shape *sh,
		      bool turns, uint32_t l, ftr_lid lid,
		      struct displaced_entry *e, uint32_t n)
{
	struct column c = { sh, ftr_shape_column(sh, l), turns };

	z->nomem = false;
	displaced_sort(e, n, &c);
	gather_all(z, &c, lid, e, n);
	for (uint32_t i = 0; i < n; i++)
		walk_from(z, lid, e, i, -1);
	for (uint32_t i = 0; i < n; i++)
		set_entry(z, e[i].sw, lid, e[i].after == DISPLACED_PLACE ?
			  FTR_PORT_NONE : e[i].after);
	for (uint32_t i = 0; i < n; i++)
		if (leads_on(&e[i]))
			walk_from(z, lid, e, i, 1);
	displaced_place_lid(z, &c, lid, e, n);
	return !z->nomem;
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

bool displaced_stream_new(const struct displaced *z, struct stream *of,
			  struct ftr_arena *a)
{
	of->share = ftr_arena_alloc(a, z->n_bins, sizeof(*of->share));
	of->at = ftr_arena_zalloc(a, z->n_bins, sizeof(*of->at));
	return of->share && of->at;
}

bool displaced_bins_new(struct displaced *z, uint32_t n)
{
	size_t lines = (z->n_bins / LINE_BINS + 1) * (size_t)z->net->n_rows;

	if (n > lines / DENSE && lines <= UINT32_MAX / LINE_BINS) {
		z->n_lines = (uint32_t)lines;
		z->line = ftr_aligned(lines * sizeof(*z->line));
		return z->line;
	}
	z->n_lines = z->cap_lines = 1;
	z->line = ftr_calloc(1, sizeof(*z->line));
	return z->line && FTR_ZNEW(z->arena, z->line_of, z->net->n_links);
}

static bool bit_sets_new(struct displaced *z, bool once)
{
	const struct balance_net *net = z->net;
	bool passed = !once || net->in->depth != FTR_BALANCE_LOAD;
	bool displaced = !once || z->prefer;
	uint32_t lids = net->f->max_lid + 1u;

	z->words = balance_passed_words(net);
	if (passed)
		z->passed = ftr_arena_zalloc(z->arena, lids * z->words,
					     sizeof(*z->passed));
	if (displaced)
		z->displaced = ftr_arena_zalloc(z->arena, lids * z->words,
						sizeof(*z->displaced));
	if ((passed && !z->passed) || (displaced && !z->displaced))
		return false;
		/* LID 0 is no destination: its row is used as the initial value of the others */
	for (uint32_t k = 0; k < net->n_sources; k++)
		set_bit(z, z->passed, net->source[k].sw, 0, true);
	for (uint32_t i = 0; passed && i < net->first[net->f->n_sw]; i++)
		memcpy(z->passed + net->dest[i].lid * z->words, z->passed,
		       z->words * sizeof(*z->passed));
	return true;
}

static bool allocate(struct displaced *z, bool once)
{
	const struct balance_net *net = z->net;
	uint32_t n_sw = net->f->n_sw, lids = net->f->max_lid + 1u;

	z->pos = ftr_arena_alloc(z->arena, lids, sizeof(*z->pos));
	z->flows = ftr_arena_alloc(z->arena, net->n_links, sizeof(*z->flows));
	z->source = ftr_arena_alloc(z->arena, net->n_sources + 1u,
				    sizeof(*z->source));
	z->stack = ftr_arena_alloc(z->arena, n_sw, sizeof(*z->stack));
	z->first = ftr_arena_alloc(z->arena, n_sw + 1u, sizeof(*z->first));
	z->up = ftr_arena_alloc(z->arena, n_sw, sizeof(*z->up));
	z->changed = ftr_arena_zalloc(z->arena, n_sw, sizeof(*z->changed));
	z->bin_of = ftr_arena_alloc(z->arena, net->n_pos + 1u,
				    sizeof(*z->bin_of));
	if (!z->pos || !z->flows || !z->source || !z->stack ||
	    !z->first || !z->up || !z->changed || !z->bin_of)
		return false;
	for (uint32_t i = 0; i < lids; i++)
		z->pos[i] = NOT_COUNTED;
	for (uint32_t i = 0; i < net->first[n_sw]; i++)
		z->pos[net->dest[i].lid] = net->dest[i].pos;
	z->width = 1;
	for (uint32_t i = 0; i < net->n_sources; i++)
		z->width = FTR_MAX(z->width, net->source[i].n);
	z->n_bins = net->n_pos / z->width + 1;
	for (uint32_t i = 0; i < net->n_pos; i++)
		z->bin_of[i] = (uint16_t)(i / z->width);
	set_prices(z);
	return bit_sets_new(z, once) &&
		(once || FTR_ZNEW(z->arena, z->bins, net->n_links)) &&
		displaced_stream_new(z, &z->fresh, z->arena) &&
		displaced_stream_new(z, &z->old, z->arena);
}

void displaced_count(struct displaced *z)
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

			displaced_streams(z, &p, 1, (ftr_lid)i);
			displaced_walk(z, net->source[k].sw, (ftr_lid)i, 0, 1);
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
		/* at depth `load`, the numbers of senders are used instead of z->passed */
		bool senders = net->in->depth == FTR_BALANCE_LOAD;

		st = balance_count_net(net, senders,
				       senders ? NULL : z->passed, team, err);
	} else if ((flows = ftr_calloc(n, sizeof(*flows)))) {
		struct balance_counted out = {
			.flows = flows, .passed = z->passed,
		};

		st = balance_count_flows(net, team, &out, err);
		balance_net_free_rows(net);	/* this copy of entries is not kept up to date */
	} else {
		st = nomem(err);
	}
	for (uint32_t i = 0; !st && i < n; i++)
		z->flows[i] = once ? net->flows[i] : flows[i];
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
	if (!st && !balance_net_ordered(z->net))
		st = ftr_fail(err, FTR_INVAL, "tables whose entries, or their candidates, lead in a circle");
	if (!st && !allocate(z, once))
		st = nomem(err);
	if (!st)
		st = count_flows(z, once, team, err);
	if (!st) {
		displaced_target(z, in->shape);
		if (prefer && !once)
			displaced_count(z);
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
	free(z->line);
	free(z);
}

struct balance_net *displaced_finish(struct displaced *z)
{
	struct balance_net *net = z->net;

	for (uint32_t x = 0; x < net->n_links; x++)
		net->flows[x] = z->flows[x];
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

/* target = bound + max(1, bound / TARGET_SHARE).  The bound is the greater one of two lower bounds
 * for the most loaded link.  The first one is the bound from cuts (bound.c).  The second one is the
 * greatest value of (flows that leave a source) / (links of this source in sh). */
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
	return z->flows[link];
}

uint32_t displaced_bin(const struct displaced *z, uint32_t link, uint32_t shift,
		       uint32_t *width)
{
	uint32_t offset = displaced_offset(z, shift / z->width);
	uint16_t *first = NULL;

	*width = z->width;
	if (z->bins || z->net->row[link] != BALANCE_NONE)
		first = displaced_first(z, link);
	return first || z->line_of ?
		*displaced_counter(z, link, first, offset) : 0;
}
