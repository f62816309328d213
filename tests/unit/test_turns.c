// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the extra turns that dmodc admits because of faults, when some hosts have no up/down path.
 * The extra turns must not stay: when all links of the fabric work again, the tables must be those
 * before the faults.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define CUTS 3		/* number of links that fail */

static uint32_t n_repaired, n_more_turns;

static const struct ibf_generation *published(const struct fake *h)
{
	const struct ibf_plugin *p = h->plugin;

	return p->engine[0].gen;
}

static void sweep(struct fake *h)
{
	fake_settle(h);
	fake_sweep(h);
	fake_settle(h);
}

static uint8_t *tables(struct fake *h)
{
	uint32_t n = h->fab->max_lid + 1u;
	uint8_t *copy = malloc((size_t)h->fab->n_sw * n);

	ck_assert_ptr_nonnull(copy);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(copy + (size_t)s * n, h->sw[s].lft, n);
	return copy;
}

static bool any_link(struct fake *h, struct ftr_rng *r, ftr_sw *s, ftr_port *p)
{
	const struct ftr_fabric *f = h->fab;

	for (int i = 0; i < 10000; i++) {
		*s = ftr_rng_below(r, f->n_sw);
		*p = (ftr_port)(1 + ftr_rng_below(r, f->sw[*s].n_ports));
		if (ftr_fabric_port(f, *s, *p)->peer_kind == FTR_PEER_SW &&
		    h->link[f->sw[*s].first_port + *p] == IB_LINK_ACTIVE)
			return true;
	}
	return false;
}

static void fail_and_return(struct fake *h, struct ftr_rng *r, uint64_t seed)
{
	const struct ftr_fabric *f = h->fab;
	uint8_t *before = tables(h), *after;
	uint32_t turns = published(h)->opts.n_turns, n = 0;
	ftr_sw s[CUTS];
	ftr_port p[CUTS];
	bool more = false;

	for (; n < CUTS && any_link(h, r, &s[n], &p[n]); n++) {
		fake_link(h, s[n], p[n], false);
		sweep(h);
		more |= published(h)->opts.n_turns > turns;
	}
	while (n--) {
		fake_link(h, s[n], p[n], true);
		sweep(h);
	}
	if (h->fast)
		fake_wait_released(h);
	for (int i = 0; i < 3; i++)
		sweep(h);
	if (ibf_is_complete(published(h))) {
		after = tables(h);
		ck_assert_msg(!memcmp(before, after, (size_t)f->n_sw * (f->max_lid + 1u)),
			      "seed %" PRIu64 ": all links are back, but the tables have changed",
			      seed);
		free(after);
		n_repaired++;
		n_more_turns += more;
	}
	free(before);
}

static void run_fabric(uint64_t seed, const char *options)
{
	struct fake_opts o = { .options = options };
	struct ftr_rng r;
	struct fake *h;

	ftr_rng_seed(&r, seed);
	o.fabric = irregular_small(&r);
	h = fake_new(&o);
	if (published(h) && ibf_is_complete(published(h)))
		for (int i = 0; i < 2; i++)
			fail_and_return(h, &r, seed);
	fake_free(h);
}

START_TEST(same_tables_after_repair)
{
	static const char *const options[] = {
		"balance off\n", "balance load\n", "balance off\nfast_reroute off\n",
	};

	n_repaired = n_more_turns = 0;
	for (uint32_t i = 0; i < trees_runs(60); i++)
		run_fabric(trees_first_seed() + i, options[_i]);
	printf("%.11s: %u repaired fabrics, %u with more extra turns before the repair\n",
	       options[_i], n_repaired, n_more_turns);
	runs_show(n_more_turns > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turns");
	TCase *t = tcase_create("turns");

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_add_loop_test(t, same_tables_after_repair, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
