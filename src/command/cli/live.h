/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * live: reads the fabric and its tables from the switches.
 */
#ifndef FTR_CLI_LIVE_H
#define FTR_CLI_LIVE_H

#include <ftr/ftr.h>

struct cli_in;
struct ibnd_fabric;
struct ibmad_port;

struct cli_live {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;	/* number of switches whose table could not be read */
	uint32_t silent;	/* number of links whose far end does not answer */
	uint32_t blocks;	/* number of blocks to read, including those of switches that do
				 * not answer */
	double table_seconds;	/* time spent on reading these blocks */
};

/* Without --live, dies if --ca, --port or --m-key is given, or if there are fewer than `least`
 * arguments.  With --live, dies if excluded, an argument or option that names a fabric, is not
 * NULL. */
void cli_live_args(const char *cmd, const struct cli_in *in,
		   int n_args, int least, const char *excluded);
/* Reads the fabric from the file at path; with --live, the fabric and the tables in use from the
 * switches. */
struct cli_live cli_input(const struct cli_in *in, const char *path);
/* Returns the mean time to read one block, in milliseconds; 0: unknown. */
double cli_live_ms_per_block(const struct cli_live *l);

/* Opens the local port for single Get requests: SMPs and performance counters.  Close it with
 * mad_rpc_close_port.  Needs libibmad. */
struct ibmad_port *cli_live_open(const struct cli_in *in, struct ftr_err *err) FTR_MUST_USE;

/* Reads fabric and tables from the switches.  Names each switch or link that did not answer on
 * stderr.  Needs libibmad. */
enum ftr_status cli_live_read(const struct cli_in *in, struct cli_live *out,
			      struct ftr_err *err) FTR_MUST_USE;

#endif
