/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * live: the fabric and its tables as the switches themselves tell them.
 */
#ifndef FTR_CLI_LIVE_H
#define FTR_CLI_LIVE_H

#include <ftr/ftr.h>

struct ibnd_fabric;

struct cli_live_opts {
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
};

/* Says on stderr which switch or link did not answer.  Needs libibmad. */
enum ftr_status cli_live_read(const struct cli_live_opts *opts,
			      struct cli_live *out,
			      struct ftr_err *err) FTR_MUST_USE;

#endif
