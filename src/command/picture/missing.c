// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Missing links: links of the nominal fabric that are not in the present one, and links that the
 * shape has inferred (src/core/shape/slots.c).
 *
 * The shape contains the number of links that a group should have (n_nominal), and the number of
 * upward groups that a switch should have (n_slots).  With a nominal fabric, both ends of every
 * missing link are known.  Without one, the upper switch is unknown if all links of a group of
 * switch s are missing.  It is then guessed: a switch of the next rank that is linked to other
 * switches below the parents of s, but not to s, and that has an unconnected port.  If there
 * are more such switches than missing groups, those with the most unconnected ports are taken.
 */
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"

struct list {
	struct drawing *z;
	struct ftr_missing *m;
	uint32_t n, cap;
	uint32_t *open;		/* [n_sw] number of ports without a link */
	uint8_t *known;		/* [n_sw] 1: linked to the current switch s, or in found[] */
	ftr_sw *found;		/* [n_sw] possible upper switches of missing links of s */
};

static bool add(struct list *w, ftr_sw low, ftr_sw up, uint32_t n, bool inferred)
{
	if (!FTR_GROW(w->m, w->n, w->cap))
		return false;
	w->m[w->n++] = (struct ftr_missing){ low, up, n, inferred };
	w->z->p->missing_links += n;
	return true;
}

/* Number of links between a and b that are in the nominal fabric but not in the present one. */
static uint32_t absent(const struct ftr_shape *sh, ftr_sw a, ftr_sw b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sh->missing.n_absent; i++) {
		const struct ftr_link *l = &sh->missing.absent[i];

		n += (l->sw == a && l->peer == b) || (l->sw == b && l->peer == a);
	}
	return n;
}

static bool add_absent(struct list *w)
{
	const struct ftr_shape *sh = w->z->sh;

	for (uint32_t i = 0; i < sh->missing.n_absent; i++) {
		ftr_sw a = sh->missing.absent[i].sw, b = sh->missing.absent[i].peer;
		bool up = sh->tree.rank[a] <= sh->tree.rank[b];

		if (!add(w, up ? a : b, up ? b : a, 1, false))
			return false;
	}
	return true;
}

/* Store in w->found the possible upper switches of the missing links of s (see the head of this
 * file).  Returns their number. */
static uint32_t candidates(struct list *w, ftr_sw s)
{
	const struct ftr_shape *sh = w->z->sh;
	const struct ftr_group *g = sh->tree.groups;
	uint32_t n = 0;

	memset(w->known, 0, w->z->f->n_sw);
	for (uint32_t i = sh->tree.group_first[s]; i < sh->tree.group_first[s + 1]; i++)
		w->known[g[i].remote] = 1;
	for (uint32_t i = 0; i < sh->tree.n_up[s]; i++) {
		ftr_sw t = g[sh->tree.group_first[s] + i].remote;

		for (uint32_t j = sh->tree.n_up[t]; j < sh->tree.n_up[t] + sh->tree.n_down[t];
		     j++) {
			ftr_sw b = g[sh->tree.group_first[t] + j].remote;

			if (sh->tree.rank[b] != sh->tree.rank[s])
				continue;
			for (uint32_t k = 0; k < sh->tree.n_up[b]; k++) {
				ftr_sw u = g[sh->tree.group_first[b] + k].remote;

				if (w->known[u] || !w->open[u] ||
				    sh->tree.rank[u] != sh->tree.rank[s] + 1)
					continue;
				w->known[u] = 1;
				w->found[n++] = u;
			}
		}
	}
	return n;
}

static int most_open(const void *x, const void *y, void *ctx)
{
	const uint32_t *open = ctx;
	ftr_sw a = *(const ftr_sw *)x, b = *(const ftr_sw *)y;

	return FTR_ORDER(open[b], open[a]) ?: FTR_ORDER(a, b);
}

static bool lost_groups(struct list *w, ftr_sw s, uint32_t n, uint32_t links)
{
	uint32_t found = candidates(w, s);

	if (found)
		qsort_r(w->found, found, sizeof(*w->found), most_open, w->open);
	for (uint32_t i = 0; i < found && i < n; i++)
		if (!add(w, s, w->found[i], links, true))
			return false;
	return true;
}

static bool inferred(struct list *w, ftr_sw s)
{
	const struct ftr_shape *sh = w->z->sh;
	uint32_t slots = 0, links = 1, gone;

	for (uint32_t i = 0; i < sh->tree.n_up[s]; i++) {
		const struct ftr_group *g =
			&sh->tree.groups[sh->tree.group_first[s] + i];
		uint32_t lost = g->n_nominal - g->n;

		slots += g->slot != FTR_SLOT_NONE;
		links = FTR_MAX(links, g->n_nominal);
		gone = lost ? absent(sh, s, g->remote) : 0;
		if (lost > gone && !add(w, s, g->remote, lost - gone, true))
			return false;
	}
	if (sh->missing.from_nominal || sh->numbering.n_slots[s] <= slots)
		return true;
	return lost_groups(w, s, sh->numbering.n_slots[s] - slots, links);
}

static int by_pair(const void *x, const void *y)
{
	const struct ftr_missing *a = x, *b = y;

	return FTR_ORDER(a->low, b->low) ?: FTR_ORDER(a->up, b->up) ?: a->inferred - b->inferred;
}

/* Fills w->m. */
static bool find_missing(struct list *w)
{
	const struct ftr_fabric *f = w->z->f;

	if (!FTR_ZNEW(w->z->scratch, w->open, f->n_sw) ||
	    !FTR_NEW(w->z->scratch, w->known, f->n_sw) ||
	    !FTR_NEW(w->z->scratch, w->found, f->n_sw))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			w->open[s] += ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_NONE;
	if (!add_absent(w))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!inferred(w, s))
			return false;
	return true;
}

bool picture_missing(struct drawing *z)
{
	struct list w = { .z = z };
	struct ftr_missing *m = NULL;

	if (find_missing(&w))
		m = ftr_arena_alloc(z->keep, w.n + 1u, sizeof(*m));
	if (m && w.n) {
		qsort(w.m, w.n, sizeof(*w.m), by_pair);
		memcpy(m, w.m, w.n * sizeof(*m));
	}
	free(w.m);
	z->p->missing = m;
	z->p->n_missing = w.n;
	return m;
}
