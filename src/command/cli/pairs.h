/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * pairs: pairs of host ports that cover all links, in rounds without shared links (pairs_plan.c),
 * and the command (pairs.c).
 *
 * A link is directed.  Its index is f->sw[s].first_port + p if port p of switch s sends, and
 * f->n_ports + e if host port e sends.
 */
#ifndef FTR_CLI_PAIRS_H
#define FTR_CLI_PAIRS_H

#include "cli/cli.h"

struct sample;

struct pairs {
	/* options */
	struct cli_in in;
	unsigned int form;
	/* set by the caller of pairs_plan() */
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	struct ftr_hosts *hosts;	/* owns the names */
	const char **name;	/* [n_ep] name of the host; NULL: the port takes no part */
	/* results */
	struct ftr_transfer *pair;	/* sorted by `step`, the round; packets go to the base LID
					 * of `to`; bytes is 0 */
	uint32_t n, rounds;
	uint8_t *covered;	/* [f->n_ports + f->n_ep] 1: a pair crosses the link */
	uint32_t n_covered, n_left;	/* numbers of links that are covered, and that no pair
					 * crosses */
	/* temporary data */
	uint64_t random;	/* state of cli_draw() */
	struct sample *of_link, *of_leaf;	/* [n_ports], [n_sw] */
	uint8_t *used, *busy;	/* [n_ports + n_ep], [n_nodes] 1: in use in this round */
	uint32_t *path;		/* [n_sw + 1] links of the path of a pair */
	uint32_t hops;
};

/*
 * Plans pairs of the host ports that have a name.  The ends of a pair are ports of different
 * nodes.  In a round, every link has at most one pair, and every node is an end of at most one
 * pair.  The links to other host ports are neither covered nor left.  A link is left only if no
 * pair of these ports crosses it by the tables t.  The result is the same for each call.
 */
void pairs_plan(struct pairs *p);

#endif
