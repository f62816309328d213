// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the edges of all LIDs when a graph is made.  The entries do not change meanwhile.
 *
 * The result is the same as if dynwalk.c followed one LID after another.  But here the packets of
 * one SL are followed for all LIDs at once.  For each switch s and VL v there is the set of the
 * LIDs whose packets leave s on v.  The walk runs in rounds.  The LIDs that the set of (s, v)
 * gained in one round are passed on in the next round to the neighbours of s.  For each output port
 * of a neighbour, the number of these LIDs that take the port is added to the count of one edge.
 * One edge suffices, because the VL of a packet depends on its ports and its SL, not on its LID.
 *
 * Several threads share a round.  Each thread has its own sets of the LIDs that it passed on.
 * After the round all threads merge these sets.
 *
 * A walk LID by LID would access scattered memory.  This walk reads mainly the rows of one switch
 * and of its neighbours at a time.
 */
#include <stdatomic.h>
#include <string.h>

#include "check/dyn.h"
#include "base/bytes.h"

/* Loops over the words of a set must be vectorised at any optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define PORTS 256
#define NOWHERE UINT32_MAX
#define DROPPED (UINT32_MAX - 1)

struct all {
	struct ftr_cdg *g;
	struct ftr_team *team;
	uint32_t sl;
	uint32_t words;		/* number of 64-bit words of a set of LIDs */
	uint64_t *owned;	/* set of the LIDs that belong to a switch or to a host port */
	/* Two sets of LIDs for each switch s and VL, at index s * n_vl + VL.  todo: LIDs to pass on
	 * in this round.  met: all LIDs found in earlier rounds.  met points into base_set[]. */
	uint64_t *todo, *met;
	uint8_t *passes;	/* passes[s * n_vl + VL] == 1: todo is not empty for this index */
	uint32_t *list, n_list;	/* the indices with passes[] == 1 */
	atomic_bool stopped;
	struct part *part;	/* [n_parts] */
	unsigned int n_parts;
};

/* The state of one thread. */
struct part {
	struct all *a;
	uint64_t *reached;	/* for each VL: the LIDs that this thread passed on to it in this
				 * round */
	uint8_t *any;		/* any[s * n_vl + VL] == 0: this thread passed on nothing to the VL,
				 * and the set in reached is not initialised */
	uint64_t *set;		/* scratch: a set of LIDs */
	uint16_t *lid;		/* scratch: [PORTS][FEW] LIDs by port */
	/* The previous result of count_entries() for each switch s. last: the set of LIDs that were
	 * counted; count: for each port, the number of these LIDs whose entry is that port.
	 * counted[s] == 0: there is no previous result. */
	uint64_t *last;
	uint8_t *counted;
	uint32_t *count;	/* [n_sw][PORTS] */
	uint32_t few[PORTS];	/* scratch of forward_list(): number of LIDs by port; all 0 between
				 * two uses */
};

/* If fewer LIDs than this are to be passed on, they are passed on as lists, otherwise as sets. */
#define FEW(a) (4 * (size_t)(a)->words)

static uint32_t size_of(const struct all *a)
{
	return a->g->f->n_sw * a->g->n_vl;
}

static uint64_t *set_at(const struct all *a, uint64_t *sets, uint32_t at)
{
	return sets + (size_t)at * a->words;
}

/* The set of index `at` in reached[]. Initialises the set if necessary. */
static uint64_t *reached_set(struct part *w, uint32_t at)
{
	uint64_t *reached = set_at(w->a, w->reached, at);

	if (!w->any[at])
		memset(reached, 0, w->a->words * sizeof(*reached));
	w->any[at] = 1;
	return reached;
}

/* Add to the set of index `at` in reached[] those LIDs of `set` that met[] does not have. */
static void reach_all(struct part *w, uint32_t at, const uint64_t *set)
{
	const uint64_t *met = set_at(w->a, w->a->met, at);
	uint64_t *reached = reached_set(w, at);

	for (uint32_t k = 0; k < w->a->words; k++)
		reached[k] |= set[k] & ~met[k];
}

/* Add the LIDs of packets that enter the fabric at s to the sets of s. */
static void start(struct part *w, ftr_sw s)
{
	const struct all *a = w->a;
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);
	uint64_t *set = w->set;

	for (unsigned int vl = 0; vl < g->n_vl; vl++) {
		uint8_t takes[PORTS] = { 0 };
		bool all = true, any = false;

		for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1];
		     i++) {
			bool is = g->inject[a->sl * g->n_links + i] >> vl & 1;

			takes[g->link[i].from_port] = is;
			all &= is;
			any |= is;
		}
		if (!any)
			continue;
		/* The set may contain LIDs whose packets do not leave s over a link.  pass_on()
		 * ignores them. */
		memcpy(set, a->owned, a->words * sizeof(*set));
		for (uint32_t lid = 0; !all && lid <= g->f->max_lid; lid++)
			if (!takes[row[lid]])
				set[lid / 64] &= ~(UINT64_C(1) << lid % 64);
		reach_all(w, s * g->n_vl + vl, set);
	}
}

/* Add the edges of packets for n LIDs. The packets arrive on VL link_vl of link `in` and leave the
 * next switch by port p. Returns the index (switch * n_vl + VL) of the VL on which they leave.
 * DROPPED: the switch drops them. NOWHERE: p has no link to a switch. */
static uint32_t add_edges(const struct all *a, const struct dyn_link *in,
			  unsigned int link_vl, unsigned int p, uint32_t n)
{
	struct ftr_cdg *g = a->g;
	uint32_t out = dyn_link_of(g, in->to, p);
	unsigned int index, vl;
	uint32_t *edge;

	if (out == DYN_NONE)
		return NOWHERE;
	index = out - g->first_link[in->to];
	vl = dyn_vl(g, a->sl, in, index);
	if (vl == FTR_VL_DROP)
		return DROPPED;
	edge = &g->count[dyn_edge_at(g, in, link_vl, index, vl)];
	*edge += n;
	return in->to * g->n_vl + vl;
}

static void reach_one(struct part *w, uint32_t at, uint32_t lid)
{
	uint64_t bit = UINT64_C(1) << lid % 64;

	if (at == NOWHERE || at == DROPPED ||
	    set_at(w->a, w->a->met, at)[lid / 64] & bit)
		return;
	reached_set(w, at)[lid / 64] |= bit;
}

/* For each port of switch t, count the LIDs in w->set whose entry is that port.
 *
 * In a regular tree, all switches below t pass on nearly the same LIDs to t.  So it is often less
 * work to update the counts of the previous set (last) than to count again.  An update costs the
 * number of words in which the sets differ.  Counting again costs the number of words of the new
 * set that are not 0. */
static const uint32_t *count_entries(struct part *w, ftr_sw t)
{
	const struct all *a = w->a;
	const uint8_t *row = ftr_tables_row(a->g->now, t);
	uint64_t *last = set_at(a, w->last, t);
	uint32_t *count = w->count + (size_t)t * PORTS, differ = 0, used = 0;
	bool update = w->counted[t];

	for (uint32_t k = 0; update && k < a->words; k++) {
		differ += last[k] != w->set[k];
		used += w->set[k] != 0;
	}
	update &= differ <= used;
	if (!update)
		memset(count, 0, PORTS * sizeof(*count));
	w->counted[t] = 1;
	for (uint32_t k = 0; k < a->words; k++) {
		uint64_t set = w->set[k], bits = update ? set ^ last[k] : set;

		last[k] = set;
		for (; bits; bits &= bits - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(bits);

			count[row[64 * k + i]] += set >> i & 1 ? 1 : UINT32_MAX;
		}
	}
	return count;
}

/* Add the edges from VL link_vl of a link to the links of the next switch. count[p]: number of LIDs
 * whose packets leave by port p. Sets to[p] to the result of add_edges() for port p. If all packets
 * leave on the same VL, returns the index of this VL. If they leave on several VLs, or if some are
 * dropped, returns NOWHERE. Packets to ports without a link do not count. */
static uint32_t add_all_edges(const struct all *a, uint32_t link,
			      unsigned int link_vl, const uint32_t *count,
			      uint32_t *to)
{
	const struct dyn_link *in = &a->g->link[link];
	uint32_t only = NOWHERE;
	bool one = true;

	memset(to, 0xff, PORTS * sizeof(*to));
	for (unsigned int p = 1; p <= a->g->f->sw[in->to].n_ports; p++) {
		if (count[p])
			to[p] = add_edges(a, in, link_vl, p, count[p]);
		if (to[p] == NOWHERE)
			continue;
		one &= only == NOWHERE || only == to[p];
		only = to[p];
	}
	return one && only != DROPPED ? only : NOWHERE;
}

static void forward_set(struct part *w, uint32_t link, unsigned int link_vl)
{
	const struct all *a = w->a;
	ftr_sw t = a->g->link[link].to;
	const uint8_t *row = ftr_tables_row(a->g->now, t);
	uint32_t to[PORTS], only;

	only = add_all_edges(a, link, link_vl, count_entries(w, t), to);
	if (only != NOWHERE) {
		/* The set may contain LIDs for which t has no next hop. pass_on() ignores them. */
		reach_all(w, only, w->set);
		return;
	}
	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = w->set[k]; bits; bits &= bits - 1) {
			uint32_t lid = 64 * k + (uint32_t)__builtin_ctzll(bits);

			reach_one(w, to[row[lid]], lid);
		}
}

/* Like forward_set(), but for a list of n LIDs. */
static void forward_list(struct part *w, uint32_t link, unsigned int link_vl,
			 const uint16_t *lid, uint32_t n)
{
	const struct all *a = w->a;
	const uint8_t *row = ftr_tables_row(a->g->now, a->g->link[link].to);
	uint32_t to[PORTS];

	for (uint32_t i = 0; i < n; i++)
		w->few[row[lid[i]]]++;
	for (uint32_t i = 0; i < n; i++) {
		unsigned int p = row[lid[i]];

		if (w->few[p])
			to[p] = add_edges(a, &a->g->link[link], link_vl, p, w->few[p]);
		w->few[p] = 0;
		reach_one(w, to[p], lid[i]);
	}
}

/* Pass on the LIDs in todo from s, as one set for each link. For many LIDs this is faster than
 * pass_list(). */
static void pass_set(struct part *w, ftr_sw s, unsigned int vl,
		     const uint64_t *todo)
{
	const struct all *a = w->a;
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);

	for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1]; i++) {
		uint64_t any = 0;

		bytes_equal(w->set, row, g->link[i].from_port, g->now->stride);
		for (uint32_t k = 0; k < a->words; k++)
			any |= w->set[k] &= todo[k];
		if (any)
			forward_set(w, i, vl);
	}
}

/* Pass on the LIDs in todo from s, as one list for each port. For few LIDs this is faster than
 * pass_set(). */
static void pass_list(struct part *w, ftr_sw s, unsigned int vl,
		      const uint64_t *todo)
{
	const struct all *a = w->a;
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);
	uint32_t n[PORTS] = { 0 };

	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = todo[k]; bits; bits &= bits - 1) {
			uint32_t lid = 64 * k + (uint32_t)__builtin_ctzll(bits);
			uint8_t p = row[lid];

			w->lid[p * FEW(a) + n[p]++] = (uint16_t)lid;
		}
	for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1]; i++) {
		ftr_port p = g->link[i].from_port;

		if (n[p])
			forward_list(w, i, vl, w->lid + p * FEW(a), n[p]);
	}
}

static void pass_on(struct part *w, uint32_t at)
{
	const struct all *a = w->a;
	const uint64_t *todo = set_at(a, a->todo, at);
	ftr_sw s = at / a->g->n_vl;
	unsigned int vl = at % a->g->n_vl;
	size_t n = 0;

	for (uint32_t k = 0; k < a->words; k++)
		n += (size_t)__builtin_popcountll(todo[k]);
	if (n < FEW(a))
		pass_list(w, s, vl, todo);
	else
		pass_set(w, s, vl, todo);
}

static void pass_some(void *ctx, unsigned int worker, uint32_t begin,
		      uint32_t end)
{
	struct all *a = ctx;

	for (uint32_t i = begin; i < end; i++) {
		if (!worker && dyn_stopped(a->g))
			atomic_store(&a->stopped, true);
		if (atomic_load_explicit(&a->stopped, memory_order_relaxed))
			return;
		pass_on(&a->part[worker], a->list[i]);
	}
}

/* Set todo[] of index `at` to the LIDs that any thread passed on to it. Add these LIDs to met[].
 * Returns false if there are no such LIDs. */
static bool merge(struct all *a, uint32_t at)
{
	uint64_t *todo = set_at(a, a->todo, at), *met = set_at(a, a->met, at), any = 0;
	bool first = true;

	for (unsigned int i = 0; i < a->n_parts; i++) {
		struct part *w = &a->part[i];
		const uint64_t *reached = set_at(a, w->reached, at);

		if (!w->any[at])
			continue;
		if (first)
			memcpy(todo, reached, a->words * sizeof(*todo));
		for (uint32_t k = 0; !first && k < a->words; k++)
			todo[k] |= reached[k];
		w->any[at] = 0;
		first = false;
	}
	for (uint32_t k = 0; !first && k < a->words; k++) {
		any |= todo[k];
		met[k] |= todo[k];
	}
	return any;
}

static void merge_some(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct all *a = ctx;

	(void)worker;
	for (uint32_t at = begin; at < end; at++)
		a->passes[at] = merge(a, at);
}

static void one_sl(struct all *a)
{
	struct ftr_cdg *g = a->g;

	a->met = dyn_base_set(g, a->sl, 0, 0);
	for (uint32_t i = 0; i < g->n_sources; i++)
		start(&a->part[0], g->source[i]);
	do {
		a->n_list = 0;
		ftr_team_run(a->team, size_of(a), 64, merge_some, a);
		for (uint32_t at = 0; at < size_of(a); at++)
			if (a->passes[at])
				a->list[a->n_list++] = at;
		ftr_team_run(a->team, a->n_list, 8, pass_some, a);
	} while (a->n_list && !a->stopped);
}

static bool part_new(struct all *a, struct part *w, struct ftr_arena *arena)
{
	const uint32_t n = a->g->f->n_sw;

	w->a = a;
	w->reached = ftr_arena_alloc(arena, size_of(a), a->words * sizeof(*w->reached));
	w->last = ftr_arena_alloc(arena, n, a->words * sizeof(*w->last));
	w->lid = ftr_arena_alloc(arena, PORTS * FEW(a), sizeof(*w->lid));
	return w->reached && w->last && w->lid &&
	       FTR_ZNEW(arena, w->any, size_of(a)) &&
	       FTR_NEW(arena, w->set, a->words) &&
	       FTR_ZNEW(arena, w->counted, n) &&
	       FTR_NEW(arena, w->count, (size_t)n * PORTS);
}

bool dyn_count_all(struct ftr_cdg *g, struct ftr_team *team)
{
	struct all a = { .g = g, .team = team, .words = g->lid_words,
			 .n_parts = ftr_team_size(team) };
	struct ftr_arena *arena = ftr_arena_new();
	bool ok = arena && FTR_ZNEW(arena, a.owned, a.words) &&
		FTR_NEW(arena, a.list, size_of(&a)) &&
		FTR_NEW(arena, a.passes, size_of(&a)) &&
		FTR_ZNEW(arena, a.part, a.n_parts) &&
		(a.todo = ftr_arena_alloc(arena, size_of(&a),
					  a.words * sizeof(*a.todo)));

	for (unsigned int i = 0; ok && i < a.n_parts; i++)
		ok = part_new(&a, &a.part[i], arena);
	for (uint32_t lid = 1; ok && lid <= g->f->max_lid; lid++)
		if (g->f->owner[lid].kind != FTR_OWNER_NONE)
			a.owned[lid / 64] |= UINT64_C(1) << lid % 64;
	for (; ok && a.sl < g->n_sl && !a.stopped; a.sl++)
		one_sl(&a);
	ftr_arena_free(arena);
	return ok;
}
