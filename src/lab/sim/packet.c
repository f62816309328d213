// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets in buffers and queues: where they wait, and for which exits.
 *
 * The event loop (run.c) and other files call these functions.  This file starts no packets.  It
 * marks the channels that may now be able to send (touch()).
 */
#include <string.h>

#include "sim/dataplane.h"

/* ---- packets ------------------------------------------------------------- */

uint32_t sim_packet_new(struct sim *m)
{
	uint32_t p = m->pool.free_pkt;

	if (p != NONE) {
		m->pool.free_pkt = m->pool.pkt[p].next;
	} else {
		if (!FTR_GROW(m->pool.pkt, m->pool.n_pkt, m->pool.cap_pkt)) {
			m->no_memory = true;
			return NONE;
		}
		p = m->pool.n_pkt++;
	}
	memset(&m->pool.pkt[p], 0, sizeof(m->pool.pkt[p]));
	m->pool.pkt[p].id = m->pool.next_id++;
	m->pool.pkt[p].nodes = NONE;
	return p;
}

void sim_packet_free(struct sim *m, uint32_t p)
{
	struct source *x = &m->traffic.src[m->pool.pkt[p].h.source];

	x->in_flight--;
	if (m->conf->traffic.window && x->in_flight + 1 == m->conf->traffic.window)
		touch(m, m->n_ports + m->pool.pkt[p].h.source);
	m->pool.pkt[p].next = m->pool.free_pkt;
	m->pool.pkt[p].id = NONE;
	m->pool.free_pkt = p;
	m->r->in_flight--;
}

/* Count p as lost for the reason `why`, and free it. If p was cut by a channel that went down, the
 * reason is always FTR_SIM_LOST_WIRE. p must not be in a buffer or queue. */
void sim_lose(struct sim *m, uint32_t p, enum ftr_sim_loss why)
{
	result_lost(m, m->pool.pkt[p].cut ? FTR_SIM_LOST_WIRE : why);
	sim_packet_free(m, p);
}

/* ---- nodes and lists ------------------------------------------------------- */

void sim_append(struct sim *m, uint32_t c, unsigned int vl, uint32_t n)
{
	struct list *l = &m->queue.out_vl[c * m->n_vls + vl];

	m->queue.node[n].prev = l->last;
	m->queue.node[n].next = NONE;
	if (l->last == NONE)
		l->first = n;
	else
		m->queue.node[l->last].next = n;
	l->last = n;
}

void sim_unlink(struct sim *m, uint32_t c, unsigned int vl, uint32_t n)
{
	struct list *l = &m->queue.out_vl[c * m->n_vls + vl];
	struct node *x = &m->queue.node[n];

	if (x->prev == NONE)
		l->first = x->next;
	else
		m->queue.node[x->prev].next = x->next;
	if (x->next == NONE)
		l->last = x->prev;
	else
		m->queue.node[x->next].prev = x->prev;
}

/* ---- buffers ---------------------------------------------------------------- */

void sim_release(struct sim *m, uint32_t port, unsigned int vl, uint32_t bytes)
{
	uint32_t c = m->room.feeder[port];
	const struct event e = {
		.at = m->now + m->ch[c].link_ps, .type = EV_CREDIT, .a = c, .b = bytes,
		.vl = (uint8_t)vl, .x = m->ch[c].epoch,
	};

	m->room.occ[port * m->n_vls + vl] -= (int32_t)bytes;
	if (m->ch[c].up)
		sim_push_event(m, &e);
}

/* Route the first packet of a FIFO if the previous packet has left. */
void sim_next_head(struct sim *m, uint32_t port, unsigned int vl)
{
	struct list *l = &m->queue.fifo[port * m->n_vls + vl];

	if (l->first != NONE && !m->room.reading[port * m->n_vls + vl])
		sim_route(m, l->first);
}

void sim_fifo_pop(struct sim *m, uint32_t p)
{
	const struct packet *k = &m->pool.pkt[p];
	struct list *l = &m->queue.fifo[k->at * m->n_vls + k->vl];

	l->first = k->next;
	if (l->first == NONE)
		l->last = NONE;
}

void sim_leave_buffer(struct sim *m, uint32_t p)
{
	const struct packet *k = &m->pool.pkt[p];

	if (m->conf->queues == FTR_SIM_FIFO)
		sim_fifo_pop(m, p);
	sim_release(m, k->at, k->vl, k->h.bytes);
}

/* ---- routing ------------------------------------------------------------------ */

static bool usable(const struct sim *m, ftr_sw s, const struct ftr_sim_exit *e)
{
	return e->port <= m->f->sw[s].n_ports && e->vl < m->n_vls &&
	       m->ch[m->f->sw[s].first_port + e->port].up;
}

static void wait_in_queue(struct sim *m, uint32_t p, ftr_sw s, const struct ftr_sim_exit *e)
{
	struct packet *k = &m->pool.pkt[p];
	uint32_t c = m->f->sw[s].first_port + e->port;
	bool fifo = m->conf->queues == FTR_SIM_FIFO;
	uint32_t n = queue_of(m, s, k->at - m->f->sw[s].first_port, e->port, fifo ? k->vl : e->vl);
	struct node *q = &m->queue.node[n];

	if (!fifo)
		k->next = NONE;
	if (q->head == NONE) {
		q->head = q->tail = p;
		sim_append(m, c, e->vl, n);
	} else {
		m->pool.pkt[q->tail].next = p;
		q->tail = p;
	}
	touch(m, c);
}

/* Set k->ready, the earliest time when the packet may leave. An output that is faster than the
 * input must not run out of data before the last byte has arrived. */
static void set_ready(struct sim *m, struct packet *k, ftr_sw s,
		      const struct ftr_sim_exit *e, unsigned int n)
{
	uint64_t wire = UINT64_MAX;

	for (unsigned int i = 0; i < n; i++) {
		const struct channel *c =
			&m->ch[m->f->sw[s].first_port + e[i].port];

		wire = FTR_MIN(wire, wire_ps(c, k->h.bytes));
	}
	k->ready = FTR_MAX(m->now, k->tail - FTR_MIN(wire, k->tail));
}

/* Find the exits of a packet in its buffer, and put it into the queues of these exits. If the
 * buffer is a FIFO, the packet must be the first one. A packet without an exit is parked or
 * lost. */
void sim_route(struct sim *m, uint32_t p)
{
	struct packet *k = &m->pool.pkt[p];
	uint32_t port = k->at;
	ftr_sw s = m->port_sw[port];
	struct ftr_sim_arrival a;
	struct ftr_sim_exit *e = a.exit;
	unsigned int n, left = 0;
	bool plain;

	a.sw = s;
	a.in = (ftr_port)(port - m->f->sw[s].first_port);
	a.vl = k->vl;
	a.p = &k->h;
	a.why = FTR_SIM_LOST_DEAD_PORT;
	n = m->fn->route(m->state, &m->view, &a);
	for (unsigned int i = 0; i < n; i++) {
		if (usable(m, s, &e[i]))
			e[left++] = e[i];
		else if (e[i].vl >= m->n_vls)
			a.why = FTR_SIM_LOST_VL;
	}
	plain = left ? left == 1 && e[0].room <= 1 && !m->fn->taken : a.why != FTR_SIM_WAIT;
	if (!plain && !m->fn->extra) {
		m->needs_extra = true;
		a.why = FTR_SIM_LOST_DEAD_PORT;
		left = 0;
	}
	if (!left && a.why == FTR_SIM_WAIT) {
		m->fn->extra->park(m, p);
		return;
	}
	if (!left) {
		sim_leave_buffer(m, p);
		sim_lose(m, p, a.why);
		if (m->conf->queues == FTR_SIM_FIFO)
			sim_next_head(m, port, a.vl);
		return;
	}
	set_ready(m, k, s, e, left);
	if (plain)
		wait_in_queue(m, p, s, &e[0]);
	else
		m->fn->extra->wait(m, p, s, e, left);
}

void sim_enter(struct sim *m, uint32_t p)
{
	struct packet *k = &m->pool.pkt[p];
	struct list *l;

	if (m->conf->queues == FTR_SIM_VOQ) {
		sim_route(m, p);
		return;
	}
	l = &m->queue.fifo[k->at * m->n_vls + k->vl];
	k->next = NONE;
	if (l->last != NONE) {
		m->pool.pkt[l->last].next = p;
		l->last = p;
	} else {
		l->first = l->last = p;
		sim_next_head(m, k->at, k->vl);
	}
}
