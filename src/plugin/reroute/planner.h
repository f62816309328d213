/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The planner of ddlr (<ftr/ddlr.h>) in a process of its own (helper/helper.h).
 */
#ifndef RR_PLANNER_H
#define RR_PLANNER_H

#include "helper/job.h"

struct rr_planner;

/* Start to make a planner.  sh, t, pairs: as for put_planner(); only the fabric of sh must outlive the
 * planner.  ms: the longest wait for a plan.  Does not wait until the planner is ready.  FTR_IO,
 * FTR_NOMEM. */
enum ftr_status rr_planner_start(const struct ftr_shape *sh, const struct ftr_tables *t,
				 const struct ftr_vl_pairs *pairs, unsigned int ms,
				 struct rr_planner **out, struct ftr_err *err) FTR_MUST_USE;
/* Wait at most ms milliseconds.  True: the planner is still being made. */
bool rr_planner_is_busy(const struct rr_planner *p, unsigned int ms);
/* The planner is not busy: was it made?  Errors as below; FTR_REFUSED: ftr_ddlr_new() has failed. */
enum ftr_status rr_planner_ready(struct rr_planner *p, struct ftr_err *err) FTR_MUST_USE;

/*
 * The planner is ready: plan as ftr_ddlr_events(), ftr_ddlr_transition() and, with `all`,
 * ftr_ddlr_order().  t: tables of the fabric of the planner.  drained: call ftr_ddlr_drained()
 * before.  The switches, LIDs, ports and order of the writes were checked; in a transition, each
 * write is an entry of t.
 *
 * FTR_REFUSED: there is no plan; err says why.  FTR_IO, FTR_PARSE, FTR_LIMIT, FTR_NOMEM: the process
 * has failed.  After an error, the planner can only be freed.
 */
enum ftr_status rr_planner_events(struct rr_planner *p, const struct ftr_hop *ev, uint32_t n,
				  struct ftr_ddlr_plan *plan, struct ftr_err *err) FTR_MUST_USE;
enum ftr_status rr_planner_transition(struct rr_planner *p, const struct ftr_tables *t, bool drained,
				      bool all, struct ftr_ddlr_plan *plan,
				      struct ftr_err *err) FTR_MUST_USE;

/* Kill the process.  Does not wait for its end, as rr_planner_free() does. */
void rr_planner_kill(struct rr_planner *p);
void rr_planner_free(struct rr_planner *p);	/* NULL is accepted */

#endif
