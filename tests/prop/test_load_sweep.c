// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests load sweeps on random fabrics.  A load sweep moves entries to other ports, to even out the
 * all-to-all load.  The port of every moved entry must be the one that a slow search finds.  The
 * tables must not depend on the number of threads.
 *
 * A sweep handles the destinations in batches.  Each batch is divided into shares, which
 * threads process at the same time.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "engine/engine.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

static size_t bytes_of(const struct ftr_tables *t)
{
	return (size_t)t->n_sw * t->stride;
}

static struct ftr_shape *shape_of(const struct ftr_fabric *f)
{
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, NULL, NULL, &sh, &err), "%s", err.msg);
	return sh;
}

static struct ftr_tables *copy_of(const struct ftr_fabric *f,
				  const struct ftr_tables *t)
{
	struct ftr_tables *c = NULL;

	ck_assert(!ftr_tables_new(f, false, &c, &err));
	memcpy(c->lft, t->lft, bytes_of(t));
	return c;
}

struct counted {
	struct ftr_balance_input in;
	struct balance_net *net;
	struct balance_count c;
};

static void start_count(struct counted *x, struct ftr_tables *t)
{
	x->in.depth = FTR_BALANCE_LOAD;
	ck_assert(!balance_net_new(&x->in, t, NULL, &x->net, &err));
	ck_assert(!balance_count_net(x->net, true, NULL, NULL, &err));
	x->c = (struct balance_count){
		.net = x->net, .t = t, .flows = x->net->flows,
		.entry = x->net->entry, .senders = x->net->senders,
	};
}

static void end_count(struct counted *x)
{
	balance_net_free(x->net);
}

/* ---- the best port ------------------------------------------------------------- */

struct price {
	/* sums over the links of the path: */
	uint64_t square;	/* increase of `max(flows - target, 0)^2` */
	uint64_t flows;
};

/* Store in *p the price of n more flows on the path from s through the port.  Returns false if
 * there is no path. */
static bool path_price(const struct counted *x, const struct ftr_tables *t,
		       const uint32_t *flows, ftr_sw s, ftr_port port,
		       const struct balance_dest *to, uint32_t n,
		       uint32_t target, struct price *p)
{
	*p = (struct price){ 0 };
	for (uint32_t hops = 0; hops < t->n_sw; hops++) {
		uint32_t link = balance_link_to(x->net, s, port);
		int64_t was, is;

		if (link == BALANCE_NONE)
			return false;
		was = FTR_MAX((int64_t)flows[link] - target, 0);
		is = FTR_MAX((int64_t)flows[link] + n - target, 0);
		p->square += (uint64_t)(is * is - was * was);
		p->flows += flows[link] + n;
		s = x->net->peer[link];
		if (s == x->in.shape->numbering.col_sw[to->col])
			return true;
		port = ftr_tables_get(t, s, to->lid);
	}
	return false;
}

static void add_flows(const struct counted *x, const struct ftr_tables *t,
		      uint32_t *flows, ftr_sw s, const struct balance_dest *to,
		      uint32_t n)
{
	while (s != x->in.shape->numbering.col_sw[to->col]) {
		uint32_t link = balance_link_to(x->net, s,
						ftr_tables_get(t, s, to->lid));

		flows[link] += n;
		s = x->net->peer[link];
	}
}

static uint32_t hosts_through(const struct counted *x, const struct ftr_tables *t,
			      ftr_sw s, const struct balance_dest *to)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < x->net->n_sources; k++) {
		ftr_sw at = x->net->source[k].sw;

		while (at != s && at != FTR_SW_NONE &&
		       at != x->in.shape->numbering.col_sw[to->col]) {
			uint32_t link = balance_link_to(
				x->net, at, ftr_tables_get(t, at, to->lid));

			at = link == BALANCE_NONE ? FTR_SW_NONE :
				x->net->peer[link];
		}
		n += at == s ? x->net->source[k].hosts : 0;
	}
	return n;
}

/* Returns the first port with the lowest price (compared by `square`, then by `flows`).  If no
 * other port has a smaller `square` than the present port, returns the present port.  flows[] does
 * not include the n flows of the entry. */
static ftr_port best_port(const struct counted *x, const struct ftr_tables *t,
			  const uint32_t *flows, ftr_sw s,
			  const struct balance_dest *to, uint32_t n,
			  uint32_t target)
{
	const struct ftr_shape *sh = x->in.shape;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	uint32_t n_cand = ftr_shape_candidates(sh, s, to->col, cand);
	ftr_port now = ftr_tables_get(t, s, to->lid), best = now;
	struct price is, p, least;

	ck_assert(path_price(x, t, flows, s, now, to, n, target, &is));
	least = is;
	for (uint32_t k = 0; k < n_cand; k++)
		for (uint32_t i = 0; i < cand[k]->n; i++) {
			ftr_port port = sh->tree.group_ports[cand[k]->first + i];

			if (path_price(x, t, flows, s, port, to, n, target, &p) &&
			    p.square < is.square &&
			    (p.square < least.square ||
			     (p.square == least.square && p.flows < least.flows))) {
				least = p;
				best = port;
			}
		}
	return best;
}

/* ---- the moves of a sweep ------------------------------------------------------- */

struct replayed {
	const struct balance_moved *m;
	const struct balance_dest *to;
	uint32_t batch, share, hosts;
	int32_t *change;	/* [link] flows added by the move; < 0: removed */
};

static void add_change(uint32_t *flows, const struct replayed *r, uint32_t n)
{
	for (uint32_t x = 0; x < n; x++)
		flows[x] += (uint32_t)r->change[x];
}

/* Make the moves in the log again, in t, which holds the tables before the sweep.  `after` holds
 * the tables after the sweep. */
static struct replayed *make_again(const struct counted *x, struct ftr_tables *t,
				   const struct ftr_tables *after,
				   const struct balance_sweep *w)
{
	const struct balance_log *log = x->c.log;
	const struct balance_net *net = x->net;
	struct replayed *r = calloc(log->n + 1u, sizeof(*r));

	ck_assert_ptr_nonnull(r);
	for (uint32_t i = 0; i < log->n; i++) {
		const struct balance_moved *m = r[i].m = &log->moved[i];
		uint32_t at = 0, n;

		while (net->dest[net->sweep_order[at]].lid != m->lid)
			at++;
		r[i].to = &net->dest[net->sweep_order[at]];
		r[i].batch = at / (w->shares * w->share_dests);
		r[i].share = at / w->share_dests % w->shares;
		r[i].hosts = n = hosts_through(x, t, m->sw, r[i].to);
		r[i].change = calloc(net->n_links, sizeof(*r[i].change));
		ck_assert_ptr_nonnull(r[i].change);
		add_flows(x, t, (uint32_t *)r[i].change, m->sw, r[i].to, -n);
		ftr_tables_row(t, m->sw)[m->lid] =
			ftr_tables_get(after, m->sw, m->lid);
		add_flows(x, t, (uint32_t *)r[i].change, m->sw, r[i].to, n);
	}
	return r;
}

/* Check the moves of a share.  r: all moves in the log.  flows: the flows before the sweep.  t: the
 * tables before the sweep, but with the moves of the shares 0 .. share - 1. */
static void replay_share(const struct counted *x, struct ftr_tables *t,
			 uint32_t *flows, const struct replayed *r,
			 uint32_t share, const struct balance_sweep *w,
			 uint64_t seed)
{
	uint32_t known = 0;	/* flows[] includes the moves of the other shares in batches
				 * 0 .. known - 1 */

	for (uint32_t i = 0; i < x->c.log->n; i++) {
		const struct balance_moved *m = r[i].m;
		ftr_port best, port;

		if (r[i].share != share)
			continue;
		for (; known + BALANCE_LAG <= r[i].batch; known++)
			for (uint32_t k = 0; k < x->c.log->n; k++)
				if (r[k].share != share && r[k].batch == known)
					add_change(flows, &r[k], x->net->n_links);
		port = ftr_tables_get(t, m->sw, m->lid);
		ck_assert_uint_eq(port, m->was);
		add_flows(x, t, flows, m->sw, r[i].to, -r[i].hosts);
		best = best_port(x, t, flows, m->sw, r[i].to, r[i].hosts,
				 w->target);
		add_flows(x, t, flows, m->sw, r[i].to, r[i].hosts);
		add_change(flows, &r[i], x->net->n_links);
		port = ftr_tables_get(x->c.t, m->sw, m->lid);
		ck_assert_msg(port == best && port != m->was, "seed %" PRIu64
			      ": LID %u, switch %u: share %u of %u chose port %u, port %u is best",
			      seed, m->lid, m->sw, share, w->shares, port, best);
		ftr_tables_row(t, m->sw)[m->lid] = port;
	}
}

/* Check that each move was the best one by the flow counts that its share (one worker's part of a
 * batch) had at that time.  Moves of other shares enter these counts BALANCE_LAG batches later.
 * before: the tables before the sweep. */
static void replay(const struct counted *x, const struct ftr_tables *before,
		   const struct balance_sweep *w, uint64_t seed)
{
	struct ftr_tables *t = copy_of(x->net->f, before);
	struct replayed *r = make_again(x, t, x->c.t, w);

	memcpy(t->lft, before->lft, bytes_of(t));
	for (uint32_t k = 0; k < w->shares; k++) {
		struct recount *slow = recount_new(x->in.shape, before);

		replay_share(x, t, slow->flows, r, k, w, seed);
		recount_free(slow);
	}
	for (uint32_t i = 0; i < x->c.log->n; i++)
		free(r[i].change);
	free(r);
	ftr_tables_free(t);
}

static void logged_sweep(struct counted *x, struct ftr_tables *t,
			 struct balance_sweep *s, struct ftr_team *team,
			 uint64_t seed)
{
	struct balance_log *log = calloc(1, sizeof(*log));

	start_count(x, t);
	log->seen = calloc((size_t)t->n_sw * (t->stride / 64),
			   sizeof(*log->seen));
	ck_assert_ptr_nonnull(log->seen);
	x->c.log = log;
	s->target = 1 + balance_most(x->net, x->c.flows) / (2 + seed % 4);
	s->moved = 0;
	ck_assert(!balance_load_sweep(&x->c, s, team, &err));
	ck_assert_uint_eq(s->moved, log->n);
}

static void end_logged(struct counted *x)
{
	free(x->c.log->moved);
	free(x->c.log->seen);
	free(x->c.log);
	end_count(x);
}

/* Returns a shape with the same links, but with the switches in random order.  In such an order,
 * switches often route downward although an upward path is shorter. */
static struct ftr_shape *random_order(const struct ftr_shape *sh, uint64_t seed)
{
	uint32_t perm[FTR_PORT_MAX];
	uint16_t level[FTR_PORT_MAX];
	struct ftr_shape *out = NULL;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	ftr_rng_perm(&r, perm, sh->f->n_sw);
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		level[s] = (uint16_t)perm[s];
	ck_assert(!ftr_shape_reorder(sh, level, FTR_REORDER_ALL, NULL, &out,
				     &err));
	return out;
}

START_TEST(load_sweeps_choose_the_best_port)
{
	struct ftr_team *team = ftr_team_new(3);
	uint64_t seed = trees_first_seed(), moved[4] = { 0 };

	for (uint32_t i = 0; i < trees_runs(300); i++, seed++) {
		struct ftr_fabric *f = trees_any(seed);
		struct ftr_shape *by_rank = shape_of(f);
		struct ftr_shape *sh = seed / 2 % 2 ? random_order(by_rank, seed) :
			by_rank;
		struct counted x = { .in = { .shape = sh } };
		struct ftr_tables *t = NULL, *before, *other;
		struct balance_sweep s = {
			.least = 1, .shares = 1 + seed / 5 % 4,
			.share_dests = 1 + seed % 6,
		};
		uint64_t none;

		ck_assert(!ftr_tables_new(f, false, &t, &err));
		ck_assert(!dmodc_tables(sh, NULL, NULL, t, NULL, &none, &err));
		before = copy_of(f, t);
		other = copy_of(f, t);
		logged_sweep(&x, t, &s, team, seed);
		replay(&x, before, &s, seed);
		moved[s.shares - 1] += x.c.log->n;
		ck_assert_uint_eq(balance_log_undo(x.c.log, t, x.c.log->n),
				  x.c.log->n);
		end_logged(&x);
		logged_sweep(&x, other, &s, NULL, seed);
		ck_assert_msg(!memcmp(t->lft, other->lft, bytes_of(t)), "seed %"
			      PRIu64 ": %u shares: one thread and three threads give different tables",
			      seed, s.shares);
		ck_assert_uint_eq(balance_log_undo(x.c.log, other, 0), 0);
		ck_assert(!memcmp(before->lft, other->lft, bytes_of(t)));
		end_logged(&x);
		ftr_tables_free(before);
		ftr_tables_free(other);
		ftr_tables_free(t);
		if (sh != by_rank)
			ftr_shape_free(sh);
		ftr_shape_free(by_rank);
		ftr_fabric_free(f);
	}
	ftr_team_free(team);
	for (int i = 0; i < 4; i++)
		runs_show(moved[i] > 0);
}
END_TEST

/* ---- memory -------------------------------------------------------------------- */

/* After an allocation failure, the log must contain every move that was made in the tables. */
START_TEST(load_sweeps_without_memory)
{
	struct ftr_team *team = ftr_team_new(2);
	struct ftr_fabric *f = trees_any(1);
	struct ftr_shape *sh = shape_of(f);
	struct ftr_tables *t = NULL, *before;
	unsigned long n = 0;
	enum ftr_status st;
	uint64_t none;

	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!dmodc_tables(sh, NULL, NULL, t, NULL, &none, &err));
	before = copy_of(f, t);
	do {
		struct counted x = { .in = { .shape = sh } };
		struct balance_sweep s = {
			.least = 1, .shares = 1 + (uint32_t)n % 3, .share_dests = 2,
		};
		struct balance_log log = { 0 };

		memcpy(t->lft, before->lft, bytes_of(t));
		start_count(&x, t);
		log.seen = calloc((size_t)t->n_sw * (t->stride / 64),
				  sizeof(*log.seen));
		ck_assert_ptr_nonnull(log.seen);
		x.c.log = &log;
		s.target = 1 + balance_most(x.net, x.c.flows) / 4;
		ftr_alloc_fail_at(++n);
		st = balance_load_sweep(&x.c, &s, team, &err);
		ftr_alloc_fail_at(0);
		ck_assert(!st || st == FTR_NOMEM);
		balance_log_undo(&log, t, 0);
		ck_assert_msg(!memcmp(t->lft, before->lft, bytes_of(t)),
			      "a move is missing from the log after allocation %lu failed", n);
		free(log.moved);
		free(log.seen);
		end_count(&x);
	} while (st);
	ck_assert_uint_gt(n, 5);
	ftr_tables_free(before);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	ftr_team_free(team);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("load sweeps, random fabrics");
	TCase *t = tcase_create("moves");

	tcase_add_test(t, load_sweeps_choose_the_best_port);
	tcase_add_test(t, load_sweeps_without_memory);
	suite_add_tcase(s, t);
	return run_suite(s);
}
