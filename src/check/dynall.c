// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The edges of all LIDs by unchanging tables, used when a graph is built.
 *
 * This is the walk of dynwalk.c for many LIDs at once: each VL out of a switch
 * has the set of LIDs that reached it. A switch passes its new LIDs on to its
 * neighbours, in the order in which switches are reached. This reads the rows of
 * a switch and of its neighbours sequentially and writes a few kilobytes of
 * counts, whereas a walk LID by LID has scattered accesses to all memory.
 */
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"

#define WORDS 32

struct all {
	struct ftr_cdg *g;
	uint32_t sl;
	uint32_t first, n;	/* LIDs first .. first + n - 1 */
	/* by VL out of a switch, s * n_vl + VL: LIDs to pass on, and all LIDs
	 * that ever reached it */
	uint64_t (*todo)[WORDS], (*met)[WORDS];
	/* VLs with LIDs to pass on: a ring without duplicates */
	uint32_t *queue, head, n_queue;
	uint8_t *queued;
};

static void reach(struct all *a, uint32_t at, uint32_t word, uint64_t bits)
{
	uint32_t size = a->g->f->n_sw * a->g->n_vl, tail;

	bits &= ~a->met[at][word];
	if (!bits)
		return;
	a->met[at][word] |= bits;
	a->todo[at][word] |= bits;
	if (a->queued[at])
		return;
	a->queued[at] = 1;
	tail = a->head + a->n_queue++;
	a->queue[tail < size ? tail : tail - size] = at;
}

/* Start the packets that enter at s. */
static void start(struct all *a, ftr_sw s)
{
	struct ftr_cdg *g = a->g;
	const uint8_t *row = ftr_tables_row(g->now, s) + a->first;

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t link = dyn_link_of(g, s, row[i]), vls;

		if (link == DYN_NONE ||
		    g->f->owner[a->first + i].kind == FTR_OWNER_NONE)
			continue;
		vls = g->inject[a->sl * g->n_links + link];
		for (; vls; vls &= vls - 1)
			reach(a, s * g->n_vl + (uint32_t)__builtin_ctz(vls),
			      i / 64, UINT64_C(1) << i % 64);
	}
}

/* Pass one LID from a VL out of s to the next switch. */
static void hand_on(struct all *a, ftr_sw s, unsigned int link_vl, uint32_t i)
{
	struct ftr_cdg *g = a->g;
	uint32_t lid = a->first + i;
	const struct dyn_link *in =
		&g->link[dyn_link_of(g, s, ftr_tables_row(g->now, s)[lid])];
	uint32_t out = dyn_link_of(g, in->to,
				   ftr_tables_row(g->now, in->to)[lid]);
	unsigned int place, next;

	if (out == DYN_NONE)
		return;
	place = out - g->first_link[in->to];
	next = dyn_vl(g, a->sl, in, place);
	if (next == FTR_VL_DROP)
		return;
	g->count[dyn_edge_at(g, in, link_vl, place, next)]++;
	reach(a, in->to * g->n_vl + next, i / 64, UINT64_C(1) << i % 64);
}

static void block(struct all *a)
{
	struct ftr_cdg *g = a->g;
	uint32_t size = g->f->n_sw * g->n_vl;

	memset(a->met, 0, size * sizeof(*a->met));
	for (uint32_t i = 0; i < g->n_sources; i++)
		start(a, g->source[i]);
	while (a->n_queue && !dyn_stopped(g)) {
		uint32_t at = a->queue[a->head];
		uint64_t todo[WORDS];

		a->head = a->head + 1 < size ? a->head + 1 : 0;
		a->n_queue--;
		a->queued[at] = 0;
		memcpy(todo, a->todo[at], sizeof(todo));
		memset(a->todo[at], 0, sizeof(todo));
		for (uint32_t w = 0; w < WORDS; w++)
			for (; todo[w]; todo[w] &= todo[w] - 1)
				hand_on(a, at / g->n_vl, at % g->n_vl, 64 * w +
					(uint32_t)__builtin_ctzll(todo[w]));
	}
}

bool dyn_count_all(struct ftr_cdg *g)
{
	size_t size = (size_t)g->f->n_sw * g->n_vl;
	const uint32_t end = (uint32_t)g->f->max_lid + 1;
	struct all a = { .g = g };
	bool ok;

	a.todo = ftr_calloc(size + 1, sizeof(*a.todo));
	a.met = ftr_calloc(size + 1, sizeof(*a.met));
	a.queue = ftr_calloc(size + 1, sizeof(*a.queue));
	a.queued = ftr_calloc(size + 1, 1);
	ok = a.todo && a.met && a.queue && a.queued;
	for (; ok && a.sl < g->n_sl; a.sl++)
		for (a.first = 1; a.first < end && !dyn_stopped(g);
		     a.first += a.n) {
			a.n = FTR_MIN(64 * WORDS, end - a.first);
			block(&a);
		}
	free(a.todo);
	free(a.met);
	free(a.queue);
	free(a.queued);
	return ok;
}
