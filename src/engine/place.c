// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The choice of a port: equations (3) and (4) of Gliksberg et al. 2020, section 3.4, and their
 * extension to damaged trees.
 *
 * The literal placements follow the paper.  For the candidates C in order and q = floor(d / Pi),
 * they use group q mod #C and link floor(q / #C) mod #g.  Both formulas count only present groups
 * and links.  So if a switch loses one of W groups, nearly every destination moves.  C is ordered
 * by GUID (FTR_PLACE_LITERAL) or by plane (FTR_PLACE_PLANES), see src/shape/group.c.  The paper
 * does not define d.  Both placements use the topological index of src/shape/column_order.c.
 *
 * deviation: FTR_PLACE_EVEN and FTR_PLACE_STABLE count nominal groups and links, so that a
 * destination never moves while its nominal link works:
 *
 *	slot	x = q mod W		W nominal groups above, present or missing
 *	period	z = floor(q / W)
 *	link	k = z mod n		n nominal links of that group
 *
 * A destination is displaced if the group of its slot is missing or is not a candidate.  It then
 * moves from slot x to slot (x + c) mod W, with the displacement
 *
 *	c = 1 + (floor(a / B) + j g + floor(W/2) - 1) mod (W - 1)
 *
 *	a	distance from the pod of the switch to the destination, in blocks.  A block has the
 *		same number of consecutive indices d as the pod of the switch
 *	B	number of consecutive blocks that share one c: floor(number of blocks / (2 W)),
 *		at least 2
 *	r	number of periods in a block: floor(indices of a block / (Pi W)), but at least 1 and
 *		at most FTR_PORT_MAX
 *	j	number of the period in its block: z mod r
 *	g	floor((W - 1) / r)
 *
 * The formula is made for shift traffic.  In a shift, the hosts below a switch send to two
 * neighbouring blocks, and a leaf receives from two such blocks.  So the displaced destinations at
 * either end of a path move by the same c, or by two values that differ by one.  Few of them share
 * a link.  Because B is at least 2, at least half of the shifts use only one value of c.  A larger
 * B would leave some values of c unused, and all-to-all traffic would be less even.  If r > 1, a
 * shift uses slot x in all periods of a block at once.  The term j g then gives each period another
 * displacement.
 *
 * If slot (x + c) mod W has no candidate, other slots are tried in an order that depends only on
 * (s, d).  So an entry changes only when it loses its own next hop.  It gets this next hop back
 * when the link is restored.
 *
 * A fixed order ignores the load of the links.  So if preferred tables are kept, displaced entries
 * are placed again by load (balance/displaced.h, engine/keep.c).  Without preferred tables, this is
 * done with FTR_PLACE_EVEN if the search for even load is on, or if place_by_load is set.
 *
 * If a link is lost and its group has other links, the destinations of the link move to these
 * links.  So the load of other groups does not grow.  (The switch at the far end must use these
 * links anyway.)
 *
 * Candidates without a slot are below the switch by rank (or, for extra turns, of the same rank).
 * In a PGFT each destination has only one such candidate.  There are several if a leaf is connected
 * to several switches of one plane, like a rack to the leaf switches of a chassis.  Equation (3)
 * then selects the same candidate for all hosts of the leaf, because their d differ by less than
 * Pi.
 *
 * deviation: FTR_PLACE_EVEN and FTR_PLACE_STABLE route downward to a host over the switches of its
 * upward path (struct ftr_up_path, <ftr/shape.h>).  This path begins at the host's own leaf.  It
 * goes up over the groups that equation (3) selects for the host.  Leaves spread their hosts over
 * all groups above, so the switches above spread these hosts over all downward paths.  The hosts
 * whose upward path passes one leaf switch of a chassis are not consecutive in d.  So a switch of
 * that tier chooses upward groups by another q instead of floor(d / Pi): the number of the host
 * among the hosts whose upward paths pass the same switch of the tier.
 *
 * Suppose that no candidate is on the upward path, or that the destination is not a host.  Then the
 * candidate above the switch in the slot of the destination is taken.  If there is none, each
 * candidate gets a hash of (candidate, d), and the highest hash wins.  So an entry changes only if
 * it loses its own candidate.  Switches with the same candidates choose the same candidate if none
 * of them is in the slot.  So traffic to port 0 of a switch, which is slow, uses few links.
 *
 * If no leaf has links to several switches of a plane, there are no upward paths.  Equation (3)
 * then chooses among candidates without a slot.  In that case a destination has several such
 * candidates only in the inverted order of sftree, on paths between switches.  The link of the
 * group is again number z mod n, with z = floor(q / number of candidates).
 */
#include <string.h>

#include "core/bytes.h"
#include "core/core.h"
#include "engine/place.h"

/* All signed numbers in this file are below 2^25 in magnitude: an index d is below 2^16 switches
 * times 2^8 ports, plus a few LIDs. */

static int32_t floor_div(int32_t a, int32_t b)
{
	return a / b - (a % b < 0);
}

/* a modulo b, 0 .. b - 1 */
static uint32_t mod(int32_t a, uint32_t b)
{
	int32_t r = a % (int32_t)b;

	return (uint32_t)(r < 0 ? r + (int32_t)b : r);
}

const struct ftr_up_path *place_up_path(const struct ftr_shape *sh,
					enum ftr_placement how, ftr_sw s)
{
	if (place_literal(how) || !sh->numbering.up_path)
		return NULL;
	return sh->numbering.up_path + (size_t)sh->tree.tier[s] * sh->numbering.n_d;
}

void place_switch(struct port_choice *pl, const struct ftr_shape *sh,
		  enum ftr_placement how, ftr_sw s)
{
	uint64_t r, b;

	pl->sh = sh;
	pl->how = how;
	pl->pi = (uint32_t)FTR_MIN(sh->numbering.divider[s], UINT32_MAX);
	pl->up_path = place_up_path(sh, how, s);
	pl->w = place_literal(how) || sh->numbering.n_slots[s] > FTR_PORT_MAX ?
		0 : sh->numbering.n_slots[s];
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
	size_t n = sh->reach.cost_stride;

	memset(paths, 0, n);
	memset(must, 0, n);
	for (uint32_t k = 0; k < sh->tree.n_up[s]; k++)
		bytes_count_flag(paths, one, must, (uint8_t)k,
				 ftr_shape_cost(sh, s), ftr_shape_down(sh, s),
				 ftr_shape_cost(sh, g[k].remote), n);
	bytes_clear(paths, must, n);
}

void place_column(struct port_choice *pl, uint32_t l,
		  const struct ftr_group *const *cand, uint32_t n)
{
	pl->l = l;
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

/* The distance a, in blocks, from the pod of the switch to t.  If t is not a host, each leaf has
 * one index d. */
static int32_t distance(const struct port_choice *pl, const struct ftr_dest *t)
{
	uint32_t size = t->cls == FTR_CLASS_HOST ? pl->block : pl->pod_leaves;

	return (int32_t)(t->d / size) - pl->pod_first;
}

/* The displacement c, 1 .. W-1.  W must be greater than 1. */
static uint32_t displacement(const struct port_choice *pl, int32_t a,
			     uint32_t period)
{
	return 1 + mod(floor_div(a, pl->b) +
		       (int32_t)(period * ((pl->w - 1) / pl->r) + pl->w / 2 -
				 1), pl->w - 1);
}

/* The new slot for a displaced destination of slot x.  Tries x + c, x - c, x + c + 1, x - c + 1, x
 * + c - 1, x + c + 2, x + c + 3, and so on (mod W), and takes the first slot with a candidate.  x -
 * c is left out if 3c = 0 mod W: the displaced destinations of slot x + c move there, too. */
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

ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g,
		    uint32_t link)
{
	const uint8_t *pos = sh->tree.port_pos + g->first;

	if (g->n == g->n_nominal)
		return sh->tree.group_ports[g->first + link];
	for (uint32_t i = 0; i < g->n; i++)
		if (pos[i] == link)
			return sh->tree.group_ports[g->first + i];
	return FTR_PORT_NONE;
}

/* The port of link k = z mod n of the group.  If this link is missing: the first present link from
 * number k + 1 + floor(z / n) mod (n - 1) on.  So the destinations of different periods use
 * different links. */
static ftr_port link_port(const struct ftr_shape *sh,
			  const struct ftr_group *g, uint32_t z)
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

/* The candidate that leads to the upward path of t; or else the candidate in the slot of t; or else
 * the candidate with the highest hash. */
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
	if (place_literal(pl->how))
		return pl->sh->tree.group_ports[g->first + (g->n == 1 ? 0 :
						       q / pl->n % g->n)];
	return link_port(pl->sh, g, q / pl->n);
}
