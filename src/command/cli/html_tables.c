// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the tables of a set, from which the page finds paths.  There is one row for each switch of
 * the base, with one byte for each host port: the output port.  The host ports are sorted by their
 * switch and its port.  All rows together are compressed (RFC 1950) and written in base64.
 *
 * Differences from similar rows, and numbers of ports that do not depend on the cabling, would make
 * the tables of a healthy tree smaller by a quarter if its ports are cabled at random.  With broken
 * links they would make them larger.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/html.h"

/* The columns of a row are the host ports of the base, sorted by switch and port.  Returns an array
 * with the LID in s->f of each of these host ports; 0: none. */
static ftr_lid *columns(const struct html_set *s)
{
	const struct ftr_fabric *f = s->base->f;
	ftr_lid *lid = cli_calloc(f->n_ep, sizeof(*lid), "a report");

	for (uint32_t i = 0, n = 0; i < f->n_ports; i++) {
		ftr_ep e;

		if (f->ports[i].peer_kind != FTR_PEER_EP)
			continue;
		e = ftr_fabric_find_ep(s->f, f->ep[f->ports[i].peer].guid);
		lid[n++] = e == FTR_EP_NONE ? 0 : s->f->ep[e].lid;
	}
	return lid;
}

static void fill_rows(const struct html_set *s, uint8_t *to)
{
	const struct ftr_fabric *f = s->base->f;
	ftr_lid *lid = columns(s);

	memset(to, FTR_PORT_NONE, (size_t)f->n_sw * f->n_ep);
	for (ftr_sw w = 0; w < s->f->n_sw; w++) {
		const uint8_t *entry = ftr_tables_row(s->t, w);
		uint8_t *row = to + (size_t)ftr_fabric_find_sw(f, s->f->sw[w].guid) * f->n_ep;

		for (uint32_t i = 0; i < f->n_ep; i++)
			if (lid[i])
				row[i] = entry[lid[i]];
	}
	free(lid);
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
	const size_t raw = (size_t)s->base->f->n_ep * s->base->f->n_sw;
	uLongf n = compressBound(raw);
	uint8_t *t = cli_calloc(raw, 1, "a report");
	uint8_t *z = cli_calloc(n, 1, "a report");

	fill_rows(s, t);
	if (compress2(z, &n, t, raw, Z_BEST_COMPRESSION) != Z_OK)
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
