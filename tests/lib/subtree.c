// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * sFtree as published, for comparison: Bogdanski et al. 2012, Algorithms 1 and 2.  The algorithms
 * add paths to finished tables: in the paper those of OpenSM's ftree, here those of dmodc.
 *
 * Tests show three defects on trees that are not complete:
 *
 *	- After a few faults, no leaf reaches every switch, so no subtree root is suitable.
 *	- A switch may have no path to some hosts.
 *	- If several downward paths lead to a pod, the channel dependency graph may have a cycle.
 *
 * The checker finds all these defects.  The default mode of sftree has none of them.
 *
 * The paper writes the hop counts of the new paths into OpenSM's hop matrices (section 4.2,
 * get_path_length).  Here the hop counts are only used to report the longest new path.
 */
#include "base/base.h"
#include "lib/subtree.h"

struct subtree {
	const struct ftr_shape *sh;
	struct ftr_tables *t;
	ftr_sw root;
	bool found;
};

static ftr_lid sw_lid(const struct subtree *z, ftr_sw s)
{
	return z->sh->f->sw[s].lid;
}

static ftr_port entry(const struct subtree *z, ftr_sw s, ftr_sw dst)
{
	return ftr_tables_get(z->t, s, sw_lid(z, dst));
}

static bool reaches_all(const struct subtree *z, ftr_sw s)
{
	for (ftr_sw d = 0; d < z->sh->f->n_sw; d++)
		if (sw_lid(z, d) && entry(z, s, d) == FTR_PORT_NONE)
			return false;
	return true;
}

/* Algorithm 1: choose the first leaf that reaches all switches.  The leaf of the subnet manager is
 * skipped if there is another leaf (section 4.2).  If no leaf reaches all switches, choose the
 * first leaf. */
static void choose_root(struct subtree *z, ftr_sw sm_switch)
{
	const struct ftr_shape *sh = z->sh;

	for (uint32_t l = 0; l < sh->tree.n_leaf && !z->found; l++) {
		ftr_sw s = sh->numbering.col_sw[l];

		if ((s == sm_switch && sh->tree.n_leaf > 1) || !sw_lid(z, s))
			continue;
		z->found = reaches_all(z, s);
		z->root = s;
	}
	if (!z->found)
		z->root = sh->tree.n_leaf ? sh->numbering.col_sw[0] : 0;
}

/* Algorithm 2, lines 6 to 19: let src reach dst through the root, and then through a neighbour of
 * the root with the same rank. */
static void over_sibling(struct subtree *z, ftr_sw src, ftr_sw dst)
{
	const struct ftr_shape *sh = z->sh;
	uint32_t first = sh->tree.group_first[z->root];
	uint32_t side = first + sh->tree.n_up[z->root] + sh->tree.n_down[z->root];

	for (uint32_t g = side; g < sh->tree.group_first[z->root + 1]; g++) {
		ftr_sw sib = sh->tree.groups[g].remote;

		if (!sw_lid(z, sib) || entry(z, src, sib) == FTR_PORT_NONE ||
		    entry(z, sib, dst) == FTR_PORT_NONE)
			continue;
		ftr_tables_row(z->t, z->root)[sw_lid(z, dst)] =
			sh->tree.group_ports[sh->tree.groups[g].first];
		ftr_tables_row(z->t, src)[sw_lid(z, dst)] =
			entry(z, src, sib);
		return;
	}
}

static void join(struct subtree *z, ftr_sw src, ftr_sw dst)
{
	if (z->found || entry(z, z->root, dst) != FTR_PORT_NONE)
		ftr_tables_row(z->t, src)[sw_lid(z, dst)] =
			entry(z, src, z->root);
	else
		over_sibling(z, src, dst);
}

/* The number of hops from src to dst (section 4.2, get_path_length).  The path of the tables is
 * followed to the first switch with an up/down path to dst.  Then the cost of that switch is added.
 * Returns 0 if the path does not reach such a switch. */
static uint32_t path_length(const struct subtree *z, ftr_sw src, ftr_sw dst)
{
	const struct ftr_shape *sh = z->sh;

	for (uint32_t hops = 0; hops < sh->f->n_sw; hops++) {
		uint8_t cost = ftr_shape_cost(sh, src)[sh->numbering.col[dst]];
		const struct ftr_swport *port;

		if (cost != FTR_COST_INF)
			return hops + cost;
		if (entry(z, src, dst) == FTR_PORT_NONE)
			return 0;
		port = ftr_fabric_port(sh->f, src, entry(z, src, dst));
		if (port->peer_kind != FTR_PEER_SW)
			return 0;
		src = port->peer;
	}
	return 0;
}

static uint32_t longest_made(const struct subtree *z)
{
	uint32_t n = z->sh->f->n_sw, longest = 0;

	for (ftr_sw src = 0; src < n; src++)
		for (ftr_sw dst = 0; dst < n; dst++)
			if (ftr_shape_cost(z->sh, src)[z->sh->numbering.col[dst]] ==
			    FTR_COST_INF)
				longest = FTR_MAX(longest, path_length(z, src, dst));
	return longest;
}

enum ftr_status subtree_route(const struct ftr_shape *sh, ftr_sw sm_switch, struct ftr_tables *out,
			      struct subtree_stats *stats, struct ftr_err *err)
{
	const struct ftr_route_opts updown = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};
	struct subtree z = { .sh = sh, .t = out };
	uint32_t n = sh->f->n_sw;
	enum ftr_status st = ftr_engine_find("dmodc")->route(sh, &updown, NULL, out, NULL, err);

	if (st)
		return st;
	choose_root(&z, sm_switch);
	for (ftr_sw src = 0; src < n; src++)
		for (ftr_sw dst = 0; dst < n; dst++)
			if (sw_lid(&z, dst) && entry(&z, src, dst) == FTR_PORT_NONE)
				join(&z, src, dst);
	stats->longest = longest_made(&z);
	stats->root = z.root;
	return FTR_OK;
}
