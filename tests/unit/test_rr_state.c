// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the state machine of the fast path: every event in every state, and long random sequences
 * of events on a virtual clock.  FTR_SEED=N begins with seed N.  FTR_RUNS multiplies the number of
 * steps of a sequence.
 *
 * The fast path is the plugin's repair of tables before OpenSM sweeps.  The view is the fast path's
 * copy of the tables in use.  An epoch is the time between two changes of the tables by others.
 */
#include <check.h>
#include <stdlib.h>

#include "base/base.h"
#include "lib/at_rest.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "reroute/state.h"

static struct rr_state s;

#define DELAY 10
#define CAP 50

static void reset(void)
{
	rr_state_init(&s);
	s.want.delay = DELAY;
	s.want.cap = CAP;
	s.links.limit = 2;
	s.links.window = 100;
	s.links.hold = 50;
}

/* ---- every pair of state and event --------------------------------------- */

#define SAME -1
#define ANY 7			/* mask: all values of one part of the state */
#define ONLY(x) (1 << (x))
#define NOT(x) (ANY & ~ONLY(x))

static void traps_wait(void)
{
	s.trap[0] = (struct rr_trap){ 17, 0 };
	s.n_traps = 1;
}

static void view_is_old(void)
{
	s.view = s.held + 1;
}

static void traps_asked(void)
{
	s.asked[0] = (struct rr_trap){ 17, 0 };
	s.n_asked = 1;
}

static void traps_asked_and_wait(void)
{
	traps_asked();
	traps_wait();
}

static void transition_pends(void)
{
	s.transition = 99;
}

static void sweep_wanted(void)
{
	rr_damp_want(&s.want, 0);
}

static void sweep_done(void)
{
	s.swept = true;
}

static void link_quiet(void)
{
	struct rr_ends e = { 1, 2, 1, 1 };

	rr_links_died(&s.links, e, 1);
	rr_links_died(&s.links, e, 2);
}

static void rewrite_due(void)
{
	s.rewrite = true;
}

static void queue_full(void)
{
	s.n_traps = RR_TRAPS_MAX;
}

static void later_full(void)
{
	s.n_later = RR_TRAPS_MAX;
}

/* Events at time 100, and their expected results in all states that the masks select. */
static const struct row {
	const char *name;
	struct rr_event ev;
	void (*prepare)(void);
	unsigned int sweeps, tables, jobs;
	int sweep, table, job;
	uint32_t epochs;	/* number of epochs that begin at the event */
	unsigned int todo;
	uint32_t queued, later;	/* expected n_traps and n_later */
} row[] = {
	/* name, event, prepare(); masks of the states (sweep, tables, job) before the event; then
	 * the expected results: the members from `sweep` on */
	{ "trap", { .kind = RR_EV_TRAP, .master = true }, NULL,
	  ANY, NOT(RR_FOREIGN), ANY, SAME, SAME, SAME, 0, RR_ACT_TAKEN, 1, 0 },
	{ "trap, foreign tables", { .kind = RR_EV_TRAP, .master = true }, NULL,
	  ONLY(RR_REST), ONLY(RR_FOREIGN), ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "trap during the first sweep", { .kind = RR_EV_TRAP, .master = true }, NULL,
	  NOT(RR_REST), ONLY(RR_FOREIGN), ANY, SAME, SAME, SAME, 0, 0, 0, 1 },
	{ "trap during the first sweep, list full", { .kind = RR_EV_TRAP, .master = true },
	  later_full, ANY, ONLY(RR_FOREIGN), ANY, SAME, SAME, SAME, 0, 0, 0, RR_TRAPS_MAX },
	{ "trap, not master", { .kind = RR_EV_TRAP }, NULL,
	  ANY, ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "trap, queue full", { .kind = RR_EV_TRAP, .master = true },
	  queue_full, ANY, ANY, ANY, SAME, SAME, SAME, 0, 0, RR_TRAPS_MAX, 0 },

	{ "sweep start", { .kind = RR_EV_SWEEP_START }, NULL,
	  ANY, ANY, ANY, RR_DISCOVERY, SAME, SAME, 0, 0, 0, 0 },
	{ "sweep start, engine in use",
	  { .kind = RR_EV_SWEEP_START, .routed = true }, NULL,
	  NOT(RR_ROUTING), ANY, ANY, RR_DISCOVERY, SAME, SAME, 0, 0, 0, 0 },
	{ "sweep start after an unreported routing",
	  { .kind = RR_EV_SWEEP_START, .routed = true }, NULL,
	  ONLY(RR_ROUTING), ANY, ANY, RR_DISCOVERY, RR_FOREIGN, SAME, 1, 0,
	  0, 0 },
	{ "sweep start, unknown tables",
	  { .kind = RR_EV_SWEEP_START, .unknown = true }, NULL,
	  ANY, ANY, ANY, RR_DISCOVERY, RR_FOREIGN, SAME, 1, 0, 0, 0 },

	{ "discovered", { .kind = RR_EV_DISCOVERED }, NULL,
	  ANY, ANY, NOT(RR_WRITING), RR_ROUTING, SAME, SAME, 0, 0, 0, 0 },
	{ "discovered during a write", { .kind = RR_EV_DISCOVERED }, NULL,
	  ANY, ANY, ONLY(RR_WRITING), RR_ROUTING, SAME, SAME, 0,
	  RR_ACT_WAIT_FOR_WRITE, 0, 0 },
	{ "routing", { .kind = RR_EV_ROUTING }, NULL,
	  ANY, ANY, ANY, RR_ROUTING, SAME, SAME, 1, 0, 0, 0 },
	{ "routed", { .kind = RR_EV_ROUTED, .ours = true }, NULL,
	  ANY, ANY, ANY, RR_REST, RR_SETUP, SAME, 1, 0, 0, 0 },
	{ "routed by others", { .kind = RR_EV_ROUTED }, NULL,
	  ANY, ANY, ANY, RR_REST, RR_FOREIGN, SAME, 1, 0, 0, 0 },
	{ "up", { .kind = RR_EV_SUBNET_UP }, NULL,
	  ANY, NOT(RR_FOREIGN), ANY, RR_REST, RR_UP, SAME, 0, 0, 0, 0 },
	{ "up, foreign tables", { .kind = RR_EV_SUBNET_UP }, NULL,
	  ANY, ONLY(RR_FOREIGN), ANY, RR_REST, SAME, SAME, 0, 0, 0, 0 },
	{ "standby", { .kind = RR_EV_STANDBY }, NULL,
	  ANY, ANY, ANY, SAME, RR_FOREIGN, SAME, 1, 0, 0, 0 },

	{ "timer, nothing to do", { .kind = RR_EV_TIMER, .master = true }, NULL,
	  ANY, ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "timer, traps", { .kind = RR_EV_TIMER, .master = true }, traps_wait,
	  NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_TRAPS, 0, 0 },
	{ "timer, traps wait during a job",
	  { .kind = RR_EV_TIMER, .master = true }, traps_wait,
	  ANY, ANY, NOT(RR_IDLE), SAME, SAME, SAME, 0, 0, 1, 0 },
	{ "timer, traps wait during routing",
	  { .kind = RR_EV_TIMER, .master = true }, traps_wait,
	  ONLY(RR_ROUTING), ANY, ANY, SAME, SAME, SAME, 0, 0, 1, 0 },
	{ "timer, traps wait, not master", { .kind = RR_EV_TIMER }, traps_wait,
	  NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "timer, the view is old", { .kind = RR_EV_TIMER }, view_is_old,
	  ANY, NOT(RR_FOREIGN), ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_NEW_VIEW, 0, 0 },
	{ "timer, old view, foreign tables", { .kind = RR_EV_TIMER }, view_is_old,
	  ANY, ONLY(RR_FOREIGN), ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_DROP_VIEW, 0, 0 },
	{ "timer, a transition", { .kind = RR_EV_TIMER, .master = true },
	  transition_pends, NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME,
	  RR_BUSY, 0, RR_ACT_TRANSITION, 0, 0 },
	{ "timer, a transition, not master", { .kind = RR_EV_TIMER },
	  transition_pends, NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME,
	  RR_BUSY, 0, RR_ACT_SETTLE, 0, 0 },
	{ "timer, a transition during routing",
	  { .kind = RR_EV_TIMER, .master = true }, transition_pends,
	  ONLY(RR_ROUTING), ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "timer, a sweep is wanted", { .kind = RR_EV_TIMER }, sweep_wanted,
	  NOT(RR_DISCOVERY), ANY, ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_SWEEP, 0, 0 },
	{ "timer, a sweep is wanted during discovery", { .kind = RR_EV_TIMER },
	  sweep_wanted, ONLY(RR_DISCOVERY), ANY, ANY, SAME, SAME, SAME, 0, 0,
	  0, 0 },
	{ "timer, a sweep has ended", { .kind = RR_EV_TIMER, .master = true },
	  sweep_done, NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME, RR_BUSY,
	  0, RR_ACT_RETURNS | RR_ACT_SWEPT, 0, 0 },
	{ "timer, a sweep has ended, and OpenSM routes again",
	  { .kind = RR_EV_TIMER, .master = true }, sweep_done,
	  ONLY(RR_ROUTING), ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "timer, a damped link is quiet",
	  { .kind = RR_EV_TIMER, .master = true }, link_quiet,
	  NOT(RR_ROUTING), ANY, ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_RETURNS, 0, 0 },
	{ "timer, a rewrite is due", { .kind = RR_EV_TIMER }, rewrite_due,
	  ONLY(RR_REST), ANY, ONLY(RR_IDLE), SAME, SAME, RR_BUSY, 0,
	  RR_ACT_REWRITE, 0, 0 },
	{ "timer, a rewrite is due during a sweep", { .kind = RR_EV_TIMER },
	  rewrite_due, NOT(RR_REST), ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },

	{ "write begins", { .kind = RR_EV_WRITE_BEGIN }, NULL,
	  NOT(RR_ROUTING), NOT(RR_FOREIGN), ONLY(RR_BUSY), SAME, SAME,
	  RR_WRITING, 0, RR_ACT_WRITE, 0, 0 },
	{ "write begins without a job", { .kind = RR_EV_WRITE_BEGIN }, NULL,
	  ANY, ANY, NOT(RR_BUSY), SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "write begins during routing", { .kind = RR_EV_WRITE_BEGIN }, NULL,
	  ONLY(RR_ROUTING), ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "write begins, foreign tables", { .kind = RR_EV_WRITE_BEGIN }, NULL,
	  ANY, ONLY(RR_FOREIGN), ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "write begins, the view is old", { .kind = RR_EV_WRITE_BEGIN }, view_is_old,
	  ANY, ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "write ends", { .kind = RR_EV_WRITE_END }, NULL,
	  ANY, ANY, ONLY(RR_WRITING), SAME, SAME, RR_BUSY, 0, 0, 0, 0 },
	{ "write ends, but none has begun", { .kind = RR_EV_WRITE_END }, NULL,
	  ANY, ANY, NOT(RR_WRITING), SAME, SAME, SAME, 0, 0, 0, 0 },

	{ "job ends", { .kind = RR_EV_SMP_DONE, .due = -1 }, traps_asked,
	  ANY, ANY, NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 0, 0 },
	{ "job ends, but none has begun", { .kind = RR_EV_SMP_DONE, .repeat = true }, NULL,
	  ANY, ANY, ONLY(RR_IDLE), SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "job ends after a routing",
	  { .kind = RR_EV_SMP_DONE, .repeat = true, .due = -1 }, traps_asked,
	  ANY, ANY, NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 1, 0 },
	{ "job lacks answers", { .kind = RR_EV_SMP_DONE, .unknown = true, .due = -1 }, traps_asked,
	  ANY, ANY, NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 0, 0 },
	{ "job lacks answers, and a trap has arrived",
	  { .kind = RR_EV_SMP_DONE, .unknown = true, .due = -1 }, traps_asked_and_wait,
	  ANY, ANY, NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 2, 0 },
	{ "job finds a port in Init before links are set up",
	  { .kind = RR_EV_SMP_DONE, .init = true, .due = -1 }, traps_asked,
	  ANY, ONLY(RR_SETUP), NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 0, 1 },
	{ "job finds a port in Init after links were set up",
	  { .kind = RR_EV_SMP_DONE, .init = true, .due = -1 }, traps_asked,
	  ANY, ONLY(RR_UP), NOT(RR_IDLE), SAME, SAME, RR_IDLE, 0, 0, 1, 0 },

	{ "a sweep is wanted", { .kind = RR_EV_WANT_SWEEP }, NULL,
	  ANY, ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
	{ "an urgent sweep is wanted", { .kind = RR_EV_WANT_SWEEP, .now = true },
	  NULL, NOT(RR_DISCOVERY), ANY, ANY, SAME, SAME, SAME, 0, RR_ACT_SWEEP,
	  0, 0 },
	{ "an urgent sweep is wanted during discovery",
	  { .kind = RR_EV_WANT_SWEEP, .now = true }, NULL,
	  ONLY(RR_DISCOVERY), ANY, ANY, SAME, SAME, SAME, 0, 0, 0, 0 },
};

static void put_state(int sweep, int tables, int job)
{
	reset();
	s.sweep = (enum rr_sweep)sweep;
	s.tables = (enum rr_tables)tables;
	s.job = (enum rr_job)job;
	s.held = s.view = tables == RR_FOREIGN ? 0 : s.epoch;
	s.start = 90;
}

static void check_row(const struct row *r, int sweep, int tables, int job)
{
	unsigned int todo;
	uint32_t epoch;

	put_state(sweep, tables, job);
	if (r->prepare)
		r->prepare();
	epoch = s.epoch;
	todo = rr_step(&s, &r->ev, 100);
	ck_assert_msg((int)s.sweep == (r->sweep == SAME ? sweep : r->sweep) &&
		      (int)s.tables == (r->table == SAME ? tables : r->table) &&
		      (int)s.job == (r->job == SAME ? job : r->job) &&
		      s.epoch == epoch + r->epochs && todo == r->todo &&
		      s.n_traps == r->queued && s.n_later == r->later,
		      "%s in state (sweep %d, tables %d, job %d): new state (%d, %d, %d), epoch +%u, actions 0x%x, %u traps now, %u later",
		      r->name, sweep, tables, job, (int)s.sweep, (int)s.tables,
		      (int)s.job, s.epoch - epoch, todo, s.n_traps, s.n_later);
	/* a write that was allowed before the event may go on if no epoch begins */
	ck_assert_int_eq(rr_may_write(&s, epoch), !r->epochs);
	ck_assert_int_eq(s.held != 0, s.tables != RR_FOREIGN);
}

START_TEST(test_every_pair)
{
	static bool seen[RR_N_SWEEPS][RR_N_TABLES][RR_N_JOBS][RR_N_EVENTS];

	for (size_t i = 0; i < FTR_ARRAY_LEN(row); i++)
		for (int x = 0; x < RR_N_SWEEPS; x++)
			for (int t = 0; t < RR_N_TABLES; t++)
				for (int j = 0; j < RR_N_JOBS; j++) {
					if (!(row[i].sweeps & ONLY(x)) ||
					    !(row[i].tables & ONLY(t)) ||
					    !(row[i].jobs & ONLY(j)))
						continue;
					check_row(&row[i], x, t, j);
					seen[x][t][j][row[i].ev.kind] = true;
				}
	for (int x = 0; x < RR_N_SWEEPS; x++)
		for (int t = 0; t < RR_N_TABLES; t++)
			for (int j = 0; j < RR_N_JOBS; j++)
				for (int e = 0; e < RR_N_EVENTS; e++)
					ck_assert_msg(seen[x][t][j][e],
						      "no row for event %d in state (sweep %d, tables %d, job %d)",
						      e, x, t, j);
}
END_TEST

/* ---- sequences ----------------------------------------------------------- */

static unsigned int at(double now, struct rr_event ev)
{
	return rr_step(&s, &ev, now);
}

static void bring_up(double now)
{
	at(now, (struct rr_event){ .kind = RR_EV_ROUTED, .ours = true });
	at(now, (struct rr_event){ .kind = RR_EV_SUBNET_UP });
	ck_assert_uint_eq(at(now, (struct rr_event){ .kind = RR_EV_TIMER,
						     .master = true }),
			  RR_ACT_NEW_VIEW | RR_ACT_RETURNS | RR_ACT_SWEPT);
	at(now, (struct rr_event){ .kind = RR_EV_SMP_DONE, .due = -1 });
	ck_assert(at_rest(&s));
}

/* Traps are collected.  Traps that arrive during a routing wait for its end. */
START_TEST(test_gather)
{
	reset();
	bring_up(0);
	ck_assert_double_lt(rr_timer(&s), 0);
	at(10, (struct rr_event){ .kind = RR_EV_TRAP, .lid = 5, .master = true });
	at(10.1, (struct rr_event){ .kind = RR_EV_TRAP, .lid = 6,
				    .master = true });
	ck_assert_uint_eq(at(10.2, (struct rr_event){ .kind = RR_EV_TIMER,
						      .master = true }), 0);
	ck_assert_double_eq_tol(rr_timer(&s), 10.3, 1e-9);
	at(10.25, (struct rr_event){ .kind = RR_EV_ROUTING });
	/* the timer is set for the sweep, not for the traps */
	ck_assert_double_ge(rr_timer(&s), 20);
	ck_assert_uint_eq(at(11, (struct rr_event){ .kind = RR_EV_TIMER,
						    .master = true }), 0);
	at(12, (struct rr_event){ .kind = RR_EV_ROUTED, .ours = true });
	ck_assert_uint_eq(at(12, (struct rr_event){ .kind = RR_EV_TIMER,
						    .master = true }),
			  RR_ACT_NEW_VIEW | RR_ACT_TRAPS);
	ck_assert_uint_eq(s.n_asked, 2);
	ck_assert_uint_eq(s.asked[0].lid, 5);
	ck_assert_uint_eq(s.asked[1].lid, 6);
}
END_TEST

/* A wanted sweep is requested within CAP ms, even if more requests follow.  No sweep is requested
 * during a discovery, unless the discovery takes too long. */
START_TEST(test_sweep_comes)
{
	double asked = 0;

	reset();
	bring_up(0);
	for (double now = 1; now < 1000; now += 1) {
		unsigned int todo;

		at(now, (struct rr_event){ .kind = RR_EV_WANT_SWEEP });
		todo = at(now, (struct rr_event){ .kind = RR_EV_TIMER });
		if (!(todo & RR_ACT_SWEEP))
			continue;
		ck_assert(at(now, (struct rr_event){ .kind = RR_EV_WANT_SWEEP,
						     .now = true }) &
			  RR_ACT_SWEEP);
		at(now, (struct rr_event){ .kind = RR_EV_SMP_DONE, .due = -1 });
		ck_assert_double_le(now - asked, CAP + 2);
		asked = now;
	}
	ck_assert_double_gt(asked, 1000 - CAP - 2);
	/* a sweep wanted during a discovery is requested after the discovery, or after 10 s */
	at(1000, (struct rr_event){ .kind = RR_EV_SWEEP_START });
	at(1000, (struct rr_event){ .kind = RR_EV_WANT_SWEEP, .now = true });
	ck_assert_double_eq(rr_timer(&s), 11000);
	at(9000, (struct rr_event){ .kind = RR_EV_DISCOVERED });
	ck_assert_double_le(rr_timer(&s), 9000);
	/* a discovery delays the request for at most four times the duration of the previous
	 * discovery, or 10 s if that is more */
	at(9000, (struct rr_event){ .kind = RR_EV_SWEEP_START });
	at(9000, (struct rr_event){ .kind = RR_EV_WANT_SWEEP, .now = true });
	ck_assert_double_eq(rr_timer(&s), 9000 + 4 * 8000);
}
END_TEST

/* A transition in progress delays a sweep that only confirms a repair, but for at most CAP ms. */
START_TEST(test_transition_goes_first)
{
	reset();
	bring_up(0);
	at(1, (struct rr_event){ .kind = RR_EV_WANT_SWEEP });
	ck_assert_double_eq(rr_timer(&s), 1 + DELAY);
	s.job = RR_BUSY;
	at(1, (struct rr_event){ .kind = RR_EV_SMP_DONE, .due = 30 });
	ck_assert_double_eq(rr_timer(&s), 30);
	ck_assert_uint_eq(at(30, (struct rr_event){ .kind = RR_EV_TIMER,
						    .master = true }),
			  RR_ACT_TRANSITION);
	at(31, (struct rr_event){ .kind = RR_EV_SMP_DONE, .due = 90 });
	ck_assert_double_eq(rr_timer(&s), 1 + CAP);
}
END_TEST

/* Ports found in Init are read again when OpenSM has set up the subnet, even if another trap is
 * handled before. */
START_TEST(test_init_is_asked_again)
{
	reset();
	at(0, (struct rr_event){ .kind = RR_EV_ROUTED, .ours = true });
	at(1, (struct rr_event){ .kind = RR_EV_TRAP, .lid = 7, .master = true });
	ck_assert(at(2, (struct rr_event){ .kind = RR_EV_TIMER,
					   .master = true }) & RR_ACT_TRAPS);
	at(3, (struct rr_event){ .kind = RR_EV_SMP_DONE, .init = true,
				 .due = -1 });
	at(3, (struct rr_event){ .kind = RR_EV_TRAP, .lid = 8, .master = true });
	at(4, (struct rr_event){ .kind = RR_EV_TIMER, .master = true });
	at(4, (struct rr_event){ .kind = RR_EV_SMP_DONE, .due = -1 });
	ck_assert_uint_eq(s.n_traps, 0);
	at(5, (struct rr_event){ .kind = RR_EV_SUBNET_UP });
	ck_assert(at(6, (struct rr_event){ .kind = RR_EV_TIMER,
					   .master = true }) & RR_ACT_TRAPS);
	ck_assert_uint_eq(s.n_asked, 1);
	ck_assert_uint_eq(s.asked[0].lid, 7);
}
END_TEST

/* A failed routing has written nothing, so the view stays valid. */
START_TEST(test_failed_routing)
{
	uint32_t view;

	reset();
	bring_up(0);
	view = s.view;
	at(1, (struct rr_event){ .kind = RR_EV_SWEEP_START, .routed = true });
	at(2, (struct rr_event){ .kind = RR_EV_DISCOVERED });
	at(3, (struct rr_event){ .kind = RR_EV_ROUTING });
	ck_assert(rr_overtaken(&s));
	at(4, (struct rr_event){ .kind = RR_EV_SWEEP_START });
	ck_assert(!rr_overtaken(&s));
	ck_assert_uint_eq(s.view, view);
}
END_TEST

/* ---- random interleavings ------------------------------------------------ */

struct walk {
	struct ftr_rng rng;
	double now;
	uint32_t permit;	/* epoch of the write in progress; 0: none */
};

static bool coin(struct walk *w, uint32_t n)
{
	return ftr_rng_below(&w->rng, n) == 0;
}

static void opensm(struct walk *w)
{
	struct rr_event ev = { .kind = RR_EV_SWEEP_START };

	switch (s.sweep) {
	case RR_REST:
		if (s.tables == RR_SETUP && !coin(w, 4))
			ev.kind = RR_EV_SUBNET_UP;
		else if (coin(w, 5))
			ev.kind = RR_EV_ROUTING;
		else if (coin(w, 10))
			ev.kind = RR_EV_STANDBY;
		break;
	case RR_DISCOVERY:
		if (!coin(w, 8))
			ev.kind = RR_EV_DISCOVERED;
		break;
	default:
		if (!coin(w, 8))
			ev.kind = coin(w, 4) ? RR_EV_ROUTING : RR_EV_ROUTED;
		break;
	}
	ev.ours = !coin(w, 10);
	ev.unknown = coin(w, 20);
	ev.routed = coin(w, 2);
	/* after a discovery OpenSM waits for the end of a write */
	if (rr_step(&s, &ev, w->now) & RR_ACT_WAIT_FOR_WRITE && w->permit) {
		rr_step(&s, &(struct rr_event){ .kind = RR_EV_WRITE_END },
			w->now);
		w->permit = 0;
	}
}

static void worker(struct walk *w)
{
	struct rr_event ev = { .kind = RR_EV_TIMER, .master = !coin(w, 50) };
	unsigned int todo;

	if (s.job == RR_WRITING) {
		ev.kind = RR_EV_WRITE_END;
		w->permit = 0;
	} else if (s.job == RR_BUSY) {
		ev.kind = coin(w, 2) ? RR_EV_WRITE_BEGIN : RR_EV_SMP_DONE;
		ev.repeat = coin(w, 4);
		ev.unknown = coin(w, 4);
		ev.init = coin(w, 4);
		ev.due = coin(w, 4) ? w->now + 5 : -1;
	}
	todo = rr_step(&s, &ev, w->now);
	if (todo & RR_ACT_WRITE)
		w->permit = s.epoch;
	if (todo & RR_ACT_SWEEP)
		rr_step(&s, &(struct rr_event){ .kind = RR_EV_WANT_SWEEP,
						.now = true }, w->now);
}

/* Like ck_assert(), but the message is the condition. */
#define HOLDS(x) do { if (!(x)) ck_abort_msg("%s", #x); } while (0)

static void check_invariant(const struct walk *w)
{
	/* the view shows this epoch's tables, or is replaced before it is used */
	HOLDS((s.held == 0) == (s.tables == RR_FOREIGN));
	HOLDS(s.held <= s.epoch);
	HOLDS(s.view <= s.epoch);
	/* as long as a write may go on, the view shows the tables that the write changes */
	if (w->permit && rr_may_write(&s, w->permit)) {
		HOLDS(s.job == RR_WRITING);
		HOLDS(s.sweep != RR_ROUTING);
		HOLDS(s.view == s.held);
		HOLDS(s.tables != RR_FOREIGN);
	}
	/* a timer is set if queued traps wait for no other event */
	if (s.job == RR_IDLE && s.sweep != RR_ROUTING && s.n_traps)
		HOLDS(rr_timer(&s) >= 0);
	HOLDS(!s.n_later || s.tables != RR_UP);
	HOLDS(s.n_later <= RR_TRAPS_MAX);
	HOLDS(s.n_traps <= RR_TRAPS_MAX);
}

/* A trap of the first sweep is handled when its links are set up. */
START_TEST(test_trap_during_first_sweep)
{
	put_state(RR_ROUTING, RR_FOREIGN, RR_IDLE);
	rr_step(&s, &(struct rr_event){ .kind = RR_EV_TRAP, .master = true, .lid = 7 }, 100);
	rr_step(&s, &(struct rr_event){ .kind = RR_EV_ROUTED, .ours = true }, 101);
	rr_step(&s, &(struct rr_event){ .kind = RR_EV_SUBNET_UP }, 102);
	ck_assert(rr_step(&s, &(struct rr_event){ .kind = RR_EV_TIMER, .master = true }, 103) &
		  RR_ACT_TRAPS);
	ck_assert_uint_eq(s.n_asked, 1);
	ck_assert_uint_eq(s.asked[0].lid, 7);
}
END_TEST

START_TEST(test_walks)
{
	struct walk w = { .permit = 0 };

	ftr_rng_seed(&w.rng, trees_first_seed() + (uint64_t)_i);
	reset();
	for (unsigned int i = 0; i < trees_runs(20000); i++) {
		struct rr_event trap = {
			.kind = RR_EV_TRAP, .master = true,
			.lid = (ftr_lid)(1 + ftr_rng_below(&w.rng, 9))
		};

		w.now += ftr_rng_below(&w.rng, 40) / 10.;
		if (coin(&w, 3))
			opensm(&w);
		else if (!coin(&w, 3))
			worker(&w);
		else if (rr_step(&s, &trap, w.now) & RR_ACT_TAKEN)
			/* a trap that the plugin takes must request a sweep, because
			 * OpenSM may not report that a routing has failed */
			HOLDS(s.want.wanted);
		check_invariant(&w);
	}
	/* without more events the worker becomes idle, and all traps are handled */
	while (s.job != RR_IDLE)
		worker(&w);
	rr_step(&s, &(struct rr_event){ .kind = RR_EV_ROUTED, .ours = true },
		w.now);
	rr_step(&s, &(struct rr_event){ .kind = RR_EV_SUBNET_UP }, w.now);
	for (int i = 0; i < 10 && (!at_rest(&s) || rr_timer(&s) >= 0); i++) {
		w.now = FTR_MAX(w.now, rr_timer(&s));
		if (rr_step(&s, &(struct rr_event){ .kind = RR_EV_TIMER,
						    .master = true }, w.now) &
		    RR_ACT_SWEEP)
			rr_step(&s, &(struct rr_event){
				.kind = RR_EV_WANT_SWEEP, .now = true
			}, w.now);
		rr_step(&s, &(struct rr_event){ .kind = RR_EV_SMP_DONE,
						.due = -1 }, w.now);
	}
	ck_assert(at_rest(&s));
	ck_assert_uint_eq(s.n_traps + s.n_asked + s.n_later, 0);
	ck_assert(!s.want.wanted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rr_state");
	TCase *t = tcase_create("state machine");

	tcase_add_test(t, test_every_pair);
	tcase_add_test(t, test_gather);
	tcase_add_test(t, test_sweep_comes);
	tcase_add_test(t, test_transition_goes_first);
	tcase_add_test(t, test_init_is_asked_again);
	tcase_add_test(t, test_failed_routing);
	tcase_add_test(t, test_trap_during_first_sweep);
	tcase_add_loop_test(t, test_walks, 0, 20);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
