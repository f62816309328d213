// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Seeded damage, and random fabrics that are not trees.
 *
 * Faults are drawn without replacement from the lists of links between switches, of
 * switches without hosts, and of hosts, in index order.  A seed therefore gives the
 * same faults on every machine.  The result is a copy without the drawn parts.  A host
 * is removed with all of its ports.  Aggregation Nodes are not hosts: they are removed
 * only with their switch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include <ftr/gen.h>

struct loss {
	uint8_t *dead_sw, *dead_node;
	uint8_t *dead_port;	/* [n_ports] set at the lower-numbered end of a link */
};

/* Mark n of the listed indices at random; FTR_INVAL if there are fewer. */
static enum ftr_status draw_dead(struct ftr_rng *r, uint32_t *list,
				 uint32_t n_list, uint32_t n, uint8_t *dead,
				 const char *what, struct ftr_err *err)
{
	if (n > n_list)
		return ftr_fail(err, FTR_INVAL, "cannot remove %u %s: the fabric has %u",
				n, what, n_list);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + ftr_rng_below(r, n_list - i);
		uint32_t pick = list[k];

		list[k] = list[i];
		dead[pick] = 1;
	}
	return FTR_OK;
}

static bool is_link(const struct ftr_fabric *f, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	return port->peer_kind == FTR_PEER_SW &&
	       (port->peer > s || (port->peer == s && port->peer_port > p));
}

/* Switches without hosts; dead_sw is used as scratch space and left cleared. */
static uint32_t list_bare_switches(const struct ftr_fabric *f, struct loss *z,
				   uint32_t *list)
{
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE &&
		    !ftr_ep_is_aggregation(&f->ep[e]))
			z->dead_sw[f->ep[e].sw] = 1;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!z->dead_sw[s])
			list[n++] = s;
	memset(z->dead_sw, 0, f->n_sw);
	return n;
}

/* Node numbers are dense, in the order of the first end port of each node. */
static uint32_t list_hosts(const struct ftr_fabric *f, uint32_t *list)
{
	uint32_t n = 0, next = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].node != next)
			continue;
		next++;
		if (!ftr_ep_is_aggregation(&f->ep[e]))
			list[n++] = f->ep[e].node;
	}
	return n;
}

static enum ftr_status choose(const struct ftr_fabric *f,
			      const struct ftr_damage *d, struct loss *z,
			      uint32_t *list, struct ftr_err *err)
{
	struct ftr_rng r;
	uint32_t n = 0;
	enum ftr_status st;

	ftr_rng_seed(&r, d->seed);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (is_link(f, s, p))
				list[n++] = f->sw[s].first_port + p;
	st = draw_dead(&r, list, n, d->links, z->dead_port,
		       "links between switches", err);
	if (st)
		return st;
	n = list_bare_switches(f, z, list);
	st = draw_dead(&r, list, n, d->switches, z->dead_sw,
		       "switches without hosts", err);
	if (st)
		return st;
	n = list_hosts(f, list);
	return draw_dead(&r, list, n, d->hosts, z->dead_node, "hosts", err);
}

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return !((struct loss *)ctx)->dead_sw[s];
}

static bool keep_ep(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	const struct loss *z = ctx;
	const struct ftr_endport *p = &f->ep[e];

	if (ftr_ep_is_aggregation(p) && p->sw != FTR_SW_NONE)
		return !z->dead_sw[p->sw];
	return !z->dead_node[p->node];
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	return !((struct loss *)ctx)->dead_port[f->sw[s].first_port + p];
}

enum ftr_status ftr_gen_damage(const struct ftr_fabric *f,
			       const struct ftr_damage *damage,
			       struct ftr_fabric **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct loss z;
	struct ftr_filter filter = { keep_sw, keep_ep, keep_link, &z };
	uint32_t *list;
	enum ftr_status st;

	if (!a)
		return ftr_fail(err, FTR_NOMEM, "out of memory for damage");
	z.dead_sw = ftr_arena_zalloc(a, f->n_sw, 1);
	z.dead_node = ftr_arena_zalloc(a, f->n_nodes, 1);
	z.dead_port = ftr_arena_zalloc(a, f->n_ports, 1);
	list = ftr_arena_alloc(a, (size_t)f->n_ports + f->n_ep + f->n_sw,
			       sizeof(*list));
	if (!z.dead_sw || !z.dead_node || !z.dead_port || !list)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for damage");
	else
		st = choose(f, damage, &z, list, err);
	if (!st)
		st = ftr_fabric_copy_if(f, &filter, out, err);
	ftr_arena_free(a);
	return st;
}

enum ftr_status ftr_gen_order(const struct ftr_fabric *f, uint64_t seed,
			      uint32_t **order, struct ftr_err *err)
{
	uint32_t n = f->n_sw + f->n_nodes;
	uint32_t *perm = ftr_reallocarray(NULL, n, sizeof(*perm));
	struct ftr_rng r;

	if (!perm)
		return ftr_fail(err, FTR_NOMEM, "out of memory for an order of %u records",
				n);
	ftr_rng_seed(&r, seed);
	ftr_rng_perm(&r, perm, n);
	*order = perm;
	return FTR_OK;
}

/* ---- random graphs ----------------------------------------------------- */

struct wild {
	struct ftr_rng rng;
	struct ftr_builder *b;
	uint32_t n_sw;
	uint8_t *used;		/* number of ports in use, by switch */
	struct ftr_err *err;
};

static uint64_t wild_guid(uint32_t i)
{
	return (uint64_t)3 << 56 | (uint64_t)(i + 1) << 8;
}

/* A random switch of 0..n-1 other than skip.  If it has no free port, the next switch
 * that has one; n if no switch has. */
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
	return ftr_fail(w->err, FTR_LIMIT, "all ports of %u switches are taken, %u each",
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
	st = ftr_builder_add_endport(w->b, FTR_NODE_CA, guid, guid + 1, 1, 0,
				     0, name, w->err);
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
		st = ftr_builder_add_switch(w->b, wild_guid(i), FTR_PORT_MAX,
					    0, 0, name, w->err);
		/* a tree of i switches never uses all their ports */
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

enum ftr_status ftr_gen_random(uint64_t seed, uint32_t n_sw, uint32_t n_hosts,
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
