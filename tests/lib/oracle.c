// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "lib/oracle.h"

static unsigned int links(const struct ftr_fabric *f, ftr_sw s, ftr_sw t)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);

		n += port->peer_kind == FTR_PEER_SW && port->peer == t &&
			s != t;
	}
	return n;
}

static bool above(const struct ftr_shape *sh, ftr_sw t, ftr_sw s)
{
	return sh->tree.rank[t] > sh->tree.rank[s] && links(sh->f, s, t);
}

void oracle_seed_costs(const struct ftr_shape *sh, unsigned int *out)
{
	uint32_t n = sh->f->n_sw;

	for (uint32_t i = 0; i < n * n; i++)
		out[i] = ORACLE_INF;
	for (ftr_sw l = 0; l < n; l++)
		out[l * n + l] = 0;
	for (unsigned int r = 0; r < sh->tree.n_ranks; r++)
		for (ftr_sw s = 0; s < n; s++)
			for (ftr_sw t = 0; t < n && sh->tree.rank[s] == r; t++)
				for (ftr_sw l = 0; above(sh, t, s) && l < n;
				     l++)
					if (out[s * n + l] + 1 < out[t * n + l])
						out[t * n + l] =
							out[s * n + l] + 1;
	for (unsigned int r = sh->tree.n_ranks; r-- > 0;)
		for (ftr_sw s = 0; s < n; s++)
			for (ftr_sw t = 0; t < n && sh->tree.rank[s] == r; t++)
				for (ftr_sw l = 0; above(sh, s, t) && l < n;
				     l++)
					if (out[s * n + l] + 1 < out[t * n + l])
						out[t * n + l] =
							out[s * n + l] + 1;
}

static bool relax_down(const struct ftr_shape *sh, unsigned int *down)
{
	uint32_t n = sh->f->n_sw;
	bool changed = false;

	for (ftr_sw s = 0; s < n; s++)
		for (ftr_sw t = 0; t < n; t++)
			for (ftr_sw l = 0; above(sh, s, t) && l < n; l++) {
				if (down[t * n + l] + 1 >= down[s * n + l])
					continue;
				down[s * n + l] = down[t * n + l] + 1;
				changed = true;
			}
	return changed;
}

/* True if a parent of s routes to l downward through s. */
static bool must_go_down(const struct ftr_shape *sh, const unsigned int *cost,
			 const unsigned int *down, ftr_sw s, ftr_sw l)
{
	uint32_t n = sh->f->n_sw;

	for (ftr_sw t = 0; t < n; t++)
		if (above(sh, t, s) && down[s * n + l] < cost[t * n + l])
			return true;
	return false;
}

void oracle_costs(const struct ftr_shape *sh, unsigned int *cost,
		  unsigned int *down)
{
	uint32_t n = sh->f->n_sw;

	for (uint32_t i = 0; i < n * n; i++)
		down[i] = ORACLE_INF;
	for (ftr_sw l = 0; l < n; l++)
		down[l * n + l] = 0;
	while (relax_down(sh, down))
		;
	memcpy(cost, down, n * n * sizeof(*cost));
	for (unsigned int r = sh->tree.n_ranks; r-- > 0;)
		for (ftr_sw s = 0; s < n; s++)
			for (ftr_sw l = 0; sh->tree.rank[s] == r && l < n; l++) {
				unsigned int *c = &cost[s * n + l];

				if (must_go_down(sh, cost, down, s, l))
					continue;
				for (ftr_sw t = 0; t < n; t++)
					if (above(sh, t, s) &&
					    cost[t * n + l] + 1 < *c)
						*c = cost[t * n + l] + 1;
			}
}

/* Mark the switches of the plane of s in seen[], and return their lowest index. */
static ftr_sw flood(const struct ftr_shape *sh, ftr_sw s, unsigned int low,
		    uint8_t *seen)
{
	ftr_sw least = s;

	seen[s] = 1;
	for (ftr_sw t = 0; !sh->tree.stub[s] && t < sh->f->n_sw; t++) {
		ftr_sw c;

		if (seen[t] || sh->tree.rank[t] < low || sh->tree.stub[t] ||
		    sh->tree.rank[t] == sh->tree.rank[s] || !links(sh->f, s, t))
			continue;
		c = flood(sh, t, low, seen);
		least = c < least ? c : least;
	}
	return least;
}

ftr_sw oracle_plane(const struct ftr_shape *sh, ftr_sw s, unsigned int low)
{
	uint8_t *seen = calloc(sh->f->n_sw, 1);
	ftr_sw least = flood(sh, s, low, seen);

	free(seen);
	return least;
}

bool oracle_allows(const struct ftr_shape *sh, const unsigned int *cost,
		   const unsigned int *down, ftr_sw s, const struct ftr_dest *t, ftr_port port)
{
	ftr_sw l = sh->numbering.col_sw[t->col];
	uint32_t n = sh->f->n_sw, mine = cost[s * n + l];
	bool must = must_go_down(sh, cost, down, s, l);

	if (s == l)
		return port == t->port;
	for (ftr_port p = 1; p <= sh->f->sw[s].n_ports; p++) {
		const struct ftr_swport *out = ftr_fabric_port(sh->f, s, p);
		ftr_sw r = out->peer;

		if (out->peer_kind != FTR_PEER_SW ||
		    !((above(sh, r, s) && !must && cost[r * n + l] < mine) ||
		      (above(sh, s, r) && down[r * n + l] < mine)))
			continue;
		if (port == p)
			return true;
		if (port == FTR_PORT_NONE)
			return false;
	}
	return port == FTR_PORT_NONE;
}
