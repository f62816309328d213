/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A thread that writes the plugin's files.
 *
 * A disk that is full, slow or hung (a network file system) must not delay
 * OpenSM: so no file is written on OpenSM's threads or under its locks.  Jobs
 * are queued and run later.  The queue is bounded; a job that finds no room is
 * dropped and counted.  At the end of OpenSM the queue is written within a
 * bounded time.
 */
#ifndef IBF_WRITER_H
#define IBF_WRITER_H

#include "osm/osm.h"

/* Limits of the queue, in jobs and bytes. */
#define IBF_WRITER_JOBS 1024
#define IBF_WRITER_BYTES (32u << 20)
/* How long the queue may delay the end of OpenSM. */
#define IBF_WRITER_DRAIN_MS 2000

struct ibf_job {
	struct ibf_job *next;
	enum ibf_msg msg;	/* the kind of job, and the message if the job fails */
	size_t bytes;		/* memory that the job holds */
	/* Runs on the writer's thread; must not access OpenSM or the plugin. */
	enum ftr_status (*run)(struct ibf_job *j, struct ftr_err *err);
	void (*free)(struct ibf_job *j);
	/* Path of the file that the job replaces: of several waiting jobs for
	 * one file only the newest is run.  NULL: the job replaces no file. */
	const char *replaces;
};

/* NULL: no memory or no thread, which is logged; then all jobs are dropped. */
struct ibf_writer *ibf_writer_new(struct ibf_plugin *p);
/* Waits at most IBF_WRITER_DRAIN_MS for the queue; NULL is accepted. */
void ibf_writer_free(struct ibf_writer *w);
/* Takes ownership of j in any case; never waits for a file.  w may be NULL. */
void ibf_writer_put(struct ibf_writer *w, struct ibf_job *j);
/* Wait until the queue is empty and no job is running; false: not within ms
 * milliseconds. */
bool ibf_writer_flush(struct ibf_writer *w, unsigned int ms);

#endif
