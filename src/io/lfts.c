// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables as text.  One section per switch:
 *
 *	Unicast lids [0-41] of switch Lid 12 guid 0x0008f10500108c9e ('name'):
 *	0x0001 004 # Channel Adapter portguid 0x...: 'node'
 *	...
 *	41 lids dumped
 *
 * This is the form of OpenSM, in which the last line gives the greatest LID.  ibroute
 * and dump_lfts print column titles, "0x0001 004 : (Channel Adapter ...)", and "N valid
 * lids dumped" (the number of lines).  A section without its last line is incomplete.
 *
 * LID and port are read.  The port GUID after them is not read: under ibsim it often differs
 * from the one in the netfile, while LIDs agree.  Entries for LIDs above the last one of
 * the fabric, and sections of switches that are not in the fabric, are ignored: real
 * switches keep entries of nodes that were removed long ago.
 *
 * An opensm.fdbs is recognised by its first line and read by fdbs.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

/* ---- reading ----------------------------------------------------------- */

static enum ftr_status torn(const struct ftr_lfts_reader *r)
{
	return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u has no \"lids dumped\" line",
			     r->open_line);
}

static enum ftr_status begin(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t guid;

	if (r->open)
		return torn(r);
	if (!ftr_cur_find(&at, " guid 0x") ||
	    !ftr_cur_uint(&at, 16, UINT64_MAX, &guid))
		return ftr_text_expected(&r->t, c, "\"of switch ... guid 0x...\"");
	r->open = true;
	r->lines = 0;
	return ftr_lfts_section(r, guid);
}

static enum ftr_status entry(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t lid, port;
	uint8_t *slot;

	if (!r->open)
		return ftr_text_fail(&r->t, FTR_PARSE, "entry outside of a switch's section: '%s'",
				     ftr_quote_cur(c).s);
	if (!ftr_cur_uint(&at, 16, UINT16_MAX, &lid) || !ftr_cur_char(&at, ' '))
		return ftr_text_expected(&r->t, c, "a LID 0x0000..0xffff");
	ftr_cur_blanks(&at);
	*c = at;
	if (!ftr_cur_uint(&at, 10, UINT8_MAX, &port) ||
	    (!ftr_cur_end(&at) && *at.p != ' '))
		return ftr_text_expected(&r->t, c, "a port 0..255");
	r->lines++;
	if (r->sw == FTR_SW_NONE || !lid || lid > r->tables->max_lid)
		return FTR_OK;
	slot = ftr_tables_row(r->tables, r->sw) + lid;
	if (*slot != FTR_PORT_NONE && *slot != port)
		return ftr_text_fail(&r->t, FTR_INVAL, "LID %u leads to port %u here but to port %u before",
				     (unsigned int)lid, (unsigned int)port,
				     *slot);
	*slot = (uint8_t)port;
	return FTR_OK;
}

/* Read "41 lids dumped" or "17 valid lids dumped"; *is false if the line is neither. */
static enum ftr_status finish(struct ftr_lfts_reader *r, struct ftr_cur *c, bool *is)
{
	struct ftr_cur at = *c;
	uint64_t n;
	bool valid;

	*is = false;
	if (!ftr_cur_uint(&at, 10, UINT64_MAX, &n))
		return FTR_OK;
	ftr_cur_blanks(&at);
	valid = ftr_cur_word(&at, "valid");
	ftr_cur_blanks(&at);
	if (!ftr_cur_str(&at, "lids dumped"))
		return FTR_OK;
	*is = true;
	if (!r->open)
		return ftr_text_fail(&r->t, FTR_PARSE, "\"lids dumped\" outside of a switch's section");
	if (valid && n != r->lines)
		return ftr_text_fail(&r->t, FTR_PARSE, "%" PRIu64
				     " lids dumped, but %" PRIu64
				     " entries since line %u", n, r->lines,
				     r->open_line);
	r->open = false;
	return FTR_OK;
}

static enum ftr_status line(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	enum ftr_status st;
	bool is;

	if (ftr_cur_str(c, "Unicast lids"))
		return begin(r, c);
	if (c->end - c->p > 2 && c->p[0] == '0' && c->p[1] == 'x')
		return entry(r, c);
	if (ftr_cur_word(c, "Lid") || ftr_cur_word(c, "Port") ||
	    ftr_cur_str(c, "*** WARNING ***"))
		return FTR_OK;	/* column titles, last line of dump_lfts */
	if (ftr_cur_str(c, "Multicast mlids"))
		return ftr_text_fail(&r->t, FTR_PARSE, "multicast tables, not unicast ones");
	st = finish(r, c, &is);
	if (st || is)
		return st;
	return ftr_text_fail(&r->t, FTR_PARSE, "neither section nor entry: '%s'",
			     ftr_quote_cur(c).s);
}

static enum ftr_status any_line(void *ctx, struct ftr_cur *c)
{
	struct ftr_lfts_reader *r = ctx;

	if (!r->begun)		/* the first line decides */
		r->fdbs = ftr_is_fdbs(*c);
	r->begun = true;
	return r->fdbs ? ftr_fdbs_line(r, c) : line(r, c);
}

static enum ftr_status read_all(struct ftr_lfts_reader *r)
{
	enum ftr_status st = ftr_text_each(&r->t, any_line, r);

	if (!st && r->fdbs)
		st = ftr_fdbs_end(r);
	else if (!st && r->open)	/* incomplete */
		st = torn(r);
	return st ? st : ftr_parts_end(&r->parts, &r->t, "switch", "switch");
}

enum ftr_status ftr_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out,
			      struct ftr_lfts_gaps *gaps, struct ftr_err *err)
{
	struct ftr_lfts_reader r = { .f = f };
	enum ftr_status st = ftr_text_open(&r.t, path, false, err);

	if (st)
		return st;
	r.reported = ftr_calloc(f->n_sw, sizeof(*r.reported));
	if (!r.reported)
		st = ftr_text_nomem(&r.t);
	if (!st)
		st = ftr_tables_new(f, true, &r.tables, err);
	if (!st)
		st = read_all(&r);
	ftr_text_close(&r.t);
	free(r.reported);
	if (st) {
		ftr_tables_free(r.tables);
		return st;
	}
	if (gaps)
		*gaps = (struct ftr_lfts_gaps){
			f->n_sw - (uint32_t)r.parts.known, r.parts.foreign,
			r.parts.line, r.parts.guid
		};
	*out = r.tables;
	return FTR_OK;
}

/* ---- writing ----------------------------------------------------------- */

struct suffix {			/* text after the port number of a LID */
	const char *s;
	size_t len;
};

/* Node descriptions may hold any bytes: keep them within their line. */
static void clean(char *to, const char *from)
{
	size_t len = strnlen(from, FTR_NAME_MAX);

	for (size_t i = 0; i < len; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 127 ?
			'?' : from[i];
	to[len] = '\0';
}

static bool make_suffix(struct ftr_arena *a, const struct ftr_fabric *f,
			ftr_lid lid, struct suffix *out)
{
	const struct ftr_lid_owner *o = &f->owner[lid];
	char name[FTR_NAME_MAX + 1], text[160];
	const char *type = "Channel Adapter";
	uint64_t guid;

	switch (o->kind) {
	case FTR_OWNER_SW:
		type = "Switch";
		guid = f->sw[o->idx].guid;
		clean(name, f->sw[o->idx].name);
		break;
	case FTR_OWNER_EP:
		if (f->ep[o->idx].type == FTR_NODE_ROUTER)
			type = "Router";
		guid = f->ep[o->idx].guid;
		clean(name, f->ep[o->idx].name);
		break;
	default:
		out->s = " # unknown node and type\n";
		out->len = strlen(out->s);
		return true;
	}
	snprintf(text, sizeof(text), " # %s portguid 0x%016" PRIx64 ": '%s'\n",
		 type, guid, name);
	out->s = ftr_arena_strndup(a, text, sizeof(text));
	out->len = strlen(text);
	return out->s != NULL;
}

static void write_entry(FILE *out, uint32_t lid, unsigned int port,
			const struct suffix *suffix)
{
	static const char hex[] = "0123456789abcdef";
	char head[10] = { '0', 'x', hex[lid >> 12 & 15], hex[lid >> 8 & 15],
			  hex[lid >> 4 & 15], hex[lid & 15], ' ',
			  (char)('0' + port / 100),
			  (char)('0' + port / 10 % 10),
			  (char)('0' + port % 10) };

	fwrite(head, 1, sizeof(head), out);
	fwrite(suffix->s, 1, suffix->len, out);
}

static void write_section(FILE *out, const struct ftr_fabric *f,
			  const struct ftr_tables *t, ftr_sw s,
			  const struct suffix *suffix)
{
	const uint8_t *row = ftr_tables_row(t, s);
	char name[FTR_NAME_MAX + 1];

	clean(name, f->sw[s].name);
	fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64
		" ('%s'):\n", t->max_lid, f->sw[s].lid, f->sw[s].guid, name);
	for (uint32_t lid = 1; lid <= t->max_lid; lid++)
		if (row[lid] != FTR_PORT_NONE)
			write_entry(out, lid, row[lid], &suffix[lid]);
	fprintf(out, "%u lids dumped\n", t->max_lid);
}

enum ftr_status ftr_write_lfts(FILE *out, const struct ftr_fabric *f,
			       const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_arena *a;
	struct suffix *suffix = NULL;
	enum ftr_status st;
	bool ok;

	if (t->n_sw != f->n_sw || t->max_lid > f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	a = ftr_arena_new();
	if (a)
		suffix = ftr_arena_alloc(a, t->max_lid + 1u, sizeof(*suffix));
	ok = suffix != NULL;
	for (uint32_t lid = 0; ok && lid <= t->max_lid; lid++)
		ok = make_suffix(a, f, (ftr_lid)lid, &suffix[lid]);
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM, "out of memory for a dump of tables");
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		write_section(out, f, t, s, suffix);
	st = ftr_written(out, "the tables", err);
	ftr_arena_free(a);
	return st;
}
