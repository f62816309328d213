/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the plugin sends to the search process (src/plugin/osm/search_child.c), and what it gets
 * back.  Both are containers (container.h).
 */
#ifndef FTR_IO_SEARCH_JOB_H
#define FTR_IO_SEARCH_JOB_H

#include "io/container.h"
#include <ftr/engine.h>

#define FTR_SEARCH_ENGINE_MAX 16

/* opts.nominal, opts.keep and keep's tables are those of the other members. */
struct ftr_search_job {
	char engine[FTR_SEARCH_ENGINE_MAX];
	struct ftr_shape_opts shape;	/* the lists of GUIDs and the order of leaves */
	const struct ftr_nominal *nominal;
	const struct ftr_fabric *f;
	struct ftr_route_opts opts;	/* sm_switch, sm, paths, turn */
	struct ftr_keep keep;		/* keep.current may be NULL */
	bool given;			/* compare the result with tables computed from scratch */
};

/* Read a job, and make its shape.  The memory of a job that was read is never freed: the process
 * ends after one job. */
void ftr_put_search_job(struct ftr_out *o, const struct ftr_search_job *j);
enum ftr_status ftr_get_search_job(struct ftr_in *in, struct ftr_search_job *j,
				   struct ftr_shape **sh, struct ftr_err *err) FTR_MUST_USE;

/* The result: either an error, or tables of f and their report (k->stats.balance). */
void ftr_put_search_result(struct ftr_out *o, const struct ftr_fabric *f,
			   const struct ftr_kept *k, enum ftr_status st,
			   const struct ftr_err *err);
enum ftr_status ftr_get_search_result(struct ftr_in *in, const struct ftr_fabric *f,
				      struct ftr_kept *k, struct ftr_err *err) FTR_MUST_USE;

#define FTR_SEARCH_JOB "ibfattree-search-job 1"
#define FTR_SEARCH_RESULT "ibfattree-search-result 1"

#endif
