/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes the plugin's files.
 *
 * A full, slow or hanging file system must not delay OpenSM.  So a process (helper/helper.h) writes
 * all files.  OpenSM's threads only queue jobs; a thread makes the content of the files, sends it to
 * the process, and waits for the result.  If the queue is full, a job is dropped and counted.  When
 * OpenSM exits, it waits for the queue for a limited time.
 */
#ifndef IBF_WRITER_H
#define IBF_WRITER_H

#include "osm/osm.h"

/* Limits of the queue, in jobs and bytes.  The data of state files and of the host order do not
 * count towards the limit in bytes, because at most one job for each of these files waits. */
#define IBF_WRITER_JOBS 1024
#define IBF_WRITER_BYTES (32u << 20)
/* The longest time that the queue delays the exit of OpenSM. */
#define IBF_WRITER_DRAIN_MS 2000
/* The time after a failure of the process in which no file is written. */
#define IBF_WRITER_PAUSE_MS 10000

/* A job writes one file. */
struct ibf_job {
	struct ibf_job *next;	/* used by writer.c only */
	enum ibf_msg msg;	/* kind of the job, and the message if it fails */
	char *path;		/* allocated; freed with the job */
	/* true: append complete lines.  false: replace the file; while the job waits, a newer job
	 * for its path replaces the job */
	bool append;
	/* Writes the content to a stream in memory.  Runs on the writer's thread; must not access
	 * OpenSM or the plugin.  False: no memory. */
	bool (*fill)(FILE *out, const void *ctx);
	void (*release)(void *ctx);	/* frees ctx, even if the job was not run */
	void *ctx;
	size_t bytes;		/* memory of ctx that counts towards IBF_WRITER_BYTES */
};

/* The member fill of jobs whose ctx is a text. */
bool ibf_fill_text(FILE *out, const void *text);

/* NULL: no memory or no thread, which is logged.  ibf_writer_put() then drops all jobs. */
struct ibf_writer *ibf_writer_new(struct ibf_plugin *p);
/* Waits at most IBF_WRITER_DRAIN_MS for the queue, then kills the process; NULL is accepted. */
void ibf_writer_free(struct ibf_writer *w);
/* Queue a copy of j; never waits for a write.  w NULL: j is dropped.  Returns false if out of
 * memory, or if j->path is NULL: j is then dropped, and the caller should log this. */
bool ibf_writer_put(struct ibf_writer *w, const struct ibf_job *j);
/* Wait until the queue is empty and no job is running.  Returns false if this takes more than ms
 * milliseconds. */
bool ibf_writer_flush(struct ibf_writer *w, unsigned int ms);

#endif
