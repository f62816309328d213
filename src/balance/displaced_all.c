// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses the ports of all displaced entries of a routing.
 *
 * The choice of a port depends on the loads after all earlier choices.  So one thread chooses all
 * ports, one destination after the other.  Meanwhile the other threads prepare the next block of
 * destinations: for each entry, they find the candidates and the sources (switches with hosts)
 * whose flows pass the entry.  Without extra turns (turns that up/down routing does not allow), the
 * sources do not depend on earlier choices: the port of the switch nearest to the destination is
 * chosen first, and the entry of a switch has no effect on the flows that reach switches farther
 * away.  So the tables do not depend on the number of threads.
 *
 * If no counted flow passes an entry, the entry gets its port when it is prepared: the first port
 * in the order in which ports are tried.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/placing.h"

#define TASKS 16		/* number of tasks that prepare a block */
#define TASK_DESTS 8		/* number of destinations of a task */
#define BLOCK_DESTS (TASKS * TASK_DESTS)
#define AHEAD 8			/* distance between the steps of place_slot(), in entries */
/* For PATH_PORTS ports of an entry, prefetch the counters of the first PATH_LINKS links of the
 * path. */
#define PATH_PORTS 2u
#define PATH_LINKS 4
#define CLEAR_LINES 4096	/* number of lines that a thread clears at a time */
#define WORDS 8			/* number of 64-bit words in a task of for_lids(): a cache line */

/* A compact copy of an upward or downward port group.  The groups of s begin at
 * near[sh->tree.group_first[s]], sorted by ftr_group.pos. */
struct near {
	uint32_t first;		/* the ports are tree.group_ports[first .. first + n - 1] */
	uint16_t remote;
	uint8_t n;
	bool up;
};

/* An entry whose port must be chosen. */
struct todo {
	struct displaced_entry *e;
	uint32_t hosts;		/* number of hosts whose flows reach the entry */
	uint32_t n_shares;	/* number of its shares in slot.share */
	ftr_lid lid;
	uint8_t n_ports;	/* number of its ports in slot.port */
};

/* The result of one task.  port[] has the ports of the entries in todo[], one entry after the
 * other; the ports of an entry are in the order in which they are tried.  share[] has the shares
 * (flows in one bin) of these entries. */
struct slot {
	struct todo *todo;
	uint8_t *port;
	struct share *share;
	uint32_t n, n_ports, n_shares, cap, cap_ports, cap_shares;
	bool nomem;
};

/* A thread that prepares entries. */
struct worker {
	struct displaced z;	/* copy of *whole.z with its own scratch memory, to read the tables;
				 * its counters are not used */
	struct displaced_entry *sorted;	/* [n_sw] */
	uint8_t cand[FTR_PORT_MAX + 1];
};

struct whole {
	struct displaced *z;
	const uint64_t *bits;
	/* e[first[lid]] .. e[first[lid + 1] - 1]: the entries of lid */
	struct displaced_entry *e;
	uint32_t *first;	/* [max_lid + 2] */
	struct near *near[2];	/* near[0]: the groups of in.shape; near[1]: those of in.full */
	struct worker *worker;
	struct slot slot[2][TASKS];	/* slot[b % 2]: the results of block b */
	uint32_t block;		/* number of the block whose ports are chosen, while the next block
				 * is prepared.  Block 0 is empty */
};

/* ---- entries by LID --------------------------------------------------------- */

/* Run fn on tasks of 64 * WORDS LIDs.  No two tasks write to the same cache line of the tables. */
static void for_lids(struct whole *w, struct ftr_team *team, ftr_team_fn fn)
{
	ftr_team_run(team, w->z->t->stride / 64, WORDS, fn, w);
}

static inline __attribute__((always_inline)) void
each_bit(struct whole *w, uint32_t begin, uint32_t end,
	 void (*set)(struct whole *w, ftr_sw s, uint32_t lid))
{
	uint32_t words = w->z->t->stride / 64;

	for (ftr_sw s = 0; s < w->z->t->n_sw; s++)
		for (uint32_t i = begin; i < end; i++)
			for (uint64_t b = w->bits[(size_t)s * words + i]; b;
			     b &= b - 1)
				set(w, s, i * 64 + (uint32_t)
				    __builtin_ctzll(b));
}

static void count_bit(struct whole *w, ftr_sw s, uint32_t lid)
{
	(void)s;
	w->first[lid + 1]++;
}

static void list_bit(struct whole *w, ftr_sw s, uint32_t lid)
{
	w->e[w->first[lid]++] = (struct displaced_entry){
		.sw = s, .after = DISPLACED_PLACE,
	};
}

static void count_lids(void *ctx, unsigned int worker, uint32_t begin,
		       uint32_t end)
{
	(void)worker;
	each_bit(ctx, begin, end, count_bit);
}

static void list_lids(void *ctx, unsigned int worker, uint32_t begin,
		      uint32_t end)
{
	(void)worker;
	each_bit(ctx, begin, end, list_bit);
}

static bool list_entries(struct whole *w, struct ftr_team *team)
{
	uint32_t lids = w->z->net->f->max_lid + 1u;

	w->first = ftr_arena_zalloc(w->z->arena, lids + 1u, sizeof(*w->first));
	if (!w->first)
		return false;
	for_lids(w, team, count_lids);
	for (uint32_t i = 0; i < lids; i++)
		w->first[i + 1] += w->first[i];
	w->e = ftr_arena_alloc(w->z->arena, w->first[lids] + 1u,
			       sizeof(*w->e));
	if (!w->e)
		return false;
	for_lids(w, team, list_lids);
	memmove(w->first + 1, w->first, lids * sizeof(*w->first));
	w->first[0] = 0;
	return true;
}

static void write_lids(void *ctx, unsigned int worker, uint32_t begin,
		       uint32_t end)
{
	struct whole *w = ctx;
	uint32_t lids = w->z->net->f->max_lid + 1u;

	(void)worker;
	for (uint32_t lid = begin * 64; lid < FTR_MIN(end * 64, lids); lid++)
		for (uint32_t i = w->first[lid]; i < w->first[lid + 1]; i++)
			if (w->e[i].after != DISPLACED_PLACE)
				ftr_tables_row(w->z->t, w->e[i].sw)[lid] =
					w->e[i].after;
}

/* ---- memory of the counters ---------------------------------------------------- */

static void clear_lines(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	const struct whole *w = ctx;

	(void)worker;
	memset(w->z->line + begin, 0, (end - begin) * sizeof(*w->z->line));
}

/* All threads clear the lines of counters, so that the kernel allocates their pages in parallel.
 * With calloc() one thread would often do this alone. */
static bool get_bins(struct whole *w, struct ftr_team *team)
{
	struct displaced *z = w->z;

	if (!displaced_bins_new(z, w->first[z->net->f->max_lid + 1u]))
		return false;
	if (!z->line_of)
		ftr_team_run(team, z->n_lines, CLEAR_LINES, clear_lines, w);
	if (z->prefer)
		displaced_count(z);
	return true;
}

/* ---- preparing -------------------------------------------------------------- */

static struct near *near_groups(const struct ftr_shape *sh,
				struct ftr_arena *a)
{
	uint32_t n_sw = sh->f->n_sw;
	struct near *near = ftr_arena_alloc(a, sh->tree.group_first[n_sw] + 1u,
					    sizeof(*near));
	uint32_t pos[FTR_PORT_MAX + 1];

	for (ftr_sw s = 0; near && s < n_sw; s++) {
		const struct ftr_group *g =
			&sh->tree.groups[sh->tree.group_first[s]];
		struct near *to = near + sh->tree.group_first[s];
		uint32_t up = sh->tree.n_up[s], all = up + sh->tree.n_down[s];

		for (uint32_t k = 0; k < all; k++) {
			uint32_t i = k;

			for (; i > 0 && pos[i - 1] > g[k].pos; i--) {
				pos[i] = pos[i - 1];
				to[i] = to[i - 1];
			}
			pos[i] = g[k].pos;
			to[i] = (struct near){
				g[k].first, (uint16_t)g[k].remote,
				(uint8_t)g[k].n, k < up,
			};
		}
	}
	return near;
}

/* Like ftr_shape_candidates_at(), but faster.  near: the n_near groups of s.  Stores the indices of
 * the candidates in near[] in cand[].  *up becomes true if all candidates lead up. */
static uint32_t candidates(const struct near *near, uint32_t n_near, ftr_sw s,
			   const struct ftr_cost_column *c, uint8_t *cand,
			   bool *up)
{
	uint8_t cost = c->cost[s * c->stride], down = c->down[s * c->stride];
	uint32_t n = 0, all = 0, n_up = 0;
	bool must = false;	/* s must route downward */

	for (uint32_t k = 0; k < n_near; k++) {
		size_t at = near[k].remote * c->stride;
		bool closer = (near[k].up ? c->cost : c->down)[at] < cost;

		cand[all] = (uint8_t)k;
		all += closer;
		n_up += closer & near[k].up;
		must |= near[k].up & (down < c->cost[at]);
	}
	*up = n_up == all;
	if (!must || !n_up)
		return all;
	for (uint32_t i = 0; i < all; i++)
		if (!near[cand[i]].up)
			cand[n++] = cand[i];
	*up = n == 0;
	return n;
}

static uint32_t list_ports(const struct ftr_shape *sh, const struct near *near,
			   const uint8_t *cand, uint32_t n, uint32_t begin,
			   uint8_t *port, uint32_t most)
{
	uint32_t n_ports = 0, at = n ? begin % n : 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct near *g = &near[cand[at]];

		for (uint32_t i = 0; i < g->n; i++) {
			if (n_ports == most)
				return n_ports;
			port[n_ports++] = sh->tree.group_ports[
				g->first + (g->n == 1 ? 0 :
					    (begin / n + i) % g->n)];
		}
		at = at + 1 == n ? 0 : at + 1;
	}
	return n_ports;
}

static bool reserve(void **p, uint32_t *cap, uint32_t n, size_t size)
{
	while (*cap < n)
		if (!ftr_grow(p, cap, size))
			return false;
	return true;
}

static bool add_todo(struct slot *to, const struct displaced *z,
		     struct todo todo, const uint8_t *port)
{
	if (!reserve((void **)&to->todo, &to->cap, to->n + 1,
		     sizeof(*to->todo)) ||
	    !reserve((void **)&to->port, &to->cap_ports,
		     to->n_ports + todo.n_ports, 1) ||
	    !reserve((void **)&to->share, &to->cap_shares,
		     to->n_shares + z->old.n, sizeof(*to->share)))
		return false;
	todo.n_shares = z->old.n;
	to->todo[to->n++] = todo;
	memcpy(to->port + to->n_ports, port, todo.n_ports);
	to->n_ports += todo.n_ports;
	if (z->old.n)
		memcpy(to->share + to->n_shares, z->old.share,
		       z->old.n * sizeof(*to->share));
	to->n_shares += z->old.n;
	return true;
}

static void sort_by_cost(struct displaced_entry *e, uint32_t n,
			 const struct ftr_cost_column *c,
			 struct displaced_entry *sorted)
{
	uint32_t at[FTR_COST_INF + 2] = { 0 };

	for (uint32_t i = 0; i < n; i++)
		at[c->cost[e[i].sw * c->stride] + 1]++;
	for (uint32_t k = 0; k <= FTR_COST_INF; k++)
		at[k + 1] += at[k];
	for (uint32_t i = 0; i < n; i++)
		sorted[at[c->cost[e[i].sw * c->stride]]++] = e[i];
	memcpy(e, sorted, n * sizeof(*e));
}

static void use_lid(struct displaced *z, ftr_lid lid)
{
	struct balance_net *net = z->net;
	uint32_t d = net->dest_of[lid];
	bool known = d != BALANCE_NONE;

	z->row = known ? balance_entries(net, net->entry, d) : NULL;
	z->senders = known && net->senders ?
		balance_senders(net, net->senders, d) : NULL;
}

static struct column column_of(const struct displaced *z, uint32_t l,
			       bool turns)
{
	const struct ftr_shape *sh = balance_shape(z->net, l);

	return (struct column){
		.sh = sh,
		.costs = z->net->order[l].sw ? balance_costs(z->net, l) :
			ftr_shape_column(sh, l),
		.turns = turns || !sh->tree.rank,
	};
}

/* Add the entry to the slot; or set e->after if no counted flow passes the entry. */
static bool prepare_entry(const struct whole *w, struct worker *v,
			  const struct column *c, ftr_lid lid,
			  struct displaced_entry *e, struct slot *to)
{
	const struct ftr_shape *sh = c->sh;
	uint32_t first = sh->tree.group_first[e->sw];
	const struct near *near = w->near[sh != w->z->in.shape] + first;
	uint32_t n_near = sh->tree.n_up[e->sw] + sh->tree.n_down[e->sw];
	uint32_t begin = lid + sh->numbering.col[e->sw], n;
	uint8_t port[FTR_PORT_MAX + 1] = { FTR_PORT_NONE };
	struct todo todo = { .e = e, .lid = lid };
	struct displaced *z = &v->z;
	bool up;

	n = candidates(near, n_near, e->sw, &c->costs, v->cand, &up);
	z->n_sources = 0;
	if (z->pos[lid] != NOT_COUNTED)
		displaced_gather(z, sh, false, e->sw, up, lid);
	if (!z->n_sources) {
		list_ports(sh, near, v->cand, n, begin, port, 1);
		e->after = port[0];
		return true;
	}
	todo.n_ports = (uint8_t)list_ports(sh, near, v->cand, n, begin, port,
					   FTR_PORT_MAX);
	for (uint32_t k = 0; k < z->n_sources; k++)
		z->source[k].displaced = true;
	todo.hosts = displaced_streams(z, z->source, z->n_sources, lid);
	return add_todo(to, z, todo, port);
}

static bool prepare_dest(const struct whole *w, struct worker *v, uint32_t i,
			 struct slot *to)
{
	const struct ftr_dest *d = &w->z->in.shape->numbering.dest[i];
	struct displaced_entry *e = w->e + w->first[d->lid];
	uint32_t n = w->first[d->lid + 1] - w->first[d->lid];
	struct column c;
	bool ok = true;

	if (!n)
		return true;
	c = column_of(w->z, d->col, false);
	use_lid(&v->z, d->lid);
	sort_by_cost(e, n, &c.costs, v->sorted);
	for (uint32_t k = 0; ok && k < n; k++)
		ok = prepare_entry(w, v, &c, d->lid, &e[k], to);
	for (uint32_t k = 0; v->z.row && k < n; k++)
		if (e[k].after != DISPLACED_PLACE)
			v->z.row[e[k].sw] = e[k].after;
	return ok;
}

/* ---- choosing --------------------------------------------------------------- */

struct path {
	uint32_t n, link[PATH_PORTS * PATH_LINKS];
};

static void first_links(const struct displaced *z, const struct todo *todo,
		       ftr_port port, struct path *path)
{
	const struct balance_net *net = z->net;
	const uint8_t *row = balance_entries(net, net->entry,
					     net->dest_of[todo->lid]);
	ftr_sw s = todo->e->sw;

	for (uint32_t i = 0; i < PATH_LINKS; i++, port = row[s]) {
		uint32_t link = balance_link_to(net, s, port);

		if (link == BALANCE_NONE)
			return;
		path->link[path->n++] = link;
		s = net->peer[link];
	}
}

/* Prefetch two bins on each link of a path: those of the first and the last share of the entry. */
static void load_bins(const struct displaced *z, const struct path *path,
		      const struct share *share, uint32_t n_shares)
{
	for (uint32_t i = 0; n_shares && i < path->n; i++) {
		uint32_t link = path->link[i];
		uint16_t *first = displaced_first(z, link);

		__builtin_prefetch(displaced_counter(z, link, first,
						     share[0].bin));
		__builtin_prefetch(displaced_counter(z, link, first,
						     share[n_shares - 1].bin));
	}
}

struct cursor {
	uint32_t i;
	const uint8_t *port;
	struct share *share;
};

static void advance(struct cursor *c, const struct slot *of)
{
	const struct todo *todo = &of->todo[c->i++];

	c->port += todo->n_ports;
	c->share += todo->n_shares;
}

static void place_one(struct displaced *z, const struct todo *todo,
		      const struct cursor *c)
{
	ftr_sw s = todo->e->sw;

	use_lid(z, todo->lid);
	z->old.n = todo->n_shares;
	z->old.share = c->share;
	todo->e->after = displaced_cheapest(z, c->port, todo->n_ports, s,
					    todo->lid, todo->hosts);
	z->row[s] = todo->e->after;
	displaced_walk(z, s, todo->lid, todo->hosts, 1);
}

/* Choose the ports of the entries of a slot.  The counters do not fit into the cache, so most of
 * the time would be spent waiting for memory.  Therefore each entry goes through three steps:
 * find its links (cursor `far`), prefetch their bins (`mid`), choose its port (`now`).
 * Each step is AHEAD entries ahead of the next one. */
static void place_slot(struct displaced *z, const struct slot *from)
{
	struct cursor now = { 0, from->port, from->share }, mid = now, far = now;
	struct share *own = z->old.share;
	struct path path[2 * AHEAD];

	z->fresh.n = 0;
	while (now.i < from->n) {
		if (far.i < from->n) {
			struct path *to = &path[far.i % (2 * AHEAD)];

			to->n = 0;
			for (uint32_t k = 0; k < FTR_MIN(
				     from->todo[far.i].n_ports, PATH_PORTS); k++)
				first_links(z, &from->todo[far.i], far.port[k],
					    to);
			advance(&far, from);
			if (far.i < FTR_MIN(AHEAD, from->n))
				continue;
		}
		if (mid.i < from->n) {
			load_bins(z, &path[mid.i % (2 * AHEAD)], mid.share,
				  from->todo[mid.i].n_shares);
			advance(&mid, from);
			if (mid.i < FTR_MIN(AHEAD, from->n))
				continue;
		}
		place_one(z, &from->todo[now.i], &now);
		advance(&now, from);
	}
	z->old.share = own;
}

/* Item 0, the longest one, chooses the ports of block w->block.  Each other item prepares a part of
 * the next block. */
static void block_items(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	struct whole *w = ctx;
	uint32_t n_dest = w->z->in.shape->numbering.n_dest;

	for (uint32_t i = begin; i < end; i++) {
		struct slot *to = i ? &w->slot[(w->block + 1) % 2][i - 1] : NULL;
		uint32_t d = i ? w->block * BLOCK_DESTS + (i - 1) * TASK_DESTS :
			0, stop = FTR_MIN(d + TASK_DESTS, n_dest);

		for (uint32_t k = 0; !i && k < TASKS; k++)
			place_slot(w->z, &w->slot[w->block % 2][k]);
		if (!to)
			continue;
		to->n = to->n_ports = to->n_shares = 0;
		for (; d < stop && !to->nomem; d++)
			to->nomem = !prepare_dest(w, &w->worker[worker], d, to);
	}
}

static bool workers_new(struct whole *w, struct ftr_team *team)
{
	const struct displaced *z = w->z;
	const struct balance_net *net = z->net;
	unsigned int n = ftr_team_size(team);

	w->near[0] = near_groups(z->in.shape, z->arena);
	w->near[1] = z->in.use_full ? near_groups(z->in.full, z->arena) :
		w->near[0];
	w->worker = ftr_arena_alloc(z->arena, n, sizeof(*w->worker));
	if (!w->near[0] || !w->near[1] || !w->worker)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		struct worker *v = &w->worker[i];

		v->z = *z;
		v->z.now = 1;
		v->sorted = ftr_arena_alloc(z->arena, net->f->n_sw,
					    sizeof(*v->sorted));
		v->z.source = ftr_arena_alloc(z->arena, net->n_sources + 1u,
					      sizeof(*v->z.source));
		v->z.stack = ftr_arena_alloc(z->arena, net->f->n_sw,
					     sizeof(*v->z.stack));
		if (!v->sorted || !v->z.source || !v->z.stack ||
		    !displaced_stream_new(z, &v->z.fresh, z->arena) ||
		    !displaced_stream_new(z, &v->z.old, z->arena))
			return false;
	}
	return true;
}

static bool place_blocks(struct whole *w, struct ftr_team *team)
{
	uint32_t n_dest = w->z->in.shape->numbering.n_dest;
	uint32_t blocks = (n_dest + BLOCK_DESTS - 1) / BLOCK_DESTS;
	bool ok = workers_new(w, team);

	for (w->block = 0; ok && w->block <= blocks; w->block++) {
		ftr_team_run(team, 1 + TASKS, 1, block_items, w);
		for (uint32_t i = 0; i < TASKS; i++)
			ok &= !w->slot[0][i].nomem && !w->slot[1][i].nomem;
		ok &= !w->z->nomem;
	}
	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		free(w->slot[i / TASKS][i % TASKS].todo);
		free(w->slot[i / TASKS][i % TASKS].port);
		free(w->slot[i / TASKS][i % TASKS].share);
	}
	return ok;
}

/* Choose all ports of a routing with extra turns in one thread, one LID after the other.  With
 * extra turns, the flows that reach an entry may depend on ports that were chosen before. */
static bool place_lids(struct whole *w)
{
	const struct ftr_shape *sh = w->z->in.shape;

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		const struct ftr_dest *d = &sh->numbering.dest[i];
		struct displaced_entry *e = w->e + w->first[d->lid];
		uint32_t n = w->first[d->lid + 1] - w->first[d->lid];
		struct column c = column_of(w->z, d->col, true);

		use_lid(w->z, d->lid);
		displaced_sort(e, n, &c);
		displaced_place_lid(w->z, &c, d->lid, e, n);
	}
	return !w->z->nomem;
}

bool displaced_place_all(struct displaced *z, bool turns, const uint64_t *bits,
			 struct ftr_team *team)
{
	struct whole w = { .z = z, .bits = bits };
	bool ok;

	z->nomem = z->known = false;
	ok = list_entries(&w, team) && get_bins(&w, team);
	if (ok)
		ok = turns || !z->in.shape->tree.rank ? place_lids(&w) :
			place_blocks(&w, team);
	if (ok)
		for_lids(&w, team, write_lids);
	return ok;
}
