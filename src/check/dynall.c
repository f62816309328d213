// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The edges of all LIDs under tables that do not change, used when a graph is built.
 *
 * This is the walk of dynwalk.c for all LIDs at once. Each VL out of a switch
 * has the set of LIDs that reached it. A switch passes each LID on to its neighbours when
 * the LID first reaches it; switches are processed in the order in which they are
 * reached. For each neighbour, the entries that it has for these LIDs are counted by
 * outgoing port. Only these counts are translated into edges, because the VL of a packet
 * depends on its ports, and not on its LID.
 *
 * A walk LID by LID has scattered accesses to all memory. This one reads the
 * rows of a switch and of its neighbours, and little else.
 */
#include <string.h>

#include "check/dyn.h"
#include "core/bytes.h"

/* Loops over the words of a set: the compiler must vectorise them at any
 * optimisation level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define PORTS 256
#define NOWHERE UINT32_MAX
#define DROPPED (UINT32_MAX - 1)

struct all {
	struct ftr_cdg *g;
	uint32_t sl;
	uint32_t words;		/* 64-bit words in a set of LIDs */
	uint64_t *owned;	/* LIDs with an owner */
	/* One set for each VL out of a switch, at s * n_vl + VL.  todo: LIDs that are
	 * still to be passed on.  met: all LIDs that ever reached the VL; this is
	 * base_set[] of this SL */
	uint64_t *todo, *met;
	/* VLs with LIDs to pass on: a ring without duplicates */
	uint32_t *queue, head, n_queue;
	uint8_t *queued;
	uint64_t *now, *set;	/* scratch: one set each */
	uint16_t *lid;		/* scratch: [PORTS][FEW] LIDs by port */
	/* for each switch: the set of LIDs that count_entries() last counted there,
	 * and the number of their entries for each port */
	uint64_t *last;
	uint32_t *count;	/* [n_sw][PORTS] */
};

/* Fewer LIDs than this are passed on as lists, more as sets. */
#define FEW(a) (4 * (size_t)(a)->words)

static uint32_t size_of(const struct all *a)
{
	return a->g->f->n_sw * a->g->n_vl;
}

static uint64_t *set_at(const struct all *a, uint64_t *sets, uint32_t at)
{
	return sets + (size_t)at * a->words;
}

static void enqueue(struct all *a, uint32_t at)
{
	uint32_t tail = a->head + a->n_queue;

	if (a->queued[at])
		return;
	a->queued[at] = 1;
	a->n_queue++;
	a->queue[tail < size_of(a) ? tail : tail - size_of(a)] = at;
}

/* Note the LIDs of set that have not reached this VL before, so that they are passed on. */
static void reach_all(struct all *a, uint32_t at, const uint64_t *set)
{
	uint64_t *met = set_at(a, a->met, at), *todo = set_at(a, a->todo, at);
	uint64_t any = 0;

	for (uint32_t k = 0; k < a->words; k++) {
		uint64_t bits = set[k] & ~met[k];

		met[k] |= bits;
		todo[k] |= bits;
		any |= bits;
	}
	if (any)
		enqueue(a, at);
}

/* Start the packets that enter at s. */
static void start(struct all *a, ftr_sw s)
{
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);
	uint64_t *set = a->set;

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
		/* the set may hold LIDs that do not leave s over a link: pass_on() drops them */
		memcpy(set, a->owned, a->words * sizeof(*set));
		for (uint32_t lid = 0; !all && lid <= g->f->max_lid; lid++)
			if (!takes[row[lid]])
				set[lid / 64] &= ~(UINT64_C(1) << lid % 64);
		reach_all(a, s * g->n_vl + vl, set);
	}
}

/* Add the edges of n packets that arrive on this VL of link `in` and leave the next
 * switch by port p. Returns the index (switch * n_vl + VL) of the VL on which they leave;
 * DROPPED; or NOWHERE if the port has no link to a switch. */
static uint32_t add_edges(struct all *a, const struct dyn_link *in,
			  unsigned int link_vl, unsigned int p, uint32_t n)
{
	struct ftr_cdg *g = a->g;
	uint32_t out = dyn_link_of(g, in->to, p);
	unsigned int place, vl;

	if (out == DYN_NONE)
		return NOWHERE;
	place = out - g->first_link[in->to];
	vl = dyn_vl(g, a->sl, in, place);
	if (vl == FTR_VL_DROP)
		return DROPPED;
	g->count[dyn_edge_at(g, in, link_vl, place, vl)] += n;
	dyn_order_note(g, (uint32_t)(in - g->link) * g->n_vl + link_vl,
		       out * g->n_vl + vl);
	return in->to * g->n_vl + vl;
}

static void reach_one(struct all *a, uint32_t at, uint32_t lid)
{
	uint64_t bit = UINT64_C(1) << lid % 64;
	uint64_t *met;

	if (at == NOWHERE || at == DROPPED)
		return;
	met = set_at(a, a->met, at) + lid / 64;
	if (*met & bit)
		return;
	*met |= bit;
	set_at(a, a->todo, at)[lid / 64] |= bit;
	enqueue(a, at);
}

/* An estimate of the work to read a set. */
static uint32_t words_used(const struct all *a, const uint64_t *set)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < a->words; k++)
		n += set[k] != 0;
	return n;
}

/* At switch t, count the entries of the LIDs in a->set for each port. In a regular
 * tree all switches below t send it nearly the same LIDs. So the counts of the
 * previous set are updated if that is less work than counting again. */
static const uint32_t *count_entries(struct all *a, ftr_sw t)
{
	const uint8_t *row = ftr_tables_row(a->g->now, t);
	uint64_t *last = set_at(a, a->last, t);
	uint32_t *count = a->count + (size_t)t * PORTS;

	for (uint32_t k = 0; k < a->words; k++)
		last[k] ^= a->set[k];
	if (words_used(a, last) > words_used(a, a->set)) {
		memset(count, 0, PORTS * sizeof(*count));
		memcpy(last, a->set, a->words * sizeof(*last));
	}
	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = last[k]; bits; bits &= bits - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(bits);

			count[row[64 * k + i]] += a->set[k] >> i & 1 ?
				1 : UINT32_MAX;
		}
	memcpy(last, a->set, a->words * sizeof(*last));
	return count;
}

/* Add the edges from a VL of this link to the links of the next switch. to[p] is set to
 * the result of add_edges() for port p. Returns the VL on which all these packets
 * leave, or NOWHERE if they leave on different VLs or some are dropped. */
static uint32_t add_all_edges(struct all *a, uint32_t link,
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

/* Pass the LIDs of a->set from a VL of this link to the next switch. */
static void forward_set(struct all *a, uint32_t link, unsigned int link_vl)
{
	ftr_sw t = a->g->link[link].to;
	const uint8_t *row = ftr_tables_row(a->g->now, t);
	uint32_t to[PORTS], only;

	only = add_all_edges(a, link, link_vl, count_entries(a, t), to);
	if (only != NOWHERE) {
		/* the set may hold LIDs for which t has no next hop: pass_on() drops them */
		reach_all(a, only, a->set);
		return;
	}
	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = a->set[k]; bits; bits &= bits - 1) {
			uint32_t lid = 64 * k + (uint32_t)__builtin_ctzll(bits);

			reach_one(a, to[row[lid]], lid);
		}
}

/* As forward_set(), for a list of n LIDs. */
static void forward_list(struct all *a, uint32_t link, unsigned int link_vl,
			 const uint16_t *lid, uint32_t n)
{
	const uint8_t *row = ftr_tables_row(a->g->now, a->g->link[link].to);
	uint32_t count[PORTS] = { 0 }, to[PORTS];

	for (uint32_t i = 0; i < n; i++)
		count[row[lid[i]]]++;
	add_all_edges(a, link, link_vl, count, to);
	for (uint32_t i = 0; i < n; i++)
		reach_one(a, to[row[lid[i]]], lid[i]);
}

/* Pass on the LIDs in todo from s, as sets: used if there are many. */
static void pass_set(struct all *a, ftr_sw s, unsigned int vl,
		     const uint64_t *todo)
{
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);

	for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1]; i++) {
		uint64_t any = 0;

		bytes_equal(a->set, row, g->link[i].from_port, g->now->stride);
		for (uint32_t k = 0; k < a->words; k++)
			any |= a->set[k] &= todo[k];
		if (any)
			forward_set(a, i, vl);
	}
}

/* Pass on the LIDs in todo from s, as lists by the port of the entry: used if there are few. */
static void pass_list(struct all *a, ftr_sw s, unsigned int vl,
		      const uint64_t *todo)
{
	const struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s);
	uint32_t n[PORTS] = { 0 };

	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = todo[k]; bits; bits &= bits - 1) {
			uint32_t lid = 64 * k + (uint32_t)__builtin_ctzll(bits);
			uint8_t p = row[lid];

			a->lid[p * FEW(a) + n[p]++] = (uint16_t)lid;
		}
	for (uint32_t i = g->first_link[s]; i < g->first_link[s + 1]; i++) {
		ftr_port p = g->link[i].from_port;

		if (n[p])
			forward_list(a, i, vl, a->lid + p * FEW(a), n[p]);
	}
}

static void pass_on(struct all *a, uint32_t at)
{
	uint64_t *now = a->now, *todo = set_at(a, a->todo, at);
	ftr_sw s = at / a->g->n_vl;
	unsigned int vl = at % a->g->n_vl;
	uint32_t n = 0;

	for (uint32_t k = 0; k < a->words; k++)
		for (uint64_t bits = now[k] = todo[k]; bits; bits &= bits - 1)
			n++;
	memset(todo, 0, a->words * sizeof(*todo));
	if (n < FEW(a))
		pass_list(a, s, vl, now);
	else
		pass_set(a, s, vl, now);
}

static void one_sl(struct all *a)
{
	struct ftr_cdg *g = a->g;

	a->met = dyn_base_set(g, a->sl, 0, 0);
	for (uint32_t i = 0; i < g->n_sources; i++)
		start(a, g->source[i]);
	while (a->n_queue && !dyn_stopped(g)) {
		uint32_t at = a->queue[a->head];

		a->head = a->head + 1 < size_of(a) ? a->head + 1 : 0;
		a->n_queue--;
		a->queued[at] = 0;
		pass_on(a, at);
	}
}

bool dyn_count_all(struct ftr_cdg *g)
{
	const uint32_t end = (uint32_t)g->f->max_lid + 1;
	struct all a = { .g = g, .words = g->lid_words };
	struct ftr_arena *tmp = ftr_arena_new();
	bool ok = tmp && FTR_ZNEW(tmp, a.owned, a.words) &&
		FTR_ZNEW(tmp, a.now, a.words) && FTR_ZNEW(tmp, a.set, a.words) &&
		FTR_NEW(tmp, a.lid, PORTS * FEW(&a)) &&
		FTR_ZNEW(tmp, a.todo, (size_t)size_of(&a) * a.words) &&
		FTR_ZNEW(tmp, a.last, (size_t)g->f->n_sw * a.words) &&
		FTR_ZNEW(tmp, a.count, (size_t)g->f->n_sw * PORTS) &&
		FTR_ZNEW(tmp, a.queue, size_of(&a)) &&
		FTR_ZNEW(tmp, a.queued, size_of(&a));

	for (uint32_t lid = 1; ok && lid < end; lid++)
		if (g->f->owner[lid].kind != FTR_OWNER_NONE)
			a.owned[lid / 64] |= UINT64_C(1) << lid % 64;
	for (; ok && a.sl < g->n_sl && !dyn_stopped(g); a.sl++)
		one_sl(&a);
	ftr_arena_free(tmp);
	return ok;
}
