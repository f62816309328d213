// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the fabric lost, as far as the placement looks at it, made to follow.
 *
 * FTR_PLACE_EVEN shuns survivors that are thin (engine/place.c): the choice for
 * what s has displaced in a column looks at the ways that its neighbours above
 * have, and at the leaves that its slots stand for.  So the list of entries is
 * not complete when costs are:
 *
 *	ways of y to l changed		entries of those below y, column l
 *	a leaf became thin, or no	entries to the blocks that have it, of
 *	longer is			all switches whose slots stand for leaves
 *
 * both only where something is displaced.  No entry looks further than that,
 * so what is added here lists nothing more.
 */
#include "live/live.h"

/* The entries of a pair, unless all slots of s lead closer to l. */
static void touch(struct ftr_live *lv, ftr_sw s, uint32_t l)
{
	if (live_ways(lv, s)[l] != lv->view.n_slots[s])
		live_touch(lv, JOB_ENTRY, s, l);
}

static bool follow_pair(struct ftr_live *lv, ftr_sw s, uint32_t l)
{
	const struct ftr_shape *v = &lv->view;
	const struct ftr_group *g = &v->groups[v->group_first[s]];
	uint8_t *ways = &live_ways(lv, s)[l], before = *ways;
	uint8_t now = (uint8_t)place_ways(v, s, l);

	if (now == before)
		return true;
	if (!live_note(lv, VALUE_WAYS, s, l, before))
		return false;
	*ways = now;
	if (!place_few(before, v->n_slots[s]) && !place_few(now, v->n_slots[s]))
		return true;
	for (uint32_t k = v->n_up[s]; k < v->n_up[s] + v->n_down[s]; k++)
		touch(lv, g[k].remote, l);
	return true;
}

/* Pairs that are listed as entries: only theirs may have changed.  Lower ranks
 * first, as those get more of them. */
static bool follow_listed(struct ftr_live *lv)
{
	const struct live_work *w = &lv->work[JOB_ENTRY];

	for (uint32_t r = 0; r < lv->view.n_ranks; r++)
		for (ftr_sw s = w->head[r]; s != NONE; s = w->next[s]) {
			const uint64_t *bit = w->bit + (size_t)s * lv->words;

			for (uint32_t i = 0; i < lv->words; i++)
				for (uint64_t b = bit[i]; b; b &= b - 1)
					if (!follow_pair(lv, s, i * 64 +
					    (uint32_t)__builtin_ctzll(b)))
						return false;
		}
	return true;
}

/* ---- leaves ------------------------------------------------------------ */

/* Columns with a destination in a block of span leaves; returns how many. */
static uint32_t columns_of(const struct ftr_shape *v, uint32_t span,
			   uint32_t block, uint32_t *col)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_dest; i++) {
		const struct ftr_dest *t = &v->dest[i];
		uint32_t size = t->cls == FTR_CLASS_HOST ?
			span * FTR_MAX(v->stride, 1u) : span;

		if (t->d / size == block && (!n || col[n - 1] != t->col))
			col[n++] = t->col;
	}
	return n;
}

/* leaf: by nominal index. */
static void follow_leaf(struct ftr_live *lv, uint32_t leaf, uint32_t *col)
{
	const struct ftr_shape *v = &lv->view;
	uint32_t span = 0, n = 0;

	for (ftr_sw s = 0; s < v->f->n_sw; s++) {
		if (!v->n_slots[s] || v->divider[s] < v->stride)
			continue;
		if (v->span[s] != span) {
			span = v->span[s];
			n = columns_of(v, span, leaf / span, col);
		}
		for (uint32_t i = 0; i < n; i++)
			touch(lv, s, col[i]);
	}
}

/* Is a leaf, the lower end of this cable, thin now, and was not, or the other
 * way round?  Then it is noted. */
static bool turned(struct ftr_live *lv, uint32_t cable, uint32_t *leaf)
{
	uint32_t l = lv->view.col[live_low(lv, cable)];
	bool now;

	*leaf = place_leaf(&lv->view, l);
	if (*leaf == UINT32_MAX)
		return false;
	now = place_leaf_thin(&lv->view, l);
	if (lv->thin[*leaf] == now)
		return false;
	lv->thin[*leaf] = now;
	return true;
}

enum ftr_status live_losses(struct ftr_live *lv, struct ftr_err *err)
{
	uint32_t *col, leaf;

	if (!lv->ways)
		return FTR_OK;
	col = ftr_arena_alloc(lv->last, lv->view.f->n_sw, sizeof(*col));
	if (!col || !follow_listed(lv))
		return live_nomem(lv, err);
	for (uint32_t i = 0; i < lv->n_toggled; i++)
		if (turned(lv, lv->toggled[i], &leaf))
			follow_leaf(lv, leaf, col);
	return FTR_OK;
}

void live_losses_back(struct ftr_live *lv)
{
	uint32_t leaf;

	for (uint32_t i = 0; lv->ways && i < lv->n_toggled; i++)
		turned(lv, lv->toggled[i], &leaf);
}

/* ---- at the start ------------------------------------------------------ */

enum ftr_status live_losses_new(struct ftr_live *lv, struct ftr_err *err)
{
	const struct ftr_shape *v = &lv->view;

	if (lv->opts.placement != FTR_PLACE_EVEN)
		return FTR_OK;
	lv->ways = ftr_arena_alloc(lv->arena, v->f->n_sw, v->cost_stride);
	lv->thin = ftr_arena_zalloc(lv->arena, place_leaves(v), 1);
	if (!lv->ways || !lv->thin)
		return live_nomem(lv, err);
	for (ftr_sw s = 0; s < v->f->n_sw; s++)
		place_ways_row(v, s, live_ways(lv, s), lv->row[0], lv->row[1]);
	place_thin(v, lv->thin);
	lv->losses.ways = lv->ways;
	lv->losses.thin = lv->thin;
	return FTR_OK;
}
