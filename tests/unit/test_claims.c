// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests what the checker does with the claims of an engine about turns, horizontal links and the
 * order of writes, on the tree of check_net.h with known faults.
 */
#include "check_net.h"
#include "lib/suite.h"

#define HOST(h) ((ftr_lid)(64 + (h)))
#define SW(s) ((ftr_lid)(1 + (s)))

static struct ftr_err err;

/* ---- turns ------------------------------------------------------------------- */

/* The tables make the turns 3-0-2 and 2-0-3. */
static const struct {
	const char *what;
	struct ftr_turn turn[8];
	uint32_t n;
	uint64_t found;		/* number of turns that count as not claimed */
} claims[] = {
	{ "both", { { 3, 0, 2 }, { 2, 0, 3 } }, 2, 0 },
	{ "one", { { 2, 0, 3 } }, 1, 1 },
	{ "a turn twice", { { 3, 0, 2 }, { 2, 0, 3 }, { 3, 0, 2 } }, 3, 0 },
	{ "switches that do not exist", { { 4, 0, 2 }, { 3, 4, 2 }, { 3, 0, 4 } }, 3, 2 },
	{ "a turn of up/down routing", { { 0, 2, 1 } }, 1, 2 },
	{ "switches that are not linked", { { 0, 1, 2 }, { 2, 0, 1 } }, 2, 2 },
	{ "useless ones with both",
	  { { 9, 0, 2 }, { 0, 2, 1 }, { 0, 1, 2 }, { 2, 0, 1 }, { 3, 0, 2 }, { 2, 0, 3 } }, 6, 0 },
	/* 3-0, 0-2, 2-1 and 1-3 wait for each other */
	{ "a cycle", { { 3, 0, 2 }, { 2, 0, 3 }, { 2, 1, 3 } }, 3, 2 },
};

START_TEST(claimed_turns)
{
	struct net n = net_tree(0);
	struct ftr_check_opts opts = {
		.rank = net_tree_rank, .turn = claims[_i].turn, .n_turns = claims[_i].n,
	};
	struct ftr_check_report r;

	*net_at(&n, 2, SW(3)) = 1;
	*net_at(&n, 3, SW(2)) = 1;
	ck_assert(!ftr_check_tables(n.f, n.t, &opts, NULL, &r, &err));
	ck_assert_msg(r.found[FTR_FIND_TURN] == claims[_i].found, "claimed: %s", claims[_i].what);
	net_free(&n);
}
END_TEST

/* ---- changes ----------------------------------------------------------------- */

/* Check the n changes, which are made in the tables. */
static struct ftr_delta_report judge(struct net *n, struct ftr_check_delta *d,
				     const struct ftr_change *change, uint32_t n_changes)
{
	struct ftr_delta_report r;

	for (uint32_t i = 0; i < n_changes; i++)
		*net_at(n, change[i].sw, change[i].lid) = change[i].after;
	d->change = change;
	d->n_changes = n_changes;
	ck_assert_msg(!ftr_check_changes(n->f, n->t, d, &r, &err), "%s", err.msg);
	ck_assert_uint_eq(r.missed, 0);
	return r;
}

START_TEST(dead_link_of_a_host)
{
	struct net n = net_tree(0);
	const struct ftr_change change = { .sw = 0, .lid = HOST(0), .before = 4, .after = 1 };
	uint64_t dead[2] = { 0 };
	struct ftr_check_delta d = { .rank = net_tree_rank, .dead = dead };
	struct ftr_delta_report r = judge(&n, &d, &change, 1);

	ck_assert(!r.harmful && r.proved);
	dead[0] = UINT64_C(1) << (n.f->sw[0].first_port + 1);
	r = judge(&n, &d, &change, 1);
	ck_assert_uint_eq(r.found[FTR_FIND_DEAD_PORT], 1);
	ck_assert_uint_eq(r.harmful, 1);
	n.t->max_lid--;		/* tables that do not fit are refused */
	ck_assert_int_eq(ftr_check_changes(n.f, n.t, &d, &r, &err), FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "LIDs up to"));
	n.t->max_lid++;
	net_free(&n);
}
END_TEST

/* All links are horizontal.  Without the claim that tables use them, nothing is proved; with it, a
 * hop after a hop is a turn. */
START_TEST(horizontal_links)
{
	struct net n = net_tree(0);
	static const uint8_t flat[4] = { 3, 3, 3, 3 };
	const struct ftr_change change = { .sw = 0, .lid = HOST(2), .before = 4, .after = 3 };
	struct ftr_check_delta d = { .rank = flat };
	struct ftr_delta_report r = judge(&n, &d, &change, 1);

	ck_assert(!r.harmful && !r.mixed && !r.found[FTR_FIND_TURN] && !r.proved);
	d.horizontal = true;
	r = judge(&n, &d, &change, 1);
	ck_assert(!r.harmful && !r.mixed && !r.proved);
	ck_assert_uint_eq(r.found[FTR_FIND_TURN], 1);
	ck_assert_uint_eq(r.sample[FTR_FIND_TURN].from, 0);
	ck_assert_uint_eq(r.sample[FTR_FIND_TURN].at, 2);
	net_free(&n);
}
END_TEST

/* The entries of leaf 0 and spine 2 for a host change, without steps, and with the steps and the drain
 * given.  Spine 3 has no entry for host 0. */
#define NONE FTR_PORT_NONE
static const struct {
	uint32_t host;
	ftr_port leaf[2], spine[2];	/* the entries before and after */
	uint16_t step[2];
	uint32_t first_drain;
	uint64_t early, mixed, missing;
	uint64_t any_order;	/* `mixed` if the writes have no order */
} writes[] = {
	/* leaf 0 begins to use spine 2, which gets its entry at the same time, or before */
	{ 2, { 4, 3 }, { NONE, 2 }, { 0, 0 }, 9, 1, 0, 0, 0 },
	{ 2, { 4, 3 }, { NONE, 2 }, { 1, 0 }, 9, 0, 0, 0, 0 },
	/* spine 2 loses its entry; this needs no order */
	{ 2, { 4, 3 }, { 2, NONE }, { 0, 0 }, 9, 0, 0, 2, 0 },
	/* leaf 0 goes up before and after, so that this is no new turn */
	{ 0, { 4, 3 }, { 1, NONE }, { 0, 0 }, 9, 0, 0, 2, 0 },
	/* leaf 0 goes up, and spine 2 no longer leads to it: first the spine, then a drain */
	{ 0, { 1, 4 }, { 1, NONE }, { 1, 0 }, 1, 0, 0, 2, 1 },
	{ 0, { 1, 4 }, { 1, NONE }, { 1, 0 }, 2, 0, 1, 2, 1 },
	{ 0, { 1, 4 }, { 1, NONE }, { 0, 1 }, 1, 0, 1, 2, 1 },
	{ 0, { 1, 4 }, { 1, NONE }, { 1, 1 }, 1, 0, 1, 2, 1 },
	/* leaf 0 no longer goes up, and spine 2 begins to lead to it: first the leaf */
	{ 0, { 4, 1 }, { NONE, 1 }, { 0, 1 }, 9, 0, 0, 0, 1 },
	{ 0, { 4, 1 }, { NONE, 1 }, { 1, 1 }, 9, 1, 1, 0, 1 },
};

START_TEST(order_of_writes)
{
	struct net n = net_tree(0);
	const ftr_port *leaf = writes[_i].leaf, *spine = writes[_i].spine;
	const ftr_lid lid = HOST(writes[_i].host);
	const struct ftr_change change[2] = {
		{ .sw = 0, .lid = lid, .before = leaf[0], .after = leaf[1],
		  .step = writes[_i].step[0] },
		{ .sw = 2, .lid = lid, .before = spine[0], .after = spine[1],
		  .step = writes[_i].step[1] },
	};
	struct ftr_check_delta d = { .rank = net_tree_rank };
	struct ftr_delta_report r;

	*net_at(&n, 3, HOST(0)) = FTR_PORT_NONE;
	r = judge(&n, &d, change, 2);
	ck_assert_uint_eq(r.mixed, writes[_i].any_order);
	ck_assert_uint_eq(r.early, 0);
	d.ordered = true;
	d.first_drain = writes[_i].first_drain;
	r = judge(&n, &d, change, 2);
	ck_assert_uint_eq(r.early, writes[_i].early);
	ck_assert_uint_eq(r.mixed, writes[_i].mixed);
	ck_assert_uint_eq(r.found[FTR_FIND_MISSING], writes[_i].missing);
	net_free(&n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims");
	TCase *t = tcase_create("claims");

	suite_add_tcase(s, t);
	tcase_add_loop_test(t, claimed_turns, 0, (int)FTR_ARRAY_LEN(claims));
	tcase_add_test(t, dead_link_of_a_host);
	tcase_add_test(t, horizontal_links);
	tcase_add_loop_test(t, order_of_writes, 0, (int)FTR_ARRAY_LEN(writes));
	return run_suite(s);
}
