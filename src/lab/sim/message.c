// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages that the routing functions of switches send.  They use part of a channel's bandwidth.
 *
 * Each channel has a queue of messages.  When the channel goes down, the messages in the queue and
 * on the link are reported as lost.  Those on the link have an older epoch than the channel.
 */

#include "sim/dataplane.h"

static uint32_t new_message(struct sim *m)
{
	uint32_t i = m->mail.free_msg;

	if (i != NONE) {
		m->mail.free_msg = m->mail.msg[i].next;
		return i;
	}
	if (!FTR_GROW(m->mail.msg, m->mail.n_msg, m->mail.cap_msg)) {
		m->no_memory = true;
		return NONE;
	}
	return m->mail.n_msg++;
}

void ftr_sim_send(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		  uint32_t bytes, bool after, uint64_t what)
{
	struct sim *m = v->sim;
	uint32_t c = m->f->sw[s].first_port + port, i = new_message(m);
	struct list *l = &m->mail.messages[c];

	if (i == NONE)
		return;
	m->mail.msg[i] = (struct message){ what, c, bytes, NONE, m->ch[c].epoch,
					after };
	if (l->first == NONE)
		l->first = i;
	else
		m->mail.msg[l->last].next = i;
	l->last = i;
	touch(m, c);
}

bool sim_message_waits(const struct sim *m, uint32_t c)
{
	return m->mail.messages[c].first != NONE;
}

bool sim_message_due(const struct sim *m, uint32_t c)
{
	return sim_message_waits(m, c) && !m->ch[c].message_sent &&
	       !m->mail.msg[m->mail.messages[c].first].after;
}

static uint32_t first_message(struct sim *m, uint32_t c)
{
	uint32_t i = m->mail.messages[c].first;

	m->mail.messages[c].first = m->mail.msg[i].next;
	return i;
}

void sim_message_start(struct sim *m, uint32_t c)
{
	struct channel *h = &m->ch[c];
	uint32_t i = first_message(m, c);
	uint64_t wire = wire_ps(h, m->mail.msg[i].bytes);

	h->busy = h->message_sent = true;
	h->packet = h->from = NONE;
	result_busy(m, h, wire);
	sim_push(m, m->now + wire, EV_FREE, c, 0);
	sim_push(m, m->now + wire + h->link_ps, EV_MESSAGE, i, 0);
}

void sim_message_event(struct sim *m, uint32_t i)
{
	const struct message g = m->mail.msg[i];

	m->mail.msg[i].next = m->mail.free_msg;
	m->mail.free_msg = i;
	m->fn->message(m->state, &m->view, g.what, m->ch[g.channel].epoch != g.epoch);
}

/* Report the queued messages of c as lost. c has just gone down. */
void sim_messages_lost(struct sim *m, uint32_t c)
{
	while (sim_message_waits(m, c))
		sim_push(m, m->now, EV_MESSAGE, first_message(m, c), 0);
}
