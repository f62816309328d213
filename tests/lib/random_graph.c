// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "lib/random_graph.h"

struct wild {
	struct ftr_rng rng;
	struct ftr_builder *b;
	uint32_t n_sw;
	uint8_t *used;
	struct ftr_err *err;
};

static uint64_t wild_guid(uint32_t i)
{
	return (uint64_t)3 << 56 | (uint64_t)(i + 1) << 8;
}

/* A random switch of 0..n-1, but not `skip`. If it has no free port, return the next switch that
 * has one; n if all ports are used. */
static uint32_t wild_pick(struct wild *w, uint32_t n, uint32_t skip)
{
	uint32_t at = ftr_rng_below(&w->rng, n - (skip < n));

	at += at >= skip;
	for (uint32_t i = 0; i < n; i++, at = (at + 1) % n)
		if (at != skip && w->used[at] < FTR_PORT_MAX)
			return at;
	return n;
}

static enum ftr_status wild_full(const struct wild *w)
{
	return ftr_fail(w->err, FTR_LIMIT, "all ports of %u switches are in use, %u each",
			w->n_sw, FTR_PORT_MAX);
}

static enum ftr_status wild_link(struct wild *w, uint32_t a, uint32_t z)
{
	struct ftr_end x, y;

	x = (struct ftr_end){ wild_guid(a), ++w->used[a] };
	y = (struct ftr_end){ wild_guid(z), ++w->used[z] };
	return ftr_builder_add_link(w->b, x, y, 4, FTR_SPEED_EDR, w->err);
}

static enum ftr_status wild_host(struct wild *w, uint32_t i)
{
	uint64_t guid = wild_guid(w->n_sw + i);
	uint32_t s = wild_pick(w, w->n_sw, w->n_sw);
	char name[FTR_NAME_MAX];
	struct ftr_end x, y = { guid, 1 };
	enum ftr_status st;

	if (s == w->n_sw)
		return wild_full(w);
	snprintf(name, sizeof(name), "host-%u", i);
	st = ftr_builder_add_endport(w->b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1, .port_num = 1,
		.name = name,
	}, w->err);
	if (st)
		return st;
	x = (struct ftr_end){ wild_guid(s), ++w->used[s] };
	return ftr_builder_add_link(w->b, x, y, 4, FTR_SPEED_EDR, w->err);
}

static enum ftr_status grow_wild(struct wild *w, uint32_t n_hosts,
				 uint32_t n_extra)
{
	enum ftr_status st = FTR_OK;
	char name[FTR_NAME_MAX];

	for (uint32_t i = 0; !st && i < w->n_sw; i++) {
		snprintf(name, sizeof(name), "sw-%u", i);
		st = ftr_builder_add_switch(w->b, &(struct ftr_switch){
			.guid = wild_guid(i), .n_ports = FTR_PORT_MAX, .name = name,
		}, w->err);
		if (!st && i > 0)
			st = wild_link(w, i, wild_pick(w, i, i));
	}
	for (uint32_t i = 0; !st && w->n_sw > 1 && i < n_extra; i++) {
		uint32_t a = wild_pick(w, w->n_sw, w->n_sw);
		uint32_t z = a < w->n_sw ? wild_pick(w, w->n_sw, a) : a;

		st = z < w->n_sw ? wild_link(w, a, z) : wild_full(w);
	}
	for (uint32_t i = 0; !st && i < n_hosts; i++)
		st = wild_host(w, i);
	return st ? st : ftr_builder_assign_lids(w->b, 0, w->err);
}

enum ftr_status random_graph_new(uint64_t seed, uint32_t n_sw, uint32_t n_hosts,
			     uint32_t n_extra_links, struct ftr_fabric **out,
			     struct ftr_err *err)
{
	struct wild w = { .n_sw = n_sw, .err = err };
	enum ftr_status st;

	if (n_sw < 1)
		return ftr_fail(err, FTR_INVAL, "a fabric needs a switch");
	w.b = ftr_builder_new();
	w.used = ftr_calloc(n_sw, 1);
	ftr_rng_seed(&w.rng, seed);
	st = w.b && w.used ? grow_wild(&w, n_hosts, n_extra_links) :
		ftr_fail(err, FTR_NOMEM, "out of memory for a random fabric");
	if (!st)
		st = ftr_builder_freeze(w.b, out, err);
	if (st)
		ftr_builder_free(w.b);
	free(w.used);
	return st;
}
