// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests that OpenSM can end at any moment of a repair or a sweep.  Another test makes long runs of
 * random link changes, in which OpenSM sweeps by itself.  FTR_SEED=N begins with seed N; FTR_RUNS
 * multiplies the number of events in a long run.
 */
#include <check.h>
#include <stdlib.h>

#include "fake/opensm.h"
#include "lib/at_rest.h"
#include "lib/suite.h"
#include "lib/trees.h"

struct dice {
	struct ftr_rng rng;
	unsigned int percent;
	double slow_ms;
	atomic_uint n;
};

static void some_luck(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct dice *d = ctx;

	fate->delay_ms = ftr_rng_below(&d->rng, 100) / 100. * d->slow_ms;
	if (!p->plugin)
		return;
	atomic_fetch_add(&d->n, 1);
	if (ftr_rng_below(&d->rng, 100) >= d->percent)
		return;
	fate->lose_request = ftr_rng_below(&d->rng, 2);
	fate->lose_answer = !fate->lose_request;
	fate->to_host = ftr_rng_below(&d->rng, 3) == 0;
}

static void any_link(struct fake *h, struct ftr_rng *r, bool up)
{
	ftr_sw s;

	do {
		s = ftr_rng_below(r, h->fab->n_sw);
	} while (h->sh->tree.rank[s] == h->sh->tree.n_ranks - 1);
	fake_link(h, s, fake_uplink(h, s, ftr_rng_below(r, 2)), up);
}

/* Request a heavy sweep, as OpenSM does when a light sweep finds a change that no trap reported. */
static void light_sweep(struct fake *h)
{
	__atomic_store_n(&h->osm->subn.force_heavy_sweep, TRUE,
			 __ATOMIC_RELAXED);
	osm_sm_signal(&h->osm->sm, OSM_SIGNAL_SWEEP);
}

/* ---- OpenSM ends --------------------------------------------------------- */

static bool is_over(struct fake *h, unsigned int reported)
{
	bool is;

	pthread_mutex_lock(&h->mutex);
	is = h->reported > reported;
	pthread_mutex_unlock(&h->mutex);
	pthread_mutex_lock(&h->fast->rr.mutex);
	is = is && at_rest(&h->fast->rr.state);
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return is;
}

/* OpenSM ends when the plugin has sent the number of packets in after[].  If the repair needs fewer
 * packets or is abandoned, OpenSM ends after the repair.  Every block in which OpenSM's copy of the
 * tables differs from the switch must be marked for the next sweep. */
START_TEST(test_end_in_repair)
{
	static const unsigned int after[] = { 0, 1, 5, 12, 20, 30, 45, 70 };
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 50\n"
	});
	struct dice d = { .percent = _i & 8 ? 50 : 0, .slow_ms = 3 };
	unsigned int reported = h->reported;
	ftr_sw s = fake_leaf(h, 3);

	ftr_rng_seed(&d.rng, trees_first_seed() + (uint64_t)_i);
	fake_set_fate(h, some_luck, &d);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(atomic_load(&d.n) >= after[_i & 7] || is_over(h, reported));
	if (!d.percent && after[_i & 7] <= 20)	/* every repair needs at least 20 packets */
		ck_assert_uint_ge(atomic_load(&d.n), after[_i & 7]);
	fake_unload(h);
	fake_check_copy(h);
	fake_free(h);
}
END_TEST

/* OpenSM ends at the moment `when` of a sweep. */
struct leaving {
	struct ftr_rng rng;
	enum fake_moment when;
	atomic_bool there;
	uint32_t sweeps;	/* number of sweeps that had ended at that moment */
};

static void leave(void *ctx, struct fake *h, enum fake_moment m)
{
	struct leaving *l = ctx;

	if (m <= FAKE_DISCOVERED)
		any_link(h, &l->rng, false);
	if (m != l->when || atomic_load(&l->there))
		return;
	l->sweeps = h->n_sweeps;
	atomic_store(&l->there, true);
	/* OpenSM gets the signal to end during the sweep */
	fake_until(__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED));
}

START_TEST(test_end_in_sweep)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 50\nfast_sweep_delay_ms 0\n"
	});
	struct dice d = { .percent = 20, .slow_ms = 2 };
	struct leaving l = { .when = (enum fake_moment)_i };
	double now;

	ftr_rng_seed(&d.rng, trees_first_seed() + (uint64_t)_i);
	ftr_rng_seed(&l.rng, trees_first_seed() * 100 + (uint64_t)_i);
	fake_set_fate(h, some_luck, &d);
	h->moment = leave;
	h->moment_ctx = &l;
	fake_link(h, fake_leaf(h, 3), fake_uplink(h, fake_leaf(h, 3), 0),
		  false);
	fake_until(atomic_load(&d.n) >= 3);
	light_sweep(h);		/* the sweep begins in the middle of the repair */
	fake_auto_sweep(h);
	fake_until(atomic_load(&l.there));
	now = ibf_now_ms();
	fake_unload(h);
	/* the plugin waits for the answers to its packets (4 tries of 50 ms), not for the sweep */
	ck_assert_double_lt(ibf_now_ms() - now, 2000);
	ck_assert_uint_eq(h->n_sweeps, l.sweeps + (l.when >= FAKE_ROUTED));
	fake_check_copy(h);
	if (l.when < FAKE_LOCKED)	/* later OpenSM writes tables, in arbitrary order */
		fake_check_sound(h);
	fake_free(h);
}
END_TEST

/* OpenSM ends before the subnet was up.  The plugin must not crash or hang. */
START_TEST(test_end_at_once)
{
	struct fake *h = fake_new(&(struct fake_opts){ .not_up = true });

	fake_trap(h, 0, 128);
	fake_free(h);
}
END_TEST

/* ---- long runs ----------------------------------------------------------- */

static void repair_all(struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			bool down;

			if (ftr_fabric_port(h->fab, s, (ftr_port)p)->peer_kind
			    != FTR_PEER_SW)
				continue;
			fake_lock(h);
			down = h->link[h->fab->sw[s].first_port + p] ==
				IB_LINK_DOWN;
			fake_unlock(h);
			if (down)
				fake_link(h, s, (ftr_port)p, true);
		}
}

static void check_at_rest(struct fake *h)
{
	fake_rest(h);
	/* if OpenSM has lost packets, it sweeps again when sweep_interval is over */
	while (__atomic_load_n(&h->osm->subn.subnet_initialization_error,
			       __ATOMIC_RELAXED)) {
		light_sweep(h);
		fake_rest(h);
	}
	fake_check_healed(h);
	fake_check_copy(h);
	fake_check_counters(h);
}

/* Links fail and come up at random; some packets are lost, and OpenSM makes every requested sweep.
 * The tables are checked whenever the plugin is idle, and at the end, when all links work again. */
START_TEST(test_soak)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 40\nfast_sweep_delay_ms 3\nfast_sweep_cap_ms 30\nfast_flap_limit 4\nfast_flap_hold_ms 100\n"
	});
	uint64_t seed = trees_first_seed() + (uint64_t)_i;
	struct dice d = { .percent = 2 * (unsigned int)(_i % 3),
			  .slow_ms = 0.5 };
	struct ftr_rng r;

	printf("seed %llu\n", (unsigned long long)seed);
	ftr_rng_seed(&d.rng, seed);
	ftr_rng_seed(&r, seed + 1000);
	fake_set_fate(h, some_luck, &d);
	fake_auto_sweep(h);
	for (unsigned int i = 0; i < trees_runs(40); i++) {
		any_link(h, &r, ftr_rng_below(&r, 3) == 0);
		if (ftr_rng_below(&r, 8) == 0)
			fake_settle(h);
		if (ftr_rng_below(&r, 12) == 0) {
			light_sweep(h);
			check_at_rest(h);
		}
	}
	fake_set_fate(h, NULL, NULL);
	repair_all(h);
	light_sweep(h);
	check_at_rest(h);
	fake_wait_released(h);
	light_sweep(h);
	check_at_rest(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_end");
	TCase *t = tcase_create("end");

	tcase_add_loop_test(t, test_end_in_repair, 0, 16);
	tcase_add_loop_test(t, test_end_in_sweep, 0, FAKE_N_MOMENTS);
	tcase_add_test(t, test_end_at_once);
	tcase_add_loop_test(t, test_soak, 0, 6);
	suite_add_tcase(s, t);
	return run_suite(s);
}
