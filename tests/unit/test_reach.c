// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests reachability: when the plugin has routed, the test follows the tables in the switches from
 * every switch to every LID.  It uses no code of the engines or the checker.
 *
 * The tables of every engine are tested on every fabric, in the part that Active links connect
 * with OpenSM's port.  Each host port must reach every other host port, and every switch must reach
 * the LID of every subnet manager.  With sftree and ddlr every switch must reach every LID.  The
 * packets must close no credit loop on one VL.  The lower bound in the plugin's status file must
 * not exceed the load of the most loaded link.
 *
 * Each seed gives one random fabric, in most cases damaged, with subnet managers on random nodes.
 * For one seed in eight, links then fail and OpenSM sweeps again.  Real fabrics are routed with a
 * subnet manager on several nodes, one after the other (see every_kind()).
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.  CK_RUN_CASE=random
 * FTR_RUNS=67 tests 10,050 random fabrics, and nothing else.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/follow.h"
#include "lib/irregular.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define RUNS 150		/* number of random fabrics */
#define REAL_RUNS 3		/* number of damaged copies of each real fabric */

static const char *const engines[] = { "dmodc", "sftree", "ddlr", NULL };

static struct ftr_err err;

static struct {
	uint32_t fabrics, routings, sms, reordered, turns;
	uint64_t pairs, to_sm, apart;
	uint32_t bounds;	/* number of lower bounds in status files */
} sum;

/* ---- the walk ---------------------------------------------------------- */

struct scene {
	struct fake *h;
	const struct ftr_fabric *f;
	const char *engine;
	uint64_t seed;
	uint8_t *lft;		/* [n_sw][lids] */
	uint32_t lids;
	uint8_t *active;	/* [n_ports] 1: the link at this port is Active */
	struct follow *walk;
	uint32_t *ends;		/* [n_sw] number of the switch's host ports with a LID */
	uint64_t sm_guid[4];	/* port GUIDs of the subnet managers */
	uint32_t n_sm;
};

static bool is_manager(const struct scene *c, uint64_t guid)
{
	for (uint32_t i = 0; i < c->n_sm; i++)
		if (c->sm_guid[i] == guid)
			return true;
	return false;
}

static void walk_lid(struct scene *c, ftr_lid lid, ftr_sw to, bool host,
		     uint64_t guid)
{
	bool sm = is_manager(c, guid), all = strcmp(c->engine, "dmodc");
	ftr_sw own = c->f->ep[c->h->sm].sw;

	follow_begin(c->walk, lid);
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		/* OpenSM discovers only its own connected part */
		if (!follow_joined(c->walk, s, own))
			continue;
		if (!follow_joined(c->walk, s, to)) {
			sum.apart += host ? c->ends[s] : 0;
			continue;
		}
		if (!(host && c->ends[s]) && !sm && !all)
			continue;
		if (follow(c->walk, s) != FOLLOW_ARRIVES)
			ck_abort_msg("seed %" PRIu64
				     ", %s: packets from switch %u (%u host ports) to LID %u at switch %u do not arrive%s",
				     c->seed, c->engine, s, c->ends[s], lid, to,
				     sm ? "; the LID is a subnet manager's" : "");
		sum.pairs += host ? c->ends[s] : 0;
		sum.to_sm += sm;
	}
}

/* ---- a scene ----------------------------------------------------------- */

static void read_switches(struct scene *c)
{
	fake_lock(c->h);
	for (uint32_t x = 0; x < c->f->n_ports; x++)
		c->active[x] = c->h->link[x] == IB_LINK_ACTIVE;
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		memcpy(c->lft + (size_t)s * c->lids, c->h->sw[s].lft, c->lids);
	fake_unlock(c->h);
}

static void check_bound(const struct scene *c)
{
	char path[128], text[4096];
	const char *load;
	uint64_t max, bound;
	FILE *in;

	fake_flush(c->h);
	snprintf(path, sizeof(path), "%s/ibfattree-status.json", c->h->dir);
	in = fopen(path, "r");
	ck_assert(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	load = strstr(text, "\"link_load\":");
	ck_assert(load);
	if (sscanf(load, "\"link_load\":{\"max\":%" SCNu64 ",\"bound\":%" SCNu64, &max, &bound) != 2)
		return;
	ck_assert_msg(bound <= max, "seed %" PRIu64 ", %s: lower bound %" PRIu64
		      " flows, but the most loaded link has only %" PRIu64,
		      c->seed, c->engine, bound, max);
	sum.bounds++;
}

static void judge(struct scene *c)
{
	const struct ftr_fabric *f = c->f;
	uint32_t waiting;

	read_switches(c);
	follow_tables(c->walk, c->lft, c->lids);
	memset(c->ends, 0, f->n_sw * sizeof(*c->ends));
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			c->ends[f->ep[e].sw]++;
	for (unsigned int lid = 1; lid < c->lids; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		if (o->kind == FTR_OWNER_SW)
			walk_lid(c, (ftr_lid)lid, o->idx, false,
				 f->sw[o->idx].guid);
		else if (o->kind == FTR_OWNER_EP &&
			 f->ep[o->idx].sw != FTR_SW_NONE)
			walk_lid(c, (ftr_lid)lid, f->ep[o->idx].sw, true,
				 f->ep[o->idx].guid);
	}
	waiting = follow_waiting(c->walk);
	ck_assert_msg(!waiting, "seed %" PRIu64 ", %s: %u channels wait for each other",
		      c->seed, c->engine, waiting);
	check_bound(c);
	sum.routings++;
	sum.reordered += fake_logged(c->h, "IBF119") > 0;
	sum.turns += fake_logged(c->h, " extra turn") > 0;
}

static void scene_init(struct scene *c, struct fake *h)
{
	const struct ftr_fabric *f = h->fab;

	c->h = h;
	c->f = f;
	c->lids = f->max_lid + 1u;
	c->lft = malloc((size_t)f->n_sw * c->lids);
	c->active = malloc(f->n_ports);
	c->ends = malloc(f->n_sw * sizeof(*c->ends));
	ck_assert(c->lft && c->active && c->ends);
	c->walk = follow_new(f, c->active);
}

static void scene_fini(struct scene *c)
{
	follow_free(c->walk);
	free(c->lft);
	free(c->active);
	free(c->ends);
}

/* ---- one routing ------------------------------------------------------- */

/* positions of the subnet managers: OpenSM's own host port, and others that OpenSM knows */
struct managers {
	ftr_ep own;
	uint64_t other[3];	/* port GUIDs; for a switch, the GUID of port 0 */
	uint32_t n_other;
};

static void lose_links(struct fake *h, struct ftr_rng *r)
{
	const struct ftr_fabric *f = h->fab;

	for (uint32_t i = 0; i < 4; i++) {
		ftr_sw s = ftr_rng_below(r, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(r,
							  f->sw[s].n_ports));

		if (ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_SW)
			fake_link(h, s, p, false);
	}
	fake_settle(h);
	for (int i = 0; i < 3; i++) {
		fake_sweep(h);
		fake_settle(h);
	}
}

static void run_test_reach(struct ftr_fabric *fab, uint64_t seed, const char *engine,
			   const struct managers *m, struct ftr_rng *faults)
{
	struct scene c = { .engine = engine, .seed = seed };
	struct fake_opts o = {
		.fabric = fab, .engine = engine, .sm = m->own, .not_up = true,
	};
	cl_map_item_t item[3];
	struct fake *h = fake_new(&o);

	c.sm_guid[c.n_sm++] = h->fab->ep[m->own].guid;
	for (uint32_t i = 0; i < m->n_other; i++) {
		/* the plugin reads only the key of a record: the port GUID */
		cl_qmap_insert(&h->osm->subn.sm_guid_tbl,
			       cl_hton64(m->other[i]), &item[i]);
		c.sm_guid[c.n_sm++] = m->other[i];
	}
	scene_init(&c, h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	judge(&c);
	if (faults) {
		lose_links(h, faults);
		judge(&c);
	}
	sum.sms += c.n_sm;
	ck_assert_uint_eq(fake_logged(h, "refuses to route"), 0);
	scene_fini(&c);
	cl_qmap_remove_all(&h->osm->subn.sm_guid_tbl);
	fake_free(h);
}

static struct ftr_fabric *copy_of(const struct ftr_fabric *f)
{
	struct ftr_filter all = { NULL, NULL, NULL, NULL, NULL };
	struct ftr_fabric *g = NULL;

	ck_assert_msg(!ftr_fabric_copy_if(f, &all, &g, &err), "%s", err.msg);
	return g;
}

static uint64_t any_guid(const struct ftr_fabric *f, struct ftr_rng *r)
{
	return ftr_rng_below(r, 2) ? f->sw[ftr_rng_below(r, f->n_sw)].guid :
		f->ep[ftr_rng_below(r, f->n_ep)].guid;
}

static void try_all(struct ftr_fabric *f, uint64_t seed, struct ftr_rng *r)
{
	struct managers m = { .n_other = ftr_rng_below(r, 4) };
	struct ftr_rng fate;

	if (!f->n_ep || !f->n_sw) {
		ftr_fabric_free(f);
		return;
	}
	m.own = ftr_rng_below(r, f->n_ep);
	for (uint32_t i = 0; i < m.n_other; i++) {
		bool again = false;

		m.other[i] = any_guid(f, r);
		for (uint32_t k = 0; k < i; k++)
			again |= m.other[k] == m.other[i];
		if (again || m.other[i] == f->ep[m.own].guid)
			m.n_other = i;
	}
	sum.fabrics++;
	for (size_t i = 0; f->ep[m.own].sw != FTR_SW_NONE && engines[i]; i++) {
		ftr_rng_seed(&fate, seed);
		run_test_reach(copy_of(f), seed, engines[i], &m, seed % 8 ? NULL : &fate);
	}
	ftr_fabric_free(f);
}

static void show(const char *what)
{
	printf("%s: %u fabrics, %u routings (%u with extra turns, %u by sftree's own order of switches), %u places of subnet managers; %"
	       PRIu64 " pairs of host ports and %" PRIu64
	       " of a switch and a subnet manager walked, 0 unreachable; %"
	       PRIu64 " pairs are not connected by links\n", what, sum.fabrics,
	       sum.routings, sum.turns, sum.reordered, sum.sms, sum.pairs,
	       sum.to_sm, sum.apart);
	fflush(stdout);
	memset(&sum, 0, sizeof(sum));
}

static struct ftr_fabric *random_fabric(struct ftr_rng *r, uint64_t seed)
{
	struct ftr_fabric *f = NULL;
	struct ftr_pgft g;
	uint32_t n, links;

	switch (ftr_rng_below(r, 6)) {
	case 0:
		trees_random_pgft(r, &g, false, 30);
		return trees_damaged(trees_grow(&g, seed, seed % 5 == 0), r, 60);
	case 1:
		return trees_damaged(trees_chassis(r), r, 40);
	case 2:
		return trees_damaged(trees_irregular(r), r, 40);
	case 3:
		n = 1 + ftr_rng_below(r, 16);
		links = ftr_rng_below(r, 2 * n);
		ck_assert(!random_graph_new(seed, n, 1 + ftr_rng_below(r, 30), links, &f, &err));
		return f;
	default:
		return irregular_small(r);
	}
}

START_TEST(random_fabrics)
{
	for (uint32_t i = 0; i < trees_runs(RUNS); i++) {
		uint64_t seed = trees_first_seed() + i;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		try_all(random_fabric(&r, seed), seed, &r);
	}
	ck_assert_uint_gt(sum.bounds, 0);
	show("random fabrics");
}
END_TEST

START_TEST(damaged_real_fabrics)
{
	for (size_t k = 0; trees_real_files[k]; k++) {
		struct ftr_fabric *f = trees_real(trees_real_files[k]);

		for (uint32_t i = 0; f && i < trees_runs(REAL_RUNS); i++) {
			uint64_t seed = trees_first_seed() + i;
			struct ftr_rng r;

			ftr_rng_seed(&r, seed);
			try_all(trees_damaged(copy_of(f), &r, 10), seed, &r);
		}
		if (f)
			show(trees_real_files[k]);
		ftr_fabric_free(f);
	}
}
END_TEST

/* ---- subnet managers on every kind of node ------------------------------ */

static uint32_t ends_of(const struct ftr_fabric *f, ftr_sw s)
{
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		n += f->ep[e].sw == s;
	return n;
}

static ftr_ep host_on(const struct ftr_fabric *f, const struct ftr_shape *sh,
		      uint8_t rank, uint32_t most_hosts)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid &&
		    sh->tree.rank[f->ep[e].sw] == rank &&
		    ends_of(f, f->ep[e].sw) <= most_hosts)
			return e;
	return FTR_EP_NONE;
}

static void with_manager(const struct ftr_fabric *f, uint64_t number,
			 const struct managers *m)
{
	for (size_t i = 0; engines[i]; i++)
		run_test_reach(copy_of(f), number, engines[i], m, NULL);
}

/* Test with a subnet manager on a host of each rank, and on a host of the leaf switch with the
 * fewest hosts.  Then test with a second subnet manager on port 0 of a switch of each rank. */
static void every_kind(const struct ftr_fabric *f, uint64_t number)
{
	struct ftr_shape *sh = NULL;
	struct managers m = { 0 };
	uint32_t fewest = 1;

	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	for (uint8_t rank = 0; rank < sh->tree.n_ranks; rank++) {
		m.own = host_on(f, sh, rank, UINT32_MAX);
		if (m.own != FTR_EP_NONE)
			with_manager(f, number, &m);
	}
	do
		m.own = host_on(f, sh, 0, fewest++);
	while (m.own == FTR_EP_NONE);
	with_manager(f, number, &m);
	m.own = host_on(f, sh, 0, UINT32_MAX);
	for (uint8_t rank = 0; rank < sh->tree.n_ranks; rank++)
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (sh->tree.rank[s] == rank && s != f->ep[m.own].sw) {
				m.other[0] = f->sw[s].guid;
				m.n_other = 1;
				with_manager(f, number, &m);
				break;
			}
	ftr_shape_free(sh);
}

START_TEST(manager_on_every_kind_of_node)
{
	for (size_t k = 0; trees_real_files[k]; k++) {
		struct ftr_fabric *f = trees_real(trees_real_files[k]);

		if (!f)
			continue;
		sum.fabrics++;
		every_kind(f, k);
		show(trees_real_files[k]);
		ftr_fabric_free(f);
	}
}
END_TEST

START_TEST(manager_anywhere_on_irregular_fabrics)
{
	for (uint32_t i = 0; i < trees_runs(RUNS / 10); i++) {
		uint64_t seed = trees_first_seed() + i;
		struct ftr_fabric *f;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		f = trees_irregular(&r);
		sum.fabrics++;
		every_kind(f, seed);
		ftr_fabric_free(f);
	}
	show("irregular fabrics");
}
END_TEST

/* ---- log messages ------------------------------------------------------ */

static void must(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

static void link_up(struct ftr_builder *b, uint64_t x, ftr_port p, uint64_t y,
		    ftr_port q)
{
	must(ftr_builder_add_link(b, (struct ftr_end){ x, p },
				  (struct ftr_end){ y, q }, 4, FTR_SPEED_EDR,
				  &err));
}

/* A fabric of leaf switches 1, 2 and 3, in which 1 and 3 share no spine.  One host is on switch 1,
 * two are on switch 2, two on switch 3.  Two hosts have the same name. */
static struct ftr_fabric *chain(void)
{
	static const char *const name[] = { "lone", "twin", "mid", "twin",
		"far" };
	static const uint64_t leaf[] = { 1, 2, 2, 3, 3 };
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;

	for (uint64_t s = 1; s <= 5; s++)
		must(ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = s, .n_ports = 8, .name = "switch",
		}, &err));
	link_up(b, 1, 5, 4, 1);
	link_up(b, 2, 5, 4, 2);
	link_up(b, 2, 6, 5, 1);
	link_up(b, 3, 5, 5, 2);
	for (uint64_t e = 0; e < 5; e++) {
		must(ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = 0x100 + 2 * e, .guid = 0x101 + 2 * e,
			.port_num = 1, .name = name[e],
		}, &err));
		link_up(b, 0x100 + 2 * e, 1, leaf[e],
			(ftr_port)(1 + e % 2));
	}
	must(ftr_builder_assign_lids(b, 0, &err));
	must(ftr_builder_freeze(b, &f, &err));
	return f;
}

static void logs(const char *options, const char *const *texts, size_t n)
{
	struct fake_opts o = { .fabric = chain(), .options = options, .sm = 1 };
	struct fake *h = fake_new(&o);

	for (size_t i = 0; i < n; i++)
		ck_assert_msg(fake_logged(h, texts[i]) == 1,
			      "not exactly one \"%s\" in the log:\n%s", texts[i], h->log);
	fake_free(h);
}

/* With "paths updown" one line counts the pairs without a path and names their hosts.  GUIDs are
 * added to the names of hosts with the same name. */
START_TEST(cost_of_updown)
{
	static const char *const texts[] = {
		"no up/down path for 4 pairs of hosts; they are not routed, although links connect them: set \"paths all\" in ibfattree.conf; 3 host ports are affected, those with the most unreachable LIDs first: lone (2 unreachable), twin (0x0000000000000107) (1 unreachable), far (1 unreachable)\n",
	};
	static const char *const fewer[] = {
		"LIDs first: lone (2 unreachable)\n",
	};

	logs("paths updown\n", texts, FTR_ARRAY_LEN(texts));
	logs("paths updown\nlog_samples 1\n", fewer, FTR_ARRAY_LEN(fewer));
}
END_TEST

START_TEST(nothing_to_report)
{
	static const char *const texts[] = {
		"without a path: 0 host pairs",
		"2 extra turns connect 4 host pairs",
	};

	logs(NULL, texts, FTR_ARRAY_LEN(texts));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reach");
	TCase *random = tcase_create("random");
	TCase *t = tcase_create("reach");

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_add_test(random, random_fabrics);
	tcase_add_test(t, damaged_real_fabrics);
	tcase_add_test(t, manager_on_every_kind_of_node);
	tcase_add_test(t, manager_anywhere_on_irregular_fabrics);
	tcase_add_test(t, cost_of_updown);
	tcase_add_test(t, nothing_to_report);
	suite_add_tcase(s, random);
	suite_add_tcase(s, t);
	return run_suite(s);
}
