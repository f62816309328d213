// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of the fast path (reroute/state.h) under all sequences of events.
 *
 * Starting from the first state, every event is applied to every state that was reached, until
 * there are no new states.  So the properties below hold for sequences of any length.  Two states
 * are equal if they differ only in these points:
 *
 * - epochs: only their order counts
 * - times: of a trap, and of a wish for a sweep, counts only whether its delay has passed; of the
 *   start of a discovery only whether it is longer ago than OLD_MS
 * - more than TRAPS traps; their LIDs
 *
 * Events of the worker occur only when it has a job, as in worker.c.  Links have tests of their own
 * (test_rr_links.c).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "reroute/state.h"

#define TRAPS 2
#define DELAY_MS 2.0
#define OLD_MS 10001.0
#define STATES (1u << 20)

/* A state without its lists of links.  All times are relative to now. */
struct small {
	uint8_t sweep, tables, job, epoch, held, view, wanted, unconfirmed, swept, rewrite;
	uint8_t job_up, n_traps, n_asked, n_later, transition, old;
	uint8_t open;		/* an accepted trap was neither handled nor left to a sweep */
	uint8_t gathered, due;	/* the delay of the oldest trap, or of the sweep, has passed */
};

static struct small *state;
static uint32_t n_states, *slot;
static struct rr_state now_state;	/* too large for the stack */
static double now;

/* Number the epochs in their order, from 1 on; 0 stays 0. */
static void rank_epochs(struct small *m, const struct rr_state *s)
{
	uint32_t e[] = { s->epoch, s->held, s->view };
	uint8_t *to[] = { &m->epoch, &m->held, &m->view };

	for (int i = 0; i < 3; i++) {
		uint32_t smaller[3];
		uint8_t n = e[i] != 0;

		for (int k = 0; k < 3; k++) {
			bool counted = false;

			for (int j = 0; j < k; j++)
				counted |= smaller[j] == e[k];
			smaller[k] = e[k];
			n = (uint8_t)(n + (e[k] && e[k] < e[i] && !counted));
		}
		*to[i] = n;
	}
}

static struct small shrink(const struct rr_state *s, bool open)
{
	struct small m;

	memset(&m, 0, sizeof(m));
	m.sweep = (uint8_t)s->sweep;
	m.tables = (uint8_t)s->tables;
	m.job = (uint8_t)s->job;
	rank_epochs(&m, s);
	m.wanted = s->want.wanted;
	m.unconfirmed = s->unconfirmed != 0;
	m.swept = s->swept;
	m.rewrite = s->rewrite;
	m.job_up = s->job != RR_IDLE && s->job_up;
	m.n_traps = (uint8_t)FTR_MIN(s->n_traps, (uint32_t)TRAPS);
	m.n_asked = (uint8_t)FTR_MIN(s->n_asked, (uint32_t)TRAPS);
	m.n_later = (uint8_t)FTR_MIN(s->n_later, (uint32_t)TRAPS);
	m.transition = (uint8_t)(s->transition < 0 ? 0 : s->transition > now ? 1 : 2);
	m.old = s->sweep == RR_DISCOVERY && now - s->start >= OLD_MS;
	m.open = open;
	m.gathered = m.n_traps && now > s->trap[0].at + 0.3;
	m.due = m.wanted && now >= rr_damp_due(&s->want);
	return m;
}

static void expand(const struct small *m, struct rr_state *s)
{
	now = 1e6;
	s->links.n = 0;		/* the lists stay as they are: clearing them takes long */
	s->released = false;
	s->began = s->discovery = 0;
	s->sweep = m->sweep;
	s->tables = m->tables;
	s->job = m->job;
	s->epoch = m->epoch;
	s->held = m->held;
	s->view = m->view;
	s->want = (struct rr_damp){ .delay = DELAY_MS, .cap = DELAY_MS, .wanted = m->wanted,
				    .first = m->due ? now - DELAY_MS : now,
				    .last = m->due ? now - DELAY_MS : now };
	s->unconfirmed = m->unconfirmed;
	s->swept = m->swept;
	s->rewrite = m->rewrite;
	s->job_up = m->job_up;
	s->n_traps = m->n_traps;
	s->n_asked = m->n_asked;
	s->n_later = m->n_later;
	s->transition = m->transition == 0 ? -1 : m->transition == 1 ? now + 3 : now;
	s->start = m->old ? now - OLD_MS : now;
	for (uint32_t i = 0; i < TRAPS; i++)
		s->asked[i].at = s->later[i].at = now;
	for (uint32_t i = 0; i < m->n_traps; i++)
		s->trap[i] = (struct rr_trap){ 1, m->gathered ? now - 1 : now };
}

static void add(const struct small *m)
{
	uint64_t x = 0xcbf29ce484222325;
	const uint8_t *p = (const void *)m;

	for (size_t i = 0; i < sizeof(*m); i++)
		x = (x ^ p[i]) * 0x100000001b3;
	for (uint32_t i = (uint32_t)(x >> 40);; i++) {
		uint32_t *at = &slot[i % (2 * STATES)];

		if (*at && !memcmp(&state[*at - 1], m, sizeof(*m)))
			return;
		if (*at)
			continue;
		ck_assert_uint_lt(n_states, STATES);
		state[n_states] = *m;
		*at = ++n_states;
		return;
	}
}

/* ---- the properties ------------------------------------------------------------ */

static void check_state(const struct rr_state *s, bool open)
{
	double timer = rr_timer(s);

	ck_assert_int_eq(s->tables == RR_FOREIGN, !s->held);
	ck_assert_uint_le(s->held, s->epoch);
	ck_assert_uint_le(s->view, s->epoch);
	/* the worker wakes up */
	if (s->job == RR_IDLE && s->want.wanted)
		ck_assert(timer >= 0);
	if (s->job == RR_IDLE && s->n_traps && s->sweep != RR_ROUTING)
		ck_assert(timer >= 0);
	ck_assert(s->job == RR_IDLE || timer < 0);
	/* no trap is lost */
	ck_assert(!open || s->n_traps || s->n_asked || s->n_later || s->want.wanted);
}

/* Returns true if an accepted trap is still to be handled after the event. */
static bool still_open(const struct rr_event *ev, unsigned int act, bool open, bool asked)
{
	if (ev->kind == RR_EV_TRAP && act & RR_ACT_TAKEN)
		return true;
	if (act & RR_ACT_SWEEP || ev->kind == RR_EV_STANDBY)
		return false;
	if (ev->kind == RR_EV_TIMER && !ev->master)
		return false;
	if (ev->kind == RR_EV_SMP_DONE && asked && !ev->repeat && !ev->init)
		return open && (now_state.n_traps || now_state.n_later);
	return open;
}

static void check_step(const struct small *before, const struct rr_event *ev, unsigned int act,
		       uint32_t epoch)
{
	const struct rr_state *s = &now_state;
	bool ends = ev->kind == RR_EV_ROUTING || ev->kind == RR_EV_ROUTED ||
		ev->kind == RR_EV_STANDBY || (ev->kind == RR_EV_SWEEP_START && ev->unknown);

	if (act & RR_ACT_WRITE)
		ck_assert(before->job == RR_BUSY && before->held && before->view == before->held &&
			  before->sweep != RR_ROUTING && rr_may_write(s, epoch));
	if (ends)
		ck_assert(!rr_may_write(s, epoch));
	if (act & (RR_ACT_TRAPS | RR_ACT_TRANSITION | RR_ACT_RETURNS))
		ck_assert(s->view == s->held && s->sweep != RR_ROUTING && s->job == RR_BUSY);
	if (act & RR_ACT_NEW_VIEW)
		ck_assert(s->held && s->view == s->held);
	if (act & RR_ACT_WAIT_FOR_WRITE)
		ck_assert_int_eq(s->job, RR_WRITING);
	if (ev->kind == RR_EV_DISCOVERED && before->job == RR_WRITING)
		ck_assert(act & RR_ACT_WAIT_FOR_WRITE);
}

/* ---- all sequences ---------------------------------------------------------------- */

static void apply(const struct small *from, struct rr_event ev, double later, int unconfirmed)
{
	unsigned int act;
	uint32_t epoch;
	bool asked, open;

	expand(from, &now_state);
	now += later;
	if (unconfirmed >= 0)
		now_state.unconfirmed = (uint32_t)unconfirmed;
	epoch = now_state.epoch;
	asked = now_state.n_asked;
	if (ev.due > 0)
		ev.due += now;
	act = rr_step(&now_state, &ev, now);
	open = still_open(&ev, act, from->open, asked);
	check_step(from, &ev, act, epoch);
	check_state(&now_state, open);
	struct small m = shrink(&now_state, open);

	add(&m);
}

static void apply_all(const struct small *m)
{
	double timer;

	for (int i = 0; i < 8; i++) {
		bool a = i & 1, b = i & 2, c = i & 4;

		apply(m, (struct rr_event){ .kind = RR_EV_TRAP, .lid = 1, .master = a }, b, -1);
		apply(m, (struct rr_event){ .kind = RR_EV_SWEEP_START, .unknown = a, .routed = b }, c, -1);
		apply(m, (struct rr_event){ .kind = RR_EV_ROUTED, .ours = a }, b, c);
		apply(m, (struct rr_event){ .kind = RR_EV_WANT_SWEEP, .now = a }, b, -1);
		for (int unknown = 0; unknown < 2; unknown++)
			if (m->job == RR_BUSY)
				apply(m, (struct rr_event){ .kind = RR_EV_SMP_DONE, .repeat = a, .init = b,
							    .unknown = unknown, .due = c ? 3 : -1 },
				      0, a ? -1 : 1);
		if (m->job == RR_WRITING)
			apply(m, (struct rr_event){ .kind = RR_EV_WRITE_END, .rewrite = a }, b, -1);
	}
	apply(m, (struct rr_event){ .kind = RR_EV_DISCOVERED }, 0, -1);
	apply(m, (struct rr_event){ .kind = RR_EV_ROUTING }, 0, -1);
	apply(m, (struct rr_event){ .kind = RR_EV_SUBNET_UP }, 0, -1);
	apply(m, (struct rr_event){ .kind = RR_EV_STANDBY }, 0, -1);
	if (m->job == RR_BUSY)
		apply(m, (struct rr_event){ .kind = RR_EV_WRITE_BEGIN }, 0, -1);
	expand(m, &now_state);
	timer = rr_timer(&now_state);
	for (int master = 0; master < 2; master++) {
		struct rr_event ev = { .kind = RR_EV_TIMER, .master = master };

		apply(m, ev, 0, -1);
		apply(m, ev, OLD_MS, -1);
		if (timer > 1e6)
			apply(m, ev, timer - 1e6, -1);
	}
}

START_TEST(test_all_sequences)
{
	struct small first;

	state = malloc(STATES * sizeof(*state));
	slot = calloc(2 * STATES, sizeof(*slot));
	ck_assert(state && slot);
	rr_state_init(&now_state);
	now = 1e6;
	first = shrink(&now_state, false);
	add(&first);
	for (uint32_t i = 0; i < n_states; i++)
		apply_all(&state[i]);
	printf("%u states\n", n_states);
	free(state);
	free(slot);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rr_closure");
	TCase *t = tcase_create("closure");

	tcase_add_test(t, test_all_sequences);
	suite_add_tcase(s, t);
	return run_suite(s);
}
