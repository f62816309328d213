// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the picture of a fabric (positions of switches, missing links, flows of pods), and the names
 * of hosts.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/edit.h"
#include "lib/suite.h"
#include <ftr/ftr.h>

static struct ftr_fabric *fabric_of(const char *text, uint32_t drop)
{
	struct ftr_gen_opts opts = { .seed = 7, .random_guids = true,
				     .random_ports = true };
	struct ftr_damage d = { .seed = 7, .links = drop };
	struct ftr_fabric *f = NULL, *g = NULL;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_gen_shape(text, &opts, &f, &err), "%s", err.msg);
	if (!drop)
		return f;
	ck_assert_msg(!ftr_gen_damage(f, &d, &g, &err), "%s", err.msg);
	ftr_fabric_free(f);
	return g;
}

static struct ftr_shape *shape_of(const struct ftr_fabric *f)
{
	struct ftr_shape *sh = NULL;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_shape_new(f, NULL, NULL, &sh, &err), "%s", err.msg);
	return sh;
}

static struct ftr_picture *picture_of(const struct ftr_shape *sh)
{
	struct ftr_picture *p = NULL;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_picture_new(sh, &p, &err), "%s", err.msg);
	return p;
}

/* A tree with three ranks.  Every switch must be drawn above the leaves of its pod.  No two
 * switches of the same rank may be drawn at the same position. */
START_TEST(places)
{
	struct ftr_fabric *f = fabric_of("3;3,4,5;1,4,4;1,1,1", 0);
	struct ftr_shape *sh = shape_of(f);
	struct ftr_picture *p = picture_of(sh);

	ck_assert_uint_eq(p->n_cols, 20);
	ck_assert_uint_eq(p->missing_links, 0);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const struct ftr_picture_pod *pod = &p->pod[p->pod_of[s]];

		ck_assert(p->x[s] > pod->pod_first &&
			  p->x[s] < pod->pod_first + pod->pod_leaves);
		for (ftr_sw t = 0; t < s; t++)
			ck_assert(sh->tree.rank[s] != sh->tree.rank[t] ||
				  p->x[s] < p->x[t] || p->x[s] > p->x[t]);
		for (uint32_t g = sh->tree.group_first[s];
		     sh->tree.rank[s] == 1 && g < sh->tree.group_first[s + 1]; g++) {
			ftr_sw r = sh->tree.groups[g].remote;

			if (!sh->tree.rank[r])
				ck_assert(p->x[r] > pod->pod_first && p->x[r] <
					  pod->pod_first + pod->pod_leaves);
		}
	}
	ftr_picture_free(p);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

/* The picture infers which links are missing.  Their number must be that of the removed links, and
 * each of them must be between two switches that lost links. */
START_TEST(missing)
{
	struct ftr_fabric *f = fabric_of("2;6,12;1,6;1,2", 9);
	struct ftr_shape *sh = shape_of(f);
	struct ftr_picture *p = picture_of(sh);

	ck_assert_uint_eq(p->missing_links, 9);
	for (uint32_t i = 0; i < p->n_missing; i++) {
		const struct ftr_missing *m = &p->missing[i];
		uint32_t links = 0;

		for (unsigned int q = 1; q <= f->sw[m->low].n_ports; q++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, m->low, (ftr_port)q);

			links += port->peer_kind == FTR_PEER_SW &&
				port->peer == m->up;
		}
		ck_assert(m->inferred);
		ck_assert_uint_eq(links + m->n, 2);
	}
	ftr_picture_free(p);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f, struct ftr_nominal *old)
{
	struct ftr_nominal *n = NULL;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_nominal_new(f, NULL, old, &n, NULL, &err), "%s", err.msg);
	return n;
}

/* Switch s is replaced by one with this GUID.  Then one of its two links to a neighbour fails.
 * The picture must show exactly this link as missing. */
static void missing_at_replaced(const struct ftr_fabric *f, ftr_sw s, uint64_t guid)
{
	uint64_t *guids = calloc(f->n_sw, sizeof(*guids));
	ftr_lid *lids = calloc(f->n_sw, sizeof(*lids));
	struct ftr_nominal *n = nominal_of(f, NULL), *m;
	struct ftr_shape_opts so = { 0 };
	struct edit cut = EDIT_NOTHING;
	struct ftr_fabric *g, *damaged;
	struct ftr_shape *sh = NULL;
	struct ftr_picture *p;
	struct ftr_err err;

	guids[s] = guid;
	lids[s] = (ftr_lid)(f->max_lid + 1);
	g = edit_replace(f, guids, lids);
	m = nominal_of(g, n);
	cut.cut_sw = ftr_fabric_find_sw(g, guid);
	while (ftr_fabric_port(g, cut.cut_sw, ++cut.cut_port)->peer_kind != FTR_PEER_SW)
		;
	damaged = edit_seal(edit_open(g, &cut));
	so.nominal = m->shape;
	ck_assert(!ftr_shape_new(damaged, &so, NULL, &sh, &err));
	p = picture_of(sh);
	ck_assert_uint_eq(p->missing_links, 1);
	ck_assert_uint_eq(p->n_missing, 1);
	ck_assert(!p->missing[0].inferred);
	ck_assert(p->missing[0].low == cut.cut_sw || p->missing[0].up == cut.cut_sw);
	ftr_picture_free(p);
	ftr_shape_free(sh);
	ftr_fabric_free(damaged);
	ftr_nominal_free(m);
	ftr_nominal_free(n);
	ftr_fabric_free(g);
	free(lids);
	free(guids);
}

START_TEST(missing_after_replacement)
{
	struct ftr_fabric *f = fabric_of("2;4,4;1,2;1,2", 0);

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		missing_at_replaced(f, s, 1);
		missing_at_replaced(f, s, UINT64_MAX);
	}
	ftr_fabric_free(f);
}
END_TEST

/* The maximum and the sum of the loads of all links must be those in the report. */
START_TEST(loads)
{
	struct ftr_fabric *f = fabric_of("3;3,4,5;1,3,3;1,1,1", 4);
	struct ftr_shape *sh = shape_of(f);
	struct ftr_tables *t = NULL;
	struct ftr_load *ld = NULL;
	struct ftr_load_report r;
	struct ftr_err err = { 0 };
	ftr_ep *order = calloc(f->n_ep, sizeof(*order));
	uint64_t *load = calloc(f->n_ports, sizeof(*load)), max = 0, sum = 0;

	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL,
						   &err));
	for (ftr_ep e = 0; e < f->n_ep; e++)
		order[e] = e;
	ck_assert(!ftr_load_new(f, t, (struct ftr_order){ order, f->n_ep }, NULL, &ld, &err));
	ftr_load_all(ld, load, &r);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		max = FTR_MAX(max, load[i]);
		sum += load[i];
	}
	ck_assert_uint_eq(max, r.max);
	ck_assert_uint_eq(sum, r.load);
	ck_assert_uint_eq(r.lost, 0);
	ck_assert(!ftr_load_shifts(ld, 0, 1, NULL, &r, &err));
	ck_assert(!ftr_load_shift_by_port(ld, r.worst, load, &err));
	max = 0;
	for (uint32_t i = 0; i < f->n_ports; i++)
		max = FTR_MAX(max, load[i]);
	ck_assert_uint_eq(max, r.max);
	free(load);
	free(order);
	ftr_load_free(ld);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

static void one_port(struct ftr_builder *b, uint64_t guid, ftr_port port,
		     const char *name)
{
	struct ftr_err err = { 0 };

	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid, .port_num = 1, .name = name,
	}, &err));
	ck_assert(!ftr_builder_add_link(b, (struct ftr_end){ 1, port },
					(struct ftr_end){ guid, 1 }, 4,
					FTR_SPEED_EDR, &err));
}

START_TEST(host_names)
{
	static const char *const name[] = {
		"node10 mlx5_0", "node2.example.org HCA-1", "node10 mlx5_1",
		"MT4129 ConnectX7   Mellanox Technologies", "localhost",
		"Mellanox Technologies Aggregation Node", "bad;name", "",
	};
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;
	struct ftr_hosts *h = NULL;
	struct ftr_err err = { 0 };

	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 1, .n_ports = 20, .name = "sw",
	}, &err));
	for (uint32_t i = 0; i < FTR_ARRAY_LEN(name); i++)
		one_port(b, 100 + i, (ftr_port)(i + 1), name[i]);
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	ck_assert_uint_eq(h->n, 2);
	ck_assert_str_eq(h->host[0].name, "node2");
	ck_assert_str_eq(h->host[1].name, "node10");
	ck_assert_uint_eq(h->host[1].n, 2);
	ck_assert_uint_eq(h->n_nameless, 4);
	ck_assert_uint_eq(ftr_hosts_find(h, "node2.other.org"), 0);
	ck_assert_uint_eq(ftr_hosts_find(h, "node3"), FTR_HOST_NONE);
	ftr_hosts_free(h);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("picture");
	TCase *t = tcase_create("picture");

	tcase_add_test(t, places);
	tcase_add_test(t, missing);
	tcase_add_test(t, missing_after_replacement);
	tcase_add_test(t, loads);
	tcase_add_test(t, host_names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
