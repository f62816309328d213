/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * writer: the plugin's files are written by a thread of its own.
 *
 * A disk that is full, slow or hung (a network file system) must not hold up
 * OpenSM: so nothing is written on OpenSM's threads or under its locks.  A job
 * is queued and run later; the queue is bounded, and what finds no room is
 * dropped and counted.  At the end the queue is written out within a bounded
 * time.
 */
#ifndef IBF_WRITER_H
#define IBF_WRITER_H

#include "osm/osm.h"

/* Jobs and bytes that may wait at a time. */
#define IBF_WRITER_JOBS 1024
#define IBF_WRITER_BYTES (32u << 20)
/* How long the end of OpenSM waits for the queue. */
#define IBF_WRITER_DRAIN_MS 2000

struct ibf_job {
	struct ibf_job *next;
	enum ibf_msg msg;	/* of a failure in the log; the kind of job */
	size_t bytes;		/* that it holds */
	/* Runs on the writer's thread, knows neither OpenSM nor the plugin. */
	enum ftr_status (*run)(struct ibf_job *j, struct ftr_err *err);
	void (*free)(struct ibf_job *j);
	/* Of several waiting jobs that replace the same file only the newest
	 * counts: its path; NULL for all others. */
	const char *replaces;
};

/* NULL: no memory or no thread, which is logged; then every job is dropped. */
struct ibf_writer *ibf_writer_new(struct ibf_plugin *p);
/* Waits IBF_WRITER_DRAIN_MS for the queue; NULL is accepted. */
void ibf_writer_free(struct ibf_writer *w);
/* Takes j over in any case; never waits for a file.  w may be NULL. */
void ibf_writer_put(struct ibf_writer *w, struct ibf_job *j);
/* Until the queue is empty and nothing is being written; false: not within ms
 * milliseconds. */
bool ibf_writer_flush(struct ibf_writer *w, unsigned int ms);
/* Jobs dropped or failed since the start. */
uint64_t ibf_writer_lost(struct ibf_writer *w);

#endif
