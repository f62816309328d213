// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables as text.  One section per switch:
 *
 *	Unicast lids [0-41] of switch Lid 12 guid 0x0008f10500108c9e ('name'):
 *	0x0001 004 # Channel Adapter portguid 0x...: 'node'
 *	...
 *	41 lids dumped
 *
 * OpenSM writes this form, as opensm-lfts.dump; the last line of a section gives the greatest LID.
 * ibroute and dump_lfts print similar sections: column titles, lines like "0x0001 004 : (Channel
 * Adapter ...)", and at the end "N valid lids dumped", where N is the number of lines.  A section
 * without a "lids dumped" line is incomplete.
 *
 * The LID and the port are read.  The port GUID is not: under ibsim it often differs from the
 * netfile, while the LIDs are the same.  Entries for LIDs above the greatest LID of the fabric, and
 * sections of switches that are not in the fabric, are ignored: real switches keep entries of nodes
 * that were removed long ago.
 *
 * The compact form of ftr_write_lfts_compact() has lines of up to COMPACT entries with two
 * hexadecimal digits each, beginning with the entry of the LID before the colon; ff: no route.
 *
 *	0x0000: ff0413
 *
 * If the first line contains "dump_ucast_routes", the file is an opensm.fdbs of OpenSM or
 * ibdiagnet:
 *
 *	dump_ucast_routes: Switch 0x0008f10500108c9e
 *	LID    : Port : Hops : Optimal
 *	0x0001 : 006  : 01   : yes
 *	0x0002 : UNREACHABLE
 *	0x0003 : 003  : HOPS UNKNOWN
 *	0x0004 : 003  : 03   : No 2 hop path possible via port 1!
 *
 * The LID and the port are read.  A line with HOPS UNKNOWN is an entry like any other: OpenSM knows
 * the number of hops only with minhop, updn and a few other engines.  No line marks the end of a
 * section, but OpenSM prints the same LIDs for each switch, from 1 on without gaps.  So a section
 * is incomplete if it omits a LID, or if its last LID is not that of the first section.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

#define COMPACT 1024		/* entries of a line; a line has at most 4,096 bytes */
#define FDBS_HEAD "dump_ucast_routes: Switch "

struct reader {
	struct ftr_text t;
	const struct ftr_fabric *f;
	struct ftr_tables *tables;
	uint32_t *reported;	/* [n_sw] first line of the section of each switch; 0: no section
				 * read yet */
	struct ftr_parts parts;
	bool begun;		/* true: a line was read */
	bool fdbs;		/* true: the file is an opensm.fdbs */
	bool open;		/* true: inside a section */
	uint32_t open_line;	/* first line of the section; 0: no section yet */
	ftr_sw sw;		/* switch of the section; FTR_SW_NONE: not in f */
	uint64_t lines;		/* lfts: number of entries in the section */
	ftr_lid lid;		/* fdbs: last LID read */
	ftr_lid last;		/* fdbs: last LID of the first section; 0: not yet known */
};

/* ---- sections and entries ------------------------------------------------ */

/* Begin the section of a switch. The line has the switch's GUID after the text `head`. */
static bool section(struct reader *r, struct ftr_cur *c, const char *head,
		    const char *what)
{
	struct ftr_cur at = *c;
	uint64_t guid;

	if (!ftr_cur_find(&at, head) ||
	    !ftr_cur_uint(&at, 16, UINT64_MAX, &guid))
		return ftr_text_expected(&r->t, c, what);
	r->open = true;
	r->lines = 0;
	r->lid = 0;
	r->open_line = r->t.line;
	r->sw = ftr_fabric_find_sw(r->f, guid);
	if (r->sw == FTR_SW_NONE) {
		ftr_parts_foreign(&r->parts, &r->t, guid);
		return true;
	}
	if (r->reported[r->sw])
		return ftr_text_fail(&r->t, FTR_INVAL, "a second section of switch 0x%016"
				     PRIx64 ", the first is on line %u", guid,
				     r->reported[r->sw]);
	r->reported[r->sw] = r->t.line;
	r->parts.known++;
	return true;
}

static bool in_section(struct reader *r, const struct ftr_cur *c)
{
	return r->open ||
		ftr_text_fail(&r->t, FTR_PARSE, "entry outside of a switch's section: '%s'",
			      ftr_quote_cur(c).s);
}

static bool neither(struct reader *r, const struct ftr_cur *c)
{
	return ftr_text_fail(&r->t, FTR_PARSE, "the line is neither the head of a section nor an entry: '%s'",
			     ftr_quote_cur(c).s);
}

/* ---- opensm-lfts.dump ---------------------------------------------------- */

static bool lfts_closed(struct reader *r)
{
	return !r->open ||
		ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u has no \"lids dumped\" line",
			      r->open_line);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read the entries of a compact line, from this LID on. */
static bool compact_entries(struct reader *r, struct ftr_cur *c, uint64_t lid)
{
	ftr_cur_blanks(c);
	for (; c->p < c->end; c->p += 2, lid++) {
		int high = hex_digit(c->p[0]), low = c->p + 1 < c->end ? hex_digit(c->p[1]) : -1;

		if (high < 0 || low < 0 || lid > UINT16_MAX)
			return ftr_text_expected(&r->t, c, "entries of two digits 0-9a-f, up to LID 0xffff");
		if (r->sw != FTR_SW_NONE && lid && lid <= r->tables->max_lid)
			ftr_tables_row(r->tables, r->sw)[lid] = (uint8_t)(16 * high + low);
	}
	return true;
}

static bool lfts_entry(struct reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t lid, port;
	uint8_t *slot;

	if (!in_section(r, c))
		return false;
	if (ftr_cur_uint(&at, 16, UINT16_MAX, &lid) && ftr_cur_char(&at, ':')) {
		*c = at;
		return compact_entries(r, c, lid);
	}
	at = *c;
	if (!ftr_cur_uint(&at, 16, UINT16_MAX, &lid) || !ftr_cur_char(&at, ' '))
		return ftr_text_expected(&r->t, c, "a LID 0x0000..0xffff");
	ftr_cur_blanks(&at);
	*c = at;
	if (!ftr_text_field(&r->t, c, 10, UINT8_MAX, "a port 0..255", &port))
		return false;
	r->lines++;
	if (r->sw == FTR_SW_NONE || !lid || lid > r->tables->max_lid)
		return true;
	slot = ftr_tables_row(r->tables, r->sw) + lid;
	if (*slot != FTR_PORT_NONE && *slot != port)
		return ftr_text_fail(&r->t, FTR_INVAL, "LID %u leads to port %u here but to port %u on an earlier line",
				     (unsigned int)lid, (unsigned int)port,
				     *slot);
	*slot = (uint8_t)port;
	return true;
}

/* Read "41 lids dumped" or "17 valid lids dumped". */
static bool lfts_finish(struct reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t n;
	bool valid;

	if (!ftr_cur_uint(&at, 10, UINT64_MAX, &n))
		return neither(r, c);
	ftr_cur_blanks(&at);
	valid = ftr_cur_word(&at, "valid");
	ftr_cur_blanks(&at);
	if (!ftr_cur_str(&at, "lids dumped"))
		return neither(r, c);
	if (!r->open)
		return ftr_text_fail(&r->t, FTR_PARSE, "\"lids dumped\" outside of a switch's section");
	if (valid && n != r->lines)
		return ftr_text_fail(&r->t, FTR_PARSE, "\"%" PRIu64
				     " valid lids dumped\", but the number of entries is %" PRIu64
				     " in the section that begins on line %u", n, r->lines,
				     r->open_line);
	r->open = false;
	return true;
}

static bool lfts_line(struct reader *r, struct ftr_cur *c)
{
	if (ftr_cur_str(c, "Unicast lids"))
		return lfts_closed(r) &&
			section(r, c, " guid 0x", "\"of switch ... guid 0x...\"");
	if (ftr_cur_hex_follows(c))
		return lfts_entry(r, c);
	if (ftr_cur_word(c, "Lid") || ftr_cur_word(c, "Port") ||
	    ftr_cur_str(c, "*** WARNING ***"))
		return true;	/* column titles, or the last line of dump_lfts */
	if (ftr_cur_str(c, "Multicast mlids"))
		return ftr_text_fail(&r->t, FTR_PARSE, "the file has multicast tables, not unicast tables");
	return lfts_finish(r, c);
}

/* ---- opensm.fdbs --------------------------------------------------------- */

static bool is_fdbs(struct ftr_cur c)
{
	return ftr_cur_find(&c, FDBS_HEAD "0x");
}

static bool fdbs_not_empty(struct reader *r)
{
	return r->lid ||
		ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u is empty",
			      r->open_line);
}

static bool fdbs_closed(struct reader *r)
{
	if (!r->open)
		return true;
	if (r->last && r->lid != r->last)
		return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u ends with LID %u, but the first section ends with LID %u",
				     r->open_line, r->lid, r->last);
	r->last = r->lid;
	return fdbs_not_empty(r);
}

/* Returns true if the text after the port has the form ": 01 : ..." or ": HOPS UNKNOWN". */
static bool rest_is_good(struct ftr_cur at)
{
	uint64_t hops;

	ftr_cur_blanks(&at);
	if (!ftr_cur_char(&at, ':'))
		return false;
	ftr_cur_blanks(&at);
	if (ftr_cur_str(&at, "HOPS UNKNOWN"))
		return true;
	if (!ftr_cur_uint(&at, 10, UINT8_MAX, &hops))
		return false;
	ftr_cur_blanks(&at);
	return ftr_cur_char(&at, ':');
}

static bool fdbs_entry(struct reader *r, struct ftr_cur *c)
{
	uint64_t lid, port;

	/* the first line of this format begins a section */
	if (!ftr_text_uint(&r->t, c, 16, UINT16_MAX, "a LID 0x0001..0xffff", &lid))
		return false;
	if (lid != r->lid + 1u)
		return ftr_text_fail(&r->t, FTR_PARSE, "LID %u follows LID %u: lines are missing",
				     (unsigned int)lid, r->lid);
	r->lid = (ftr_lid)lid;
	if (!ftr_text_mark(&r->t, c, ':', "':' after the LID"))
		return false;
	ftr_cur_blanks(c);
	if (ftr_cur_str(c, "UNREACHABLE"))
		return true;
	if (!ftr_text_uint(&r->t, c, 10, UINT8_MAX, "a port 0..255 or UNREACHABLE", &port))
		return false;
	if (!rest_is_good(*c))
		return ftr_text_expected(&r->t, c, "\": HOPS : ...\" or \": HOPS UNKNOWN\"");
	if (r->sw != FTR_SW_NONE && lid <= r->tables->max_lid)
		ftr_tables_row(r->tables, r->sw)[lid] = (uint8_t)port;
	return true;
}

static bool fdbs_line(struct reader *r, struct ftr_cur *c)
{
	if (is_fdbs(*c))
		return fdbs_closed(r) &&
			section(r, c, FDBS_HEAD, "\"Switch 0x...\"");
	if (ftr_cur_word(c, "LID"))
		return true;	/* column titles */
	return ftr_cur_hex_follows(c) ? fdbs_entry(r, c) : neither(r, c);
}

/* ---- reading ------------------------------------------------------------- */

static bool line(void *ctx, struct ftr_cur *c)
{
	struct reader *r = ctx;

	if (!r->begun)		/* the first line shows the format */
		r->fdbs = is_fdbs(*c);
	r->begun = true;
	return r->fdbs ? fdbs_line(r, c) : lfts_line(r, c);
}

enum ftr_status ftr_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out,
			      struct ftr_parts *parts, struct ftr_err *err)
{
	struct reader r = { .f = f };
	bool ok = ftr_text_open(&r.t, path, false, err);

	r.reported = ftr_calloc(f->n_sw, sizeof(*r.reported));
	ok = ok && (r.reported || ftr_text_nomem(&r.t)) &&
		ftr_text_ok(&r.t, ftr_tables_new(f, true, &r.tables, err)) &&
		ftr_text_each(&r.t, line, &r) &&
		(r.fdbs ? fdbs_not_empty(&r) && fdbs_closed(&r) : lfts_closed(&r)) &&
		ftr_parts_end(&r.parts, &r.t, "switch", "switch");
	ftr_text_close(&r.t);
	free(r.reported);
	if (!ok) {
		ftr_tables_free(r.tables);
		return r.t.status;
	}
	if (parts)
		*parts = r.parts;
	*out = r.tables;
	return FTR_OK;
}

/* ---- writing ----------------------------------------------------------- */

/* Returns the text of a line after the port; NULL: out of memory. */
static const char *make_suffix(struct ftr_arena *a, const struct ftr_fabric *f, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];
	const char *type = "Channel Adapter", *name;
	char text[160];
	uint64_t guid;

	switch (o->kind) {
	case FTR_OWNER_SW:
		type = "Switch";
		guid = f->sw[o->idx].guid;
		name = f->sw[o->idx].name;
		break;
	case FTR_OWNER_EP:
		if (f->ep[o->idx].type == FTR_NODE_ROUTER)
			type = "Router";
		guid = f->ep[o->idx].guid;
		name = f->ep[o->idx].name;
		break;
	default:
		return " # unknown node and type\n";
	}
	snprintf(text, sizeof(text), " # %s portguid 0x%016" PRIx64 ": '%s'\n",
		 type, guid, name);
	return ftr_arena_strndup(a, text, sizeof(text));
}

static void write_entry(FILE *out, uint32_t lid, unsigned int port,
			const char *suffix)
{
	static const char hex[] = "0123456789abcdef";
	char head[10] = { '0', 'x', hex[lid >> 12 & 15], hex[lid >> 8 & 15],
			  hex[lid >> 4 & 15], hex[lid & 15], ' ',
			  (char)('0' + port / 100),
			  (char)('0' + port / 10 % 10),
			  (char)('0' + port % 10) };

	fwrite(head, 1, sizeof(head), out);
	fputs(suffix, out);
}

static void write_head(FILE *out, const struct ftr_fabric *f, const struct ftr_tables *t, ftr_sw s)
{
	fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64
		" ('%s'):\n", t->max_lid, f->sw[s].lid, f->sw[s].guid,
		f->sw[s].name);
}

static void write_section(FILE *out, const struct ftr_fabric *f,
			  const struct ftr_tables *t, ftr_sw s,
			  const char *const *suffix)
{
	const uint8_t *row = ftr_tables_row(t, s);

	write_head(out, f, t, s);
	for (uint32_t lid = 1; lid <= t->max_lid; lid++)
		if (row[lid] != FTR_PORT_NONE)
			write_entry(out, lid, row[lid], suffix[lid]);
	fprintf(out, "%u lids dumped\n", t->max_lid);
}

static enum ftr_status fits(const struct ftr_fabric *f, const struct ftr_tables *t,
			    struct ftr_err *err)
{
	if (t->n_sw != f->n_sw || t->max_lid > f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	return FTR_OK;
}

enum ftr_status ftr_write_lfts_compact(FILE *out, const struct ftr_fabric *f,
				       const struct ftr_tables *t, struct ftr_err *err)
{
	static const char hex[] = "0123456789abcdef";
	enum ftr_status st = fits(f, t, err);

	if (st)
		return st;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(t, s);
		char line[2 * COMPACT + 1];

		fflush(out);	/* a compressing stream sees where a table begins */
		write_head(out, f, t, s);
		for (uint32_t lid = 0, n; lid <= t->max_lid; lid += n) {
			n = FTR_MIN(COMPACT, t->max_lid - lid + 1u);
			for (uint32_t i = 0; i < n; i++) {
				line[2 * i] = hex[row[lid + i] >> 4];
				line[2 * i + 1] = hex[row[lid + i] & 15];
			}
			line[2 * n] = '\n';
			fprintf(out, "0x%04x: ", lid);
			fwrite(line, 1, 2 * n + 1, out);
		}
		fprintf(out, "%u lids dumped\n", t->max_lid);
	}
	return ftr_written(out, "the tables", err);
}

enum ftr_status ftr_write_lfts(FILE *out, const struct ftr_fabric *f,
			       const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_arena *a;
	const char **suffix = NULL;
	enum ftr_status st = fits(f, t, err);

	if (st)
		return st;
	a = ftr_arena_new();
	if (a)
		FTR_NEW(a, suffix, t->max_lid + 1u);
	for (uint32_t lid = 0; lid <= t->max_lid; lid++)
		if (!suffix || !(suffix[lid] = make_suffix(a, f, (ftr_lid)lid))) {
			ftr_arena_free(a);
			return ftr_nomem(err, "a dump of tables");
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		write_section(out, f, t, s, suffix);
	st = ftr_written(out, "the tables", err);
	ftr_arena_free(a);
	return st;
}
