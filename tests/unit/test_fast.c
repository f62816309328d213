// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path, the plugin's repair of tables before OpenSM sweeps, in a fake OpenSM:
 * repairs of single faults.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake/opensm.h"
#include "lib/suite.h"

/* No fault: the tables connect all hosts, and no warning or error is logged. */
START_TEST(test_up)
{
	struct fake *h = fake_new(NULL);

	ck_assert_ptr_nonnull(h->fast);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "WRN"), 0);
	ck_assert_uint_eq(fake_logged(h, "ERR"), 0);
	fake_free(h);
}
END_TEST

/* With the option "fast_reroute off", only sweeps of OpenSM repair faults. */
START_TEST(test_off)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_reroute off\n"
	});
	ftr_sw s = fake_leaf(h, 3);

	ck_assert_ptr_null(h->fast);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert(fake_sweep_wanted(h));	/* OpenSM itself has requested the sweep */
	ck_assert(fake_sweep(h));
	ck_assert_uint_gt(h->changed_entries, 0);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* Each link of the tree fails alone.  The fast path must repair the tables and report the
 * failure. */
START_TEST(test_one_link)
{
	struct fake *h = fake_new(NULL);
	unsigned int n = 0;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(h->fab, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW || port->peer < s)
				continue;
			fake_link(h, s, (ftr_port)p, false);
			fake_check_repaired(h);
			n++;
			ck_assert_uint_eq(fake_events(h, "link-down"), n);
			fake_link_quietly(h, s, (ftr_port)p, true);
			ck_assert(fake_sweep(h));
			fake_settle(h);
			fake_check_healed(h);
			fake_check_quiet_sweep(h);
		}
	}
	ck_assert_uint_eq(n, h->fab->n_sw_links);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	fake_free(h);
}
END_TEST

/* A link goes down, but only one end sends a trap: the leaf (case 0) or the spine (case 1). */
START_TEST(test_one_end)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 3);
	ftr_port p = fake_uplink(h, s, 1);
	ftr_sw end[2] = { s, ftr_fabric_port(h->fab, s, p)->peer };

	fake_link_quietly(h, s, p, false);
	fake_trap(h, end[_i], 128);
	fake_check_repaired(h);
	ck_assert_uint_eq(fake_logged(h, "fast reroute 1:"), 1);
	fake_free(h);
}
END_TEST

/* Both ends send a trap, but the second trap arrives after the repair.  The second trap must not
 * cause a second repair. */
START_TEST(test_both_ends)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 3);
	ftr_port p = fake_uplink(h, s, 1);

	fake_link_quietly(h, s, p, false);
	fake_trap(h, s, 128);
	fake_settle(h);
	fake_trap(h, ftr_fabric_port(h->fab, s, p)->peer, 128);
	fake_check_repaired(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	fake_free(h);
}
END_TEST

START_TEST(test_spine)
{
	struct fake *h = fake_new(NULL);

	fake_switch(h, fake_spine(h, 1), false);
	fake_check_repaired_in_parts(h);
	fake_switch(h, fake_spine(h, 2), false);
	fake_check_repaired_in_parts(h);
	fake_free(h);
}
END_TEST

/* All links of a spine die before the first of their traps arrives.  There is only one repair. */
START_TEST(test_spine_at_once)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_spine(h, 0);

	for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
		if (ftr_fabric_port(h->fab, s, (ftr_port)p)->peer_kind ==
		    FTR_PEER_SW)
			fake_link_quietly(h, s, (ftr_port)p, false);
	for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
		fake_link(h, s, (ftr_port)p, false);
	fake_check_repaired_in_parts(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	fake_free(h);
}
END_TEST

/* A spine dies, and only one trap arrives: from a neighbour, or from the spine itself before it
 * died.  The fast path must find all four dead links. */
START_TEST(test_spine_one_trap)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 2000\n"
	});
	ftr_sw s = fake_spine(h, 3);
	char text[FTR_NAME_MAX + 64];

	for (ftr_port p = 1; p <= 4; p++)
		fake_link_quietly(h, s, p, false);
	fake_trap(h, _i ? ftr_fabric_port(h->fab, s, (ftr_port)_i)->peer : s,
		  128);
	fake_check_repaired(h);
	snprintf(text, sizeof(text), "(4 down, 0 up), all at switch %s;", h->fab->sw[s].name);
	ck_assert_uint_eq(fake_logged(h, text), 1);
	fake_free(h);
}
END_TEST

/* A switch does not answer.  This alone must not make its links count as dead. */
START_TEST(test_silent_spine)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_spine(h, 3);

	fake_lock(h);
	h->sw[s].silent = true;
	fake_unlock(h);
	fake_link_quietly(h, s, 2, false);
	fake_trap(h, ftr_fabric_port(h->fab, s, 2)->peer, 128);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "fast reroute"), 1);
	ck_assert_uint_eq(fake_logged(h, "others ("), 0);
	fake_free(h);
}
END_TEST

START_TEST(test_leaf_cut_off)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 5);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_check_repaired(h);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);
	fake_check_healed(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));	/* OpenSM removes the leaf and its LIDs */
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	fake_link(h, s, fake_uplink(h, s, 0), true);
	fake_settle(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Eight links fail, at eight different leaves. */
START_TEST(test_several)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "3;4,4,4;1,4,4;1,1,1"
	});

	for (unsigned int i = 0; i < 8; i++) {
		ftr_sw s = fake_leaf(h, 2 * i);

		fake_link(h, s, fake_uplink(h, s, i % 4), false);
	}
	fake_check_repaired_in_parts(h);
	fake_free(h);
}
END_TEST

/* Two links of a leaf fail in a tree with parallel links. */
START_TEST(test_trunk)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;9,8;1,4;1,2"
	});
	ftr_sw s = fake_leaf(h, 2);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_check_repaired(h);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_check_repaired(h);
	fake_free(h);
}
END_TEST

/* A link of OpenSM's own leaf fails, so OpenSM's packets can no longer use it.  All blocks of the
 * repair must still be acknowledged. */
START_TEST(test_own_uplink)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = h->fab->ep[h->sm].sw;

	fake_link(h, s, fake_uplink(h, s, (unsigned int)_i), false);
	fake_check_repaired(h);
	ck_assert_uint_eq(fake_logged(h, "NOT acknowledged"), 0);
	fake_free(h);
}
END_TEST

/* A link has died without a trap.  Another link fails, and packets of the repair are lost on the
 * first link.  All lost packets are sent again at the same time over another route, so the repair
 * takes little longer than one timeout. */
#define LONG_MS 4000

START_TEST(test_unknown_dead)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 4000\n"
	});
	ftr_sw s = h->fab->ep[h->sm].sw, first = fake_leaf(h, 1);
	double start;

	fake_link_quietly(h, first, fake_uplink(h, first, 1), false);
	start = ibf_now_ms();
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(fake_logged(h, "IBF004"));
	ck_assert_double_lt(ibf_now_ms() - start, 1.1 * LONG_MS);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	ck_assert_uint_eq(fake_logged(h, "NOT acknowledged"), 0);
	fake_check_copy(h);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* A link fails, then a spine, with each engine. */
START_TEST(test_engines)
{
	static const char *const engine[] = { "dmodc", "sftree" };
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = engine[_i]
	});
	ftr_sw s = fake_leaf(h, 6);

	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_check_repaired(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	fake_switch(h, fake_spine(h, 3), false);
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The switches answer Gets but no Sets, as if they had another M_Key with protection level 1. */
static void no_sets(void *ctx, const struct fake_packet *p,
		    struct fake_fate *fate)
{
	(void)ctx;
	fate->lose_request = p->plugin && p->set;
}

/* The fast path must send the M_Key, because switches do not answer packets without it.  If Sets
 * get no answer, the repair must not be reported as done, and a sweep must follow. */
START_TEST(test_m_key)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.m_key = _i ? 0 : cl_hton64(0x1234), .m_key_lookup = _i
	});
	ftr_sw s = fake_leaf(h, 4);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_check_repaired(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	fake_set_fate(h, no_sets, NULL);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	ck_assert_uint_eq(fake_logged(h, "NOT acknowledged"), 1);
	ck_assert_uint_gt(fake_marked(h), 0);
	fake_set_fate(h, NULL, NULL);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

static struct {
	ib_mad_notice_attr_t notice;
	bool sweep_on_trap;
} handled;

static void record_trap(void *context, void *data)
{
	const struct fake *h = context;
	const ib_smp_t *smp = osm_madw_get_smp_ptr((osm_madw_t *)data);

	memcpy(&handled.notice, smp->data, sizeof(handled.notice));
	handled.sweep_on_trap = h->osm->subn.opt.sweep_on_trap;
	fake_trap_process(context, data);
}

/* OpenSM gets traps other than 128 unchanged.  The option "sweep_on_trap" keeps its value. */
START_TEST(test_other_traps)
{
	static const struct {
		unsigned int number;
		bool sweep;
	} trap[] = {
		{ 129, false }, { 130, false }, { 131, false }, { 144, true },
	};
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 4);

	h->fast->hook.original = record_trap;
	fake_trap(h, s, trap[_i].number);
	fake_settle(h);
	ck_assert_uint_eq(cl_ntoh16(handled.notice.g_or_v.generic.trap_num), trap[_i].number);
	ck_assert_uint_eq(cl_ntoh16(handled.notice.issuer_lid), h->fab->sw[s].lid);
	ck_assert(handled.sweep_on_trap);
	pthread_mutex_lock(&h->mutex);
	ck_assert_uint_eq(h->signals, 1);
	pthread_mutex_unlock(&h->mutex);
	ck_assert_int_eq(fake_sweep_wanted(h), trap[_i].sweep);
	ck_assert(h->osm->subn.opt.sweep_on_trap);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 0);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* The fast path handles trap 128.  OpenSM receives this trap too, but must not sweep because of
 * it.  Other traps have their usual effect. */
START_TEST(test_mixed_traps)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	ftr_sw s = fake_leaf(h, 4);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert(!fake_sweep_wanted(h));
	fake_check_healed(h);
	ck_assert(h->osm->subn.opt.sweep_on_trap);
	for (unsigned int i = 0; i < 20; i++) {
		fake_trap(h, fake_leaf(h, i % 8), 128);
		fake_trap(h, fake_leaf(h, i % 8), i == 13 ? 144 : 130);
	}
	fake_settle(h);
	ck_assert(fake_sweep_wanted(h));
	ck_assert(h->osm->subn.opt.sweep_on_trap);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* A switch has joined after the last sweep, and its LID is greater than all that the fast path knows: its
 * trap asks no switch, and leads to a sweep. */
static void count_packets(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	atomic_uint *n = ctx;

	(void)fate;
	atomic_fetch_add(n, p->plugin);
}

START_TEST(test_trap_of_new_switch)
{
	struct fake *h = fake_new(NULL);
	struct ftr_switch *s = (void *)(uintptr_t)&h->fab->sw[fake_leaf(h, 4)];
	ftr_lid lid = s->lid;
	atomic_uint n = 0;

	fake_set_fate(h, count_packets, &n);
	s->lid = FTR_LID_MAX;
	fake_trap(h, fake_leaf(h, 4), 128);
	s->lid = lid;
	fake_settle(h);
	ck_assert_uint_eq(atomic_load(&n), 0);
	ck_assert(fake_wait_wanted(h));
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* rescan() is a trap handler that also changes sweep_on_trap, as if opensm.conf were read again at
 * that time. */
static struct fake *rescanning;

static void rescan(void *context, void *data)
{
	osm_subn_opt_t *opt = &rescanning->osm->subn.opt;

	opt->sweep_on_trap = opt->file_opts->sweep_on_trap =
		!opt->file_opts->sweep_on_trap;
	fake_trap_process(context, data);
}

/* The administrator changes sweep_on_trap while the fast path handles a trap.  The new value must
 * stay. */
START_TEST(test_option_changes)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.no_sweep_on_trap = _i,
		.options = "fast_sweep_delay_ms 60000\nfast_sweep_cap_ms 60000\n"
	});
	osm_subn_opt_t file = h->osm->subn.opt;
	ftr_sw s = fake_leaf(h, 4);

	h->osm->subn.opt.file_opts = &file;
	rescanning = h;
	h->fast->hook.original = rescan;
	fake_trap(h, s, SM_LINK_STATE_CHANGED_TRAP);
	fake_settle(h);
	ck_assert_int_eq(file.sweep_on_trap, _i);
	ck_assert_int_eq(h->osm->subn.opt.sweep_on_trap, _i);
	h->fast->hook.original = fake_trap_process;
	fake_trap(h, s, SM_LINK_STATE_CHANGED_TRAP);
	fake_settle(h);
	ck_assert_int_eq(h->osm->subn.opt.sweep_on_trap, _i);
	h->osm->subn.opt.file_opts = NULL;
	fake_free(h);
}
END_TEST

START_TEST(test_no_sweep_on_trap)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.no_sweep_on_trap = true
	});
	ftr_sw s = fake_leaf(h, 4);

	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 1);
	ck_assert(!h->osm->subn.opt.sweep_on_trap);
	fake_trap(h, s, 144);
	fake_settle(h);
	ck_assert(!fake_sweep_wanted(h));
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast");
	TCase *t = tcase_create("repairs");

	tcase_add_test(t, test_up);
	tcase_add_test(t, test_off);
	tcase_add_test(t, test_one_link);
	tcase_add_loop_test(t, test_one_end, 0, 2);
	tcase_add_test(t, test_both_ends);
	tcase_add_test(t, test_spine);
	tcase_add_test(t, test_spine_at_once);
	tcase_add_loop_test(t, test_spine_one_trap, 0, 5);
	tcase_add_test(t, test_silent_spine);
	tcase_add_test(t, test_leaf_cut_off);
	tcase_add_test(t, test_several);
	tcase_add_test(t, test_trunk);
	tcase_add_loop_test(t, test_own_uplink, 0, 2);
	tcase_add_test(t, test_unknown_dead);
	tcase_add_loop_test(t, test_engines, 0, 2);
	tcase_add_loop_test(t, test_m_key, 0, 2);
	tcase_add_loop_test(t, test_other_traps, 0, 4);
	tcase_add_test(t, test_mixed_traps);
	tcase_add_test(t, test_trap_of_new_switch);
	tcase_add_loop_test(t, test_option_changes, 0, 2);
	tcase_add_test(t, test_no_sweep_on_trap);
	suite_add_tcase(s, t);
	return run_suite(s);
}
