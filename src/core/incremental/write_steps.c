// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of writes: the write steps of <ftr/incremental.h>.  The first step is 0.
 *
 * Of the entries on a path, the one nearest to the destination is written first
 * (tables/write_order.h).  Some entries are written in drain steps: before a drain step begins, all
 * packets under way must have arrived.
 *
 * We say that the changed entry of a switch y turns upward if its new port leads up, and if a
 * switch x above y has a changed entry whose old port leads down to y over a link that is up.  A
 * packet could then follow the old entry of x down to y, and the new entry of y up again.  (An
 * unchanged entry of x cannot lead down to y: a path in the new tables would then go down to y and
 * up again, but paths in the new tables never go up after a hop down.)
 *
 * Entries that turn upward, and all entries that wait for them, are written in drain steps, after
 * all others.  There is one drain step for each level.  An entry of switch y in a drain step must
 * be written after these entries:
 *
 *	- the changed entry that comes next on the new path from y
 *	- if the entry of y turns upward: the changed entries that led down to y
 *
 * The level of the entry of y is 1 + the greatest level of these entries, or 0 if none of them has
 * a level.  Those that have a level belong to switches of higher rank than y.  So one pass by
 * descending rank finds all levels.  (With extra turns more passes are needed; see find_levels().)
 *
 * Proof that packets arrive during the writes.  An entry is written only when all later entries on
 * its new path have been written or do not change.  So as soon as a packet meets a written entry,
 * all further entries on its path are those of the new tables, and it arrives.  Until then it
 * follows old entries, which have no loop.
 *
 * The proof does not cover entries that become FTR_PORT_NONE.  They wait for no other entry, and no
 * entry waits for them.  They are written at once, because new entries of other switches could
 * repair their old paths with a turn that is not allowed.  (If such a path still works, the entry
 * is usually spared, see spared.c.)
 */
#include <stdlib.h>

#include "incremental/incremental.h"
#include "tables/write_order.h"

#define MAX_PASSES 16

/* Marks of a change.  DRAIN: it is written in a drain step.  BEFORE_DRAIN: its old port leads down
 * to an entry that turns upward. */
enum { DRAIN = 1, BEFORE_DRAIN = 2 };

struct steps {
	const struct ftr_incr *lv;
	struct ftr_change *change;	/* until number_write_steps() has run, the step of a change
					 * that is marked DRAIN is its level */
	uint8_t *mark;		/* mark[i]: marks of change i */
	struct write_order order;	/* step[i] is WRITE_NEVER for changes marked DRAIN */
	uint32_t *drain;	/* [n_sw] those changes of the current LID that are marked DRAIN */
	uint32_t n_normal, n_levels;
};

/* The switch to which port p of s leads, or NONE. */
static ftr_sw next_switch(const struct incr_links *k, ftr_sw s, ftr_port p)
{
	uint32_t c = incr_link(k, s, p);

	return c == NONE ? NONE : incr_remote(k, c);
}

static bool goes_up(const struct incr_links *k, ftr_sw s, ftr_port p)
{
	ftr_sw to = next_switch(k, s, p);

	return to != NONE && incr_side(k->rank, s, to) == INCR_UP;
}

/* Returns the next changed entry on the new path of change i, which does not become FTR_PORT_NONE: a
 * switch is a candidate only if it has one itself.  NONE: no further entry changes. */
static uint32_t waits_for(const struct steps *z, uint32_t i)
{
	const struct ftr_incr *lv = z->lv;
	const struct ftr_change *c = &z->change[i];
	ftr_sw s = next_switch(&lv->links, c->sw, c->after);

	for (uint32_t hops = 0; s != NONE && hops < lv->view.f->n_sw; hops++) {
		if (lv->change_at[s] != NONE)
			return lv->change_at[s];
		s = next_switch(&lv->links, s, ftr_tables_get(lv->t, s, c->lid));
	}
	return NONE;
}

static uint32_t next_change(const void *ctx, uint32_t i, uint32_t *base)
{
	uint32_t k = waits_for(ctx, i);

	(void)base;
	return k == NONE ? WRITE_ARRIVES : k;
}

/* A packet may follow the old entry of change i, and then the new entry of the next switch.  If it
 * turns upward there, returns the change of the next switch, otherwise NONE.  With extra turns,
 * incr_legal() decides whether this turn is allowed; if so, the result is NONE. */
static uint32_t bad_turn_after(const struct steps *z, uint32_t i)
{
	const struct ftr_incr *lv = z->lv;
	const struct ftr_change *c = &z->change[i];
	uint32_t link = incr_link(&lv->links, c->sw, c->before), k;

	if (link == NONE || !lv->links.alive[link])
		return NONE;
	k = lv->change_at[incr_remote(&lv->links, link)];
	if (k == NONE)
		return NONE;
	if (incr_plan(lv)->n_turns) {
		ftr_sw to = next_switch(&lv->links, z->change[k].sw, z->change[k].after);

		return to == NONE || incr_legal(lv, c->sw, z->change[k].sw, to) ? NONE : k;
	}
	if (goes_up(&lv->links, c->sw, c->before) ||
	    !goes_up(&lv->links, z->change[k].sw, z->change[k].after))
		return NONE;
	return k;
}

/* ---- one LID --------------------------------------------------------- */

/* Find the step of change i.  If the change waits for another one that is marked DRAIN, or if its
 * new path leads into a cycle, the change has no step and is marked DRAIN, too. */
static void find_step(struct steps *z, uint32_t i)
{
	uint32_t step;

	write_order_step(&z->order, i);
	step = z->order.step[i];
	if (step == WRITE_NEVER)
		z->mark[i] |= DRAIN;
	else
		z->change[i].step = (uint16_t)(step - 1);
}

static int by_falling_rank(const void *x, const void *y, void *ctx)
{
	const struct steps *z = ctx;
	const uint8_t *rank = z->lv->view.tree.rank;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	ftr_sw s = z->change[a].sw, t = z->change[b].sw;

	return FTR_ORDER(rank[t], rank[s]) ?: FTR_ORDER(s, t);
}

static bool raise(struct steps *z, uint32_t i, uint32_t level)
{
	bool raised = level > z->change[i].step;

	z->change[i].step = (uint16_t)FTR_MAX(z->change[i].step, level);
	z->n_levels = FTR_MAX(z->n_levels, z->change[i].step + 1u);
	return raised;
}

/* Compute the levels of the n changes in `list`, which are marked DRAIN.  With extra turns, one
 * pass may not be enough.  If changes wait for each other in a cycle, no order of writes is safe;
 * the checker then refuses the result. */
static void find_levels(struct steps *z, uint32_t *list, uint32_t n)
{
	bool again = true;

	qsort_r(list, n, sizeof(*list), by_falling_rank, z);
	for (int pass = 0; again && pass < MAX_PASSES; pass++) {
		again = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t x = list[i], w = waits_for(z, x), y;

			again |= raise(z, x, w != NONE && z->mark[w] & DRAIN ?
				       z->change[w].step + 1u : 0);
			y = bad_turn_after(z, x);
			if (y != NONE)
				again |= raise(z, y, z->change[x].step + 1u);
		}
		again &= incr_plan(z->lv)->n_turns > 0;
	}
}

/* Compute the write steps of the n changes of one LID.  change_at must be set for them. */
static void write_step_lid(struct steps *z, const uint32_t *list, uint32_t n)
{
	uint32_t *drain = z->drain, n_drain = 0;
	bool any = false;

	if (n == 1)		/* a single change needs no order: step 0 */
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t y = bad_turn_after(z, list[i]);

		if (y == NONE)
			continue;
		z->mark[y] |= DRAIN;
		z->order.step[y] = WRITE_NEVER;
		z->mark[list[i]] |= BEFORE_DRAIN;
		any = true;
	}
	for (uint32_t i = 0; i < n; i++)
		if (z->change[list[i]].after != FTR_PORT_NONE)
			find_step(z, list[i]);
	for (uint32_t i = 0; any && i < n; i++)
		if (z->mark[list[i]] & DRAIN)
			drain[n_drain++] = list[i];
	if (any)
		find_levels(z, drain, n_drain);
}

static void write_step_all(struct steps *z)
{
	const struct ftr_incr *c = z->lv;
	uint32_t *at = c->change_at;

	for (uint32_t lid = 0; lid <= z->lv->t->max_lid; lid++) {
		const uint32_t *list = c->by_lid + c->lid_first[lid];
		uint32_t n = c->lid_first[lid + 1] - c->lid_first[lid];

		for (uint32_t i = 0; i < n; i++)
			at[z->change[list[i]].sw] = list[i];
		write_step_lid(z, list, n);
		for (uint32_t i = 0; i < n; i++)
			at[z->change[list[i]].sw] = NONE;
	}
}

/* ---- all LIDs -------------------------------------------------------- */

static void number_write_steps(struct steps *z, struct ftr_incr_result *r)
{
	for (uint32_t i = 0; i < r->n_changes; i++)
		if (!(z->mark[i] & DRAIN))
			z->n_normal = FTR_MAX(z->n_normal, z->change[i].step + 1u);
	for (uint32_t i = 0; i < r->n_changes; i++) {
		if (!(z->mark[i] & DRAIN))
			continue;
		z->change[i].step = (uint16_t)(z->change[i].step + z->n_normal);
		r->n_drain++;
	}
	r->first_drain = z->n_normal;
	r->n_write_steps = z->n_normal + z->n_levels;
}

enum ftr_status incr_write_steps(struct ftr_incr *lv, struct ftr_err *err)
{
	struct ftr_incr_result *r = &lv->result;
	struct ftr_arena *a = lv->last;
	struct steps z = { .lv = lv, .change = lv->change };

	r->change = z.change;
	z.mark = ftr_arena_zalloc(a, r->n_changes, 1);
	FTR_NEW(a, z.drain, lv->view.f->n_sw);
	z.order = (struct write_order){
		.ctx = &z, .next = next_change, .limit = UINT16_MAX + 1u,
		.step = ftr_arena_zalloc(a, r->n_changes,
					 sizeof(*z.order.step)),
		.stack = ftr_arena_alloc(a, lv->view.f->n_sw,
					 sizeof(*z.order.stack)),
	};
	if (!z.mark || !z.drain || !z.order.step ||
	    !z.order.stack)
		return incr_nomem(err);
	write_step_all(&z);
	number_write_steps(&z, r);
	return FTR_OK;
}
