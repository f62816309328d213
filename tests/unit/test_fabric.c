// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the builder and the fabrics that it builds: duplicate and contradictory input, error
 * messages, the order of indices, LIDs, copies, and failing allocations.  Also tests the comparison
 * of two sets of tables, and the translation of turns from one fabric to another.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/draw.h"
#include "lib/edit.h"
#include "lib/alloc.h"
#include "lib/suite.h"

static struct ftr_builder *b;
static struct ftr_err err;

static void setup(void)
{
	b = ftr_builder_new();
	memset(&err, 0, sizeof(err));
}

static void teardown(void)
{
	ftr_builder_free(b);
}

static struct ftr_end end(uint64_t guid, unsigned int port)
{
	return (struct ftr_end){ guid, (ftr_port)port };
}

static void sw(uint64_t guid)
{
	ck_assert_int_eq(ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = guid, .n_ports = 8, .name = "s",
	}, &err),
			 FTR_OK);
}

static void host(uint64_t guid)
{
	ck_assert_int_eq(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1, .port_num = 1,
		.name = "h",
	}, &err),
			 FTR_OK);
}

#define says(call, st, text) do {					\
	ck_assert_int_eq(call, st);					\
	ck_assert_str_eq(err.msg, text);				\
} while (0)

START_TEST(order_is_by_guid)
{
	struct ftr_fabric *f;

	sw(0x300);
	sw(0x100);
	sw(0x200);
	host(0x2000);
	host(0x1000);
	ck_assert_int_eq(ftr_builder_add_link(b, end(0x300, 2),
					      end(0x1000, 1), 4, FTR_SPEED_EDR,
					      &err), FTR_OK);
	/* The same link, reported from its other end with lower width and speed.  It is counted
	 * once, with the lower values. */
	ck_assert_int_eq(ftr_builder_add_link(b, end(0x1000, 1),
					      end(0x300, 2), 1, FTR_SPEED_QDR,
					      &err), FTR_OK);
	ck_assert_int_eq(ftr_builder_add_link(b, end(0x100, 8),
					      end(0x300, 1), 0, 0, &err),
			 FTR_OK);
	ck_assert_int_eq(ftr_builder_assign_lids(b, 0, &err), FTR_OK);
	ck_assert_int_eq(ftr_builder_freeze(b, &f, &err), FTR_OK);
	b = NULL;
	ck_assert_uint_eq(f->n_sw, 3);
	for (ftr_sw s = 0; s < 3; s++) {
		ck_assert_uint_eq(f->sw[s].guid, 0x100 * (s + 1));
		ck_assert_uint_eq(f->sw[s].lid, s + 1);
		ck_assert_uint_eq(ftr_fabric_find_sw(f, f->sw[s].guid), s);
	}
	ck_assert_uint_eq(ftr_fabric_find_sw(f, 0x150), FTR_SW_NONE);
	ck_assert_uint_eq(f->n_sw_links, 1);
	ck_assert_uint_eq(f->n_ep, 2);
	ck_assert_uint_eq(f->ep[0].guid, 0x1001);
	ck_assert_uint_eq(f->ep[0].sw, 2);
	ck_assert_uint_eq(f->ep[0].sw_port, 2);
	ck_assert_uint_eq(f->ep[1].sw, FTR_SW_NONE);
	ck_assert_uint_eq(ftr_fabric_find_ep(f, 0x2001), 1);
	ck_assert_uint_eq(ftr_fabric_find_ep(f, 1), FTR_EP_NONE);
	ck_assert_uint_eq(ftr_fabric_port(f, 2, 2)->width, 1);
	ck_assert_uint_eq(ftr_fabric_port(f, 2, 2)->speed, FTR_SPEED_QDR);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 8)->peer, 2);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 8)->peer_port, 1);
	ck_assert_uint_eq(f->max_lid, 5);
	ck_assert_uint_eq(f->owner[4].kind, FTR_OWNER_EP);
	ck_assert_uint_eq(f->owner[4].idx, 0);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(contradictions_are_named)
{
	struct ftr_fabric *f = NULL;

	sw(0x100);
	sw(0x200);
	says(ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x100, .n_ports = 36, .name = "s",
	}, &err), FTR_INVAL,
	     "switch 0x0000000000000100 has 36 ports here but 8 before");
	says(ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x500, .n_ports = 255, .name = "s",
	}, &err),
	     FTR_INVAL, "switch 0x0000000000000500 has 255 ports (allowed: 1 to 254)");
	says(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x900, .guid = 0x901, .port_num = 1, .lid = 5,
		.lmc = 3, .name = "h",
	}, &err), FTR_INVAL,
	     "port 0x0000000000000901: base LID 5 with LMC 3: it must be a multiple of 8, and the last LID at most 49151");
	host(0x900);
	says(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x900, .guid = 0x902, .port_num = 1,
		.name = "h",
	}, &err), FTR_INVAL,
	     "node 0x0000000000000900 port 1 has port GUID 0x0000000000000902 here but 0x0000000000000901 before");
	says(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_ROUTER, .node_guid = 0x900, .guid = 0x901, .port_num = 1,
		.name = "h",
	}, &err), FTR_INVAL,
	     "node 0x0000000000000900 is a router here but a channel adapter before");
	says(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0xa00, .guid = 0x901, .port_num = 1,
		.name = "h",
	}, &err), FTR_INVAL,
	     "port GUID 0x0000000000000901 on node 0x0000000000000a00 port 1 was already given to node 0x0000000000000900 port 1");
	ck_assert_int_eq(ftr_builder_add_link(b, end(0x100, 1), end(0x200, 1),
					      0, 0, &err), FTR_OK);
	says(ftr_builder_add_link(b, end(0x100, 1), end(0x200, 2), 0, 0,
				  &err), FTR_INVAL,
	     "node 0x0000000000000100 port 1 is connected to node 0x0000000000000200 port 2 here but to node 0x0000000000000200 port 1 before");
	says(ftr_builder_add_link(b, end(0x900, 1), end(0x200, 1), 0, 0,
				  &err), FTR_INVAL,
	     "node 0x0000000000000200 port 1 is connected to node 0x0000000000000900 port 1 here but to node 0x0000000000000100 port 1 before");
	says(ftr_builder_add_link(b, end(0x100, 3), end(0x100, 3), 0, 0,
				  &err), FTR_INVAL,
	     "node 0x0000000000000100 port 3 is connected to itself");
	ck_assert_int_eq(ftr_builder_add_link(b, end(0x100, 7), end(0x777, 1),
					      0, 0, &err), FTR_OK);
	says(ftr_builder_freeze(b, &f, &err), FTR_INVAL,
	     "node 0x0000000000000100 port 7 is connected to node 0x0000000000000777 port 1, but there is no such node or host port");
	ck_assert_ptr_null(f);
}
END_TEST

START_TEST(lids_overlap_or_misfit)
{
	struct ftr_fabric *f = NULL;

	ck_assert_int_eq(ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x100, .n_ports = 8, .lid = 6, .name = "s",
	}, &err),
			 FTR_OK);
	ck_assert_int_eq(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x900, .guid = 0x901, .port_num = 1, .lid = 4,
		.lmc = 2, .name = "h",
	}, &err), FTR_OK);
	says(ftr_builder_freeze(b, &f, &err), FTR_INVAL,
	     "LID 6 of 0x0000000000000901 is also a LID of 0x0000000000000100");
	says(ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 0x900, .guid = 0x901, .port_num = 1, .lid = 8,
		.lmc = 2, .name = "h",
	}, &err), FTR_INVAL,
	     "port 0x0000000000000901: LID 8 (LMC 2) here but LID 4 (LMC 2) before");
}
END_TEST

START_TEST(assigned_lids_are_aligned)
{
	struct ftr_fabric *f = draw_lmc("a: b*2 h3\nb: h2 rt\n", 3);

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ck_assert_uint_eq(f->ep[e].lmc, 3);
		ck_assert_uint_eq(f->ep[e].lid % 8, 0);
		for (unsigned int k = 0; k < 8; k++) {
			ck_assert_uint_eq(f->owner[f->ep[e].lid + k].idx, e);
			ck_assert_uint_eq(f->owner[f->ep[e].lid + k].offset, k);
		}
	}
	ck_assert_uint_eq(f->sw[0].lid, 1);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(copies_leave_out_and_keep_lids)
{
	struct ftr_fabric *f = draw("a: b*2 h3\nb: h2 rt an\n");
	struct ftr_fabric *g = draw_cut(f, "a", "b", 0);

	ck_assert_uint_eq(f->n_sw_links, 2);
	ck_assert_uint_eq(g->n_sw_links, 1);
	ck_assert_uint_eq(g->n_ep, 7);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		ck_assert_uint_eq(f->ep[e].lid, g->ep[e].lid);
	ck_assert_uint_eq(f->ep[5].type, FTR_NODE_ROUTER);
	ck_assert(ftr_ep_is_aggregation(&f->ep[6]));
	ck_assert(!ftr_ep_is_aggregation(&f->ep[0]));
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}
END_TEST

START_TEST(shared_names_are_marked)
{
	static const char *const sw_name[] = { "a", "twin", "twin", "both" };
	static const char *const ep_name[] = { "both", "c", "rail", "rail" };
	static const bool sw_shared[] = { false, true, true, true };
	static const bool ep_shared[] = { true, false, true, true };
	struct ftr_fabric *f;

	for (uint64_t i = 0; i < 4; i++) {
		ck_assert_int_eq(ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = 0x100 + i, .n_ports = 8, .name = sw_name[i],
		}, &err),
				 FTR_OK);
		/* host ports 2 and 3 are ports of one node */
		ck_assert_int_eq(ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = i < 3 ? 0x200 + 16 * i : 0x220,
			.guid = 0x300 + i, .port_num = 1 + i / 3, .name = ep_name[i],
		}, &err), FTR_OK);
	}
	ck_assert_int_eq(ftr_builder_freeze(b, &f, &err), FTR_OK);
	b = NULL;
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(f->sw[i].name_shared, sw_shared[i]);
		ck_assert_int_eq(f->ep[i].name_shared, ep_shared[i]);
	}
	ftr_fabric_free(f);
}
END_TEST

START_TEST(link_codes)
{
	static const unsigned int vls[] = {
		[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2, [31] = 0
	};

	for (unsigned int i = 0; i < 32; i++)
		ck_assert_uint_eq(ftr_width_active(i), vls[i]);
	ck_assert_int_eq(ftr_speed_active(0, 0), FTR_SPEED_UNKNOWN);
	ck_assert_int_eq(ftr_speed_active(1, 0), FTR_SPEED_SDR);
	ck_assert_int_eq(ftr_speed_active(2, 0), FTR_SPEED_DDR);
	ck_assert_int_eq(ftr_speed_active(4, 0), FTR_SPEED_QDR);
	/* the first number is the speed, the second the extended speed; a port that uses an
	 * extended speed reports QDR as its speed */
	ck_assert_int_eq(ftr_speed_active(4, 1), FTR_SPEED_FDR);
	ck_assert_int_eq(ftr_speed_active(4, 2), FTR_SPEED_EDR);
	ck_assert_int_eq(ftr_speed_active(4, 4), FTR_SPEED_HDR);
	ck_assert_int_eq(ftr_speed_active(4, 8), FTR_SPEED_NDR);
	ck_assert_str_eq(ftr_speed_str(FTR_SPEED_XDR), "XDR");
	ck_assert_ptr_null(ftr_speed_str(FTR_SPEED_UNKNOWN));
	ck_assert_ptr_null(ftr_speed_str(FTR_SPEED_END));
}
END_TEST

/* The name of the host in a node description, without its domain. */
START_TEST(names_of_hosts)
{
	static const struct {
		const char *text, *name;
	} t[] = {
		{ "n1", "n1" }, { "Node-1_b mlx5_0", "Node-1_b" }, { "n1  HCA-2", "n1" },
		{ "n1.site.org HCA-1", "n1" }, { "n1 HCA 1", "" }, { "", "" }, { " n1", "" },
		{ "localhost HCA-1", "" }, { "localhost.site HCA-1", "" },
		/* characters before and after '0' to '9', 'A' to 'Z' and 'a' to 'z' */
		{ "n/1", "" }, { "n:1", "" }, { "n@1", "" }, { "n[1", "" }, { "n`1", "" }, { "n{1", "" },
	};
	char longest[FTR_NAME_MAX + 2], name[FTR_NAME_MAX + 1];
	struct ftr_endport e = { .name = longest };

	for (size_t i = 0; i < FTR_ARRAY_LEN(t); i++) {
		struct ftr_endport host = { .name = t[i].text };

		ftr_ep_host(&host, false, name);
		ck_assert_str_eq(name, t[i].name);
	}
	ftr_ep_host(&(struct ftr_endport){ .name = "n1.site.org HCA-1" }, true, name);
	ck_assert_str_eq(name, "n1.site.org");
	memset(longest, 'n', sizeof(longest));
	longest[FTR_NAME_MAX + 1] = '\0';
	ftr_ep_host(&e, true, name);
	ck_assert_str_eq(name, "");
	longest[FTR_NAME_MAX] = '\0';
	ftr_ep_host(&e, true, name);
	ck_assert_str_eq(name, longest);
}
END_TEST

/* Without switch b, the other switches get other indices.  Turns that use b are left out. */
START_TEST(turns_of_another_fabric)
{
	struct ftr_fabric *f = draw("a: b c h1\nb: c h1\nc: d h1\nd: a h1\n"), *g;
	const ftr_sw a = draw_sw(f, "a"), no = draw_sw(f, "b"), c = draw_sw(f, "c"),
		d = draw_sw(f, "d");
	const struct ftr_turn turn[] = {
		{ a, c, d }, { no, c, d }, { c, no, a }, { d, c, no }, { d, c, a },
	};
	const struct edit e = { .no_sw = no, .no_ep = FTR_EP_NONE, .cut_sw = FTR_SW_NONE,
				.lmc_ep = FTR_EP_NONE, .name_ep = FTR_EP_NONE };
	const uint32_t n = FTR_ARRAY_LEN(turn);
	struct ftr_turn *out;
	uint32_t n_out;

	g = edit_seal(edit_open(f, &e));
	ck_assert(ftr_turns_carry(f, turn, n, g, &out, &n_out));
	ck_assert_uint_eq(n_out, 2);
	for (uint32_t i = 0; i < n_out; i++) {
		const struct ftr_turn *x = &turn[i ? n - 1 : 0];

		ck_assert_uint_eq(g->sw[out[i].from].guid, f->sw[x->from].guid);
		ck_assert_uint_eq(g->sw[out[i].at].guid, f->sw[x->at].guid);
		ck_assert_uint_eq(g->sw[out[i].to].guid, f->sw[x->to].guid);
	}
	free(out);
	ck_assert(ftr_turns_carry(f, NULL, 0, g, &out, &n_out));
	ck_assert_uint_eq(n_out, 0);
	ftr_alloc_fail_at(1);
	ck_assert(!ftr_turns_carry(f, turn, n, g, &out, &n_out));
	ftr_alloc_fail_at(0);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}
END_TEST

START_TEST(difference_of_tables)
{
	struct ftr_fabric *f = draw("a: b h70\nb: c h2\nc: h1\n");
	struct ftr_fabric *g;
	struct ftr_tables *x, *y;
	struct ftr_tables_diff d;

	ck_assert_int_eq(ftr_fabric_copy_if(f, NULL, &g, &err), FTR_OK);
	ck_assert_int_eq(ftr_tables_new(f, true, &x, &err), FTR_OK);
	ck_assert_int_eq(ftr_tables_new(g, true, &y, &err), FTR_OK);
	ck_assert_uint_eq(x->stride, 128);
	ftr_tables_diff(f, x, g, y, &d);
	ck_assert_uint_eq(d.entries + d.blocks + d.switches, 0);
	ftr_tables_row(y, 0)[1] = 3;
	ftr_tables_row(y, 0)[63] = 3;
	ftr_tables_row(y, 0)[64] = 3;
	ftr_tables_row(y, 2)[5] = 3;
	ftr_tables_diff(f, x, g, y, &d);
	ck_assert_uint_eq(d.entries, 4);
	ck_assert_uint_eq(d.blocks, 3);
	ck_assert_uint_eq(d.switches, 2);
	ck_assert_uint_eq(ftr_tables_get(y, 0, 63), 3);
	ck_assert_uint_eq(ftr_tables_get(y, 0, 200), FTR_PORT_NONE);
	ftr_tables_free(x);
	ftr_tables_free(y);
	ftr_tables_free(NULL);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}
END_TEST

/* The LMC of a host changes from 3 to 2, and its base LID from 8 to 12 or not at all.  The entry of
 * a LID is carried over if it is the same LID of the host. */
START_TEST(carried_entries)
{
	for (ftr_lid base = 8; base <= 12; base = (ftr_lid)(base + 4)) {
		struct ftr_builder *two[2] = { b, ftr_builder_new() };
		struct ftr_fabric *f[2];
		struct ftr_tables *t[2];

		for (int i = 0; i < 2; i++) {
			b = two[i];
			sw(0x100);
			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_CA, .node_guid = 0x900, .guid = 0x901,
				.port_num = 1, .lid = i ? base : 8, .lmc = i ? 2 : 3, .name = "h",
			}, &err));
			ck_assert(!ftr_builder_add_link(b, end(0x100, 1), end(0x900, 1), 0, 0, &err));
			ck_assert(!ftr_builder_freeze(b, &f[i], &err));
		}
		b = ftr_builder_new();
		ck_assert(!ftr_tables_new(f[0], true, &t[0], &err));
		memset(ftr_tables_row(t[0], 0), 1, t[0]->max_lid + 1u);
		ck_assert(!ftr_tables_carry(f[0], t[0], f[1], &t[1], &err));
		for (ftr_lid lid = 0; lid <= t[1]->max_lid; lid++)
			ck_assert_uint_eq(ftr_tables_get(t[1], 0, lid),
					  base == 8 && lid >= 8 ? 1 : FTR_PORT_NONE);
		for (int i = 0; i < 2; i++) {
			ftr_tables_free(t[i]);
			ftr_fabric_free(f[i]);
		}
	}
}
END_TEST

START_TEST(path_through_tables)
{
	struct ftr_fabric *f = draw("a: b h2\nb: h1\n");
	ftr_sw x = draw_sw(f, "a"), y = draw_sw(f, "b");
	ftr_lid near = f->ep[draw_host(f, "a", 0)].lid, far = f->ep[draw_host(f, "b", 0)].lid;
	struct ftr_tables *t;
	uint32_t port[2];

	ck_assert(!ftr_tables_new(f, true, &t, &err));
	ftr_tables_row(t, x)[near] = 2;
	ftr_tables_row(t, x)[far] = 1;
	ftr_tables_row(t, y)[far] = 2;
	ftr_tables_row(t, x)[f->sw[y].lid] = 1;
	ftr_tables_row(t, y)[f->sw[y].lid] = 0;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, far, port), 2);
	ck_assert_uint_eq(port[0], f->sw[x].first_port + 1);
	ck_assert_uint_eq(port[1], f->sw[y].first_port + 2);
	ck_assert_uint_eq(ftr_tables_path(f, t, x, near, NULL), 1);
	ck_assert_uint_eq(ftr_tables_path(f, t, x, f->sw[y].lid, port), 2);
	ck_assert_uint_eq(port[1], f->sw[y].first_port);
	/* no entry, another host, a switch instead of a host and the reverse, a loop, no link */
	ck_assert_uint_eq(ftr_tables_path(f, t, y, near, NULL), FTR_NO_PATH);
	ftr_tables_row(t, x)[near] = 3;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, near, NULL), FTR_NO_PATH);
	ftr_tables_row(t, x)[near] = 0;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, near, NULL), FTR_NO_PATH);
	ftr_tables_row(t, y)[f->sw[x].lid] = 0;
	ck_assert_uint_eq(ftr_tables_path(f, t, y, f->sw[x].lid, NULL), FTR_NO_PATH);
	ftr_tables_row(t, y)[f->sw[y].lid] = 2;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, f->sw[y].lid, NULL), FTR_NO_PATH);
	ftr_tables_row(t, y)[far] = 1;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, far, port), FTR_NO_PATH);
	ftr_tables_row(t, y)[far] = 9;
	ck_assert_uint_eq(ftr_tables_path(f, t, x, far, port), FTR_NO_PATH);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fabric");
	TCase *t = tcase_create("fabric");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, order_is_by_guid);
	tcase_add_test(t, contradictions_are_named);
	tcase_add_test(t, lids_overlap_or_misfit);
	tcase_add_test(t, assigned_lids_are_aligned);
	tcase_add_test(t, copies_leave_out_and_keep_lids);
	tcase_add_test(t, shared_names_are_marked);
	tcase_add_test(t, link_codes);
	tcase_add_test(t, turns_of_another_fabric);
	tcase_add_test(t, difference_of_tables);
	tcase_add_test(t, names_of_hosts);
	tcase_add_test(t, carried_entries);
	tcase_add_test(t, path_through_tables);
	suite_add_tcase(s, t);
	return run_suite(s);
}
