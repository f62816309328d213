/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Spanning trees for multicast groups, over a shape.  This file does not depend on OpenSM.
 *
 * A tree is found by breadth-first search from a root, so every switch has one
 * parent and there is no loop.  The tree is then pruned to the switches that lie
 * between members.  There are two methods; the first that works is used:
 *
 *	down	the search starts at a switch from which downward links lead to every
 *		member.  That switch is one of the lowest possible rank, so that the
 *		tree of a group inside one pod stays in the pod.  Among the switches
 *		of that rank, and among parallel links, a hash of the MLID selects one,
 *		so that groups are spread.  Every path in such a tree goes up, then
 *		down.
 *	any	the search starts at a member, and uses all links of the connected
 *		component that holds the most members.
 *
 * Only switches whose able[] is set are used, and only members at such switches are reached.
 * O(switches * members + links) for a tree.
 */
#ifndef IBF_STREE_H
#define IBF_STREE_H

#include <ftr/shape.h>

struct ibf_stree_node {
	ftr_sw parent;		/* FTR_SW_NONE: the root */
	ftr_port up;		/* port of this switch that leads to the parent */
	ftr_port down;		/* port of the parent that leads to this switch */
	bool seen;		/* the search has reached the switch */
	bool member;
	bool used;		/* the switch is in the pruned tree */
};

struct ibf_stree {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	const struct ftr_shape *shape;
	const uint8_t *able;	/* [n_sw] 1: the switch supports multicast */
	/* written by the caller before a build */
	uint32_t n_members;
	ftr_sw *member;		/* [n_sw] distinct switches with members */
	/* results of a build */
	ftr_sw root;		/* FTR_SW_NONE: no tree */
	bool pure_down;		/* the tree was found by the method "down" */
	uint32_t n_lost;	/* number of members that the tree does not reach */
	uint32_t n_used;
	ftr_sw *used;		/* [n_sw] switches of the tree, root first */
	struct ibf_stree_node *node;	/* [n_sw] */
	/* temporary data of a build */
	uint32_t *n_children;	/* [n_sw] number of children that lead to members */
	ftr_sw *queue;		/* switches in the order in which the last search reached them */
	uint32_t n_seen;	/* length of queue */
};

/* NULL: no memory.  shape and able must outlive the returned structure. */
struct ibf_stree *ibf_stree_new(const struct ftr_shape *shape,
				const uint8_t *able);
void ibf_stree_free(struct ibf_stree *t);	/* NULL is accepted */

/* Build the tree of t->member[0 .. n_members - 1] for an MLID. */
void ibf_stree_build(struct ibf_stree *t, uint16_t mlid);

#endif
