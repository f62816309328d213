// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the sorted list of destinations: every LID with its column (the switch on which it is),
 * class, port and index d.
 *
 * column_order.c or project.c sets the index d of the base LID of a switch or host port.  If the
 * port has more LIDs (LMC > 0), LID base + i has the index d + i.
 */
#include <stdlib.h>

#include "shape/shape.h"

static int dest_cmp(const void *x, const void *y)
{
	const struct ftr_dest *a = x, *b = y;

	return FTR_ORDER(a->cls, b->cls) ?: FTR_ORDER(a->d, b->d) ?: FTR_ORDER(a->lid, b->lid);
}

/* Returns true if the LID is routed: its owner is a switch, or a host port with a link. */
static bool has_column(const struct ftr_fabric *f,
		       const struct ftr_lid_owner *w)
{
	return w->kind == FTR_OWNER_SW ||
	       (w->kind == FTR_OWNER_EP && f->ep[w->idx].sw != FTR_SW_NONE);
}

static struct ftr_dest dest_of(const struct ftr_shape *sh, ftr_lid lid)
{
	const struct ftr_fabric *f = sh->f;
	const struct ftr_lid_owner *w = &f->owner[lid];
	struct ftr_dest t = { .lid = lid, .cls = FTR_CLASS_SW };

	if (w->kind == FTR_OWNER_SW) {
		t.col = sh->numbering.col[w->idx];
		t.d = sh->numbering.sw_d[w->idx];
	} else {
		t.col = sh->numbering.col[f->ep[w->idx].sw];
		t.port = f->ep[w->idx].sw_port;
		t.cls = sh->numbering.ep_index[w->idx].cls;
		t.d = sh->numbering.ep_index[w->idx].d;
	}
	t.d += w->offset;
	return t;
}

enum ftr_status shape_dests(struct shaping *z)
{
	const struct ftr_fabric *f = z->f;
	struct ftr_dest *dest = ftr_arena_alloc(z->keep, f->max_lid + 1u,
						sizeof(*dest));
	uint32_t *first = ftr_arena_zalloc(z->keep, f->n_sw + 2u,
					   sizeof(*first));
	uint32_t n;

	if (!dest || !first)
		return shape_nomem(z);
	/* Count the LIDs on each switch, store them switch by switch, and sort the LIDs of each
	 * switch. */
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (has_column(f, &f->owner[lid]))
			first[dest_of(z->sh, (ftr_lid)lid).col + 2]++;
	for (uint32_t c = 0; c < f->n_sw; c++)
		first[c + 2] += first[c + 1];
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		struct ftr_dest t;

		if (!has_column(f, &f->owner[lid]))
			continue;
		t = dest_of(z->sh, (ftr_lid)lid);
		dest[first[t.col + 1]++] = t;
	}
	n = first[f->n_sw];
	for (uint32_t c = 0; c < f->n_sw; c++)
		qsort(dest + first[c], first[c + 1] - first[c], sizeof(*dest),
		      dest_cmp);
	z->sh->numbering.n_places = z->sh->numbering.n_d + z->sh->tree.n_odd;
	z->sh->numbering.n_dest = n;
	z->sh->numbering.dest = dest;
	z->sh->numbering.dest_first = first;
	return FTR_OK;
}
