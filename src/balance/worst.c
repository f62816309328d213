// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The most loaded link of every shift, exactly: the figure by which the search is judged.
 *
 * Shifts are processed in slices that fit into the cache.  For each slice the flows of all
 * links are counted, and the maximum of every shift is added to the sum.
 */
#include <string.h>

#include "balance/balance.h"

struct slice_worker {
	uint16_t *n;		/* [rows][shifts of a slice] */
	uint64_t sum;
};

struct slices {
	const struct balance_net *net;
	const struct ftr_tables *t;
	uint32_t shifts;	/* of a slice */
	struct slice_worker *worker;
};

static void one_slice(const struct slices *z, struct slice_worker *w,
		      uint32_t begin)
{
	const struct balance_net *net = z->net;
	uint32_t end = FTR_MIN(begin + z->shifts, net->n_pos);
	struct balance_bins b = {
		.bins = w->n, .stride = z->shifts, .width = 1,
		.begin = begin, .end = end,
	};

	memset(w->n, 0, (size_t)net->n_rows * z->shifts * sizeof(*w->n));
	balance_count_bins(net, z->t, &b);
	for (uint32_t k = FTR_MAX(begin, 1u); k < end; k++) {
		uint16_t most = 0;

		for (uint32_t x = 0; x < net->n_rows; x++)
			most = FTR_MAX(most, w->n[(size_t)x * z->shifts + k -
						  begin]);
		w->sum += most;
	}
}

static void some_slices(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	const struct slices *z = ctx;

	for (uint32_t i = begin; i < end; i++)
		one_slice(z, &z->worker[worker], i * z->shifts);
}

enum ftr_status balance_worst(const struct balance_net *net,
			      const struct ftr_tables *t,
			      struct ftr_team *team, uint64_t *sum,
			      struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct slices z = { .net = net, .t = t };
	unsigned int n = ftr_team_size(team);
	bool ok = a && (z.worker = ftr_arena_zalloc(a, n, sizeof(*z.worker)));

	z.shifts = balance_slice(net, n);
	for (unsigned int i = 0; ok && i < n; i++) {
		z.worker[i].n = ftr_arena_alloc(a, (size_t)net->n_rows *
						z.shifts + 1, sizeof(uint16_t));
		ok = z.worker[i].n;
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting shifts");
	}
	ftr_team_run(team, (net->n_pos + z.shifts - 1) / z.shifts, 1,
		     some_slices, &z);
	*sum = 0;
	for (unsigned int i = 0; i < n; i++)
		*sum += z.worker[i].sum;
	ftr_arena_free(a);
	return FTR_OK;
}
