// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the sweeps that even out the load of shifts (src/balance/local_search.c).  A sweep
 * moves entries to the port with the cheapest path.  Its choices must equal those of a slow
 * sweep, which follows the first comment of local_search.c literally: it computes every
 * price with pow(), from the flows of each source in each shift.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "engine/engine.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define MAX_SW 40

static struct ftr_err err;

/* Consecutive seeds give different kinds of fabrics.  Most fabrics are damaged. */
static struct ftr_fabric *any_fabric(uint64_t seed)
{
	struct ftr_pgft g;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	switch (seed % 3) {
	case 0:
		return trees_damaged(trees_irregular(&r), &r, 15);
	case 1:
		return trees_damaged(trees_chassis(&r), &r, 30);
	default:
		trees_random_pgft(&r, &g, false, MAX_SW);
		return trees_damaged(trees_grow(&g, seed, 0), &r, 30);
	}
}

struct slow_sweep {
	const struct balance_net *net;
	const struct balance_sweep *w;
	struct recount *now;
	uint8_t *entry;		/* [switch] its entry for the destination */
	const struct balance_dest *d;
	ftr_sw to;
	bool sends[FTR_PORT_MAX];	/* [source] its flows use the entry that may be changed */
	uint32_t hosts;			/* number of hosts of the sources in sends[] */
};

static uint32_t slow_link(const struct slow_sweep *z, ftr_sw s)
{
	return z->net->f->sw[s].first_port + z->entry[s];
}

static bool passes(const struct slow_sweep *z, const struct balance_source *src,
		   ftr_sw by)
{
	ftr_sw s = src->sw;

	while (s != by && s != z->to) {
		uint32_t link = balance_link_to(z->net, s, z->entry[s]);

		if (link == BALANCE_NONE)
			return false;
		s = z->net->peer[link];
	}
	return s == by;
}

static uint32_t slow_shift(const struct slow_sweep *z,
			   const struct balance_source *src, uint32_t i)
{
	return (z->d->pos + z->net->n_pos - src->first - i) % z->net->n_pos;
}

/* Returns the price of a link for the flows of the entry.  `own`: the link carries these flows
 * now. */
static double slow_price(const struct slow_sweep *z, uint32_t link, bool own)
{
	uint32_t flows = z->now->flows[link] - (own ? z->hosts : 0);
	uint32_t over = flows + z->hosts > z->w->target ?
		flows + z->hosts - z->w->target : 0;
	double sum = flows / 16 * z->hosts / 16;

	sum += (double)z->w->over * FTR_MIN(z->hosts, over);
	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		const struct balance_source *src = &z->net->source[k];

		for (uint32_t i = 0; z->sends[k] && i < src->n; i++) {
			double n = z->now->shift[(size_t)link * z->net->n_pos +
						 slow_shift(z, src, i)] - own;

			sum += fmin(4 * (pow(n + 1, 5) - pow(n, 5)), 4e9);
		}
	}
	return sum;
}

/* Returns the price of the present path from s.  *bad: true if a link of this path is bad: it has
 * more flows than the target, or at least `meet` flows in a shift in which the entry is used. */
static double slow_present(const struct slow_sweep *z, ftr_sw s, bool *bad)
{
	double sum = 0;

	*bad = false;
	for (; s != z->to; s = z->net->peer[slow_link(z, s)]) {
		uint32_t link = slow_link(z, s);

		sum += slow_price(z, link, true);
		*bad |= z->now->flows[link] > z->w->target;
		for (uint32_t k = 0; k < z->net->n_sources; k++)
			for (uint32_t i = 0; z->sends[k] &&
			     i < z->net->source[k].n; i++)
				*bad |= z->now->shift[(size_t)link *
						      z->net->n_pos +
					slow_shift(z, &z->net->source[k], i)] >=
					z->w->meet;
	}
	return sum;
}

static void set_sends(struct slow_sweep *z, ftr_sw s)
{
	z->hosts = 0;
	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		z->sends[k] = passes(z, &z->net->source[k], s);
		z->hosts += z->sends[k] ? z->net->source[k].hosts : 0;
	}
}

/* Returns the price of the path through a port.  From the switch where this path meets the present
 * path, both are the same and have the same price. */
static double slow_through(struct slow_sweep *z, ftr_sw s, ftr_port port)
{
	ftr_sw on[FTR_PORT_MAX + 1], at;
	ftr_port now = z->entry[s];
	double sum = 0;
	uint32_t n = 0;
	bool bad, meets = false;

	for (at = s; at != z->to; at = z->net->peer[slow_link(z, at)])
		on[n++] = at;
	on[n++] = z->to;
	z->entry[s] = (uint8_t)port;
	for (at = s; !meets; ) {
		sum += slow_price(z, slow_link(z, at), false);
		at = z->net->peer[slow_link(z, at)];
		for (uint32_t i = 0; i < n; i++)
			meets |= on[i] == at;
	}
	z->entry[s] = (uint8_t)now;
	return sum + slow_present(z, at, &bad);
}

static void slow_add(struct slow_sweep *z, ftr_sw s, int by)
{
	for (; s != z->to; s = z->net->peer[slow_link(z, s)]) {
		uint32_t link = slow_link(z, s);

		z->now->flows[link] += (uint32_t)by * z->hosts;
		for (uint32_t k = 0; k < z->net->n_sources; k++)
			for (uint32_t i = 0; z->sends[k] &&
			     i < z->net->source[k].n; i++) {
				uint16_t *n = &z->now->shift[
					(size_t)link * z->net->n_pos +
					slow_shift(z, &z->net->source[k], i)];

				*n = (uint16_t)(*n + by);
			}
	}
}

static void slow_choose(struct slow_sweep *z, struct balance_cand *cand, ftr_sw s)
{
	ftr_port now = z->entry[s], best = now;
	double price, least;
	bool bad;

	set_sends(z, s);
	price = slow_present(z, s, &bad);
	least = price - floor(price / 10000);
	ck_assert(balance_cand_find(cand, s));
	for (uint32_t k = 0; bad && k < cand->n[s]; k++) {
		const struct ftr_group *g = cand->group[cand->first[s] + k];

		for (uint32_t i = 0; i < g->n; i++) {
			ftr_port port = cand->sh->tree.group_ports[g->first + i];

			price = port == now ? INFINITY : slow_through(z, s, port);
			if (price < least) {
				least = price;
				best = port;
			}
		}
	}
	if (best == now)
		return;
	slow_add(z, s, -1);
	z->entry[s] = (uint8_t)best;
	slow_add(z, s, 1);
}

/* Set bad[s] to true if the present path of a source passes s, and has a bad link from s on. */
static void slow_bad(struct slow_sweep *z, bool *bad)
{
	memset(z->sends, 0, sizeof(z->sends));
	for (uint32_t k = 0; k < z->net->n_sources; k++) {
		ftr_sw s = z->net->source[k].sw;
		bool is_bad;

		z->sends[k] = passes(z, &z->net->source[k], z->to);
		for (; z->sends[k] && s != z->to; s = z->net->peer[slow_link(z, s)]) {
			slow_present(z, s, &is_bad);
			bad[s] |= is_bad;
		}
		z->sends[k] = false;
	}
}

static void slow_dest(struct slow_sweep *z, struct balance_cand *cand,
		      const struct balance_order *o)
{
	uint8_t before[FTR_PORT_MAX];
	bool bad[FTR_PORT_MAX] = { false };
	uint32_t n_sw = z->net->f->n_sw;

	memcpy(before, z->entry, n_sw);
	slow_bad(z, bad);
	for (uint32_t i = 0; i + 1 < o->n; i++)
		if (bad[o->sw[i]] || memcmp(before, z->entry, n_sw))
			slow_choose(z, cand, o->sw[i]);
}

/* Add flows that are not in the tables: in small fabrics the prices would hardly differ. */
static void other_flows(struct balance_count *c, struct recount *now, uint64_t seed)
{
	static const uint32_t most[] = { 1, 14, 20, 130, 5000 };
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	for (uint32_t i = 0; i < c->net->n_links; i++) {
		uint32_t row = c->net->row[i];

		for (uint32_t k = 0; row != BALANCE_NONE && k < now->n_pos; k++) {
			uint32_t n = ftr_rng_below(&r, most[seed / 7 % 5]);

			now->shift[(size_t)i * now->n_pos + k] += (uint16_t)n;
			c->bins[(size_t)row * c->n_bins + k] += (uint16_t)n;
		}
	}
}

START_TEST(choices_are_the_cheapest)
{
	uint64_t seed = trees_first_seed(), moved = 0;

	for (uint32_t i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_fabric *f = any_fabric(seed);
		struct ftr_shape *sh = NULL;
		struct ftr_balance_input in = {
			.depth = FTR_BALANCE_FULL,
		};
		struct balance_count c = { 0 };
		struct ftr_arena *a = ftr_arena_new();
		struct balance_net *net = NULL;
		struct balance_sweep w = {
			.over = UINT64_C(1) << seed % 22, .meet = 1 + seed % 30,
		};
		struct slow_sweep z = { .w = &w };
		struct balance_cand cand;
		struct ftr_tables *t = NULL;
		uint64_t none;
		uint8_t *slow;

		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		ck_assert(!ftr_tables_new(f, false, &t, &err));
		ck_assert(!dmodc_tables(sh, NULL, NULL, t, NULL, &none,
					&err));
		in.shape = sh;
		ck_assert(!balance_net_new(&in, t, NULL, &net, &err));
		ck_assert(!balance_count_net(net, false, NULL, NULL, &err));
		c = (struct balance_count){
			.net = net, .t = t, .flows = net->flows,
			.entry = net->entry,
		};
		ck_assert(!balance_bins_new(&c, 1 << 24, a, &err));
		ck_assert_uint_eq(c.width, 1);
		ck_assert(!balance_bins_count(&c, NULL, &none, &err));
		z.net = net;
		z.now = recount_new(sh, t);
		other_flows(&c, z.now, seed);
		w.target = balance_most(net, c.flows) * (seed % 4) / 3;
		slow = malloc((size_t)net->first[f->n_sw] * f->n_sw + 1);
		ck_assert_ptr_nonnull(slow);
		memcpy(slow, c.entry, (size_t)net->first[f->n_sw] * f->n_sw);
		ck_assert(balance_cand_new(&cand, a, f->n_sw));
		ck_assert(!balance_sweep(&c, &w, NULL, &err));
		for (uint32_t k = 0; k < net->first[f->n_sw]; k++) {
			uint32_t d = net->sweep_order[k];

			z.d = &net->dest[d];
			z.to = sh->numbering.col_sw[z.d->col];
			z.entry = balance_entries(net, slow, d);
			balance_cand_column(&cand, net, z.d->col);
			slow_dest(&z, &cand, &net->order[z.d->col]);
			ck_assert_msg(!memcmp(z.entry, balance_entries(net,
							c.entry, d), f->n_sw),
				      "seed %" PRIu64 ": LID %u: a path is not the cheapest",
				      seed, z.d->lid);
		}
		moved += w.moved;
		balance_cand_free(&cand);
		free(slow);
		recount_free(z.now);
		balance_net_free(net);
		ftr_arena_free(a);
		ftr_tables_free(t);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
	runs_show(moved > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sweep of the search, random fabrics");
	TCase *t = tcase_create("choices");

	tcase_add_test(t, choices_are_the_cheapest);
	suite_add_tcase(s, t);
	return run_suite(s);
}
