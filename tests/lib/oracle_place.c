// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "lib/oracle.h"
#include "lib/oracle_place.h"

/* ---- up paths ----------------------------------------------------------- */

/* Add the step above rank r to the up path of destination d. */
static void step_up(const struct ftr_shape *sh, struct oracle_step *at,
		    unsigned int r, uint32_t d)
{
	const struct oracle_step *here = &at[r * sh->numbering.n_d + d];
	const struct ftr_group *g;
	uint32_t w;

	if (!here->known || !(w = sh->numbering.n_slots[here->sw]))
		return;
	g = &sh->tree.groups[sh->tree.group_first[here->sw]];
	for (uint32_t i = 0; i < sh->tree.n_up[here->sw]; i++)
		if (g[i].slot == here->q % w)
			at[sh->tree.rank[g[i].remote] * sh->numbering.n_d + d] =
				(struct oracle_step){ true, g[i].remote,
						      here->q / w };
}

static struct oracle_step *up_paths(const struct ftr_shape *sh)
{
	uint32_t n = sh->numbering.n_d;
	struct oracle_step *at;
	uint64_t *q;

	if (!sh->numbering.up_path)
		return NULL;
	at = calloc((size_t)sh->tree.n_ranks * n, sizeof(*at));
	q = malloc(n * sizeof(*q));
	for (uint32_t d = 0; d < n; d++) {
		ftr_sw l = sh->numbering.col_sw[d / sh->numbering.stride];

		at[sh->tree.rank[l] * n + d] = (struct oracle_step){ true, l, d };
	}
	for (unsigned int r = 0; r < sh->tree.n_ranks; r++) {
		struct oracle_step *here = at + (size_t)r * n;

		for (uint32_t d = 0; d < n; d++) {
			uint32_t before = 0, first = d;

			for (uint32_t e = d; r && here[d].known && e-- > 0;)
				if (here[e].known && here[e].sw == here[d].sw) {
					before++;
					first = e;
				}
			q[d] = r ? here[first].q + before : d;
		}
		for (uint32_t d = 0; d < n; d++) {
			here[d].q = q[d];
			step_up(sh, at, r, d);
		}
	}
	free(q);
	return at;
}

void oracle_place_init(struct oracle_place *o, const struct ftr_shape *whole,
		       const struct ftr_shape *sh)
{
	uint32_t n = sh->f->n_sw;

	o->whole = whole;
	o->sh = sh;
	o->cost = malloc(n * n * sizeof(*o->cost));
	o->down = malloc(n * n * sizeof(*o->down));
	oracle_costs(sh, o->cost, o->down);
	o->up_path = up_paths(whole);
}

void oracle_place_free(struct oracle_place *o)
{
	free(o->cost);
	free(o->down);
	free(o->up_path);
}

static ftr_sw in_whole(const struct oracle_place *o, ftr_sw s)
{
	return ftr_fabric_find_sw(o->whole->f, o->sh->f->sw[s].guid);
}

const struct oracle_step *oracle_step(const struct oracle_place *o, ftr_sw s,
				      const struct ftr_dest *t)
{
	const struct oracle_step *at;

	if (!o->up_path || t->cls != FTR_CLASS_HOST || t->d >= o->whole->numbering.n_d)
		return NULL;
	at = &o->up_path[o->whole->tree.rank[in_whole(o, s)] * o->whole->numbering.n_d + t->d];
	return at->known ? at : NULL;
}

static uint64_t number(const struct oracle_place *o, ftr_sw s,
		       const struct ftr_dest *t)
{
	const struct oracle_step *at = oracle_step(o, s, t);

	return at ? at->q : t->d / o->whole->numbering.divider[in_whole(o, s)];
}

static const struct ftr_group *whole_group(const struct oracle_place *o,
					   ftr_sw s, ftr_sw t)
{
	const struct ftr_shape *w = o->whole;
	ftr_sw s0 = in_whole(o, s), t0 = in_whole(o, t);
	uint32_t g = w->tree.group_first[s0];

	while (w->tree.groups[g].remote != t0)
		g++;
	return &w->tree.groups[g];
}

static bool connected(const struct ftr_fabric *f, ftr_sw s, unsigned int p,
		      ftr_sw t)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	return port->peer_kind == FTR_PEER_SW && port->peer == t;
}

static bool neighbours(const struct ftr_fabric *f, ftr_sw s, ftr_sw t)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (s != t && connected(f, s, p, t))
			return true;
	return false;
}

bool oracle_leads(const struct oracle_place *o, ftr_sw s, ftr_sw t, ftr_sw l)
{
	const struct ftr_shape *sh = o->sh;
	uint32_t n = sh->f->n_sw;
	unsigned int mine = o->cost[s * n + l];

	if (!neighbours(sh->f, s, t))
		return false;
	if (sh->tree.rank[t] < sh->tree.rank[s])
		return o->down[t * n + l] < mine;
	if (sh->tree.rank[t] == sh->tree.rank[s] || o->cost[t * n + l] >= mine)
		return false;
	for (ftr_sw u = 0; u < n; u++)
		if (sh->tree.rank[u] > sh->tree.rank[s] && neighbours(sh->f, u, s) &&
		    o->down[s * n + l] < o->cost[u * n + l])
			return false;
	return true;
}

/* The k-th nominal link from s to t; FTR_PORT_NONE if it is missing. */
static ftr_port nominal_link(const struct oracle_place *o, ftr_sw s, ftr_sw t,
			     unsigned int k)
{
	ftr_sw s0 = in_whole(o, s), t0 = in_whole(o, t);

	for (unsigned int p = 1; p <= o->whole->f->sw[s0].n_ports; p++)
		if (connected(o->whole->f, s0, p, t0) && k-- == 0)
			return connected(o->sh->f, s, p, t) ? (ftr_port)p :
				FTR_PORT_NONE;
	return FTR_PORT_NONE;
}

static ftr_port port_to(const struct oracle_place *o, ftr_sw s, ftr_sw t,
			uint64_t z)
{
	unsigned int n = whole_group(o, s, t)->n_nominal;
	ftr_port port = nominal_link(o, s, t, (unsigned int)(z % n));

	for (unsigned int i = 0; i < n && port == FTR_PORT_NONE; i++)
		port = nominal_link(o, s, t, (unsigned int)
			((z % n + 1 + z / n % (n - 1) + i) % n));
	return port;
}

/* Mark in seen[] the pod of s: all switches that are reached over switches of rank <= l, or over
 * empty leaves (docs/glossary.md).  Horizontal links are not used. */
static void pod(const struct ftr_shape *w, ftr_sw s, unsigned int l,
		uint8_t *seen)
{
	seen[s] = 1;
	for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(w->f, s, (ftr_port)p);
		ftr_sw t = port->peer;

		if (port->peer_kind == FTR_PEER_SW && !seen[t] &&
		    w->tree.rank[t] != w->tree.rank[s] &&
		    (w->tree.rank[t] <= l ||
		     (w->numbering.col[t] < w->tree.n_leaf && w->tree.stub[t])))
			pod(w, t, l, seen);
	}
}

/* The number of leaves in the pod of s, or 1 if s is a leaf.  Sets *pod_first to the first leaf of
 * the pod. */
static uint32_t leaves_of_pod(const struct oracle_place *o, ftr_sw s,
			      uint32_t *pod_first)
{
	const struct ftr_shape *w = o->whole;
	ftr_sw s0 = in_whole(o, s);
	uint8_t *seen;
	uint32_t n = 0;

	*pod_first = w->numbering.col[s0];
	if (w->numbering.col[s0] < w->tree.n_leaf)
		return 1;
	*pod_first = 0;
	seen = calloc(w->f->n_sw, 1);
	pod(w, s0, w->tree.rank[s0], seen);
	for (uint32_t l = 0; l < w->tree.n_leaf; l++)
		if (seen[w->numbering.col_sw[l]] && n++ == 0)
			*pod_first = l;
	free(seen);
	return n ? n : 1;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q * b > a ? q - 1 : q;
}

static int64_t displacement(const struct oracle_choice *c, int64_t period)
{
	int64_t e = floor_div(c->a, c->b) + period * ((c->w - 1) / c->r) +
		c->w / 2 - 1;

	return 1 + e - floor_div(e, c->w - 1) * (c->w - 1);
}

int64_t oracle_stable_slot(const struct oracle_choice *c, int64_t x, int64_t period)
{
	int64_t k = displacement(c, period), list[300], n = 0;

	list[n++] = x;
	list[n++] = x + k;
	if (3 * k % c->w)
		list[n++] = x - k;
	list[n++] = x + k + 1;
	list[n++] = x - k + 1;
	list[n++] = x + k - 1;
	for (int64_t i = 2; i < c->w + 2; i++)
		list[n++] = x + k + i;
	for (int64_t i = 0; i < n; i++)
		if (c->alive[(list[i] + 4 * c->w) % c->w])
			return (list[i] + 4 * c->w) % c->w;
	abort();
}

static struct oracle_choice choice_of(const struct oracle_place *o, ftr_sw s,
			       const struct ftr_dest *t)
{
	const struct ftr_shape *whole = o->whole;
	uint32_t pod_first, pod_leaves = leaves_of_pod(o, s, &pod_first);
	uint64_t hosts = pod_leaves * (whole->numbering.stride ? (uint64_t)whole->numbering.stride : 1);
	uint64_t pi = whole->numbering.divider[in_whole(o, s)], block;
	struct oracle_choice c = { .w = whole->numbering.n_slots[in_whole(o, s)] };

	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		if (oracle_leads(o, s, u, o->sh->numbering.col_sw[t->col]))
			c.alive[whole_group(o, s, u)->slot] = true;
	c.r = (int64_t)(hosts / (pi * (uint64_t)c.w));
	c.r = c.r ? c.r : 1;
	c.b = (int64_t)(whole->numbering.n_d / hosts) / (2 * c.w);
	c.b = c.b < 2 ? 2 : c.b;
	block = t->d / (t->cls == FTR_CLASS_HOST ? hosts : pod_leaves);
	c.a = (int64_t)block - (int64_t)(pod_first / pod_leaves);
	return c;
}

static ftr_sw by_slots(const struct oracle_place *o, ftr_sw s,
		       const struct ftr_dest *t, uint64_t q)
{
	struct oracle_choice c = choice_of(o, s, t);
	int64_t x = (int64_t)q % c.w, period = (int64_t)q / c.w % c.r;

	if (!c.alive[x])
		x = oracle_stable_slot(&c, x, period);
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		if (oracle_leads(o, s, u, o->sh->numbering.col_sw[t->col]) &&
		    whole_group(o, s, u)->slot == (uint32_t)x)
			return u;
	abort();
}

/* The last three lines of splitmix64 (Steele et al. 2014). */
static uint64_t scatter(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Choose one of the candidates to[] as the next hop: a switch on the up path of destination t.  If
 * there is none, choose the switch in the slot that number() selects.  If that slot has no
 * candidate, choose the switch with the greatest hash value. */
static ftr_sw one_of(const struct oracle_place *o, ftr_sw s,
		     const struct ftr_dest *t, const ftr_sw *to, uint32_t n)
{
	const struct ftr_switch *sw = o->sh->f->sw;
	uint32_t w = o->whole->numbering.n_slots[in_whole(o, s)];
	uint64_t most = 0;
	ftr_sw best = to[0];

	for (uint32_t i = 0; i < n; i++) {
		const struct oracle_step *at = oracle_step(o, to[i], t);

		if (at && at->sw == in_whole(o, to[i]))
			return to[i];
	}
	for (uint32_t i = 0; i < n; i++)
		if (o->sh->tree.rank[to[i]] > o->sh->tree.rank[s] &&
		    whole_group(o, s, to[i])->slot == number(o, s, t) % w)
			return to[i];
	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = scatter(scatter(t->d) ^ sw[to[i]].guid);

		best = x > most ? to[i] : best;
		most = x > most ? x : most;
	}
	return best;
}

ftr_port oracle_place_entry(const struct oracle_place *o, ftr_sw s,
			    const struct ftr_dest *t)
{
	ftr_sw l = o->sh->numbering.col_sw[t->col], to[256];
	uint64_t q = number(o, s, t);
	uint32_t n = 0, n_below = 0;

	if (s == l)
		return t->port;
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++) {
		uint32_t i;

		if (!oracle_leads(o, s, u, l))
			continue;
		n_below += o->sh->tree.rank[u] < o->sh->tree.rank[s];
		for (i = n++; i > 0 && whole_group(o, s, to[i - 1])->pos >
		     whole_group(o, s, u)->pos; i--)
			to[i] = to[i - 1];
		to[i] = u;
	}
	if (!n)
		return FTR_PORT_NONE;
	if (n_below && (!o->up_path || n == 1))
		return port_to(o, s, to[q % n], q / n);
	to[0] = n_below ? one_of(o, s, t, to, n) : by_slots(o, s, t, q);
	if (o->sh->tree.rank[to[0]] > o->sh->tree.rank[s])
		q /= o->whole->numbering.n_slots[in_whole(o, s)];
	return port_to(o, s, to[0], q);
}
