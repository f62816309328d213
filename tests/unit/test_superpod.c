// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the generator of GPU clusters against the public numbers of the reference architectures, and
 * checks every link of each design.
 */
#include "lib/suite.h"
#include "unit/io_util.h"

static struct ftr_err err;

static uint32_t components(const struct ftr_fabric *f)
{
	uint32_t n = f->n_sw + f->n_nodes, roots = 0;
	uint32_t *uf = malloc(n * sizeof(*uf));

	ftr_uf_init(uf, n);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(uf, s, port->peer);
			else if (port->peer_kind == FTR_PEER_EP)
				ftr_uf_union(uf, s, f->n_sw +
					     f->ep[port->peer].node);
		}
	for (uint32_t i = 0; i < n; i++)
		roots += ftr_uf_find(uf, i) == i;
	free(uf);
	return roots;
}

/* The public numbers of the reference architectures. */
static const struct {
	const char *shape;
	unsigned int nodes, leaves, spines, cores, unit;
	unsigned int ends;	/* links of a spine to leaves */
} pods[] = {
	{ "superpod:H100:1", 32, 8, 4, 0, 32, 64 },
	{ "superpod:H100:2", 64, 16, 8, 0, 32, 64 },
	{ "superpod:B200:3", 96, 24, 16, 0, 32, 48 },
	{ "superpod:H100:4", 128, 32, 16, 0, 32, 64 },
	{ "superpod:B200:8", 256, 64, 32, 0, 32, 64 },
	{ "superpod:H100:16", 512, 128, 128, 64, 32, 32 },
	{ "superpod:B200:32", 1024, 256, 256, 128, 32, 32 },
	{ "superpod:H100:64", 2048, 512, 512, 256, 32, 32 },
	{ "superpod:B300:1", 72, 8, 4, 0, 72, 144 },
	{ "superpod:B300:2", 144, 16, 8, 0, 72, 144 },
	{ "superpod:B300:4", 288, 32, 18, 0, 72, 128 },
	{ "superpod:B300:8", 576, 64, 36, 0, 72, 128 },
	{ "superpod:B300:18", 1296, 144, 72, 0, 72, 144 },
};

static struct ftr_fabric *grow_pod(const char *shape, const struct ftr_gen_opts *o)
{
	struct ftr_fabric *f = NULL;

	if (ftr_gen_shape(shape, o, &f, &err))
		ck_abort_msg("%s", err.msg);
	return f;
}

static char pod_level(const struct ftr_fabric *f, ftr_sw s)
{
	const char *dash = strstr(f->sw[s].name, "plane") ? strchr(f->sw[s].name, '-') + 1 :
		f->sw[s].name;

	return *dash;
}

/* Check the links of switch s: rail r of unit u is on leaf u-r, and the other links lead one level
 * up or down.  All links to one neighbour level are spread evenly over its switches. */
static void check_pod_switch(const struct ftr_fabric *f, ftr_sw s, int pod, const unsigned int *dev)
{
	unsigned int up = 0, down = 0, unit = 0, rail = 0;
	char own = pod_level(f, s);

	if (own == 'l')
		ck_assert_int_eq(sscanf(strstr(f->sw[s].name, "leaf"), "leaf-%u-%u", &unit, &rail), 2);
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);
		unsigned int node, device;

		if (q->peer_kind == FTR_PEER_NONE)
			continue;
		if (q->peer_kind == FTR_PEER_EP) {
			ck_assert_int_eq(own, 'l');
			ck_assert_int_eq(sscanf(f->ep[q->peer].name, "dgx-%u mlx5_%u", &node,
						&device), 2);
			ck_assert_uint_eq((node - 1) / pods[pod].unit, unit - 1);
			ck_assert_uint_eq(device, dev[rail - 1]);
			down++;
		} else {
			char other = pod_level(f, q->peer);

			ck_assert((own == 's') != (other == 's'));
			up += other == (own == 'l' ? 's' : 'c');
			down += other == (own == 's' ? 'l' : 's') && own != 'l';
		}
	}
	ck_assert_uint_eq(down, own == 'l' ? pods[pod].unit : own == 's' ? pods[pod].ends :
			  2 * pods[pod].unit);
	ck_assert_uint_eq(up, own == 'l' || (own == 's' && pods[pod].cores) ? pods[pod].unit : 0);
}

static const unsigned int *pod_devices(const char *shape)
{
	static const unsigned int h100[] = { 0, 3, 4, 5, 6, 9, 10, 11 };
	static const unsigned int other[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

	return strstr(shape, "H100") ? h100 : other;
}

START_TEST(superpod)
{
	struct ftr_fabric *f = grow_pod(pods[_i].shape, NULL);
	unsigned int n[128] = { 0 };

	ck_assert_uint_eq(f->n_ep, 8 * pods[_i].nodes);
	ck_assert_uint_eq(f->n_nodes, f->n_ep);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		n[(int)pod_level(f, s)]++;
		ck_assert_uint_eq(f->sw[s].n_ports, 2 * pods[_i].unit);
		check_pod_switch(f, s, _i, pod_devices(pods[_i].shape));
	}
	ck_assert_uint_eq(n['l'], pods[_i].leaves);
	ck_assert_uint_eq(n['s'], pods[_i].spines);
	ck_assert_uint_eq(n['c'], pods[_i].cores);
	ck_assert_uint_eq(components(f), 1);
	ftr_fabric_free(f);
}
END_TEST

/* 127 nodes: the last place is empty on each of the eight leaves of the last unit.  With two
 * planes, every adapter has a port on each, and the planes are connected only by adapters. */
START_TEST(superpod_options)
{
	struct ftr_gen_opts o = { .nodes = 127 };
	struct ftr_fabric *f = grow_pod("superpod:H100:4", &o);

	ck_assert_uint_eq(f->n_ep, 8 * 127);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		unsigned int hosts = 0;

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			hosts += ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_EP;
		if (pod_level(f, s) == 'l')
			ck_assert_uint_eq(hosts, 32 - !strncmp(f->sw[s].name, "leaf-04", 7));
	}
	ftr_fabric_free(f);
	f = grow_pod("superpod:B200:1;2", NULL);
	ck_assert_uint_eq(f->n_sw, 24);
	ck_assert_uint_eq(f->n_nodes, 256);
	ck_assert_uint_eq(f->n_ep, 512);
	ck_assert_uint_eq(components(f), 1);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		ck_assert_int_eq(f->sw[f->ep[e].sw].name[5], '0' + f->ep[e].port_num);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		check_pod_switch(f, s, 0, pod_devices("B200"));
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW)
				ck_assert_int_eq(f->sw[s].name[5], f->sw[q->peer].name[5]);
		}
	}
	ftr_fabric_free(f);
}
END_TEST

static const struct {
	const char *shape;
	unsigned int nodes;
	enum ftr_status st;
	const char *text;
} no_pods[] = {
	{ "superpod:H100:5", 0, FTR_PARSE, "no design for 5 units, but for 1 2 3 4 8 16 32 64" },
	{ "superpod:B300:16", 0, FTR_PARSE, "no design for 16 units, but for 1 2 4 8 18" },
	{ "superpod:H200:4", 0, FTR_PARSE, "H100:, B200: or B300: expected at \"H200:4\"" },
	{ "superpod:H100:", 0, FTR_PARSE, "number of units expected" },
	{ "superpod:H100:4;9", 0, FTR_PARSE, "number of planes is 9 (allowed: 1 to 8)" },
	{ "superpod:H100:4x", 0, FTR_PARSE, "unexpected text at \"x\"" },
	{ "superpod:H100:4", 129, FTR_INVAL, "129 nodes do not fit into 4 units of 32 nodes" },
	{ "superpod:H100:64;8", 0, FTR_LIMIT, "unicast LIDs" },
	{ "648", 100, FTR_INVAL, "only a superpod has a number of nodes (100)" },
};

START_TEST(superpod_refused)
{
	struct ftr_gen_opts o = { .nodes = no_pods[_i].nodes };
	struct ftr_fabric *f = NULL;

	ck_assert_int_eq(ftr_gen_shape(no_pods[_i].shape, &o, &f, &err), no_pods[_i].st);
	ck_assert_ptr_null(f);
	ck_assert_msg(strstr(err.msg, no_pods[_i].text), "%s", err.msg);
}
END_TEST

/* A leaf has the rail of most of its ports.  Hosts with one port have no rails. */
START_TEST(rails_of_leaves)
{
	struct ftr_gen_opts o = { .nodes = 6 };
	struct ftr_fabric *f;
	struct ftr_hosts *h;
	uint32_t leaf[64];
	bool by_rails;

	for (int nodes = 0; nodes < 2; nodes++) {
		if (nodes)
			ck_assert(!ftr_gen_shape("superpod:H100:1", &o, &f, &err));
		else
			ck_assert(!ftr_gen_shape("2;4,4;1,4;1,1", NULL, &f, &err));
		ck_assert_uint_le(f->n_sw, FTR_ARRAY_LEN(leaf));
		ck_assert(!ftr_hosts_new(f, false, &h, &err));
		ck_assert(!ftr_hosts_leaf_rails(f, h, leaf, &by_rails, &err));
		ck_assert(by_rails == nodes);
		for (ftr_ep e = 0; e < f->n_ep; e++)
			ck_assert_uint_eq(leaf[f->ep[e].sw], h->rail[e]);
		ftr_hosts_free(h);
		ftr_fabric_free(f);
	}
}
END_TEST

/* Each host has its ports in the order of the rails. */
START_TEST(rails_of_hosts)
{
	struct ftr_gen_opts o = { .nodes = 4 };
	struct ftr_fabric *f;
	struct ftr_hosts *h;
	char name[301];

	ck_assert(!ftr_gen_shape("superpod:H100:1", &o, &f, &err));
	ck_assert(!ftr_hosts_new(f, false, &h, &err));
	ck_assert_uint_eq(h->n_rails, 8);
	ck_assert_uint_eq(h->n, 4);
	for (uint32_t i = 0; i < 32; i++) {
		ftr_ep e = h->ep[h->host[i / 8].first + i % 8];

		snprintf(name, sizeof(name), "dgx-%04u mlx5_%u", i / 8 + 1,
			 pod_devices("superpod:H100:1")[i % 8]);
		ck_assert_str_eq(f->ep[e].name, name);
		ck_assert_uint_eq(h->rail[e], i % 8);
	}
	ck_assert_uint_eq(ftr_hosts_find(h, h->host[1].name), 1);
	memset(name, 'x', sizeof(name));
	name[1] = '.';
	name[sizeof(name) - 1] = '\0';
	ck_assert_uint_eq(ftr_hosts_find(h, name), FTR_HOST_NONE);
	ftr_hosts_free(h);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("superpod");
	TCase *tc = tcase_create("superpod");

	tcase_add_loop_test(tc, superpod, 0, (int)FTR_ARRAY_LEN(pods));
	tcase_add_test(tc, superpod_options);
	tcase_add_loop_test(tc, superpod_refused, 0, (int)FTR_ARRAY_LEN(no_pods));
	tcase_add_test(tc, rails_of_leaves);
	tcase_add_test(tc, rails_of_hosts);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
