/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The links that jobs share if they run at the same time.
 *
 * Model: a job of n host ports sends all-to-all.  Each port sends at the full rate of
 * its link, spread evenly over the other n - 1 ports.  The demand of a job on a link is the
 * number of its flows there, divided by n - 1.  If all links have the same rate, a demand of
 * 1 means a full link.
 *
 *	alone	the greatest demand of the job on any link, at least 1.  The all-to-all
 *		exchange takes this many times as long as it would at full rate.
 *	with	as alone, but with the demand of another job added on the links
 *		that the job uses
 *
 * The interference of job A with job B is the quotient (with / alone) of job B.  1 means no
 * interference.  2 means that the exchange of B takes twice as long while A sends, too.
 */
#ifndef FTR_JOBS_H
#define FTR_JOBS_H

#include <ftr/load.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_JOBS_MAX 1024

struct ftr_job {
	const ftr_ep *ep;	/* ports of the job, each listed once */
	uint32_t n;
};

struct ftr_job_load {
	uint32_t links;		/* number of directed links that the job uses */
	uint32_t shared;	/* number of these links that another job uses, too */
	double alone;		/* see "alone" at the top of this file */
	double with_all;	/* as alone, but with the demands of all other jobs added */
	ftr_sw worst_sw;	/* the link with the greatest demand in with_all (any link of the
				 * job if with_all is 1); FTR_SW_NONE: the job uses no link */
	ftr_port worst_port;
};

struct ftr_job_pair {
	uint32_t shared;	/* number of directed links that both jobs use */
	double interference;	/* effect of job j on job i, see ftr_jobs_load */
};

/*
 * f and t as for ftr_load_new.  Input job[n]; output load[n] and pair[n * n], where
 * pair[i * n + j] is the effect of job j on job i.  FTR_LIMIT: more than
 * FTR_JOBS_MAX jobs; FTR_INVAL: a job has a host port twice; FTR_NOMEM.
 * O(n_sw * ports of all jobs + links * n^2).
 */
enum ftr_status ftr_jobs_load(const struct ftr_fabric *f,
			      const struct ftr_tables *t,
			      const struct ftr_job *job, uint32_t n,
			      struct ftr_team *team, struct ftr_job_load *load,
			      struct ftr_job_pair *pair,
			      struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
