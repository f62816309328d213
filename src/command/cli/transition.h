/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * transition: effects of the change from one set of tables to another.
 */
#ifndef FTR_CLI_TRANSITION_H
#define FTR_CLI_TRANSITION_H

#include <ftr/ftr.h>

struct json_object;

struct cli_transition {
	struct ftr_tables_diff d;
	uint32_t lids;		/* number of LIDs that have an owner and a changed entry */
	/* with all traffic on one VL, the old tables have a credit loop or a forwarding loop
	 * (before_cycle), or the new tables have one (after_cycle); then no order of writes is
	 * safe */
	bool before_cycle, after_cycle;
	/* if the writes take effect in any order, which is the case with OpenSM: */
	uint32_t closes;	/* number of LIDs whose change may close a credit loop.  The LIDs
				 * are tried in ascending order; a LID that is counted keeps its
				 * old entries.  0 if before_cycle is true */
	ftr_lid first_closing;	/* the lowest of these LIDs */
	uint64_t gaps;		/* number of pairs (switch, LID) where a packet may find no entry,
				 * although its source has a path before and after */
	ftr_sw gap_sw;		/* the first of these pairs, in the order of LIDs */
	ftr_lid gap_lid;
	/* if the writes take effect in the order that ddlr's planner found: */
	bool ordered;		/* an order was planned; if not, rounds, steps, writes and
				 * held have no meaning */
	uint32_t rounds;	/* number of rounds; packets must drain between two rounds */
	uint32_t steps, writes;
	uint32_t held;		/* number of LIDs that keep old entries */
	double seconds;		/* estimated time to write all blocks; 0: not known */
};

/*
 * Examines the transition from tables a to b, both of the fabric of sh.  ms_per_block:
 * time of one MAD in milliseconds, 0 if unknown.  O(LIDs * switches), plus the time for the
 * channel dependency graph (<ftr/cdg.h>).
 */
void cli_transition(const struct ftr_shape *sh, const struct ftr_tables *a,
		    const struct ftr_tables *b, double ms_per_block, struct cli_transition *out);

void cli_transition_text(const struct ftr_fabric *f, const struct cli_transition *x);
void cli_transition_json(struct json_object *o, const struct ftr_fabric *f,
			 const struct cli_transition *x);

#endif
