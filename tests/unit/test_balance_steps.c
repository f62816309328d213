// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests single steps of the search for even load (src/core/balance) on a tree of four leaf switches
 * and four spines: the price of a path, paths that end or lead in a circle, extra turns that break
 * their contract, and entries that are to be placed but have no path.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "lib/edit.h"
#include "lib/recount.h"
#include "lib/suite.h"

static struct ftr_err err;

/* start: tables of dmodc.  t: the tables after the search.  The counters are those of no flows. */
struct small {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *start, *t;
	struct ftr_balance_input in;
	struct balance_net *net;
	struct balance_loads l;
	struct flow_dest *copy;
	struct balance_price price;
	struct balance_flows z;		/* to the first destination on leaf[0] */
	ftr_sw leaf[4], spine[4];
};

static size_t bytes_of(const struct ftr_tables *t)
{
	return (size_t)t->n_sw * t->stride;
}

static bool is_spine(const struct ftr_fabric *f, ftr_sw s)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw == s)
			return false;
	return true;
}

/* f: the fabric, or NULL: the tree with all links. */
static void small_new(struct small *x, struct ftr_fabric *f)
{
	uint32_t n_leaf = 0, n_spine = 0;

	*x = (struct small){ .f = f };
	if (!f)
		ck_assert(!ftr_gen_shape("2;4,4;1,4;1,1", NULL, &x->f, &err));
	ck_assert(!ftr_shape_new(x->f, NULL, NULL, &x->sh, &err));
	ck_assert(!ftr_tables_new(x->f, false, &x->start, &err));
	ck_assert(!ftr_tables_new(x->f, false, &x->t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(x->sh, NULL, NULL, x->start, NULL, &err));
	x->in.shape = x->sh;
	ck_assert(!balance_net_new(&x->in, &x->net, &err));
	ck_assert(!balance_loads_new(x->net, &x->l, &err));
	ck_assert(!balance_copy_new(x->net, x->start, NULL, &x->copy, &err));
	for (ftr_sw s = 0; s < x->f->n_sw; s++)
		if (is_spine(x->f, s))
			x->spine[n_spine++] = s;
		else
			x->leaf[n_leaf++] = s;
	x->price.over = 1;
	x->z = (struct balance_flows){
		.loads = &x->l, .price = &x->price, .sh = x->sh, .hosts = 1,
		.of = x->copy[x->net->first[x->sh->numbering.col[x->leaf[0]]]],
	};
	ck_assert_uint_eq(x->z.of.to, x->leaf[0]);
}

static void small_free(struct small *x)
{
	free(x->copy);
	balance_loads_free(&x->l);
	balance_net_free(x->net);
	ftr_tables_free(x->start);
	ftr_tables_free(x->t);
	ftr_shape_free(x->sh);
	ftr_fabric_free(x->f);
}

static struct ftr_balance_report balance(struct small *x, const struct balance_place *place)
{
	struct ftr_balance_report r;

	memcpy(x->t->lft, x->start->lft, bytes_of(x->t));
	ck_assert_msg(!balance_run(&x->in, place, x->t, NULL, &r, &err), "%s", err.msg);
	return r;
}

/* The group of s that leads to t. */
static const struct ftr_group *to(const struct small *x, ftr_sw s, ftr_sw t)
{
	const struct ftr_shape_tree *tree = &x->sh->tree;
	const struct ftr_group *g = &tree->groups[tree->group_first[s]];

	while (g->remote != t)
		g++;
	return g;
}

static ftr_port port_to(const struct small *x, ftr_sw s, ftr_sw t)
{
	return x->sh->tree.group_ports[to(x, s, t)->first];
}

static uint32_t *flows_to(const struct small *x, ftr_sw s, ftr_sw t)
{
	return &x->l.flows[x->net->links.ports[s].begin + port_to(x, s, t)];
}

/* ---- one entry -------------------------------------------------------------------- */

/* The path from spine[0] leads in a circle.  Flows on it are counted as often when they are taken
 * off. */
START_TEST(flows_in_a_circle)
{
	struct small x;
	uint32_t *on;

	small_new(&x, NULL);
	x.z.of.entry[x.spine[0]] = port_to(&x, x.spine[0], x.leaf[1]);
	x.z.of.entry[x.leaf[1]] = port_to(&x, x.leaf[1], x.spine[0]);
	on = flows_to(&x, x.leaf[1], x.spine[0]);
	balance_add(&x.z, x.leaf[2], 1);
	balance_add(&x.z, x.spine[0], 1);
	ck_assert_uint_ge(*on, 1);
	ck_assert_uint_le(*on, 2 * x.f->n_sw);
	balance_add(&x.z, x.spine[0], -1);
	balance_add(&x.z, x.leaf[2], -1);
	for (uint32_t i = 0; i < x.net->n_links; i++)
		ck_assert_uint_eq(x.l.flows[i], 0);
	small_free(&x);
}
END_TEST

/* The entries of spine[0] and leaf[1] lead to each other.  Each switch before spine[0] is found
 * once. */
START_TEST(switches_in_a_circle)
{
	uint16_t source[8];
	ftr_sw sw[8];
	struct balance_behind z = { .sw = sw, .source = source };
	struct small x;

	small_new(&x, NULL);
	z.net = x.net;
	z.costs = ftr_shape_column(x.sh, x.sh->numbering.col[x.leaf[0]]);
	z.of = x.z.of;
	memset(z.of.entry, FTR_PORT_NONE, x.f->n_sw);
	z.of.entry[x.spine[0]] = port_to(&x, x.spine[0], x.leaf[1]);
	for (int i = 1; i < 3; i++)
		z.of.entry[x.leaf[i]] = port_to(&x, x.leaf[i], x.spine[0]);
	balance_behind(&z, x.spine[0]);
	ck_assert_uint_eq(z.n_sw, 3);
	ck_assert_uint_eq(sw[0], x.spine[0]);
	ck_assert_uint_eq(sw[1] + sw[2], x.leaf[1] + x.leaf[2]);
	ck_assert_uint_eq(z.n, 2);
	ck_assert_uint_eq(z.hosts, 8);
	small_free(&x);
}
END_TEST

/* The path over spine[0] ends there: its links behind the spine cost nothing. */
START_TEST(path_that_ends)
{
	const struct ftr_group *cand[2];
	struct small x;
	ftr_sw s;

	small_new(&x, NULL);
	s = x.leaf[1];
	cand[0] = to(&x, s, x.spine[0]);
	cand[1] = to(&x, s, x.spine[1]);
	x.price.square = true;
	x.z.of.entry[s] = x.z.of.entry[x.spine[0]] = FTR_PORT_NONE;
	x.z.of.entry[x.spine[1]] = port_to(&x, x.spine[1], x.leaf[0]);
	*flows_to(&x, s, x.spine[0]) = 10;	/* one flow more: 21 */
	*flows_to(&x, s, x.spine[1]) = 5;	/* 11 */
	*flows_to(&x, x.spine[1], x.leaf[0]) = 5;	/* 11 */
	ck_assert_uint_eq(balance_choose(&x.z, s, cand, 2, 0), port_to(&x, s, x.spine[0]));
	*flows_to(&x, s, x.spine[0]) = 11;	/* 23 */
	ck_assert_uint_eq(balance_choose(&x.z, s, cand, 2, 0), port_to(&x, s, x.spine[1]));
	small_free(&x);
}
END_TEST

/* An entry on the paths of a set of entries has no port: none of the set changes. */
START_TEST(entries_before_a_missing_one)
{
	struct balance_sweep sweep = { .price = { .over = 1, .idle = true }, .least = 1 };
	struct balance_subset set = { 0 };
	uint64_t *bits;
	struct small x;
	uint8_t was;

	small_new(&x, NULL);
	bits = calloc(bytes_of(x.t) / 64, sizeof(*bits));
	for (int missing = 0; missing < 2; missing++) {
		ftr_lid lid = x.net->dest[x.net->first[x.sh->numbering.col[x.leaf[0]]]].lid;
		size_t at = (size_t)x.leaf[1] * x.t->stride + lid;

		bits[at / 64] = UINT64_C(1) << at % 64;
		ck_assert(!balance_subset_new(x.net, bits, &set, &err));
		sweep.only = &set;
		x.z.of.entry[x.leaf[1]] = port_to(&x, x.leaf[1], x.spine[0]);
		x.z.of.entry[x.spine[0]] = missing ? FTR_PORT_NONE :
			port_to(&x, x.spine[0], x.leaf[0]);
		memset(x.l.flows, 0, x.net->n_links * sizeof(*x.l.flows));
		*flows_to(&x, x.spine[0], x.leaf[0]) = 100;	/* the only bad link */
		sweep.price.target = 50;
		was = x.z.of.entry[x.leaf[1]];
		ck_assert(!balance_sweep(&x.l, x.copy, &sweep, &err));
		ck_assert_uint_eq(sweep.moved, !missing);
		ck_assert((x.z.of.entry[x.leaf[1]] != was) == !missing);
		balance_subset_free(&set);
	}
	free(bits);
	small_free(&x);
}
END_TEST

/* ---- candidates of extra turns ------------------------------------------------------ */

/* Candidates of the first column, which break the contract of extra(), or are unusual. */
enum odd { CIRCLE, LOST_SPINE, LOST_LEAF, DETOUR };

struct odd_turns {
	const struct small *x;
	enum odd odd;
};

static uint32_t odd_candidates(const void *ctx, ftr_sw s, uint32_t l,
			       const struct ftr_group **cand)
{
	const struct odd_turns *o = ctx;
	const struct ftr_shape_tree *tree = &o->x->sh->tree;
	const struct small *x = o->x;

	if (l != x->sh->numbering.col[x->leaf[0]])
		return FTR_BALANCE_BY_COST;
	if (o->odd == CIRCLE) {
		for (uint32_t k = 0; k < ftr_shape_groups(x->sh, s); k++)
			cand[k] = &tree->groups[tree->group_first[s] + k];
		return ftr_shape_groups(x->sh, s);
	}
	if (s == (o->odd == LOST_LEAF ? x->leaf[1] : x->spine[1]) && o->odd != DETOUR)
		return 0;
	if (o->odd == DETOUR && s == x->spine[1])
		return cand[0] = to(x, s, x->leaf[1]), 1;
	if (o->odd == DETOUR && s == x->leaf[1])
		return cand[0] = to(x, s, x->spine[0]), 1;
	return FTR_BALANCE_BY_COST;
}

/* Put all flows to the first column over one spine, which all the others may relieve. */
static void all_over(struct small *x, ftr_sw spine)
{
	uint32_t l = x->sh->numbering.col[x->leaf[0]];

	for (uint32_t d = x->net->first[l]; d < x->net->first[l + 1]; d++)
		for (int i = 1; i < 4; i++)
			ftr_tables_row(x->start, x->leaf[i])[x->net->dest[d].lid] =
				port_to(x, x->leaf[i], spine);
}

static uint32_t changed_to_first(const struct small *x, ftr_sw s)
{
	uint32_t l = x->sh->numbering.col[x->leaf[0]], n = 0;

	for (uint32_t d = x->net->first[l]; d < x->net->first[l + 1]; d++)
		n += ftr_tables_get(x->t, s, x->net->dest[d].lid) !=
			ftr_tables_get(x->start, s, x->net->dest[d].lid);
	return n;
}

static bool arrives(const struct small *x)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	struct ftr_check_report r;

	ck_assert(!ftr_check_tables(x->f, x->t, &opts, NULL, &r, &err));
	return !r.harmful && r.cdg == FTR_CDG_ACYCLIC;
}

START_TEST(odd_extra_turns)
{
	struct odd_turns o = { .odd = (enum odd)(_i / 2) };
	struct ftr_balance_report r;
	uint64_t *all = NULL;
	struct small x;

	small_new(&x, NULL);
	o.x = &x;
	x.in.depth = FTR_BALANCE_FULL;
	all_over(&x, x.spine[0]);
	if (_i % 2) {
		all = malloc(bytes_of(x.t) / 8);
		memset(all, 0xff, bytes_of(x.t) / 8);
		x.in.movable = all;
	}
	r = balance(&x, NULL);
	ck_assert_uint_lt(r.max_after, r.max_before);
	ck_assert(changed_to_first(&x, x.leaf[1]) && changed_to_first(&x, x.leaf[2]));
	x.in.extra = odd_candidates;
	x.in.extra_ctx = &o;
	r = balance(&x, NULL);
	ck_assert(arrives(&x));
	ck_assert_uint_le(r.max_after, r.max_before);
	ck_assert_uint_eq(changed_to_first(&x, x.leaf[1]), 0);
	/* with a set, the entries of the other leaves may change if leaf[1] has no path */
	if (o.odd == DETOUR || (o.odd == LOST_LEAF && all))
		ck_assert(changed_to_first(&x, x.leaf[2]));
	else
		ck_assert_uint_eq(changed_to_first(&x, x.leaf[2]), 0);
	free(all);
	small_free(&x);
}
END_TEST

/* ---- placed entries ---------------------------------------------------------------- */

/* The tree without the links of one leaf switch. */
static struct ftr_fabric *without_a_leaf(void)
{
	struct ftr_fabric *f = NULL, *next;
	struct edit e = EDIT_NOTHING;

	ck_assert(!ftr_gen_shape("2;4,4;1,4;1,1", NULL, &f, &err));
	for (e.cut_sw = 0; is_spine(f, e.cut_sw);)
		e.cut_sw++;
	for (unsigned int p = 1; p <= f->sw[e.cut_sw].n_ports; p++) {
		if (ftr_fabric_port(f, e.cut_sw, (ftr_port)p)->peer_kind != FTR_PEER_SW)
			continue;
		e.cut_port = (ftr_port)p;
		next = edit_seal(edit_open(f, &e));
		ftr_fabric_free(f);
		f = next;
	}
	return f;
}

static ftr_lid host_of(const struct ftr_fabric *f, ftr_sw s)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw == s)
			return f->ep[e].lid;
	return 0;
}

enum lost { ENDS, CIRCLES, CIRCLED };

/* The entries of a leaf and of a spine for a host without a path are to be placed.  They keep their
 * ports, and then the flows are counted.  CIRCLES: these ports form a circle, so nothing else is done.
 * CIRCLED: other entries already form a circle. */
START_TEST(placed_without_a_path)
{
	struct balance_place place = { .bits = NULL };
	struct ftr_balance_report r;
	struct recount *slow;
	struct small x;
	uint64_t *bits;
	ftr_sw from, spine;
	ftr_lid lid;

	small_new(&x, without_a_leaf());
	ck_assert(ftr_shape_cost(x.sh, x.leaf[1])[x.sh->numbering.col[x.leaf[0]]] == FTR_COST_INF);
	lid = host_of(x.f, x.leaf[0]);
	from = x.leaf[1];
	spine = x.spine[0];
	ftr_tables_row(x.start, from)[lid] = port_to(&x, from, spine);
	ftr_tables_row(x.start, spine)[lid] = port_to(&x, spine, x.leaf[2 - (_i != ENDS)]);
	bits = calloc(bytes_of(x.t) / 64, sizeof(*bits));
	if (_i != CIRCLED) {
		bits[(from * x.t->stride + lid) / 64] |= UINT64_C(1) << lid % 64;
		bits[(spine * x.t->stride + lid) / 64] |= UINT64_C(1) << lid % 64;
	}
	place.bits = bits;
	x.in.depth = FTR_BALANCE_LOAD;
	r = balance(&x, &place);
	ck_assert(!memcmp(x.t->lft, x.start->lft, bytes_of(x.t)));
	ck_assert_uint_eq(r.bound, 4 * 8 / 4);
	slow = recount_new(x.sh, x.start);
	ck_assert_uint_gt(slow->max, 8);
	ck_assert_uint_eq(r.max_before, _i == ENDS ? slow->max : 0);
	recount_free(slow);
	free(bits);
	small_free(&x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("balance, single steps");
	TCase *t = tcase_create("balance");

	tcase_add_test(t, flows_in_a_circle);
	tcase_add_test(t, switches_in_a_circle);
	tcase_add_test(t, path_that_ends);
	tcase_add_test(t, entries_before_a_missing_one);
	tcase_add_loop_test(t, odd_extra_turns, 0, 2 * DETOUR + 2);
	tcase_add_loop_test(t, placed_without_a_path, ENDS, CIRCLED + 1);
	suite_add_tcase(s, t);
	return run_suite(s);
}
