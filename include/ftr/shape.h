/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The shape: everything about a fabric that an engine needs for routing.
 *
 * The shape of a fabric consists of the ranks of the switches, the port groups (the parallel links
 * to one neighbour are a group), the costs, the dividers, and the destination indices d.  All
 * switches order their groups by the same rule.  The shape does not choose the ports of entries,
 * and ignores VLs.
 *
 * Source: Gliksberg et al. 2020, sections 3.1 to 3.3, Procedure 1.  The order of the groups and
 * the numbers d differ from the paper (docs/design.md, Decisions).  The paper orders groups by the
 * GUIDs of the neighbours.  With the GUIDs that vendors assign, this order is not the same in all
 * pods, and the load becomes uneven.
 *
 * Rank      0 is the lowest.  A link leads up from the lower to the higher rank.
 *           No cost depends on horizontal links (between switches of one rank).
 * Plane     A connected component of the switches above a rank.
 * Pod       A connected component of the switches up to a rank.
 * Column    A switch as a destination; every switch has a column.  The columns of
 *           the leaf switches come first, in topological order.
 * d         Number of a destination.  The hosts of one leaf have consecutive numbers, and
 *           so have all hosts of one pod.
 * Divider   Pi_s: the number of hosts that share an upward next hop of switch s.
 * down      down[s][l]: least number of hops from switch s to column l over downward
 *           links only; FTR_COST_INF: there is no such path.
 * cost      c[s][l]: number of hops of the path that a packet takes from switch s to
 *           column l, up and then down.  0 in the switch's own column; FTR_COST_INF if
 *           there is no such path.  The path is the shortest up/down path, with one
 *           exception: if a switch above s routes downward through s to l, s must route
 *           downward, too.
 *
 *	            columns: leaf 0, 1, 2 ...   n_leaf .. n_sw-1: other switches
 *	switch 0    c c c c c c                 | row padded to 64 bytes
 *	switch 1    c c c c c c
 *
 * deviation: Gliksberg et al. 2020, section 3.4, select the upward neighbours with
 * c < c_s and the downward neighbours with down < c_s, where c_s is the cost of s.  In trees
 * whose links skip ranks, this allows an upward hop after a downward hop: a packet comes down
 * to a switch, and the shortest path from there leads up.  We therefore determine, from the top
 * rank downward, whether s "must go down" to l.  This is so if some switch t above s may send
 * packets for l to s:
 *
 *	must(s,l) = there is t above s with down[s][l] < c[t][l]
 *	c[s][l]   = must(s,l) ? down[s][l]
 *			      : min(down[s][l], 1 + min over all t above s of c[t][l])
 *
 * If s must go down, its only candidates are the downward neighbours with down < c_s.  On
 * PGFTs, complete or damaged, this selects the same neighbours as the paper.
 *
 * Nominal shape.  A fault must not change the ranks and numbers of the rest of the fabric.
 * Therefore a shape can be made with a nominal shape (ftr_shape_opts.nominal).  A nominal shape is
 * the shape of a nominal fabric, the union of all switches and links seen so far (<ftr/nominal.h>).
 * The new shape takes from it the ranks, the stubs (ftr_shape_tree.stub), the order of the columns,
 * the order of the groups of each switch, the slots, the dividers, the stride and the indices d.
 * The groups, costs and down-costs of the new shape cover only the parts that are present.
 *
 * Slot      The number of an upward group among the upward groups that its switch has in
 *           the nominal fabric: 0 .. n_slots[s]-1, in the order of the groups.  The slot
 *           of a missing group stays empty.  In the same way, each link of a group has a
 *           position among the nominal links of the group (port_pos).
 *
 * up_path   The nominal upward path of a host of class FTR_CLASS_HOST, which begins at the
 *           host's leaf.  For each tier, up_path contains the switch of the path and a
 *           number q: the hosts whose upward paths use this switch are numbered, and q is
 *           the number of the host.  In PGFTs q is floor(d / Pi), where Pi is the divider
 *           of this switch; up_path is then not needed, and is NULL.  It is set only if two
 *           slots of some switch lead to the same plane (src/core/shape/upward_paths.c).
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

#define FTR_COST_INF 255	/* no path; greater than every cost */

enum ftr_leaf_order {
	/* leaves of a pod are ordered by switch GUID, hosts of a leaf by port number */
	FTR_LEAF_BY_GUID = 0,
	FTR_LEAF_BY_NAME	/* both are ordered by host name, in natural order ("n2" before
				 * "n10") */
};

/* A list of GUIDs in any order; duplicates are allowed.  guid NULL and n 0: no list. */
struct ftr_guids {
	const uint64_t *guid;
	uint32_t n;
};

/*
 * What happens if a list of roots is incomplete.  A switch is evidently missing from the list if
 * all of these are true:
 *
 *	- It is neither a leaf nor a stub.
 *	- By the ranks that are inferred without the list, it is above all of its neighbours, and
 *	  not below the lowest of the listed roots.
 *	- It has at least half as many neighbours as one of the listed roots.
 *	- By the ranks that follow from the list, it is below all of its neighbours.
 *
 * AUTO		Switches that are evidently missing count as roots.  If no listed switch is in
 *		the fabric, ranks are inferred.
 * FILE		Only the listed switches are roots.  If none of them is in the fabric, ranks are
 *		inferred.
 * STRICT	If a switch is evidently missing, or no listed switch is in the fabric, the shape
 *		is not made (FTR_SHAPE).
 */
enum ftr_roots { FTR_ROOTS_AUTO = 0, FTR_ROOTS_FILE, FTR_ROOTS_STRICT };

/* The rank of a switch in an earlier shape. */
struct ftr_old_rank {
	uint64_t guid;		/* node GUID of the switch's place in the nominal fabric */
	uint8_t rank;		/* 0 .. 127 */
	/* leaf: the switch was a leaf (its column was one of the first n_leaf).  stub: it was a
	 * stub (ftr_shape_tree.stub) */
	bool leaf, stub;
};

struct ftr_shape_opts {
	/* Node GUIDs of the roots, the switches of the top rank.  In every island (connected
	 * component) with a listed root, the ranks follow from the roots. */
	struct ftr_guids roots;
	enum ftr_roots roots_mode;
	/* Port GUIDs of compute nodes.  If at least one of them is in f, no other port is a compute
	 * node; otherwise the list is not used. */
	struct ftr_guids cn;
	/* Port GUIDs of I/O nodes.  If cn is not used, the compute nodes are all ports of channel
	 * adapters except these and those of Aggregation Nodes. */
	struct ftr_guids io;
	enum ftr_leaf_order leaf_order;
	/* The nominal shape from which the new shape takes its ranks and numbers (see above);
	 * NULL: f is the complete fabric.  With a nominal shape, all other options are ignored,
	 * because they were applied to the nominal shape.  After ftr_shape_new has returned, the
	 * nominal shape is no longer used. */
	const struct ftr_shape *nominal;
	/* The ranks of an earlier shape, ascending by GUID, or NULL.  They are kept, unless the
	 * inferred ranks are clearly better (src/core/shape/choice.c) or roots are given.  After
	 * ftr_shape_new has returned, old is no longer used. */
	const struct ftr_old_rank *old;
	uint32_t n_old;
	uint64_t old_lists;	/* hash of the GUIDs in opts.roots, cn and io of that shape */
};

#define FTR_SLOT_NONE UINT32_MAX

/* Port group: the parallel links from a switch to one neighbour. */
struct ftr_group {
	ftr_sw remote;		/* the neighbour (Omega_g) */
	uint32_t first;		/* ports: tree.group_ports[first ..] */
	uint32_t n;		/* number of links (#g) */
	/* ftr_shape_reorder does not change pos and slot */
	uint32_t pos;		/* position among the groups of its switch; equation (3) counts
				 * candidates in this order */
	uint32_t slot;		/* number among the nominal upward groups of the switch;
				 * FTR_SLOT_NONE: a downward or horizontal group */
	uint32_t n_nominal;	/* number of links in the nominal fabric, >= n */
};

/* Classes of destinations.  The index d is counted in each class separately, so that a few
 * I/O or Aggregation Nodes do not disturb the balance of the compute nodes. */
enum ftr_class {
	FTR_CLASS_HOST = 0,	/* compute nodes on leaf switches */
	FTR_CLASS_OTHER,	/* I/O nodes, routers, Aggregation Nodes, hosts on
				 * switches that are not leaves */
	FTR_CLASS_SW,		/* switch LIDs */
	FTR_N_CLASSES
};

struct ftr_dest {		/* a LID to be routed */
	ftr_lid lid;
	uint8_t cls;		/* enum ftr_class */
	ftr_port port;		/* port of its switch to which the destination is connected; 0: the
				 * destination is the switch itself */
	uint32_t col;		/* column of its switch (lambda_d) */
	uint32_t d;		/* index d, counted in its class */
};

/* The element of a host's up_path for one tier. */
struct ftr_up_path {
	ftr_sw sw;		/* switch of the path on this tier; FTR_SW_NONE: there is none, or
				 * the switch is missing */
	uint32_t q;		/* number of the host, see "up_path" above; UINT32_MAX: none */
};

/* Index of a host port; meaningful only if the port has a link. */
struct ftr_ep_index {
	uint32_t d;		/* index d of its base LID */
	uint8_t cls;		/* enum ftr_class */
	bool host;		/* true: the port counts as a compute node, on a leaf or not */
};

/* The tree: ranks, port groups and irregularities. */
struct ftr_shape_tree {
	uint32_t n_ranks;
	uint32_t n_leaf;	/* number of leaf switches: columns 0..n_leaf-1 */
	/* Numbers of connected components; horizontal links are ignored.  n_planes: components of
	 * the switches above rank 0, without stubs.  n_pods: components of the switches below the
	 * top rank.  If there is a nominal shape, both numbers are those of the nominal shape. */
	uint32_t n_planes;
	uint32_t n_pods;
	uint32_t n_odd;		/* number of hosts on switches that are not leaves */
	/* number of links between switches of the same rank; in a shape made with
	 * FTR_REORDER_KEEP, the ranks of the original shape count */
	uint32_t n_horizontal;
	bool ranks_kept;	/* true: the ranks are those of opts.old, and the inferred ranks
				 * differ from them */
	bool roots_given;	/* true: the ranks follow from opts.roots */
	bool roots_unknown;	/* true: roots were given, but none is in the fabric */
	/* switches that are evidently missing from the root list, ascending */
	const ftr_sw *unlisted;
	uint32_t n_unlisted;
	bool cn_unknown;	/* true: opts.cn was ignored, because it names no host of f */
	bool io_unknown;	/* true: opts.io was given, but names no port of f */
	const uint8_t *rank;	/* [n_sw] */
	/* [n_sw] the rank in the physical tree, which ftr_shape_reorder does not change */
	const uint8_t *tier;
	/* [n_sw] 1: the switch is a stub: it has no end nodes, and its neighbours are already
	 * connected with each other through lower switches.  Planes are determined without stubs */
	const uint8_t *stub;
	const uint32_t *leaf_hosts;	/* [n_leaf] number of hosts (FTR_CLASS_HOST) on the leaf */
	/* The groups of s begin at groups[group_first[s]]; their number is ftr_shape_groups().
	 * First come the upward groups, ordered by (plane, GUID).
	 * Then come the downward groups, then the horizontal groups.  In a shape made with
	 * FTR_REORDER_KEEP, elements that are not set may follow, up to
	 * groups[group_first[s + 1] - 1]. */
	const uint32_t *group_first;	/* [n_sw + 1] */
	const uint32_t *n_up;		/* [n_sw] number of upward groups */
	const uint32_t *n_down;		/* [n_sw] number of downward groups */
	const uint32_t *n_equal;	/* [n_sw] number of horizontal groups; 0 in a shape of
					 * ftr_shape_reorder */
	const struct ftr_group *groups;
	const ftr_port *group_ports;
	/* port_pos[i]: position of the link of group_ports[i] among the nominal links of its group,
	 * 0 .. n_nominal-1, ascending */
	const uint8_t *port_pos;
};

/* The numbers that the formula of dmodc uses (Gliksberg et al. 2020). */
struct ftr_shape_numbering {
	uint32_t stride;	/* each leaf has this number of consecutive indices d in
				 * FTR_CLASS_HOST; those without a host are gaps */
	uint32_t n_d;		/* number of indices d of FTR_CLASS_HOST, gaps
				 * included */
	uint32_t n_places;	/* length of the host order: n_d + number of hosts that are not on
				 * leaves */
	const uint32_t *col;	/* [n_sw] column of a switch */
	const ftr_sw *col_sw;	/* [n_sw] switch of a column */
	const uint32_t *n_slots;	/* [n_sw] number of nominal upward groups (W_s) */
	const uint64_t *divider;	/* [n_sw] Pi_s, >= 1; UINT64_MAX: this number or more */
	/* The range of leaf columns in the pod of each switch, in the nominal shape.  The pod of a
	 * switch of rank r is the connected component of the switches of ranks 0 .. r that contains
	 * this switch.  For a leaf the range is its own column.  If the pod has no leaf, the range
	 * is column 0. */
	const uint32_t *pod_first;	/* [n_sw] first column */
	const uint32_t *pod_leaves;	/* [n_sw] number of columns, >= 1 */
	const struct ftr_up_path *up_path;	/* [tiers][n_d] by (tier, index d), or NULL */
	/* [n_sw] rail of a switch (<ftr/hosts.h>) + 1; 0: it has none; NULL: the fabric has no
	 * rails */
	const uint8_t *rail;
	uint32_t n_rails;
	uint32_t n_dest;
	const struct ftr_dest *dest;	/* sorted by (col, cls, d, lid) */
	const uint32_t *dest_first;	/* [n_sw + 1] first destination of a column */
	const struct ftr_ep_index *ep_index;	/* [n_ep] */
	const uint32_t *sw_d;		/* [n_sw] index d of the LID of a switch */
};

/* Hops from the switches to the columns: cost[s * stride + i] and down[s * stride + i] are those from
 * switch s to column l + i.  l is 0 in a shape, and the column in ftr_shape_column(). */
struct ftr_costs {
	const uint8_t *cost, *down;	/* c_{s,l}, and the same for downward paths */
	size_t stride;
};

struct ftr_shape {
	const struct ftr_fabric *f;
	struct ftr_shape_tree tree;
	struct ftr_shape_numbering numbering;
	struct ftr_costs reach;	/* rows of all columns */
	/* parts of the nominal fabric that f lacks; all 0 without a nominal shape */
	bool from_nominal;
	uint32_t n_missing_sw, n_missing_links, n_missing_hosts;
	/* absent[n_absent]: nominal links that f lacks although it has both switches, sorted by (sw,
	 * port).  Each link is listed once, normally with sw < peer.  (If one switch has replaced
	 * another, sw may be greater than peer.) */
	uint32_t n_absent;
	const struct ftr_link *absent;
	struct ftr_arena *arena;
};

static inline const uint8_t *ftr_shape_cost(const struct ftr_shape *sh,
					    ftr_sw s)
{
	return sh->reach.cost + (size_t)s * sh->reach.stride;
}

static inline const uint8_t *ftr_shape_down(const struct ftr_shape *sh,
					    ftr_sw s)
{
	return sh->reach.down + (size_t)s * sh->reach.stride;
}

/* Returns true if s is a leaf, or if there is a leaf in its pod (numbering.pod_first). */
static inline bool ftr_shape_above_leaf(const struct ftr_shape *sh, ftr_sw s)
{
	return sh->numbering.col[s] < sh->tree.n_leaf || sh->numbering.pod_first[s] ||
	       sh->numbering.pod_leaves[s] != 1 ||
	       (sh->tree.n_leaf && ftr_shape_down(sh, s)[0] != FTR_COST_INF);
}

/* Returns true if lid is the base LID of a host in the host order (ftr_shape_host_order). */
static inline bool ftr_shape_has_place(const struct ftr_shape *sh, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &sh->f->owner[lid];

	return o->kind == FTR_OWNER_EP && !o->offset &&
	       sh->numbering.ep_index[o->idx].host;
}

/* The number of groups of s. */
static inline uint32_t ftr_shape_groups(const struct ftr_shape *sh, ftr_sw s)
{
	return sh->tree.n_up[s] + sh->tree.n_down[s] + sh->tree.n_equal[s];
}

/*
 * Store in cand[] the candidates of switch s for column l, by ascending pos, and return their
 * number.  The candidates are the groups of s that lead closer to column l (equation (1) of
 * Gliksberg et al. 2020), or only the downward ones of these if s must go down.  l must not be the
 * column of s.  cand must have room for FTR_PORT_MAX groups.
 */
uint32_t ftr_shape_candidates(const struct ftr_shape *sh, ftr_sw s, uint32_t l,
			      const struct ftr_group **cand);

static inline struct ftr_costs
ftr_shape_column(const struct ftr_shape *sh, uint32_t l)
{
	return (struct ftr_costs){
		sh->reach.cost + l, sh->reach.down + l, sh->reach.stride,
	};
}

/* Like ftr_shape_candidates, but for the column with the costs *c, not those stored in sh. */
uint32_t ftr_shape_candidates_at(const struct ftr_shape *sh, ftr_sw s,
				 const struct ftr_costs *c,
				 const struct ftr_group **cand);

/* Set out[] to the ports of all links of the n groups cand: port p is in the set if bit p % 64 of
 * out[p / 64] is set. */
#define FTR_PORT_SET 4		/* length of the array */
void ftr_shape_ports(const struct ftr_shape *sh,
		     const struct ftr_group *const *cand, uint32_t n,
		     uint64_t *out);

static inline bool ftr_port_set_has(const uint64_t *set, ftr_port p)
{
	return set[p / 64] >> p % 64 & 1;
}

/*
 * Make the shape of f.  opts may be NULL (all defaults).  The fabric must outlive the
 * shape.  Errors:
 *
 *	FTR_SHAPE	there is no switch; there are more than 128 ranks (with 128,
 *			up/down paths have up to 254 hops); or FTR_ROOTS_STRICT rejects the
 *			list of roots
 *	FTR_INVAL	opts->nominal is given, and f has a part that the nominal fabric
 *			lacks
 *	FTR_NOMEM
 *
 * A fabric without hosts, or with several islands, is not an error.  opts->nominal may itself have
 * been made with a nominal shape S.  The result then differs from a shape made directly with S only
 * in from_nominal and the members after it.
 * O(links * n_sw) byte operations, 2 * n_sw^2 bytes.
 */
enum ftr_status ftr_shape_new(const struct ftr_fabric *f,
			      const struct ftr_shape_opts *opts,
			      struct ftr_team *team, struct ftr_shape **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_shape_free(struct ftr_shape *sh);	/* NULL is accepted */

/*
 * Make a copy of sh with another order of the switches.  level[s] replaces the rank of s, so a link
 * leads up from the lower to the higher level.  Destinations, columns, dividers, tiers and
 * up_path do not change.  The groups of a switch are divided again into upward and downward groups;
 * the order inside each of the two is that of sh.  Ranks, costs and down-costs are computed again.
 *
 *	FTR_REORDER_KEEP	Keep the paths of sh as far as the new order allows them.  If
 *				s has a next hop towards l in sh, and this next hop is above s
 *				in the new order, s gets no downward path to l.  So no switch
 *				above s routes downward to l through s.  Links that are
 *				horizontal in sh are not used.
 *	FTR_REORDER_ALL		Connect all pairs that have an up/down path by the new order, also
 *				over downward paths and horizontal links that FTR_REORDER_KEEP
 *				excludes.
 *
 * FTR_INVAL: a link that is used connects two switches of the same level.  FTR_LIMIT: a
 * path would be longer than 253 hops.  FTR_NOMEM.  If there are more than 255 levels, tree.rank is
 * NULL in the result.  sh must outlive the result.
 */
enum ftr_reorder { FTR_REORDER_KEEP, FTR_REORDER_ALL };
enum ftr_status ftr_shape_reorder(const struct ftr_shape *sh,
				  const uint16_t *level, enum ftr_reorder how,
				  struct ftr_team *team,
				  struct ftr_shape **out,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * Store in order[] the order of hosts for which the tables are balanced.  It must have room for
 * sh->numbering.n_places entries.  For d < n_d, order[d] is the host port of class FTR_CLASS_HOST
 * with index d, or FTR_EP_NONE (a gap).  From order[n_d] on, the hosts on switches that are not
 * leaves follow, by column and without gaps.  If such a host is missing, the hosts after it move up
 * by one place.  Hosts without a LID are not in the order.
 */
void ftr_shape_host_order(const struct ftr_shape *sh, ftr_ep *order);

/* The condition of Gliksberg et al. 2020, section 4.1: every pair of leaf switches has an up/down
 * path. */
struct ftr_validity {
	uint64_t leaf_pairs;	/* number of ordered pairs of leaf switches */
	uint64_t bad_pairs;	/* number of these pairs without an up/down path */
	uint64_t bad_host_pairs;	/* number of ordered pairs of hosts whose leaf switches
					 * are such a pair */
	ftr_sw sample_from, sample_to;	/* the first bad pair; FTR_SW_NONE: there is none */
};
void ftr_shape_validity(const struct ftr_shape *sh, struct ftr_validity *out);

#ifdef __cplusplus
}
#endif
#endif
