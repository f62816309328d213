// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin when a thread does not start, when OpenSM refuses what the plugin asks for, and in
 * rare states of OpenSM: no list of engines, packets of others, the end of OpenSM during a write.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/draw.h"
#include "lib/drain_file.h"
#include "lib/suite.h"
#include "unit/fast_plans.h"
#include "osm/host.h"
#include "osm/name.h"
#include <vendor/osm_vendor_api.h>

extern osm_event_plugin_t osm_event_plugin;
extern volatile unsigned int osm_exit_flag;

static const char tree[] = "2;2,2;1,2;1,1";

static struct ibf_plugin *plugin(struct fake *h)
{
	return h->plugin;
}

static void change_link(struct fake *h, bool up)
{
	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), up);
	fake_settle(h);
}

/* ---- calls that fail ------------------------------------------------------------------- */

static int countdown;	/* the call that makes it 0 fails; 0: none */
static int no_message_ids, no_bind, no_engine, lose_wrappers;
static osm_vend_mad_recv_callback_t receive;
static osm_vend_mad_send_err_callback_t failed;
static void *context;
static bool zero_tid;
static struct fake *host;	/* for packets without wrappers */

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	return countdown && !--countdown ? EAGAIN : __real_pthread_create(t, attr, run, arg);
}

cl_disp_reg_handle_t __real_cl_disp_register(cl_dispatcher_t *d, cl_disp_msgid_t id, cl_pfn_msgrcv_cb_t fn,
					     const void *ctx);
cl_disp_reg_handle_t __wrap_cl_disp_register(cl_dispatcher_t *d, cl_disp_msgid_t id, cl_pfn_msgrcv_cb_t fn,
					     const void *ctx)
{
	if (id >= OSM_MSG_MAX && id != CL_DISP_MSGID_NONE && no_message_ids > 0) {
		no_message_ids--;
		return CL_DISP_INVALID_HANDLE;
	}
	return __real_cl_disp_register(d, id, fn, ctx);
}

osm_bind_handle_t __real_osm_vendor_bind(osm_vendor_t *vendor, osm_bind_info_t *info, osm_mad_pool_t *pool,
					 osm_vend_mad_recv_callback_t rcv, osm_vend_mad_send_err_callback_t error,
					 void *ctx);
osm_bind_handle_t __wrap_osm_vendor_bind(osm_vendor_t *vendor, osm_bind_info_t *info, osm_mad_pool_t *pool,
					 osm_vend_mad_recv_callback_t rcv, osm_vend_mad_send_err_callback_t error,
					 void *ctx)
{
	if (no_bind)
		return NULL;
	receive = rcv;
	failed = error;
	context = ctx;
	return __real_osm_vendor_bind(vendor, info, pool, rcv, error, ctx);
}

ib_api_status_t __real_osm_vendor_send(osm_bind_handle_t b, osm_madw_t *madw, boolean_t answer);
ib_api_status_t __wrap_osm_vendor_send(osm_bind_handle_t b, osm_madw_t *madw, boolean_t answer)
{
	zero_tid |= !(cl_ntoh64(osm_madw_get_smp_ptr(madw)->trans_id) & UINT32_MAX);
	return __real_osm_vendor_send(b, madw, answer);
}

osm_madw_t *__real_osm_mad_pool_get(osm_mad_pool_t *pool, osm_bind_handle_t b, uint32_t size,
				    const osm_mad_addr_t *addr);
osm_madw_t *__wrap_osm_mad_pool_get(osm_mad_pool_t *pool, osm_bind_handle_t b, uint32_t size,
				    const osm_mad_addr_t *addr)
{
	bool plugin = b && host && !pthread_equal(pthread_self(), fake_wire_thread(host));

	return lose_wrappers && plugin && lose_wrappers-- % 2 ? NULL : __real_osm_mad_pool_get(pool, b, size, addr);
}

cl_status_t __real_osm_register_external_routing_engine(osm_opensm_t *osm,
							const external_routing_engine_module_t *m, void *ctx);
cl_status_t __wrap_osm_register_external_routing_engine(osm_opensm_t *osm,
							const external_routing_engine_module_t *m, void *ctx)
{
	return !strcmp(m->name, "sftree") && no_engine ? CL_INSUFFICIENT_MEMORY :
		__real_osm_register_external_routing_engine(osm, m, ctx);
}

static int overtaken_check;	/* number of checks until OpenSM routes and the check fails; 0: never */

static int finding = -1;	/* the check of a local repair has this finding, too; -1: none */

enum ftr_status __real_ftr_check_changes(const struct ftr_fabric *f, const struct ftr_tables *t,
					 const struct ftr_check_delta *d, struct ftr_delta_report *rep,
					 struct ftr_err *err);
enum ftr_status __wrap_ftr_check_changes(const struct ftr_fabric *f, const struct ftr_tables *t,
					 const struct ftr_check_delta *d, struct ftr_delta_report *rep,
					 struct ftr_err *err)
{
	enum ftr_status st = __real_ftr_check_changes(f, t, d, rep, err);

	if (overtaken_check && !--overtaken_check) {
		ibf_fast_post(host->fast, RR_EV_ROUTING);
		return ftr_fail(err, FTR_REFUSED, "OpenSM routes");
	}
	if (!st && finding >= 0)
		rep->found[finding]++;
	return st;
}

static bool repeat_write;	/* a plan writes its last entry twice */

enum ftr_status __real_rr_planner_events(struct rr_planner *p, const struct ftr_hop *ev, uint32_t n,
					 struct ftr_ddlr_plan *plan, struct ftr_err *err);
enum ftr_status __wrap_rr_planner_events(struct rr_planner *p, const struct ftr_hop *ev, uint32_t n,
					 struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	enum ftr_status st = __real_rr_planner_events(p, ev, n, plan, err);

	if (!st && repeat_write && plan->n) {
		plan->write = realloc(plan->write, (plan->n + 1) * sizeof(plan->write[0]));
		ck_assert_ptr_nonnull(plan->write);
		plan->write[plan->n] = plan->write[plan->n - 1];
		plan->write[plan->n++].step = (uint16_t)++plan->n_steps;
		repeat_write = false;
	}
	return st;
}

static const struct refusal {
	int thread, ids, bind;
	const char *says;
	bool fast;
} refusal[] = {
	{ .thread = 1, .says = "no events, host order or state file will be written", .fast = true },
	{ .thread = 2, .says = "parts cannot be drained: no memory, or no thread", .fast = true },
	{ .thread = 3, .says = "fast reroute is off: its thread could not be started" },
	{ .ids = 1, .says = "IBF001: ", .fast = true },
	{ .ids = 64, .says = "fast reroute is off: OpenSM's dispatcher has no free message id" },
	{ .bind = 1, .says = "fast reroute is off: a second bind to port 0x" },
};

/* A part of the plugin does not start.  The others work. */
START_TEST(starts)
{
	const struct refusal *r = &refusal[_i];
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	unsigned int before = fake_logged(h, r->says);

	countdown = r->thread;
	no_message_ids = r->ids;
	no_bind = r->bind;
	fake_restart(h, false);
	countdown = no_message_ids = no_bind = 0;
	ck_assert_msg(fake_logged(h, r->says) == before + 1, "case %d: %s", _i, h->log);
	ck_assert_int_eq(h->fast != NULL, r->fast);
	ck_assert(fake_sweep(h));
	if (h->fast) {
		fake_settle(h);
		change_link(h, false);
		ck_assert_uint_eq(fake_logged(h, "IBF004: fast reroute 1: "), 1);
	}
	ck_assert(fake_sweep(h));
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The threads that help the engine do not start: one thread routes. */
START_TEST(no_team)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "threads 4\n", .not_up = true });

	countdown = 1;
	fake_check_sweep(h);
	countdown = 0;
	ck_assert_uint_eq(fake_logged(h, "no threads could be started; one thread routes"), 1);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "no threads could be started; one thread routes"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A search does not start; the next sweep tries again. */
START_TEST(no_thread_for_search)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "balance full\n", .not_up = true });
	struct ibf_prefer *r;

	countdown = 1;
	fake_check_sweep(h);
	ck_assert_int_eq(countdown, 0);
	r = &plugin(h)->routed->prefer;
	ck_assert_ptr_null(r->search);
	ck_assert_int_eq(r->stage, IBF_COMPUTED);
	fake_check_sweep(h);
	ck_assert(r->search || r->stage == IBF_CONFIRMED);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* OpenSM refuses an engine, and its list of engines is empty; the option file is a directory. */
START_TEST(creation)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	osm_subn_opt_t *opt = &h->osm->subn.opt;
	char *names = opt->routing_engine_names, *options = opt->event_plugin_options, path[128];
	struct ibf_plugin *p;
	struct osm_routing_engine *re, *old = h->osm->routing_engine_list;
	unsigned int n = fake_logged(h, "all options of this plugin have their defaults");

	/* a second plugin, without the fast path */
	snprintf(path, sizeof(path), "%s/conf2", h->dir);
	ck_assert(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "ibfattree:%s/conf2", h->dir);
	opt->event_plugin_options = path;
	opt->routing_engine_names = NULL;
	no_engine = no_bind = 1;
	h->osm->routing_engine_list = NULL;
	p = osm_event_plugin.create(h->osm);
	no_engine = no_bind = 0;
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(fake_logged(h, "OpenSM refuses the routing engine sftree: "), 1);
	ck_assert_uint_eq(fake_logged(h, "all options of this plugin have their defaults"), n + 1);
	for (unsigned int i = 0; i < p->n_engines; i++)
		ck_assert_str_ne(p->engine[i].ops->name, "sftree");
	p->swept = true;
	osm_event_plugin.report(p, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	ck_assert_uint_eq(fake_logged(h, "no routing engine routed in the last sweep"), 0);
	osm_event_plugin.delete(p);
	while ((re = h->osm->routing_engine_list)) {
		h->osm->routing_engine_list = re->next;
		free(re);
	}
	h->osm->routing_engine_list = old;
	opt->event_plugin_options = options;
	opt->routing_engine_names = names;
	snprintf(path, sizeof(path), "%s/conf2", h->dir);
	ck_assert(!rmdir(path));
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- packets ------------------------------------------------------------------------------ */

/* OpenSM's counter of transaction ids overflows, and the pool of MAD wrappers is empty for a while:
 * the plugin sends no packet with transaction id 0, and repairs the tables. */
START_TEST(odd_packets)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });

	host = h;
	h->osm->sm.sm_trans_id = (atomic32_t)-3;
	lose_wrappers = 5;
	change_link(h, false);
	ck_assert_int_eq(lose_wrappers, 0);
	ck_assert(!zero_tid);
	fake_check_repaired(h);
	fake_free(h);
}
END_TEST

/* A packet that is no answer, and requests that are not the plugin's, change nothing. */
START_TEST(packets_of_others)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	osm_madw_t *madw[4];

	for (int i = 0; i < 4; i++)
		madw[i] = osm_mad_pool_get(&h->osm->mad_pool, NULL, MAD_BLOCK_SIZE, NULL);
	memset(&madw[3]->context, 0xff, sizeof(madw[3]->context));
	receive(madw[0], context, NULL);
	receive(madw[1], context, madw[2]);
	failed(context, madw[3]);
	change_link(h, false);
	fake_check_repaired(h);
	fake_free(h);	/* all four were returned to the pool */
}
END_TEST

/* ---- checks ------------------------------------------------------------------------------------ */

static const struct check {
	enum ftr_finding finding;
	bool unrepaired;	/* the fault takes the only path */
	bool refused;
} check[] = {
	{ FTR_FIND_LOOP, false, true }, { FTR_FIND_WRONG_END, false, true }, { FTR_FIND_DEAD_PORT, false, true },
	{ FTR_FIND_TURN, false, false }, { FTR_FIND_DEAD_PORT, true, false },
};

/* The check of a local repair of ddlr has a finding: the repair is not written.  A path may end at a
 * dead port if the plan says that it cannot repair all entries. */
START_TEST(local_repair_is_refused)
{
	const struct check *c = &check[_i];
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = c->unrepaired ? "2;2,2;1,1;1,1" : "2;4,4;1,4;1,1", .engine = "ddlr",
	});
	uint32_t sets = fake_count_sets(h);
	ftr_sw leaf = h->fab->ep[h->fab->n_ep - 1].sw;

	wait_for_planner(h);
	finding = (int)c->finding;
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	finding = -1;
	ck_assert_msg((fake_logged(h, "the planned local repair leads to") > 0) == c->refused, "%s", h->log);
	ck_assert(c->unrepaired || (fake_count_sets(h) == sets) == c->refused);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A plan writes an entry twice: the last write counts. */
START_TEST(entry_twice)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .engine = "ddlr" });
	ftr_sw leaf = h->fab->ep[h->fab->n_ep - 1].sw;

	wait_for_planner(h);
	repeat_write = true;
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	ck_assert(!repeat_write);
	ck_assert_uint_eq(fake_logged(h, "local repair 1: "), 1);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* OpenSM begins to route after a local repair, during the check of the tables that should follow.  The
 * local repair stays until the routing. */
START_TEST(overtaken)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .engine = "ddlr" });
	ftr_sw s = h->fab->ep[h->fab->n_ep - 1].sw;

	host = h;
	wait_for_planner(h);
	overtaken_check = 2;
	fake_link(h, s, fake_uplink(h, s, 0), false);
	fake_settle(h);
	ck_assert_int_eq(overtaken_check, 0);
	ck_assert_uint_eq(fake_logged(h, "local repair 1: "), 1);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* ---- states of OpenSM ------------------------------------------------------------------------ */

/* OpenSM has swept, and reports a routing for which it has called no engine (use_ucast_cache). */
START_TEST(cached_routing)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct osm_routing_engine *used;

	h->osm->subn.opt.use_ucast_cache = TRUE;
	fake_check_sweep(h);
	fake_check_sweep(h);
	ck_assert_uint_eq(fake_logged(h, "use_ucast_cache is TRUE"), 1);
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_SUBNET_UP, NULL);
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_UCAST_ROUTING_DONE, NULL);
	ck_assert_ptr_null(plugin(h)->routed);
	fake_check_sweep(h);
	/* no engine has routed: what was routed before counts */
	used = h->osm->routing_engine_used;
	h->osm->routing_engine_used = NULL;
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_UCAST_ROUTING_DONE, NULL);
	h->osm->routing_engine_used = used;
	ck_assert_ptr_nonnull(plugin(h)->routed);
	fake_check_sweep(h);
	ck_assert_ptr_nonnull(plugin(h)->routed);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* No engine has routed.  That is reported by the master only. */
START_TEST(no_engine_of_standby)
{
	static const char says[] = "no routing engine routed in the last sweep";
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });

	h->fail_routing = h->no_memory = true;
	fake_sweep(h);
	fake_settle(h);
	h->fail_routing = h->no_memory = false;
	h->osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	ck_assert_uint_eq(fake_logged(h, says), 0);
	h->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	ck_assert_uint_eq(fake_logged(h, says), 1);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The engine is named twice: the second entry of the list is not used. */
START_TEST(named_twice)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct ibf_engine *e = plugin(h)->routed;
	struct osm_routing_engine second = { .name = "dmodc", .context = e };
	const void *first = e->host;

	ck_assert_int_eq(ibf_engine_setup(&second, h->osm), 0);
	ck_assert_ptr_eq(e->host, first);
	ck_assert_ptr_nonnull(second.ucast_build_fwd_tables);
	fake_free(h);
}
END_TEST

/* The manager runs on a switch, or its port is unknown; switches have M_Keys of their own, or not. */
START_TEST(manager)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	const struct ftr_fabric *f = plugin(h)->routed->gen->fabric;
	osm_subn_t *subn = &h->osm->subn;
	ib_net64_t guid = subn->sm_port_guid;
	struct ftr_hop at;
	ftr_lid lid;

	ibf_find_manager(h->plugin, f, &at, &lid);
	ck_assert_uint_eq(lid, f->ep[ftr_fabric_find_ep(f, cl_ntoh64(guid))].lid);
	subn->sm_port_guid = cl_hton64(f->sw[1].guid);
	ibf_find_manager(h->plugin, f, &at, &lid);
	ck_assert(at.sw == 1 && !at.port && lid == f->sw[1].lid);
	subn->sm_port_guid = 77;
	ibf_find_manager(h->plugin, f, &at, &lid);
	ck_assert(at.sw == FTR_SW_NONE && !lid);
	subn->sm_port_guid = guid;
	subn->opt.m_key = 5;
	h->sw_node[0]->physp_table[0].port_info.m_key = 6;
	ck_assert_uint_eq(ibf_m_key(h->plugin, h->osw[0]), 5);
	subn->opt.m_key_lookup = TRUE;
	ck_assert_uint_eq(ibf_m_key(h->plugin, h->osw[0]), 6);
	ck_assert_uint_eq(ibf_m_key(h->plugin, NULL), 5);
	h->sw_node[0]->physp_table[0].port_guid = 0;	/* no port 0 */
	ck_assert_uint_eq(ibf_m_key(h->plugin, h->osw[0]), 5);
	h->sw_node[0]->physp_table[0].port_guid = h->sw_node[0]->physp_table[1].port_guid;
	subn->opt.m_key = 0;
	subn->opt.m_key_lookup = FALSE;
	subn->opt.dump_files_dir = NULL;
	ck_assert_str_eq(ibf_dump_dir(h->plugin), "/var/log");
	subn->opt.dump_files_dir = h->dir;
	fake_free(h);
}
END_TEST

/* Another manager, on a port that is not in the fabric, does not change the routing.  The options file
 * vanishes: the options stay, and that is reported once. */
START_TEST(unknown_manager)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "balance load\n" });
	osm_remote_sm_t other = { .smi = { .guid = 77 } };
	char path[128];

	cl_qmap_insert(&h->osm->subn.sm_guid_tbl, other.smi.guid, &other.map_item);
	snprintf(path, sizeof(path), "%s/conf", h->dir);
	ck_assert(!unlink(path));
	for (int i = 0; i < 2; i++) {
		fake_check_sweep(h);
		ck_assert_uint_eq(h->changed_entries, 0);
	}
	ck_assert_msg(fake_logged(h, "ERR IBF201: ") == 1 && fake_logged(h, "/conf: ") == 1, "%s", h->log);
	ck_assert_uint_eq(plugin(h)->routed->gen->opts.n_sm, 1);
	ck_assert_int_eq(plugin(h)->opt.balance, FTR_BALANCE_LOAD);
	cl_qmap_remove_item(&h->osm->subn.sm_guid_tbl, &other.map_item);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Three switches are reported as failed, and return without traps: a sweep reports each once. */
START_TEST(switches_return)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,4;1,5;1,1" });

	for (unsigned int i = 0; i < 3; i++) {
		fake_switch(h, fake_spine(h, i), false);
		fake_settle(h);
		fake_check_sweep(h);
	}
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-down\""), 3);
	for (unsigned int i = 0; i < 3; i++) {
		ftr_sw s = fake_spine(h, i);

		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
			fake_link_quietly(h, s, (ftr_port)p, true);
	}
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-up\""), 3);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* A switch that has a link to itself fails. */
START_TEST(switch_with_loop)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw("x: a b h1\ny: y a b\na: h1\nb: h1\n") });

	fake_switch(h, draw_sw(h->fab, "y"), false);
	fake_settle(h);
	fake_check_sweep(h);
	ck_assert_msg(fake_events(h, "\"event\":\"switch-down\"") == 1, "%s", h->log);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The directory of the state files: not set, missing, with a file whose name has no GUID. */
START_TEST(state_directory)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct ibf_plugin *p = h->plugin;
	const struct ftr_fabric *f = p->routed->gen->fabric;
	const struct ftr_shape_opts opts = { .leaf_order = (enum ftr_leaf_order)p->opt.leaf_order };
	char from[256], to[256];
	unsigned int n = fake_logged(h, "the nominal fabric is the present fabric");

	snprintf(from, sizeof(from), "%s/ibfattree-state-%016" PRIx64, h->dir, cl_ntoh64(h->osm->subn.sm_port_guid));
	snprintf(to, sizeof(to), "%s/ibfattree-state-000000000000000g", h->dir);
	fake_flush(h);
	for (int i = 0; i < 5; i++) {
		bool found = i == 4;

		if (i < 2)
			ck_assert(i ? !setenv("OSM_CACHE_DIR", "", 1) : !unsetenv("OSM_CACHE_DIR"));
		else
			ck_assert(!setenv("OSM_CACHE_DIR", i == 2 ? "/nonexistent" : h->dir, 1));
		if (i == 3)
			ck_assert(!rename(from, to));
		if (i == 4)
			ck_assert(!rename(to, from));
		ibf_nominal_forget(p);
		ibf_prefer_drop(p->routed);
		ibf_nominal_put(ibf_nominal_for(p, f, &opts));
		n += !found;
		ck_assert_uint_eq(fake_logged(h, "the nominal fabric is the present fabric"), n);
	}
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Another fabric has been connected: few switches and hosts of the nominal fabric are left. */
START_TEST(another_fabric)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct ibf_plugin *p = h->plugin;
	struct ftr_fabric *f = draw("a: b c h2\nb: h2\nc: h1\n");
	const struct ftr_shape_opts opts = { .leaf_order = (enum ftr_leaf_order)p->opt.leaf_order };
	struct ibf_nominal *n = ibf_nominal_for(p, f, &opts);

	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->n->f->n_sw, 3);
	ck_assert_uint_eq(fake_logged(h, "this is another fabric: 0 of 4 switches and 0 of 4 host ports"), 1);
	ibf_nominal_put(n);
	ftr_fabric_free(f);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* OpenSM ends while the fast path writes and a sweep waits for it. */
static volatile double ended_at;	/* time at which OpenSM ends; 0: not yet */

static void end_opensm(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	(void)ctx;
	if (!p->plugin || !p->set)
		return;
	fate->lose_request = true;
	if (!ended_at) {
		ended_at = fake_time();
		__atomic_store_n(&osm_exit_flag, 1, __ATOMIC_RELAXED);
	}
}

START_TEST(end_during_write)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "fast_timeout_ms 4000\n" });

	ended_at = 0;
	fake_set_fate(h, end_opensm, NULL);
	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_until(ended_at > 0);
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	osm_event_plugin.report(h->plugin, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	ck_assert(fake_time() - ended_at < 4000);	/* the sweep has not waited for the write */
	fake_set_fate(h, NULL, NULL);
	__atomic_store_n(&osm_exit_flag, 0, __ATOMIC_RELAXED);
	fake_settle(h);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- hosts without paths --------------------------------------------------------------------- */

static const struct apart {
	const char *fabric, *options, *says, *says_not;
} apart[] = {
	{ "a: b h2 an\nb: h1\n", "log_samples 16\n", "3 host ports are affected", "Aggregation" },
	{ "a: b h2\nb: h2\n", "log_samples 0\n", "until links connect their switches", "are affected" },
	{ "a: b h2\nb: h2\n", "log_samples 3\n", "4 host ports are affected", NULL },
	{ "a: b h60\nb: h60\n", "log_samples 16\n", "120 host ports are affected", NULL },
	{ "a: d h1\nb: e h1\nc: d e h1\nd:\ne:\n", "paths updown\n",
	  "no up/down path for 2 pairs of hosts; they are not routed", "by the ranks that root_guid_file gives" },
};

/* OpenSM does not know the far end of the link while it routes. */
static void part(void *ctx, struct fake *h, enum fake_moment m)
{
	osm_physp_t **far = ctx, *p = &h->sw_node[0]->physp_table[1];

	if (m == FAKE_LOCKED) {
		*far = p->p_remote_physp;
		p->p_remote_physp = (*far)->p_remote_physp = NULL;
	} else if (m == FAKE_ROUTING) {
		p->p_remote_physp = *far;
		(*far)->p_remote_physp = p;
		h->moment = NULL;
	}
}

START_TEST(islands)
{
	osm_physp_t *far;
	const struct apart *a = &apart[_i];
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw(a->fabric), .options = a->options, .not_up = true,
	});

	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		if (_i == 3) {
			free(h->ep_node[e]->print_desc);
			h->ep_node[e]->print_desc = strdup("a host with a name that is longer than those of most other hosts, and that is not unique");
		}
	h->moment_ctx = &far;
	h->moment = _i < 4 ? part : NULL;
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, a->says) == 1, "case %d: %s", _i, h->log);
	ck_assert(!a->says_not || !fake_logged(h, a->says_not));
	ck_assert_ptr_nonnull(plugin(h)->routed);
	fake_free(h);
}
END_TEST

/* ---- drained parts ----------------------------------------------------------------------------- */

static void await_drains(struct fake *h, const char *says, unsigned int n)
{
	for (int looks = 0; fake_logged(h, says) < n; looks++) {
		ck_assert_msg(looks < 120000, "the drains are not read: %s", h->log);
		usleep(1000);	/* the thread that reads the file uses the real clock */
	}
}

/* Wait until the status file says why the drains are not read, or no longer. */
static void await_error(struct fake *h, bool is)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -q garbage %s/ibfattree-status.json", h->dir);
	for (int looks = 0; !system(command) != is; looks++) {
		ck_assert_int_lt(looks, 120000);
		usleep(1000);
	}
}

/* Each change of the file is noticed; the same request with another number of parts is a change;
 * a file that did not change what is drained causes no sweep. */
START_TEST(drains)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,4;1,4;1,1", .options = "status_files on\n" });
	ftr_sw leaf = fake_leaf(h, 1);
	struct ftr_drain part[2] = {
		{ .guid = h->fab->sw[leaf].guid, .port = fake_uplink(h, leaf, 0), .by = "test" },
		{ .guid = h->fab->sw[leaf].guid, .port = fake_uplink(h, leaf, 1), .by = "test" },
	};
	struct ftr_drains d = { .request = 7, .n = 1, .part = part };
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/conf.drains", h->dir);
	ck_assert(write_drains(path, &d));
	await_drains(h, "request=0x7 drained=1 part", 1);
	fake_until(fake_sweep_wanted(h));
	fake_check_sweep(h);
	d.n = 2;
	ck_assert(write_drains(path, &d));
	await_drains(h, "request=0x7 drained=2 parts", 1);
	fake_until(fake_sweep_wanted(h));
	fake_check_sweep(h);
	ck_assert_uint_eq(plugin(h)->routed->gen->drained.links, 2);
	/* a standby reads the file, and does not sweep */
	h->osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	d.request = 8;
	ck_assert(write_drains(path, &d));
	await_drains(h, "request=0x8 drained=2 parts", 1);
	/* the same file becomes invalid, and valid again: it is not used meanwhile, and the parts stay drained */
	out = fopen(path, "a");
	ck_assert(out && fputs("garbage\n", out) > 0 && !fclose(out));
	await_drains(h, "the drained parts stay as they were: 2 parts", 1);
	await_error(h, true);
	ck_assert(write_drains(path, &d));
	await_error(h, false);
	ck_assert(!fake_sweep_wanted(h));
	ck_assert_uint_eq(fake_logged(h, "request=0x8 drained=2 parts"), 1);
	h->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	fake_check_sweep(h);
	ck_assert_uint_eq(plugin(h)->routed->gen->drained.links, 2);
	ck_assert(!unlink(path));
	await_drains(h, "request=0x0 drained=0 parts", 1);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calls");
	TCase *c = tcase_create("all");

	tcase_add_loop_test(c, starts, 0, (int)FTR_ARRAY_LEN(refusal));
	tcase_add_test(c, no_team);
	tcase_add_test(c, no_thread_for_search);
	tcase_add_test(c, creation);
	tcase_add_test(c, odd_packets);
	tcase_add_test(c, packets_of_others);
	tcase_add_loop_test(c, local_repair_is_refused, 0, (int)FTR_ARRAY_LEN(check));
	tcase_add_test(c, entry_twice);
	tcase_add_test(c, overtaken);
	tcase_add_test(c, cached_routing);
	tcase_add_test(c, no_engine_of_standby);
	tcase_add_test(c, named_twice);
	tcase_add_test(c, manager);
	tcase_add_test(c, unknown_manager);
	tcase_add_test(c, switches_return);
	tcase_add_test(c, switch_with_loop);
	tcase_add_test(c, state_directory);
	tcase_add_test(c, another_fabric);
	tcase_add_test(c, end_during_write);
	tcase_add_loop_test(c, islands, 0, (int)FTR_ARRAY_LEN(apart));
	tcase_add_test(c, drains);
	suite_add_tcase(s, c);
	return run_suite(s);
}
