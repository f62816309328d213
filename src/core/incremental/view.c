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

/* sh defines the nominal links: it is the nominal shape, or the present one if there is none. */
struct source {
	const struct ftr_shape *sh;
	ftr_sw *here;		/* here[t]: index in the present shape of switch t of sh, or
				 * FTR_SW_NONE */
	ftr_sw *there;		/* there[s]: index in sh of switch s of the present shape */
};

static enum ftr_status allocate(struct incr_links *k, struct ftr_arena *a,
				const struct source *src, struct ftr_err *err)
{
	const struct ftr_fabric *f = k->f;
	uint32_t n = f->n_sw, n_groups = src->sh->tree.group_first[src->sh->f->n_sw];

	if (!FTR_ZNEW(a, k->group, n_groups) ||
	    !FTR_ZNEW(a, k->first, n + 1u) ||
	    !FTR_NEW(a, k->port, f->n_ports) ||
	    !FTR_NEW(a, k->port_pos, f->n_ports) ||
	    !FTR_NEW(a, k->link_at, f->n_ports) ||
	    !FTR_NEW(a, k->group_of, f->n_ports) ||
	    !FTR_NEW(a, k->far, f->n_ports) ||
	    !FTR_ZNEW(a, k->alive, f->n_ports) ||
	    !FTR_ZNEW(a, k->dead, f->n_ports / 64 + 1u) ||
	    !FTR_ZNEW(a, k->view_group, n_groups) ||
	    !FTR_ZNEW(a, k->view_port, f->n_ports) ||
	    !FTR_ZNEW(a, k->view_port_pos, f->n_ports) ||
	    !FTR_ZNEW(a, k->n_side[INCR_UP], n) ||
	    !FTR_ZNEW(a, k->n_side[INCR_DOWN], n) ||
	    !FTR_ZNEW(a, k->n_side[INCR_EQUAL], n))
		return incr_nomem(err);
	memset(k->link_at, 0xff, f->n_ports * sizeof(*k->link_at));
	return FTR_OK;
}

/* ---- nominal links ------------------------------------------------------ */

/* Find for each switch of sh the switch of src->sh at the same position in the nominal fabric
 * (ftr_switch.holder). */
static enum ftr_status find_source(const struct ftr_shape *sh, const struct ftr_shape *nominal,
				   struct source *src, struct ftr_arena *tmp,
				   struct ftr_err *err)
{
	const struct ftr_fabric *f = sh->f;

	src->sh = nominal ? nominal : sh;
	src->here = ftr_arena_alloc(tmp, src->sh->f->n_sw, sizeof(ftr_sw));
	src->there = ftr_arena_alloc(tmp, f->n_sw, sizeof(ftr_sw));
	if (!src->here || !src->there)
		return incr_nomem(err);
	memset(src->here, 0xff, src->sh->f->n_sw * sizeof(ftr_sw));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = nominal ? ftr_fabric_find_holder(nominal->f, f->sw[s].guid) : s;

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

/* True if routing may use the k-th nominal group of s in the direction `side`.  A group that is
 * horizontal by the nominal ranks may lead up or down by the present ranks.  Such a group is used
 * only if it is also in the present shape. */
static bool is_usable(const struct ftr_shape *sh, const struct source *src, ftr_sw s, uint32_t k,
		      enum incr_side side)
{
	ftr_sw t = src->there[s];
	ftr_sw r = src->here[src->sh->tree.groups[src->sh->tree.group_first[t] +
					     k].remote];

	if (r == FTR_SW_NONE || incr_side(sh->tree.rank, s, r) != side)
		return false;
	return side == INCR_EQUAL || k < src->sh->tree.n_up[t] + src->sh->tree.n_down[t] ||
		has_group(sh, s, sh->tree.n_up[s] + sh->tree.n_down[s], r);
}

/* Add a nominal group of s with its links. */
static void add_group(struct incr_links *k, const struct source *src, ftr_sw s,
		      const struct ftr_group *from)
{
	uint32_t at = k->first[s + 1]++;
	struct ftr_group *g = &k->group[at];

	*g = *from;
	g->remote = src->here[from->remote];
	g->first = k->n_ends;
	g->n = 0;
	for (uint32_t i = 0; i < from->n; i++) {
		ftr_port p = src->sh->tree.group_ports[from->first + i];
		uint32_t c = k->n_ends;

		if (p > k->f->sw[s].n_ports)
			continue;
		k->port[c] = p;
		k->port_pos[c] = src->sh->tree.port_pos[from->first + i];
		k->alive[c] = ftr_fabric_port(k->f, s, p)->peer_kind == FTR_PEER_SW;
		k->group_of[c] = at;
		k->link_at[k->f->sw[s].first_port + p] = c;
		k->n_ends++;
		g->n++;
	}
}

static void add_groups(struct incr_links *k, const struct ftr_shape *sh, const struct source *src,
		       bool horizontal, ftr_sw s)
{
	const struct ftr_shape *from = src->sh;
	ftr_sw t = src->there[s];
	uint32_t n = ftr_shape_groups(from, t);
	int end = horizontal ? INCR_N_SIDES : INCR_EQUAL;

	k->first[s + 1] = k->first[s];
	for (int side = INCR_UP; side < end; side++)
		for (uint32_t i = 0; i < n; i++)
			if (is_usable(sh, src, s, i, (enum incr_side)side))
				add_group(k, src, s,
					  &from->tree.groups[from->tree.group_first[t] + i]);
}

/* Set far[] for all ends. FTR_INVAL: the other end of a link is not known. */
static enum ftr_status join_ends(struct incr_links *k, const struct source *src,
				 struct ftr_err *err)
{
	const struct ftr_fabric *f = k->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port;
			uint32_t c = incr_link(k, s, (ftr_port)p);

			if (c == NONE)
				continue;
			port = ftr_fabric_port(src->sh->f, src->there[s], (ftr_port)p);
			k->far[c] = incr_link(k, src->here[port->peer], port->peer_port);
			if (k->far[c] == NONE)
				return ftr_fail(err, FTR_INVAL, "the other end of the link at port %u of switch 0x%016"
						PRIx64 " is not known",
						p, f->sw[s].guid);
		}
	return FTR_OK;
}

static void flip_dead(struct incr_links *k, uint32_t end)
{
	uint32_t bit = k->f->sw[incr_near(k, end)].first_port + k->port[end];

	k->dead[bit / 64] ^= (uint64_t)1 << bit % 64;
}

/* Set k->absent to the nominal links that are not in the fabric.  They are dead. */
static enum ftr_status note_absent(struct incr_links *k, struct ftr_arena *arena, struct ftr_err *err)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < k->n_ends; c++)
		n += !k->alive[c] && c < k->far[c];
	if (!FTR_NEW(arena, k->absent, n))
		return incr_nomem(err);
	for (uint32_t c = 0; c < k->n_ends; c++) {
		if (k->alive[c])
			continue;
		flip_dead(k, c);
		if (c < k->far[c])
			k->absent[k->n_absent++] = c;
	}
	return FTR_OK;
}

/* ---- the view -------------------------------------------------------- */

bool incr_adjacent(const struct ftr_shape *view, ftr_sw s, ftr_sw t)
{
	return has_group(view, s, ftr_shape_groups(view, s), t);
}

void incr_pack(struct incr_links *k, ftr_sw s)
{
	struct ftr_group *to = &k->view_group[k->first[s]];

	for (int side = INCR_UP; side < INCR_N_SIDES; side++)
		k->n_side[side][s] = 0;
	for (uint32_t i = k->first[s]; i < k->first[s + 1]; i++) {
		const struct ftr_group *g = &k->group[i];
		uint32_t n = 0;

		for (uint32_t c = g->first; c < g->first + g->n; c++) {
			if (!k->alive[c])
				continue;
			k->view_port[g->first + n] = k->port[c];
			k->view_port_pos[g->first + n++] = k->port_pos[c];
		}
		if (!n)
			continue;
		*to = *g;
		to++->n = n;
		k->n_side[incr_side(k->rank, s, g->remote)][s]++;
	}
}

static bool is_horizontal(const struct incr_links *k, uint32_t link)
{
	return incr_side(k->rank, incr_near(k, link), incr_remote(k, link)) == INCR_EQUAL;
}

enum ftr_status incr_links_new(struct incr_links *k, struct ftr_arena *arena, struct ftr_shape *view,
			       const struct ftr_shape *nominal, bool horizontal,
			       struct ftr_err *err)
{
	struct ftr_shape_tree *tree = &view->tree;
	struct ftr_arena *tmp = ftr_arena_new();
	struct source src;
	enum ftr_status st;

	if (!tmp)
		return incr_nomem(err);
	k->f = view->f;
	k->rank = tree->rank;
	st = find_source(view, nominal, &src, tmp, err);
	if (!st)
		st = allocate(k, arena, &src, err);
	if (!st) {
		for (ftr_sw s = 0; s < k->f->n_sw; s++)
			add_groups(k, view, &src, horizontal, s);
		st = join_ends(k, &src, err);
	}
	if (!st)
		st = note_absent(k, arena, err);
	ftr_arena_free(tmp);
	if (st)
		return st;
	tree->n_horizontal = 0;
	for (uint32_t c = 0; c < k->n_ends; c++)
		tree->n_horizontal += k->alive[c] && c < k->far[c] && is_horizontal(k, c);
	for (ftr_sw s = 0; s < k->f->n_sw; s++)
		incr_pack(k, s);
	tree->group_first = k->first;
	tree->groups = k->view_group;
	tree->group_ports = k->view_port;
	tree->port_pos = k->view_port_pos;
	tree->n_up = k->n_side[INCR_UP];
	tree->n_down = k->n_side[INCR_DOWN];
	tree->n_equal = k->n_side[INCR_EQUAL];
	return FTR_OK;
}

void incr_toggle(struct incr_links *k, struct ftr_shape *view, uint32_t link)
{
	const uint32_t end[2] = { link, k->far[link] };

	for (int i = 0; i < 2; i++) {
		k->alive[end[i]] ^= 1;
		flip_dead(k, end[i]);
	}
	if (is_horizontal(k, link))
		view->tree.n_horizontal += k->alive[link] ? 1 : -1u;
}
