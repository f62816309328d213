// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The functions of extra.h, and packets with several exits or none.
 *
 * A packet with several exits is in no queue: it has its own nodes, one for each exit.  So has a
 * packet that requires room for more than one packet in the next buffer.  If the routing function
 * has the operation taken(), all packets have their own nodes.
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

struct sim_mail {
	struct message *msg;	/* [cap] in the arena of the run */
	uint32_t n, cap, free;
	struct list *waiting;	/* [n_ports] messages that wait for each channel */
};

static uint32_t first_message(struct sim_mail *l, uint32_t c)
{
	uint32_t i = l->waiting[c].first;

	l->waiting[c].first = l->msg[i].next;
	return i;
}

/* Start a message on channel c before the packets if its turn has come, or if no packet can start. */
static bool start_message(struct sim *m, uint32_t c, bool idle)
{
	struct sim_mail *l = m->mail;
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
	struct sim_mail *l = m->mail;
	const struct message g = l->msg[i];

	l->msg[i].next = l->free;
	l->free = i;
	m->fn->message(m->state, &m->view, g.what, m->ch[g.channel].epoch != g.epoch);
}

/* Report the queued messages of c as lost. */
static void lose_messages(struct sim *m, uint32_t c)
{
	struct sim_mail *l = m->mail;

	while (l->waiting[c].first != NONE)
		sim_push(m, m->now, EV_MESSAGE, first_message(l, c), 0);
}

static struct sim_mail *new_mail(struct sim *m)
{
	struct sim_mail *l = ftr_arena_zalloc(m->arena, 1, sizeof(*l));

	if (!l || !FTR_NEW(m->arena, l->waiting, m->n_ports))
		return NULL;
	memset(l->waiting, 0xff, m->n_ports * sizeof(*l->waiting));
	l->free = NONE;
	return m->mail = l;
}

static uint32_t new_message(struct sim *m, struct sim_mail *l)
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
	struct sim_mail *l = m->mail ? m->mail : new_mail(m);
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

/* ---- packets with several exits ---------------------------------------------- */

static uint32_t new_node(struct sim *m)
{
	uint32_t n = m->queue.free_node;

	if (n != NONE) {
		m->queue.free_node = m->queue.node[n].next;
		return n;
	}
	if (!FTR_GROW(m->queue.node, m->queue.n_node, m->queue.cap_node) ||
	    !FTR_GROW(m->queue.own, m->queue.n_node - m->queue.n_voq, m->queue.cap_own)) {
		m->no_memory = true;
		return NONE;
	}
	return m->queue.n_node++;
}

static void free_node(struct sim *m, uint32_t n)
{
	const struct own *o = &m->queue.own[n - m->queue.n_voq];

	sim_unlink(m, o->channel, o->exit.vl, n);
	m->queue.node[n].next = m->queue.free_node;
	m->queue.free_node = n;
}

static void drop_nodes(struct sim *m, uint32_t p)
{
	uint32_t n = m->pool.pkt[p].nodes, next;

	for (; n != NONE; n = next) {
		next = m->queue.node[n].tail;
		free_node(m, n);
	}
	m->pool.pkt[p].nodes = NONE;
}

static void wait_for_any(struct sim *m, uint32_t p, ftr_sw s,
			 const struct ftr_sim_exit *e, unsigned int n_exits)
{
	for (unsigned int i = 0; i < n_exits; i++) {
		uint32_t n = new_node(m);
		struct own *o;

		if (n == NONE)
			return;
		o = &m->queue.own[n - m->queue.n_voq];
		o->exit = e[i];
		o->exit.room = FTR_MAX(e[i].room, 1);
		m->any_last |= e[i].last;
		o->channel = m->f->sw[s].first_port + e[i].port;
		m->queue.node[n].head = p;
		m->queue.node[n].tail = m->pool.pkt[p].nodes;
		m->pool.pkt[p].nodes = n;
		sim_append(m, o->channel, e[i].vl, n);
		touch(m, o->channel);
	}
	if (!FTR_GROW(m->pool.fresh, m->pool.n_fresh, m->pool.cap_fresh))
		m->no_memory = true;
	else
		m->pool.fresh[m->pool.n_fresh++] = p;
}

static bool has_room(const struct sim *m, uint32_t n)
{
	const struct own *o = &m->queue.own[n - m->queue.n_voq];
	int32_t credit = m->room.credit[o->channel * m->n_vls + o->exit.vl];

	return m->ch[o->channel].up && (int64_t)o->exit.room *
	       m->pool.pkt[m->queue.node[n].head].h.bytes <= credit;
}

/* Returns true if node n must wait because its exit has ftr_sim_exit.last set, and another exit of
 * the packet, of lower rank, has room. */
static bool not_yet(const struct sim *m, uint32_t n)
{
	const struct own *o = &m->queue.own[n - m->queue.n_voq];

	if (!o->exit.last)
		return false;
	for (uint32_t i = m->pool.pkt[m->queue.node[n].head].nodes; i != NONE;
	     i = m->queue.node[i].tail)
		if (m->queue.own[i - m->queue.n_voq].exit.rank < o->exit.rank && has_room(m, i))
			return true;
	return false;
}

static bool may_start(const struct sim *m, uint32_t n)
{
	return has_room(m, n) && !not_yet(m, n);
}

/* The packet of node n leaves through its exit. */
static void take(struct sim *m, uint32_t n)
{
	const struct own o = m->queue.own[n - m->queue.n_voq];
	uint32_t p = m->queue.node[n].head;

	drop_nodes(m, p);
	if (m->fn->taken)
		m->fn->taken(m->state, &m->view, m->port_sw[o.channel], &m->pool.pkt[p].h,
			     &o.exit);
}

/* Called when the buffer at the far end of channel c has less room than before.  Packets that
 * wait for c may now use an exit with ftr_sim_exit.last.  Mark the outputs of these exits, so that
 * they choose a packet. */
static void touch_last(struct sim *m, uint32_t c, unsigned int vl)
{
	uint32_t n = m->queue.out_vl[c * m->n_vls + vl].first;

	for (; n != NONE; n = m->queue.node[n].next)
		for (uint32_t i = n < m->queue.n_voq ? NONE :
		     m->pool.pkt[m->queue.node[n].head].nodes; i != NONE; i = m->queue.node[i].tail)
			if (m->queue.own[i - m->queue.n_voq].exit.last)
				touch(m, m->queue.own[i - m->queue.n_voq].channel);
}

/* Returns the node of the best free exit of p: lowest rank, then most credit, then lowest port. */
static uint32_t best_node(const struct sim *m, uint32_t p)
{
	uint32_t best = NONE;
	const struct own *b = NULL;
	int32_t most = 0;

	for (uint32_t n = m->pool.pkt[p].nodes; n != NONE; n = m->queue.node[n].tail) {
		const struct own *o = &m->queue.own[n - m->queue.n_voq];
		int32_t credit = m->room.credit[o->channel * m->n_vls + o->exit.vl];

		if (m->ch[o->channel].busy || !may_start(m, n))
			continue;
		if (b && (o->exit.rank > b->exit.rank ||
			  (o->exit.rank == b->exit.rank && credit < most)))
			continue;
		if (b && o->exit.rank == b->exit.rank && credit == most &&
		    o->exit.port > b->exit.port)
			continue;
		best = n;
		b = o;
		most = credit;
	}
	return best;
}

/* Remove node n, which stands for one exit of a packet. A packet without exits becomes an
 * orphan. */
static void drop_exit(struct sim *m, uint32_t n)
{
	uint32_t p = m->queue.node[n].head;
	uint32_t *link = &m->pool.pkt[p].nodes;

	while (*link != n)
		link = &m->queue.node[*link].tail;
	*link = m->queue.node[n].tail;
	free_node(m, n);
	if (m->pool.pkt[p].nodes == NONE)
		sim_orphan(m, p);
}

/* ---- packets without an exit --------------------------------------------------- */

static void park(struct sim *m, uint32_t p)
{
	m->pool.pkt[p].parked = true;
	if (!FTR_GROW(m->pool.parked, m->pool.n_parked, m->pool.cap_parked))
		m->no_memory = true;
	else
		m->pool.parked[m->pool.n_parked++] = p;
}

static void unpark(struct sim *m, ftr_sw s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->pool.n_parked; i++) {
		uint32_t p = m->pool.parked[i];

		if (m->port_sw[m->pool.pkt[p].at] != s) {
			m->pool.parked[n++] = p;
			continue;
		}
		m->pool.pkt[p].parked = false;
		sim_orphan(m, p);
	}
	m->pool.n_parked = n;
}

const struct sim_extra model_extra = {
	.wait = wait_for_any, .may_start = may_start, .best = best_node, .take = take,
	.filled = touch_last, .drop = drop_exit, .park = park, .unpark = unpark,
	.start_message = start_message, .message_arrived = message_arrived,
	.lose_messages = lose_messages,
};

/* ---- other functions ---------------------------------------------------------- */

void ftr_sim_again(const struct ftr_sim_view *v, ftr_sw s)
{
	struct sim *m = v->sim;
	uint32_t first = m->f->sw[s].first_port;
	uint32_t n = m->pool.n_orphans;		/* of a change that is not complete */

	for (unsigned int p = 0; p <= m->f->sw[s].n_ports; p++)
		sim_empty_lists(m, first + p);
	unpark(m, s);
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
	drop_nodes(m, p);
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
