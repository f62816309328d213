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
 *	longer is so			all switches with several leaves
 *
 * both only where not all slots lead closer.  No entry looks further than that,
 * so what is added here lists nothing more.
 */
#include <string.h>

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

static bool is_thin(const uint32_t *thin, uint32_t leaf)
{
	return thin[leaf + 1] > thin[leaf];
}

/* Which leaves turned, and what is so now; returns how many did. */
static uint32_t note_turned(struct ftr_live *lv, uint32_t *leaf)
{
	uint32_t n = 0;

	place_thin(&lv->view, lv->thin_now);
	for (uint32_t i = 0; i < place_leaves(&lv->view); i++)
		if (is_thin(lv->thin, i) != is_thin(lv->thin_now, i))
			leaf[n++] = i;
	memcpy(lv->thin, lv->thin_now,
	       (place_leaves(&lv->view) + 1) * sizeof(*lv->thin));
	return n;
}

/* Columns with a destination in a block of span leaves that one of the n leaves
 * is in; returns how many. */
static uint32_t columns_of(const struct ftr_live *lv, uint32_t span,
			   const uint32_t *leaf, uint32_t n, uint32_t *col)
{
	const struct ftr_shape *v = &lv->view;
	uint32_t n_blocks = place_leaves(v) / span + 1, n_col = 0;
	uint8_t *turned = lv->row[0];

	memset(turned, 0, n_blocks);
	for (uint32_t i = 0; i < n; i++)
		turned[leaf[i] / span] = 1;
	for (uint32_t i = 0; i < v->n_dest; i++) {
		const struct ftr_dest *t = &v->dest[i];
		uint32_t block = t->d / (t->cls == FTR_CLASS_HOST ?
					 span * v->stride : span);

		if (block < n_blocks && turned[block] &&
		    (!n_col || col[n_col - 1] != t->col))
			col[n_col++] = t->col;
	}
	return n_col;
}

static void follow_leaves(struct ftr_live *lv, const uint32_t *leaf, uint32_t n,
			  uint32_t *col)
{
	const struct ftr_shape *v = &lv->view;
	uint32_t span = 0, n_col = 0;

	for (uint32_t k = 0; k < lv->n_by_span; k++) {
		ftr_sw s = lv->by_span[k];

		if (v->span[s] != span) {
			span = v->span[s];
			n_col = columns_of(lv, span, leaf, n, col);
		}
		for (uint32_t i = 0; i < n_col; i++)
			touch(lv, s, col[i]);
	}
}

enum ftr_status live_losses(struct ftr_live *lv, struct ftr_err *err)
{
	uint32_t *col, *leaf, n;

	if (!lv->ways)
		return FTR_OK;
	col = ftr_arena_alloc(lv->last, lv->view.f->n_sw, sizeof(*col));
	leaf = ftr_arena_alloc(lv->last, place_leaves(&lv->view),
			       sizeof(*leaf));
	if (!col || !leaf || !follow_listed(lv))
		return live_nomem(lv, err);
	n = note_turned(lv, leaf);
	if (n)
		follow_leaves(lv, leaf, n, col);
	return FTR_OK;
}

void live_losses_back(struct ftr_live *lv)
{
	if (lv->ways)
		place_thin(&lv->view, lv->thin);
}

/* ---- at the start ------------------------------------------------------ */

/* Switches that look at leaves (place.c), those with one span next to each
 * other. */
static void list_by_span(struct ftr_live *lv)
{
	const struct ftr_shape *v = &lv->view;
	uint32_t span = 2, next;

	for (; span != UINT32_MAX; span = next) {
		next = UINT32_MAX;
		for (ftr_sw s = 0; s < v->f->n_sw; s++) {
			if (v->n_slots[s] && v->span[s] == span)
				lv->by_span[lv->n_by_span++] = s;
			else if (v->n_slots[s] && v->span[s] > span)
				next = FTR_MIN(next, v->span[s]);
		}
	}
}

enum ftr_status live_losses_new(struct ftr_live *lv, struct ftr_err *err)
{
	const struct ftr_shape *v = &lv->view;
	uint32_t n = v->f->n_sw, leaves = place_leaves(v);

	if (lv->opts.placement != FTR_PLACE_EVEN)
		return FTR_OK;
	lv->ways = ftr_arena_alloc(lv->arena, n, v->cost_stride);
	lv->thin = ftr_arena_alloc(lv->arena, leaves + 1, sizeof(*lv->thin));
	lv->thin_now = ftr_arena_alloc(lv->arena, leaves + 1,
				       sizeof(*lv->thin_now));
	lv->by_span = ftr_arena_alloc(lv->arena, n, sizeof(*lv->by_span));
	if (!lv->ways || !lv->thin || !lv->thin_now || !lv->by_span)
		return live_nomem(lv, err);
	for (ftr_sw s = 0; s < n; s++)
		place_ways_row(v, s, live_ways(lv, s), lv->row[0], lv->row[1]);
	place_thin(v, lv->thin);
	list_by_span(lv);
	lv->losses.ways = lv->ways;
	lv->losses.thin = lv->thin;
	return FTR_OK;
}
