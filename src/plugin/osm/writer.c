// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The writer's thread, its queue and its process.
 *
 * If a job fails, the reason is logged.  Further failures of the same kind of job are only
 * counted.  Their number is logged when a job of this kind succeeds, or when OpenSM ends.
 *
 * If the process fails (it crashes, does not answer in time, or its result is damaged), its job is
 * lost, and the queue waits for IBF_WRITER_PAUSE_MS.  Then the next job starts a new process.  While
 * a file system that hangs keeps a killed process, there is no new one, and jobs are lost.
 *
 * The thread is needed although it writes nothing: a state file of a large fabric takes longer to
 * make than OpenSM should wait, and somebody must send the next job when a result arrives.  Without
 * a thread, each caller would make its file, and a job would wait for the next call.
 */
#include <stdlib.h>
#include <string.h>

#include "helper/helper.h"
#include "helper/job.h"
#include "osm/writer.h"

struct ibf_writer {
	struct ibf_plugin *p;
	pthread_t thread;
	pthread_mutex_t mutex;	/* guards the members below */
	pthread_cond_t cond;
	struct ibf_job *first, **end;
	size_t n, bytes;	/* number of waiting jobs, and their memory in bytes */
	bool busy;		/* a job is running */
	bool stop;		/* the thread ends when no job is left */
	bool cancel;		/* no write is waited for any longer */
	struct helper *helper;	/* set by the thread only; NULL: not started, or ended */
	uint64_t series[IBF_N_MSG];	/* failed jobs of each kind since a job of this kind last
					 * succeeded */
	/* Used by the thread only.  pause: no job runs before this time, as a value of
	 * ibf_now_ms(). */
	bool failed;		/* the process cannot be used again */
	double pause;
};

/* ---- the process --------------------------------------------------------- */

bool ibf_fill_text(FILE *out, const void *text)
{
	return fputs(text, out) >= 0;
}

/* Returns true if writes were cancelled. */
static bool set_helper(struct ibf_writer *w, struct helper *h)
{
	bool cancel;

	pthread_mutex_lock(&w->mutex);
	w->helper = h;
	cancel = w->cancel;
	pthread_mutex_unlock(&w->mutex);
	return cancel;
}

/* Wait for the end of a process that has failed.  Returns false if it does not end. */
static bool drop_helper(struct ibf_writer *w)
{
	struct helper *h = w->helper;

	if (!helper_end(h))	/* not covered: only a file system that hangs keeps a killed process */
		return false;
	set_helper(w, NULL);
	helper_free(h);
	return true;
}

/* Start the process, unless it works.  It may have ended while it had no request. */
static enum ftr_status start_helper(struct ibf_writer *w, struct ftr_err *err)
{
	struct helper *h;
	enum ftr_status st;

	if (w->helper && !w->failed && helper_is_busy(w->helper, 0))
		return FTR_OK;
	if (w->helper && !drop_helper(w))	/* not covered: see drop_helper() */
		return ftr_fail(err, FTR_IO, "a file system hangs, and keeps the last process");
	w->failed = false;
	st = helper_start(HELPER_FILES, &h, err);
	return st ? st : set_helper(w, h) ? ftr_fail(err, FTR_IO, "OpenSM ends") : FTR_OK;
}

/* Make the content of the file. */
static enum ftr_status make(const struct ibf_job *j, struct ftr_out *o, struct ftr_err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *mem = ftr_memstream(&text, &size);
	bool made = mem && j->fill(mem, j->ctx);

	made = mem && ftr_memstream_end(mem, &text) && made;
	if (made)
		put_file(o, j->path, j->append, text, size);
	free(text);
	return made && !o->nomem ? FTR_OK : ftr_nomem(err, "%s", j->path);
}

static enum ftr_status run(struct ibf_writer *w, const struct ibf_job *j, struct ftr_err *err)
{
	struct ftr_out o = { 0 };
	struct ftr_in in;
	enum ftr_status st = make(j, &o, err);

	if (st) {
		free(o.at);
		return st;
	}
	st = start_helper(w, err);
	if (!st)
		st = helper_send(w->helper, &o, err);
	else
		free(o.at);
	if (!st)
		st = helper_result(w->helper, helper_wait_ms(HELPER_FILES), &in, err);
	if (!st)
		st = ftr_in_end(&in, st, err);
	if (!st || st == FTR_REFUSED)
		return st;
	w->failed = true;
	atomic_fetch_add(&w->p->helper_failures, 1);
	w->pause = ibf_now_ms() + IBF_WRITER_PAUSE_MS;
	return ftr_err_prefix(err, "%s: the process that writes files failed", j->path);
}

/* ---- the thread ---------------------------------------------------------- */

static size_t size_of(const struct ibf_job *j)
{
	return sizeof(*j) + j->bytes;
}

static void drop(const struct ibf_job *j)
{
	j->release(j->ctx);
	free(j->path);
}

/* Remove *at, which may be NULL, from the queue, and return it.  The caller holds the mutex. */
static struct ibf_job *take(struct ibf_writer *w, struct ibf_job **at)
{
	struct ibf_job *j = *at;

	if (!j)
		return NULL;
	*at = j->next;
	if (!*at)
		w->end = at;
	w->n--;
	w->bytes -= size_of(j);
	return j;
}

static void free_queued(struct ibf_job *j)
{
	if (j)
		drop(j);
	free(j);
}

/* Count a failed job of the kind msg.  If st is FTR_OK, the job has succeeded: end the series of
 * failures of this kind.  Log the first failure of a series, and its end.  The caller holds the
 * mutex. */
static void note(struct ibf_writer *w, enum ibf_msg msg, enum ftr_status st,
		 const struct ftr_err *err)
{
	uint64_t before = w->series[msg];

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

	pthread_mutex_lock(&w->mutex);
	while (!w->stop || w->first) {
		bool pause = !w->stop && ibf_now_ms() < w->pause;
		struct ftr_err err = { 0 };
		struct ibf_job *j = pause ? NULL : take(w, &w->first);
		enum ftr_status st;

		if (!j) {
			ibf_cond_wait(&w->cond, &w->mutex, pause && w->first ? w->pause : -1);
			continue;
		}
		w->busy = true;
		pthread_mutex_unlock(&w->mutex);
		st = run(w, j, &err);
		pthread_mutex_lock(&w->mutex);
		w->busy = false;
		note(w, j->msg, st, &err);
		free_queued(j);
		ibf_cond_wake(&w->cond);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

/* ---- the queue ----------------------------------------------------------- */

/* Remove from the queue the job that j replaces, and return it.  NULL: there is no such job.  The
 * caller holds the mutex. */
static struct ibf_job *take_older(struct ibf_writer *w, const struct ibf_job *j)
{
	struct ibf_job **at = &w->first;

	if (j->append)
		return NULL;
	while (*at && ((*at)->append || strcmp((*at)->path, j->path)))
		at = &(*at)->next;
	return take(w, at);
}

bool ibf_writer_put(struct ibf_writer *w, const struct ibf_job *j)
{
	struct ibf_job *q = w && j->path ? ftr_calloc(1, sizeof(*q)) : NULL;
	struct ibf_job *old;

	if (!q) {
		drop(j);
		return !w;
	}
	*q = *j;
	pthread_mutex_lock(&w->mutex);
	old = take_older(w, j);
	if (w->n == IBF_WRITER_JOBS || size_of(j) > IBF_WRITER_BYTES - w->bytes) {
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

bool ibf_writer_flush(struct ibf_writer *w, unsigned int ms)
{
	double end = ibf_now_ms() + ms;
	bool idle;

	if (!w)
		return true;
	pthread_mutex_lock(&w->mutex);
	while ((w->first || w->busy) && ibf_now_ms() < end)
		ibf_cond_wait(&w->cond, &w->mutex, end);
	idle = !w->first && !w->busy;
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

static void report(struct ibf_writer *w)
{
	for (int i = 0; i < IBF_N_MSG; i++)
		if (w->series[i])
			ibf_log(w->p, (enum ibf_msg)i, "not written before the end of OpenSM: %s",
				ibf_count(w->series[i], "record", "records").s);
}

static void drop_waiting(struct ibf_writer *w)
{
	struct ibf_job *j;

	while ((j = take(w, &w->first))) {
		w->series[j->msg]++;
		free_queued(j);
	}
}

void ibf_writer_free(struct ibf_writer *w)
{
	bool idle;

	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->stop = true;
	ibf_cond_wake(&w->cond);
	pthread_mutex_unlock(&w->mutex);
	idle = ibf_writer_flush(w, IBF_WRITER_DRAIN_MS);
	pthread_mutex_lock(&w->mutex);
	if (!idle) {
		drop_waiting(w);
		w->cancel = true;
		if (w->helper)
			helper_cancel(w->helper);
		ibf_log(w->p, IBF_EVENT_FILE, "a write has not ended within %u ms; opensm does not wait any longer",
			IBF_WRITER_DRAIN_MS);
	}
	pthread_mutex_unlock(&w->mutex);
	ibf_thread_join(w->thread);
	report(w);
	helper_free(w->helper);
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
