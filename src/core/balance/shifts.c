// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the flows of the shifts on every link.
 *
 * The search keeps the counts in bins, which are updated when an entry changes.  The load of the
 * most loaded link of every shift is computed again from the tables: in slices, ranges of
 * consecutive shifts that are small enough for the cache.  The same pass can fill the bins.
 *
 * src/core/check/loadrun.c, which belongs to the checker, counts shifts for `ibfattree load`.  It
 * adds up stored paths (176 MB at 11,664 hosts), which takes 0.6 s for all shifts; this file needs
 * 3.8 s (both on one thread).  The search cannot store paths, because its entries change.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SLICE_BYTES ((size_t)4 << 20)

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

	balance_bins_free(l);
	l->width = width;
	l->n_bins = (net->n_pos + width - 1) / width;
	l->words = l->n_bins / 64 + 1;
	l->many = UINT16_MAX;
	l->bins = ftr_calloc((size_t)net->n_rows * l->n_bins + 1, sizeof(*l->bins));
	l->full = ftr_calloc((size_t)net->n_rows * l->words + 1, sizeof(*l->full));
	l->n_full = ftr_calloc(net->n_rows + 1u, sizeof(*l->n_full));
	if (!l->bins || !l->full || !l->n_full)
		return ftr_nomem(err, "counting %u shifts on %u links", net->n_pos, net->n_rows);
	return FTR_OK;
}

void balance_bins_add(struct balance_loads *l, uint32_t link, struct balance_range of, int by)
{
	uint32_t row = l->net->row[link], bin = of.begin / l->width;
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
	if (many >= UINT16_MAX) {	/* no bin is full */
		memset(l->full, 0, (size_t)l->net->n_rows * l->words * sizeof(*l->full));
		memset(l->n_full, 0, l->net->n_rows * sizeof(*l->n_full));
		return;
	}
	for (uint32_t x = 0; x < l->net->n_rows; x++) {
		const uint16_t *n = l->bins + (size_t)x * l->n_bins;
		uint64_t *full = l->full + (size_t)x * l->words;

		memset(full, 0, l->words * sizeof(*full));
		l->n_full[x] = 0;
		for (uint32_t i = 0; i < l->n_bins; i++) {
			full[i / 64] |= (uint64_t)(n[i] > many) << i % 64;
			l->n_full[x] += n[i] > many;
		}
	}
}

bool balance_bins_any(const struct balance_loads *l, uint32_t link, struct balance_range of)
{
	uint32_t row = l->net->row[link];
	uint32_t begin = of.begin / l->width, last = (of.end - 1) / l->width;
	const uint64_t *full = l->full + (size_t)row * l->words;
	uint64_t word = full[begin / 64] & ~UINT64_C(0) << begin % 64;

	for (uint32_t i = begin / 64; i < last / 64; word = full[++i])
		if (word)
			return true;
	return word & ~UINT64_C(0) >> (63 - last % 64);
}

/* ---- all shifts ------------------------------------------------------------------- */

/* The shifts begin .. end - 1. */
struct slice {
	uint32_t begin, end;
	uint16_t *n;		/* [n_rows][end - begin] number of flows on each link in each
				 * shift */
	uint16_t *most;		/* [end - begin] load of the most loaded link in each shift */
	uint64_t sum;		/* of all slices of a thread: the loads in most[], added up */
};

struct slices {
	struct balance_loads *l;
	const struct balance_net *net;
	const struct balance_copy *copy;
	bool fill;
	bool counted;		/* each shift has a bin, which balance_bins_add() has kept up to
				 * date; there is one slice, whose counters are the bins */
	uint32_t shifts;	/* number of shifts of a slice */
	struct slice *of;	/* [workers] */
	atomic_bool stop;	/* cancelled */
};

static void count_path(const struct slices *z, const struct slice *b,
		       const struct balance_source *src, uint32_t d)
{
	const struct balance_net *net = z->net;
	struct balance_range of = balance_shifts_of(net, src, net->dest[d].pos);
	struct balance_entries entries = balance_copy_of(z->copy, d);
	uint32_t begin = FTR_MAX(of.begin, b->begin), end = FTR_MIN(of.end, b->end);
	ftr_sw s = src->sw, to = balance_switch(net, d);

	if (begin >= end)
		return;
	for (uint32_t hops = 0; s != to && hops < net->f->n_sw; hops++) {
		uint32_t link = balance_link(net, entries, s);
		uint16_t *row;

		if (link == BALANCE_NONE)
			return;
		row = b->n + (size_t)net->row[link] * (b->end - b->begin);
		for (uint32_t k = begin - b->begin; k < end - b->begin; k++)
			row[k]++;
		s = net->peer[link];
	}
}

static void count_slice(const struct slices *z, const struct slice *b)
{
	const struct balance_net *net = z->net;

	memset(b->n, 0, (size_t)net->n_rows * (b->end - b->begin) * sizeof(*b->n));
	for (uint32_t k = 0; k < net->n_sources; k++) {
		const struct balance_source *src = &net->source[k];
		uint32_t n = src->n ? FTR_MIN(b->end - b->begin + src->n - 1, net->n_pos) : 0;
		uint32_t pos = (src->first + b->begin) % net->n_pos;

		for (uint32_t i = 0; i < n; i++) {
			count_path(z, b, src, net->dest_at[pos]);
			pos = pos + 1 == net->n_pos ? 0 : pos + 1;
		}
	}
}

/* Copy the flows of a slice to the bins.  The slice begins at the first shift of a bin. */
static void fill_bins(struct balance_loads *l, const struct slice *b)
{
	uint32_t n = b->end - b->begin;

	for (uint32_t x = 0; x < l->net->n_rows; x++) {
		const uint16_t *row = b->n + (size_t)x * n;
		uint16_t *bin = l->bins + (size_t)x * l->n_bins + b->begin / l->width;

		for (uint32_t k = 0; k < n; k += l->width, bin++) {
			*bin = 0;
			for (uint32_t i = k; i < FTR_MIN(k + l->width, n); i++)
				*bin = (uint16_t)(*bin + row[i]);
		}
	}
}

static void one_slice(const struct slices *z, struct slice *b)
{
	uint32_t n = b->end - b->begin;

	if (!z->counted)
		count_slice(z, b);
	memset(b->most, 0, n * sizeof(*b->most));
	for (uint32_t x = 0; x < z->net->n_rows; x++) {
		const uint16_t *row = b->n + (size_t)x * n;

		for (uint32_t k = 0; k < n; k++)
			b->most[k] = FTR_MAX(b->most[k], row[k]);
	}
	/* in shift 0 every host sends to itself */
	for (uint32_t k = b->begin ? 0 : 1; k < n; k++)
		b->sum += b->most[k];
	if (z->fill)
		fill_bins(z->l, b);
}

static void some_slices(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct slices *z = ctx;

	for (uint32_t i = begin; i < end && !atomic_load(&z->stop); i++) {
		struct slice *b = &z->of[worker];

		b->begin = i * z->shifts;
		b->end = FTR_MIN(b->begin + z->shifts, z->net->n_pos);
		/* worker 0 is the calling thread */
		if (!worker && balance_cancelled(z->net))
			atomic_store(&z->stop, true);
		else
			one_slice(z, b);
	}
}

/* The number of shifts of a slice: a multiple of the width of a bin, and at most n_pos / workers
 * + 1, so that nearly all workers get a slice. */
static uint32_t slice_shifts(const struct slices *z, uint32_t workers)
{
	uint32_t width = z->fill ? z->l->width : 1;
	uint32_t n = (uint32_t)(SLICE_BYTES / sizeof(uint16_t) / (z->net->n_rows + 1u));

	n = FTR_MIN(n, z->net->n_pos / workers + 1);
	return FTR_MAX(n / width, 1u) * width;
}

enum ftr_status balance_count_shifts(struct balance_loads *l, const struct balance_copy *copy,
				     bool fill, struct ftr_team *team, uint64_t *sum,
				     struct ftr_err *err)
{
	struct slices z = {
		.l = l, .net = l->net, .copy = copy, .fill = fill,
		.counted = !fill && l->bins && l->width == 1,
	};
	unsigned int n = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_ZNEW(a, z.of, n);

	z.shifts = z.counted ? z.net->n_pos : slice_shifts(&z, n);
	for (unsigned int i = 0; ok && i < n; i++) {
		z.of[i].n = z.counted ? l->bins :
			ftr_arena_alloc(a, (size_t)z.net->n_rows * z.shifts + 1, sizeof(*l->bins));
		ok = z.of[i].n && FTR_NEW(a, z.of[i].most, z.shifts);
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_nomem(err, "counting shifts");
	}
	ftr_team_run(team, (z.net->n_pos + z.shifts - 1) / z.shifts, 1, some_slices, &z);
	*sum = 0;
	for (unsigned int i = 0; i < n; i++)
		*sum += z.of[i].sum;
	if (atomic_load(&z.stop))
		*sum = BALANCE_CANCELLED;
	ftr_arena_free(a);
	return FTR_OK;
}
