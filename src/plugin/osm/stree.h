/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Spanning trees for multicast groups, in the fabric of a shape.  This file does not depend on
 * OpenSM.
 *
 * A member is a switch with a port of the multicast group.  A breadth-first search from a root
 * finds the tree, so every switch has one parent and there is no loop.  Then the switches that do
 * not lie between members are removed from the tree.  The method "any" is used if the method
 * "down" does not reach all members:
 *
 *	down	The root is a switch from which downward links lead to every member, so every path
 *		goes up, then down.  The root has the lowest possible rank, so the tree uses no
 *		higher switches than necessary.  A hash of the MLID selects one of the switches
 *		of that rank, and one of several parallel links, so that groups use different
 *		links.
 *	any	The root is a member.  The search uses all links of the connected component with
 *		the most members.
 *
 * The tree contains only switches with able[] set.  Building it takes O(switches * members +
 * links).
 */
#ifndef IBF_STREE_H
#define IBF_STREE_H

#include <ftr/shape.h>

struct ibf_stree_node {
	ftr_sw parent;		/* FTR_SW_NONE: the root */
	ftr_port up;		/* port of this switch that leads to the parent */
	ftr_port down;		/* port of the parent that leads to this switch */
	bool seen;
	bool used;		/* in the pruned tree */
};

struct ibf_stree {
	struct ftr_arena *arena;	/* holds this structure and its arrays */
	const struct ftr_shape *shape;
	const uint8_t *able;	/* [n_sw] 1: the switch supports multicast */
	/* Set by the caller before a build. */
	uint32_t n_members;
	ftr_sw *member;		/* [n_sw] the members, without duplicates */
	/* Results of a build. */
	ftr_sw root;		/* FTR_SW_NONE: no tree */
	bool pure_down;		/* found by the method "down" */
	uint32_t n_lost;	/* members that the tree does not reach */
	uint32_t n_used;
	ftr_sw *used;		/* [n_sw] switches of the tree, root first */
	struct ibf_stree_node *node;	/* [n_sw] */
	/* Temporary data of a build. */
	ftr_sw *queue;		/* switches in the order in which the last search reached them */
	uint32_t n_seen;	/* length of queue */
};

/* NULL: no memory.  shape and able must outlive the result. */
struct ibf_stree *ibf_stree_new(const struct ftr_shape *shape,
				const uint8_t *able);
void ibf_stree_free(struct ibf_stree *t);	/* NULL is accepted */

/* Build a tree that connects t->member[0 .. n_members - 1], for an MLID. */
void ibf_stree_build(struct ibf_stree *t, uint16_t mlid);

#endif
