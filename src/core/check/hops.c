// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts paths by their length; finds the physically connected switches.
 * The paths are those of walk.c.
 */
#include <string.h>

#include "check/check.h"

static enum ftr_status begin(struct chk *c, const struct ftr_fabric *f,
			     const struct ftr_tables *t, const uint8_t *rank,
			     struct ftr_arena **a, struct ftr_err *err)
{
	enum ftr_status st = chk_refuse(f, t, err);

	*c = (struct chk){ .f = f, .t = t, .rank = rank, .no_cdg = true, .n_vl = 1 };
	*a = st ? NULL : ftr_arena_new();
	if (!st && (!*a || !chk_set_up(c, *a, 1)))
		st = ftr_nomem(err, "the paths of %u switches", f->n_sw);
	return st;
}

static void count_lid(const struct chk *c, struct chk_part *w, uint32_t lid,
		      uint64_t *hist)
{
	const ftr_sw own = c->f->ep[c->f->owner[lid].idx].sw;

	chk_follow_lid(c, w, (ftr_lid)lid);
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		if (w->end[s] == ST_GOOD)
			hist[FTR_MIN(w->hops[s], FTR_HOPS_MAX - 1u)] +=
				c->hosts[s] - (s == own);
}

enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err)
{
	struct ftr_arena *a;
	struct chk c;
	enum ftr_status st = begin(&c, f, t, NULL, &a, err);

	memset(hist, 0, FTR_HOPS_MAX * sizeof(*hist));
	if (st) {
		ftr_arena_free(a);
		return st;
	}
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (f->owner[lid].kind == FTR_OWNER_EP &&
		    f->ep[f->owner[lid].idx].sw != FTR_SW_NONE)
			count_lid(&c, c.part, lid, hist);
	ftr_arena_free(a);
	return FTR_OK;
}

void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part)
{
	ftr_uf_init(part, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(part, s, port->peer);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		part[s] = ftr_uf_find(part, s);
}
