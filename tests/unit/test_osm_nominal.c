// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how the plugin keeps the nominal fabric (the union of all switches and links seen so far):
 * state files of several subnet managers, handover, replaced switches, growth.  Also tests the
 * status files when no engine routes.
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/draw.h"
#include "lib/edit.h"
#include "lib/suite.h"
#include "lib/trees.h"

static const char other_name[] = "ibfattree-state-00000000000000aa";

static void path_of(const struct fake *h, bool own, char *path, size_t size)
{
	if (own)
		snprintf(path, size, "%s/ibfattree-state-%016" PRIx64,
			 h->dir, cl_ntoh64(h->osm->subn.sm_port_guid));
	else
		snprintf(path, size, "%s/%s", h->dir, other_name);
}

/* Set the modification time of the other subnet manager's file to that of the plugin's own file
 * plus `seconds`. */
static void set_age(struct fake *h, int seconds)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT } };
	char own[128], other[128];
	struct stat st;

	path_of(h, true, own, sizeof(own));
	path_of(h, false, other, sizeof(other));
	ck_assert(!stat(own, &st));
	t[1] = st.st_mtim;
	t[1].tv_sec += seconds;
	ck_assert(!utimensat(AT_FDCWD, other, t, 0));
}

static void write_other(struct fake *h, struct ftr_nominal *n, int seconds)
{
	char other[128];
	struct ftr_err err;

	path_of(h, false, other, sizeof(other));
	ck_assert(!ftr_state_write(other, &(struct ftr_state){ .nominal = n }, &err));
	set_age(h, seconds);
}

static void remove_other(struct fake *h)
{
	char path[128];

	path_of(h, false, path, sizeof(path));
	unlink(path);
	fake_free(h);
}

#define TAKEN "the nominal fabric was read from "

/* A subnet manager becomes master again.  After a handover it must read the state files again,
 * even if nobody reported the change of state (case 0).  Without a handover it must not read them
 * (case 1). */
START_TEST(test_master_again)
{
	struct fake *h = fake_new(NULL);
	struct ibf_plugin *p = h->plugin;

	write_other(h, p->nominal->n, 10);
	h->osm->subn.coming_out_of_standby = !_i;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, TAKEN), !_i);
	ck_assert_uint_eq(fake_logged(h, other_name), !_i);
	fake_check_healed(h);
	remove_other(h);
}
END_TEST

/* A subnet manager that takes over must read the newest state file.  Afterwards its own file is the
 * newest. */
START_TEST(test_newest)
{
	struct fake *h = fake_new(NULL);
	struct ibf_plugin *p = h->plugin;

	write_other(h, p->nominal->n, _i ? 10 : -10);
	for (unsigned int k = 0; k < 2; k++) {
		h->osm->subn.coming_out_of_standby = TRUE;
		ck_assert(fake_sweep(h));
		fake_settle(h);
		write_other(h, p->nominal->n, -5);
	}
	ck_assert_uint_eq(fake_logged(h, TAKEN), _i);
	remove_other(h);
}
END_TEST

/* More than 32 newer files of another user have names like the plugin's own file.  The plugin must
 * not read them, and must read its own file. */
START_TEST(test_files_of_others)
{
	struct fake *h = fake_new(NULL);
	char path[128];

	if (geteuid()) {
		skip_case("only root can give files to another user");
		fake_free(h);
		return;
	}
	for (int i = 0; i < 40; i++) {
		FILE *out;

		snprintf(path, sizeof(path), "%s/ibfattree-state-%016x", h->dir, i);
		out = fopen(path, "w");
		ck_assert(out && !fclose(out) && !chown(path, 65534, 65534));
	}
	h->osm->subn.coming_out_of_standby = TRUE;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "IBF006"), 1);	/* by fake_new */
	ck_assert_uint_eq(fake_logged(h, "IBF113"), 0);
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "%s/ibfattree-state-%016x", h->dir, i);
		unlink(path);
	}
	fake_free(h);
}
END_TEST

/* Another subnet manager's file is ignored without a message if it describes another fabric.  A
 * damaged file causes a message. */
START_TEST(test_other_fabric)
{
	struct fake *h = fake_new(NULL);
	struct ftr_gen_opts go = { .seed = 99, .random_guids = true };
	struct ftr_fabric *f = NULL;
	struct ftr_nominal *n = NULL;
	struct ftr_pgft g;
	struct ftr_err err;
	char path[128];

	ck_assert(!ftr_pgft_parse("2;4,4;1,4;1,1", &g, &err));
	ck_assert(!ftr_gen_pgft(&g, &go, &f, &err));
	ck_assert(!ftr_nominal_new(f, NULL, NULL, &n, NULL, &err));
	write_other(h, n, 10);
	path_of(h, false, path, sizeof(path));
	if (_i)
		ck_assert(!truncate(path, 200));
	set_age(h, 10);
	h->osm->subn.coming_out_of_standby = TRUE;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, TAKEN), 0);
	ck_assert_uint_eq(fake_logged(h, "WRN IBF113"), _i);
	ck_assert_uint_eq(fake_logged(h, "IBF006"), 1);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	remove_other(h);
}
END_TEST

/* If the other subnet manager's file was made with another order of the leaves (case 1), the file
 * is used, but its shape is computed again. */
START_TEST(test_other_options)
{
	struct fake *h = fake_new(NULL);
	const struct ftr_nominal *own = ((struct ibf_plugin *)h->plugin)->nominal->n;
	const struct ftr_shape_opts opts = {
		.leaf_order = _i ? FTR_LEAF_BY_NAME : FTR_LEAF_BY_GUID,
	};
	struct ftr_nominal *n = NULL;
	struct ftr_err err;

	ck_assert(!ftr_nominal_new(own->f, &opts, NULL, &n, NULL, &err));
	write_other(h, n, 10);
	h->osm->subn.coming_out_of_standby = TRUE;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, TAKEN), 1);
	ck_assert_uint_eq(fake_logged(h, "the shape of the nominal fabric is computed again"), _i);
	ftr_nominal_free(n);
	remove_other(h);
}
END_TEST

/* Replace switch s: add 1 to its GUID, so that the switches in the fake's fabric remain ordered by
 * GUID. */
static void replace_switch(struct fake *h, ftr_sw s)
{
	struct ftr_switch *sw = (void *)(uintptr_t)&h->fab->sw[s];

	sw->guid++;
	sw->holder = sw->guid;
	h->sw_node[s]->node_info.node_guid = cl_hton64(sw->guid);
	h->sw_port[s]->guid = cl_hton64(sw->guid);
	for (unsigned int p = 0; p <= sw->n_ports; p++)
		h->sw_node[s]->physp_table[p].port_guid =
			cl_hton64(sw->guid);
}

static uint8_t *tables(struct fake *h)
{
	uint32_t n = h->fab->max_lid + 1u;
	uint8_t *copy = malloc((size_t)h->fab->n_sw * n);

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(copy + (size_t)s * n, h->sw[s].lft, n);
	return copy;
}

/* While the plugin runs, a switch dies and is replaced.  The tables must then be those before the
 * fault. */
START_TEST(test_replaced)
{
	static const char *const engine[] = { "dmodc", "sftree" };
	struct fake *h = fake_new(&(struct fake_opts){
		.engine = engine[_i % 2]
	});
	ftr_sw s = _i < 2 ? fake_spine(h, 1) : fake_leaf(h, 3);
	uint8_t *before = tables(h), *after;

	fake_switch(h, s, false);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	replace_switch(h, s);
	fake_switch(h, s, true);
	fake_settle(h);
	for (unsigned int k = 0; k < 3; k++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	ck_assert_uint_eq(fake_logged(h, "new_switches=0 new_links=0 new_ports=0 replaced_switches=1 "), 1);
	after = tables(h);
	ck_assert(!memcmp(before, after,
			  h->fab->n_sw * (h->fab->max_lid + 1u)));
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	/* The fast path must repair a fault at the new switch.  The next sweep must not change the
	 * repair, except for sftree, which may find another order of switches. */
	fake_link(h, s, _i < 2 ? 1 : fake_uplink(h, s, 0), false);
	fake_settle(h);
	if (_i % 2)
		fake_check_healed(h);
	else
		fake_check_repaired(h);
	free(before);
	free(after);
	fake_free(h);
}
END_TEST

/* Returns true if the link at port p of switch s changes the inferred ranks of f.  If this link is
 * seen later than the rest of f, the nominal fabric keeps the ranks of f without the link. */
static bool keeps_ranks(const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	const struct edit cut = { FTR_SW_NONE, FTR_EP_NONE, s, p, FTR_EP_NONE, FTR_EP_NONE,
				  NULL };
	struct ftr_fabric *less = edit_seal(edit_open(f, &cut));
	struct ftr_nominal *n = NULL, *old = NULL;
	struct ftr_err err;
	bool kept;

	ck_assert(!ftr_nominal_new(less, NULL, NULL, &old, NULL, &err));
	ck_assert(!ftr_nominal_new(f, NULL, old, &n, NULL, &err));
	kept = n->shape->tree.ranks_kept;
	ftr_nominal_free(old);
	ftr_nominal_free(n);
	ftr_fabric_free(less);
	return kept;
}

static bool find_link(const struct ftr_fabric *f, bool want, ftr_sw *s, ftr_port *p)
{
	for (*s = 0; *s < f->n_sw; ++*s)
		for (*p = 1; *p <= f->sw[*s].n_ports; ++*p)
			if (ftr_fabric_port(f, *s, *p)->peer_kind == FTR_PEER_SW &&
			    keeps_ranks(f, *s, *p) == want)
				return true;
	return false;
}

/* The nominal fabric grows by a link.  If other ranks would now be inferred (case 1), the message
 * says that the earlier ranks are kept.  Otherwise it does not mention ranks. */
START_TEST(test_ranks_kept)
{
	struct ftr_fabric *f = NULL;
	bool found = false;
	struct ftr_rng r;
	struct fake *h;
	ftr_port p = 0;
	ftr_sw s = 0;

	for (uint64_t seed = 1; !found; seed++) {
		ck_assert_uint_lt(seed, 1000);
		ftr_fabric_free(f);
		ftr_rng_seed(&r, seed);
		f = trees_chassis(&r);
		found = find_link(f, _i, &s, &p);
	}
	h = fake_new(&(struct fake_opts){ .fabric = f, .not_up = true });
	fake_link(h, s, p, false);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_link(h, s, p, true);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "new_switches=0 new_links=1 new_ports=0 "), 1);
	ck_assert_uint_eq(fake_logged(h, "; the earlier ranks are kept, because "), _i);
	fake_free(h);
}
END_TEST

/* When a standby takes over, its first sweep routes nothing, which is no error.  It is an error if
 * a master's sweep routes nothing. */
START_TEST(test_takeover)
{
	struct fake *h = fake_new(&(struct fake_opts){ .not_up = true });
	osm_subn_t *subn = &h->osm->subn;

	subn->sm_state = IB_SMINFO_STATE_STANDBY;
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	subn->sm_state = IB_SMINFO_STATE_MASTER;
	subn->coming_out_of_standby = TRUE;
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	ck_assert_uint_eq(fake_logged(h, "IBF211"), 0);
	subn->coming_out_of_standby = FALSE;
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	ck_assert_uint_eq(fake_logged(h, "IBF211"), 1);
	fake_free(h);
}
END_TEST

/* While the engine runs, OpenSM's table of one switch is missing (case 0) or too small (case 1). */
struct no_table {
	ftr_sw sw;
	bool missing;
	uint8_t *lft;
	uint16_t size;
};

static void without_table(void *ctx, struct fake *h, enum fake_moment m)
{
	struct no_table *n = ctx;
	osm_switch_t *sw = h->osw[n->sw];

	if (m == FAKE_LOCKED) {
		n->lft = sw->lft;
		n->size = sw->lft_size;
		sw->lft = n->missing ? NULL : sw->lft;
		sw->lft_size = n->missing ? sw->lft_size : 10;
	} else if (m == FAKE_ROUTING) {
		sw->lft = n->lft;
		sw->lft_size = n->size;
	}
}

/* If the plugin cannot route because of a switch, its message has the switch's name and GUID. */
START_TEST(test_refusal_has_guid)
{
	struct fake *h = fake_new(NULL);
	struct no_table n = { .sw = 5, .missing = _i == 0 };
	char text[64];

	snprintf(text, sizeof(text), "switch %s (0x%016" PRIx64 ")", h->fab->sw[n.sw].name,
		 h->fab->sw[n.sw].guid);
	h->moment = without_table;
	h->moment_ctx = &n;
	ck_assert(fake_sweep(h));
	ck_assert_uint_ge(fake_logged(h, "OpenSM has no table up to LID "), 1);
	ck_assert_uint_ge(fake_logged(h, text), 1);
	h->moment = NULL;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- all engines fail -------------------------------------------------------- */

static bool file_has(struct fake *h, const char *name, const char *text)
{
	static char buf[1 << 16];
	char path[128];
	size_t n;
	FILE *in;

	fake_flush(h);
	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	n = fread(buf, 1, sizeof(buf) - 1, in);
	fclose(in);
	buf[n] = '\0';
	return strstr(buf, text) != NULL;
}

static void swept(struct fake *h)
{
	ck_assert(fake_sweep(h));
	fake_settle(h);
}

static bool metric_is(struct fake *h, const char *line)
{
	return file_has(h, "ibfattree.prom", line);
}

/* In a sweep (case 0) or a reroute (case 1), the plugin's engine refuses to route, and because of
 * "no_fallback" no other engine is tried.  OpenSM reports no event, but the status files must show
 * at once that no engine routes. */
START_TEST(test_no_engine)
{
	struct fake *h = fake_new(NULL);
	struct no_table n = { .sw = 5 };

	ck_assert(metric_is(h, "\nibfattree_routes 1\n"));
	h->moment = without_table;
	h->moment_ctx = &n;
	h->fail_routing = true;
	ck_assert(_i ? !fake_reroute(h) : !fake_sweep(h));
	ck_assert(metric_is(h, "\nibfattree_routes 0\n"));
	ck_assert(metric_is(h, "\nibfattree_sm_master 1\n"));
	ck_assert(metric_is(h, "\nibfattree_refusals_total 1\n"));
	ck_assert(metric_is(h, "ibfattree_engine_info{engine=\"none\"} 1\n"));
	ck_assert(file_has(h, "ibfattree-status.json", "\"engine\":\"\",\"ours\":false,\"reason\":\"OpenSM has no table up to LID "));
	/* another engine routes */
	h->fail_routing = false;
	ck_assert(fake_sweep(h));
	ck_assert(metric_is(h, "\nibfattree_routes 0\n"));
	ck_assert(metric_is(h, "ibfattree_engine_info{engine=\"minhop\"} 1\n"));
	/* the plugin's engine routes again */
	h->moment = NULL;
	swept(h);
	ck_assert(metric_is(h, "\nibfattree_routes 1\n"));
	ck_assert(file_has(h, "ibfattree-status.json", "\"engine\":\"dmodc\",\"ours\":true,\"reason\":\"\""));
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- growth after a restart ---------------------------------------------------- */

/* Read the plugin's own state file. */
static struct ftr_state stored(const struct fake *h)
{
	struct ftr_state s;
	struct ftr_err err;
	char path[128];

	path_of(h, true, path, sizeof(path));
	ck_assert(!ftr_state_read(path, true, NULL, &s, &err));
	return s;
}

static void check_stored(const struct fake *h, bool tables, bool displaced)
{
	struct ftr_state s = stored(h);

	ck_assert(tables == (s.t != NULL));
	ck_assert(displaced == (s.n_displaced > 0));
	if (s.t)
		ck_assert_str_eq(s.engine, "dmodc");
	ftr_state_clear(&s);
}

/* After a restart (case 0) or without one (case 1), a damaged fabric grows by a link.  Tables that
 * were computed for the smaller nominal fabric must not be used, and must not be stored.  Tables of
 * a search remain.  When the fabric is complete, tables for the larger nominal fabric must be
 * stored. */
START_TEST(test_grows_damaged)
{
	struct fake *h = fake_new(&(struct fake_opts){ .not_up = true });
	struct ibf_prefer *r = &((struct ibf_plugin *)h->plugin)->engine[0].prefer;
	ftr_sw extra = fake_leaf(h, 0), broken = fake_leaf(h, 3);
	ftr_port e = fake_uplink(h, extra, 0), b = fake_uplink(h, broken, 0);

	fake_link(h, extra, e, false);
	fake_settle(h);
	swept(h);
	check_stored(h, true, false);
	ck_assert_int_eq(r->stage, IBF_COMPUTED);
	fake_link(h, broken, b, false);
	fake_settle(h);
	h->osm->subn.coming_out_of_standby = !_i;
	swept(h);
	ck_assert_int_eq(r->stage, _i ? IBF_COMPUTED : IBF_GIVEN);
	check_stored(h, true, true);
	fake_link(h, extra, e, true);
	fake_settle(h);
	swept(h);
	check_stored(h, !_i, !_i);
	fake_link(h, broken, b, true);
	fake_settle(h);
	swept(h);
	swept(h);
	check_stored(h, true, false);
	ck_assert_int_eq(r->stage, _i ? IBF_COMPUTED : IBF_GIVEN);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The fabric grows by a horizontal link, which changes no entry.  In case 0 the preferred tables
 * (those of the complete fabric) must be stored for the larger nominal fabric.  In case 1 another
 * link is missing, and the plugin must also store the displaced entries, that is, those that differ
 * from the preferred tables. */
START_TEST(test_grows_unchanged)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw("A: t1 t2 B h2\nB: t1 t2 h2\nC: t1 t2 h2\nD: t1 t2 h2\nt1:\nt2:\n"),
		.not_up = true,
	});
	ftr_sw s = draw_sw(h->fab, "A"), broken = draw_sw(h->fab, "C");
	uint8_t *before, *after;

	fake_link(h, s, 3, false);
	fake_settle(h);
	swept(h);
	if (_i) {
		fake_link(h, broken, 1, false);
		fake_settle(h);
	}
	h->osm->subn.coming_out_of_standby = TRUE;
	swept(h);
	before = tables(h);
	check_stored(h, true, _i);
	fake_link(h, s, 3, true);
	fake_settle(h);
	swept(h);
	ck_assert_uint_eq(fake_logged(h, "new_switches=0 new_links=1 new_ports=0 "), 1);
	after = tables(h);
	ck_assert(!memcmp(before, after, h->fab->n_sw * (h->fab->max_lid + 1u)));
	check_stored(h, true, _i);
	if (_i) {
		fake_link(h, broken, 1, true);
		fake_settle(h);
		swept(h);	/* the ports of the link become Active */
		swept(h);
		check_stored(h, true, false);
	}
	free(before);
	free(after);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the plugin's nominal fabric");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, test_master_again, 0, 2);
	tcase_add_loop_test(tc, test_newest, 0, 2);
	tcase_add_test(tc, test_files_of_others);
	tcase_add_loop_test(tc, test_other_fabric, 0, 2);
	tcase_add_loop_test(tc, test_other_options, 0, 2);
	tcase_add_loop_test(tc, test_replaced, 0, 4);
	tcase_add_loop_test(tc, test_ranks_kept, 0, 2);
	tcase_add_test(tc, test_takeover);
	tcase_add_loop_test(tc, test_refusal_has_guid, 0, 2);
	tcase_add_loop_test(tc, test_no_engine, 0, 2);
	tcase_add_loop_test(tc, test_grows_damaged, 0, 2);
	tcase_add_loop_test(tc, test_grows_unchanged, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
