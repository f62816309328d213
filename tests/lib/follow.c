// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "lib/follow.h"

#define WORDS 4			/* 64-bit words for the ports of a switch */
#define ON_THE_WAY FOLLOW_N_FATES

struct follow {
	const struct ftr_fabric *f;
	const uint8_t *usable;
	const uint8_t *lft;
	size_t row;
	ftr_lid lid;
	uint32_t *island;	/* [n_sw] */
	uint8_t *fate;		/* [n_sw] for the current LID */
	/* next[x]: if x is a channel (numbered by its sending port), the ports of the next switch to
	 * which packets go directly after x */
	uint64_t (*next)[WORDS];	/* [n_ports] */
	uint32_t *waits, *queue;	/* [n_ports] scratch */
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		abort();
	return p;
}

struct follow *follow_new(const struct ftr_fabric *f, const uint8_t *usable)
{
	struct follow *w = room(1, sizeof(*w));

	w->f = f;
	w->usable = usable;
	w->island = room(f->n_sw, sizeof(*w->island));
	w->fate = room(f->n_sw, 1);
	w->next = room(f->n_ports, sizeof(*w->next));
	w->waits = room(f->n_ports, sizeof(*w->waits));
	w->queue = room(f->n_ports, sizeof(*w->queue));
	return w;
}

void follow_free(struct follow *w)
{
	if (!w)
		return;
	free(w->island);
	free(w->fate);
	free(w->next);
	free(w->waits);
	free(w->queue);
	free(w);
}

static const struct ftr_swport *usable_port(const struct follow *w, ftr_sw s, unsigned int p)
{
	uint32_t at = w->f->sw[s].first_port + p;

	if (!p || p > w->f->sw[s].n_ports || (w->usable && !w->usable[at]))
		return NULL;
	return &w->f->ports[at];
}

/* Give the same number to all switches that links connect with s. */
static void flood(struct follow *w, ftr_sw s, uint32_t number)
{
	uint32_t n = 0;

	w->island[s] = number;
	w->queue[n++] = s;
	while (n) {
		ftr_sw t = w->queue[--n];

		for (unsigned int p = 1; p <= w->f->sw[t].n_ports; p++) {
			const struct ftr_swport *port = usable_port(w, t, p);

			if (!port || port->peer_kind != FTR_PEER_SW ||
			    w->island[port->peer] != UINT32_MAX)
				continue;
			w->island[port->peer] = number;
			w->queue[n++] = port->peer;
		}
	}
}

void follow_tables(struct follow *w, const uint8_t *lft, size_t row)
{
	w->lft = lft;
	w->row = row;
	memset(w->next, 0, w->f->n_ports * sizeof(*w->next));
	memset(w->island, 0xff, w->f->n_sw * sizeof(*w->island));
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		if (w->island[s] == UINT32_MAX)
			flood(w, s, s);
}

bool follow_joined(const struct follow *w, ftr_sw s, ftr_sw t)
{
	return w->island[s] == w->island[t];
}

void follow_begin(struct follow *w, ftr_lid lid)
{
	w->lid = lid;
	memset(w->fate, FOLLOW_UNKNOWN, w->f->n_sw);
}

static uint8_t entry(const struct follow *w, ftr_sw s)
{
	return w->lft[s * w->row + w->lid];
}

/* Returns the switch after s on the path, or FTR_SW_NONE if the path ends at s.  In the second case
 * sets *fate. */
static ftr_sw next_switch(const struct follow *w, ftr_sw s, uint8_t *fate)
{
	const struct ftr_lid_owner *o = &w->f->owner[w->lid];
	uint8_t p = entry(w, s);
	const struct ftr_swport *port = usable_port(w, s, p);

	*fate = p == FTR_PORT_NONE ? FOLLOW_NO_ENTRY : FOLLOW_LOST;
	if (!p && o->kind == FTR_OWNER_SW && o->idx == s)
		*fate = FOLLOW_ARRIVES;
	if (!port)
		return FTR_SW_NONE;
	if (port->peer_kind == FTR_PEER_SW)
		return port->peer;
	if (port->peer_kind == FTR_PEER_EP && o->kind == FTR_OWNER_EP && port->peer == o->idx)
		*fate = FOLLOW_ARRIVES;
	return FTR_SW_NONE;
}

enum follow_fate follow(struct follow *w, ftr_sw s)
{
	uint8_t fate = FOLLOW_LOST, ignored;
	ftr_sw t = s, next;

	for (; w->fate[t] == FOLLOW_UNKNOWN; t = next) {
		next = next_switch(w, t, &fate);
		w->fate[t] = ON_THE_WAY;
		if (next == FTR_SW_NONE)
			break;
		fate = w->fate[next] == ON_THE_WAY ? FOLLOW_LOOP : w->fate[next];
		if (usable_port(w, next, entry(w, next)))
			w->next[w->f->sw[t].first_port + entry(w, t)][entry(w, next) / 64] |=
				UINT64_C(1) << entry(w, next) % 64;
	}
	for (t = s; t != FTR_SW_NONE && w->fate[t] == ON_THE_WAY; t = next_switch(w, t, &ignored))
		w->fate[t] = fate;
	return (enum follow_fate)w->fate[s];
}

/* Channels are numbered by their sending ports.  Returns the first channel, from number y on, that a
 * packet takes directly after channel x; UINT32_MAX: there is none. */
static uint32_t after(const struct follow *w, uint32_t x, uint32_t y)
{
	const struct ftr_swport *port = &w->f->ports[x];
	uint32_t first, p;

	if (port->peer_kind != FTR_PEER_SW)
		return UINT32_MAX;
	first = w->f->sw[port->peer].first_port;
	for (p = y > first ? y - first : 0; p < 64 * WORDS; p = (p / 64 + 1) * 64) {
		uint64_t bits = w->next[x][p / 64] >> p % 64;

		if (bits)
			return first + p + (uint32_t)__builtin_ctzll(bits);
	}
	return UINT32_MAX;
}

#define for_each_after(w, x, y)						\
	for (uint32_t y = after(w, x, 0); y != UINT32_MAX; y = after(w, x, y + 1))

/* Kahn's algorithm: remove each channel that no remaining channel waits for. */
uint32_t follow_waiting(struct follow *w)
{
	uint32_t n = 0, all = w->f->n_ports;

	memset(w->waits, 0, all * sizeof(*w->waits));
	for (uint32_t x = 0; x < all; x++)
		for_each_after(w, x, y)
			w->waits[y]++;
	for (uint32_t x = 0; x < all; x++)
		if (!w->waits[x])
			w->queue[n++] = x;
	for (uint32_t i = 0; i < n; i++)
		for_each_after(w, w->queue[i], y)
			if (!--w->waits[y])
				w->queue[n++] = y;
	return all - n;
}
