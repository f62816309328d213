// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the port groups, and sorts them in an order on which all switches agree.
 *
 * A port group has all links from a switch to one neighbour (Gliksberg et al. 2020, section
 * 3.1).  The paper orders the groups of a switch by the GUID of the neighbour.  With the GUIDs of
 * real switches, the pods of a tree then disagree about which spine is the first.  So flows of
 * shift permutations share links.
 *
 * deviation: the upward groups of a switch are ordered by (plane of the neighbour, GUID).  For a
 * switch of rank r, a plane is a connected component of the switches of rank > r, without
 * horizontal links.  Planes are ordered by their smallest GUID.  All switches of one rank have the
 * same planes above, so they order their groups alike.
 *
 * The planes of all ranks are found by one union-find: it begins with the top rank, and then the
 * switches of each lower rank are added.  Stubs are left out: they connect only switches that lower
 * switches connect already (rank.c).  For example, the switch of a rack that is switched off may
 * look like a top switch, and would join all planes into one.
 *
 * The slot of an upward group is its number among all nominal upward groups of its switch, which
 * are numbered in the order above.  Inferred groups (slots.c) have slots, too.
 *
 * If two slots of a switch lead to one plane, the shape has upward paths (upward_paths.c).  A
 * second union-find detects this.  The second one includes stubs, because the spines of a chassis
 * are stubs if racks already connect its leaf switches.  Only empty leaves (rank.c) are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/shape.h"

/* A group that is being ordered. */
struct draft {
	struct ftr_group g;
	enum { ABOVE, BELOW, BESIDE } side;
	uint32_t plane;
};

static int draft_cmp(const void *x, const void *y)
{
	const struct draft *a = x, *b = y;

	return FTR_ORDER(a->side, b->side) ?: FTR_ORDER(a->plane, b->plane) ?:
	       FTR_ORDER(a->g.remote, b->g.remote);
}

/* Returns true if a union-find of planes leaves out switch s.  If `stubs` is false, all stubs are
 * left out; if `stubs` is true, only empty leaves. */
static bool left_out(const struct shaping *z, ftr_sw s, bool stubs)
{
	return z->is_stub[s] && (!stubs || z->is_leaf[s]);
}

static void join_rank(const struct shaping *z, uint32_t *uf, uint32_t r,
		      bool stubs)
{
	for (uint32_t i = z->rank_first[r]; i < z->rank_first[r + 1]; i++) {
		ftr_sw s = z->by_rank[i];

		if (left_out(z, s, stubs))
			continue;
		for_each_nbr(z, s, t)
			if (z->rank[t->sw] > r && !left_out(z, t->sw, stubs))
				ftr_uf_union(uf, s, t->sw);
	}
}

static uint32_t draft_groups(const struct shaping *z, uint32_t *uf, ftr_sw s,
			     struct draft *d)
{
	uint32_t n = 0;

	for_each_nbr(z, s, t) {
		ftr_sw r = t->sw;
		bool up = z->rank[r] > z->rank[s];

		d[n++] = (struct draft){
			.g = { .remote = r, .first = t->first, .n = t->links,
			       .slot = FTR_SLOT_NONE,
			       .n_nominal = shape_nominal_links(z, s, r, t->links) },
			.side = up ? ABOVE :
				z->rank[r] < z->rank[s] ? BELOW : BESIDE,
			.plane = up ? ftr_uf_find(uf, r) : 0,
		};
	}
	qsort(d, n, sizeof(*d), draft_cmp);
	return n;
}

static void count_horizontal(struct shaping *z)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for_each_nbr(z, s, t)
			if (t->sw > s && z->rank[t->sw] == z->rank[s])
				z->sh->tree.n_horizontal += t->links;
}

static uint32_t count_planes(const struct shaping *z, uint32_t *uf)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		n += z->rank[s] > 0 && !z->is_stub[s] &&
			ftr_uf_find(uf, s) == s;
	return n;
}

/* Assign slots to the upward groups d[0 .. n_up - 1] of s, which are sorted.  Set slot[] to the
 * nominal neighbours above s, each with its plane as the key, in the order of groups.  Returns their
 * number. */
static uint32_t number_slots(const struct shaping *z, uint32_t *uf, ftr_sw s,
			     struct draft *d, uint32_t n_up, struct ftr_key *slot)
{
	const ftr_sw *above;
	uint32_t n_inferred = shape_inferred_above(z, s, &above);
	uint32_t n = 0, m = 0, k = 0;

	for (uint32_t i = 0; i < n_up; i++)
		slot[n++] = (struct ftr_key){ d[i].plane, d[i].g.remote };
	for (uint32_t i = 0; i < n_inferred; i++)
		slot[n++] = (struct ftr_key){ ftr_uf_find(uf, above[i]), above[i] };
	if (n_inferred)
		qsort(slot, n, sizeof(*slot), ftr_key_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (i && slot[i].idx == slot[i - 1].idx)
			continue;
		if (k < n_up && d[k].g.remote == slot[i].idx)
			d[k++].g.slot = m;
		slot[m++] = slot[i];
	}
	return m;
}

/* Returns true if two of the n slots of s lead to one plane.  seen: [n_sw] scratch. */
static bool share_plane(uint32_t *uf, ftr_sw s, const struct ftr_key *slot,
			uint32_t n, ftr_sw *seen)
{
	bool twice = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t plane = ftr_uf_find(uf, slot[i].idx);

		twice |= seen[plane] == s;
		seen[plane] = s;
	}
	return twice;
}

/* Store the ports of all groups, and the nominal position of each link in its group.  If a group
 * lacks links, its present links get the first positions. */
static enum ftr_status lay_links(struct shaping *z, struct ftr_group *groups)
{
	uint32_t n = z->nbr_first[z->f->n_sw], next = 0;
	ftr_port *port = ftr_arena_alloc(z->keep, z->f->n_ports, 1);
	uint8_t *port_pos = ftr_arena_alloc(z->keep, z->f->n_ports, 1);

	if (!port || !port_pos)
		return shape_nomem(z);
	for (uint32_t g = 0; g < n; g++) {
		const ftr_port *from = z->nbr_port + groups[g].first;

		groups[g].first = next;
		for (uint32_t i = 0; i < groups[g].n; i++) {
			port[next] = from[i];
			port_pos[next++] = (uint8_t)i;
		}
	}
	z->sh->tree.group_ports = port;
	z->sh->tree.port_pos = port_pos;
	return FTR_OK;
}

struct grouping {
	/* union-finds of planes.  uf: without stubs; all: with stubs, but without empty leaves */
	uint32_t *uf, *all;
	ftr_sw *seen;
	struct ftr_key *slot;
	uint32_t *n_up, *n_down, *n_equal, *n_slots;	/* these become part of the shape */
	struct ftr_group *groups;
};

static bool allocate(const struct shaping *z, struct grouping *w)
{
	uint32_t n = z->f->n_sw;

	if (!FTR_NEW(z->scratch, w->uf, n) || !FTR_NEW(z->scratch, w->all, n) ||
	    !FTR_NEW(z->scratch, w->seen, n) ||
	    !FTR_NEW(z->scratch, w->slot, n + FTR_PORT_MAX) ||
	    !FTR_ZNEW(z->keep, w->n_up, n) ||
	    !FTR_ZNEW(z->keep, w->n_down, n) ||
	    !FTR_ZNEW(z->keep, w->n_equal, n) ||
	    !FTR_NEW(z->keep, w->n_slots, n) ||
	    !FTR_ZNEW(z->keep, w->groups, z->nbr_first[n]))
		return false;
	ftr_uf_init(w->uf, n);
	ftr_uf_init(w->all, n);
	memset(w->seen, 0xff, n * sizeof(*w->seen));
	return true;
}

static void group_switch(struct shaping *z, struct grouping *w, ftr_sw s)
{
	struct draft draft[FTR_PORT_MAX + 1];
	uint32_t n = draft_groups(z, w->uf, s, draft);

	for (uint32_t k = 0; k < n; k++) {
		w->n_up[s] += draft[k].side == ABOVE;
		w->n_down[s] += draft[k].side == BELOW;
		draft[k].g.pos = k;
	}
	w->n_equal[s] = n - w->n_up[s] - w->n_down[s];
	w->n_slots[s] = number_slots(z, w->uf, s, draft, w->n_up[s], w->slot);
	z->shared_plane |= share_plane(w->all, s, w->slot, w->n_slots[s],
				       w->seen);
	for (uint32_t k = 0; k < n; k++)
		w->groups[z->nbr_first[s] + k] = draft[k].g;
}

enum ftr_status shape_group(struct shaping *z)
{
	struct ftr_shape *sh = z->sh;
	struct grouping w;

	if (!allocate(z, &w))
		return shape_nomem(z);
	for (uint32_t r = sh->tree.n_ranks; r-- > 0;) {
		if (r + 1 < sh->tree.n_ranks) {
			join_rank(z, w.uf, r + 1, false);
			join_rank(z, w.all, r + 1, true);
		}
		for (uint32_t i = z->rank_first[r]; i < z->rank_first[r + 1];
		     i++)
			group_switch(z, &w, z->by_rank[i]);
	}
	sh->tree.n_planes = sh->tree.n_ranks > 1 ? count_planes(z, w.uf) : 0;
	count_horizontal(z);
	sh->tree.group_first = z->nbr_first;
	sh->tree.n_up = w.n_up;
	sh->tree.n_down = w.n_down;
	sh->tree.n_equal = w.n_equal;
	sh->tree.groups = w.groups;
	sh->numbering.n_slots = w.n_slots;
	return lay_links(z, w.groups);
}
