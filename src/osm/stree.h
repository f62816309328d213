/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Spanning trees for multicast groups, over a shape.  This file does not depend on OpenSM.
 *
 * A breadth-first search from a root finds the tree, so every switch has one parent and there is
 * no loop.  The tree is then pruned to the switches that lie between members.  There are two
 * methods; the first one that works is used:
 *
 *	down	The root is a switch from which downward links lead to every member, so every path
 *		goes up, then down.  The root has the lowest possible rank: the tree of a group
 *		inside one pod stays in the pod.  To spread groups, a hash of the MLID selects
 *		among the switches of that rank, and among parallel links.
 *	any	The root is a member.  The search uses all links of the connected component with
 *		the most members.
 *
 * Only switches with able[] set are used, and only members at such switches are reached.
 * Building a tree takes O(switches * members + links).
 */
#ifndef IBF_STREE_H
#define IBF_STREE_H

#include <ftr/shape.h>

struct ibf_stree_node {
	ftr_sw parent;		/* FTR_SW_NONE: the root */
	ftr_port up;		/* port of this switch that leads to the parent */
	ftr_port down;		/* port of the parent that leads to this switch */
	bool seen;
	bool member;
	bool used;		/* in the pruned tree */
};

struct ibf_stree {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	const struct ftr_shape *shape;
	const uint8_t *able;	/* [n_sw] 1: the switch supports multicast */
	/* Set by the caller before a build. */
	uint32_t n_members;
	ftr_sw *member;		/* [n_sw] distinct switches with members */
	/* Results of a build. */
	ftr_sw root;		/* FTR_SW_NONE: no tree */
	bool pure_down;		/* found by the method "down" */
	uint32_t n_lost;	/* members that the tree does not reach */
	uint32_t n_used;
	ftr_sw *used;		/* [n_sw] switches of the tree, root first */
	struct ibf_stree_node *node;	/* [n_sw] */
	/* Temporary data of a build. */
	uint32_t *n_children;	/* [n_sw] children that lead to members */
	ftr_sw *queue;		/* switches in the order in which the last search reached them */
	uint32_t n_seen;	/* length of queue */
};

/* NULL: no memory.  shape and able must outlive the result. */
struct ibf_stree *ibf_stree_new(const struct ftr_shape *shape,
				const uint8_t *able);
void ibf_stree_free(struct ibf_stree *t);	/* NULL is accepted */

/* Build the tree of t->member[0 .. n_members - 1] for an MLID. */
void ibf_stree_build(struct ibf_stree *t, uint16_t mlid);

#endif
