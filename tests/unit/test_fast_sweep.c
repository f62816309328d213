// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path (the plugin's repair of tables before OpenSM sweeps) while OpenSM itself
 * acts: while it sweeps, becomes master or standby, or uses another engine.
 */
#include "lib/suite.h"
#include "unit/fast_plans.h"

/* ---- a link fails at any moment ----------------------------------------- */

/* A link fails at any moment of a sweep.  _i selects the moment, the link, and whether its traps
 * are handled before the sweep goes on. */
START_TEST(test_cut_at)
{
	struct fake *h = fake_new(NULL);
	struct plan p = { .what = cut, .wait = _i & 1 };
	ftr_sw first = fake_leaf(h, 1);

	p.when = (enum fake_moment)(_i / 4);
	p.sw = _i & 2 ? h->fab->ep[h->sm].sw : fake_leaf(h, 6);
	p.port = fake_uplink(h, p.sw, 0);
	plan(h, &p);
	/* this fault makes the sweep write entries */
	fake_link_quietly(h, first, fake_uplink(h, first, 1), false);
	ck_assert(fake_sweep(h));
	ck_assert(p.done);
	fake_settle(h);
	fake_check_copy(h);
	/* if OpenSM has lost packets, the tables may still be incomplete */
	if (!h->osm->subn.subnet_initialization_error)
		fake_check_healed(h);
	/* if the fault came too late for this discovery, another sweep must follow */
	if (p.when >= FAKE_BEFORE_ROUTING)
		ck_assert(fake_wait_wanted(h));
	sweep_until_quiet(h, 3);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	fake_free(h);
}
END_TEST

/* A discovery sees a link up, then the link fails, and the fast path routes around it.  No later
 * sweep is due, so the routing of this sweep must leave the link out. */
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

static void look(void *ctx, struct fake *h, enum fake_moment m)
{
	unsigned int *n = ctx;

	++*n;
	if (m == FAKE_LOCKED || m == FAKE_ROUTING)
		return;
	fake_settle(h);
	fake_check_healed(h);
}

/* A link fails.  It comes up before a sweep has seen the failure (case 0) or afterwards (case 1).
 * The tables must connect all hosts at each moment of the next sweep at which the sweep does
 * not hold OpenSM's lock.  In the end the tables must be those before the fault. */
START_TEST(test_recovery)
{
	struct fake *h = fake_new(NULL);
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	unsigned int n = 0;

	fake_link(h, s, p, false);
	fake_settle(h);
	if (_i) {
		ck_assert(fake_wait_wanted(h));
		fake_check_quiet_sweep(h);
	}
	fake_link(h, s, p, true);
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
	ck_assert(tables_are(h, before));
	sweep_until_quiet(h, 2);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	free(before);
	fake_free(h);
}
END_TEST

/* A link returns while packets follow older entries that no rank proves (case 1).  So the fast path does not
 * use it, but requests the next routing at once, although the delay of sweeps is a minute. */
START_TEST(test_early_return)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	struct rr *rr = &h->fast->rr;

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_check_quiet_sweep(h);
	fake_link_quietly(h, s, p, true);
	pthread_mutex_lock(&rr->mutex);
	if (_i)
		rr->written.unranked = rr_now(rr);
	pthread_mutex_unlock(&rr->mutex);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_int_eq(tables_are(h, before), !_i);
	ck_assert_int_eq(fake_sweep_wanted(h), _i);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert(tables_are(h, before));
	fake_check_healed(h);
	free(before);
	fake_free(h);
}
END_TEST

/* A link returns after a routing without it.  Then all other links of its leaf fail, before another routing.
 * The fast path must send its packets over this link.  Case 1: the leaf is that of OpenSM's host, so all
 * packets need the link. */
START_TEST(test_only_a_returned_link)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = _i ? h->fab->ep[h->sm].sw : fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_check_quiet_sweep(h);
	fake_link_quietly(h, s, p, true);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	for (unsigned int q = 1; q <= h->fab->sw[s].n_ports; q++)
		if (q != p && ftr_fabric_next(h->fab, s, q) != FTR_SW_NONE) {
			fake_link(h, s, (ftr_port)q, false);
			fake_settle(h);
		}
	fake_check_healed(h);
	fake_check_copy_clean(h);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	ck_assert_uint_eq(fake_logged(h, "IBF110"), 0);
	fake_free(h);
}
END_TEST

/* A link is down for a moment only, and its ports are then in Init.  The tables must avoid the
 * link until a sweep has activated the ports. */
START_TEST(test_short_failure)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);

	fake_link_quietly(h, s, p, false);
	fake_link(h, s, p, true);
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
	fake_link(h, p->sw, p->port, true);
}

/* A dead link comes up again at any moment of a sweep.  After the sweep the tables must connect all
 * hosts. */
START_TEST(test_recovery_at)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = back_again, .when = (enum fake_moment)(_i / 2),
		.wait = _i & 1, .sw = fake_leaf(h, 2)
	};

	p.port = fake_uplink(h, p.sw, 0);
	fake_link(h, p.sw, p.port, false);
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

/* A spine dies and comes up again.  The tables must connect all hosts, and a sweep must follow. */
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

/* ---- changes of master --------------------------------------------------- */

START_TEST(test_standby)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 3);
	uint32_t sets = fake_count_sets(h);

	fake_set_state(h, IB_SMINFO_STATE_STANDBY);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_count_sets(h), sets);
	ck_assert(fake_sweep_wanted(h));	/* OpenSM itself has requested the sweep */
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
	fake_link(h, p->sw, p->port, false);
}

/* OpenSM hands over to another subnet manager at the end of a discovery.  The plugin must write
 * nothing until its own OpenSM is master again. */
START_TEST(test_handover)
{
	struct fake *h = fake_new(NULL);
	struct plan p = {
		.what = hand_over, .when = FAKE_BEFORE_ROUTING,
		.sw = fake_leaf(h, 3)
	};
	uint32_t sets = fake_count_sets(h);

	p.port = fake_uplink(h, p.sw, 1);
	plan(h, &p);
	ck_assert(!fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_count_sets(h), sets);
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

/* Another subnet manager becomes master while packets of a repair are in flight.  OpenSM's copy of
 * the tables must stay correct. */
START_TEST(test_handover_in_push)
{
	struct fake *h = fake_new(NULL);
	struct slow slow = { .ms = 5 };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, slow_sets, &slow);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(atomic_load(&slow.n));
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

/* ---- other engines ------------------------------------------------------- */

/* Let root_guid_file name one switch; FTR_SW_NONE: there is no such file. */
static void name_roots(struct fake *h, ftr_sw s)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/roots", h->dir);
	free(h->osm->subn.opt.root_guid_file);
	h->osm->subn.opt.root_guid_file = NULL;
	if (s == FTR_SW_NONE) {
		unlink(path);
		return;
	}
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fprintf(out, "0x%" PRIx64 "\n", h->fab->sw[s].guid);
	ck_assert(!fclose(out));
	h->osm->subn.opt.root_guid_file = strdup(path);
}

/* A sweep without changes computes nothing, and neither do the routings after the return of a switch. */
START_TEST(test_routed_before)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_spine(h, 1);

	fake_switch(h, s, false);
	sweep_until_quiet(h, 3);
	stop_computing(h, true);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_switch(h, s, true);
	sweep_until_quiet(h, 3);
	ck_assert_uint_eq(fake_logged(h, "IBF210"), 0);
	ck_assert_uint_ge(fake_logged(h, "IBF010: dmodc: the tables in use were replaced"), 1);
	fake_check_healed(h);
	name_roots(h, s);
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(fake_logged(h, "IBF210"), 1);
	name_roots(h, FTR_SW_NONE);
	fake_link(h, s, 1, false);
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(fake_logged(h, "IBF210"), 2);
	fake_free(h);
}
END_TEST

/* While another engine's tables are in use, the plugin must leave faults to the sweeps of
 * OpenSM. */
START_TEST(test_fallback)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 2);

	break_engine(h, true);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_ge(fake_logged(h, "IBF210"), 1);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert(fake_sweep_wanted(h));
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 0);
	break_engine(h, false);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_link(h, s, fake_uplink(h, s, 0), true);
	sweep_until_quiet(h, 3);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_check_repaired(h);
	ck_assert_uint_ge(fake_logged(h, "fast reroute"), 1);
	fake_free(h);
}
END_TEST

/* A link fails during a routing in which all engines fail.  The trap must not be lost, and a sweep
 * must follow. */
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

/* ---- too many traps, flapping links -------------------------------------- */

static void flood(struct plan *p, struct fake *h)
{
	for (uint32_t i = 0; i < RR_TRAPS_MAX + 100u; i++)
		fake_trap(h, i % h->fab->n_sw, 128);
	fake_link(h, p->sw, p->port, false);
}

START_TEST(test_trap_storm)
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

/* After three failures a link is damped: it is not used until fast_flap_hold_ms after its last
 * failure. */
START_TEST(test_flapping)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_flap_limit 3\nfast_flap_window_ms 60000\nfast_flap_hold_ms 1500\n"
	});
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	uint8_t *before = all_tables(h);

	for (unsigned int i = 0; i < 3; i++) {
		fake_link(h, s, p, false);
		fake_settle(h);
		fake_check_healed(h);
		fake_link(h, s, p, true);
		fake_settle(h);
		fake_check_healed(h);
		ck_assert(fake_wait_wanted(h));
		ck_assert(fake_sweep(h));
		fake_settle(h);
		fake_check_healed(h);
	}
	ck_assert_uint_eq(fake_logged(h, "IBF111"), 1);
	ck_assert(!tables_are(h, before));	/* the link is Active, but damped */
	fake_until(tables_are(h, before));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	free(before);
	fake_free(h);
}
END_TEST

/* Lose the first Get of the plugin.  *ctx: the number of lost Gets. */
static void lose_first_get(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	atomic_uint *lost = ctx;

	fate->lose_request = p->plugin && !p->set && !atomic_load(lost);
	atomic_fetch_add(lost, fate->lose_request);
}

/* The hold time of a link ends while packets follow older entries that no rank proves.  So the fast path does
 * not use it, but requests a sweep, as no other one is due.  Case 1: a reroute begins while the fast path
 * probes the link.  As the reroute uses the link, no sweep is requested. */
START_TEST(test_early_release)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_flap_limit 1\nfast_flap_hold_ms 30000\nfast_timeout_ms 500\n"
	});
	uint8_t *before = all_tables(h);
	ftr_sw s = fake_leaf(h, 2);
	ftr_port p = fake_uplink(h, s, 0);
	struct rr *rr = &h->fast->rr;
	atomic_uint lost = 0;

	fake_link(h, s, p, false);
	fake_settle(h);
	fake_link(h, s, p, true);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	ck_assert(!tables_are(h, before));
	fake_check_quiet_sweep(h);
	pthread_mutex_lock(&rr->mutex);
	rr->written.unranked = rr->state.links.link[0].last + rr->state.links.hold;
	pthread_mutex_unlock(&rr->mutex);
	h->osm->subn.opt.packet_life_time = 20;
	if (_i)
		fake_set_fate(h, lose_first_get, &lost);
	fake_wait_released(h);
	if (_i) {
		fake_until(atomic_load(&lost));
		ck_assert(fake_reroute(h));
	}
	fake_settle(h);
	ck_assert_int_eq(tables_are(h, before), _i);
	ck_assert_int_eq(fake_sweep_wanted(h), !_i);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	ck_assert(tables_are(h, before));
	fake_check_healed(h);
	free(before);
	fake_free(h);
}
END_TEST

/* Switches without new tables: sw[0], and sw[1], which takes those that OpenSM sends. */
static void lose_tables(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const ftr_sw *sw = ctx;

	fate->lose_request = p->set && (p->to == sw[0] || (p->plugin && p->to == sw[1]));
}

/* A switch that has returned without a table does not take its new one, so the entries that lead to it are not
 * written.  When a link fails before the next sweep, the fast path does not write them either. */
START_TEST(test_entries_remain)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	ftr_sw spine = fake_spine(h, 1), leaf = fake_leaf(h, 1);
	char says[256];

	fake_switch(h, spine, false);
	fake_check_sweep(h);
	fake_lock(h);
	memset(h->sw[spine].lft, FTR_PORT_NONE, h->fab->max_lid + 1u);
	fake_unlock(h);
	fake_switch(h, spine, true);
	fake_set_fate(h, lose_tables, (ftr_sw[]){ spine, spine });
	for (int i = 0; i < 2; i++) {
		(void)!fake_sweep(h);
		fake_settle(h);
	}
	snprintf(says, sizeof(says), "not acknowledged by %s; the next sweep replaces the remaining 40 entries; until then the fast path repairs nothing",
		 h->fab->sw[spine].name);
	ck_assert_uint_ge(fake_logged(h, says), 1);
	fake_check_healed(h);
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 0);
	ck_assert(fake_left_to_sweep(h));
	fake_check_sound(h);
	fake_release(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The same, while a leaf has lost a link, and takes no Set of the plugin.  OpenSM writes its table, without
 * the entries that lead to the switch without a table. */
START_TEST(test_two_silent)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	ftr_sw spine = fake_spine(h, 1), leaf = fake_leaf(h, 2);
	uint8_t *lft = h->sw[leaf].lft;

	fake_switch(h, spine, false);
	fake_check_sweep(h);
	fake_lock(h);
	memset(h->sw[spine].lft, FTR_PORT_NONE, h->fab->max_lid + 1u);
	fake_unlock(h);
	fake_switch(h, spine, true);
	fake_set_fate(h, lose_tables, (ftr_sw[]){ spine, leaf });
	(void)!fake_sweep(h);
	fake_settle(h);
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	(void)!fake_sweep(h);
	fake_settle(h);
	ck_assert(!memchr(lft, fake_uplink(h, leaf, 1), h->fab->max_lid + 1u));
	fake_release(h);
	for (int i = 0; i < 2; i++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	fake_check_healed(h);
	ck_assert(memchr(lft, fake_uplink(h, leaf, 1), h->fab->max_lid + 1u));
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_sweep");
	TCase *t = tcase_create("sweeps");

	tcase_add_loop_test(t, test_cut_at, 0, 4 * FAKE_N_MOMENTS);
	tcase_add_test(t, test_stale_discovery);
	tcase_add_loop_test(t, test_recovery, 0, 2);
	tcase_add_loop_test(t, test_early_return, 0, 2);
	tcase_add_loop_test(t, test_only_a_returned_link, 0, 2);
	tcase_add_test(t, test_short_failure);
	tcase_add_loop_test(t, test_recovery_at, 0, 2 * FAKE_N_MOMENTS);
	tcase_add_test(t, test_spine_back);
	tcase_add_test(t, test_standby);
	tcase_add_test(t, test_handover);
	tcase_add_test(t, test_handover_in_push);
	tcase_add_test(t, test_routed_before);
	tcase_add_test(t, test_fallback);
	tcase_add_test(t, test_no_engine);
	tcase_add_test(t, test_trap_storm);
	tcase_add_test(t, test_flapping);
	tcase_add_loop_test(t, test_early_release, 0, 2);
	tcase_add_test(t, test_entries_remain);
	tcase_add_test(t, test_two_silent);
	suite_add_tcase(s, t);
	return run_suite(s);
}
