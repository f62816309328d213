// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-ENGINE-ca-order.dump: the host order that the tables are balanced for,
 * in the format of OpenSM's ftree dump, so that the same tools can place MPI
 * ranks by it.  It is written to another file and renamed: a reader sees the
 * old or the new order, never a part of it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "osm/writer.h"

struct order {
	FILE *out;
	const struct ftr_fabric *f;
};

static void write_host(void *ctx, uint32_t d, ftr_ep ep)
{
	struct order *o = ctx;

	(void)d;
	if (ep == FTR_EP_NONE)
		fputs("0xFFFF\tDUMMY\n", o->out);
	else
		fprintf(o->out, "0x%04x\t%s\n", o->f->ep[ep].lid,
			o->f->ep[ep].name);
}

struct job {
	struct ibf_job job;
	struct ibf_generation *gen;
	char path[];
};

static bool fill(FILE *out, const void *ctx)
{
	const struct job *job = ctx;
	struct order o = { .out = out, .f = job->gen->fabric };

	ftr_shape_host_order(job->gen->shape, write_host, &o);
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
	/* a path that is cut short names a directory that does not exist */
	snprintf(job->path, PATH_MAX, "%s/opensm-%s-ca-order.dump",
		 e->plugin->osm->subn.opt.dump_files_dir, e->ops->name);
	job->gen = ibf_generation_get(gen);
	job->job = (struct ibf_job){
		.msg = IBF_CA_ORDER, .bytes = sizeof(*job) + PATH_MAX,
		.run = run_ca_order, .free = job_free, .replaces = job->path,
	};
	ibf_writer_put(e->plugin->writer, &job->job);
}
