// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the engines on fabrics that are not fat-trees: rings, hypercubes, dragonflies, long
 * chains, separate parts, switches of 254 ports, links from a switch to itself, no hosts,
 * hosts without a switch.
 *
 * Every engine must route such a fabric, or report why it cannot.  No tables may have a
 * loop, a wrong delivery or a credit loop.  With sftree and ddlr, all physically connected
 * hosts must reach each other.
 *
 * The second half of the file draws random odd fabrics (irregular_odd() in tests/lib).  Each fabric
 * is routed by every engine, with every depth of balance, and by one thread and by three.  The test
 * follows the tables with its own code (tests/lib/follow.h) from every switch to every LID, and
 * counts the load of the links by its own code (tests/lib/recount.h).  Then parts of the fabric fail
 * and return, and the tables must return to those from before the faults.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of random fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "lib/follow.h"
#include "lib/irregular.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define RUNS 500		/* number of random fabrics */

static struct ftr_err err;
static struct ftr_builder *b;
static uint8_t used[300];	/* [switch] number of used ports */

#define SW(i) (UINT64_C(0x100) + (i))
#define HOST(i) (UINT64_C(0x10000) + (i))

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

static void begin(void)
{
	b = ftr_builder_new();
	ck_assert_ptr_nonnull(b);
	memset(used, 0, sizeof(used));
}

static void switches(uint32_t n, unsigned int ports)
{
	char name[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		ok(ftr_builder_add_switch(b, SW(i), ports, 0, 0, name, &err));
	}
}

static void join(uint32_t i, uint32_t k)
{
	struct ftr_end x = { SW(i), ++used[i] }, y = { SW(k), ++used[k] };

	ok(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR, &err));
}

/* Try to add a link.  If it is refused, there must be an error message. */
static void try_link(struct ftr_end x, struct ftr_end y)
{
	enum ftr_status st = ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR,
						  &err);

	ck_assert(!st || (st == FTR_INVAL && err.msg[0]));
}

static void hosts(uint32_t i, uint32_t h, uint32_t n)
{
	for (; n--; h++) {
		struct ftr_end x = { SW(i), ++used[i] }, y = { HOST(h), 1 };

		ok(ftr_builder_add_endport(b, FTR_NODE_CA, HOST(h),
					   HOST(h) + 0x1000000, 1, 0, 0, "h",
					   &err));
		ok(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR, &err));
	}
}

static struct ftr_fabric *end(void)
{
	struct ftr_fabric *f = NULL;

	ok(ftr_builder_assign_lids(b, 0, &err));
	ok(ftr_builder_freeze(b, &f, &err));
	return f;
}

static uint64_t unconnected(const struct ftr_fabric *f)
{
	uint32_t *part = calloc(f->n_sw + 1u, sizeof(*part));
	uint64_t n = 0;

	ftr_check_parts(f, part);
	for (ftr_ep x = 0; x < f->n_ep; x++)
		for (ftr_ep y = 0; y < f->n_ep; y++)
			n += x != y && f->ep[x].sw != FTR_SW_NONE &&
				f->ep[y].sw != FTR_SW_NONE &&
				part[f->ep[x].sw] != part[f->ep[y].sw];
	free(part);
	return n;
}

static void route(const struct ftr_shape *sh, const struct ftr_engine_ops *ops,
		  struct ftr_check_report *r)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_check_opts co = { .switch_sources = true };
	struct ftr_tables *t = NULL;
	enum ftr_status st;

	ok(ftr_tables_new(sh->f, false, &t, &err));
	st = ops->route(sh, &opts, NULL, t, NULL, &err);
	ck_assert_msg(!st || (st != FTR_INTERNAL && err.msg[0]), "%s: %s",
		      ops->name, err.msg);
	if (!st) {
		ok(ftr_check_tables(sh->f, t, &co, NULL, r, &err));
		ck_assert_msg(!r->found[FTR_FIND_LOOP] &&
			      !r->found[FTR_FIND_WRONG_END] &&
			      !r->found[FTR_FIND_DEAD_PORT] &&
			      r->cdg != FTR_CDG_CYCLE, "%s: a loop, a wrong delivery or a credit loop",
			      ops->name);
		if (strcmp(ops->name, "dmodc"))
			ck_assert_msg(r->bad[FTR_CHECK_HOST_HOST] ==
				      unconnected(sh->f), "%s: %llu pairs of hosts are unreachable",
				      ops->name, (unsigned long long)
				      r->bad[FTR_CHECK_HOST_HOST]);
	}
	ftr_tables_free(t);
}

static void all_engines(struct ftr_fabric *f)
{
	struct ftr_check_report *r = malloc(sizeof(*r));
	const struct ftr_engine_ops *ops;
	struct ftr_shape *sh = NULL;
	enum ftr_status st = ftr_shape_new(f, NULL, NULL, &sh, &err);

	ck_assert_msg(!st || (st == FTR_SHAPE && err.msg[0]), "%s", err.msg);
	for (unsigned int i = 0; !st && (ops = ftr_engine_at(i)); i++)
		route(sh, ops, r);
	ftr_shape_free(sh);
	free(r);
}

/* Route the fabric, then once more with a few links removed. */
static void finish(void)
{
	struct ftr_fabric *f = end(), *less;

	all_engines(f);
	for (uint64_t seed = 1; seed <= 5 && f->n_sw_links > 3; seed++) {
		struct ftr_damage d = { .seed = seed, .links = 3 };

		ok(ftr_gen_damage(f, &d, &less, &err));
		all_engines(less);
		ftr_fabric_free(less);
	}
	ftr_fabric_free(f);
}

START_TEST(ring)
{
	begin();
	switches(12, 8);
	for (uint32_t i = 0; i < 12; i++) {
		join(i, (i + 1) % 12);
		hosts(i, 3 * i, 3);
	}
	finish();
}
END_TEST

START_TEST(hypercube)
{
	begin();
	switches(32, 8);
	for (uint32_t i = 0; i < 32; i++) {
		for (uint32_t d = 1; d < 32; d <<= 1)
			if (!(i & d))
				join(i, i | d);
		hosts(i, 2 * i, 2);
	}
	finish();
}
END_TEST

/* 9 groups of 4 switches.  In a group all switches are linked with each other.  One link joins each
 * pair of groups. */
START_TEST(dragonfly)
{
	begin();
	switches(36, 12);
	for (uint32_t g = 0; g < 9; g++) {
		for (uint32_t i = 0; i < 4; i++) {
			for (uint32_t k = i + 1; k < 4; k++)
				join(4 * g + i, 4 * g + k);
			hosts(4 * g + i, 2 * (4 * g + i), 2);
		}
		for (uint32_t h = g + 1; h < 9; h++)
			join(4 * g + (h - 1) / 2 % 4, 4 * h + g / 2 % 4);
	}
	finish();
}
END_TEST

/* 80 switches in a row.  Some paths have more hops than OpenSM supports. */
START_TEST(line)
{
	begin();
	switches(80, 4);
	for (uint32_t i = 0; i < 80; i++) {
		if (i)
			join(i - 1, i);
		hosts(i, i, 1);
	}
	finish();
}
END_TEST

/* 80 switches in a row, with hosts only at the two ends. */
START_TEST(bare_line)
{
	begin();
	switches(80, 4);
	for (uint32_t i = 1; i < 80; i++)
		join(i - 1, i);
	hosts(0, 0, 2);
	hosts(79, 2, 2);
	finish();
}
END_TEST

START_TEST(separate_parts)
{
	begin();
	switches(10, 8);
	for (uint32_t i = 0; i < 3; i++) {
		join(3 * i, 3 * i + 2);
		join(3 * i + 1, 3 * i + 2);
		hosts(3 * i, 6 * i, 3);
		hosts(3 * i + 1, 6 * i + 3, 3);
	}
	finish();	/* three trees and a single switch */
}
END_TEST

START_TEST(many_ports)
{
	begin();
	switches(3, 254);
	for (uint32_t i = 0; i < 100; i++) {
		join(0, 2);
		join(1, 2);
	}
	hosts(0, 0, 154);
	hosts(1, 154, 154);
	finish();
}
END_TEST

START_TEST(loopback)
{
	begin();
	switches(4, 12);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 2; k < 4; k++)
			join(i, k);
	for (uint32_t i = 0; i < 4; i++) {
		struct ftr_end x = { SW(i), 11 }, y = { SW(i), 12 };

		try_link(x, y);
	}
	hosts(0, 0, 4);
	hosts(1, 4, 4);
	finish();
}
END_TEST

START_TEST(no_hosts)
{
	begin();
	switches(6, 8);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 4; k < 6; k++)
			join(i, k);
	finish();
}
END_TEST

START_TEST(back_to_back)
{
	struct ftr_end x = { HOST(0), 1 }, y = { HOST(1), 1 };

	begin();
	for (uint32_t h = 0; h < 2; h++)
		ok(ftr_builder_add_endport(b, FTR_NODE_CA, HOST(h),
					   HOST(h) + 0x1000000, 1, 0, 0, "h",
					   &err));
	try_link(x, y);
	finish();
}
END_TEST

START_TEST(nothing)
{
	begin();
	finish();
}
END_TEST

/* ---- random fabrics ------------------------------------------------------ */

static struct {
	uint32_t fabrics, routings, turns, reordered, longer, moved, sequences, faults;
	uint32_t sparse, wide, twin;	/* fabrics with LIDs up to 32,768 or more, with LMC 3, with
					 * hosts that have two ports */
	uint64_t pairs;
} sum;

/* A random fabric and the options by which it is routed. */
struct odd {
	uint64_t seed;
	const char *what;	/* for messages */
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_route_opts opts;
	const struct ftr_engine_ops *ops;
	ftr_sw sm;
};

/* One routing. */
struct routed {
	struct ftr_tables *t;
	struct ftr_route_stats stats;
	uint8_t *order;
};

#define must(o, cond, fmt, ...)						\
	do {								\
		if (!(cond))						\
			ck_abort_msg("seed %" PRIu64 ", %s, balance %d, %s: " fmt, \
				     (o)->seed, (o)->ops->name, (int)(o)->opts.balance,	\
				     (o)->what, ##__VA_ARGS__);	\
	} while (0)

static void routed_free(struct routed *r)
{
	ftr_tables_free(r->t);
	free(r->stats.turn);
	free(r->order);
	memset(r, 0, sizeof(*r));
}

static void route_odd(const struct odd *o, struct ftr_team *team, struct routed *r)
{
	memset(r, 0, sizeof(*r));
	r->order = malloc(o->f->n_sw);
	r->stats.order = r->order;
	ok(ftr_tables_new(o->f, false, &r->t, &err));
	memset(r->t->lft, 0x55, (size_t)r->t->n_sw * r->t->stride);
	must(o, !o->ops->route(o->sh, &o->opts, team, r->t, &r->stats, &err), "%s", err.msg);
	sum.routings++;
}

/* The entries that the engine must fill: see enum ftr_promise. */
static bool is_promised(const struct odd *o, const struct follow *w, const uint32_t *ends,
			ftr_sw s, const struct ftr_lid_owner *to)
{
	ftr_sw t = to->kind == FTR_OWNER_SW ? to->idx : o->f->ep[to->idx].sw;
	enum ftr_promise promise = o->ops->promise(&o->opts);

	if (t == FTR_SW_NONE || !follow_joined(w, s, t))
		return false;
	if (promise == FTR_PROMISE_ALL || (promise == FTR_PROMISE_HOSTS && t == o->sm))
		return true;
	return promise == FTR_PROMISE_HOSTS && to->kind == FTR_OWNER_EP && ends[s];
}

/* Follow the tables from every switch to every LID. */
static void all_arrive(const struct odd *o, const struct ftr_tables *t)
{
	const struct ftr_fabric *f = o->f;
	uint32_t *ends = calloc(f->n_sw, sizeof(*ends)), waiting;
	struct follow *w = follow_new(f, NULL);

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			ends[f->ep[e].sw]++;
	follow_tables(w, t->lft, t->stride);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *to = &f->owner[lid];

		if (to->kind == FTR_OWNER_NONE)
			continue;
		follow_begin(w, (ftr_lid)lid);
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			enum follow_fate fate = follow(w, s);

			must(o, fate == FOLLOW_ARRIVES ||
			     (fate == FOLLOW_NO_ENTRY && !is_promised(o, w, ends, s, to)),
			     "a packet from switch %u to LID %u: enum follow_fate %d", s, lid,
			     (int)fate);
			sum.pairs += ends[s];
		}
	}
	waiting = follow_waiting(w);
	must(o, !waiting, "a credit loop: %u channels wait for each other", waiting);
	follow_free(w);
	free(ends);
}

/* The checker must agree, and must prove the claims of the engine. */
static void checker_agrees(const struct odd *o, const struct routed *r)
{
	struct ftr_check_opts co = {
		.switch_sources = true, .rank = r->stats.order_known ? r->order : NULL,
		.turn = r->stats.turn, .n_turns = r->stats.n_turns,
	};
	struct ftr_check_report *c = malloc(sizeof(*c));

	ok(ftr_check_tables(o->f, r->t, &co, NULL, c, &err));
	must(o, !c->harmful && c->cdg != FTR_CDG_CYCLE, "the checker: %" PRIu64
	     " harmful paths, enum ftr_cdg_verdict %d", c->harmful, (int)c->cdg);
	free(c);
}

/* Route with one thread and with three. */
static void route_twice(struct odd *o, struct ftr_team *three, struct routed *r)
{
	struct routed other;

	route_odd(o, NULL, r);
	route_odd(o, three, &other);
	must(o, !memcmp(r->t->lft, other.t->lft, (size_t)r->t->n_sw * r->t->stride),
	     "three threads make other tables than one");
	must(o, r->stats.n_turns == other.stats.n_turns &&
	     (!r->stats.n_turns || !memcmp(r->stats.turn, other.stats.turn, r->stats.n_turns *
					   sizeof(*r->stats.turn))),
	     "three threads plan other turns than one");
	routed_free(&other);
	all_arrive(o, r->t);
	checker_agrees(o, r);
}

/* All depths of balance.  A search must not increase the load of the most loaded link. */
static void every_depth(struct odd *o, struct ftr_team *three)
{
	for (unsigned int depth = FTR_BALANCE_OFF; depth <= FTR_BALANCE_FULL; depth++) {
		const struct ftr_balance_report *got;
		struct recount *load;
		struct routed r;

		o->opts.balance = (enum ftr_balance)depth;
		route_twice(o, three, &r);
		load = recount_new(o->sh, r.t);
		got = &r.stats.balance;
		must(o, !got->hosts || !depth || load->max <= got->max_before,
		     "the search increases the greatest load from %u to %u flows",
		     got->max_before, load->max);
		must(o, !got->hosts || !depth || got->max_after == load->max,
		     "reported: %u flows; counted: %u", got->max_after, load->max);
		must(o, load->lost || got->bound <= load->max,
		     "lower bound: %u flows; counted: %u", got->bound, load->max);
		sum.moved += got->moved > 0;
		sum.turns += r.stats.n_turns > 0;
		sum.longer += r.stats.longer_pairs > 0;
		sum.reordered += r.stats.reordered;
		recount_free(load);
		routed_free(&r);
	}
}

static void shape_of(struct odd *o, const struct ftr_shape *nominal)
{
	struct ftr_shape_opts so = { .nominal = nominal };

	o->opts.nominal = nominal;
	ok(ftr_shape_new(o->f, &so, NULL, &o->sh, &err));
}

static void draw_odd(struct odd *o, uint64_t seed)
{
	struct ftr_rng r;
	bool wide = false, twin = false;

	ftr_rng_seed(&r, seed);
	*o = (struct odd){
		.seed = seed, .what = "no faults", .f = irregular_odd(&r), .opts = FTR_ROUTE_OPTS_INIT,
	};
	if (!ftr_rng_below(&r, 8))
		o->opts.paths = FTR_PATHS_UPDOWN;
	o->opts.keep_turns = true;
	o->sm = ftr_rng_below(&r, o->f->n_sw);
	o->opts.sm_switch = o->sm;
	o->ops = ftr_engine_at(0);
	for (ftr_ep e = 0; e < o->f->n_ep; e++) {
		wide |= o->f->ep[e].lmc == 3;
		twin |= o->f->ep[e].port_num == 2;
	}
	sum.fabrics++;
	sum.sparse += o->f->max_lid >= 32768;
	sum.wide += wide;
	sum.twin += twin;
}

START_TEST(random_fabrics)
{
	struct ftr_team *three = ftr_team_new(3);

	for (uint32_t i = 0; i < trees_runs(RUNS); i++) {
		struct odd o;

		draw_odd(&o, trees_first_seed() + i);
		suite_now(o.seed);
		shape_of(&o, NULL);
		for (unsigned int k = 0; (o.ops = ftr_engine_at(k)); k++)
			every_depth(&o, three);
		ftr_shape_free(o.sh);
		ftr_fabric_free(o.f);
	}
	ftr_team_free(three);
	printf("%u random fabrics from seed %" PRIu64 " on (%u with LIDs from 32,768 on, %u with LMC 3, %u with hosts of two ports), %u routings (%u improved by a search; with extra turns: %u, with longer paths: %u, by sftree's order: %u); %" PRIu64 " walks\n",
	       sum.fabrics, trees_first_seed(), sum.sparse, sum.wide, sum.twin, sum.routings,
	       sum.moved, sum.turns, sum.longer, sum.reordered, sum.pairs);
	fflush(stdout);
	runs_show(sum.sparse && sum.wide && sum.twin);
	runs_show(sum.moved && sum.turns && sum.longer && sum.reordered);
}
END_TEST

/* On these fabrics, the search once wrote beyond its arrays: some candidates for extra turns are
 * farther from the destination than the switch. */
START_TEST(reported_fabrics)
{
	static const char *const file[] = { "small", "hosts-above", "literal" };
	const char *top = getenv("abs_top_srcdir");
	struct ftr_team *three = ftr_team_new(3);

	for (size_t i = 0; i < FTR_ARRAY_LEN(file); i++) {
		struct odd o = {
			.what = file[i], .opts = FTR_ROUTE_OPTS_INIT, .sm = FTR_SW_NONE,
		};
		char path[4096];

		snprintf(path, sizeof(path), "%s/tests/prop/odd/%s.net", top ? top : ".", file[i]);
		ok(ftr_read_fabric(path, 0, &o.f, &err));
		o.opts.keep_turns = true;
		shape_of(&o, NULL);
		for (unsigned int k = 0; (o.ops = ftr_engine_at(k)); k++)
			every_depth(&o, three);
		ftr_shape_free(o.sh);
		ftr_fabric_free(o.f);
	}
	ftr_team_free(three);
	ck_assert_uint_gt(sum.longer, 0);
}
END_TEST

/* ---- faults and returns ------------------------------------------------------ */

/* The parts of `whole` that failed. */
struct faults {
	const struct ftr_fabric *whole;
	uint8_t *sw, *ep, *link;	/* [n_sw], [n_ep], [n_ports] 1: failed */
	uint8_t *seen;		/* [n_sw] 1: links connect the switch with the subnet manager */
};

static bool link_works(const struct faults *x, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(x->whole, s, p);

	if (port->peer_kind != FTR_PEER_SW)
		return false;
	return !x->sw[s] && !x->sw[port->peer] && !x->link[x->whole->sw[s].first_port + p] &&
		!x->link[x->whole->sw[port->peer].first_port + port->peer_port];
}

/* OpenSM sees only what links connect with its own switch. */
static void see(struct faults *x, ftr_sw sm)
{
	bool again = true;

	memset(x->seen, 0, x->whole->n_sw);
	for (x->seen[sm] = 1; again;) {
		again = false;
		for (ftr_sw s = 0; s < x->whole->n_sw; s++)
			for (unsigned int p = 1; x->seen[s] && p <= x->whole->sw[s].n_ports; p++)
				if (link_works(x, s, p)) {
					ftr_sw t = ftr_fabric_port(x->whole, s, p)->peer;

					again |= !x->seen[t];
					x->seen[t] = 1;
				}
	}
}

static bool sees_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return ((struct faults *)ctx)->seen[s];
}

static bool sees_ep(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	const struct faults *x = ctx;

	return f->ep[e].sw != FTR_SW_NONE && x->seen[f->ep[e].sw] && !x->ep[e];
}

static bool sees_link(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	(void)f;
	return link_works(ctx, s, p);
}

static struct ftr_fabric *what_works(struct faults *x, ftr_sw sm)
{
	struct ftr_filter filter = { sees_sw, sees_ep, sees_link, x, NULL };
	struct ftr_fabric *f = NULL;

	see(x, sm);
	ok(ftr_fabric_copy_if(x->whole, &filter, &f, &err));
	return f;
}

static void faults_new(struct faults *x, const struct ftr_fabric *whole)
{
	x->whole = whole;
	x->sw = calloc(whole->n_sw, 1);
	x->ep = calloc(whole->n_ep + 1u, 1);
	x->link = calloc(whole->n_ports, 1);
	x->seen = calloc(whole->n_sw, 1);
}

static void faults_free(struct faults *x)
{
	free(x->sw);
	free(x->ep);
	free(x->link);
	free(x->seen);
}

/* Some parts fail, and some of those that failed return. */
static void change(struct faults *x, struct ftr_rng *r, ftr_sw sm)
{
	uint32_t fail = ftr_rng_below(r, 4) ? 10 : 40, back = ftr_rng_below(r, 80);
	uint8_t *part[] = { x->sw, x->ep, x->link };
	uint32_t n[] = { x->whole->n_sw, x->whole->n_ep, x->whole->n_ports };

	for (unsigned int k = 0; k < FTR_ARRAY_LEN(part); k++) {
		bool some = ftr_rng_below(r, 2);

		for (uint32_t i = 0; i < n[k]; i++) {
			if (part[k][i] && ftr_rng_below(r, 100) < back)
				part[k][i] = 0;
			else if (some && ftr_rng_below(r, 100) < fail)
				part[k][i] = 1;
		}
	}
	x->sw[sm] = 0;
}

/* The state of the plugin that the next routing starts from. */
struct past {
	struct ftr_fabric *f;		/* the fabric at the first routing */
	struct ftr_tables *t;		/* its tables, which are preferred from then on */
	struct ftr_fabric *last_f;	/* the fabric at the last routing */
	struct routed last;
};

/* Route what works now, as the plugin does: keep the entries of the preferred tables and of those
 * in the switches; start from the extra turns of the last routing. */
static void route_again(struct odd *o, const struct past *p, const struct ftr_shape *nominal,
			struct routed *r)
{
	struct ftr_keep keep = { NULL };
	struct ftr_tables *prefer = NULL, *current = NULL;
	struct ftr_turn *turn = NULL;
	bool complete;

	shape_of(o, nominal);
	complete = !o->sh->missing.n_missing_sw && !o->sh->missing.n_missing_links;
	ok(ftr_tables_carry(p->f, p->t, o->f, &prefer, &err));
	if (!complete) {
		ok(ftr_tables_carry(p->last_f, p->last.t, o->f, &current, &err));
		ok(ftr_turns_carry(p->last_f, p->last.stats.turn, p->last.stats.n_turns, o->f,
				   &turn, &o->opts.n_turns, &err));
	}
	keep.prefer = prefer;
	keep.current = current;
	o->opts.turn = turn;
	o->opts.keep = &keep;
	route_odd(o, NULL, r);
	o->opts.keep = NULL;
	o->opts.turn = NULL;
	o->opts.n_turns = 0;
	ftr_tables_free(prefer);
	ftr_tables_free(current);
	free(turn);
}

/* Route the fabric without faults, with the search if the depth is full. */
static void route_first(struct odd *o, enum ftr_balance depth, struct routed *r)
{
	struct routed better;
	struct ftr_keep keep = { .search_all = true };

	o->opts.balance = FTR_MIN(depth, FTR_BALANCE_LOAD);
	route_odd(o, NULL, r);
	if (depth != FTR_BALANCE_FULL)
		return;
	keep.prefer = r->t;
	o->opts.keep = &keep;
	o->opts.balance = depth;
	route_odd(o, NULL, &better);
	o->opts.keep = NULL;
	o->opts.balance = FTR_BALANCE_LOAD;
	routed_free(r);
	*r = better;
}

static void faults_and_returns(struct odd *o, struct faults *x, struct ftr_rng *rng)
{
	struct ftr_nominal *nominal = NULL;
	uint64_t sm_guid = x->whole->sw[o->sm].guid;
	ftr_sw sm = o->sm;
	struct past p = { NULL };
	uint32_t steps = 1 + ftr_rng_below(rng, 5);

	p.f = what_works(x, sm);
	o->f = p.f;
	ok(ftr_nominal_new(p.f, NULL, NULL, NULL, &nominal, NULL, &err));
	o->sm = ftr_fabric_find_sw(p.f, sm_guid);
	o->opts.sm_switch = o->sm;
	shape_of(o, nominal->shape);
	route_first(o, (enum ftr_balance)ftr_rng_below(rng, 3), &p.last);
	ftr_shape_free(o->sh);
	p.t = p.last.t;
	p.last_f = p.f;
	for (uint32_t i = 0; i <= steps; i++) {
		struct routed now;

		if (i < steps) {
			change(x, rng, sm);
		} else {
			memset(x->sw, 0, x->whole->n_sw);
			memset(x->ep, 0, x->whole->n_ep);
			memset(x->link, 0, x->whole->n_ports);
		}
		o->f = what_works(x, sm);
		o->sm = ftr_fabric_find_sw(o->f, sm_guid);
		o->opts.sm_switch = o->sm;
		o->what = i < steps ? "after faults" : "after all parts have returned";
		route_again(o, &p, nominal->shape, &now);
		all_arrive(o, now.t);
		checker_agrees(o, &now);
		must(o, i < steps || !memcmp(now.t->lft, p.t->lft,
					     (size_t)now.t->n_sw * now.t->stride),
		     "the tables differ from the first tables");
		ftr_shape_free(o->sh);
		if (i) {
			routed_free(&p.last);
			ftr_fabric_free(p.last_f);
		} else {
			free(p.last.order);
			free(p.last.stats.turn);
		}
		p.last = now;
		p.last_f = o->f;
		sum.faults += i < steps;
	}
	routed_free(&p.last);
	ftr_fabric_free(p.last_f);
	ftr_tables_free(p.t);
	ftr_fabric_free(p.f);
	ftr_nominal_free(nominal);
	sum.sequences++;
}

START_TEST(random_faults)
{
	for (uint32_t i = 0; i < trees_runs(RUNS); i++) {
		struct faults x;
		struct ftr_rng rng;
		struct odd o;

		draw_odd(&o, trees_first_seed() + i);
		suite_now(o.seed);
		ftr_rng_seed(&rng, o.seed);
		for (unsigned int k = 0; (o.ops = ftr_engine_at(k)); k++) {
			struct odd one = o;

			faults_new(&x, o.f);
			faults_and_returns(&one, &x, &rng);
			faults_free(&x);
		}
		ftr_fabric_free(o.f);
	}
	printf("%u sequences from seed %" PRIu64 " on, %u times random faults and returns; %" PRIu64
	       " walks\n", sum.sequences, trees_first_seed(), sum.faults, sum.pairs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("odd fabrics");
	TCase *t = tcase_create("all"), *random = tcase_create("random");

	tcase_add_test(t, ring);
	tcase_add_test(t, hypercube);
	tcase_add_test(t, dragonfly);
	tcase_add_test(t, line);
	tcase_add_test(t, bare_line);
	tcase_add_test(t, separate_parts);
	tcase_add_test(t, many_ports);
	tcase_add_test(t, loopback);
	tcase_add_test(t, no_hosts);
	tcase_add_test(t, back_to_back);
	tcase_add_test(t, nothing);
	tcase_add_test(t, reported_fabrics);
	tcase_add_test(random, random_fabrics);
	tcase_add_test(random, random_faults);
	suite_add_tcase(s, t);
	suite_add_tcase(s, random);
	return run_suite(s);
}
