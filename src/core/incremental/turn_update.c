// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Update of the extra turns.
 *
 * Some pairs of switches have no up/down path.  dmodc connects them by extra turns, from a downward
 * to an upward link (engine/connect.c).  The extra turns, and the entries that use them, are called
 * the plan.  Only few pairs need extra turns, so after an update of the costs a whole new plan is
 * made.  Then the entries of the old and of the new plan are put on the work list.
 *
 * Packets under way may still make the turns of the old plan.  So the new plan includes these
 * turns, except those over dead links.  A restored link may close a cycle with such a turn.
 * ftr_incr_apply() then returns FTR_REFUSED, and the fabric must be routed again.
 *
 * Horizontal links join switches of equal rank.  If only horizontal links join two trees, hosts in
 * different trees have no up/down path.  A value of enum connect_links says which of these links
 * a plan may use.  Planning begins with the value of the present plan.  If some pairs then have no
 * path, the next value is tried, as in a full routing.  While any horizontal link is up, planning
 * does not return to an earlier value, because packets under way may still use links that only the
 * present value permits.
 *
 * Two other designs for such fabrics were rejected.  One computes all tables again: the work grows
 * with the fabric, not with the fault, and old and new tables together may have a credit loop.  The
 * other replaces the ranks by the levels of engine/across.c, so that most horizontal links lead up
 * or down: a fault that changes the levels would need a new view.
 */
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"

static bool has_turn(const struct connect *c, struct ftr_turn t)
{
	return c->n_turns &&
		bsearch(&t, c->turn, c->n_turns, sizeof(t), connect_turn_cmp);
}

bool incr_legal(const struct ftr_incr *lv, ftr_sw from, ftr_sw at, ftr_sw to)
{
	const uint8_t *rank = lv->view.tree.rank;

	if (from != to && rank[from] != rank[at] && rank[at] != rank[to] &&
	    !(rank[at] < rank[from] && rank[at] < rank[to]))
		return true;
	return has_turn(incr_plan(lv), (struct ftr_turn){ from, at, to });
}

/* True if each of the n turns is in the plan or leads over a dead link. */
static bool has_turns(const struct ftr_incr *lv, const struct connect *c,
		      const struct ftr_turn *t, uint32_t n)
{
	for (; n-- > 0; t++)
		if (incr_adjacent(lv, t->from, t->at) &&
		    incr_adjacent(lv, t->at, t->to) && !has_turn(c, *t))
			return false;
	return true;
}

/* Returns an array of the turns of the old plan, followed by those of lv->opts.  *n: their number.
 * NULL: out of memory. */
static struct ftr_turn *list_turns(struct ftr_incr *lv,
				   const struct connect *old, uint32_t *n)
{
	struct ftr_turn *t;

	*n = old->n_turns + lv->opts.n_turns;
	FTR_NEW(lv->last, t, *n + 1u);
	if (t && old->n_turns)
		memcpy(t, old->turn, old->n_turns * sizeof(*t));
	if (t && lv->opts.n_turns)
		memcpy(t + old->n_turns, lv->opts.turn,
		       lv->opts.n_turns * sizeof(*t));
	return t;
}

static enum ftr_status plan(struct ftr_incr *lv, enum connect_links links,
			    bool whole, const struct ftr_turn *turn,
			    uint32_t n, struct ftr_err *err)
{
	struct ftr_route_opts o = lv->opts;
	struct incr_plan *p = &lv->plan[lv->planned];

	o.turn = turn;
	o.n_turns = n;
	ftr_arena_free(p->arena);
	p->arena = ftr_arena_new();
	if (!p->arena)
		return incr_nomem(lv, err);
	p->c.links = links;
	return connect_plan(&lv->view, &o, whole, p->arena, &p->c, err);
}

/* Make a plan.  In a fabric without horizontal links, only the value CONNECT_UP_DOWN is tried.
 *
 * Otherwise the values of enum connect_links are tried in order, beginning with `links`.  The
 * result is the first plan that connects all pairs and includes the turns in use,
 * turn[0 .. n_used-1].  If there is no such plan, the result is a plan with `links`, and some
 * pairs may have no path.
 *
 * Returns FTR_REFUSED if this plan does not include the turns in use. */
static enum ftr_status plan_with_fewest_links(struct ftr_incr *lv, enum connect_links links,
				  const struct ftr_turn *turn, uint32_t n,
				  uint32_t n_used, struct ftr_err *err)
{
	const struct connect *now = incr_plan(lv);
	bool choice = lv->view.tree.n_horizontal > 0;
	enum ftr_status st;

	for (unsigned int i = links; choice && i < CONNECT_N_LINKS; i++) {
		st = plan(lv, (enum connect_links)i, true, turn, n, err);
		if (st || (now->complete && has_turns(lv, now, turn, n_used)))
			return st;
	}
	st = plan(lv, choice ? links : CONNECT_UP_DOWN, false, turn, n, err);
	if (!st && !has_turns(lv, now, turn, n_used))
		st = ftr_fail(err, FTR_REFUSED,
			      "an extra turn would close a credit loop with the restored links; the fabric must be routed again");
	return st;
}

/* True if e connects two leaf switches that have no up/down path to each other. */
static bool joins_leaves(const struct ftr_incr *lv,
			 const struct connect_entry *e)
{
	return incr_are_leaves(lv, e->sw, e->col);
}

static void count_extra(struct ftr_incr *lv)
{
	const struct connect *c = incr_plan(lv);

	lv->pairs.extra = 0;
	for (uint32_t i = 0; i < c->n_entries; i++)
		lv->pairs.extra += joins_leaves(lv, &c->entry[i]);
}

enum ftr_status incr_extra_new(struct ftr_incr *lv, struct ftr_err *err)
{
	ftr_sw *sm = ftr_arena_alloc(lv->arena, lv->opts.n_sm + 1u,
				     sizeof(*sm));
	struct ftr_turn *turn = ftr_arena_alloc(lv->arena,
						lv->opts.n_turns + 1u,
						sizeof(*turn));
	enum ftr_status st;

	if (!sm || !turn)
		return incr_nomem(lv, err);
	if (lv->opts.n_sm)
		memcpy(sm, lv->opts.sm, lv->opts.n_sm * sizeof(*sm));
	if (lv->opts.n_turns)
		memcpy(turn, lv->opts.turn, lv->opts.n_turns * sizeof(*turn));
	lv->opts.sm = sm;
	lv->opts.turn = turn;
	if (lv->opts.paths == FTR_PATHS_UPDOWN)
		return FTR_OK;
	st = plan_with_fewest_links(lv, CONNECT_UP_DOWN, turn, lv->opts.n_turns,
				    lv->opts.n_turns, err);
	if (!st)
		count_extra(lv);
	return st;
}

/* True if the plan connects the pair (s, l), which has no up/down path. */
static bool connects(const struct connect *c, ftr_sw s, uint32_t l)
{
	return connect_find(c, s, l) != NULL;
}

/* Correct lost_pairs and regained_pairs of the result.  So far they count every pair without an
 * up/down path as lost, even if extra turns connect it. */
static void count_pairs(struct ftr_incr *lv, const struct connect *old,
			const struct connect *now)
{
	struct ftr_incr_result *r = &lv->result;
	uint64_t n_new = 0, n_kept = 0;

	for (uint32_t i = 0; i < now->n_entries; i++) {
		const struct connect_entry *e = &now->entry[i];

		n_new += joins_leaves(lv, e) && !connects(old, e->sw, e->col);
	}
	/* n_kept: pairs that lost their up/down path, but are connected by the plan */
	for (uint32_t i = 0; n_new && i < lv->n_log; i++) {
		const struct incr_log *c = &lv->log[i];

		n_kept += c->job == JOB_COST && c->before != FTR_COST_INF &&
			incr_are_leaves(lv, c->sw, c->col) && connects(now, c->sw, c->col);
	}
	r->lost_pairs -= n_kept;
	r->regained_pairs += n_new - n_kept;
	for (uint32_t i = 0; i < old->n_entries; i++) {
		const struct connect_entry *e = &old->entry[i];

		if (!joins_leaves(lv, e) || connects(now, e->sw, e->col))
			continue;
		if (incr_cost(lv, e->sw)[e->col] == FTR_COST_INF)
			r->lost_pairs++;
		else
			r->regained_pairs--;
	}
}

static void list_entries(struct ftr_incr *lv, const struct connect *c)
{
	for (uint32_t i = 0; i < c->n_entries; i++)
		incr_touch(lv, JOB_ENTRY, c->entry[i].sw, c->entry[i].col);
}

enum ftr_status incr_extra(struct ftr_incr *lv, struct ftr_err *err)
{
	const struct connect *old = incr_plan(lv);
	const struct ftr_turn *turn;
	enum ftr_status st;
	uint32_t n;

	if (lv->opts.paths == FTR_PATHS_UPDOWN)
		return FTR_OK;
	turn = list_turns(lv, old, &n);
	if (!turn)
		return incr_nomem(lv, err);
	lv->planned ^= 1;
	st = plan_with_fewest_links(lv, old->links, turn, n, old->n_turns, err);
	if (st) {
		lv->planned ^= 1;
		return st;
	}
	lv->replanned = true;
	count_extra(lv);
	count_pairs(lv, old, incr_plan(lv));
	list_entries(lv, old);
	list_entries(lv, incr_plan(lv));
	return FTR_OK;
}

void incr_extra_back(struct ftr_incr *lv)
{
	if (lv->replanned)
		lv->planned ^= 1;
	lv->replanned = false;
}
