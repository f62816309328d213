// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flows on every link.
 *
 * The paths to one destination form a tree, so its all-to-all flows are added up from the
 * farthest switch to the nearest in O(n_sw).
 *
 * Shifts.  The host at position p sends to position d in one shift only,
 * k = (d - p) mod n.  The hosts of a leaf have consecutive positions, so their flows to d
 * occupy as many consecutive shifts on every link of their path.  Bins add up `width`
 * consecutive shifts; with width 1 they hold the exact numbers.
 */
#include <string.h>

#include "balance/balance.h"

/* ---- all-to-all ------------------------------------------------------------ */

struct flow_worker {
	uint8_t *entry;		/* [n_sw][FTR_LFT_BLOCK] a block of every switch */
	uint32_t *sum;		/* [n_sw] flows at a switch */
	uint32_t *flows;	/* [n_links] */
};

struct flow_job {
	const struct balance_net *net;
	const struct ftr_tables *t;
	struct flow_worker *worker;
	uint64_t *passed;	/* NULL: not asked for */
};

/* entry: the entry of that LID at switch 0; passed: the row of the LID, or NULL. */
static void count_dest(const struct balance_net *net, struct flow_worker *w,
		       const struct balance_order *o, const uint8_t *entry,
		       uint64_t *passed)
{
	const struct balance_ports *ports = net->ports;
	const uint32_t *peer = net->peer;

	memcpy(w->sum, net->hosts, net->f->n_sw * sizeof(*w->sum));
	for (uint32_t i = 0; i + 1 < o->n; i++) {
		uint32_t s = o->sw[i], n = w->sum[s], link;
		ftr_port port = entry[(size_t)s * FTR_LFT_BLOCK];

		if (n && passed)
			passed[s / 64] |= UINT64_C(1) << s % 64;
		if (!n || port > ports[s].n)
			continue;
		link = ports[s].first + port;
		w->flows[link] += n;
		if (peer[link] != FTR_SW_NONE)
			w->sum[peer[link]] += n;
	}
}

/* Count blocks of LIDs: the entries of one block share a cache line. */
static void count_blocks(void *ctx, unsigned int worker, uint32_t begin,
			 uint32_t end)
{
	const struct flow_job *j = ctx;
	const struct balance_net *net = j->net;
	struct flow_worker *w = &j->worker[worker];

	for (uint32_t b = begin; b < end; b++) {
		uint32_t at = b * FTR_LFT_BLOCK;

		for (ftr_sw s = 0; s < net->f->n_sw; s++)
			memcpy(w->entry + (size_t)s * FTR_LFT_BLOCK,
			       ftr_tables_row(j->t, s) + at, FTR_LFT_BLOCK);
		for (uint32_t i = 0; i < FTR_LFT_BLOCK &&
		     at + i <= net->f->max_lid; i++) {
			uint32_t d = net->dest_of[at + i];

			if (d != BALANCE_NONE)
				count_dest(net, w, &net->order[net->dest[d].col],
					   w->entry + i, j->passed ?
					   balance_passed(net, j->passed,
							  (ftr_lid)(at + i)) :
					   NULL);
		}
	}
}

enum ftr_status balance_count_flows(const struct balance_net *net,
				    const struct ftr_tables *t,
				    struct ftr_team *team, uint32_t *flows,
				    uint64_t *passed, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct flow_job j = { .net = net, .t = t, .passed = passed };
	unsigned int n = ftr_team_size(team);
	bool ok = a && (j.worker = ftr_arena_alloc(a, n, sizeof(*j.worker)));

	for (unsigned int i = 0; ok && i < n; i++) {
		struct flow_worker *w = &j.worker[i];

		w->sum = ftr_arena_alloc(a, net->f->n_sw, sizeof(*w->sum));
		w->flows = ftr_arena_zalloc(a, net->n_links,
					    sizeof(*w->flows));
		w->entry = ftr_arena_alloc(a, net->f->n_sw, FTR_LFT_BLOCK);
		ok = w->sum && w->flows && w->entry;
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	}
	ftr_team_run(team, net->f->max_lid / FTR_LFT_BLOCK + 1, 2, count_blocks,
		     &j);
	memset(flows, 0, net->n_links * sizeof(*flows));
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t x = 0; x < net->n_links; x++)
			flows[x] += j.worker[i].flows[x];
	ftr_arena_free(a);
	return FTR_OK;
}

uint32_t balance_most(const struct balance_net *net, const uint32_t *flows)
{
	uint32_t most = 0;

	for (uint32_t x = 0; x < net->n_links; x++)
		if (net->peer[x] != FTR_SW_NONE)
			most = FTR_MAX(most, flows[x]);
	return most;
}

/* ---- shifts ---------------------------------------------------------------- */

#define SLICE_BYTES ((size_t)8 << 20)

uint32_t balance_slice(const struct balance_net *net, uint32_t workers)
{
	uint32_t bins = (uint32_t)(SLICE_BYTES / sizeof(uint16_t) /
				   (net->n_rows + 1u));

	return FTR_MAX(FTR_MIN(bins, net->n_pos / workers + 1), 1u);
}

enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a, struct ftr_err *err)
{
	const struct balance_net *net = c->net;
	uint64_t all;

	all = (uint64_t)net->n_rows * net->n_pos * sizeof(*c->bins);
	c->width = (uint32_t)(all / bytes) + 1;
	c->n_bins = (net->n_pos + c->width - 1) / c->width;
	c->bins = ftr_arena_zalloc(a, (size_t)net->n_rows * c->n_bins + 1,
				   sizeof(*c->bins));
	c->peak = ftr_arena_zalloc(a, net->n_links, sizeof(*c->peak));
	c->slice = balance_slice(net, 1);
	if (!c->bins || !c->peak)
		return ftr_fail(err, FTR_NOMEM, "out of memory for counting %u shifts on %u links",
				net->n_pos, net->n_rows);
	return FTR_OK;
}

void balance_bins_add(struct balance_count *c, uint32_t link,
		      const struct balance_source *src, uint32_t pos, int by)
{
	uint16_t *row = c->bins + (size_t)c->net->row[link] * c->n_bins;
	uint32_t k = balance_window(c->net, src, pos), left = src->n;
	uint16_t peak = 0;

	if (c->width == 1 && k + left <= c->net->n_pos) {
		for (uint32_t i = 0; i < left; i++) {
			row[k + i] = (uint16_t)(row[k + i] + by);
			peak = FTR_MAX(peak, row[k + i]);
		}
		left = 0;
	}
	while (left) {
		uint32_t bin = k / c->width;
		uint32_t end = FTR_MIN((bin + 1) * c->width, c->net->n_pos);
		uint32_t n = FTR_MIN(end - k, left);

		row[bin] = (uint16_t)(row[bin] + by * (int)n);
		peak = FTR_MAX(peak, row[bin]);
		left -= n;
		k = end == c->net->n_pos ? 0 : end;
	}
	c->peak[link] = FTR_MAX(c->peak[link], peak);
}

/* Shifts begin .. end - 1, relative to the first of the slice. */
struct window {
	uint32_t begin, end;
};

static void add_window(const struct balance_bins *b, uint16_t *row,
		       struct window w)
{
	for (uint32_t k = w.begin; k < w.end; k++)
		row[b->width == 1 ? k : k / b->width]++;
}

static struct window clip(const struct balance_bins *b, uint32_t begin,
			  uint32_t end)
{
	begin = FTR_MAX(begin, b->begin);
	end = FTR_MIN(end, b->end);
	return begin < end ? (struct window){ begin - b->begin, end - b->begin } :
		(struct window){ 0 };
}

static void count_path(const struct balance_net *net,
		       const struct ftr_tables *t, const struct balance_bins *b,
		       const struct balance_source *src,
		       const struct balance_dest *d)
{
	uint32_t k = balance_window(net, src, d->pos), n = net->n_pos;
	struct window first = clip(b, k, FTR_MIN(k + src->n, n));
	struct window wrapped = clip(b, 0, k + src->n > n ? k + src->n - n : 0);
	ftr_sw s = src->sw, to = net->in->shape->numbering.col_sw[d->col];

	for (uint32_t hops = 0; s != to && hops < net->f->n_sw; hops++) {
		uint32_t link = balance_link_to(net, s,
						ftr_tables_row(t, s)[d->lid]);
		uint16_t *row;

		if (link == BALANCE_NONE)
			return;
		row = b->bins + (size_t)net->row[link] * b->stride;
		add_window(b, row, first);
		add_window(b, row, wrapped);
		s = net->peer[link];
	}
}

/* A source sends to neighbouring positions in neighbouring shifts. */
void balance_count_bins(const struct balance_net *net,
			const struct ftr_tables *t,
			const struct balance_bins *b)
{
	for (uint32_t k = 0; k < net->n_sources; k++) {
		const struct balance_source *src = &net->source[k];
		uint32_t n = FTR_MIN(b->end - b->begin + src->n - 1,
				     net->n_pos);
		uint32_t pos = (src->first + b->begin) % net->n_pos;

		for (uint32_t i = 0; src->n && i < n; i++) {
			count_path(net, t, b, src,
				   &net->dest[net->dest_at[pos]]);
			pos = pos + 1 == net->n_pos ? 0 : pos + 1;
		}
	}
}

static void count_slices(void *ctx, unsigned int worker, uint32_t begin,
			 uint32_t end)
{
	const struct balance_count *c = ctx;
	uint32_t shifts = c->slice * c->width;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct balance_bins b = {
			.bins = c->bins + i * c->slice, .stride = c->n_bins,
			.width = c->width, .begin = i * shifts,
			.end = FTR_MIN((i + 1) * shifts, c->net->n_pos),
		};

		balance_count_bins(c->net, c->t, &b);
	}
}

void balance_bins_count(struct balance_count *c, struct ftr_team *team)
{
	memset(c->bins, 0,
	       (size_t)c->net->n_rows * c->n_bins * sizeof(*c->bins));
	ftr_team_run(team, (c->n_bins + c->slice - 1) / c->slice, 1,
		     count_slices, c);
	balance_bins_peaks(c);
}

void balance_bins_peaks(struct balance_count *c)
{
	for (uint32_t x = 0; x < c->net->n_links; x++) {
		const uint16_t *row = c->bins + (size_t)c->net->row[x] *
			c->n_bins;
		uint16_t peak = 0;

		for (uint32_t i = 0; c->net->row[x] != BALANCE_NONE &&
		     i < c->n_bins; i++)
			peak = FTR_MAX(peak, row[i]);
		c->peak[x] = peak;
	}
}

/* Column by column of a block, so that the rows are read in order. */
uint64_t balance_bins_worst(const struct balance_count *c)
{
	uint16_t most[256];
	uint64_t sum = 0;

	for (uint32_t begin = 0; begin < c->n_bins; begin += 256) {
		uint32_t n = FTR_MIN(256u, c->n_bins - begin);

		memset(most, 0, sizeof(most));
		for (uint32_t x = 0; x < c->net->n_rows; x++) {
			const uint16_t *row = c->bins + (size_t)x *
				c->n_bins + begin;

			for (uint32_t i = 0; i < n; i++)
				most[i] = FTR_MAX(most[i], row[i]);
		}
		for (uint32_t i = begin ? 0 : 1; i < n; i++)
			sum += most[i];
	}
	return sum;
}
