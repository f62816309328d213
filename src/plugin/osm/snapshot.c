// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies OpenSM's data about the subnet into a fabric.
 *
 * The copy is made in a callback of OpenSM (routing or multicast), under its exclusive lock.
 * The switches with the links between them are copied first, then the host ports with their
 * links.  As in OpenSM's engines, both ends of a link must be known and healthy
 * (osm_link_is_healthy).  Links for which ibf_fast_left_out returns true are left out, and so are
 * links that are not Active (is_idle()).
 *
 * OpenSM writes the entries of all LIDs up to the greatest one that it has ever known.  So the fabric includes
 * the LIDs of the blocks with these entries: packets to ports that are gone may hold links (<ftr/cdg.h>).
 *
 * OpenSM's data can contradict itself if an error occurred while OpenSM set up the subnet.
 * For example, a port has LID 0, OpenSM's LID table assigns the port's LID to another port, or
 * the switch of a host did not answer.  Then the port gets no LID, or is left out; all other
 * ports are routed.  A message counts these cases.
 *
 * The name of a node is its print_desc, which OpenSM sets according to the node-name-map.
 * The name of an Aggregation Node (SHARP) is its NodeDescription.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "osm/osm.h"

struct snap {
	struct ibf_plugin *p;
	const osm_subn_t *subn;
	struct ftr_builder *b;
	uint32_t n_skipped;	/* number of contradictions */
	char first[192];	/* a text about the first one */
};

static void skip(struct snap *s, const char *fmt, ...) FTR_PRINTF(2, 3);

static void skip(struct snap *s, const char *fmt, ...)
{
	va_list ap;

	if (s->n_skipped++)
		return;
	va_start(ap, fmt);
	vsnprintf(s->first, sizeof(s->first), fmt, ap);
	va_end(ap);
}

/* Other nodes may have the same name, so the GUID is always appended. */
static struct ibf_text node_name(const osm_node_t *node)
{
	struct ibf_text n;

	snprintf(n.s, sizeof(n.s), "%.*s (0x%016" PRIx64 ")", FTR_NAME_MAX,
		 node->print_desc, cl_ntoh64(osm_node_get_node_guid(node)));
	return n;
}

/* Ports without extended speeds report the extended speed 0. */
static enum ftr_speed link_speed(const osm_physp_t *p)
{
	const ib_port_info_t *pi = &p->port_info;
	unsigned int ext = ib_port_info_get_link_speed_ext_active(pi);

	if (!ext && p->ext_port_info.link_speed_active & FDR10)
		return FTR_SPEED_FDR10;
	return ftr_speed_active(ib_port_info_get_link_speed_active(pi), ext);
}

/* Returns the base LID of the port if OpenSM's LID table assigns all LIDs of the port to it.
 * Otherwise counts a contradiction and returns 0. */
static ftr_lid trusted_lid(struct snap *s, const osm_physp_t *p)
{
	const cl_ptr_vector_t *tbl = &s->subn->port_lid_tbl;
	uint32_t lid = cl_ntoh16(osm_physp_get_base_lid(p));
	uint32_t n = 1u << osm_physp_get_lmc(p);

	if (!lid) {
		skip(s, "%s port %u has no LID", node_name(p->p_node).s,
		     p->port_num);
		return 0;
	}
	for (uint32_t l = lid; l < lid + n; l++) {
		const osm_port_t *port = l < cl_ptr_vector_get_size(tbl) ?
			cl_ptr_vector_get(tbl, l) : NULL;

		if (!port || port->p_physp != p || (lid & (n - 1))) {
			skip(s, "%s port %u claims LID %u, which OpenSM's table gives to %s",
			     node_name(p->p_node).s, p->port_num, l,
			     port ? node_name(port->p_node).s : "no port");
			return 0;
		}
	}
	return (ftr_lid)lid;
}

static bool is_active(const osm_physp_t *p, const osm_physp_t *r)
{
	return osm_physp_get_port_state(p) >= IB_LINK_ARMED &&
		osm_physp_get_port_state(r) >= IB_LINK_ARMED;
}

static const osm_physp_t *usable_remote(const osm_physp_t *p)
{
	const osm_physp_t *r = p ? p->p_remote_physp : NULL;

	return r && osm_physp_is_valid(r) && r->p_node != p->p_node &&
	       osm_link_is_healthy(p) ? r : NULL;
}

/* True if the link is left out until the end of the sweep because it is not Active, and so carries
 * no data (transition.c). */
static bool is_idle(const struct snap *s, const osm_physp_t *p, const osm_physp_t *r)
{
	return s->p->in_use && !s->p->use_idle && !is_active(p, r);
}

/* True if a link between switches is Active: this fabric was already up before OpenSM started. */
static bool has_active_link(const struct snap *s)
{
	const cl_qmap_t *sws = &s->subn->sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(sws); i != cl_qmap_end(sws); i = cl_qmap_next(i)) {
		const osm_switch_t *sw = (osm_switch_t *)(void *)i;

		for (unsigned int n = 1; n < sw->num_ports; n++) {
			const osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, n);
			const osm_physp_t *r = usable_remote(p);

			if (r && r->p_node->sw && is_active(p, r))
				return true;
		}
	}
	return false;
}

static bool is_in_use(const struct snap *s)
{
	const struct ibf_plugin *p = s->p;

	return p->smp && p->opt.transition &&
		(p->lft_known || ((p->opt.takeover || p->opt.adopt) && has_active_link(s)));
}

/* True if the switch has no hosts, and all its links are idle.  It is left out.  (A switch with
 * hosts is not left out: its hosts may send packets to each other.) */
static bool is_waiting(const struct snap *s, const osm_switch_t *sw)
{
	bool waits = false;

	for (unsigned int n = 1; n < sw->num_ports; n++) {
		const osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, n);
		const osm_physp_t *r = usable_remote(p);

		if (!r)
			continue;
		if (!r->p_node->sw || !is_idle(s, p, r))
			return false;
		waits = true;
	}
	return waits;
}

static enum ftr_status add_switch(struct snap *s, const osm_switch_t *sw,
				  struct ftr_err *err)
{
	osm_node_t *node = sw->p_node;
	const osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);
	ftr_lid lid = port0 ? trusted_lid(s, port0) : 0;
	enum ftr_status st = ftr_builder_add_switch(s->b, &(struct ftr_switch){
		.guid = cl_ntoh64(osm_node_get_node_guid(node)),
		.n_ports = (ftr_port)(sw->num_ports - 1), .lid = lid,
		.lmc = lid ? osm_physp_get_lmc(port0) : 0, .name = node->print_desc,
	}, err);

	if (st != FTR_INVAL)
		return st;
	skip(s, "%s", err->msg);
	return FTR_OK;
}

static enum ftr_status add_link(struct snap *s, const osm_physp_t *p,
				const osm_physp_t *r, struct ftr_err *err)
{
	struct ftr_end a = {
		cl_ntoh64(osm_node_get_node_guid(p->p_node)), p->port_num
	};
	struct ftr_end z = {
		cl_ntoh64(osm_node_get_node_guid(r->p_node)), r->port_num
	};
	enum ftr_status st = ftr_builder_add_link(s->b, a, z,
						  ftr_width_active(p->port_info.link_width_active),
						  link_speed(p), err);

	if (st != FTR_INVAL)
		return st;
	skip(s, "%s", err->msg);
	return FTR_OK;
}

static bool left_out(const struct snap *s, const osm_physp_t *p, const osm_physp_t *r)
{
	struct rr_ends e = {
		.guid = cl_ntoh64(osm_node_get_node_guid(p->p_node)),
		.peer_guid = cl_ntoh64(osm_node_get_node_guid(r->p_node)),
		.port = p->port_num, .peer_port = r->port_num,
	};

	bool idle = is_waiting(s, p->p_node->sw) || is_waiting(s, r->p_node->sw);

	if (!idle && ibf_fast_left_out(s->p->fast, &e, is_active(p, r)))
		return true;
	idle = idle || is_idle(s, p, r);
	s->p->idle_links += idle;
	return idle;
}

static enum ftr_status add_sw_links(struct snap *s, const osm_switch_t *sw,
				    struct ftr_err *err)
{
	for (unsigned int n = 1; n < sw->num_ports; n++) {
		const osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, n);
		const osm_physp_t *r = usable_remote(p);
		const osm_switch_t *far = r ? r->p_node->sw : NULL;
		enum ftr_status st;

		/* Each link is added at one end only.  A link to a node without a switch object
		 * is left out, because OpenSM has no tables for that node. */
		if (!far || sw > far || r->port_num >= far->num_ports ||
		    left_out(s, p, r))
			continue;
		st = add_link(s, p, r, err);
		if (st)
			return st;
	}
	return FTR_OK;
}

/* The name of an end node: its NodeDescription if it is an Aggregation Node, which is recognised by
 * this text; otherwise the name from the node-name-map.  raw: buffer for the NodeDescription. */
static const char *end_name(const osm_node_t *node,
			    char raw[IB_NODE_DESCRIPTION_SIZE + 1])
{
	struct ftr_endport ep = { .type = FTR_NODE_CA, .name = raw };

	memcpy(raw, node->node_desc.description, IB_NODE_DESCRIPTION_SIZE);
	raw[IB_NODE_DESCRIPTION_SIZE] = '\0';
	return ftr_ep_is_aggregation(&ep) ? raw : node->print_desc;
}

static enum ftr_status add_end_port(struct snap *s, const osm_port_t *port,
				    struct ftr_err *err)
{
	const osm_node_t *node = port->p_node;
	const osm_physp_t *p = port->p_physp, *r = usable_remote(p);
	char raw[IB_NODE_DESCRIPTION_SIZE + 1];
	ftr_lid lid;
	enum ftr_status st;

	if (!p || osm_node_get_type(node) == IB_NODE_TYPE_SWITCH)
		return FTR_OK;
	if (r && (!r->p_node->sw || r->port_num >= r->p_node->sw->num_ports))
		r = NULL;
	lid = trusted_lid(s, p);
	if (lid && !r) {
		skip(s, "%s port %u has LID %u but no usable link to a switch",
		     node_name(node).s, p->port_num, lid);
		lid = 0;
	}
	st = ftr_builder_add_endport(s->b, &(struct ftr_endport){
		.guid = cl_ntoh64(port->guid),
		.node_guid = cl_ntoh64(osm_node_get_node_guid(node)),
		.port_num = p->port_num, .lid = lid, .lmc = lid ? osm_physp_get_lmc(p) : 0,
		.type = osm_node_get_type(node) == IB_NODE_TYPE_ROUTER ?
			FTR_NODE_ROUTER : FTR_NODE_CA,
		.name = end_name(node, raw),
	}, err);
	if (st == FTR_INVAL) {
		skip(s, "%s", err->msg);
		return FTR_OK;
	}
	return st || !r ? st : add_link(s, p, r, err);
}

static enum ftr_status fill(struct snap *s, struct ftr_err *err)
{
	const cl_qmap_t *sws = &s->subn->sw_guid_tbl;
	const cl_qmap_t *ports = &s->subn->port_guid_tbl;
	enum ftr_status st = FTR_OK;

	for (cl_map_item_t *i = cl_qmap_head(sws);
	     !st && i != cl_qmap_end(sws); i = cl_qmap_next(i))
		if (!is_waiting(s, (osm_switch_t *)(void *)i))
			st = add_switch(s, (osm_switch_t *)(void *)i, err);
	for (cl_map_item_t *i = cl_qmap_head(sws);
	     !st && i != cl_qmap_end(sws); i = cl_qmap_next(i))
		st = add_sw_links(s, (osm_switch_t *)(void *)i, err);
	for (cl_map_item_t *i = cl_qmap_head(ports);
	     !st && i != cl_qmap_end(ports); i = cl_qmap_next(i))
		st = add_end_port(s, (osm_port_t *)(void *)i, err);
	return st;
}

enum ftr_status ibf_snapshot(struct ibf_plugin *p, struct ftr_fabric **out, struct ftr_err *err)
{
	struct snap s = { .p = p, .subn = &p->osm->subn, .b = ftr_builder_new() };
	uint32_t n_lids = (uint32_t)cl_ptr_vector_get_size(&s.subn->port_lid_tbl);
	enum ftr_status st;

	if (!s.b)
		return ftr_nomem(err, "the fabric");
	p->idle_links = 0;
	p->in_use = is_in_use(&s);
	ftr_builder_lids(s.b, (n_lids - !!n_lids) | (FTR_LFT_BLOCK - 1));
	st = fill(&s, err);
	if (!st)
		st = ftr_builder_freeze(s.b, out, err);
	if (st)
		ftr_builder_free(s.b);
	else if (s.n_skipped)
		ibf_log(p, IBF_SKIPPED, "%s in OpenSM's data; the objects concerned are left out or have no LID; first: %s",
			ibf_count(s.n_skipped, "contradiction", "contradictions").s, s.first);
	return st;
}
