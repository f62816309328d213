// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The map numbers the switches, host ports and links of all fabrics on the page.
 *
 * Links are sorted by (switch, port) of the end with the lower switch number, so a
 * link of any fabric is found by binary search.
 */
#include <stdlib.h>

#include "cli/html.h"

#define MAP "the map of %u switches"	/* argument of cli_calloc */

const struct ftr_switch *html_switch(const struct html_map *m, uint32_t i)
{
	return i < m->f->n_sw ? &m->f->sw[i] :
		&m->old->sw[m->old_sw[i - m->f->n_sw]];
}

const struct ftr_endport *html_endport(const struct html_map *m, uint32_t i)
{
	return i < m->f->n_ep ? &m->f->ep[i] :
		&m->old->ep[m->old_ep[i - m->f->n_ep]];
}

/* Switches of f come first, then switches that are only in old.  Both parts are sorted by GUID. */
uint32_t html_map_sw(const struct html_map *m, const struct ftr_fabric *g,
		     ftr_sw s)
{
	uint64_t guid = g->sw[s].guid;
	uint32_t lo = m->f->n_sw, hi = m->n_sw;
	ftr_sw here = g == m->f ? s : ftr_fabric_find_sw(m->f, guid);

	if (here != FTR_SW_NONE)
		return here;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (html_switch(m, mid)->guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->n_sw && html_switch(m, lo)->guid == guid ? lo :
		HTML_NONE;
}

/* ---- links --------------------------------------------------------------- */

/* Compares two links by their ends only: a link between the same ports is the same link in both
 * fabrics. */
static int by_ends(const void *x, const void *y)
{
	const struct html_link *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->pa != b->pa)
		return a->pa < b->pa ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return (a->pb > b->pb) - (a->pb < b->pb);
}

/* Stores the link at port p of switch s of g in *out.  The end with the lower switch number on the
 * map becomes end a; *swapped is true if the end at s is b.  Returns false if the port has no link
 * to a switch, or if an end is not on the map. */
static bool link_at(const struct html_map *m, const struct ftr_fabric *g,
		    ftr_sw s, ftr_port p, struct html_link *out, bool *swapped)
{
	const struct ftr_swport *port;
	uint32_t a, b;

	if (!p || p > g->sw[s].n_ports)
		return false;
	port = ftr_fabric_port(g, s, p);
	if (port->peer_kind != FTR_PEER_SW)
		return false;
	a = html_map_sw(m, g, s);
	b = html_map_sw(m, g, port->peer);
	if (a == HTML_NONE || b == HTML_NONE)
		return false;
	*swapped = a > b || (a == b && p > port->peer_port);
	*out = (struct html_link){
		.a = *swapped ? b : a, .b = *swapped ? a : b,
		.pa = *swapped ? port->peer_port : p,
		.pb = *swapped ? p : port->peer_port,
		.width = port->width, .speed = port->speed,
	};
	return true;
}

uint32_t html_map_link(const struct html_map *m, const struct ftr_fabric *g,
		       ftr_sw s, ftr_port p)
{
	struct html_link key, *at;
	bool swapped;

	if (!link_at(m, g, s, p, &key, &swapped))
		return HTML_NONE;
	at = bsearch(&key, m->link, m->n_links, sizeof(key), by_ends);
	return at ? 2 * (uint32_t)(at - m->link) + swapped : HTML_NONE;
}

static void add_links(struct html_map *m, const struct ftr_fabric *g, uint8_t state)
{
	bool swapped;

	for (ftr_sw s = 0; s < g->n_sw; s++)
		for (unsigned int p = 1; p <= g->sw[s].n_ports; p++) {
			struct html_link *l = &m->link[m->n_links];

			if (!link_at(m, g, s, (ftr_port)p, l, &swapped) ||
			    swapped)
				continue;
			l->state = state;
			m->n_links++;
		}
}

/* A link that both fabrics have is listed twice: keep one, with the data of fabric f. */
static void unite_links(struct html_map *m)
{
	uint32_t n = 0;

	qsort(m->link, m->n_links, sizeof(*m->link), by_ends);
	for (uint32_t i = 0; i < m->n_links; i++) {
		struct html_link *l = &m->link[i];

		if (n && !by_ends(&m->link[n - 1], l)) {
			if (m->link[n - 1].state == HTML_OLD)
				m->link[n - 1] = *l;
			m->link[n - 1].state = 0;
			continue;
		}
		m->link[n++] = *l;
	}
	m->n_links = n;
}

/* ---- two fabrics --------------------------------------------------------- */

static void add_old(struct html_map *m)
{
	m->old_sw = cli_calloc(m->old->n_sw, sizeof(*m->old_sw), MAP, m->f->n_sw);
	m->old_ep = cli_calloc(m->old->n_ep, sizeof(*m->old_ep), MAP, m->f->n_sw);
	for (ftr_sw s = 0; s < m->old->n_sw; s++)
		if (ftr_fabric_find_sw(m->f, m->old->sw[s].guid) == FTR_SW_NONE)
			m->old_sw[m->n_sw++ - m->f->n_sw] = s;
	for (ftr_ep e = 0; e < m->old->n_ep; e++)
		if (ftr_fabric_find_ep(m->f, m->old->ep[e].guid) == FTR_EP_NONE)
			m->old_ep[m->n_ep++ - m->f->n_ep] = e;
}

static void set_states(struct html_map *m)
{
	m->sw_state = cli_calloc(m->n_sw, 1, MAP, m->f->n_sw);
	m->ep_state = cli_calloc(m->n_ep, 1, MAP, m->f->n_sw);
	for (uint32_t i = 0; m->old && i < m->n_sw; i++)
		m->sw_state[i] = i >= m->f->n_sw ? HTML_OLD :
			ftr_fabric_find_sw(m->old, m->f->sw[i].guid) ==
			FTR_SW_NONE ? HTML_NEW : 0;
	for (uint32_t i = 0; m->old && i < m->n_ep; i++)
		m->ep_state[i] = i >= m->f->n_ep ? HTML_OLD :
			ftr_fabric_find_ep(m->old, m->f->ep[i].guid) ==
			FTR_EP_NONE ? HTML_NEW : 0;
}

void html_map_init(struct html_map *m)
{
	size_t links = (size_t)m->f->n_sw_links +
		       (m->old ? m->old->n_sw_links : 0) + 1;

	m->n_sw = m->f->n_sw;
	m->n_ep = m->f->n_ep;
	m->link = cli_calloc(links, sizeof(*m->link), MAP, m->f->n_sw);
	if (m->old)
		add_old(m);
	set_states(m);
	add_links(m, m->f, m->old ? HTML_NEW : 0);
	if (m->old)
		add_links(m, m->old, HTML_OLD);
	unite_links(m);
}
