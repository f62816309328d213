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
 * A record is the description of one node: its first line ("Switch" or "Ca") and its port lines.
 * Only the first three words of the first line, and the first two of a port line, are required.
 * The first LID on the port line of an end node is the LID of this port.  The first LID on the port
 * line of a switch is that of the far end.
 *
 * Node GUIDs are those that ibsim would assign.  There is a counter for each type of node.  A guid
 * line sets the counter: "=V" sets it to V, "+V" to V more than the last value set with "=".  The
 * next node of the type gets the value of the counter.  Then the counter advances by 1 for a
 * switch, and by 1 + (number of ports) for an end node.  Counters start at 0x200000 for switches,
 * 0x100000 for adapters, 0 for routers.  The id ("S-0008f10500108c9e") is only a name, and no GUID
 * is read from it.  The port GUID is the one in parentheses or, without it, node GUID + port
 * number.
 *
 * Extensions of ibsim: the words w=, s= and e= are masks of enabled widths, speeds and extended
 * speeds; the highest bit that is set is used.  The lines width=, speed= and extspeed= set these
 * masks for the following records.  module= is understood as well.  Aliases and the lines "include"
 * and "do" are rejected, because a file with them does not contain the whole fabric.
 *
 * "#line N": the next line counts as line N, see ftr_set_converter().
 */
#include <inttypes.h>
#include <string.h>

#include "io/raw.h"

struct rate {			/* masks of enabled rates, as defined by ibsim */
	uint32_t width, speed, ext;
};

struct net {
	struct ftr_raw *r;
	struct ftr_text *t;
	uint64_t guid[FTR_NODE_ROUTER + 1];	/* the counter of each node type */
	uint64_t base[FTR_NODE_ROUTER + 1];	/* the value that a guid line has set last with
						 * "=", or the initial value */
	struct rate rate;
	bool rated;		/* true: the previous port line had a width and a speed */
	uint8_t n_lid[2];	/* number of LIDs in the previous port line of a switch (n_lid[1])
				 * and of an end node (n_lid[0]) */
	struct ftr_cur prefix;	/* prefix of the last module= line; p is NULL: none */
	uint32_t node;		/* node of the current record, or FTR_RAW_NONE */
};

/* The tail: the optional words at the end of a line of a record. */
struct tail {
	struct ftr_cur desc;	/* p is NULL: none */
	ftr_lid lid[2];		/* the LIDs from left to right */
	unsigned int n_lid;
	uint8_t lmc;
	uint8_t width, speed;	/* from a word like 4xQDR */
	struct rate rate;
};

/* ---- small pieces ------------------------------------------------------ */

/* Skip the next word of the line if it is one of the n words. Otherwise return false. */
static bool any_word(struct ftr_cur *c, const char *const *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ftr_cur_word(c, word[i]))
			return true;
	return false;
}

/* Read an id in quotes, such as "S-0008f10500108c9e".  After a module= line, its prefix is added to
 * an id without '#'. */
static bool node_id(struct net *n, struct ftr_cur *c, struct ftr_cur *id)
{
	const char *first = c->p + 1, *stop;
	size_t n_id, n_prefix = ftr_cur_len(&n->prefix);
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
	*id = (struct ftr_cur){ first, stop };
	if (!n_prefix || memchr(first, '#', n_id))
		return true;
	if (!FTR_NEW(n->r->arena, full, n_prefix + 1 + n_id))
		return ftr_text_nomem(n->t);
	memcpy(full, n->prefix.p, n_prefix);
	full[n_prefix] = '#';
	memcpy(full + n_prefix + 1, first, n_id);
	*id = (struct ftr_cur){ full, full + n_prefix + 1 + n_id };
	return true;
}

/* Read a GUID such as "(0008f10500108c9e)". If there is none, *guid does not change. */
static bool paren_guid(struct net *n, struct ftr_cur *c, uint64_t *guid)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	if (!ftr_cur_char(&at, '('))
		return true;
	if (!ftr_cur_uint(&at, 16, UINT64_MAX, guid) || !ftr_cur_char(&at, ')'))
		return ftr_text_expected(n->t, c, "a GUID in parentheses");
	*c = at;
	return true;
}

/* Skip "[ext 7]", the port number on the chassis. */
static bool skip_ext(struct net *n, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t v;

	if (!ftr_cur_str(&at, "[ext"))
		return true;
	ftr_cur_blanks(&at);
	if (!ftr_cur_uint(&at, 10, UINT32_MAX, &v) || !ftr_cur_char(&at, ']'))
		return ftr_text_expected(n->t, c, "an external port number");
	*c = at;
	return true;
}

/* ---- tails ------------------------------------------------------------- */

/* Read a number after blanks. If there is none, *found is set to false. */
static bool tail_number(struct net *n, struct ftr_cur *c, const char *what,
			uint64_t max, uint64_t *v, bool *found)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	*found = ftr_cur_uint(&at, 10, UINT64_MAX, v);
	if (!*found)
		return true;
	if (*v > max)
		return ftr_text_fail(n->t, FTR_PARSE, "%s %" PRIu64
				     " is above the maximum %" PRIu64, what, *v, max);
	*c = at;
	return true;
}

static bool tail_lid(struct net *n, struct ftr_cur *c, struct tail *t)
{
	bool found;
	uint64_t v;

	if (!tail_number(n, c, "LID", FTR_LID_MAX, &v, &found))
		return false;
	if (found && t->n_lid < FTR_ARRAY_LEN(t->lid))
		t->lid[t->n_lid++] = (ftr_lid)v;
	return true;
}

static bool tail_lmc(struct net *n, struct ftr_cur *c, struct tail *t)
{
	bool found;
	uint64_t v;

	if (!tail_number(n, c, "LMC", FTR_LMC_MAX, &v, &found))
		return false;
	if (found)
		t->lmc = (uint8_t)v;
	return true;
}

/* Read a rate such as "4xQDR". Returns false if the word has another form. */
static bool tail_rate(struct ftr_cur *c, struct tail *t)
{
	struct ftr_cur at = *c;
	const char *first;
	uint64_t width;

	if (!ftr_cur_uint(&at, 10, 12, &width) || !ftr_cur_char(&at, 'x'))
		return false;
	for (first = at.p; !ftr_cur_gap(&at);)
		at.p++;
	if (width != 0 && width != 1 && width != 2 && width != 4 &&
	    width != 8 && width != 12)
		return false;
	t->width = (uint8_t)width;
	t->speed = (uint8_t)ftr_speed_parse(first, (size_t)(at.p - first));
	*c = at;
	return true;
}

/* Read a mask such as "w=2", "s=4" or "e=1". *is: set to true if the word has this
 * form. */
static bool tail_option(struct net *n, struct ftr_cur *c, struct tail *t,
			bool *is)
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
		return true;
	if (!ftr_cur_uint(&at, 0, top, &v))
		return ftr_text_fail(n->t, FTR_PARSE, "expected %c=0..%u, found '%s'",
				     key, top, ftr_quote_cur(c).s);
	*to = (uint32_t)v;
	*c = at;
	return true;
}

/* Read one word of a tail. Unknown words are allowed after '#' only. */
static bool tail_word(struct net *n, struct ftr_cur *c, struct tail *t,
		      bool comment)
{
	static const char *const known[] = { "enhanced", "base", "port", "0",
					     "(scp)" };
	bool is = false;

	if (ftr_cur_word(c, "lid"))
		return tail_lid(n, c, t);
	if (ftr_cur_word(c, "lmc"))
		return tail_lmc(n, c, t);
	if (tail_rate(c, t))
		return true;
	if (!tail_option(n, c, t, &is))
		return false;
	if (is || any_word(c, known, FTR_ARRAY_LEN(known)))
		return true;
	if (!comment)
		return ftr_text_expected(n->t, c, "an option or a comment");
	while (!ftr_cur_gap(c) && *c->p != '"')
		c->p++;
	return true;
}

/* Read a description in quotes. It may contain quotes, so it ends at the last quote of the line. */
static bool tail_desc(struct net *n, struct ftr_cur *c, struct tail *t)
{
	const char *first = c->p + 1;
	const char *stop = memrchr(first, '"', (size_t)(c->end - first));

	if (!stop)
		return ftr_text_fail(n->t, FTR_PARSE, "no closing quote: '%s'",
				     ftr_quote_cur(c).s);
	t->desc = (struct ftr_cur){ first, stop };
	c->p = stop + 1;
	return true;
}

/* Read a description without quotes, as in records of old tools. */
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
	t->desc = (struct ftr_cur){ c->p, stop };
	c->p = stop;
	while (!ftr_cur_end(&t->desc) && (t->desc.end[-1] == ' ' ||
					  t->desc.end[-1] == '\t'))
		t->desc.end--;
}

static bool read_tail(struct net *n, struct ftr_cur *c, bool record,
		      struct tail *t)
{
	bool comment = false;

	*t = (struct tail){ .rate = n->rate };
	for (;;) {
		ftr_cur_blanks(c);
		if (ftr_cur_end(c))
			return true;
		if (!comment && *c->p == '#') {
			comment = true;
			c->p++;
			ftr_cur_blanks(c);
			if (record && !ftr_cur_end(c) && *c->p != '"')
				bare_desc(c, t);
		} else if (comment && *c->p == '"' ? !tail_desc(n, c, t) :
			   !tail_word(n, c, t, comment)) {
			return false;
		}
	}
}

/* ---- records ----------------------------------------------------------- */

static bool record(struct net *n, struct ftr_cur *c, enum ftr_node_type type)
{
	struct ftr_raw_node node = { .type = (uint8_t)type,
				     .line = n->t->line };
	struct tail tail;
	uint64_t ports;

	if (!ftr_text_next(n->t, c, 10, UINT64_MAX, "a number of ports", &ports))
		return false;
	if (ports < 1 || ports > FTR_PORT_MAX)
		return ftr_text_fail(n->t, FTR_PARSE, "the node has %" PRIu64 " ports (allowed: 1 to %u)",
				     ports, FTR_PORT_MAX);
	ftr_cur_blanks(c);
	if (!node_id(n, c, &node.id) || !read_tail(n, c, true, &tail))
		return false;
	node.n_ports = (ftr_port)ports;
	node.name = tail.desc.p ? tail.desc : node.id;
	node.guid = n->guid[type];
	if (type == FTR_NODE_SWITCH) {
		node.lid = tail.lid[0];
		node.lmc = tail.lmc;
	}
	n->guid[type] += type == FTR_NODE_SWITCH ? 1 : ports + 1;
	n->node = n->r->n_node;
	return ftr_raw_add_node(n->r, &node);
}

/* Read the number of a port and, if present, its GUID: "12](guid)". */
static bool port_number(struct net *n, struct ftr_cur *c, ftr_port *num,
			uint64_t *guid)
{
	uint64_t v;

	if (!ftr_text_uint(n->t, c, 10, UINT32_MAX, "a port number", &v))
		return false;
	if (!ftr_cur_char(c, ']'))
		return ftr_text_expected(n->t, c, "']' after the port number");
	if (v < 1 || v > FTR_PORT_MAX)
		return ftr_text_fail(n->t, FTR_PARSE, "port number %" PRIu64
				     " (allowed: 1 to %u)", v, FTR_PORT_MAX);
	*num = (ftr_port)v;
	return skip_ext(n, c) && paren_guid(n, c, guid);
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
	p->width = t->width ? t->width : (uint8_t)ftr_width_of_mask(t->rate.width);
	p->speed = t->speed ? t->speed :
		   (uint8_t)ftr_speed_of_mask(t->rate.speed, t->rate.ext);
}

/* Returns true if this line is probably truncated: it is the last line of the file, has no newline,
 * and lacks a LID or a rate that earlier lines have. */
static bool is_torn(const struct net *n, const struct tail *t, bool is_sw)
{
	return n->t->cut && (t->n_lid < n->n_lid[is_sw] ||
			     (n->rated && (!t->width || !t->speed)));
}

static bool port_line(struct net *n, struct ftr_cur *c)
{
	const struct ftr_cur whole = { c->p - 1, c->end };	/* with its '[' */
	bool is_sw;
	struct ftr_raw_port p = { .node = n->node, .far = FTR_RAW_NONE,
				  .far_num = 1, .line = n->t->line };
	struct tail tail;

	if (n->node == FTR_RAW_NONE)
		return ftr_text_fail(n->t, FTR_PARSE, "port line outside of a record: '[%s'",
				     ftr_quote_cur(c).s);
	if (!port_number(n, c, &p.num, &p.guid))
		return false;
	ftr_cur_blanks(c);
	if (!node_id(n, c, &p.far_id) ||
	    (ftr_cur_char(c, '[') &&
	     !port_number(n, c, &p.far_num, &p.far_guid)) ||
	    !read_tail(n, c, false, &tail))
		return false;
	is_sw = n->r->node[n->node].type == FTR_NODE_SWITCH;
	if (is_torn(n, &tail, is_sw))
		return ftr_text_torn(n->t, whole);
	n->rated = tail.width && tail.speed;
	n->n_lid[is_sw] = (uint8_t)tail.n_lid;
	take_tail(&p, &tail, is_sw);
	return ftr_raw_add_port(n->r, &p);
}

/* ---- lines between records --------------------------------------------- */

static bool guid_line(struct net *n, struct ftr_cur *c,
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
	if (!ftr_text_uint(n->t, c, 0, UINT64_MAX, "a GUID", &v))
		return false;
	ftr_cur_blanks(c);
	if (!ftr_cur_end(c) && *c->p != '#' && *c->p != '(')
		return ftr_text_expected(n->t, &at, "a GUID");
	if (!relative)
		n->base[type] = v;
	n->guid[type] = relative ? n->base[type] + v : v;
	return paren_guid(n, c, &same);
}

/* Skip "=" and the blanks around it. */
static bool equals(struct net *n, struct ftr_cur *c)
{
	if (!ftr_text_mark(n->t, c, '=', "'='"))
		return false;
	ftr_cur_blanks(c);
	return true;
}

static bool mask_line(struct net *n, struct ftr_cur *c, const char *what,
		      uint32_t max, uint32_t *out)
{
	uint64_t v;

	if (!equals(n, c))
		return false;
	if (!ftr_cur_uint(c, 0, max, &v))
		return ftr_text_fail(n->t, FTR_PARSE, "expected %s=0..%u, found '%s'",
				     what, max, ftr_quote_cur(c).s);
	*out = (uint32_t)v;
	return true;
}

static bool module_line(struct net *n, struct ftr_cur *c)
{
	n->prefix = (struct ftr_cur){ NULL, NULL };
	return equals(n, c) && node_id(n, c, &n->prefix);
}

static bool any_line(struct net *n, struct ftr_cur *c)
{
	static const struct {
		const char *word;
		enum ftr_node_type type;
	} records[] = {
		{ "Switch", FTR_NODE_SWITCH }, { "Ca", FTR_NODE_CA },
		{ "Hca", FTR_NODE_CA }, { "Rt", FTR_NODE_ROUTER },
	}, guids[] = {
		{ "switchguid", FTR_NODE_SWITCH }, { "switchguids", FTR_NODE_SWITCH },
		{ "caguid", FTR_NODE_CA }, { "caguids", FTR_NODE_CA },
		{ "hcaguid", FTR_NODE_CA }, { "hcaguids", FTR_NODE_CA },
		{ "rtguid", FTR_NODE_ROUTER }, { "rtguids", FTR_NODE_ROUTER },
	};
	/* lines that do not describe the fabric */
	static const char *const other[] = {
		"vendid", "devid", "sysimgguid", "Chassis", "Non-Chassis",
		"NonChassis", "Spine", "Line", "DR", "pdebug",
	};
	uint64_t line;

	ftr_cur_blanks(c);
	if (ftr_cur_char(c, '#')) {
		if (ftr_cur_str(c, "line ") && ftr_cur_uint(c, 10, UINT32_MAX, &line))
			n->t->line = (uint32_t)line - 1;
		return true;
	}
	if (ftr_cur_char(c, '['))
		return port_line(n, c);
	n->node = FTR_RAW_NONE;
	if (ftr_cur_end(c))
		return true;
	for (size_t i = 0; i < FTR_ARRAY_LEN(records); i++)
		if (ftr_cur_word(c, records[i].word))
			return record(n, c, records[i].type);
	for (size_t i = 0; i < FTR_ARRAY_LEN(guids); i++)
		if (ftr_cur_word(c, guids[i].word))
			return guid_line(n, c, guids[i].type);
	if (ftr_cur_word(c, "width"))
		return mask_line(n, c, "width", 31, &n->rate.width);
	if (ftr_cur_word(c, "speed"))
		return mask_line(n, c, "speed", 7, &n->rate.speed);
	if (ftr_cur_word(c, "extspeed"))
		return mask_line(n, c, "extspeed", 15, &n->rate.ext);
	if (ftr_cur_word(c, "module"))
		return module_line(n, c);
	return any_word(c, other, FTR_ARRAY_LEN(other)) ||
		ftr_text_fail(n->t, FTR_PARSE, "the line is neither a record nor a port line: '%s'",
			      ftr_quote_cur(c).s);
}

bool ftr_netfile_collect(struct ftr_raw *r)
{
	struct net n = {
		.r = r, .t = r->t, .node = FTR_RAW_NONE,
		.guid = { [FTR_NODE_CA] = 0x100000,
			  [FTR_NODE_SWITCH] = 0x200000 },
		.base = { [FTR_NODE_CA] = 0x100000,
			  [FTR_NODE_SWITCH] = 0x200000 },
	};
	struct ftr_cur c;

	do {
		if (!ftr_text_line(r->t, &c))
			return false;
	} while (c.p && any_line(&n, &c));
	return !r->t->status;
}
