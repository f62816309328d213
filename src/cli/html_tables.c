// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the tables of a set, from which the page finds paths.  There is one row for each switch.
 * All rows together are compressed (RFC 1950) and written in base64.  In a row, ports are replaced
 * by codes (make_codes).  A row consists of:
 *
 *	2 bytes		(number of an earlier row) + 1, low byte first; 0: no earlier row
 *	CODES bytes	for each code, its port
 *	1 byte each	for each host port, the code of its table entry; host ports are sorted by
 *			their switch and its port
 *
 * Codes and ports are written as their XOR with the earlier row.  Most entries are equal
 * to those of another switch of the same pod or plane, so nearly all bytes are 0, which compresses
 * well.  Without the XOR, the tables of a large fabric would not fit into the page: the search for
 * even load changes single entries, so the rows have few long repetitions.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/html.h"

#define REF 2			/* the first bytes of a row, which refer to an earlier row */
#define CODES 256		/* the next bytes of a row: the port of each code */

/* Returns the position, from 0, of switch s in its block.  A block is a group of switches in the
 * picture (<ftr/picture.h>).  For a switch that only the old fabric has, returns 0. */
static unsigned int place_of(const struct html_map *m, uint32_t s)
{
	const struct ftr_picture_block *b;

	if (s >= m->f->n_sw)
		return 0;
	b = &m->pic->block[m->pic->block_of[s]];
	return (unsigned int)((m->pic->x[s] - b->x0) * b->n_sw /
			      (b->x1 - b->x0));
}

/*
 * Assigns a code to each port of a switch, such that switches with the same routing have
 * similar rows even if they are cabled differently.  Similar rows compress well.  Preferred codes:
 *
 *	upward port		position of the switch at the far end (place_of), modulo 64
 *	other port to a switch	the same position modulo 64, plus 64
 *	port without a switch	253
 *	port 0			254
 *
 * If the preferred code is taken, the port gets the next free code; after 254 comes 0.  Stores the
 * port of each code in port_of[].
 */
static void make_codes(const struct html_map *m, const struct ftr_fabric *f,
		       const uint8_t *rank, ftr_sw s, uint8_t *code,
		       uint8_t *port_of)
{
	unsigned int end = CODES - 2;

	memset(port_of, FTR_PORT_NONE, CODES);
	memset(code, FTR_PORT_NONE, CODES);
	code[0] = end;
	port_of[end--] = 0;
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		uint32_t far = port->peer_kind == FTR_PEER_SW ?
			html_map_sw(m, f, port->peer) : HTML_NONE;
		unsigned int want = end;

		if (far != HTML_NONE)
			want = place_of(m, far) % 64 +
				(rank[port->peer] > rank[s] ? 0 : 64);
		while (port_of[want] != FTR_PORT_NONE)
			want = (want + 1) % (CODES - 1);
		code[p] = (uint8_t)want;
		port_of[want] = (uint8_t)p;
	}
}

struct column {
	uint32_t sw, port, ep;
};

static int by_switch(const void *x, const void *y)
{
	const struct column *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return (a->ep > b->ep) - (a->ep < b->ep);
}

/* The columns of a row are the host ports, sorted by switch and port.  Returns an array with the
 * LID in s->f of each of these host ports; 0: none. */
static ftr_lid *columns(const struct html_map *m, const struct html_set *s)
{
	struct column *c = cli_calloc(m->n_ep, sizeof(*c), "a report");
	ftr_lid *lid = cli_calloc(m->n_ep, sizeof(*lid), "a report");

	for (uint32_t i = 0; i < m->n_ep; i++) {
		const struct ftr_endport *e = html_endport(m, i);
		uint32_t w = e->sw == FTR_SW_NONE ? HTML_NONE :
			html_map_sw(m, i < m->f->n_ep ? m->f : m->old, e->sw);

		c[i] = (struct column){ w, e->sw_port, i };
	}
	qsort(c, m->n_ep, sizeof(*c), by_switch);
	for (uint32_t i = 0; i < m->n_ep; i++) {
		ftr_ep e = ftr_fabric_find_ep(s->f,
					      html_endport(m, c[i].ep)->guid);

		lid[i] = e == FTR_EP_NONE ? 0 : s->f->ep[e].lid;
	}
	free(c);
	return lid;
}

/* Writes one row for each switch.  No row refers to an earlier row yet. */
static void fill_rows(const struct html_map *m, const struct html_set *s,
		      uint8_t *to, size_t width)
{
	ftr_lid *lid = columns(m, s);
	uint8_t code[CODES];

	for (uint32_t i = 0; i < m->n_sw; i++) {
		memset(to + i * width, 0, REF);
		memset(to + i * width + REF, FTR_PORT_NONE, width - REF);
	}
	for (ftr_sw w = 0; w < s->f->n_sw; w++) {
		uint32_t at = html_map_sw(m, s->f, w);
		const uint8_t *entry = s->t->lft + (size_t)w * s->t->stride;
		uint8_t *row = to + at * width + REF;

		if (at == HTML_NONE)
			continue;
		make_codes(m, s->f, s->sh->tree.rank, w, code, row);
		for (uint32_t i = 0; i < m->n_ep; i++)
			if (lid[i])
				row[CODES + i] = code[entry[lid[i]]];
	}
	free(lid);
}

/* ---- similar rows ---------------------------------------------------------- */

#define PLACES 64

/* The arrays hold row indices plus 1; 0: no row yet. */
struct recent {
	uint16_t *block;	/* [n_blocks] latest row of a switch in each block */
	uint16_t (*place)[PLACES];	/* [n_ranks] latest row of a switch at each position in
					 * its block */
};

static uint32_t count_differences(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += a[i] != b[i];
	return bytes;
}

/* Stores in row i a reference to an earlier row.  The candidates are the latest row of a switch in
 * the same block, and the latest row of a switch of the same rank with the same position in its
 * block.  The one that is more similar to row i is taken.  Without any, the reference stays 0. */
static void choose(const struct html_map *m, struct recent *r, uint8_t *rows,
		   size_t width, uint32_t i)
{
	uint16_t *seen[] = {
		&r->block[m->pic->block_of[i]],
		&r->place[m->sh->tree.rank[i]][place_of(m, i) % PLACES],
	};
	uint8_t *row = rows + i * width;
	uint32_t least = UINT32_MAX;

	for (size_t k = 0; k < 2; k++) {
		uint32_t n;

		if (!*seen[k])
			continue;
		n = count_differences(row + REF,
				      rows + (*seen[k] - 1u) * width + REF,
				      width - REF);
		if (n >= least)
			continue;
		least = n;
		row[0] = (uint8_t)*seen[k];
		row[1] = (uint8_t)(*seen[k] >> 8);
	}
	for (size_t k = 0; k < 2; k++)
		*seen[k] = (uint16_t)(i + 1);
}

/* Replaces every row by its XOR with the row that it refers to.  Starts at the last row, because a
 * row must not change before the rows that refer to it. */
static void subtract(uint8_t *rows, size_t width, uint32_t n)
{
	for (uint32_t i = n; i-- > 0; ) {
		uint8_t *row = rows + i * width;
		const uint8_t *ref = rows +
			((row[0] | (uint32_t)row[1] << 8) - 1u) * width;

		if (!row[0] && !row[1])
			continue;
		for (size_t k = REF; k < width; k++)
			row[k] ^= ref[k];
	}
}

static void xor_rows(const struct html_map *m, uint8_t *rows, size_t width)
{
	struct recent r = {
		cli_calloc(m->pic->n_blocks, sizeof(*r.block), "a report"),
		cli_calloc(m->sh->tree.n_ranks, sizeof(*r.place), "a report"),
	};

	for (uint32_t i = 0; i < m->f->n_sw; i++)
		choose(m, &r, rows, width, i);
	subtract(rows, width, m->f->n_sw);
	free(r.block);
	free(r.place);
}

/* ---- output ---------------------------------------------------------------- */

static void put_base64(FILE *out, const uint8_t *b, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t x = (uint32_t)b[i] << 16 |
			(i + 1 < n ? (uint32_t)b[i + 1] << 8 : 0) |
			(i + 2 < n ? b[i + 2] : 0);

		putc(digit[x >> 18], out);
		putc(digit[x >> 12 & 63], out);
		putc(i + 1 < n ? digit[x >> 6 & 63] : '=', out);
		putc(i + 2 < n ? digit[x & 63] : '=', out);
	}
}

void html_put_tables(FILE *out, const struct html_map *m,
		     const struct html_set *s, size_t *room)
{
	const size_t width = REF + CODES + (size_t)m->n_ep;
	const size_t raw = width * m->n_sw;
	uLongf n = compressBound(raw);
	uint8_t *t = cli_calloc(raw, 1, "a report");
	uint8_t *z = cli_calloc(n, 1, "a report");

	fill_rows(m, s, t, width);
	xor_rows(m, t, width);
	if (compress2(z, &n, t, raw, 6) != Z_OK)
		cli_die("out of memory for a report");
	putc('"', out);
	if (n / 3 * 4 + 4 <= *room) {
		*room -= n / 3 * 4 + 4;
		put_base64(out, z, n);
	}
	putc('"', out);
	free(t);
	free(z);
}
