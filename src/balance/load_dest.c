// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes the entries for one destination in a sweep that evens out all-to-all flows.
 *
 * Two kinds of entries are examined: entries that lead onto a link above the target, and entries
 * whose path leads through such an entry.  Entries nearest to the destination come first: they
 * carry the most flows, so the number of changes is small.  An entry is skipped if it is on the
 * paths of fewer than w->least hosts.  Later sweeps have a smaller w->least.
 *
 * The excess of a link is the number of its flows above the target.  The excess of a path is the
 * sum over its links.  An entry changes to another candidate (allowed next hop) if
 *
 *	- some candidate has a path with less excess than the present path, and
 *	- the change reduces the sum of (excess)^2 over all links.
 *
 * The entry takes the candidate with the smallest such sum.  On a tie, it takes the candidate
 * whose path has the fewest flows.
 */
#include <string.h>

#include "balance/load_sweep.h"

#define NO_PATH UINT64_MAX

static inline uint64_t above(const struct share *z, uint64_t flows)
{
	return flows > z->load->target ? flows - z->load->target : 0;
}

static inline uint64_t excess_of(const struct share *z, uint32_t link)
{
	return above(z, z->link[link].flows);
}

/* The link onto which the entry of s leads.  The port must exist. */
static inline uint32_t link_at(const struct share *z, ftr_sw s)
{
	return z->load->ports[s].first + z->entry[s];
}

/* The link onto which the entry of s leads, or BALANCE_NONE if it leads to no switch. */
static inline uint32_t link_of(const struct share *z, ftr_sw s)
{
	uint32_t link = link_at(z, s);

	return z->entry[s] > z->load->ports[s].n ||
		z->link[link].peer == FTR_SW_NONE ? BALANCE_NONE : link;
}

/* ---- choices of an entry ------------------------------------------------------------ */

static void add_choice(struct share *z, ftr_sw s, uint32_t to, ftr_port port)
{
	z->choice[z->n_choices++] = (struct choice){
		z->load->ports[s].first + port, (uint16_t)to, port,
	};
}

static void add_ports(struct share *z, ftr_sw s, uint32_t to, uint32_t first,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_choice(z, s, to,
			   z->near->sh->tree.group_ports[first + i]);
}

/* Add the ports of the candidates of s to z->choice.  The candidates are those of
 * ftr_shape_candidates_at().  up: add upward ports, too.  Returns false if s must route downward,
 * although upward ports were added. */
static bool add_by_cost(struct share *z, ftr_sw s, bool up)
{
	const uint8_t *costs[] = { z->costs.down, z->costs.cost };
	const struct near *g = z->near->at + z->near->first[s];
	const struct near *end = z->near->at + z->near->first[s + 1];
	uint8_t cost = z->costs.cost[s], down = z->costs.down[s];
	bool must = false, any_up = false;

	if (cost == FTR_COST_INF)
		return true;
	for (; g < end && g->n; g++) {
		uint8_t of = costs[g->up][g->sw];
		bool closer = of < cost && (up || !g->up);

		must |= g->up & (down < of);
		any_up |= g->up & closer;
		if (g->n > 1) {
			add_ports(z, s, g->sw, g->first, closer ? g->n : 0);
			continue;
		}
		/* no branch, because it would often be mispredicted */
		add_choice(z, s, g->sw, g->port);
		z->n_choices -= !closer;
	}
	return !must || !any_up;
}

static void find_choices(struct share *z, ftr_sw s)
{
	const struct ftr_balance_input *in = z->load->net->in;
	struct choices *of = &z->of[s];
	uint32_t n = FTR_BALANCE_BY_COST;

	of->column = z->column;
	of->first = z->n_choices;
	if (in->extra)
		n = in->extra(in->extra_ctx, s, z->column, z->group);
	if (n == FTR_BALANCE_BY_COST) {
		if (!add_by_cost(z, s, true)) {
			z->n_choices = of->first;
			add_by_cost(z, s, false);
		}
	} else {
		for (uint32_t k = 0; k < n; k++)
			add_ports(z, s, z->group[k]->remote,
				  z->group[k]->first, z->group[k]->n);
	}
	of->n = z->n_choices - of->first;
}

/* ---- one entry ----------------------------------------------------------------- */

static bool cheaper(const struct price *a, const struct price *b)
{
	return a->square != b->square ? a->square < b->square :
		a->flows < b->flows;
}

static inline void price_link(const struct share *z, uint32_t link, uint32_t n,
			      struct price *p)
{
	uint64_t flows = (uint64_t)z->link[link].flows + n;
	uint64_t was = excess_of(z, link), is = above(z, flows);

	p->square += is * is - was * was;
	p->flows += flows;
}

/*
 * Mark the path from s, which must exist, and return its price for n flows.  For the i-th switch t
 * of the path, set mark[t] = first_mark + i.  part[i] is the price of the first i links.  So the
 * path of another candidate needs to be followed only up to its first marked switch.
 */
static struct price mark_path(struct share *z, ftr_sw s, uint32_t n)
{
	struct price p = { 0 };
	uint32_t i = 0;

	z->first_mark += z->load->net->f->n_sw;
	while (s != z->to) {
		uint32_t link = link_at(z, s), flows = z->link[link].flows;
		uint64_t was = above(z, flows - n), is = above(z, flows);

		z->mark[s] = z->first_mark + i;
		z->part[i++] = p;
		p.square += is * is - was * was;
		p.flows += flows;
		s = z->link[link].peer;
	}
	z->mark[s] = z->first_mark + i;
	z->part[i] = p;
	return p;
}

static inline bool is_marked(const struct share *z, ftr_sw s)
{
	return z->mark[s] >= z->first_mark;
}

/* The price of the path from s for n flows that are on the marked path now.  Both paths must exist.
 * marked: the price of the marked path.  The path is followed only until the price exceeds
 * `limit`. */
static struct price price_path(const struct share *z, ftr_sw s, uint32_t n,
			       const struct price *marked, uint64_t limit)
{
	struct price p = { 0 };
	const struct price *part;

	while (!is_marked(z, s)) {
		uint32_t link = link_at(z, s);

		price_link(z, link, n, &p);
		if (p.square > limit)
			return p;
		s = z->link[link].peer;
	}
	part = &z->part[z->mark[s] - z->first_mark];
	p.square += marked->square - part->square;
	p.flows += marked->flows - part->flows;
	return p;
}

static uint64_t find_excess(struct share *z, ftr_sw s)
{
	uint32_t link = link_of(z, s);
	uint64_t sum = NO_PATH;

	if (link != BALANCE_NONE) {
		ftr_sw next = z->link[link].peer;

		sum = z->path[next].known == z->stamp ? z->path[next].excess :
			find_excess(z, next);
	}
	if (sum != NO_PATH)
		sum += excess_of(z, link);
	z->path[s].excess = sum;
	z->path[s].known = z->stamp;
	return sum;
}

/* The excess of the path from s, or NO_PATH. */
static inline uint64_t path_excess(struct share *z, ftr_sw s)
{
	return z->path[s].known == z->stamp ? z->path[s].excess :
		find_excess(z, s);
}

/* Mark the path from s, and return the best choice for the entry of s.  NULL: the present port is
 * the best. */
static const struct choice *cheapest(struct share *z, ftr_sw s)
{
	const struct choice *c = z->choice + z->of[s].first, *best = NULL;
	const struct choice *end = c + z->of[s].n;
	uint32_t n = z->hosts[s], known = BALANCE_NONE;
	struct price now = mark_path(z, s, n), least = now;
	struct price rest = { 0 };	/* price of the path from the switch `known` */

	for (; c < end; c++) {
		struct price p = { 0 };

		price_link(z, c->link, n, &p);
		if (c->port == z->entry[s] || p.square > least.square ||
		    path_excess(z, c->sw) == NO_PATH)
			continue;
		if (known != c->sw) {
			uint64_t limit = least.square - p.square;

			rest = price_path(z, c->sw, n, &now, limit);
			known = rest.square <= limit ? c->sw : BALANCE_NONE;
		}
		p.square += rest.square;
		p.flows += rest.flows;
		if (known == BALANCE_NONE || p.square >= now.square ||
		    !cheaper(&p, &least))
			continue;
		least = p;
		best = c;
	}
	return best;
}

static bool has_better(struct share *z, ftr_sw s)
{
	const struct choice *c = z->choice + z->of[s].first;
	const struct choice *end = c + z->of[s].n;
	uint64_t now = path_excess(z, s);

	for (; c < end; c++) {
		uint64_t rest = path_excess(z, c->sw);

		if (rest < now && rest + excess_of(z, c->link) < now)
			return true;
	}
	return false;
}

/* ---- one move ------------------------------------------------------------------- */

static bool reserve(struct share *z)
{
	struct changes *to = &z->change[z->batch % KEPT];
	uint32_t n = 2 * z->load->net->f->n_sw;

	while (to->cap < to->n + n)
		if (!ftr_grow((void **)&to->at, &to->cap, sizeof(*to->at)))
			return false;
	return FTR_GROW(z->moved, z->n_moved, z->cap_moved);
}

static void add_flows(struct share *z, uint32_t link, int32_t n)
{
	struct changes *to = &z->change[z->batch % KEPT];

	z->link[link].flows += (uint32_t)n;
	if (z->load->n_shares > 1)
		to->at[to->n++] = (struct change){ link, n };
}

static void move_flows(struct share *z, ftr_sw s, const struct choice *to)
{
	int32_t n = z->hosts[s];
	ftr_sw x = to->sw;

	add_flows(z, to->link, n);
	while (!is_marked(z, x)) {
		uint32_t link = link_at(z, x);

		z->hosts[x] = (uint16_t)(z->hosts[x] + n);
		add_flows(z, link, n);
		x = z->link[link].peer;
	}
	for (;;) {
		uint32_t link = link_at(z, s);

		add_flows(z, link, -n);
		s = z->link[link].peer;
		if (s == x)
			return;
		z->hosts[s] = (uint16_t)(z->hosts[s] - n);
	}
}

static bool move(struct share *z, ftr_sw s, const struct choice *to)
{
	struct balance_count *c = z->load->c;
	struct balance_moved *m;

	if (!reserve(z))
		return false;
	move_flows(z, s, to);
	m = &z->moved[z->n_moved++];
	m->sw = s;
	m->lid = z->load->net->dest[z->d].lid;
	m->was = z->entry[s];
	z->entry[s] = to->port;
	ftr_tables_row(c->t, s)[m->lid] = to->port;
	return true;
}

static bool try_entry(struct share *z, ftr_sw s)
{
	const struct choice *best;

	if (z->of[s].column != z->column)
		find_choices(z, s);
	if (z->of[s].n < 2 || !has_better(z, s) ||
	    !balance_may_move(z->load->c, s, z->load->net->dest[z->d].lid))
		return true;
	best = cheapest(z, s);
	if (best && !move(z, s, best))
		return false;
	z->path[s].known = z->stamp - 1;
	return true;
}

/* ---- one destination ------------------------------------------------------------- */

static inline bool sends_to(const struct share *z, const struct near *t,
			    ftr_sw s)
{
	if (t->peer_port)
		return z->entry[t->sw] == t->peer_port;
	return z->entry[t->sw] <= z->load->ports[t->sw].n &&
		z->link[link_at(z, t->sw)].peer == s;
}

/* Append to the queue the neighbours whose entry leads to s.  Skip neighbours whose entry was
 * examined already, and neighbours on the path of fewer than w->least hosts.  n: length of the
 * queue.  Returns the new length. */
static uint32_t add_senders(struct share *z, ftr_sw s, uint32_t n)
{
	const struct near *t = z->near->at + z->near->first[s];
	const struct near *end = z->near->at + z->near->first[s + 1];
	uint32_t left = z->hosts[s] - z->load->net->hosts[s];

	for (; left >= z->load->w->least && t < end; t++) {
		uint32_t hosts = z->hosts[t->sw];

		if (!sends_to(z, t, s) || t->sw == z->to)
			continue;
		left -= hosts;
		if (hosts >= z->load->w->least &&
		    z->path[t->sw].tried != z->stamp)
			z->queue[n++] = t->sw;
	}
	return n;
}

/* Examine the entry of s.  If its path still has excess, continue with the neighbours whose entry
 * leads to s, and so on. */
static bool try_subtree(struct share *z, ftr_sw s)
{
	uint32_t n = 0;

	z->queue[n++] = s;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t excess = path_excess(z, s = z->queue[i]);

		if (z->path[s].tried == z->stamp || !excess || excess == NO_PATH)
			continue;
		z->path[s].tried = z->stamp;
		if (!try_entry(z, s))
			return false;
		if (!path_excess(z, s))
			continue;
		n = add_senders(z, s, n);
	}
	return true;
}

static void sort_over(struct share *z)
{
	const uint8_t *cost = z->costs.cost;
	uint32_t at[FTR_COST_INF + 2], n = z->load->n_over, most = 0;
	const ftr_sw *over = z->load->over;

	for (uint32_t i = 0; i < n; i++)
		most = FTR_MAX(most, cost[over[i]]);
	memset(at, 0, (most + 2) * sizeof(*at));
	for (uint32_t i = 0; i < n; i++)
		at[cost[over[i]] + 1]++;
	for (uint32_t k = 0; k <= most; k++)
		at[k + 1] += at[k];
	for (uint32_t i = 0; i < n; i++)
		z->over[at[cost[over[i]]]++] = over[i];
}

static void set_column(struct share *z, uint32_t l)
{
	const struct load *w = z->load;

	z->column = l;
	z->to = w->net->in->shape->numbering.col_sw[l];
	z->costs = balance_costs(w->net, l);
	z->near = balance_shape(w->net, l) == w->net->in->shape ? &w->of_shape :
		&w->of_full;
	z->n_choices = 0;
	sort_over(z);
}

bool load_sweep_dest(struct share *z, uint32_t d)
{
	const struct load *w = z->load;

	if (w->net->dest[d].col != z->column)
		set_column(z, w->net->dest[d].col);
	z->d = d;
	z->entry = balance_entries(w->net, w->c->entry, d);
	z->hosts = balance_senders(w->net, w->c->senders, d);
	z->stamp++;
	z->path[z->to].excess = 0;
	z->path[z->to].known = z->stamp;
	for (uint32_t i = 0; i < w->n_over; i++) {
		ftr_sw s = z->over[i];
		uint32_t link = link_of(z, s);

		if (link != BALANCE_NONE && excess_of(z, link) &&
		    z->hosts[s] >= w->w->least && !try_subtree(z, s))
			return false;
	}
	return true;
}
