// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A generation: the fabric, the shape and the tables of one routing.  The engine, the fast
 * path, the search for better tables and jobs of the writer share it.  It is freed when the
 * last reference is dropped.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "osm/fast.h"

struct ibf_generation *ibf_generation_get(struct ibf_generation *gen)
{
	if (gen)
		atomic_fetch_add(&gen->refs, 1);
	return gen;
}

void ibf_nominal_put(struct ibf_nominal *n)
{
	if (!n || atomic_fetch_sub(&n->refs, 1) > 1)
		return;
	ftr_nominal_free(n->n);
	free(n);
}

void ibf_generation_put(struct ibf_generation *gen)
{
	if (!gen || atomic_fetch_sub(&gen->refs, 1) > 1)
		return;
	ftr_cdg_free(gen->graph);
	ftr_shape_free(gen->stats.routed);
	free(gen->sm);
	free(gen->stats.turn);
	free(gen->given);
	ftr_sl2vl_free(gen->vls);
	ftr_tables_free(gen->tables);
	ftr_tables_free(gen->prefer);
	ftr_tables_free(gen->current);
	free(gen->stats.order);
	ftr_shape_free(gen->shape);
	ibf_nominal_put(gen->nominal);
	ftr_fabric_free(gen->fabric);
	ftr_fabric_free(gen->undrained);
	free(gen->mcast_able);
	free(gen);
}

static bool same_switches(const struct ftr_fabric *a, const struct ftr_fabric *b)
{
	for (ftr_sw s = 0; s < a->n_sw; s++) {
		const struct ftr_switch *x = &a->sw[s], *y = &b->sw[s];

		if (x->guid != y->guid || x->lid != y->lid || x->lmc != y->lmc ||
		    x->n_ports != y->n_ports || strcmp(x->name, y->name))
			return false;
	}
	return true;
}

static bool same_hosts(const struct ftr_fabric *a, const struct ftr_fabric *b)
{
	for (ftr_ep e = 0; e < a->n_ep; e++) {
		const struct ftr_endport *x = &a->ep[e], *y = &b->ep[e];

		if (x->guid != y->guid || x->node_guid != y->node_guid || x->sw != y->sw ||
		    x->sw_port != y->sw_port || x->port_num != y->port_num || x->lid != y->lid ||
		    x->lmc != y->lmc || x->type != y->type || strcmp(x->name, y->name))
			return false;
	}
	return true;
}

bool ibf_same_fabric(const struct ftr_fabric *a, const struct ftr_fabric *b)
{
	static_assert(sizeof(*a->ports) == 8, "no padding");

	return a->n_sw == b->n_sw && a->n_ep == b->n_ep && a->n_ports == b->n_ports &&
		a->max_lid == b->max_lid &&
		!memcmp(a->ports, b->ports, a->n_ports * sizeof(*a->ports)) &&
		same_switches(a, b) && same_hosts(a, b);
}

bool ibf_is_complete(const struct ibf_generation *gen)
{
	return gen->nominal && (!gen->shape || (!gen->shape->n_missing_sw &&
						!gen->shape->n_missing_links));
}

void ibf_engine_publish(struct ibf_engine *e, struct ibf_generation *gen)
{
	ibf_generation_put(e->gen);
	ibf_stree_free(e->stree);
	e->stree = NULL;
	e->gen = gen;
	e->gen_stale = false;
	if (!gen || (gen->tables && ibf_is_complete(gen))) {
		ibf_generation_put(e->complete);
		e->complete = ibf_generation_get(gen);
	}
	if (!gen || !(gen->drained.switches + gen->drained.links + gen->drained.hosts)) {
		ibf_generation_put(e->whole);
		e->whole = ibf_generation_get(gen);
	}
}

const struct ftr_shape *ibf_nominal_shape(const struct ibf_generation *gen)
{
	return gen->nominal ? gen->nominal->n->shape : NULL;
}

bool ibf_other_routed(const struct ibf_plugin *p)
{
	const void *used = p->osm->routing_engine_used;
	bool other = used != NULL;

	for (unsigned int i = 0; i < p->n_engines; i++)
		other = other && used != p->engine[i].host;
	return other;
}

/* ---- for the fast path ----------------------------------------------------- */

static void routing_get(void *owner)
{
	(void)ibf_generation_get(owner);
}

static void routing_put(void *owner)
{
	ibf_generation_put(owner);
}

struct rr_routing ibf_routing_of(struct ibf_generation *gen)
{
	return (struct rr_routing){
		.owner = gen, .get = routing_get, .put = routing_put,
		.engine = gen->engine, .fabric = gen->fabric,
		.shape = gen->shape, .routed = gen->routed,
		.tables = gen->tables, .opts = &gen->opts,
		.order = gen->stats.order, .pairs = gen->vls ? &gen->pairs : NULL,
		.graph = &gen->graph,
		/* When links return, a sweep may find a better order of switches, better
		 * extra turns, or better preferred tables. */
		.improvable = gen->stats.routed || gen->opts.n_turns || gen->makeshift,
	};
}
