// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes a report from the load of every link: maximum, sums, histogram and most loaded links.
 *
 * All bins of the histogram have the same width: the least width at which FTR_LOAD_BINS bins cover
 * 0 .. maximum.  The list of the most loaded links is sorted by load; links with equal load are
 * sorted by number.
 */
#include <string.h>

#include "check/link_load.h"

void load_bin(struct ftr_load_bins *b, uint64_t max, uint64_t value)
{
	b->width = max / FTR_LOAD_BINS + 1;
	b->n = FTR_MAX(b->n, (uint32_t)(value / b->width) + 1);
	b->count[value / b->width]++;
}

static void insert(const struct ftr_load *ld, struct ftr_load_report *r,
		   uint32_t link, uint64_t load)
{
	const struct ftr_fabric *f = ld->f;
	uint32_t port = ld->link_port[link], i = r->n_links;
	const struct ftr_swport *p = &f->ports[port];
	ftr_sw s = ftr_fabric_port(f, p->peer, p->peer_port)->peer;

	if (i == FTR_LOAD_WORST_MAX && r->link[i - 1].load >= load)
		return;
	if (i == FTR_LOAD_WORST_MAX)
		i--;
	else
		r->n_links++;
	for (; i && r->link[i - 1].load < load; i--)
		r->link[i] = r->link[i - 1];
	r->link[i].sw = s;
	r->link[i].port = (ftr_port)(port - f->sw[s].first_port);
	r->link[i].load = load;
}

void load_report_links(const struct ftr_load *ld, const uint64_t *load,
		       struct ftr_load_report *r)
{
	uint64_t max = 0;

	r->links = ld->n_links;
	for (uint32_t l = 0; l < ld->n_links; l++) {
		r->used += load[l] > 0;
		r->load += load[l];
		max = FTR_MAX(max, load[l]);
	}
	for (uint32_t l = 0; l < ld->n_links; l++) {
		load_bin(&r->loads, max, load[l]);
		if (load[l])
			insert(ld, r, l, load[l]);
	}
}

void load_by_port(const struct ftr_load *ld, const uint64_t *load, uint64_t *by_port)
{
	memset(by_port, 0, ld->f->n_ports * sizeof(*by_port));
	for (uint32_t l = 0; l < ld->n_links; l++)
		by_port[ld->link_port[l]] = load[l];
}

void load_report_one(const struct ftr_load *ld, const uint64_t *load,
		     struct ftr_load_report *r)
{
	load_report_links(ld, load, r);
	r->max = r->n_links ? r->link[0].load : 0;
	r->min_max = r->max;
	r->sum_max = r->max;
	load_bin(&r->maxima, r->max, r->max);
	r->sum_load = r->load;
	r->sum_used = r->used;
}
