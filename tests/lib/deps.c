// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "lib/deps.h"

#define SLS 16

static size_t occ_size(const struct deps *d)
{
	return (size_t)d->f->n_ports * d->vls * SLS;
}

static size_t edge_size(const struct deps *d)
{
	return (size_t)d->f->n_ports * d->vls * d->width * d->vls;
}

static uint8_t *occ(const struct deps *d, ftr_lid lid, uint32_t port,
		    unsigned int vl, unsigned int sl)
{
	return &d->lid[lid].occ[((size_t)port * d->vls + vl) * SLS + sl];
}

static uint8_t *edge(const struct deps *d, ftr_lid lid, uint32_t port,
		     unsigned int vl, unsigned int out, unsigned int to)
{
	return &d->lid[lid].edge[(((size_t)port * d->vls + vl) * d->width +
				  out) * d->vls + to];
}

static unsigned int vl_of(const struct deps *d, ftr_sw s, unsigned int in,
			  unsigned int out, unsigned int sl)
{
	return d->m ? ftr_sl2vl_get(d->m, s, (ftr_port)in, (ftr_port)out, sl) :
		sl;
}

static bool live_link(const struct deps *d, ftr_sw s, unsigned int p)
{
	return p && p <= d->f->sw[s].n_ports &&
	       ftr_fabric_port(d->f, s, (ftr_port)p)->peer_kind ==
	       FTR_PEER_SW && !d->down[d->f->sw[s].first_port + p];
}

static bool sends(const struct deps *d, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port =
		ftr_fabric_port(d->f, s, (ftr_port)p);

	if (p == 0)
		return d->switches;
	return port->peer_kind == FTR_PEER_EP && d->f->ep[port->peer].lid;
}

static bool set(uint8_t *at)
{
	bool is_new = !*at;

	*at = 1;
	return is_new;
}

/* Follow the packets for the LID through s from port `in` to `out`.  Returns true if this adds an
 * occupied channel or an edge. */
static bool enter(struct deps *d, ftr_lid lid, ftr_sw s, unsigned int in,
		  unsigned int out)
{
	const struct ftr_swport *p = ftr_fabric_port(d->f, s, (ftr_port)in);
	uint32_t first = d->f->sw[s].first_port, from;
	bool is_new = false;

	for (unsigned int sl = 0; sl < SLS; sl++) {
		unsigned int to = vl_of(d, s, in, out, sl);

		if (!(d->sls >> sl & 1) || to == FTR_VL_DROP)
			continue;
		if (sends(d, s, in))
			is_new |= set(occ(d, lid, first + out, to, sl));
		if (!in || !live_link(d, s, in))
			continue;
		from = d->f->sw[p->peer].first_port + p->peer_port;
		for (unsigned int vl = 0; vl < d->vls; vl++) {
			if (!*occ(d, lid, from, vl, sl))
				continue;
			is_new |= set(occ(d, lid, first + out, to, sl));
			is_new |= set(edge(d, lid, from, vl, out, to));
		}
	}
	return is_new;
}

static void until_nothing_is_new(struct deps *d, ftr_lid lid,
				 const uint8_t *alt)
{
	bool again = true;

	while (again) {
		again = false;
		for (ftr_sw s = 0; s < d->f->n_sw; s++)
			for (int k = 0; k < 2; k++) {
				unsigned int out = k ? alt[s] :
					d->lid[lid].port[s];

				for (unsigned int in = 0; live_link(d, s, out) &&
				     in <= d->f->sw[s].n_ports; in++)
					again |= enter(d, lid, s, in, out);
			}
	}
}

void deps_step(struct deps *d, ftr_lid lid, const struct ftr_change *w,
	       unsigned int n)
{
	uint8_t *alt = malloc(d->f->n_sw);

	memset(alt, FTR_PORT_NONE, d->f->n_sw);
	for (unsigned int i = 0; i < n; i++)
		alt[w[i].sw] = w[i].after;
	until_nothing_is_new(d, lid, alt);
	for (unsigned int i = 0; i < n; i++)
		d->lid[lid].port[w[i].sw] = w[i].after;
	free(alt);
}

void deps_drain(struct deps *d, ftr_lid lid)
{
	memset(d->lid[lid].occ, 0, occ_size(d));
	memset(d->lid[lid].edge, 0, edge_size(d));
	deps_step(d, lid, NULL, 0);
}

void deps_set_down(struct deps *d, ftr_sw s, ftr_port port, bool down)
{
	const struct ftr_swport *p = ftr_fabric_port(d->f, s, port);

	d->down[d->f->sw[s].first_port + port] = down;
	d->down[d->f->sw[p->peer].first_port + p->peer_port] = down;
}

struct deps *deps_new(const struct ftr_fabric *f, const struct ftr_tables *t,
		      const struct ftr_sl2vl *m, uint16_t sls, bool switches,
		      unsigned int vls)
{
	struct deps *d = calloc(1, sizeof(*d));

	*d = (struct deps){ .f = f, .m = m, .sls = sls, .switches = switches,
			    .vls = vls };
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (f->sw[s].n_ports + 1u > d->width)
			d->width = f->sw[s].n_ports + 1u;
	d->down = calloc(f->n_ports, 1);
	d->lid = calloc(f->max_lid + 1u, sizeof(*d->lid));
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		d->lid[lid].occ = calloc(occ_size(d), 1);
		d->lid[lid].edge = calloc(edge_size(d), 1);
		d->lid[lid].port = calloc(f->n_sw, 1);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			d->lid[lid].port[s] = ftr_tables_get(t, s,
							     (ftr_lid)lid);
		deps_drain(d, (ftr_lid)lid);
	}
	return d;
}

void deps_free(struct deps *d)
{
	for (uint32_t lid = 0; lid <= d->f->max_lid; lid++)
		deps_forget(d->lid[lid]);
	free(d->lid);
	free(d->down);
	free(d);
}

struct deps_lid deps_save(const struct deps *d, ftr_lid lid)
{
	struct deps_lid s = { malloc(occ_size(d)), malloc(edge_size(d)),
			      malloc(d->f->n_sw) };

	memcpy(s.occ, d->lid[lid].occ, occ_size(d));
	memcpy(s.edge, d->lid[lid].edge, edge_size(d));
	memcpy(s.port, d->lid[lid].port, d->f->n_sw);
	return s;
}

void deps_forget(struct deps_lid saved)
{
	free(saved.occ);
	free(saved.edge);
	free(saved.port);
}

void deps_restore(struct deps *d, ftr_lid lid, struct deps_lid saved)
{
	deps_forget(d->lid[lid]);
	d->lid[lid] = saved;
}

static uint8_t *all_edges(const struct deps *d)
{
	uint8_t *all = calloc(edge_size(d), 1);
	size_t row = (size_t)d->width * d->vls;

	for (uint32_t lid = 1; lid <= d->f->max_lid; lid++)
		for (size_t i = 0; d->lid[lid].edge && i < edge_size(d); i++)
			all[i] |= d->lid[lid].edge[i];
	for (uint32_t p = 0; p < d->f->n_ports; p++)
		if (d->down[p])
			memset(all + p * d->vls * row, 0, d->vls * row);
	return all;
}

/* True if a cycle can be reached from channel v.  state[]: 0 not visited, 1 on the path, 2 done. */
static bool visit(const struct deps *d, const uint8_t *all, uint8_t *state,
		  uint32_t v)
{
	const struct ftr_swport *p = &d->f->ports[v / d->vls];
	uint32_t first = d->f->sw[p->peer].first_port;

	state[v] = 1;
	for (uint32_t i = 0; i < d->width * d->vls; i++) {
		uint32_t w = (first + i / d->vls) * d->vls + i % d->vls;

		if (!all[(size_t)v * d->width * d->vls + i] ||
		    d->down[w / d->vls])
			continue;
		if (state[w] == 1 || (!state[w] && visit(d, all, state, w)))
			return true;
	}
	state[v] = 2;
	return false;
}

bool deps_cyclic(const struct deps *d)
{
	uint8_t *all = all_edges(d);
	uint8_t *state = calloc((size_t)d->f->n_ports * d->vls, 1);
	bool found = false;

	for (uint32_t v = 0; !found && v < d->f->n_ports * d->vls; v++)
		if (d->f->ports[v / d->vls].peer_kind == FTR_PEER_SW &&
		    !state[v])
			found = visit(d, all, state, v);
	free(all);
	free(state);
	return found;
}

bool deps_has(const struct deps *d, struct ftr_channel a, struct ftr_channel b)
{
	uint32_t from = d->f->sw[a.sw].first_port + a.port;

	for (uint32_t lid = 1; lid <= d->f->max_lid; lid++)
		if (d->lid[lid].edge &&
		    *edge(d, (ftr_lid)lid, from, a.vl, b.port, b.vl))
			return true;
	return false;
}
