// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Statistics of a run.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/dataplane.h"

/* ---- latencies ------------------------------------------------------------- */

static uint32_t bin_of(uint64_t x)
{
	unsigned int octave;

	if (x < 32)
		return (uint32_t)x;
	octave = 63u - (unsigned int)__builtin_clzll(x);
	return (octave - 4) * 32 + (uint32_t)((x >> (octave - 5)) & 31);
}

static void add_latency(struct ftr_sim_latency *l, uint64_t ps)
{
	if (!l->n || ps < l->min_ps)
		l->min_ps = ps;
	l->max_ps = FTR_MAX(l->max_ps, ps);
	l->n++;
	l->sum_ps += (double)ps;
	l->bin[bin_of(ps)]++;
}

/* ---- packets ------------------------------------------------------------------ */

static struct ftr_sim_slice *slice(struct sim *m)
{
	uint64_t all = m->conf->warm_ps + m->conf->run_ps;
	uint32_t n = m->r->n_series;

	if (!n)
		return NULL;
	return &m->r->series[FTR_MIN((uint64_t)((double)m->now / (double)all *
						n), n - 1u)];
}

void result_injected(struct sim *m, const struct packet *p)
{
	struct ftr_sim_slice *z = slice(m);

	m->r->injected++;
	m->r->in_flight++;
	m->r->max_in_flight = FTR_MAX(m->r->max_in_flight, m->r->in_flight);
	if (m->now >= m->warm)
		class_of(m, p->h.source)->injected++;
	if (z)
		z->injected++;
}

void result_delivered(struct sim *m, const struct packet *p)
{
	struct ftr_sim_class *k = class_of(m, p->h.source);
	struct ftr_sim_slice *z = slice(m);

	m->r->delivered++;
	m->r->max_hops = FTR_MAX(m->r->max_hops, p->h.hops);
	if (m->now >= m->warm) {
		k->delivered++;
		k->bytes += p->h.bytes;
		add_latency(&k->total, m->now - p->made);
		add_latency(&k->network, m->now - p->sent);
	}
	if (z) {
		z->delivered++;
		z->bytes += p->h.bytes;
		z->hops += p->h.hops;
		z->latency_ps += (double)(m->now - p->made);
	}
}

void result_lost(struct sim *m, enum ftr_sim_loss why)
{
	struct ftr_sim_slice *z = slice(m);

	m->r->lost[why]++;
	if (m->conf->traffic.pattern == FTR_SIM_STEPS)	/* the transfer never arrives completely */
		m->end = m->now;
	if (z)
		z->lost++;
}

/* Add to the busy time of channel c the part of the next `ps` picoseconds that lies within the
 * measurement. */
void result_busy(struct sim *m, struct channel *c, uint64_t ps)
{
	uint64_t from = FTR_MAX(m->now, m->warm);
	uint64_t to = FTR_MIN(m->now + ps, m->conf->warm_ps + m->conf->run_ps);

	if (to > from)
		c->busy_ps += to - from;
}

/* ---- the whole run -------------------------------------------------------------- */

static bool new_class(struct ftr_sim_class *k)
{
	k->total.bin = ftr_calloc(FTR_SIM_BINS, sizeof(uint64_t));
	k->network.bin = ftr_calloc(FTR_SIM_BINS, sizeof(uint64_t));
	return k->total.bin && k->network.bin;
}

enum ftr_status result_init(struct sim *m, struct ftr_sim_result *r, struct ftr_err *err)
{
	m->r = r;
	r->n_series = m->conf->n_series;
	r->series = ftr_calloc(r->n_series + 1u, sizeof(*r->series));
	r->channel = ftr_calloc(m->f->n_ports + m->f->n_ep + 1u, sizeof(*r->channel));
	if (!new_class(&r->host) || !new_class(&r->sw) || !r->series || !r->channel)
		return ftr_nomem(err, "the results of a run");
	return FTR_OK;
}

static void put_channels(struct sim *m)
{
	struct ftr_sim_result *r = m->r;

	for (uint32_t c = 0; c < m->n_ports + m->f->n_ep; c++) {
		const struct channel *h = &m->ch[c];
		struct ftr_sim_channel_use *u = &r->channel[r->n_channels];
		bool host = c >= m->n_ports;
		ftr_sw s = host ? FTR_SW_NONE : m->port_sw[c];

		if (!h->wired || (!host && c == m->f->sw[s].first_port))
			continue;
		u->sw = s;
		u->port = host ? 0 : (ftr_port)(c - m->f->sw[s].first_port);
		u->ep = host ? c - m->n_ports : FTR_EP_NONE;
		u->busy_ps = h->busy_ps;
		u->packets = h->packets;
		r->n_channels++;
	}
}

void result_end(struct sim *m)
{
	struct ftr_sim_result *r = m->r;

	r->end_ps = m->end;
	for (uint32_t i = 0; i < r->n_series; i++)
		if (r->series[i].delivered)
			r->series[i].latency_ps /=
				(double)r->series[i].delivered;
	put_channels(m);
	r->bytes_of_memory = ftr_arena_bytes(m->arena) +
		(uint64_t)m->t->n_sw * m->t->stride +
		m->queue.cap_node * sizeof(*m->queue.node) +
		m->queue.cap_own * sizeof(*m->queue.own) +
		m->pool.cap_pkt * sizeof(*m->pool.pkt) +
		m->heap.cap * sizeof(*m->heap.event);
}

void ftr_sim_result_fini(struct ftr_sim_result *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(r[i].host.total.bin);
		free(r[i].host.network.bin);
		free(r[i].sw.total.bin);
		free(r[i].sw.network.bin);
		free(r[i].channel);
		free(r[i].series);
		memset(&r[i], 0, sizeof(r[i]));
	}
}
