// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how sftree chooses its root leaf (src/core/engine/root.c), on chassis and on random fabrics with
 * hosts on upper switches.  Every switch must reach every LID, and the channel dependencies must
 * have no cycle.  If all spines have hosts, the most loaded link must have hardly more flows with
 * sftree than with dmodc.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <stdio.h>

#include "lib/suite.h"
#include "lib/trees.h"
#include "prop/sftree_both.h"

#define SPINE(i) (UINT64_C(0x1000) + (i))
#define HOST(i) (UINT64_C(0x10000) + (i))

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

static uint32_t draw(struct ftr_rng *r, uint32_t low, uint32_t high)
{
	return low + (uint32_t)ftr_rng_below(r, high - low + 1);
}

struct making {
	struct ftr_builder *b;
	uint32_t hosts;
};

static void add_hosts(struct making *m, uint64_t guid, uint8_t *used,
		      uint32_t n)
{
	for (; n--; m->hosts++) {
		struct ftr_end x = { guid, ++*used };
		struct ftr_end y = { HOST(m->hosts), 1 };

		ok(ftr_builder_add_endport(m->b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = HOST(m->hosts),
			.guid = HOST(m->hosts) + 0x1000000, .port_num = 1, .name = "h",
		}, &err));
		ok(ftr_builder_add_link(m->b, x, y, 4, FTR_SPEED_EDR, &err));
	}
}

/* A fabric of spines with 3 to 8 hosts and leaves with 0 to 8 hosts.  The leaves have either the
 * smallest or the largest GUIDs. */
static struct ftr_fabric *hosts_on_spines(struct ftr_rng *r)
{
	uint32_t spines = draw(r, 2, 4), leaves = draw(r, 3, 10);
	uint64_t first = draw(r, 0, 1) ? 0x100 : 0x2000;
	uint8_t at_leaf[10] = { 0 }, at_spine[4] = { 0 };
	struct making m = { .b = ftr_builder_new() };
	struct ftr_fabric *f = NULL;

	ck_assert_ptr_nonnull(m.b);
	for (uint32_t c = 0; c < spines; c++)
		ok(ftr_builder_add_switch(m.b, &(struct ftr_switch){
			.guid = SPINE(c), .n_ports = 64, .name = "s",
		}, &err));
	for (uint32_t l = 0; l < leaves; l++) {
		ok(ftr_builder_add_switch(m.b, &(struct ftr_switch){
			.guid = first + l, .n_ports = 64, .name = "l",
		}, &err));
		for (uint32_t c = 0; c < spines; c++)
			for (uint32_t n = draw(r, 2, 3); n--;) {
				struct ftr_end x = { first + l, ++at_leaf[l] };
				struct ftr_end y = { SPINE(c), ++at_spine[c] };

				ok(ftr_builder_add_link(m.b, x, y, 4,
							FTR_SPEED_EDR, &err));
			}
	}
	for (uint32_t l = 0; l < leaves; l++)
		add_hosts(&m, first + l, &at_leaf[l], draw(r, 0, 8));
	for (uint32_t c = 0; c < spines; c++)
		add_hosts(&m, SPINE(c), &at_spine[c], draw(r, 3, 8));
	ok(ftr_builder_assign_lids(m.b, 0, &err));
	ok(ftr_builder_freeze(m.b, &f, &err));
	return f;
}

/* Route with the search at depth "load".  Returns (flows on the most loaded link) / (lower
 * bound). */
static double most_loaded(struct both *b, const char *engine)
{
	const struct ftr_route_opts opts = {
		.sm_switch = FTR_SW_NONE, .balance = FTR_BALANCE_LOAD,
	};
	struct ftr_tables *t = NULL;

	tables(b, engine, &opts, NULL, &t);
	ftr_tables_free(t);
	ck_assert_uint_gt(b->stats.balance.bound, 0);
	return (double)b->stats.balance.max_after / b->stats.balance.bound;
}

START_TEST(the_root_is_no_bottleneck)
{
	uint64_t seed = trees_first_seed();
	unsigned int n = trees_runs(300);
	double dmodc = 0, sftree = 0;

	for (unsigned int i = 0; i < n; i++, seed++) {
		struct both b = { 0 };
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		b.f = hosts_on_spines(&rng);
		route(&b, NULL, NULL);
		complete(&b, seed);
		acyclic(&b, seed);
		dmodc += most_loaded(&b, "dmodc");
		sftree += most_loaded(&b, "sftree");
		unroute(&b);
	}
	printf("hosts on spines: most loaded link / bound, mean of %u fabrics: dmodc %.3f, sftree %.3f\n",
	       n, dmodc / n, sftree / n);
	ck_assert_double_lt(sftree, dmodc * 1.05);
}
END_TEST

static struct ftr_fabric *make(struct ftr_rng *r, unsigned int kind)
{
	return kind == 0 ? hosts_on_spines(r) :
		kind == 1 ? trees_chassis(r) : trees_irregular(r);
}

START_TEST(damaged_fabrics)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(3000); i++, seed++) {
		struct both b = { 0 };
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		b.f = trees_damaged(make(&rng, i % 3), &rng, 60);
		route(&b, NULL, NULL);
		complete(&b, seed);
		acyclic(&b, seed);
		unroute(&b);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("root");
	TCase *t = tcase_create("root");

	tcase_add_test(t, the_root_is_no_bottleneck);
	tcase_add_test(t, damaged_fabrics);
	suite_add_tcase(s, t);
	return run_suite(s);
}
