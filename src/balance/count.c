// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the flows on every link.
 *
 * All-to-all: the paths to one destination form a tree.  So the flows to this destination are added
 * up along the tree, from the farthest switch to the nearest, in O(n_sw).
 *
 * Shifts: the host at position p sends to position d only in shift k = (d - p) mod n, where n is
 * the number of positions.  The m hosts of a switch have consecutive positions.  So on every link
 * of their path to d, their flows are in m consecutive shifts.  A bin is a counter of a link: the
 * sum over `width` consecutive shifts.
 */
#include <string.h>

#include "balance/balance.h"

/* Vectorise the loops over bins at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* ---- all-to-all ------------------------------------------------------------ */

#define AT_ONCE 4	/* Number of destinations that are counted together.  With one destination
			 * at a time, each addition would wait for the one before. */

struct flow_worker {
	uint16_t *sum;		/* [AT_ONCE][n_sw + 1] number of flows that pass each switch */
	struct balance_counter *link;
};

struct flow_job {
	const struct balance_net *net;
	struct flow_worker *worker;
	const struct balance_counted *out;
	uint16_t *hosts;
};

/* For each link, count its flows to n hosts, which are all on one switch.  entry[k][s]: the entry
 * of switch s for the k-th of these hosts.  sum[k][s]: number of flows to this host that pass s;
 * before the call, the number of hosts on s. */
static inline __attribute__((always_inline)) void
add_flows(const struct balance_net *net, struct flow_worker *w,
	  const struct balance_order *o, const uint8_t *const *entry,
	  uint16_t *const *sum, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < o->n; i++) {
		uint32_t s = o->sw[i];
		struct balance_ports ports = net->ports[s];

		for (uint32_t k = 0; k < n; k++) {
			uint32_t port = entry[k][s];
			uint32_t link = port <= ports.n ? ports.first + port :
				net->n_links;
			uint32_t peer = w->link[link].peer;

			w->link[link].flows += sum[k][s];
			sum[k][peer] = (uint16_t)(sum[k][peer] + sum[k][s]);
		}
	}
}

static void mark_passed(const uint16_t *sum, uint32_t n_sw, uint64_t *passed)
{
	for (ftr_sw s = 0; s < n_sw; s += 64) {
		uint32_t n = FTR_MIN(64u, n_sw - s);
		uint64_t bits = 0;

		for (uint32_t i = 0; i < n; i++)
			bits |= (uint64_t)(sum[s + i] > 0) << i;
		passed[s / 64] |= bits;
	}
}

static void count_dests(const struct flow_job *j, struct flow_worker *w,
			uint32_t l, uint32_t d, uint32_t n)
{
	const struct balance_net *net = j->net;
	const struct balance_counted *out = j->out;
	uint32_t n_sw = net->f->n_sw;
	const uint8_t *entry[AT_ONCE];
	uint16_t *sum[AT_ONCE];

	for (uint32_t k = 0; k < n; k++) {
		entry[k] = balance_entries(net, net->entry, d + k);
		sum[k] = out->senders ?
			balance_senders(net, out->senders, d + k) :
			w->sum + (size_t)k * (n_sw + 1);
		memcpy(sum[k], j->hosts, n_sw * sizeof(*j->hosts));
		sum[k][n_sw] = 0;
	}
	if (n == AT_ONCE)
		add_flows(net, w, &net->order[l], entry, sum, AT_ONCE);
	else
		add_flows(net, w, &net->order[l], entry, sum, n);
	for (uint32_t k = 0; out->passed && k < n; k++)
		mark_passed(sum[k], n_sw, balance_passed(net, out->passed,
							 net->dest[d + k].lid));
}

static void count_columns(void *ctx, unsigned int worker, uint32_t begin,
			  uint32_t end)
{
	const struct flow_job *j = ctx;
	const uint32_t *first = j->net->first;

	for (uint32_t l = begin; l < end; l++)
		for (uint32_t d = first[l]; d < first[l + 1]; d += AT_ONCE)
			count_dests(j, &j->worker[worker], l, d,
				    FTR_MIN(first[l + 1] - d, AT_ONCE));
}

struct balance_counter *balance_counters_new(const struct balance_net *net,
					     struct ftr_arena *a)
{
	uint32_t n = net->n_links, n_sw = net->f->n_sw;
	struct balance_counter *link = ftr_arena_alloc(a, n + 1u, sizeof(*link));

	for (uint32_t x = 0; link && x <= n; x++)
		link[x] = (struct balance_counter){
			0, x < n ? FTR_MIN(net->peer[x], n_sw) : n_sw,
		};
	return link;
}

void balance_counters_add(const struct balance_net *net,
			  const struct balance_counter *link, uint32_t *flows)
{
	for (uint32_t x = 0; x < net->n_links; x++)
		flows[x] += link[x].flows;
}

enum ftr_status balance_count_flows(const struct balance_net *net,
				    struct ftr_team *team,
				    const struct balance_counted *out,
				    struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct flow_job j = { .net = net, .out = out };
	unsigned int n = ftr_team_size(team);
	uint32_t n_sw = net->f->n_sw;
	bool ok = a && FTR_NEW(a, j.worker, n) && FTR_NEW(a, j.hosts, n_sw);

	for (ftr_sw s = 0; ok && s < n_sw; s++)
		j.hosts[s] = (uint16_t)net->hosts[s];
	for (unsigned int i = 0; ok && i < n; i++) {
		struct flow_worker *w = &j.worker[i];

		w->link = balance_counters_new(net, a);
		ok = w->link && FTR_NEW(a, w->sum, AT_ONCE * (n_sw + 1u));
	}
	if (!ok) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	}
	ftr_team_run(team, n_sw, 4, count_columns, &j);
	memset(out->flows, 0, net->n_links * sizeof(*out->flows));
	for (unsigned int i = 0; i < n; i++)
		balance_counters_add(net, j.worker[i].link, out->flows);
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status balance_count_net(struct balance_net *net, bool senders,
				  uint64_t *passed, struct ftr_team *team,
				  struct ftr_err *err)
{
	struct balance_counted out = { .passed = passed };

	if (!net->flows)
		net->flows = ftr_arena_alloc(net->arena, net->n_links,
					     sizeof(*net->flows));
	if (senders)
		net->senders = balance_senders_new(net, net->rows);
	if (!net->flows || (senders && !net->senders))
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	out.flows = net->flows;
	out.senders = net->senders;
	return balance_count_flows(net, team, &out, err);
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

	all = (uint64_t)net->n_rows * net->n_pos * sizeof(*c->bins);
	c->width = (uint32_t)(all / bytes) + 1;
	c->n_bins = (net->n_pos + c->width - 1) / c->width;
	c->words = c->n_bins / 64 + 1;
	c->bins = ftr_arena_zalloc(a, (size_t)net->n_rows * c->n_bins +
				   BALANCE_LANES, sizeof(*c->bins));
	c->full = ftr_arena_zalloc(a, (size_t)net->n_rows * c->words + 1,
				   sizeof(*c->full));
	c->n_full = ftr_arena_zalloc(a, net->n_rows + 1u, sizeof(*c->n_full));
	c->many = UINT16_MAX;
	if (!c->bins || !c->full || !c->n_full)
		return ftr_fail(err, FTR_NOMEM, "out of memory for counting %u shifts on %u links",
				net->n_pos, net->n_rows);
	return FTR_OK;
}

static void add_bin(struct balance_count *c, uint32_t row, uint32_t bin, int by)
{
	uint16_t *n = &c->bins[(size_t)row * c->n_bins + bin];
	bool was = *n > c->many, is;

	*n = (uint16_t)(*n + by);
	is = *n > c->many;
	if (was == is)
		return;
	c->full[(size_t)row * c->words + bin / 64] ^= UINT64_C(1) << bin % 64;
	c->n_full[row] += is ? 1u : -1u;
}

static void add_single(struct balance_count *c, uint32_t row,
		       struct balance_shifts of, int by)
{
	uint16_t *n = c->bins + (size_t)row * c->n_bins;
	uint64_t *full = c->full + (size_t)row * c->words;
	uint32_t passed = c->many + (by > 0), hits = 0;

	for (uint32_t k = of.begin; k < of.end; k++) {
		n[k] = (uint16_t)(n[k] + by);
		hits += n[k] == passed;
	}
	c->n_full[row] += by > 0 ? hits : -hits;
	for (uint32_t k = of.begin; hits && k < of.end; k++)
		if (n[k] == passed) {
			full[k / 64] ^= UINT64_C(1) << k % 64;
			hits--;
		}
}

void balance_bins_add(struct balance_count *c, uint32_t link,
		      struct balance_shifts of, int by)
{
	uint32_t row = c->net->row[link], k = of.begin;

	if (c->width == 1) {
		add_single(c, row, of, by);
		return;
	}
	while (k < of.end) {
		uint32_t bin = k / c->width;
		uint32_t end = FTR_MIN((bin + 1) * c->width, of.end);

		add_bin(c, row, bin, by * (int)(end - k));
		k = end;
	}
}

/* Consecutive shifts, relative to the first shift of a slice. */
struct range {
	uint32_t begin, end;
};

static void add_range(uint16_t *row, struct range r)
{
	for (uint32_t k = r.begin; k < r.end; k++)
		row[k]++;
}

static struct range clip(const struct balance_slice *b,
			 struct balance_shifts of)
{
	uint32_t begin = FTR_MAX(of.begin, b->begin);
	uint32_t end = FTR_MIN(of.end, b->end);

	return begin < end ? (struct range){ begin - b->begin, end - b->begin } :
		(struct range){ 0 };
}

static void count_path(const struct balance_net *net, const uint8_t *entry,
		       const struct balance_slice *b,
		       const struct balance_source *src,
		       const struct balance_dest *d)
{
	struct range shifts = clip(b, balance_shifts_of(net, src, d->pos));
	ftr_sw s = src->sw, to = net->in->shape->numbering.col_sw[d->col];

	for (uint32_t hops = 0; s != to && hops < net->f->n_sw; hops++) {
		uint32_t link = balance_link_to(net, s, entry[s]);
		uint16_t *row;

		if (link == BALANCE_NONE)
			return;
		row = b->n + (size_t)net->row[link] * b->stride;
		add_range(row, shifts);
		s = net->peer[link];
	}
}

void balance_count_slice(const struct balance_net *net, uint8_t *entry,
			 const struct balance_slice *b)
{
	for (uint32_t k = 0; k < net->n_sources; k++) {
		const struct balance_source *src = &net->source[k];
		uint32_t n = FTR_MIN(b->end - b->begin + src->n - 1,
				     net->n_pos);
		uint32_t pos = (src->first + b->begin) % net->n_pos;

		for (uint32_t i = 0; src->n && i < n; i++) {
			uint32_t d = net->dest_at[pos];

			count_path(net, balance_entries(net, entry, d), b, src,
				   &net->dest[d]);
			pos = pos + 1 == net->n_pos ? 0 : pos + 1;
		}
	}
}

static uint64_t find_word(const uint16_t *bin, uint32_t n, uint32_t many)
{
	uint16_t most = 0;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		most = FTR_MAX(most, bin[i]);
	for (uint32_t i = 0; most > many && i < n; i++)
		bits |= (uint64_t)(bin[i] > many) << i;
	return bits;
}

static void find_full(void *ctx, unsigned int worker, uint32_t begin,
		      uint32_t end)
{
	struct balance_count *c = ctx;

	(void)worker;
	for (uint32_t x = begin; x < end; x++) {
		const uint16_t *row = c->bins + (size_t)x * c->n_bins;
		uint64_t *full = c->full + (size_t)x * c->words;

		c->n_full[x] = 0;
		for (uint32_t i = 0; i < c->n_bins; i += 64) {
			full[i / 64] = find_word(row + i, FTR_MIN(64, c->n_bins - i),
						 c->many);
			c->n_full[x] += (uint32_t)
				__builtin_popcountll(full[i / 64]);
		}
	}
}

void balance_bins_full(struct balance_count *c, uint32_t many,
		       struct ftr_team *team)
{
	c->many = many;
	ftr_team_run(team, c->net->n_rows, 256, find_full, c);
}
