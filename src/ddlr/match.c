// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides whether a planner can be kept after a routing. Most routings confirm
 * the tables that the switches hold, and this comparison takes less time than
 * making a new planner.
 */
#include <string.h>

#include "ddlr/planner.h"

static bool same_rows(const struct ftr_fabric *f, const struct ftr_tables *a,
		      const struct ftr_tables *b)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (memcmp(ftr_tables_row(a, s), ftr_tables_row(b, s),
			   f->max_lid + 1u))
			return false;
	return true;
}

/* True if f has the planner's switches and ports, and exactly its working links. */
static bool same_links(const struct ftr_ddlr *r, const struct ftr_fabric *f)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (f->sw[s].guid != r->f->sw[s].guid ||
		    f->sw[s].n_ports != r->f->sw[s].n_ports || r->dead_sw[s])
			return false;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *x =
				ftr_fabric_port(f, s, (ftr_port)p);
			bool live = x->peer_kind == FTR_PEER_SW;

			if (ddlr_next(r, s, (ftr_port)p) !=
			    (live ? x->peer : FTR_SW_NONE) ||
			    (live && x->peer_port !=
			     ftr_fabric_port(r->f, s, (ftr_port)p)->peer_port))
				return false;
		}
	}
	return true;
}

static bool same_owner(const struct ftr_fabric *a, const struct ftr_fabric *b,
		       uint32_t lid)
{
	const struct ftr_lid_owner *x = &a->owner[lid], *y = &b->owner[lid];

	if (x->kind != y->kind)
		return false;
	if (x->kind != FTR_OWNER_EP)
		return x->kind == FTR_OWNER_NONE || x->idx == y->idx;
	return a->ep[x->idx].sw == b->ep[y->idx].sw &&
	       a->ep[x->idx].sw_port == b->ep[y->idx].sw_port;
}

static bool same_lids(const struct ftr_ddlr *r, const struct ftr_shape *sh)
{
	for (uint32_t lid = 1; lid <= r->f->max_lid; lid++)
		if (!same_owner(r->f, sh->f, lid))
			return false;
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		if (r->of_lid[sh->numbering.dest[i].lid].cls !=
		    sh->numbering.dest[i].cls)
			return false;
	return sh->numbering.n_dest == r->sh->numbering.n_dest;
}

bool ftr_ddlr_matches(const struct ftr_ddlr *r, const struct ftr_shape *sh,
		      const struct ftr_tables *t)
{
	const struct ftr_fabric *f = sh->f;

	return f->n_sw == r->f->n_sw && f->max_lid == r->f->max_lid &&
	       !r->ignored_switches &&
	       !memchr(r->dirty, 1, (size_t)r->sh->tree.n_ranks * f->n_sw) &&
	       same_links(r, f) && same_lids(r, sh) &&
	       !r->n_off && same_rows(f, t, r->now);
}
