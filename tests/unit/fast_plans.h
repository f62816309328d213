/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the tests of the fast path.  A test can act at a given moment of a sweep of the fake
 * OpenSM.
 */
#ifndef FTR_TESTS_FAST_PLANS_H
#define FTR_TESTS_FAST_PLANS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"

struct plan {
	enum fake_moment when;
	void (*what)(struct plan *p, struct fake *h);
	bool done, wait;
	ftr_sw sw;
	ftr_port port;
	unsigned int n;
};

static inline void at_moment(void *ctx, struct fake *h, enum fake_moment m)
{
	struct plan *p = ctx;

	if (m != p->when || p->done)
		return;
	p->done = true;
	p->what(p, h);
	if (p->wait && m != FAKE_LOCKED && m != FAKE_ROUTING)
		fake_settle(h);
}

static inline void plan(struct fake *h, struct plan *p)
{
	h->moment = at_moment;
	h->moment_ctx = p;
}

/* Sweep at most `max` times, until the plugin requests no further sweep.  Then check that one more
 * sweep changes nothing. */
static inline void sweep_until_quiet(struct fake *h, unsigned int max)
{
	fake_settle(h);
	while (fake_sweep_wanted(h) && max--) {
		fake_sweep(h);
		fake_settle(h);
		fake_check_copy(h);
	}
	fake_check_quiet_sweep(h);
	fake_check_counters(h);
}

static inline void cut(struct plan *p, struct fake *h)
{
	fake_link(h, p->sw, p->port, false);
}

static inline uint8_t *all_tables(struct fake *h)
{
	uint32_t n = h->fab->max_lid + 1u;
	uint8_t *t = malloc(h->fab->n_sw * (size_t)n);

	ck_assert_ptr_nonnull(t);
	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(t + s * (size_t)n, h->sw[s].lft, n);
	fake_unlock(h);
	return t;
}

/* Returns true if the tables of all switches equal `before`, a result of all_tables(). */
static inline bool tables_are(struct fake *h, const uint8_t *before)
{
	uint8_t *now = all_tables(h);
	bool same = !memcmp(before, now,
			    h->fab->n_sw * (size_t)(h->fab->max_lid + 1));

	free(now);
	return same;
}

struct slow {
	double ms;		/* delay before a Set of the plugin is carried out */
	atomic_uint n;
};

static inline void slow_sets(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct slow *s = ctx;

	if (!p->plugin || !p->set)
		return;
	fate->delay_ms = s->ms;
	atomic_fetch_add(&s->n, 1);
}

static inline enum ftr_status
route_not(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
	  struct ftr_team *team, struct ftr_tables *out,
	  struct ftr_route_stats *stats, struct ftr_err *err)
{
	(void)sh;
	(void)opts;
	(void)team;
	(void)out;
	(void)stats;
	return ftr_fail(err, FTR_INTERNAL, "the test makes this engine fail");
}

/* Let every routing fail that computes tables. */
static inline void stop_computing(struct fake *h, bool broken)
{
	static struct ftr_engine_ops ops[IBF_MAX_ENGINES];
	struct ibf_plugin *p = h->plugin;

	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	for (unsigned int i = 0; i < p->n_engines; i++) {
		ops[i] = *ftr_engine_at(i);
		ops[i].route = route_not;
		p->engine[i].ops = broken ? &ops[i] : ftr_engine_at(i);
	}
	CL_PLOCK_RELEASE(&h->osm->lock);
}

/* Wait until ddlr's planner is ready.  Without a planner, ddlr makes no local repairs. */
static inline void wait_for_planner(struct fake *h)
{
	bool making = true;

	while (making) {
		usleep(200);
		pthread_mutex_lock(&h->fast->rr.view_lock);
		making = h->fast->rr.view && h->fast->rr.view->making &&
			rr_planner_is_busy(h->fast->rr.view->making, 0);
		pthread_mutex_unlock(&h->fast->rr.view_lock);
	}
}

static inline bool transition_pends(struct fake *h)
{
	bool does;

	pthread_mutex_lock(&h->fast->rr.mutex);
	does = h->fast->rr.view && h->fast->rr.view->pending;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return does;
}

static inline void break_engine(struct fake *h, bool broken)
{
	struct ibf_plugin *p = h->plugin;

	stop_computing(h, broken);
	for (unsigned int i = 0; i < p->n_engines; i++)
		p->engine[i].prefer.changes++;	/* no earlier routing counts as the same */
}

#endif
