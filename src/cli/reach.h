/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * reach: which pairs do not arrive, why, and whom that affects.
 *
 * A pair (source, LID) that does not arrive is of one of three kinds:
 *
 *	cut		no physical path connects source and destination: not the
 *			fault of any table
 *	no up/down	links connect them, but no path that goes up and then down
 *			by the ranks; an engine that routes up/down paths only has no
 *			entry.  Known only if the fabric has ranks
 *	missed		an up/down path exists, or the ranks are not known
 *
 * Pairs are due if the tables have to route them: of two end ports all that
 * links connect; of the other classes those that are missed.
 */
#ifndef FTR_CLI_REACH_H
#define FTR_CLI_REACH_H

#include <json-c/json.h>

#include <ftr/ftr.h>

/* A node that is affected. */
struct cli_affected {
	uint32_t idx;		/* ftr_ep or ftr_sw, by the list */
	ftr_sw first;		/* lowest switch of the sources */
	uint32_t n_ep, n_sw;	/* see the lists */
};

struct cli_affected_list {
	struct cli_affected *v;	/* destinations by LID, others by idx */
	uint32_t n;
	uint32_t of;		/* nodes of that kind in the fabric */
};

struct cli_reach {
	uint64_t cut[FTR_N_CHECK_CLASSES];	/* pairs */
	uint64_t no_updown[FTR_N_CHECK_CLASSES];
	uint64_t missed[FTR_N_CHECK_CLASSES];
	bool ranked;		/* no_updown is known */
	/* destinations of due pairs that do not arrive, from n_ep end ports and
	 * n_sw switches */
	struct cli_affected_list ep, sw;
	/* switches from which (n_sw: and from whose end ports) due pairs do not
	 * arrive, to n_ep end ports and n_sw switches */
	struct cli_affected_list from;
	/* outside of the connected part of the fabric with the most end ports;
	 * n_ep: end ports of their own part */
	struct cli_affected_list cut_ep, cut_sw;
};

/* sh may be NULL: no ranks.  report: what the checker says of t.  Free r, also
 * after an error. */
enum ftr_status cli_reach(const struct ftr_fabric *f,
			  const struct ftr_shape *sh,
			  const struct ftr_tables *t,
			  const struct ftr_check_report *report,
			  struct cli_reach *r,
			  struct ftr_err *err) FTR_MUST_USE;
void cli_reach_free(struct cli_reach *r);

/* Pairs of the class that the tables have to route and do not. */
uint64_t cli_reach_due(const struct cli_reach *r, int cls);

/* Number the nodes of r, which is of f, as in g, which has them all. */
void cli_reach_move(struct cli_reach *r, const struct ftr_fabric *f,
		    const struct ftr_fabric *g);

/* The lists as text, one fact a line, all or the first CLI_REACH_SHORT. */
#define CLI_REACH_SHORT 10
void cli_reach_text(const struct ftr_fabric *f, const struct cli_reach *r,
		    bool all);
/* The same as members of o. */
void cli_reach_json(struct json_object *o, const struct ftr_fabric *f,
		    const struct cli_reach *r, bool all);

#endif
