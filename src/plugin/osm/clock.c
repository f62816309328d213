// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plugin's clock.  It uses CLOCK_MONOTONIC: a step of the wall clock does not change the
 * length of a wait.
 */
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "osm/clock.h"

/* ---- the real clock ------------------------------------------------------ */

static double real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when)
{
	struct timespec t = { .tv_sec = (time_t)(when / 1e3) };

	t.tv_nsec = (long)((when - (double)t.tv_sec * 1e3) * 1e6);
	return !(when < 0 ? pthread_cond_wait(cond, mutex) :
			    pthread_cond_timedwait(cond, mutex, &t));
}

static void real_wake(pthread_cond_t *cond)
{
	pthread_cond_broadcast(cond);
}

static int real_start(pthread_t *t, void *(*run)(void *), void *arg)
{
	return pthread_create(t, NULL, run, arg);
}

static void real_join(pthread_t t)
{
	pthread_join(t, NULL);
}

const struct ibf_clock ibf_real_clock = {
	.now = real_now, .wait = real_wait, .wake = real_wake,
	.start = real_start, .join = real_join,
};
const struct ibf_clock *ibf_clock = &ibf_real_clock;

/* ---- the clock in use ---------------------------------------------------- */

double ibf_now_ms(void)
{
	return ibf_clock->now();
}

void ibf_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when)
{
	return ibf_clock->wait(cond, mutex, when);
}

void ibf_cond_wake(pthread_cond_t *cond)
{
	ibf_clock->wake(cond);
}

void ibf_sleep_ms(unsigned int ms)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	double end = ibf_now_ms() + ms;
	pthread_cond_t never;

	ibf_cond_init(&never);
	pthread_mutex_lock(&mutex);
	while (ibf_cond_wait(&never, &mutex, end))
		;
	pthread_mutex_unlock(&mutex);
	pthread_cond_destroy(&never);
	pthread_mutex_destroy(&mutex);
}

bool ibf_clock_start(const struct ibf_clock *c, pthread_t *t, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = c->start(t, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !failed;
}

bool ibf_thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
	return ibf_clock_start(ibf_clock, t, run, arg);
}

void ibf_thread_join(pthread_t t)
{
	ibf_clock->join(t);
}
