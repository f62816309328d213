/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* load: options, input and results of ibfattree load, for text and JSON output. */
#ifndef FTR_CLI_LOAD_H
#define FTR_CLI_LOAD_H

#include <ftr/ftr.h>

#include "cli/cli.h"
#include "cli/live.h"

#define CLI_LOAD_KINDS 5

struct cli_load_result {
	const char *name, *which;	/* which: label of the worst pattern */
	bool done;
	double seconds;
	struct ftr_load_report r;
};

struct cli_load_opts {
	const char *lfts, *order, *patterns, *jobs, *nominal;
	struct cli_guid_files files;
	struct cli_live_opts from;
	unsigned int sample, permutations, bisections, rounds, lmc, threads;
	unsigned int worst;
	bool tolerant;
	uint64_t seed;
	bool json;
};

struct cli_load_input {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;
	ftr_ep *order;
	uint32_t n, gaps;	/* end ports in order; gaps removed from it */
	double bound;		/* lower bound for all-to-all; 0: unknown */
	bool by_cuts;
	struct ftr_load_pair *pair;
	uint32_t n_pairs;
};

/* tables: their origin, as text; x: [CLI_LOAD_KINDS]. */
int cli_load_json(const struct cli_load_opts *l, const struct cli_load_input *in,
		  const char *tables, const struct cli_load_result *x,
		  int status);

#endif
