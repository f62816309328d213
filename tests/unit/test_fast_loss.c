// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path (the plugin's repair of tables before OpenSM sweeps) when packets are lost,
 * late, duplicated or reordered.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define QUICK "fast_timeout_ms 20\n"

struct loss {
	bool sets, gets;	/* whether the plugin's Sets are affected, and its Gets */
	ftr_sw to;		/* only packets to this switch; FTR_SW_NONE: to all */
	unsigned int every;	/* only every n-th of these packets; 0 or 1: all */
	bool first_copy;	/* only the first transmission of a packet, not its retries */
	struct fake_fate fate;
	double spread_ms;	/* not 0: the answers to 16 consecutive packets arrive in reverse
				 * order, this many ms apart */
};

static void lossy(void *ctx, const struct fake_packet *p,
		  struct fake_fate *fate)
{
	const struct loss *l = ctx;

	if (!p->plugin || !(p->set ? l->sets : l->gets) ||
	    (l->to != FTR_SW_NONE && l->to != p->to) ||
	    (l->every && p->number % l->every) || (l->first_copy && p->copy))
		return;
	*fate = l->fate;
	if (l->spread_ms > 0)
		fate->back_ms = l->spread_ms * (16 - p->number % 16);
}

/* Check that sweeps write the lost blocks again and that one more sweep changes nothing.  Returns
 * the number of blocks that the sweeps wrote. */
static uint32_t check_after(struct fake *h)
{
	uint32_t written = 0;

	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
	fake_check_copy(h);
	fake_check_counters(h);
	ck_assert(fake_wait_wanted(h));
	while (fake_sweep_wanted(h)) {
		ck_assert(fake_sweep(h));
		written += h->changed_blocks;
		fake_settle(h);
	}
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_check_quiet_sweep(h);
	fake_check_counters(h);
	return written;
}

/* ---- lost packets that are sent again ------------------------------------ */

static const struct loss harmless[] = {
	/* the first transmission or its answer is lost */
	{ .sets = true, .every = 3, .to = FTR_SW_NONE, .first_copy = true,
	  .fate.lose_request = true },
	{ .sets = true, .every = 2, .to = FTR_SW_NONE, .first_copy = true,
	  .fate.lose_answer = true },
	{ .gets = true, .every = 2, .to = FTR_SW_NONE, .first_copy = true,
	  .fate.lose_request = true },
	/* the answer comes after the request was sent again */
	{ .sets = true, .every = 4, .to = FTR_SW_NONE, .fate.back_ms = 30 },
	{ .gets = true, .every = 4, .to = FTR_SW_NONE, .fate.back_ms = 30 },
	/* duplicated */
	{ .sets = true, .gets = true, .to = FTR_SW_NONE, .fate.copies = 2 },
	/* in reverse order */
	{ .sets = true, .gets = true, .to = FTR_SW_NONE, .spread_ms = 0.3 },
};

START_TEST(test_harmless)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = _i < 5 ? "fast_timeout_ms 25\n" : NULL
	});
	struct loss l = harmless[_i];
	ftr_sw s = fake_leaf(h, 3);

	fake_set_fate(h, lossy, &l);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	if (_i >= 5) {
		fake_check_healed(h);
		fake_check_copy_clean(h);
		ck_assert_uint_eq(fake_logged(h, "NOT acknowledged"), 0);
	}
	check_after(h);
	ck_assert_uint_eq(fake_logged(h, "fast reroute 1:"), 1);
	fake_free(h);
}
END_TEST

/* ---- Sets are lost ------------------------------------------------------- */

/* Returns the number of blocks that OpenSM's next sweep must write: blocks of switch `only`, or of
 * all switches if `only` is FTR_SW_NONE. */
static uint32_t marked_blocks(struct fake *h, ftr_sw only)
{
	uint32_t n = 0;

	CL_PLOCK_ACQUIRE(&h->osm->lock);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (size_t at = 0; at < h->osw[s]->lft_size;
		     at += FTR_LFT_BLOCK)
			n += (only == FTR_SW_NONE || s == only) &&
				memcmp(h->osw[s]->lft + at,
				       h->osw[s]->new_lft + at, FTR_LFT_BLOCK);
	CL_PLOCK_RELEASE(&h->osm->lock);
	return n;
}

static const struct loss lost_sets[] = {
	{ .sets = true, .to = FTR_SW_NONE, .fate.lose_request = true },
	{ .sets = true, .to = FTR_SW_NONE, .fate.lose_answer = true },
	{ .sets = true, .to = FTR_SW_NONE, .fate.status = 0x1c },
	{ .sets = true, .to = FTR_SW_NONE, .fate.refuse = true },
	{ .sets = true, .to = FTR_SW_NONE,
	  .fate = { .lose_request = true, .to_host = true } },
	/* only Sets to one leaf, which the test stores in .to */
	{ .sets = true, .fate.lose_request = true },
	{ .sets = true, .fate.status = 0x04 },
	{ .sets = true, .fate = { .lose_answer = true, .to_host = true } },
};

START_TEST(test_lost_sets)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = QUICK });
	struct loss l = lost_sets[_i];
	ftr_sw s = fake_leaf(h, 3);
	uint32_t n;

	if (_i >= 5)
		l.to = fake_leaf(h, 6);
	fake_set_fate(h, lossy, &l);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "NOT acknowledged"), 1);
	n = marked_blocks(h, FTR_SW_NONE);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(n, marked_blocks(h, l.to));
	ck_assert_uint_eq(check_after(h), n);
	fake_free(h);
}
END_TEST

/* All answers of one switch to Sets are lost.  The next sweep must write the blocks of this switch
 * again, and no others. */
START_TEST(test_doubtful_blocks_only)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 200\n"
	});
	ftr_sw s = fake_leaf(h, 3), mute = fake_leaf(h, 6);
	struct loss l = { .sets = true, .to = mute,
			  .fate.lose_answer = true };
	uint32_t n;

	fake_set_fate(h, lossy, &l);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	n = marked_blocks(h, FTR_SW_NONE);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(n, marked_blocks(h, mute));
	fake_set_fate(h, NULL, NULL);
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(h->changed_blocks, n);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	fake_free(h);
}
END_TEST

/* ---- Gets are lost ------------------------------------------------------- */

static const struct loss lost_gets[] = {
	{ .gets = true, .to = FTR_SW_NONE, .fate.lose_request = true },
	{ .gets = true, .to = FTR_SW_NONE, .fate.lose_answer = true },
	{ .gets = true, .to = FTR_SW_NONE, .fate.status = 0x1c },
	{ .gets = true, .to = FTR_SW_NONE, .fate.refuse = true },
	{ .gets = true, .to = FTR_SW_NONE,
	  .fate = { .lose_answer = true, .to_host = true } },
};

/* The plugin cannot read the states of the ports.  It must write nothing; a sweep must follow. */
START_TEST(test_lost_gets)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = QUICK "transition plain\n" });
	struct loss l = lost_gets[_i];
	ftr_sw s = fake_leaf(h, 3);
	uint32_t before = fake_count_sets(h);

	fake_set_fate(h, lossy, &l);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "fast reroute 1:"), 0);
	ck_assert_uint_eq(fake_count_sets(h), before);
	ck_assert_uint_gt(check_after(h), 0);
	fake_free(h);
}
END_TEST

/* ---- a switch that never answers ----------------------------------------- */

static void silence(struct fake *h, ftr_sw s, bool silent)
{
	fake_lock(h);
	h->sw[s].silent = silent;
	fake_unlock(h);
}

/* A link fails while one switch does not answer: in case 0 a switch at the link, in case 1 another
 * switch.  The next sweep must write every block in which a switch differs from OpenSM's copy of
 * the tables. */
START_TEST(test_silent)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = QUICK });
	ftr_sw s = fake_leaf(h, 3), mute = _i ? fake_leaf(h, 6) : s;

	silence(h, mute, true);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	fake_check_copy(h);
	fake_check_counters(h);
	silence(h, mute, false);
	check_after(h);
	fake_free(h);
}
END_TEST

/* A spine dies.  A leaf answers, but not for its port to this spine: it is asked again for this port when the
 * spine is found to be dead. */
struct one_port {
	ftr_sw sw;
	ftr_port port;
	unsigned int n;		/* number of Gets of this port, without copies */
};

static void lose_port(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct one_port *l = ctx;

	if (!p->plugin || p->set || p->to != l->sw || p->mod != l->port)
		return;
	l->n += !p->copy;
	fate->lose_request = l->n <= 2;
}

START_TEST(test_lost_port)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	struct one_port l = { .sw = fake_leaf(h, 2) };

	l.port = fake_uplink(h, l.sw, 1);
	fake_set_fate(h, lose_port, &l);
	fake_switch(h, fake_spine(h, 1), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "(4 down, 0 up)"), 1);
	fake_check_healed(h);
	check_after(h);
	fake_free(h);
}
END_TEST

/* ---- packets are lost while OpenSM waits for answers --------------------- */

/* OpenSM's own Sets; guarded by the wire's mutex (tests/fake/wire.c) */
struct own_sets {
	uint32_t n;
	double first, answered;	/* times of OpenSM's first Set and of the last answer to a Set */
	double lost;		/* time of the plugin's first lost packet; 0: none was lost */
};

/* The plugin sends an unanswered packet twice, and waits 5 ms each time.  OpenSM waits 20 ms. */
#define ERROR_OPTIONS "fast_timeout_ms 5\ntransition plain\n"
#define ERROR_MS 10

/* A link fails in a sweep, and packets of the plugin are lost while OpenSM waits for answers to its
 * own packets.  OpenSM's error handler receives the lost packets.  The sweep must not hang, and
 * must not go on before OpenSM's last Set is answered. */
static void in_sweep(void *ctx, struct fake *h, enum fake_moment m)
{
	const struct own_sets *own = ctx;
	ftr_sw s = fake_leaf(h, 5);

	if (h->n_sweeps > 1)
		return;
	if (m == FAKE_DISCOVERED)
		fake_link(h, s, fake_uplink(h, s, 1), false);
	if (m != FAKE_ROUTED)
		return;
	fake_lock(h);
	ck_assert_double_gt(own->lost, 0);
	ck_assert_double_gt(own->lost + ERROR_MS, own->first);
	ck_assert_double_lt(own->lost + ERROR_MS, own->answered);
	ck_assert_double_ge(ibf_now_ms(), own->answered);
	fake_unlock(h);
}

static void lose_half(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct own_sets *own = ctx;

	fate->lose_request = p->plugin && p->number % 2;
	fate->to_host = true;
	if (fate->lose_request && own->lost <= 0)
		own->lost = ibf_now_ms();
	if (p->plugin || !p->set)
		return;
	fate->back_ms = ERROR_MS + 0.3 * ++own->n;
	if (own->n == 1)
		own->first = ibf_now_ms();
	own->answered = ibf_now_ms() + fate->back_ms;
}

static bool has_lost(struct fake *h, const struct own_sets *own)
{
	bool has;

	fake_lock(h);
	has = own->lost > 0;
	fake_unlock(h);
	return has;
}

START_TEST(test_error_path)
{
	struct fake *h = fake_new(&(struct fake_opts){ .options = ERROR_OPTIONS });
	struct own_sets own = { 0 };
	ftr_sw s = fake_leaf(h, 2);

	fake_set_fate(h, lose_half, &own);
	h->moment = in_sweep;
	h->moment_ctx = &own;
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(has_lost(h, &own));
	ck_assert(fake_sweep(h));
	check_after(h);
	fake_free(h);
}
END_TEST

/* ---- an old Set is carried out after a newer one -------------------------- */

struct stale {
	bool known;
	uint32_t number;
};

static void delay_one(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct stale *st = ctx;

	if (!p->plugin || !p->set || (st->known && p->number != st->number))
		return;
	st->known = true;
	st->number = p->number;
	fate->delay_ms = 120;	/* carried out long after the plugin stopped waiting */
}

/* The plugin stops waiting for the answer to a Set, and sends a second Set of the same block.  The
 * switch carries out the first Set after the second one, and so holds old entries.  The next sweep
 * must write every block that was sent more than once. */
START_TEST(test_stale_set)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 50\nfast_sweep_delay_ms 400\nfast_sweep_cap_ms 2000\n"
	});
	struct stale st = { 0 };
	ftr_sw s = fake_leaf(h, 3);

	fake_set_fate(h, delay_one, &st);
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_until(fake_logged(h, "fast reroute 1:"));
	fake_link(h, fake_leaf(h, 5), fake_uplink(h, fake_leaf(h, 5), 0),
		  false);
	fake_settle(h);
	fake_check_copy(h);
	check_after(h);
	fake_free(h);
}
END_TEST

struct slow_switch {
	ftr_sw sw;
	bool slow;
	unsigned int sets;	/* number of Sets delayed so far */
};

static void delay_to_one(void *ctx, const struct fake_packet *p,
			 struct fake_fate *fate)
{
	struct slow_switch *s = ctx;

	if (!s->slow || !p->plugin || p->to != s->sw)
		return;
	fate->lose_request = !p->set;
	fate->delay_ms = p->set ? 300 : 0;
	s->sets += p->set;
}

/* A Set is carried out too late.  Its switch did not answer when one of its links failed, so the
 * repair did not wait for this switch. */
START_TEST(test_stale_set_of_silent)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "3;4,4,4;1,4,4;1,1,1",
		.options = "fast_timeout_ms 1000\nfast_sweep_delay_ms 1500\nfast_sweep_cap_ms 2000\n"
	});
	struct slow_switch slow = { .sw = fake_leaf(h, 3), .slow = true };
	ftr_port p = fake_uplink(h, slow.sw, 0);

	fake_set_fate(h, delay_to_one, &slow);
	fake_link_quietly(h, slow.sw, p, false);
	fake_trap(h, ftr_fabric_port(h->fab, slow.sw, p)->peer, 128);
	fake_until(fake_logged(h, "fast reroute 1:"));
	fake_lock(h);
	ck_assert_uint_gt(slow.sets, 0);
	slow.slow = false;
	fake_unlock(h);
	fake_link(h, slow.sw, fake_uplink(h, slow.sw, 3), false);
	fake_settle(h);
	fake_check_copy(h);
	check_after(h);
	fake_free(h);
}
END_TEST

struct resent {
	ftr_sw sw;
	double first, last;	/* times of the first and the last Set; negative: none */
};

static void note_sets(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct resent *r = ctx;

	(void)fate;
	if (!p->plugin || !p->set || p->to != r->sw)
		return;
	r->last = fake_time();
	if (r->first < 0)
		r->first = r->last;
}

/* A switch that does not answer has lost a link.  The repair waits for it for 10 ms only.  OpenSM's
 * transport must not send the Set again later: the switch might answer again by then, and hold the
 * tables of the next sweep (found by tests/order). */
START_TEST(test_no_set_after_wait)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "3;4,4,4;1,4,4;1,1,1", .options = "fast_timeout_ms 1000\n"
	});
	struct resent r = { .sw = fake_leaf(h, 3), .first = -1, .last = -1 };
	ftr_port p = fake_uplink(h, r.sw, 0);

	fake_set_fate(h, note_sets, &r);
	h->sw[r.sw].silent = true;
	fake_link_quietly(h, r.sw, p, false);
	fake_trap(h, ftr_fabric_port(h->fab, r.sw, p)->peer, 128);
	fake_settle(h);
	fake_lock(h);
	ck_assert(r.first >= 0);
	ck_assert_msg(r.last < r.first + 10, "a Set was sent again after %.3f ms", r.last - r.first);
	h->sw[r.sw].silent = false;
	fake_unlock(h);
	check_after(h);
	fake_free(h);
}
END_TEST

static void late_from_opensm(void *ctx, const struct fake_packet *p,
			     struct fake_fate *fate)
{
	const struct slow_switch *s = ctx;

	if (p->plugin || p->to != s->sw)
		return;
	fate->lose_request = p->copy;
	fate->delay_ms = 300;
	fate->lose_answer = true;
}

/* A Set of OpenSM is carried out after a repair, long after OpenSM gave it up.  Sweeps must
 * restore correct tables. */
START_TEST(test_stale_set_of_opensm)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = fake_leaf(h, 3);
	struct slow_switch slow = { .sw = s };

	fake_link_quietly(h, s, fake_uplink(h, s, 0), false);
	fake_set_fate(h, late_from_opensm, &slow);
	ck_assert(fake_sweep(h));
	ck_assert(h->osm->subn.subnet_initialization_error);
	s = fake_leaf(h, 5);
	fake_link(h, s, fake_uplink(h, s, 1), false);
	fake_settle(h);		/* waits for the late packets, too */
	ck_assert_uint_gt(fake_logged(h, "fast reroute 1:"), 0);
	fake_check_copy(h);
	check_after(h);
	fake_free(h);
}
END_TEST

/* ---- packets are lost, delayed and duplicated at random ------------------- */

struct dice {
	struct ftr_rng rng;
	unsigned int percent;
};

static void at_random(void *ctx, const struct fake_packet *p,
		      struct fake_fate *fate)
{
	struct dice *d = ctx;

	if (!p->plugin || ftr_rng_below(&d->rng, 100) >= d->percent)
		return;
	switch (ftr_rng_below(&d->rng, 6)) {
	case 0:
		fate->lose_request = true;
		break;
	case 1:
		fate->lose_answer = true;
		fate->to_host = ftr_rng_below(&d->rng, 2);
		break;
	case 2:
		fate->status = 0x1c;
		break;
	case 3:
		fate->copies = 1 + ftr_rng_below(&d->rng, 2);
		break;
	case 4:
		fate->back_ms = ftr_rng_below(&d->rng, 40);
		break;
	default:
		fate->refuse = true;
	}
}

START_TEST(test_random)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.options = "fast_timeout_ms 15\n"
	});
	struct dice d = { .percent = 10 + 8 * (unsigned int)(_i % 10) };
	struct ftr_rng r;

	ftr_rng_seed(&d.rng, (uint64_t)_i);
	ftr_rng_seed(&r, (uint64_t)_i + 1000);
	fake_set_fate(h, at_random, &d);
	for (unsigned int i = 0; i < 3; i++) {
		ftr_sw s = ftr_rng_below(&r, h->fab->n_sw);
		bool up;

		if (h->sh->tree.rank[s] == h->sh->tree.n_ranks - 1)
			continue;
		up = ftr_rng_below(&r, 3) == 0;
		fake_link(h, s, fake_uplink(h, s, ftr_rng_below(&r, 2)), up);
		if (ftr_rng_below(&r, 2))
			fake_settle(h);
		fake_check_counters(h);
	}
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
	fake_check_copy(h);
	/* sweep at least once, even if nobody requested it */
	ck_assert(fake_sweep(h));
	fake_settle(h);
	while (fake_sweep_wanted(h)) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_check_quiet_sweep(h);
	fake_check_counters(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_loss");
	TCase *t = tcase_create("loss");

	tcase_add_loop_test(t, test_harmless, 0,
			    sizeof(harmless) / sizeof(harmless[0]));
	tcase_add_loop_test(t, test_lost_sets, 0,
			    sizeof(lost_sets) / sizeof(lost_sets[0]));
	tcase_add_test(t, test_doubtful_blocks_only);
	tcase_add_loop_test(t, test_lost_gets, 0,
			    sizeof(lost_gets) / sizeof(lost_gets[0]));
	tcase_add_loop_test(t, test_silent, 0, 2);
	tcase_add_test(t, test_lost_port);
	tcase_add_test(t, test_error_path);
	tcase_add_test(t, test_stale_set);
	tcase_add_test(t, test_stale_set_of_silent);
	tcase_add_test(t, test_stale_set_of_opensm);
	tcase_add_test(t, test_no_set_after_wait);
	tcase_add_loop_test(t, test_random, 0, (int)trees_runs(20));
	suite_add_tcase(s, t);
	return run_suite(s);
}
