// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event loop of a run: packets arrive, start and are delivered.  The queues in which packets
 * wait are in packet.c.
 *
 * Each instant of simulated time has three steps:
 *
 *	1. All events of the instant are handled, in the order of (type, a, vl).
 *	2. Packets that have their own nodes and were just routed take the best free exit.
 *	3. Every output that may have become able to send chooses a packet, in the order of the
 *	   channel numbers.
 *
 * If these steps cause further events at the same instant, the steps are repeated.
 *
 * When a packet starts, its bytes are taken from the sender's credit.  When its head arrives, the
 * bytes are counted at the receiver (occ).  When its tail has left the buffer, the bytes are
 * returned to the credit.  When a channel goes down, its epoch is increased.  Credits of an older
 * epoch are ignored, and packets and messages of an older epoch are lost.
 */
#include <stdlib.h>

#include "sim/dataplane.h"

/* ---- sending -------------------------------------------------------------------- */

/* Start packet p on channel c. p must not be in a queue. */
static void send(struct sim *m, uint32_t c, uint32_t p, unsigned int vl)
{
	struct channel *h = &m->ch[c];
	struct packet *k = &m->pool.pkt[p];
	uint64_t wire = wire_ps(h, k->h.bytes);

	h->busy = true;
	h->message_sent = false;
	h->packet = p;
	h->packet_id = k->id;
	h->bytes = k->h.bytes;
	h->from = k->at;
	h->from_vl = k->vl;
	if (k->at != NONE)
		m->room.reading[k->at * m->n_vls + k->vl]++;
	result_busy(m, h, wire);
	h->packets += m->now >= m->warm;
	k->h.hops++;
	k->vl = (uint8_t)vl;
	k->epoch = h->epoch;
	m->r->hops++;
	sim_push(m, m->now + wire, EV_FREE, c, 0);
	if (h->to_station) {
		k->at = NONE;
		sim_push(m, m->now + wire + h->link_ps, EV_DELIVER, c, p);
		return;
	}
	k->at = h->dst;
	m->room.credit[c * m->n_vls + vl] -= (int32_t)k->h.bytes;
	if (m->any_last && c < m->n_ports)
		m->fn->extra->filled(m, c, vl);
	sim_push(m, m->now + h->link_ps + m->conf->switch_ps, EV_ARRIVE, c, p);
}

static void wake_at(struct sim *m, uint32_t c, uint64_t at)
{
	struct channel *h = &m->ch[c];

	if (h->wake > m->now && h->wake <= at)
		return;
	h->wake = at;
	sim_push(m, at, EV_WAKE, c, 0);
}

/* Returns true if the packet's input already feeds as many outputs as conf.speedup allows. */
static bool input_busy(const struct sim *m, const struct packet *k)
{
	unsigned int n = 0;

	if (!m->conf->speedup)
		return false;
	for (unsigned int v = 0; v < m->n_vls; v++)
		n += m->room.reading[k->at * m->n_vls + v];
	return n >= m->conf->speedup;
}

/* Returns true if the packet entered its buffer from a host port or from the switch itself. */
static bool is_own(const struct sim *m, const struct packet *k)
{
	return m->room.feeder[k->at] >= m->n_ports;
}

/* Choose the first node of the VL whose packet may start now. */
static uint32_t pick(struct sim *m, uint32_t c, unsigned int vl)
{
	int32_t credit = m->room.credit[c * m->n_vls + vl];
	uint32_t n = m->queue.out_vl[c * m->n_vls + vl].first, own = NONE;

	if (credit < (int32_t)m->conf->traffic.bytes)
		return NONE;
	/* If transit_first is true, packets from other switches come first. own: the first node
	 * whose packet comes from this switch or its hosts. */
	for (; n != NONE; n = m->queue.node[n].next) {
		const struct packet *k = &m->pool.pkt[m->queue.node[n].head];

		if (k->h.bytes > credit || input_busy(m, k) ||
		    (n >= m->queue.n_voq && !m->fn->extra->may_start(m, n)))
			continue;
		if (k->ready > m->now)
			wake_at(m, c, k->ready);
		else if (!m->conf->transit_first || !is_own(m, k))
			return n;
		else if (own == NONE)
			own = n;
	}
	return own;
}

static void start(struct sim *m, uint32_t c, unsigned int vl, uint32_t n)
{
	uint32_t p = m->queue.node[n].head;
	struct packet *k = &m->pool.pkt[p];
	bool fifo = m->conf->queues == FTR_SIM_FIFO;

	if (n >= m->queue.n_voq) {
		m->fn->extra->take(m, n);
	} else {
		struct node *q = &m->queue.node[n];

		sim_unlink(m, c, vl, n);
		q->head = fifo ? NONE : k->next;
		if (q->head != NONE)
			sim_append(m, c, vl, n);
	}
	if (fifo)
		sim_fifo_pop(m, p);
	send(m, c, p, vl);
}

/* Start a packet or a message on an output of a switch, if one can start. If no packet can start,
 * out_vl, the VL that may send next, does not change. */
static void choose(struct sim *m, uint32_t c)
{
	struct channel *h = &m->ch[c];
	unsigned int vl = h->out_vl;
	int32_t left = h->left;

	if (m->mail && m->fn->extra->start_message(m, c, false))
		return;
	for (unsigned int i = 0; i <= m->n_vls; i++) {
		uint32_t n = left > 0 ? pick(m, c, vl) : NONE;

		if (n != NONE) {
			h->out_vl = (uint8_t)vl;
			h->left = left - m->pool.pkt[m->queue.node[n].head].h.bytes;
			start(m, c, vl, n);
			return;
		}
		vl = vl + 1u < m->n_vls ? vl + 1u : 0;
		left = m->quantum[vl];
	}
	if (m->mail)
		m->fn->extra->start_message(m, c, true);
}

static bool held(const struct sim *m, uint32_t st)
{
	uint32_t n_ep = m->f->n_ep;

	return m->broken.held[st < n_ep ? m->f->ep[st].sw : st - n_ep];
}

/* Send the packet at the head of a station's queue, if it may start. */
static void inject(struct sim *m, uint32_t c)
{
	uint32_t st = c - m->n_ports, p;
	struct source *x = &m->traffic.src[st];
	struct packet *k;

	if (!sim_source_head(m, st) || held(m, st) ||
	    (m->conf->traffic.window && x->in_flight >= m->conf->traffic.window) ||
	    m->room.credit[c * m->n_vls + x->vl] < (int32_t)m->conf->traffic.bytes)
		return;
	p = sim_packet_new(m);
	if (p == NONE)
		return;
	k = &m->pool.pkt[p];
	k->h.source = st;
	k->h.dlid = x->dlid;
	k->h.bytes = (uint16_t)x->bytes;
	k->transfer = x->transfer;
	k->h.sl = x->sl;
	k->made = x->saturated ? m->now : x->made;
	k->sent = m->now;
	k->at = NONE;
	x->in_flight++;
	result_injected(m, k);
	send(m, c, p, x->vl);
	x->has_head = false;
}

/* ---- events ------------------------------------------------------------------------- */

/* Mark all outputs of s, so that they choose a packet. An input can now feed one more of them. */
static void touch_outputs(struct sim *m, ftr_sw s)
{
	uint32_t first = m->f->sw[s].first_port;

	for (unsigned int p = 0; p <= m->f->sw[s].n_ports; p++)
		touch(m, first + p);
}

static void on_free(struct sim *m, uint32_t c)
{
	struct channel *h = &m->ch[c];
	uint32_t port = h->from, vl = h->from_vl;

	h->busy = false;
	touch(m, c);
	if (port == NONE)
		return;
	m->room.reading[port * m->n_vls + vl]--;
	sim_release(m, port, vl, h->bytes);
	if (m->conf->speedup)
		touch_outputs(m, m->port_sw[port]);
	if (m->conf->queues == FTR_SIM_FIFO)
		sim_next_head(m, port, vl);
}

static void on_credit(struct sim *m, const struct event *e)
{
	if (m->ch[e->a].epoch != e->x)
		return;
	m->room.credit[e->a * m->n_vls + e->vl] += (int32_t)e->b;
	touch(m, e->a);
}

static void on_arrive(struct sim *m, uint32_t c, uint32_t p)
{
	const struct channel *h = &m->ch[c];
	struct packet *k = &m->pool.pkt[p];
	uint32_t i = k->at * m->n_vls + k->vl;

	if (k->epoch != h->epoch) {
		sim_lose(m, p, FTR_SIM_LOST_WIRE);
		return;
	}
	m->room.occ[i] += k->h.bytes;
	k->tail = m->now + wire_ps(h, k->h.bytes);
	if (k->h.hops >= m->hops_max) {
		sim_release(m, k->at, k->vl, k->h.bytes);
		sim_lose(m, p, FTR_SIM_LOST_LOOP);
		return;
	}
	sim_enter(m, p);
}

static void on_deliver(struct sim *m, uint32_t c, uint32_t p)
{
	const struct packet *k = &m->pool.pkt[p];
	uint32_t st = m->ch[c].dst;
	struct ftr_lid_owner o = { 0 };

	if (k->epoch != m->ch[c].epoch || k->cut) {
		sim_lose(m, p, FTR_SIM_LOST_WIRE);
		return;
	}
	if (k->h.dlid <= m->f->max_lid)
		o = m->f->owner[k->h.dlid];
	if (o.kind == FTR_OWNER_NONE ||
	    st != (o.kind == FTR_OWNER_EP ? o.idx : m->f->n_ep + o.idx)) {
		sim_lose(m, p, FTR_SIM_LOST_WRONG_END);
		return;
	}
	result_delivered(m, k);
	if (m->conf->traffic.pattern == FTR_SIM_STEPS && k->h.source < m->f->n_ep)
		steps_arrived(m, k);
	sim_packet_free(m, p);
}

static void handle(struct sim *m, const struct event *e)
{
	switch ((enum event_type)e->type) {
	case EV_CHANGE:
		sim_change(m, &m->conf->change[e->a]);
		break;
	case EV_TIMER:
		m->fn->timer(m->state, &m->view, (uint64_t)e->b << 32 | e->a);
		break;
	case EV_MESSAGE:
		m->fn->extra->message_arrived(m, e->a);
		break;
	case EV_FREE:
		on_free(m, e->a);
		break;
	case EV_CREDIT:
		on_credit(m, e);
		break;
	case EV_ARRIVE:
		on_arrive(m, e->a, e->b);
		break;
	case EV_DELIVER:
		on_deliver(m, e->a, e->b);
		break;
	case EV_MAKE:
		m->traffic.src[e->a].waiting = false;
		touch(m, m->n_ports + e->a);
		break;
	case EV_WAKE:
		touch(m, e->a);
		break;
	case EV_CHECK:
		if (!m->r->deadlock && !sim_check(m))
			m->no_memory = true;
		if (m->r->deadlock && m->conf->stop_on_deadlock)
			m->end = m->now;
		sim_push(m, m->now + m->conf->check_ps, EV_CHECK, 0, 0);
		break;
	}
}

/* ---- an instant ------------------------------------------------------------------------ */

static void start_fresh(struct sim *m)
{
	for (uint32_t i = 0; i < m->pool.n_fresh; i++) {
		uint32_t p = m->pool.fresh[i], n;

		if (m->pool.pkt[p].nodes == NONE || m->pool.pkt[p].ready > m->now ||
		    input_busy(m, &m->pool.pkt[p]) ||
		    (m->conf->transit_first && is_own(m, &m->pool.pkt[p])))
			continue;
		n = m->fn->extra->best(m, p);
		if (n != NONE)
			start(m, m->queue.own[n - m->queue.n_voq].channel,
			      m->queue.own[n - m->queue.n_voq].exit.vl, n);
	}
	m->pool.n_fresh = 0;
}

/* Let all marked outputs choose a packet. A packet that starts may enable other outputs, so this is
 * repeated until no output is marked. */
static void choose_all(struct sim *m)
{
	while (m->due.n_dirty) {
		uint32_t *turn = m->due.dirty, n = m->due.n_dirty;

		if (n > 1)
			qsort(turn, n, sizeof(*turn), ftr_u32_cmp);
		m->due.dirty = m->due.turn;
		m->due.turn = turn;
		m->due.n_dirty = 0;
		for (uint32_t i = 0; i < n; i++)
			m->ch[turn[i]].dirty = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t c = turn[i];

			if (m->ch[c].busy || !m->ch[c].up)
				continue;
			if (c < m->n_ports)
				choose(m, c);
			else
				inject(m, c);
		}
	}
}

/* Move all events of the instant into the batch. Returns their number. */
static uint32_t gather(struct sim *m)
{
	uint32_t n = 0;

	while (m->heap.n && m->heap.event[0].at == m->now) {
		if (!FTR_GROW(m->due.batch, n, m->due.cap_batch)) {
			m->no_memory = true;
			break;
		}
		m->due.batch[n++] = sim_pop_event(m);
	}
	return n;
}

void sim_loop(struct sim *m)
{
	uint64_t rounds = 0;
	uint32_t n;

	choose_all(m);
	while (m->heap.n && m->heap.event[0].at < m->end && !m->no_memory &&
	       !m->needs_extra) {
		m->now = m->view.now = m->heap.event[0].at;
		n = gather(m);
		m->r->events += n;
		for (uint32_t i = 0; i < n; i++) {
			const struct event e = m->due.batch[i];

			handle(m, &e);
		}
		if (m->pool.n_fresh)
			start_fresh(m);
		choose_all(m);
		if (m->shown && !(++rounds & 0xffff))
			m->conf->progress(m->conf->progress_ctx, m->run,
					  (double)m->now / (double)m->end);
	}
	m->now = m->view.now = m->end;
}
