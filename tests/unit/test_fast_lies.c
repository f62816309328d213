// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path with faulty switches.  Some of their answers contain random data, belong to
 * another request, or report errors.  Other answers come twice or late, or acknowledge a Set that
 * was not carried out.
 *
 * The plugin must not crash, hang, or keep OpenSM from ending.  When the switches work again,
 * sweeps must lead to sound and complete tables.  Tables with a falsely acknowledged Set are not
 * checked.  FTR_SEED=N begins with seed N.
 */
#include <check.h>
#include <stdlib.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "lib/trees.h"

struct liar {
	struct ftr_rng rng;
	unsigned int percent;
	bool ignore;		/* acknowledge some Sets without carrying them out */
	atomic_uint reported;
};

static void lie(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct liar *l = ctx;

	if (!p->plugin || ftr_rng_below(&l->rng, 100) >= l->percent)
		return;
	atomic_fetch_add(&l->reported, 1);
	switch (ftr_rng_below(&l->rng, l->ignore ? 6 : 5)) {
	case 0:
		fate->lie_header = true;
		/* fall through */
	case 1:
		fate->lie = (uint32_t)ftr_rng_next(&l->rng) | 1;
		break;
	case 2:
		fate->status = (uint16_t)ftr_rng_next(&l->rng) & 0x7fff;
		break;
	case 3:
		fate->copies = 1 + ftr_rng_below(&l->rng, 4);
		break;
	case 4:
		fate->back_ms = ftr_rng_below(&l->rng, 40);
		break;
	case 5:
		fate->ignore = p->set;
		break;
	}
}

static void any_link(struct fake *h, struct ftr_rng *r, bool up)
{
	ftr_sw s = fake_leaf(h, ftr_rng_below(r, 8));

	fake_link(h, s, fake_uplink(h, s, ftr_rng_below(r, 2)), up);
}

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

static void run_test_fast_lies(int i, bool ignore)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = engines[i % 3],
		.options = "fast_timeout_ms 10\nfast_flap_limit 0\n",
	});
	struct liar l = { .percent = 20 + 30 * (unsigned int)(i % 3),
			  .ignore = ignore };
	struct ftr_rng r;

	ftr_rng_seed(&r, trees_first_seed() + (uint64_t)i);
	ftr_rng_seed(&l.rng, trees_first_seed() + 1000 + (uint64_t)i);
	fake_set_fate(h, lie, &l);
	for (int k = 0; k < 12; k++) {
		any_link(h, &r, ftr_rng_below(&r, 3) == 0);
		if (ftr_rng_below(&r, 3) == 0)
			fake_settle(h);
		if (ftr_rng_below(&r, 4) == 0)
			fake_sweep(h);
	}
	fake_settle(h);
	ck_assert_uint_gt(atomic_load(&l.reported), 0);
	fake_set_fate(h, NULL, NULL);
	/* the plugin cannot detect that an acknowledged Set was not carried out */
	for (int k = 0; !ignore && k < 4; k++) {
		fake_sweep(h);
		fake_settle(h);
	}
	if (!ignore) {
		fake_check_healed(h);
		fake_check_copy_clean(h);
		ck_assert(fake_sweep(h));
		ck_assert_uint_eq(h->changed_entries, 0);
	}
	fake_free(h);
}

START_TEST(false_answers)
{
	run_test_fast_lies(_i, false);
}
END_TEST

START_TEST(false_acknowledgements)
{
	run_test_fast_lies(_i, true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_lies");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, false_answers, 0, 9);
	tcase_add_loop_test(t, false_acknowledgements, 0, 6);
	suite_add_tcase(s, t);
	return run_suite(s);
}
