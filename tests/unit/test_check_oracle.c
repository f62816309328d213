// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compares the checker with a slow and simple oracle on random fabrics.
 *
 * The oracle walks from every switch to every LID, with a list of the switches visited.  It stores
 * the dependency graph as a square matrix of ports.  A breadth-first search from every port finds
 * the shortest cycle.
 *
 * All fields of a report must equal those of the oracle.  The reported cycle must have the
 * shortest length, and each of its steps must be a dependency.
 *
 * FTR_CHECK_ROUNDS sets the number of fabrics.  Fabric N is drawn with seed N; most messages of
 * failed checks print N.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/shift_load.h"
#include "check_net.h"
#include "lib/suite.h"
#include <ftr/ftr.h>

#define MAX_SW 12

#define ORACLE_SW 256
#define ORACLE_CHANNELS 512

struct oracle {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const uint8_t *rank;
	uint32_t *id, n;	/* [n_ports] number of the channel, of n */
	bool *dep;		/* [n * n] dep[a * n + b]: channel a depends on channel b */
	bool proof;
	struct ftr_check_report r;
};

enum fate { GOOD, MISSING, DEAD, WRONG, LOOP };

struct path {
	ftr_sw sw[ORACLE_SW + 1];
	uint32_t n;
	enum fate fate;
	ftr_sw at;
};

static uint32_t port_id(const struct oracle *o, ftr_sw s, ftr_port p)
{
	return o->id[o->f->sw[s].first_port + p];
}

static bool *dep_at(const struct oracle *o, uint32_t a, uint32_t b)
{
	return &o->dep[(size_t)a * o->n + b];
}

static void oracle_new(struct oracle *o, const struct ftr_fabric *f, const struct ftr_tables *t)
{
	*o = (struct oracle){ .f = f, .t = t };
	ck_assert(f->n_sw <= ORACLE_SW && 2 * f->n_sw_links <= ORACLE_CHANNELS);
	o->id = calloc(f->n_ports + 1u, sizeof(*o->id));
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer_kind == FTR_PEER_SW)
			o->id[i] = o->n++;
	o->dep = calloc((size_t)o->n * o->n + 1, sizeof(*o->dep));
}

static struct path walk(const struct oracle *o, ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *own = &o->f->owner[lid];
	struct path w = { .n = 0 };

	for (;;) {
		ftr_port p = ftr_tables_get(o->t, s, lid);
		const struct ftr_swport *port;

		w.at = s;
		for (uint32_t i = 0; i < w.n; i++)
			if (w.sw[i] == s) {
				w.fate = LOOP;
				return w;
			}
		w.sw[w.n++] = s;
		w.fate = MISSING;
		if (p == FTR_PORT_NONE)
			return w;
		if (p == 0) {
			w.fate = own->kind == FTR_OWNER_SW && own->idx == s ?
				GOOD : DEAD;
			return w;
		}
		w.fate = DEAD;
		if (p > o->f->sw[s].n_ports)
			return w;
		port = ftr_fabric_port(o->f, s, p);
		if (port->peer_kind == FTR_PEER_NONE)
			return w;
		if (port->peer_kind == FTR_PEER_EP) {
			w.fate = own->kind == FTR_OWNER_EP &&
				own->idx == port->peer ? GOOD : WRONG;
			return w;
		}
		s = port->peer;
	}
}

/* Record the dependencies between consecutive hops of a path.  Clear o->proof if the path has a
 * horizontal hop, or goes down and then up.  A path that ends in a loop is followed around the loop
 * a second time. */
static void depend(struct oracle *o, const struct path *w, ftr_lid lid)
{
	ftr_sw way[2 * ORACLE_SW + 4];
	uint32_t n = w->n;

	memcpy(way, w->sw, n * sizeof(*way));
	for (uint32_t i = 0; w->fate == LOOP && i <= w->n; i++) {
		ftr_port p = ftr_tables_get(o->t, way[n - 1], lid);

		way[n] = ftr_fabric_port(o->f, way[n - 1], p)->peer;
		n++;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		ftr_port p = ftr_tables_get(o->t, way[i], lid);

		if (o->rank && o->rank[way[i]] == o->rank[way[i + 1]])
			o->proof = false;
		if (i + 2 >= n)
			continue;
		if (o->rank && o->rank[way[i + 1]] < o->rank[way[i]] &&
		    o->rank[way[i + 2]] > o->rank[way[i + 1]])
			o->proof = false;
		*dep_at(o, port_id(o, way[i], p),
			port_id(o, way[i + 1], ftr_tables_get(o->t, way[i + 1], lid))) = true;
	}
}

static bool sends(const struct ftr_endport *e)
{
	return e->lid && e->sw != FTR_SW_NONE;
}

static void count(struct oracle *o, const struct path *w, ftr_sw s,
		  ftr_lid lid)
{
	const struct ftr_lid_owner *own = &o->f->owner[lid];
	bool to_sw = own->kind == FTR_OWNER_SW, bad = w->fate != GOOD;
	int host = to_sw ? FTR_CHECK_HOST_SW : FTR_CHECK_HOST_HOST;
	int sw = to_sw ? FTR_CHECK_SW_SW : FTR_CHECK_SW_HOST;

	for (ftr_ep e = 0; e < o->f->n_ep; e++)
		if (sends(&o->f->ep[e]) && o->f->ep[e].sw == s &&
		    (to_sw || own->idx != e)) {
			o->r.pairs[host]++;
			o->r.bad[host] += bad;
		}
	if (!to_sw || own->idx != s) {
		o->r.pairs[sw]++;
		o->r.bad[sw] += bad;
	}
	if (!bad) {
		o->r.max_hops = FTR_MAX(o->r.max_hops, w->n - 1);
		return;
	}
	if (!o->r.found[w->fate - MISSING]++)
		o->r.sample[w->fate - MISSING] =
			(struct ftr_check_sample){ s, w->at, lid };
	o->r.harmful += w->fate != MISSING;
}

static bool hop(const struct oracle *o, ftr_sw x, ftr_lid lid, ftr_sw *to)
{
	ftr_port p = ftr_tables_get(o->t, x, lid);

	if (p == 0 || p > o->f->sw[x].n_ports ||
	    ftr_fabric_port(o->f, x, p)->peer_kind != FTR_PEER_SW)
		return false;
	*to = ftr_fabric_port(o->f, x, p)->peer;
	return true;
}

static void turns(struct oracle *o, ftr_lid lid)
{
	bool seen[ORACLE_SW] = { false };

	for (ftr_sw x = 0; x < o->f->n_sw; x++) {
		ftr_sw s, y;

		if (!hop(o, x, lid, &s) || o->rank[s] >= o->rank[x] ||
		    !hop(o, s, lid, &y) || o->rank[y] <= o->rank[s] || seen[s])
			continue;
		seen[s] = true;
		if (!o->r.found[FTR_FIND_TURN]++)
			o->r.sample[FTR_FIND_TURN] =
				(struct ftr_check_sample){ x, s, lid };
	}
}

static uint32_t girth(const struct oracle *o)
{
	uint32_t n = o->n, best = 0;

	for (uint32_t r = 0; r < n; r++) {
		uint32_t dist[ORACLE_CHANNELS] = { 0 }, queue[ORACLE_CHANNELS + 1];
		uint32_t head = 0, tail = 0;

		queue[tail++] = r;
		while (head < tail && !dist[r]) {
			uint32_t v = queue[head++];

			for (uint32_t w = 0; w < n; w++)
				if (*dep_at(o, v, w) && !dist[w]) {
					dist[w] = (v == r ? 0 : dist[v]) + 1;
					queue[tail++] = w;
				}
		}
		if (dist[r] && (!best || dist[r] < best))
			best = dist[r];
	}
	return best;
}

static void consult(struct oracle *o, const struct ftr_check_opts *opts)
{
	bool host[ORACLE_SW] = { false };

	o->rank = opts->rank;
	o->proof = opts->rank != NULL;
	for (ftr_ep e = 0; e < o->f->n_ep; e++)
		if (sends(&o->f->ep[e]))
			host[o->f->ep[e].sw] = true;
	for (uint32_t lid = 1; lid <= o->f->max_lid; lid++) {
		if (o->f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		for (ftr_sw s = 0; s < o->f->n_sw; s++) {
			struct path w = walk(o, s, (ftr_lid)lid);

			count(o, &w, s, (ftr_lid)lid);
			if (host[s] || opts->switch_sources)
				depend(o, &w, (ftr_lid)lid);
		}
		if (o->rank)
			turns(o, (ftr_lid)lid);
	}
	o->r.cycle_len = girth(o);
	o->r.cdg = opts->no_cdg ? FTR_CDG_NOT_CHECKED :
		o->proof ? FTR_CDG_PROVED :
		o->r.cycle_len ? FTR_CDG_CYCLE : FTR_CDG_ACYCLIC;
}

/* ---- random fabrics and tables ------------------------------------------- */

static struct net random_net(struct ftr_rng *g, uint8_t *rank)
{
	uint32_t n_sw = 1 + ftr_rng_below(g, MAX_SW), lmc = ftr_rng_below(g, 3), used[MAX_SW] = { 0 };
	struct net n = net_new(n_sw, 8, ftr_rng_below(g, 2), lmc);
	uint32_t links = ftr_rng_below(g, 3 * n_sw), hosts = ftr_rng_below(g, 2 * n_sw + 1);
	uint32_t levels = 1 + ftr_rng_below(g, 4);

	for (uint32_t s = 0; s < n_sw; s++)
		rank[s] = (uint8_t)(ftr_rng_below(g, levels) * 3);
	for (uint32_t i = 0; i < links; i++) {
		uint32_t x = ftr_rng_below(g, n_sw), y = ftr_rng_below(g, n_sw);
		bool level = rank[x] == rank[y] && levels > 1;

		if ((level && ftr_rng_below(g, 16)) || used[x] > 5 ||
		    used[y] > 5 || (x == y && ftr_rng_below(g, 8)))
			continue;
		used[x]++;
		net_link(&n, x, used[x], y, used[y] + 1);
		used[y]++;
	}
	for (uint32_t h = 0; h < hosts; h++) {
		uint32_t s = ftr_rng_below(g, n_sw);

		if (used[s] > 7 || !ftr_rng_below(g, 20))
			net_host(&n, FTR_SW_NONE, 0);
		else
			net_host(&n, s, ++used[s]);
	}
	net_freeze(&n);
	return n;
}

/* Route lid by up/down paths: downward where downward links lead to the destination, upward
 * elsewhere. */
static void up_down(struct net *n, ftr_lid lid, const uint8_t *rank,
		    struct ftr_rng *g)
{
	const struct ftr_lid_owner *o = &n->f->owner[lid];
	bool sw = o->kind == FTR_OWNER_SW, on[MAX_SW] = { false }, more = true;
	ftr_sw own_sw = sw ? o->idx : n->f->ep[o->idx].sw;

	if (own_sw == FTR_SW_NONE)
		return;
	on[own_sw] = true;
	*net_at(n, own_sw, lid) = sw ? 0 : n->f->ep[o->idx].sw_port;
	for (int up = 0; up < 2; up++) {
		for (more = true; more; ) {
			ftr_port to[MAX_SW] = { 0 };

			more = false;
			for (ftr_sw s = 0; s < n->f->n_sw; s++) {
				for (uint32_t p = 1; !on[s] && p <= 8; p++) {
					const struct ftr_swport *q =
						ftr_fabric_port(n->f, s,
								(ftr_port)p);

					if (q->peer_kind == FTR_PEER_SW &&
					    on[q->peer] &&
					    (up ? rank[q->peer] > rank[s] :
					     rank[q->peer] < rank[s]) &&
					    (!to[s] || ftr_rng_below(g, 2)))
						to[s] = (ftr_port)p;
				}
				more = more || to[s];
			}
			for (ftr_sw s = 0; s < n->f->n_sw; s++)
				if (to[s]) {
					on[s] = true;
					*net_at(n, s, lid) = to[s];
				}
		}
	}
}

/* Fill the tables in one of six random ways:
 * 0: random entries;
 * 1 to 3: shortest paths; entries without a path are random (1) or missing (2, 3);
 * 4, 5: up/down paths. */
static void fill(struct net *n, const uint8_t *rank, struct ftr_rng *g)
{
	uint32_t kind = ftr_rng_below(g, 6);
	uint32_t spoil = ftr_rng_below(g, 3) ? 0 : ftr_rng_below(g, 20);

	for (uint32_t lid = 0; lid <= n->f->max_lid; lid++) {
		bool owned = n->f->owner[lid].kind != FTR_OWNER_NONE;

		for (ftr_sw s = 0; s < n->f->n_sw; s++)
			*net_at(n, s, (ftr_lid)lid) = kind == 0 || !owned ? (ftr_port)ftr_rng_below(g, 256) :
				kind == 1 ? (ftr_port)ftr_rng_below(g, 9) : FTR_PORT_NONE;
		if (owned && kind > 3)
			up_down(n, (ftr_lid)lid, rank, g);
		else if (owned && kind > 0)
			net_route(n, (ftr_lid)lid, g);
	}
	while (spoil-- > 0) {
		ftr_lid lid = (ftr_lid)ftr_rng_below(g, n->f->max_lid + 1u);
		uint8_t *e = net_at(n, ftr_rng_below(g, n->f->n_sw), lid);

		*e = (ftr_port)ftr_rng_below(g, ftr_rng_below(g, 4) ? 9 : 256);
	}
}

/* ---- comparison ---------------------------------------------------------- */

static void assert_cycle(const struct oracle *o,
			 const struct ftr_check_report *r, unsigned long seed)
{
	for (uint32_t i = 0; i < r->cycle_len; i++) {
		const struct ftr_channel *a = &r->cycle[i];
		const struct ftr_channel *b = &r->cycle[(i + 1) % r->cycle_len];

		ck_assert_msg(*dep_at(o, port_id(o, a->sw, a->port), port_id(o, b->sw, b->port)),
			      "fabric %lu: step %u of the cycle is not a dependency",
			      seed, i);
	}
}

#define SAME(what)							\
	ck_assert_msg(!memcmp(&r->what, &o->r.what, sizeof(r->what)),	\
		      "fabric %lu, variant %d: member " #what		\
		      " of the report differs from the oracle's", seed, variant)

static void compare(const struct oracle *o, const struct ftr_check_report *r,
		    unsigned long seed, int variant)
{
	SAME(pairs);
	SAME(bad);
	SAME(found);
	for (int i = 0; i < FTR_N_FINDINGS; i++)
		if (r->found[i]) {
			SAME(sample[i].from);
			SAME(sample[i].at);
			SAME(sample[i].lid);
		}
	SAME(harmful);
	SAME(max_hops);
	SAME(cdg);
	if (r->cdg == FTR_CDG_CYCLE) {
		SAME(cycle_len);
		assert_cycle(o, r, seed);
	}
}

static void one_fabric(unsigned long seed, struct ftr_team *team,
		       unsigned long *verdicts)
{
	uint8_t rank[MAX_SW], lie[MAX_SW];
	struct ftr_rng g;
	struct net n;

	ftr_rng_seed(&g, seed);
	n = random_net(&g, rank);
	fill(&n, rank, &g);
	for (uint32_t s = 0; s < n.n_sw; s++)
		lie[s] = (uint8_t)ftr_rng_below(&g, 5);
	/* Variants 0 to 5: no ranks, correct ranks or wrong ranks; the sources are hosts or all
	 * switches.  Variant 6 builds no dependency graph. */
	for (int variant = 0; variant < 7; variant++) {
		struct ftr_check_opts opts = {
			.rank = variant % 3 == 0 ? NULL :
				variant % 3 == 1 ? rank : lie,
			.switch_sources = variant / 3 == 1,
			.no_cdg = variant == 6,
		};
		struct oracle o;
		struct ftr_check_report r, r2;

		memset(&r, 0, sizeof(r));
		memset(&r2, 0, sizeof(r2));
		oracle_new(&o, n.f, n.t);
		consult(&o, &opts);
		ck_assert(!ftr_check_tables(n.f, n.t, &opts, NULL, &r, NULL));
		compare(&o, &r, seed, variant);
		ck_assert(!ftr_check_tables(n.f, n.t, &opts, team, &r2, NULL));
		compare(&o, &r2, seed, variant);
		for (uint32_t i = 0; i < r.cycle_len; i++)
			ck_assert(r.cycle[i].sw == r2.cycle[i].sw &&
				  r.cycle[i].port == r2.cycle[i].port);
		verdicts[r.cdg]++;
		free(o.id);
		free(o.dep);
	}
	net_free(&n);
}

static void shift_oracle(unsigned long seed)
{
	uint8_t rank[MAX_SW];
	struct ftr_rng g;
	struct net n;
	struct oracle o = { 0 };
	uint32_t k;

	ftr_rng_seed(&g, seed);
	n = random_net(&g, rank);
	fill(&n, rank, &g);
	o.f = n.f;
	o.t = n.t;
	k = ftr_rng_below(&g, 30);
	{
		uint32_t load[(MAX_SW * 9)] = { 0 }, max = 0, got = 99;
		uint32_t m = n.f->n_ep;
		ftr_ep order[2 * MAX_SW + 1];

		ftr_rng_perm(&g, order, m);
		for (uint32_t i = 0; i < m; i++)
			if (!ftr_rng_below(&g, 5))
				order[i] = FTR_EP_NONE;
		for (uint32_t i = 0; i < m; i++) {
			ftr_ep a = order[i], z = order[(i + k) % m];
			struct path w;

			if (a == FTR_EP_NONE || z == FTR_EP_NONE || a == z ||
			    n.f->ep[a].sw == FTR_SW_NONE)
				continue;
			w = walk(&o, n.f->ep[a].sw, n.f->ep[z].lid);
			for (uint32_t j = 0; w.fate == GOOD && j + 1 < w.n; j++)
				load[n.f->sw[w.sw[j]].first_port +
				     ftr_tables_get(n.t, w.sw[j], n.f->ep[z].lid)]++;
		}
		for (uint32_t i = 0; i < n.f->n_ports; i++)
			max = FTR_MAX(max, load[i]);
		ck_assert(!shift_load(n.f, n.t, order, m, k, &got, NULL));
		ck_assert_msg(got == max, "fabric %lu: largest load of a link %u, by the oracle %u",
			      seed, got, max);
	}
	net_free(&n);
}

/* The checker must list the walks that do not arrive by the oracle, and no others, with claimed
 * ranks and without.  Returns their number. */
static unsigned long lost_match(const struct oracle *o, const uint8_t *rank, unsigned long seed)
{
	const struct ftr_check_opts opts = { .rank = rank, .list_lost = true };
	const struct ftr_fabric *f = o->f;
	struct ftr_check_report r;
	unsigned long n = 0;

	ck_assert(!ftr_check_tables(f, o->t, &opts, NULL, &r, NULL));
	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			bool lost = f->owner[lid].kind != FTR_OWNER_NONE &&
				walk(o, s, (ftr_lid)lid).fate != GOOD;

			n += lost;
			ck_assert_msg(lost == (r.lost[lid / 64 * f->n_sw + s] >> lid % 64 & 1),
				      "fabric %lu: the walk from switch %u to LID %u is %slisted",
				      seed, s, lid, lost ? "not " : "");
		}
	free(r.lost);
	return n;
}

static void parts_oracle(const struct ftr_fabric *f, unsigned long seed)
{
	bool joined[MAX_SW][MAX_SW] = { { false } };
	uint32_t part[MAX_SW];

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		joined[s][s] = true;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				joined[s][port->peer] = true;
		}
	}
	for (ftr_sw k = 0; k < f->n_sw; k++)
		for (ftr_sw s = 0; s < f->n_sw; s++)
			for (ftr_sw t = 0; t < f->n_sw; t++)
				joined[s][t] |= joined[s][k] && joined[k][t];
	ftr_check_parts(f, part);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (ftr_sw t = 0; t < f->n_sw; t++)
			ck_assert_msg((part[s] == part[t]) == joined[s][t],
				      "fabric %lu: ftr_check_parts() is wrong for switches %u and %u",
				      seed, s, t);
}

static unsigned long lost_oracle(unsigned long seed)
{
	uint8_t rank[MAX_SW];
	struct ftr_rng g;
	struct net n;
	struct oracle o = { 0 };
	unsigned long lost;

	ftr_rng_seed(&g, seed);
	n = random_net(&g, rank);
	fill(&n, rank, &g);
	o.f = n.f;
	o.t = n.t;
	lost = lost_match(&o, NULL, seed);
	ck_assert_uint_eq(lost_match(&o, rank, seed), lost);
	parts_oracle(n.f, seed);
	net_free(&n);
	return lost;
}

/* ---- mixtures of two tables ------------------------------------------------ */

/* -1, 0 or 1: the entry of s leads down, to no switch or to one of the same rank, or up.  *to: the
 * switch. */
static int direction(const struct ftr_fabric *f, const struct ftr_tables *t, const uint8_t *rank,
		     ftr_sw s, ftr_lid lid, ftr_sw *to)
{
	*to = ftr_fabric_next(f, s, ftr_tables_get(t, s, lid));
	return *to == FTR_SW_NONE ? 0 : (rank[*to] > rank[s]) - (rank[*to] < rank[s]);
}

static bool provable(const struct ftr_fabric *f, const struct ftr_tables *x,
		     const struct ftr_tables *z, const uint8_t *rank)
{
	for (uint32_t i = 0; i < 4u * f->n_sw * (f->max_lid + 1u); i++) {
		const struct ftr_tables *a = i % 2 ? x : z, *b = i / 2 % 2 ? x : z;
		ftr_sw s = i / 4 % f->n_sw, y, end;
		ftr_lid lid = (ftr_lid)(i / 4 / f->n_sw);
		int way = direction(f, a, rank, s, lid, &y);

		if (y != FTR_SW_NONE && (!way || (way < 0 && direction(f, b, rank, y, lid, &end) > 0)))
			return false;
	}
	return true;
}

/* Returns true if it is proved that no mixture has a credit loop; then a random one has none. */
static bool mixtures_oracle(unsigned long seed, struct ftr_team *team)
{
	struct ftr_check_report r;
	struct ftr_tables *old;
	uint8_t rank[MAX_SW];
	const struct ftr_tables *both[2];
	bool proved, again;
	struct ftr_rng g;
	uint8_t *row;
	struct net n;

	ftr_rng_seed(&g, seed);
	n = random_net(&g, rank);
	fill(&n, rank, &g);
	ck_assert(!ftr_tables_new(n.f, false, &old, NULL));
	memcpy(old->lft, n.t->lft, (size_t)old->n_sw * old->stride);
	both[0] = old;
	both[1] = n.t;
	if (ftr_rng_below(&g, 2)) {
		fill(&n, rank, &g);
	} else {
		row = ftr_tables_row(n.t, ftr_rng_below(&g, n.f->n_sw));
		row += ftr_rng_below(&g, n.f->max_lid + 1u);
		*row = (ftr_port)ftr_rng_below(&g, 9);
	}
	ck_assert(!ftr_check_mixtures(n.f, both, rank, NULL, &proved, NULL));
	ck_assert(!ftr_check_mixtures(n.f, both, rank, team, &again, NULL));
	ck_assert_msg(proved == again && proved == provable(n.f, old, n.t, rank), "fabric %lu", seed);
	for (size_t i = 0; i < (size_t)old->n_sw * old->stride; i++)
		if (ftr_rng_below(&g, 2))
			old->lft[i] = n.t->lft[i];
	ck_assert(!ftr_check_tables(n.f, old, &(struct ftr_check_opts){ .switch_sources = true },
				    NULL, &r, NULL));
	ck_assert_msg(!proved || r.cdg != FTR_CDG_CYCLE, "fabric %lu", seed);
	ftr_tables_free(old);
	net_free(&n);
	return proved;
}

/* ---- the corpora of the fuzzing ------------------------------------------------------ */

struct corpus {
	unsigned long files, fabrics, tables, verdicts[4];
};

/* Some entries change at random. */
static void damage(struct ftr_tables *t, struct ftr_rng *g)
{
	for (uint32_t i = 0; i < t->n_sw + 3u; i++) {
		uint8_t *row = ftr_tables_row(t, ftr_rng_below(g, t->n_sw));
		uint32_t lid = ftr_rng_below(g, t->max_lid + 1u);

		row[lid] = (ftr_port)(ftr_rng_below(g, 4) ? ftr_rng_below(g, 6) : ftr_rng_next(g));
	}
}

static void compare_tables(struct corpus *c, const struct ftr_fabric *f, const struct ftr_tables *t,
			   const uint8_t *rank)
{
	for (int variant = 0; variant < 4; variant++) {
		struct ftr_check_opts opts = { .rank = variant % 2 ? rank : NULL,
					       .switch_sources = variant / 2 };
		struct ftr_check_report r = { .cdg = FTR_CDG_NOT_CHECKED };
		struct oracle o;

		oracle_new(&o, f, t);
		consult(&o, &opts);
		ck_assert(!ftr_check_tables(f, t, &opts, NULL, &r, NULL));
		compare(&o, &r, c->files, variant);
		c->verdicts[r.cdg]++;
		free(o.id);
		free(o.dep);
	}
	c->tables++;
}

/* Random tables, the tables of each engine, and damaged ones. */
static void route_and_compare(struct corpus *c, const struct ftr_fabric *f)
{
	uint8_t rank[ORACLE_SW] = { 0 };
	const struct ftr_engine_ops *ops;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *random;
	struct ftr_rng g;

	ftr_rng_seed(&g, c->fabrics++);
	ck_assert(!ftr_tables_new(f, false, &random, NULL));
	for (int i = 0; f->n_sw && i < 40; i++)
		damage(random, &g);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		rank[s] = (uint8_t)ftr_rng_below(&g, 3);
	compare_tables(c, f, random, rank);
	ftr_tables_free(random);
	if (ftr_shape_new(f, NULL, NULL, &sh, NULL))
		return;
	for (unsigned int i = 0; (ops = ftr_engine_at(i)); i++) {
		struct ftr_tables *t;

		ck_assert(!ftr_tables_new(f, false, &t, NULL));
		if (!ops->route(sh, NULL, NULL, t, NULL, NULL)) {
			compare_tables(c, f, t, sh->tree.rank);
			damage(t, &g);
			compare_tables(c, f, t, sh->tree.rank);
		}
		ftr_tables_free(t);
	}
	ftr_shape_free(sh);
}

static void read_corpus(struct corpus *c, const char *name)
{
	const char *top = getenv("abs_top_srcdir");
	char cmd[512], path[512];
	FILE *list;

	/* each file is unpacked with its length before it */
	snprintf(cmd, sizeof(cmd), "tar -xJf '%s/tests/fuzz/corpus/%s.tar.xz' "
		 "--to-command='printf \"%%s\\n\" \"$TAR_SIZE\"; cat'", top ? top : ".", name);
	list = popen(cmd, "r");
	ck_assert_ptr_nonnull(list);
	while (fgets(path, sizeof(path), list)) {
		size_t n = strtoul(path, NULL, 10);
		char *text = malloc(n + 1);
		struct ftr_fabric *f;

		ck_assert_uint_eq(fread(text, 1, n, list), n);
		c->files++;
		if (!ftr_parse_fabric("corpus", text, n, 0, &f, NULL)) {
			for (uint32_t k = 0; k <= FTR_MIN(f->n_sw_links, 12u); k++) {
				struct ftr_damage d = { .seed = k, .links = k };
				struct ftr_fabric *h;

				ck_assert(!ftr_gen_damage(f, &d, &h, NULL));
				route_and_compare(c, h);
				ftr_fabric_free(h);
			}
			ftr_fabric_free(f);
		}
		free(text);
	}
	ck_assert_msg(!pclose(list), "tar fails");
}

START_TEST(corpora)
{
	struct corpus c = { .files = 0 };

	read_corpus(&c, "fabric");
	read_corpus(&c, "route");
	printf("corpora: %lu files, %lu fabrics, %lu tables; %lu proved, %lu acyclic, %lu with a cycle\n",
	       c.files, c.fabrics, c.tables, c.verdicts[FTR_CDG_PROVED],
	       c.verdicts[FTR_CDG_ACYCLIC], c.verdicts[FTR_CDG_CYCLE]);
	ck_assert_uint_gt(c.fabrics, 100);
}
END_TEST

static unsigned long rounds(void)
{
	const char *s = getenv("FTR_CHECK_ROUNDS");

	return s ? strtoul(s, NULL, 10) : 3000;
}

START_TEST(against_oracle)
{
	struct ftr_team *team = ftr_team_new(2);
	unsigned long verdicts[4] = { 0 };

	ck_assert_ptr_nonnull(team);
	for (unsigned long seed = 1; seed <= rounds(); seed++)
		one_fabric(seed, team, verdicts);
	ftr_team_free(team);
	printf("verdicts: %lu proved, %lu acyclic, %lu with a cycle\n",
	       verdicts[FTR_CDG_PROVED], verdicts[FTR_CDG_ACYCLIC],
	       verdicts[FTR_CDG_CYCLE]);
	for (int i = 0; i < 4; i++)
		runs_show(verdicts[i] > 0);
}
END_TEST

START_TEST(shift_against_oracle)
{
	for (unsigned long seed = 1; seed <= rounds(); seed++)
		shift_oracle(seed);
}
END_TEST

START_TEST(lost_against_oracle)
{
	unsigned long n = 0;

	for (unsigned long seed = 1; seed <= rounds(); seed++)
		n += lost_oracle(seed);
	runs_show(n > 0);
}
END_TEST

START_TEST(mixtures_against_oracle)
{
	struct ftr_team *team = ftr_team_new(2);
	unsigned long n = 0;

	for (unsigned long seed = 1; seed <= rounds(); seed++)
		n += mixtures_oracle(seed, team);
	ftr_team_free(team);
	runs_show(n > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("check_oracle");
	TCase *t = tcase_create("random");

	suite_add_tcase(s, t);
	tcase_add_test(t, against_oracle);
	tcase_add_test(t, corpora);
	tcase_add_test(t, shift_against_oracle);
	tcase_add_test(t, lost_against_oracle);
	tcase_add_test(t, mixtures_against_oracle);
	return run_suite(s);
}
