// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests when the fast path (the plugin's repair of tables before OpenSM sweeps) requests a sweep of
 * OpenSM, and when it does not.
 */
#include "lib/suite.h"
#include "unit/fast_plans.h"

#define NO_SWEEPS "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"

/* Returns true if the plugin has requested a sweep, or is going to request one.  In the second
 * case, cancels the plan to do so. */
static bool sweep_due(struct fake *h)
{
	bool is;

	pthread_mutex_lock(&h->fast->rr.mutex);
	is = h->fast->rr.state.want.wanted;
	h->fast->rr.state.want.wanted = false;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return is || fake_sweep_wanted(h);
}

/* A damped link, that is, one that failed too often, is no reason to request sweeps. */
START_TEST(test_held)
{
	static const char *const engine[] = { "dmodc", "sftree" };
	char options[200];
	struct fake *h;
	ftr_sw s;
	ftr_port p;

	snprintf(options, sizeof(options),
		 "fast_flap_limit 2\nfast_flap_window_ms 3600000\nfast_flap_hold_ms 3600000\n" NO_SWEEPS);
	h = fake_new(&(struct fake_opts){
		.engine = engine[_i], .options = options
	});
	s = fake_leaf(h, 2);
	p = fake_uplink(h, s, 0);
	for (unsigned int i = 0; i < 2; i++) {
		fake_link(h, s, p, false);
		fake_settle(h);
		fake_link(h, s, p, true);
		fake_settle(h);
		ck_assert(fake_sweep(h));
		fake_settle(h);
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	ck_assert_uint_eq(fake_logged(h, "IBF111"), 1);
	for (unsigned int i = 0; i < 3; i++) {
		sweep_due(h);
		ck_assert(fake_sweep(h));
		fake_settle(h);
		ck_assert(!sweep_due(h));
	}
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Links come up again.  The repair writes some blocks twice.  All writes are acknowledged, so no
 * sweep is needed. */
START_TEST(test_steps)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = NO_SWEEPS });
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_spine(h, 1);

	for (ftr_port p = 2; p <= 4; p++)
		fake_link(h, s, p, false);
	fake_settle(h);
	ck_assert(!fake_unheard(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	for (ftr_port p = 2; p <= 4; p++)
		fake_link_quietly(h, s, p, true);
	sweep_due(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert(tables_are(h, before));
	fake_check_copy_clean(h);
	ck_assert(!sweep_due(h));
	free(before);
	fake_free(h);
}
END_TEST

/* A discovery that began before the repair cannot confirm the repair, so another sweep follows. */
START_TEST(test_repeated_discovery)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 0\n"
	});
	struct plan p = {
		.what = cut, .when = FAKE_DISCOVERING, .wait = true,
		.sw = fake_leaf(h, 6)
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	ck_assert_uint_eq(fake_events(h, "link-down"), 0);
	ck_assert(fake_wait_wanted(h));
	fake_check_quiet_sweep(h);
	ck_assert_uint_eq(fake_events(h, "link-down"), 1);
	fake_free(h);
}
END_TEST

/* Cuts a link.  Sets p->n to 1 if the plugin waits more than 1 s before it requests a sweep. */
static void cut_and_look(struct plan *p, struct fake *h)
{
	cut(p, h);
	fake_settle(h);
	pthread_mutex_lock(&h->fast->rr.mutex);
	p->n = rr_timer(&h->fast->rr.state) > ibf_now_ms() + 1000;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	ck_assert(!fake_sweep_wanted(h));
}

/* A link fails during a discovery that takes longer than fast_sweep_cap_ms.  The plugin must wait
 * for the end of the discovery: a discovery that restarts at every request might never end.  In
 * case 1 the request is urgent, because the fast path abandoned the repair. */
START_TEST(test_long_discovery)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 0\nfast_sweep_cap_ms 10\n"
	});
	struct plan p = {
		.what = cut_and_look, .when = FAKE_DISCOVERING,
		.sw = fake_leaf(h, 6)
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	if (_i)
		rr_view_set(&h->fast->rr, NULL);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	ck_assert_uint_eq(p.n, 1);
	fake_settle(h);
	ck_assert(fake_wait_wanted(h));
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* A link fails, and ddlr waits for packets in flight before it writes the next new tables. */
static struct fake *start_transition(void)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "ddlr", .options = NO_SWEEPS
	});
	ftr_sw s = fake_leaf(h, 6);

	h->osm->subn.opt.packet_life_time = 21;
	wait_for_planner(h);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);
	ck_assert(transition_pends(h));
	return h;
}

/* ddlr writes new tables in several steps, and a sweep of OpenSM ends this transition early.  The
 * repair must be reported exactly once. */
START_TEST(test_sweep_in_transition)
{
	struct fake *h = start_transition();

	sweep_due(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert(!transition_pends(h));
	ck_assert(fake_events(h, "\"stage\":\"reroute\"") || sweep_due(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_events(h, "\"stage\":\"reroute\""), 1);
	fake_free(h);
}
END_TEST

/* The same, but another manager becomes master: the plugin writes no further entry. */
START_TEST(test_standby_in_transition)
{
	struct fake *h = start_transition();
	uint32_t sets;

	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	sets = fake_count_sets(h);
	fake_until(!transition_pends(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_count_sets(h), sets);
	ck_assert_uint_eq(fake_logged(h, "fast reroute 1: "), 1);
	fake_free(h);
}
END_TEST

static void routed_by_another(struct plan *p, struct fake *h)
{
	(void)p;
	pthread_mutex_lock(&h->fast->rr.mutex);
	h->fast->rr.state.transition = 0;	/* due */
	pthread_mutex_unlock(&h->fast->rr.mutex);
	ibf_fast_routed(h->fast, NULL);
}

/* The next step of the transition is due when a routing ends whose tables are not known: the view is
 * dropped, and with it the transition. */
START_TEST(test_view_dropped_in_transition)
{
	struct fake *h = start_transition();
	struct plan p = { .when = FAKE_PUSHING, .what = routed_by_another, .wait = true };

	sweep_due(h);
	plan(h, &p);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert(p.done && !transition_pends(h));
	sweep_until_quiet(h, 5);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The detours of a local repair are checked before they are written.  In case 1 they must be
 * refused, because the tables have loops that the planner does not know.  In case 0 there are no
 * loops. */
START_TEST(test_detours_are_checked)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "ddlr", .options = NO_SWEEPS
	});
	const struct ftr_fabric *f = h->fab;
	ftr_sw s = fake_leaf(h, 6);
	struct plan p = { .sw = s, .port = fake_uplink(h, s, 1) };

	wait_for_planner(h);
	pthread_mutex_lock(&h->fast->rr.view_lock);
	for (ftr_sw t = 0; _i && t < f->n_sw; t++) {
		ftr_port port = 1;

		while (ftr_fabric_port(f, t, port)->peer_kind != FTR_PEER_SW ||
		       (t == s && port == p.port))
			port++;
		memset(ftr_tables_row(h->fast->rr.view->sent, t), port,
		       f->max_lid + 1u);
	}
	pthread_mutex_unlock(&h->fast->rr.view_lock);
	cut(&p, h);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "the planned local repair leads to "), _i);
	ck_assert_uint_eq(fake_logged(h, "local repair 1: "), !_i);
	fake_unload(h);
	fake_free(h);
}
END_TEST

/* The computed entries are checked before they are written.  From case 1 on, the view of the worker
 * has a wrong order of the switches: in case 1, paths turn from down to up; in cases 2 and 3, all
 * links are horizontal.  In case 3 the entries are not refused, because a planner checks for credit
 * loops. */
START_TEST(test_entries_are_checked)
{
	static const char *const says[] = {
		"fast reroute 1: ", "the computed entries lead to a hop up after a hop down",
		"old and new entries together may form a credit loop", "local repair 1: ",
	};
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = _i == 3 ? "ddlr" : "dmodc", .options = NO_SWEEPS
	});
	ftr_sw s = fake_leaf(h, 6);
	struct plan p = { .sw = s, .port = fake_uplink(h, s, 1) };
	struct rr_view *v = h->fast->rr.view;
	uint8_t *order = calloc(h->fab->n_sw, 1);

	ck_assert_ptr_nonnull(order);
	for (ftr_sw t = 0; _i == 1 && t < h->fab->n_sw; t++)
		order[t] = (uint8_t)(99 - v->gen.order[t]);
	if (_i == 3)
		wait_for_planner(h);
	if (_i)
		v->gen.order = order;
	cut(&p, h);
	fake_settle(h);
	ck_assert_msg(fake_logged(h, says[_i]) == 1, "%s", h->log);
	ck_assert_uint_eq(fake_logged(h, "no fast reroute; a sweep will repair the tables: "),
			  _i == 1 || _i == 2);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
	free(order);
}
END_TEST

static void forget_sweep(void *ctx, struct fake *h, enum fake_moment m)
{
	at_moment(ctx, h, m);
	if (m == FAKE_BEFORE_ROUTING)
		sweep_due(h);
}

/* The routing leaves out a link that died during discovery.  A sweep follows, because the link may
 * be up again. */
START_TEST(test_left_out)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = NO_SWEEPS });
	struct plan p = {
		.what = cut, .when = FAKE_DISCOVERED, .wait = true,
		.sw = fake_leaf(h, 6)
	};

	p.port = fake_uplink(h, p.sw, 1);
	h->moment = forget_sweep;
	h->moment_ctx = &p;
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	ck_assert(sweep_due(h));
	h->moment = NULL;
	fake_check_quiet_sweep(h);
	ck_assert(!sweep_due(h));
	fake_free(h);
}
END_TEST

static void repaired_at_once(struct plan *p, struct fake *h)
{
	(void)p;
	fake_settle(h);
	fake_check_healed(h);
}

/* A routing fails, and OpenSM reports no event.  Traps that came during the routing must be handled
 * when the next sweep starts. */
START_TEST(test_traps_of_failed_routing)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 0\n"
	});
	struct plan p = {
		.what = cut, .when = FAKE_LOCKED, .sw = fake_leaf(h, 3)
	};
	struct plan then = {
		.what = repaired_at_once, .when = FAKE_SWEEP_BEGINS
	};

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	break_engine(h, true);
	h->fail_routing = true;
	ck_assert(!fake_sweep(h));
	ck_assert(fake_wait_wanted(h));
	break_engine(h, false);
	h->fail_routing = false;
	plan(h, &then);
	ck_assert(fake_sweep(h));
	ck_assert(then.done);
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

struct counter {
	struct fake *h;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned int n;
};

static void slow_handler(void *ctx, void *data)
{
	struct counter *c = ctx;

	(void)data;
	fake_lock_osm(c->h, true);
	usleep(20000);
	fake_unlock_osm(c->h);
	pthread_mutex_lock(&c->mutex);
	c->n++;
	ibf_cond_wake(&c->cond);
	pthread_mutex_unlock(&c->mutex);
}

static void nothing(void *ctx, void *data)
{
	(void)ctx;
	(void)data;
}

/* The virtual clock stands still while messages are handled, even when handlers wait for OpenSM's
 * lock. */
START_TEST(test_clock_stands_still)
{
	struct fake *h = fake_new(NULL);
	struct counter c = { .h = h, .mutex = PTHREAD_MUTEX_INITIALIZER };
	cl_disp_reg_handle_t reg;

	ibf_cond_init(&c.cond);
	reg = cl_disp_register(&h->osm->disp, OSM_MSG_MAD_GUID_INFO,
			       slow_handler, &c);
	ck_assert_ptr_nonnull(reg);
	for (unsigned int i = 0; i < 4; i++)
		fake_post(h, OSM_MSG_MAD_GUID_INFO, NULL, nothing);
	pthread_mutex_lock(&c.mutex);
	while (c.n < 4)
		ck_assert(ibf_cond_wait(&c.cond, &c.mutex, ibf_now_ms() + 1));
	pthread_mutex_unlock(&c.mutex);
	fake_settle(h);
	cl_disp_unregister(reg);
	fake_free(h);
	pthread_cond_destroy(&c.cond);
}
END_TEST

/* ddlr has written its local repair, and writes the new tables.  A Set of them is lost, and a reroute begins
 * before the plugin gives it up.  The repair is reported with its writes, but without a warning: the reroute
 * writes all tables. */
struct lost_round {
	atomic_bool local;	/* the local repair has been reported */
	atomic_uint lost;
	ftr_sw to;
	bool ended;
};

static void see_local(void *ctx, const char *line)
{
	struct lost_round *l = ctx;

	if (strstr(line, "local repair 1: "))
		atomic_store(&l->local, true);
}

static void lose_round(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct lost_round *l = ctx;

	if (!p->plugin || !p->set || !atomic_load(&l->local) || l->ended)
		return;
	if (l->to == FTR_SW_NONE)
		l->to = p->to;
	fate->lose_request = p->to == l->to;
	atomic_fetch_add(&l->lost, fate->lose_request);
}

static void end_of_round(void *ctx, struct fake *h, enum fake_moment m)
{
	struct lost_round *l = ctx;

	if (m != FAKE_ROUTED)
		return;
	fake_settle(h);
	l->ended = true;
}

START_TEST(test_reroute_in_transition)
{
	struct fake *h = fake_new(&(struct fake_opts){ .engine = "ddlr" });
	struct lost_round l = { .to = FTR_SW_NONE };
	ftr_sw s = fake_leaf(h, 6);

	wait_for_planner(h);
	h->logging = see_local;
	h->logging_ctx = &l;
	fake_set_fate(h, lose_round, &l);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_until(atomic_load(&l.lost));
	h->moment = end_of_round;
	h->moment_ctx = &l;
	ck_assert(fake_reroute(h));
	ck_assert(l.ended);
	ck_assert_uint_eq(fake_logged(h, "IBF110: fast reroute 1: "), 1);
	ck_assert_uint_eq(fake_logged(h, "the transition is unfinished"), 0);
	fake_settle(h);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	fake_free(h);
}
END_TEST

/* The worker probes a link that may be used again.  But its lower switch has died, and a leaf does not
 * acknowledge the local repair of ddlr: the fast path gives up its tables, and sweeps do the rest. */
struct deaf {
	ftr_sw sw;
};

static void hear_no_set(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const struct deaf *d = ctx;

	fate->lose_request = p->plugin && p->set && p->to == d->sw;
}

START_TEST(test_return_gives_up)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "ddlr",
		.options = "fast_flap_limit 1\nfast_flap_hold_ms 30000\nfast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n",
	});
	struct deaf d = { fake_leaf(h, 5) };
	ftr_sw s = ftr_fabric_next(h->fab, d.sw, fake_uplink(h, d.sw, 0));
	ftr_port p = fake_uplink(h, s, 0);

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_link_quietly(h, s, p, true);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF111"), 1);
	wait_for_planner(h);
	for (unsigned int i = 1; i <= h->fab->sw[s].n_ports; i++)
		if (ftr_fabric_next(h->fab, s, (ftr_port)i) != FTR_SW_NONE)
			fake_link_quietly(h, s, (ftr_port)i, false);
	fake_set_fate(h, hear_no_set, &d);
	fake_wait_released(h);
	fake_settle(h);
	ck_assert_ptr_null(h->fast->rr.view);
	ck_assert(fake_sweep_wanted(h));
	fake_set_fate(h, NULL, NULL);
	fake_check_copy(h);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_switch(h, s, true);
	fake_wait_released(h);
	for (int i = 0; i < 4; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

struct near_end {
	struct fake *h;
	ftr_sw sw;
	ftr_port port;
	bool asked;
};

/* The link fails again when its near end has answered: then no answer of the far end says Active. */
static void fail_between_ends(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct near_end *x = ctx;
	const struct ftr_swport *port = ftr_fabric_port(x->h->fab, x->sw, x->port);

	(void)fate;
	if (!p->plugin || p->set)
		return;
	x->asked |= p->to == x->sw && p->mod == x->port;
	if (!x->asked || p->to != port->peer || p->mod != port->peer_port)
		return;
	x->h->link[x->h->fab->sw[x->sw].first_port + x->port] = IB_LINK_DOWN;
	x->h->link[x->h->fab->sw[port->peer].first_port + port->peer_port] = IB_LINK_DOWN;
}

START_TEST(test_far_end_not_active)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = "dmodc", .options = NO_SWEEPS
	});
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);
	struct near_end x = { .h = h, .sw = s, .port = p };

	if (_i)
		x = (struct near_end){ .h = h, .sw = port->peer, .port = port->peer_port };
	fake_link(h, s, p, false);
	fake_settle(h);
	fake_link(h, s, p, true);
	fake_settle(h);
	fake_set_fate(h, fail_between_ends, &x);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
	fake_check_healed(h);
	for (int i = 0; i < 2; i++)
		ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_due");
	TCase *t = tcase_create("sweeps wanted");

	tcase_add_test(t, test_clock_stands_still);
	tcase_add_loop_test(t, test_held, 0, 2);
	tcase_add_test(t, test_steps);
	tcase_add_test(t, test_repeated_discovery);
	tcase_add_loop_test(t, test_long_discovery, 0, 2);
	tcase_add_loop_test(t, test_detours_are_checked, 0, 2);
	tcase_add_loop_test(t, test_entries_are_checked, 0, 4);
	tcase_add_test(t, test_standby_in_transition);
	tcase_add_test(t, test_sweep_in_transition);
	tcase_add_test(t, test_view_dropped_in_transition);
	tcase_add_test(t, test_reroute_in_transition);
	tcase_add_test(t, test_return_gives_up);
	tcase_add_loop_test(t, test_far_end_not_active, 0, 2);
	tcase_add_test(t, test_left_out);
	tcase_add_test(t, test_traps_of_failed_routing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
