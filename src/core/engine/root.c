// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses another root of the inverted order (inverted_order.c) if the root is a bottleneck.
 *
 * Let A be the set of the root and all switches that the root reaches by going up.  In the inverted
 * order, A is upside down.  So in a two-level tree, two spines of A reach each other only through
 * the root.  Usually the root is the only switch of A with host ports.  But if hosts are connected
 * to spines, all flows between the spines in A cross the links of the root.  The load of a switch
 * as the root is
 *
 *	load(root) = own(root) + max(H / U, H(t) / U(t) of each neighbour t above the root)
 *
 *	own(s)	number of flows from switch s to other switches, per link of s (all-to-all traffic)
 *	H	number of flows between the switches of A, without the root
 *	U	number of upward links of the root
 *	H(t)	number of flows between t and the other switches of A, without the root
 *	U(t)	number of links from the root to t
 *
 * The present root of an island (a connected component of the fabric) is a bottleneck if it is a
 * leaf and its load clearly exceeds own(s) of every leaf switch s of the island (MARGIN).  Then the
 * leaf switch with the smallest load becomes the root.
 */
#include "base/bytes.h"
#include "engine/engine.h"

/* Loads are flows per link, multiplied by SCALE. */
#define SCALE 64u
/* The root is replaced if load(root) > m + m / MARGIN, where m is the greatest own(s) of a leaf
 * switch s. */
#define MARGIN 20u

struct ends {
	const struct ftr_shape *sh;
	const uint32_t *island;
	uint32_t *on;		/* on[s]: number of host ports on switch s */
	uint32_t *all;		/* all[i]: number of host ports of island i */
	/* Here A is the set A (see above) that results if switch sh->numbering.col_sw[l] is the
	 * root.  inside[l]: number of host ports on the switches of A; squares[l]: sum of on[s]^2
	 * over the switches s of A */
	uint32_t *inside;
	uint64_t *squares;
};

static bool count_ends(struct ends *e, const struct ftr_shape *sh,
		       const uint32_t *island, struct ftr_arena *a)
{
	uint32_t n = sh->f->n_sw;

	e->sh = sh;
	e->island = island;
	if (!FTR_ZNEW(a, e->on, n) || !FTR_ZNEW(a, e->all, n) ||
	    !FTR_ZNEW(a, e->inside, n) || !FTR_ZNEW(a, e->squares, n))
		return false;
	for (ftr_ep i = 0; i < sh->f->n_ep; i++) {
		ftr_sw s = sh->f->ep[i].sw;

		if (s == FTR_SW_NONE)
			continue;
		e->on[s]++;
		e->all[island[s]]++;
	}
	return true;
}

static void measure_inside(struct ends *e)
{
	const struct ftr_shape *sh = e->sh;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const uint8_t *down = ftr_shape_down(sh, s);
		uint64_t on = e->on[s];

		for (uint32_t l = 0; on && l < sh->tree.n_leaf; l++) {
			if (l % BYTES_WORD == 0 &&
			    bytes_word(down + l) == BYTES_WORD_INF) {
				l += BYTES_WORD - 1;
			} else if (down[l] != FTR_COST_INF) {
				e->inside[l] += (uint32_t)on;
				e->squares[l] += on * on;
			}
		}
	}
}

static uint32_t count_links(const struct ftr_shape *sh, ftr_sw s, uint32_t n)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	uint32_t links = 0;

	for (uint32_t k = 0; k < n; k++)
		links += g[k].n;
	return links;
}

static uint64_t own_load(const struct ends *e, ftr_sw s)
{
	const struct ftr_shape_tree *t = &e->sh->tree;
	uint32_t links = count_links(e->sh, s, t->n_up[s] + t->n_down[s]);
	uint64_t on = e->on[s];

	return links ? on * (e->all[e->island[s]] - on) * SCALE / links : 0;
}

/* The load of s as the root, by the formula above. */
static uint64_t root_load(const struct ends *e, ftr_sw s)
{
	const struct ftr_shape_tree *t = &e->sh->tree;
	uint32_t links = count_links(e->sh, s, t->n_up[s]);
	uint32_t l = e->sh->numbering.col[s];
	uint64_t on = e->on[s], others = e->inside[l] - on, most = 0;

	if (links)
		most = (others * others - (e->squares[l] - on * on)) * SCALE /
			links;
	for_each_up(e->sh, s, g) {
		uint64_t near = e->on[g->remote];

		most = FTR_MAX(most, near * (others - near) * SCALE / g->n);
	}
	return own_load(e, s) + most;
}

/* Among the present root and all leaf switches of the island except `avoid`, returns the switch
 * that would have the smallest load if it were the root.  On a tie, the smallest GUID decides. */
static ftr_sw lightest(const struct ends *e, uint32_t island, ftr_sw root,
		       ftr_sw avoid)
{
	const struct ftr_shape *sh = e->sh;
	uint64_t least = root_load(e, root);
	ftr_sw best = root;

	for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
		ftr_sw s = sh->numbering.col_sw[l];
		uint64_t load;

		if (e->island[s] != island || s == avoid)
			continue;
		load = root_load(e, s);
		if (load < least || (load == least && s < best)) {
			least = load;
			best = s;
		}
	}
	return best;
}

bool roots_by_load(const struct ftr_shape *sh, const uint32_t *island,
		   ftr_sw avoid, ftr_sw *root, struct ftr_arena *arena)
{
	uint32_t n = sh->f->n_sw;
	uint64_t *most = ftr_arena_zalloc(arena, n, sizeof(*most));
	struct ends e;

	if (!most || !count_ends(&e, sh, island, arena))
		return false;
	measure_inside(&e);
	for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
		ftr_sw s = sh->numbering.col_sw[l];

		most[island[s]] = FTR_MAX(most[island[s]], own_load(&e, s));
	}
	for (ftr_sw i = 0; i < n; i++)
		if (island[i] == i && sh->numbering.col[root[i]] < sh->tree.n_leaf &&
		    root_load(&e, root[i]) > most[i] + most[i] / MARGIN)
			root[i] = lightest(&e, i, root[i], avoid);
	return true;
}

bool needs_gateways(const struct ftr_shape *sh, const uint32_t *island,
		    bool *needed, struct ftr_arena *arena)
{
	uint32_t n = sh->f->n_sw;
	struct ends e;

	*needed = false;
	if (!sh->numbering.up_path)
		return true;
	if (!count_ends(&e, sh, island, arena))
		return false;
	for (ftr_sw s = 0; s < n && !*needed; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t l = 0; e.on[s] && l < n && !*needed; l++) {
			ftr_sw t = sh->numbering.col_sw[l];

			*needed = cost[l] == FTR_COST_INF && e.on[t] &&
				island[s] == island[t];
		}
	}
	return true;
}
