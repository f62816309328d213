// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Values in OpenSM's data that few fabrics have: each member in which two fabrics can differ, options
 * for the VLs of ddlr, multicast groups, missing tables, and text for the status files.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "osm/metrics.h"
#include <opensm/osm_multicast.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_qos_policy.h>

extern osm_event_plugin_t osm_event_plugin;

static void sweep_twice(struct fake *h)
{
	for (int i = 0; i < 2; i++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
}

/* ---- two fabrics ------------------------------------------------------------------------ */

static struct ftr_fabric *a_fabric(void)
{
	struct ftr_err err;
	struct ftr_pgft g;

	ck_assert(!ftr_pgft_parse("2;2,2;1,2;1,1", &g, &err));
	return trees_grow(&g, 1, 0);
}

#define CHANGED(member)						\
	do {							\
		(member) ^= 1;					\
		ck_assert(!ibf_same_fabric(a, b));		\
		(member) ^= 1;					\
		ck_assert(ibf_same_fabric(a, b));		\
	} while (0)

START_TEST(each_member)
{
	struct ftr_fabric *a = a_fabric(), *b = a_fabric();
	struct ftr_switch *sw = (void *)(uintptr_t)&b->sw[1];
	struct ftr_endport *ep = (void *)(uintptr_t)&b->ep[1];
	struct ftr_swport *port = (void *)(uintptr_t)&b->ports[1];
	const char *name = sw->name;

	CHANGED(b->n_sw);
	CHANGED(b->n_ep);
	CHANGED(b->n_ports);
	CHANGED(b->max_lid);
	CHANGED(port->peer);
	CHANGED(sw->guid);
	CHANGED(sw->lid);
	CHANGED(sw->lmc);
	CHANGED(sw->n_ports);
	CHANGED(ep->guid);
	CHANGED(ep->node_guid);
	CHANGED(ep->sw);
	CHANGED(ep->sw_port);
	CHANGED(ep->port_num);
	CHANGED(ep->lid);
	CHANGED(ep->lmc);
	CHANGED(ep->type);
	sw->name = "other";
	ck_assert(!ibf_same_fabric(a, b));
	sw->name = name;
	ep->name = "other";
	ck_assert(!ibf_same_fabric(a, b));
	ftr_fabric_free(a);
	ftr_fabric_free(b);
}
END_TEST

/* ---- VLs of ddlr ------------------------------------------------------------------------ */

/* PortInfo of one port with a link between switches. */
struct vls {
	bool qos;
	const char *sl2vl, *low, *high;	/* qos_swe options, or with `general` qos options */
	bool general;
	uint8_t code;		/* OperationalVLs */
	uint8_t arb_low, arb_high;
	const char *says;
} vls[] = {
	{ .code = 4, .says = "no second VL: qos is off" },
	{ .qos = true, .code = 1, .says = "1 operational VL" },
	{ .qos = true, .code = 7, .says = "1 operational VL" },
	{ .qos = true, .code = 4, .arb_low = 8, .arb_high = 8,
	  .says = "a second VL on the link after a change of direction" },
	{ .qos = true, .code = 4, .arb_low = 8, .low = "0:1,1:2,junk", .sl2vl = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15",
	  .says = "SL 15: dropped" },
	{ .qos = true, .code = 4, .arb_low = 8, .low = "0:1,1:2,15:3", .sl2vl = "0", .general = true,
	  .says = "SL 0-15: VL 1 instead of VL 0" },
	{ .qos = true, .code = 4, .arb_low = 8, .arb_high = 8, .low = "0:1,1:0", .high = "0:1", .sl2vl = "0",
	  .says = "has no weight for VL 1" },
	{ .qos = true, .code = 4, .arb_low = 1, .low = "0:1,1:4", .sl2vl = "0",
	  .says = "has no weight for VL 1" },
	{ .qos = true, .code = 4, .arb_low = 8, .arb_high = 8, .low = "0:1", .high = "1:4", .sl2vl = "0",
	  .general = true, .says = "SL 0-15: VL 1 instead of VL 0" },
};

static void set_ports(struct fake *h, const struct vls *v)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			ib_port_info_t *pi = &h->sw_node[s]->physp_table[p].port_info;

			pi->vl_enforce = (uint8_t)((s && p == 3 ? v->code : 4) << 4);
			pi->vl_arb_low_cap = v->arb_low;
			pi->vl_arb_high_cap = v->arb_high;
		}
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

START_TEST(ddlr_vls)
{
	const struct vls *v = &vls[_i];
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;2,2;1,2;1,1", .engine = "ddlr", .not_up = true,
	});
	osm_subn_opt_t *opt = &h->osm->subn.opt;
	osm_qos_options_t *o = v->general ? &opt->qos_options : &opt->qos_swe_options;
	osm_prtn_t prtn = { .sl = 3 };
	osm_qos_level_t level[2] = { { .sl = 5, .sl_set = TRUE }, { .sl = 6 } };
	osm_qos_policy_t policy;
	ib_slvl_table_t t, before;

	opt->qos = v->qos;
	o->sl2vl = copy(v->sl2vl);
	o->vlarb_low = copy(v->low);
	o->vlarb_high = copy(v->high);
	cl_qmap_init(&h->osm->subn.prtn_pkey_tbl);
	cl_qmap_insert(&h->osm->subn.prtn_pkey_tbl, 1, &prtn.map_item);
	memset(&policy, 0, sizeof(policy));
	cl_list_construct(&policy.qos_levels);
	ck_assert(!cl_list_init(&policy.qos_levels, 2));
	cl_list_insert_tail(&policy.qos_levels, &level[0]);
	cl_list_insert_tail(&policy.qos_levels, &level[1]);
	h->osm->subn.p_qos_policy = _i % 2 ? &policy : NULL;
	set_ports(h, v);
	sweep_twice(h);
	ck_assert_msg(fake_logged(h, v->says) == 1, "case %d: the log does not say '%s' once: %s", _i,
		      v->says, h->log);
	memset(&before, 0xee, sizeof(before));
	for (unsigned int in = 0; in < 40; in += 13)
		for (unsigned int out = 0; out < 40; out += 13) {
			t = before;
			ibf_ddlr_sl2vl(((struct ibf_plugin *)h->plugin)->routed,
				       &h->sw_node[0]->physp_table[1], (uint8_t)in, (uint8_t)out, &t);
			ck_assert(!memcmp(&t, &before, sizeof(t)) ==
				  !(((struct ibf_plugin *)h->plugin)->routed->gen->vls && !in && !out));
		}
	t = before;
	ibf_ddlr_sl2vl(((struct ibf_plugin *)h->plugin)->routed, &h->ep_node[0]->physp_table[1], 0, 0,
		       &t);
	ck_assert(!memcmp(&t, &before, sizeof(t)));
	h->osm->subn.p_qos_policy = NULL;
	cl_list_remove_all(&policy.qos_levels);
	cl_list_destroy(&policy.qos_levels);
	cl_qmap_remove_all(&h->osm->subn.prtn_pkey_tbl);
	free(o->sl2vl);
	free(o->vlarb_low);
	free(o->vlarb_high);
	o->sl2vl = o->vlarb_low = o->vlarb_high = NULL;
	fake_free(h);
}
END_TEST

/* ---- multicast ---------------------------------------------------------------------------- */

#define MLID 0xc001
static uint16_t masks[64][1][IB_MCAST_POSITION_MAX + 1];

static bool in_tree(ftr_sw s, unsigned int port)
{
	return cl_ntoh16(masks[s][0][port / 16]) >> port % 16 & 1;
}

static unsigned int ports_in_tree(const struct fake *h)
{
	unsigned int n = 0;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 0; p <= h->fab->sw[s].n_ports; p++)
			n += in_tree(s, p);
	return n;
}

/* Build the tree of one MLID with two groups, each of which has the n ports. */
static ib_api_status_t build(struct fake *h, osm_port_t *const *port, unsigned int n)
{
	osm_mgrp_box_t box = { .mlid = MLID };
	osm_mcm_port_t member[2][8];
	osm_mgrp_t group[2];

	memset(masks, 0, sizeof(masks));
	memset(group, 0, sizeof(group));
	memset(member, 0, sizeof(member));
	cl_qlist_init(&box.mgrp_list);
	for (int i = 0; i < 2; i++) {
		cl_qmap_init(&group[i].mcm_port_tbl);
		for (unsigned int k = 0; k < n; k++) {
			member[i][k].port = port[k];
			cl_qmap_insert(&group[i].mcm_port_tbl, k + 1, &member[i][k].map_item);
		}
		cl_qlist_insert_tail(&box.mgrp_list, &group[i].list_item);
	}
	return ibf_mcast_build_stree(((struct ibf_plugin *)h->plugin)->routed, &box);
}

static void give_mcast_tables(struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		osm_mcast_tbl_t *t = &h->osw[s]->mcast_tbl;

		h->osw[s]->switch_info.mcast_cap = cl_hton16(64);
		t->p_mask_tbl = (void *)&masks[s];
		t->max_mlid_ho = MLID - 1;
	}
}

START_TEST(multicast)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1" });
	struct ibf_plugin *p = h->plugin;
	osm_port_t *two[] = { h->ep_port[0], h->ep_port[3], h->sw_port[0] };
	osm_port_t lone = { .p_node = h->ep_node[1] }, *outside[] = { two[0], two[1], &lone };
	osm_physp_t unlinked = { .p_node = h->ep_node[1] };
	osm_switch_t *sw = h->osw[h->fab->ep[3].sw];

	/* no switch supports multicast */
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_int_eq(build(h, two, 2), IB_SUCCESS);
	ck_assert_uint_eq(fake_logged(h, "2 of 2 members are not connected"), 1);
	ck_assert_uint_eq(ports_in_tree(h), 0);
	give_mcast_tables(h);
	ibf_stree_free(p->routed->stree);
	p->routed->stree = NULL;
	memset(p->routed->gen->mcast_able, 1, h->fab->n_sw);
	ck_assert_int_eq(build(h, two, 0), IB_SUCCESS);
	ck_assert_int_eq(build(h, two, 1), IB_SUCCESS);
	ck_assert_uint_eq(ports_in_tree(h), 0);
	/* the tables are too short, then long enough; OpenSM has no table for one switch */
	ck_assert_int_eq(build(h, two, 3), IB_SUCCESS);
	ck_assert_uint_eq(ports_in_tree(h), 0);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		h->osw[s]->mcast_tbl.max_mlid_ho = MLID;
	ck_assert_int_eq(build(h, two, 3), IB_SUCCESS);
	/* two host ports, the switch itself, and both ends of each link of the tree */
	ck_assert_uint_ge(ports_in_tree(h), 5);
	ck_assert(in_tree(h->fab->ep[0].sw, h->fab->ep[0].sw_port));
	ck_assert(in_tree(h->fab->ep[3].sw, h->fab->ep[3].sw_port));
	sw->mcast_tbl.p_mask_tbl = NULL;
	ck_assert_int_eq(build(h, two, 2), IB_SUCCESS);
	ck_assert(!in_tree(h->fab->ep[3].sw, h->fab->ep[3].sw_port));
	/* members without a port, without a link, and at a host */
	ck_assert_int_eq(build(h, outside, 3), IB_SUCCESS);
	ck_assert_uint_eq(fake_logged(h, "2 of 4 members are not connected"), 1);
	lone.p_physp = &unlinked;
	ck_assert_int_eq(build(h, outside, 3), IB_SUCCESS);
	unlinked.p_remote_physp = &h->ep_node[0]->physp_table[1];
	ck_assert_int_eq(build(h, outside, 3), IB_SUCCESS);
	ck_assert_uint_eq(fake_logged(h, "2 of 4 members are not connected"), 3);
	/* OpenSM sweeps without a routing: the fabric is copied again */
	p->routed->gen_stale = true;
	ck_assert_int_eq(build(h, two, 2), IB_SUCCESS);
	ck_assert(!p->routed->gen_stale);
	for (unsigned long n = 1; n < 40; n++) {
		p->routed->gen_stale = n % 2;
		ibf_stree_free(p->routed->stree);
		p->routed->stree = NULL;
		ftr_alloc_fail_at(n / 2);
		build(h, two, 3);
		ftr_alloc_fail_at(0);
	}
	ck_assert_uint_ge(fake_logged(h, "no tree for MLID 0xc001: out of memory"), 1);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_free(h);
}
END_TEST

/* ---- missing tables, other traps, text ------------------------------------------------------ */

/* OpenSM has no table of a switch that must be written.  The fast path gives up. */
START_TEST(no_table)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1" });
	ftr_sw leaf = fake_leaf(h, 0), other = fake_leaf(h, 1);
	osm_switch_t *sw = h->osw[other], saved = *sw;

	if (_i == 0)
		sw->lft = NULL;
	else if (_i == 1)
		sw->new_lft = NULL;
	else if (_i == 2)
		sw->lft_size = 1;
	else
		cl_qmap_remove_item(&h->osm->subn.sw_guid_tbl, &sw->map_item);
	fake_link(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "OpenSM has no table for block 0 of switch"), 1);
	if (_i == 3) {
		osm_event_plugin.report(h->plugin, OSM_EVENT_ID_SUBNET_UP, NULL);
		cl_qmap_insert(&h->osm->subn.sw_guid_tbl, saved.map_item.key, &sw->map_item);
	}
	sw->lft = saved.lft;
	sw->new_lft = saved.new_lft;
	sw->lft_size = saved.lft_size;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

START_TEST(text)
{
	static struct ibf_metrics m = { .engine = "a\"b\\c\nd\x01\x7f\xc3", .reason = "K\xc3\xb6ln\xed\xa0\x80\xc2\x80\xc2\x9f\xc2\xa0" };
	char *out = NULL;
	size_t n;
	FILE *mem = open_memstream(&out, &n);

	ibf_metrics_prom(mem, &m);
	ibf_metrics_json(mem, &m);
	ck_assert(!fclose(mem));
	ck_assert_ptr_nonnull(strstr(out, "{engine=\"a\\\"b\\\\c?d???\"}"));
	ck_assert_ptr_nonnull(strstr(out, "\"engine\":\"a\\\"b\\\\c?d???\""));
	ck_assert_ptr_nonnull(strstr(out, "\"reason\":\"K\xc3\xb6ln?????\xc2\xa0\""));
	free(out);
}
END_TEST

/* ---- contradictions ------------------------------------------------------------------------ */

static struct fake *host;	/* for the functions below */

static osm_physp_t *host_port(void)
{
	return host->ep_port[1]->p_physp;
}

static void no_lid(void)
{
	host_port()->port_info.base_lid = 0;
}

static void lid_of_another(void)
{
	host_port()->port_info.base_lid = host->ep_port[0]->p_physp->port_info.base_lid;
}

static void lid_of_nobody(void)
{
	host_port()->port_info.base_lid = cl_hton16(0xbfff);
}

static void lids_beyond_table(void)
{
	host_port()->port_info.base_lid = cl_hton16(0x100);
	ib_port_info_set_lmc(&host_port()->port_info, 1);
	host_port()->port_info.base_lid = cl_hton16((uint16_t)cl_ptr_vector_get_size(&host->osm->subn.port_lid_tbl));
}

static void unaligned_lids(void)
{
	ib_port_info_set_lmc(&host_port()->port_info, 2);
}

static void no_link(void)
{
	host_port()->p_remote_physp = NULL;
}

static void unhealthy(void)
{
	host_port()->healthy = FALSE;
}

static void at_itself(void)
{
	host_port()->p_remote_physp = host_port();
}

static void at_host(void)
{
	host_port()->p_remote_physp = host->ep_port[0]->p_physp;
}

static void at_high_port(void)
{
	host->osw[host->fab->ep[1].sw]->num_ports = 2;
}

static void no_port(void)
{
	host->ep_port[1]->p_physp = NULL;
}

static void same_guid(void)
{
	host->ep_port[1]->guid = host->ep_port[0]->guid;
}

static void switch_without_lid(void)
{
	host->sw_node[0]->physp_table[0].port_info.base_lid = 0;
}

static void router(void)
{
	host->ep_node[1]->node_info.node_type = IB_NODE_TYPE_ROUTER;
}

static void fdr10(void)
{
	host_port()->ext_port_info.link_speed_active = 1;	/* FDR10 */
}

/* skipped: the plugin reports a contradiction. */
static const struct contradiction {
	void (*make)(void);
	bool skipped;
} contradiction[] = {
	{ no_lid, true }, { lid_of_another, true }, { lid_of_nobody, true },
	{ lids_beyond_table, true }, { unaligned_lids, true }, { no_link, true },
	{ unhealthy, true }, { at_itself, true }, { at_host, true }, { at_high_port, true },
	{ no_port, false }, { same_guid, true }, { switch_without_lid, true }, { router, false },
	{ fdr10, false },
};

static void contradict(void *ctx, struct fake *h, enum fake_moment m)
{
	(void)h;
	if (m == FAKE_LOCKED)
		contradiction[*(int *)ctx].make();
}

/* One value of OpenSM's data is wrong when the engine is called.  All other hosts are routed. */
START_TEST(contradictions)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,2;1,2;1,1", .not_up = true });
	char command[128];

	host = h;
	h->moment = contradict;
	h->moment_ctx = &_i;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_msg((fake_logged(h, "OpenSM's data; the objects concerned are left out") == 1) ==
		      contradiction[_i].skipped, "case %d: %s", _i, h->log);
	ck_assert_ptr_nonnull(((struct ibf_plugin *)h->plugin)->routed);
	/* the fake's own data are not repaired, so end without its checks */
	fake_unload(h);
	snprintf(command, sizeof(command), "rm -r %s", h->dir);
	ck_assert(!system(command));
	exit(0);
}
END_TEST

/* ---- engines that compute wrong tables ------------------------------------------------------ */

static const struct ftr_engine_ops *real;
static int wrong;

enum { LOOP, DEAD_PORT, WRONG_HOST, MISSING, CREDIT_LOOP, WRONGS };

static void lead(const struct ftr_fabric *f, struct ftr_tables *t, ftr_lid lid, ftr_sw from, ftr_sw to)
{
	for (unsigned int p = 1; p <= f->sw[from].n_ports; p++)
		if (ftr_fabric_next(f, from, (ftr_port)p) == to)
			ftr_tables_row(t, from)[lid] = (ftr_port)p;
}

/* Packets to leaf c go from upper switch x over leaf b to y, packets to b from y over c to x. */
static void close_cycle(const struct ftr_fabric *f, struct ftr_tables *t)
{
	ftr_ep to_b = 0, to_c = 0;
	ftr_sw b = f->ep[0].sw, c, x = FTR_SW_NONE, y = FTR_SW_NONE;

	while (f->ep[to_c].sw == b)
		to_c++;
	c = f->ep[to_c].sw;
	for (unsigned int p = 1; p <= f->sw[b].n_ports; p++)
		if (ftr_fabric_port(f, b, (ftr_port)p)->peer_kind == FTR_PEER_SW) {
			y = x;
			x = ftr_fabric_next(f, b, (ftr_port)p);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		lead(f, t, f->ep[to_c].lid, s, x);
		lead(f, t, f->ep[to_b].lid, s, y);
	}
	lead(f, t, f->ep[to_c].lid, x, b);
	lead(f, t, f->ep[to_c].lid, b, y);
	lead(f, t, f->ep[to_c].lid, y, c);
	lead(f, t, f->ep[to_b].lid, y, c);
	lead(f, t, f->ep[to_b].lid, c, x);
	lead(f, t, f->ep[to_b].lid, x, b);
	ftr_tables_row(t, b)[f->ep[to_b].lid] = f->ep[to_b].sw_port;
	ftr_tables_row(t, c)[f->ep[to_c].lid] = f->ep[to_c].sw_port;
}

static void spoil(const struct ftr_fabric *f, struct ftr_tables *t)
{
	ftr_lid lid = f->ep[0].lid;
	ftr_sw s = f->ep[0].sw;

	switch (wrong) {
	case LOOP:	/* the switch of the host sends to an upper switch, which sends back */
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_SW)
				ftr_tables_row(t, s)[lid] = (ftr_port)p;
		break;
	case DEAD_PORT:
		ftr_tables_row(t, s)[lid] = 200;
		break;
	case WRONG_HOST:
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_EP &&
			    p != f->ep[0].sw_port)
				ftr_tables_row(t, s)[lid] = (ftr_port)p;
		break;
	case MISSING:
		ftr_tables_row(t, s)[lid] = FTR_PORT_NONE;
		break;
	default:
		close_cycle(f, t);
	}
}

static enum ftr_status wrong_route(const struct ftr_shape *sh, const struct ftr_route_opts *opts,
				   struct ftr_team *team, struct ftr_tables *out,
				   struct ftr_route_stats *stats, struct ftr_err *err)
{
	enum ftr_status st = real->route(sh, opts, team, out, stats, err);

	if (!st)
		spoil(sh->f, out);
	stats->order_known &= wrong != CREDIT_LOOP;
	return st;
}

START_TEST(wrong_tables)
{
	static const char *const says[] = {
		"hold a loop", "hold a port without a link", "hold delivery to the wrong node", "have no entry where there is a path",
		"hold a credit loop of 4 channels",
	};
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,3;1,2;1,1", .not_up = true });
	struct ibf_engine *e = &((struct ibf_plugin *)h->plugin)->engine[0];
	struct ftr_engine_ops ops;

	while (strcmp(e->ops->name, "dmodc"))
		e++;
	real = e->ops;
	ops = *real;
	ops.route = wrong_route;
	e->ops = &ops;
	wrong = _i;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_msg(fake_logged(h, "refuses to route: the computed tables h") == 1 &&
		      fake_logged(h, says[_i]) >= 1, "%s", h->log);
	e->ops = real;
	sweep_twice(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- routings with the same input ------------------------------------------------------------ */

static struct ibf_generation *used(struct fake *h)
{
	return ((struct ibf_plugin *)h->plugin)->routed->gen;
}

/* A sweep without changes uses the tables of the last routing.  After a change of any input they are
 * computed again. */
START_TEST(same_input)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1" });

	for (int i = 0; i < 8; i++) {
		struct ibf_generation *before = used(h);
		bool manager = before->opts.n_sm;

		ck_assert(before->tables);
		switch (i) {
		case 1:
			before->drained.switches++;
			break;
		case 2:
			before->drained.links++;
			break;
		case 3:
			before->drained.hosts++;
			break;
		case 4:
			before->mcast_able[0] ^= 1;
			break;
		case 5:
			before->opts.sm_switch++;
			break;
		case 6:
			before->opts.n_sm++;
			break;
		case 7:
			if (manager)
				before->sm[0]++;
		}
		ck_assert(fake_sweep(h));
		fake_settle(h);
		ck_assert_msg((used(h) == before) == (i == 0 || (i == 7 && !manager)),
			      "case %d", i);
	}
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- names and lists of GUIDs ------------------------------------------------------------------- */

START_TEST(names)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1", .not_up = true });
	static const char *const name[] = { "a\"b\\c", "" };

	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		free(h->sw_node[s]->print_desc);
		h->sw_node[s]->print_desc = strdup(name[s % 2]);
	}
	for (int i = 0; i < 3; i++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	for (unsigned int i = 0; i < 2; i++) {
		fake_link(h, fake_leaf(h, i), fake_uplink(h, fake_leaf(h, i), i), false);
		fake_settle(h);
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	fake_flush(h);
	ck_assert_uint_ge(fake_events(h, "a\\\"b\\\\c"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

static void put_list(const char *path, const struct fake *h, uint32_t n, uint64_t other)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "0x%016" PRIx64 "\n", h->fab->sw[fake_spine(h, i)].guid);
	if (other)
		fprintf(out, "0x%016" PRIx64 "\n", other);
	ck_assert(!fclose(out));
}

static const struct list {
	uint32_t n;
	uint64_t other;
	const char *says;
} list[] = {
	{ 1, 0, "lacks 11 top switches: " },
	{ 11, 0, "lacks 1 top switch: " },
	{ 10, 0, "lacks 2 top switches: " },
	{ 0, 0, "holds no GUID; the list of 10 GUIDs last read stays in use" },
	{ 0, 0x77, "names no switch of this fabric" },
};

/* case 1: with "roots file". */
START_TEST(lists)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;2,2;1,12;1,1", .not_up = true, .options = _i ? "roots file\n" : NULL,
	});
	osm_subn_opt_t *opt = &h->osm->subn.opt;
	char path[128];

	snprintf(path, sizeof(path), "%s/roots", h->dir);
	opt->root_guid_file = path;
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "root_guid_file is not used: "), 1);
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(list); i++) {
		put_list(path, h, list[i].n, list[i].other);
		ck_assert(fake_sweep(h));
		fake_settle(h);
		ck_assert_msg(fake_logged(h, list[i].says) == 1, "%s: %s", list[i].says, h->log);
	}
	ck_assert_uint_eq(fake_logged(h, "most links of a top switch that is not listed are not used; "), _i ? 3 : 0);
	ck_assert_uint_eq(fake_logged(h, "a top switch that is not listed is treated as a root, too; "), _i ? 0 : 3);
	put_list(path, h, 12, 0);
	for (unsigned long n = 1; n < 30; n++) {	/* the old list stays */
		ftr_alloc_fail_once(n);
		fake_sweep(h);
		ftr_alloc_fail_at(0);
		fake_settle(h);
	}
	opt->root_guid_file = NULL;
	unlink(path);
	sweep_twice(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- start without memory, states ------------------------------------------------------------- */

START_TEST(start_without_memory)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1" });
	unsigned int without_fast = 0;
	char path[128];

	ftr_alloc_fail_at(1);
	ck_assert_ptr_null(osm_event_plugin.create(h->osm));
	ftr_alloc_fail_at(0);
	for (unsigned long n = 2; n < 40; n++) {
		ftr_alloc_fail_once(n);
		fake_restart(h, false);
		ftr_alloc_fail_at(0);
		without_fast += !h->fast;
		for (int i = 0; i < 2; i++) {
			ck_assert(fake_sweep(h));
			if (h->fast)
				fake_settle(h);
		}
		fake_check_healed(h);
	}
	ck_assert_uint_ge(without_fast, 1);
	/* with the default options, this file was written */
	snprintf(path, sizeof(path), "%s/opensm-dmodc-ca-order.dump", h->dir);
	unlink(path);
	fake_free(h);
}
END_TEST

START_TEST(states)
{
	static const uint8_t state[] = {
		IB_SMINFO_STATE_DISCOVERING, IB_SMINFO_STATE_NOTACTIVE, IB_SMINFO_STATE_STANDBY,
		IB_SMINFO_STATE_MASTER,
	};
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,2;1,2;1,1" });

	for (unsigned int i = 0; i < FTR_ARRAY_LEN(state); i++) {
		fake_set_state(h, state[i]);
		osm_event_plugin.report(h->plugin, OSM_EVENT_ID_STATE_CHANGE, NULL);
	}
	h->osm->subn.coming_out_of_standby = TRUE;
	sweep_twice(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("values of OpenSM");
	TCase *c = tcase_create("all");

	tcase_add_test(c, each_member);
	tcase_add_loop_test(c, ddlr_vls, 0, (int)FTR_ARRAY_LEN(vls));
	tcase_add_test(c, multicast);
	tcase_add_loop_test(c, no_table, 0, 4);
	tcase_add_test(c, text);
	tcase_add_loop_test(c, contradictions, 0, (int)FTR_ARRAY_LEN(contradiction));
	tcase_add_loop_test(c, wrong_tables, 0, WRONGS);
	tcase_add_test(c, same_input);
	tcase_add_test(c, names);
	tcase_add_loop_test(c, lists, 0, 2);
	suite_add_tcase(s, c);
	c = tcase_create("start");
	tcase_add_test(c, start_without_memory);
	tcase_add_test(c, states);
	suite_add_tcase(s, c);
	return run_suite(s);
}
