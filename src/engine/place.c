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
 * index of src/shape/order.c with both: the paper does not define it.
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
 *		other one has (a matching, in rounds, by step_of); when all
 *		survivors have one, the next pass begins.  In each pass
 *		survivors that are thin come last.  The price: where a column
 *		lacks several slots, or survivors become thin, an entry that is
 *		displaced already may have to give way and change, too.
 *
 * Thin is what has enough to carry without the displaced, as it has few of its
 * ways left, three quarters or less (place_few):
 *
 *	a neighbour above that has few ways to this column, and no larger share
 *		of them than the switch itself: it lost neighbours above, or
 *		those lost theirs below, and what it carries for all that lost
 *		nothing meets on fewer cables already;
 *	a slot half of whose hosts, of the block, are on leaves that have few
 *		neighbours above left: all that goes to them by this plane comes
 *		by this slot, and that is more than elsewhere, as they have
 *		fewer planes.  Not where hosts have ascents (below): there slots
 *		stand for hosts of many leaves.
 *
 * The second threshold, the switch's own share, keeps a leaf that lost much
 * from crowding the few neighbours that lost little: there its own cables are
 * the thinnest.  The first one keeps churn down: nothing is thin as long as no
 * switch has lost a quarter of its ways.
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
 * (candidate, d), and the highest wins: the loss of others changes nothing, as
 * with STABLE.  So it is for destinations other than hosts.  All switches that
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

/* Steps of matching per switch, pending slots times slots.  On a fabric in which most
 * columns lack candidates all of them would take seconds; beyond this, displaced
 * slots go by the list. */
#define MATCH_STEPS 50000

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

const struct ftr_ascent *place_ascent(const struct ftr_shape *sh,
				      enum ftr_placement how, ftr_sw s)
{
	if (place_literal(how) || !sh->ascent)
		return NULL;
	return sh->ascent + (size_t)sh->tier[s] * sh->n_d;
}

void place_switch(struct place *pl, const struct ftr_shape *sh,
		  const struct place_losses *losses, enum ftr_placement how,
		  ftr_sw s)
{
	uint64_t r, b;

	pl->sh = sh;
	pl->losses = losses;
	pl->steps = MATCH_STEPS;
	pl->how = how;
	pl->pi = (uint32_t)FTR_MIN(sh->divider[s], UINT32_MAX);
	pl->ascent = place_ascent(sh, how, s);
	pl->w = place_literal(how) || sh->n_slots[s] > FTR_PORT_MAX ?
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

uint32_t place_ways(const struct ftr_shape *sh, ftr_sw s, uint32_t l)
{
	const struct ftr_group *g = &sh->groups[sh->group_first[s]];
	uint8_t cost = ftr_shape_cost(sh, s)[l];
	uint8_t down = ftr_shape_down(sh, s)[l];
	uint32_t n = 0;

	for (uint32_t k = 0; k < sh->n_up[s]; k++) {
		uint8_t above = ftr_shape_cost(sh, g[k].remote)[l];

		if (down < above)
			return 0;
		n += above < cost;
	}
	return n;
}

void place_ways_row(const struct ftr_shape *sh, ftr_sw s, uint8_t *ways,
		    uint8_t *one, uint8_t *must)
{
	const struct ftr_group *g = &sh->groups[sh->group_first[s]];
	size_t n = sh->cost_stride;

	memset(ways, 0, n);
	memset(must, 0, n);
	for (uint32_t k = 0; k < sh->n_up[s]; k++)
		bytes_count_flag(ways, one, must, (uint8_t)k,
				 ftr_shape_cost(sh, s), ftr_shape_down(sh, s),
				 ftr_shape_cost(sh, g[k].remote), n);
	bytes_clear(ways, must, n);
}

uint32_t place_leaves(const struct ftr_shape *sh)
{
	return sh->stride ? sh->n_d / sh->stride : 0;
}

uint32_t place_leaf(const struct ftr_shape *sh, uint32_t l)
{
	uint32_t i = l < sh->n_leaf ? sh->sw_d[sh->col_sw[l]] : UINT32_MAX;

	return i < place_leaves(sh) ? i : UINT32_MAX;
}

bool place_leaf_thin(const struct ftr_shape *sh, uint32_t l)
{
	ftr_sw s = sh->col_sw[l];

	return place_few(sh->n_up[s], sh->n_slots[s]);
}

void place_thin(const struct ftr_shape *sh, uint32_t *thin)
{
	uint32_t n = place_leaves(sh);

	memset(thin, 0, (n + 1) * sizeof(*thin));
	for (uint32_t l = 0; l < sh->n_leaf; l++) {
		uint32_t i = place_leaf(sh, l);

		if (i != UINT32_MAX)
			thin[i + 1] = place_leaf_thin(sh, l);
	}
	for (uint32_t i = 0; i < n; i++)
		thin[i + 1] += thin[i];
}

void place_column(struct place *pl, uint32_t l,
		  const struct ftr_group *const *cand, uint32_t n)
{
	pl->l = l;
	pl->cand = cand;
	pl->n = n;
	pl->matched = false;
	pl->slots = pl->w > 0;
	for (uint32_t i = 0; i < n; i++)
		pl->slots &= cand[i]->slot != FTR_SLOT_NONE;
	pl->several = !pl->slots && n > 1 && pl->ascent;
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
	bool thin[FTR_PORT_MAX + 1];
	bool vacant[FTR_PORT_MAX + 1];
	bool near;
	uint32_t n;
	uint16_t pending[PLACE_MAX];	/* window * w + slot */
	uint32_t c[PLACE_MAX];		/* by window */
};

/* Has the switch at slot x few ways left, and no larger share of them? */
static bool thin_above(const struct place *pl, uint32_t x)
{
	const struct ftr_shape *sh = pl->sh;
	ftr_sw s = pl->at[x]->remote;
	uint32_t n = pl->losses ?
		pl->losses->ways[(size_t)s * sh->cost_stride + pl->l] :
		place_ways(sh, s, pl->l);

	return place_few(n, sh->n_slots[s]) &&
		n * pl->w <= pl->n * sh->n_slots[s];
}

/* Hosts of a slot in a block, by nominal indices, and those on thin leaves. */
struct portion {
	uint32_t all, thin;
};

/* The hosts of one leaf to the slots that they have. */
static void portion_out(const struct place *pl, uint32_t leaf,
			struct portion *slot)
{
	bool thin = pl->losses->thin[leaf + 1] > pl->losses->thin[leaf];
	uint32_t d = leaf * pl->sh->stride, end = d + pl->sh->stride;

	while (d < end) {
		uint32_t q = d / pl->pi;
		uint32_t n = FTR_MIN(pl->pi - d % pl->pi, end - d);

		slot[q % pl->w].all += n;
		slot[q % pl->w].thin += thin ? n : 0;
		d += n;
	}
}

/* Mark the slots half of whose hosts, in the block at distance a, are on thin
 * leaves. */
static void thin_below(const struct place *pl, int32_t a, bool *thin)
{
	struct portion slot[FTR_PORT_MAX + 1];
	uint32_t all = place_leaves(pl->sh);
	uint32_t first = (uint32_t)(a + pl->home) * pl->span;
	uint32_t end = FTR_MIN(first + pl->span, all);

	if (first >= all || pl->losses->thin[end] == pl->losses->thin[first])
		return;
	memset(slot, 0, pl->w * sizeof(*slot));
	for (uint32_t i = first; i < end; i++)
		portion_out(pl, i, slot);
	for (uint32_t x = 0; x < pl->w; x++)
		thin[x] |= slot[x].thin && 2 * slot[x].thin >= slot[x].all;
}

/* Every pending slot asks for that `step` from its own, turned by c. */
static void match_round(struct matching *m, int32_t step)
{
	struct place *pl = m->pl;
	int32_t w = (int32_t)pl->w;
	uint32_t left = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t u = m->pending[i];
		int32_t x = (int32_t)(u % pl->w) + step;
		uint32_t y = ((uint32_t)(x + w) + m->c[u / pl->w]) % pl->w;

		if (m->vacant[y] && !(m->near && (x < 0 || x >= w))) {
			m->vacant[y] = false;
			pl->instead[u] = (uint8_t)y;
		} else {
			m->pending[left++] = (uint16_t)u;
		}
	}
	m->n = left;
}

/*
 * Which survivors are left without a displaced slot is decided by the order in
 * which neighbours are asked, and must not be the same for all blocks.
 *
 * A leaf right under the top, near: there all that can meet in a shift meets on
 * the cables of the leaf.  Two distances in turn share a c.  One of them goes
 * forth first and the other back, and one begins next door and the other three
 * places away (and comes to the nearer ones last): else the neighbours of what
 * is lost would carry what all sources ask there in vain.  Steps do not go round
 * the ends of a window: its first and its last slot belong to different leaves
 * in nearly every shift, two neighbours in one.
 *
 * All others begin 1 + a^2 mod (W - 1) places away, and go round.
 */
static int32_t step_of(const struct matching *m, int32_t a, int32_t k)
{
	uint32_t n = m->pl->w - 1, r = mod(a, n);

	if (!m->near)
		return 1 + (int32_t)((r * r + (uint32_t)k - 1) % n);
	return a & 1 ? 1 + (int32_t)(((uint32_t)k + 1) % n) : k;
}

/* A pass over the survivors that are thin, or over those that are not.  Every
 * slot asks every other, so it serves as many as there are. */
static void match_pass(struct matching *m, int32_t a, bool thin)
{
	const struct place *pl = m->pl;
	int32_t sign = a & 1 ? -1 : 1;

	for (uint32_t x = 0; x < pl->w; x++)
		m->vacant[x] = pl->at[x] && m->thin[x] == thin;
	match_round(m, 0);
	for (int32_t k = 1; m->n > 0 && k < (int32_t)pl->w; k++) {
		int32_t step = step_of(m, a, k);

		match_round(m, sign * step);
		match_round(m, -sign * step);
	}
}

static void match(struct place *pl, int32_t a)
{
	bool thin = false;
	uint32_t steps;
	struct matching m;

	m.pl = pl;
	m.n = 0;
	m.near = pl->span == 1;
	for (uint32_t x = 0; x < pl->w; x++) {
		m.thin[x] = pl->at[x] && thin_above(pl, x);
		m.near &= !pl->at[x] || !pl->sh->n_slots[pl->at[x]->remote];
	}
	if (pl->span > 1 && pl->losses && !pl->ascent)
		thin_below(pl, a, m.thin);
	for (uint32_t j = 0; j < pl->r; j++) {
		m.c[j] = turn(pl, a, j);
		for (uint32_t x = 0; x < pl->w; x++)
			if (!pl->at[x])
				m.pending[m.n++] = (uint16_t)(j * pl->w + x);
	}
	steps = m.n * pl->w;
	for (uint32_t idle = steps > pl->steps ? 2 : 0; m.n > 0 && idle < 2;
	     thin = !thin) {
		uint32_t before = m.n;

		match_pass(&m, a, thin);
		idle = m.n < before ? 0 : idle + 1;
	}
	pl->steps -= FTR_MIN(steps, pl->steps);
	/* and those whose steps reach no survivor: at the ends of a window */
	for (uint32_t i = 0; i < m.n; i++) {
		uint32_t u = m.pending[i];

		pl->instead[u] = (uint8_t)by_list(pl, u % pl->w,
						  m.c[u / pl->w]);
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
	if (pl->n == 1)
		return pl->cand[0];
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

/* ---- ways down --------------------------------------------------------- */

static bool stands_on(const struct ftr_shape *sh, ftr_sw s,
		      const struct ftr_dest *t)
{
	return t->cls == FTR_CLASS_HOST && t->d < sh->n_d &&
	       sh->ascent[(size_t)sh->tier[s] * sh->n_d + t->d].sw == s;
}

static bool has_slot(const struct place *pl, const struct ftr_group *g)
{
	return pl->w && g->slot != FTR_SLOT_NONE;
}

/* The candidate on the ascent of t; that of its slot, if s may go up as well; or
 * else that which draws most. */
static const struct ftr_group *way_down(const struct place *pl,
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

ftr_port place_port(struct place *pl, const struct ftr_dest *t)
{
	uint32_t q = place_number(pl->sh, pl->ascent, pl->pi, t);
	const struct ftr_group *g;

	if (pl->n == 0)
		return FTR_PORT_NONE;
	if (pl->slots)
		return cable_port(pl->sh, slot_group(pl, t, q), q / pl->w);
	if (pl->several) {
		g = way_down(pl, t, q);
		return cable_port(pl->sh, g, has_slot(pl, g) ? q / pl->w : q);
	}
	g = pl->cand[q % pl->n];
	if (place_literal(pl->how))
		return pl->sh->group_ports[g->first + (g->n == 1 ? 0 :
						       q / pl->n % g->n)];
	return cable_port(pl->sh, g, q / pl->n);
}
