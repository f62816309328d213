// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event queue: a binary heap, ordered by time.  Events of one instant are in the order in which
 * they are handled: by type, then by channel or other number, then by VL.
 */
#include "sim/dataplane.h"

static bool earlier(const struct event *x, const struct event *y)
{
	if (x->at != y->at)
		return x->at < y->at;
	if (x->type != y->type)
		return x->type < y->type;
	if (x->a != y->a)
		return x->a < y->a;
	return x->vl != y->vl ? x->vl < y->vl : x->b < y->b;
}

void sim_push_event(struct sim *m, const struct event *e)
{
	uint32_t i = m->heap.n;

	if (!FTR_GROW(m->heap.event, m->heap.n, m->heap.cap)) {
		m->no_memory = true;
		return;
	}
	m->heap.n++;
	for (; i && earlier(e, &m->heap.event[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap.event[i] = m->heap.event[(i - 1) / 2];
	m->heap.event[i] = *e;
}

void sim_push(struct sim *m, uint64_t at, enum event_type type, uint32_t a, uint32_t b)
{
	const struct event e = { .at = at, .a = a, .b = b, .type = (uint8_t)type };

	sim_push_event(m, &e);
}

struct event sim_pop_event(struct sim *m)
{
	struct event *const h = m->heap.event, first = h[0], last = h[--m->heap.n];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < m->heap.n) {
		k += k + 1 < m->heap.n && earlier(&h[k + 1], &h[k]);
		if (!earlier(&h[k], &last))
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = last;
	return first;
}
