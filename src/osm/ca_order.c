// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-ENGINE-ca-order.dump: the host order that the tables are balanced for,
 * in the format of OpenSM's ftree dump, so that the same tools can place MPI
 * ranks by it.  It is written to another file and renamed: a reader sees the
 * old or the new order, never a part of it.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/file.h"
#include "osm/writer.h"

struct job {
	struct ibf_job job;
	struct ibf_generation *gen;
	char path[];
};

static bool fill(FILE *out, const void *ctx)
{
	const struct job *job = ctx;
	const struct ftr_endport *ep = job->gen->fabric->ep;
	uint32_t n = job->gen->shape->numbering.n_places;
	ftr_ep *order = ftr_calloc((size_t)n + 1, sizeof(*order));

	if (!order)
		return false;
	ftr_shape_host_order(job->gen->shape, order);
	for (uint32_t d = 0; d < n; d++)
		if (order[d] == FTR_EP_NONE)
			fputs("0xFFFF\tDUMMY\n", out);
		else
			fprintf(out, "0x%04x\t%s\n", ep[order[d]].lid,
				ep[order[d]].name);
	free(order);
	return true;
}

static enum ftr_status run_ca_order(struct ibf_job *j, struct ftr_err *err)
{
	const struct job *job = (const struct job *)j;
	enum ftr_status st = ftr_file_replace(job->path, fill, job, err);

	return st ? ftr_err_prefix(err, "the order of hosts was not written") :
		    FTR_OK;
}

static void job_free(struct ibf_job *j)
{
	struct job *job = (struct job *)j;

	ibf_generation_put(job->gen);
	free(job);
}

void ibf_ca_order_write(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct job *job = ftr_calloc(1, sizeof(*job) + PATH_MAX);

	if (!job) {
		ibf_log(e->plugin, IBF_CA_ORDER, "the order of hosts was not written: out of memory");
		return;
	}
	/* a truncated path names a directory that does not exist, so the write fails */
	snprintf(job->path, PATH_MAX, "%s/opensm-%s-ca-order.dump",
		 e->plugin->osm->subn.opt.dump_files_dir, e->ops->name);
	job->gen = ibf_generation_get(gen);
	job->job = (struct ibf_job){
		.msg = IBF_CA_ORDER, .bytes = sizeof(*job) + PATH_MAX,
		.run = run_ca_order, .free = job_free, .replaces = job->path,
	};
	ibf_writer_put(e->plugin->writer, &job->job);
}
