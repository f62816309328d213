// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fast path beside what OpenSM does: sweeps, reroutes, changes of state.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/host.h"

/* One thing that happens at one moment, once. */
struct plan {
	enum fake_moment when;
	void (*what)(struct plan *p, struct fake *h);
	bool done, wait;
	ftr_sw sw;
	ftr_port port;
	unsigned int n;
};

static void at_moment(void *ctx, struct fake *h, enum fake_moment m)
{
	struct plan *p = ctx;

	if (m != p->when || p->done)
		return;
	p->done = true;
	p->what(p, h);
	if (p->wait && m != FAKE_LOCKED && m != FAKE_ROUTING)
		fake_settle(h);
}

static void plan(struct fake *h, struct plan *p)
{
	h->moment = at_moment;
	h->moment_ctx = p;
}

/* Sweeps for as long as they are asked for; the last changes nothing. */
static void sweep_until_quiet(struct fake *h, unsigned int max)
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

/* ---- a cable dies at any moment ----------------------------------------- */

static void cut(struct plan *p, struct fake *h)
{
	fake_cable(h, p->sw, p->port, false);
}

/* i: the moment, whether its traps have been handled before the sweep goes
 * on, and which cable. */
START_TEST(test_cut_at)
{
	struct fake *h = fake_new(NULL);
	struct plan p = { .what = cut, .wait = _i & 1 };
	ftr_sw first = fake_leaf(h, 1);

	p.when = (enum fake_moment)(_i / 4);
	p.sw = _i & 2 ? h->fab->ep[h->sm].sw : fake_leaf(h, 6);
	p.port = fake_uplink(h, p.sw, 0);
	plan(h, &p);
	/* so that the sweep has something to write */
	fake_cable_quietly(h, first, fake_uplink(h, first, 1), false);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	fake_check_copy(h);
	/* OpenSM may have lost packets on the routes that it discovered */
	if (!h->osm->subn.subnet_initialization_error)
		fake_check_healed(h);
	/* a discovery that began later has seen it */
	if (p.when >= FAKE_BEFORE_ROUTING)
		ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	fake_free(h);
}
END_TEST

/* A cable dies and is routed around after the discovery has seen it alive, and
 * no sweep is due that would repeat that: the routing must leave it out. */
START_TEST(test_stale_discovery)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	struct plan p = {
		.what = cut, .when = FAKE_DISCOVERED, .wait = true,
		.sw = fake_leaf(h, 6)
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	ck_assert_uint_eq(h->changed_entries, 0);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* ---- recovery ------------------------------------------------------------ */

static uint8_t *all_tables(struct fake *h)
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

static void look(void *ctx, struct fake *h, enum fake_moment m)
{
	unsigned int *n = ctx;

	++*n;
	if (m == FAKE_LOCKED || m == FAKE_ROUTING)
		return;
	fake_settle(h);
	fake_check_healed(h);
}

/* Back before and after a sweep has seen it dead; nothing is lost at any
 * moment, and the tables are what they were. */
START_TEST(test_recovery)
{
	struct fake *h = fake_new(NULL);
	uint8_t *before = all_tables(h), *after;
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	unsigned int n = 0;

	fake_cable(h, s, p, false);
	fake_settle(h);
	if (_i) {
		ck_assert(fake_wait_wanted(h));
		fake_check_quiet_sweep(h);
	}
	fake_cable(h, s, p, true);
	fake_settle(h);
	fake_check_healed(h);
	ck_assert(fake_wait_wanted(h));
	h->moment = look;
	h->moment_ctx = &n;
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(h->changed_entries, 0);
	fake_settle(h);
	ck_assert_uint_ge(n, FAKE_N_MOMENTS);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	after = all_tables(h);
	ck_assert_mem_eq(before, after,
			 h->fab->n_sw * (size_t)(h->fab->max_lid + 1));
	sweep_until_quiet(h, 2);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	free(before);
	free(after);
	fake_free(h);
}
END_TEST

/* Dead and back within a moment: its ports are in Init, no data passes. */
START_TEST(test_blink)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);

	fake_cable_quietly(h, s, p, false);
	fake_cable(h, s, p, true);
	fake_settle(h);
	fake_check_healed(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

static void back_again(struct plan *p, struct fake *h)
{
	fake_cable(h, p->sw, p->port, true);
}

/* It comes back while a sweep is under way. */
START_TEST(test_recovery_at)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = back_again, .when = (enum fake_moment)(_i / 2),
		.wait = _i & 1, .sw = fake_leaf(h, 2)
	};

	p.port = fake_uplink(h, p.sw, 0);
	fake_cable(h, p.sw, p.port, false);
	fake_settle(h);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	if (p.when >= FAKE_BEFORE_ROUTING)
		ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* A whole spine comes back. */
START_TEST(test_spine_back)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_spine(h, 1);

	fake_switch(h, s, false);
	fake_check_repaired(h);
	fake_switch(h, s, true);
	fake_settle(h);
	fake_check_healed(h);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* ---- reroute, which gives no warning ------------------------------------- */

struct slow {
	double ms;		/* before Sets of the plugin are carried out */
	atomic_uint n;		/* of these */
};

static void slow_sets(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct slow *s = ctx;

	if (!p->plugin || !p->set)
		return;
	fate->delay_ms = s->ms;
	atomic_fetch_add(&s->n, 1);
}

/* It begins when packets of a repair are on their way, which overtake those of
 * OpenSM, or are overtaken. */
START_TEST(test_reroute_in_push)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 1000\n"
	});
	struct slow slow = { .ms = _i };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, slow_sets, &slow);
	fake_cable(h, s, fake_uplink(h, s, 0), false);
	while (!atomic_load(&slow.n))
		usleep(50);
	ck_assert(fake_reroute(h));
	fake_settle(h);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

static bool is_patching(struct fake *h)
{
	bool is;

	pthread_mutex_lock(&h->fast->mutex);
	is = h->fast->patching;
	pthread_mutex_unlock(&h->fast->mutex);
	return is;
}

/* The worker wants OpenSM's lock, and a reroute has it. */
static void cut_and_wait(struct plan *p, struct fake *h)
{
	fake_cable(h, p->sw, p->port, false);
	while (!is_patching(h))
		usleep(50);
}

START_TEST(test_reroute_wins_lock)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = cut_and_wait, .when = FAKE_LOCKED, .sw = fake_leaf(h, 3)
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_reroute(h));
	ck_assert(p.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);	/* after it, with no block suspected */
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

/* ---- who is master ------------------------------------------------------- */

static uint32_t count_sets(struct fake *h)
{
	uint32_t n = 0;

	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		n += h->sw[s].n_sets;
	fake_unlock(h);
	return n;
}

START_TEST(test_standby)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 3);
	uint32_t sets = count_sets(h);

	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	fake_cable(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(count_sets(h), sets);
	ck_assert(fake_sweep_wanted(h));	/* as OpenSM does by itself */
	fake_set_state(h, IB_SMINFO_STATE_MASTER);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

static void hand_over(struct plan *p, struct fake *h)
{
	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	fake_cable(h, p->sw, p->port, false);
}

/* Handover at the end of a discovery; later we are master again. */
START_TEST(test_handover)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = hand_over, .when = FAKE_BEFORE_ROUTING,
		.sw = fake_leaf(h, 3)
	};
	uint32_t sets = count_sets(h);

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(!fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(count_sets(h), sets);
	fake_set_state(h, IB_SMINFO_STATE_MASTER);
	h->osm->subn.need_update = 1;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

/* Another manager becomes master while packets of a repair are on their way. */
START_TEST(test_handover_in_push)
{
	struct fake *h = fake_new(NULL);
	struct slow slow = { .ms = 5 };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, slow_sets, &slow);
	fake_cable(h, s, fake_uplink(h, s, 0), false);
	while (!atomic_load(&slow.n))
		usleep(50);
	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	fake_settle(h);
	fake_check_copy(h);
	fake_set_state(h, IB_SMINFO_STATE_MASTER);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

/* ---- who routes ---------------------------------------------------------- */

static void break_engine(struct fake *h, bool broken)
{
	static char path[] = "/nonexistent";

	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	h->osm->subn.opt.root_guid_file = broken ? path : NULL;
	CL_PLOCK_RELEASE(&h->osm->lock);
}

/* With another engine's tables all is as OpenSM does it. */
START_TEST(test_fallback)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 2);

	break_engine(h, true);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_ge(fake_logged(h, "IBF210"), 1);
	fake_cable(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert(fake_sweep_wanted(h));
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 0);
	break_engine(h, false);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_cable(h, s, fake_uplink(h, s, 0), true);
	sweep_until_quiet(h, 3);
	fake_cable(h, s, fake_uplink(h, s, 1), false);
	fake_check_repaired(h);
	ck_assert_uint_ge(fake_logged(h, "fast reroute"), 1);
	fake_free(h);
}
END_TEST

/* No engine routes at all: the trap must not be lost, a sweep comes. */
START_TEST(test_no_engine)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = cut, .when = FAKE_LOCKED, .sw = fake_leaf(h, 3)
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	break_engine(h, true);
	h->fail_routing = true;
	ck_assert(!fake_sweep(h));
	fake_settle(h);
	break_engine(h, false);
	h->fail_routing = false;
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

/* ---- a routing while the switches are asked ------------------------------ */

struct late {
	struct plan cut;
	bool other;		/* another engine routes */
	bool done;
	atomic_uint asked;	/* about ports, by the plugin */
};

static void hold_answers(void *ctx, const struct fake_packet *p,
			 struct fake_fate *fate)
{
	struct late *l = ctx;

	fate->hold = p->plugin && !p->set;
	atomic_fetch_add(&l->asked, fate->hold && p->mod);
}

/* The questions before the routing, the answers when all of it is done. */
static void answer_late(void *ctx, struct fake *h, enum fake_moment m)
{
	struct late *l = ctx;

	if (m == l->cut.when && !l->cut.done) {
		at_moment(&l->cut, h, m);
		while (!atomic_load(&l->asked))
			usleep(50);
		if (l->other)
			break_engine(h, true);
	}
	if (m == FAKE_LINKS && !l->done) {
		l->done = true;
		fake_release(h);
	}
}

/* What the worker was about to write belongs to tables that are no more. */
START_TEST(test_routing_overtakes)
{
	struct late l = {
		.cut = {
			.what = cut, .when = _i & 1 ? FAKE_DISCOVERED :
						      FAKE_SWEEP_BEGINS,
		},
		.other = _i & 2,
	};
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = _i & 4 ? "ddlr" : "dmodc",
		.options = "fast_timeout_ms 5000\n"
	});
	ftr_sw s = fake_leaf(h, 1);

	l.cut.sw = fake_leaf(h, 6);
	l.cut.port = fake_uplink(h, l.cut.sw, 1);
	h->moment = answer_late;
	h->moment_ctx = &l;
	fake_set_fate(h, hold_answers, &l);
	/* what the new tables know and the old ones do not */
	fake_cable_quietly(h, s, fake_uplink(h, s, 1), false);
	ck_assert(fake_sweep(h));
	ck_assert(l.done);
	fake_settle(h);
	fake_check_copy(h);
	if (l.other)
		break_engine(h, false);
	else
		fake_check_healed(h);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	fake_free(h);
}
END_TEST

/* ---- tables that nobody told of ------------------------------------------ */

struct unknown {
	struct plan cut;
	bool known;		/* then the cut is repaired at once */
	bool lose;		/* a packet of OpenSM's gets lost */
	uint32_t sets;		/* of the plugin */
};

static void lose_first(void *ctx, const struct fake_packet *p,
		       struct fake_fate *fate)
{
	struct unknown *u = ctx;

	fate->lose_request = u->lose && !p->plugin && p->set && !p->number;
	u->sets += p->plugin && p->set;
}

static void trap_in_discovery(void *ctx, struct fake *h, enum fake_moment m)
{
	struct unknown *u = ctx;

	if (m != FAKE_SWEEP_BEGINS || u->cut.done)
		return;
	u->lose = false;
	at_moment(&u->cut, h, m);
	fake_lock(h);
	ck_assert_int_eq(u->sets > 0, u->known);
	fake_unlock(h);
}

static struct unknown unknown_new(struct fake *h)
{
	struct unknown u = { .cut = {
		.what = cut, .when = FAKE_SWEEP_BEGINS, .wait = true,
		.sw = fake_leaf(h, 6)
	} };

	u.cut.port = fake_uplink(h, u.cut.sw, 1);
	return u;
}

static void watch(struct fake *h, struct unknown *u)
{
	h->moment = trap_in_discovery;
	h->moment_ctx = u;
	fake_set_fate(h, lose_first, u);
}

/* OpenSM reroutes, loses a packet and sweeps at once, without a word of the
 * tables that it has written: the worker must not go on from those before. */
START_TEST(test_reroute_then_sweep)
{
	struct fake *h = fake_new(NULL);
	struct unknown u = unknown_new(h);
	ftr_sw s = fake_leaf(h, 1);
	ftr_port p = fake_uplink(h, s, 1);

	u.lose = true;
	watch(h, &u);
	fake_cable_quietly(h, s, p, false);
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	fake_learn(h, s);	/* by a light sweep */
	CL_PLOCK_RELEASE(&h->osm->lock);
	if (_i)
		break_engine(h, true);
	ck_assert(fake_reroute(h));
	ck_assert(u.cut.done);
	break_engine(h, false);
	ck_assert(fake_sweep(h));
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* A reroute that failed has written nothing. */
START_TEST(test_reroute_fails)
{
	struct fake *h = fake_new(NULL);
	struct unknown u = unknown_new(h);

	u.known = true;
	watch(h, &u);
	break_engine(h, true);
	h->fail_routing = true;
	ck_assert(!fake_reroute(h));
	break_engine(h, false);
	h->fail_routing = false;
	ck_assert(fake_sweep(h));
	ck_assert(u.cut.done);
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* Master again: another manager has routed meanwhile. */
START_TEST(test_master_again)
{
	struct fake *h = fake_new(NULL);
	struct unknown u = unknown_new(h);

	watch(h, &u);
	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	if (_i)		/* told when it lost its port and found that manager */
		fake_report(h, OSM_EVENT_ID_STATE_CHANGE, NULL);
	fake_set_state(h, IB_SMINFO_STATE_MASTER);
	if (_i) {
		fake_cable(h, fake_leaf(h, 2),
			   fake_uplink(h, fake_leaf(h, 2), 0), false);
		fake_settle(h);
		ck_assert_uint_eq(u.sets, 0);
	}
	h->osm->subn.coming_out_of_standby = TRUE;
	ck_assert(fake_sweep(h));
	ck_assert(u.cut.done);
	sweep_until_quiet(h, 3);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- too many traps, cables that flap ------------------------------------ */

static void flood(struct plan *p, struct fake *h)
{
	for (uint32_t i = 0; i < IBF_TRAPS_MAX + 100u; i++)
		fake_trap(h, i % h->fab->n_sw, 128);
	fake_cable(h, p->sw, p->port, false);
}

START_TEST(test_flood)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = flood, .when = FAKE_PUSHING, .sw = fake_leaf(h, 3),
		.wait = true
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* After three deaths it is left out until it was quiet. */
START_TEST(test_flapping)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_flap_limit 3\nfast_flap_window_ms 60000\nfast_flap_hold_ms 1500\n"
	});
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	uint8_t *before = all_tables(h), *after;
	double end = ibf_now_ms() + 60000;

	for (unsigned int i = 0; i < 3; i++) {
		fake_cable(h, s, p, false);
		fake_settle(h);
		fake_check_healed(h);
		fake_cable(h, s, p, true);
		fake_settle(h);
		fake_check_healed(h);
		ck_assert(fake_wait_wanted(h));
		ck_assert(fake_sweep(h));
		fake_settle(h);
		fake_check_healed(h);
	}
	ck_assert_uint_eq(fake_logged(h, "IBF111"), 1);
	after = all_tables(h);	/* Active, and not used */
	ck_assert_mem_ne(before, after,
			 h->fab->n_sw * (size_t)(h->fab->max_lid + 1));
	for (;;) {
		ck_assert(ibf_now_ms() < end);
		free(after);
		after = all_tables(h);
		if (!memcmp(before, after, h->fab->n_sw *
			    (size_t)(h->fab->max_lid + 1)))
			break;
		usleep(1000);
	}
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	free(before);
	free(after);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_sweep");
	TCase *t = tcase_create("sweeps");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, getenv("T") ? atof(getenv("T")) : 120);
	tcase_add_loop_test(t, test_cut_at, 0, 4 * FAKE_N_MOMENTS);
	tcase_add_test(t, test_stale_discovery);
	tcase_add_loop_test(t, test_recovery, 0, 2);
	tcase_add_test(t, test_blink);
	tcase_add_loop_test(t, test_recovery_at, 0, 2 * FAKE_N_MOMENTS);
	tcase_add_test(t, test_spine_back);
	tcase_add_loop_test(t, test_reroute_in_push, 0, 8);
	tcase_add_test(t, test_reroute_wins_lock);
	tcase_add_test(t, test_standby);
	tcase_add_test(t, test_handover);
	tcase_add_test(t, test_handover_in_push);
	tcase_add_test(t, test_fallback);
	tcase_add_test(t, test_no_engine);
	tcase_add_loop_test(t, test_routing_overtakes, 0, 8);
	tcase_add_loop_test(t, test_reroute_then_sweep, 0, 2);
	tcase_add_test(t, test_reroute_fails);
	tcase_add_loop_test(t, test_master_again, 0, 2);
	tcase_add_test(t, test_flood);
	tcase_add_test(t, test_flapping);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
