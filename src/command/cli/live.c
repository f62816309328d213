// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads a running fabric.
 *
 * libibnetdisc discovers nodes, LIDs and links over directed routes.  The forwarding
 * tables are then read with SMPs over the same directed routes.  So both
 * steps work even if the tables are wrong.
 *
 * A Get without an answer is repeated by libibmad.  If a switch still does not answer, it is
 * reported and skipped.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"

#ifndef HAVE_IBMAD

enum ftr_status cli_live_read(const struct cli_in *in, struct cli_live *out, struct ftr_err *err)
{
	(void)in;
	(void)out;
	return ftr_fail(err, FTR_INVAL, "this ibfattree was built without libibmad, libibumad and libibnetdisc: it cannot read a running fabric");
}

#else

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

/* SMPs of the discovery in flight.  The sockets of ibsim hold about ten messages per direction.
 * More could block ibsim and its client forever. */
#define IN_FLIGHT_MAX	8
#define TIMEOUT_MS	500
#define DR_PATH_TEXT	256

/* ---- discovery to fabric ----------------------------------------------- */

/* libibmad takes no const pointer */
static unsigned int field(const uint8_t *port_info, enum MAD_FIELDS which)
{
	uint8_t copy[IB_SMP_DATA_SIZE];

	memcpy(copy, port_info, sizeof(copy));
	return mad_get_field(copy, 0, which);
}

static unsigned int width(const uint8_t *port_info)
{
	return ftr_width_active(field(port_info, IB_PORT_LINK_WIDTH_ACTIVE_F));
}

static enum ftr_speed speed(const uint8_t *port_info)
{
	return ftr_speed_active(field(port_info, IB_PORT_LINK_SPEED_ACTIVE_F),
				field(port_info,
				      IB_PORT_LINK_SPEED_EXT_ACTIVE_F));
}

static bool link_is_up(ibnd_port_t *p)
{
	return mad_get_field(p->info, 0, IB_PORT_PHYS_STATE_F) == 5;
}

static enum ftr_status add_endports(struct ftr_builder *b, ibnd_node_t *n, struct ftr_err *err)
{
	enum ftr_node_type type = n->type == IB_NODE_ROUTER ?
				  FTR_NODE_ROUTER : FTR_NODE_CA;

	for (int p = 1; p <= n->numports; p++) {
		ibnd_port_t *port = n->ports[p];
		enum ftr_status st;

		if (!port)
			continue;
		st = ftr_builder_add_endport(b, &(struct ftr_endport){
			.guid = port->guid, .node_guid = n->guid, .type = (uint8_t)type,
			.port_num = (ftr_port)p, .lid = port->base_lid, .lmc = port->lmc,
			.name = n->nodedesc,
		}, err);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status add_links(struct ftr_builder *b, ibnd_node_t *n,
				 uint32_t *silent, struct ftr_err *err)
{
	for (int p = 1; p <= n->numports; p++) {
		ibnd_port_t *port = n->ports[p], *far;
		enum ftr_status st;

		if (!port)
			continue;
		far = port->remoteport;
		if (!far) {
			if (link_is_up(port)) {
				++*silent;
				cli_error("note: \"%s\" (0x%016" PRIx64
					  ") port %d has a link, but the node behind it does not answer",
					  n->nodedesc, n->guid, p);
			}
			continue;
		}
		st = ftr_builder_add_link(b,
			(struct ftr_end){ n->guid, (ftr_port)p },
			(struct ftr_end){ far->node->guid,
					  (ftr_port)far->portnum },
			width(port->info), speed(port->info), err);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status add_node(struct ftr_builder *b, ibnd_node_t *n, uint32_t *silent,
				struct ftr_err *err)
{
	const struct ftr_switch sw = {
		.guid = n->guid, .n_ports = (ftr_port)n->numports,
		.lid = n->smalid, .lmc = n->smalmc, .name = n->nodedesc,
	};
	enum ftr_status st = n->type == IB_NODE_SWITCH ? ftr_builder_add_switch(b, &sw, err) :
		add_endports(b, n, err);

	return st ? st : add_links(b, n, silent, err);
}

static enum ftr_status to_fabric(ibnd_fabric_t *net, struct cli_live *out, struct ftr_err *err)
{
	struct ftr_builder *b = ftr_builder_new();
	enum ftr_status st = FTR_OK;

	if (!b)
		return ftr_nomem(err, "the running fabric");
	for (ibnd_node_t *n = net->nodes; n; n = n->next) {
		st = add_node(b, n, &out->silent, err);
		if (st)
			break;
	}
	if (!st)
		st = ftr_builder_freeze(b, &out->f, err);
	if (st) {
		ftr_builder_free(b);
		return ftr_err_prefix(err, "running fabric");
	}
	return FTR_OK;
}

struct ibmad_port *cli_live_open(const struct cli_in *in, struct ftr_err *err)
{
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS,
			  IB_PERFORMANCE_CLASS };
	struct ibmad_port *via =
		mad_rpc_open_port((char *)(uintptr_t)in->ca, (int)in->port, classes, 3);

	if (via)
		smp_mkey_set(via, in->m_key);
	else
		ftr_fail(err, FTR_IO, "cannot open the local InfiniBand port for queries: %s",
			 strerror(errno));
	return via;
}

/* ---- tables --------------------------------------------------------------- */

/* Reports a switch whose table cannot be read. */
static void give_up(const struct ftr_fabric *f, ftr_sw s, const ib_dr_path_t *dr, const char *why)
{
	char path[DR_PATH_TEXT];
	int n = snprintf(path, sizeof(path), "0");

	for (int i = 1; i <= dr->cnt && (size_t)n < sizeof(path); i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, ",%u", dr->p[i]);
	cli_error("note: switch \"%s\" (0x%016" PRIx64
		  ") over directed route %s: %s; its table is not known",
		  f->sw[s].name, f->sw[s].guid, path, why);
}

/* Reads the table of one switch, up to LinearFDBTop.  *blocks: the number of blocks read so far.
 * Returns false, with an empty row, if the switch does not answer or refuses a Get. */
static bool read_table(const struct ftr_fabric *f, ftr_sw s, ibnd_node_t *node, struct ftr_tables *t,
		       struct ibmad_port *via, uint32_t *blocks)
{
	uint32_t top = mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_TOP_F);
	uint32_t last = top < f->max_lid ? top : f->max_lid;
	uint8_t *row = ftr_tables_row(t, s);
	ib_portid_t to = node->path_portid;
	char why[64] = "no answer";

	for (uint32_t b = 0; b <= last / FTR_LFT_BLOCK; b++, ++*blocks) {
		int status = 0;

		if (smp_query_status_via(row + (size_t)b * FTR_LFT_BLOCK, &to,
					 IB_ATTR_LINEARFORWTBL, b, TIMEOUT_MS, &status, via))
			continue;
		if (status)
			snprintf(why, sizeof(why), "refused block %u with status 0x%x", b,
				 (unsigned int)status);
		give_up(f, s, &to.drpath, why);
		memset(row, FTR_PORT_NONE, t->stride);
		return false;
	}
	/* entries above LinearFDBTop are not valid */
	if (top + 1 < t->stride)
		memset(row + top + 1, FTR_PORT_NONE, t->stride - top - 1);
	return true;
}

static enum ftr_status read_tables(const struct cli_in *in,
				   ibnd_fabric_t *net, struct cli_live *out, struct ftr_err *err)
{
	enum ftr_status st = ftr_tables_new(out->f, true, &out->t, err);
	struct ibmad_port *via = st ? NULL : cli_live_open(in, err);
	double t0 = cli_now();

	if (!via)
		return st ? st : FTR_IO;
	for (ibnd_node_t *n = net->nodes; n; n = n->next) {
		ftr_sw s = n->type == IB_NODE_SWITCH ? ftr_fabric_find_sw(out->f, n->guid) :
			   FTR_SW_NONE;

		if (s != FTR_SW_NONE && !read_table(out->f, s, n, out->t, via, &out->blocks))
			out->missing++;
	}
	mad_rpc_close_port(via);
	out->table_seconds = cli_now() - t0;
	return FTR_OK;
}

#define CAP_SM_DISABLED	(1u << 10)

/* Returns true if SMPs must be sent through another device: in adapters for planarized XDR fabrics,
 * one device has only the ports for SMPs, and the other one says IsSMDisabled. */
static bool leaves_smps(const struct cli_in *in)
{
	umad_port_t p;
	bool leaves;

	if (umad_get_port(in->ca, (int)in->port, &p) < 0)
		return false;
	leaves = be32toh(p.capmask) & CAP_SM_DISABLED;
	umad_release_port(&p);
	return leaves;
}

enum ftr_status cli_live_read(const struct cli_in *in, struct cli_live *out, struct ftr_err *err)
{
	struct ibnd_config cfg = { .max_smps = IN_FLIGHT_MAX, .mkey = in->m_key };
	ibnd_fabric_t *net;
	enum ftr_status st;

	memset(out, 0, sizeof(*out));
	if (umad_init() < 0)
		return ftr_fail(err, FTR_IO, "cannot use InfiniBand management datagrams on this machine (is the ib_umad module loaded?)");
	errno = 0;
	net = ibnd_discover_fabric((char *)(uintptr_t)in->ca, (int)in->port, NULL, &cfg);
	if (!net && errno == ENOMEM)
		return ftr_nomem(err, "the running fabric");
	if (!net)
		return ftr_fail(err, FTR_IO, "cannot discover the fabric: adapter=%s port=%s%s",
				in->ca ? in->ca : "any", in->port ? CLI_NUM(in->port) : "any", leaves_smps(in) ?
				"; the adapter leaves SMPs to another device, as planarized XDR adapters do: give that device, such as smi0, with --ca" :
				in->look ? "" : "; \"ibfattree doctor --local\" examines this node");
	st = to_fabric(net, out, err);
	if (!st && in->look)
		st = in->look(in->look_ctx, net, out->f, err);
	if (!st && !out->f->max_lid)
		st = ftr_fail(err, FTR_INVAL, "the running fabric has %s, but no subnet manager has assigned LIDs",
			      CLI_SWITCHES(out->f->n_sw));
	if (!st)
		st = read_tables(in, net, out, err);
	ibnd_destroy_fabric(net);
	if (st) {
		ftr_tables_free(out->t);
		ftr_fabric_free(out->f);
		memset(out, 0, sizeof(*out));
	}
	return st;
}

#endif
