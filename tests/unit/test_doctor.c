// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree doctor: faults that no simulator can produce, made by changing the data
 * read; the other checks find nothing on a fabric without faults.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "lib/suite.h"
#include <ftr/gen.h>

static struct doctor d;
static struct doc_result r;

static void setup(void)
{
	struct ftr_gen_opts go = { .seed = 7 };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_shape_opts so = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_shape *sh;
	struct ftr_pgft g;
	struct ftr_err err = { 0 };
	struct doc_fabric *n = &d.net;

	memset(&d, 0, sizeof(d));
	ck_assert(!ftr_pgft_parse("2;4,4;1,4;1,1", &g, &err));
	ck_assert(!ftr_gen_pgft(&g, &go, &n->f, &err));
	ck_assert(!ftr_tables_new(n->f, false, &n->t, &err));
	ck_assert(!ftr_shape_new(n->f, &so, NULL, &sh, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, &ro, NULL, n->t, NULL,
						   &err));
	ftr_shape_free(sh);
	n->live = n->tried = true;
	n->port = calloc(n->f->n_ports, sizeof(*n->port));
	n->sw = calloc(n->f->n_sw, sizeof(*n->sw));
	ck_assert(n->port && n->sw);
	for (uint32_t p = 0; p < n->f->n_ports; p++)
		n->port[p] = (struct doc_port){ .state = 4, .op_vls = 8,
						.counted = true };
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		n->sw[s] = (struct doc_switch){ 49152, n->f->max_lid };
	n->n_sm = 1;
	n->sm[0] = (struct doc_sm){ .lid = n->f->ep[3].lid, .answered = true,
				    .state = 3, .name = "manager" };
	n->m_key_known = true;
	d.o.flaps = 10;
}

static void teardown(void)
{
	doc_free_paths(&d);
	doc_free_fabric(&d.net);
}

static enum doc_verdict verdict(doc_fn fn)
{
	for (int i = 0; i < DOC_DETAILS; i++)
		free(r.detail[i]);
	memset(&r, 0, sizeof(r));
	fn(&d, &r);
	ck_assert_str_ne(r.text, "");
	/* every finding has a remedy, and nothing else has one */
	ck_assert_int_eq(r.remedy[0] != 0, r.verdict == DOC_WARNING ||
			 r.verdict == DOC_FAILURE);
	return r.verdict;
}

START_TEST(test_sound)
{
	ck_assert_int_eq(verdict(doc_fabric), DOC_OK);
	ck_assert_int_eq(verdict(doc_m_key), DOC_OK);
	ck_assert_int_eq(verdict(doc_sm), DOC_OK);
	ck_assert_int_eq(verdict(doc_silent), DOC_OK);
	ck_assert_int_eq(verdict(doc_link_state), DOC_OK);
	ck_assert_int_eq(verdict(doc_link_flaps), DOC_OK);
	ck_assert_int_eq(verdict(doc_lft_capacity), DOC_OK);
	ck_assert_int_eq(verdict(doc_lft_top), DOC_OK);
	ck_assert_int_eq(verdict(doc_vls), DOC_OK);
	ck_assert_int_eq(verdict(doc_ranks), DOC_OK);
	ck_assert_int_eq(verdict(doc_links_missing), DOC_OK);
	ck_assert_int_eq(verdict(doc_sm_reach), DOC_OK);
	ck_assert_int_eq(verdict(doc_pairs), DOC_OK);
	ck_assert_int_eq(verdict(doc_loops), DOC_OK);
	ck_assert_int_eq(verdict(doc_credit_loops), DOC_OK);
	ck_assert_int_eq(verdict(doc_balance), DOC_OK);
	ck_assert_str_eq(d.best, "dmodc");
}
END_TEST

START_TEST(test_lft_capacity)
{
	/* entries 0 .. max_lid are needed */
	d.net.sw[2].lft_cap = d.net.f->max_lid + 1u;
	ck_assert_int_eq(verdict(doc_lft_capacity), DOC_OK);
	d.net.sw[2].lft_cap = d.net.f->max_lid;
	ck_assert_int_eq(verdict(doc_lft_capacity), DOC_FAILURE);
	ck_assert_uint_eq(r.n_details, 1);
	/* the same fault is not reported a second time */
	d.net.sw[2].lft_top = 1;
	ck_assert_int_eq(verdict(doc_lft_top), DOC_OK);
}
END_TEST

START_TEST(test_lft_top)
{
	d.net.sw[1].lft_top = d.net.f->max_lid - 1u;
	ck_assert_int_eq(verdict(doc_lft_top), DOC_FAILURE);
	ck_assert_uint_eq(r.n_details, 1);
}
END_TEST

START_TEST(test_sm_reach)
{
	ftr_sw s = d.net.f->ep[12].sw;

	ftr_tables_row(d.net.t, s)[d.net.sm[0].lid] = FTR_PORT_NONE;
	ck_assert_int_eq(verdict(doc_sm_reach), DOC_FAILURE);
	ck_assert_uint_eq(r.n_details, 1);
	ck_assert_ptr_nonnull(strstr(r.detail[0], "manager"));
	d.net.n_sm = 0;
	ck_assert_int_eq(verdict(doc_sm_reach), DOC_NOT_CHECKED);
}
END_TEST

START_TEST(test_two_masters)
{
	d.net.sm[d.net.n_sm++] = d.net.sm[0];
	ck_assert_int_eq(verdict(doc_sm), DOC_FAILURE);
	d.net.sm[1].state = 2;
	ck_assert_int_eq(verdict(doc_sm), DOC_OK);
	ck_assert_int_eq(verdict(doc_standby), DOC_OK);
	/* a subnet manager that does not answer is no standby */
	d.net.sm[1].answered = false;
	ck_assert_int_eq(verdict(doc_standby), DOC_WARNING);
}
END_TEST

START_TEST(test_m_key)
{
	d.net.m_key = 0x1234;
	ck_assert_int_eq(verdict(doc_m_key), DOC_WARNING);
	d.o.from.m_key = 0x1235;
	ck_assert_int_eq(verdict(doc_m_key), DOC_WARNING);
	d.o.from.m_key = 0x1234;
	ck_assert_int_eq(verdict(doc_m_key), DOC_OK);
}
END_TEST

START_TEST(test_missing_tables)
{
	d.net.missing = 1;
	ck_assert_int_eq(verdict(doc_fabric), DOC_FAILURE);
}
END_TEST

START_TEST(test_counters)
{
	const struct ftr_fabric *f = d.net.f;
	uint32_t at = f->sw[0].first_port + 1;

	d.net.port[at].link_downed = 10;
	ck_assert_int_eq(verdict(doc_link_flaps), DOC_OK);
	d.net.port[at].link_downed = 11;
	ck_assert_int_eq(verdict(doc_link_flaps), DOC_WARNING);
	for (uint32_t p = 0; p < f->n_ports; p++)
		d.net.port[p].counted = false;
	ck_assert_int_eq(verdict(doc_link_flaps), DOC_NOT_CHECKED);
}
END_TEST

/* Many objects: ten are listed, all are counted. */
START_TEST(test_details)
{
	for (uint32_t p = 0; p < d.net.f->n_ports; p++)
		d.net.port[p].state = 2;
	ck_assert_int_eq(verdict(doc_link_state), DOC_WARNING);
	ck_assert_uint_eq(r.n_details, d.net.f->n_sw_links + d.net.f->n_ep);
	ck_assert_ptr_nonnull(r.detail[DOC_DETAILS - 1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("doctor");
	TCase *tc = tcase_create("doctor");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_sound);
	tcase_add_test(tc, test_lft_capacity);
	tcase_add_test(tc, test_lft_top);
	tcase_add_test(tc, test_sm_reach);
	tcase_add_test(tc, test_two_masters);
	tcase_add_test(tc, test_m_key);
	tcase_add_test(tc, test_missing_tables);
	tcase_add_test(tc, test_counters);
	tcase_add_test(tc, test_details);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
