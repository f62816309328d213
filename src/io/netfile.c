// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The netfile reader: the format that ibnetdiscover prints and ibsim reads.
 *
 *	switchguid=0x2c5eab0300b87b40(2c5eab0300b87b40)
 *	Switch	65 "S-2c5eab0300b87b40"	# "leaf-4" enhanced port 0 lid 73 lmc 0
 *	[1]	"H-e09d7303007a4bd8"[1](e09d7303007a4bd8)	# "c01" lid 647 4xNDR
 *	<blank line>
 *	caguid=0xe09d7303007a4bd8
 *	Ca	1 "H-e09d7303007a4bd8"	# "c01"
 *	[1](e09d7303007a4bd8)	"S-2c5eab0300b87b40"[1]	# lid 647 lmc 0 "leaf-4" lid 73 4xNDR
 *
 * Only the first three words of a record and the first two of a port line are required.
 * On the port line of an end node the first LID is its own; on the port line of a switch
 * the first LID is that of the far end.
 *
 * GUIDs are those that ibsim would assign.  A guid line sets the counter of its type.  A
 * record takes the counter and advances it, by 1 for a switch and by 1 + ports for an end
 * node.  Counters start at 0x200000 for switches, 0x100000 for adapters and 0 for
 * routers.  The id ("S-0008f10500108c9e") is a name and gives no GUID.  A port GUID in
 * parentheses is used if present; otherwise it is node GUID + port.
 *
 * Extensions of ibsim that are understood: w=, s= and e= (masks of enabled widths, speeds
 * and extended speeds; the highest bit counts), the lines width=, speed=, extspeed= that
 * set them for the following records, and module=.  Its include and do lines and its
 * aliases are rejected: with them, this file does not hold the whole fabric.
 */
#include <inttypes.h>
#include <string.h>

#include "io/io.h"

struct rate {			/* masks of enabled rates, with the bits of ibsim */
	uint32_t width, speed, ext;
};

struct net {
	struct ftr_raw *r;
	struct ftr_text *t;
	uint64_t guid[FTR_NODE_ROUTER + 1];	/* next GUID, by node type */
	uint64_t base[FTR_NODE_ROUTER + 1];	/* last GUID set by a guid line */
	struct rate rate;
	bool rated;		/* the last port line gave width and speed */
	uint8_t n_lid[2];	/* LIDs of the last port line of a switch [1],
				 * of an end node [0] */
	const char *prefix;
	size_t prefix_len;
	uint32_t node;		/* the open record, or FTR_RAW_NONE */
};

/* The rest of a record or port line after its head. */
struct tail {
	const char *desc;	/* NULL: none */
	uint32_t desc_len;
	ftr_lid lid[2];		/* in order of appearance */
	unsigned int n_lid;
	uint8_t lmc;
	uint8_t width, speed;	/* as in 4xQDR */
	struct rate rate;
};

/* ---- small pieces ------------------------------------------------------ */

static uint8_t width_of_mask(uint32_t mask)
{
	static const struct {
		uint8_t bit, width;
	} w[] = { { 8, 12 }, { 4, 8 }, { 2, 4 }, { 16, 2 }, { 1, 1 } };

	for (size_t i = 0; i < FTR_ARRAY_LEN(w); i++)
		if (mask & w[i].bit)
			return w[i].width;
	return 0;
}

static enum ftr_speed speed_of_mask(uint32_t speed, uint32_t ext)
{
	static const uint8_t by_ext[] = { FTR_SPEED_FDR, FTR_SPEED_EDR,
					  FTR_SPEED_HDR, FTR_SPEED_NDR };
	static const uint8_t by_speed[] = { FTR_SPEED_SDR, FTR_SPEED_DDR,
					    FTR_SPEED_QDR };

	for (int i = 3; i >= 0; i--)
		if (ext & (1u << i))
			return (enum ftr_speed)by_ext[i];
	for (int i = 2; i >= 0; i--)
		if (speed & (1u << i))
			return (enum ftr_speed)by_speed[i];
	return FTR_SPEED_UNKNOWN;
}

/* Read "S-0008f10500108c9e"; the prefix of module= is added if one is set. */
static enum ftr_status node_id(struct net *n, struct ftr_cur *c,
			       const char **id, uint32_t *len)
{
	const char *first = c->p + 1, *stop;
	size_t n_id, total;
	char *full;

	if (ftr_cur_end(c) || *c->p != '"')
		return ftr_text_expected(n->t, c, "a node id in quotes");
	stop = memchr(first, '"', (size_t)(c->end - first));
	if (!stop)
		return ftr_text_fail(n->t, FTR_PARSE, "no closing quote: '%s'",
				     ftr_quote_cur(c).s);
	n_id = (size_t)(stop - first);
	if (!n_id)
		return ftr_text_fail(n->t, FTR_PARSE, "empty node id");
	if (memchr(first, '@', n_id))
		return ftr_text_fail(n->t, FTR_PARSE, "\"%s\": aliases are not supported",
				     ftr_quote(first, n_id).s);
	c->p = stop + 1;
	*id = first;
	*len = (uint32_t)n_id;
	if (!n->prefix_len || memchr(first, '#', n_id))
		return FTR_OK;
	total = n->prefix_len + 1 + n_id;
	if (!FTR_NEW(n->r->arena, full, total))
		return ftr_text_nomem(n->t);
	memcpy(full, n->prefix, n->prefix_len);
	full[n->prefix_len] = '#';
	memcpy(full + n->prefix_len + 1, first, n_id);
	*id = full;
	*len = (uint32_t)total;
	return FTR_OK;
}

/* Read "(0008f10500108c9e)"; if it is absent, *guid does not change. */
static enum ftr_status paren_guid(struct net *n, struct ftr_cur *c,
				  uint64_t *guid)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	if (!ftr_cur_char(&at, '('))
		return FTR_OK;
	if (!ftr_cur_uint(&at, 16, UINT64_MAX, guid) || !ftr_cur_char(&at, ')'))
		return ftr_text_expected(n->t, c, "a GUID in parentheses");
	*c = at;
	return FTR_OK;
}

/* Skip "[ext 7]", the port number that is printed on the chassis. */
static enum ftr_status skip_ext(struct net *n, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t v;

	if (!ftr_cur_str(&at, "[ext"))
		return FTR_OK;
	ftr_cur_blanks(&at);
	if (!ftr_cur_uint(&at, 10, UINT32_MAX, &v) || !ftr_cur_char(&at, ']'))
		return ftr_text_expected(n->t, c, "an external port number");
	*c = at;
	return FTR_OK;
}

/* ---- tails ------------------------------------------------------------- */

/* Read a number after blanks. *found: false if there is none. */
static enum ftr_status tail_number(struct net *n, struct ftr_cur *c,
				   const char *what, uint64_t max, uint64_t *v,
				   bool *found)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	*found = ftr_cur_uint(&at, 10, UINT64_MAX, v);
	if (!*found)
		return FTR_OK;
	if (*v > max)
		return ftr_text_fail(n->t, FTR_PARSE, "%s %" PRIu64
				     " is above %" PRIu64, what, *v, max);
	*c = at;
	return FTR_OK;
}

static enum ftr_status tail_lid(struct net *n, struct ftr_cur *c,
				struct tail *t)
{
	bool found;
	uint64_t v;
	enum ftr_status st = tail_number(n, c, "LID", FTR_LID_MAX, &v, &found);

	if (!st && found && t->n_lid < FTR_ARRAY_LEN(t->lid))
		t->lid[t->n_lid++] = (ftr_lid)v;
	return st;
}

static enum ftr_status tail_lmc(struct net *n, struct ftr_cur *c,
				struct tail *t)
{
	bool found;
	uint64_t v;
	enum ftr_status st = tail_number(n, c, "LMC", FTR_LMC_MAX, &v, &found);

	if (!st && found)
		t->lmc = (uint8_t)v;
	return st;
}

/* Read "4xQDR"; false if the word has another form. */
static bool tail_rate(struct ftr_cur *c, struct tail *t)
{
	struct ftr_cur at = *c;
	const char *first;
	uint64_t width;

	if (!ftr_cur_uint(&at, 10, 12, &width) || !ftr_cur_char(&at, 'x'))
		return false;
	for (first = at.p; !ftr_cur_end(&at) && *at.p != ' ' && *at.p != '\t';)
		at.p++;
	if (width != 0 && width != 1 && width != 2 && width != 4 &&
	    width != 8 && width != 12)
		return false;
	t->width = (uint8_t)width;
	t->speed = (uint8_t)ftr_speed_parse(first, (size_t)(at.p - first));
	*c = at;
	return true;
}

/* Read "w=2", "s=4" or "e=1"; *is false if the word is none of them. */
static enum ftr_status tail_option(struct net *n, struct ftr_cur *c,
				   struct tail *t, bool *is)
{
	struct ftr_cur at = *c;
	char key = *at.p++;
	uint32_t *to = key == 'w' ? &t->rate.width :
		       key == 's' ? &t->rate.speed : &t->rate.ext;
	uint32_t top = key == 'w' ? 31 : key == 's' ? 7 : 15;
	uint64_t v;

	*is = (key == 'w' || key == 's' || key == 'e') &&
	      ftr_cur_char(&at, '=');
	if (!*is)
		return FTR_OK;
	if (!ftr_cur_uint(&at, 0, top, &v))
		return ftr_text_fail(n->t, FTR_PARSE, "expected %c=0..%u, found '%s'",
				     key, top, ftr_quote_cur(c).s);
	*to = (uint32_t)v;
	*c = at;
	return FTR_OK;
}

/* Read one word of a tail.  Unknown words are allowed after '#' only. */
static enum ftr_status tail_word(struct net *n, struct ftr_cur *c,
				 struct tail *t, bool comment)
{
	static const char *const known[] = { "enhanced", "base", "port", "0",
					     "(scp)" };
	enum ftr_status st;
	bool is = false;

	if (ftr_cur_word(c, "lid"))
		return tail_lid(n, c, t);
	if (ftr_cur_word(c, "lmc"))
		return tail_lmc(n, c, t);
	if (tail_rate(c, t))
		return FTR_OK;
	st = tail_option(n, c, t, &is);
	if (st || is)
		return st;
	for (size_t i = 0; i < FTR_ARRAY_LEN(known); i++)
		if (ftr_cur_word(c, known[i]))
			return FTR_OK;
	if (!comment)
		return ftr_text_expected(n->t, c, "an option or a comment");
	while (!ftr_cur_end(c) && *c->p != ' ' && *c->p != '\t' && *c->p != '"')
		c->p++;
	return FTR_OK;
}

/* Read a description in quotes.  It ends at the last quote, since it may contain quotes. */
static enum ftr_status tail_desc(struct net *n, struct ftr_cur *c,
				 struct tail *t)
{
	const char *first = c->p + 1;
	const char *stop = memrchr(first, '"', (size_t)(c->end - first));

	if (!stop)
		return ftr_text_fail(n->t, FTR_PARSE, "no closing quote: '%s'",
				     ftr_quote_cur(c).s);
	t->desc = first;
	t->desc_len = (uint32_t)(stop - first);
	c->p = stop + 1;
	return FTR_OK;
}

/* Read a description without quotes, as old tools print it in a record. */
static void bare_desc(struct ftr_cur *c, struct tail *t)
{
	static const char *const ends[] = { " enhanced port ", " base port ",
					    " lid ", " lmc " };
	const char *stop = c->end;

	for (size_t i = 0; i < FTR_ARRAY_LEN(ends); i++) {
		struct ftr_cur at = *c;

		if (ftr_cur_find(&at, ends[i]))
			stop = FTR_MIN(stop, at.p - strlen(ends[i]));
	}
	t->desc = c->p;
	c->p = stop;
	while (stop > t->desc && (stop[-1] == ' ' || stop[-1] == '\t'))
		stop--;
	t->desc_len = (uint32_t)(stop - t->desc);
}

static enum ftr_status read_tail(struct net *n, struct ftr_cur *c,
				 bool record, struct tail *t)
{
	bool comment = false;

	*t = (struct tail){ .rate = n->rate };
	for (;;) {
		enum ftr_status st;

		ftr_cur_blanks(c);
		if (ftr_cur_end(c))
			return FTR_OK;
		if (!comment && *c->p == '#') {
			comment = true;
			c->p++;
			ftr_cur_blanks(c);
			if (record && !ftr_cur_end(c) && *c->p != '"')
				bare_desc(c, t);
			continue;
		}
		if (comment && *c->p == '"')
			st = tail_desc(n, c, t);
		else
			st = tail_word(n, c, t, comment);
		if (st)
			return st;
	}
}

/* ---- records ----------------------------------------------------------- */

static enum ftr_status record(struct net *n, struct ftr_cur *c,
			      enum ftr_node_type type)
{
	struct ftr_raw_node node = { .type = (uint8_t)type,
				     .line = n->t->line };
	enum ftr_status st;
	struct tail tail;
	uint64_t ports;

	ftr_cur_blanks(c);
	if (!ftr_cur_uint(c, 10, UINT64_MAX, &ports))
		return ftr_text_expected(n->t, c, "a number of ports");
	if (ports < 1 || ports > FTR_PORT_MAX)
		return ftr_text_fail(n->t, FTR_PARSE, "%" PRIu64 " ports, not 1..%u",
				     ports, FTR_PORT_MAX);
	ftr_cur_blanks(c);
	st = node_id(n, c, &node.id, &node.id_len);
	if (!st)
		st = read_tail(n, c, true, &tail);
	if (st)
		return st;
	node.n_ports = (ftr_port)ports;
	node.name = tail.desc ? tail.desc : node.id;
	node.name_len = tail.desc ? tail.desc_len : node.id_len;
	node.guid = n->guid[type];
	if (type == FTR_NODE_SWITCH) {
		node.lid = tail.lid[0];
		node.lmc = tail.lmc;
	}
	n->guid[type] += type == FTR_NODE_SWITCH ? 1 : ports + 1;
	n->node = n->r->n_node;
	return ftr_raw_add_node(n->r, &node);
}

/* Read the port number and GUID of either end: "12](guid)". */
static enum ftr_status port_number(struct net *n, struct ftr_cur *c,
				   ftr_port *num, uint64_t *guid)
{
	enum ftr_status st;
	uint64_t v;

	if (!ftr_cur_uint(c, 10, UINT32_MAX, &v))
		return ftr_text_expected(n->t, c, "a port number");
	if (!ftr_cur_char(c, ']'))
		return ftr_text_expected(n->t, c, "']' after the port number");
	if (v < 1 || v > FTR_PORT_MAX)
		return ftr_text_fail(n->t, FTR_PARSE, "port number %" PRIu64
				     ", not 1..%u", v, FTR_PORT_MAX);
	*num = (ftr_port)v;
	st = skip_ext(n, c);
	return st ? st : paren_guid(n, c, guid);
}

static void take_tail(struct ftr_raw_port *p, const struct tail *t, bool is_sw)
{
	unsigned int i = 0;

	if (!is_sw && t->n_lid) {
		p->lid = t->lid[i++];
		p->lmc = t->lmc;
	}
	if (i < t->n_lid)
		p->far_lid = t->lid[i];
	p->width = t->width ? t->width : width_of_mask(t->rate.width);
	p->speed = t->speed ? t->speed :
		   (uint8_t)speed_of_mask(t->rate.speed, t->rate.ext);
}

/* True if this line, the last one of the file, has no newline and lacks a LID or a rate
 * that the lines before it have. */
static bool is_torn(const struct net *n, const struct tail *t, bool is_sw)
{
	return n->t->cut && (t->n_lid < n->n_lid[is_sw] ||
			     (n->rated && (!t->width || !t->speed)));
}

static enum ftr_status port_line(struct net *n, struct ftr_cur *c)
{
	const struct ftr_cur whole = { c->p - 1, c->end };	/* with its '[' */
	bool is_sw;
	struct ftr_raw_port p = { .node = n->node, .far = FTR_RAW_NONE,
				  .far_num = 1, .line = n->t->line };
	enum ftr_status st;
	struct tail tail;

	if (n->node == FTR_RAW_NONE)
		return ftr_text_fail(n->t, FTR_PARSE, "port line outside of a record: '[%s'",
				     ftr_quote_cur(c).s);
	st = port_number(n, c, &p.num, &p.guid);
	if (st)
		return st;
	ftr_cur_blanks(c);
	st = node_id(n, c, &p.far_id, &p.far_len);
	if (!st && ftr_cur_char(c, '['))
		st = port_number(n, c, &p.far_num, &p.far_guid);
	if (!st)
		st = read_tail(n, c, false, &tail);
	if (st)
		return st;
	is_sw = n->r->node[n->node].type == FTR_NODE_SWITCH;
	if (is_torn(n, &tail, is_sw))
		return ftr_text_torn(n->t, whole);
	n->rated = tail.width && tail.speed;
	n->n_lid[is_sw] = (uint8_t)tail.n_lid;
	take_tail(&p, &tail, is_sw);
	return ftr_raw_add_port(n->r, &p);
}

/* ---- lines between records --------------------------------------------- */

static enum ftr_status guid_line(struct net *n, struct ftr_cur *c,
				 enum ftr_node_type type)
{
	struct ftr_cur at = *c;
	bool relative;
	uint64_t v, same;

	ftr_cur_blanks(c);
	relative = ftr_cur_char(c, '+');
	if (!relative && !ftr_cur_char(c, '='))
		return ftr_text_expected(n->t, &at, "'=' and a GUID");
	ftr_cur_blanks(c);
	at = *c;
	if (!ftr_cur_uint(c, 0, UINT64_MAX, &v))
		return ftr_text_expected(n->t, &at, "a GUID");
	ftr_cur_blanks(c);
	if (!ftr_cur_end(c) && *c->p != '#' && *c->p != '(')
		return ftr_text_expected(n->t, &at, "a GUID");
	if (!relative)
		n->base[type] = v;
	n->guid[type] = relative ? n->base[type] + v : v;
	return paren_guid(n, c, &same);
}

static enum ftr_status mask_line(struct net *n, struct ftr_cur *c,
				 const char *what, uint32_t max, uint32_t *out)
{
	uint64_t v;

	ftr_cur_blanks(c);
	if (!ftr_cur_char(c, '='))
		return ftr_text_expected(n->t, c, "'='");
	ftr_cur_blanks(c);
	if (!ftr_cur_uint(c, 0, max, &v))
		return ftr_text_fail(n->t, FTR_PARSE, "expected %s=0..%u, found '%s'",
				     what, max, ftr_quote_cur(c).s);
	*out = (uint32_t)v;
	return FTR_OK;
}

static enum ftr_status module_line(struct net *n, struct ftr_cur *c)
{
	const char *id;
	enum ftr_status st;
	uint32_t len;

	ftr_cur_blanks(c);
	if (!ftr_cur_char(c, '='))
		return ftr_text_expected(n->t, c, "'='");
	ftr_cur_blanks(c);
	n->prefix_len = 0;
	st = node_id(n, c, &id, &len);
	if (st)
		return st;
	n->prefix = id;
	n->prefix_len = len;
	return FTR_OK;
}

/* True if the first word shows that the line has nothing to do with the fabric. */
static bool passed_over(struct ftr_cur *c)
{
	static const char *const word[] = {
		"vendid", "devid", "sysimgguid", "Chassis", "Non-Chassis",
		"NonChassis", "Spine", "Line", "DR", "pdebug",
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(word); i++)
		if (ftr_cur_word(c, word[i]))
			return true;
	return false;
}

static enum ftr_status other_line(struct net *n, struct ftr_cur *c)
{
	struct rate *rate = &n->rate;

	if (ftr_cur_word(c, "switchguid") || ftr_cur_word(c, "switchguids"))
		return guid_line(n, c, FTR_NODE_SWITCH);
	if (ftr_cur_word(c, "caguid") || ftr_cur_word(c, "hcaguids") ||
	    ftr_cur_word(c, "caguids") || ftr_cur_word(c, "hcaguid"))
		return guid_line(n, c, FTR_NODE_CA);
	if (ftr_cur_word(c, "rtguid") || ftr_cur_word(c, "rtguids"))
		return guid_line(n, c, FTR_NODE_ROUTER);
	if (ftr_cur_word(c, "width"))
		return mask_line(n, c, "width", 31, &rate->width);
	if (ftr_cur_word(c, "speed"))
		return mask_line(n, c, "speed", 7, &rate->speed);
	if (ftr_cur_word(c, "extspeed"))
		return mask_line(n, c, "extspeed", 15, &rate->ext);
	if (ftr_cur_word(c, "module"))
		return module_line(n, c);
	if (passed_over(c))
		return FTR_OK;
	return ftr_text_fail(n->t, FTR_PARSE, "neither record nor port line: '%s'",
			     ftr_quote_cur(c).s);
}

static enum ftr_status any_line(struct net *n, struct ftr_cur *c)
{
	ftr_cur_blanks(c);
	if (!ftr_cur_end(c) && *c->p == '#')
		return FTR_OK;
	if (ftr_cur_char(c, '['))
		return port_line(n, c);
	n->node = FTR_RAW_NONE;
	if (ftr_cur_end(c))
		return FTR_OK;
	if (ftr_cur_word(c, "Switch"))
		return record(n, c, FTR_NODE_SWITCH);
	if (ftr_cur_word(c, "Ca") || ftr_cur_word(c, "Hca"))
		return record(n, c, FTR_NODE_CA);
	if (ftr_cur_word(c, "Rt"))
		return record(n, c, FTR_NODE_ROUTER);
	return other_line(n, c);
}

enum ftr_status ftr_netfile_collect(struct ftr_raw *r)
{
	struct net n = {
		.r = r, .t = r->t, .node = FTR_RAW_NONE,
		.guid = { [FTR_NODE_CA] = 0x100000,
			  [FTR_NODE_SWITCH] = 0x200000 },
		.base = { [FTR_NODE_CA] = 0x100000,
			  [FTR_NODE_SWITCH] = 0x200000 },
	};
	enum ftr_status st;
	struct ftr_cur c;

	for (;;) {
		st = ftr_text_line(r->t, &c);
		if (st || !c.p)
			return st;
		st = any_line(&n, &c);
		if (st)
			return st;
	}
}
