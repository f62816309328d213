/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The shape: what tree a fabric is.
 *
 * Input is a frozen fabric; output is all that an engine needs to route in
 * closed form: ranks, port groups in a fabric-wide agreed order, costs,
 * dividers and the topological destination index d.  It chooses no port and
 * looks at no VL.  Source: seed 002, sections 3.1 to 3.3, Procedure 1; the
 * order of groups and the index d are ours (design, section 4), because with
 * vendors' GUIDs the plain order of the seed makes pods disagree.
 *
 * Rank      0 = lowest.  A link goes up from the lower to the higher rank;
 *           links inside one rank are "sideways" and not used here.
 * Column    one per switch: cost and down-cost are kept towards every switch,
 *           leaf switches first, in topological order.
 * down      hops from s to l over down links only, or FTR_COST_INF.
 * cost      c[s][l]: hops of the path that a packet takes from s to l, up and
 *           then down; 0 on the own column; FTR_COST_INF: no such path.
 *           It is the shortest one, but for this: where some switch above
 *           comes down to s on its way to l, s must go down, too.
 *
 *	            columns: leaf 0, 1, 2 ...   n_leaf .. n_sw-1: the others
 *	switch 0    c c c c c c                 | row padded to 64 bytes
 *	switch 1    c c c c c c
 *
 * deviation: seed 002, section 3.4 selects {up: c < c_s} and {down: down <
 * c_s}.  On trees whose links skip ranks this allows a turn up after down: a
 * switch that is entered from above may prefer a shorter way up.  So, from the
 * top down, s "must go down" to l if it is a candidate of some switch t above:
 *
 *	must(s,l) = there is t above s with down[s][l] < c[t][l]
 *	c[s][l]   = must(s,l) ? down[s][l]
 *			      : min(down[s][l], 1 + min over t above of c[t][l])
 *
 * and where it must, only {down: down < c_s} are its candidates.  On PGFTs,
 * whole or damaged, this is the seed's rule.
 *
 * Nominal shape.  A fabric that lost something must not be a new tree: the
 * shape of f may be made over the shape of a nominal fabric, the union of what
 * was seen (<ftr/nominal.h>).  Ranks, stubs, the order of columns and of groups,
 * slots, dividers, strides and indices d are then the nominal ones; groups,
 * costs and down-costs hold what is alive in f and nothing else.
 *
 * Slot      a group above by rank has a nominal place among those of its
 *           switch, its slot: 0 .. n_slots[s]-1, ascending with pos.  A slot
 *           that no group has belongs to a neighbour that was lost.  A cable of
 *           a group has a nominal place in the same sense (group_place).
 *
 * Ascent    the nominal way up of a host of class FTR_CLASS_HOST, by which its
 *           own leaf would send it, with the number q that it has on each tier
 *           among the hosts that share its switch there.  In PGFTs q is
 *           floor(d / Pi), and there are no ascents.  They are made where two
 *           slots of some switch lead to the same plane, so that there may be
 *           several ways down to a leaf (src/shape/ascent.c).
 *
 * Everything is const after ftr_shape_new and may be shared between threads.
 */
#ifndef FTR_SHAPE_H
#define FTR_SHAPE_H

#include <ftr/fabric.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_COST_INF 255	/* sentinel: the maximum of the type */

enum ftr_leaf_order {
	FTR_LEAF_BY_GUID = 0,	/* leaves of a pod by switch GUID, hosts by port */
	FTR_LEAF_BY_NAME	/* both by host name in natural order */
};

/* Sorted or not, duplicates allowed; NULL/0 = not given. */
struct ftr_guids {
	const uint64_t *guid;
	uint32_t n;
};

/*
 * What a list of roots is worth.  A switch is evidently missing from it if it is
 * no leaf, is above all of its neighbours by the inferred ranks, as high as the
 * roots that are listed, and has at least half as many neighbours as one of
 * them; but below all of its neighbours by the ranks that the list gives.
 *
 * AUTO	such switches are roots, too; if the list names no switch of the fabric,
 *	ranks are inferred
 * FILE	the list decides; if it names no switch of the fabric, ranks are inferred
 * STRICT	both are FTR_SHAPE
 */
enum ftr_roots { FTR_ROOTS_AUTO = 0, FTR_ROOTS_FILE, FTR_ROOTS_STRICT };

struct ftr_shape_opts {
	struct ftr_guids roots;	/* switch node GUIDs: top rank, decides ranks */
	enum ftr_roots roots_mode;
	struct ftr_guids cn;	/* port GUIDs of compute nodes */
	struct ftr_guids io;	/* port GUIDs of I/O nodes */
	enum ftr_leaf_order leaf_order;
	/* The shape to be made over, NULL: f is all there is.  It must outlive
	 * ftr_shape_new only; the options above are not looked at, for they
	 * made the nominal shape. */
	const struct ftr_shape *nominal;
	bool no_slots;		/* slots = groups as they are, nothing more */
	bool by_guid;		/* groups above in the order of GUIDs, as published
				 * (Gliksberg et al. 2020, section 3.1), instead
				 * of by plane first */
};

#define FTR_SLOT_NONE UINT32_MAX

/* Port group: the parallel cables of s that lead to one switch. */
struct ftr_group {
	ftr_sw remote;		/* Omega_g */
	uint32_t first;		/* ports: ftr_shape.group_ports[first ..] */
	uint32_t n;		/* #g */
	uint32_t pos;		/* place among the groups of its switch, by rank:
				 * the order of candidates in equation (3) */
	uint32_t slot;		/* nominal place among the groups above by rank;
				 * FTR_SLOT_NONE: below or sideways */
	uint32_t n_nominal;	/* nominal cables, >= n */
};

/* Destination classes: each has its own index d, so that a few I/O or
 * Aggregation Nodes do not disturb the balance of the compute nodes. */
enum ftr_class {
	FTR_CLASS_HOST = 0,	/* compute nodes on leaf switches */
	FTR_CLASS_OTHER,	/* I/O, routers, Aggregation Nodes, hosts higher up */
	FTR_CLASS_SW,		/* switch LIDs */
	FTR_N_CLASSES
};

struct ftr_dest {		/* one LID to be routed */
	ftr_lid lid;
	uint8_t cls;		/* enum ftr_class */
	ftr_port port;		/* port at the column's switch; 0: the switch */
	uint32_t col;		/* column of its switch (lambda_d) */
	uint32_t d;		/* topological index inside its class */
};

/* The switch of one tier on the ascent of a host, and its number there. */
struct ftr_up_path {
	ftr_sw sw;		/* FTR_SW_NONE: there is none, or it is lost */
	uint32_t q;		/* UINT32_MAX: there is none */
};

/* Where an end port has its place, cabled ones only. */
struct ftr_ep_index {
	uint32_t d;		/* index of its base LID */
	uint8_t cls;		/* enum ftr_class */
	bool host;		/* counts as a compute node, wherever it is */
};

/* The tree: ranks, port groups, and what did not fit. */
struct ftr_shape_tree {
	uint32_t n_ranks;
	uint32_t n_leaf;	/* columns 0..n_leaf-1 are leaf switches */
	uint32_t n_planes;	/* components strictly above rank 0 */
	uint32_t n_pods;	/* components below the top rank */
	uint32_t n_odd;		/* hosts on switches that are no leaf */
	uint32_t n_horizontal;	/* cables inside one rank, unused */
	bool roots_given;
	bool roots_unknown;	/* roots were given, and none is in the fabric */
	/* switches that are evidently missing from the list, ascending */
	const ftr_sw *unlisted;
	uint32_t n_unlisted;
	bool cn_unknown;	/* opts.cn names no port of f: it was not used */
	bool io_unknown;	/* so does opts.io */
	const uint8_t *rank;	/* [n_sw] */
	const uint8_t *tier;	/* [n_sw] the rank, whatever order came after */
	const uint8_t *stub;	/* [n_sw] 1: joins nothing, left out of planes */
	const uint32_t *leaf_hosts;	/* [n_leaf] host ports of the leaf */
	/* groups of s: group_first[s] .. group_first[s+1]-1: first those above,
	 * ordered by (plane, GUID), then those below, then sideways ones */
	const uint32_t *group_first;	/* [n_sw + 1] */
	const uint32_t *n_up;		/* [n_sw] groups above s */
	const uint32_t *n_down;		/* [n_sw] groups below s */
	const struct ftr_group *groups;
	const ftr_port *group_ports;
	/* parallel to group_ports: nominal place of the cable in its group,
	 * 0 .. n_nominal-1, ascending */
	const uint8_t *group_place;
};

/* The numbers that the closed form computes with. */
struct ftr_shape_numbering {
	uint32_t stride;	/* d-indices per leaf for FTR_CLASS_HOST */
	uint32_t n_d;		/* indices d of FTR_CLASS_HOST, gaps included */
	const uint32_t *col;	/* [n_sw] column of a switch */
	const ftr_sw *col_sw;	/* [n_sw] switch of a column */
	const uint32_t *n_slots;	/* [n_sw] W_s: nominal groups above */
	const uint64_t *divider;	/* [n_sw] Pi_s, >= 1, saturating */
	/* where a switch stands among the leaves, nominally: those of the pod of
	 * its own rank (of a leaf, itself) */
	const uint32_t *pod_first;	/* [n_sw] first column of them, 0 without one */
	const uint32_t *pod_leaves;	/* [n_sw] how many, >= 1 */
	const struct ftr_up_path *up_path;	/* [tiers][n_d], or NULL */
	uint32_t n_dest;
	const struct ftr_dest *dest;	/* by (col, cls, d) */
	const uint32_t *dest_first;	/* [n_sw + 1] dests of a column */
	const struct ftr_ep_index *ep_index;	/* [n_ep] */
	const uint32_t *sw_d;		/* [n_sw] d of the LID of a switch */
};

/* Hops from every switch to every column. */
struct ftr_shape_reach {
	uint32_t cost_stride;	/* bytes per row of cost and down */
	const uint8_t *cost;		/* c_{s,l} */
	const uint8_t *down;
};

/* What is nominal and not in f; all 0 without a nominal shape. */
struct ftr_shape_missing {
	/* what is nominal and not in f; all 0 without a nominal shape */
	bool from_nominal;
	uint32_t n_missing_sw, n_missing_links, n_missing_hosts;
	uint32_t n_absent;
	/* nominal cables between two switches of f that f lacks; sw < peer,
	 * by (sw, port) */
	const struct ftr_link *absent;
};

struct ftr_shape {
	const struct ftr_fabric *f;
	struct ftr_shape_tree tree;
	struct ftr_shape_numbering numbering;
	struct ftr_shape_reach reach;
	struct ftr_shape_missing missing;
	struct ftr_arena *arena;
};

static inline const uint8_t *ftr_shape_cost(const struct ftr_shape *sh,
					    ftr_sw s)
{
	return sh->reach.cost + (size_t)s * sh->reach.cost_stride;
}

static inline const uint8_t *ftr_shape_down(const struct ftr_shape *sh,
					    ftr_sw s)
{
	return sh->reach.down + (size_t)s * sh->reach.cost_stride;
}

/*
 * True if some switch above s routes to column l downward through s; then s, too,
 * must route downward.
 */
bool ftr_shape_must_descend(const struct ftr_shape *sh, ftr_sw s, uint32_t l);

/*
 * Candidates of (s, l), equation (1) of Gliksberg et al. 2020: the groups of s
 * that lead closer to column l, by pos; only those below if s must descend.  l is
 * not the column of s.  cand: room for FTR_PORT_MAX.  Returns their number.
 */
uint32_t ftr_shape_candidates(const struct ftr_shape *sh, ftr_sw s, uint32_t l,
			      const struct ftr_group **cand);

/* Their ports, as bits: all links of the n groups. */
struct ftr_port_set {
	uint64_t bit[4];
};

void ftr_shape_ports(const struct ftr_shape *sh,
		     const struct ftr_group *const *cand, uint32_t n,
		     struct ftr_port_set *out);

static inline bool ftr_port_set_has(const struct ftr_port_set *set, ftr_port p)
{
	return set->bit[p / 64] >> p % 64 & 1;
}

/*
 * Analyse f.  opts may be NULL (all defaults).  The fabric must outlive the
 * shape.  Errors: FTR_SHAPE if there is no switch, if there are more than
 * 128 ranks (up/down paths of 254 hops), or if root GUIDs are given and none
 * is a switch of f.  FTR_INVAL if there is a nominal shape and f has what its
 * fabric lacks.  (A shape over a shape over N is one over N, but for what is
 * missing or absent.)  A fabric without hosts or in several islands is no
 * error.
 * O(links * n_sw) byte operations, 2 * n_sw^2 bytes.
 */
enum ftr_status ftr_shape_new(const struct ftr_fabric *f,
			      const struct ftr_shape_opts *opts,
			      struct ftr_team *team, struct ftr_shape **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_shape_free(struct ftr_shape *sh);	/* NULL is accepted */

/*
 * The same shape over another order: level[s] takes the place of the rank, so
 * a cable goes up from the lower to the higher level.  Destinations, columns,
 * dividers, ascents and the order of groups (among those above, and among those
 * below) stay; ranks, groups above and below, costs and down-costs are made anew.
 * how: FTR_REORDER_KEEP keeps to the paths of sh where there are any: a switch
 * that goes to l in sh over a neighbour which is above it in the new order is
 * not come down to on the way to l, and cables that were sideways in sh are not
 * used.  FTR_REORDER_ALL has neither limit, so that whatever the order connects
 * is connected.  Neighbours over the cables used must differ in level
 * (FTR_INVAL if not).  rank is NULL in the result if there are more than 255
 * levels.  FTR_LIMIT: a path that exists would be longer than 253 hops.  sh
 * must outlive the result.
 */
enum ftr_reorder { FTR_REORDER_KEEP, FTR_REORDER_ALL };
enum ftr_status ftr_shape_reorder(const struct ftr_shape *sh,
				  const uint16_t *level, enum ftr_reorder how,
				  struct ftr_team *team,
				  struct ftr_shape **out,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * The order that the tables are balanced for: calls fn once per index of
 * FTR_CLASS_HOST in ascending d, ep = FTR_EP_NONE for a gap.  Base LIDs only.
 */
void ftr_shape_host_order(const struct ftr_shape *sh,
			  void (*fn)(void *ctx, uint32_t d, ftr_ep ep),
			  void *ctx);

/* Seed 002, section 4.1: pairs of leaf switches without an up/down path. */
struct ftr_validity {
	uint64_t leaf_pairs;	/* ordered pairs of leaf switches looked at */
	uint64_t bad_pairs;	/* of those, without a path */
	uint64_t bad_host_pairs;	/* the same, weighted with their hosts */
	ftr_sw sample_from, sample_to;	/* the first bad pair */
};
void ftr_shape_validity(const struct ftr_shape *sh, struct ftr_validity *out);

#ifdef __cplusplus
}
#endif
#endif
