// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tests the names of hosts, and their rails. */
#include "lib/suite.h"
#include "unit/io_util.h"

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

/* ---- lists of hosts ---------------------------------------------------------- */

/* names: the entries that are wanted, as "NAME=SLOTS ", after "GROUP/" in lists of jobs; else the end of
 * the message */
static const struct {
	bool jobs;
	const char *text, *names, *msg;
} list[] = {
	{ false, "n1 # n9\nn2,n3\tn4#n9\n", "n1=1 n2=1 n3=1 n4=1 ", NULL },
	{ false, "n[1-2,08-10,3]x n4 slots=2 n5:3 max-slots=4 n6\n",
	  "n1x=1 n2x=1 n08x=1 n09x=1 n10x=1 n3x=1 n4=2 n5=3 n6=1 ", NULL },
	{ false, "node1 n2\nnode1:5 slots=7\n", "node1=8 n2=1 ", NULL },
	{ false, "[", NULL, "'[': the brackets do not match" },
	{ false, "n1]", NULL, "'n1]': the brackets do not match" },
	{ false, "n]1[", NULL, "'n]1[': the brackets do not match" },
	{ false, "n[1]m[2]", NULL, "'n[1]m[2]': the brackets do not match" },
	{ false, "n[x]", NULL, "'x' is not a range of hosts" },
	{ false, "n[]", NULL, "'' is not a range of hosts" },
	{ false, "n[1,,2]", NULL, "'' is not a range of hosts" },
	{ false, "n[-1]", NULL, "'-1' is not a range of hosts" },
	{ false, "n[1x]", NULL, "'1x' is not a range of hosts" },
	{ false, "n[1-x]", NULL, "'1-x' is not a range of hosts" },
	{ true, "a n[1-:]", NULL, "'1-:' is not a range of hosts" },
	{ false, "n[1-+2]", NULL, "'1-+2' is not a range of hosts" },
	{ true, "a n[:]", NULL, "':' is not a range of hosts" },
	{ false, "n[1-2-3]", NULL, "'1-2-3' is not a range of hosts" },
	{ false, "n[2-1]", NULL, "'2-1' is not a range of hosts" },
	{ false, "n[1-65537]", NULL, "'1-65537' is not a range of hosts" },
	{ false, "n[0000000001]", NULL, "'0000000001' is not a range of hosts" },
	{ false, "[x] n1", NULL, "'x' is not a range of hosts" },
	{ false, "n1 slots=0", NULL, "invalid number of slots '0': expected 1 to 65535" },
	{ false, "n1 slots=", NULL, "invalid number of slots '': expected 1 to 65535" },
	{ false, "n1:2x", NULL, "invalid number of slots '2x': expected 1 to 65535" },
	{ false, "n1:65536", NULL, "invalid number of slots '65536': expected 1 to 65535" },
	{ true, "a: n1 n2\nb n2:3\na n3\nc\n", "a/n1=1 a/n2=1 b/n2:3=1 a/n3=1 ", NULL },
	{ true, "a node1 node1\nb node1\n", "a/node1=2 b/node1=1 ", NULL },
	{ false, "# none\n", NULL, "the file contains no host" },
	{ true, "a\nb\n", NULL, "the file contains no host" },
};

START_TEST(host_lists)
{
	struct ftr_fabric *f = must_parse(good_net);
	struct ftr_host_list *l = NULL;
	struct ftr_hosts *h = NULL;
	struct ftr_err err = { 0 };
	char path[64], text[400] = "";
	uint32_t unknown = 0;
	int fd = -1;

	put_in_memory(&fd, path, list[_i].text, strlen(list[_i].text));
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	ck_assert_int_eq(ftr_read_host_list(path, list[_i].jobs, h, &l, &err),
			 list[_i].msg ? FTR_PARSE : FTR_OK);
	for (uint32_t i = 0; l && i < l->n; i++) {
		const struct ftr_host_entry *e = &l->entry[i];
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%s%s=%u ",
			 l->n_groups ? l->group[e->group] : "", l->n_groups ? "/" : "", e->name,
			 e->slots);
		ck_assert((e->host != FTR_HOST_NONE) == !strcmp(e->name, "node1"));
		unknown += e->host == FTR_HOST_NONE;
	}
	if (list[_i].msg) {
		ck_assert_ptr_null(l);
		ck_assert_msg(!strcmp(err.msg + strlen(path) + 4, list[_i].msg), "%s", err.msg);
	} else {
		ck_assert_str_eq(text, list[_i].names);
		ck_assert_uint_eq(l->n_unknown, unknown);
	}
	ftr_host_list_free(l);
	ftr_hosts_free(h);
	ftr_fabric_free(f);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hosts");
	TCase *t = tcase_create("hosts");

	tcase_add_test(t, host_names);
	tcase_add_loop_test(t, leaf_rails, 0, 2);
	tcase_add_loop_test(t, host_lists, 0, (int)FTR_ARRAY_LEN(list));
	suite_add_tcase(s, t);
	return run_suite(s);
}
