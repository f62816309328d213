// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Spanning trees: choose a root, search, prune.  A member is a switch with a port of the
 * multicast group.
 *
 * The down-costs of the shape show whether a path of downward links leads from a switch to a
 * member.  But this path may cross a switch that does not support multicast.  So if the search
 * over downward links does not reach all members, a search over all links follows.
 */
#include <string.h>

#include "base/base.h"
#include "osm/stree.h"

struct ibf_stree *ibf_stree_new(const struct ftr_shape *shape,
				const uint8_t *able)
{
	struct ftr_arena *a = ftr_arena_new();
	uint32_t n = shape->f->n_sw;
	struct ibf_stree *t;

	if (a && FTR_ZNEW(a, t, 1) && FTR_ZNEW(a, t->member, n) &&
	    FTR_ZNEW(a, t->used, n) && FTR_ZNEW(a, t->node, n) &&
	    FTR_ZNEW(a, t->queue, n)) {
		t->arena = a;
		t->shape = shape;
		t->able = able;
		return t;
	}
	ftr_arena_free(a);
	return NULL;
}

void ibf_stree_free(struct ibf_stree *t)
{
	if (t)
		ftr_arena_free(t->arena);
}

static uint32_t spread(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x7FEB352Du;
	x = (x ^ (x >> 15)) * 0x846CA68Bu;
	return x ^ (x >> 16);
}

static bool covers(const struct ibf_stree *t, ftr_sw s)
{
	const uint8_t *down = ftr_shape_down(t->shape, s);

	if (!t->able[s])
		return false;
	for (uint32_t i = 0; i < t->n_members; i++)
		if (t->able[t->member[i]] &&
		    down[t->shape->numbering.col[t->member[i]]] == FTR_COST_INF)
			return false;
	return true;
}

/* Of the switches from which downward links lead to all members, returns one of the lowest rank.
 * If several have this rank, the hash selects one: the first loop counts them, the second loop
 * finds the selected one. */
static ftr_sw covering_root(const struct ibf_stree *t, uint32_t hash)
{
	uint32_t n_sw = t->shape->f->n_sw, n = 0;
	unsigned int best = UINT8_MAX + 1u;

	for (ftr_sw s = 0; s < n_sw; s++) {
		if (t->shape->tree.rank[s] > best || !covers(t, s))
			continue;
		n = t->shape->tree.rank[s] < best ? 1 : n + 1;
		best = t->shape->tree.rank[s];
	}
	if (!n)
		return FTR_SW_NONE;
	n = hash % n;
	for (ftr_sw s = 0;; s++)
		if (t->shape->tree.rank[s] == best && covers(t, s) && n-- == 0)
			return s;
}

/* Breadth-first search from the root over the switches that no search has reached yet. */
static void search(struct ibf_stree *t, ftr_sw root, bool down_only,
		       uint32_t hash)
{
	const struct ftr_fabric *f = t->shape->f;
	const uint8_t *rank = t->shape->tree.rank;
	uint32_t head = 0, tail = 0;

	t->node[root] = (struct ibf_stree_node){
		.parent = FTR_SW_NONE, .seen = true
	};
	t->queue[tail++] = root;
	while (head < tail) {
		ftr_sw s = t->queue[head++];
		uint32_t n = f->sw[s].n_ports;
		uint32_t first = spread(hash + s) % n;

		for (uint32_t i = 0; i < n; i++) {
			ftr_port port = (ftr_port)((first + i) % n + 1);
			const struct ftr_swport *p = ftr_fabric_port(f, s,
								     port);

			if (p->peer_kind != FTR_PEER_SW || !t->able[p->peer] ||
			    t->node[p->peer].seen ||
			    (down_only && rank[p->peer] >= rank[s]))
				continue;
			t->node[p->peer] = (struct ibf_stree_node){
				.parent = s, .up = p->peer_port, .down = port,
				.seen = true
			};
			t->queue[tail++] = p->peer;
		}
	}
	t->n_seen = tail;
}

static void forget(struct ibf_stree *t)
{
	memset(t->node, 0, t->shape->f->n_sw * sizeof(*t->node));
}

static uint32_t members_seen(const struct ibf_stree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_members; i++)
		n += t->node[t->member[i]].seen;
	return n;
}

/* Search every connected component with members.  Then search the component with the most members
 * again, to find the tree. */
static void search_any(struct ibf_stree *t, uint32_t hash)
{
	uint32_t before = 0, best = 0;

	forget(t);
	t->root = FTR_SW_NONE;
	for (uint32_t i = 0; i < t->n_members; i++) {
		uint32_t k = (uint32_t)(((uint64_t)hash + i) % t->n_members);
		ftr_sw s = t->member[k];
		uint32_t now;

		if (!t->able[s] || t->node[s].seen)
			continue;
		search(t, s, false, hash);
		now = members_seen(t);
		if (now - before > best) {
			best = now - before;
			t->root = s;
		}
		before = now;
	}
	forget(t);
	if (t->root != FTR_SW_NONE)
		search(t, t->root, false, hash);
}

static void mark_used(struct ibf_stree *t)
{
	for (uint32_t i = 0; i < t->n_members; i++) {
		ftr_sw s = t->member[i];

		while (t->node[s].seen && !t->node[s].used) {
			t->node[s].used = true;
			s = t->node[s].parent;
			if (s == FTR_SW_NONE)
				break;
		}
	}
}

/* Store the switches that lead to members in t->used, the root first.  The root has several such
 * children, or is a member: otherwise covering_root() would have found its child. */
static void prune(struct ibf_stree *t)
{
	mark_used(t);
	t->n_used = 0;
	for (uint32_t i = 0; i < t->n_seen; i++) {
		ftr_sw s = t->queue[i];

		if (t->node[s].used)
			t->used[t->n_used++] = s;
	}
}

void ibf_stree_build(struct ibf_stree *t, uint16_t mlid)
{
	uint32_t hash = spread(mlid), n_able = 0;

	t->n_used = 0;
	t->root = FTR_SW_NONE;
	for (uint32_t i = 0; i < t->n_members; i++)
		n_able += t->able[t->member[i]] != 0;
	if (n_able)
		t->root = covering_root(t, hash);
	t->pure_down = t->root != FTR_SW_NONE;
	if (t->pure_down) {
		forget(t);
		search(t, t->root, true, hash);
		t->pure_down = members_seen(t) == n_able;
	}
	if (!t->pure_down)
		search_any(t, hash);
	t->n_lost = t->n_members - members_seen(t);
	if (t->root != FTR_SW_NONE)
		prune(t);
}
