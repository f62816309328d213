/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channels between neighbouring switches, and the turns that are allowed from one to the
 * next.
 *
 * One channel stands for all parallel links from a switch to a neighbour.  The base
 * relation allows every turn of up/down routing by rank. These are the base turns: from
 * channel a -> b to channel b -> c, except if c == a, if a channel is horizontal, or if the first
 * channel leads down and the second one up.
 *
 * The base relation has no cycle: base turns lead over upward channels by rising rank, then
 * over downward channels by falling rank. Extra turns are added as long as the relation stays
 * free of cycles. The relation then contains the channel dependencies of every routing that
 * uses allowed turns only. So none of these routings has a credit loop, on one VL (Dally and
 * Seitz 1987). The same holds for a mixture of two such routings that makes allowed turns only.
 * Others are possible: an old entry leads down to a switch whose new entry leads up. While the
 * fast path writes, src/incremental/write_steps.c excludes them.
 */
#ifndef FTR_ENGINE_TURNS_H
#define FTR_ENGINE_TURNS_H

#include "engine/engine.h"

enum turns_kind { CHANNEL_UP, CHANNEL_DOWN, CHANNEL_HORIZONTAL };

struct turns_channel {
	ftr_sw from, to;
	uint32_t back;		/* the channel in the opposite direction */
	uint32_t group;		/* index in sh->tree.groups */
	uint32_t extra;		/* index in turns.extra of the first extra turn from this channel;
				 * TURNS_NONE: none */
	uint32_t refused;	/* index in turns.refused of the first refused turn from this
				 * channel; TURNS_NONE: none */
	uint8_t kind;		/* enum turns_kind */
};

#define TURNS_NONE UINT32_MAX

/* The number of groups of a switch. horizontal: whether groups of horizontal links are counted. */
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
	uint32_t *first;		/* The channels from s are channel[first[s]] ..
					 * channel[first[s + 1] - 1], sorted by neighbour. */
	uint32_t *of_group;		/* of_group[g]: channel of sh->tree.groups[g] */
	struct turns_extra {
		uint32_t in, out;
		uint32_t next;		/* index in the same array of the next turn from channel
					 * `in`; TURNS_NONE: none */
		bool both;		/* true, in refused[]: the turn was refused only together
					 * with its opposite turn */
	} *extra, *refused;
	uint32_t n_extra, cap_extra, n_refused, cap_refused;
	struct turns_reach **reach;	/* reach[c]: the channels that can be reached from c; NULL:
					 * not computed yet */
	uint32_t *known;		/* the channels c with reach[c] != NULL */
	uint32_t n_known;
	uint32_t *stack;		/* [n + 1] */
};

#define for_each_channel(tn, s, c)					\
	for (uint32_t c = (tn)->first[s]; c < (tn)->first[(s) + 1]; c++)

/* turns_init: make the channels of a shape, without extra turns. horizontal: horizontal links are
 * channels, too. False: out of memory. turns_fini: free the memory that is not from the arena. */
bool turns_init(struct turns *tn, const struct ftr_shape *sh, bool horizontal,
		struct ftr_arena *arena) FTR_MUST_USE;
void turns_fini(struct turns *tn);

/* Add a turn without a test for cycles; false: out of memory. */
bool turns_add(struct turns *tn, uint32_t in, uint32_t out) FTR_MUST_USE;

/* across.c: allow the turns of up/down routing between trees that horizontal links join. Must be
 * called before any other turn is admitted. False: out of memory. */
bool turns_allow_across(struct turns *tn) FTR_MUST_USE;

/* The channel from one switch to another; TURNS_NONE: they are not neighbours. */
uint32_t turns_find(const struct turns *tn, ftr_sw from, ftr_sw to);

/* May a packet that arrived on channel `in` leave on channel `out`? */
bool turns_allowed(const struct turns *tn, uint32_t in, uint32_t out);

/* Was this turn refused before? A refusal is final, because turns are only added.
 * both: the opposite turn is wanted as well, so the result is also true if the two turns were
 * refused together. */
bool turns_refused(const struct turns *tn, uint32_t in, uint32_t out,
		   bool both);

/*
 * Allow the turns from channel `in` to each of the channels out[n], which begin at the switch
 * where `in` ends. both: also allow the opposite turns, from the opposite channel of each out[i]
 * to the opposite channel of `in`. Errors: FTR_REFUSED: one of the turns would close a cycle; no
 * turn is added, and turns_refused(), with the same `both`, is true for that one from now on.
 * FTR_NOMEM.
 */
enum ftr_status turns_admit(struct turns *tn, uint32_t in, const uint32_t *out,
			    uint32_t n, bool both) FTR_MUST_USE;

#endif
