/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * live: the fabric and its tables as the switches themselves tell them.
 */
#ifndef FTR_CLI_LIVE_H
#define FTR_CLI_LIVE_H

#include <ftr/ftr.h>

struct ibnd_fabric;

struct cli_live_opts {
	bool on;		/* --live */
	const char *ca;		/* local adapter, NULL: the first that is up */
	unsigned int port;	/* its port, 0: the first that is up */
	uint64_t m_key;
	/* Called, if given, when f is known and no table is read yet, with the
	 * fabric of libibnetdisc that f was made of; f may have no LIDs. */
	enum ftr_status (*look)(void *ctx, struct ibnd_fabric *net,
				const struct ftr_fabric *f,
				struct ftr_err *err);
	void *ctx;
};

struct cli_live {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;	/* switches whose table could not be read */
	uint32_t silent;	/* ports with a link to a node that keeps silent */
	uint32_t blocks;	/* of tables that were read, in ... */
	double table_seconds;
};

/* Rows of a command's table, for a struct s with a struct cli_live_opts "from". */
#define CLI_OPTS_LIVE(s) \
	{ "live", CLI_FLAG, offsetof(s, from.on), NULL, \
	  "read fabric and tables from the switches", NULL, 0, 0 }, \
	{ "ca", CLI_STRING, offsetof(s, from.ca), "NAME", \
	  "--live: local adapter, not the first that is up", NULL, 0, 0 }, \
	{ "port", CLI_UINT, offsetof(s, from.port), "N", \
	  "--live: its port; 0: the first that is up", "0", 0, FTR_PORT_MAX }, \
	{ "m-key", CLI_U64, offsetof(s, from.m_key), "KEY", \
	  "--live: M_Key of the switches", "0", 0, 0 }

/* Do options and number of arguments go together?  least: arguments needed
 * without --live.  -1, or the exit status after an error message. */
int cli_live_args(const char *cmd, const struct cli_live_opts *from,
		  int n_args, int least);
/* The fabric: from the switches, with tables, or path, without. */
enum ftr_status cli_input(const struct cli_live_opts *from, const char *path,
			  unsigned int lmc, bool tolerant,
			  struct cli_live *out,
			  struct ftr_err *err) FTR_MUST_USE;
/* Milliseconds that reading one block took, 0: unknown. */
double cli_live_ms_per_block(const struct cli_live *l);

/* Says on stderr which switch or link did not answer.  Needs libibmad. */
enum ftr_status cli_live_read(const struct cli_live_opts *opts,
			      struct cli_live *out,
			      struct ftr_err *err) FTR_MUST_USE;

#endif
