// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Failures and repairs of links and switches, and new tables.
 *
 * A link works if the link and the switches at both ends are up.  A fault or repair changes the
 * channels of both directions.
 *
 * A channel that goes down loses the packets on it and the packets that wait for it.  A packet with
 * other exits loses only the exit to this channel.  If fn->requeue is true, waiting packets are not
 * lost but routed again, except in a switch that goes down.
 *
 * A packet whose first byte is already in the buffer at the far end continues.  If its last byte
 * has not left the sender, the packet is marked as cut: it continues, but counts as lost when it
 * is delivered or discarded.
 */
#include <string.h>

#include "sim/dataplane.h"

void sim_orphan(struct sim *m, uint32_t p)
{
	if (!FTR_GROW(m->pool.orphan, m->pool.n_orphans, m->pool.cap_orphans))
		m->no_memory = true;
	else
		m->pool.orphan[m->pool.n_orphans++] = p;
}

/* Make orphans of all packets in queue n of channel c and VL vl. */
static void empty_queue(struct sim *m, uint32_t c, unsigned int vl, uint32_t n)
{
	struct node *q = &m->queue.node[n];
	uint32_t p = q->head, last = q->tail, next;

	sim_unlink(m, c, vl, n);
	q->head = NONE;
	for (; ; p = next) {
		next = m->pool.pkt[p].next;
		sim_orphan(m, p);
		if (p == last)
			return;
	}
}

void sim_empty_lists(struct sim *m, uint32_t c)
{
	for (unsigned int v = 0; c < m->n_ports && v < m->n_vls; v++) {
		struct list *l = &m->queue.out_vl[c * m->n_vls + v];

		while (l->first != NONE) {
			if (l->first < m->queue.n_voq)
				empty_queue(m, c, v, l->first);
			else
				m->fn->extra->drop(m, l->first);
		}
	}
}

static void kill_channel(struct sim *m, uint32_t c)
{
	struct channel *h = &m->ch[c];

	h->up = false;
	h->epoch++;
	if (h->busy && h->packet != NONE && m->pool.pkt[h->packet].id == h->packet_id)
		m->pool.pkt[h->packet].cut = true;
	sim_empty_lists(m, c);
	if (m->mail && c < m->n_ports)
		m->fn->extra->lose_messages(m, c);
}

static void revive_channel(struct sim *m, uint32_t c)
{
	struct channel *h = &m->ch[c];

	h->up = true;
	if (!h->to_station)
		for (unsigned int v = 0; v < m->n_vls; v++)
			m->room.credit[c * m->n_vls + v] = buffer_behind(m, c) -
				m->room.occ[h->dst * m->n_vls + v];
	touch(m, c);
}

static void settle(struct sim *m, enum ftr_sim_loss why)
{
	for (uint32_t i = 0; i < m->pool.n_orphans; i++) {
		uint32_t p = m->pool.orphan[i], port = m->pool.pkt[p].at;
		unsigned int vl = m->pool.pkt[p].vl;

		if (m->fn->requeue && why == FTR_SIM_LOST_QUEUE) {
			sim_route(m, p);
			continue;
		}
		sim_leave_buffer(m, p);
		sim_lose(m, p, why);
		if (m->conf->queues == FTR_SIM_FIFO && !m->broken.sw_down[m->port_sw[port]])
			sim_next_head(m, port, vl);
	}
	m->pool.n_orphans = 0;
}

/* Returns the switch port at the other end of the link of port i, or NONE. */
static uint32_t far_port(const struct sim *m, uint32_t i)
{
	const struct ftr_swport *q = &m->f->ports[i];

	if (q->peer_kind != FTR_PEER_SW)
		return NONE;
	return m->f->sw[q->peer].first_port + q->peer_port;
}

static void report_change(struct sim *m, uint32_t i)
{
	ftr_sw s = m->port_sw[i];

	if (m->fn->link && !m->broken.sw_down[s])
		m->fn->link(m->state, &m->view, s,
			    (ftr_port)(i - m->f->sw[s].first_port), m->broken.up[i]);
}

/* Take the channels of the link at port i up or down, to match the state of the link and of the
 * switches at its ends. i must not be a port 0. */
static void refresh(struct sim *m, uint32_t i)
{
	uint32_t far = far_port(m, i);
	uint32_t back = m->room.feeder[i];
	bool up = !m->broken.link_down[i] && !m->broken.sw_down[m->port_sw[i]];

	if (far != NONE)
		up = up && !m->broken.link_down[far] && !m->broken.sw_down[m->port_sw[far]];
	if (m->ch[i].up == up)
		return;
	m->broken.up[i] = up;
	if (far != NONE)
		m->broken.up[far] = up;
	if (up) {
		revive_channel(m, i);
		revive_channel(m, back);
	} else {
		kill_channel(m, i);
		kill_channel(m, back);
	}
	report_change(m, i);
	if (far != NONE)
		report_change(m, far);
}

/* Lose the remaining packets in the FIFOs of a switch that went down. Parked packets, and packets
 * that have an exit, are already lost. */
static void empty_fifos(struct sim *m, ftr_sw s)
{
	uint32_t first = m->f->sw[s].first_port * m->n_vls;
	uint32_t n = (m->f->sw[s].n_ports + 1u) * m->n_vls;

	for (uint32_t i = first; i < first + n; i++)
		while (m->queue.fifo[i].first != NONE) {
			uint32_t p = m->queue.fifo[i].first;

			sim_leave_buffer(m, p);
			sim_lose(m, p, FTR_SIM_LOST_SWITCH);
		}
}

static void change_switch(struct sim *m, ftr_sw s, bool down)
{
	uint32_t first = m->f->sw[s].first_port;
	uint32_t station = m->n_ports + m->f->n_ep + s;

	if (m->broken.sw_down[s] == down)
		return;
	m->broken.sw_down[s] = down;
	if (down) {
		/* All packets that wait in the switch are lost. */
		for (unsigned int p = 0; p <= m->f->sw[s].n_ports; p++)
			if (m->ch[first + p].up)
				kill_channel(m, first + p);
		kill_channel(m, station);
		if (m->pool.n_parked)
			m->fn->extra->unpark(m, s);
		settle(m, FTR_SIM_LOST_SWITCH);
		if (m->conf->queues == FTR_SIM_FIFO)
			empty_fifos(m, s);
		for (unsigned int p = 0; p <= m->f->sw[s].n_ports; p++)
			if (m->ch[first + p].wired && p)
				m->ch[first + p].up = m->broken.up[first + p];
	} else {
		revive_channel(m, first);
		revive_channel(m, station);
	}
	for (unsigned int p = 1; p <= m->f->sw[s].n_ports; p++)
		if (m->ch[first + p].wired)
			refresh(m, first + p);
	settle(m, FTR_SIM_LOST_QUEUE);
}

static void change_link(struct sim *m, uint32_t i, bool down)
{
	uint32_t far = far_port(m, i);

	m->broken.link_down[i] = down;
	if (far != NONE)
		m->broken.link_down[far] = down;
	refresh(m, i);
	settle(m, FTR_SIM_LOST_QUEUE);
}

void sim_change(struct sim *m, const struct ftr_sim_change *g)
{
	switch (g->kind) {
	case FTR_SIM_LINK_DOWN:
	case FTR_SIM_LINK_UP:
		change_link(m, m->f->sw[g->sw].first_port + g->port, g->kind == FTR_SIM_LINK_DOWN);
		break;
	case FTR_SIM_SWITCH_DOWN:
	case FTR_SIM_SWITCH_UP:
		change_switch(m, g->sw, g->kind == FTR_SIM_SWITCH_DOWN);
		break;
	case FTR_SIM_ENTRY:
		if (g->lid <= m->t->max_lid)
			ftr_tables_row(m->t, g->sw)[g->lid] = g->port;
		break;
	case FTR_SIM_TABLES:
		memcpy(m->t->lft, g->tables->lft, (size_t)m->t->n_sw * m->t->stride);
		break;
	}
}

enum ftr_status sim_changes(struct sim *m, struct ftr_err *err)
{
	for (uint32_t i = 0; i < m->conf->n_changes; i++)
		sim_push(m, m->conf->change[i].at, EV_CHANGE, i, 0);
	return m->no_memory ? ftr_nomem(err, "%u changes", m->conf->n_changes) : FTR_OK;
}
