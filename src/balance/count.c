// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flows on every link.
 *
 * The paths to one destination form a tree, so its all-to-all flows are added up
 * from the farthest switch to the nearest in O(n_sw).
 *
 * Shifts.  The host at position p sends to position d in one shift only,
 * k = (d - p) mod n.  The hosts of a leaf stand next to each other, so what they
 * send to d occupies as many consecutive shifts on every link of its path.  Bins
 * add up `width` consecutive shifts; with width 1 they are the exact numbers.
 */
#include <string.h>

#include "balance/balance.h"

#define KEYS 1024		/* of the counting sort: 255 costs, then hops */

/* ---- order of switches ----------------------------------------------------- */

bool balance_order_new(struct balance_order *o, struct ftr_arena *a,
		       uint32_t n_sw)
{
	o->sw = ftr_arena_alloc(a, n_sw, sizeof(*o->sw));
	o->key = ftr_arena_alloc(a, n_sw, sizeof(*o->key));
	return o->sw && o->key;
}

/* Switches without a path by rank may have an entry all the same (a detour):
 * they stand before all others, by the hops that are left to one that has. */
static uint32_t detour_key(const struct balance_net *net,
			   const struct ftr_tables *t, const uint8_t *cost,
			   uint32_t stride, uint32_t l, ftr_sw s)
{
	ftr_lid lid = net->dest[net->first[l]].lid;
	uint32_t hops = 0;

	while (cost[(size_t)s * stride] == FTR_COST_INF) {
		ftr_port port = ftr_tables_get(t, s, lid);

		if (port > net->f->sw[s].n_ports)
			return BALANCE_NONE;
		s = net->peer[balance_link(net, s, port)];
		if (s == FTR_SW_NONE || FTR_COST_INF + ++hops >= KEYS)
			return BALANCE_NONE;
	}
	return FTR_COST_INF + hops;
}

void balance_order_make(const struct balance_net *net,
			const struct ftr_tables *t, uint32_t l,
			struct balance_order *o)
{
	const struct ftr_shape *sh = balance_shape(net, l);
	const uint8_t *cost = sh->cost + l;
	uint32_t n_sw = net->f->n_sw, at[KEYS + 1] = { 0 }, sum = 0;

	for (ftr_sw s = 0; s < n_sw; s++) {
		uint32_t key = cost[(size_t)s * sh->cost_stride];

		if (key == FTR_COST_INF)
			key = detour_key(net, t, cost, sh->cost_stride, l, s);
		o->key[s] = key;
		if (key != BALANCE_NONE)
			at[key]++;
	}
	for (uint32_t k = KEYS; k-- > 0;) {
		uint32_t n = at[k];

		at[k] = sum;
		sum += n;
	}
	o->n = sum;
	for (ftr_sw s = 0; s < n_sw; s++)
		if (o->key[s] != BALANCE_NONE)
			o->sw[at[o->key[s]]++] = s;
}

/* ---- all-to-all ------------------------------------------------------------ */

struct flow_worker {
	struct balance_order order;
	uint32_t *sum;		/* [n_sw] flows at a switch */
	uint32_t *flows;	/* [n_links] */
};

struct flow_job {
	const struct balance_net *net;
	const struct ftr_tables *t;
	struct flow_worker *worker;
	uint64_t *passed;	/* NULL: not asked for */
};

static void count_dest(const struct flow_job *j, struct flow_worker *w,
		       ftr_lid lid)
{
	const struct balance_net *net = j->net;
	const struct ftr_fabric *f = net->f;

	for (uint32_t i = 0; i < w->order.n; i++)
		w->sum[w->order.sw[i]] = 0;
	for (uint32_t i = 0; i < net->n_sources; i++)
		w->sum[net->source[i].sw] = net->source[i].hosts;
	for (uint32_t i = 0; i + 1 < w->order.n; i++) {
		ftr_sw s = w->order.sw[i];
		ftr_port port = ftr_tables_row(j->t, s)[lid];
		uint32_t link;

		if (w->sum[s] && j->passed)
			balance_passed(net, j->passed, lid)[s / 64] |=
				UINT64_C(1) << s % 64;
		if (!w->sum[s] || port > f->sw[s].n_ports)
			continue;
		link = balance_link(net, s, port);
		w->flows[link] += w->sum[s];
		if (net->peer[link] != FTR_SW_NONE)
			w->sum[net->peer[link]] += w->sum[s];
	}
}

static void count_columns(void *ctx, unsigned int worker, uint32_t begin,
			  uint32_t end)
{
	const struct flow_job *j = ctx;
	const struct balance_net *net = j->net;
	struct flow_worker *w = &j->worker[worker];

	for (uint32_t l = begin; l < end; l++) {
		if (net->first[l] == net->first[l + 1])
			continue;
		balance_order_make(net, j->t, l, &w->order);
		for (uint32_t i = net->first[l]; i < net->first[l + 1]; i++)
			count_dest(j, w, net->dest[i].lid);
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
		ok = w->sum && w->flows &&
			balance_order_new(&w->order, a, net->f->n_sw);
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	}
	ftr_team_run(team, net->f->n_sw, 8, count_columns, &j);
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

enum ftr_status balance_bins_new(struct balance_count *c, size_t bytes,
				 struct ftr_arena *a, struct ftr_err *err)
{
	const struct balance_net *net = c->net;
	uint64_t all;

	c->n_rows = 0;
	c->bins_at = ftr_arena_alloc(a, net->n_links, sizeof(*c->bins_at));
	for (uint32_t x = 0; c->bins_at && x < net->n_links; x++)
		c->bins_at[x] = net->peer[x] == FTR_SW_NONE ? BALANCE_NONE :
			c->n_rows++;
	all = (uint64_t)c->n_rows * net->n_pos * sizeof(*c->bins);
	c->width = (uint32_t)(all / bytes) + 1;
	c->n_bins = (net->n_pos + c->width - 1) / c->width;
	c->bins = ftr_arena_zalloc(a, (size_t)c->n_rows * c->n_bins + 1,
				   sizeof(*c->bins));
	c->peak = ftr_arena_zalloc(a, net->n_links, sizeof(*c->peak));
	if (!c->bins_at || !c->bins || !c->peak)
		return ftr_fail(err, FTR_NOMEM, "out of memory for counting %u shifts on %u links",
				net->n_pos, c->n_rows);
	return FTR_OK;
}

void balance_bins_add(struct balance_count *c, uint32_t link,
		      const struct balance_source *src, uint32_t pos, int by)
{
	uint16_t *row = c->bins + (size_t)c->bins_at[link] * c->n_bins;
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

/* The path of one source. */
static void count_path(struct balance_count *c,
		       const struct balance_source *src,
		       const struct balance_dest *d, ftr_sw to)
{
	const struct balance_net *net = c->net;
	ftr_sw s = src->sw;

	for (uint32_t hops = 0; s != to && hops < net->f->n_sw; hops++) {
		ftr_port port = ftr_tables_row(c->t, s)[d->lid];
		uint32_t link;

		if (port > net->f->sw[s].n_ports)
			return;
		link = balance_link(net, s, port);
		if (net->peer[link] == FTR_SW_NONE)
			return;
		balance_bins_add(c, link, src, d->pos, 1);
		s = net->peer[link];
	}
}

void balance_bins_count(struct balance_count *c)
{
	const struct balance_net *net = c->net;

	memset(c->bins, 0, (size_t)c->n_rows * c->n_bins * sizeof(*c->bins));
	for (uint32_t l = 0; l < net->f->n_sw; l++)
		for (uint32_t i = net->first[l]; i < net->first[l + 1]; i++)
			for (uint32_t k = 0; k < net->n_sources; k++)
				if (net->dest[i].pos != BALANCE_NONE &&
				    net->source[k].n)
					count_path(c, &net->source[k],
						   &net->dest[i],
						   net->in->shape->col_sw[l]);
}

void balance_bins_peaks(struct balance_count *c)
{
	for (uint32_t x = 0; x < c->net->n_links; x++) {
		const uint16_t *row = c->bins + (size_t)c->bins_at[x] *
			c->n_bins;
		uint16_t peak = 0;

		for (uint32_t i = 0; c->bins_at[x] != BALANCE_NONE &&
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
		for (uint32_t x = 0; x < c->n_rows; x++) {
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
