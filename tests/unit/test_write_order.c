// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the order of writes (tables/write_order.h) on random graphs of changed entries.  A simple
 * calculation must give the same order: it applies the rule again and again until nothing changes.
 * Also tests the steps of known tables.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of graphs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/draw.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "tables/write_order.h"
#include <ftr/transition.h>

#define MOST 40

/* next[i]: the change that change i waits for.  base[i]: another step that
 * the step of change i must exceed, or 0 (tables/write_order.h). */
struct graph {
	uint32_t n, limit;
	uint32_t next[MOST], base[MOST];
	uint32_t calls;
};

static uint32_t next_change(const void *ctx, uint32_t i, uint32_t *base)
{
	struct graph *g = (struct graph *)(uintptr_t)ctx;

	ck_assert_uint_lt(i, g->n);
	ck_assert_uint_eq(*base, 0);
	g->calls++;
	*base = g->base[i];
	return g->next[i];
}

/* Compute the steps by their definition: step[i] = 1 + max(base[i], step[next[i]]).  A change gets
 * no step if its path does not reach the LID, if the next change has no step, or if the step would
 * exceed the limit.  The changes of a cycle get no step. */
static void oracle(const struct graph *g, uint32_t *step)
{
	bool changed = true;

	for (uint32_t i = 0; i < g->n; i++)
		step[i] = WRITE_NEVER;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < g->n; i++) {
			uint32_t after = g->next[i] == WRITE_ARRIVES ? 0 :
				g->next[i] == WRITE_LOST ? WRITE_NEVER :
				step[g->next[i]];

			if (step[i] != WRITE_NEVER || after == WRITE_NEVER ||
			    FTR_MAX(after, g->base[i]) >= g->limit)
				continue;
			step[i] = FTR_MAX(after, g->base[i]) + 1;
			changed = true;
		}
	}
}

/* Compute the steps of the changes in random order, and compare them with the oracle's.
 * next_change() must be called once for each change. */
static void compare(struct graph *g, struct ftr_rng *r, uint64_t seed)
{
	uint32_t step[MOST] = { 0 }, want[MOST], perm[MOST];
	struct write_wait stack[MOST];
	struct write_order o = {
		.ctx = g, .next = next_change, .step = step, .stack = stack,
		.limit = g->limit,
	};

	oracle(g, want);
	ftr_rng_perm(r, perm, g->n);
	g->calls = 0;
	for (uint32_t k = 0; k < g->n; k++) {
		write_order_step(&o, perm[k]);
		ck_assert_msg(step[perm[k]] == want[perm[k]],
			      "seed %" PRIu64 ": change %u has step %u, by the oracle %u",
			      seed, perm[k], step[perm[k]], want[perm[k]]);
	}
	ck_assert_uint_eq(g->calls, g->n);
	ck_assert(!memcmp(step, want, g->n * sizeof(*step)));
}

START_TEST(equal_the_oracle)
{
	uint64_t seed = trees_first_seed();
	uint32_t never = 0, limited = 0, deep = 0;

	for (unsigned int k = 0; k < trees_runs(5000); k++, seed++) {
		struct graph g = { 0 };
		uint32_t want[MOST], percent;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		g.n = 1 + ftr_rng_below(&r, MOST);
		g.limit = ftr_rng_below(&r, 4) ? 200 : 1 + ftr_rng_below(&r, 8);
		percent = 2 + ftr_rng_below(&r, 30);
		for (uint32_t i = 0; i < g.n; i++) {
			g.next[i] = ftr_rng_below(&r, g.n);	/* may be i itself */
			if (ftr_rng_below(&r, 100) < percent)
				g.next[i] = ftr_rng_below(&r, 3) ?
					WRITE_ARRIVES : WRITE_LOST;
			if (!ftr_rng_below(&r, 6))
				g.base[i] = ftr_rng_below(&r, 8);
		}
		compare(&g, &r, seed);
		oracle(&g, want);
		for (uint32_t i = 0; i < g.n; i++) {
			never += want[i] == WRITE_NEVER;
			limited += want[i] == g.limit;
			deep += want[i] != WRITE_NEVER && want[i] > 8;
		}
	}
	runs_show(never > 1000);
	runs_show(limited > 100);
	runs_show(deep > 100);
}
END_TEST

/* The packets from A go over s instead of directly to B.  s leads to B, into a loop with t that does
 * not change, or is to have no entry. */
START_TEST(steps_of_tables)
{
	enum { TO_B = 3, TO_T = 2, CLEARED = FTR_PORT_NONE };
	static const struct {
		uint8_t before, after;	/* the entry of s */
		uint8_t of_a, of_s;	/* steps */
	} t[] = {
		{ TO_B, TO_B, 1, FTR_TRANSITION_NONE },
		{ TO_T, TO_B, 2, 1 },
		{ TO_T, TO_T, FTR_TRANSITION_NEVER, FTR_TRANSITION_NONE },
		{ TO_B, CLEARED, 1, FTR_TRANSITION_LAST },
	};
	struct ftr_fabric *f = draw("A: s B h1\ns: t B\nt:\nB: h1\n");
	const ftr_sw a = draw_sw(f, "A"), s = draw_sw(f, "s");
	const ftr_lid lid = f->ep[draw_host(f, "B", 0)].lid;
	struct ftr_err err = { 0 };

	for (size_t i = 0; i < FTR_ARRAY_LEN(t); i++) {
		struct ftr_transition x = { .f = f };
		struct ftr_tables *now = NULL, *to = NULL;

		ck_assert(!ftr_tables_new(f, true, &now, &err) && !ftr_tables_new(f, true, &to, &err));
		ftr_tables_row(now, draw_sw(f, "B"))[lid] = 3;
		ftr_tables_row(now, draw_sw(f, "t"))[lid] = 1;	/* to s */
		memcpy(to->lft, now->lft, (size_t)now->n_sw * now->stride);
		ftr_tables_row(now, a)[lid] = 2;
		ftr_tables_row(to, a)[lid] = 1;
		ftr_tables_row(now, s)[lid] = t[i].before;
		ftr_tables_row(to, s)[lid] = t[i].after;
		x.now = now;
		x.to = to;
		ck_assert(!ftr_transition_plan(&x, &err));
		ck_assert_uint_eq(x.step[a * now->stride + lid], t[i].of_a);
		ck_assert_uint_eq(x.step[s * now->stride + lid], t[i].of_s);
		free(x.step);
		ftr_tables_free(now);
		ftr_tables_free(to);
	}
	ftr_fabric_free(f);
}
END_TEST

/* A has no entry for the host on B, so this LID is urgent, and its two changes are written first.  The
 * entry of t for the host on A leads to a link, to a port without a link, nowhere, or to t itself. */
START_TEST(urgent_lids_first)
{
	enum { TO_S = 1, TO_B = 2, UNUSED = 3, SELF = 0 };
	static const struct {
		uint8_t before;
		uint8_t step;
	} c[] = { { TO_B, 3 }, { SELF, 3 }, { UNUSED, 1 }, { FTR_PORT_NONE, 1 } };
	struct ftr_fabric *f = draw("A: s h1\ns: t B\nt: B\nB: h1\n");
	const ftr_sw a = draw_sw(f, "A"), s = draw_sw(f, "s"), t = draw_sw(f, "t"), b = draw_sw(f, "B");
	const ftr_lid of_a = f->ep[draw_host(f, "A", 0)].lid, of_b = f->ep[draw_host(f, "B", 0)].lid;
	struct ftr_err err = { 0 };

	ck_assert_int_eq(ftr_fabric_port(f, t, UNUSED)->peer_kind, FTR_PEER_NONE);
	for (size_t i = 0; i < FTR_ARRAY_LEN(c); i++) {
		struct ftr_transition x = { .f = f };
		struct ftr_tables *now = NULL, *to = NULL;

		ck_assert(!ftr_tables_new(f, true, &now, &err) && !ftr_tables_new(f, true, &to, &err));
		ftr_tables_row(now, b)[of_b] = 3;
		ftr_tables_row(now, s)[of_a] = 1;
		ftr_tables_row(now, a)[of_a] = 2;
		memcpy(to->lft, now->lft, (size_t)now->n_sw * now->stride);
		ftr_tables_row(now, s)[of_b] = 2;	/* to t, which has no entry */
		ftr_tables_row(to, s)[of_b] = 3;	/* to B */
		ftr_tables_row(to, a)[of_b] = 1;
		ftr_tables_row(now, t)[of_a] = c[i].before;
		ftr_tables_row(to, t)[of_a] = TO_S;
		x.now = now;
		x.to = to;
		ck_assert(!ftr_transition_plan(&x, &err));
		ck_assert_uint_eq(x.step[s * now->stride + of_b], 1);
		ck_assert_uint_eq(x.step[a * now->stride + of_b], 2);
		ck_assert_uint_eq(x.step[t * now->stride + of_a], c[i].step);
		free(x.step);
		ftr_tables_free(now);
		ftr_tables_free(to);
	}
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("write_order");
	TCase *t = tcase_create("all");

	tcase_add_test(t, equal_the_oracle);
	tcase_add_test(t, steps_of_tables);
	tcase_add_test(t, urgent_lids_first);
	suite_add_tcase(s, t);
	return run_suite(s);
}
