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

static void insert(struct ftr_load_report *r, ftr_sw s, unsigned int port, uint64_t load)
{
	uint32_t i = r->n_links;

	if (i == FTR_LOAD_WORST_MAX && r->link[i - 1].load >= load)
		return;
	if (i == FTR_LOAD_WORST_MAX)
		i--;
	else
		r->n_links++;
	for (; i && r->link[i - 1].load < load; i--)
		r->link[i] = r->link[i - 1];
	r->link[i] = (struct ftr_load_link){ s, (ftr_port)port, load };
}

void load_report_links(const struct ftr_load *ld, const uint64_t *load,
		       struct ftr_load_report *r)
{
	const struct ftr_fabric *f = ld->f;
	uint64_t max = 0;

	r->links = ld->net.n_rows;
	for (uint32_t x = 0; x < f->n_ports; x++) {
		r->used += load[x] > 0;
		r->load += load[x];
		max = FTR_MAX(max, load[x]);
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			uint32_t x = f->sw[s].first_port + p;

			if (ld->net.peer[x] == FTR_SW_NONE)
				continue;
			load_bin(&r->loads, max, load[x]);
			if (load[x])
				insert(r, s, p, load[x]);
		}
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
