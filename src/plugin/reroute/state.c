// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of the fast path, see state.h.
 */
#include <string.h>

#include "base/base.h"
#include "reroute/state.h"

/* Both ends of a dead link, and all neighbours of a dead switch, send traps at about the same time.
 * The repair waits for them: it begins this number of ms after the first trap. */
#define GATHER_MS 0.3

/* If a sweep is requested during a discovery, OpenSM starts the discovery again.  If discoveries
 * took longer than the time between two requests, no discovery would ever end.  So no sweep is
 * requested during a discovery.  But no event reports that OpenSM has abandoned a discovery.  So a
 * discovery is assumed to be abandoned after
 *
 *	max(DISCOVERY_MS, DISCOVERY_TIMES * duration of the last discovery)
 */
#define DISCOVERY_MS 10000
#define DISCOVERY_TIMES 4

void rr_state_init(struct rr_state *s)
{
	memset(s, 0, sizeof(*s));
	s->epoch = 1;
	s->transition = -1;
}

/* ---- times --------------------------------------------------------------- */

static double earlier(double a, double b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static bool is_past(double when, double now)
{
	return when >= 0 && now >= when;
}

static double not_before(const struct rr_state *s)
{
	return s->sweep == RR_DISCOVERY ? s->start +
		FTR_MAX(DISCOVERY_MS, DISCOVERY_TIMES * s->discovery) : 0;
}

/* During a transition of ddlr, the sweep is delayed up to the cap (damp.h). */
static double sweep_due(const struct rr_state *s)
{
	double due = s->transition >= 0 ? rr_damp_latest(&s->want) :
		rr_damp_due(&s->want);

	return due < 0 ? due : FTR_MAX(due, not_before(s));
}

static double gathered(const struct rr_state *s)
{
	return s->n_traps && s->sweep != RR_ROUTING ?
		s->trap[0].at + GATHER_MS : -1;
}

static double transition_due(const struct rr_state *s)
{
	return s->sweep != RR_ROUTING ? s->transition : -1;
}

double rr_timer(const struct rr_state *s)
{
	if (s->job != RR_IDLE)
		return -1;
	return earlier(earlier(sweep_due(s), rr_links_release_due(&s->links)),
		       earlier(gathered(s), transition_due(s)));
}

/* ---- queries ------------------------------------------------------------- */

bool rr_may_write(const struct rr_state *s, uint32_t epoch)
{
	return s->epoch == epoch;
}

bool rr_overtaken(const struct rr_state *s)
{
	return s->sweep == RR_ROUTING || s->view != s->held;
}

/* ---- traps --------------------------------------------------------------- */

/* Insert traps at the front of the queue.  If the queue is full, the remaining traps are dropped: a
 * sweep, which every trap requests, will see their links. */
static void put_in_front(struct rr_state *s, const struct rr_trap *trap,
			 uint32_t n)
{
	n = FTR_MIN(n, RR_TRAPS_MAX - s->n_traps);
	memmove(s->trap + n, s->trap, s->n_traps * sizeof(*trap));
	memcpy(s->trap, trap, n * sizeof(*trap));
	s->n_traps += n;
}

static unsigned int on_trap(struct rr_state *s, const struct rr_event *ev,
			    double now)
{
	const struct rr_trap trap = { ev->lid, now };

	if (!ev->master || s->n_traps == RR_TRAPS_MAX)
		return 0;
	if (s->tables == RR_FOREIGN) {
		/* with sweep_on_trap FALSE, OpenSM does not act on it either */
		if (s->sweep != RR_REST && s->n_later < RR_TRAPS_MAX)
			s->later[s->n_later++] = trap;
		return 0;
	}
	s->trap[s->n_traps++] = trap;
	/* the trap may wait for the end of a routing, and no event follows if that routing fails;
	 * so request a sweep in any case */
	rr_damp_want(&s->want, now);
	return RR_ACT_TAKEN;
}

/* ---- sweeps -------------------------------------------------------------- */

/* From now on the tables of the switches are unknown, until an engine of this plugin routes. */
static void forget_tables(struct rr_state *s)
{
	s->tables = RR_FOREIGN;
	s->held = 0;
	s->epoch++;
	s->n_later = 0;
	rr_links_drop_returning(&s->links);
}

/* A sweep begins.  In two cases the tables of the switches have changed without an event: OpenSM
 * wrote tables, lost packets, and sweeps again immediately; or another manager wrote tables before
 * this manager became master again.  Then the tables are unknown. */
static unsigned int on_sweep_start(struct rr_state *s,
				   const struct rr_event *ev, double now)
{
	if (ev->unknown || (s->sweep == RR_ROUTING && ev->routed))
		forget_tables(s);
	s->sweep = RR_DISCOVERY;
	s->start = now;
	s->swept = false;
	return 0;
}

static unsigned int on_discovered(struct rr_state *s, double now)
{
	s->sweep = RR_ROUTING;
	s->began = s->start;
	s->discovery = now - s->start;
	return s->job == RR_WRITING ? RR_ACT_WAIT_FOR_WRITE : 0;
}

static unsigned int on_routing(struct rr_state *s)
{
	s->sweep = RR_ROUTING;
	s->epoch++;
	return 0;
}

static unsigned int on_routed(struct rr_state *s, bool ours)
{
	s->sweep = RR_REST;
	if (!ours) {
		forget_tables(s);
		return 0;
	}
	s->tables = RR_SETUP;
	s->held = ++s->epoch;
	return 0;
}

static unsigned int on_subnet_up(struct rr_state *s, double now)
{
	s->sweep = RR_REST;
	s->swept = true;
	if (s->tables == RR_SETUP) {
		s->tables = RR_UP;
		put_in_front(s, s->later, s->n_later);
		s->n_later = 0;
	}
	if (s->unconfirmed)	/* the discovery of this sweep began before these repairs */
		rr_damp_want(&s->want, now);
	rr_links_discovered(&s->links, s->began);
	return 0;
}

static unsigned int on_want_sweep(struct rr_state *s, bool at_once, double now)
{
	if (!at_once) {
		rr_damp_want(&s->want, now);
	} else if (now < not_before(s)) {
		rr_damp_hurry(&s->want, now);
	} else {
		rr_damp_asked(&s->want);
		return RR_ACT_SWEEP;
	}
	return 0;
}

/* ---- the worker ---------------------------------------------------------- */

static unsigned int update_view(struct rr_state *s)
{
	bool old = s->view != s->held;

	s->view = s->held;
	if (!old)
		return 0;
	return s->held ? RR_ACT_NEW_VIEW : RR_ACT_DROP_VIEW;
}

/* Some actions are allowed only while OpenSM does not route.  Returns those that are due now. */
static unsigned int between_routings(struct rr_state *s, bool master,
				     double now)
{
	unsigned int todo = 0;

	if (s->sweep == RR_ROUTING)
		return 0;
	if (is_past(s->transition, now))
		todo |= master ? RR_ACT_TRANSITION : RR_ACT_SETTLE;
	if (s->n_traps && !is_past(gathered(s), now))
		return todo;
	if (s->n_traps && master) {
		memcpy(s->asked, s->trap, s->n_traps * sizeof(*s->trap));
		s->n_asked = s->n_traps;
		/* a new fault ends an unfinished transition */
		todo = (todo & ~(unsigned int)(RR_ACT_TRANSITION |
					       RR_ACT_SETTLE)) | RR_ACT_TRAPS;
	}
	s->n_traps = 0;
	if ((s->swept || s->released) && master)
		todo |= RR_ACT_RETURNS | (s->swept ? RR_ACT_SWEPT : 0);
	s->swept = s->released = false;
	return todo;
}

static unsigned int on_timer(struct rr_state *s, bool master, double now)
{
	unsigned int todo;

	if (s->job != RR_IDLE)
		return 0;
	s->released |= rr_links_release(&s->links, now);
	todo = update_view(s);
	if (s->rewrite && s->sweep == RR_REST) {
		s->rewrite = false;
		todo |= RR_ACT_REWRITE;
	}
	todo |= between_routings(s, master, now);
	if (is_past(sweep_due(s), now))
		todo |= RR_ACT_SWEEP;
	if (todo)
		s->job = RR_BUSY;
	s->job_up = s->tables == RR_UP;
	return todo;
}

static unsigned int on_write_begin(struct rr_state *s)
{
	if (s->job != RR_BUSY || s->tables == RR_FOREIGN || rr_overtaken(s))
		return 0;
	s->job = RR_WRITING;
	return RR_ACT_WRITE;
}

static unsigned int on_write_end(struct rr_state *s, bool rewrite)
{
	if (s->job == RR_WRITING)
		s->job = RR_BUSY;
	s->rewrite |= rewrite;
	return 0;
}

/* While OpenSM was setting up links, the job has found a port in Init.  If OpenSM believes that the
 * port is Active, OpenSM does not set the port Active, and the port stays in Init.  So keep the
 * traps of the job, to probe the port again later. */
static void keep_for_later(struct rr_state *s)
{
	uint32_t n = FTR_MIN(s->n_asked, RR_TRAPS_MAX - s->n_later);

	if (s->tables == RR_UP) {
		put_in_front(s, s->asked, s->n_asked);
	} else if (s->tables == RR_SETUP) {
		memcpy(s->later + s->n_later, s->asked, n * sizeof(*s->asked));
		s->n_later += n;
	}
}

static unsigned int on_done(struct rr_state *s, const struct rr_event *ev)
{
	if (s->job == RR_IDLE)
		return 0;
	s->job = RR_IDLE;
	s->transition = ev->due;
	if (ev->repeat || (ev->unknown && s->n_traps))
		put_in_front(s, s->asked, s->n_asked);
	else if (ev->init && !s->job_up)
		keep_for_later(s);
	s->n_asked = 0;
	return 0;
}

unsigned int rr_step(struct rr_state *s, const struct rr_event *ev, double now)
{
	switch (ev->kind) {	/* not covered: another kind than those below */
	case RR_EV_TRAP:
		return on_trap(s, ev, now);
	case RR_EV_SWEEP_START:
		return on_sweep_start(s, ev, now);
	case RR_EV_DISCOVERED:
		return on_discovered(s, now);
	case RR_EV_ROUTING:
		return on_routing(s);
	case RR_EV_ROUTED:
		return on_routed(s, ev->ours);
	case RR_EV_SUBNET_UP:
		return on_subnet_up(s, now);
	case RR_EV_STANDBY:
		forget_tables(s);
		return 0;
	case RR_EV_TIMER:
		return on_timer(s, ev->master, now);
	case RR_EV_WRITE_BEGIN:
		return on_write_begin(s);
	case RR_EV_WRITE_END:
		return on_write_end(s, ev->rewrite);
	case RR_EV_SMP_DONE:
		return on_done(s, ev);
	case RR_EV_WANT_SWEEP:
		return on_want_sweep(s, ev->now, now);
	case RR_N_EVENTS:	/* not covered: it is no event */
		break;
	}
	return 0;
}
