// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads a running fabric.
 *
 * libibnetdisc discovers nodes, LIDs and links over directed routes.  The forwarding
 * tables are then read with SMPs over the same directed routes.  So both
 * steps work even if the tables are wrong.
 *
 * Several Gets are in flight at once, one per slot (struct slot).  The lower half of the
 * transaction ID holds the number of the slot, and the number of Gets that this slot has sent.
 * The response repeats the ID, so a late answer to an earlier Get of the slot is recognised and
 * dropped.  Block 0 is read from all switches, then block 1, and so on.  So the Gets to any one
 * switch are spread over time.  A Get without an answer is repeated.  If a switch still does not
 * answer, it is reported and skipped.
 *
 * The plugin has another sender (src/plugin/osm/transport.c), whose comment says why one does not
 * suffice.
 *
 *	slot 0  [switch 17 block 3] --Get-->   <--GetResp-- tid = Gets sent << 8 | 0
 *	slot 1  [switch 18 block 3] --Get-->   ...
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"

#ifndef HAVE_IBMAD

enum ftr_status cli_live_read(const struct cli_live_opts *opts,
			      struct cli_live *out, struct ftr_err *err)
{
	(void)opts;
	(void)out;
	return ftr_fail(err, FTR_INVAL, "this ibfattree was built without libibmad, libibumad and libibnetdisc: it cannot read a running fabric");
}

#else

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

/* The sockets of ibsim hold about ten messages per direction.  More Gets in flight could block
 * ibsim and its client forever. */
#define IN_FLIGHT_MAX	8
#define TIMEOUT_MS	500
#define TRIES		4
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

static enum ftr_status add_endports(struct ftr_builder *b, ibnd_node_t *n,
				    struct ftr_err *err)
{
	enum ftr_node_type type = n->type == IB_NODE_ROUTER ?
				  FTR_NODE_ROUTER : FTR_NODE_CA;

	for (int p = 1; p <= n->numports; p++) {
		ibnd_port_t *port = n->ports[p];
		enum ftr_status st;

		if (!port)
			continue;
		st = ftr_builder_add_endport(b, type, n->guid, port->guid,
					     (unsigned int)p, port->base_lid,
					     port->lmc, n->nodedesc, err);
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

static enum ftr_status to_fabric(ibnd_fabric_t *net, struct cli_live *out,
				 struct ftr_err *err)
{
	struct ftr_builder *b = ftr_builder_new();
	enum ftr_status st = FTR_OK;

	if (!b)
		return ftr_fail(err, FTR_NOMEM, "out of memory");
	for (ibnd_node_t *n = net->nodes; !st && n; n = n->next) {
		if (n->type == IB_NODE_SWITCH)
			st = ftr_builder_add_switch(b, n->guid,
						    (unsigned int)n->numports,
						    n->smalid, n->smalmc,
						    n->nodedesc, err);
		else
			st = add_endports(b, n, err);
		if (!st)
			st = add_links(b, n, &out->silent, err);
	}
	if (!st)
		st = ftr_builder_freeze(b, &out->f, err);
	if (st) {
		ftr_builder_free(b);
		return ftr_err_prefix(err, "running fabric");
	}
	return FTR_OK;
}

/* ---- reading tables ---------------------------------------------------- */

struct slot {
	bool busy;
	ftr_sw sw;
	uint32_t block;
	uint32_t use;		/* number of Gets this slot has sent */
	unsigned int tries;
	double deadline;
};

struct reader {
	const struct ftr_fabric *f;
	struct ftr_tables *t;
	ibnd_node_t **node;	/* [n_sw] NULL: the switch is skipped from now on */
	uint32_t *n_blocks;	/* [n_sw] number of blocks to read */
	uint32_t max_blocks;
	uint32_t missing;
	uint64_t m_key;
	int port, agent;
	void *umad;		/* buffer for sending */
	void *answer;		/* buffer for receiving */
	struct slot slot[IN_FLIGHT_MAX];
	uint32_t next_block;	/* block and switch of the next Get to send */
	ftr_sw next_sw;
};

static uint32_t slot_tid(const struct reader *r, const struct slot *s)
{
	return (s->use << 8) | (uint32_t)(s - r->slot);
}

static bool send_get(struct reader *r, struct slot *s)
{
	ib_portid_t to = r->node[s->sw]->path_portid;
	ib_rpc_t rpc = {
		.mgtclass = IB_SMI_DIRECT_CLASS, .method = IB_MAD_METHOD_GET,
		.attr = { .id = IB_ATTR_LINEARFORWTBL, .mod = s->block },
		.timeout = TIMEOUT_MS, .datasz = IB_SMP_DATA_SIZE,
		.dataoffs = IB_SMP_DATA_OFFS, .mkey = r->m_key,
	};

	s->use++;
	s->tries++;
	s->deadline = cli_now() + 2.0 * TIMEOUT_MS / 1000;
	rpc.trid = slot_tid(r, s);
	memset(r->umad, 0, umad_size() + IB_MAD_SIZE);
	return mad_build_pkt(r->umad, &rpc, &to, NULL, NULL) >= 0 &&
	       umad_send(r->port, r->agent, r->umad, IB_MAD_SIZE, TIMEOUT_MS,
			 0) >= 0;
}

/* Writes the directed route as text to buf: "0,1,5" means out of port 1, then out of port 5. */
static const char *route_text(const ib_dr_path_t *dr, char *buf, size_t size)
{
	int n = snprintf(buf, size, "0");

	for (int i = 1; i <= dr->cnt && n > 0 && (size_t)n < size; i++)
		n += snprintf(buf + n, size - (size_t)n, ",%u", dr->p[i]);
	return buf;
}

static void give_up(struct reader *r, ftr_sw sw, const char *why)
{
	char path[DR_PATH_TEXT];

	route_text(&r->node[sw]->path_portid.drpath, path, sizeof(path));
	cli_error("note: switch \"%s\" (0x%016" PRIx64
		  ") over directed route %s: %s; its table is not known",
		  r->f->sw[sw].name, r->f->sw[sw].guid, path, why);
	memset(ftr_tables_row(r->t, sw), FTR_PORT_NONE, r->t->stride);
	r->node[sw] = NULL;
	r->missing++;
}

/* Sends the next Get.  Returns false if none is left. */
static bool start_next(struct reader *r, struct slot *s)
{
	for (; r->next_block < r->max_blocks; r->next_block++, r->next_sw = 0)
		for (; r->next_sw < r->f->n_sw; r->next_sw++) {
			ftr_sw sw = r->next_sw;

			if (!r->node[sw] || r->next_block >= r->n_blocks[sw])
				continue;
			r->next_sw++;
			s->busy = true;
			s->sw = sw;
			s->block = r->next_block;
			s->tries = 0;
			s->deadline = 0;
			if (!send_get(r, s))
				s->deadline = 0;	/* expires immediately: retry */
			return true;
		}
	return false;
}

/* Called if no answer came in time: sends the Get again, or skips the switch. */
static void try_again(struct reader *r, struct slot *s)
{
	if (!r->node[s->sw]) {		/* the switch is already skipped */
		s->busy = false;
	} else if (s->tries >= TRIES) {
		give_up(r, s->sw, "no answer");
		s->busy = false;
	} else if (!send_get(r, s)) {
		s->deadline = 0;
	}
}

static void take_answer(struct reader *r, struct slot *s, uint8_t *mad)
{
	uint32_t status = mad_get_field(mad, 0, IB_DRSMP_STATUS_F) & 0x7fff;
	uint8_t *row = ftr_tables_row(r->t, s->sw);
	char why[64];

	s->busy = false;
	if (!r->node[s->sw])
		return;
	if (status) {
		snprintf(why, sizeof(why), "refused block %u with status 0x%x",
			 s->block, status);
		give_up(r, s->sw, why);
		return;
	}
	memcpy(row + (size_t)s->block * FTR_LFT_BLOCK,
	       mad + IB_SMP_DATA_OFFS, FTR_LFT_BLOCK);
}

static void receive(struct reader *r)
{
	int len = IB_MAD_SIZE;
	uint8_t *mad = umad_get_mad(r->answer);
	struct slot *s;
	uint32_t tid;

	if (umad_recv(r->port, r->answer, &len, 50) < 0)
		return;
	tid = (uint32_t)mad_get_field64(mad, 0, IB_MAD_TRID_F);
	if ((tid & 0xff) >= IN_FLIGHT_MAX)
		return;
	s = &r->slot[tid & 0xff];
	if (!s->busy || tid != slot_tid(r, s))
		return;
	if (umad_status(r->answer))
		try_again(r, s);
	else if (mad_get_field(mad, 0, IB_MAD_METHOD_F) ==
		 IB_MAD_METHOD_GET_RESPONSE ||
		 mad_get_field(mad, 0, IB_MAD_RESPONSE_F))
		take_answer(r, s, mad);
}

static void read_all(struct reader *r)
{
	bool more = true;

	for (;;) {
		bool busy = false;
		double now;

		for (int i = 0; i < IN_FLIGHT_MAX; i++) {
			if (!r->slot[i].busy && more)
				more = start_next(r, &r->slot[i]);
			busy = busy || r->slot[i].busy;
		}
		if (!busy)
			return;
		receive(r);
		now = cli_now();
		for (int i = 0; i < IN_FLIGHT_MAX; i++)
			if (r->slot[i].busy && r->slot[i].deadline < now)
				try_again(r, &r->slot[i]);
	}
}

/* Removes the entries above LinearFDBTop, which a switch does not use. */
static void cut_at_top(struct reader *r, const uint32_t *top)
{
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		if (top[s] + 1 < r->t->stride)
			memset(ftr_tables_row(r->t, s) + top[s] + 1,
			       FTR_PORT_NONE, r->t->stride - top[s] - 1);
}

static void plan(struct reader *r, ibnd_fabric_t *net, uint32_t *top)
{
	for (ibnd_node_t *n = net->nodes; n; n = n->next) {
		ftr_sw s;
		uint32_t last;

		if (n->type != IB_NODE_SWITCH)
			continue;
		s = ftr_fabric_find_sw(r->f, n->guid);
		if (s == FTR_SW_NONE)
			continue;
		r->node[s] = n;
		top[s] = mad_get_field(n->switchinfo, 0,
				       IB_SW_LINEAR_FDB_TOP_F);
		last = top[s] < r->f->max_lid ? top[s] : r->f->max_lid;
		r->n_blocks[s] = last / FTR_LFT_BLOCK + 1;
		if (r->n_blocks[s] > r->max_blocks)
			r->max_blocks = r->n_blocks[s];
	}
}

static enum ftr_status open_port(struct reader *r,
				 const struct cli_live_opts *opts,
				 struct ftr_err *err)
{
	r->port = umad_open_port(opts->ca, (int)opts->port);
	if (r->port < 0)
		return ftr_fail(err, FTR_IO, "cannot open the local InfiniBand port %s:%u: %s",
				opts->ca ? opts->ca : "(any)", opts->port,
				strerror(-r->port));
	r->agent = umad_register(r->port, IB_SMI_DIRECT_CLASS, 1, 0, NULL);
	if (r->agent < 0) {
		umad_close_port(r->port);
		return ftr_fail(err, FTR_IO, "cannot register for directed-route SMPs: %s",
				strerror(errno));
	}
	return FTR_OK;
}

static enum ftr_status read_tables(const struct cli_live_opts *opts,
				   ibnd_fabric_t *net, struct cli_live *out,
				   struct ftr_err *err)
{
	uint32_t n = out->f->n_sw ? out->f->n_sw : 1;
	struct reader r = { .f = out->f, .m_key = opts->m_key };
	uint32_t *top = calloc(n, sizeof(*top));
	enum ftr_status st;

	r.node = calloc(n, sizeof(*r.node));
	r.n_blocks = calloc(n, sizeof(*r.n_blocks));
	r.umad = umad_alloc(1, umad_size() + IB_MAD_SIZE);
	r.answer = umad_alloc(1, umad_size() + IB_MAD_SIZE);
	if (!top || !r.node || !r.n_blocks || !r.umad || !r.answer)
		st = ftr_fail(err, FTR_NOMEM, "out of memory");
	else
		st = ftr_tables_new(out->f, true, &r.t, err);
	if (!st)
		st = open_port(&r, opts, err);
	if (!st) {
		double t0 = cli_now();

		plan(&r, net, top);
		read_all(&r);
		out->table_seconds = cli_now() - t0;
		for (ftr_sw s = 0; s < out->f->n_sw; s++)
			out->blocks += r.n_blocks[s];
		cut_at_top(&r, top);
		umad_unregister(r.port, r.agent);
		umad_close_port(r.port);
		out->t = r.t;
		out->missing = r.missing;
		r.t = NULL;
	}
	ftr_tables_free(r.t);
	free(top);
	free(r.node);
	free(r.n_blocks);
	if (r.umad)
		umad_free(r.umad);
	if (r.answer)
		umad_free(r.answer);
	return st;
}

struct ibmad_port *cli_live_open(const struct cli_live_opts *opts,
				 struct ftr_err *err)
{
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS,
			  IB_PERFORMANCE_CLASS };
	struct ibmad_port *via =
		mad_rpc_open_port((char *)(uintptr_t)opts->ca, (int)opts->port,
				  classes, 3);

	if (via)
		smp_mkey_set(via, opts->m_key);
	else
		ftr_fail(err, FTR_IO, "cannot open the local InfiniBand port for queries: %s",
			 strerror(errno));
	return via;
}

#define CAP_SM_DISABLED	(1u << 10)

/* Returns true if SMPs must be sent through another device: in adapters for planarized XDR fabrics,
 * one device has only the ports for SMPs, and the other one says IsSMDisabled. */
static bool leaves_smps(const struct cli_live_opts *opts)
{
	umad_port_t p;
	bool leaves;

	if (umad_get_port(opts->ca, (int)opts->port, &p) < 0)
		return false;
	leaves = be32toh(p.capmask) & CAP_SM_DISABLED;
	umad_release_port(&p);
	return leaves;
}

enum ftr_status cli_live_read(const struct cli_live_opts *opts,
			      struct cli_live *out, struct ftr_err *err)
{
	struct ibnd_config cfg = { .max_smps = IN_FLIGHT_MAX, .mkey = opts->m_key };
	char *ca = NULL, n[CLI_COUNT_MAX];
	ibnd_fabric_t *net;
	enum ftr_status st;

	memset(out, 0, sizeof(*out));
	if (umad_init() < 0)
		return ftr_fail(err, FTR_IO, "cannot use InfiniBand management datagrams on this machine (is the ib_umad module loaded?)");
	if (opts->ca) {
		ca = strdup(opts->ca);
		if (!ca)
			return ftr_fail(err, FTR_NOMEM, "out of memory");
	}
	net = ibnd_discover_fabric(ca, (int)opts->port, NULL, &cfg);
	free(ca);
	if (!net)
		return ftr_fail(err, FTR_IO, "cannot discover the fabric from the local port %s:%u%s",
				opts->ca ? opts->ca : "(any)", opts->port, leaves_smps(opts) ?
				"; it leaves SMPs to another device, as planarized XDR adapters do: give that device, such as smi0, with --ca" :
				"");
	st = to_fabric(net, out, err);
	if (!st && opts->look)
		st = opts->look(opts->ctx, net, out->f, err);
	if (!st && !out->f->max_lid)
		st = ftr_fail(err, FTR_INVAL, "the running fabric has %s, but no subnet manager has assigned LIDs",
			      cli_count(n, out->f->n_sw, "switch", "switches"));
	if (!st)
		st = read_tables(opts, net, out, err);
	ibnd_destroy_fabric(net);
	if (st) {
		ftr_fabric_free(out->f);
		out->f = NULL;
	}
	return st;
}

#endif
