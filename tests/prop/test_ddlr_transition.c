// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests ftr_ddlr_transition() and ftr_ddlr_order() on random graphs: from the tables of one engine to those of another one,
 * in some fabrics after the failure of a switch.  The entries are written one by one, and all paths are
 * followed before and after each write.  The transition must end, and the tables must then be the new
 * ones, if no LID is held.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/orders.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;

struct move {
	uint64_t seed;
	bool order;			/* plan all rounds; entries that the new tables do not have are cleared */
	struct ftr_rng rng;
	struct ftr_fabric *f, *nf;	/* nf: without a switch and a link, or the same */
	struct ftr_shape *sh;
	struct ftr_tables *now, *to;	/* of f; of nf */
	struct ftr_ddlr *r;
	uint8_t *first;			/* the tables before the transition */
	uint8_t *arrives;		/* [n_sw] */
	ftr_sw dead;			/* a switch of f that has failed; FTR_SW_NONE: none */
};

static struct {
	uint32_t moves, writes, held;
	uint32_t agreed;		/* orders of the planner; the search finds one, too */
	uint32_t found[ORDERS_N_FOUND];	/* no order of the planner; results of the search */
} moved;

static bool keep_switch(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return s != *(ftr_sw *)ctx;
}

static bool is_up(const struct move *m, ftr_sw s, ftr_port p)
{
	ftr_sw at = ftr_fabric_find_sw(m->nf, m->f->sw[s].guid);

	return s != m->dead && ftr_fabric_port(m->f, s, p)->peer != m->dead && at != FTR_SW_NONE &&
		ftr_fabric_port(m->nf, at, p)->peer_kind == FTR_PEER_SW;
}

static bool reaches(const struct move *m, ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &m->f->owner[lid];

	for (uint32_t hops = 0; hops <= m->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(m->now, s, lid);
		const struct ftr_swport *x = ftr_fabric_port(m->f, s, p);

		if (p > m->f->sw[s].n_ports)
			return false;
		if (!p)
			return o->kind == FTR_OWNER_SW && o->idx == s;
		if (x->peer_kind == FTR_PEER_EP)
			return o->kind == FTR_OWNER_EP && o->idx == x->peer;
		if (x->peer_kind != FTR_PEER_SW || !is_up(m, s, p))
			return false;
		s = x->peer;
	}
	return false;
}

/* True if switch s has an entry for the LID in the new tables. */
static bool stays(const struct move *m, ftr_sw s, ftr_lid lid)
{
	ftr_sw at = ftr_fabric_find_sw(m->nf, m->f->sw[s].guid);

	return at != FTR_SW_NONE && ftr_tables_get(m->to, at, lid) != FTR_PORT_NONE;
}

/* Write the entries of a plan one by one.  No write takes a path away that the new tables have, too. */
static void write_plan(struct move *m, const struct ftr_ddlr_plan *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct ftr_change *c = &p->write[i];

		for (ftr_sw s = 0; s < m->f->n_sw; s++)
			m->arrives[s] = reaches(m, s, c->lid);
		ftr_tables_row(m->now, c->sw)[c->lid] = c->after;
		for (ftr_sw s = 0; s < m->f->n_sw; s++)
			ck_assert_msg(!m->arrives[s] || reaches(m, s, c->lid) || (m->order && !stays(m, s, c->lid)),
				      "seed %" PRIu64 ": write %u, at switch %u for LID %u: switch %u loses its path",
				      m->seed, i, c->sw, c->lid, s);
		moved.writes++;
	}
	ck_assert(m->order || !memcmp(m->now->lft, ftr_ddlr_tables(m->r)->lft,
				      (size_t)m->now->n_sw * m->now->stride));
}

static bool start_move(struct move *m)
{
	ftr_sw gone = ftr_rng_below(&m->rng, 12);
	const struct ftr_hop down = { gone, 0 };
	const struct ftr_filter filter = { .keep_sw = keep_switch, .ctx = &gone };
	const struct ftr_cdg_opts o = { .sls = 1 };
	static const char *const engine[] = { "dmodc", "sftree", "ddlr" };
	struct ftr_shape *after = NULL;
	struct ftr_ddlr_plan p;
	enum ftr_status st;

	ck_assert(!random_graph_new(m->seed, 12, 20, 10, &m->f, &err));
	ck_assert(!ftr_fabric_copy_if(m->f, m->seed % 4 ? NULL : &filter, &m->nf, &err));
	ck_assert(!ftr_shape_new(m->f, NULL, NULL, &m->sh, &err));
	ck_assert(!ftr_tables_new(m->f, false, &m->now, &err));
	ck_assert(!ftr_engine_find(engine[m->seed % 3])->route(m->sh, NULL, NULL, m->now, NULL,
							       &err));
	st = ftr_shape_new(m->nf, NULL, NULL, &after, &err);
	ck_assert(!ftr_tables_new(m->nf, true, &m->to, &err));
	if (!st)
		st = ftr_engine_find(engine[(m->seed + 1) % 3])->route(after, NULL, NULL, m->to,
								      NULL, &err);
	ftr_shape_free(after);
	m->arrives = calloc(m->f->n_sw, 1);
	if (st || ftr_ddlr_new(m->sh, m->now, &o, m->seed % 3 == 0, &m->r, &err))
		return false;
	m->dead = m->seed % 4 < 2 ? gone : FTR_SW_NONE;
	ck_assert(!(m->seed % 4 == 1 ? ftr_ddlr_events(m->r, &down, 1, &p, &err) :
		    ftr_ddlr_to(m->r, m->nf, &p, &err)));
	for (uint32_t i = 0; i < p.n; i++)
		ftr_tables_row(m->now, p.write[i].sw)[p.write[i].lid] = p.write[i].after;
	ftr_ddlr_plan_fini(&p);
	return true;
}

/* Search for an order, by code that the planner does not contain.  What the planner has found exists. */
static void compare(const struct move *m, uint32_t held)
{
	struct orders o = {
		.f = m->f, .old = m->first, .new = m->to->lft, .row = m->to->stride, .most = 5000,
	};
	enum orders_found found;

	if (!m->order)
		return;
	found = orders_search(&o);
	moved.agreed += !held && found == ORDERS_EXIST;
	ck_assert_msg(held || found != ORDERS_NONE, "seed %" PRIu64 ": an order is found that does not exist",
		      m->seed);
	moved.found[found] += held > 0;
}

static void end_move(struct move *m)
{
	free(m->first);
	ftr_ddlr_free(m->r);
	free(m->arrives);
	ftr_tables_free(m->to);
	ftr_tables_free(m->now);
	ftr_shape_free(m->sh);
	ftr_fabric_free(m->nf);
	ftr_fabric_free(m->f);
}

/* In every fourth fabric a switch fails first.  In every fourth one, the planner is told so, but the new
 * fabric has the switch again; its entries are not written.  One entry in 50 of the new tables is random: it may be
 * part of a loop, and is then not written. */
static void change(uint64_t seed, bool order)
{
	struct move m = { .seed = seed };
	bool wild = m.seed % 2, done = false;
	uint32_t held = 0;

	ftr_rng_seed(&m.rng, m.seed);
	if (!start_move(&m)) {
		end_move(&m);
		return;
	}
	for (ftr_sw s = 0; wild && s < m.nf->n_sw; s++)
		for (uint32_t lid = 1; lid <= m.to->max_lid; lid++)
			if (!ftr_rng_below(&m.rng, 50))
				ftr_tables_row(m.to, s)[lid] = (ftr_port)
					ftr_rng_below(&m.rng, m.nf->sw[s].n_ports + 1u);
	m.first = malloc((size_t)m.now->n_sw * m.now->stride);
	ck_assert_ptr_nonnull(m.first);
	memcpy(m.first, m.now->lft, (size_t)m.now->n_sw * m.now->stride);
	m.order = order && m.nf->n_sw == m.f->n_sw && m.dead == FTR_SW_NONE;
	for (int k = 0; k < 1000 && !done; k++) {
		struct ftr_ddlr_plan p;

		ftr_ddlr_drained(m.r);
		ck_assert_msg(!(m.order ? ftr_ddlr_order(m.r, m.to, UINT_MAX, &p, &err) :
				ftr_ddlr_transition(m.r, m.nf, m.to, &p, &err)), "%s", err.msg);
		write_plan(&m, &p);
		done = p.done;
		held = p.held;
		ftr_ddlr_plan_fini(&p);
	}
	ck_assert_msg(done, "seed %" PRIu64 ": a transition does not end", m.seed);
	for (ftr_sw s = 0; !wild && !held && s < m.nf->n_sw; s++) {
		ftr_sw at = ftr_fabric_find_sw(m.f, m.nf->sw[s].guid);

		for (uint32_t lid = 1; lid <= m.to->max_lid; lid++)
			ck_assert(m.dead != FTR_SW_NONE ||
				  ftr_tables_get(m.to, s, (ftr_lid)lid) == FTR_PORT_NONE ||
				  ftr_tables_get(m.to, s, (ftr_lid)lid) ==
				  ftr_tables_get(m.now, at, (ftr_lid)lid));
	}
	compare(&m, held);
	moved.held += held;
	moved.moves++;
	end_move(&m);
}

START_TEST(transitions_to_other_tables)
{
	for (uint32_t i = 0; i < trees_runs(300); i++)
		change(trees_first_seed() + i, i % 8);
	printf("%u transitions: %u entries written, %u LIDs held\n", moved.moves, moved.writes,
	       moved.held);
	printf("orders: %u found by the planner and by the search; not found by the planner: %u exist, %u do not, %u unknown, %u with unsound tables\n",
	       moved.agreed, moved.found[ORDERS_EXIST], moved.found[ORDERS_NONE],
	       moved.found[ORDERS_UNKNOWN], moved.found[ORDERS_UNSOUND]);
	runs_show(moved.moves > 0 && moved.held > 0 && moved.found[ORDERS_NONE] > 0);
	runs_show(!moved.found[ORDERS_EXIST] && !moved.found[ORDERS_UNKNOWN]);
}
END_TEST

/* An order exists, which needs entries of a LID that change at different times (114, 198, 258), entries that
 * are cleared before others change (50, 170), or LIDs that change later than they could. */
START_TEST(orders_are_found)
{
	static const uint64_t seed[] = { 50, 114, 170, 198, 258, 1650, 1850, 3638, 4662, 4826 };

	for (size_t i = 0; i < FTR_ARRAY_LEN(seed); i++)
		change(seed[i], true);
	ck_assert_uint_eq(moved.moves, FTR_ARRAY_LEN(seed));
	ck_assert_uint_eq(moved.agreed, FTR_ARRAY_LEN(seed));
}
END_TEST

/* The first order, which holds LIDs, remains if there is no time (1) or no memory (2) for others. */
START_TEST(first_order_remains)
{
	struct ftr_ddlr_plan p[3];
	unsigned long n = 0;

	for (int i = 0; i < 3; i++) {
		struct move m = { .seed = 3638 };

		ftr_rng_seed(&m.rng, m.seed);
		ck_assert(start_move(&m));
		ftr_alloc_fail_at(i == 2 ? n + 1 : 0);
		ck_assert(!ftr_ddlr_order(m.r, m.to, i == 1 ? 0 : UINT_MAX, &p[i], &err));
		n = ftr_alloc_count();
		ftr_alloc_fail_at(0);
		end_move(&m);
	}
	ck_assert_uint_lt(p[0].held, p[1].held);
	ck_assert_uint_eq(p[1].held, p[2].held);
	ck_assert_uint_eq(p[1].n, p[2].n);
	for (int i = 0; i < 3; i++)
		ftr_ddlr_plan_fini(&p[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("transition of ddlr");
	TCase *t = tcase_create("transition of ddlr");

	tcase_add_test(t, transitions_to_other_tables);
	tcase_add_test(t, orders_are_found);
	tcase_add_test(t, first_order_remains);
	suite_add_tcase(s, t);
	return run_suite(s);
}
