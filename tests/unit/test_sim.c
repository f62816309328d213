// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the simulation of packets against values worked out by hand.  The links of the small
 * fabrics are 4x EDR: 100 Gbit/s, or 80 ps per byte.  A packet of 2,048 bytes takes WIRE ps.
 */
#include <stdlib.h>

#include "lib/alloc.h"
#include "lib/suite.h"
#include "unit/check_net.h"
#include <ftr/ftr.h>

#define WIRE UINT64_C(163840)
#define LINK UINT64_C(10000)
#define SWITCH UINT64_C(100000)

static struct ftr_err err;

static struct ftr_sim_conf conf_of(const struct net *n)
{
	return (struct ftr_sim_conf){
		.f = n->f, .t = n->t, .link_ps = LINK, .switch_ps = SWITCH,
		.run_ps = 100 * FTR_SIM_US, .traffic.load = 1, .seed = 7,
	};
}

static struct ftr_sim_result run_test_sim(const struct ftr_sim_conf *c)
{
	struct ftr_sim_result r;
	uint64_t lost = 0;

	ck_assert_msg(!ftr_sim_run(c, NULL, &r, &err), "%s", err.msg);
	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		lost += r.lost[i];
	ck_assert_uint_eq(r.injected, r.delivered + lost + r.in_flight);
	return r;
}

static uint64_t packets(const struct ftr_sim_result *r, ftr_sw s, ftr_port p)
{
	for (uint32_t i = 0; i < r->n_channels; i++)
		if (r->channel[i].sw == s && r->channel[i].port == p)
			return r->channel[i].packets;
	ck_abort_msg("the result has no channel from switch %u, port %u", s, p);
	return 0;
}

/* Hosts 0 and 1 are at switch 0, hosts 2 and 3 at switch 1.  One link joins the switches. */
static struct net dumbbell(void)
{
	struct net n = net_new(2, 4, true, 0);

	net_host(&n, 0, 1);
	net_host(&n, 0, 2);
	net_host(&n, 1, 1);
	net_host(&n, 1, 2);
	net_link(&n, 0, 3, 1, 3);
	net_freeze(&n);
	net_route_all(&n, NULL);
	return n;
}

/* A ring of k switches with one host each: port 1 leads to the next switch, port 2 to the previous
 * one, port 3 to the host.  All packets go clockwise, through port 1 of each switch. */
static struct net ring(uint32_t k)
{
	struct net n = net_new(k, 3, true, 0);

	for (uint32_t s = 0; s < k; s++)
		net_host(&n, s, 3);
	for (uint32_t s = 0; s < k; s++)
		net_link(&n, s, 1, (s + 1) % k, 2);
	net_freeze(&n);
	for (uint32_t s = 0; s < k; s++)
		for (uint32_t h = 0; h < k; h++)
			*net_at(&n, s, n.f->ep[h].lid) = h == s ? 3 : 1;
	return n;
}

/* ---- time ------------------------------------------------------------------- */

START_TEST(latency)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair = { .from = 0, .to = 3 };
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;

	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = &pair;
	c.traffic.n_pairs = 1;
	c.traffic.load = 0.25;
	c.traffic.periodic = true;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.host.total.min_ps, 3 * LINK + 2 * SWITCH + WIRE);
	ck_assert_uint_eq(r.host.total.max_ps, 3 * LINK + 2 * SWITCH + WIRE);
	ck_assert_uint_eq(r.host.network.max_ps, r.host.total.max_ps);
	ck_assert_uint_eq(r.hops, 3 * r.injected);
	ck_assert_uint_eq(r.max_hops, 3);
	/* at load 0.25 a packet starts every 4 * WIRE ps */
	ck_assert_uint_ge(r.injected, 100 * FTR_SIM_US / (4 * WIRE));
	ck_assert_uint_le(r.injected, 100 * FTR_SIM_US / (4 * WIRE) + 1);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* Packets go between port 0 of switch 0 and port 0 of switch 1; each port 0 has only 2 Gbit/s.  On
 * the fast link between the switches, a packet must not start before its tail can follow without a
 * pause. */
START_TEST(slow_input)
{
	struct net n = dumbbell();
	struct ftr_sim_conf c = conf_of(&n);
	const uint64_t slow = WIRE * 50;
	struct ftr_sim_result r;

	c.traffic.load = 0;
	c.traffic.switch_load = 0.1;
	c.traffic.periodic = true;
	c.run_ps = FTR_SIM_MS;
	r = run_test_sim(&c);
	ck_assert_uint_gt(r.sw.total.n, 0);
	ck_assert_uint_eq(r.sw.total.min_ps, SWITCH + slow - WIRE + LINK +
			  SWITCH + slow);
	ck_assert_uint_eq(r.sw.total.max_ps, r.sw.total.min_ps);
	ck_assert_uint_eq(r.host.total.n, 0);
	ck_assert_uint_eq(r.sw.sources, 2);
	ck_assert_double_eq_tol(r.sw.capacity, 4e9, 1e3);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* The buffer has room for one packet.  The next packet starts when the credit has returned. */
START_TEST(credit_stall)
{
	struct net n = net_new(1, 2, true, 0);
	const struct ftr_transfer pair = { .from = 0, .to = 1 };
	struct ftr_sim_conf c;
	struct ftr_sim_result r;
	const uint64_t period = 2 * LINK + SWITCH + WIRE;

	net_host(&n, 0, 1);
	net_host(&n, 0, 2);
	net_freeze(&n);
	net_route_all(&n, NULL);
	c = conf_of(&n);
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = &pair;
	c.traffic.n_pairs = 1;
	c.buffer = 2048;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.injected, (c.run_ps + period - 1) / period);
	ftr_sim_result_fini(&r, 1);
	/* with room for two packets, the channel is never idle */
	c.buffer = 4096;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.injected, (c.run_ps + WIRE - 1) / WIRE);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* The buffer of port 0 has room for one packet.  Between two packets its slow link must be idle
 * for the switch's delay. */
START_TEST(switch_buffer)
{
	struct net n = dumbbell();
	struct ftr_sim_conf c = conf_of(&n);
	const uint64_t slow = WIRE * 50;
	struct ftr_sim_result r;

	c.traffic.load = 0;
	c.traffic.switch_load = 1;
	c.run_ps = FTR_SIM_MS;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.injected, 2 * ((c.run_ps + slow - 1) / slow));
	ftr_sim_result_fini(&r, 1);
	c.switch_buffer = 2048;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.injected, 2 * ((c.run_ps + SWITCH + slow - 1) /
					   (SWITCH + slow)));
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

START_TEST(fair_share)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 2 }, { .from = 1, .to = 3 } };
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;
	uint64_t a, b;

	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 2;
	r = run_test_sim(&c);
	a = packets(&r, 1, 1);
	b = packets(&r, 1, 2);
	ck_assert_uint_le(a > b ? a - b : b - a, 1);
	/* the link is always busy after the arrival of the first packet's head */
	for (uint32_t i = 0; i < r.n_channels; i++)
		if (r.channel[i].sw == 0 && r.channel[i].port == 3)
			ck_assert_uint_eq(r.channel[i].busy_ps, c.run_ps -
					  LINK - SWITCH);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* Two VLs with weights 3 and 1 share a link.  The first VL must carry three times as many packets
 * as the second. */
START_TEST(weights)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 2 }, { .from = 1, .to = 3 } };
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_path_sl *sl;
	struct ftr_sim_result r;
	uint64_t a, b;

	ck_assert(!ftr_path_sl_new(n.f, &sl, &err));
	ck_assert(!ftr_path_sl_set(sl, 1, n.f->ep[3].lid, 1, &err));
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 2;
	c.traffic.path_sl = sl;
	c.n_vls = 2;
	c.weight[0] = 96;
	c.weight[1] = 32;
	r = run_test_sim(&c);
	a = packets(&r, 1, 1);
	b = packets(&r, 1, 2);
	ck_assert_uint_ge(a + 4, 3 * b);
	ck_assert_uint_le(a, 3 * b + 4);
	ftr_sim_result_fini(&r, 1);
	ftr_path_sl_free(sl);
	net_free(&n);
}
END_TEST

/* Host 0 sends to hosts 2 and 3 in turn, and host 1 sends to host 2, whose output is congested.
 * In a FIFO, packets to host 3 wait behind packets to host 2.  With one queue for each output they
 * do not. */
START_TEST(head_of_line)
{
	struct net n = net_new(1, 4, true, 0);
	const struct ftr_transfer pair[] = {
		{ .from = 0, .to = 2 }, { .from = 0, .to = 3 }, { .from = 1, .to = 2 },
	};
	struct ftr_sim_conf c;
	struct ftr_sim_result voq, fifo;

	for (uint32_t i = 0; i < 4; i++)
		net_host(&n, 0, i + 1);
	net_freeze(&n);
	net_route_all(&n, NULL);
	c = conf_of(&n);
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 3;
	c.buffer = 1 << 16;
	voq = run_test_sim(&c);
	c.queues = FTR_SIM_FIFO;
	fifo = run_test_sim(&c);
	/* the congested output is always busy */
	ck_assert_uint_ge(packets(&voq, 0, 3) + 1, c.run_ps / WIRE);
	ck_assert_uint_gt(packets(&voq, 0, 4), packets(&fifo, 0, 4));
	/* host 3 gets every second packet of host 0, so its link is at most half busy */
	ck_assert_uint_le(packets(&fifo, 0, 4), c.run_ps / WIRE / 2 + 1);
	ftr_sim_result_fini(&voq, 1);
	ftr_sim_result_fini(&fifo, 1);
	net_free(&n);
}
END_TEST

/* Two hosts send to one output.  Packets from the link must go before packets of the switch's own
 * host. */
START_TEST(transit_first)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 2 }, { .from = 3, .to = 2 } };
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;
	uint64_t all, over;

	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 2;
	r = run_test_sim(&c);
	all = packets(&r, 1, 1);
	over = packets(&r, 0, 3);
	ck_assert_uint_le(over, all / 2 + 30);
	ftr_sim_result_fini(&r, 1);
	c.transit_first = true;
	r = run_test_sim(&c);
	/* host 0 sends at the full rate; host 3 sends only until host 0's first packet arrives */
	ck_assert_uint_ge(packets(&r, 1, 1) + 1, all);
	ck_assert_uint_ge(packets(&r, 0, 3) + 4, all);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* A window of one packet: a host sends a packet when the previous packet has arrived. */
START_TEST(window)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair = { .from = 0, .to = 3 };
	const uint64_t trip = 3 * LINK + 2 * SWITCH + WIRE;
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;

	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = &pair;
	c.traffic.n_pairs = 1;
	c.traffic.window = 1;
	r = run_test_sim(&c);
	ck_assert_uint_eq(r.injected, (c.run_ps + trip - 1) / trip);
	ck_assert_uint_le(r.max_in_flight, 1);
	ftr_sim_result_fini(&r, 1);
	c.traffic.window = 3;
	r = run_test_sim(&c);
	ck_assert_uint_ge(r.injected, c.run_ps / WIRE);
	ck_assert_uint_le(r.max_in_flight, 3);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* ---- deadlock ----------------------------------------------------------------- */

START_TEST(deadlock)
{
	const uint32_t k = 5;
	struct net n = ring(k);
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_path_sl *sl;
	struct ftr_sim_result r;

	c.queues = _i ? FTR_SIM_FIFO : FTR_SIM_VOQ;
	c.traffic.pattern = FTR_SIM_SHIFT;
	c.traffic.shift = 3;
	c.buffer = 4096;
	r = run_test_sim(&c);
	ck_assert(r.deadlock);
	ck_assert_uint_eq(r.cycle_len, k);
	for (uint32_t i = 0; i < k; i++) {
		ck_assert_uint_eq(r.cycle[i].port, 1);
		ck_assert_uint_eq(r.cycle[i].vl, 0);
		ck_assert_uint_eq(r.cycle[(i + 1) % k].sw,
				  (r.cycle[i].sw + 1) % k);
	}
	ck_assert_uint_ge(r.stuck_buffers, k);
	ftr_sim_result_fini(&r, 1);

	/* paths over the link from the last switch to the first use their own VL (the dateline of
	 * Dally and Seitz) */
	ck_assert(!ftr_path_sl_new(n.f, &sl, &err));
	for (uint32_t h = 0; h < k; h++)
		for (uint32_t d = 0; d < h; d++)
			ck_assert(!ftr_path_sl_set(sl, h, n.f->ep[d].lid, 1,
						   &err));
	c.traffic.path_sl = sl;
	c.n_vls = 2;
	r = run_test_sim(&c);
	ck_assert(!r.deadlock);
	ck_assert_uint_gt(r.delivered, 500);
	ftr_sim_result_fini(&r, 1);
	ftr_path_sl_free(sl);
	net_free(&n);
}
END_TEST

/* All traffic goes to one host port, so packets move slowly.  The search for deadlocks runs
 * several times and must find none. */
START_TEST(slow_is_no_deadlock)
{
	struct net n = ring(5);
	const ftr_ep hot = 0;
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;

	c.traffic.pattern = FTR_SIM_HOTSPOT;
	c.traffic.hot = &hot;
	c.traffic.n_hot = 1;
	c.traffic.hot_percent = 100;
	c.buffer = 2048;
	c.check_ps = FTR_SIM_US;
	/* the hot host port must not send */
	c.traffic.order = (const ftr_ep[]){ 1, 2, 3, 4 };
	c.traffic.n_order = 4;
	r = run_test_sim(&c);
	ck_assert(!r.deadlock);
	ck_assert_uint_gt(r.delivered, 0);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

START_TEST(stop)
{
	struct net n = ring(5);
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;

	c.traffic.pattern = FTR_SIM_SHIFT;
	c.traffic.shift = 3;
	c.buffer = 4096;
	c.check_ps = FTR_SIM_US;
	c.stop_on_deadlock = true;
	r = run_test_sim(&c);
	ck_assert(r.deadlock);
	ck_assert_uint_eq(r.end_ps, r.deadlock_ps);
	ck_assert_uint_lt(r.end_ps, c.run_ps);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

/* ---- losses --------------------------------------------------------------------- */

/* Two flows at full rate cross a link that dies.  Packets on the link and packets that wait for
 * the link are lost.  Later the table entry of their destination is missing, and all packets are
 * lost.  At the end, all packets must arrive again. */
START_TEST(dying_link)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 2 }, { .from = 1, .to = 2 } };
	struct ftr_sim_change g[] = {
		{ .at = 20 * FTR_SIM_US, .kind = FTR_SIM_LINK_DOWN, .sw = 1,
		  .port = 3 },
		{ .at = 40 * FTR_SIM_US, .kind = FTR_SIM_ENTRY, .sw = 0,
		  .port = FTR_PORT_NONE },
		{ .at = 60 * FTR_SIM_US, .kind = FTR_SIM_LINK_UP, .sw = 0,
		  .port = 3 },
		{ .at = 60 * FTR_SIM_US, .kind = FTR_SIM_ENTRY, .sw = 0,
		  .port = 3 },
	};
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;
	uint64_t none;

	g[1].lid = g[3].lid = n.f->ep[2].lid;
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 2;
	c.change = g;
	c.n_changes = 4;
	c.buffer = 8192;
	c.n_series = 100;
	r = run_test_sim(&c);
	ck_assert_uint_ge(r.lost[FTR_SIM_LOST_WIRE], 1);
	ck_assert_uint_le(r.lost[FTR_SIM_LOST_WIRE], 2);
	/* both inputs have buffers for four packets, and the buffers are full */
	ck_assert_uint_ge(r.lost[FTR_SIM_LOST_QUEUE], 5);
	ck_assert_uint_le(r.lost[FTR_SIM_LOST_QUEUE], 8);
	/* two sources send this number of packets in 20 us at full rate */
	ck_assert_uint_ge(r.lost[FTR_SIM_LOST_DEAD_PORT], 240);
	ck_assert_uint_le(r.lost[FTR_SIM_LOST_DEAD_PORT], 250);
	ck_assert_uint_ge(r.lost[FTR_SIM_LOST_MISSING], 240);
	ck_assert_uint_le(r.lost[FTR_SIM_LOST_MISSING], 250);
	none = 0;
	for (uint32_t i = 21; i < 60; i++)
		none += r.series[i].delivered;
	ck_assert_uint_eq(none, 0);
	for (uint32_t i = 62; i < 100; i++)
		ck_assert_uint_ge(r.series[i].delivered, 5);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

START_TEST(dying_switch)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 1 }, { .from = 1, .to = 2 } };
	const struct ftr_sim_change g[] = {
		{ .at = 20 * FTR_SIM_US, .kind = FTR_SIM_SWITCH_DOWN, .sw = 0 },
		{ .at = 50 * FTR_SIM_US, .kind = FTR_SIM_SWITCH_UP, .sw = 0 },
	};
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;

	c.queues = _i ? FTR_SIM_FIFO : FTR_SIM_VOQ;
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 2;
	c.change = g;
	c.n_changes = 2;
	c.n_series = 100;
	r = run_test_sim(&c);
	/* nothing is sent while the only switch is dead */
	for (uint32_t i = 22; i < 50; i++)
		ck_assert_uint_eq(r.series[i].delivered +
				  r.series[i].injected, 0);
	for (uint32_t i = 52; i < 100; i++)
		ck_assert_uint_ge(r.series[i].delivered, 10);
	ck_assert_uint_ge(r.lost[FTR_SIM_LOST_WIRE], 2);
	ck_assert_uint_eq(r.lost[FTR_SIM_LOST_DEAD_PORT], 0);
	ftr_sim_result_fini(&r, 1);
	net_free(&n);
}
END_TEST

START_TEST(bad_tables)
{
	struct net n = dumbbell();
	const struct ftr_transfer pair[] = { { .from = 0, .to = 2 } };
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sl2vl *m;
	struct ftr_sim_result r;

	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = pair;
	c.traffic.n_pairs = 1;
	c.traffic.load = 0.5;
	/* a loop between the two switches */
	*net_at(&n, 1, n.f->ep[2].lid) = 3;
	c.traffic.load = 0.002;
	c.run_ps = FTR_SIM_MS;
	r = run_test_sim(&c);
	c = conf_of(&n);
	c.traffic.pattern = FTR_SIM_PAIRS;
	c.traffic.pair = &pair[0];
	c.traffic.n_pairs = 1;
	c.traffic.load = 0.5;
	ck_assert_uint_eq(r.delivered, 0);
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_LOOP], 0);
	ftr_sim_result_fini(&r, 1);
	/* packets are delivered to the wrong host */
	*net_at(&n, 1, n.f->ep[2].lid) = 2;
	r = run_test_sim(&c);
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_WRONG_END], 200);
	ftr_sim_result_fini(&r, 1);
	/* the entry is a port without a link, then a port that does not exist */
	for (uint8_t p = 4; p < 6; p++) {
		*net_at(&n, 1, n.f->ep[2].lid) = p;
		r = run_test_sim(&c);
		ck_assert_uint_gt(r.lost[FTR_SIM_LOST_DEAD_PORT], 200);
		ftr_sim_result_fini(&r, 1);
	}
	/* the SL2VL table gives VL 15, so the switch drops the packets */
	*net_at(&n, 1, n.f->ep[2].lid) = 1;
	ck_assert(!ftr_sl2vl_new(n.f, &m, &err));
	ftr_sl2vl_set(m, 0, 1, 3, 0, 15);
	c.sl2vl = m;
	r = run_test_sim(&c);
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_VL], 200);
	ck_assert_uint_eq(r.delivered, 0);
	ftr_sim_result_fini(&r, 1);
	ftr_sl2vl_free(m);
	net_free(&n);
}
END_TEST

/* ---- traffic ------------------------------------------------------------------------ */

static struct ftr_fabric *tree(const char *shape, struct ftr_tables **t)
{
	struct ftr_pgft g;
	struct ftr_fabric *f;
	struct ftr_shape *sh;

	ck_assert(!ftr_pgft_parse(shape, &g, &err));
	ck_assert(!ftr_gen_pgft(&g, NULL, &f, &err));
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, NULL, NULL, *t, NULL,
						   &err));
	ftr_shape_free(sh);
	return f;
}

/* With dmodc's tables every shift runs at the full rate. */
START_TEST(shifts)
{
	struct ftr_tables *t;
	struct ftr_fabric *f = tree("3;2,2,2;1,2,2;1,1,1", &t);
	struct ftr_sim_conf c = {
		.f = f, .t = t, .link_ps = LINK, .switch_ps = SWITCH,
		.traffic.pattern = FTR_SIM_SHIFT, .traffic.load = 1, .warm_ps = 10 * FTR_SIM_US,
		.run_ps = 50 * FTR_SIM_US,
	};
	struct ftr_sim_result r;

	for (c.traffic.shift = 1; c.traffic.shift < 8; c.traffic.shift++) {
		r = run_test_sim(&c);
		ck_assert_double_ge((double)r.host.bytes * 8 * 1e12 /
				    (double)c.run_ps / r.host.capacity, 0.99);
		ftr_sim_result_fini(&r, 1);
	}
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

/* Light traffic arrives at the rate at which it is sent. */
START_TEST(light_load)
{
	static const enum ftr_sim_pattern kind[] = {
		FTR_SIM_UNIFORM, FTR_SIM_HOTSPOT, FTR_SIM_PERMUTATION,
		FTR_SIM_ALL_TO_ALL,
	};
	struct ftr_tables *t;
	struct ftr_fabric *f = tree("2;4,4;1,4;1,1", &t);
	const ftr_ep hot = 3;
	struct ftr_sim_conf c = {
		.f = f, .t = t, .link_ps = LINK, .switch_ps = SWITCH,
		.traffic.pattern = kind[_i], .traffic.hot = &hot, .traffic.n_hot = 1,
		.traffic.hot_percent = 5, .traffic.load = 0.3, .warm_ps = 20 * FTR_SIM_US,
		.run_ps = 2 * FTR_SIM_MS, .traffic.switch_load = 0.2, .seed = 5,
	};
	struct ftr_sim_result r = run_test_sim(&c);
	uint64_t sum = 0, last = 0, bin;
	double want = 0.3 * r.host.capacity / 8 / 2048 * 2e-3;

	ck_assert_double_eq_tol((double)r.host.offered, want, want / 50);
	ck_assert_double_eq_tol((double)r.host.delivered, want, want / 50);
	/* dmodc has no path from one spine to another: 12 of 56 pairs */
	ck_assert_double_eq_tol((double)r.sw.delivered, 0.2 * 8 * 2e9 / 8 /
				2048 * 2e-3 * 44 / 56, 40);
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_MISSING], 40);
	ck_assert_uint_lt(r.in_flight, 60);
	ck_assert_uint_le(r.host.network.max_ps, r.host.total.max_ps);
	for (bin = 0; bin < FTR_SIM_BINS; bin++) {
		sum += r.host.total.bin[bin];
		if (r.host.total.bin[bin])
			last = bin;
	}
	ck_assert_uint_eq(sum, r.host.delivered);
	/* bins of values from 2^i on begin with number 32 * (i - 4) */
	ck_assert_uint_ge(r.host.total.max_ps, (32 + last % 32) << (last / 32 - 1));
	ck_assert_uint_lt(r.host.total.max_ps, (33 + last % 32) << (last / 32 - 1));
	ftr_sim_result_fini(&r, 1);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

static void same(const struct ftr_sim_result *a, const struct ftr_sim_result *b)
{
	ck_assert_uint_eq(a->seed, b->seed);
	ck_assert_uint_eq(a->injected, b->injected);
	ck_assert_uint_eq(a->delivered, b->delivered);
	ck_assert_uint_eq(a->events, b->events);
	ck_assert_uint_eq(a->host.total.max_ps, b->host.total.max_ps);
	ck_assert(a->host.total.sum_ps == b->host.total.sum_ps);
	ck_assert(!memcmp(a->lost, b->lost, sizeof(a->lost)));
	ck_assert(!memcmp(a->channel, b->channel,
			  a->n_channels * sizeof(*a->channel)));
	ck_assert(!memcmp(a->host.total.bin, b->host.total.bin,
			  FTR_SIM_BINS * sizeof(uint64_t)));
}

START_TEST(any_team)
{
	struct ftr_tables *t;
	struct ftr_fabric *f = tree("2;4,4;1,4;1,1", &t);
	struct ftr_sim_conf c = {
		.f = f, .t = t, .link_ps = LINK, .switch_ps = SWITCH,
		.traffic.load = 0.9, .run_ps = 100 * FTR_SIM_US, .runs = 6, .seed = 1,
	};
	struct ftr_sim_result one[6], many[6];

	ck_assert(!ftr_sim_run(&c, NULL, one, &err));
	for (unsigned int k = 2; k < 4; k++) {
		struct ftr_team *team = ftr_team_new(k);

		ck_assert(!ftr_sim_run(&c, team, many, &err));
		for (int i = 0; i < 6; i++)
			same(&one[i], &many[i]);
		ftr_sim_result_fini(many, 6);
		ftr_team_free(team);
	}
	ck_assert_uint_ne(one[0].events, one[1].events);
	ftr_sim_result_fini(one, 6);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}
END_TEST

/* Routes as only functions with ftr_sim_function.extra may: an exit with more room (1 VL), several exits
 * (2 or 3), no exit, but the packet waits (4). */
static unsigned int all_exits(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	a->why = !state && v->n_vls == 4 ? FTR_SIM_WAIT : FTR_SIM_LOST_LOOP;
	for (unsigned int i = 0; i < v->n_vls % 4; i++)
		a->exit[i] = (struct ftr_sim_exit){ .port = (ftr_port)(1 + i), .room = v->n_vls == 1 ? 2 : 1 };
	return v->n_vls % 4;
}

/* ---- invalid configurations ----------------------------------------------------------- */

START_TEST(refused)
{
	struct net n = dumbbell(), other = ring(5);
	const struct ftr_transfer pair = { .from = 0, .to = 4 };
	const ftr_ep far = 4;
	const struct ftr_sim_change g[] = {
		{ .kind = FTR_SIM_LINK_DOWN, .sw = 2, .port = 1 },
		{ .kind = FTR_SIM_LINK_DOWN, .sw = 1, .port = 4 },
		{ .kind = FTR_SIM_LINK_DOWN, .sw = 1, .port = 0 },
		{ .kind = FTR_SIM_SWITCH_UP, .sw = 2 },
		{ .kind = FTR_SIM_ENTRY, .sw = 2 },
		{ .kind = FTR_SIM_TABLES, .tables = other.t },
		{ .kind = FTR_SIM_TABLES },
	};
	const struct ftr_sim_function fn = { .name = "exits", .min_vls = 1, .route = all_exits };
	struct ftr_sim_conf good = conf_of(&n), c;
	struct ftr_sim_result r;

#define REFUSED(change) do { \
	c = good; \
	change; \
	ck_assert_int_eq(ftr_sim_run(&c, NULL, &r, &err), FTR_INVAL); \
	ck_assert_str_ne(err.msg, ""); \
} while (0)
	REFUSED(c.t = other.t);
	REFUSED(c.run_ps = 0);
	REFUSED(c.traffic.bytes = FTR_SIM_PORT_BUFFER + 1);
	REFUSED(c.traffic.bytes = 70000; c.buffer = c.switch_buffer = 80000);
	ck_assert(strstr(err.msg, "at most 65535"));
	REFUSED(c.switch_buffer = UINT32_MAX);
	ck_assert(strstr(err.msg, "buffers of 4294967295"));
	REFUSED(c.switch_buffer = 2047);
	REFUSED(c.n_vls = 9);
	REFUSED(c.traffic.load = -1);
	REFUSED(c.traffic.switch_load = -1);
	REFUSED(c.traffic.pair = &pair; c.traffic.n_pairs = 1);
	REFUSED(c.traffic.order = &far; c.traffic.n_order = 1);
	REFUSED(c.traffic.pattern = FTR_SIM_HOTSPOT);
	REFUSED(c.traffic.hot = &far; c.traffic.n_hot = 1);
	REFUSED(c.traffic.hot_percent = 101);
	for (unsigned int vls = 1; vls <= 4; vls++)
		REFUSED(c.function = &fn; c.n_vls = vls);
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(g); i++)
		REFUSED(c.change = &g[i]; c.n_changes = 1);
	ck_assert_uint_eq(ftr_sim_mbps(4, FTR_SPEED_EDR), 100000);
	ck_assert_uint_eq(ftr_sim_mbps(1, FTR_SPEED_SDR), 2000);
	ck_assert_uint_eq(ftr_sim_mbps(0, FTR_SPEED_SDR), 0);
	net_free(&n);
	net_free(&other);
}
END_TEST

/* Allocation i and all later ones fail, for every i.  The call must return an error and leak
 * nothing. */
START_TEST(out_of_memory)
{
	struct net n = dumbbell();
	struct ftr_sim_conf c = conf_of(&n);
	struct ftr_sim_result r;
	unsigned long all;

	c.run_ps = 5 * FTR_SIM_US;
	ftr_alloc_fail_at(0);
	ck_assert(!ftr_sim_run(&c, NULL, &r, &err));
	all = ftr_alloc_count();
	ftr_sim_result_fini(&r, 1);
	for (unsigned long i = 1; i <= all; i++) {
		ftr_alloc_fail_at(i);
		ck_assert_int_eq(ftr_sim_run(&c, NULL, &r, &err), FTR_NOMEM);
	}
	ftr_alloc_fail_at(0);
	net_free(&n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim");
	TCase *c = tcase_create("sim");

	tcase_add_test(c, latency);
	tcase_add_test(c, slow_input);
	tcase_add_test(c, credit_stall);
	tcase_add_test(c, switch_buffer);
	tcase_add_test(c, fair_share);
	tcase_add_test(c, weights);
	tcase_add_test(c, head_of_line);
	tcase_add_test(c, transit_first);
	tcase_add_test(c, window);
	tcase_add_loop_test(c, deadlock, 0, 2);
	tcase_add_test(c, slow_is_no_deadlock);
	tcase_add_test(c, stop);
	tcase_add_test(c, dying_link);
	tcase_add_loop_test(c, dying_switch, 0, 2);
	tcase_add_test(c, bad_tables);
	tcase_add_test(c, shifts);
	tcase_add_loop_test(c, light_load, 0, 4);
	tcase_add_test(c, any_team);
	tcase_add_test(c, refused);
	tcase_add_test(c, out_of_memory);
	suite_add_tcase(s, c);
	return run_suite(s);
}
