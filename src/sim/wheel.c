// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event queue: a wheel of short sorted lists, and a heap for later events.
 *
 * A slot holds the events of 2^shift ps, sorted by time; events at equal times
 * stay in the order in which they were added. The wheel covers WHEEL_SLOTS
 * slots from the current one. Later events wait in a heap and move into the
 * wheel as it turns. With about one event per slot, which sim_net() aims at,
 * all operations are O(1).
 */
#include <stdlib.h>
#include <string.h>

#include "sim/dataplane.h"

#define MASK (WHEEL_SLOTS - 1)

bool wheel_init(struct wheel *w, uint64_t slot_ps)
{
	memset(w, 0, sizeof(*w));
	while (w->shift < 40 && UINT64_C(2) << w->shift <= slot_ps)
		w->shift++;
	w->free = NONE;
	w->head = ftr_malloc(WHEEL_SLOTS * sizeof(*w->head));
	w->tail = ftr_malloc(WHEEL_SLOTS * sizeof(*w->tail));
	w->busy = ftr_calloc(WHEEL_SLOTS / 64, sizeof(*w->busy));
	if (!w->head || !w->tail || !w->busy)
		return false;
	memset(w->head, 0xff, WHEEL_SLOTS * sizeof(*w->head));
	return true;
}

void wheel_fini(struct wheel *w)
{
	free(w->head);
	free(w->tail);
	free(w->busy);
	free(w->event);
	free(w->heap);
}

static bool before(const struct far *a, const struct far *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static bool heap_push(struct wheel *w, uint32_t e)
{
	struct far x = { w->event[e].at, w->order++, e };
	uint32_t i;

	if (!FTR_GROW(w->heap, w->n_heap, w->cap_heap))
		return false;
	for (i = w->n_heap++; i && before(&x, &w->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = x;
	return true;
}

static uint32_t heap_pop(struct wheel *w)
{
	uint32_t e = w->heap[0].e, i = 0, k;
	struct far x = w->heap[--w->n_heap];

	while ((k = 2 * i + 1) < w->n_heap) {
		if (k + 1 < w->n_heap &&
		    before(&w->heap[k + 1], &w->heap[k]))
			k++;
		if (!before(&w->heap[k], &x))
			break;
		w->heap[i] = w->heap[k];
		i = k;
	}
	w->heap[i] = x;
	return e;
}

static void slot_insert(struct wheel *w, uint32_t e)
{
	uint64_t at = w->event[e].at;
	uint32_t i = (uint32_t)(at >> w->shift) & MASK;
	uint32_t *link = &w->head[i];

	/* usually the list is empty, or all its events are earlier */
	if (*link != NONE && w->event[w->tail[i]].at <= at)
		link = &w->event[w->tail[i]].next;
	while (*link != NONE && w->event[*link].at <= at)
		link = &w->event[*link].next;
	w->event[e].next = *link;
	*link = e;
	if (w->event[e].next == NONE)
		w->tail[i] = e;
	w->busy[i / 64] |= UINT64_C(1) << (i % 64);
	w->n_in++;
}

bool wheel_push(struct wheel *w, const struct event *ev)
{
	uint32_t e = w->free;

	if (e != NONE) {
		w->free = w->event[e].next;
	} else {
		if (!FTR_GROW(w->event, w->n_event, w->cap_event))
			return false;
		e = w->n_event++;
	}
	w->event[e] = *ev;
	if ((ev->at >> w->shift) - w->slot >= WHEEL_SLOTS)
		return heap_push(w, e);
	slot_insert(w, e);
	return true;
}

/* The first slot with an event, from the current one on. There must be one. */
static uint64_t first_slot(const struct wheel *w)
{
	uint32_t i = (uint32_t)w->slot & MASK, word = i / 64;
	uint64_t bits = w->busy[word] & (~UINT64_C(0) << (i % 64));

	while (!bits) {
		word = (word + 1) % (WHEEL_SLOTS / 64);
		bits = w->busy[word];
	}
	i = word * 64 + (uint32_t)__builtin_ctzll(bits);
	return w->slot + ((i - (uint32_t)w->slot) & MASK);
}

/* This function does not advance the current slot, because an event that is added later
 * may be earlier. */
uint64_t wheel_peek(struct wheel *w)
{
	if (w->n_in)
		return w->event[w->head[first_slot(w) & MASK]].at;
	return w->n_heap ? w->heap[0].at : UINT64_MAX;
}

void wheel_pop(struct wheel *w, struct event *out)
{
	uint32_t i, e;

	w->slot = w->n_in ? first_slot(w) : w->heap[0].at >> w->shift;
	while (w->n_heap &&
	       (w->heap[0].at >> w->shift) - w->slot < WHEEL_SLOTS)
		slot_insert(w, heap_pop(w));
	i = (uint32_t)w->slot & MASK;
	e = w->head[i];
	*out = w->event[e];
	w->head[i] = w->event[e].next;
	if (w->head[i] == NONE)
		w->busy[i / 64] &= ~(UINT64_C(1) << (i % 64));
	w->event[e].next = w->free;
	w->free = e;
	w->n_in--;
}
