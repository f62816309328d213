// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads a running fabric once, with Gets only.
 *
 * libibnetdisc discovers the fabric and reads PortInfo and SwitchInfo.  After that, the command reads
 * SMInfo from every port with the IsSM capability, then the error counters of every switch, then the
 * forwarding tables.
 *
 * SMInfo is read over directed routes, because the ports may have no LIDs yet.  Counters are
 * read by LID.  Each switch first gets one Get with AllPortSelect, which returns the sum over all
 * ports.  If the sum of any counter is not 0, or the switch does not answer, its ports are read one
 * by one.  (A switch may not support AllPortSelect.)
 *
 * With --lids, the command reads only the fabric, its tables and, with --save-sl2vl, its SL2VL tables.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/facts.h"
#include "cli/json.h"

#ifndef HAVE_IBMAD

enum ftr_status cli_facts_live(struct cli_in *in, struct json_object *o,
			       struct cli_live *out, struct ftr_err *err)
{
	(void)o;
	return cli_live_read(in, out, err);
}

enum ftr_status cli_sl2vl_live(struct cli_in *in, struct ftr_sl2vl **m,
			       struct cli_live *out, struct ftr_err *err)
{
	(void)m;
	return cli_live_read(in, out, err);
}

#else

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>

#define SM_TIMEOUT_MS	500
#define PMA_TIMEOUT_MS	200
#define PMA_ALL_PORTS	255
/* After this number of switches without a LID or an answer, no more counters are read. */
#define GIVE_UP	3
#define CAP_IS_SM	(1u << 1)
/* AdaptiveRoutingInfo, an SMP of NVIDIA's switches; the lowest bit of its first word: on. */
#define ADAPTIVE_INFO	0xff20
#define VENDOR_NVIDIA	0x2c9

struct look {
	const struct cli_in *in;
	struct ibmad_port *via;
	struct json_object *o, *sms, *switches, *ports;
	struct ftr_sl2vl *m;
	uint32_t no_counters, no_adaptive;	/* numbers of switches that did not answer */
};

static unsigned int info(const ibnd_port_t *p, enum MAD_FIELDS which)
{
	return mad_get_field((void *)(uintptr_t)p->info, 0, (int)which);
}

/* ---- subnet managers --------------------------------------------------- */

static void put_sm(const struct look *k, const ibnd_node_t *node, const ibnd_port_t *p)
{
	struct json_object *sm = cli_json_element(k->sms);
	uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t to = node->path_portid;
	bool answered = smp_query_via(data, &to, IB_ATTR_SMINFO, 0, SM_TIMEOUT_MS, k->via);

	cli_json_guid(sm, "guid", answered ? mad_get_field64(data, 0, IB_SMINFO_GUID_F) : p->guid);
	cli_json_str(sm, "name", node->nodedesc);
	cli_json_num(sm, "lid", node->type == IB_NODE_SWITCH ? node->smalid : p->base_lid);
	if (!answered)
		return;
	cli_json_num(sm, "state", mad_get_field(data, 0, IB_SMINFO_STATE_F));
	cli_json_num(sm, "priority", mad_get_field(data, 0, IB_SMINFO_PRIO_F));
}

static void put_sms(const struct look *k, const ibnd_node_t *node)
{
	int first = node->type == IB_NODE_SWITCH ? 0 : 1;
	int last = node->type == IB_NODE_SWITCH ? 0 : node->numports;

	for (int i = first; i <= last; i++) {
		const ibnd_port_t *p = node->ports[i];

		if (p && info(p, IB_PORT_CAPMASK_F) & CAP_IS_SM)
			put_sm(k, node, p);
	}
}

/* ---- switches ---------------------------------------------------------- */

/* Only switches of NVIDIA are asked.  Those without adaptive routing answer with an error.  After
 * GIVE_UP switches without any answer, no more are asked. */
static bool is_adaptive(struct look *k, const ibnd_node_t *node)
{
	uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t to = node->path_portid;

	if (k->no_adaptive >= GIVE_UP ||
	    mad_get_field((void *)(uintptr_t)node->info, 0, IB_NODE_VENDORID_F) != VENDOR_NVIDIA)
		return false;
	errno = 0;
	if (smp_query_via(data, &to, ADAPTIVE_INFO, 0, SM_TIMEOUT_MS, k->via))
		return data[3] & 1;
	k->no_adaptive += errno == ETIMEDOUT;
	return false;
}

static void put_switch(struct look *k, ibnd_node_t *node)
{
	struct json_object *e = cli_json_element(k->switches);

	cli_json_guid(e, "guid", node->guid);
	cli_json_num(e, "lft_cap", mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_CAP_F));
	cli_json_num(e, "lft_top", mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_TOP_F));
	cli_json_bool(e, "adaptive", is_adaptive(k, node));
}

/* ---- ports ------------------------------------------------------------- */

static struct json_object *put_port(struct json_object *list, uint64_t guid, const ibnd_port_t *p)
{
	struct json_object *e = cli_json_element(list);

	cli_json_guid(e, "guid", guid);
	cli_json_num(e, "port", (uint64_t)p->portnum);
	cli_json_num(e, "state", info(p, IB_PORT_STATE_F));
	cli_json_num(e, "physical_state", info(p, IB_PORT_PHYS_STATE_F));
	cli_json_num(e, "widths", info(p, IB_PORT_LINK_WIDTH_SUPPORTED_F));
	cli_json_num(e, "speeds", info(p, IB_PORT_LINK_SPEED_SUPPORTED_F));
	cli_json_num(e, "extended_speeds", info(p, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F));
	cli_json_num(e, "vls", info(p, IB_PORT_OPER_VLS_F));
	return e;
}

/* Adds the counter to c, unless it is 0 or c is NULL.  Returns 1 if it is not 0. */
static int put_counter(struct json_object *c, const char *key, uint8_t *data,
		       enum MAD_FIELDS which)
{
	unsigned int value = mad_get_field(data, 0, (int)which);

	if (value && c)
		cli_json_num(c, key, value);
	return value != 0;
}

/* Reads the counters that a bad cable increases (PortCounters, IBA 16.1.3.5), and adds those that
 * are not 0 to c, if c is not NULL.  Returns their number; -1: no answer. */
static int read_counters(const struct look *k, const ibnd_node_t *node, int port,
			 struct json_object *c)
{
	uint8_t data[1024] = { 0 };
	ib_portid_t to = { .lid = node->smalid, .qp = 1, .qkey = IB_DEFAULT_QP1_QKEY };
	int n;

	if (!pma_query_via(data, &to, port, PMA_TIMEOUT_MS, IB_GSI_PORT_COUNTERS, k->via))
		return -1;
	n = put_counter(c, "LinkDowned", data, IB_PC_LINK_DOWNED_F);
	n += put_counter(c, "SymbolErrors", data, IB_PC_ERR_SYM_F);
	n += put_counter(c, "LinkErrorRecovery", data, IB_PC_LINK_RECOVERS_F);
	n += put_counter(c, "PortRcvErrors", data, IB_PC_ERR_RCV_F);
	n += put_counter(c, "LocalLinkIntegrityErrors", data, IB_PC_ERR_LOCALINTEG_F);
	n += put_counter(c, "ExcessiveBufferOverrunErrors", data, IB_PC_ERR_EXCESS_OVR_F);
	return n;
}

/* Adds the ports with a link.  Those whose counters are known have "counters". */
static void put_switch_ports(struct look *k, const ibnd_node_t *node)
{
	bool counted = node->smalid && k->no_counters < GIVE_UP;
	int sum = counted ? read_counters(k, node, PMA_ALL_PORTS, NULL) : 0;
	struct json_object *e, *c;

	k->no_counters += !counted;
	for (int i = 1; i <= node->numports; i++) {
		const ibnd_port_t *p = node->ports[i];

		if (!p || (!p->remoteport && info(p, IB_PORT_PHYS_STATE_F) != 5))
			continue;
		e = put_port(k->ports, node->guid, p);
		if (!counted)
			continue;
		c = cli_json_object(e, "counters");
		if (sum && read_counters(k, node, i, c) < 0) {
			k->no_counters++;	/* no answer: skip the other ports */
			json_object_object_del(e, "counters");
			counted = false;
		}
	}
}

static void put_node(struct look *k, ibnd_node_t *node)
{
	put_sms(k, node);
	if (node->type == IB_NODE_SWITCH) {
		put_switch(k, node);
		put_switch_ports(k, node);
		return;
	}
	for (int i = 1; i <= node->numports; i++)
		if (node->ports[i] && node->ports[i]->remoteport)
			put_port(k->ports, node->ports[i]->guid, node->ports[i]);
}

static enum ftr_status look(void *ctx, struct ibnd_fabric *net, const struct ftr_fabric *f,
			    struct ftr_err *err)
{
	struct look *k = ctx;
	const ibnd_port_t *own = net->from_node ? net->from_node->ports[net->from_portnum] : NULL;

	(void)f;
	k->via = cli_live_open(k->in, err);
	if (!k->via)
		return FTR_IO;
	if (own)
		cli_json_guid(k->o, "m_key", mad_get_field64((void *)(uintptr_t)own->info, 0,
							     IB_PORT_MKEY_F));
	k->sms = cli_json_array(k->o, "sms");
	k->switches = cli_json_array(k->o, "live_switches");
	k->ports = cli_json_array(k->o, "live_ports");
	for (ibnd_node_t *node = net->nodes; node; node = node->next)
		put_node(k, node);
	mad_rpc_close_port(k->via);
	cli_json_num(k->o, "no_counters", k->no_counters);
	cli_json_num(k->o, "no_adaptive", k->no_adaptive);
	return FTR_OK;
}

enum ftr_status cli_facts_live(struct cli_in *in, struct json_object *o,
			       struct cli_live *out, struct ftr_err *err)
{
	struct look k = { .in = in, .o = o };

	in->look = look;
	in->look_ctx = &k;
	return cli_live_read(in, out, err);
}

/* ---- SL2VL tables ------------------------------------------------------ */

/* Reads the SL2VL table of every pair (input port, output port).  The input port may be port 0.
 * Ports without a link are left out. */
static void read_sl2vl(struct ftr_sl2vl *m, const struct ftr_fabric *f, ftr_sw s,
		       const ibnd_node_t *node, struct ibmad_port *via)
{
	for (unsigned int in = 0; in <= f->sw[s].n_ports; in++)
		for (unsigned int out = 1; out <= f->sw[s].n_ports; out++) {
			uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
			ib_portid_t to = node->path_portid;

			if (!ftr_fabric_port(f, s, out)->peer_kind ||
			    (in && !ftr_fabric_port(f, s, in)->peer_kind))
				continue;
			if (!smp_query_via(data, &to, IB_ATTR_SLVL_TABLE,
					   in << 8 | out, SM_TIMEOUT_MS, via))
				cli_die("switch 0x%016" PRIx64 " does not answer a Get of its SL2VL tables",
					node->guid);
			for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
				ftr_sl2vl_set(m, s, (ftr_port)in, (ftr_port)out, sl,
					      sl & 1 ? data[sl / 2] & 15 : data[sl / 2] >> 4);
		}
}

static enum ftr_status look_sl2vl(void *ctx, struct ibnd_fabric *net, const struct ftr_fabric *f,
				  struct ftr_err *err)
{
	struct look *k = ctx;
	enum ftr_status st = ftr_sl2vl_new(f, &k->m, err);

	k->via = st ? NULL : cli_live_open(k->in, err);
	if (!k->via)
		return st ? st : FTR_IO;
	for (ibnd_node_t *node = net->nodes; node; node = node->next) {
		ftr_sw s = node->type == IB_NODE_SWITCH ? ftr_fabric_find_sw(f, node->guid) :
			   FTR_SW_NONE;

		if (s != FTR_SW_NONE)
			read_sl2vl(k->m, f, s, node, k->via);
	}
	mad_rpc_close_port(k->via);
	return FTR_OK;
}

enum ftr_status cli_sl2vl_live(struct cli_in *in, struct ftr_sl2vl **m,
			       struct cli_live *out, struct ftr_err *err)
{
	struct look k = { .in = in };
	enum ftr_status st;

	in->look = look_sl2vl;
	in->look_ctx = &k;
	st = cli_live_read(in, out, err);
	*m = k.m;
	return st;
}

#endif
