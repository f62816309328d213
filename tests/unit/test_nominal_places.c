// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how the nominal fabric changes when a switch is replaced, or when another fabric is seen.
 * A place is the position of a switch in the nominal fabric; the GUID of the first switch there
 * identifies the place.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "grown.h"
#include "lib/suite.h"

static unsigned int t1_ports(const struct ftr_fabric *f)
{
	return f->sw[draw_sw(f, "t1")].n_ports;
}

/* A switch with another GUID replaces t1, and one of its links is not connected yet.  The new
 * switch must get the place of t1, even if its links are at other ports than those of t1 (`other`
 * is 1).  Such links count as new. */
START_TEST(replaced_switch)
{
	static const char *const leaf[] = { "A", "B", "C" };

	for (unsigned int other = 0; other < 2; other++) {
		struct grown g = { .base = draw(tree) };
		struct edit e = EDIT_NOTHING;
		struct ftr_builder *b;
		ftr_sw t1;

		e.no_sw = draw_sw(g.base, "t1");
		b = edit_open(g.base, &e);
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = 0x90000, .n_ports = t1_ports(g.base), .name = "t9",
		}, &err));
		for (unsigned int i = 0; i < 3; i++)
			edit_plug(b, guid(g.base, leaf[i]), 1, 0x90000,
				  i + 1 + 20 * other);
		g.f = edit_seal(b);
		grow(&g);
		only(&g, 0, other ? 3 : 0, 0, 0);
		ck_assert_uint_eq(g.c.replaced_sw, 1);
		dropped(&g, 0, other ? 3 : 0, 0);
		missing(&g, 0, 1, 0);
		ck_assert_ptr_nonnull(strstr(g.c.example, "switch 0x0000000000090000 \"t9\" in place of 0x"));
		t1 = ftr_fabric_find_sw(g.n->f, guid(g.base, "t1"));
		ck_assert_uint_eq(g.n->f->sw[t1].holder, 0x90000);
		ck_assert_str_eq(g.n->f->sw[t1].name, "t9");
		ck_assert_uint_eq(ftr_fabric_find_holder(g.n->f, 0x90000), t1);
		ck_assert_uint_eq(ftr_fabric_find_holder(g.n->f,
				  guid(g.base, "t1")), FTR_SW_NONE);
		ck_assert_uint_eq(g.sh->numbering.n_slots[draw_sw(g.f, "D")], 2);
		ck_assert_uint_eq(g.sh->tree.n_up[draw_sw(g.f, "D")], 1);
		done(&g);
	}
}
END_TEST

/* A new switch is connected to one port to which t1 was connected, and to two other ports.  The new
 * switch does not replace t1. */
START_TEST(no_replacement)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x90000, .n_ports = t1_ports(g.base), .name = "t9",
	}, &err));
	edit_plug(b, guid(g.base, "A"), 1, 0x90000, 1);
	edit_plug(b, guid(g.base, "B"), 30, 0x90000, 2);
	edit_plug(b, guid(g.base, "C"), 30, 0x90000, 3);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 1, 3, 0, 0);
	ck_assert_uint_eq(g.c.replaced_sw, 0);
	dropped(&g, 0, 1, 0);
	missing(&g, 1, 3, 0);
	done(&g);
}
END_TEST

/* t9 has the place of t1 when t1 is connected again with its own links.  The place is identified by
 * the GUID of t1, so t1 gets the place again, and t9 gets a new one. */
START_TEST(replaced_comes_back)
{
	struct edit e = EDIT_NOTHING;
	struct ftr_fabric *base = draw(tree), *f, *g;
	static const char *const leaf[] = { "A", "B", "C", "D" };
	struct ftr_nominal *n[3];
	struct ftr_nominal_change c;
	struct ftr_builder *b;

	n[0] = nominal_of(base, NULL, NULL);
	for (unsigned int both = 0; both < 2; both++) {
		e.no_sw = draw_sw(base, "t1");
		b = edit_open(base, &e);
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = 0x90000, .n_ports = t1_ports(base), .name = "t9",
		}, &err));
		for (unsigned int i = 0; i < 4; i++)
			edit_plug(b, guid(base, leaf[i]), 1, 0x90000, i + 1);
		if (both) {
			ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
				.guid = guid(base, "t1"), .n_ports = t1_ports(base), .name = "t1",
			}, &err));
			edit_plug(b, guid(base, "A"), 30, guid(base, "t1"), 1);
		}
		f = edit_seal(b);
		n[both + 1] = nominal_of(f, n[both], &c);
		/* first t9 replaces t1; when both are present, t1 replaces t9 */
		ck_assert_uint_eq(c.replaced_sw, 1);
		ck_assert_uint_eq(c.new_sw, both);
		ck_assert_uint_eq(n[both + 1]->f->n_sw, 6 + both);
		if (both) {
			g = f;
			ck_assert(nominal_of(g, n[2], &c) == n[2] && !c.grew);
			ck_assert_ptr_null(n[2]->f->by_holder);
		}
		ftr_fabric_free(f);
	}
	for (unsigned int i = 0; i < 3; i++)
		ftr_nominal_free(n[i]);
	ftr_fabric_free(base);
}
END_TEST

/* A fabric that has only one host in common with the nominal fabric does not extend it, but starts
 * a new one. */
START_TEST(other_fabric)
{
	struct ftr_fabric *base = draw(tree), *f;
	struct ftr_nominal *old = nominal_of(base, NULL, NULL), *n;
	struct ftr_nominal_change c;
	struct ftr_builder *b = ftr_builder_new();

	for (unsigned int i = 0; i < 4; i++) {
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = 0xa100 + i, .n_ports = 36, .name = "x",
		}, &err));
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = 0xa200 + i, .guid = 0xa300 + i,
			.port_num = 1, .name = "y",
		}, &err));
		edit_plug(b, 0xa200 + i, 1, 0xa100 + i, 1);
		if (i)
			edit_plug(b, 0xa100, 1 + i, 0xa100 + i, 2);
	}
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = host(base, "A", 1).node_guid,
		.guid = host(base, "A", 1).guid, .port_num = 1, .name = "known",
	}, &err));
	edit_plug(b, host(base, "A", 1).node_guid, 1, 0xa100, 30);
	f = edit_seal(b);
	n = nominal_of(f, old, &c);
	ck_assert(c.other && c.grew);
	ck_assert(c.same_hosts == 1 && c.old_hosts == 8 && !c.same_sw &&
		  c.old_sw == 6);
	ck_assert(c.new_sw == 4 && c.new_links == 3 && c.new_hosts == 5);
	ck_assert(n->f->n_sw == 4 && n->f->n_ep == 5);
	ftr_nominal_free(n);
	ftr_nominal_free(old);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
}
END_TEST

static struct ftr_fabric *leaf_among_others(uint64_t x)
{
	struct ftr_builder *b = ftr_builder_new();

	for (unsigned int i = 0; i < 2; i++)
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = 0xb100 + i, .n_ports = 36, .name = "spine",
		}, &err));
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t leaf = i ? 0xb200 + i : x;

		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = leaf, .n_ports = 36, .name = "leaf",
		}, &err));
		for (unsigned int k = 0; k < 2; k++) {
			uint64_t h = 0xb300 + 2 * i + k;

			edit_plug(b, leaf, 10 + k, 0xb100 + k, 1 + i);
			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = h, .guid = h, .port_num = 1,
				.name = "host",
			}, &err));
			edit_plug(b, h, 1, leaf, 20 + k);
		}
	}
	return edit_seal(b);
}

/* A spine of the tree is used as a leaf of another fabric.  The ranks of the tree must not be
 * kept. */
START_TEST(other_fabric_other_ranks)
{
	struct ftr_fabric *base = draw(tree), *f = leaf_among_others(guid(base, "t1"));
	struct ftr_nominal_change c;
	struct ftr_nominal *old = nominal_of(base, NULL, NULL), *n = nominal_of(f, old, &c);
	ftr_sw x = ftr_fabric_find_sw(n->f, guid(base, "t1"));

	ck_assert(c.other && c.same_sw == 1);
	ck_assert_uint_eq(n->shape->tree.n_leaf, 5);
	ck_assert_uint_lt(n->shape->numbering.col[x], 5);
	ck_assert(!n->shape->tree.ranks_kept);
	ftr_nominal_free(n);
	ftr_nominal_free(old);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
}
END_TEST

/* Three hosts are on spines, and the first of them is missing.  The two others move up in the host
 * order. */
START_TEST(no_gaps_above_leaves)
{
	struct ftr_fabric *base = draw("A: t1 t2 h12\nB: t1 t2 h12\nC: t1 t2 h12\n"
				       "D: t1 t2 h12\nt1: h2\nt2: h1\n"), *f;
	struct ftr_nominal *n = nominal_of(base, NULL, NULL);
	struct ftr_shape_opts over = { .nominal = n->shape };
	struct edit e = EDIT_NOTHING;
	struct ftr_shape *sh = NULL;
	ftr_ep order[64];

	e.no_ep = draw_host(base, "t1", 0);
	f = edit_seal(edit_open(base, &e));
	ck_assert(!ftr_shape_new(f, &over, NULL, &sh, &err));
	ck_assert_uint_eq(sh->numbering.n_d, 48);
	ck_assert_uint_eq(sh->numbering.n_places, 50);
	ftr_shape_host_order(sh, order);
	ck_assert_uint_eq(f->ep[order[48]].guid, host(base, "t1", 1).guid);
	ck_assert_uint_eq(f->ep[order[49]].guid, host(base, "t2", 0).guid);
	ftr_shape_free(sh);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("places");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, replaced_switch);
	tcase_add_test(tc, no_replacement);
	tcase_add_test(tc, replaced_comes_back);
	tcase_add_test(tc, other_fabric);
	tcase_add_test(tc, other_fabric_other_ranks);
	tcase_add_test(tc, no_gaps_above_leaves);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
