// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes one sweep that evens out all-to-all flows and shifts: a pass over the entries, in which
 * entries may change to other candidates (allowed next hops).
 *
 * For each destination, and for each switch from the farthest to the nearest: remove the flows that
 * pass the entry of the switch, compute the cost of the path through every candidate, choose the
 * cheapest candidate, and add the flows to its path.  The search is greedy, in a fixed order,
 * without random numbers.
 *
 * The cost of a path is the sum of these terms over its links:
 *
 *	w->over			for each all-to-all flow above the target
 *	SCALE * ((N + 1)^POWER - N^POWER)
 *				for each shift in which a flow of the entry shares the link
 *				with N other flows.  (The sum of these terms is a smooth
 *				substitute for the load of the most loaded link.)
 *	F / 256			for each all-to-all flow of the entry, if the link has F other
 *				all-to-all flows.  So idle links are preferred
 *
 * Flows to one destination are all in different shifts.  So the flows that pass an entry add one to
 * N in each of their shifts.  The path through a candidate meets the present path at some switch.
 * After this switch both paths have the same links, whose cost is left out.
 *
 * An entry changes only if the cost falls by more than (cost / MARGIN).  An entry is examined only
 * if its path has a bad link.  A link is bad for an entry if
 *
 *	- it has more all-to-all flows than the target, or
 *	- it has at least w->meet flows in a shift in which a flow passes the entry.  (If the
 *	  bin counts several shifts together: more than `w->meet - 1` flows per shift.)
 *
 * The test for bad links reads one bit for each bin, and takes about a third of the time of a
 * sweep.  So in a quick sweep, several threads first test the entries for a batch of destinations;
 * then one thread changes these entries.
 */
#include <string.h>

#include "balance/balance.h"

#define MARGIN 10000
#define POWER 5
#define PRICES 4096
#define SCALE 4			/* factor of the cost of a flow in a shift, applied before the cost
				 * is rounded down */
#define FEW 16			/* see price_single() */

#define BATCH 64		/* number of destinations in a batch of a quick sweep */

#define EMPTY UINT16_MAX

/* The flows that pass an entry.  Their sources (switches with hosts) are a list from head to tail,
 * linked by search.next. */
struct passing {
	uint32_t hosts;
	uint16_t head, tail;	/* EMPTY: no source */
};

/* Scratch memory of a thread that searches for bad links. */
struct marker {
	struct step {		/* step[s]: the entry of switch s */
		const uint64_t *full;	/* full bins of the link, see balance_count.full; NULL:
					 * none */
		uint16_t next;		/* switch at the end of the link */
		bool over;		/* true: the link is above the target */
		bool hot;		/* true: the path from s may have a bad link */
	} *step;		/* [n_sw] */
	uint16_t *path;		/* [n_sw] scratch */
};

struct search {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	struct ftr_arena *arena;
	const struct balance_order *order;
	struct balance_cand cand;
	struct passing *own_hosts;	/* own_hosts[s]: flows from the hosts on switch s */
	struct passing *at;	/* at[s]: flows that pass the entry of switch s */
	uint16_t *next;		/* next[i]: the source after source i in a list */
	uint32_t price[PRICES];	/* price[n]: cost of a flow in a bin with n other flows */
	struct marker *marker;	/* [workers] */
	uint32_t begin;		/* index in net->sweep_order of the first destination of the
				 * batch */
	/* Paths to the i-th destination of the batch.  bad[i * n_sw + s]: some path through switch
	 * s has a bad link at or after s; any[i]: some path may have a bad link;
	 * peers[i * n_sw + s]: the switch after s on the path, or EMPTY */
	uint8_t *bad;
	bool *any;
	uint16_t *peers;
	/* for the current destination */
	const struct balance_dest *d;
	uint32_t index;
	const uint8_t *entry;	/* [n_sw] */
	const uint8_t *is_bad;
	uint16_t *next_sw;
	bool moved;
	ftr_sw to;
	/* the flows that pass the examined entry */
	uint32_t hosts;
	struct balance_shifts *shifts;	/* [n_shifts] their shifts, as at most n_sources ranges */
	uint32_t n_shifts;
	/* the path from the entry to the destination; the last hop is the destination switch */
	struct hop {
		ftr_sw sw;
		uint32_t link;
		uint64_t before;	/* cost of the links of the path before sw */
	} *hop;			/* [n_hops + 1] */
	uint32_t n_hops, n_priced;
	/* the links from a candidate to the switch at which its path meets the present path */
	uint32_t *rest;		/* [n_rest] */
	uint32_t n_rest;
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

typedef uint16_t lanes __attribute__((vector_size(2 * BALANCE_LANES)));
typedef uint32_t pairs __attribute__((vector_size(2 * BALANCE_LANES)));
typedef uint64_t quads __attribute__((vector_size(2 * BALANCE_LANES)));

/* The cost of one flow in each of the shifts `of`, if each bin has one shift.  own: the bins
 * contain these flows already.  Usually all bins have fewer than FEW flows.  Then the cost
 *	(N + 1)^5 - N^5 = 5 * m * (m + 1) + 1, where m = N * (N + 1),
 * is computed for several bins together: m * (m + 1) then has at most 16 bits. */
static uint64_t price_single(const struct search *z, const uint16_t *row,
			     struct balance_shifts of, bool own)
{
	static const uint16_t keep[2 * BALANCE_LANES] = {
		0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
	};
	lanes n, m, mask, any = { 0 };
	pairs terms = { 0 };
	quads many;
	uint64_t sum = 0;

	for (uint32_t k = of.begin; k < of.end; k += BALANCE_LANES) {
		memcpy(&n, row + k, sizeof(n));
		memcpy(&mask, keep + BALANCE_LANES -
		       FTR_MIN(of.end - k, BALANCE_LANES), sizeof(mask));
		n = (n - (uint16_t)own) & mask;
		any |= n;
		m = n * (n + 1);
		m *= m + 1;
		terms += ((pairs)m & 0xffff) + ((pairs)m >> 16);
	}
	many = (quads)(any & (uint16_t)~(FEW - 1));
	if (!(many[0] | many[1])) {
		sum = (uint64_t)terms[0] + terms[1] + terms[2] + terms[3];
		return SCALE * (5 * sum + of.end - of.begin);
	}
	for (uint32_t k = of.begin; k < of.end; k++)
		sum += z->price[FTR_MIN(row[k] - own, PRICES - 1)];
	return sum;
}

/* Like price_single(), for bins of several shifts. */
static uint64_t price_wide(const struct search *z, const uint16_t *row,
			   struct balance_shifts of, bool own)
{
	uint32_t width = z->c->width, k = of.begin;
	uint64_t sum = 0;

	while (k < of.end) {
		uint32_t bin = k / width;
		uint32_t end = FTR_MIN((bin + 1) * width, of.end);
		uint32_t others = row[bin] - (own ? end - k : 0);

		sum += (uint64_t)(end - k) *
			z->price[FTR_MIN(others, PRICES - 1)];
		k = end;
	}
	return sum;
}

static const uint16_t *bins_of(const struct search *z, uint32_t link)
{
	return z->c->bins + (size_t)z->net->row[link] * z->c->n_bins;
}

/* The cost of a link for the all-to-all flows that pass the entry.  own: the link carries these
 * flows already. */
static uint64_t price_flows(const struct search *z, uint32_t link, bool own)
{
	uint32_t target = z->w->target, hosts = z->hosts;
	uint32_t flows = z->c->flows[link] - (own ? hosts : 0);
	uint64_t sum = (uint64_t)(flows / 16) * hosts / 16;

	if (flows + hosts > target)
		sum += z->w->over * FTR_MIN(hosts, flows + hosts - target);
	return sum;
}

/* Like price_flows(), but the cost in the shifts in which a flow passes the entry.  The function
 * stops when the sum reaches `limit`. */
static uint64_t price_bins(const struct search *z, uint32_t link, bool own,
			   uint64_t limit)
{
	const uint16_t *row = bins_of(z, link);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < z->n_shifts && sum < limit; i++)
		sum += z->c->width == 1 ?
			price_single(z, row, z->shifts[i], own) :
			price_wide(z, row, z->shifts[i], own);
	return sum;
}

/* ---- one entry --------------------------------------------------------------- */

static uint32_t link_of(const struct search *z, ftr_sw s)
{
	return balance_link(z->net, s, z->entry[s]);
}

static void add_path(struct search *z, ftr_sw s, ftr_sw end, int by)
{
	for (; s != end; s = z->next_sw[s]) {
		uint32_t link = link_of(z, s);

		z->c->flows[link] += (uint32_t)by * z->hosts;
		for (uint32_t i = 0; i < z->n_shifts; i++)
			balance_bins_add(z->c, link, z->shifts[i], by);
	}
}

static void find_path(struct search *z, ftr_sw s)
{
	uint32_t n = 0;

	for (; s != z->to; s = z->next_sw[s]) {
		z->hop[n].sw = s;
		z->hop[n++].link = link_of(z, s);
	}
	z->hop[n].sw = s;
	z->n_hops = n;
	z->n_priced = 0;
	z->hop[0].before = 0;
}

static uint64_t price_before(struct search *z, uint32_t hop)
{
	for (; z->n_priced < hop; z->n_priced++) {
		struct hop *h = &z->hop[z->n_priced];

		h[1].before = h->before + price_flows(z, h->link, true) +
			price_bins(z, h->link, true, UINT64_MAX);
	}
	return z->hop[hop].before;
}

static uint32_t hop_at(const struct search *z, ftr_sw s)
{
	uint32_t i = 0;

	while (i <= z->n_hops && z->hop[i].sw != s)
		i++;
	return i;
}

/* Set z->rest to the path from the neighbour s to the first switch that is on the present path, and
 * *sum to the cost of the all-to-all flows on z->rest.  Returns the index of that switch in
 * z->hop. */
static uint32_t find_rest(struct search *z, ftr_sw s, uint64_t *sum)
{
	uint32_t hop;

	*sum = 0;
	z->n_rest = 0;
	while ((hop = hop_at(z, s)) > z->n_hops) {
		uint32_t link = link_of(z, s);

		z->rest[z->n_rest++] = link;
		*sum += price_flows(z, link, false);
		s = z->next_sw[s];
	}
	return hop;
}

static uint64_t price_rest(const struct search *z, uint64_t limit)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < z->n_rest && sum < limit; i++)
		sum += price_bins(z, z->rest[i], false, limit - sum);
	return sum;
}

/* The port of the cheapest link of a group, except the present link of the entry.  *least: before
 * the call, a limit of the cost; after the call, the cost of the link found.  Returns 0 if no link
 * costs less than the limit. */
static ftr_port cheapest_link(const struct search *z, ftr_sw s,
			      const struct ftr_group *g, uint64_t *least)
{
	ftr_port best = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		ftr_port port = z->cand.sh->tree.group_ports[g->first + i];
		uint32_t link = balance_link(z->net, s, port);
		uint64_t sum;

		if (port == z->entry[s])
			continue;
		sum = price_flows(z, link, false);
		if (sum < *least)
			sum += price_bins(z, link, false, *least - sum);
		if (sum >= *least)
			continue;
		*least = sum;
		best = port;
	}
	return best;
}

/* The cheapest port for the entry of s.  *meet becomes the switch at which the path over this port
 * meets the present path.  The cost of all-to-all flows is computed first, because it alone often
 * rules out a port. */
static ftr_port cheapest(struct search *z, ftr_sw s, ftr_sw *meet)
{
	ftr_port now = z->entry[s], best = now;
	uint64_t gain = 0;

	find_path(z, s);
	for (uint32_t k = 0; k < z->cand.n[s]; k++) {
		const struct ftr_group *g =
			z->cand.group[z->cand.first[s] + k];
		uint64_t rest, price, first, limit;
		uint32_t hop = find_rest(z, g->remote, &rest);
		ftr_port port;

		price = price_before(z, hop);
		if (price <= gain + rest)
			continue;
		first = limit = price - gain - rest;
		port = cheapest_link(z, s, g, &first);
		if (!port)
			continue;
		rest = price_rest(z, limit - first);
		if (first + rest >= limit)
			continue;
		gain += limit - first - rest;
		best = port;
		*meet = z->hop[hop].sw;
	}
	return gain > price_before(z, gain ? z->n_hops : 0) / MARGIN ? best :
		now;
}

static bool any_bit(const uint64_t *bits, uint32_t begin, uint32_t end)
{
	uint32_t i = begin / 64, last = (end - 1) / 64;
	uint64_t word = bits[i] & ~UINT64_C(0) << begin % 64;

	while (i < last && !word)
		word = bits[++i];
	return i < last || word & ~UINT64_C(0) >> (63 - (end - 1) % 64);
}

static struct balance_shifts bins_for(const struct search *z,
				      struct balance_shifts of)
{
	uint32_t width = z->c->width;

	return width == 1 ? of : (struct balance_shifts){
		of.begin / width, (of.end - 1) / width + 1,
	};
}

static const uint64_t *full_bins(const struct search *z, uint32_t link)
{
	uint32_t row = z->net->row[link];

	return z->c->n_full[row] ? z->c->full + (size_t)row * z->c->words :
		NULL;
}

static bool is_fine(const struct search *z, uint32_t link)
{
	const uint64_t *full = full_bins(z, link);

	if (z->c->flows[link] > z->w->target)
		return false;
	for (uint32_t i = 0; full && i < z->n_shifts; i++) {
		struct balance_shifts bins = bins_for(z, z->shifts[i]);

		if (any_bit(full, bins.begin, bins.end))
			return false;
	}
	return true;
}

static bool path_fine(const struct search *z, ftr_sw s)
{
	while (s != z->to && is_fine(z, link_of(z, s)))
		s = z->next_sw[s];
	return s == z->to;
}

/* Set z->hosts and z->shifts for the flows p.  If each bin has one shift, adjacent ranges of shifts
 * are joined.  Otherwise price_wide() needs one range for each source. */
static void set_flows(struct search *z, const struct passing *p)
{
	uint32_t n = 0;

	z->hosts = p->hosts;
	for (uint32_t i = p->head; z->d->pos != BALANCE_NONE; i = z->next[i]) {
		struct balance_shifts of = balance_shifts_of(
			z->net, &z->net->source[i], z->d->pos);

		if (n && z->c->width == 1 && of.end == z->shifts[n - 1].begin)
			z->shifts[n - 1].begin = of.begin;
		else if (of.begin < of.end)
			z->shifts[n++] = of;
		if (i == p->tail)
			break;
	}
	z->n_shifts = n;
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
	if (!z->cand.n[s])
		return true;
	set_flows(z, p);
	if (path_fine(z, s))
		return true;
	best = cheapest(z, s, &meet);
	if (best == now)
		return true;
	add_path(z, s, meet, -1);
	if (!balance_move(z->c, s, z->index, best)) {
		add_path(z, s, meet, 1);
		return false;
	}
	z->next_sw[s] = (uint16_t)z->net->peer[link_of(z, s)];
	add_path(z, s, meet, 1);
	z->moved = true;
	z->w->moved++;
	return true;
}

/* ---- bad paths ---------------------------------------------------------------- */

/* Set m->step and next_sw[] for destination d.  The member `hot` of a step becomes true if a link
 * of the path is above the target or has a full bin.  Returns false if `hot` is true nowhere. */
static bool find_steps(const struct search *z, struct marker *m, uint32_t d,
		       uint16_t *next_sw)
{
	const struct balance_net *net = z->net;
	const struct balance_dest *to = &net->dest[d];
	const struct balance_order *o = &net->order[to->col];
	const uint8_t *entry = balance_entries(net, z->c->entry, d);
	bool any = false;

	for (uint32_t i = o->n; i-- > 0;) {
		ftr_sw s = o->sw[i];
		uint32_t link = balance_link_to(net, s, entry[s]);
		struct step *step = &m->step[s];

		*step = (struct step){ .next = EMPTY };
		if (link != BALANCE_NONE)
			step->next = (uint16_t)net->peer[link];
		next_sw[s] = step->next;
		if (i + 1 == o->n || link == BALANCE_NONE)
			continue;
		step->over = z->c->flows[link] > z->w->target;
		if (to->pos != BALANCE_NONE)
			step->full = full_bins(z, link);
		step->hot = step->over || step->full ||
			m->step[step->next].hot;
		any |= step->hot;
	}
	return any;
}

static void mark_path(const struct search *z, const struct marker *m,
		      const struct balance_source *src, uint32_t pos,
		      uint8_t *bad)
{
	bool sends = pos != BALANCE_NONE && src->n;
	struct balance_shifts bins = { 0 };
	uint32_t n = 0, last = 0;

	if (sends)
		bins = bins_for(z, balance_shifts_of(z->net, src, pos));
	for (ftr_sw s = src->sw; m->step[s].hot; s = m->step[s].next) {
		const struct step *step = &m->step[s];
		bool is_bad = step->over;

		if (step->full && sends)
			is_bad |= any_bit(step->full, bins.begin, bins.end);
		m->path[n++] = (uint16_t)s;
		if (is_bad)
			last = n;
	}
	while (last)
		bad[m->path[--last]] = 1;
}

static void mark(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct search *z = ctx;
	struct marker *m = &z->marker[worker];
	uint32_t n_sw = z->net->f->n_sw;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t d = z->net->sweep_order[z->begin + i];
		uint8_t *bad = z->bad + (size_t)i * n_sw;

		memset(m->step, 0, n_sw * sizeof(*m->step));
		z->any[i] = find_steps(z, m, d, z->peers + (size_t)i * n_sw);
		if (!z->any[i])
			continue;
		memset(bad, 0, n_sw);
		for (uint32_t k = 0; k < z->net->n_sources; k++)
			mark_path(z, m, &z->net->source[k],
				  z->net->dest[d].pos, bad);
	}
}

/* ---- destinations --------------------------------------------------------------- */

static void pass_on(struct search *z, const struct passing *from, ftr_sw to)
{
	struct passing *p = &z->at[to];

	if (p->head == EMPTY)
		p->head = from->head;
	else
		z->next[p->tail] = from->head;
	p->tail = from->tail;
	p->hosts += from->hosts;
}

static bool sweep_dest(struct search *z)
{
	z->moved = false;
	memcpy(z->at, z->own_hosts, z->net->f->n_sw * sizeof(*z->at));
	for (uint32_t i = 0; i + 1 < z->order->n; i++) {
		ftr_sw s = z->order->sw[i];
		const struct passing *p = &z->at[s];

		if (p->head == EMPTY)
			continue;
		if (!choose(z, s, p))
			return false;
		if (z->next_sw[s] != EMPTY)
			pass_on(z, p, z->next_sw[s]);
	}
	return true;
}

static bool sweep_batch(struct search *z, uint32_t n)
{
	const struct balance_net *net = z->net;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = z->net->sweep_order[z->begin + i], l = net->dest[d].col;

		z->w->cancelled = balance_cancelled(net);
		if (z->w->cancelled)
			return true;
		if (!z->any[i])
			continue;
		if (!z->order || z->order != &net->order[l])
			balance_cand_column(&z->cand, net, l);
		z->order = &net->order[l];
		z->to = net->in->shape->numbering.col_sw[l];
		z->d = &net->dest[d];
		z->index = d;
		z->entry = balance_entries(net, z->c->entry, d);
		z->is_bad = z->bad + (size_t)i * net->f->n_sw;
		z->next_sw = z->peers + (size_t)i * net->f->n_sw;
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
	ok = FTR_NEW(a, z->own_hosts, n_sw) && FTR_NEW(a, z->at, n_sw) &&
		FTR_NEW(a, z->next, z->net->n_sources) &&
		FTR_NEW(a, z->bad, (size_t)BATCH * n_sw) &&
		FTR_NEW(a, z->any, BATCH) &&
		FTR_NEW(a, z->peers, (size_t)BATCH * n_sw) &&
		FTR_NEW(a, z->shifts, z->net->n_sources) &&
		FTR_NEW(a, z->hop, n_sw + 1u) && FTR_NEW(a, z->rest, n_sw) &&
		FTR_NEW(a, z->marker, workers);
	for (ftr_sw s = 0; ok && s < n_sw; s++) {
		uint32_t src = z->net->source_of[s];

		z->own_hosts[s] = (struct passing){
			z->net->hosts[s], (uint16_t)src, (uint16_t)src,
		};
	}
	for (unsigned int i = 0; ok && i < workers; i++) {
		struct marker *m = &z->marker[i];

		ok = FTR_NEW(a, m->step, n_sw) && FTR_NEW(a, m->path, n_sw);
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
