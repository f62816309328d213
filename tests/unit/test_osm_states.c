// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin with options that switch parts of it off, with files that do not fit the fabric, and
 * with events of OpenSM that come between two steps of the plugin.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/drain_file.h"
#include "lib/draw.h"
#include "lib/suite.h"
#include "osm/metrics.h"

extern osm_event_plugin_t osm_event_plugin;

static const char tree[] = "2;2,2;1,2;1,1";

static struct ibf_plugin *plugin(struct fake *h)
{
	return h->plugin;
}

static struct ibf_engine *engine(struct fake *h, const char *name)
{
	struct ibf_engine *e = plugin(h)->engine;

	while (strcmp(e->ops->name, name))
		e++;
	return e;
}

static void fail_link(struct fake *h)
{
	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_settle(h);
}

/* True if the file in the directory of the fake OpenSM contains the text. */
static bool file_has(struct fake *h, const char *name, const char *text)
{
	static char content[1 << 16];
	char path[128];
	FILE *in;

	fake_flush(h);
	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	in = fopen(path, "r");
	content[in ? fread(content, 1, sizeof(content) - 1, in) : 0] = '\0';
	if (in)
		fclose(in);
	return strstr(content, text);
}

static void write_text(struct fake *h, const char *name, const char *text, char path[128])
{
	FILE *out;

	snprintf(path, 128, "%s/%s", h->dir, name);
	out = fopen(path, "w");
	ck_assert(out && fputs(text, out) >= 0 && !fclose(out));
}

/* ---- parts that are switched off --------------------------------------------------------- */

/* The engine computes tables, and the next engine of the list routes. */
START_TEST(observes)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = tree, .options = "observe yes\n", .routing_engines = "dmodc,minhop", .not_up = true,
	});

	ck_assert_ptr_null(h->fast);
	ck_assert_ptr_null(plugin(h)->drain);
	ck_assert(fake_sweep(h));
	ck_assert_ptr_eq(h->osm->routing_engine_used, &h->minhop);
	ck_assert_uint_eq(fake_logged(h, "dmodc observes: its tables for 4 switches and 8 LIDs passed all checks and would change "), 1);
	ck_assert_uint_eq(fake_logged(h, "routes now instead of"), 0);
	ck_assert_ptr_null(plugin(h)->routed);
	ck_assert(fake_sweep(h));
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

START_TEST(adopts_without_fast_path)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = tree, .options = "adopt yes\nfast_reroute off\n", .not_up = true,
	});

	ck_assert_ptr_null(h->fast);
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(fake_logged(h, "no tables read from the switches: the fast path, which reads them, is not available"), 1);
	ck_assert_int_eq(engine(h, "dmodc")->prefer.stage, IBF_COMPUTED);
	ck_assert(fake_sweep(h));
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A repair and a routing without metrics; with metrics, one switch has no path to the manager. */
START_TEST(metrics)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = tree, .options = _i ? "status_files on\n" : "status_files off\n", .not_up = true,
	});

	h->osm->subn.sm_base_lid = cl_hton16(h->fab->ep[h->sm].lid);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fail_link(h);
	ck_assert_uint_eq(fake_logged(h, "IBF004: fast reroute 1: "), 1);
	fake_check_sweep(h);
	ck_assert(!_i || file_has(h, "ibfattree.prom", "\nibfattree_switches_without_sm_path 0\n"));
	ck_assert(!_i == !file_has(h, "ibfattree.prom", "ibfattree"));
	/* a manager with a LID to which no switch has an entry */
	h->osm->subn.sm_base_lid = cl_hton16((uint16_t)h->fab->max_lid + 1);
	ibf_status_routed(plugin(h), plugin(h)->routed->gen);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- options and lists of OpenSM -------------------------------------------------------------- */

START_TEST(lists_of_others)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .not_up = true });
	osm_subn_opt_t *opt = &h->osm->subn.opt;
	char cn[128], io[128];

	write_text(h, "cn", "0x77\n", cn);
	write_text(h, "io", "0x78\n", io);
	opt->cn_guid_file = cn;
	opt->io_guid_file = io;
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, "cn_guid_file ") == 1 && fake_logged(h, "io_guid_file ") == 1, "%s", h->log);
	ck_assert_uint_eq(fake_logged(h, "names no port of this fabric and is not used"), 2);
	fake_check_sweep(h);
	fake_check_healed(h);
	opt->cn_guid_file = opt->io_guid_file = NULL;
	ck_assert(!unlink(cn) && !unlink(io));
	fake_free(h);
}
END_TEST

/* The list names no engine that exists; another engine than those of the list has routed. */
START_TEST(engine_names)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .routing_engines = "dmodk", .not_up = true });
	struct osm_routing_engine other = { .name = "ftree" };

	ck_assert_uint_eq(fake_logged(h, "routing_engine names \"dmodk\", which is no engine; OpenSM takes the next one of the list, and routes nothing if that is no_fallback; did you mean \"dmodc\"?"), 1);
	h->osm->routing_engine_used = &other;
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_UCAST_ROUTING_DONE, NULL);
	ck_assert_ptr_null(plugin(h)->routed);
	ck_assert_uint_eq(fake_logged(h, "routes now instead of"), 0);
	h->osm->routing_engine_used = NULL;
	fake_free(h);
}
END_TEST

/* The file of options cannot be read (a read error, no file at the default path); the engine ddlr is set
 * up while QoS is on. */
START_TEST(setup)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .not_up = true });
	osm_subn_opt_t *opt = &h->osm->subn.opt;
	char *old_options = opt->event_plugin_options, file[] = "ibfattree:/proc/self/mem";
	struct osm_routing_engine *re, *list = h->osm->routing_engine_list;
	struct osm_routing_engine ddlr = { .context = engine(h, "ddlr") };
	bool is_default = !access("/etc/opensm/ibfattree.conf", F_OK);

	for (int i = 0; i < 2; i++) {
		struct ibf_plugin *p;

		opt->event_plugin_options = i ? NULL : file;
		h->osm->routing_engine_list = NULL;
		p = osm_event_plugin.create(h->osm);
		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq(fake_logged(h, "/proc/self/mem: Input/output error; all options of this plugin have their defaults"), 1);
		ck_assert(is_default || fake_logged(h, "options from no file, all defaults") == i + 1u);
		osm_event_plugin.delete(p);
		while ((re = h->osm->routing_engine_list)) {
			h->osm->routing_engine_list = re->next;
			free(re);
		}
	}
	h->osm->routing_engine_list = list;
	opt->event_plugin_options = old_options;
	ck_assert_int_eq(ibf_engine_setup(&ddlr, h->osm), 0);
	ck_assert_ptr_null(ddlr.update_sl2vl);
	opt->qos = TRUE;
	ck_assert_int_eq(ibf_engine_setup(&ddlr, h->osm), 0);
	ck_assert_ptr_nonnull(ddlr.update_sl2vl);
	opt->qos = FALSE;
	fake_free(h);
}
END_TEST

/* A sweep reads the options again.  An invalid file changes nothing; options that are read at the start
 * only keep their values. */
START_TEST(new_options)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .options = "balance full\n", .not_up = true,
	});
	struct ibf_plugin *p = plugin(h);
	struct ibf_generation *first;

	fake_check_sweep(h);
	fake_check_quiet_sweep(h);
	first = p->routed->gen;
	ck_assert_uint_eq(fake_logged(h, "IBF013") + fake_logged(h, "IBF201"), 0);

	for (int i = 0; i < 2; i++) {
		fake_write_options(h, "balance off\nleaf_order size\n");
		fake_check_quiet_sweep(h);
		ck_assert_int_eq(p->opt.balance, FTR_BALANCE_FULL);
		ck_assert_ptr_eq(p->routed->gen, first);
		ck_assert_uint_eq(fake_logged(h, "/conf:9: leaf_order is \"size\", not one of: guid, name; the options stay as they were"), 1);
	}
	fake_write_options(h, "leaf_order name\nfast_flap_limit 7\nfast_sweep_cap_ms 30\nthreads 3\nfast_window 8\n");
	ck_assert(fake_sweep(h));
	ck_assert_ptr_ne(p->routed->gen, first);
	ck_assert_int_eq(p->opt.leaf_order, FTR_LEAF_BY_NAME);
	ck_assert_uint_eq(h->fast->rr.state.links.limit, 7);
	ck_assert(h->fast->rr.state.want.cap == 30);
	ck_assert_uint_eq(fake_logged(h, "IBF013: option leaf_order is name now, not guid"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF013: option balance is load now, not full"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF013: option fast_flap_limit is 7 now, not 0"), 1);
	ck_assert_int_eq(p->opt.threads, 1);
	ck_assert_int_eq(p->opt.fast_window, 16);
	ck_assert_uint_eq(fake_logged(h, "IBF123: option threads is 3 now, but 1 stays in use until opensm is restarted"), 1);
	ck_assert(!p->routed->prefer.search && !p->routed->prefer.better);
	fake_check_sweep(h);
	fake_check_quiet_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF123"), 2);

	fake_write_options(h, NULL);
	fake_check_sweep(h);
	fake_write_options(h, "balance off\n");
	fake_check_sweep(h);
	ck_assert_int_eq(p->routed->gen->options.balance, FTR_BALANCE_OFF);
	ck_assert_uint_eq(fake_logged(h, "IBF013: option threads is 1 now, not 3"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF123"), 2);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- state files ------------------------------------------------------------------------------ */

/* The plugin's own state file is damaged, is older than the list of roots, or does not fit it. */
START_TEST(own_state)
{
	static const char *const says[] = {
		"; it is replaced", "was made with other options or GUID files", "the nominal fabric is the present fabric",
	};
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	const struct ftr_fabric *f = h->fab;
	char own[128], roots[128], text[128];
	unsigned int n;
	FILE *out;

	fake_check_sweep(h);
	fake_flush(h);
	snprintf(own, sizeof(own), "%s/ibfattree-state-%016" PRIx64, h->dir, cl_ntoh64(h->osm->subn.sm_port_guid));
	n = fake_logged(h, says[_i]);
	fake_restart(h, false);
	if (_i) {
		snprintf(text, sizeof(text), "0x%" PRIx64 "\n0x%" PRIx64 "\n", f->sw[fake_spine(h, 0)].guid,
			 f->sw[fake_spine(h, 1)].guid);
		write_text(h, "roots", _i == 1 ? text : "0x77\n", roots);
		h->osm->subn.opt.root_guid_file = roots;
	} else {
		out = fopen(own, "a");
		ck_assert(out && fputs("damaged", out) >= 0 && !fclose(out));
	}
	fake_sweep(h);
	fake_settle(h);
	ck_assert_msg(fake_logged(h, says[_i]) == n + (_i < 2), "case %d: %s", _i, h->log);
	if (_i) {
		h->osm->subn.opt.root_guid_file = NULL;
		ck_assert(!unlink(roots));
	}
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- drained parts ---------------------------------------------------------------------------- */

static const struct ftr_drains *next_drains;

static void await_request(struct fake *h, const char *says)
{
	for (int looks = 0; !fake_logged(h, says); looks++) {
		ck_assert_msg(looks < 120000, "the drains are not read: %s", h->log);
		usleep(1000);	/* the thread that reads the file uses the real clock */
	}
}

/* The list changes after the routing, while OpenSM writes the tables. */
static void change_drains(void *ctx, struct fake *h, enum fake_moment m)
{
	if (m != FAKE_PUSHING || !next_drains)
		return;
	ck_assert(write_drains(ctx, next_drains));
	next_drains = NULL;
	await_request(h, "request=0x8 drained=200 parts");
}

/* The event of a drain is written when the tables are those of the present list.  It names as many parts
 * as fit into a line. */
START_TEST(drains_change)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,4;1,4;1,1" });
	struct ftr_drain part[200];
	struct ftr_drains d = { .request = 8, .n = 200, .part = part };
	char path[128];

	for (unsigned int i = 0; i < 200; i++) {
		part[i] = (struct ftr_drain){
			.guid = h->fab->sw[fake_leaf(h, 1)].guid, .port = (ftr_port)(i ? 20 + i : 3), .by = "test",
		};
		memset(part[i].name, 'x', sizeof(part[i].name) - 1);
	}
	snprintf(path, sizeof(path), "%s/conf.drains", h->dir);
	d.request = 7;
	d.n = 1;
	ck_assert(write_drains(path, &d));
	await_request(h, "request=0x7 drained=1 part");
	d.request = 8;
	d.n = 200;
	next_drains = &d;
	h->moment_ctx = path;
	h->moment = change_drains;
	fake_check_sweep(h);
	ck_assert_ptr_null(next_drains);
	h->moment = NULL;
	ck_assert_uint_eq(fake_events(h, "\"request\":\"0x7\""), 0);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_events(h, "\"request\":\"0x8\",\"number_drained\":200"), 1);
	ck_assert_uint_eq(fake_events(h, "\"port\":3,"), 1);
	ck_assert_uint_eq(fake_events(h, "\"port\":219,"), 0);
	ck_assert(!unlink(path));
	await_request(h, "request=0x0 drained=0 parts");
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A switch does not take its new table.  A drain ends only when it has. */
static void lose_sets(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	fate->lose_request = p->set && p->to == *(const ftr_sw *)ctx;
}

START_TEST(drain_needs_all_tables)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;2,4;1,4;1,1", .options = _i ? "transition plain\n" : "",
	});
	ftr_sw leaf = fake_leaf(h, 1);
	struct ftr_drain part = { .guid = h->fab->sw[leaf].guid, .port = fake_uplink(h, leaf, 0), .by = "test" };
	struct ftr_drains d = { .request = 7, .n = 1, .part = &part };
	char path[128];

	snprintf(path, sizeof(path), "%s/conf.drains", h->dir);
	ck_assert(write_drains(path, &d));
	await_request(h, "request=0x7 drained=1 part");
	fake_set_fate(h, lose_sets, &leaf);
	(void)!fake_sweep(h);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "; the next sweep replaces the remaining "), !_i);
	ck_assert_uint_eq(fake_events(h, "\"request\":\"0x7\""), 0);
	fake_release(h);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_events(h, "\"request\":\"0x7\""), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	ck_assert(!unlink(path));
	fake_free(h);
}
END_TEST

static uint8_t *tables(const struct fake *h)
{
	size_t row = h->fab->max_lid + 1u;
	uint8_t *t = malloc(h->fab->n_sw * row);

	ck_assert_ptr_nonnull(t);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(t + s * row, h->sw[s].lft, row);
	return t;
}

static void ask(struct fake *h, struct ftr_drains *d, uint32_t n)
{
	char path[128], says[64];

	d->n = n;
	d->request++;
	snprintf(path, sizeof(path), "%s/conf.drains", h->dir);
	snprintf(says, sizeof(says), "request=0x%x drained=%u part", (unsigned int)d->request, n);
	ck_assert(write_drains(path, d));
	await_request(h, says);
	fake_check_sweep(h);
	ck_assert(n || !unlink(path));
}

/* Links have failed, and other switches are drained and in use again: the tables are those of before. */
START_TEST(undrained)
{
	static const char *const engine[] = { "dmodc", "sftree", "ddlr" };
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "3;4,4,4;1,4,4;1,1,1", .engine = engine[_i] });
	size_t size = (size_t)h->fab->n_sw * (h->fab->max_lid + 1u);
	uint32_t changed = 0;
	uint8_t *before, *now;
	struct ftr_rng r;

	ftr_rng_seed(&r, 5);
	for (int i = 0; i < 6; i++) {
		ftr_sw leaf = fake_leaf(h, ftr_rng_below(&r, 16));

		fake_link_quietly(h, leaf, fake_uplink(h, leaf, ftr_rng_below(&r, 3)), false);
		fake_check_sweep(h);
	}
	before = tables(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		struct ftr_drain part = { .guid = h->fab->sw[s].guid, .by = "test" };
		struct ftr_drains d = { .request = 2 * s, .part = &part };

		for (uint32_t n = 2; h->sh->tree.rank[s] == 1 && n-- > 0;) {
			ask(h, &d, n);
			now = tables(h);
			changed += memcmp(before, now, size) != 0;
			ck_assert(n || !memcmp(before, now, size));
			free(now);
		}
	}
	ck_assert_uint_gt(changed, 0);
	free(before);
	fake_free(h);
}
END_TEST

/* ---- repairs ------------------------------------------------------------------------------------ */

/* The only link of a leaf fails and returns before OpenSM has swept: the events are those of a switch. */
START_TEST(only_link)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw("a: b c h2\nb: c h2\nc: d\nd: h2\n") });
	ftr_sw d = h->fab->ep[h->fab->n_ep - 1].sw;
	ftr_port p = fake_uplink(h, d, 0);

	fake_link(h, d, p, false);
	fake_settle(h);
	fake_link(h, d, p, true);
	fake_settle(h);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-down\""), 1);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-up\""), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The fast path remembers links that are back, at switches that are not in the fabric any more: a sweep is
 * requested. */
START_TEST(returning_links_of_others)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	uint64_t known = h->fab->sw[0].guid;

	pthread_mutex_lock(&h->fast->rr.mutex);
	ck_assert(rr_links_return(&h->fast->rr.state.links, (struct rr_ends){ known, 1ULL << 62, 1, 1 }));
	ck_assert(rr_links_return(&h->fast->rr.state.links, (struct rr_ends){ 1, known, 1, 1 }));
	pthread_mutex_unlock(&h->fast->rr.mutex);
	fake_check_sweep(h);
	fake_until(fake_sweep_wanted(h));
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	ck_assert(!fake_sweep_wanted(h));
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A trap arrives from a switch whose table, as repaired, has no entry for OpenSM's LID. */
START_TEST(trap_without_path)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw("a: b c h2\nb: c h2\nc: d\nd: h2\n") });
	ftr_sw d = h->fab->ep[h->fab->n_ep - 1].sw;

	fake_link(h, d, fake_uplink(h, d, 0), false);
	fake_settle(h);
	fake_trap(h, d, 128);
	fake_settle(h);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Two switches are cut off, and a trap of the farther one arrives afterwards.  ddlr has left their entries for
 * OpenSM's LID: no request is sent over the dead link. */
static void count_lost(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	unsigned int *lost = ctx;

	(void)fate;
	*lost += p->plugin && p->to == FTR_SW_NONE;
}

START_TEST(trap_over_dead_link)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw("a: b c h2\nb: c h2\nc: d h1\nd: e h1\ne: h2\n"), .engine = "ddlr",
	});
	ftr_sw e = h->fab->ep[h->fab->n_ep - 1].sw, d = ftr_fabric_next(h->fab, e, fake_uplink(h, e, 0));
	unsigned int lost = 0;

	while (h->fast->rr.view->making && rr_planner_is_busy(h->fast->rr.view->making, 100))
		;
	fake_link(h, d, fake_uplink(h, d, 0), false);
	fake_settle(h);
	fake_set_fate(h, count_lost, &lost);
	fake_trap(h, e, 128);
	fake_settle(h);
	ck_assert_uint_eq(lost, 0);
	fake_set_fate(h, NULL, NULL);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* OpenSM runs on a switch: the directed routes of the fast path begin at its port 0. */
START_TEST(manager_on_switch)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .not_up = true });

	h->on_switch = true;
	h->osm->subn.sm_port_guid = cl_hton64(h->fab->sw[h->fab->ep[h->sm].sw].guid);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_settle(h);
	ck_assert_msg(fake_logged(h, "IBF004: fast reroute 1: ") == 1, "%s", h->log);
	fake_check_repaired(h);
	/* an uplink of OpenSM's switch fails without a trap: packets are lost, and sent over another one */
	fake_link_quietly(h, fake_leaf(h, 0), fake_uplink(h, fake_leaf(h, 0), 0), false);
	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 3), false);
	fake_settle(h);
	ck_assert_msg(fake_logged(h, "IBF004: fast reroute 2: ") == 1, "%s", h->log);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	/* a failed switch and an uplink of OpenSM's switch */
	fake_switch(h, fake_spine(h, 2), false);
	fake_settle(h);
	fake_check_repaired_in_parts(h);
	fake_free(h);
}
END_TEST

/* OpenSM loses the table of a switch while the engine reads it: nothing is stored. */
static void lose_table(void *ctx, struct fake *h, enum fake_moment m)
{
	uint8_t **lft = ctx;
	osm_switch_t *sw = h->osw[fake_leaf(h, 2)];

	if (m == FAKE_LOCKED) {
		*lft = sw->lft;
		sw->lft = NULL;
	} else if (m == FAKE_ROUTING) {
		sw->lft = *lft;
	}
}

START_TEST(no_table)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	uint8_t *lft = NULL;

	fail_link(h);
	h->moment = lose_table;
	h->moment_ctx = &lft;
	fake_sweep(h);
	fake_settle(h);
	h->moment = NULL;
	ck_assert_ptr_nonnull(lft);
	ck_assert_uint_eq(fake_logged(h, "OpenSM has no table up to LID "), 2);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert_ptr_nonnull(plugin(h)->routed);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A block that the next sweep should write again is one of a switch that OpenSM has removed. */
START_TEST(rewrite_of_removed_switch)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct ibf_fast *f = h->fast;

	f->suspect = realloc(f->suspect, sizeof(*f->suspect));
	ck_assert_ptr_nonnull(f->suspect);
	f->suspect[0] = (struct ibf_suspect){ 99, 0 };
	f->n_suspects = 1;
	ibf_patch_rewrite(f);
	ck_assert_uint_eq(f->n_suspects, 0);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* ---- routings ------------------------------------------------------------------------------------- */

static const struct ftr_engine_ops *real_ops;

static enum ftr_status route_without_order(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
					   struct ftr_team *team, struct ftr_tables *out,
					   struct ftr_route_stats *stats, struct ftr_err *err)
{
	enum ftr_status st = real_ops->route(sh, opts, team, out, stats, err);

	stats->order_known = false;
	return st;
}

/* The engine does not know the order of the switches (sftree with more than 255 levels): the mixtures of
 * the old and the new tables are judged by the graph of all dependencies. */
START_TEST(order_unknown)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	struct ibf_engine *e = plugin(h)->routed;
	struct ftr_engine_ops ops = *e->ops;
	unsigned int n = fake_logged(h, "were replaced in a checked order");

	real_ops = e->ops;
	ops.route = route_without_order;
	e->ops = &ops;
	for (int i = 0; i < 2; i++) {	/* also with known ranks after unknown ones */
		fake_link_quietly(h, fake_leaf(h, i), fake_uplink(h, fake_leaf(h, i), 1), false);
		fake_check_sweep(h);
		ck_assert_uint_gt(fake_logged(h, "were replaced in a checked order"), n);
		n = fake_logged(h, "were replaced in a checked order");
		fake_check_healed(h);
		e->ops = real_ops;
	}
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	fake_free(h);
}
END_TEST

/* OpenSM's copy of a table has a port that the switch does not have: the block is read. */
START_TEST(impossible_port)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	ftr_sw leaf = fake_leaf(h, 1);

	fake_link_quietly(h, leaf, fake_uplink(h, leaf, 1), false);
	h->osw[leaf]->lft[h->fab->ep[h->fab->n_ep - 1].lid] = 200;
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* The manager loses the mastership in the middle of a transition; one switch has not answered, and one
 * has no link. */
static ftr_sw deaf;

static void hand_over(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct fake *h = ctx;

	fate->lose_request = p->plugin && p->to == deaf;
	if (p->plugin && p->set && p->to == deaf)
		__atomic_store_n(&h->osm->subn.sm_state, IB_SMINFO_STATE_STANDBY, __ATOMIC_RELAXED);
}

START_TEST(handed_over)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });

	deaf = fake_leaf(h, 1);
	fake_link_quietly(h, deaf, fake_uplink(h, deaf, 1), false);
	fake_set_fate(h, hand_over, h);
	fake_sweep(h);
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
	ck_assert_msg(fake_logged(h, "the next master replaces the remaining ") == 1, "%s", h->log);
	fake_check_sound(h);
	h->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* OpenSM ends while the tables of the switches are read (option "adopt"). */
static void end_opensm(void *ctx, struct fake *h, enum fake_moment m)
{
	(void)ctx;
	(void)h;
	if (m == FAKE_LOCKED || m == FAKE_ROUTING)
		__atomic_store_n(&osm_exit_flag, m == FAKE_LOCKED, __ATOMIC_RELAXED);
}

START_TEST(end_while_reading)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "adopt yes\n", .not_up = true });

	h->moment = end_opensm;
	fake_sweep(h);
	fake_settle(h);
	h->moment = NULL;
	ck_assert_uint_eq(fake_logged(h, "tables read from the switches: 0 of "), 1);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Two leaves have no up/down path by the ranks of root_guid_file, and the option forbids others. */
START_TEST(barred)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;2,3;1,2;1,1", .options = _i ? "paths updown\n" : "paths updown\nlog_samples 0\n", .not_up = true,
	});
	const struct ftr_fabric *f = h->fab;
	char roots[128], text[128];

	snprintf(text, sizeof(text), "0x%" PRIx64 "\n0x%" PRIx64 "\n", f->sw[fake_spine(h, 0)].guid,
		 f->sw[fake_spine(h, 1)].guid);
	write_text(h, "roots", text, roots);
	h->osm->subn.opt.root_guid_file = roots;
	fake_link_quietly(h, fake_leaf(h, 0), fake_uplink(h, fake_leaf(h, 0), 0), false);
	fake_link_quietly(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, "by the ranks that root_guid_file gives; they are not routed") == 1, "%s", h->log);
	ck_assert_int_eq(fake_logged(h, "host ports are affected") > 0, _i);
	h->osm->subn.opt.root_guid_file = NULL;
	ck_assert(!unlink(roots));
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("states of the plugin and of OpenSM");
	TCase *c = tcase_create("all");

	tcase_add_test(c, observes);
	tcase_add_test(c, adopts_without_fast_path);
	tcase_add_loop_test(c, metrics, 0, 2);
	tcase_add_test(c, lists_of_others);
	tcase_add_test(c, engine_names);
	tcase_add_test(c, setup);
	tcase_add_test(c, new_options);
	tcase_add_loop_test(c, own_state, 0, 3);
	tcase_add_test(c, drains_change);
	tcase_add_loop_test(c, drain_needs_all_tables, 0, 2);
	tcase_add_loop_test(c, undrained, 0, 3);
	tcase_add_test(c, only_link);
	tcase_add_test(c, returning_links_of_others);
	tcase_add_test(c, trap_without_path);
	tcase_add_test(c, manager_on_switch);
	tcase_add_test(c, trap_over_dead_link);
	tcase_add_test(c, no_table);
	tcase_add_test(c, rewrite_of_removed_switch);
	tcase_add_test(c, order_unknown);
	tcase_add_test(c, impossible_port);
	tcase_add_test(c, handed_over);
	tcase_add_test(c, end_while_reading);
	tcase_add_loop_test(c, barred, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
