// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests which tables the plugin prefers (prefer.c): those of a state file for a fabric that differs in
 * one respect, results of searches that a test makes, displaced entries that do not exist any more.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/alloc.h"
#include "lib/suite.h"

static struct ftr_err err;

static struct ibf_plugin *plugin(struct fake *h)
{
	return h->plugin;
}

static struct ibf_engine *engine(struct fake *h)
{
	struct ibf_engine *e = plugin(h)->engine;

	while (strcmp(e->ops->name, "dmodc"))
		e++;
	return e;
}

/* ---- a state file of another fabric --------------------------------------------------- */

enum difference {
	NOTHING, ONE_HOST, OTHER_PORTS, OTHER_PEER, MORE_PORTS, NO_LINK, OTHER_SWITCH, NO_SWITCH_LID,
	HOST_LID, HOST_LMC, HOST_UNLINKED, HOST_ELSEWHERE, HOST_REPLACED, HOST_WAS_UNLINKED, DIFFERENCES
};

static void add_link(struct ftr_builder *b, uint64_t x, uint64_t px, uint64_t y, uint64_t py)
{
	ck_assert(!ftr_builder_add_link(b, (struct ftr_end){ x, (ftr_port)px }, (struct ftr_end){ y, (ftr_port)py },
					4, FTR_SPEED_HDR, &err));
}

/* Two leaves (1, 2) with three hosts each, two upper switches (11, 12) with two links to each leaf.
 * Host 26 exists only if `all`; the LIDs of host 24 are 40 and, if it has two, 41. */
static struct ftr_fabric *fabric(enum difference d, bool all)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f;

	ck_assert_ptr_nonnull(b);
	for (uint64_t s = 1; s <= 12; s += s == 2 ? 9 : 1) {
		struct ftr_switch sw = { .guid = s << 8, .lid = (ftr_lid)s, .n_ports = 12, .name = "switch" };

		if (d == MORE_PORTS && s == 12)
			sw.n_ports = 13;
		if (d == OTHER_SWITCH && s == 12)
			sw.guid++;
		if (d == NO_SWITCH_LID && s == 12)
			sw.lid = 13;
		ck_assert(!ftr_builder_add_switch(b, &sw, &err));
	}
	for (uint64_t leaf = 1; leaf <= 2; leaf++) {
		uint64_t near = 11 << 8, far = 12 << 8 | (d == OTHER_SWITCH);
		bool swap = leaf == 1 && d == OTHER_PORTS, cross = leaf == 1 && d == OTHER_PEER;

		add_link(b, leaf << 8, 1, cross ? far : near, leaf * 2 + swap);
		add_link(b, leaf << 8, 2, near, leaf * 2 + 1 - swap);
		add_link(b, leaf << 8, 3, cross ? near : far, leaf * 2);
		if (leaf == 1 || d != NO_LINK)
			add_link(b, leaf << 8, 4, far, leaf * 2 + 1);
	}
	for (uint64_t e = 21; e <= 26; e++) {
		struct ftr_endport ep = {
			.guid = e << 8, .node_guid = e << 8, .port_num = 1, .lid = (ftr_lid)(e == 24 ? 40 : e),
			.type = FTR_NODE_CA, .name = "host",
		};
		uint64_t leaf = e > 23 ? 2 : 1;

		if (e == 26 && !all)
			continue;
		if (e == 22 && d == HOST_LID)
			ep.lid = 50;
		if (e == 24 && d == HOST_LMC)
			ep.lmc = 1;
		if (e == 25 && d == HOST_REPLACED)
			ep.guid = ep.node_guid = 30 << 8;
		if (e == 22 && d == HOST_ELSEWHERE)
			leaf = 2;
		ck_assert(!ftr_builder_add_endport(b, &ep, &err));
		if (e != 22 || d != HOST_WAS_UNLINKED)
			add_link(b, leaf << 8, e - 16, ep.guid, 1);
	}
	ck_assert_msg(!ftr_builder_freeze(b, &f, &err), "%s", err.msg);
	return f;
}

/* The file holds the tables of the fabric with all hosts, found by a search. */
static void put_state(struct fake *h, const struct ftr_fabric *was, const struct ftr_displaced *displaced,
		      uint32_t n)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_nominal_change c;
	struct ftr_state s = {
		.f = (struct ftr_fabric *)(uintptr_t)was, .engine = "dmodc", .searched = true,
		.displaced = (struct ftr_displaced *)(uintptr_t)displaced, .n_displaced = n,
	};
	char path[128];

	ck_assert(!ftr_nominal_new(was, &(struct ftr_shape_opts){ .leaf_order = FTR_LEAF_BY_GUID }, NULL,
				   &s.nominal, &c, &err));
	ck_assert(!ftr_tables_new(was, false, &s.t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(s.nominal->shape, &o, NULL, s.t, NULL, &err));
	snprintf(path, sizeof(path), "%s/ibfattree-state-00000000000000aa", h->dir);
	ck_assert_msg(!ftr_state_write(path, &s, &err), "%s", err.msg);
	ftr_tables_free(s.t);
	ftr_nominal_free(s.nominal);
}

/* OpenSM does not know the link of host 22 while it routes. */
static void unlink_host(void *ctx, struct fake *h, enum fake_moment m)
{
	osm_physp_t **far = ctx, *p = h->ep_port[ftr_fabric_find_ep(h->fab, 22 << 8)]->p_physp;

	if (m == FAKE_LOCKED) {
		*far = p->p_remote_physp;
		p->p_remote_physp = NULL;
	} else if (m == FAKE_ROUTING) {
		p->p_remote_physp = *far;
		h->moment = NULL;
	}
}

/* A host is missing, and the state file is that of a fabric with this host.  Its tables stay the
 * preferred ones, with entries for the host, only if nothing else differs. */
START_TEST(other_fabrics)
{
	struct ftr_fabric *was = fabric(_i == HOST_WAS_UNLINKED ? HOST_WAS_UNLINKED : NOTHING, true);
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = fabric(_i == HOST_WAS_UNLINKED ? NOTHING : (enum difference)_i, _i == NOTHING),
		.not_up = true, .options = "balance load\n",
	});
	struct ibf_prefer *r = &engine(h)->prefer;
	osm_physp_t *far;
	bool kept = _i == ONE_HOST || _i == NO_LINK || _i == HOST_UNLINKED;

	put_state(h, was, NULL, 0);
	if (_i == HOST_UNLINKED) {
		h->moment_ctx = &far;
		h->moment = unlink_host;
	}
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "the nominal fabric was read from "), 1);
	ck_assert_ptr_nonnull(r->gen);
	ck_assert_msg((ftr_fabric_find_ep(r->gen->fabric, 26 << 8) != FTR_EP_NONE) == (kept || _i == NOTHING),
		      "case %d: %s", _i, h->log);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_sweep(h);
	ck_assert_uint_eq(h->changed_entries, 0);
	fake_free(h);
	ftr_fabric_free(was);
}
END_TEST

/* ---- results of a search ---------------------------------------------------------------- */

/* A result of a search: the tables of sftree. */
static struct ibf_search *result(struct fake *h, bool displaced)
{
	struct ibf_engine *e = engine(h);
	struct ibf_search *z = calloc(1, sizeof(*z));
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;

	ck_assert_ptr_nonnull(z);
	z->e = e;
	z->gen = ibf_generation_get(e->gen);
	z->displaced = displaced;
	z->balance = (struct ftr_balance_report){ .moved = 1, .max_before = 9, .max_after = 1 };
	ck_assert(!ftr_tables_new(e->gen->fabric, false, &z->t, &err));
	ck_assert(!ftr_engine_find("sftree")->route(e->gen->shape, &o, NULL, z->t, NULL, &err));
	return z;
}

/* The number of entries of the switches that are not those of t. */
static uint32_t others(const struct fake *h, const struct ftr_tables *t)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (uint32_t lid = 0; lid <= h->fab->max_lid; lid++)
			n += h->sw[s].lft[lid] != ftr_tables_get(t, s, (ftr_lid)lid);
	return n;
}

static struct fake *tree(void)
{
	return fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .options = "balance load\n" });
}

/* While a link is missing, the next routing applies a result for displaced entries.  When the link is
 * back, the preferred tables are used again.  The list of displaced entries is replaced if one entry of it
 * is another. */
START_TEST(displaced_result)
{
	struct fake *h = tree();
	struct ibf_prefer *r = &engine(h)->prefer;
	ftr_sw leaf = fake_leaf(h, 1);
	struct ftr_tables *before, *found;

	ck_assert(!ftr_tables_carry(h->fab, engine(h)->gen->tables, h->fab, &before, &err));
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	fake_check_sweep(h);
	fake_check_sweep(h);
	ck_assert_uint_gt(r->n_entries, 0);
	r->entry[0].guid++;
	fake_check_sweep(h);
	ck_assert_uint_ne(ftr_fabric_find_sw(h->fab, r->entry[0].guid), FTR_SW_NONE);
	r->better = result(h, true);
	ck_assert(!ftr_tables_carry(h->fab, r->better->t, h->fab, &found, &err));
	fake_check_sweep(h);
	ck_assert_ptr_null(r->better);
	fake_check_healed(h);
	/* entries that are displaced anyway are those of the result */
	for (uint32_t i = 0; i < r->n_entries; i++)
		ck_assert_uint_eq(r->entry[i].port,
				  ftr_tables_get(found, ftr_fabric_find_sw(h->fab, r->entry[i].guid),
						 r->entry[i].lid));
	fake_link(h, leaf, fake_uplink(h, leaf, 0), true);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert_uint_eq(others(h, before), 0);
	ck_assert_uint_eq(r->n_entries, 0);
	ftr_tables_free(before);
	ftr_tables_free(found);
	fake_free(h);
}
END_TEST

/* A result of a complete fabric waits until the fabric is complete again.  Without one, no search starts. */
START_TEST(result_waits)
{
	struct fake *h = tree();
	struct ibf_prefer *r = &engine(h)->prefer;
	struct ibf_search *z = result(h, false);
	ftr_sw leaf = fake_leaf(h, 1);

	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	r->better = z;
	fake_check_sweep(h);
	fake_check_sweep(h);
	ck_assert_ptr_eq(r->better, z);
	ck_assert_int_eq(r->stage, IBF_COMPUTED);
	plugin(h)->opt.balance = FTR_BALANCE_FULL;
	r->better = NULL;
	r->new_displaced = false;
	ibf_prefer_search(engine(h));
	ck_assert_ptr_null(r->search);
	plugin(h)->opt.balance = FTR_BALANCE_LOAD;
	r->better = z;
	fake_link(h, leaf, fake_uplink(h, leaf, 0), true);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert_ptr_null(r->better);
	ck_assert_int_eq(r->stage, IBF_SEARCHED);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static void await(struct ibf_prefer *r)
{
	fake_until(!r->search || ibf_search_done(r->search));
}

/* After a fault, the displaced entries are searched once, and the complete fabric not again. */
START_TEST(displaced_search)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .options = "balance full\n" });
	struct ibf_prefer *r = &engine(h)->prefer;
	ftr_sw leaf = fake_leaf(h, 1);

	await(r);
	fake_check_sweep(h);
	ck_assert(r->stage == IBF_CONFIRMED || r->stage == IBF_SEARCHED);
	ck_assert_ptr_null(r->search);
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	fake_check_sweep(h);
	ck_assert_uint_gt(r->n_entries, 0);
	ck_assert(r->search && r->search->displaced);
	await(r);
	fake_check_sweep(h);
	await(r);
	fake_check_sweep(h);
	ck_assert_ptr_null(r->search);
	ck_assert_uint_ge(fake_logged(h, "search for displaced entries done"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static void *nothing(void *arg)
{
	return arg;
}

/* Changes, none, and changes of displaced entries that reduce the load of rails. */
static const struct ftr_balance_report result_balance[] = {
	{ .moved = 1, .max_before = 9, .max_after = 1 }, { .moved = 0 },
	{ .moved = 1, .max_before = 9, .max_after = 9, .rail_before = 9, .rail_after = 1 },
	{ .moved = 0 },
};

/* The thread of a search has ended; the tables were computed from scratch.  Case 3: from given tables. */
START_TEST(replaced_result)
{
	struct fake *h = tree();
	struct ibf_prefer *r = &engine(h)->prefer;
	struct ibf_search *z = result(h, false);

	z->replaced = true;
	z->displaced = _i % 3;
	z->balance = result_balance[_i];
	atomic_init(&z->done, true);
	ck_assert(ibf_thread_start(&z->thread, nothing, NULL));
	r->search = z;
	if (_i == 3)
		r->stage = IBF_GIVEN;
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, _i % 2 ? "entries to change=0 " : "entries to change=1 "), 1);
	ck_assert_uint_eq(fake_logged(h, "computed from scratch, because the kept tables were more than 5 % behind"), 1);
	ck_assert_ptr_null(r->search);
	ck_assert_int_eq(r->stage, _i % 3 ? IBF_COMPUTED : IBF_SEARCHED);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* No search starts without a routing, without tables, without a nominal fabric, after a failure, or
 * while a result waits. */
START_TEST(no_search)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .options = "balance full\n", .not_up = true,
	});
	struct ibf_engine *e = engine(h);
	struct ibf_prefer *r = &e->prefer;
	struct ibf_generation *gen;
	struct ibf_nominal *nominal;
	struct ftr_tables *t;

	plugin(h)->opt.balance = FTR_BALANCE_FULL;
	r->stage = IBF_COMPUTED;
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	r->stage = IBF_NO_ROUTING;
	plugin(h)->opt.balance = FTR_BALANCE_LOAD;
	fake_check_sweep(h);
	plugin(h)->opt.balance = FTR_BALANCE_FULL;
	gen = e->gen;
	ck_assert_int_eq(r->stage, IBF_COMPUTED);
	nominal = gen->nominal;
	gen->nominal = NULL;
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	gen->nominal = nominal;
	t = gen->tables;
	gen->tables = NULL;
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	gen->tables = t;
	r->retry = ibf_now_ms() + 1000;
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	r->retry = 0;
	r->better = result(h, false);
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	ibf_search_free(r->better);
	r->better = NULL;
	/* a search for displaced entries is due, but none are displaced any more */
	r->stage = IBF_CONFIRMED;
	r->new_displaced = true;
	ck_assert_ptr_null(gen->prefer);
	ibf_prefer_search(e);
	ck_assert_ptr_null(r->search);
	/* no memory for the search: it stays due */
	gen->prefer = gen->tables;
	ftr_alloc_fail_once(1);
	ibf_prefer_search(e);
	ftr_alloc_fail_at(0);
	ck_assert_ptr_null(r->search);
	ck_assert(r->new_displaced);
	gen->prefer = NULL;
	r->new_displaced = false;
	r->stage = IBF_COMPUTED;
	ibf_prefer_search(e);
	ck_assert_ptr_nonnull(r->search);
	ck_assert_ptr_eq(r->search->gen, r->gen);
	fake_free(h);
}
END_TEST

/* A search starts from the last routing if there are no preferred tables (the fabric has grown, and the
 * routing of the larger one has failed), if they were read from a file, or if their nominal fabric has been
 * replaced. */
START_TEST(search_of_last_routing)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .options = "balance load\n" });
	struct ibf_engine *e = engine(h);
	struct ibf_prefer *r = &e->prefer;
	struct ibf_generation *kept = r->gen, other = *kept;
	struct ibf_nominal nominal = *kept->nominal;

	if (_i == 1)
		other.shape = NULL;
	else
		other.nominal = &nominal;
	plugin(h)->opt.balance = FTR_BALANCE_FULL;
	r->gen = _i ? &other : NULL;
	ibf_prefer_search(e);
	r->gen = kept;
	ck_assert_ptr_nonnull(r->search);
	ck_assert_ptr_eq(r->search->gen, e->gen);
	fake_free(h);
}
END_TEST

/* ---- kept tables that are worse than others --------------------------------------------- */

static const struct ftr_engine_ops *real_ops;

static enum ftr_status route_badly(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
				   struct ftr_team *team, struct ftr_tables *out,
				   struct ftr_route_stats *stats, struct ftr_err *e)
{
	enum ftr_status st = real_ops->route(sh, opts, team, out, stats, e);

	stats->balance.max_after *= opts->keep ? 2 : 1;
	return st;
}

/* The fabric has a link more than that of the state file.  The tables of the file would lead to twice the
 * load of tables that are computed from scratch, so they are not kept. */
START_TEST(worse_than_scratch)
{
	struct ftr_fabric *was = fabric(NO_LINK, true);
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = fabric(NOTHING, true), .not_up = true, .options = "balance load\n",
	});
	struct ibf_engine *e = engine(h);
	struct ftr_engine_ops ops = *e->ops;
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t;

	put_state(h, was, NULL, 0);
	real_ops = e->ops;
	ops.route = route_badly;
	e->ops = &ops;
	fake_check_sweep(h);
	e->ops = real_ops;
	ck_assert_msg(fake_logged(h, "the tables of the earlier fabric are not kept: tables computed from scratch have more than 5 % less load") == 1,
		      "%s", h->log);
	o.balance = FTR_BALANCE_LOAD;
	ck_assert(!ftr_tables_new(h->fab, false, &t, &err));
	ck_assert(!real_ops->route(e->gen->shape, &o, NULL, t, NULL, &err));
	ck_assert(!memcmp(t->lft, e->gen->tables->lft, (size_t)t->n_sw * t->stride));
	fake_check_healed(h);
	ftr_tables_free(t);
	fake_free(h);
	ftr_fabric_free(was);
}
END_TEST

/* ---- tables that miss a switch --------------------------------------------------------- */

/* The first routing lacks a switch of the nominal fabric, so its tables are not kept when it returns.
 * Case 1: they are tables of the switches (option "adopt").  Case 2: the first switch. */
START_TEST(makeshift)
{
	struct ftr_fabric *was = fabric(NOTHING, true);
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = fabric(NOTHING, true), .not_up = true,
		.options = _i == 1 ? "balance load\nadopt yes\n" : "balance load\n", .sm = 3,
	});
	struct ibf_prefer *r = &engine(h)->prefer;
	struct ftr_nominal_change c;
	struct ftr_nominal *n;
	char path[128];
	ftr_sw spine = _i == 2 ? 0 : fake_spine(h, 1);

	ck_assert(!ftr_nominal_new(was, &(struct ftr_shape_opts){ .leaf_order = FTR_LEAF_BY_GUID }, NULL,
				   &n, &c, &err));
	snprintf(path, sizeof(path), "%s/ibfattree-state-00000000000000aa", h->dir);
	ck_assert(!ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err));
	ftr_nominal_free(n);
	for (unsigned int p = 1; p <= h->fab->sw[spine].n_ports; p++)
		if (ftr_fabric_next(h->fab, spine, (ftr_port)p) != FTR_SW_NONE)
			fake_link_quietly(h, spine, (ftr_port)p, false);
	fake_check_sweep(h);
	ck_assert(!ibf_is_complete(r->gen));
	ck_assert_int_eq(r->stage, _i == 1 ? IBF_GIVEN : IBF_COMPUTED);
	fake_check_healed(h);
	for (unsigned int p = 1; p <= h->fab->sw[spine].n_ports; p++)
		if (ftr_fabric_port(h->fab, spine, (ftr_port)p)->peer_kind == FTR_PEER_SW)
			fake_link_quietly(h, spine, (ftr_port)p, true);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert(ibf_is_complete(r->gen));
	ck_assert_uint_ne(ftr_fabric_find_sw(r->gen->fabric, 12 << 8), FTR_SW_NONE);
	fake_check_healed(h);
	fake_free(h);
	ftr_fabric_free(was);
}
END_TEST

/* The displaced entries in the state file are of a switch and of a LID that do not exist now. */
START_TEST(old_displaced)
{
	static const struct ftr_displaced old[] = { { 1 << 8, 26, 1 }, { 1 << 8, 600, 1 }, { 12 << 8, 22, 2 } };
	struct ftr_fabric *was = fabric(NOTHING, true);
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = fabric(ONE_HOST, false), .not_up = true, .options = "balance load\n",
	});
	struct ibf_prefer *r = &engine(h)->prefer;
	ftr_sw spine = fake_spine(h, 1);

	put_state(h, was, old, 3);
	for (unsigned int p = 1; p <= h->fab->sw[spine].n_ports; p++)
		if (ftr_fabric_next(h->fab, spine, (ftr_port)p) != FTR_SW_NONE)
			fake_link_quietly(h, spine, (ftr_port)p, false);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "the nominal fabric was read from "), 1);
	for (uint32_t i = 0; i < r->n_entries; i++)
		ck_assert(r->entry[i].guid != 12 << 8 && r->entry[i].lid <= h->fab->max_lid);
	fake_check_healed(h);
	fake_free(h);
	ftr_fabric_free(was);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("preferred tables");
	TCase *c = tcase_create("all");

	tcase_add_loop_test(c, other_fabrics, 0, DIFFERENCES);
	tcase_add_test(c, displaced_result);
	tcase_add_test(c, result_waits);
	if (getenv("IBFATTREE_HELPER"))
		tcase_add_test(c, displaced_search);
	tcase_add_loop_test(c, replaced_result, 0, (int)FTR_ARRAY_LEN(result_balance));
	tcase_add_test(c, no_search);
	tcase_add_loop_test(c, search_of_last_routing, 0, 3);
	tcase_add_test(c, worse_than_scratch);
	tcase_add_loop_test(c, makeshift, 0, 3);
	tcase_add_test(c, old_displaced);
	suite_add_tcase(s, c);
	return run_suite(s);
}
