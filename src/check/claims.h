/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Claimed turns: what tables may do besides going up, then down.
 *
 * The relation of all turns that are up-then-down by rank, without those back
 * to where a packet came from, and of the claimed ones must have no cycle; else
 * the claims are void.  Then every routing that keeps to the relation has no
 * credit loop (Dally and Seitz 1987).
 */
#ifndef FTR_CHECK_CLAIMS_H
#define FTR_CHECK_CLAIMS_H

#include "check/check.h"

struct chk_claims {
	const uint8_t *rank;
	struct ftr_turn *turn;	/* sorted, each once */
	uint32_t n;		/* 0: none, or they are void */
};

/* Links that are alive: those of f without the dead ones (by bits as in struct
 * ftr_check_delta, or NULL), and extra.  FTR_NOMEM. */
enum ftr_status chk_claims_set(struct chk_claims *c, const struct ftr_fabric *f,
			       const uint8_t *rank,
			       const struct ftr_turn *turn, uint32_t n,
			       const uint64_t *dead,
			       const struct ftr_link *extra, uint32_t n_extra,
			       struct ftr_arena *a,
			       struct ftr_err *err) FTR_MUST_USE;

bool chk_claimed(const struct chk_claims *c, ftr_sw from, ftr_sw at, ftr_sw to);

/* Up, then down, or claimed. */
static inline bool chk_legal(const struct chk_claims *c, ftr_sw from, ftr_sw at,
			     ftr_sw to)
{
	const uint8_t *rank = c->rank;
	bool up_down = rank[from] != rank[at] && rank[at] != rank[to] &&
		(rank[from] < rank[at] || rank[at] > rank[to]);

	return (up_down && from != to) || chk_claimed(c, from, at, to);
}

#endif
