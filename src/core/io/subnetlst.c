// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reader of opensm-subnet.lst and ibdiagnet2.lst.  They have one line for each port with a
 * link; the line describes first this port, then the far end:
 *
 *	{ SW Ports:24 SystemGUID:g NodeGUID:g PortGUID:g VenID:h DevID:h Rev:h
 *	  {description} LID:0049 PN:01 } { CA ... } PHY=4x LOG=ACT SPD=25
 *
 * (In the file this is one line.)  All numbers are hex, except those after PHY and SPD.
 *
 * Each line describes both nodes, so every property is repeated many times.  The type and the
 * number of ports of a node, the LID of a port, and the port GUID of a host port must be the same
 * each time.  The name of a node is that of its first line.  The file does not contain the LMC; it
 * is taken to be 0, so all LIDs of a port except its base LID are unknown.
 */
#include <inttypes.h>
#include <string.h>

#include "io/raw.h"

struct half {
	uint8_t type;
	uint64_t ports, node_guid, port_guid, lid, num;
	struct ftr_cur desc;
};

static bool field(struct ftr_raw *r, struct ftr_cur *c, const char *key,
		  uint64_t max, uint64_t *out)
{
	struct ftr_cur at;

	ftr_cur_blanks(c);
	at = *c;
	if (!ftr_cur_str(&at, key) || !ftr_cur_uint(&at, 16, max, out) ||
	    (!ftr_cur_end(&at) && *at.p != ' '))
		return ftr_text_expected(r->t, c, key);
	*c = at;
	return true;
}

static bool node_type(struct ftr_raw *r, struct ftr_cur *c, struct half *h)
{
	if (!ftr_text_mark(r->t, c, '{', "'{'"))
		return false;
	ftr_cur_blanks(c);
	if (ftr_cur_str(c, "SW"))
		h->type = FTR_NODE_SWITCH;
	else if (ftr_cur_str(c, "CA"))
		h->type = FTR_NODE_CA;
	else if (ftr_cur_str(c, "Rt") || ftr_cur_str(c, "RT"))
		h->type = FTR_NODE_ROUTER;
	else
		return ftr_text_expected(r->t, c, "SW, CA or Rt");
	ftr_cur_str(c, "-SM");
	return true;
}

/* Read "{description}". It may contain braces, so it ends where the LID begins. */
static bool description(struct ftr_raw *r, struct ftr_cur *c, struct half *h)
{
	struct ftr_cur at;

	ftr_cur_blanks(c);
	at = *c;
	if (!ftr_cur_char(&at, '{'))
		return ftr_text_expected(r->t, c, "{description}");
	h->desc.p = at.p;
	if (!ftr_cur_find(&at, "} LID:"))
		return ftr_text_expected(r->t, c, "{description} LID:");
	c->p = at.p - strlen(" LID:");
	h->desc.end = c->p - 1;
	return true;
}

static bool half_line(struct ftr_raw *r, struct ftr_cur *c, struct half *h)
{
	uint64_t v;

	if (!node_type(r, c, h) ||
	    !field(r, c, "Ports:", 255, &h->ports) ||
	    !field(r, c, "SystemGUID:", UINT64_MAX, &v) ||
	    !field(r, c, "NodeGUID:", UINT64_MAX, &h->node_guid) ||
	    !field(r, c, "PortGUID:", UINT64_MAX, &h->port_guid) ||
	    !field(r, c, "VenID:", UINT64_MAX, &v) ||
	    !field(r, c, "DevID:", UINT64_MAX, &v) ||
	    !field(r, c, "Rev:", UINT64_MAX, &v) ||
	    !description(r, c, h) ||
	    !field(r, c, "LID:", UINT16_MAX, &h->lid) ||
	    !field(r, c, "PN:", 255, &h->num) ||
	    !ftr_text_mark(r->t, c, '}', "'}'"))
		return false;
	if (h->ports < 1 || h->ports > FTR_PORT_MAX)
		return ftr_text_fail(r->t, FTR_PARSE, "the node has %" PRIu64 " ports (allowed: 1 to %u)",
				     h->ports, FTR_PORT_MAX);
	if (h->num < 1 || h->num > h->ports)
		return ftr_text_fail(r->t, FTR_INVAL, "port %" PRIu64 " of node 0x%016"
				     PRIx64 " does not exist; the node has ports 1..%" PRIu64,
				     h->num, h->node_guid, h->ports);
	if (h->lid > FTR_LID_MAX)
		return ftr_text_fail(r->t, FTR_PARSE, "LID %" PRIu64
				     " is above the maximum %u", h->lid, FTR_LID_MAX);
	return true;
}

static bool enter(struct ftr_raw *r, const struct half *h, uint32_t *out)
{
	const struct ftr_raw_node node = {
		.name = h->desc, .line = r->t->line, .guid = h->node_guid,
		.lid = h->type == FTR_NODE_SWITCH ? (ftr_lid)h->lid : 0,
		.type = h->type, .n_ports = (ftr_port)h->ports,
	}, *n;

	if (!ftr_raw_meet_node(r, &node, out))
		return false;
	n = &r->node[*out];
	if (n->type != h->type || n->n_ports != h->ports)
		return ftr_text_fail(r->t, FTR_INVAL, "node 0x%016" PRIx64
				     " has node type %u and %" PRIu64
				     " ports here but node type %u and %u ports on line %u (1: channel adapter, 2: switch, 3: router)",
				     h->node_guid, h->type, h->ports, n->type,
				     n->n_ports, n->line);
	return ftr_raw_same_lid(r, n, &node);
}

static enum ftr_speed speed_of(struct ftr_cur c)
{
	static const struct {
		const char *text;
		enum ftr_speed speed;
	} known[] = {
		{ "2.5", FTR_SPEED_SDR }, { "5", FTR_SPEED_DDR },
		{ "10", FTR_SPEED_QDR }, { "FDR10", FTR_SPEED_FDR10 },
		{ "14", FTR_SPEED_FDR }, { "25", FTR_SPEED_EDR },
		{ "50", FTR_SPEED_HDR }, { "100", FTR_SPEED_NDR },
		{ "200", FTR_SPEED_XDR },
	};

	while (c.end > c.p && (c.end[-1] == ' ' || c.end[-1] == '\t'))
		c.end--;
	for (size_t i = 0; i < FTR_ARRAY_LEN(known); i++)
		if (strlen(known[i].text) == (size_t)(c.end - c.p) &&
		    !memcmp(known[i].text, c.p, (size_t)(c.end - c.p)))
			return known[i].speed;
	return FTR_SPEED_UNKNOWN;
}

/* Read "PHY=4x LOG=ACT SPD=25". "??" means unknown. */
static bool link_state(struct ftr_raw *r, struct ftr_cur *c,
		       struct ftr_raw_port *p)
{
	struct ftr_cur at;
	uint64_t width;

	ftr_cur_blanks(c);
	at = *c;
	if (!ftr_cur_str(&at, "PHY="))
		return ftr_text_expected(r->t, c, "PHY=");
	if (ftr_cur_uint(&at, 10, 12, &width))
		p->width = (uint8_t)width;
	if (!ftr_cur_find(&at, " SPD="))
		return ftr_text_expected(r->t, c, "PHY=.. LOG=.. SPD=..");
	p->speed = (uint8_t)speed_of(at);
	return p->speed || !r->t->cut || ftr_text_torn(r->t, *c);
}

static bool port_line(void *ctx, struct ftr_cur *c)
{
	struct ftr_raw *r = ctx;
	struct half a = { 0 }, z = { 0 };
	struct ftr_raw_port p = { .line = r->t->line };

	if (!half_line(r, c, &a) || !half_line(r, c, &z) ||
	    !link_state(r, c, &p) ||
	    !enter(r, &a, &p.node) || !enter(r, &z, &p.far))
		return false;
	p.num = (ftr_port)a.num;
	p.far_num = (ftr_port)z.num;
	if (a.type != FTR_NODE_SWITCH) {
		p.guid = a.port_guid;
		p.lid = (ftr_lid)a.lid;
	}
	p.far_lid = (ftr_lid)z.lid;
	if (z.type != FTR_NODE_SWITCH)
		p.far_guid = z.port_guid;
	return ftr_raw_add_port(r, &p);
}

bool ftr_subnetlst_collect(struct ftr_raw *r)
{
	return ftr_text_each(r->t, port_line, r);
}
