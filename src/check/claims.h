/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Claimed turns.  A turn is two successive hops of a path: from switch `from` over `at` to `to`.
 * Tables may make a claimed turn even if the turn is not up-then-down by rank.
 *
 * The relation has two parts: the claimed turns, and the turns that up/down routing by rank
 * allows.  The second part has no turns back to the previous switch.  If the relation has a cycle,
 * the claims are not used.  A routing that makes only turns of an acyclic relation has no credit
 * loop (Dally and Seitz 1987).
 */
#ifndef FTR_CHECK_CLAIMS_H
#define FTR_CHECK_CLAIMS_H

#include "check/check.h"

struct chk_claims {
	const uint8_t *rank;
	struct ftr_turn *turn;	/* sorted, without duplicates */
	uint32_t n;		/* 0: no claims, or they are not used */
};

/* Set the claims if the relation has no cycle over the links that are up.  These are the links of f
 * without the dead ones, and the links in extra.  dead: bits as in struct ftr_check_delta; NULL:
 * none.  Error: FTR_NOMEM. */
enum ftr_status chk_claims_set(struct chk_claims *c, const struct ftr_fabric *f,
			       const uint8_t *rank,
			       const struct ftr_turn *turn, uint32_t n,
			       const uint64_t *dead,
			       const struct ftr_link *extra, uint32_t n_extra,
			       struct ftr_arena *a,
			       struct ftr_err *err) FTR_MUST_USE;

bool chk_claimed(const struct chk_claims *c, ftr_sw from, ftr_sw at, ftr_sw to);

/* True if the turn is claimed, or if up/down routing by rank allows it: no horizontal hop, and not
 * back to `from`. */
static inline bool chk_legal(const struct chk_claims *c, ftr_sw from, ftr_sw at,
			     ftr_sw to)
{
	const uint8_t *rank = c->rank;
	bool up_down = rank[from] != rank[at] && rank[at] != rank[to] &&
		(rank[from] < rank[at] || rank[at] > rank[to]);

	return (up_down && from != to) || chk_claimed(c, from, at, to);
}

#endif
