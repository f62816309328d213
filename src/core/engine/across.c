// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Allows turns over horizontal links that join trees, for example a compute tree and a storage tree
 * whose spines are linked.
 *
 * A tree is a set of switches that are connected by links between different ranks.  Each tree gets
 * a level.  The tree with the most switches gets the highest level.  The trees linked to it get the
 * next lower level.  The trees linked to those trees get the level below that one, and so on.  All
 * ranks of a tree count as lower than all ranks of a tree with a higher level.  So a horizontal
 * link between trees of different levels counts as a link up to the tree with the higher level.
 * Up/down routing by level and rank allows all turns of up/down routing by rank, and more turns.
 *
 * A horizontal link inside a tree, or between trees of equal level, remains horizontal.  A path may
 * cross one such link after its upward links and before its downward links.
 *
 * All these turns together form no cycle.  A path first has upward channels, by rising level and
 * rank.  Then it may have one horizontal channel.  Then it has downward channels, by falling level
 * and rank.
 */
#include <string.h>

#include "engine/turns.h"

/* The largest tree without a level, or UINT32_MAX. */
static uint32_t largest(uint32_t n, const uint32_t *size, const uint16_t *below)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (size[i] && below[i] == UINT16_MAX &&
		    (best == UINT32_MAX || size[i] > size[best]))
			best = i;
	return best;
}

/* For each tree b that has no level yet and is linked to a tree a with below[a] == depth, set
 * below[b] = depth + 1.  Returns false if there is no such tree. */
static bool lower_neighbours(const struct turns *tn, uint32_t *tree, uint16_t *below,
			     uint16_t depth)
{
	bool any = false;

	for (uint32_t c = 0; c < tn->n; c++) {
		const struct turns_channel *ch = &tn->channel[c];
		uint32_t a, b;

		if (ch->kind != CHANNEL_HORIZONTAL)
			continue;
		a = ftr_uf_find(tree, ch->from);
		b = ftr_uf_find(tree, ch->to);
		if (below[a] != depth || below[b] != UINT16_MAX)
			continue;
		below[b] = (uint16_t)(depth + 1);
		any = true;
	}
	return any;
}

/* Set level[s] to the number of levels that the tree of switch s is below the highest tree.  A tree is
 * a set of switches that upward links connect.  Returns false if memory is exhausted. */
static bool find_levels(const struct turns *tn, uint16_t *level)
{
	uint32_t n = tn->sh->f->n_sw, *tree, *size;
	uint16_t *below;	/* below[r]: level of the tree that switch r represents */

	if (!FTR_NEW(tn->arena, tree, n) || !FTR_ZNEW(tn->arena, size, n) ||
	    !FTR_NEW(tn->arena, below, n))
		return false;
	memset(below, 0xff, n * sizeof(*below));
	ftr_uf_init(tree, n);
	for (uint32_t c = 0; c < tn->n; c++)
		if (tn->channel[c].kind == CHANNEL_UP)
			ftr_uf_union(tree, tn->channel[c].from, tn->channel[c].to);
	for (ftr_sw s = 0; s < n; s++)
		size[ftr_uf_find(tree, s)]++;
	for (;;) {
		uint32_t first = largest(n, size, below);

		if (first == UINT32_MAX)
			break;
		below[first] = 0;
		for (uint16_t d = 0; lower_neighbours(tn, tree, below, d); d++)
			;
	}
	for (ftr_sw s = 0; s < n; s++)
		level[s] = below[ftr_uf_find(tree, s)];
	return true;
}

static enum turns_kind kind_of(const struct turns *tn, const uint16_t *level, uint32_t c)
{
	const struct turns_channel *ch = &tn->channel[c];
	uint16_t from, to;

	if (ch->kind != CHANNEL_HORIZONTAL)
		return (enum turns_kind)ch->kind;
	from = level[ch->from];
	to = level[ch->to];
	return from == to ? CHANNEL_HORIZONTAL :
		from > to ? CHANNEL_UP : CHANNEL_DOWN;
}

static bool may_follow(const struct turns *tn, const uint16_t *level, uint32_t in,
		       uint32_t out)
{
	enum turns_kind a = kind_of(tn, level, in), b = kind_of(tn, level, out);

	return tn->channel[in].back != out &&
		(a == CHANNEL_UP || b == CHANNEL_DOWN) &&
		(a != CHANNEL_DOWN || b == CHANNEL_DOWN);
}

static bool add_turns(struct turns *tn, const uint16_t *level, uint32_t h)
{
	for_each_channel(tn, tn->channel[h].from, c)
		if (may_follow(tn, level, tn->channel[c].back, h) &&
		    !turns_add(tn, tn->channel[c].back, h))
			return false;
	for_each_channel(tn, tn->channel[h].to, c)
		if (tn->channel[c].kind != CHANNEL_HORIZONTAL &&
		    may_follow(tn, level, h, c) && !turns_add(tn, h, c))
			return false;
	return true;
}

bool turns_allow_across(struct turns *tn)
{
	uint16_t *level;

	if (!FTR_NEW(tn->arena, level, tn->sh->f->n_sw) || !find_levels(tn, level))
		return false;
	for (uint32_t h = 0; h < tn->n; h++)
		if (tn->channel[h].kind == CHANNEL_HORIZONTAL && !add_turns(tn, level, h))
			return false;
	return true;
}
