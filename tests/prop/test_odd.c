// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the engines on fabrics that are not fat-trees: rings, hypercubes, dragonflies, long
 * chains, separate parts, switches of 254 ports, links from a switch to itself, no hosts,
 * hosts without a switch.
 *
 * Every engine must route such a fabric, or report why it cannot.  No tables may have a
 * loop, a wrong delivery or a credit loop.  With sftree and ddlr, all physically connected
 * hosts must reach each other.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

static struct ftr_err err;
static struct ftr_builder *b;
static uint8_t used[300];	/* [switch] number of used ports */

#define SW(i) (UINT64_C(0x100) + (i))
#define HOST(i) (UINT64_C(0x10000) + (i))

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

static void begin(void)
{
	b = ftr_builder_new();
	ck_assert_ptr_nonnull(b);
	memset(used, 0, sizeof(used));
}

static void switches(uint32_t n, unsigned int ports)
{
	char name[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		ok(ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = SW(i), .n_ports = ports, .name = name,
		}, &err));
	}
}

static void join(uint32_t i, uint32_t k)
{
	struct ftr_end x = { SW(i), ++used[i] }, y = { SW(k), ++used[k] };

	ok(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR, &err));
}

/* Try to add a link.  If it is refused, there must be an error message. */
static void try_link(struct ftr_end x, struct ftr_end y)
{
	enum ftr_status st = ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR,
						  &err);

	ck_assert(!st || (st == FTR_INVAL && err.msg[0]));
}

static void hosts(uint32_t i, uint32_t h, uint32_t n)
{
	for (; n--; h++) {
		struct ftr_end x = { SW(i), ++used[i] }, y = { HOST(h), 1 };

		ok(ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = HOST(h), .guid = HOST(h) + 0x1000000,
			.port_num = 1, .name = "h",
		}, &err));
		ok(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_EDR, &err));
	}
}

static struct ftr_fabric *end(void)
{
	struct ftr_fabric *f = NULL;

	ok(ftr_builder_assign_lids(b, 0, &err));
	ok(ftr_builder_freeze(b, &f, &err));
	return f;
}

static uint64_t unconnected(const struct ftr_fabric *f)
{
	uint32_t *part = calloc(f->n_sw + 1u, sizeof(*part));
	uint64_t n = 0;

	ftr_check_parts(f, part);
	for (ftr_ep x = 0; x < f->n_ep; x++)
		for (ftr_ep y = 0; y < f->n_ep; y++)
			n += x != y && f->ep[x].sw != FTR_SW_NONE &&
				f->ep[y].sw != FTR_SW_NONE &&
				part[f->ep[x].sw] != part[f->ep[y].sw];
	free(part);
	return n;
}

static void route(const struct ftr_shape *sh, const struct ftr_engine_ops *ops,
		  struct ftr_check_report *r)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_check_opts co = { .switch_sources = true };
	struct ftr_tables *t = NULL;
	enum ftr_status st;

	ok(ftr_tables_new(sh->f, false, &t, &err));
	st = ops->route(sh, &opts, NULL, t, NULL, &err);
	ck_assert_msg(!st || (st != FTR_INTERNAL && err.msg[0]), "%s: %s",
		      ops->name, err.msg);
	if (!st) {
		ok(ftr_check_tables(sh->f, t, &co, NULL, r, &err));
		ck_assert_msg(!r->found[FTR_FIND_LOOP] &&
			      !r->found[FTR_FIND_WRONG_END] &&
			      !r->found[FTR_FIND_DEAD_PORT] &&
			      r->cdg != FTR_CDG_CYCLE, "%s: a loop, a wrong delivery or a credit loop",
			      ops->name);
		if (strcmp(ops->name, "dmodc"))
			ck_assert_msg(r->bad[FTR_CHECK_HOST_HOST] ==
				      unconnected(sh->f), "%s: %llu pairs of hosts are unreachable",
				      ops->name, (unsigned long long)
				      r->bad[FTR_CHECK_HOST_HOST]);
	}
	ftr_tables_free(t);
}

static void all_engines(struct ftr_fabric *f)
{
	struct ftr_check_report *r = malloc(sizeof(*r));
	const struct ftr_engine_ops *ops;
	struct ftr_shape *sh = NULL;
	enum ftr_status st = ftr_shape_new(f, NULL, NULL, &sh, &err);

	ck_assert_msg(!st || (st == FTR_SHAPE && err.msg[0]), "%s", err.msg);
	for (unsigned int i = 0; !st && (ops = ftr_engine_at(i)); i++)
		route(sh, ops, r);
	ftr_shape_free(sh);
	free(r);
}

/* Route the fabric, then once more with a few links removed. */
static void finish(void)
{
	struct ftr_fabric *f = end(), *less;

	all_engines(f);
	for (uint64_t seed = 1; seed <= 5 && f->n_sw_links > 3; seed++) {
		struct ftr_damage d = { .seed = seed, .links = 3 };

		ok(ftr_gen_damage(f, &d, &less, &err));
		all_engines(less);
		ftr_fabric_free(less);
	}
	ftr_fabric_free(f);
}

START_TEST(ring)
{
	begin();
	switches(12, 8);
	for (uint32_t i = 0; i < 12; i++) {
		join(i, (i + 1) % 12);
		hosts(i, 3 * i, 3);
	}
	finish();
}
END_TEST

START_TEST(hypercube)
{
	begin();
	switches(32, 8);
	for (uint32_t i = 0; i < 32; i++) {
		for (uint32_t d = 1; d < 32; d <<= 1)
			if (!(i & d))
				join(i, i | d);
		hosts(i, 2 * i, 2);
	}
	finish();
}
END_TEST

/* 9 groups of 4 switches.  In a group all switches are linked with each other.  One link joins each
 * pair of groups. */
START_TEST(dragonfly)
{
	begin();
	switches(36, 12);
	for (uint32_t g = 0; g < 9; g++) {
		for (uint32_t i = 0; i < 4; i++) {
			for (uint32_t k = i + 1; k < 4; k++)
				join(4 * g + i, 4 * g + k);
			hosts(4 * g + i, 2 * (4 * g + i), 2);
		}
		for (uint32_t h = g + 1; h < 9; h++)
			join(4 * g + (h - 1) / 2 % 4, 4 * h + g / 2 % 4);
	}
	finish();
}
END_TEST

/* 80 switches in a row.  Some paths have more hops than OpenSM supports. */
START_TEST(line)
{
	begin();
	switches(80, 4);
	for (uint32_t i = 0; i < 80; i++) {
		if (i)
			join(i - 1, i);
		hosts(i, i, 1);
	}
	finish();
}
END_TEST

/* 80 switches in a row, with hosts only at the two ends. */
START_TEST(bare_line)
{
	begin();
	switches(80, 4);
	for (uint32_t i = 1; i < 80; i++)
		join(i - 1, i);
	hosts(0, 0, 2);
	hosts(79, 2, 2);
	finish();
}
END_TEST

START_TEST(separate_parts)
{
	begin();
	switches(10, 8);
	for (uint32_t i = 0; i < 3; i++) {
		join(3 * i, 3 * i + 2);
		join(3 * i + 1, 3 * i + 2);
		hosts(3 * i, 6 * i, 3);
		hosts(3 * i + 1, 6 * i + 3, 3);
	}
	finish();	/* three trees and a single switch */
}
END_TEST

START_TEST(many_ports)
{
	begin();
	switches(3, 254);
	for (uint32_t i = 0; i < 100; i++) {
		join(0, 2);
		join(1, 2);
	}
	hosts(0, 0, 154);
	hosts(1, 154, 154);
	finish();
}
END_TEST

START_TEST(loopback)
{
	begin();
	switches(4, 12);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 2; k < 4; k++)
			join(i, k);
	for (uint32_t i = 0; i < 4; i++) {
		struct ftr_end x = { SW(i), 11 }, y = { SW(i), 12 };

		try_link(x, y);
	}
	hosts(0, 0, 4);
	hosts(1, 4, 4);
	finish();
}
END_TEST

START_TEST(no_hosts)
{
	begin();
	switches(6, 8);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 4; k < 6; k++)
			join(i, k);
	finish();
}
END_TEST

START_TEST(back_to_back)
{
	struct ftr_end x = { HOST(0), 1 }, y = { HOST(1), 1 };

	begin();
	for (uint32_t h = 0; h < 2; h++)
		ok(ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = HOST(h), .guid = HOST(h) + 0x1000000,
			.port_num = 1, .name = "h",
		}, &err));
	try_link(x, y);
	finish();
}
END_TEST

START_TEST(nothing)
{
	begin();
	finish();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("odd fabrics");
	TCase *t = tcase_create("all");

	tcase_add_test(t, ring);
	tcase_add_test(t, hypercube);
	tcase_add_test(t, dragonfly);
	tcase_add_test(t, line);
	tcase_add_test(t, bare_line);
	tcase_add_test(t, separate_parts);
	tcase_add_test(t, many_ports);
	tcase_add_test(t, loopback);
	tcase_add_test(t, no_hosts);
	tcase_add_test(t, back_to_back);
	tcase_add_test(t, nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
