/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * transition: what happens on the way from one set of tables to another.
 */
#ifndef FTR_CLI_TRANSITION_H
#define FTR_CLI_TRANSITION_H

#include <ftr/ftr.h>

struct json_object;

struct cli_transition {
	struct ftr_tables_diff d;
	uint32_t lids;		/* with a changed entry */
	/* The tables at rest have credit loops (or loops) themselves, all
	 * traffic on one VL: then no order can be free of them. */
	bool before_cycle, after_cycle;
	/* In any order of writes, as OpenSM sends them: */
	uint32_t closes;	/* LIDs whose change may close a credit loop
				 * with that of others */
	ftr_lid first_closing;	/* lowest of them */
	uint64_t gaps;		/* (switch, LID): a packet that had a path, and
				 * will have one, may find no entry there */
	ftr_sw gap_sw;		/* the first of them by LID, then switch */
	ftr_lid gap_lid;
	/* In the order of the repair planner, if one was found: */
	bool ordered;
	uint32_t rounds;	/* between two of them packets must drain */
	uint32_t steps, writes;
	uint32_t held;		/* LIDs that keep old entries */
	double seconds;		/* for the MADs, estimated; 0: not known */
};

/*
 * From tables a to b, both of the fabric of sh.  ms_per_block: how long one MAD
 * takes, 0 if unknown.  O(LIDs * switches), and the graph of <ftr/cdg.h> twice.
 */
enum ftr_status cli_transition(const struct ftr_shape *sh,
			       const struct ftr_tables *a,
			       const struct ftr_tables *b, double ms_per_block,
			       struct cli_transition *out,
			       struct ftr_err *err) FTR_MUST_USE;

void cli_transition_text(const struct ftr_fabric *f,
			 const struct cli_transition *x);
void cli_transition_json(struct json_object *o, const struct ftr_fabric *f,
			 const struct cli_transition *x);

#endif
