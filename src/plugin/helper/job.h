/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The requests to the processes of the plugin (helper.h), and their results.  The functions put_
 * write a message, the functions get_ read one: they return FTR_PARSE or FTR_NOMEM, and other
 * errors where they are named.  Each result begins with an error text, which main.c writes and
 * helper_result() reads; the functions below code what follows if the text is empty.
 *
 * The memory of a request that was read is never freed: the process ends with it.
 */
#ifndef HELPER_JOB_H
#define HELPER_JOB_H

#include "io/container.h"
#include <ftr/ddlr.h>
#include <ftr/engine.h>

/* ---- search -------------------------------------------------------------------- */

#define JOB_ENGINE_MAX 16

/* opts.nominal, opts.keep and keep's tables are those of the other members. */
struct search_job {
	char engine[JOB_ENGINE_MAX];
	struct ftr_shape_opts shape;	/* the lists of GUIDs and the order of leaves */
	const struct ftr_nominal *nominal;
	const struct ftr_fabric *f;
	struct ftr_route_opts opts;	/* sm_switch, sm, paths, turn */
	struct ftr_keep keep;		/* keep.current may be NULL */
	bool given;			/* compare the result with tables computed from scratch */
};

void put_search(struct ftr_out *o, const struct search_job *j);
/* Makes the shape, too.  Other errors: as ftr_shape_new. */
enum ftr_status get_search(struct ftr_in *in, struct search_job *j, struct ftr_shape **sh,
			   struct ftr_err *err) FTR_MUST_USE;
/* The result: tables of f and their report (k->stats.balance). */
void put_found(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_kept *k);
enum ftr_status get_found(struct ftr_in *in, const struct ftr_fabric *f, struct ftr_kept *k,
			  struct ftr_err *err) FTR_MUST_USE;

#endif
