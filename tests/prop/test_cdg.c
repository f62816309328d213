// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compares the incremental channel dependency graph with a slow recomputation of all dependencies
 * (lib/deps.c) and with the checker's results.  The fabrics are trees and other graphs.  The tables
 * come from the engines, or are random.  There is one VL, or a random SL2VL table.
 *
 * Random entries are changed in one to three steps, LIDs are drained (no packet follows an older
 * entry any more), and links fail.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"
#include "lib/deps.h"
#include "lib/draw.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/check_net.h"
#include <ftr/transition.h>

static struct ftr_err err;

#define VLS 3

struct world {
	struct ftr_rng rng;
	uint64_t seed;
	struct ftr_fabric *f;
	struct ftr_tables *t;
	struct ftr_sl2vl *m;
	struct ftr_cdg_opts opts;
	struct ftr_cdg *g;
	struct deps *d;
};

static struct ftr_sl2vl *random_vls(struct ftr_rng *r,
				    const struct ftr_fabric *f)
{
	struct ftr_sl2vl *m = NULL;
	bool drops = ftr_rng_below(r, 2);

	ck_assert(!ftr_sl2vl_new(f, &m, &err));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t io = 0; io < m->width[s] * m->width[s]; io++)
			for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
				unsigned int vl = ftr_rng_below(r, 40);

				ftr_sl2vl_set(m, s,
					      (ftr_port)(io / m->width[s]),
					      (ftr_port)(io % m->width[s]), sl,
					      vl == 39 && drops ?
					      FTR_VL_DROP : vl % VLS);
			}
	return m;
}

/* Route to each LID by a random tree over the links.  For `wild` percent of the LIDs, one entry is
 * random. */
static void random_tables(struct ftr_rng *r, const struct ftr_fabric *f,
			  struct ftr_tables *t, unsigned int wild)
{
	ftr_sw *queue = malloc((f->n_sw + 1) * sizeof(*queue));

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		ftr_sw root;
		uint32_t n = 0;

		if (o->kind == FTR_OWNER_NONE)
			continue;
		root = o->kind == FTR_OWNER_SW ? o->idx : f->ep[o->idx].sw;
		if (root == FTR_SW_NONE)
			continue;
		ftr_tables_row(t, root)[lid] = o->kind == FTR_OWNER_SW ? 0 :
			f->ep[o->idx].sw_port;
		queue[n++] = root;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = i + ftr_rng_below(r, n - i);
			ftr_sw s = queue[k];

			queue[k] = queue[i];
			for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
				const struct ftr_swport *x =
					ftr_fabric_port(f, s, (ftr_port)p);
				uint8_t *e;

				if (x->peer_kind != FTR_PEER_SW)
					continue;
				e = &ftr_tables_row(t, x->peer)[lid];
				if (x->peer == root || *e != FTR_PORT_NONE)
					continue;
				*e = x->peer_port;
				queue[n++] = x->peer;
			}
		}
		if (wild && ftr_rng_below(r, 100) < wild) {
			ftr_sw s = ftr_rng_below(r, f->n_sw);

			if (s != root)
				ftr_tables_row(t, s)[lid] = (uint8_t)
					ftr_rng_below(r, f->sw[s].n_ports + 1u);
		}
	}
	free(queue);
}

static void engine_tables(const struct world *w, const char *name)
{
	struct ftr_shape *sh = NULL;

	ck_assert(!ftr_shape_new(w->f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_engine_find(name)->route(sh, NULL, NULL, w->t, NULL,
						&err));
	ftr_shape_free(sh);
}

static void make_world(struct world *w, uint64_t seed)
{
	struct ftr_pgft g;
	unsigned int how;

	*w = (struct world){ .seed = seed };
	ftr_rng_seed(&w->rng, seed);
	if (ftr_rng_below(&w->rng, 8)) {
		trees_random_pgft(&w->rng, &g, false, 14);
		w->f = trees_grow(&g, seed, ftr_rng_below(&w->rng, 2));
		w->f = trees_damaged(w->f, &w->rng, 20);
	} else {
		uint32_t links = ftr_rng_below(&w->rng, 6), hosts = ftr_rng_below(&w->rng, 6);

		ck_assert(!random_graph_new(seed, 2 + ftr_rng_below(&w->rng, 4), hosts, links,
					    &w->f, &err));
	}
	ck_assert(!ftr_tables_new(w->f, true, &w->t, &err));
	how = ftr_rng_below(&w->rng, 4);
	if (how == 0)
		engine_tables(w, "dmodc");
	else if (how == 1)
		engine_tables(w, "sftree");
	else
		random_tables(&w->rng, w->f, w->t, how == 2 ? 3 : 0);
	w->opts.switch_sources = ftr_rng_below(&w->rng, 2);
	w->opts.sls = 1;
	if (ftr_rng_below(&w->rng, 2))
		w->opts.sl2vl = w->m = random_vls(&w->rng, w->f);
	if (w->m && ftr_rng_below(&w->rng, 2))
		w->opts.sls = 0x8005;
}

static void end_world(struct world *w)
{
	ftr_cdg_free(w->g);
	if (w->d)
		deps_free(w->d);
	ftr_sl2vl_free(w->m);
	ftr_tables_free(w->t);
	ftr_fabric_free(w->f);
}

/* Build the graph.  This must succeed if and only if neither the checker nor the slow recomputation
 * finds a cycle. */
static bool start(struct world *w)
{
	const struct ftr_check_opts co = {
		.switch_sources = w->opts.switch_sources, .sl2vl = w->m,
	};
	struct ftr_check_report r;
	bool cyclic;
	enum ftr_status st;

	w->d = deps_new(w->f, w->t, w->m, w->opts.sls, w->opts.switch_sources,
			VLS);
	cyclic = deps_cyclic(w->d);
	if (w->opts.sls == 1) {
		ck_assert(!ftr_check_tables(w->f, w->t, &co, NULL, &r, &err));
		ck_assert_msg((r.cdg == FTR_CDG_CYCLE) == cyclic,
			      "seed %llu: the checker and lib/deps.c disagree on cycles",
			      (unsigned long long)w->seed);
	}
	st = ftr_cdg_new(w->f, w->t, &w->opts, &w->g, &err);
	ck_assert_msg(st == (cyclic ? FTR_REFUSED : FTR_OK), "seed %llu: %s",
		      (unsigned long long)w->seed, err.msg);
	return !cyclic;
}

static bool has_edge(const struct ftr_cdg *g, struct ftr_channel a,
		     struct ftr_channel b)
{
	uint32_t in = dyn_link_of(g, a.sw, a.port);
	uint32_t out = dyn_link_of(g, b.sw, b.port);

	if (in == DYN_NONE || out == DYN_NONE || g->link[in].to != b.sw ||
	    a.vl >= g->n_vl || b.vl >= g->n_vl)
		return false;
	return g->count[dyn_edge_at(g, &g->link[in], a.vl,
				    g->link[out].from_index, b.vl)] > 0;
}

static bool graph_has(const struct world *w, uint32_t a, unsigned int va,
		      ftr_port out, unsigned int vb)
{
	const struct ftr_swport *p = &w->f->ports[a];
	ftr_sw s = ftr_fabric_port(w->f, p->peer, p->peer_port)->peer;
	struct ftr_channel x = { s, (ftr_port)(a - w->f->sw[s].first_port),
				 (uint8_t)va };
	struct ftr_channel y = { p->peer, out, (uint8_t)vb };
	bool mine = has_edge(w->g, x, y);

	/* edges of a dead link may remain in the graph: no packet follows them */
	if (!w->d->down[a] && !ftr_cdg_link_is_down(w->g, y.sw, y.port))
		ck_assert_msg(mine == deps_has(w->d, x, y),
			      "seed %llu: the graph and lib/deps.c disagree on edge %u[%u]/%u -> %u[%u]/%u",
			      (unsigned long long)w->seed, x.sw, x.port, va,
			      y.sw, y.port, vb);
	return mine;
}

static uint32_t compare(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < w->f->n_ports; a++) {
		const struct ftr_swport *p = &w->f->ports[a];

		if (p->peer_kind != FTR_PEER_SW)
			continue;
		for (unsigned int out = 1; out <= w->f->sw[p->peer].n_ports;
		     out++)
			for (unsigned int v = 0; v < VLS * VLS; v++)
				if (ftr_fabric_port(w->f, p->peer,
						    (ftr_port)out)->peer_kind ==
				    FTR_PEER_SW)
					n += graph_has(w, a, v / VLS,
						       (ftr_port)out, v % VLS);
	}
	return n;
}

static bool is_source(const struct world *w, ftr_sw s)
{
	for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++) {
		const struct ftr_swport *x = ftr_fabric_port(w->f, s, (ftr_port)p);

		if (x->peer_kind == FTR_PEER_EP && w->f->ep[x->peer].lid)
			return true;
	}
	return w->opts.switch_sources;
}

/* Follow the path to the LID from every switch that sends packets.  ftr_cdg_may_pass() must be true
 * for each switch on these paths.  Returns the number of switches for which it is false. */
static uint32_t follow_all(const struct world *w, ftr_lid lid)
{
	uint32_t none = 0;

	for (ftr_sw first = 0; first < w->f->n_sw; first++) {
		ftr_sw s = first;

		none += !ftr_cdg_may_pass(w->g, first, lid);
		for (uint32_t hops = 0; is_source(w, first) && hops < w->f->n_sw; hops++) {
			ftr_port p = ftr_tables_get(ftr_cdg_tables(w->g), s, lid);

			if (!p || p > w->f->sw[s].n_ports ||
			    ftr_fabric_port(w->f, s, p)->peer_kind != FTR_PEER_SW)
				break;
			if (!ftr_cdg_may_pass(w->g, s, lid))
				ck_abort_msg("seed %llu: packets for LID %u pass switch %u unexpectedly",
					     (unsigned long long)w->seed, lid, s);
			if (ftr_cdg_link_is_down(w->g, s, p))
				break;
			s = ftr_fabric_port(w->f, s, p)->peer;
		}
	}
	return none;
}

static uint32_t compare_passes(const struct world *w)
{
	uint32_t none = 0;

	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		if (w->f->owner[lid].kind != FTR_OWNER_NONE)
			none += follow_all(w, (ftr_lid)lid);
	return none;
}

static ftr_lid random_lid(struct world *w)
{
	for (;;) {
		uint32_t lid = 1 + ftr_rng_below(&w->rng, w->f->max_lid);

		if (w->f->owner[lid].kind != FTR_OWNER_NONE)
			return (ftr_lid)lid;
	}
}

static struct ftr_change write_to(ftr_sw sw, ftr_port port, uint16_t step)
{
	return (struct ftr_change){ .sw = sw, .after = port, .step = step };
}

static bool change(struct world *w)
{
	ftr_lid lid = random_lid(w);
	struct deps_lid saved = deps_save(w->d, lid);
	struct ftr_change x[9];
	uint32_t n = 0;
	bool closes, cyclic;

	for (uint8_t step = 0, steps = (uint8_t)(1 + ftr_rng_below(&w->rng, 3));
	     step < steps; step++) {
		uint32_t first = n, many = 1 + ftr_rng_below(&w->rng, 3);

		while (n - first < many) {
			ftr_sw s = ftr_rng_below(&w->rng, w->f->n_sw);
			bool twice = false;

			for (uint32_t i = first; i < n; i++)
				twice |= x[i].sw == s;
			if (twice)
				break;
			x[n++] = write_to(s, (ftr_port)ftr_rng_below(&w->rng,
						w->f->sw[s].n_ports + 1u), step);
		}
		deps_step(w->d, lid, x + first, n - first);
	}
	cyclic = deps_cyclic(w->d);
	ck_assert(!ftr_cdg_change(w->g, lid, x, n, &closes, &err));
	ck_assert_msg(closes == cyclic, "seed %llu: a cycle is %s",
		      (unsigned long long)w->seed,
		      cyclic ? "missed" : "reported although there is none");
	for (uint32_t i = 0; !closes && i < n; i++)
		ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(w->g), x[i].sw,
						 lid),
				  w->d->lid[lid].port[x[i].sw]);
	if (cyclic)
		deps_restore(w->d, lid, saved);
	else
		deps_forget(saved);
	return cyclic;
}

/* Give the last vertex nearly the greatest label, which it has after 2^32 moves. */
static void raise_label(struct ftr_cdg *g)
{
	uint32_t v = g->order.first;

	if (v == DYN_NONE)
		return;
	while (g->order.next[v] != DYN_NONE)
		v = g->order.next[v];
	g->order.label[v] = UINT64_MAX - 1;
}

static void drain(struct world *w)
{
	for (uint32_t l = 1; l <= w->f->max_lid; l++)
		if (w->f->owner[l].kind != FTR_OWNER_NONE)
			deps_drain(w->d, (ftr_lid)l);
	ftr_cdg_drain_all(w->g);
	ck_assert_uint_eq(ftr_cdg_undrained(w->g), 0);
}

static void cut_link(struct world *w)
{
	ftr_sw s = ftr_rng_below(&w->rng, w->f->n_sw);
	ftr_port p = (ftr_port)(1 + ftr_rng_below(&w->rng,
						  w->f->sw[s].n_ports));

	if (ftr_fabric_port(w->f, s, p)->peer_kind != FTR_PEER_SW ||
	    ftr_cdg_link_is_down(w->g, s, p))
		return;
	ck_assert(!ftr_cdg_link_down(w->g, s, p, &err));
	deps_set_down(w->d, s, p, true);
}

START_TEST(against_sets)
{
	uint64_t first = trees_first_seed();
	unsigned int refused = 0, taken = 0, built = 0, cyclic = 0;
	uint32_t edges = 0;
	uint32_t none[2] = { 0 };	/* number of times that ftr_cdg_may_pass() is false; [1]:
					 * with SL2VL tables */

	for (uint64_t seed = first; seed < first + trees_runs(100); seed++) {
		struct world w;

		make_world(&w, seed);
		if (!start(&w)) {
			cyclic++;
			end_world(&w);
			continue;
		}
		built++;
		edges += compare(&w);
		none[w.m != NULL] += compare_passes(&w);
		for (unsigned int i = 0; i < 25; i++) {
			switch (ftr_rng_below(&w.rng, 10)) {
			case 0:
				cut_link(&w);
				break;
			case 1:
			case 2:
				drain(&w);
				break;
			default:
				if (i % 2)
					raise_label(w.g);
				if (change(&w))
					refused++;
				else
					taken++;
			}
			if (i % 5 == 4)
				compare(&w);
			none[w.m != NULL] += compare_passes(&w);
		}
		end_world(&w);
	}
	printf("compared with lib/deps.c: %u graphs, %u tables with cycles, %u changes accepted, %u changes refused, %u edges\n",
	       built, cyclic, taken, refused, edges);
	runs_show(built > 0);
	runs_show(taken > 0);
	runs_show(refused > 0);
	runs_show(none[0] > 0);
	runs_show(none[1] > 0);
}
END_TEST

/* Two leaves and two spines, one VL.  A detour closes no cycle.  A second detour in the opposite
 * direction closes one, except if one of the hosts has no LID and so sends nothing (_i = 1), or if
 * a switch drops the packets of the first detour (2). */
START_TEST(two_turns_close_a_cycle)
{
	struct ftr_fabric *f = draw("A: s t h1\nB: s t h1\ns:\nt:\n");
	ftr_sw a = draw_sw(f, "A"), b = draw_sw(f, "B"), s = draw_sw(f, "s"),
	       t = draw_sw(f, "t");
	ftr_lid la = f->ep[draw_host(f, "A", 0)].lid;
	ftr_lid lb = f->ep[draw_host(f, "B", 0)].lid;
	struct ftr_tables *tab = NULL;
	struct ftr_sl2vl *m = NULL;
	struct ftr_cdg_opts drops = { 0 };
	struct ftr_cdg *g = NULL;
	struct ftr_change w[2];
	bool closes;

	/* Before the changes, the path to B leads over s, and the path to A leads over t.  Ports
	 * are numbered in the order of the drawing. */
	ck_assert(!ftr_tables_new(f, true, &tab, &err));
	ftr_tables_row(tab, a)[lb] = 1;
	ftr_tables_row(tab, s)[lb] = 2;
	ftr_tables_row(tab, b)[lb] = 3;
	ftr_tables_row(tab, b)[la] = 2;
	ftr_tables_row(tab, t)[la] = 1;
	ftr_tables_row(tab, a)[la] = 3;
	ftr_tables_row(tab, a)[0] = 1;	/* a loop for LID 0, which nobody has */
	ftr_tables_row(tab, s)[0] = 1;
	if (_i == 1)
		((struct ftr_endport *)(uintptr_t)f->ep)[draw_host(f, "A", 0)].lid = 0;
	ck_assert(!ftr_sl2vl_new(f, &m, &err));
	ftr_sl2vl_set(m, a, 1, 2, 0, FTR_VL_DROP);
	drops.sl2vl = m;
	ck_assert(!ftr_cdg_new(f, tab, _i == 2 ? &drops : NULL, &g, &err));
	/* First detour: packets to B go back from s to A, and then over t.  Second detour: packets
	 * to A go back from t to B, and then over s.  Both together close the cycle of channels
	 * s>A, A>t, t>B, B>s. */
	w[0] = write_to(t, 2, 0);
	ck_assert(!ftr_cdg_change(g, lb, w, 1, &closes, &err));
	ck_assert(!closes);
	w[0] = write_to(a, 2, 0);
	w[1] = write_to(s, 1, 1);
	ck_assert(!ftr_cdg_change(g, lb, w, 2, &closes, &err));
	ck_assert(!closes);
	w[0] = write_to(s, 1, 0);
	ck_assert(!ftr_cdg_change(g, la, w, 1, &closes, &err));
	ck_assert(!closes);
	w[0] = write_to(b, 1, 0);
	w[1] = write_to(t, 2, 1);
	ck_assert(!ftr_cdg_change(g, la, w, 2, &closes, &err));
	ck_assert(closes == !_i);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), b, la), _i ? 1 : 2);
	ftr_cdg_free(g);
	ftr_sl2vl_free(m);
	ftr_tables_free(tab);
	ftr_fabric_free(f);
}
END_TEST

/* ftr_cdg_steps() writes the entries in the order of their steps, and leaves those that are not to be
 * written. */
START_TEST(whole_tables)
{
	struct ftr_fabric *f = draw("A: s t h1\nB: s t h1\ns:\nt:\n");
	ftr_sw a = draw_sw(f, "A"), b = draw_sw(f, "B"), s = draw_sw(f, "s"), t = draw_sw(f, "t");
	ftr_lid lb = f->ep[draw_host(f, "B", 0)].lid;
	struct ftr_tables *tab = NULL, *to = NULL;
	struct ftr_cdg *g = NULL;
	uint8_t *step;
	bool closes;

	ck_assert(!ftr_tables_new(f, true, &tab, &err));
	ck_assert(!ftr_tables_new(f, true, &to, &err));
	step = calloc(f->n_sw, to->stride);
	ftr_tables_row(tab, a)[lb] = 1;	/* over s */
	ftr_tables_row(tab, s)[lb] = 2;
	ftr_tables_row(tab, b)[lb] = 3;
	ck_assert(!ftr_cdg_new(f, tab, NULL, &g, &err));
	/* over t: first t, then A; s is not written */
	ftr_tables_row(to, a)[lb] = 2;
	ftr_tables_row(to, t)[lb] = 2;
	ftr_tables_row(to, s)[lb] = FTR_PORT_NONE;
	step[a * to->stride + lb] = 2;
	step[t * to->stride + lb] = 1;
	step[s * to->stride + lb] = FTR_TRANSITION_NEVER;
	ck_assert(!ftr_cdg_steps(g, to, step, &closes, &err));
	ck_assert(!closes);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), a, lb), 2);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), t, lb), 2);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), s, lb), 2);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), b, lb), 3);
	/* t sends the packets back to A, which sends them to t */
	ftr_tables_row(to, t)[lb] = 1;
	step[a * to->stride + lb] = FTR_TRANSITION_NONE;
	ck_assert(!ftr_cdg_steps(g, to, step, &closes, &err));
	ck_assert(closes);
	/* a port that t does not have */
	ftr_tables_row(to, t)[lb] = 201;
	ck_assert_int_eq(ftr_cdg_steps(g, to, step, &closes, &err), FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, " leads to port 201 of switch 0x"));
	ck_assert(!closes);
	ck_assert_uint_eq(ftr_tables_get(ftr_cdg_tables(g), t, lb), 2);
	ftr_cdg_free(g);
	free(step);
	ftr_tables_free(to);
	ftr_tables_free(tab);
	ftr_fabric_free(f);
}
END_TEST

/* Without SL2VL tables, SL 15 would use VL 15, on which no packet is sent. */
START_TEST(sl_15)
{
	struct ftr_fabric *f = draw("A: s h1\nB: s h1\ns:\n");
	struct ftr_cdg_opts o = { .sls = 0x8001 };
	struct ftr_tables *t = NULL;
	struct ftr_sl2vl *m = NULL;
	struct ftr_cdg *g = NULL;

	ck_assert(!ftr_tables_new(f, true, &t, &err));
	ck_assert(!ftr_sl2vl_new(f, &m, &err));
	for (int mapped = 0; mapped < 2; mapped++) {
		o.sl2vl = mapped ? m : NULL;
		ck_assert(!ftr_cdg_new(f, t, &o, &g, &err));
		ck_assert_uint_eq(g->n_sl, mapped ? 2 : 1);
		ck_assert(g->drops == mapped);
		ftr_cdg_free(g);
	}
	ftr_sl2vl_free(m);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

/* A ring of 500 switches with 100 links between neighbours and 15 VLs: 500 * (200 * 15)^2 pairs. */
START_TEST(too_many_dependencies)
{
	enum { N_SW = 500, LINKS = 100, WIDTH = 2 * LINKS + 1 };
	struct net n = net_new(N_SW, 2 * LINKS, false, 0);
	uint32_t *width = calloc(N_SW, sizeof(*width));
	uint64_t *first = calloc(N_SW, sizeof(*first));
	struct ftr_sl2vl m = { .n_sw = N_SW, .width = width, .first = first };
	struct ftr_cdg_opts o = { .sl2vl = &m };
	struct ftr_cdg *g = NULL;

	for (uint32_t s = 0; s < N_SW; s++) {
		width[s] = WIDTH;
		for (uint32_t i = 1; i <= LINKS; i++)
			net_link(&n, s, i, (s + 1) % N_SW, LINKS + i);
	}
	net_freeze(&n);
	m.word = calloc(WIDTH * WIDTH, sizeof(*m.word));	/* the same for all switches */
	m.word[WIDTH + 2] = 14;		/* from port 1 to port 2: SL 0 uses VL 14 */
	ck_assert_int_eq(ftr_cdg_new(n.f, n.t, &o, &g, &err), FTR_LIMIT);
	ck_assert_str_eq(err.msg, "the dependency graph needs 4500000000 counters; the limit is 4294967295");
	net_free(&n);
	free(m.word);
	free(first);
	free(width);
}
END_TEST

START_TEST(invalid_arguments)
{
	struct ftr_fabric *f = draw("A: s h1\nB: s h1\ns:\n");
	struct ftr_fabric *other = draw("A: h1\n");
	struct ftr_tables *t = NULL, *small = NULL;
	struct ftr_sl2vl *m = NULL;
	struct ftr_cdg_opts o = { .sls = 0 };
	struct ftr_cdg *g = NULL;
	struct ftr_change w = { .after = 201 };
	bool closes;

	ck_assert(!ftr_tables_new(f, true, &t, &err));
	ck_assert(!ftr_tables_new(other, true, &small, &err));
	ck_assert(!ftr_sl2vl_new(other, &m, &err));
	ck_assert_int_eq(ftr_cdg_new(f, small, NULL, &g, &err), FTR_INVAL);
	o.sl2vl = m;
	ck_assert_int_eq(ftr_cdg_new(f, t, &o, &g, &err), FTR_INVAL);
	ck_assert(!ftr_cdg_new(f, t, NULL, &g, &err));
	ck_assert_int_eq(ftr_cdg_change(g, 1, &w, 1, &closes, &err),
			 FTR_INVAL);
	w.after = 1;
	ck_assert_int_eq(ftr_cdg_change(g, 0, &w, 1, &closes, &err),
			 FTR_INVAL);
	ck_assert_int_eq(ftr_cdg_change(g, (ftr_lid)(f->max_lid + 1), &w, 1,
					&closes, &err), FTR_INVAL);
	w.sw = f->n_sw;
	ck_assert_int_eq(ftr_cdg_change(g, 1, &w, 1, &closes, &err),
			 FTR_INVAL);
	ck_assert_int_eq(ftr_cdg_change(g, 1, (struct ftr_change[]){ { .after = 1, .step = 2 },
			 { .sw = 1, .after = 1, .step = 1 } }, 2, &closes, &err), FTR_INVAL);
	ck_assert(!ftr_cdg_link_down(g, 0, 99, &err));	/* no link at this port: nothing happens */
	ck_assert(!ftr_cdg_link_is_down(g, 0, 99));
	ftr_cdg_free(g);
	ftr_cdg_free(NULL);
	ftr_sl2vl_free(m);
	ftr_tables_free(small);
	ftr_tables_free(t);
	ftr_fabric_free(other);
	ftr_fabric_free(f);
}
END_TEST

static bool stop_later(void *ctx)
{
	unsigned int *left = ctx;

	return *left == 0 || !--*left;
}

static bool stop_once(void *ctx)
{
	unsigned int *left = ctx;

	return *left && !--*left;
}

/* A cancelled construction of the graph must not affect a later one. */
static void cancel_at_any_time(bool (*stop)(void *ctx))
{
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;
	struct ftr_route_opts ro = { .sm_switch = FTR_SW_NONE };
	struct ftr_route_stats stats = { 0 };
	unsigned int refused = 0;

	ck_assert(!random_graph_new(7, 12, 20, 14, &f, &err));
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, &ro, NULL, t, &stats,
						   &err));
	for (unsigned int n = 1; ; n++) {
		unsigned int left = n;
		struct ftr_cdg_opts opts = {
			.stop = stop, .stop_ctx = &left,
		};
		struct ftr_cdg *g = NULL;

		if (!ftr_cdg_new(f, t, &opts, &g, &err)) {
			ck_assert_uint_gt(left, 0);
			ftr_cdg_free(g);
			break;
		}
		ck_assert_int_eq(err.status, FTR_REFUSED);
		ck_assert_uint_eq(left, 0);
		refused++;
	}
	ck_assert_uint_gt(refused, 10);
	ftr_shape_free(stats.routed);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

START_TEST(cancelled_at_any_time)
{
	cancel_at_any_time(stop_later);
	cancel_at_any_time(stop_once);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cdg");
	TCase *t = tcase_create("cdg");

	tcase_add_test(t, against_sets);
	tcase_add_loop_test(t, two_turns_close_a_cycle, 0, 3);
	tcase_add_test(t, whole_tables);
	tcase_add_test(t, sl_15);
	tcase_add_test(t, too_many_dependencies);
	tcase_add_test(t, invalid_arguments);
	tcase_add_test(t, cancelled_at_any_time);
	suite_add_tcase(s, t);
	return run_suite(s);
}
