// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * world_check() compares the costs and tables of incremental routing with those of two slow
 * computations.
 *
 * The first one removes the dead links from the groups, computes the costs of every pair
 * rank by rank, and routes all tables.
 *
 * The second one makes a shape of the fabric without its dead links, using the nominal
 * shape, and routes this shape.  It is left out if the shape has the order of sftree.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "lib/random_graph.h"
#include "lib/switch_events.h"
#include "lib/trees.h"
#include "lib/world.h"
#include "incremental/incremental.h"

static struct ftr_err err;

/* ---- the slow computation -------------------------------------------- */

static const struct ftr_shape *reported(const struct world *w)
{
	return w->order ? w->order : w->whole;
}

struct slow {
	struct ftr_shape sh;
	struct ftr_tables *t;
};

static void slow_groups(const struct world *w, struct slow *o)
{
	const struct ftr_shape *sh = reported(w);
	uint32_t n = w->f->n_sw, all = sh->tree.group_first[n];
	struct ftr_group *groups = calloc(all + 1, sizeof(*groups));
	ftr_port *ports = calloc(w->f->n_ports, 1);
	uint8_t *place = calloc(w->f->n_ports, 1);
	uint32_t *n_up = calloc(n, sizeof(*n_up));
	uint32_t *n_down = calloc(n, sizeof(*n_down));

	for (ftr_sw s = 0; s < n; s++) {
		uint32_t first = sh->tree.group_first[s], at = first;

		for (uint32_t k = 0; k < sh->tree.n_up[s] + sh->tree.n_down[s]; k++) {
			struct ftr_group g = sh->tree.groups[first + k];
			uint32_t alive = 0;

			for (uint32_t i = 0; i < g.n; i++) {
				ftr_port p = sh->tree.group_ports[g.first + i];

				if (w->dead[w->f->sw[s].first_port + p])
					continue;
				place[g.first + alive] =
					sh->tree.port_pos[g.first + i];
				ports[g.first + alive++] = p;
			}
			g.n = alive;
			if (!alive)
				continue;
			groups[at++] = g;
			if (k < sh->tree.n_up[s])
				n_up[s]++;
			else
				n_down[s]++;
		}
	}
	o->sh.tree.groups = groups;
	o->sh.tree.group_ports = ports;
	o->sh.tree.port_pos = place;
	o->sh.tree.n_up = n_up;
	o->sh.tree.n_down = n_down;
}

#define FAR 9999u

static unsigned int number(uint8_t c)
{
	return c == FTR_COST_INF ? FAR : c;
}

/* True if traffic to leaf l must avoid s, although a switch below s leads to l.  The shape must
 * have all links. */
static bool kept_off(const struct ftr_shape *sh, ftr_sw s, uint32_t l)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s] +
						sh->tree.n_up[s]];

	if (ftr_shape_down(sh, s)[l] != FTR_COST_INF)
		return false;
	for (uint32_t k = 0; k < sh->tree.n_down[s]; k++)
		if (ftr_shape_down(sh, g[k].remote)[l] < FTR_COST_INF - 1)
			return true;
	return false;
}

static unsigned int slow_down(const struct world *w, const struct slow *o,
			      const unsigned int *down, ftr_sw s, uint32_t l)
{
	const struct ftr_group *g = &o->sh.tree.groups[o->sh.tree.group_first[s] +
						  o->sh.tree.n_up[s]];
	unsigned int least = o->sh.numbering.col[s] == l ? 0 : FAR;

	if (kept_off(reported(w), s, l))
		return FAR;
	for (uint32_t k = 0; k < o->sh.tree.n_down[s]; k++) {
		unsigned int d = down[g[k].remote * w->f->n_sw + l];

		least = d + 1 < least ? d + 1 : least;
	}
	return least;
}

static unsigned int slow_cost(const struct world *w, const struct slow *o,
			      const unsigned int *down,
			      const unsigned int *cost, ftr_sw s, uint32_t l)
{
	const struct ftr_group *g = &o->sh.tree.groups[o->sh.tree.group_first[s]];
	unsigned int mine = down[s * w->f->n_sw + l], least = mine;

	for (uint32_t k = 0; k < o->sh.tree.n_up[s]; k++) {
		unsigned int c = cost[g[k].remote * w->f->n_sw + l];

		if (mine < c)
			return mine;
		least = c + 1 < least ? c + 1 : least;
	}
	return least;
}

static void slow_costs(const struct world *w, struct slow *o)
{
	uint32_t n = w->f->n_sw;
	unsigned int *cost = malloc(n * n * sizeof(*cost));
	unsigned int *down = malloc(n * n * sizeof(*down));
	uint8_t *c = aligned_alloc(64, (size_t)n * o->sh.reach.stride);
	uint8_t *d = aligned_alloc(64, (size_t)n * o->sh.reach.stride);

	for (uint32_t i = 0; i < n * n; i++)
		cost[i] = down[i] = FAR;
	for (uint32_t r = 0; r < o->sh.tree.n_ranks; r++)
		for (ftr_sw s = 0; s < n; s++)
			for (uint32_t l = 0; o->sh.tree.rank[s] == r && l < n; l++)
				down[s * n + l] = slow_down(w, o, down, s, l);
	for (uint32_t r = o->sh.tree.n_ranks; r-- > 0;)
		for (ftr_sw s = 0; s < n; s++)
			for (uint32_t l = 0; o->sh.tree.rank[s] == r && l < n; l++)
				cost[s * n + l] = slow_cost(w, o, down, cost,
							    s, l);
	memset(c, FTR_COST_INF, (size_t)n * o->sh.reach.stride);
	memset(d, FTR_COST_INF, (size_t)n * o->sh.reach.stride);
	for (ftr_sw s = 0; s < n; s++)
		for (uint32_t l = 0; l < n; l++) {
			size_t at = (size_t)s * o->sh.reach.stride + l;

			c[at] = (uint8_t)FTR_MIN(cost[s * n + l], 255u);
			d[at] = (uint8_t)FTR_MIN(down[s * n + l], 255u);
		}
	free(cost);
	free(down);
	o->sh.reach.cost = c;
	o->sh.reach.down = d;
}

static void slow_route(const struct world *w, struct slow *o)
{

	o->sh = *reported(w);
	slow_groups(w, o);
	slow_costs(w, o);
	ck_assert(!ftr_tables_new(w->f, false, &o->t, &err));
	ck_assert(!dmodc_tables(&o->sh, NULL, NULL, o->t, NULL, &err));
}

static void slow_free(struct slow *o)
{
	free((void *)(uintptr_t)o->sh.tree.groups);
	free((void *)(uintptr_t)o->sh.tree.group_ports);
	free((void *)(uintptr_t)o->sh.tree.port_pos);
	free((void *)(uintptr_t)o->sh.tree.n_up);
	free((void *)(uintptr_t)o->sh.tree.n_down);
	free((void *)(uintptr_t)o->sh.reach.cost);
	free((void *)(uintptr_t)o->sh.reach.down);
	ftr_tables_free(o->t);
}

static void same_tables(const struct world *w, const struct ftr_tables *want)
{
	const struct ftr_tables *t = ftr_incr_tables(w->lv);

	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		for (uint32_t i = 0; i < t->stride; i++)
			must(ftr_tables_row(t, s)[i] ==
			     ftr_tables_row(want, s)[i], "seed %" PRIu64
			     ": switch %u LID %u: port %u, should be %u",
			     w->seed, s, i, ftr_tables_row(t, s)[i],
			     ftr_tables_row(want, s)[i]);
}

static void same_costs(const struct world *w, const struct ftr_shape *want)
{
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		for (uint32_t l = 0; l < w->f->n_sw; l++) {
			unsigned int c = number(incr_cost(&w->lv->costs, s)[l]);
			unsigned int d = number(incr_down(&w->lv->costs, s)[l]);
			unsigned int wc = number(ftr_shape_cost(want, s)[l]);
			unsigned int wd = number(ftr_shape_down(want, s)[l]);

			must(c == wc && d == wd, "seed %" PRIu64
			     ": cost and down-cost from switch %u to column %u are %u/%u, should be %u/%u",
			     w->seed, s, l, c, d, wc, wd);
		}
}

static void same_as_slow(const struct world *w)
{
	struct ftr_validity v;
	struct slow o;

	slow_route(w, &o);
	same_costs(w, &o.sh);
	same_tables(w, o.t);
	ftr_shape_validity(&o.sh, &v);
	ck_assert_uint_eq(v.bad_pairs, w->lv->now.bad_pairs);
	slow_free(&o);
}

/* ---- the full computation -------------------------------------------- */

static bool is_alive(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		     ftr_port p)
{
	const struct world *w = ctx;

	return !w->dead[f->sw[s].first_port + p];
}

static void same_as_full(const struct world *w)
{
	struct ftr_filter filter = {
		.keep_link = is_alive, .ctx = (void *)(uintptr_t)w,
	};
	struct ftr_shape_opts opts = { .nominal = w->whole };
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;

	ck_assert(!ftr_fabric_copy_if(w->f, &filter, &f, &err));
	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s",
		      err.msg);
	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, &w->opts, NULL, t, NULL,
						   &err));
	same_costs(w, sh);
	same_tables(w, t);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

void world_check(const struct world *w)
{
	for (uint32_t i = 0; i < w->f->n_ports; i++)
		must(w->dead[i] == (ftr_incr_dead(w->lv)[i / 64] >> i % 64 & 1),
		     "seed %" PRIu64 ": port %u of the fabric is dead for incremental routing only, or for the test only",
		     w->seed, i);
	same_as_slow(w);
	if (!w->order)
		same_as_full(w);
}

/* ---- events ---------------------------------------------------------- */

static uint32_t far_end(const struct world *w, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(w->f, s, p);

	return w->f->sw[port->peer].first_port + port->peer_port;
}

static void note(struct world *w, const struct ftr_incr_event *e)
{
	/* links to hosts and horizontal links are not used by the routing */
	if (incr_link(&w->lv->links, e->sw, e->port) == NONE)
		return;
	w->dead[w->f->sw[e->sw].first_port + e->port] = !e->up;
	w->dead[far_end(w, e->sw, e->port)] = !e->up;
}

/* Draw an event at a random connected port.  Two of five events report "up", even on live links. */
static uint32_t draw_link(struct world *w, struct ftr_incr_event *e)
{
	for (;;) {
		ftr_sw s = ftr_rng_below(&w->rng, w->f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&w->rng,
						w->f->sw[s].n_ports));
		const struct ftr_swport *port = ftr_fabric_port(w->f, s, p);

		if (port->peer_kind == FTR_PEER_NONE)
			continue;
		if (port->peer_kind == FTR_PEER_EP &&
		    ftr_rng_below(&w->rng, 4))
			continue;
		e[0] = (struct ftr_incr_event){
			s, p, ftr_rng_below(&w->rng, 5) < 2
		};
		if (port->peer_kind != FTR_PEER_SW ||
		    ftr_rng_below(&w->rng, 3))
			return 1;
		/* The other end reports, too, sometimes the opposite state. */
		e[1] = (struct ftr_incr_event){
			port->peer, port->peer_port,
			ftr_rng_below(&w->rng, 8) ? e[0].up : !e[0].up
		};
		return 2;
	}
}

uint32_t world_events(struct world *w, struct ftr_incr_event *e)
{
	uint32_t n = 0, k = ftr_rng_below(&w->rng, 10);

	if (k == 0) {
		bool up = ftr_rng_below(&w->rng, 2);

		return switch_events(w->f, w->lv, ftr_rng_below(&w->rng, w->f->n_sw), up, e);
	}
	if (k == 1)	/* repair all dead links */
		for (ftr_sw s = 0; s < w->f->n_sw; s++)
			for (unsigned int p = 1; p <= w->f->sw[s].n_ports;
			     p++)
				if (w->dead[w->f->sw[s].first_port + p])
					e[n++] = (struct ftr_incr_event){
						s, (ftr_port)p, true
					};
	for (k = k < 6 ? 1 : 1 + ftr_rng_below(&w->rng, 5); k > 0; k--)
		n += draw_link(w, e + n);
	return n;
}

void world_note(struct world *w, const struct ftr_incr_event *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		note(w, &e[i]);
}

size_t world_room(const struct world *w)
{
	return 2 * w->f->n_ports + 600;
}

/* ---- new and free ---------------------------------------------------- */

void world_copy_tables(struct ftr_tables *to, const struct ftr_tables *from)
{
	memcpy(to->lft, from->lft, (size_t)from->n_sw * from->stride);
}

struct ftr_tables *world_copy_of_tables(const struct ftr_fabric *f, const struct ftr_tables *from)
{
	struct ftr_tables *copy = NULL;

	ck_assert(!ftr_tables_new(f, false, &copy, &err));
	world_copy_tables(copy, from);
	return copy;
}

void world_tree(struct world *w, uint32_t max_sw, bool damaged)
{
	struct ftr_pgft g;

	trees_random_pgft(&w->rng, &g, false, max_sw);
	w->f = trees_grow(&g, w->seed, ftr_rng_below(&w->rng, 5) == 0);
	if (damaged)
		w->f = trees_damaged(w->f, &w->rng, 20);
}

void world_chassis(struct world *w, bool damaged)
{
	w->f = trees_chassis(&w->rng);
	if (damaged)
		w->f = trees_damaged(w->f, &w->rng, 20);
}

void world_graph(struct world *w, uint32_t max_sw)
{
	uint32_t n = 2 + ftr_rng_below(&w->rng, max_sw - 1);
	uint32_t links = ftr_rng_below(&w->rng, 2 * n);

	ck_assert(!random_graph_new(w->seed, n, 1 + ftr_rng_below(&w->rng, 30), links, &w->f,
				    &err));
}

static void invert(struct world *w)
{
	struct ftr_arena *a = ftr_arena_new();
	uint16_t *level;
	ftr_sw root = 0;

	ck_assert(!inverted_order(w->whole, FTR_SW_NONE, a, &level, &root,
				  &err));
	ck_assert(!ftr_shape_reorder(w->whole, level,
				     ftr_rng_below(&w->rng, 2) ?
				     FTR_REORDER_KEEP : FTR_REORDER_ALL, NULL,
				     &w->order, &err));
	ftr_arena_free(a);
	w->sh = w->order;
}

/* Before the start, kill random links between ranks.  w->sh becomes the shape of the damaged
 * fabric, made with the nominal shape. */
static void damaged(struct world *w)
{
	struct ftr_filter filter = { .keep_link = is_alive, .ctx = w };
	struct ftr_shape_opts opts = { .nominal = w->whole };
	const struct ftr_shape *sh = w->whole;
	uint32_t share = 1 + ftr_rng_below(&w->rng, 6);

	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(w->f, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW || port->peer < s ||
			    sh->tree.rank[s] == sh->tree.rank[port->peer] ||
			    ftr_rng_below(&w->rng, 8) >= share)
				continue;
			w->dead[w->f->sw[s].first_port + p] = 1;
			w->dead[far_end(w, s, (ftr_port)p)] = 1;
		}
	ck_assert(!ftr_fabric_copy_if(w->f, &filter, &w->damaged, &err));
	ck_assert_msg(!ftr_shape_new(w->damaged, &opts, NULL, &w->over, &err),
		      "%s", err.msg);
	w->sh = w->over;
}

void world_start(struct world *w, enum world_kind kind)
{

	w->opts = (struct ftr_route_opts)FTR_ROUTE_OPTS_INIT;
	w->opts.paths = FTR_PATHS_UPDOWN;
	w->damaged = NULL;
	w->over = w->order = NULL;
	w->dead = calloc(w->f->n_ports, 1);
	ck_assert(!ftr_shape_new(w->f, NULL, NULL, &w->whole, &err));
	w->sh = w->whole;
	if (kind == WORLD_INVERTED)
		invert(w);
	if (kind == WORLD_LATE)
		damaged(w);
	ck_assert(!ftr_tables_new(w->f, false, &w->t, &err));
	ck_assert(!dmodc_tables(w->sh, NULL, NULL, w->t, NULL, &err));
	ck_assert_msg(!ftr_incr_new(w->sh, kind == WORLD_LATE ||
				    (kind == WORLD_INVERTED && w->seed / 2 % 2) ? w->whole : NULL,
				    w->t, &w->opts, &w->lv, &err), "%s", err.msg);
}

void world_stop(struct world *w)
{
	ftr_incr_free(w->lv);
	ftr_tables_free(w->t);
	ftr_shape_free(w->order);
	ftr_shape_free(w->over);
	ftr_fabric_free(w->damaged);
	ftr_shape_free(w->whole);
	ftr_fabric_free(w->f);
	free(w->dead);
}
