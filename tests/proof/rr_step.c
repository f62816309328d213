// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Proof of the invariants of the state machine of the fast path (reroute/state.h) with CBMC, by
 * induction: they hold at the start, and if they hold in any state, they hold after any event at any
 * time.  So they hold after every sequence of events.  CBMC also proves that no access is out of bounds.
 *
 * The functions of links.c may return anything.  They do not change the other members of the state.
 */
#include <stdbool.h>
#include <stdint.h>

#include "../../src/plugin/reroute/damp.c"
#include "../../src/plugin/reroute/state.c"

bool nondet_bool(void);
double nondet_double(void);
struct rr_state nondet_state(void);
struct rr_event nondet_event(void);

double rr_links_release_due(const struct rr_links *t) { (void)t; return nondet_double(); }
bool rr_links_release(struct rr_links *t, double now) { (void)t; (void)now; return nondet_bool(); }
bool rr_links_drop_returning(struct rr_links *t) { (void)t; return nondet_bool(); }
void rr_links_discovered(struct rr_links *t, double began) { (void)t; (void)began; }

static bool holds(const struct rr_state *s)
{
	return s->sweep < RR_N_SWEEPS && s->tables < RR_N_TABLES && s->job < RR_N_JOBS &&
		s->n_traps <= RR_TRAPS_MAX && s->n_asked <= RR_TRAPS_MAX &&
		s->n_later <= RR_TRAPS_MAX &&
		/* the switches hold tables of an epoch if and only if they are known */
		(s->held == 0) == (s->tables == RR_FOREIGN) &&
		s->epoch > 0 && s->held <= s->epoch && s->view <= s->epoch &&
		/* no trap waits for links that are set up */
		(s->n_later == 0 || s->tables != RR_UP) &&
		/* only a job has traps */
		(s->n_asked == 0 || s->job != RR_IDLE) &&
		(s->view <= s->held || s->held == 0);
}

static void check_write(const struct rr_state *before, const struct rr_state *s, unsigned int act)
{
	if (act & RR_ACT_WRITE)
		__CPROVER_assert(before->sweep != RR_ROUTING && before->view == before->held &&
				 before->held && rr_may_write(s, before->epoch),
				 "a write is permitted only with the tables of the view, and not while OpenSM routes");
	if (s->epoch != before->epoch)
		__CPROVER_assert(!rr_may_write(s, before->epoch), "a write of an earlier epoch stops");
}

/* Where can a trap be? */
static uint32_t traps(const struct rr_state *s)
{
	return s->n_traps + s->n_asked + s->n_later;
}

int main(void)
{
	static struct rr_state s, before;
	struct rr_event ev = nondet_event();
	double now = nondet_double();
	unsigned int act;

	rr_state_init(&s);
	__CPROVER_assert(holds(&s), "the invariant holds at the start");
	s = nondet_state();
	__CPROVER_assume(holds(&s) && s.epoch < UINT32_MAX - 2 && now >= 0 && now < 1e15);
	__CPROVER_assume(ev.kind < RR_N_EVENTS);
	before = s;
	act = rr_step(&s, &ev, now);
	__CPROVER_assert(holds(&s), "the invariant holds after the event");
	check_write(&before, &s, act);
	if (act & RR_ACT_TAKEN)
		__CPROVER_assert(traps(&s) == traps(&before) + 1 && s.want.wanted,
				 "an accepted trap is in the queue, and a sweep is wanted");
	if (act & RR_ACT_TRAPS)
		__CPROVER_assert(s.n_asked == before.n_traps && s.job == RR_BUSY,
				 "the job gets all traps of the queue");
	if (ev.kind == RR_EV_TIMER && s.job == RR_IDLE)
		__CPROVER_assert(act == 0, "nothing is to be done without a job");
	return 0;
}
