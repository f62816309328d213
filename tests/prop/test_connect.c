// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests dmodc with the option "paths all" on random irregular fabrics.  Every physically connected
 * pair of host ports must be reachable, and the channel dependencies must have no cycle.  Pairs with
 * an up/down path must have the same entries as with "paths updown".
 *
 * For hosts without an up/down path, dmodc may use extra turns: from a downward to an upward link.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "incremental/incremental.h"
#include "lib/draw.h"
#include "lib/irregular.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/switch_events.h"
#include "lib/trees.h"

static struct ftr_err err;

struct both {
	uint64_t seed;
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *all, *updown;
	struct ftr_route_stats stats;
	uint8_t *order;
	uint32_t *island;
};

static struct {
	uint32_t fabrics, extra, reordered;
	uint64_t turns, pairs;
} sum;

static void route_over(struct both *b, const struct ftr_shape_opts *shape,
		       const struct ftr_route_opts *opts)
{
	struct ftr_route_opts o = opts ? *opts : (struct ftr_route_opts)FTR_ROUTE_OPTS_INIT;
	const struct ftr_engine_ops *dmodc = ftr_engine_find("dmodc");

	ck_assert_msg(!ftr_shape_new(b->f, shape, NULL, &b->sh, &err), "%s", err.msg);
	b->order = malloc(b->f->n_sw);
	b->stats.order = b->order;
	o.keep_turns = true;
	ck_assert(!ftr_tables_new(b->f, false, &b->all, &err));
	ck_assert(!ftr_tables_new(b->f, false, &b->updown, &err));
	memset(b->all->lft, 0x55, (size_t)b->f->n_sw * b->all->stride);
	ck_assert_msg(!dmodc->route(b->sh, &o, NULL, b->all, &b->stats, &err),
		      "seed %" PRIu64 ": %s", b->seed, err.msg);
	o.paths = FTR_PATHS_UPDOWN;
	ck_assert(!dmodc->route(b->sh, &o, NULL, b->updown, NULL, &err));
	b->island = malloc(b->f->n_sw * sizeof(*b->island));
	ftr_uf_init(b->island, b->f->n_sw);
	for (uint32_t i = 0; i < b->f->n_ports; i++) {
		const struct ftr_swport *p = &b->f->ports[i];

		if (p->peer_kind == FTR_PEER_SW)
			ftr_uf_union(b->island, p->peer,
				     ftr_fabric_port(b->f, p->peer, p->peer_port)->peer);
	}
}

static void route(struct both *b, const struct ftr_route_opts *opts)
{
	route_over(b, NULL, opts);
}

static void unroute(struct both *b)
{
	ftr_tables_free(b->all);
	ftr_tables_free(b->updown);
	ftr_shape_free(b->sh);
	ftr_fabric_free(b->f);
	free(b->order);
	free(b->island);
	free(b->stats.turn);
}

static bool arrives(const struct both *b, const struct ftr_tables *t, ftr_sw s,
		    ftr_ep e)
{
	const struct ftr_fabric *f = b->f;

	for (uint32_t i = 0; i <= f->n_sw; i++) {
		ftr_port p = ftr_tables_get(t, s, f->ep[e].lid);
		const struct ftr_swport *port;

		if (p == FTR_PORT_NONE || !p || p > f->sw[s].n_ports)
			return false;
		port = ftr_fabric_port(f, s, p);
		if (port->peer_kind == FTR_PEER_EP)
			return port->peer == e;
		if (port->peer_kind == FTR_PEER_NONE)
			return false;
		s = port->peer;
	}
	return false;
}

static void all_arrive(const struct both *b)
{
	const struct ftr_fabric *f = b->f;

	for (ftr_ep x = 0; x < f->n_ep; x++)
		for (ftr_ep y = 0; y < f->n_ep; y++) {
			bool joined = ftr_uf_find(b->island, f->ep[x].sw) ==
				ftr_uf_find(b->island, f->ep[y].sw);

			if (arrives(b, b->all, f->ep[x].sw, y) != joined)
				ck_abort_msg("seed %" PRIu64 ": host %u to %u: %s", b->seed, x, y,
					     joined ? "links connect them, but packets do not arrive" :
					     "packets arrive although no links connect them");
		}
}

/* The checker must find no cycle in the whole dependency graph, although it does not get the
 * engine's order of switches and extra turns. */
static void no_credit_loop(const struct both *b)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	struct ftr_check_report rep;

	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(!rep.harmful && rep.cdg == FTR_CDG_ACYCLIC,
		      "seed %" PRIu64 ": %" PRIu64 " harmful paths, result on credit loops %d "
		      "(enum ftr_cdg_verdict)",
		      b->seed, rep.harmful, (int)rep.cdg);
}

/* An engine gives the checker the order of the switches and the extra turns that it has used.  With
 * both, the checker must prove without a dependency graph that there is no cycle.  Without the
 * extra turns this proof must fail. */
static void claims_prove(const struct both *b)
{
	struct ftr_check_opts opts = {
		.rank = b->stats.order_known ? b->order : NULL, .switch_sources = true,
		.turn = b->stats.turn, .n_turns = b->stats.n_turns,
	};
	struct ftr_check_report rep;

	/* without extra turns, paths may use horizontal links, and the checker needs the graph */
	if (!opts.rank || !b->stats.n_turns)
		return;
	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(!rep.found[FTR_FIND_TURN] && rep.cdg == FTR_CDG_PROVED,
		      "seed %" PRIu64 ": %" PRIu64 " turns, result on credit loops %d "
		      "(enum ftr_cdg_verdict)",
		      b->seed, rep.found[FTR_FIND_TURN], (int)rep.cdg);
	ck_assert_uint_eq(rep.found[FTR_FIND_MISSING], b->stats.no_path);
	if (!b->stats.extra_pairs || b->stats.reordered)
		return;
	opts.n_turns = 0;
	ck_assert(!ftr_check_tables(b->f, b->all, &opts, NULL, &rep, &err));
	ck_assert_msg(rep.cdg == FTR_CDG_ACYCLIC, "seed %" PRIu64
		      ": the checker has a proof even without the extra turns", b->seed);
}

/* Pairs with an up/down path have the entries of "paths updown". */
static void others_keep(const struct both *b)
{
	const struct ftr_shape *sh = b->sh;

	for (uint32_t i = 0; i < sh->numbering.n_dest && !b->stats.reordered; i++)
		for (ftr_sw s = 0; s < b->f->n_sw; s++) {
			ftr_lid lid = sh->numbering.dest[i].lid;
			ftr_port was = ftr_tables_get(b->updown, s, lid);

			ck_assert_msg(was == FTR_PORT_NONE || was == ftr_tables_get(b->all, s, lid),
				      "seed %" PRIu64 ": switch %u, LID %u: another entry than with \"paths updown\"",
				      b->seed, s, lid);
		}
}

static void judge(struct both *b)
{
	all_arrive(b);
	no_credit_loop(b);
	claims_prove(b);
	others_keep(b);
	sum.fabrics++;
	sum.extra += b->stats.n_turns > 0;
	sum.reordered += b->stats.reordered;
	sum.turns += b->stats.n_turns;
	sum.pairs += b->stats.extra_pairs;
}

static void show(const char *what)
{
	printf("%s: %u fabrics, %u with extra turns (%" PRIu64 " turns, %" PRIu64
	       " pairs), %u routed by sftree's order\n", what,
	       sum.fabrics, sum.extra, sum.turns, sum.pairs, sum.reordered);
	memset(&sum, 0, sizeof(sum));
}

static void irregular_one(uint64_t seed)
{
	struct both b = { .seed = seed };
	struct ftr_rng r;

	ftr_rng_seed(&r, b.seed);
	b.f = irregular_small(&r);
	route(&b, NULL);
	judge(&b);
	unroute(&b);
}

START_TEST(irregular)
{
	/* On this fabric, a path copied from another destination switch (engine/alike.c) once made
	 * a forbidden turn, and closed a credit loop. */
	irregular_one(6538);
	for (uint32_t i = 0; i < trees_runs(3000); i++)
		irregular_one(trees_first_seed() + i);
	show("irregular");
}
END_TEST

static uint32_t searched(const struct both *b, const char *engine,
			 enum ftr_paths paths, struct ftr_route_stats *stats)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t;

	o.paths = paths;
	o.balance = FTR_BALANCE_LOAD;
	o.keep_routed = true;
	ck_assert(!ftr_tables_new(b->f, false, &t, &err));
	ck_assert(!ftr_engine_find(engine)->route(b->sh, &o, NULL, t, stats, &err));
	ftr_tables_free(t);
	return stats->balance.max_after;
}

/* Two chassis, joined by rack switches.  Each rack switch is connected to two chips in one
 * chassis and to two chips in the other.  With these seeds dmodc routes by sftree's inverted
 * order of the switches.  After the search, the load must be about that of up/down routing.  The
 * engine must return the shape (ranks and costs) that all its tables follow (stats.routed),
 * because incremental routing starts from it. */
START_TEST(order_of_sftree_is_even)
{
	static const uint64_t seeds[] = { 32, 34, 47, 169, 197, 274, 332 };
	uint64_t all = 0, updown = 0, before = 0;

	for (size_t i = 0; i < FTR_ARRAY_LEN(seeds); i++) {
		uint64_t n = seeds[i];
		struct ftr_route_stats stats = { 0 };
		struct both b = { .seed = n };
		struct ftr_rng r;

		ftr_rng_seed(&r, n);
		b.f = irregular_chassis(&r, 2 + n % 20, 1 + n % 7, 1 + n % 15, n % 3);
		ck_assert(!ftr_shape_new(b.f, NULL, NULL, &b.sh, &err));
		all += searched(&b, "dmodc", FTR_PATHS_ALL, &stats);
		before += stats.balance.max_before;
		ck_assert(stats.reordered);
		ck_assert_ptr_nonnull(stats.routed);
		ftr_shape_free(stats.routed);
		updown += searched(&b, "dmodc", FTR_PATHS_UPDOWN, &stats);
		ftr_shape_free(b.sh);
		ftr_fabric_free(b.f);
	}
	printf("order of sftree: flows on the most loaded links %" PRIu64
	       " before the search, %" PRIu64 " after it; with up/down routing %" PRIu64
	       "\n", before, all, updown);
	ck_assert_uint_le(all * 100, updown * 102);
	ck_assert_uint_gt(before * 100, updown * 110);
}
END_TEST

/* Count the pairs of hosts that have no path with up/down routing. */
static uint64_t host_pairs_apart(const struct both *b)
{
	const struct ftr_shape *sh = b->sh;
	uint64_t n = 0;

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (uint32_t k = 0; k < sh->numbering.n_dest; k++) {
			const struct ftr_dest *x = &sh->numbering.dest[i];
			const struct ftr_dest *y = &sh->numbering.dest[k];

			n += x->cls == FTR_CLASS_HOST && y->cls == FTR_CLASS_HOST && i != k &&
				!arrives(b, b->updown,
					 sh->numbering.col_sw[x->col], b->f->owner[y->lid].idx);
		}
	return n;
}

/* Two chassis with hosts on their chips, joined by racks.  Either extra turns connect the chassis,
 * and one link carries all traffic from one chassis to the other (connect.c): the traffic of half of
 * the pairs without an up/down path.  Or the fabric is routed by sftree's order.
 *
 * `bound = max(pairs / 2, updown)`.  pairs: the number of pairs without an up/down path.
 * updown: the load of the most loaded link with up/down routing.  On nearly all fabrics the most
 * loaded link must carry at most 1.5 times the bound, and on all fabrics at most 2.5 times. */
START_TEST(gateway_is_near_its_bound)
{
	uint32_t n_turns = 0, reordered = 0, above = 0, n = trees_runs(120);
	double worst = 0;

	for (uint64_t i = 1; i <= n; i++) {
		struct ftr_route_stats stats = { 0 };
		struct both b = { .seed = i };
		uint64_t all, bound;
		struct ftr_rng r;

		ftr_rng_seed(&r, i);
		b.f = irregular_chassis(&r, 2 + i % 20, 1 + i % 7, 1 + i % 15, i % 3);
		route(&b, NULL);
		all = searched(&b, "dmodc", FTR_PATHS_ALL, &stats);
		ftr_shape_free(stats.routed);
		bound = FTR_MAX(searched(&b, "dmodc", FTR_PATHS_UPDOWN, &stats),
				host_pairs_apart(&b) / 2);
		n_turns += b.stats.n_turns > 0;
		reordered += b.stats.reordered;
		worst = FTR_MAX(worst, bound ? (double)all / (double)bound : 0);
		above += all * 2 > bound * 3;
		ck_assert_msg(all * 2 <= bound * 5, "seed %" PRIu64 ": most loaded link %" PRIu64
			      ", bound %" PRIu64, i, all, bound);
		unroute(&b);
	}
	printf("two chassis: %u fabrics with extra turns, %u by sftree's order; on %u fabrics the greatest load is above 1.5 times the bound; the worst load is %.2f times the bound\n",
	       n_turns, reordered, above, worst);
	ck_assert_uint_le(above, FTR_MAX(n / 20, 1u));
	runs_show(n_turns > 0 && reordered > 0);
}
END_TEST

/* Two chassis joined by rows of racks.  Every row reaches two chips of each chassis, so every
 * extra turn would close a credit loop.  With dmodc and with sftree, all racks of a row must share
 * the traffic between the chassis.  If no link is missing, no path may be longer than with
 * up/down routing. */
/* The number of pairs (switch, host port) whose path is longer than with "paths updown". */
static uint32_t longer_pairs(const struct both *b)
{
	const struct ftr_fabric *f = b->f;
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (ftr_ep e = 0; e < f->n_ep; e++) {
			ftr_sw at[2] = { s, s };
			uint32_t hops[2] = { 0, 0 };

			if (!arrives(b, b->updown, s, e))
				continue;
			for (int k = 0; k < 2; k++)
				while (at[k] != f->ep[e].sw) {
					at[k] = ftr_fabric_port(f, at[k], ftr_tables_get(
						k ? b->all : b->updown, at[k], f->ep[e].lid))->peer;
					hops[k]++;
				}
			n += hops[1] > hops[0];
		}
	return n;
}

START_TEST(a_row_of_racks_joins_chassis)
{
	uint64_t all = 0, updown = 0, sftree = 0, root[IRREGULAR_ROOTS];
	const struct ftr_shape_opts shape = {
		.roots = { root, IRREGULAR_ROOTS },
	};

	for (uint32_t i = 0; i < trees_runs(20); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_route_stats stats = { 0 };
		struct ftr_rng r;

		ftr_rng_seed(&r, b.seed);
		b.f = irregular_rows(&r, 24, 4, 1, i % 2 * 3, root);
		route_over(&b, &shape, NULL);
		ck_assert(b.stats.reordered);
		all_arrive(&b);
		no_credit_loop(&b);
		claims_prove(&b);
		if (i % 2 == 0)
			ck_assert_uint_eq(longer_pairs(&b), 0);
		all += searched(&b, "dmodc", FTR_PATHS_ALL, &stats);
		ck_assert_ptr_nonnull(stats.routed);
		ftr_shape_free(stats.routed);
		updown += searched(&b, "dmodc", FTR_PATHS_UPDOWN, &stats);
		ftr_shape_free(stats.routed);
		sftree += searched(&b, "sftree", FTR_PATHS_ALL, &stats);
		ftr_shape_free(stats.routed);
		unroute(&b);
	}
	printf("rows of racks: flows on the most loaded links %" PRIu64 "; with up/down routing %"
	       PRIu64 ", with sftree %" PRIu64 "\n", all, updown, sftree);
	ck_assert_uint_le(all * 100, updown * 102);
	ck_assert_uint_le(sftree * 100, updown * 102);
}
END_TEST

/* A compute tree and a storage tree are joined by horizontal links, which must share the traffic
 * between the trees.  The most loaded link must be near the lower bound, or carry at most an equal
 * share plus the flows to one destination, on a few fabrics to two destinations. */
START_TEST(links_between_trees_share)
{
	uint32_t above = 0, n = trees_runs(40);

	for (uint32_t i = 0; i < n; i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_route_stats stats = { 0 };
		uint32_t joints, hosts, most, share;
		struct ftr_rng r;
		bool near;

		ftr_rng_seed(&r, b.seed);
		joints = 2 + ftr_rng_below(&r, 7);
		hosts = i % 2 ? 90 : 30;
		b.f = irregular_two_trees(&r, joints, i % 2, i % 4 / 2 * 3);
		route(&b, NULL);
		all_arrive(&b);
		no_credit_loop(&b);
		claims_prove(&b);
		ck_assert(!b.stats.reordered);
		most = (uint32_t)searched(&b, "dmodc", FTR_PATHS_ALL, &stats);
		ftr_shape_free(stats.routed);
		/* the flows to the 24 hosts of the other tree, divided by the number of links */
		share = hosts * 24 / joints;
		near = most <= stats.balance.bound * 103 / 100 + 1;
		above += !near && most > share + hosts;
		ck_assert_msg(near || most <= share + 2 * hosts,
			      "seed %" PRIu64 ": %u flows on a link, %u links between the trees, bound %u",
			      b.seed, most, joints, stats.balance.bound);
		unroute(&b);
	}
	ck_assert_uint_le(above, FTR_MAX(n / 20, 1u));
}
END_TEST

START_TEST(damaged_trees)
{
	for (uint32_t i = 0; i < trees_runs(1500); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_pgft g;
		struct ftr_rng r;

		ftr_rng_seed(&r, b.seed);
		if (i % 3) {
			trees_random_pgft(&r, &g, false, 40);
			b.f = trees_grow(&g, b.seed, i % 5 == 0);
		} else {
			b.f = trees_chassis(&r);
		}
		b.f = trees_damaged(b.f, &r, 60);
		route(&b, NULL);
		judge(&b);
		unroute(&b);
	}
	show("damaged trees");
}
END_TEST

START_TEST(any_graph)
{
	for (uint32_t i = 0; i < trees_runs(700); i++) {
		struct both b = { .seed = trees_first_seed() + i };
		struct ftr_rng r;
		uint32_t n, links;

		ftr_rng_seed(&r, b.seed);
		n = 1 + ftr_rng_below(&r, 20);
		links = ftr_rng_below(&r, 2 * n);
		ck_assert(!random_graph_new(b.seed, n, ftr_rng_below(&r, 40), links, &b.f, &err));
		route(&b, NULL);
		judge(&b);
		unroute(&b);
	}
	show("any graph");
}
END_TEST

/* ---- incremental ------------------------------------------------------- */

struct life {
	struct both b;
	struct ftr_incr *lv;
	bool keep;
	ftr_sw sm;
	struct ftr_rng rng;
};

static struct {
	uint32_t applies, with_turns, refused, drained, compared, unproved, horizontal;
} lives;

static bool alive(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	const struct life *x = ctx;

	(void)f;
	return !ftr_incr_connected(x->lv, s, p) || ftr_incr_alive(x->lv, s, p);
}

/* Returns true if a full routing of sh uses the same kind of links (enum connect_links) as the
 * incremental routing.  A full routing uses the first kind with which all pairs are connected. */
static bool same_links(const struct life *x, const struct ftr_shape *sh,
		       const struct ftr_route_opts *o)
{
	enum connect_links links = incr_plan(x->lv)->links;
	struct ftr_arena *a = ftr_arena_new();
	struct connect c = { .complete = false };

	for (unsigned int i = 0; i < links && !c.complete; i++) {
		c.links = (enum connect_links)i;
		ck_assert(!connect_plan(sh, o, true, a, &c, &err));
	}
	ftr_arena_free(a);
	return !c.complete;
}

/* Compare the incremental tables with those of a full routing over the working links.  The full
 * routing is given the extra turns of the incremental tables.  If these do not connect all pairs, it
 * does not use them. */
static void compare(struct life *x, const struct ftr_check_delta *d)
{
	struct ftr_filter filter = { .keep_link = alive, .ctx = x };
	struct both now = { .seed = x->b.seed };
	struct ftr_shape_opts so = { .nominal = x->b.sh };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	const struct ftr_tables *t = ftr_incr_tables(x->lv);

	o.sm_switch = x->sm;
	o.turn = d->turn;
	o.n_turns = d->n_turns;
	ck_assert(!ftr_fabric_copy_if(x->b.f, &filter, &now.f, &err));
	route_over(&now, &so, &o);
	if (incr_plan(x->lv)->complete && same_links(x, now.sh, &o)) {
		lives.compared++;
		if (memcmp(now.all->lft, t->lft,
			   (size_t)t->n_sw * t->stride))
			ck_abort_msg("seed %" PRIu64
				     ": the tables differ from those of a full routing", x->b.seed);
		all_arrive(&now);
		no_credit_loop(&now);
	}
	unroute(&now);
}

/* Check the changes d.  The checker must find nothing but missing entries.  Returns true if the
 * checker proves that the changes close no cycle.  If not, they are undone, as in the plugin. */
static bool sound(struct life *x, const struct ftr_check_delta *d)
{
	struct ftr_delta_report rep;

	ck_assert(!ftr_check_changes(x->b.f, ftr_incr_tables(x->lv), d, &rep, &err));
	for (int i = 0; i < FTR_N_FINDINGS; i++)
		if (i != FTR_FIND_MISSING)
			ck_assert_msg(!rep.found[i], "seed %" PRIu64
				      ": %s from switch %u at switch %u, LID %u; %u extra turns",
				      x->b.seed, ftr_finding_name(
				      (enum ftr_finding)i), rep.sample[i].from,
				      rep.sample[i].at, rep.sample[i].lid, d->n_turns);
	ck_assert(!rep.missed && !rep.stranded);
	lives.unproved += !rep.proved;
	if (!rep.proved)
		ck_assert(ftr_incr_undo(x->lv));
	return rep.proved;
}

static void apply(struct life *x)
{
	const struct ftr_fabric *f = x->b.f;
	const struct ftr_incr_result *res;
	struct ftr_incr_event ev[FTR_PORT_MAX];
	struct ftr_check_delta d;
	uint32_t n = 0, most = 1 + ftr_rng_below(&x->rng, 3);
	enum ftr_status st;

	if (!ftr_rng_below(&x->rng, 6)) {
		bool up = ftr_rng_below(&x->rng, 2);

		n = switch_events(f, x->lv, ftr_rng_below(&x->rng, f->n_sw), up, ev);
	}
	for (uint32_t i = 0; n < most && i < 100; i++) {
		ftr_sw s = ftr_rng_below(&x->rng, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&x->rng, f->sw[s].n_ports));

		if (ftr_incr_connected(x->lv, s, p))
			ev[n++] = (struct ftr_incr_event){
				s, p, !ftr_incr_alive(x->lv, s, p)
			};
	}
	lives.applies++;
	st = ftr_incr_apply(x->lv, ev, n, &res, &err);
	ck_assert_msg(!st || st == FTR_REFUSED, "%s", err.msg);
	lives.refused += st != FTR_OK;
	if (st)
		return;
	ftr_incr_delta(x->lv, &d);
	lives.with_turns += d.n_turns > 0;
	lives.horizontal += d.horizontal;
	lives.drained += res->n_drain > 0;
	if (sound(x, &d) && !x->keep)
		compare(x, &d);
}

/* Let links fail and return, and follow them by incremental routing.  If `keep` is true, entries
 * keep their ports if possible, as in the plugin. */
static void live(struct life *x, bool keep)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_keep prefer = { 0 };

	o.sm_switch = x->sm = ftr_rng_below(&x->rng, x->b.f->n_sw);
	route(&x->b, &o);
	o.turn = x->b.stats.turn;
	o.n_turns = x->b.stats.n_turns;
	prefer.prefer = x->b.all;
	x->keep = keep;
	if (keep)
		o.keep = &prefer;
	if (x->b.stats.by_rank) {
		ck_assert_msg(!ftr_incr_new(x->b.sh, NULL, x->b.all, &o,
					    &x->lv, &err), "%s", err.msg);
		for (uint32_t k = 0; k < 8; k++)
			apply(x);
		ftr_incr_free(x->lv);
	}
	unroute(&x->b);
}

static void show_lives(void)
{
	printf("incremental: %u changes, %u with extra turns, %u over horizontal links, %u refused because of restored links, %u with a drain between writes, %u not proved; %u compared with a full routing\n",
	       lives.applies, lives.with_turns, lives.horizontal, lives.refused,
	       lives.drained, lives.unproved, lives.compared);
	memset(&lives, 0, sizeof(lives));
}

START_TEST(incremental)
{
	for (uint32_t i = 0; i < trees_runs(600); i++) {
		struct life x = { .b = { .seed = trees_first_seed() + i } };

		ftr_rng_seed(&x.rng, x.b.seed);
		x.b.f = irregular_small(&x.rng);
		live(&x, i % 4 == 3);
	}
	runs_show(lives.compared > lives.applies / 2);
	runs_show(lives.horizontal > 0);
	show_lives();
}
END_TEST

START_TEST(incremental_between_trees)
{
	for (uint32_t i = 0; i < trees_runs(200); i++) {
		struct life x = { .b = { .seed = trees_first_seed() + i } };

		ftr_rng_seed(&x.rng, x.b.seed);
		x.b.f = irregular_two_trees(&x.rng, 1 + i % 8, i % 2, i % 4 / 2 * 3);
		live(&x, i % 3 == 2);
	}
	ck_assert_uint_gt(lives.horizontal, lives.applies / 2);
	ck_assert_uint_gt(lives.compared, lives.applies / 2);
	ck_assert_uint_eq(lives.unproved, 0);
	show_lives();
}
END_TEST

START_TEST(real_fabrics)
{
	for (size_t i = 0; trees_real_files[i]; i++) {
		struct ftr_route_stats stats = { 0 };
		struct both b = { .seed = i };
		uint32_t all, updown;

		b.f = trees_real(trees_real_files[i]);
		if (!b.f)
			continue;
		route(&b, NULL);
		ck_assert(!b.stats.reordered);
		judge(&b);
		all = searched(&b, "dmodc", FTR_PATHS_ALL, &stats);
		updown = searched(&b, "dmodc", FTR_PATHS_UPDOWN, &stats);
		printf("%u flows on the most loaded link, %u with up/down routing; ", all, updown);
		ck_assert_uint_le(all * 100ull, updown * 102ull);
		unroute(&b);
		show(trees_real_files[i]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("connect");
	TCase *t = tcase_create("connect");

	tcase_add_test(t, irregular);
	tcase_add_test(t, gateway_is_near_its_bound);
	tcase_add_test(t, order_of_sftree_is_even);
	tcase_add_test(t, a_row_of_racks_joins_chassis);
	tcase_add_test(t, links_between_trees_share);
	tcase_add_test(t, damaged_trees);
	tcase_add_test(t, any_graph);
	tcase_add_test(t, incremental);
	tcase_add_test(t, incremental_between_trees);
	tcase_add_test(t, real_fabrics);
	suite_add_tcase(s, t);
	return run_suite(s);
}
