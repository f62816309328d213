// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the placements, that is, the rules by which an entry gets one of its candidate ports,
 * on random trees with random sequences of faults.  The entries must equal those of an oracle
 * (lib/oracle_place.h).  A fault may change only entries that lose their next hop.  The number
 * of threads must not change the tables.
 *
 * A failed test prints its seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the
 * number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "engine/place.h"
#include "lib/draw.h"
#include "lib/oracle.h"
#include "lib/oracle_place.h"
#include "lib/oracle_slots.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define SMALL 30	/* largest number of switches for which oracle_check_slots() runs */

static struct ftr_err err;

static struct ftr_tables *route(const struct ftr_shape *sh, struct ftr_team *team)
{
	struct ftr_route_opts opts = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};
	struct ftr_tables *t = NULL;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	memset(t->lft, 0x55, (size_t)t->n_sw * t->stride);
	ck_assert_msg(!ftr_engine_find("dmodc")->route(sh, &opts, team, t,
						       NULL, &err),
		      "%s", err.msg);
	return t;
}

static struct ftr_shape *shape_over(const struct ftr_fabric *f,
				    const struct ftr_shape *whole)
{
	struct ftr_shape_opts opts = { .nominal = whole };
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s",
		      err.msg);
	return sh;
}

static struct ftr_fabric *grow(const char *text, uint64_t seed)
{
	struct ftr_pgft g;

	ck_assert_msg(!ftr_pgft_parse(text, &g, &err), "%s", err.msg);
	return trees_grow(&g, seed, 0);
}

/* ---- the oracle -------------------------------------------------------- */

static void against_oracle(const struct ftr_shape *whole,
			   const struct ftr_shape *sh, uint64_t seed)
{
	struct oracle_place o;

	if (whole->f->n_sw <= SMALL)
		oracle_check_slots(whole, seed);
	oracle_place_init(&o, whole, sh);
	struct ftr_tables *t = route(sh, NULL);

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];
			ftr_port got = ftr_tables_get(t, s, d->lid);
			ftr_port want = oracle_place_entry(&o, s, d);

			ck_assert_msg(got == want, "seed %" PRIu64
				      ": switch %u LID %u: port %u, oracle %u",
				      seed, s, d->lid, got, want);
		}
	ftr_tables_free(t);
	oracle_place_free(&o);
}

/* Compare the entries of the damaged fabric with the oracle.  Frees both fabrics. */
static void damaged_equals_oracle(struct ftr_fabric *f, struct ftr_fabric *damaged,
				  uint64_t seed)
{
	struct ftr_shape *whole = NULL, *sh;

	ck_assert(!ftr_shape_new(f, NULL, NULL, &whole, &err));
	sh = shape_over(damaged, whole);
	against_oracle(whole, sh, seed);
	ftr_shape_free(sh);
	ftr_shape_free(whole);
	ftr_fabric_free(damaged);
	ftr_fabric_free(f);
}

START_TEST(trees_equal_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(300); i++, seed++) {
		struct ftr_fabric *f, *damaged;
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		f = trees_grow(&g, seed, i % 5 == 0);
		damaged = trees_damaged(trees_grow(&g, seed, i % 5 == 0), &rng, 33);
		damaged_equals_oracle(f, damaged, seed);
	}
}
END_TEST

/* PGFTs in which a switch has many upward groups, so that all rules of src/core/engine/place.c are used;
 * some have parallel links. */
static const char *const wide[] = {
	"2;10,8;1,10;1,1", "2;12,6;1,4;1,3", "2;14,6;1,7;1,1",
	"3;5,4,6;1,5,4;1,1,1", "3;8,4,4;1,4,4;1,2,1", "2;9,6;1,3;1,4",
	"2;6,9;1,17;1,1",
	/* of the numbers of leaves, pods and planes, none divides another */
	"3;6,5,4;1,6,6;1,1,1", "3;5,6,4;1,6,6;1,1,1", "3;8,6,4;1,4,8;1,1,1",
	"4;3,3,3,3;1,3,2,3;1,1,1,1", "3;4,4,8;1,4,4;1,1,1",
};

START_TEST(wide_trees_equal_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		const char *text = wide[i % FTR_ARRAY_LEN(wide)];
		struct ftr_fabric *f = grow(text, seed), *damaged;
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		damaged = trees_damaged(grow(text, seed), &rng, 10 + i % 3 * 25);
		damaged_equals_oracle(f, damaged, seed);
	}
}
END_TEST

/* Every leaf has two links to the first spine, three to the second, and two or three to each other
 * spine.  If a leaf uses its n spines and their links in turn, the sequence of links repeats only
 * after 6 * n destinations. */
static struct ftr_fabric *trunks(uint64_t seed)
{
	uint32_t leaves, spines, hosts;
	char text[4096];
	struct ftr_rng rng;
	size_t at = 0;

	ftr_rng_seed(&rng, seed);
	leaves = 4 + ftr_rng_below(&rng, 5);
	spines = 2 + ftr_rng_below(&rng, 4);
	hosts = 6 + ftr_rng_below(&rng, 7);
	for (uint32_t l = 0; l < leaves; l++) {
		at += (size_t)sprintf(text + at, "l%u:", l);
		for (uint32_t s = 0; s < spines; s++)
			at += (size_t)sprintf(text + at, " s%u*%u", s, s < 2 ? 2 + s :
					      2 + ftr_rng_below(&rng, 2));
		at += (size_t)sprintf(text + at, " h%u\n", hosts);
	}
	for (uint32_t s = 0; s < spines; s++)
		at += (size_t)sprintf(text + at, "s%u:\n", s);
	return draw(text);
}

START_TEST(trunks_of_two_sizes_equal_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_fabric *damaged = trunks(seed);
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		if (i % 3)
			damaged = trees_damaged(damaged, &rng, 20);
		damaged_equals_oracle(trunks(seed), damaged, seed);
	}
}
END_TEST

START_TEST(chassis_equal_the_oracle)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct ftr_fabric *f, *damaged;
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		f = trees_chassis(&rng);
		ftr_rng_seed(&rng, seed);
		damaged = trees_chassis(&rng);
		if (i % 3)
			damaged = trees_damaged(damaged, &rng, 20);
		damaged_equals_oracle(f, damaged, seed);
	}
}
END_TEST

/* ---- sequences of faults ----------------------------------------------- */

struct state {
	const struct ftr_fabric *f;
	uint8_t *port;		/* [port] 1: the link is dead; only at its lower-numbered port */
	uint8_t *sw;		/* [switch] 1: dead */
};

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	const struct state *st = ctx;

	(void)f;
	return !st->sw[s];
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	const struct state *st = ctx;

	return !st->port[f->sw[s].first_port + p];
}

static struct ftr_fabric *left_of(struct state *st)
{
	struct ftr_filter filter = {
		.keep_sw = keep_sw, .keep_link = keep_link, .ctx = st,
	};
	struct ftr_fabric *f = NULL;

	ck_assert(!ftr_fabric_copy_if(st->f, &filter, &f, &err));
	return f;
}

/* If `fault` is true, kill a live link, or sometimes a live switch without hosts.  Otherwise revive
 * a dead link or switch. */
static void change(struct state *st, struct ftr_rng *r, bool fault)
{
	const struct ftr_fabric *f = st->f;

	for (unsigned int tries = 0; tries < 10000; tries++) {
		ftr_sw s = ftr_rng_below(r, f->n_sw);
		uint32_t p = f->sw[s].first_port + 1 +
			ftr_rng_below(r, f->sw[s].n_ports);
		bool hosts = false;

		for (ftr_ep e = 0; e < f->n_ep; e++)
			hosts |= f->ep[e].sw == s;
		if (ftr_rng_below(r, 6) == 0 && !hosts && st->sw[s] != fault) {
			st->sw[s] = fault;
			return;
		}
		if (f->ports[p].peer_kind == FTR_PEER_SW &&
		    f->ports[p].peer > s && st->port[p] != fault) {
			st->port[p] = fault;
			return;
		}
	}
}

struct routed {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
};

static struct routed route_state(struct state *st,
				 const struct ftr_shape *whole)
{
	struct routed r = { .f = left_of(st) };

	r.sh = shape_over(r.f, whole);
	r.t = route(r.sh, NULL);
	return r;
}

static void unroute(struct routed *r)
{
	ftr_tables_free(r->t);
	ftr_shape_free(r->sh);
	ftr_fabric_free(r->f);
}

enum fate { STAYS, FARTHER, LOST };

/*
 * The effect of a fault on the next hop of an entry.  `after` has one fault more than `before`.
 *
 * LOST	The link is dead, or the switch at its other end is no longer a candidate.  In a PGFT
 *	also if that switch is now farther from the destination, because others are nearer.
 * FARTHER	The switch is now farther from the destination, and the tree is no PGFT (up_path is
 *	set).  The other candidates may be just as far, so the entry may stay or change.
 * STAYS	Otherwise.
 */
static enum fate next_hop(const struct oracle_place *before,
		     const struct oracle_place *after, ftr_sw s0, ftr_sw s1,
		     ftr_port port, const struct ftr_dest *t)
{
	const struct ftr_fabric *f0 = before->sh->f, *f1 = after->sh->f;
	const struct ftr_swport *p0 = ftr_fabric_port(f0, s0, port);
	const struct ftr_swport *p1 = ftr_fabric_port(f1, s1, port);
	uint32_t n0 = f0->n_sw, n1 = f1->n_sw;
	ftr_sw l1 = after->sh->numbering.col_sw[t->col], l0;

	if (p0->peer_kind != FTR_PEER_SW)
		return STAYS;	/* the destination is on s0 */
	if (p1->peer_kind != FTR_PEER_SW ||
	    !oracle_leads(after, s1, p1->peer, l1))
		return LOST;
	l0 = ftr_fabric_find_sw(f0, f1->sw[l1].guid);
	if (after->cost[p1->peer * n1 + l1] ==
	    before->cost[p0->peer * n0 + l0])
		return STAYS;
	return after->up_path ? FARTHER : LOST;
}

/* `after` has one more fault than `before`.  Only entries that lose their next hop may change. */
static void compare(const struct routed *before, const struct routed *after,
		    const struct ftr_shape *whole, uint64_t seed)
{
	struct oracle_place o0, o1;

	oracle_place_init(&o0, whole, before->sh);
	oracle_place_init(&o1, whole, after->sh);
	for (uint32_t i = 0; i < after->sh->numbering.n_dest; i++)
		for (ftr_sw s1 = 0; s1 < after->f->n_sw; s1++) {
			const struct ftr_dest *t = &after->sh->numbering.dest[i];
			ftr_sw s0 = ftr_fabric_find_sw(before->f,
						       after->f->sw[s1].guid);

			ftr_port was = ftr_tables_get(before->t, s0,
						      t->lid);
			ftr_port is = ftr_tables_get(after->t, s1,
						     t->lid);
			enum fate fate = was == FTR_PORT_NONE ? STAYS :
				next_hop(&o0, &o1, s0, s1, was, t);

			ck_assert_msg(is != was || fate != LOST,
				      "seed %" PRIu64 ": switch %u LID %u keeps port %u, but must change",
				      seed, s1, t->lid, is);
			ck_assert_msg(is == was || fate != STAYS,
				      "seed %" PRIu64 ": switch %u LID %u changes from port %u to %u without need",
				      seed, s1, t->lid, was, is);
		}
	oracle_place_free(&o0);
	oracle_place_free(&o1);
}

static void history(struct ftr_fabric *f, uint64_t seed, unsigned int steps)
{
	struct state st = { f, calloc(f->n_ports, 1), calloc(f->n_sw, 1) };
	struct ftr_shape *whole = NULL;
	struct routed now, next;
	struct ftr_rng rng;
	unsigned int dead = 0;

	ftr_rng_seed(&rng, seed);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &whole, &err));
	now = route_state(&st, whole);
	for (unsigned int i = 0; i < steps; i++) {
		bool fault = !dead || ftr_rng_below(&rng, 3);

		change(&st, &rng, fault);
		next = route_state(&st, whole);
		/* compare() takes the state with fewer faults first: after a repair, `next` */
		compare(fault ? &now : &next, fault ? &next : &now, whole,
			seed);
		dead += fault ? 1 : -1u;
		unroute(&now);
		now = next;
	}
	unroute(&now);
	ftr_shape_free(whole);
	free(st.port);
	free(st.sw);
}

/* Returns a random chassis fabric in which a switch has several groups to one plane (its shape has
 * up_path). */
static struct ftr_fabric *chassis(struct ftr_rng *rng)
{
	for (;;) {
		struct ftr_fabric *f = trees_chassis(rng);
		struct ftr_shape *sh = NULL;
		bool has;

		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		has = sh->numbering.up_path;
		ftr_shape_free(sh);
		if (has)
			return f;
		ftr_fabric_free(f);
	}
}

START_TEST(only_what_is_lost_changes)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_fabric *f;
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		f = i % 3 == 2 ? chassis(&rng) :
			i % 2 ? trees_grow(&g, seed, 0) :
			grow(wide[i / 2 % FTR_ARRAY_LEN(wide)], seed);
		history(f, seed, 14);
		ftr_fabric_free(f);
	}
}
END_TEST

/* ---- threads ----------------------------------------------------------- */

START_TEST(threads_change_nothing)
{
	uint64_t seed = trees_first_seed();
	struct ftr_team *team = ftr_team_new(3);

	for (unsigned int i = 0; i < trees_runs(20); i++, seed++) {
		struct ftr_fabric *f;
		struct ftr_shape *sh = NULL;
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 300);
		f = trees_damaged(trees_grow(&g, seed, 0), &rng, 33);
		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		struct ftr_tables *a = route(sh, NULL);
		struct ftr_tables *b = route(sh, team);

		ck_assert_msg(!memcmp(a->lft, b->lft, (size_t)a->n_sw *
				      a->stride),
			      "seed %" PRIu64 ": one thread and several threads give different tables",
			      seed);
		ftr_tables_free(a);
		ftr_tables_free(b);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
	ftr_team_free(team);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("place");
	TCase *t = tcase_create("place");

	tcase_add_test(t, trees_equal_the_oracle);
	tcase_add_test(t, wide_trees_equal_the_oracle);
	tcase_add_test(t, trunks_of_two_sizes_equal_the_oracle);
	tcase_add_test(t, chassis_equal_the_oracle);
	tcase_add_test(t, only_what_is_lost_changes);
	tcase_add_test(t, threads_change_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
