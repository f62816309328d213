/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Balance: the choice among the candidates of every entry, by counting.
 *
 * An engine decides which ports lead closer (equation (1) of Gliksberg et al.
 * 2020) and takes one by formula.  On regular trees that is optimal.  Where
 * links are missing, trunks differ or hosts sit in odd places it is not, and
 * this module moves entries to other candidates until the load is even.  Ranks
 * and candidates stay as they are, so what the engine guarantees about paths
 * (up, then down, no credit loop) holds for every result, and for any mixture of
 * old and new entries.
 *
 *	FTR_BALANCE_OFF		leave the tables alone
 *	FTR_BALANCE_LOAD	all-to-all: no link above the target, if possible;
 *				changes only entries whose path is overloaded
 *	FTR_BALANCE_FULL	and shift permutations: the most loaded link of
 *				each shift
 *
 * Positions.  The hosts of FTR_CLASS_HOST in ascending d, without gaps: that is
 * the order in which the ranks of a job are best laid out, and shift k is the
 * permutation in which position p sends to position p + k mod n.
 *
 * The result is never worse than the input in (most loaded link of all-to-all,
 * mean over the shifts of the most loaded link), compared in this order; it
 * depends on the input only, not on the team.
 */
#ifndef FTR_BALANCE_H
#define FTR_BALANCE_H

#include <ftr/shape.h>
#include <ftr/tables.h>
#include <ftr/team.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ftr_balance {
	FTR_BALANCE_OFF = 0,
	FTR_BALANCE_LOAD,
	FTR_BALANCE_FULL
};

struct ftr_balance_input {
	/* What the tables were made of.  full, use_full: columns l with
	 * use_full[l] follow the shape full; both NULL: none does. */
	const struct ftr_shape *shape, *full;
	const uint8_t *use_full;	/* [n_sw] by column */
	/* Entries that may change: bit (lid) of row s; NULL: all may.  A row
	 * has (stride / 64) words of 64 bits. */
	const uint64_t *movable;
	enum ftr_balance depth;
	/* Return true to stop early; called every few milliseconds.  NULL: never. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

struct ftr_balance_report {
	uint32_t hosts;		/* that send and receive */
	uint32_t bound;		/* flows that some link carries at least */
	uint32_t max_before, max_after;	/* flows of the most loaded link */
	/* mean over the shifts of the most loaded link; 0: not looked at */
	double shift_before, shift_after;
	uint64_t moved;		/* entries changed */
	uint32_t sweeps;
	bool cancelled;
};

/*
 * Improve t in place.  report may be NULL.  Errors: FTR_NOMEM, with t as it was;
 * FTR_INVAL: tables not of the shape's fabric.
 */
enum ftr_status ftr_balance_tables(const struct ftr_balance_input *in,
				   struct ftr_tables *t, struct ftr_team *team,
				   struct ftr_balance_report *report,
				   struct ftr_err *err) FTR_MUST_USE;

/*
 * A lower bound for the most loaded link of all-to-all traffic between the hosts
 * of sh, over any routing of any kind: the best of the cuts around every switch,
 * around the switches below every switch and around every pod.
 */
enum ftr_status ftr_balance_bound(const struct ftr_shape *sh, uint32_t *bound,
				  struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
