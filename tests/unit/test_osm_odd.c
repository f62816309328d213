// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin with data of OpenSM that contradict each other while it routes, members of multicast
 * groups that are not in the fabric, and changes of OpenSM's data while the plugin writes.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/draw.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "osm/clock.h"
#include "osm/metrics.h"
#include "osm/transport.h"
#include <opensm/osm_multicast.h>

static const char tree[] = "2;2,2;1,2;1,1";

static struct ibf_plugin *plugin(struct fake *h)
{
	return h->plugin;
}

/* ---- contradictions ---------------------------------------------------------------------- */

static struct fake *host;	/* for the functions below */
static osm_physp_t *saved;
static ib_net64_t saved_guid;

static osm_physp_t *host_port(void)
{
	return host->ep_port[1]->p_physp;
}

static osm_physp_t *uplink(unsigned int i)
{
	ftr_sw leaf = fake_leaf(host, 0);

	return &host->sw_node[leaf]->physp_table[fake_uplink(host, leaf, i)];
}

static void far_end_invalid(bool make)
{
	if (make)
		saved_guid = host_port()->p_remote_physp->port_guid;
	host_port()->p_remote_physp->port_guid = make ? 0 : saved_guid;
}

static void no_port_0(bool make)
{
	osm_physp_t *port = &host->sw_node[0]->physp_table[0];

	if (make)
		saved_guid = port->port_guid;
	port->port_guid = make ? 0 : saved_guid;
}

/* A switch without ports. */
static void no_ports(bool make)
{
	ftr_sw s = fake_spine(host, 0);

	host->osw[s]->num_ports = (uint8_t)(make ? 1 : host->fab->sw[s].n_ports + 1);
}

/* Two ports of a switch lead to the same port. */
static void same_far_end(bool make)
{
	if (make)
		saved = uplink(1)->p_remote_physp;
	uplink(1)->p_remote_physp = make ? uplink(0)->p_remote_physp : saved;
}

/* The far end of a link between switches is a port that the other switch does not have. */
static void far_port_too_high(bool make)
{
	ftr_sw s = fake_spine(host, 0);

	host->osw[s]->num_ports = (uint8_t)(make ? 2 : host->fab->sw[s].n_ports + 1);
}

/* The far end of a link is Active, and the near end is not. */
static void half_active(bool make)
{
	osm_physp_t *far = uplink(0)->p_remote_physp;

	ib_port_info_set_port_state(&far->port_info, make ? IB_LINK_INIT : IB_LINK_ACTIVE);
	ib_port_info_set_port_state(&uplink(0)->port_info, IB_LINK_ACTIVE);
}

/* A port reports an extended speed, the other end does not. */
static void extended_speed(bool make)
{
	uplink(0)->port_info.link_speed_ext = make ? IB_LINK_SPEED_EXT_ACTIVE_50 << 4 : 0;
}

static void host_without_lid(bool make)
{
	osm_physp_t *port = host_port();

	port->port_info.base_lid = make ? 0 : cl_hton16(host->fab->ep[1].lid);
}

static void spine_without_lid(bool make)
{
	ftr_sw s = fake_spine(host, 0);

	host->sw_node[s]->physp_table[0].port_info.base_lid = make ? 0 : cl_hton16(host->fab->sw[s].lid);
}

static void no_contradiction(bool make)
{
	(void)make;
}

static void (*const contradiction[])(bool make) = {
	no_contradiction, far_end_invalid, no_port_0, no_ports, same_far_end, far_port_too_high, half_active,
	extended_speed, host_without_lid, spine_without_lid,
};

static void contradict(void *ctx, struct fake *h, enum fake_moment m)
{
	int which = *(int *)ctx;

	(void)h;
	if (m == FAKE_LOCKED)
		contradiction[which](true);
	else if (m == FAKE_ROUTING)
		contradiction[which](false);
}

/* One value is wrong while the engine runs: all other hosts are routed, and the next sweep repairs the
 * rest. */
START_TEST(contradictions)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,2;1,2;1,1", .not_up = true });
	ftr_sw spine = fake_spine(h, 0);
	ftr_port last = h->fab->sw[spine].n_ports;

	while (ftr_fabric_next(h->fab, spine, last) == FTR_SW_NONE)
		last--;
	host = h;
	h->moment = contradict;
	h->moment_ctx = &_i;
	fake_check_sweep(h);
	h->moment = NULL;
	ck_assert_ptr_nonnull(plugin(h)->routed);
	/* a link that the fast path may not know comes up, and is not Active */
	fake_link_quietly(h, spine, last, false);
	fake_link_quietly(h, spine, last, true);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	ck_assert_uint_eq(plugin(h)->routed->gen->fabric->n_ep, h->fab->n_ep);
	ck_assert_uint_eq(plugin(h)->routed->gen->fabric->n_sw_links, h->fab->n_sw_links);
	fake_free(h);
}
END_TEST

/* A switch sends packets to one of its hosts back up, which is a loop.  The entry that ends it concerns
 * the hosts elsewhere.  At the switch it concerns nobody: of its other two hosts, one has lost its LID in
 * OpenSM's data, and one its link. */
static osm_physp_t *lost;

static void lose_hosts(void *ctx, struct fake *h, enum fake_moment m)
{
	osm_physp_t *a = h->ep_port[1]->p_physp, *b = h->ep_port[2]->p_physp;

	(void)ctx;
	if (m == FAKE_LOCKED) {
		lost = b->p_remote_physp;
		b->p_remote_physp = NULL;
		a->port_info.base_lid = 0;
	} else if (m == FAKE_ROUTING) {
		b->p_remote_physp = lost;
		a->port_info.base_lid = cl_hton16(h->fab->ep[1].lid);
	}
}

START_TEST(loop_beside_odd_hosts)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw("a: s t h3\nb: s t h3\ns:\nt:\n"), .sm = 3,
	});
	ftr_sw a = draw_sw(h->fab, "a");
	ftr_port p = fake_uplink(h, a, 0);
	const struct ftr_swport *up = ftr_fabric_port(h->fab, a, p);
	ftr_lid lid = h->fab->ep[0].lid;

	fake_check_sweep(h);
	h->sw[a].lft[lid] = h->osw[a]->lft[lid] = p;
	h->sw[up->peer].lft[lid] = h->osw[up->peer]->lft[lid] = up->peer_port;
	h->moment = lose_hosts;
	fake_sweep(h);
	h->moment = NULL;
	ck_assert_msg(fake_logged(h, "IBF121: dmodc: entries were replaced in an order in which a credit loop was possible") == 1 &&
		      fake_logged(h, " between 3 pairs (host3 to host0, host4 to host0, host5 to host0)") == 1, "%s", h->log);
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- VLs of ddlr ---------------------------------------------------------------------------- */

static const struct vls {
	const char *fabric, *sl2vl, *low, *says;
} vls[] = {
	{ "a: b c h1\nb: c h1\nc: h1\n", "0", "0:1", "SL 0-15: VL 1 instead of VL 0" },
	{ "a: b c h1\nb: c h1\nc: h1\n", "15", NULL, "SL 0 is mapped to VL 15, so its packets are dropped" },
	{ "a: h2\n", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,0", NULL, "packets use no second VL: 30 VLs are needed" },
};

START_TEST(ddlr_vls)
{
	const struct vls *v = &vls[_i];
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw(v->fabric), .engine = "ddlr", .not_up = true });
	osm_qos_options_t *o = &h->osm->subn.opt.qos_swe_options;
	struct ibf_engine *e = &plugin(h)->engine[0];
	osm_node_t *node = h->sw_node[0];
	ib_slvl_table_t t = { { 0 } }, before = t;

	while (strcmp(e->ops->name, "ddlr"))
		e++;
	ibf_ddlr_sl2vl(e, &node->physp_table[1], 0, 0, &t);	/* no routing yet */
	h->osm->subn.opt.qos = TRUE;
	o->sl2vl = strdup(v->sl2vl);
	o->vlarb_low = v->low ? strdup(v->low) : NULL;
	cl_qmap_init(&h->osm->subn.prtn_pkey_tbl);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
			h->sw_node[s]->physp_table[p].port_info.vl_enforce = 4 << 4;
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, v->says) == 1, "case %d: %s", _i, h->log);
	/* a switch that is not in the fabric */
	node->node_info.node_guid = 1;
	ibf_ddlr_sl2vl(e, &node->physp_table[1], 0, 0, &t);
	node->node_info.node_guid = cl_hton64(h->fab->sw[0].guid);
	ck_assert(!memcmp(&t, &before, sizeof(t)));
	free(o->sl2vl);
	free(o->vlarb_low);
	o->sl2vl = o->vlarb_low = NULL;
	fake_free(h);
}
END_TEST

/* ---- multicast --------------------------------------------------------------------------------- */

#define MLID 0xc001
static uint16_t masks[64][IB_MCAST_POSITION_MAX + 1];

static ib_api_status_t build(struct fake *h, osm_port_t *const *port, unsigned int n)
{
	osm_mgrp_box_t box = { .mlid = MLID };
	osm_mcm_port_t member[8];
	osm_mgrp_t group;

	memset(masks, 0, sizeof(masks));
	memset(&group, 0, sizeof(group));
	memset(member, 0, sizeof(member));
	cl_qlist_init(&box.mgrp_list);
	cl_qmap_init(&group.mcm_port_tbl);
	for (unsigned int k = 0; k < n; k++) {
		member[k].port = port[k];
		cl_qmap_insert(&group.mcm_port_tbl, k + 1, &member[k].map_item);
	}
	cl_qlist_insert_tail(&box.mgrp_list, &group.list_item);
	return ibf_mcast_build_stree(plugin(h)->routed, &box);
}

static unsigned int ports_in_tree(void)
{
	unsigned int n = 0;

	for (unsigned int s = 0; s < 64; s++)
		n += masks[s][0] != 0;
	return n;
}

/* A member at a switch that is not in the fabric; a switch of the tree that OpenSM has lost; no memory
 * for a new copy of the fabric; a fabric without tables. */
START_TEST(multicast)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	struct ibf_engine *e = plugin(h)->routed;
	osm_node_t *node = h->sw_node[1];
	osm_port_t lone = { .p_node = h->ep_node[1] };
	osm_switch_t unknown = { .p_node = NULL }, *sw = h->osw[h->fab->ep[3].sw];
	osm_node_t far = { .sw = &unknown, .node_info = { .node_guid = 99 } };
	osm_physp_t far_port = { .p_node = &far }, port = { .p_node = h->ep_node[1], .p_remote_physp = &far_port };
	osm_port_t *three[] = { h->ep_port[0], h->ep_port[3], &lone };
	unsigned int all;

	(void)node;
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		h->osw[s]->switch_info.mcast_cap = cl_hton16(64);
		h->osw[s]->mcast_tbl.p_mask_tbl = (void *)&masks[s];
		h->osw[s]->mcast_tbl.max_mlid_ho = MLID;
	}
	fake_check_sweep(h);
	lone.p_physp = &port;
	ck_assert_int_eq(build(h, three, 3), IB_SUCCESS);
	ck_assert_uint_eq(fake_logged(h, "1 of 3 members is not connected"), 1);
	all = ports_in_tree();
	ck_assert_uint_ge(all, 3);
	cl_qmap_remove_item(&h->osm->subn.sw_guid_tbl, &sw->map_item);
	ck_assert_int_eq(build(h, three, 2), IB_SUCCESS);
	ck_assert_uint_eq(ports_in_tree(), all - 1);
	cl_qmap_insert(&h->osm->subn.sw_guid_tbl, cl_hton64(h->fab->sw[h->fab->ep[3].sw].guid), &sw->map_item);
	/* OpenSM has swept without routing; each allocation fails once */
	for (unsigned long n = 1; n < 2000; n++) {
		ib_api_status_t st;

		e->gen_stale = true;
		ftr_alloc_fail_once(n);
		st = build(h, three, 2);
		ftr_alloc_fail_at(0);
		if (st == IB_SUCCESS && !e->gen_stale && ports_in_tree() == all && n > 500)
			break;
		ck_assert(st == IB_SUCCESS || fake_logged(h, "no tree for MLID 0xc001: ") > 0);
	}
	/* the copy has no tables: the status files are written without a load */
	ck_assert_ptr_null(e->gen->tables);
	ibf_status_write(plugin(h), e->gen);
	ibf_engine_publish(e, NULL);
	ck_assert_int_eq(build(h, three, 2), IB_SUCCESS);
	ck_assert_uint_eq(ports_in_tree(), all);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static void answer_late(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	(void)ctx;
	fate->back_ms = p->plugin ? 20 + p->number % 256 / 10.0 : 0;
}

/* As many requests as possible are in flight, and none is answered within the time after which it is
 * also sent over its other route.  The first answers make room for some of these packets. */
START_TEST(full_window)
{
	static struct rr_smp job[IBF_SMP_WINDOW_MAX + 20];
	const struct rr_smp_policy policy = {
		.window = IBF_SMP_WINDOW_MAX, .timeout = 100, .tries = 3, .hedge = 5,
	};
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	double began = ibf_now_ms();

	for (unsigned int i = 0; i < FTR_ARRAY_LEN(job); i++) {
		job[i] = (struct rr_smp){ .attr = RR_ATTR_PORT_INFO, .mod = 1, .n_routes = 2 };
		for (unsigned int k = 0; k < 2; k++) {
			job[i].route[k].hops = 1;
			job[i].route[k].path[1] = h->fab->ep[h->sm].port_num;
		}
	}
	fake_set_fate(h, answer_late, NULL);
	ck_assert_uint_eq(ibf_smp_run(plugin(h)->smp, job, FTR_ARRAY_LEN(job), &policy), 0);
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(job); i++)
		ck_assert_int_eq(job[i].state, RR_SMP_DONE);
	ck_assert(ibf_now_ms() - began >= 40 && ibf_now_ms() - began < policy.timeout);
	fake_set_fate(h, NULL, NULL);
	fake_free(h);
}
END_TEST

static unsigned int n_waits;

static double no_time(void)
{
	return 0;
}

static bool wake_twice(pthread_cond_t *cond, pthread_mutex_t *mutex, double when)
{
	(void)cond;
	(void)mutex;
	ck_assert(when > 0);
	return ++n_waits < 3;
}

/* A wait may end before its time, without a reason.  Then a sleep goes on. */
START_TEST(spurious_wakeups)
{
	static const struct ibf_clock clock = { .now = no_time, .wait = wake_twice };
	const struct ibf_clock *before = ibf_clock;

	ibf_clock = &clock;
	ibf_sleep_ms(5);
	ibf_clock = before;
	ck_assert_uint_eq(n_waits, 3);
}
END_TEST

/* The load of a large fabric is not computed. */
START_TEST(large_load)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "status_files on\n" });
	struct ibf_generation *gen = plugin(h)->routed->gen, large = { .tables = gen->tables };
	struct ftr_fabric *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	memcpy(f, gen->fabric, sizeof(*f));
	f->n_ep = UINT32_MAX;
	large.fabric = f;
	ibf_status_routed(plugin(h), gen);
	ibf_status_write(plugin(h), &large);	/* would read beyond its end */
	ck_assert_ptr_nonnull(gen->tables);
	free(f);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- changes during a write of the fast path ------------------------------------------------------ */

static uint8_t *lft;
static ftr_sw changing;

/* OpenSM loses the table of the switch that is written first. */
static void lose_table(void *ctx, struct fake *h)
{
	(void)ctx;
	if (!lft) {
		lft = h->osw[changing]->lft;
		h->osw[changing]->lft = NULL;
	}
}

START_TEST(table_vanishes)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });

	lft = NULL;
	changing = fake_leaf(h, 1);
	h->written = lose_table;
	fake_link(h, changing, fake_uplink(h, changing, 1), false);
	fake_settle(h);
	h->written = NULL;
	ck_assert_ptr_nonnull(lft);
	h->osw[changing]->lft = lft;
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* Another manager becomes master while the plugin asks the switches: nothing is written. */
static void no_master(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct fake *h = ctx;

	(void)fate;
	if (p->plugin && !p->set)
		__atomic_store_n(&h->osm->subn.sm_state, IB_SMINFO_STATE_STANDBY, __ATOMIC_RELAXED);
}

START_TEST(no_longer_master)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	uint32_t sets = fake_count_sets(h);

	fake_set_fate(h, no_master, h);
	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
	ck_assert_uint_eq(fake_count_sets(h), sets);
	ck_assert_uint_eq(fake_logged(h, "IBF004"), 0);
	h->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* Notices of vendors, notices that are no traps, and traps of unknown LIDs cause no repair. */
START_TEST(other_notices)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .no_sweep_on_trap = true });
	cl_disp_reg_info_t *reg = (void *)(uintptr_t)h->osm->sm.trap_disp_h;

	fake_link_quietly(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	for (int i = 0; i < 4; i++) {
		osm_madw_t *madw = osm_mad_pool_get(&h->osm->mad_pool, NULL, MAD_BLOCK_SIZE, NULL);
		ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
		ib_mad_notice_attr_t *n = (void *)smp->data;

		smp->method = i ? IB_MAD_METHOD_TRAP : IB_MAD_METHOD_TRAP_REPRESS;
		n->generic_type = (uint8_t)((i == 1 ? 0 : 0x80) | IB_NOTICE_TYPE_URGENT);
		n->g_or_v.generic.trap_num = cl_hton16(SM_LINK_STATE_CHANGED_TRAP);
		n->data_details.ntc_128.sw_lid = cl_hton16((uint16_t)(i == 2 ? h->fab->max_lid + 9 :
								      h->fab->sw[fake_leaf(h, 1)].lid));
		reg->pfn_rcv_callback((void *)(uintptr_t)reg->context, madw);
		osm_mad_pool_put(&h->osm->mad_pool, madw);
		fake_settle(h);
		ck_assert_uint_eq(fake_logged(h, "IBF004: fast reroute 1: "), i == 3);
	}
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- errors of an engine -------------------------------------------------------------------------- */

static enum ftr_status silent_route(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
				    struct ftr_team *team, struct ftr_tables *out,
				    struct ftr_route_stats *stats, struct ftr_err *err)
{
	(void)sh;
	(void)opts;
	(void)team;
	(void)out;
	(void)stats;
	err->status = FTR_INTERNAL;
	return FTR_INTERNAL;
}

/* An engine fails without a text. */
START_TEST(no_text)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .not_up = true });
	struct ibf_engine *e = &plugin(h)->engine[0];
	const struct ftr_engine_ops *real;
	struct ftr_engine_ops ops;
	char says[128];

	while (strcmp(e->ops->name, "dmodc"))
		e++;
	real = e->ops;
	ops = *real;
	ops.route = silent_route;
	e->ops = &ops;
	fake_check_sweep(h);
	snprintf(says, sizeof(says), "dmodc refuses to route: %s", ftr_status_str(FTR_INTERNAL));
	ck_assert_uint_eq(fake_logged(h, says), 1);
	e->ops = real;
	fake_check_sweep(h);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static const struct ftr_engine_ops *real_ops;
static int failures;

static enum ftr_status route_later(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
				   struct ftr_team *team, struct ftr_tables *out,
				   struct ftr_route_stats *stats, struct ftr_err *err)
{
	return failures-- > 0 ? ftr_fail(err, FTR_REFUSED, "not yet") :
		real_ops->route(sh, opts, team, out, stats, err);
}

/* A link has come up but is not Active, and the engine refuses the fabric without it: the second
 * attempt uses it. */
START_TEST(idle_link_is_needed)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .not_up = true });
	ftr_sw leaf = fake_leaf(h, 1);
	ftr_port port = fake_uplink(h, leaf, 1);
	struct ftr_engine_ops ops;
	struct ibf_engine *e;

	fake_link_quietly(h, leaf, port, false);
	fake_check_sweep(h);
	fake_check_sweep(h);
	e = plugin(h)->routed;
	ops = *e->ops;
	fake_link_quietly(h, leaf, port, true);
	real_ops = e->ops;
	ops.route = route_later;
	e->ops = &ops;
	failures = 1;
	ibf_engine_publish(e, NULL);	/* there is no routing that could be used again */
	fake_check_sweep(h);
	ck_assert_msg(fake_logged(h, "dmodc refuses to route: not yet") == 1 && !fake_logged(h, "IBF210"), "%s", h->log);
	ck_assert_uint_eq(fake_logged(h, "IBF210"), 0);
	ck_assert_uint_eq(plugin(h)->routed->gen->fabric->n_sw_links, h->fab->n_sw_links);
	fake_check_sweep(h);
	fake_check_sweep(h);
	e->ops = real_ops;
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* While the Sets of a routing travel, other threads of OpenSM can take its lock. */
struct attempts {
	struct fake *h;
	uint32_t taken, failed;
};

static void take_lock(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct attempts *x = ctx;
	bool taken = !pthread_rwlock_trywrlock(&x->h->osm->lock.lock);

	(void)fate;
	x->taken += taken && p->plugin && p->set;
	x->failed += !taken && p->plugin && p->set;
	if (taken)
		pthread_rwlock_unlock(&x->h->osm->lock.lock);
}

START_TEST(lock_is_free)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	ftr_sw leaf = fake_leaf(h, 1);
	struct attempts x = { .h = h };

	fake_set_fate(h, take_lock, &x);
	for (int i = 0; i < 4; i++) {
		fake_link_quietly(h, leaf, fake_uplink(h, leaf, 1), i % 2);
		fake_check_sweep(h);
		fake_check_sweep(h);
	}
	fake_release(h);
	ck_assert_uint_gt(fake_logged(h, "IBF010"), 0);
	ck_assert_uint_gt(x.taken, 0);
	ck_assert_uint_eq(x.failed, 0);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("odd data of OpenSM");
	TCase *c = tcase_create("all");

	tcase_add_loop_test(c, contradictions, 0, (int)FTR_ARRAY_LEN(contradiction));
	tcase_add_test(c, loop_beside_odd_hosts);
	tcase_add_loop_test(c, ddlr_vls, 0, (int)FTR_ARRAY_LEN(vls));
	tcase_add_test(c, multicast);
	tcase_add_test(c, full_window);
	tcase_add_test(c, spurious_wakeups);
	tcase_add_test(c, large_load);
	tcase_add_test(c, table_vanishes);
	tcase_add_test(c, no_longer_master);
	tcase_add_test(c, other_notices);
	tcase_add_test(c, no_text);
	tcase_add_test(c, idle_link_is_needed);
	tcase_add_test(c, lock_is_free);
	suite_add_tcase(s, c);
	return run_suite(s);
}
