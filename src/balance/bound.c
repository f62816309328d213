// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A lower bound for all routings, from cuts.
 *
 * An island is a connected component of the fabric. If h of its n hosts are on one side of a cut,
 * h * (n - h) flows cross the cut in each direction, so one of its c links carries at least that
 * number divided by c. The cuts examined are
 * those around every switch, and around every set of switches that is connected over switches of
 * ranks up to r (a pod), or of ranks from r on (a plane), for every r. If some links are
 * horizontal, the same sets without these links are examined, too: so two trees that are joined by
 * links between their spines are two sets.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct cuts {
	const struct ftr_shape *sh;
	const uint32_t *hosts;	/* hosts[s]: number of hosts on switch s */
	uint32_t *all;		/* all[s]: number of hosts of the island of switch s */
	uint32_t *uf, *inside, *links;	/* uf: union-find of switches, [n_sw]. inside[r], links[r]:
					 * hosts in the set with representative r, and links that
					 * leave the set */
	uint32_t bound;
};

static void try_cut(struct cuts *c, uint64_t inside, uint64_t all,
		    uint64_t links)
{
	uint64_t flows = inside * (all - inside);

	if (links && flows)
		c->bound = (uint32_t)FTR_MAX(c->bound,
					     (flows + links - 1) / links);
}

/* Try the cut around each set of switches in c->uf. */
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
			try_cut(c, c->inside[s], c->all[s], c->links[s]);
}

/* Join the switches of ranks low .. high that are connected by links between switches of these
 * ranks. horizontal: horizontal links count. */
static void join(struct cuts *c, uint32_t low, uint32_t high, bool horizontal)
{
	const struct ftr_shape *sh = c->sh;
	const struct ftr_fabric *f = sh->f;

	ftr_uf_init(c->uf, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (sh->tree.tier[s] < low || sh->tree.tier[s] > high)
			continue;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW &&
			    sh->tree.tier[port->peer] >= low &&
			    sh->tree.tier[port->peer] <= high &&
			    (horizontal ||
			     sh->tree.tier[port->peer] != sh->tree.tier[s]))
				ftr_uf_union(c->uf, s, port->peer);
		}
	}
}

/* Count the hosts of the island of every switch. */
static void count_islands(struct cuts *c, uint32_t top)
{
	uint32_t n_sw = c->sh->f->n_sw;

	join(c, 0, top, true);
	memset(c->inside, 0, n_sw * sizeof(*c->inside));
	for (ftr_sw s = 0; s < n_sw; s++)
		c->inside[ftr_uf_find(c->uf, s)] += c->hosts[s];
	for (ftr_sw s = 0; s < n_sw; s++)
		c->all[s] = c->inside[ftr_uf_find(c->uf, s)];
}

static uint32_t top_tier(const struct ftr_shape *sh)
{
	uint32_t top = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		top = FTR_MAX(top, sh->tree.tier[s]);
	return top;
}

void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (balance_is_host(&f->ep[e]))
			hosts[f->ep[e].sw]++;
}

/* Try the pods and planes of every rank. */
static void try_ranks(struct cuts *c, uint32_t top, bool horizontal)
{
	for (uint32_t r = 0; r <= top; r++) {
		join(c, 0, r, horizontal);
		try_sets(c);
		join(c, r, top, horizontal);
		try_sets(c);
	}
}

enum ftr_status ftr_balance_bound(const struct ftr_shape *sh,
				  const uint32_t *hosts, uint32_t *bound,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = sh->f;
	struct cuts c = { .sh = sh, .hosts = hosts };
	uint32_t top = top_tier(sh), *own;

	own = ftr_calloc(5 * (size_t)f->n_sw + 1, sizeof(*own));
	if (!own)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the bound");
	c.uf = own + f->n_sw;
	c.inside = c.uf + f->n_sw;
	c.links = c.inside + f->n_sw;
	c.all = c.links + f->n_sw;
	if (!hosts) {
		balance_count_hosts(f, own);
		c.hosts = own;
	}
	count_islands(&c, top);
	ftr_uf_init(c.uf, f->n_sw);
	try_sets(&c);
	try_ranks(&c, top, true);
	if (sh->tree.n_horizontal)
		try_ranks(&c, top, false);
	*bound = c.bound;
	free(own);
	return FTR_OK;
}
