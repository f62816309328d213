// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests shapes (ranks, port groups, costs and dividers of a fabric) with the examples in the
 * figures of Gliksberg et al. 2020, and with irregular trees like those of real sites.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/draw.h"
#include "lib/suite.h"

static struct ftr_err err;

static struct ftr_shape *shape_of(const struct ftr_fabric *f,
				  const struct ftr_shape_opts *opts)
{
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, opts, NULL, &sh, &err), "%s", err.msg);
	return sh;
}

static unsigned int cost(const struct ftr_shape *sh, const char *from,
			 const char *to)
{
	return ftr_shape_cost(sh, draw_sw(sh->f, from))
		[sh->numbering.col[draw_sw(sh->f, to)]];
}

static unsigned int down(const struct ftr_shape *sh, const char *from,
			 const char *to)
{
	return ftr_shape_down(sh, draw_sw(sh->f, from))
		[sh->numbering.col[draw_sw(sh->f, to)]];
}

static unsigned int rank(const struct ftr_shape *sh, const char *name)
{
	return sh->tree.rank[draw_sw(sh->f, name)];
}

static unsigned int divider(const struct ftr_shape *sh, const char *name)
{
	return (unsigned int)sh->numbering.divider[draw_sw(sh->f, name)];
}

static ftr_port entry(const struct ftr_shape *sh, const char *sw, ftr_lid lid)
{
	struct ftr_tables *t;
	ftr_port p;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL, &err));
	p = ftr_tables_get(t, draw_sw(sh->f, sw), lid);
	ftr_tables_free(t);
	return p;
}

/*
 * Gliksberg et al. 2020, figure 2: the costs (hops) to switch L in a damaged tree.  The algorithm
 * first finds a path from m1 over t1 and u, and must then replace it with the shorter path over t2.
 * So a cost c' must be replaced if a neighbour has a cost c with c + 1 < c', and not only if c' is
 * infinite.
 *
 *	rank 3        u
 *	            / | \
 *	rank 2   t1  t2  t3
 *	         | \/ |   |
 *	rank 1  m0 m1 m2  m3		t2 - m1, t2 - m2
 *	         |  |  |   |
 *	rank 0  K  J   L   M		t1 has lost its link to m2
 */
START_TEST(figure_2_costs)
{
	struct ftr_fabric *f = draw("K: m0 h2\nJ: m1 h2\nL: m2 h2\nM: m3 h2\n"
				    "m0: t1\nm1: t1 t2\nm2: t2\nm3: t3\n"
				    "t1: u\nt2: u\nt3: u\nu:\n");
	struct ftr_shape *sh = shape_of(f, NULL);

	ck_assert_uint_eq(sh->tree.n_ranks, 4);
	/* first pass, upward: costs of the switches above L */
	ck_assert_uint_eq(cost(sh, "L", "L"), 0);
	ck_assert_uint_eq(cost(sh, "m2", "L"), 1);
	ck_assert_uint_eq(cost(sh, "t2", "L"), 2);
	ck_assert_uint_eq(cost(sh, "u", "L"), 3);
	ck_assert_uint_eq(down(sh, "u", "L"), 3);
	/* second pass, downward: costs of all other switches */
	ck_assert_uint_eq(cost(sh, "t1", "L"), 4);
	ck_assert_uint_eq(down(sh, "t1", "L"), FTR_COST_INF);
	ck_assert_uint_eq(cost(sh, "m0", "L"), 5);
	ck_assert_uint_eq(cost(sh, "K", "L"), 6);
	/* m1 has cost 5 over t1 and 3 over t2 */
	ck_assert_uint_eq(cost(sh, "m1", "L"), 3);
	ck_assert_uint_eq(cost(sh, "J", "L"), 4);
	ck_assert_uint_eq(cost(sh, "M", "L"), 6);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * Gliksberg et al. 2020, figure 3: dividers Pi, by which equation (3) divides, in a damaged tree.
 * Leaves have 2 switches above them, so Pi = 2 for middle switches.  A middle switch without
 * missing links has 3 switches above it, so Pi = 2 * 3 = 6 for top switches.  m1 has lost one link,
 * so Pi would be only 2 * 2 = 4 above m1.  But t0 and t1 keep Pi = 6, which comes from m0: "the
 * first upswitch is not updated because pi = 2 x 2 <= 6".
 *
 *	rank 2    t0  t1  t2   t3  t4  t5
 *	           | \/|\/|     |  / \ /
 *	rank 1    m0     m1 .. m2     m3	m0: t0 t1 t2, m1: t0 t1
 *	           | \  / |			m2: t3 t4 t5, m3: t4 t5
 *	rank 0     A  B  C  D			A, B: m0 m2; C, D: m1 m3
 */
START_TEST(figure_3_dividers)
{
	struct ftr_fabric *f = draw("A: m0 m2 h2\nB: m0 m2 h2\nC: m1 m3 h2\n"
				    "D: m1 m3 h2\nm0: t0 t1 t2\nm1: t0 t1\n"
				    "m2: t3 t4 t5\nm3: t4 t5\nt0:\nt1:\nt2:\n"
				    "t3:\nt4:\nt5:\n");
	struct ftr_shape *sh = shape_of(f, NULL);
	static const char *const top[] = { "t0", "t1", "t4", "t5" };

	ck_assert_uint_eq(divider(sh, "A"), 1);
	ck_assert_uint_eq(divider(sh, "m0"), 2);
	ck_assert_uint_eq(divider(sh, "m1"), 2);
	for (size_t i = 0; i < FTR_ARRAY_LEN(top); i++)
		ck_assert_uint_eq(divider(sh, top[i]), 6);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * Gliksberg et al. 2020, figure 4: switch s chooses between two groups of three links, to x and y.
 * With Pi_s = 4 and d = 20 it takes group floor(20 / 4) mod 2 = 1, link floor(20 / 8) mod 3 = 2.
 * Each leaf has 4 hosts, so d = 20 is the first host of the sixth leaf.  Switch s is above P and
 * P2, switch r above R and R2.  The other pods are alike.
 *
 *	rank 3       x             y
 *	            /|\           /|\
 *	rank 2     s   s2  s3  s4  ...
 *	           |\ /|
 *	rank 1    P   Q   |   R   S
 *	          |\ /|       |\ /|
 *	rank 0    A   B       E   F ...
 */
START_TEST(figure_4_route)
{
	struct ftr_fabric *f = draw(
		"A: P Q h4\nB: P Q h4\nC: P2 Q2 h4\nD: P2 Q2 h4\n"
		"E: R S h4\nF: R S h4\nG: R2 S2 h4\nH: R2 S2 h4\n"
		"P: s s2\nQ: s3 s4\nP2: s s2\nQ2: s3 s4\n"
		"R: r r2\nS: r3 r4\nR2: r r2\nS2: r3 r4\n"
		"s: x*3 y*3\ns2: x2*3 y2*3\ns3: x3*3 y3*3\ns4: x4*3 y4*3\n"
		"r: x*3 y*3\nr2: x2*3 y2*3\nr3: x3*3 y3*3\nr4: x4*3 y4*3\n"
		"x:\ny:\nx2:\ny2:\nx3:\ny3:\nx4:\ny4:\n");
	struct ftr_shape *sh = shape_of(f, NULL);
	ftr_ep e = draw_host(f, "F", 0);
	const struct ftr_dest *t = NULL;
	const struct ftr_swport *port;
	ftr_sw s = draw_sw(f, "s");
	ftr_port p, nth = 0;

	ck_assert_uint_eq(sh->tree.n_ranks, 4);
	ck_assert_uint_eq(sh->numbering.divider[s], 4);
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		if (sh->numbering.dest[i].lid == f->ep[e].lid)
			t = &sh->numbering.dest[i];
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->d, 20);
	p = entry(sh, "s", f->ep[e].lid);
	port = ftr_fabric_port(f, s, p);
	ck_assert_str_eq(f->sw[port->peer].name, "y");
	for (ftr_port q = 1; q < p; q++)
		nth += ftr_fabric_port(f, s, q)->peer_kind == FTR_PEER_SW &&
			ftr_fabric_port(f, s, q)->peer == port->peer;
	ck_assert_uint_eq(nth, 2);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * A switch that can send downward must do so.  (<ftr/shape.h> explains this deviation from the
 * paper.)  v0 reaches l0 by a downward path of 3 hops, and by an upward path over u of 2 hops.  If
 * v0 took the shorter path, packets from s would go down to v0 and up again.
 *
 * The link from u to l0 skips ranks.  u has nine chains of switches below it, so that this one
 * irregular link does not lower the rank of u.
 *
 *	rank 4   s      u
 *	         | \   /|\ \
 *	rank 3   |  v0 | v1 .. v8
 *	         |  w0 | w1 .. w8
 *	         |  x0 | x1 .. x8
 *	rank 0   |  l0-+ l1 .. l8
 *	         +--------v1
 */
START_TEST(entered_from_above_goes_down)
{
	char text[2000];
	int at = snprintf(text, sizeof(text), "u: l0\ns: v0 v1\n");
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	ftr_lid lid;
	ftr_sw v;

	for (int i = 0; i < 9; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at,
			       "v%d: u\nw%d: v%d\nx%d: w%d\nl%d: x%d h2\n",
			       i, i, i, i, i, i, i);
	f = draw(text);
	sh = shape_of(f, NULL);
	lid = f->ep[draw_host(f, "l0", 0)].lid;
	v = draw_sw(f, "v0");
	ck_assert_uint_eq(rank(sh, "s"), 4);
	ck_assert_uint_eq(rank(sh, "u"), 4);
	ck_assert_uint_eq(rank(sh, "v0"), 3);
	ck_assert_uint_eq(down(sh, "s", "l0"), 4);
	ck_assert_uint_eq(cost(sh, "v0", "l0"), 3);
	ck_assert_uint_eq(cost(sh, "u", "l0"), 1);
	ck_assert_str_eq(f->sw[ftr_fabric_port(f, v, entry(sh, "v0", lid))
			       ->peer].name, "w0");
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * A login host on a spine, or a leaf with few hosts, changes the rank of no switch.
 *
 *	rank 1     S1   S2 +login
 *	          /|\\ //|\
 *	rank 0   A B  C   D(1 host)
 */
START_TEST(odd_hosts_and_slim_leaves)
{
	struct ftr_fabric *f = draw("A: S1*2 S2*2 h8\nB: S1*2 S2*2 h8\n"
				    "C: S1*2 S2*2 h8\nD: S1*2 S2*2 h1\n"
				    "S1:\nS2: h1 an\n");
	struct ftr_shape *sh = shape_of(f, NULL);

	ck_assert_uint_eq(sh->tree.n_ranks, 2);
	ck_assert_uint_eq(rank(sh, "D"), 0);
	ck_assert_uint_eq(rank(sh, "S1"), 1);
	ck_assert_uint_eq(rank(sh, "S2"), 1);
	ck_assert_uint_eq(sh->tree.n_leaf, 4);
	ck_assert_uint_eq(sh->tree.n_odd, 1);
	ck_assert_uint_eq(sh->numbering.stride, 8);
	ck_assert_uint_eq(sh->tree.n_planes, 2);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * Three levels with an I/O host on every top and middle switch, and a rack switch R directly below
 * a top switch.  No upper switch gets a lower rank.
 *
 *	rank 2    t1   t2   (+io each)
 *	          |\  /|
 *	rank 1   m1 m2 m3 m4 (+io each)      R - t1
 *	         |\/|  |\/|
 *	rank 0   A  B  C  D
 */
START_TEST(hosts_on_every_level)
{
	struct ftr_fabric *f = draw("A: m1*2 m2*2 h6\nB: m1*2 m2*2 h6\n"
				    "C: m3*2 m4*2 h6\nD: m3*2 m4*2 h6\n"
				    "m1: t1*2 h1\nm2: t2*2 h1\nm3: t1*2 h1\n"
				    "m4: t2*2 h1\nt1: h1\nt2: h1\nR: t1 h6\n");
	struct ftr_shape *sh = shape_of(f, NULL);
	static const char *const leaf[] = { "A", "B", "C", "D", "R" };
	static const char *const mid[] = { "m1", "m2", "m3", "m4" };

	for (size_t i = 0; i < FTR_ARRAY_LEN(leaf); i++)
		ck_assert_uint_eq(rank(sh, leaf[i]), 0);
	for (size_t i = 0; i < FTR_ARRAY_LEN(mid); i++)
		ck_assert_uint_eq(rank(sh, mid[i]), 1);
	ck_assert_uint_eq(rank(sh, "t1"), 2);
	ck_assert_uint_eq(rank(sh, "t2"), 2);
	ck_assert_uint_eq(sh->tree.n_odd, 6);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * A leaf below another leaf gets a lower rank than that leaf, so that its hosts are reachable.
 *
 *	rank 2     S1   S2
 *	           | \ / |
 *	rank 1     A  B  C
 *	           |
 *	rank 0     D
 */
START_TEST(hanging_leaf)
{
	struct ftr_fabric *f = draw("A: S1 S2 D h4\nB: S1 S2 h4\n"
				    "C: S1 S2 h4\nD: h4\nS1:\nS2:\n");
	struct ftr_shape *sh = shape_of(f, NULL);
	struct ftr_validity v;

	ck_assert_uint_eq(rank(sh, "D"), 0);
	ck_assert_uint_eq(rank(sh, "A"), 1);
	ck_assert_uint_eq(rank(sh, "S1"), 2);
	ck_assert_uint_eq(cost(sh, "C", "D"), 3);
	ck_assert_uint_eq(cost(sh, "D", "C"), 3);
	ftr_shape_validity(sh, &v);
	ck_assert_uint_eq(v.leaf_pairs, 12);
	ck_assert_uint_eq(v.bad_pairs, 0);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* No switch is above another: two switches back to back, a ring of five, a single switch,
 * unconnected parts.  In each part every pair of hosts has a path. */
START_TEST(flat_fabrics)
{
	static const struct {
		const char *text;
		uint64_t bad;
	} flat[] = {
		{ "A: B*2 h4\nB: h4\n", 0 },
		{ "A: B h1\nB: C h1\nC: D h1\nD: E h1\nE: A h1\n", 0 },
		{ "A: h4\n", 0 },
		{ "A: B h4\nB: h4\nC: D h4\nD: h4\n", 8 },
		{ "A: h1\nB: C\nC:\n", 0 },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(flat); i++) {
		struct ftr_fabric *f = draw(flat[i].text);
		struct ftr_shape *sh = shape_of(f, NULL);
		struct ftr_validity v;

		ftr_shape_validity(sh, &v);
		ck_assert_uint_eq(v.bad_pairs, flat[i].bad);
		ck_assert_uint_eq(v.bad_host_pairs, 16 * flat[i].bad);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
}
END_TEST

/*
 * E has no hosts and looks like a switch of a third level.  It must not join all spines in one
 * plane: leaves in two pods would then order the spines by GUID alone.
 */
START_TEST(empty_leaf_joins_no_planes)
{
	struct ftr_fabric *f = draw("A: m1 m2 h2\nB: m1 m2 h2\nC: m3 m4 h2\n"
				    "D: m3 m4 h2\nE: m1 m2\n"
				    "m1: t1\nm2: t2\nm3: t1\nm4: t2\n"
				    "t1:\nt2:\n");
	struct ftr_shape *sh = shape_of(f, NULL);

	ck_assert_uint_eq(sh->tree.n_planes, 2);
	ck_assert_uint_eq(sh->tree.n_pods, 2);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/*
 * A chassis of three leaf chips.  Each leaf below it is connected to two chips, and its hosts are
 * reached over both.
 *
 *	   s1    s2
 *	   | \ / |	every chip on both spines
 *	  c1  c2  c3
 *	A on c1 c2, B on c2 c3, C on c1 c3
 */
START_TEST(up_paths_under_a_chassis)
{
	struct ftr_fabric *f = draw("A: c1 c2 h4\nB: c2 c3 h4\nC: c1 c3 h4\n"
				    "c1: s1 s2\nc2: s1 s2\nc3: s1 s2\n"
				    "s1:\ns2:\n");
	uint64_t top[] = { f->sw[draw_sw(f, "s1")].guid,
			   f->sw[draw_sw(f, "s2")].guid };
	struct ftr_shape_opts opts = { .roots = { top, 2 } };
	struct ftr_shape *sh = shape_of(f, &opts);
	static const char *const up[3][12] = {
		{ "A", "A", "A", "A", "B", "B", "B", "B", "C", "C", "C", "C" },
		{ "c1", "c2", "c1", "c2", "c2", "c3", "c2", "c3", "c1", "c3",
		  "c1", "c3" },
		{ "s1", "s1", "s2", "s2", "s1", "s1", "s2", "s2", "s1", "s1",
		  "s2", "s2" },
	};
	static const uint32_t number[12] = { 0, 0, 1, 1, 2, 2, 3, 3, 2, 4, 3,
					     5 };

	ck_assert_ptr_nonnull(sh->numbering.up_path);
	for (uint32_t d = 0; d < 12; d++) {
		const struct ftr_up_path *at = sh->numbering.up_path + d;
		ftr_ep e = draw_host(f, up[0][d], d % 4);
		ftr_sw s = draw_sw(f, up[2][d]);
		ftr_port p;

		ck_assert_uint_eq(sh->numbering.ep_index[e].d, d);
		for (uint32_t k = 0; k < 3; k++)
			ck_assert_str_eq(f->sw[at[k * sh->numbering.n_d].sw].name,
					 up[k][d]);
		ck_assert_uint_eq(at[0].q, d);
		ck_assert_uint_eq(at[sh->numbering.n_d].q, number[d]);
		p = entry(sh, up[2][d], f->ep[e].lid);
		ck_assert_str_eq(f->sw[ftr_fabric_port(f, s, p)->peer].name,
				 up[1][d]);
	}
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* A tree whose two planes are connected by switch X.  At each switch of a host's upward path,
 * up_path.q must be d / divider, where d is the destination index of the host. */
START_TEST(up_paths_in_a_tree)
{
	struct ftr_fabric *f = draw("A: m1 m2 h3\nB: m1 m2 h3\n"
				    "C: m3 m4 h3\nD: m3 m4 h3\n"
				    "E: m5 m6 h3\nF: m5 m6 h3\n"
				    "m1: t1 t2\nm2: t3 t4\nm3: t1 t2\n"
				    "m4: t3 t4\nm5: t1 t2\nm6: t3 t4\n"
				    "t1: X\nt2:\nt3: X\nt4:\nX:\n");
	struct ftr_shape *sh = shape_of(f, NULL);

	ck_assert_uint_eq(rank(sh, "X"), 3);
	ck_assert_ptr_nonnull(sh->numbering.up_path);
	for (uint32_t d = 0; d < sh->numbering.n_d; d++)
		for (uint32_t k = 0; k < 3; k++) {
			const struct ftr_up_path *at = &sh->numbering.up_path[k * sh->numbering.n_d +
								  d];

			ck_assert_uint_eq(at->q, d / sh->numbering.divider[at->sw]);
		}
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* The lists of compute nodes and I/O nodes decide which switches are leaves and which ports are
 * hosts. */
START_TEST(guid_lists)
{
	struct ftr_fabric *f = draw("A: S h3\nB: S h3\nC: S h3\nS:\n");
	uint64_t cn[3], io[2], nowhere = 0x99;
	struct ftr_shape_opts opts = { 0 };
	struct ftr_shape *sh;

	for (unsigned int i = 0; i < 3; i++)
		cn[i] = f->ep[draw_host(f, "A", i)].guid;
	io[0] = f->ep[draw_host(f, "B", 0)].guid;
	io[1] = f->ep[draw_host(f, "C", 2)].guid;
	opts.cn = (struct ftr_guids){ cn, 3 };
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->tree.n_leaf, 1);
	ck_assert_uint_eq(sh->tree.leaf_hosts[0], 3);
	ck_assert(!sh->tree.cn_unknown);
	ftr_shape_free(sh);
	/* a list of compute nodes is ignored if none of its nodes is in this fabric */
	opts.cn = (struct ftr_guids){ &nowhere, 1 };
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->tree.n_leaf, 3);
	ck_assert_uint_eq(sh->tree.n_ranks, 2);
	ck_assert(sh->tree.cn_unknown);
	ftr_shape_free(sh);
	opts.cn = (struct ftr_guids){ 0 };
	opts.io = (struct ftr_guids){ io, 2 };
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->tree.n_leaf, 3);
	ck_assert_uint_eq(sh->numbering.stride, 3);
	ck_assert_uint_eq(sh->tree.leaf_hosts[0] + sh->tree.leaf_hosts[1] +
			  sh->tree.leaf_hosts[2], 7);
	ck_assert(!sh->tree.io_unknown);
	ftr_shape_free(sh);
	opts.io = (struct ftr_guids){ &nowhere, 1 };
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->tree.leaf_hosts[0] + sh->tree.leaf_hosts[1] +
			  sh->tree.leaf_hosts[2], 9);
	ck_assert(sh->tree.io_unknown);
	ftr_shape_free(sh);
	opts = (struct ftr_shape_opts){ .roots = { cn, 1 } };
	sh = shape_of(f, &opts);
	ck_assert(sh->tree.roots_unknown && !sh->tree.roots_given && !sh->tree.n_unlisted);
	ftr_shape_free(sh);
	opts.roots_mode = FTR_ROOTS_STRICT;
	ck_assert_int_eq(ftr_shape_new(f, &opts, NULL, &sh, &err), FTR_SHAPE);
	ck_assert_str_eq(err.msg, "none of the 1 root GUIDs is a switch of this fabric (the first is 0x0000010000000101)");
	ftr_fabric_free(f);
}
END_TEST

/* The host order.  Leaves of a pod are adjacent.  There are gaps (places without a host) where a
 * leaf has fewer hosts than others, and where a host is missing between others.  Leaves can be
 * ordered by name, in natural order. */
START_TEST(host_order)
{
	struct ftr_fabric *f = draw("A: m1 h3\nB: m2 h3\nC: m1 h2\nD: m2 h3\n"
				    "m1: t\nm2: t\nt:\n");
	struct ftr_shape_opts by_name = { .leaf_order = FTR_LEAF_BY_NAME };
	struct ftr_shape *sh = shape_of(f, NULL);
	ftr_ep order[64];

	ck_assert_uint_eq(sh->tree.n_leaf * sh->numbering.stride, 12);
	ftr_shape_host_order(sh, order);
	ck_assert_uint_eq(order[0], draw_host(f, "A", 0));
	ck_assert_uint_eq(order[3], draw_host(f, "C", 0));
	ck_assert_uint_eq(order[5], FTR_EP_NONE);
	ck_assert_uint_eq(order[6], draw_host(f, "B", 0));
	ck_assert_uint_eq(order[11], draw_host(f, "D", 2));
	ftr_shape_free(sh);
	/* hosts are named host0, host1, ... in the order A, B, C, D; natural order: host9 before
	 * host10 */
	sh = shape_of(f, &by_name);
	ftr_shape_host_order(sh, order);
	ck_assert_str_eq(f->ep[order[0]].name, "host0");
	ck_assert_str_eq(f->ep[order[3]].name, "host6");
	ck_assert_str_eq(f->ep[order[6]].name, "host3");
	ck_assert_str_eq(f->ep[order[10]].name, "host9");
	ck_assert_str_eq(f->ep[order[11]].name, "host10");
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* Hosts on upper switches come last in the host order.  I/O nodes and Aggregation Nodes are not in
 * the host order. */
START_TEST(order_of_hosts_on_spines)
{
	struct ftr_fabric *f = draw("A: S T h4\nB: S T h5\nC: S T h5\nS: h2\n"
				    "T: h1 an\n");
	uint64_t io = f->ep[draw_host(f, "S", 0)].guid;
	struct ftr_shape_opts opts = { .io = { &io, 1 } };
	struct ftr_shape *sh = shape_of(f, NULL);
	ftr_ep order[32];

	ck_assert_uint_eq(sh->numbering.n_d, 15);
	ck_assert_uint_eq(sh->numbering.n_places, 18);
	ftr_shape_host_order(sh, order);
	ck_assert_uint_eq(order[1], draw_host(f, "A", 1));
	ck_assert_uint_eq(order[4], FTR_EP_NONE);
	ck_assert_uint_eq(order[5], draw_host(f, "B", 0));
	ck_assert_uint_eq(order[15], draw_host(f, "S", 0));
	ck_assert_uint_eq(order[16], draw_host(f, "S", 1));
	ck_assert_uint_eq(order[17], draw_host(f, "T", 0));
	ftr_shape_free(sh);
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->numbering.n_places, 17);
	ftr_shape_host_order(sh, order);
	ck_assert_uint_eq(order[15], draw_host(f, "S", 1));
	ck_assert_uint_eq(order[16], draw_host(f, "T", 0));
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

static bool not_host4(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	(void)ctx;
	return strcmp(f->ep[e].name, "host4") != 0;
}

/* A missing host leaves a gap, so that no other host gets another place in the host order. */
START_TEST(missing_host_leaves_a_gap)
{
	struct ftr_fabric *f = draw("A: S T h3\nB: S T h3\nC: S T h3\nS:\nT:\n");
	struct ftr_filter filter = { .keep_ep = not_host4 };
	struct ftr_fabric *g;
	struct ftr_shape *sf = shape_of(f, NULL), *sg;
	ftr_ep of[64], og[64];

	ck_assert(!ftr_fabric_copy_if(f, &filter, &g, &err));
	sg = shape_of(g, NULL);
	ftr_shape_host_order(sf, of);
	ftr_shape_host_order(sg, og);
	for (int d = 0; d < 9; d++) {
		if (d == 4)
			ck_assert_uint_eq(og[d], FTR_EP_NONE);
		else
			ck_assert_str_eq(f->ep[of[d]].name,
					 g->ep[og[d]].name);
	}
	ftr_shape_free(sf);
	ftr_shape_free(sg);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}
END_TEST

START_TEST(no_switch_no_shape)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f;
	struct ftr_shape *sh = NULL;

	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert_int_eq(ftr_shape_new(f, NULL, NULL, &sh, &err), FTR_SHAPE);
	ck_assert_ptr_null(sh);
	ck_assert_str_eq(err.msg, "the fabric has no switch");
	ftr_fabric_free(f);
}
END_TEST

/*
 * The list of compute nodes names only hosts of A and B, so C and D have only I/O nodes.  C and D
 * get the lowest rank nevertheless, because otherwise they could not reach each other.  D is
 * connected to one spine only.
 *
 *	rank 1     S1      S2
 *	          /|\ \  / | \
 *	rank 0   A B  C   D ...		cn: A, B; C, D: I/O nodes
 */
START_TEST(io_leaves_of_their_own)
{
	struct ftr_fabric *f = draw("A: S1 S2 h2\nB: S1 S2 h2\n"
				    "C: S1 S2 h2\nD: S2 h2\nE: S1 S2 rt\n"
				    "S1:\nS2:\n");
	uint64_t cn[4];
	struct ftr_shape_opts opts = { .cn = { cn, 4 } };
	struct ftr_shape *sh;

	for (unsigned int i = 0; i < 4; i++)
		cn[i] = f->ep[draw_host(f, i < 2 ? "A" : "B", i % 2)].guid;
	sh = shape_of(f, &opts);
	ck_assert_uint_eq(sh->tree.n_ranks, 2);
	ck_assert_uint_eq(sh->tree.n_leaf, 2);
	ck_assert_uint_eq(cost(sh, "C", "D"), 2);
	ck_assert_uint_eq(cost(sh, "D", "C"), 2);
	ck_assert_uint_eq(cost(sh, "E", "C"), 2);
	ck_assert_uint_eq(cost(sh, "A", "D"), 2);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* Leaves are ordered by GUID.  A leaf whose hosts are all switched off keeps its place and its
 * indices, so other leaves keep theirs. */
START_TEST(leaf_without_hosts_keeps_its_place)
{
	static const char all[] = "A: S1 S2 h2\nB: S1 S2 h2\nC: S1 S2 h2\n"
		"S1:\nS2:\n";
	static const char dark[] = "A: S1 S2 h2\nB: S1 S2\nC: S1 S2 h2\n"
		"S1:\nS2:\n";

	for (int by_name = 0; by_name < 2; by_name++) {
		struct ftr_shape_opts opts = { .leaf_order = by_name ?
			FTR_LEAF_BY_NAME : FTR_LEAF_BY_GUID };
		struct ftr_fabric *f = draw(all), *g = draw(dark);
		struct ftr_shape *before = shape_of(f, &opts);
		struct ftr_shape *after = shape_of(g, &opts);

		ck_assert_uint_eq(after->tree.n_leaf, 3);
		ck_assert_uint_eq(after->tree.n_planes, 2);
		/* not in the order by name: leaf B, which has no host names, then comes last */
		for (ftr_sw s = 0; s < f->n_sw && !by_name; s++)
			ck_assert_uint_eq(before->numbering.col[s], after->numbering.col[s]);
		if (by_name)
			ck_assert_uint_eq(after->numbering.col[draw_sw(g, "B")], 2);
		ftr_shape_free(before);
		ftr_shape_free(after);
		ftr_fabric_free(f);
		ftr_fabric_free(g);
	}
}
END_TEST

/* A fabric of more than 128 ranks is refused: the costs of its paths do not fit into a byte. */
START_TEST(too_many_ranks)
{
	char text[6000];
	struct ftr_fabric *f;
	struct ftr_shape *sh = NULL;
	int at = 0;

	for (int i = 0; i < 300; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at,
			       i < 299 ? "s%d: s%d h1\n" : "s%d: h1\n", i,
			       i + 1);
	f = draw(text);
	ck_assert_int_eq(ftr_shape_new(f, NULL, NULL, &sh, &err), FTR_SHAPE);
	ck_assert_ptr_nonnull(strstr(err.msg, "299 ranks"));
	ck_assert_ptr_null(sh);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shape");
	TCase *t = tcase_create("shape");

	tcase_add_test(t, figure_2_costs);
	tcase_add_test(t, figure_3_dividers);
	tcase_add_test(t, figure_4_route);
	tcase_add_test(t, entered_from_above_goes_down);
	tcase_add_test(t, odd_hosts_and_slim_leaves);
	tcase_add_test(t, hosts_on_every_level);
	tcase_add_test(t, hanging_leaf);
	tcase_add_test(t, flat_fabrics);
	tcase_add_test(t, empty_leaf_joins_no_planes);
	tcase_add_test(t, up_paths_under_a_chassis);
	tcase_add_test(t, up_paths_in_a_tree);
	tcase_add_test(t, guid_lists);
	tcase_add_test(t, host_order);
	tcase_add_test(t, order_of_hosts_on_spines);
	tcase_add_test(t, missing_host_leaves_a_gap);
	tcase_add_test(t, no_switch_no_shape);
	tcase_add_test(t, too_many_ranks);
	tcase_add_test(t, io_leaves_of_their_own);
	tcase_add_test(t, leaf_without_hosts_keeps_its_place);
	suite_add_tcase(s, t);
	return run_suite(s);
}
