// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the table of failed links of the fast path (the plugin's repair of tables before OpenSM
 * sweeps): every operation in every state of a link, damping of links that fail too often, and a
 * full table.
 */
#include <check.h>
#include <stdlib.h>

#include "base/base.h"
#include "lib/suite.h"
#include "reroute/links.h"
#include "reroute/reroute.h"

#define ALIVE RR_LINK_ALIVE
#define DEAD RR_LINK_DEAD
#define DAMPED RR_LINK_DAMPED
#define RETURNING RR_LINK_RETURNING
#define LEFT RR_LINK_LEFT

static struct rr_links t;
static const struct rr_ends a = { 10, 20, 1, 2 }, a_too = { 20, 10, 2, 1 },
	b = { 10, 20, 2, 3 }, c = { 9, 10, 7, 9 };

/* Returns the state of the link that has this end; RR_LINK_ALIVE if it is not in the table. */
static enum rr_link_state state_of(const struct rr_links *x, struct rr_ends e)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct rr_ends *o = &x->link[i].ends;

		if ((o->guid == e.guid && o->port == e.port) ||
		    (o->peer_guid == e.guid && o->peer_port == e.port))
			return x->link[i].state;
	}
	return RR_LINK_ALIVE;
}

static void fresh_table(void)
{
	t.n = 0;
	t.limit = 2;
	t.window = 100;
	t.hold = 50;
}

/* Put link a into this state before time 10.  Its last failure, if any, was at time 5. */
static void prepare(enum rr_link_state s)
{
	fresh_table();
	switch (s) {
	case DEAD:
		rr_links_died(&t, a, 5);
		break;
	case DAMPED:
		rr_links_died(&t, a, 4);
		rr_links_died(&t, a, 5);
		break;
	case RETURNING:
		rr_links_died(&t, a, 5);
		ck_assert(rr_links_return(&t, a));
		break;
	case LEFT:
		rr_links_died(&t, a, 5);
		rr_links_leave(&t, a);
		break;
	case ALIVE:
	case RR_N_LINK_STATES:
		break;
	}
	ck_assert_int_eq(state_of(&t, a), s);
}

static struct rr_ends taken[4];

static bool seen_down(double now)
{
	rr_links_seen_down(&t, a, now);
	return false;
}

static bool died(double now)
{
	return rr_links_died(&t, a, now);
}

static bool used(double now)
{
	(void)now;
	rr_links_used(&t, a);
	return false;
}

static bool leave(double now)
{
	(void)now;
	rr_links_leave(&t, a);
	return false;
}

static bool return_again(double now)
{
	(void)now;
	return rr_links_return(&t, a);
}

/* A discovery has found the link up.  The discovery began before the link's last failure
 * (found_early) or after it (found_late).  Returns true if the routing leaves out the link. */
static bool found_early(double now)
{
	bool recheck = false;

	return rr_links_left_out(&t, a, false, 3, now, &recheck);
}

static bool found_late(double now)
{
	bool recheck = false, out;

	out = rr_links_left_out(&t, a, false, 8, now, &recheck);
	ck_assert(!recheck);
	return out;
}

/* A discovery has found the link up after its last failure.  But the tables in use avoid the link,
 * and its ports are not Active yet. */
static bool found_again(double now)
{
	bool recheck = false;

	return rr_links_left_out(&t, a, true, 8, now, &recheck);
}

static bool discovered_early(double now)
{
	(void)now;
	rr_links_discovered(&t, 3);
	return false;
}

static bool discovered_late(double now)
{
	(void)now;
	rr_links_discovered(&t, 8);
	return false;
}

static bool release(double now)
{
	return rr_links_release(&t, now);
}

static bool release_late(double now)
{
	return rr_links_release(&t, now + 1000);
}

static bool take(double now)
{
	bool more;

	(void)now;
	return rr_links_take_returning(&t, taken, 4, &more) == 1;
}

static bool drop(double now)
{
	(void)now;
	return rr_links_drop_returning(&t);
}

/* next[s] and answer[s]: the state after an operation, and its return value, if the state before is
 * s. */
static const struct {
	const char *name;
	bool (*op)(double now);
	enum rr_link_state next[RR_N_LINK_STATES];
	bool answer[RR_N_LINK_STATES];
} row[] = {
	/* before:		  ALIVE, DEAD, DAMPED, RETURNING, LEFT */
	{ "seen down", seen_down,
	  { DEAD, DEAD, DAMPED, RETURNING, DEAD }, { false } },
	{ "died", died,
	  { DEAD, DAMPED, DAMPED, DAMPED, DAMPED },
	  { false, true, true, true, true } },
	{ "used", used, { ALIVE, ALIVE, ALIVE, ALIVE, ALIVE }, { false } },
	{ "leave", leave, { LEFT, LEFT, DAMPED, LEFT, LEFT }, { false } },
	{ "return", return_again,
	  { RETURNING, RETURNING, DAMPED, RETURNING, RETURNING },
	  { true, true, true, true, true } },
	{ "found by an early discovery", found_early,
	  { ALIVE, DEAD, DAMPED, RETURNING, LEFT },
	  { false, true, true, true, true } },
	{ "found by a late discovery", found_late,
	  { ALIVE, DEAD, DAMPED, RETURNING, LEFT },
	  { false, false, true, false, false } },
	{ "found again", found_again,
	  { RETURNING, RETURNING, DAMPED, RETURNING, LEFT },
	  { true, true, true, true, false } },
	{ "early discovery done", discovered_early,
	  { ALIVE, DEAD, DAMPED, RETURNING, LEFT }, { false } },
	{ "late discovery done", discovered_late,
	  { ALIVE, ALIVE, DAMPED, RETURNING, LEFT }, { false } },
	{ "release", release,
	  { ALIVE, DEAD, DAMPED, RETURNING, LEFT }, { false } },
	{ "release when quiet", release_late,
	  { ALIVE, DEAD, RETURNING, RETURNING, LEFT },
	  { false, false, true, false, false } },
	{ "take", take,
	  { ALIVE, DEAD, DAMPED, DEAD, LEFT },
	  { false, false, false, true, false } },
	{ "drop", drop,
	  { ALIVE, DEAD, DAMPED, DEAD, LEFT },
	  { false, false, false, true, false } },
};

START_TEST(test_every_pair)
{
	for (int s = 0; s < RR_N_LINK_STATES; s++) {
		bool answer;

		prepare((enum rr_link_state)s);
		rr_links_seen_down(&t, b, 7);
		rr_links_seen_down(&t, c, 7);
		rr_links_used(&t, b);
		rr_links_used(&t, c);
		answer = row[_i].op(10);
		ck_assert_msg(answer == row[_i].answer[s],
			      "%s in state %d: returned %d", row[_i].name, s, answer);
		ck_assert_msg(state_of(&t, a) == row[_i].next[s],
			      "%s in state %d: new state %d", row[_i].name, s,
			      state_of(&t, a));
		/* the link has the same state at its other end; other links do not change */
		ck_assert_int_eq(state_of(&t, a_too),
				 state_of(&t, a));
		ck_assert_int_eq(state_of(&t, b), ALIVE);
		ck_assert_int_eq(state_of(&t, c), ALIVE);
	}
}
END_TEST

START_TEST(test_damping)
{
	fresh_table();
	t.limit = 3;
	ck_assert(!rr_links_died(&t, a, 0));
	ck_assert(!rr_links_died(&t, a, 10));
	ck_assert(!rr_links_damped(&t, a, 11));
	ck_assert_double_lt(rr_links_release_due(&t), 0);
	ck_assert(rr_links_died(&t, a_too, 20));
	ck_assert(rr_links_damped(&t, a, 69));
	ck_assert(!rr_links_damped(&t, b, 69));
	ck_assert_uint_eq(rr_links_count_damped(&t, 69), 1);
	ck_assert_double_eq(rr_links_release_due(&t), 70);
	ck_assert(rr_links_died(&t, a, 60));	/* a new failure extends the damping */
	ck_assert_double_eq(rr_links_release_due(&t), 110);
	ck_assert(!rr_links_damped(&t, a, 110));
	ck_assert(rr_links_release(&t, 110));
	ck_assert_double_lt(rr_links_release_due(&t), 0);
	/* failures far apart in time do not count as flapping */
	for (double now = 1000; now < 2000; now += 60)
		ck_assert(!rr_links_died(&t, b, now));
	t.limit = 1;
	ck_assert(rr_links_died(&t, c, 3000));
	ck_assert(rr_links_died(&t, a, 2980));
	ck_assert(rr_links_died(&t, b, 2990));
	ck_assert_double_eq(rr_links_release_due(&t), 3030);	/* of a */
	/* a failure after the window and the hold time is the first of a new window */
	prepare(DAMPED);
	ck_assert(!rr_links_died(&t, a, 200));
	ck_assert_int_eq(state_of(&t, a), DEAD);
	t.limit = 0;
	for (double now = 2000; now < 2050; now += 1)
		ck_assert(!rr_links_died(&t, c, now));
}
END_TEST

static struct rr_ends nth(uint64_t i)
{
	return (struct rr_ends){ i, UINT64_MAX, 1, 1 };
}

/* A link between two ports of one switch is one link, whichever end is named first. */
START_TEST(test_loopback)
{
	const struct rr_ends loop = { 5, 5, 3, 1 }, back = { 5, 5, 1, 3 };

	fresh_table();
	ck_assert(!rr_links_died(&t, loop, 1));
	ck_assert(rr_links_died(&t, back, 2));
	ck_assert(rr_links_damped(&t, loop, 3));
	ck_assert_uint_eq(t.n, 1);
}
END_TEST

/* A full table forgets the live link whose last failure is the oldest.  It never forgets a link in
 * another state. */
START_TEST(test_full)
{
	const struct rr_ends other = nth(9 * RR_LINKS_MAX);
	bool recheck = false;
	uint32_t oldest = 0;

	fresh_table();
	for (uint32_t i = 0; i < RR_LINKS_MAX; i++) {
		uint32_t at = i * 7919 % RR_LINKS_MAX;	/* every number below RR_LINKS_MAX once */

		rr_links_died(&t, nth(i), at);
		if (at == 1)
			oldest = i;
		if (i % 2)
			rr_links_used(&t, nth(i));
	}
	ck_assert_uint_eq(t.n, RR_LINKS_MAX);
	rr_links_died(&t, nth(RR_LINKS_MAX), 1e6);
	ck_assert_uint_eq(t.n, RR_LINKS_MAX);
	ck_assert_int_eq(state_of(&t, nth(RR_LINKS_MAX)), DEAD);
	ck_assert(!rr_links_died(&t, nth(oldest), 2));	/* its failure is forgotten */
	ck_assert_int_eq(state_of(&t, nth(0)), DEAD);
	for (uint32_t i = 0; i < RR_LINKS_MAX; i++)
		rr_links_died(&t, nth(RR_LINKS_MAX + i), 2e6);
	/* no link is ALIVE: there is no room for another */
	ck_assert(!rr_links_return(&t, other));
	ck_assert(!rr_links_left_out(&t, other, true, 0, 3e6, &recheck));
	rr_links_seen_down(&t, other, 3e6);
	rr_links_leave(&t, other);
	ck_assert_int_eq(state_of(&t, other), ALIVE);
	ck_assert_int_eq(state_of(&t, nth(0)), DEAD);
	for (uint32_t i = 1; i < t.n; i++)
		ck_assert(t.link[i - 1].ends.guid < t.link[i].ends.guid);
}
END_TEST

/* A caller that takes at most four returning links at a time must get all of them. */
START_TEST(test_take_in_parts)
{
	uint32_t n = 0, got;
	bool more;

	fresh_table();
	for (uint32_t i = 0; i < 10; i++)
		ck_assert(rr_links_return(&t, nth(i)));
	do {
		got = rr_links_take_returning(&t, taken, 4, &more);
		n += got;
		ck_assert(got == 4 || !more);
	} while (more);
	ck_assert_uint_eq(n, 10);
}
END_TEST

/* A switch with links at all of its ports. */
START_TEST(test_links_of_a_full_switch)
{
	static struct rr_link out[FTR_PORT_MAX + 1];
	struct rr_view v;
	struct ftr_builder *net = ftr_builder_new();
	struct ftr_fabric *f;
	struct ftr_err err;

	for (unsigned int i = 0; i <= FTR_PORT_MAX; i++)
		ck_assert(!ftr_builder_add_switch(net, &(struct ftr_switch){
				.guid = 1 + i, .name = "s",
				.n_ports = i ? 2 : FTR_PORT_MAX }, &err));
	for (unsigned int i = 1; i <= FTR_PORT_MAX; i++)
		ck_assert(!ftr_builder_add_link(net, (struct ftr_end){ 1, (ftr_port)i },
						(struct ftr_end){ 1 + i, 1 }, 4, FTR_SPEED_NDR, &err));
	ck_assert(!ftr_builder_freeze(net, &f, &err));
	v.fabric = *f;
	ck_assert_uint_eq(rr_links_of(&v, 1, out), 1);
	ck_assert_uint_eq(out[0].peer_port, 1);
	ck_assert_uint_eq(rr_links_of(&v, 0, out), FTR_PORT_MAX);
	ck_assert_uint_eq(out[FTR_PORT_MAX].port, 0);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rr_links");
	TCase *tc = tcase_create("links");

	tcase_add_loop_test(tc, test_every_pair, 0, FTR_ARRAY_LEN(row));
	tcase_add_test(tc, test_damping);
	tcase_add_test(tc, test_loopback);
	tcase_add_test(tc, test_full);
	tcase_add_test(tc, test_take_in_parts);
	tcase_add_test(tc, test_links_of_a_full_switch);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
