// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes each allocation of each operation of the library fail: once alone, and once together with
 * all later ones.
 *
 * The operation must then fail with FTR_NOMEM (or FTR_IO: a file cannot be opened) and a message, or
 * give the same result as with enough memory.  It must leave no memory behind (LeakSanitizer, in build-asan) and its arguments unchanged.
 *
 * Of the allocations of an operation that are made by the same chain of calls (chains.h), it tries the
 * first alone, and the last with all later ones.  FTR_RUNS=1/n: only every n-th chain.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/irregular.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "chains.h"
#include "no_memory.h"

uint64_t fold(uint64_t sum, const void *data, size_t n)
{
	return ftr_hash(sum ? sum : FTR_HASH_INIT, data, n);
}

uint64_t fold_tables(uint64_t sum, const struct ftr_tables *t)
{
	return fold(sum, t->lft, (size_t)t->n_sw * t->stride);
}

static void must(enum ftr_status st, const struct ftr_err *err)
{
	ck_assert_msg(!st, "%s", err->msg);
}

#define KINDS 6

/* ---- scenes ------------------------------------------------------------------------ */

static struct ftr_fabric *with_rails(void)
{
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };

	must(ftr_gen_shape("superpod:H100:1", &(struct ftr_gen_opts){ .nodes = 2 }, &f, &err), &err);
	return f;
}

static struct ftr_fabric *grow(unsigned int kind, struct ftr_rng *rng)
{
	struct ftr_pgft g;
	struct ftr_err err = { 0 };

	switch (kind) {
	case 0:
		must(ftr_pgft_parse("3;2,2,2;1,2,2;1,1,2", &g, &err), &err);
		return trees_grow(&g, 7, 1);
	case 1:
		return trees_chassis(rng);
	case 2:
		return trees_irregular(rng);
	case 3:
		return irregular_two_trees(rng, 2, false, 10);
	case 4:
		return with_rails();
	default:
		return irregular_small(rng);
	}
}

/* A fabric, a damaged copy, and their tables. */
static void set_scene(struct scene *z, unsigned int kind)
{
	const struct ftr_engine_ops *dmodc = ftr_engine_find("dmodc");
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { .order = NULL };
	struct ftr_shape_opts so = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_rng rng;

	memset(z, 0, sizeof(*z));
	ftr_rng_seed(&rng, kind == KINDS - 1 ? 8 : kind + 4);
	z->whole = grow(kind, &rng);
	must(ftr_gen_damage(z->whole, &(struct ftr_damage){ .seed = 3,
				.links = z->whole->n_sw_links / 12 + 1 }, &z->f, &err), &err);
	must(ftr_gen_damage(z->whole, &(struct ftr_damage){ .seed = 5, .links = 1, .switches = 1,
				.hosts = 1 }, &z->other, &err), &err);
	must(ftr_gen_shape("torus:3,3;1", &(struct ftr_gen_opts){ .seed = 1, .random_guids = true },
			   &z->torus, &err), &err);
	if (!kind)
		must(ftr_gen_shape("torus:6;1", &(struct ftr_gen_opts){ .seed = 1 }, &z->ring, &err), &err);
	must(ftr_nominal_new(z->whole, NULL, NULL, &z->nominal, NULL, &err), &err);
	so.nominal = z->nominal->shape;
	must(ftr_shape_new(z->f, &so, NULL, &z->sh, &err), &err);
	must(ftr_shape_new(z->whole, &so, NULL, &z->before, &err), &err);
	must(ftr_tables_new(z->f, false, &z->t, &err), &err);
	must(ftr_tables_new(z->whole, false, &z->old, &err), &err);
	z->order = calloc(z->f->n_sw, 1);
	z->hosts = calloc(z->whole->n_ep + 1, sizeof(*z->hosts));
	for (ftr_ep e = 0; e < z->whole->n_ep; e++)
		z->hosts[e] = e;
	stats.order = z->order;
	o.keep_turns = true;
	must(dmodc->route(z->before, &o, NULL, z->old, &stats, &err), &err);
	ck_assert_uint_ne(ftr_tables_get(z->old, 0, z->whole->ep[0].lid), FTR_PORT_NONE);
	free(stats.turn);
	stats.turn = NULL;
	o.nominal = z->nominal->shape;
	must(dmodc->route(z->sh, &o, NULL, z->t, &stats, &err), &err);
	z->turn = stats.turn;
	z->n_turns = stats.n_turns;
	z->order_known = stats.order_known;
	must(ftr_tables_carry(z->whole, z->old, z->f, &z->carried, &err), &err);
	z->team = ftr_team_new(2);
	files_set(z);
}

static void clear_scene(struct scene *z)
{
	files_clear(z);
	ftr_team_free(z->team);
	free(z->order);
	free(z->hosts);
	free(z->turn);
	ftr_tables_free(z->carried);
	ftr_tables_free(z->old);
	ftr_tables_free(z->t);
	ftr_shape_free(z->sh);
	ftr_shape_free(z->before);
	ftr_nominal_free(z->nominal);
	ftr_fabric_free(z->f);
	ftr_fabric_free(z->other);
	ftr_fabric_free(z->torus);
	ftr_fabric_free(z->ring);
	ftr_fabric_free(z->whole);
}

/* ---- routing -------------------------------------------------------------------------- */

static enum ftr_status route(const struct scene *z, const char *engine, enum ftr_balance depth,
			     bool keep, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_keep k = { .prefer = z->carried, .current = z->t, .search_displaced = true };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_kept out = { .t = NULL };
	enum ftr_status st;

	o.balance = depth;
	o.keep_turns = o.keep_routed = true;
	o.nominal = z->nominal->shape;
	o.keep = keep ? &k : NULL;
	if (keep) {
		o.turn = z->turn;
		o.n_turns = z->n_turns;
	}
	o.sm = &z->f->ep[0].sw;
	o.n_sm = z->f->ep[0].sw != FTR_SW_NONE;
	out.stats.order = ftr_malloc(z->f->n_sw);
	st = out.stats.order ? ftr_tables_new(z->f, false, &out.t, err) : ftr_nomem(err, "levels");
	if (!st && keep)
		st = ftr_route_kept(ftr_engine_find(engine), z->sh, &o, z->team, &out, err);
	else if (!st)
		st = ftr_engine_find(engine)->route(z->sh, &o, z->team, out.t, &out.stats, err);
	if (!st)
		*sum = fold_tables(0, out.t);
	ftr_tables_free(out.t);
	ftr_shape_free(out.stats.routed);
	free(out.stats.turn);
	free(out.stats.order);
	return st;
}

#define ROUTE(name, engine, depth, keep)						\
	static enum ftr_status op_##name(const struct scene *z, uint64_t *sum, struct ftr_err *err) \
	{										\
		return route(z, engine, depth, keep, sum, err);				\
	}
ROUTE(dmodc, "dmodc", FTR_BALANCE_OFF, false)
ROUTE(dmodc_full, "dmodc", FTR_BALANCE_FULL, false)
ROUTE(dmodc_kept, "dmodc", FTR_BALANCE_LOAD, true)
ROUTE(sftree, "sftree", FTR_BALANCE_FULL, false)
ROUTE(sftree_kept, "sftree", FTR_BALANCE_LOAD, true)
ROUTE(ddlr, "ddlr", FTR_BALANCE_OFF, false)
ROUTE(ddlr_kept, "ddlr", FTR_BALANCE_OFF, true)

/* Tables of the damaged fabric, computed from those of the whole one. */
static enum ftr_status op_base(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_keep keep = { .prefer = z->old };
	struct ftr_route_base *base = NULL;
	struct ftr_tables *t = NULL;
	enum ftr_status st = ftr_route_base_new(z->before, z->old, z->team, &base, err);

	keep.base = base;
	o.keep = &keep;
	o.balance = FTR_BALANCE_LOAD;
	if (!st)
		st = ftr_tables_new(z->f, false, &t, err);
	if (!st)
		st = ftr_engine_find("dmodc")->route(z->sh, &o, z->team, t, NULL, err);
	if (!st)
		*sum = fold_tables(0, t);
	ftr_tables_free(t);
	ftr_route_base_free(base);
	return st;
}

static enum ftr_status op_bound(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	uint32_t *hosts = calloc(z->f->n_sw, sizeof(*hosts)), bound = 0;
	enum ftr_status st;

	for (ftr_ep e = 0; e < z->f->n_ep; e++)
		if (z->f->ep[e].sw != FTR_SW_NONE)
			hosts[z->f->ep[e].sw]++;
	st = ftr_balance_bound(z->sh, hosts, &bound, err);
	free(hosts);
	*sum = bound;
	return st;
}

/* ---- check ------------------------------------------------------------------------------ */

static enum ftr_status op_check(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_check_opts o = {
		.rank = z->order_known ? z->order : NULL, .turn = z->turn, .n_turns = z->n_turns,
		.switch_sources = true,
	};
	struct ftr_check_report r;
	uint64_t hist[FTR_HOPS_MAX];
	bool proved;

	TRY(ftr_check_mixtures(z->f, (const struct ftr_tables *[]){ z->t, z->carried },
			       z->sh->tree.rank, z->team, &proved, err));
	TRY(ftr_check_tables(z->f, z->t, &o, z->team, &r, err));
	o.rank = NULL;
	TRY(ftr_check_tables(z->f, z->carried, &o, NULL, &r, err));
	TRY(ftr_check_hops(z->f, z->t, hist, err));
	*sum = fold(fold(0, &r.pairs, sizeof(r.pairs)), hist, sizeof(hist));
	return FTR_OK;
}

static enum ftr_status op_lost(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_check_opts o = { .rank = z->sh->tree.rank, .list_lost = true };
	struct ftr_check_report r;

	*sum = 0;
	TRY(ftr_check_tables(z->f, z->carried, &o, NULL, &r, err));
	*sum = fold(0, r.lost, (z->f->max_lid / 64 + 1u) * z->f->n_sw * sizeof(*r.lost));
	free(r.lost);
	return FTR_OK;
}

/* SL2VL tables and SLs of paths. */
static enum ftr_status check_vls(const struct scene *z, struct ftr_sl2vl *m, struct ftr_path_sl *p,
				 uint64_t *sum, struct ftr_err *err)
{
	struct ftr_check_opts o = { .sl2vl = m, .path_sl = p, .switch_sources = true };
	struct ftr_check_report r;

	for (uint32_t i = 0; i < z->f->n_ep; i++)
		TRY(ftr_path_sl_set(p, i, z->f->ep[i / 2].lid, i % 3, err));
	TRY(ftr_check_tables(z->f, z->t, &o, NULL, &r, err));
	*sum = fold(r.no_sl, &r.cdg, sizeof(r.cdg));
	return FTR_OK;
}

static enum ftr_status op_check_vls(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	const struct ftr_vl_pairs pairs = { .straight = { 0, 2, 2 }, .turn = { 1, 3, 3 }, .n = 2 };
	struct ftr_path_sl *p = NULL;
	struct ftr_sl2vl *m = NULL;
	enum ftr_status st = ftr_ddlr_sl2vl(z->sh, &pairs, &m, err);

	if (!st)
		st = ftr_path_sl_new(z->f, &p, err);
	if (!st)
		st = check_vls(z, m, p, sum, err);
	ftr_sl2vl_free(m);
	ftr_path_sl_free(p);
	return st;
}

/* The entries of a switch lead through another port; then a link fails. */
static enum ftr_status change_cdg(const struct scene *z, struct ftr_cdg *g, uint64_t *sum,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = z->f;
	bool closes;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_lid lid = f->ep[s % f->n_ep].lid;
		struct ftr_change w = { .sw = s, .lid = lid,
			.after = ftr_tables_get(z->carried, s, lid) };

		w.before = ftr_tables_get(ftr_cdg_tables(g), s, lid);
		TRY(ftr_cdg_change(g, lid, &w, 1, &closes, err));
		*sum = *sum * 2 + closes;
		if (s % 4 == 3)
			ftr_cdg_drain_all(g);
	}
	for (unsigned int p = 1; p <= f->sw[0].n_ports; p++)
		if (ftr_fabric_next(f, 0, p) != FTR_SW_NONE)
			return ftr_cdg_link_down(g, 0, (ftr_port)p, err);
	return FTR_OK;
}

static enum ftr_status op_cdg(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_cdg_opts o = { .sls = 3, .switch_sources = true };
	struct ftr_cdg *g;
	enum ftr_status st;

	*sum = 0;
	TRY(ftr_cdg_new(z->f, z->t, &o, &g, err));
	st = change_cdg(z, g, sum, err);
	ftr_cdg_free(g);
	return st;
}

static enum ftr_status load_all(const struct scene *z, struct ftr_load *ld, uint64_t *by_port,
				uint64_t *sum, struct ftr_err *err)
{
	struct ftr_transfer pair = { .from = 0, .to = z->f->n_ep - 1 };
	struct ftr_load_report r;
	uint64_t most;

	ftr_load_all(ld, by_port, &r);
	*sum = r.load;
	TRY(ftr_load_shifts(ld, 5, 1, z->team, &r, err));
	*sum = fold(*sum, &r.sum_max, sizeof(r.sum_max));
	TRY(ftr_load_permutations(ld, 2, 0, z->team, &r, err));
	TRY(ftr_load_bisections(ld, 2, 0, z->team, &r, err));
	TRY(ftr_load_pairs(ld, &pair, 1, by_port, &r, err));
	TRY(ftr_load_pairs_most(ld, &pair, 1, &most, err));
	return FTR_OK;
}

static enum ftr_status op_load(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	uint64_t *by_port = calloc(z->f->n_ports, sizeof(*by_port));
	ftr_ep *order = calloc(z->f->n_ep, sizeof(*order));
	struct ftr_load *ld = NULL;
	enum ftr_status st;

	for (ftr_ep e = 0; e < z->f->n_ep; e++)
		order[e] = e;
	st = ftr_load_new(z->f, z->t, (struct ftr_order){ order, z->f->n_ep }, z->team, &ld, err);
	if (!st)
		st = load_all(z, ld, by_port, sum, err);
	ftr_load_free(ld);
	free(order);
	free(by_port);
	return st;
}

static enum ftr_status op_jobs(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	const ftr_ep ep[] = { 0, 1, 2, 3, 4 };
	struct ftr_job_pair pair[4];
	struct ftr_job job[2] = { { .order = { ep, 3 }, .pair = pair },
				  { .order = { ep + 2, 3 }, .pair = pair + 2 } };

	TRY(ftr_jobs_load(z->f, z->t, job, 2, NULL, err));
	*sum = job[0].links * 1000u + job[1].shared;
	return FTR_OK;
}

/* ---- changes ----------------------------------------------------------------------------- */

/* Links of the fabric, the i-th at switch i or after it. */
static struct ftr_link some_link(const struct ftr_fabric *f, ftr_sw from)
{
	for (ftr_sw i = 0; i < f->n_sw; i++) {
		ftr_sw s = (from + i) % f->n_sw;

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (ftr_fabric_next(f, s, p) != FTR_SW_NONE)
				return (struct ftr_link){ s, ftr_fabric_next(f, s, p), (ftr_port)p,
							  ftr_fabric_port(f, s, p)->peer_port };
	}
	abort();
}

static enum ftr_status check_delta(const struct ftr_incr *lv, uint64_t *sum, const struct scene *z,
				   struct ftr_err *err)
{
	struct ftr_check_delta d;
	struct ftr_delta_report r;

	ftr_incr_delta(lv, &d);
	TRY(ftr_check_changes(z->f, ftr_incr_tables(lv), &d, &r, err));
	*sum = fold(*sum, r.found, sizeof(r.found));
	return FTR_OK;
}

/* Faults and returns.  After an error nothing has changed. */
static enum ftr_status apply_events(const struct scene *z, struct ftr_incr *lv, uint64_t *sum,
				    struct ftr_err *err)
{
	for (ftr_sw i = 0; i < 6; i++) {
		struct ftr_link l = some_link(z->f, i / 3 * 5);
		struct ftr_incr_event e = { l.sw, l.port, i % 3 == 2 };
		uint64_t before = fold_tables(0, ftr_incr_tables(lv));
		const struct ftr_incr_result *r;
		enum ftr_status st;

		ftr_incr_spare(lv, i == 1);
		st = ftr_incr_apply(lv, &e, 1, &r, err);
		ck_assert(!st || before == fold_tables(0, ftr_incr_tables(lv)));
		if (st == FTR_LIMIT || st == FTR_REFUSED)
			continue;	/* a full routing is needed */
		if (st)
			return st;
		TRY(check_delta(lv, sum, z, err));
		if (i == 1)
			ck_assert(ftr_incr_undo(lv));
	}
	*sum = fold(*sum, ftr_incr_tables(lv)->lft, 1);
	*sum = fold_tables(*sum, ftr_incr_tables(lv));
	return FTR_OK;
}

static enum ftr_status incr(const struct scene *z, const struct ftr_keep *keep, uint64_t *sum,
			    struct ftr_err *err)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_incr *lv;
	enum ftr_status st;

	o.keep = keep;
	o.turn = z->turn;
	o.n_turns = z->n_turns;
	*sum = 0;
	TRY(ftr_incr_new(z->sh, z->nominal->shape, z->t, &o, &lv, err));
	st = apply_events(z, lv, sum, err);
	ftr_incr_free(lv);
	return st;
}

static enum ftr_status op_incr(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return incr(z, NULL, sum, err);
}

/* Displaced entries are placed by load. */
static enum ftr_status op_incr_kept(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return incr(z, &(struct ftr_keep){ .prefer = z->carried }, sum, err);
}

static enum ftr_status plan_ddlr(const struct scene *z, struct ftr_ddlr *r, uint64_t *sum,
				 struct ftr_err *err)
{
	for (ftr_sw i = 0; i < 5; i++) {
		struct ftr_link l = some_link(z->f, i * 4);
		struct ftr_hop e = { i == 4 ? z->f->n_sw - 1 : l.sw, i == 4 ? 0 : l.port };
		struct ftr_ddlr_plan plan;
		enum ftr_status st = i == 3 ? ftr_ddlr_to(r, z->f, &plan, err) :
			ftr_ddlr_events(r, &e, 1, &plan, err);

		if (st == FTR_INVAL)
			continue;	/* this link is down already */
		if (st)
			return st;
		*sum = fold(*sum, &plan.n, sizeof(plan.n));
		ftr_ddlr_plan_fini(&plan);
		ftr_ddlr_drained(r);
	}
	return FTR_OK;
}

static enum ftr_status turn_ddlr(const struct scene *z, struct ftr_ddlr *r, uint64_t *sum,
				 struct ftr_err *err)
{
	struct ftr_ddlr_plan plan = { .done = false };

	for (int i = 0; i < 8 && !plan.done; i++) {
		TRY(ftr_ddlr_transition(r, z->f, z->carried, &plan, err));
		*sum = fold(*sum, &plan.n, sizeof(plan.n));
		ftr_ddlr_plan_fini(&plan);
		ftr_ddlr_drained(r);
	}
	return FTR_OK;
}

static enum ftr_status op_planner(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_cdg_opts o = { .sls = 1, .switch_sources = true };
	enum ftr_status st = FTR_OK;

	for (int i = 0; i < 2 && !st; i++) {
		struct ftr_ddlr *r;

		TRY(ftr_ddlr_new(z->sh, z->t, &o, i, &r, err));
		st = plan_ddlr(z, r, sum, err);
		if (!st)
			st = turn_ddlr(z, r, sum, err);
		ftr_ddlr_free(r);
	}
	return st;
}

/* In one scene: from the tables of a ring to those with another root, for which LIDs are held. */
static enum ftr_status op_order(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_shape_opts so = { .roots = { z->ring ? &z->ring->sw[3].guid : NULL, 1 } };
	struct ftr_ddlr_plan plan = { .n = 0 };
	struct ftr_shape *sh[2] = { NULL };
	struct ftr_tables *t[2] = { NULL };
	struct ftr_ddlr *r = NULL;
	enum ftr_status st = FTR_OK;

	if (!z->ring)
		return FTR_OK;
	for (int i = 0; i < 2 && !st; i++) {
		st = ftr_shape_new(z->ring, i ? &so : NULL, NULL, &sh[i], err);
		if (!st)
			st = ftr_tables_new(z->ring, false, &t[i], err);
		if (!st)
			st = ftr_engine_find("dmodc")->route(sh[i], NULL, NULL, t[i], NULL, err);
	}
	if (!st)
		st = ftr_ddlr_new(sh[0], t[0], NULL, false, &r, err);
	if (!st)
		st = ftr_ddlr_order(r, t[1], UINT_MAX, &plan, err);
	ck_assert(st || plan.held);
	*sum = fold(plan.held, &plan.n, sizeof(plan.n));
	ftr_ddlr_plan_fini(&plan);
	ftr_ddlr_free(r);
	for (int i = 0; i < 2; i++) {
		ftr_tables_free(t[i]);
		ftr_shape_free(sh[i]);
	}
	return st;
}

static enum ftr_status op_transition(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_transition x = { .f = z->f, .now = z->carried, .to = z->t };
	enum ftr_status st = ftr_transition_plan(&x, err);
	struct ftr_cdg *g = NULL;
	bool closes;

	if (!st)
		st = ftr_cdg_new(z->f, z->carried, NULL, &g, err);
	if (!st)
		st = ftr_cdg_steps(g, z->t, x.step, &closes, err);
	if (!st)
		*sum = fold(x.n_entries + closes, x.step, (size_t)z->f->n_sw * z->t->stride);
	ftr_cdg_free(g);
	free(x.step);
	return st;
}

static enum ftr_status op_carry(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_tables *t;
	struct ftr_turn *turn;
	uint32_t n;

	if (!ftr_turns_carry(z->f, z->turn, z->n_turns, z->whole, &turn, &n))
		return ftr_nomem(err, "turns");
	*sum = n;
	free(turn);
	TRY(ftr_tables_carry(z->f, z->t, z->whole, &t, err));
	*sum = fold_tables(*sum, t);
	ftr_tables_free(t);
	return FTR_OK;
}

/* The check by the difference from tables of the whole fabric. */
static enum ftr_status op_difference(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	const struct ftr_order hosts = { z->hosts, z->whole->n_ep };
	struct ftr_check_opts o = { .rank = z->nominal->shape->tree.rank, .list_lost = true };
	struct ftr_check_report r = { .lost = NULL };
	struct ftr_check_base *b = NULL;
	enum ftr_status st;

	st = ftr_check_base_new(z->whole, z->old, o.rank, z->team, &b, err);
	if (!st)
		st = ftr_check_base_load(b, hosts, z->team, err);
	o.base = b;
	if (!st)
		st = ftr_check_tables(z->f, z->carried, &o, z->team, &r, err);
	if (!st)
		*sum = fold(fold(0, r.found, sizeof(r.found)), r.bad, sizeof(r.bad));
	free(r.lost);
	ftr_check_base_free(b);
	return st;
}

/* ---- all operations ----------------------------------------------------------------------- */

static const struct op ops[] = {
	{ "dmodc", op_dmodc }, { "dmodc, full search", op_dmodc_full },
	{ "dmodc, kept", op_dmodc_kept }, { "sftree", op_sftree },
	{ "sftree, kept", op_sftree_kept }, { "ddlr", op_ddlr }, { "ddlr, kept", op_ddlr_kept },
	{ "base", op_base }, { "bound", op_bound },
	{ "check", op_check }, { "lost", op_lost }, { "check by difference", op_difference }, { "check with VLs", op_check_vls },
	{ "cdg", op_cdg }, { "load", op_load }, { "jobs", op_jobs },
	{ "incremental", op_incr }, { "incremental, kept", op_incr_kept }, { "planner of ddlr", op_planner },
	{ "order", op_order }, { "transition", op_transition }, { "carry", op_carry },
};

/* LeakSanitizer, if the program is built with it. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void one(const struct scene *z, const struct op *op, unsigned long n, bool alone,
		enum ftr_status wanted, uint64_t wanted_sum)
{
	uint64_t sum = 0, t = fold_tables(fold_tables(0, z->t), z->carried);
	struct ftr_err err = { 0 };
	enum ftr_status st;

	(alone ? ftr_alloc_fail_once : ftr_alloc_fail_at)(n);
	st = op->run(z, &sum, &err);
	ftr_alloc_fail_at(0);
	ck_assert_msg(st == FTR_NOMEM || (st == FTR_IO && strstr(err.msg, strerror(ENOMEM))) ||
		      (st == wanted && (st || sum == wanted_sum)),
		      "%s: allocation %lu fails%s: status %d (%s), without: %d", op->name, n,
		      alone ? "" : ", and all later ones", st, err.msg, wanted);
	ck_assert_msg(!st || err.msg[0], "%s: allocation %lu fails: no message", op->name, n);
	ck_assert_msg(t == fold_tables(fold_tables(0, z->t), z->carried),
		      "%s: allocation %lu fails: the tables have changed", op->name, n);
}

static unsigned long try_op(const struct scene *z, const struct op *op)
{
	struct ftr_err err = { 0 };
	const unsigned long every = FTR_MAX(1000 / FTR_MAX(trees_runs(999), 1u), 1u);
	unsigned long all, tried = 0;
	uint64_t sum = 0;
	enum ftr_status st;

	chains_begin(CHAINS_WHOLE);
	st = op->run(z, &sum, &err);
	all = chains_end();
	ck_assert_msg(st != FTR_NOMEM, "%s: %s", op->name, err.msg);
	for (unsigned long n = 1; n <= all; n++) {
		if (chains_is_first(n, every))
			one(z, op, n, true, st, sum);
		if (chains_is_last(n, every))
			one(z, op, n, false, st, sum);
		tried += chains_is_first(n, every) + chains_is_last(n, every);
	}
	ck_assert_msg(!__lsan_do_recoverable_leak_check || !__lsan_do_recoverable_leak_check(),
		      "%s: memory is not freed", op->name);
	return tried;
}

START_TEST(each_allocation)
{
	struct scene z;
	unsigned long n = 0;

	set_scene(&z, (unsigned int)_i);
	for (size_t i = 0; i < FTR_ARRAY_LEN(ops); i++)
		n += try_op(&z, &ops[i]);
	for (unsigned int i = 0; i < n_shape_ops; i++)
		n += try_op(&z, &shape_ops[i]);
	for (unsigned int i = 0; i < n_file_ops; i++)
		n += try_op(&z, &file_ops[i]);
	printf("scene %d: %u switches, %u turns: %lu runs\n", _i, z.f->n_sw, z.n_turns, n);
	clear_scene(&z);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("no memory");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, each_allocation, 0, KINDS);
	suite_add_tcase(s, t);
	return run_suite(s);
}
