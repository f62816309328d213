// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path when OpenSM routes at unexpected moments: while the worker (the thread of the
 * fast path) reads or writes, or without reporting an event before or after the routing.
 *
 * The fast path is the plugin's repair of tables before OpenSM sweeps.  A reroute is OpenSM's
 * console command of this name: a routing without a discovery.
 */
#include "lib/suite.h"
#include "unit/fast_plans.h"

/* ---- reroutes without a preceding event ---------------------------------- */

/* A reroute begins while packets of a repair are in flight.  Packets of the plugin and of OpenSM
 * overtake each other.  A sweep must follow and leave correct tables. */
START_TEST(test_reroute_in_push)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = _i & 8 ? "ddlr" : "dmodc",
		.options = "fast_timeout_ms 1000\n"
	});
	struct slow slow = { .ms = _i & 7 };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, slow_sets, &slow);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(atomic_load(&slow.n));
	ck_assert(fake_reroute(h));
	fake_settle(h);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	sweep_until_quiet(h, 2);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	fake_free(h);
}
END_TEST

static bool is_writing(struct fake *h)
{
	bool is;

	pthread_mutex_lock(&h->fast->rr.mutex);
	is = h->fast->rr.state.job == RR_WRITING;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return is;
}

static void wait_for_end(void *ctx, struct fake *h, enum fake_moment m)
{
	bool *ended = ctx;

	if (m != FAKE_ROUTED)
		return;
	fake_until(!is_writing(h));
	*ended = true;
}

/* Makes a repair in several steps; returns the number of its Sets.  If `overtaken` is set, a
 * reroute begins during the first step. */
static unsigned int sets_of_repair(bool overtaken)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "sftree",
		.options = "fast_timeout_ms 1000\nfast_window 64\n"
	});
	struct slow slow = { .ms = overtaken ? 30 : 0 };
	ftr_sw s = fake_leaf(h, 2);
	bool ended = false;

	fake_set_fate(h, slow_sets, &slow);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(atomic_load(&slow.n));
	if (overtaken) {
		h->moment = wait_for_end;
		h->moment_ctx = &ended;
		ck_assert(fake_reroute(h));
		ck_assert(ended);
		fake_settle(h);
		fake_check_copy(h);
		ck_assert(fake_wait_wanted(h));
		ck_assert(fake_sweep(h));
	}
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
	return atomic_load(&slow.n);
}

/* A repair must not begin its next step while OpenSM writes all tables. */
START_TEST(test_reroute_stops_write)
{
	unsigned int alone = sets_of_repair(false);

	ck_assert_uint_lt(sets_of_repair(true), alone);
}
END_TEST

/* Cut a link, and wait until the worker is about to write.  The worker then waits for OpenSM's
 * lock, which a reroute holds. */
static void cut_and_wait(struct plan *p, struct fake *h)
{
	fake_link(h, p->sw, p->port, false);
	fake_until(is_writing(h));
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
	fake_check_copy_clean(h);	/* no block is to be written again */
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 2);
	fake_free(h);
}
END_TEST

/* A link goes down and up again after a reroute.  Its ports are now in the state Init, in which
 * they forward no data, so the fast path must route around the link. */
START_TEST(test_short_failure_after_reroute)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);

	ck_assert(fake_reroute(h));
	fake_settle(h);
	fake_link_quietly(h, s, p, false);
	fake_link(h, s, p, true);
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static void look_routed(void *ctx, struct fake *h, enum fake_moment m)
{
	(void)ctx;
	if (m == FAKE_ROUTED)
		fake_check_healed(h);
}

/* A sweep is aborted after a repair, so OpenSM does not know of the failed link.  A reroute after
 * this sweep must still avoid the link. */
START_TEST(test_reroute_after_half_sweep)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	ftr_sw s = fake_leaf(h, 2);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	fake_check_healed(h);
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	h->moment = look_routed;
	ck_assert(fake_reroute(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

static int nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

static void destroy_nothing(void *ctx)
{
	(void)ctx;
}

static void put_before(struct fake *h)
{
	static char names[] = "other,dmodc";
	struct osm_routing_engine *re = calloc(1, sizeof(*re));

	ck_assert_ptr_nonnull(re);
	*re = h->minhop;
	re->name = "other";
	re->build_lid_matrices = nothing;
	re->destroy = destroy_nothing;
	re->next = h->osm->routing_engine_list;
	h->osm->routing_engine_list = re;
	free(h->osm->subn.opt.routing_engine_names);
	h->osm->subn.opt.routing_engine_names = strdup(names);
}

/* Another engine reroutes while packets of a repair are in flight.  The plugin gets no event,
 * because its own engine is not called.  OpenSM's copy of the tables must stay correct, and a
 * sweep must follow. */
START_TEST(test_other_reroutes_in_push)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 1000\n"
	});
	struct slow slow = { .ms = 30 };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, slow_sets, &slow);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(atomic_load(&slow.n));
	put_before(h);
	ck_assert(fake_reroute(h));
	fake_settle(h);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_copy(h);
	fake_free(h);
}
END_TEST

/* Another engine routes while the worker waits for OpenSM's lock.  The worker must then send no
 * Set. */
START_TEST(test_other_wins_lock)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = cut_and_wait, .when = FAKE_LOCKED, .sw = fake_leaf(h, 3)
	};
	struct slow slow = { .ms = 0 };

	fake_set_fate(h, slow_sets, &slow);
	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	put_before(h);
	ck_assert(fake_reroute(h));
	ck_assert(p.done);
	fake_settle(h);
	ck_assert_uint_eq(atomic_load(&slow.n), 0);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	fake_free(h);
}
END_TEST

/* ---- a routing while ports are read -------------------------------------- */

struct late {
	struct plan cut;
	bool other;		/* another engine routes */
	bool done;
	atomic_uint asked;	/* number of Gets of port states sent so far */
};

static void hold_answers(void *ctx, const struct fake_packet *p,
			 struct fake_fate *fate)
{
	struct late *l = ctx;

	fate->hold = p->plugin && !p->set;
	atomic_fetch_add(&l->asked, fate->hold && p->mod);
}

static void answer_late(void *ctx, struct fake *h, enum fake_moment m)
{
	struct late *l = ctx;

	if (m == l->cut.when && !l->cut.done) {
		at_moment(&l->cut, h, m);
		fake_until(atomic_load(&l->asked));
		if (l->other)
			break_engine(h, true);
	}
	if (m == FAKE_LINKS && !l->done) {
		l->done = true;
		fake_release(h);
	}
}

/* The worker is about to write, but OpenSM has replaced the tables on which the worker's changes
 * are based.  OpenSM's copy of the tables must stay correct, and the fault must be repaired. */
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
		.options = "fast_timeout_ms 1000\n"
	});
	ftr_sw s = fake_leaf(h, 1);

	l.cut.sw = fake_leaf(h, 6);
	l.cut.port = fake_uplink(h, l.cut.sw, 1);
	h->moment = answer_late;
	h->moment_ctx = &l;
	fake_set_fate(h, hold_answers, &l);
	/* only the new tables avoid the failed link */
	fake_link_quietly(h, s, fake_uplink(h, s, 1), false);
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

/* ---- tables written without an event ------------------------------------- */

struct unknown {
	struct plan cut;
	bool known;		/* the plugin must immediately route around the cut link */
	bool lose;		/* a packet of OpenSM is lost */
	uint32_t sets;
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

/* OpenSM reroutes, loses a packet and sweeps immediately.  No event reports the tables that the
 * reroute has written.  The worker must not base its changes on the earlier tables. */
START_TEST(test_reroute_then_sweep)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = "transition plain\n" });
	struct unknown u = unknown_new(h);
	ftr_sw s = fake_leaf(h, 1);
	ftr_port p = fake_uplink(h, s, 1);

	u.lose = true;
	watch(h, &u);
	fake_link_quietly(h, s, p, false);
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	fake_learn(h, s);	/* OpenSM learns that the link is down, as in a light sweep */
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

/* A failed reroute has written nothing.  The worker must repair the next fault immediately. */
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

/* Another subnet manager was master and has written tables.  The worker must write nothing before
 * the first sweep of its own OpenSM. */
START_TEST(test_master_again)
{
	struct fake *h = fake_new(NULL);
	struct unknown u = unknown_new(h);

	watch(h, &u);
	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	if (_i)		/* OpenSM reports its state after it lost its port and then found another
			 * manager */
		fake_report(h, OSM_EVENT_ID_STATE_CHANGE, NULL);
	fake_set_state(h, IB_SMINFO_STATE_MASTER);
	if (_i) {
		fake_link(h, fake_leaf(h, 2),
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

/* ---- a link dies again before a routing ----------------------------------- */

static void set_link(struct fake *h, ftr_sw s, ftr_port p, uint8_t state)
{
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);

	fake_lock(h);
	h->link[h->fab->sw[s].first_port + p] = state;
	h->link[h->fab->sw[port->peer].first_port + port->peer_port] = state;
	fake_unlock(h);
}

/* The fast path treats a link as dead.  A discovery finds the link Active, and then the link dies
 * again.  In case 0 the worker notices this before the routing, which leaves out the link.  In case
 * 1 the worker notices it after the routing and repairs the tables.  Neither case needs another
 * sweep. */
START_TEST(test_dies_again)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 1000\nfast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	ftr_sw s = fake_leaf(h, 6);
	ftr_port p = fake_uplink(h, s, 1);
	struct late l = { .cut = {
		.what = cut, .when = FAKE_DISCOVERED, .sw = s, .port = p,
		.wait = !_i
	} };

	fake_link(h, s, p, false);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	set_link(h, s, p, IB_LINK_ACTIVE);
	if (!_i) {
		plan(h, &l.cut);
	} else {
		h->moment = answer_late;
		h->moment_ctx = &l;
		fake_set_fate(h, hold_answers, &l);
	}
	ck_assert(fake_sweep(h));
	ck_assert(l.cut.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* ---- links that come up again while the worker is busy -------------------- */

struct meeting {
	struct late late;
	bool ready, done;
};

/* Send a trap at the end of the first sweep.  It arrives 200 ms later, when the worker has handled
 * the end of that sweep.  The answers to the Gets after this trap arrive only when the second
 * sweep has routed. */
static void meet(void *ctx, struct fake *h, enum fake_moment m)
{
	struct meeting *t = ctx;

	if (m == FAKE_SWEEP_ENDS && !t->ready) {
		t->ready = true;
		fake_settle(h);
		fake_set_fate(h, hold_answers, &t->late);
		pthread_mutex_lock(&h->fast->rr.mutex);
		h->fast->rr.state.trap[h->fast->rr.state.n_traps++] = (struct rr_trap){
			h->fab->sw[fake_leaf(h, 5)].lid, ibf_now_ms() + 200
		};
		pthread_mutex_unlock(&h->fast->rr.mutex);
	} else if (m == FAKE_LINKS && t->ready && !t->done) {
		t->done = true;
		fake_release(h);
		fake_settle(h);
	}
}

/* A sweep lists the links that it has left out, and the worker must probe them afterwards.  Here
 * the worker handles the list of the first sweep only when the second sweep has added a link to it.
 * The worker must probe this link after the second sweep. */
START_TEST(test_late_returns)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 1000\nfast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	struct meeting t = { .ready = false };

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_check_quiet_sweep(h);
	h->moment = meet;
	h->moment_ctx = &t;
	ck_assert(fake_sweep(h));
	fake_until(atomic_load(&t.late.asked));
	fake_link_quietly(h, s, p, true);
	ck_assert(fake_sweep(h));
	ck_assert(t.done);
	fake_settle(h);
	ck_assert(tables_are(h, before));
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	free(before);
	fake_free(h);
}
END_TEST

static void release_early(void *ctx, struct fake *h, enum fake_moment m)
{
	struct meeting *t = ctx;

	if (m != FAKE_LINKS || t->done)
		return;
	t->done = true;
	fake_settle(h);
	pthread_mutex_lock(&h->fast->rr.mutex);
	h->fast->rr.state.released = true;
	ibf_cond_wake(&h->fast->cond);
	pthread_mutex_unlock(&h->fast->rr.mutex);
	fake_settle(h);
}

START_TEST(test_release_in_sweep)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	struct meeting t = { .done = false };

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_check_quiet_sweep(h);
	fake_link_quietly(h, s, p, true);
	h->moment = release_early;
	h->moment_ctx = &t;
	ck_assert(fake_sweep(h));
	ck_assert(t.done);
	fake_settle(h);
	ck_assert(tables_are(h, before));
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	free(before);
	fake_free(h);
}
END_TEST

/* ---- links that OpenSM believes to be up --------------------------------- */

static void blink(struct plan *p, struct fake *h)
{
	fake_link_quietly(h, p->sw, p->port, false);
	fake_link(h, p->sw, p->port, true);
}

/* A discovery sees a link up; then the link goes down and up again.  Its ports stay in Init,
 * because OpenSM does not examine the link again.  The tables must avoid the link. */
START_TEST(test_short_failure_after_discovery)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	struct plan p = {
		.what = blink, .when = FAKE_DISCOVERED + _i / 2,
		.wait = _i & 1, .sw = fake_leaf(h, 3),
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

static void blink_and_more(struct plan *p, struct fake *h)
{
	blink(p, h);
	fake_settle(h);
	fake_trap(h, fake_leaf(h, 5), SM_LINK_STATE_CHANGED_TRAP);
	fake_settle(h);
}

/* The worker keeps a list of links to probe again when OpenSM has set them up.  Other work of the
 * worker must not remove a link from this list. */
START_TEST(test_short_failure_and_other_task)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	struct plan p = {
		.what = blink_and_more, .when = FAKE_SWEEP_ENDS,
		.sw = fake_leaf(h, 3),
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

static void blink_early(void *ctx, struct fake *h, enum fake_moment m)
{
	struct late *l = ctx;

	if (m == FAKE_SWEEP_ENDS && !l->cut.done) {
		l->cut.done = true;
		fake_trap(h, l->cut.sw, SM_LINK_STATE_CHANGED_TRAP);
		fake_until(atomic_load(&l->asked));
	} else if (m == FAKE_SWEEP_BEGINS && l->cut.done && !l->done) {
		l->done = true;
		blink(&l->cut, h);
		fake_release(h);
		fake_settle(h);
		fake_check_healed(h);
	}
}

/* OpenSM sets up the links and begins another sweep while the worker is busy.  The worker must
 * still notice a link with ports in Init. */
START_TEST(test_short_failure_in_next_sweep)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 1000\nfast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	struct late l = { .cut = { .sw = fake_leaf(h, 3) } };

	l.cut.port = fake_uplink(h, l.cut.sw, 1);
	h->moment = blink_early;
	h->moment_ctx = &l;
	fake_set_fate(h, hold_answers, &l);
	ck_assert(fake_sweep(h));
	ck_assert(fake_sweep(h));
	ck_assert(l.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_race");
	TCase *t = tcase_create("races");

	tcase_add_loop_test(t, test_reroute_in_push, 0, 16);
	tcase_add_test(t, test_reroute_stops_write);
	tcase_add_test(t, test_reroute_wins_lock);
	tcase_add_test(t, test_short_failure_after_reroute);
	tcase_add_test(t, test_reroute_after_half_sweep);
	tcase_add_test(t, test_other_reroutes_in_push);
	tcase_add_test(t, test_other_wins_lock);
	tcase_add_loop_test(t, test_routing_overtakes, 0, 8);
	tcase_add_loop_test(t, test_reroute_then_sweep, 0, 2);
	tcase_add_test(t, test_reroute_fails);
	tcase_add_loop_test(t, test_master_again, 0, 2);
	tcase_add_loop_test(t, test_dies_again, 0, 2);
	tcase_add_test(t, test_late_returns);
	tcase_add_test(t, test_release_in_sweep);
	tcase_add_loop_test(t, test_short_failure_after_discovery, 0, 2 *
			    (FAKE_N_MOMENTS - FAKE_DISCOVERED));
	tcase_add_test(t, test_short_failure_and_other_task);
	tcase_add_test(t, test_short_failure_in_next_sweep);
	suite_add_tcase(s, t);
	return run_suite(s);
}
