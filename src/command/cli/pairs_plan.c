// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plans the pairs of ibfattree pairs.
 *
 * The path of a pair depends only on the leaf of its first host and on its second host.  So one
 * walk from every leaf to every host port finds the candidates of each link.  A random sample of
 * SAMPLE candidates per link is kept.
 *
 * A round takes the uncovered links one after the other, and for each of them the first candidate
 * whose links and nodes are free in this round.  The first uncovered link of a round always finds
 * one, so the plan ends, and a link stays uncovered only if it has no candidate.  The number of
 * rounds is not minimal.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/pairs.h"

#define SAMPLE 32

/* The candidates of one link, or of all links from hosts to one leaf. */
struct sample {
	uint32_t seen;		/* number of candidates, of which at most SAMPLE are kept */
	ftr_sw leaf[SAMPLE];	/* the switch of the first host */
	ftr_ep to[SAMPLE];	/* the second host */
};

/* Sets p->path to the links from the leaf to the host port `to`.  Returns false if the tables do
 * not lead there. */
static bool walk(struct pairs *p, ftr_sw leaf, ftr_ep to)
{
	p->hops = ftr_tables_path(p->f, p->t, leaf, p->f->ep[to].lid, p->path);
	return p->hops != FTR_NO_PATH;
}

/* Returns the best first host on the leaf: one whose link is not covered yet, or else any.  Nodes
 * that are busy are left out.  only: FTR_EP_NONE, or the only host to choose from. */
static ftr_ep first_host(const struct pairs *p, ftr_sw leaf, ftr_ep to, ftr_ep only)
{
	const struct ftr_fabric *f = p->f;
	ftr_ep best = FTR_EP_NONE;

	for (unsigned int port = 1; port <= f->sw[leaf].n_ports; port++) {
		const struct ftr_swport *x = ftr_fabric_port(f, leaf, port);

		if (x->peer_kind != FTR_PEER_EP || !p->name[x->peer] ||
		    (only != FTR_EP_NONE && x->peer != only) ||
		    f->ep[x->peer].node == f->ep[to].node || p->busy[f->ep[x->peer].node])
			continue;
		if (!p->covered[f->n_ports + x->peer])
			return x->peer;
		best = x->peer;
	}
	return best;
}

static void add_candidate(struct pairs *p, struct sample *x, ftr_sw leaf, ftr_ep to)
{
	uint32_t at = x->seen;

	if (at >= SAMPLE)
		at = (uint32_t)(cli_draw(&p->random) % (x->seen + 1));
	x->seen++;
	if (at < SAMPLE) {
		x->leaf[at] = leaf;
		x->to[at] = to;
	}
}

static void find_candidates(struct pairs *p)
{
	for (ftr_sw s = 0; s < p->f->n_sw; s++)
		for (ftr_ep e = 0; e < p->f->n_ep; e++) {
			if (!p->name[e] || first_host(p, s, e, FTR_EP_NONE) == FTR_EP_NONE ||
			    !walk(p, s, e))
				continue;
			add_candidate(p, &p->of_leaf[s], s, e);
			for (uint32_t i = 0; i < p->hops; i++)
				add_candidate(p, &p->of_link[p->path[i]], s, e);
		}
}

/* Adds the pair to the plan if its links are free.  Returns true if it was added. */
static bool add_pair(struct pairs *p, ftr_sw leaf, ftr_ep from, ftr_ep to)
{
	if (from == FTR_EP_NONE || p->busy[p->f->ep[to].node] || !walk(p, leaf, to))
		return false;
	p->path[p->hops++] = p->f->n_ports + from;
	for (uint32_t i = 0; i < p->hops; i++)
		if (p->used[p->path[i]])
			return false;
	p->pair[p->n++] = (struct ftr_transfer){ from, to, p->rounds, 0 };
	p->busy[p->f->ep[from].node] = p->busy[p->f->ep[to].node] = 1;
	for (uint32_t i = 0; i < p->hops; i++) {
		p->used[p->path[i]] = 1;
		p->n_covered += !p->covered[p->path[i]];
		p->covered[p->path[i]] = 1;
	}
	return true;
}

/* The candidates of a link; NULL: it is no link, or leads from or to a host that takes no part. */
static const struct sample *sample_of(const struct pairs *p, uint32_t link, ftr_ep *only)
{
	const struct ftr_fabric *f = p->f;

	*only = FTR_EP_NONE;
	if (link < f->n_ports)
		return f->ports[link].peer_kind == FTR_PEER_SW ||
			(f->ports[link].peer_kind == FTR_PEER_EP &&
			 p->name[f->ports[link].peer]) ? &p->of_link[link] : NULL;
	*only = link - f->n_ports;
	return p->name[*only] ? &p->of_leaf[f->ep[*only].sw] : NULL;
}

/* Covers the link in this round, if possible. */
static bool cover_link(struct pairs *p, uint32_t link)
{
	ftr_ep only;
	const struct sample *x = sample_of(p, link, &only);

	for (uint32_t i = 0; x && i < SAMPLE && i < x->seen; i++)
		if (add_pair(p, x->leaf[i], first_host(p, x->leaf[i], x->to[i], only), x->to[i]))
			return true;
	return false;
}

static void plan_rounds(struct pairs *p)
{
	uint32_t n = p->f->n_ports + p->f->n_ep;
	bool some = true;
	ftr_ep only;

	while (some) {
		some = false;
		memset(p->used, 0, n);
		memset(p->busy, 0, p->f->n_nodes);
		for (uint32_t link = 0; link < n; link++)
			if (!p->covered[link])
				some |= cover_link(p, link);
		p->rounds += some;
	}
	for (uint32_t link = 0; link < n; link++)
		p->n_left += !p->covered[link] && sample_of(p, link, &only);
}

void pairs_plan(struct pairs *p)
{
	uint32_t n = p->f->n_ports + p->f->n_ep;

	p->of_link = cli_calloc(p->f->n_ports + 1u, sizeof(*p->of_link), "the pairs");
	p->of_leaf = cli_calloc(p->f->n_sw + 1u, sizeof(*p->of_leaf), "the pairs");
	p->path = cli_calloc(p->f->n_sw + 1u, sizeof(*p->path), "the pairs");
	p->used = cli_calloc(n + 1u, 1, "the pairs");
	p->busy = cli_calloc(p->f->n_nodes + 1u, 1, "the pairs");
	/* each pair covers at least one more link */
	p->pair = cli_calloc(n + 1u, sizeof(*p->pair), "the pairs");
	p->covered = cli_calloc(n + 1u, 1, "the pairs");
	find_candidates(p);
	plan_rounds(p);
	free(p->path);
	free(p->of_link);
	free(p->of_leaf);
	free(p->used);
	free(p->busy);
}
