// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What no routing can avoid: cuts.
 *
 * If h of all n hosts are on one side of a cut, h * (n - h) flows cross it in
 * each direction, so one of its c links carries at least that divided by c.  Tried
 * are the cuts around every switch; around every set of switches that is
 * connected at ranks up to r (pods) or from r on (planes), for every r; and
 * around what is below every switch.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct cuts {
	const struct ftr_shape *sh;
	uint32_t *hosts;	/* [n_sw] hosts of a switch */
	uint64_t all;
	uint32_t *uf, *inside, *links;	/* [n_sw] */
	uint32_t bound;
};

static void try_cut(struct cuts *c, uint64_t inside, uint64_t links)
{
	uint64_t flows = inside * (c->all - inside);

	if (links && flows)
		c->bound = (uint32_t)FTR_MAX(c->bound,
					     (flows + links - 1) / links);
}

/* Sets of switches by representative in c->uf. */
static void try_sets(struct cuts *c)
{
	const struct ftr_fabric *f = c->sh->f;

	memset(c->inside, 0, f->n_sw * sizeof(*c->inside));
	memset(c->links, 0, f->n_sw * sizeof(*c->links));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint32_t set = ftr_uf_find(c->uf, s);

		c->inside[set] += c->hosts[s];
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				c->links[set] += ftr_uf_find(c->uf,
							     port->peer) != set;
		}
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (c->inside[s])
			try_cut(c, c->inside[s], c->links[s]);
}

/* Switches of rank low .. high that are joined inside this range. */
static void join(struct cuts *c, uint32_t low, uint32_t high)
{
	const struct ftr_shape *sh = c->sh;
	const struct ftr_fabric *f = sh->f;

	ftr_uf_init(c->uf, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (sh->tier[s] < low || sh->tier[s] > high)
			continue;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW &&
			    sh->tier[port->peer] >= low &&
			    sh->tier[port->peer] <= high)
				ftr_uf_union(c->uf, s, port->peer);
		}
	}
}

static uint32_t top_tier(const struct ftr_shape *sh)
{
	uint32_t top = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		top = FTR_MAX(top, sh->tier[s]);
	return top;
}

static bool is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
	       !ftr_ep_is_aggregation(p);
}

enum ftr_status ftr_balance_bound(const struct ftr_shape *sh, uint32_t *bound,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = sh->f;
	struct cuts c = { .sh = sh };
	uint32_t top = top_tier(sh);

	c.hosts = ftr_calloc(4 * (size_t)f->n_sw + 1, sizeof(*c.hosts));
	if (!c.hosts)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the bound");
	c.uf = c.hosts + f->n_sw;
	c.inside = c.uf + f->n_sw;
	c.links = c.inside + f->n_sw;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (is_host(&f->ep[e])) {
			c.hosts[f->ep[e].sw]++;
			c.all++;
		}
	ftr_uf_init(c.uf, f->n_sw);
	try_sets(&c);
	for (uint32_t r = 0; r < top; r++) {
		join(&c, 0, r);
		try_sets(&c);
		join(&c, r + 1, top);
		try_sets(&c);
	}
	*bound = c.bound;
	free(c.hosts);
	return FTR_OK;
}
