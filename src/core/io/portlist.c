// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reader of the ports report, the output of ibnetdiscover -p.  It has one line for each port:
 *
 *	SW    18  2 0x00066a00ec002dd9 4x QDR - CA    41  1 0x001175000077caee ( 'leaf' - 'node166 HCA-1' )
 *	SW    18  1 0x00066a00ec002dd9 4x SDR                                    'leaf'
 *
 * The fields are type, LID, port, GUID, width and speed.  Ports without a link are printed as well,
 * so the number of ports of a switch is its greatest port number.  For end nodes the report has
 * only port GUIDs, no node GUIDs.  So each of their ports counts as a node of its own, and its port
 * GUID is also the node GUID.
 *
 * An invalid width or speed counts as unknown: ibnetdiscover prints "??" or "???" if it does not
 * know them.  The report does not contain the LMC; it is taken to be 0.
 */
#include <inttypes.h>
#include <string.h>

#include "io/raw.h"

struct side {
	uint8_t type;
	uint64_t lid, num, guid;
};

static bool side(struct ftr_raw *r, struct ftr_cur *c, struct side *s)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	if (ftr_cur_word(&at, "SW"))
		s->type = FTR_NODE_SWITCH;
	else if (ftr_cur_word(&at, "CA"))
		s->type = FTR_NODE_CA;
	else if (ftr_cur_word(&at, "RT") || ftr_cur_word(&at, "Rt"))
		s->type = FTR_NODE_ROUTER;
	else
		return ftr_text_expected(r->t, c, "SW, CA or RT");
	*c = at;
	return ftr_text_next(r->t, c, 10, FTR_LID_MAX, "a LID", &s->lid) &&
		ftr_text_next(r->t, c, 10, FTR_PORT_MAX, "a port number", &s->num) &&
		ftr_text_next(r->t, c, 16, UINT64_MAX, "a GUID", &s->guid);
}

/* Skip blanks and a word. Returns the word. */
static struct ftr_cur next_word(struct ftr_cur *c)
{
	struct ftr_cur w;

	ftr_cur_blanks(c);
	w = *c;
	while (!ftr_cur_gap(c))
		c->p++;
	w.end = c->p;
	return w;
}

static void rate(struct ftr_cur *c, struct ftr_raw_port *p)
{
	struct ftr_cur w = next_word(c);
	uint64_t width;

	if (ftr_cur_uint(&w, 10, 12, &width) && ftr_cur_char(&w, 'x'))
		p->width = (uint8_t)width;
	w = next_word(c);
	p->speed = (uint8_t)ftr_speed_parse(w.p, ftr_cur_len(&w));
}

/* Read "( 'near' - 'far' )". Names may contain quotes. */
static bool names(struct ftr_raw *r, struct ftr_cur *c, struct ftr_cur *near,
		  struct ftr_cur *far)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	if (!ftr_cur_str(&at, "( '"))
		return ftr_text_expected(r->t, c, "( 'name' - 'name' )");
	near->p = at.p;
	if (!ftr_cur_find(&at, "' - '"))
		return ftr_text_expected(r->t, c, "( 'name' - 'name' )");
	near->end = at.p - strlen("' - '");
	far->p = at.p;
	while (at.end > at.p && at.end[-1] == ' ')
		at.end--;
	if (at.end - at.p < 3 || memcmp(at.end - 3, "' )", 3))
		return ftr_text_expected(r->t, c, "( 'name' - 'name' )");
	far->end = at.end - 3;
	return true;
}

static bool enter(struct ftr_raw *r, const struct side *s, struct ftr_cur name,
		  uint32_t *out)
{
	struct ftr_raw_node node = {
		.name = name, .line = r->t->line, .guid = s->guid,
		.lid = s->type == FTR_NODE_SWITCH ? (ftr_lid)s->lid : 0,
		.type = s->type, .n_ports = (ftr_port)s->num,
	}, *n;

	if (!ftr_raw_meet_node(r, &node, out))
		return false;
	n = &r->node[*out];
	if (n->type != s->type)
		return ftr_text_fail(r->t, FTR_INVAL, "node 0x%016" PRIx64
				     " has node type %u here but node type %u on line %u (1: channel adapter, 2: switch, 3: router)",
				     s->guid, s->type, n->type, n->line);
	n->n_ports = (ftr_port)FTR_MAX(n->n_ports, s->num);
	return ftr_raw_same_lid(r, n, &node);
}

static bool unconnected(struct ftr_raw *r, struct ftr_cur *c,
			const struct side *a)
{
	struct ftr_cur name = { NULL, NULL };
	uint32_t idx;

	if (r->t->cut && (ftr_cur_end(c) || c->end[-1] != '\''))
		return ftr_text_torn(r->t, *c);
	if (!ftr_cur_end(c) && *c->p != '\'')
		return ftr_text_expected(r->t, c, "\"- \" and the other end of the link, or a name in quotes");
	if (a->type != FTR_NODE_SWITCH || !a->num)
		return true;
	if (ftr_cur_find(c, "'")) {
		name = *c;
		while (name.end > name.p && name.end[-1] != '\'')
			name.end--;
		name.end -= name.end > name.p;
	}
	return enter(r, a, name, &idx);
}

static bool port_line(void *ctx, struct ftr_cur *c)
{
	struct ftr_raw *r = ctx;
	struct ftr_raw_port p = { .line = r->t->line };
	struct ftr_cur near, far;
	struct side a, z;

	if (ftr_cur_word(c, "DR"))
		return true;	/* trace lines of ibnetdiscover -v */
	if (!side(r, c, &a))
		return false;
	rate(c, &p);
	ftr_cur_blanks(c);
	if (!ftr_cur_str(c, "- "))
		return unconnected(r, c, &a);
	if (!side(r, c, &z) || !names(r, c, &near, &far) ||
	    !enter(r, &a, near, &p.node) || !enter(r, &z, far, &p.far))
		return false;
	p.num = (ftr_port)a.num;
	p.far_num = (ftr_port)z.num;
	p.far_lid = (ftr_lid)z.lid;
	if (a.type != FTR_NODE_SWITCH) {
		p.guid = a.guid;
		p.lid = (ftr_lid)a.lid;
	}
	if (z.type != FTR_NODE_SWITCH)
		p.far_guid = z.guid;
	return ftr_raw_add_port(r, &p);
}

bool ftr_portlist_collect(struct ftr_raw *r)
{
	return ftr_text_each(r->t, port_line, r);
}
