// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The flows of the shifts on every link (counted by src/core/check/flow_count.c).
 *
 * The search keeps the counts in bins, which are updated when an entry changes.  The load of the
 * most loaded link of every shift is computed again from the tables.  The same pass can fill the
 * bins.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* ---- bins ------------------------------------------------------------------------ */

void balance_bins_free(struct balance_loads *l)
{
	free(l->bins);
	free(l->full);
	free(l->n_full);
	l->bins = NULL;
	l->full = NULL;
	l->n_full = NULL;
}

enum ftr_status balance_bins_new(struct balance_loads *l, uint32_t width, struct ftr_err *err)
{
	const struct balance_net *net = l->net;
	size_t n;

	balance_bins_free(l);
	l->width = width;
	l->per_shift = (1ull << 32) / width + 1;
	l->n_bins = (net->n_pos + width - 1) / width;
	l->words = l->n_bins / 64 + 1;
	l->many = UINT16_MAX;
	n = (size_t)net->links.n_rows * l->n_bins + 1;
	l->bins = ftr_reallocarray(NULL, n, sizeof(*l->bins));
	l->full = ftr_calloc((size_t)net->links.n_rows * l->words + 1, sizeof(*l->full));
	l->n_full = ftr_calloc(net->links.n_rows + 1u, sizeof(*l->n_full));
	if (!l->bins || !l->full || !l->n_full)
		return ftr_nomem(err, "counting %u shifts on %u links", net->n_pos, net->links.n_rows);
	/* calloc() would be slow: a new page that is read before it is written has two page faults, and
	 * the second one interrupts the cores of all other threads. */
	memset(l->bins, 0, n * sizeof(*l->bins));
	return FTR_OK;
}

void balance_bins_add(struct balance_loads *l, uint32_t link, struct flow_span of, int by)
{
	uint32_t row = l->net->links.row[link], bin = balance_bin(l, of.begin);
	uint32_t next = (bin + 1) * l->width;
	uint16_t *n = l->bins + (size_t)row * l->n_bins;
	uint64_t *full = l->full + (size_t)row * l->words;

	for (uint32_t k = of.begin, end; k < of.end; k = end, bin++, next += l->width) {
		bool was = n[bin] > l->many, is;

		end = FTR_MIN(next, of.end);
		n[bin] = (uint16_t)(n[bin] + by * (int)(end - k));
		is = n[bin] > l->many;
		if (was == is)
			continue;
		full[bin / 64] ^= UINT64_C(1) << bin % 64;
		l->n_full[row] += is ? 1u : -1u;
	}
}

void balance_bins_full(struct balance_loads *l, uint32_t many)
{
	if (l->many == many)
		return;
	l->many = many;
	for (uint32_t x = 0; x < l->net->links.n_rows; x++) {
		const uint16_t *n = l->bins + (size_t)x * l->n_bins;
		uint64_t *full = l->full + (size_t)x * l->words;

		memset(full, 0, l->words * sizeof(*full));
		l->n_full[x] = 0;
		for (uint32_t i = 0; i < l->n_bins; i += 64) {
			uint32_t end = FTR_MIN(i + 64, l->n_bins);
			uint16_t most = 0;

			for (uint32_t k = i; k < end; k++)
				most = FTR_MAX(most, n[k]);
			if (most <= many)
				continue;
			for (uint32_t k = i; k < end; k++) {
				full[k / 64] |= (uint64_t)(n[k] > many) << k % 64;
				l->n_full[x] += n[k] > many;
			}
		}
	}
}

bool balance_bins_any(const struct balance_loads *l, uint32_t link, struct flow_span of)
{
	uint32_t row = l->net->links.row[link];
	uint32_t begin = balance_bin(l, of.begin), last = balance_bin(l, of.end - 1);
	const uint64_t *full = l->full + (size_t)row * l->words;
	uint64_t word = full[begin / 64] & ~UINT64_C(0) << begin % 64;

	for (uint32_t i = begin / 64; i < last / 64; word = full[++i])
		if (word)
			return true;
	return word & ~UINT64_C(0) >> (63 - last % 64);
}

/* ---- all shifts ------------------------------------------------------------------- */

struct counting {
	struct balance_loads *l;
	bool fill;
	uint64_t *sum;		/* [workers] loads of the most loaded link in each shift, added up */
	uint16_t **most;	/* [workers][n_pos] scratch */
	bool stopped;
};

/* Copies the flows of a link in the shifts begin .. end - 1 to its bins.  begin is the first shift of
 * a bin. */
static void fill_bins(struct balance_loads *l, uint32_t row, const uint16_t *flows, uint32_t begin,
		      uint32_t end)
{
	uint16_t *bin = l->bins + (size_t)row * l->n_bins + begin / l->width;

	for (uint32_t k = begin; k < end; k += l->width) {
		uint32_t sum = 0;

		for (uint32_t i = k; i < FTR_MIN(k + l->width, end); i++)
			sum += flows[i - begin];
		*bin++ = (uint16_t)sum;
	}
}

static void add_most(uint16_t *restrict most, const uint16_t *restrict flows, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		most[k] = FTR_MAX(most[k], flows[k]);
}

static uint64_t sum_of(const uint16_t *most, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += most[k];
	return sum;
}

static void take_slice(void *ctx, const struct flow_slice *b)
{
	struct counting *c = ctx;
	uint32_t n = b->end - b->begin;
	uint16_t *most = c->most[b->worker];

	memset(most, 0, n * sizeof(*most));
	for (uint32_t x = 0; x < c->l->net->links.n_rows; x++) {
		const uint16_t *flows = flow_slice_link(b, x);

		add_most(most, flows, n);
		if (c->fill)
			fill_bins(c->l, x, flows, b->begin, b->end);
	}
	c->sum[b->worker] += sum_of(most, n);
}

/* Adds up the bins of one shift each, which balance_bins_add() has kept. */
static void take_bins(struct counting *c)
{
	const struct balance_loads *l = c->l;

	memset(c->most[0], 0, l->n_bins * sizeof(*c->most[0]));
	for (uint32_t x = 0; x < l->net->links.n_rows; x++)
		add_most(c->most[0], l->bins + (size_t)x * l->n_bins, l->n_bins);
	c->sum[0] = sum_of(c->most[0], l->n_bins);
}

static bool stop(void *ctx)
{
	struct counting *c = ctx;

	return c->stopped = balance_cancelled(c->l->net);
}

static bool prepare(struct counting *c, struct ftr_arena *a, unsigned int workers,
		    struct flow_patterns *z)
{
	const struct balance_net *net = c->l->net;
	ftr_sw *sw;

	if (!FTR_NEW(a, sw, net->n_pos + 1u) || !FTR_ZNEW(a, c->sum, workers) ||
	    !FTR_NEW(a, c->most, workers))
		return false;
	for (uint32_t i = 0; i < net->n_sources; i++)
		for (uint32_t p = 0; p < net->source[i].n; p++)
			sw[net->source[i].first + p] = net->source[i].sw;
	for (unsigned int i = 0; i < workers; i++)
		if (!FTR_NEW(a, c->most[i], net->n_pos + 1u))
			return false;
	return flow_set_shifts(z, a, sw, NULL);
}

enum ftr_status balance_count_shifts(struct balance_loads *l, const struct flow_dest *copy,
				     bool fill, struct ftr_team *team, uint64_t *sum,
				     struct ftr_err *err)
{
	const struct balance_net *net = l->net;
	struct counting c = { .l = l, .fill = fill };
	struct flow_patterns z = {
		.net = &net->links, .dest = copy, .dest_at = net->dest_at, .n = net->n_pos,
		.n_patterns = net->n_pos, .multiple = fill ? l->width : 1, .fn = take_slice, .stop = stop, .ctx = &c,
	};
	unsigned int n = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	enum ftr_status st = a && prepare(&c, a, n, &z) ? FTR_OK :
		ftr_nomem(err, "counting shifts");

	if (!st && !fill && l->bins && l->width == 1)
		take_bins(&c);
	else if (!st)
		st = flow_count_patterns(&z, team, err);
	*sum = 0;
	for (unsigned int i = 0; i < n; i++)
		*sum += st ? 0 : c.sum[i];
	if (c.stopped)
		*sum = BALANCE_CANCELLED;
	ftr_arena_free(a);
	return st;
}
