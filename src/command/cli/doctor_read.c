// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: reads the fabric from dumps or from the switches.
 *
 * A live fabric is read once, with Gets only.  libibnetdisc discovers the fabric and reads PortInfo
 * and SwitchInfo.  After that, the command reads SMInfo from every port with the IsSM capability,
 * then the error counters of every switch, then the forwarding tables.
 *
 * SMInfo is read over directed routes, because the ports may have no LIDs yet.  Counters are
 * read by LID.  Each switch first gets one Get with AllPortSelect, which returns the sum over all
 * ports.  If the sum of any counter is not 0, or the switch does not answer, its ports are read one
 * by one.  (A switch may not support AllPortSelect.)
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/doctor.h"

#ifdef HAVE_IBMAD

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

static unsigned int info(const ibnd_port_t *p, enum MAD_FIELDS which)
{
	return mad_get_field((void *)(uintptr_t)p->info, 0, (int)which);
}

static unsigned int top_bit(unsigned int set)
{
	return set ? 1u << (31 - __builtin_clz(set)) : 0;
}

/* ---- links ------------------------------------------------------------- */

static uint8_t supported_width(const ibnd_port_t *p)
{
	unsigned int set = info(p, IB_PORT_LINK_WIDTH_SUPPORTED_F), most = 0;

	for (unsigned int bit = 1; bit <= 16; bit <<= 1)
		if (set & bit && ftr_width_active(bit) > most)
			most = ftr_width_active(bit);
	return (uint8_t)most;
}

static uint8_t supported_speed(const ibnd_port_t *p)
{
	return (uint8_t)ftr_speed_active(top_bit(info(p, IB_PORT_LINK_SPEED_SUPPORTED_F)),
					 top_bit(info(p, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F)));
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* Returns the number of data VLs.  The codes of OperationalVLs are (IBA 14.2.5.6): 1: VL0,
 * 2: VL0-1, 3: VL0-3, 4: VL0-7, 5: VL0-14. */
static uint8_t vls(const ibnd_port_t *p)
{
	static const uint8_t n[] = { 0, 1, 2, 4, 8, 15 };
	unsigned int op = info(p, IB_PORT_OPER_VLS_F);

	return op < sizeof(n) ? n[op] : 0;
}

static void note_silent(struct doc_fabric *n, const ibnd_port_t *p)
{
	struct doc_silent *s;

	if (n->n_silent++ >= DOC_DETAILS)
		return;
	s = &n->silent[n->n_silent - 1];
	s->guid = p->node->guid;
	s->port = (unsigned int)p->portnum;
	snprintf(s->name, sizeof(s->name), "%.*s", FTR_NAME_MAX, p->node->nodedesc);
}

static void look_at_switch(struct doc_fabric *n, const struct ftr_fabric *f, ibnd_node_t *node)
{
	ftr_sw s = ftr_fabric_find_sw(f, node->guid);

	if (s == FTR_SW_NONE)
		return;
	n->sw[s].lft_cap = mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_CAP_F);
	n->sw[s].lft_top = mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_TOP_F);
	for (int i = 1; i <= node->numports && i <= f->sw[s].n_ports; i++) {
		const ibnd_port_t *p = node->ports[i];
		struct doc_port *out = &n->port[f->sw[s].first_port +
						(uint32_t)i];

		if (!p)
			continue;
		out->state = (uint8_t)info(p, IB_PORT_STATE_F);
		if (!p->remoteport) {
			if (info(p, IB_PORT_PHYS_STATE_F) == 5)
				note_silent(n, p);
			continue;
		}
		out->max_width = least(supported_width(p), supported_width(p->remoteport));
		out->max_speed = least(supported_speed(p), supported_speed(p->remoteport));
		out->op_vls = vls(p);
	}
}

/* ---- subnet managers --------------------------------------------------- */

static void add_sm(struct doc_fabric *n, const ibnd_node_t *node,
		   const ibnd_port_t *p, struct ibmad_port *via)
{
	uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t to = node->path_portid;
	struct doc_sm *sm;

	if (n->n_sm == DOC_SM_MAX)
		return;
	sm = &n->sm[n->n_sm++];
	sm->guid = p->guid;
	sm->lid = node->type == IB_NODE_SWITCH ? node->smalid : p->base_lid;
	snprintf(sm->name, sizeof(sm->name), "%.*s", FTR_NAME_MAX, node->nodedesc);
	if (!smp_query_via(data, &to, IB_ATTR_SMINFO, 0, SM_TIMEOUT_MS, via))
		return;
	sm->answered = true;
	sm->guid = mad_get_field64(data, 0, IB_SMINFO_GUID_F);
	sm->state = (uint8_t)mad_get_field(data, 0, IB_SMINFO_STATE_F);
	sm->priority = (uint8_t)mad_get_field(data, 0, IB_SMINFO_PRIO_F);
}

static void look_for_sms(struct doc_fabric *n, const ibnd_node_t *node, struct ibmad_port *via)
{
	int first = node->type == IB_NODE_SWITCH ? 0 : 1;
	int last = node->type == IB_NODE_SWITCH ? 0 : node->numports;

	for (int i = first; i <= last; i++) {
		const ibnd_port_t *p = node->ports ? node->ports[i] : NULL;

		if (p && info(p, IB_PORT_CAPMASK_F) & CAP_IS_SM)
			add_sm(n, node, p, via);
	}
}

/* ---- adaptive routing -------------------------------------------------- */

/* Only switches of NVIDIA are asked.  Those without adaptive routing answer with an error.  After
 * GIVE_UP switches without any answer, no more are asked. */
static void look_for_adaptive(struct doc_fabric *n, const struct ftr_fabric *f,
			      const ibnd_node_t *node, struct ibmad_port *via)
{
	uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t to = node->path_portid;
	ftr_sw s = ftr_fabric_find_sw(f, node->guid);

	if (s == FTR_SW_NONE || n->no_adaptive >= GIVE_UP ||
	    mad_get_field((void *)(uintptr_t)node->info, 0, IB_NODE_VENDORID_F) != VENDOR_NVIDIA)
		return;
	errno = 0;
	if (smp_query_via(data, &to, ADAPTIVE_INFO, 0, SM_TIMEOUT_MS, via))
		n->sw[s].adaptive = data[3] & 1;
	else if (errno == ETIMEDOUT)
		n->no_adaptive++;
}

/* ---- counters ---------------------------------------------------------- */

static const enum MAD_FIELDS counter_field[DOC_N_COUNTERS] = {
	[DOC_LINK_DOWNED] = IB_PC_LINK_DOWNED_F,
	[DOC_SYMBOL_ERRORS] = IB_PC_ERR_SYM_F,
	[DOC_LINK_RECOVERIES] = IB_PC_LINK_RECOVERS_F,
	[DOC_RECEIVE_ERRORS] = IB_PC_ERR_RCV_F,
	[DOC_INTEGRITY_ERRORS] = IB_PC_ERR_LOCALINTEG_F,
	[DOC_BUFFER_OVERRUNS] = IB_PC_ERR_EXCESS_OVR_F,
};

/* Reads the counters of a port.  Returns the number of counters that are not 0; -1: no answer. */
static int read_port(uint16_t counter[DOC_N_COUNTERS], const ibnd_node_t *node,
		     unsigned int port, struct ibmad_port *via)
{
	uint8_t data[1024] = { 0 };
	ib_portid_t to = { .lid = node->smalid, .qp = 1, .qkey = IB_DEFAULT_QP1_QKEY };
	int n = 0;

	if (!pma_query_via(data, &to, (int)port, PMA_TIMEOUT_MS, IB_GSI_PORT_COUNTERS, via))
		return -1;
	for (int i = 0; i < DOC_N_COUNTERS; i++) {
		counter[i] = (uint16_t)mad_get_field(data, 0, (int)counter_field[i]);
		n += counter[i] != 0;
	}
	return n;
}

static void read_counters(struct doc_fabric *n, const struct ftr_fabric *f,
			  const ibnd_node_t *node, struct ibmad_port *via)
{
	ftr_sw s = ftr_fabric_find_sw(f, node->guid);
	uint16_t all[DOC_N_COUNTERS];
	struct doc_port *port;
	int sum;

	if (s == FTR_SW_NONE || !node->smalid || n->no_counters >= GIVE_UP) {
		n->no_counters++;
		return;
	}
	port = &n->port[f->sw[s].first_port];
	sum = read_port(all, node, PMA_ALL_PORTS, via);
	for (unsigned int i = 1; i <= f->sw[s].n_ports; i++) {
		if (sum && read_port(port[i].counter, node, i, via) < 0) {
			n->no_counters++;	/* no answer: skip the other ports */
			return;
		}
		port[i].counted = true;
	}
}

/* ---- the whole fabric -------------------------------------------------- */

static enum ftr_status look(void *ctx, struct ibnd_fabric *net,
			    const struct ftr_fabric *f, struct ftr_err *err)
{
	struct doctor *d = ctx;
	struct doc_fabric *n = &d->net;
	struct ibmad_port *via;
	const ibnd_port_t *own;

	n->port = calloc((size_t)f->n_ports + 1, sizeof(*n->port));
	n->sw = calloc((size_t)f->n_sw + 1, sizeof(*n->sw));
	if (!n->port || !n->sw)
		return ftr_nomem(err, "%u ports", f->n_ports);
	via = cli_live_open(&d->o.in.from, err);
	if (!via)
		return FTR_IO;
	own = net->from_node && net->from_node->ports ?
	      net->from_node->ports[net->from_portnum] : NULL;
	if (own) {
		n->m_key = mad_get_field64((void *)(uintptr_t)own->info, 0, IB_PORT_MKEY_F);
		n->m_key_known = true;
	}
	for (ibnd_node_t *node = net->nodes; node; node = node->next) {
		look_for_sms(n, node, via);
		if (node->type != IB_NODE_SWITCH)
			continue;
		look_at_switch(n, f, node);
		look_for_adaptive(n, f, node, via);
		read_counters(n, f, node, via);
	}
	mad_rpc_close_port(via);
	return FTR_OK;
}

#endif

static enum ftr_status read_live(struct doctor *d, struct doc_fabric *n, struct ftr_err *err)
{
	struct cli_live live;
	enum ftr_status st;

#ifdef HAVE_IBMAD
	d->o.in.from.look = look;
	d->o.in.from.ctx = d;
#endif
	st = cli_live_read(&d->o.in.from, &live, err);
	if (st)
		return st;
	n->f = live.f;
	n->t = live.t;
	n->missing = live.missing;
	return FTR_OK;
}

void doc_read(struct doctor *d)
{
	struct doc_fabric *n = &d->net;
	double t0 = cli_now();

	n->tried = true;
	n->live = !d->fabric;
	if (n->live) {
		n->err.status = read_live(d, n, &n->err);
	} else {	/* unreadable dumps are bad input; an unreadable live fabric is a finding */
		n->f = cli_read_fabric(&d->o.in, d->fabric);
		if (d->o.lfts)
			n->t = cli_read_lfts(d->o.lfts, n->f, &n->missing);
	}
	n->seconds = cli_now() - t0;
}

void doc_free_fabric(struct doc_fabric *n)
{
	free(n->port);
	free(n->sw);
	ftr_tables_free(n->t);
	ftr_fabric_free(n->f);
}

void doc_fabric(struct doctor *d, struct doc_result *r)
{
	const struct doc_fabric *n = &d->net;

	if (n->err.status) {
		doc_say(r, DOC_FAILURE, "%s", n->err.msg);
		if (n->live)
			doc_remedy(r, "see the checks of this node above; if they are ok, start opensm, or give the M_Key with --m-key");
		else
			doc_remedy(r, "give the output of ibnetdiscover as FABRIC, and the output of dump_lfts with --lfts");
		return;
	}
	doc_say(r, n->missing ? DOC_FAILURE : DOC_OK, "%s, %s, %s between switches; read in %.1f s",
		CLI_SWITCHES(n->f->n_sw), CLI_HOST_PORTS(n->f->n_ep),
		CLI_LINKS(n->f->n_sw_links), n->seconds);
	if (!n->missing)
		return;
	doc_detail(r, "switches whose table could not be read: %u", n->missing);
	doc_remedy(r, "find out why these switches do not answer; the paths over them are not known");
}

void doc_m_key(struct doctor *d, struct doc_result *r)
{
	const struct doc_fabric *n = &d->net;
	uint64_t given = d->o.in.from.m_key;

	if (!n->m_key_known) {
		doc_say(r, DOC_NOT_CHECKED, "the M_Key can be read from a live fabric only");
	} else if (!n->m_key) {
		doc_say(r, DOC_OK, "the local port shows no M_Key");
	} else if (n->m_key == given) {
		doc_say(r, DOC_OK, "the local port has the given M_Key");
	} else {
		doc_say(r, DOC_WARNING, "the local port has an M_Key, and %s was given; protected switches may not answer",
			given ? "another" : "none");
		doc_remedy(r, "give the fabric's M_Key (m_key in opensm.conf) with --m-key");
	}
}
