// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes how jobs share links: the flows of each job on each link, and the links that each pair
 * of jobs shares.
 */

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
	    !FTR_NEW(a, w->by_port, f->n_ports) || !FTR_ZNEW(a, w->demand, n * w->n))
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
	struct ftr_load *ld = NULL;
	enum ftr_status st = ftr_load_new(w->f, t, job->ep, job->n, team,
					  &ld, err);

	if (!st)
		ftr_load_all(ld, w->by_port, NULL);
	ftr_load_free(ld);
	for (uint32_t l = 0; !st && job->n > 1 && l < w->n_links; l++)
		w->demand[(size_t)l * w->n + i] =
			(float)w->by_port[w->link_port[l]] /
			(float)(job->n - 1);
	return st;
}

/* Add one link to the results of all jobs that use it, and of all pairs of jobs that share it. */
static void add_link(const struct jobs *w, uint32_t l,
		     struct ftr_job_load *load, struct ftr_job_pair *pair)
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
		load[i].links++;
		load[i].shared += users > 1;
		load[i].alone = FTR_MAX(load[i].alone, (double)d[i]);
		if (sum > load[i].with_all || load[i].worst_sw == FTR_SW_NONE) {
			load[i].with_all = FTR_MAX(sum, load[i].with_all);
			load[i].worst_sw = w->link_sw[l];
			load[i].worst_port = (ftr_port)(w->link_port[l] -
				w->f->sw[w->link_sw[l]].first_port);
		}
		for (uint32_t j = 0; users > 1 && j < w->n; j++) {
			struct ftr_job_pair *p = &pair[(size_t)i * w->n + j];

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
			      const struct ftr_job *job, uint32_t n,
			      struct ftr_team *team, struct ftr_job_load *load,
			      struct ftr_job_pair *pair, struct ftr_err *err)
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
	for (uint32_t i = 0; !st && i < n; i++) {
		load[i] = (struct ftr_job_load){
			.alone = 1, .with_all = 1, .worst_sw = FTR_SW_NONE
		};
		for (uint32_t j = 0; j < n; j++)
			pair[(size_t)i * n + j] = (struct ftr_job_pair){ 0, 0 };
		st = demand(&w, t, &job[i], i, team, err);
	}
	for (uint32_t l = 0; !st && l < w.n_links; l++)
		add_link(&w, l, load, pair);
	for (uint32_t i = 0; !st && i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			struct ftr_job_pair *p = &pair[(size_t)i * n + j];

			p->interference = FTR_MAX(p->interference,
						  load[i].alone) /
					  load[i].alone;
		}
	ftr_arena_free(a);
	return st;
}
