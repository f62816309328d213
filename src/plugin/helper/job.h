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

#include <limits.h>

#include "io/container.h"
#include <ftr/ddlr.h>
#include <ftr/engine.h>

/* Zeroed memory for n elements, at least one; NULL: there is none, and in->bad is set. */
static inline void *get_room(struct ftr_in *in, size_t n, size_t size)
{
	void *p = ftr_calloc(n + 1, size);

	in->bad |= !p;
	return p;
}

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

/* ---- planner ------------------------------------------------------------------- */

/* The request that makes the planner of the tables t of sh->f.  Of the shape only what the planner reads
 * is sent: ranks, stubs, groups and classes.  So both processes use the same shape, and the other one
 * need not compute it.  pairs: the VLs (ftr_ddlr_sl2vl()); NULL: VL = SL. */
void put_planner(struct ftr_out *o, const struct ftr_shape *sh, const struct ftr_tables *t,
		 const struct ftr_vl_pairs *pairs);
/* Makes the planner; *f: its fabric.  Other errors: as ftr_ddlr_new(). */
enum ftr_status get_planner(struct ftr_in *in, struct ftr_ddlr **r, const struct ftr_fabric **f,
			    struct ftr_err *err) FTR_MUST_USE;

/* Requests for a plan: a local repair, or the transition to the tables t of f.  drained: call
 * ftr_ddlr_drained() first.  order_ms: plan all of it, see ftr_ddlr_order(); 0: only a round. */
void put_events(struct ftr_out *o, const struct ftr_hop *ev, uint32_t n);
void put_transition(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_tables *t,
		    bool drained, unsigned int order_ms);
/* Reads the request to its end, and makes the plan.  Other errors: as ftr_ddlr_events(),
 * ftr_ddlr_transition() and ftr_ddlr_order().  f: the fabric of r. */
enum ftr_status get_plan_job(struct ftr_in *in, struct ftr_ddlr *r, const struct ftr_fabric *f,
			     struct ftr_ddlr_plan *plan, struct ftr_err *err) FTR_MUST_USE;

/* The result: of the plan the members write, n, n_steps, n_switches, unrepaired, held and done.
 * get_plan() checks that each write is of a switch and a LID of f, that its port has a link, and
 * that the writes are in order. */
void put_plan(struct ftr_out *o, const struct ftr_ddlr_plan *plan);
enum ftr_status get_plan(struct ftr_in *in, const struct ftr_fabric *f,
			 struct ftr_ddlr_plan *plan, struct ftr_err *err) FTR_MUST_USE;

/* ---- files ----------------------------------------------------------------------- */

/* Replace the file, or append complete lines to it (base/file.h).  The result is empty. */
void put_file(struct ftr_out *o, const char *path, bool append, const void *at, size_t n);
/* The content is the rest of the request, from in->at to in->end. */
enum ftr_status get_file(struct ftr_in *in, char path[PATH_MAX], bool *append,
			 struct ftr_err *err) FTR_MUST_USE;

#endif
