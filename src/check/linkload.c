// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The load of every link, by the port that sends, for patterns that are followed flow
 * by flow.  All-to-all load is in loadtree.c.
 */
#include <string.h>

#include "check/link_load.h"
#include <ftr/linkload.h>

static void add_path(const struct ftr_load *ld, ftr_ep from, ftr_ep to,
		     uint32_t *walk, uint64_t *load)
{
	const struct ftr_endport *a = &ld->f->ep[from], *b = &ld->f->ep[to];
	uint32_t hops;

	if (from == to || !chk_is_source(a) || !chk_is_source(b))
		return;
	hops = load_walk(ld, a->sw, b->lid, walk);
	for (uint32_t h = 0; hops != LOAD_NONE && h < hops; h++)
		load[ld->link_port[walk[h]]]++;
}

static enum ftr_status begin(const struct ftr_load *ld, uint64_t *load,
			     struct ftr_arena **a, uint32_t **walk,
			     struct ftr_err *err)
{
	memset(load, 0, ld->f->n_ports * sizeof(*load));
	*a = ftr_arena_new();
	*walk = *a ? ftr_arena_alloc(*a, ld->f->n_sw, sizeof(**walk)) : NULL;
	if (*walk)
		return FTR_OK;
	ftr_arena_free(*a);
	return ftr_fail(err, FTR_NOMEM, "out of memory for the load of %u links",
			ld->n_links);
}

enum ftr_status ftr_link_load_shift(const struct ftr_load *ld, uint32_t k,
				    uint64_t *load, struct ftr_err *err)
{
	struct ftr_arena *a;
	uint32_t *walk;
	enum ftr_status st = begin(ld, load, &a, &walk, err);

	if (st)
		return st;
	for (uint32_t i = 0; i < ld->n; i++) {
		ftr_ep from = ld->order[i];
		ftr_ep to = ld->order[((uint64_t)i + k) % ld->n];

		if (from != FTR_EP_NONE && to != FTR_EP_NONE)
			add_path(ld, from, to, walk, load);
	}
	ftr_arena_free(a);
	return FTR_OK;
}

enum ftr_status ftr_link_load_pairs(const struct ftr_load *ld,
				    const struct ftr_load_pair *pair, uint32_t n,
				    uint64_t *load, struct ftr_err *err)
{
	struct ftr_arena *a;
	uint32_t *walk;
	enum ftr_status st;

	for (uint32_t i = 0; i < n; i++)
		if (pair[i].from >= ld->f->n_ep || pair[i].to >= ld->f->n_ep)
			return ftr_fail(err, FTR_INVAL, "pair %u names end ports %u and %u, but the fabric has %u end ports",
					i, pair[i].from, pair[i].to,
					ld->f->n_ep);
	st = begin(ld, load, &a, &walk, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < n; i++)
		add_path(ld, pair[i].from, pair[i].to, walk, load);
	ftr_arena_free(a);
	return FTR_OK;
}
