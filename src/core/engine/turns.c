// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stores a set of allowed turns from channel to channel (turns.h), and adds turns that close no
 * cycle.
 *
 * Channel c reaches channel d if allowed turns lead from c to d.  A turn from channel `in` to
 * channel `out` closes a cycle if and only if `out` reaches `in`.  The channels that `out` reaches
 * are computed once and stored as bits.  When a turn is added, the bits are updated.  So a test
 * reads one bit.
 *
 * Base turns (those of up/down routing by rank) are not stored.  A downward channel into switch v
 * reaches all downward channels of v.  An upward channel from w into v reaches all channels of v
 * except the channel back to w.  If v is entered from a second switch below, the channel back to w
 * is reached, too.  So a search visits each channel a constant number of times, and takes
 * O(channels).
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/turns.h"

struct turns_reach {
	uint64_t *bit;		/* bit c: channel c is reached */
	uint8_t *fan;		/* fan[s]: the channels from switch s that are reached, as FAN_...
				 * bits */
	ftr_sw *from;		/* from[s], with FAN_BUT_ONE: the switch below s from which s was
				 * entered */
};

/* FAN_UP: all upward channels from switch s.  FAN_DOWN: all downward channels.  FAN_BUT_ONE: all
 * downward channels except the channel to from[s]. */
enum { FAN_UP = 1, FAN_DOWN = 2, FAN_BUT_ONE = 4 };

void engine_islands(const struct ftr_shape *sh, uint32_t *island)
{
	uint32_t n = sh->f->n_sw;

	ftr_uf_init(island, n);
	for (ftr_sw s = 0; s < n; s++)
		for (uint32_t k = 0; k < turns_groups(sh, s, sh->tree.n_horizontal > 0); k++)
			ftr_uf_union(island, s,
				     sh->tree.groups[sh->tree.group_first[s] + k].remote);
	for (ftr_sw s = 0; s < n; s++)
		island[s] = ftr_uf_find(island, s);
}

static bool has(const struct turns_reach *r, uint32_t c)
{
	return r->bit[c / 64] >> c % 64 & 1;
}

/* ---- channels ---------------------------------------------------------- */

static uint8_t kind_of(const struct ftr_shape *sh, ftr_sw from, ftr_sw to)
{
	return sh->tree.rank[to] == sh->tree.rank[from] ? CHANNEL_HORIZONTAL :
		sh->tree.rank[to] > sh->tree.rank[from] ? CHANNEL_UP : CHANNEL_DOWN;
}

static bool allocate(struct turns *tn, bool horizontal)
{
	const struct ftr_shape *sh = tn->sh;
	uint32_t n_sw = sh->f->n_sw, all = sh->tree.group_first[n_sw];
	struct ftr_arena *a = tn->arena;

	if (!FTR_ZNEW(a, tn->first, n_sw + 1u))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++)
		tn->first[s + 1] = tn->first[s] + turns_groups(sh, s, horizontal);
	tn->n = tn->first[n_sw];
	return FTR_ZNEW(a, tn->channel, tn->n + 1u) &&
	       FTR_NEW(a, tn->of_group, all + 1u) &&
	       FTR_ZNEW(a, tn->reach, tn->n + 1u) &&
	       FTR_NEW(a, tn->known, tn->n + 1u) && FTR_NEW(a, tn->stack, tn->n + 1u);
}

/* The channels from a switch must be sorted by neighbour.  So the switches are visited in ascending
 * order, and each of them is appended to the list of each of its neighbours. */
static bool number_channels(struct turns *tn, bool horizontal)
{
	const struct ftr_shape *sh = tn->sh;
	uint32_t n_sw = sh->f->n_sw;
	uint32_t *next = ftr_arena_alloc(tn->arena, n_sw + 1u, sizeof(*next));
	uint32_t *at = ftr_arena_alloc(tn->arena, n_sw + 1u, sizeof(*at));

	if (!next || !at)
		return false;
	memcpy(next, tn->first, n_sw * sizeof(*next));
	for (ftr_sw s = 0; s < n_sw; s++) {
		uint32_t first = sh->tree.group_first[s];

		for (uint32_t k = 0; k < turns_groups(sh, s, horizontal); k++) {
			ftr_sw r = sh->tree.groups[first + k].remote;

			tn->channel[next[r]++] = (struct turns_channel){
				.from = r, .to = s, .extra = TURNS_NONE,
				.refused = TURNS_NONE,
				.kind = kind_of(sh, r, s),
			};
		}
	}
	for (ftr_sw s = 0; s < n_sw; s++) {
		for_each_channel(tn, s, c)
			at[tn->channel[c].to] = c;
		for (uint32_t k = 0; k < turns_groups(sh, s, horizontal); k++) {
			uint32_t g = sh->tree.group_first[s] + k;
			uint32_t c = at[sh->tree.groups[g].remote];

			tn->channel[c].group = g;
			tn->of_group[g] = c;
		}
	}
	/* the i-th channel from a switch is opposite to the i-th channel to this switch, because
	 * both lists are sorted by neighbour */
	memcpy(next, tn->first, n_sw * sizeof(*next));
	for (uint32_t c = 0; c < tn->n; c++)
		tn->channel[next[tn->channel[c].to]++].back = c;
	return true;
}

bool turns_init(struct turns *tn, const struct ftr_shape *sh, bool horizontal,
		struct ftr_arena *arena)
{
	memset(tn, 0, sizeof(*tn));
	tn->sh = sh;
	tn->arena = arena;
	return allocate(tn, horizontal) && number_channels(tn, horizontal);
}

void turns_fini(struct turns *tn)
{
	free(tn->extra);
	free(tn->refused);
	tn->extra = tn->refused = NULL;
}

uint32_t turns_find(const struct turns *tn, ftr_sw from, ftr_sw to)
{
	uint32_t first = tn->first[from], n = tn->first[from + 1] - first, i;

	FTR_LOWER_BOUND(i, n, tn->channel[first + i].to < to);
	return i < n && tn->channel[first + i].to == to ? first + i : TURNS_NONE;
}

/* ---- allowed turns ----------------------------------------------------- */

static bool base_turn(const struct turns *tn, uint32_t in, uint32_t out)
{
	const struct turns_channel *a = &tn->channel[in];
	const struct turns_channel *b = &tn->channel[out];

	return a->back != out && a->kind != CHANNEL_HORIZONTAL &&
		b->kind != CHANNEL_HORIZONTAL &&
		!(a->kind == CHANNEL_DOWN && b->kind == CHANNEL_UP);
}

bool turns_allowed(const struct turns *tn, uint32_t in, uint32_t out)
{
	if (base_turn(tn, in, out))
		return true;
	for (uint32_t i = tn->channel[in].extra; i != TURNS_NONE;
	     i = tn->extra[i].next)
		if (tn->extra[i].out == out)
			return true;
	return false;
}

bool turns_refused(const struct turns *tn, uint32_t in, uint32_t out,
		   bool both)
{
	for (uint32_t i = tn->channel[in].refused; i != TURNS_NONE;
	     i = tn->refused[i].next)
		if (tn->refused[i].out == out &&
		    (both || !tn->refused[i].both))
			return true;
	return false;
}

/* ---- reachable channels ------------------------------------------------ */

static void enter(struct turns *tn, struct turns_reach *r, uint32_t c,
		  uint32_t *depth)
{
	if (has(r, c))
		return;
	r->bit[c / 64] |= (uint64_t)1 << c % 64;
	tn->stack[(*depth)++] = c;
}

static void enter_up(struct turns *tn, struct turns_reach *r, ftr_sw s,
		     uint32_t *depth)
{
	const struct ftr_shape_tree *t = &tn->sh->tree;

	for (uint32_t k = 0; k < t->n_up[s]; k++)
		enter(tn, r, tn->of_group[t->group_first[s] + k], depth);
}

/* Mark the downward channels from s except the channel `but`.  Put them onto the stack, except
 * channels after which no turn is allowed. */
static void enter_down(struct turns *tn, struct turns_reach *r, ftr_sw s,
		       uint32_t but, uint32_t *depth)
{
	const struct ftr_shape_tree *t = &tn->sh->tree;
	uint32_t first = t->group_first[s] + t->n_up[s];

	for (uint32_t g = first; g < first + t->n_down[s]; g++) {
		uint32_t c = tn->of_group[g];

		if (c == but)
			continue;
		if (t->n_down[t->groups[g].remote] ||
		    tn->channel[c].extra != TURNS_NONE)
			enter(tn, r, c, depth);
		else
			r->bit[c / 64] |= (uint64_t)1 << c % 64;
	}
}

/* Mark the channels to which base turns lead from channel c, and put them onto the stack. */
static void enter_base(struct turns *tn, struct turns_reach *r, uint32_t c,
		       uint32_t *depth)
{
	const struct turns_channel *ch = &tn->channel[c];
	ftr_sw v = ch->to;
	uint8_t *fan = &r->fan[v];

	if (ch->kind == CHANNEL_HORIZONTAL)
		return;
	if (ch->kind == CHANNEL_UP && !(*fan & FAN_UP)) {
		*fan |= FAN_UP;
		enter_up(tn, r, v, depth);
	}
	if (*fan & FAN_DOWN)
		return;
	if (ch->kind == CHANNEL_UP && !(*fan & FAN_BUT_ONE)) {
		*fan |= FAN_BUT_ONE;
		r->from[v] = ch->from;
		enter_down(tn, r, v, ch->back, depth);
	} else if (ch->kind == CHANNEL_DOWN || r->from[v] != ch->from) {
		*fan |= FAN_DOWN;
		enter_down(tn, r, v, TURNS_NONE, depth);
	}
}

static void extend(struct turns *tn, struct turns_reach *r, uint32_t c)
{
	uint32_t depth = 0;

	enter(tn, r, c, &depth);
	while (depth) {
		c = tn->stack[--depth];
		enter_base(tn, r, c, &depth);
		for (uint32_t i = tn->channel[c].extra; i != TURNS_NONE;
		     i = tn->extra[i].next)
			enter(tn, r, tn->extra[i].out, &depth);
	}
}

static const struct turns_reach *reach_of(struct turns *tn, uint32_t c)
{
	uint32_t n_sw = tn->sh->f->n_sw;
	struct turns_reach *r;

	if (tn->reach[c])
		return tn->reach[c];
	if (!FTR_NEW(tn->arena, r, 1) || !FTR_ZNEW(tn->arena, r->bit, tn->n / 64 + 1u) ||
	    !FTR_ZNEW(tn->arena, r->fan, n_sw) || !FTR_NEW(tn->arena, r->from, n_sw))
		return NULL;
	extend(tn, r, c);
	tn->reach[c] = r;
	tn->known[tn->n_known++] = c;
	return r;
}

/* ---- one more turn ----------------------------------------------------- */

bool turns_add(struct turns *tn, uint32_t in, uint32_t out)
{
	if (!FTR_GROW(tn->extra, tn->n_extra, tn->cap_extra))
		return false;
	tn->extra[tn->n_extra] = (struct turns_extra){
		.in = in, .out = out, .next = tn->channel[in].extra,
	};
	tn->channel[in].extra = tn->n_extra++;
	for (uint32_t i = 0; i < tn->n_known; i++) {
		struct turns_reach *r = tn->reach[tn->known[i]];

		if (has(r, in) && !has(r, out))
			extend(tn, r, out);
	}
	return true;
}

static enum ftr_status refuse(struct turns *tn, uint32_t in, uint32_t out,
			      bool both)
{
	if (!FTR_GROW(tn->refused, tn->n_refused, tn->cap_refused))
		return FTR_NOMEM;
	tn->refused[tn->n_refused] = (struct turns_extra){
		.in = in, .out = out, .next = tn->channel[in].refused,
		.both = both,
	};
	tn->channel[in].refused = tn->n_refused++;
	return FTR_REFUSED;
}

/*
 * Returns FTR_OK if the turn from `in` to `out` would close no cycle.  Otherwise stores the turn in
 * tn->refused and returns FTR_REFUSED.
 *
 * all[n]	turns from `in` to all these channels will be added together
 * both		the opposite turns will be added, too; a cycle may also contain these turns
 */
static enum ftr_status may_add(struct turns *tn, uint32_t in, uint32_t out,
			       const uint32_t *all, uint32_t n, bool both)
{
	const struct turns_reach *r = reach_of(tn, out), *back;

	if (!r)
		return FTR_NOMEM;
	if (has(r, in))
		return refuse(tn, in, out, false);
	if (!both)
		return FTR_OK;
	back = reach_of(tn, tn->channel[in].back);
	if (!back)
		return FTR_NOMEM;
	if (has(back, tn->channel[out].back))
		return refuse(tn, in, out, true);
	for (uint32_t i = 0; has(back, in) && i < n; i++)
		if (has(r, tn->channel[all[i]].back))
			return refuse(tn, in, out, true);
	return FTR_OK;
}

enum ftr_status turns_admit(struct turns *tn, uint32_t in, const uint32_t *out,
			    uint32_t n, bool both)
{
	for (uint32_t i = 0; i < n; i++) {
		enum ftr_status st = turns_allowed(tn, in, out[i]) ? FTR_OK :
			may_add(tn, in, out[i], out, n, both);

		if (st)
			return st;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (turns_allowed(tn, in, out[i]))
			continue;
		if (!turns_add(tn, in, out[i]))
			return FTR_NOMEM;
		if (both && !turns_allowed(tn, tn->channel[out[i]].back,
					   tn->channel[in].back) &&
		    !turns_add(tn, tn->channel[out[i]].back, tn->channel[in].back))
			return FTR_NOMEM;
	}
	return FTR_OK;
}
