// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tests the names of hosts, and the file topology.conf for Slurm. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include <ftr/ftr.h>

static struct ftr_shape *shape_of(const struct ftr_fabric *f)
{
	struct ftr_shape *sh = NULL;
	struct ftr_err err = { 0 };

	ck_assert_msg(!ftr_shape_new(f, NULL, NULL, &sh, &err), "%s", err.msg);
	return sh;
}

static void join(struct ftr_builder *b, uint64_t low, ftr_port low_port, uint64_t up,
		 ftr_port up_port)
{
	struct ftr_err err = { 0 };

	ck_assert(!ftr_builder_add_link(b, (struct ftr_end){ low, low_port },
					(struct ftr_end){ up, up_port }, 4, FTR_SPEED_EDR, &err));
}

static void host_on(struct ftr_builder *b, uint64_t guid, const char *name, uint64_t sw,
		    ftr_port port)
{
	struct ftr_err err = { 0 };

	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid, .port_num = 1,
		.lid = (ftr_lid)guid, .name = name,
	}, &err));
	join(b, guid, 1, sw, port);
}

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

/*
 * Tests Slurm's topology.  Two hosts have one port on an upper switch of one pod, and another port
 * on a leaf of another pod.  They belong to neither pod, but to the pod above both.
 *
 *	rank 2     21        22		each connected to all switches of rank 1
 *	rank 1   1   2     3   4
 *	rank 0   5 6 7     8 9 10	each connected to both switches above it
 */
START_TEST(slurm_hosts_on_upper_switch)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_slurm_opts opts = { .form = FTR_SLURM_TREE };
	struct ftr_slurm_counts counts;
	struct ftr_fabric *f = NULL;
	struct ftr_hosts *h = NULL;
	struct ftr_err err = { 0 };
	struct ftr_shape *sh;
	char *text = NULL, name[24];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	for (uint64_t s = 1; s <= 22; s++)
		if (s <= 10 || s > 20)
			ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
				.guid = s, .n_ports = 20, .name = "",
			}, &err));
	for (uint64_t s = 1; s <= 4; s++)
		for (unsigned int i = 1; i <= 2; i++)
			join(b, s, (ftr_port)(10 + i), 20 + i, (ftr_port)s);
	for (uint64_t s = 5; s <= 10; s++) {
		for (unsigned int i = 1; i <= 2; i++)
			join(b, s, (ftr_port)(10 + i), i + (s < 8 ? 0 : 2), (ftr_port)(s - 4));
		for (unsigned int i = 1; i <= 6; i++) {
			snprintf(name, sizeof(name), "n%02u%u", (unsigned int)s, i);
			host_on(b, 0x100 * s + i, name, s, (ftr_port)i);
		}
	}
	for (unsigned int i = 1; i <= 2; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		host_on(b, 0x1000 + i, name, 1, (ftr_port)(12 + i));
		host_on(b, 0x2000 + i, name, 8, (ftr_port)(12 + i));
	}
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	sh = shape_of(f);
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	opts.hosts = h;
	ck_assert_msg(!ftr_write_slurm(out, sh, &opts, &counts, &err), "%s", err.msg);
	fclose(out);
	ck_assert_uint_eq(counts.split, 0);
	ck_assert_msg(strstr(text, "SwitchName=rails-6 Nodes=x[1-2]\n"), "%s", text);
	ck_assert_msg(strstr(text, "SwitchName=pod-1-0 Switches=sw-0000000000000005,sw-0000000000000006,sw-0000000000000007\n"),
		      "%s", text);
	ck_assert_msg(strstr(text, "SwitchName=pod-2-0 Switches=rails-6,pod-1-0,pod-1-1\n"),
		      "%s", text);
	free(text);
	ftr_hosts_free(h);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

static const char *drawn_name(struct ftr_rng *rng, char out[FTR_NAME_MAX + 1])
{
	static const char *const heads[] = { "", "leaf", "pod-1-", "rails-", "a b\xc3\xa9" };
	static const char alphabet[] = "0000123456789x-";
	size_t n = (size_t)snprintf(out, FTR_NAME_MAX + 1, "%s",
				    heads[ftr_rng_below(rng, 5)]);
	size_t end = n + ftr_rng_below(rng, 26);
	/* few letters, so that names end in long numbers and some occur twice */
	unsigned int letters = ftr_rng_below(rng, 4) ? 13 : 15;

	while (n < end)
		out[n++] = alphabet[ftr_rng_below(rng, letters)];
	out[n] = '\0';
	return out;
}

/* The rules of Slurm for one name: letters, digits and "-_.", and a number of at most 19 digits at
 * the end. */
static void check_slurm_name(const char *name)
{
	size_t n = strlen(name), digits = 0;

	ck_assert_uint_gt(n, 0);
	ck_assert_msg(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n,
		      "'%s'", name);
	while (digits < n && strchr("0123456789", name[n - 1 - digits]))
		digits++;
	ck_assert_msg(digits <= 19, "'%s'", name);
}

/* For random descriptions of the switches, the names in topology.conf are different and follow the
 * rules of Slurm. */
START_TEST(slurm_names)
{
	struct ftr_slurm_opts opts = { .form = FTR_SLURM_TREE };
	const struct ftr_gen_opts gen = { .random_guids = true, .random_ports = true };
	struct ftr_fabric *f = NULL;
	const uint64_t seed = (uint64_t)_i + 1;
	struct ftr_rng rng;
	char name[16][FTR_NAME_MAX + 1];
	struct ftr_shape *sh;
	struct ftr_slurm_counts counts;
	char *text = NULL, *seen[16], *save, *line;
	struct ftr_hosts *h = NULL;
	struct ftr_err err = { 0 };
	size_t len, n = 0;
	FILE *out = open_memstream(&text, &len);

	suite_now(seed);
	ck_assert(!ftr_gen_shape("2;2,8;1,2;1,1", &gen, &f, &err));
	sh = shape_of(f);
	ftr_rng_seed(&rng, seed);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		((struct ftr_switch *)(uintptr_t)f->sw)[s].name = drawn_name(&rng, name[s]);
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	opts.hosts = h;
	ck_assert_msg(!ftr_write_slurm(out, sh, &opts, &counts, &err), "%s", err.msg);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		static const char key[] = "SwitchName=";

		if (strncmp(line, key, strlen(key)))
			continue;
		line += strlen(key);
		line[strcspn(line, " ")] = '\0';
		check_slurm_name(line);
		for (size_t i = 0; i < n; i++)
			ck_assert_str_ne(seen[i], line);
		seen[n++] = line;
	}
	ck_assert_uint_ge(n, 8);
	free(text);
	ftr_hosts_free(h);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slurm");
	TCase *t = tcase_create("slurm");

	tcase_add_test(t, host_names);
	tcase_add_test(t, slurm_hosts_on_upper_switch);
	tcase_add_loop_test(t, slurm_names, 0, 300);
	suite_add_tcase(s, t);
	return run_suite(s);
}
