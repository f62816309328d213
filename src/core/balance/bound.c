// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes a lower bound for the all-to-all load of the most loaded link under any routing, from
 * cuts.
 *
 * A cut separates the switches of an island (a connected component of the fabric) into two sets.
 * Let h of the n hosts be in one set, and let c links join the sets.  Then h * (n - h) flows cross
 * the cut in each direction, and at least one link carries h * (n - h) / c flows or more.
 *
 * The following cuts are used.  One of the two sets of each cut is:
 *
 *	- each switch
 *	- for each rank r: each pod (a connected component of the switches of ranks 0 .. r)
 *	- for each rank r: each plane (a connected component of the switches of ranks from r on)
 *
 * If the fabric has horizontal links, these pods and planes are also determined without horizontal
 * links.  For example, two trees that are joined by links between spines are then two sets.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct cuts {
	uint32_t n_sw;
	const uint8_t *tier;	/* ftr_shape_tree.tier */
	const uint32_t *hosts;	/* hosts[s]: number of hosts on switch s */
	uint32_t *all;		/* all[s]: number of hosts in the island of switch s */
	/* uf: union-find of the switches.  set[s]: a switch that represents the set of switch s */
	uint32_t *uf, *set;
	/* inside[r]: number of hosts in the set that switch r represents; links[r]: number of links
	 * that leave this set */
	uint32_t *inside, *links;
	struct ftr_link *link;
	uint32_t n_links;
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

static void find_sets(struct cuts *c)
{
	memset(c->inside, 0, c->n_sw * sizeof(*c->inside));
	for (ftr_sw s = 0; s < c->n_sw; s++) {
		c->set[s] = ftr_uf_find(c->uf, s);
		c->inside[c->set[s]] += c->hosts[s];
	}
}

static void try_sets(struct cuts *c)
{
	find_sets(c);
	memset(c->links, 0, c->n_sw * sizeof(*c->links));
	for (uint32_t i = 0; i < c->n_links; i++) {
		uint32_t a = c->set[c->link[i].sw], b = c->set[c->link[i].peer];

		if (a == b)
			continue;
		c->links[a]++;
		c->links[b]++;
	}
	for (ftr_sw s = 0; s < c->n_sw; s++)
		if (c->inside[s])
			try_cut(c, c->inside[s], c->all[s], c->links[s]);
}

/* Let the sets be the connected components of the switches of ranks low .. high.  horizontal: count
 * horizontal links as connections, too. */
static void join(struct cuts *c, uint32_t low, uint32_t high, bool horizontal)
{
	ftr_uf_init(c->uf, c->n_sw);
	for (uint32_t i = 0; i < c->n_links; i++) {
		const struct ftr_link *l = &c->link[i];
		uint8_t a = c->tier[l->sw], b = c->tier[l->peer];

		if (FTR_MIN(a, b) >= low && FTR_MAX(a, b) <= high && (horizontal || a != b) &&
		    c->uf[l->sw] != c->uf[l->peer])
			ftr_uf_union(c->uf, l->sw, l->peer);
	}
}

void balance_count_hosts(const struct ftr_fabric *f, uint32_t *hosts)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (balance_is_host(&f->ep[e]))
			hosts[f->ep[e].sw]++;
}

static uint32_t list_links(struct cuts *c, const struct ftr_fabric *f)
{
	uint32_t top = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const struct ftr_swport *port = ftr_fabric_port(f, s, 0);

		top = FTR_MAX(top, c->tier[s]);
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			ftr_sw t = port[p].peer;

			if (port[p].peer_kind == FTR_PEER_SW && s < t)
				c->link[c->n_links++] = (struct ftr_link){ .sw = s, .peer = t };
		}
	}
	return top;
}

/* Try the pods and planes of every rank, except sets that are whole islands: no flow leaves an
 * island. */
static void try_ranks(struct cuts *c, uint32_t top, bool horizontal)
{
	for (uint32_t r = 0; r <= top; r++) {
		if (r < top || !horizontal) {
			join(c, 0, r, horizontal);
			try_sets(c);
		}
		if (r || !horizontal) {
			join(c, r, top, horizontal);
			try_sets(c);
		}
	}
}

enum ftr_status ftr_balance_bound(const struct ftr_shape *sh,
				  const uint32_t *hosts, uint32_t *bound,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = sh->f;
	struct cuts c = { .n_sw = f->n_sw, .tier = sh->tree.tier, .hosts = hosts };
	uint32_t *own, top;

	own = ftr_calloc(6 * (size_t)f->n_sw + 1, sizeof(*own));
	c.link = ftr_malloc(f->n_sw_links * sizeof(*c.link));
	if (!own || !c.link) {
		free(own);
		free(c.link);
		return ftr_nomem(err, "the bound");
	}
	c.uf = own + f->n_sw;
	c.set = c.uf + f->n_sw;
	c.inside = c.set + f->n_sw;
	c.links = c.inside + f->n_sw;
	c.all = c.links + f->n_sw;
	if (!hosts) {
		balance_count_hosts(f, own);
		c.hosts = own;
	}
	top = list_links(&c, f);
	join(&c, 0, top, true);
	find_sets(&c);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		c.all[s] = c.inside[c.set[s]];
	ftr_uf_init(c.uf, f->n_sw);
	try_sets(&c);
	try_ranks(&c, top, true);
	if (sh->tree.n_horizontal)
		try_ranks(&c, top, false);
	*bound = c.bound;
	free(c.link);
	free(own);
	return FTR_OK;
}
