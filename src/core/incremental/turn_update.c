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
	    (rank[at] >= rank[from] || rank[at] >= rank[to]))
		return true;
	return has_turn(incr_plan(lv), (struct ftr_turn){ from, at, to });
}

/* True if each of the n turns is in the plan or leads over a dead link. */
static bool has_turns(const struct ftr_incr *lv, const struct connect *c,
		      const struct ftr_turn *t, uint32_t n)
{
	for (; n-- > 0; t++)
		if (incr_adjacent(&lv->view, t->from, t->at) &&
		    incr_adjacent(&lv->view, t->at, t->to) && !has_turn(c, *t))
			return false;
	return true;
}

/* Returns an array of the turns of the old plan, followed by those of lv->opts.  *n: their number.
 * NULL: out of memory. */
static struct ftr_turn *list_turns(struct ftr_incr *lv, const struct connect *old, uint32_t *n)
{
	struct ftr_turn *t;

	*n = old->n_turns + lv->opts.n_turns;
	FTR_NEW(lv->last, t, *n + 1u);
	if (t && old->n_turns)
		memcpy(t, old->turn, old->n_turns * sizeof(*t));
	if (t && lv->opts.n_turns)
		memcpy(t + old->n_turns, lv->opts.turn, lv->opts.n_turns * sizeof(*t));
	return t;
}

static enum ftr_status plan(struct ftr_incr *lv, enum connect_links links,
			    bool whole, const struct ftr_turn *turn,
			    uint32_t n, struct ftr_err *err)
{
	struct ftr_arena **a = &lv->plan_arena[lv->now.plan];
	struct connect *c = &lv->plan[lv->now.plan];
	struct ftr_route_opts o = lv->opts;

	o.turn = turn;
	o.n_turns = n;
	ftr_arena_free(*a);
	*a = ftr_arena_new();
	if (!*a)
		return incr_nomem(err);
	c->links = links;
	return connect_plan(&lv->view, &o, whole, *a, c, err);
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

enum ftr_status incr_extra_new(struct ftr_incr *lv, struct ftr_err *err)
{
	ftr_sw *sm = ftr_arena_alloc(lv->arena, lv->opts.n_sm + 1u, sizeof(*sm));
	struct ftr_turn *turn = ftr_arena_alloc(lv->arena,
						lv->opts.n_turns + 1u,
						sizeof(*turn));

	if (!sm || !turn)
		return incr_nomem(err);
	if (lv->opts.n_sm)
		memcpy(sm, lv->opts.sm, lv->opts.n_sm * sizeof(*sm));
	if (lv->opts.n_turns)
		memcpy(turn, lv->opts.turn, lv->opts.n_turns * sizeof(*turn));
	lv->opts.sm = sm;
	lv->opts.turn = turn;
	if (lv->opts.paths == FTR_PATHS_UPDOWN)
		return FTR_OK;
	return plan_with_fewest_links(lv, CONNECT_UP_DOWN, turn, lv->opts.n_turns,
				      lv->opts.n_turns, err);
}

static void list_entries(struct ftr_incr *lv, const struct connect *c)
{
	for (uint32_t i = 0; i < c->n_entries; i++)
		incr_touch(&lv->lists, JOB_ENTRY, c->entry[i].sw, c->entry[i].col);
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
		return incr_nomem(err);
	lv->now.plan ^= 1;
	st = plan_with_fewest_links(lv, old->links, turn, n, old->n_turns, err);
	if (st)
		return st;
	list_entries(lv, old);
	list_entries(lv, incr_plan(lv));
	return FTR_OK;
}
