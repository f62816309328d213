// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nominal fabric: what growth and contradiction make of it, shapes over it,
 * and the state file in every state that a crash can leave it in.
 *
 *	t1  t2		four leaves with two hosts each, all on both spines
 *	A  B  C  D
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "lib/draw.h"

static struct ftr_err err;

static const char tree[] = "A: t1 t2 h2\nB: t1 t2 h2\nC: t1 t2 h2\n"
	"D: t1 t2 h2\nt1:\nt2:\n";

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f,
				      struct ftr_nominal *old,
				      struct ftr_nominal_change *change)
{
	struct ftr_nominal *n = NULL;

	ck_assert_msg(!ftr_nominal_new(f, NULL, old, NULL, &n, change, &err),
		      "%s", err.msg);
	return n;
}

/* ---- fabrics that differ in one thing ---------------------------------- */

struct edit {
	ftr_sw no_sw;
	ftr_ep no_ep;
	ftr_sw cut_sw;		/* the cable at (cut_sw, cut_port) goes */
	ftr_port cut_port;
	ftr_ep lmc_ep;		/* this one gets LMC 1 and LID 1000 */
	ftr_ep name_ep;		/* this one is called name */
	const char *name;
};

static const struct edit nothing = {
	.no_sw = FTR_SW_NONE, .no_ep = FTR_EP_NONE, .cut_sw = FTR_SW_NONE,
	.lmc_ep = FTR_EP_NONE, .name_ep = FTR_EP_NONE,
};

static bool is_cut(const struct ftr_fabric *f, const struct edit *e, ftr_sw s,
		   unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	if (s == e->cut_sw && p == e->cut_port)
		return true;
	return port->peer_kind == FTR_PEER_SW && port->peer == e->cut_sw &&
	       port->peer_port == e->cut_port;
}

/* f as a builder, less what the edit takes. */
static struct ftr_builder *reopen(const struct ftr_fabric *f,
				  const struct edit *e)
{
	struct ftr_builder *b = ftr_builder_new();

	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (s != e->no_sw)
			ck_assert(!ftr_builder_add_switch(
				b, f->sw[s].guid, f->sw[s].n_ports,
				f->sw[s].lid, f->sw[s].lmc, f->sw[s].name,
				&err));
	for (ftr_ep i = 0; i < f->n_ep; i++) {
		const struct ftr_endport *p = &f->ep[i];
		bool wide = i == e->lmc_ep;

		if (i != e->no_ep)
			ck_assert(!ftr_builder_add_endport(
				b, p->type, p->node_guid, p->guid,
				p->port_num, wide ? 1000 : p->lid,
				wide ? 1 : p->lmc,
				i == e->name_ep ? e->name : p->name, &err));
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);
			struct ftr_end x = { f->sw[s].guid, (ftr_port)p };
			struct ftr_end y = { 0, port->peer_port };
			bool sw = port->peer_kind == FTR_PEER_SW;

			if (port->peer_kind == FTR_PEER_NONE ||
			    s == e->no_sw || (sw && port->peer == e->no_sw) ||
			    (!sw && port->peer == e->no_ep) ||
			    is_cut(f, e, s, p))
				continue;
			y.node_guid = sw ? f->sw[port->peer].guid :
				f->ep[port->peer].node_guid;
			ck_assert(!ftr_builder_add_link(b, x, y, 4,
							FTR_SPEED_HDR, &err));
		}
	}
	return b;
}

static struct ftr_fabric *seal(struct ftr_builder *b)
{
	struct ftr_fabric *f = NULL;

	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert_msg(!ftr_builder_freeze(b, &f, &err), "%s", err.msg);
	return f;
}

static void plug(struct ftr_builder *b, uint64_t a, unsigned int pa, uint64_t z,
		 unsigned int pz)
{
	ck_assert_msg(!ftr_builder_add_link(b, (struct ftr_end){
		a, (ftr_port)pa }, (struct ftr_end){ z, (ftr_port)pz }, 4,
		FTR_SPEED_HDR, &err), "%s", err.msg);
}

static uint64_t guid(const struct ftr_fabric *f, const char *name)
{
	return f->sw[draw_sw(f, name)].guid;
}

static struct ftr_endport host(const struct ftr_fabric *f, const char *sw,
			       unsigned int i)
{
	return f->ep[draw_host(f, sw, i)];
}

/* A case: N = that of tree; F as given; then N' and what changed. */
struct grown {
	struct ftr_fabric *base, *f;
	struct ftr_nominal *old, *n;
	struct ftr_nominal_change c;
	struct ftr_shape *sh;
};

static void grow(struct grown *g)
{
	struct ftr_shape_opts over = { 0 };
	struct ftr_nominal *again;
	struct ftr_nominal_change c;

	g->old = nominal_of(g->base, NULL, NULL);
	g->n = nominal_of(g->f, g->old, &g->c);
	ck_assert_int_eq(g->n != g->old, g->c.grew);
	ck_assert(!g->c.reshaped);
	/* once: the second time there is nothing new */
	again = nominal_of(g->f, g->n, &c);
	ck_assert(again == g->n && !c.grew && !c.example[0]);
	over.nominal = g->old->shape;
	ck_assert_int_eq(ftr_shape_new(g->f, &over, NULL, &g->sh, &err),
			 g->c.grew ? FTR_INVAL : FTR_OK);
	if (g->c.grew) {
		ck_assert_ptr_nonnull(strstr(err.msg, g->c.example));
		over.nominal = g->n->shape;
		ck_assert(!ftr_shape_new(g->f, &over, NULL, &g->sh, &err));
	}
}

static void done(struct grown *g)
{
	ftr_shape_free(g->sh);
	if (g->n != g->old)
		ftr_nominal_free(g->n);
	ftr_nominal_free(g->old);
	ftr_fabric_free(g->base);
	ftr_fabric_free(g->f);
}

static void only(const struct grown *g, uint32_t sw, uint32_t cables,
		 uint32_t hosts, uint32_t changed)
{
	ck_assert_uint_eq(g->c.new_sw, sw);
	ck_assert_uint_eq(g->c.new_cables, cables);
	ck_assert_uint_eq(g->c.new_hosts, hosts);
	ck_assert_uint_eq(g->c.changed, changed);
}

static void dropped(const struct grown *g, uint32_t sw, uint32_t cables,
		    uint32_t hosts)
{
	ck_assert_uint_eq(g->c.dropped_sw, sw);
	ck_assert_uint_eq(g->c.dropped_cables, cables);
	ck_assert_uint_eq(g->c.dropped_hosts, hosts);
}

static void missing(const struct grown *g, uint32_t sw, uint32_t cables,
		    uint32_t hosts)
{
	ck_assert_uint_eq(g->sh->n_missing_sw, sw);
	ck_assert_uint_eq(g->sh->n_missing_cables, cables);
	ck_assert_uint_eq(g->sh->n_missing_hosts, hosts);
}

/* ---- growth ------------------------------------------------------------ */

START_TEST(first_sight)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal_change c;
	struct ftr_nominal *n = nominal_of(f, NULL, &c);

	ck_assert(c.grew && !c.reshaped && !c.example[0]);
	ck_assert_uint_eq(c.new_sw, 6);
	ck_assert_uint_eq(c.new_cables, 8);
	ck_assert_uint_eq(c.new_hosts, 8);
	ck_assert(!c.changed && !c.dropped_sw && !c.dropped_cables &&
		  !c.dropped_hosts);
	ck_assert_uint_eq(n->f->max_lid, 0);
	ck_assert_uint_eq(n->f->n_sw_links, 8);
	ck_assert_uint_eq(n->shape->n_dest, 0);
	ck_assert_uint_eq(n->shape->n_slots[draw_sw(f, "A")], 2);
	ftr_nominal_free(n);
	ftr_nominal_free(NULL);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(faults_are_no_growth)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = nothing;

	e.no_sw = draw_sw(g.base, "t1");
	e.no_ep = draw_host(g.base, "B", 0);
	e.cut_sw = draw_sw(g.base, "C");
	e.cut_port = 2;
	g.f = seal(reopen(g.base, &e));
	grow(&g);
	ck_assert(!g.c.grew);
	missing(&g, 1, 5, 1);
	ck_assert_uint_eq(g.sh->n_absent, 1);
	ck_assert_uint_eq(g.sh->absent[0].sw, draw_sw(g.f, "C"));
	ck_assert_uint_eq(g.sh->absent[0].port, 2);
	ck_assert_uint_eq(g.sh->absent[0].peer, draw_sw(g.f, "t2"));
	ck_assert_uint_eq(g.sh->n_slots[draw_sw(g.f, "A")], 2);
	ck_assert_uint_eq(g.sh->groups[g.sh->group_first[draw_sw(g.f, "A")]]
			  .slot, 1);
	ck_assert_uint_eq(g.sh->divider[draw_sw(g.f, "t2")], 2);
	done(&g);
}
END_TEST

/* A host without its cable is lost, one that never had a cable is nothing. */
START_TEST(hosts_without_cable)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "B");
	e.cut_port = host(g.base, "B", 1).sw_port;
	b = reopen(g.base, &e);
	ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, 0x7000, 0x7001, 1,
					   0, 0, "idle", &err));
	g.f = seal(b);
	grow(&g);
	ck_assert(!g.c.grew);
	missing(&g, 0, 0, 1);
	done(&g);
}
END_TEST

START_TEST(new_host)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b = reopen(g.base, &nothing);

	ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, 0x7000, 0x7001, 1,
					   0, 0, "new", &err));
	plug(b, 0x7000, 1, guid(g.base, "B"), 9);
	g.f = seal(b);
	grow(&g);
	only(&g, 0, 0, 1, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 0, 0, 0);
	ck_assert_str_eq(g.c.example, "host port 0x0000000000007001 \"new\"");
	done(&g);
}
END_TEST

START_TEST(new_cable)
{
	struct grown g = { .base = draw(tree) };
	struct ftr_builder *b = reopen(g.base, &nothing);

	plug(b, guid(g.base, "A"), 20, guid(g.base, "t2"), 20);
	g.f = seal(b);
	grow(&g);
	only(&g, 0, 1, 0, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 0, 0, 0);
	ck_assert_str_eq(g.c.example,
			 "cable 0x0000000000010000[20] - 0x0000000000060000[20]");
	done(&g);
}
END_TEST

/* A new spine, while another is dead: its slot stays. */
START_TEST(new_switch)
{
	struct grown g = { .base = draw(tree) };
	static const char *const leaf[] = { "A", "B", "C", "D" };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = reopen(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, 0x90000, 36, 0, 0, "t3", &err));
	for (unsigned int i = 0; i < 4; i++)
		plug(b, guid(g.base, leaf[i]), 30, 0x90000, i + 1);
	g.f = seal(b);
	grow(&g);
	only(&g, 1, 4, 0, 0);
	dropped(&g, 0, 0, 0);
	missing(&g, 1, 4, 0);
	ck_assert_str_eq(g.c.example, "switch 0x0000000000090000 \"t3\"");
	ck_assert_uint_eq(g.sh->n_slots[draw_sw(g.f, "A")], 3);
	ck_assert_uint_eq(g.sh->n_up[draw_sw(g.f, "A")], 2);
	done(&g);
}
END_TEST

/* The cable of A to t1 is now at another port of t1. */
START_TEST(recabled_port)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = 1;
	b = reopen(g.base, &e);
	plug(b, guid(g.base, "A"), 1, guid(g.base, "t1"), 33);
	g.f = seal(b);
	grow(&g);
	only(&g, 0, 1, 0, 0);
	dropped(&g, 0, 1, 0);
	missing(&g, 0, 0, 0);
	done(&g);
}
END_TEST

/* A port that led to t1 has a host now. */
START_TEST(host_in_place_of_cable)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = 1;
	b = reopen(g.base, &e);
	ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, 0x7000, 0x7001, 1,
					   0, 0, "new", &err));
	plug(b, guid(g.base, "A"), 1, 0x7000, 1);
	g.f = seal(b);
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
	struct edit e = nothing;
	struct ftr_builder *b;
	ftr_ep moved;

	e.cut_sw = draw_sw(g.base, "A");
	e.cut_port = p.sw_port;
	b = reopen(g.base, &e);
	plug(b, p.node_guid, p.port_num, guid(g.base, "D"), 17);
	g.f = seal(b);
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

/* A host's adapter was replaced: other GUIDs at the same port, or the same
 * node and port with another port GUID. */
START_TEST(replaced_adapter)
{
	for (int same_node = 0; same_node < 2; same_node++) {
		struct grown g = { .base = draw(tree) };
		struct ftr_endport p = host(g.base, "A", 1);
		struct edit e = nothing;
		struct ftr_builder *b;
		uint64_t node = same_node ? p.node_guid : 0x7000;

		e.no_ep = draw_host(g.base, "A", 1);
		b = reopen(g.base, &e);
		ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, node,
						   0x7777, 1, 0, 0, "new",
						   &err));
		/* the second at another place, so that only the node tells */
		plug(b, node, 1, guid(g.base, "A"),
		     same_node ? 19 : p.sw_port);
		g.f = seal(b);
		grow(&g);
		only(&g, 0, 0, 1, 0);
		dropped(&g, 0, 0, 1);
		missing(&g, 0, 0, 0);
		ck_assert_uint_eq(g.n->f->n_ep, 8);
		done(&g);
	}
}
END_TEST

/* t1 was replaced by a switch with another GUID at the same cables, but one of
 * these is not plugged yet: t1 is a ghost all the same. */
START_TEST(replaced_switch)
{
	struct grown g = { .base = draw(tree) };
	static const char *const leaf[] = { "A", "B", "C" };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = reopen(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, 0x90000, 36, 0, 0, "t1", &err));
	for (unsigned int i = 0; i < 3; i++)
		plug(b, guid(g.base, leaf[i]), 1, 0x90000, i + 1);
	g.f = seal(b);
	grow(&g);
	only(&g, 1, 3, 0, 0);
	dropped(&g, 1, 4, 0);
	missing(&g, 0, 0, 0);
	/* and the fourth cable is inferred */
	ck_assert_uint_eq(g.sh->n_slots[draw_sw(g.f, "D")], 2);
	ck_assert_uint_eq(g.sh->n_up[draw_sw(g.f, "D")], 1);
	done(&g);
}
END_TEST

/* A switch comes back with fewer ports: cables beyond go. */
START_TEST(fewer_ports)
{
	struct grown g = { .base = draw(tree) };
	struct edit e = nothing;
	struct ftr_builder *b;

	e.no_sw = draw_sw(g.base, "t1");
	b = reopen(g.base, &e);
	ck_assert(!ftr_builder_add_switch(b, guid(g.base, "t1"), 3, 0, 0, "t1",
					  &err));
	plug(b, guid(g.base, "t1"), 1, guid(g.base, "A"), 1);
	g.f = seal(b);
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
	struct edit e = nothing;
	ftr_ep wide = e.lmc_ep = draw_host(g.base, "B", 1);

	g.f = seal(reopen(g.base, &e));
	grow(&g);
	only(&g, 0, 0, 0, 1);
	ck_assert_uint_eq(g.n->f->ep[wide].lmc, 1);
	ck_assert_ptr_nonnull(strstr(g.c.example, "another LMC"));
	/* both LIDs have their index */
	for (uint32_t i = 0; i < g.sh->n_dest; i++)
		if (g.sh->dest[i].lid >= 1000)
			ck_assert_uint_eq(g.sh->dest[i].d,
					  g.sh->ep_place[wide].d +
					  g.sh->dest[i].lid - 1000);
	done(&g);
}
END_TEST

/* A node description that comes late: of no concern in the order by GUID,
 * unless it says that this is an Aggregation Node. */
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
			struct edit e = nothing;

			e.name_ep = draw_host(base, "A", 0);
			e.name = name[i];
			f = seal(reopen(base, &e));
			ck_assert(!ftr_nominal_new(base, &o, NULL, NULL, &old,
						   NULL, &err));
			ck_assert(!ftr_nominal_new(f, &o, old, NULL, &n, &c,
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

/* Other options make another shape of the same fabric; the same lists in
 * another order are the same. */
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
	struct edit e = nothing;

	e.no_sw = draw_sw(f, "t1");
	part = seal(reopen(f, &e));
	ck_assert(!ftr_nominal_new(part, &empty, a, NULL, &n, &c, &err));
	ck_assert(n == a && !c.reshaped);
	ck_assert(!ftr_nominal_new(part, &by_ab, a, NULL, &b, &c, &err));
	ck_assert(b != a && c.reshaped && !c.grew);
	ck_assert_uint_eq(b->f->n_sw, 6);
	ck_assert_uint_eq(b->shape->n_leaf, 1);
	ck_assert(!ftr_nominal_new(part, &by_ba, b, NULL, &n, &c, &err));
	ck_assert(n == b && !c.reshaped);
	ck_assert(!ftr_nominal_new(part, &io, b, NULL, &n, &c, &err));
	ck_assert(n != b && c.reshaped);
	ftr_nominal_free(n);
	ftr_nominal_free(b);
	ftr_nominal_free(a);
	ftr_fabric_free(part);
	ftr_fabric_free(f);
}
END_TEST

/* What cannot be shaped: the old one stays. */
START_TEST(refused)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal *a = nominal_of(f, NULL, NULL), *n = NULL;
	static const uint64_t nobody[] = { 0x123 };
	struct ftr_shape_opts roots = { .roots = { nobody, 1 } };
	struct ftr_shape_opts over = { .nominal = a->shape };
	struct ftr_shape *sh = NULL, *twice = NULL;

	ck_assert_int_eq(ftr_nominal_new(f, &roots, a, NULL, &n, NULL, &err),
			 FTR_SHAPE);
	ck_assert_ptr_null(n);
	ck_assert(!ftr_shape_new(f, &over, NULL, &sh, &err));
	over.nominal = sh;
	ck_assert_int_eq(ftr_shape_new(f, &over, NULL, &twice, &err),
			 FTR_INVAL);
	ftr_shape_free(sh);
	ftr_nominal_free(a);
	ftr_fabric_free(f);
}
END_TEST

/* ---- slots that are built so ------------------------------------------- */

/* A PORTS-port leaf: E has room for two of three spines only, or for all. */
static uint32_t slots_of_slim(unsigned int ports)
{
	struct ftr_fabric *f = draw("A: t1 t2 t3 h2\nB: t1 t2 t3 h2\n"
				    "C: t1 t2 t3 h2\nt1:\nt2:\nt3:\n"), *g;
	struct ftr_builder *b = reopen(f, &nothing);
	struct ftr_shape *sh = NULL;
	uint32_t n;

	ck_assert(!ftr_builder_add_switch(b, 0x90000, ports, 0, 0, "E", &err));
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(!ftr_builder_add_endport(b, FTR_NODE_CA, 0x7000 + i,
						   0x7100 + i, 1, 0, 0, "e",
						   &err));
		plug(b, 0x7000 + i, 1, 0x90000, i + 1);
	}
	plug(b, guid(f, "t1"), 30, 0x90000, 3);
	plug(b, guid(f, "t2"), 30, 0x90000, 4);
	g = seal(b);
	ck_assert(!ftr_shape_new(g, NULL, NULL, &sh, &err));
	ck_assert_uint_eq(sh->n_slots[draw_sw(g, "A")], 3);
	n = sh->n_slots[draw_sw(g, "E")];
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

/* Every leaf on two of three spines is a plan, on three of four is damage. */
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
		ck_assert_uint_eq(sh->n_slots[s], 2);
	ftr_shape_free(sh);
	ck_assert(!ftr_shape_new(three, NULL, NULL, &sh, &err));
	for (ftr_sw s = 0; s < 4; s++)
		ck_assert_uint_eq(sh->n_slots[s], 4);
	/* B lacks t1, so its groups take slots 1 to 3 */
	for (uint32_t k = 0; k < 3; k++)
		ck_assert_uint_eq(sh->groups[sh->group_first[1] + k].slot,
				  k + 1);
	ftr_shape_free(sh);
	ftr_fabric_free(two);
	ftr_fabric_free(three);
}
END_TEST

/* ---- the state file ---------------------------------------------------- */

static char path[64];

static void fresh_path(void)
{
	int fd;

	strcpy(path, "/tmp/ftr-state-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void put(const char *text, size_t len)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(text, 1, len, out), len);
	fclose(out);
}

static char *get(size_t *len)
{
	FILE *in = fopen(path, "r");
	char *text;

	ck_assert_ptr_nonnull(in);
	fseek(in, 0, SEEK_END);
	*len = (size_t)ftell(in);
	rewind(in);
	text = calloc(*len + 1, 1);
	ck_assert_uint_eq(fread(text, 1, *len, in), *len);
	fclose(in);
	return text;
}

static enum ftr_status try_read(void)
{
	struct ftr_nominal *n = NULL;
	enum ftr_status st;

	err.msg[0] = '\0';
	st = ftr_nominal_read(path, NULL, NULL, &n, NULL, &err);
	ck_assert_int_eq(st == FTR_OK, n != NULL);
	if (st) {
		ck_assert_int_eq(err.status, st);
		ck_assert_msg(strstr(err.msg, path) != NULL, "%s", err.msg);
	}
	ftr_nominal_free(n);
	return st;
}

static char *good(size_t *len)
{
	struct ftr_fabric *f = draw("A: t1 t2 h1 an\nB: t1 t2 h1 rt\nt1:\nt2:\n");
	struct ftr_nominal *n = nominal_of(f, NULL, NULL);

	fresh_path();
	ck_assert(!ftr_nominal_write(path, n, &err));
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	return get(len);
}

START_TEST(torn_at_every_offset)
{
	size_t len;
	char *text = good(&len);

	ck_assert_int_eq(try_read(), FTR_OK);
	for (size_t i = 0; i < len; i++) {
		put(text, i);
		ck_assert_int_eq(try_read(), FTR_PARSE);
	}
	/* and with something behind it */
	text[len] = '\n';
	put(text, len + 1);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	free(text);
	unlink(path);
}
END_TEST

START_TEST(every_byte_damaged)
{
	size_t len;
	char *text = good(&len);

	for (size_t i = 0; i < len; i++) {
		static const char flip[] = { 1, 32, (char)128 };

		for (size_t k = 0; k < sizeof(flip); k++) {
			text[i] = (char)(text[i] ^ flip[k]);
			put(text, len);
			/* hex digits of the sum may change their case */
			if (!(flip[k] == 32 && i >= 20 && i < 36))
				ck_assert_msg(try_read() == FTR_PARSE,
					      "byte %zu", i);
			text[i] = (char)(text[i] ^ flip[k]);
		}
	}
	free(text);
	unlink(path);
}
END_TEST

#define SW "S 0000000000000001 36 0 a\n"

/* A body with a right sum and length over it, which holds nonsense. */
static enum ftr_status read_body(const char *body)
{
	char rest[2000], head[64];
	FILE *out;
	int n = snprintf(rest, sizeof(rest), "%zu guid %016x\n%s",
			 strlen(body), 0, body);

	snprintf(head, sizeof(head), "ibfattree-nominal 1 %016" PRIx64 " ",
		 ftr_hash(FTR_HASH_INIT, rest, (size_t)n));
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(head, out);
	fputs(rest, out);
	fclose(out);
	return try_read();
}

START_TEST(nonsense_inside)
{
	static const char *const bad[] = {
		"X\n", "S\n", "S 1 36 0 a\n", "S 0000000000000001 0 0 a\n",
		"S 0000000000000001 255 0 a\n", "S 0000000000000001 36 8 a\n",
		"S 0000000000000001 36 0\n", "S 0000000000000001 036 0 a\n",
		"S 0x00000000000001 36 0 a\n",
		"S 0000000000000001 36 0 %\n", "S 0000000000000001 36 0 %4\n",
		"S 0000000000000001 36 0 %00\n",
		"S 0000000000000001 36 0 %zz\n",
		"S 0000000000000001 36 0 a", SW "S 0000000000000001 35 0 a\n",
		SW "E 0000000000000002 0000000000000003 0 C 0 h\n",
		SW "E 0000000000000002 0000000000000003 1 D 0 h\n",
		SW "E 0000000000000002 0000000000000001 1 C 0 h\n",
		SW "L 0000000000000001 1 0000000000000009 1\n",
		SW "L 0000000000000001 1 0000000000000001 1\n",
		SW "L 0000000000000001 37 0000000000000001 1\n",
		SW "L 0000000000000001 1 0000000000000001 2 3\n",
		"S 0000000000000001 36 0 "
		"12345678901234567890123456789012345678901234567890123456789012345\n",
	};

	fresh_path();
	ck_assert_int_eq(read_body(SW), FTR_OK);
	for (size_t i = 0; i < FTR_ARRAY_LEN(bad); i++)
		ck_assert_msg(read_body(bad[i]) == FTR_PARSE, "%s: %s", bad[i],
			      err.msg);
	unlink(path);
}
END_TEST

START_TEST(other_files)
{
	size_t len;
	char *text = good(&len);

	ck_assert(ftr_nominal_is_file(path));
	text[18] = '2';
	put(text, len);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "version 2, known is 1"));
	ck_assert(ftr_nominal_is_file(path));
	put("vendid=0x2c9\n", 13);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "no state file"));
	ck_assert(!ftr_nominal_is_file(path));
	unlink(path);
	ck_assert_int_eq(try_read(), FTR_IO);
	ck_assert(!ftr_nominal_is_file(path));
	strcpy(path, "/tmp");
	ck_assert_int_eq(try_read(), FTR_IO);
	free(text);
}
END_TEST

/* Names of all bytes, the order by names, lists: all of it comes back. */
START_TEST(names_and_options)
{
	struct ftr_fabric *base = draw(tree), *f;
	struct ftr_shape_opts o = { .leaf_order = FTR_LEAF_BY_NAME };
	struct ftr_shape_opts cn = o;
	struct ftr_nominal *n = NULL, *back = NULL;
	struct edit e = nothing;
	size_t la, lb;
	char *a, *b;
	bool reshaped;

	e.name_ep = draw_host(base, "D", 0);
	e.name = "%\t\x01\x7f\"' \xc3\xa4 %41 ";
	f = seal(reopen(base, &e));
	ck_assert(!ftr_nominal_new(f, &o, NULL, NULL, &n, NULL, &err));
	fresh_path();
	ck_assert(!ftr_nominal_write(path, n, &err));
	a = get(&la);
	ck_assert(!ftr_nominal_read(path, &o, NULL, &back, &reshaped, &err));
	ck_assert(!reshaped);
	ck_assert_str_eq(back->f->ep[e.name_ep].name, e.name);
	ck_assert(!memcmp(back->shape->col, n->shape->col,
			  f->n_sw * sizeof(*n->shape->col)));
	ck_assert(!ftr_nominal_write(path, back, &err));
	b = get(&lb);
	ck_assert(la == lb && !memcmp(a, b, la));
	ftr_nominal_free(back);
	/* other options: the same fabric, another shape */
	ck_assert(!ftr_nominal_read(path, NULL, NULL, &back, &reshaped, &err));
	ck_assert(reshaped);
	ck_assert_uint_eq(back->leaf_order, FTR_LEAF_BY_GUID);
	ftr_nominal_free(back);
	cn.cn = (struct ftr_guids){ &f->ep[0].guid, 1 };
	ck_assert(!ftr_nominal_read(path, &cn, NULL, &back, &reshaped, &err));
	ck_assert(reshaped && back->shape->n_leaf == 1);
	ftr_nominal_free(back);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
	free(a);
	free(b);
	unlink(path);
}
END_TEST

/* A write that fails leaves the old content and no litter. */
START_TEST(write_fails)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal *n = nominal_of(f, NULL, NULL);
	char dir[] = "/tmp/ftr-state-XXXXXX", target[80];

	ck_assert_int_eq(ftr_nominal_write("/nonexistent/dir/file", n, &err),
			 FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/dir/file"));
	/* a directory with something in it cannot be replaced */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(target, sizeof(target), "%s/state", dir);
	ck_assert(!mkdir(target, 0700));
	ck_assert_int_eq(ftr_nominal_write(target, n, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, target));
	ck_assert(!rmdir(target));
	ck_assert_msg(!rmdir(dir), "something is left in %s", dir);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
}
END_TEST

/* ---- memory, threads --------------------------------------------------- */

START_TEST(every_allocation_may_fail)
{
	struct ftr_fabric *f = draw(tree), *part;
	struct ftr_nominal *a = NULL, *b = NULL;
	struct ftr_shape_opts over = { 0 };
	struct ftr_shape *sh = NULL;
	struct edit e = nothing;
	unsigned long n;
	enum ftr_status st;

	e.no_sw = draw_sw(f, "t1");
	part = seal(reopen(f, &e));
	fresh_path();
#define UNTIL_IT_WORKS(call)						\
	for (n = 1;; n++) {						\
		ftr_alloc_fail_at(n);					\
		st = call;						\
		ftr_alloc_fail_at(0);					\
		if (!st)						\
			break;						\
		ck_assert_int_eq(st, FTR_NOMEM);			\
	}								\
	ck_assert_uint_gt(n, 1)
	UNTIL_IT_WORKS(ftr_nominal_new(part, NULL, NULL, NULL, &a, NULL,
				       &err));
	UNTIL_IT_WORKS(ftr_nominal_new(f, NULL, a, NULL, &b, NULL, &err));
	UNTIL_IT_WORKS(ftr_nominal_write(path, b, &err));
	ftr_nominal_free(a);
	UNTIL_IT_WORKS(ftr_nominal_read(path, NULL, NULL, &a, NULL, &err));
	over.nominal = a->shape;
	UNTIL_IT_WORKS(ftr_shape_new(part, &over, NULL, &sh, &err));
	ftr_shape_free(sh);
	ftr_nominal_free(a);
	ftr_nominal_free(b);
	ftr_fabric_free(part);
	ftr_fabric_free(f);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nominal");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, first_sight);
	tcase_add_test(tc, faults_are_no_growth);
	tcase_add_test(tc, hosts_without_cable);
	tcase_add_test(tc, new_host);
	tcase_add_test(tc, new_cable);
	tcase_add_test(tc, new_switch);
	tcase_add_test(tc, recabled_port);
	tcase_add_test(tc, host_in_place_of_cable);
	tcase_add_test(tc, moved_host);
	tcase_add_test(tc, replaced_adapter);
	tcase_add_test(tc, replaced_switch);
	tcase_add_test(tc, fewer_ports);
	tcase_add_test(tc, other_lmc);
	tcase_add_test(tc, other_names);
	tcase_add_test(tc, other_options);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, no_port_no_slot);
	tcase_add_test(tc, share_of_pairs);
	tcase_add_test(tc, torn_at_every_offset);
	tcase_add_test(tc, every_byte_damaged);
	tcase_add_test(tc, nonsense_inside);
	tcase_add_test(tc, other_files);
	tcase_add_test(tc, names_and_options);
	tcase_add_test(tc, write_fails);
	tcase_add_test(tc, every_allocation_may_fail);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
