// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the load of the most loaded link of every shift.  The search compares tables by the sum
 * of these loads.
 *
 * A slice is a range of consecutive shifts, small enough that its counters usually fit into the
 * cache.  For each slice, the flows of all links are counted in each of its shifts, and the maximum
 * of each shift is added to the sum.  The same pass can fill the bins of the search (struct
 * balance_count).
 */
#include <stdatomic.h>
#include <string.h>

#include "balance/balance.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SLICE_BYTES ((size_t)2 << 20)	/* fits into the cache of a core */
#define MOST_BYTES ((size_t)8 << 20)
/* A slice has at least SLICE_SOURCES * (mean number of hosts on a switch with hosts) shifts, unless
 * MOST_BYTES or the number of workers require fewer.  All paths are followed again for each slice,
 * so small slices would take too long. */
#define SLICE_SOURCES 16
#define BLOCK 256u		/* number of shifts in one call of sum_of_most() */

struct slice_worker {
	uint16_t *n;		/* [n_rows][shifts] number of flows on each link in each shift */
	uint64_t sum;		/* load of the most loaded link of each shift, added up */
};

struct slices {
	const struct balance_net *net;
	uint8_t *entry;
	struct balance_count *fill;	/* fill the bins of this object; NULL: fill no bins */
	uint32_t shifts;	/* number of shifts of a slice */
	struct slice_worker *worker;
	atomic_bool stop;	/* cancelled */
};

/* Find the load of the most loaded link in each of the shifts begin .. end - 1 (at most BLOCK
 * shifts; 0 is the first shift of the slice).  Returns the sum of these loads.  All these shifts
 * are processed together, so that memory is read in order. */
static uint64_t sum_of_most(const struct balance_net *net,
			    const struct balance_slice *b, uint32_t begin,
			    uint32_t end)
{
	uint16_t most[BLOCK] = { 0 };
	uint64_t sum = 0;

	for (uint32_t x = 0; x < net->n_rows; x++) {
		const uint16_t *row = b->n + x * b->stride + begin;

		for (uint32_t i = 0; i < end - begin; i++)
			most[i] = FTR_MAX(most[i], row[i]);
	}
	for (uint32_t i = 0; i < end - begin; i++)
		sum += most[i];
	return sum;
}

/* all: one slice with all bins.  sum[i]: sum_of_most() of the BLOCK shifts from i * BLOCK on. */
struct blocks {
	const struct balance_net *net;
	struct balance_slice all;
	uint64_t sum[UINT16_MAX / BLOCK + 1];
};

static void some_blocks(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	struct blocks *z = ctx;

	(void)worker;
	for (uint32_t i = begin; i < end; i++)
		z->sum[i] = sum_of_most(z->net, &z->all,
					FTR_MAX(i * BLOCK, 1u),
					FTR_MIN((i + 1) * BLOCK, z->all.end));
}

uint64_t balance_bins_worst(const struct balance_count *c,
			    struct ftr_team *team)
{
	struct blocks z = { .net = c->net, .all = {
		.n = c->bins, .stride = c->n_bins, .end = c->n_bins,
	} };
	uint32_t n = (c->n_bins + BLOCK - 1) / BLOCK;
	uint64_t sum = 0;

	ftr_team_run(team, n, 1, some_blocks, &z);
	for (uint32_t i = 0; i < n; i++)
		sum += z.sum[i];
	return sum;
}

/* Copy the flows of a slice to the bins.  The slice must begin at the first shift of a bin. */
static void fill_bins(struct balance_count *c, const struct balance_slice *b)
{
	for (uint32_t x = 0; x < c->net->n_rows; x++) {
		const uint16_t *n = b->n + x * b->stride;
		uint16_t *bin = c->bins + (size_t)x * c->n_bins +
			b->begin / c->width;

		if (c->width == 1) {
			memcpy(bin, n, (b->end - b->begin) * sizeof(*n));
			continue;
		}
		for (uint32_t k = 0; k < b->end - b->begin; k += c->width) {
			uint32_t end = FTR_MIN(k + c->width, b->end - b->begin);
			uint16_t sum = 0;

			for (uint32_t i = k; i < end; i++)
				sum = (uint16_t)(sum + n[i]);
			*bin++ = sum;
		}
	}
}

static void one_slice(const struct slices *z, struct slice_worker *w,
		      uint32_t begin)
{
	const struct balance_net *net = z->net;
	struct balance_slice b = {
		.n = w->n, .stride = z->shifts,
		.begin = begin, .end = FTR_MIN(begin + z->shifts, net->n_pos),
	};
	uint32_t end;

	memset(w->n, 0, (size_t)net->n_rows * z->shifts * sizeof(*w->n));
	balance_count_slice(net, z->entry, &b);
	/* in shift 0 every host sends to itself */
	for (uint32_t k = begin ? 0 : 1; k < b.end - begin; k = end) {
		end = FTR_MIN(k + BLOCK, b.end - begin);
		w->sum += sum_of_most(net, &b, k, end);
	}
	if (z->fill)
		fill_bins(z->fill, &b);
}

static void some_slices(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	struct slices *z = ctx;

	for (uint32_t i = begin; i < end && !atomic_load(&z->stop); i++) {
		/* worker 0 is the calling thread */
		if (!worker && balance_cancelled(z->net))
			atomic_store(&z->stop, true);
		else
			one_slice(z, &z->worker[worker], i * z->shifts);
	}
}

static uint32_t shifts_in(const struct balance_net *net, size_t bytes)
{
	return (uint32_t)(bytes / sizeof(uint16_t) / (net->n_rows + 1u));
}

/* The number of shifts of a slice.  It is a multiple of the number of shifts of a bin, and usually
 * at most n_pos / workers + 1, so that nearly all workers get a slice. */
static uint32_t slice_shifts(const struct slices *z, uint32_t workers)
{
	const struct balance_net *net = z->net;
	uint32_t width = z->fill ? z->fill->width : 1;
	uint32_t n = SLICE_SOURCES * (net->n_pos / (net->n_sources + 1u));

	n = FTR_MAX(n, shifts_in(net, SLICE_BYTES));
	n = FTR_MIN(n, shifts_in(net, MOST_BYTES));
	n = FTR_MIN(n, net->n_pos / workers + 1);
	return FTR_MAX(n / width, 1u) * width;
}

static enum ftr_status run_slices(struct slices *z, struct ftr_team *team,
				  uint64_t *sum, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	unsigned int n = ftr_team_size(team);
	bool ok = a && (z->worker = ftr_arena_zalloc(a, n, sizeof(*z->worker)));

	z->shifts = slice_shifts(z, n);
	for (unsigned int i = 0; ok && i < n; i++) {
		z->worker[i].n = ftr_arena_alloc(a, (size_t)z->net->n_rows *
						 z->shifts + 1,
						 sizeof(uint16_t));
		ok = z->worker[i].n;
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting shifts");
	}
	ftr_team_run(team, (z->net->n_pos + z->shifts - 1) / z->shifts, 1,
		     some_slices, z);
	*sum = 0;
	for (unsigned int i = 0; i < n; i++)
		*sum += z->worker[i].sum;
	if (atomic_load(&z->stop))
		*sum = BALANCE_CANCELLED;
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status balance_worst(const struct balance_net *net, uint8_t *entry,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err)
{
	struct slices z = { .net = net, .entry = entry };

	return run_slices(&z, team, sum, err);
}

enum ftr_status balance_bins_count(struct balance_count *c,
				   struct ftr_team *team, uint64_t *sum,
				   struct ftr_err *err)
{
	struct slices z = { .net = c->net, .entry = c->entry, .fill = c };

	return run_slices(&z, team, sum, err);
}
