// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests single cases of ddlr's planner on fabrics of a few switches: a leaf switch without hosts, a
 * failed leaf switch while no detour exists, entries for one LID of which hosts need only some, new
 * tables with a cycle, and a planner that ignores packets from switches after a repair.  For random
 * fabrics and real ones see tests/prop/test_repair.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/draw.h"
#include "lib/suite.h"

static struct ftr_err err;

struct setup {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_ddlr *r;
	struct ftr_ddlr_plan p;
};

/* A planner on one VL.  nominal: see struct ftr_shape_opts. */
static void begin(struct setup *x, struct ftr_fabric *f, const struct ftr_shape *nominal,
		  bool switch_sources)
{
	*x = (struct setup){ .f = f };
	ck_assert(!ftr_shape_new(f, &(struct ftr_shape_opts){ .nominal = nominal }, NULL, &x->sh,
				 &err));
	ck_assert(!ftr_tables_new(f, false, &x->t, &err));
	ck_assert(!ftr_engine_find("ddlr")->route(x->sh, NULL, NULL, x->t, NULL, &err));
	ck_assert(!ftr_ddlr_new(x->sh, x->t,
				&(struct ftr_cdg_opts){ .switch_sources = switch_sources }, false,
				&x->r, &err));
}

static void end(struct setup *x)
{
	ftr_ddlr_free(x->r);
	ftr_tables_free(x->t);
	ftr_shape_free(x->sh);
	ftr_fabric_free(x->f);
}

/* The port of a that leads to b. */
static ftr_port port_of(const struct ftr_fabric *f, ftr_sw a, ftr_sw b)
{
	ftr_port p = 1;

	while (ftr_fabric_port(f, a, p)->peer_kind != FTR_PEER_SW ||
	       ftr_fabric_port(f, a, p)->peer != b)
		p++;
	return p;
}

/* The event that the link between two switches fails. */
static struct ftr_hop link_between(const struct setup *x, const char *a, const char *b)
{
	ftr_sw s = draw_sw(x->f, a);

	return (struct ftr_hop){ s, port_of(x->f, s, draw_sw(x->f, b)) };
}

static void events(struct setup *x, const struct ftr_hop *e, uint32_t n)
{
	ck_assert_msg(!ftr_ddlr_events(x->r, e, n, &x->p, &err), "%s", err.msg);
}

/* True if the current entries lead from a to the LID of a host on b, over no failed link. */
static bool leads(const struct setup *x, ftr_sw a, ftr_ep b, const struct ftr_hop *dead, uint32_t n)
{
	uint32_t *path = malloc(x->f->n_sw * sizeof(*path)), hops;
	bool ok;

	hops = ftr_tables_path(x->f, ftr_ddlr_tables(x->r), a, x->f->ep[b].lid, path);
	ok = hops != FTR_NO_PATH;
	for (uint32_t i = 0; ok && i < hops; i++)
		for (uint32_t k = 0; k < n; k++) {
			const struct ftr_swport *p = ftr_fabric_port(x->f, dead[k].sw, dead[k].port);

			ok &= path[i] != x->f->sw[dead[k].sw].first_port + dead[k].port &&
			      path[i] != x->f->sw[p->peer].first_port + p->peer_port;
		}
	free(path);
	return ok;
}

/* The number of entries for LIDs that lead onto a failed link. */
static uint32_t count_broken(const struct setup *x, const struct ftr_hop *dead, uint32_t n)
{
	uint32_t broken = 0;

	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++)
		for (uint32_t k = 0; k < n && x->f->owner[lid].kind != FTR_OWNER_NONE; k++) {
			const struct ftr_swport *p = ftr_fabric_port(x->f, dead[k].sw, dead[k].port);
			const struct ftr_tables *t = ftr_ddlr_tables(x->r);

			broken += ftr_tables_get(t, dead[k].sw, (ftr_lid)lid) == dead[k].port;
			broken += ftr_tables_get(t, p->peer, (ftr_lid)lid) == p->peer_port;
		}
	return broken;
}

/* The hosts of a leaf switch are missing, and it has fewer links than the others.  Packets from hosts
 * do not need them, so the guarantee does not depend on them. */
START_TEST(leaf_without_hosts)
{
	struct ftr_fabric *whole = draw("A: s t u h2\nB: s t u h2\nC: s h2\ns:\nt:\nu:\n");
	struct ftr_shape *nominal = NULL;
	struct ftr_guarantee g;
	struct setup x;

	for (int hosts = 1; hosts >= 0; hosts--) {
		ck_assert(!ftr_shape_new(whole, NULL, NULL, &nominal, &err));
		begin(&x, hosts ? draw("A: s t u h2\nB: s t u h2\nC: s h2\ns:\nt:\nu:\n") :
		      draw("A: s t u h2\nB: s t u h2\nC: s\ns:\nt:\nu:\n"), nominal, false);
		ck_assert_uint_eq(x.sh->tree.rank[draw_sw(x.f, "C")], 0);
		ftr_ddlr_guarantee(x.r, &g);
		ck_assert_uint_eq(g.k, hosts ? 1 : 3);
		ck_assert_uint_eq(g.n_weakest, hosts ? 1 : 2);
		ck_assert_uint_eq(g.weakest, draw_sw(x.f, hosts ? "C" : "A"));
		end(&x);
		ftr_shape_free(nominal);
	}
	ftr_fabric_free(whole);
}
END_TEST

/* B loses all its links, and leaf C fails with its hosts: sftree's tables of the damaged fabric are
 * tried, too, and do not reach B either. */
START_TEST(failed_leaf_and_no_detour)
{
	struct setup x;
	struct ftr_hop e[3];

	begin(&x, draw("A: s t h2\nB: s t h2\nC: s t h2\ns:\nt:\n"), NULL, false);
	e[0] = link_between(&x, "B", "s");
	e[1] = link_between(&x, "B", "t");
	e[2] = (struct ftr_hop){ draw_sw(x.f, "C"), 0 };
	events(&x, e, 3);
	/* s and t: entries for B and its two hosts; B: entries for A, its two hosts, s and t */
	ck_assert_uint_eq(x.p.unrepaired, 2 * 3 + 5);
	ck_assert_uint_eq(x.p.n, 0);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert(leads(&x, draw_sw(x.f, "A"), draw_host(x.f, "A", i), e, 2));
	ftr_ddlr_plan_fini(&x.p);
	end(&x);
}
END_TEST

/* Of the two broken entries for the host on B, packets from the host on A need only one.  It is
 * repaired; the other one, which only packets from a switch use, waits for the full routing, like
 * those for switches. */
START_TEST(needed_entries_first)
{
	struct setup x;
	struct ftr_hop e[2];
	ftr_sw a, s, t;
	ftr_ep b;

	begin(&x, draw("A: s t u h1\nB: s t u h1\ns:\nt:\nu:\n"), NULL, false);
	a = draw_sw(x.f, "A");
	b = draw_host(x.f, "B", 0);
	ck_assert_uint_gt(x.f->ep[b].lid, x.f->ep[draw_host(x.f, "A", 0)].lid);
	s = ftr_fabric_port(x.f, a, ftr_tables_get(x.t, a, x.f->ep[b].lid))->peer;
	t = draw_sw(x.f, s == draw_sw(x.f, "t") ? "u" : "t");
	e[0] = (struct ftr_hop){ s, port_of(x.f, s, draw_sw(x.f, "B")) };
	e[1] = (struct ftr_hop){ t, port_of(x.f, t, draw_sw(x.f, "B")) };
	events(&x, e, 2);
	ck_assert(leads(&x, a, b, e, 2) && leads(&x, s, b, e, 2) && !leads(&x, t, b, e, 2));
	ck_assert_uint_gt(x.p.unrepaired, 0);
	ck_assert_uint_eq(x.p.unrepaired, count_broken(&x, e, 2));
	ftr_ddlr_plan_fini(&x.p);
	end(&x);
}
END_TEST

/* The entries of t and r for a LID lead in a circle, in which no packets are. */
static void make_circle(struct setup *x, ftr_sw t, ftr_sw r, ftr_lid lid)
{
	ftr_ddlr_free(x->r);
	ftr_tables_row(x->t, t)[lid] = port_of(x->f, t, r);
	ftr_tables_row(x->t, r)[lid] = port_of(x->f, r, t);
	ck_assert(!ftr_ddlr_new(x->sh, x->t, NULL, false, &x->r, &err));
}

/* The entries of t and r for the host on B lead in a circle.  When the link
 * from A to s fails, A does not turn to t, which would be the first choice, but to u. */
START_TEST(neighbour_in_a_circle)
{
	struct setup x;
	struct ftr_hop e;
	ftr_sw a, b, s, t = FTR_SW_NONE, u = FTR_SW_NONE, r, other;
	ftr_lid lid;

	begin(&x, draw("A: s t u h1\nB: s t u h1\ns: r\nt: r\nu: r\nr:\n"), NULL, false);
	a = draw_sw(x.f, "A");
	b = draw_sw(x.f, "B");
	r = draw_sw(x.f, "r");
	lid = x.f->ep[draw_host(x.f, "B", 0)].lid;
	s = ftr_fabric_port(x.f, a, ftr_tables_get(x.t, a, lid))->peer;
	for (ftr_sw k = 0; k < x.f->n_sw; k++)
		if (k != a && k != b && k != r && k != s) {
			u = t;
			t = k;
		}
	for (int circle = 0; circle < 2; circle++) {
		/* the first choice is that without a circle */
		if (circle)
			make_circle(&x, t, r, lid);
		e = (struct ftr_hop){ a, port_of(x.f, a, s) };
		events(&x, &e, 1);
		ck_assert(leads(&x, a, draw_host(x.f, "B", 0), &e, 1));
		other = ftr_fabric_port(x.f, a, ftr_tables_get(ftr_ddlr_tables(x.r), a, lid))->peer;
		if (circle) {
			ck_assert_uint_eq(other, u);
		} else if (other == u) {
			u = t;
			t = other;
		}
		ftr_ddlr_plan_fini(&x.p);
	}
	end(&x);
}
END_TEST

static void transition(struct setup *x, const struct ftr_tables *to)
{
	ck_assert(!ftr_ddlr_transition(x->r, x->f, to, &x->p, &err));
}

/* A new entry of A would lead into the circle of t and r.  A keeps its entry; another new entry of A is
 * written. */
START_TEST(new_entry_into_a_circle)
{
	struct setup x;
	ftr_sw a, s, t, u;
	ftr_lid lid;
	ftr_ep b;

	begin(&x, draw("A: s t u h1\nB: s t u h1\ns: r\nt: r\nu: r\nr:\n"), NULL, false);
	a = draw_sw(x.f, "A");
	b = draw_host(x.f, "B", 0);
	lid = x.f->ep[b].lid;
	s = ftr_fabric_port(x.f, a, ftr_tables_get(x.t, a, lid))->peer;
	t = draw_sw(x.f, s == draw_sw(x.f, "t") ? "s" : "t");
	u = draw_sw(x.f, s == draw_sw(x.f, "u") ? "s" : "u");
	make_circle(&x, t, draw_sw(x.f, "r"), lid);
	ftr_tables_row(x.t, a)[lid] = port_of(x.f, a, t);
	transition(&x, x.t);
	ck_assert(x.p.done && !x.p.n);
	ck_assert(leads(&x, a, b, NULL, 0));
	ftr_ddlr_plan_fini(&x.p);
	ftr_tables_row(x.t, a)[lid] = port_of(x.f, a, u);
	transition(&x, x.t);
	ck_assert_uint_eq(x.p.n, 1);
	ck_assert(leads(&x, a, b, NULL, 0));
	ftr_ddlr_plan_fini(&x.p);
	end(&x);
}
END_TEST

/* New tables lead all packets around a ring, which closes a cycle.  Some LIDs are held.  The transition
 * is complete only if packets have been drained and nothing changes any more. */
START_TEST(held_until_drained)
{
	struct ftr_tables *to = NULL;
	struct setup x;

	begin(&x, draw("A: B h1\nB: C h1\nC: D h1\nD: E h1\nE: A h1\n"), NULL, false);
	ck_assert(!ftr_tables_new(x.f, false, &to, &err));
	memcpy(to->lft, x.t->lft, (size_t)to->n_sw * to->stride);
	for (ftr_sw s = 0; s < 5; s++)
		for (ftr_ep e = 0; e < x.f->n_ep; e++)
			if (x.f->ep[e].sw != s)
				ftr_tables_row(to, s)[x.f->ep[e].lid] = port_of(x.f, s, (s + 1) % 5);
	transition(&x, to);
	ck_assert(x.p.n && x.p.held && !x.p.done);
	for (int i = 0; i < 3; i++) {		/* no packets are drained */
		ftr_ddlr_plan_fini(&x.p);
		transition(&x, to);
		ck_assert(x.p.held && !x.p.done);
	}
	ck_assert_uint_eq(x.p.n, 0);
	while (!x.p.done) {
		ftr_ddlr_plan_fini(&x.p);
		ftr_ddlr_drained(x.r);
		transition(&x, to);
		ck_assert(x.p.held && x.p.done == !x.p.n);
	}
	ftr_ddlr_plan_fini(&x.p);
	ftr_tables_free(to);
	end(&x);
}
END_TEST

/* Detours for packets between hosts would close cycles with those of packets from switches.  So the
 * planner ignores packets from switches from then on, and repairs all paths between hosts. */
START_TEST(switches_are_ignored)
{
	uint32_t ignored = 0, n_sw = 1;
	struct setup x;

	for (ftr_sw s = 0; s < n_sw; s++) {
		struct ftr_fabric *f = NULL;
		struct ftr_hop e = { s, 1 };

		ck_assert(!ftr_gen_shape(_i ? "3;2,2,2;1,2,2;1,1,1" : "3;3,3,3;1,3,3;1,1,1", NULL, &f,
					 &err));
		n_sw = f->n_sw;
		begin(&x, f, NULL, true);
		while (ftr_fabric_port(f, s, e.port)->peer_kind != FTR_PEER_SW)
			e.port++;
		events(&x, &e, 1);
		ignored += x.p.hosts_only;
		for (ftr_ep a = 0; a < f->n_ep; a++)
			for (ftr_ep b = 0; b < f->n_ep; b++)
				ck_assert(leads(&x, f->ep[a].sw, b, &e, 1));
		ftr_ddlr_plan_fini(&x.p);
		end(&x);
	}
	ck_assert_uint_gt(ignored, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ddlr, single cases");
	TCase *t = tcase_create("all");

	tcase_add_test(t, leaf_without_hosts);
	tcase_add_test(t, failed_leaf_and_no_detour);
	tcase_add_test(t, needed_entries_first);
	tcase_add_test(t, neighbour_in_a_circle);
	tcase_add_test(t, new_entry_into_a_circle);
	tcase_add_test(t, held_until_drained);
	tcase_add_loop_test(t, switches_are_ignored, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
