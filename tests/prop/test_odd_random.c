// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the engines on random odd fabrics (irregular_odd() in tests/lib), and on three that once made
 * the search write beyond its arrays (tests/prop/odd).
 *
 * Each fabric is routed by every engine, with every depth of balance, and by one thread and by three.
 * The test follows the tables with its own code (tests/lib/follow.h) from every switch to every LID,
 * and counts the load of the links by its own code (tests/lib/recount.h).  Then parts of the fabric
 * fail and return, and the tables must return to those from before the faults.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of random fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/follow.h"
#include "lib/irregular.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define RUNS 500		/* number of random fabrics */

static struct ftr_err err;

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

/* ---- random fabrics ------------------------------------------------------ */

static struct {
	uint32_t fabrics, routings, turns, reordered, moved, sequences, faults;
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

/* All depths of balance.  A search must not increase the load of the most loaded link above the target
 * of <ftr/balance.h>, bound + max(1, bound / 50). */
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
		must(o, !got->hosts || !depth || load->max <=
		     FTR_MAX(got->max_before, got->bound + FTR_MAX(got->bound / 50, 1u)),
		     "the search increases the greatest load from %u to %u flows, lower bound %u",
		     got->max_before, load->max, got->bound);
		must(o, !got->hosts || !depth || got->max_after == load->max,
		     "reported: %u flows; counted: %u", got->max_after, load->max);
		must(o, load->lost || got->bound <= load->max,
		     "lower bound: %u flows; counted: %u", got->bound, load->max);
		sum.moved += got->moved > 0;
		sum.turns += r.stats.n_turns > 0;
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
	printf("%u random fabrics from seed %" PRIu64 " on (%u with LIDs from 32,768 on, %u with LMC 3, %u with hosts of two ports), %u routings (%u improved by a search; with extra turns: %u, by sftree's order: %u); %" PRIu64 " walks\n",
	       sum.fabrics, trees_first_seed(), sum.sparse, sum.wide, sum.twin, sum.routings,
	       sum.moved, sum.turns, sum.reordered, sum.pairs);
	fflush(stdout);
	runs_show(sum.sparse && sum.wide && sum.twin);
	runs_show(sum.moved && sum.turns && sum.reordered);
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
	complete = !o->sh->n_missing_sw && !o->sh->n_missing_links;
	ok(ftr_tables_carry(p->f, p->t, o->f, &prefer, &err));
	if (!complete) {
		ok(ftr_tables_carry(p->last_f, p->last.t, o->f, &current, &err));
		ck_assert(ftr_turns_carry(p->last_f, p->last.stats.turn, p->last.stats.n_turns,
					  o->f, &turn, &o->opts.n_turns));
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
	ok(ftr_nominal_new(p.f, NULL, NULL, &nominal, NULL, &err));
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
	Suite *s = suite_create("random odd fabrics");
	TCase *t = tcase_create("all"), *random = tcase_create("random");

	tcase_add_test(t, reported_fabrics);
	tcase_add_test(random, random_fabrics);
	tcase_add_test(random, random_faults);
	suite_add_tcase(s, t);
	suite_add_tcase(s, random);
	return run_suite(s);
}
