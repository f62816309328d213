// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses the cheapest port of an entry.
 *
 * The price of adding flows to a link is the sum of these terms:
 *
 *	over * E		E: the number of flows above the target that are added; with
 *				`square`: the growth of (number of flows above the target)^2
 *				Flows inside a rail (net.c) are also priced by rail[]
 *	shift[N]		for each shift in which one of the flows shares the link with N
 *				other flows.  This is a smooth substitute for the load of the most
 *				loaded link
 *	F / 256			for each of the flows, if the link has F other all-to-all flows.
 *				So idle links are preferred.  This term is left out (`idle`) when
 *				displaced entries are placed: a link whose flows are not placed yet
 *				looks idle
 *
 * The price of a path is the sum over its links.  Flows to one destination are all in different
 * shifts, so the flows of an entry do not raise each other's price.
 *
 * An entry leaves its present port only if the price falls by more than (price / MARGIN) and by
 * more than `gain`.
 */
#include "balance/balance.h"

#define MARGIN 10000
#define MOST_OVER (UINT64_C(1) << 20)	/* more flows above the target count as this number */

void balance_price_shifts(struct balance_price *p, uint32_t width, int power, double scale)
{
	for (uint32_t v = 0; v < BALANCE_PRICES; v++) {
		double n = (double)v / width, a = 1, b = 1;

		for (int i = 0; i < power; i++) {
			a *= n + 1;
			b *= n;
		}
		p->shift[v] = (uint32_t)FTR_MIN((a - b - 1) * scale, 4e9);
	}
}

static uint64_t above(const struct balance_price *p, uint64_t flows)
{
	return flows > p->target ? FTR_MIN(flows - p->target, MOST_OVER) : 0;
}

static uint64_t rise(const struct balance_price *p, uint64_t flows, uint64_t more)
{
	uint64_t was = above(p, flows), is = above(p, flows + more);

	return p->square ? is * is - was * was : is - was;
}

static uint64_t price_flows(const struct balance_flows *z, uint32_t link)
{
	const struct balance_price *p = z->price;
	uint64_t flows = z->loads->flows[link], over = rise(p, flows, z->hosts);

	if (z->rail)
		over += rise(p, (uint64_t)z->loads->rail[link] * z->loads->net->rail_weight,
			     (uint64_t)z->rail * z->loads->net->rail_weight);
	return p->over * over + (p->idle ? flows * z->hosts / 256 : 0);
}

static inline uint64_t price_shifts(const struct balance_flows *z, uint32_t link,
				    struct flow_span of)
{
	const struct balance_loads *l = z->loads;
	uint32_t bin = balance_bin(l, of.begin), next = (bin + 1) * l->width;
	const uint16_t *n = l->bins + (size_t)l->net->links.row[link] * l->n_bins;
	uint64_t sum = 0;

	for (uint32_t k = of.begin, end; k < of.end; k = end, bin++, next += l->width) {
		end = FTR_MIN(next, of.end);
		sum += (uint64_t)(end - k) * z->price->shift[FTR_MIN(n[bin], BALANCE_PRICES - 1)];
	}
	return sum;
}

/* The price of a link.  If it is not below the limit, the result may be any number that is not
 * below the limit. */
static inline uint64_t price_link(const struct balance_flows *z, uint32_t link, uint64_t limit)
{
	uint64_t sum = price_flows(z, link);

	for (uint32_t i = 0; i < z->n_shifts && sum < limit; i++)
		sum += price_shifts(z, link, z->shift[i]);
	return sum;
}

/* The price of the path from s.  limit: see price_link(). */
static uint64_t price_path(const struct balance_flows *z, ftr_sw s, uint64_t limit)
{
	uint64_t sum = 0;

	for_each_link(z->loads->net, z->of, s, link) {
		sum += price_link(z, link, limit - sum);
		if (sum >= limit)
			break;
	}
	return sum;
}

void balance_add(const struct balance_flows *z, ftr_sw s, int by)
{
	for_each_link(z->loads->net, z->of, s, link) {
		z->loads->flows[link] += (uint32_t)by * z->hosts;
		if (z->rail)
			z->loads->rail[link] += (uint32_t)by * z->rail;
		for (uint32_t i = 0; i < z->n_shifts; i++)
			balance_bins_add(z->loads, link, z->shift[i], by);
	}
}

void balance_add_shifts(struct balance_flows *z, const struct flow_source *src, uint32_t pos)
{
	struct flow_span of = balance_shifts_of(z->loads->net, src, pos);
	struct flow_span *last = z->shift + z->n_shifts - 1;

	if (of.begin == of.end)
		return;
	if (z->n_shifts && of.end == last->begin)
		last->begin = of.begin;
	else if (z->n_shifts && last->end == of.begin)
		last->end = of.end;
	else
		z->shift[z->n_shifts++] = of;
}

ftr_port balance_choose(const struct balance_flows *z, ftr_sw s,
			const struct ftr_group *const *cand, uint32_t n, uint32_t begin)
{
	const struct balance_net *net = z->loads->net;
	ftr_port best = z->of.entry[s * z->of.stride];
	uint64_t least = UINT64_MAX;

	if (balance_link(net, z->of, s) != BALANCE_NONE) {
		uint64_t gain;

		least = price_path(z, s, UINT64_MAX);
		gain = FTR_MAX(least / MARGIN, z->price->gain);
		least -= FTR_MIN(gain, least);
	}
	for (uint32_t k = 0; k < n && least; k++) {
		const struct ftr_group *g = cand[(begin + k) % n];
		uint64_t rest = price_path(z, g->remote, least);

		for (uint32_t i = 0; i < g->n && rest < least; i++) {
			ftr_port port = balance_port(z->sh, g, n, begin, i);
			uint64_t price = rest + price_link(z, net->links.ports[s].begin + port,
							   least - rest);

			if (price < least) {
				least = price;
				best = port;
			}
		}
	}
	return best;
}
