// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults that are chosen at random, from a seed.
 *
 * Three lists are made: links between switches, switches without hosts, and hosts.  The parts to
 * remove are drawn from these lists; no part is drawn twice.  A seed gives the same faults on every
 * machine.  The result is a copy of the fabric without the drawn parts.  A host is removed with
 * all of its ports.  Routers count as hosts.  Aggregation Nodes do not: they are removed only
 * with their switch.
 */
#include <string.h>

#include "fabric/fabric.h"
#include <ftr/gen.h>

struct loss {
	struct ftr_rng rng;
	uint32_t *list;		/* the parts from which is drawn */
	struct ftr_err *err;
	uint8_t *dead_sw, *dead_node;
	uint8_t *dead_port;	/* [n_ports] 1: remove the link; set at its lower end only, see
				 * ftr_is_lower_end() */
};

/* Draw n elements of list[n_list] at random, and set dead[] for them.  FTR_INVAL: the list has fewer
 * than n. */
static enum ftr_status draw_dead(struct loss *z, uint32_t n_list, uint32_t n, uint8_t *dead,
				 const char *what)
{
	if (n > n_list)
		return ftr_fail(z->err, FTR_INVAL, "cannot remove %u of %u %s",
				n, n_list, what);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + ftr_rng_below(&z->rng, n_list - i);
		uint32_t pick = z->list[k];

		z->list[k] = z->list[i];
		dead[pick] = 1;
	}
	return FTR_OK;
}

/* Make a list of the switches without hosts, and return their number.  dead_sw[] is used as scratch
 * space; all its elements are 0 before and after the call. */
static uint32_t list_bare_switches(const struct ftr_fabric *f, struct loss *z)
{
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && !ftr_ep_is_aggregation(&f->ep[e]))
			z->dead_sw[f->ep[e].sw] = 1;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!z->dead_sw[s])
			z->list[n++] = s;
	memset(z->dead_sw, 0, f->n_sw);
	return n;
}

/* Make a list of the nodes of hosts, and return their number.  Nodes are numbered without gaps, in
 * the order of their first host ports. */
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
			      const struct ftr_damage *d, struct loss *z)
{
	uint32_t n = 0;
	enum ftr_status st;

	ftr_rng_seed(&z->rng, d->seed);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (ftr_is_lower_end(f, s, p))
				z->list[n++] = f->sw[s].first_port + p;
	st = draw_dead(z, n, d->links, z->dead_port, "links between switches");
	if (st)
		return st;
	n = d->switches ? list_bare_switches(f, z) : 0;
	st = draw_dead(z, n, d->switches, z->dead_sw, "switches without hosts");
	if (st)
		return st;
	n = d->hosts ? list_hosts(f, z->list) : 0;
	return draw_dead(z, n, d->hosts, z->dead_node, "hosts");
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

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	return !((struct loss *)ctx)->dead_port[f->sw[s].first_port + p];
}

enum ftr_status ftr_gen_damage(const struct ftr_fabric *f, const struct ftr_damage *damage,
			       struct ftr_fabric **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct loss z = { .err = err };
	struct ftr_filter filter = { keep_sw, keep_ep, keep_link, &z, NULL };
	enum ftr_status st;

	if (!a)
		return ftr_nomem(err, "random faults");
	if (!FTR_ZNEW(a, z.dead_sw, f->n_sw) || !FTR_ZNEW(a, z.dead_node, f->n_nodes) ||
	    !FTR_ZNEW(a, z.dead_port, f->n_ports) ||
	    !FTR_NEW(a, z.list, (size_t)f->n_ports + f->n_ep + f->n_sw))
		st = ftr_nomem(err, "random faults");
	else
		st = choose(f, damage, &z);
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
		return ftr_nomem(err, "an order of %u records", n);
	ftr_rng_seed(&r, seed);
	ftr_rng_perm(&r, perm, n);
	*order = perm;
	return FTR_OK;
}
