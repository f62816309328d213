// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin when allocations fail in a repair (also while packets are lost), when a link
 * returns, in a routing, or in the first routing by a new master subnet manager.  Either only
 * allocation n fails, or allocation n and all later ones.
 *
 * For every n the tables of the switches must have no loop, and the nominal fabric (all switches
 * and links seen so far) must keep its links.  The next sweep must write every block in which
 * OpenSM's copy of the tables differs from the switch.  After a refused repair, a second fault changes no
 * entry.  When memory is available again, sweeps must
 * lead to tables that connect all hosts.
 *
 * Of the allocations that are made by the same chain of calls (chains.h), the first fails alone, and
 * the last with all later ones.  By default the test tries all chains of a repair by dmodc and ddlr,
 * and some of the others; with FTR_SOAK=1, all.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "fake/opensm.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "unit/fast_plans.h"

#define SAMPLE 6

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

static struct fake *start(int engine)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .engine = engines[engine],
	});

	if (!strcmp(engines[engine], "ddlr"))
		wait_for_planner(h);
	return h;
}

static void cut_link(struct fake *h)
{
	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1),
		  false);
	fake_settle(h);
}

static void sweep(struct fake *h)
{
	fake_sweep(h);
	fake_settle(h);
}

static void lose_some(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const ftr_sw *deaf = ctx;

	fate->lose_request = p->plugin && (p->number % 4 == 1 || (p->set && p->to == *deaf));
}

/* A spine dies, packets are lost, and one switch gets no entries. */
static void cut_lossy(struct fake *h)
{
	ftr_sw deaf = fake_leaf(h, 1);

	fake_set_fate(h, lose_some, &deaf);
	fake_switch(h, fake_spine(h, 2), false);
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
}

static void restore(struct fake *h)
{
	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1), true);
	sweep(h);
}

/* Make the first sweep of a new master subnet manager, which reads the state files. */
static void take_over(struct fake *h)
{
	h->osm->subn.coming_out_of_standby = TRUE;
	sweep(h);
}

static void fail_from(unsigned long n, bool alone)
{
	if (alone)
		ftr_alloc_fail_once(n);
	else
		ftr_alloc_fail_at(n);
}

/* The number of allocations, whose chains are recorded. */
static unsigned long count(int engine, void (*what)(struct fake *h))
{
	struct fake *h = start(engine);
	unsigned long n;

	if (what != cut_link)
		cut_link(h);
	chains_begin(CHAINS_WHOLE);
	what(h);
	n = chains_end();
	fake_free(h);
	return n;
}

static void check_recovery(struct fake *h)
{
	for (int i = 0; i < 3; i++)
		sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(h->changed_entries, 0);
}

static uint32_t nominal_links(const struct fake *h)
{
	const struct ibf_plugin *p = h->plugin;

	return p->nominal->n->f->n_sw_links;
}

/* The repair was refused, so the view of the fabric still has the dead link.  Nothing is repaired after a
 * second fault, because new entries could lead over that link. */
static void check_second_fault(struct fake *h)
{
	size_t size = h->fab->max_lid + 1u;
	uint8_t *before = calloc(h->fab->n_sw, size);

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(before + s * size, h->sw[s].lft, size);
	fake_link(h, fake_leaf(h, 3), fake_uplink(h, fake_leaf(h, 3), 2), false);
	fake_settle(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		ck_assert(!memcmp(before + s * size, h->sw[s].lft, size));
	free(before);
}

static void one(int engine, void (*what)(struct fake *h), unsigned long n,
		bool alone)
{
	struct fake *h = start(engine);
	const uint32_t links = nominal_links(h);

	if (what != cut_link)
		cut_link(h);
	fail_from(n, alone);
	what(h);
	ftr_alloc_fail_at(0);
	fake_check_sound(h);
	fake_check_copy(h);
	if (what == cut_link && fake_logged(h, "no fast reroute; a sweep will repair"))
		check_second_fault(h);
	check_recovery(h);
	ck_assert_msg(nominal_links(h) == links,
		      "allocation %lu failed: the nominal fabric has %u links; it had %u before",
		      n, nominal_links(h), links);
	fake_free(h);
}

static void all(int engine, void (*what)(struct fake *h))
{
	unsigned long total = count(engine, what);
	const bool each = getenv("FTR_SOAK") || (what == cut_link && engine != 1);
	const unsigned long every = each ? 1 : chains_count() / SAMPLE + 1;

	ck_assert_uint_gt(total, 10);
	for (unsigned long n = 1; n <= total; n++) {
		if (chains_is_first(n, every))
			one(engine, what, n, true);
		if (chains_is_last(n, every))
			one(engine, what, n, false);
	}
}

START_TEST(in_repair)
{
	all(_i, cut_link);
}
END_TEST

START_TEST(in_repair_with_loss)
{
	all(_i, cut_lossy);
}
END_TEST

START_TEST(in_return)
{
	all(_i, restore);
}
END_TEST

START_TEST(in_routing)
{
	all(_i, sweep);
}
END_TEST

START_TEST(in_take_over)
{
	all(_i, take_over);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_memory");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, in_repair, 0, 3);
	tcase_add_loop_test(t, in_repair_with_loss, 0, 3);
	tcase_add_loop_test(t, in_return, 0, 3);
	tcase_add_loop_test(t, in_routing, 0, 3);
	tcase_add_loop_test(t, in_take_over, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
