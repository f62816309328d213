// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses the port of switch s for the destination with the topological index d.  The rules are
 * equations (3) and (4) of Gliksberg et al. 2020, section 3.4, or an extension of them to damaged
 * trees.
 *
 * In the paper, let C be the candidates, that is, the groups that lead
 * closer to the destination, in their order.  Let q = floor(d / Pi), where Pi is the divider of s.
 * Then
 *
 *	group	g = C[q mod #C]
 *	link	floor(q / #C) mod #g
 *
 * Both formulas count only present groups and links.  So if a switch loses one group, nearly every
 * entry changes.  C is ordered by plane (src/core/shape/group.c).  The paper does not define d; it
 * is computed in src/core/shape/column_order.c.
 *
 * deviation: nominal groups and links are counted, present or missing.  So an entry does not
 * change while its nominal link works:
 *
 *	slot	x = q mod W		W: number of nominal groups above s
 *	period	z = floor(q / W)
 *	link	k = z mod n		n: number of nominal links of the group in slot x
 *
 * A destination is displaced if the group in its slot is missing or is not a candidate.  Then the
 * destination gets slot (x + c) mod W instead of slot x, with the displacement
 *
 *	c = 1 + (floor(a / B) + j * g + floor(W / 2) - 1) mod (W - 1)
 *
 *	a	number of blocks from the pod of s to the destination.  The indices d are divided
 *		into blocks of equal size; the pod of s is one block
 *	B	max(2, floor(number of blocks / (2 * W)))
 *	r	number of periods in a block: floor((indices d in a block) / (Pi * W)), but at
 *		least 1 and at most FTR_PORT_MAX
 *	j	z mod r
 *	g	floor((W - 1) / r)
 *
 * The formula is made for shift traffic (host i sends to host i + k).  In a shift, the hosts below
 * a switch send to two neighbouring blocks, and a leaf receives from two neighbouring blocks.  So
 * at the sending end of a path, c is the same for all displaced destinations, or takes two values
 * that differ by one.  The same holds at the receiving end.  Then few displaced destinations share
 * a link.  Because B >= 2, at least half of the shifts use only one value of c.  With a larger B
 * some values of c would never occur, and all-to-all traffic would be less even.  If r > 1, a shift
 * uses slot x in all periods of a block at once.  The term j * g then gives each period another
 * displacement.
 *
 * If slot (x + c) mod W has no candidate, other slots are tried in an order that depends only on s
 * and d.  So an entry changes only when it loses its own next hop.  The entry gets this next hop
 * back when the link is restored.
 *
 * The choice of a slot ignores the load of the links.  So in two cases, displaced entries later get
 * another port by load (balance/displaced.h, engine/keep.c):
 *
 *	- preferred tables are given
 *	- no preferred tables are given, and the search for balance is on
 *
 * If a group loses a link but not all links, the destinations of the lost link use the other links
 * of the group.  So the load of other groups does not grow.
 *
 * Only upward groups have slots.  So a candidate without a slot is a downward group (or, for extra
 * turns, a horizontal group).  In a PGFT each destination has only one such candidate.  In other
 * trees, a destination has several such candidates if its leaf is connected to several switches of
 * one plane.  For example, a rack switch is connected to several leaf switches of a chassis.
 * Equation (3) then selects the same candidate for all hosts of the leaf, because their indices d
 * differ by less than Pi.
 *
 * deviation: a downward path to a host leads over the switches of the host's upward path
 * (struct ftr_up_path, <ftr/shape.h>).  The upward path begins at the host's own
 * leaf, and goes up over the groups that equation (3) selects.  A leaf spreads its hosts over all
 * groups above.  So the downward paths to these hosts are spread, too.  The hosts whose upward
 * paths pass one leaf switch of a chassis are not consecutive in d.  So the switches of that tier
 * (rank) number these hosts, and use this number as q instead of floor(d / Pi).
 *
 * If no candidate is on the upward path, or if the destination is not a host, the candidate in slot
 * q mod W is taken.  If there is none, each candidate gets a hash of its GUID and d, and the
 * candidate with the highest hash is taken.  So an entry changes only if it loses its own
 * candidate.  All switches with the same candidates choose the same one by hash.  So traffic to
 * port 0 of a switch, a slow port, uses few links.
 *
 * If each leaf has links to only one switch of each plane, the shape has no upward paths.  Then
 * candidates that have no slot are chosen by equation (3): the group is C[q mod #C], and the link
 * is number floor(q / #C) mod n of this group.  For such a shape, only the inverted order of sftree
 * gives several candidates without a slot, on paths between switches.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/base.h"
#include "engine/place.h"

/* Signed numbers in this file do not overflow: their magnitude is below 2^25.  An index d is below
 * 2^16 (switches) * 2^8 (ports), plus a few LIDs. */

static int32_t floor_div(int32_t a, int32_t b)
{
	return a / b - (a % b < 0);
}

/* a modulo b, from 0 to b - 1 */
static uint32_t mod(int32_t a, uint32_t b)
{
	int32_t r = a % (int32_t)b;

	return (uint32_t)(r < 0 ? r + (int32_t)b : r);
}

const struct ftr_up_path *place_up_path(const struct ftr_shape *sh, ftr_sw s)
{
	if (!sh->numbering.up_path)
		return NULL;
	return sh->numbering.up_path + (size_t)sh->tree.tier[s] * sh->numbering.n_d;
}

void place_switch(struct port_choice *pl, const struct ftr_shape *sh, ftr_sw s)
{
	uint64_t r, b;

	pl->sh = sh;
	pl->pi = (uint32_t)FTR_MIN(sh->numbering.divider[s], UINT32_MAX);
	pl->up_path = place_up_path(sh, s);
	pl->w = sh->numbering.n_slots[s] > FTR_PORT_MAX ? 0 : sh->numbering.n_slots[s];
	if (!pl->w)
		return;
	pl->pod_leaves = sh->numbering.pod_leaves[s];
	pl->block = pl->pod_leaves * FTR_MAX(sh->numbering.stride, 1u);
	pl->pod_first = (int32_t)(sh->numbering.pod_first[s] / pl->pod_leaves);
	r = pl->block / ((uint64_t)pl->pi * pl->w);
	b = sh->numbering.n_d / pl->block / (2 * pl->w);
	pl->r = (uint32_t)FTR_MIN(FTR_MAX(r, 1u), FTR_PORT_MAX);
	pl->b = (int32_t)FTR_MAX(b, 2u);
}

void place_paths_row(const struct ftr_shape *sh, ftr_sw s, uint8_t *paths,
		     uint8_t *one, uint8_t *must)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	size_t n = sh->reach.stride;

	memset(paths, 0, n);
	memset(must, 0, n);
	for (uint32_t k = 0; k < sh->tree.n_up[s]; k++) {
		const uint8_t *theirs = ftr_shape_cost(sh, g[k].remote);

		bytes_count_less(paths, one, (uint8_t)k, ftr_shape_cost(sh, s), theirs, n);
		bytes_flag_less(must, ftr_shape_down(sh, s), theirs, n);
	}
	bytes_clear(paths, must, n);
}

void place_column(struct port_choice *pl, const struct ftr_group *const *cand, uint32_t n)
{
	pl->cand = cand;
	pl->n = n;
	pl->slots = pl->w > 0;
	for (uint32_t i = 0; i < n; i++)
		pl->slots &= cand[i]->slot != FTR_SLOT_NONE;
	pl->several = !pl->slots && n > 1 && pl->up_path;
	if (!pl->slots)
		return;
	memset(pl->at, 0, pl->w * sizeof(pl->at[0]));
	for (uint32_t i = 0; i < n; i++)
		pl->at[cand[i]->slot] = cand[i];
}

/* ---- slots ------------------------------------------------------------- */

/* The number a in the formula of c.  A block has pl->block indices d of hosts; of other
 * destinations, it has one index for each leaf. */
static int32_t distance(const struct port_choice *pl, const struct ftr_dest *t)
{
	uint32_t size = t->cls == FTR_CLASS_HOST ? pl->block : pl->pod_leaves;

	return (int32_t)(t->d / size) - pl->pod_first;
}

/* The displacement c, a number from 1 to W - 1.  W must be greater than 1. */
static uint32_t displacement(const struct port_choice *pl, int32_t a, uint32_t period)
{
	return 1 + mod(floor_div(a, pl->b) +
		       (int32_t)(period * ((pl->w - 1) / pl->r) + pl->w / 2 -
				 1), pl->w - 1);
}

/* The new slot (nominal position of an upward group) for a displaced destination of slot x: the
 * first of these slots (mod W) that has a candidate:
 *
 *	x + c, x - c, x + c + 1, x - c + 1, x + c - 1, x + c + 2, x + c + 3, x + c + 4 ...
 *
 * Exception: if 3 * c mod W = 0, x - c is not tried.  It is then the slot (x + c) + c, which the
 * displaced destinations of slot x + c already use. */
static uint32_t by_list(const struct port_choice *pl, uint32_t x, uint32_t c)
{
	const struct ftr_group *const *at = pl->at;
	uint32_t w = pl->w, y = (x + c) % w;

	if (at[y])
		return y;
	if (3 * c % w && at[y = (x + w - c) % w])
		return y;
	if (at[y = (x + c + 1) % w] || at[y = (x + w - c + 1) % w] ||
	    at[y = (x + c - 1) % w])
		return y;
	for (y = (x + c + 2) % w; !at[y];)
		y = (y + 1) % w;
	return y;
}

static const struct ftr_group *slot_group(struct port_choice *pl,
					  const struct ftr_dest *t, uint32_t q)
{
	uint32_t x = q % pl->w, period;
	int32_t a;

	if (pl->at[x])
		return pl->at[x];
	if (pl->n == 1)
		return pl->cand[0];
	a = distance(pl, t);
	period = pl->r == 1 ? 0 : q / pl->w % pl->r;
	pl->displaced = true;
	return pl->at[by_list(pl, x, displacement(pl, a, period))];
}

/* ---- links ------------------------------------------------------------- */

ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g, uint32_t link)
{
	const uint8_t *pos = sh->tree.port_pos + g->first;

	if (g->n == g->n_nominal)
		return sh->tree.group_ports[g->first + link];
	for (uint32_t i = 0; i < g->n; i++)
		if (pos[i] == link)
			return sh->tree.group_ports[g->first + i];
	return FTR_PORT_NONE;
}

/* The port of link k = z mod n of the group.  If link k is missing, take the first present link
 * from link k + 1 + floor(z / n) mod (n - 1) on.  So the destinations of the missing link are
 * divided among the other links. */
static ftr_port link_port(const struct ftr_shape *sh, const struct ftr_group *g, uint32_t z)
{
	uint32_t n = g->n_nominal, k = n == 1 ? 0 : z % n;
	ftr_port port = place_link(sh, g, k);

	if (port != FTR_PORT_NONE)
		return port;
	k += 1 + z / n % (n - 1);
	while ((port = place_link(sh, g, k % n)) == FTR_PORT_NONE)
		k++;
	return port;
}

/* ---- downward paths ---------------------------------------------------- */

static bool on_upward_path(const struct ftr_shape *sh, ftr_sw s,
		      const struct ftr_dest *t)
{
	return t->cls == FTR_CLASS_HOST && t->d < sh->numbering.n_d &&
	       sh->numbering.up_path[(size_t)sh->tree.tier[s] * sh->numbering.n_d + t->d].sw == s;
}

static bool has_slot(const struct port_choice *pl, const struct ftr_group *g)
{
	return pl->w && g->slot != FTR_SLOT_NONE;
}

/* First choice: the candidate whose remote switch is on the upward path of t.  Second: the
 * candidate in slot q mod W.  Third: the candidate with the highest hash. */
static const struct ftr_group *downward_group(const struct port_choice *pl,
					const struct ftr_dest *t, uint32_t q)
{
	const struct ftr_shape *sh = pl->sh;
	const struct ftr_group *best = NULL;
	uint64_t key = ftr_mix(t->d), most = 0;

	for (uint32_t i = 0; i < pl->n; i++)
		if (on_upward_path(sh, pl->cand[i]->remote, t))
			return pl->cand[i];
	for (uint32_t i = 0; i < pl->n; i++) {
		ftr_sw s = pl->cand[i]->remote;
		uint64_t drawn = ftr_mix(key ^ sh->f->sw[s].guid);

		if (has_slot(pl, pl->cand[i]) &&
		    pl->cand[i]->slot == q % pl->w)
			return pl->cand[i];
		if (!best || drawn > most) {
			most = drawn;
			best = pl->cand[i];
		}
	}
	return best;
}

ftr_port place_port(struct port_choice *pl, const struct ftr_dest *t)
{
	uint32_t q = place_number(pl->sh, pl->up_path, pl->pi, t);
	const struct ftr_group *g;

	pl->displaced = false;
	if (pl->n == 0)
		return FTR_PORT_NONE;
	if (pl->slots)
		return link_port(pl->sh, slot_group(pl, t, q), q / pl->w);
	if (pl->several) {
		g = downward_group(pl, t, q);
		return link_port(pl->sh, g, has_slot(pl, g) ? q / pl->w : q);
	}
	g = pl->cand[q % pl->n];
	return link_port(pl->sh, g, q / pl->n);
}
