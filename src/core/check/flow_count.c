// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the flows on every link.
 *
 * All-to-all.  The flows to one destination are moved in rounds, in the first round from their
 * sources.  In each round, the flows that wait at a switch move together over the link of its entry,
 * and then wait at the next switch.  Flows to one destination that have met stay together, so after
 * one hop there are few switches left: for a healthy tree of 11,664 hosts, 36 of 648.  Flows that
 * still wait after as many rounds as there are switches are in a loop.  If some flows do not arrive
 * and must not count, all flows are moved again with a negative number, and each source is followed
 * alone.
 *
 * Patterns.  In a pattern (a shift, a permutation) each destination receives at most one flow.  The
 * patterns are counted in slices, ranges of consecutive patterns.  For each destination, the senders
 * are followed from pattern to pattern.  In most consecutive shifts, the senders are on one switch.
 * The path from the next switch is followed only until it meets the path before it, because from
 * there on the flows use the same links.  So there are few runs, each of which is a link with a range
 * of patterns: in all shifts of a healthy tree of 11,664 hosts, about 700 for each destination,
 * instead of the 2,592 links of 648 paths.  The runs are sorted by link, and then the flows of each
 * link are counted in an array that fits the first-level cache.
 *
 * Two other designs were tried.  The first stored all paths and added them up for each shift.  It
 * took 176 MB for this tree, and could not serve the search, because its entries change.  The second
 * followed each path by itself and counted all links of a slice at once, in 4 MB.  It waited for
 * memory most of the time, and for large fabrics, whose slices had few shifts, it followed each path
 * several times.
 */
#include <stdlib.h>
#include <string.h>

#include "check/flow_count.h"

/* Vectorise the loops over shifts at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SLICE_RUNS 2e6		/* about the number of runs of a slice */
#define CHUNK 64		/* destinations that a worker takes at a time; their entries share
				 * cache lines */

bool flow_net_new(struct ftr_arena *a, const struct ftr_fabric *f, struct flow_net *out)
{
	*out = (struct flow_net){ .f = f };
	if (!FTR_NEW(a, out->ports, f->n_sw) || !FTR_NEW(a, out->peer, f->n_ports) ||
	    !FTR_NEW(a, out->row, f->n_ports))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		out->ports[s] = (struct flow_span){
			f->sw[s].first_port, f->sw[s].first_port + f->sw[s].n_ports + 1u,
		};
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
	uint32_t n_at;
	uint32_t in;		/* scratch: number of flows that have arrived at the destination */
	uint32_t *path;		/* [n_sw] */
	uint32_t *reached;	/* [n_sources], without the destinations counted by `full` */
	uint32_t full;		/* number of destinations that all sources reach */
	uint64_t arrived, most;
	bool loop;
};

/* Moves flows that are at switch s over one link, which counts them `by` times. */
static inline void move(const struct flow_net *net, struct all_worker *w, const struct flow_dest *d,
			ftr_sw s, uint32_t flows, uint32_t by)
{
	uint32_t link = link_of(net, d, s);
	ftr_sw next;

	if (link == FLOW_NONE)
		return;
	w->flows[link] += by * flows;
	next = net->peer[link];
	if (next == d->to) {
		w->in += flows;
		return;
	}
	if (!w->wait[next])
		w->at[w->n_at++] = next;
	w->wait[next] += flows;
}

/* Moves the flows from all sources to d.  *moved: their number, without those from d->to.  Returns
 * the number of those that arrive. */
static uint32_t move_all(const struct flow_all *c, struct all_worker *worker,
			 const struct flow_dest *d, uint32_t by, uint32_t *moved)
{
	const struct flow_net net = *c->net;	/* copies, which stay in registers */
	const struct flow_source *end = c->source + c->n_sources;
	struct all_worker w = *worker;
	uint32_t rounds = 1, all = 0;

	w.in = w.n_at = 0;
	for (const struct flow_source *src = c->source; src < end; src++)
		if (src->sw != d->to) {
			all += src->hosts;
			move(&net, &w, d, src->sw, src->hosts, by);
		}
	while (w.n_at && rounds++ < net.f->n_sw) {
		uint32_t n = w.n_at;

		w.n_at = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t flows = w.wait[w.at[i]];

			w.wait[w.at[i]] = 0;
			move(&net, &w, d, w.at[i], flows, by);
		}
	}
	worker->loop |= w.n_at > 0;
	while (w.n_at)
		w.wait[w.at[--w.n_at]] = 0;
	*moved = all;
	return w.in;
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
	struct flow_all *c = ctx;
	struct all_worker *w = &c->worker[worker];
	uint32_t hosts = 0, moved;

	for (uint32_t k = 0; k < c->n_sources; k++)
		hosts += c->source[k].hosts;
	for (uint32_t d = begin; d < end && !atomic_load(&c->loop); d++)
		if (c->dest[d].to == FTR_SW_NONE) {
			continue;
		} else if (c->whole) {
			whole_flows(c, w, &c->dest[d], hosts);
		} else {
			move_all(c, w, &c->dest[d], 1, &moved);
			if (w->loop)
				atomic_store(&c->loop, true);
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
	if (w->loop)
		c->loop = true;
}

static bool new_counter(struct ftr_arena *a, const struct flow_all *c, struct all_worker *w)
{
	uint32_t n_sw = c->net->f->n_sw;

	return FTR_ZNEW(a, w->flows, c->net->f->n_ports) && FTR_ZNEW(a, w->wait, n_sw) &&
	       FTR_NEW(a, w->at, n_sw) && FTR_NEW(a, w->path, n_sw) &&
	       FTR_ZNEW(a, w->reached, c->n_sources);
}

enum ftr_status flow_count_all(struct flow_all *c, struct ftr_team *team, struct ftr_err *err)
{
	unsigned int n = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_ZNEW(a, c->worker, n);

	for (unsigned int i = 0; i < n; i++)
		ok = ok && new_counter(a, c, &c->worker[i]);
	if (ok) {
		ftr_team_run(team, c->n_dests, CHUNK, count_dests, c);
		memset(c->flows, 0, c->net->f->n_ports * sizeof(*c->flows));
		for (unsigned int i = 0; i < n; i++)
			add_up(c, &c->worker[i]);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "counting flows");
}

/* ---- shifts ------------------------------------------------------------------- */

bool flow_set_shifts(struct flow_patterns *z, struct ftr_arena *a, const ftr_sw *sw,
		     const uint32_t *shift)
{
	uint32_t *since, *before, *all, n = z->n, n_shifts = z->n_patterns;

	z->sw = sw;
	z->shift = shift;
	z->senders = 0;
	if (!FTR_NEW(a, since, n + 1u) || !FTR_NEW(a, before, n + 1u) || !FTR_NEW(a, all, n + 1u))
		return false;
	if (!shift)
		z->shift = all;
	for (uint32_t i = 0; i < n; i++) {
		all[i] = i;
		since[i] = i && sw[i] == sw[i - 1] ? since[i - 1] + 1 : 1;
		z->senders += since[i] == 1;
	}
	for (uint32_t k = 0, j = 0; k <= n; k++) {
		before[k] = j;
		j += j < n_shifts && z->shift[j] == k;
	}
	z->senders = FTR_MIN(z->senders, n_shifts);
	z->since = since;
	z->before = before;
	return true;
}

/* ---- patterns ----------------------------------------------------------------- */

/* A link that carries the flow to one destination in the patterns begin .. end - 1 of a slice. */
struct run {
	uint32_t row;
	uint16_t begin, end;
};

struct step {
	ftr_sw sw;
	uint32_t row;		/* the link that leaves sw */
	uint32_t begin;		/* first pattern that uses it */
};

struct slice_worker {
	struct flow_slice of;
	struct step *path;	/* [n_sw] the path of the last flow, from the destination's switch
				 * backwards */
	uint32_t n_path;
	uint32_t *ahead;	/* ahead[s]: the number of links that follow s on this path; FLOW_NONE:
				 * s is not on it */
	struct step *walk;	/* [n_sw] */
	struct run *run;
	uint32_t n_runs, run_cap;
	bool no_memory;
};

/* Ends the runs of all links of the path but the last n.  Pattern `end` is the first without them. */
static void leave(struct slice_worker *w, uint32_t n, uint32_t end)
{
	while (w->n_path > n) {
		const struct step *x = &w->path[--w->n_path];

		w->ahead[x->sw] = FLOW_NONE;
		if (FTR_GROW(w->run, w->n_runs, w->run_cap))
			w->run[w->n_runs++] = (struct run){ x->row, (uint16_t)x->begin,
							    (uint16_t)end };
		else
			w->no_memory = true;
	}
}

/* From pattern `begin` on, the flows come from s.  Returns false if they do not arrive. */
static bool enter(const struct flow_net *net, struct slice_worker *w, const struct flow_dest *d,
		  ftr_sw s, uint32_t begin)
{
	uint32_t n = 0;

	while (w->ahead[s] == FLOW_NONE) {
		uint32_t link = n < net->f->n_sw ? link_of(net, d, s) : FLOW_NONE;

		if (link == FLOW_NONE)
			return false;
		w->walk[n++] = (struct step){ s, net->row[link], begin };
		s = net->peer[link];
	}
	leave(w, w->ahead[s], begin);
	while (n) {
		w->path[w->n_path] = w->walk[--n];
		w->ahead[w->walk[n].sw] = ++w->n_path;
	}
	return true;
}

/* Returns the switch that sends to position pos in the patterns k .. *end - 1, or FTR_SW_NONE. */
static ftr_sw sender_of(const struct flow_patterns *z, uint32_t pos, uint32_t k, uint32_t *end)
{
	uint32_t shift, from;

	*end = k + 1;
	if (z->from)
		return z->from[(size_t)k * z->n + pos];
	shift = z->shift[k];
	from = pos < shift ? pos + z->n - shift : pos - shift;
	*end = z->before[FTR_MIN(shift + z->since[from], z->n)];
	return z->sw[from];
}

static void find_runs(const struct flow_patterns *z, struct slice_worker *w, uint32_t pos)
{
	const struct flow_dest *d = &z->dest[z->dest_at[pos]];
	struct flow_slice *b = &w->of;
	uint32_t end;

	if (d->to != FTR_SW_NONE)
		w->ahead[d->to] = 0;
	for (uint32_t k = b->begin; k < b->end; k = end) {
		ftr_sw from = sender_of(z, pos, k, &end);

		end = FTR_MIN(end, b->end);
		if (from != FTR_SW_NONE) {
			b->flows += end - k;
			if (d->to != FTR_SW_NONE && enter(z->net, w, d, from, k - b->begin))
				continue;
			b->lost += end - k;
		}
		leave(w, 0, k - b->begin);
	}
	leave(w, 0, b->end - b->begin);
	if (d->to != FTR_SW_NONE)
		w->ahead[d->to] = FLOW_NONE;
}

/* Sorts the runs by link. */
static void sort_runs(const struct flow_net *net, struct slice_worker *w)
{
	uint32_t *at = w->of.first + 1;	/* at[row]: where the next run of the link comes */
	const struct run *end = w->run + w->n_runs;
	struct flow_range *range = w->of.range;

	memset(w->of.first, 0, (net->n_rows + 2u) * sizeof(*at));
	for (const struct run *x = w->run; x < end; x++)
		at[x->row + 1]++;
	for (uint32_t x = 0; x < net->n_rows; x++)
		at[x + 1] += at[x];
	for (const struct run *x = w->run; x < end; x++)
		range[at[x->row]++] = (struct flow_range){ x->begin, x->end };
}

static bool count_slice(const struct flow_patterns *z, struct slice_worker *w)
{
	w->n_runs = 0;
	w->of.flows = w->of.lost = 0;
	for (uint32_t pos = 0; pos < z->n; pos++)
		if (z->dest_at[pos] != FLOW_NONE)
			find_runs(z, w, pos);
	free(w->of.range);
	w->of.range = ftr_malloc(w->n_runs * sizeof(*w->of.range));
	if (w->no_memory || !w->of.range)
		return false;
	sort_runs(z->net, w);
	return true;
}

const uint16_t *flow_slice_link(const struct flow_slice *b, uint32_t row)
{
	uint16_t *restrict n = b->n;

	memset(n, 0, (b->end - b->begin) * sizeof(*n));
	for (uint32_t i = b->first[row]; i < b->first[row + 1]; i++) {
		struct flow_range x = b->range[i];

		for (uint32_t k = x.begin; k < x.end; k++)
			n[k]++;
	}
	return n;
}

static void some_slices(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct flow_patterns *z = ctx;
	struct slice_worker *w = &z->worker[worker];

	for (uint32_t i = begin; i < end && !atomic_load(&z->stopped); i++) {
		w->of.begin = i * z->of_slice;
		w->of.end = FTR_MIN(w->of.begin + z->of_slice, z->n_patterns);
		/* worker 0 is the calling thread */
		if (!worker && z->stop && z->stop(z->ctx)) {
			atomic_store(&z->stopped, true);
		} else if (count_slice(z, w)) {
			z->fn(z->ctx, &w->of);
		} else {
			atomic_store(&z->no_memory, true);
			atomic_store(&z->stopped, true);
		}
	}
}

/* The number of patterns of a slice: a multiple of z->multiple, and such that each worker gets some
 * slices. */
static uint32_t slice_patterns(const struct flow_patterns *z, uint32_t workers)
{
	double senders = z->from ? z->n_patterns : z->senders;
	double n = z->n_patterns / FTR_MAX(2. * z->n * senders / SLICE_RUNS, 2. * workers);

	n = FTR_MIN(n, INT16_MAX);	/* then the numbers of a run fit 16 bits */
	return ((uint32_t)n / z->multiple + 1) * z->multiple;
}

static bool new_worker(struct ftr_arena *a, const struct flow_patterns *z, unsigned int i)
{
	const struct flow_net *net = z->net;
	struct slice_worker *w = &z->worker[i];

	w->of.worker = i;
	if (!FTR_NEW(a, w->path, net->f->n_sw) || !FTR_NEW(a, w->walk, net->f->n_sw) ||
	    !FTR_NEW(a, w->ahead, net->f->n_sw) || !FTR_NEW(a, w->of.n, z->of_slice) ||
	    !FTR_NEW(a, w->of.first, net->n_rows + 2u))
		return false;
	memset(w->ahead, 0xff, net->f->n_sw * sizeof(*w->ahead));
	return true;
}

enum ftr_status flow_count_patterns(struct flow_patterns *z, struct ftr_team *team,
				    struct ftr_err *err)
{
	unsigned int n = ftr_team_size(team);
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && FTR_ZNEW(a, z->worker, n);

	z->of_slice = slice_patterns(z, n);
	z->stopped = z->no_memory = false;
	for (unsigned int i = 0; i < n; i++)
		ok = ok && new_worker(a, z, i);
	if (ok)
		ftr_team_run(team, (z->n_patterns + z->of_slice - 1) / z->of_slice, 1, some_slices,
			     z);
	ok = ok && !z->no_memory;
	for (unsigned int i = 0; a && z->worker && i < n; i++) {
		free(z->worker[i].run);
		free(z->worker[i].of.range);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "counting %u patterns", z->n_patterns);
}
