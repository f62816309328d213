// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests some features of the simulation: messages between switches, exits of last resort (used only
 * if the buffers behind the others are full), a limit on hops, packets of hosts on upper switches,
 * and sources that send nothing to dead hosts.
 *
 * The fabric has switches 0 and 1, and two links between them: from port 1 of each to port 2 of
 * the other.  Hosts are at ports 3 and 4.  With the traffic pattern FTR_SIM_PAIRS, the hosts of
 * switch 0 send to those of switch 1.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "models/models.h"
#include <ftr/ftr.h>

#define BYTES 2048u
#define PS_BYTE 80u		/* 100 Gbit/s */
#define LINK 10000u

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_tables *t;
static struct ftr_sim_result r;

/* settings of the tested routing function, and the messages that have arrived */
static struct {
	uint32_t n, bytes;	/* number of messages sent at the start, and size of a message */
	bool after;		/* messages have lower priority than packets */
	bool last;		/* port 2 is an exit of last resort */
	bool again;		/* each message that arrives is sent again */
	uint8_t rank;
	uint64_t at[4096];	/* arrival times */
	uint64_t what[4096];
	uint32_t n_at, n_lost;
} does;

static void begin(void *state, const struct ftr_sim_view *v, uint64_t what)
{
	(void)state;
	(void)what;
	for (uint32_t i = 0; i < does.n; i++)
		ftr_sim_send(v, 0, 1, does.bytes, does.after, i);
}

static enum ftr_status start(const struct ftr_sim_view *v, void **state,
			     struct ftr_err *e)
{
	(void)state;
	(void)e;
	ftr_sim_after(v, FTR_SIM_US, 0);
	return FTR_OK;
}

static void message(void *state, const struct ftr_sim_view *v, uint64_t what,
		    bool lost)
{
	(void)state;
	does.n_lost += lost;
	if (lost)
		return;
	does.at[does.n_at] = v->now;
	does.what[does.n_at++] = what;
	if (does.again && does.n_at < 4000)
		ftr_sim_send(v, 0, 1, does.bytes, does.after, what);
}

/* Route packets for a host of switch s to the host's port, and all others to port 1.  If does.rank
 * is not 0, port 2 is a second exit with that rank. */
static unsigned int route(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	const struct ftr_endport *d = &v->f->ep[v->f->owner[a->p->dlid].idx];
	struct ftr_sim_exit *e = a->exit;

	(void)state;
	memset(e, 0, 2 * sizeof(*e));
	e[0].port = d->sw == a->sw ? d->sw_port : 1;
	e[1].port = 2;
	e[1].rank = does.rank;
	e[1].last = does.last;
	return d->sw != a->sw && does.rank ? 2 : 1;
}

static unsigned int round_route(void *state, const struct ftr_sim_view *v,
				struct ftr_sim_arrival *a)
{
	route(state, v, a);
	a->exit[0].port = 1;
	return 1;
}

static struct ftr_sim_function fn;
static struct ftr_transfer pair[2];
static struct ftr_sim_conf conf;

static void set_up(void)
{
	memset(&does, 0, sizeof(does));
	ck_assert(!ftr_gen_shape("torus:2;2", NULL, &f, &err));
	ck_assert(!ftr_tables_new(f, true, &t, &err));
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 1)->peer_port, 2);
	pair[0] = (struct ftr_transfer){ .from = 0, .to = 2 };
	pair[1] = (struct ftr_transfer){ .from = 1, .to = 3 };
	fn = (struct ftr_sim_function){
		.name = "test", .min_vls = 1, .start = start, .route = route,
		.timer = begin, .message = message, .extra = &model_extra,
	};
	conf = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .traffic.pattern = FTR_SIM_PAIRS,
		.traffic.pair = pair, .traffic.n_pairs = 2, .link_ps = LINK,
		.switch_ps = 100000, .run_ps = 100 * FTR_SIM_US,
		.traffic.bytes = BYTES, .n_series = 10,
	};
}

static void go(void)
{
	ck_assert_msg(!ftr_sim_run(&conf, NULL, &r, &err), "%s", err.msg);
}

static void tear_down(void)
{
	ftr_sim_result_fini(&r, 1);
	ftr_tables_free(t);
	ftr_fabric_free(f);
}

static const struct ftr_sim_channel_use *use(ftr_sw s, ftr_port port)
{
	for (uint32_t i = 0; i < r.n_channels; i++)
		if (r.channel[i].sw == s && r.channel[i].port == port)
			return &r.channel[i];
	ck_abort_msg("the result has no channel from this port");
}

static double busy(ftr_sw s, ftr_port port)
{
	return (double)use(s, port)->busy_ps / 1e8;
}

/* Messages arrive one by one, in order.  Each takes the time of its bytes on the link. */
START_TEST(messages_alone)
{
	does.n = 3;
	does.bytes = 100;
	go();
	ck_assert_uint_eq(does.n_at, 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(does.what[i], i);
		ck_assert_uint_eq(does.at[i], FTR_SIM_US + LINK +
				  (i + 1) * 100 * PS_BYTE);
	}
	ck_assert_uint_eq(does.n_lost, 0);
	/* messages occupy the channel, but do not count as packets */
	ck_assert_uint_eq(use(0, 1)->busy_ps, 3 * 100 * PS_BYTE);
	ck_assert_uint_eq(use(0, 1)->packets, 0);
}
END_TEST

/* At full load, packets and messages each get half of the channel.  If messages have lower
 * priority, packets get the whole channel. */
START_TEST(shares)
{
	uint64_t packets;

	does.n = 4;
	does.bytes = BYTES;
	does.again = true;
	does.after = _i;
	conf.traffic.load = 1;
	go();
	packets = r.delivered;
	ck_assert_double_gt(busy(0, 1), 0.98);
	if (does.after) {
		ck_assert_uint_gt(packets * BYTES * PS_BYTE,
				  96 * FTR_SIM_US);
		ck_assert_uint_le(does.n_at, 8);
	} else {
		ck_assert_uint_gt(packets * BYTES * PS_BYTE,
				  47 * FTR_SIM_US);
		ck_assert_uint_lt(packets * BYTES * PS_BYTE,
				  53 * FTR_SIM_US);
		ck_assert_uint_gt((uint64_t)does.n_at * BYTES * PS_BYTE,
				  47 * FTR_SIM_US);
	}
	ck_assert_uint_eq(r.injected, r.delivered + r.in_flight);
}
END_TEST

/* A link dies.  Messages on the link and messages that wait for it are lost and counted. */
START_TEST(messages_on_a_dying_link)
{
	const struct ftr_sim_change g[] = {
		{ .at = FTR_SIM_US + LINK + 250 * PS_BYTE, .sw = 0, .port = 1,
		  .kind = FTR_SIM_LINK_DOWN },
		{ .at = 2 * FTR_SIM_US, .sw = 0, .port = 1,
		  .kind = FTR_SIM_LINK_UP },
	};

	does.n = 10;
	does.bytes = 100;
	conf.change = g;
	conf.n_changes = 2;
	go();
	ck_assert_uint_eq(does.n_at, 2);
	ck_assert_uint_eq(does.n_lost, 8);
}
END_TEST

/* Two hosts send at full rate.  In case 0 the second link is used when the first is busy.  In
 * cases 1 and 2 it is a last resort: it is used only when the buffer at the end of the first
 * link is full.  A buffer of eight packets never fills (case 1), a buffer of one packet does
 * (case 2). */
START_TEST(last_resort)
{
	does.rank = 1;
	does.last = _i > 0;
	conf.traffic.load = 1;
	conf.buffer = _i == 2 ? BYTES : 8 * BYTES;
	go();
	if (_i == 0)
		ck_assert_double_gt(busy(0, 2), 0.8);
	else if (_i == 1)
		ck_assert_double_eq(busy(0, 2), 0);
	else
		ck_assert_double_gt(busy(0, 2), 0.2);
	ck_assert_double_gt(busy(0, 1), _i == 2 ? 0.3 : 0.9);
	ck_assert(!r.deadlock);
	ck_assert_uint_gt(r.series[9].delivered, 40);
}
END_TEST

START_TEST(hops)
{
	uint64_t sum = 0;

	conf.traffic.load = 0.2;
	go();
	for (int i = 0; i < 10; i++)
		sum += r.series[i].hops;
	ck_assert_uint_gt(r.delivered, 200);
	ck_assert_uint_eq(sum, 3 * r.delivered);
	ftr_sim_result_fini(&r, 1);
	fn.route = round_route;
	conf.traffic.load = 0.002;
	conf.run_ps = 400 * FTR_SIM_US;
	go();
	ck_assert_uint_eq(r.delivered, 0);
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_LOOP], 0);
	ftr_sim_result_fini(&r, 1);
	fn.hops_max = 3;
	conf.traffic.load = 0.02;
	go();
	ck_assert_uint_gt(r.lost[FTR_SIM_LOST_LOOP], 40);
	ck_assert_uint_le(r.hops, 3 * r.injected);
	ck_assert_uint_ge(r.hops, 3 * (r.injected - r.in_flight));
}
END_TEST

/* Switch 0 is above switch 1 and has hosts.  If the link at port 1 of switch 0 fails, switch 0 must
 * send packets from these hosts down through port 2, not back to the hosts.  Case 0 tests
 * det-links, case 1 det-switches. */
START_TEST(hosts_on_an_upper_switch)
{
	static const uint8_t rank[] = { 1, 0 };
	const struct ftr_sim_change g = { .sw = 0, .port = 1, .kind = FTR_SIM_LINK_DOWN };

	for (ftr_ep e = 0; e < f->n_ep; e++)
		for (ftr_sw s = 0; s < 2; s++)
			ftr_tables_row(t, s)[f->ep[e].lid] =
				f->ep[e].sw == s ? f->ep[e].sw_port : 1;
	conf.function = model_find(_i ? "det-switches" : "det-links");
	conf.arg = rank;
	conf.n_vls = 3;
	conf.traffic.load = 0.2;
	conf.change = &g;
	conf.n_changes = 1;
	go();
	ck_assert_uint_gt(r.delivered, 200);
	ck_assert_uint_eq(r.injected, r.delivered + r.in_flight);
	ck_assert_uint_eq(r.max_hops, 3);
	ck_assert_uint_eq(use(0, 3)->packets + use(0, 4)->packets, 0);
}
END_TEST

/* A host is cut off.  In case 0 sources continue to send to this host, and the packets are lost.
 * In case 1 (spare_dead) sources stop, and after some time no more packets are lost. */
START_TEST(no_packets_to_dead_hosts)
{
	const struct ftr_sim_change g = {
		.at = 20 * FTR_SIM_US, .sw = 1, .port = 3,
		.kind = FTR_SIM_LINK_DOWN,
	};
	uint64_t late = 0;

	conf.traffic.pattern = FTR_SIM_UNIFORM;
	conf.traffic.load = 0.5;
	conf.change = &g;
	conf.n_changes = 1;
	conf.traffic.spare_dead = _i;
	go();
	for (int i = 4; i < 10; i++)
		late += r.series[i].lost;
	if (_i)
		ck_assert_uint_eq(late, 0);
	else
		ck_assert_uint_gt(late, 50);
	ck_assert_uint_gt(r.series[9].delivered, 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_messages");
	TCase *c = tcase_create("messages");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, messages_alone);
	tcase_add_loop_test(c, shares, 0, 2);
	tcase_add_test(c, messages_on_a_dying_link);
	tcase_add_loop_test(c, last_resort, 0, 3);
	tcase_add_test(c, hops);
	tcase_add_loop_test(c, hosts_on_an_upper_switch, 0, 2);
	tcase_add_loop_test(c, no_packets_to_dead_hosts, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
