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
 * picture (<ftr/picture.h>). */
static unsigned int place_of(const struct ftr_picture *p, ftr_sw s)
{
	const struct ftr_picture_block *b = &p->block[p->block_of[s]];

	return (unsigned int)((p->x[s] - b->x0) * b->n_sw / (b->x1 - b->x0));
}

/* Returns the index that switch s of x->f has in the base. */
static ftr_sw base_sw(const struct html_set *x, ftr_sw s)
{
	return ftr_fabric_find_sw(x->base->f, x->f->sw[s].guid);
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
static void make_codes(const struct html_set *x, ftr_sw s, uint8_t *code, uint8_t *port_of)
{
	const uint8_t *rank = x->sh->tree.rank;
	const struct ftr_fabric *f = x->f;
	unsigned int end = CODES - 2;

	memset(port_of, FTR_PORT_NONE, CODES);
	memset(code, FTR_PORT_NONE, CODES);
	code[0] = end;
	port_of[end--] = 0;
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		unsigned int want = end;

		if (port->peer_kind == FTR_PEER_SW)
			want = place_of(x->base->pic, base_sw(x, port->peer)) % 64 +
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

	return FTR_ORDER(a->sw, b->sw) ?: FTR_ORDER(a->port, b->port) ?: FTR_ORDER(a->ep, b->ep);
}

/* The columns of a row are the host ports of the base, sorted by switch and port.  Returns an array
 * with the LID in s->f of each of these host ports; 0: none. */
static ftr_lid *columns(const struct html_set *s)
{
	const struct ftr_fabric *f = s->base->f;
	struct column *c = cli_calloc(f->n_ep, sizeof(*c), "a report");
	ftr_lid *lid = cli_calloc(f->n_ep, sizeof(*lid), "a report");

	for (ftr_ep e = 0; e < f->n_ep; e++)
		c[e] = (struct column){ f->ep[e].sw, f->ep[e].sw_port, e };
	qsort(c, f->n_ep, sizeof(*c), by_switch);
	for (uint32_t i = 0; i < f->n_ep; i++) {
		ftr_ep e = ftr_fabric_find_ep(s->f, f->ep[c[i].ep].guid);

		lid[i] = e == FTR_EP_NONE ? 0 : s->f->ep[e].lid;
	}
	free(c);
	return lid;
}

/* Writes one row for each switch of the base.  No row refers to an earlier row yet. */
static void fill_rows(const struct html_set *s, uint8_t *to, size_t width)
{
	const struct ftr_fabric *f = s->base->f;
	ftr_lid *lid = columns(s);
	uint8_t code[CODES];

	for (uint32_t i = 0; i < f->n_sw; i++) {
		memset(to + i * width, 0, REF);
		memset(to + i * width + REF, FTR_PORT_NONE, width - REF);
	}
	for (ftr_sw w = 0; w < s->f->n_sw; w++) {
		const uint8_t *entry = s->t->lft + (size_t)w * s->t->stride;
		uint8_t *row = to + base_sw(s, w) * width + REF;

		make_codes(s, w, code, row);
		for (uint32_t i = 0; i < f->n_ep; i++)
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
static void choose(const struct html_state *b, struct recent *r, uint8_t *rows,
		   size_t width, uint32_t i)
{
	uint16_t *seen[] = {
		&r->block[b->pic->block_of[i]],
		&r->place[b->sh->tree.rank[i]][place_of(b->pic, i) % PLACES],
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

static void xor_rows(const struct html_state *b, uint8_t *rows, size_t width)
{
	struct recent r = {
		cli_calloc(b->pic->n_blocks, sizeof(*r.block), "a report"),
		cli_calloc(b->sh->tree.n_ranks, sizeof(*r.place), "a report"),
	};

	for (uint32_t i = 0; i < b->f->n_sw; i++)
		choose(b, &r, rows, width, i);
	subtract(rows, width, b->f->n_sw);
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

void html_put_tables(FILE *out, const struct html_set *s, size_t *room)
{
	const size_t width = REF + CODES + (size_t)s->base->f->n_ep;
	const size_t raw = width * s->base->f->n_sw;
	uLongf n = compressBound(raw);
	uint8_t *t = cli_calloc(raw, 1, "a report");
	uint8_t *z = cli_calloc(n, 1, "a report");

	fill_rows(s, t, width);
	xor_rows(s->base, t, width);
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
