// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric without its drained links.
 *
 * Without the drained links the fabric falls into components: the main component, drained switches,
 * and parts that only drained links connect with the rest.  Rounds attach all components that
 * neighbour the attached ones, each by one link.  The kept links form a tree of components, so each
 * is a bridge.  If f itself is not connected, each of its islands has a main component.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include <ftr/drain.h>

struct work {
	const struct ftr_fabric *f;
	uint8_t *link;		/* [n_ports] 1: a drained link, marked at both ends */
	uint8_t *sw;		/* [n_sw] 1: drained switch */
	uint8_t *ep;		/* [n_ep] 1: drained host port */
	ftr_sw *comp;		/* [n_sw] component, named by one of its switches */
	uint32_t *hosts;	/* [n_sw] by component: number of host ports */
	uint32_t *dist;		/* [n_sw] hops from the origin */
	ftr_sw *queue;		/* [n_sw] */
	struct ftr_link *best;	/* [n_sw] by component: link that attaches it; sw FTR_SW_NONE:
				 * none */
	uint8_t *state;		/* [n_sw] by component: enum state */
};

enum state { DETACHED = 0, MAIN, ATTACHED };

static void mark_link(struct work *w, ftr_sw s, unsigned int p)
{
	const struct ftr_fabric *f = w->f;
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	if (port->peer_kind == FTR_PEER_EP)
		w->ep[port->peer] = 1;
	if (port->peer_kind != FTR_PEER_SW)
		return;
	w->link[f->sw[s].first_port + p] = 1;
	w->link[f->sw[port->peer].first_port + port->peer_port] = 1;
}

static void mark(struct work *w, const struct ftr_drains *d)
{
	const struct ftr_fabric *f = w->f;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct ftr_drain *part = &d->part[i];
		ftr_sw s = ftr_fabric_find_holder(f, part->guid);
		ftr_ep e = ftr_fabric_find_ep(f, part->guid);

		if (e != FTR_EP_NONE)
			w->ep[e] = 1;
		if (s == FTR_SW_NONE || part->port > f->sw[s].n_ports)
			continue;
		if (part->port) {
			mark_link(w, s, part->port);
			continue;
		}
		w->sw[s] = 1;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_SW)
				mark_link(w, s, p);
	}
}

/* Set dist and comp of the switches reachable from s.  Drained links are passed only with
 * comp NULL. */
static void search(struct work *w, ftr_sw s, uint32_t *dist, ftr_sw *comp)
{
	const struct ftr_fabric *f = w->f;
	uint32_t n = 0;

	w->queue[n++] = s;
	if (dist)
		dist[s] = 0;
	if (comp)
		comp[s] = s;
	for (uint32_t i = 0; i < n; i++) {
		ftr_sw at = w->queue[i];

		for (unsigned int p = 1; p <= f->sw[at].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, at, p);

			if (port->peer_kind != FTR_PEER_SW ||
			    (comp && (comp[port->peer] != FTR_SW_NONE ||
				      w->link[f->sw[at].first_port + p])) ||
			    (dist && dist[port->peer] != UINT32_MAX))
				continue;
			if (dist)
				dist[port->peer] = dist[at] + 1;
			if (comp)
				comp[port->peer] = s;
			w->queue[n++] = port->peer;
		}
	}
}

static void find_components(struct work *w, ftr_sw origin)
{
	const struct ftr_fabric *f = w->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		w->comp[s] = FTR_SW_NONE;
		w->dist[s] = UINT32_MAX;
	}
	if (origin < f->n_sw)
		search(w, origin, w->dist, NULL);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (w->comp[s] == FTR_SW_NONE)
			search(w, s, NULL, w->comp);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && !ftr_ep_is_aggregation(&f->ep[e]))
			w->hosts[w->comp[f->ep[e].sw]]++;
}

/* Of the detached components, make the one with the most hosts a main component; those without a
 * drained switch come first.  Returns false if all are attached. */
static bool next_main(struct work *w)
{
	ftr_sw best = FTR_SW_NONE;

	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		if (w->comp[s] == s && w->state[s] == DETACHED &&
		    (best == FTR_SW_NONE || w->sw[s] < w->sw[best] ||
		     (w->sw[s] == w->sw[best] && w->hosts[s] > w->hosts[best])))
			best = s;
	if (best != FTR_SW_NONE)
		w->state[best] = MAIN;
	return best != FTR_SW_NONE;
}

/* If the drained link at port p of s leads to a detached component, and is nearer to the origin
 * than the link found before, note it. */
static void consider(struct work *w, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(w->f, s, p);
	struct ftr_link *best;

	if (port->peer_kind != FTR_PEER_SW || !w->link[w->f->sw[s].first_port + p] ||
	    w->state[w->comp[port->peer]] != DETACHED)
		return;
	best = &w->best[w->comp[port->peer]];
	if (best->sw == FTR_SW_NONE || w->dist[s] < w->dist[best->sw])
		*best = (struct ftr_link){ s, port->peer, (ftr_port)p, port->peer_port };
}

/* Attach all detached components that neighbour attached ones.  Returns false if there are none. */
static bool attach(struct work *w, struct ftr_drained *out)
{
	const struct ftr_fabric *f = w->f;
	bool some = false;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		w->best[s].sw = FTR_SW_NONE;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; w->state[w->comp[s]] != DETACHED &&
		     p <= f->sw[s].n_ports; p++)
			consider(w, s, p);
	for (ftr_sw c = 0; c < f->n_sw; c++) {
		const struct ftr_link *l = &w->best[c];

		if (l->sw == FTR_SW_NONE)
			continue;
		some = true;
		w->state[c] = ATTACHED;
		w->link[f->sw[l->sw].first_port + l->port] = 0;
		w->link[f->sw[l->peer].first_port + l->peer_port] = 0;
		out->kept[out->n_kept++] = *l;
	}
	return some;
}

static void count(struct work *w, struct ftr_drained *out)
{
	const struct ftr_fabric *f = w->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			out->n_links += w->link[f->sw[s].first_port + p] &&
				ftr_is_lower_end(f, s, (ftr_port)p);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (w->ep[e] || (f->ep[e].sw != FTR_SW_NONE &&
				 !ftr_ep_is_aggregation(&f->ep[e]) &&
				 w->state[w->comp[f->ep[e].sw]] == ATTACHED))
			out->cut[out->n_cut++] = e;
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	const struct work *w = ctx;

	return !w->link[f->sw[s].first_port + p];
}

static bool new_marks(struct work *w, const struct ftr_fabric *f)
{
	w->f = f;
	w->link = ftr_calloc(f->n_ports + 1u, 1);
	w->sw = ftr_calloc(f->n_sw + 1u, 1);
	w->ep = ftr_calloc(f->n_ep + 1u, 1);
	return w->link && w->sw && w->ep;
}

static bool new_components(struct work *w)
{
	size_t n = w->f->n_sw + (size_t)1;

	w->comp = ftr_calloc(n, sizeof(*w->comp));
	w->hosts = ftr_calloc(n, sizeof(*w->hosts));
	w->dist = ftr_calloc(n, sizeof(*w->dist));
	w->queue = ftr_calloc(n, sizeof(*w->queue));
	w->best = ftr_calloc(n, sizeof(*w->best));
	w->state = ftr_calloc(n, 1);
	return w->comp && w->hosts && w->dist && w->queue && w->best && w->state;
}

static void clear(struct work *w)
{
	free(w->link);
	free(w->sw);
	free(w->ep);
	free(w->comp);
	free(w->hosts);
	free(w->dist);
	free(w->queue);
	free(w->best);
	free(w->state);
}

enum ftr_status ftr_drain_apply(const struct ftr_fabric *f, const struct ftr_drains *d,
				ftr_sw origin, struct ftr_drained *out,
				struct ftr_err *err)
{
	struct work w = { 0 };
	const struct ftr_filter filter = { .keep_link = keep_link, .ctx = &w };
	enum ftr_status st = FTR_NOMEM;

	*out = (struct ftr_drained){ .f = NULL };
	out->kept = ftr_calloc(f->n_sw + 1u, sizeof(*out->kept));
	out->cut = ftr_calloc(f->n_ep + 1u, sizeof(*out->cut));
	if (out->kept && out->cut && new_marks(&w, f) && new_components(&w)) {
		mark(&w, d);
		find_components(&w, origin);
		while (attach(&w, out) || next_main(&w))
			;
		count(&w, out);
		st = ftr_fabric_copy_if(f, &filter, &out->f, err);
	} else {
		ftr_fail(err, st, "out of memory for the drained parts");
	}
	clear(&w);
	if (st)
		ftr_drained_clear(out);
	return st;
}

void ftr_drained_clear(struct ftr_drained *d)
{
	ftr_fabric_free(d->f);
	free(d->kept);
	free(d->cut);
	*d = (struct ftr_drained){ .f = NULL };
}

/* True if f has the link at port p of switch s of the nominal fabric n. */
static bool has_link(const struct ftr_fabric *f, const struct ftr_fabric *n, ftr_sw s,
		     unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(n, s, p), *here;
	ftr_sw at = ftr_fabric_find_sw(f, n->sw[s].holder);

	if (at == FTR_SW_NONE || p > f->sw[at].n_ports)
		return false;
	here = ftr_fabric_port(f, at, p);
	return here->peer_kind == FTR_PEER_SW && here->peer_port == port->peer_port &&
		f->sw[here->peer].guid == n->sw[port->peer].holder;
}

static void count_missing(const struct work *w, const struct ftr_fabric *f,
			  struct ftr_drain_count *out)
{
	const struct ftr_fabric *n = w->f;

	for (ftr_sw s = 0; s < n->n_sw; s++) {
		out->switches += w->sw[s] &&
			ftr_fabric_find_sw(f, n->sw[s].holder) == FTR_SW_NONE;
		for (unsigned int p = 1; p <= n->sw[s].n_ports; p++)
			out->links += w->link[n->sw[s].first_port + p] &&
				ftr_is_lower_end(n, s, (ftr_port)p) && !has_link(f, n, s, p);
	}
	for (ftr_ep e = 0; e < n->n_ep; e++) {
		ftr_ep at = ftr_fabric_find_ep(f, n->ep[e].guid);

		out->hosts += (w->ep[e] || (n->ep[e].sw != FTR_SW_NONE && w->sw[n->ep[e].sw])) &&
			(at == FTR_EP_NONE || f->ep[at].sw == FTR_SW_NONE);
	}
}

enum ftr_status ftr_drain_missing(const struct ftr_fabric *n, const struct ftr_fabric *f,
				  const struct ftr_drains *d, struct ftr_drain_count *out,
				  struct ftr_err *err)
{
	struct work w = { 0 };
	enum ftr_status st = FTR_OK;

	*out = (struct ftr_drain_count){ 0 };
	if (new_marks(&w, n)) {
		mark(&w, d);
		count_missing(&w, f, out);
	} else {
		st = ftr_nomem(err, "the drained parts");
	}
	clear(&w);
	return st;
}
