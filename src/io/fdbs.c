// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables as opensm.fdbs (ibdiagnet's file has the same form):
 *
 *	dump_ucast_routes: Switch 0x0008f10500108c9e
 *	LID    : Port : Hops : Optimal
 *	0x0001 : 006  : 01   : yes
 *	0x0002 : UNREACHABLE
 *	0x0003 : 003  : HOPS UNKNOWN
 *	0x0004 : 003  : 03   : No 2 hop path possible via port 1!
 *
 * LID and port are read.  HOPS UNKNOWN is an entry like any other: OpenSM knows its hop
 * counts only with minhop, updn and a few other engines.
 *
 * A section has no end line, but OpenSM prints every LID from 1 to the same last LID for
 * each switch.  A section that omits a LID, or ends at a different LID than the first
 * section, is incomplete.
 */
#include <inttypes.h>

#include "io/io.h"

#define HEAD "dump_ucast_routes: Switch "

bool ftr_is_fdbs(struct ftr_cur c)
{
	return ftr_cur_find(&c, HEAD "0x");
}

enum ftr_status ftr_lfts_section(struct ftr_lfts_reader *r, uint64_t guid)
{
	r->open_line = r->t.line;
	r->sw = ftr_fabric_find_sw(r->f, guid);
	if (r->sw == FTR_SW_NONE) {
		ftr_parts_foreign(&r->parts, &r->t, guid);
		return FTR_OK;
	}
	if (r->reported[r->sw])
		return ftr_text_fail(&r->t, FTR_INVAL, "a second section of switch 0x%016"
				     PRIx64 ", the first is on line %u", guid,
				     r->reported[r->sw]);
	r->reported[r->sw] = r->t.line;
	r->parts.known++;
	return FTR_OK;
}

static enum ftr_status check_end(const struct ftr_lfts_reader *r)
{
	if (!r->open_line || r->lid == r->last || !r->last)
		return FTR_OK;
	return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u ends with LID %u, the first one with LID %u",
			     r->open_line, r->lid, r->last);
}

static enum ftr_status begin(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	enum ftr_status st = check_end(r);
	uint64_t guid;

	if (st)
		return st;
	if (r->open_line && !r->last)
		r->last = r->lid;
	if (r->open_line && !r->last)
		return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u is empty",
				     r->open_line);
	if (!ftr_cur_find(&at, HEAD) ||
	    !ftr_cur_uint(&at, 16, UINT64_MAX, &guid))
		return ftr_text_expected(&r->t, c, "\"Switch 0x...\"");
	r->lid = 0;
	return ftr_lfts_section(r, guid);
}

/* The text after the port: ": 01 : ..." or ": HOPS UNKNOWN". */
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

static enum ftr_status entry(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	struct ftr_cur at = *c;
	uint64_t lid, port;

	if (!r->open_line)
		return ftr_text_fail(&r->t, FTR_PARSE, "entry outside of a switch's section: '%s'",
				     ftr_quote_cur(c).s);
	if (!ftr_cur_uint(&at, 16, UINT16_MAX, &lid))
		return ftr_text_expected(&r->t, c, "a LID 0x0001..0xffff");
	if (lid != r->lid + 1u)
		return ftr_text_fail(&r->t, FTR_PARSE, "LID %u follows LID %u: lines are missing",
				     (unsigned int)lid, r->lid);
	r->lid = (ftr_lid)lid;
	ftr_cur_blanks(&at);
	if (!ftr_cur_char(&at, ':'))
		return ftr_text_expected(&r->t, &at, "':' after the LID");
	ftr_cur_blanks(&at);
	if (ftr_cur_str(&at, "UNREACHABLE"))
		return FTR_OK;
	*c = at;
	if (!ftr_cur_uint(&at, 10, UINT8_MAX, &port))
		return ftr_text_expected(&r->t, c, "a port 0..255 or UNREACHABLE");
	if (!rest_is_good(at))
		return ftr_text_expected(&r->t, &at, "\": HOPS : ...\" or \": HOPS UNKNOWN\"");
	if (r->sw != FTR_SW_NONE && lid <= r->tables->max_lid)
		ftr_tables_row(r->tables, r->sw)[lid] = (uint8_t)port;
	return FTR_OK;
}

enum ftr_status ftr_fdbs_line(struct ftr_lfts_reader *r, struct ftr_cur *c)
{
	if (ftr_is_fdbs(*c))
		return begin(r, c);
	if (ftr_cur_word(c, "LID"))
		return FTR_OK;	/* column titles */
	if (c->end - c->p > 2 && c->p[0] == '0' && c->p[1] == 'x')
		return entry(r, c);
	return ftr_text_fail(&r->t, FTR_PARSE, "neither section nor entry: '%s'",
			     ftr_quote_cur(c).s);
}

enum ftr_status ftr_fdbs_end(struct ftr_lfts_reader *r)
{
	if (r->open_line && !r->lid)
		return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u is empty",
				     r->open_line);
	return check_end(r);
}
