// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes how jobs share links: the flows of each job on each link, and the links that each pair
 * of jobs shares.
 */

#include <string.h>

#include "check/check.h"
#include <ftr/jobs.h>

struct jobs {
	const struct ftr_fabric *f;
	uint32_t n, n_links;
	uint32_t *link_port;	/* index in f->ports of the sending port of each link */
	ftr_sw *link_sw;	/* switch that sends on each link */
	float *demand;		/* demand[l * n + i]: flows of job i on link l in all-to-all
				 * traffic, divided by (hosts of the job - 1) */
	uint64_t *by_port;	/* [f->n_ports] flows of the current job, by sending port */
};

static bool begin(struct jobs *w, struct ftr_arena *a)
{
	const struct ftr_fabric *f = w->f;
	const size_t n = 2 * (size_t)f->n_sw_links;

	if (!FTR_NEW(a, w->link_port, n) || !FTR_NEW(a, w->link_sw, n) ||
	    !FTR_NEW(a, w->by_port, f->n_ports) || !FTR_NEW(a, w->demand, n * w->n))
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			uint32_t at = f->sw[s].first_port + p;

			if (f->ports[at].peer_kind != FTR_PEER_SW)
				continue;
			w->link_sw[w->n_links] = s;
			w->link_port[w->n_links++] = at;
		}
	return true;
}

static enum ftr_status demand(struct jobs *w, const struct ftr_tables *t,
			      const struct ftr_job *job, uint32_t i,
			      struct ftr_team *team, struct ftr_err *err)
{
	const uint32_t n = job->order.n;
	struct ftr_load *ld = NULL;
	enum ftr_status st = ftr_load_new(w->f, t, job->order, team, &ld, err);

	if (st)
		return st;
	ftr_load_all(ld, w->by_port, NULL);
	ftr_load_free(ld);
	for (uint32_t l = 0; l < w->n_links; l++)
		w->demand[(size_t)l * w->n + i] =
			n > 1 ? (float)w->by_port[w->link_port[l]] / (float)(n - 1) : 0;
	return FTR_OK;
}

/* Add one link to the results of all jobs that use it, and of all pairs of jobs that share it. */
static void add_link(const struct jobs *w, uint32_t l, struct ftr_job *job)
{
	const float *d = w->demand + (size_t)l * w->n;
	double sum = 0;
	uint32_t users = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		sum += d[i];
		users += d[i] > 0;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		if (!(d[i] > 0))
			continue;
		job[i].links++;
		job[i].shared += users > 1;
		job[i].alone = FTR_MAX(job[i].alone, (double)d[i]);
		if (sum > job[i].with_all || job[i].worst_sw == FTR_SW_NONE) {
			job[i].with_all = FTR_MAX(sum, job[i].with_all);
			job[i].worst_sw = w->link_sw[l];
			job[i].worst_port = (ftr_port)(w->link_port[l] -
				w->f->sw[w->link_sw[l]].first_port);
		}
		for (uint32_t j = 0; users > 1 && j < w->n; j++) {
			struct ftr_job_pair *p = &job[i].pair[j];

			if (j == i || !(d[j] > 0))
				continue;
			p->shared++;
			p->interference = FTR_MAX(p->interference,
						  (double)d[i] + d[j]);
		}
	}
}

enum ftr_status ftr_jobs_load(const struct ftr_fabric *f,
			      const struct ftr_tables *t,
			      struct ftr_job *job, uint32_t n, struct ftr_team *team,
			      struct ftr_err *err)
{
	struct jobs w = { .f = f, .n = n };
	struct ftr_arena *a;
	enum ftr_status st = FTR_OK;

	if (n > FTR_JOBS_MAX)
		return ftr_fail(err, FTR_LIMIT, "more than %u jobs: %u",
				FTR_JOBS_MAX, n);
	a = ftr_arena_new();
	if (!a || !begin(&w, a)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "%u jobs", n);
	}
	for (uint32_t i = 0; i < n; i++) {
		job[i] = (struct ftr_job){
			.order = job[i].order, .pair = job[i].pair, .alone = 1, .with_all = 1,
			.worst_sw = FTR_SW_NONE,
		};
		memset(job[i].pair, 0, n * sizeof(*job[i].pair));
		st = demand(&w, t, &job[i], i, team, err);
		if (st)
			goto out;
	}
	for (uint32_t l = 0; l < w.n_links; l++)
		add_link(&w, l, job);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			double *x = &job[i].pair[j].interference;

			*x = FTR_MAX(*x, job[i].alone) / job[i].alone;
		}
out:
	ftr_arena_free(a);
	return st;
}
