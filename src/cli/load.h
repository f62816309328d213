/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* load: results of ibfattree load, for text and JSON output. */
#ifndef FTR_CLI_LOAD_H
#define FTR_CLI_LOAD_H

#include <ftr/ftr.h>

#define CLI_LOAD_KINDS 5

struct cli_load_result {
	const char *name, *which;	/* which: label of the worst pattern */
	bool done;
	double seconds;
	struct ftr_load_report r;
};

struct cli_load_view {
	const struct ftr_fabric *f;
	const char *tables, *order, *patterns;	/* file names; the last two may be NULL */
	uint32_t places, gaps, missing, worst;
	double bound;		/* lower bound for all-to-all, in flows; 0: unknown */
	bool by_cuts;
	uint64_t seed;
	const struct cli_load_result *result;	/* [CLI_LOAD_KINDS] */
};

int cli_load_json(const struct cli_load_view *v, int status);

#endif
