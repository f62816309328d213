// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A column is the entries for a LID; equal columns are one.  Dependencies that no mixture of the tables can
 * have on a cycle are left out, and so are columns without others.  What remains is searched depth first.
 * States that have been visited are not visited again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/orders.h"

#define NO_EDGE UINT32_MAX
#define MASK_BITS 64
#define MASKS_MOST 1000000

/* A column when some of its entries are written. */
struct state {
	uint64_t mask;		/* bit i: change i is written */
	uint64_t arrives;	/* bit s: packets of hosts at switch s arrive */
	bool known, loops;
	bool reached;		/* see none_exists() */
	uint32_t n;
	uint32_t *edge;		/* [n] dependencies, sorted */
};

struct column {
	ftr_lid lid;
	uint32_t n;		/* number of changes */
	ftr_sw sw[MASK_BITS];
	int8_t change[MASK_BITS];	/* [n_sw] index of the change at this switch; -1: none */
	uint64_t all, now;
	uint64_t keeps;		/* bit s: hosts at switch s have a path in the new tables */
	struct state *state;	/* hash table by mask */
	uint32_t n_states, room;
};

struct edge {
	uint32_t from, to;	/* channels */
	uint32_t count;		/* number of columns that have it */
	uint32_t lasting;	/* number of columns that are complete and have it */
	bool cyclic;		/* it can be on a cycle */
};

struct search {
	struct orders *o;
	const struct ftr_fabric *f;
	uint64_t ends;		/* bit s: switch s has hosts */
	struct column *col;
	uint32_t n_col;
	struct edge *edge;
	uint32_t n_edge, room_edge;
	uint32_t *first;	/* [n_ports] first edge of a channel + 1 */
	uint32_t *next;		/* [room_edge] */
	uint32_t *mark, *queue;	/* [n_ports] */
	uint32_t stamp;
	uint64_t *visited;	/* hash table of states: hashes of n_col masks */
	uint64_t n_visited, room_visited, most;
	uint64_t n_reached;
	bool gave_up;
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		abort();
	return p;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* ---- one column -------------------------------------------------------------- */

static uint8_t entry(const struct search *z, ftr_sw s, ftr_lid lid, bool new)
{
	return (new ? z->o->new : z->o->old)[s * z->o->row + lid];
}

/* The channel that an entry leads to, or NO_EDGE; *arrives: the packet arrives. */
static uint32_t channel(const struct search *z, ftr_sw s, ftr_lid lid, uint8_t p, bool *arrives)
{
	const struct ftr_lid_owner *o = &z->f->owner[lid];
	uint32_t x = z->f->sw[s].first_port + p;

	*arrives = false;
	if (!p)
		*arrives = o->kind == FTR_OWNER_SW && o->idx == s;
	if (!p || p > z->f->sw[s].n_ports || (z->o->usable && !z->o->usable[x]))
		return NO_EDGE;
	if (z->f->ports[x].peer_kind == FTR_PEER_EP)
		*arrives = o->kind == FTR_OWNER_EP && o->idx == z->f->ports[x].peer;
	return z->f->ports[x].peer_kind == FTR_PEER_SW ? x : NO_EDGE;
}

static uint32_t find_edge(const struct search *z, uint32_t from, uint32_t to)
{
	uint32_t e = z->first[from];

	while (e && z->edge[e - 1].to != to)
		e = z->next[e - 1];
	return e - 1;
}

static uint32_t add_edge(struct search *z, uint32_t from, uint32_t to)
{
	uint32_t e = find_edge(z, from, to);

	if (e != NO_EDGE)
		return e;
	if (z->n_edge == z->room_edge) {
		z->room_edge = 2 * z->room_edge + 256;
		z->edge = realloc(z->edge, z->room_edge * sizeof(*z->edge));
		z->next = realloc(z->next, z->room_edge * sizeof(*z->next));
		if (!z->edge || !z->next)
			abort();
	}
	e = z->n_edge++;
	z->edge[e] = (struct edge){ from, to, 0, 0, false };
	z->next[e] = z->first[from];
	z->first[from] = e + 1;
	return e;
}

static int cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Note the dependencies of the packets in a list of channels; only those that can be on a cycle. */
static void note(struct search *z, struct state *t, uint32_t from, uint32_t to)
{
	uint32_t e = find_edge(z, from, to);

	if (e == NO_EDGE || !z->edge[e].cyclic)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->edge[i] == e)
			return;
	if (!(t->n & (t->n - 1)))
		t->edge = realloc(t->edge, (2 * t->n + 1) * sizeof(*t->edge));
	if (!t->edge)
		abort();
	t->edge[t->n++] = e;
}

/* Follow the packets of all hosts in a state of the column, and note their dependencies. */
static void follow(struct search *z, const struct column *c, struct state *t)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		uint32_t in = NO_EDGE, hops = 0;
		ftr_sw at = s;

		while ((z->ends >> s & 1) && hops <= z->f->n_sw) {
			bool arrives, new = c->change[at] >= 0 && t->mask >> c->change[at] & 1;
			uint32_t x = channel(z, at, c->lid, entry(z, at, c->lid, new), &arrives);

			t->arrives |= (uint64_t)arrives << s;
			if (x == NO_EDGE)
				break;
			if (in != NO_EDGE)
				note(z, t, in, x);
			in = x;
			at = z->f->ports[x].peer;
			hops++;
		}
		t->loops |= hops > z->f->n_sw;
	}
	if (t->n)
		qsort(t->edge, t->n, sizeof(*t->edge), cmp);
}

static struct state *slot(const struct column *c, uint64_t mask)
{
	uint32_t i = (uint32_t)mix(mask) & (c->room - 1);

	while (c->state[i].known && c->state[i].mask != mask)
		i = (i + 1) & (c->room - 1);
	return &c->state[i];
}

static void grow(struct column *c)
{
	struct state *old = c->state;
	uint32_t n = c->room;

	c->room = n ? 2 * n : 16;
	c->state = room(c->room, sizeof(*c->state));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].known)
			*slot(c, old[i].mask) = old[i];
	free(old);
}

/* The pointer is valid until the next call for this column. */
static const struct state *state(struct search *z, struct column *c, uint64_t mask)
{
	struct state *t;

	if (2 * c->n_states >= c->room)
		grow(c);
	t = slot(c, mask);
	if (!t->known) {
		*t = (struct state){ .mask = mask, .known = true };
		c->n_states++;
		follow(z, c, t);
	}
	return t;
}

/* ---- which dependencies and columns matter ------------------------------------- */

/* Follow all mixtures of the column, or one table.  Adds all dependencies, and returns the set of switches
 * that packets reach. */
static uint64_t mixtures(struct search *z, ftr_lid lid)
{
	uint64_t reached = z->ends;
	bool more = true, arrives;

	while (more) {
		more = false;
		for (ftr_sw s = 0; s < z->f->n_sw; s++)
			for (int k = 0; k < 2 && reached >> s & 1; k++) {
				uint32_t x = channel(z, s, lid, entry(z, s, lid, k), &arrives);
				ftr_sw t = x == NO_EDGE ? s : z->f->ports[x].peer;

				more |= !(reached >> t & 1);
				reached |= UINT64_C(1) << t;
			}
	}
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (int k = 0; k < 4 && reached >> s & 1; k++) {
			uint32_t x = channel(z, s, lid, entry(z, s, lid, k & 1), &arrives), y;
			ftr_sw t = x == NO_EDGE ? s : z->f->ports[x].peer;

			y = x == NO_EDGE ? x : channel(z, t, lid, entry(z, t, lid, k >> 1), &arrives);
			if (y != NO_EDGE)
				add_edge(z, x, y);
		}
	return reached;
}

/* True if channel `to` reaches channel `from` over edges that columns have (or over all edges). */
static bool reaches(struct search *z, uint32_t from, uint32_t to, bool all)
{
	uint32_t n = 0;

	z->mark[from] = ++z->stamp;
	z->queue[n++] = from;
	while (n) {
		uint32_t x = z->queue[--n];

		if (x == to)
			return true;
		for (uint32_t e = z->first[x]; e; e = z->next[e - 1]) {
			uint32_t y = z->edge[e - 1].to;

			if (z->mark[y] == z->stamp || !(all || z->edge[e - 1].count))
				continue;
			z->mark[y] = z->stamp;
			z->queue[n++] = y;
		}
	}
	return false;
}

/* True if two LIDs have the same paths between switches. */
static bool same_column(const struct search *z, const struct column *c, ftr_lid lid)
{
	const struct ftr_lid_owner *a = &z->f->owner[c->lid], *b = &z->f->owner[lid];
	bool there, here;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (int k = 0; k < 2; k++) {
			uint32_t x = channel(z, s, c->lid, entry(z, s, c->lid, k), &there);

			if (channel(z, s, lid, entry(z, s, lid, k), &here) != x || there != here ||
			    (entry(z, s, c->lid, 0) == entry(z, s, c->lid, 1)) !=
			    (entry(z, s, lid, 0) == entry(z, s, lid, 1)))
				return false;
		}
	return (a->kind == FTR_OWNER_NONE) == (b->kind == FTR_OWNER_NONE);
}

static void add_column(struct search *z, ftr_lid lid, uint64_t reached)
{
	struct column *c = &z->col[z->n_col];

	for (uint32_t i = 0; i < z->n_col; i++)
		if (same_column(z, &z->col[i], lid))
			return;
	*c = (struct column){ .lid = lid };
	memset(c->change, -1, sizeof(c->change));
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		if (!(reached >> s & 1) || entry(z, s, lid, 0) == entry(z, s, lid, 1))
			continue;
		c->change[s] = (int8_t)c->n;
		c->sw[c->n++] = s;
	}
	c->all = c->n == MASK_BITS ? UINT64_MAX : (UINT64_C(1) << c->n) - 1;
	z->n_col++;
}

static bool has_cyclic(struct search *z, ftr_lid lid, uint64_t reached)
{
	bool arrives;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (int k = 0; k < 4 && reached >> s & 1; k++) {
			uint32_t x = channel(z, s, lid, entry(z, s, lid, k & 1), &arrives), y, e;
			ftr_sw t = x == NO_EDGE ? s : z->f->ports[x].peer;

			y = x == NO_EDGE ? x : channel(z, t, lid, entry(z, t, lid, k >> 1), &arrives);
			e = y == NO_EDGE ? y : find_edge(z, x, y);
			if (e != NO_EDGE && z->edge[e].cyclic)
				return true;
		}
	return false;
}

static void find_columns(struct search *z)
{
	uint64_t *reached = room(z->f->max_lid + 1u, sizeof(*reached));

	for (uint32_t lid = 1; lid <= z->f->max_lid; lid++)
		reached[lid] = mixtures(z, (ftr_lid)lid);
	for (uint32_t e = 0; e < z->n_edge; e++)
		z->edge[e].cyclic = reaches(z, z->edge[e].to, z->edge[e].from, true);
	z->col = room(z->f->max_lid + 1u, sizeof(*z->col));
	for (uint32_t lid = 1; lid <= z->f->max_lid; lid++)
		if (reached[lid] && has_cyclic(z, (ftr_lid)lid, reached[lid]))
			add_column(z, (ftr_lid)lid, reached[lid]);
	free(reached);
}

/* ---- writes --------------------------------------------------------------------- */

static void count(struct search *z, const struct state *t, bool lasting, bool more)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct edge *e = &z->edge[t->edge[i]];

		e->count += more ? 1 : UINT32_MAX;
		if (lasting)
			e->lasting += more ? 1 : UINT32_MAX;
	}
}

/* Add the edges of *t to those of the present states.  Returns the number of new edges, or NO_EDGE if they
 * close a cycle.  All edges of t are then counted, in both cases. */
static uint32_t add_edges(struct search *z, const struct state *t)
{
	uint32_t new = 0;
	bool closes = false;

	for (uint32_t i = 0; i < t->n; i++) {
		struct edge *e = &z->edge[t->edge[i]];

		new += !e->count;
		closes = closes || (!e->count && reaches(z, e->to, e->from, false));
		e->count++;
	}
	return closes ? NO_EDGE : new;
}

/* True if a write that changes the state of column c loses no path, and does not cause a loop. */
static bool keeps_paths(const struct column *c, const struct state *from, const struct state *to)
{
	return !to->loops && !(from->arrives & c->keeps & ~to->arrives);
}

/* Write change i of column c.  Returns the number of new dependencies, or NO_EDGE if the write is
 * not sound; nothing is changed then. */
static uint32_t write_change(struct search *z, struct column *c, uint32_t i)
{
	struct state from = *state(z, c, c->now), to = *state(z, c, c->now | UINT64_C(1) << i);
	uint32_t new;

	if (!keeps_paths(c, &from, &to))
		return NO_EDGE;
	new = add_edges(z, &to);
	count(z, new == NO_EDGE ? &to : &from, false, false);
	if (new == NO_EDGE)
		return new;
	c->now = to.mask;
	for (uint32_t k = 0; c->now == c->all && k < to.n; k++)
		z->edge[to.edge[k]].lasting++;
	return new;
}

/* Undo writes. */
static void go_back(struct search *z, struct column *c, uint64_t mask)
{
	if (c->now == mask)
		return;
	count(z, state(z, c, c->now), c->now == c->all, false);
	c->now = mask;
	count(z, state(z, c, mask), false, true);
}

/* ---- the search ------------------------------------------------------------------- */

/* Returns false if the present state is new. */
static bool visit(struct search *z)
{
	uint64_t key = 1, i;

	for (uint32_t k = 0; k < z->n_col; k++)
		key = mix(key * UINT64_C(0x9e3779b97f4a7c15) + z->col[k].now + k);
	key |= !key;
	if (2 * z->n_visited >= z->room_visited) {
		uint64_t *old = z->visited, n = z->room_visited;

		z->room_visited = n ? 2 * n : 1024;
		z->visited = room(z->room_visited, sizeof(*z->visited));
		for (uint64_t k = 0; k < n; k++) {
			for (i = old[k] & (z->room_visited - 1); old[k] && z->visited[i];)
				i = (i + 1) & (z->room_visited - 1);
			if (old[k])
				z->visited[i] = old[k];
		}
		free(old);
	}
	for (i = key & (z->room_visited - 1); z->visited[i]; i = (i + 1) & (z->room_visited - 1))
		if (z->visited[i] == key)
			return true;
	z->visited[i] = key;
	z->n_visited++;
	return false;
}

/* True if the new entries of the column add no dependency that does not stay in any case.  Then nothing is
 * lost if they are written first. */
static bool costs_nothing(struct search *z, struct column *c)
{
	const struct state *t = state(z, c, c->all);

	for (uint32_t i = 0; i < t->n; i++)
		if (!z->edge[t->edge[i]].lasting)
			return false;
	return true;
}

/* Write the column by writes that add no dependency. */
static bool write_quietly(struct search *z, struct column *c)
{
	uint64_t before = c->now;
	bool more = true;

	while (more && c->now != c->all) {
		more = false;
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t was = c->now;

			if (was >> i & 1)
				continue;
			switch (write_change(z, c, i)) {
			case 0:
				more = true;
				break;
			case NO_EDGE:
				break;
			default:
				go_back(z, c, was);
			}
		}
	}
	if (c->now == c->all)
		return true;
	go_back(z, c, before);
	return false;
}

static bool search(struct search *z);

/* Try all next writes with few new dependencies (pass 0: none). */
static bool try_columns(struct search *z, uint32_t pass)
{
	for (uint32_t k = 0; k < z->n_col; k++) {
		struct column *c = &z->col[k];
		uint64_t before = c->now;

		for (uint32_t i = 0; i < c->n && !z->gave_up; i++) {
			uint32_t new = before >> i & 1 ? NO_EDGE : write_change(z, c, i);

			if (new == NO_EDGE)
				continue;
			if ((new > 0) == pass && search(z))
				return true;
			go_back(z, c, before);
		}
	}
	return false;
}

/* True if the writes that remain have a sound order. */
static bool search(struct search *z)
{
	bool done = true;

	if (visit(z))
		return false;
	if (z->n_visited > z->most) {
		z->gave_up = true;
		return false;
	}
	for (uint32_t k = 0; k < z->n_col; k++) {
		const struct column *c = &z->col[k];

		done &= c->now == c->all;
	}
	if (done)
		return true;
	for (uint32_t k = 0; k < z->n_col; k++) {
		struct column *c = &z->col[k];
		uint64_t before = c->now;

		if (before == c->all || !costs_nothing(z, c) || !write_quietly(z, c))
			continue;
		done = search(z);
		if (!done)
			go_back(z, c, before);
		return done;
	}
	return try_columns(z, 0) || try_columns(z, 1);
}

/* Search, and begin again in another order of the columns when a search has taken too long. */
static bool search_again(struct search *z)
{
	struct ftr_rng r;
	uint64_t left = z->o->most;

	ftr_rng_seed(&r, 1);
	for (z->most = 100; ; z->most *= 2) {
		z->most = FTR_MIN(z->most, left);
		z->gave_up = false;
		if (search(z))
			return true;
		if (!z->gave_up || z->most == left)
			return false;
		left -= z->most;
		for (uint32_t k = 0; k < z->n_col; k++)
			go_back(z, &z->col[k], 0);
		memset(z->visited, 0, z->room_visited * sizeof(*z->visited));
		z->o->states += z->n_visited;
		z->n_visited = 0;
		for (uint32_t k = z->n_col; k > 1; k--) {
			uint32_t i = ftr_rng_below(&r, k);
			struct column c = z->col[i];

			z->col[i] = z->col[k - 1];
			z->col[k - 1] = c;
		}
	}
}

/* ---- proof that there is no order ---------------------------------------------------- */

/* The masks of a column that are not excluded. */
struct reach {
	uint64_t *mask;		/* [n] */
	uint32_t n;
	uint32_t *edge, n_edge;	/* the dependencies that it has in all of them */
};

static void count_common(struct search *z, const struct reach *r, uint32_t by)
{
	for (uint32_t i = 0; i < r->n_edge; i++)
		z->edge[r->edge[i]].count += by;
}

/* Add a mask, unless it is known. */
static void reach_add(struct search *z, struct column *c, struct reach *r, const struct state *t)
{
	struct state *s = slot(c, t->mask);
	uint32_t n = 0, k = 0;

	if (s->reached)
		return;
	s->reached = true;
	if (!(r->n & (r->n - 1)))
		r->mask = realloc(r->mask, (2 * r->n + 1) * sizeof(*r->mask));
	if (!r->mask)
		abort();
	r->mask[r->n++] = t->mask;
	z->n_reached++;
	for (uint32_t i = 0; i < r->n_edge; i++) {
		while (k < t->n && t->edge[k] < r->edge[i])
			k++;
		if (k < t->n && t->edge[k] == r->edge[i])
			r->edge[n++] = r->edge[i];
	}
	r->n_edge = n;
}

/* Find the masks of one column that writes may reach, if all others have those dependencies only that
 * they have in each mask they may reach. */
static void extend(struct search *z, struct column *c, struct reach *r)
{
	for (uint32_t k = 0; k < r->n && z->n_reached < MASKS_MOST; k++)
		for (uint32_t i = 0; i < c->n; i++) {
			struct state from = *state(z, c, r->mask[k]), to;

			if (from.mask >> i & 1)
				continue;
			to = *state(z, c, from.mask | UINT64_C(1) << i);
			if (!to.reached && keeps_paths(c, &from, &to)) {
				bool sound = add_edges(z, &from) != NO_EDGE;

				if (add_edges(z, &to) != NO_EDGE && sound)
					reach_add(z, c, r, &to);
				count(z, &from, false, false);
				count(z, &to, false, false);
			}
		}
}

/*
 * A mask of a column is reached in an order only by writes that are sound beside the dependencies that
 * all masks of each other column have which an order reaches.  The masks that such writes reach are
 * found, starting with the old tables, until there are no more.  Returns true if the new entries of
 * some column are not among them.
 */
static bool none_exists(struct search *z)
{
	struct reach *r = room(z->n_col, sizeof(*r));
	uint64_t before = UINT64_MAX;
	bool none = false;

	for (uint32_t e = 0; e < z->n_edge; e++)
		z->edge[e].count = 0;
	for (uint32_t k = 0; k < z->n_col; k++) {
		struct state t = *state(z, &z->col[k], 0);

		r[k].edge = room(t.n, sizeof(*r[k].edge));
		r[k].n_edge = t.n;
		if (t.n)
			memcpy(r[k].edge, t.edge, t.n * sizeof(*t.edge));
		reach_add(z, &z->col[k], &r[k], &t);
		count_common(z, &r[k], 1);
	}
	while (before != z->n_reached) {
		before = z->n_reached;
		for (uint32_t k = 0; k < z->n_col; k++) {
			count_common(z, &r[k], UINT32_MAX);
			extend(z, &z->col[k], &r[k]);
			count_common(z, &r[k], 1);
		}
	}
	for (uint32_t k = 0; k < z->n_col; k++) {
		none |= !state(z, &z->col[k], z->col[k].all)->reached;
		free(r[k].mask);
		free(r[k].edge);
	}
	free(r);
	return none && z->n_reached < MASKS_MOST;
}

/* ---- the answer ---------------------------------------------------------------------- */

/* True if old or new tables have no loop and no cycle of dependencies.  The edges stay counted. */
static bool is_sound(struct search *z, bool new)
{
	bool sound = true;

	for (uint32_t k = 0; k < z->n_col; k++) {
		struct column *c = &z->col[k];
		const struct state *t = state(z, c, new ? c->all : 0);

		sound &= !t->loops && add_edges(z, t) != NO_EDGE;
	}
	return sound;
}

static enum orders_found run(struct search *z)
{
	bool sound = is_sound(z, true);

	for (uint32_t k = 0; k < z->n_col; k++) {
		struct column *c = &z->col[k];
		uint64_t had = state(z, c, 0)->arrives;

		c->keeps = state(z, c, c->all)->arrives;
		sound &= !(had & ~c->keeps) || z->f->owner[c->lid].kind != FTR_OWNER_EP;
	}
	for (uint32_t e = 0; e < z->n_edge; e++)
		z->edge[e].count = 0;
	if (!is_sound(z, false) || !sound)
		return ORDERS_UNSOUND;
	for (uint32_t k = 0; k < z->n_col; k++) {
		const struct state *t = state(z, &z->col[k], 0);

		for (uint32_t i = 0; !z->col[k].n && i < t->n; i++)
			z->edge[t->edge[i]].lasting++;
		z->o->lids += z->col[k].n > 0;
		z->o->entries += z->col[k].n;
	}
	if (search_again(z))
		return ORDERS_EXIST;
	return !z->gave_up || none_exists(z) ? ORDERS_NONE : ORDERS_UNKNOWN;
}

enum orders_found orders_search(struct orders *o)
{
	struct search z = { .o = o, .f = o->f };
	enum orders_found found;

	o->states = o->lids = o->entries = 0;
	if (o->f->n_sw > MASK_BITS)
		return ORDERS_UNKNOWN;
	for (ftr_ep e = 0; e < o->f->n_ep; e++)
		if (o->f->ep[e].sw != FTR_SW_NONE && o->f->ep[e].lid)
			z.ends |= UINT64_C(1) << o->f->ep[e].sw;
	z.first = room(o->f->n_ports, sizeof(*z.first));
	z.mark = room(o->f->n_ports, sizeof(*z.mark));
	z.queue = room(o->f->n_ports, sizeof(*z.queue));
	find_columns(&z);
	found = run(&z);
	o->states += z.n_visited + z.n_reached;
	for (uint32_t k = 0; k < z.n_col; k++) {
		for (uint32_t i = 0; i < z.col[k].room; i++)
			free(z.col[k].state[i].edge);
		free(z.col[k].state);
	}
	free(z.col);
	free(z.edge);
	free(z.next);
	free(z.first);
	free(z.mark);
	free(z.queue);
	free(z.visited);
	return found;
}
