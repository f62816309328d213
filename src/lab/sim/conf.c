// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks a configuration, fills in its defaults, and divides its runs among threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dataplane.h"

#define CHECK_PS (20 * FTR_SIM_US)

/* ---- the configuration -------------------------------------------------------- */

static void complete(struct ftr_sim_conf *c)
{
	if (!c->function)
		c->function = &ftr_sim_lft;
	if (!c->traffic.switch_mbps)
		c->traffic.switch_mbps = 2000;
	if (!c->default_mbps)
		c->default_mbps = 32000;
	if (!c->traffic.bytes)
		c->traffic.bytes = 2048;
	if (!c->n_vls)
		c->n_vls = 1;
	if (!c->buffer)
		c->buffer = FTR_SIM_PORT_BUFFER / c->n_vls;
	if (!c->switch_buffer)
		c->switch_buffer = c->buffer;
	if (!c->check_ps)
		c->check_ps = CHECK_PS;
	if (!c->runs)
		c->runs = 1;
}

static enum ftr_status check_traffic(const struct ftr_sim_traffic *c, uint32_t n_ep,
				     struct ftr_err *err)
{
	if (!(c->load >= 0) || !(c->switch_load >= 0))
		return ftr_fail(err, FTR_INVAL, "load %g is below 0",
				c->load >= 0 ? c->switch_load : c->load);
	if (c->pattern == FTR_SIM_STEPS && c->load < 1)
		return ftr_fail(err, FTR_INVAL, "load %g, but transfers in steps need at least 1",
				c->load);
	for (uint32_t i = 0; c->order && i < c->n_order; i++)
		if (c->order[i] != FTR_EP_NONE && c->order[i] >= n_ep)
			return ftr_fail(err, FTR_INVAL, "place %u of the order names host port %u, but the fabric has %u host ports",
					i, c->order[i], n_ep);
	for (uint32_t i = 0; i < c->n_pairs; i++)
		if (c->pair[i].from >= n_ep || c->pair[i].to >= n_ep)
			return ftr_fail(err, FTR_INVAL, "pair %u: from host port %u to host port %u, but the fabric has %u host ports",
					i, c->pair[i].from, c->pair[i].to, n_ep);
	for (uint32_t i = 0; i < c->n_transfers; i++)
		if (c->transfer[i].from >= n_ep || c->transfer[i].to >= n_ep ||
		    c->transfer[i].from == c->transfer[i].to || !c->transfer[i].bytes)
			return ftr_fail(err, FTR_INVAL, "transfer %u: %" PRIu64 " bytes from host port %u to host port %u, but the fabric has %u host ports",
					i, c->transfer[i].bytes, c->transfer[i].from,
					c->transfer[i].to, n_ep);
	for (uint32_t i = 0; i < c->n_hot; i++)
		if (c->hot[i] >= n_ep)
			return ftr_fail(err, FTR_INVAL, "hot spot %u is host port %u, but the fabric has %u host ports",
					i, c->hot[i], n_ep);
	if (c->pattern == FTR_SIM_HOTSPOT && !c->n_hot)
		return ftr_fail(err, FTR_INVAL, "hot spots: no host port is given");
	if (c->hot_percent > 100)
		return ftr_fail(err, FTR_INVAL, "hot spots: %u percent of the packets, but at most 100 are possible",
				c->hot_percent);
	return FTR_OK;
}

static enum ftr_status check_change(const struct ftr_sim_conf *c, uint32_t i, struct ftr_err *err)
{
	const struct ftr_sim_change *g = &c->change[i];
	bool link = g->kind <= FTR_SIM_LINK_UP;

	if (g->kind == FTR_SIM_TABLES)
		return g->tables && g->tables->n_sw == c->t->n_sw &&
		       g->tables->stride == c->t->stride ? FTR_OK :
		       ftr_fail(err, FTR_INVAL, "change %u: the tables are for another fabric", i);
	if (g->sw >= c->f->n_sw)
		return ftr_fail(err, FTR_INVAL, "change %u names switch %u, but the fabric has %u switches",
				i, g->sw, c->f->n_sw);
	if (link && (!g->port || g->port > c->f->sw[g->sw].n_ports ||
		     ftr_fabric_port(c->f, g->sw, g->port)->peer_kind == FTR_PEER_NONE))
		return ftr_fail(err, FTR_INVAL, "change %u: there is no link at port %u of switch %u",
				i, g->port, g->sw);
	return FTR_OK;
}

#define BUFFER_MAX (INT32_MAX / 4)

static enum ftr_status check_sizes(const struct ftr_sim_conf *c, struct ftr_err *err)
{
	uint32_t least = FTR_MIN(c->buffer, c->switch_buffer);
	uint32_t greatest = FTR_MAX(c->buffer, c->switch_buffer);

	if (c->traffic.bytes > UINT16_MAX)
		return ftr_fail(err, FTR_INVAL, "packets of %u bytes, but at most %d bytes are possible",
				c->traffic.bytes, UINT16_MAX);
	if (greatest > BUFFER_MAX)
		return ftr_fail(err, FTR_INVAL, "buffers of %u bytes, but at most %d bytes are possible",
				greatest, BUFFER_MAX);
	if (c->traffic.bytes > least)
		return ftr_fail(err, FTR_INVAL, "packets of %u bytes are not possible with buffers of %u byte%s",
				c->traffic.bytes, least, least == 1 ? "" : "s");
	return FTR_OK;
}

static enum ftr_status check_conf(const struct ftr_sim_conf *c, struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	if (c->t->n_sw != c->f->n_sw || c->t->max_lid < c->f->max_lid)
		return ftr_fail(err, FTR_INVAL, "the tables are for %u switches and LIDs up to %u, but the fabric has %u switches and LIDs up to %u",
				c->t->n_sw, c->t->max_lid, c->f->n_sw, c->f->max_lid);
	if (!c->run_ps)
		return ftr_fail(err, FTR_INVAL, "the duration of the measurement is 0");
	if (c->link_ps > UINT32_MAX || c->switch_ps > UINT32_MAX)
		return ftr_fail(err, FTR_INVAL, "a delay of a link or of a switch is above 4 ms");
	st = check_sizes(c, err);
	if (st)
		return st;
	if (c->n_vls > FTR_SIM_VLS || c->n_vls < c->function->min_vls)
		return ftr_fail(err, FTR_INVAL, "%u data VLs, but %u to %u are possible",
				c->n_vls, c->function->min_vls, FTR_SIM_VLS);
	for (uint32_t i = 0; i < c->n_changes; i++) {
		st = check_change(c, i, err);
		if (st)
			return st;
	}
	return check_traffic(&c->traffic, c->f->n_ep, err);
}

/* ---- a run ------------------------------------------------------------------------ */

struct job {
	const struct ftr_sim_conf *conf;
	struct ftr_sim_result *out;
	enum ftr_status *status;
	struct ftr_err *err;
};

static enum ftr_status set_up(struct sim *m, struct ftr_err *err)
{
	const struct ftr_sim_conf *c = m->conf;
	enum ftr_status st;

	m->f = c->f;
	m->fn = c->function;
	m->n_vls = c->n_vls;
	m->hops_max = m->fn->hops_max ? m->fn->hops_max : FTR_SIM_HOPS_MAX;
	m->warm = c->warm_ps;
	m->end = c->warm_ps + c->run_ps;
	m->arena = ftr_arena_new();
	m->t = ftr_calloc(1, sizeof(*m->t));
	if (!m->arena || !m->t)
		return ftr_nomem(err, "a run");
	*m->t = *c->t;
	m->t->lft = ftr_malloc((size_t)c->t->n_sw * c->t->stride + 1);
	if (!m->t->lft)
		return ftr_nomem(err, "the tables of %u switches", c->t->n_sw);
	memcpy(m->t->lft, c->t->lft, (size_t)c->t->n_sw * c->t->stride);
	st = sim_net(m, err);
	if (!st)
		st = sim_sources(m, err);
	if (!st)
		st = sim_changes(m, err);
	m->view = (struct ftr_sim_view){
		.f = m->f, .t = m->t, .sl2vl = c->sl2vl, .up = m->broken.up,
		.n_vls = m->n_vls, .arg = &c->arg, .sim = m,
		.hop_ps = FTR_MAX(c->link_ps + c->switch_ps, 1),
	};
	if (!st && m->fn->start)
		st = m->fn->start(&m->view, &m->state, err);
	if (!st)
		sim_push(m, c->check_ps, EV_CHECK, 0, 0);
	return st;
}

static void tear_down(struct sim *m)
{
	if (m->fn && m->fn->finish)
		m->fn->finish(m->state);
	free(m->heap.event);
	if (m->t)
		free(m->t->lft);
	free(m->t);
	free(m->queue.node);
	free(m->queue.own);
	free(m->pool.pkt);
	free(m->pool.fresh);
	free(m->pool.parked);
	free(m->pool.orphan);
	free(m->due.batch);
	ftr_arena_free(m->arena);
}

static enum ftr_status one_run(const struct ftr_sim_conf *c, uint32_t i,
			       bool first, struct ftr_sim_result *r, struct ftr_err *err)
{
	struct sim m = { .conf = c, .f = c->f, .run = i, .shown = first && c->progress };
	enum ftr_status st;

	memset(r, 0, sizeof(*r));
	r->seed = c->seed + i;
	st = result_init(&m, r, err);
	if (!st)
		st = set_up(&m, err);
	if (!st) {
		sim_loop(&m);
		if (!r->deadlock && !m.no_memory && !sim_check(&m))
			m.no_memory = true;
		sim_sources_end(&m);
		result_end(&m);
		if (m.no_memory)
			st = ftr_fail(err, FTR_NOMEM, "out of memory after %llu events",
				      (unsigned long long)r->events);
		if (m.needs_extra)
			st = ftr_fail(err, FTR_INVAL, "routing function %s: without ftr_sim_function.extra, a packet can neither wait nor have several exits, one with more room than 1, or taken()",
				      m.fn->name);
	}
	tear_down(&m);
	return st;
}

static void simulate_runs(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct job *j = ctx;

	for (uint32_t i = begin; i < end; i++)
		j->status[i] = one_run(j->conf, i, worker == 0, &j->out[i], &j->err[i]);
}

/* Returns the first error. */
static enum ftr_status run_all(struct job *j, struct ftr_team *team, struct ftr_err *err)
{
	uint32_t n = j->conf->runs;

	ftr_team_run(team, n, 1, simulate_runs, j);
	for (uint32_t i = 0; i < n; i++) {
		if (!j->status[i])
			continue;
		ftr_sim_result_fini(j->out, n);
		return ftr_fail(err, j->status[i], "%s", j->err[i].msg);
	}
	return FTR_OK;
}

enum ftr_status ftr_sim_run(const struct ftr_sim_conf *conf,
			    struct ftr_team *team, struct ftr_sim_result *out, struct ftr_err *err)
{
	struct ftr_sim_conf c = *conf;
	struct job j = { .conf = &c, .out = out };
	enum ftr_status st;

	complete(&c);
	st = check_conf(&c, err);
	if (st)
		return st;
	j.status = ftr_calloc(c.runs, sizeof(*j.status));
	j.err = ftr_calloc(c.runs, sizeof(*j.err));
	if (!j.status || !j.err)
		st = ftr_nomem(err, "%u runs", c.runs);
	else
		st = run_all(&j, team, err);
	free(j.status);
	free(j.err);
	return st;
}
