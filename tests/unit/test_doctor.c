// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the command "ibfattree doctor": every check must find the fault for which it was made.
 *
 * planted[] must have one fault for each check except "sm-version", which only lists the nodes with
 * a subnet manager.  This program replaces the functions of libibumad and libibverbs, so the checks
 * of the local node are tested without an adapter.
 */
#include "config.h"

#include <check.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "lib/suite.h"
#include "unit/doctor_node.h"
#include <ftr/gen.h>

static struct doctor d;
static struct doc_result r;

/* ---- a sound node and fabric ------------------------------------------- */

static char *opensm, *plugin;

static char *versioned(const char *version)
{
	char *path = strdup("test_doctor.XXXXXX");
	int fd;

	ck_assert_ptr_nonnull(path);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	dprintf(fd, "OpenSM %s%c", version, 0);
	close(fd);
	return path;
}

static void drop(char **path)
{
	if (*path)
		unlink(*path);
	free(*path);
	*path = NULL;
}

/* Sets width and speed of a port.  The fabric is const, but this test has created it. */
static void set_rate(uint32_t at, uint8_t width, uint8_t speed)
{
	struct ftr_swport *p =
		(struct ftr_swport *)(uintptr_t)&d.net.f->ports[at];

	p->width = p->peer_kind ? width : 0;
	p->speed = p->peer_kind ? speed : 0;
}

static void setup(void)
{
	struct ftr_gen_opts go = { .seed = 7 };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct ftr_shape_opts so = { .leaf_order = FTR_LEAF_BY_GUID };
	struct doc_fabric *n = &d.net;
	struct ftr_err err = { 0 };
	struct ftr_shape *sh;
	struct ftr_pgft g;

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
		n->port[p] = (struct doc_port){ .state = 4, .max_width = 4,
						.max_speed = FTR_SPEED_EDR,
						.op_vls = 8, .counted = true };
	for (uint32_t p = 0; p < n->f->n_ports; p++)
		set_rate(p, 4, FTR_SPEED_EDR);
	for (ftr_sw s = 0; s < n->f->n_sw; s++)
		n->sw[s] = (struct doc_switch){ .lft_cap = 49152,
							.lft_top = n->f->max_lid };
	n->n_sm = 2;
	n->sm[0] = (struct doc_sm){ .lid = n->f->ep[3].lid, .answered = true,
				    .state = 3, .name = "master" };
	n->sm[1] = (struct doc_sm){ .lid = n->f->ep[4].lid, .answered = true,
				    .state = 2, .name = "standby" };
	n->m_key_known = true;
	d.o.flaps = d.o.errors = 10;
	d.sysfs = "no-sysfs";
	strcpy(d.kernel, "6.1.0-18-amd64");
	opensm = versioned("3.3.23");
	plugin = versioned("3.3.23");
	d.o.opensm = opensm;
	d.o.plugin = plugin;
	d.conf.path = strdup("opensm.conf");
	d.conf.plugins = strdup("ibfattree");
	d.conf.engines = strdup("dmodc");
	d.conf.options = strdup("no-options-file");
	sound_node();
}

static void clear(void)
{
	for (int i = 0; i < DOC_DETAILS; i++)
		free(r.detail[i]);
	memset(&r, 0, sizeof(r));
}

static void teardown(void)
{
	drop(&opensm);
	drop(&plugin);
	clear();
	doc_free_paths(&d);
	doc_free_fabric(&d.net);
	doc_free_conf(&d.conf);
}

/* ---- the faults -------------------------------------------------------- */

static void bad_kernel(void)
{
	strcpy(d.kernel, "6.11.2-amd64");
}

static void other_plugin(void)
{
	drop(&plugin);
	d.o.plugin = plugin = versioned("3.3.24");
}

static void engine_alone(void)
{
	free(d.conf.plugins);
	d.conf.plugins = NULL;
}

static void table_missing(void)
{
	d.net.missing = 1;
}

static void m_key_set(void)
{
	d.net.m_key = 0x1234;
}

static void two_masters(void)
{
	d.net.sm[1].state = 3;
}

static void no_standby(void)
{
	d.net.n_sm = 1;
}

static void silent_node(void)
{
	d.net.n_silent = 1;
	d.net.silent[0] = (struct doc_silent){ d.net.f->sw[0].guid, 1, "x" };
}

static uint32_t up_port(void)
{
	uint32_t at = d.net.f->sw[0].first_port + 1;

	while (d.net.f->ports[at].peer_kind != FTR_PEER_SW)
		at++;
	return at;
}

static void not_active(void)
{
	d.net.port[up_port()].state = 2;
}

static void rate(uint32_t at, uint8_t width, uint8_t speed)
{
	const struct ftr_swport *p = &d.net.f->ports[at];

	set_rate(at, width, speed);
	set_rate(d.net.f->sw[p->peer].first_port + p->peer_port, width, speed);
}

static void narrow_link(void)
{
	rate(up_port(), 1, FTR_SPEED_EDR);
}

static void slow_link(void)
{
	rate(up_port(), 4, FTR_SPEED_FDR);
}

static void flapping(void)
{
	d.net.port[up_port()].counter[DOC_LINK_DOWNED] = (uint16_t)(d.o.flaps + 1);
}

static void bad_cable(void)
{
	d.net.port[up_port()].counter[DOC_SYMBOL_ERRORS] = (uint16_t)(d.o.errors + 1);
}

static void small_table(void)
{
	d.net.sw[2].lft_cap = d.net.f->max_lid;
}

static void low_top(void)
{
	d.net.sw[1].lft_top = d.net.f->max_lid - 1u;
}

static void one_vl(void)
{
	d.net.port[up_port()].op_vls = 1;
}

static void adaptive(void)
{
	d.net.sw[1].adaptive = true;
}

static struct ftr_fabric *made(const char *form)
{
	struct ftr_gen_opts go = { .seed = 8, .random_guids = true };
	struct ftr_fabric *f;
	struct ftr_err err = { 0 };

	ck_assert(!ftr_gen_shape(form, &go, &f, &err));
	return f;
}

static void use(struct ftr_fabric *f)
{
	struct ftr_err err = { 0 };

	ftr_tables_free(d.net.t);
	ftr_fabric_free(d.net.f);
	d.net.f = f;
	ck_assert(!ftr_tables_new(f, false, &d.net.t, &err));
}

static char *state;

static void other_state(void)
{
	struct ftr_fabric *f = made("2;3,3;1,3;1,1");
	struct ftr_err err = { 0 };
	struct ftr_nominal *n;

	ck_assert(!ftr_nominal_new(f, NULL, NULL, &n, NULL, &err));
	state = versioned("");
	ck_assert(!ftr_state_write(state, &(struct ftr_state){ .nominal = n }, &err));
	d.o.in.nominal = state;
	ftr_nominal_free(n);
	ftr_fabric_free(f);
}

static void drained_spine(void)
{
	struct ftr_drain spine = { .guid = 1, .since = 1, .by = "root", .name = "spine" };
	struct ftr_drains all = { .request = 1, .part = &spine, .n = 1 };
	struct ftr_err err = { 0 };

	state = strdup("test_doctor.conf.drains");
	ck_assert(!ftr_drains_write(state, &all, &err));
	free(d.conf.options);
	d.conf.options = strdup("test_doctor.conf");
}

static void no_ranks(void)
{
	use(made("torus:5,5"));
}

static void link_missing(void)
{
	const struct ftr_damage one = { .links = 1 };
	struct ftr_err err = { 0 };
	struct ftr_fabric *cut;

	ck_assert(!ftr_gen_damage(d.net.f, &one, &cut, &err));
	use(cut);
}

/* Two adapters of a GPU node have exchanged their cables. */
static void crossed_rails(void)
{
	struct ftr_endport *ep;

	use(made("superpod:H100:1"));
	ep = (struct ftr_endport *)(uintptr_t)d.net.f->ep;
	for (ftr_ep e = 0; e < d.net.f->n_ep; e++)
		if (!strcmp(ep[e].name, "dgx-0007 mlx5_4"))
			ep[e].name = "dgx-0007 mlx5_9";
		else if (!strcmp(ep[e].name, "dgx-0007 mlx5_9"))
			ep[e].name = "dgx-0007 mlx5_4";
}

static void name_port(ftr_ep e, const char *name)
{
	((struct ftr_endport *)(uintptr_t)d.net.f->ep)[e].name = name;
}

/* Two ports of one leaf belong to the same host. */
static void twin_ports(void)
{
	name_port(0, "twin mlx5_0");
	name_port(1, "twin mlx5_1");
	ck_assert_uint_eq(d.net.f->ep[0].sw, d.net.f->ep[1].sw);
}

static uint8_t *entry(ftr_sw s, ftr_lid lid)
{
	return &ftr_tables_row(d.net.t, s)[lid];
}

static void sm_unreachable(void)
{
	*entry(d.net.f->ep[12].sw, d.net.sm[0].lid) = FTR_PORT_NONE;
}

static void entry_missing(void)
{
	*entry(d.net.f->ep[12].sw, d.net.f->ep[0].lid) = FTR_PORT_NONE;
}

static void loop(void)
{
	const struct ftr_swport *p = &d.net.f->ports[up_port()];
	ftr_lid lid = d.net.f->ep[d.net.f->n_ep - 1].lid;

	*entry(0, lid) = (uint8_t)(up_port() - d.net.f->sw[0].first_port);
	*entry(p->peer, lid) = p->peer_port;
}

/* Makes a credit loop in a ring of five switches.  Port 1 leads to the next switch, port 3 to the
 * host. */
static void credit_loop(void)
{
	use(made("torus:5;1"));
	for (ftr_sw s = 0; s < d.net.f->n_sw; s++)
		for (ftr_ep e = 0; e < d.net.f->n_ep; e++)
			*entry(s, d.net.f->ep[e].lid) =
				d.net.f->ep[e].sw == s ? 3 : 1;
}

static void all_on_one_spine(void)
{
	const struct ftr_fabric *f = d.net.f;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ftr_sw leaf = f->ep[e].sw;
		ftr_port up = 1;

		while (ftr_fabric_port(f, leaf, up)->peer_kind != FTR_PEER_SW)
			up++;
		for (ftr_ep to = 0; to < f->n_ep; to++)
			if (f->ep[to].sw != leaf)
				*entry(leaf, f->ep[to].lid) = up;
	}
}

static const struct {
	const char *id;
	void (*plant)(void);
} planted[] = {
	{ "adapter", no_adapter },
	{ "module", no_module },
	{ "permission", no_permission },
	{ "port", port_down },
	{ "mtu", small_mtu },
	{ "plugin", other_plugin },
	{ "config", engine_alone },
	{ "known-faults", bad_kernel },
	{ "drains", drained_spine },
	{ "fabric", table_missing },
	{ "m-key", m_key_set },
	{ "sm", two_masters },
	{ "standby", no_standby },
	{ "silent", silent_node },
	{ "link-state", not_active },
	{ "link-width", narrow_link },
	{ "link-speed", slow_link },
	{ "link-flaps", flapping },
	{ "link-errors", bad_cable },
	{ "lft-capacity", small_table },
	{ "lft-top", low_top },
	{ "vls", one_vl },
	{ "adaptive", adaptive },
	{ "files", other_state },
	{ "ranks", no_ranks },
	{ "links-missing", link_missing },
	{ "rails", crossed_rails },
	{ "host-ports", twin_ports },
	{ "sm-reach", sm_unreachable },
	{ "pairs", entry_missing },
	{ "loops", loop },
	{ "credit-loops", credit_loop },
	{ "balance", all_on_one_spine },
};

/* ---- tests ------------------------------------------------------------- */

static enum doc_verdict verdict(doc_fn fn)
{
	clear();
	fn(&d, &r);
	ck_assert_str_ne(r.text, "");
	/* only a warning or a failure has a remedy */
	ck_assert_int_eq(r.remedy[0] != 0, r.verdict == DOC_WARNING ||
			 r.verdict == DOC_FAILURE);
	return r.verdict;
}

START_TEST(test_sound)
{
	const struct doc_check *c = &doc_checks[_i];

#ifndef HAVE_IBMAD
	if (!c->run)
		return;
#endif
	/* "files" has no files to check here, and "sm-version" checks nothing */
	ck_assert_msg(verdict(c->run) == (strcmp(c->id, "files") &&
					  strcmp(c->id, "sm-version") ? DOC_OK :
					  DOC_NOT_CHECKED), "wrong verdict of the check %s: %s",
		      c->id, r.text);
}
END_TEST

START_TEST(test_planted)
{
	const struct doc_check *c = &doc_checks[_i];
	size_t k = 0;

	if (c->run == doc_sm_version) {	/* only lists the nodes with a subnet manager */
		ck_assert_int_eq(verdict(c->run), DOC_NOT_CHECKED);
		ck_assert_uint_eq(r.n_details, 2);
		ck_assert_ptr_nonnull(strstr(r.detail[1], "standby"));
		return;
	}
	while (k < sizeof(planted) / sizeof(planted[0]) &&
	       strcmp(planted[k].id, c->id))
		k++;
	ck_assert_msg(k < sizeof(planted) / sizeof(planted[0]),
		      "no fault is planted for the check %s", c->id);
	if (!c->run) {
		skip_case("%s: built without libibumad and libibverbs", c->id);
		return;
	}
	planted[k].plant();
	verdict(c->run);
	ck_assert_msg(r.verdict == DOC_WARNING || r.verdict == DOC_FAILURE,
		      "the check %s does not find the fault; it says: %s", c->id, r.text);
	drop(&state);
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
	/* doc_lft_top does not report the same switch again */
	d.net.sw[2].lft_top = 1;
	ck_assert_int_eq(verdict(doc_lft_top), DOC_OK);
}
END_TEST

START_TEST(test_sm_reach)
{
	ftr_sw s = d.net.f->ep[12].sw;

	ftr_tables_row(d.net.t, s)[d.net.sm[0].lid] = FTR_PORT_NONE;
	ck_assert_int_eq(verdict(doc_sm_reach), DOC_FAILURE);
	ck_assert_uint_eq(r.n_details, 1);
	ck_assert_ptr_nonnull(strstr(r.detail[0], "master"));
	d.net.n_sm = 0;
	ck_assert_int_eq(verdict(doc_sm_reach), DOC_NOT_CHECKED);
}
END_TEST

/* Each counter has its own check and limit; the 4-bit counters end at 15. */
START_TEST(test_link_counters)
{
	struct doc_port *p = &d.net.port[up_port()];

	for (int i = 0; i < DOC_N_COUNTERS; i++) {
		doc_fn own = i == DOC_LINK_DOWNED ? doc_link_flaps : doc_link_errors;
		doc_fn other = i == DOC_LINK_DOWNED ? doc_link_errors : doc_link_flaps;

		p->counter[i] = 10;
		ck_assert_int_eq(verdict(own), DOC_OK);
		p->counter[i] = 11;
		ck_assert_int_eq(verdict(other), DOC_OK);
		ck_assert_int_eq(verdict(own), DOC_WARNING);
		ck_assert_uint_eq(r.n_details, 1);
		ck_assert_ptr_null(strstr(r.detail[0], "or more"));
		p->counter[i] = 0;
	}
	p->counter[DOC_INTEGRITY_ERRORS] = 15;
	p->counter[DOC_SYMBOL_ERRORS] = 7000;
	ck_assert_int_eq(verdict(doc_link_errors), DOC_WARNING);
	ck_assert_ptr_nonnull(strstr(r.detail[0],
				     " SymbolErrors=7000 LocalLinkIntegrityErrors=15 or more"));
	d.o.errors = 7000;
	ck_assert_int_eq(verdict(doc_link_errors), DOC_OK);
	for (uint32_t i = 0; i < d.net.f->n_ports; i++)
		d.net.port[i].counted = false;
	ck_assert_int_eq(verdict(doc_link_errors), DOC_NOT_CHECKED);
}
END_TEST

#ifdef HAVE_IBMAD

/* Sets the number of virtual functions of mlx5_0 in a sysfs of our own. */
static void set_virtual(const char *n)
{
	FILE *f;

	ck_assert(!system("mkdir -p test_doctor.sys/mlx5_0/device"));
	f = fopen("test_doctor.sys/mlx5_0/device/sriov_numvfs", "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", n);
	fclose(f);
	d.sysfs = "test_doctor.sys";
}

START_TEST(test_known_faults)
{
	strcpy(d.kernel, "6.110.1");
	ck_assert_int_eq(verdict(doc_known_faults), DOC_OK);
	set_virtual("0");
	ck_assert_int_eq(verdict(doc_known_faults), DOC_OK);
	set_virtual("4");
	ck_assert_int_eq(verdict(doc_known_faults), DOC_WARNING);
	ck_assert_ptr_nonnull(strstr(r.detail[0], "mlx5_0 has 4 virtual functions"));
	ck_assert(!system("rm -r test_doctor.sys"));
	/* the port has the prefix of opensm.conf, then another one */
	d.conf.prefix = 0xfe80000000000006;
	node.port.gid_prefix = htobe64(0xfe80000000000006);
	ck_assert_int_eq(verdict(doc_known_faults), DOC_OK);
	node.port.gid_prefix = htobe64(0xfe80000000000000);
	ck_assert_int_eq(verdict(doc_known_faults), DOC_WARNING);
	ck_assert_ptr_nonnull(strstr(r.detail[0], "has 0xfe80000000000000"));
	/* before the port is Active, OpenSM has not set the prefix */
	node.port.state = 2;
	ck_assert_int_eq(verdict(doc_known_faults), DOC_OK);
}
END_TEST

#endif

/* If switches do not answer, the check does not say that adaptive routing is off. */
START_TEST(test_adaptive)
{
	d.net.no_adaptive = 3;
	ck_assert_int_eq(verdict(doc_adaptive), DOC_NOT_CHECKED);
	d.net.sw[0].adaptive = true;
	ck_assert_int_eq(verdict(doc_adaptive), DOC_WARNING);
	ck_assert_uint_eq(r.n_details, 1);
}
END_TEST

/* A host with ports on two leaves of four, each with one link to every spine.  The paths from the two
 * other leaves are set to the same spine, or to different ones. */
START_TEST(test_host_ports)
{
	const struct ftr_fabric *f = d.net.f;
	ftr_ep a = 0, b = f->n_ep - 1u;

	name_port(a, "host mlx5_0");
	name_port(b, "host mlx5_1");
	ck_assert_uint_ne(f->ep[a].sw, f->ep[b].sw);
	for (int same = 0; same < 2; same++) {
		for (ftr_ep e = 0; e < f->n_ep; e++) {
			ftr_sw leaf = f->ep[e].sw;
			ftr_port up = 1;

			if (leaf == f->ep[a].sw || leaf == f->ep[b].sw)
				continue;
			while (ftr_fabric_port(f, leaf, up)->peer_kind != FTR_PEER_SW)
				up++;
			*entry(leaf, f->ep[a].lid) = up;
			*entry(leaf, f->ep[b].lid) = (uint8_t)(up + !same);
		}
		ck_assert_int_eq(verdict(doc_host_ports), DOC_OK);
		ck_assert_msg(strstr(r.text, same ? "several switches: 1; from 100 %" :
				     "several switches: 1; the paths from a leaf to them cross no common switch"),
			      "%s", r.text);
		ck_assert(!same || strstr(r.text, ", and to at most 2 of its 2 ports"));
	}
}
END_TEST

START_TEST(test_silent_standby)
{
	/* a subnet manager that does not answer does not count as a standby */
	d.net.sm[1].answered = false;
	ck_assert_int_eq(verdict(doc_standby), DOC_WARNING);
}
END_TEST

START_TEST(test_m_key)
{
	d.net.m_key = 0x1234;
	ck_assert_int_eq(verdict(doc_m_key), DOC_WARNING);
	d.o.in.from.m_key = 0x1235;
	ck_assert_int_eq(verdict(doc_m_key), DOC_WARNING);
	d.o.in.from.m_key = 0x1234;
	ck_assert_int_eq(verdict(doc_m_key), DOC_OK);
}
END_TEST

/* A check that finds many objects lists ten of them, and counts all. */
START_TEST(test_details)
{
	for (uint32_t p = 0; p < d.net.f->n_ports; p++)
		d.net.port[p].state = 2;
	ck_assert_int_eq(verdict(doc_link_state), DOC_WARNING);
	ck_assert_uint_eq(r.n_details, d.net.f->n_sw_links + d.net.f->n_ep);
	ck_assert_ptr_nonnull(r.detail[DOC_DETAILS - 1]);
}
END_TEST

START_TEST(test_option_file)
{
	static const struct {
		const char *line, *path;
	} t[] = {
		{ "ibfattree:/a/b", "/a/b" },
		{ "xibfattree:/x ibfattree:/a", "/a" },
		{ "xibfattree:/x", NULL },
		{ "ibfattree:/a,other:/b", "/a" },
		{ "other:/b,ibfattree:/a", "/a" },
		{ "ibfattree:", NULL },
		{ "ibfattree:/a\nevent_plugin_options (null)", NULL },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char path[] = "/tmp/ibf-conf-XXXXXX";
		struct doctor x = { .o.conf = path };
		int fd = mkstemp(path);

		ck_assert_int_ge(fd, 0);
		ck_assert_int_gt(dprintf(fd, "event_plugin_options %s\n", t[i].line), 0);
		close(fd);
		doc_read_conf(&x);
		unlink(path);
		ck_assert_ptr_nonnull(x.conf.path);
		ck_assert_pstr_eq(x.conf.options, t[i].path);
		doc_free_conf(&x.conf);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("doctor");
	TCase *tc = tcase_create("doctor");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_sound, 0, DOC_N_CHECKS);
	tcase_add_loop_test(tc, test_planted, 0, DOC_N_CHECKS);
	tcase_add_test(tc, test_lft_capacity);
	tcase_add_test(tc, test_sm_reach);
	tcase_add_test(tc, test_link_counters);
#ifdef HAVE_IBMAD
	tcase_add_test(tc, test_known_faults);
#endif
	tcase_add_test(tc, test_adaptive);
	tcase_add_test(tc, test_host_ports);
	tcase_add_test(tc, test_silent_standby);
	tcase_add_test(tc, test_m_key);
	tcase_add_test(tc, test_details);
	tcase_add_test(tc, test_option_file);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
