// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The choice of a port: equations (3) and (4) of seed 002, and what becomes of
 * them on a damaged tree.
 *
 * FTR_PLACE_LITERAL is the seed: for the candidates C in order and q =
 * floor(d / Pi), group q mod #C, cable floor(q / #C) mod #g, all counted over
 * what is alive.  A switch that loses one of W groups then moves nearly every
 * destination.
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
 * If that slot is dead, too, the rules differ:
 *
 *	STABLE	a list of slots that depends on (s, d) only; the first that is
 *		alive is taken.  So an entry changes only when its own next hop
 *		is lost, and comes back with it: churn is the lower bound.  No
 *		other kind of rule does that: a choice that never changes when
 *		an alternative dies which it did not take is a choice by a fixed
 *		order.  But two lists can meet where a third slot is dead.
 *	EVEN	the displaced slots of a block take neighbours of x + c that no
 *		other one has, the nearest first (a matching, in rounds); when
 *		all survivors have one, the next pass begins.  No survivor gets
 *		more than it must.  The price: where a column lacks several
 *		slots, an entry that is displaced already may have to give way
 *		to another one and change, too.
 *
 * The displaced of a dead cable stay with its group, if it has another one:
 * towards the switch at the far end the other direction of that cable is lost
 * as well and must share the others in any case, and no other group is loaded.
 *
 * Candidates without a slot, that is below the switch by rank, are chosen by
 * the literal modulo if there are several; their cables as above.
 */
#include <string.h>

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

void place_switch(struct place *pl, const struct ftr_shape *sh,
		  enum ftr_placement how, ftr_sw s)
{
	uint64_t r, b;

	pl->sh = sh;
	pl->how = how;
	pl->pi = (uint32_t)FTR_MIN(sh->divider[s], UINT32_MAX);
	pl->w = how == FTR_PLACE_LITERAL || sh->n_slots[s] > FTR_PORT_MAX ?
		0 : sh->n_slots[s];
	if (!pl->w)
		return;
	pl->span = sh->span[s];
	pl->block = pl->span * FTR_MAX(sh->stride, 1u);
	pl->home = (int32_t)(sh->home[s] / pl->span);
	r = pl->block / ((uint64_t)pl->pi * pl->w);
	b = sh->n_d / pl->block / (2 * pl->w);
	pl->r = (uint32_t)FTR_MIN(FTR_MAX(r, 1u), PLACE_MAX / pl->w);
	pl->b = (int32_t)FTR_MAX(b, 2u);
}

bool place_must(const struct ftr_shape *sh, ftr_sw s, uint32_t l)
{
	const struct ftr_group *g = &sh->groups[sh->group_first[s]];
	uint8_t down = ftr_shape_down(sh, s)[l];

	for (uint32_t k = 0; k < sh->n_up[s]; k++)
		if (down < ftr_shape_cost(sh, g[k].remote)[l])
			return true;
	return false;
}

uint32_t place_candidates(const struct ftr_shape *sh, ftr_sw s, uint32_t l,
			  bool must, const struct ftr_group **cand)
{
	const struct ftr_group *g = &sh->groups[sh->group_first[s]];
	uint32_t up = sh->n_up[s], all = up + sh->n_down[s], n = 0;
	uint8_t cost = ftr_shape_cost(sh, s)[l];

	for (uint32_t k = must ? up : 0; k < all; k++) {
		const uint8_t *row = k < up ? ftr_shape_cost(sh, g[k].remote) :
			ftr_shape_down(sh, g[k].remote);
		uint32_t i;

		if (row[l] >= cost)
			continue;
		for (i = n++; i > 0 && cand[i - 1]->pos > g[k].pos; i--)
			cand[i] = cand[i - 1];
		cand[i] = &g[k];
	}
	return n;
}

void place_column(struct place *pl, const struct ftr_group *const *cand,
		  uint32_t n)
{
	pl->cand = cand;
	pl->n = n;
	pl->matched = false;
	pl->slots = pl->w > 0;
	for (uint32_t i = 0; i < n; i++)
		pl->slots &= cand[i]->slot != FTR_SLOT_NONE;
	if (!pl->slots)
		return;
	memset(pl->at, 0, pl->w * sizeof(pl->at[0]));
	for (uint32_t i = 0; i < n; i++)
		pl->at[cand[i]->slot] = cand[i];
}

/* ---- slots ------------------------------------------------------------- */

/* a: blocks from that of the switch to that of t.  Classes other than hosts
 * are taken to have one index for each leaf. */
static int32_t distance(const struct place *pl, const struct ftr_dest *t)
{
	uint32_t size = t->cls == FTR_CLASS_HOST ? pl->block : pl->span;

	return (int32_t)(t->d / size) - pl->home;
}

/* c, 1 .. W-1, for W > 1. */
static uint32_t turn(const struct place *pl, int32_t a, uint32_t window)
{
	return 1 + mod(floor_div(a, pl->b) +
		       (int32_t)(window * ((pl->w - 1) / pl->r) + pl->w / 2 -
				 1), pl->w - 1);
}

/* The list of FTR_PLACE_STABLE: c forth and back, then near by, then all that
 * is left.  Where 3c = 0, back would send two slots to one. */
static uint32_t by_list(const struct place *pl, uint32_t x, uint32_t c)
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

/* Slots of a block that look for another one. */
struct matching {
	struct place *pl;
	bool vacant[FTR_PORT_MAX + 1];
	uint32_t n;
	uint16_t pending[PLACE_MAX];	/* window * w + slot */
	uint32_t c[PLACE_MAX];		/* by window */
};

/* Every pending slot asks for that `step` from its own, turned by c. */
static void match_round(struct matching *m, int32_t step)
{
	struct place *pl = m->pl;
	uint32_t left = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t u = m->pending[i];
		int32_t near = (int32_t)(u % pl->w) + step;
		uint32_t y;

		if (near < 0 || near >= (int32_t)pl->w) {
			m->pending[left++] = (uint16_t)u;
			continue;
		}
		y = ((uint32_t)near + m->c[u / pl->w]) % pl->w;
		if (m->vacant[y]) {
			m->vacant[y] = false;
			pl->instead[u] = (uint8_t)y;
		} else {
			m->pending[left++] = (uint16_t)u;
		}
	}
	m->n = left;
}

/*
 * Steps do not go round the ends of a window: its first and its last slot
 * belong to different leaves in nearly every shift, two neighbours in one.
 * Every slot asks every other in a pass, so each pass serves as many as are
 * alive.
 *
 * Two distances in turn share a c.  One of them goes forth first and the other
 * back, and one begins next door and the other three places away (and comes to
 * the nearer ones last): else the neighbours of what is lost would carry what
 * all sources ask there in vain.
 */
static void match(struct place *pl, int32_t a)
{
	bool odd = a & 1;
	int32_t w = (int32_t)pl->w;
	struct matching m;

	m.pl = pl;
	m.n = 0;
	for (uint32_t j = 0; j < pl->r; j++) {
		m.c[j] = turn(pl, a, j);
		for (uint32_t x = 0; x < pl->w; x++)
			if (!pl->at[x])
				m.pending[m.n++] = (uint16_t)(j * pl->w + x);
	}
	while (m.n > 0) {
		for (uint32_t x = 0; x < pl->w; x++)
			m.vacant[x] = pl->at[x] != NULL;
		match_round(&m, 0);
		for (int32_t k = 1; m.n > 0 && k < w; k++) {
			int32_t step = odd ? 1 + (k + 1) % (w - 1) : k;

			match_round(&m, odd ? -step : step);
			match_round(&m, odd ? step : -step);
		}
	}
	pl->matched = true;
	pl->distance = a;
}

static const struct ftr_group *slot_group(struct place *pl,
					  const struct ftr_dest *t, uint32_t q)
{
	uint32_t x = q % pl->w, window;
	int32_t a;

	if (pl->at[x])
		return pl->at[x];
	a = distance(pl, t);
	window = pl->r == 1 ? 0 : q / pl->w % pl->r;
	if (pl->how == FTR_PLACE_STABLE)
		return pl->at[by_list(pl, x, turn(pl, a, window))];
	if (!pl->matched || pl->distance != a)
		match(pl, a);
	return pl->at[pl->instead[window * pl->w + x]];
}

/* ---- cables ------------------------------------------------------------ */

ftr_port place_cable(const struct ftr_shape *sh, const struct ftr_group *g,
		     uint32_t cable)
{
	const uint8_t *place = sh->group_place + g->first;

	if (g->n == g->n_nominal)
		return sh->group_ports[g->first + cable];
	for (uint32_t i = 0; i < g->n; i++)
		if (place[i] == cable)
			return sh->group_ports[g->first + i];
	return FTR_PORT_NONE;
}

/* Cable z mod n of the group, or the next alive one after a turn by the windows
 * gone by. */
static ftr_port cable_port(const struct ftr_shape *sh,
			   const struct ftr_group *g, uint32_t z)
{
	uint32_t n = g->n_nominal, k = n == 1 ? 0 : z % n;
	ftr_port port = place_cable(sh, g, k);

	if (port != FTR_PORT_NONE)
		return port;
	k += 1 + z / n % (n - 1);
	while ((port = place_cable(sh, g, k % n)) == FTR_PORT_NONE)
		k++;
	return port;
}

ftr_port place_port(struct place *pl, const struct ftr_dest *t)
{
	uint32_t q = t->d / pl->pi;
	const struct ftr_group *g;

	if (pl->n == 0)
		return FTR_PORT_NONE;
	if (pl->slots)
		return cable_port(pl->sh, slot_group(pl, t, q), q / pl->w);
	g = pl->cand[q % pl->n];
	if (pl->how == FTR_PLACE_LITERAL)
		return pl->sh->group_ports[g->first + (g->n == 1 ? 0 :
						       q / pl->n % g->n)];
	return cable_port(pl->sh, g, q / pl->n);
}
