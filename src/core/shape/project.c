// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the shape of a fabric from a nominal shape (the shape of the nominal fabric).
 *
 * The following is copied from the nominal shape: ranks, stubs, the order of columns (destination
 * switches), groups and links, slots, dividers and indices d.  Parts that the fabric lacks are left
 * out.  So a fault changes neither the order nor the nominal numbers of the other parts.  Then the
 * costs are computed from the present groups and the nominal ranks.
 *
 * All switches, links and host ports of the fabric must be in the nominal fabric.  <ftr/shape.h>
 * explains the terms.
 */
#include <string.h>

#include "shape/cover.h"
#include "shape/shape.h"

struct projection {
	struct shaping *z;
	const struct ftr_shape *n;	/* the nominal shape */
	struct cover c;
	ftr_sw *sw;		/* sw[t]: the switch of the fabric that is nominal switch t, or
				 * FTR_SW_NONE */
	/* the groups of the fabric, and their links */
	struct ftr_group *group;
	ftr_port *port;
	uint8_t *port_pos;
	uint32_t n_groups, n_ports;
};

static enum ftr_status prepare(struct projection *p)
{
	struct shaping *z = p->z;
	const struct ftr_fabric *nf = p->n->f;

	if (!FTR_NEW(z->scratch, p->sw, nf->n_sw) ||
	    !cover_compare(&p->c, z->scratch, z->f, nf, false))
		return shape_nomem(z);
	if (!cover_complete(&p->c))
		return ftr_fail(z->err, FTR_INVAL, "the nominal fabric lacks %s",
				p->c.change.example);
	memset(p->sw, 0xff, nf->n_sw * sizeof(*p->sw));
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		p->sw[p->c.sw[s]] = s;
	return FTR_OK;
}

static enum ftr_status switches(struct projection *p)
{
	struct shaping *z = p->z;
	uint32_t n = z->f->n_sw;
	uint32_t *n_slots, *sw_d, *pod_first, *pod_leaves;
	uint64_t *pi;

	if (!FTR_NEW(z->keep, pi, n) || !FTR_NEW(z->keep, n_slots, n) ||
	    !FTR_NEW(z->keep, sw_d, n) || !FTR_NEW(z->keep, pod_first, n) ||
	    !FTR_NEW(z->keep, pod_leaves, n) || !FTR_NEW(z->keep, z->rank, n) ||
	    !FTR_NEW(z->keep, z->is_stub, n))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++) {
		ftr_sw t = p->c.sw[s];

		z->rank[s] = p->n->tree.rank[t];
		z->is_stub[s] = p->n->tree.stub[t];
		pi[s] = p->n->numbering.divider[t];
		n_slots[s] = p->n->numbering.n_slots[t];
		sw_d[s] = p->n->numbering.sw_d[t];
		pod_first[s] = p->n->numbering.pod_first[t];
		pod_leaves[s] = p->n->numbering.pod_leaves[t];
	}
	z->sh->numbering.divider = pi;
	z->sh->numbering.n_slots = n_slots;
	z->sh->numbering.sw_d = sw_d;
	z->sh->numbering.pod_first = pod_first;
	z->sh->numbering.pod_leaves = pod_leaves;
	return shape_by_rank(z, p->n->tree.n_ranks);
}

/* Add the nominal group g of switch s, with its present links.  If none of its links is present,
 * add nothing and return false. */
static bool add_present_group(struct projection *p, ftr_sw s, const struct ftr_group *g)
{
	struct ftr_group *out = &p->group[p->n_groups];

	*out = *g;
	out->remote = p->sw[g->remote];
	out->first = p->n_ports;
	for (uint32_t i = 0; i < g->n; i++) {
		ftr_port port = p->n->tree.group_ports[g->first + i];

		if (ftr_fabric_port(p->z->f, s, port)->peer_kind != FTR_PEER_SW)
			continue;
		p->port[p->n_ports] = port;
		p->port_pos[p->n_ports++] = p->n->tree.port_pos[g->first + i];
	}
	out->n = p->n_ports - out->first;
	p->n_groups += out->n != 0;
	return out->n != 0;
}

static enum ftr_status groups(struct projection *p)
{
	struct shaping *z = p->z;
	const struct ftr_shape *nsh = p->n;
	uint32_t n = z->f->n_sw, *first, *n_up, *n_down, *n_equal;

	if (!FTR_NEW(z->keep, first, n + 1u) || !FTR_ZNEW(z->keep, n_up, n) ||
	    !FTR_ZNEW(z->keep, n_down, n) || !FTR_ZNEW(z->keep, n_equal, n) ||
	    !FTR_NEW(z->keep, p->group, nsh->tree.group_first[nsh->f->n_sw] + 1u) ||
	    !FTR_NEW(z->keep, p->port, z->f->n_ports) ||
	    !FTR_NEW(z->keep, p->port_pos, z->f->n_ports))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++) {
		ftr_sw t = p->c.sw[s];

		first[s] = p->n_groups;
		for (uint32_t k = nsh->tree.group_first[t];
		     k < nsh->tree.group_first[t + 1]; k++) {
			uint32_t nth = k - nsh->tree.group_first[t];

			if (!add_present_group(p, s, &nsh->tree.groups[k]))
				continue;
			p->group[p->n_groups - 1].pos = p->n_groups - 1 - first[s];
			if (nth < nsh->tree.n_up[t])
				n_up[s]++;
			else if (nth < nsh->tree.n_up[t] + nsh->tree.n_down[t])
				n_down[s]++;
			else
				n_equal[s]++;
			if (n_equal[s] && p->group[p->n_groups - 1].remote > s)
				z->sh->tree.n_horizontal += p->group[p->n_groups - 1].n;
		}
	}
	first[n] = p->n_groups;
	z->sh->tree.group_first = first;
	z->sh->tree.n_up = n_up;
	z->sh->tree.n_down = n_down;
	z->sh->tree.n_equal = n_equal;
	z->sh->tree.groups = p->group;
	z->sh->tree.group_ports = p->port;
	z->sh->tree.port_pos = p->port_pos;
	return FTR_OK;
}

static enum ftr_status columns(struct projection *p)
{
	struct shaping *z = p->z;
	const struct ftr_shape *nsh = p->n;
	uint32_t n = z->f->n_sw, c = 0;
	uint32_t *col = ftr_arena_alloc(z->keep, n, sizeof(*col));
	ftr_sw *col_sw = ftr_arena_alloc(z->keep, n, sizeof(*col_sw));

	if (!col || !col_sw)
		return shape_nomem(z);
	for (uint32_t i = 0; i < nsh->f->n_sw; i++) {
		ftr_sw s = p->sw[nsh->numbering.col_sw[i]];

		if (s == FTR_SW_NONE)
			continue;
		col_sw[c] = s;
		col[s] = c++;
		if (i < nsh->tree.n_leaf)
			z->sh->tree.n_leaf = c;
	}
	z->sh->numbering.col = col;
	z->sh->numbering.col_sw = col_sw;
	return FTR_OK;
}

static enum ftr_status endports(struct projection *p)
{
	struct shaping *z = p->z;
	const struct ftr_fabric *f = z->f;
	struct ftr_shape *sh = z->sh;
	struct ftr_ep_index *ep_index = ftr_arena_zalloc(z->keep, f->n_ep,
							 sizeof(*ep_index));
	uint32_t *hosts = ftr_arena_zalloc(z->keep, sh->tree.n_leaf + 1u,
					   sizeof(*hosts));

	if (!ep_index || !hosts)
		return shape_nomem(z);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].sw == FTR_SW_NONE)
			continue;
		ep_index[e] = p->n->numbering.ep_index[p->c.ep[e]];
		if (ep_index[e].cls == FTR_CLASS_HOST)
			hosts[sh->numbering.col[f->ep[e].sw]]++;
		else
			sh->tree.n_odd += ep_index[e].host;
	}
	sh->numbering.ep_index = ep_index;
	sh->tree.leaf_hosts = hosts;
	sh->numbering.n_d = p->n->numbering.n_d;
	sh->numbering.stride = p->n->numbering.stride;
	return shape_dests(z);
}

/* Copy the upward paths.  If a switch on a path is missing, the numbers q stay the same. */
static enum ftr_status up_paths(struct projection *p)
{
	struct shaping *z = p->z;
	size_t n = (size_t)p->n->tree.n_ranks * p->n->numbering.n_d;
	struct ftr_up_path *at;

	if (!p->n->numbering.up_path)
		return FTR_OK;
	if (!FTR_NEW(z->keep, at, n))
		return shape_nomem(z);
	for (size_t i = 0; i < n; i++) {
		ftr_sw s = p->n->numbering.up_path[i].sw;

		at[i].sw = s == FTR_SW_NONE ? s : p->sw[s];
		at[i].q = p->n->numbering.up_path[i].q;
	}
	z->sh->numbering.up_path = at;
	return FTR_OK;
}

/* Returns true if the fabric lacks the nominal link at port q of t, although it has the switches at
 * both ends.  For one of the two ends (see cover_reported_here()), the result is false, so that
 * each link is counted once.  s: the counterpart of t in the fabric. */
static bool is_absent(const struct projection *p, ftr_sw s, ftr_sw t,
		      unsigned int q)
{
	const struct ftr_fabric *nf = p->n->f;
	const struct ftr_swport *port = ftr_fabric_port(nf, t, q);

	return cover_reported_here(nf, t, q) && port->peer != t &&
	       p->sw[port->peer] != FTR_SW_NONE &&
	       ftr_fabric_port(p->z->f, s, q)->peer_kind != FTR_PEER_SW;
}

static enum ftr_status missing(struct projection *p)
{
	struct shaping *z = p->z;
	const struct ftr_fabric *f = z->f, *nf = p->n->f;
	struct ftr_shape *sh = z->sh;
	struct ftr_link *absent;

	sh->from_nominal = true;
	sh->n_missing_sw = nf->n_sw - f->n_sw;
	sh->n_missing_links = nf->n_sw_links - f->n_sw_links;
	sh->n_missing_hosts = cover_connected(nf) - cover_connected(f);
	if (!FTR_NEW(z->keep, absent, sh->n_missing_links + 1u))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = p->c.sw[s];

		for (unsigned int q = 1; q <= f->sw[s].n_ports; q++) {
			const struct ftr_swport *port;

			if (!is_absent(p, s, t, q))
				continue;
			port = ftr_fabric_port(nf, t, q);
			absent[sh->n_absent++] = (struct ftr_link){
				.sw = s, .port = (ftr_port)q,
				.peer = p->sw[port->peer],
				.peer_port = port->peer_port,
			};
		}
	}
	sh->absent = absent;
	return FTR_OK;
}

static enum ftr_status unlisted_roots(struct projection *p)
{
	struct ftr_shape *sh = p->z->sh;
	ftr_sw *list = ftr_arena_alloc(p->z->keep, p->n->tree.n_unlisted + 1u,
				       sizeof(*list));

	if (!list)
		return shape_nomem(p->z);
	for (ftr_sw s = 0; s < p->z->f->n_sw; s++)
		for (uint32_t i = 0; i < p->n->tree.n_unlisted; i++)
			if (p->n->tree.unlisted[i] == p->c.sw[s])
				list[sh->tree.n_unlisted++] = s;
	sh->tree.unlisted = list;
	sh->tree.roots_given = p->n->tree.roots_given;
	sh->tree.roots_unknown = p->n->tree.roots_unknown;
	return FTR_OK;
}

static enum ftr_status rails(struct projection *p)
{
	uint8_t *rail;

	if (!p->n->numbering.rail)
		return FTR_OK;
	if (!FTR_NEW(p->z->keep, rail, p->z->f->n_sw))
		return shape_nomem(p->z);
	for (ftr_sw s = 0; s < p->z->f->n_sw; s++)
		rail[s] = p->n->numbering.rail[p->c.sw[s]];
	p->z->sh->numbering.rail = rail;
	p->z->sh->numbering.n_rails = p->n->numbering.n_rails;
	return FTR_OK;
}

enum ftr_status shape_project(struct shaping *z)
{
	struct projection p = { .z = z, .n = z->opts->nominal };
	enum ftr_status (*const step[])(struct projection *) = {
		prepare, switches, groups, columns, endports, rails, up_paths, missing,
		unlisted_roots,
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(step); i++) {
		enum ftr_status st = step[i](&p);

		if (st)
			return st;
	}
	z->sh->tree.n_planes = p.n->tree.n_planes;
	z->sh->tree.n_pods = p.n->tree.n_pods;
	z->sh->tree.cn_unknown = p.n->tree.cn_unknown;
	z->sh->tree.io_unknown = p.n->tree.io_unknown;
	return FTR_OK;
}
