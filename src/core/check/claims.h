/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Claimed turns.  A turn is two successive hops of a path: from switch `from` over `at` to `to`.
 * An engine claims the turns that its paths may make although up/down routing by rank does not
 * allow them.
 *
 * The checker considers the claimed turns together with all turns that up/down routing by rank
 * allows, except turns back to the previous switch.  If these turns form a cycle, the claims are
 * not used.  If they form no cycle, a routing that makes no other turns has no credit loop (Dally
 * and Seitz 1987).
 */
#ifndef FTR_CHECK_CLAIMS_H
#define FTR_CHECK_CLAIMS_H

#include "check/check.h"

struct chk_claims {
	const uint8_t *rank;
	struct ftr_turn *turn;	/* sorted, without duplicates */
	uint32_t n;		/* 0: no claims, or they are not used */
};

/* Set *c from the ranks and turns of d.  If the turns form a cycle over the links that are up, c->n
 * is 0.  A link is up if it is in f and not in d->dead, or if it is in d->extra.  Error:
 * FTR_NOMEM. */
enum ftr_status chk_claims_set(struct chk_claims *c, const struct ftr_fabric *f,
			       const struct ftr_check_delta *d, struct ftr_arena *a,
			       struct ftr_err *err) FTR_MUST_USE;

bool chk_claimed(const struct chk_claims *c, ftr_sw from, ftr_sw at, ftr_sw to);

/* True if the turn is claimed, or if up/down routing by rank allows it. Horizontal hops and turns
 * back to `from` must be claimed. */
static inline bool chk_legal(const struct chk_claims *c, ftr_sw from, ftr_sw at,
			     ftr_sw to)
{
	const uint8_t *rank = c->rank;
	bool up_down = rank[from] != rank[at] && rank[at] != rank[to] &&
		(rank[from] < rank[at] || rank[at] > rank[to]);

	return (up_down && from != to) || chk_claimed(c, from, at, to);
}

#endif
