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

bool heap_push(struct heap *h, const struct event *e)
{
	uint32_t i = h->n;

	if (!FTR_GROW(h->event, h->n, h->cap))
		return false;
	h->n++;
	for (; i && earlier(e, &h->event[(i - 1) / 2]); i = (i - 1) / 2)
		h->event[i] = h->event[(i - 1) / 2];
	h->event[i] = *e;
	return true;
}

struct event heap_pop(struct heap *h)
{
	const struct event first = h->event[0], last = h->event[--h->n];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < h->n) {
		k += k + 1 < h->n && earlier(&h->event[k + 1], &h->event[k]);
		if (!earlier(&h->event[k], &last))
			break;
		h->event[i] = h->event[k];
		i = k;
	}
	h->event[i] = last;
	return first;
}
