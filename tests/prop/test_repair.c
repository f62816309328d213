// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how ddlr plans local repairs: single plans, invalid arguments, the number of faults for
 * which repairs are guaranteed, irregular trees, real fabrics, allocation failures.  (tests/ddlr
 * repairs all sets of faults, and checks every intermediate state.)
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/draw.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/check_net.h"

static struct ftr_err err;

struct setup {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_sl2vl *m;
	struct ftr_ddlr *r;
};

static void begin_with(struct setup *x, struct ftr_fabric *f, unsigned int vls,
		       bool host_paths_only)
{
	struct ftr_cdg_opts o = { .switch_sources = vls > 1 };

	*x = (struct setup){ .f = f };
	ck_assert(!ftr_shape_new(f, NULL, NULL, &x->sh, &err));
	ck_assert(!ftr_tables_new(f, false, &x->t, &err));
	ck_assert(!ftr_engine_find("ddlr")->route(x->sh, NULL, NULL, x->t,
						  NULL, &err));
	/* entries for LIDs that nobody has are not repaired; LID 0 causes no dependencies, either */
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t lid = 0; lid <= f->max_lid; lid++)
			if (f->owner[lid].kind == FTR_OWNER_NONE && (!s || !lid))
				ftr_tables_row(x->t, s)[lid] = 2;
	if (vls > 1)
		ck_assert(!ftr_ddlr_sl2vl(x->sh, NULL, &x->m, &err));
	o.sl2vl = x->m;
	ck_assert(!ftr_ddlr_new(x->sh, x->t, &o, host_paths_only, &x->r, &err));
}

static void begin(struct setup *x, struct ftr_fabric *f, unsigned int vls)
{
	begin_with(x, f, vls, false);
}

static void end(struct setup *x)
{
	ftr_ddlr_free(x->r);
	ftr_sl2vl_free(x->m);
	ftr_tables_free(x->t);
	ftr_shape_free(x->sh);
	ftr_fabric_free(x->f);
}

static struct ftr_fabric *grow(const char *text)
{
	struct ftr_pgft g;

	ck_assert(!ftr_pgft_parse(text, &g, &err));
	return trees_grow(&g, 7, 0);
}

/* Returns the event that the first upward link of switch n (0, 1, ...) of a rank fails. */
static struct ftr_hop link_of(const struct ftr_shape *sh, unsigned int rank,
				uint32_t n)
{
	struct ftr_hop e = { 0, 0 };

	for (e.sw = 0; sh->tree.rank[e.sw] != rank || n-- > 0; e.sw++)
		;
	e.port = sh->tree.group_ports[sh->tree.groups[sh->tree.group_first[e.sw]].first];
	return e;
}

/* Returns the number of switches at which the plan writes entries for hosts. */
static uint32_t count_for_hosts(const struct setup *x, const struct ftr_ddlr_plan *p)
{
	uint32_t *seen = calloc(x->f->n_sw, sizeof(*seen)), n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (x->f->owner[p->write[i].lid].kind == FTR_OWNER_EP)
			n += !seen[p->write[i].sw]++;
	free(seen);
	return n;
}

/* If a link between switches fails, the repair may change entries for hosts in three switches only:
 * the switch above the link, the switch below it, and the switch where the detour turns upward.
 * With host_paths_only, or on one VL, it changes no other entries elsewhere.  One link above each
 * rank is tried. */
START_TEST(three_switches)
{
	static const char *const tree[] = {
		"kary:2,3", "kary:3,3", "kary:4,3", "kary:2,5", "kary:6,2"
	};

	for (size_t i = 0; i < 2 * FTR_ARRAY_LEN(tree); i++)
		for (unsigned int vls = 1; vls <= 2; vls++) {
			bool host_paths_only = i % 2;
			struct setup x;

			begin_with(&x, grow(tree[i / 2]), vls, host_paths_only);
			for (unsigned int rank = 0; rank + 1 < x.sh->tree.n_ranks; rank++) {
				struct ftr_hop e = link_of(x.sh, rank, 1);
				struct ftr_ddlr_plan p;

				ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
				ck_assert_msg(count_for_hosts(&x, &p) <= 3 &&
					      (p.n_switches <= 3 || (!host_paths_only && vls > 1)),
					      "%s, a link above rank %u: %u switches are written",
					      tree[i / 2], rank, p.n_switches);
				ck_assert_uint_ge(p.n_steps, 2);
				ck_assert(p.how[FTR_HOW_TURN] > 0);
				ck_assert_uint_eq(p.how[FTR_HOW_INVERTED], 0);
				ftr_ddlr_plan_fini(&p);
				ftr_ddlr_drained(x.r);
			}
			end(&x);
		}
}
END_TEST

/* Each switch has two links to each switch above it.  If one of the two fails, the repair must use
 * the other one, not a detour. */
START_TEST(parallel_links_first)
{
	struct setup x;
	struct ftr_hop e;
	struct ftr_ddlr_plan p;

	begin(&x, grow("2;3,3;1,3;1,2"), 1);
	e = link_of(x.sh, 0, 0);
	ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
	ck_assert_uint_gt(p.n, 0);
	ck_assert_uint_eq(p.how[FTR_HOW_PARALLEL], p.n);
	ck_assert_uint_eq(p.n_steps, 1);
	ck_assert_uint_le(p.n_switches, 2);
	ck_assert_uint_eq(p.unrepaired, 0);
	ftr_ddlr_plan_fini(&p);
	end(&x);
}
END_TEST

/* The writes of a plan must be sorted by step, switch and LID.  The old port of each write must be
 * the port in the present tables. */
START_TEST(plans_are_in_order)
{
	uint64_t first = trees_first_seed();

	for (uint64_t seed = first; seed < first + trees_runs(40); seed++) {
		struct ftr_rng rng;
		struct ftr_pgft g;
		struct setup x;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		begin(&x, trees_grow(&g, seed, 0), 1 + (unsigned int)seed % 2);
		for (unsigned int i = 0; i < 6; i++) {
			ftr_sw s = ftr_rng_below(&rng, x.f->n_sw);
			struct ftr_hop e = { s,
				(ftr_port)(1 + ftr_rng_below(&rng,
							     x.f->sw[s].n_ports)) };
			struct ftr_ddlr_plan p;

			if (ftr_fabric_port(x.f, s, e.port)->peer_kind !=
			    FTR_PEER_SW)
				continue;
			ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
			for (uint32_t k = 0; k < p.n; k++) {
				const struct ftr_change *w = &p.write[k];
				const struct ftr_change *b = w - 1;
				uint8_t *at = &ftr_tables_row(x.t, w->sw)[w->lid];

				ck_assert_uint_eq(*at, w->before);
				ck_assert_uint_ne(w->before, w->after);
				ck_assert_uint_ge(w->step, 1);
				ck_assert(!k || b->step < w->step ||
					  (b->step == w->step &&
					   (b->sw < w->sw ||
					    (b->sw == w->sw &&
					     b->lid < w->lid))));
				*at = w->after;
			}
			ck_assert(!memcmp(ftr_ddlr_tables(x.r)->lft,
					  x.t->lft,
					  (size_t)x.t->n_sw * x.t->stride));
			ftr_ddlr_plan_fini(&p);
		}
		end(&x);
	}
}
END_TEST

static uint32_t count_hops(const struct ftr_fabric *f, const struct ftr_tables *t,
			   ftr_sw s, ftr_lid lid)
{
	const struct ftr_endport *to = &f->ep[f->owner[lid].idx];

	for (uint32_t hops = 0; hops <= f->n_sw; hops++) {
		const struct ftr_swport *port;
		ftr_port p = ftr_tables_get(t, s, lid);

		if (s == to->sw)
			return p == to->sw_port ? hops : UINT32_MAX;
		port = p && p <= f->sw[s].n_ports ? ftr_fabric_port(f, s, p) : NULL;
		if (!port || port->peer_kind != FTR_PEER_SW)
			return UINT32_MAX;
		s = port->peer;
	}
	return UINT32_MAX;
}

/* Returns true if the path from `from` to lid by the tables t passes s. */
static bool passes(const struct setup *x, const struct ftr_tables *t, ftr_sw from, ftr_sw s,
		   ftr_lid lid)
{
	for (uint32_t hops = 0; from != FTR_SW_NONE && from != s && hops <= x->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(t, from, lid);
		const struct ftr_swport *port = p && p <= x->f->sw[from].n_ports ?
			ftr_fabric_port(x->f, from, p) : NULL;

		from = port && port->peer_kind == FTR_PEER_SW ? port->peer : FTR_SW_NONE;
	}
	return from == s;
}

/* Returns the upward port of the leaf, other than `dead`, with the shortest path to lid.  Among
 * ports with equally short paths it is the port with the least load, then the first in the order
 * of groups. */
static ftr_port best_port(const struct setup *x, ftr_sw leaf, ftr_port dead, ftr_lid lid,
			  const uint32_t *load)
{
	const struct ftr_shape_tree *tree = &x->sh->tree;
	ftr_port best = FTR_PORT_NONE;
	uint32_t least = UINT32_MAX;

	for (uint32_t k = tree->group_first[leaf]; k < tree->group_first[leaf + 1]; k++)
		for (uint32_t i = 0; i < tree->groups[k].n; i++) {
			ftr_port p = tree->group_ports[tree->groups[k].first + i];
			uint32_t hops = count_hops(x->f, x->t, tree->groups[k].remote, lid);

			ck_assert(tree->rank[tree->groups[k].remote] > tree->rank[leaf]);
			if (p == dead || hops > least ||
			    passes(x, x->t, tree->groups[k].remote, leaf, lid) ||
			    (hops == least && load[p] >= load[best]))
				continue;
			least = hops;
			best = p;
		}
	return best;
}

/* Draw a leaf with a host.  Store in *e the failure of its first upward link.  Returns false if 100
 * draws find no such leaf. */
static bool draw_link_of_leaf(const struct setup *x, struct ftr_rng *rng, struct ftr_hop *e)
{
	const struct ftr_shape_tree *tree = &x->sh->tree;

	for (int i = 0; i < 100 && x->f->n_ep; i++) {
		ftr_sw s = x->f->ep[ftr_rng_below(rng, x->f->n_ep)].sw;

		if (s == FTR_SW_NONE || tree->rank[s] || !tree->n_up[s])
			continue;
		*e = (struct ftr_hop){ s,
			tree->group_ports[tree->groups[tree->group_first[s]].first] };
		return true;
	}
	return false;
}

static const struct ftr_change *find_write(const struct ftr_ddlr_plan *p, ftr_sw s,
						uint32_t lid)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->write[i].sw == s && p->write[i].lid == lid)
			return &p->write[i];
	return NULL;
}

/* Compare the leaf's new entries for hosts with those of best_port(), in the order in which the
 * planner repairs them.  Returns the number of compared entries. */
static uint32_t compare_with_search(const struct setup *x, const struct ftr_hop *e,
				    const struct ftr_ddlr_plan *p)
{
	uint32_t load[256] = { 0 }, n = 0;

	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++) {
		const struct ftr_change *w = find_write(p, e->sw, lid);

		/* if another switch has the broken entry, a repair by sftree's inverted order may
		 * change the leaf's entry, too */
		if (w && w->step == 1 && w->before == e->port) {
			ck_assert_int_eq(w->how, FTR_HOW_NEXT);
			ck_assert_msg(w->after == best_port(x, e->sw, e->port, w->lid, load),
				      "LID %u of %s: port %u, should be %u", w->lid,
				      x->f->sw[e->sw].name, w->after,
				      best_port(x, e->sw, e->port, w->lid, load));
			n++;
		}
		if (w)
			load[w->after]++;
	}
	return n;
}

/* If an upward link of a leaf fails, the leaf must use the neighbours with the shortest paths.  If
 * several have equally short paths, each must get about as many LIDs.  The trees are damaged, so
 * that paths differ in length.  In the undamaged tree 90 entries lead onto the link, so
 * search_prepare() is called for the leaf (broken.c). */
START_TEST(best_neighbours)
{
	uint64_t first = trees_first_seed();
	uint32_t n = 0;

	for (uint64_t seed = first; seed < first + trees_runs(800); seed++) {
		struct ftr_hop e;
		struct ftr_ddlr_plan p;
		struct ftr_rng rng;
		struct setup x;

		ftr_rng_seed(&rng, seed);
		begin_with(&x, trees_damaged(grow("4;16,3,2,3;1,3,2,3;1,1,1,1"), &rng, 50), 1, true);
		if (draw_link_of_leaf(&x, &rng, &e)) {
			ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
			/* if a detour was refused, it could have been the best one */
			n += p.refused ? 0 : compare_with_search(&x, &e, &p);
			ftr_ddlr_plan_fini(&p);
		}
		end(&x);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

static bool hosts_pass(const struct setup *x, const struct ftr_tables *t, ftr_sw s, ftr_lid lid)
{
	for (ftr_ep e = 0; e < x->f->n_ep; e++)
		if (passes(x, t, x->f->ep[e].sw, s, lid))
			return true;
	return false;
}

/* Returns the switch whose entry for lid leads onto the link of e, or FTR_SW_NONE. */
static ftr_sw broken_at(const struct setup *x, const struct ftr_hop *e, ftr_lid lid)
{
	const struct ftr_swport *link = ftr_fabric_port(x->f, e->sw, e->port);

	if (ftr_tables_get(x->t, e->sw, lid) == e->port)
		return e->sw;
	return ftr_tables_get(x->t, link->peer, lid) == link->peer_port ? link->peer : FTR_SW_NONE;
}

/* Returns true if packets from hosts to lid pass s before or after the repair, or if s is on the
 * new path from a switch that sent such packets onto one of the n dead links e. */
static bool is_needed(const struct setup *x, const struct ftr_hop *e, uint32_t n, ftr_sw s,
		      ftr_lid lid)
{
	const struct ftr_tables *now = ftr_ddlr_tables(x->r);
	bool needed = hosts_pass(x, x->t, s, lid) || hosts_pass(x, now, s, lid);

	for (uint32_t i = 0; !needed && i < n; i++) {
		ftr_sw broken = broken_at(x, &e[i], lid);

		needed = broken != FTR_SW_NONE && hosts_pass(x, x->t, broken, lid) &&
			passes(x, now, broken, s, lid);
	}
	return needed;
}

/* Check the plan p, which repairs the last of the n failed links e.  Returns the number of entries
 * that still lead onto this link.  Packets from hosts to hosts must not use these entries, unless
 * the plan says that it leaves entries unrepaired. */
static uint32_t check_paths_of_hosts(const struct setup *x, const struct ftr_hop *e, uint32_t n,
				     const struct ftr_ddlr_plan *p)
{
	const struct ftr_hop *last = &e[n - 1];
	const struct ftr_swport *link = ftr_fabric_port(x->f, last->sw, last->port);
	const struct ftr_tables *now = ftr_ddlr_tables(x->r);
	uint32_t broken = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ftr_change *w = &p->write[i];

		ck_assert_int_eq(x->f->owner[w->lid].kind, FTR_OWNER_EP);
		/* a repair by sftree's inverted order changes the entries of all switches */
		ck_assert_msg(w->how == FTR_HOW_INVERTED || is_needed(x, e, n, w->sw, w->lid),
			      "%s: the entry for LID %u is changed, but no packets from hosts use it",
			      x->f->sw[w->sw].name, w->lid);
	}
	for (uint32_t i = 1; i <= 2u * x->f->max_lid; i++) {
		ftr_lid lid = (ftr_lid)((i + 1) / 2);
		ftr_sw end = i % 2 ? last->sw : link->peer;

		if (ftr_tables_get(now, end, lid) != (i % 2 ? last->port : link->peer_port))
			continue;
		broken++;
		ck_assert(p->unrepaired || x->f->owner[lid].kind != FTR_OWNER_EP ||
			  !hosts_pass(x, now, end, lid));
	}
	return broken;
}

static struct ftr_hop draw_link(const struct ftr_fabric *f, struct ftr_rng *rng)
{
	struct ftr_hop e = { 0, 0 };

	do {
		e.sw = ftr_rng_below(rng, f->n_sw);
		e.port = (ftr_port)(1 + ftr_rng_below(rng, f->sw[e.sw].n_ports));
	} while (ftr_fabric_port(f, e.sw, e.port)->peer_kind != FTR_PEER_SW);
	return e;
}

/* With the option `host_paths_only`, a repair must change all entries onto the dead link that
 * packets from hosts to hosts use, and no entry that these packets do not use.  Two links fail, one
 * after the other. */
START_TEST(only_paths_of_hosts)
{
	static const char *const tree[] = { "4;3,3,2,3;1,3,2,3;1,1,1,1", "kary:3,3" };
	uint64_t first = trees_first_seed();
	uint32_t n = 0;

	for (uint64_t seed = first; seed < first + trees_runs(100); seed++) {
		struct ftr_hop e[2];
		struct ftr_rng rng;
		struct setup x;

		ftr_rng_seed(&rng, seed);
		begin_with(&x, trees_damaged(grow(tree[seed % 2]), &rng, seed % 3 * 10),
			   1 + seed / 2 % 2, true);
		for (uint32_t i = 0; i < 2; i++) {
			struct ftr_ddlr_plan p;

			e[i] = draw_link(x.f, &rng);
			ck_assert(!ftr_ddlr_events(x.r, &e[i], 1, &p, &err));
			n += check_paths_of_hosts(&x, e, i + 1, &p);
			ftr_ddlr_plan_fini(&p);
			memcpy(x.t->lft, ftr_ddlr_tables(x.r)->lft,
			       (size_t)x.t->n_sw * x.t->stride);
		}
		end(&x);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

START_TEST(guarantees)
{
	static const struct {
		const char *tree;
		uint32_t k, faults, n_weakest;
	} known[] = {
		{ "kary:2,3", 2, 1, 8 }, { "kary:4,3", 4, 3, 32 },
		{ "2;4,6;1,4;1,2", 4, 3, 6 }, { "3;4,4,4;1,2,3;1,1,1", 2, 1, 16 },
		{ "3;4,4,4;1,4,2;1,1,1", 2, 1, 16 }, { "2;4,6;1,1;1,4", 1, 0, 6 },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(known); i++) {
		struct ftr_guarantee g;
		struct setup x;

		begin(&x, grow(known[i].tree), 1);
		ftr_ddlr_guarantee(x.r, &g);
		ck_assert_uint_eq(g.k, known[i].k);
		ck_assert_uint_eq(g.faults, known[i].faults);
		ck_assert_uint_eq(g.n_weakest, known[i].n_weakest);
		ck_assert_uint_eq(g.clean, known[i].k);
		end(&x);
	}
}
END_TEST

/* The number of faults for which repairs are guaranteed must follow from the leaf with the fewest
 * upward links.  For a fabric of one switch it must be 0. */
START_TEST(slim_leaf)
{
	struct ftr_guarantee g;
	struct ftr_ddlr_plan p;
	struct setup x;

	begin(&x, draw("A: s t u h2\nB: s t u h2\nC: s t h2\ns:\nt:\nu:\n"), 1);
	ftr_ddlr_guarantee(x.r, &g);
	ck_assert_uint_eq(g.k, 2);
	ck_assert_uint_eq(g.faults, 1);
	ck_assert_uint_eq(g.weakest, draw_sw(x.f, "C"));
	ck_assert_uint_eq(g.n_weakest, 1);
	end(&x);
	/* a failed switch does not count */
	begin(&x, draw("A: s t u h2\nB: s h2\nC: s t\ns:\nt:\nu:\n"), 1);
	ftr_ddlr_guarantee(x.r, &g);
	ck_assert_uint_eq(g.k, 1);
	ck_assert_uint_eq(g.weakest, draw_sw(x.f, "B"));
	ck_assert(!ftr_ddlr_events(x.r, &(struct ftr_hop){ draw_sw(x.f, "B"), 0 }, 1, &p, &err));
	ftr_ddlr_plan_fini(&p);
	ftr_ddlr_guarantee(x.r, &g);
	ck_assert_uint_ne(g.weakest, draw_sw(x.f, "B"));
	end(&x);
	begin(&x, draw("A: h3\n"), 1);
	ftr_ddlr_guarantee(x.r, &g);
	ck_assert_uint_eq(g.faults, 0);
	ck_assert_uint_eq(g.weakest, FTR_SW_NONE);
	end(&x);
}
END_TEST

/* A has links into two planes: one contains s and t, the other u and v.  One link of A fails, and
 * all switches change to new tables.  After that, both planes must be clean: no local repair leads
 * packets away from them. */
START_TEST(plane_with_a_dead_link)
{
	static const char *const above[] = { "s", "t", "u", "v" };

	for (size_t i = 0; i < FTR_ARRAY_LEN(above); i++) {
		struct ftr_shape *sh = NULL;
		struct ftr_tables *to = NULL;
		struct ftr_fabric *cut;
		struct ftr_guarantee g;
		struct ftr_ddlr_plan p;
		struct setup x;

		begin(&x, draw("A: s t u v h2\nB: s t u v h2\nC: k l m n h2\nD: k l m n h2\n"
			       "s: x y\nt: x y\nk: x y\nl: x y\n"
			       "u: w z\nv: w z\nm: w z\nn: w z\nw:\nx:\ny:\nz:\n"), 1);
		ftr_ddlr_guarantee(x.r, &g);
		ck_assert_uint_eq(g.clean, 2);
		ck_assert_uint_eq(g.faults, 1);
		cut = draw_cut(x.f, "A", above[i], 0);
		ck_assert(!ftr_ddlr_to(x.r, cut, &p, &err));
		ftr_ddlr_plan_fini(&p);
		ftr_ddlr_drained(x.r);
		ck_assert(!ftr_shape_new(cut, NULL, NULL, &sh, &err));
		ck_assert(!ftr_tables_new(cut, false, &to, &err));
		ck_assert(!ftr_engine_find("ddlr")->route(sh, NULL, NULL, to, NULL, &err));
		ck_assert(!ftr_ddlr_transition(x.r, cut, to, &p, &err));
		ck_assert(p.done);
		ftr_ddlr_plan_fini(&p);
		ftr_ddlr_guarantee(x.r, &g);
		ck_assert_uint_eq(g.clean, 2);
		ck_assert_uint_eq(g.faults, 1);
		ftr_tables_free(to);
		ftr_shape_free(sh);
		ftr_fabric_free(cut);
		end(&x);
	}
}
END_TEST

START_TEST(invalid_arguments)
{
	struct ftr_hop e = { 0, 0 };
	struct ftr_ddlr_plan p;
	struct ftr_fabric *other = draw("Z: h2\n");
	struct ftr_tables *t = NULL;
	struct ftr_ddlr *r = NULL;
	struct setup x;

	begin(&x, grow("kary:2,2"), 1);
	e.port = 255;
	ck_assert_int_eq(ftr_ddlr_events(x.r, &e, 1, &p, &err), FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "port 255: no link to a switch"));
	e.sw = x.f->ep[0].sw;
	e.port = x.f->ep[0].sw_port;	/* a host */
	ck_assert_int_eq(ftr_ddlr_events(x.r, &e, 1, &p, &err), FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "no link to a switch"));
	e.sw = x.f->n_sw;
	ck_assert_int_eq(ftr_ddlr_events(x.r, &e, 1, &p, &err), FTR_INVAL);
	e = link_of(x.sh, 0, 0);
	ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
	ftr_ddlr_plan_fini(&p);
	/* a second event changes nothing */
	ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
	ck_assert_uint_eq(p.n, 0);
	ftr_ddlr_plan_fini(&p);
	/* tables of another fabric are refused */
	ck_assert(!ftr_tables_new(other, true, &t, &err));
	ck_assert_int_eq(ftr_ddlr_new(x.sh, t, NULL, false, &r, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_ddlr_transition(x.r, other, t, &p, &err),
			 FTR_INVAL);
	ck_assert_int_eq(ftr_ddlr_transition(x.r, other, x.t, &p, &err),
			 FTR_INVAL);
	ftr_tables_free(t);
	ftr_fabric_free(other);
	ftr_ddlr_free(NULL);
	end(&x);
}
END_TEST

/* Two leaves and a spine of 4 ports; the present fabric has another link at port 2 of leaf 0, or no such
 * port. */
static struct ftr_fabric *two_leaves(uint32_t ports, uint32_t spine_port, bool across)
{
	struct net n = net_new(3, ports, true, 0);

	net_host(&n, 0, 1);
	net_host(&n, 1, 1);
	net_host(&n, FTR_SW_NONE, 0);
	ck_assert(!ftr_builder_add_endport(n.b, &(struct ftr_endport){	/* no LID, no path */
		.type = FTR_NODE_CA, .node_guid = 2000, .guid = 2000, .port_num = 1,
	}, &err));
	if (ports > 2)
		ck_assert(!ftr_builder_add_link(n.b, (struct ftr_end){ 3, 4 },
						(struct ftr_end){ 2000, 1 }, 4, FTR_SPEED_EDR, &err));
	if (across)
		net_link(&n, 0, 2, 1, 1 + spine_port);
	else if (ports > 1)
		net_link(&n, 0, 2, 2, spine_port);
	if (ports > 1 && !across)
		net_link(&n, 1, 2, 2, 2);
	ck_assert(!ftr_builder_freeze(n.b, &n.f, &err));
	return n.f;
}

/* A link at another port, or to another switch, is not the same link.  The planner has one event for it,
 * or two, if the link of leaf 1 is missing, too.  A switch with fewer ports is refused later. */
START_TEST(other_links)
{
	struct ftr_fabric *now[] = {
		two_leaves(4, 1, false), two_leaves(4, 3, false), two_leaves(4, 1, true),
		two_leaves(1, 1, false),
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(now); i++) {
		struct ftr_ddlr_plan p;
		struct ftr_tables *t;
		struct setup x;

		begin(&x, two_leaves(4, 1, false), 1);
		ck_assert(!ftr_ddlr_to(x.r, now[i], &p, &err));
		ck_assert(i ? p.unrepaired > 0 : !p.unrepaired);	/* there is no other path */
		ftr_ddlr_plan_fini(&p);
		ck_assert(!ftr_tables_new(now[i], true, &t, &err));
		ck_assert_int_eq(ftr_ddlr_transition(x.r, now[i], t, &p, &err),
				 i == 3 ? FTR_INVAL : FTR_OK);
		if (i == 3)
			ck_assert_str_eq(err.msg, "a switch has 1 ports now, but had 4 before");
		else
			ftr_ddlr_plan_fini(&p);
		t->max_lid--;
		ck_assert_int_eq(ftr_ddlr_transition(x.r, now[i], t, &p, &err), FTR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "do not fit a fabric of 3 switches"));
		t->max_lid++;
		ftr_tables_free(t);
		ftr_fabric_free(now[i]);
		end(&x);
	}
}
END_TEST

/* Two planners must make the same plan for a fault.  One gets the event, the other gets the damaged
 * fabric. */
START_TEST(equal_planners)
{
	struct ftr_fabric *cut;
	struct ftr_hop e;
	struct ftr_ddlr_plan p, q;
	struct setup x, y;

	begin(&x, grow("kary:3,3"), 2);
	begin(&y, grow("kary:3,3"), 2);
	e = link_of(x.sh, 1, 3);
	cut = draw_cut(x.f, x.f->sw[e.sw].name,
		       x.f->sw[ftr_fabric_port(x.f, e.sw, e.port)->peer].name,
		       0);
	ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
	ck_assert(!ftr_ddlr_to(y.r, cut, &q, &err));
	ck_assert_uint_eq(p.n, q.n);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct ftr_change *a = &p.write[i];
		const struct ftr_change *b = &q.write[i];

		ck_assert(a->sw == b->sw && a->lid == b->lid &&
			  a->before == b->before && a->after == b->after &&
			  a->step == b->step && a->how == b->how);
	}
	ftr_ddlr_plan_fini(&p);
	ftr_ddlr_plan_fini(&q);
	ftr_fabric_free(cut);
	end(&x);
	end(&y);
}
END_TEST

/* Random links of the real fabrics fail.  The checker runs after each repair. */
START_TEST(real_fabrics)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct ftr_fabric *f = trees_real(trees_real_files[i]);
		struct ftr_check_opts co = { .switch_sources = true };
		struct ftr_check_report after;
		struct ftr_cdg_opts o = { .switch_sources = true };
		struct ftr_rng rng;
		struct setup x;

		if (!f)
			continue;
		begin(&x, f, 2);
		ftr_rng_seed(&rng, 1);
		o.sl2vl = co.sl2vl = x.m;
		for (unsigned int k = 0; k < 12;) {
			ftr_sw s = ftr_rng_below(&rng, f->n_sw);
			struct ftr_hop e = { s,
				(ftr_port)(1 + ftr_rng_below(&rng,
							     f->sw[s].n_ports)) };
			struct ftr_ddlr_plan p;

			if (ftr_fabric_port(f, s, e.port)->peer_kind !=
			    FTR_PEER_SW)
				continue;
			k++;
			ck_assert(!ftr_ddlr_events(x.r, &e, 1, &p, &err));
			co.switch_sources = !p.hosts_only;
			ck_assert(!ftr_check_tables(f, ftr_ddlr_tables(x.r),
						    &co, NULL, &after, &err));
			ck_assert_int_ne(after.cdg, FTR_CDG_CYCLE);
			ck_assert_uint_eq(after.found[FTR_FIND_LOOP], 0);
			printf("%s: %u writes, %u switches, %llu entries not repaired\n",
			       trees_real_files[i], p.n, p.n_switches,
			       (unsigned long long)p.unrepaired);
			ftr_ddlr_plan_fini(&p);
			ftr_ddlr_free(x.r);
			x.r = NULL;
			ck_assert(!ftr_ddlr_new(x.sh, x.t, &o, false, &x.r, &err));
		}
		end(&x);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("repair");
	TCase *t = tcase_create("repair");

	tcase_add_test(t, three_switches);
	tcase_add_test(t, parallel_links_first);
	tcase_add_test(t, plans_are_in_order);
	tcase_add_test(t, best_neighbours);
	tcase_add_test(t, only_paths_of_hosts);
	tcase_add_test(t, guarantees);
	tcase_add_test(t, slim_leaf);
	tcase_add_test(t, plane_with_a_dead_link);
	tcase_add_test(t, invalid_arguments);
	tcase_add_test(t, equal_planners);
	tcase_add_test(t, other_links);
	tcase_add_test(t, real_fabrics);
	suite_add_tcase(s, t);
	return run_suite(s);
}
