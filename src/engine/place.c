// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The choice of a port: equations (3) and (4) of seed 002, and what becomes of
 * them on a damaged tree.
 *
 * FTR_PLACE_LITERAL is what Gliksberg et al. 2020 (section 3.4) publish: for the
 * candidates C in order and q = floor(d / Pi), group q mod #C, cable floor(q / #C)
 * mod #g, all counted over what is alive.  A switch that loses one of W groups then
 * moves nearly every destination.  The order of C is that of the shape: by GUID
 * (LITERAL), or by plane (PLANES), see src/shape/group.c.  d is the topological
 * index of src/shape/column_order.c with both: the paper does not define it.
 *
 * deviation: the other two count over what is nominal (design, section 4), so
 * that a destination whose nominal cable is alive never moves:
 *
 *	slot	x = q mod W		W nominal groups above, alive or not
 *	window	z = floor(q / W)
 *	cable	k = z mod n		n nominal cables of that group
 *
 * A destination whose slot is dead or leads nowhere is displaced.  It asks for
 *
 *	x + c mod W,	c = 1 + (floor(a / B) + j g + floor(W/2) - 1) mod (W - 1)
 *
 * A block is as many destinations as there are hosts in the pod of the switch;
 * a is the distance in blocks from its own to that of the destination.  Why so:
 * in a shift permutation a switch sends to two neighbouring blocks, and a leaf
 * receives from two; so all that is displaced at either end of a path moves by
 * the same c, or by two that differ by one, and few meet on a link.  Over all
 * destinations c takes every value, so all-to-all traffic spreads.  B blocks
 * share a c: two at least, so that half of the shifts see one c only, and no
 * more than let c take every value twice.  Where a block has r > 1 windows
 * (fewer groups up than hosts of a leaf), a shift needs slot x in all of them
 * at once: window j = z mod r turns by g = floor((W - 1) / r) more.
 *
 * If that slot is dead, too, a list of slots that depends on (s, d) only decides; the
 * first that is alive is taken.  So an entry changes only when its own next hop is
 * lost, and comes back with it.  A fixed list cannot see what the links carry: where
 * tables are balanced, displaced entries are placed by counting instead
 * (balance/displaced.h, engine/keep.c), and this is where these start.
 *
 * The displaced of a dead cable stay with its group, if it has another one:
 * towards the switch at the far end the other direction of that cable is lost
 * as well and must share the others in any case, and no other group is loaded.
 *
 * Candidates without a slot are below the switch by rank.  In a PGFT there is
 * one at a time.  Where a leaf hangs on several switches of one plane, as a rack
 * does on a chassis, there are several, and (3) sends all hosts of the leaf over
 * one of them: by d they are nearer to each other than Pi.
 *
 * deviation: not so the other two placements.  A way down is a way up seen from
 * its end: a host is reached over the switches by which its own leaf would send
 * it up, its ascent (<ftr/shape.h>).  Leaves spread their hosts over all that is
 * above them, so what is above them spreads those hosts over all ways down.  On
 * the way up q is the number of the host among those of its ascent, not floor(d
 * / Pi): what comes down over a leaf chip has come to it from different spines.
 *
 * If its ascent is not among the candidates, every candidate draws a number by
 * (candidate, d), and the highest wins: the loss of others changes nothing.
 * So it is for destinations other than hosts.  All switches that
 * have the winner take it: what goes to the port 0 of a switch, which is slow,
 * stands on few links.
 *
 * Where no leaf hangs so, there are no ascents.  Of what has no slot the literal
 * modulo chooses then, and that is, in the orders of sftree, ways between
 * switches.  Cables as above.
 */
#include <string.h>

#include "core/bytes.h"
#include "core/core.h"
#include "engine/place.h"

/* All numbers here are below 2^25: an index d is below 2^16 switches times 2^8
 * ports, and a few LIDs. */

static int32_t floor_div(int32_t a, int32_t b)
{
	return a / b - (a % b < 0);
}

/* The remainder, 0 .. b-1. */
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

/* a: blocks from that of the switch to that of t.  Classes other than hosts
 * are taken to have one index for each leaf. */
static int32_t distance(const struct port_choice *pl, const struct ftr_dest *t)
{
	uint32_t size = t->cls == FTR_CLASS_HOST ? pl->block : pl->pod_leaves;

	return (int32_t)(t->d / size) - pl->pod_first;
}

/* c, 1 .. W-1, for W > 1. */
static uint32_t turn(const struct port_choice *pl, int32_t a, uint32_t window)
{
	return 1 + mod(floor_div(a, pl->b) +
		       (int32_t)(window * ((pl->w - 1) / pl->r) + pl->w / 2 -
				 1), pl->w - 1);
}

/* The list: c forth and back, then near by, then all that
 * is left.  Where 3c = 0, back would send two slots to one. */
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
	uint32_t x = q % pl->w, window;
	int32_t a;

	if (pl->at[x])
		return pl->at[x];
	if (pl->n == 1)
		return pl->cand[0];
	a = distance(pl, t);
	window = pl->r == 1 ? 0 : q / pl->w % pl->r;
	pl->displaced = true;
	return pl->at[by_list(pl, x, turn(pl, a, window))];
}

/* ---- cables ------------------------------------------------------------ */

ftr_port place_link(const struct ftr_shape *sh, const struct ftr_group *g,
		    uint32_t cable)
{
	const uint8_t *place = sh->tree.group_place + g->first;

	if (g->n == g->n_nominal)
		return sh->tree.group_ports[g->first + cable];
	for (uint32_t i = 0; i < g->n; i++)
		if (place[i] == cable)
			return sh->tree.group_ports[g->first + i];
	return FTR_PORT_NONE;
}

/* Cable z mod n of the group, or the next alive one after a turn by the windows
 * gone by. */
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

/* ---- ways down --------------------------------------------------------- */

static bool stands_on(const struct ftr_shape *sh, ftr_sw s,
		      const struct ftr_dest *t)
{
	return t->cls == FTR_CLASS_HOST && t->d < sh->numbering.n_d &&
	       sh->numbering.up_path[(size_t)sh->tree.tier[s] * sh->numbering.n_d + t->d].sw == s;
}

static bool has_slot(const struct port_choice *pl, const struct ftr_group *g)
{
	return pl->w && g->slot != FTR_SLOT_NONE;
}

/* The candidate on the ascent of t; that of its slot, if s may go up as well; or
 * else that which draws most. */
static const struct ftr_group *way_down(const struct port_choice *pl,
					const struct ftr_dest *t, uint32_t q)
{
	const struct ftr_shape *sh = pl->sh;
	const struct ftr_group *best = NULL;
	uint64_t key = ftr_mix(t->d), most = 0;

	for (uint32_t i = 0; i < pl->n; i++)
		if (stands_on(sh, pl->cand[i]->remote, t))
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
		g = way_down(pl, t, q);
		return link_port(pl->sh, g, has_slot(pl, g) ? q / pl->w : q);
	}
	g = pl->cand[q % pl->n];
	if (place_literal(pl->how))
		return pl->sh->tree.group_ports[g->first + (g->n == 1 ? 0 :
						       q / pl->n % g->n)];
	return link_port(pl->sh, g, q / pl->n);
}
