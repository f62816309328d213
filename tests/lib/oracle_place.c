// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The oracle of oracle_place.h.  Nothing here is meant to be fast.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/oracle.h"
#include "lib/oracle_place.h"

void oracle_place_init(struct oracle_place *o, const struct ftr_shape *whole,
		       const struct ftr_shape *sh)
{
	uint32_t n = sh->f->n_sw, m = whole->f->n_sw;
	unsigned int *cost = malloc(m * m * sizeof(*cost));

	o->whole = whole;
	o->sh = sh;
	o->cost = malloc(n * n * sizeof(*o->cost));
	o->down = malloc(n * n * sizeof(*o->down));
	o->whole_down = malloc(m * m * sizeof(*o->whole_down));
	oracle_costs(sh, o->cost, o->down);
	oracle_costs(whole, cost, o->whole_down);
	free(cost);
}

void oracle_place_free(struct oracle_place *o)
{
	free(o->cost);
	free(o->down);
	free(o->whole_down);
}

static ftr_sw in_whole(const struct oracle_place *o, ftr_sw s)
{
	return ftr_fabric_find_sw(o->whole->f, o->sh->f->sw[s].guid);
}

/* The group of s towards t in the whole fabric. */
static const struct ftr_group *whole_group(const struct oracle_place *o,
					   ftr_sw s, ftr_sw t)
{
	const struct ftr_shape *w = o->whole;
	ftr_sw s0 = in_whole(o, s), t0 = in_whole(o, t);
	uint32_t g = w->group_first[s0];

	while (w->groups[g].remote != t0)
		g++;
	return &w->groups[g];
}

static bool cabled(const struct ftr_fabric *f, ftr_sw s, unsigned int p,
		   ftr_sw t)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	return port->peer_kind == FTR_PEER_SW && port->peer == t;
}

static bool neighbours(const struct ftr_fabric *f, ftr_sw s, ftr_sw t)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (s != t && cabled(f, s, p, t))
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
	if (sh->rank[t] < sh->rank[s])
		return o->down[t * n + l] < mine;
	if (sh->rank[t] == sh->rank[s] || o->cost[t * n + l] >= mine)
		return false;
	for (ftr_sw u = 0; u < n; u++)	/* must s go down? */
		if (sh->rank[u] > sh->rank[s] && neighbours(sh->f, u, s) &&
		    o->down[s * n + l] < o->cost[u * n + l])
			return false;
	return true;
}

/* The k-th nominal cable from s to t, FTR_PORT_NONE if it is lost. */
static ftr_port nominal_cable(const struct oracle_place *o, ftr_sw s, ftr_sw t,
			      unsigned int k)
{
	ftr_sw s0 = in_whole(o, s), t0 = in_whole(o, t);

	for (unsigned int p = 1; p <= o->whole->f->sw[s0].n_ports; p++)
		if (cabled(o->whole->f, s0, p, t0) && k-- == 0)
			return cabled(o->sh->f, s, p, t) ? (ftr_port)p :
				FTR_PORT_NONE;
	return FTR_PORT_NONE;
}

static ftr_port cable(const struct oracle_place *o, ftr_sw s, ftr_sw t,
		      uint64_t z)
{
	unsigned int n = whole_group(o, s, t)->n_nominal;
	ftr_port port = nominal_cable(o, s, t, (unsigned int)(z % n));

	for (unsigned int i = 0; i < n && port == FTR_PORT_NONE; i++)
		port = nominal_cable(o, s, t, (unsigned int)
			((z % n + 1 + z / n % (n - 1) + i) % n));
	return port;
}

static uint32_t leaves_below(const struct oracle_place *o, ftr_sw s,
			     uint32_t *home)
{
	const struct ftr_shape *w = o->whole;
	ftr_sw s0 = in_whole(o, s);
	uint32_t n = 0;

	*home = 0;
	for (uint32_t l = 0; l < w->n_leaf; l++)
		if (o->whole_down[s0 * w->f->n_sw + w->col_sw[l]] <
		    ORACLE_INF && n++ == 0)
			*home = l;
	return n ? n : 1;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q * b > a ? q - 1 : q;
}

/* All that the choice of a slot depends on. */
struct choice {
	int64_t w, r, a, b;
	bool alive[256];
	bool thin[256], near;	/* EVEN */
};

static int64_t turn(const struct choice *c, int64_t window)
{
	int64_t e = floor_div(c->a, c->b) + window * ((c->w - 1) / c->r) +
		c->w / 2 - 1;

	return 1 + e - floor_div(e, c->w - 1) * (c->w - 1);
}

/* Preference list, written out. */
static int64_t stable_slot(const struct choice *c, int64_t x, int64_t window)
{
	int64_t k = turn(c, window), list[300], n = 0;

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

/* Places from its own that a slot asks for at last, in this order. */
static uint32_t steps(const struct choice *c, int64_t *step)
{
	int64_t sign = c->a % 2 ? -1 : 1;
	uint32_t n = 0;

	step[n++] = 0;
	for (int64_t k = 0; k < c->w - 1; k++) {
		int64_t begin = c->near ? (c->a % 2 ? 2 : 0) : c->a * c->a;
		int64_t far = 1 + (begin + k) % (c->w - 1);

		step[n++] = sign * far;
		step[n++] = -sign * far;
	}
	return n;
}

/* The matching for all windows and slots, until (window, x) has its own. */
static int64_t even_slot(const struct choice *c, int64_t x, int64_t window)
{
	static int64_t got[4096];
	int64_t open = 0, step[600];
	uint32_t n = steps(c, step);

	if (c->alive[x])
		return x;
	for (int64_t i = 0; i < c->r * c->w; i++) {
		got[i] = c->alive[i % c->w] ? i % c->w : -1;
		open += got[i] < 0;
	}
	for (bool thin = false; open; thin = !thin) {
		bool taken[256] = { 0 };

		for (uint32_t k = 0; k < n; k++)
			for (int64_t i = 0; i < c->r * c->w; i++) {
				int64_t y = i % c->w + step[k];

				if (got[i] >= 0 ||
				    (c->near && (y < 0 || y >= c->w)))
					continue;
				y = (y + c->w + turn(c, i / c->w)) % c->w;
				if (!c->alive[y] || c->thin[y] != thin ||
				    taken[y])
					continue;
				taken[y] = true;
				got[i] = y;
				open--;
			}
	}
	return got[window * c->w + x];
}

/* The switch above s that has the slot, FTR_SW_NONE: none alive. */
static ftr_sw at_slot(const struct oracle_place *o, ftr_sw s, int64_t slot)
{
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		if (o->sh->rank[u] > o->sh->rank[s] &&
		    neighbours(o->sh->f, s, u) &&
		    whole_group(o, s, u)->slot == slot)
			return u;
	return FTR_SW_NONE;
}

/* How many switches above s lead closer to l. */
static int64_t ways(const struct oracle_place *o, ftr_sw s, ftr_sw l)
{
	int64_t n = 0;

	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		n += o->sh->rank[u] > o->sh->rank[s] && oracle_leads(o, s, u, l);
	return n;
}

static bool has_hosts(const struct ftr_shape *sh, ftr_sw s)
{
	for (uint32_t i = 0; i < sh->n_dest; i++)
		if (sh->dest[i].cls == FTR_CLASS_HOST &&
		    sh->col_sw[sh->dest[i].col] == s)
			return true;
	return false;
}

static bool few(int64_t n, int64_t of)
{
	return n > 0 && 3 * n <= 2 * of;
}

/* Has the leaf with this index few of its neighbours above left? */
static bool leaf_thin(const struct oracle_place *o, uint64_t leaf)
{
	const struct ftr_shape *w = o->whole;
	int64_t n = 0;
	ftr_sw s;

	if (leaf >= w->n_leaf)
		return false;
	s = ftr_fabric_find_sw(o->sh->f, w->f->sw[w->col_sw[leaf]].guid);
	if (s == FTR_SW_NONE || !has_hosts(o->sh, s))
		return false;
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		n += o->sh->rank[u] > o->sh->rank[s] &&
			neighbours(o->sh->f, s, u);
	return few(n, w->n_slots[w->col_sw[leaf]]);
}

/* The leaves of a block that slot x stands for: are most of them thin? */
static bool slot_thin(const struct oracle_place *o, const struct choice *c,
		      uint64_t first, uint64_t span, uint64_t each, int64_t x)
{
	uint64_t n = 0, thin = 0, end = o->whole->n_d / o->whole->stride;

	for (uint64_t i = 0; i < span && first + i < end; i++) {
		int64_t group = (int64_t)(i / each);

		if (group % c->w != x || group / c->w >= c->r)
			continue;
		n++;
		thin += leaf_thin(o, first + i);
	}
	return 2 * thin > n;
}

/* What EVEN looks at besides.  block: leaves before that of t, in blocks. */
static void look_around(const struct oracle_place *o, ftr_sw s, ftr_sw l,
			uint32_t span, uint64_t block, struct choice *c)
{
	const struct ftr_shape *w = o->whole;
	uint64_t pi = w->divider[in_whole(o, s)];
	bool hurt = false;

	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)	/* a group is lost */
		for (int64_t x = 0; x < w->n_slots[in_whole(o, u)]; x++)
			hurt |= at_slot(o, u, x) == FTR_SW_NONE;
	c->near = pi < w->stride;
	for (int64_t x = 0; x < c->w; x++) {
		ftr_sw u = at_slot(o, s, x);
		int64_t n, all;

		if (!c->alive[x])
			continue;
		n = ways(o, u, l);
		all = w->n_slots[in_whole(o, u)];
		c->near &= all == 0;
		c->thin[x] = few(n, all) && n * c->w <= ways(o, s, l) * all;
		if (hurt && w->stride && pi >= w->stride)
			c->thin[x] |= slot_thin(o, c, block * span, span,
						pi / w->stride, x);
	}
}

/* What the choice of s for t depends on; w: slots. */
static struct choice choice_of(const struct oracle_place *o,
			       enum ftr_placement how, ftr_sw s,
			       const struct ftr_dest *t)
{
	const struct ftr_shape *whole = o->whole;
	uint32_t home, span = leaves_below(o, s, &home);
	uint64_t hosts = span * (whole->stride ? (uint64_t)whole->stride : 1);
	uint64_t pi = whole->divider[in_whole(o, s)], block;
	struct choice c = { .w = whole->n_slots[in_whole(o, s)] };

	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		if (oracle_leads(o, s, u, o->sh->col_sw[t->col]))
			c.alive[whole_group(o, s, u)->slot] = true;
	c.r = (int64_t)(hosts / (pi * (uint64_t)c.w));
	c.r = c.r ? c.r : 1;
	c.b = (int64_t)(whole->n_d / hosts) / (2 * c.w);
	c.b = c.b < 2 ? 2 : c.b;
	block = t->d / (t->cls == FTR_CLASS_HOST ? hosts : span);
	c.a = (int64_t)block - (int64_t)(home / span);
	if (how == FTR_PLACE_EVEN)
		look_around(o, s, o->sh->col_sw[t->col], span, block, &c);
	return c;
}

static ftr_sw by_slots(const struct oracle_place *o, enum ftr_placement how,
		       ftr_sw s, const struct ftr_dest *t, uint64_t q)
{
	struct choice c = choice_of(o, how, s, t);
	int64_t x = (int64_t)q % c.w, window = (int64_t)q / c.w % c.r;

	if (!c.alive[x])
		x = how == FTR_PLACE_STABLE ? stable_slot(&c, x, window) :
			even_slot(&c, x, window);
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++)
		if (oracle_leads(o, s, u, o->sh->col_sw[t->col]) &&
		    whole_group(o, s, u)->slot == (uint32_t)x)
			return u;
	abort();
}

ftr_port oracle_place_entry(const struct oracle_place *o,
			    enum ftr_placement how, ftr_sw s,
			    const struct ftr_dest *t)
{
	ftr_sw l = o->sh->col_sw[t->col], below[256];
	uint32_t n_below = 0, n_above = 0;
	uint64_t q = t->d / o->whole->divider[in_whole(o, s)];

	if (how == FTR_PLACE_LITERAL)
		abort();	/* that is oracle_entry() */
	if (s == l)
		return t->port;
	for (ftr_sw u = 0; u < o->sh->f->n_sw; u++) {
		if (!oracle_leads(o, s, u, l))
			continue;
		if (o->sh->rank[u] < o->sh->rank[s])
			below[n_below++] = u;
		else
			n_above++;
	}
	if (n_above && n_below)
		abort();	/* not on the trees that this is for */
	if (n_below)
		return cable(o, s, below[q % n_below], q / n_below);
	if (!n_above)
		return FTR_PORT_NONE;
	return cable(o, s, by_slots(o, how, s, t, q),
		     q / o->whole->n_slots[in_whole(o, s)]);
}
