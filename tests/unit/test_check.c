// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the checker of tables on small fabrics with known faults, so that every number of a report
 * is known.  "Switch 3" is the switch with index 3; check_net.h describes GUIDs and LIDs.
 */
#include <stdlib.h>

#include "lib/shift_load.h"
#include "check_net.h"
#include "lib/suite.h"

#define HOST(h) ((ftr_lid)(64 + (h)))
#define SW(s) ((ftr_lid)(1 + (s)))

static struct ftr_check_report check(struct net *n,
				     const struct ftr_check_opts *opts)
{
	struct ftr_check_report r;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_check_tables(n->f, n->t, opts, NULL, &r, &err),
		      "%s", err.msg);
	return r;
}

static const struct ftr_check_opts tree_opts = { .rank = net_tree_rank };

static struct net tree(void)
{
	return net_tree(0);
}

static void assert_pairs(const struct ftr_check_report *r, uint64_t hh,
			 uint64_t hs, uint64_t sh, uint64_t ss)
{
	ck_assert_uint_eq(r->pairs[FTR_CHECK_HOST_HOST], hh);
	ck_assert_uint_eq(r->pairs[FTR_CHECK_HOST_SW], hs);
	ck_assert_uint_eq(r->pairs[FTR_CHECK_SW_HOST], sh);
	ck_assert_uint_eq(r->pairs[FTR_CHECK_SW_SW], ss);
}

static void assert_bad(const struct ftr_check_report *r, uint64_t hh,
		       uint64_t hs, uint64_t sh, uint64_t ss)
{
	ck_assert_uint_eq(r->bad[FTR_CHECK_HOST_HOST], hh);
	ck_assert_uint_eq(r->bad[FTR_CHECK_HOST_SW], hs);
	ck_assert_uint_eq(r->bad[FTR_CHECK_SW_HOST], sh);
	ck_assert_uint_eq(r->bad[FTR_CHECK_SW_SW], ss);
}

static void assert_found(const struct ftr_check_report *r, uint64_t missing,
			 uint64_t dead, uint64_t wrong, uint64_t loop,
			 uint64_t turn)
{
	ck_assert_uint_eq(r->found[FTR_FIND_MISSING], missing);
	ck_assert_uint_eq(r->found[FTR_FIND_DEAD_PORT], dead);
	ck_assert_uint_eq(r->found[FTR_FIND_WRONG_END], wrong);
	ck_assert_uint_eq(r->found[FTR_FIND_LOOP], loop);
	ck_assert_uint_eq(r->found[FTR_FIND_TURN], turn);
	ck_assert_uint_eq(r->harmful, dead + wrong + loop);
}

static void assert_sample(const struct ftr_check_report *r,
			  enum ftr_finding what, ftr_sw from, ftr_sw at,
			  ftr_lid lid)
{
	ck_assert_uint_eq(r->sample[what].lid, lid);
	ck_assert_uint_eq(r->sample[what].from, from);
	ck_assert_uint_eq(r->sample[what].at, at);
}

START_TEST(right_tables)
{
	struct net n = tree();
	struct ftr_check_report r = check(&n, &tree_opts);

	assert_pairs(&r, 12, 16, 16, 12);
	assert_bad(&r, 0, 0, 0, 2);
	assert_found(&r, 2, 0, 0, 0, 0);
	assert_sample(&r, FTR_FIND_MISSING, 3, 3, SW(2));
	ck_assert_uint_eq(r.max_hops, 2);
	ck_assert_int_eq(r.cdg, FTR_CDG_PROVED);
	ck_assert_uint_eq(r.cycle_len, 0);

	r = check(&n, NULL);
	assert_bad(&r, 0, 0, 0, 2);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	net_free(&n);
}
END_TEST

/* The effect of one changed entry of the tree.  In every case the checker also counts two missing
 * entries, those of the spines for each other. */
struct fault {
	const char *what;
	ftr_sw sw;
	ftr_lid lid;
	ftr_port entry;
	uint64_t bad[FTR_N_CHECK_CLASSES];
	uint64_t found[4];
	enum ftr_finding kind;
	ftr_sw from, at;
};

static const struct fault faults[] = {
	/* leaf 1 has no entry for h0; leaf 1, h2 and h3 do not reach h0 */
	{ "missing entry", 1, HOST(0), 255, { 2, 0, 1, 2 }, { 3, 0, 0, 0 },
	  FTR_FIND_MISSING, 3, 3 },
	/* port 5 of spine 2 has no link; leaf 1 sends packets for h0 to spine 2 */
	{ "dead port", 2, HOST(0), 5, { 2, 0, 2, 2 }, { 2, 2, 0, 0 },
	  FTR_FIND_DEAD_PORT, 1, 2 },
	{ "port beyond the switch", 2, HOST(0), 6, { 2, 0, 2, 2 },
	  { 2, 2, 0, 0 }, FTR_FIND_DEAD_PORT, 1, 2 },
	{ "port 254", 2, HOST(0), 254, { 2, 0, 2, 2 }, { 2, 2, 0, 0 },
	  FTR_FIND_DEAD_PORT, 1, 2 },
	/* packets for h0 are delivered to h1 */
	{ "wrong end", 0, HOST(0), 2, { 3, 0, 4, 2 }, { 2, 0, 4, 0 },
	  FTR_FIND_WRONG_END, 0, 0 },
	{ "port 0 at a switch without the host", 2, HOST(0), 0, { 2, 0, 2, 2 },
	  { 2, 2, 0, 0 }, FTR_FIND_DEAD_PORT, 1, 2 },
	{ "port 0 at the host's switch", 0, HOST(0), 0, { 3, 0, 4, 2 },
	  { 2, 4, 0, 0 }, FTR_FIND_DEAD_PORT, 0, 0 },
	/* leaf 0 delivers packets for its own LID to h1 */
	{ "switch LID to a host", 0, SW(0), 2, { 0, 4, 0, 5 },
	  { 2, 0, 4, 0 }, FTR_FIND_WRONG_END, 0, 0 },
	/* leaf 1 and spine 2 send packets for h0 to each other; spine 3 still routes to leaf 0 */
	{ "loop of two", 2, HOST(0), 2, { 2, 0, 2, 2 }, { 2, 0, 0, 2 },
	  FTR_FIND_LOOP, 1, 1 },
};

START_TEST(one_fault)
{
	const struct fault *x = &faults[_i];

	for (int claim = 0; claim < 2; claim++) {
		struct net n = tree();
		struct ftr_check_report r;

		*net_at(&n, x->sw, x->lid) = x->entry;
		r = check(&n, claim ? &tree_opts : NULL);
		for (int i = 0; i < FTR_N_CHECK_CLASSES; i++)
			ck_assert_msg(r.bad[i] == x->bad[i],
				      "%s: wrong number of unreachable pairs of class %d: %d", x->what, i,
				      (int)r.bad[i]);
		for (int i = 0; i < 4; i++)
			ck_assert_msg(r.found[i] == x->found[i],
				      "%s: wrong number of findings of kind %d: %d",
				      x->what, i, (int)r.found[i]);
		ck_assert_uint_eq(r.harmful,
				  x->found[1] + x->found[2] + x->found[3]);
		if (x->kind != FTR_FIND_MISSING)
			assert_sample(&r, x->kind, x->from, x->at, x->lid);
		else
			assert_sample(&r, x->kind, x->from, x->at, SW(2));
		if (x->kind == FTR_FIND_LOOP)
			ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
		else
			ck_assert_int_eq(r.cdg, claim ? FTR_CDG_PROVED :
					 FTR_CDG_ACYCLIC);
		net_free(&n);
	}
}
END_TEST

/* Two LIDs per host: the checker treats each LID as a separate destination. */
START_TEST(lmc)
{
	struct net n = net_tree(1);
	struct ftr_check_report r = check(&n, &tree_opts);

	assert_pairs(&r, 24, 16, 32, 12);
	assert_bad(&r, 0, 0, 0, 2);
	/* leaf 1 and both spines have no entry for the second LID of h1 (67) */
	for (ftr_sw s = 1; s < 4; s++)
		*net_at(&n, s, 67) = FTR_PORT_NONE;
	/* leaf 1 delivers packets for the second LID of h2 (69) to h3 */
	*net_at(&n, 1, 69) = 2;
	r = check(&n, &tree_opts);
	assert_bad(&r, 2 + 3, 0, 3 + 4, 2);
	assert_found(&r, 2 + 3, 0, 4, 0, 0);
	assert_sample(&r, FTR_FIND_WRONG_END, 0, 1, 69);
	net_free(&n);
}
END_TEST

/*
 * A host that lost its link still owns a LID.  The LID counts as unreachable, and the host does not
 * count as a source.  A host without a LID (h3) is neither a source nor a destination.  Entries for
 * LIDs without an owner (here LID 63) are ignored.
 *
 *	h0 -1 [0] 2--2 [1] 1- h1	h2
 *	               [1] 3- h3
 */
START_TEST(no_link)
{
	struct net n = net_new(2, 3, true, 0);
	static const uint8_t rank[] = { 0, 1 };
	struct ftr_check_opts opts = { .rank = rank };
	struct ftr_check_report r;
	uint64_t hist[FTR_HOPS_MAX];

	net_host(&n, 0, 1);
	net_host(&n, 1, 1);
	net_link(&n, 0, 2, 1, 2);
	net_host(&n, FTR_SW_NONE, 0);
	ck_assert(!ftr_builder_add_endport(n.b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 2000, .guid = 2000, .port_num = 1,
	}, NULL));
	ck_assert(!ftr_builder_add_link(n.b, (struct ftr_end){ 2, 3 }, (struct ftr_end){ 2000, 1 },
					4, FTR_SPEED_EDR, NULL));
	net_freeze(&n);
	net_route_all(&n, NULL);
	*net_at(&n, 0, 63) = 3;
	r = check(&n, &opts);
	assert_pairs(&r, 1 + 1 + 2, 4, 6, 2);
	assert_bad(&r, 2, 0, 2, 0);
	assert_found(&r, 2, 0, 0, 0, 0);
	ck_assert_int_eq(r.cdg, FTR_CDG_PROVED);
	ck_assert(!ftr_check_hops(n.f, n.t, hist, NULL));
	ck_assert_uint_eq(hist[0], 0);
	ck_assert_uint_eq(hist[1], 2);	/* h0 to h1, and back */
	net_free(&n);
}
END_TEST

/*
 * A ring: port 1 leads clockwise, port 2 counter-clockwise, port 3 to the host.
 *
 *	    h0
 *	    |
 *	   [0] 1-> 2 [1]- h1
 *	   2          1
 *	   |          |
 *	   1          2
 *	h4-[4]        [2]- h2
 *	    2\1     2/1
 *	       [3]
 *	        h3
 */
static struct net ring(uint32_t len)
{
	struct net n = net_new(len, 3, false, 0);

	for (uint32_t s = 0; s < len; s++) {
		net_host(&n, s, 3);
		net_link(&n, s, 1, (s + 1) % len, 2);
	}
	net_freeze(&n);
	return n;
}

/* Route clockwise to the switches within `clockwise` hops in that direction, and counter-clockwise
 * to all others. */
static void ring_route(struct net *n, uint32_t clockwise)
{
	for (uint32_t s = 0; s < n->n_sw; s++)
		for (uint32_t d = 0; d < n->n_sw; d++) {
			uint32_t h = (d + n->n_sw - s) % n->n_sw;

			*net_at(n, s, HOST(d)) =
				h == 0 ? 3 : h <= clockwise ? 1 : 2;
		}
}

START_TEST(ring_of_five)
{
	struct net n = ring(5);
	struct ftr_check_opts opts = { 0 };
	struct ftr_check_report r;

	ring_route(&n, 2);
	r = check(&n, NULL);
	assert_found(&r, 0, 0, 0, 0, 0);
	assert_bad(&r, 0, 0, 0, 0);
	ck_assert_uint_eq(r.max_hops, 2);
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, 5);
	for (uint32_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(r.cycle[i].sw, i);
		ck_assert_uint_eq(r.cycle[i].port, 1);
	}
	opts.no_cdg = true;
	r = check(&n, &opts);
	ck_assert_int_eq(r.cdg, FTR_CDG_NOT_CHECKED);
	ck_assert_uint_eq(r.cycle_len, 0);
	net_free(&n);
}
END_TEST

/* No path uses the link between switches 2 and 3, so the dependencies have no cycle. */
START_TEST(ring_cut)
{
	struct net n = ring(5);
	struct ftr_check_report r;

	for (uint32_t s = 0; s < 5; s++)
		for (uint32_t d = 0; d < 5; d++) {
			uint32_t a = (s + 2) % 5, z = (d + 2) % 5;

			*net_at(&n, s, HOST(d)) = s == d ? 3 : a < z ? 1 : 2;
		}
	r = check(&n, NULL);
	assert_bad(&r, 0, 0, 0, 0);
	ck_assert_uint_eq(r.max_hops, 4);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	net_free(&n);
}
END_TEST

/* All packets go clockwise, and packets for h0 are never delivered.  The checker must find the
 * loop through all switches.  In a ring of 100 switches it reports only FTR_CYCLE_MAX channels of
 * the cycle. */
START_TEST(long_loop)
{
	struct net n = ring(5);
	struct ftr_check_report r;

	ring_route(&n, 4);
	*net_at(&n, 0, HOST(0)) = 1;
	r = check(&n, NULL);
	assert_found(&r, 0, 0, 0, 5, 0);
	assert_bad(&r, 4, 0, 5, 0);
	assert_sample(&r, FTR_FIND_LOOP, 0, 0, HOST(0));
	ck_assert_uint_eq(r.cycle_len, 5);
	net_free(&n);

	/* packets from switch 0 to h4 pass switch 1, and then loop between switches 2 and 3 */
	n = ring(5);
	ring_route(&n, 4);
	*net_at(&n, 3, HOST(4)) = 2;
	r = check(&n, NULL);
	assert_found(&r, 0, 0, 0, 4, 0);
	assert_sample(&r, FTR_FIND_LOOP, 0, 2, HOST(4));
	ck_assert_uint_eq(r.cycle_len, 2);
	ck_assert_uint_eq(r.cycle[0].sw, 2);
	ck_assert_uint_eq(r.cycle[0].port, 1);
	ck_assert_uint_eq(r.cycle[1].sw, 3);
	ck_assert_uint_eq(r.cycle[1].port, 2);
	net_free(&n);

	n = ring(100);
	ring_route(&n, 99);
	r = check(&n, NULL);
	assert_bad(&r, 0, 0, 0, 0);
	ck_assert_uint_eq(r.max_hops, 99);
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, 100);
	ck_assert_uint_eq(r.cycle[63].sw, 63);
	net_free(&n);
}
END_TEST

/*
 * A chain of 200 switches with ranks 0 to 199.  The fast walk (src/core/check/updown.c) counts at most
 * 127 hops, but the checker must report the exact path length.
 *
 *	h0-[0]1--2[1]1--2[2] ... 1--2[199]-h1
 */
START_TEST(long_chain)
{
	struct net n = net_new(200, 3, false, 0);
	uint8_t rank[200];
	struct ftr_check_opts opts = { .rank = rank };
	struct ftr_check_report r;

	for (uint32_t s = 0; s < 200; s++) {
		rank[s] = (uint8_t)s;
		if (s)
			net_link(&n, s - 1, 1, s, 2);
	}
	net_host(&n, 0, 3);
	net_host(&n, 199, 3);
	net_freeze(&n);
	for (uint32_t s = 0; s < 200; s++) {
		*net_at(&n, s, HOST(0)) = s == 0 ? 3 : 2;
		*net_at(&n, s, HOST(1)) = s == 199 ? 3 : 1;
	}
	r = check(&n, &opts);
	assert_found(&r, 0, 0, 0, 0, 0);
	ck_assert_uint_eq(r.max_hops, 199);
	ck_assert_int_eq(r.cdg, FTR_CDG_PROVED);
	net_free(&n);
}
END_TEST

/*
 * Bogdanski et al. 2012, figure 2: the traffic of four pairs of nodes deadlocks.  0, 3 and 6 are
 * middle switches, and 7 is the top switch.  Hosts A and B are on leaf 4, host D is on leaf 5.
 *
 *	          ___[7]___
 *	        1/         \2
 *	       [0]   [3]   [6]		level 1
 *	        1\  1/ \2  /1
 *	          [4]   [5]		level 0
 *	         A   B   D
 *
 * Paths between switches: 0 -> 3 through 4, and 3 -> 6 through 5 (down, then up).  Paths between
 * hosts: B -> D through 3, and D -> A through 6, 7, 0.  Let 04 be the channel from switch 0 to
 * switch 4.  The dependencies form the cycle 04, 43, 35, 56, 67, 70, 04.
 */
START_TEST(four_pairs)
{
	struct net n = net_new(8, 4, false, 0);
	static const uint8_t rank[] = { 1, 9, 9, 1, 0, 0, 1, 2 };
	/* port[s][i]: entry of switch s for destination i.  The destinations are switches 3 and 6,
	 * and hosts A, B and D. */
	static const uint8_t port[8][5] = {
		[0] = { 1, 2, 1, 1, 2 }, [3] = { 0, 2, 1, 1, 2 },
		[4] = { 2, 1, 3, 4, 2 }, [5] = { 1, 2, 2, 1, 3 },
		[6] = { 1, 0, 2, 2, 1 }, [7] = { 1, 2, 1, 1, 2 },
		[1] = { 255, 255, 255, 255, 255 },
		[2] = { 255, 255, 255, 255, 255 },
	};
	static const ftr_lid lid[5] = { 4, 7, HOST(0), HOST(1), HOST(2) };
	static const uint8_t cycle[6][2] = {
		{ 0, 1 }, { 4, 2 }, { 3, 2 }, { 5, 2 }, { 6, 2 }, { 7, 1 }
	};
	struct ftr_check_opts opts = { 0 };
	struct ftr_check_report r;

	ck_assert(!ftr_builder_add_switch(n.b, &(struct ftr_switch){
		.guid = 4, .n_ports = 4, .lid = 4,
	}, NULL));
	ck_assert(!ftr_builder_add_switch(n.b, &(struct ftr_switch){
		.guid = 7, .n_ports = 4, .lid = 7,
	}, NULL));
	net_host(&n, 4, 3);
	net_host(&n, 4, 4);
	net_host(&n, 5, 3);
	net_link(&n, 0, 1, 4, 1);
	net_link(&n, 3, 1, 4, 2);
	net_link(&n, 3, 2, 5, 1);
	net_link(&n, 6, 1, 5, 2);
	net_link(&n, 0, 2, 7, 1);
	net_link(&n, 6, 2, 7, 2);
	net_freeze(&n);
	for (uint32_t s = 0; s < 8; s++)
		for (uint32_t i = 0; i < 5; i++)
			*net_at(&n, s, lid[i]) = port[s][i];

	r = check(&n, &opts);
	ck_assert_uint_eq(r.harmful, 0);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	opts.rank = rank;
	r = check(&n, &opts);
	/* three turns: packets to switch 3 turn at switches 4 and 5, packets to switch 6 at 5 */
	ck_assert_uint_eq(r.found[FTR_FIND_TURN], 3);
	assert_sample(&r, FTR_FIND_TURN, 0, 4, 4);
	ck_assert_int_eq(r.cdg, FTR_CDG_PROVED);

	opts.switch_sources = true;
	for (int claim = 0; claim < 2; claim++) {
		opts.rank = claim ? rank : NULL;
		r = check(&n, &opts);
		ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
		ck_assert_uint_eq(r.cycle_len, 6);
		for (int i = 0; i < 6; i++) {
			ck_assert_uint_eq(r.cycle[i].sw, cycle[i][0]);
			ck_assert_uint_eq(r.cycle[i].port, cycle[i][1]);
		}
	}
	net_free(&n);
}
END_TEST

/*
 * Two cycles of channels, and a channel between them that is on neither: the first one, port 1 of
 * switch 0.  The shorter cycle is found although the search begins at that channel, whose first
 * successors are on the longer one.
 *
 *	0 -> 1 -> 2 -> 0	3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 3
 *	0 -> 3			3 -> 6
 *
 * Each pair of channels has a LID of its own, for which only two switches have an entry.
 */
START_TEST(between_two_cycles)
{
	static const uint8_t link[][4] = {	/* switch, port, switch, port */
		{ 0, 1, 3, 4 }, { 0, 2, 1, 3 }, { 1, 1, 2, 3 }, { 2, 1, 0, 3 }, { 3, 1, 4, 3 },
		{ 3, 2, 6, 4 }, { 4, 1, 5, 3 }, { 5, 1, 6, 3 }, { 6, 1, 7, 3 }, { 7, 1, 8, 3 },
		{ 8, 1, 3, 3 },
	};
	static const uint8_t pair[][4] = {	/* two entries: switch, port, switch, port */
		{ 0, 2, 1, 1 }, { 1, 1, 2, 1 }, { 2, 1, 0, 2 }, { 2, 1, 0, 1 }, { 0, 1, 3, 1 },
		{ 0, 1, 3, 2 }, { 3, 2, 6, 1 }, { 3, 1, 4, 1 }, { 4, 1, 5, 1 }, { 5, 1, 6, 1 },
		{ 6, 1, 7, 1 }, { 7, 1, 8, 1 }, { 8, 1, 3, 1 },
	};
	const struct ftr_check_opts opts = { .switch_sources = true };
	struct net n = net_new(9, 6, false, 1);
	struct ftr_check_report r;

	for (uint32_t s = 0; s < 9; s++)
		net_host(&n, s, 6);
	for (uint32_t i = 0; i < FTR_ARRAY_LEN(link); i++)
		net_link(&n, link[i][0], link[i][1], link[i][2], link[i][3]);
	net_freeze(&n);
	for (uint32_t i = 0; i < FTR_ARRAY_LEN(pair); i++) {
		*net_at(&n, pair[i][0], HOST(i)) = pair[i][1];
		*net_at(&n, pair[i][2], HOST(i)) = pair[i][3];
	}
	r = check(&n, &opts);
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, 3);
	for (ftr_sw s = 0; s < 3; s++) {
		ck_assert_uint_eq(r.cycle[s].sw, s);
		ck_assert_uint_eq(r.cycle[s].port, s ? 1 : 2);
	}
	net_free(&n);
}
END_TEST

/*
 * A ring of 82 switches with 120 links between neighbours; packets pass from each link to each link
 * of the next switch.  The search for a shorter cycle than the first one ends after 2^27 edges, which
 * are those of the ring.  The cycle of three switches with higher numbers is not found.
 */
START_TEST(search_ends)
{
	enum { LEN = 82, LINKS = 120 };
	const struct ftr_check_opts opts = { .switch_sources = true };
	struct net n = net_new(LEN + 3, 2 * LINKS + 3, false, 6);
	struct ftr_check_report r;

	for (uint32_t h = 0; h * 64 < LINKS * LINKS; h++)
		net_host(&n, h / 3, 2 * LINKS + 1 + h % 3);
	for (uint32_t s = 0; s < LEN; s++)
		for (uint32_t i = 1; i <= LINKS; i++)
			net_link(&n, s, i, (s + 1) % LEN, LINKS + i);
	for (uint32_t s = 0; s < 3; s++)
		net_link(&n, LEN + s, 1, LEN + (s + 1) % 3, 2);
	net_freeze(&n);
	for (uint32_t i = 0; i < LINKS * LINKS; i++)
		for (uint32_t s = 0; s < LEN; s++)
			*net_at(&n, s, HOST(i)) = (uint8_t)(1 + (s % 2 ? i / LINKS : i % LINKS));
	for (uint32_t s = LEN; s < LEN + 3; s++)
		*net_at(&n, s, HOST(0)) = 1;
	r = check(&n, &opts);
	ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
	ck_assert_uint_eq(r.cycle_len, LEN);
	for (ftr_sw s = 0; s < FTR_CYCLE_MAX; s++)
		ck_assert_uint_eq(r.cycle[s].sw, s);
	net_free(&n);
}
END_TEST

/* The spines reach each other through leaf 0.  The checker must report the turns of these two
 * paths.  The turns close no cycle, and no path between hosts has them. */
START_TEST(down_up_turn)
{
	struct net n = tree();
	struct ftr_check_opts opts = tree_opts;
	struct ftr_check_report r;

	*net_at(&n, 2, SW(3)) = 1;
	*net_at(&n, 3, SW(2)) = 1;
	r = check(&n, &opts);
	assert_bad(&r, 0, 0, 0, 0);
	assert_found(&r, 0, 0, 0, 0, 2);
	assert_sample(&r, FTR_FIND_TURN, 3, 0, SW(2));
	ck_assert_int_eq(r.cdg, FTR_CDG_PROVED);
	opts.switch_sources = true;
	r = check(&n, &opts);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	net_free(&n);
}
END_TEST

/* Linked switches have the same rank, so the ranks cannot prove that there is no credit loop.  The
 * checker must still find all faults. */
START_TEST(horizontal)
{
	struct net n = tree();
	static const uint8_t flat[4] = { 3, 3, 3, 3 };
	struct ftr_check_opts opts = { .rank = flat };
	struct ftr_check_report r = check(&n, &opts);

	assert_bad(&r, 0, 0, 0, 2);
	assert_found(&r, 2, 0, 0, 0, 0);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	net_free(&n);
}
END_TEST

/* A switch sends packets for its host over a link to itself: a loop, and a cycle of one channel. */
START_TEST(self_link)
{
	struct net n = net_new(1, 4, true, 0);
	static const uint8_t rank[1] = { 0 };
	struct ftr_check_opts opts = { .rank = rank };

	net_host(&n, 0, 1);
	net_link(&n, 0, 2, 0, 3);
	net_freeze(&n);
	net_route_all(&n, NULL);
	*net_at(&n, 0, HOST(0)) = 3;
	for (int claim = 0; claim < 2; claim++) {
		struct ftr_check_report r = check(&n, claim ? &opts : NULL);

		assert_found(&r, 0, 0, 0, 1, 0);
		assert_bad(&r, 0, 0, 1, 0);
		ck_assert_int_eq(r.cdg, FTR_CDG_CYCLE);
		ck_assert_uint_eq(r.cycle_len, 1);
		ck_assert_uint_eq(r.cycle[0].port, 3);
	}
	net_free(&n);
}
END_TEST

START_TEST(no_switch)
{
	struct net n = net_new(0, 1, false, 0);
	struct ftr_check_report r;

	net_host(&n, FTR_SW_NONE, 0);
	net_freeze(&n);
	r = check(&n, NULL);
	assert_pairs(&r, 0, 0, 0, 0);
	ck_assert_int_eq(r.cdg, FTR_CDG_ACYCLIC);
	net_free(&n);
}
END_TEST

START_TEST(wrong_size)
{
	struct net n = tree(), m = ring(5);
	const struct ftr_tables *const mixed[] = { m.t, n.t, m.t };
	struct ftr_check_report r;
	struct ftr_err err = { 0 };
	bool proved;
	uint64_t hist[FTR_HOPS_MAX];
	uint32_t load;
	ftr_ep order[2] = { 0, 4 };

	ck_assert_int_eq(ftr_check_tables(n.f, m.t, NULL, NULL, &r, &err),
			 FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "5 switches"));
	ck_assert_int_eq(ftr_check_hops(n.f, m.t, hist, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_check_mixtures(n.f, mixed, net_tree_rank, NULL, &proved, &err),
			 FTR_INVAL);
	ck_assert_int_eq(ftr_check_mixtures(n.f, mixed + 1, net_tree_rank, NULL, &proved, &err),
			 FTR_INVAL);
	ck_assert_int_eq(shift_load(n.f, m.t, order, 1, 0, &load, &err),
			 FTR_INVAL);
	ck_assert_int_eq(shift_load(n.f, n.t, order, 2, 0, &load, &err),
			 FTR_INVAL);
	n.t->stride -= 1;
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, NULL, NULL, &r, &err), FTR_INVAL);
	n.t->stride = 0;
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, NULL, NULL, &r, &err), FTR_INVAL);
	n.t->stride = (uint32_t)FTR_LFT_BLOCK * (n.t->max_lid / FTR_LFT_BLOCK + 1u);
	net_free(&n);
	net_free(&m);
}
END_TEST

/* The checker numbers switches with 16 bits. */
START_TEST(too_many_switches)
{
	struct net n = net_new(65536, 1, false, 0);
	static const uint8_t rank[65536];
	struct ftr_check_report r;
	struct ftr_err err = { 0 };
	bool proved;

	net_freeze(&n);
	ck_assert_int_eq(ftr_check_tables(n.f, n.t, NULL, NULL, &r, &err), FTR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.msg, "65536 switches"));
	ck_assert_int_eq(ftr_check_mixtures(n.f, (const struct ftr_tables *[]){ n.t, n.t }, rank,
					    NULL, &proved, &err), FTR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.msg, "65536 switches"));
	net_free(&n);
}
END_TEST

START_TEST(loads_of_shifts)
{
	struct net n = tree();
	ftr_ep order[] = { 0, 1, 2, 3, FTR_EP_NONE };
	uint32_t load = 99;

	ck_assert(!shift_load(n.f, n.t, order, 4, 2, &load, NULL));
	ck_assert_uint_eq(load, 2);
	ck_assert(!shift_load(n.f, n.t, order, 4, 1, &load, NULL));
	ck_assert_uint_eq(load, 1);
	ck_assert(!shift_load(n.f, n.t, order, 4, 4, &load, NULL));
	ck_assert_uint_eq(load, 0);
	ck_assert(!shift_load(n.f, n.t, order, 0, 1, &load, NULL));
	ck_assert_uint_eq(load, 0);
	/* place 4 of the order is a gap: host 1 sends nothing, host 2 receives nothing.  The flows
	 * are 0->3, 2->0 and 3->1. */
	ck_assert(!shift_load(n.f, n.t, order, 5, 3, &load, NULL));
	ck_assert_uint_eq(load, 2);
	/* Shift 2: 2->0 now ends in a loop, and 3->1 uses spine 3.  0->2 and 1->3 still share an
	 * uplink. */
	*net_at(&n, 2, HOST(0)) = 2;
	*net_at(&n, 1, HOST(1)) = 4;
	ck_assert(!shift_load(n.f, n.t, order, 4, 2, &load, NULL));
	ck_assert_uint_eq(load, 2);
	*net_at(&n, 0, HOST(2)) = 4;
	ck_assert(!shift_load(n.f, n.t, order, 4, 2, &load, NULL));
	ck_assert_uint_eq(load, 1);
	net_free(&n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("check");
	TCase *t = tcase_create("golden");

	suite_add_tcase(s, t);
	tcase_add_test(t, right_tables);
	tcase_add_loop_test(t, one_fault, 0, (int)FTR_ARRAY_LEN(faults));
	tcase_add_test(t, lmc);
	tcase_add_test(t, no_link);
	tcase_add_test(t, ring_of_five);
	tcase_add_test(t, ring_cut);
	tcase_add_test(t, long_loop);
	tcase_add_test(t, long_chain);
	tcase_add_test(t, four_pairs);
	tcase_add_test(t, between_two_cycles);
	tcase_add_test(t, search_ends);
	tcase_add_test(t, down_up_turn);
	tcase_add_test(t, horizontal);
	tcase_add_test(t, self_link);
	tcase_add_test(t, no_switch);
	tcase_add_test(t, wrong_size);
	tcase_add_test(t, too_many_switches);
	tcase_add_test(t, loads_of_shifts);
	return run_suite(s);
}
