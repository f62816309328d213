/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How jobs slow each other down on the links that they share.
 *
 * Model: in a job of n host ports, every port sends to every other port (the exchange).  Each
 * port sends at the full rate of its link, in equal parts to the other n - 1 ports.  The demand of
 * a job on a link is the number of its flows there, divided by n - 1.  If all links have the same
 * rate, a demand of 1 fills a link.
 *
 *	alone	max(1, greatest demand of the job on any link).  The exchange takes this many
 *		times as long as it would take at full rate.
 *	with	the same for a pair of jobs: max(1, greatest sum of the demands of both jobs on
 *		any link that the first job uses)
 *
 * The interference of job A with job B is `with` of the pair (B, A), divided by `alone` of B.
 * 1 means no interference.  2 means that the exchange of B takes twice as long while A exchanges,
 * too.
 */
#ifndef FTR_JOBS_H
#define FTR_JOBS_H

#include <ftr/load.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_JOBS_MAX 1024

struct ftr_job_pair {
	uint32_t shared;	/* number of directed links that both jobs use */
	double interference;	/* see the top of this file */
};

struct ftr_job {
	struct ftr_order order;	/* ports of the job, each listed once */
	struct ftr_job_pair *pair;	/* result, one element for each job: the interference of
					 * that job with this one */
	/* the other results */
	uint32_t links;		/* number of directed links that the job uses */
	uint32_t shared;	/* number of these links that another job uses, too */
	double alone;		/* see "alone" at the top of this file */
	double with_all;	/* as alone, but with the demands of all other jobs added */
	/* the link that determines with_all (if with_all is 1: any link of the job); worst_sw is
	 * FTR_SW_NONE if the job uses no link */
	ftr_sw worst_sw;
	ftr_port worst_port;
};

/*
 * Compute the loads of the n jobs job[], and the interference between them.  f and t as for
 * ftr_load_new.  The caller sets `order` and `pair` of each job.
 *
 * FTR_LIMIT: more than FTR_JOBS_MAX jobs; FTR_INVAL: a job has a host port twice; FTR_NOMEM.
 * O(n_sw * ports of all jobs + links * n^2).
 */
enum ftr_status ftr_jobs_load(const struct ftr_fabric *f,
			      const struct ftr_tables *t,
			      struct ftr_job *job, uint32_t n, struct ftr_team *team,
			      struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
