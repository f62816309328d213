// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SL2VL tables of switches as text, in the two forms that ibdmchk -d reads
 * (IBFabric::parseSLVLFile of ibutils 1.5.7).  A file may mix them.  A line of the first form has
 * the node GUID, the input port, the output port, and eight bytes with the VLs of two SLs each.
 * The upper half of the first byte is the VL of SL 0:
 *
 *	0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67
 *
 * The second form is OpenSM's opensm-sl2vl.dump:
 *
 *	Switch 0x0002c90000000201, base LID 13, "name"
 *	#in out : 0  1  2  3 ...
 *	5   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
 *
 * Sections of channel adapters and routers are ignored, because the tables of a host affect no link
 * between switches.  For each output port OpenSM prints all input ports from 0 on.  So a
 * section is incomplete if its last line is not for the last input port.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "io/text.h"

struct reader {
	struct ftr_text t;
	const struct ftr_fabric *f;
	struct ftr_sl2vl *map;
	uint8_t *reported;		/* 1: the file names the switch */
	struct ftr_parts parts;
	/* the current section (second form) */
	uint32_t open_line;	/* first line of the section; 0: no section is being read */
	bool ours;		/* true: the switch of the section is in f */
	ftr_sw sw;
	int64_t in;		/* input port of the last line read; -1: none yet */
};

/* ---- reading ----------------------------------------------------------- */

static bool find(struct reader *r, uint64_t guid)
{
	r->sw = ftr_fabric_find_sw(r->f, guid);
	if (r->sw == FTR_SW_NONE) {
		ftr_parts_foreign(&r->parts, &r->t, guid);
		return false;
	}
	r->parts.known += !r->reported[r->sw];
	r->reported[r->sw] = 1;
	return true;
}

static bool close_section(struct reader *r)
{
	if (r->open_line && r->ours && r->in >= 0 &&
	    r->in != r->f->sw[r->sw].n_ports)
		return ftr_text_fail(&r->t, FTR_PARSE, "the section that begins on line %u ends with input port %u, but the last input port of the switch is %u",
				     r->open_line, (unsigned int)r->in,
				     r->f->sw[r->sw].n_ports);
	r->open_line = 0;
	r->in = -1;
	return true;
}

static bool begin(struct reader *r, struct ftr_cur *c, bool sw)
{
	struct ftr_cur at = *c;
	uint64_t guid;

	if (!close_section(r))
		return false;
	ftr_cur_blanks(&at);
	if (!ftr_cur_uint(&at, 16, UINT64_MAX, &guid) ||
	    !ftr_cur_char(&at, ','))
		return ftr_text_expected(&r->t, c, "\"0xGUID, base LID ...\"");
	r->open_line = r->t.line;
	r->ours = sw && find(r, guid);
	return true;
}

static bool port(struct reader *r, struct ftr_cur *c, bool ours,
		 const char *what, uint64_t *out)
{
	uint64_t max = ours ? r->f->sw[r->sw].n_ports : UINT8_MAX;

	if (!ftr_text_next(&r->t, c, 10, UINT8_MAX, what, out))
		return false;
	return *out <= max ||
		ftr_text_fail(&r->t, FTR_INVAL, "port %u does not exist; the switch has %u ports",
			      (unsigned int)*out, (unsigned int)max);
}

static bool ports(struct reader *r, struct ftr_cur *c, bool ours, uint64_t *in,
		  uint64_t *out)
{
	return port(r, c, ours, "an input port", in) &&
		port(r, c, ours, "an output port", out);
}

#define NOTHING_ELSE "16 VLs and nothing else"

/* Read a line of the second form: "5   1   : 0  1 ..." */
static bool row(struct reader *r, struct ftr_cur *c)
{
	uint64_t in, out;

	if (!r->open_line)
		return ftr_text_fail(&r->t, FTR_PARSE, "line outside of a section: '%s'",
				     ftr_quote_cur(c).s);
	if (!ports(r, c, r->ours, &in, &out) ||
	    !ftr_text_mark(&r->t, c, ':', "':' after the ports"))
		return false;
	r->in = (int64_t)in;
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
		uint64_t vl;

		if (!ftr_text_field(&r->t, c, 10, 15, "a VL 0..15", &vl))
			return false;
		if (r->ours)
			ftr_sl2vl_set(r->map, r->sw, (ftr_port)in,
				      (ftr_port)out, sl, (unsigned int)vl);
	}
	return ftr_text_end(&r->t, c, NOTHING_ELSE);
}

/* Read a line of the first form: "0x0002c90000000201 5 1 0x01 0x23 ..." */
static bool line_form(struct reader *r, struct ftr_cur *c)
{
	uint64_t guid, in, out, pair;
	bool ours;

	if (!close_section(r) ||
	    !ftr_text_uint(&r->t, c, 16, UINT64_MAX, "a node GUID", &guid))
		return false;
	ours = find(r, guid);
	if (!ports(r, c, ours, &in, &out))
		return false;
	for (unsigned int sl = 0; sl < FTR_N_SL; sl += 2) {
		struct ftr_cur at = *c;

		ftr_cur_blanks(&at);
		if (at.end - at.p < 4 || !ftr_cur_hex_follows(&at) ||
		    !ftr_cur_uint(&at, 16, UINT8_MAX, &pair))
			return ftr_text_expected(&r->t, c, "two VLs as 0xNN");
		*c = at;
		if (!ours)
			continue;
		ftr_sl2vl_set(r->map, r->sw, (ftr_port)in, (ftr_port)out, sl,
			      (unsigned int)pair >> 4);
		ftr_sl2vl_set(r->map, r->sw, (ftr_port)in, (ftr_port)out,
			      sl + 1, (unsigned int)pair & 15);
	}
	return ftr_text_end(&r->t, c, NOTHING_ELSE);
}

static bool line(void *ctx, struct ftr_cur *c)
{
	struct reader *r = ctx;

	if (ftr_cur_word(c, "Switch"))
		return begin(r, c, true);
	if (ftr_cur_word(c, "Channel")) {
		ftr_cur_blanks(c);
		if (!ftr_cur_word(c, "Adapter"))
			return ftr_text_expected(&r->t, c, "\"Adapter\"");
		return begin(r, c, false);
	}
	if (ftr_cur_word(c, "Router"))
		return begin(r, c, false);
	return ftr_cur_hex_follows(c) ? line_form(r, c) : row(r, c);
}

enum ftr_status ftr_read_sl2vl(const char *path, const struct ftr_fabric *f,
			       struct ftr_sl2vl **out, uint32_t *missing,
			       struct ftr_err *err)
{
	struct reader r = { .f = f, .in = -1 };
	bool ok = ftr_text_open(&r.t, path, false, err);

	r.reported = ftr_calloc((size_t)f->n_sw + 1, 1);
	ok = ok && (r.reported || ftr_text_nomem(&r.t)) &&
		ftr_text_ok(&r.t, ftr_sl2vl_new(f, &r.map, err)) &&
		ftr_text_each(&r.t, line, &r) && close_section(&r) &&
		ftr_parts_end(&r.parts, &r.t, "switch", "switch");
	ftr_text_close(&r.t);
	free(r.reported);
	if (!ok) {
		ftr_sl2vl_free(r.map);
		return r.t.status;
	}
	if (missing)
		*missing = f->n_sw - (uint32_t)r.parts.known;
	*out = r.map;
	return FTR_OK;
}

/* ---- writing ----------------------------------------------------------- */

static void write_word(FILE *out, uint64_t guid, uint32_t in, uint32_t to,
		       uint64_t word)
{
	fprintf(out, "0x%016" PRIx64 " %u %u", guid, in, to);
	for (unsigned int sl = 0; sl < FTR_N_SL; sl += 2)
		fprintf(out, " 0x%x%x", (unsigned int)(word >> (4 * sl)) & 15,
			(unsigned int)(word >> (4 * sl + 4)) & 15);
	fputc('\n', out);
}

enum ftr_status ftr_write_sl2vl(FILE *out, const struct ftr_fabric *f,
				const struct ftr_sl2vl *m, struct ftr_err *err)
{
	if (m->n_sw != f->n_sw)
		return ftr_fail(err, FTR_INVAL, "SL2VL tables of %u switches do not fit a fabric of %u switches",
				m->n_sw, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t to = 0; to < m->width[s]; to++)
			for (uint32_t in = 0; in < m->width[s]; in++)
				write_word(out, f->sw[s].guid, in, to,
					   *ftr_sl2vl_word(m, s, (ftr_port)in,
							   (ftr_port)to));
	return ftr_written(out, "the SL2VL tables", err);
}
