// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Single paths: a histogram of their lengths, the unreachable pairs, and the
 * switches that are physically connected.
 *
 * Towards one LID every switch has one next hop. From each switch the path is
 * followed up to the first switch whose distance is known. Then the distances
 * are filled in backwards, so that each switch is visited at most twice: O(n_sw
 * * LIDs).
 */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include <ftr/check.h>

enum { UNKNOWN = 0, LOST = 1, KNOWN = 2 };	/* KNOWN + number of hops */

struct walk {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	uint32_t *dist;		/* [n_sw] */
	ftr_sw *stack;		/* [n_sw] */
	uint64_t *sources;	/* [n_sw] number of host ports that send */
};

/* The next switch after s on the path to lid; FTR_SW_NONE if there is none. */
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
		w->dist[s] = LOST;	/* LOST if the path comes back here */
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

/* Reset all distances except that of the last switch before lid, which is known. */
static void start_lid(struct walk *w, ftr_sw last, ftr_port port, ftr_lid lid)
{
	memset(w->dist, 0, w->f->n_sw * sizeof(*w->dist));
	if (last != FTR_SW_NONE)
		w->dist[last] = ftr_tables_get(w->t, last, lid) == port ?
				KNOWN : LOST;
}

static void count_lid(struct walk *w, const struct ftr_endport *to,
		      ftr_lid lid, uint64_t *hist)
{
	start_lid(w, to->sw, to->sw_port, lid);
	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		uint64_t n = w->sources[s] - (s == to->sw);
		uint32_t d = n ? distance(w, s, lid) : LOST;

		if (d < KNOWN)
			continue;
		d -= KNOWN;
		hist[d < FTR_HOPS_MAX ? d : FTR_HOPS_MAX - 1] += n;
	}
}

static enum ftr_status walk_new(struct walk *w, const struct ftr_fabric *f,
				const struct ftr_tables *t, struct ftr_err *err)
{
	size_t n = (size_t)f->n_sw + 1;

	*w = (struct walk){ f, t, NULL, NULL, NULL };
	if (t->n_sw != f->n_sw || t->max_lid != f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	w->dist = ftr_calloc(n, sizeof(*w->dist));
	w->stack = ftr_calloc(n, sizeof(*w->stack));
	w->sources = ftr_calloc(n, sizeof(*w->sources));
	if (!w->dist || !w->stack || !w->sources)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the paths of %u switches",
				f->n_sw);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			w->sources[f->ep[e].sw]++;
	return FTR_OK;
}

static void walk_free(struct walk *w)
{
	free(w->dist);
	free(w->stack);
	free(w->sources);
}

enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err)
{
	struct walk w;
	enum ftr_status st = walk_new(&w, f, t, err);

	memset(hist, 0, FTR_HOPS_MAX * sizeof(*hist));
	for (ftr_ep e = 0; !st && e < f->n_ep; e++) {
		const struct ftr_endport *to = &f->ep[e];

		if (to->sw == FTR_SW_NONE || !to->lid)
			continue;
		for (unsigned int i = 0; i < 1u << to->lmc; i++)
			count_lid(&w, to, (ftr_lid)(to->lid + i), hist);
	}
	walk_free(&w);
	return st;
}

enum ftr_status ftr_check_lost(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       const struct ftr_check_report *r, ftr_lost_fn fn,
			       void *ctx, struct ftr_err *err)
{
	bool lost_ep = !r || r->bad[FTR_CHECK_HOST_HOST] ||
		       r->bad[FTR_CHECK_SW_HOST];
	bool lost_sw = !r || r->bad[FTR_CHECK_HOST_SW] ||
		       r->bad[FTR_CHECK_SW_SW];
	struct walk w;
	enum ftr_status st = walk_new(&w, f, t, err);

	for (uint32_t lid = 1; !st && lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		bool ep = o->kind == FTR_OWNER_EP;

		if (o->kind == FTR_OWNER_NONE || !(ep ? lost_ep : lost_sw))
			continue;
		start_lid(&w, ep ? f->ep[o->idx].sw : o->idx,
			  ep ? f->ep[o->idx].sw_port : 0, (ftr_lid)lid);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (distance(&w, s, (ftr_lid)lid) == LOST)
				fn(ctx, s, (ftr_lid)lid);
	}
	walk_free(&w);
	return st;
}

void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part)
{
	ftr_uf_init(part, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(part, s, port->peer);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		part[s] = ftr_uf_find(part, s);
}
