// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree load --jobs: the links that several jobs share, and the factor by which one job
 * slows another down.
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/json.h"

struct jobs {
	const struct ftr_fabric *f;
	struct ftr_hosts *h;
	struct ftr_host_list *list;
	uint32_t n;
	ftr_ep *ep;		/* host ports of all jobs; those of one job are consecutive */
	struct ftr_job *job;
	uint32_t *hosts;	/* [n] number of hosts of each job */
};

static void read_jobs(struct jobs *j, const char *path)
{
	size_t ports = 0, at = 0;

	cli_must(ftr_hosts_new(j->f, false, &j->h, &cli_err));
	cli_must(ftr_read_host_list(path, true, j->h, &j->list, &cli_err));
	j->n = j->list->n_groups;
	if (!j->n || j->n > FTR_JOBS_MAX)
		cli_die("%s: expected 1 to %u jobs, found %u", path, FTR_JOBS_MAX, j->n);
	for (uint32_t i = 0; i < j->list->n; i++)
		if (j->list->entry[i].host != FTR_HOST_NONE)
			ports += j->h->host[j->list->entry[i].host].n;
	j->ep = cli_calloc(ports, sizeof(*j->ep), "%u jobs", j->n);
	j->job = cli_calloc(j->n, sizeof(*j->job), "%u jobs", j->n);
	j->hosts = cli_calloc(j->n, sizeof(*j->hosts), "%u jobs", j->n);
	for (uint32_t g = 0; g < j->n; g++) {
		j->job[g].order.ep = j->ep + at;
		j->job[g].pair = cli_calloc(j->n, sizeof(*j->job[g].pair), "%u jobs", j->n);
		for (uint32_t i = 0; i < j->list->n; i++) {
			const struct ftr_host_entry *e = &j->list->entry[i];

			if (e->group != g || e->host == FTR_HOST_NONE)
				continue;
			j->hosts[g]++;
			for (uint32_t k = 0; k < j->h->host[e->host].n; k++)
				j->ep[at++] = j->h->ep[j->h->host[e->host].first
						       + k];
		}
		j->job[g].order.n = (uint32_t)(j->ep + at - j->job[g].order.ep);
	}
}

static void print(const struct jobs *j, const char *tables)
{
	bool any = false;

	printf("tables    %s\njobs      %s\n\n", tables, CLI_NUM(j->n));
	printf("%-20s %7s %9s %9s %8s %8s  %s\n", "job", "hosts", "links",
	       "shared", "alone", "with all", "most loaded link");
	for (uint32_t i = 0; i < j->n; i++) {
		const struct ftr_job *l = &j->job[i];

		printf("%-20s %7u %9s %9s %8.2f %8.2f  ", j->list->group[i], j->hosts[i],
		       CLI_NUM(l->links), CLI_NUM(l->shared), l->alone, l->with_all);
		if (l->worst_sw == FTR_SW_NONE)
			printf("none\n");
		else
			printf("%s port %u\n", CLI_SW(j->f, l->worst_sw), l->worst_port);
	}
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = i + 1; k < j->n; k++) {
			const struct ftr_job_pair *p = &j->job[i].pair[k];
			const struct ftr_job_pair *q = &j->job[k].pair[i];

			if (!p->shared)
				continue;
			if (!any)
				printf("\n%-20s %-20s %9s %11s %11s\n",
				       "job A", "job B", "shared", "A with B", "B with A");
			any = true;
			printf("%-20s %-20s %9s %10.2fx %10.2fx\n", j->list->group[i],
			       j->list->group[k], CLI_NUM(p->shared), p->interference,
			       q->interference);
		}
	if (!any)
		printf("\nno two jobs share a link\n");
}

static int print_json(const struct jobs *j, const char *tables, int status)
{
	struct json_object *o = cli_json_new("load"), *list, *e;

	cli_json_str(o, "tables", tables);
	cli_json_fabric(o, j->f, NULL);
	list = cli_json_array(o, "jobs");
	for (uint32_t i = 0; i < j->n; i++) {
		const struct ftr_job *l = &j->job[i];

		e = cli_json_element(list);
		cli_json_str(e, "job", j->list->group[i]);
		cli_json_num(e, "hosts", j->hosts[i]);
		cli_json_num(e, "ports", l->order.n);
		cli_json_num(e, "links", l->links);
		cli_json_num(e, "shared_links", l->shared);
		cli_json_real(e, "alone", l->alone);
		cli_json_real(e, "with_all", l->with_all);
	}
	list = cli_json_array(o, "pairs");
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0; k < j->n; k++) {
			const struct ftr_job_pair *p = &j->job[i].pair[k];

			if (!p->shared)
				continue;
			e = cli_json_element(list);
			cli_json_str(e, "job", j->list->group[i]);
			cli_json_str(e, "other", j->list->group[k]);
			cli_json_num(e, "shared_links", p->shared);
			cli_json_real(e, "interference", p->interference);
		}
	return cli_json_end(o, status);
}

static int report_jobs(const struct jobs *j, const char *tables, bool json)
{
	int status = j->list->n_unknown ? CLI_FINDINGS : CLI_CLEAN;

	for (uint32_t i = 0; i < j->list->n; i++)
		if (j->list->entry[i].host == FTR_HOST_NONE)
			cli_error("not in the fabric: host %s of job %s; it is left out",
				  j->list->entry[i].name, j->list->group[j->list->entry[i].group]);
	if (json)
		return print_json(j, tables, status);
	print(j, tables);
	return status;
}

int cli_load_jobs(const struct cli_in *in, const char *path, const struct ftr_fabric *f,
		  const struct ftr_tables *t, const char *tables)
{
	static struct jobs j;

	j.f = f;
	read_jobs(&j, path);
	cli_must(ftr_jobs_load(f, t, j.job, j.n, in->team, &cli_err));
	cli_progress_end();
	return report_jobs(&j, tables, in->json);
}
