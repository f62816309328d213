// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long paths are: a histogram over pairs of end ports.
 *
 * Towards one LID the next hops form a graph in which every switch has one way
 * on.  From each switch with end ports the path is followed up to the first
 * switch whose distance is known, then the distances are filled in backwards,
 * so each switch is passed twice at most: O(n_sw * LIDs of end ports).
 */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include <ftr/check.h>

enum { UNKNOWN = 0, LOST = 1, KNOWN = 2 };	/* KNOWN + hops */

struct walk {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	uint32_t *dist;		/* [n_sw] */
	ftr_sw *stack;		/* [n_sw] */
	uint64_t *sources;	/* [n_sw] end ports that send */
};

/* The switch that a packet for lid at s goes to, FTR_SW_NONE: to none. */
static ftr_sw next_of(const struct walk *w, ftr_sw s, ftr_lid lid)
{
	ftr_port p = ftr_tables_get(w->t, s, lid);
	const struct ftr_swport *port;

	if (!p || p > w->f->sw[s].n_ports)
		return FTR_SW_NONE;
	port = ftr_fabric_port(w->f, s, p);
	return port->peer_kind == FTR_PEER_SW ? port->peer : FTR_SW_NONE;
}

static uint32_t distance(struct walk *w, ftr_sw from, ftr_lid lid)
{
	uint32_t depth = 0, d;
	ftr_sw s = from;

	while (s != FTR_SW_NONE && w->dist[s] == UNKNOWN) {
		w->dist[s] = LOST;	/* what comes back here is lost */
		w->stack[depth++] = s;
		s = next_of(w, s, lid);
	}
	d = s == FTR_SW_NONE ? LOST : w->dist[s];
	while (depth) {
		d += d >= KNOWN;
		w->dist[w->stack[--depth]] = d;
	}
	return w->dist[from];
}

static void count_lid(struct walk *w, const struct ftr_endport *to,
		      ftr_lid lid, uint64_t *hist)
{
	memset(w->dist, 0, w->f->n_sw * sizeof(*w->dist));
	w->dist[to->sw] = ftr_tables_get(w->t, to->sw, lid) == to->sw_port ?
			  KNOWN : LOST;
	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		uint64_t n = w->sources[s] - (s == to->sw);
		uint32_t d = n ? distance(w, s, lid) : LOST;

		if (d < KNOWN)
			continue;
		d -= KNOWN;
		hist[d < FTR_HOPS_MAX ? d : FTR_HOPS_MAX - 1] += n;
	}
}

enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err)
{
	struct walk w = { f, t, NULL, NULL, NULL };
	size_t n = (size_t)f->n_sw + 1;
	enum ftr_status st = FTR_OK;

	if (t->n_sw != f->n_sw || t->max_lid != f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and %u LIDs do not belong to a fabric of %u and %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	w.dist = ftr_calloc(n, sizeof(*w.dist));
	w.stack = ftr_calloc(n, sizeof(*w.stack));
	w.sources = ftr_calloc(n, sizeof(*w.sources));
	if (!w.dist || !w.stack || !w.sources)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for path lengths");
	memset(hist, 0, FTR_HOPS_MAX * sizeof(*hist));
	for (ftr_ep e = 0; !st && e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			w.sources[f->ep[e].sw]++;
	for (ftr_ep e = 0; !st && e < f->n_ep; e++) {
		const struct ftr_endport *to = &f->ep[e];

		if (to->sw == FTR_SW_NONE || !to->lid)
			continue;
		for (unsigned int i = 0; i < 1u << to->lmc; i++)
			count_lid(&w, to, (ftr_lid)(to->lid + i), hist);
	}
	free(w.dist);
	free(w.stack);
	free(w.sources);
	return st;
}
