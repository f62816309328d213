// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The most loaded link of every shift, exactly: what the search is judged by.
 *
 * Shifts are taken in slices that fit the memory; for each the flows of all links
 * are counted anew and the maximum of every shift is noted.
 */
#include <string.h>

#include "balance/balance.h"

#define SLICE_BYTES ((size_t)32 << 20)	/* of one worker */

struct slice_worker {
	uint16_t *n;		/* [rows][shifts of a slice] */
	uint64_t sum;
};

struct slices {
	const struct balance_net *net;
	const struct ftr_tables *t;
	uint32_t *row;		/* [n_links] */
	uint32_t n_rows, shifts;	/* of a slice */
	struct slice_worker *worker;
};

/* Flows of src to pos in the shifts begin .. end - 1. */
static void add_window(const struct slices *z, uint16_t *row,
		       const struct balance_source *src, uint32_t pos,
		       uint32_t begin, uint32_t end)
{
	uint32_t n = z->net->n_pos;
	uint32_t k = balance_window(z->net, src, pos);

	for (uint32_t i = 0; i < src->n; i++, k = k + 1 == n ? 0 : k + 1)
		if (k >= begin && k < end)
			row[k - begin]++;
}

static bool meets(const struct balance_net *net,
		  const struct balance_source *src, uint32_t pos,
		  uint32_t begin, uint32_t end)
{
	uint32_t k = balance_window(net, src, pos), n = net->n_pos;
	uint32_t last = k + src->n;	/* one beyond */

	return (k < end && last > begin) || (last > n && last - n > begin);
}

static void walk(const struct slices *z, uint16_t *count,
		 const struct balance_source *src,
		 const struct balance_dest *d, ftr_sw to, uint32_t begin,
		 uint32_t end)
{
	const struct balance_net *net = z->net;
	ftr_sw s = src->sw;

	for (uint32_t hops = 0; s != to && hops < net->f->n_sw; hops++) {
		ftr_port port = ftr_tables_row(z->t, s)[d->lid];
		uint32_t link;

		if (port > net->f->sw[s].n_ports)
			return;
		link = balance_link(net, s, port);
		if (net->peer[link] == FTR_SW_NONE)
			return;
		add_window(z, count + (size_t)z->row[link] * z->shifts, src,
			   d->pos, begin, end);
		s = net->peer[link];
	}
}

static void one_slice(const struct slices *z, struct slice_worker *w,
		      uint32_t begin)
{
	const struct balance_net *net = z->net;
	uint32_t end = FTR_MIN(begin + z->shifts, net->n_pos);

	memset(w->n, 0, (size_t)z->n_rows * z->shifts * sizeof(*w->n));
	for (uint32_t l = 0; l < net->f->n_sw; l++)
		for (uint32_t i = net->first[l]; i < net->first[l + 1]; i++) {
			const struct balance_dest *d = &net->dest[i];

			for (uint32_t k = 0; d->pos != BALANCE_NONE &&
			     k < net->n_sources; k++)
				if (net->source[k].n &&
				    meets(net, &net->source[k], d->pos, begin,
					  end))
					walk(z, w->n, &net->source[k], d,
					     net->in->shape->col_sw[l], begin,
					     end);
		}
	for (uint32_t k = FTR_MAX(begin, 1u); k < end; k++) {
		uint16_t most = 0;

		for (uint32_t x = 0; x < z->n_rows; x++)
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
	bool ok = a && (z.worker = ftr_arena_zalloc(a, n, sizeof(*z.worker))) &&
		(z.row = ftr_arena_zalloc(a, net->n_links, sizeof(*z.row)));

	for (uint32_t x = 0; ok && x < net->n_links; x++)
		if (net->peer[x] != FTR_SW_NONE)
			z.row[x] = z.n_rows++;
	z.shifts = (uint32_t)(SLICE_BYTES / 2 / (z.n_rows + 1u));
	z.shifts = FTR_MAX(FTR_MIN(z.shifts, net->n_pos / n + 1), 1u);
	for (unsigned int i = 0; ok && i < n; i++) {
		z.worker[i].n = ftr_arena_alloc(a, (size_t)z.n_rows * z.shifts,
						sizeof(uint16_t));
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
