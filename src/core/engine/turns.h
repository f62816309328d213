/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channels between neighbouring switches, and a set of allowed turns without a cycle.
 *
 * A channel stands for all parallel links from a switch to a neighbour, in that direction.  A turn
 * leads from a channel a -> b to a channel b -> c.  The allowed turns are:
 *
 *	base turns	the turns of up/down routing by rank: c is not a, no channel is horizontal,
 *			and the turn does not lead from a downward to an upward channel
 *	extra turns	other turns that were added.  None of them closes a cycle of allowed turns
 *
 * Base turns alone form no cycle, because they lead up by rising rank and then down by falling
 * rank.  If the paths of a routing make only allowed turns, its channel dependency graph has no
 * cycle.  So it has no credit loop on one VL (Dally and Seitz 1987).
 *
 * During a transition, switches hold a mixture of old and new entries.  A packet may then make a
 * turn that is not allowed: for example, an old entry leads it down to a switch whose new entry
 * leads up.  When the fast path writes entries, src/core/incremental/write_steps.c prevents such
 * turns.
 */
#ifndef FTR_ENGINE_TURNS_H
#define FTR_ENGINE_TURNS_H

#include "engine/engine.h"

enum turns_kind { CHANNEL_UP, CHANNEL_DOWN, CHANNEL_HORIZONTAL };

struct turns_channel {
	ftr_sw from, to;
	uint32_t back;		/* the opposite channel */
	uint32_t group;		/* index in sh->tree.groups */
	uint32_t extra;		/* index in turns.extra of the first extra turn from this channel,
				 * or TURNS_NONE */
	uint32_t refused;	/* index in turns.refused of the first refused turn from this
				 * channel, or TURNS_NONE */
	uint8_t kind;		/* enum turns_kind */
};

#define TURNS_NONE UINT32_MAX

/* The number of port groups of switch s.  horizontal: count horizontal groups, too. */
static inline uint32_t turns_groups(const struct ftr_shape *sh, ftr_sw s,
				    bool horizontal)
{
	return horizontal ? ftr_shape_groups(sh, s) :
		sh->tree.n_up[s] + sh->tree.n_down[s];
}

struct turns {
	const struct ftr_shape *sh;
	struct ftr_arena *arena;
	uint32_t n;			/* number of channels */
	struct turns_channel *channel;
	uint32_t *first;		/* channel[first[s]] .. channel[first[s + 1] - 1]: the
					 * channels from s, sorted by neighbour */
	uint32_t *of_group;		/* of_group[g]: channel of sh->tree.groups[g] */
	struct turns_extra {
		uint32_t in, out;
		uint32_t next;		/* index of the next turn from channel `in`, or
					 * TURNS_NONE */
		bool both;		/* in refused[]: true if the turn was refused together
					 * with its opposite turn, and may be allowed alone */
	} *extra, *refused;
	uint32_t n_extra, cap_extra, n_refused, cap_refused;
	struct turns_reach **reach;	/* reach[c]: the channels that allowed turns reach from
					 * channel c; NULL: not computed yet */
	uint32_t *known;		/* list of the channels c with reach[c] != NULL */
	uint32_t n_known;
	uint32_t *stack;		/* [n + 1] */
};

#define for_each_channel(tn, s, c)					\
	for (uint32_t c = (tn)->first[s]; c < (tn)->first[(s) + 1]; c++)

/* turns_init: make the channels of a shape, without extra turns.  horizontal: make channels for
 * horizontal links, too.  Returns false if out of memory.
 * turns_fini: free the memory outside the arena. */
bool turns_init(struct turns *tn, const struct ftr_shape *sh, bool horizontal,
		struct ftr_arena *arena) FTR_MUST_USE;
void turns_fini(struct turns *tn);

/* Add an extra turn without a test for cycles.  Returns false if out of memory. */
bool turns_add(struct turns *tn, uint32_t in, uint32_t out) FTR_MUST_USE;

/* across.c: if horizontal links join several trees, allow turns by which up/down paths can lead
 * from tree to tree.  Must be called before other turns are added.  Returns false if out of
 * memory. */
bool turns_allow_across(struct turns *tn) FTR_MUST_USE;

/* The channel from one switch to another, or TURNS_NONE if they are not neighbours. */
uint32_t turns_find(const struct turns *tn, ftr_sw from, ftr_sw to);

/* Returns true if a packet that arrived on channel `in` may leave on channel `out`. */
bool turns_allowed(const struct turns *tn, uint32_t in, uint32_t out);

/* Returns true if turns_admit() refused this turn before.  Refusals are final, because turns are
 * never removed.  both: also return true if the turn was refused only together with its opposite
 * turn. */
bool turns_refused(const struct turns *tn, uint32_t in, uint32_t out,
		   bool both);

/*
 * Allow the turns from channel `in` to all n channels out[], which begin where `in` ends.
 * both: also allow the opposite turns, from the opposite channel of each out[i] to the opposite
 * channel of `in`.
 *
 * Errors: FTR_NOMEM; FTR_REFUSED if one of the turns would close a cycle.  After FTR_REFUSED no
 * turn has been added, and turns_refused() returns true for that turn and the same `both`.
 */
enum ftr_status turns_admit(struct turns *tn, uint32_t in, const uint32_t *out,
			    uint32_t n, bool both) FTR_MUST_USE;

#endif
