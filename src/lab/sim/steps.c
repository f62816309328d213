// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sources of FTR_SIM_STEPS: transfers that wait for earlier ones.
 *
 * The transfers of a host port are sorted by step.  Those of one step are sent at the same time:
 * the source sends one packet of each in turn.  A host port begins its next step, conf.traffic.step_ps
 * later, when its transfers of earlier steps have arrived, those from it and those to it.  The
 * transfers of the lowest unfinished step never wait, so transfers cannot block each other.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/dataplane.h"

/* Sort the transfers by (host port, step), and set first[e] to the place of the first transfer of
 * host port e.  A counting sort by host port of the transfers in the order of their steps. */
static void sort(struct sim *m, const uint32_t *by_step, bool in, uint32_t *list, uint32_t *first)
{
	const struct ftr_transfer *x = m->conf->traffic.transfer;
	uint32_t n = m->conf->traffic.n_transfers;

	for (uint32_t i = 0; i < n; i++)
		first[(in ? x[i].to : x[i].from) + 1]++;
	for (ftr_ep e = 0; e < m->f->n_ep; e++)
		first[e + 1] += first[e];
	for (uint32_t i = n; i--; ) {
		const struct ftr_transfer *y = &x[by_step[i]];

		list[--first[(in ? y->to : y->from) + 1]] = by_step[i];
	}
	/* first[e + 1] is now the first place of e */
	memmove(first, first + 1, m->f->n_ep * sizeof(*first));
	first[m->f->n_ep] = n;
}

static int by_step(const void *a, const void *b, void *sim)
{
	const struct ftr_transfer *x = ((const struct sim *)sim)->conf->traffic.transfer;
	const uint32_t *i = a, *k = b;

	return FTR_ORDER(x[*i].step, x[*k].step) ?: FTR_ORDER(*i, *k);
}

/* Move the places of host port e behind the transfers that have arrived.  If its next step may
 * begin, set the time. */
static void advance(struct sim *m, ftr_ep e)
{
	const struct ftr_transfer *x = m->conf->traffic.transfer;
	struct steps *s = &m->traffic.steps;
	uint32_t out = s->at_out[e];

	while (s->at_in[e] < s->first_in[e + 1] && !s->left[s->in[s->at_in[e]]])
		s->at_in[e]++;
	while (s->at_out[e] < s->first_out[e + 1] && !s->left[s->out[s->at_out[e]]])
		s->at_out[e]++;
	if (s->at_out[e] == s->first_out[e + 1] ||
	    (s->open[e] && x[s->out[s->at_out[e]]].step == x[s->out[out]].step))
		return;
	s->open[e] = s->at_in[e] == s->first_in[e + 1] ||
		x[s->in[s->at_in[e]]].step >= x[s->out[s->at_out[e]]].step;
	if (s->open[e]) {
		s->ready[e] = m->now + m->conf->traffic.step_ps;
		sim_push(m, s->ready[e], EV_MAKE, e, 0);
	}
}

enum ftr_status steps_init(struct sim *m, struct ftr_err *err)
{
	struct steps *s = &m->traffic.steps;
	uint32_t n = m->conf->traffic.n_transfers, n_ep = m->f->n_ep;
	uint32_t *order = ftr_calloc(n + 1u, sizeof(*order));

	if (!order || !FTR_NEW(m->arena, s->out, n + 1u) || !FTR_NEW(m->arena, s->in, n + 1u) ||
	    !FTR_NEW(m->arena, s->sent, n + 1u) || !FTR_NEW(m->arena, s->left, n + 1u) ||
	    !FTR_ZNEW(m->arena, s->first_out, n_ep + 1u) ||
	    !FTR_ZNEW(m->arena, s->first_in, n_ep + 1u) ||
	    !FTR_NEW(m->arena, s->at_out, n_ep + 1u) || !FTR_NEW(m->arena, s->at_in, n_ep + 1u) ||
	    !FTR_NEW(m->arena, s->ready, n_ep + 1u) || !FTR_ZNEW(m->arena, s->open, n_ep + 1u)) {
		free(order);
		return ftr_nomem(err, "%u transfers", n);
	}
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		s->sent[i] = 0;
		s->left[i] = m->conf->traffic.transfer[i].bytes;
	}
	qsort_r(order, n, sizeof(*order), by_step, m);
	sort(m, order, false, s->out, s->first_out);
	sort(m, order, true, s->in, s->first_in);
	free(order);
	memcpy(s->at_out, s->first_out, n_ep * sizeof(*s->at_out));
	memcpy(s->at_in, s->first_in, n_ep * sizeof(*s->at_in));
	for (ftr_ep e = 0; e < n_ep; e++)
		advance(m, e);
	return FTR_OK;
}

bool steps_next(struct sim *m, ftr_ep e)
{
	const struct ftr_transfer *x = m->conf->traffic.transfer;
	struct steps *s = &m->traffic.steps;
	struct source *src = &m->traffic.src[e];
	uint32_t first = s->at_out[e], n = 0;

	if (!s->open[e] || s->ready[e] > m->now)
		return false;
	while (first + n < s->first_out[e + 1] &&
	       x[s->out[first + n]].step == x[s->out[first]].step)
		n++;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = s->out[first + (src->cursor + k) % n];

		if (s->sent[i] == x[i].bytes)
			continue;
		src->transfer = i;
		src->bytes = (uint32_t)FTR_MIN(m->conf->traffic.bytes, x[i].bytes - s->sent[i]);
		s->sent[i] += src->bytes;
		src->cursor = (src->cursor + k + 1) % n;
		return true;
	}
	return false;
}

void steps_arrived(struct sim *m, const struct packet *p)
{
	const struct ftr_transfer *x = &m->conf->traffic.transfer[p->transfer];
	struct steps *s = &m->traffic.steps;

	s->left[p->transfer] -= p->h.bytes;
	if (s->left[p->transfer])
		return;
	advance(m, x->from);
	advance(m, x->to);
	if (++s->n_done == m->conf->traffic.n_transfers) {
		m->r->finish_ps = m->now;
		m->end = m->now;
	}
}
