/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Part of test_transition.c: switches that fall silent during a routing.
 */
#ifndef FTR_TEST_DEAF_H
#define FTR_TEST_DEAF_H

#include "fake/opensm.h"

/* Two switches, or the same twice, that answer nothing any more when a routing has written `left` more
 * blocks.  They answer OpenSM itself. */
struct deaf {
	ftr_sw sw[2];
	uint32_t left;
	bool carries_out, routing;
	/* of the fake before: is also called */
	void (*moment)(void *ctx, struct fake *h, enum fake_moment m);
	void *moment_ctx;
};

static void is_deaf(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct deaf *x = ctx;

	if (!x->routing || !p->plugin)
		return;
	if (p->set && x->left && !p->copy)
		x->left--;
	else if (!x->left && (p->to == x->sw[0] || p->to == x->sw[1])) {
		fate->lose_request = !x->carries_out || !p->set;
		fate->lose_answer = true;
	}
}

static void note_routing(void *ctx, struct fake *h, enum fake_moment m)
{
	struct deaf *x = ctx;

	fake_lock(h);
	x->routing = m == FAKE_LOCKED;
	fake_unlock(h);
	if (x->moment)
		x->moment(x->moment_ctx, h, m);
}

static void deafen(struct deaf *x, struct fake *h, struct ftr_rng *r, bool two)
{
	uint32_t n = h->fab->n_sw;

	x->sw[0] = ftr_rng_below(r, n);
	x->left = ftr_rng_below(r, 32);
	x->carries_out = ftr_rng_below(r, 2);
	x->routing = false;
	x->sw[1] = two ? (x->sw[0] + 1 + x->left) % n : x->sw[0];
	x->moment = h->moment;
	x->moment_ctx = h->moment_ctx;
	h->moment = note_routing;
	h->moment_ctx = x;
	fake_set_fate(h, is_deaf, x);
}

static void hear_again(const struct deaf *x, struct fake *h)
{
	fake_release(h);
	h->moment = x->moment;
	h->moment_ctx = x->moment_ctx;
}

#endif
