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

struct trees {
	const struct turns *tn;
	uint32_t *tree;		/* [n_sw] union-find: the switches of a tree have one
				 * representative r, which identifies the tree */
	uint32_t *size;		/* size[r]: number of switches of tree r */
	/* below[r]: number of levels that tree r is below the highest tree; UINT16_MAX: tree r has
	 * no level yet */
	uint16_t *below;
};

static void find_trees(struct trees *z)
{
	uint32_t n = z->tn->sh->f->n_sw;

	ftr_uf_init(z->tree, n);
	for (uint32_t c = 0; c < z->tn->n; c++)
		if (z->tn->channel[c].kind == CHANNEL_UP)
			ftr_uf_union(z->tree, z->tn->channel[c].from,
				     z->tn->channel[c].to);
	for (ftr_sw s = 0; s < n; s++)
		z->size[ftr_uf_find(z->tree, s)]++;
}

static uint32_t largest(const struct trees *z)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < z->tn->sh->f->n_sw; i++)
		if (z->size[i] && z->below[i] == UINT16_MAX &&
		    (best == UINT32_MAX || z->size[i] > z->size[best]))
			best = i;
	return best;
}

/* For each tree b that has no level yet and is linked to a tree a with below[a] == depth, set
 * below[b] = depth + 1.  Returns false if there is no such tree. */
static bool lower_neighbours(struct trees *z, uint16_t depth)
{
	bool any = false;

	for (uint32_t c = 0; c < z->tn->n; c++) {
		const struct turns_channel *ch = &z->tn->channel[c];
		uint32_t a, b;

		if (ch->kind != CHANNEL_HORIZONTAL)
			continue;
		a = ftr_uf_find(z->tree, ch->from);
		b = ftr_uf_find(z->tree, ch->to);
		if (z->below[a] != depth || z->below[b] != UINT16_MAX)
			continue;
		z->below[b] = (uint16_t)(depth + 1);
		any = true;
	}
	return any;
}

static enum turns_kind kind_of(const struct trees *z, uint32_t c)
{
	const struct turns_channel *ch = &z->tn->channel[c];
	uint16_t from, to;

	if (ch->kind != CHANNEL_HORIZONTAL)
		return (enum turns_kind)ch->kind;
	from = z->below[ftr_uf_find(z->tree, ch->from)];
	to = z->below[ftr_uf_find(z->tree, ch->to)];
	return from == to ? CHANNEL_HORIZONTAL :
		from > to ? CHANNEL_UP : CHANNEL_DOWN;
}

static bool may_follow(const struct trees *z, uint32_t in, uint32_t out)
{
	enum turns_kind a = kind_of(z, in), b = kind_of(z, out);

	return z->tn->channel[in].back != out &&
		(a == CHANNEL_UP || b == CHANNEL_DOWN) &&
		(a != CHANNEL_DOWN || b == CHANNEL_DOWN);
}

static bool add_turns(struct turns *tn, const struct trees *z, uint32_t h)
{
	for_each_channel(tn, tn->channel[h].from, c)
		if (may_follow(z, tn->channel[c].back, h) &&
		    !turns_add(tn, tn->channel[c].back, h))
			return false;
	for_each_channel(tn, tn->channel[h].to, c)
		if (tn->channel[c].kind != CHANNEL_HORIZONTAL &&
		    may_follow(z, h, c) && !turns_add(tn, h, c))
			return false;
	return true;
}

bool turns_allow_across(struct turns *tn)
{
	uint32_t n = tn->sh->f->n_sw, first;
	struct trees z = { .tn = tn };

	if (!FTR_NEW(tn->arena, z.tree, n) || !FTR_ZNEW(tn->arena, z.size, n) ||
	    !FTR_NEW(tn->arena, z.below, n))
		return false;
	memset(z.below, 0xff, n * sizeof(*z.below));
	find_trees(&z);
	while ((first = largest(&z)) != UINT32_MAX) {
		z.below[first] = 0;
		for (uint16_t d = 0; lower_neighbours(&z, d); d++)
			;
	}
	for (uint32_t h = 0; h < tn->n; h++)
		if (tn->channel[h].kind == CHANNEL_HORIZONTAL &&
		    !add_turns(tn, &z, h))
			return false;
	return true;
}
