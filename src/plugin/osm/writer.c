// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The writer thread and its queue.
 *
 * If a job fails, the reason is logged.  Further failures of the same kind of job are only
 * counted.  Their number is logged when a job of this kind succeeds, or when OpenSM ends.
 *
 * When OpenSM exits, the plugin waits at most IBF_WRITER_DRAIN_MS for the thread.  If a write has
 * not ended then, the plugin abandons the thread.  The thread keeps its own memory, and never
 * accesses the plugin or OpenSM again.  The library stays mapped, because the thread still executes
 * its code.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "osm/writer.h"

struct queued {
	struct queued *next;
	struct ibf_job job;
};

struct ibf_writer {
	struct ibf_plugin *p;	/* not used after the thread is abandoned */
	pthread_t thread;
	pthread_mutex_t mutex;	/* guards the members below */
	pthread_cond_t cond;
	struct queued *first, **end;
	size_t n, bytes;	/* number of waiting jobs, and their memory in bytes */
	bool busy;		/* a job is running */
	bool stop;		/* no more jobs are accepted */
	bool abandoned;
	uint64_t series[IBF_N_MSG];	/* failed jobs of each kind since a job of this kind last
					 * succeeded */
};

/* ---- the thread ---------------------------------------------------------- */

static size_t size_of(const struct ibf_job *j)
{
	return sizeof(struct queued) + j->bytes;
}

static void drop(const struct ibf_job *j)
{
	j->release(j->ctx);
	free(j->path);
}

/* Remove *at, which may be NULL, from the queue, and return it.  The caller holds the mutex. */
static struct queued *take(struct ibf_writer *w, struct queued **at)
{
	struct queued *q = *at;

	if (!q)
		return NULL;
	*at = q->next;
	if (!*at)
		w->end = at;
	w->n--;
	w->bytes -= size_of(&q->job);
	return q;
}

static void free_queued(struct queued *q)
{
	if (q)
		drop(&q->job);
	free(q);
}

/* Count a failed job of the kind msg.  If st is FTR_OK, the job has succeeded: end the series of
 * failures of this kind.  Log the first failure of a series, and its end.  The caller holds the
 * mutex, so the plugin exists unless w->abandoned is set. */
static void note(struct ibf_writer *w, enum ibf_msg msg, enum ftr_status st,
		 const struct ftr_err *err)
{
	uint64_t before = w->series[msg];

	if (w->abandoned)
		return;
	if (st) {
		w->series[msg]++;
		if (!before)
			ibf_log(w->p, msg, "%s; records are lost until a write succeeds",
				err->msg);
	} else if (before) {
		w->series[msg] = 0;
		ibf_log(w->p, msg, "writing works again; lost meanwhile: %s",
			ibf_count(before, "record", "records").s);
	}
}

static void *writer(void *arg)
{
	struct ibf_writer *w = arg;
	bool abandoned;

	pthread_mutex_lock(&w->mutex);
	while (!w->abandoned && (!w->stop || w->first)) {
		struct ftr_err err = { 0 };
		struct queued *q = take(w, &w->first);
		enum ftr_status st;

		if (!q) {
			ibf_cond_wait(&w->cond, &w->mutex, -1);
			continue;
		}
		w->busy = true;
		pthread_mutex_unlock(&w->mutex);
		st = q->job.write(q->job.path, q->job.ctx, &err);
		pthread_mutex_lock(&w->mutex);
		w->busy = false;
		note(w, q->job.msg, st, &err);
		free_queued(q);
		ibf_cond_wake(&w->cond);
	}
	abandoned = w->abandoned;
	w->busy = false;
	w->stop = true;
	ibf_cond_wake(&w->cond);
	pthread_mutex_unlock(&w->mutex);
	if (abandoned)
		free(w);
	return NULL;
}

/* ---- the queue ----------------------------------------------------------- */

/* Remove from the queue the job that j replaces, and return it.  NULL: there is no such job.  The
 * caller holds the mutex. */
static struct queued *take_older(struct ibf_writer *w, const struct ibf_job *j)
{
	struct queued **at = &w->first;

	if (!j->replaces)
		return NULL;
	while (*at && !((*at)->job.replaces && !strcmp((*at)->job.path, j->path)))
		at = &(*at)->next;
	return take(w, at);
}

bool ibf_writer_put(struct ibf_writer *w, const struct ibf_job *j)
{
	struct queued *q = w && j->path ? ftr_calloc(1, sizeof(*q)) : NULL;
	struct queued *old;

	if (!q) {
		drop(j);
		return !w;
	}
	q->job = *j;
	pthread_mutex_lock(&w->mutex);
	old = take_older(w, j);
	if (w->stop || w->n == IBF_WRITER_JOBS ||
	    size_of(j) > IBF_WRITER_BYTES - w->bytes) {
		static const struct ftr_err full = {
			FTR_LIMIT, "the disk does not keep up, the queue is full"
		};

		note(w, j->msg, FTR_LIMIT, &full);
	} else {
		*w->end = q;
		w->end = &q->next;
		w->n++;
		w->bytes += size_of(j);
		q = NULL;
		ibf_cond_wake(&w->cond);
	}
	pthread_mutex_unlock(&w->mutex);
	free_queued(old);
	free_queued(q);
	return true;
}

/* Wait at most `ms` milliseconds until no job is waiting or running.  Returns false if there still
 * is such a job.  The caller holds the mutex. */
static bool wait_idle(struct ibf_writer *w, unsigned int ms)
{
	double end = ibf_now_ms() + ms;

	while ((w->first || w->busy) && ibf_now_ms() < end)
		ibf_cond_wait(&w->cond, &w->mutex, end);
	return !w->first && !w->busy;
}

bool ibf_writer_flush(struct ibf_writer *w, unsigned int ms)
{
	bool idle;

	if (!w)
		return true;
	pthread_mutex_lock(&w->mutex);
	idle = wait_idle(w, ms);
	pthread_mutex_unlock(&w->mutex);
	return idle;
}

/* ---- new and free -------------------------------------------------------- */

struct ibf_writer *ibf_writer_new(struct ibf_plugin *p)
{
	struct ibf_writer *w = ftr_calloc(1, sizeof(*w));
	bool started = false;

	if (w) {
		w->p = p;
		w->end = &w->first;
		pthread_mutex_init(&w->mutex, NULL);
		ibf_cond_init(&w->cond);
		started = ibf_thread_start(&w->thread, writer, w);
	}
	if (started)
		return w;
	ibf_log(p, IBF_EVENT_FILE, "no events, host order or state file will be written: out of memory for the thread that writes them");
	free(w);
	return NULL;
}

/* Keep the code mapped when OpenSM unloads the plugin. */
static void pin_library(void)
{
	Dl_info info;

	if (dladdr((void *)(uintptr_t)pin_library, &info) && info.dli_fname)
		(void)dlopen(info.dli_fname,
			     RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void report(struct ibf_writer *w)
{
	for (int i = 0; i < IBF_N_MSG; i++)
		if (w->series[i])
			ibf_log(w->p, (enum ibf_msg)i, "not written before the end of OpenSM: %s",
				ibf_count(w->series[i], "record", "records").s);
}

static void drop_waiting(struct ibf_writer *w)
{
	struct queued *q;

	while ((q = take(w, &w->first))) {
		w->series[q->job.msg]++;
		free_queued(q);
	}
}

void ibf_writer_free(struct ibf_writer *w)
{
	bool done;

	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	done = wait_idle(w, IBF_WRITER_DRAIN_MS);
	if (!done)
		drop_waiting(w);
	w->stop = true;
	w->abandoned = !done && w->busy;
	done = !w->abandoned;
	report(w);
	ibf_cond_wake(&w->cond);
	if (!done) {
		ibf_log(w->p, IBF_EVENT_FILE, "a write has not ended within %u ms; opensm does not wait any longer",
			IBF_WRITER_DRAIN_MS);
		pin_library();
		pthread_detach(w->thread);
	}
	pthread_mutex_unlock(&w->mutex);
	if (!done)
		return;		/* the thread frees w */
	ibf_thread_join(w->thread);
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
