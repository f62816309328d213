// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the flows on every link.
 *
 * All-to-all.  The flows to one destination are moved in rounds.  At first they wait at their
 * sources.  In each round, the flows that wait at a switch move together over the link of its entry,
 * and then wait at the next switch.  Flows to one destination that have met stay together, so after
 * one hop there are few switches left: for a healthy tree of 11,664 hosts, 36 of 648.  Flows that
 * still wait after as many rounds as there are switches are in a loop.  If some flows do not arrive
 * and must not count, all flows are moved again with a negative number, and each source is followed
 * alone.
 *
 * Shifts.  The hosts of one source have consecutive positions, so the path from the source to a
 * destination carries one flow in each of as many consecutive shifts.  The shifts are counted in
 * slices, ranges of consecutive shifts that are small enough for the cache.
 *
 * The first design stored all paths and added them up for each shift.  It was faster for all shifts
 * (0.6 s instead of 3.8 s at 11,664 hosts, on one thread), took 176 MB, and could not serve the
 * search, because its entries change.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/flow_count.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SLICE_BYTES ((size_t)4 << 20)
#define CHUNK 64		/* destinations that a worker takes at a time; their entries share
				 * cache lines */

bool flow_net_new(struct ftr_arena *a, const struct ftr_fabric *f, struct flow_net *out)
{
	*out = (struct flow_net){ .f = f };
	if (!FTR_NEW(a, out->ports, f->n_sw) || !FTR_NEW(a, out->peer, f->n_ports) ||
	    !FTR_NEW(a, out->row, f->n_ports))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		out->ports[s] = (struct flow_ports){ f->sw[s].first_port, f->sw[s].n_ports };
	for (uint32_t x = 0; x < f->n_ports; x++) {
		bool is_link = f->ports[x].peer_kind == FTR_PEER_SW;

		out->peer[x] = is_link ? f->ports[x].peer : FTR_SW_NONE;
		out->row[x] = is_link ? out->n_rows++ : FLOW_NONE;
	}
	return true;
}

static inline uint32_t link_of(const struct flow_net *net, const struct flow_dest *d, ftr_sw s)
{
	return flow_link_to(net, s, d->entry[s * d->stride]);
}

uint32_t flow_walk(const struct flow_net *net, const struct flow_dest *d, ftr_sw s, uint32_t *link)
{
	for (uint32_t h = 0; h < net->f->n_sw; h++) {
		if (s == d->to)
			return h;
		link[h] = link_of(net, d, s);
		if (link[h] == FLOW_NONE)
			return FLOW_NONE;
		s = net->peer[link[h]];
	}
	return FLOW_NONE;
}

/* ---- all-to-all -------------------------------------------------------------- */

struct all_worker {
	uint32_t *flows;	/* [n_ports] */
	uint32_t *wait;		/* wait[s]: number of flows that wait at switch s; 0 between
				 * destinations */
	ftr_sw *at;		/* [n_sw] the switches at which flows wait */
	uint32_t *path;		/* [n_sw] */
	uint32_t *reached;	/* [n_sources], without the destinations counted by `full` */
	uint32_t full;		/* number of destinations that all sources reach */
	uint64_t arrived, most;
	bool loop;
};

struct all_job {
	struct flow_all *c;
	struct all_worker *worker;
	atomic_bool loop;	/* give up */
};

/* Moves all flows that wait at the n switches w->at over one link, which counts them `by` times.
 * Adds those that arrive to *arrived.  Returns the new number of switches. */
static uint32_t one_round(const struct flow_net *net, struct all_worker *w,
			  const struct flow_dest *d, uint32_t n, uint32_t by, uint32_t *arrived)
{
	uint32_t n_next = 0;

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = w->at[i], next;
		uint32_t link = link_of(net, d, s), flows = w->wait[s];

		w->wait[s] = 0;
		if (link == FLOW_NONE)
			continue;
		w->flows[link] += by * flows;
		next = net->peer[link];
		if (next == d->to) {
			*arrived += flows;
			continue;
		}
		if (!w->wait[next])
			w->at[n_next++] = next;
		w->wait[next] += flows;
	}
	return n_next;
}

/* Moves the flows from all sources to d.  *moved: their number, without those from d->to.  Returns
 * the number of those that arrive. */
static uint32_t move_all(const struct flow_all *c, struct all_worker *w, const struct flow_dest *d,
			 uint32_t by, uint32_t *moved)
{
	uint32_t n = 0, rounds = 0, arrived = 0;

	*moved = 0;
	for (uint32_t k = 0; k < c->n_sources; k++)
		if (c->source[k].sw != d->to) {
			w->at[n++] = c->source[k].sw;
			w->wait[c->source[k].sw] = c->source[k].hosts;
			*moved += c->source[k].hosts;
		}
	while (n && rounds++ < c->net->f->n_sw)
		n = one_round(c->net, w, d, n, by, &arrived);
	w->loop |= n > 0;
	while (n)
		w->wait[w->at[--n]] = 0;
	return arrived;
}

/* Counts only the flows that arrive, source by source. */
static uint32_t follow_each(const struct flow_all *c, struct all_worker *w,
			    const struct flow_dest *d)
{
	uint32_t arrived = 0;

	for (uint32_t k = 0; k < c->n_sources; k++) {
		const struct flow_source *src = &c->source[k];
		uint32_t hops = flow_walk(c->net, d, src->sw, w->path);

		if (hops == FLOW_NONE)
			continue;
		w->reached[k]++;
		if (hops)
			arrived += src->hosts;
		for (uint32_t h = 0; h < hops; h++)
			w->flows[w->path[h]] += src->hosts;
	}
	return arrived;
}

static void whole_flows(const struct flow_all *c, struct all_worker *w, const struct flow_dest *d,
			uint32_t hosts)
{
	uint32_t moved, arrived = move_all(c, w, d, 1, &moved);
	uint64_t in;

	if (arrived == moved) {
		w->full++;
	} else {
		move_all(c, w, d, -1u, &moved);
		arrived = follow_each(c, w, d);
	}
	in = (uint64_t)arrived + hosts - moved;
	w->arrived += in;
	w->most = FTR_MAX(w->most, in);
}

static void count_dests(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct all_job *j = ctx;
	const struct flow_all *c = j->c;
	struct all_worker *w = &j->worker[worker];
	uint32_t hosts = 0, moved;

	for (uint32_t k = 0; k < c->n_sources; k++)
		hosts += c->source[k].hosts;
	for (uint32_t d = begin; d < end && !atomic_load(&j->loop); d++)
		if (c->dest[d].to == FTR_SW_NONE) {
			continue;
		} else if (c->whole) {
			whole_flows(c, w, &c->dest[d], hosts);
		} else {
			move_all(c, w, &c->dest[d], 1, &moved);
			if (w->loop)
				atomic_store(&j->loop, true);
		}
}

static void add_up(struct flow_all *c, const struct all_worker *w)
{
	for (uint32_t x = 0; x < c->net->f->n_ports; x++)
		c->flows[x] += w->flows[x];
	for (uint32_t k = 0; c->whole && k < c->n_sources; k++)
		c->reached[k] += w->full + w->reached[k];
	c->arrived += w->arrived;
	c->most = FTR_MAX(c->most, w->most);
	c->loop |= w->loop;
}

enum ftr_status flow_count_all(struct flow_all *c, struct ftr_team *team, struct ftr_err *err)
{
	struct all_job j = { .c = c };
	unsigned int n = ftr_team_size(team);
	uint32_t n_sw = c->net->f->n_sw;
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_ZNEW(a, j.worker, n);

	for (unsigned int i = 0; ok && i < n; i++) {
		struct all_worker *w = &j.worker[i];

		ok = FTR_ZNEW(a, w->flows, c->net->f->n_ports) && FTR_ZNEW(a, w->wait, n_sw) &&
			FTR_NEW(a, w->at, n_sw) && FTR_NEW(a, w->path, n_sw) &&
			FTR_ZNEW(a, w->reached, c->n_sources);
	}
	if (ok) {
		ftr_team_run(team, c->n_dests, CHUNK, count_dests, &j);
		memset(c->flows, 0, c->net->f->n_ports * sizeof(*c->flows));
		for (unsigned int i = 0; i < n; i++)
			add_up(c, &j.worker[i]);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "counting flows");
}

/* ---- shifts ------------------------------------------------------------------- */

struct shift_job {
	const struct flow_shifts *z;
	uint32_t shifts;	/* of a slice */
	struct flow_slice *of;	/* [workers] */
	uint32_t **path;	/* [workers][n_sw] */
	atomic_bool stop;
};

/* Counts the flows from src to position pos in the shifts from .. from + n - 1. */
static void count_path(const struct flow_shifts *z, struct flow_slice *b, uint32_t *path,
		       ftr_sw s, uint32_t pos, uint32_t from, uint32_t n)
{
	uint32_t begin = FTR_MAX(from, b->begin), end = FTR_MIN(from + n, b->end), hops;

	if (begin >= end)
		return;
	b->flows += end - begin;
	hops = flow_walk(z->net, &z->dest[z->dest_at[pos]], s, path);
	if (hops == FLOW_NONE) {
		b->lost += end - begin;
		return;
	}
	for (uint32_t h = 0; h < hops; h++) {
		uint16_t *row = b->n + (size_t)z->net->row[path[h]] * (b->end - b->begin);

		for (uint32_t i = begin - b->begin; i < end - b->begin; i++)
			row[i]++;
	}
}

/* In shift k, host i of the source sends to position src->first + i + k (mod z->n). */
static void count_source(const struct flow_shifts *z, struct flow_slice *b, uint32_t *path,
			 const struct flow_source *src, uint32_t pos)
{
	uint32_t k = (pos + 1 + z->n - src->first - src->n) % z->n;
	uint32_t n = FTR_MIN(src->n, z->n - k);

	count_path(z, b, path, src->sw, pos, k, n);
	count_path(z, b, path, src->sw, pos, 0, src->n - n);
}

static void count_slice(const struct flow_shifts *z, struct flow_slice *b, uint32_t *path)
{
	memset(b->n, 0, (size_t)z->net->n_rows * (b->end - b->begin) * sizeof(*b->n));
	b->flows = b->lost = 0;
	for (uint32_t k = 0; k < z->n_sources; k++) {
		const struct flow_source *src = &z->source[k];
		uint32_t n = FTR_MIN(b->end - b->begin + src->n - 1, z->n);
		uint32_t pos = (src->first + b->begin) % z->n;

		for (uint32_t i = 0; i < n; i++) {
			if (z->dest_at[pos] != FLOW_NONE)
				count_source(z, b, path, src, pos);
			pos = pos + 1 == z->n ? 0 : pos + 1;
		}
	}
}

static void some_slices(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct shift_job *j = ctx;
	const struct flow_shifts *z = j->z;

	for (uint32_t i = begin; i < end && !atomic_load(&j->stop); i++) {
		struct flow_slice *b = &j->of[worker];

		b->begin = i * j->shifts;
		b->end = FTR_MIN(b->begin + j->shifts, z->n);
		/* worker 0 is the calling thread */
		if (!worker && z->stop && z->stop(z->ctx)) {
			atomic_store(&j->stop, true);
		} else {
			count_slice(z, b, j->path[worker]);
			z->fn(z->ctx, b);
		}
	}
}

/* The number of shifts of a slice: at most n / workers + 1, so that nearly all workers get one. */
static uint32_t slice_shifts(const struct flow_shifts *z, uint32_t workers)
{
	uint32_t n = (uint32_t)(SLICE_BYTES / sizeof(uint16_t) / (z->net->n_rows + 1u));

	n = FTR_MIN(n, z->n / workers + 1);
	return FTR_MAX(n / z->multiple, 1u) * z->multiple;
}

enum ftr_status flow_count_shifts(const struct flow_shifts *z, struct ftr_team *team,
				  struct ftr_err *err)
{
	unsigned int n = ftr_team_size(team);
	struct shift_job j = { .z = z, .shifts = slice_shifts(z, n) };
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_ZNEW(a, j.of, n) && FTR_ZNEW(a, j.path, n);

	for (unsigned int i = 0; ok && i < n; i++) {
		j.of[i].worker = i;
		ok = FTR_NEW(a, j.of[i].n, (size_t)z->net->n_rows * j.shifts + 1) &&
			FTR_NEW(a, j.path[i], z->net->f->n_sw);
	}
	if (ok)
		ftr_team_run(team, (z->n + j.shifts - 1) / j.shifts, 1, some_slices, &j);
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "counting shifts");
}
