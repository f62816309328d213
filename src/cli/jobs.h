/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* jobs: "ibfattree load --jobs", which jobs share which links. */
#ifndef FTR_CLI_JOBS_H
#define FTR_CLI_JOBS_H

#include <ftr/ftr.h>

/* Reads path, computes, prints; returns the exit status. */
int cli_load_jobs(const char *path, const struct ftr_fabric *f,
		  const struct ftr_tables *t, const char *tables, bool json,
		  struct ftr_team *team);

#endif
