// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tests the names of hosts, and their rails. */
#include <check.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include <ftr/ftr.h>

static void port_at(struct ftr_builder *b, uint64_t sw, uint64_t guid, ftr_port port,
		    const char *name)
{
	struct ftr_err err = { 0 };

	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid, .port_num = 1, .name = name,
	}, &err));
	ck_assert(!ftr_builder_add_link(b, (struct ftr_end){ sw, port },
					(struct ftr_end){ guid, 1 }, 4,
					FTR_SPEED_EDR, &err));
}

static void one_port(struct ftr_builder *b, uint64_t guid, ftr_port port, const char *name)
{
	port_at(b, 1, guid, port, name);
}

/* Two switches, each for one rail.  Case 0: both hosts have ports on both rails.  Case 1: only one of
 * three hosts has. */
START_TEST(leaf_rails)
{
	static const char *const name[][4] = {
		{ "n1 mlx5_0", "n2 mlx5_0", "n1 mlx5_1", "n2 mlx5_1" },
		{ "n1 mlx5_0", "n2 mlx5_0", "n3 mlx5_0", "n1 mlx5_1" },
	};
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;
	struct ftr_hosts *h = NULL;
	struct ftr_err err = { 0 };
	uint32_t leaf[2];
	bool by_rails;

	for (uint64_t s = 1; s <= 2; s++)
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = s, .n_ports = 8, .name = "sw",
		}, &err));
	for (uint32_t i = 0; i < 4; i++)
		port_at(b, strstr(name[_i][i], "mlx5_1") ? 2 : 1, 100 + i, (ftr_port)(i + 1),
			name[_i][i]);
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	ck_assert(!ftr_hosts_leaf_rails(f, h, leaf, &by_rails, &err));
	ck_assert_uint_eq(leaf[ftr_fabric_find_sw(f, 1)], 0);
	ck_assert_uint_eq(leaf[ftr_fabric_find_sw(f, 2)], 1);
	ck_assert_int_eq(by_rails, !_i);
	ftr_hosts_free(h);
	ftr_hosts_free(NULL);
	ftr_fabric_free(f);
}
END_TEST

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
	Suite *s = suite_create("hosts");
	TCase *t = tcase_create("hosts");

	tcase_add_test(t, host_names);
	tcase_add_loop_test(t, leaf_rails, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
