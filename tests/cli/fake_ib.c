// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric without hardware for commands with --live: the functions of libibnetdisc, libibmad and
 * libibumad that the command calls.  A program that is linked with them (ibfattree-fake) discovers
 * the fabric and the tables of two files, which it reads again for every discovery.
 *
 *	FAKE_FABRIC	the fabric, as for "ibfattree check"
 *	FAKE_LFTS	its tables; unset: all entries are missing
 *	FAKE_FAULTS	words, separated by blanks; see fault()
 *
 * The first switch and the first host port have subnet managers.  The last switch is the one that a
 * fault concerns.  The directed route to node N of the discovery is "0,N/100,N%100".
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "ftr/io.h"

#define CAP_IS_SM	(1u << 1)
#define CAP_SM_DISABLED	(1u << 10)
#define NVIDIA		0x2c9
#define ADAPTIVE_INFO	0xff20
#define M_KEY		0x1234
#define ALL_PORTS	255
#define NOT_SUPPORTED	0xc

/* One fabric at a time. */
static struct {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	ibnd_node_t *node;	/* [n_sw + n_nodes]: switches, then end nodes */
	ibnd_port_t *port;	/* [n_ports + n_ep]: as in f->ports, then end ports */
	ibnd_port_t **ports;	/* the arrays of the nodes */
	ibnd_fabric_t net;
} fake;

static bool fault(const char *word)
{
	const char *all = getenv("FAKE_FAULTS");
	size_t len = strlen(word);

	for (const char *at = all ? strstr(all, word) : NULL; at; at = strstr(at + 1, word))
		if ((at == all || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* ---- the local port -------------------------------------------------------------- */

int umad_init(void)
{
	return fault("no-umad") ? -1 : 0;
}

int umad_get_port(const char *ca, int number, umad_port_t *port)
{
	(void)ca;
	(void)number;
	memset(port, 0, sizeof(*port));
	port->capmask = fault("planar") ? htobe32(CAP_SM_DISABLED) : 0;
	return fault("no-port") ? -1 : 0;
}

int umad_release_port(umad_port_t *port)
{
	(void)port;
	return 0;
}

struct ibmad_port *mad_rpc_open_port(char *ca, int number, int *classes, int n)
{
	(void)ca;
	(void)number;
	(void)classes;
	(void)n;
	errno = ENODEV;
	return fault("no-queries") ? NULL : (struct ibmad_port *)&fake;
}

void mad_rpc_close_port(struct ibmad_port *via)
{
	(void)via;
}

void smp_mkey_set(struct ibmad_port *via, uint64_t key)
{
	(void)via;
	(void)key;
}

/* ---- discovery ------------------------------------------------------------------- */

static void set_link(uint8_t *info, unsigned int lanes, enum ftr_speed speed)
{
	mad_set_field(info, 0, IB_PORT_PHYS_STATE_F, 5);
	for (unsigned int w = 1; w <= 16; w *= 2)
		if (ftr_width_active(w) == lanes)
			mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, w);
	for (unsigned int s = 1; s <= 8; s *= 2) {
		if (ftr_speed_active(s, 0) == speed)
			mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, s);
		if (ftr_speed_active(0, s) == speed)
			mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, s);
	}
}

static void set_node(unsigned int i, int type, uint64_t guid, const char *name)
{
	ibnd_node_t *n = &fake.node[i];

	n->type = type;
	n->guid = guid;
	strncpy(n->nodedesc, name, IB_SMP_DATA_SIZE);
	n->path_portid.drpath.cnt = 2;
	n->path_portid.drpath.p[1] = (uint8_t)(i / 100);
	n->path_portid.drpath.p[2] = (uint8_t)(i % 100);
	mad_set_field(n->info, 0, IB_NODE_VENDORID_F, fault("adaptive") ? NVIDIA : 1);
	n->next = fake.net.nodes;
	fake.net.nodes = n;
}

static void set_port(ibnd_port_t *p, ibnd_node_t *node, int number)
{
	p->node = node;
	p->portnum = number;
	p->guid = node->guid;
	node->ports[number] = p;
	if (number > node->numports)
		node->numports = number;
}

static ibnd_port_t *far_of(const struct ftr_swport *p)
{
	if (p->peer_kind == FTR_PEER_SW)
		return &fake.port[fake.f->sw[p->peer].first_port + p->peer_port];
	return p->peer_kind == FTR_PEER_EP ? &fake.port[fake.f->n_ports + p->peer] : NULL;
}

static void set_switch(ftr_sw s, ibnd_port_t ***ports)
{
	const struct ftr_switch *sw = &fake.f->sw[s];
	ibnd_node_t *n = &fake.node[s];

	set_node(s, IB_NODE_SWITCH, sw->guid, sw->name);
	n->ports = *ports;
	*ports += sw->n_ports + 1;
	n->smalid = fault("no-lids") ? 0 : sw->lid;
	n->smalmc = sw->lmc;
	mad_set_field(n->switchinfo, 0, IB_SW_LINEAR_FDB_CAP_F, FTR_LID_MAX);
	mad_set_field(n->switchinfo, 0, IB_SW_LINEAR_FDB_TOP_F,
		      fault("low-top") ? 1 : fault("high-top") ? FTR_LID_MAX : fake.f->max_lid);
	for (unsigned int i = 0; i <= sw->n_ports; i++) {
		const struct ftr_swport *p = ftr_fabric_port(fake.f, s, i);
		ibnd_port_t *port = &fake.port[sw->first_port + i];

		set_port(port, n, (int)i);
		port->remoteport = far_of(p);
		if (port->remoteport)
			set_link(port->info, p->width, p->speed);
	}
	mad_set_field(n->ports[0]->info, 0, IB_PORT_CAPMASK_F, s ? 0 : CAP_IS_SM);
	n->numports = sw->n_ports;
}

static void set_end_port(ftr_ep e)
{
	const struct ftr_endport *ep = &fake.f->ep[e];
	ibnd_node_t *n = &fake.node[fake.f->n_sw + ep->node];
	ibnd_port_t *port = &fake.port[fake.f->n_ports + e];

	set_port(port, n, ep->port_num);
	port->guid = ep->guid;
	port->base_lid = fault("no-lids") || (!e && fault("lidless-host")) ? 0 :
		fault("one-lid") ? 1 : ep->lid;
	port->lmc = ep->lmc;
	if (ep->sw != FTR_SW_NONE) {
		const struct ftr_swport *p = ftr_fabric_port(fake.f, ep->sw, ep->sw_port);

		port->remoteport = &fake.port[fake.f->sw[ep->sw].first_port + ep->sw_port];
		set_link(port->info, p->width, p->speed);
	}
	mad_set_field(port->info, 0, IB_PORT_CAPMASK_F, e ? 0 : CAP_IS_SM);
	mad_set_field64(port->info, 0, IB_PORT_MKEY_F, M_KEY);
}

static bool read_files(void)
{
	const char *lfts = getenv("FAKE_LFTS");
	struct ftr_parts parts = { 0 };
	struct ftr_err err;

	if (ftr_read_fabric(getenv("FAKE_FABRIC"), 0, &fake.f, &err))
		return false;
	return lfts ? !ftr_read_lfts(lfts, fake.f, &fake.t, &parts, &err) :
		!ftr_tables_new(fake.f, true, &fake.t, &err);
}

static bool discover(void)
{
	const struct ftr_fabric *f;
	ibnd_port_t **ports;
	ftr_sw last;

	if (!read_files())
		return false;
	f = fake.f;
	last = f->n_sw - 1;
	fake.node = calloc(f->n_sw + f->n_nodes, sizeof(*fake.node));
	fake.port = calloc(f->n_ports + f->n_ep, sizeof(*fake.port));
	fake.ports = calloc(f->n_ports + (size_t)f->n_nodes * 256, sizeof(*fake.ports));
	if (!fake.node || !fake.port || !fake.ports)
		return false;
	ports = fake.ports;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		set_switch(s, &ports);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *ep = &f->ep[e];

		if (!fake.node[f->n_sw + ep->node].ports) {
			fake.node[f->n_sw + ep->node].ports = ports;
			ports += 256;
			set_node(f->n_sw + ep->node, ep->type == FTR_NODE_ROUTER ?
				 IB_NODE_ROUTER : IB_NODE_CA, ep->node_guid, ep->name);
		}
		set_end_port(e);
	}
	fake.net.from_node = &fake.node[f->n_sw];
	fake.net.from_portnum = f->n_ep ? f->ep[0].port_num : 0;
	if (fault("silent-node"))
		fake.node[last].ports[1]->remoteport = NULL;
	if (fault("no-port-info"))
		fake.node[last].ports[1] = NULL;
	if (fault("empty"))
		fake.net.nodes = fake.net.from_node = NULL;
	return true;
}

ibnd_fabric_t *ibnd_discover_fabric(char *ca, int number, ib_portid_t *from,
				    struct ibnd_config *config)
{
	(void)ca;
	(void)number;
	(void)from;
	(void)config;
	if (!fault("no-discovery") && discover())
		return &fake.net;
	ibnd_destroy_fabric(&fake.net);
	errno = fault("no-memory") ? ENOMEM : EIO;
	return NULL;
}

void ibnd_destroy_fabric(ibnd_fabric_t *net)
{
	(void)net;
	free(fake.ports);
	free(fake.port);
	free(fake.node);
	ftr_tables_free(fake.t);
	ftr_fabric_free(fake.f);
	memset(&fake, 0, sizeof(fake));
}

/* ---- queries --------------------------------------------------------------------- */

static unsigned int node_of(const ib_portid_t *to)
{
	return to->drpath.p[1] * 100u + to->drpath.p[2];
}

uint8_t *smp_query_status_via(void *data, ib_portid_t *to, unsigned int attr, unsigned int block,
			      unsigned int timeout, int *status, const struct ibmad_port *via)
{
	ftr_sw s = node_of(to);
	const uint8_t *row = ftr_tables_row(fake.t, s);

	(void)attr;
	(void)timeout;
	(void)via;
	if (s == fake.f->n_sw - 1 && fault("refused-table"))
		*status = NOT_SUPPORTED;
	if (s == fake.f->n_sw - 1 && (fault("refused-table") || fault("no-table")))
		return NULL;
	return memcpy(data, row + (size_t)block * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
}

static uint8_t *sm_info(uint8_t *data, unsigned int node)
{
	if (fault("no-sm-info"))
		return NULL;
	mad_set_field64(data, 0, IB_SMINFO_GUID_F, fake.node[node].guid);
	mad_set_field(data, 0, IB_SMINFO_STATE_F, node ? 3 : 2);
	mad_set_field(data, 0, IB_SMINFO_PRIO_F, node ? 10 : 1);
	return data;
}

uint8_t *smp_query_via(void *data, ib_portid_t *to, unsigned int attr, unsigned int mod,
		       unsigned int timeout, const struct ibmad_port *via)
{
	unsigned int node = node_of(to);
	uint8_t *bytes = data;

	(void)mod;
	(void)timeout;
	(void)via;
	if (attr == IB_ATTR_SMINFO)
		return sm_info(data, node);
	if (attr == IB_ATTR_SLVL_TABLE) {
		for (unsigned int i = 0; i < 8; i++)
			bytes[i] = (uint8_t)(2 * i << 4 | (2 * i + 1));
		return node == fake.f->n_sw - 1 && fault("no-sl2vl") ? NULL : data;
	}
	bytes[3] = node & 1;	/* AdaptiveRoutingInfo */
	errno = fault("no-adaptive-info") ? ETIMEDOUT : EIO;
	return fault("no-adaptive-info") || fault("refused-adaptive-info") ? NULL : data;
}

uint8_t *pma_query_via(void *data, ib_portid_t *to, int port, unsigned int timeout,
		       unsigned int attr, const struct ibmad_port *via)
{
	(void)to;
	(void)timeout;
	(void)attr;
	(void)via;
	if (fault("no-counters") || (port != ALL_PORTS && fault("no-port-counters")))
		return NULL;
	if ((port == ALL_PORTS || port == 2) && !fault("no-errors"))
		mad_set_field(data, 0, IB_PC_ERR_SYM_F, 7);
	return data;
}
