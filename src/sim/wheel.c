// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event queue: a wheel of short sorted lists, and a list of later events.
 *
 * A slot of the wheel holds the events of 2^shift ps, sorted by time.  Events at equal times keep
 * the order in which they were added.  Events that are due after the last slot of the wheel are in
 * the list of later events.  When all slots are empty, the wheel turns: its first slot is then the
 * slot of the earliest event in that list.  sim_net() chooses `shift` so that a slot holds about
 * one event.  The mean time of an operation is then constant.
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
	w->free = w->later = NONE;
	w->later_at = UINT64_MAX;
	w->end = WHEEL_SLOTS;
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
}

static void slot_insert(struct wheel *w, uint32_t e)
{
	uint64_t at = w->event[e].at;
	uint32_t i = (uint32_t)(at >> w->shift) & MASK;
	uint32_t *link = &w->head[i];

	/* Usually the list is empty, or all its events are earlier. */
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

static void insert(struct wheel *w, uint32_t e)
{
	if ((w->event[e].at >> w->shift) < w->end) {
		slot_insert(w, e);
		return;
	}
	w->event[e].next = NONE;
	w->later_at = FTR_MIN(w->later_at, w->event[e].at);
	if (w->later == NONE)
		w->later = e;
	else
		w->event[w->last_later].next = e;
	w->last_later = e;
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
	insert(w, e);
	return true;
}

/* Returns the first slot with an event, from the current slot on. There must be one. */
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

static void turn(struct wheel *w)
{
	uint32_t e = w->later, next;

	w->slot = w->later_at >> w->shift;
	w->end = w->slot + WHEEL_SLOTS;
	w->later = NONE;
	w->later_at = UINT64_MAX;
	for (; e != NONE; e = next) {
		next = w->event[e].next;
		insert(w, e);
	}
}

/* This function does not turn the wheel, because the caller may still add an earlier event. */
uint64_t wheel_peek(struct wheel *w)
{
	return w->n_in ? w->event[w->head[first_slot(w) & MASK]].at : w->later_at;
}

void wheel_pop(struct wheel *w, struct event *out)
{
	uint32_t i, e;

	if (w->n_in)
		w->slot = first_slot(w);
	else
		turn(w);
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
