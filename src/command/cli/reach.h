/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * reach: unreachable pairs, their causes, and the nodes that they affect.
 *
 * The source and the destination of a pair can each be a host port or a switch.  So a pair belongs
 * to one of four classes (enum ftr_check_class).  There are three kinds of unreachable pairs
 * (source, LID):
 *
 *	cut		no physical path connects source and destination; not a fault
 *			of the tables
 *	no up/down	source and destination are physically connected, but have no
 *			up/down path.  Known only if the fabric has ranks
 *	missed		an up/down path exists, or the ranks are not known
 *
 * A pair is due if the tables have to route it.  Unreachable pairs of host ports are due if
 * they are physically connected.  Other unreachable pairs are due if they are "missed".
 */
#ifndef FTR_CLI_REACH_H
#define FTR_CLI_REACH_H

#include <json-c/json.h>

#include <ftr/ftr.h>

/* An affected node. */
struct cli_affected {
	uint32_t idx;		/* ftr_ep or ftr_sw, depending on the list */
	ftr_sw first;		/* list of destinations: the switch with the lowest index from
				 * which the node is unreachable; other lists: the switch of the
				 * node, or FTR_SW_NONE */
	uint32_t n_ep, n_sw;	/* counts, see struct cli_reach */
};

/* The lists of affected nodes. */
enum cli_affected_kind {
	/* destinations of unreachable, due pairs; n_ep, n_sw: numbers of host ports and switches
	 * from which the destination is unreachable */
	CLI_TO_EP, CLI_TO_SW,
	/* source switches of unreachable, due pairs: the source is the switch or one of its host
	 * ports; n_ep, n_sw: numbers of host ports and switches that are unreachable from there */
	CLI_FROM,
	/* nodes outside the component with the most host ports; n_ep: the number of host ports in
	 * the component of the node */
	CLI_CUT_EP, CLI_CUT_SW
};
#define CLI_N_AFFECTED (CLI_CUT_SW + 1)

/* Returns true if the list contains host ports, false if it contains switches. */
static inline bool cli_affects_ep(enum cli_affected_kind k)
{
	return k == CLI_TO_EP || k == CLI_CUT_EP;
}

struct cli_reach {
	/* [class of pairs] number of unreachable pairs of each kind */
	uint64_t cut[FTR_N_CHECK_CLASSES];
	uint64_t no_updown[FTR_N_CHECK_CLASSES];
	uint64_t missed[FTR_N_CHECK_CLASSES];
	bool ranked;		/* the ranks are known, so no_updown is valid */
	/* the lists and their lengths; destinations: sorted by LID; other lists: by idx */
	struct cli_affected *list[CLI_N_AFFECTED];
	uint32_t n[CLI_N_AFFECTED];
	uint32_t of[CLI_N_AFFECTED];	/* number of host ports, or of switches, in the fabric */
	/* set by cli_judge().  class_bad: unreachable pairs of this class are a finding.  found: there
	 * is at least one finding. */
	bool class_bad[FTR_N_CHECK_CLASSES], found;
};

/* sh NULL: no ranks.  lost: see ftr_check_report; the function clears some of its bits. */
void cli_reach(const struct ftr_fabric *f, const struct ftr_shape *sh, uint64_t *lost,
	       struct cli_reach *r);
void cli_reach_free(struct cli_reach *r);

/* Returns the number of unreachable, due pairs of class cls. */
uint64_t cli_reach_due(const struct cli_reach *r, int cls);

/* Replaces the numbers that nodes have in f by the numbers that they have in g.  g must contain all
 * nodes of r. */
void cli_reach_move(struct cli_reach *r, const struct ftr_fabric *f, const struct ftr_fabric *g);

/* Prints the lists as text, one node per line.  If `all` is false, prints only the first
 * CLI_REACH_SHORT nodes of each list. */
#define CLI_REACH_SHORT 10
void cli_reach_text(const struct ftr_fabric *f, const struct cli_reach *r, bool all);
/* Adds the lists to o. */
void cli_reach_json(struct json_object *o, const struct ftr_fabric *f,
		    const struct cli_reach *r, bool all);

#endif
