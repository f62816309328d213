// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channels, buffers and queues of a fabric.
 */
#include <string.h>

#include "sim/dataplane.h"

/* Data rates of one lane in Mbit/s, without the overhead of the coding: 8b/10b up to QDR, 64b/66b
 * for higher speeds (IBA 1.3, volume 2, chapter 5). HDR, NDR and XDR: the nominal rates, a quarter
 * of 200, 400 and 800 Gbit/s. */
static const double lane_mbps[FTR_SPEED_END] = {
	[FTR_SPEED_SDR] = 2000, [FTR_SPEED_DDR] = 4000,
	[FTR_SPEED_QDR] = 8000, [FTR_SPEED_FDR10] = 10000,
	[FTR_SPEED_FDR] = 13636.36, [FTR_SPEED_EDR] = 25000,
	[FTR_SPEED_HDR] = 50000, [FTR_SPEED_NDR] = 100000,
	[FTR_SPEED_XDR] = 200000,
};

uint32_t ftr_sim_mbps(unsigned int width, enum ftr_speed speed)
{
	if ((unsigned int)speed >= FTR_SPEED_END)
		return 0;
	return (uint32_t)(lane_mbps[speed] * width + 0.5);
}

static void set_channel(struct sim *m, uint32_t c, uint32_t dst, bool station,
			uint32_t mbps, uint64_t link_ps)
{
	struct channel *h = &m->ch[c];

	h->dst = dst;
	h->to_station = station;
	h->ps1024 = (uint32_t)(8e6 * 1024 / mbps + 0.5);
	h->link_ps = (uint32_t)link_ps;
	h->wired = h->up = true;
	if (!station)
		m->room.feeder[dst] = c;
	for (unsigned int v = 0; v < m->n_vls; v++)
		m->room.credit[c * m->n_vls + v] = station ? INT32_MAX :
			buffer_behind(m, c);
}

static void set_port(struct sim *m, ftr_sw s, unsigned int p)
{
	const struct ftr_fabric *f = m->f;
	const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);
	uint32_t i = f->sw[s].first_port + p;
	uint32_t mbps = ftr_sim_mbps(q->width, (enum ftr_speed)q->speed);

	m->port_sw[i] = s;
	if (!mbps)
		mbps = m->conf->default_mbps;
	if (p == 0) {
		mbps = m->conf->traffic.switch_mbps;
		set_channel(m, i, f->n_ep + s, true, mbps, 0);
		set_channel(m, m->n_ports + f->n_ep + s, i, false, mbps, 0);
	} else if (q->peer_kind == FTR_PEER_SW) {
		set_channel(m, i, f->sw[q->peer].first_port + q->peer_port,
			    false, mbps, m->conf->link_ps);
	} else if (q->peer_kind == FTR_PEER_EP) {
		set_channel(m, i, q->peer, true, mbps, m->conf->link_ps);
		set_channel(m, m->n_ports + q->peer, i, false, mbps, m->conf->link_ps);
	}
	m->broken.up[i] = p && q->peer_kind != FTR_PEER_NONE;
}

static bool set_queues(struct sim *m)
{
	uint64_t n = 0;

	for (ftr_sw s = 0; s < m->f->n_sw; s++) {
		uint64_t width = m->f->sw[s].n_ports + 1u;

		m->queue.voq[s] = (uint32_t)n;
		n += width * width * m->n_vls;
	}
	if (n > UINT32_MAX / 4)
		return false;
	m->queue.n_voq = m->queue.n_node = m->queue.cap_node = (uint32_t)n;
	m->queue.node = ftr_malloc((size_t)n * sizeof(*m->queue.node));
	if (m->queue.node)
		memset(m->queue.node, 0xff, (size_t)n * sizeof(*m->queue.node));
	m->queue.free_node = m->pool.free_pkt = NONE;
	return m->queue.node;
}

static bool set_arrays(struct sim *m)
{
	struct ftr_arena *a = m->arena;
	size_t v = m->n_vls;
	bool fifo = m->conf->queues == FTR_SIM_FIFO;

	if (!FTR_ZNEW(a, m->ch, m->n_ch) || !FTR_NEW(a, m->room.feeder, m->n_ports) ||
	    !FTR_ZNEW(a, m->port_sw, m->n_ports) || !FTR_ZNEW(a, m->room.credit, m->n_ch * v) ||
	    !FTR_ZNEW(a, m->room.occ, m->n_ports * v) ||
	    !FTR_ZNEW(a, m->room.reading, m->n_ports * v) ||
	    !FTR_NEW(a, m->queue.fifo, fifo ? m->n_ports * v : 1) ||
	    !FTR_NEW(a, m->queue.out_vl, m->n_ports * v) ||
	    !FTR_ZNEW(a, m->queue.voq, m->f->n_sw) || !FTR_ZNEW(a, m->broken.up, m->n_ports) ||
	    !FTR_ZNEW(a, m->broken.link_down, m->n_ports) ||
	    !FTR_ZNEW(a, m->broken.sw_down, m->f->n_sw) ||
	    !FTR_ZNEW(a, m->broken.held, m->f->n_sw) ||
	    !FTR_ZNEW(a, m->due.dirty, m->n_ch) || !FTR_ZNEW(a, m->due.turn, m->n_ch))
		return false;
	memset(m->room.feeder, 0xff, m->n_ports * sizeof(*m->room.feeder));
	memset(m->queue.out_vl, 0xff, m->n_ports * v * sizeof(*m->queue.out_vl));
	if (fifo)
		memset(m->queue.fifo, 0xff, m->n_ports * v * sizeof(*m->queue.fifo));
	return true;
}

enum ftr_status sim_net(struct sim *m, struct ftr_err *err)
{
	const struct ftr_fabric *f = m->f;

	m->n_ports = f->n_ports;
	m->n_st = f->n_ep + f->n_sw;
	m->n_ch = m->n_ports + m->n_st;
	if (!set_arrays(m) || !set_queues(m))
		return ftr_nomem(err, "the queues of %u switches", f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 0; p <= f->sw[s].n_ports; p++)
			set_port(m, s, p);
	for (unsigned int v = 0; v < m->n_vls; v++)
		m->quantum[v] = m->conf->weight[v] ? m->conf->weight[v] * 64 :
				(int32_t)m->conf->traffic.bytes;
	return FTR_OK;
}
