// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Deadlocks: buffers whose packets can never move.
 *
 * A buffer is identified by (channel that fills it, VL).  It is alive in one of these cases:
 *
 *  - It is empty, or a packet is leaving it, or a packet to it or credits from it are on the way.
 *  - It holds a parked packet.
 *  - A packet in it waits for an exit to a station, for an exit that has room, or for an exit to a
 *    buffer that is alive.
 *
 * The smallest set of buffers that these rules make alive is computed.  All others are dead.  A
 * dead buffer becomes alive only if packets are removed by a change of links, or if the routing
 * function drains the buffer or routes its packets again.
 *
 * One kind of endless wait is not detected.  With bubble flow control, a packet may wait for room
 * for two packets.  A buffer that is alive may never have that much room.
 */
#include <stdlib.h>

#include "sim/dataplane.h"

struct stuck {
	struct sim *m;
	uint8_t *alive;		/* [n_ch * n_vls] 1: the buffer is alive */
	uint32_t *waits;	/* [n_ch * n_vls] (channel, VL) for which a packet in the buffer
				 * waits, or NONE */
	uint32_t changed;
};

static uint32_t buffer_of(const struct sim *m, const struct packet *k)
{
	return m->room.feeder[k->at] * m->n_vls + k->vl;
}

static void visit_packet(struct stuck *x, uint32_t p, uint32_t exit, bool open)
{
	uint32_t b = buffer_of(x->m, &x->m->pool.pkt[p]);

	if (x->alive[b])
		return;
	if (open) {
		x->alive[b] = 1;
		x->changed++;
	} else if (x->waits[b] == NONE) {
		x->waits[b] = exit;
	}
}

/* Visit all packets that wait for VL vl of channel c. */
static void visit_list(struct stuck *x, uint32_t c, unsigned int vl)
{
	struct sim *m = x->m;
	uint32_t exit = c * m->n_vls + vl;
	uint32_t n = m->queue.out_vl[exit].first;
	bool open = m->ch[c].to_station || x->alive[exit];

	for (; n != NONE; n = m->queue.node[n].next) {
		uint32_t p = m->queue.node[n].head, last = m->queue.node[n].tail;
		unsigned int room = 1;

		if (n >= m->queue.n_voq) {
			room = m->queue.own[n - m->queue.n_voq].exit.room;
			last = p;
		}
		for (; ; p = m->pool.pkt[p].next) {
			visit_packet(x, p, exit, open || m->room.credit[exit] >=
				     (int64_t)room * m->pool.pkt[p].h.bytes);
			if (p == last)
				break;
		}
	}
}

/* Apply the rules that depend on one buffer only. All other buffers are dead until visit_list()
 * finds a packet that can move. */
static void begin(struct stuck *x)
{
	struct sim *m = x->m;

	for (uint32_t c = 0; c < m->n_ch; c++)
		for (unsigned int v = 0; v < m->n_vls; v++) {
			uint32_t b = c * m->n_vls + v, i;

			x->waits[b] = NONE;
			x->alive[b] = true;
			if (!m->ch[c].wired || m->ch[c].to_station)
				continue;
			i = m->ch[c].dst * m->n_vls + v;
			x->alive[b] = !m->room.occ[i] || m->room.reading[i] ||
				(m->ch[c].up && m->room.credit[b] + m->room.occ[i] <
				 buffer_behind(m, c));
		}
}

/* Parked packets wait for their switch, not for room. Their buffers are alive. */
static void spare_parked(struct stuck *x)
{
	for (uint32_t i = 0; i < x->m->pool.n_parked; i++)
		x->alive[buffer_of(x->m, &x->m->pool.pkt[x->m->pool.parked[i]])] = 1;
}

static void follow(struct stuck *x, uint32_t b)
{
	struct sim *m = x->m;
	struct ftr_sim_result *r = m->r;
	uint32_t first;

	/* The chain of waiting buffers may lead into a cycle.  After as many steps as there are
	 * buffers, b is on this cycle. */
	for (uint32_t i = 0; i < m->n_ch * m->n_vls && x->waits[b] != NONE; i++)
		b = x->waits[b];
	first = b;
	do {
		uint32_t c = b / m->n_vls;

		if (r->cycle_len < FTR_SIM_CYCLE_MAX)
			r->cycle[r->cycle_len] = (struct ftr_channel){
				m->port_sw[c], (ftr_port)(c - m->f->sw[m->port_sw[c]].first_port),
				(uint8_t)(b % m->n_vls) };
		r->cycle_len++;
		b = x->waits[b];
	} while (b != first && b != NONE);
}

static void report_stuck(struct stuck *x)
{
	struct sim *m = x->m;
	struct ftr_sim_result *r = m->r;
	uint32_t first = NONE;

	for (uint32_t b = 0; b < m->n_ch * m->n_vls; b++) {
		uint32_t c = b / m->n_vls;

		if (x->alive[b])
			continue;
		r->stuck_buffers++;
		r->stuck_packets += (uint64_t)m->room.occ[m->ch[c].dst * m->n_vls +
			b % m->n_vls] / m->conf->traffic.bytes;
		if (first == NONE && x->waits[b] != NONE)
			first = b;
	}
	if (first == NONE)
		return;
	r->deadlock = true;
	r->deadlock_ps = m->now;
	follow(x, first);
}

bool sim_check(struct sim *m)
{
	size_t n = (size_t)m->n_ch * m->n_vls;
	struct stuck x = { .m = m, .alive = ftr_malloc(n),
			   .waits = ftr_malloc(n * sizeof(*x.waits)) };
	bool ok = x.alive && x.waits;

	if (ok) {
		begin(&x);
		spare_parked(&x);
		do {
			x.changed = 0;
			for (uint32_t c = 0; c < m->n_ports; c++)
				for (unsigned int v = 0; v < m->n_vls; v++)
					visit_list(&x, c, v);
		} while (x.changed);
		report_stuck(&x);
	}
	free(x.alive);
	free(x.waits);
	return ok;
}
