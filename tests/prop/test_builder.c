// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random calls of the builder of fabrics, most of them with numbers at the limits.  A simple model says
 * which calls must be refused, and what the fabric then contains.  Also all functions that compare or
 * carry over tables of two such fabrics, against loops over all switches and LIDs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define GUIDS 6		/* node GUIDs 1..GUIDS; a port GUID is 100 + a number below GUIDS */
#define PORTS 4

struct lid {
	ftr_lid lid;
	unsigned int lmc;
};

/* What was added. */
struct model {
	struct {
		bool is;
		unsigned int ports;
		struct lid lid;
		uint64_t holder;
	} sw[GUIDS + 1];
	struct {
		uint64_t guid;		/* 0: there is no such port */
		enum ftr_node_type type;
		struct lid lid;
	} ep[GUIDS + 1][PORTS + 1];
	struct ftr_end link[GUIDS + 1][PORTS + 1];	/* node_guid 0: none */
};

static struct ftr_rng rng;
static unsigned long n_refused, n_taken, n_fabrics;

static uint32_t below(uint32_t n)
{
	return ftr_rng_below(&rng, n);
}

static unsigned int some_port(void)
{
	static const unsigned int odd[] = { 0, FTR_PORT_MAX, FTR_PORT_MAX + 1 };

	return below(8) ? 1 + below(PORTS) : odd[below(3)];
}

static struct lid some_lid(void)
{
	static const ftr_lid odd[] = { 0, 0, 8, 16, 32, 3, FTR_LID_MAX, FTR_LID_MAX - 1, 0xffff };
	unsigned int lmc = below(3) ? 0 : below(12) ? below(4) : FTR_LMC_MAX + 1;

	return (struct lid){ below(3) ? (ftr_lid)(40 + 8 * below(12)) : odd[below(9)], lmc };
}

static bool fits(struct lid l)
{
	if (l.lmc > FTR_LMC_MAX)
		return false;
	return !l.lid || (l.lid % (1u << l.lmc) == 0 && l.lid + (1u << l.lmc) - 1 <= FTR_LID_MAX);
}

/* Returns false if the two contradict each other. */
static bool merge(struct lid *a, struct lid b)
{
	if (!b.lid)
		return true;
	if (a->lid && (a->lid != b.lid || a->lmc != b.lmc))
		return false;
	*a = b;
	return true;
}

static void result(enum ftr_status st, bool wanted, const struct ftr_err *err)
{
	ck_assert_msg(st == (wanted ? FTR_OK : FTR_INVAL), "status %d: %s", st, err->msg);
	ck_assert(wanted || err->msg[0]);
	n_refused += !wanted;
	n_taken += wanted;
}

/* ---- the calls ----------------------------------------------------------------------- */

static void add_switch(struct ftr_builder *b, struct model *m)
{
	uint64_t g = 1 + below(GUIDS);
	uint64_t holder = below(4) ? 0 : below(4) ? 50 + below(40) : 1 + below(GUIDS);
	unsigned int ports = below(3) ? PORTS : some_port();
	struct lid l = some_lid();
	struct ftr_err err = { 0 };
	bool ok = fits(l) && ports >= 1 && ports <= FTR_PORT_MAX;
	enum ftr_status st = ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = g, .holder = holder, .n_ports = (ftr_port)ports, .lid = l.lid,
		.lmc = (uint8_t)l.lmc, .name = "s",
	}, &err);

	if (ok && m->sw[g].is) {
		ok = m->sw[g].ports == ports && merge(&m->sw[g].lid, l);
	} else if (ok) {
		m->sw[g].is = true;
		m->sw[g].ports = ports;
		m->sw[g].lid = l;
		m->sw[g].holder = holder ? holder : g;
	}
	result(st, ok, &err);
}

static bool port_guid_is_free(const struct model *m, uint64_t guid)
{
	for (unsigned int g = 1; g <= GUIDS; g++)
		for (unsigned int p = 1; p <= PORTS; p++)
			if (m->ep[g][p].guid == guid)
				return false;
	return true;
}

static void add_endport(struct ftr_builder *b, struct model *m)
{
	uint64_t g = 1 + below(GUIDS), guid = 100 + below(GUIDS);
	unsigned int p = below(6) ? 1 + below(PORTS) : some_port();
	enum ftr_node_type type = below(6) ? FTR_NODE_CA : (enum ftr_node_type)below(5);
	struct lid l = some_lid();
	struct ftr_err err = { 0 };
	bool ok = fits(l) && (type == FTR_NODE_CA || type == FTR_NODE_ROUTER) && p >= 1 &&
		p <= FTR_PORT_MAX;
	enum ftr_status st;

	if (p > PORTS && ok)
		return;		/* the model has no such port */
	st = ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = (uint8_t)type, .node_guid = g, .guid = guid, .port_num = (ftr_port)p, .lid = l.lid,
		.lmc = (uint8_t)l.lmc, .name = "h",
	}, &err);
	if (ok && m->ep[g][p].guid) {
		ok = m->ep[g][p].guid == guid && m->ep[g][p].type == type &&
			merge(&m->ep[g][p].lid, l);
	} else if (ok) {
		ok = port_guid_is_free(m, guid);
		if (ok) {
			m->ep[g][p].guid = guid;
			m->ep[g][p].type = type;
			m->ep[g][p].lid = l;
		}
	}
	result(st, ok, &err);
}

static bool same_end(struct ftr_end a, struct ftr_end b)
{
	return a.node_guid == b.node_guid && a.port == b.port;
}

static void add_link(struct ftr_builder *b, struct model *m)
{
	struct ftr_end a = { 1 + below(GUIDS), (ftr_port)(1 + below(PORTS)) };
	struct ftr_end z = { 1 + below(GUIDS), (ftr_port)(1 + below(PORTS)) };
	struct ftr_end *ma, *mz;
	struct ftr_err err = { 0 };
	enum ftr_status st;
	enum ftr_speed speed;
	bool ok;

	if (!below(12)) {
		ftr_port wrong = below(2) ? 0 : 255;

		*(below(2) ? &a.port : &z.port) = wrong;
	}
	speed = (enum ftr_speed)below(FTR_SPEED_END);
	st = ftr_builder_add_link(b, a, z, below(3) * 4, speed, &err);
	ok = a.port >= 1 && z.port >= 1 && a.port <= PORTS && z.port <= PORTS && !same_end(a, z);
	if (ok) {
		ma = &m->link[a.node_guid][a.port];
		mz = &m->link[z.node_guid][z.port];
		ok = (!ma->node_guid && !mz->node_guid) || (same_end(*ma, z) && same_end(*mz, a));
		if (ok) {
			*ma = z;
			*mz = a;
		}
	}
	result(st, ok, &err);
}

/* ---- the fabric ------------------------------------------------------------------------ */

static bool own(uint8_t *owned, struct lid l)
{
	for (unsigned int i = 0; l.lid && i < 1u << l.lmc; i++)
		if (owned[l.lid + i]++)
			return false;
	return true;
}

/* True if the parts that were added make a fabric. */
static bool is_fabric(const struct model *m)
{
	static uint8_t owned[65536 + 128];
	bool ok = true;

	memset(owned, 0, sizeof(owned));
	for (unsigned int g = 1; g <= GUIDS; g++) {
		for (unsigned int h = g + 1; h <= GUIDS && m->sw[g].is; h++)
			ok &= !m->sw[h].is || m->sw[g].holder != m->sw[h].holder;
		ok &= !m->sw[g].is || own(owned, m->sw[g].lid);
		for (unsigned int p = 1; p <= PORTS; p++) {
			ok &= !m->ep[g][p].guid || (!m->sw[g].is && own(owned, m->ep[g][p].lid));
			ok &= !m->link[g][p].node_guid || m->ep[g][p].guid ||
				(m->sw[g].is && p <= m->sw[g].ports);
		}
	}
	return ok;
}

static void compare(const struct model *m, const struct ftr_fabric *f)
{
	uint32_t n_sw = 0, n_ep = 0;

	for (unsigned int g = 1; g <= GUIDS; g++) {
		ftr_sw s = ftr_fabric_find_sw(f, g);

		n_sw += m->sw[g].is;
		ck_assert((s != FTR_SW_NONE) == m->sw[g].is);
		if (s != FTR_SW_NONE)
			ck_assert(f->sw[s].lid == m->sw[g].lid.lid &&
				  f->sw[s].n_ports == m->sw[g].ports &&
				  ftr_fabric_find_holder(f, m->sw[g].holder) == s);
		for (unsigned int p = 1; p <= PORTS; p++) {
			const struct ftr_end *z = &m->link[g][p];

			n_ep += m->ep[g][p].guid != 0;
			if (m->ep[g][p].guid)
				ck_assert_uint_ne(ftr_fabric_find_ep(f, m->ep[g][p].guid), FTR_EP_NONE);
			if (s != FTR_SW_NONE && z->node_guid && m->sw[z->node_guid].is)
				ck_assert_uint_eq(ftr_fabric_next(f, s, p),
						  ftr_fabric_find_sw(f, z->node_guid));
		}
	}
	ck_assert_uint_eq(f->n_sw, n_sw);
	ck_assert_uint_eq(f->n_ep, n_ep);
}

/* NULL: the calls made no fabric. */
static struct ftr_fabric *some_fabric(void)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };
	struct model m = { 0 };
	enum ftr_status st;
	bool ok;

	for (uint32_t i = 5 + below(20); i; i--) {
		static void (*const call[])(struct ftr_builder *, struct model *) = {
			add_switch, add_switch, add_endport, add_link };

		call[below(4)](b, &m);
	}
	ok = is_fabric(&m);
	st = ftr_builder_freeze(b, &f, &err);
	result(st, ok, &err);
	if (st)
		ftr_builder_free(b);
	else
		compare(&m, f);
	n_fabrics += ok;
	return f;
}

/* ---- tables of two fabrics ------------------------------------------------------------------ */

static struct ftr_tables *random_tables(const struct ftr_fabric *f)
{
	struct ftr_tables *t;

	ck_assert(!ftr_tables_new(f, false, &t, NULL));
	for (uint32_t i = 0; i < t->n_sw * t->stride; i++)
		t->lft[i] = below(3) ? (uint8_t)below(PORTS + 2) : FTR_PORT_NONE;
	return t;
}

static uint64_t owner(const struct ftr_fabric *f, uint32_t lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	return o->kind == FTR_OWNER_NONE ? 0 : o->offset + 1000 * o->kind +
		10000 * (o->kind == FTR_OWNER_EP ? f->ep[o->idx].guid : f->sw[o->idx].guid);
}

static void two_fabrics(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	struct ftr_tables *a = random_tables(f), *b = random_tables(g), *c;
	struct ftr_tables_diff d;
	uint64_t entries = 0;

	ftr_tables_diff(f, a, g, b, &d);
	ck_assert(!ftr_tables_carry(f, a, g, &c, NULL));
	for (ftr_sw s = 0; s < g->n_sw; s++) {
		ftr_sw r = ftr_fabric_find_sw(f, g->sw[s].guid);

		for (uint32_t lid = 0; r != FTR_SW_NONE && lid < FTR_MAX(a->stride, b->stride); lid++)
			entries += (lid < a->stride ? ftr_tables_row(a, r)[lid] : FTR_PORT_NONE) !=
				(lid < b->stride ? ftr_tables_row(b, s)[lid] : FTR_PORT_NONE);
		for (uint32_t lid = 0; lid <= g->max_lid; lid++) {
			bool same = r != FTR_SW_NONE && lid <= f->max_lid && owner(g, lid) &&
				owner(f, lid) == owner(g, lid);

			ck_assert_uint_eq(ftr_tables_get(c, s, (ftr_lid)lid),
					  same ? ftr_tables_get(a, r, (ftr_lid)lid) : FTR_PORT_NONE);
		}
	}
	ck_assert_uint_eq(d.entries, entries);
	ftr_tables_free(a);
	ftr_tables_free(b);
	ftr_tables_free(c);
}

/* The number of ports on the path, by its definition. */
static uint32_t path(const struct ftr_fabric *f, const struct ftr_tables *t, ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	for (uint32_t n = 1; n <= f->n_sw; n++) {
		ftr_port p = ftr_tables_get(t, s, lid);
		ftr_ep e = o->kind == FTR_OWNER_EP ? o->idx : FTR_EP_NONE;

		if (o->kind == FTR_OWNER_SW && o->idx == s && !p)
			return n;
		if (p && e != FTR_EP_NONE && f->ep[e].sw == s && f->ep[e].sw_port == p)
			return n;
		if (!p || ftr_fabric_next(f, s, p) == FTR_SW_NONE)
			break;
		s = ftr_fabric_next(f, s, p);
	}
	return FTR_NO_PATH;
}

static void paths(const struct ftr_fabric *f)
{
	struct ftr_tables *t = random_tables(f);

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t lid = 0; lid <= f->max_lid && lid < 200; lid++)
			ck_assert_uint_eq(ftr_tables_path(f, t, s, (ftr_lid)lid, NULL),
					  path(f, t, s, (ftr_lid)lid));
	ftr_tables_free(t);
}

START_TEST(random_calls)
{
	struct ftr_fabric *before = NULL;
	uint64_t seed = trees_first_seed();

	for (uint64_t i = seed; i < seed + trees_runs(6000); i++) {
		struct ftr_fabric *f;

		suite_now(i);
		ftr_rng_seed(&rng, i);
		f = some_fabric();
		if (!f)
			continue;
		paths(f);
		if (before && FTR_MAX(before->max_lid, f->max_lid) < 2000)
			two_fabrics(before, f);
		ftr_fabric_free(before);
		before = f;
	}
	ftr_fabric_free(before);
	printf("%lu calls refused, %lu accepted, %lu fabrics\n", n_refused, n_taken, n_fabrics);
	runs_show(n_fabrics > 100);
}
END_TEST

/* More LIDs are wanted than exist. */
START_TEST(too_many_lids)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_err err = { 0 };

	for (uint32_t i = 0; i < 400; i++)
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = i + 1, .guid = i + 1, .port_num = 1,
			.name = "",
		}, &err));
	ck_assert_int_eq(ftr_builder_assign_lids(b, FTR_LMC_MAX + 1, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_builder_assign_lids(b, FTR_LMC_MAX, &err), FTR_LIMIT);
	ftr_builder_free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("builder");
	TCase *t = tcase_create("calls");

	printf("first seed: %" PRIu64 "\n", trees_first_seed());
	tcase_add_test(t, random_calls);
	tcase_add_test(t, too_many_lids);
	suite_add_tcase(s, t);
	return run_suite(s);
}
