// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sources: when packets are created, and where they go.
 *
 * Packets that a source has created wait in front of its channel, in any number.  They take no
 * memory: only the creation time of the next packet is stored, and its struct packet is allocated
 * when the packet can leave.
 *
 * Each source has its own random generator, seeded by (seed, station).  So the traffic is the same
 * for all tables and all routing functions, with two exceptions.  At a load of 1 or more, a packet
 * is created when it leaves.  If conf.traffic.spare_dead is true, a destination depends on the links that
 * are up when it is drawn.
 */
#include <math.h>
#include <string.h>

#include "sim/dataplane.h"

#define EP_OK(f, e) ((f)->ep[e].lid && (f)->ep[e].sw != FTR_SW_NONE)

/* ---- set-up ----------------------------------------------------------------- */

static enum ftr_status take_order(struct sim *m, struct ftr_err *err)
{
	const struct ftr_sim_traffic *c = &m->conf->traffic;
	const struct ftr_fabric *f = m->f;
	uint32_t n = c->order ? c->n_order : f->n_ep;

	if (!FTR_NEW(m->arena, m->traffic.order, n + 1u) ||
	    !FTR_NEW(m->arena, m->traffic.perm, n + 1u) ||
	    !FTR_NEW(m->arena, m->traffic.place_of, f->n_ep + 1u) ||
	    !FTR_ZNEW(m->arena, m->traffic.src, m->n_st + 1u))
		return ftr_nomem(err, "the traffic of %u host ports", f->n_ep);
	memset(m->traffic.place_of, 0xff, (f->n_ep + 1u) * sizeof(*m->traffic.place_of));
	for (uint32_t i = 0; i < n; i++) {
		ftr_ep e = c->order ? c->order[i] : i;
		bool gap = e == FTR_EP_NONE || !EP_OK(f, e);

		/* A gap (a place without a host) matters only for shifts. */
		if (gap && c->pattern != FTR_SIM_SHIFT)
			continue;
		m->traffic.order[m->traffic.n_order] = gap ? FTR_EP_NONE : e;
		if (!gap)
			m->traffic.place_of[e] = m->traffic.n_order;
		m->traffic.n_order++;
	}
	return FTR_OK;
}

static enum ftr_status take_pairs(struct sim *m, struct ftr_err *err)
{
	const struct ftr_sim_traffic *c = &m->conf->traffic;
	uint32_t sum = 0;

	if (!FTR_NEW(m->arena, m->traffic.pair_of, c->n_pairs + 1u))
		return ftr_nomem(err, "%u pairs", c->n_pairs);
	for (uint32_t i = 0; i < c->n_pairs; i++)
		m->traffic.src[c->pair[i].from].n_pairs++;
	for (uint32_t st = 0; st < m->n_st; st++) {
		m->traffic.src[st].place = sum;
		sum += m->traffic.src[st].n_pairs;
		m->traffic.src[st].n_pairs = 0;
	}
	for (uint32_t i = 0; i < c->n_pairs; i++) {
		struct source *x = &m->traffic.src[c->pair[i].from];

		m->traffic.pair_of[x->place + x->n_pairs++] = i;
	}
	return FTR_OK;
}

static bool has_target(const struct sim *m, ftr_ep e)
{
	uint32_t i = m->traffic.place_of[e], to;

	if (m->conf->traffic.pattern == FTR_SIM_PAIRS)
		return m->traffic.src[e].n_pairs > 0;
	if (m->conf->traffic.pattern == FTR_SIM_STEPS)
		return m->traffic.steps.first_out[e] < m->traffic.steps.first_out[e + 1];
	if (i == NONE)
		return false;
	switch (m->conf->traffic.pattern) {
	case FTR_SIM_PERMUTATION:
		return m->traffic.perm[i] != i;
	case FTR_SIM_SHIFT:
		to = (uint32_t)(((uint64_t)i + m->conf->traffic.shift) % m->traffic.n_order);
		return to != i && m->traffic.order[to] != FTR_EP_NONE;
	default:
		return m->traffic.n_order > 1;
	}
}

static uint64_t gap(struct source *x, bool periodic)
{
	double u;

	if (periodic)
		return (uint64_t)llround(x->gap_ps);
	u = ((double)(ftr_rng_next(&x->rng) >> 11) + 0.5) * 0x1p-53;
	return (uint64_t)llround(-log(u) * x->gap_ps);
}

static void start_source(struct sim *m, uint32_t st, double load)
{
	const struct channel *c = &m->ch[m->n_ports + st];
	struct source *x = &m->traffic.src[st];
	struct ftr_sim_class *k = class_of(m, st);

	x->active = true;
	x->saturated = load >= 1;
	k->sources++;
	k->capacity += 8e12 * 1024 / c->ps1024;
	if (!x->saturated) {
		x->gap_ps = (double)wire_ps(c, m->conf->traffic.bytes) / load;
		x->next_make = m->conf->traffic.periodic ?
			ftr_rng_next(&x->rng) % (uint64_t)(x->gap_ps + 1) :
			gap(x, false);
	}
	touch(m, m->n_ports + st);
}

enum ftr_status sim_sources(struct sim *m, struct ftr_err *err)
{
	const struct ftr_sim_traffic *c = &m->conf->traffic;
	const struct ftr_fabric *f = m->f;
	enum ftr_status st = take_order(m, err);
	struct ftr_rng rng;

	if (!st && c->pattern == FTR_SIM_PAIRS)
		st = take_pairs(m, err);
	if (!st && c->pattern == FTR_SIM_STEPS)
		st = steps_init(m, err);
	if (st)
		return st;
	ftr_rng_seed(&rng, m->r->seed ^ UINT64_C(0x5eed0f0de5));
	ftr_rng_perm(&rng, m->traffic.perm, m->traffic.n_order);
	for (uint32_t i = 0; i < m->n_st; i++) {
		ftr_rng_seed(&m->traffic.src[i].rng, m->r->seed *
			     UINT64_C(0x9e3779b97f4a7c15) + i + 1);
		m->traffic.src[i].bytes = c->bytes;
	}
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (c->load > 0 && EP_OK(f, e) && has_target(m, e))
			start_source(m, e, c->load);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (c->switch_load > 0 && f->sw[s].lid && f->n_sw > 1)
			start_source(m, f->n_ep + s, c->switch_load);
	return FTR_OK;
}

/* ---- a packet ----------------------------------------------------------------- */

/* Returns a random number below n, but never i. n must be at least 2. */
static uint32_t other(struct source *x, uint32_t n, uint32_t i)
{
	uint32_t to = ftr_rng_below(&x->rng, n - 1);

	return to + (to >= i);
}

/* Returns true if the link or the switch of host port e is down. */
static bool cut_off(const struct sim *m, ftr_ep e)
{
	return !m->ch[m->n_ports + e].up;
}

static ftr_ep any_target(struct sim *m, struct source *x, uint32_t i)
{
	ftr_ep e = m->traffic.order[other(x, m->traffic.n_order, i)];

	/* If 64 random ports are all cut off, the packet is sent to a port that may be cut off. */
	for (int t = 0; t < 64 && m->conf->traffic.spare_dead && cut_off(m, e); t++)
		e = m->traffic.order[other(x, m->traffic.n_order, i)];
	return e;
}

static ftr_ep host_target(struct sim *m, struct source *x, ftr_ep e)
{
	const struct ftr_sim_traffic *c = &m->conf->traffic;
	uint32_t i = m->traffic.place_of[e], n = m->traffic.n_order;
	ftr_ep hot;

	switch (c->pattern) {
	case FTR_SIM_PAIRS:
		i = m->traffic.pair_of[x->place + x->cursor];
		x->cursor = (x->cursor + 1) % x->n_pairs;
		return c->pair[i].to;
	case FTR_SIM_STEPS:
		return c->transfer[x->transfer].to;
	case FTR_SIM_PERMUTATION:
		return m->traffic.order[m->traffic.perm[i]];
	case FTR_SIM_SHIFT:
		return m->traffic.order[((uint64_t)i + c->shift) % n];
	case FTR_SIM_ALL_TO_ALL:
		x->cursor = x->cursor % (n - 1) + 1;
		return m->traffic.order[(i + x->cursor) % n];
	case FTR_SIM_HOTSPOT:
		hot = c->hot[ftr_rng_below(&x->rng, c->n_hot)];
		if (ftr_rng_below(&x->rng, 100) < c->hot_percent && hot != e)
			return hot;
		break;
	case FTR_SIM_UNIFORM:
		break;
	}
	return any_target(m, x, i);
}

/* Returns the LID of a random switch other than s; 0: none was found. */
static ftr_lid switch_target(struct sim *m, struct source *x, ftr_sw s)
{
	for (int i = 0; i < 64; i++) {
		ftr_sw to = other(x, m->f->n_sw, s);

		if (m->f->sw[to].lid)
			return m->f->sw[to].lid;
	}
	return 0;
}

static void draw(struct sim *m, uint32_t st)
{
	const struct ftr_sim_traffic *c = &m->conf->traffic;
	struct source *x = &m->traffic.src[st];
	unsigned int sl = FTR_SL_NONE;
	bool host = st < m->f->n_ep;

	if (host)
		x->dlid = m->f->ep[host_target(m, x, st)].lid;
	else
		x->dlid = switch_target(m, x, st - m->f->n_ep);
	if (c->path_sl && x->dlid <= c->path_sl->max_lid)
		sl = ftr_path_sl_get(c->path_sl, st, x->dlid);
	x->sl = sl != FTR_SL_NONE ? (uint8_t)sl :
		host ? c->host_sl : c->switch_sl;
	x->vl = (uint8_t)(x->sl % m->n_vls);
	x->has_head = true;
}

bool sim_source_head(struct sim *m, uint32_t st)
{
	struct source *x = &m->traffic.src[st];

	if (x->has_head)
		return true;
	if (!x->active)
		return false;
	if (m->conf->traffic.pattern == FTR_SIM_STEPS && st < m->f->n_ep && !steps_next(m, st))
		return false;
	if (x->saturated) {
		draw(m, st);
		return true;
	}
	if (x->next_make > m->now) {
		if (!x->waiting)
			sim_push(m, x->next_make, EV_MAKE, st, 0);
		x->waiting = true;
		return false;
	}
	x->made = x->next_make;
	x->next_make += gap(x, m->conf->traffic.periodic);
	if (x->made >= m->warm)
		class_of(m, st)->offered++;
	draw(m, st);
	return true;
}

void sim_sources_end(struct sim *m)
{
	for (uint32_t st = 0; st < m->n_st; st++) {
		struct source *x = &m->traffic.src[st];

		if (!x->active)
			continue;
		if (x->saturated && m->end > m->warm)
			class_of(m, st)->offered += (m->end - m->warm) /
				wire_ps(&m->ch[m->n_ports + st], m->conf->traffic.bytes);
		for (; !x->saturated && x->next_make < m->end;
		     x->next_make += gap(x, m->conf->traffic.periodic))
			if (x->next_make >= m->warm)
				class_of(m, st)->offered++;
	}
}
