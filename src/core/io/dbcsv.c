// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reader of ibdiagnet2.db_csv: sections of comma-separated values.
 *
 *	START_NODES
 *	NodeDesc,NumPorts,NodeType,...,NodeGUID,PortGUID,...
 *	"leaf 1",40,2,...,0x248a070300f2a8c0,0x248a070300f2a8c0,...
 *	END_NODES
 *
 * Three of the many sections are read.  NODES must come before the other two.  PORTS has the LIDs,
 * LMCs, port GUIDs, active widths and active speeds; the LID of a switch is on the line of its port
 * 0.  LINKS has one line for each link, with both ends.  Columns are found by their names in the
 * first line of the section.
 *
 * It is an error if a section has no END line, or if NODES or LINKS is missing, because the file is
 * then incomplete.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/raw.h"

#define NAME_MAX_SECTION 64

enum section { NODES, PORTS, LINKS, N_SECTIONS };

enum { N_DESC, N_PORTS, N_TYPE, N_GUID };
enum { P_NODE, P_GUID, P_NUM, P_LID, P_LMC, P_WIDTH, P_SPEED };
enum { L_GUID1, L_PORT1, L_GUID2, L_PORT2 };
#define MAX_COLUMNS 7

/* The columns that are read, by name. The first `need` of them are required. */
static const struct {
	const char *name;
	const char *column[MAX_COLUMNS];
	unsigned int n, need;
} section[N_SECTIONS] = {
	[NODES] = { "NODES", { "NodeDesc", "NumPorts", "NodeType",
			       "NodeGUID" }, 4, 4 },
	[PORTS] = { "PORTS", { "NodeGuid", "PortGuid", "PortNum", "LID", "LMC",
			       "LinkWidthActv", "LinkSpeedActv" }, 7, 5 },
	[LINKS] = { "LINKS", { "NodeGuid1", "PortNum1", "NodeGuid2",
			       "PortNum2" }, 4, 4 },
};

struct port {			/* a line of PORTS */
	uint64_t guid;
	ftr_lid lid;
	uint8_t lmc, width, speed;
};

struct csv {
	struct ftr_raw *r;
	struct ftr_text *t;
	struct port *port;
	uint32_t n_port, cap_port;
	struct ftr_map by_port;	/* index in port[] by (node << 8 | port number) */
	bool seen[N_SECTIONS];
	/* the section that is being read */
	char open[NAME_MAX_SECTION];	/* its name; "": none */
	uint32_t open_line;
	int what;		/* enum section; -1: the section is ignored */
	bool titled;		/* true: its line of column names has been read */
	int where[MAX_COLUMNS];	/* number of the column of each value; -1: no such column */
};

/* ---- fields ------------------------------------------------------------ */

/* Returns the next field of the line.  A field in quotes ends at a quote that is followed by a
 * comma or by the end of the line. */
static struct ftr_cur next_field(struct ftr_cur *c)
{
	struct ftr_cur f = *c;
	const char *p = c->p;

	if (p < c->end && *p == '"')
		for (p++; p < c->end; p++)
			if (*p == '"' && (p + 1 == c->end || p[1] == ','))
				break;
	while (p < c->end && *p != ',')
		p++;
	f.end = p;
	c->p = p < c->end ? p + 1 : p;
	if (f.end - f.p >= 2 && *f.p == '"' && f.end[-1] == '"') {
		f.p++;
		f.end--;
	}
	return f;
}

static bool find_columns(struct csv *x, struct ftr_cur c)
{
	for (unsigned int i = 0; i < MAX_COLUMNS; i++)
		x->where[i] = -1;
	for (int col = 0; !ftr_cur_end(&c); col++) {
		struct ftr_cur f = next_field(&c);
		size_t len = (size_t)(f.end - f.p);

		for (unsigned int i = 0; i < section[x->what].n; i++)
			if (strlen(section[x->what].column[i]) == len &&
			    !strncasecmp(section[x->what].column[i], f.p, len))
				x->where[i] = col;
	}
	for (unsigned int i = 0; i < section[x->what].need; i++)
		if (x->where[i] < 0)
			return ftr_text_fail(x->t, FTR_PARSE, "section %s has no column %s",
					     x->open,
					     section[x->what].column[i]);
	x->titled = true;
	return true;
}

/* Split a line into the values that are read. Missing values are empty. */
static void split(const struct csv *x, struct ftr_cur c, struct ftr_cur *value)
{
	for (unsigned int i = 0; i < MAX_COLUMNS; i++)
		value[i] = (struct ftr_cur){ c.end, c.end };
	for (int col = 0; !ftr_cur_end(&c); col++) {
		struct ftr_cur f = next_field(&c);

		for (unsigned int i = 0; i < section[x->what].n; i++)
			if (x->where[i] == col)
				value[i] = f;
	}
}

/* Read value i of the line as a number up to max, decimal or hex with 0x. */
static bool number(const struct csv *x, const struct ftr_cur *value,
		   unsigned int i, uint64_t max, uint64_t *out)
{
	struct ftr_cur at = value[i];
	char range[32] = "";

	if (ftr_cur_uint(&at, 0, max, out) && ftr_cur_end(&at))
		return true;
	if (max < UINT64_MAX)
		snprintf(range, sizeof(range), " 0..%" PRIu64, max);
	return ftr_text_fail(x->t, FTR_PARSE, "expected %s%s, found '%s'",
			     section[x->what].column[i], range,
			     ftr_quote_cur(&value[i]).s);
}

/* Returns value i of the line as a number; 0: it is unknown ("N/A", or there is no such column). */
static uint64_t number_if(const struct ftr_cur *value, unsigned int i)
{
	struct ftr_cur at = value[i];
	uint64_t v;

	return ftr_cur_uint(&at, 0, UINT64_MAX, &v) && ftr_cur_end(&at) ? v : 0;
}

/* Read value i of the line as a node GUID. Set *out to the node; FTR_RAW_NONE: NODES does not list
 * it. */
static bool node_of(const struct csv *x, const struct ftr_cur *value,
		    unsigned int i, uint32_t *out, uint64_t *guid)
{
	if (!number(x, value, i, UINT64_MAX, guid))
		return false;
	*out = ftr_map_get(&x->r->by_guid, *guid);
	return true;
}

/* ---- the sections ------------------------------------------------------ */

static bool node_line(struct csv *x, const struct ftr_cur *v)
{
	struct ftr_raw_node n = { .line = x->t->line };
	uint64_t ports, type;

	if (!number(x, v, N_PORTS, FTR_PORT_MAX, &ports) ||
	    !number(x, v, N_TYPE, FTR_NODE_ROUTER, &type) ||
	    !number(x, v, N_GUID, UINT64_MAX, &n.guid))
		return false;
	if (!type || !ports)
		return ftr_text_fail(x->t, FTR_PARSE, "node 0x%016" PRIx64
				     " has NodeType %" PRIu64 " and NumPorts %" PRIu64
				     "; both must be at least 1", n.guid, type, ports);
	n.name = v[N_DESC];
	n.type = (uint8_t)type;
	n.n_ports = (ftr_port)ports;
	return ftr_raw_add_node(x->r, &n);
}

/* Decode LinkSpeedActv.  Its four bytes are masks, from the lowest byte: SDR to QDR
 * (LinkSpeedActive), FDR to NDR (LinkSpeedExtActive), FDR10, XDR. */
static enum ftr_speed speed_of(uint64_t v)
{
	if (v >> 24 & 1)
		return FTR_SPEED_XDR;
	if (v >> 16 & 1)
		return FTR_SPEED_FDR10;
	return ftr_speed_active(v & 0xff, v >> 8 & 0xff);
}

static bool port_line(struct csv *x, const struct ftr_cur *v)
{
	struct port p = { 0 };
	uint64_t guid, num, lid, lmc;
	uint32_t node;

	if (!node_of(x, v, P_NODE, &node, &guid) ||
	    !number(x, v, P_NUM, UINT8_MAX, &num) ||
	    !number(x, v, P_GUID, UINT64_MAX, &p.guid) ||
	    !number(x, v, P_LID, UINT16_MAX, &lid) ||
	    !number(x, v, P_LMC, FTR_LMC_MAX, &lmc))
		return false;
	if (node == FTR_RAW_NONE)
		return ftr_text_fail(x->t, FTR_INVAL, "port %" PRIu64
				     " of node 0x%016" PRIx64
				     ": the node is not in section NODES", num, guid);
	p.lid = lid <= FTR_LID_MAX ? (ftr_lid)lid : 0;	/* 65535: no LID */
	p.lmc = (uint8_t)lmc;
	p.width = (uint8_t)ftr_width_active(
			(unsigned int)number_if(v, P_WIDTH) & 0xff);
	p.speed = (uint8_t)speed_of(number_if(v, P_SPEED));
	if (x->r->node[node].type == FTR_NODE_SWITCH && !num) {
		x->r->node[node].lid = p.lid;
		x->r->node[node].lmc = p.lmc;
	}
	if (!FTR_GROW(x->port, x->n_port, x->cap_port) ||
	    !ftr_map_put(&x->by_port, (uint64_t)node << 8 | num, x->n_port))
		return ftr_text_nomem(x->t);
	x->port[x->n_port++] = p;
	return true;
}

static bool add_end(struct csv *x, uint32_t node, uint64_t num, uint32_t far,
		    uint64_t far_num)
{
	const struct ftr_raw_port p = {
		.node = node, .far = far, .line = x->t->line,
		.num = (ftr_port)num, .far_num = (ftr_port)far_num,
	};

	return ftr_raw_add_port(x->r, &p);
}

static bool link_line(struct csv *x, const struct ftr_cur *v)
{
	uint64_t guid[2], num[2];
	uint32_t node[2];

	for (unsigned int i = 0; i < 2; i++)
		if (!node_of(x, v, 2 * i, &node[i], &guid[i]) ||
		    !number(x, v, 2 * i + 1, FTR_PORT_MAX, &num[i]))
			return false;
	for (unsigned int i = 0; i < 2; i++)
		if (node[i] == FTR_RAW_NONE)
			return ftr_raw_one_sided(x->r, x->t->line, "a link ends at port %" PRIu64
						 " of node 0x%016" PRIx64
						 ", which is not in section NODES",
						 num[i], guid[i]);
	return add_end(x, node[0], num[0], node[1], num[1]) &&
		add_end(x, node[1], num[1], node[0], num[0]);
}

/* Copy the data of PORTS to the ends of links. Called last, because PORTS may follow LINKS. */
static void complete_ends(struct csv *x)
{
	for (uint32_t i = 0; i < x->r->n_port; i++) {
		struct ftr_raw_port *p = &x->r->port[i];
		uint32_t k = ftr_map_get(&x->by_port, (uint64_t)p->node << 8 | p->num);

		if (k == FTR_MAP_NONE)
			continue;
		p->width = x->port[k].width;
		p->speed = x->port[k].speed;
		if (x->r->node[p->node].type != FTR_NODE_SWITCH) {
			p->guid = x->port[k].guid;
			p->lid = x->port[k].lid;
			p->lmc = x->port[k].lmc;
		}
	}
}

/* ---- lines ------------------------------------------------------------- */

/* Returns true if no section is open. Otherwise its END line is missing: record the error. */
static bool is_closed(const struct csv *x)
{
	return !x->open[0] ||
		ftr_text_fail(x->t, FTR_PARSE, "section %s, which begins on line %u, has no END_%s line",
			      x->open, x->open_line, x->open);
}

static bool begin(struct csv *x, struct ftr_cur c)
{
	size_t len = FTR_MIN((size_t)(c.end - c.p), sizeof(x->open) - 1);

	if (!is_closed(x))
		return false;
	memcpy(x->open, c.p, len);
	x->open[len] = '\0';
	x->open_line = x->t->line;
	x->titled = false;
	x->what = -1;
	for (int i = 0; i < N_SECTIONS; i++)
		if (!strcmp(section[i].name, x->open))
			x->what = i;
	if (x->what < 0)
		return true;
	if (x->seen[x->what])
		return ftr_text_fail(x->t, FTR_PARSE, "a second section %s",
				     x->open);
	if (x->what != NODES && !x->seen[NODES])
		return ftr_text_fail(x->t, FTR_PARSE, "section %s comes before NODES",
				     x->open);
	x->seen[x->what] = true;
	return true;
}

static bool line(void *ctx, struct ftr_cur *c)
{
	struct ftr_cur value[MAX_COLUMNS], at = *c;
	struct csv *x = ctx;

	if (ftr_cur_str(&at, "START_"))
		return begin(x, at);
	if (ftr_cur_str(&at, "END_")) {
		if (!x->open[0] || !ftr_cur_str(&at, x->open) ||
		    !ftr_cur_end(&at))
			return ftr_text_expected(x->t, c, "a START_ line, or the END_ line of the section");
		x->open[0] = '\0';
		return true;
	}
	if (!x->open[0])
		return ftr_text_expected(x->t, c, "START_ and the name of a section");
	if (x->what < 0)
		return true;
	if (!x->titled)
		return find_columns(x, *c);
	split(x, *c, value);
	if (x->what == NODES)
		return node_line(x, value);
	return x->what == PORTS ? port_line(x, value) : link_line(x, value);
}

bool ftr_dbcsv_collect(struct ftr_raw *r)
{
	struct csv x = { .r = r, .t = r->t, .what = -1 };
	bool ok = ftr_text_each(x.t, line, &x) && is_closed(&x);

	if (ok && !x.seen[LINKS])
		ok = ftr_text_fail(x.t, FTR_PARSE, "the file has no section %s",
				   x.seen[NODES] ? "LINKS" : "NODES");
	if (ok)
		complete_ends(&x);
	free(x.port);
	ftr_map_fini(&x.by_port);
	return ok;
}
