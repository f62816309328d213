/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* jobs: "ibfattree load --jobs" shows which links several jobs share. */
#ifndef FTR_CLI_JOBS_H
#define FTR_CLI_JOBS_H

#include <ftr/ftr.h>

/* Reads the jobs from path and prints the links that they share; returns the exit status. */
struct cli_in;
int cli_load_jobs(const struct cli_in *in, const char *path, const struct ftr_fabric *f,
		  const struct ftr_tables *t, const char *tables);

#endif
