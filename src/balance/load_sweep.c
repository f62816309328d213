// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One sweep of the search for all-to-all traffic alone, fast enough for every routing.
 *
 * The sweep begins at the links above the target. It examines only the entries that use these
 * links, and entries whose path leads to one of those entries. A destination is skipped if, when
 * its turn comes, no entry for it uses such a link. The entries nearest to the destination
 * are tried first, because they carry the most flows, so that few changes are needed. Entries
 * through which fewer than w->least hosts send are skipped: sweeps go from coarse to fine.
 *
 * The excess of a link is its load above the target.  An entry moves if that reduces the
 * sum of the squares of all excesses.  Among such candidates it takes the one with the
 * smallest sum of squares, then the one whose path has the fewest flows.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "core/bytes.h"

/* A neighbour of a switch, and the port of this neighbour on the link between them; 0: there are
 * several links. */
struct neighbour {
	uint16_t sw;
	ftr_port port;
};

struct load {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	struct balance_cand cand;
	/* The switches whose entry for destination d is on a link above the target are
	 * over[first[d]] .. over[first[d + 1] - 1]. */
	ftr_sw *over;
	uint32_t *first;	/* [n_dests + 1] */
	uint64_t *uses;		/* [stride / 64] one bit per LID, set if the entry of the switch
				 * for it uses the link examined */
	uint32_t target;
	/* flows and far end of a link, in one array because they are used together */
	struct load_link {
		uint32_t flows;
		ftr_sw peer;
	} *link;		/* [n_links] */
	const struct balance_ports *ports;	/* ports[s]: the links of switch s */
	/* The neighbours of s are at[first[s]] .. at[first[s + 1] - 1], in the order of the groups.
	 * of_shape: those in in->shape; of_full: in in->full; near: in the shape by which the
	 * current column is routed. */
	struct near {
		struct neighbour *at;
		uint32_t *first;	/* [n_sw + 1] */
	} of_shape, of_full;
	const struct near *near;
	/* for the current destination, [n_sw] each */
	uint16_t *hosts;	/* hosts[s]: number of hosts that send through s */
	const uint8_t *entry;	/* entry[s]: entry of s */
	struct load_path {
		uint64_t excess;	/* excess of the path from s, or NO_PATH; valid if known ==
					 * stamp */
		uint32_t known;
		uint32_t tried;		/* The entry was tried if tried == stamp. */
	} *path;		/* [n_sw] */
	uint32_t stamp;		/* number of destinations examined so far */
	ftr_sw *queue;		/* scratch of try_subtree() */
	uint32_t d;		/* index of the destination in net->dest */
	ftr_sw to;		/* its switch */
};

#define NO_PATH UINT64_MAX

static uint64_t above(const struct load *z, uint64_t flows)
{
	return flows > z->target ? flows - z->target : 0;
}

static uint64_t excess_of(const struct load *z, uint32_t link)
{
	return above(z, z->link[link].flows);
}

/* The link of the entry of s, which must lead to a port of s. */
static uint32_t link_at(const struct load *z, ftr_sw s)
{
	return z->ports[s].first + z->entry[s];
}

/* The link of the entry of s; BALANCE_NONE: the entry leads to no switch. */
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

/* Add the flows of n hosts that send through s to the path from s. */
static void add_path(const struct load *z, ftr_sw s, uint32_t n)
{
	while (s != z->to) {
		struct load_link *link = &z->link[link_at(z, s)];

		link->flows += n;
		s = link->peer;
		z->hosts[s] = (uint16_t)(z->hosts[s] + n);
	}
}

static uint64_t find_excess(struct load *z, ftr_sw s)
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

/* The excess of the path from s, or NO_PATH; computed on first use. */
static inline uint64_t path_excess(struct load *z, ftr_sw s)
{
	return z->path[s].known == z->stamp ? z->path[s].excess :
		find_excess(z, s);
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
		struct price rest = { 0 };
		bool known = false;	/* `rest` is the price of the path from g->remote on */

		if (path_excess(z, g->remote) == NO_PATH)
			continue;
		for (uint32_t i = 0; i < g->n; i++) {
			ftr_port port = z->cand.sh->tree.group_ports[g->first + i];
			struct price p = { 0 };

			price_link(z, balance_link(z->net, s, port), n, &p);
			if (port == now || p.square > least.square)
				continue;
			if (!known) {
				uint64_t limit = least.square - p.square;

				rest = price_path(z, g->remote, n, limit);
				known = rest.square <= limit;
			}
			p.square += rest.square;
			p.flows += rest.flows;
			if (!known || p.square >= square || !cheaper(&p, &least))
				continue;
			least = p;
			best = port;
		}
	}
	return best;
}

/* Is there a candidate whose path has less excess? */
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
	z->path[s].known = z->stamp - 1;
	return true;
}

/* ---- one destination ------------------------------------------------------------- */

/* Does the entry of t, a neighbour of s, lead to s? */
static bool sends_to(const struct load *z, struct neighbour t, ftr_sw s)
{
	if (t.port)
		return z->entry[t.sw] == t.port;
	return z->entry[t.sw] <= z->ports[t.sw].n &&
		z->link[link_at(z, t.sw)].peer == s;
}

/* Try the entry of s, then the entries of the switches that send to s, as long as their path has an
 * excess. */
static bool try_subtree(struct load *z, ftr_sw s)
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
		for (uint32_t k = z->near->first[s];
		     k < z->near->first[s + 1]; k++) {
			struct neighbour t = z->near->at[k];

			if (sends_to(z, t, s) && z->hosts[t.sw] >= z->w->least &&
			    z->path[t.sw].tried != z->stamp && t.sw != z->to)
				z->queue[n++] = t.sw;
		}
	}
	return true;
}

/* Sort the switches in `over`, the nearest first. */
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
	z->stamp++;
	z->path[z->to].excess = 0;
	z->path[z->to].known = z->stamp;
	z->hosts = balance_senders(z->net, z->c->senders, z->d);
	sort_over(z, over, n);
	for (uint32_t i = 0; i < n; i++)
		if (z->hosts[over[i]] >= z->w->least &&
		    excess_of(z, link_of(z, over[i])) &&
		    !try_subtree(z, over[i]))
			return false;
	return true;
}

/* ---- all entries on links above the target ------------------------------------------- */

/* Call visit(z, d, s) for each entry on a link above the target; for each destination d the
 * switches s ascend. */
static void visit_over(struct load *z,
		       void (*visit)(struct load *z, uint32_t d, ftr_sw s))
{
	const struct balance_net *net = z->net;
	uint32_t stride = z->c->t->stride;

	for (uint32_t x = 0, s = 0; x < net->n_links; x++) {
		while (x > net->ports[s].first + net->ports[s].n)
			s++;
		if (net->peer[x] == FTR_SW_NONE || !excess_of(z, x))
			continue;
		bytes_equal(z->uses, ftr_tables_row(z->c->t, s),
			    (uint8_t)(x - net->ports[s].first), stride);
		for (uint32_t w = 0; w < stride / 64; w++)
			for (uint64_t b = z->uses[w]; b; b &= b - 1) {
				uint32_t lid = w * 64 + (uint32_t)
					__builtin_ctzll(b);

				if (lid <= net->f->max_lid &&
				    net->dest_of[lid] != BALANCE_NONE)
					visit(z, net->dest_of[lid], s);
			}
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
	visit_over(z, store_over);	/* first[d] is now the end of the list of d */
	memmove(z->first + 1, z->first, n * sizeof(*z->first));
	z->first[0] = 0;
	return true;
}

/* Is the entry of one of the n switches still on a link above the target? */
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
		uint32_t d = z->d = net->sweep_order[i];
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

/* Copy the neighbours of all switches into a compact array, because the groups do not fit into the
 * cache. */
static bool near_new(struct near *near, const struct ftr_shape *sh,
		     struct ftr_arena *a)
{
	const struct ftr_shape_tree *tree = &sh->tree;
	uint32_t n_sw = sh->f->n_sw, n = 0;

	if (!FTR_NEW(a, near->at, tree->group_first[n_sw] + 1u) ||
	    !FTR_NEW(a, near->first, n_sw + 1u))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++) {
		const struct ftr_group *g = &tree->groups[tree->group_first[s]];

		near->first[s] = n;
		for (uint32_t k = 0; k < ftr_shape_groups(sh, s); k++) {
			ftr_port port = tree->group_ports[g[k].first];

			near->at[n++] = (struct neighbour){
				(uint16_t)g[k].remote, g[k].n > 1 ? 0 :
				ftr_fabric_port(sh->f, s, port)->peer_port,
			};
		}
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
	z->path = ftr_arena_zalloc(a, n_sw, sizeof(*z->path));
	z->uses = ftr_arena_alloc(a, z->c->t->stride / 64,
				  sizeof(*z->uses));
	z->queue = ftr_arena_alloc(a, 2 * (size_t)n_sw, sizeof(*z->queue));
	z->first = ftr_arena_zalloc(a, z->net->first[n_sw] + 2u,
				    sizeof(*z->first));
	if (!near_new(&z->of_shape, z->net->in->shape, a) ||
	    (z->net->in->use_full &&
	     !near_new(&z->of_full, z->net->in->full, a)))
		return false;
	return z->link && z->path && z->uses && z->queue && z->first &&
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
