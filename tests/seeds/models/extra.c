// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The functions of extra.h.
 *
 * Messages use part of a channel's bandwidth.  Each channel has a queue of messages.  When the
 * channel goes down, the messages in the queue and on the link are reported as lost.  Those on the
 * link have an older epoch than the channel.
 */
#include <string.h>

#include "models/extra.h"
#include "sim/dataplane.h"

/* ---- messages -------------------------------------------------------------- */

struct message {
	uint64_t what;
	uint32_t channel, bytes;
	uint32_t next;
	uint16_t epoch;		/* channel.epoch when the message was sent */
	bool after;		/* true: the message is sent only while no packet can be sent */
};

struct mail {
	struct sim_mail ops;
	struct message *msg;	/* [cap] in the arena of the run */
	uint32_t n, cap, free;
	struct list *waiting;	/* [n_ports] messages that wait for each channel */
};

static struct mail *mail_of(const struct sim *m)
{
	return (struct mail *)(uintptr_t)m->mail;
}

static uint32_t first_message(struct mail *l, uint32_t c)
{
	uint32_t i = l->waiting[c].first;

	l->waiting[c].first = l->msg[i].next;
	return i;
}

/* Start a message on channel c before the packets if its turn has come, or if no packet can start. */
static bool start_message(struct sim *m, uint32_t c, bool idle)
{
	struct mail *l = mail_of(m);
	struct channel *h = &m->ch[c];
	uint32_t i = l->waiting[c].first;
	uint64_t wire;

	if (i == NONE || (!idle && (h->message_sent || l->msg[i].after)))
		return false;
	first_message(l, c);
	wire = wire_ps(h, l->msg[i].bytes);
	h->busy = h->message_sent = true;
	h->packet = h->from = NONE;
	result_busy(m, h, wire);
	sim_push(m, m->now + wire, EV_FREE, c, 0);
	sim_push(m, m->now + wire + h->link_ps, EV_MESSAGE, i, 0);
	return true;
}

static void message_arrived(struct sim *m, uint32_t i)
{
	struct mail *l = mail_of(m);
	const struct message g = l->msg[i];

	l->msg[i].next = l->free;
	l->free = i;
	m->fn->message(m->state, &m->view, g.what, m->ch[g.channel].epoch != g.epoch);
}

/* Report the queued messages of c as lost. */
static void lose_messages(struct sim *m, uint32_t c)
{
	struct mail *l = mail_of(m);

	while (l->waiting[c].first != NONE)
		sim_push(m, m->now, EV_MESSAGE, first_message(l, c), 0);
}

static struct mail *new_mail(struct sim *m)
{
	struct mail *l = ftr_arena_zalloc(m->arena, 1, sizeof(*l));

	if (!l || !FTR_NEW(m->arena, l->waiting, m->n_ports))
		return NULL;
	memset(l->waiting, 0xff, m->n_ports * sizeof(*l->waiting));
	l->free = NONE;
	l->ops = (struct sim_mail){ start_message, message_arrived, lose_messages };
	m->mail = &l->ops;
	return l;
}

static uint32_t new_message(struct sim *m, struct mail *l)
{
	uint32_t i = l->free, cap = l->cap ? 2 * l->cap : 64;
	struct message *msg;

	if (i != NONE) {
		l->free = l->msg[i].next;
		return i;
	}
	if (l->n == l->cap) {
		if (!FTR_NEW(m->arena, msg, cap))
			return NONE;
		if (l->n)
			memcpy(msg, l->msg, l->n * sizeof(*msg));
		l->msg = msg;
		l->cap = cap;
	}
	return l->n++;
}

void ftr_sim_send(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		  uint32_t bytes, bool after, uint64_t what)
{
	struct sim *m = v->sim;
	struct mail *l = m->mail ? mail_of(m) : new_mail(m);
	uint32_t c = m->f->sw[s].first_port + port, i = l ? new_message(m, l) : NONE;

	if (i == NONE) {
		m->no_memory = true;
		return;
	}
	l->msg[i] = (struct message){ what, c, bytes, NONE, m->ch[c].epoch, after };
	if (l->waiting[c].first == NONE)
		l->waiting[c].first = i;
	else
		l->msg[l->waiting[c].last].next = i;
	l->waiting[c].last = i;
	touch(m, c);
}

/* ---- packets ---------------------------------------------------------------- */

void ftr_sim_again(const struct ftr_sim_view *v, ftr_sw s)
{
	struct sim *m = v->sim;
	uint32_t first = m->f->sw[s].first_port;
	uint32_t n = m->pool.n_orphans;		/* of a change that is not complete */

	for (unsigned int p = 0; p <= m->f->sw[s].n_ports; p++)
		sim_empty_lists(m, first + p);
	sim_unpark(m, s);
	for (uint32_t i = n; i < m->pool.n_orphans; i++)
		sim_route(m, m->pool.orphan[i]);
	m->pool.n_orphans = n;
}

/* Returns the first packet of the buffer, or NONE if that packet is parked.  If buffers are not
 * FIFOs, returns the oldest packet in the buffer that has its own nodes. */
static uint32_t first_waiting(const struct sim *m, uint32_t port, unsigned int vl)
{
	uint32_t first = NONE;

	if (m->conf->queues == FTR_SIM_FIFO) {
		first = m->queue.fifo[port * m->n_vls + vl].first;
		return first == NONE || m->pool.pkt[first].parked ? NONE : first;
	}
	for (uint32_t p = 0; p < m->pool.n_pkt; p++) {
		const struct packet *k = &m->pool.pkt[p];

		if (k->id != NONE && k->at == port && k->vl == vl && k->nodes != NONE &&
		    (first == NONE || k->id < m->pool.pkt[first].id))
			first = p;
	}
	return first;
}

void ftr_sim_drain(const struct ftr_sim_view *v, ftr_sw s, ftr_port port, unsigned int vl)
{
	struct sim *m = v->sim;
	uint32_t own = m->f->sw[s].first_port, at = own + port;
	uint32_t p = first_waiting(m, at, vl);
	struct packet *k = &m->pool.pkt[p];

	if (p == NONE)
		return;
	sim_drop_nodes(m, p);
	sim_leave_buffer(m, p);
	k->at = own;
	/* The buffer of port 0 may have no space, so the credit may become negative. */
	m->room.occ[own * m->n_vls + vl] += k->h.bytes;
	m->room.credit[m->room.feeder[own] * m->n_vls + vl] -= k->h.bytes;
	sim_enter(m, p);
	if (m->conf->queues == FTR_SIM_FIFO)
		sim_next_head(m, at, vl);
}

void ftr_sim_after(const struct ftr_sim_view *v, uint64_t ps, uint64_t what)
{
	sim_push(v->sim, v->now + FTR_MAX(ps, 1), EV_TIMER, (uint32_t)what, (uint32_t)(what >> 32));
}

void ftr_sim_no_memory(const struct ftr_sim_view *v)
{
	v->sim->no_memory = true;
}

void ftr_sim_hold(const struct ftr_sim_view *v, ftr_sw s, bool hold)
{
	struct sim *m = v->sim;
	const struct ftr_fabric *f = m->f;

	m->broken.held[s] = hold;
	if (hold)
		return;
	touch(m, m->n_ports + f->n_ep + s);
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

		if (q->peer_kind == FTR_PEER_EP)
			touch(m, m->n_ports + q->peer);
	}
}
