// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nominal links, their state (alive or dead), and the groups of the view.
 *
 * The nominal links are those of the nominal shape, including links that are missing from the
 * present fabric.  A group consists of the links between a switch and one neighbour.
 * Horizontal links are included only if extra turns may use them (FTR_PATHS_ALL).
 */
#include <inttypes.h>
#include <string.h>

#include "incremental/incremental.h"

/* sh defines the nominal links: it is the nominal shape, or lv->base if there is none. */
struct source {
	const struct ftr_shape *sh;
	ftr_sw *here;		/* here[t]: index in lv->base of switch t of sh, or FTR_SW_NONE */
	ftr_sw *there;		/* there[s]: index in sh of switch s of lv->base */
};

static enum ftr_status allocate(struct ftr_incr *lv, const struct source *src,
				struct ftr_err *err)
{
	const struct ftr_fabric *f = lv->base->f;
	uint32_t n = f->n_sw, n_groups = src->sh->tree.group_first[src->sh->f->n_sw];
	struct ftr_arena *a = lv->arena;

	if (!FTR_ZNEW(a, lv->group, n_groups) ||
	    !FTR_ZNEW(a, lv->first, n + 1u) ||
	    !FTR_NEW(a, lv->port, f->n_ports) ||
	    !FTR_NEW(a, lv->port_pos, f->n_ports) ||
	    !FTR_NEW(a, lv->link_at, f->n_ports) ||
	    !FTR_NEW(a, lv->group_of, f->n_ports) ||
	    !FTR_NEW(a, lv->far, f->n_ports) ||
	    !FTR_ZNEW(a, lv->alive, f->n_ports) ||
	    !FTR_ZNEW(a, lv->alive_after, f->n_ports) ||
	    !FTR_ZNEW(a, lv->dead, f->n_ports / 64 + 1u) ||
	    !FTR_ZNEW(a, lv->view_group, n_groups) ||
	    !FTR_ZNEW(a, lv->view_port, f->n_ports) ||
	    !FTR_ZNEW(a, lv->view_port_pos, f->n_ports) ||
	    !FTR_ZNEW(a, lv->n_side[INCR_UP], n) ||
	    !FTR_ZNEW(a, lv->n_side[INCR_DOWN], n) ||
	    !FTR_ZNEW(a, lv->n_side[INCR_EQUAL], n))
		return incr_nomem(lv, err);
	memset(lv->link_at, 0xff, f->n_ports * sizeof(*lv->link_at));
	return FTR_OK;
}

/* ---- nominal links ------------------------------------------------------ */

/* Find for each switch of lv->base the switch of src->sh at the same position in the nominal fabric
 * (ftr_switch.holder). */
static enum ftr_status find_source(struct ftr_incr *lv,
				   const struct ftr_shape *nominal,
				   struct source *src, struct ftr_arena *tmp,
				   struct ftr_err *err)
{
	const struct ftr_fabric *f = lv->base->f;

	src->sh = nominal ? nominal : lv->base;
	src->here = ftr_arena_alloc(tmp, src->sh->f->n_sw, sizeof(ftr_sw));
	src->there = ftr_arena_alloc(tmp, f->n_sw, sizeof(ftr_sw));
	if (!src->here || !src->there)
		return incr_nomem(lv, err);
	memset(src->here, 0xff, src->sh->f->n_sw * sizeof(ftr_sw));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = nominal ? ftr_fabric_find_holder(nominal->f,
							    f->sw[s].guid) : s;

		if (t == FTR_SW_NONE)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" is not in the nominal shape",
					f->sw[s].guid);
		src->there[s] = t;
		src->here[t] = s;
	}
	return FTR_OK;
}

static bool has_group(const struct ftr_shape *sh, ftr_sw s, uint32_t n, ftr_sw remote)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];

	for (uint32_t k = 0; k < n; k++)
		if (g[k].remote == remote)
			return true;
	return false;
}

static enum incr_side side_of(const struct ftr_shape *sh, ftr_sw s, ftr_sw remote)
{
	const uint8_t *rank = sh->tree.rank;

	return rank[remote] > rank[s] ? INCR_UP :
		rank[remote] < rank[s] ? INCR_DOWN : INCR_EQUAL;
}

/* True if routing may use the k-th nominal group of s in the direction `side`.  A group that is
 * horizontal by the nominal ranks may lead up or down by the present ranks.  Such a group is used
 * only if it is also in the present shape. */
static bool is_usable(const struct ftr_incr *lv, const struct source *src,
		   ftr_sw s, uint32_t k, enum incr_side side)
{
	const struct ftr_shape *sh = lv->base;
	ftr_sw t = src->there[s];
	ftr_sw r = src->here[src->sh->tree.groups[src->sh->tree.group_first[t] +
					     k].remote];

	if (r == FTR_SW_NONE || side_of(sh, s, r) != side)
		return false;
	if (side == INCR_EQUAL)
		return lv->opts.paths == FTR_PATHS_ALL;
	return k < src->sh->tree.n_up[t] + src->sh->tree.n_down[t] ||
		has_group(sh, s, sh->tree.n_up[s] + sh->tree.n_down[s], r);
}

/* Add a nominal group of s with its links. */
static void add_group(struct ftr_incr *lv, const struct source *src, ftr_sw s,
		      const struct ftr_group *from, enum incr_side side)
{
	const struct ftr_fabric *f = lv->base->f;
	uint32_t at = lv->first[s + 1]++;
	struct incr_group *g = &lv->group[at];

	g->g = *from;
	g->g.remote = src->here[from->remote];
	g->g.first = lv->n_ends;
	g->g.n = 0;
	g->side = side;
	for (uint32_t i = 0; i < from->n; i++) {
		ftr_port p = src->sh->tree.group_ports[from->first + i];
		uint32_t c = lv->n_ends;

		if (p > f->sw[s].n_ports)
			continue;
		lv->port[c] = p;
		lv->port_pos[c] = src->sh->tree.port_pos[from->first + i];
		lv->alive[c] = ftr_fabric_port(f, s, p)->peer_kind ==
			FTR_PEER_SW;
		lv->group_of[c] = at;
		lv->link_at[f->sw[s].first_port + p] = c;
		lv->n_ends++;
		g->g.n++;
	}
}

static void add_groups(struct ftr_incr *lv, const struct source *src, ftr_sw s)
{
	const struct ftr_shape *sh = src->sh;
	ftr_sw t = src->there[s];
	uint32_t n = ftr_shape_groups(sh, t);

	lv->first[s + 1] = lv->first[s];
	for (int side = INCR_UP; side < INCR_N_SIDES; side++)
		for (uint32_t k = 0; k < n; k++)
			if (is_usable(lv, src, s, k, (enum incr_side)side))
				add_group(lv, src, s,
					  &sh->tree.groups[sh->tree.group_first[t] + k],
					  (enum incr_side)side);
}

/* Set far[] for all ends. FTR_INVAL: the other end of a link is not known. */
static enum ftr_status join_ends(struct ftr_incr *lv,
				 const struct source *src, struct ftr_err *err)
{
	const struct ftr_fabric *f = lv->base->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port;
			uint32_t c = incr_link(lv, s, (ftr_port)p);

			if (c == NONE)
				continue;
			port = ftr_fabric_port(src->sh->f, src->there[s],
					       (ftr_port)p);
			lv->far[c] = incr_link(lv, src->here[port->peer],
					       port->peer_port);
			if (lv->far[c] == NONE)
				return ftr_fail(err, FTR_INVAL, "the other end of the link at port %u of switch 0x%016"
						PRIx64 " is not known",
						p, f->sw[s].guid);
		}
	return FTR_OK;
}

/* Set lv->absent to the nominal links that are not in the fabric.  They are dead. */
static enum ftr_status note_absent(struct ftr_incr *lv, struct ftr_err *err)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < lv->n_ends; c++)
		n += !lv->alive[c] && c < lv->far[c];
	if (!FTR_NEW(lv->arena, lv->absent, n))
		return incr_nomem(lv, err);
	for (uint32_t c = 0; c < lv->n_ends; c++) {
		ftr_sw s = incr_remote(lv, lv->far[c]);
		uint32_t bit = lv->view.f->sw[s].first_port + lv->port[c];

		if (lv->alive[c])
			continue;
		lv->dead[bit / 64] |= (uint64_t)1 << bit % 64;
		if (c < lv->far[c])
			lv->absent[lv->n_absent++] = c;
	}
	return FTR_OK;
}

/* ---- the view -------------------------------------------------------- */

bool incr_adjacent(const struct ftr_incr *lv, ftr_sw s, ftr_sw t)
{
	return has_group(&lv->view, s, ftr_shape_groups(&lv->view, s), t);
}

void incr_pack(struct ftr_incr *lv, ftr_sw s)
{
	uint32_t first = lv->first[s], at = first;

	for (int side = INCR_UP; side < INCR_N_SIDES; side++)
		lv->n_side[side][s] = 0;
	for (uint32_t k = first; k < lv->first[s + 1]; k++) {
		const struct incr_group *g = &lv->group[k];
		struct ftr_group *to = &lv->view_group[at];
		uint32_t n = 0;

		for (uint32_t c = g->g.first; c < g->g.first + g->g.n; c++) {
			if (!lv->alive[c])
				continue;
			lv->view_port[g->g.first + n] = lv->port[c];
			lv->view_port_pos[g->g.first + n++] = lv->port_pos[c];
		}
		if (!n)
			continue;
		*to = g->g;
		to->n = n;
		at++;
		lv->n_side[g->side][s]++;
	}
}

enum ftr_status incr_links(struct ftr_incr *lv,
			   const struct ftr_shape *nominal,
			   struct ftr_err *err)
{
	struct ftr_arena *tmp = ftr_arena_new();
	uint32_t n = lv->base->f->n_sw;
	struct source src;
	enum ftr_status st;

	if (!tmp)
		return incr_nomem(lv, err);
	st = find_source(lv, nominal, &src, tmp, err);
	if (!st)
		st = allocate(lv, &src, err);
	if (!st) {
		for (ftr_sw s = 0; s < n; s++)
			add_groups(lv, &src, s);
		st = join_ends(lv, &src, err);
	}
	if (!st)
		st = note_absent(lv, err);
	ftr_arena_free(tmp);
	if (st)
		return st;
	lv->view.tree.n_horizontal = 0;
	for (uint32_t c = 0; c < lv->n_ends; c++)
		lv->view.tree.n_horizontal += lv->alive[c] && c < lv->far[c] &&
			incr_side(lv, c) == INCR_EQUAL;
	for (ftr_sw s = 0; s < n; s++)
		incr_pack(lv, s);
	lv->view.tree.group_first = lv->first;
	lv->view.tree.groups = lv->view_group;
	lv->view.tree.group_ports = lv->view_port;
	lv->view.tree.port_pos = lv->view_port_pos;
	lv->view.tree.n_up = lv->n_side[INCR_UP];
	lv->view.tree.n_down = lv->n_side[INCR_DOWN];
	lv->view.tree.n_equal = lv->n_side[INCR_EQUAL];
	return FTR_OK;
}

static void flip_end(struct ftr_incr *lv, uint32_t link)
{
	ftr_sw s = incr_remote(lv, lv->far[link]);
	uint32_t bit = lv->view.f->sw[s].first_port + lv->port[link];

	lv->alive[link] ^= 1;
	lv->dead[bit / 64] ^= (uint64_t)1 << bit % 64;
}

/* Change the state of a link.  The caller must then call incr_pack() for both switches. */
void incr_toggle(struct ftr_incr *lv, uint32_t link)
{
	flip_end(lv, link);
	flip_end(lv, lv->far[link]);
	if (incr_side(lv, link) != INCR_EQUAL)
		return;
	if (lv->alive[link])
		lv->view.tree.n_horizontal++;
	else
		lv->view.tree.n_horizontal--;
}
