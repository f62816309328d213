// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A team of threads: the caller, and size - 1 helpers, which sleep between runs.
 *
 * A run stores (fn, ctx, n, chunk) under the mutex, with a new generation number, and wakes all
 * helpers.  Every member, including the caller, then takes ranges of items from one atomic
 * counter until no item is left.  The caller returns when all helpers have finished,
 * so no helper still works on a run that has ended.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

struct ftr_team {
	unsigned int size;	/* number of members, including the caller */
	unsigned int started;
	pthread_mutex_t lock;
	pthread_cond_t go, done;
	unsigned long generation;	/* guarded by lock */
	unsigned int busy;		/* guarded by lock: number of helpers still in this run */
	bool stop;			/* guarded by lock */
	ftr_team_fn fn;
	void *ctx;
	uint32_t n, chunk;
	atomic_uint_fast64_t next;
	struct helper {
		struct ftr_team *team;
		unsigned int worker;
		pthread_t thread;
	} helper[FTR_TEAM_MAX];
};

static void run_chunks(struct ftr_team *t, unsigned int worker)
{
	for (;;) {
		uint64_t begin = atomic_fetch_add_explicit(
			&t->next, t->chunk, memory_order_relaxed);

		if (begin >= t->n)
			return;
		t->fn(t->ctx, worker, (uint32_t)begin,
		      (uint32_t)FTR_MIN(begin + t->chunk, (uint64_t)t->n));
	}
}

static void *helper_main(void *arg)
{
	struct helper *h = arg;
	struct ftr_team *t = h->team;
	unsigned long seen = 0;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->stop && t->generation == seen)
			pthread_cond_wait(&t->go, &t->lock);
		if (t->stop)
			break;
		seen = t->generation;
		pthread_mutex_unlock(&t->lock);
		run_chunks(t, h->worker);
		pthread_mutex_lock(&t->lock);
		if (--t->busy == 0)
			pthread_cond_signal(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct ftr_team *ftr_team_new(unsigned int n)
{
	struct ftr_team *t;

	if (n == 0)
		n = (unsigned int)FTR_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
	n = FTR_MIN(n, (unsigned int)FTR_TEAM_MAX);
	t = ftr_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->size = n;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->go, NULL);
	pthread_cond_init(&t->done, NULL);
	for (unsigned int i = 1; i < n; i++) {
		struct helper *h = &t->helper[i];

		h->team = t;
		h->worker = i;
		if (pthread_create(&h->thread, NULL, helper_main, h)) {
			t->started = i - 1;
			ftr_team_free(t);
			return NULL;
		}
		t->started = i;
	}
	return t;
}

void ftr_team_free(struct ftr_team *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->go);
	pthread_mutex_unlock(&t->lock);
	for (unsigned int i = 1; i <= t->started; i++)
		pthread_join(t->helper[i].thread, NULL);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->go);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

unsigned int ftr_team_size(const struct ftr_team *t)
{
	return t ? t->size : 1;
}

void ftr_team_run(struct ftr_team *t, uint32_t n, uint32_t chunk,
		  ftr_team_fn fn, void *ctx)
{
	if (n == 0)
		return;
	if (chunk == 0)
		chunk = 1;
	if (!t || t->size == 1 || n <= chunk) {
		fn(ctx, 0, 0, n);
		return;
	}
	pthread_mutex_lock(&t->lock);
	t->fn = fn;
	t->ctx = ctx;
	t->n = n;
	t->chunk = chunk;
	atomic_store_explicit(&t->next, 0, memory_order_relaxed);
	t->busy = t->size - 1;
	t->generation++;
	pthread_cond_broadcast(&t->go);
	pthread_mutex_unlock(&t->lock);

	run_chunks(t, 0);

	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->done, &t->lock);
	pthread_mutex_unlock(&t->lock);
}
