// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/follow.h"

#define ON_THE_WAY FOLLOW_N_FATES
#define NOW HUGE_VAL		/* packets are still being sent on this path */

/* Packets hold channel x, and wait for a port of the next switch. */
struct hold {
	uint32_t x;		/* a channel, numbered by its sending port */
	uint8_t port;		/* 0: they wait for no link to a switch */
	double until;		/* when the last of them leaves, in ms */
	uint32_t next;		/* next hold of the same channel + 1; 0: none */
};

/* The packets to a LID. */
struct flow {
	struct hold *hold;
	uint32_t n, room;
	bool old;		/* some packets follow older entries */
};

struct follow {
	const struct ftr_fabric *f;
	const uint8_t *usable;
	const uint8_t *lft;
	size_t row;
	ftr_lid lid;		/* 0: none is being followed */
	double now_ms, life_ms;
	uint32_t *island;	/* [n_sw] */
	uint8_t *fate;		/* [n_sw] for the current LID */
	struct flow *flow;	/* [max_lid + 1] */
	uint32_t *first;	/* [n_ports] for the current LID: first hold of the channel + 1 */
	/* waiting[x][p]: number of LIDs whose packets hold x and wait for port p of the next switch */
	uint16_t (*waiting)[256];	/* [n_ports] */
	uint32_t *n_after;	/* [n_ports] number of such ports p */
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
	w->flow = room(f->max_lid + 1u, sizeof(*w->flow));
	w->first = room(f->n_ports, sizeof(*w->first));
	w->waiting = room(f->n_ports, sizeof(*w->waiting));
	w->n_after = room(f->n_ports, sizeof(*w->n_after));
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
	for (uint32_t lid = 0; lid <= w->f->max_lid; lid++)
		free(w->flow[lid].hold);
	free(w->flow);
	free(w->first);
	free(w->waiting);
	free(w->n_after);
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

static void find_islands(struct follow *w)
{
	memset(w->island, 0xff, w->f->n_sw * sizeof(*w->island));
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		if (w->island[s] == UINT32_MAX)
			flood(w, s, s);
}

static uint8_t entry(const struct follow *w, ftr_sw s)
{
	return w->lft[s * w->row + w->lid];
}

/* The port to a switch for which packets in s wait, or 0. */
static uint8_t waits_for(const struct follow *w, ftr_sw s)
{
	const struct ftr_swport *port = usable_port(w, s, entry(w, s));

	return port && port->peer_kind == FTR_PEER_SW ? entry(w, s) : 0;
}

/* ---- packets in the channels -------------------------------------------------- */

static void count(struct follow *w, const struct hold *h, bool more)
{
	uint16_t *n = &w->waiting[h->x][h->port];

	if (!h->port)
		return;
	w->n_after[h->x] += more && !*n;
	*n = (uint16_t)(*n + (more ? 1 : -1));
	w->n_after[h->x] -= !more && !*n;
}

/* Returns true if the packets were not known, or not so long. */
static bool add(struct follow *w, uint32_t x, uint8_t port, double until)
{
	struct flow *fl = &w->flow[w->lid];
	struct hold *h;

	for (uint32_t i = w->first[x]; i; i = fl->hold[i - 1].next) {
		h = &fl->hold[i - 1];
		if (h->port == port) {
			bool longer = until > h->until;

			h->until = longer ? until : h->until;
			return longer;
		}
	}
	if (fl->n == fl->room) {
		fl->room = 2 * fl->room + 16;
		fl->hold = realloc(fl->hold, fl->room * sizeof(*fl->hold));
		if (!fl->hold)
			abort();
	}
	h = &fl->hold[fl->n++];
	*h = (struct hold){ .x = x, .port = port, .until = until, .next = w->first[x] };
	w->first[x] = fl->n;
	count(w, h, true);
	return true;
}

/* Remove the packets that have left, and those that hold or need links that cannot be used. */
static void remove_gone(struct follow *w, struct flow *fl)
{
	uint32_t n = 0;

	fl->old = false;
	for (uint32_t i = 0; i < fl->n; i++) {
		struct hold *h = &fl->hold[i];

		if (h->until <= w->now_ms || (w->usable && !w->usable[h->x]) ||
		    (h->port && !usable_port(w, w->f->ports[h->x].peer, h->port))) {
			count(w, h, false);
			continue;
		}
		fl->old |= h->until < NOW;
		fl->hold[n++] = *h;
	}
	fl->n = n;
}

/* Packets that followed older entries go on by the present ones. */
static void follow_older(struct follow *w, struct flow *fl)
{
	for (uint32_t i = 0; i < fl->n; i++) {
		double until = fl->hold[i].until;
		uint32_t x = fl->hold[i].x;

		while (until < NOW) {
			ftr_sw s = w->f->ports[x].peer;
			uint8_t p = waits_for(w, s);

			if (!add(w, x, p, until) || !p)
				break;
			x = w->f->sw[s].first_port + p;
		}
	}
}

/* All switches with hosts have been followed. */
static void end(struct follow *w)
{
	struct flow *fl = &w->flow[w->lid];

	if (!w->lid)
		return;
	if (fl->old)
		follow_older(w, fl);
	fl->old = false;
	for (uint32_t i = 0; i < fl->n; i++) {
		w->first[fl->hold[i].x] = 0;
		fl->old |= fl->hold[i].until < NOW;
	}
	w->lid = 0;
}

void follow_tables(struct follow *w, const uint8_t *lft, size_t row)
{
	w->lid = 0;
	w->lft = lft;
	w->row = row;
	for (uint32_t lid = 0; lid <= w->f->max_lid; lid++)
		w->flow[lid].n = 0;
	memset(w->first, 0, w->f->n_ports * sizeof(*w->first));
	memset(w->waiting, 0, w->f->n_ports * sizeof(*w->waiting));
	memset(w->n_after, 0, w->f->n_ports * sizeof(*w->n_after));
	find_islands(w);
}

void follow_time(struct follow *w, double now_ms, double life_ms)
{
	end(w);
	w->now_ms = now_ms;
	w->life_ms = life_ms;
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		if (w->flow[lid].old)
			remove_gone(w, &w->flow[lid]);
}

void follow_links(struct follow *w)
{
	end(w);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		remove_gone(w, &w->flow[lid]);
	find_islands(w);
}

bool follow_joined(const struct follow *w, ftr_sw s, ftr_sw t)
{
	return w->island[s] == w->island[t];
}

void follow_begin(struct follow *w, ftr_lid lid)
{
	struct flow *fl = &w->flow[lid];

	end(w);
	w->lid = lid;
	memset(w->fate, FOLLOW_UNKNOWN, w->f->n_sw);
	for (uint32_t i = 0; i < fl->n; i++)
		if (fl->hold[i].until == NOW)
			fl->hold[i].until = w->now_ms + w->life_ms;
	remove_gone(w, fl);
	for (uint32_t i = 0; i < fl->n; i++) {
		fl->hold[i].next = w->first[fl->hold[i].x];
		w->first[fl->hold[i].x] = i + 1;
	}
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
		add(w, w->f->sw[t].first_port + entry(w, t), waits_for(w, next), NOW);
	}
	for (t = s; t != FTR_SW_NONE && w->fate[t] == ON_THE_WAY; t = next_switch(w, t, &ignored))
		w->fate[t] = fate;
	return (enum follow_fate)w->fate[s];
}

/* The first channel, from port p of the next switch on, for which packets in channel x wait.  Returns
 * UINT32_MAX if there is none. */
static uint32_t after(const struct follow *w, uint32_t x, uint32_t p)
{
	const struct ftr_switch *s;

	if (!w->n_after[x])
		return UINT32_MAX;
	s = &w->f->sw[w->f->ports[x].peer];
	for (; p <= s->n_ports; p++)
		if (w->waiting[x][p])
			return s->first_port + p;
	return UINT32_MAX;
}

#define for_each_after(w, x, y)						\
	for (uint32_t y = after(w, x, 1); y != UINT32_MAX;		\
	     y = after(w, x, y + 1 - (w)->f->sw[(w)->f->ports[x].peer].first_port))

/* Kahn's algorithm: remove each channel that no remaining channel waits for. */
uint32_t follow_waiting(struct follow *w)
{
	uint32_t n = 0, all = w->f->n_ports;

	end(w);
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

/* A channel that waits for channel y, and that Kahn's algorithm has not removed. */
static uint32_t before(const struct follow *w, uint32_t y)
{
	for (uint32_t x = 0; x < w->f->n_ports; x++)
		if (w->waits[x])
			for_each_after(w, x, z)
				if (z == y)
					return x;
	abort();
}

/* The switch whose port x is. */
static ftr_sw sender(const struct follow *w, uint32_t x)
{
	ftr_sw s = 0;

	while (x > w->f->sw[s].first_port + w->f->sw[s].n_ports)
		s++;
	return s;
}

uint32_t follow_all(const struct ftr_incr *lv, const struct ftr_fabric *f, const struct ftr_tables *t,
		    bool hosts, uint8_t *arrives)
{
	uint8_t *up = calloc(f->n_ports, 1), *sends = calloc(f->n_sw, 1);
	struct follow *w;
	uint32_t waiting;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			sends[f->ep[e].sw] = 1;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			up[f->sw[s].first_port + p] = !ftr_incr_connected(lv, s, (ftr_port)p) ||
				ftr_incr_alive(lv, s, (ftr_port)p);
	w = follow_new(f, up);
	follow_tables(w, t->lft, t->stride);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (f->owner[lid].kind != FTR_OWNER_EP)
			continue;
		follow_begin(w, (ftr_lid)lid);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			arrives[(size_t)lid * f->n_sw + s] = (sends[s] || !hosts) &&
				follow(w, s) == FOLLOW_ARRIVES;
	}
	waiting = follow_waiting(w);
	follow_free(w);
	free(sends);
	free(up);
	return waiting;
}

static void print_dependency(const struct follow *w, uint32_t x, uint32_t y)
{
	const struct ftr_switch *s = &w->f->sw[w->f->ports[x].peer];

	printf("\tpackets from switch %u to %u wait for port %u to switch %u; LIDs", sender(w, x),
	       w->f->ports[x].peer, y - s->first_port, w->f->ports[y].peer);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		for (uint32_t i = 0; i < w->flow[lid].n; i++) {
			const struct hold *h = &w->flow[lid].hold[i];

			if (h->x != x || s->first_port + h->port != y)
				continue;
			printf(h->until < NOW ? " %u (older, %.1f ms left)" : " %u", lid,
			       h->until - w->now_ms);
		}
	printf("\n");
}

void follow_print_cycle(struct follow *w)
{
	uint32_t y = 0, first;

	if (!follow_waiting(w))
		return;
	while (!w->waits[y])
		y++;
	for (uint32_t i = 0; i < w->f->n_ports; i++)
		y = before(w, y);
	first = y;
	do {
		uint32_t x = before(w, y);

		print_dependency(w, x, y);
		y = x;
	} while (y != first);
}
