// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests which new switch gets the place of a missing one (src/core/shape/replace.c), if several new
 * switches or several places come into question, and what becomes of hosts that move, lose their links,
 * or were connected to a switch that is dropped.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "grown.h"
#include "lib/suite.h"

/* ---- places --------------------------------------------------------------------- */

/* A link of a new switch: its port `own` is connected to a port of a leaf switch.  Ports 1 and 2 of a
 * leaf lead to t1 and t2 in the nominal fabric, to their ports 1 (A) to 4 (D). */
struct link {
	unsigned int sw;	/* 0: end of the list */
	const char *leaf;
	unsigned int port, own;
};

static const struct claims {
	const char *missing[2];
	const char *cut;	/* the link from this leaf to t2 is missing */
	struct link link[9];
	unsigned int n_new;	/* number of new switches */
	unsigned int t1, t2;	/* the new switches that get the places; 0: none */
} claims[] = {
	/* more links decide */
	{ { "t1" }, NULL, { { 1, "A", 1, 1 }, { 1, "B", 1, 2 }, { 1, "C", 1, 3 }, { 2, "D", 1, 4 } },
		2, 1, 0 },
	{ { "t1" }, NULL, { { 2, "A", 1, 1 }, { 2, "B", 1, 2 }, { 2, "C", 1, 3 }, { 1, "D", 1, 4 } },
		2, 2, 0 },
	/* then links at nominal ports */
	{ { "t1" }, NULL, { { 1, "A", 1, 1 }, { 1, "B", 1, 2 }, { 2, "C", 1, 23 }, { 2, "D", 1, 24 } },
		2, 1, 0 },
	{ { "t1" }, NULL, { { 2, "A", 1, 1 }, { 2, "B", 1, 2 }, { 1, "C", 1, 23 }, { 1, "D", 1, 24 } },
		2, 2, 0 },
	/* two equal claims, and three */
	{ { "t1" }, NULL, { { 1, "A", 1, 1 }, { 1, "B", 1, 2 }, { 2, "C", 1, 3 }, { 2, "D", 1, 4 } },
		2, 0, 0 },
	{ { "t1" }, NULL, { { 1, "A", 1, 1 }, { 2, "B", 1, 2 }, { 3, "C", 1, 3 } }, 3, 0, 0 },
	/* half of the votes for each place, and three votes for one of them */
	{ { "t1", "t2" }, NULL, { { 1, "A", 1, 1 }, { 1, "B", 2, 2 }, { 1, "B", 1, 21 },
				  { 1, "A", 2, 22 } }, 1, 0, 0 },
	{ { "t1", "t2" }, NULL, { { 1, "A", 2, 1 }, { 1, "B", 1, 2 }, { 1, "C", 1, 3 },
				  { 1, "D", 1, 4 } }, 1, 1, 0 },
	{ { "t1", "t2" }, NULL, { { 1, "A", 2, 1 }, { 1, "B", 2, 2 }, { 1, "C", 2, 3 },
				  { 1, "D", 1, 4 } }, 1, 0, 1 },
	/* t2 has its place, so a link to its port is a vote against all places */
	{ { "t1" }, "A", { { 1, "A", 2, 1 }, { 1, "B", 1, 2 }, { 1, "C", 1, 3 } }, 1, 1, 0 },
	{ { "t1" }, "A", { { 1, "A", 2, 1 }, { 1, "B", 1, 2 } }, 1, 0, 0 },
};

/* Free f and return a copy without a switch, or without a link from a leaf to t2. */
static struct ftr_fabric *without(struct ftr_fabric *f, const char *sw, const char *cut)
{
	struct edit e = EDIT_NOTHING;
	struct ftr_fabric *copy;

	if (sw)
		e.no_sw = draw_sw(f, sw);
	if (cut) {
		e.cut_sw = draw_sw(f, cut);
		e.cut_port = 2;
	}
	copy = edit_seal(edit_open(f, &e));
	ftr_fabric_free(f);
	return copy;
}

static void add_new(struct ftr_builder *b, const struct ftr_fabric *base, uint64_t sw)
{
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = sw, .n_ports = base->sw[draw_sw(base, "t1")].n_ports, .name = "new",
	}, &err));
}

/* The switch that has the place of t, or 0. */
static uint64_t holder_of(const struct ftr_fabric *f, const struct ftr_fabric *base, const char *t)
{
	ftr_sw s = ftr_fabric_find_sw(f, guid(base, t));

	return s == FTR_SW_NONE ? 0 : f->sw[s].holder;
}

START_TEST(contested_places)
{
	const struct claims *c = &claims[_i];
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b;
	unsigned int placed = (c->t1 > 0) + (c->t2 > 0);

	g.f = draw(tree);
	for (unsigned int i = 0; i < 2 && c->missing[i]; i++)
		g.f = without(g.f, c->missing[i], NULL);
	if (c->cut)
		g.f = without(g.f, NULL, c->cut);
	b = edit_open(g.f, &edit_nothing);
	for (unsigned int i = 1; i <= c->n_new; i++)
		add_new(b, g.base, 0x90000 + i);
	for (const struct link *l = c->link; l->sw; l++)
		edit_plug(b, guid(g.base, l->leaf), l->port, 0x90000 + l->sw, l->own);
	ftr_fabric_free(g.f);
	g.f = edit_seal(b);
	grow(&g);
	ck_assert_uint_eq(g.c.replaced_sw, placed);
	ck_assert_uint_eq(g.c.new_sw, c->n_new - placed);
	if (c->t1)
		ck_assert_uint_eq(holder_of(g.n->f, g.base, "t1"), 0x90000 + c->t1);
	if (c->t2)
		ck_assert_uint_eq(holder_of(g.n->f, g.base, "t2"), 0x90000 + c->t2);
	done(&g);
}
END_TEST

/* A new switch has the links of t1, but a host has t1's GUID.  So the place is not taken, and t1 is
 * dropped. */
START_TEST(guid_of_a_host)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b;

	g.f = without(draw(tree), "t1", NULL);
	b = edit_open(g.f, &edit_nothing);
	add_new(b, g.base, 0x90000);
	edit_plug(b, guid(g.base, "A"), 1, 0x90000, 1);
	edit_plug(b, guid(g.base, "B"), 1, 0x90000, 2);
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid(g.base, "t1"), .guid = 0x91000,
		.port_num = 1, .name = "host",
	}, &err));
	edit_plug(b, guid(g.base, "t1"), 1, guid(g.base, "D"), 30);
	ftr_fabric_free(g.f);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 1, 2, 1, 0);
	ck_assert_uint_eq(g.c.replaced_sw, 0);
	dropped(&g, 1, 4, 0);
	ck_assert_uint_eq(ftr_fabric_find_sw(g.n->f, guid(g.base, "t1")), FTR_SW_NONE);
	done(&g);
}
END_TEST

/* t9 had the place of t1 and is missing now.  t1 is back with one link, at a port where no switch was.
 * The place has its GUID, so t1 gets it. */
START_TEST(back_at_another_port)
{
	struct ftr_fabric *base = draw(tree), *f, *g;
	struct ftr_nominal *n[3];
	struct ftr_nominal_change c;
	struct ftr_builder *b;

	n[0] = nominal_of(base, NULL, NULL);
	f = without(draw(tree), "t1", NULL);
	for (unsigned int back = 0; back < 2; back++) {
		b = edit_open(f, &edit_nothing);
		add_new(b, base, back ? guid(base, "t1") : 0x90000);
		for (unsigned int i = 0; !back && i < 4; i++)
			edit_plug(b, guid(base, (const char *[]){ "A", "B", "C", "D" }[i]), 1,
				  0x90000, i + 1);
		if (back)
			edit_plug(b, guid(base, "A"), 30, guid(base, "t1"), 9);
		g = edit_seal(b);
		n[back + 1] = nominal_of(g, n[back], &c);
		ck_assert_uint_eq(c.replaced_sw, 1);
		ck_assert_uint_eq(c.new_sw, 0);
		ck_assert_uint_eq(holder_of(n[back + 1]->f, base, "t1"),
				  back ? guid(base, "t1") : 0x90000);
		ftr_fabric_free(g);
	}
	for (unsigned int i = 0; i < 3; i++)
		ftr_nominal_free(n[i]);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
}
END_TEST

/* ---- hosts ---------------------------------------------------------------------- */

static struct ftr_endport without_lid(struct ftr_endport p)
{
	p.lid = 0;
	return p;
}

/* Remove the two hosts of A from the tree, and add them again: port[i] is the port of A to which host
 * i is connected, or 0. */
static struct ftr_builder *move_hosts(const struct ftr_fabric *base, const unsigned int *port)
{
	struct edit e = EDIT_NOTHING;
	struct ftr_fabric *f;
	struct ftr_builder *b;

	e.no_ep = draw_host(base, "A", 1);
	f = edit_seal(edit_open(base, &e));
	e.no_ep = draw_host(f, "A", 0);
	b = edit_open(f, &e);
	for (unsigned int i = 0; i < 2; i++) {
		struct ftr_endport p = without_lid(host(base, "A", i));

		ck_assert(!ftr_builder_add_endport(b, &p, &err));
		if (port[i])
			edit_plug(b, p.node_guid, p.port_num, guid(base, "A"), port[i]);
	}
	ftr_fabric_free(f);
	return b;
}

/* Two hosts change their ports. */
START_TEST(exchanged_hosts)
{
	struct grown g = { .base = draw(tree) };
	unsigned int port[] = { host(g.base, "A", 1).sw_port, host(g.base, "A", 0).sw_port };
	ftr_sw a;

	g.f = edit_seal(move_hosts(g.base, port));
	grow(&g);
	only(&g, 0, 0, 0, 2);
	dropped(&g, 0, 0, 2);
	missing(&g, 0, 0, 0);
	a = draw_sw(g.n->f, "A");
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_uint_eq(g.n->f->ep[ftr_fabric_port(g.n->f, a, (ftr_port)port[i])->peer].guid,
				  host(g.base, "A", i).guid);
	done(&g);
}
END_TEST

/* A host has lost its link, and a new link makes the nominal fabric grow.  The host is kept. */
START_TEST(host_without_its_link)
{
	struct grown g = { .base = draw(tree) };
	unsigned int port[] = { 0, host(g.base, "A", 1).sw_port };
	struct ftr_builder *b = move_hosts(g.base, port);

	edit_plug(b, guid(g.base, "B"), 30, guid(g.base, "t1"), 30);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 1, 0, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 0, 0, 1);
	ck_assert_uint_eq(g.n->f->n_ep, g.base->n_ep);
	done(&g);
}
END_TEST

/* All links of the present fabric contradict those of C, which is missing.  C is dropped, with its
 * hosts, and with its link to t2, which nothing contradicts. */
START_TEST(hosts_of_a_dropped_switch)
{
	struct grown g = { .base = draw("A: t1*4 t2 h2\nB: t1*4 t2 h2\nC: t1*4 t2 h2\n"
					"D: t1*4 t2 h2\nt1:\nt2:\n") };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "C");
	e.no_ep = draw_host(g.base, "C", 0);
	b = edit_open(g.base, &e);
	for (unsigned int p = 1; p <= 4; p++)	/* the ports of t1 that led to C */
		edit_plug(b, guid(g.base, "B"), 20 + p, guid(g.base, "t1"),
			  ftr_fabric_port(g.base, draw_sw(g.base, "C"), (ftr_port)p)->peer_port);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 4, 0, 0);
	dropped(&g, 1, 5, 2);
	missing(&g, 0, 0, 0);
	ck_assert_uint_eq(g.n->f->n_ep, 6);
	ck_assert_uint_eq(ftr_fabric_find_sw(g.n->f, guid(g.base, "C")), FTR_SW_NONE);
	done(&g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, contested_places, 0, (int)FTR_ARRAY_LEN(claims));
	tcase_add_test(tc, guid_of_a_host);
	tcase_add_test(tc, back_at_another_port);
	tcase_add_test(tc, exchanged_hosts);
	tcase_add_test(tc, host_without_its_link);
	tcase_add_test(tc, hosts_of_a_dropped_switch);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
