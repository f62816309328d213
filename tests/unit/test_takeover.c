// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the first routing of a subnet manager when the switches hold tables of another engine.
 * With the option `takeover`, the plugin writes the new tables in an order that it has checked;
 * this test checks the tables after every write.  With the option `adopt`, the plugin reads the old
 * tables within a time limit.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/alloc.h"
#include "lib/draw.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/bad_helper.h"
#include "unit/shortest.h"
#include <ftr/check.h>

static struct ftr_err err;

/* Counts the states of the switches' tables: one at the start, and one after every Set. */
struct watch {
	struct ftr_tables *t;
	uint32_t states;
	uint32_t loops;		/* states with a forwarding loop */
	uint32_t cycles;	/* states with a credit loop, or with a forwarding loop */
	uint32_t gaps;		/* states with more unreachable pairs than at the start */
	uint64_t apart;		/* unreachable pairs of hosts at the start */
};

static void judge(void *ctx, struct fake *h)
{
	const struct ftr_check_opts opts = { .rank = NULL };
	struct ftr_check_report rep;
	struct watch *w = ctx;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(ftr_tables_row(w->t, s), h->sw[s].lft,
		       h->fab->max_lid + 1u);
	if (ftr_check_tables(h->fab, w->t, &opts, NULL, &rep, &err))
		fake_fail(err.msg);
	w->states++;
	w->loops += rep.found[FTR_FIND_LOOP] > 0;
	w->cycles += rep.cdg == FTR_CDG_CYCLE || rep.found[FTR_FIND_LOOP];
	if (w->states == 1)
		w->apart = rep.bad[FTR_CHECK_HOST_HOST];
	w->gaps += rep.bad[FTR_CHECK_HOST_HOST] > w->apart;
}

static struct ftr_fabric *damaged(uint64_t seed)
{
	const struct ftr_gen_opts go = { .seed = seed, .random_guids = true };
	struct ftr_damage d = { .seed = seed, .links = 3 + seed % 5 };
	struct ftr_fabric *f = NULL, *out = NULL;
	struct ftr_pgft g;

	ck_assert(!ftr_pgft_parse("3;3,3,3;1,3,3;1,1,1", &g, &err));
	ck_assert(!ftr_gen_pgft(&g, &go, &f, &err));
	ck_assert_msg(!ftr_gen_damage(f, &d, &out, &err), "%s", err.msg);
	ftr_fabric_free(f);
	return out;
}

static void hold(struct fake *h, const char *engine)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;

	ck_assert(!ftr_shape_new(h->fab, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(h->fab, false, &t, &err));
	ck_assert(!ftr_engine_find(engine)->route(sh, &o, NULL, t, NULL, &err));
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(h->sw[s].lft, ftr_tables_row(t, s), h->fab->max_lid + 1u);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	fake_activate(h);
}

static struct fake *start(uint64_t seed, const char *options)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = damaged(seed), .options = options, .not_up = true,
	});

	hold(h, "sftree");
	return h;
}

/* The tables are judged after each write. */
static void judged_sweep(struct watch *w, struct fake *h)
{
	h->written_ctx = w;
	h->written = judge;
	fake_check_sweep(h);
	h->written = NULL;
}

#define PLAIN "takeover plain\n"
#define ORDERED "takeover ordered\n"

static struct watch watched(uint64_t seed, const char *options, bool *ordered)
{
	struct fake *h = start(seed, options);
	struct watch w = { 0 };

	ck_assert(!ftr_tables_new(h->fab, false, &w.t, &err));
	judge(&w, h);
	ck_assert_msg(!w.cycles, "seed %" PRIu64 ": the tables at the start have a loop", seed);
	judged_sweep(&w, h);
	*ordered = fake_logged(h, "IBF010: dmodc: ") == 1;
	ck_assert_uint_eq(fake_logged(h, "IBF010") + fake_logged(h, "IBF121"),
			  !strcmp(options, ORDERED));
	fake_check_healed(h);
	/* takeover happens only once, so the next sweep logs nothing about it */
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF010") + fake_logged(h, "IBF121"),
			  !strcmp(options, ORDERED));
	ftr_tables_free(w.t);
	fake_free(h);
	return w;
}

START_TEST(every_state_is_sound)
{
	uint32_t n = trees_runs(12), ordered = 0, states = 0, bad = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t seed = trees_first_seed() + i;
		struct watch w;
		bool is;

		w = watched(seed, PLAIN, &is);
		bad += w.cycles + w.gaps;
		w = watched(seed, ORDERED, &is);
		ordered += is;
		states += w.states;
		if (is)
			ck_assert_msg(!w.cycles && !w.gaps, "seed %" PRIu64
				      ": of %u states, %u have a loop and %u have newly unreachable pairs",
				      seed, w.states, w.cycles, w.gaps);
	}
	printf("%u of %u fabrics taken over in order, %u states; in OpenSM's order of writes, %u states have a loop or newly unreachable pairs\n",
	       ordered, n, states, bad);
	runs_show(ordered > n / 2);
	runs_show(bad > 0);
}
END_TEST

/* ---- fabrics that are not trees ------------------------------------------- */

static const struct odd {
	const char *name, *torus, *text;
	bool cycles;	/* shortest paths have a credit loop here */
} odds[] = {
	{ .name = "ring", .torus = "torus:9;2", .cycles = true },
	{ .name = "torus", .torus = "torus:5,5;1", .cycles = true },
	{ .name = "hyperx", .text =
		"a: b c d e i h2\nb: c d f j h2\nc: d g k h2\nd: h l h2\n"
		"e: f g h i h2\nf: g h j h2\ng: h k h2\nh: l h2\n"
		"i: j k l h2\nj: k l h2\nk: l h2\nl: h2\n" },
	{ .name = "two trees with a shared leaf", .text =
		"r: a b s h1\nt: s c d\nu: a b s\nv: s c d\n"
		"a: h3\nb: h3\ns: h3\nc: h3\nd: h3\n" },
};

static struct ftr_fabric *odd_fabric(const struct odd *o)
{
	struct ftr_torus torus;
	struct ftr_fabric *f = NULL;

	if (o->text)
		return draw(o->text);
	ck_assert(!ftr_torus_parse(o->torus, &torus, &err));
	ck_assert(!ftr_gen_torus(&torus, NULL, &f, &err));
	return f;
}

/* Takes over from up/down tables, and from shortest paths.  No state has a forwarding loop or a pair
 * that has lost its path.  If the tables at the start have no credit loop, no state has one, or the
 * plugin has reported that it was possible; if they have one, the plugin reports it.  With odd seeds,
 * more than one wait for packets in flight exceeds the time limit.  The plugin waits nevertheless: all pairs
 * have a path. */
START_TEST(not_trees)
{
	const struct odd *o = &odds[_i / 2];
	uint32_t n = trees_runs(4), ordered = 0, states = 0, cycles = 0, before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t seed = trees_first_seed() + i;
		struct watch w = { 0 };
		struct fake *h = fake_new(&(struct fake_opts){
			.fabric = odd_fabric(o), .not_up = true,
			.options = seed % 2 ? ORDERED : ORDERED "transition_limit_ms 20000\n",
		});
		bool cycle, reported;

		h->osm->subn.opt.packet_life_time = OSM_DEFAULT_SWITCH_PACKET_LIFE;
		if (_i % 2)
			hold_shortest(h, seed);
		else
			hold(h, "sftree");
		ck_assert(!ftr_tables_new(h->fab, false, &w.t, &err));
		judge(&w, h);
		cycle = w.cycles;
		judged_sweep(&w, h);
		reported = fake_logged(h, "IBF121") > 0;
		ck_assert_msg(fake_logged(h, "IBF010") + reported == 1, "%s", h->log);
		ck_assert_msg(!w.loops && !w.gaps && (reported || !w.cycles),
			      "%s, seed %" PRIu64 ": of %u states, %u have a forwarding loop, %u a credit loop, and %u newly unreachable pairs",
			      o->name, seed, w.states, w.loops, w.cycles, w.gaps);
		ck_assert_msg(!cycle || reported, "%s", h->log);
		ck_assert_msg(!fake_logged(h, "waited for within"), "%s", h->log);
		fake_check_healed(h);
		ordered += !reported;
		before += cycle;
		states += w.states;
		cycles += w.cycles;
		ftr_tables_free(w.t);
		fake_free(h);
	}
	printf("%s, %s: %u of %u taken over in order, %u states, %u with a credit loop; %u had one before\n",
	       o->name, _i % 2 ? "shortest paths" : "up/down", ordered, n, states, cycles, before);
	runs_show(!(_i % 2) || !o->cycles || before > 0);
}
END_TEST

/* A trap arrives (1; 3: not in a takeover), or a host has no path (2), while more waits for packets exceed
 * the time limit: the remaining entries are written without waiting.  4: as 2, but memory is lacking to find
 * out whether a host has no path. */
static void trap_in_wait(void *ctx, struct fake *h)
{
	uint32_t *left = ctx;

	if (*left == UINT32_MAX)
		ftr_alloc_fail_once(1);
	else if (*left && !--*left)
		rr_post(&h->fast->rr, &(struct rr_event){
			.kind = RR_EV_TRAP, .lid = h->fab->sw[0].lid, .master = true,
		});
}

START_TEST(waits_end)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = odd_fabric(&odds[2]), .not_up = true, .options = ORDERED,
	});
	uint32_t left = _i == 4 ? UINT32_MAX : (uint32_t)_i % 2;
	double t0;

	h->osm->subn.opt.packet_life_time = OSM_DEFAULT_SWITCH_PACKET_LIFE;
	if (_i == 3)
		fake_check_sweep(h);
	hold_shortest(h, 5);
	for (ftr_sw s = 0; _i == 3 && s < h->fab->n_sw; s++)
		memcpy(h->osw[s]->lft, h->sw[s].lft, h->fab->max_lid + 1u);
	if (_i == 2 || _i == 4)
		h->sw[5].lft[h->fab->ep[21].lid] = FTR_PORT_NONE;
	t0 = ibf_now_ms();
	h->written_ctx = &left;
	h->written = trap_in_wait;
	fake_check_sweep(h);
	h->written = NULL;
	ftr_alloc_fail_at(0);
	ck_assert_uint_eq(left, _i == 4 ? UINT32_MAX : 0);
	ck_assert_msg(fake_logged(h, "packets in flight cannot be waited for within the time limit of 2000 ms") ==
		      (_i > 0 && _i < 4), "%s", h->log);
	ck_assert_msg(fake_logged(h, "no packet was lost: out of memory") == (_i == 4), "%s", h->log);
	ck_assert_msg(_i ? ibf_now_ms() - t0 < 2500 : ibf_now_ms() - t0 > 3000, "%s", h->log);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A leaf whose links are not Active answers no Get and no Set of its table (1).  The others get their tables
 * nevertheless, in the order of the planner, as without this leaf (0). */
static void lose_table(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	fate->lose_request = p->to == *(const ftr_sw *)ctx && (p->plugin || p->set);
}

START_TEST(silent_leaf_without_links)
{
	char text[512];
	struct fake *h;
	ftr_sw z;

	snprintf(text, sizeof(text), "%sz: a b h1\n", odds[2].text);
	h = fake_new(&(struct fake_opts){
		.fabric = draw(text), .not_up = true, .options = "transition_limit_ms 20000\n",
	});
	z = draw_sw(h->fab, "z");
	fake_check_sweep(h);
	fake_switch(h, z, false);
	fake_check_sweep(h);
	hold_shortest(h, 5);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (s != z)
			memcpy(h->osw[s]->lft, h->sw[s].lft, h->fab->max_lid + 1u);
	memset(h->sw[z].lft, FTR_PORT_NONE, h->fab->max_lid + 1u);
	fake_switch(h, z, _i);
	fake_set_fate(h, lose_table, &z);
	(void)!fake_sweep(h);
	fake_settle(h);
	ck_assert_int_eq(h->osw[z] != NULL, _i);
	ck_assert_msg(fake_logged(h, "entries in 19 blocks; steps=3 rounds=3 ") == 1, "%s", h->log);
	fake_release(h);
	fake_switch(h, z, true);
	for (int i = 0; i < 3; i++) {
		(void)!fake_sweep(h);
		fake_settle(h);
	}
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The process that plans the changes fails.  The entries are written in the order in which no packet
 * is lost, and the reason is reported. */
START_TEST(planner_fails)
{
	unsigned int failed = 0;

	use_script("planner", "kill -9 $$");
	for (int i = 0; i < 2 * (int)(sizeof(odds) / sizeof(odds[0])); i++) {
		struct watch w = { 0 };
		struct fake *h = fake_new(&(struct fake_opts){
			.fabric = odd_fabric(&odds[i / 2]), .not_up = true,
			.options = ORDERED "transition_limit_ms 20000\n",
		});

		if (i % 2)
			hold_shortest(h, 2);
		else
			hold(h, "sftree");
		ck_assert(!ftr_tables_new(h->fab, false, &w.t, &err));
		judge(&w, h);
		judged_sweep(&w, h);
		failed += fake_logged(h, "the process of the planner failed: it was ended by signal 9");
		ck_assert(!w.loops && !w.gaps);
		fake_check_healed(h);
		ftr_tables_free(w.t);
		fake_free(h);
	}
	use_real_helper();
	ck_assert(failed);
}
END_TEST

/* One bit of a step number of the first round is wrong, so that this write would follow later.  The
 * plan is refused. */
START_TEST(plan_changed)
{
	for (unsigned int i = 0; i < 8; i++) {
		char text[64];
		struct fake *h = fake_new(&(struct fake_opts){
			.fabric = odd_fabric(&odds[2]), .not_up = true, .options = ORDERED,
		});

		snprintf(text, sizeof(text), "exec $BAD change 2 %u \"$@\"", 23 + 9 * i);
		use_script("planner", text);
		hold_shortest(h, 2);
		fake_check_sweep(h);
		use_real_helper();
		ck_assert_msg(fake_logged(h, "of its plan is impossible"), "%s", h->log);
		fake_check_healed(h);
		fake_free(h);
	}
}
END_TEST

/* The process stands still.  (Then the virtual clock does, too.) */
START_TEST(planner_stands_still)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = odd_fabric(&odds[2]), .not_up = true, .real_time = true,
		.options = ORDERED "transition_limit_ms 200\nfast_timeout_ms 5000\n",
	});

	use_script("planner", "kill -STOP $$");
	hold_shortest(h, 2);
	fake_check_sweep(h);
	use_real_helper();
	ck_assert_msg(fake_logged(h, "the time limit of 200 ms has passed") == 1, "%s", h->log);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* If the switches have no tables, takeover has nothing to do. */
START_TEST(fresh_switches)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = ORDERED });

	ck_assert_uint_eq(fake_logged(h, "IBF010: dmodc: no table is replaced"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The tables in use have a loop of one LID, so no order of writes is safe.  This LID is changed first:
 * the first write ends the loop, and the other LIDs are changed without a credit loop. */
START_TEST(loop_in_use)
{
	struct fake *h = start(1, ORDERED);
	const struct ftr_swport *port;
	ftr_sw s = h->fab->ep[0].sw;
	ftr_port p = fake_uplink(h, s, 0);
	ftr_lid lid = h->fab->ep[h->fab->n_ep - 1].lid;
	struct watch w = { 0 };

	port = ftr_fabric_port(h->fab, s, p);
	h->sw[s].lft[lid] = p;
	h->sw[port->peer].lft[lid] = port->peer_port;
	ck_assert(!ftr_tables_new(h->fab, false, &w.t, &err));
	judge(&w, h);
	judged_sweep(&w, h);
	ck_assert_uint_eq(w.cycles, 1);
	ck_assert_uint_eq(w.gaps, 0);
	ck_assert_msg(fake_logged(h, "IBF121: dmodc: entries were replaced in an order in which a credit loop was possible for ") == 1 &&
		      fake_logged(h, " between 9 pairs (host-25 to host-11, host-26 to host-11, host-24 to host-11, ...)") == 1,
		      "%s", h->log);
	fake_check_healed(h);
	ftr_tables_free(w.t);
	fake_free(h);
}
END_TEST

/* While packets follow the entries of before a takeover that was reported as unsafe, a link fails that
 * no entry uses.  No entry is replaced, so nothing is reported. */
START_TEST(unused_link)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw("a: b e f f f f f f f f f f f f h1\n"
			"b: c h1\nc: d h1\nd: e h1\ne: h1\nf: h1\n"),
		.options = ORDERED "transition_limit_ms 100\n", .not_up = true,
	});
	const struct ftr_fabric *f = h->fab;
	ftr_sw a = f->ep[0].sw;
	ftr_port unused = 0;

	h->osm->subn.opt.packet_life_time = OSM_DEFAULT_SWITCH_PACKET_LIFE;
	hold_shortest(h, 2);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 2);
	for (unsigned int p = 1; p <= f->sw[a].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(f, a, (ftr_port)p);

		if (q->peer_kind == FTR_PEER_SW && !memchr(h->sw[a].lft, (int)p, f->max_lid + 1u) &&
		    !memchr(h->sw[q->peer].lft, q->peer_port, f->max_lid + 1u))
			unused = (ftr_port)p;
	}
	ck_assert(unused);
	fake_link(h, a, unused, false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	ck_assert_msg(fake_logged(h, "IBF121") == 2, "%s", h->log);
	fake_free(h);
}
END_TEST

/* Make the plugin's engine refuse once, so that another engine routes. */
struct refusal {
	uint8_t *lft;
	bool lost;	/* the other engine routes, and one of its packets with entries is lost */
};

static void refuse(void *ctx, struct fake *h, enum fake_moment m)
{
	struct refusal *r = ctx;

	if (m == FAKE_LOCKED) {
		r->lft = h->osw[0]->lft;
		h->osw[0]->lft = NULL;
	} else if (m == FAKE_ROUTING) {
		h->osw[0]->lft = r->lft;
	} else if (m == FAKE_ROUTED) {
		h->osm->subn.subnet_initialization_error = r->lost;
		h->moment = NULL;
	}
}

static unsigned int takeovers(struct fake *h)
{
	return fake_logged(h, "IBF010") + fake_logged(h, "IBF121");
}

/* Another engine routes once.  The next routing is a takeover, and the routing after that is
 * not.  In case 1 OpenSM repeats the routing of the other engine, so no event reports that
 * routing. */
START_TEST(after_another_engine)
{
	struct fake *h = start(1, ORDERED);
	struct refusal r = { .lost = _i };

	fake_check_sweep(h);
	fake_check_sweep(h);
	ck_assert_uint_eq(takeovers(h), 1);
	h->moment_ctx = &r;
	h->moment = refuse;
	if (_i) {
		ck_assert(fake_reroute(h));
		fake_settle(h);
	} else {
		fake_check_sweep(h);
		ck_assert_uint_eq(fake_logged(h, "IBF210"), 1);
		ck_assert_uint_eq(takeovers(h), 1);
		fake_check_sweep(h);
	}
	ck_assert_uint_eq(takeovers(h), 2);
	fake_check_sweep(h);
	ck_assert_uint_eq(takeovers(h), 2);
	fake_check_sound(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- packets that get lost ------------------------------------------------ */

static void lose(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	fate->lose_request = p->plugin && p->set == *(const bool *)ctx;
}

/* No Set is acknowledged.  The tables of the switches are known, so OpenSM leaves them as they are; the next
 * sweep replaces them. */
START_TEST(lost_sets)
{
	struct fake *h = start(1, ORDERED);
	bool sets = true;

	h->sw[h->fab->ep[0].sw].lft[h->fab->ep[26].lid] = FTR_PORT_NONE;
	fake_set_fate(h, lose, &sets);
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, " and other switches; the next sweep replaces the remaining ") == 1 &&
		      !fake_logged(h, "IBF121"), "%s", h->log);
	fake_set_fate(h, NULL, NULL);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Every Set of the plugin is acknowledged so late that the transport has sent it again.  The copy
 * would arrive after LATE_COPY_MS, if it is not on a route on which a later packet has arrived. */
#define LATE_COPY_MS 5000

static void answer_late(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	(void)ctx;
	if (!p->plugin || !p->set)
		return;
	fate->back_ms = p->copy ? 0 : 300;	/* fast_timeout_ms is 500 */
	fate->delay_ms = p->copy ? LATE_COPY_MS : 0;
}

static void add_link(struct fake *h, ftr_sw s, ftr_port p)
{
	fake_link(h, s, p, true);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
}

/* Two links are added.  After the second one, blocks are written over other routes.  No copy of an
 * older Set may arrive then. */
START_TEST(late_copies)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = damaged(1), .options = "transition_limit_ms 60000\n", .not_up = true,
	});
	ftr_sw s = h->fab->ep[h->sm].sw;

	for (unsigned int i = 0; i < 2; i++)
		fake_link_quietly(h, s, fake_uplink(h, s, i), false);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_set_fate(h, answer_late, NULL);
	add_link(h, s, fake_uplink(h, s, 1));
	ck_assert_uint_eq(fake_logged(h, "IBF010: dmodc: the tables in use were replaced"), 1);
	fake_set_fate(h, NULL, NULL);
	add_link(h, s, fake_uplink(h, s, 0));
	ck_assert_uint_eq(fake_logged(h, "IBF010: dmodc: the tables in use were replaced"), 2);
	ibf_sleep_ms(LATE_COPY_MS + 1000);
	ck_assert_uint_eq(fake_wrong(h), 0);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Every acknowledgement of a Set of the plugin gets lost.  The plugin reads the blocks, and goes on. */
static void lose_acknowledgements(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	(void)ctx;
	fate->lose_answer = p->plugin && p->set;
}

START_TEST(lost_acknowledgements)
{
	struct fake *h = start(1, ORDERED "transition_limit_ms 60000\n");

	fake_set_fate(h, lose_acknowledgements, NULL);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF010: dmodc: the tables in use were replaced"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The writes of each step take longer than the time limit.  All steps are written. */
static void answer_slowly(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	(void)ctx;
	fate->back_ms = p->plugin && p->set ? 150 : 0;
}

START_TEST(planned_steps_have_no_limit)
{
	uint32_t changed[2];

	for (int slow = 0; slow < 2; slow++) {
		struct fake *h = start(1, ORDERED "transition_limit_ms 100\n");

		if (slow)
			fake_set_fate(h, answer_slowly, NULL);
		fake_check_sweep(h);
		changed[slow] = h->changed_entries;	/* by OpenSM */
		ck_assert_uint_eq(fake_logged(h, "IBF010: dmodc: the tables in use were replaced"), 1);
		ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
		fake_check_healed(h);
		fake_free(h);
	}
	ck_assert_uint_eq(changed[1], changed[0]);
}
END_TEST

/* Returns the time in ms that a routing takes if no switch answers a Get.  Without a limit, reading
 * all tables would take many minutes. */
static double silent(struct fake *h)
{
	bool sets = false;
	double t0 = ibf_now_ms();

	fake_set_fate(h, lose, &sets);
	fake_check_sweep(h);
	return ibf_now_ms() - t0;
}

#define SLOW "fast_window 1\nfast_timeout_ms 5000\n"

START_TEST(adopt_has_a_limit)
{
	struct fake *h = start(1, "adopt yes\n" SLOW);
	char text[64];

	ck_assert_double_lt(silent(h), 11000);
	snprintf(text, sizeof(text), "blocks=%u unanswered=%u", h->fab->n_sw,
		 h->fab->n_sw);
	ck_assert_msg(fake_logged(h, "IBF009: tables read from the switches: 0 of ") == 1 &&
		      fake_logged(h, text) == 1, "%s", h->log);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The options `takeover` and `adopt` both read tables for at most 10 s.  The planned order of
 * writes leaves out blocks that were not read. */
START_TEST(takeover_has_a_limit)
{
	struct fake *h = start(1, ORDERED SLOW);

	ck_assert_double_lt(silent(h), 11000);
	ck_assert_uint_eq(fake_logged(h, "blocks could not be read from the switches"), 1);
	fake_check_sound(h);
	fake_free(h);
}
END_TEST

/* ---- a large fabric ------------------------------------------------------- */

START_TEST(large)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = getenv("FTR_SOAK") ? "3;18,18,16;1,18,16;1,1,1" : "3;6,6,6;1,6,6;1,1,1",
		.options = "adopt yes\ntakeover ordered\n", .not_up = true,
	});
	uint32_t blocks = h->fab->n_sw * (h->fab->max_lid / FTR_LFT_BLOCK + 1u);
	const char *line;
	char text[32];

	hold(h, "dmodc");
	fake_check_sweep(h);
	snprintf(text, sizeof(text), "blocks=%u ", blocks);
	line = strstr(h->log, "IBF009");
	ck_assert_msg(line && fake_logged(h, text) == 1, "%s", h->log);
	printf("%u switches: %.*s\n", h->fab->n_sw, (int)strcspn(line, "\n"), line);
	ck_assert_uint_eq(fake_logged(h, "unanswered=0"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF010"), 1);
	fake_free(h);
}
END_TEST

/* ---- many blocks ---------------------------------------------------------- */

extern volatile unsigned int osm_exit_flag;

enum { ANSWERED, SILENT, ENDING, ENDS_WRITING, DEAF, DEAF_TOO_LONG, MANY_CASES };

/* What is logged, and how many blocks are written. */
static const char *const many_says[][2] = {
	[ANSWERED] = { "IBF010: dmodc: the tables in use were replaced in a checked order", " in 1620 blocks" },
	[SILENT] = { "blocks could not be read from the switches", "" },
	[ENDING] = { "blocks could not be read from the switches", "" },
	[ENDS_WRITING] = { "; the next master replaces the remaining ", " in 1080 blocks" },
	[DEAF] = { "a write or a read was not acknowledged", " in 1350 blocks" },
	[DEAF_TOO_LONG] = { "a write or a read was not acknowledged", " in 810 blocks" },
};

/* DEAF: the Sets to switch a, to which the first ones go, are lost. */
static void many_fate(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	int which = *(const int *)ctx;
	bool reads = which == SILENT || which == ENDING, concerned = p->plugin && (reads || p->set);

	fate->lose_request = concerned && (reads || (which >= DEAF && p->to == 2));
	if (concerned && (which == ENDING || which == ENDS_WRITING))
		__atomic_store_n(&osm_exit_flag, 1, __ATOMIC_RELAXED);
}

/* The switches hold 2592 blocks, more than one batch, and more than one batch is written in one step.
 * If no switch answers, the second batch is not read, because the time limit has passed; nor is it if
 * OpenSM ends.  The second batch is not written if OpenSM ends, or a switch does not answer until the time
 * limit has passed. */
START_TEST(many_blocks)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw_lmc("s:\nt:\na: s t h27\nb: s t h27\nc: s t h27\nd: s t h27\ne: s t h27\nf: s t h27\n", 7),
		.options = _i == DEAF ? ORDERED "transition_limit_ms 60000\n" :
			_i == DEAF_TOO_LONG ? ORDERED "transition_limit_ms 100\n" : ORDERED,
		.not_up = true,
	});
	const struct ftr_fabric *f = h->fab;

	hold(h, "dmodc");
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (f->owner[lid].kind == FTR_OWNER_EP && !h->sh->tree.rank[s] &&
			    f->ep[f->owner[lid].idx].sw != s)
				h->sw[s].lft[lid] = fake_uplink(h, s, h->sw[s].lft[lid] == fake_uplink(h, s, 0));
	if (_i != ANSWERED)
		fake_set_fate(h, many_fate, &_i);
	fake_sweep(h);
	fake_set_fate(h, NULL, NULL);
	__atomic_store_n(&osm_exit_flag, 0, __ATOMIC_RELAXED);
	fake_settle(h);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(strstr(h->log, many_says[_i][i]), "%s", h->log);
	fake_check_sweep(h);
	fake_check_sound(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("takeover");
	TCase *t = tcase_create("takeover");

	if (!find_helper())
		return 77;
	tcase_add_test(t, every_state_is_sound);
	tcase_add_loop_test(t, waits_end, 0, 5);
	tcase_add_loop_test(t, silent_leaf_without_links, 0, 2);
	tcase_add_loop_test(t, not_trees, 0, 2 * (int)(sizeof(odds) / sizeof(odds[0])));
	tcase_add_test(t, planner_fails);
	tcase_add_test(t, plan_changed);
	tcase_add_test(t, planner_stands_still);
	tcase_add_test(t, fresh_switches);
	tcase_add_test(t, loop_in_use);
	tcase_add_test(t, unused_link);
	tcase_add_loop_test(t, after_another_engine, 0, 2);
	tcase_add_test(t, lost_sets);
	tcase_add_test(t, late_copies);
	tcase_add_test(t, lost_acknowledgements);
	tcase_add_test(t, planned_steps_have_no_limit);
	tcase_add_test(t, adopt_has_a_limit);
	tcase_add_loop_test(t, many_blocks, 0, MANY_CASES);
	tcase_add_test(t, takeover_has_a_limit);
	tcase_add_test(t, large);
	suite_add_tcase(s, t);
	return run_suite(s);
}
