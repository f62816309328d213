// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the nominal fabric, the union of all switches and links seen so far: its growth, input that
 * contradicts it, and shapes (ranks, port groups) made from it.
 *
 *	t1  t2		four leaves, each with two hosts and a link to each spine
 *	A  B  C  D
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/draw.h"
#include "lib/edit.h"
#include "grown.h"
#include "lib/suite.h"

/* ---- growth ------------------------------------------------------------ */

START_TEST(first_fabric)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal_change c;
	struct ftr_nominal *n = nominal_of(f, NULL, &c);

	ck_assert(c.grew && !c.reshaped && !c.example[0]);
	ck_assert_uint_eq(c.new_sw, 6);
	ck_assert_uint_eq(c.new_links, 8);
	ck_assert_uint_eq(c.new_hosts, 8);
	ck_assert(!c.changed && !c.dropped_sw && !c.dropped_links &&
		  !c.dropped_hosts);
	ck_assert_uint_eq(n->f->max_lid, 0);
	ck_assert_uint_eq(n->f->n_sw_links, 8);
	ck_assert_uint_eq(n->shape->numbering.n_dest, 0);
	ck_assert_uint_eq(n->shape->numbering.n_slots[draw_sw(f, "A")], 2);
	ftr_nominal_free(n);
	ftr_nominal_free(NULL);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(faults_are_no_growth)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;

	e.no_sw = draw_sw(g.base, "t1");
	e.no_ep = draw_host(g.base, "B", 0);
	e.cut_sw = draw_sw(g.base, "C");
	e.cut_port = 2;
	g.f = edit_seal(edit_open(g.base, &e));
	grow(&g);
	ck_assert(!g.c.grew);
	missing(&g, 1, 5, 1);
	ck_assert_uint_eq(g.sh->n_absent, 1);
	ck_assert_uint_eq(g.sh->absent[0].sw, draw_sw(g.f, "C"));
	ck_assert_uint_eq(g.sh->absent[0].port, 2);
	ck_assert_uint_eq(g.sh->absent[0].peer, draw_sw(g.f, "t2"));
	ck_assert_uint_eq(g.sh->numbering.n_slots[draw_sw(g.f, "A")], 2);
	ck_assert_uint_eq(g.sh->tree.groups[g.sh->tree.group_first[draw_sw(g.f, "A")]]
			  .slot, 1);
	ck_assert_uint_eq(g.sh->numbering.divider[draw_sw(g.f, "t2")], 2);
	done(&g);
}
END_TEST

/* A host that lost its link counts as missing.  A host that never had a link does not. */
START_TEST(hosts_without_link)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "B");
	e.cut_port = host(g.base, "B", 1).sw_port;
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x7000, .guid = 0x7001, .port_num = 1,
		.name = "idle",
	}, &err));
	g.f = edit_seal(b);
	grow(&g);
	ck_assert(!g.c.grew);
	missing(&g, 0, 0, 1);
	done(&g);
}
END_TEST

START_TEST(new_host)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b = edit_open(g.base, &edit_nothing);

	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x7000, .guid = 0x7001, .port_num = 1,
		.name = "new",
	}, &err));
	edit_plug(b, 0x7000, 1, guid(g.base, "B"), 9);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 0, 1, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 0, 0, 0);
	ck_assert_str_eq(g.c.example, "host port 0x0000000000007001 \"new\"");
	done(&g);
}
END_TEST

START_TEST(new_link)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b = edit_open(g.base, &edit_nothing);

	edit_plug(b, guid(g.base, "A"), 20, guid(g.base, "t2"), 20);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 1, 0, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 0, 0, 0);
	ck_assert_str_eq(g.c.example,
			 "link 0x0000000000010000[20] - 0x0000000000060000[20]");
	done(&g);
}
END_TEST

/* A spine is added while another spine is dead.  The dead spine must keep its slot (its position
 * among the spines). */
START_TEST(new_switch)
{
	struct grown g = { .base = draw(tree) };
	static const char *const leaf[] = { "A", "B", "C", "D" };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x90000, .n_ports = 36, .name = "t3",
	}, &err));
	for (unsigned int i = 0; i < 4; i++)
		edit_plug(b, guid(g.base, leaf[i]), 30, 0x90000, i + 1);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 1, 4, 0, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 1, 4, 0);
	ck_assert_str_eq(g.c.example, "switch 0x0000000000090000 \"t3\"");
	ck_assert_uint_eq(g.sh->numbering.n_slots[draw_sw(g.f, "A")], 3);
	ck_assert_uint_eq(g.sh->tree.n_up[draw_sw(g.f, "A")], 2);
	done(&g);
}
END_TEST

/* A's link to t1 now ends at another port of t1.  The new link must replace the old one. */
START_TEST(link_at_another_port)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = 1;
	b = edit_open(g.base, &e);
	edit_plug(b, guid(g.base, "A"), 1, guid(g.base, "t1"), 33);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 1, 0, 0);
	dropped(&g, 0, 1, 0);
	missing(&g, 0, 0, 0);
	done(&g);
}
END_TEST

/* A port that led to t1 now leads to a host.  The host must replace the link. */
START_TEST(host_in_place_of_link)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = 1;
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x7000, .guid = 0x7001, .port_num = 1,
		.name = "new",
	}, &err));
	edit_plug(b, guid(g.base, "A"), 1, 0x7000, 1);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 0, 1, 0);
	dropped(&g, 0, 1, 0);
	done(&g);
}
END_TEST

START_TEST(moved_host)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_endport p = host(g.base, "A", 1);
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;
	ftr_ep moved;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = p.sw_port;
	b = edit_open(g.base, &e);
	edit_plug(b, p.node_guid, p.port_num, guid(g.base, "D"), 17);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 0, 0, 1);
	dropped(&g, 0, 0, 1);
	missing(&g, 0, 0, 0);
	ck_assert_ptr_nonnull(strstr(g.c.example, "at another place"));
	moved = ftr_fabric_find_ep(g.n->f, p.guid);
	ck_assert_uint_eq(g.n->f->ep[moved].sw, draw_sw(g.n->f, "D"));
	ck_assert_uint_eq(g.n->f->ep[moved].sw_port, 17);
	done(&g);
}
END_TEST

/* The adapter of a host was replaced.  Either the new adapter has other GUIDs, and is connected to
 * the same port of the switch; or only its port GUID differs, and it is connected to another
 * port. */
START_TEST(replaced_adapter)
{
	for (int same_node = 0; same_node < 2; same_node++) {
		struct grown g = { .base = draw(tree) };
		struct ftr_endport p = host(g.base, "A", 1);
		struct edit e = EDIT_NOTHING;
		struct ftr_builder *b;
		uint64_t node = same_node ? p.node_guid : 0x7000;

		e.no_ep = draw_host(g.base, "A", 1);
		b = edit_open(g.base, &e);
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = node, .guid = 0x7777, .port_num = 1,
			.name = "new",
		}, &err));
		edit_plug(b, node, 1, guid(g.base, "A"),
		     same_node ? 19 : p.sw_port);
		g.f = edit_seal(b);
		grow(&g);
		only(&g, 0, 0, 1, 0);
		dropped(&g, 0, 0, 1);
		missing(&g, 0, 0, 0);
		ck_assert_uint_eq(g.n->f->n_ep, 8);
		done(&g);
	}
}
END_TEST

/* A switch is seen again with fewer ports.  Links at ports that it no longer has are removed. */
START_TEST(fewer_ports)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = guid(g.base, "t1"), .n_ports = 3, .name = "t1",
	}, &err));
	edit_plug(b, guid(g.base, "t1"), 1, guid(g.base, "A"), 1);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 0, 0, 1);
	dropped(&g, 0, 1, 0);
	missing(&g, 0, 2, 0);
	done(&g);
}
END_TEST

START_TEST(other_lmc)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	ftr_ep wide = e.lmc_ep = draw_host(g.base, "B", 1);

	g.f = edit_seal(edit_open(g.base, &e));
	grow(&g);
	only(&g, 0, 0, 0, 1);
	ck_assert_uint_eq(g.n->f->ep[wide].lmc, 1);
	ck_assert_ptr_nonnull(strstr(g.c.example, "another LMC"));
	/* each LID of the port has its own destination index d */
	for (uint32_t i = 0; i < g.sh->numbering.n_dest; i++)
		if (g.sh->numbering.dest[i].lid >= 1000)
			ck_assert_uint_eq(g.sh->numbering.dest[i].d,
					  g.sh->numbering.ep_index[wide].d +
					  g.sh->numbering.dest[i].lid - 1000);
	done(&g);
}
END_TEST

/* A fabric that was read without LIDs has no LMCs.  The known LMCs must be kept. */
START_TEST(lmc_not_reported)
{
	struct ftr_fabric *f = draw(tree), *wide, *more = NULL;
	struct edit e = EDIT_NOTHING;
	struct ftr_nominal_change c;
	struct ftr_nominal *old, *n;
	struct ftr_builder *b;

	e.lmc_ep = draw_host(f, "B", 1);
	wide = edit_seal(edit_open(f, &e));
	old = nominal_of(wide, NULL, NULL);
	b = ftr_builder_new();
	for (ftr_sw i = 0; i < f->n_sw; i++)
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = f->sw[i].guid, .n_ports = f->sw[i].n_ports, .name = "",
		}, &err));
	for (ftr_ep i = 0; i < f->n_ep; i++) {
		const struct ftr_endport *p = &f->ep[i];

		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = p->type, .node_guid = p->node_guid, .guid = p->guid,
			.port_num = p->port_num, .name = "",
		}, &err));
		edit_plug(b, p->node_guid, p->port_num, f->sw[p->sw].guid,
			  p->sw_port);
	}
	edit_plug(b, guid(f, "A"), 20, guid(f, "t2"), 20);
	ck_assert(!ftr_builder_freeze(b, &more, &err));
	n = nominal_of(more, old, &c);
	ck_assert(c.grew && c.new_links == 1 && !c.changed);
	ck_assert_uint_eq(n->f->ep[e.lmc_ep].lmc, 1);
	ck_assert_str_eq(n->f->sw[0].name, f->sw[0].name);
	ck_assert_uint_eq(n->f->n_sw_links, 9);
	ftr_nominal_free(n);
	ftr_nominal_free(old);
	ftr_fabric_free(more);
	ftr_fabric_free(wide);
	ftr_fabric_free(f);
}
END_TEST

/* A host now has the GUID of a switch.  The switch must be removed from the nominal fabric.  When
 * the switch is seen again, the host must be removed. */
START_TEST(guid_of_another_kind)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;
	struct ftr_fabric *f;
	struct ftr_nominal *n;
	struct ftr_nominal_change c;

	e.no_sw = draw_sw(g.base, "t1");
	b = edit_open(g.base, &e);
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid(g.base, "t1"), .guid = 0x7001,
		.port_num = 1, .name = "new",
	}, &err));
	edit_plug(b, guid(g.base, "B"), 20, guid(g.base, "t1"), 1);
	g.f = edit_seal(b);
	grow(&g);
	only(&g, 0, 0, 1, 0);
	dropped(&g, 1, 4, 0);
	f = edit_seal(edit_open(g.base, &edit_nothing));
	n = nominal_of(f, g.n, &c);
	ck_assert(c.grew && c.new_sw == 1 && c.new_links == 4);
	ck_assert_uint_eq(c.dropped_hosts, 1);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	done(&g);
}
END_TEST

/* A link from a switch to itself must not be kept. */
START_TEST(loop_link)
{
	struct grown g = { .f = draw(tree) };
	struct ftr_builder *b = edit_open(g.f, &edit_nothing);

	edit_plug(b, guid(g.f, "A"), 20, guid(g.f, "A"), 21);
	g.base = edit_seal(b);
	grow(&g);
	ck_assert(!g.c.grew);
	missing(&g, 0, 1, 0);
	ck_assert_uint_eq(g.sh->n_absent, 0);
	done(&g);
}
END_TEST

/* A new node description changes the nominal fabric if the description identifies an Aggregation
 * Node, or if leaves are ordered by name.  An empty description changes nothing. */
START_TEST(other_names)
{
	static const char *const name[] = { "Zebra", "", "Mellanox "
		"Technologies Aggregation Node" };
	static const bool grows[2][3] = { { false, false, true },
					  { true, false, true } };

	for (int by_name = 0; by_name < 2; by_name++) {
		for (int i = 0; i < 3; i++) {
			struct ftr_shape_opts o = { .leaf_order = by_name ?
				FTR_LEAF_BY_NAME : FTR_LEAF_BY_GUID };
			struct ftr_fabric *base = draw(tree), *f;
			struct ftr_nominal *old = NULL, *n = NULL;
			struct ftr_nominal_change c;
			struct edit e = EDIT_NOTHING;

			e.name_ep = draw_host(base, "A", 0);
			e.name = name[i];
			f = edit_seal(edit_open(base, &e));
			ck_assert(!ftr_nominal_new(base, &o, NULL, &old,
						   NULL, &err));
			ck_assert(!ftr_nominal_new(f, &o, old, &n, &c,
						   &err));
			ck_assert_int_eq(c.grew, grows[by_name][i]);
			ck_assert_uint_eq(c.changed, grows[by_name][i]);
			if (n != old)
				ftr_nominal_free(n);
			ftr_nominal_free(old);
			ftr_fabric_free(f);
			ftr_fabric_free(base);
		}
	}
}
END_TEST

/* Other options make another shape of the same fabric.  A list of the same GUIDs in another order
 * counts as the same option. */
START_TEST(other_options)
{
	struct ftr_fabric *f = draw(tree), *part;
	uint64_t ab[] = { f->ep[0].guid, f->ep[1].guid };
	uint64_t ba[] = { f->ep[1].guid, f->ep[0].guid, f->ep[1].guid };
	struct ftr_shape_opts by_ab = { .cn = { ab, 2 } };
	struct ftr_shape_opts by_ba = { .cn = { ba, 3 } };
	struct ftr_shape_opts io = { .io = { ab, 2 } };
	struct ftr_shape_opts empty = { .cn = { ab, 0 } };
	struct ftr_nominal *a = nominal_of(f, NULL, NULL), *b = NULL, *n;
	struct ftr_nominal_change c;
	struct edit e = EDIT_NOTHING;

	e.no_sw = draw_sw(f, "t1");
	part = edit_seal(edit_open(f, &e));
	ck_assert(!ftr_nominal_new(part, &empty, a, &n, &c, &err));
	ck_assert(n == a && !c.reshaped);
	ck_assert(!ftr_nominal_new(part, &by_ab, a, &b, &c, &err));
	ck_assert(b != a && c.reshaped && !c.grew);
	ck_assert_uint_eq(b->f->n_sw, 6);
	ck_assert_uint_eq(b->shape->tree.n_leaf, 1);
	ck_assert(!ftr_nominal_new(part, &by_ba, b, &n, &c, &err));
	ck_assert(n == b && !c.reshaped);
	ck_assert(!ftr_nominal_new(part, &io, b, &n, &c, &err));
	ck_assert(n != b && c.reshaped);
	ftr_nominal_free(n);
	ftr_nominal_free(b);
	ftr_nominal_free(a);
	ftr_fabric_free(part);
	ftr_fabric_free(f);
}
END_TEST

/* Options with which no shape can be made are refused.  The old nominal fabric does not change. */
START_TEST(refused)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal *a = nominal_of(f, NULL, NULL), *n = NULL;
	static const uint64_t nobody[] = { 0x123 };
	struct ftr_shape_opts roots = {
		.roots = { nobody, 1 }, .roots_mode = FTR_ROOTS_STRICT,
	};

	ck_assert_int_eq(ftr_nominal_new(f, &roots, a, &n, NULL, &err),
			 FTR_SHAPE);
	ck_assert_ptr_null(n);
	ftr_nominal_free(a);
	ftr_fabric_free(f);
}
END_TEST

/* ---- links that are missing by design ---------------------------------- */

/* Leaf E has `ports` ports, and links to two of the three spines.  Returns the number of its
 * slots, that is, of its upward links in the nominal fabric. */
static uint32_t slots_of_slim(unsigned int ports)
{
	struct ftr_fabric *f = draw("A: t1 t2 t3 h2\nB: t1 t2 t3 h2\n"
				    "C: t1 t2 t3 h2\nt1:\nt2:\nt3:\n"), *g;
	struct ftr_builder *b = edit_open(f, &edit_nothing);
	struct ftr_shape *sh = NULL;
	uint32_t n;

	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x90000, .n_ports = ports, .name = "E",
	}, &err));
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = 0x7000 + i, .guid = 0x7100 + i,
			.port_num = 1, .name = "e",
		}, &err));
		edit_plug(b, 0x7000 + i, 1, 0x90000, i + 1);
	}
	edit_plug(b, guid(f, "t1"), 30, 0x90000, 3);
	edit_plug(b, guid(f, "t2"), 30, 0x90000, 4);
	g = edit_seal(b);
	ck_assert(!ftr_shape_new(g, NULL, NULL, &sh, &err));
	ck_assert_uint_eq(sh->numbering.n_slots[draw_sw(g, "A")], 3);
	n = sh->numbering.n_slots[draw_sw(g, "E")];
	ftr_shape_free(sh);
	ftr_fabric_free(g);
	ftr_fabric_free(f);
	return n;
}

START_TEST(no_port_no_slot)
{
	ck_assert_uint_eq(slots_of_slim(4), 2);
	ck_assert_uint_eq(slots_of_slim(5), 3);
}
END_TEST

/* E lacks links to t1 and t2.  The link to t2 is inferred, because E and t2 have a free port for
 * it.  The link to t1 is not: t1 has ports for only four leaves, and E is the fifth. */
START_TEST(link_inferred_at_a_full_switch)
{
	struct ftr_fabric *f = draw("A: t3 t4 h2\nB: t3 t4 h2\nC: t3 t4 h2\n"
				    "D: t3 t4 h2\nt3:\nt4:\n"), *g;
	static const char *const leaf[] = { "A", "B", "C", "D" };
	struct ftr_builder *b = edit_open(f, &edit_nothing);
	struct ftr_shape *sh = NULL;

	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x91000, .n_ports = 4, .name = "t1",
	}, &err));
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x92000, .n_ports = 5, .name = "t2",
	}, &err));
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x90000, .n_ports = 5, .name = "E",
	}, &err));
	for (unsigned int i = 0; i < 4; i++) {
		edit_plug(b, guid(f, leaf[i]), 30, 0x91000, i + 1);
		edit_plug(b, guid(f, leaf[i]), 31, 0x92000, i + 1);
	}
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = 0x7000 + i, .guid = 0x7100 + i,
			.port_num = 1, .name = "e",
		}, &err));
		edit_plug(b, 0x7000 + i, 1, 0x90000, i + 1);
	}
	edit_plug(b, guid(f, "t3"), 30, 0x90000, 3);
	edit_plug(b, guid(f, "t4"), 30, 0x90000, 4);
	g = edit_seal(b);
	ck_assert(!ftr_shape_new(g, NULL, NULL, &sh, &err));
	ck_assert_uint_eq(sh->numbering.n_slots[draw_sw(g, "A")], 4);
	ck_assert_uint_eq(sh->numbering.n_slots[draw_sw(g, "E")], 3);
	ck_assert_uint_eq(sh->tree.n_up[draw_sw(g, "E")], 2);
	ftr_shape_free(sh);
	ftr_fabric_free(g);
	ftr_fabric_free(f);
}
END_TEST

/* The divider of t1 (the number by which equation (3) of Gliksberg et al. 2020 divides) must count
 * the lost link to ma1: it is 3 * 3, because the pod of ma1 has three planes.  Without this link it
 * would be 2 * 3, because the other pods have two planes. */
START_TEST(divider_over_an_inferred_slot)
{
	struct ftr_fabric *f = draw("A: ma1 ma2 ma3 h2\nB: ma1 ma2 ma3 h2\n"
				    "C: mb1 mb2 h2\nD: mb1 mb2 h2\n"
				    "E: mc1 mc2 h2\nF: mc1 mc2 h2\n"
				    "ma1: t2 t3\nmb1: t1 t2 t3\n"
				    "mc1: t1 t2 t3\nma2: u1 u2 u3\n"
				    "mb2: u1 u2 u3\nmc2: u1 u2 u3\n"
				    "ma3: v1 v2 v3\nt1:\nt2:\nt3:\nu1:\n"
				    "u2:\nu3:\nv1:\nv2:\nv3:\n");
	struct ftr_shape *sh = NULL;

	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert_uint_eq(sh->tree.rank[draw_sw(f, "t1")], 2);
	ck_assert_uint_eq(sh->numbering.n_slots[draw_sw(f, "ma1")], 3);
	ck_assert_uint_eq(sh->numbering.divider[draw_sw(f, "t1")], 9);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* If every leaf has links to two of three spines, no link counts as missing.  If every leaf has
 * links to three of four spines, one link of each leaf counts as missing. */
START_TEST(share_of_pairs)
{
	struct ftr_fabric *two = draw("A: t1 t2 h2\nB: t2 t3 h2\nC: t1 t3 h2\n"
				      "t1:\nt2:\nt3:\n");
	struct ftr_fabric *three = draw("A: t1 t2 t3 h2\nB: t2 t3 t4 h2\n"
					"C: t1 t3 t4 h2\nD: t1 t2 t4 h2\n"
					"t1:\nt2:\nt3:\nt4:\n");
	struct ftr_shape *sh = NULL;

	ck_assert(!ftr_shape_new(two, NULL, NULL, &sh, &err));
	for (ftr_sw s = 0; s < 3; s++)
		ck_assert_uint_eq(sh->numbering.n_slots[s], 2);
	ftr_shape_free(sh);
	ck_assert(!ftr_shape_new(three, NULL, NULL, &sh, &err));
	for (ftr_sw s = 0; s < 4; s++)
		ck_assert_uint_eq(sh->numbering.n_slots[s], 4);
	/* B lacks its link to t1, but slot 0 (the first position) stays reserved for this link */
	for (uint32_t k = 0; k < 3; k++)
		ck_assert_uint_eq(sh->tree.groups[sh->tree.group_first[1] + k].slot,
				  k + 1);
	ftr_shape_free(sh);
	ftr_fabric_free(two);
	ftr_fabric_free(three);
}
END_TEST

/* ---- single differences ---------------------------------------------------------- */

/* Compares f with n while a value differs: what is counted, and the example. */
#define DIFFERS(type, member, value, count, text)				\
	do {									\
		type *at_ = (type *)(uintptr_t)&(member), was_ = *at_;		\
		struct ftr_nominal_change c_;					\
										\
		*at_ = (type)(value);						\
		ck_assert(!ftr_nominal_compare(n, f, &c_, &err));		\
		ck_assert_msg(c_.count == 1 && strstr(c_.example, text), "%u: %s",	\
			      c_.count, c_.example);				\
		*at_ = was_;							\
	} while (0)

START_TEST(single_differences)
{
	struct ftr_fabric *f = NULL;
	struct ftr_nominal *n = NULL;
	struct ftr_nominal_change c;
	ftr_ep last;

	ck_assert(!ftr_gen_shape("2;2,3;1,2;1,1", NULL, &f, &err));
	ck_assert(!ftr_nominal_new(f, NULL, NULL, &n, NULL, &err));
	ck_assert(!ftr_nominal_compare(n, f, &c, &err) && !c.changed && !c.grew && !c.example[0]);
	last = f->n_ep - 1;
	DIFFERS(ftr_port, f->ep[last].sw_port, f->ep[last].sw_port + 1, changed, "at another place");
	DIFFERS(uint64_t, f->ep[last].node_guid, 77, changed, "of another node");
	DIFFERS(ftr_port, f->ep[last].port_num, 2, changed, "of another node");
	DIFFERS(uint8_t, f->ep[last].type, FTR_NODE_ROUTER, changed, "of another node");
	DIFFERS(uint8_t, f->ep[last].lmc, 3, changed, "with another LMC");
	DIFFERS(uint8_t, f->sw[0].lmc, 2, changed, "with LMC 2 instead of 0");
	DIFFERS(ftr_sw, n->f->ep[last].sw, FTR_SW_NONE, new_hosts, "host port 0x");
	strcpy((char *)(uintptr_t)f->ep[last].name, "Mellanox Technologies Aggregation Node");
	DIFFERS(uint8_t, f->ep[last].type, FTR_NODE_CA, changed, "of another kind");
	/* a description that is not known is no difference */
	*(char *)(uintptr_t)n->f->ep[last].name = '\0';
	ck_assert(!ftr_nominal_compare(n, f, &c, &err) && !c.changed);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nominal");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, first_fabric);
	tcase_add_test(tc, faults_are_no_growth);
	tcase_add_test(tc, hosts_without_link);
	tcase_add_test(tc, new_host);
	tcase_add_test(tc, new_link);
	tcase_add_test(tc, new_switch);
	tcase_add_test(tc, link_at_another_port);
	tcase_add_test(tc, host_in_place_of_link);
	tcase_add_test(tc, moved_host);
	tcase_add_test(tc, replaced_adapter);
	tcase_add_test(tc, fewer_ports);
	tcase_add_test(tc, other_lmc);
	tcase_add_test(tc, lmc_not_reported);
	tcase_add_test(tc, guid_of_another_kind);
	tcase_add_test(tc, loop_link);
	tcase_add_test(tc, other_names);
	tcase_add_test(tc, other_options);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, no_port_no_slot);
	tcase_add_test(tc, link_inferred_at_a_full_switch);
	tcase_add_test(tc, divider_over_an_inferred_slot);
	tcase_add_test(tc, share_of_pairs);
	tcase_add_test(tc, single_differences);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
