/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channels between neighbouring switches, and the turns from one channel to the next that are
 * allowed.
 *
 * A channel stands for all parallel links from a switch to a neighbour, in that direction.  A turn
 * leads from a channel a -> b to a channel b -> c.  Base turns are the turns of up/down routing by
 * rank: c is not a, no channel is horizontal, and the turn does not lead from down to up.
 *
 * Base turns form no cycle: they lead over upward channels by rising rank, then over downward
 * channels by falling rank.  Extra turns are added as long as no cycle arises.  The channel
 * dependencies of a routing that uses only allowed turns are allowed turns.  So such a routing has
 * no credit loop on one VL (Dally and Seitz 1987).  The same holds for a mixture of two such
 * routings if the mixture makes only allowed turns.  In other mixtures, for example, an old entry
 * leads down to a switch whose new entry leads up.  While the fast path writes,
 * src/incremental/write_steps.c excludes such mixtures.
 */
#ifndef FTR_ENGINE_TURNS_H
#define FTR_ENGINE_TURNS_H

#include "engine/engine.h"

enum turns_kind { CHANNEL_UP, CHANNEL_DOWN, CHANNEL_HORIZONTAL };

struct turns_channel {
	ftr_sw from, to;
	uint32_t back;		/* the opposite channel */
	uint32_t group;		/* index in sh->tree.groups */
	uint32_t extra;		/* first extra turn from this channel, in turns.extra, or
				 * TURNS_NONE */
	uint32_t refused;	/* first refused turn from this channel, in turns.refused, or
				 * TURNS_NONE */
	uint8_t kind;		/* enum turns_kind */
};

#define TURNS_NONE UINT32_MAX

/* The number of port groups of a switch, with or without horizontal links. */
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
		bool both;		/* in refused[]: refused only together with its opposite
					 * turn */
	} *extra, *refused;
	uint32_t n_extra, cap_extra, n_refused, cap_refused;
	struct turns_reach **reach;	/* reach[c]: the channels reachable from c; NULL: not
					 * computed yet */
	uint32_t *known;		/* the channels with reach[c] != NULL */
	uint32_t n_known;
	uint32_t *stack;		/* [n + 1] */
};

#define for_each_channel(tn, s, c)					\
	for (uint32_t c = (tn)->first[s]; c < (tn)->first[(s) + 1]; c++)

/* turns_init: make the channels of a shape, without extra turns.  horizontal: include horizontal
 * links.  Returns false if out of memory.  turns_fini: free the memory outside the arena. */
bool turns_init(struct turns *tn, const struct ftr_shape *sh, bool horizontal,
		struct ftr_arena *arena) FTR_MUST_USE;
void turns_fini(struct turns *tn);

/* Add a turn without a test for cycles.  Returns false if out of memory. */
bool turns_add(struct turns *tn, uint32_t in, uint32_t out) FTR_MUST_USE;

/* across.c: allow the turns of up/down routing between trees that are joined by horizontal links.
 * Must be called before any other turn is added.  Returns false if out of memory. */
bool turns_allow_across(struct turns *tn) FTR_MUST_USE;

/* The channel from one switch to another, or TURNS_NONE if they are not neighbours. */
uint32_t turns_find(const struct turns *tn, ftr_sw from, ftr_sw to);

/* May a packet that arrived on channel `in` leave on channel `out`? */
bool turns_allowed(const struct turns *tn, uint32_t in, uint32_t out);

/* Was this turn refused before?  A refusal is final, because turns are never removed.  both: the
 * opposite turn is needed as well, so a refusal of the two together counts, too. */
bool turns_refused(const struct turns *tn, uint32_t in, uint32_t out,
		   bool both);

/*
 * Allow the turns from channel `in` to all n channels out[], which begin where `in` ends.
 * both: also allow the opposite turns, from the opposite channel of each out[i] to the opposite
 * channel of `in`.
 *
 * Errors: FTR_NOMEM; FTR_REFUSED if one of the turns would close a cycle.  Then no turn is added,
 * and turns_refused() is true for this turn from now on, with the same `both`.
 */
enum ftr_status turns_admit(struct turns *tn, uint32_t in, const uint32_t *out,
			    uint32_t n, bool both) FTR_MUST_USE;

#endif
